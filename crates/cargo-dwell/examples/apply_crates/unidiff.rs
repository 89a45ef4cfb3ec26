//! Keeps many patches.

use unidiff::PatchSet;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut patches: Vec<PatchSet> = Vec::new();
    for n in 0..count {
        let mut text = String::new();
        for m in 0..6 {
            text.push_str(&format!(
                "--- a/src/file{m}.rs\n+++ b/src/file{m}.rs\n@@ -1,4 +1,5 @@ fn f{m}\n fn f() {{\n-    old({n});\n+    new({n});\n+    more({m});\n \
                 }}\n // end\n@@ -40,3 +41,3 @@\n a\n-b\n+c\n d\n"
            ));
        }
        let mut patch = PatchSet::new();
        patch.parse(text).expect("it is a patch");
        patches.push(patch);
    }
    let files: usize = patches.iter().map(PatchSet::len).sum();
    println!("{files} files");
}

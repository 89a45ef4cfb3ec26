//! `cargo dwell apply` with the types of the library: each move on a package, with its tests.

#![cfg(agent)]

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const MAIN: &str = r#"//! A program that keeps documents.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;

#[derive(Clone, Debug, Default, PartialEq)]
struct Extra {
    notes: Vec<String>,
    count: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Doc {
    title: String,
    words: Vec<String>,
    tags: HashMap<String, u32>,
    places: Option<BTreeMap<u32, String>>,
    author: Option<String>,
    tokens: Vec<u32>,
    extra: Extra,
}

fn lex(text: &str) -> Vec<u32> {
    let mut tokens = Vec::new();
    for word in text.split(' ') {
        tokens.push(word.len() as u32);
    }
    tokens
}

fn sum(tags: &HashMap<String, u32>) -> u32 {
    tags.values().sum()
}

fn longest(words: &Vec<String>) -> usize {
    words.iter().map(String::len).max().unwrap_or(0)
}

impl Doc {
    fn parse(text: &str, author: Option<String>) -> Self {
        let words: Vec<String> = text.split(' ').map(str::to_string).collect();
        let mut tags = HashMap::new();
        for word in &words {
            *tags.entry(word.clone()).or_insert(0) += 1;
        }
        let tokens = lex(text);
        let mut doc = Self {
            title: words[0].clone(),
            words,
            tags,
            places: Some(BTreeMap::from([(1, "a".to_string())])),
            author,
            tokens,
            extra: Extra::default(),
        };
        if text.len() > 9 {
            doc.extra.count += 1;
        }
        doc
    }

    fn empty() -> Self {
        Doc { title: format!("none {}", 1), words: vec![], tags: HashMap::new(), ..Self::default() }
    }

    fn words(&self) -> &Vec<String> {
        &self.words
    }

    fn into_parts(self) -> (String, Vec<String>, Extra) {
        (self.title, self.words, self.extra)
    }
}

trait Op {
    fn run(&self, x: u64) -> u64;
}

struct Add(u64);
struct Twice(Box<dyn Op>);

impl Op for Add {
    fn run(&self, x: u64) -> u64 {
        x + self.0
    }
}

impl Op for Twice {
    fn run(&self, x: u64) -> u64 {
        self.0.run(self.0.run(x))
    }
}

fn ops(n: u64) -> Vec<Box<dyn Op>> {
    let mut all: Vec<Box<dyn Op>> = (0..n).map(|n| Box::new(Add(n)) as Box<dyn Op>).collect();
    let twice = Box::new(Twice(Box::new(Add(1))));
    all.push(twice);
    all
}

enum Tree {
    Leaf(u64),
    Node(Box<Tree>, Box<Tree>),
}

fn tree(depth: u64) -> Tree {
    if depth == 0 { Tree::Leaf(1) } else { Tree::Node(Box::new(tree(depth - 1)), Box::new(tree(depth - 1))) }
}

fn leaves(tree: Tree) -> u64 {
    match tree {
        Tree::Leaf(n) => n,
        Tree::Node(left, right) => leaves(*left) + leaves(*right),
    }
}

fn later(x: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move { x + 1 })
}

fn now<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

fn main() {
    let docs: Vec<Doc> = (0..100).map(|n| Doc::parse(&format!("a bb {n} ccc"), Some(n.to_string()))).collect();
    let sums: u32 = docs.iter().map(|doc| sum(&doc.tags) + longest(&doc.words) as u32).sum();
    println!("{sums} {} {:?}", docs[0].tokens.len(), docs[1].author.as_deref());
    println!("{} {}", ops(9).iter().fold(1, |x, op| op.run(x)), leaves(tree(4)));
    println!("{} {}", now(later(1)), Doc::empty().title);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        let doc = Doc::parse("x yy x", None);
        assert_eq!((sum(&doc.tags), longest(doc.words()), doc.title.as_str()), (3, 2, "x"));
        assert_eq!(doc.tags.get("x"), Some(&2));
        assert_eq!(doc.clone().into_parts().1, vec!["x", "yy", "x"]);
        assert_eq!(doc.extra, Extra::default());
        assert_eq!(Doc::parse("x yyyyyyyyy x", None).extra.count, 1);
        assert_eq!(Doc::empty().words.len(), 0);
        assert_eq!(doc.tokens, [1, 2, 1]);
    }

    #[test]
    fn others() {
        assert_eq!((ops(3).iter().fold(1, |x, op| op.run(x)), leaves(tree(3)), now(later(1))), (6, 8, 2));
    }
}
"#;

/// The library, in this workspace.
const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dwell");

fn package() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("src")).expect("a folder");
    fs::create_dir_all(folder.path().join("target")).expect("a folder");
    let manifest = "[package]\nname = \"documents\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("a file");
    fs::write(folder.path().join("src/main.rs"), MAIN).expect("a file");
    // The dependencies of the library are those that this workspace has locked, so that no network is needed.
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"), folder.path().join("Cargo.lock"))
        .expect("a file");
    folder
}

fn finding(kind: &str, item: &str, from: &str, to: &str) -> Value {
    let line = MAIN.lines().position(|line| line.contains(from) && line.starts_with("    ")).map_or(1, |line| line + 1);
    json!({"kind": kind, "where": format!("documents::{item}"), "saves": 1, "how": format!("{from} to {to}"),
        "edits": [{"file": "src/main.rs", "line": line, "item": item, "from": from, "to": to}]})
}

fn apply(folder: &Path, findings: &[Value], rest: &[&str]) -> Output {
    let value = json!({"version": 1, "snapshots": [{"findings": findings}]});
    fs::write(folder.join("target/report.json"), value.to_string()).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["apply", "--from", "target/report.json", "--allow-no-vcs", "--no-measure", "--offline"]);
    command.args(["--dwell", LIBRARY]).args(rest).current_dir(folder).stdin(Stdio::null());
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(variable);
    }
    command.output().expect("it runs")
}

fn out(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Applies all findings to a new package. Returns its source.
#[track_caller]
fn applied(findings: &[Value], parts: &[&str]) -> String {
    let package = package();
    let names: Vec<String> = (1..=findings.len()).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let output = apply(package.path(), findings, &names);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(text.matches("tests: 2 passed").count(), findings.len(), "{text}");
    let changed = fs::read_to_string(package.path().join("src/main.rs")).expect("a file");
    for part in parts {
        assert!(changed.contains(part), "{part}\n{text}\n{changed}");
    }
    changed
}

#[test]
fn thin_texts_and_lists() {
    applied(
        &[
            finding("thin", "Doc.title", "String", "ThinStr"),
            finding("thin", "Doc.author", "Option<String>", "Option<ThinStr>"),
            finding("thin", "Doc.words", "Vec<String>", "ThinSlice<String>"),
        ],
        &[
            "title: dwell::sparse::ThinStr,",
            "author: Option<dwell::sparse::ThinStr>,",
            "fn longest(words: &[String])",
            "fn words(&self) -> &[String]",
            "words: Default::default()",
        ],
    );
}

#[test]
fn sorted_maps() {
    let changed = applied(
        &[
            finding("sorted", "Doc.tags", "HashMap<String, u32>", "SortedMap<String, u32>"),
            finding("sorted", "Doc.places", "Option<BTreeMap<u32, String>>", "Option<SortedMap<u32, String>>"),
        ],
        // A name that is used often is imported.
        &["use dwell::sparse::SortedMap;", "fn sum(tags: &SortedMap<String, u32>)", "tags: SortedMap::new()"],
    );
    assert!(changed.contains("places: Option<SortedMap<u32, String>>"), "{changed}");
}

#[test]
fn sparse_structs() {
    applied(
        &[finding("sparse", "Doc.extra", "Extra", "Sparse<Extra>")],
        &[
            "#[derive(dwell::Sparse)]\nstruct Extra",
            "extra: dwell::Sparse<Extra>",
            "doc.extra.get_mut_or_default().count += 1",
        ],
    );
}

#[test]
fn capacity_is_given_back_where_a_value_is_complete() {
    let package = package();
    let shrink = |item: &str| finding("shrink", item, "", "");
    let output = apply(package.path(), &[shrink("Doc.tokens"), shrink("Extra.notes")], &["1"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let changed = fs::read_to_string(package.path().join("src/main.rs")).expect("a file");
    assert!(changed.contains("        tokens.shrink_to_fit();\n        let mut doc = Self {\n"), "{changed}");
    let refused = apply(package.path(), &[shrink("Extra.notes")], &["1"]);
    assert_eq!(refused.status.code(), Some(2), "{}", out(&refused));
    assert!(out(&refused).contains("is filled after its value is made; call `shrink_to_fit`"), "{}", out(&refused));
}

#[test]
fn trait_objects_and_nodes_move_into_pools() {
    let everywhere = |kind: &str, from: &str, to: &str| finding(kind, from, from, to);
    applied(
        &[
            everywhere("pool", "Box<dyn Op>", "dwell::slab::Pooled<dyn Op>"),
            everywhere("slab", "Box<Tree>", "dwell::slab::Pooled<Tree>"),
            everywhere("pool", "Pin<Box<dyn Future>>", "dwell::pin::PoolFuture"),
        ],
        &[
            "use dwell::slab::Pooled;",
            "struct Twice(Pooled<dyn Op>);",
            "dwell::pooled!(Add(n))",
            "Node(Pooled<Tree>, Pooled<Tree>)",
            "leaves(left.into_inner()) + leaves(right.into_inner())",
            "-> dwell::pin::PoolFuture<'static, u64>",
            "dwell::pin::ErasedExt::pooled(async move { x + 1 })",
        ],
    );
}

#[test]
fn trait_objects_become_small_boxes() {
    applied(
        &[finding("inline", "Box<dyn Op>", "Box<dyn Op>", "dwell::SmallBox<dyn Op, 1>")],
        &["use dwell::SmallBox;", "Vec<SmallBox<dyn Op, 1>>", "dwell::small_box!(Add(n))"],
    );
}

#[test]
fn library_enters_the_manifest_once_and_leaves_it_if_the_change_does() {
    let package = package();
    let manifest = || fs::read_to_string(package.path().join("Cargo.toml")).expect("a file");
    let before = manifest();
    // `push` grows the list, which a thin slice cannot.
    let findings = [finding("thin", "Extra.notes", "Vec<String>", "ThinSlice<String>")];
    fs::write(
        package.path().join("src/main.rs"),
        MAIN.replace("doc.extra.count += 1", "doc.extra.notes.push(text.into())"),
    )
    .expect("a file");
    let stuck = apply(package.path(), &findings, &["--no-test"]);
    assert_eq!(stuck.status.code(), Some(1), "{}", out(&stuck));
    assert_eq!(manifest(), before);
    let title = [finding("thin", "Doc.title", "String", "ThinStr")];
    let made = apply(package.path(), &title, &["--no-test"]);
    assert_eq!(made.status.code(), Some(0), "{}", out(&made));
    assert!(manifest().contains("dwell = {") && manifest().contains("\"sparse\""), "{}", manifest());
    // The user's package compiles too, not only the copy.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["check", "--offline"]).current_dir(package.path()).output().expect("it runs");
    assert!(built.status.success(), "{}", out(&built));
}

/// `Leaf::new` of another package returns a box. It is not `Box::new`, so its argument is not the value.
#[test]
fn functions_that_return_a_box_are_left_alone() {
    let package = package();
    let below = |file: &str| package.path().join(file);
    fs::create_dir_all(below("leaf/src")).expect("a folder");
    let manifest = "[package]\nname = \"leaf\"\nversion = \"0.0.0\"\nedition = \"2021\"\n";
    fs::write(below("leaf/Cargo.toml"), manifest).expect("a file");
    let leaf = "pub struct Leaf(pub u64);\nimpl Leaf {\n    pub fn new(n: u64) -> Box<Self> {\n        Box::new(Self(n))\n    }\n}\n";
    fs::write(below("leaf/src/lib.rs"), leaf).expect("a file");
    let manifest = fs::read_to_string(below("Cargo.toml")).expect("a file");
    fs::write(below("Cargo.toml"), format!("{manifest}\n[dependencies]\nleaf = {{ path = \"leaf\" }}\n"))
        .expect("a file");
    let main = "use leaf::Leaf;\n\nstruct Keep {\n    leaf: Box<Leaf>,\n}\n\nfn main() {\n    \
                let keep = Keep { leaf: Leaf::new(3) };\n    println!(\"{}\", keep.leaf.0);\n}\n";
    fs::write(below("src/main.rs"), main).expect("a file");
    let finding = json!({"kind": "slab", "where": "documents::Box<Leaf>", "saves": 1, "how": "to Pooled<Leaf>",
        "edits": [{"file": "src/main.rs", "line": 4, "item": "Box<Leaf>", "from": "Box<Leaf>", "to": "dwell::slab::Pooled<Leaf>"}]});
    let output = apply(package.path(), &[finding], &["1", "--no-test"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("left for a person") && text.contains("Leaf::new(3)"), "{text}");
    assert_eq!(fs::read_to_string(below("src/main.rs")).expect("a file"), main);
}

//! The rules of the source tree that the compiler does not check: sizes of files and `impl` blocks, and no circles of
//! imports inside a crate. Between crates there is none, or cargo would not build them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of lines of a file, without its tests.
const FILE: usize = 800;
/// The maximum number of lines of an `impl` block.
const IMPL: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the source files of all crates without tests and generated data, with their paths below the root.
fn sources() -> Vec<(String, String)> {
    let root = root();
    let mut folders = vec![root.join("bench"), root.join("crates")];
    let mut all = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !["tests", "generated", "target"].contains(&name) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
                let below = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                all.push((below, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    all.sort();
    all
}

/// Returns a file's lines before its module of tests.
fn without_tests(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|two| two[0] == "#[cfg(test)]" && two[1].starts_with("mod "));
    lines[..tests.unwrap_or(lines.len())].to_vec()
}

#[test]
fn files_and_impl_blocks_are_short() {
    let mut long = Vec::new();
    for (file, text) in sources() {
        let lines = without_tests(&text);
        if lines.len() > FILE {
            long.push(format!("{file}: {} lines, at most {FILE}", lines.len()));
        }
        // rustfmt puts the end of a block at the indentation of its start.
        for (start, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            if !(code.starts_with("impl ") || code.starts_with("impl<") || code.starts_with("unsafe impl")) {
                continue;
            }
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            let length = lines[start..].iter().position(|line| *line == end).map_or(1, |length| length + 1);
            if length > IMPL && !line.ends_with("{}") {
                long.push(format!("{file}:{}: an impl block of {length} lines, at most {IMPL}", start + 1));
            }
        }
    }
    assert!(long.is_empty(), "split these along their seams:\n{}", long.join("\n"));
}

/// Returns the module of a source file, with the crate as the first part: `cargo-dwell::heap::walk`.
fn module(file: &str) -> Option<Vec<String>> {
    // The agent is a crate of its own.
    let (krate, path) = file.split_once("/src/agent/library/").or_else(|| file.split_once("/src/"))?;
    let krate = if file.contains("/agent/library/") { "agent" } else { krate.rsplit('/').next()? };
    let path = path.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let parts = path.split('/').filter(|part| !["lib", "main"].contains(part));
    Some(std::iter::once(krate).chain(parts).map(str::to_owned).collect())
}

/// Returns the paths of a use tree: `a::{b, c::{d, e}}` is `a::b`, `a::c::d`, `a::c::e`.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let mut depth = 1;
    let (mut from, mut all) = (0, Vec::new());
    for (at, byte) in rest.bytes().enumerate() {
        depth = match byte {
            b'{' => depth + 1,
            b'}' => depth - 1,
            _ => depth,
        };
        if depth == 0 || depth == 1 && byte == b',' {
            all.extend(paths(rest[from..at].trim()).into_iter().map(|path| format!("{before}{path}")));
            from = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    all
}

/// Returns the paths that begin with `crate` or `super` in a file's code.
fn used(text: &str) -> Vec<String> {
    let code: Vec<&str> =
        without_tests(text).into_iter().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join(" ");
    let mut all = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|before: char| before.is_alphanumeric() || "_:$".contains(before)) {
                continue;
            }
            let is_part = |next: char| next.is_alphanumeric() || "_:".contains(next);
            let path = code[at..].find(|next| !is_part(next)).unwrap_or(code.len() - at);
            let tree = if code[at + path..].starts_with('{') { &code[at..] } else { &code[at..at + path] };
            all.extend(paths(tree));
        }
    }
    all
}

/// Returns for each module, of its parts (files and folders), those that each uses. A part's own parts belong to it, and a
/// part may use the module that contains it: it is declared there.
fn imports(files: &[(String, String)]) -> BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> {
    let modules: BTreeSet<Vec<String>> = files.iter().filter_map(|(file, _)| module(file)).collect();
    let mut all: BTreeMap<_, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
    for (file, text) in files {
        let Some(from) = module(file) else { continue };
        for path in used(text) {
            let mut to = from.clone();
            for part in path.split("::") {
                match part {
                    "crate" => to.truncate(1),
                    "super" => drop(to.pop()),
                    part => to.push(part.trim().to_owned()),
                }
            }
            while !to.is_empty() && !modules.contains(&to) {
                to.pop();
            }
            let same = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
            if let (true, Some(user), Some(used)) = (same > 0, from.get(same), to.get(same)) {
                let parts = all.entry(from[..same].to_vec()).or_default();
                parts.entry(user.clone()).or_default().insert(used.clone());
            }
        }
    }
    all
}

/// Returns the parts that are in a circle, or lead to one, with what they use.
fn circles(mut left: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    // Removes parts that use nothing until none is left.
    loop {
        let open: BTreeSet<String> = left.keys().cloned().collect();
        for to in left.values_mut() {
            to.retain(|to| open.contains(to));
        }
        let before = left.len();
        left.retain(|_, to| !to.is_empty());
        if left.len() == before {
            return left;
        }
    }
}

#[test]
fn imports_have_no_circles() {
    let imports = imports(&sources());
    let count = imports.values().flat_map(BTreeMap::values).map(BTreeSet::len).sum::<usize>();
    assert!(count > 300, "the imports are read");
    let mut shown = Vec::new();
    for (module, parts) in imports {
        for (from, to) in circles(parts) {
            let to: Vec<String> = to.into_iter().collect();
            shown.push(format!("in {}: {from} uses {}", module.join("::"), to.join(", ")));
        }
    }
    assert!(shown.is_empty(), "these are in a circle, or lead to one:\n{}", shown.join("\n"));
}

/// `a` uses a part of `b`, which uses `b` itself, which uses a part of `a`: no file uses a file that uses it.
#[test]
fn circle_through_a_folder_is_found() {
    let file = |path: &str, text: &str| (format!("crates/x/src/{path}"), text.to_owned());
    let files = [
        file("lib.rs", "mod a;\nmod b;"),
        file("a/mod.rs", "mod one;\nuse one::One;"),
        file("a/one.rs", "use crate::b::two::Two;"),
        file("b/mod.rs", "use crate::a::A;"),
        file("b/two.rs", "use super::B;"),
    ];
    let found = circles(imports(&files).remove(&vec!["x".to_owned()]).unwrap());
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "b"]);
    let found = circles(imports(&files[..3]).remove(&vec!["x".to_owned()]).unwrap_or_default());
    assert!(found.is_empty());
}

#[test]
fn use_trees_are_expanded() {
    assert_eq!(paths("crate::{a::b, c::{d, e}, f}; x"), ["crate::a::b", "crate::c::d", "crate::c::e", "crate::f"]);
    assert_eq!(used("use super::{self, a};\nlet x = crate::b::f(\"\");"), ["crate::b::f", "super::self", "super::a"]);
}

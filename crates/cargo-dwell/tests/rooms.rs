//! The rules of the source tree that a machine can check: sizes of files and `impl` blocks, no circles of imports, and
//! the way of the data through the rooms of the tool. CONTRIBUTING.md describes the rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of lines of a file, without its tests.
const FILE: usize = 800;
/// The maximum number of lines of an `impl` block.
const IMPL: usize = 400;

/// The rooms of the tool in the order of the data. A room uses only those before it; those after the last are commands.
const ROOMS: [&str; 8] = ["source", "program", "agent", "capture", "profile", "heap", "findings", "report"];

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

/// Returns the modules that each module uses, without those that contain it or that it contains.
fn imports(files: &[(String, String)]) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let modules: BTreeSet<Vec<String>> = files.iter().filter_map(|(file, _)| module(file)).collect();
    let mut all: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
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
            if !to.is_empty() && !from.starts_with(&to) && !to.starts_with(&from) {
                all.entry(from.clone()).or_default().insert(to);
            }
        }
    }
    all
}

#[test]
fn imports_have_no_circles() {
    let imports = imports(&sources());
    assert!(imports.values().map(BTreeSet::len).sum::<usize>() > 300, "the imports are read");
    // Removes modules that import nothing until none is left.
    let mut left = imports;
    loop {
        let open: BTreeSet<Vec<String>> = left.keys().cloned().collect();
        for to in left.values_mut() {
            to.retain(|to| open.contains(to));
        }
        let before = left.len();
        left.retain(|_, to| !to.is_empty());
        if left.len() == before {
            break;
        }
    }
    let shown: Vec<String> = left
        .iter()
        .map(|(from, to)| {
            let to: Vec<String> = to.iter().map(|to| to.join("::")).collect();
            format!("{} uses {}", from.join("::"), to.join(", "))
        })
        .collect();
    assert!(shown.is_empty(), "these are in a circle, or lead to one:\n{}", shown.join("\n"));
}

#[test]
fn data_flows_from_room_to_room_in_one_direction() {
    let is_room = |name: &String| ROOMS.iter().position(|room| room == name);
    let mut wrong = Vec::new();
    for room in ROOMS {
        assert!(root().join("crates/cargo-dwell/src").join(room).is_dir(), "{room} is a folder");
    }
    for (from, all) in imports(&sources()) {
        let [krate, room, ..] = from.as_slice() else { continue };
        let Some(number) = is_room(room).filter(|_| krate == "cargo-dwell") else { continue };
        for to in all.iter().filter(|to| to.get(1).and_then(is_room).is_some_and(|to| to > number)) {
            wrong.push(format!("{} uses {}", from.join("::"), to.join("::")));
        }
        let of_command = ["census", "allocs", "layout", "futures", "dyn_traits", "shape", "stack", "inspect", "cli"];
        for to in all.iter().filter(|to| to.get(1).is_some_and(|to| of_command.contains(&&**to))) {
            wrong.push(format!("{} uses the command {}", from.join("::"), to.join("::")));
        }
    }
    assert!(wrong.is_empty(), "against the way of the data:\n{}", wrong.join("\n"));
}

#[test]
fn use_trees_are_expanded() {
    assert_eq!(paths("crate::{a::b, c::{d, e}, f}; x"), ["crate::a::b", "crate::c::d", "crate::c::e", "crate::f"]);
    assert_eq!(used("use super::{self, a};\nlet x = crate::b::f(\"\");"), ["crate::b::f", "super::self", "super::a"]);
}

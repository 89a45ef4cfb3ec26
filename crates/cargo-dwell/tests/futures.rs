//! Runs `cargo dwell futures` on a crate with many shapes of futures. The reported sizes must equal those that the
//! program prints, the held values those in the comments of its source, and each suggested change must save the
//! predicted bytes.

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/async_shapes")
}

/// Returns the JSON report of `futures` and the output of the program.
fn shapes(release: bool) -> (Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["futures", "--format", "json", "--offline", "--manifest-path"]).arg(fixture().join("Cargo.toml"));
    command.arg("--target-dir").arg(support::target_dir().join("async_shapes"));
    command.args(release.then_some("--release")).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ran = Command::new(json["program"]["file"].as_str().expect("a file")).output().expect("it runs");
    assert!(ran.status.success());
    (json, String::from_utf8(ran.stdout).expect("UTF-8"))
}

fn line(value: &Value) -> u64 {
    value["line"].as_u64().expect("a line")
}

/// Returns the lines of `main.rs` that contain `marker`: their numbers, from 1, and the text after the marker.
fn marked(marker: &str) -> Vec<(u64, String)> {
    let source = fs::read_to_string(fixture().join("src/main.rs")).expect("a source");
    let found = (1..)
        .zip(source.lines())
        .filter(|(_, text)| !text.starts_with("//!"))
        .filter_map(|(line, text)| Some((line, text.split_once(marker)?.1.trim().to_owned())));
    found.collect()
}

fn in_main(future: &Value) -> bool {
    future["file"].as_str().is_some_and(|file| file.ends_with("main.rs"))
}

#[track_caller]
fn check(release: bool) {
    let (json, printed) = shapes(release);
    let futures = json["futures"].as_array().expect("a list");

    // Sizes: each line is `NAME BYTES`; a generic shape has several lines.
    let mut sizes: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for shape in printed.lines().filter(|line| !line.starts_with("change ")) {
        let (name, size) = shape.split_once(' ').expect("two words");
        sizes.entry(name).or_default().insert(size.parse().expect("a number"));
    }
    assert!(sizes.len() >= 40, "{} shapes", sizes.len());
    let begins: BTreeMap<String, u64> =
        marked("// shape: ").into_iter().filter(|(_, name)| name != "-").map(|(line, name)| (name, line + 1)).collect();
    assert_eq!(begins.keys().map(String::as_str).collect::<Vec<_>>(), sizes.keys().copied().collect::<Vec<_>>());
    for (name, expected) in &sizes {
        let found = futures.iter().filter(|future| in_main(future)).filter(|future| line(future) == begins[*name]);
        let found: BTreeSet<u64> = found.map(|future| future["size"].as_u64().expect("a size")).collect();
        assert_eq!(&found, expected, "{name}");
    }

    // Held values by the line of the `.await`. `pinned` is a variable of std's `pin!`.
    let mut awaits: BTreeMap<u64, Vec<BTreeSet<(String, String)>>> = BTreeMap::new();
    for point in
        futures.iter().filter(|future| in_main(future)).flat_map(|future| future["awaits"].as_array().expect("a list"))
    {
        let held = point["held"].as_array().expect("a list").iter();
        let text = |held: &Value, key: &str| held[key].as_str().expect("a text").to_owned();
        let held = held
            .map(|held| (text(held, "name"), text(held, "type")))
            .filter(|(name, _)| !name.starts_with("__") && name != "pinned");
        awaits.entry(line(point)).or_default().push(held.collect());
    }
    let mut wrong = Vec::new();
    let expected = marked("// holds:");
    assert!(expected.len() >= 50);
    for (line, holds) in expected {
        let expected: BTreeSet<(&str, &str)> =
            split(&holds).into_iter().map(|held| held.split_once(": ").expect("name: Type")).collect();
        let Some(found) = awaits.remove(&line) else {
            wrong.push(format!("{line}: no `.await`"));
            continue;
        };
        for found in found {
            let fits = |(name, type_name): &(&str, &str)| {
                found.iter().any(|(known, known_of)| known == name && (*type_name == "_" || known_of == type_name))
            };
            if found.len() != expected.len() || !expected.iter().all(fits) {
                wrong.push(format!("{line}: expected {expected:?}, found {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(awaits.is_empty(), "lines without `// holds`: {:?}", awaits.keys());

    // Changes: `change KIND NAME BEFORE AFTER`.
    let changes: Vec<Vec<&str>> =
        printed.lines().filter(|line| line.starts_with("change ")).map(|line| line.split(' ').collect()).collect();
    assert!(changes.len() >= 6);
    for change in changes {
        let [_, kind, name, before, after] = change[..] else { panic!("{change:?}") };
        let saves = before.parse::<u64>().expect("a number") - after.parse::<u64>().expect("a number");
        let future = futures.iter().find(|future| {
            let function = future["function"].as_str().expect("a text");
            !in_main(future) && (function == name || function.ends_with(&format!("::{name}")))
                || !in_main(future) && function.starts_with(&format!("{name}<"))
        });
        let future = future.unwrap_or_else(|| panic!("no future {name}"));
        let suggestions = future["suggestions"].as_array().expect("a list");
        let found: Vec<u64> = suggestions
            .iter()
            .filter(|one| one["kind"] == kind)
            .map(|one| one["saves"].as_u64().expect("bytes"))
            .collect();
        assert!(found.contains(&saves), "{name}: {kind} saves {saves}, not {found:?}: {suggestions:#?}");
    }
}

/// Splits a list at the commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (index, character) in text.char_indices() {
        match character {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

#[test]
fn sizes_and_held_values_match_in_dev() {
    check(false);
}

#[test]
fn sizes_and_held_values_match_in_release() {
    check(true);
}

//! `cargo dwell apply` on a package: the change, the repairs of its uses, the tests, and what is refused.

#![cfg(agent)]

mod advise;
mod kinds;
mod patched;
mod repairs;
mod shared;
mod siblings;
mod success;

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const MAIN: &str = r#"//! A program that keeps many entries.

use std::fmt;

/// What few entries have.
#[derive(Clone, Debug, Default, PartialEq)]
struct Details {
    name: String,
    numbers: [u64; 24],
}

#[derive(Clone, Debug, PartialEq)]
struct Huge {
    bytes: [u8; 200],
    at: (u8, u8),
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Empty,
    Small(u8),
    Huge(Huge), // rare
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    kind: Kind,
    // A comment that stays.
    details: Option<Details>,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Empty => write!(f, "empty"),
            Kind::Small(number) => write!(f, "small {number}"),
            Kind::Huge(Huge { bytes, at: (x, _) }) => write!(f, "huge {} {x}", bytes.len()),
        }?;
        if let Some(Details { name, .. }) = &self.details {
            write!(f, " {name}")?;
        }
        Ok(())
    }
}

fn huge(bytes: [u8; 200]) -> Huge {
    Huge { bytes, at: (1, 2) }
}

fn kinds() -> Vec<Kind> {
    let mut all: Vec<Kind> = [[7; 200]].into_iter().map(huge).map(Kind::Huge).collect();
    all.push(Kind::Small(3));
    all
}

fn entry(number: u64, details: Option<Details>) -> Entry {
    let kind = if number % 64 == 0 { Kind::Huge(huge([1; 200])) } else { Kind::Small(number as u8) };
    Entry { kind, details }
}

fn details(entry: &Entry) -> Option<&Details> {
    entry.details.as_ref()
}

fn take(entry: Entry) -> (Option<Details>, u64) {
    let first = match entry.kind {
        Kind::Huge(huge) => huge.bytes[0],
        Kind::Small(number) if number > 3 => number,
        _ => 0,
    };
    (entry.details, u64::from(first))
}

fn main() {
    let count: u64 = std::env::args().nth(1).map_or(1000, |text| text.parse().unwrap());
    let rare = |number: u64| (number % 50 == 0).then(Details::default);
    let entries: Vec<Entry> = (0..count).map(|number| entry(number, rare(number))).collect();
    let sum: u64 = entries.iter().cloned().map(|entry| take(entry).1).sum();
    println!("{} {sum} {}", entries.len(), kinds().len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(entry(0, Some(Details { name: "x".into(), ..Details::default() })).to_string(), "huge 200 1 x");
        assert!(entry(5, None).kind == Kind::Small(5) && kinds()[0] == Kind::Huge(huge([7; 200])));
    }

    #[test]
    fn parts() {
        let one = entry(1, Some(Details::default()));
        assert_eq!(details(&one), Some(&Details::default()));
        assert!(one.details == Some(Details::default()));
        assert!(matches!(entry(0, None).kind, Kind::Huge(Huge { .. })) && one.kind != Kind::Empty);
        assert_eq!(take(one), (Some(Details::default()), 0));
    }
}
"#;

/// Returns a package with the program.
fn package(main: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).expect("a file");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    write("Cargo.toml", "[package]\nname = \"entries\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n");
    write("src/main.rs", main);
    folder
}

fn dwell(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.arg("apply").args(args).current_dir(folder).stdin(Stdio::null());
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(variable);
    }
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    dwell(folder, args).output().expect("it runs")
}

fn out(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn finding(item: &str, from: &str, to: &str) -> Value {
    let line = MAIN.lines().position(|line| line.contains(from) && !line.contains("struct")).map_or(1, |line| line + 1);
    json!({"kind": "box", "where": format!("entries::{item}"), "saves": 100_000, "how": format!("{from} to {to}"),
        "edits": [{"file": "src/main.rs", "line": line, "item": item, "from": from, "to": to}]})
}

fn report(folder: &Path, findings: &[Value], arguments: &[&str]) -> PathBuf {
    let file = folder.join("target").join("report.json");
    fs::create_dir_all(folder.join("target")).expect("a folder");
    let value = json!({"version": 1, "program": {"arguments": arguments}, "snapshots": [{"findings": findings}]});
    fs::write(&file, value.to_string()).expect("a file");
    file
}

fn source(folder: &Path) -> String {
    fs::read_to_string(folder.join("src/main.rs")).expect("a file")
}

fn both() -> [Value; 2] {
    [finding("Entry.details", "Option<Details>", "Option<Box<Details>>"), finding("Kind::Huge", "Huge", "Box<Huge>")]
}

#[test]
fn boxes_are_applied_tested_and_measured() {
    let package = package(MAIN);
    let folder = package.path();
    let file = report(folder, &both(), &["20000"]);
    let file = file.to_str().expect("UTF-8");
    let applied = run(folder, &["--from", file, "--all", "--allow-no-vcs"]);
    let text = out(&applied);
    assert_eq!(applied.status.code(), Some(0), "{text}");
    assert!(text.matches("tests: 2 passed").count() == 2, "{text}");
    assert!(text.matches("saved").count() == 2 && text.contains("written: 1 file"), "{text}");
    assert!(text.contains("Entry 424 to 216"), "{text}");
    let changed = source(folder);
    for part in [
        "    // A comment that stays.\n    details: Option<Box<Details>>,",
        "Huge(Box<Huge>), // rare",
        "Entry { kind, details: details.map(Box::new) }",
        "entry.details.as_deref()",
        ".map(|value| Kind::Huge(Box::new(value)))",
        "matches!(entry(0, None).kind, Kind::Huge(_))",
    ] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    // The copy is not taken for a source of the workspace.
    assert!(folder.join("target/dwell/apply/CACHEDIR.TAG").exists());
    // The second time the source no longer has what the report says.
    let again = run(folder, &["--from", file, "1", "--allow-no-vcs"]);
    assert_eq!(again.status.code(), Some(2), "{}", out(&again));
    assert!(out(&again).contains("is Option<Box<Details>> already"), "{}", out(&again));
    assert_eq!(source(folder), changed);
}

#[test]
fn dry_run_and_patch_change_nothing() {
    let package = package(MAIN);
    let folder = package.path();
    let file = report(folder, &both(), &[]);
    let file = file.to_str().expect("UTF-8");
    let shown = run(folder, &["--from", file, "--dry-run", "Kind::Huge"]);
    assert_eq!(shown.status.code(), Some(0), "{}", out(&shown));
    assert!(out(&shown).contains("+    Huge(Box<Huge>), // rare"), "{}", out(&shown));
    let patch =
        run(folder, &["--from", file, "--patch", "target/x.patch", "--no-test", "--no-measure", "Entry.details"]);
    assert_eq!(patch.status.code(), Some(0), "{}", out(&patch));
    let text = fs::read_to_string(folder.join("target/x.patch")).expect("a patch");
    assert!(
        text.starts_with("--- a/src/main.rs\n+++ b/src/main.rs\n")
            && text.contains("+    details: Option<Box<Details>>,"),
        "{text}"
    );
    assert_eq!(source(folder), MAIN);
    let list = run(folder, &["--from", file, "--list"]);
    assert!(out(&list).lines().count() == 2 && out(&list).contains("  2 "), "{}", out(&list));
}

#[test]
fn change_that_does_not_hold_is_not_written() {
    // An `else` that is too long to be written twice: a person has to write that.
    let long =
        "        let mut count = 0;\n        count += 1;\n        count += 1;\n        count += 1;\n        count\n";
    let guarded = MAIN.replace(
        "fn details(entry",
        &format!("fn count(kind: &Kind) -> usize {{\n    if let Kind::Huge(Huge {{ at: (1, column), .. }}) = kind {{\n        *column as usize\n    }} else {{\n{long}    }}\n}}\n\nfn details(entry"),
    );
    let guarded = guarded.replacen("fn count", "#[allow(dead_code)]\nfn count", 1);
    let package = package(&guarded);
    let folder = package.path();
    let file = report(folder, &[finding("Kind::Huge", "Huge", "Box<Huge>")], &[]);
    let file = file.to_str().expect("UTF-8");
    let stuck = run(folder, &["--from", file, "--allow-no-vcs", "--no-test"]);
    assert_eq!(stuck.status.code(), Some(1), "{}", out(&stuck));
    assert!(out(&stuck).contains("left for a person") && out(&stuck).contains("if let Kind::Huge"), "{}", out(&stuck));
    assert_eq!(source(folder), guarded);
    // A test that looks at the size.
    let sized = MAIN.replace("    #[test]\n    fn parts", "    #[test]\n    fn size() {\n        assert_eq!(size_of::<Entry>(), 424);\n    }\n\n    #[test]\n    fn parts").replace("use std::fmt;", "use std::fmt;\nuse std::mem::size_of;");
    let sized = sized.replacen("use std::mem::size_of;", "#[allow(unused_imports)]\nuse std::mem::size_of;", 1);
    fs::write(folder.join("src/main.rs"), &sized).expect("a file");
    let other = run(folder, &["--from", file, "--allow-no-vcs", "--no-measure"]);
    assert_eq!(other.status.code(), Some(1), "{}", out(&other));
    assert!(out(&other).contains("tests::size is FAILED"), "{}", out(&other));
    assert_eq!(source(folder), sized);
    let poor = run(folder, &["--from", file, "--allow-no-vcs", "--no-test", "--keep-if", "saves >= 99%"]);
    assert_eq!(poor.status.code(), Some(1), "{}", out(&poor));
    assert!(out(&poor).contains("does not save enough") && source(folder) == sized, "{}", out(&poor));
}

#[track_caller]
fn refused(folder: &Path, args: &[&str], part: &str) {
    let before = source(folder);
    let output = run(folder, args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
    assert!(
        text.contains(part) && text.lines().filter(|line| line.starts_with("error: ")).count() == 1,
        "{part}: {text}"
    );
    assert_eq!(source(folder), before);
}

#[test]
fn wrong_input_is_refused_in_one_line() {
    let small = "#[allow(dead_code)]\n#[derive(Clone, Copy)]\nstruct Small {\n    it: u64,\n}\n\n/// What an entry is.";
    let package = package(&MAIN.replace("/// What an entry is.", small).replacen(
        "use std::fmt;",
        "mod build;\nuse std::fmt;",
        1,
    ));
    let folder = package.path();
    fs::write(folder.join("src/build.rs"), "#[allow(dead_code)]\npub struct Step {\n    it: u64,\n}\n")
        .expect("a file");
    fs::write(folder.join("build.rs"), "#[allow(dead_code)]\nstruct Step {\n    it: u64,\n}\nfn main() {}\n")
        .expect("a file");
    let mut dependency = finding("Buffer.data", "A", "Box<A>");
    dependency["dependency"] = "hyper".into();
    let mut elsewhere = finding("Entry.details", "Option<Details>", "Option<Box<Details>>");
    elsewhere["edits"][0]["file"] = "/etc/passwd".into();
    let mut findings = [
        dependency,
        elsewhere,
        finding("Entry.gone", "A", "Box<A>"),
        finding("Small.it", "u64", "Box<u64>"),
        finding("Entry.kind", "u8", "Box<u8>"),
        finding("Entry.kind", "Kind", "Rc<Kind>"),
        finding("Step.it", "u64", "Box<u64>"),
        finding("Step.it", "u8", "Box<u8>"),
    ];
    findings[6]["edits"][0]["file"] = "build.rs".into();
    findings[7]["edits"][0]["file"] = "src/build.rs".into();
    let file = report(folder, &findings, &[]);
    let file = file.to_str().expect("UTF-8");
    let with =
        |rest: &[&'static str]| [&["--from", file, "--allow-no-vcs", "--no-test", "--no-measure"], rest].concat();
    refused(folder, &with(&["1"]), "declared in hyper");
    refused(folder, &with(&["2"]), "is not in this workspace's source");
    refused(folder, &with(&["3"]), "Entry.gone is not declared there");
    refused(folder, &with(&["4"]), "is Copy, and a box is not");
    refused(folder, &with(&["5"]), "Entry.kind is Kind, and the report says u8");
    refused(folder, &with(&["6"]), "is no move that apply can make");
    refused(folder, &with(&["7"]), "is a build script");
    refused(folder, &with(&["8"]), "Step.it is u64, and the report says u8");
    refused(folder, &with(&["9"]), "there is no finding 9");
    refused(folder, &with(&["Entry.none"]), "no finding is about Entry.none");
    refused(folder, &["--from", file, "2"], "is not in a git repository");
    refused(folder, &["--from", "none.json", "--allow-no-vcs"], "none.json: cannot be read");
    refused(folder, &["--from", "Cargo.toml", "--allow-no-vcs"], "is no JSON");
    refused(folder, &["--exe", "x"], "apply changes the source");
    fs::write(folder.join("target/empty.json"), "{}").expect("a file");
    refused(folder, &["--from", "target/empty.json", "--allow-no-vcs"], "has no finding");
    let listed = run(folder, &["--from", "target/empty.json", "--list"]);
    assert!(out(&listed).contains("there is nothing to apply: the report has no finding"), "{}", out(&listed));
    let git = |args: &[&str]| {
        Command::new("git").args(args).current_dir(folder).output().is_ok_and(|output| output.status.success())
    };
    if git(&["init", "-q"]) && git(&["add", "src"]) {
        refused(folder, &["--from", file, "2"], "has uncommitted changes");
    }
    // A program that does not compile.
    fs::write(folder.join("src/main.rs"), MAIN.replace("Kind::Small(3)", "Kind::Small(\"\")")).expect("a file");
    let file = report(folder, &both(), &[]);
    refused(
        folder,
        &["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--allow-dirty", "--no-measure"],
        "does not compile before the change",
    );
}

#[test]
fn interrupted_run_changes_nothing_and_a_second_one_waits_for_no_lock() {
    let package = package(MAIN);
    let folder = package.path();
    let file = report(folder, &both(), &[]);
    let args = ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"];
    for millis in [40, 300, 1200] {
        let mut first = dwell(folder, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        thread::sleep(Duration::from_millis(millis));
        if millis == 300 && first.try_wait().expect("it can be waited for").is_none() {
            refused(folder, &args, "works in this workspace; wait until it ends");
        }
        first.kill().expect("it can be killed");
        let _ = first.wait();
        // It may have ended before.
        if source(folder) != MAIN {
            return;
        }
    }
    assert_eq!(source(folder), MAIN);
}

#[test]
fn text_and_lists_get_a_fixed_length_unless_they_grow() {
    let main = r#"
struct Row {
    name: String,
    cells: Vec<u32>,
    note: Option<String>,
    grows: Vec<u32>,
}

fn length(name: &String, cells: &Vec<u32>) -> usize {
    name.len() + cells.len()
}

fn row(name: &str, note: Option<String>) -> Row {
    let mut cells = Vec::with_capacity(9);
    cells.push(3);
    Row { name: name.to_string(), cells, note, grows: Vec::new() }
}

fn parts(row: Row) -> (String, Vec<u32>, Option<String>) {
    (row.name, row.cells, row.note)
}

fn main() {
    let mut one = row("a", Some("b".to_string()));
    one.grows.push(1);
    println!("{} {}", length(&one.name, &one.cells), one.grows.len());
    println!("{:?}", parts(one));
}

#[test]
fn is_the_same() {
    assert_eq!(parts(row("a", None)), ("a".to_string(), vec![3], None));
}
"#;
    let package = package(main);
    let folder = package.path();
    let finding = |item: &str, from: &str, to: &str| {
        json!({"kind": "exact", "where": item, "saves": 1, "how": to,
            "edits": [{"file": "src/main.rs", "line": 3, "item": item, "from": from, "to": to}]})
    };
    let findings = [
        finding("Row.name", "String", "Box<str>"),
        finding("Row.cells", "Vec<u32>", "Box<[u32]>"),
        finding("Row.note", "Option<String>", "Option<Box<str>>"),
        finding("Row.grows", "Vec<u32>", "Box<[u32]>"),
    ];
    let file = report(folder, &findings, &[]);
    let file = file.to_str().expect("UTF-8");
    let flags = ["--from", file, "--allow-no-vcs", "--no-measure"];
    let applied = run(folder, &[&flags[..], &["1", "2", "3"]].concat());
    assert_eq!(applied.status.code(), Some(0), "{}", out(&applied));
    let changed = source(folder);
    for part in ["fn length(name: &str, cells: &[u32])", "cells: cells.into_boxed_slice()", "row.name.into_string()"] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    let stuck = run(folder, &[&flags[..], &["Row.grows"]].concat());
    assert_eq!(stuck.status.code(), Some(1), "{}", out(&stuck));
    assert!(out(&stuck).contains("no method named `push`") && source(folder) == changed, "{}", out(&stuck));
}

/// The advice of `dwell::weigh` names fields by their type, without a file.
#[test]
fn advice_of_weigh_is_applied() {
    #[derive(Default, dwell::Weigh)]
    struct Details {
        name: String,
        numbers: [u64; 24],
    }

    #[derive(Default, dwell::Weigh)]
    struct Entry {
        kind: u8,
        details: Option<Details>,
    }

    let entries: Vec<Entry> = (0..100).map(|_| Entry::default()).collect();
    let package = package(MAIN);
    let report = package.path().join("advice.json");
    fs::write(&report, dwell::weigh::tree(&entries).advise().to_json()).expect("a file");
    let from = report.to_str().expect("a path");
    let listed = run(package.path(), &["--from", from, "--list"]);
    assert!(out(&listed).contains("Entry.details: Option<Details> to Option<Box<Details>>"), "{}", out(&listed));
    let output = run(package.path(), &["--from", from, "--allow-no-vcs", "--no-measure", "Entry.details"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(source(package.path()).contains("    details: Option<Box<Details>>,"), "{text}");
    // A type that the source does not have.
    let other = fs::read_to_string(&report).expect("a file").replace("Entry.details", "Other.details");
    fs::write(&report, other).expect("a file");
    refused(package.path(), &["--from", from, "--allow-no-vcs", "1"], "has no edit of this workspace's source");
}

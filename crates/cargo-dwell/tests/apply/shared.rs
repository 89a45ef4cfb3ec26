//! Equal values that are shared, narrower integers, and another allocator.

use super::{out, package, report, run, source};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const TEXTS: &str = r#"//! Reads entries whose kinds are few.

#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    kind: String,
    number: usize,
    unit: Option<String>,
}

fn parse(line: &str, number: usize) -> Entry {
    let kind = format!("the kind of an entry, which is {}", &line[..1]);
    Entry { kind, number, unit: line.ends_with('x').then(|| "metre".to_string()) }
}

impl Entry {
    fn named(name: &str) -> Self {
        Self { kind: name.into(), number: 0, unit: None }
    }

    fn kind(&self) -> &str {
        self.kind.as_str()
    }

    fn into_kind(self) -> String {
        self.kind
    }

    fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}

fn kinds(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.kind.clone()).collect()
}

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().unwrap());
    let entries: Vec<Entry> = (0..count).map(|number| parse(["a", "bx", "c"][number % 3], number)).collect();
    let sum: usize = entries.iter().map(|entry| entry.kind.len() + entry.number).sum();
    println!("{} {sum} {}", entries.len(), kinds(&entries[..2]).join(" "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        let mut entry = parse("bx", 3);
        assert_eq!(entry.kind, "the kind of an entry, which is b");
        assert!(entry.kind != "x" && entry.kind == parse("b", 1).kind && entry.kind().len() > 3);
        entry.kind = "y".to_string();
        assert_eq!((entry.kind(), entry.unit()), ("y", Some("metre")));
        assert_eq!(entry.clone().into_kind(), "y");
        assert_eq!(Entry { kind: String::from("z"), ..Entry::default() }, Entry::named("z"));
        assert_eq!(kinds(&[entry]), ["y"]);
    }
}
"#;

fn finding(text: &str, kind: &str, item: &str, from: &str, to: &str) -> Value {
    let name = item.rsplit('.').next().unwrap_or_default();
    let line = text.lines().position(|line| line.contains(&format!("{name}: {from}"))).map_or(1, |line| line + 1);
    json!({"kind": kind, "where": item, "saves": 1000, "how": to,
        "edits": [{"file": "src/main.rs", "line": line, "item": item, "from": from, "to": to}]})
}

fn applied(folder: &Path, findings: &[Value], arguments: &[&str], more: &[&str]) -> (Option<i32>, String) {
    let file = report(folder, findings, arguments);
    let mut args = vec!["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs"];
    args.extend(more);
    let ran = run(folder, &args);
    (ran.status.code(), out(&ran))
}

#[test]
fn equal_texts_are_shared() {
    let package = package(TEXTS);
    let folder = package.path();
    let (code, text) =
        applied(folder, &[finding(TEXTS, "intern", "Entry.kind", "String", "Arc<str>")], &["20000"], &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("tests: 1 passed") && text.contains("saved"), "{text}");
    let changed = source(folder);
    for part in [
        "use std::sync::Arc;\n",
        "    kind: Arc<str>,",
        "pub(crate) fn shared_text(text: impl AsRef<str>) -> Arc<str> {",
        "Entry { kind: shared_text(kind), number,",
        "Self { kind: shared_text(name), number: 0, unit: None }",
        "&self.kind\n",
        "entry.kind.to_string()).collect()",
        "self.kind.to_string()\n",
        "entry.kind = shared_text(\"y\");",
    ] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    // The function is there for the next one.
    let optional = finding(&changed, "intern", "Entry.unit", "Option<String>", "Option<Arc<str>>");
    let (code, text) = applied(folder, &[optional], &[], &["--no-measure"]);
    assert_eq!(code, Some(0), "{text}");
    let changed = source(folder);
    assert_eq!(changed.matches("fn shared_text").count(), 1, "{changed}");
    assert!(changed.contains("unit: Option<Arc<str>>") && changed.contains(".map(shared_text)"), "{changed}");
}

/// Texts that all differ are kept as they were: the lookup would cost, and save nothing.
#[test]
fn texts_that_differ_are_not_shared() {
    let own = TEXTS.replace("which is {}\", &line[..1]", "which is {}\", number");
    let package = package(&own);
    let folder = package.path();
    let (code, text) =
        applied(folder, &[finding(&own, "intern", "Entry.kind", "String", "Arc<str>")], &["2000"], &["--no-test"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("does not save enough") && source(folder) == own, "{text}");
}

const LISTS: &str = r#"#[derive(Clone, Debug, PartialEq)]
struct Row {
    columns: Vec<u64>,
    sizes: Vec<u8>,
    at: usize,
}

fn rows(count: usize) -> Vec<Row> {
    let first = Row { columns: (0..40).collect(), sizes: vec![1; 40], at: 0 };
    (0..count).map(|at| Row { at, ..first.clone() }).collect()
}

fn total(columns: &Vec<u64>) -> u64 {
    columns.iter().sum()
}

impl Row {
    fn grow(&mut self) {
        self.sizes.push(2);
        self.sizes[0] = 3;
    }

    fn into_columns(self) -> Vec<u64> {
        self.columns
    }
}

fn main() {
    let rows = rows(std::env::args().nth(1).map_or(3, |text| text.parse().unwrap()));
    println!("{}", rows.iter().map(|row| total(&row.columns) + row.at as u64 + row.sizes.len() as u64).sum::<u64>());
}

#[test]
fn works() {
    let mut all = rows(2);
    all[0].grow();
    assert_eq!((all[0].sizes.len(), all[1].sizes.len(), all[0].sizes[0], all[1].sizes[0]), (41, 40, 3, 1));
    assert_eq!(total(&all[1].clone().into_columns()), 780);
    assert!(all[1].columns == all[0].columns && all[1].columns[3] == 3);
}
"#;

#[test]
fn lists_that_are_clones_are_shared() {
    let package = package(LISTS);
    let folder = package.path();
    let both = [
        finding(LISTS, "duplicate", "Row.columns", "Vec<u64>", "Arc<[u64]>"),
        finding(LISTS, "duplicate", "Row.sizes", "Vec<u8>", "Arc<Vec<u8>>"),
    ];
    let (code, text) = applied(folder, &both, &["4000"], &["Row.columns", "Row.sizes"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.matches("tests: 1 passed").count() == 2 && text.matches("saved").count() == 2, "{text}");
    let changed = source(folder);
    for part in [
        "columns: Arc<[u64]>,",
        "sizes: Arc<Vec<u8>>,",
        "columns: (0..40).collect(), sizes: Arc::new(vec![1; 40])",
        "fn total(columns: &[u64])",
        "Arc::make_mut(&mut self.sizes).push(2)",
        "Arc::make_mut(&mut self.sizes)[0] = 3",
        "self.columns.to_vec()",
    ] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
}

/// What serde reads is shared too.
#[test]
fn texts_that_serde_reads_are_shared() {
    let text = r##"use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    kind: String,
    unit: Option<String>,
}

fn main() {
    let count = std::env::args().nth(1).map_or(3, |text| text.parse().unwrap());
    let text = r#"{"kind":"the kind of an entry that is long"}"#;
    let all: Vec<Entry> = (0..count).map(|_| serde_json::from_str(text).unwrap()).collect();
    println!("{}", serde_json::to_string(&all[..1]).unwrap());
}

#[test]
fn works() {
    let one: Entry = serde_json::from_str(r#"{"kind":"a"}"#).unwrap();
    assert_eq!(serde_json::to_string(&one).unwrap(), r#"{"kind":"a","unit":null}"#);
}
"##;
    let package = package(text);
    let folder = package.path();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let needs = "[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n";
    fs::write(folder.join("Cargo.toml"), format!("{manifest}\n{needs}")).expect("a manifest");
    let lock = Command::new("cargo").args(["generate-lockfile", "--offline"]).current_dir(folder).output();
    if !lock.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: serde is not on this machine");
        return;
    }
    let both = [
        finding(text, "intern", "Entry.kind", "String", "Arc<str>"),
        finding(text, "intern", "Entry.unit", "Option<String>", "Option<Arc<str>>"),
    ];
    let (code, said) = applied(folder, &both, &["3000"], &["--offline", "--keep", "Entry.kind", "Entry.unit"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.matches("tests: 1 passed").count() == 2 && said.contains("saved"), "{said}");
    let changed = source(folder);
    assert!(
        changed.contains("    #[serde(deserialize_with = \"crate::deserialize_shared_text\")]\n    kind: Arc<str>")
    );
    assert!(
        changed.contains("#[serde(default, deserialize_with = \"crate::deserialize_shared_option\")]"),
        "{changed}"
    );
    assert!(fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest").contains("\"rc\""));
}

const NUMBERS: &str = r#"#[derive(Clone, Debug, Default, PartialEq)]
struct Token {
    at: usize,
    line: u64,
    kind: u8,
}

struct Other {
    line: u64,
}

fn lex(text: &str) -> Vec<Token> {
    let mut line = 1;
    let mut all = Vec::new();
    for (at, letter) in text.char_indices() {
        line += u64::from(letter == '\n');
        all.push(Token { at, line, kind: 0 });
    }
    if let Some(last) = all.last_mut() {
        last.line += 1;
        last.at = text.len();
    }
    all
}

fn cost(token: &Token) -> u64 {
    token.line * 3_000_000_000
}

fn main() {
    let all = lex(&"text\n".repeat(std::env::args().nth(1).map_or(3, |text| text.parse().unwrap())));
    let other = Other { line: all.len() as u64 };
    println!("{} {} {:?}", all[0].line, other.line + cost(&all[all.len() - 1]), all.iter().map(|token| token.at).max());
}

#[test]
fn works() {
    let all = lex("a\nb");
    assert_eq!((all[2].line, all[2].at, cost(&all[1])), (3, 3, 6_000_000_000));
    assert!(all[0].line == 1 && "abcd".as_bytes()[all[1].at] == b'b');
}
"#;

/// A product of what is read is one of the wide numbers, and what is given is checked.
#[test]
fn integers_become_narrower_by_a_checked_conversion() {
    let package = package(NUMBERS);
    let folder = package.path();
    let edits = [("Token.at", "usize", "u32"), ("Token.line", "u64", "u32")]
        .map(|(item, from, to)| finding(NUMBERS, "narrow", item, from, to)["edits"][0].clone());
    let both = json!({"kind": "narrow", "where": "at, line of Token", "saves": 1000, "how": "u32; check the range", "edits": edits});
    let (code, text) = applied(folder, std::slice::from_ref(&both), &["3000"], &[]);
    assert!(code == Some(1) && text.contains("check the range of Token.line"), "{text}");
    let (code, text) = applied(folder, &[both], &["3000"], &["--accept"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("Token 24 to 12") && text.contains("tests: 1 passed"), "{text}");
    let changed = source(folder);
    for part in [
        "    at: u32,\n    line: u32,",
        "at: u32::try_from(at).expect(\"at fits into u32\")",
        "last.line = u32::try_from(u64::from(last.line) + 1).expect(\"line fits into u32\");",
        "u64::from(token.line) * 3_000_000_000",
        "all[0].line, other.line + cost",
        "all[0].line == 1",
        "[all[1].at as usize]",
        "line: all.len() as u64",
    ] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
}

/// A use that changes the number in its place is left to a person.
#[test]
fn borrowed_integers_stay() {
    let own = NUMBERS.replace("last.line += 1", "{ let line = &mut last.line; *line += 1; }");
    let package = package(&own);
    let finding = finding(&own, "narrow", "Token.line", "u64", "u32");
    let (code, text) = applied(package.path(), &[finding], &[], &["--no-measure", "--accept"]);
    assert!(code == Some(2) && text.contains("src/main.rs:20: Token.line is borrowed"), "{text}");
    assert_eq!(source(package.path()), own);
}

/// `allocs` measures the program under mimalloc too: two lines and a dependency make it the allocator.
#[test]
fn mimalloc_becomes_the_allocator() {
    let text =
        "//! Says a word.\n\nfn main() {\n    println!(\"{}\", \"word\".to_owned());\n}\n\n#[test]\nfn works() {}\n";
    let package = package(text);
    let folder = package.path();
    let file = folder.join("target/allocs.json");
    fs::create_dir_all(folder.join("target")).expect("a folder");
    let report = json!({"program": {"file": "target/debug/entries", "arguments": []}, "suggestions": [],
        "again": {"other": "mimalloc", "nanos": [100, 70], "ratio": [0.6, 0.7, 0.8]}});
    fs::write(&file, report.to_string()).expect("a file");
    let from = ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"];
    let listed = run(folder, &[&from[..], &["--list"]].concat());
    assert!(out(&listed).contains("20 to 40 % of the CPU time  mimalloc: as the global allocator"), "{}", out(&listed));
    let applied = run(folder, &[&from[..], &["mimalloc"]].concat());
    let said = out(&applied);
    if said.contains("mimalloc cannot be added") {
        println!("skipped: mimalloc is not on this machine, and there is no network");
        return;
    }
    assert_eq!(applied.status.code(), Some(0), "{said}");
    assert!(source(folder).contains("#[global_allocator]\nstatic GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;\n"));
    assert!(fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest").contains("mimalloc = "));
}

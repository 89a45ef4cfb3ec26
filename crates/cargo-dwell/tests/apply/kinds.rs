//! Kinds of changes and uses that crates needed which no rule had seen.

use super::{out, package, report, run, source};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write as _};
use std::process::Command;

fn finding(text: &str, kind: &str, item: &str, from: &str, to: &str) -> Value {
    let line = text.lines().position(|line| line.contains(&format!(": {from}"))).map_or(1, |line| line + 1);
    json!({"kind": kind, "where": item, "saves": 1000, "how": to,
        "edits": [{"file": "src/main.rs", "line": line, "item": item, "from": from, "to": to}]})
}

const NODES: &str = r#"#[derive(Clone, Debug, PartialEq)]
struct Body {
    words: [u64; 20],
}

#[derive(Clone, Debug, PartialEq)]
enum Node<'a> {
    Call { name: &'a str, body: Body, at: u32 },
    Pair(u8, Option<Body>),
    Leaf(u8),
}

fn call(name: &str, body: Body) -> Node<'_> {
    Node::Call { name, body, at: 1 }
}

fn sum(node: &Node<'_>) -> u64 {
    match node {
        Node::Call { body: Body { words }, at, .. } => words[0] + u64::from(*at),
        Node::Pair(n, Some(body)) => body.words[0] + u64::from(*n),
        Node::Pair(n, None) | Node::Leaf(n) => u64::from(*n),
    }
}

fn main() {
    let body = Body { words: [1; 20] };
    println!("{} {}", sum(&call("x", body.clone())), sum(&Node::Pair(1, Some(body))) + sum(&Node::Leaf(3)));
}

#[test]
fn works() {
    let body = Body { words: [7; 20] };
    assert_eq!(sum(&call("x", body.clone())), 8);
    assert_eq!(sum(&Node::Pair(1, Some(body))), 8);
    assert!(matches!(call("y", Body { words: [0; 20] }), Node::Call { name: "y", .. }));
}
"#;

/// A report names variants with several fields, and has no edit of theirs: those that are large are boxed.
#[test]
fn large_fields_of_variants_are_boxed() {
    let package = package(NODES);
    let folder = package.path();
    let finding = json!({"kind": "variant", "where": "Call, Pair of Node", "fields": ["entries::Node::Call", "entries::Node::Pair"],
        "saves": 1000, "how": "box the fields of 2 variants", "edits": []});
    let file = report(folder, &[finding], &[]);
    let applied = run(folder, &["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"]);
    let text = out(&applied);
    assert_eq!(applied.status.code(), Some(0), "{text}");
    let changed = source(folder);
    assert!(changed.contains("Call { name: &'a str, body: Box<Body>, at: u32 }"), "{changed}");
    assert!(changed.contains("Pair(u8, Option<Box<Body>>)") && !changed.contains("DWELL"), "{changed}");
    assert!(text.contains("Node::Call.body, Node::Pair.1") && text.contains("tests: 1 passed"), "{text}");
}

/// The errors of tests that did not compile before are not those of the change.
#[test]
fn tests_that_do_not_compile_are_left_as_they_are() {
    let own = format!("{NODES}\n#[cfg(test)]\nuse missing::Thing;\n");
    let package = package(&own);
    let folder = package.path();
    let edit = json!({"file": "src/main.rs", "line": 8, "item": "Node::Call.body", "from": "Body", "to": "Box<Body>"});
    let finding =
        json!({"kind": "variant", "where": "Node::Call.body", "saves": 1000, "how": "a box", "edits": [edit]});
    let file = report(folder, &[finding], &[]);
    let from = ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure", "--no-test", "--accept"];
    let applied = run(folder, &from);
    let text = out(&applied);
    assert_eq!(applied.status.code(), Some(0), "{text}");
    assert!(text.contains("does not compile before the change, and is not looked at"), "{text}");
    assert!(source(folder).contains("Node::Call { name, body: Box::new(body), at: 1 }"), "{}", source(folder));
}

const DEFAULTS: &str = r#"#![warn(clippy::pedantic)]

#[derive(Clone, Debug, Default)]
struct Details {
    numbers: [u64; 20],
}

static NONE: Details = Details { numbers: [0; 20] };

#[derive(Default)]
struct Entry {
    details: Option<Details>,
    list: Option<Vec<u8>>,
}

fn first(entry: &Entry) -> u64 {
    entry.details.as_ref().unwrap_or(&NONE).numbers[0]
}

fn grow(entry: &mut Entry) -> u64 {
    let mut other = Details::default();
    let details = entry.details.as_mut().unwrap_or(&mut other);
    details.numbers[0] += 1;
    details.numbers[0]
}

fn list(entry: Entry) -> Option<Vec<u8>> {
    entry.list
}

fn taken(entry: &mut Entry) -> Option<Details> {
    std::mem::take(&mut entry.details)
}

fn all(entry: Entry) -> Vec<Details> {
    entry.details.into_iter().collect()
}

// A syntax of its own, as that of a grammar.
macro_rules! rules {
    ($($name:ident $of:ident -> { $($body:tt)* };)*) => { $(fn $name($of: Option<Details>) -> Entry { $($body)* })* };
}
rules! {
    made of -> { Entry { details: of, list: None } };
}

fn main() {
    println!("{:?} {}", taken(&mut made(None)), all(made(Some(Details::default()))).len());
    let mut entry = Entry { details: Some(Details::default()), list: Some(vec![1]) };
    println!("{} {} {:?}", grow(&mut entry), first(&entry), list(entry));
}

#[test]
fn works() {
    let mut entry = Entry::default();
    assert_eq!((first(&entry), grow(&mut entry)), (0, 1));
    entry.details = Some(Details { numbers: [4; 20] });
    assert_eq!((grow(&mut entry), first(&entry)), (5, 5));
    assert_eq!((taken(&mut entry).is_some(), all(made(None)).len(), all(made(Some(Details::default()))).len()), (true, 0, 1));
}
"#;

/// `self.details.as_ref().unwrap_or(&NONE)`: no rule knows what the other value is, so repairs are tried.
#[test]
fn repairs_are_tried_where_no_rule_knows_one() {
    let package = package(DEFAULTS);
    let folder = package.path();
    let file =
        report(folder, &[finding(DEFAULTS, "box", "Entry.details", "Option<Details>", "Option<Box<Details>>")], &[]);
    let applied = run(folder, &["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"]);
    let text = out(&applied);
    assert_eq!(applied.status.code(), Some(0), "{text}");
    let changed = source(folder);
    assert!(changed.contains("entry.details.as_deref().unwrap_or(&NONE)"), "{changed}");
    assert!(changed.contains("entry.details.as_deref_mut().unwrap_or(&mut other)"), "{changed}");
    assert!(changed.contains("std::mem::take(&mut entry.details).map(|value| *value)"), "{changed}");
    assert!(changed.contains("entry.details.into_iter().map(|value| *value).collect()"), "{changed}");
    assert!(changed.contains("details: of.map(Box::new), list: None } };"), "{changed}");
    assert!(text.contains("by a try") && text.contains("tests: 1 passed"), "{text}");
}

/// The repair `|list| list.into_vec()` is one that clippy warns of at this crate's level, and repairs.
#[test]
fn new_warnings_are_repaired() {
    let has_clippy =
        Command::new("cargo").args(["clippy", "--version"]).output().is_ok_and(|output| output.status.success());
    if !has_clippy {
        let _ = writeln!(io::stderr(), "skipped: there is no clippy");
        return;
    }
    let package = package(DEFAULTS);
    let folder = package.path();
    let file = report(folder, &[finding(DEFAULTS, "exact", "Entry.list", "Option<Vec<u8>>", "Option<Box<[u8]>>")], &[]);
    let applied = run(folder, &["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"]);
    let text = out(&applied);
    assert_eq!(applied.status.code(), Some(0), "{text}");
    assert!(!text.contains("new warning") && text.contains("tests: 1 passed"), "{text}");
    assert!(source(folder).contains("entry.list.map(<[u8]>::into_vec)"), "{}", source(folder));
}

const PARSED: &str = r#"#[derive(Clone, Debug, PartialEq)]
struct Wide {
    words: [u64; 20],
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Nil,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Is(Value),
    Wide(Wide),
    None,
}

#[derive(Debug, PartialEq)]
struct Named {
    name: char,
    wide: Wide,
}

#[derive(Default)]
struct Pair {
    left: Option<Wide>,
    right: Option<Wide>,
}

impl Pair {
    fn turned(&self) -> Self {
        Self { left: self.right.clone(), right: self.left.clone() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    Wide,
    Narrow,
    Other(u8),
}

struct Options {
    style: Option<Style>,
    all: Style,
}

impl Options {
    fn is_wide(&self) -> bool {
        matches!(self.style, Some(Style::Wide))
    }

    fn is_plain(&self) -> bool {
        matches!(self.style.unwrap_or(self.all), Style::Narrow | Style::Other(0))
    }
}

// A parser, and a macro that makes a variable of each field, as that of a parser library.
#[derive(Clone, Copy)]
struct Parser<T>(fn(&str) -> T);
struct Mapped<T, U>(Parser<T>, fn(T) -> U);
impl<T> Parser<T> {
    fn map<U>(self, of: fn(T) -> U) -> Mapped<T, U> {
        Mapped(self, of)
    }
    fn parse(&self, text: &str) -> T {
        (self.0)(text)
    }
}
impl<T, U> Mapped<T, U> {
    fn parse(&self, text: &str) -> U {
        (self.1)(self.0.parse(text))
    }
}
macro_rules! seq {
    ($text:expr, $of:ident { $($field:ident: $parser:expr,)* }) => {{ $(let $field = $parser.parse($text);)* $of { $($field),* } }};
}

macro_rules! part {
    (wide $n:expr) => {
        Part::Wide(Wide { words: [$n; 20] })
    };
}

macro_rules! take {
    ($of:expr, $variant:ident) => {
        match $of {
            Part::$variant(inner) => inner,
            other => panic!("{other:?}"),
        }
    };
}

fn named(text: &str) -> Named {
    let name = Parser(|text: &str| text.chars().next().unwrap_or(' '));
    let wide = Parser(|text: &str| Wide { words: [text.len() as u64; 20] });
    seq!(text, Named { name: name, wide: wide, })
}

fn shown(part: Part) -> String {
    match part {
        Part::Is(of @ (Value::Nil | Value::Number(1..=9))) => format!("{of:?}"),
        other => format!("{other:?}"),
    }
}

fn number(part: &Part) -> String {
    match part {
        Part::Is(Value::Number(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn raised(parts: &mut [Part]) -> u64 {
    if let Some(Part::Is(Value::Number(number))) = parts.first_mut() {
        *number += 1;
        *number
    } else {
        0
    }
}

fn wide() -> Wide {
    take!(part!(wide 3), Wide)
}

fn main() {
    let parts = [Part::None, part!(wide 1), Part::Is(Value::Nil)];
    println!("{:?} {:?} {:?}", named("a"), shown(parts[2].clone()), raised(&mut [Part::Is(Value::Number(1))]));
    println!("{:?} {} {}", wide(), number(&parts[0]), Pair::default().turned().left.is_none());
    let options = Options { style: Some(Style::Other(1)), all: Style::Narrow };
    println!("{} {}", options.is_wide(), options.is_plain());
}

#[test]
fn works() {
    assert_eq!((named("ab").name, named("ab").wide.words[0], wide().words[1]), ('a', 2, 3));
    let options = |style| Options { style, all: Style::Narrow };
    assert_eq!((options(Some(Style::Wide)).is_wide(), options(None).is_wide()), (true, false));
    assert_eq!((options(Some(Style::Wide)).is_plain(), options(None).is_plain()), (false, true));
    assert_eq!((number(&Part::Is(Value::Number(7))).as_str(), number(&Part::None).as_str()), ("7", "None"));
    assert_eq!((shown(Part::Is(Value::Nil)).as_str(), shown(Part::Is(Value::Number(11))).len()), ("Nil", 14));
    assert_eq!((raised(&mut [Part::Is(Value::Number(1))]), raised(&mut [Part::None])), (2, 0));
}
"#;

/// Uses in macros that parse or build values, and patterns whose alternatives are inside of the box.
#[test]
fn macros_and_alternatives_in_a_box_are_repaired() {
    let package = package(PARSED);
    let folder = package.path();
    let with = |item: &str, from: &str| {
        let name = item.rsplit([':', '.']).next().expect("a name");
        let is_it =
            |line: &&str| line.contains(&format!("{name}({from})")) || line.contains(&format!("{name}: {from}"));
        let line = PARSED.lines().position(|line| is_it(&line)).expect("a line") + 1;
        json!({"kind": "box", "where": item, "saves": 1000, "how": "a box", "edits": [
            {"file": "src/main.rs", "line": line, "item": item, "from": from, "to": format!("Box<{from}>")}]})
    };
    let option = |name: &str| finding(PARSED, "box", &format!("Pair.{name}"), "Option<Wide>", "Option<Box<Wide>>");
    let findings = [
        with("Part::Is", "Value"),
        with("Part::Wide", "Wide"),
        with("Named.wide", "Wide"),
        option("left"),
        option("right"),
        finding(PARSED, "box", "Options.style", "Option<Style>", "Option<Box<Style>>"),
    ];
    let file = report(folder, &findings, &[]);
    let from = file.to_str().expect("UTF-8");
    let applied = run(folder, &["--from", from, "--allow-no-vcs", "--no-measure", "1", "2", "3", "4", "5", "6"]);
    let text = out(&applied);
    assert_eq!((applied.status.code(), text.matches("tests: 1 passed").count()), (Some(0), 6), "{text}");
    let changed = source(folder);
    let guard = "Part::Is(value) if let Value::Number(number) = &**value => number.to_string(),";
    let before = "Part::Is(value) if matches!(**value, Value::Number(_))";
    assert!(changed.contains(guard) || changed.contains(before), "{changed}");
    for part in [
        "Part::Is(of) if matches!(*of, Value::Nil | Value::Number(1..=9)) => format!",
        "= &mut **value",
        "Part::Wide(Box::new(Wide { words: [$n; 20] }))",
        "matches!(self.style.as_deref(), Some(Style::Wide))",
        "self.style.as_deref().copied()",
        "left: self.right.clone(), right: self.left.clone() }",
        "*take!(part!(wide 3), Wide)",
        "name: name, wide: wide.map(Box::new),",
    ] {
        assert!(changed.contains(part), "{part}\n{text}\n{changed}");
    }
}

const OPERATORS: &str = r#"use std::ops::{BitOrAssign, SubAssign};

#[derive(Clone, Debug, Default, PartialEq)]
struct Bits {
    words: [u64; 20],
}

impl BitOrAssign<&Bits> for Bits {
    fn bitor_assign(&mut self, other: &Bits) {
        self.words[0] |= other.words[0];
    }
}

impl FromIterator<u64> for Bits {
    fn from_iter<I: IntoIterator<Item = u64>>(all: I) -> Self {
        Bits { words: [all.into_iter().sum(); 20] }
    }
}

impl SubAssign<&Bits> for Bits {
    fn sub_assign(&mut self, other: &Bits) {
        self.words[0] &= !other.words[0];
    }
}

enum Store {
    Bits(Bits),
    None,
}

fn join(left: &mut Store, right: &Store) {
    match (left, right) {
        (Store::Bits(bits), Store::Bits(other)) => BitOrAssign::bitor_assign(bits, other),
        (left, Store::Bits(other)) => {
            let mut bits = Bits::default();
            BitOrAssign::bitor_assign(&mut bits, other);
            *left = Store::Bits(bits);
        }
        _ => {}
    }
}

fn without(left: &mut Store, right: &Bits) {
    if let Store::Bits(bits) = left {
        SubAssign::sub_assign(bits, right);
    }
}

struct Holder(Bits);

impl Holder {
    fn new(bits: impl Into<Bits>) -> Self {
        Self(bits.into())
    }
}

fn held(store: Store) -> Option<Holder> {
    let bits = match store {
        Store::Bits(bits) => Some(bits),
        Store::None => None,
    };
    bits.map(Holder::new)
}

fn counted(count: u64) -> Store {
    Store::Bits((0..count).map(|number| number / 2).collect())
}

fn bits(all: Vec<Store>) -> Vec<Bits> {
    all.into_iter()
        .map(|store| match store {
            Store::Bits(bits) => bits,
            Store::None => panic!("none"),
        })
        .collect()
}

fn main() {
    let (mut left, right) = (Store::None, Store::Bits(Bits { words: [3; 20] }));
    join(&mut left, &right);
    without(&mut left, &Bits { words: [1; 20] });
    println!("{:?} {}", bits(vec![left, counted(3)]), held(counted(2)).map_or(0, |held| held.0.words[0]));
}

#[test]
fn works() {
    let with = |word: u64| Store::Bits(Bits { words: [word; 20] });
    let mut left = with(1);
    join(&mut left, &with(2));
    join(&mut left, &Store::None);
    without(&mut left, &Bits { words: [1; 20] });
    assert_eq!(bits(vec![left, counted(5)]).iter().map(|bits| bits.words[0]).collect::<Vec<_>>(), [2, 4]);
}
"#;

/// Operators that are called by their names, and values that a closure takes out of a box.
#[test]
fn operators_that_are_called_get_the_value() {
    let package = package(OPERATORS);
    let folder = package.path();
    let line = OPERATORS.lines().position(|line| line.contains("    Bits(Bits),")).expect("a line") + 1;
    let finding = json!({"kind": "variant", "where": "Store::Bits", "saves": 1000, "how": "a box", "edits": [
        {"file": "src/main.rs", "line": line, "item": "Store::Bits", "from": "Bits", "to": "Box<Bits>"}]});
    let file = report(folder, &[finding], &[]);
    let applied = run(folder, &["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"]);
    let text = out(&applied);
    let changed = source(folder);
    assert_eq!(applied.status.code(), Some(0), "{text}\n{changed}");
    for part in [
        "sub_assign(&mut **bits, right)",
        "bitor_assign(&mut bits, ",
        "Store::Bits(bits) => *bits,",
        "Box::new((0..count)",
    ] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
}

const DERIVED: &str = r#"#[derive(Clone, Debug, PartialEq)]
struct Huge {
    words: [u64; 20],
}

#[derive(derive_more::From, derive_more::TryInto)]
#[try_into(owned, ref)]
enum Kind {
    Huge(Huge),
    Small(u8),
}

fn kind(huge: Huge) -> Kind {
    huge.into()
}

fn huge(kind: Kind) -> Result<Huge, String> {
    kind.try_into().map_err(|_| "small".to_string())
}

fn word(kind: Kind) -> u64 {
    Huge::try_from(kind).map_or(0, |huge| huge.words[0])
}

fn seen(kind: &Kind) -> Option<u64> {
    let huge: &Huge = kind.try_into().ok()?;
    Some(huge.words[0])
}

fn small(kind: Kind) -> u8 {
    kind.try_into().unwrap_or(1)
}

fn main() {
    let one = || Huge { words: [3; 20] };
    println!("{:?} {} {:?} {}", huge(kind(one())), word(kind(one())), seen(&kind(one())), small(Kind::Small(4)));
}

#[test]
fn works() {
    let one = || Huge { words: [3; 20] };
    assert_eq!((huge(kind(one())), huge(Kind::Small(1))), (Ok(one()), Err("small".to_string())));
    assert_eq!((word(kind(one())), word(2.into()), seen(&kind(one())), small(Kind::Small(4))), (3, 0, Some(3), 4));
}
"#;

/// `derive_more` converts to the box of the variant.
#[test]
fn derived_conversions_give_the_value() {
    let package = package(DERIVED);
    let folder = package.path();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let needs = "[dependencies]\nderive_more = { version = \"2\", features = [\"from\", \"try_into\"] }\n";
    fs::write(folder.join("Cargo.toml"), format!("{manifest}\n{needs}")).expect("a manifest");
    let lock = Command::new("cargo").args(["generate-lockfile", "--offline"]).current_dir(folder).output();
    if !lock.is_ok_and(|ran| ran.status.success()) {
        let _ = writeln!(io::stderr(), "skipped: derive_more is not on this machine");
        return;
    }
    let line = DERIVED.lines().position(|line| line.contains("    Huge(Huge),")).expect("a line") + 1;
    let finding = json!({"kind": "variant", "where": "Kind::Huge", "saves": 1000, "how": "a box", "edits": [
        {"file": "src/main.rs", "line": line, "item": "Kind::Huge", "from": "Huge", "to": "Box<Huge>"}]});
    let file = report(folder, &[finding], &[]);
    let from = ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure", "--offline"];
    let applied = run(folder, &from);
    let (text, changed) = (out(&applied), source(folder));
    assert_eq!(applied.status.code(), Some(0), "{text}\n{changed}");
    for part in [
        "Box::new(huge).into()",
        "Box::<Huge>::try_from(kind).map(|value| *value).map_err(|_| \"small\".to_string())",
        "Box::<Huge>::try_from(kind).map(|value| *value).map_or(0,",
        "<&Box<Huge>>::try_from(kind).map(|value| &**value).ok()?",
    ] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
}

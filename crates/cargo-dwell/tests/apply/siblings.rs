//! Spellings and places beside those that `repairs` and `kinds` have: what a second look at each kind found.

use super::{out, package, report, run, source};
use serde_json::json;

/// Applies one finding to a program, and returns the exit code, what the command says, and the program's source.
fn apply(text: &str, kind: &str, item: &str, from: &str, to: &str) -> (Option<i32>, String, String) {
    let package = package(text);
    let folder = package.path();
    let name = item.rsplit(['.', ':']).next().unwrap_or_default();
    let is_it = |line: &str| (line.contains(from) && line.contains(name)) && !line.contains("fn ");
    let line = text.lines().position(is_it).map_or(1, |line| line + 1);
    let edit = json!({"file": "src/main.rs", "line": line, "item": item, "from": from, "to": to});
    let finding = json!({"kind": kind, "where": item, "saves": 1000, "how": to, "edits": [edit]});
    let file = report(folder, &[finding], &[]);
    let flags = ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"];
    let applied = run(folder, &flags);
    (applied.status.code(), out(&applied), source(folder))
}

fn has(changed: &str, parts: &[&str]) {
    for part in parts {
        assert!(changed.contains(part), "{part}\n{changed}");
    }
}

const ENTRY: &str = "#![allow(dead_code)]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Details { pub a: [u64; 16], pub name: String }
#[derive(Debug, Clone, Default)]
pub struct Entry { pub id: u32, pub details: Option<Details> }
";

const PART: &str = "#![allow(dead_code)]
#[derive(Debug, Clone, PartialEq)]
pub enum Value { Number(i64), Text(String), Nothing, Wide([u64; 16]) }
#[derive(Debug, Clone, PartialEq)]
pub enum Part { Is(Value), Many(Vec<Part>), Not }
";

const METHODS: &str = r#"
impl Entry {
    fn or_error(self) -> Result<Details, u8> { self.details.ok_or(1) }
    fn copied(&self) -> Details { self.details.clone().unwrap_or_default() }
    fn iter(&self) -> impl Iterator<Item = &Details> { self.details.iter() }
    fn listed(&self) -> Vec<&Details> { self.details.iter().collect() }
    fn given(self) -> Vec<Details> { self.details.into_iter().collect() }
}
fn read(text: &str) -> Entry {
    Entry { id: 2, details: (!text.is_empty()).then(|| Details { name: text.into(), ..Default::default() }) }
}
fn all(entries: &[Entry]) -> Vec<Option<Details>> { entries.iter().map(|entry| entry.details.clone()).collect() }
fn flat(entries: Vec<Entry>) -> Vec<Details> { entries.into_iter().flat_map(|entry| entry.details).collect() }
mod other { pub fn details(entry: &crate::Entry) -> &Option<crate::Details> { &entry.details } }
fn main() {
    let entry = read("a");
    println!("{} {} {}", entry.iter().count(), entry.listed().len(), entry.copied().name);
    println!("{:?} {} {}", other::details(&entry), all(&[entry.clone()]).len(), flat(vec![entry.clone()]).len());
    println!("{:?} {}", entry.clone().or_error(), entry.given().len());
}
#[test]
fn works() { assert_eq!((read("a").listed().len(), read("").given().len(), all(&[read("x")])[0].is_some()), (1, 0, true)); }
"#;

/// Iterators give the value in the box, results too, and a clone makes no box.
#[test]
fn iterators_results_and_clones_give_the_value() {
    let text = format!("{ENTRY}{METHODS}");
    let (code, said, changed) = apply(&text, "box", "Entry.details", "Option<Details>", "Option<Box<Details>>");
    assert_eq!(code, Some(0), "{said}");
    let parts = [
        "self.details.ok_or(1).map(|value| *value)",
        "self.details.as_deref().cloned().unwrap_or_default()",
        "{ self.details.as_deref().into_iter() }",
        "self.details.as_deref().into_iter().collect()",
        "self.details.into_iter().map(|value| *value).collect()",
        ".then(|| Box::new(Details { name: text.into(), ..Default::default() }))",
        ".map(|entry| entry.details.as_deref().cloned())",
        "-> &Option<Box<crate::Details>>",
    ];
    has(&changed, &parts);
}

const OWNED: &str = r#"
fn one(part: Part) -> Result<String, Part> {
    match part {
        Part::Is(value @ Value::Wide(_)) => Ok(format!("{value:?}")),
        other => Err(other),
    }
}
fn two(a: Part, b: Part) -> Result<i64, (Part, Part)> {
    match (a, b) {
        (Part::Is(Value::Number(a)), Part::Is(Value::Number(b))) => Ok(a + b),
        other => Err(other),
    }
}
fn is_scalar(part: &Part) -> bool { matches!(part, Part::Is(Value::Nothing | Value::Number(_)) | Part::Not) }
fn is_other(part: &Part, all: bool) -> bool { all && matches!(part, Part::Many(_) | Part::Is(Value::Text(_))) }
fn main() {
    let number = Part::Is(Value::Number(1));
    println!("{:?} {:?}", one(number.clone()), two(number.clone(), Part::Not));
    println!("{} {}", is_scalar(&number), is_other(&number, true));
}
#[test]
fn works() {
    let number = |n| Part::Is(Value::Number(n));
    assert_eq!((two(number(1), number(2)), one(number(3))), (Ok(3), Err(number(3))));
    assert!(one(Part::Is(Value::Wide([0; 16]))).is_ok() && is_scalar(&number(1)) && is_scalar(&Part::Not));
    assert!(!is_scalar(&Part::Is(Value::Text("a".into()))) && is_other(&Part::Is(Value::Text("a".into())), true));
    assert!(is_other(&Part::Many(vec![]), true) && !is_other(&Part::Many(vec![]), false));
}
"#;

/// A moved value whose other arm takes it whole, two boxes in one pattern, and alternatives in `matches!`.
#[test]
fn owned_matches_and_alternatives_keep_their_meaning() {
    let (code, said, changed) = apply(&format!("{PART}{OWNED}"), "variant", "Part::Is", "Value", "Box<Value>");
    assert_eq!(code, Some(0), "{said}");
    let parts = [
        "Part::Is(value) if matches!(*value, Value::Wide(_)) => Ok(format!(\"{value:?}\"))",
        "if matches!(*value, Value::Number(_)) && matches!(*boxed_value, Value::Number(_)) =>",
        "matches!(part, Part::Is(value) if matches!(**value, Value::Nothing | Value::Number(_))) || matches!(part, Part::Not)",
        "all && (matches!(part, Part::Many(_)) || matches!(part, Part::Is(value) if matches!(**value, Value::Text(_))))",
    ];
    has(&changed, &parts);
}

const MACROS: &str = r#"
macro_rules! number { ($n:expr) => { Value::Number($n) }; }
macro_rules! taken { ($part:expr) => { if let Part::Is(value) = $part { Some(value) } else { None } }; }
fn value(part: Part) -> Option<Value> { taken!(part) }
fn main() {
    println!("{:?} {:?}", Part::Is(number!(1)), number!(2) == number!(3));
    println!("{:?}", value(Part::Not));
}
#[test]
fn works() { assert_eq!(value(Part::Is(number!(1))), Some(number!(1))); }
"#;

/// What a macro gives is boxed where it is called, and other calls stay.
#[test]
fn results_of_macros_are_boxed_where_they_are_called() {
    let (code, said, changed) = apply(&format!("{PART}{MACROS}"), "variant", "Part::Is", "Value", "Box<Value>");
    assert_eq!(code, Some(0), "{said}");
    let parts = ["{ Value::Number($n) }", "Part::Is(Box::new(number!(1)))", "number!(2) == number!(3)"];
    has(&changed, &parts);
    has(&changed, &["taken!(part).map(|value| *value)"]);
}

const COPIES: &str = r#"#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span { at: [u64; 16] }
pub struct Note { span: Option<Span> }
fn each(note: &mut Note, hints: &mut [Option<Span>], change: &impl Fn(&mut Option<Span>)) {
    change(&mut note.span);
    for hint in hints {
        change(hint);
    }
}
fn main() {
    let mut note = Note { span: None };
    each(&mut note, &mut [None], &|span| *span = Some(Span { at: [1; 16] }));
    println!("{:?}", note.span);
}
"#;

/// A repair that compiles would change a copy of what another call changes in place: the change is not made.
#[test]
fn a_copy_is_not_changed_instead_of_the_value() {
    let (code, said, changed) = apply(COPIES, "box", "Note.span", "Option<Span>", "Option<Box<Span>>");
    assert!(code == Some(1) && changed == COPIES, "{said}\n{changed}");
}

const HASHED: &str = r#"use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
pub struct Table { pub names: HashMap<String, u32, BuildHasherDefault<DefaultHasher>> }
fn main() {
    let mut table = Table { names: HashMap::default() };
    table.names.insert("a".to_owned(), 1);
    println!("{:?}", table.names.keys().collect::<Vec<_>>());
}
"#;

/// The order of a hasher that is the same in each run is one that users see.
#[test]
fn the_order_of_a_fixed_hasher_is_named() {
    let package = package(HASHED);
    let folder = package.path();
    let from = "HashMap<String, u32, BuildHasherDefault<DefaultHasher>>";
    let edit =
        json!({"file": "src/main.rs", "line": 3, "item": "Table.names", "from": from, "to": "SortedMap<String, u32>"});
    let finding = json!({"kind": "sorted", "where": "Table.names", "saves": 1000, "how": "sorted", "edits": [edit]});
    let file = report(folder, &[finding], &[]);
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../dwell");
    let flags =
        ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure", "--no-test", "--dwell", library];
    let applied = run(folder, &flags);
    let said = out(&applied);
    assert!(applied.status.code() == Some(1) && said.contains("Table.names has the order of its hasher"), "{said}");
    assert_eq!(source(folder), HASHED);
}

const LIBRARY: &str = r#"#![doc = include_str!("../README.md")]
#[derive(Debug, Clone, Default)]
pub struct Details { pub a: [u64; 16] }
#[derive(Debug, Clone, Default)]
pub struct Entry { pub id: u32, pub details: Option<Details> }
/// Returns the number.
///
/// ```
/// # use entries::Details;
/// let entry = entries::Entry { id: 1, details: Some(Details::default()) };
/// assert_eq!(entries::id(&entry), 1);
/// ```
pub fn id(entry: &Entry) -> u32 { entry.id }
/** Has none.
```
fn made() -> entries::Entry { entries::Entry { details: Some(entries::Details::default()), id: 2 } }
assert!(!entries::has_none(&made()));
```
*/
#[doc = "```"]
#[doc = "entries::has_none(&entries::Entry { id: 1, details: Some(entries::Details { a: [0; 16] }) });"]
#[doc = "```"]
pub fn has_none(entry: &Entry) -> bool { entry.details.is_none() }
"#;

/// The code in comments, and in a document that a source includes, is repaired too.
#[test]
fn code_in_documents_is_repaired() {
    let package = package("fn main() {}\n");
    let folder = package.path();
    let write = |path: &str, text: &str| std::fs::write(folder.join(path), text).expect("a file");
    write("src/lib.rs", LIBRARY);
    write(
        "README.md",
        "# Entries\n```\nlet entry = entries::Entry::default();\nlet _: Option<entries::Details> = entry.details;\n```\n",
    );
    let edit = json!({"file": "src/lib.rs", "line": 5, "item": "Entry.details", "from": "Option<Details>", "to": "Option<Box<Details>>"});
    let finding = json!({"kind": "box", "where": "Entry.details", "saves": 1000, "how": "a box", "edits": [edit]});
    let file = report(folder, &[finding], &[]);
    let flags = ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure", "--breaking"];
    let said = out(&run(folder, &flags));
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect("a file");
    has(
        &read("src/lib.rs"),
        &["/// let entry = entries::Entry { id: 1, details: Some(Box::new(Details::default())) };"],
    );
    assert!(read("README.md").contains("= entry.details.map(|value| *value);"), "{said}");
    has(
        &read("src/lib.rs"),
        &[
            "{ details: Some(Box::new(entries::Details::default())), id: 2 }",
            "details: Some(Box::new(entries::Details { a: [0; 16] })) });\"]",
        ],
    );
    assert!(said.contains("tests: 4 passed"), "{said}");
}

const ITEMS: &str = r#"
macro_rules! conversion {
    ($variant:ident, $of:ty) => {
        impl TryFrom<Part> for $of {
            type Error = ();
            fn try_from(part: Part) -> Result<Self, ()> { if let Part::$variant(inner) = part { Ok(inner) } else { Err(()) } }
        }
    };
}
conversion!(Is, Value);
conversion!(Many, Vec<Part>);
fn main() { println!("{:?} {:?}", Value::try_from(Part::Not), Vec::try_from(Part::Many(vec![]))); }
"#;

/// No value can be taken out of its box where a macro makes items: it is left, as it was written.
#[test]
fn macros_that_make_items_are_left() {
    let (code, said, changed) = apply(&format!("{PART}{ITEMS}"), "variant", "Part::Is", "Value", "Box<Value>");
    assert!(code == Some(1) && said.contains("expected `Value`, found `Box<Value>`"), "{said}");
    has(&changed, &["Is(Value)"]);
}

const BOTH: &str = r#"
use Part::*;
fn pairs(parts: &[Part]) -> i64 {
    match parts {
        [Part::Is(Value::Number(a)), Part::Is(Value::Number(b))] => a + b,
        [.., Part::Is(Value::Text(text))] if !text.is_empty() => -1,
        [] | [_, ..] => 0,
    }
}
type Alias = Part;
fn small(part: &Part) -> Option<i64> {
    match part {
        Alias::Is(Value::Number(n)) if *n < 9 => Some(*n),
        Alias::Is(Value::Nothing) => Some(0),
        Part::Is(_) | Part::Many(_) => None,
        Part::Not => Some(-1),
    }
}
fn kind(part: &Part) -> u8 { if let Is(Value::Number(_)) = part { 1 } else if let Is(Value::Text(_)) | Not = part { 2 } else { 3 } }
fn main() { println!("{} {:?} {}", pairs(&[]), small(&Not), kind(&Many(vec![]))); }
#[test]
fn works() {
    let (number, text) = (|n| Is(Value::Number(n)), || Is(Value::Text("a".into())));
    assert_eq!((pairs(&[number(1), number(2)]), pairs(&[number(1), text()]), pairs(&[text(), number(1)])), (3, -1, 0));
    assert_eq!([small(&number(3)), small(&number(9)), small(&text()), small(&Not)], [Some(3), None, None, Some(-1)]);
    assert_eq!([kind(&number(1)), kind(&text()), kind(&Not), kind(&Is(Value::Nothing))], [1, 2, 2, 3]);
}
"#;

/// Two boxes in one pattern, a guard that uses a name, an arm for all other values of the variant, and conditions without names.
#[test]
fn boxes_in_one_pattern_and_conditions_without_names() {
    let (code, said, changed) = apply(&format!("{PART}{BOTH}"), "variant", "Part::Is", "Value", "Box<Value>");
    assert_eq!(code, Some(0), "{said}");
    let parts = [
        "if let Value::Number(a) = &**value && let Value::Number(b) = &**boxed_value => a + b,",
        "[.., Part::Is(value)] if let Value::Text(text) = &**value && !text.is_empty() => -1,",
        "Value::Number(n) if *n < 9 => Some(*n),\n            Value::Nothing => Some(0),\n            _ => None,\n        },\n        Part::Many(_) => None,",
        "if matches!(part, Is(value) if matches!(**value, Value::Number(_))) { 1 }",
        "else if matches!(part, Is(boxed_value) if matches!(**boxed_value, Value::Text(_))) || matches!(part, Not) { 2 }",
    ];
    if rustc_has_let_guards() {
        has(&changed, &parts);
    }
}

/// Returns `true` if rustc has `if let` in the guard of an arm.
fn rustc_has_let_guards() -> bool {
    let version = std::process::Command::new("rustc").arg("--version").output().expect("rustc");
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    let minor = text.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    minor.is_some_and(|minor| minor >= 95)
}

const TOKENS: &str = r#"
#[derive(Debug, Clone, PartialEq)]
pub enum Token { Lit { value: Value, at: u32 }, Punct(char) }
fn number(token: Token) -> Option<(u32, i64)> {
    match token {
        Token::Lit { value: Value::Number(n), at } => Some((at, n)),
        Token::Lit { .. } | Token::Punct(_) => None,
    }
}
fn order(token: &Token) -> u8 {
    match token {
        Token::Lit { value: Value::Nothing, .. } => 1,
        Token::Lit { at: 0, .. } => 2,
        Token::Lit { value: Value::Text(_), .. } => 3,
        _ => 4,
    }
}
fn main() { println!("{:?} {}", number(Token::Punct('a')), order(&Token::Punct('a'))); }
#[test]
fn works() {
    let lit = |value, at| Token::Lit { value, at };
    assert_eq!((number(lit(Value::Number(1), 2)), number(lit(Value::Nothing, 2))), (Some((2, 1)), None));
    let text = || Value::Text("a".into());
    assert_eq!([order(&lit(Value::Nothing, 0)), order(&lit(text(), 0)), order(&lit(text(), 1))], [1, 2, 3]);
}
"#;

/// The fields of a variant have names: an arm between two others keeps its place.
#[test]
fn variants_with_names_keep_the_order_of_their_arms() {
    let (code, said, changed) = apply(&format!("{PART}{TOKENS}"), "variant", "Token::Lit.value", "Value", "Box<Value>");
    assert_eq!(code, Some(0), "{said}");
    has(
        &changed,
        &["Value::Number(n) => Some((at, n)),\n            _ => None,\n        },\n        Token::Punct(_) => None,"],
    );
    has(&changed, &["Token::Lit { at: 0, .. } => 2,"]);
}

const BODIES: &str = r#"
macro_rules! detail { ($name:literal) => { Details { name: $name.to_owned(), ..Default::default() } }; }
macro_rules! entries { ($($id:expr => $name:literal),*) => { vec![$(Entry { id: $id, details: Some(detail!($name)) }),*] }; }
fn main() { println!("{:?} {:?}", entries![1 => "a", 2 => "b"], detail!("c")); }
#[test]
fn works() {
    let entry = Entry { id: 1, details: Some(Details::default()) };
    assert_eq!(entry.details, Some(Details::default()));
    assert_eq!(entries![1 => "a"][0].details, Some(detail!("a")));
}
"#;

/// A macro in the body of another one, and an option that is compared.
#[test]
fn macros_in_macros_are_boxed() {
    let (code, said, changed) =
        apply(&format!("{ENTRY}{BODIES}"), "box", "Entry.details", "Option<Details>", "Option<Box<Details>>");
    assert_eq!(code, Some(0), "{said}");
    has(
        &changed,
        &["details: Some(Box::new(detail!($name)))", "(entry.details.as_deref(), Some(&Details::default()))"],
    );
}

const ERRORS: &str = r#"#[derive(Debug)]
pub struct Api { pub body: [u64; 16] }
#[derive(Debug, derive::From)]
pub enum Error { Api(Api), Empty }
fn call(n: u32) -> Result<u32, Api> { if n > 9 { Err(Api { body: [0; 16] }) } else { Ok(n) } }
fn one(n: u32) -> Result<u32, Error> { call(n).map_err(Into::into) }
fn two(n: u32) -> Result<u32, Error> { call(call(n)?).map_err(Error::from) }
fn main() { println!("{:?} {:?} {:?}", one(1), two(2), Error::Empty); }
#[test]
fn works() { assert!(one(1).is_ok() && one(10).is_err() && two(10).is_err()); }
"#;

const DERIVE: &str = r#"extern crate proc_macro;
use proc_macro::{TokenStream, TokenTree};
/// Derives `From` for variants of one field.
#[proc_macro_derive(From)]
pub fn from(input: TokenStream) -> TokenStream {
    let all: Vec<TokenTree> = input.into_iter().collect();
    let [.., name, TokenTree::Group(body)] = &all[..] else { return TokenStream::new() };
    let parts: Vec<TokenTree> = body.stream().into_iter().collect();
    let of = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(variant), TokenTree::Group(of)] => {
            Some(format!("impl From<{0}> for {name} {{ fn from(of: {0}) -> Self {{ Self::{variant}(of) }} }}", of.stream()))
        }
        _ => None,
    };
    parts.windows(2).filter_map(of).collect::<String>().parse().unwrap()
}
"#;

/// A derived `From` is one of the box: what is converted by `Into::into` is boxed before.
#[test]
fn errors_of_a_derived_conversion_are_boxed() {
    let package = package(ERRORS);
    let folder = package.path();
    let write = |path: &str, text: &str| std::fs::write(folder.join(path), text).expect("a file");
    std::fs::create_dir_all(folder.join("derive/src")).expect("a folder");
    write("derive/src/lib.rs", DERIVE);
    write(
        "derive/Cargo.toml",
        "[package]\nname = \"derive\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
    );
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a file");
    write("Cargo.toml", &format!("{manifest}\n[dependencies]\nderive = {{ path = \"derive\" }}\n"));
    let edit = json!({"file": "src/main.rs", "line": 4, "item": "Error::Api", "from": "Api", "to": "Box<Api>"});
    let finding = json!({"kind": "variant", "where": "Error::Api", "saves": 1000, "how": "a box", "edits": [edit]});
    let file = report(folder, &[finding], &[]);
    let said = out(&run(folder, &["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"]));
    let changed = source(folder);
    assert!(said.contains("tests: 1 passed"), "{said}");
    has(&changed, &["call(n).map_err(|error| Box::new(error).into())", "call(call(n).map_err(Box::new)?)"]);
}

const LINES: &str = r#"#[derive(Debug, Default, Clone, PartialEq)]
pub struct Doc { lines: Vec<String>, open: bool }
fn read(text: &str) -> Option<Doc> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let open = !text.ends_with('.');
    Some(Doc { lines, open })
}
fn main() { println!("{:?}", read("a\nb").map(|doc| (doc.lines.len(), doc.open))); }
"#;

/// What a local variable contains is shrunk before the statement that moves it.
#[test]
fn local_variables_are_shrunk_before_they_move() {
    let (code, said, changed) = apply(LINES, "shrink", "Doc.lines", "", "");
    assert_eq!(code, Some(0), "{said}");
    has(&changed, &["let mut lines: Vec<String> =", "    lines.shrink_to_fit();\n    Some(Doc { lines, open })\n"]);
}

const ZEROED: &str = r#"pub struct Frame { pub kind: u32, pub payload: Payload }
pub struct Payload { pub bytes: [u8; 64] }
trait Blank: Sized { fn blank() -> Self { unsafe { std::mem::MaybeUninit::<Self>::zeroed().assume_init() } } }
impl Blank for Frame {}
fn main() { println!("{}", Frame::blank().kind); }
"#;

/// A method that a trait provides for all types makes a value of zeros: a box would be a null pointer.
#[test]
fn values_of_zeros_are_named() {
    let (code, said, changed) = apply(ZEROED, "box", "Frame.payload", "Payload", "Box<Payload>");
    assert!(code == Some(1) && said.contains("src/main.rs:4: a method of Blank"), "{said}");
    assert_eq!(changed, ZEROED);
}

const TEXTS: &str = r#"pub struct Doc { pub name: String }
struct One;
impl std::fmt::Display for One { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("one") } }
macro_rules! documented { ($of:ident) => { impl $of { fn doc(&self) -> Doc { Doc { name: self.to_string() } } } }; }
documented!(One);
fn main() { println!("{}", One.doc().name); }
"#;

/// A text that the body of a macro makes.
#[test]
fn texts_of_macros_are_converted() {
    let (code, said, changed) = apply(TEXTS, "exact", "Doc.name", "String", "Box<str>");
    assert_eq!(code, Some(0), "{said}");
    has(&changed, &["pub name: Box<str>", "Doc { name: self.to_string().into() }"]);
}

//! Programs whose uses of the changed types need each of the rules.

use super::{out, package, report, run, source};
use serde_json::json;
use std::fs;

const PATTERNS: &str = r#"//! A program that matches.

#[derive(Clone, Copy, Debug, PartialEq)]
struct At {
    line: u32,
    column: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    text: [u8; 64],
    size: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Word(Token),
    Sign(Token),
    Text(Token),
    End,
}

struct Error {
    at: Option<At>,
    name: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
struct Name(String);

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Name {
    fn is_long(&self) -> bool {
        self.0.len() > 1
    }
}

impl std::str::FromStr for Name {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(Name(text.to_owned()))
    }
}

impl From<&Name> for String {
    fn from(of: &Name) -> String {
        of.0.clone()
    }
}

fn size(node: &Node) -> u32 {
    match node {
        Node::Word(token)
        | Node::Sign(token) // signs too
        | Node::Text(token) => token.size,
        Node::End => 0,
    }
}

fn large(node: &Node) -> Option<&Token> {
    match node {
        Node::Sign(token) | Node::Word(token) | Node::Text(token) if token.size > 9 => Some(token),
        _ => None,
    }
}

// Both alternatives match some pairs: the first one binds the name.
fn first(pair: (&Node, &Node)) -> u32 {
    match pair {
        (Node::Text(token), _) | (_, Node::Sign(token)) if token.size > 0 => token.size,
        _ => 0,
    }
}

trait Named {
    fn bytes(&self) -> u32;
}

impl Named for Token {
    fn bytes(&self) -> u32 {
        self.size
    }
}

fn named(node: &Node) -> Option<&dyn Named> {
    match node {
        Node::Sign(token) => Some(token),
        Node::Word(token) | Node::Text(token) => Some(token),
        Node::End => None,
    }
}

fn grow(node: &mut Node) {
    match node {
        Node::Text(Token { size, .. }) | Node::Sign(Token { size, .. }) => {
            *size += 1;
        }
        _ => {}
    }
}

impl Error {
    fn at(&self) -> Option<At> {
        self.at
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn name_mut(&mut self) -> &mut Option<Name> {
        &mut self.name
    }

    fn is_long(&self) -> bool {
        self.name.as_ref().is_some_and(Name::is_long)
    }

    fn is_named(&self, name: Name) -> bool {
        self.name.as_ref() == Some(&name)
    }

    fn owned(&self) -> String {
        let Some(name) = &self.name else { return String::new() };
        name.into()
    }

    fn line(&self) -> u32 {
        self.at
            .map_or(0, |at| at.line + same(at).line - at.line)
    }

    fn column(&self) -> u32 {
        if let Some(at) = self.at { at.column } else { 0 }
    }
}

fn sum(at: &Option<At>) -> u32 {
    if let Some(at) = at { at.line + at.column } else { 0 }
}

fn same(at: At) -> At {
    at
}

fn token(size: u32) -> Token {
    Token { text: [0; 64], size }
}

fn main() {
    let error = Error { at: Some(At { line: 1, column: 2 }), name: Some(Name("n".into())) };
    println!("{}", error.is_long());
    println!("{} {}", sum(&error.at), error.is_named(Name("n".into())));
    println!("{:?} {:?} {}", error.name(), error.owned(), size(&Node::End));
    println!("{:?} {} {}", error.at(), error.line(), error.column());
    println!("{}", named(&Node::End).map_or(0, |of| of.bytes()));
    println!("{}", first((&Node::End, &Node::Sign(token(2)))));
    println!("{} {:?}", size(&Node::Word(token(1))), large(&Node::Sign(token(10))).is_some());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_same() {
        assert_eq!((size(&Node::Word(token(1))), size(&Node::Sign(token(2))), size(&Node::Text(token(3)))), (1, 2, 3));
        assert_eq!((large(&Node::Text(token(10))), large(&Node::Word(token(9)))), (Some(&token(10)), None));
        assert_eq!(first((&Node::Text(token(1)), &Node::Sign(token(2)))), 1);
        assert_eq!(first((&Node::Text(token(0)), &Node::Sign(token(2)))), 2);
        let mut node = Node::Sign(token(1));
        grow(&mut node);
        assert_eq!((size(&node), size(&Node::End)), (2, 0));
        assert_eq!(named(&node).map_or(0, |of| of.bytes()), 2);
        let error = Error { at: Some(At { line: 1, column: 2 }), name: Some(Name("n".into())) };
        let mut none = Error { at: None, name: None };
        *none.name_mut() = Some("x".parse().unwrap());
        *none.name_mut() = Some(Name("m".into()));
        assert!(none.is_named(Name("m".into())) && error.is_named(Name("n".into())));
        let other = Some(At { line: 3, column: 4 });
        assert_eq!(sum(&error.at) + sum(&other) + sum(&error.at), 13);
        assert_eq!((error.name(), error.owned().as_str()), (Some("n"), "n"));
        assert_eq!((error.at(), error.line(), error.column()), (Some(At { line: 1, column: 2 }), 1, 2));
    }
}
"#;

#[test]
fn alternatives_and_copied_options_are_repaired() {
    let package = package(PATTERNS);
    let at = |item: &str, from: &str, to: &str| {
        let name = item.rsplit([':', '.']).next().expect("a name");
        let line = PATTERNS.lines().position(|line| line.trim_start().starts_with(name) && line.contains(from));
        json!({"kind": "box", "where": item, "saves": 1, "how": to, "edits": [
            {"file": "src/main.rs", "line": line.expect("a line") + 1, "item": item, "from": from, "to": to}]})
    };
    let findings = [
        at("Node::Sign", "Token", "Box<Token>"),
        at("Error.at", "Option<At>", "Option<Box<At>>"),
        at("Error.name", "Option<Name>", "Option<Box<Name>>"),
    ];
    let report = report(package.path(), &findings, &[]);
    let from = report.to_str().expect("a path");
    let output = run(package.path(), &["--from", from, "--allow-no-vcs", "--no-measure", "1", "2", "3"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(text.matches("tests: 1 passed").count(), 3, "{text}");
    let changed = source(package.path());
    for part in [
        "        Node::Word(token) => token.size,\n        // signs too\n        Node::Sign(token) => token.size,\n        Node::Text(token) => token.size,",
        "Node::Sign(token) if token.size > 9 => Some(token),\n        Node::Word(token) | Node::Text(token) if token.size > 9",
        "Node::Sign(token) => Some(&**token),",
        "self.at.as_deref().copied()\n    }",
        "fn sum(at: Option<&At>) -> u32",
        "fn name_mut(&mut self) -> &mut Option<Box<Name>>",
        "self.name.as_deref() == Some(&name)",
        "self.name.as_deref().is_some_and(Name::is_long)",
        "sum(error.at.as_deref()) + sum(other.as_ref())",
    ] {
        assert!(changed.contains(part), "{part}\n{text}\n{changed}");
    }
}

const TREE: &str = r"//! A tree that is filled step by step.

#[derive(Default)]
pub struct Tree {
    nodes: Vec<u64>,
    pub name: String,
    pub path: String,
}

impl Tree {
    pub fn add(&mut self, node: u64) {
        self.nodes.push(node);
    }

    pub fn nodes(&self) -> &[u64] {
        &self.nodes
    }
}
";

const TREES: &str = r#"mod tree;

use tree::Tree;

struct Parser {
    tree: Tree,
}

fn parse(number: u64) -> Result<Tree, String> {
    let mut parser = Parser { tree: Tree::default() };
    parser.tree.name = format!("tree {number}");
    for part in 0..number % 40 {
        parser.tree.add(part);
        parser.tree.path.push('x');
    }
    let parser = parser;
    Ok(parser.tree)
}

struct Known {
    names: std::collections::HashMap<String, u64>,
}

fn known(name: &String) -> Option<u64> {
    let mut known = Known { names: Default::default() };
    known.names.insert(name.clone().into(), 1);
    known.names.remove(name)
}

fn main() {
    println!("{:?}", known(&"a".to_owned()));
    let trees: Vec<Tree> = (0..2000).map(|number| parse(number).expect("a tree")).collect();
    let sum: u64 = trees.iter().map(|tree| tree.nodes().iter().sum::<u64>() + (tree.name.len() + tree.path.len()) as u64).sum();
    println!("{sum}");
}
"#;

/// A private list of another module is shrunk where the value is returned. Of two texts, one grows and stays.
#[test]
fn filled_values_are_shrunk_where_they_are_returned_and_a_finding_is_applied_in_part() {
    let package = package(TREES);
    let folder = package.path();
    fs::write(folder.join("src/tree.rs"), TREE).expect("a file");
    let line = |text: &str| TREE.lines().position(|line| line.contains(text)).map_or(1, |line| line + 1);
    let edit = |name: &str, to: &str| json!({"file": "src/tree.rs", "line": line(&format!("{name}: String")), "item": format!("Tree.{name}"), "from": "String", "to": to});
    let findings = [
        json!({"kind": "shrink", "where": "tree::Tree.nodes", "saves": 1_000, "saves_alone": 2_000, "how": "call shrink_to_fit",
            "edits": [{"file": "src/tree.rs", "line": 12, "item": "Tree.nodes", "from": "", "to": ""}]}),
        json!({"kind": "exact", "where": "name, path of Tree", "saves": 1_000, "how": "Box<str>",
            "edits": [edit("name", "Box<str>"), edit("path", "Box<str>")]}),
    ];
    let file = report(folder, &findings, &[]);
    let output = run(folder, &["--from", file.to_str().expect("UTF-8"), "--all", "--allow-no-vcs"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("2,000 B were predicted") || text.contains("2.0 kB were predicted"), "{text}");
    assert!(text.contains("1 of 2 edits; left to a person: Tree.path"), "{text}");
    let shrunk = "    let mut parser = parser;\n    parser.tree.shrink_to_fit();\n    Ok(parser.tree)";
    assert!(source(folder).contains(shrunk), "{}", source(folder));
    // The key of a map is looked up by a `&String`.
    let now = source(folder);
    let line = now.lines().position(|line| line.contains("names: std::")).map_or(1, |line| line + 1);
    let (from, to) = ("std::collections::HashMap<String, u64>", "std::collections::HashMap<Box<str>, u64>");
    let key = json!({"kind": "exact", "where": "Known.names key", "saves": 10, "how": "Box<str>",
        "edits": [{"file": "src/main.rs", "line": line, "item": "Known.names", "from": from, "to": to}]});
    let file = report(folder, &[key], &[]);
    let args = ["--from", file.to_str().expect("UTF-8"), "--allow-no-vcs", "--no-measure"];
    let output = run(folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    assert!(source(folder).contains("known.names.remove(name.as_str())"), "{}", source(folder));
    let tree = fs::read_to_string(folder.join("src/tree.rs")).expect("a file");
    assert!(tree.contains("self.nodes.shrink_to_fit();") && tree.contains("name: Box<str>"), "{tree}");
    assert!(tree.contains("path: String"), "{tree}");
}

const TEXTS: &str = r#"//! A program with one name for two texts, and a text that is a key.

use std::collections::HashMap;

enum Node {
    Text(String),
    Raw(bool, String),
}

struct Page {
    parent: Option<String>,
    nodes: Vec<Node>,
}

fn parents(pages: &HashMap<String, Page>) -> usize {
    let mut found = 0;
    for page in pages.values() {
        match page.parent {
            Some(ref name) => match pages.get(name) {
                Some(_) => found += 1,
                None => {}
            },
            None => {}
        }
    }
    found
}

fn write(page: &Page) -> String {
    let mut all = String::new();
    for node in &page.nodes {
        match *node {
            Node::Text(ref text) | Node::Raw(_, ref text) => all += &format!("{text};"),
        }
    }
    all
}

fn pages() -> HashMap<String, Page> {
    let nodes = || vec![Node::Text("a".to_owned()), Node::Raw(true, "b".to_owned())];
    let page = |parent: Option<&str>| Page { parent: parent.map(|name| name.to_owned()), nodes: nodes() };
    HashMap::from([("top".to_owned(), page(None)), ("below".to_owned(), page(Some("top")))])
}

fn main() {
    println!("{} {}", parents(&pages()), write(&pages()["top"]));
}

#[test]
fn works() {
    assert_eq!((parents(&pages()), write(&pages()["top"])), (1, "a;b;".to_owned()));
}
"#;

/// An alternative with another type of text gets an arm of its own, and a key of another type is looked up as text.
#[test]
fn texts_of_two_types_are_parted_and_looked_up() {
    let package = package(TEXTS);
    let line = |text: &str| TEXTS.lines().position(|line| line.contains(text)).map_or(1, |line| line + 1);
    let edit = |line: usize, item: &str, from: &str, to: &str| {
        json!({"kind": "exact", "where": item, "saves": 1, "how": to, "edits": [
            {"file": "src/main.rs", "line": line, "item": item, "from": from, "to": to}]})
    };
    let findings = [
        edit(line("Raw(bool"), "Node::Raw.1", "String", "Box<str>"),
        edit(line("parent: Option<String>"), "Page.parent", "Option<String>", "Option<Box<str>>"),
    ];
    let file = report(package.path(), &findings, &[]);
    let from = file.to_str().expect("UTF-8");
    let output = run(package.path(), &["--from", from, "--allow-no-vcs", "--no-measure", "1", "2"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(text.matches("tests: 1 passed").count(), 2, "{text}");
    let changed = source(package.path());
    assert!(changed.contains("pages.get(&**name)"), "{changed}");
    assert!(changed.contains("Node::Text(ref text) => all"), "{changed}");
}

const NESTED: &str = r#"//! A program with patterns inside of the box.

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Text(String),
    None,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Is(Value),
    Not(Value),
    End,
}

fn kind(part: &Part) -> u64 {
    match part {
        Part::Is(Value::Number(number)) => *number,
        Part::Is(Value::Text(text)) => {
            text.len() as u64
        }
        Part::Is(Value::None) => 7,
        Part::Not(_) | Part::End => 0,
    }
}

fn take(part: Part) -> Option<String> {
    match part {
        Part::Is(Value::Text(text)) => Some(text),
        Part::Is(other) => Some(format!("{other:?}")),
        _ => None,
    }
}

fn number(part: Part) -> u64 {
    let Part::Is(Value::Number(number)) = part else { return 1 };
    number
}

fn add(part: &mut Part) {
    if let Part::Is(Value::Number(number)) = part {
        *number += 1;
    }
}

fn is_none(part: Part) -> bool {
    matches!(part, Part::Is(Value::None))
}

fn is_long(part: &Part) -> bool {
    match part {
        Part::Is(Value::Text(text)) if text.len() > 1 => text.len() > 1,
        _ => false,
    }
}

fn main() {
    println!("{}", is_long(&Part::End));
    println!("{} {:?}", kind(&Part::Is(Value::Text("a".into()))), take(Part::Not(Value::None)));
    println!("{} {}", number(Part::End), is_none(Part::End));
    add(&mut Part::End);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_same() {
        let is = Part::Is;
        let all = [is(Value::Number(3)), is(Value::Text("ab".into())), is(Value::None), Part::Not(Value::None), Part::End];
        assert_eq!(all.each_ref().map(kind), [3, 2, 7, 0, 0]);
        assert_eq!(all.each_ref().map(is_long), [false, true, false, false, false]);
        assert_eq!(all.clone().map(number), [3, 1, 1, 1, 1]);
        assert_eq!(all.clone().map(is_none), [false, false, true, false, false]);
        let taken = all.clone().map(|part| take(part).unwrap_or_default());
        assert_eq!(taken, ["Number(3)", "ab", "None", "", ""]);
        let mut part = all[0].clone();
        add(&mut part);
        assert_eq!(part, is(Value::Number(4)));
    }
}
"#;

/// The arms of the boxed variant become one, so that the arms after it are tried as before.
#[test]
fn patterns_inside_of_the_box_are_matched_inside() {
    let package = package(NESTED);
    let line = NESTED.lines().position(|line| line.contains("Is(Value),")).expect("a line") + 1;
    let finding = json!({"kind": "variant", "where": "Part::Is", "saves": 1, "how": "box", "edits": [
        {"file": "src/main.rs", "line": line, "item": "Part::Is", "from": "Value", "to": "Box<Value>"}]});
    let report = report(package.path(), &[finding], &[]);
    let output = run(package.path(), &["--from", report.to_str().expect("a path"), "--allow-no-vcs", "--no-measure"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("tests: 1 passed"), "{text}");
    let changed = source(package.path());
    for part in [
        "Part::Is(value) => match &**value {\n            Value::Number(number) => *number,\n            Value::Text(text) => {",
        "            Value::None => 7,\n        },",
        "Part::Is(value) => match *value {\n            Value::Text(text) => Some(text),\n            other => Some(format!",
        "let Part::Is(value) = part else { return 1 }; let Value::Number(number) = *value else { return 1 };",
        "if let Value::Number(number) = &mut **value {",
        "matches!(part, Part::Is(ref value) if matches!(**value, Value::None))",
        "Value::Text(text) if text.len() > 1 => text.len() > 1,\n            _ => false,",
    ] {
        assert!(changed.contains(part), "{part}\n{text}\n{changed}");
    }
}

const CONDITIONS: &str = r#"#![deny(warnings)]

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(i64),
    Text(String),
    Nothing,
    Wide([u64; 16]),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Is(Value),
    Many(Vec<Part>),
    Not,
}

#[derive(Debug)]
pub enum Failure {
    Api(Value),
    Code(u8),
    Other,
}

macro_rules! impl_from {
    ($ty:ident, $variant:ident) => {
        impl From<$ty> for Failure {
            fn from(of: $ty) -> Self {
                Self::$variant(of)
            }
        }
    };
}

impl_from!(Value, Api);
impl_from!(u8, Code);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    pub numbers: [u64; 16],
}

#[derive(Default)]
pub struct Entry {
    pub details: Option<Details>,
}

impl Entry {
    pub fn details(&mut self) -> &mut Details {
        self.details.get_or_insert_with(Details::default)
    }
}

pub fn name(part: &Part) -> &'static str {
    match part {
        Part::Is(Value::Number(n)) if *n > 3 => "large",
        Part::Many(parts) if matches!(parts.as_slice(), [Part::Is(Value::Number(_)), ..]) => {
            "numbers"
        }
        Part::Is(Value::Number(0 | 1)) => "bit",
        // All others.
        Part::Is(Value::Number(_)) => "number",
        Part::Is(Value::Nothing | Value::Wide(_)) | Part::Not => "other",
        Part::Is(Value::Text(text)) if text.is_empty() => "empty",
        Part::Is(Value::Text(text)) => {
            if text.len() > 3 {
                "long"
            } else {
                "text"
            }
        }
        Part::Many(_) => "many",
    }
}

pub fn first(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match part {
        Part::Is(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    })
}

pub fn take(part: Part) -> Result<String, Part> {
    match part {
        Part::Is(Value::Text(text)) => Ok(text),
        other => Err(other),
    }
}

pub fn add(part: &mut Part) -> bool {
    if let Part::Is(Value::Number(n)) = part {
        *n += 1;
        true
    } else {
        false
    }
}

pub fn drain(mut parts: Vec<Part>) -> i64 {
    let mut sum = 0;
    while let Some(Part::Is(Value::Number(n))) = parts.pop() {
        sum += n;
    }
    sum
}

pub fn chain(part: &Part, calls: &mut u32) -> bool {
    if let Part::Is(Value::Number(n)) = part
        && next(calls)
    {
        return *n > 0;
    }
    false
}

fn next(calls: &mut u32) -> bool {
    *calls += 1;
    true
}

pub fn fails(part: &Part) -> Result<(), Failure> {
    check(part)?;
    Err(Failure::Other)
}

fn check(part: &Part) -> Result<(), Value> {
    match part {
        Part::Is(of) => Err(of.clone()),
        _ => Ok(()),
    }
}

#[test]
fn is_the_same() {
    let n = |n| Part::Is(Value::Number(n));
    let s = |text: &str| Part::Is(Value::Text(text.into()));
    let all = [
        n(9),
        n(1),
        n(2),
        Part::Is(Value::Nothing),
        s(""),
        s("a"),
        s("abcd"),
        Part::Many(vec![n(1)]),
        Part::Not,
    ];
    let names = [
        "large", "bit", "number", "other", "empty", "text", "long", "numbers", "other",
    ];
    assert_eq!(all.each_ref().map(name), names);
    assert_eq!(
        (first(&all), take(s("x")), take(n(1))),
        (Some(""), Ok("x".into()), Err(n(1)))
    );
    let (mut one, mut text, mut calls) = (n(1), s("b"), 0);
    assert!(add(&mut one) && !add(&mut text) && one == n(2));
    assert_eq!(
        (
            drain(vec![s("q"), n(2), n(3)]),
            drain(vec![n(2), Part::Not])
        ),
        (5, 0)
    );
    assert!(chain(&n(1), &mut calls) && !chain(&s(""), &mut calls) && calls == 1);
    assert!(
        matches!(fails(&n(1)), Err(Failure::Api(_)))
            && matches!(fails(&Part::Not), Err(Failure::Other))
    );
    assert!(matches!(Failure::from(1), Failure::Code(1)));
    assert_eq!(*Entry::default().details(), Details::default());
}
"#;

/// The form that a person would write, in edition 2024: no warning is new, and rustfmt has nothing to change.
#[test]
fn conditions_and_matches_keep_their_form() {
    let package = super::package("");
    let folder = package.path();
    let manifest =
        "[package]\nname = \"parts\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    fs::remove_file(folder.join("src/main.rs")).expect("a file");
    fs::write(folder.join("src/lib.rs"), CONDITIONS).expect("a file");
    let at = |item: &str, text: &str, from: &str, to: &str| {
        let line = CONDITIONS.lines().position(|line| line.contains(text)).expect("a line") + 1;
        json!({"kind": "box", "where": item, "saves": 1, "how": to, "edits": [
            {"file": "src/lib.rs", "line": line, "item": item, "from": from, "to": to}]})
    };
    let findings = [
        at("Part::Is", "Is(Value),", "Value", "Box<Value>"),
        at("Failure::Api", "Api(Value),", "Value", "Box<Value>"),
        at("Entry.details", "details: Option", "Option<Details>", "Option<Box<Details>>"),
    ];
    let file = report(folder, &findings, &[]);
    let from = file.to_str().expect("UTF-8");
    let output = run(folder, &["--from", from, "--allow-no-vcs", "--no-measure", "1", "2", "3"]);
    let text = out(&output);
    let changed = fs::read_to_string(folder.join("src/lib.rs")).expect("a file");
    assert_eq!(text.matches("tests: 1 passed").count(), 3, "{text}\n{changed}");
    for part in [
        "        Part::Is(value) => match &**value {\n            Value::Number(n) if *n > 3 => \"large\",\n            Value::Number(0 | 1) => \"bit\",\n            // All others.\n",
        "            Value::Nothing | Value::Wide(_) => \"other\",",
        "        Part::Not => \"other\",",
        "    if let Part::Is(value) = part\n        && let Value::Number(n) = &mut **value\n    {",
        "    while let Some(Part::Is(value)) = parts.pop()\n        && let Value::Number(n) = *value\n    {",
        "    if let Part::Is(value) = part\n        && let Value::Number(n) = &**value\n        && next(calls)\n    {",
        "get_or_insert_with(|| Box::new(Details::default()))",
        "Self::$variant(of.into())",
        "Part::Is(of) => Err(of.as_ref().clone()),",
    ] {
        assert!(changed.contains(part), "{part}\n{text}\n{changed}");
    }
}

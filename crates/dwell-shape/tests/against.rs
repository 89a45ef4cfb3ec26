//! `cargo dwell shape --against`: the user's own types held against the data.

mod support;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const MODEL: &str = r#"use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    pub order_id: u64,
    #[serde(alias = "who")]
    pub customer: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line_items: Vec<Item>,
    pub shipping: Option<Address>,
    pub payment: Payment,
    pub state: State,
    pub event: Event,
    #[serde(skip)]
    pub cache: [u64; 2],
    pub labels: HashMap<String, String>,
    #[serde(flatten)]
    pub audit: Audit,
    pub size: Size,
    pub point: (f64, f64),
    pub extra: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Audit {
    pub created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Item {
    pub sku: Box<str>,
    pub count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<Item>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Address {
    pub street: String,
    pub city: String,
    pub zip: Code,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Code(pub String);

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Payment {
    CreditCard { number: String, month: u8, year: u16 },
    Transfer(Box<Transfer>),
    Cash,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Transfer {
    pub iban: String,
    pub names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Closed,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(tag = "t", content = "c")]
pub enum Event {
    Note(String),
    Move { x: i64, y: i64 },
    Stop,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Size {
    Number(u64),
    Name(String),
}
"#;

fn order(n: usize) -> Value {
    let payment = match n % 3 {
        0 => json!({"type": "credit_card", "number": format!("4{n:09}"), "month": n % 12 + 1, "year": 2000 + n}),
        1 => json!({"type": "transfer", "iban": format!("DE{n}"), "names": ["a", format!("b{n}"), "c"]}),
        _ => json!({"type": "cash"}),
    };
    let event = match n % 4 {
        0 => json!({"t": "Note", "c": format!("text {n}")}),
        1 | 2 => json!({"t": "Move", "c": {"x": n, "y": 0}}),
        _ => json!({"t": "Stop"}),
    };
    let items: Vec<Value> = (0..n % 4)
        .map(|item| match item {
            0 => json!({"sku": format!("s{n}"), "count": n, "parts": [{"sku": "part", "count": 1}]}),
            _ => json!({"sku": format!("s{n}-{item}"), "count": n}),
        })
        .collect();
    let state = ["open", "closed"][n % 2];
    let size = if n.is_multiple_of(5) { json!("large") } else { json!(n) };
    let shipping = if n.is_multiple_of(10) { json!({"street": "s", "city": "c", "zip": "z"}) } else { Value::Null };
    let point = [n as f64 + 0.5, 1.25];
    let mut order = json!({
        "orderId": n, "customer": format!("customer {n}"), "payment": payment, "event": event,
        "state": state, "labels": {}, "created": format!("2026-{n}"),
        "size": size, "point": point, "extra": {"k": [n, "v"]}, "shipping": shipping,
    });
    for label in 0..n % 5 {
        order["labels"][format!("l{}{label}", n * 7)] = json!("x");
    }
    if !items.is_empty() {
        order["lineItems"] = items.into();
    }
    order
}

fn folder(model: &str, texts: &[Value]) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("model.rs"), model).unwrap();
    fs::create_dir(dir.path().join("data")).unwrap();
    for (index, text) in texts.iter().enumerate() {
        fs::write(dir.path().join(format!("data/{index:04}.json")), text.to_string()).unwrap();
    }
    dir
}

fn report(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    command.current_dir(folder).args(["shape", "data", "--against", "model.rs", "--format", "json"]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns orders that one value makes wrong each.
fn wrong_orders() -> Vec<Value> {
    let wrong = [
        ("/orderId", json!(-1)),
        ("/orderId", json!(1.0)),
        ("/customer", Value::Null),
        ("/payment", json!({"type": "cheque"})),
        ("/payment", json!({"type": "credit_card", "number": "4", "month": 256, "year": 2000})),
        ("/payment/type", json!(1)),
        ("/state", json!("OPEN")),
        ("/event", json!({"t": "Note"})),
        ("/event", json!({"t": "Move", "c": {"x": 1}})),
        ("/labels", json!({"a": 1})),
        ("/size", json!(-1)),
        ("/point", json!([1.5, 2.5, 3.5])),
        ("/shipping", json!({"street": "s", "city": "c", "zip": ["z", "y"]})),
    ];
    let order = |(path, value): &(&str, Value)| {
        let mut order = order(3);
        *order.pointer_mut(path).expect("an order has it") = value.clone();
        order
    };
    wrong.iter().map(order).collect()
}

#[test]
fn bytes_and_refusals_are_those_of_serde_and_an_allocator() {
    let texts: Vec<Value> = (0..240).map(order).collect();
    let wrong = wrong_orders();
    let dir = folder(MODEL, &[&texts[..], &wrong].concat());
    let found = report(dir.path(), &["--root", "Order"]);
    for empty in ["lost", "unchecked", "unseen"] {
        let expected = if empty == "unseen" { json!(["Audit.changed"]) } else { json!([]) };
        assert_eq!(found[empty], expected, "{empty}");
    }
    let refused: u64 = found["refused"].as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!((&found["failed"], refused), (&json!(wrong.len()), wrong.len() as u64), "{}", found["refused"]);
    let types = format!(
        "pub mod lean {{ {MODEL} pub use Order as Document; }} pub mod naive {{ pub use super::lean::Document; }}"
    );
    let main = include_str!("support/load.rs");
    let loads = "serde_json::from_slice(&json[..length]).unwrap_or_else(|error| panic!(\"{file}: {error}\"))";
    assert!(main.contains(loads));
    // The wrong ones come last; each must fail.
    let main = main.replace(
        &format!("documents.push({loads});"),
        "match serde_json::from_slice(&json[..length]) {
            Ok(document) => documents.push(document),
            Err(error) => assert!(file.contains(\"/02\"), \"{file}: {error}\"),
        }",
    );
    let main = main.replace("with_capacity(files.len())", "with_capacity(240)");
    let main = main.replace("let mut unequal = 0;", "println!(\"{}\", documents.len());\n    let mut unequal = 0;");
    let sources = [("main.rs", &*main), ("types.rs", &types)];
    let files: Vec<String> = (0..texts.len() + wrong.len())
        .map(|index| dir.path().join(format!("data/{index:04}.json")).to_str().unwrap().to_owned())
        .collect();
    let arguments: Vec<&str> = ["lean"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let printed = support::run("against", &sources, &arguments);
    let measured: Vec<u64> = printed.split_whitespace().map(|text| text.parse().unwrap()).collect();
    assert_eq!(found["exact"], true);
    assert_eq!(measured[0], texts.len() as u64);
    assert_eq!([&found["bytes"], &found["allocations"]], [&json!(measured[1]), &json!(measured[2])]);
}

#[test]
fn names_kinds_and_numbers_are_those_of_the_source() {
    let model = "use std::collections::HashMap;\nuse b::Links as Other;\n\
         pub mod a { #[derive(serde::Deserialize)] pub struct Links { pub git: Option<String> }\n\
         type DateTime = chrono::DateTime<chrono::Utc>; }\n\
         pub mod b { use super::Inner; #[derive(serde::Deserialize)] pub struct Links { pub html: Inner } }\n\
         #[derive(serde::Deserialize)] pub struct Inner(pub char);\n\
         #[derive(serde::Deserialize)] #[serde(untagged)] pub enum First { A { x: u8 }, B { x: u8, y: u8 } }\n\
         #[derive(serde::Deserialize)] pub struct R { pub links: b::Links, pub other: Other, pub at: chrono::DateTime<chrono::Utc>,\n\
         pub ids: HashMap<u16, [u8; 2]>, pub pair: (u8, String), pub one: std::num::NonZeroU8, pub first: First, pub twice: Part }\n\
         #[derive(serde::Deserialize)] pub struct Part { pub id: u8 }\ninclude!(\"more.rs\");\n\
         #[derive(serde::Deserialize)] pub struct Top { pub all: Vec<More> }\n";
    let text = |n: usize| {
        let ids =
            json!({(if n == 1 { "x1".to_owned() } else { n.to_string() }): if n == 2 { vec![1] } else { vec![1, 2] }});
        let pair = if n == 3 { json!([1, "a", 2]) } else { json!([1, "a"]) };
        let html = if n == 4 { "xy" } else { "x" };
        json!({"all": [{"r": {"links": {"html": html}, "other": {"html": "y"}, "at": "2026", "ids": ids, "pair": pair,
            "one": usize::from(n != 5), "first": {"x": 1, "y": 2}, "twice": {"id": n, "more": 1}, "unread": {"id": n, "more": 1}}}]})
    };
    let dir = folder(model, &(0..12).map(text).collect::<Vec<_>>());
    fs::write(dir.path().join("more.rs"), "#[derive(serde::Deserialize)] pub struct More { pub r: R }").unwrap();
    let found = report(dir.path(), &["--root", "Top"]);
    let list = |key: &str, text_of: fn(&Value) -> String| {
        found[key].as_array().unwrap().iter().map(text_of).collect::<Vec<_>>()
    };
    let mut refused = list("refused", |row| format!("{} {}", row["count"], row["what"].as_str().unwrap()));
    refused.sort();
    let expected = [
        "1 \"xy\" for `char`",
        "1 an array of 1 for one of 2",
        "1 an array of 3 for one of 2",
        "1 the key \"x1\" for `u16`",
        "1 zero for a `NonZero<u8>`",
    ];
    assert_eq!(refused, expected);
    assert_eq!((&found["type"], &found["failed"], &found["documents"]), (&json!("Top"), &json!(5), &json!(12)));
    let mut keys = list("lost", |row| {
        format!("{} {} {}", row["count"], row["type"].as_str().unwrap(), row["path"].as_str().unwrap())
    });
    keys.sort();
    assert_eq!(keys, ["12 First::A $.all[].r.first.y", "12 Part $.all[].r.twice.more", "12 R $.all[].r.unread"]);
    let unchecked = list("unchecked", |row| row["why"].as_str().unwrap().to_owned());
    assert_eq!(unchecked, ["the source does not declare `chrono::DateTime`"]);
    assert_eq!(found["unseen"], json!(["First::B"]));
}

#[test]
fn refused_lost_and_unseen_values_are_named_and_mended() {
    let model = "#[derive(serde::Deserialize)]\n\
                 pub struct User {\n    pub name: String,\n    pub age: u8,\n    pub mail: String,\n    #[serde(default)]\n    \
                 pub never: u32,\n    pub kind: Kind,\n}\n\n\
                 #[derive(serde::Deserialize)]\n#[serde(rename_all = \"kebab-case\")]\npub enum Kind {\n    NewUser,\n    OldUser,\n    Gone,\n}\n";
    let user = |n: usize| {
        let kind = ["new-user", "old-user", "admin"][n % 3];
        let mut user = json!({"name": format!("n{n}"), "age": n, "kind": kind, "more": n});
        if n.is_multiple_of(2) {
            user["mail"] = if n.is_multiple_of(4) { Value::Null } else { json!("m") };
        }
        user
    };
    let texts: Vec<Value> = (0..300).map(user).collect();
    let dir = folder(model, &texts);
    let found = report(dir.path(), &[]);
    let refused: Vec<(&str, &str, u64)> = found["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["item"].as_str().unwrap(), row["what"].as_str().unwrap(), row["count"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("User.mail", "the key is missing", 150),
        ("User.kind", "\"admin\" is no variant of `Kind`", 100),
        ("User.mail", "null", 75),
        ("User.age", "integers out of range for `u8`", 44),
    ];
    assert_eq!(refused, expected);
    assert_eq!(found["lost"], json!([{"type": "User", "path": "$.more", "count": 300}]));
    assert_eq!(found["unseen"], json!(["User.never", "Kind::Gone"]));
    assert_eq!((&found["type"], &found["exact"]), (&json!("User"), &json!(true)));
    // The edits apply to the source as it stands.
    let mut lines: Vec<String> = model.lines().map(ToOwned::to_owned).collect();
    let edits = found["refused"].as_array().unwrap().iter();
    let mut edited = 0;
    for edit in edits.flat_map(|row| row["edits"].as_array().cloned().unwrap_or_default()) {
        let line = &mut lines[usize::try_from(edit["line"].as_u64().unwrap()).unwrap() - 1];
        let (from, to) = (edit["from"].as_str().unwrap(), edit["to"].as_str().unwrap());
        if line.contains(from) && edit["item"] == "User.mail" {
            *line = line.replace(from, to);
            edited += 1;
        }
    }
    assert_eq!(edited, 1);
    fs::write(dir.path().join("model.rs"), lines.join("\n")).unwrap();
    let found = report(dir.path(), &[]);
    assert_eq!(found["refused"].as_array().unwrap().len(), 2, "{}", found["refused"]);
}

#[test]
fn values_that_may_be_of_another_type_are_not_refused() {
    let model = r#"use serde::Deserialize;

#[derive(Deserialize)]
pub struct Entry {
    pub outer: Outer,
    pub inner: Inner,
    pub note: Option<Note>,
}

#[derive(Deserialize)]
pub struct Outer {
    pub id: u32,
    pub kind: OuterKind,
}

#[derive(Deserialize)]
pub struct Inner {
    pub name: String,
    pub kind: InnerKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OuterKind {
    Plain(Plain),
    Tuple(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InnerKind {
    Plain(Plain),
    Tuple(Vec<u32>),
    Range(Range),
}

#[derive(Deserialize)]
pub struct Plain {
    pub fields: Vec<u32>,
    pub more: bool,
}

#[derive(Deserialize)]
pub struct Range {
    pub from: u32,
    pub to: u32,
}

#[derive(Deserialize)]
pub struct Note {
    pub title: String,
    pub text: String,
}
"#;
    let kind = |n: usize| match n {
        0 => json!({ "plain": { "fields": [1, 2], "more": false } }),
        1 => json!({ "tuple": [3, 4] }),
        _ => json!({ "range": { "from": 1, "to": 2 } }),
    };
    let text = |n: usize| {
        let note = if n.is_multiple_of(4) { json!({ "title": "t", "text": format!("x{n}") }) } else { Value::Null };
        let (outer, inner) = (kind(n % 2), kind(n % 3));
        json!({ "outer": { "id": n, "kind": outer }, "inner": { "name": "n", "kind": inner }, "note": note })
    };
    let texts: Vec<Value> = (0..120).map(text).collect();
    let dir = folder(model, &texts);
    let found = report(dir.path(), &["--root", "Entry"]);
    // The data has one union at both paths, and `range` is a variant of one type only.
    assert_eq!([&found["refused"], &found["lost"], &found["unseen"]], [&json!([]), &json!([]), &json!([])]);
    let findings = found["findings"].as_array().unwrap();
    let note = findings.iter().find(|row| row["edits"][0]["item"] == "Entry.note").expect("most notes are null");
    assert!(note["why"].as_str().unwrap().starts_with("30 of 120 have a value"), "{note}");
}

#[test]
fn wrong_files_and_types_are_one_clear_line() {
    let dir = folder("pub struct A;", &[json!({"a": 1})]);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
        let output = command.current_dir(dir.path()).args(["shape", "data"]).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    fs::write(dir.path().join("broken.rs"), "struct A {\n  a: \n}\n").unwrap();
    let two = "#[derive(Deserialize)] struct A { a: u8 } #[derive(Deserialize)] struct B { a: u8 }";
    fs::write(dir.path().join("two.rs"), two).unwrap();
    for (arguments, part) in [
        (&["--against", "none.rs"][..], "none.rs: cannot be read"),
        (&["--against", "broken.rs"], "broken.rs:3:1: "),
        (&["--against", "model.rs", "--root", "B"], "model.rs: has no type B"),
        (&["--against", "model.rs"], "model.rs: has no type that derives `Deserialize`"),
        (&["--against", "two.rs"], "two.rs: name the type of a document with --root: A, B"),
    ] {
        let (code, error) = run(arguments);
        assert!(
            code == Some(2) && error.contains(part) && error.lines().count() <= 2,
            "{arguments:?}: {code:?} {error}"
        );
    }
}

#[test]
fn findings_have_edits() {
    let model = "#[derive(serde::Deserialize)]\npub struct User {\n    pub name: String,\n    pub tags: Vec<String>,\n    \
                 pub home: Option<Home>,\n    pub kind: Kind,\n}\n\n\
                 #[derive(serde::Deserialize)]\npub struct Home {\n    pub at: [u64; 8],\n}\n\n\
                 #[derive(serde::Deserialize)]\npub enum Kind {\n    Plain(String),\n}\n";
    let user = |n: usize| {
        let home = if n.is_multiple_of(20) { json!({"at": [n, 2, 3, 4, 5, 6, 7, 8]}) } else { Value::Null };
        json!({"name": format!("n{n}"), "tags": vec!["a"; 5], "home": home, "kind": {"Plain": "x"}})
    };
    let dir = folder(model, &(0..300).map(user).collect::<Vec<_>>());
    let found = report(dir.path(), &["--root", "User"]);
    let edits: Vec<&Value> =
        found["findings"].as_array().unwrap().iter().flat_map(|row| row["edits"].as_array().unwrap()).collect();
    assert!(edits.iter().any(|edit| edit["from"] == "Option<Home>" && edit["to"] == "Option<Box<Home>>"), "{edits:?}");
}

/// serde's code for such types calls itself until the stack ends.
#[test]
fn types_that_contain_themselves_without_end_are_refused() {
    for types in [
        "#[derive(Deserialize)] struct D { a: u8, #[serde(flatten)] more: Box<D> }",
        "#[derive(Deserialize)] struct D { a: u8, #[serde(flatten)] more: Option<Box<D>> }",
        "#[derive(Deserialize)] struct D(Box<D>);",
        "#[derive(Deserialize)] #[serde(transparent)] struct D { of: Box<D> }",
        "#[derive(Deserialize)] #[serde(untagged)] enum D { One(Box<D>), Two(Box<D>) }",
    ] {
        let dir = folder(types, &[json!({"a": 1})]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
        command.current_dir(dir.path()).args(["shape", "data", "--against", "model.rs", "--root", "D"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{types}: {output:?}");
    }
    // Those that end are read: each level takes keys away, or is another value.
    let types = "#[derive(Deserialize)] struct D { a: u8, inner: Option<Box<D>>, #[serde(flatten)] more: E }
        #[derive(Deserialize)] struct E { b: u8, all: Vec<D> }";
    let leaf = json!({"a": 1, "b": 2, "all": []});
    let dir = folder(types, &[json!({"a": 1, "b": 2, "inner": leaf, "all": [leaf, leaf]})]);
    assert_eq!(report(dir.path(), &["--root", "D"])["refused"], json!([]));
}

//! Documents of several types: `--root FILES=NAME`.

mod support;

use dwell_shape::input::{self, Options, Roots};
use dwell_shape::overrides;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::{Kind, Schema};
use serde_json::json;
use std::path::Path;

/// Orders, users, and lists of users, which have an address in common, and documents of two JSON types.
fn write(folder: &Path) {
    let address = |n: u32| json!({"street": format!("s{n}"), "city": "x", "zip": n});
    let user = |n: u32| json!({"id": n, "mail": format!("{n}@x"), "address": address(n)});
    std::fs::create_dir(folder.join("orders")).expect("a folder");
    for n in 0..9 {
        let order = json!({"number": n, "to": address(n), "lines": [{"sku": format!("a{n}"), "count": n}]});
        std::fs::write(folder.join(format!("orders/{n}.json")), order.to_string()).expect("a file");
    }
    let users: Vec<String> = (0..9).map(|n| user(n).to_string()).collect();
    std::fs::write(folder.join("users.jsonl"), users.join("\n")).expect("a file");
    std::fs::write(folder.join("mixed.jsonl"), "[\"a\"]\n\"b\"\n").expect("a file");
    std::fs::write(folder.join("all.json"), json!([user(1), user(2)]).to_string()).expect("a file");
}

fn infer(folder: &Path) -> Schema {
    let values = ["orders=Order", "users.jsonl=User", "all.json=Users", "mixed.jsonl=Mixed"];
    let values: Vec<String> = values.iter().map(|value| format!("{}/{value}", folder.display())).collect();
    let (name, roots) = Roots::parse(&values).expect("patterns");
    assert_eq!(name, None);
    let mut found = input::find(&[folder.to_owned()]);
    roots.apply(&mut found).expect("each file has a type");
    let all: Vec<_> = roots.overrides();
    let options = Options { overrides: all.clone(), ..Options::default() };
    let mut accumulator = input::read(&found, &options, &|_| {}).accumulator;
    accumulator.set_overrides(&all);
    let mut schema = accumulator.finish();
    assert_eq!(overrides::apply(&all, &mut schema), [""; 0]);
    schema
}

#[test]
fn each_type_is_written_and_what_they_share_once() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let schema = infer(folder.path());
    assert_eq!(schema.documents, 21);
    let Kind::Union { id } = schema.root.kind else { panic!("{:?}", schema.root.kind) };
    let mut variants: Vec<&str> = schema.unions[id].variants.iter().map(|(name, _)| name.as_str()).collect();
    variants.sort_unstable();
    assert_eq!(variants, ["Mixed", "Order", "User", "Users"]);
    let source = Plan::new(&schema).rust(Set::Lean);
    assert!(!source.contains("type Mixed"), "{source}");
    for part in [
        "pub enum Mixed {",
        "pub struct Order {",
        "pub struct User {",
        "pub type Users = ",
        "pub address: Address,",
        "pub to: Address,",
    ] {
        assert!(source.contains(part), "{part}: {source}");
    }
    assert_eq!(source.matches("zip").count(), 1, "{source}");
    // A document loads as its own type, and is written back equal.
    let main = "mod types;\nuse types::lean::*;\nfn same<T: serde::de::DeserializeOwned + serde::Serialize>(text: &str) -> bool {\n\
        let one: T = serde_json::from_str(text).unwrap();\n\
        serde_json::to_value(one).unwrap() == serde_json::from_str::<serde_json::Value>(text).unwrap()\n}\n\
        fn main() {\n    let text = |path: &str| std::fs::read_to_string(std::env::args().nth(1).unwrap() + path).unwrap();\n\
        let users = text(\"/users.jsonl\").lines().filter(|line| same::<User>(line)).count();\n\
        println!(\"{} {users} {} {}\", same::<Mixed>(\"[]\"), same::<Order>(&text(\"/orders/3.json\")), same::<Users>(&text(\"/all.json\")));\n}\n";
    let sources = [("main.rs", main), ("types.rs", &source)];
    let printed = support::run("roots", &sources, &[folder.path().to_str().expect("UTF-8")]);
    assert_eq!(printed.trim(), "true 9 true true");
}

#[test]
fn files_without_a_type_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let apply = |values: &[&str]| {
        let values: Vec<String> = values.iter().map(|value| format!("{}/{value}", folder.path().display())).collect();
        let mut found = input::find(&[folder.path().to_owned()]);
        Roots::parse(&values).expect("patterns").1.apply(&mut found).map_err(|error| error.to_string())
    };
    assert!(apply(&["orders=Order"]).unwrap_err().ends_with("all.json: no pattern of --root matches it"));
    assert!(apply(&["**/*=All", "none/*=None"]).unwrap_err().ends_with("none/*=None: no file matches"));
    assert_eq!(apply(&["**/*=All"]), Ok(()));
}

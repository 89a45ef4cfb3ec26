//! Options of `cargo dwell shape` that change the types: numbers, borrowed strings, and the JSON Schema of the types.

mod support;

use dwell_shape::overrides;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::Schema;
use serde_json::{Value, json};

fn infer(texts: &[Value]) -> Schema {
    let texts: Vec<String> = texts.iter().map(Value::to_string).collect();
    support::schema(&texts.iter().map(String::as_bytes))
}

/// Writes texts as files, and calls `f` with their paths.
fn with_files<T>(name: &str, texts: &[Value], f: impl FnOnce(&[&str]) -> T) -> T {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |(index, text): (usize, &Value)| {
        let path = folder.path().join(format!("{name}{index}.json"));
        std::fs::write(&path, text.to_string()).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let files: Vec<String> = texts.iter().enumerate().map(file).collect();
    f(&files.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn mixed_numbers_are_f64_unless_it_loses_digits() {
    let wide = (1i64 << 53) + 1;
    let text = |n: i64| match n % 2 {
        0 => json!({ "at": n, "wide": wide + n, "points": [n, 0.5] }),
        _ => json!({ "at": n as f64 + 0.25, "wide": 0.5, "points": [0.25, -n] }),
    };
    let texts: Vec<Value> = (0..40).map(text).collect();
    let mut schema = infer(&texts);
    let source = Plan::new(&schema).rust(Set::Both);
    for part in ["pub at: f64,", "pub wide: serde_json::Number,", "pub points: [f64; 2],", "pub points: Vec<f64>,"] {
        assert!(source.contains(part), "{part}: {source}");
    }
    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    let plan = Plan::new(&schema);
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let arguments = |files: &[&str]| [&[set], files].concat().iter().map(ToString::to_string).collect::<Vec<_>>();
        let printed = with_files("numbers", &texts, |files| {
            let arguments = arguments(files);
            support::run("numbers", &sources, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
        });
        let numbers: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(numbers[..2], [predicted.bytes.to_string(), predicted.allocations.to_string()], "{set}");
        assert_eq!(numbers[3], "0", "{set}: a number is written back as another one");
    }
    let exact = ["$..=exact".parse().expect("a decision")];
    assert!(overrides::apply(&exact, &mut schema).is_empty());
    let source = Plan::new(&schema).rust(Set::Lean);
    assert!(source.contains("pub at: serde_json::Number,") && !source.contains("f64"), "{source}");
}

/// Loads texts that outlive the documents, and prints live bytes, live blocks, and the number of documents that are
/// written back otherwise.
const BORROWED: &str = r#"
mod types;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);
static BLOCKS: AtomicI64 = AtomicI64::new(0);

// SAFETY: each method passes its arguments on to `System`, which upholds the contract of `GlobalAlloc`.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Relaxed);
        BLOCKS.fetch_add(1, Relaxed);
        // SAFETY: the contract of `alloc` is also that of `System.alloc`, and the layout is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Relaxed);
        BLOCKS.fetch_sub(1, Relaxed);
        // SAFETY: every block of this allocator came from `System`, with the same layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn load<'a, T: serde::Deserialize<'a> + serde::Serialize>(texts: &'a [Vec<u8>]) {
    let before = (BYTES.load(Relaxed), BLOCKS.load(Relaxed));
    let mut documents: Vec<T> = Vec::with_capacity(texts.len());
    for text in texts {
        documents.push(serde_json::from_slice(text).expect("the types were made for it"));
    }
    let (bytes, blocks) = (BYTES.load(Relaxed) - before.0, BLOCKS.load(Relaxed) - before.1);
    let same = |(text, document): (&Vec<u8>, &T)| {
        let was: serde_json::Value = serde_json::from_slice(text).expect("JSON");
        was == serde_json::to_value(document).expect("it came from JSON")
    };
    let unequal = texts.iter().zip(&documents).filter(|of| !same(*of)).count();
    println!("{bytes} {blocks} {unequal}");
}

fn main() {
    let texts: Vec<Vec<u8>> = std::env::args().skip(1).map(|file| std::fs::read(file).expect("a file")).collect();
    load::<types::naive::Document<'_>>(&texts);
    load::<types::lean::Document<'_>>(&texts);
}
"#;

#[test]
fn borrowed_strings_own_nothing() {
    let text = |n: usize| {
        let mut text = json!({
            "name": format!("name {n}"),
            "number": n,
            "tags": [format!("tag {n}"), "another"],
            "labels": { format!("key {n}"): format!("value {n}") },
            "note": if n.is_multiple_of(3) { Value::Null } else { json!(format!("note {n}")) },
            "state": (["open", "closed"][n % 2]),
            "either": if n.is_multiple_of(2) { json!(n) } else { json!(format!("text {n}")) },
            "event": match n % 2 {
                0 => json!({ "kind": "moved", "from": format!("a{n}"), "to": format!("b{n}") }),
                _ => json!({ "kind": "renamed", "title": format!("title {n}"), "size": n }),
            },
            "plain": { "width": n, "height": 2 * n },
        });
        if n.is_multiple_of(5) {
            text["rare"] = json!({ "who": format!("who {n}"), "why": format!("why {n}"), "when": format!("when {n}") });
        }
        text
    };
    let texts: Vec<Value> = (0..60).map(text).collect();
    let mut schema = infer(&texts);
    schema.style.borrow = true;
    let plan = Plan::new(&schema);
    let source = plan.rust(Set::Both);
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");
    for part in [
        "pub name: Cow<'a, str>,",
        "pub tags: Vec<Str<'a>>,",
        "pub note: Option<Str<'a>>,",
        "pub struct Document<'a> {",
        "pub enum Event<'a> {",
        "pub struct Plain {",
    ] {
        assert!(source.contains(part), "{part}: {source}");
    }
    assert!(plan.doubts().iter().any(|doubt| doubt.starts_with("strings borrow")), "{:?}", plan.doubts());
    let sources = [("main.rs", BORROWED), ("types.rs", &source)];
    let printed = with_files("borrowed", &texts, |files| support::run("borrowed", &sources, files));
    let lines: Vec<&str> = printed.lines().collect();
    let line = |heap: dwell_shape::model::Heap| format!("{} {} 0", heap.bytes, heap.allocations);
    assert_eq!(lines, [line(plan.naive_heap()), line(plan.lean_heap())]);
}

/// Returns whether a value is valid by the part of JSON Schema that the tool writes.
fn is_valid(schema: &Value, value: &Value, root: &Value) -> bool {
    let Value::Object(rules) = schema else { return schema == true };
    rules.iter().all(|(rule, rule_value)| match (rule.as_str(), value) {
        ("$ref", _) => {
            let name = rule_value.as_str().and_then(|path| path.strip_prefix("#/$defs/")).expect("a path");
            is_valid(&root["$defs"][name], value, root)
        }
        ("anyOf", _) => rule_value.as_array().expect("a list").iter().any(|schema| is_valid(schema, value, root)),
        ("enum", _) => rule_value.as_array().expect("a list").contains(value),
        ("const", _) => rule_value == value,
        ("type", _) => match rule_value.as_str().expect("a name") {
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            other => panic!("{other}"),
        },
        ("minimum", Value::Number(number)) => number.as_f64() >= rule_value.as_f64(),
        ("maximum", Value::Number(number)) => number.as_f64() <= rule_value.as_f64(),
        ("required", Value::Object(object)) => {
            rule_value.as_array().expect("a list").iter().all(|key| object.contains_key(key.as_str().expect("a key")))
        }
        ("properties", Value::Object(object)) => {
            object.iter().all(|(key, value)| rule_value.get(key).is_none_or(|schema| is_valid(schema, value, root)))
        }
        ("additionalProperties", Value::Object(object)) => {
            let known = |key: &str| rules.get("properties").is_some_and(|known| known.get(key).is_some());
            object.iter().all(|(key, value)| known(key) || is_valid(rule_value, value, root))
        }
        ("maxProperties", Value::Object(object)) => rule_value.as_u64() >= Some(object.len() as u64),
        ("items", Value::Array(items)) => {
            let first = rules.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            items.iter().skip(first).all(|item| is_valid(rule_value, item, root))
        }
        ("prefixItems", Value::Array(items)) => {
            rule_value.as_array().expect("a list").iter().zip(items).all(|(schema, item)| is_valid(schema, item, root))
        }
        ("minItems", Value::Array(items)) => rule_value.as_u64() <= Some(items.len() as u64),
        (
            "$schema"
            | "$defs"
            | "minimum"
            | "maximum"
            | "required"
            | "properties"
            | "additionalProperties"
            | "maxProperties"
            | "items"
            | "prefixItems"
            | "minItems",
            _,
        ) => true,
        (other, _) => panic!("an unknown rule {other}"),
    })
}

#[test]
fn json_schema_accepts_the_data_and_refuses_other_data_if_strict() {
    let text = |n: usize| {
        json!({
            "id": n,
            "level": (["low", "high"][n % 2]),
            "ratio": if n.is_multiple_of(2) { json!(n) } else { json!(0.5) },
            "owner": if n.is_multiple_of(4) { Value::Null } else { json!({ "name": format!("n{n}") }) },
            "either": if n.is_multiple_of(2) { json!(n) } else { json!([n]) },
            "internal": match n % 2 {
                0 => json!({ "type": "circle", "radius": n, "filled": true }),
                _ => json!({ "type": "square", "side": n, "angle": 0.5 }),
            },
            "adjacent": match n % 2 {
                0 => json!({ "t": "user", "c": { "name": "a", "mail": "b" } }),
                _ => json!({ "t": "team", "c": { "size": n, "lead": "c" } }),
            },
            "external": match n % 3 {
                0 => json!("Stop"),
                1 => json!({ "Move": { "x": n, "y": 1 } }),
                _ => json!({ "Say": format!("t{n}") }),
            },
            "map": { format!("k{n}"): n, format!("l{n}"): n },
        })
    };
    let texts: Vec<Value> = (0..90).map(text).collect();
    for strict in [false, true] {
        let mut schema = infer(&texts);
        (schema.strict, schema.refuse) = (strict, strict);
        let root = Plan::new(&schema).json_schema();
        for text in &texts {
            assert!(is_valid(&root, text, &root), "{strict}: {text}");
        }
        let other = |key: &str, value: Value| {
            let mut text = texts[1].clone();
            text[key] = value;
            is_valid(&root, &text, &root)
        };
        // What the types read in every case, what they read unless they are strict, and what they never read.
        assert!(other("ratio", json!(2.25)) && other("map", json!({ "new": 3 })));
        assert_eq!(other("level", json!("new")), !strict);
        assert_eq!(other("internal", json!({ "type": "oval", "a": 1 })), !strict);
        assert_eq!(other("external", json!("Go")), !strict);
        assert_eq!(other("unknown", json!(1)), !strict);
        assert!(!other("id", json!("x")) && !other("map", json!(1)) && !other("owner", json!([])));
    }
}

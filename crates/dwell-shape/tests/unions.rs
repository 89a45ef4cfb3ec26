//! Unions as serde writes them: internally, adjacently and externally tagged. Each corpus is generated, its types are
//! compiled, and every document is loaded, measured and written back.

mod support;

use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::{Schema, Tagging, Union};
use serde_json::{Map, Value, json};

/// Infers types, compiles them, loads all documents, and checks the predicted memory and the documents written back.
/// Returns the Rust source of the lean types.
fn load(name: &str, texts: &[String], check: impl FnOnce(&Schema)) -> String {
    let schema = support::schema(&texts.iter().map(String::as_bytes));
    check(&schema);
    let plan = Plan::new(&schema);
    let source = plan.rust(Set::Both);
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");
    let folder = std::env::temp_dir().join(format!("dwell-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = |(index, text): (usize, &String)| {
        let path = folder.join(format!("{index}.json"));
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let files: Vec<String> = texts.iter().enumerate().map(file).collect();
    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let all: Vec<&str> = [set].into_iter().chain(files.iter().map(String::as_str)).collect();
        let printed = support::run(name, &sources, &all);
        let numbers: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(numbers[3], "0", "{name}: documents are written back otherwise");
        assert_eq!(numbers[..2], [predicted.bytes.to_string(), predicted.allocations.to_string()], "{name}: {set}");
    }
    std::fs::remove_dir_all(folder).expect("a folder of ours");
    plan.rust(Set::Lean)
}

fn texts(count: usize, value: impl Fn(usize) -> Value) -> Vec<String> {
    (0..count).map(|n| value(n).to_string()).collect()
}

fn only(schema: &Schema) -> &Union {
    assert_eq!(schema.unions.len(), 1, "{:?}", schema.unions);
    &schema.unions[0]
}

/// Returns an object with these keys, whose values are integers and strings in turn.
fn object(keys: &str, n: usize) -> Map<String, Value> {
    let value = |index: usize| if index.is_multiple_of(2) { json!(n * index) } else { json!(format!("v{n}")) };
    keys.split(' ').enumerate().map(|(index, key)| (key.to_owned(), value(index))).collect()
}

const ANIMALS: [(&str, &str); 4] = [
    ("cat", "lives fur purrs"),
    ("dog", "tricks leash bark walks"),
    ("fish", "tank fins depth"),
    ("bird", "wings song nest height"),
];

#[test]
fn tag_is_found_beside_a_common_tag_key_that_some_variants_have() {
    for other in ["type", "kind", "breed"] {
        let texts = texts(160, |n| {
            let (name, keys) = ANIMALS[n % 4];
            let mut animal = object(keys, n);
            animal.insert("species".into(), name.into());
            if n % 4 < 2 {
                animal.insert(other.into(), ["short", "long"][n % 2].into());
            }
            animal.into()
        });
        let schema = support::schema(&texts.iter().map(String::as_bytes));
        let union = only(&schema);
        assert_eq!((&*union.tag, union.variants.len(), &union.form), ("species", 4, &Tagging::Internal), "{other}");
    }
}

#[test]
fn number_of_keys_strings_and_objects_does_not_hide_a_tag() {
    // Keys beside the tag, strings before it in the alphabet, and objects for each value.
    for (keys, strings, each) in
        [(10, 3, 50), (63, 0, 40), (64, 0, 40), (200, 0, 40), (5, 14, 40), (5, 40, 40), (4, 1, 3)]
    {
        let texts = texts(each * 3, |n| {
            let kind = ["x", "y", "z"][n % 3];
            let mut object: Map<String, Value> =
                (0..keys).map(|key| (format!("{kind}_key_{key}"), (n * key).into())).collect();
            object.extend((0..strings).map(|key| (format!("a{key}_{kind}"), format!("s{}", n * 31 % 997).into())));
            object.insert("variety".into(), format!("kind-{kind}").into());
            object.into()
        });
        let schema = support::schema(&texts.iter().map(String::as_bytes));
        let union = only(&schema);
        assert_eq!((&*union.tag, union.variants.len()), ("variety", 3), "{keys} {strings} {each}");
    }
}

#[test]
fn payloads_of_adjacent_variants_are_types_of_their_own() {
    let texts = texts(200, |n| {
        let (name, keys) = ANIMALS[n * 7 % 4];
        json!({"seq": n, "event": name, "payload": object(keys, n)})
    });
    let lean = load("adjacent_keys", &texts, |schema| {
        let union = only(schema);
        assert_eq!((&*union.tag, union.variants.len()), ("event", 4));
        // The document, and a payload for each variant.
        assert_eq!(schema.records.len(), 8);
        assert!(schema.records.iter().all(|record| record.fields.iter().all(|f| f.slot.count == record.instances)));
    });
    assert!(lean.contains("pub struct CatPayload {"), "{lean}");
}

#[test]
fn two_keys_are_an_adjacently_tagged_enum() {
    let texts = texts(180, |n| match n % 6 {
        0 => json!({"t": "Move", "c": {"x": n, "y": n + 1}}),
        1 => json!({"t": "Write", "c": format!("text {n}")}),
        2 => json!({"t": "Color", "c": [n % 256, 2, 3]}),
        3 => json!({"t": "Draw", "c": {"shape": "line", "width": 1.5}}),
        4 => json!({"t": "Maybe", "c": if n % 4 == 0 { Value::Null } else { json!({"at": n}) }}),
        _ => json!({"t": "Stop"}),
    });
    let lean = load("adjacent", &texts, |schema| {
        let union = only(schema);
        assert_eq!((union.variants.len(), &union.form), (6, &Tagging::Adjacent("c".into())));
    });
    for part in
        ["#[serde(tag = \"t\", content = \"c\")]", "Move(Move),", "Stop,", "Maybe(Option<Maybe>),", "Draw(Draw),"]
    {
        assert!(lean.contains(part), "{part}: {lean}");
    }
}

#[test]
fn contents_that_are_plain_or_missing_are_adjacent_too() {
    let texts = texts(150, |n| match n % 5 {
        0 => json!({"t": "Count", "c": n}),
        1 => json!({"t": "Name", "c": format!("text {n}")}),
        2 => json!({"t": "List", "c": [n, n + 1]}),
        3 => json!({"t": "Place", "c": {"x": n, "y": 2 * n}}),
        _ => json!({"t": "Stop"}),
    });
    let lean = load("adjacent_plain", &texts, |schema| {
        let union = only(schema);
        assert_eq!((union.variants.len(), &union.form), (5, &Tagging::Adjacent("c".into())));
    });
    for part in ["#[serde(tag = \"t\", content = \"c\")]", "Count(", "Stop,", "Place(Place),"] {
        assert!(lean.contains(part), "{part}: {lean}");
    }
}

#[test]
fn payload_may_be_deeper_or_in_a_list() {
    let texts = texts(160, |n| {
        let (name, keys) = ANIMALS[n * 3 % 4];
        let objects: Vec<Value> = (0..n % 3).map(|more| object(keys, n + more).into()).collect();
        json!({"id": n, "about": name, "data": {"object": object(keys, n)}, "more": objects})
    });
    load("adjacent_deep", &texts, |schema| {
        assert_eq!(only(schema).tag, "about");
        let mut optional: Vec<&str> = Vec::new();
        for record in &schema.records {
            let rare = record.fields.iter().filter(|field| field.slot.count < record.instances);
            optional.extend(rare.map(|field| &*field.key));
        }
        assert_eq!(optional, [""; 0]);
    });
}

/// Returns an expression of this depth, as serde writes an `enum`.
fn expression(depth: usize, n: usize) -> Value {
    match (depth, n % 4) {
        (0, 0) => "Nil".into(),
        (0, 1) => json!({"Var": format!("v{}", n % 9)}),
        (0, _) => json!({"Lit": n}),
        (_, 0) => json!({"Add": [expression(depth - 1, n / 2), expression(depth - 1, n / 3)]}),
        (_, 1) => json!({"Neg": expression(depth - 1, n / 2)}),
        _ => json!({"Call": {"name": "f", "of": expression(depth - 1, n / 2)}}),
    }
}

#[test]
fn single_keys_are_an_externally_tagged_enum() {
    let flat = texts(240, |n| match n % 6 {
        0 => json!("Stop"),
        1 => json!({"Move": {"x": n, "y": 2}}),
        2 => json!({"Write": format!("text {n}")}),
        3 => json!({"Color": [n % 256, 2, 3]}),
        4 => json!({"Draw": {"shape": {(if n % 4 == 0 { "Circle" } else { "Square" }): {"size": n}}, "fill": null}}),
        _ => json!({"Scale": 1.5 * n as f64 + 0.25}),
    });
    let lean = load("external", &flat, |schema| {
        assert!(schema.unions.iter().all(|union| union.form == Tagging::External), "{:?}", schema.unions);
        assert_eq!(schema.unions[0].variants.len(), 6);
    });
    for part in ["pub enum Document {", "        Stop,\n", "Move(Move),", "Write(ThinStr),"] {
        assert!(lean.contains(part), "{part}: {lean}");
    }
    let recursive = texts(200, |n| expression(4, n * 2_654_435 % 10_007));
    load("external_recursive", &recursive, |schema| assert_eq!(only(schema).form, Tagging::External));
    let places = texts(120, |n| {
        let failed = json!({"Failed": {"code": n}});
        let log: Vec<Value> =
            (0..n % 3).map(|_| if n % 2 == 0 { failed.clone() } else { json!({"Up": "host"}) }).collect();
        let state = [json!("Idle"), failed, json!({"Up": format!("h{n}")})][n % 3].clone();
        json!({"state": state, "log": log})
    });
    load("external_places", &places, |schema| assert_eq!(schema.unions[0].form, Tagging::External));
}

#[test]
fn single_keys_of_one_type_or_of_data_are_no_enum() {
    let languages = ["en", "de", "fr"];
    let texts = texts(
        90,
        |n| json!({"name": {(languages[n % 3]): format!("text {n}")}, "by": {(format!("{n:x}-id")): {"a": n}}}),
    );
    let schema = support::schema(&texts.iter().map(String::as_bytes));
    assert!(schema.unions.is_empty(), "{:?}", schema.unions);
}

#[test]
fn shapes_without_a_tag_are_an_untagged_enum() {
    let texts = texts(150, |n| match n % 3 {
        0 => json!({"id": n, "kind": 1, "radius": n, "name": format!("n{n}")}),
        1 => json!({"id": n, "kind": 2, "width": n, "height": 1.5, "tags": ["a", "b"]}),
        _ => json!({"id": n, "kind": 3, "points": [{"x": n, "y": 2}], "closed": true}),
    });
    let lean = load("untagged", &texts, |schema| {
        assert_eq!((&only(schema).form, only(schema).variants.len()), (&Tagging::Untagged, 3));
    });
    for part in ["#[serde(untagged)]\n    pub enum Document {", "Radius(RadiusDocument),", "        Other(Box<"] {
        assert!(lean.contains(part), "{part}: {lean}");
    }
}

#[test]
fn unknown_variants_load() {
    let texts = texts(120, |n| match n % 3 {
        0 => json!({"A": {"x": n}}),
        1 => json!({"B": "text"}),
        _ => json!("C"),
    });
    let schema = support::schema(&texts.iter().map(String::as_bytes));
    let lean = Plan::new(&schema).rust(Set::Lean);
    let main = "mod types;
        fn main() {
            for text in [r#\"{\"D\":1}\"#, r#\"\"E\"\"#, r#\"{\"A\":{\"x\":1},\"B\":\"\"}\"#, r#\"{\"A\":\"no\"}\"#, r#\"{\"A\":{\"x\":1}}\"#] {
                let read: types::lean::Document = serde_json::from_str(text).expect(text);
                assert_eq!(serde_json::to_string(&read).expect(\"JSON\"), text);
            }
        }";
    support::run("external_open", &[("main.rs", main), ("types.rs", &lean)], &[]);
}

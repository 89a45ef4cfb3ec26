//! `--schema`: a JSON Schema or an `OpenAPI` document held against the data.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn run(folder: &Path, schema: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    command.current_dir(folder).args([
        "data.jsonl",
        "--schema",
        schema,
        "--rust",
        "types.rs",
        "--types",
        "std",
        "--force",
    ]);
    command.output().expect("it runs")
}

/// Runs it on the data, and returns the types and what it lists.
fn types(folder: &Path, schema: &str) -> (String, Vec<String>) {
    let output = run(folder, schema);
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{errors}");
    // A note may name a decision in doubt.
    let lines = errors.lines().filter(|line| !line.starts_with("note: in doubt"));
    let lines = lines.map(|line| line.strip_prefix("schema: ").expect(line).to_owned());
    (fs::read_to_string(folder.join("types.rs")).expect("types"), lines.collect())
}

/// Payments of two kinds of few objects, and prices in a map with few keys: by themselves, structs.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let pay = |n: usize| match n % 2 {
        0 => json!({"how": "card", "number": format!("n{n}"), "year": n}),
        _ => json!({"how": "bank", "iban": format!("i{n}")}),
    };
    let order = |n: usize| {
        let state = ["new", "paid", "lost"][n % 3];
        json!({"id": n, "state": state, "prices": {"eur": n, "usd": n}, "pay": pay(n), "note": if n == 1 { Value::Null } else { json!("x") }})
    };
    let lines: Vec<String> = (0..12).map(|n| order(n).to_string()).collect();
    fs::write(folder.path().join("data.jsonl"), lines.join("\n")).expect("a file");
    folder
}

fn schema() -> Value {
    let order = json!({
        "type": "object", "required": ["id", "at", "pay"],
        "properties": {
            "id": {"type": "string"}, "at": {"type": "string", "format": "date-time"}, "note": {"type": "string"},
            "state": {"$ref": "#/components/schemas/OrderState"},
            "prices": {"type": "object", "additionalProperties": {"type": "number"}},
            "pay": {"$ref": "#/components/schemas/Means"},
        }
    });
    json!({"openapi": "3.0.3", "components": {"schemas": {
        "Order": order,
        "OrderState": {"type": "string", "enum": ["new", "paid", "sent"]},
        "Means": {
            "oneOf": [{"$ref": "#/components/schemas/Card"}, {"$ref": "#/components/schemas/Bank"}],
            "discriminator": {"propertyName": "how"}
        },
        "Base": {"type": "object", "properties": {"how": {"type": "string"}}},
        "Card": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"number": {"type": "string"}}}]},
        "Bank": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"iban": {"type": "string"}}}]},
    }}})
}

#[test]
fn a_schema_gives_names_maps_and_tags_and_is_held_against_the_data() {
    let folder = folder();
    fs::write(folder.path().join("api.json"), schema().to_string()).expect("a file");
    let (source, lines) = types(folder.path(), "api.json#/components/schemas/Order");
    for part in ["tag = \"how\"", "pub enum Means {", "pub prices: HashMap<String, "] {
        assert!(source.contains(part), "{part}: {source}");
    }
    let expected = [
        "$.at is never there",
        "$.id is of type integer 12 times; the schema says string",
        "$.note is null 1 time, which the schema does not allow",
        "$.pay.year is there 6 times, and not in the schema",
        "$.state is \"lost\" 4 times, which the schema does not list",
        "$.state is never \"sent\"",
    ];
    let mut lines = lines;
    lines.sort();
    assert_eq!(lines, expected);
}

#[test]
fn a_schema_that_cannot_be_read_is_an_error() {
    let folder = folder();
    fs::write(folder.path().join("api.json"), schema().to_string()).expect("a file");
    fs::write(folder.path().join("bad.json"), "{").expect("a file");
    for (arguments, error) in [
        (
            "api.json",
            "error: api.json: name a schema, as in api.json#/components/schemas/NAME; there are Bank, Base, Card, Means, Order, OrderState\n",
        ),
        ("api.json#/components/schemas/No", "error: api.json: has no schema at #/components/schemas/No\n"),
        ("none.json", "error: none.json: No such file or directory (os error 2)\n"),
        ("bad.json", "error: bad.json: is no JSON: EOF while parsing an object at line 1 column 1\n"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(2), error));
    }
}

/// Without data there is nothing to hold a schema against. What is in another file is said.
#[test]
fn a_schema_needs_data_and_other_files_are_listed() {
    let folder = folder();
    fs::write(
        folder.path().join("api.json"),
        r##"{"properties": {"id": {"$ref": "https://example.org/id"}, "n": {"$ref": "#"}}}"##,
    )
    .expect("a file");
    let (_, lines) = types(folder.path(), "api.json");
    assert_eq!(lines[0], "https://example.org/id is in another file, and not read");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    let output =
        command.current_dir(folder.path()).args(["shape", "--schema", "api.json"]).stdin(Stdio::null()).output();
    let output = output.expect("it runs");
    let error = "error: --schema needs data to compare; typify and progenitor make types of a schema alone\n";
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(2), error));
}

/// In `OpenAPI` a base names its kinds, and each kind its base: each is read once.
#[test]
fn kinds_that_name_their_base_are_read_once() {
    let folder = folder();
    let mut schema = schema();
    let all = &mut schema["components"]["schemas"];
    for n in 0..30 {
        let name = format!("Kind{n}");
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        all["Means"]["oneOf"].as_array_mut().expect("a list").push(reference);
        all[name.as_str()] =
            json!({"allOf": [{"$ref": "#/components/schemas/Means"}, {"properties": {"n": {"type": "string"}}}]});
    }
    for name in ["Card", "Bank"] {
        all[name]["allOf"].as_array_mut().expect("a list").push(json!({"$ref": "#/components/schemas/Means"}));
    }
    fs::write(folder.path().join("api.json"), schema.to_string()).expect("a file");
    let (types, _) = types(folder.path(), "api.json#/components/schemas/Order");
    assert!(types.contains("pub enum Means") && types.contains("tag = \"how\""), "{types}");
}

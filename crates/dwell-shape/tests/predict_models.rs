//! Compares predicted and measured memory: of the built-in sample, of unusual data, and of the JSON files in the folder
//! `DWELL_MODELS`, such as AWS's Smithy models.
//!
//! `DWELL_MODELS=FOLDER cargo test -p dwell-shape --test predict_models -- --nocapture` reads all of them, which takes a
//! minute, and prints prediction and measurement; with `DWELL_MODELS_STEP=10` it reads every tenth.

mod support;

use dwell_shape::model::Heap;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::{Field, Kind, Lengths, Map, Record, Schema, Slot, Text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Returns the folder of models and the step between the files to read.
fn folder() -> Option<(PathBuf, usize)> {
    let folder = std::env::var_os("DWELL_MODELS")?;
    let step = std::env::var("DWELL_MODELS_STEP").map_or(1, |step| step.parse().expect("a number"));
    // A relative path starts at the workspace's root, while tests run in the folder of their package.
    Some((support::root().join(folder), step))
}

#[test]
fn models_take_the_predicted_memory() {
    let Some((folder, step)) = folder() else {
        crate::support::skip("DWELL_MODELS names no folder with models");
        return;
    };
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|is| is == "json")).collect();
    paths.sort();
    let paths: Vec<PathBuf> = paths.into_iter().step_by(step).collect();
    let texts: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("readable")).collect();
    let schema = support::schema(&texts.iter().map(Vec::as_slice));
    drop(texts);
    let plan = Plan::new(&schema);
    let source = plan.rust(Set::Both);
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");

    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let mut arguments = vec![set];
        arguments.extend(paths.iter().map(|path| path.to_str().expect("UTF-8")));
        let printed = support::run("load", &sources, &arguments);
        let numbers: Vec<u64> = printed.split_whitespace().map(|text| text.parse().expect("a number")).collect();
        let [bytes, allocations, cpu, unequal] = numbers[..] else { panic!("four numbers, not {printed:?}") };
        let measured = Heap { bytes, allocations };
        println!("{set}: predicted {predicted:?}, measured {measured:?}, {cpu} ms of CPU");
        assert_eq!(unequal, 0, "documents are written back otherwise");
        for (predicted, measured) in [(predicted.bytes, bytes), (predicted.allocations, allocations)] {
            let off = (predicted as f64 / measured as f64 - 1.0).abs();
            assert!(off < 0.01, "{set}: predicted {predicted}, measured {measured}");
        }
    }
}

/// Returns documents that are hard to generate types for: keys that are not identifiers, null and missing values,
/// numbers of all kinds, fields of several types, recursion, empty values, tuples, tags, and a record wide enough to be
/// split.
fn unusual() -> Vec<String> {
    (0..400).map(|n| unusual_document(n).to_string()).collect()
}

fn unusual_document(n: u32) -> Value {
    let tree = (0..n % 5).fold(Value::Null, |inner, _| json!({"next": inner, "kids": [inner, {}]}));
    let event = match n % 3 {
        0 => json!({"kind": "log-in", "user": format!("u{n}"), "at": n}),
        1 => json!({"kind": "2fa", "at": 1, "codes": [n, 2, 3, 4, 5], "big": [[1, "a"], [2, "b"]]}),
        _ => json!({"kind": "logOut"}),
    };
    let mixed = [json!(1), json!("one"), json!([1, 2]), json!(true), Value::Null, json!({"a": 1}), json!(1.5)];
    let map: BTreeMap<String, u32> = (0..n % 30).map(|k| (format!("key {n} {k}"), k)).collect();
    let mut document = json!({
        "type": format!("t{}", n % 7), "self": n, "r#try": true, "a b": 1, "a-b": 2, "aB": 3, "": "empty",
        "1st": -i64::from(n), "ünï": "é\n\"", "number": if n.is_multiple_of(9) { json!(1.0) } else { json!(1) },
        "float": f64::from(n) + 0.5, "huge": u64::MAX - u64::from(n), "mixed": mixed[n as usize % mixed.len()], "tree": tree,
        "event": event, "pair": [n, format!("p{n}")], "nothing": [], "free": {format!("k{n}"): {format!("v{n}"): [n, null]}},
        "map": map, "flag": {}, "text": "long ".repeat(n as usize % 120), "wide": {"always": n},
    });
    match n % 4 {
        0 => document["gone"] = Value::Null,
        1 => document["gone"] = json!({"x": n, "y": []}),
        _ => {}
    }
    for k in (0..40).filter(|k| (n + k * 7).is_multiple_of(k + 9)) {
        document["wide"][format!("w{k}")] = match k % 5 {
            0 => json!(format!("x{k}")),
            1 => json!(k),
            2 => json!(n.is_multiple_of(2)),
            3 => json!([k, n]),
            _ => json!({"deep": "er", "at": n}),
        };
    }
    document
}

/// Builds the types of these documents, loads all of them, and compares the memory that they take with the predicted one.
fn takes_the_predicted_memory(name: &str, texts: &[Vec<u8>], plan: &Plan, source: &str) {
    assert_eq!(support::unformatted(source), "", "rustfmt would change it");
    let folder = tempfile::tempdir().expect("a folder");
    let mut arguments = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let path = folder.path().join(format!("{index}.json"));
        std::fs::write(&path, text).expect("a file");
        arguments.push(path.to_str().expect("UTF-8").to_owned());
    }
    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let all: Vec<&str> = [set].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let printed = support::run(name, &sources, &all);
        let numbers: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(numbers[3], "0", "documents are written back otherwise");
        println!("{set}: predicted {predicted:?}, measured {printed}");
        assert_eq!(numbers[..2], [predicted.bytes.to_string(), predicted.allocations.to_string()], "{set}");
    }
}

#[test]
fn unusual_data_round_trips_in_the_predicted_memory() {
    let texts: Vec<Vec<u8>> = unusual().into_iter().map(String::into_bytes).collect();
    let schema = support::schema(&texts.iter().map(Vec::as_slice));
    let plan = Plan::new(&schema);
    let source = plan.rust(Set::Both);
    assert!(source.contains("#[serde(flatten)]"), "the wide record is split");
    takes_the_predicted_memory("odd", &texts, &plan, &source);
}

#[test]
fn the_sample_round_trips_in_the_predicted_memory() {
    let texts: Vec<Vec<u8>> = dwell_shape::sample::documents(1, 12).map(|(_, text)| text).collect();
    let schema = support::schema(&texts.iter().map(Vec::as_slice));
    let plan = Plan::new(&schema);
    assert_eq!(plan.doubts(), [""; 0], "the sample can be predicted exactly");
    takes_the_predicted_memory("sample", &texts, &plan, &plan.rust(Set::Both));
    // The totals of the suggestions are consistent with their savings, and the last one is the total of the lean types.
    let suggestions = plan.suggestions();
    assert_eq!(suggestions.last().map(|last| last.total), Some(plan.lean_heap().bytes));
    let mut total = plan.naive_heap().bytes.cast_signed();
    for one in &suggestions {
        total -= one.saves;
        assert_eq!(total, one.total.cast_signed(), "{}", one.path);
    }
}

#[test]
fn long_types_are_wrapped_as_rustfmt_does() {
    let mut slot = Slot { count: 1, kind: Kind::Bool { trues: 1 }, ..Slot::default() };
    let mut fields = Vec::new();
    for depth in 0..12 {
        let lengths =
            Lengths { count: 1, total: 1, max: 1, by_power: vec![1], by_buckets: vec![0, 0, 1], ..Lengths::default() };
        let key = Text { count: 1, bytes: 1, min: 1, max: 1, distinct: 1, ..Text::default() };
        slot = Slot { count: 1, kind: Kind::Map(Box::new(Map { lengths, key, value: slot })), ..Slot::default() };
        for key in [format!("m{depth}"), format!("a_name_of_{depth}_with_some_more_words_in_it")] {
            fields.push(Field { key, slot: slot.clone(), rest: false });
        }
    }
    let record = Record { name: "Document".into(), instances: 2, fields, ..Record::default() };
    let root = Slot { count: 2, kind: Kind::Record { id: 0, empty: 0 }, ..Slot::default() };
    let schema = Schema { documents: 2, bytes: 2, root, records: vec![record], ..Schema::default() };
    assert_eq!(support::unformatted(&Plan::new(&schema).rust(Set::Both)), "");
}

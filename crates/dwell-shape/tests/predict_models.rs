//! Compares predicted and measured memory on real data: the folder `DWELL_MODELS`, or a tenth of the AWS models beside
//! the repository.
//!
//! `DWELL_MODELS=../shared/data/aws-models cargo test -p cargo-dwell --test predict_models -- --nocapture` reads all of
//! the models, which takes a minute, and prints prediction and measurement.

mod support;

use dwell_shape::model::Heap;
use dwell_shape::plan::{Plan, Set};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Returns the folder of models and the step between the files to read.
fn folder() -> Option<(PathBuf, usize)> {
    if let Some(folder) = std::env::var_os("DWELL_MODELS") {
        // A relative path starts at the workspace's root, while tests run in the folder of their package.
        return Some((support::root().join(folder), 1));
    }
    // The models lie beside the repository.
    let beside = support::root().join("../shared/data/aws-models");
    beside.is_dir().then_some((beside, 10))
}

#[test]
fn models_take_the_predicted_memory() {
    let Some((folder, step)) = folder() else {
        eprintln!("skipped: DWELL_MODELS names no folder and ../shared/data/aws-models is not there");
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

#[test]
fn unusual_data_round_trips_in_the_predicted_memory() {
    let texts = unusual();
    let schema = support::schema(&texts.iter().map(String::as_bytes));
    let plan = Plan::new(&schema);
    let source = plan.rust(Set::Both);
    assert!(source.contains("#[serde(flatten)]"), "the wide record is split");
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");
    let folder = std::env::temp_dir().join(format!("dwell-odd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut arguments = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let path = folder.join(format!("{index}.json"));
        std::fs::write(&path, text).expect("a file");
        arguments.push(path.to_str().expect("UTF-8").to_owned());
    }
    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let all: Vec<&str> = [set].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let printed = support::run("odd", &sources, &all);
        let numbers: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(numbers[3], "0", "documents are written back otherwise");
        println!("{set}: predicted {predicted:?}, measured {printed}");
        assert_eq!(numbers[..2], [predicted.bytes.to_string(), predicted.allocations.to_string()], "{set}");
    }
    std::fs::remove_dir_all(folder).expect("a folder of ours");
}

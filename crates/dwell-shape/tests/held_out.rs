//! Tests whether the generated types load data that they were not inferred from. Each rule is tested on documents that
//! need it, in two ways: by `Outcome`, which `--held-out` uses to compare documents with the schema, and by a compiled
//! program that loads them.

mod support;

use dwell_shape::held_out::{self, Outcome, Rules};
use dwell_shape::model::Heap;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::Schema;
use fastrand::Rng;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Documents that types are inferred from, and new documents to load into them.
struct Case {
    name: &'static str,
    known: Vec<Value>,
    new: Vec<Value>,
    /// The number of new documents refused by default.
    refused: u64,
    /// The number of new documents refused with `--strict`.
    refused_strict: u64,
}

/// Returns documents with two common keys and the keys that `more` adds.
fn texts(number: u64, more: impl Fn(u64) -> Value) -> Vec<Value> {
    let text = |n: u64| {
        let mut text = json!({"id": n, "title": format!("title {n}")});
        if let (Value::Object(text), Value::Object(mut more)) = (&mut text, more(n)) {
            text.append(&mut more);
        }
        text
    };
    (0..number).map(text).collect()
}

/// Returns a document with the common keys and one more.
fn with(key: &str, value: Value) -> Value {
    let mut text = json!({"id": 7, "title": "new"});
    text[key] = value;
    text
}

/// Returns objects of country names by code; in every third object the fields with an index in `odd` are lists.
fn countries(fields: usize, number: usize, odd: &[usize]) -> Vec<Value> {
    let text = |n: usize| {
        let name = |field: usize| {
            let name = format!("name {n}");
            if odd.contains(&field) && n.is_multiple_of(3) { json!([name, "other"]) } else { json!(name) }
        };
        let names: Map<String, Value> = (0..fields).map(|field| (format!("code_{field}"), name(field))).collect();
        Value::from(names)
    };
    (0..number).map(text).collect()
}

fn cases() -> Vec<Case> {
    let few = |n: u64| n % 10 == 3;
    let others = || vec![json!(1), json!(1.5), json!(true), json!("s"), json!(["a", 1]), json!({"a": {"b": 1}})];
    let each = |key: &str| others().into_iter().map(|value| with(key, value)).collect::<Vec<_>>();
    let mut cases = Vec::new();
    let mut case =
        |name, known, new, refused, refused_strict| cases.push(Case { name, known, new, refused, refused_strict });
    // A field with four values of one type is tried with a value of each JSON type.
    case("few texts", texts(40, |n| if few(n) { json!({"x": format!("t{n}")}) } else { json!({}) }), each("x"), 0, 5);
    case("few integers", texts(40, |n| if few(n) { json!({"x": n}) } else { json!({}) }), each("x"), 0, 5);
    case("few booleans", texts(40, |n| if few(n) { json!({"x": n > 9}) } else { json!({}) }), each("x"), 0, 5);
    case("few lists", texts(40, |n| if few(n) { json!({"x": ["a", "b"]}) } else { json!({}) }), each("x"), 0, 6);
    case("few objects", texts(40, |n| if few(n) { json!({"x": {"k": n}}) } else { json!({}) }), each("x"), 0, 6);
    case(
        "few tuples",
        texts(40, |n| if few(n) { json!({"x": [n, "a", {"k": 1}]}) } else { json!({}) }),
        each("x"),
        0,
        6,
    );
    case(
        "few maps",
        texts(40, |n| if few(n) { json!({"x": {"1/a": n, "2/b": n, "3/c": 1}}) } else { json!({}) }),
        each("x"),
        0,
        6,
    );
    // Few values and some `null`s: a value of another type stays distinct from `null` and from a missing key.
    let nulls = texts(40, |n| match n % 10 {
        3 => json!({"x": "t"}),
        4 | 5 => json!({"x": null}),
        _ => json!({}),
    });
    case("few beside nulls", nulls, [each("x"), vec![with("x", Value::Null), with("y", json!(1))]].concat(), 0, 5);
    // Few values in an array and an object that occur in every document.
    let inner = texts(
        40,
        |n| json!({"list": (if few(n) { json!([n]) } else { json!([]) }), "in": {"a": n, "x": if few(n) { json!("t") } else { Value::Null }}}),
    );
    let new = vec![with("list", json!(["s", {}])), with("in", json!({"a": 1, "x": [1]})), with("in", json!({"a": 1}))];
    case(
        "few elements",
        inner,
        new.into_iter()
            .map(|mut text| {
                for (key, value) in [("list", json!([])), ("in", json!({"a": 1, "x": null}))] {
                    if text[key].is_null() {
                        text[key] = value;
                    }
                }
                text
            })
            .collect(),
        0,
        2,
    );
    // A position does not count as rare if it has eight values, if more than half of the documents have it, or if there
    // are only four documents.
    case(
        "eight texts",
        texts(40, |n| if n % 5 == 3 { json!({"x": format!("t{n}")}) } else { json!({}) }),
        each("x"),
        5,
        5,
    );
    case("most of few", texts(6, |n| if n < 5 { json!({"x": format!("t{n}")}) } else { json!({}) }), each("x"), 5, 5);
    case("four texts", texts(4, |n| if n == 1 { json!({"x": "t"}) } else { json!({}) }), each("x"), 5, 5);
    // Keys are optional if there are seven objects, and required if there are eight.
    let part = |number: u64| {
        texts(40, move |n| if n % 5 == 0 && n < 5 * number { json!({"x": {"a": n, "b": "t"}}) } else { json!({}) })
    };
    case(
        "keys of seven",
        part(7),
        vec![with("x", json!({"a": 1})), with("x", json!({})), with("x", json!({"b": "s"}))],
        0,
        3,
    );
    case("keys of eight", part(8), vec![with("x", json!({"a": 1})), with("x", json!({}))], 2, 2);
    // A recursive record with few values at its recursive field.
    let deep = |n: u64| if few(n) { json!({"x": {"k": n, "x": {"k": 1, "x": {"k": 2}}}}) } else { json!({"k": n}) };
    case("few of itself", texts(40, deep), vec![with("x", json!({"k": 1, "x": [3]})), with("x", json!(1))], 0, 2);
    // Sibling fields of similar types.
    let list = || vec![countries(20, 1, &[2])[0].clone()];
    case("siblings", countries(20, 30, &[5, 9]), list(), 0, 1);
    case("siblings of one", countries(20, 30, &[5]), list(), 1, 1);
    case("few siblings", countries(12, 30, &[5, 9]), countries(12, 1, &[2]), 1, 1);
    // Fields of several JSON types show that a rare field may have another too.
    for case in cases.iter_mut().filter(|case| case.name.starts_with("few") && case.name != "few siblings") {
        for (n, text) in case.known.iter_mut().enumerate().filter(|(n, _)| n % 4 > 0) {
            for key in ["mixed", "also mixed"] {
                text[key] = if n % 2 == 0 { json!(n) } else { json!("text") };
            }
        }
    }
    cases
}

fn infer(texts: &[Value]) -> Schema {
    let texts: Vec<String> = texts.iter().map(Value::to_string).collect();
    support::schema(&texts.iter().map(String::as_bytes))
}

fn outcome(schema: &Schema, texts: &[Value]) -> Outcome {
    let mut outcome = Outcome::default();
    for text in texts {
        outcome.add(schema, &schema.unions_with_unit_other(), text);
    }
    outcome
}

/// A program with several sets of types, each with the documents to load into it.
#[derive(Default)]
struct Program {
    modules: Vec<String>,
    arguments: Vec<String>,
    /// For each set its name and the expected results: the heap if it is predicted, the number of refused documents,
    /// and the number of documents that serialize back to other JSON.
    expected: Vec<(String, Option<Heap>, u64, u64)>,
}

impl Program {
    fn add(&mut self, name: String, types: String, texts: &[Value], expected: (Option<Heap>, u64, u64)) {
        assert_eq!(support::unformatted(&types), "", "{name}: rustfmt would change it");
        self.modules.push(types);
        self.arguments.push("--".into());
        self.arguments.extend(texts.iter().map(Value::to_string));
        self.expected.push((name, expected.0, expected.1, expected.2));
    }

    /// Builds and runs the program, and compares what it prints with the expected results.
    fn check(&self, name: &str) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut arguments = Vec::new();
        for (index, argument) in self.arguments.iter().enumerate() {
            if argument == "--" {
                arguments.push(argument.clone());
                continue;
            }
            let path = folder.path().join(format!("{index}.json"));
            std::fs::write(&path, argument).expect("a file");
            arguments.push(path.to_str().expect("UTF-8").to_owned());
        }
        let (mut modules, mut calls) = (String::new(), String::new());
        let files: Vec<String> = (0..self.modules.len()).map(|index| format!("set{index}.rs")).collect();
        let mut sources = Vec::new();
        for (index, types) in self.modules.iter().enumerate() {
            let module = types.lines().find_map(|line| line.strip_prefix("pub mod ")).expect("a module");
            let module = module.trim_end_matches(" {");
            let _ = writeln!(modules, "#[allow(dead_code)]\nmod set{index};");
            let _ = writeln!(calls, "load::<set{index}::{module}::Document>(groups.next().expect(\"files\"));");
            sources.push((files[index].as_str(), types.as_str()));
        }
        let main = include_str!("../examples/corpora/load.rs");
        let main = main.replace("// MODULES", &modules).replace("// CALLS", &calls);
        sources.push(("main.rs", &main));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let printed = support::run(name, &sources, &arguments);
        assert_eq!(printed.lines().count(), self.expected.len());
        for (line, (name, heap, refused, unequal)) in printed.lines().zip(&self.expected) {
            let numbers: Vec<u64> = line.split_whitespace().map(|text| text.parse().expect("a number")).collect();
            assert_eq!(numbers[2..], [*refused, *unequal], "{name}: refused, written back otherwise");
            if let Some(heap) = heap {
                assert_eq!(numbers[..2], [heap.bytes, heap.allocations], "{name}: bytes, allocations");
            }
        }
    }
}

#[test]
fn predicted_refusals_match_the_compiled_types() {
    let mut program = Program::default();
    for Case { name, known, new, refused, refused_strict } in cases() {
        let mut schema = infer(&known);
        let found = outcome(&schema, &known);
        assert_eq!((found.refused, found.changed, found.lost), (0, 0, 0), "{name}: {found:?}");
        let found = outcome(&schema, &new);
        assert_eq!(found.refused, refused, "{name}: {found:?}");
        let altered = found.changed + found.lost;
        {
            let plan = Plan::new(&schema);
            assert_eq!(plan.doubts(), [""; 0], "{name}");
            program.add(format!("{name}, lean"), plan.rust(Set::Lean), &known, (Some(plan.lean_heap()), 0, 0));
            program.add(format!("{name}, new"), plan.rust(Set::Lean), &new, (None, refused, altered));
            let standard = plan.model(&plan.standard()).total();
            program.add(format!("{name}, std"), plan.rust(Set::Std), &known, (Some(standard), 0, 0));
            program.add(format!("{name}, naive"), plan.rust(Set::Naive), &known, (Some(plan.naive_heap()), 0, 0));
        }
        Rules { strict: true, unknown: Some(dwell_shape::UnknownKeys::Ignore), ..Rules::default() }.apply(&mut schema);
        let found = outcome(&schema, &new);
        assert_eq!(found.refused, refused_strict, "{name}: {found:?}");
        let altered = found.changed + found.lost;
        program.add(
            format!("{name}, strict"),
            Plan::new(&schema).rust(Set::Lean),
            &new,
            (None, refused_strict, altered),
        );
    }
    program.check("held_out");
}

#[test]
fn open_field_documents_its_reason() {
    let case = |name| cases().into_iter().find(|case| case.name == name).expect("it is one of them");
    let source = |name| Plan::new(&infer(&case(name).known)).rust(Set::Lean);
    let few = source("few texts");
    assert!(few.contains("open to other types, because there are so few values"), "{few}");
    assert!(few.contains("pub x: Option<Box<OrOther<ThinStr>>>,"), "{few}");
    let siblings = source("siblings");
    assert!(siblings.contains("open to other types, because some of the fields beside it have them"), "{siblings}");
    assert!(siblings.contains("pub code_2: OrOther<"), "{siblings}");
    assert!(source("keys of seven").contains("optional, because there are so few objects"));
    let clean = texts(40, |n| if n % 10 == 3 { json!({"x": format!("t{n}")}) } else { json!({}) });
    assert!(!Plan::new(&infer(&clean)).rust(Set::Lean).contains("OrOther"));
    // Without an open field the type `OrOther` is not generated.
    assert!(!source("eight texts").contains("OrOther"));
}

/// Replaces every string value by a random one.
fn with_new_strings(value: &mut Value, rng: &mut Rng) {
    match value {
        Value::String(text) => {
            *text = match rng.u32(0..8) {
                0 => String::new(),
                1 => "ü".repeat(rng.usize(100..200)),
                2 => format!("2026-11-{:02}", rng.u32(1..29)),
                _ => (0..rng.usize(1..40)).map(|_| rng.alphanumeric()).collect(),
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| with_new_strings(value, rng)),
        Value::Object(object) => object.values_mut().for_each(|value| with_new_strings(value, rng)),
        _ => {}
    }
}

/// Returns a random syntax tree in which some objects have no tag.
fn expression(rng: &mut Rng, depth: usize) -> Value {
    match rng.u32(0..if depth == 0 { 2 } else { 6 }) {
        0 => json!({"type": "Identifier", "name": format!("n{}", rng.u32(0..50))}),
        1 => json!({"type": "Literal", "value": rng.u32(..), "raw": "1"}),
        2 => {
            let operator = ["+", "-", "*", "/"][rng.usize(0..4)];
            let [left, right] = [0, 1].map(|_| expression(rng, depth - 1));
            json!({"type": "BinaryExpression", "operator": operator, "left": left, "right": right})
        }
        3 => json!({"type": "UnaryExpression", "operator": "!", "argument": expression(rng, depth - 1)}),
        4 => json!({"type": "ArrayExpression", "elements": [expression(rng, depth - 1), expression(rng, depth - 1)]}),
        _ => json!({"type": "TemplateLiteral", "quasis": [{"raw": "r", "cooked": "c"}]}),
    }
}

/// Returns a random record with keywords, dates, versions, identifiers, and tags that determine the type of a value.
fn record(rng: &mut Rng, n: usize) -> Value {
    let id = (0..8).fold(String::new(), |id, _| format!("{id}{:04x}", rng.u16(..)));
    let place = match n % 3 {
        0 => json!({"type": "Point", "coordinates": [rng.f64(), rng.f64()]}),
        1 => json!({"type": "LineString", "coordinates": [[rng.f64(), 0.5], [rng.f64(), 0.5]]}),
        _ => json!({"type": "None"}),
    };
    let status = ["open", "closed", "merged"][rng.usize(0..3)];
    let license = ["MIT", "Apache-2.0"][rng.usize(0..2)];
    let (kind, value) = if n.is_multiple_of(2) { ("push", json!("text")) } else { ("pull", json!({"a": "b"})) };
    json!({
        "status": status,
        "license": license,
        "version": format!("{}.{}.0", rng.u32(0..3), rng.u32(0..3)),
        "created": format!("2026-{:02}-{:02}", rng.u32(1..13), rng.u32(1..29)),
        "id": format!("{}-{}-4{}-8{}-{}", &id[..8], &id[8..12], &id[12..15], &id[15..18], &id[18..30]),
        "empty": "", "names": {"de": "eins", "en": "one"}, "place": place,
        "event": {"kind": kind, "value": value},
    })
}

#[test]
fn new_strings_are_never_refused() {
    let mut rng = Rng::with_seed(22);
    let mut corpora: Vec<Vec<Value>> = cases().into_iter().map(|case| case.known).collect();
    corpora.push((0..60).map(|_| json!({"type": "Program", "body": [expression(&mut rng, 5)]})).collect());
    corpora.push((0..200).map(|n| record(&mut rng, n)).collect());
    corpora.push((0..20).map(|n| Value::from((0..30).map(|m| record(&mut rng, n + m)).collect::<Vec<_>>())).collect());
    let mut program = Program::default();
    for (index, known) in corpora.iter().enumerate() {
        let schema = infer(known);
        let mut new = known.clone();
        for text in &mut new {
            with_new_strings(text, &mut rng);
        }
        let found = outcome(&schema, &new);
        assert_eq!(found.refused, 0, "{index}: {found:?}");
        if index >= corpora.len() - 3 {
            let altered = found.changed + found.lost;
            program.add(format!("{index}"), Plan::new(&schema).rust(Set::Lean), &new, (None, 0, altered));
        }
    }
    program.check("held_out_strings");
}

#[test]
fn refused_values_are_listed_before_lost_values() {
    let schema = infer(&texts(20, |n| json!({"x": n})));
    let new =
        [with("x", json!("s")), with("x", json!([])), json!({"id": 1, "title": "t", "x": 1, "more": 1, "other": 2})];
    let lines = outcome(&schema, &new).lines();
    assert!(lines[0].contains("refused: $.x: "), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.contains("lost: $.other: ")), "{lines:?}");
    assert_eq!(lines.len(), 4, "{lines:?}");
    let held = (0..100).filter(|&index| held_out::is_held(index, 0)).count();
    assert!((10..30).contains(&held), "{held}");
}

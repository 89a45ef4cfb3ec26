//! Regression tests of `shape`: data that once caused a panic, a schema that grew without bound, a refused value, or
//! wrong types. Each test is named after the correct behaviour.

mod support;

use dwell_shape::infer::Accumulator;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::{Kind, Schema};
use fastrand::Rng;
use serde_json::{Deserializer, Value, json};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// Infers the schema of `texts`; the first `studied` of them determine the form.
fn infer(texts: &[String], studied: usize) -> Schema {
    let read = |accumulator: &mut Accumulator, texts: &[String]| {
        for (index, text) in (0..).zip(texts) {
            accumulator.at(index);
            accumulator.read(&mut Deserializer::from_str(text)).expect("JSON");
            accumulator.add_bytes(text.len() as u64);
        }
    };
    let mut study = Accumulator::new();
    read(&mut study, &texts[..studied]);
    let mut accumulator = study.into_form().blank().start(1);
    read(&mut accumulator, texts);
    accumulator.finish()
}

/// Loads the texts into the types generated for them and checks that they serialize back to equal JSON. The memory must
/// be as predicted unless the plan reports a doubt.
fn check_types(name: &str, texts: &[String], schema: &Schema) {
    // All callers overwrite the same generated crate, so they take turns.
    static SERIAL: Mutex<()> = Mutex::new(());
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let plan = Plan::new(schema);
    let source = plan.rust(Set::Both);
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");
    let folder = tempfile::tempdir().expect("a folder");
    let mut arguments = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let path = folder.path().join(format!("{index}.json"));
        std::fs::write(&path, text).expect("a file");
        arguments.push(path.to_str().expect("UTF-8").to_owned());
    }
    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let all: Vec<&str> = [set].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let printed = support::run("wrong", &sources, &all);
        let numbers: Vec<u64> = printed.split_whitespace().map(|text| text.parse().expect("a number")).collect();
        assert_eq!(numbers[3], 0, "{name}: documents are written back otherwise");
        println!("{name}, {set}: predicted {predicted:?}, measured {printed}");
        if plan.doubts().is_empty() {
            assert_eq!(numbers[..2], [predicted.bytes, predicted.allocations], "{name}, {set}\n{source}");
        }
    }
}

#[test]
fn many_keys_before_the_tag_do_not_panic() {
    let mut texts: Vec<String> = (0..400)
        .map(|n| match n % 2 {
            0 => format!(r#"{{"x":{n},"u":[1],"type":"a"}}"#),
            _ => r#"{"y":"2","v":{},"type":"b"}"#.to_owned(),
        })
        .collect();
    for tag in [r#""type":"a""#, r#""type":7"#, r#""type":{"type":"b"}"#, r#""none":1"#] {
        for keys in [70, 300, 2000] {
            let keys: String = (0..keys).fold(String::new(), |mut keys, k| {
                let _ = write!(keys, r#""k{k}":{{"a":{k}}},"#);
                keys
            });
            texts.push(format!("{{{keys}{tag}}}"));
        }
        for studied in [400, texts.len()] {
            assert_eq!(infer(&texts, studied).documents, texts.len() as u64);
        }
    }
}

/// Returns a random `ESTree` expression; expressions occur under a dozen different fields.
fn tree(rng: &mut Rng, depth: usize) -> Value {
    let inner = |rng: &mut Rng| tree(rng, depth - 1);
    match rng.u32(0..if depth == 0 { 2 } else { 9 }) {
        0 => json!({"type": "Identifier", "start": rng.u32(..), "name": format!("n{}", rng.u32(0..50))}),
        1 => {
            let value = [json!(1), json!("s"), json!(true), Value::Null][rng.usize(0..4)].clone();
            json!({"type": "Literal", "start": rng.u32(..), "value": value, "raw": "1"})
        }
        2 => json!({"type": "BinaryExpression", "operator": "+", "left": inner(rng), "right": inner(rng)}),
        3 => {
            let arguments: Vec<Value> = (0..rng.usize(0..4)).map(|_| inner(rng)).collect();
            json!({"type": "CallExpression", "callee": inner(rng), "arguments": arguments, "optional": false})
        }
        4 => json!({"type": "MemberExpression", "object": inner(rng), "property": inner(rng), "computed": rng.bool()}),
        5 => {
            json!({"type": "ConditionalExpression", "test": inner(rng), "consequent": inner(rng), "alternate": inner(rng)})
        }
        6 => json!({"type": "UnaryExpression", "operator": "!", "argument": inner(rng), "prefix": true}),
        7 => json!({"type": "AssignmentExpression", "operator": "=", "target": inner(rng), "init": inner(rng)}),
        _ => json!({"type": "ArrayExpression", "elements": [inner(rng), inner(rng)]}),
    }
}

fn program(seed: u64, statements: usize) -> String {
    let mut rng = Rng::with_seed(seed);
    let statement = |rng: &mut Rng| json!({"type": "ExpressionStatement", "expression": tree(rng, 6)});
    let body: Vec<Value> = (0..statements).map(|_| statement(&mut rng)).collect();
    json!({"type": "Program", "sourceType": "module", "body": body}).to_string()
}

#[test]
fn recursive_union_is_one_type_under_every_field() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ast.json"), program(1, 1500)).expect("a file");
    let found = dwell_shape::input::find(&[folder.path().to_owned()]);
    let reading = dwell_shape::input::read(&found, &dwell_shape::input::Options::default(), &|_| {});
    let schema = reading.accumulator.finish();
    assert_eq!(schema.unions.len(), 1, "{:?}", schema.unions);
    assert!(
        schema.records.len() <= schema.unions[0].variants.len() + 2,
        "one a variant, the statement and the program"
    );
    for field in schema.records.iter().flat_map(|record| &record.fields) {
        if ["left", "right", "callee", "object", "argument", "init", "expression"].contains(&&*field.key) {
            assert!(matches!(field.slot.kind, Kind::Union { id: 0 }), "{}: {:?}", field.key, field.slot);
        }
    }
}

/// Returns an `ESTree` node as acorn writes it with `locations: true`.
fn node(rng: &mut Rng, kind: &str, keys: Value) -> Value {
    let at = |rng: &mut Rng| json!({"line": rng.u32(1..900), "column": rng.u32(0..120)});
    let mut node = json!({"type": kind, "start": rng.u32(..1 << 20), "end": rng.u32(..1 << 20)});
    node["loc"] = json!({"start": at(rng), "end": at(rng)});
    if let Value::Object(keys) = keys {
        node.as_object_mut().expect("an object").extend(keys);
    }
    node
}

/// Returns a random `ESTree` expression. Its `value` fields hold strings, numbers, `{}` for a regular expression,
/// nodes, and the text of a template.
fn expression(rng: &mut Rng, depth: usize) -> Value {
    let inner = |rng: &mut Rng| expression(rng, depth - 1);
    let literal = |rng: &mut Rng| [json!(1), json!("s"), json!(true), Value::Null, json!(1.5)][rng.usize(0..5)].clone();
    let (kind, keys) = match rng.u32(0..if depth == 0 { 4 } else { 13 }) {
        0 | 1 => ("Identifier", json!({"name": format!("n{}", rng.u32(0..50))})),
        2 => ("Literal", json!({"value": literal(rng), "raw": "1"})),
        3 if rng.u32(0..4) > 0 => ("Identifier", json!({"name": "a"})),
        3 => ("Literal", json!({"value": {}, "raw": "/a/", "regex": {"pattern": "a", "flags": ""}})),
        4 => {
            let quasi = |rng: &mut Rng| {
                node(rng, "TemplateElement", json!({"value": {"raw": "a", "cooked": "a"}, "tail": true}))
            };
            ("TemplateLiteral", json!({"quasis": [quasi(rng), quasi(rng)], "expressions": [inner(rng)]}))
        }
        5 | 6 => {
            let property = |rng: &mut Rng| {
                let keys = json!({"key": inner(rng), "value": inner(rng), "kind": "init", "method": false});
                node(rng, "Property", keys)
            };
            ("ObjectExpression", json!({"properties": [property(rng), property(rng)]}))
        }
        7 => {
            ("CallExpression", json!({"callee": inner(rng), "arguments": [inner(rng), inner(rng)], "optional": false}))
        }
        8 => ("MemberExpression", json!({"object": inner(rng), "property": inner(rng), "computed": rng.bool()})),
        9 => ("BinaryExpression", json!({"left": inner(rng), "operator": "+", "right": inner(rng)})),
        10 => {
            let body = if rng.bool() { inner(rng) } else { block(rng, depth - 1) };
            ("ArrowFunctionExpression", json!({"id": null, "params": [inner(rng)], "body": body}))
        }
        11 => ("UnaryExpression", json!({"operator": "!", "prefix": true, "argument": inner(rng)})),
        _ => ("ArrayExpression", json!({"elements": [inner(rng), null, inner(rng)]})),
    };
    node(rng, kind, keys)
}

fn block(rng: &mut Rng, depth: usize) -> Value {
    let body: Vec<Value> = (0..rng.usize(0..3)).map(|_| statement(rng, depth)).collect();
    node(rng, "BlockStatement", json!({"body": body}))
}

fn statement(rng: &mut Rng, depth: usize) -> Value {
    let (kind, keys) = match rng.u32(0..if depth == 0 { 3 } else { 6 }) {
        0 | 1 => ("ExpressionStatement", json!({"expression": expression(rng, depth)})),
        2 => ("ReturnStatement", json!({"argument": if rng.bool() { expression(rng, depth) } else { Value::Null }})),
        3 => {
            let keys = json!({"id": expression(rng, 0), "init": expression(rng, depth)});
            let declarator = node(rng, "VariableDeclarator", keys);
            ("VariableDeclaration", json!({"declarations": [declarator], "kind": "const"}))
        }
        4 => {
            let keys = json!({"test": expression(rng, 1), "consequent": block(rng, depth - 1), "alternate": null});
            ("IfStatement", keys)
        }
        _ => {
            let value = json!({"id": null, "params": [], "body": block(rng, depth - 1)});
            let value = node(rng, "FunctionExpression", value);
            let method = json!({"static": false, "key": expression(rng, 0), "value": value, "kind": "method"});
            let method = node(rng, "MethodDefinition", method);
            let body = node(rng, "ClassBody", json!({"body": [method]}));
            ("ClassDeclaration", json!({"id": expression(rng, 0), "superClass": null, "body": body}))
        }
    };
    node(rng, kind, keys)
}

/// Returns a random `ESTree` program.
fn estree(seed: u64) -> Value {
    let mut rng = Rng::with_seed(seed);
    let body: Vec<Value> = (0..rng.usize(1..12)).map(|_| statement(&mut rng, 4)).collect();
    let comment = |rng: &mut Rng| {
        let kind = if rng.bool() { "Line" } else { "Block" };
        node(rng, kind, json!({"value": " a comment"}))
    };
    let comments: Vec<Value> = (0..rng.usize(0..4)).map(|_| comment(&mut rng)).collect();
    node(&mut rng, "Program", json!({"body": body, "sourceType": "module", "comments": comments}))
}

/// Writes the texts to files and infers their schema as the command does, in `parts` parts.
fn read(texts: &[String], parts: usize) -> Schema {
    let folder = tempfile::tempdir().expect("a folder");
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{index:04}.json")), text).expect("a file");
    }
    let found = dwell_shape::input::find(&[folder.path().to_owned()]);
    let part = texts.iter().map(|text| text.len() as u64).sum::<u64>() / parts as u64;
    let options = dwell_shape::input::Options { threads: parts, part, ..Default::default() };
    dwell_shape::input::read(&found, &options, &|_| {}).accumulator.finish()
}

#[test]
fn untagged_objects_in_a_syntax_tree_do_not_dissolve_the_union() {
    let texts: Vec<String> = (0..60).map(|seed| estree(seed).to_string()).collect();
    let is_whole = |schema: &Schema| {
        let fields = schema.records.iter().map(|record| record.fields.len()).max();
        assert!(fields <= Some(9), "a record has the keys of several kinds of nodes: {fields:?}");
        for tag in ["BinaryExpression", "ObjectExpression", "Literal", "TemplateLiteral", "IfStatement"] {
            let has = |union: &&dwell_shape::schema::Union| union.variants.iter().any(|(value, _)| value == tag);
            assert_eq!(schema.unions.iter().filter(has).count(), 1, "{tag}: {:?}", schema.unions);
        }
    };
    let schema = read(&texts, 1);
    is_whole(&schema);
    let shown = |schema: &Schema| serde_json::to_string(schema).expect("JSON");
    for parts in [2, 3] {
        assert_eq!(shown(&read(&texts, parts)), shown(&schema));
    }
    let mut shuffled = texts.clone();
    Rng::with_seed(1).shuffle(&mut shuffled);
    is_whole(&read(&shuffled, 2));
    check_types("wrong_estree", &texts, &schema);
}

#[test]
fn untagged_object_after_the_study_becomes_an_untagged_variant() {
    let mut texts: Vec<String> = (0..40).map(|seed| program(seed, 20)).collect();
    let studied = texts.len();
    for stray in
        [json!({"x": 1}), json!({}), json!({"x": 2, "type": [3]}), json!({"left": {"type": "Identifier", "name": "a"}})]
    {
        texts.push(json!({"type": "Program", "sourceType": "module", "body": [
            {"type": "ExpressionStatement", "expression": {"type": "UnaryExpression", "operator": "!", "prefix": true, "argument": stray}}
        ]}).to_string());
    }
    let shown = |order: &[String], parts: usize| {
        let mut study = Accumulator::new();
        for text in &texts[..studied] {
            study.read(&mut Deserializer::from_str(text)).expect("JSON");
        }
        let form = study.into_form().blank();
        let mut all: Vec<Accumulator> = (0..parts).map(|_| form.start(parts)).collect();
        for (index, text) in order.iter().enumerate() {
            all[index % parts].at(u32::try_from(texts.iter().position(|known| known == text).unwrap()).unwrap());
            all[index % parts].read(&mut Deserializer::from_str(text)).expect("JSON");
        }
        let mut all = all.into_iter();
        let mut first = all.next().expect("a part");
        all.for_each(|part| first.merge(part));
        first.finish()
    };
    let schema = shown(&texts, 1);
    assert_eq!(schema.unions.len(), 1, "{:?}", schema.unions);
    let without = schema.unions[0].without_tag().expect("a variant without the tag");
    assert_eq!(schema.records[without].instances, 4);
    for parts in [2, 3] {
        assert_eq!(serde_json::to_string(&shown(&texts, parts)).unwrap(), serde_json::to_string(&schema).unwrap());
    }
    let mut reversed = texts.clone();
    reversed.reverse();
    let other = shown(&reversed, 1);
    let without = other.unions[0].without_tag().expect("a variant without the tag");
    assert_eq!(
        (other.unions.len(), other.records.len(), other.records[without].instances),
        (1, schema.records.len(), 4)
    );
}

/// The kinds of nodes have no key in common but the tag. In a short text most positions have one object, and the keys of all objects
/// together look like data.
#[test]
fn tag_is_found_if_each_position_has_one_object() {
    fn tree(rng: &mut Rng, depth: u32) -> String {
        let kind = rng.u32(0..40);
        if depth == 0 {
            return format!(r#"{{"type":"Leaf{kind}","value{kind}":{}}}"#, rng.u32(..));
        }
        let children = (0..3).map(|child| format!(r#","child{kind}_{child}":{}"#, tree(rng, depth - 1)));
        format!(r#"{{"type":"Node{kind}"{}}}"#, children.collect::<String>())
    }
    let mut rng = Rng::with_seed(1);
    let texts: Vec<String> = (0..2).map(|_| tree(&mut rng, 7)).collect();
    let schema = read(&texts, 1);
    assert_eq!(schema.unions.iter().map(|union| union.variants.len()).collect::<Vec<_>>(), [80]);
    assert_eq!(schema.records.len(), 80);
}

#[test]
fn recursive_union_positions_do_not_grow_with_the_input() {
    let positions = |statements: usize| {
        let mut form = Accumulator::new().into_form();
        for statements in [5, 20, statements] {
            let mut study = form.study();
            study.read(&mut Deserializer::from_str(&program(2, statements))).expect("JSON");
            form = study.into_form();
        }
        let mut all = form.blank().start(1);
        for seed in 3..6 {
            all.read(&mut Deserializer::from_str(&program(seed, statements))).expect("JSON");
        }
        all.positions()
    };
    let (few, many) = (positions(50), positions(800));
    assert!(many < few * 2 && many < 2000, "{few} positions of a little, {many} of much");
}

#[test]
fn nested_equal_records_are_one_type() {
    fn node(depth: u32) -> Value {
        match depth {
            0 => json!({"key": 1, "left": null, "right": null}),
            _ => json!({"key": depth, "left": node(depth - 1), "right": node(depth - 1)}),
        }
    }
    let texts: Vec<String> = (1..9).map(|depth| node(depth).to_string()).collect();
    let schema = infer(&texts, texts.len());
    assert_eq!(schema.records.len(), 1, "{:?}", schema.records.iter().map(|record| &record.name).collect::<Vec<_>>());
    check_types("wrong_tree", &texts, &schema);
}

#[test]
fn integers_from_i64_min_to_u64_max_load() {
    let texts = [json!({"c": -1}), json!({"c": u64::MAX}), json!({"c": i64::MIN})].map(|text| text.to_string());
    let schema = infer(&texts, 3);
    check_types("wrong_ends", &texts, &schema);
}

#[test]
fn integers_beyond_64_bits_are_reported() {
    let texts = [r#"{"n":18446744073709551616}"#.to_owned(), r#"{"n":1}"#.to_owned()];
    let schema = infer(&texts, 2);
    let doubts = Plan::new(&schema).doubts();
    assert!(doubts.iter().any(|doubt| doubt.contains("not fit in 64 bits")), "{doubts:?}");
    // The generated file says it too, also for the elements of lists.
    let texts = [r#"{"n":[1,18446744073709551616],"m":{"a":[2.5]}}"#.to_owned()];
    let types = Plan::new(&infer(&texts, 1)).rust(Set::Lean);
    assert!(types.contains("1 whole number beyond 64 bits"), "{types}");
}

#[test]
fn array_or_object_root_is_predicted_or_reported() {
    let list: Vec<Value> = (0..40_000).map(|n| json!({"id": n, "name": "n", "more": [n]})).collect();
    let texts = [json!({"id": 1, "name": "one", "more": []}).to_string(), Value::from(list).to_string()];
    let schema = infer(&texts, 2);
    check_types("wrong_root", &texts, &schema);
}

#[test]
fn one_object_with_many_keys_does_not_turn_a_record_into_a_map() {
    let mut texts: Vec<String> =
        (0..3000).map(|n| json!({"id": n, "name": format!("n{n}"), "ok": true}).to_string()).collect();
    let many: serde_json::Map<String, Value> = (0..1100).map(|k| (format!("k{k}"), json!(k))).collect();
    for at in [0, 1500, 3000] {
        texts.insert(at, Value::from(many.clone()).to_string());
        for studied in [0, 100, texts.len()] {
            let schema = infer(&texts, studied);
            let Kind::Record { id, .. } = schema.root.kind else { panic!("{at} {studied}: {:?}", schema.root) };
            let keys: Vec<&str> = schema.records[id].fields.iter().map(|field| &*field.key).collect();
            assert!(["id", "name", "ok"].iter().all(|key| keys.contains(key)), "{at} {studied}: {keys:?}");
            assert!(keys.len() < 10, "{at} {studied}: {} fields", keys.len());
        }
        texts.remove(at);
    }
    texts.truncate(300);
    texts.push(Value::from(many).to_string());
    let schema = infer(&texts, texts.len());
    check_types("wrong_many_keys", &texts, &schema);
}

#[test]
fn single_document_is_a_record() {
    let fields: serde_json::Map<String, Value> =
        (0..11).map(|k| (format!("list{k}"), json!([{"id": k, "name": "x"}]))).collect();
    for text in [Value::from(fields).to_string(), json!({"a": {"x": 1}, "b": {"x": 2}, "c": {"x": 3}}).to_string()] {
        let schema = infer(std::slice::from_ref(&text), 1);
        assert!(matches!(schema.root.kind, Kind::Record { .. }), "{text}: {:?}", schema.root);
    }
    // Keys that cannot be field names still make a map.
    let numbers: serde_json::Map<String, Value> = (0..11).map(|k| (k.to_string(), json!({"id": k}))).collect();
    let schema = infer(&[Value::from(numbers).to_string()], 1);
    assert!(matches!(schema.root.kind, Kind::Map(_)), "{:?}", schema.root);
}

#[test]
fn always_null_field_accepts_any_value() {
    let texts: Vec<String> = (0..20).map(|n| json!({"id": n, "gone": null, "list": [null]}).to_string()).collect();
    let schema = infer(&texts, 20);
    let source = Plan::new(&schema).rust(Set::Both);
    assert!(!source.contains("()>") && !source.contains(": ()"), "{source}");
    assert!(source.contains("serde_json::Value>"), "{source}");
    check_types("wrong_null", &texts, &schema);
}

/// Nested objects with random keys: no two objects share a key.
#[test]
fn positions_are_bounded_for_unrelated_objects() {
    let mut rng = Rng::with_seed(7);
    fn value(rng: &mut Rng, depth: u32) -> String {
        let mut key = || (0..8).map(|_| rng.alphanumeric()).collect::<String>();
        let keys: Vec<String> = (0..6).map(|_| key()).collect();
        if depth == 0 {
            return format!("\"{}\"", keys[0]);
        }
        let entries: Vec<String> = keys.iter().map(|key| format!("\"{key}\":{}", value(rng, depth - 1))).collect();
        format!("{{{}}}", entries.join(","))
    }
    let mut accumulator = Accumulator::new().into_form().blank().start(1);
    for _ in 0..6 {
        accumulator.read(&mut Deserializer::from_str(&value(&mut rng, 6))).expect("JSON");
        assert!(accumulator.positions() < 800_000, "{}", accumulator.positions());
    }
    assert_eq!(accumulator.finish().documents, 6);
}

/// Returns `GeoJSON` documents with five kinds of geometry: the tag determines the nesting of the coordinates.
fn geometries() -> Vec<String> {
    let mut rng = Rng::with_seed(11);
    let point = |rng: &mut Rng| json!([rng.f64() * 180.0 + 0.123, rng.f64() * 90.0 + 0.123]);
    let line = |rng: &mut Rng| Value::from((0..rng.usize(2..9)).map(|_| point(rng)).collect::<Vec<_>>());
    let feature = |index: usize, rng: &mut Rng| {
        let geometry = match index % 5 {
            0 => json!({"type": "Point", "coordinates": point(rng)}),
            1 => json!({"type": "LineString", "coordinates": line(rng)}),
            2 => json!({"type": "MultiPoint", "coordinates": line(rng)}),
            3 => json!({"type": "Polygon", "coordinates": [line(rng), line(rng)]}),
            _ => json!({"type": "MultiPolygon", "coordinates": [[line(rng)], [line(rng), line(rng)]]}),
        };
        json!({"type": "Feature", "properties": {"name": format!("name {index}")}, "geometry": geometry})
    };
    let document = |_| {
        let features: Vec<Value> = (0..50).map(|index| feature(index, &mut rng)).collect();
        json!({"type": "FeatureCollection", "features": features}).to_string()
    };
    (0..10).map(document).collect()
}

#[test]
fn tag_determines_the_type_of_a_field() {
    let texts = geometries();
    let schema = infer(&texts, texts.len());
    assert_eq!(schema.unions.len(), 1, "{:?}", schema.unions);
    let plan = Plan::new(&schema);
    let source = plan.rust(Set::Lean);
    for line in ["#[serde(tag = \"type\", content = \"coordinates\")]", "Point([f64; 2]),", "Box<[[f64; 2]]>", "Other("]
    {
        assert!(source.contains(line), "no {line}\n{source}");
    }
    assert!(!source.contains("holds.\n"), "no mix of types:\n{source}");
    check_types("wrong_geometry", &texts, &schema);
}

#[test]
fn unseen_tags_and_strings_are_accepted() {
    let mut texts = geometries();
    texts[3] = texts[3].replace("MultiPolygon", "TopoPolygon");
    let rules = dwell_shape::held_out::Rules::default();
    for round in 0..5 {
        let ours = dwell_shape::held_out::round_of(&texts, round, rules, &[]);
        assert_eq!((ours.refused, ours.changed, ours.lost), (0, 0, 0), "{ours:?}");
    }
}

/// With `--text`, strings get a type of another crate if it parses all of them and writes them back unchanged.
#[test]
fn formatted_strings_load_as_uuid_chrono_and_url_types() {
    let text = |n: u32| {
        let day = n % 28 + 1;
        json!({
            "id": format!("67e55044-10b1-426f-9247-bb680e5f{n:04x}"),
            "date": format!("2024-02-{day:02}"),
            "at": format!("2024-02-{day:02}T23:59:{:02}.{:03}Z", n % 60, n % 9 + 1),
            "local": format!("2024-02-{day:02}T23:59:59-0{}:30", n % 9 + 1),
            "page": format!("https://example.org/a/{n}?q=%20#top"),
            "upper": format!("67E55044-10b1-426f-9247-bb680e5f{n:04X}"),
            "maybe": if n.is_multiple_of(3) { json!(format!("2024-03-{day:02}")) } else { Value::Null },
        })
        .to_string()
    };
    let texts: Vec<String> = (0..120).map(text).collect();
    let mut schema = infer(&texts, texts.len());
    let source = Plan::new(&schema).rust(Set::Both);
    assert!(!source.contains("uuid::") && !source.contains("chrono::") && !source.contains("url::"), "{source}");
    schema.typed = dwell_shape::formats::Typed { uuid: true, chrono: true, url: true };
    let source = Plan::new(&schema).rust(Set::Lean);
    for field in [
        "pub id: uuid::Uuid,",
        "pub date: chrono::NaiveDate,",
        "pub at: chrono::DateTime<chrono::Utc>,",
        "pub local: chrono::DateTime<chrono::FixedOffset>,",
        "pub page: url::Url,",
        "pub upper: ThinStr,",
        "pub maybe: Option<chrono::NaiveDate>,",
        "//! uuid = {",
    ] {
        assert!(source.contains(field), "no {field}\n{source}");
    }
    if !support::has_crates_of_texts() {
        crate::support::skip("cargo has not downloaded chrono, url and uuid (`cargo fetch` does)");
        return;
    }
    check_types("wrong_texts", &texts, &schema);
}

#[test]
fn record_nested_in_a_similar_record_is_one_recursive_type() {
    let post = |n: u32| json!({"id": n, "text": format!("text {n}"), "lang": "en", "likes": n, "user": {"name": format!("u{n}")}});
    let text = |n: u32| {
        let mut text = post(n);
        if n.is_multiple_of(3) {
            text["retweeted_status"] = post(n + 1000);
        }
        json!({"statuses": [text]}).to_string()
    };
    let texts: Vec<String> = (0..60).map(text).collect();
    let schema = infer(&texts, texts.len());
    let names: Vec<&str> = schema.records.iter().map(|record| &*record.name).collect();
    assert_eq!(schema.records.len(), 3, "{names:?}");
    assert!(names.contains(&"Status"), "{names:?}");
    check_types("wrong_status", &texts, &schema);
}

#[test]
fn unseen_tag_of_a_recursive_union_is_not_refused() {
    let texts: Vec<String> = (0..8).map(|seed| program(seed, 20)).collect();
    let schema = infer(&texts, texts.len());
    let source = Plan::new(&schema).rust(Set::Lean);
    assert!(source.contains("        #[serde(other)]\n        Other,\n"), "{source}");
    check_types("wrong_other", &texts, &schema);
    let new = json!({"type": "Program", "sourceType": "module", "body": [
        {"type": "ExpressionStatement", "expression": {"type": "AwaitExpression", "argument": {"type": "Super"}}}
    ]});
    let mut outcome = dwell_shape::held_out::Outcome::default();
    outcome.add(&schema, &schema.unions_with_unit_other(), &new);
    assert_eq!((outcome.refused, outcome.lost), (0, 1), "{outcome:?}");
}

/// Browser support data: each browser has a statement or a list of statements.
#[test]
fn equal_type_mixtures_share_one_enum() {
    let mut rng = Rng::with_seed(5);
    let mut statement = |n: usize| {
        let mut entry = json!({"version_added": n.to_string(), "notes": "n", "partial": rng.bool(), "prefix": "p"});
        if rng.bool() {
            entry["version_removed"] = json!("9");
        }
        entry
    };
    let mut support = |n: usize| match n % 3 {
        0 => Value::from(vec![statement(n), statement(n + 1)]),
        _ => statement(n),
    };
    let text = |n: usize| {
        let browsers = ["chrome", "edge", "firefox", "opera", "safari"];
        let support: serde_json::Map<String, Value> =
            browsers.iter().enumerate().map(|(at, &key)| (key.to_owned(), support(n + at))).collect();
        json!({"title": format!("t{n}"), "support": support}).to_string()
    };
    let texts: Vec<String> = (0..60).map(text).collect();
    let schema = infer(&texts, texts.len());
    let source = Plan::new(&schema).rust(Set::Lean);
    assert_eq!(source.matches("pub struct").count(), 3, "{source}");
    // The mixture of types; one string is no enum.
    assert_eq!(source.matches("pub enum").count(), 1, "{source}");
    assert_eq!(source.matches("OrList {").count(), 1, "{source}");
    check_types("wrong_mixes", &texts, &schema);
}

#[test]
fn root_type_is_named_document_despite_a_document_key() {
    let text = |n: u32| json!({"document": {"title": format!("t{n}"), "pages": n}, "id": n}).to_string();
    let texts: Vec<String> = (0..20).map(text).collect();
    let source = Plan::new(&infer(&texts, 20)).rust(Set::Lean);
    assert!(source.contains("pub struct Document {") && !source.contains("DocumentB"), "{source}");
    assert!(!source.contains("pub type Document"), "{source}");
}

#[test]
fn sibling_types_are_named_after_their_parent() {
    let flag = json!({"builtIn": "F", "required": true, "type": "Boolean", "default": false});
    let text = json!({"type": "String", "documentation": "d"});
    let texts: Vec<String> = (0..9)
        .map(|n| {
            let parameters = json!({"useFips": flag, "useDualStack": flag, "region": text, "endpoint": text, "n": n});
            json!({"parameters": parameters}).to_string()
        })
        .collect();
    let schema = infer(&texts, 9);
    let names: Vec<&str> = schema.records.iter().map(|record| &*record.name).collect();
    assert!(names.contains(&"Parameter"), "{names:?}");
    assert!(names.iter().any(|name| name.len() > 9 && name.ends_with("Parameter")), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("Or")), "{names:?}");
}

#[test]
fn keys_are_optional_when_few_objects_are_seen() {
    let text = |n: u32| match n {
        3 => json!({"id": n, "license": {"name": "MIT", "url": "u"}}),
        7 => json!({"id": n, "license": {"name": "MIT"}}),
        _ => json!({"id": n}),
    };
    let texts: Vec<Value> = (0..20).map(text).collect();
    let kept: Vec<String> = texts.iter().filter(|text| text["id"] != 7).map(Value::to_string).collect();
    let mut schema = infer(&kept, kept.len());
    let tried = |schema: &Schema| {
        let mut outcome = dwell_shape::held_out::Outcome::default();
        outcome.add(schema, &schema.unions_with_unit_other(), &texts[7]);
        outcome.refused
    };
    assert_eq!(tried(&schema), 0);
    check_types("wrong_few", &kept, &schema);
    dwell_shape::held_out::Rules { strict: true, ..Default::default() }.apply(&mut schema);
    assert_eq!(tried(&schema), 1);
}

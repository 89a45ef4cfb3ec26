//! Small corpora with their expected schemas. `tests/inference.rs` compares random corpora with a recount.

use super::arena::MOST;
use super::listing;
use super::{Accumulator, Blank};
use crate::schema::{Kind, Record, Schema};
use serde_json::Deserializer;

fn read(accumulator: &mut Accumulator, texts: &[String]) {
    for (index, text) in texts.iter().enumerate() {
        accumulator.at(u32::try_from(index).unwrap());
        accumulator.read(&mut Deserializer::from_str(text)).unwrap();
        accumulator.add_bytes(text.len() as u64);
    }
}

fn form(texts: &[String]) -> Blank {
    let mut accumulator = Accumulator::new();
    read(&mut accumulator, texts);
    accumulator.into_form().blank()
}

/// Infers the schema of `texts`; the study reads the first `studied` of them.
fn infer_studied(texts: &[String], studied: usize) -> Schema {
    let mut accumulator = form(&texts[..studied]).start(1);
    read(&mut accumulator, texts);
    accumulator.finish()
}

fn infer(texts: &[String]) -> Schema {
    infer_studied(texts, texts.len())
}

/// Returns the listing of the schema of `texts`, without its first line and empty lines.
fn listed(texts: &[impl ToString]) -> String {
    let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
    let mut out = Vec::new();
    listing::list(&infer(&texts), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().skip(1).map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(texts: &[impl ToString], expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let found = listed(texts);
    let found: Vec<&str> = found.lines().map(str::trim).collect();
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

#[test]
fn scalar_values() {
    check(&["true", "false", "true"], "document: 3 bool(2 true)");
    check(&["1", "-5", "null"], "document: 3 1 null integer(-5..=1)");
    check(&["1", "2.0"], "document: 2 float");
    check(&["1e3"], "document: 1 float");
    check(&["18446744073709551615"], "document: 1 integer(18446744073709551615..=18446744073709551615)");
    check(&["-9223372036854775808"], "document: 1 integer(-9223372036854775808..=-9223372036854775808)");
    check(&["18446744073709551616"], "document: 1 float");
    check(&["null"], "document: 1 1 null never");
    check(&[r#""""#, r#""\u00e9""#], "document: 2 text(0..=2 bytes, 2 distinct, 1 empty)");
}

#[test]
fn small_object_is_a_record() {
    check(
        &[r#"{"a":1,"b":2}"#],
        r#"document: 1 Document(0 empty)
        record Document: 1 at $
        "a" 100.00 %: 1 integer(1..=1)
        "b" 100.00 %: 1 integer(2..=2)"#,
    );
}

#[test]
fn missing_and_null_are_counted_separately() {
    check(
        &[r#"{"a":1,"b":null}"#, r#"{"a":null}"#, r#"{"b":true,"a":7}"#, "{}"],
        r#"document: 4 Document(1 empty)
        record Document: 4 at $
        "a" 75.00 %: 3 1 null integer(1..=7)
        "b" 50.00 %: 2 1 null bool(1 true)"#,
    );
}

#[test]
fn many_distinct_keys_make_a_map() {
    let text = |from: usize, to: usize| {
        let entries: Vec<String> = (from..to).map(|index| format!(r#""k{index}":{{"x":{index}}}"#)).collect();
        format!("{{\"items\":{{{}}}}}", entries.join(","))
    };
    let map = |count: usize| {
        format!(
            r#"document: 1 Document(0 empty)
            record Document: 1 at $
            "items" 100.00 %: 1 map of {count} ({count} distinct keys) to {count} Item(0 empty)
            record Item: {count} at $.items.*
            "x" 100.00 %: {count} integer(0..={})"#,
            count - 1
        )
    };
    check(&[text(0, 8)], &map(8));
    check(&[text(0, 1500)], &map(1500));
    check(
        &[text(0, 10), text(8, 20), text(15, 40)],
        r#"document: 3 Document(0 empty)
        record Document: 3 at $
        "items" 100.00 %: 3 map of 47 (40 distinct keys) to 47 Item(0 empty)
        record Item: 47 at $.items.*
        "x" 100.00 %: 47 integer(0..=39)"#,
    );
}

#[test]
fn rows_of_a_wide_table_are_a_record() {
    let row = |row: usize| {
        let cells: Vec<String> = (0..100).map(|column| format!(r#""c{column}":{}"#, row + column)).collect();
        format!("{{{}}}", cells.join(","))
    };
    let rows: Vec<String> = (0..60).map(row).collect();
    let schema = infer(&[format!("[{}]", rows.join(","))]);
    assert_eq!(schema.records.len(), 1);
    assert_eq!(schema.records[0].fields.len(), 100);
}

#[test]
fn many_optional_keys_of_different_types_are_a_record() {
    // A hundred keys of five different types, up to three in each object.
    let value = |key: usize| match key % 5 {
        0 => "{}".to_owned(),
        1 => format!(r#""text {key}""#),
        2 => format!(r#"{{"only{key}":{key}}}"#),
        3 => key.to_string(),
        _ => "true".to_owned(),
    };
    let texts: Vec<String> = (0..600)
        .map(|index| {
            let keys = [index % 100, (index * 7 + 31) % 100, (index * 13 + 57) % 100];
            let mut keys = keys.to_vec();
            keys.sort_unstable();
            keys.dedup();
            let entries: Vec<String> = keys.iter().map(|&key| format!(r#""k{key}":{}"#, value(key))).collect();
            format!("{{{}}}", entries.join(","))
        })
        .collect();
    let schema = infer(&texts);
    assert_eq!(schema.records[0].fields.len(), 100);
    assert_eq!(schema.records[0].instances, 600);
}

#[test]
fn keys_unlike_field_names_make_a_map() {
    check(
        &[r#"{"usage":{"5.5":0.1,"6":0.2,"7":0.3}}"#],
        r#"document: 1 Document(0 empty)
        record Document: 1 at $
        "usage" 100.00 %: 1 map of 3 (3 distinct keys) to 3 float"#,
    );
}

#[test]
fn tagged_objects_are_a_union() {
    check(
        &[r#"[{"type":"circle","r":1},{"type":"square","w":2,"h":3},{"h":1,"w":5,"type":"square"}]"#],
        r#"document: 1 seq of 3 3 Item
        union Item by "type"
        "square": SquareItem
        "circle": CircleItem
        record SquareItem: 2 at $[]
        "w" 100.00 %: 2 integer(2..=5)
        "h" 100.00 %: 2 integer(1..=3)
        record CircleItem: 1 at $[]
        "r" 100.00 %: 1 integer(1..=1)"#,
    );
}

#[test]
fn tag_without_effect_is_a_keyword() {
    let texts: Vec<String> =
        (0..16).map(|index| format!(r#"{{"type":"{}","x":{index}}}"#, ["a", "b"][index % 2])).collect();
    check(
        &texts,
        r#"document: 16 Document(0 empty)
        record Document: 16 at $
        "type" 100.00 %: 16 DocumentType
        "x" 100.00 %: 16 integer(0..=15)
        keywords DocumentType: {"a": 8, "b": 8}"#,
    );
}

#[test]
fn missing_tags_dissolve_a_union() {
    // The study reads the first half; the second half has an object without a tag.
    let half = r#"[{"type":"circle","r":1},{"type":"square","w":2,"h":3}]"#.to_owned();
    let other = r#"[{"w":2,"h":null},{"type":7,"r":1}]"#.to_owned();
    let schema = infer_studied(&[half, other], 1);
    assert!(schema.unions.is_empty());
    let record = &schema.records[0];
    assert_eq!(record.instances, 4);
    let counts: Vec<(&str, u64)> = record.fields.iter().map(|field| (&*field.key, field.slot.count)).collect();
    assert_eq!(counts, [("type", 3), ("r", 2), ("w", 2), ("h", 2)]);
}

#[test]
fn recursive_records_are_one_type() {
    check(
        &[r#"{"name":"a","children":[{"name":"b","children":[{"name":"c","children":[]}]},{"name":"d"}]}"#],
        r#"document: 1 Document(0 empty)
        record Document: 4 at $.children[] $
        "name" 100.00 %: 4 text(1..=1 bytes, 4 distinct, 0 empty)
        "children" 75.00 %: 3 seq of 3 3 Document(0 empty)"#,
    );
}

#[test]
fn recursive_unions_are_one_type() {
    // The study sees one level of nesting. The third level has both variants, the second has one.
    let studied = r#"{"rules":[{"conditions":[],"rules":[{"error":"e","type":"error"}],"type":"tree"},
        {"error":"e","type":"error"}]}"#;
    let deep = r#"{"rules":[{"conditions":[1],"rules":[{"conditions":[2],"rules":[{"conditions":[],"rules":[],
        "type":"tree"},{"error":"f","type":"error"}],"type":"tree"}],"type":"tree"}]}"#;
    let texts = [studied.to_owned(), deep.to_owned()];
    for studied in [1, 2] {
        let schema = infer_studied(&texts, studied);
        assert_eq!(schema.unions.len(), 1, "studied {studied}");
        let counts: Vec<(&str, u64)> =
            schema.unions[0].variants.iter().map(|(tag, record)| (&**tag, schema.records[*record].instances)).collect();
        assert_eq!(counts, [("tree", 4), ("error", 3)], "studied {studied}");
    }
}

#[test]
fn equal_length_arrays_are_tuples_if_element_types_differ() {
    check(
        &[r#"[["a",1],["b",2],["c",null]]"#],
        "document: 1 seq of 3 3 tuple(3 text(1..=1 bytes, 3 distinct, 0 empty), 3 1 null integer(1..=2))",
    );
    check(&["[[1.5,2],[3,4]]"], "document: 1 seq of 2 2 seq of 4 4 float");
    check(
        &[r#"[["a",1],["b",2],[]]"#],
        "document: 1 seq of 3 3 seq of 4 4 2 integer(1..=2) | 2 text(1..=1 bytes, 2 distinct, 0 empty)",
    );
}

#[test]
fn mixed_values_keep_their_types_unless_too_varied() {
    check(
        &["[1,true,\"x\",[2],[]]"],
        "document: 1 seq of 5 5 1 bool(1 true) | 1 integer(1..=1) | 1 text(1..=1 bytes, 1 distinct, 0 empty) | \
         2 seq of 1 1 integer(2..=2)",
    );
    check(&[r#"[1,"x",[2,"y"],{"a":{"b":[]}},null]"#], "document: 1 seq of 5 5 1 null any(2 texts, 2 objects)");
}

#[test]
fn structurally_equal_records_are_merged() {
    check(
        &[r#"{"from":{"x":1,"y":2},"to":{"x":3,"y":4},"mark":{},"flag":{}}"#],
        r#"document: 1 Document(0 empty)
        record Document: 1 at $
        "from" 100.00 %: 1 ToOrFrom(0 empty)
        "to" 100.00 %: 1 ToOrFrom(0 empty)
        "mark" 100.00 %: 1 Empty(1 empty)
        "flag" 100.00 %: 1 Empty(1 empty)
        record ToOrFrom: 2 at $.to $.from
        "x" 100.00 %: 2 integer(1..=3)
        "y" 100.00 %: 2 integer(2..=4)
        record Empty: 2 at $.flag $.mark"#,
    );
}

#[test]
fn duplicate_key_is_an_error_in_records_and_maps() {
    for text in [
        r#"{"a":1,"b":2,"a":3}"#.to_owned(),
        format!("{{{}\"k7\":1}}", (0..3000).map(|index| format!("\"k{index}\":1,")).collect::<Vec<_>>().concat()),
        r#"{"x":[{"type":"a","type":"b"}]}"#.to_owned(),
    ] {
        let error = Accumulator::new().read(&mut Deserializer::from_str(&text)).unwrap_err();
        assert!(error.to_string().starts_with("duplicate key \""), "{error}");
        assert!(super::check(&mut Deserializer::from_str(&text)).is_err());
    }
}

#[test]
fn map_entries_share_positions() {
    for value in ["1", r#"{"a":[1,{"b":2}]}"#, r#"{"a1":{"a2":{}}}"#] {
        let entries: Vec<String> = (0..100_000).map(|index| format!("\"key {index}\":{value}")).collect();
        let text = format!("{{{}}}", entries.join(","));
        let mut accumulator = Accumulator::new();
        accumulator.read(&mut Deserializer::from_str(&text)).unwrap();
        assert!(accumulator.positions() < 5000, "{}", accumulator.positions());
    }
}

#[test]
fn positions_are_bounded_when_all_keys_differ() {
    // Three levels of objects with distinct keys: a million different paths.
    let inner = |a: usize, b: usize| -> String {
        (0..100).map(|c| format!("\"k{a}_{b}_{c}\":[{c}],")).collect::<Vec<_>>().concat() + "\"z\":0"
    };
    let middle = |a: usize| -> String {
        (0..100).map(|b| format!("\"m{a}_{b}\":{{{}}},", inner(a, b))).collect::<Vec<_>>().concat() + "\"z\":\"\""
    };
    let text = (0..100).map(|a| format!("\"o{a}\":{{{}}},", middle(a))).collect::<Vec<_>>().concat();
    let text = format!("{{{text}\"z\":true}}");
    let mut accumulator = Accumulator::new();
    accumulator.read(&mut Deserializer::from_str(&text)).unwrap();
    assert!(accumulator.positions() < 1 << 19, "{}", accumulator.positions());
    assert_eq!(accumulator.finish().documents, 1);
}

/// Reads the texts into one of 64 sets of accumulators, of which each may have about 5,000 positions. The study reads
/// the first `studied` texts. Returns the number of positions of the form, and those that were added.
fn positions_of_one_in_64(texts: &[String], studied: usize) -> (usize, usize) {
    let mut accumulator = form(&texts[..studied]).start(64);
    let before = accumulator.positions();
    read(&mut accumulator, texts);
    (before, accumulator.positions() - before)
}

#[test]
fn positions_are_bounded_with_many_variants_at_many_paths() {
    // 20 unions with 100 variants, each with 8 keys of its own. The study finds the unions and 2 variants of each.
    let heads: Vec<String> =
        (0..20).map(|path| format!("\"r{path}\":{}", ["null", "1", "\"\"", "[]"][path % 4])).collect();
    let heads = format!("{{{}}}", heads.join(","));
    let text = |n: usize| {
        let (path, tag) = (n % 20, n / 20 % 100);
        let keys: Vec<String> = (0..8).map(|key| format!(",\"k{path}_{tag}_{key}\":{n}")).collect();
        format!("{{\"r{path}\":{{\"type\":\"t{path}_{tag}\"{}}}}}", keys.concat())
    };
    let texts: Vec<String> = std::iter::repeat_n(heads, 3).chain((0..4000).map(text)).collect();
    let (form, added) = positions_of_one_in_64(&texts, 3 + 40);
    assert!(form > 600 && added < MOST / 64, "{form} {added}");
}

#[test]
fn positions_are_bounded_in_nested_arrays() {
    fn list(depth: usize) -> String {
        if depth == 0 { "1".to_owned() } else { format!("[{}]", vec![list(depth - 1); 12].join(",")) }
    }
    let (_, added) = positions_of_one_in_64(&[list(4), list(4)], 0);
    assert!(added < MOST / 64, "{added}");
}

#[test]
fn documents_stay_records_when_positions_are_short() {
    // 300 records of 60 fields are too many positions for one of 64 sets of accumulators, so that later keys of the
    // documents do not become fields.
    let text = |n: usize| {
        let fields: Vec<String> = (0..60).map(|field| format!("\"f{n}_{field}\":[{n}]")).collect();
        let head: Vec<String> = (0..14).map(|key| format!("\"head{key}\":{}", ["1", "true"][key % 2])).collect();
        let late = if n > 290 { format!(",\"late{n}\":1") } else { String::new() };
        format!("{{{},\"body\":{{\"r{n}\":{{{}}}}}{late}}}", head.join(","), fields.join(","))
    };
    let texts: Vec<String> = (0..300).map(text).collect();
    let mut accumulator = form(&texts[..10]).start(64);
    read(&mut accumulator, &texts);
    let schema = accumulator.finish();
    let Kind::Record { id, .. } = schema.root.kind else { panic!("{:?}", schema.root.kind) };
    let keys = schema.records[id].fields.iter().filter(|field| field.key.starts_with("head")).count();
    assert_eq!((keys, schema.records[id].instances), (14, 300));
}

#[test]
fn positions_are_bounded_when_parts_are_merged() {
    let part = |part: usize| {
        let object = |path: &str, keys: usize, inner: &dyn Fn(&str) -> String| {
            let field = |key| format!("\"{path}{key}\":{}", inner(&format!("{path}{key}_")));
            format!("{{{}}}", (0..keys).map(field).collect::<Vec<_>>().join(","))
        };
        let values = |path: &str| object(path, 8, &|path| ["1", "true", "\"\"", "{}"][path.len() % 4].to_owned());
        let inner = |path: &str| object(path, 60, &values);
        let mut one = Accumulator::new().into_form().blank().start(1);
        read(&mut one, &[object(&format!("k{part}_"), 40, &inner)]);
        let saved = serde_json::to_vec(&one.save()).unwrap();
        Accumulator::restore(&mut Deserializer::from_slice(&saved)).unwrap()
    };
    let mut sum = part(0);
    (1..20).for_each(|index| sum.add_part(part(index)));
    assert!(sum.positions() <= MOST, "{}", sum.positions());
    assert_eq!(sum.documents(), 20);
}

#[test]
fn part_with_too_many_positions_is_refused() {
    let nodes = vec!["{}"; 2 * MOST + 1].join(",");
    let saved = format!("{{\"nodes\":[{nodes}],\"objects\":[],\"root\":0,\"documents\":1,\"bytes\":1,\"moment\":1}}");
    let error = Accumulator::restore(&mut Deserializer::from_str(&saved)).err().unwrap().to_string();
    assert!(error.contains("expected at most 655360 elements"), "{error}");
}

#[test]
fn part_with_an_array_that_the_study_did_not_see_is_read() {
    let mut one = form(&["{}".to_owned()]).start(1);
    read(&mut one, &["{\"late\":[1]}".to_owned()]);
    let saved = serde_json::to_vec(&one.save()).unwrap();
    let mut restored = Accumulator::restore(&mut Deserializer::from_slice(&saved)).unwrap();
    restored.add_part(Accumulator::restore(&mut Deserializer::from_slice(&saved)).unwrap());
    let schema = restored.finish();
    let Kind::Seq(array) = &schema.records[0].fields[0].slot.kind else { panic!("not an array") };
    assert_eq!((array.lengths.count, array.lengths.total, array.element.count), (2, 2, 2));
}

/// Reads each of the texts into one of two sets of accumulators with the limits of `arenas` sets, and merges them.
fn infer_in_two(form: &Blank, arenas: usize, texts: [&[String]; 2]) -> Schema {
    let [mut sum, other] = texts.map(|texts| {
        let mut part = form.start(arenas);
        read(&mut part, texts);
        part
    });
    sum.merge(other);
    sum.finish()
}

#[test]
fn fields_of_both_parts_stay_fields_beside_thousands_of_other_keys() {
    // Each part has more other keys than are counted exactly.
    let text = |n: usize| format!("{{\"a\":{n},\"b\":\"x\",\"c\":[true],\"k{n}\":{}}}", ["1", "{}"][n % 2]);
    let texts: Vec<String> = (0..8000).map(text).collect();
    let schema = infer_in_two(&form(&texts[..10]), 1, [&texts[..4000], &texts[4000..]]);
    let Kind::Record { id, .. } = schema.root.kind else { panic!("{:?}", schema.root.kind) };
    let fields = &schema.records[id].fields;
    for key in ["a", "b", "c"] {
        assert!(fields.iter().any(|field| field.key == key && field.slot.count == 8000), "{key}");
    }
}

#[test]
fn limits_of_a_part_do_not_make_positions_of_the_sum_untyped() {
    // A part may have 5,120 positions, and both together have 6,000.
    let text = |part: usize, list: &str| {
        let object = |n: usize| {
            let fields: Vec<String> = (0..50).map(|field| format!("\"f{part}_{n}_{field}\":{field}")).collect();
            format!("\"o{part}_{n}\":{{{}}}", fields.join(","))
        };
        let objects: Vec<String> = (0..60).map(object).collect();
        format!("{{\"list\":{list},\"body{part}\":{{{}}}}}", objects.join(","))
    };
    let schema = infer_in_two(&form(&[]), 64, [&[text(0, "null")], &[text(1, "[1,2]")]]);
    let Kind::Record { id, .. } = schema.root.kind else { panic!("{:?}", schema.root.kind) };
    let list = schema.records[id].fields.iter().find(|field| field.key == "list").unwrap();
    let Kind::Seq(array) = &list.slot.kind else { panic!("{:?}", list.slot.kind) };
    assert!(matches!(array.element.kind, Kind::Integer { .. }), "{:?}", array.element.kind);
}

#[test]
fn list_that_is_null_in_the_last_round_of_the_study_does_not_panic() {
    // The first round finds lists of two lengths under `a`. In the second one they are null, and objects of the same type
    // have tuples under `b`.
    let item = |list: &str| format!("{{\"item\":{{\"k\":1,\"l\":\"\",\"list\":{list}}}}}");
    let first = ["[1,2]", "[1]"].map(|list| format!("{{\"a\":{}}}", item(list)));
    let second = ["[\"s\",2]", "[\"t\",3]"].map(|list| format!("{{\"a\":{},\"b\":{}}}", item("null"), item(list)));
    let mut study = Accumulator::new();
    read(&mut study, &first);
    let mut study = study.into_form().study();
    read(&mut study, &second);
    let mut all = study.into_form().blank().start(1);
    read(&mut all, &second);
    let schema = all.finish();
    let item = schema.records.iter().find(|record| record.name == "Item").unwrap();
    let list = &item.fields.iter().find(|field| field.key == "list").unwrap().slot;
    assert_eq!((item.instances, list.count, list.nulls), (4, 4, 2));
    assert!(matches!(&list.kind, Kind::Tuple { positions } if positions.len() == 2), "{:?}", list.kind);
}

#[test]
fn texts_are_read_again_if_a_small_map_is_of_a_type_with_many_records() {
    // The sample has one key in each object, and the other texts have three fields at another path of the same type.
    let few = (0..9).map(|n| format!(r#"{{"x":{{"item":{{"id":{n},"name":"a","c":{{"key{n}":{{"v":{n}}}}}}}}}}}"#));
    let many = (0..300).map(|n| {
        let fields = format!(r#"{{"pos":{{"v":{n}}},"size":{{"v":{n}}},"mass":{{"v":{n}}}}}"#);
        format!(r#"{{"y":{{"item":{{"id":{n},"name":"a","c":{fields}}}}}}}"#)
    });
    let sample: Vec<String> = few.collect();
    let all: Vec<String> = sample.iter().cloned().chain(many).collect();
    let read = |texts: &[String], mut accumulator: Accumulator| {
        for text in texts {
            accumulator.read(&mut serde_json::Deserializer::from_str(text)).unwrap();
        }
        accumulator
    };
    let study = read(&sample, Accumulator::new()).into_form().study();
    let mut counts = read(&all, read(&sample, study).into_form().blank().start(1));
    let form = counts.correction().expect("the form has a map");
    let mut counts = read(&all, form.blank().start(1));
    assert!(counts.correction().is_none());
    let schema = counts.finish();
    let has =
        |record: &Record| ["pos", "size", "mass"].iter().all(|key| record.fields.iter().any(|field| field.key == *key));
    assert!(schema.records.iter().any(has), "{:?}", schema.records);
}

//! The number of types changes by a tenth at most if a tenth of the texts is left out. `--example corpora -- --tenths`
//! measures the same on data from packages.

mod support;

use dwell_shape::schema::{Kind, Schema};
use fastrand::Rng;

fn schema(texts: &[String]) -> Schema {
    support::schema(&texts.iter().map(String::as_bytes))
}

/// Returns the number of structs and enums of a schema.
fn types(schema: &Schema) -> usize {
    let records = schema.records.iter().filter(|record| !record.is_variant).count();
    records + schema.unions.len() + schema.keywords.len()
}

/// Leaves out some tenths of a corpus in turn.
#[track_caller]
fn check(name: &str, texts: &[String], tenths: usize) {
    let whole = types(&schema(texts));
    for left_out in 0..tenths {
        let most = (0..).zip(texts).filter(|(index, _)| index % 10 != left_out).map(|(_, text)| text.clone());
        let found = types(&schema(&most.collect::<Vec<_>>()));
        assert!(found.abs_diff(whole) * 10 <= whole.max(10), "{name} without {left_out}: {found} instead of {whole}");
    }
}

#[test]
fn answers_annotations_events_and_models() {
    let mut rng = Rng::with_seed(11);
    // Answers of an API: each method has keys of its own, of which some are optional, beside common ones.
    let methods: Vec<Vec<String>> = (0..60).map(|_| (0..rng.usize(3..9)).map(|_| word(&mut rng)).collect()).collect();
    let answer = |rng: &mut Rng, method: usize| {
        let mut fields = vec!["\"ok\":true".to_owned()];
        for (index, key) in methods[method].iter().enumerate() {
            let value = match (method + index) % 4 {
                0 => format!("{{\"id\":{},\"{key}_name\":\"x\"}}", rng.u8(..)),
                1 => format!("[{}]", rng.u8(..)),
                2 => format!("\"{key}{}\"", rng.u8(..)),
                _ => rng.u8(..).to_string(),
            };
            if index == 0 || rng.u8(..4) > 0 {
                fields.push(format!("\"{key}\":{value}"));
            }
        }
        format!("{{{}}}", fields.join(","))
    };
    let answers: Vec<String> = (0..600).map(|n| answer(&mut rng, n / 10)).collect();
    // Annotations by the kind of what they annotate, all of them optional.
    let shape = |rng: &mut Rng, n: usize| {
        let kind = ["structure", "string", "list", "operation", "service"][n * 7 % 11 % 5];
        let traits: Vec<String> =
            (0..12).filter(|_| rng.u8(..5) == 0).map(|key| format!("\"{kind}#{key}\":{{\"v\":{key}}}")).collect();
        format!(
            "{{\"type\":\"{kind}\",\"name\":\"{}\",\"traits\":{{\"doc\":\"d\"{}{}}}}}",
            word(rng),
            if traits.is_empty() { "" } else { "," },
            traits.join(",")
        )
    };
    let shapes: Vec<String> = (0..400).map(|n| shape(&mut rng, n)).collect();
    // Events with a payload for each kind.
    let event = |rng: &mut Rng, n: usize| {
        let keys = &methods[n % 8];
        let fields: Vec<String> = keys.iter().map(|key| format!("\"{key}\":{}", rng.u16(..))).collect();
        format!("{{\"data\":{{{}}},\"event\":\"{}\",\"id\":{n}}}", fields.join(","), methods[n % 8][0])
    };
    let events: Vec<String> = (0..400).map(|n| event(&mut rng, n)).collect();
    let models: Vec<String> =
        dwell_shape::sample::documents(3, 40).map(|(_, text)| String::from_utf8(text).unwrap()).collect();
    for (name, texts) in [("answers", answers), ("shapes", shapes), ("events", events), ("models", models)] {
        check(name, &texts, 3);
    }
}

/// Tables of different rows are one type. The keys of small tables stay fields, whatever share of the rows a large one has.
#[test]
fn keys_of_small_tables_are_fields() {
    let table = |kind: usize, rows: usize| {
        let value = |row: usize, key: usize| match (kind + key) % 4 {
            0 => row.to_string(),
            1 => format!("\"text {row}\""),
            2 => row.is_multiple_of(2).to_string(),
            _ => format!("[{row}]"),
        };
        let row = |row: usize| {
            let fields: Vec<String> = (0..6).map(|key| format!("\"of_{kind}_{key}\":{}", value(row, key))).collect();
            format!("{{{}}}", fields.join(","))
        };
        format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(","))
    };
    for rows in [300, 3000] {
        let texts: Vec<String> = (0..30).map(|kind| table(kind, if kind == 0 { rows } else { 5 })).collect();
        let found = schema(&texts);
        let widest = found.records.iter().max_by_key(|record| record.fields.len()).expect("a record");
        assert_eq!(widest.fields.len(), 180, "{rows} rows");
        assert!(!widest.fields.iter().any(|field| field.rest), "{rows} rows");
    }
}

fn word(rng: &mut Rng) -> String {
    (0..6).map(|_| char::from(rng.u8(b'a'..=b'z'))).collect()
}

/// Returns an object with some of these members.
fn some(members: &[(&str, String, u32)], rng: &mut Rng) -> String {
    let kept = members.iter().filter(|(.., percent)| rng.u32(..100) < *percent);
    let kept: Vec<String> = kept.map(|(key, value, _)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", kept.join(","))
}

/// Returns an object with keys that are data.
fn map(rng: &mut Rng, value: impl Fn(&mut Rng) -> String) -> String {
    let members: Vec<String> = (0..rng.usize(1..6)).map(|_| format!("\"{}\":{}", word(rng), value(rng))).collect();
    format!("{{{}}}", members.join(","))
}

/// Returns a description of a value, which may contain others.
fn description(rng: &mut Rng, depth: usize) -> String {
    let text = format!("\"{}\"", word(rng));
    let mut members = vec![("type", format!("\"{}\"", ["string", "integer", "boolean"][rng.usize(..3)]), 90)];
    members.extend([("title", text.clone(), 60), ("format", text, 20), ("maximum", rng.u8(..).to_string(), 10)]);
    if depth > 0 {
        match rng.u8(..3) {
            0 => members.push(("members", map(rng, |rng| description(rng, depth - 1)), 100)),
            1 => members.push(("element", description(rng, depth - 1), 100)),
            _ => {}
        }
    }
    some(&members, rng)
}

/// The parts of an API are maps, each of other things, and most documents have few of them.
#[test]
fn maps_of_different_things_are_fields() {
    let mut rng = Rng::with_seed(5);
    let text = |rng: &mut Rng| format!("\"{}\"", word(rng));
    let answer = |rng: &mut Rng| some(&[("description", text(rng), 100), ("body", description(rng, 2), 70)], rng);
    let argument = |rng: &mut Rng| {
        let flag = rng.bool().to_string();
        some(
            &[("name", text(rng), 100), ("place", text(rng), 100), ("of", description(rng, 1), 80), ("must", flag, 40)],
            rng,
        )
    };
    let secret =
        |rng: &mut Rng| some(&[("scheme", text(rng), 100), ("bearer", text(rng), 30), ("url", text(rng), 50)], rng);
    let link = |rng: &mut Rng| some(&[("operation", text(rng), 100), ("server", text(rng), 50)], rng);
    let example = |rng: &mut Rng| some(&[("summary", text(rng), 100), ("value", text(rng), 100)], rng);
    let header = |rng: &mut Rng| some(&[("required", rng.bool().to_string(), 100), ("style", text(rng), 100)], rng);
    let api = |rng: &mut Rng| {
        let parts = [
            ("models", map(rng, |rng| description(rng, 3)), 90),
            ("answers", map(rng, answer), 40),
            ("arguments", map(rng, argument), 30),
            ("secrets", map(rng, secret), 40),
            ("links", map(rng, link), 15),
            ("examples", map(rng, example), 15),
            ("headers", map(rng, header), 15),
            ("bodies", map(rng, answer), 15),
        ];
        let parts = some(&parts, rng);
        let text = text(rng);
        some(&[("title", text.clone(), 100), ("version", text, 100), ("parts", parts, 80)], rng)
    };
    let texts: Vec<String> = (0..80).map(|_| api(&mut rng)).collect();
    // The rarest have too few values for a map.
    for left_out in 0..10 {
        let most = (0..).zip(&texts).filter(|(index, _)| index % 10 != left_out).map(|(_, text)| text.clone());
        let found = schema(&most.collect::<Vec<_>>());
        let parts = found.records.iter().find(|record| record.paths[0] == "$.parts").expect("the parts are a record");
        let maps = parts.fields.iter().filter(|field| matches!(field.slot.kind, Kind::Map(_))).count();
        assert!(parts.fields.len() == 8 && maps >= 4, "without {left_out}: {:?}", parts.fields);
    }
}

/// A statement of a program: an object with a tag for each kind, whose other keys are those of the kind.
fn statement(rng: &mut Rng, depth: usize) -> String {
    let inner = |rng: &mut Rng| statement(rng, depth.saturating_sub(1));
    let list = |rng: &mut Rng| {
        let list: Vec<String> = (0..rng.usize(..3)).map(|_| statement(rng, depth.saturating_sub(1))).collect();
        format!("[{}]", list.join(","))
    };
    // The later kinds are rarer.
    let kind = if depth == 0 { rng.usize(..3) } else { rng.usize(..14).min(rng.usize(..14)) };
    let more = match kind {
        0 => format!("\"name\":\"{}\"", word(rng)),
        1 => format!("\"value\":{},\"raw\":\"{}\"", rng.u8(..), word(rng)),
        2 => format!("\"word\":\"{}\",\"quoted\":{}", word(rng), rng.bool()),
        3 => format!("\"body\":{}", list(rng)),
        4 => format!("\"left\":{},\"right\":{},\"operator\":\"+\"", inner(rng), inner(rng)),
        5 => format!("\"callee\":{},\"arguments\":{}", inner(rng), list(rng)),
        6 => format!("\"test\":{},\"consequent\":{},\"alternate\":null", inner(rng), inner(rng)),
        7 => format!("\"object\":{},\"property\":{}", inner(rng), inner(rng)),
        8 => format!("\"argument\":{},\"prefix\":true", inner(rng)),
        9 => format!("\"elements\":{}", list(rng)),
        10 => format!("\"expressions\":{},\"quasi\":{{\"raw\":\"x\",\"cooked\":\"x\"}}", list(rng)),
        11 => format!("\"label\":{},\"block\":{}", inner(rng), inner(rng)),
        12 => format!("\"discriminant\":{},\"cases\":{}", inner(rng), list(rng)),
        _ => format!("\"parameters\":{},\"generator\":false,\"inner\":{}", list(rng), inner(rng)),
    };
    format!("{{\"type\":\"Kind{kind}\",\"start\":{},{more}}}", rng.u16(..))
}

#[test]
fn kinds_of_a_syntax_tree_are_one_enum() {
    let mut rng = Rng::with_seed(7);
    let program = |rng: &mut Rng| {
        let body: Vec<String> = (0..rng.usize(1..12)).map(|_| statement(rng, 5)).collect();
        format!("{{\"type\":\"Program\",\"body\":[{}]}}", body.join(","))
    };
    let texts: Vec<String> = (0..130).map(|_| program(&mut rng)).collect();
    let whole = schema(&texts);
    assert!(whole.unions.iter().any(|union| union.variants.len() == 14), "{:?}", whole.unions);
    check("programs", &texts, 10);
}

/// A rare field is one new key in many objects, and shows nothing.
#[test]
fn one_rare_field_does_not_make_a_map() {
    let keys = ["models", "answers", "arguments", "secrets", "links", "examples", "headers", "bodies"];
    let text = |n: usize| {
        let used = keys.iter().enumerate().filter(|(index, _)| (n + index).is_multiple_of(4));
        let mut parts: Vec<String> = used.map(|(_, key)| format!("\"{key}\":{{\"id\":{n},\"of\":\"x\"}}")).collect();
        if n == 17 {
            parts.push(format!("\"callbacks\":{{\"id\":{n},\"of\":\"x\"}}"));
        }
        format!("{{\"title\":\"t\",\"parts\":{{{}}}}}", parts.join(","))
    };
    let texts: Vec<String> = (0..40).map(text).collect();
    for texts in
        [texts.clone(), texts.into_iter().enumerate().filter(|(n, _)| *n != 17).map(|(_, text)| text).collect()]
    {
        let found = schema(&texts);
        let parts = found.records.iter().find(|record| record.paths[0] == "$.parts").expect("the parts are a record");
        assert!(parts.fields.len() >= 8, "{:?}", parts.fields);
    }
}

/// `content` is a map, and its values have the same name because the word has no plural.
#[test]
fn values_with_the_name_of_their_map_are_no_maps() {
    let mut rng = Rng::with_seed(9);
    let text = |rng: &mut Rng| {
        let one = |rng: &mut Rng| format!("{{\"schema\":{{\"kind\":\"{}\",\"size\":{}}}}}", word(rng), rng.u8(..));
        format!("{{\"title\":\"t\",\"content\":{}}}", map(rng, one))
    };
    let found = schema(&(0..60).map(|_| text(&mut rng)).collect::<Vec<_>>());
    assert!(found.records.iter().any(|record| record.paths[0] == "$.content.*"), "{:?}", found.records);
}

/// Where no key is new, a record loses nothing, so the keys are data only if that takes less memory.
#[test]
fn map_of_known_keys_takes_no_more_memory_than_a_record() {
    let mut rng = Rng::with_seed(9);
    let names: Vec<String> = (0..40).map(|_| word(&mut rng)).collect();
    for (percent, is_map) in [(90, false), (8, true)] {
        let text = |rng: &mut Rng| {
            let kept: Vec<&String> = names.iter().filter(|_| rng.u32(..100) < percent).collect();
            let members: Vec<String> =
                kept.iter().map(|name| format!("\"{name}\":{{\"long\":{},\"short\":\"x\"}}", rng.u8(..))).collect();
            format!("{{\"id\":{},\"names\":{{{}}}}}", rng.u8(..), members.join(","))
        };
        let texts: Vec<String> = (0..300).map(|_| text(&mut rng)).collect();
        let found = schema(&texts);
        let root = found.records.iter().find(|record| record.paths[0] == "$").expect("documents are records");
        let names = root.fields.iter().find(|field| field.key == "names").expect("a field");
        assert_eq!(matches!(names.slot.kind, Kind::Map(_)), is_map, "{percent} %: {:?}", names.slot.kind);
    }
}

/// One block of a template has an empty string for its kind.
#[test]
fn one_empty_string_does_not_hide_a_tag() {
    let mut rng = Rng::with_seed(6);
    let block = |rng: &mut Rng, n: usize| match n % 4 {
        _ if n == 50 => "{\"type\":\"\",\"text\":\"\",\"url\":\"\",\"items\":[],\"width\":0}".to_owned(),
        0 => format!("{{\"type\":\"text\",\"text\":\"{}\",\"bold\":true}}", word(rng)),
        1 => format!("{{\"type\":\"image\",\"url\":\"{}\",\"width\":{}}}", word(rng), rng.u8(..)),
        2 => format!("{{\"type\":\"list\",\"items\":[{}],\"indent\":1}}", rng.u8(..)),
        _ => "{\"type\":\"rule\"}".to_owned(),
    };
    let texts: Vec<String> = (0..200).map(|n| format!("{{\"of\":{}}}", block(&mut rng, n))).collect();
    check("blocks", &texts, 10);
    assert_eq!(schema(&texts).unions[0].variants.len(), 5);
}

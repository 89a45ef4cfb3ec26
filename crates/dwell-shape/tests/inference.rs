//! Compares inferred schemas with a simple recount over `serde_json::Value`: every value must fit its position in the
//! schema, and all counts must be equal.

use dwell_shape::infer::{Accumulator, Blank};
use dwell_shape::input;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::{Free, Kind, Lengths, Schema, Slot, Tagging, Text};
use fastrand::Rng;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The counts of a recount at one slot.
#[derive(Default)]
struct Counts<'a> {
    count: u64,
    nulls: u64,
    trues: u64,
    integers: Option<(i128, i128)>,
    empty_objects: u64,
    lengths: Lengths,
    texts: Texts<'a>,
    keys: Texts<'a>,
    free: Free,
}

#[derive(Default)]
struct Texts<'a> {
    count: u64,
    bytes: u64,
    empty: u64,
    strings: HashSet<&'a str>,
}

impl<'a> Texts<'a> {
    fn add(&mut self, text: &'a str) {
        self.count += 1;
        self.bytes += text.len() as u64;
        self.empty += u64::from(text.is_empty());
        self.strings.insert(text);
    }

    fn check(&self, text: &Text) {
        assert_eq!((self.count, self.bytes, self.empty), (text.count, text.bytes, text.empty));
        let lengths = self.strings.iter().map(|string| string.len() as u64);
        assert_eq!((text.min, text.max), (lengths.clone().min().unwrap_or(0), lengths.max().unwrap_or(0)));
        let distinct = self.strings.len() as f64;
        let error = (text.distinct as f64 / distinct.max(1.0) - 1.0).abs();
        assert!(
            text.distinct == self.strings.len() as u64 || (distinct > 2048.0 && error < 0.08),
            "{text:?} {distinct}"
        );
    }
}

struct Recount<'a> {
    schema: &'a Schema,
    slots: HashMap<*const Slot, Counts<'a>>,
    instances: Vec<u64>,
    keywords: Vec<BTreeMap<String, u64>>,
    /// The slots of the maps that hold a record's remaining entries beside its fields.
    rests: HashSet<*const Slot>,
}

impl<'a> Recount<'a> {
    fn check(schema: &'a Schema, values: &'a [Value]) {
        let mut recount = Recount {
            schema,
            slots: HashMap::new(),
            instances: vec![0; schema.records.len()],
            keywords: vec![BTreeMap::new(); schema.keywords.len()],
            rests: HashSet::new(),
        };
        for record in schema.records.iter().filter(|record| record.fields.len() > 1) {
            recount.rests.extend(record.fields.iter().filter(|field| field.rest).map(|field| &raw const field.slot));
        }
        assert_eq!(schema.documents, values.len() as u64);
        for value in values {
            recount.value(&schema.root, value);
        }
        recount.compare(&schema.root);
        for (record, instances) in schema.records.iter().zip(&recount.instances) {
            assert_eq!(record.instances, *instances, "{}", record.name);
            record.fields.iter().for_each(|field| recount.compare(&field.slot));
        }
        for (keywords, counts) in schema.keywords.iter().zip(&recount.keywords) {
            assert_eq!(keywords.values, *counts, "{}", keywords.name);
        }
        let names: HashSet<&str> = schema
            .records
            .iter()
            .map(|record| &*record.name)
            .chain(schema.unions.iter().map(|union| &*union.name))
            .chain(schema.keywords.iter().map(|keywords| &*keywords.name))
            .collect();
        assert_eq!(names.len(), schema.records.len() + schema.unions.len() + schema.keywords.len());
    }

    fn value(&mut self, slot: &'a Slot, value: &'a Value) {
        let counts = self.slots.entry(&raw const *slot).or_default();
        counts.count += 1;
        match (&slot.kind, value) {
            (_, Value::Null) => counts.nulls += 1,
            (Kind::Bool { .. }, Value::Bool(value)) => counts.trues += u64::from(*value),
            (Kind::Integer { .. }, Value::Number(number)) => {
                assert!(!number.is_f64());
                let number: i128 = number.to_string().parse().unwrap();
                let (min, max) = counts.integers.unwrap_or((number, number));
                counts.integers = Some((min.min(number), max.max(number)));
            }
            (Kind::Float { .. }, Value::Number(_)) => {}
            (Kind::Text(_), Value::String(text)) => counts.texts.add(text),
            (Kind::Keyword { id, .. }, Value::String(text)) => {
                counts.texts.add(text);
                *self.keywords[*id].entry(text.clone()).or_default() += 1;
            }
            (Kind::Record { id, .. }, Value::Object(object)) => {
                counts.empty_objects += u64::from(object.is_empty());
                self.record(*id, object, None);
            }
            (Kind::Union { id }, value) if self.schema.unions[*id].form == Tagging::External => {
                let variant = |key: &str| {
                    let mut variants = self.schema.unions[*id].variants.iter();
                    variants.find(|(variant, _)| variant == key).expect("a known variant").1
                };
                match value {
                    Value::String(text) => self.instances[variant(text)] += 1,
                    Value::Object(object) if object.len() == 1 => {
                        self.record(variant(object.keys().next().unwrap()), object, None);
                    }
                    value => panic!("{value} is no variant"),
                }
            }
            (Kind::Union { id }, Value::Object(object)) => {
                let union = &self.schema.unions[*id];
                let Some((_, variant)) = union.tagged().iter().find(|(variant, _)| union.is_of(variant, object)) else {
                    let is_unknown = object.get(&union.tag).is_some_and(Value::is_string);
                    assert!(union.form == Tagging::Untagged || !is_unknown, "a known variant");
                    let record = union.without_tag().expect("some objects have no tag");
                    return self.record(record, object, None);
                };
                let tag = Some(&*union.tag).filter(|_| union.form != Tagging::Untagged);
                self.record(*variant, object, tag);
            }
            (Kind::Map(map), Value::Object(object)) => {
                counts.lengths.add(object.len() as u64);
                object.keys().for_each(|key| counts.keys.add(key));
                object.values().for_each(|value| self.value(&map.value, value));
            }
            (Kind::Seq(seq), Value::Array(array)) => {
                counts.lengths.add(array.len() as u64);
                for value in array {
                    self.value(&seq.element, value);
                }
            }
            (Kind::Tuple { positions }, Value::Array(array)) => {
                assert_eq!(positions.len(), array.len());
                positions.iter().zip(array).for_each(|(position, value)| self.value(position, value));
            }
            (Kind::Mixed { alternatives }, value) => {
                let fits = |slot: &&Slot| match slot.kind {
                    Kind::Bool { .. } => value.is_boolean(),
                    Kind::Integer { .. } | Kind::Float { .. } => value.is_number(),
                    Kind::Text(_) | Kind::Keyword { .. } => value.is_string(),
                    Kind::Seq(_) | Kind::Tuple { .. } => value.is_array(),
                    Kind::Union { id } if self.schema.unions[id].form == Tagging::External => {
                        value.is_object() || value.is_string()
                    }
                    Kind::Record { .. } | Kind::Union { .. } | Kind::Map(_) => value.is_object(),
                    Kind::Never | Kind::Mixed { .. } | Kind::Any(_) => panic!("no alternative"),
                };
                self.value(alternatives.iter().find(fits).expect("an alternative for the value"), value);
            }
            (Kind::Any(_), value) => {
                counts.free.count += 1;
                count_free(&mut counts.free, value);
            }
            (kind, value) => panic!("{value} is not {kind:?}"),
        }
    }

    fn record(&mut self, id: usize, object: &'a Map<String, Value>, tag: Option<&str>) {
        self.instances[id] += 1;
        let record = &self.schema.records[id];
        let mut rest = 0;
        for (key, value) in object.iter().filter(|(key, _)| Some(key.as_str()) != tag) {
            let field = record.fields.iter().find(|field| field.key == *key && !field.rest);
            if let Some(field) = field {
                self.value(&field.slot, value);
                continue;
            }
            let field = record.fields.iter().find(|field| field.rest).expect("a field for the key");
            let Kind::Map(map) = &field.slot.kind else { panic!("the rest is a map") };
            self.slots.entry(&raw const field.slot).or_default().keys.add(key);
            self.value(&map.value, value);
            rest += 1;
        }
        if let Some(field) = record.fields.iter().find(|field| field.rest) {
            let counts = self.slots.entry(&raw const field.slot).or_default();
            counts.count += 1;
            counts.lengths.add(rest);
        }
    }

    fn compare(&self, slot: &Slot) {
        let none = Counts::default();
        let counts = self.slots.get(&(&raw const *slot)).unwrap_or(&none);
        assert_eq!((slot.count, slot.nulls), (counts.count, counts.nulls), "{slot:?}");
        match &slot.kind {
            Kind::Never => assert_eq!(slot.count, slot.nulls),
            Kind::Float { .. } | Kind::Union { .. } => {}
            Kind::Bool { trues } => assert_eq!(*trues, counts.trues),
            Kind::Integer { min, max } => assert_eq!(Some((*min, *max)), counts.integers),
            Kind::Text(text) | Kind::Keyword { text, .. } => counts.texts.check(text),
            Kind::Record { empty, .. } => assert_eq!(*empty, counts.empty_objects),
            Kind::Map(map) => {
                // For the remaining entries of a record the schema knows only the sums, not the distribution of
                // lengths.
                if show(&map.lengths) != show(&counts.lengths) {
                    let sums = |lengths: &Lengths| (lengths.count, lengths.total);
                    assert_eq!(sums(&map.lengths), sums(&counts.lengths));
                    assert!(self.rests.contains(&(&raw const *slot)), "{slot:?}");
                }
                counts.keys.check(&map.key);
                self.compare(&map.value);
            }
            Kind::Seq(seq) => {
                assert_eq!(show(&seq.lengths), show(&counts.lengths));
                self.compare(&seq.element);
            }
            Kind::Tuple { positions } => positions.iter().for_each(|position| self.compare(position)),
            Kind::Mixed { alternatives } => {
                assert!(alternatives.len() > 1 && alternatives.iter().all(|slot| slot.count > 0 && slot.nulls == 0));
                assert_eq!(slot.count - slot.nulls, alternatives.iter().map(|slot| slot.count).sum::<u64>());
                for slot in alternatives {
                    self.compare(slot);
                }
            }
            Kind::Any(free) if free.estimated => assert_eq!(free.count, counts.free.count),
            Kind::Any(free) => assert_eq!(show(free), show(&counts.free)),
        }
    }
}

fn show(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn count_free(free: &mut Free, value: &Value) {
    match value {
        Value::String(text) => {
            free.texts += u64::from(!text.is_empty());
            free.text_bytes += text.len() as u64;
        }
        Value::Array(array) => {
            free.arrays.add(array.len() as u64);
            for value in array {
                count_free(free, value);
            }
        }
        Value::Object(object) => {
            free.objects.add(object.len() as u64);
            free.key_bytes += object.keys().map(|key| key.len() as u64).sum::<u64>();
            object.values().for_each(|value| count_free(free, value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A description of random values.
enum Type {
    Null,
    Bool,
    Integer(i64),
    Float,
    Word(usize),
    Text,
    Record(Vec<(String, f64, Type)>),
    Map(usize, Box<Type>),
    Seq(usize, Box<Type>),
    Tuple(Vec<Type>),
    /// Records distinguished by a tag, which sorts before the other keys if the flag is set.
    Union(bool, Vec<Vec<(String, f64, Type)>>),
    Mixed(Vec<Type>),
    /// The enclosing type that many levels up.
    Above(usize),
}

impl Type {
    fn random(rng: &mut Rng, depth: usize) -> Self {
        let fields = |rng: &mut Rng| {
            (0..rng.usize(0..6))
                .map(|_| {
                    // With few keys, different records often share some.
                    let key = ["id", "name", "value", "items", "type", "a/b", "é", "kind"][rng.usize(0..8)];
                    let fill = [1.0, 0.9, 0.5, 0.05][rng.usize(0..4)];
                    (key.to_owned(), fill, Self::random(rng, depth - 1))
                })
                .collect()
        };
        match rng.u32(0..if depth == 0 { 7 } else { 18 }) {
            0 => Self::Null,
            1 => Self::Bool,
            2 => Self::Integer([1, 300, i64::MAX][rng.usize(0..3)]),
            3 => Self::Float,
            4 | 5 => Self::Word(rng.usize(1..90)),
            6 => Self::Text,
            7..=9 => Self::Record(fields(rng)),
            10 => Self::Map(rng.usize(1..3000), Box::new(Self::random(rng, depth - 1))),
            11 | 12 => Self::Seq(rng.usize(1..20), Box::new(Self::random(rng, depth - 1))),
            13 => Self::Tuple((0..rng.usize(1..5)).map(|_| Self::random(rng, depth - 1)).collect()),
            14 | 15 => Self::Union(rng.bool(), (0..rng.usize(2..5)).map(|_| fields(rng)).collect()),
            16 => Self::Mixed((0..rng.usize(2..5)).map(|_| Self::random(rng, depth - 1)).collect()),
            _ => Self::Above(rng.usize(1..4)),
        }
    }

    fn value<'t>(&'t self, rng: &mut Rng, above: &mut Vec<&'t Self>, depth: usize) -> Value {
        if depth == 0 {
            return Value::Null;
        }
        above.push(self);
        let object = |rng: &mut Rng, fields: &'t [(String, f64, Self)], above: &mut Vec<&'t Self>| {
            let mut object = Map::new();
            for (key, fill, field) in fields {
                if rng.f64() < *fill {
                    object.insert(key.clone(), field.value(rng, above, depth - 1));
                }
            }
            object
        };
        let value = match self {
            Self::Null => Value::Null,
            Self::Bool => rng.bool().into(),
            Self::Integer(most) => rng.i64(-most..=*most).into(),
            Self::Float => (rng.f64() * 100.0).into(),
            Self::Word(most) => format!("word{}", rng.usize(0..*most)).into(),
            Self::Text => (0..rng.usize(0..80)).map(|_| rng.alphanumeric()).collect::<String>().into(),
            Self::Record(fields) => object(rng, fields, above).into(),
            Self::Map(keys, value) => {
                let entries = 0..rng.usize(0..12);
                let mut entry = |_| (format!("key {}", rng.usize(0..*keys)), value.value(rng, above, depth - 1));
                Value::Object(entries.map(&mut entry).collect())
            }
            Self::Seq(most, element) => {
                (0..rng.usize(0..*most)).map(|_| element.value(rng, above, depth - 1)).collect::<Vec<_>>().into()
            }
            Self::Tuple(positions) => {
                positions.iter().map(|position| position.value(rng, above, depth - 1)).collect::<Vec<_>>().into()
            }
            Self::Union(first, variants) => {
                let index = rng.usize(0..variants.len());
                let fields = object(rng, &variants[index], above);
                // `Map` sorts its keys.
                let tag = (if *first { "@type" } else { "type" }).to_owned();
                fields.into_iter().chain([(tag, format!("variant{index}").into())]).collect()
            }
            Self::Mixed(types) => types[rng.usize(0..types.len())].value(rng, above, depth - 1),
            Self::Above(steps) => {
                let up = above.len().saturating_sub(steps + 1);
                above[up].value(rng, above, depth / 2)
            }
        };
        above.pop();
        value
    }
}

/// Returns documents of one random type.
fn texts(seed: u64) -> Vec<String> {
    let mut rng = Rng::with_seed(seed);
    // Most documents are objects.
    let root = match Type::random(&mut rng, 4) {
        root @ (Type::Record(_) | Type::Seq(..) | Type::Union(..) | Type::Map(..) | Type::Mixed(_)) => root,
        field => Type::Record(vec![
            ("field".to_owned(), 1.0, field),
            ("other".to_owned(), 0.7, Type::random(&mut rng, 3)),
            ("rules".to_owned(), 0.7, Type::Seq(4, Box::new(Type::random(&mut rng, 3)))),
        ]),
    };
    (0..rng.usize(1..40)).map(|_| root.value(&mut rng, &mut Vec::new(), 9).to_string()).collect()
}

fn read<'t>(accumulator: &mut Accumulator, texts: impl IntoIterator<Item = &'t String>) {
    for (index, text) in texts.into_iter().enumerate() {
        accumulator.at(u32::try_from(index).unwrap());
        accumulator.read(&mut serde_json::Deserializer::from_str(text)).unwrap();
    }
}

/// Infers the schema of texts. The study reads the first `studied` of them, then `parts` accumulators read all and are
/// merged.
fn infer(texts: &[String], studied: usize, parts: usize) -> Schema {
    let mut study = Accumulator::new();
    read(&mut study, &texts[..studied]);
    let form = study.into_form().blank();
    let mut parts = (0..parts).map(|first| {
        let mut part = form.start(parts);
        for index in (first..texts.len()).step_by(parts) {
            part.at(u32::try_from(index).unwrap());
            part.read(&mut serde_json::Deserializer::from_str(&texts[index])).unwrap();
        }
        part
    });
    let mut all = parts.next().unwrap();
    parts.for_each(|part| all.merge(part));
    all.finish()
}

/// Returns the number of random corpora, which `DWELL_TEST_ROUNDS` overrides.
fn rounds() -> u64 {
    std::env::var("DWELL_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(700)
}

#[test]
fn random_corpora_are_counted_exactly() {
    for seed in 0..rounds() {
        let texts = texts(seed);
        let values: Vec<Value> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let result = std::panic::catch_unwind(|| {
            // The study reads all texts, half of them, or none: the counts are exact in each case.
            for studied in [texts.len(), texts.len() / 2, 0] {
                Recount::check(&infer(&texts, studied, 1), &values);
            }
        });
        assert!(result.is_ok(), "seed {seed}: {texts:#?}");
    }
}

#[test]
fn schema_is_independent_of_parts_and_mostly_of_document_order() {
    // Fields and records are in the order in which they first occur, so they are sorted for the comparison.
    let sorted = |schema: &Schema| {
        let mut records: Vec<String> = schema
            .records
            .iter()
            .map(|record| {
                let mut fields: Vec<String> =
                    record.fields.iter().map(|field| format!("{} {}", field.key, field.slot.count)).collect();
                fields.sort();
                format!("{} {fields:?}", record.instances)
            })
            .collect();
        records.sort();
        (records, schema.unions.len(), schema.root.count, schema.root.nulls)
    };
    let (mut corpora, mut differ) = (0, 0);
    for seed in 0..rounds() / 3 {
        let texts = texts(seed);
        let expected = infer(&texts, texts.len(), 1);
        for parts in [2, 3] {
            assert_eq!(show(&infer(&texts, texts.len(), parts)), show(&expected), "seed {seed}");
        }
        let mut shuffled = texts.clone();
        Rng::with_seed(seed).shuffle(&mut shuffled);
        corpora += 1;
        differ += u64::from(sorted(&infer(&shuffled, texts.len(), 1)) != sorted(&expected));
    }
    // The order of the documents may decide whether a small object is a record or a map.
    println!("{differ} of {corpora} corpora have another schema when they are shuffled");
    assert!(differ * 20 <= corpora, "{differ} of {corpora}");
}

#[test]
fn number_of_threads_changes_nothing() {
    // The objects under `set` have 72 keys with objects in the first six files, and 72 keys with other values in the
    // last one. A reader that meets 64 of the former first takes the keys for data. The study reads 4 MiB of two
    // files, which are less than the first 55 lines.
    let folder = tempfile::tempdir().unwrap();
    for file in 0..7 {
        let pad = |n: usize| format!("{{\"id\":{n},\"pad\":\"{}\"}}\n", "x".repeat(80_000));
        let set = |n: usize| {
            let entry = match file {
                6 => format!("\"s{n}\":{}", ["1", "\"t\"", "true", "[1]"][n % 4]),
                _ => format!("\"k{}\":{{\"x\":{n},\"y\":\"a\"}}", file * 12 + n),
            };
            format!("{{\"id\":{n},\"set\":{{{entry}}}}}\n").repeat(2)
        };
        let sets = if file == 6 { 72 } else { 12 };
        let text: String = (0..55).map(pad).chain((0..sets).map(set)).collect();
        std::fs::write(folder.path().join(format!("{file}.jsonl")), text).unwrap();
    }
    let found = input::find(&[folder.path().to_owned()]);
    // All counts as they are saved, and the types.
    let read = |threads: usize, part: u64| {
        let options = input::Options { threads, part, ..Default::default() };
        let reading = input::read(&found, &options, &|_| {});
        assert_eq!(reading.problems, []);
        let saved = serde_json::to_vec(&reading.accumulator.save()).unwrap();
        let restored = Accumulator::restore(&mut serde_json::Deserializer::from_slice(&saved)).unwrap();
        (saved, Plan::new(&restored.finish()).rust(Set::Lean))
    };
    let parts = [0, 13_000_000, 9_000_000, 300_000];
    let one = parts.map(|part| read(1, part));
    for (part, one) in parts.into_iter().zip(&one) {
        for threads in [2, 3, 7] {
            assert!(read(threads, part) == *one, "{threads} threads, parts of {part} bytes");
        }
    }
    // Without this, the types would not depend on who reads which file.
    assert_ne!(one[0].1, one[1].1);
}

/// Replaces one number in JSON by another: an id of a node or object, none, or a count that no corpus has. Returns whether
/// it found one.
fn change_number(json: &mut Value, rng: &mut Rng) -> bool {
    let mut parts = vec![json];
    let mut numbers = Vec::new();
    while let Some(part) = parts.pop() {
        match part {
            Value::Array(list) => parts.extend(list),
            Value::Object(map) => parts.extend(map.values_mut()),
            Value::Number(_) => numbers.push(part),
            _ => {}
        }
    }
    let Some(number) = rng.choice(numbers) else { return false };
    *number = match rng.u32(0..6) {
        0 => Value::Null,
        1 => u64::MAX.into(),
        2 => (1_u64 << 32).into(),
        _ => rng.u64(0..60).into(),
    };
    true
}

/// Part and form files are untrusted: their contents are refused, or read without a panic and without an endless loop.
#[test]
fn changed_parts_and_forms_are_refused_or_read() {
    let mut rng = Rng::with_seed(3);
    let (mut read_again, mut refused) = (0, 0);
    for seed in 0..25 {
        let texts = texts(seed);
        let study = |most: usize| {
            let mut study = Accumulator::new();
            read(&mut study, &texts[..most]);
            study.into_form()
        };
        let restored = |json: &Value| Accumulator::restore(&mut serde_json::Deserializer::from_str(&json.to_string()));
        let form_of = |json: &Value| Blank::restore(&mut serde_json::Deserializer::from_str(&json.to_string()), 7);
        let form = serde_json::to_value(study(texts.len() / 2).save()).unwrap();
        let count = |form: &Blank| {
            let mut part = form.start(1);
            for text in &texts {
                let _ = part.read(&mut serde_json::Deserializer::from_str(text));
            }
            part
        };
        let part = serde_json::to_value(count(&form_of(&form).unwrap()).save()).unwrap();
        for _ in 0..20 {
            let (mut form, mut changed) = (form.clone(), part.clone());
            assert!(change_number(&mut form, &mut rng) && change_number(&mut changed, &mut rng));
            if let Ok(form) = form_of(&form) {
                let _ = Plan::new(&count(&form).finish()).lean_heap();
                read_again += 1;
            }
            if let Ok(mut changed) = restored(&changed) {
                changed.add_part(restored(&part).unwrap());
                let _ = Plan::new(&changed.finish()).lean_heap();
                read_again += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(read_again > 50 && refused > 50, "{read_again} {refused}");
}

#[test]
fn counts_are_exact_beyond_the_position_limit() {
    // Nested objects with distinct keys, far more than the inference distinguishes.
    let mut rng = Rng::with_seed(3);
    let mut value = |depth: usize, path: &str| -> String {
        fn object(rng: &mut Rng, depth: usize, path: &str) -> String {
            let entry = |rng: &mut Rng, index: usize| {
                let key = format!("{path}{}", char::from(b'a' + u8::try_from(index).unwrap()));
                let value = match depth {
                    0 => ["1", "\"x\"", "[true]", "{\"y\":null}"][rng.usize(0..4)].to_owned(),
                    _ => object(rng, depth - 1, &key),
                };
                format!("\"{key}\":{value}")
            };
            let entries: Vec<String> = (0..11).map(|index| entry(rng, index)).collect();
            format!("{{\"all\":{depth},{}}}", entries.join(","))
        }
        object(&mut rng, depth, path)
    };
    let texts = [value(4, "x"), value(4, "z")];
    let values: Vec<Value> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    for studied in [0, 1] {
        Recount::check(&infer(&texts, studied, 1), &values);
    }
}

#[test]
fn sample_is_counted_exactly() {
    let found = input::sample();
    let reading = input::read(&found, &input::Options::default(), &|_| {});
    assert_eq!(reading.problems, []);
    let schema = reading.accumulator.finish();
    let texts = dwell_shape::sample::documents(input::SAMPLE_SEED, input::SAMPLE_MODELS);
    let values: Vec<Value> = texts.map(|(_, text)| serde_json::from_slice(&text).unwrap()).collect();
    Recount::check(&schema, &values);
    let union = |name: &str| schema.unions.iter().find(|union| union.name == name).unwrap();
    assert_eq!(union("Shape").tag, "type");
    assert_eq!(union("Rule").variants.len(), 3);
    assert_eq!(schema.records.iter().filter(|record| record.paths[0].ends_with(".traits")).count(), 2);
}

/// Reads the AWS models in the folder `DWELL_MODELS`.
#[test]
fn aws_models_have_the_known_schema() {
    let Some(models) = std::env::var_os("DWELL_MODELS") else {
        let _ =
            std::io::Write::write_all(&mut std::io::stderr(), b"skipped: DWELL_MODELS names no folder with models\n");
        return;
    };
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(models);
    let found = input::find(&[models]);
    let reading = input::read(&found, &input::Options::default(), &|_| {});
    assert_eq!(reading.problems, []);
    let schema = reading.accumulator.finish();
    let texts = found.inputs.iter().map(|input| std::fs::read(input.path()).unwrap());
    let values: Vec<Value> = texts.map(|text| serde_json::from_slice(&text).unwrap()).collect();
    Recount::check(&schema, &values);

    let record = |name: &str| schema.records.iter().find(|record| record.name == name).unwrap();
    let kind = |record_name: &str, key: &str| {
        &record(record_name).fields.iter().find(|field| field.key == key).unwrap().slot.kind
    };
    let Kind::Map(shapes) = kind("Document", "shapes") else { panic!("shapes is a map") };
    let Kind::Union { id } = shapes.value.kind else { panic!("a shape is a union") };
    assert_eq!((&*schema.unions[id].name, &*schema.unions[id].tag), ("Shape", "type"));
    for variant in ["StructureShape", "EnumShape", "UnionShape"] {
        let Kind::Map(members) = kind(variant, "members") else { panic!("members is a map") };
        let Kind::Record { id, .. } = members.value.kind else { panic!("a member is a record") };
        assert_eq!(schema.records[id].name, "Member");
    }
    let is_traits = |path: &String| path.ends_with(".traits");
    let traits: Vec<_> = schema.records.iter().filter(|record| record.paths.iter().any(is_traits)).collect();
    assert_eq!(traits.len(), 1, "traits are one record");
    assert!(traits[0].fields.len() >= 100, "{}", traits[0].fields.len());
    assert!(schema.unions.iter().any(|union| union.name == "Rule" && union.variants.len() == 3));
}

//! A schema counted in the plainest way, from values held in memory: what inference is not, and so a check on all after
//! it. Objects are told apart by the key that leads to them; those with very many different keys are maps.

#![allow(dead_code, reason = "each test binary uses its part")]

use cargo_dwell::shape::names;
use cargo_dwell::shape::schema::{Field, Kind, Lengths, Map, Record, Schema, Seq, Slot, Text, Union};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// More different keys than this under one name make a map.
const MAP: usize = 106;

/// What is below these keys is free-form.
const FREE: &[&str] = &["smithy.api#examples", "smithy.rules#endpointTests", "smithy.test#smokeTests"];

/// The schema of documents of so many bytes in all; objects below a key of `tagged` are told apart by its value's key.
pub fn schema(documents: &[Value], bytes: u64, tagged: &[(&str, &str)]) -> Schema {
    let mut keys = BTreeMap::new();
    documents.iter().for_each(|document| collect_keys(document, "document", &mut keys));
    let mut oracle = Oracle {
        maps: keys.into_iter().filter(|(_, keys)| keys.len() > MAP).map(|(name, _)| name).collect(),
        tagged: tagged.iter().map(|(name, tag)| (name.to_string(), tag.to_string())).collect(),
        records: BTreeMap::new(),
    };
    let mut root = Seen::default();
    documents.iter().for_each(|document| oracle.see(document, "document", &mut root));
    let ids: BTreeMap<String, usize> = oracle.records.keys().cloned().zip(0..).collect();
    let mut schema = Schema { documents: documents.len() as u64, bytes, ..Schema::default() };
    let mut build = Build { ids: &ids, unions: BTreeMap::new(), records: &oracle.records };
    schema.root = build.slot(&root);
    for (name, seen) in &oracle.records {
        let fields: Vec<&String> = seen.fields.keys().collect();
        let index = |key: &String| fields.binary_search(&key).expect("a key that was seen");
        schema.records.push(Record {
            name: names::camel(name),
            paths: vec![name.clone()],
            instances: seen.instances,
            fields: seen.fields.iter().map(|(key, seen)| Field { key: key.clone(), slot: build.slot(seen) }).collect(),
            key_sets: seen.sets.iter().map(|(set, count)| (set.iter().map(index).collect(), *count)).collect(),
        });
    }
    schema.unions = build.unions.into_values().map(|(_, union)| union).collect();
    schema
}

fn collect_keys(value: &Value, name: &str, keys: &mut BTreeMap<String, BTreeSet<String>>) {
    match value {
        _ if FREE.contains(&name) => {}
        Value::Array(values) => values.iter().for_each(|value| collect_keys(value, name, keys)),
        Value::Object(object) => {
            keys.entry(name.to_owned()).or_default().extend(object.keys().cloned());
            object.iter().for_each(|(key, value)| collect_keys(value, key, keys));
        }
        _ => {}
    }
}

#[derive(Default)]
struct Seen {
    count: u64,
    nulls: u64,
    bools: u64,
    trues: u64,
    ints: Vec<i128>,
    floats: u64,
    texts: Vec<String>,
    lengths: Lengths,
    element: Option<Box<Seen>>,
    map: Lengths,
    map_keys: Vec<String>,
    value: Option<Box<Seen>>,
    records: BTreeMap<String, (u64, u64)>,
    free: (u64, u64, u64),
    union: Option<(String, String)>,
}

#[derive(Default)]
struct SeenRecord {
    instances: u64,
    fields: BTreeMap<String, Seen>,
    sets: BTreeMap<Vec<String>, u64>,
}

struct Oracle {
    maps: BTreeSet<String>,
    tagged: BTreeMap<String, String>,
    records: BTreeMap<String, SeenRecord>,
}

impl Oracle {
    fn see(&mut self, value: &Value, name: &str, seen: &mut Seen) {
        seen.count += 1;
        match value {
            _ if FREE.contains(&name) => {
                let (bytes, allocations) = owned(value);
                seen.free.0 += bytes;
                seen.free.1 += allocations;
                seen.free.2 += 1;
            }
            Value::Null => seen.nulls += 1,
            Value::Bool(value) => {
                seen.bools += 1;
                seen.trues += u64::from(*value);
            }
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(int), _) => seen.ints.push(int.into()),
                (_, Some(int)) => seen.ints.push(int.into()),
                _ => seen.floats += 1,
            },
            Value::String(text) => seen.texts.push(text.clone()),
            Value::Array(values) => {
                seen.lengths.add(values.len() as u64);
                let element = seen.element.get_or_insert_default();
                values.iter().for_each(|value| self.see(value, name, element));
            }
            Value::Object(object) if self.maps.contains(name) => {
                seen.map.add(object.len() as u64);
                let element = seen.value.get_or_insert_default();
                for (key, value) in object {
                    seen.map_keys.push(key.clone());
                    self.see(value, &format!("{name}-value"), element);
                }
            }
            Value::Object(object) => {
                let tag = self.tagged.get(name).cloned();
                let record = match &tag {
                    Some(tag) => {
                        seen.union = Some((name.to_owned(), tag.clone()));
                        format!("{name}/{}", object[tag].as_str().expect("a tag"))
                    }
                    None => name.to_owned(),
                };
                let known = seen.records.entry(record.clone()).or_default();
                known.0 += 1;
                known.1 += u64::from(object.is_empty());
                // Out while it is being filled, for it may contain itself.
                let keys = object.keys().filter(|key| Some(*key) != tag.as_ref());
                let own = self.records.entry(record.clone()).or_default();
                own.instances += 1;
                *own.sets.entry(keys.clone().cloned().collect()).or_default() += 1;
                for key in keys {
                    let mut field = self.records.get_mut(&record).and_then(|own| own.fields.remove(key)).unwrap_or_default();
                    let mut inner = Seen::default();
                    self.see(&object[key], key, &mut inner);
                    field.merge(inner);
                    let own = self.records.get_mut(&record).expect("it is there");
                    match own.fields.entry(key.clone()) {
                        std::collections::btree_map::Entry::Vacant(entry) => {
                            entry.insert(field);
                        }
                        std::collections::btree_map::Entry::Occupied(mut entry) => entry.get_mut().merge(field),
                    }
                }
            }
        }
    }
}

impl Seen {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.nulls += other.nulls;
        self.bools += other.bools;
        self.trues += other.trues;
        self.ints.extend(other.ints);
        self.floats += other.floats;
        self.free.0 += other.free.0;
        self.free.1 += other.free.1;
        self.free.2 += other.free.2;
        self.texts.extend(other.texts);
        self.lengths.merge(&other.lengths);
        self.map.merge(&other.map);
        self.map_keys.extend(other.map_keys);
        for (into, from) in [(&mut self.element, other.element), (&mut self.value, other.value)] {
            match (into.as_mut(), from) {
                (Some(into), Some(from)) => into.merge(*from),
                (None, Some(from)) => *into = Some(from),
                _ => {}
            }
        }
        for (name, (count, empty)) in other.records {
            let known = self.records.entry(name).or_default();
            known.0 += count;
            known.1 += empty;
        }
        self.union = self.union.take().or(other.union);
    }
}

struct Build<'o> {
    ids: &'o BTreeMap<String, usize>,
    records: &'o BTreeMap<String, SeenRecord>,
    unions: BTreeMap<String, (usize, Union)>,
}

impl Build<'_> {
    fn slot(&mut self, seen: &Seen) -> Slot {
        let mut kinds: Vec<(u64, Kind)> = Vec::new();
        if seen.free.2 > 0 {
            kinds.push((seen.free.2, Kind::Any { bytes: seen.free.0, allocations: seen.free.1 }));
        }
        if seen.bools > 0 {
            kinds.push((seen.bools, Kind::Bool { trues: seen.trues }));
        }
        let (min, max) = (seen.ints.iter().min(), seen.ints.iter().max());
        if seen.floats > 0 {
            kinds.push((seen.floats + seen.ints.len() as u64, Kind::Float));
        } else if let (Some(&min), Some(&max)) = (min, max) {
            kinds.push((seen.ints.len() as u64, Kind::Integer { min, max }));
        }
        if !seen.texts.is_empty() {
            kinds.push((seen.texts.len() as u64, Kind::Text(text(&seen.texts))));
        }
        if seen.lengths.count > 0 {
            let element = seen.element.as_ref().map(|element| self.slot(element)).unwrap_or_default();
            kinds.push((seen.lengths.count, Kind::Seq(Box::new(Seq { lengths: seen.lengths.clone(), element }))));
        }
        if seen.map.count > 0 {
            let value = seen.value.as_ref().map(|value| self.slot(value)).unwrap_or_default();
            let map = Map { lengths: seen.map.clone(), key: text(&seen.map_keys), value };
            kinds.push((seen.map.count, Kind::Map(Box::new(map))));
        }
        if let Some((name, tag)) = &seen.union {
            let next = self.unions.len();
            let prefix = format!("{name}/");
            let variants = self.ids.iter().filter_map(|(record, &id)| Some((record.strip_prefix(&prefix)?.to_owned(), id)));
            let mut variants: Vec<(String, usize)> = variants.collect();
            variants.sort_by_key(|(tag, _)| std::cmp::Reverse(self.records[&format!("{prefix}{tag}")].instances));
            let union = Union { name: names::camel(name), tag: tag.clone(), variants };
            let id = self.unions.entry(name.clone()).or_insert((next, union)).0;
            kinds.push((seen.records.values().map(|(count, _)| count).sum(), Kind::Union { id }));
        } else {
            for (name, &(count, empty)) in &seen.records {
                kinds.push((count, Kind::Record { id: self.ids[name], empty }));
            }
        }
        let kind = match kinds.len() {
            0 => Kind::Never,
            1 => kinds.remove(0).1,
            _ => Kind::Mixed {
                alternatives: kinds.into_iter().map(|(count, kind)| Slot { count, nulls: 0, kind }).collect(),
            },
        };
        Slot { count: seen.count, nulls: seen.nulls, kind }
    }
}

fn text(texts: &[String]) -> Text {
    let lengths = || texts.iter().map(|text| text.len() as u64);
    Text {
        count: texts.len() as u64,
        empty: lengths().filter(|&length| length == 0).count() as u64,
        bytes: lengths().sum(),
        min: lengths().min().unwrap_or(0),
        max: lengths().max().unwrap_or(0),
        distinct: texts.iter().collect::<BTreeSet<_>>().len() as u64,
        long: lengths().filter(|&length| length >= 255).count() as u64,
    }
}

/// What a value owns on the heap: exact but for maps of more than 11 entries, whose B-tree has some nodes half full.
fn owned(value: &Value) -> (u64, u64) {
    let mut own = match value {
        Value::String(text) if !text.is_empty() => (text.len() as u64, 1),
        Value::Array(values) if !values.is_empty() => (values.len().next_power_of_two().max(4) as u64 * 32, 1),
        Value::Object(object) if !object.is_empty() => {
            let keys = object.keys().filter(|key| !key.is_empty());
            let leaves = if object.len() <= 11 { 1 } else { (object.len() as u64).div_ceil(7) };
            let inner = if leaves == 1 { 0 } else { leaves.div_ceil(7) };
            (keys.clone().map(|key| key.len() as u64).sum::<u64>() + leaves * 632 + inner * 728, keys.count() as u64 + leaves + inner)
        }
        _ => (0, 0),
    };
    let mut add = |value| {
        let (bytes, allocations) = owned(value);
        own.0 += bytes;
        own.1 += allocations;
    };
    match value {
        Value::Array(values) => values.iter().for_each(&mut add),
        Value::Object(object) => object.values().for_each(&mut add),
        _ => {}
    }
    own
}

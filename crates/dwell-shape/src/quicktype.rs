//! The types that quicktype writes for the same data: a baseline that is not optimised for memory.
//!
//! The rules are those of quicktype 23 for Rust, from its sources:
//!
//! - All objects of one position are one struct, whatever their tags are.
//! - A key that may be missing or `null` is an `Option`.
//! - An array is a `Vec` of one type.
//! - A number is an `i64`, or an `f64` if one has a fraction.
//! - Values of several JSON types are an untagged enum.
//! - Strings are a closed enum if there are at least ten, and fewer distinct ones than the square root of their number.
//! - Only recursive types are boxed.
//!
//! The schema decides which objects are maps and which positions share a type. quicktype uses other heuristics for
//! both.

use super::model::{Choices, Heap, Model};
use super::positions::Positions;
use super::schema::{
    Field, Keywords, Kind, Lengths, Map, Record, RecordId, Schema, Seq, Slot, Tagging, Text, Union, UnionId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the memory of the documents in quicktype's types.
pub fn heap(of: &Schema) -> Heap {
    let schema = schema(of);
    let positions = Positions::new(&schema);
    let choices = Choices::naive(&positions);
    Model::new(&positions, &choices).total()
}

/// Returns the schema of quicktype's types.
pub fn schema(of: &Schema) -> Schema {
    let mut merge = Merge {
        of,
        records: Vec::new(),
        parents: (0..of.records.len()).collect(),
        pending: Vec::new(),
        keywords: Vec::new(),
        units: BTreeSet::new(),
    };
    let records: Vec<Record> = of.records.iter().map(|record| merge.record(record)).collect();
    merge.records = records;
    for union in &of.unions {
        if union.form == Tagging::External {
            let records: Vec<RecordId> = contents(of, union).collect();
            merge.pending.extend(records[1..].iter().map(|&record| (records[0], record)));
            continue;
        }
        let instances = |id: RecordId| of.records[id].instances;
        let words: BTreeMap<String, u64> =
            union.tagged().iter().map(|(tag, id)| (tag.clone(), instances(*id))).collect();
        if let Some(id) = union.without_tag() {
            merge.pending.push((union.variants[0].1, id));
        }
        for (tag, id) in union.tagged() {
            let (count, length) = (instances(*id), tag.len() as u64);
            let empty = if length == 0 { count } else { 0 };
            let long = if length >= 255 { count } else { 0 };
            let words = BTreeMap::from([(tag.clone(), words[tag])]);
            let text = Text {
                count,
                empty,
                bytes: count * length,
                min: length,
                max: length,
                distinct: 1,
                long,
                words,
                format: None,
            };
            let slot = Slot { count, kind: Kind::Text(text), ..Slot::default() };
            merge.records[*id].fields.push(Field { key: union.tag.clone(), slot, rest: false });
            merge.pending.push((union.variants[0].1, *id));
        }
    }
    let mut root = merge.slot(&of.root);
    while let Some((left, right)) = merge.pending.pop() {
        merge.join(left, right);
    }
    let mut records = std::mem::take(&mut merge.records);
    for record in &mut records {
        let instances = record.instances;
        for field in &mut record.fields {
            if field.slot.count < instances {
                // One `None` represents both `null` and a missing key.
                field.slot.count -= field.slot.nulls;
                field.slot.nulls = 0;
            }
            merge.resolve(&mut field.slot.kind);
        }
        record.key_sets.clear();
    }
    merge.resolve(&mut root.kind);
    Schema {
        documents: of.documents,
        bytes: of.bytes,
        root,
        records,
        keywords: merge.keywords,
        strict: true,
        plain: true,
        ..Schema::default()
    }
}

struct Merge<'s> {
    of: &'s Schema,
    records: Vec<Record>,
    /// The parent of each record in a union-find forest of merged records.
    parents: Vec<RecordId>,
    /// Pairs of records to merge.
    pending: Vec<(RecordId, RecordId)>,
    keywords: Vec<Keywords>,
    /// The externally tagged unions whose strings were counted.
    units: BTreeSet<UnionId>,
}

/// Returns the records of the variants of an externally tagged union that are objects.
fn contents<'s>(of: &'s Schema, union: &'s Union) -> impl Iterator<Item = RecordId> {
    union.variants.iter().map(|&(_, record)| record).filter(|&record| !of.records[record].fields.is_empty())
}

impl Merge<'_> {
    fn record(&mut self, record: &Record) -> Record {
        let field = |field: &Field| Field { slot: self.slot(&field.slot), ..field.clone() };
        let fields = record.fields.iter().map(field).collect();
        Record {
            name: record.name.clone(),
            paths: record.paths.clone(),
            instances: record.instances,
            fields,
            key_sets: Vec::new(),
            is_variant: false,
        }
    }

    /// Returns the type of an externally tagged union: a record with a key for each variant, or a string.
    fn external(&mut self, id: UnionId) -> Kind {
        let union = &self.of.unions[id];
        let instances = |record: RecordId| self.of.records[record].instances;
        let (count, record) = contents(self.of, union)
            .fold((0, None), |(count, first), record| (count + instances(record), first.or(Some(record))));
        let object = Kind::Record { id: record.unwrap_or(union.variants[0].1), empty: 0 };
        let mut text = Text::default();
        for (word, record) in union.variants.iter().filter(|(_, record)| self.of.records[*record].fields.is_empty()) {
            let (count, length) = (instances(*record), word.len() as u64);
            text.min = if text.count == 0 { length } else { text.min.min(length) };
            text.max = text.max.max(length);
            text.count += count;
            text.bytes += count * length;
            text.distinct += 1;
        }
        if text.count == 0 {
            return object;
        }
        // Only the first position has the counts of the strings.
        if !self.units.insert(id) {
            text = Text::default();
        }
        let slot = |count, kind| Slot { count, kind, ..Slot::default() };
        Kind::Mixed { alternatives: vec![slot(text.count, Kind::Text(text)), slot(count, object)] }
    }

    fn slot(&mut self, slot: &Slot) -> Slot {
        Slot { kind: self.kind(&slot.kind), open: None, ..*slot }
    }

    fn kind(&mut self, kind: &Kind) -> Kind {
        match kind {
            Kind::Keyword { text, .. } => Kind::Text(text.clone()),
            Kind::Union { id } if self.of.unions[*id].form == Tagging::External => self.external(*id),
            Kind::Union { id } => Kind::Record { id: self.of.unions[*id].variants[0].1, empty: 0 },
            Kind::Map(map) => Kind::Map(Box::new(Map {
                lengths: map.lengths.clone(),
                key: map.key.clone(),
                value: self.slot(&map.value),
            })),
            Kind::Seq(seq) => {
                Kind::Seq(Box::new(Seq { lengths: seq.lengths.clone(), element: self.slot(&seq.element) }))
            }
            Kind::Tuple { positions } => {
                let mut lengths = Lengths::default();
                lengths.add_many(positions.len() as u64, positions.first().map_or(0, |position| position.count));
                let mut element = Slot::default();
                for position in positions {
                    let position = self.slot(position);
                    self.add(&mut element, position);
                }
                Kind::Seq(Box::new(Seq { lengths, element }))
            }
            Kind::Mixed { alternatives } => {
                Kind::Mixed { alternatives: alternatives.iter().map(|slot| self.slot(slot)).collect() }
            }
            other => other.clone(),
        }
    }

    fn find(&self, mut id: RecordId) -> RecordId {
        while self.parents[id] != id {
            id = self.parents[id];
        }
        id
    }

    fn join(&mut self, left: RecordId, right: RecordId) {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return;
        }
        self.parents[right] = left;
        let from = std::mem::take(&mut self.records[right]);
        let mut into = std::mem::take(&mut self.records[left]);
        into.instances += from.instances;
        for field in from.fields {
            match into.fields.iter_mut().find(|known| known.key == field.key && known.rest == field.rest) {
                Some(known) => self.add(&mut known.slot, field.slot),
                None => into.fields.push(field),
            }
        }
        self.records[left] = into;
        self.records[right].name = format!("Merged{right}");
    }

    /// Adds the values of another slot, with one alternative for each JSON type.
    fn add(&mut self, into: &mut Slot, from: Slot) {
        let parts = |slot: Slot| match slot.kind {
            Kind::Mixed { alternatives } => alternatives,
            Kind::Never => Vec::new(),
            kind => vec![Slot { count: slot.count - slot.nulls, kind, ..Slot::default() }],
        };
        let (count, nulls) = (into.count + from.count, into.nulls + from.nulls);
        let mut alternatives = parts(std::mem::take(into));
        for part in parts(from) {
            match alternatives.iter_mut().find(|known| order(&known.kind) == order(&part.kind)) {
                Some(known) => {
                    known.count += part.count;
                    known.kind = self.both(std::mem::take(&mut known.kind), part.kind);
                }
                None => alternatives.push(part),
            }
        }
        alternatives.sort_by_key(|slot| order(&slot.kind));
        let kind = match alternatives.len() {
            0 => Kind::Never,
            1 => alternatives.remove(0).kind,
            _ => Kind::Mixed { alternatives },
        };
        *into = Slot { count, nulls, kind, open: None };
    }

    /// Merges two kinds with the same [`order`].
    fn both(&mut self, left: Kind, right: Kind) -> Kind {
        match (left, right) {
            (Kind::Bool { trues }, Kind::Bool { trues: more }) => Kind::Bool { trues: trues + more },
            (Kind::Integer { min, max }, Kind::Integer { min: low, max: high }) => {
                Kind::Integer { min: min.min(low), max: max.max(high) }
            }
            (Kind::Float { whole, huge, wide }, Kind::Float { whole: more, huge: larger, wide: wider }) => {
                Kind::Float { whole: whole + more, huge: huge + larger, wide: wide || wider }
            }
            (float @ Kind::Float { .. }, _) | (_, float @ Kind::Float { .. }) => float,
            (Kind::Text(mut left), Kind::Text(right)) => {
                left.merge(right);
                Kind::Text(left)
            }
            (Kind::Seq(mut left), Kind::Seq(right)) => {
                left.lengths.merge(&right.lengths);
                self.add(&mut left.element, right.element);
                Kind::Seq(left)
            }
            (Kind::Map(mut left), Kind::Map(right)) => {
                left.lengths.merge(&right.lengths);
                left.key.merge(right.key);
                self.add(&mut left.value, right.value);
                Kind::Map(left)
            }
            (Kind::Record { id, empty }, Kind::Record { id: other, empty: more }) => {
                self.pending.push((id, other));
                Kind::Record { id, empty: empty + more }
            }
            (Kind::Any(mut left), Kind::Any(right)) => {
                left.merge(&right);
                Kind::Any(left)
            }
            (left, _) => left,
        }
    }

    /// Replaces merged records by their representatives, and makes enums of strings.
    fn resolve(&mut self, kind: &mut Kind) {
        match kind {
            Kind::Record { id, .. } => *id = self.find(*id),
            Kind::Seq(seq) => self.resolve(&mut seq.element.kind),
            Kind::Map(map) => self.resolve(&mut map.value.kind),
            Kind::Mixed { alternatives } => alternatives.iter_mut().for_each(|slot| self.resolve(&mut slot.kind)),
            Kind::Text(text) if is_enum(text) => {
                let id = self.keywords.len();
                let name = format!("Enum{id}");
                self.keywords.push(Keywords { name, path: "$".into(), values: text.words.clone() });
                *kind = Kind::Keyword { id, text: std::mem::take(text) };
            }
            _ => {}
        }
    }
}

/// Returns whether quicktype makes an enum of these strings.
fn is_enum(text: &Text) -> bool {
    let is_number = |word: &String| word.parse::<f64>().is_ok();
    let (words, count) = (text.words.len() as u64, text.count);
    count >= 10
        && words > 0
        && words * words < count
        && text.format.is_none()
        && !text.words.keys().all(is_number)
        && !(words == 1 && text.words.contains_key(""))
}

/// Returns the rank of a JSON type in the order in which an untagged enum tries them.
fn order(kind: &Kind) -> u8 {
    match kind {
        Kind::Never => 0,
        Kind::Bool { .. } => 1,
        Kind::Integer { .. } | Kind::Float { .. } => 2,
        Kind::Text(_) | Kind::Keyword { .. } => 3,
        Kind::Seq(_) | Kind::Tuple { .. } => 4,
        Kind::Record { .. } | Kind::Union { .. } => 5,
        Kind::Map(_) => 6,
        Kind::Mixed { .. } => 7,
        Kind::Any(_) => 8,
    }
}

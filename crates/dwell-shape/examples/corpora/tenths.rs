//! How the types of a corpus change if a tenth of its texts is left out.
//!
//! A type that only the texts left out have cannot be inferred without them. So the number of types without a tenth is
//! compared with the number of those types of the whole corpus that have a value in the other nine tenths.

use anyhow::{Result, ensure};
use dwell_output::units::count;
use dwell_shape::decisions;
use dwell_shape::held_out;
use dwell_shape::input;
use dwell_shape::overrides::{self, Override};
use dwell_shape::schema::{Kind, RecordId, Schema, Slot, Tagging};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The head of the table.
pub(crate) const HEAD: &str = "| corpus | texts | types | without each tenth: types / types of the whole with values there | largest change \
     | of all types | with the decisions of the whole |\n|---|--:|--:|---|--:|--:|--:|";

/// Counts the types of a corpus, and those without each tenth of its texts.
pub(crate) fn row(name: &str, files: &[PathBuf], given: &[Override]) -> Result<String> {
    let texts = input::texts(&input::find(files), held_out::MOST);
    ensure!(texts.len() >= 10, "fewer than ten texts");
    let schema = |left_out: Option<usize>, overrides: &[Override]| -> Result<Schema> {
        let folder = tempfile::tempdir()?;
        for (index, text) in texts.iter().enumerate().filter(|(index, _)| left_out != Some(index % 10)) {
            std::fs::write(folder.path().join(format!("{index:08}.json")), text)?;
        }
        let found = input::find(&[folder.path().to_owned()]);
        let options = input::Options { keep_going: true, overrides: overrides.to_vec(), ..Default::default() };
        let mut schema = input::read(&found, &options, &|_| {}).accumulator.finish();
        // What only the texts left out have is not there.
        overrides::apply(overrides, &mut schema);
        if left_out.is_none() {
            let doubts = input::doubts(&schema, &found, overrides);
            let list: Vec<String> = doubts.iter().map(|(is, other)| format!("{is} (or {other})")).collect();
            eprintln!("{name}: {} in doubt: {}", doubts.len(), list.join(", "));
        }
        Ok(schema)
    };
    let whole = schema(None, given)?;
    let all = count_of(&whole);
    let seen: Vec<BTreeSet<Type>> = (0..10)
        .map(|tenth| {
            let mut seen = Seen { schema: &whole, types: BTreeSet::new() };
            for text in texts.iter().enumerate().filter(|(index, _)| index % 10 == tenth).map(|(_, text)| text) {
                seen.slot(&whole.root, &serde_json::from_str(text)?);
            }
            Ok(seen.types)
        })
        .collect::<Result<_>>()?;
    let decisions = decisions::list(&whole);
    let decisions = decisions.lines().filter(|line| !line.starts_with('#')).map(str::parse);
    let decisions = decisions.chain(given.iter().cloned().map(Ok)).collect::<Result<Vec<Override>>>()?;
    let (mut list, mut change, mut of_all, mut kept) = (Vec::new(), 0.0f64, 0.0f64, 0.0f64);
    for tenth in 0..10 {
        let found = count_of(&schema(Some(tenth), given)?);
        let left = (0..10).filter(|other| *other != tenth).flat_map(|other| &seen[other]);
        let known = known(&whole, &left.copied().collect());
        let share = |known: usize| found.abs_diff(known) as f64 / known.max(1) as f64;
        change = change.max(share(known));
        of_all = of_all.max(share(all));
        let with = count_of(&schema(Some(tenth), &decisions)?);
        kept = kept.max(with.abs_diff(known) as f64 / known.max(1) as f64);
        list.push(format!("{found}/{known}"));
    }
    let texts = count(texts.len() as u64);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let list = list.join(" ");
    Ok(format!(
        "| `{name}` | {texts} | {} | {list} | {} | {} | {} |",
        all,
        percent(change),
        percent(of_all),
        percent(kept)
    ))
}

/// Returns how many types can be inferred of these. A union of which one kind is left is a struct.
fn known(schema: &Schema, seen: &BTreeSet<Type>) -> usize {
    let is_gone = |record: &RecordId| !seen.contains(&Type::Record(*record)) && !seen.contains(&Type::Variant(*record));
    let single = schema.unions.iter().enumerate().filter(|(id, union)| {
        let kinds = union.tagged();
        seen.contains(&Type::Union(*id))
            && kinds.len() > 1
            && kinds.iter().filter(|(_, record)| !is_gone(record)).count() < 2
    });
    let structs = single
        .map(|(_, union)| union.variants.iter().filter(|(_, record)| seen.contains(&Type::Record(*record))).count());
    seen.iter().filter(|of| !matches!(of, Type::Variant(_))).count() - structs.sum::<usize>()
}

/// A type that the source declares: a struct, an enum of objects, an enum of strings; the fields of a variant are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Record(usize),
    Variant(usize),
    Union(usize),
    Keywords(usize),
}

/// The types that some texts have values of.
struct Seen<'a> {
    schema: &'a Schema,
    types: BTreeSet<Type>,
}

impl Seen<'_> {
    fn slot(&mut self, slot: &Slot, value: &Value) {
        match (&slot.kind, value) {
            (Kind::Keyword { id, .. }, Value::String(_)) => {
                self.types.insert(Type::Keywords(*id));
            }
            (Kind::Record { id, .. }, Value::Object(object)) => self.record(*id, object),
            (Kind::Union { id }, value) => self.union(*id, value),
            (Kind::Map(map), Value::Object(object)) => {
                object.values().for_each(|value| self.slot(&map.value, value));
            }
            (Kind::Seq(seq), Value::Array(array)) => array.iter().for_each(|value| self.slot(&seq.element, value)),
            (Kind::Tuple { positions }, Value::Array(array)) => {
                positions.iter().zip(array).for_each(|(position, value)| self.slot(position, value));
            }
            // The alternatives are of different JSON types.
            (Kind::Mixed { alternatives }, value) => alternatives.iter().for_each(|slot| self.slot(slot, value)),
            _ => {}
        }
    }

    fn record(&mut self, id: RecordId, object: &Map<String, Value>) {
        let record = &self.schema.records[id];
        self.types.insert(if record.is_variant { Type::Variant(id) } else { Type::Record(id) });
        let rest = record.fields.iter().find(|field| field.rest);
        for (key, value) in object {
            match (
                record.fields.iter().find(|field| field.key == *key && !field.rest),
                rest.map(|rest| &rest.slot.kind),
            ) {
                (Some(field), _) => self.slot(&field.slot, value),
                (None, Some(Kind::Map(map))) => self.slot(&map.value, value),
                _ => {}
            }
        }
    }

    fn union(&mut self, id: usize, value: &Value) {
        self.types.insert(Type::Union(id));
        let (union, Value::Object(object)) = (&self.schema.unions[id], value) else { return };
        let is = |value: &str| match union.form {
            Tagging::External => object.keys().next().is_some_and(|key| key == value),
            _ => union.is_of(value, object),
        };
        let variant = union.tagged().iter().find(|(value, _)| is(value));
        if let Some(record) = variant.map(|&(_, record)| record).or(union.without_tag()) {
            self.record(record, object);
        }
    }
}

/// Returns the number of types that the source declares.
fn count_of(schema: &Schema) -> usize {
    let records = schema.records.iter().filter(|record| !record.is_variant).count();
    records + schema.unions.len() + schema.keywords.len()
}

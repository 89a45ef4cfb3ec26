//! The memory of the documents as `serde_json::Value`: the baseline for a program without types.

use super::model::Heap;
use super::schema::{Free, Kind, Lengths, RecordId, Schema, Slot, Tagging};
use std::collections::{BTreeMap, BTreeSet};

/// The size of a `Value` in bytes.
const VALUE: u64 = 32;

/// Returns the memory of all documents as values in one vector without spare capacity, and whether it is exact.
pub fn heap(schema: &Schema) -> (Heap, bool) {
    let free = free(schema);
    let (bytes, allocations) = free.owned();
    let vector = Heap { bytes: VALUE * schema.documents, allocations: u64::from(schema.documents > 0) };
    (Heap { bytes: bytes + vector.bytes, allocations: allocations + vector.allocations }, free.is_exact())
}

/// Returns the sums over all documents, as if the schema had no types.
fn free(schema: &Schema) -> Free {
    let mut free = Free { count: schema.documents, ..Free::default() };
    let mut tags: BTreeMap<RecordId, (u64, u64)> = BTreeMap::new();
    // The records of variants that are strings.
    let mut units = BTreeSet::new();
    for union in &schema.unions {
        if union.form == Tagging::External {
            for (tag, record) in union.variants.iter().filter(|(_, record)| schema.records[*record].fields.is_empty()) {
                free.texts += schema.records[*record].instances;
                free.text_bytes += schema.records[*record].instances * tag.len() as u64;
                units.insert(*record);
            }
            continue;
        }
        for (tag, record) in union.tagged().iter().filter(|_| union.form != Tagging::Untagged) {
            tags.insert(*record, (union.tag.len() as u64, tag.len() as u64));
        }
    }
    slot(&schema.root, &mut free);
    for (id, record) in schema.records.iter().enumerate().filter(|(id, _)| !units.contains(id)) {
        let tag = tags.get(&id).copied();
        if let Some((key, text)) = tag {
            free.key_bytes += record.instances * key;
            free.text_bytes += record.instances * text;
            free.texts += if text > 0 { record.instances } else { 0 };
        }
        let more = u64::from(tag.is_some());
        for field in &record.fields {
            slot(&field.slot, &mut free);
            if !field.rest {
                free.key_bytes += field.slot.count * field.key.len() as u64;
            }
        }
        // serde_json keeps these entries in the object itself, so their map does not count.
        let rest: Option<&Lengths> = record
            .fields
            .iter()
            .filter(|field| field.rest)
            .find_map(|field| if let Kind::Map(map) = &field.slot.kind { Some(&map.lengths) } else { None });
        if let Some(rest) = rest {
            free.objects.unmerge(rest);
            free.estimated = true;
        }
        let extra = rest.map_or(0, |rest| rest.total);
        if record.key_sets.is_empty() || extra > 0 {
            let keys: u64 = record.fields.iter().filter(|field| !field.rest).map(|field| field.slot.count).sum();
            spread(record.instances, keys + extra + more * record.instances, &mut free.objects);
            free.estimated |= record.fields.iter().any(|field| field.slot.count != record.instances);
        } else {
            for (set, count) in &record.key_sets {
                free.objects.add_many(set.len() as u64 + more, *count);
            }
        }
    }
    free
}

/// Adds `count` objects with `keys` keys in all, spread as evenly as possible.
fn spread(count: u64, keys: u64, objects: &mut Lengths) {
    if count > 0 {
        let longer = keys % count;
        objects.add_many(keys / count + 1, longer);
        objects.add_many(keys / count, count - longer);
    }
}

fn slot(place: &Slot, free: &mut Free) {
    match &place.kind {
        Kind::Text(text) | Kind::Keyword { text, .. } => {
            free.texts += text.count - text.empty;
            free.text_bytes += text.bytes;
        }
        Kind::Map(map) => {
            free.objects.merge(&map.lengths);
            free.key_bytes += map.key.bytes;
            slot(&map.value, free);
        }
        Kind::Seq(seq) => {
            free.arrays.merge(&seq.lengths);
            slot(&seq.element, free);
        }
        Kind::Tuple { positions } => {
            free.arrays.add_many(positions.len() as u64, positions.first().map_or(0, |position| position.count));
            for position in positions {
                slot(position, free);
            }
        }
        Kind::Mixed { alternatives } => {
            for alternative in alternatives {
                slot(alternative, free);
            }
        }
        Kind::Any(any) => {
            let count = free.count;
            free.merge(any);
            free.count = count;
        }
        // The function `free` counts each record once; the other kinds own no memory.
        Kind::Record { .. }
        | Kind::Union { .. }
        | Kind::Never
        | Kind::Bool { .. }
        | Kind::Integer { .. }
        | Kind::Float { .. } => {}
    }
}

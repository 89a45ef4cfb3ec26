//! What the objects at each path are.

use super::schema::{Kind, Schema, Slot, Tagging};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// What the objects at a path are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Is {
    /// A record; the path of the first position of its type.
    Struct(String),
    /// The keys are data.
    Map,
    /// A union with this tag.
    Tag(String),
    /// A union without one.
    Untagged,
    /// Values without a type.
    Value,
    /// Objects with one key each.
    External,
}

/// Returns what the objects at each path are, and how many.
pub fn positions(schema: &Schema) -> BTreeMap<String, (Is, u64)> {
    let mut found = BTreeMap::new();
    let mut first = HashMap::new();
    let mut seen = HashSet::new();
    let mut open: VecDeque<(&Slot, String)> = VecDeque::from([(&schema.root, "$".to_owned())]);
    while let Some((slot, path)) = open.pop_front() {
        let mut add = |is: Is| {
            found.entry(path.clone()).or_insert((is, slot.count));
        };
        let mut records = Vec::new();
        match &slot.kind {
            Kind::Record { id, .. } => {
                let fields = &schema.records[*id].fields;
                let is_map = !fields.is_empty() && fields.iter().all(|field| field.rest);
                let first = first.entry(*id).or_insert_with(|| path.clone()).clone();
                add(if is_map { Is::Map } else { Is::Struct(first) });
                records.push(*id);
            }
            Kind::Union { id } => {
                let of = &schema.unions[*id];
                add(match of.form {
                    Tagging::Untagged => Is::Untagged,
                    Tagging::External => Is::External,
                    _ => Is::Tag(of.tag.clone()),
                });
                records.extend(of.variants.iter().map(|(_, record)| *record));
            }
            Kind::Map(map) => {
                add(Is::Map);
                open.push_back((&map.value, format!("{path}.*")));
            }
            Kind::Seq(seq) => open.push_back((&seq.element, format!("{path}[]"))),
            Kind::Tuple { positions } => open.extend(positions.iter().map(|slot| (slot, format!("{path}[]")))),
            Kind::Mixed { alternatives } => open.extend(alternatives.iter().map(|slot| (slot, path.clone()))),
            Kind::Any(free) if free.objects.count > 0 => add(Is::Value),
            _ => {}
        }
        for record in records.into_iter().filter(|record| seen.insert(*record)) {
            let mut fields: Vec<_> = schema.records[record].fields.iter().collect();
            fields.sort_by_key(|field| &field.key);
            for field in fields {
                match &field.slot.kind {
                    Kind::Map(map) if field.rest => open.push_back((&map.value, format!("{path}.*"))),
                    _ => open.push_back((&field.slot, format!("{path}{}", super::names::step(&field.key)))),
                }
            }
        }
    }
    found
}

//! The decisions that lead to the types of a schema, as `--set` gives them.

use super::overrides::{Override, Step, What, at};
use super::schema::{Kind, RecordId, Schema, Slot, Tagging};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// A position of the types: its path, and what it is.
struct Place<'s> {
    path: String,
    slot: &'s Slot,
    /// What `--set` would make of the objects there.
    is: Option<What>,
    /// Whether no place before has this type.
    is_first: bool,
}

/// Returns whether the keys of a record are data.
fn is_map(schema: &Schema, record: RecordId) -> bool {
    let fields = &schema.records[record].fields;
    !fields.is_empty() && fields.iter().all(|field| field.rest)
}

/// Returns all places, outer ones first; those inside of a type once.
fn places(schema: &Schema) -> Vec<Place<'_>> {
    let mut found = Vec::new();
    let (mut seen, mut unions) = (HashSet::new(), HashSet::new());
    let mut open: VecDeque<(&Slot, String)> = VecDeque::from([(&schema.root, "$".to_owned())]);
    while let Some((slot, path)) = open.pop_front() {
        let (mut records, mut is, mut is_first) = (Vec::new(), None, true);
        match &slot.kind {
            Kind::Record { id, .. } => {
                is = Some(if is_map(schema, *id) { What::Map } else { What::Struct });
                is_first = !seen.contains(id);
                records.push(*id);
            }
            Kind::Union { id } => {
                let union = &schema.unions[*id];
                is = match union.form {
                    // Nothing of `--set` makes such a union.
                    Tagging::External => None,
                    Tagging::Untagged => Some(What::Untagged),
                    _ => Some(What::Tag(union.tag.clone())),
                };
                is_first = unions.insert(*id);
                records.extend(union.variants.iter().map(|(_, record)| *record));
            }
            Kind::Map(map) => {
                is = Some(What::Map);
                open.push_back((&map.value, format!("{path}.*")));
            }
            Kind::Seq(seq) => open.push_back((&seq.element, format!("{path}[]"))),
            Kind::Tuple { positions } => open.extend(positions.iter().map(|slot| (slot, format!("{path}[]")))),
            Kind::Mixed { alternatives } => open.extend(alternatives.iter().map(|slot| (slot, path.clone()))),
            Kind::Any(free) if free.objects.count > 0 => is = Some(What::Value),
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
        found.push(Place { path, slot, is, is_first });
    }
    found
}

/// Returns what the objects of each type are, by its first path, and how many; those of maps by each path.
pub fn positions(schema: &Schema) -> BTreeMap<String, (What, u64)> {
    let mut found = BTreeMap::new();
    for place in places(schema).into_iter().filter(|place| place.is_first) {
        if let Some(is) = place.is {
            found.entry(place.path).or_insert((is, place.slot.count));
        }
    }
    found
}

/// Returns the decisions that lead to the types of a schema, one a line.
pub fn list(schema: &Schema) -> String {
    // A path may have several types: in the variants of a union, or beside each other.
    let mut by_path = BTreeMap::<String, (usize, Vec<What>)>::new();
    for (order, place) in places(schema).into_iter().enumerate() {
        let known = &mut by_path.entry(place.path.clone()).or_insert((order, Vec::new())).1;
        known.extend(place.is);
        match &place.slot.kind {
            // A record that is a map has no name of its own.
            Kind::Record { id, .. } if !is_map(schema, *id) && (*id > 0 || place.path != "$") => {
                known.push(What::Name(schema.records[*id].name.clone()));
            }
            Kind::Union { id } => known.push(What::Name(schema.unions[*id].name.clone())),
            Kind::Keyword { id, .. } => {
                known.extend([What::Enum, What::Name(schema.keywords[*id].name.clone())]);
            }
            _ => {}
        }
    }
    let mut all: Vec<(usize, Override)> = Vec::new();
    for (path, (order, mut what)) in by_path {
        what.sort();
        what.dedup();
        let is_name = |what: &&What| matches!(what, What::Name(_));
        let is_shape = |what: &&What| !matches!(what, What::Name(_) | What::Enum);
        let several = [what.iter().filter(is_name).count() > 1, what.iter().filter(is_shape).count() > 1];
        what.retain(|one| !(several[0] && is_name(&one) || several[1] && is_shape(&one)));
        // A path beyond what a decision can name stays as it is inferred.
        all.extend(what.into_iter().filter_map(|what| Some((order, format!("{path}={what}").parse().ok()?))));
    }
    all.sort_by_key(|(order, _)| *order);
    let mut schema = schema.clone();
    all.retain(|(_, one)| !one.steps.contains(&Step::Any) || is_exact(&mut schema, one));
    let head =
        "# The decisions of `cargo dwell shape`. Edit them, and pass the file to --set @FILE again.\n".to_owned();
    all.iter().fold(head, |lines, (_, one)| lines + &format!("{}={}\n", one.path, one.what))
}

/// Returns whether a decision is true of all places that it would change: `.*` also stands for the keys of fields.
fn is_exact(schema: &mut Schema, one: &Override) -> bool {
    let mut kinds = Vec::new();
    at(schema, &one.steps, &mut |slot| slot.walk_alternatives(&mut |kind| kinds.push(kind.clone())));
    kinds.iter().all(|kind| match (kind, &one.what) {
        (Kind::Record { id, .. }, What::Name(name)) => schema.records[*id].name == *name,
        (Kind::Union { id }, What::Name(name)) => schema.unions[*id].name == *name,
        (Kind::Keyword { id, .. }, What::Name(name)) => schema.keywords[*id].name == *name,
        (Kind::Record { id, .. }, what) => is_map(schema, *id) == (*what == What::Map) && *what != What::Value,
        (Kind::Union { .. }, what) => matches!(what, What::Tag(_) | What::Untagged | What::Enum),
        (Kind::Map(_), what) => matches!(what, What::Map | What::Enum),
        (_, What::Value) => matches!(kind, Kind::Any(_)),
        _ => true,
    })
}

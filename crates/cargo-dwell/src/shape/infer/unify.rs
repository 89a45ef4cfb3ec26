//! Finds the records that are one type: of the same name with common keys, or with the same keys and types.

use super::arena::{After, Arena, NodeId, ObjectId, Shape};
use super::decide;
use super::names;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Rounds of merging; each can only make the graph smaller, and few are needed.
const ROUNDS: usize = 16;

/// An object and the name of the place where it was first met.
struct Met {
    object: ObjectId,
    name: String,
}

/// Merges records that are one type, until none is left.
pub(super) fn unify(arena: &mut Arena) {
    for _ in 0..ROUNDS {
        if !by_name(arena) && !by_form(arena) {
            return;
        }
        decide::settle(arena);
    }
}

/// The records and unions in breadth-first order; a union's variants are not met by themselves.
fn meet(arena: &Arena) -> Vec<Met> {
    let mut seen = HashSet::new();
    let mut met = Vec::new();
    let mut queue: VecDeque<(NodeId, String)> = VecDeque::from([(arena.root, String::new())]);
    while let Some((node, name)) = queue.pop_front() {
        if let Some(array) = &arena.node(node).array {
            let name = names::singular(&name);
            queue.extend(array.places.iter().map(|&place| (place, name.clone())));
            queue.push_back((array.element, name));
        }
        let Some(object) = arena.object_of(node).filter(|&object| seen.insert(object)) else { continue };
        match &arena.object(object).shape {
            Shape::Map { value, .. } => {
                queue.push_back((*value, names::singular(&name)));
                continue;
            }
            Shape::Record(fields) => queue.extend(fields.list.iter().map(|field| (field.node, field.key.to_string()))),
            Shape::Union(tagged) => {
                for variant in &tagged.variants {
                    if let Some(fields) = arena.fields(arena.find(variant.object)) {
                        queue.extend(fields.list.iter().map(|field| (field.node, field.key.to_string())));
                    }
                }
            }
        }
        met.push(Met { object, name });
    }
    met
}

fn by_name(arena: &mut Arena) -> bool {
    let mut groups = BTreeMap::<String, Vec<ObjectId>>::new();
    for Met { object, name } in meet(arena) {
        groups.entry(name).or_default().push(object);
    }
    let mut changed = false;
    for mut group in groups.into_values() {
        // The fullest first: the others are parts of it.
        group.sort_by_key(|&object| std::cmp::Reverse(keys(arena, object)));
        let mut kept: Vec<ObjectId> = Vec::new();
        for object in group {
            let object = arena.find(object);
            match kept.iter().find(|&&other| is_part(arena, object, other)) {
                Some(&other) if arena.find(other) == object => {}
                Some(&other) => {
                    arena.absorb_object(other, object, After::Take);
                    changed = true;
                }
                None => kept.push(object),
            }
        }
    }
    changed
}

fn keys(arena: &Arena, object: ObjectId) -> usize {
    match &arena.object(object).shape {
        Shape::Record(fields) => fields.list.len(),
        Shape::Union(tagged) => tagged.variants.len(),
        Shape::Map { .. } => 0,
    }
}

/// Whether most of what the smaller has is in the larger.
fn is_part(arena: &Arena, small: ObjectId, large: ObjectId) -> bool {
    let (small, large) = (arena.find(small), arena.find(large));
    match (&arena.object(small).shape, &arena.object(large).shape) {
        (Shape::Record(small), Shape::Record(large)) => {
            let (mut common, mut clash) = (0, 0);
            for field in &small.list {
                if let Some(index) = large.find(field.hash) {
                    common += 1;
                    clash += usize::from(!decide::are_compatible(arena, field.node, large.list[index].node));
                }
            }
            let least = small.list.len().min(large.list.len());
            common * 2 >= least && clash * 5 <= common
        }
        (Shape::Union(small), Shape::Union(large)) => {
            let has = |hash| large.variants.iter().any(|variant| variant.hash == hash);
            let common = small.variants.iter().filter(|variant| has(variant.hash)).count();
            small.hash == large.hash && common * 2 >= small.variants.len().min(large.variants.len())
        }
        _ => false,
    }
}

/// Merges records with the same keys and types, wherever they are.
fn by_form(arena: &mut Arena) -> bool {
    let mut forms = BTreeMap::<Vec<(u64, String)>, ObjectId>::new();
    let mut changed = false;
    for Met { object, .. } in meet(arena) {
        let object = arena.find(object);
        let Some(fields) = arena.fields(object) else { continue };
        let mut form: Vec<(u64, String)> =
            fields.list.iter().map(|field| (field.hash, outline(arena, field.node))).collect();
        form.sort();
        let known = *forms.entry(form).or_insert(object);
        if arena.find(known) != object {
            arena.absorb_object(known, object, After::Take);
            changed = true;
        }
    }
    changed
}

/// The type of a place in short; equal for equal types.
fn outline(arena: &Arena, node: NodeId) -> String {
    let place = arena.node(node);
    let mut text = String::new();
    let marks = [
        (place.bools > 0, 'b'),
        (place.integers > 0 && place.floats == 0, 'i'),
        (place.floats > 0, 'f'),
        (place.text_count() > 0, 's'),
        (place.free.is_some(), '?'),
    ];
    text.extend(marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark));
    if let Some(array) = place.array.as_ref().filter(|array| array.lengths.count > 0) {
        text.push('[');
        array.places.iter().chain([&array.element]).for_each(|&place| text.push_str(&outline(arena, place)));
        text.push(']');
    }
    if let Some(object) = arena.object_of(node) {
        match &arena.object(object).shape {
            Shape::Map { value, .. } => text.push_str(&format!("{{{}}}", outline(arena, *value))),
            _ => text.push_str(&format!("{object:?}")),
        }
    }
    text
}

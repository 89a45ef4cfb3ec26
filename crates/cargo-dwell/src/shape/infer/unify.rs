//! Finds the records that are one type: of the same name with common keys, or with the same keys and types.

use super::arena::{After, Arena, NodeId, ObjectId, Shape};
use super::decide;
use super::names;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt::Write;

/// Rounds of merging; each can only make the graph smaller, and few are needed.
const ROUNDS: usize = 16;

/// An object and where it was first met.
struct Met {
    object: ObjectId,
    name: String,
    /// The union of whose variant this is a field.
    union: Option<ObjectId>,
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

/// The objects in breadth-first order; a union's variants are not met by themselves.
fn meet(arena: &Arena) -> Vec<Met> {
    let mut seen = HashSet::new();
    let mut met = Vec::new();
    let mut queue: VecDeque<(NodeId, String, Option<ObjectId>)> = VecDeque::from([(arena.root, String::new(), None)]);
    while let Some((node, name, union)) = queue.pop_front() {
        if let Some(array) = &arena.node(node).array {
            let name = names::singular(&name);
            queue.extend(array.places.iter().map(|&place| (place, name.clone(), union)));
            queue.push_back((array.element, name, union));
        }
        let Some(object) = arena.object_of(node).filter(|&object| seen.insert(object)) else { continue };
        match &arena.object(object).shape {
            Shape::Map { value, .. } => queue.push_back((*value, names::singular(&name), union)),
            Shape::Record(fields) => {
                queue.extend(fields.list.iter().map(|field| (field.node, field.key.to_string(), None)));
            }
            Shape::Union(tagged) => {
                let variants = tagged.variants.iter().filter_map(|variant| arena.fields(arena.find(variant.object)));
                let fields = variants.flat_map(|fields| &fields.list);
                queue.extend(fields.map(|field| (field.node, field.key.to_string(), Some(object))));
            }
        }
        met.push(Met { object, name, union });
    }
    met
}

fn by_name(arena: &mut Arena) -> bool {
    let mut groups = BTreeMap::<String, Vec<Met>>::new();
    for met in meet(arena) {
        groups.entry(met.name.clone()).or_default().push(met);
    }
    let mut changed = false;
    for mut group in groups.into_values() {
        // The fullest first: the others are parts of it.
        group.sort_by_key(|met| std::cmp::Reverse(keys(arena, met.object)));
        let mut clusters: Vec<Vec<Met>> = Vec::new();
        for met in group {
            if arena.find(met.object) != met.object {
                continue; // Merged with what is around it in the meantime.
            }
            match clusters.iter_mut().find(|cluster| is_part(arena, &met, &cluster[0])) {
                Some(cluster) => cluster.push(met),
                None => clusters.push(vec![met]),
            }
        }
        for cluster in clusters {
            changed |= merge(arena, cluster.iter().map(|met| met.object));
        }
    }
    changed
}

/// Makes objects of one type one, or each a map if that is what they are together.
fn merge(arena: &mut Arena, objects: impl Iterator<Item = ObjectId>) -> bool {
    let mut objects: Vec<ObjectId> = objects.map(|object| arena.find(object)).collect();
    objects.sort_unstable();
    objects.dedup();
    let shape = |object: ObjectId| &arena.object(object).shape;
    if objects.iter().any(|&object| matches!(shape(object), Shape::Map { .. })) {
        // What is a map in one place is one in the other too, or stays alone.
        objects.retain(|&object| matches!(shape(object), Shape::Record(_)) && !arena.object(object).shared);
        objects.iter().for_each(|&object| arena.collapse(object));
        return !objects.is_empty();
    }
    if objects.len() < 2 {
        return false;
    }
    let records = objects.iter().all(|&object| matches!(shape(object), Shape::Record(_)));
    if records && objects.iter().all(|&object| !arena.object(object).shared) && decide::is_map(arena, &objects) {
        objects.iter().for_each(|&object| arena.collapse(object));
        return true;
    }
    for &object in &objects[1..] {
        arena.absorb_object(objects[0], object, After::Take);
    }
    let first = arena.find(objects[0]);
    arena.object_mut(first).shared = true;
    true
}

fn keys(arena: &Arena, object: ObjectId) -> usize {
    match &arena.object(object).shape {
        Shape::Record(fields) => fields.list.len(),
        Shape::Union(tagged) => tagged.variants.len(),
        Shape::Map { .. } => usize::MAX,
    }
}

/// Whether most of what the smaller has is in the larger.
fn is_part(arena: &Arena, small: &Met, large: &Met) -> bool {
    let siblings = small.union.is_some() && small.union == large.union;
    match (&arena.object(small.object).shape, &arena.object(large.object).shape) {
        (Shape::Record(small), Shape::Record(large)) => {
            let (mut common, mut clash) = (0, 0);
            for field in &small.list {
                if let Some(index) = large.find(field.hash) {
                    common += 1;
                    clash += usize::from(!decide::are_compatible(arena, field.node, large.list[index].node));
                }
            }
            let least = small.list.len().min(large.list.len());
            // The same key of two variants holds the same thing, if little speaks against it.
            let little = usize::from(large.list.len() >= 8);
            (common * 2 >= least && clash * 5 <= common) || (siblings && common > 0 && clash <= little)
        }
        (Shape::Union(small), Shape::Union(large)) => {
            let has = |hash| large.variants.iter().any(|variant| variant.hash == hash);
            let common = small.variants.iter().filter(|variant| has(variant.hash)).count();
            small.hash == large.hash && common * 2 >= small.variants.len().min(large.variants.len())
        }
        (Shape::Record(_), Shape::Map { value, .. }) => {
            !arena.object(small.object).shared && decide::is_like(arena, small.object, *value)
        }
        _ => false,
    }
}

/// Merges records with the same keys and types, wherever they are.
fn by_form(arena: &mut Arena) -> bool {
    let mut forms = BTreeMap::<Vec<(u64, String)>, Vec<ObjectId>>::new();
    for Met { object, .. } in meet(arena) {
        let Some(fields) = arena.fields(object) else { continue };
        let mut form: Vec<(u64, String)> =
            fields.list.iter().map(|field| (field.hash, outline(arena, field.node))).collect();
        form.sort();
        forms.entry(form).or_default().push(object);
    }
    let mut changed = false;
    for objects in forms.into_values() {
        changed |= merge(arena, objects.into_iter());
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
        // Writing to a string does not fail.
        let _ = match &arena.object(object).shape {
            Shape::Map { value, .. } => write!(text, "{{{}}}", outline(arena, *value)),
            _ => write!(text, "{object:?}"),
        };
    }
    text
}

//! The values at positions: their JSON types, what is below them, and whether the values of several keys have similar types.

use super::arena::{Arena, NodeId, ObjectId, Shape};
use super::compare::{self, MAX_COMPARED};
use foldhash::{HashMap, HashMapExt};

const BOOL: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 4;
const ARRAY: u8 = 8;
pub(super) const OBJECT: u8 = 16;
pub(super) const FREE: u8 = 32;

/// Returns the JSON types at a position other than `null`, with a bit for each.
pub(super) fn kinds(arena: &Arena, node: NodeId) -> u8 {
    let node = arena.node(node);
    let bit = |count: u64, bit: u8| if count > 0 { bit } else { 0 };
    bit(node.bools, BOOL)
        | bit(node.integers + node.floats, NUMBER)
        | bit(node.text_count(), TEXT)
        | bit(node.array_count(), ARRAY)
        | bit(node.objects, OBJECT)
        | bit(node.free.as_ref().map_or(0, |free| free.count), FREE)
}

/// Returns the positions of an array: those of a tuple, and the common element.
pub(super) fn elements(arena: &Arena, node: NodeId) -> impl Iterator<Item = NodeId> {
    let array = arena.node(node).array.as_ref();
    array.into_iter().flat_map(|array| array.positions.iter().copied().chain([array.element]))
}

/// Returns the positions directly below an object, including those of a union's variants.
pub(super) fn children(arena: &Arena, object: ObjectId) -> Vec<NodeId> {
    match &arena.object(object).shape {
        Shape::Record(fields) => {
            fields.list.iter().map(|field| field.node).chain(fields.rest.iter().map(|rest| rest.value)).collect()
        }
        Shape::Map { value, .. } => vec![*value],
        Shape::Union(tagged) => {
            let objects = tagged.variants.iter().map(|variant| variant.object).chain(tagged.untagged);
            objects.flat_map(|object| children(arena, arena.find(object))).collect()
        }
    }
}

/// Returns whether the objects are maps already.
pub(super) fn has_map(arena: &Arena, object: ObjectId) -> bool {
    matches!(arena.object(object).shape, Shape::Map { .. })
}

/// Whether the values of several keys have similar types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// The types differ, or no value is known.
    None,
    /// The values are strings, numbers, or sequences of these.
    Plain,
    /// The values are maps, or records with common keys.
    Objects,
}

pub(super) fn likeness(arena: &Arena, nodes: &[NodeId], is_map: &dyn Fn(ObjectId) -> bool) -> Likeness {
    likeness_of(arena, nodes, is_map, MAX_DEPTH)
}

/// The most levels of maps in maps whose values are compared.
const MAX_DEPTH: usize = 3;

fn likeness_of(arena: &Arena, nodes: &[NodeId], is_map: &dyn Fn(ObjectId) -> bool, depth: usize) -> Likeness {
    let known: Vec<(NodeId, u8)> =
        nodes.iter().map(|&node| (node, kinds(arena, node))).filter(|&(_, kinds)| kinds != 0).collect();
    let mut frequency = HashMap::<u8, usize>::new();
    for &(_, kinds) in &known {
        *frequency.entry(kinds).or_default() += 1;
    }
    let Some((&usual, _)) = frequency.iter().max_by_key(|&(&kinds, &count)| (count, kinds)) else {
        return Likeness::None;
    };
    let like: Vec<NodeId> = known.iter().filter(|&(_, kinds)| kinds & !usual == 0).map(|&(node, _)| node).collect();
    if like.len() * 10 < known.len() * 9 {
        return Likeness::None;
    }
    if usual & ARRAY != 0 {
        let elements: Vec<NodeId> = like
            .iter()
            .filter_map(|&node| arena.node(node).array.as_ref())
            .flat_map(|array| array.positions.iter().copied().chain([array.element]))
            .collect();
        // Empty sequences are compatible with all others.
        if elements.iter().any(|&element| kinds(arena, element) != 0)
            && likeness_of(arena, &elements, is_map, depth) == Likeness::None
        {
            return Likeness::None;
        }
    }
    if usual & OBJECT == 0 {
        return Likeness::Plain;
    }
    let (mut records, mut maps, mut keys) = (0u64, 0u64, HashMap::<u64, u64>::new());
    let mut sets = Vec::<Vec<u64>>::new();
    let mut values = Vec::new();
    for object in like.iter().filter_map(|&node| arena.object_of(node)) {
        if is_map(object) {
            maps += 1;
            values.extend(children(arena, object));
            continue;
        }
        match &arena.object(object).shape {
            Shape::Map { .. } => {}
            Shape::Record(fields) => {
                let used = fields.list.iter().filter(|field| arena.node(field.node).count() > 0);
                let set: Vec<u64> = used.map(|field| field.hash).collect();
                for &key in &set {
                    *keys.entry(key).or_default() += 1;
                }
                records += u64::from(!set.is_empty());
                if !set.is_empty() && sets.len() < MAX_COMPARED {
                    sets.push(set);
                }
            }
            Shape::Union(tagged) => {
                *keys.entry(tagged.hash).or_default() += 1;
                records += 1;
            }
        }
    }
    if maps > 0 && maps >= records {
        // Maps are alike if their values are: the schemas and the responses of an API are both maps.
        let alike = values.iter().all(|&value| kinds(arena, value) == 0)
            || depth == 0
            || likeness_of(arena, &values, is_map, depth - 1) != Likeness::None;
        return if alike { Likeness::Objects } else { Likeness::None };
    }
    // Records are similar if most keys are in most of them, or if nearly all have one key in common. The first share is
    // 1 if all records have the same keys, and 1 / records if no two have a key in common.
    let total: u64 = keys.values().sum();
    let squares: u64 = keys.values().map(|count| count * count).sum();
    let common = keys.values().copied().max().unwrap_or(0);
    let alike = squares * 5 >= records * total * 2 || (records >= 8 && common * 5 >= records * 4);
    // A few common keys do not make records of different kinds alike: each must have one that resembles it.
    // With many positions, few types take precedence over precise ones.
    let alike = alike && (arena.len() >= arena.limits.budget / 4 || compare::have_likes(&mut sets));
    if records > 0 && alike { Likeness::Objects } else { Likeness::None }
}

/// Returns whether some of these positions have objects, directly or in arrays.
pub(super) fn hold_objects(arena: &Arena, nodes: &[NodeId]) -> bool {
    let is = |&node: &NodeId| {
        kinds(arena, node) & OBJECT != 0 || elements(arena, node).any(|element| kinds(arena, element) & OBJECT != 0)
    };
    nodes.iter().filter(|node| is(node)).count() * 10 > nodes.len()
}

/// Returns whether the values of several positions could be the values of one map.
pub(super) fn are_alike(arena: &Arena, nodes: &[NodeId]) -> bool {
    nodes.len() < 2 || likeness(arena, nodes, &|object| has_map(arena, object)) != Likeness::None
}
/// Returns whether values of these JSON types are plain and of one type, so that keys do not distinguish them.
pub(super) fn is_plain(kinds: u8, other: u8) -> bool {
    kinds == other && kinds.is_power_of_two() && kinds & (BOOL | NUMBER | TEXT) != 0
}

/// Returns whether values of these JSON types are too varied for a type at one position. `inner` means that their
/// elements or entries are varied too.
pub(super) fn is_hopeless(kinds: u8, inner: bool) -> bool {
    let plain = (kinds & (BOOL | NUMBER | TEXT)).count_ones();
    let both = kinds & ARRAY != 0 && kinds & OBJECT != 0;
    (both && plain >= 2) || (inner && (plain >= 2 || (both && plain >= 1)))
}

/// Returns whether a key is unlikely to be a field's name: a number, a sentence, a path.
pub(super) fn is_data(key: &str) -> bool {
    key.len() > 48
        || key.is_empty()
        || key.starts_with(|c: char| c.is_ascii_digit())
        || key.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '{' | '*' | '%' | ',' | ';' | '='))
}

/// Returns whether a key can be the name of a variant.
pub(super) fn is_name(key: &str) -> bool {
    !is_data(key) && key.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the objects directly below an object, including those inside arrays.
pub(super) fn objects_below(arena: &Arena, object: ObjectId) -> Vec<ObjectId> {
    let mut found = Vec::new();
    let mut nodes = children(arena, object);
    while let Some(node) = nodes.pop() {
        nodes.extend(elements(arena, node));
        found.extend(arena.object_of(node));
    }
    if let Some(tagged) = arena.tagged(object) {
        let objects = tagged.variants.iter().map(|variant| variant.object).chain(tagged.untagged);
        found.extend(objects.map(|object| arena.find(object)));
    }
    found
}

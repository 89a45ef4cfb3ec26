//! Estimates the memory of objects: as a record with a field for each key, and as a map of `serde_json::Value`.

use super::arena::{Arena, Node, NodeId, ObjectId, Shape};
use foldhash::{HashMap, HashMapExt};

/// The bytes of a `serde_json::Value`.
const VALUE: u64 = 32;
/// The bytes of a box, a thin string, a thin slice or a map in its slot.
const WORD: u64 = 8;
/// The bytes that an allocator adds to a block.
const BLOCK: u64 = 16;
/// The bytes and the capacity of a leaf of the B-tree in which `serde_json` stores an object.
const LEAF: (u64, u64) = (632, 11);

/// The values at one position.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// The bytes of a slot in a record.
    slot: u64,
    /// The bytes on the heap.
    typed: u64,
    /// The bytes on the heap if the values are `serde_json::Value`s.
    value: u64,
}

/// Returns whether a record with a field for each key takes at most as much memory as a map of `serde_json::Value`.
///
/// A record has a slot for each key in each of its objects. It is the better type if the keys of the objects are much the
/// same, or if the values are objects themselves, which take more as a `Value`.
pub(super) fn is_better_as_record(arena: &Arena, objects: &[ObjectId]) -> bool {
    let mut costs = Costs { arena, known: objects.iter().map(|&object| (object, (WORD, 0, 0))).collect() };
    let (record, map) = costs.record_and_map(objects);
    record <= map
}

/// Returns whether a map with one type for all values takes at most as much memory as a record with a field for each key.
///
/// A map has a key beside each value, and its values have the fields of all of them; a record has a slot for each key in
/// each of its objects.
pub(super) fn is_better_as_map(arena: &Arena, objects: &[ObjectId]) -> bool {
    let mut costs = Costs { arena, known: objects.iter().map(|&object| (object, (WORD, 0, 0))).collect() };
    let (record, _) = costs.record_and_map(objects);
    costs.entries(objects) <= record
}

struct Costs<'a> {
    arena: &'a Arena,
    /// The result of [`Costs::object`]; a pointer while it is not known, for a recursive type.
    known: HashMap<ObjectId, (u64, u64, u64)>,
}

impl Costs<'_> {
    /// Returns the bytes of objects of one type, as records and as maps.
    fn record_and_map(&mut self, objects: &[ObjectId]) -> (u64, u64) {
        let instances: u64 = objects.iter().map(|&object| self.arena.object(object).instances).sum();
        let mut slots = HashMap::<u64, u64>::new();
        let (mut typed, mut map) = (0, 0);
        for &object in objects {
            for field in self.arena.fields(object).into_iter().flat_map(|fields| &fields.list) {
                let count = self.arena.node(field.node).count();
                if count > 0 {
                    let cost = self.node(field.node, instances);
                    let slot = slots.entry(field.hash).or_default();
                    *slot = cost.slot.max(*slot);
                    typed += cost.typed;
                    map += count * (WORD + VALUE + 1 + field.key.len() as u64) + cost.value;
                }
            }
        }
        (instances * slots.values().sum::<u64>() + typed, map)
    }

    /// Returns the bytes of the entries of maps with these objects' keys and values.
    fn entries(&mut self, objects: &[ObjectId]) -> u64 {
        let arena = self.arena;
        let (mut count, mut bytes, mut slot) = (0, 0, 0);
        let mut slots = HashMap::<u64, u64>::new();
        for field in objects.iter().filter_map(|&object| arena.fields(object)).flat_map(|fields| &fields.list) {
            let values = arena.node(field.node).count();
            let cost = self.node(field.node, values);
            count += values;
            bytes += values * (WORD + 1 + field.key.len() as u64) + cost.typed;
            slot = cost.slot.max(slot);
            let fields = arena.object_of(field.node).and_then(|object| arena.fields(object));
            for inner in fields.into_iter().flat_map(|fields| &fields.list) {
                let cost = self.node(inner.node, values);
                let known = slots.entry(inner.hash).or_default();
                *known = cost.slot.max(*known);
            }
        }
        bytes + count * slots.values().sum::<u64>().max(slot)
    }

    /// Estimates the values of a position that has this number of slots.
    fn node(&mut self, id: NodeId, slots: u64) -> Cost {
        let node: &Node = self.arena.node(id);
        let mut cost = Cost::default();
        let mut kinds = 0;
        let mut add = |slot: u64| {
            kinds += 1;
            cost.slot = cost.slot.max(slot);
        };
        if node.bools > 0 {
            add(1);
        }
        if node.integers + node.floats > 0 {
            add(if node.floats > 0 { WORD } else { WORD / 2 });
        }
        if node.text_count() > 0 {
            add(WORD);
        }
        if node.array_count() > 0 {
            add(WORD);
        }
        if node.free.is_some() {
            add(WORD);
        }
        // An enum of several types has a tag.
        cost.slot += if kinds > 1 { WORD } else { 0 };
        if let Some(texts) = &node.texts {
            cost.typed += texts.bytes + texts.count;
            cost.value += texts.bytes;
        }
        if let Some(array) = &node.array {
            let total = array.lengths.total;
            cost.value += total * VALUE;
            cost.typed += (array.lengths.count - array.lengths.empty) * WORD;
            for element in array.positions.iter().copied().chain([array.element]) {
                let count = self.arena.node(element).count();
                let inner_cost = self.node(element, count);
                cost.typed += count * inner_cost.slot + inner_cost.typed;
                cost.value += inner_cost.value;
            }
        }
        if let Some(free) = &node.free {
            let objects = (free.objects.count - free.objects.empty) * LEAF.0;
            let own = free.text_bytes + free.arrays.total * VALUE + objects + free.key_bytes;
            cost.typed += free.count * VALUE + own;
            cost.value += own;
        }
        if let Some(object) = self.arena.object_of(id).filter(|_| node.objects > 0) {
            let (size, typed, value) = self.object(object);
            let all = self.arena.object(object).instances.max(1);
            // Other positions may share the objects.
            let share = |bytes: u64| {
                let part = u128::from(bytes) * u128::from(node.objects) / u128::from(all);
                u64::try_from(part).unwrap_or(u64::MAX)
            };
            cost.value += share(value);
            cost.typed += share(typed);
            if node.objects * 4 > slots * 3 {
                cost.slot += size;
            } else {
                cost.slot += WORD;
                cost.typed += node.objects * (size + BLOCK);
            }
        }
        cost
    }

    /// Returns the size of an object's type, and the bytes of all objects behind it: typed, and as values.
    fn object(&mut self, object: ObjectId) -> (u64, u64, u64) {
        if let Some(&known) = self.known.get(&object) {
            return known;
        }
        self.known.insert(object, (WORD, 0, 0));
        let seen = self.arena.object(object);
        let filled = seen.lengths.count - seen.lengths.empty;
        let more = seen.lengths.total.saturating_sub(filled * LEAF.1);
        let tree = filled * LEAF.0 + more * LEAF.0 / LEAF.1;
        let sums = match &seen.shape {
            Shape::Record(fields) => {
                let (mut size, mut typed, mut value) = (0, 0, tree);
                for field in &fields.list {
                    let count = self.arena.node(field.node).count();
                    if count > 0 {
                        let cost = self.node(field.node, seen.instances);
                        size += cost.slot;
                        typed += cost.typed;
                        value += cost.value + count * field.key.len() as u64;
                    }
                }
                (size, typed, value)
            }
            Shape::Map { keys, value } => {
                let count = self.arena.node(*value).count();
                let cost = self.node(*value, count);
                let entries = count * (WORD + cost.slot) + keys.bytes;
                (WORD, entries + cost.typed, tree + keys.bytes + cost.value)
            }
            Shape::Union(tagged) => {
                let parts: Vec<ObjectId> =
                    tagged.variants.iter().map(|variant| variant.object).chain(tagged.untagged).collect();
                let (mut typed, mut value) = (0, 0);
                for part in parts {
                    let part = self.arena.find(part);
                    let (size, own, own_value) = self.object(part);
                    typed += own + self.arena.object(part).instances * size;
                    value += own_value;
                }
                (2 * WORD, typed, value)
            }
        };
        self.known.insert(object, sums);
        sums
    }
}

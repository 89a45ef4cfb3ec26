//! The accumulators: a [`Node`] for each position that holds values, and an [`Object`] for the JSON objects there.
//!
//! Positions whose type is known to be the same share one [`Object`]. The accumulators of a recursive type are
//! therefore a graph with a cycle, not a tree with a branch for each path.
//!
//! Any two accumulators can be added, with exact counts: two nodes, a record's fields into one map value, the variants
//! of a union into one record. A wrong decision can therefore be undone without reading again. A position that is too
//! varied for a type is *untyped*: its node keeps only sums ([`Free`]).
//!
//! While a text is read, the arena only grows: ids stay valid and shapes do not change. Changes wait in
//! [`Arena::pending`]; [`Arena::settle`] makes them between two texts.

mod change;
mod form;
mod known;
mod limits;
mod merge;
mod node;
mod object;
mod pending;
mod read;
pub(super) mod stored;
mod sums;
#[cfg(test)]
mod tests;

pub(super) use node::{Array, Fixed, Node, NodeId, ObjectId};
pub(super) use object::{Field, Fields, Object, Rest, Shape, Tagged};

use crate::infer::judge::Word;
use crate::infer::text::{Hashed, Hashes, Room};
use crate::overrides::Override;
use crate::schema::Lengths;
use foldhash::{HashMap, HashSet};
use known::Origin;
use pending::Pending;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// The number of nodes above which detail is dropped to save memory. A node takes about half a kilobyte with its
/// contents.
pub(super) const BUDGET: usize = 1 << 16;

/// The number of nodes above which new positions are untyped.
pub(super) const MOST: usize = 5 * BUDGET;

/// The bytes that the sets of strings and keys may take.
pub(super) const ROOM: usize = 64 << 20;

/// The most fields of a record. An object with more keys is a map, whatever its values are.
pub(super) const MAX_FIELDS: usize = 1024;

/// The most elements of a tuple.
pub(super) const MAX_TUPLE: usize = 12;

/// All nodes and objects.
#[derive(Clone)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    objects: Vec<Object>,
    spare: Vec<NodeId>,
    /// Objects that were merged into others and that nothing refers to.
    spare_objects: Vec<ObjectId>,
    /// Nodes that were merged into others and are not reclaimed yet.
    taken: Vec<NodeId>,
    pub(super) root: NodeId,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    /// Whether this arena is a study, which searches for tags.
    pub(super) studying: bool,
    /// The hashes of common tag keys, in a study.
    usual: std::collections::HashSet<u64, BuildHasherDefault<Hashed>>,
    /// What others decided about the objects.
    pub(super) user: Decisions,
    /// The value being read.
    pub(super) reading: Reading,
    origin: Origin,
    /// When detail is dropped to save memory.
    pub(super) limits: Limits,
}

/// The decisions of the user, and of the caller, about objects.
#[derive(Default, Clone)]
pub(super) struct Decisions {
    /// The decisions of the user.
    pub(super) overrides: Arc<[Override]>,
    /// Whether objects become maps only if their values are alike and no other position shares them.
    pub(super) cautious: bool,
    /// The result of `Types::outvoted`, if it is known and nothing has changed since.
    pub(super) outvoted: Option<HashSet<ObjectId>>,
    /// The objects that the user decided to be no maps.
    pub(super) kept: HashSet<ObjectId>,
    /// The objects that the user decided to have no tag.
    pub(super) untagged: HashSet<ObjectId>,
    /// The names that the user gave to the types of objects.
    pub(super) named: HashMap<ObjectId, String>,
}

/// The value being read: what its parts told about it so far.
#[derive(Default, Clone)]
pub(super) struct Reading {
    /// The serial number of the current object, by which a field detects a duplicate key.
    pub(super) serial: u64,
    /// The order of first occurrence: the index of the text in the high half, a counter in the low half.
    pub(super) moment: u64,
    /// The hashes of the keys of the objects being read, the innermost object on top.
    pub(super) seen: Vec<u64>,
    /// The hashes of the keys whose value is a string that may be a tag's, with the string, in a study.
    pub(super) words: Vec<(u64, Word)>,
    /// The type codes of the keys' values ([`super::visit::mark`]), with the hashes of the keys, in a study.
    pub(super) marks: Vec<(u64, u8)>,
    /// The keys of the objects under the keys, in a study: the hash of the key, and that of the inner one.
    pub(super) inner: Vec<(u64, u64)>,
    /// The hashes of the keys of the object that was read last, in a study.
    pub(super) last: Vec<u64>,
    /// The type code of the value that was read last.
    pub(super) mark: u8,
    /// Whether the object that was read last has a common tag key ([`is_usual`]) with a string.
    pub(super) is_tagged: bool,
    /// The unions on the path to the value being read.
    pub(super) inside: Vec<ObjectId>,
    pending: Vec<Pending>,
    /// Spare sets of keys, to find duplicate keys in maps.
    key_sets: Vec<Hashes>,
}

/// The limits of memory, and what is left.
#[derive(Clone)]
pub(super) struct Limits {
    /// The number of nodes above which detail is dropped to save memory.
    pub(super) budget: usize,
    /// The number of nodes above which new positions are untyped.
    pub(super) most: usize,
    /// The number of objects in use after the last [`Arena::sweep`].
    swept: usize,
    /// The serial number at which the memory of the sets may be measured again.
    measured: u64,
    /// The memory left for the sets of strings and keys.
    room: Room,
    /// The memory left for the keys of the objects in other objects ([`Reading::inner`]). It is apart from [`Self::room`],
    /// so that these do not take the memory for the strings of tags.
    inner_room: Room,
    /// The memory for them in all.
    pub(super) sets: usize,
}

impl Arena {
    pub(super) fn new(studying: bool) -> Self {
        // A study takes half of the memory, since the accumulators of the full pass are created beside it.
        let (most, sets) = if studying { (MOST / 2, ROOM / 2) } else { (MOST, ROOM) };
        Self {
            nodes: vec![Node::default()],
            objects: Vec::new(),
            spare: Vec::new(),
            spare_objects: Vec::new(),
            taken: Vec::new(),
            root: NodeId(0),
            documents: 0,
            bytes: 0,
            studying,
            usual: std::collections::HashSet::default(),
            user: Decisions::default(),
            reading: Reading::default(),
            origin: Origin::default(),
            limits: Limits {
                budget: BUDGET,
                most,
                swept: 0,
                measured: 0,
                room: Room::new(sets),
                inner_room: Room::new(sets / 4),
                sets,
            },
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn node_and_room(&mut self, id: NodeId) -> (&mut Node, &mut Room) {
        (&mut self.nodes[id.0 as usize], &mut self.limits.room)
    }

    pub(super) fn object_and_room(&mut self, id: ObjectId) -> (&mut Object, &mut Room) {
        (&mut self.objects[id.0 as usize], &mut self.limits.room)
    }

    pub(super) fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    pub(super) fn object_mut(&mut self, id: ObjectId) -> &mut Object {
        &mut self.objects[id.0 as usize]
    }

    /// Returns all objects that are not merged into others.
    pub(super) fn all_objects(&self) -> Vec<ObjectId> {
        let ids = (0..).zip(&self.objects).filter(|(_, object)| object.link.is_none());
        ids.map(|(id, _)| ObjectId(id)).collect()
    }

    /// Returns the objects of unions without a tag.
    pub(super) fn untagged_objects(&self) -> HashSet<ObjectId> {
        let objects = self.objects.iter().filter(|object| object.link.is_none());
        objects.filter_map(|object| Some(self.find(object.shape.untagged()?))).collect()
    }

    /// Returns the object that `id` was merged into, or `id`.
    pub(super) fn find(&self, mut id: ObjectId) -> ObjectId {
        while let Some(next) = self.object(id).link {
            id = next;
        }
        id
    }

    /// Like [`find`](Self::find), and shortens the path for later calls.
    fn find_mut(&mut self, id: ObjectId) -> ObjectId {
        let found = self.find(id);
        let mut id = id;
        while let Some(next) = self.object(id).link {
            self.object_mut(id).link = Some(found);
            id = next;
        }
        found
    }

    /// Returns the node that `id` was merged into, or `id`.
    pub(super) fn find_node(&self, mut id: NodeId) -> NodeId {
        while let Some(next) = self.node(id).link {
            id = next;
        }
        id
    }

    /// Returns the objects at a position, if it has any.
    pub(super) fn object_of(&self, node: NodeId) -> Option<ObjectId> {
        self.node(node).object.map(|object| self.find(object))
    }

    #[expect(clippy::cast_possible_truncation, reason = "4 G nodes do not fit in memory")]
    pub(super) fn new_node(&mut self, name: u64) -> NodeId {
        let id = self.spare.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            NodeId(self.nodes.len() as u32 - 1)
        });
        self.node_mut(id).name = name;
        id
    }

    /// Like [`new_node`](Self::new_node), but the position is untyped if there are too many already.
    fn new_position(&mut self, name: u64) -> NodeId {
        let node = self.new_node(name);
        if self.is_exhausted() {
            self.node_mut(node).free = Some(Box::default());
        }
        node
    }

    /// Prepares a position for its first array.
    pub(super) fn new_array(&mut self, node: NodeId) {
        let element = self.new_position(self.node(node).name);
        // Above the budget, the elements of an array get no positions of their own.
        let fixed = if self.len() < self.limits.budget { Fixed::Unknown } else { Fixed::Varied };
        let array = Array { lengths: Lengths::default(), element, positions: Vec::new(), fixed };
        self.node_mut(node).array = Some(Box::new(array));
    }

    #[expect(clippy::cast_possible_truncation, reason = "4 G objects do not fit in memory")]
    pub(super) fn new_object(&mut self) -> ObjectId {
        if let Some(spare) = self.spare_objects.pop() {
            return spare;
        }
        self.objects.push(Object::default());
        ObjectId(self.objects.len() as u32 - 1)
    }

    /// Returns the objects at a position; creates an empty record if it has none.
    pub(super) fn objects_at(&mut self, node: NodeId) -> ObjectId {
        if let Some(object) = self.node(node).object {
            return self.find_mut(object);
        }
        let object = self.new_object();
        self.node_mut(node).object = Some(object);
        object
    }

    pub(super) fn fields(&self, object: ObjectId) -> Option<&Fields> {
        match &self.object(object).shape {
            Shape::Record(fields) => Some(fields),
            _ => None,
        }
    }

    pub(super) fn fields_mut(&mut self, object: ObjectId) -> Option<&mut Fields> {
        match &mut self.object_mut(object).shape {
            Shape::Record(fields) => Some(fields),
            _ => None,
        }
    }

    pub(super) fn tagged(&self, object: ObjectId) -> Option<&Tagged> {
        match &self.object(object).shape {
            Shape::Union(tagged) => Some(tagged),
            _ => None,
        }
    }

    pub(super) fn tagged_mut(&mut self, object: ObjectId) -> Option<&mut Tagged> {
        match &mut self.object_mut(object).shape {
            Shape::Union(tagged) => Some(tagged),
            _ => None,
        }
    }

    /// Returns the array at a position that has one.
    pub(super) fn array_mut(&mut self, node: NodeId) -> &mut Array {
        self.node_mut(node).array.as_mut().expect("only called where there are arrays")
    }

    /// Returns whether there are so many positions that new ones are untyped.
    pub(super) fn is_exhausted(&self) -> bool {
        self.len() >= self.limits.most
    }

    /// Returns the number of nodes in use.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.spare.len()
    }
}

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

use super::sets::{Sets, part};
use super::study::{MAX_VARIANTS, Study, is_usual};
use super::text::{Hashed, Hashes, Room, Texts, hash};
use crate::shape::schema::{Free, Lengths, MOST_COUNT};
use foldhash::{HashMap, HashSet, HashSetExt};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::hash::BuildHasherDefault;
use std::marker::PhantomData;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct NodeId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ObjectId(u32);

/// The counts of one position that holds values.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    /// The hash of the nearest key above.
    pub(super) name: u64,
    pub(super) nulls: u64,
    pub(super) bools: u64,
    pub(super) trues: u64,
    pub(super) integers: u64,
    pub(super) floats: u64,
    /// The number of whole floats that do not fit in 64 bits, so that an `f64` may lose digits.
    pub(super) huge: u64,
    pub(super) min: i128,
    pub(super) max: i128,
    /// The hash of the last string if it may be the value of a tag, for [`Study`].
    pub(super) word: Option<u64>,
    pub(super) texts: Option<Box<Texts>>,
    pub(super) array: Option<Box<Array>>,
    pub(super) objects: u64,
    pub(super) empties: u64,
    pub(super) object: Option<ObjectId>,
    /// The sums, if the position is untyped.
    pub(super) free: Option<Box<Free>>,
    /// The node that this one was merged into, until [`Arena::reclaim`].
    link: Option<NodeId>,
}

impl Node {
    pub(super) fn count(&self) -> u64 {
        self.nulls
            + self.bools
            + self.integers
            + self.floats
            + self.objects
            + self.text_count()
            + self.array_count()
            + { self.free.as_ref().map_or(0, |free| free.count) }
    }

    pub(super) fn text_count(&self) -> u64 {
        self.texts.as_ref().map_or(0, |texts| texts.count)
    }

    pub(super) fn array_count(&self) -> u64 {
        self.array.as_ref().map_or(0, |array| array.lengths.count)
    }

    #[inline]
    pub(super) fn integer(&mut self, value: i128) {
        if self.integers == 0 {
            (self.min, self.max) = (value, value);
        } else if value < self.min {
            self.min = value;
        } else if value > self.max {
            self.max = value;
        }
        self.integers += 1;
    }

    fn integers(&mut self, count: u64, min: i128, max: i128) {
        if count > 0 {
            (self.min, self.max) = if self.integers == 0 { (min, max) } else { (self.min.min(min), self.max.max(max)) };
            self.integers += count;
        }
    }
}

impl Node {
    /// Calls the functions for all ids.
    fn ids(&mut self, node: &mut impl FnMut(&mut NodeId), object: &mut impl FnMut(&mut ObjectId)) {
        if let Some(array) = &mut self.array {
            node(&mut array.element);
            array.positions.iter_mut().for_each(node);
        }
        self.object.iter_mut().for_each(object);
    }
}

/// The arrays at a position.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Array {
    pub(super) lengths: Lengths,
    /// All elements, unless the positions of a tuple hold them.
    pub(super) element: NodeId,
    pub(super) positions: Vec<NodeId>,
    pub(super) fixed: Fixed,
}

/// Whether the arrays of a position have one length.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fixed {
    Unknown,
    At(usize),
    Varied,
}

/// The objects of one or more positions.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Object {
    pub(super) instances: u64,
    /// The numbers of keys of the objects.
    pub(super) lengths: Lengths,
    /// The sets of keys that occur together, for a record or the variant of a union.
    pub(super) sets: Sets,
    pub(super) shape: Shape,
    #[serde(skip)]
    pub(super) study: Option<Box<Study>>,
    /// The tag that a study found: the next form has a union for these objects.
    pub(super) tag: Option<Arc<str>>,
    /// The object that this one was merged into.
    link: Option<ObjectId>,
}

impl Object {
    /// Calls the functions for all ids.
    fn ids(&mut self, node: &mut impl FnMut(&mut NodeId), object: &mut impl FnMut(&mut ObjectId)) {
        self.link.iter_mut().for_each(&mut *object);
        match &mut self.shape {
            Shape::Record(fields) => {
                fields.list.iter_mut().for_each(|field| node(&mut field.node));
                fields.rest.iter_mut().for_each(|rest| node(&mut rest.value));
            }
            Shape::Map { value, .. } => node(value),
            Shape::Union(tagged) => {
                object(&mut tagged.template);
                tagged.untagged.iter_mut().for_each(&mut *object);
                tagged.scratch.iter_mut().for_each(&mut *object);
                tagged.variants.iter_mut().for_each(|variant| object(&mut variant.object));
            }
        }
    }

    /// Returns the bytes that its sets have on the heap.
    fn memory(&self) -> usize {
        let keys = match &self.shape {
            Shape::Map { keys, .. } => keys.memory(),
            Shape::Record(Fields { rest: Some(rest), .. }) => rest.keys.memory(),
            _ => 0,
        };
        keys + self.sets.memory()
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Shape {
    Record(Fields),
    Map { keys: Box<Texts>, value: NodeId },
    Union(Box<Tagged>),
}

impl Shape {
    /// Returns the objects of a union that have no tag.
    pub(super) fn untagged(&self) -> Option<ObjectId> {
        match self {
            Self::Union(tagged) => tagged.untagged,
            _ => None,
        }
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::Record(Fields::default())
    }
}

/// The keys of a record.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Fields {
    pub(super) list: Vec<Field>,
    /// The entries whose keys are not fields. A key is a field or one of the rest, never both.
    pub(super) rest: Option<Box<Rest>>,
    #[serde(skip)]
    index: std::collections::HashMap<u64, usize, BuildHasherDefault<Hashed>>,
}

/// Entries of a record that are counted like those of a map.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Rest {
    pub(super) keys: Texts,
    pub(super) value: NodeId,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Field {
    /// The key. Other arenas of this form, and other variants of the union, share the string.
    pub(super) key: Arc<str>,
    pub(super) hash: u64,
    pub(super) node: NodeId,
    /// The position of its first occurrence, which orders the fields of the schema.
    pub(super) first: u64,
    /// The serial number of the last object that had the field.
    pub(super) last: u64,
}

impl Fields {
    /// Finds a field by the hash of its key. A short list is searched linearly.
    pub(super) fn find(&self, hash: u64) -> Option<usize> {
        if self.index.is_empty() {
            return self.list.iter().position(|field| field.hash == hash);
        }
        self.index.get(&hash).copied()
    }

    /// Finds a key among the next two fields from an index.
    #[inline]
    pub(super) fn ahead(&self, index: usize, key: &str) -> Option<usize> {
        let mut ahead = self.list.get(index..)?.iter().take(2);
        Some(index + ahead.position(|field| *field.key == *key)?)
    }

    pub(super) fn push(&mut self, field: Field) -> usize {
        let index = self.list.len();
        if self.index.is_empty() {
            if index >= 12 {
                self.index = self.list.iter().enumerate().map(|(index, field)| (field.hash, index)).collect();
                self.index.insert(field.hash, index);
            }
        } else {
            self.index.insert(field.hash, index);
        }
        self.list.push(field);
        index
    }
}

/// A tagged union: objects distinguished by the string under one key.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tagged {
    pub(super) key: Box<str>,
    pub(super) hash: u64,
    pub(super) variants: Vec<Variant>,
    /// Indices by the hash of the tag's value.
    #[serde(skip)]
    index: std::collections::HashMap<u64, usize, BuildHasherDefault<Hashed>>,
    /// The fields of a new variant, without values.
    pub(super) template: ObjectId,
    /// The objects without a tag, or with a tag that is not a string.
    pub(super) untagged: Option<ObjectId>,
    /// Vacant objects for the keys that are read before the tag.
    scratch: Vec<ObjectId>,
}

impl Tagged {
    pub(super) fn new(key: Box<str>, template: ObjectId) -> Self {
        let hash = hash(&key);
        Self {
            key,
            hash,
            variants: Vec::new(),
            index: std::collections::HashMap::default(),
            template,
            untagged: None,
            scratch: Vec::new(),
        }
    }

    fn find(&self, hash: u64) -> Option<ObjectId> {
        self.index.get(&hash).map(|&index| self.variants[index].object)
    }

    pub(super) fn push(&mut self, value: Box<str>, hash: u64, object: ObjectId) {
        self.index.insert(hash, self.variants.len());
        self.variants.push(Variant { value, hash, object });
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Variant {
    pub(super) value: Box<str>,
    pub(super) hash: u64,
    pub(super) object: ObjectId,
}

/// The state of a node after a merge into another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The node is released: it becomes a link to the other one.
    Take,
    /// The node is emptied, for further values.
    Keep,
}

/// The form that an arena started from. Objects of the form have the same numbers in all arenas of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FormId {
    None,
    /// A form of this process, by its serial number.
    Run(u64),
    /// A form file, by the hash of its contents. Fields are listed in the order of its study, and further ones by their
    /// keys, so that the order does not depend on which texts an arena reads.
    File(u64),
}

impl FormId {
    fn is_file(self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// A change of shape that waits until no text is being read.
#[derive(Clone)]
enum Pending {
    /// Merge two objects, which have the same type.
    Join(ObjectId, ObjectId),
    /// Turn a union whose tag has too many values into one record.
    Dissolve(ObjectId),
    /// Merge the positions of a tuple, since the lengths of the arrays differ.
    Flatten(NodeId),
    /// Make a position untyped.
    Free(NodeId),
    /// Move rare fields of a record to the rest, since it has too many keys.
    Overflow(ObjectId),
}

/// The types that a new object is compared with: unions and recursive records.
#[derive(Clone, Default)]
struct Known {
    /// Unions by the hashes of tag and value; `None` if several match.
    variants: HashMap<(u64, u64), Option<ObjectId>>,
    /// Recursive unions by the hash of the tag; `None` if several match.
    tags: HashMap<u64, Option<ObjectId>>,
    /// Recursive records by the sum of their keys; `None` if several match.
    records: HashMap<u64, Option<ObjectId>>,
}

/// All nodes and objects.
#[derive(Clone)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    objects: Vec<Object>,
    spare: Vec<NodeId>,
    /// Nodes that were merged into others and are not reclaimed yet.
    taken: Vec<NodeId>,
    pub(super) root: NodeId,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    /// The serial number of the current object, by which a field detects a duplicate key.
    pub(super) serial: u64,
    /// The order of first occurrence: the index of the text in the high half, a counter in the low half.
    pub(super) moment: u64,
    /// Whether this arena is a study, which searches for tags.
    pub(super) studying: bool,
    /// The hashes of the keys of the objects being read, the innermost object on top.
    pub(super) seen: Vec<u64>,
    /// The hashes of the keys whose value is a string that may be a tag's, with the hash of the string, in a study.
    pub(super) words: Vec<(u64, u64)>,
    /// The type codes of the keys' values ([`super::visit::mark`]), with the hashes of the keys, in a study.
    pub(super) marks: Vec<(u64, u8)>,
    /// The type code of the value that was read last.
    pub(super) mark: u8,
    /// Whether the object that was read last has a common tag key ([`is_usual`]) with a string.
    pub(super) is_tagged: bool,
    /// The hashes of common tag keys, in a study.
    usual: std::collections::HashSet<u64, BuildHasherDefault<Hashed>>,
    /// The unions on the path to the value being read.
    pub(super) inside: Vec<ObjectId>,
    pending: Vec<Pending>,
    known: Known,
    /// The number of objects that belong to the form; later ones were found while reading.
    fresh: u32,
    form: FormId,
    /// The values of [`Field::first`] by the hashes of the keys, if the form is a file.
    order: HashMap<u64, u64>,
    /// The serial number at which the memory of the sets may be measured again.
    measured: u64,
    /// The number of nodes above which detail is dropped to save memory.
    pub(super) budget: usize,
    /// The number of nodes above which new positions are untyped.
    pub(super) most: usize,
    /// The memory left for the sets of strings and keys.
    room: Room,
    /// The memory for them in all.
    pub(super) sets: usize,
    /// Spare sets of keys, to find duplicate keys in maps.
    key_sets: Vec<Hashes>,
}

impl Arena {
    pub(super) fn new(studying: bool) -> Self {
        // A study takes half of the memory, since the accumulators of the full pass are created beside it.
        let (most, sets) = if studying { (MOST / 2, ROOM / 2) } else { (MOST, ROOM) };
        Self {
            nodes: vec![Node::default()],
            objects: Vec::new(),
            spare: Vec::new(),
            taken: Vec::new(),
            root: NodeId(0),
            documents: 0,
            bytes: 0,
            serial: 0,
            moment: 0,
            studying,
            seen: Vec::new(),
            words: Vec::new(),
            marks: Vec::new(),
            mark: 0,
            is_tagged: false,
            usual: std::collections::HashSet::default(),
            inside: Vec::new(),
            pending: Vec::new(),
            known: Known::default(),
            fresh: 0,
            form: FormId::None,
            order: HashMap::default(),
            measured: 0,
            budget: BUDGET,
            most,
            room: Room::new(sets),
            sets,
            key_sets: Vec::new(),
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn node_and_room(&mut self, id: NodeId) -> (&mut Node, &mut Room) {
        (&mut self.nodes[id.0 as usize], &mut self.room)
    }

    pub(super) fn object_and_room(&mut self, id: ObjectId) -> (&mut Object, &mut Room) {
        (&mut self.objects[id.0 as usize], &mut self.room)
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
        let fixed = if self.len() < self.budget { Fixed::Unknown } else { Fixed::Varied };
        let array = Array { lengths: Lengths::default(), element, positions: Vec::new(), fixed };
        self.node_mut(node).array = Some(Box::new(array));
    }

    #[expect(clippy::cast_possible_truncation, reason = "4 G objects do not fit in memory")]
    pub(super) fn new_object(&mut self) -> ObjectId {
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

    /// Returns the value of [`Field::first`] for a field that occurs now.
    pub(super) fn next_moment(&mut self, hash: u64) -> u64 {
        self.moment = self.moment.saturating_add(1);
        match self.form {
            FormId::File(_) => self.order.get(&hash).copied().unwrap_or(u64::MAX),
            FormId::None | FormId::Run(_) => self.moment,
        }
    }

    /// Adds a field to a record. For a variant, the field has the form from the union's template.
    pub(super) fn new_field(&mut self, object: ObjectId, template: Option<ObjectId>, key: &str, hash: u64) -> usize {
        let known = template.map(|template| self.find(template)).and_then(|template| {
            let fields = self.fields(template)?;
            Some(&fields.list[fields.find(hash)?]).map(|field| (field.key.clone(), field.node))
        });
        let first = self.next_moment(hash);
        if self.studying && is_usual(key) {
            self.usual.insert(hash);
        }
        let (key, node) = match known {
            Some((key, node)) if !self.is_exhausted() => (key, self.copy_node(node, &mut Vec::new())),
            Some((key, _)) => (key, self.new_position(hash)),
            None => (key.into(), self.new_position(hash)),
        };
        let field = Field { key, hash, node, first, last: 0 };
        self.fields_mut(object).map_or(0, |fields| fields.push(field))
    }

    /// Returns the entries of a record that are not fields, and creates them if there are none.
    pub(super) fn rest(&mut self, object: ObjectId) -> Option<&mut Rest> {
        if self.fields(object)?.rest.is_none() {
            let value = self.new_position(0);
            let fields = self.fields_mut(object)?;
            fields.rest = Some(Box::new(Rest { keys: Texts::default(), value }));
            if fields.list.len() >= MAX_FIELDS {
                self.pending.push(Pending::Overflow(object));
            }
        }
        self.fields_mut(object)?.rest.as_deref_mut()
    }

    /// Returns whether one of [`Arena::words`] from this index on belongs to a common tag key.
    pub(super) fn has_usual_tag(&self, words: usize) -> bool {
        self.words[words..].iter().any(|(hash, _)| self.usual.contains(hash))
    }

    /// Records that the arrays of a position differ in length.
    pub(super) fn vary(&mut self, node: NodeId) {
        if let Some(array) = &mut self.node_mut(node).array
            && array.fixed != Fixed::Varied
        {
            array.fixed = Fixed::Varied;
            self.pending.push(Pending::Flatten(node));
        }
    }

    /// Merges objects at the next [`settle`](Self::settle).
    pub(super) fn join(&mut self, objects: &[ObjectId]) {
        for &object in &objects[1..] {
            self.pending.push(Pending::Join(objects[0], object));
        }
    }

    /// Makes the pending changes.
    pub(super) fn settle(&mut self) {
        while self.settle_one() {}
    }

    /// Makes the last pending change, which may add others. Returns whether there was one.
    fn settle_one(&mut self) -> bool {
        match self.pending.pop() {
            Some(Pending::Join(into, from)) => self.absorb_object(into, from),
            Some(Pending::Dissolve(object)) => self.dissolve(object),
            Some(Pending::Flatten(node)) => self.flatten(node),
            Some(Pending::Free(node)) => self.set_free(node),
            Some(Pending::Overflow(object)) => self.move_rare_fields(object),
            None => return false,
        }
        true
    }

    /// Makes merged nodes available again, and the memory of merged sets. No id of a merged node may be in use.
    pub(super) fn reclaim(&mut self) {
        for id in std::mem::take(&mut self.taken) {
            *self.node_mut(id) = Node::default();
            self.spare.push(id);
        }
        if self.room.is_used_up() && self.serial >= self.measured {
            let taken = self.memory();
            self.room = Room::new(self.sets.saturating_sub(taken));
            // Measured again only after twice as many objects, so that its time stays linear.
            self.measured = self.serial * 2;
        }
    }

    /// Records that an object has a field. Returns the hash of its key and its position, or `None` if the object had it
    /// before. `serial` is the number of the object, whose keys start at this index of [`Arena::seen`].
    #[inline]
    pub(super) fn enter_field(
        &mut self,
        object: ObjectId,
        index: usize,
        serial: u64,
        seen: usize,
    ) -> Option<(u64, NodeId)> {
        let Shape::Record(fields) = &mut self.objects[object.0 as usize].shape else { return None };
        let field = &mut fields.list[index];
        // A later serial number belongs to a nested object with the same field, so the list of keys decides.
        if field.last >= serial && (field.last == serial || self.seen[seen..].contains(&field.hash)) {
            return None;
        }
        self.seen.push(field.hash);
        field.last = serial;
        if field.first == u64::MAX && !self.form.is_file() {
            self.moment = self.moment.saturating_add(1);
            field.first = self.moment;
        }
        Some((field.hash, field.node))
    }

    /// Counts the keys of an object that was just read; they start at this index of [`Arena::seen`].
    pub(super) fn add_set(&mut self, object: ObjectId, sum: u64, seen: usize) {
        self.objects[object.0 as usize].sets.add_one(sum, &self.seen[seen..], &mut self.room);
    }

    /// Clears the state of the text being read, which an error leaves behind.
    pub(super) fn abandon(&mut self) {
        self.seen.clear();
        self.words.clear();
        self.marks.clear();
        self.inside.clear();
    }

    /// Turns a record or union into a map.
    pub(super) fn collapse(&mut self, object: ObjectId) {
        let object = self.find(object);
        self.dissolve(object);
        self.settle();
        self.collapse_record(self.find(object));
    }

    fn collapse_record(&mut self, object: ObjectId) {
        if self.fields(object).is_none() {
            return;
        }
        let Shape::Record(fields) = std::mem::take(&mut self.object_mut(object).shape) else { return };
        let (mut keys, value) = match fields.rest {
            Some(rest) => (rest.keys, rest.value),
            None => (Texts::default(), self.new_node(0)),
        };
        for field in &fields.list {
            let count = self.node(field.node).count();
            if count > 0 {
                keys.add_key(&field.key, field.hash, count);
            }
        }
        let known = self.object_mut(object);
        known.shape = Shape::Map { keys: Box::new(keys), value };
        known.study = None;
        known.tag = None;
        known.sets = Sets::default();
        for field in fields.list {
            self.absorb(value, field.node, After::Take);
        }
    }

    /// Turns maps that several positions share into records without fields, whose entries are all in the rest.
    pub(super) fn name_maps(&mut self, shared: &HashSet<ObjectId>) {
        for &object in shared {
            let object = self.object_mut(object);
            if matches!(object.shape, Shape::Map { .. })
                && let Shape::Map { keys, value } = std::mem::take(&mut object.shape)
            {
                let rest = Some(Box::new(Rest { keys: *keys, value }));
                object.shape = Shape::Record(Fields { rest, ..Fields::default() });
            }
        }
    }

    /// Turns a union into one record of all its variants.
    fn dissolve(&mut self, object: ObjectId) {
        let object = self.find(object);
        if self.tagged(object).is_none() {
            return;
        }
        // The union's own sums equal those of its variants, which are added below.
        let union = std::mem::take(self.object_mut(object));
        if let Shape::Union(tagged) = union.shape {
            let untagged = tagged.untagged.into_iter();
            for part in tagged.variants.into_iter().map(|variant| variant.object).chain(untagged) {
                self.pending.push(Pending::Join(object, part));
            }
        }
    }

    /// Merges the positions of a tuple into one element.
    pub(super) fn flatten(&mut self, node: NodeId) {
        let node = self.find_node(node);
        let Some(array) = &mut self.node_mut(node).array else { return };
        array.fixed = Fixed::Varied;
        let element = array.element;
        for position in std::mem::take(&mut array.positions) {
            self.absorb(element, position, After::Take);
        }
    }

    /// Adds the counts of `from` to `into`. Merges of objects wait for [`Arena::settle`].
    pub(super) fn absorb(&mut self, into: NodeId, from: NodeId, after: After) {
        let (into, from) = (self.find_node(into), self.find_node(from));
        if into == from {
            return;
        }
        let mut source = std::mem::take(self.node_mut(from));
        let had = self.node(into).count() > 0;
        let target = self.node_mut(into);
        target.nulls += std::mem::take(&mut source.nulls);
        target.bools += std::mem::take(&mut source.bools);
        target.trues += std::mem::take(&mut source.trues);
        target.floats += std::mem::take(&mut source.floats);
        target.huge += std::mem::take(&mut source.huge);
        target.empties += std::mem::take(&mut source.empties);
        target.integers(std::mem::take(&mut source.integers), source.min, source.max);
        let objects = std::mem::take(&mut source.objects);
        target.objects += objects;
        if target.free.is_some() || source.free.is_some() {
            if let Some(free) = &mut source.free {
                target.free.get_or_insert_default().merge(free);
                **free = Free::default();
            }
            if had || source.free.is_none() {
                self.pending.push(Pending::Free(into));
            }
        }
        let target = self.node_mut(into);
        match (&mut target.texts, &mut source.texts) {
            (None, texts) if after == After::Take => target.texts = texts.take(),
            (target, Some(texts)) if texts.count > 0 => {
                target.get_or_insert_default().merge(texts);
                texts.clear();
            }
            _ => {}
        }
        if let Some(array) = &mut source.array {
            self.absorb_array(into, array, after);
        }
        if let Some(object) = source.object.filter(|_| objects > 0) {
            let object = self.find(object);
            // An object without values may have an outdated shape, so it is replaced instead of merged.
            match self.object_of(into).filter(|_| self.node(into).objects > objects || after == After::Keep) {
                None => self.node_mut(into).object = Some(object),
                Some(target) if target != object => {
                    self.pending.push(Pending::Join(target, object));
                    source.object = Some(target);
                }
                Some(_) => {}
            }
        }
        match after {
            After::Take => {
                self.node_mut(from).link = Some(into);
                self.taken.push(from);
            }
            After::Keep => *self.node_mut(from) = source,
        }
    }

    fn absorb_array(&mut self, into: NodeId, source: &mut Array, after: After) {
        if source.lengths.count == 0 {
            return;
        }
        let name = self.node(into).name;
        if self.node(into).array.is_none() {
            self.new_array(into);
        }
        let (element, fixed) = {
            let array = self.array_mut(into);
            array.lengths.merge(&source.lengths);
            if array.fixed == Fixed::Unknown {
                array.fixed = source.fixed;
                if source.fixed == Fixed::Varied && !array.positions.is_empty() {
                    self.pending.push(Pending::Flatten(into));
                }
            }
            let array = self.array_mut(into);
            (array.element, array.fixed)
        };
        if fixed == source.fixed && fixed != Fixed::Varied {
            for (index, &position) in source.positions.iter().enumerate() {
                if self.array_mut(into).positions.len() == index {
                    let node = self.new_node(name);
                    self.array_mut(into).positions.push(node);
                }
                let node = self.array_mut(into).positions[index];
                self.absorb(node, position, after);
            }
        } else {
            self.vary(into);
            for &position in &source.positions {
                self.absorb(element, position, after);
            }
        }
        self.absorb(element, source.element, after);
        if after == After::Keep {
            clear(&mut source.lengths);
            if source.fixed != Fixed::Varied {
                source.fixed = Fixed::Unknown;
            }
        }
    }

    /// Returns the node for the element at `index` of an array: the common element, or the position of a tuple.
    pub(super) fn element(&mut self, node: NodeId, index: usize) -> NodeId {
        let array = self.array_mut(node);
        match array.fixed {
            Fixed::Varied => array.element,
            Fixed::At(known) if index >= known => array.element,
            Fixed::Unknown if index >= MAX_TUPLE => array.element,
            _ => {
                if array.positions.len() == index {
                    let position = self.new_node(self.node(node).name);
                    self.array_mut(node).positions.push(position);
                }
                self.array_mut(node).positions[index]
            }
        }
    }

    /// Returns the array at a position that has one.
    pub(super) fn array_mut(&mut self, node: NodeId) -> &mut Array {
        self.node_mut(node).array.as_mut().expect("only called where there are arrays")
    }

    /// Merges `from` into `into`.
    fn absorb_object(&mut self, into: ObjectId, from: ObjectId) {
        let (into, from) = (self.find_mut(into), self.find_mut(from));
        if into == from {
            return;
        }
        // An object without values may have an outdated shape, so it is only linked.
        if self.object(from).instances == 0 {
            self.object_mut(from).link = Some(into);
            return;
        }
        // Different shapes are made equal first. That may queue other changes, so the merge is queued again.
        let forms = match (&self.object(into).shape, &self.object(from).shape) {
            (Shape::Union(left), Shape::Union(right)) if left.hash == right.hash => None,
            (Shape::Record(_), Shape::Record(_)) | (Shape::Map { .. }, Shape::Map { .. }) => None,
            (Shape::Union(tagged), Shape::Record(_)) if self.is_without(from, tagged.hash) => {
                self.absorb_untagged(into, from);
                return;
            }
            (Shape::Record(_), Shape::Union(tagged)) if self.is_without(into, tagged.hash) => {
                // The object with the lower number remains.
                self.objects.swap(into.0 as usize, from.0 as usize);
                self.absorb_untagged(into, from);
                return;
            }
            (Shape::Map { .. }, _) => Some(from),
            (_, Shape::Map { .. }) | (Shape::Union(_), _) => Some(into),
            _ => Some(from),
        };
        if let Some(object) = forms {
            // `pending` is a stack: the change of shape below is processed before this merge.
            self.pending.push(Pending::Join(into, from));
            match self.object(object).shape {
                Shape::Record(_) => self.collapse_record(object),
                _ => self.dissolve(object),
            }
            return;
        }
        let source = std::mem::take(self.object_mut(from));
        self.object_mut(from).link = Some(into);
        let target = self.object_mut(into);
        target.instances += source.instances;
        target.lengths.merge(&source.lengths);
        target.sets.merge(&source.sets);
        if target.tag.is_none() {
            target.tag = source.tag;
        }
        match (&mut target.study, source.study) {
            (Some(study), Some(other)) => study.merge(&other),
            (study @ None, other) => *study = other,
            _ => {}
        }
        match source.shape {
            Shape::Record(fields) => self.absorb_fields(into, fields),
            Shape::Map { keys, value } => {
                if let Shape::Map { keys: known, value: node } = &mut self.object_mut(into).shape {
                    known.merge(&keys);
                    let node = *node;
                    self.absorb(node, value, After::Take);
                }
            }
            Shape::Union(tagged) => {
                for variant in tagged.variants {
                    let object = self.find(variant.object);
                    if self.object(object).instances == 0 {
                        continue;
                    }
                    let target = self.tagged(into).and_then(|known| known.find(variant.hash));
                    if let Some(target) = target {
                        self.pending.push(Pending::Join(target, object));
                    } else if let Some(known) = self.tagged_mut(into) {
                        known.push(variant.value, variant.hash, object);
                    }
                }
                if let Some(object) = tagged.untagged {
                    let target = self.untagged(into);
                    self.pending.push(Pending::Join(target, object));
                }
                if self.tagged(into).is_some_and(|known| known.variants.len() > MAX_VARIANTS) {
                    self.pending.push(Pending::Dissolve(into));
                }
            }
        }
    }

    /// Returns whether no object of a record has a string under the tag's key.
    pub(super) fn is_without(&self, record: ObjectId, tag: u64) -> bool {
        let Some(fields) = self.fields(record) else { return false };
        fields.rest.as_ref().is_none_or(|rest| !rest.keys.may_have(tag))
            && fields.find(tag).is_none_or(|index| self.node(fields.list[index].node).text_count() == 0)
    }

    /// Merges a record into a union, as its objects without a tag.
    fn absorb_untagged(&mut self, union: ObjectId, record: ObjectId) {
        let Object { instances, lengths, .. } = self.object(record);
        let (instances, lengths) = (*instances, lengths.clone());
        if instances == 0 {
            self.object_mut(record).link = Some(union);
            return;
        }
        let of = self.object_mut(union);
        of.instances += instances;
        of.lengths.merge(&lengths);
        let untagged = self.untagged(union);
        // The record gets a new number; its old one becomes a link to the union.
        let moved = std::mem::take(self.object_mut(record));
        self.object_mut(record).link = Some(union);
        self.objects.push(moved);
        let moved = ObjectId(u32::try_from(self.objects.len() - 1).expect("4 G objects do not fit in memory"));
        self.pending.push(Pending::Join(untagged, moved));
    }

    /// Adds the fields of one record to another.
    fn absorb_fields(&mut self, into: ObjectId, mut fields: Fields) {
        if let Some(rest) = fields.rest.take() {
            // A key is a field or one of the rest, never both. A field of both records is in neither rest.
            self.move_to_rest(into, |field, _| rest.keys.may_have(field.hash) && fields.find(field.hash).is_none());
            if let Some(known) = self.rest(into) {
                known.keys.merge(&rest.keys);
                let value = known.value;
                self.absorb(value, rest.value, After::Take);
            }
        }
        for field in fields.list {
            let count = self.node(field.node).count();
            let Some(known) = self.fields_mut(into) else { return };
            if let Some(index) = known.find(field.hash) {
                let known = &mut known.list[index];
                known.first = known.first.min(field.first);
                let node = known.node;
                self.absorb(node, field.node, After::Take);
            } else if known.rest.is_none() && known.list.len() < MAX_FIELDS {
                known.push(field);
            } else if let Some(rest) = self.rest(into).filter(|_| count > 0) {
                rest.keys.add_key(&field.key, field.hash, count);
                let value = rest.value;
                self.absorb(value, field.node, After::Take);
            }
        }
    }

    /// Moves rare fields of a record to the rest, so that keys of later objects can become fields.
    fn move_rare_fields(&mut self, object: ObjectId) {
        let object = self.find(object);
        let instances = self.object(object).instances;
        if self.fields(object).is_some_and(|fields| fields.list.len() >= MAX_FIELDS) {
            self.move_to_rest(object, |_, count| count < 2 || count * 10 < instances);
        }
    }

    /// Moves the fields for which `moves` returns true from a record to its rest.
    pub(super) fn move_to_rest(&mut self, object: ObjectId, moves: impl Fn(&Field, u64) -> bool) {
        let Some(fields) = self.fields_mut(object) else { return };
        let list = std::mem::take(&mut fields.list);
        fields.index.clear();
        for field in list {
            let count = self.node(field.node).count();
            if !moves(&field, count) {
                if let Some(fields) = self.fields_mut(object) {
                    fields.push(field);
                }
            } else if let Some(rest) = self.rest(object).filter(|_| count > 0) {
                rest.keys.add_key(&field.key, field.hash, count);
                let value = rest.value;
                self.absorb(value, field.node, After::Take);
            }
        }
        // Remove the moved fields from the sets of keys.
        let kept: Hashes =
            self.fields(object).into_iter().flat_map(|fields| &fields.list).map(|field| field.hash).collect();
        self.object_mut(object).sets.keep(&kept);
    }

    /// Returns the variant of a union for the tag `value`, or the objects without a tag if there are too many variants.
    pub(super) fn variant(&mut self, union: ObjectId, value: &str, hash: u64) -> ObjectId {
        let known = self.tagged(union).map(|tagged| (tagged.find(hash), tagged.variants.len()));
        match known {
            Some((Some(object), _)) => self.find_mut(object),
            Some((None, count)) if count < MAX_VARIANTS && !self.is_exhausted() => {
                let object = self.new_object();
                if let Some(tagged) = self.tagged_mut(union) {
                    tagged.push(value.into(), hash, object);
                }
                object
            }
            _ => {
                self.pending.push(Pending::Dissolve(union));
                self.untagged(union)
            }
        }
    }

    /// Returns the objects of a union without a tag, or with a tag that is not a string.
    pub(super) fn untagged(&mut self, union: ObjectId) -> ObjectId {
        if let Some(object) = self.tagged(union).and_then(|tagged| tagged.untagged) {
            let object = self.find_mut(object);
            // After a merge with a union that was dissolved, the object may be a link to the union itself.
            if object != self.find(union) {
                return object;
            }
        }
        let object = self.new_object();
        if let Some(tagged) = self.tagged_mut(union) {
            tagged.untagged = Some(object);
        }
        object
    }

    /// Takes a vacant object for the keys that are read before the tag.
    pub(super) fn take_scratch(&mut self, union: ObjectId) -> ObjectId {
        match self.tagged_mut(union).and_then(|tagged| tagged.scratch.pop()) {
            Some(scratch) => scratch,
            None => self.new_object(),
        }
    }

    /// Returns an object from [`Arena::take_scratch`], emptied.
    pub(super) fn put_scratch(&mut self, union: ObjectId, scratch: ObjectId) {
        if let Some(tagged) = self.tagged_mut(union) {
            tagged.scratch.push(scratch);
        }
    }

    /// Copies the form of a position, without values; the copy shares its objects. `open` are the maps being copied.
    fn copy_node(&mut self, node: NodeId, open: &mut Vec<ObjectId>) -> NodeId {
        let source = self.node(node);
        let (name, object, free) = (source.name, source.object, source.free.is_some());
        let array = source.array.as_ref().map(|array| (array.element, array.fixed));
        let copy = self.new_node(name);
        if free {
            self.node_mut(copy).free = Some(Box::default());
        }
        if let Some((element, fixed)) = array {
            let element = self.copy_node(element, open);
            let fixed = if fixed == Fixed::Varied { fixed } else { Fixed::Unknown };
            let array = Array { lengths: Lengths::default(), element, positions: Vec::new(), fixed };
            self.node_mut(copy).array = Some(Box::new(array));
        }
        if let Some(object) = object {
            let object = self.find(object);
            let value = match &self.object(object).shape {
                Shape::Map { value, .. } => Some(*value),
                _ => None,
            };
            // Maps are not shared: each position has its own. A merge can put a map into itself; the inner one is shared.
            let object = match value.filter(|_| !open.contains(&object)) {
                Some(value) => {
                    open.push(object);
                    let value = self.copy_node(value, open);
                    open.pop();
                    let copy = self.new_object();
                    self.object_mut(copy).shape = Shape::Map { keys: Box::default(), value };
                    copy
                }
                None => object,
            };
            self.node_mut(copy).object = Some(object);
        }
        copy
    }

    /// Completes the form. Objects that are added later count as new.
    pub(super) fn seal(&mut self, recursive: &dyn Fn(ObjectId) -> bool) {
        fn enter<K: std::hash::Hash + Eq>(known: &mut HashMap<K, Option<ObjectId>>, key: K, object: ObjectId) {
            let entry = known.entry(key).or_insert(Some(object));
            if *entry != Some(object) {
                *entry = None;
            }
        }
        let mut known = Known::default();
        // Variants are not compared with new records, since they lack the tag's field.
        let tagged = self.objects.iter().filter_map(|object| match &object.shape {
            Shape::Union(tagged) => Some(tagged),
            _ => None,
        });
        let variants: HashSet<ObjectId> = tagged
            .flat_map(|tagged| {
                let others = tagged.untagged.into_iter().chain([tagged.template]);
                tagged.variants.iter().map(|variant| variant.object).chain(others)
            })
            .collect();
        for object in self.all_objects() {
            match &self.object(object).shape {
                Shape::Union(tagged) => {
                    for variant in &tagged.variants {
                        enter(&mut known.variants, (tagged.hash, variant.hash), object);
                    }
                    if recursive(object) {
                        enter(&mut known.tags, tagged.hash, object);
                    }
                }
                Shape::Record(fields) if fields.list.len() >= 2 && recursive(object) && !variants.contains(&object) => {
                    let sum = fields.list.iter().fold(0, |sum: u64, field| sum.wrapping_add(part(field.hash)));
                    enter(&mut known.records, sum, object);
                }
                _ => {}
            }
        }
        if self.studying {
            let records = self.objects.iter().filter_map(|object| match &object.shape {
                Shape::Record(fields) => Some(&fields.list),
                _ => None,
            });
            let usual = records.flatten().filter(|field| is_usual(&field.key)).map(|field| field.hash);
            self.usual = usual.collect();
        }
        self.known = known;
        self.fresh = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
    }

    /// Sets the limits of one of several arenas of a form that are filled before they are merged. It gets this part of
    /// the data. All together have [`MOST`] nodes, of which each needs those of the form.
    pub(super) fn limit(&mut self, arenas: usize, part: u64, whole: u64) {
        let share = |of: usize| usize::try_from(of as u128 * u128::from(part) / u128::from(whole.max(1))).unwrap_or(of);
        self.budget = (BUDGET * 2 / arenas).clamp(BUDGET / 16, BUDGET);
        self.most = self.len() + share(MOST.saturating_sub(arenas * self.len())).max(BUDGET / 16);
        self.sets = share(ROOM).max(ROOM / 64);
        self.room = Room::new(self.sets);
    }

    /// Makes this the form of a run: fields are listed in the order of their first occurrence, not in that of the study.
    pub(super) fn set_run(&mut self, run: u64) {
        self.form = FormId::Run(run);
        self.all_fields().for_each(|field| field.first = u64::MAX);
    }

    /// Makes this the form of a file.
    pub(super) fn set_file(&mut self, file: u64) {
        self.form = FormId::File(file);
        let mut order = HashMap::default();
        for field in self.all_fields() {
            let first = order.entry(field.hash).or_insert(field.first);
            *first = field.first.min(*first);
        }
        self.all_fields().for_each(|field| field.first = order[&field.hash]);
        self.order = order;
    }

    fn all_fields(&mut self) -> impl Iterator<Item = &mut Field> {
        let records = self.objects.iter_mut().filter_map(|object| match &mut object.shape {
            Shape::Record(fields) => Some(&mut fields.list),
            _ => None,
        });
        records.flatten()
    }

    /// Returns whether these objects are not in the form and only the first of them was read.
    pub(super) fn is_new(&self, object: ObjectId) -> bool {
        object.0 >= self.fresh && self.object(object).instances == 1
    }

    /// Returns whether [`Arena::recognise`] can find a type.
    pub(super) fn knows(&self) -> bool {
        !self.known.variants.is_empty() || !self.known.records.is_empty()
    }

    /// Compares the first object of a position with the types known from other positions, and merges it with a match.
    ///
    /// `sum` is the sum of its keys.
    pub(super) fn recognise(&mut self, node: NodeId, object: ObjectId, sum: u64) {
        let Some(fields) = self.fields(object).filter(|fields| fields.rest.is_none()) else { return };
        if let Some(&Some(known)) = self.known.records.get(&sum) {
            let known = self.find(known);
            self.pending.push(Pending::Join(known, object));
            self.node_mut(node).object = Some(known);
            return;
        }
        for field in &fields.list {
            let Some(texts) = &self.node(field.node).texts else { continue };
            let Some((value, value_hash)) = texts.only_word() else { continue };
            let exact = self.known.variants.get(&(field.hash, value_hash)).copied().flatten();
            let inside = || {
                let union = self.known.tags.get(&field.hash).copied().flatten()?;
                self.inside.iter().any(|&open| self.find(open) == self.find(union)).then_some(union)
            };
            let Some(union) = exact.or_else(inside).map(|union| self.find(union)) else { continue };
            let Some(tagged) = self.tagged(union) else { continue };
            if let Some(variant) = tagged.find(value_hash) {
                let has = |known: &Fields| fields.list.iter().filter(|field| known.find(field.hash).is_some()).count();
                let common = self.fields(self.find(variant)).map_or(0, has);
                // The tag itself is common to all and does not count.
                if (common.max(1) - 1) * 2 < fields.list.len() - 1 {
                    continue;
                }
            }
            let value: Box<str> = value.into();
            let lengths = self.object(object).lengths.clone();
            let variant = self.variant(union, &value, value_hash);
            let of = self.object_mut(union);
            of.instances += 1;
            of.lengths.merge(&lengths);
            self.pending.push(Pending::Join(variant, object));
            self.node_mut(node).object = Some(union);
            return;
        }
    }

    /// Adds the keys that were read before the tag to a variant, and returns the scratch object.
    pub(super) fn add_scratch(
        &mut self,
        union: ObjectId,
        scratch: ObjectId,
        variant: ObjectId,
        keys: &[u64],
        serial: u64,
    ) {
        let template = self.tagged(union).map(|tagged| tagged.template);
        for &hash in keys {
            let Some((key, from, first)) = self.fields(scratch).and_then(|fields| {
                let field = &fields.list[fields.find(hash)?];
                Some((field.key.clone(), field.node, field.first))
            }) else {
                continue;
            };
            let index = match self.fields(variant).and_then(|fields| fields.find(hash)) {
                Some(index) => index,
                None => self.new_field(variant, template, &key, hash),
            };
            if let Some(fields) = self.fields_mut(variant) {
                let field = &mut fields.list[index];
                field.last = serial;
                field.first = field.first.min(first);
                let into = field.node;
                self.absorb(into, from, After::Keep);
            }
            if let Some(fields) = self.fields_mut(scratch)
                && let Some(index) = fields.find(hash)
            {
                fields.list[index].first = u64::MAX;
            }
        }
        self.put_scratch(union, scratch);
    }

    /// Adds an object that was just read to the study of its record. Its keys, strings and type codes begin at these
    /// indices of [`Arena::seen`], [`Arena::words`] and [`Arena::marks`].
    pub(super) fn add_to_study(&mut self, object: ObjectId, seen: usize, words: usize, marks: usize) {
        // Taken out so that the rest of the arena can be borrowed.
        let mut study = self.object_mut(object).study.take().unwrap_or_default();
        if let Shape::Record(fields) = &self.objects[object.0 as usize].shape {
            let named = |&(hash, word): &(u64, u64)| {
                let field = &fields.list[fields.find(hash)?];
                Some((&*field.key, field.hash, word))
            };
            let words: Vec<_> = self.words[words..].iter().filter_map(named).collect();
            study.count(&words, &self.seen[seen..], &self.marks[marks..], &mut self.room);
        }
        self.object_mut(object).study = Some(study);
    }

    /// Returns whether there are so many positions that new ones are untyped.
    pub(super) fn is_exhausted(&self) -> bool {
        self.len() >= self.most
    }

    /// Returns the serialisable part of the arena, for a part file.
    pub(super) fn saved(mut self) -> Saved {
        if !self.form.is_file() {
            self.prune();
        }
        self.shrink(MOST, ROOM);
        self.stored()
    }

    /// Returns the serialisable part of a form or of reduced accumulators.
    pub(super) fn stored(self) -> Saved {
        let form = match self.form {
            FormId::File(form) => Some(form),
            FormId::None | FormId::Run(_) => None,
        };
        Saved {
            nodes: self.nodes,
            objects: self.objects,
            root: self.root,
            documents: self.documents,
            bytes: self.bytes,
            moment: self.moment,
            form,
            fresh: self.fresh,
        }
    }

    /// Restores an arena; `None` if the data is not valid.
    pub(super) fn restored(saved: Saved) -> Option<Self> {
        let mut arena = Self::new(false);
        arena.nodes = saved.nodes;
        arena.objects = saved.objects;
        arena.root = saved.root;
        arena.documents = saved.documents;
        arena.bytes = saved.bytes;
        arena.moment = saved.moment;
        if let Some(form) = saved.form {
            (arena.form, arena.fresh) = (FormId::File(form), saved.fresh);
        }
        for object in &mut arena.objects {
            match &mut object.shape {
                Shape::Record(fields) => {
                    for field in std::mem::take(&mut fields.list) {
                        fields.push(field);
                    }
                }
                Shape::Union(tagged) => {
                    for variant in std::mem::take(&mut tagged.variants) {
                        tagged.push(variant.value, variant.hash, variant.object);
                    }
                }
                Shape::Map { .. } => {}
            }
        }
        arena.is_sound().then_some(arena)
    }

    /// Returns whether all ids are valid, each node belongs to one array or key, no chain of links is a cycle, and the
    /// counts are in the range of a corpus. A part file is untrusted input.
    fn is_sound(&self) -> bool {
        self.has_valid_ids() && self.is_forest() && self.has_plausible_counts()
    }

    fn has_plausible_counts(&self) -> bool {
        let nodes = self.nodes.iter().all(|of| {
            let counts = [of.nulls, of.bools, of.trues, of.integers, of.floats, of.huge, of.objects, of.empties];
            counts.into_iter().all(|count| count <= MOST_COUNT)
                && of.trues <= of.bools
                && of.huge <= of.floats
                && of.empties <= of.objects
                && (of.objects == 0 || of.object.is_some())
                && of.texts.as_ref().is_none_or(|texts| texts.is_plausible())
                && of.array.as_ref().is_none_or(|array| array.lengths.is_plausible())
                && of.free.as_ref().is_none_or(|free| free.is_plausible())
        });
        // Only after the nodes: their counts are added up.
        let objects = nodes
            && self.objects.iter().all(|of| {
                let keys = match &of.shape {
                    Shape::Map { keys, .. } => keys.is_plausible(),
                    Shape::Record(Fields { rest: Some(rest), .. }) => rest.keys.is_plausible(),
                    Shape::Record(_) | Shape::Union(_) => true,
                };
                let fields = match &of.shape {
                    Shape::Record(fields) => {
                        fields.list.iter().all(|field| self.node(field.node).count() <= of.instances)
                    }
                    Shape::Map { .. } | Shape::Union(_) => true,
                };
                keys && fields && of.instances <= MOST_COUNT && of.lengths.is_plausible() && of.sets.is_plausible()
            });
        objects && self.documents <= MOST_COUNT && self.bytes <= MOST_COUNT
    }

    /// Returns whether each node but the root belongs to at most one array or key. Arrays then end: only an object can
    /// contain itself.
    fn is_forest(&self) -> bool {
        let mut owned = vec![false; self.nodes.len()];
        let mut own = |id: NodeId| !std::mem::replace(&mut owned[id.0 as usize], true);
        own(self.root)
            && self
                .nodes
                .iter()
                .filter_map(|of| of.array.as_ref())
                .all(|array| own(array.element) && array.positions.iter().all(|&position| own(position)))
            && self.objects.iter().all(|of| match &of.shape {
                Shape::Record(fields) => {
                    fields.list.iter().all(|field| own(field.node)) && fields.rest.iter().all(|rest| own(rest.value))
                }
                Shape::Map { value, .. } => own(*value),
                Shape::Union(_) => true,
            })
    }

    /// Returns whether all ids are valid and no chain of links is a cycle.
    fn has_valid_ids(&self) -> bool {
        let node = |id: &NodeId| (id.0 as usize) < self.nodes.len();
        let object = |id: &ObjectId| (id.0 as usize) < self.objects.len();
        let nodes = self.nodes.iter().all(|of| {
            let array = of.array.as_ref().is_none_or(|array| {
                // The first array of a position also creates the node after its last element.
                let length = match array.fixed {
                    Fixed::At(length) => length <= array.positions.len(),
                    _ => true,
                };
                node(&array.element) && array.positions.iter().all(node) && length
            });
            array && of.object.iter().all(object) && of.link.is_none()
        });
        // A chain of links without a cycle is never longer than the number of objects.
        let ends = |id: &ObjectId| {
            let mut at = *id;
            for _ in 0..=self.objects.len() {
                match self.objects.get(at.0 as usize).map(|of| of.link) {
                    Some(Some(next)) => at = next,
                    Some(None) => return true,
                    None => return false,
                }
            }
            false
        };
        let objects = (0..).map(ObjectId).zip(&self.objects).all(|(id, of)| {
            let shape = match &of.shape {
                Shape::Record(fields) => {
                    fields.list.iter().all(|field| node(&field.node))
                        && fields.rest.iter().all(|rest| node(&rest.value))
                }
                Shape::Map { value, .. } => node(value),
                Shape::Union(tagged) => {
                    let is_record = |id: &ObjectId| ends(id) && self.fields(self.find(*id)).is_some();
                    object(&tagged.template)
                        && tagged.untagged.iter().all(is_record)
                        && tagged.scratch.iter().all(object)
                        && tagged.variants.iter().all(|variant| is_record(&variant.object))
                }
            };
            shape && (of.link.is_none() || ends(&id))
        });
        let fresh = self.fresh as usize <= self.objects.len();
        nodes && objects && fresh && node(&self.root) && self.spare.iter().all(node)
    }

    /// Adds the counts of another arena.
    pub(super) fn merge(&mut self, other: Self) {
        // The limits of a part are for reading; the positions of both fit in memory.
        (self.budget, self.most) = (BUDGET, MOST);
        self.settle();
        self.documents += other.documents;
        self.bytes += other.bytes;
        self.moment = self.moment.max(other.moment);
        let nodes = u32::try_from(self.nodes.len()).expect("4 G nodes do not fit in memory");
        let objects = u32::try_from(self.objects.len()).expect("4 G objects do not fit in memory");
        let node = &mut |id: &mut NodeId| id.0 += nodes;
        let object = &mut |id: &mut ObjectId| id.0 += objects;
        let root = NodeId(other.root.0 + nodes);
        self.spare.extend(other.spare.into_iter().map(|id| NodeId(id.0 + nodes)));
        self.nodes.extend(other.nodes.into_iter().map(|mut moved| {
            moved.ids(node, object);
            moved
        }));
        self.objects.extend(other.objects.into_iter().map(|mut moved| {
            moved.ids(node, object);
            moved
        }));
        self.absorb(self.root, root, After::Take);
        if self.form != FormId::None && self.form == other.form {
            // Objects of the form have the same numbers in both arenas.
            let pairs = (0..self.fresh.min(other.fresh)).map(|id| Pending::Join(ObjectId(id), ObjectId(id + objects)));
            self.pending.extend(pairs);
        }
        self.settle();
        self.reclaim();
    }

    /// Makes a position untyped: keeps the sums of its values and drops their form.
    pub(super) fn set_free(&mut self, node: NodeId) {
        let node = self.find_node(node);
        let free = self.free_at(node);
        let Node { name, nulls, .. } = *self.node(node);
        *self.node_mut(node) = Node { name, nulls, free: Some(Box::new(free)), ..Node::default() };
    }

    /// Adds the keys of objects that become maps to `keys`.
    pub(super) fn add_keys(&self, object: ObjectId, keys: &mut Texts) {
        match &self.object(self.find(object)).shape {
            Shape::Map { keys: known, .. } => keys.merge(known),
            Shape::Record(fields) => {
                for field in &fields.list {
                    let count = self.node(field.node).count();
                    if count > 0 {
                        keys.add_key(&field.key, field.hash, count);
                    }
                }
                fields.rest.iter().for_each(|rest| keys.merge(&rest.keys));
            }
            Shape::Union(tagged) => {
                tagged.variants.iter().for_each(|variant| self.add_keys(variant.object, keys));
                tagged.untagged.iter().for_each(|&object| self.add_keys(object, keys));
            }
        }
    }

    /// Returns the sums of a position's values; estimates if it shares objects with other positions.
    pub(super) fn free_at(&self, node: NodeId) -> Free {
        let mut free = Free::default();
        let of = self.node(node);
        free.count = of.count() - of.nulls - of.free.as_ref().map_or(0, |free| free.count);
        let mut sum = Sum { arena: self, free, open: HashSet::new() };
        sum.node(node);
        if let Some(known) = &of.free {
            sum.free.count += known.count;
        }
        sum.free
    }

    /// Removes the parts of the form that occur in no text.
    pub(super) fn prune(&mut self) {
        self.settle();
        for index in 0..self.nodes.len() {
            let node = &mut self.nodes[index];
            if node.objects == 0 {
                node.object = None;
            }
            if node.array_count() == 0 {
                node.array = None;
            }
        }
        let filled: Vec<bool> = self.objects.iter().map(|object| object.instances > 0).collect();
        for index in 0..self.objects.len() {
            let Self { nodes, objects, .. } = self;
            let used = |field: &Field| nodes[field.node.0 as usize].count() > 0;
            match &mut objects[index].shape {
                Shape::Record(fields) => {
                    if !fields.list.iter().all(used) {
                        let Fields { list, rest, .. } = std::mem::take(fields);
                        fields.rest = rest;
                        list.into_iter().filter(used).for_each(|field| {
                            fields.push(field);
                        });
                    }
                    if fields.rest.as_ref().is_some_and(|rest| rest.keys.count == 0) {
                        fields.rest = None;
                    }
                }
                Shape::Union(_) | Shape::Map { .. } => {}
            }
        }
        for index in 0..self.objects.len() {
            let found: Vec<bool> = match &self.objects[index].shape {
                Shape::Union(tagged) => {
                    let found = tagged.variants.iter().map(|variant| filled[self.find(variant.object).0 as usize]);
                    found.collect()
                }
                _ => continue,
            };
            let untagged = self.objects[index].shape.untagged().map(|object| self.find(object));
            if let Shape::Union(tagged) = &mut self.objects[index].shape {
                tagged.untagged = untagged.filter(|object| filled[object.0 as usize]);
                let mut found = found.into_iter();
                let variants = std::mem::take(&mut tagged.variants);
                tagged.index.clear();
                for variant in variants {
                    if found.next() == Some(true) {
                        tagged.push(variant.value, variant.hash, variant.object);
                    }
                }
            }
        }
        self.reclaim();
    }

    /// Drops detail until there are at most `most` nodes, and the sets take about `sets` bytes.
    pub(super) fn shrink(&mut self, most: usize, sets: usize) {
        self.settle();
        self.reclaim();
        self.compact();
        if self.nodes.len() > most || self.nodes.len() + self.objects.len() > 2 * most {
            // The objects of the form do not fit either.
            (self.fresh, self.form) = (0, FormId::None);
            for node in self.beyond(most) {
                self.set_free(node);
            }
            self.compact();
        }
        // The largest sets become estimates first.
        let mut largest = 1 << 16;
        while self.memory() > sets && largest >= 64 {
            self.nodes.iter_mut().filter_map(|node| node.texts.as_mut()).for_each(|texts| texts.coarsen(largest));
            for object in &mut self.objects {
                object.sets.coarsen(largest);
                match &mut object.shape {
                    Shape::Map { keys, .. } => keys.coarsen(largest),
                    Shape::Record(Fields { rest: Some(rest), .. }) => rest.keys.coarsen(largest),
                    _ => {}
                }
            }
            largest /= 2;
        }
        self.room = Room::new(self.sets.saturating_sub(self.memory()));
    }

    /// Returns the bytes that the sets of strings and keys have on the heap.
    fn memory(&self) -> usize {
        let texts = self.nodes.iter().filter_map(|node| node.texts.as_ref()).map(|texts| texts.memory());
        texts.chain(self.objects.iter().map(Object::memory)).sum()
    }

    /// Finds positions to make untyped, so that at most `most` nodes remain. Those with the most values stay.
    fn beyond(&mut self, most: usize) -> Vec<NodeId> {
        let (mut nodes, mut objects) = (1, 0);
        // Objects that several positions share are all typed or all untyped.
        let mut typed = HashMap::<ObjectId, bool>::default();
        let mut free = Vec::new();
        let mut found = BinaryHeap::from([(self.node(self.root).count(), Reverse(self.root))]);
        while let Some((_, Reverse(id))) = found.pop() {
            let (mut below, mut new) = (Vec::new(), Vec::new());
            let object = self.object_of(id);
            self.nodes[id.0 as usize].ids(&mut |id| below.push(*id), &mut |_| {});
            let known = object.and_then(|object| typed.get(&object).copied());
            if let Some(object) = object.filter(|_| known.is_none()) {
                new.push(object);
                let mut at = 0;
                while let Some(&object) = new.get(at) {
                    // The records of a union.
                    let mut inner = Vec::new();
                    self.objects[object.0 as usize].ids(&mut |id| below.push(*id), &mut |id| inner.push(*id));
                    for object in inner {
                        let object = self.find(object);
                        if !new.contains(&object) {
                            new.push(object);
                        }
                    }
                    at += 1;
                }
            }
            let fits = nodes + below.len() <= most && nodes + below.len() + objects + new.len() <= 2 * most;
            let fits = fits && known != Some(false);
            if let Some(object) = object.filter(|_| known.is_none()) {
                typed.insert(object, fits);
            }
            if fits {
                (nodes, objects) = (nodes + below.len(), objects + new.len());
                found.extend(below.into_iter().map(|id| (self.node(id).count(), Reverse(id))));
            } else {
                free.push(id);
            }
        }
        free
    }

    /// Removes the nodes and objects that no position reaches. The others get new numbers, but the objects of a form file
    /// all stay and keep theirs.
    fn compact(&mut self) {
        let fixed = if self.form.is_file() { self.fresh } else { 0 };
        let mut nodes = vec![false; self.nodes.len()];
        let mut objects = vec![false; self.objects.len()];
        let (mut open_nodes, mut open_objects) = (vec![self.root], (0..fixed).map(ObjectId).collect::<Vec<_>>());
        loop {
            if let Some(id) = open_nodes.pop() {
                if !std::mem::replace(&mut nodes[id.0 as usize], true) {
                    self.nodes[id.0 as usize].ids(&mut |id| open_nodes.push(*id), &mut |id| open_objects.push(*id));
                }
            } else if let Some(id) = open_objects.pop() {
                let id = self.find(id);
                if !std::mem::replace(&mut objects[id.0 as usize], true) {
                    if let Shape::Union(tagged) = &mut self.object_mut(id).shape {
                        tagged.scratch.clear();
                    }
                    let object = &mut self.objects[id.0 as usize];
                    object.ids(&mut |id| open_nodes.push(*id), &mut |id| open_objects.push(*id));
                }
            } else {
                break;
            }
        }
        objects[..fixed as usize].fill(true);
        let number = |reached: &[bool]| -> Vec<u32> {
            let mut next = 0;
            let number = |&reached: &bool| {
                next += u32::from(reached);
                next.wrapping_sub(1)
            };
            reached.iter().map(number).collect()
        };
        let (new_nodes, new_objects) = (number(&nodes), number(&objects));
        let found: Vec<ObjectId> = (0..).take(self.objects.len()).map(|id| self.find(ObjectId(id))).collect();
        let node = &mut |id: &mut NodeId| id.0 = new_nodes[id.0 as usize];
        let object = &mut |id: &mut ObjectId| id.0 = new_objects[found[id.0 as usize].0 as usize];
        node(&mut self.root);
        let (mut reached, mut reached_objects) = (nodes.into_iter(), objects.into_iter());
        self.nodes.retain(|_| reached.next() == Some(true));
        self.objects.retain(|_| reached_objects.next() == Some(true));
        self.nodes.iter_mut().for_each(|of| of.ids(node, object));
        self.objects.iter_mut().for_each(|of| of.ids(node, object));
        self.spare.clear();
        self.taken.clear();
        self.known = Known::default();
        if !self.form.is_file() {
            (self.fresh, self.form) = (0, FormId::None);
        }
    }

    pub(super) fn take_keys(&mut self) -> Hashes {
        self.key_sets.pop().unwrap_or_default()
    }

    /// Returns a set of keys. A large set is dropped: clearing it for each small map takes longer than a new one.
    pub(super) fn put_keys(&mut self, mut keys: Hashes) {
        if keys.capacity() <= 1024 {
            keys.clear();
            self.key_sets.push(keys);
        }
    }

    /// Returns the number of nodes in use.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.spare.len()
    }
}

fn clear(lengths: &mut Lengths) {
    let mut powers = std::mem::take(&mut lengths.by_power);
    let mut buckets = std::mem::take(&mut lengths.by_buckets);
    powers.clear();
    buckets.clear();
    *lengths = Lengths { by_power: powers, by_buckets: buckets, ..Lengths::default() };
}

/// The serialised form of an arena.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    #[serde(deserialize_with = "limited")]
    nodes: Vec<Node>,
    #[serde(deserialize_with = "limited")]
    objects: Vec<Object>,
    root: NodeId,
    pub(super) documents: u64,
    bytes: u64,
    moment: u64,
    /// The form file that they were read by, and how many of its objects they begin with.
    form: Option<u64>,
    fresh: u32,
}

/// Deserializes no more elements than an arena can have. Without this, a small file could fill the memory, since an
/// element without counts takes two bytes in JSON.
fn limited<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Limited<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Limited<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            write!(f, "at most {} elements", 2 * MOST)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(element) = seq.next_element()? {
                if all.len() == 2 * MOST {
                    return Err(A::Error::invalid_length(all.len() + 1, &self));
                }
                all.push(element);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_seq(Limited(PhantomData))
}

/// Sums over the values below a position.
struct Sum<'a> {
    arena: &'a Arena,
    free: Free,
    /// The objects that were added or are being added, so that a cycle ends.
    open: HashSet<ObjectId>,
}

impl Sum<'_> {
    fn node(&mut self, node: NodeId) {
        let node = self.arena.node(node);
        if let Some(texts) = &node.texts {
            self.free.texts += texts.count - texts.empty;
            self.free.text_bytes += texts.bytes;
        }
        if let Some(inner) = &node.free {
            self.free.merge(&Free { count: 0, ..(**inner).clone() });
        }
        if let Some(array) = &node.array {
            self.free.arrays.merge(&array.lengths);
            self.node(array.element);
            array.positions.iter().for_each(|&position| self.node(position));
        }
        if let Some(object) = node.object.filter(|_| node.objects > 0) {
            let object = self.arena.find(object);
            let instances = self.arena.object(object).instances;
            if node.objects == instances {
                self.object(object);
            } else if !self.open.contains(&object) {
                // Other positions share the objects, so this one gets a proportional part of their sums.
                let mut all = Sum { arena: self.arena, free: Free::default(), open: std::mem::take(&mut self.open) };
                all.object(object);
                self.open = all.open;
                self.free.merge(&all.free.share(node.objects, instances));
            }
        }
    }

    fn object(&mut self, id: ObjectId) {
        let id = self.arena.find(id);
        if !self.open.insert(id) {
            return;
        }
        let object = self.arena.object(id);
        if !matches!(object.shape, Shape::Union(_)) {
            self.free.objects.merge(&object.lengths);
        }
        match &object.shape {
            Shape::Record(fields) => {
                for field in &fields.list {
                    self.free.key_bytes += field.key.len() as u64 * self.arena.node(field.node).count();
                    self.node(field.node);
                }
                if let Some(rest) = &fields.rest {
                    self.free.key_bytes += rest.keys.bytes;
                    self.node(rest.value);
                }
            }
            Shape::Map { keys, value } => {
                self.free.key_bytes += keys.bytes;
                self.node(*value);
            }
            Shape::Union(tagged) => {
                let untagged = tagged.untagged.iter().copied();
                tagged
                    .variants
                    .iter()
                    .map(|variant| variant.object)
                    .chain(untagged)
                    .for_each(|object| self.object(object));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a record that one object with these keys was counted in.
    fn record(arena: &mut Arena, keys: &[&str]) -> ObjectId {
        let object = arena.new_object();
        for key in keys {
            let index = arena.new_field(object, None, key, hash(key));
            let node = arena.fields(object).unwrap().list[index].node;
            arena.node_mut(node).nulls = 1;
        }
        arena.object_mut(object).instances = 1;
        object
    }

    #[test]
    fn copy_of_a_map_within_itself_ends() {
        let mut arena = Arena::new(false);
        let (map, value, node) = (arena.new_object(), arena.new_node(0), arena.new_node(0));
        arena.object_mut(map).shape = Shape::Map { keys: Box::default(), value };
        arena.node_mut(value).object = Some(map);
        arena.node_mut(node).object = Some(map);
        let copy = arena.copy_node(node, &mut Vec::new());
        let copied = arena.object_of(copy).unwrap();
        let Shape::Map { value, .. } = arena.object(copied).shape else { panic!("not a map") };
        assert_eq!((arena.object_of(value), copied == map), (Some(map), false));
    }

    /// Creates a union that one object with the tag `type` was counted in.
    fn union(arena: &mut Arena) -> ObjectId {
        let (union, template) = (arena.new_object(), arena.new_object());
        let variant = record(arena, &["type", "x"]);
        let mut tagged = Tagged::new("type".into(), template);
        tagged.push("a".into(), hash("a"), variant);
        arena.object_mut(union).shape = Shape::Union(Box::new(tagged));
        arena.object_mut(union).instances = 1;
        union
    }

    #[test]
    fn record_with_the_tag_is_not_an_untagged_variant() {
        // Under the tag, the record has nothing, null, or a string; the last two also among the keys that are no fields.
        for (fields, rest, text, is_untagged) in [
            (&["y"][..], &[][..], false, true),
            (&["y", "type"], &[], false, true),
            (&["y", "type"], &[], true, false),
            (&["y"], &["z"], false, true),
            (&["y"], &["type"], false, false),
            (&["y"], &["type"], true, false),
        ] {
            for union_first in [true, false] {
                let mut arena = Arena::new(false);
                let (union, other) = if union_first {
                    let union = union(&mut arena);
                    (union, record(&mut arena, fields))
                } else {
                    let other = record(&mut arena, fields);
                    (union(&mut arena), other)
                };
                for key in rest {
                    let rest = arena.rest(other).unwrap();
                    rest.keys.add_key(key, hash(key), 1);
                    let value = rest.value;
                    arena.node_mut(value).nulls = 1;
                }
                if text {
                    let list = &arena.fields(other).unwrap().list;
                    let field = list.iter().find(|field| *field.key == *"type").map(|field| field.node);
                    let node = field.unwrap_or_else(|| arena.rest(other).unwrap().value);
                    *arena.node_mut(node) = Node::default();
                    let (node, room) = arena.node_and_room(node);
                    node.texts.get_or_insert_default().add("b", hash("b"), room);
                }
                let objects = if union_first { [union, other] } else { [other, union] };
                arena.join(&objects);
                arena.settle();
                let joined = arena.find(union);
                assert_eq!((arena.find(other), arena.object(joined).instances), (joined, 2));
                assert_eq!(arena.tagged(joined).is_some(), is_untagged, "{fields:?} {rest:?} {text}");
                if is_untagged {
                    let untagged = arena.find(arena.object(joined).shape.untagged().unwrap());
                    assert_eq!(arena.object(untagged).instances, 1);
                }
            }
        }
    }

    #[test]
    fn merge_ends_if_the_untagged_objects_of_a_union_are_a_link_to_it() {
        let mut arena = Arena::new(false);
        let union = union(&mut arena);
        let link = arena.new_object();
        arena.tagged_mut(union).unwrap().untagged = Some(link);
        arena.object_mut(link).link = Some(union);
        let other = record(&mut arena, &["y"]);
        arena.join(&[union, other]);
        assert!((0..100).any(|_| !arena.settle_one()), "the merge does not end");
        assert_eq!(arena.object(union).instances, 2);
        let untagged = arena.find(arena.object(union).shape.untagged().unwrap());
        assert_ne!(untagged, union);
        assert_eq!((arena.object(untagged).instances, arena.find(other)), (1, union));
    }
}

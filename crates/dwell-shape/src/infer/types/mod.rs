//! Puts the objects of the accumulators into classes, one class for each type.
//!
//! The counts are not merged, so that a class can still turn out to be a map, of which each position has its own. Two
//! objects are in one class
//!
//! - if they are in one position: under one key of a type, among the elements of its arrays, or among the values of a
//!   map;
//! - if they are records with the same name that have most keys of the smaller one in common, or are under the same key
//!   of two variants of a union;
//! - if they have the same tag and a common variant, at any position;
//! - if they have the same keys with the same types, at any position;
//! - if one contains the other and they have nearly the same keys with the same types: a `status` and its
//!   `retweeted_status`;
//! - if they are under two keys of one record and have nearly the same keys with the same types: `home` and `away`.

mod alike;
mod position;
mod tags;
mod untyped;

use super::arena::{Arena, Field, Fixed, NodeId, ObjectId, Shape, Tagged};
use super::decide;
use super::sets::Sets;
use super::text::Texts;
use crate::overrides::What;
use crate::schema::{ENOUGH, Lengths};
use foldhash::{HashMap, HashMapExt, HashSet};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// Nodes whose values are in one position of a type.
pub(super) type Group = Vec<NodeId>;

/// One key of a record type.
#[derive(Clone)]
pub(super) struct Slot<'a> {
    pub(super) key: &'a str,
    pub(super) hash: u64,
    /// The position of its first occurrence.
    pub(super) first: u64,
    pub(super) group: Group,
}

/// The kind of the objects of a class.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Record,
    Map,
    Union,
}

/// The objects in classes.
pub(super) struct Types<'a> {
    arena: &'a Arena,
    /// The parent of each object in a union-find forest.
    parents: HashMap<ObjectId, ObjectId>,
    classes: HashMap<ObjectId, Class<'a>>,
    /// The objects of unions without a tag.
    untagged: HashSet<ObjectId>,
    /// Whether a map of the form made a class of records with more entries a map.
    pub(super) is_overruled: bool,
    /// How often a class became a map, or a map became records.
    changes: u64,
}

/// The objects of one type.
#[expect(clippy::struct_excessive_bools, reason = "each is a property of the objects, alone")]
struct Class<'a> {
    members: Vec<ObjectId>,
    /// Whether one of the objects is a map, or the keys of all of them together are data.
    is_map: bool,
    /// Whether one of the objects is shared by several positions, so that it cannot become the map of one position.
    has_shared: bool,
    /// Whether the keys are data although objects are shared.
    is_named_map: bool,
    /// Whether one of the objects is a union.
    has_union: bool,
    /// Whether unions are treated as records.
    is_record: bool,
    /// The tag that only all objects together show.
    tag: Option<&'a str>,
    /// The result of [`Types::is_union`], until objects are added.
    is_union: OnceCell<bool>,
    /// The result of [`Types::slots`], until objects are added.
    slots: OnceCell<Rc<[Slot<'a>]>>,
    /// The result of [`Types::all_values`], until objects are added or become maps.
    values: OnceCell<(u64, u8)>,
    /// The name that the user gave to the type.
    name: Option<&'a str>,
    /// The kind as which [`Types::close`] looked at its positions, until objects are added.
    closed: Option<Form>,
    /// The value of [`Types::changes`] when its keys were found to be no data, until objects are added.
    no_map: Option<u64>,
    /// The number of entries of the objects.
    entries: u64,
    /// Whether one of the objects is a map whose counts cannot become those of fields.
    is_fixed: bool,
}

impl<'a> Class<'a> {
    fn new(arena: &'a Arena, object: ObjectId, has_shared: bool) -> Self {
        let seen = arena.object(object);
        let shape = &seen.shape;
        Self {
            members: vec![object],
            is_map: matches!(shape, Shape::Map { .. }),
            has_shared,
            is_named_map: false,
            has_union: matches!(shape, Shape::Union(_)),
            is_record: false,
            tag: None,
            is_union: OnceCell::new(),
            slots: OnceCell::new(),
            values: OnceCell::new(),
            name: arena.user.named.get(&object).map(String::as_str),
            closed: None,
            no_map: None,
            entries: seen.lengths.total,
            // In the full pass, the counts of a map cannot become those of fields.
            is_fixed: !arena.studying && matches!(shape, Shape::Map { .. }),
        }
    }

    fn add(&mut self, other: Self) {
        self.members.extend(other.members);
        self.is_map |= other.is_map;
        self.has_shared |= other.has_shared;
        self.is_named_map |= other.is_named_map;
        self.has_union |= other.has_union;
        self.is_record |= other.is_record;
        self.tag = self.tag.or(other.tag);
        self.name = self.name.or(other.name);
        self.entries += other.entries;
        self.is_fixed |= other.is_fixed;
        (self.is_union, self.slots, self.values) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        (self.closed, self.no_map) = (None, None);
    }
}

/// How many times the entries of an object a class of records must have for the object to be no map.
const OUTVOTED: u64 = 5;

/// Returns whether few enough objects lack a tag for it to distinguish the others.
fn is_rare(without: u64, all: u64) -> bool {
    without * 4 <= all
}

/// Returns the fields of a record.
fn fields(arena: &Arena, object: ObjectId) -> impl Iterator<Item = &Field> {
    arena.fields(object).into_iter().flat_map(|fields| &fields.list)
}

impl<'a> Types<'a> {
    /// Classifies the objects.
    pub(super) fn new(arena: &'a Arena) -> Self {
        let (parents, classes) = (HashMap::new(), HashMap::new());
        let mut types =
            Self { arena, parents, classes, untagged: arena.untagged_objects(), is_overruled: false, changes: 0 };
        types.enter(arena.root, &decide::shared(arena));
        types.join_named();
        loop {
            while types.close() || types.find_maps() {}
            let joined =
                types.by_name() || types.by_tag() || types.by_external() || types.by_form() || types.by_nesting();
            if !joined && !types.single() {
                return types;
            }
        }
    }

    fn enter(&mut self, node: NodeId, shared: &HashSet<ObjectId>) {
        let mut nodes = vec![node];
        while let Some(node) = nodes.pop() {
            nodes.extend(decide::elements(self.arena, node));
            let mut objects: Vec<ObjectId> = self.arena.object_of(node).into_iter().collect();
            while let Some(object) = objects.pop() {
                let object = self.arena.find(object);
                let Entry::Vacant(new) = self.classes.entry(object) else { continue };
                new.insert(Class::new(self.arena, object, shared.contains(&object)));
                if let Shape::Union(tagged) = &self.arena.object(object).shape {
                    objects.extend(tagged.variants.iter().map(|variant| variant.object).chain(tagged.untagged));
                } else {
                    nodes.extend(decide::children(self.arena, object));
                }
            }
        }
    }

    /// Returns the class of an object.
    pub(super) fn class(&self, object: ObjectId) -> ObjectId {
        let mut object = self.arena.find(object);
        while let Some(&parent) = self.parents.get(&object) {
            object = parent;
        }
        object
    }

    /// Returns the class of the objects at a position, if it has any.
    pub(super) fn class_at(&self, group: &[NodeId]) -> Option<ObjectId> {
        self.objects_at(group).next().map(|object| self.class(object))
    }

    /// Returns the objects at a position.
    pub(super) fn objects_at(&self, group: &[NodeId]) -> impl Iterator<Item = ObjectId> {
        group.iter().filter_map(|&node| self.arena.object_of(node))
    }

    /// Merges the objects to which the user gave one name.
    fn join_named(&mut self) {
        let mut first = BTreeMap::<&str, ObjectId>::new();
        let mut named: Vec<(&ObjectId, &String)> = self.arena.user.named.iter().collect();
        named.sort_unstable();
        named.retain(|(object, _)| self.classes.contains_key(object));
        for (object, name) in named {
            let first = *first.entry(name).or_insert(*object);
            self.join(first, *object);
        }
    }

    /// Merges two classes that may be of one type. Returns whether they were different and the user did not name them apart.
    fn join_alike(&mut self, left: ObjectId, right: ObjectId) -> bool {
        let name = |class: ObjectId| self.classes[&self.class(class)].name;
        let are_apart = name(left).zip(name(right)).is_some_and(|(left, right)| left != right);
        !are_apart && self.join(left, right)
    }

    /// Merges two classes. Returns whether they were different.
    fn join(&mut self, left: ObjectId, right: ObjectId) -> bool {
        let (left, right) = (self.class(left), self.class(right));
        if left == right {
            return false;
        }
        // The lower number remains, so that the result does not depend on the order.
        let (kept, gone) = (left.min(right), left.max(right));
        let is_map = self.stays_map(kept, gone);
        let forms = [kept, gone].map(|class| self.is_map(class));
        self.parents.insert(gone, kept);
        if let Some(moved) = self.classes.remove(&gone)
            && let Some(class) = self.classes.get_mut(&kept)
        {
            class.add(moved);
            if !is_map {
                (class.is_map, class.is_named_map) = (false, false);
            }
        }
        let is = self.is_map(kept);
        self.changes += u64::from(forms.iter().any(|&was| was != is));
        true
    }

    /// Returns whether a map and records that turn out to be of one type are a map: the side with more entries decides, unless
    /// the map is fixed.
    fn stays_map(&mut self, left: ObjectId, right: ObjectId) -> bool {
        let is_map = |class: ObjectId| self.classes[&class].is_map || self.classes[&class].is_named_map;
        let (map, record) = match (is_map(left), is_map(right)) {
            (true, false) => (left, right),
            (false, true) => (right, left),
            _ => return true,
        };
        let is_larger = self.classes[&map].entries >= self.classes[&record].entries;
        let is_map = is_larger || self.classes[&map].is_fixed;
        self.is_overruled |= is_map && !is_larger;
        is_map
    }

    fn join_all(&mut self, classes: &[ObjectId]) -> bool {
        let mut changed = false;
        for &class in &classes[1..] {
            changed |= self.join_alike(classes[0], class);
        }
        changed
    }

    /// Returns the objects of each class of records whose other objects have far more entries.
    pub(super) fn outvoted(&self) -> HashSet<ObjectId> {
        let entries = |object: ObjectId| self.arena.object(object).lengths.total;
        let records = self.classes().into_iter().filter(|&class| {
            let state = &self.classes[&class];
            state.members.len() > 1 && !state.is_map && !state.is_named_map
        });
        let few = |class: ObjectId| {
            let all: u64 = self.parts(class).map(entries).sum();
            self.parts(class).filter(move |&object| entries(object) * OUTVOTED < all)
        };
        records.flat_map(few).collect()
    }

    /// Returns the classes, each with the classes directly below it.
    pub(super) fn below(&self) -> Vec<(ObjectId, Vec<ObjectId>)> {
        let below = |class: ObjectId| {
            let objects = self.members(class).iter().flat_map(|&object| decide::objects_below(self.arena, object));
            (class, objects.map(|object| self.class(object)).collect())
        };
        self.classes().into_iter().map(below).collect()
    }

    fn classes(&self) -> Vec<ObjectId> {
        let mut classes: Vec<ObjectId> = self.classes.keys().copied().collect();
        classes.sort_unstable();
        classes
    }

    fn members(&self, class: ObjectId) -> &[ObjectId] {
        &self.classes[&class].members
    }

    fn class_mut(&mut self, class: ObjectId) -> &mut Class<'a> {
        self.classes.get_mut(&class).expect("a class has its number until it is merged into another")
    }

    /// Returns whether the keys of a class are data.
    fn is_map(&self, class: ObjectId) -> bool {
        let state = &self.classes[&class];
        state.is_map && !state.has_shared
    }

    /// Returns the kind of the objects of a class.
    pub(super) fn form(&self, class: ObjectId) -> Form {
        let state = &self.classes[&class];
        if self.is_map(class) {
            Form::Map
        } else if state.has_union && !state.is_record && *state.is_union.get_or_init(|| self.is_union(&state.members)) {
            Form::Union
        } else {
            Form::Record
        }
    }

    /// Returns whether a tag distinguishes nearly all objects of a class, and the others are records without it.
    fn is_union(&self, members: &[ObjectId]) -> bool {
        let Some(tag) = members.iter().find_map(|&object| Some(self.arena.tagged(object)?.hash)) else { return false };
        let (mut all, mut without) = (0, 0);
        let has_markers = members.iter().any(|&object| self.arena.tagged(object).is_some_and(Tagged::has_markers));
        if has_markers && !members.iter().all(|&object| self.marks_all(object)) {
            return false;
        }
        for &object in members {
            let instances = self.arena.object(object).instances;
            match self.arena.tagged(object) {
                Some(tagged) if tagged.hash == tag => all += instances,
                // The instances of the union include these already.
                None if self.untagged.contains(&object) => without += instances,
                None if !has_markers && self.arena.is_without(object, tag) => {
                    (all, without) = (all + instances, without + instances);
                }
                _ => return false,
            }
        }
        is_rare(without, all)
    }

    /// Returns whether the variants of a union that has markers, if it does, are told apart by them: each requires its own.
    fn marks_all(&self, object: ObjectId) -> bool {
        let Some(tagged) = self.arena.tagged(object) else { return true };
        tagged.variants.iter().all(|variant| {
            let content = self.arena.find(variant.object);
            let marker = fields(self.arena, content).find(|field| field.hash == variant.hash);
            let instances = self.arena.object(content).instances;
            instances == 0
                || (instances >= ENOUGH
                    && marker.is_some_and(|marker| {
                        let node = self.arena.node(marker.node);
                        node.nulls == 0 && node.count() == instances
                    }))
        })
    }

    /// Returns whether a union class has objects without a tag.
    pub(super) fn has_untagged(&self, class: ObjectId) -> bool {
        self.instances(class) > 0
    }

    /// Returns the records of a class. If its unions are treated as records, these are the variants' records.
    fn parts(&self, class: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.members(class).iter().copied().filter(|&object| self.arena.tagged(object).is_none())
    }

    /// Returns the number of objects of a record class.
    pub(super) fn instances(&self, class: ObjectId) -> u64 {
        self.parts(class).map(|object| self.arena.object(object).instances).sum()
    }

    /// Returns the keys of a record class, in alphabetical order.
    pub(super) fn slots(&self, class: ObjectId) -> Rc<[Slot<'a>]> {
        self.classes[&class].slots.get_or_init(|| self.find_slots(class)).clone()
    }

    fn find_slots(&self, class: ObjectId) -> Rc<[Slot<'a>]> {
        let mut slots = Vec::<Slot>::new();
        let mut index = HashMap::new();
        for field in self.parts(class).flat_map(|object| fields(self.arena, object)) {
            let slot = *index.entry(field.hash).or_insert(slots.len());
            if slot == slots.len() {
                slots.push(Slot { key: &field.key, hash: field.hash, first: u64::MAX, group: Vec::new() });
            }
            let slot = &mut slots[slot];
            slot.first = slot.first.min(field.first);
            slot.group.push(field.node);
        }
        slots.sort_unstable_by_key(|slot| slot.key);
        slots.into()
    }

    /// Returns the values of the entries of a record class that are not fields.
    pub(super) fn rest(&self, class: ObjectId) -> Group {
        let rests = self.parts(class).filter_map(|object| self.arena.fields(object)?.rest.as_ref());
        rests.map(|rest| rest.value).collect()
    }

    /// Returns the numbers of keys of a record class's objects.
    pub(super) fn lengths(&self, class: ObjectId) -> Lengths {
        let mut lengths = Lengths::default();
        self.parts(class).for_each(|object| lengths.merge(&self.arena.object(object).lengths));
        lengths
    }

    /// Returns the keys of the entries of a record class that are not fields.
    pub(super) fn rest_keys(&self, class: ObjectId) -> Texts {
        let mut keys = Texts::default();
        let rests = self.parts(class).filter_map(|object| self.arena.fields(object)?.rest.as_ref());
        rests.for_each(|rest| keys.merge(&rest.keys));
        keys
    }

    /// Returns the objects of each record class that has several, if one of them has entries that are not fields.
    pub(super) fn with_rest(&self) -> Vec<Vec<ObjectId>> {
        let records = self.classes().into_iter().filter(|&class| self.form(class) != Form::Map);
        let several = records.map(|class| self.parts(class).collect::<Vec<_>>()).filter(|parts| parts.len() > 1);
        let needs = |&object: &ObjectId| match &self.arena.object(object).shape {
            Shape::Record(fields) => fields.rest.is_some(),
            Shape::Map { .. } => true,
            Shape::Union(_) => false,
        };
        several.filter(|parts| parts.iter().any(needs)).collect()
    }

    /// Returns the objects of each class whose keys are data and whose objects several positions share.
    pub(super) fn named_maps(&self) -> Vec<Vec<ObjectId>> {
        let named = self.classes().into_iter().filter(|class| self.classes[class].is_named_map);
        named.map(|class| self.parts(class).collect()).collect()
    }

    /// Returns whether each object of a record class has exactly one of several keys, whose values differ in type: an
    /// externally tagged union, as serde writes an `enum`.
    pub(super) fn is_external(&self, class: ObjectId) -> bool {
        let (instances, slots) = (self.instances(class), self.slots(class));
        if self.has_roots(class) {
            return !slots.is_empty();
        }
        if self.form(class) != Form::Record || slots.len() < 2 || !self.rest(class).is_empty() {
            return false;
        }
        let lengths = self.lengths(class);
        let count = |slot: &Slot<'_>| slot.group.iter().map(|&node| self.arena.node(node).count()).sum::<u64>();
        let all = slots.iter().map(count).sum::<u64>();
        decide::is_external(slots.len(), instances, all, &lengths)
            && slots.iter().all(|slot| decide::is_name(slot.key))
            && slots.iter().any(|slot| !decide::is_plain(self.kinds(&slot.group), self.kinds(&slots[0].group)))
    }

    /// Returns whether each object of a class is a document under the name of its type.
    fn has_roots(&self, class: ObjectId) -> bool {
        self.arena.user.overrides.iter().any(|one| one.what == What::Roots)
            && self.arena.object_of(self.arena.root).is_some_and(|root| self.class(root) == class)
    }

    /// Returns the sets of keys of a record class.
    pub(super) fn key_sets(&self, class: ObjectId) -> Sets {
        let mut sets = Sets::default();
        self.parts(class).for_each(|object| sets.merge(&self.arena.object(object).sets));
        sets
    }

    /// Returns the values of objects that are maps.
    pub(super) fn values(&self, objects: impl Iterator<Item = ObjectId>) -> Group {
        objects.flat_map(|object| decide::children(self.arena, object)).collect()
    }

    /// Returns the variants of a union class: the tag's value and the class of the objects.
    pub(super) fn variants(&self, class: ObjectId) -> Vec<(&'a str, ObjectId)> {
        let mut variants = BTreeMap::new();
        for tagged in self.members(class).iter().filter_map(|&object| self.arena.tagged(object)) {
            for variant in &tagged.variants {
                variants.entry(&*variant.value).or_insert_with(|| self.class(variant.object));
            }
        }
        variants.into_iter().collect()
    }

    /// Returns the tag of a union class.
    pub(super) fn tag(&self, class: ObjectId) -> &'a str {
        let tagged = self.members(class).iter().find_map(|&object| self.arena.tagged(object));
        tagged.map_or("", |tagged| &tagged.key)
    }

    /// Returns the positions of the elements of a position's arrays: several for tuples.
    pub(super) fn elements(&self, group: &[NodeId]) -> Vec<Group> {
        let arrays = || group.iter().filter_map(|&node| self.arena.node(node).array.as_ref());
        let mut lengths = arrays().filter(|array| array.lengths.count > 0).map(|array| array.fixed);
        let first = lengths.next();
        if let Some(Fixed::At(length)) = first
            && lengths.all(|length| Some(length) == first)
        {
            // Arrays without values have the form of an earlier round, which may be that of a list.
            let at = |index: usize| arrays().filter_map(|array| array.positions.get(index).copied()).collect();
            return (0..length).map(at).collect();
        }
        let all = arrays().flat_map(|array| array.positions.iter().copied().chain([array.element]));
        let all: Group = all.collect();
        if all.is_empty() { Vec::new() } else { vec![all] }
    }

    /// Returns the class of the objects at a position or in its arrays.
    pub(super) fn class_within(&self, group: &[NodeId]) -> Option<ObjectId> {
        self.classes_within(group).first().copied()
    }

    /// Returns the classes of the objects at a position and in its arrays.
    fn classes_within(&self, group: &[NodeId]) -> Vec<ObjectId> {
        let mut classes: Vec<ObjectId> = self.class_at(group).into_iter().collect();
        for elements in self.elements(group) {
            classes.extend(self.classes_within(&elements));
        }
        classes
    }

    /// Returns the number and the JSON types of the values of a class of maps, or of the fields of a class of records.
    fn all_values(&self, class: ObjectId) -> (u64, u8) {
        let state = &self.classes[&class];
        *state.values.get_or_init(|| {
            let nodes = if self.form(class) == Form::Map {
                self.values(state.members.iter().copied())
            } else {
                self.slots(class).iter().flat_map(|slot| slot.group.iter().copied()).collect()
            };
            (nodes.iter().map(|&node| self.arena.node(node).count()).sum(), self.kinds(&nodes))
        })
    }

    fn kinds(&self, group: &[NodeId]) -> u8 {
        group.iter().fold(0, |kinds, &node| kinds | decide::kinds(self.arena, node))
    }
}

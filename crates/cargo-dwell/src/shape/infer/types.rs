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

use super::arena::{Arena, Field, Fields, Fixed, NodeId, ObjectId, Shape};
use super::decide::{self, FREE};
use super::names;
use super::sets::Sets;
use super::study::{Study, is_usual};
use super::text::Texts;
use crate::shape::schema::Lengths;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
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
}

impl Class<'_> {
    fn new(arena: &Arena, object: ObjectId, has_shared: bool) -> Self {
        let shape = &arena.object(object).shape;
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
        (self.is_union, self.slots) = (OnceCell::new(), OnceCell::new());
    }
}

/// Returns whether few enough objects lack a tag for it to distinguish the others.
fn is_rare(without: u64, all: u64) -> bool {
    without * 4 <= all
}

/// The most types with one name that are compared with each other.
const MAX_CLUSTERS: usize = 64;

/// The share of a record's objects that have a given value of the tag. `Some` includes an unknown share.
enum With {
    None,
    Some,
    All,
}

/// A class and its first position.
struct Met {
    class: ObjectId,
    name: String,
    /// The union, if this is a field of a variant.
    union: Option<ObjectId>,
}

impl<'a> Types<'a> {
    /// Classifies the objects.
    pub(super) fn new(arena: &'a Arena) -> Self {
        let (parents, classes) = (HashMap::new(), HashMap::new());
        let mut types = Self { arena, parents, classes, untagged: arena.untagged_objects() };
        types.enter(arena.root, &decide::shared(arena));
        loop {
            while types.close() || types.find_maps() {}
            let joined = types.by_name() || types.by_tag() || types.by_form() || types.by_nesting();
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

    /// Merges two classes. Returns whether they were different.
    fn join(&mut self, left: ObjectId, right: ObjectId) -> bool {
        let (left, right) = (self.class(left), self.class(right));
        if left == right {
            return false;
        }
        // The lower number remains, so that the result does not depend on the order.
        let (kept, gone) = (left.min(right), left.max(right));
        self.parents.insert(gone, kept);
        if let Some(moved) = self.classes.remove(&gone)
            && let Some(class) = self.classes.get_mut(&kept)
        {
            class.add(moved);
        }
        true
    }

    /// Returns the classes, each with the classes directly below it.
    pub(super) fn below(&self) -> Vec<(ObjectId, Vec<ObjectId>)> {
        let of = |class: ObjectId| {
            let objects = self.members(class).iter().flat_map(|&object| decide::objects_below(self.arena, object));
            (class, objects.map(|object| self.class(object)).collect())
        };
        self.classes().into_iter().map(of).collect()
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

    /// Returns the kind of the objects of a class.
    pub(super) fn form(&self, class: ObjectId) -> Form {
        let of = &self.classes[&class];
        if of.is_map && !of.has_shared {
            Form::Map
        } else if of.has_union && !of.is_record && *of.is_union.get_or_init(|| self.is_union(&of.members)) {
            Form::Union
        } else {
            Form::Record
        }
    }

    /// Returns whether a tag distinguishes nearly all objects of a class, and the others are records without it.
    fn is_union(&self, members: &[ObjectId]) -> bool {
        let Some(tag) = members.iter().find_map(|&object| Some(self.arena.tagged(object)?.hash)) else { return false };
        let (mut all, mut without) = (0, 0);
        for &object in members {
            let instances = self.arena.object(object).instances;
            match self.arena.tagged(object) {
                Some(tagged) if tagged.hash == tag => all += instances,
                // The instances of the union include these already.
                None if self.untagged.contains(&object) => without += instances,
                None if self.arena.is_without(object, tag) => (all, without) = (all + instances, without + instances),
                _ => return false,
            }
        }
        is_rare(without, all)
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

    /// Returns the tag that a study found for a record class, if nearly all objects have it.
    pub(super) fn study_tag(&self, class: ObjectId) -> Option<&'a str> {
        let tags = self.members(class).iter().filter_map(|&object| match &self.arena.object(object).shape {
            Shape::Union(tagged) => Some(&*tagged.key),
            _ => self.arena.object(object).tag.as_deref(),
        });
        // Studies of different positions may have found different tags; some may be missing at other positions.
        let mut tried = HashSet::new();
        let of_all = self.classes[&class].tag;
        tags.chain(of_all).filter(|tag| tried.insert(*tag)).find(|tag| self.has_tag(class, tag))
    }

    /// Returns the tag that the studies of all objects of a class show together.
    ///
    /// In the first round of a study most positions have one object, and a position with one object shows no tag.
    fn tag_of_all(&self, class: ObjectId) -> Option<&'a str> {
        let mut study = Study::default();
        for object in self.parts(class) {
            study.merge(self.arena.object(object).study.as_deref()?);
        }
        let all = || self.parts(class).flat_map(|object| fields(self.arena, object));
        let tag = study.tag(|hash| Some(all().find(|field| field.hash == hash)?.key.to_string()))?;
        let key: &'a str = &all().find(|field| *field.key == *tag)?.key;
        self.has_tag(class, key).then_some(key)
    }

    /// Returns whether every object of a record class has a string under a key; for a common tag key, nearly every
    /// object.
    fn has_tag(&self, class: ObjectId, key: &str) -> bool {
        let (mut all, mut without) = (0, 0);
        for object in self.parts(class) {
            let field = fields(self.arena, object).find(|field| *field.key == *key);
            let texts = field.map_or(0, |field| self.arena.node(field.node).text_count());
            let values = field.map_or(0, |field| self.arena.node(field.node).count());
            if texts < values && !self.untagged.contains(&object) {
                return false;
            }
            let instances = self.arena.object(object).instances;
            all += instances;
            without += instances - texts;
        }
        without == 0 || (is_usual(key) && is_rare(without, all))
    }

    /// Calls `f` with each record of a class that has the tag, its fields, and the share of its objects with this
    /// value.
    fn each_with(&self, class: ObjectId, tag: u64, value: u64, mut f: impl FnMut(ObjectId, &'a Fields, With)) {
        for object in self.parts(class) {
            let Some(fields) = self.arena.fields(object) else { continue };
            let Some(index) = fields.find(tag) else { continue };
            let texts = self.arena.node(fields.list[index].node).texts.as_ref();
            let with = match texts.and_then(|texts| texts.only_word()) {
                Some((_, word)) if word != value => With::None,
                Some(_) if self.is_all(object, fields, index) => With::All,
                _ => With::Some,
            };
            f(object, fields, with);
        }
    }

    /// Returns the hashes of the keys of a class's objects with this value of the tag.
    pub(super) fn keys_of(&self, class: ObjectId, tag: u64, value: u64) -> HashSet<u64> {
        let mut keys = HashSet::new();
        self.each_with(class, tag, value, |object, fields, with| {
            let all = fields.list.iter().map(|field| field.hash);
            let study = self.arena.object(object).study.as_ref();
            match with {
                With::None => {}
                With::All => keys.extend(all),
                With::Some => {
                    if let Some(has) = study.and_then(|study| study.keys_of(tag, value)) {
                        keys.extend(all.filter(|&hash| has(hash)));
                    }
                }
            }
        });
        keys
    }

    fn is_all(&self, object: ObjectId, fields: &Fields, index: usize) -> bool {
        self.arena.node(fields.list[index].node).text_count() == self.arena.object(object).instances
    }

    /// Returns the hashes of the keys of a class's objects without a tag.
    pub(super) fn keys_without(&self, class: ObjectId, tag: u64) -> HashSet<u64> {
        let mut keys = HashSet::new();
        for object in self.parts(class) {
            let Some(fields) = self.arena.fields(object) else { continue };
            let all = || fields.list.iter().map(|field| field.hash);
            match fields.find(tag) {
                _ if self.arena.is_without(object, tag) => keys.extend(all()),
                Some(index) if !self.is_all(object, fields, index) => {
                    match self.arena.object(object).study.as_ref().and_then(|study| study.keys_without(tag)) {
                        Some(has) => keys.extend(all().filter(|&hash| has(hash))),
                        None => keys.extend(all().filter(|&hash| hash != tag)),
                    }
                }
                _ => {}
            }
        }
        keys
    }

    /// Returns whether some objects of a record class lack the tag.
    pub(super) fn has_others(&self, class: ObjectId, tag: u64) -> bool {
        self.parts(class).any(|object| {
            let index = self.arena.fields(object).and_then(|fields| Some((fields, fields.find(tag)?)));
            !index.is_some_and(|(fields, index)| self.is_all(object, fields, index))
                && self.arena.object(object).instances > 0
        })
    }

    /// Returns the keys of the objects with this value of the tag under which an object has a tag itself.
    pub(super) fn keys_of_tagged(&self, class: ObjectId, tag: u64, value: u64) -> HashSet<u64> {
        let mut keys = HashSet::new();
        self.each_with(class, tag, value, |object, fields, with| {
            let study = self.arena.object(object).study.as_ref();
            let has = |field: &&Field| match with {
                With::None => false,
                With::All => self.holds_tagged(field.node),
                With::Some => study.is_some_and(|study| study.has_tagged(tag, value, field.hash)),
            };
            keys.extend(fields.list.iter().filter(has).map(|field| field.hash));
        });
        keys
    }

    /// Returns whether an object at this node, or in its arrays, has a tag.
    fn holds_tagged(&self, node: NodeId) -> bool {
        let of = self.arena.object_of(node).filter(|_| self.arena.node(node).objects > 0);
        let tagged = of.is_some_and(|object| match &self.arena.object(object).shape {
            Shape::Union(_) => true,
            Shape::Map { .. } => false,
            Shape::Record(fields) => {
                fields.list.iter().any(|field| is_usual(&field.key) && self.arena.node(field.node).text_count() > 0)
            }
        });
        tagged || decide::elements(self.arena, node).any(|element| self.holds_tagged(element))
    }

    /// Returns the tag of a class, the hashes of its values, and the keys of the objects with each value.
    fn outline_of_union(&self, class: ObjectId) -> Option<(u64, BTreeMap<u64, HashSet<u64>>)> {
        if self.form(class) == Form::Union {
            let tag = names_hash(self.tag(class));
            let keys = |variant| self.slots(variant).iter().map(|slot| slot.hash).collect();
            let variants = self.variants(class).into_iter();
            return Some((tag, variants.map(|(value, variant)| (names_hash(value), keys(variant))).collect()));
        }
        let tag = names_hash(self.study_tag(class)?);
        let mut values = BTreeMap::new();
        for object in self.parts(class) {
            let fields = self.arena.fields(object)?;
            let Some(index) = fields.find(tag) else { continue };
            let Some(texts) = &self.arena.node(fields.list[index].node).texts else { continue };
            for value in texts.word_hashes() {
                values.entry(value).or_insert_with(|| self.keys_of(class, tag, value));
            }
        }
        Some((tag, values))
    }

    /// Merges unions that have the same tag and a common variant.
    fn by_tag(&mut self) -> bool {
        let outlines: Vec<_> = self
            .classes()
            .into_iter()
            .filter(|&class| self.form(class) != Form::Map)
            .filter_map(|class| Some((class, self.outline_of_union(class)?)))
            .collect();
        let mut by_value = BTreeMap::<(u64, u64), Vec<usize>>::new();
        for (index, (_, (tag, values))) in outlines.iter().enumerate() {
            for &value in values.keys() {
                by_value.entry((*tag, value)).or_default().push(index);
            }
        }
        let mut changed = false;
        for ((tag, value), indices) in by_value {
            let keys = |index: usize| &outlines[index].1.1[&value];
            for &index in &indices[1..] {
                let (left, right) = (keys(indices[0]), keys(index));
                let common = left.intersection(right).filter(|&&key| key != tag).count();
                let all = left.union(right).filter(|&&key| key != tag).count();
                if common * 2 >= all {
                    changed |= self.join(outlines[indices[0]].0, outlines[index].0);
                }
            }
        }
        changed
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

    /// Merges classes that share a position, until nothing changes.
    fn close(&mut self) -> bool {
        let mut changed = false;
        loop {
            let mut again = self.one_position(&[self.arena.root]);
            for class in self.classes() {
                if self.parents.contains_key(&class) {
                    continue; // The loop has merged it into another.
                }
                again |= match self.form(class) {
                    Form::Union => {
                        let joined = self.join_variants(class);
                        let class = self.class(class);
                        let slots = self.slots(class);
                        slots.iter().fold(joined, |again, slot| self.one_position(&slot.group) || again)
                    }
                    form => {
                        let given_up = self.give_up_unions(class);
                        let class = self.class(class);
                        let (slots, others) = if form == Form::Map {
                            (Rc::default(), self.values(self.members(class).iter().copied()))
                        } else {
                            (self.slots(class), self.rest(class))
                        };
                        let groups = slots.iter().map(|slot| &slot.group).chain([&others]);
                        groups.fold(given_up, |again, group| self.one_position(group) || again)
                    }
                };
            }
            if !again {
                return changed;
            }
            changed = true;
        }
    }

    fn one_position(&mut self, group: &[NodeId]) -> bool {
        if let [node] = *group
            && self.arena.node(node).array.is_none()
        {
            return false;
        }
        let objects: Vec<ObjectId> = self.objects_at(group).collect();
        let mut changed = false;
        for &object in objects.iter().skip(1) {
            changed |= self.join(objects[0], object);
        }
        for elements in self.elements(group) {
            changed |= self.one_position(&elements);
        }
        changed
    }

    fn join_variants(&mut self, class: ObjectId) -> bool {
        let mut known = HashMap::new();
        let mut changed = false;
        for object in self.members(class).to_vec() {
            for variant in self.arena.tagged(object).into_iter().flat_map(|tagged| &tagged.variants) {
                let first = *known.entry(variant.hash).or_insert(variant.object);
                changed |= self.join(first, variant.object);
            }
            if let Some(untagged) = self.arena.tagged(object).and_then(|tagged| tagged.untagged) {
                changed |= self.join(object, untagged);
            }
        }
        changed
    }

    /// Merges the variants of each union in a class that is not a union.
    fn give_up_unions(&mut self, class: ObjectId) -> bool {
        let mut changed = false;
        for object in self.members(class).to_vec() {
            for variant in self.arena.tagged(object).into_iter().flat_map(|tagged| &tagged.variants) {
                changed |= self.join(object, variant.object);
            }
            if let Some(untagged) = self.arena.tagged(object).and_then(|tagged| tagged.untagged) {
                changed |= self.join(object, untagged);
            }
        }
        changed
    }

    fn find_maps(&mut self) -> bool {
        let classes = self.classes();
        let unions = classes.iter().copied().filter(|&class| self.form(class) == Form::Union);
        // The record of a variant belongs to its union.
        let variants: HashSet<ObjectId> =
            unions.flat_map(|class| self.variants(class)).map(|(_, variant)| variant).collect();
        let is_map = |class: &ObjectId| {
            self.form(*class) == Form::Record && !variants.contains(class) && !self.classes[class].is_named_map && {
                let parts: Vec<ObjectId> = self.parts(*class).collect();
                decide::is_map(self.arena, &parts, &|object| self.form(self.class(object)) == Form::Map)
                    && self.study_tag(*class).is_none()
            }
        };
        let maps: Vec<ObjectId> = classes.iter().copied().filter(is_map).collect();
        let tags: Vec<(ObjectId, &str)> =
            maps.iter().filter_map(|&class| Some((class, self.tag_of_all(class)?))).collect();
        let mut changed = false;
        let tags: HashMap<ObjectId, &str> = tags.into_iter().collect();
        for class in maps {
            match tags.get(&class) {
                Some(&tag) => self.class_mut(class).tag = Some(tag),
                None => changed |= self.set_map(class),
            }
        }
        changed
    }

    /// Makes a record class a map. Returns whether it was not one before.
    fn set_map(&mut self, class: ObjectId) -> bool {
        let class = self.class_mut(class);
        let is = if class.has_shared { &mut class.is_named_map } else { &mut class.is_map };
        !std::mem::replace(is, true)
    }

    /// Treats unions with one variant as records.
    fn single(&mut self) -> bool {
        let single = |&class: &ObjectId| self.form(class) == Form::Union && self.variants(class).len() < 2;
        let single: Vec<ObjectId> = self.classes().into_iter().filter(single).collect();
        for &class in &single {
            self.class_mut(class).is_record = true;
        }
        !single.is_empty()
    }

    /// Returns the classes in breadth-first order, without the variants of unions.
    fn meet(&self) -> Vec<Met> {
        let mut seen = HashSet::new();
        let mut met = Vec::new();
        let mut queue: VecDeque<(Group, String, Option<ObjectId>)> = VecDeque::new();
        queue.push_back((vec![self.arena.root], String::new(), None));
        while let Some((group, name, union)) = queue.pop_front() {
            let elements = self.elements(&group).into_iter();
            queue.extend(elements.map(|elements| (elements, names::singular(&name), union)));
            let Some(class) = self.class_at(&group) else { continue };
            // Each map has a position of its own for its values.
            if self.form(class) == Form::Map {
                queue.push_back((self.values(self.objects_at(&group)), names::singular(&name), union));
            }
            if !seen.insert(class) {
                continue;
            }
            let mut fields = |class: ObjectId, union: Option<ObjectId>| {
                let slots = self.slots(class);
                let mut slots: Vec<&Slot> = slots.iter().collect();
                slots.sort_by_key(|slot| (slot.first, slot.key));
                queue.extend(slots.into_iter().map(|slot| (slot.group.clone(), slot.key.to_owned(), union)));
            };
            match self.form(class) {
                Form::Map => {}
                Form::Record => fields(class, None),
                Form::Union => {
                    self.variants(class).into_iter().for_each(|(_, variant)| fields(variant, Some(class)));
                    fields(class, Some(class));
                }
            }
            met.push(Met { class, name, union });
        }
        met
    }

    fn by_name(&mut self) -> bool {
        let mut groups = BTreeMap::<String, Vec<Met>>::new();
        for met in self.meet() {
            groups.entry(met.name.clone()).or_default().push(met);
        }
        let mut changed = false;
        for mut group in groups.into_values() {
            let mut seen = HashSet::new();
            for met in &mut group {
                met.class = self.class(met.class);
            }
            group.retain(|met| seen.insert(met.class));
            // The largest first, since the others are compared with it. The rest of the key makes the result
            // independent of the order of visits.
            group.sort_by_cached_key(|met| {
                (Reverse(self.size(met.class)), Reverse(self.total(met.class)), self.keys(met.class))
            });
            let mut clusters: Vec<Vec<Met>> = Vec::new();
            for met in group {
                match clusters.iter_mut().take(MAX_CLUSTERS).find(|cluster| self.is_part(&met, &cluster[0])) {
                    Some(cluster) => cluster.push(met),
                    None => clusters.push(vec![met]),
                }
            }
            for cluster in clusters.iter().filter(|cluster| cluster.len() > 1) {
                let classes: Vec<ObjectId> = cluster.iter().map(|met| met.class).collect();
                if self.form(classes[0]) == Form::Map {
                    // The others are maps too, but each has its own type: values distinguish maps, keys do not.
                    for &class in &classes[1..] {
                        changed |= self.set_map(class);
                    }
                } else {
                    changed |= self.join_all(&classes);
                }
            }
        }
        changed
    }

    fn join_all(&mut self, classes: &[ObjectId]) -> bool {
        let mut changed = false;
        for &class in &classes[1..] {
            changed |= self.join(classes[0], class);
        }
        changed
    }

    fn total(&self, class: ObjectId) -> u64 {
        self.members(class).iter().map(|&object| self.arena.object(object).instances).sum()
    }

    fn keys(&self, class: ObjectId) -> Vec<&'a str> {
        match self.form(class) {
            Form::Record => self.slots(class).iter().map(|slot| slot.key).collect(),
            Form::Union => self.variants(class).into_iter().map(|(value, _)| value).collect(),
            Form::Map => Vec::new(),
        }
    }

    fn size(&self, class: ObjectId) -> usize {
        match self.form(class) {
            Form::Record => self.slots(class).len(),
            Form::Union => self.variants(class).len(),
            Form::Map => usize::MAX,
        }
    }

    /// Returns whether the larger class contains most keys or variants of the smaller.
    fn is_part(&self, small: &Met, large: &Met) -> bool {
        let siblings = small.union.is_some() && small.union == large.union;
        match (self.form(small.class), self.form(large.class)) {
            (Form::Record, Form::Record) => {
                // Records without the tag are not variants of a tagged union.
                let tag = self.study_tag(large.class).or_else(|| self.study_tag(small.class));
                if tag.is_some_and(|tag| [small, large].iter().any(|met| !self.has_tag(met.class, tag))) {
                    return false;
                }
                let (small, large) = (self.slots(small.class), self.slots(large.class));
                let (mut common, mut clash) = (0, 0);
                for (left, right) in in_both(&small, &large) {
                    common += 1;
                    clash += usize::from(!self.are_compatible(&left.group, &right.group));
                }
                let least = small.len().min(large.len());
                // Under the same key of two variants, one clash is allowed if there are many keys.
                let little = usize::from(large.len() >= 8);
                // Six common keys with the same types are no coincidence, even if they are a smaller share.
                let enough = common * 2 >= least || (common >= 6 && common * 4 >= least);
                (enough && clash * 5 <= common) || (siblings && common > 0 && clash <= little)
            }
            (Form::Union, Form::Union) => {
                let (few, many) = (self.variants(small.class), self.variants(large.class));
                let common = few.iter().filter(|(value, _)| many.iter().any(|(other, _)| value == other)).count();
                self.tag(small.class) == self.tag(large.class) && common * 2 >= few.len().min(many.len())
            }
            (Form::Record, Form::Map) => {
                // There are too few objects to decide whether their keys are data, so the values decide.
                let slots = self.slots(small.class);
                let nodes: Group = slots.iter().flat_map(|slot| slot.group.iter().copied()).collect();
                let counts: u64 = nodes.iter().map(|&node| self.arena.node(node).count()).sum();
                let values = self.values(self.members(large.class).iter().copied());
                counts < 3 * slots.len() as u64 && decide::are_alike(self.arena, &[nodes, values].concat())
            }
            _ => false,
        }
    }

    fn kinds(&self, group: &[NodeId]) -> u8 {
        group.iter().fold(0, |kinds, &node| kinds | decide::kinds(self.arena, node))
    }

    /// Returns whether the values of two positions could be those of one.
    fn are_compatible(&self, left: &[NodeId], right: &[NodeId]) -> bool {
        let (left, right) = (self.kinds(left), self.kinds(right));
        left == 0 || right == 0 || left & right != 0
    }

    /// Merges records with the same keys and types, at any position.
    fn by_form(&mut self) -> bool {
        let mut forms = BTreeMap::<Vec<(&str, String)>, Vec<ObjectId>>::new();
        for Met { class, .. } in self.meet() {
            if self.form(class) == Form::Record {
                let form = self.slots(class).iter().map(|slot| (slot.key, self.outline(&slot.group))).collect();
                forms.entry(form).or_default().push(class);
            }
        }
        let joined: Vec<Vec<ObjectId>> = forms.into_values().filter(|classes| classes.len() > 1).collect();
        let mut changed = false;
        for classes in joined {
            changed |= self.join_all(&classes);
        }
        changed
    }

    /// Merges a record with one that it contains directly and that has nearly the same keys: a recursive type. Does the
    /// same for records under two keys of one record.
    fn by_nesting(&mut self) -> bool {
        let mut joined = Vec::new();
        for class in self.classes() {
            if self.form(class) != Form::Record {
                continue;
            }
            let slots = self.slots(class);
            let inner = slots.iter().flat_map(|slot| self.classes_within(&slot.group));
            let is_record = |&inner: &ObjectId| inner != class && self.form(inner) == Form::Record;
            let mut inner: Vec<ObjectId> = inner.collect::<HashSet<_>>().into_iter().filter(is_record).collect();
            inner.sort_unstable();
            let mut firsts: Vec<(ObjectId, Rc<[Slot]>)> = Vec::new();
            for inner in inner {
                let theirs = self.slots(inner);
                if self.are_nearly_equal((class, &slots), (inner, &theirs)) {
                    joined.push((class, inner));
                }
                let first = firsts.iter().take(MAX_CLUSTERS);
                let mut known = first.map(|(first, slots)| (*first, &**slots));
                let known = known.find(|&known| self.are_nearly_equal(known, (inner, &theirs)));
                match known.map(|(first, _)| first) {
                    Some(first) => joined.push((first, inner)),
                    None => firsts.push((inner, theirs)),
                }
            }
        }
        joined.sort_unstable();
        let mut changed = false;
        for (class, inner) in joined {
            changed |= self.join(class, inner);
        }
        changed
    }

    /// Returns whether two record classes have at least four common keys, few others, and the same types under the
    /// common keys.
    fn are_nearly_equal(&self, (one, slots): (ObjectId, &[Slot]), (other, theirs): (ObjectId, &[Slot])) -> bool {
        // A cheap test of the numbers of keys first.
        if slots.len().min(theirs.len()) < 4 || slots.len().min(theirs.len()) * 4 < slots.len().max(theirs.len()) * 3 {
            return false;
        }
        let common = in_both(slots, theirs).count();
        let all = slots.len() + theirs.len() - common;
        common >= 4
            && common * 4 >= all * 3
            && in_both(slots, theirs).all(|(left, right)| self.are_compatible(&left.group, &right.group))
            && self.study_tag(one) == self.study_tag(other)
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

    /// Returns a short description of the type of a position, equal for equal types.
    fn outline(&self, group: &[NodeId]) -> String {
        let any = |is: fn(&super::arena::Node) -> bool| group.iter().any(|&node| is(self.arena.node(node)));
        let floats = any(|node| node.floats > 0);
        let marks = [
            (any(|node| node.bools > 0), 'b'),
            (any(|node| node.integers > 0) && !floats, 'i'),
            (floats, 'f'),
            (any(|node| node.text_count() > 0), 's'),
            (any(|node| node.free.is_some()), '?'),
        ];
        let mut text: String = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
        // Writing to a string does not fail.
        for elements in self.elements(group) {
            let _ = write!(text, "[{}]", self.outline(&elements));
        }
        if let Some(class) = self.class_at(group) {
            let _ = match self.form(class) {
                Form::Map => write!(text, "{{{}}}", self.outline(&self.values(self.objects_at(group)))),
                _ => write!(text, "{class:?}"),
            };
        }
        text
    }

    /// Returns the typed nodes of the positions of which another node is untyped.
    pub(super) fn lost(&self) -> Vec<NodeId> {
        let mut lost = Vec::new();
        self.lost_at(&[self.arena.root], &mut lost);
        for class in self.classes() {
            match self.form(class) {
                Form::Union | Form::Record => {
                    self.slots(class).iter().for_each(|slot| self.lost_at(&slot.group, &mut lost));
                }
                // Each position has its own map, but their values have one type.
                Form::Map => self.lost_at(&self.values(self.members(class).iter().copied()), &mut lost),
            }
        }
        lost
    }

    /// Returns the nodes of positions too varied for a type, unless they share objects with other positions.
    pub(super) fn hopeless(&self) -> Vec<NodeId> {
        let mut hopeless = Vec::new();
        self.hopeless_at(&[self.arena.root], &mut hopeless);
        for class in self.classes() {
            if self.form(class) != Form::Map {
                self.slots(class).iter().for_each(|slot| self.hopeless_at(&slot.group, &mut hopeless));
                self.hopeless_at(&self.rest(class), &mut hopeless);
            }
        }
        hopeless
    }

    fn hopeless_at(&self, group: &[NodeId], hopeless: &mut Vec<NodeId>) {
        let mut within = self.elements(group);
        if self.class_at(group).is_some_and(|class| self.form(class) == Form::Map) {
            within.push(self.values(self.objects_at(group)));
        }
        let before = hopeless.len();
        for within in &within {
            self.hopeless_at(within, hopeless);
        }
        let inner = hopeless.len() > before
            || within.iter().any(|within| {
                let kinds = self.kinds(within);
                kinds & FREE != 0 || kinds.count_ones() > 1
            });
        let kinds = self.kinds(group);
        if kinds & FREE == 0
            && decide::is_hopeless(kinds, inner)
            && group.iter().all(|&node| decide::is_unshared(self.arena, node))
        {
            hopeless.truncate(before);
            hopeless.extend(group);
        }
    }

    fn lost_at(&self, group: &[NodeId], lost: &mut Vec<NodeId>) {
        let kinds = |node: NodeId| decide::kinds(self.arena, node);
        if group.iter().any(|&node| kinds(node) & FREE != 0) {
            lost.extend(group.iter().filter(|&&node| kinds(node) & !FREE != 0));
        } else {
            self.elements(group).iter().for_each(|elements| self.lost_at(elements, lost));
        }
    }
}

/// Returns the slots of the keys that two records have in common. Both lists are in alphabetical order.
fn in_both<'s, 'a>(left: &'s [Slot<'a>], right: &'s [Slot<'a>]) -> impl Iterator<Item = (&'s Slot<'a>, &'s Slot<'a>)> {
    let mut rest = right.iter().peekable();
    left.iter().filter_map(move |slot| {
        while rest.next_if(|other| other.key < slot.key).is_some() {}
        Some((slot, rest.next_if(|other| other.key == slot.key)?))
    })
}

fn names_hash(text: &str) -> u64 {
    super::text::hash(text)
}

/// Returns the fields of a record.
fn fields(arena: &Arena, object: ObjectId) -> impl Iterator<Item = &Field> {
    arena.fields(object).into_iter().flat_map(|fields| &fields.list)
}

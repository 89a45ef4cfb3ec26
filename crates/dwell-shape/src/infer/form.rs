//! The form of a corpus: the types that one set of accumulators implies, without any value. The next pass starts from
//! it.
//!
//! The objects of a recursive type, and those of a union, are one object of the form, whatever their positions are. A
//! recursive type is therefore a cycle in the form, and reading adds to that cycle instead of to a new branch for each
//! path. Other types have an object for each position, up to a limit, since objects that are equal so far may turn out
//! to be different.

use super::arena::{Arena, Array, Field, Fields, Fixed, NodeId, ObjectId, Rest, Shape, Tagged};
use super::decide;
use super::study::{MAX_VARIANTS, has_markers, markers};
use super::text::{Texts, hash};
use super::types::{Form, Slot, Types};
use crate::schema::Lengths;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Builds the form of `arena`, without its counts.
pub(super) fn build(arena: &Arena, studying: bool) -> Arena {
    let types = Types::new(arena);
    let mut former = Former {
        old: arena,
        types: &types,
        new: Arena::new(studying),
        bare: false,
        apart: false,
        recursive: recursive(&types),
        objects: HashMap::new(),
        copies: HashMap::new(),
        queue: VecDeque::new(),
    };
    let root = former.new.root;
    former.node(root, &[arena.root]);
    while let Some((class, object)) = former.queue.pop_front() {
        former.define(class, object);
    }
    let mut new = former.new;
    (new.limits.budget, new.limits.most, new.limits.sets) = (arena.limits.budget, arena.limits.most, arena.limits.sets);
    new.reading.moment = 0;
    new.user.overrides = arena.user.overrides.clone();
    new.user.cautious = arena.user.cautious;
    decide::keep(&mut new);
    seal(&mut new);
    new
}

/// Completes the form; see [`Arena::seal`].
pub(super) fn seal(form: &mut Arena) {
    let next = form.all_objects().into_iter().map(|object| (object, decide::objects_below(form, object)));
    let recursive = cycles(&next.collect());
    form.seal(&|object| recursive.contains(&object));
}

struct Former<'a> {
    old: &'a Arena,
    types: &'a Types<'a>,
    new: Arena,
    /// Whether new positions get no objects yet.
    bare: bool,
    /// Whether new positions get objects that no other position shares, if these are not recursive.
    apart: bool,
    /// The recursive classes.
    recursive: HashSet<ObjectId>,
    /// The object of each class that has one object for all positions.
    objects: HashMap<ObjectId, ObjectId>,
    /// The number of objects of each other class.
    copies: HashMap<ObjectId, usize>,
    queue: VecDeque<(ObjectId, ObjectId)>,
}

impl Former<'_> {
    fn new_node(&mut self, group: &[NodeId]) -> NodeId {
        let name = group.first().map_or(0, |&node| self.old.node(node).name);
        let id = self.new.new_node(name);
        self.node(id, group);
        id
    }

    /// Gives a node the form of a position.
    fn node(&mut self, id: NodeId, group: &[NodeId]) {
        if group.iter().any(|&node| self.old.node(node).free.is_some()) {
            self.new.node_mut(id).free = Some(Box::default());
            return;
        }
        let elements = self.types.elements(group);
        if let [element] = &elements[..] {
            let varied = group.iter().filter_map(|&node| self.old.node(node).array.as_ref());
            let varied = varied.filter(|array| array.lengths.count > 0).any(|array| array.fixed != Fixed::At(1));
            let (element, positions, fixed) = if varied {
                (self.new_node(element), Vec::new(), Fixed::Varied)
            } else {
                let position = self.new_node(element);
                (self.new_node(element), vec![position], Fixed::Unknown)
            };
            let array = Array { lengths: Lengths::default(), element, positions, fixed };
            self.new.node_mut(id).array = Some(Box::new(array));
        } else if !elements.is_empty() {
            let positions = elements.iter().map(|element| self.new_node(element)).collect();
            let element = self.new.new_node(self.old.node(group[0]).name);
            let array = Array { lengths: Lengths::default(), element, positions, fixed: Fixed::Unknown };
            self.new.node_mut(id).array = Some(Box::new(array));
        }
        let Some(class) = self.types.class_at(group).filter(|_| !self.bare) else { return };
        let object = if self.types.form(class) == Form::Map {
            // Maps are not shared: each position has its own.
            let values = self.types.values(self.types.objects_at(group));
            let value = self.new_node(&values);
            let object = self.new.new_object();
            self.new.object_mut(object).shape = Shape::Map { keys: Box::default(), value };
            object
        } else {
            self.object(class)
        };
        self.new.node_mut(id).object = Some(object);
    }

    fn object(&mut self, class: ObjectId) -> ObjectId {
        let apart = self.apart && !self.recursive.contains(&class);
        if let Some(&known) = self.objects.get(&class).filter(|_| !apart) {
            return known;
        }
        let object = self.new.new_object();
        self.queue.push_back((class, object));
        if apart {
            return object;
        }
        let copies = self.copies.entry(class).or_default();
        *copies += 1;
        let is_union = self.types.form(class) == Form::Union || self.types.study_tag(class).is_some();
        let is_empty = self.types.slots(class).is_empty();
        if self.recursive.contains(&class) || is_union || (*copies >= COPIES && !is_empty) {
            self.objects.insert(class, object);
        }
        object
    }

    fn define(&mut self, class: ObjectId, object: ObjectId) {
        let shape = if self.types.form(class) == Form::Union {
            let mut template = BTreeMap::<&str, Slot<'_>>::new();
            let variants = self.types.variants(class);
            let mut tagged = Tagged::new(self.types.tag(class).into(), self.new.new_object());
            tagged.contents = self.contents(class);
            for (value, variant) in variants {
                let slots = self.types.slots(variant);
                let copy = self.new.new_object();
                self.new.object_mut(copy).shape = Shape::Record(self.fields(&slots, &[], &|_| true));
                tagged.push(value.into(), hash(value), copy);
                for slot in &*slots {
                    match template.entry(slot.key) {
                        std::collections::btree_map::Entry::Vacant(new) => {
                            new.insert(slot.clone());
                        }
                        std::collections::btree_map::Entry::Occupied(mut known) => {
                            known.get_mut().group.extend(&slot.group);
                        }
                    }
                }
            }
            if self.types.has_untagged(class) {
                let untagged = self.fields(&self.types.slots(class), &[], &|_| true);
                tagged.untagged = Some(self.record(untagged));
            }
            let slots: Vec<Slot<'_>> = template.into_values().collect();
            let of_several = |slot: &&Slot<'_>| {
                let mut classes = slot.group.iter().filter_map(|&node| self.types.class_within(&[node]));
                let first = classes.next();
                classes.any(|class| Some(class) != first)
            };
            let divided = slots.iter().filter(of_several).map(|slot| slot.hash).collect();
            self.template(&tagged, &slots, &divided);
            Shape::Union(Box::new(tagged))
        } else {
            let slots = self.types.slots(class);
            if let Some(tagged) = self.union(class, &slots) {
                Shape::Union(Box::new(tagged))
            } else {
                let mut fields = self.fields(&slots, &[], &|_| true);
                let rest = self.types.rest(class);
                if !rest.is_empty() {
                    let value = self.new_node(&rest);
                    fields.rest = Some(Box::new(Rest { keys: Texts::default(), value }));
                }
                Shape::Record(fields)
            }
        };
        self.new.object_mut(object).shape = shape;
    }

    /// Returns the keys under which the variants of a class have objects of different types, in a fixed order.
    fn contents(&self, class: ObjectId) -> Arc<[u64]> {
        let mut contents: Vec<u64> = self.types.contents(class).into_iter().collect();
        contents.sort_unstable();
        contents.into()
    }

    fn template(&mut self, tagged: &Tagged, slots: &[Slot<'_>], divided: &HashSet<u64>) {
        // Under these keys the known variants have objects of different types, so a new variant may have another type.
        let fields = self.fields_of(slots, &tagged.contents, &|key| !divided.contains(&key), true);
        self.new.object_mut(tagged.template).shape = Shape::Record(fields);
    }

    fn record(&mut self, fields: Fields) -> ObjectId {
        let object = self.new.new_object();
        self.new.object_mut(object).shape = Shape::Record(fields);
        object
    }

    /// Builds the fields of a record. `has_objects` returns whether the form of the objects under a key is known; under
    /// the keys `apart` it is not.
    fn fields(&mut self, slots: &[Slot<'_>], apart: &[u64], has_objects: &dyn Fn(u64) -> bool) -> Fields {
        self.fields_of(slots, apart, has_objects, false)
    }

    /// Like [`fields`](Self::fields); the fields of a template have no objects where these differ between variants.
    fn fields_of(
        &mut self,
        slots: &[Slot<'_>],
        apart: &[u64],
        has_objects: &dyn Fn(u64) -> bool,
        is_template: bool,
    ) -> Fields {
        let mut order: Vec<&Slot<'_>> = slots.iter().collect();
        order.sort_by_key(|slot| (slot.first, slot.key));
        let mut fields = Fields::default();
        for slot in order {
            // In a study, the form of the objects must not depend on which of them a thread reads first.
            // In the full pass, each variant gets objects of its own there.
            self.apart = apart.contains(&slot.hash);
            self.bare = (self.apart && is_template) || (self.new.studying && (self.apart || !has_objects(slot.hash)));
            let node = self.new_node(&slot.group);
            (self.bare, self.apart) = (false, false);
            // A later round of the study finds its own order.
            let first = if self.new.studying { u64::MAX } else { slot.first };
            fields.push(Field { key: Arc::from(slot.key), hash: slot.hash, node, first, last: 0 });
        }
        fields
    }

    /// Builds the union for a class of records in which a study found a tag.
    fn union(&mut self, class: ObjectId, slots: &[Slot<'_>]) -> Option<Tagged> {
        let tag = self.types.study_tag(class)?;
        if has_markers(tag) {
            return self.marked_union(tag, class, slots);
        }
        let slot = slots.iter().find(|slot| slot.key == tag)?;
        let mut values = BTreeMap::<String, u64>::new();
        for &node in &slot.group {
            if let Some(texts) = &self.old.node(node).texts {
                let words = texts.exact()?;
                values.extend(words.iter().map(|(word, _)| word.to_owned()).zip(texts.word_hashes()));
            }
        }
        if values.len() > MAX_VARIANTS || values.is_empty() {
            return None;
        }
        let mut tagged = Tagged::new(tag.into(), self.new.new_object());
        let contents = self.contents(class);
        tagged.contents = contents.clone();
        // Under these keys some objects have a tag. If a variant's objects have none, they are of another type. The
        // next pass finds that type, since it reads the variants separately.
        let is_divided = |slot: &&Slot<'_>| {
            let objects = self.types.class_within(&slot.group);
            objects.is_some_and(|class| self.types.study_tag(class).is_some() || self.types.form(class) == Form::Union)
        };
        let divided: HashSet<u64> = slots.iter().filter(is_divided).map(|slot| slot.hash).collect();
        for (value, value_hash) in values {
            let keys = self.types.keys_of(class, slot.hash, value_hash);
            let mine: Vec<Slot<'_>> = slots.iter().filter(|slot| keys.contains(&slot.hash)).cloned().collect();
            let tagged_keys = self.types.keys_of_tagged(class, slot.hash, value_hash);
            let fields = self.fields(&mine, &contents, &|key| !divided.contains(&key) || tagged_keys.contains(&key));
            let record = self.record(fields);
            tagged.push(value.into(), value_hash, record);
        }
        if self.types.has_others(class, slot.hash) {
            let keys = self.types.keys_without(class, slot.hash);
            let mine: Vec<Slot<'_>> = slots.iter().filter(|slot| keys.contains(&slot.hash)).cloned().collect();
            let fields = self.fields(&mine, &contents, &|_| true);
            tagged.untagged = Some(self.record(fields));
        }
        self.template(&tagged, slots, &divided);
        Some(tagged)
    }

    /// Builds the union for a class of records that have markers in place of a tag.
    fn marked_union(&mut self, tag: &str, class: ObjectId, slots: &[Slot<'_>]) -> Option<Tagged> {
        let sets = self.types.key_sets(class).list()?;
        let mut tagged = Tagged::new(tag.into(), self.new.new_object());
        let with = |is: &dyn Fn(&[u64]) -> bool| -> HashSet<u64> {
            sets.iter().filter(|(keys, _)| is(keys)).flat_map(|(keys, _)| keys.iter().copied()).collect()
        };
        let mine = |keys: &HashSet<u64>| -> Vec<Slot<'_>> {
            slots.iter().filter(|slot| keys.contains(&slot.hash)).cloned().collect()
        };
        let all: Vec<u64> = markers(tag).map(hash).collect();
        for (key, &marker) in markers(tag).zip(&all) {
            let fields = self.fields(&mine(&with(&|keys| keys.contains(&marker))), &[], &|_| true);
            let record = self.record(fields);
            tagged.push(key.into(), marker, record);
        }
        let is_other = |keys: &[u64]| !keys.iter().any(|key| all.contains(key));
        if sets.iter().any(|(keys, _)| is_other(keys)) {
            let fields = self.fields(&mine(&with(&is_other)), &[], &|_| true);
            tagged.untagged = Some(self.record(fields));
        }
        self.template(&tagged, slots, &HashSet::new());
        Some(tagged)
    }
}

/// The most positions of one type that have an object of their own.
const COPIES: usize = 8;

/// Returns the recursive classes.
fn recursive(types: &Types<'_>) -> HashSet<ObjectId> {
    let mut next = HashMap::<ObjectId, Vec<ObjectId>>::new();
    for (class, below) in types.below() {
        next.entry(class).or_default().extend(below);
    }
    cycles(&next)
}

/// Returns the objects on cycles of the graph.
fn cycles(next: &HashMap<ObjectId, Vec<ObjectId>>) -> HashSet<ObjectId> {
    // Tarjan's strongly connected components (1972), iterative because a form may be deep.
    let mut all: Vec<ObjectId> = next.keys().copied().collect();
    all.sort_unstable();
    let none = Vec::new();
    let (mut index, mut low) = (HashMap::<ObjectId, usize>::new(), HashMap::<ObjectId, usize>::new());
    let (mut stack, mut on_stack, mut found) = (Vec::new(), HashSet::new(), HashSet::new());
    for &start in &all {
        let mut work = vec![(start, 0)];
        while let Some((object, child)) = work.pop() {
            if child == 0 {
                if index.contains_key(&object) {
                    continue;
                }
                let number = index.len();
                index.insert(object, number);
                low.insert(object, number);
                stack.push(object);
                on_stack.insert(object);
            }
            let below = next.get(&object).unwrap_or(&none);
            if child > 0 {
                let reached = below[child - 1];
                if on_stack.contains(&reached) {
                    let least = low[&object].min(low[&reached]);
                    low.insert(object, least);
                }
            }
            if let Some(&reached) = below.get(child) {
                work.push((object, child + 1));
                if reached == object {
                    found.insert(object);
                }
                if !index.contains_key(&reached) {
                    work.push((reached, 0));
                }
                continue;
            }
            if low[&object] == index[&object] {
                let mut component = Vec::new();
                while let Some(top) = stack.pop() {
                    on_stack.remove(&top);
                    component.push(top);
                    if top == object {
                        break;
                    }
                }
                if component.len() > 1 {
                    found.extend(component);
                }
            }
        }
    }
    found
}

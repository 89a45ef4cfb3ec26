//! Merges classes that share a position, and finds the classes whose keys are data.

use super::{Form, Types};
use crate::infer::arena::{NodeId, ObjectId};
use crate::infer::decide;
use foldhash::{HashMap, HashMapExt, HashSet};
use std::cell::OnceCell;
use std::rc::Rc;

impl Types<'_> {
    /// Merges classes that share a position, until nothing changes.
    pub(super) fn close(&mut self) -> bool {
        let mut changed = false;
        loop {
            let mut again = self.one_position(&[self.arena.root]);
            for class in self.classes() {
                if self.parents.contains_key(&class) {
                    continue; // The loop has merged it into another.
                }
                let form = self.form(class);
                // Objects at a position stay of one type, so there is nothing to do again until others are added.
                if self.class_mut(class).closed.replace(form) == Some(form) {
                    continue;
                }
                again |= match form {
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

    pub(super) fn find_maps(&mut self) -> bool {
        let classes = self.classes();
        let unions = classes.iter().copied().filter(|&class| self.form(class) == Form::Union);
        // The record of a variant belongs to its union.
        let variants: HashSet<ObjectId> =
            unions.flat_map(|class| self.variants(class)).map(|(_, variant)| variant).collect();
        let now = self.changes;
        let is_open = |&class: &ObjectId| {
            let state = &self.classes[&class];
            self.form(class) == Form::Record
                && !variants.contains(&class)
                && !state.is_named_map
                && state.no_map != Some(now)
                && !self.parts(class).any(|part| self.arena.user.kept.contains(&part))
        };
        let is_map = |&class: &ObjectId| {
            let parts: Vec<ObjectId> = self.parts(class).collect();
            decide::is_map(self.arena, &parts, &|object| self.form(self.class(object)) == Form::Map)
        };
        let (mut maps, others): (Vec<ObjectId>, Vec<ObjectId>) =
            classes.iter().copied().filter(is_open).partition(is_map);
        let has_kinds =
            |object: ObjectId| self.arena.object(object).study.as_ref().is_some_and(|study| study.has_usual_key());
        maps.retain(|&class| self.study_tag(class).is_none() && !self.parts(class).any(has_kinds));
        let tags: Vec<(ObjectId, &str)> =
            maps.iter().filter_map(|&class| Some((class, self.tag_of_all(class)?))).collect();
        for class in others {
            self.class_mut(class).no_map = Some(now);
        }
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
    pub(super) fn set_map(&mut self, class: ObjectId) -> bool {
        if self.arena.user.cautious && self.classes[&class].has_shared {
            return false;
        }
        let class = self.class_mut(class);
        class.values = OnceCell::new();
        let is = if class.has_shared { &mut class.is_named_map } else { &mut class.is_map };
        let is_new = !std::mem::replace(is, true);
        self.changes += u64::from(is_new);
        is_new
    }

    /// Treats unions with one variant as records.
    pub(super) fn single(&mut self) -> bool {
        let single = |&class: &ObjectId| self.form(class) == Form::Union && self.variants(class).len() < 2;
        let single: Vec<ObjectId> = self.classes().into_iter().filter(single).collect();
        for &class in &single {
            self.class_mut(class).is_record = true;
        }
        !single.is_empty()
    }
}

//! The tags of classes: which key distinguishes the objects, and which keys the objects of each value have.

use super::{Form, Types, fields};
use crate::infer::arena::{Field, Fields, NodeId, ObjectId, Shape};
use crate::infer::decide;
use crate::infer::markers;
use crate::infer::study::{Study, are_odd, has_markers, is_usual, may_lack};
use crate::infer::text::hash;
use foldhash::{HashSet, HashSetExt};
use std::collections::BTreeMap;

/// The share of a record's objects that have a given value of the tag. `Some` includes an unknown share.
enum With {
    None,
    Some,
    All,
}

impl<'a> Types<'a> {
    /// Returns the tag that a study found for a record class, if nearly all objects have it.
    pub(in crate::infer) fn study_tag(&self, class: ObjectId) -> Option<&'a str> {
        if self.members(class).iter().any(|object| self.arena.user.untagged.contains(object)) {
            return None;
        }
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
    pub(super) fn tag_of_all(&self, class: ObjectId) -> Option<&'a str> {
        let mut study = Study::default();
        if self.members(class).iter().any(|object| self.arena.user.untagged.contains(object)) {
            return None;
        }
        for object in self.parts(class) {
            study.merge(self.arena.object(object).study.as_deref()?);
        }
        let all = || self.parts(class).flat_map(|object| fields(self.arena, object));
        let tags = study.tags(|hash| Some(all().find(|field| field.hash == hash)?.key.to_string()));
        let mut keys = tags.iter().filter_map(|tag| Some(&*all().find(|field| *field.key == *tag.key)?.key));
        keys.find(|key| self.has_tag(class, key))
    }

    /// Returns the hashes of the keys under which the variants of a class have objects of different types.
    pub(in crate::infer) fn contents(&self, class: ObjectId) -> HashSet<u64> {
        let of_object = |&object: &ObjectId| {
            let own = self.arena.object(object);
            let tagged = self.arena.tagged(object);
            own.contents.iter().chain(tagged.into_iter().flat_map(|tagged| tagged.contents.iter())).copied()
        };
        self.members(class).iter().flat_map(of_object).collect()
    }

    /// Returns whether nearly every object of a record class has a string under a key.
    pub(super) fn has_tag(&self, class: ObjectId, key: &str) -> bool {
        if has_markers(key) {
            return self.rest(class).is_empty() && markers::mark_all(key, &self.key_sets(class));
        }
        let (mut all, mut without, mut odd) = (0, 0, 0);
        for object in self.parts(class) {
            let field = fields(self.arena, object).find(|field| *field.key == *key);
            let texts = field.map_or(0, |field| self.arena.node(field.node).text_count());
            let values = field.map_or(0, |field| self.arena.node(field.node).count());
            odd += if self.untagged.contains(&object) { 0 } else { values - texts };
            let instances = self.arena.object(object).instances;
            all += instances;
            without += instances - texts;
        }
        are_odd(odd, all) && may_lack(is_usual(key), without, all)
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
    pub(in crate::infer) fn keys_of(&self, class: ObjectId, tag: u64, value: u64) -> HashSet<u64> {
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
    pub(in crate::infer) fn keys_without(&self, class: ObjectId, tag: u64) -> HashSet<u64> {
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
    pub(in crate::infer) fn has_others(&self, class: ObjectId, tag: u64) -> bool {
        self.parts(class).any(|object| {
            let index = self.arena.fields(object).and_then(|fields| Some((fields, fields.find(tag)?)));
            !index.is_some_and(|(fields, index)| self.is_all(object, fields, index))
                && self.arena.object(object).instances > 0
        })
    }

    /// Returns the keys of the objects with this value of the tag under which an object has a tag itself.
    pub(in crate::infer) fn keys_of_tagged(&self, class: ObjectId, tag: u64, value: u64) -> HashSet<u64> {
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
        let content = self.arena.object_of(node).filter(|_| self.arena.node(node).objects > 0);
        let tagged = content.is_some_and(|object| match &self.arena.object(object).shape {
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
            let tag = hash(self.tag(class));
            let keys = |variant| self.slots(variant).iter().map(|slot| slot.hash).collect();
            let variants = self.variants(class).into_iter();
            return Some((tag, variants.map(|(value, variant)| (hash(value), keys(variant))).collect()));
        }
        let tag = hash(self.study_tag(class)?);
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
    pub(super) fn by_tag(&mut self) -> bool {
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
                    changed |= self.join_alike(outlines[indices[0]].0, outlines[index].0);
                }
            }
        }
        changed
    }
}

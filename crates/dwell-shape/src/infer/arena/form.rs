//! Makes an arena the form of others, and compares new objects with the types of the form.

use super::Arena;
use super::known::{FormId, Known};
use super::node::{NodeId, ObjectId};
use super::object::{Field, Fields, Shape};
use super::pending::Pending;
use crate::infer::sets::part;
use crate::infer::study::is_usual;
use foldhash::{HashMap, HashSet};

impl Arena {
    /// Completes the form. Objects that are added later count as new.
    pub(in crate::infer) fn seal(&mut self, recursive: &dyn Fn(ObjectId) -> bool) {
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
        self.origin.known = known;
        self.origin.fresh = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
    }

    /// Makes this the form of a run: fields are listed in the order of their first occurrence, not in that of the study.
    pub(in crate::infer) fn set_run(&mut self, run: u64) {
        self.origin.id = FormId::Run(run);
        self.all_fields().for_each(|field| field.first = u64::MAX);
    }

    /// Makes this the form of a file.
    pub(in crate::infer) fn set_file(&mut self, file: u64) {
        self.origin.id = FormId::File(file);
        let mut order = HashMap::default();
        for field in self.all_fields() {
            let first = order.entry(field.hash).or_insert(field.first);
            *first = field.first.min(*first);
        }
        self.all_fields().for_each(|field| field.first = order[&field.hash]);
        self.origin.order = order;
    }

    fn all_fields(&mut self) -> impl Iterator<Item = &mut Field> {
        let records = self.objects.iter_mut().filter_map(|object| match &mut object.shape {
            Shape::Record(fields) => Some(&mut fields.list),
            _ => None,
        });
        records.flatten()
    }

    /// Returns whether these objects are not in the form and only the first of them was read.
    pub(in crate::infer) fn is_new(&self, object: ObjectId) -> bool {
        object.0 >= self.origin.fresh && self.object(object).instances == 1
    }

    /// Returns whether [`Arena::recognise`] can find a type.
    pub(in crate::infer) fn knows(&self) -> bool {
        !self.origin.known.variants.is_empty() || !self.origin.known.records.is_empty()
    }

    /// Compares the first object of a position with the types known from other positions, and merges it with a match.
    ///
    /// `sum` is the sum of its keys.
    pub(in crate::infer) fn recognise(&mut self, node: NodeId, object: ObjectId, sum: u64) {
        let Some(fields) = self.fields(object).filter(|fields| fields.rest.is_none()) else { return };
        if let Some(&Some(known)) = self.origin.known.records.get(&sum) {
            let known = self.find(known);
            self.reading.pending.push(Pending::Join(known, object));
            self.node_mut(node).object = Some(known);
            return;
        }
        for field in &fields.list {
            let Some(texts) = &self.node(field.node).texts else { continue };
            let Some((value, value_hash)) = texts.only_word() else { continue };
            let exact = self.origin.known.variants.get(&(field.hash, value_hash)).copied().flatten();
            let inside = || {
                let union = self.origin.known.tags.get(&field.hash).copied().flatten()?;
                self.reading.inside.iter().any(|&open| self.find(open) == self.find(union)).then_some(union)
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
            let counted = self.object_mut(union);
            counted.instances += 1;
            counted.lengths.merge(&lengths);
            self.reading.pending.push(Pending::Join(variant, object));
            self.node_mut(node).object = Some(union);
            return;
        }
    }
}

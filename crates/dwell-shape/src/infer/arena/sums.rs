//! Sums over the values below a position, for positions without a type.

use super::Arena;
use super::node::{Node, NodeId, ObjectId};
use super::object::Shape;
use crate::infer::text::Texts;
use crate::schema::Free;
use foldhash::{HashSet, HashSetExt};

/// Sums over the values below a position.
pub(super) struct Sum<'a> {
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

impl Arena {
    /// Returns the number of objects, and of those that have no field of their own in a map with a name, or are untyped.
    pub(in crate::infer) fn swallowed(&self) -> (u64, u64) {
        let (mut all, mut swallowed) = (0, 0);
        for object in self.all_objects().into_iter().map(|object| self.object(object)) {
            let is_named =
                matches!(&object.shape, Shape::Record(fields) if fields.list.is_empty() && fields.rest.is_some());
            if !matches!(object.shape, Shape::Union(_)) {
                all += object.instances;
                swallowed += if is_named { object.instances } else { 0 };
            }
        }
        let free: u64 = self.nodes.iter().filter_map(|node| node.free.as_ref()).map(|free| free.objects.count).sum();
        (all + free, swallowed + free)
    }

    /// Makes a position untyped: keeps the sums of its values and drops their form.
    pub(in crate::infer) fn set_free(&mut self, node: NodeId) {
        let node = self.find_node(node);
        let free = self.free_at(node);
        let Node { name, nulls, .. } = *self.node(node);
        *self.node_mut(node) = Node { name, nulls, free: Some(Box::new(free)), ..Node::default() };
    }

    /// Adds the keys of objects that become maps to `keys`.
    pub(in crate::infer) fn add_keys(&self, object: ObjectId, keys: &mut Texts) {
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
    pub(in crate::infer) fn free_at(&self, node: NodeId) -> Free {
        let mut free = Free::default();
        let seen = self.node(node);
        free.count = seen.count() - seen.nulls - seen.free.as_ref().map_or(0, |free| free.count);
        let mut sum = Sum { arena: self, free, open: HashSet::new() };
        sum.node(node);
        if let Some(known) = &seen.free {
            sum.free.count += known.count;
        }
        sum.free
    }
}

//! Changes the shape of objects and arrays between two texts.

use super::node::{After, Fixed, Node, NodeId, ObjectId};
use super::object::{Field, Fields, Object, Rest, Shape};
use super::pending::Pending;
use super::{Arena, MAX_FIELDS};
use crate::infer::sets::Sets;
use crate::infer::text::{Hashes, Room, Texts};
use foldhash::HashSet;

/// The number of further objects after which those that were merged into others are looked for.
const SWEEP: usize = 4096;

impl Arena {
    /// Merges objects at the next [`settle`](Self::settle).
    pub(in crate::infer) fn join(&mut self, objects: &[ObjectId]) {
        for &object in &objects[1..] {
            self.reading.pending.push(Pending::Join(objects[0], object));
        }
    }

    /// Makes the pending changes.
    pub(in crate::infer) fn settle(&mut self) {
        while self.settle_one() {}
    }

    /// Makes the last pending change, which may add others. Returns whether there was one.
    pub(super) fn settle_one(&mut self) -> bool {
        match self.reading.pending.pop() {
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
    pub(in crate::infer) fn reclaim(&mut self) {
        for id in std::mem::take(&mut self.taken) {
            *self.node_mut(id) = Node::default();
            self.spare.push(id);
        }
        if self.objects.len() - self.spare_objects.len() > 2 * self.limits.swept + SWEEP {
            self.sweep();
        }
        if self.limits.room.is_used_up() && self.reading.serial >= self.limits.measured {
            let taken = self.memory();
            self.limits.room = Room::new(self.limits.sets.saturating_sub(taken));
            // Measured again only after twice as many objects, so that its time stays linear.
            self.limits.measured = self.reading.serial * 2;
        }
    }

    /// Makes objects that were merged into others available again, except those of the form. No change may be pending.
    fn sweep(&mut self) {
        let found: Vec<ObjectId> = (0..).take(self.objects.len()).map(|id| self.find(ObjectId(id))).collect();
        let object = &mut |id: &mut ObjectId| *id = found[id.0 as usize];
        self.nodes.iter_mut().for_each(|node| node.ids(&mut |_| {}, object));
        self.objects.iter_mut().for_each(|each| each.ids(&mut |_| {}, object));
        let known: HashSet<ObjectId> = self.spare_objects.iter().copied().collect();
        for id in
            (self.origin.fresh..).map(ObjectId).take(self.objects.len().saturating_sub(self.origin.fresh as usize))
        {
            if self.object(id).link.is_some() && !known.contains(&id) {
                *self.object_mut(id) = Object::default();
                self.spare_objects.push(id);
            }
        }
        self.limits.swept = self.objects.len() - self.spare_objects.len();
    }

    /// Turns a record or union into a map.
    pub(in crate::infer) fn collapse(&mut self, object: ObjectId) {
        let object = self.find(object);
        self.dissolve(object);
        self.settle();
        self.collapse_record(self.find(object));
    }

    pub(super) fn collapse_record(&mut self, object: ObjectId) {
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
    pub(in crate::infer) fn name_maps(&mut self, shared: &HashSet<ObjectId>) {
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
    pub(super) fn dissolve(&mut self, object: ObjectId) {
        let object = self.find(object);
        if self.tagged(object).is_none() {
            return;
        }
        // The union's own sums equal those of its variants, which are added below.
        let union = std::mem::take(self.object_mut(object));
        if let Shape::Union(tagged) = union.shape {
            let untagged = tagged.untagged.into_iter();
            for part in tagged.variants.into_iter().map(|variant| variant.object).chain(untagged) {
                self.reading.pending.push(Pending::Join(object, part));
            }
        }
    }

    /// Merges the positions of a tuple into one element.
    pub(in crate::infer) fn flatten(&mut self, node: NodeId) {
        let node = self.find_node(node);
        let Some(array) = &mut self.node_mut(node).array else { return };
        array.fixed = Fixed::Varied;
        let element = array.element;
        for position in std::mem::take(&mut array.positions) {
            self.absorb(element, position, After::Take);
        }
    }

    /// Moves rare fields of a record to the rest, so that keys of later objects can become fields.
    pub(in crate::infer) fn move_rare_fields(&mut self, object: ObjectId) {
        let object = self.find(object);
        let instances = self.object(object).instances;
        if self.fields(object).is_some_and(|fields| fields.list.len() >= MAX_FIELDS) {
            self.move_to_rest(object, |_, count| count < 2 || count * 10 < instances);
        }
    }

    /// Moves the fields for which `moves` returns true from a record to its rest.
    pub(in crate::infer) fn move_to_rest(&mut self, object: ObjectId, moves: impl Fn(&Field, u64) -> bool) {
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

    /// Removes the parts of the form that occur in no text.
    pub(in crate::infer) fn prune(&mut self) {
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
}

//! Adds accumulators: two nodes, two objects, two arenas.

use super::known::FormId;
use super::node::{After, Array, Fixed, NodeId, ObjectId};
use super::object::{Fields, Object, Shape};
use super::pending::Pending;
use super::{Arena, BUDGET, MAX_FIELDS, MOST};
use crate::infer::study::MAX_VARIANTS;
use crate::schema::{Free, Lengths};

pub(super) fn clear(lengths: &mut Lengths) {
    let mut powers = std::mem::take(&mut lengths.by_power);
    let mut buckets = std::mem::take(&mut lengths.by_buckets);
    powers.clear();
    buckets.clear();
    *lengths = Lengths { by_power: powers, by_buckets: buckets, ..Lengths::default() };
}

impl Arena {
    /// Adds the counts of `from` to `into`. Merges of objects wait for [`Arena::settle`].
    pub(in crate::infer) fn absorb(&mut self, into: NodeId, from: NodeId, after: After) {
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
                self.reading.pending.push(Pending::Free(into));
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
                    self.reading.pending.push(Pending::Join(target, object));
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
                    self.reading.pending.push(Pending::Flatten(into));
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

    /// Merges `from` into `into`.
    pub(super) fn absorb_object(&mut self, into: ObjectId, from: ObjectId) {
        let (into, from) = (self.find_mut(into), self.find_mut(from));
        if into == from {
            return;
        }
        // An object without values may have an outdated shape, so it is only linked.
        if self.object(from).instances == 0 {
            self.object_mut(from).link = Some(into);
            return;
        }
        if self.absorb_variant(into, from) {
            return;
        }
        // Different shapes are made equal first. That may queue other changes, so the merge is queued again.
        let forms = match (&self.object(into).shape, &self.object(from).shape) {
            (Shape::Union(left), Shape::Union(right)) if left.hash == right.hash => None,
            (Shape::Record(_), Shape::Record(_)) | (Shape::Map { .. }, Shape::Map { .. }) => None,
            (Shape::Union(tagged), Shape::Record(_)) if !tagged.has_markers() && self.is_without(from, tagged.hash) => {
                self.absorb_part(into, from, None);
                return;
            }
            (Shape::Record(_), Shape::Union(tagged)) if !tagged.has_markers() && self.is_without(into, tagged.hash) => {
                // The object with the lower number remains.
                self.objects.swap(into.0 as usize, from.0 as usize);
                self.absorb_part(into, from, None);
                return;
            }
            (Shape::Map { .. }, _) => Some(from),
            (_, Shape::Map { .. }) | (Shape::Union(_), _) => Some(into),
            _ => Some(from),
        };
        if let Some(object) = forms {
            // `pending` is a stack: the change of shape below is processed before this merge.
            self.reading.pending.push(Pending::Join(into, from));
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
            (target.tag, target.contents) = (source.tag, source.contents);
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
                        self.reading.pending.push(Pending::Join(target, object));
                    } else if let Some(known) = self.tagged_mut(into) {
                        known.push(variant.value, variant.hash, object);
                    }
                }
                if let Some(object) = tagged.untagged {
                    let target = self.untagged(into);
                    self.reading.pending.push(Pending::Join(target, object));
                }
                if self.tagged(into).is_some_and(|known| known.variants.len() > MAX_VARIANTS) {
                    self.reading.pending.push(Pending::Dissolve(into));
                }
            }
        }
    }

    /// Returns the value of a tag, if all objects of a record have this one.
    fn only_value(&self, record: ObjectId, tag: u64) -> Option<(Box<str>, u64)> {
        let fields = self.fields(record)?;
        let node = self.node(fields.list[fields.find(tag)?].node);
        let texts = node.texts.as_ref().filter(|texts| texts.count == self.object(record).instances)?;
        texts.only_word().map(|(word, hash)| (word.into(), hash))
    }

    /// Returns whether no object of a record has a string under the tag's key.
    pub(in crate::infer) fn is_without(&self, record: ObjectId, tag: u64) -> bool {
        let Some(fields) = self.fields(record) else { return false };
        fields.rest.as_ref().is_none_or(|rest| !rest.keys.may_have(tag))
            && fields.find(tag).is_none_or(|index| self.node(fields.list[index].node).text_count() == 0)
    }

    /// Merges a union and a record whose objects all have one value of the tag: the record is a variant. Returns whether
    /// they are such.
    fn absorb_variant(&mut self, into: ObjectId, from: ObjectId) -> bool {
        let (tagged, record, is_swapped) = match (&self.object(into).shape, &self.object(from).shape) {
            (Shape::Union(tagged), Shape::Record(_)) => (tagged, from, false),
            (Shape::Record(_), Shape::Union(tagged)) => (tagged, into, true),
            _ => return false,
        };
        let Some((value, hash)) = self.only_value(record, tagged.hash) else { return false };
        // After a union was dissolved, a variant may be a link to it.
        let known = tagged.find(hash).map(|variant| self.find(variant));
        if known.map_or(tagged.variants.len() >= MAX_VARIANTS, |known| known == into || known == from) {
            return false;
        }
        if is_swapped {
            // The object with the lower number remains.
            self.objects.swap(into.0 as usize, from.0 as usize);
        }
        self.absorb_part(into, from, Some((value, hash)));
        true
    }

    /// Merges a record into a union: as the variant with this value of the tag and its hash, or as its objects without a
    /// tag.
    fn absorb_part(&mut self, union: ObjectId, record: ObjectId, value: Option<(Box<str>, u64)>) {
        let Object { instances, lengths, .. } = self.object(record);
        let (instances, lengths) = (*instances, lengths.clone());
        if instances == 0 {
            self.object_mut(record).link = Some(union);
            return;
        }
        let counted = self.object_mut(union);
        counted.instances += instances;
        counted.lengths.merge(&lengths);
        let part = match value {
            Some((value, hash)) => self.variant(union, &value, hash),
            None => self.untagged(union),
        };
        // The record gets a new number; its old one becomes a link to the union.
        let moved = std::mem::take(self.object_mut(record));
        self.object_mut(record).link = Some(union);
        self.objects.push(moved);
        let moved = ObjectId(u32::try_from(self.objects.len() - 1).expect("4 G objects do not fit in memory"));
        self.reading.pending.push(Pending::Join(part, moved));
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

    /// Adds the counts of another arena.
    pub(in crate::infer) fn merge(&mut self, other: Self) {
        // The limits of a part are for reading; the positions of both fit in memory.
        (self.limits.budget, self.limits.most) = (BUDGET, MOST);
        self.settle();
        self.documents += other.documents;
        self.bytes += other.bytes;
        self.reading.moment = self.reading.moment.max(other.reading.moment);
        let nodes = u32::try_from(self.nodes.len()).expect("4 G nodes do not fit in memory");
        let objects = u32::try_from(self.objects.len()).expect("4 G objects do not fit in memory");
        let node = &mut |id: &mut NodeId| id.0 += nodes;
        let object = &mut |id: &mut ObjectId| id.0 += objects;
        let root = NodeId(other.root.0 + nodes);
        self.spare.extend(other.spare.into_iter().map(|id| NodeId(id.0 + nodes)));
        self.spare_objects.extend(other.spare_objects.into_iter().map(|id| ObjectId(id.0 + objects)));
        self.nodes.extend(other.nodes.into_iter().map(|mut moved| {
            moved.ids(node, object);
            moved
        }));
        self.objects.extend(other.objects.into_iter().map(|mut moved| {
            moved.ids(node, object);
            moved
        }));
        self.absorb(self.root, root, After::Take);
        if self.origin.id != FormId::None && self.origin.id == other.origin.id {
            // Objects of the form have the same numbers in both arenas.
            let pairs = (0..self.origin.fresh.min(other.origin.fresh))
                .map(|id| Pending::Join(ObjectId(id), ObjectId(id + objects)));
            self.reading.pending.extend(pairs);
        }
        self.settle();
        self.reclaim();
    }
}

//! What reading a text adds: fields, variants, elements, and sets of keys.

use super::known::FormId;
use super::node::{After, Array, Fixed, NodeId, ObjectId};
use super::object::{Field, Rest, Shape};
use super::pending::Pending;
use super::{Arena, MAX_FIELDS, MAX_TUPLE};
use crate::infer::judge::Word;
use crate::infer::study::{MAX_VARIANTS, is_usual};
use crate::infer::text::{Hashes, Texts};
use crate::schema::Lengths;

impl Arena {
    /// Returns the value of [`Field::first`] for a field that occurs now.
    pub(in crate::infer) fn next_moment(&mut self, hash: u64) -> u64 {
        self.reading.moment = self.reading.moment.saturating_add(1);
        match self.origin.id {
            FormId::File(_) => self.origin.order.get(&hash).copied().unwrap_or(u64::MAX),
            FormId::None | FormId::Run(_) => self.reading.moment,
        }
    }

    /// Adds a field to a record. For a variant, the field has the form from the union's template.
    pub(in crate::infer) fn new_field(
        &mut self,
        object: ObjectId,
        template: Option<ObjectId>,
        key: &str,
        hash: u64,
    ) -> usize {
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
    pub(in crate::infer) fn rest(&mut self, object: ObjectId) -> Option<&mut Rest> {
        if self.fields(object)?.rest.is_none() {
            let value = self.new_position(0);
            let fields = self.fields_mut(object)?;
            fields.rest = Some(Box::new(Rest { keys: Texts::default(), value }));
            if fields.list.len() >= MAX_FIELDS {
                self.reading.pending.push(Pending::Overflow(object));
            }
        }
        self.fields_mut(object)?.rest.as_deref_mut()
    }

    /// Returns whether one of [`Arena::words`] from this index on belongs to a common tag key.
    pub(in crate::infer) fn has_usual_tag(&self, words: usize) -> bool {
        self.reading.words[words..].iter().any(|(hash, _)| self.usual.contains(hash))
    }

    /// Records that an object has a field. Returns the hash of its key and its position, or `None` if the object had it
    /// before. `serial` is the number of the object, whose keys start at this index of [`Arena::seen`].
    #[inline]
    pub(in crate::infer) fn enter_field(
        &mut self,
        object: ObjectId,
        index: usize,
        serial: u64,
        seen: usize,
    ) -> Option<(u64, NodeId)> {
        let Shape::Record(fields) = &mut self.objects[object.0 as usize].shape else { return None };
        let field = &mut fields.list[index];
        // A later serial number belongs to a nested object with the same field, so the list of keys decides.
        if field.last >= serial && (field.last == serial || self.reading.seen[seen..].contains(&field.hash)) {
            return None;
        }
        self.reading.seen.push(field.hash);
        field.last = serial;
        if field.first == u64::MAX && !self.origin.id.is_file() {
            self.reading.moment = self.reading.moment.saturating_add(1);
            field.first = self.reading.moment;
        }
        Some((field.hash, field.node))
    }

    /// Counts the keys of an object that was just read; they start at this index of [`Arena::seen`].
    pub(in crate::infer) fn add_set(&mut self, object: ObjectId, sum: u64, seen: usize) {
        self.objects[object.0 as usize].sets.add_one(sum, &self.reading.seen[seen..], &mut self.limits.room);
    }

    /// Clears the state of the text being read, which an error leaves behind.
    pub(in crate::infer) fn abandon(&mut self) {
        self.reading.seen.clear();
        self.reading.words.clear();
        self.reading.marks.clear();
        self.reading.inner.clear();
        self.reading.last.clear();
        self.reading.inside.clear();
    }

    /// Returns the node for the element at `index` of an array: the common element, or the position of a tuple.
    pub(in crate::infer) fn element(&mut self, node: NodeId, index: usize) -> NodeId {
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

    /// Records that the arrays of a position differ in length.
    pub(in crate::infer) fn vary(&mut self, node: NodeId) {
        if let Some(array) = &mut self.node_mut(node).array
            && array.fixed != Fixed::Varied
        {
            array.fixed = Fixed::Varied;
            self.reading.pending.push(Pending::Flatten(node));
        }
    }

    /// Returns the variant of a union for the tag `value`, or the objects without a tag if there are too many variants.
    pub(in crate::infer) fn variant(&mut self, union: ObjectId, value: &str, hash: u64) -> ObjectId {
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
                self.reading.pending.push(Pending::Dissolve(union));
                self.untagged(union)
            }
        }
    }

    /// Makes a union one record: an object has several markers.
    pub(in crate::infer) fn give_up_markers(&mut self, union: ObjectId) {
        self.reading.pending.push(Pending::Dissolve(union));
    }

    /// Returns the objects of a union without a tag, or with a tag that is not a string.
    pub(in crate::infer) fn untagged(&mut self, union: ObjectId) -> ObjectId {
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
    pub(in crate::infer) fn take_scratch(&mut self, union: ObjectId) -> ObjectId {
        match self.tagged_mut(union).and_then(|tagged| tagged.scratch.pop()) {
            Some(scratch) => scratch,
            None => self.new_object(),
        }
    }

    /// Returns an object from [`Arena::take_scratch`], emptied.
    pub(in crate::infer) fn put_scratch(&mut self, union: ObjectId, scratch: ObjectId) {
        if let Some(tagged) = self.tagged_mut(union) {
            tagged.scratch.push(scratch);
        }
    }

    /// Adds the keys that were read before the tag to a variant, and returns the scratch object.
    pub(in crate::infer) fn add_scratch(
        &mut self,
        union: ObjectId,
        scratch: ObjectId,
        variant: ObjectId,
        keys: &[u64],
        serial: u64,
    ) {
        let template = self.tagged(union).map(|tagged| tagged.template);
        let contents = self.tagged(union).map(|tagged| tagged.contents.clone()).unwrap_or_default();
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
                let is_content = contents.contains(&hash);
                self.absorb(into, from, if is_content { After::Take } else { After::Keep });
                if is_content {
                    // The next objects there may be of another variant, so they must not be those of this one.
                    let node = self.new_position(hash);
                    if let Some(fields) = self.fields_mut(scratch)
                        && let Some(index) = fields.find(hash)
                    {
                        fields.list[index].node = node;
                    }
                }
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
    /// indices of [`Arena::seen`], [`Arena::words`], [`Arena::marks`] and [`Arena::inner`].
    pub(in crate::infer) fn add_to_study(
        &mut self,
        object: ObjectId,
        seen: usize,
        words: usize,
        marks: usize,
        inner: usize,
    ) {
        // Taken out so that the rest of the arena can be borrowed.
        let mut study = self.object_mut(object).study.take().unwrap_or_default();
        if let Shape::Record(fields) = &self.objects[object.0 as usize].shape {
            let named = |&(hash, word): &(u64, Word)| {
                let field = &fields.list[fields.find(hash)?];
                Some((&*field.key, field.hash, word))
            };
            let words: Vec<_> = self.reading.words[words..].iter().filter_map(named).collect();
            let inner = &self.reading.inner[inner..];
            let (room, inner_room) = (&mut self.limits.room, &mut self.limits.inner_room);
            study.count(&words, &self.reading.seen[seen..], &self.reading.marks[marks..], inner, room, inner_room);
        }
        self.object_mut(object).study = Some(study);
    }

    /// Copies the form of a position, without values; the copy shares its objects. `open` are the maps being copied.
    pub(super) fn copy_node(&mut self, node: NodeId, open: &mut Vec<ObjectId>) -> NodeId {
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

    pub(in crate::infer) fn take_keys(&mut self) -> Hashes {
        self.reading.key_sets.pop().unwrap_or_default()
    }

    /// Returns a set of keys. A large set is dropped: clearing it for each small map takes longer than a new one.
    pub(in crate::infer) fn put_keys(&mut self, mut keys: Hashes) {
        if keys.capacity() <= 1024 {
            keys.clear();
            self.reading.key_sets.push(keys);
        }
    }
}

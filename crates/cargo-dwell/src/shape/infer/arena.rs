//! The accumulators: a node for each place that holds values, an object for the objects there.
//!
//! Everything here can be added to everything alike, exactly: two nodes, a record's fields into one map value, the
//! variants of a union into one record. So a decision that turns out wrong is undone without reading again.

use super::sets::Sets;
use super::study::Study;
use super::text::{Hashed, Hashes, Texts, hash};
use crate::shape::schema::{Free, Lengths};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// An object with more keys than this is a map, whatever its values are.
pub(super) const MAX_FIELDS: usize = 1024;
/// A longer array is no tuple.
pub(super) const MAX_PLACES: usize = 12;
/// More values of a tag than this are no closed set.
pub(super) const MAX_VARIANTS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ObjectId(u32);

/// One place that holds values.
#[derive(Default)]
pub(super) struct Node {
    /// The hash of the nearest key above.
    pub(super) name: u64,
    pub(super) nulls: u64,
    pub(super) bools: u64,
    pub(super) trues: u64,
    pub(super) integers: u64,
    pub(super) floats: u64,
    pub(super) min: i128,
    pub(super) max: i128,
    /// The hash of the last string if it was short; what [`Study`] looks at.
    pub(super) word: Option<u64>,
    pub(super) texts: Option<Box<Texts>>,
    pub(super) array: Option<Box<Array>>,
    pub(super) objects: u64,
    pub(super) empties: u64,
    pub(super) object: Option<ObjectId>,
    /// The place was given up: only the sums are kept.
    pub(super) free: Option<Box<Free>>,
}

impl Node {
    pub(super) fn count(&self) -> u64 {
        self.nulls
            + self.bools
            + self.integers
            + self.floats
            + self.objects
            + self.text_count()
            + self.array_count()
            + { self.free.as_ref().map_or(0, |free| free.count) }
    }

    pub(super) fn text_count(&self) -> u64 {
        self.texts.as_ref().map_or(0, |texts| texts.count)
    }

    pub(super) fn array_count(&self) -> u64 {
        self.array.as_ref().map_or(0, |array| array.lengths.count)
    }

    pub(super) fn integer(&mut self, value: i128) {
        self.integers(1, value, value);
    }

    fn integers(&mut self, count: u64, min: i128, max: i128) {
        if count > 0 {
            (self.min, self.max) = if self.integers == 0 { (min, max) } else { (self.min.min(min), self.max.max(max)) };
            self.integers += count;
        }
    }
}

/// The arrays at a place.
pub(super) struct Array {
    pub(super) lengths: Lengths,
    /// All elements, unless they are still told apart by their place.
    pub(super) element: NodeId,
    pub(super) places: Vec<NodeId>,
    pub(super) fixed: Fixed,
}

/// Whether the arrays of a place have one length.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixed {
    Unknown,
    At(usize),
    Varied,
}

/// The objects of one or more places.
#[derive(Default)]
pub(super) struct Object {
    pub(super) instances: u64,
    /// Their numbers of keys.
    pub(super) lengths: Lengths,
    /// The sets of their keys, while they are a record or the variant of a union.
    pub(super) sets: Sets,
    pub(super) shape: Shape,
    pub(super) study: Option<Box<Study>>,
    /// This object was merged into another, which stands for both.
    link: Option<ObjectId>,
}

pub(super) enum Shape {
    Record(Fields),
    Map { keys: Box<Texts>, value: NodeId },
    Union(Box<Tagged>),
}

impl Default for Shape {
    fn default() -> Self {
        Self::Record(Fields::default())
    }
}

/// The keys of a record.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) list: Vec<Field>,
    index: HashMap<u64, usize, BuildHasherDefault<Hashed>>,
}

pub(super) struct Field {
    /// Shared with the same field of other forms: a union's variants and each thread have their own.
    pub(super) key: Arc<str>,
    pub(super) hash: u64,
    pub(super) node: NodeId,
    /// Where it was first seen, to order the fields of the schema.
    pub(super) first: u64,
    /// The object that had it last.
    pub(super) last: u64,
}

impl Fields {
    /// Finds a key by its hash; few fields are looked through.
    pub(super) fn find(&self, hash: u64) -> Option<usize> {
        if self.index.is_empty() {
            return self.list.iter().position(|field| field.hash == hash);
        }
        self.index.get(&hash).copied()
    }

    pub(super) fn push(&mut self, field: Field) -> usize {
        let index = self.list.len();
        if self.index.is_empty() {
            if index >= 12 {
                self.index = self.list.iter().enumerate().map(|(index, field)| (field.hash, index)).collect();
                self.index.insert(field.hash, index);
            }
        } else {
            self.index.insert(field.hash, index);
        }
        self.list.push(field);
        index
    }
}

/// Objects told apart by the string under one key.
pub(super) struct Tagged {
    pub(super) key: Box<str>,
    pub(super) hash: u64,
    pub(super) variants: Vec<Variant>,
    /// The fields of a new variant, all of them without values.
    template: ObjectId,
    /// Objects for what is read before the tag, without values.
    scratch: Vec<ObjectId>,
}

pub(super) struct Variant {
    pub(super) value: Box<str>,
    pub(super) hash: u64,
    pub(super) object: ObjectId,
}

/// What happens to the place that another was added to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// It is gone.
    Take,
    /// It stays, without values, to be used again.
    Keep,
}

/// All nodes and objects.
pub(super) struct Arena {
    nodes: Vec<Node>,
    objects: Vec<Object>,
    spare: Vec<NodeId>,
    pub(super) root: NodeId,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    /// Rises with every object, so that a field knows whether this object had it already.
    pub(super) serial: u64,
    /// Orders fields by when they were first seen: the text in the high half, a counter in the low.
    pub(super) moment: u64,
    /// Rises when a record becomes a map, or a union or a tuple is given up.
    pub(super) epoch: u64,
    /// Whether tags are looked for.
    pub(super) studying: bool,
    /// The unions by the name of their place; none where that is ambiguous.
    unions: HashMap<u64, Option<ObjectId>, BuildHasherDefault<Hashed>>,
    /// Sets to find duplicate keys of maps with, one for each map that is open.
    key_sets: Vec<Hashes>,
}

impl Arena {
    pub(super) fn new(studying: bool) -> Self {
        Self {
            nodes: vec![Node::default()],
            objects: Vec::new(),
            spare: Vec::new(),
            root: NodeId(0),
            documents: 0,
            bytes: 0,
            serial: 0,
            moment: 0,
            epoch: 0,
            studying,
            unions: HashMap::default(),
            key_sets: Vec::new(),
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    pub(super) fn object_mut(&mut self, id: ObjectId) -> &mut Object {
        &mut self.objects[id.0 as usize]
    }

    /// The object that stands for `id`.
    pub(super) fn find(&self, mut id: ObjectId) -> ObjectId {
        while let Some(next) = self.object(id).link {
            id = next;
        }
        id
    }

    /// The objects at a place, if there are any.
    pub(super) fn object_of(&self, node: NodeId) -> Option<ObjectId> {
        self.node(node).object.map(|object| self.find(object))
    }

    #[expect(clippy::cast_possible_truncation, reason = "4 G nodes do not fit in memory")]
    pub(super) fn new_node(&mut self, name: u64) -> NodeId {
        let id = self.spare.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            NodeId(self.nodes.len() as u32 - 1)
        });
        self.node_mut(id).name = name;
        id
    }

    #[expect(clippy::cast_possible_truncation, reason = "4 G objects do not fit in memory")]
    pub(super) fn new_object(&mut self) -> ObjectId {
        self.objects.push(Object::default());
        ObjectId(self.objects.len() as u32 - 1)
    }

    /// The objects at a place, which are about to be there.
    pub(super) fn objects_at(&mut self, node: NodeId) -> ObjectId {
        if let Some(object) = self.node(node).object {
            return self.find(object);
        }
        let object = match self.unions.get(&self.node(node).name) {
            Some(&Some(union)) => self.copy_object(union),
            _ => self.new_object(),
        };
        self.node_mut(node).object = Some(object);
        object
    }

    pub(super) fn fields(&self, object: ObjectId) -> Option<&Fields> {
        match &self.object(object).shape {
            Shape::Record(fields) => Some(fields),
            _ => None,
        }
    }

    pub(super) fn fields_mut(&mut self, object: ObjectId) -> Option<&mut Fields> {
        match &mut self.object_mut(object).shape {
            Shape::Record(fields) => Some(fields),
            _ => None,
        }
    }

    pub(super) fn tagged(&self, object: ObjectId) -> Option<&Tagged> {
        match &self.object(object).shape {
            Shape::Union(tagged) => Some(tagged),
            _ => None,
        }
    }

    pub(super) fn tagged_mut(&mut self, object: ObjectId) -> Option<&mut Tagged> {
        match &mut self.object_mut(object).shape {
            Shape::Union(tagged) => Some(tagged),
            _ => None,
        }
    }

    /// A new field of a record.
    pub(super) fn new_field(&mut self, object: ObjectId, key: &str, hash: u64, last: u64) -> usize {
        let node = self.new_node(hash);
        if super::decide::is_exhausted(self) {
            self.node_mut(node).free = Some(Box::default());
        }
        self.moment += 1;
        let field = Field { key: key.into(), hash, node, first: self.moment, last };
        self.fields_mut(object).map_or(0, |fields| fields.push(field))
    }

    /// Makes a record, or what was a union, a map.
    pub(super) fn collapse(&mut self, object: ObjectId) {
        self.dissolve(object);
        if self.fields(object).is_none() {
            return;
        }
        self.epoch += 1;
        let value = self.new_node(0);
        let map = Shape::Map { keys: Box::default(), value };
        let shape = std::mem::replace(&mut self.object_mut(object).shape, map);
        self.object_mut(object).study = None;
        self.object_mut(object).sets = Sets::default();
        if let Shape::Record(fields) = shape {
            for field in fields.list {
                self.add_field(object, field, After::Take);
            }
        }
    }

    /// Makes a union one record of all its variants.
    pub(super) fn dissolve(&mut self, object: ObjectId) {
        if self.tagged(object).is_none() {
            return;
        }
        self.epoch += 1;
        // Its own sums are those of its variants, which are added again.
        let union = std::mem::take(self.object_mut(object));
        if let Shape::Union(tagged) = union.shape {
            for variant in tagged.variants {
                self.absorb_object(object, variant.object, After::Take);
            }
        }
    }

    /// Gives the tuples of an array up.
    pub(super) fn flatten(&mut self, node: NodeId) {
        let Some(array) = &mut self.node_mut(node).array else { return };
        if array.fixed == Fixed::Varied {
            return;
        }
        array.fixed = Fixed::Varied;
        let element = array.element;
        let places = std::mem::take(&mut array.places);
        self.epoch += 1;
        for place in places {
            self.absorb(element, place, After::Take);
        }
    }

    /// Adds all that `from` knows to `into`.
    pub(super) fn absorb(&mut self, into: NodeId, from: NodeId, after: After) {
        if into == from {
            return;
        }
        if self.node(into).free.is_some() || self.node(from).free.is_some() {
            self.set_free(into);
            self.set_free(from);
        }
        let mut source = std::mem::take(self.node_mut(from));
        let target = self.node_mut(into);
        target.nulls += std::mem::take(&mut source.nulls);
        target.bools += std::mem::take(&mut source.bools);
        target.trues += std::mem::take(&mut source.trues);
        target.floats += std::mem::take(&mut source.floats);
        target.objects += std::mem::take(&mut source.objects);
        target.empties += std::mem::take(&mut source.empties);
        target.integers(std::mem::take(&mut source.integers), source.min, source.max);
        if let Some(free) = source.free.take() {
            target.free.get_or_insert_default().merge(&free);
        }
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
        if let Some(object) = source.object.map(|object| self.find(object)).filter(|&object| self.is_filled(object)) {
            match self.object_of(into).filter(|&target| after == After::Keep || self.is_filled(target)) {
                None if after == After::Take => self.node_mut(into).object = Some(object),
                None => {
                    let copy = self.copy_object(object);
                    self.node_mut(into).object = Some(copy);
                    self.absorb_object(copy, object, after);
                }
                Some(target) => self.absorb_object(target, object, after),
            }
        }
        match after {
            After::Take => self.spare.push(from),
            After::Keep => *self.node_mut(from) = source,
        }
    }

    fn is_filled(&self, object: ObjectId) -> bool {
        self.object(object).instances > 0
    }

    fn absorb_array(&mut self, into: NodeId, source: &mut Array, after: After) {
        if source.lengths.count == 0 {
            return;
        }
        let name = self.node(into).name;
        if self.node(into).array.is_none() {
            let element = self.new_node(name);
            let array = Array { lengths: Lengths::default(), element, places: Vec::new(), fixed: Fixed::Unknown };
            self.node_mut(into).array = Some(Box::new(array));
        }
        let (element, fixed) = {
            let array = self.array_mut(into);
            array.lengths.merge(&source.lengths);
            if array.fixed == Fixed::Unknown {
                array.fixed = source.fixed;
            }
            (array.element, array.fixed)
        };
        if fixed == source.fixed && fixed != Fixed::Varied {
            for (index, &place) in source.places.iter().enumerate() {
                if self.array_mut(into).places.len() == index {
                    let node = self.new_node(name);
                    self.array_mut(into).places.push(node);
                }
                let node = self.array_mut(into).places[index];
                self.absorb(node, place, after);
            }
        } else {
            self.flatten(into);
            for &place in &source.places {
                self.absorb(element, place, after);
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

    /// The arrays at a place that has some.
    pub(super) fn array_mut(&mut self, node: NodeId) -> &mut Array {
        self.node_mut(node).array.as_mut().expect("only called where there are arrays")
    }

    /// Adds all that `from` knows to `into`.
    pub(super) fn absorb_object(&mut self, into: ObjectId, from: ObjectId, after: After) {
        let (into, from) = (self.find(into), self.find(from));
        // What was never filled may still have a form that the other has given up since.
        if into == from || self.object(from).instances == 0 {
            return;
        }
        // Two forms are made one before they are added.
        match (&self.object(into).shape, &self.object(from).shape) {
            (Shape::Union(left), Shape::Union(right)) if left.hash == right.hash => {}
            (Shape::Record(_), Shape::Record(_)) | (Shape::Map { .. }, Shape::Map { .. }) => {}
            (Shape::Map { .. }, _) => self.collapse(from),
            (_, Shape::Map { .. }) => self.collapse(into),
            _ => {
                self.dissolve(into);
                self.dissolve(from);
            }
        }
        let shape = std::mem::take(&mut self.object_mut(from).shape);
        let source = self.object_mut(from);
        let instances = std::mem::take(&mut source.instances);
        let lengths = std::mem::take(&mut source.lengths);
        let sets = std::mem::take(&mut source.sets);
        let study = source.study.take();
        if after == After::Take {
            source.link = Some(into);
        }
        let target = self.object_mut(into);
        target.instances += instances;
        target.lengths.merge(&lengths);
        target.sets.merge(&sets);
        match (&mut target.study, study) {
            (Some(study), Some(other)) => study.merge(&other),
            (study @ None, other) => *study = other,
            _ => {}
        }
        let shape = match shape {
            Shape::Record(mut fields) => {
                if after == After::Take {
                    for field in fields.list {
                        self.add_field(into, field, after);
                    }
                    return;
                }
                for field in &mut fields.list {
                    if self.node(field.node).count() > 0 {
                        let copy = Field { key: field.key.clone(), ..*field };
                        self.add_field(into, copy, after);
                        field.first = u64::MAX;
                    }
                }
                Shape::Record(fields)
            }
            Shape::Map { mut keys, value } => {
                if let Shape::Map { keys: known, value: node } = &mut self.object_mut(into).shape {
                    known.merge(&keys);
                    keys.clear();
                    let node = *node;
                    self.absorb(node, value, after);
                }
                Shape::Map { keys, value }
            }
            Shape::Union(tagged) => {
                for variant in &tagged.variants {
                    if after == After::Keep && self.object(variant.object).instances == 0 {
                        continue;
                    }
                    // Too many variants make a record of the union.
                    let target = self.variant(into, &variant.value, variant.hash).unwrap_or(into);
                    self.absorb_object(target, variant.object, after);
                }
                Shape::Union(tagged)
            }
        };
        if after == After::Keep {
            self.object_mut(from).shape = shape;
        }
    }

    /// Adds a field to a record, or to what has become a map.
    fn add_field(&mut self, object: ObjectId, field: Field, after: After) {
        let object = self.find(object);
        let count = self.node(field.node).count();
        let node = match &mut self.object_mut(object).shape {
            Shape::Map { keys, value } => {
                if count > 0 {
                    keys.add_key(&field.key, field.hash, count);
                }
                *value
            }
            Shape::Record(fields) => {
                if let Some(index) = fields.find(field.hash) {
                    let known = &mut fields.list[index];
                    known.first = known.first.min(field.first);
                    known.node
                } else if fields.list.len() >= MAX_FIELDS {
                    self.collapse(object);
                    return self.add_field(object, field, after);
                } else if after == After::Take {
                    fields.push(field);
                    return;
                } else {
                    let node = self.new_node(field.hash);
                    if let Some(fields) = self.fields_mut(object) {
                        fields.push(Field { key: field.key, node, ..field });
                    }
                    node
                }
            }
            Shape::Union(_) => {
                self.dissolve(object);
                return self.add_field(object, field, after);
            }
        };
        self.absorb(node, field.node, after);
    }

    /// The objects of a union whose tag is `value`; none if that would be too many.
    pub(super) fn variant(&mut self, object: ObjectId, value: &str, hash: u64) -> Option<ObjectId> {
        let tagged = self.tagged(object)?;
        if let Some(variant) = tagged.variants.iter().find(|variant| variant.hash == hash) {
            return Some(self.find(variant.object));
        }
        if tagged.variants.len() >= MAX_VARIANTS {
            self.dissolve(object);
            return None;
        }
        let template = tagged.template;
        let copy = self.copy_object(template);
        let variant = Variant { value: value.into(), hash, object: copy };
        self.tagged_mut(object)?.variants.push(variant);
        Some(copy)
    }

    /// An object to collect what comes before the tag.
    pub(super) fn take_scratch(&mut self, union: ObjectId) -> ObjectId {
        let Some(tagged) = self.tagged_mut(union) else { return self.new_object() };
        let template = tagged.template;
        tagged.scratch.pop().unwrap_or_else(|| self.copy_object(template))
    }

    /// Gives back what [`Arena::take_scratch`] gave, without values.
    pub(super) fn put_scratch(&mut self, union: ObjectId, scratch: ObjectId) {
        if let Some(tagged) = self.tagged_mut(union) {
            tagged.scratch.push(scratch);
        }
    }

    /// A copy of the form, without values.
    fn copy_object(&mut self, object: ObjectId) -> ObjectId {
        enum Form {
            Record(Vec<(Arc<str>, u64, NodeId)>),
            Map(NodeId),
            Union(Box<str>, u64, ObjectId),
        }
        let form = match &self.object(self.find(object)).shape {
            Shape::Record(fields) => {
                Form::Record(fields.list.iter().map(|field| (field.key.clone(), field.hash, field.node)).collect())
            }
            Shape::Map { value, .. } => Form::Map(*value),
            Shape::Union(tagged) => Form::Union(tagged.key.clone(), tagged.hash, tagged.template),
        };
        let copy = self.new_object();
        let shape = match form {
            Form::Record(list) => {
                let mut fields = Fields::default();
                for (key, hash, node) in list {
                    let node = self.copy_node(node);
                    fields.push(Field { key, hash, node, first: u64::MAX, last: 0 });
                }
                Shape::Record(fields)
            }
            Form::Map(value) => Shape::Map { keys: Box::default(), value: self.copy_node(value) },
            Form::Union(key, hash, template) => Shape::Union(Box::new(Tagged {
                key,
                hash,
                variants: Vec::new(),
                template: self.copy_object(template),
                scratch: Vec::new(),
            })),
        };
        self.object_mut(copy).shape = shape;
        copy
    }

    fn copy_node(&mut self, node: NodeId) -> NodeId {
        let source = self.node(node);
        let (source_name, object) = (source.name, source.object);
        let free = source.free.is_some();
        let array = source.array.as_ref().map(|array| (array.element, array.fixed));
        let copy = self.new_node(source_name);
        if free {
            self.node_mut(copy).free = Some(Box::default());
        }
        if let Some((element, fixed)) = array {
            let element = self.copy_node(element);
            let fixed = if fixed == Fixed::Varied { fixed } else { Fixed::Unknown };
            let array = Array { lengths: Lengths::default(), element, places: Vec::new(), fixed };
            self.node_mut(copy).array = Some(Box::new(array));
        }
        if let Some(object) = object {
            let object = self.copy_object(object);
            self.node_mut(copy).object = Some(object);
        }
        copy
    }

    /// Makes a record a union, as the study of it found; what it knows becomes the form of the variants.
    pub(super) fn make_union(&mut self, object: ObjectId, key: &str) {
        let template = self.new_object();
        let shape = std::mem::take(&mut self.object_mut(object).shape);
        self.object_mut(template).shape = shape;
        let tagged = Tagged { key: key.into(), hash: hash(key), variants: Vec::new(), template, scratch: Vec::new() };
        self.object_mut(object).shape = Shape::Union(Box::new(tagged));
    }

    /// A new arena of the same form, without values.
    pub(super) fn skeleton(&self) -> Self {
        let mut copy = Self::new(false);
        copy.nodes.clear();
        copy.root = copy.graft(self, self.root);
        copy
    }

    fn graft(&mut self, other: &Self, node: NodeId) -> NodeId {
        let source = other.node(node);
        let id = self.new_node(source.name);
        let array = source.array.as_ref().map(|array| {
            let element = self.graft(other, array.element);
            let fixed = if array.fixed == Fixed::Varied { Fixed::Varied } else { Fixed::Unknown };
            Box::new(Array { lengths: Lengths::default(), element, places: Vec::new(), fixed })
        });
        let object = source.object.map(|object| self.graft_object(other, object));
        let free = source.free.as_ref().map(|_| Box::default());
        if let Some(object) = object.filter(|&object| self.tagged(object).is_some()) {
            self.know_union(source.name, object);
        }
        *self.node_mut(id) = Node { name: source.name, array, object, free, ..Node::default() };
        id
    }

    /// Remembers where unions are: objects at a place of the same name that was not met yet are taken for the same
    /// union, as the next level of a recursion mostly is.
    fn know_union(&mut self, name: u64, union: ObjectId) {
        let same = |known: &ObjectId| match (self.tagged(*known), self.tagged(union)) {
            (Some(known), Some(union)) => known.hash == union.hash,
            _ => false,
        };
        let known = match self.unions.get(&name) {
            // A copy, which stays as it is when that union is given up.
            None => Some(self.copy_object(union)),
            Some(known) => known.filter(same),
        };
        self.unions.insert(name, known);
    }

    fn graft_object(&mut self, other: &Self, object: ObjectId) -> ObjectId {
        let shape = match &other.object(other.find(object)).shape {
            Shape::Record(source) => {
                let mut fields = Fields::default();
                for field in &source.list {
                    let node = self.graft(other, field.node);
                    fields.push(Field { key: field.key.clone(), node, first: u64::MAX, last: 0, ..*field });
                }
                Shape::Record(fields)
            }
            Shape::Map { value, .. } => Shape::Map { keys: Box::default(), value: self.graft(other, *value) },
            Shape::Union(tagged) => Shape::Union(Box::new(Tagged {
                key: tagged.key.clone(),
                hash: tagged.hash,
                variants: Vec::new(),
                template: self.graft_object(other, tagged.template),
                scratch: Vec::new(),
            })),
        };
        let copy = self.new_object();
        self.object_mut(copy).shape = shape;
        copy
    }

    /// Adds what another arena knows.
    pub(super) fn merge(&mut self, other: Self) {
        self.documents += other.documents;
        self.bytes += other.bytes;
        let nodes = u32::try_from(self.nodes.len()).expect("4 G nodes do not fit in memory");
        let objects = u32::try_from(self.objects.len()).expect("4 G objects do not fit in memory");
        let node = |id: &mut NodeId| id.0 += nodes;
        let object = |id: &mut ObjectId| id.0 += objects;
        let root = NodeId(other.root.0 + nodes);
        self.spare.extend(other.spare.into_iter().map(|id| NodeId(id.0 + nodes)));
        self.nodes.extend(other.nodes.into_iter().map(|mut moved| {
            if let Some(array) = &mut moved.array {
                node(&mut array.element);
                array.places.iter_mut().for_each(node);
            }
            moved.object.iter_mut().for_each(object);
            moved
        }));
        self.objects.extend(other.objects.into_iter().map(|mut moved| {
            moved.link.iter_mut().for_each(object);
            match &mut moved.shape {
                Shape::Record(fields) => fields.list.iter_mut().for_each(|field| node(&mut field.node)),
                Shape::Map { value, .. } => node(value),
                Shape::Union(tagged) => {
                    object(&mut tagged.template);
                    tagged.scratch.iter_mut().for_each(object);
                    tagged.variants.iter_mut().for_each(|variant| object(&mut variant.object));
                }
            }
            moved
        }));
        self.absorb(self.root, root, After::Take);
    }

    /// Gives a place up: keeps the sums of what it holds, and forgets its form.
    pub(super) fn set_free(&mut self, node: NodeId) {
        if self.node(node).free.is_some() {
            return;
        }
        let free = self.free_at(node);
        let Node { name, nulls, .. } = *self.node(node);
        *self.node_mut(node) = Node { name, nulls, free: Some(Box::new(free)), ..Node::default() };
    }

    /// Counts the keys of objects that are maps.
    pub(super) fn add_keys(&self, object: ObjectId, keys: &mut Texts) {
        match &self.object(self.find(object)).shape {
            Shape::Map { keys: known, .. } => keys.merge(known),
            Shape::Record(fields) => {
                for field in &fields.list {
                    keys.add_key(&field.key, field.hash, self.node(field.node).count());
                }
            }
            Shape::Union(tagged) => tagged.variants.iter().for_each(|variant| self.add_keys(variant.object, keys)),
        }
    }

    /// The sums of what a place holds.
    pub(super) fn free_at(&self, node: NodeId) -> Free {
        let mut free = Free::default();
        self.sum(node, &mut free, true);
        free
    }

    /// Adds the sums of a place to `free`.
    fn sum(&self, node: NodeId, free: &mut Free, top: bool) {
        let node = self.node(node);
        if top {
            free.count += node.count() - node.nulls;
        }
        if let Some(texts) = &node.texts {
            free.texts += texts.count - texts.empty;
            free.text_bytes += texts.bytes;
        }
        if let Some(inner) = &node.free {
            free.merge(&Free { count: 0, ..(**inner).clone() });
        }
        if let Some(array) = &node.array {
            free.arrays.merge(&array.lengths);
            self.sum(array.element, free, false);
            array.places.iter().for_each(|&place| self.sum(place, free, false));
        }
        if let Some(object) = node.object {
            self.sum_object(object, free);
        }
    }

    fn sum_object(&self, object: ObjectId, free: &mut Free) {
        let object = self.object(self.find(object));
        if !matches!(object.shape, Shape::Union(_)) {
            free.objects.merge(&object.lengths);
        }
        match &object.shape {
            Shape::Record(fields) => {
                for field in &fields.list {
                    free.key_bytes += field.key.len() as u64 * self.node(field.node).count();
                    self.sum(field.node, free, false);
                }
            }
            Shape::Map { keys, value } => {
                free.key_bytes += keys.bytes;
                self.sum(*value, free, false);
            }
            Shape::Union(tagged) => tagged.variants.iter().for_each(|variant| self.sum_object(variant.object, free)),
        }
    }

    /// Removes what no text had: the rest of a form that was found in others.
    pub(super) fn prune(&mut self) {
        for index in 0..self.nodes.len() {
            let node = &mut self.nodes[index];
            if node.objects == 0 {
                node.object = None;
            }
            if node.array_count() == 0 {
                node.array = None;
            }
        }
        for index in 0..self.objects.len() {
            let Self { nodes, objects, .. } = self;
            if let Shape::Record(fields) = &mut objects[index].shape {
                let used = |field: &Field| nodes[field.node.0 as usize].count() > 0;
                if !fields.list.iter().all(used) {
                    let list = std::mem::take(fields).list;
                    list.into_iter().filter(used).for_each(|field| {
                        fields.push(field);
                    });
                }
            }
        }
    }

    pub(super) fn take_keys(&mut self) -> Hashes {
        self.key_sets.pop().unwrap_or_default()
    }

    /// Gives a set of keys back. A large one is not worth clearing for each of many small maps.
    pub(super) fn put_keys(&mut self, mut keys: Hashes) {
        if keys.capacity() <= 1024 {
            keys.clear();
            self.key_sets.push(keys);
        }
    }

    /// Nodes in use.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.spare.len()
    }
}

fn clear(lengths: &mut Lengths) {
    let mut powers = std::mem::take(&mut lengths.by_power);
    let mut buckets = std::mem::take(&mut lengths.by_buckets);
    powers.clear();
    buckets.clear();
    *lengths = Lengths { by_power: powers, by_buckets: buckets, ..Lengths::default() };
}

//! The JSON objects of one or more positions: a record, a map or a tagged union.

use super::node::{NodeId, ObjectId};
use crate::infer::sets::Sets;
use crate::infer::study::{self, Study};
use crate::infer::text::{Hashed, Texts, hash};
use crate::schema::Lengths;
use serde::{Deserialize, Serialize};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// The objects of one or more positions.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::infer) struct Object {
    pub(in crate::infer) instances: u64,
    /// The numbers of keys of the objects.
    pub(in crate::infer) lengths: Lengths,
    /// The sets of keys that occur together, for a record or the variant of a union.
    pub(in crate::infer) sets: Sets,
    pub(in crate::infer) shape: Shape,
    #[serde(skip)]
    pub(in crate::infer) study: Option<Box<Study>>,
    /// The tag that a study found: the next form has a union for these objects.
    pub(in crate::infer) tag: Option<Arc<str>>,
    /// The hashes of the keys under which the variants of this tag have objects of different types.
    #[serde(skip_serializing_if = "no_keys")]
    pub(in crate::infer) contents: Arc<[u64]>,
    /// The object that this one was merged into.
    pub(super) link: Option<ObjectId>,
}

fn no_keys(keys: &Arc<[u64]>) -> bool {
    keys.is_empty()
}

impl Object {
    /// Calls the functions for all ids.
    pub(super) fn ids(&mut self, node: &mut impl FnMut(&mut NodeId), object: &mut impl FnMut(&mut ObjectId)) {
        self.link.iter_mut().for_each(&mut *object);
        match &mut self.shape {
            Shape::Record(fields) => {
                fields.list.iter_mut().for_each(|field| node(&mut field.node));
                fields.rest.iter_mut().for_each(|rest| node(&mut rest.value));
            }
            Shape::Map { value, .. } => node(value),
            Shape::Union(tagged) => {
                object(&mut tagged.template);
                tagged.untagged.iter_mut().for_each(&mut *object);
                tagged.scratch.iter_mut().for_each(&mut *object);
                tagged.variants.iter_mut().for_each(|variant| object(&mut variant.object));
            }
        }
    }

    /// Returns the bytes that its sets have on the heap.
    pub(super) fn memory(&self) -> usize {
        let keys = match &self.shape {
            Shape::Map { keys, .. } => keys.memory(),
            Shape::Record(Fields { rest: Some(rest), .. }) => rest.keys.memory(),
            _ => 0,
        };
        keys + self.sets.memory()
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(in crate::infer) enum Shape {
    Record(Fields),
    Map { keys: Box<Texts>, value: NodeId },
    Union(Box<Tagged>),
}

impl Shape {
    /// Returns the objects of a union that have no tag.
    pub(in crate::infer) fn untagged(&self) -> Option<ObjectId> {
        match self {
            Self::Union(tagged) => tagged.untagged,
            _ => None,
        }
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::Record(Fields::default())
    }
}

/// The keys of a record.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(in crate::infer) struct Fields {
    pub(in crate::infer) list: Vec<Field>,
    /// The entries whose keys are not fields. A key is a field or one of the rest, never both.
    pub(in crate::infer) rest: Option<Box<Rest>>,
    #[serde(skip)]
    pub(super) index: std::collections::HashMap<u64, usize, BuildHasherDefault<Hashed>>,
}

/// Entries of a record that are counted like those of a map.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::infer) struct Rest {
    pub(in crate::infer) keys: Texts,
    pub(in crate::infer) value: NodeId,
}

#[derive(Clone, Serialize, Deserialize)]
pub(in crate::infer) struct Field {
    /// The key. Other arenas of this form, and other variants of the union, share the string.
    pub(in crate::infer) key: Arc<str>,
    pub(in crate::infer) hash: u64,
    pub(in crate::infer) node: NodeId,
    /// The position of its first occurrence, which orders the fields of the schema.
    pub(in crate::infer) first: u64,
    /// The serial number of the last object that had the field.
    pub(in crate::infer) last: u64,
}

impl Fields {
    /// Finds a field by the hash of its key. A short list is searched linearly.
    pub(in crate::infer) fn find(&self, hash: u64) -> Option<usize> {
        if self.index.is_empty() {
            return self.list.iter().position(|field| field.hash == hash);
        }
        self.index.get(&hash).copied()
    }

    /// Finds a key among the next two fields from an index.
    #[inline]
    pub(in crate::infer) fn ahead(&self, index: usize, key: &str) -> Option<usize> {
        let mut ahead = self.list.get(index..)?.iter().take(2);
        Some(index + ahead.position(|field| *field.key == *key)?)
    }

    pub(in crate::infer) fn push(&mut self, field: Field) -> usize {
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

/// A union: objects distinguished by the string under one key, the tag, or by which markers they have.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::infer) struct Tagged {
    pub(in crate::infer) key: Box<str>,
    pub(in crate::infer) hash: u64,
    pub(in crate::infer) variants: Vec<Variant>,
    /// Indices by the hash of the tag's value.
    #[serde(skip)]
    pub(super) index: std::collections::HashMap<u64, usize, BuildHasherDefault<Hashed>>,
    /// The fields of a new variant, without values.
    pub(in crate::infer) template: ObjectId,
    /// The objects without a tag, or with a tag that is not a string.
    pub(in crate::infer) untagged: Option<ObjectId>,
    /// The hashes of the keys under which different variants have objects of different types.
    #[serde(default, skip_serializing_if = "no_keys")]
    pub(in crate::infer) contents: Arc<[u64]>,
    /// Vacant objects for the keys that are read before the tag.
    pub(super) scratch: Vec<ObjectId>,
}

impl Tagged {
    pub(in crate::infer) fn new(key: Box<str>, template: ObjectId) -> Self {
        let hash = hash(&key);
        Self {
            key,
            hash,
            variants: Vec::new(),
            index: std::collections::HashMap::default(),
            template,
            untagged: None,
            contents: Arc::default(),
            scratch: Vec::new(),
        }
    }

    /// Returns whether the variants have markers in place of a tag.
    pub(in crate::infer) fn has_markers(&self) -> bool {
        study::has_markers(&self.key)
    }

    /// Returns the objects with this value of the tag, or with this marker.
    pub(in crate::infer) fn find(&self, hash: u64) -> Option<ObjectId> {
        self.index.get(&hash).map(|&index| self.variants[index].object)
    }

    pub(in crate::infer) fn push(&mut self, value: Box<str>, hash: u64, object: ObjectId) {
        self.index.insert(hash, self.variants.len());
        self.variants.push(Variant { value, hash, object });
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(in crate::infer) struct Variant {
    pub(in crate::infer) value: Box<str>,
    pub(in crate::infer) hash: u64,
    pub(in crate::infer) object: ObjectId,
}

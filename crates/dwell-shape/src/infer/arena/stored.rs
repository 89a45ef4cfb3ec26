//! The serialised form of an arena, and the checks of one that is read: a part file is untrusted input.

use super::known::FormId;
use super::node::{Fixed, Node, NodeId, ObjectId};
use super::object::{Fields, Object, Shape};
use super::{Arena, MOST, ROOM};
use crate::schema::MOST_COUNT;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// The serialised form of an arena.
#[derive(Serialize, Deserialize)]
pub(in crate::infer) struct Saved {
    #[serde(deserialize_with = "limited")]
    nodes: Vec<Node>,
    #[serde(deserialize_with = "limited")]
    objects: Vec<Object>,
    root: NodeId,
    pub(in crate::infer) documents: u64,
    bytes: u64,
    moment: u64,
    /// The form file that they were read by, and how many of its objects they begin with.
    form: Option<u64>,
    fresh: u32,
    #[serde(default)]
    cautious: bool,
}

/// Deserializes no more elements than an arena can have. Without this, a small file could fill the memory, since an
/// element without counts takes two bytes in JSON.
pub(super) fn limited<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Limited<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Limited<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            write!(f, "at most {} elements", 2 * MOST)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(element) = seq.next_element()? {
                if all.len() == 2 * MOST {
                    return Err(A::Error::invalid_length(all.len() + 1, &self));
                }
                all.push(element);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_seq(Limited(PhantomData))
}

impl Arena {
    /// Returns the serialisable part of the arena, for a part file.
    pub(in crate::infer) fn saved(mut self) -> Saved {
        if !self.origin.id.is_file() {
            self.prune();
        }
        self.shrink(MOST, ROOM);
        self.stored()
    }

    /// Returns the serialisable part of a form or of reduced accumulators.
    pub(in crate::infer) fn stored(self) -> Saved {
        let form = match self.origin.id {
            FormId::File(form) => Some(form),
            FormId::None | FormId::Run(_) => None,
        };
        Saved {
            nodes: self.nodes,
            objects: self.objects,
            root: self.root,
            documents: self.documents,
            bytes: self.bytes,
            moment: self.reading.moment,
            form,
            fresh: self.origin.fresh,
            cautious: self.user.cautious,
        }
    }

    /// Restores an arena; `None` if the data is not valid.
    pub(in crate::infer) fn restored(saved: Saved) -> Option<Self> {
        let mut arena = Self::new(false);
        arena.nodes = saved.nodes;
        arena.objects = saved.objects;
        arena.root = saved.root;
        arena.documents = saved.documents;
        arena.bytes = saved.bytes;
        arena.reading.moment = saved.moment;
        arena.user.cautious = saved.cautious;
        if let Some(form) = saved.form {
            (arena.origin.id, arena.origin.fresh) = (FormId::File(form), saved.fresh);
        }
        for object in &mut arena.objects {
            match &mut object.shape {
                Shape::Record(fields) => {
                    for field in std::mem::take(&mut fields.list) {
                        fields.push(field);
                    }
                }
                Shape::Union(tagged) => {
                    for variant in std::mem::take(&mut tagged.variants) {
                        tagged.push(variant.value, variant.hash, variant.object);
                    }
                }
                Shape::Map { .. } => {}
            }
        }
        arena.is_sound().then_some(arena)
    }

    /// Returns whether all ids are valid, each node belongs to one array or key, no chain of links is a cycle, and the
    /// counts are in the range of a corpus. A part file is untrusted input.
    fn is_sound(&self) -> bool {
        self.has_valid_ids() && self.is_forest() && self.has_plausible_counts()
    }

    fn has_plausible_counts(&self) -> bool {
        let nodes = self.nodes.iter().all(|node| {
            let counts =
                [node.nulls, node.bools, node.trues, node.integers, node.floats, node.huge, node.objects, node.empties];
            counts.into_iter().all(|count| count <= MOST_COUNT)
                && node.trues <= node.bools
                && node.huge <= node.floats
                && node.empties <= node.objects
                && (node.objects == 0 || node.object.is_some())
                && node.texts.as_ref().is_none_or(|texts| texts.is_plausible())
                && node.array.as_ref().is_none_or(|array| array.lengths.is_plausible())
                && node.free.as_ref().is_none_or(|free| free.is_plausible())
        });
        // Only after the nodes: their counts are added up.
        let objects = nodes
            && self.objects.iter().all(|object| {
                let keys = match &object.shape {
                    Shape::Map { keys, .. } => keys.is_plausible(),
                    Shape::Record(Fields { rest: Some(rest), .. }) => rest.keys.is_plausible(),
                    Shape::Record(_) | Shape::Union(_) => true,
                };
                let fields = match &object.shape {
                    Shape::Record(fields) => {
                        fields.list.iter().all(|field| self.node(field.node).count() <= object.instances)
                    }
                    Shape::Map { .. } | Shape::Union(_) => true,
                };
                keys && fields
                    && object.instances <= MOST_COUNT
                    && object.lengths.is_plausible()
                    && object.sets.is_plausible()
            });
        objects && self.documents <= MOST_COUNT && self.bytes <= MOST_COUNT
    }

    /// Returns whether each node but the root belongs to at most one array or key. Arrays then end: only an object can
    /// contain itself.
    fn is_forest(&self) -> bool {
        let mut owned = vec![false; self.nodes.len()];
        let mut own = |id: NodeId| !std::mem::replace(&mut owned[id.0 as usize], true);
        own(self.root)
            && self
                .nodes
                .iter()
                .filter_map(|node| node.array.as_ref())
                .all(|array| own(array.element) && array.positions.iter().all(|&position| own(position)))
            && self.objects.iter().all(|object| match &object.shape {
                Shape::Record(fields) => {
                    fields.list.iter().all(|field| own(field.node)) && fields.rest.iter().all(|rest| own(rest.value))
                }
                Shape::Map { value, .. } => own(*value),
                Shape::Union(_) => true,
            })
    }

    /// Returns whether all ids are valid and no chain of links is a cycle.
    fn has_valid_ids(&self) -> bool {
        let node = |id: &NodeId| (id.0 as usize) < self.nodes.len();
        let object = |id: &ObjectId| (id.0 as usize) < self.objects.len();
        let nodes = self.nodes.iter().all(|each| {
            let array = each.array.as_ref().is_none_or(|array| {
                // The first array of a position also creates the node after its last element.
                let length = match array.fixed {
                    Fixed::At(length) => length <= array.positions.len(),
                    _ => true,
                };
                node(&array.element) && array.positions.iter().all(node) && length
            });
            array && each.object.iter().all(object) && each.link.is_none()
        });
        // A chain of links without a cycle is never longer than the number of objects.
        let ends = |id: &ObjectId| {
            let mut at = *id;
            for _ in 0..=self.objects.len() {
                match self.objects.get(at.0 as usize).map(|object| object.link) {
                    Some(Some(next)) => at = next,
                    Some(None) => return true,
                    None => return false,
                }
            }
            false
        };
        let objects = (0..).map(ObjectId).zip(&self.objects).all(|(id, each)| {
            let shape = match &each.shape {
                Shape::Record(fields) => {
                    fields.list.iter().all(|field| node(&field.node))
                        && fields.rest.iter().all(|rest| node(&rest.value))
                }
                Shape::Map { value, .. } => node(value),
                Shape::Union(tagged) => {
                    let is_record = |id: &ObjectId| ends(id) && self.fields(self.find(*id)).is_some();
                    object(&tagged.template)
                        && tagged.untagged.iter().all(is_record)
                        && tagged.scratch.iter().all(object)
                        && tagged.variants.iter().all(|variant| is_record(&variant.object))
                }
            };
            shape && (each.link.is_none() || ends(&id))
        });
        let fresh = self.origin.fresh as usize <= self.objects.len();
        nodes && objects && fresh && node(&self.root) && self.spare.iter().all(node)
    }
}

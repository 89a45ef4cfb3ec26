//! The counts of one position that holds values.

use crate::infer::judge::Word;
use crate::infer::text::Texts;
use crate::schema::{Free, Lengths};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::infer) struct NodeId(pub(super) u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::infer) struct ObjectId(pub(super) u32);

/// The counts of one position that holds values.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::infer) struct Node {
    /// The hash of the nearest key above.
    pub(in crate::infer) name: u64,
    pub(in crate::infer) nulls: u64,
    pub(in crate::infer) bools: u64,
    pub(in crate::infer) trues: u64,
    pub(in crate::infer) integers: u64,
    pub(in crate::infer) floats: u64,
    /// The number of whole floats that do not fit in 64 bits, so that an `f64` may lose digits.
    pub(in crate::infer) huge: u64,
    pub(in crate::infer) min: i128,
    pub(in crate::infer) max: i128,
    /// The last string if it may be the value of a tag, for [`Study`].
    #[serde(skip)]
    pub(in crate::infer) word: Option<Word>,
    pub(in crate::infer) texts: Option<Box<Texts>>,
    pub(in crate::infer) array: Option<Box<Array>>,
    pub(in crate::infer) objects: u64,
    pub(in crate::infer) empties: u64,
    pub(in crate::infer) object: Option<ObjectId>,
    /// The sums, if the position is untyped.
    pub(in crate::infer) free: Option<Box<Free>>,
    /// The node that this one was merged into, until [`Arena::reclaim`].
    pub(super) link: Option<NodeId>,
}

impl Node {
    pub(in crate::infer) fn count(&self) -> u64 {
        self.nulls
            + self.bools
            + self.integers
            + self.floats
            + self.objects
            + self.text_count()
            + self.array_count()
            + { self.free.as_ref().map_or(0, |free| free.count) }
    }

    pub(in crate::infer) fn text_count(&self) -> u64 {
        self.texts.as_ref().map_or(0, |texts| texts.count)
    }

    pub(in crate::infer) fn array_count(&self) -> u64 {
        self.array.as_ref().map_or(0, |array| array.lengths.count)
    }

    #[inline]
    pub(in crate::infer) fn integer(&mut self, value: i128) {
        if self.integers == 0 {
            (self.min, self.max) = (value, value);
        } else if value < self.min {
            self.min = value;
        } else if value > self.max {
            self.max = value;
        }
        self.integers += 1;
    }

    pub(super) fn integers(&mut self, count: u64, min: i128, max: i128) {
        if count > 0 {
            (self.min, self.max) = if self.integers == 0 { (min, max) } else { (self.min.min(min), self.max.max(max)) };
            self.integers += count;
        }
    }
}

impl Node {
    /// Calls the functions for all ids.
    pub(super) fn ids(&mut self, node: &mut impl FnMut(&mut NodeId), object: &mut impl FnMut(&mut ObjectId)) {
        if let Some(array) = &mut self.array {
            node(&mut array.element);
            array.positions.iter_mut().for_each(node);
        }
        self.object.iter_mut().for_each(object);
    }
}

/// The arrays at a position.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::infer) struct Array {
    pub(in crate::infer) lengths: Lengths,
    /// All elements, unless the positions of a tuple hold them.
    pub(in crate::infer) element: NodeId,
    pub(in crate::infer) positions: Vec<NodeId>,
    pub(in crate::infer) fixed: Fixed,
}

/// Whether the arrays of a position have one length.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::infer) enum Fixed {
    Unknown,
    At(usize),
    Varied,
}

/// The state of a node after a merge into another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::infer) enum After {
    /// The node is released: it becomes a link to the other one.
    Take,
    /// The node is emptied, for further values.
    Keep,
}

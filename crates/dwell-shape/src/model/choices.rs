//! A representation for each position, variant and record.

use crate::positions::Positions;
use crate::schema::{RecordId, UnionId};
use crate::types::Int;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The representation of the values of one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The types of a first draft: `String`, `Vec`, `HashMap`, 64-bit integers, no boxes.
    #[default]
    Plain,
    /// Without spare capacity: `Box<str>`, `Box<[T]>`, `SortedMap<Box<str>, T>`.
    Exact,
    /// [`Exact`](Self::Exact) behind a one-word handle: `ThinStr`, `ThinSlice`, `SortedMap<ThinStr, T>`.
    Thin,
    /// `Box<T>`
    Boxed,
    /// `Sparse<T>`
    Sparse,
    /// An integer of this width.
    Int(Int),
    /// An array of this length: `[T; N]`.
    Array(u64),
}

/// A choice for each position, variant and record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choices {
    /// The choice for each position.
    pub at: Vec<Choice>,
    /// The variants that are boxed.
    pub variants: BTreeSet<(UnionId, usize)>,
    /// The records whose rare fields are moved to structs of their own.
    pub splits: BTreeMap<RecordId, Rc<Split>>,
    /// Whether to use std's types only: `HashMap` for maps, and `Box<str>` for strings of enums with a variant `Other`.
    pub standard: bool,
}

/// The fields of a record that are moved to structs of their own, in groups.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Split {
    /// The fields of each group, the most common group first.
    pub groups: Vec<Vec<usize>>,
    /// For each group, the number of instances that have at least one of its fields.
    pub filled: Vec<u64>,
    /// Whether each field is in a group.
    moved: Vec<bool>,
}

impl Split {
    /// Groups fields of a record.
    pub fn new(positions: &Positions<'_>, record: RecordId, mut groups: Vec<Vec<usize>>) -> Self {
        groups
            .sort_by_cached_key(|group| (std::cmp::Reverse(positions.any_of(record, group).0), group.first().copied()));
        let filled = groups.iter().map(|group| positions.any_of(record, group).0).collect();
        let mut moved = vec![false; positions.fields[record].len()];
        groups.iter().flatten().for_each(|&field| moved[field] = true);
        Self { groups, filled, moved }
    }

    /// Returns whether a field is in one of the groups.
    pub fn moved(&self, field: usize) -> bool {
        self.moved[field]
    }
}

impl Choices {
    /// Returns whether these are the naive types.
    pub fn is_naive(&self) -> bool {
        self.variants.is_empty() && self.splits.is_empty() && self.at.iter().all(|choice| *choice == Choice::Plain)
    }

    /// Returns the choices of the naive types, a first draft that is not optimised for memory.
    pub fn naive(positions: &Positions<'_>) -> Self {
        Self { at: vec![Choice::Plain; positions.list.len()], ..Self::default() }
    }
}

//! The structs and enums of a model, and the owners of heap blocks.

use crate::positions::PositionId;
use crate::schema::{KeywordsId, RecordId, UnionId};

/// The part of the schema that a struct or enum is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A record.
    Record(RecordId),
    /// Rare fields of a record.
    Group(RecordId, usize),
    /// A union.
    Union(UnionId),
    /// A set of keywords.
    Keywords(KeywordsId),
    /// The untagged enum at a position of several JSON types.
    Mixed(PositionId),
}

/// The part of the schema that a field or variant is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The values of a position.
    Position(PositionId, Presence),
    /// A group of rare fields.
    Group(usize),
    /// A variant of a union.
    Variant(usize),
}

/// The representation of a missing key or of `null` in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The key is always present; `null`, if it occurs, is `None`.
    Always,
    /// A missing key is `None`; `null` does not occur.
    Missing,
    /// A missing key is `None`; a key with `null` is `Some` of the inner representation of `null`.
    MissingOrNull,
    /// A missing key is the empty value.
    MissingIsEmpty,
}

/// A struct or enum.
#[derive(Debug, Clone)]
pub struct Def {
    /// The part of the schema that it is generated for.
    pub source: Source,
    /// The part of the schema for each field or variant of its `Body`, except for a variant for unseen values; empty
    /// for keywords.
    pub parts: Vec<Part>,
    /// Whether it is the `T` of a `Sparse<T>`.
    pub sparse: bool,
}

/// The owner of a heap block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// All documents in one vector.
    Documents,
    /// A position.
    Position(PositionId),
    /// A group of rare fields.
    Group(RecordId, usize),
    /// A variant of a union.
    Variant(UnionId, usize),
}

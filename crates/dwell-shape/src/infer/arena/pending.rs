//! Changes of shape that wait until no text is being read.

use super::node::{NodeId, ObjectId};

/// A change of shape that waits until no text is being read.
#[derive(Clone)]
pub(super) enum Pending {
    /// Merge two objects, which have the same type.
    Join(ObjectId, ObjectId),
    /// Turn a union whose tag has too many values into one record.
    Dissolve(ObjectId),
    /// Merge the positions of a tuple, since the lengths of the arrays differ.
    Flatten(NodeId),
    /// Make a position untyped.
    Free(NodeId),
    /// Move rare fields of a record to the rest, since it has too many keys.
    Overflow(ObjectId),
}

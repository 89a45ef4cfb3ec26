//! The form that an arena started from, and the types that it knows.

use super::node::ObjectId;
use foldhash::HashMap;

/// The form that an arena started from. Objects of the form have the same numbers in all arenas of it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::infer) enum FormId {
    #[default]
    None,
    /// A form of this process, by its serial number.
    Run(u64),
    /// A form file, by the hash of its contents. Fields are listed in the order of its study, and further ones by their
    /// keys, so that the order does not depend on which texts an arena reads.
    File(u64),
}

impl FormId {
    pub(super) fn is_file(self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// What an arena has of the form that it started from.
#[derive(Clone, Default)]
pub(in crate::infer) struct Origin {
    pub(super) id: FormId,
    /// The number of objects that belong to the form; later ones were found while reading.
    pub(super) fresh: u32,
    /// The values of [`Field::first`](super::Field::first) by the hashes of the keys, if the form is a file.
    pub(super) order: HashMap<u64, u64>,
    pub(super) known: Known,
}

/// The types that a new object is compared with: unions and recursive records.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// Unions by the hashes of tag and value; `None` if several match.
    pub(super) variants: HashMap<(u64, u64), Option<ObjectId>>,
    /// Recursive unions by the hash of the tag; `None` if several match.
    pub(super) tags: HashMap<u64, Option<ObjectId>>,
    /// Recursive records by the sum of their keys; `None` if several match.
    pub(super) records: HashMap<u64, Option<ObjectId>>,
}

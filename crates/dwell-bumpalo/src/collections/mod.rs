//! bumpalo's collections: vectors and strings in an arena.

mod collect_in;
pub mod string;
pub mod vec;

pub use self::collect_in::{CollectIn, FromIteratorIn};
pub use self::string::String;
pub use self::vec::Vec;

use crate::AllocErr;

/// Why a collection cannot grow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CollectionAllocErr {
    /// There would be more bytes than `isize::MAX`.
    CapacityOverflow,
    /// There is no memory.
    AllocErr,
}

impl From<AllocErr> for CollectionAllocErr {
    fn from(AllocErr: AllocErr) -> Self {
        Self::AllocErr
    }
}

impl From<core::alloc::LayoutError> for CollectionAllocErr {
    fn from(_: core::alloc::LayoutError) -> Self {
        Self::CapacityOverflow
    }
}

//! bumpalo's collections: vectors and strings in an arena.

mod collect_in;
pub mod string;
pub mod vec;

pub use self::collect_in::{CollectIn, FromIteratorIn};
pub use self::string::String;
pub use self::vec::Vec;

use crate::AllocErr;

/// The reason why a collection cannot grow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CollectionAllocErr {
    /// The capacity would exceed `isize::MAX` bytes.
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

/// Panics when a collection cannot grow, as bumpalo does. dwell calls `handle_alloc_error`, as std does.
#[cold]
#[inline(never)]
#[track_caller]
fn out_of_memory<T, V>(error: dwell::AllocError<V>) -> T {
    let layout = error.layout();
    drop(error);
    // dwell reports the largest layout of the alignment for a capacity that exceeds every layout.
    let largest = isize::MAX.unsigned_abs() + 1 - layout.align();
    assert!(layout.size() < largest, "capacity overflow");
    panic!("encountered allocation error: {layout:?}")
}

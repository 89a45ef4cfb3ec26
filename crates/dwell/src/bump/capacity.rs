//! Helpers of the vectors of an arena: the layout of a capacity, the error of a failed allocation, and ranges of
//! indices.

use crate::alloc::{AllocError, largest_layout};
use core::alloc::Layout;
use core::ops::{Bound, Range, RangeBounds};
use std_alloc::alloc::handle_alloc_error;

/// Returns the layout of `cap` elements, if its size is at most `isize::MAX` bytes.
pub(super) fn array(element: Layout, cap: usize) -> Option<Layout> {
    let size = element.size().checked_mul(cap)?;
    Layout::from_size_align(size, element.align()).ok()
}

/// The error of a vector that has no memory for its elements.
pub(super) enum NoMemory {
    /// The arena could not allocate this layout.
    Refused(Layout),
    /// The number of elements overflows, or no layout is large enough for them. Contains the alignment of an element.
    TooMany(usize),
}

impl NoMemory {
    /// The error of too many elements of type `T`.
    pub(super) fn too_many<T>() -> Self {
        Self::TooMany(align_of::<T>())
    }

    /// Creates the error for a block of `cap + extra` elements.
    #[cold]
    pub(super) fn of(element: Layout, cap: usize, extra: usize) -> Self {
        let layout = cap.checked_add(extra).and_then(|least| array(element, least));
        layout.map_or(Self::TooMany(element.align()), Self::Refused)
    }

    #[cold]
    pub(super) fn abort(self) -> ! {
        match self {
            Self::Refused(layout) => handle_alloc_error(layout),
            Self::TooMany(_) => panic!("capacity overflow"),
        }
    }

    pub(super) fn error<T>(self, value: T) -> AllocError<T> {
        let layout = match self {
            Self::Refused(layout) => layout,
            Self::TooMany(align) => largest_layout(align),
        };
        AllocError::new(value, layout)
    }
}

/// Returns the number of elements for which a vector reserves memory because of an iterator's `size_hint`: at most 64
/// KiB. For more elements it grows as they arrive.
#[inline]
pub(super) fn expected<T>(values: &impl Iterator<Item = T>) -> usize {
    const TRUSTED_BYTES: usize = 1 << 16;
    values.size_hint().0.min(TRUSTED_BYTES / size_of::<T>().max(1))
}

/// Converts a range over `len` elements to a range of indices.
///
/// # Panics
///
/// When the range starts after its end, or ends after `len`.
pub(super) fn indices(range: &impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.checked_add(1).expect("the range starts after usize::MAX"),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1).expect("the range ends after usize::MAX"),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    assert!(start <= end, "range start (is {start}) should be <= range end (is {end})");
    assert!(end <= len, "range end (is {end}) should be <= len (is {len})");
    start..end
}

//! What the vectors of an arena share: the layout of a capacity, the error when there is no memory for it, and ranges of indices.

use crate::alloc::AllocError;
use core::alloc::Layout;
use core::ops::{Bound, Range, RangeBounds};
use std_alloc::alloc::handle_alloc_error;

/// The layout of `cap` elements, if it has at most `isize::MAX` bytes.
pub(super) fn array(element: Layout, cap: usize) -> Option<Layout> {
    let size = element.size().checked_mul(cap)?;
    Layout::from_size_align(size, element.align()).ok()
}

/// There is no memory for this layout. `None`: the elements exceed every layout.
pub(super) struct NoMemory(Option<Layout>);

impl NoMemory {
    /// The element count overflows, or the bytes exceed `isize::MAX`.
    pub(super) const TOO_MANY: Self = Self(None);

    pub(super) fn of_layout(layout: Layout) -> Self {
        Self(Some(layout))
    }

    /// For a block of `cap + extra` elements.
    #[cold]
    pub(super) fn of(element: Layout, cap: usize, extra: usize) -> Self {
        Self(cap.checked_add(extra).and_then(|least| array(element, least)))
    }

    #[cold]
    pub(super) fn abort(self) -> ! {
        match self.0 {
            Some(layout) => handle_alloc_error(layout),
            None => panic!("capacity overflow"),
        }
    }

    pub(super) fn error<T>(self, value: T) -> AllocError<T> {
        AllocError::new(value, self.0.unwrap_or(Layout::new::<()>()))
    }
}

/// The most bytes that a vector reserves on the word of `size_hint`. For more elements it grows as they come.
pub(super) const TRUSTED_BYTES: usize = 1 << 16;

/// The indices of a range among `len` elements.
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
    assert!(start <= end, "the range starts at {start} and ends before that, at {end}");
    assert!(end <= len, "the range ends at {end}, and the length is {len}");
    start..end
}

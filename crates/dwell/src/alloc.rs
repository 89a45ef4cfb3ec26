//! Allocation that can fail: the error, and the one place that asks for a block.

use core::fmt;
use core::ptr::NonNull;
use std_alloc::alloc::{Layout, alloc};
use std_alloc::boxed::Box;

/// The allocator had no block for a value, which comes back with the error.
///
/// ```
/// use dwell::Sparse;
///
/// match Sparse::try_new(String::from("kept")) {
///     Ok(value) => assert_eq!(value.get().unwrap(), "kept"),
///     Err(error) => {
///         let value: String = error.into_inner();
///         assert_eq!(value, "kept");
///     }
/// }
/// ```
pub struct AllocError<T> {
    value: T,
    layout: Layout,
}

impl<T> AllocError<T> {
    pub(crate) fn new(value: T, layout: Layout) -> Self {
        Self { value, layout }
    }

    /// The value that found no place.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The size in bytes and the alignment that were asked for.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The same error with another value in it.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> AllocError<U> {
        AllocError::new(f(self.value), self.layout)
    }
}

impl<T> fmt::Debug for AllocError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllocError").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for AllocError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the allocator has no block of {} bytes aligned to {}", self.layout.size(), self.layout.align())
    }
}

impl<T> core::error::Error for AllocError<T> {}

/// A block of the global allocator, or `None` when it has no such block.
///
/// # Panics
///
/// When the layout has no bytes; the allocator must not be asked for that.
#[inline]
pub(crate) fn try_alloc(layout: Layout) -> Option<NonNull<u8>> {
    assert!(layout.size() != 0);
    // SAFETY: the layout's size is not zero.
    NonNull::new(unsafe { alloc(layout) })
}

/// `Box::new` that gives the value back when the allocator fails.
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>, AllocError<T>> {
    let layout = Layout::new::<T>();
    if layout.size() == 0 {
        return Ok(Box::new(value));
    }
    let Some(block) = try_alloc(layout) else {
        return Err(AllocError::new(value, layout));
    };
    let block = block.cast::<T>();
    // SAFETY: `block` is valid for writes of a `T` and aligned for it: it was allocated with `T`'s layout.
    unsafe { block.write(value) };
    // SAFETY: `block` came from the global allocator with `T`'s layout and holds a valid `T`, which is what `Box`
    // requires of a pointer it takes over ("Memory layout" in its documentation); no one else has the pointer.
    Ok(unsafe { Box::from_raw(block.as_ptr()) })
}

//! Allocation that can fail: the error, and which [`Allocator`] trait the crate sees.
//!
//! | features | `Allocator` and `Global` are |
//! |---|---|
//! | `nightly` | those of `core` and `alloc` |
//! | `allocator-api2` | those of allocator-api2 0.2, which with `nightly` are `core`'s again |
//! | neither | our own: a sealed trait with `Global` only, so that adding a feature breaks nobody |

use core::fmt;
use core::ptr::NonNull;
use std_alloc::alloc::{Layout, alloc};
use std_alloc::boxed::Box;

#[cfg(all(feature = "allocator-api2", not(feature = "nightly")))]
pub use allocator_api2::alloc::{Allocator, Global};
#[cfg(feature = "nightly")]
pub use std_alloc::alloc::{Allocator, Global};

// What an `Allocator` of ours returns as its error.
#[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
pub(crate) use self::own::Refused;
#[cfg(all(feature = "allocator-api2", not(feature = "nightly")))]
pub(crate) use allocator_api2::alloc::AllocError as Refused;
#[cfg(feature = "nightly")]
pub(crate) use core::alloc::AllocError as Refused;

#[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
pub use self::own::{Allocator, Global};

#[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
mod own {
    use core::alloc::Layout;
    use core::ptr::{self, NonNull};
    use std_alloc::alloc::{alloc, dealloc, realloc};

    /// Where blocks come from. Without the features `allocator-api2` and `nightly` that is [`Global`] alone.
    ///
    /// # Safety
    ///
    /// No one can implement it: it is sealed. The contract is that of `core::alloc::Allocator`.
    pub unsafe trait Allocator: sealed::Sealed {
        /// A block of at least this layout, or `None`.
        #[doc(hidden)]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused>;

        /// Takes a block back.
        ///
        /// # Safety
        ///
        /// `block` came from `allocate` with this `layout` and is in use.
        #[doc(hidden)]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout);

        /// Makes a block larger, elsewhere if need be.
        ///
        /// # Safety
        ///
        /// `block` came from `allocate` with the layout `old` and is in use; `new` is no smaller. After `Ok`, the block is
        /// the returned one.
        #[doc(hidden)]
        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, Refused> {
            let larger = self.allocate(new)?;
            // SAFETY: both have `old.size()` bytes, and one is new.
            unsafe { ptr::copy_nonoverlapping(block.as_ptr(), larger.as_ptr().cast(), old.size()) };
            // SAFETY: the caller says so.
            unsafe { self.deallocate(block, old) };
            Ok(larger)
        }
    }

    /// There is no block.
    #[doc(hidden)]
    #[derive(Debug)]
    pub struct Refused;

    mod sealed {
        pub trait Sealed {}
        impl Sealed for super::Global {}
        impl<const MIN_ALIGN: usize, A: super::Allocator> Sealed for &crate::bump::Bump<MIN_ALIGN, A> {}
        impl<A: super::Allocator> Sealed for crate::bump::First<'_, A> {}
    }

    /// The global allocator, as `Box` and `Vec` use it.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Global;

    // SAFETY: the two functions are those of the global allocator, which keeps the same contract; a block stays valid
    // whatever happens to the `Global` it came from.
    unsafe impl Allocator for Global {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused> {
            if layout.size() == 0 {
                let dangling = NonNull::new(ptr::without_provenance_mut(layout.align())).ok_or(Refused)?;
                return Ok(NonNull::slice_from_raw_parts(dangling, 0));
            }
            // SAFETY: the layout's size is not zero.
            let block = NonNull::new(unsafe { alloc(layout) }).ok_or(Refused)?;
            Ok(NonNull::slice_from_raw_parts(block, layout.size()))
        }

        #[inline]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            if layout.size() != 0 {
                // SAFETY: the caller says that the block came from `allocate` with this layout, thus from `alloc`.
                unsafe { dealloc(block.as_ptr(), layout) };
            }
        }

        #[inline]
        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, Refused> {
            if old.size() == 0 || old.align() != new.align() {
                let larger = self.allocate(new)?;
                // SAFETY: both have `old.size()` bytes, and one is new.
                unsafe { ptr::copy_nonoverlapping(block.as_ptr(), larger.as_ptr().cast(), old.size()) };
                // SAFETY: the caller says so.
                unsafe { self.deallocate(block, old) };
                return Ok(larger);
            }
            // SAFETY: the block came from `alloc` with this layout, whose size is not zero; the new size is that of a layout
            // of the same alignment.
            let larger = NonNull::new(unsafe { realloc(block.as_ptr(), old, new.size()) }).ok_or(Refused)?;
            Ok(NonNull::slice_from_raw_parts(larger, new.size()))
        }
    }
}

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

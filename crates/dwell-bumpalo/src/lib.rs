//! The interface of the crate bumpalo 3.20 over [`dwell::Bump`].
//!
//! A program that uses bumpalo can try dwell by one line of its `Cargo.toml`, without a change of its source:
//!
//! ```toml
//! bumpalo = { package = "dwell-bumpalo", version = "0.1", features = ["collections"] }
//! ```
//!
//! ```
//! use dwell_bumpalo::Bump; // `bumpalo::Bump` with the line above
//!
//! let bump = Bump::new();
//! let number = bump.alloc(7);
//! *number += 1;
//! assert_eq!((*number, &*bump.alloc_str("eight")), (8, "eight"));
//! ```
//!
//! `README.md` lists the differences from bumpalo, with the reasons.
//!
//! # Features
//!
//! `collections`, `boxed`, `allocator-api2`, `std`, `serde` and `allocator_api` (which needs a nightly compiler), as in bumpalo.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(feature = "allocator_api", feature(allocator_api))]
#![allow(clippy::missing_errors_doc, clippy::missing_panics_doc, reason = "bumpalo's documentation is the reference")]

extern crate alloc;
// bumpalo exports it under this name, for its macros, and dioxus-core imports it.
#[doc(hidden)]
pub extern crate alloc as core_alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "boxed")]
pub mod boxed;
#[cfg(feature = "collections")]
pub mod collections;

use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;
use core::{error, fmt};
use dwell::bump;

/// The error of a failed allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocErr;

impl fmt::Display for AllocErr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memory allocation failed")
    }
}

impl error::Error for AllocErr {}

impl<T> From<dwell::AllocError<T>> for AllocErr {
    fn from(_: dwell::AllocError<T>) -> Self {
        Self
    }
}

/// The error of [`Bump::try_alloc_try_with`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AllocOrInitError<E> {
    /// There was no memory.
    Alloc(AllocErr),
    /// The function returned this error.
    Init(E),
}

impl<E> From<AllocErr> for AllocOrInitError<E> {
    fn from(error: AllocErr) -> Self {
        Self::Alloc(error)
    }
}

impl<E: fmt::Display> fmt::Display for AllocOrInitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alloc(error) => error.fmt(f),
            Self::Init(error) => write!(f, "initialization failed: {error}"),
        }
    }
}

impl<E: error::Error> error::Error for AllocOrInitError<E> {}

/// bumpalo's `Bump`.
///
/// It dereferences to [`dwell::Bump`], and so also has the methods that bumpalo lacks, such as
/// [`scope`](dwell::Bump::scope).
// `Bump::of` casts a pointer to a `dwell::Bump` to a pointer to this type.
#[repr(transparent)]
#[derive(Debug)]
pub struct Bump<const MIN_ALIGN: usize = 1>(dwell::Bump<MIN_ALIGN>);

impl Bump<1> {
    /// Creates an arena without chunks.
    #[inline]
    pub fn new() -> Self {
        Self::with_min_align()
    }

    /// Creates an arena without chunks.
    pub fn try_new() -> Result<Self, AllocErr> {
        Ok(Self::new())
    }

    /// Creates an arena that has capacity for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_min_align_and_capacity(capacity)
    }

    /// [`with_capacity`](Self::with_capacity) that reports a failed allocation.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocErr> {
        Self::try_with_min_align_and_capacity(capacity)
    }
}

impl<const MIN_ALIGN: usize> Default for Bump<MIN_ALIGN> {
    fn default() -> Self {
        Self::with_min_align()
    }
}

impl<const MIN_ALIGN: usize> Bump<MIN_ALIGN> {
    /// Creates an arena without chunks.
    #[inline]
    pub fn with_min_align() -> Self {
        const { assert!(MIN_ALIGN.is_power_of_two() && MIN_ALIGN <= 16, "`MIN_ALIGN` must be a power of two of at most 16") };
        Self(dwell::Bump::with_min_align())
    }

    /// Creates an arena that has capacity for `capacity` bytes.
    pub fn with_min_align_and_capacity(capacity: usize) -> Self {
        Self::try_with_min_align_and_capacity(capacity).unwrap_or_else(|AllocErr| panic!("out of memory"))
    }

    /// [`with_min_align_and_capacity`](Self::with_min_align_and_capacity) that reports a failed allocation.
    pub fn try_with_min_align_and_capacity(capacity: usize) -> Result<Self, AllocErr> {
        let empty = Self::with_min_align();
        if capacity == 0 {
            return Ok(empty);
        }
        Ok(Self(dwell::Bump::try_with_capacity_in(capacity, dwell::alloc::Global)?))
    }

    /// Returns the minimum alignment of values.
    #[inline]
    pub fn min_align(&self) -> usize {
        MIN_ALIGN
    }

    /// Returns the limit on the bytes that the arena holds from its allocator.
    pub fn allocation_limit(&self) -> Option<usize> {
        self.0.allocation_limit()
    }

    /// Sets the limit on the bytes that the arena holds from its allocator.
    pub fn set_allocation_limit(&self, limit: Option<usize>) {
        self.0.set_allocation_limit(limit);
    }

    /// Frees all values without dropping them.
    #[inline]
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Moves a value into the arena.
    #[inline]
    pub fn alloc<T>(&self, value: T) -> &mut T {
        self.0.try_alloc(value).unwrap_or_else(out_of_memory)
    }

    /// [`alloc`](Self::alloc) that reports a failed allocation.
    #[inline]
    pub fn try_alloc<T>(&self, value: T) -> Result<&mut T, AllocErr> {
        Ok(self.0.try_alloc(value)?)
    }

    /// Allocates the result of a function in the arena.
    #[inline]
    pub fn alloc_with<F: FnOnce() -> T, T>(&self, f: F) -> &mut T {
        self.0.try_alloc_with(f).unwrap_or_else(out_of_memory)
    }

    /// [`alloc_with`](Self::alloc_with) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_with<F: FnOnce() -> T, T>(&self, f: F) -> Result<&mut T, AllocErr> {
        Ok(self.0.try_alloc_with(f)?)
    }

    /// Allocates the result of a function in the arena, or returns its error.
    #[inline]
    pub fn alloc_try_with<F: FnOnce() -> Result<T, E>, T, E>(&self, f: F) -> Result<&mut T, E> {
        self.0.try_alloc_try_with(f).map_err(init_or_out_of_memory)
    }

    /// [`alloc_try_with`](Self::alloc_try_with) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_try_with<F, T, E>(&self, f: F) -> Result<&mut T, AllocOrInitError<E>>
    where
        F: FnOnce() -> Result<T, E>,
    {
        self.0.try_alloc_try_with(f).map_err(|error| match error {
            bump::AllocOrInitError::Alloc(_) => AllocOrInitError::Alloc(AllocErr),
            bump::AllocOrInitError::Init(error) => AllocOrInitError::Init(error),
        })
    }

    /// Copies a slice into the arena.
    #[inline]
    pub fn alloc_slice_copy<T: Copy>(&self, src: &[T]) -> &mut [T] {
        self.0.try_alloc_slice_copy(src).unwrap_or_else(out_of_memory)
    }

    /// [`alloc_slice_copy`](Self::alloc_slice_copy) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_copy<T: Copy>(&self, src: &[T]) -> Result<&mut [T], AllocErr> {
        Ok(self.0.try_alloc_slice_copy(src)?)
    }

    /// Clones the elements of a slice into the arena.
    #[inline]
    pub fn alloc_slice_clone<T: Clone>(&self, src: &[T]) -> &mut [T] {
        self.alloc_slice_fill_with(src.len(), |index| src[index].clone())
    }

    /// [`alloc_slice_clone`](Self::alloc_slice_clone) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_clone<T: Clone>(&self, src: &[T]) -> Result<&mut [T], AllocErr> {
        self.try_alloc_slice_fill_with(src.len(), |index| src[index].clone())
    }

    /// Copies a string into the arena.
    #[inline]
    pub fn alloc_str(&self, src: &str) -> &mut str {
        self.0.try_alloc_str(src).unwrap_or_else(out_of_memory)
    }

    /// [`alloc_str`](Self::alloc_str) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_str(&self, src: &str) -> Result<&mut str, AllocErr> {
        Ok(self.0.try_alloc_str(src)?)
    }

    /// Allocates a slice with the results of a function for each index.
    #[inline]
    pub fn alloc_slice_fill_with<T, F: FnMut(usize) -> T>(&self, len: usize, mut f: F) -> &mut [T] {
        finished(
            self.0.try_alloc_slice_fill_with(len, |index| ManuallyDrop::new(f(index))).unwrap_or_else(out_of_memory),
        )
    }

    /// [`alloc_slice_fill_with`](Self::alloc_slice_fill_with) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_fill_with<T, F: FnMut(usize) -> T>(
        &self,
        len: usize,
        mut f: F,
    ) -> Result<&mut [T], AllocErr> {
        Ok(finished(self.0.try_alloc_slice_fill_with(len, |index| ManuallyDrop::new(f(index)))?))
    }

    /// Allocates a slice with the results of a function for each index, or returns its first error.
    #[inline]
    pub fn alloc_slice_try_fill_with<T, F, E>(&self, len: usize, mut f: F) -> Result<&mut [T], E>
    where
        F: FnMut(usize) -> Result<T, E>,
    {
        let slice = self.0.try_alloc_slice_try_fill_with(len, |index| f(index).map(ManuallyDrop::new));
        slice.map(finished).map_err(init_or_out_of_memory)
    }

    /// Allocates a slice of copies of a value.
    #[inline]
    pub fn alloc_slice_fill_copy<T: Copy>(&self, len: usize, value: T) -> &mut [T] {
        self.0.try_alloc_slice_fill_copy(len, value).unwrap_or_else(out_of_memory)
    }

    /// [`alloc_slice_fill_copy`](Self::alloc_slice_fill_copy) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_fill_copy<T: Copy>(&self, len: usize, value: T) -> Result<&mut [T], AllocErr> {
        Ok(self.0.try_alloc_slice_fill_copy(len, value)?)
    }

    /// Allocates a slice of clones of a value.
    #[inline]
    pub fn alloc_slice_fill_clone<T: Clone>(&self, len: usize, value: &T) -> &mut [T] {
        self.alloc_slice_fill_with(len, |_| value.clone())
    }

    /// [`alloc_slice_fill_clone`](Self::alloc_slice_fill_clone) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_fill_clone<T: Clone>(&self, len: usize, value: &T) -> Result<&mut [T], AllocErr> {
        self.try_alloc_slice_fill_with(len, |_| value.clone())
    }

    /// Allocates a slice of an iterator's items.
    #[inline]
    pub fn alloc_slice_fill_iter<T, I>(&self, iter: I) -> &mut [T]
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: ExactSizeIterator,
    {
        let mut iter = iter.into_iter();
        self.alloc_slice_fill_with(iter.len(), |_| iter.next().expect(TOO_FEW))
    }

    /// Allocates a slice of an iterator's items, or returns its first error.
    #[inline]
    pub fn alloc_slice_try_fill_iter<T, I, E>(&self, iter: I) -> Result<&mut [T], E>
    where
        I: IntoIterator<Item = Result<T, E>>,
        I::IntoIter: ExactSizeIterator,
    {
        let mut iter = iter.into_iter();
        self.alloc_slice_try_fill_with(iter.len(), |_| iter.next().expect(TOO_FEW))
    }

    /// [`alloc_slice_fill_iter`](Self::alloc_slice_fill_iter) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_fill_iter<T, I>(&self, iter: I) -> Result<&mut [T], AllocErr>
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: ExactSizeIterator,
    {
        let mut iter = iter.into_iter();
        self.try_alloc_slice_fill_with(iter.len(), |_| iter.next().expect(TOO_FEW))
    }

    /// Allocates a slice of default values.
    #[inline]
    pub fn alloc_slice_fill_default<T: Default>(&self, len: usize) -> &mut [T] {
        self.alloc_slice_fill_with(len, |_| T::default())
    }

    /// [`alloc_slice_fill_default`](Self::alloc_slice_fill_default) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_fill_default<T: Default>(&self, len: usize) -> Result<&mut [T], AllocErr> {
        self.try_alloc_slice_fill_with(len, |_| T::default())
    }

    /// Allocates a block of a layout.
    #[inline]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> {
        self.0.try_alloc_layout(layout).unwrap_or_else(out_of_memory)
    }

    /// [`alloc_layout`](Self::alloc_layout) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocErr> {
        Ok(self.0.try_alloc_layout(layout)?)
    }

    /// Returns the number of free bytes in the current chunk.
    #[inline]
    pub fn chunk_capacity(&self) -> usize {
        self.0.chunk_capacity()
    }

    /// Returns the number of bytes of all chunks, including their headers.
    pub fn allocated_bytes(&self) -> usize {
        self.0.allocated_bytes()
    }

    /// Returns the number of bytes of all chunks, including their headers.
    pub fn allocated_bytes_including_metadata(&self) -> usize {
        self.0.allocated_bytes()
    }
}

/// Converts a slice whose elements were all written.
///
/// If a function panics or fails before, bumpalo drops none of the elements so far, and a program may rely on that: it may have
/// moved them from values that it still owns. dwell drops them, so they are `ManuallyDrop`s until the slice is complete.
fn finished<T>(slice: &mut [ManuallyDrop<T>]) -> &mut [T] {
    let slice = core::ptr::from_mut(slice);
    let values = core::ptr::slice_from_raw_parts_mut(slice.cast::<T>(), slice.len());
    // SAFETY: `ManuallyDrop<T>` is transparent, so these are as many values of `T` at the same address. The lifetime is that of
    // the exclusive reference, which is not used any more.
    unsafe { &mut *values }
}

/// The message about an `ExactSizeIterator` whose `len` was wrong.
const TOO_FEW: &str = "Iterator supplied too few elements";

/// Panics when there is no memory, as bumpalo does. dwell calls `handle_alloc_error`, as std does.
#[cold]
#[inline(never)]
#[track_caller]
fn out_of_memory<T, V>(error: dwell::AllocError<V>) -> T {
    drop(error);
    panic!("out of memory")
}

fn init_or_out_of_memory<E, V>(error: bump::AllocOrInitError<E, V>) -> E {
    match error {
        bump::AllocOrInitError::Alloc(error) => out_of_memory(error),
        bump::AllocOrInitError::Init(error) => error,
    }
}

impl<const MIN_ALIGN: usize> Deref for Bump<MIN_ALIGN> {
    type Target = dwell::Bump<MIN_ALIGN>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

#[cfg(feature = "collections")]
impl Bump {
    /// Converts a reference to dwell's arena to one to bumpalo's type.
    fn of(bump: &dwell::Bump<1>) -> &Self {
        // SAFETY: `Bump<1>` is a transparent wrapper of `dwell::Bump<1>`, so a pointer to one is a valid pointer to the
        // other. The lifetime is the same.
        unsafe { &*core::ptr::from_ref(bump).cast::<Self>() }
    }
}

#[cfg(any(feature = "allocator-api2", feature = "allocator_api"))]
mod allocator {
    use crate::Bump;
    // With `allocator_api`, the trait of allocator-api2 is this one.
    #[cfg(feature = "allocator_api")]
    use alloc::alloc::{AllocError, Allocator};
    #[cfg(not(feature = "allocator_api"))]
    use allocator_api2::alloc::{AllocError, Allocator};
    use core::alloc::Layout;
    use core::ptr::NonNull;

    // SAFETY: every call is forwarded to the `dwell::Bump`, which is an allocator, so the blocks are those of that
    // allocator. A move of the `Bump` moves it, and a `Bump` has no `Clone`.
    unsafe impl<const MIN_ALIGN: usize> Allocator for Bump<MIN_ALIGN> {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            self.0.allocate(layout)
        }

        #[inline]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            // SAFETY: the caller guarantees that this allocator, and thus the `dwell::Bump`, returned the block for this
            // layout, and that it was not freed.
            unsafe { self.0.deallocate(block, layout) };
        }

        #[inline]
        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
            // SAFETY: the caller guarantees that this allocator, and thus the `dwell::Bump`, returned the block for the
            // layout `old`, that it was not freed, and that `new` is no smaller.
            unsafe { self.0.grow(block, old, new) }
        }

        #[inline]
        unsafe fn grow_zeroed(
            &self,
            block: NonNull<u8>,
            old: Layout,
            new: Layout,
        ) -> Result<NonNull<[u8]>, AllocError> {
            // SAFETY: the caller guarantees that this allocator, and thus the `dwell::Bump`, returned the block for the
            // layout `old`, that it was not freed, and that `new` is no smaller.
            unsafe { self.0.grow_zeroed(block, old, new) }
        }

        #[inline]
        unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
            // SAFETY: the caller guarantees that this allocator, and thus the `dwell::Bump`, returned the block for the
            // layout `old`, that it was not freed, and that `new` is no larger.
            unsafe { self.0.shrink(block, old, new) }
        }
    }
}

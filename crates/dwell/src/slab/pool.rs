//! Pools: memory for values of many types, with a slab for each size class.

use super::classes::Class;
use super::insert::{CellAllocator, insert, insert_with, try_insert, try_insert_with};
use super::memory::Refusal;
use super::pooled::Pooled;
use super::size_classes::{InPool, SizeClasses};
use super::stack::CellPtr;
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::fmt;

/// A pool for values of all types: small values in slabs by size class, others in dedicated blocks.
///
/// [`Pooled::new`] uses the pool of the thread; a pool of your own frees its memory when it and its values are dropped.
///
/// ```
/// use dwell::slab::{Pool, Pooled};
/// use std::fmt::Display;
///
/// let pool = Pool::new();
/// let values: Vec<Pooled<dyn Display>> =
///     vec![pool.insert(7).coerce(|view| view as _), pool.insert("seven").coerce(|view| view as _)];
/// drop(pool);
/// assert_eq!(format!("{} {}", values[0], values[1]), "7 seven");
/// ```
///
/// Sizes are rounded up to a multiple of 8, and above 64 bytes by at most a quarter, so that types share slabs. A value of
/// more than 8 KiB is a block of the global allocator, as in a `Box`; a smaller one that is aligned to more than 128 bytes gets
/// an allocation that is aligned to at least 64 KiB. The pool stays on its thread. Its values are `Send` and `Sync` where their
/// types are, and may outlive it. They have no keys.
pub struct Pool {
    classes: SizeClasses,
}

// SAFETY: the cells of a class have a layout that a `T` of this class fits in. They are vacant and used
// by no other code when they are popped or refilled, as is a dedicated cell that was just allocated for a `T`. A slot
// of a pool frees its cell to the owner in the header below it: the core of the class, or `NO_SLAB` for a dedicated
// block. A pool leaks no cell, and memory is freed only when its cells are vacant.
unsafe impl<T> CellAllocator<T> for Pool {
    type Kind = InPool;
    type Handle = Pooled<T>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        self.classes.pop_class(const { Class::of(Layout::new::<T>()) }?.index)
    }

    #[inline(always)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        self.classes.refill_class(Layout::new::<T>())
    }
}

impl Pool {
    /// Creates a pool without memory.
    pub const fn new() -> Self {
        Self { classes: SizeClasses::new() }
    }

    /// Frees the chunks without values. A pool does that by itself when most of its cells are vacant, unless it needed them again
    /// at once the last time: see [`trim`](super::trim).
    ///
    /// ```
    /// let pool = dwell::slab::Pool::new();
    /// drop((0..1000).map(|n| pool.insert([n; 10])).collect::<Vec<_>>());
    /// pool.shrink_to_fit();
    /// ```
    pub fn shrink_to_fit(&self) {
        self.classes.sweep();
    }

    /// Calls `each` with the layout of each allocation of the slabs and the number of unused bytes in it. `each` must
    /// not be user code.
    #[cfg(feature = "weigh")]
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        self.classes.each_block(each);
    }

    /// Inserts a value.
    ///
    /// ```
    /// let pool = dwell::slab::Pool::new();
    /// let (number, text) = (pool.insert(7), pool.insert(String::from("seven")));
    /// assert_eq!((*number, &**text), (7, "seven"));
    /// assert_eq!(size_of_val(&text), 8);
    /// ```
    #[inline(always)]
    pub fn insert<T>(&self, value: T) -> Pooled<T> {
        insert(self, value)
    }

    /// Like [`insert`](Self::insert), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory; the value is returned in the error.
    #[inline(always)]
    pub fn try_insert<T>(&self, value: T) -> Result<Pooled<T>, AllocError<T>> {
        try_insert(self, value)
    }

    /// Inserts the value that `make` returns. Takes a cell before it calls `make`, and frees it if `make` panics.
    ///
    /// ```
    /// let pool = dwell::slab::Pool::new();
    /// let page = pool.insert_with(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline(always)]
    pub fn insert_with<T>(&self, make: impl FnOnce() -> T) -> Pooled<T> {
        insert_with(self, make)
    }

    /// Like [`insert_with`](Self::insert_with), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// The same as for [`try_insert`](Self::try_insert). The error contains `make`, which was not called.
    #[inline(always)]
    pub fn try_insert_with<T, F: FnOnce() -> T>(&self, make: F) -> Result<Pooled<T>, AllocError<F>> {
        try_insert_with(self, make)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.classes.clear();
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

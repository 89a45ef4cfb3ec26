//! Pools: memory for values of many types, with a slab for each size class.

use super::classes::{CLASSES, Class, is_large};
use super::dedicated;
use super::engine::{CoreRef, Owners};
use super::geometry::Geometry;
use super::insert::{CellAllocator, insert, insert_with, try_insert, try_insert_with};
use super::kind::sealed::CrossThread;
use super::kind::{SlotKind, sealed};
use super::lazy::LazyCore;
use super::memory::{Growth, Refusal};
use super::pooled::Pooled;
use super::remote::AnyThread;
use super::stack::{CellPtr, POOL_AHEAD};
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::convert::Infallible;
use core::fmt;

/// A pool for values of all types: small values in slabs by size class, others in blocks of their own.
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
/// more than 8 KiB is a block of the global allocator, as in a `Box`. A smaller value that is aligned to more than 128 bytes
/// gets an allocation that is aligned to at least 64 KiB. The pool stays on its thread. Its values are `Send` and `Sync` where
/// their types are, and may outlive it. They have no keys.
pub struct Pool {
    // # Invariants
    //
    // 1. Each core has the geometry of its class.
    cores: [LazyCore<AnyThread, POOL_AHEAD>; CLASSES],
}

/// The kind of the values in a pool: a drop finds the owner by the address of the cell, for values of any type.
pub struct InPool(Infallible);

impl SlotKind for InPool {}

// SAFETY: `CoreRef::free_cell` puts the cell on one list of its core, or only counts it or frees its memory. An `InPool`
// is not `Keyed`.
unsafe impl sealed::SlotKind for InPool {
    #[inline(always)]
    unsafe fn free_cell(cell: CellPtr, value: Layout) {
        if is_large(value) {
            // SAFETY: the caller guarantees that this is an occupied cell of a pool for a value of this layout, which is not used
            // again. `dedicated::allocate` makes those of large values.
            return unsafe { dedicated::free_large(cell, value) };
        }
        // SAFETY: the caller guarantees that this is an occupied cell of a pool, for a value that is not large. It belongs to a
        // size class, all of which have blocks of `MIN_BLOCK` bytes, or to a dedicated block. Neither is freed while the cell is
        // occupied.
        let core = unsafe { dedicated::owner_in_pool::<CoreRef<AnyThread>>(cell) };
        // SAFETY: the header says that the cell belongs to this core or, if that is `NO_SLAB`, to a dedicated block.
        // The caller guarantees that it is occupied, contains no live value, and is not used again.
        unsafe { core.free_cell_in_pool(cell) };
    }
}

/// Returns the layout of the dedicated block for a value of this layout, or `None` if the value shares a chunk.
#[cfg(feature = "weigh")]
pub(crate) fn dedicated_block(value: Layout) -> Option<Layout> {
    if Class::of(value).is_some() { None } else { dedicated::layout(value) }
}

// SAFETY: a dedicated block may be freed on any thread. `AnyThread` is `CrossThread`, so a cell of a slab may be freed on any
// thread too. An `InPool` is not `Keyed`.
unsafe impl CrossThread for InPool {}

// SAFETY: by invariant 1 the cells of a class have a layout that a `T` of this class fits in. They are vacant and used
// by no other code when they are popped or refilled, as is a dedicated cell that was just allocated for a `T`. A slot
// of a pool frees its cell to the owner in the header below it: the core of the class, or `NO_SLAB` for a dedicated
// block. A pool leaks no cell, and memory is freed only when its cells are vacant.
unsafe impl<T> CellAllocator<T> for Pool {
    type Kind = InPool;
    type Handle = Pooled<T>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        self.pop_class(const { Class::of(Layout::new::<T>()) }?)
    }

    #[inline(always)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        self.refill_class(Layout::new::<T>())
    }
}

impl Pool {
    /// Creates a pool without memory.
    pub const fn new() -> Self {
        Self { cores: [const { LazyCore::new() }; CLASSES] }
    }

    /// Takes a cell from the free stack of a class.
    #[inline(always)]
    pub(super) fn pop_class(&self, class: Class) -> Option<CellPtr> {
        self.cores[class.index].pop()
    }

    /// Allocates a cell for a value of this layout, if the free stack of its class is empty.
    #[cold]
    #[inline(never)]
    pub(super) fn refill_class(&self, layout: Layout) -> Result<CellPtr, Refusal> {
        let Some(class) = Class::of(layout) else {
            return dedicated::allocate(layout, AnyThread::NO_SLAB).ok_or(Refusal::Alloc(layout));
        };
        self.cores[class.index].refill(Geometry::of(class.layout), Growth::ByQuarter)
    }

    /// Tears down the slabs of all classes.
    pub(crate) fn clear(&self) {
        for core in &self.cores {
            // SAFETY: a pool uses a reference to a core only while the core grows. Then this is called if the global allocator
            // calls `exit`, and that does not return.
            unsafe { core.tear_down() };
        }
    }

    /// Frees the chunks without values. A pool does that by itself when most of its cells are vacant, unless it needed them again
    /// at once the last time: see [`trim`](super::trim).
    ///
    /// ```
    /// let pool = dwell::slab::sync::Pool::new();
    /// drop((0..1000).map(|n| pool.insert([n; 10])).collect::<Vec<_>>());
    /// pool.shrink_to_fit();
    /// ```
    pub fn shrink_to_fit(&self) {
        self.cores.iter().for_each(LazyCore::sweep);
    }

    /// Calls `each` with the layout of each allocation of the slabs and the number of unused bytes in it. `each` must
    /// not be user code.
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        for core in &self.cores {
            core.each_block(each);
        }
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
        self.clear();
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

//! Memory for values of many types: a slab a size class.

use super::classes::{CLASSES, Class};
use super::dedicated;
use super::engine::{CoreRef, OneThread, Owners};
use super::geometry::Geometry;
use super::insert::{CellAllocator, insert, insert_with, try_insert, try_insert_with};
use super::key::Key;
use super::kind::sealed::CrossThread;
use super::kind::{SlotKind, sealed};
use super::memory::Refusal;
use super::slot::Slot;
use super::stack::CellPtr;
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

/// A pool whose slots stay on their thread.
///
/// ```
/// use dwell::slab::{Pool, PoolSlot};
/// use std::fmt::Display;
///
/// let pool = Pool::new();
/// let values: Vec<PoolSlot<dyn Display>> =
///     vec![pool.insert(7).coerce(|view| view as _), pool.insert("seven").coerce(|view| view as _)];
/// drop(pool);
/// assert_eq!(format!("{} {}", values[0], values[1]), "7 seven");
/// ```
///
/// See [`SizeClasses`] for what it does, and [`sync::Pool`](super::sync::Pool) for one whose slots go to other threads.
pub type Pool = SizeClasses<OneThread>;

/// The owner of a value in a [`Pool`].
pub type PoolSlot<T> = Slot<T, InPool<OneThread>>;

/// Memory for values of all types: small ones in slabs by size class, others in dedicated blocks.
///
/// It is like a [`Slab`](super::Slab), but for all types. Sizes are rounded up by at most a quarter, so that types share slabs. A
/// value of more than 14 KiB, or aligned to more than 128 bytes, gets an allocation of its own, aligned to 64 KiB. With
/// [`Slot::coerce`] the slots of many types become one type. Slots may outlive their pool. They have no keys.
pub struct SizeClasses<O: Threading> {
    // # Invariants
    //
    // 1. Each core is `O::NO_SLAB`, or came from `CoreRef::allocate` on this thread with the layout of its class, and is in
    //    service.
    cores: [Cell<CoreRef<O>>; CLASSES],
}

/// Which threads own the slots of a pool: [`OneThread`] or [`sync::AnyThread`](super::sync::AnyThread). Implemented in this
/// crate only.
pub trait Threading: SlotKind + Owners {}

impl<O: Owners> Threading for O {}

/// The kind of a pool's slots: the cell's address leads to its owner, for values of any type.
pub struct InPool<O>(PhantomData<O>);

impl<O: Owners> SlotKind for InPool<O> {}

// SAFETY: `CoreRef::free_cell` puts the cell on one list of its core, or frees its memory.
unsafe impl<O: Owners> sealed::SlotKind for InPool<O> {
    #[inline(always)]
    unsafe fn free_cell(cell: CellPtr, _: Layout) {
        // SAFETY: the caller says that it is the cell of a slot of a pool: of a size class, all of which have blocks of
        // `MIN_BLOCK` bytes, or of a dedicated block. Neither is freed while the cell is occupied.
        let core = unsafe { dedicated::owner::<CoreRef<O>>(cell) };
        // SAFETY: the caller gives the cell away, which is this core's or, if that is no slab, a dedicated block's.
        unsafe { core.free_cell(cell) };
    }

    fn dedicated_block(value: Layout) -> Option<Layout> {
        if Class::of(value).is_some() { None } else { dedicated::layout(value).map(|(block, _)| block) }
    }
}

// SAFETY: a dedicated block is freed on any thread, and a cell of a slab as `O` says; an `InPool` is not `Keyed`.
unsafe impl<O: Owners + CrossThread> CrossThread for InPool<O> {}

// SAFETY: by invariant 1 the cells of a class have a layout that a `T` of this class fits in, and are vacant when they are popped
// or refilled. A slot in a pool frees its cell to the owner in the header below it: the core of the class, or no slab for a cell
// that `dedicated::allocate` made for a `T`.
unsafe impl<T, O: Threading> CellAllocator<T> for SizeClasses<O> {
    type Kind = InPool<O>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        let class = const { Class::of(Layout::new::<T>()) }?;
        // SAFETY: by invariant 1 the core is in service or a static, so that it was not freed.
        unsafe { self.cores[class.index].get().get() }.free.pop()
    }

    #[cold]
    #[inline(never)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        self.refill_class(Layout::new::<T>())
    }
}

impl<O: Threading> SizeClasses<O> {
    /// A pool without memory.
    pub const fn new() -> Self {
        Self { cores: [const { Cell::new(O::NO_SLAB) }; CLASSES] }
    }

    /// A cell for values of this layout, which the free stack of their class does not have.
    fn refill_class(&self, layout: Layout) -> Result<CellPtr, Refusal> {
        let Some(class) = Class::of(layout) else {
            return dedicated::allocate(layout, O::NO_SLAB).ok_or(Refusal::Alloc(layout));
        };
        let core = &self.cores[class.index];
        if core.get() == O::NO_SLAB {
            let new = CoreRef::allocate(Geometry::of(class.layout), Key::LIMIT);
            // If the global allocator has re-entered the pool and made one too, that one is not lost.
            Self::tear_down(core.replace(new.map_err(|error| Refusal::Alloc(error.layout()))?));
        }
        // SAFETY: by invariant 1 the core was made on this thread, and not freed.
        unsafe { core.get().refill() }
    }

    fn tear_down(core: CoreRef<O>) {
        if core != O::NO_SLAB {
            // SAFETY: by invariant 1 it came from `allocate` on this thread and is in service. Callers have taken it from its class.
            unsafe { O::tear_down(core) };
        }
    }

    /// Tears down the slabs.
    pub(crate) fn clear(&self) {
        for core in &self.cores {
            Self::tear_down(core.replace(O::NO_SLAB));
        }
    }

    /// Calls `each`, which is no user's code, with the layout of each block of the slabs, and the bytes in it that hold
    /// nothing.
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        for core in self.cores.iter().map(Cell::get).filter(|core| *core != O::NO_SLAB) {
            // SAFETY: by invariant 1 the core is in service, and a core in service was not freed.
            unsafe { core.get() }.each_block(each);
        }
    }

    /// Puts a value in a slot.
    ///
    /// ```
    /// let pool = dwell::slab::Pool::new();
    /// let (number, text) = (pool.insert(7), pool.insert(String::from("seven")));
    /// assert_eq!((*number, &**text), (7, "seven"));
    /// assert_eq!(size_of_val(&text), 8);
    /// ```
    #[inline(always)]
    pub fn insert<T>(&self, value: T) -> Slot<T, InPool<O>> {
        insert(self, value)
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory; the value is returned in the error.
    #[inline(always)]
    pub fn try_insert<T>(&self, value: T) -> Result<Slot<T, InPool<O>>, AllocError<T>> {
        try_insert(self, value)
    }

    /// Inserts the result of `make`. The slot is reserved before, and freed if `make` panics.
    ///
    /// ```
    /// let pool = dwell::slab::Pool::new();
    /// let page = pool.insert_with(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline(always)]
    pub fn insert_with<T>(&self, make: impl FnOnce() -> T) -> Slot<T, InPool<O>> {
        insert_with(self, make)
    }

    /// [`insert_with`](Self::insert_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// As [`try_insert`](Self::try_insert); `make` is returned in the error, not called.
    #[inline(always)]
    pub fn try_insert_with<T, F: FnOnce() -> T>(&self, make: F) -> Result<Slot<T, InPool<O>>, AllocError<F>> {
        try_insert_with(self, make)
    }
}

impl<O: Threading> Drop for SizeClasses<O> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<O: Threading> Default for SizeClasses<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: Threading> fmt::Debug for SizeClasses<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

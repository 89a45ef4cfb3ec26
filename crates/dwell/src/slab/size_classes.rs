//! The memory of a pool: a slab for each size class.

use super::classes::{CLASSES, Class, is_large};
use super::dedicated;
use super::engine::{CoreRef, Owners};
use super::geometry::Geometry;
use super::kind::sealed::CrossThread;
use super::kind::{SlotKind, sealed};
use super::lazy::LazyCore;
use super::memory::{Growth, Refusal};
use super::remote::AnyThread;
use super::stack::{CellPtr, POOL_AHEAD};
use core::alloc::Layout;
use core::convert::Infallible;

/// A slab for each size class. Values that no class fits are in blocks of their own.
pub(super) struct SizeClasses {
    // # Invariants
    //
    // 1. Each core has the geometry of its class.
    cores: [LazyCore<AnyThread, POOL_AHEAD>; CLASSES],
}

/// The kind of the values in a pool: a drop finds the owner by the address of the cell, for values of any type.
pub(crate) struct InPool(Infallible);

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

impl SizeClasses {
    pub(super) const fn new() -> Self {
        Self { cores: [const { LazyCore::new() }; CLASSES] }
    }

    /// Takes a cell from the free stack of the class with this index. It is vacant, used by no other code, and freed by [`InPool`].
    #[inline(always)]
    pub(super) fn pop_class(&self, class: usize) -> Option<CellPtr> {
        self.cores[class].pop()
    }

    /// Allocates a cell for a value of this layout, if the free stack of its class is empty. It is as that of `pop_class`.
    #[cold]
    #[inline(never)]
    pub(super) fn refill_class(&self, layout: Layout) -> Result<CellPtr, Refusal> {
        let Some(class) = Class::of(layout) else {
            return dedicated::allocate(layout, AnyThread::NO_SLAB).ok_or(Refusal::Alloc(layout));
        };
        self.cores[class.index].refill(Geometry::of(class.layout), Growth::ByQuarter)
    }

    /// Tears down the slabs of all classes.
    pub(super) fn clear(&self) {
        for core in &self.cores {
            // SAFETY: a pool uses a reference to a core only while the core grows. Then this is called if the global allocator
            // calls `exit`, and that does not return.
            unsafe { core.tear_down() };
        }
    }

    /// Frees the chunks without values.
    pub(super) fn sweep(&self) {
        self.cores.iter().for_each(LazyCore::sweep);
    }

    /// Calls `each` with the layout of each allocation of the slabs and the number of unused bytes in it. `each` must
    /// not be user code.
    #[cfg(feature = "weigh")]
    pub(super) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        for core in &self.cores {
            core.each_block(each);
        }
    }
}

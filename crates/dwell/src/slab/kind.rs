//! Slot kinds: where the cell of a dropped slot goes.

use super::engine::{CoreRef, OneThread, Owners};
use super::geometry::Geometry;
use super::memory::owner;
use super::stack::CellPtr;
use core::alloc::Layout;

/// How a [`Slot`](super::Slot) finds its slab, and where it may be dropped. Implemented in this crate only.
///
/// | kind | slots of |
/// |---|---|
/// | [`OneThread`](super::OneThread) | [`Slab`](super::Slab), [`Bounded`](super::Bounded) |
/// | `PerThread<M>` | a module that [`slab!`](crate::slab!) wrote |
/// | `sync::AnyThread` | `sync::Slab` |
/// | [`InPool<O>`](super::InPool) | [`Pool`](super::Pool), `sync::Pool` |
pub trait SlotKind: sealed::SlotKind {}

/// A [`SlotKind`] whose slots have keys. Implemented in this crate only.
pub trait Keyed: SlotKind {}

pub(super) mod sealed {
    use super::{CellPtr, Layout};

    /// # Safety
    ///
    /// `free_cell` hands the cell out again at most once.
    pub unsafe trait SlotKind: 'static {
        /// Frees a cell.
        ///
        /// # Safety
        ///
        /// It is an occupied cell of a slab with slots of this kind, for values of this layout. Its value is gone, and the caller
        /// does not use it again.
        unsafe fn free_cell(cell: CellPtr, value: Layout);

        /// The block of the allocator's that a value of this layout has for itself, if it has one.
        fn dedicated_block(_layout: Layout) -> Option<Layout> {
            None
        }
    }

    /// A kind whose slots may be dropped on any thread.
    ///
    /// # Safety
    ///
    /// `free_cell` may be called on any thread.
    pub unsafe trait CrossThread: super::SlotKind {}
}

impl<O: Owners> SlotKind for O {}
impl Keyed for OneThread {}

// SAFETY: `CoreRef::free_cell` puts the cell on one list of its core, or frees its memory.
unsafe impl<O: Owners> sealed::SlotKind for O {
    #[inline(always)]
    unsafe fn free_cell(cell: CellPtr, value: Layout) {
        // SAFETY: the caller says that it is an occupied cell of a slab with slots of kind `O`, whose core is a `Core<O>`; its
        // blocks have the size that follows from the layout of its values. A chunk with an occupied cell is not freed.
        let core = unsafe { owner::<CoreRef<O>>(cell, Geometry::block(value)) };
        // SAFETY: the caller gives the cell away, which is this core's; its value is gone.
        unsafe { core.free_cell(cell) };
    }
}

//! Slot kinds: where the cell of a dropped slot goes.

use super::engine::{CoreRef, OneThread, Owners};
use super::geometry::Geometry;
use super::memory::owner;
use super::stack::CellPtr;
use core::alloc::Layout;

/// A kind of the handles of a slab or pool: how they find it, and on which threads they may be dropped.
///
/// This trait is sealed: only this crate implements it.
///
/// | kind | handles of |
/// |---|---|
/// | [`OneThread`](super::engine::OneThread) | [`Slab`](super::Slab), [`Bounded`](super::Bounded) |
/// | `PerThread<M>` | a module that [`slab!`](crate::slab!) generated |
/// | `AnyThread` | `sync::Slab` |
/// | `InPool` | [`Pool`](super::Pool), the pool of the thread |
pub trait SlotKind: sealed::SlotKind {}

/// A `SlotKind` whose slots have keys. This trait is sealed: only this crate implements it.
pub trait Keyed: SlotKind {}

pub(super) mod sealed {
    use super::{CellPtr, Layout};

    /// # Safety
    ///
    /// `free_cell` puts the cell on at most one list, so that it is handed out again at most once.
    pub unsafe trait SlotKind: 'static {
        /// Frees a cell.
        ///
        /// # Safety
        ///
        /// `cell` is an occupied cell of a slab with slots of this kind, for values of this layout. It contains no live
        /// value, and the caller does not use it again.
        unsafe fn free_cell(cell: CellPtr, value: Layout);
    }

    /// A kind whose handles may be dropped on any thread.
    ///
    /// # Safety
    ///
    /// `free_cell` may be called on any thread, and the kind is not [`Keyed`](super::Keyed).
    pub(crate) unsafe trait CrossThread: super::SlotKind {}
}

impl<O: Owners> SlotKind for O {}
impl Keyed for OneThread {}

// SAFETY: `CoreRef::free_cell` puts the cell on one list of its core, or only counts it or frees its memory.
unsafe impl<O: Owners> sealed::SlotKind for O {
    #[inline(always)]
    unsafe fn free_cell(cell: CellPtr, value: Layout) {
        // SAFETY: the caller guarantees that this is an occupied cell of a slab with handles of kind `O`, for values of
        // this layout. The core of such a slab is a `Core<O>`, and `Geometry::block` gives the size of its blocks. A
        // chunk with an occupied cell is not freed.
        let core = unsafe { owner::<CoreRef<O>>(cell, Geometry::block(value)) };
        // SAFETY: the header of its block says that the cell belongs to this core. The caller guarantees that it is
        // occupied, contains no live value, and is not used again.
        unsafe { core.free_cell(cell) };
    }
}

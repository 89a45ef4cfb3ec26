//! Slot kinds: where the cell of a dropped slot goes.

use super::engine::{CoreRef, OneThread, Owners};
use super::geometry::Geometry;
use super::memory::owner;
use super::stack::CellPtr;
use super::variance::Invariant;
use core::alloc::Layout;

/// A kind of [`Slot`](super::Slot): how it finds its slab, and on which threads it may be dropped.
///
/// This trait is sealed: only this crate implements it.
///
/// | kind | slots of |
/// |---|---|
/// | [`OneThread`](super::OneThread) | [`Slab`](super::Slab), [`Bounded`](super::Bounded) |
/// | `PerThread<M>` | a module that [`slab!`](crate::slab!) generated |
/// | `sync::AnyThread` | `sync::Slab` |
/// | [`InPool<O>`](super::InPool) | [`Pool`](super::Pool), `sync::Pool` |
pub trait SlotKind: sealed::SlotKind {}

/// A [`SlotKind`] whose slots have keys. This trait is sealed: only this crate implements it.
pub trait Keyed: SlotKind {}

pub(super) mod sealed {
    use super::{CellPtr, Layout};

    /// # Safety
    ///
    /// - `free_cell` puts the cell on at most one list, so that it is handed out again at most once.
    /// - If the kind is [`Keyed`](super::Keyed), `Variance<T>` is `Invariant<T>`.
    pub unsafe trait SlotKind: 'static {
        /// The variance of a slot in its value's type: [`Invariant<T>`](super::super::Invariant) or
        /// [`Covariant`](super::super::Covariant).
        type Variance<T: ?Sized>;

        /// Frees a cell.
        ///
        /// # Safety
        ///
        /// `cell` is an occupied cell of a slab with slots of this kind, for values of this layout. It contains no live
        /// value, and the caller does not use it again.
        unsafe fn free_cell(cell: CellPtr, value: Layout);

        /// Returns the layout of the dedicated block for a value of this layout, or `None` if the value shares a chunk.
        fn dedicated_block(_layout: Layout) -> Option<Layout> {
            None
        }
    }

    /// A kind whose slots may be dropped on any thread.
    ///
    /// # Safety
    ///
    /// `free_cell` may be called on any thread, and the kind is not [`Keyed`](super::Keyed).
    pub unsafe trait CrossThread: super::SlotKind {}
}

impl<O: Owners> SlotKind for O {}
impl Keyed for OneThread {}

// SAFETY: `CoreRef::free_cell` puts the cell on one list of its core, or only counts it or frees its memory. The variance
// is `Invariant<T>`.
unsafe impl<O: Owners> sealed::SlotKind for O {
    type Variance<T: ?Sized> = Invariant<T>;

    #[inline(always)]
    unsafe fn free_cell(cell: CellPtr, value: Layout) {
        // SAFETY: the caller guarantees that this is an occupied cell of a slab with slots of kind `O`, for values of
        // this layout. The core of such a slab is a `Core<O>`, and `Geometry::block` gives the size of its blocks. A
        // chunk with an occupied cell is not freed.
        let core = unsafe { owner::<CoreRef<O>>(cell, Geometry::block(value)) };
        // SAFETY: the header of its block says that the cell belongs to this core. The caller guarantees that it is
        // occupied, contains no live value, and is not used again.
        unsafe { core.free_cell(cell) };
    }
}

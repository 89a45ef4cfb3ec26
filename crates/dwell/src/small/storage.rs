//! The memory of values: inline storage, and blocks of an allocator.

use super::size_message::SizeMessage;
use crate::alloc::{Allocator, Refused};
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{self, NonNull};

/// `N` uninitialised words, aligned at least as `L`.
#[repr(C)] // `words` at offset 0
pub(crate) struct InlineStorage<const N: usize, L> {
    // Raises the alignment to that of `L`.
    align: [L; 0],
    // `UnsafeCell`: the value may have interior mutability, and a shared box gives access to it. `MaybeUninit` words: a
    // move copies every byte of them, where a move of a type with padding may lose the bytes of the padding.
    pub(crate) words: UnsafeCell<[MaybeUninit<usize>; N]>,
}

impl<const N: usize, L> InlineStorage<N, L> {
    pub(crate) const fn new() -> Self {
        Self { align: [], words: UnsafeCell::new([MaybeUninit::uninit(); N]) }
    }

    /// Returns whether a value of this size and alignment, in bytes, can begin at `words`.
    pub(crate) const fn fits(size: usize, align: usize) -> bool {
        size <= size_of::<[usize; N]>() && align <= align_of::<Self>()
    }

    /// Panics if a `U` does not fit. In a constant, this is a compile error with the sizes.
    #[track_caller]
    pub(crate) const fn assert_fits<U>() {
        if !Self::fits(size_of::<U>(), align_of::<U>()) {
            panic!("{}", SizeMessage::of::<U, N, L>().text());
        }
    }
}

/// Allocates a block of this layout from `alloc`. For size 0 it returns a dangling aligned address and does not call
/// `alloc`.
#[inline]
pub(super) fn allocate(layout: Layout, alloc: &impl Allocator) -> Result<NonNull<()>, Refused> {
    if layout.size() == 0 {
        // The address is the alignment, which is not 0.
        return NonNull::new(ptr::without_provenance_mut(layout.align())).ok_or(Refused {});
    }
    alloc.allocate(layout).map(NonNull::cast)
}

/// Frees a block.
///
/// # Safety
///
/// `allocate` returned `block` for this layout and this allocator. It is not used afterwards.
#[inline]
pub(super) unsafe fn deallocate(block: NonNull<()>, layout: Layout, alloc: &impl Allocator) {
    if layout.size() != 0 {
        // SAFETY: the size is not 0, so `allocate` got the block from `alloc` for this layout. The caller guarantees
        // that it is not used afterwards.
        unsafe { alloc.deallocate(block.cast(), layout) };
    }
}

/// A guard that frees a block of an allocator other than [`Global`] after the drop of its value: by
/// [`free`](Self::free), or when the value's drop unwinds.
pub(super) struct BlockGuard<'a, A: Allocator> {
    // # Invariants
    //
    // 1. `allocate` returned `block` for `layout` and `alloc`. Only this guard frees it.
    block: NonNull<()>,
    layout: Layout,
    alloc: &'a A,
}

impl<'a, A: Allocator> BlockGuard<'a, A> {
    /// Creates the guard of a block.
    ///
    /// # Safety
    ///
    /// `allocate` returned `block` for this layout and this allocator, and nothing else frees it.
    #[inline]
    pub(super) unsafe fn new(block: NonNull<()>, layout: Layout, alloc: &'a A) -> Self {
        Self { block, layout, alloc }
    }

    /// Frees the block.
    #[inline]
    pub(super) fn free(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: `allocate` returned the block for this layout and allocator, and only this guard frees it (invariant
        // 1). `this` is in a `ManuallyDrop`, so the guard's drop does not free it again.
        unsafe { deallocate(this.block, this.layout, this.alloc) };
    }
}

impl<A: Allocator> Drop for BlockGuard<'_, A> {
    // Not inlined: a box's drop then contains the allocator's code only once and stays small enough to be inlined
    // itself (`docs/small.md`, "Dropping").
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: `allocate` returned the block for this layout and allocator, and only this guard frees it (invariant
        // 1). The guard is not used after its drop.
        unsafe { deallocate(self.block, self.layout, self.alloc) };
    }
}

//! `Bump` as an allocator, by reference or by value: for the collections of std, hashbrown and others.

use super::Bump;
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::ptr::NonNull;

/// Zero-size blocks do not belong to the arena: growing one allocates, and freeing one does nothing.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Grows a block, or allocates one if `old` has size 0.
    ///
    /// # Safety
    ///
    /// As for `Allocator::grow`: this arena handed `start` out with the layout `old`, the block is live, and `new` is
    /// no smaller. After `Some`, only the returned block is used.
    #[inline]
    pub(super) unsafe fn grown(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees that this arena handed `start` out with the layout `old` and that the block is
        // live.
        match unsafe { self.block(start, old) } {
            // SAFETY: the caller guarantees that `new` is no smaller and that only the returned block is used.
            Some(block) => unsafe { block.grow(new) },
            None => self.take_or_refill(new),
        }
    }

    /// Shrinks a block in place, or moves it if the new layout does not permit that.
    ///
    /// # Safety
    ///
    /// As for `Allocator::shrink`: this arena handed `start` out with the layout `old`, the block is live, and `new` is
    /// no larger. After `Some`, only the returned block is used.
    #[cfg(any(feature = "allocator-api2", feature = "allocator-api2-04", feature = "nightly"))]
    #[inline]
    unsafe fn shrunk(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees that this arena handed `start` out with the layout `old` and that the block is
        // live.
        let block = match unsafe { self.block(start, old) } {
            Some(block) if new.size() != 0 && block.is_aligned(new.align()) => {
                // SAFETY: the block is aligned for `new`, which the caller guarantees to be no larger.
                unsafe { block.shrink(new) };
                return Some(start);
            }
            block => block,
        };
        let smaller = self.take_or_refill(new)?;
        // SAFETY: the old block has at least `new.size()` bytes and the new one has as many. They are two live blocks,
        // so they do not overlap.
        unsafe { smaller.copy_from_nonoverlapping(start, new.size()) };
        if let Some(block) = block {
            // As in `Block::grow_moved`: a dedicated chunk is not freed here. If the base allocator panicked, the
            // block's owner would not learn the new address.
            block.free_last();
        }
        Some(smaller)
    }
}

/// Converts a block to the result of an `Allocator`'s method.
#[inline]
fn returned<E>(block: Option<NonNull<u8>>, layout: Layout, refused: E) -> Result<NonNull<[u8]>, E> {
    match block {
        Some(block) => Ok(NonNull::slice_from_raw_parts(block, layout.size())),
        None => Err(refused),
    }
}

/// The methods of the trait. The traits differ in name only.
macro_rules! methods {
    ($Refused:path) => {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, $Refused> {
            returned(self.take_or_refill(layout), layout, $Refused)
        }

        #[inline]
        unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
            // SAFETY: the trait requires that this allocator handed the block out with this layout and that it is live.
            if let Some(block) = unsafe { self.block(start, layout) } {
                block.free();
            }
        }

        #[inline]
        unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the trait's caller guarantees that this allocator handed `start` out with the layout `old`, that the
            // block is live, that `new` is no smaller, and that after `Ok` only the returned block is used.
            returned(unsafe { self.grown(start, old, new) }, new, $Refused)
        }
    };
}

/// The methods that the sealed trait does not have.
#[cfg(any(feature = "allocator-api2", feature = "allocator-api2-04", feature = "nightly"))]
macro_rules! more_methods {
    ($Refused:path) => {
        #[inline]
        unsafe fn grow_zeroed(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the trait's caller guarantees that this allocator handed `start` out with the layout `old`, that the
            // block is live, that `new` is no smaller, and that after `Ok` only the returned block is used.
            let grown = unsafe { self.grown(start, old, new) }.ok_or($Refused)?;
            // SAFETY: the block has `new.size()` bytes, and `old.size()` is not more (the trait requires it).
            let tail = unsafe { grown.add(old.size()) };
            // SAFETY: the block has `new.size() - old.size()` bytes from `tail` on.
            unsafe { tail.write_bytes(0, new.size() - old.size()) };
            Ok(NonNull::slice_from_raw_parts(grown, new.size()))
        }

        #[inline]
        unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the trait's caller guarantees that this allocator handed `start` out with the layout `old`, that the
            // block is live, that `new` is no larger, and that after `Ok` only the returned block is used.
            returned(unsafe { self.shrunk(start, old, new) }, new, $Refused)
        }
    };
}

// SAFETY: a block that was handed out is not in the free range (invariant 1 of `Bump`), so it is not handed out again.
// It stays where it is when the arena moves, and until the arena is reset or dropped, which needs the arena itself: it is
// borrowed by each `&Bump` that is an allocator, and owned by a collection whose allocator it is, which lends it as `&Bump`. A
// `Bump` has no `Clone`. The contract of `rewind` forbids later use of the blocks that it frees. The block of a dedicated chunk
// moves only when it is grown.
unsafe impl<const MIN_ALIGN: usize, A: Allocator> Allocator for Bump<MIN_ALIGN, A> {
    methods!(crate::alloc::Refused);
    #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
    more_methods!(crate::alloc::Refused);
}

// SAFETY: as for the trait above: a block that was handed out is not in the free range, stays where it is until the arena is
// reset or dropped, which a collection that borrows or owns it prevents, and is freed or moved only through the method that
// consumes it.
#[cfg(feature = "allocator-api2-04")]
unsafe impl<const MIN_ALIGN: usize, A: Allocator> allocator_api2_04::alloc::Allocator for Bump<MIN_ALIGN, A> {
    methods!(allocator_api2_04::alloc::AllocError);
    more_methods!(allocator_api2_04::alloc::AllocError);
}

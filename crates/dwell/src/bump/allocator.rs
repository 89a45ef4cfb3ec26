//! `&Bump` as an allocator: for the collections of std, hashbrown and others.
//!
//! Not `Bump` itself: whoever owns one could reset it under the collection.

use super::Bump;
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::ptr::NonNull;

/// Zero-size blocks do not belong to the arena: growing one allocates, and freeing one does nothing.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// # Safety
    ///
    /// As for `Allocator::grow`: this arena handed `start` out with the layout `old`, it is in use, and `new` is no smaller.
    /// After `Some`, the block is the returned one.
    #[inline]
    pub(super) unsafe fn grown(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        // SAFETY: this arena handed `start` out with the layout `old`, and it is in use.
        match unsafe { self.block(start, old) } {
            // SAFETY: `new` is no smaller, and the block is the returned one from now on.
            Some(block) => unsafe { block.grow(new) },
            None => self.take_or_refill(new),
        }
    }

    /// # Safety
    ///
    /// As for `Allocator::shrink`: this arena handed `start` out with the layout `old`, it is in use, and `new` is no larger.
    /// After `Some`, the block is the returned one.
    #[cfg(any(feature = "allocator-api2", feature = "allocator-api2-04", feature = "nightly"))]
    #[inline]
    unsafe fn shrunk(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        // SAFETY: this arena handed `start` out with the layout `old`, and it is in use.
        let block = unsafe { self.block(start, old) };
        if let Some(block) = block.as_ref()
            && new.size() != 0
            && block.can_shrink_to(new)
        {
            block.shrink(new);
            return Some(start);
        }
        let smaller = self.take_or_refill(new)?;
        // SAFETY: the old block has at least `new.size()` bytes, the new one as many, and they are two blocks.
        unsafe { smaller.copy_from_nonoverlapping(start, new.size()) };
        if let Some(block) = block {
            block.free();
        }
        Some(smaller)
    }
}

/// What an `Allocator` returns.
#[inline]
fn returned<E>(block: Option<NonNull<u8>>, layout: Layout, refused: E) -> Result<NonNull<[u8]>, E> {
    match block {
        Some(block) => Ok(NonNull::slice_from_raw_parts(block, layout.size())),
        None => Err(refused),
    }
}

/// The trait's methods; the traits differ in name only.
macro_rules! methods {
    ($Refused:path) => {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, $Refused> {
            returned(self.take_or_refill(layout), layout, $Refused)
        }

        #[inline]
        unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
            // SAFETY: the trait says that this allocator handed the block out with this layout, and that it is in use.
            if let Some(block) = unsafe { self.block(start, layout) } {
                block.free();
            }
        }

        #[inline]
        unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the contract of `grown` is the trait's.
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
            // SAFETY: the contract of `grown` is the trait's.
            let grown = unsafe { self.grown(start, old, new) }.ok_or($Refused)?;
            // SAFETY: the block has `new.size()` bytes, and `old.size()` is not more.
            let tail = unsafe { grown.add(old.size()) };
            // SAFETY: as many bytes are left of the block.
            unsafe { tail.write_bytes(0, new.size() - old.size()) };
            Ok(NonNull::slice_from_raw_parts(grown, new.size()))
        }

        #[inline]
        unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the contract of `shrunk` is the trait's.
            returned(unsafe { self.shrunk(start, old, new) }, new, $Refused)
        }
    };
}

// SAFETY: a block that was handed out is in no free range (invariant 1 of `Bump`), so that it is not handed out again, and it
// stays where it is while the arena is borrowed, which it is by each copy of the allocator: `reset` and drop need the arena
// itself, and `rewind` has it in its contract. The block of a dedicated chunk moves only when it is grown.
unsafe impl<const MIN_ALIGN: usize, A: Allocator> Allocator for &Bump<MIN_ALIGN, A> {
    methods!(crate::alloc::Refused);
    #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
    more_methods!(crate::alloc::Refused);
}

// SAFETY: the contract is the same, and blocks of the two traits are the same blocks.
#[cfg(feature = "allocator-api2-04")]
unsafe impl<const MIN_ALIGN: usize, A: Allocator> allocator_api2_04::alloc::Allocator for &Bump<MIN_ALIGN, A> {
    methods!(allocator_api2_04::alloc::AllocError);
    more_methods!(allocator_api2_04::alloc::AllocError);
}

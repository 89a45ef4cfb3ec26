//! `&Bump` as an allocator: for the collections of std, hashbrown and others.
//!
//! Not `Bump` itself: whoever owns one could reset it under the collection.

use super::Bump;
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::ptr::NonNull;

/// The trait's methods; the traits differ in name only.
macro_rules! methods {
    ($Refused:path) => {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, $Refused> {
            match self.bytes(layout) {
                Some(block) => Ok(NonNull::slice_from_raw_parts(block, layout.size())),
                None => Err($Refused),
            }
        }

        #[inline]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            // SAFETY: the caller's promise, passed on.
            unsafe { self.free_block(block, layout) };
        }

        #[inline]
        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the caller's promise, passed on.
            match unsafe { self.grow_block(block, old, new) } {
                Some(block) => Ok(NonNull::slice_from_raw_parts(block, new.size())),
                None => Err($Refused),
            }
        }
    };
}

/// What the sealed trait does not have.
#[cfg(any(feature = "allocator-api2", feature = "allocator-api2-04", feature = "nightly"))]
macro_rules! more_methods {
    ($Refused:path) => {
        #[inline]
        unsafe fn grow_zeroed(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the caller's promise, passed on.
            let grown = unsafe { self.grow_block(block, old, new) };
            let grown = grown.ok_or($Refused)?;
            // SAFETY: the block has `new.size()` bytes.
            let tail = unsafe { grown.add(old.size()) };
            // SAFETY: as above.
            unsafe { tail.write_bytes(0, new.size() - old.size()) };
            Ok(NonNull::slice_from_raw_parts(grown, new.size()))
        }

        #[inline]
        unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, $Refused> {
            // SAFETY: the caller's promise, passed on.
            match unsafe { self.shrink_block(block, old, new) } {
                Some(block) => Ok(NonNull::slice_from_raw_parts(block, new.size())),
                None => Err($Refused),
            }
        }
    };
}

// SAFETY: a block is given out once (invariant 2 of `Bump`) and stays where it is while the arena is borrowed, which it is
// by each copy of the allocator: `reset` and drop need the arena itself, and `rewind` has it in its contract. A block in a
// chunk of its own or alone in one moves only when it is grown.
unsafe impl<const MIN_ALIGN: usize, A: Allocator> Allocator for &Bump<MIN_ALIGN, A> {
    methods!(crate::alloc::Refused);
    #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
    more_methods!(crate::alloc::Refused);
}

// SAFETY: as above; blocks of the two traits are the same blocks.
#[cfg(feature = "allocator-api2-04")]
unsafe impl<const MIN_ALIGN: usize, A: Allocator> allocator_api2_04::alloc::Allocator for &Bump<MIN_ALIGN, A> {
    methods!(allocator_api2_04::alloc::AllocError);
    more_methods!(allocator_api2_04::alloc::AllocError);
}

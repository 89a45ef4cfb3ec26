//! Blocks that grow, shrink and are freed: in place if they are the last one, or in a dedicated chunk.

use super::chunk::{Chunk, Kind};
use super::{Bump, arithmetic};
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::ptr::NonNull;

/// A block in use, which its owner passes to the arena. It has at least one byte.
pub(super) struct Block<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `bump` handed the block out with this layout, whose size is not 0. It is in use, and no other value represents it.
    bump: &'a Bump<MIN_ALIGN, A>,
    start: NonNull<u8>,
    layout: Layout,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The block of this arena at `start`. `None` if it has no bytes.
    ///
    /// # Safety
    ///
    /// If the layout has bytes, then this arena handed the block out with this layout, and it is in use.
    #[inline]
    pub(super) unsafe fn block(&self, start: NonNull<u8>, layout: Layout) -> Option<Block<'_, MIN_ALIGN, A>> {
        (layout.size() != 0).then_some(Block { bump: self, start, layout })
    }
}

/// A dedicated chunk while the allocator grows it. It is in no list; dropping this puts it back, after a panic too. An allocator
/// whose `grow` panics has not freed the chunk, which std's `Vec` relies on too.
struct Unlisted<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. The chunk is of the arena's store, has this size, is in no list, and has one block, at its beginning.
    bump: &'a Bump<MIN_ALIGN, A>,
    chunk: (Chunk, usize),
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Unlisted<'_, MIN_ALIGN, A> {
    fn drop(&mut self) {
        // SAFETY: the chunk is of the arena's store, has this size, is in no list, and has one block, at its beginning.
        unsafe { self.bump.dedicate(self.chunk, 1) };
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Block<'_, MIN_ALIGN, A> {
    /// The bytes of the chunk that the block takes.
    #[inline]
    fn taken(&self) -> usize {
        arithmetic::taken(self.layout.size(), self.layout.align(), MIN_ALIGN)
    }

    /// Whether this is the last block before `pos`.
    ///
    /// The block is in use and has bytes. A block of another allocation does not end at `pos`, since there is a chunk's header
    /// between its end and `pos`; so this one is in the allocation of the free range, and the bytes behind it are free.
    #[inline]
    fn is_last(&self) -> bool {
        arithmetic::ends_at(self.start.addr().get(), self.taken(), self.bump.pos.get().addr().get())
    }

    /// Whether the block's address is a multiple of `align`.
    #[inline]
    pub(super) fn is_aligned(&self, align: usize) -> bool {
        self.start.addr().get() & (align - 1) == 0
    }

    /// Makes the block larger, here or elsewhere. `None`: there is no memory, and the block stays as it is.
    ///
    /// # Safety
    ///
    /// `new` is no smaller than the block's layout. After `Some`, the block is the returned one.
    #[inline]
    pub(super) unsafe fn grow(self, new: Layout) -> Option<NonNull<u8>> {
        let bump = self.bump;
        if self.is_last() && self.is_aligned(new.align()) {
            let start = self.start.addr().get();
            let taken = arithmetic::taken(new.size(), new.align(), MIN_ALIGN);
            // The block ends at `pos`, and `pos` is not behind `end`.
            if taken <= bump.end.get().addr().get() - start {
                // By the pointer of the arena, which reaches the whole chunk: that of the block may reach no more than its bytes.
                return Some(bump.advance(start + taken, taken));
            }
        }
        if arithmetic::may_be_dedicated(self.layout.size(), self.layout.align()) {
            // SAFETY: `new` is no smaller.
            return unsafe { self.grow_large(new) };
        }
        if let Some(larger) = bump.take(new) {
            // SAFETY: `new` is no smaller, and the new block is another one.
            unsafe { self.copy_to(larger) };
            return Some(larger);
        }
        // SAFETY: `new` is no smaller.
        unsafe { self.grow_by_refill(new) }
    }

    /// [`grow`](Self::grow) to a new block that does not fit in the free range.
    ///
    /// # Safety
    ///
    /// `new` is no smaller than the block's layout. After `Some`, the block is the returned one.
    #[cold]
    #[inline(never)]
    unsafe fn grow_by_refill(self, new: Layout) -> Option<NonNull<u8>> {
        let larger = self.bump.take_or_refill(new)?;
        // SAFETY: `new` is no smaller, and the new block is another one.
        unsafe { self.copy_to(larger) };
        // The new block may have a chunk of its own. If this one is the last of the free range, then it leaves its bytes to the next.
        // A dedicated chunk stays: the base allocator could panic, and the block's owner would not learn where it is now.
        self.free_last();
        Some(larger)
    }

    /// [`grow`](Self::grow) of a block that may have a dedicated chunk, which is not in the free range's way.
    ///
    /// # Safety
    ///
    /// `new` is no smaller than the block's layout. After `Some`, the block is the returned one.
    #[cold]
    #[inline(never)]
    unsafe fn grow_large(self, new: Layout) -> Option<NonNull<u8>> {
        if let Some(chunk) = self.dedicated()
            // SAFETY: it is the block's dedicated chunk, and the block moves with it.
            && let Some(larger) = unsafe { self.grow_chunk(chunk, new) }
        {
            return Some(larger);
        }
        // SAFETY: `new` is no smaller.
        unsafe { self.grow_by_refill(new) }
    }

    /// Copies the block's bytes.
    ///
    /// # Safety
    ///
    /// `larger` is valid for writes of as many bytes, and another block.
    #[inline]
    unsafe fn copy_to(&self, larger: NonNull<u8>) {
        // SAFETY: this block is in use and has `layout.size()` bytes, the other has as many, and two blocks do not overlap.
        unsafe { larger.copy_from_nonoverlapping(self.start, self.layout.size()) };
    }

    /// The newest chunk of the arena, if it is dedicated to this block.
    ///
    /// The block is in use and has bytes, and the chunk was not freed: if the chunk's block has the same address, it is this one.
    fn dedicated(&self) -> Option<Chunk> {
        let newest = self.bump.chunks.get()?;
        // SAFETY: chunks of an arena's list are not freed.
        match unsafe { newest.header() }.kind {
            Kind::Dedicated { block } if block == self.start => Some(newest),
            _ => None,
        }
    }

    /// Takes the newest chunk off the list.
    fn unlist(&self, newest: Chunk) {
        // SAFETY: chunks of an arena's list are not freed.
        self.bump.chunks.set(unsafe { newest.header() }.prev);
    }

    /// Grows the block's chunk, wherever it is then.
    ///
    /// # Safety
    ///
    /// `chunk` is what `dedicated` returned. After `Some`, the block is the returned one.
    unsafe fn grow_chunk(&self, chunk: Chunk, new: Layout) -> Option<NonNull<u8>> {
        let (header, align) = (Bump::<MIN_ALIGN, A>::HEADER, Bump::<MIN_ALIGN, A>::CHUNK_ALIGN);
        // SAFETY: the chunk is in the list, so it was not freed, and has this header.
        let start = unsafe { chunk.start(header) };
        if start != self.start || new.align() > align {
            return None; // What is behind the padding might not be aligned where the chunk moves to.
        }
        // SAFETY: the chunk is in the list, so it was not freed.
        let old_size = unsafe { chunk.header() }.size;
        let size = arithmetic::least_chunk(new.size(), new.align(), header, align)?.max(old_size);
        self.unlist(chunk);
        let mut unlisted = Unlisted { bump: self.bump, chunk: (chunk, old_size) };
        // SAFETY: the chunk is of this store and in no list, `size` is not less than its own, and its one block is given up for
        // the returned one.
        let grown = unsafe { self.bump.store().grow(chunk, size) }?;
        unlisted.chunk = (grown, size);
        drop(unlisted);
        // SAFETY: the chunk is in the list again, so it was not freed, and has this header.
        Some(unsafe { grown.start(header) })
    }

    /// Makes the block smaller, where it is. What it takes does not become more.
    #[inline]
    pub(super) fn shrink(&self, new: Layout) {
        let taken = arithmetic::taken(new.size(), new.align(), MIN_ALIGN);
        debug_assert!(self.is_aligned(new.align()) && taken <= self.taken());
        if self.is_last() {
            self.bump.pos.set(Bump::<MIN_ALIGN, A>::at(self.bump.pos.get(), self.start.addr().get() + taken));
        }
    }

    /// Whether the block can shrink to a layout where it is. With a larger alignment it may take more than before.
    #[cfg(any(feature = "allocator-api2", feature = "allocator-api2-04", feature = "nightly"))]
    #[inline]
    pub(super) fn can_shrink_to(&self, new: Layout) -> bool {
        self.is_aligned(new.align()) && arithmetic::taken(new.size(), new.align(), MIN_ALIGN) <= self.taken()
    }

    /// Frees the block: at once if it is the last one or has the newest chunk for itself, else with the arena.
    #[inline]
    pub(super) fn free(self) {
        if !self.free_last() && arithmetic::may_be_dedicated(self.layout.size(), self.layout.align()) {
            self.free_large();
        }
    }

    /// Frees the block if it is the last one. Returns whether it was; then it is not used again.
    #[inline]
    fn free_last(&self) -> bool {
        let is_last = self.is_last();
        if is_last {
            self.bump.pos.set(Bump::<MIN_ALIGN, A>::at(self.bump.pos.get(), self.start.addr().get()));
        }
        is_last
    }

    /// [`free`](Self::free) of a block that may have a dedicated chunk.
    #[cold]
    #[inline(never)]
    fn free_large(self) {
        if let Some(chunk) = self.dedicated() {
            self.unlist(chunk);
            // SAFETY: the chunk is of this store and in no list, and its one block is not used again.
            unsafe { self.bump.store().free(chunk) };
        }
    }
}

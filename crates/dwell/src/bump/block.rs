//! Growing, shrinking and freeing blocks: in place if the block is the last one, or through its dedicated chunk.

use super::chunk::{Chunk, Kind};
use super::{Bump, arithmetic};
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::ptr::NonNull;

/// A live block of at least one byte, which its owner passes to the arena.
pub(super) struct Block<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `bump` handed the block out with this layout, whose size is not 0. The block is live, and no other value
    //    represents it.
    bump: &'a Bump<MIN_ALIGN, A>,
    start: NonNull<u8>,
    layout: Layout,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Returns the block of this arena at `start`, or `None` if the layout has size 0: there is no zero-size [`Block`].
    ///
    /// # Safety
    ///
    /// If the layout's size is not 0, this arena handed the block out with this layout, and the block is live.
    #[inline]
    pub(super) unsafe fn block(&self, start: NonNull<u8>, layout: Layout) -> Option<Block<'_, MIN_ALIGN, A>> {
        (layout.size() != 0).then_some(Block { bump: self, start, layout })
    }
}

/// A dedicated chunk while the allocator grows it. The chunk is in no list. Dropping this guard puts it back, also
/// after a panic: an allocator whose `grow` panics has not freed the chunk, which std's `Vec` relies on too.
struct Unlisted<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. The chunk is of the arena's store, has this size, is in no list, and has one block, at its beginning, which has
    //    this layout and lies before the chunk's gap. The alignment is at most that of chunks.
    bump: &'a Bump<MIN_ALIGN, A>,
    chunk: (Chunk, usize),
    layout: Layout,
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Unlisted<'_, MIN_ALIGN, A> {
    fn drop(&mut self) {
        // SAFETY: by invariant 1 the chunk is of the arena's store, has this size, is in no list, and has one block of this
        // layout, at its beginning, which is aligned for it.
        unsafe { self.bump.dedicate(self.chunk, self.layout) };
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Block<'_, MIN_ALIGN, A> {
    /// Returns the number of bytes of the chunk that the block takes.
    #[inline]
    fn taken(&self) -> usize {
        arithmetic::taken(self.layout.size(), MIN_ALIGN)
    }

    /// Returns whether this is the last block before `pos`.
    ///
    /// The block is live and has at least one byte. It lies between the header and the gap of a chunk, and `pos` lies
    /// behind the header of one and not behind its gap. If the chunks are separate, the block does not end at `pos`. Nor
    /// does it if the base allocator took one chunk from the arena, so that it is in a block of the other: then only the
    /// block or only `pos` is inside that chunk, and not at its beginning or end. So a block that ends at `pos` is in the
    /// same chunk, and the bytes behind it are free.
    #[inline]
    fn is_last(&self) -> bool {
        arithmetic::ends_at(self.start.addr().get(), self.taken(), self.bump.pos.get().addr().get())
    }

    /// Returns whether the block's address is a multiple of `align`.
    #[inline]
    pub(super) fn is_aligned(&self, align: usize) -> bool {
        // A block is aligned for its layout. For a vector the compiler knows that both alignments are the same.
        align <= self.layout.align() || self.start.addr().get() & (align - 1) == 0
    }

    /// Grows the block, in place or by moving it. Returns `None` if there is no memory; then the block is unchanged.
    ///
    /// # Safety
    ///
    /// `new` is no smaller than the block's layout. After `Some`, only the returned block is used.
    #[inline]
    pub(super) unsafe fn grow(self, new: Layout) -> Option<NonNull<u8>> {
        let bump = self.bump;
        if self.is_last() && self.is_aligned(new.align()) {
            let taken = arithmetic::taken(new.size(), MIN_ALIGN);
            // The block ends at `pos`, which is at most `end`, so its start is too.
            if let Some(after) = arithmetic::grown(self.start.addr().get(), taken, bump.end.get().addr().get()) {
                // The pointer derives from the arena's `pos`, whose provenance covers the whole chunk. The provenance
                // of the caller's pointer may cover only the old bytes.
                // SAFETY: this is the last block before `pos`. `grown` returned its new end, which is at most `end`. It is
                // a multiple of `MIN_ALIGN`, since the old end `pos` and the bytes taken before and now are.
                return Some(unsafe { bump.advance(after, taken) });
            }
        }
        // SAFETY: the caller guarantees that `new` is no smaller and that only the returned block is used.
        unsafe { Self::grow_moved(bump, self.start, self.layout, new) }
    }

    /// [`grow`](Self::grow) of a block that does not grow in place.
    ///
    /// It takes the block's fields in registers: a block of four words would be passed in memory, and written there
    /// also when it grows in place (17.6 instructions and 18.4: `cargo run --release -p dwell-bench -- bump --workload
    /// vec/short --ir`).
    ///
    /// # Safety
    ///
    /// As for [`grow`](Self::grow) of the block with these fields.
    #[cold]
    #[inline(never)]
    unsafe fn grow_moved(
        bump: &Bump<MIN_ALIGN, A>,
        start: NonNull<u8>,
        layout: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        let block = Block { bump, start, layout };
        // SAFETY: `grow_moved` has the contract of `grow_dedicated`: `new` is no smaller, and after `Some` only the
        // returned block is used. `Some` is returned at once.
        if let Some(larger) = unsafe { block.grow_dedicated(new) } {
            return Some(larger);
        }
        let Some(larger) = bump.take_or_refill(new) else {
            // This has freed the spare chunk, so that the block's chunk may be able to grow now.
            // SAFETY: the first call returned `None`, so the block is unchanged, and `new` is no smaller. The result is
            // returned, and `grow_moved` promises that after `Some` only the returned block is used.
            return unsafe { block.grow_dedicated(new) };
        };
        // SAFETY: the new block has `new.size()` bytes, which are at least this block's, and it is another live block.
        unsafe { block.copy_to(larger) };
        // If this block is still the last one, the new block is in another chunk, and the bytes of this one become
        // free. A dedicated chunk is not freed here: if the base allocator panicked, the block's owner would not learn
        // the new address.
        block.free_last();
        Some(larger)
    }

    /// Grows the block with its chunk, if that is dedicated to it. On `None` the block is unchanged.
    ///
    /// # Safety
    ///
    /// `new` is no smaller than the block's layout. After `Some`, only the returned block is used.
    unsafe fn grow_dedicated(&self, new: Layout) -> Option<NonNull<u8>> {
        if !arithmetic::may_be_dedicated(self.layout.size(), self.layout.align()) {
            return None;
        }
        let chunk = self.dedicated()?;
        // SAFETY: `dedicated` returned the chunk in the line above. The result is returned, and this function requires that
        // after `Some` only the returned block is used.
        unsafe { self.grow_chunk(chunk, new) }
    }

    /// Copies the block's bytes.
    ///
    /// # Safety
    ///
    /// `larger` is another block and valid for writes of `layout.size()` bytes.
    #[inline]
    unsafe fn copy_to(&self, larger: NonNull<u8>) {
        // SAFETY: this block is live and has `layout.size()` bytes (invariant 1). The caller guarantees that `larger`
        // has as many and is another block, so the two do not overlap.
        unsafe { larger.copy_from_nonoverlapping(self.start, self.layout.size()) };
    }

    /// Returns the newest chunk of the arena, if it is dedicated to this block.
    ///
    /// The block is live and has at least one byte, and the chunk was not freed. So if the block in the chunk's header
    /// has the same address, it is this one.
    fn dedicated(&self) -> Option<Chunk> {
        let newest = self.bump.chunks.get()?;
        // SAFETY: the chunk is in the arena's list, so it was not freed (invariant 5 of `Bump`).
        match unsafe { newest.header() }.kind {
            Kind::Dedicated { block } if block == self.start => Some(newest),
            _ => None,
        }
    }

    /// Takes the newest chunk off the list.
    ///
    /// # Safety
    ///
    /// `newest` is the newest chunk of the arena's list.
    unsafe fn unlist(&self, newest: Chunk) {
        // SAFETY: the chunk is in the arena's list, so it was not freed (invariant 5 of `Bump`).
        self.bump.chunks.set(unsafe { newest.header() }.prev);
    }

    /// Grows the block's chunk, which may move it.
    ///
    /// # Safety
    ///
    /// `dedicated` returned `chunk`. After `Some`, only the returned block is used.
    unsafe fn grow_chunk(&self, chunk: Chunk, new: Layout) -> Option<NonNull<u8>> {
        let (header, align) = (Bump::<MIN_ALIGN, A>::HEADER, Bump::<MIN_ALIGN, A>::CHUNK_ALIGN);
        // SAFETY: the chunk is in the list, so it was not freed, and the store that made it has this `HEADER`.
        let start = unsafe { chunk.start(header) };
        if start != self.start || new.align() > align {
            return None; // Behind padding, the block might not be aligned after a move.
        }
        // SAFETY: the chunk is in the list, so it was not freed.
        let old_size = unsafe { chunk.header() }.size;
        let overhead = Bump::<MIN_ALIGN, A>::OVERHEAD;
        let size = arithmetic::least_chunk(new.size(), new.align(), overhead, align)?.max(old_size);
        if size == old_size {
            // The block shrank before, or is smaller than its chunk.
            // SAFETY: `size` is what `least_chunk` returned for the layout `new`, or more, so a block of this layout at
            // the beginning lies in the chunk.
            let used = unsafe { start.add(new.size()) };
            // SAFETY: the chunk is in the list, so it was not freed, and its only block ends at `used` from now on.
            unsafe { chunk.set_used(used) };
            return Some(start);
        }
        // SAFETY: `dedicated` returned the newest chunk of the list.
        unsafe { self.unlist(chunk) };
        let mut unlisted = Unlisted { bump: self.bump, chunk: (chunk, old_size), layout: self.layout };
        // SAFETY: the chunk is of this store, and `unlist` took it off the list. `size` is a multiple of `CHUNK_ALIGN`
        // and not less than the chunk's own. The caller uses only the returned block.
        let grown = unsafe { self.bump.store().grow(chunk, size) }?;
        (unlisted.chunk, unlisted.layout) = ((grown, size), new);
        drop(unlisted);
        // SAFETY: dropping `unlisted` put the chunk back into the list, so it was not freed, and the store that made it
        // has this `HEADER`.
        Some(unsafe { grown.start(header) })
    }

    /// Shrinks the block in place. Its layout is `new` after this.
    ///
    /// # Safety
    ///
    /// The block is aligned for `new`, which is no larger than its layout.
    #[inline]
    pub(super) unsafe fn shrink(self, new: Layout) {
        let taken = arithmetic::taken(new.size(), MIN_ALIGN);
        debug_assert!(self.is_aligned(new.align()) && taken <= self.taken());
        if self.is_last() {
            // SAFETY: this is the last block. It is consumed, and its owner uses only the bytes of the layout `new`.
            unsafe { self.move_pos_back(taken) };
        } else if arithmetic::may_be_dedicated(self.layout.size(), self.layout.align()) {
            // SAFETY: the caller guarantees that `new` is no larger than the block's layout. The block is consumed, and
            // its owner uses only the bytes of `new`.
            unsafe { self.shrink_large(new.size()) };
        }
    }

    /// [`shrink`](Self::shrink) of a block that may have a dedicated chunk. The chunk keeps its size, so that the block
    /// can grow again, but the bytes behind the block no longer count as allocated.
    ///
    /// # Safety
    ///
    /// `size` is at most the block's size, and its bytes from `size` on are not used again.
    #[cold]
    #[inline(never)]
    unsafe fn shrink_large(self, size: usize) {
        let Some(chunk) = self.dedicated() else { return };
        // SAFETY: the chunk is in the list, so it was not freed, and the store that made it has this `HEADER`.
        let start = unsafe { chunk.start(Bump::<MIN_ALIGN, A>::HEADER) };
        // SAFETY: the block lies in the chunk, so its address is not 0, and it has `size` bytes or more, so the sum does
        // not overflow.
        let used = unsafe { Bump::<MIN_ALIGN, A>::at(start, self.start.addr().get() + size) };
        // SAFETY: the chunk was not freed, and its only block is this one, whose bytes from `used` on are not used again.
        unsafe { chunk.set_used(used) };
    }

    /// Moves `pos` back to `taken` bytes behind the beginning of this block.
    ///
    /// # Safety
    ///
    /// This is the last block, and its bytes from `taken` on are not used again. `taken` is a multiple of `MIN_ALIGN` and
    /// at most the number of bytes that the block takes.
    #[inline]
    unsafe fn move_pos_back(&self, taken: usize) {
        // SAFETY: the block lies in a chunk, so its address is not 0, and the block takes `taken` bytes or more, so the
        // sum does not overflow.
        let pos = unsafe { Bump::<MIN_ALIGN, A>::at(self.bump.pos.get(), self.start.addr().get() + taken) };
        self.bump.pos.set(pos);
    }

    /// Frees the block: at once if it is the last one or the newest chunk is dedicated to it, otherwise with the arena.
    #[inline]
    pub(super) fn free(self) {
        if !self.is_last() && arithmetic::may_be_dedicated(self.layout.size(), self.layout.align()) {
            self.free_large();
        } else {
            self.free_last();
        }
    }

    /// Frees the block at once if it is the last one, otherwise with the arena.
    #[inline]
    pub(super) fn free_last(self) {
        if self.is_last() {
            // SAFETY: this is the last block. It is consumed, so its bytes are not used again.
            unsafe { self.move_pos_back(0) };
        }
    }

    /// [`free`](Self::free) of a block that may have a dedicated chunk.
    #[cold]
    #[inline(never)]
    fn free_large(self) {
        if let Some(chunk) = self.dedicated() {
            // SAFETY: `dedicated` returned the newest chunk of the list.
            unsafe { self.unlist(chunk) };
            // SAFETY: the chunk is of this store, and `unlist` took it off the list. `free` consumes its one block,
            // which is not used again.
            unsafe { self.bump.store().free(chunk) };
        }
    }
}

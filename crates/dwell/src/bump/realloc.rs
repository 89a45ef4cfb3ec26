//! Blocks that grow, shrink and are given back: in place when they are the last, or alone in their chunk.

use super::Bump;
use super::chunk::{self, Header, Of};
use super::fit;
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::mem;
use core::ptr::NonNull;

/// A chunk that the allocator was asked to grow. If that panics, the chunk goes back to the arena, for its one block: as for
/// std's `Vec`, an allocator whose `grow` panics has not freed the block.
struct Unlinked<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `chunk` is the arena's, in no list, and has one block, at its beginning.
    chunk: NonNull<Header>,
    bump: &'a Bump<MIN_ALIGN, A>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Unlinked<'_, MIN_ALIGN, A> {
    fn drop(&mut self) {
        self.bump.put_apart(self.chunk, 1);
    }
}

/// Aborts when it is dropped while a panic unwinds, which is what a panic in between is made to do.
struct MustReturn;

impl Drop for MustReturn {
    fn drop(&mut self) {
        panic!("an allocator panicked when a block that had moved was given back");
    }
}

/// Below this a block is in no chunk of its own: see `fit::plan`.
const NEVER_APART: usize = 1 << 13;

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Whether this is the last block before `pos`.
    #[inline]
    fn is_last(&self, block: NonNull<u8>, size: usize) -> bool {
        fit::is_last(block.addr().get(), size, self.pos().addr().get(), MIN_ALIGN)
    }

    /// Where `pos` is as long as this is the last block, if it is.
    pub(super) fn after_last(&self, block: NonNull<u8>, size: usize) -> Option<usize> {
        self.is_last(block, size).then(|| self.pos.get().addr().get())
    }

    /// Whether a block can grow where it is.
    #[inline]
    fn has_room_behind(&self, block: NonNull<u8>, old: usize, new: usize) -> bool {
        self.is_last(block, old) && new <= self.end.get().addr().get() - block.addr().get()
    }

    /// Makes a block of `len` bytes longer by `more`, where it is: the arena's `pos` then, or that it can not. It can if `pos`
    /// is where it was when the block came to this length.
    ///
    /// # Safety
    ///
    /// `block` came from this arena with `len` bytes of alignment 1, is in use, and may reach its chunk. `after` is 0, or where
    /// `pos` is as long as the block is the last. `more` is at most `isize::MAX`.
    #[inline]
    pub(super) unsafe fn extend_last(
        &self,
        block: NonNull<u8>,
        len: usize,
        more: usize,
        after: usize,
    ) -> Option<usize> {
        debug_assert!(self.pos.get().addr().get() != after || self.is_last(block, len));
        // Two sizes of blocks: the sum does not wrap.
        let size = len + more;
        // The last block ends at `end` or before.
        if self.pos.get().addr().get() != after || size > self.end.get().addr().get() - block.addr().get() {
            return None;
        }
        // A block begins at a multiple of MIN_ALIGN, and `end` is one: the rounded size fits too.
        // SAFETY: the bytes up to `end` are in the allocation that the block is in.
        let pos = unsafe { block.add(fit::up(size, MIN_ALIGN)) };
        self.pos.set(pos);
        Some(pos.addr().get())
    }

    /// Makes a block larger. `None` leaves it as it is.
    ///
    /// # Safety
    ///
    /// `block` came from this arena with the layout `old` and is in use; `new` is no smaller. After `Some`, the block is the
    /// returned one.
    #[inline]
    pub(super) unsafe fn grow_block(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        let addr = block.addr().get();
        if addr & (new.align() - 1) == 0 && self.has_room_behind(block, old.size(), new.size()) {
            let pos = self.pos.get();
            self.pos.set(Self::at(pos, fit::up(addr + new.size(), MIN_ALIGN)));
            // The arena's own pointer: the caller's may reach no more than the old bytes.
            return Some(Self::at(pos, addr));
        }
        // SAFETY: the caller's promise, passed on.
        unsafe { self.grow_elsewhere(block, old, new) }
    }

    /// [`grow_block`](Self::grow_block) where there is no room for it.
    ///
    /// # Safety
    ///
    /// As `grow_block`.
    #[cold]
    #[inline(never)]
    unsafe fn grow_elsewhere(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        if new.align() <= Of::<MIN_ALIGN>::ALIGN {
            // SAFETY: the caller's promise, passed on.
            if let Some(block) = unsafe { self.grow_chunk(block, old, new) } {
                return Some(block);
            }
        }
        let larger = self.bytes(new)?;
        // SAFETY: both have `old.size()` bytes, and one is new.
        unsafe { larger.copy_from_nonoverlapping(block, old.size()) };
        // SAFETY: the caller gives the old one back with this.
        unsafe { self.free_moved(block, old) };
        Some(larger)
    }

    /// Grows the chunk that has this block alone, if one does.
    ///
    /// # Safety
    ///
    /// As `grow_block`; `new` is no more aligned than a chunk.
    unsafe fn grow_chunk(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        let newest = self.newest()?;
        // SAFETY: invariant 3.
        let header = unsafe { newest.read() };
        // SAFETY: invariant 3.
        let start = unsafe { Of::<MIN_ALIGN>::start(newest) };
        if header.used.is_some() && start == block && self.is_last(block, old.size()) {
            // The chunk is in no list while the allocator has it: the invariants hold whatever that does.
            self.chunk.set(header.prev);
            self.pos.set(Self::NOWHERE);
            self.end.set(Self::NOWHERE);
            let lost = Unlinked { chunk: newest, bump: self };
            // SAFETY: the chunk is this store's, in no list, and has no block in use but this one, which moves with it.
            let grown = unsafe { self.extend(newest, header.size, new.size()) };
            mem::forget(lost);
            let chunk = grown.unwrap_or(newest);
            let size = if grown.is_some() { new.size() } else { old.size() };
            // SAFETY: a chunk begins with its header.
            if !chunk::ends_low(chunk.cast(), unsafe { chunk.read() }.size) {
                return Some(self.put_apart(chunk, 1));
            }
            self.push(chunk);
            let start = self.pos.get();
            self.pos.set(Self::at(start, fit::up(start.addr().get() + size, MIN_ALIGN)));
            return grown.map(|_| start);
        }
        let apart = self.find_apart(block)?;
        self.unlink_apart();
        // SAFETY: a chunk begins with its header.
        let size = unsafe { apart.read() }.size;
        let lost = Unlinked { chunk: apart, bump: self };
        // SAFETY: the chunk is this store's, in no list, and has no block but this one, which moves with it.
        let grown = unsafe { self.extend(apart, size, new.size()) };
        mem::forget(lost);
        let start = self.put_apart(grown.unwrap_or(apart), 1);
        grown.map(|_| start)
    }

    /// Grows a chunk for a block of `bytes`: to twice its size if that can be had, since who grows once does so again.
    ///
    /// # Safety
    ///
    /// As `Store::extend`; `size` is the chunk's.
    unsafe fn extend(&self, chunk: NonNull<Header>, size: usize, bytes: usize) -> Option<NonNull<Header>> {
        let least = fit::round(Of::<MIN_ALIGN>::HEADER.checked_add(bytes)?, Of::<MIN_ALIGN>::ALIGN)?.max(size);
        if let Some(double) = fit::round(size.saturating_mul(2), Of::<MIN_ALIGN>::ALIGN).filter(|&size| size > least) {
            // SAFETY: the caller's promise, passed on.
            if let Some(chunk) = unsafe { self.store().extend::<MIN_ALIGN>(chunk, double) } {
                return Some(chunk);
            }
        }
        // SAFETY: the caller's promise, passed on.
        unsafe { self.store().extend::<MIN_ALIGN>(chunk, least) }
    }

    /// The last chunk for one block, if this is the block.
    fn find_apart(&self, block: NonNull<u8>) -> Option<NonNull<Header>> {
        let newest = self.newest()?;
        // SAFETY: invariant 3.
        let header = unsafe { newest.read() };
        let apart = if header.used.is_none() { newest } else { header.prev? };
        // SAFETY: invariant 3.
        let start = unsafe { Of::<MIN_ALIGN>::start(apart) };
        // SAFETY: invariant 3.
        (start == block && unsafe { apart.read() }.used.is_none()).then_some(apart)
    }

    /// Takes the last chunk that is for one block off the list.
    fn unlink_apart(&self) {
        let Some(newest) = self.newest() else { return };
        // SAFETY: invariant 3.
        let mut header = unsafe { newest.read() };
        if header.used.is_none() {
            self.chunk.set(header.prev);
        } else if let Some(apart) = header.prev {
            // SAFETY: invariant 3.
            header.prev = unsafe { apart.read() }.prev;
            // SAFETY: invariant 3.
            unsafe { newest.write(header) };
        }
    }

    /// Makes a block smaller, or as large and differently aligned. `None` leaves it as it is.
    ///
    /// # Safety
    ///
    /// `block` came from this arena with the layout `old` and is in use; `new` is no larger. After `Some`, the block is the
    /// returned one.
    #[inline]
    pub(super) unsafe fn shrink_block(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        let addr = block.addr().get();
        if addr & (new.align() - 1) != 0 {
            let aligned = self.bytes(new)?;
            // SAFETY: both have `new.size()` bytes, and one is new.
            unsafe { aligned.copy_from_nonoverlapping(block, new.size()) };
            // SAFETY: the caller gives the old one back with this.
            unsafe { self.free_moved(block, old) };
            return Some(aligned);
        }
        if self.is_last(block, old.size()) {
            // Nothing is moved, so nothing overlaps.
            // SAFETY: the block has `old.size()` bytes.
            let tail = unsafe { block.add(new.size()) };
            // SAFETY: the caller gives these bytes back.
            unsafe { chunk::poison(tail, old.size() - new.size()) };
            self.pos.set(Self::at(self.pos.get(), fit::up(addr + new.size(), MIN_ALIGN)));
        }
        Some(block)
    }

    /// Takes a block back: for good if it is the last or has a chunk of its own, else with the arena.
    ///
    /// # Safety
    ///
    /// `block` came from this arena with this layout, and is not used again.
    #[inline]
    pub(super) unsafe fn free_block(&self, block: NonNull<u8>, layout: Layout) {
        if self.is_last(block, layout.size()) {
            // SAFETY: the caller gives these bytes back.
            unsafe { chunk::poison(block, layout.size()) };
            self.pos.set(Self::at(self.pos.get(), block.addr().get()));
        } else if layout.size() >= NEVER_APART {
            self.free_chunk(block);
        }
    }

    /// [`free_block`](Self::free_block) of a block that was copied elsewhere. Its owner must learn of that, panic or not.
    ///
    /// # Safety
    ///
    /// As `free_block`.
    #[inline]
    unsafe fn free_moved(&self, block: NonNull<u8>, layout: Layout) {
        let must_return = MustReturn;
        // SAFETY: the caller's promise, passed on.
        unsafe { self.free_block(block, layout) };
        mem::forget(must_return);
    }

    /// Releases the chunk that has this block alone, if the last such chunk does.
    #[cold]
    #[inline(never)]
    fn free_chunk(&self, block: NonNull<u8>) {
        if let Some(apart) = self.find_apart(block) {
            self.unlink_apart();
            // SAFETY: the chunk was this arena's, and its one block is not used again.
            unsafe { self.store().release::<MIN_ALIGN>(apart) };
        }
    }
}

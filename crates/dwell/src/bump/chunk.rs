//! Chunks: blocks of the base allocator with a header in front, and who keeps count of them.

use super::fit;
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

/// What stands at the beginning of a chunk.
///
/// ```text
///  chunk          chunk + HEADER                             pos            chunk + size
/// ┌──────┬──────┬─┬────────┬─────────┬──────────────────────┬──────────────┐
/// │Header│      │…│ block  │ block   │ …                    │ free         │
/// └──────┴──────┴─┴────────┴─────────┴──────────────────────┴──────────────┘
/// ```
#[derive(Clone, Copy)]
pub(super) struct Header {
    /// The chunk before this one.
    pub(super) prev: Option<NonNull<Header>>,
    /// Bytes of the whole chunk.
    pub(super) size: usize,
    /// How many chunks had been made when this one was, itself included.
    pub(super) serial: usize,
    /// How far its bytes were used when the next chunk took over. `None`: it has one block, for which it was made.
    pub(super) used: Option<NonNull<u8>>,
}

/// The chunks of an arena of this minimum alignment.
pub(super) struct Of<const MIN_ALIGN: usize>;

impl<const MIN_ALIGN: usize> Of<MIN_ALIGN> {
    /// The alignment of chunks, and of their sizes.
    pub(super) const ALIGN: usize = {
        assert!(MIN_ALIGN.is_power_of_two(), "the minimum alignment is a power of two");
        assert!(MIN_ALIGN <= fit::MAX_MIN_ALIGN, "the minimum alignment is at most 64");
        if MIN_ALIGN > 16 { MIN_ALIGN } else { 16 }
    };

    /// Bytes in front of a chunk's first block.
    pub(super) const HEADER: usize = fit::up(size_of::<Header>(), Self::ALIGN);

    /// The layout of a chunk of `size` bytes.
    pub(super) fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size, Self::ALIGN).ok()
    }

    /// Where a chunk's first block begins.
    ///
    /// # Safety
    ///
    /// `chunk` is a chunk.
    #[inline]
    pub(super) unsafe fn start(chunk: NonNull<Header>) -> NonNull<u8> {
        // SAFETY: a chunk is larger than its header.
        unsafe { chunk.cast::<u8>().add(Self::HEADER) }
    }

    /// Where a chunk ends.
    ///
    /// # Safety
    ///
    /// `chunk` is a chunk.
    #[inline]
    pub(super) unsafe fn end(chunk: NonNull<Header>) -> NonNull<u8> {
        // SAFETY: a chunk begins with its header.
        let header = unsafe { chunk.read() };
        // SAFETY: a chunk has `size` bytes.
        unsafe { chunk.cast::<u8>().add(header.size) }
    }
}

/// Where an arena's chunks come from, and the count of what it has.
pub(super) struct Store<A: Allocator> {
    // # Invariants
    //
    // 1. `held` is the sum of the sizes of the chunks that came from `obtain` and were not given to `release`.
    alloc: A,
    pub(super) limit: Cell<usize>,
    held: Cell<usize>,
    made: Cell<usize>,
}

impl<A: Allocator> Store<A> {
    pub(super) const fn new(alloc: A) -> Self {
        Self { alloc, limit: Cell::new(usize::MAX), held: Cell::new(0), made: Cell::new(0) }
    }

    pub(super) fn alloc(&self) -> &A {
        &self.alloc
    }

    /// Bytes of all chunks.
    pub(super) fn held(&self) -> usize {
        self.held.get()
    }

    /// The number of chunks that were ever made: a new one's serial number is larger.
    pub(super) fn made(&self) -> usize {
        self.made.get()
    }

    /// Bytes up to the limit.
    pub(super) fn left(&self) -> usize {
        self.limit.get().saturating_sub(self.held.get())
    }

    /// A chunk of `size` bytes, regular and unused, linked to none.
    ///
    /// `size` is a multiple of `Of::ALIGN` and more than `Of::HEADER`.
    pub(super) fn obtain<const M: usize>(&self, size: usize) -> Option<NonNull<Header>> {
        debug_assert!(size > Of::<M>::HEADER && size.is_multiple_of(Of::<M>::ALIGN));
        if size > self.left() {
            return None;
        }
        let layout = Of::<M>::layout(size)?;
        let block = self.alloc.allocate(layout).ok()?.cast::<u8>();
        if !ends_low(block, size) {
            // SAFETY: the block came from this allocator with this layout.
            unsafe { self.alloc.deallocate(block, layout) };
            return None;
        }
        // After the allocator, which may be anybody's: it may have come back here.
        self.held.set(self.held.get() + size);
        self.made.set(self.made.get() + 1);
        // SAFETY: the block is larger than the header.
        let start = unsafe { block.add(Of::<M>::HEADER) };
        let chunk = block.cast::<Header>();
        // SAFETY: the block is larger than the header and aligned to at least 16, as `ALIGN` says.
        unsafe { chunk.write(Header { prev: None, size, serial: self.made.get(), used: Some(start) }) };
        Some(chunk)
    }

    /// Gives a chunk back.
    ///
    /// # Safety
    ///
    /// `chunk` came from `obtain` of this store, with this `M`, and neither it nor a block in it is used again.
    pub(super) unsafe fn release<const M: usize>(&self, chunk: NonNull<Header>) {
        // SAFETY: a chunk begins with its header.
        let Header { size, .. } = unsafe { chunk.read() };
        // Its size once made a layout.
        let Some(layout) = Of::<M>::layout(size) else { return };
        self.held.set(self.held.get() - size);
        // SAFETY: it came from this allocator with this layout, and is not used again.
        unsafe { self.alloc.deallocate(chunk.cast(), layout) };
    }

    /// Makes a chunk larger, wherever it is then. `None` leaves it as it is.
    ///
    /// # Safety
    ///
    /// `chunk` came from `obtain` of this store, with this `M`, and is in no list while this runs; if a chunk is
    /// returned, the old one and pointers into it are not used again. `size` is a multiple of `Of::ALIGN` and not
    /// less than the chunk's.
    pub(super) unsafe fn extend<const M: usize>(&self, chunk: NonNull<Header>, size: usize) -> Option<NonNull<Header>> {
        // SAFETY: a chunk begins with its header.
        let mut header = unsafe { chunk.read() };
        if size - header.size > self.left() {
            return None;
        }
        let (old, new) = (Of::<M>::layout(header.size)?, Of::<M>::layout(size)?);
        // SAFETY: the chunk came from this allocator with the layout `old`, and `new` is not smaller.
        let block = unsafe { self.alloc.grow(chunk.cast(), old, new) }.ok()?.cast::<u8>();
        self.held.set(self.held.get() + size - header.size);
        header.size = size;
        let chunk = block.cast::<Header>();
        // SAFETY: the block is larger than the header and aligned as before.
        unsafe { chunk.write(header) };
        Some(chunk)
    }
}

/// Whether blocks may be placed there. Only on a target of few address bits is there memory where they may not.
pub(super) fn ends_low(block: NonNull<u8>, size: usize) -> bool {
    block.addr().get().checked_add(size).is_some_and(|end| end <= fit::TOP)
}

/// What free bytes read as in debug builds.
pub(super) const FREE: u8 = 0xDD;

/// Makes bytes that are free conspicuous, in debug builds: the first of them, so that these do not take for ever.
///
/// # Safety
///
/// The bytes are valid for writes, and nobody's.
#[inline]
pub(super) unsafe fn poison(start: NonNull<u8>, size: usize) {
    if cfg!(debug_assertions) {
        // SAFETY: the caller says that they can be written.
        unsafe { start.write_bytes(FREE, size.min(1 << 10)) };
    }
}

//! Chunks: blocks of the base allocator with a header in front, and who keeps count of them.

use super::fit;
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::cell::Cell;
use core::hint::assert_unchecked;
use core::mem;
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

    /// The layout of an arena's first chunk, if nothing is said about it.
    pub(super) const FIRST: Layout = match Layout::from_size_align(fit::up(fit::FIRST_CHUNK, Self::ALIGN), Self::ALIGN)
    {
        Ok(layout) => layout,
        Err(_) => panic!("it is small"),
    };

    /// The layout of a chunk of `size` bytes.
    pub(super) fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size, Self::ALIGN).ok()
    }

    /// The layout of a chunk that is there.
    ///
    /// # Safety
    ///
    /// `size` is a chunk's.
    #[inline]
    unsafe fn layout_of(size: usize) -> Layout {
        // SAFETY: a chunk is larger than its header.
        unsafe { assert_unchecked(size > Self::HEADER) };
        // SAFETY: it was made with this layout.
        unsafe { Layout::from_size_align_unchecked(size, Self::ALIGN) }
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
// All zero when it is new: two words of it are one instruction.
pub(super) struct Store<A: Allocator> {
    // # Invariants
    //
    // 1. `held` is the sum of the sizes of the chunks that were made and not given to `release`, and of those that the allocator
    //    is being asked for.
    alloc: A,
    /// What the limit leaves of all the bytes that there could be.
    beyond: Cell<usize>,
    held: Cell<usize>,
    made: Cell<usize>,
}

/// Bytes that are counted before the allocator has given them, so that one that comes back here finds no more than is left.
struct Reserved<'a> {
    held: &'a Cell<usize>,
    size: usize,
}

impl Drop for Reserved<'_> {
    #[inline]
    fn drop(&mut self) {
        self.held.set(self.held.get() - self.size);
    }
}

impl<A: Allocator> Store<A> {
    pub(super) const fn new(alloc: A) -> Self {
        Self { alloc, beyond: Cell::new(0), held: Cell::new(0), made: Cell::new(0) }
    }

    pub(super) fn alloc(&self) -> &A {
        &self.alloc
    }

    /// Bytes of all chunks.
    pub(super) fn held(&self) -> usize {
        self.held.get()
    }

    /// The number of chunks that were made but for an arena's first: a new one's serial number is larger.
    pub(super) fn made(&self) -> usize {
        self.made.get()
    }

    /// The most bytes that there may be.
    pub(super) fn set_limit(&self, bytes: usize) {
        self.beyond.set(usize::MAX - bytes);
    }

    /// Bytes up to the limit.
    pub(super) fn left(&self) -> usize {
        (usize::MAX - self.beyond.get()).saturating_sub(self.held.get())
    }

    /// Counts bytes that are about to be asked for, if they are within the limit.
    #[inline]
    fn reserve(&self, size: usize) -> Option<Reserved<'_>> {
        if size > self.left() {
            return None;
        }
        self.held.set(self.held.get() + size);
        Some(Reserved { held: &self.held, size })
    }

    /// The first chunk of an arena, if `still` says that it is one, without a header and not counted.
    #[inline]
    pub(super) fn obtain_first<const M: usize>(&self, still: impl FnOnce() -> bool) -> Option<NonNull<Header>> {
        let layout = Of::<M>::FIRST;
        let block = self.alloc.allocate(layout).ok()?.cast::<u8>();
        // The allocator may be anybody's: it may have come back here.
        if !(still() && ends_low(block, layout.size())) {
            // SAFETY: the block came from this allocator with this layout.
            unsafe { self.alloc.deallocate(block, layout) };
            return None;
        }
        Some(block.cast())
    }

    /// Counts a first chunk and writes its header: none before it, and no number, which is that of none made.
    ///
    /// # Safety
    ///
    /// `chunk` came from `obtain_first` of this store, with this `M`, and was not counted.
    pub(super) unsafe fn count_first<const M: usize>(&self, chunk: NonNull<Header>) {
        let size = Of::<M>::FIRST.size();
        self.held.set(self.held.get() + size);
        // SAFETY: the block was made with this layout.
        unsafe { Self::begin::<M>(chunk.cast(), size, 0) };
    }

    /// Gives a first chunk back that was not counted.
    ///
    /// # Safety
    ///
    /// `chunk` came from `obtain_first` of this store, with this `M`, and was not counted; neither it nor a block in it is
    /// used again.
    #[inline]
    pub(super) unsafe fn release_first<const M: usize>(&self, chunk: NonNull<Header>) {
        // SAFETY: it came from this allocator with this layout, and is not used again.
        unsafe { self.alloc.deallocate(chunk.cast(), Of::<M>::FIRST) };
    }

    /// Makes a block a chunk.
    ///
    /// # Safety
    ///
    /// The block has `size` bytes, more than `Of::HEADER`, and is aligned to `Of::ALIGN`.
    #[inline]
    unsafe fn begin<const M: usize>(block: NonNull<u8>, size: usize, serial: usize) -> NonNull<Header> {
        // SAFETY: the block is larger than the header.
        let start = unsafe { block.add(Of::<M>::HEADER) };
        let chunk = block.cast::<Header>();
        // SAFETY: the block is larger than the header and aligned to at least 16, as `ALIGN` says.
        unsafe { chunk.write(Header { prev: None, size, serial, used: Some(start) }) };
        chunk
    }

    /// A chunk of `size` bytes, regular and unused, linked to none.
    ///
    /// `size` is a multiple of `Of::ALIGN` and more than `Of::HEADER`.
    pub(super) fn obtain<const M: usize>(&self, size: usize) -> Option<NonNull<Header>> {
        debug_assert!(size > Of::<M>::HEADER && size.is_multiple_of(Of::<M>::ALIGN));
        let layout = Of::<M>::layout(size)?;
        let reserved = self.reserve(size)?;
        let block = self.alloc.allocate(layout).ok()?.cast::<u8>();
        if !ends_low(block, size) {
            // SAFETY: the block came from this allocator with this layout.
            unsafe { self.alloc.deallocate(block, layout) };
            return None;
        }
        mem::forget(reserved);
        // After the allocator, which may be anybody's: it may have come back here.
        self.made.set(self.made.get() + 1);
        // SAFETY: the block was made with this layout.
        Some(unsafe { Self::begin::<M>(block, size, self.made.get()) })
    }

    /// Gives a chunk back.
    ///
    /// # Safety
    ///
    /// `chunk` came from `obtain` of this store, with this `M`, and neither it nor a block in it is used again.
    pub(super) unsafe fn release<const M: usize>(&self, chunk: NonNull<Header>) {
        // SAFETY: a chunk begins with its header.
        let Header { size, .. } = unsafe { chunk.read() };
        // SAFETY: the caller's promise, passed on.
        unsafe { self.release_uncounted::<M>(chunk) };
        // After the allocator, which has the block until it returns.
        self.held.set(self.held.get() - size);
    }

    /// [`release`](Self::release) by an arena that is being dropped: nobody asks for the count any more.
    ///
    /// # Safety
    ///
    /// As `release`.
    #[inline]
    pub(super) unsafe fn release_uncounted<const M: usize>(&self, chunk: NonNull<Header>) {
        // SAFETY: a chunk begins with its header.
        let Header { size, .. } = unsafe { chunk.read() };
        // SAFETY: it is the chunk's.
        let layout = unsafe { Of::<M>::layout_of(size) };
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
        let new = Of::<M>::layout(size)?;
        // SAFETY: it is the chunk's.
        let old = unsafe { Of::<M>::layout_of(header.size) };
        let reserved = self.reserve(size - header.size)?;
        // SAFETY: the chunk came from this allocator with the layout `old`, and `new` is not smaller.
        let block = unsafe { self.alloc.grow(chunk.cast(), old, new) }.ok()?.cast::<u8>();
        mem::forget(reserved);
        header.size = size;
        let chunk = block.cast::<Header>();
        // SAFETY: the block is larger than the header and aligned as before.
        unsafe { chunk.write(header) };
        Some(chunk)
    }
}

/// Whether blocks may be placed there. There is memory where they may not only on a target of few address bits.
#[inline]
pub(super) fn ends_low(block: NonNull<u8>, size: usize) -> bool {
    fit::ends_low(block.addr().get(), size)
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

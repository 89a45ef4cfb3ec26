//! Chunks: the allocations that contain the blocks of an arena, and the store that allocates them.

use super::arithmetic;
use crate::alloc::Allocator;
use core::alloc::Layout;
use core::cell::Cell;
use core::mem;
use core::ptr::NonNull;

/// A chunk: one allocation of the base allocator, which begins with a [`Header`].
///
/// ```text
///  chunk     chunk + HEADER                          used               chunk + size
/// ┌────────┬─┬─────────┬─────────┬──────────────────┬──────────────────┐
/// │ Header │…│ block   │ block   │ …                │ free             │   Kind::Shared
/// └────────┴─┴─────────┴─────────┴──────────────────┴──────────────────┘
/// ┌────────┬─┬───────────────────────────────────────────────────────┬─┐
/// │ Header │…│ block                                                 │…│   Kind::Dedicated
/// └────────┴─┴───────────────────────────────────────────────────────┴─┘
/// ```
///
/// A copyable address, like a raw pointer: whoever reads it knows that the chunk was not freed. The header is read and written
/// through the pointer that the allocator returned, never by reference, and the pointers to blocks are derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk(NonNull<Header>);

#[derive(Clone, Copy)]
pub(super) struct Header {
    /// The next older chunk of the same arena.
    pub(super) prev: Option<Chunk>,
    /// The size of the whole chunk in bytes.
    pub(super) size: usize,
    pub(super) kind: Kind,
}

/// What a chunk is for. While the chunk is in an arena's list, `Bump::chunks_raw` may make one that was dedicated a shared one
/// without free bytes, and it changes in no other way.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Small blocks, one after the other. The bytes from `used` on are in no block of the arena, unless the arena allocates
    /// from this chunk now: then `pos` says so, and `used` is out of date.
    Shared { used: NonNull<u8> },
    /// Only this block.
    Dedicated { block: NonNull<u8> },
}

impl Chunk {
    /// # Safety
    ///
    /// The chunk was not freed.
    #[inline]
    pub(super) unsafe fn header(self) -> Header {
        // SAFETY: a chunk that was not freed begins with a header, which was written when it was made.
        unsafe { self.0.read() }
    }

    /// # Safety
    ///
    /// The chunk was not freed. `header.size` is its size.
    #[inline]
    pub(super) unsafe fn set_header(self, header: Header) {
        // SAFETY: a chunk that was not freed begins with a header, and no reference to it exists.
        unsafe { self.0.write(header) };
    }

    /// Writes down from where on the bytes of a shared chunk are free.
    ///
    /// # Safety
    ///
    /// The chunk was not freed, is shared, and the bytes from `used` to its end are in no block.
    #[inline]
    pub(super) unsafe fn set_used(self, used: NonNull<u8>) {
        // SAFETY: a chunk that was not freed begins with a header.
        let kind = unsafe { &raw mut (*self.0.as_ptr()).kind };
        // SAFETY: it is a field of the header, to which no reference exists.
        unsafe { kind.write(Kind::Shared { used }) };
    }

    /// Where the first block can begin.
    ///
    /// # Safety
    ///
    /// The chunk was not freed, and `header` is `Store::HEADER` of the store that made it.
    #[inline]
    pub(super) unsafe fn start(self, header: usize) -> NonNull<u8> {
        // SAFETY: a chunk has more bytes than `Store::HEADER`.
        unsafe { self.0.cast::<u8>().add(header) }
    }

    /// Where the chunk ends.
    ///
    /// # Safety
    ///
    /// The chunk was not freed, and `size` is its size.
    #[inline]
    pub(super) unsafe fn end(self, size: usize) -> NonNull<u8> {
        // SAFETY: the chunk has `size` bytes.
        unsafe { self.0.cast::<u8>().add(size) }
    }
}

/// The data that an arena and its scopes share: the base allocator, the limit, and one spare chunk.
pub(super) struct Store<const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `limit - left` is the sum of the sizes of all chunks that were made and not freed, and of those that the allocator is
    //    being asked for. It is not negative.
    // 2. `spare` is in no arena's list.
    alloc: A,
    /// The bytes left within the limit. Negative if the limit was set below the allocated bytes.
    left: Cell<isize>,
    /// `isize::MAX`: no limit.
    limit: Cell<isize>,
    /// The least size of the next chunk, from `Bump::reset`.
    wanted: Cell<usize>,
    spare: Cell<Option<Chunk>>,
}

/// Chunks that go back to the allocator. If it panics for one of them, the others are freed when this is dropped.
struct Unused<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. The chunks of the list are of `store`, and no arena has them. Neither they nor blocks in them are used again.
    store: &'a Store<MIN_ALIGN, A>,
    list: Option<Chunk>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Unused<'_, MIN_ALIGN, A> {
    /// Takes the first chunk off the list.
    #[inline]
    fn next(&mut self) -> Option<(Chunk, Header)> {
        let chunk = self.list?;
        // SAFETY: the chunk is in the list, so that it was not freed.
        let header = unsafe { chunk.header() };
        self.list = header.prev;
        Some((chunk, header))
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Unused<'_, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        while let Some((chunk, _)) = self.next() {
            // SAFETY: no arena has the chunk (invariant 1), nor has the list any more.
            unsafe { self.store.free(chunk) };
        }
    }
}

/// Bytes counted before the allocator is called, so that an allocator that re-enters the arena cannot exceed the limit. Drop
/// subtracts them, also if the allocator panics.
struct Reserved<'a> {
    left: &'a Cell<isize>,
    size: usize,
}

impl Drop for Reserved<'_> {
    #[inline]
    fn drop(&mut self) {
        self.left.set(self.left.get() + self.size.cast_signed());
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Store<MIN_ALIGN, A> {
    /// The alignment of chunks and of their sizes, in bytes.
    pub(super) const ALIGN: usize = {
        assert!(MIN_ALIGN.is_power_of_two(), "the minimum alignment is a power of two");
        assert!(MIN_ALIGN <= arithmetic::MAX_MIN_ALIGN, "the minimum alignment is at most 64");
        if MIN_ALIGN > 16 { MIN_ALIGN } else { 16 }
    };

    /// Bytes in front of a chunk's first block.
    pub(super) const HEADER: usize = arithmetic::up(size_of::<Header>(), Self::ALIGN);

    /// The size of the first chunk of an arena that has no limit.
    pub(super) const FIRST: usize = arithmetic::up(arithmetic::FIRST_CHUNK, Self::ALIGN);

    pub(super) const fn new(alloc: A) -> Self {
        const { assert!(Self::HEADER.is_multiple_of(MIN_ALIGN) && Self::FIRST > Self::HEADER) };
        Self {
            alloc,
            left: Cell::new(isize::MAX),
            limit: Cell::new(isize::MAX),
            wanted: Cell::new(0),
            spare: Cell::new(None),
        }
    }

    pub(super) fn alloc(&self) -> &A {
        &self.alloc
    }

    /// Bytes of all chunks.
    #[inline]
    pub(super) fn held(&self) -> usize {
        (self.limit.get() - self.left.get()).cast_unsigned()
    }

    /// Whether there is no chunk and no limit.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        // Chunks have bytes: by invariant 1 what is left is less than the limit if there is one.
        self.left.get() == isize::MAX
    }

    pub(super) fn limit(&self) -> Option<usize> {
        Some(self.limit.get()).filter(|limit| *limit != isize::MAX).map(isize::cast_unsigned)
    }

    pub(super) fn set_limit(&self, bytes: Option<usize>) {
        let limit = bytes.and_then(|bytes| isize::try_from(bytes).ok()).unwrap_or(isize::MAX);
        let held = self.held().cast_signed();
        self.limit.set(limit);
        self.left.set(limit - held);
    }

    pub(super) fn set_wanted(&self, bytes: usize) {
        self.wanted.set(bytes);
    }

    pub(super) fn spare(&self) -> Option<Chunk> {
        self.spare.get()
    }

    /// Counts bytes that are about to be asked for, if the limit leaves as many.
    #[inline(always)]
    fn reserve(&self, size: usize) -> Option<Reserved<'_>> {
        let left = self.left.get().checked_sub(size.cast_signed()).filter(|left| *left >= 0)?;
        self.left.set(left);
        Some(Reserved { left: &self.left, size })
    }

    /// A new chunk without blocks, in no list, and its size. Its header is written when it is put into one.
    ///
    /// `size` is a multiple of `ALIGN` and more than `HEADER`.
    // Inlined with the constant size of a first chunk: `dwell-bench -- bump --workload creation`.
    #[inline(always)]
    pub(super) fn make(&self, size: usize) -> Option<(Chunk, usize)> {
        debug_assert!(size > Self::HEADER && size.is_multiple_of(Self::ALIGN));
        let layout = Layout::from_size_align(size, Self::ALIGN).ok()?;
        let reserved = self.reserve(size)?;
        let block = self.alloc.allocate(layout).ok()?.cast::<u8>();
        if !arithmetic::ends_low(block.addr().get(), size) {
            // SAFETY: the block just came from this allocator with this layout.
            unsafe { self.alloc.deallocate(block, layout) };
            return None;
        }
        mem::forget(reserved);
        Some((Chunk(block.cast()), size))
    }

    /// A chunk of `least` bytes or more for small blocks: the spare one, or one as large as is usual.
    ///
    /// `current` is the size of the chunk that is full.
    pub(super) fn obtain(&self, least: usize, current: Option<usize>) -> Option<(Chunk, usize)> {
        let left = usize::try_from(self.left.get()).unwrap_or(0);
        let size = arithmetic::next_chunk(least, current, self.wanted.get(), left, Self::ALIGN);
        if size > least
            && let Some(chunk) = self.make(size)
        {
            self.wanted.set(0);
            return Some(chunk);
        }
        self.make_least(least)
    }

    /// A chunk of `least` bytes, for which the spare chunk is freed if need be.
    pub(super) fn make_least(&self, least: usize) -> Option<(Chunk, usize)> {
        self.make(least).or_else(|| if self.free_spare() { self.make(least) } else { None })
    }

    /// Frees the spare chunk. Returns whether there was one.
    pub(super) fn free_spare(&self) -> bool {
        let spare = self.spare.take();
        if let Some(spare) = spare {
            // SAFETY: the spare chunk was in no list, and now nothing else knows it.
            unsafe { self.free(spare) };
        }
        spare.is_some()
    }

    /// Takes the spare chunk if it has `least` bytes, and returns its size too.
    pub(super) fn take_spare(&self, least: usize) -> Option<(Chunk, usize)> {
        let spare = self.spare.get()?;
        // SAFETY: the spare chunk was not freed.
        let Header { size, .. } = unsafe { spare.header() };
        if size < least {
            return None;
        }
        self.spare.set(None);
        Some((spare, size))
    }

    /// Makes a chunk larger, wherever it is then. `None` leaves it as it is.
    ///
    /// # Safety
    ///
    /// The chunk is of this store and in no list while this runs. If a chunk is returned, the old one and pointers into it are
    /// not used again. `size` is a multiple of `ALIGN` and not less than the chunk's.
    pub(super) unsafe fn grow(&self, chunk: Chunk, size: usize) -> Option<Chunk> {
        // SAFETY: the chunk is in no list, but was: it was not freed, and its header was written.
        let Header { size: old_size, .. } = unsafe { chunk.header() };
        let new = Layout::from_size_align(size, Self::ALIGN).ok()?;
        let old = Layout::from_size_align(old_size, Self::ALIGN).ok()?;
        let reserved = self.reserve(size - old_size)?;
        // SAFETY: `make` allocated the chunk with the layout `old`, and `new` is not smaller.
        let block = unsafe { self.alloc.grow(chunk.0.cast(), old, new) }.ok()?;
        mem::forget(reserved);
        Some(Chunk(block.cast()))
    }

    /// Gives a chunk back to the allocator.
    ///
    /// # Safety
    ///
    /// The chunk is of this store and in no list. Neither it nor a block in it is used again.
    pub(super) unsafe fn free(&self, chunk: Chunk) {
        // SAFETY: a chunk that is freed once and was in no list was not freed before, and begins with its header.
        let Header { size, .. } = unsafe { chunk.header() };
        // SAFETY: `make` or `grow` allocated the chunk with this size and alignment, so that they are a layout's.
        let layout = unsafe { Layout::from_size_align_unchecked(size, Self::ALIGN) };
        // SAFETY: the chunk came from this allocator with this layout, and is not used again.
        unsafe { self.alloc.deallocate(chunk.0.cast(), layout) };
        // Only now: the allocator had it until it returned.
        self.left.set(self.left.get() + size.cast_signed());
    }

    /// Frees a list of chunks.
    ///
    /// # Safety
    ///
    /// The chunks are of this store, and no arena has the list. Neither they nor blocks in them are used again.
    pub(super) unsafe fn free_all(&self, list: Option<Chunk>) {
        let mut unused = Unused { store: self, list };
        while let Some((chunk, _)) = unused.next() {
            // SAFETY: no arena has the chunk, nor has the list any more.
            unsafe { self.free(chunk) };
        }
    }

    /// Frees a list of chunks but for the largest, which becomes the spare one if that is smaller.
    ///
    /// # Safety
    ///
    /// As for `free_all`: the chunks are of this store, no arena has the list, and blocks in them are not used again.
    pub(super) unsafe fn recycle(&self, list: Option<Chunk>) {
        let mut unused = Unused { store: self, list };
        while let Some((chunk, header)) = unused.next() {
            // SAFETY: the spare chunk was not freed.
            let spare_size = self.spare.get().map_or(0, |spare| unsafe { spare.header() }.size);
            // A dedicated chunk that grew may be where no small blocks can be.
            let replaces = header.size > spare_size && arithmetic::ends_low(chunk.0.addr().get(), header.size);
            let unused = if replaces { self.spare.replace(Some(chunk)) } else { Some(chunk) };
            if let Some(unused) = unused {
                // SAFETY: it was the spare chunk or in the list. Now it is neither.
                unsafe { self.free(unused) };
            }
        }
    }
}

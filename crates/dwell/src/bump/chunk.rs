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
///  chunk     chunk + HEADER                          used             end   chunk + size
/// ┌────────┬─┬─────────┬─────────┬──────────────────┬────────────────┬─────┐
/// │ Header │…│ block   │ block   │ …                │ free           │ GAP │   Kind::Shared
/// └────────┴─┴─────────┴─────────┴──────────────────┴────────────────┴─────┘
/// ┌────────┬─┬─────────────────────────────────────────────────────┬─┬─────┐
/// │ Header │…│ block                                               │…│ GAP │   Kind::Dedicated
/// └────────┴─┴─────────────────────────────────────────────────────┴─┴─────┘
///                                                                  used
/// ```
///
/// `Chunk` is `Copy`, like a raw pointer: code that dereferences it must know that the chunk was not freed. The header
/// is read and written through the pointer that the allocator returned, never by reference, and the pointers to blocks
/// are derived from that pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk(NonNull<Header>);

#[derive(Clone, Copy)]
pub(super) struct Header {
    /// The next older chunk of the same arena.
    pub(super) prev: Option<Chunk>,
    /// The size of the whole chunk in bytes.
    pub(super) size: usize,
    /// The bytes from here on are in no block of the arena. While the arena allocates from this chunk, `used` is out of
    /// date and `pos` takes its role.
    pub(super) used: NonNull<u8>,
    pub(super) kind: Kind,
}

// Larger headers would leave fewer bytes of each chunk for blocks.
const _: () = assert!(size_of::<Header>() == 4 * size_of::<usize>());

/// The use of a chunk. While the chunk is in an arena's list, its kind changes in only one way: `Bump::chunks_raw` makes
/// a dedicated chunk a shared one.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Small blocks, one after the other.
    Shared,
    /// A single block, which ends at `used`.
    Dedicated { block: NonNull<u8> },
}

impl Chunk {
    /// Returns the header.
    ///
    /// # Safety
    ///
    /// The chunk was put into a list, which wrote its header, and was not freed.
    #[inline]
    pub(super) unsafe fn header(self) -> Header {
        // SAFETY: the caller guarantees that the chunk was not freed and begins with a header that was written.
        unsafe { self.0.read() }
    }

    /// Writes the header.
    ///
    /// # Safety
    ///
    /// The chunk was not freed. `header.size` is its size.
    #[inline]
    pub(super) unsafe fn set_header(self, header: Header) {
        // SAFETY: a chunk that was not freed begins with memory for a header, and no reference to it exists.
        unsafe { self.0.write(header) };
    }

    /// Sets the end of the allocated bytes.
    ///
    /// # Safety
    ///
    /// The chunk was put into a list and was not freed. The bytes from `used` to its end are in no block.
    #[inline]
    pub(super) unsafe fn set_used(self, used: NonNull<u8>) {
        // SAFETY: a chunk that was not freed begins with a header.
        let field = unsafe { &raw mut (*self.0.as_ptr()).used };
        // SAFETY: `field` points to a field of the header, which is valid for writes, and no reference to it exists.
        unsafe { field.write(used) };
    }

    /// Makes the chunk a shared one. A block that it was dedicated to no longer grows, shrinks or is freed with it.
    ///
    /// # Safety
    ///
    /// The chunk was put into a list and was not freed.
    pub(super) unsafe fn share(self) {
        // SAFETY: a chunk that was not freed begins with a header.
        let field = unsafe { &raw mut (*self.0.as_ptr()).kind };
        // SAFETY: `field` points to a field of the header, which is valid for writes, and no reference to it exists.
        unsafe { field.write(Kind::Shared) };
    }

    /// Returns the address behind the header, where the first block can begin.
    ///
    /// # Safety
    ///
    /// The chunk was not freed, and `header` is `Store::HEADER` of the store that made it.
    #[inline]
    pub(super) unsafe fn start(self, header: usize) -> NonNull<u8> {
        // SAFETY: the caller guarantees that the chunk was not freed and that `header` is the `HEADER` of its store.
        // `make` gives a chunk more bytes than that.
        unsafe { self.0.cast::<u8>().add(header) }
    }

    /// Returns the address of the gap, before which the last block must end.
    ///
    /// # Safety
    ///
    /// The chunk was not freed, `size` is its size, and `gap` is `Store::GAP` of the store that made it.
    #[inline]
    pub(super) unsafe fn end(self, size: usize, gap: usize) -> NonNull<u8> {
        // SAFETY: the caller guarantees that the chunk was not freed and has `size` bytes, and that `gap` is the `GAP`
        // of its store. `make` gives a chunk more bytes than that.
        unsafe { self.0.cast::<u8>().add(size - gap) }
    }
}

/// The state that an arena and its scopes share: the base allocator, the limit, and one spare chunk.
pub(super) struct Store<const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `limit - left` is the sum of the sizes of all chunks that were made and not freed, and of the bytes of the
    //    running requests to the allocator. It is not negative.
    // 2. `spare` was in an arena's list, is in none now, and was not freed.
    alloc: A,
    /// The number of bytes left within the limit. Negative if the limit was set below the allocated bytes.
    left: Cell<isize>,
    /// The limit in bytes, or `isize::MAX` for none.
    limit: Cell<isize>,
    /// The size of a chunk for the whole next round, which `Bump::reset` sets, or 0.
    wanted: Cell<usize>,
    spare: Cell<Option<Chunk>>,
}

/// A list of chunks to be freed. If the allocator panics for one of them, dropping this frees the others.
struct Unused<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. The chunks of the list are of `store` and in no arena's list. Neither they nor blocks in them are used again.
    store: &'a Store<MIN_ALIGN, A>,
    list: Option<Chunk>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Unused<'_, MIN_ALIGN, A> {
    /// Takes the first chunk off the list.
    #[inline]
    fn next(&mut self) -> Option<(Chunk, Header)> {
        let chunk = self.list?;
        // SAFETY: the chunk is in the list, so it was not freed (each chunk leaves the list before it is freed).
        let header = unsafe { chunk.header() };
        self.list = header.prev;
        Some((chunk, header))
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Unused<'_, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        while let Some((chunk, _)) = self.next() {
            // SAFETY: the chunk is of this store, in no arena's list and not used again (invariant 1), and `next` took
            // it off this list.
            unsafe { self.store.free(chunk) };
        }
    }
}

/// Bytes that are counted before the allocator is called, so that an allocator that re-enters the arena cannot exceed
/// the limit. Dropping this subtracts them again, also if the allocator panics.
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
        assert!(MIN_ALIGN.is_power_of_two(), "`MIN_ALIGN` must be a power of two");
        assert!(MIN_ALIGN <= arithmetic::MAX_MIN_ALIGN, "`MIN_ALIGN` must be at most 64");
        if MIN_ALIGN > 16 { MIN_ALIGN } else { 16 }
    };

    /// The number of bytes in front of a chunk's first block.
    pub(super) const HEADER: usize = arithmetic::up(size_of::<Header>(), Self::ALIGN);

    /// The number of bytes at the end of a chunk that are in no block, so that no block ends with its chunk.
    pub(super) const GAP: usize = Self::ALIGN;

    /// The number of bytes of a chunk that are not for blocks.
    pub(super) const OVERHEAD: usize = Self::HEADER + Self::GAP;

    /// The size of the first chunk of an arena that has no limit.
    pub(super) const FIRST: usize = arithmetic::up(arithmetic::FIRST_CHUNK, Self::ALIGN);

    pub(super) const fn new(alloc: A) -> Self {
        const { assert!(Self::HEADER.is_multiple_of(MIN_ALIGN) && Self::FIRST > Self::OVERHEAD) };
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

    /// Returns the number of bytes of all chunks.
    #[inline]
    pub(super) fn held(&self) -> usize {
        (self.limit.get() - self.left.get()).cast_unsigned()
    }

    /// Returns whether there is no chunk and no limit.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        // By invariant 1, `left` is at most `limit`, and less if there is a chunk. So it is `isize::MAX` only without
        // both.
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

    /// Counts `size` bytes that are about to be requested from the allocator. Returns `None` if the limit does not
    /// allow them.
    #[inline(always)]
    fn reserve(&self, size: usize) -> Option<Reserved<'_>> {
        let left = self.left.get().checked_sub(size.cast_signed()).filter(|left| *left >= 0)?;
        self.left.set(left);
        Some(Reserved { left: &self.left, size })
    }

    /// Allocates a chunk, which has no blocks and is in no list, and returns it with its size. Its header is written
    /// when it is put into a list.
    ///
    /// `size` is a multiple of `ALIGN` and greater than `OVERHEAD`.
    // Inlined, so that the size of a first chunk is a constant: `dwell-bench -- bump --workload creation`.
    #[inline(always)]
    pub(super) fn make(&self, size: usize) -> Option<(Chunk, usize)> {
        debug_assert!(size > Self::OVERHEAD && size.is_multiple_of(Self::ALIGN));
        let layout = Layout::from_size_align(size, Self::ALIGN).ok()?;
        let reserved = self.reserve(size)?;
        let block = self.alloc.allocate(layout).ok()?.cast::<u8>();
        if !arithmetic::ends_low(block.addr().get(), size) {
            // SAFETY: this allocator just returned the block for this layout.
            unsafe { self.alloc.deallocate(block, layout) };
            return None;
        }
        mem::forget(reserved);
        Some((Chunk(block.cast()), size))
    }

    /// Allocates a chunk for small blocks: one of the usual size if possible, otherwise one of `least` bytes.
    ///
    /// `current` is the size of the chunk that is full, if any.
    pub(super) fn obtain(&self, least: usize, current: Option<usize>) -> Option<(Chunk, usize)> {
        let left = usize::try_from(self.left.get()).unwrap_or(0);
        let size = arithmetic::next_chunk(least, current, left, Self::ALIGN);
        if size > least
            && let Some(chunk) = self.make(size)
        {
            return Some(chunk);
        }
        self.make_least(least)
    }

    /// Allocates the chunk for the whole round that `set_wanted` asked for, if it has at least `least` bytes.
    ///
    /// The allocator is asked only once, because it would probably refuse the same size again.
    pub(super) fn make_wanted(&self, least: usize) -> Option<(Chunk, usize)> {
        if self.wanted.get() < least { None } else { self.make(self.wanted.take()) }
    }

    /// Allocates a chunk of `least` bytes, and frees the spare chunk for it if necessary.
    pub(super) fn make_least(&self, least: usize) -> Option<(Chunk, usize)> {
        self.make(least).or_else(|| if self.free_spare() { self.make(least) } else { None })
    }

    /// Frees the spare chunk. Returns whether there was one.
    pub(super) fn free_spare(&self) -> bool {
        let spare = self.spare.take();
        if let Some(spare) = spare {
            // SAFETY: the spare chunk is of this store, was in a list, is in none and was not freed (invariant 2).
            // `take` removed it from `spare`, so it is not used again.
            unsafe { self.free(spare) };
        }
        spare.is_some()
    }

    /// Takes the spare chunk if it has at least `least` bytes, and returns it with its size.
    pub(super) fn take_spare(&self, least: usize) -> Option<(Chunk, usize)> {
        let spare = self.spare.get()?;
        // SAFETY: the spare chunk was in a list and was not freed (invariant 2).
        let Header { size, .. } = unsafe { spare.header() };
        if size < least {
            return None;
        }
        self.spare.set(None);
        Some((spare, size))
    }

    /// Grows a chunk, which may move it. On `None` the chunk is unchanged.
    ///
    /// # Safety
    ///
    /// The chunk is of this store, was in a list and is in none while this runs, and was not freed. If a chunk is
    /// returned, the old one and pointers into it are not used again. `size` is a multiple of `ALIGN` and not less than
    /// the chunk's.
    pub(super) unsafe fn grow(&self, chunk: Chunk, size: usize) -> Option<Chunk> {
        // SAFETY: the caller guarantees that the chunk was in a list, so its header was written, and was not freed.
        let Header { size: old_size, .. } = unsafe { chunk.header() };
        let new = Layout::from_size_align(size, Self::ALIGN).ok()?;
        let old = Layout::from_size_align(old_size, Self::ALIGN).ok()?;
        let reserved = self.reserve(size - old_size)?;
        // SAFETY: `make` or `grow` allocated the chunk from this allocator with the layout `old`, and `size` is not
        // less than `old_size`.
        let block = unsafe { self.alloc.grow(chunk.0.cast(), old, new) }.ok()?;
        mem::forget(reserved);
        Some(Chunk(block.cast()))
    }

    /// Returns a chunk to the allocator.
    ///
    /// # Safety
    ///
    /// The chunk is of this store, was in a list and is in none, and was not freed. Neither it nor a block in it is
    /// used again.
    pub(super) unsafe fn free(&self, chunk: Chunk) {
        // SAFETY: the caller guarantees that the chunk was in a list, so its header was written, and was not freed.
        let Header { size, .. } = unsafe { chunk.header() };
        // SAFETY: `make` or `grow` allocated the chunk with this size and alignment, so they form a valid layout.
        let layout = unsafe { Layout::from_size_align_unchecked(size, Self::ALIGN) };
        // SAFETY: this allocator returned the chunk for this layout, and it is not used again.
        unsafe { self.alloc.deallocate(chunk.0.cast(), layout) };
        // The bytes count until here, because the allocator works on the chunk until it returns.
        self.left.set(self.left.get() + size.cast_signed());
    }

    /// Frees a list of chunks.
    ///
    /// # Safety
    ///
    /// The chunks are of this store and in no arena's list. Neither they nor blocks in them are used again.
    pub(super) unsafe fn free_all(&self, list: Option<Chunk>) {
        let mut unused = Unused { store: self, list };
        while let Some((chunk, _)) = unused.next() {
            // SAFETY: the chunk is of this store, in no arena's list and not used again (the caller guarantees it), and
            // `next` took it off this list.
            unsafe { self.free(chunk) };
        }
    }

    /// Frees the chunks of a list except the largest, which becomes the spare chunk if it is larger than the current
    /// one.
    ///
    /// # Safety
    ///
    /// As for `free_all`: the chunks are of this store and in no arena's list, and blocks in them are not used again.
    pub(super) unsafe fn recycle(&self, list: Option<Chunk>) {
        let mut unused = Unused { store: self, list };
        while let Some((chunk, header)) = unused.next() {
            // SAFETY: the spare chunk was in a list and was not freed (invariant 2).
            let spare_size = self.spare.get().map_or(0, |spare| unsafe { spare.header() }.size);
            // A dedicated chunk that grew may end above `TOP`, where no small blocks can be.
            let replaces = header.size > spare_size && arithmetic::ends_low(chunk.0.addr().get(), header.size);
            let unused = if replaces { self.spare.replace(Some(chunk)) } else { Some(chunk) };
            if let Some(unused) = unused {
                // SAFETY: the chunk is of this store. It was the spare chunk or in the list, and is in neither now. It
                // is not used again.
                unsafe { self.free(unused) };
            }
        }
    }
}

//! An arena: values of any type, side by side in large chunks and freed together.
//!
//! A [`Bump`] takes large chunks from an allocator and hands out their bytes one after the other. An allocation is an
//! addition and a comparison. All values are freed at once, when the arena is dropped or reset or a scope ends.
//!
//! ```
//! use dwell::Bump;
//!
//! struct Node<'a> {
//!     value: u32,
//!     next: Option<&'a Node<'a>>,
//! }
//!
//! let bump = Bump::new();
//! let last = bump.alloc(Node { value: 1, next: None });
//! let first = bump.alloc(Node { value: 2, next: Some(last) });
//! let name = bump.alloc_fmt(format_args!("{}, {}", first.value, first.next.unwrap().value));
//! assert_eq!(name, "2, 1");
//! ```
//!
//! To use the same memory repeatedly, [`reset`](Bump::reset) the arena. Use a [`scope`](Bump::scope) for temporary
//! values. [`bump::Vec`](Vec) and [`bump::String`](String) grow in an arena.
//!
//! ```
//! use dwell::{Bump, bump};
//!
//! let mut bump = Bump::new();
//! for request in ["a=1&b=2", "c=3"] {
//!     let pairs = bump::Vec::from_iter_in(request.split('&').filter_map(|pair| pair.split_once('=')), &bump);
//!     assert_eq!(pairs.len(), request.len().div_ceil(4));
//!     drop(pairs);
//!     bump.reset(); // frees everything and keeps the largest chunk
//! }
//! ```
//!
//! # Destructors
//!
//! The arena drops no value, and dropping a reference into it runs no destructor. Allocate values that own no other
//! memory, or let a [`bump::Box`](Box) or a [`bump::Vec`](Vec) own them, which drop their contents.
//!
//! # No memory
//!
//! If there is no memory, or if a [limit](Bump::set_allocation_limit) does not allow a chunk, a method calls
//! [`handle_alloc_error`](std_alloc::alloc::handle_alloc_error), which aborts the process. If a capacity exceeds
//! `isize::MAX` bytes, it panics. Its `try_` form returns an error in both cases.
//!
//! # When to use something else
//!
//! - Values that are allocated and freed one by one: the arena frees their bytes only as a whole. A slab reuses them.
//! - Values of one type that refer to each other by index: a `Vec`.
//!
//! # How it works
//!
//! A *chunk* is one allocation of the base allocator. A *block* is the memory of one allocation from the arena. It has
//! at least one byte. A zero-size allocation has no block: it returns an aligned pointer and takes at most padding. The
//! next block is taken from the *free range* `pos..end`. A chunk is either *shared* by several blocks or *dedicated* to
//! one block, which with its header and padding takes more than 16 KiB.
//!
//! ```text
//!  Bump                        chunk (shared)                             older chunk (dedicated)
//! ┌────────┐           ┌────────┬───────┬───────┬───┬──────────────┐     ┌────────┬──────────────┐
//! │ pos   ─┼──────┐ ┌─▶│ Header │ block │ block │ … │ free range   │  ┌─▶│ Header │ block        │
//! │ chunk ─┼──────┼─┤  └─┬──────┴───────┴───────┴───┴──────────────┘  │  └─┬──────┴──────────────┘
//! │ end   ─┼────┐ │ │    └─ prev ──────────────────▲──────────────▲───┘    └─ prev: none
//! │ chunks ┼────┼─┼─┘                              │              │
//! │ saved  │    └─┼────────────────────────────────┼──────────────┘
//! │ owner  │      └────────────────────────────────┘
//! └────────┘
//! ```
//!
//! There are three paths:
//!
//! - *Fast*, inlined: rounds `pos` up to the block's alignment, adds the block's size rounded up to `MIN_ALIGN`,
//!   compares the result with `end`, and stores it to `pos`.
//! - *Slow*, `Bump::refill`, not generic over the type: finds another free range or allocates a dedicated chunk.
//! - *Growth*, `Block::grow`: grows the block in place if it is the last one before `pos`, and otherwise copies it to a
//!   new block. The base allocator grows a dedicated chunk.
//!
//! The eight invariants are listed at [`Bump`]'s fields. Three rules complement them:
//!
//! - **Re-entrancy.** The base allocator, closures, `Clone`, iterators, `Display` and drops may use the arena that
//!   calls them. So the arena does not use values that it read before such code ran, and a chunk is in no list while
//!   the base allocator works on it. Whatever such code allocates, a live block still belongs to its owner.
//! - **Identity.** Two tests compare addresses. Both need a live block of at least one byte. A block is the last one if
//!   it ends at `pos`, because a header or a gap lies between `pos` and any block of another chunk, even if the base
//!   allocator took one chunk from a block of the other. A dedicated chunk belongs to a block if the block in its header
//!   has the same start, because two live allocations do not share an address.
//! - **Going back.** An allocation moves `pos` forward or to another chunk. Four operations move it back: the owner of
//!   the last block shrinks, frees or moves that block (to its new end, or to its start); a scope ends (to where it
//!   began, which is behind all older blocks); [`rewind`](Bump::rewind), which is unsafe; and [`reset`](Bump::reset),
//!   which borrows the arena exclusively. So the bytes of a live block never become free while its owner uses it.
//!
//! ## Why `alloc_fmt` is sound
//!
//! [`Bump::alloc_fmt`] runs `Display` implementations. They may allocate from the same arena, free and grow blocks, and
//! open scopes before, between and after the pieces of text that they write. `alloc_fmt` writes to a plain
//! [`bump::String`](String), a `Vec<u8>`:
//!
//! 1. The string begins with a block of 64 bytes, if the free range has that many (`Bump::take`); `pos` moves past them.
//!    Otherwise it begins with capacity 0 and no block. It never has a zero-size block, whose address could become that
//!    of another block: `Bump::block` returns `None` for size 0, and nothing else makes a `Block`.
//! 2. The string owns its block. The block is live and has `capacity` bytes. No `Display` has a handle to it, so none
//!    frees or shrinks it, and by the rule on going back no other operation gives its bytes to somebody else.
//! 3. A piece that does not fit calls `Block::grow`, which reads the current `pos`. If the block still ends there, the
//!    free range behind it is free, and the block grows in place, with the provenance of `pos`, which covers the whole
//!    chunk. If a `Display` allocated meanwhile, the block does not end there and is copied. The same holds while a scope
//!    is open: the arena then has no free range, and no block ends at `pos`.
//! 4. While a `Display` runs, no state of the arena is cached: the string has only its start, length and capacity, and
//!    a reference to the arena.
//! 5. At the end the string's block shrinks to its length (`Block::shrink`), or after an error or a panic it is freed
//!    (`Block::free`). Both move `pos` back only if the block still ends there, so the bytes are the block's own.
//!
//! `docs/bump.md` in the repository has the reasons for the design, the rejected designs, the measurements, and the
//! bugs of other arenas for which this one has tests.

#![expect(clippy::mut_from_ref, reason = "each call of an allocating method returns another value")]
#![expect(
    clippy::inline_always,
    reason = "the fast path is a few instructions: it is compiled where it is called and nowhere else"
)]

mod alloc_slice;
mod alloc_value;
mod allocator;
mod arithmetic;
mod block;
mod boxed;
mod buffer;
mod capacity;
mod chunk;
mod chunks;
mod drain;
mod extend;
mod format;
mod forward;
mod gap;
mod into_iter;
mod macros;
#[cfg(feature = "std")]
mod pool;
mod scope;
mod string;
mod thin;
mod unmanaged;
mod vec;

pub use self::alloc_slice::AllocOrInitError;
pub use self::boxed::Box;
pub use self::buffer::First;
pub use self::chunks::{Chunks, ChunksRaw};
pub use self::drain::{Drain, ExtractIf, Splice};
pub use self::into_iter::IntoIter;
#[doc(inline)]
pub use self::macros::{format, try_format, try_vec, vec};
#[cfg(feature = "std")]
pub use self::pool::{BumpPool, BumpPoolGuard};
pub use self::scope::{Checkpoint, Scope};
pub use self::string::{DrainChars, FromUtf8Error, String};
pub use self::thin::Thin;
pub use self::unmanaged::UnmanagedVec;
pub use self::vec::Vec;

use self::arithmetic::Typed;
use self::capacity::NoMemory;
use self::chunk::{Chunk, Header, Kind, Store};
use crate::alloc::{AllocError, Allocator, Global};
use core::alloc::Layout;
use core::cell::Cell;
use core::num::NonZero;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};

/// An arena that allocates upwards, in steps of `MIN_ALIGN` bytes.
///
/// ```
/// use dwell::Bump;
///
/// let mut bump = Bump::new(); // no allocation yet
/// let numbers: &mut [u32] = bump.alloc_slice_copy(&[1, 2, 3]);
/// numbers[0] = 7;
/// let text: &str = bump.alloc_str("seven");
/// assert_eq!((numbers[0], text), (7, "seven"));
/// bump.reset(); // `numbers` and `text` can not be used after this
/// ```
///
/// # The parameters
///
/// - `MIN_ALIGN`: a power of two up to 64. The number of bytes that a block takes is a multiple of it. A block whose
///   alignment is at most `MIN_ALIGN` needs no more than an addition and a comparison. 8 suits most programs, and 1
///   suits programs with many strings of odd lengths:
///
/// ```
/// use dwell::Bump;
///
/// let bytes = Bump::<1>::with_min_align();
/// let (a, b) = (bytes.alloc_str("abc"), bytes.alloc_str("d"));
/// assert_eq!(b.as_ptr().addr() - a.as_ptr().addr(), 3);
/// ```
///
/// - `A`: the base allocator, which allocates the chunks. See [`alloc`](crate::alloc). It may use the arena that calls
///   it, and it may panic. If its `grow` panics, the old chunk must still be there, as std's `Vec` requires. The default
///   `grow` of the trait violates this if `deallocate` panics after it freed the block.
// `pos` comes first, so that two live arenas never have the same address: an arena that lies in this one, in its allocator,
// begins behind `pos`. `chunk` separates `pos` from `end`. If they were adjacent, aarch64 would load them as a pair, and that
// load would wait for the previous allocation's store to `pos`.
#[repr(C)]
pub struct Bump<const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. The free range `pos..end` is in one allocation. Its bytes are in no block, and only this arena hands them out.
    //    `pos` and `end` are multiples of `MIN_ALIGN`, and their provenance covers the whole allocation.
    // 2. `chunks` is a list of the chunks that this arena took from the store, newest first. A chunk is in the list of
    //    one arena, is the store's spare chunk, or is held by a running function of this module.
    // 3. If `chunk` is `Some`, it is a shared chunk of the list, and the free range is its end. If it is `None`, the
    //    free range is empty, or the arena is a scope's and the outer arena lent the range to it.
    // 4. In a shared chunk of the list that is not `chunk`, the bytes from `used` on are in no block of this arena.
    //    Either nothing hands them out, or they are lent to one scope, which alone hands them out, or the chunk is
    //    saved and they may become the free range again.
    // 5. While the arena is borrowed, chunks of the list are not freed, and shared ones do not move. A dedicated chunk
    //    has one block and no free range.
    // 6. The free range ends at `arithmetic::TOP` or below, and before the gap of its chunk. A block is behind the header
    //    of its chunk and ends before the gap.
    // 7. Code reaches the arena of a scope only by `&`, through a guard that borrows the outer arena.
    // 8. `saved` is a list of shared chunks of `chunks` other than `chunk`, each at most once. Their free bytes are not
    //    lent and are at least a word. The last word of each holds the next saved chunk or `None`.
    pos: Cell<NonNull<u8>>,
    chunk: Cell<Option<Chunk>>,
    end: Cell<NonNull<u8>>,
    chunks: Cell<Option<Chunk>>,
    /// Chunks with free bytes that the arena left to enter the free range of an ended scope or of another saved chunk.
    /// The one that it left last comes first.
    saved: Cell<Option<Chunk>>,
    owner: Owner<MIN_ALIGN, A>,
}

/// The owner of the store.
enum Owner<const MIN_ALIGN: usize, A: Allocator> {
    Arena(Store<MIN_ALIGN, A>),
    /// This is the arena of a scope. The outer arena owns the store and outlives this one.
    Scope(NonNull<Store<MIN_ALIGN, A>>),
}

/// The free range of an arena, and the chunk of the arena whose end it is.
#[derive(Clone, Copy, Debug)]
struct FreeRange {
    pos: NonNull<u8>,
    chunk: Option<Chunk>,
    end: NonNull<u8>,
}

impl FreeRange {
    /// Returns whether a block of this layout fits.
    fn fits(self, layout: Layout, min_align: usize) -> bool {
        let (pos, end) = (self.pos.addr().get(), self.end.addr().get());
        arithmetic::place(pos, end, layout.size(), layout.align(), min_align).is_some()
    }
}

// SAFETY: an arena owns its chunks and its allocator (`A: Send`), and other code reaches them only by borrowing the
// arena. The arena of a scope points to the store of another arena, but it is never moved out of its guard (invariant
// 7), which is not `Send`.
unsafe impl<const MIN_ALIGN: usize, A: Allocator + Send> Send for Bump<MIN_ALIGN, A> {}

// Each function restores the invariants before it runs other code, so they hold if that code panics.
impl<const MIN_ALIGN: usize, A: Allocator + UnwindSafe> UnwindSafe for Bump<MIN_ALIGN, A> {}
impl<const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> RefUnwindSafe for Bump<MIN_ALIGN, A> {}

impl Bump {
    /// Creates an arena without chunks.
    #[inline]
    pub const fn new() -> Self {
        Self::new_in(Global)
    }

    /// Creates an arena whose first chunk has capacity for `bytes`.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::with_capacity(10_000);
    /// let before = bump.allocated_bytes();
    /// bump.alloc([0_u8; 10_000]);
    /// assert_eq!(bump.allocated_bytes(), before);
    /// ```
    ///
    /// # Panics
    ///
    /// When `bytes` exceeds `isize::MAX`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self::with_capacity_in(bytes, Global)
    }

    /// [`with_capacity`](Self::with_capacity) that reports a failed allocation.
    pub fn try_with_capacity(bytes: usize) -> Result<Self, AllocError<()>> {
        Self::try_with_capacity_in(bytes, Global).map_err(|error| error.map(drop))
    }
}

impl<const MIN_ALIGN: usize> Bump<MIN_ALIGN> {
    /// Creates an arena without chunks, with the minimum alignment of its type.
    #[inline]
    pub const fn with_min_align() -> Self {
        Self::new_in(Global)
    }
}

/// Constructors.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Creates an arena without chunks, which allocates them from `alloc`.
    #[inline]
    pub const fn new_in(alloc: A) -> Self {
        Self::with_range(Self::EMPTY, Owner::Arena(Store::new(alloc)))
    }

    /// [`with_capacity`](Bump::with_capacity) with an allocator.
    ///
    /// # Panics
    ///
    /// When `bytes` exceeds `isize::MAX`.
    pub fn with_capacity_in(bytes: usize, alloc: A) -> Self {
        let no = NoMemory::of(Layout::new::<u8>(), bytes, 0);
        Self::try_with_capacity_in(bytes, alloc).unwrap_or_else(|_| no.abort())
    }

    /// [`with_capacity_in`](Self::with_capacity_in) that reports a failed allocation and returns the allocator in the
    /// error.
    pub fn try_with_capacity_in(bytes: usize, alloc: A) -> Result<Self, AllocError<Self>> {
        let bump = Self::new_in(alloc);
        let least = arithmetic::least_chunk(bytes, 1, Self::OVERHEAD, Self::CHUNK_ALIGN);
        match least.and_then(|least| bump.store().make(least.max(Store::<MIN_ALIGN, A>::FIRST))) {
            Some(chunk) => {
                // SAFETY: the chunk is new, so it is in no list and has no block. The size is its own.
                unsafe { bump.install(chunk) };
                Ok(bump)
            }
            None => Err(NoMemory::of(Layout::new::<u8>(), bytes, 0).error(bump)),
        }
    }
}

/// The free range and the list of chunks.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The alignment of chunks, in bytes.
    pub(crate) const CHUNK_ALIGN: usize = Store::<MIN_ALIGN, A>::ALIGN;

    /// The number of bytes in front of a chunk's first block.
    const HEADER: usize = Store::<MIN_ALIGN, A>::HEADER;

    /// The number of bytes of a chunk behind its last block.
    const GAP: usize = Store::<MIN_ALIGN, A>::GAP;

    /// The number of bytes of a chunk that are not for blocks.
    const OVERHEAD: usize = Store::<MIN_ALIGN, A>::OVERHEAD;

    /// The range without bytes. Its address is not null and a multiple of `MIN_ALIGN`. No block ends there: a block
    /// lies behind a chunk's header, at a higher address.
    const EMPTY: FreeRange = {
        let dangling = NonNull::new(ptr::without_provenance_mut(MIN_ALIGN)).expect("a power of two");
        FreeRange { pos: dangling, chunk: None, end: dangling }
    };

    #[inline]
    const fn with_range(range: FreeRange, owner: Owner<MIN_ALIGN, A>) -> Self {
        Self {
            pos: Cell::new(range.pos),
            chunk: Cell::new(range.chunk),
            end: Cell::new(range.end),
            chunks: Cell::new(None),
            saved: Cell::new(None),
            owner,
        }
    }

    #[inline]
    fn store(&self) -> &Store<MIN_ALIGN, A> {
        match &self.owner {
            Owner::Arena(store) => store,
            // SAFETY: this is the arena of a scope. Its guard borrows the outer arena, which owns the store (invariant
            // 7), so the store is not moved, dropped or borrowed exclusively.
            Owner::Scope(store) => unsafe { store.as_ref() },
        }
    }

    #[inline]
    fn range(&self) -> FreeRange {
        FreeRange { pos: self.pos.get(), chunk: self.chunk.get(), end: self.end.get() }
    }

    /// Continues in another free range, which is of this arena and in no block.
    #[inline]
    fn enter(&self, range: FreeRange) {
        self.pos.set(range.pos);
        self.chunk.set(range.chunk);
        self.end.set(range.end);
    }

    /// Stores `pos` in the header of the current chunk, before the arena leaves the chunk.
    #[inline]
    fn park(&self) {
        if let Some(chunk) = self.chunk.get() {
            // SAFETY: `chunk` is a shared chunk of the list, so it is not freed (invariants 3 and 5), and its bytes
            // from `pos` on are the free range, which is in no block (invariants 1 and 3).
            unsafe { chunk.set_used(self.pos.get()) };
        }
    }

    /// Returns the bytes from `used` to the end of a shared chunk that the arena left.
    ///
    /// # Safety
    ///
    /// `chunk` is a shared chunk of this arena's list, and the bytes from `used` on are not lent to a scope.
    #[inline]
    unsafe fn range_of(chunk: Chunk) -> FreeRange {
        // SAFETY: chunks of the list are not freed (invariant 5).
        let header = unsafe { chunk.header() };
        // SAFETY: the chunk was not freed, `header.size` is its size, and the store that made it has this `GAP`.
        let end = unsafe { chunk.end(header.size, Self::GAP) };
        FreeRange { pos: header.used, chunk: Some(chunk), end }
    }

    /// Saves the chunk of a free range that the arena leaves, if the range has enough bytes for the link. A range
    /// without a chunk is lost.
    ///
    /// # Safety
    ///
    /// If the range has a chunk, that is a shared chunk of this arena's list and not saved yet. The range is the end of
    /// that chunk, and its bytes are in no block and not lent to a scope. The arena enters another range before it
    /// allocates.
    #[cold]
    #[inline(never)]
    unsafe fn save(&self, range: FreeRange) {
        let Some(chunk) = range.chunk else { return };
        // SAFETY: the caller guarantees that the chunk is shared and in the list, so it was not freed, and that its
        // bytes from `pos` on are in no block.
        unsafe { chunk.set_used(range.pos) };
        if range.end.addr().get() - range.pos.addr().get() >= size_of::<Option<Chunk>>() {
            // SAFETY: the range is the end of a chunk that was not freed.
            let link = unsafe { Self::link(range.end) };
            // SAFETY: the check above found that the range has the bytes of a link, and they are in no block. A chunk
            // and its size are multiples of `CHUNK_ALIGN`, so its end, and thus the link, is aligned for a pointer.
            unsafe { link.write(self.saved.get()) };
            self.saved.set(Some(chunk));
        }
    }

    /// Returns the free range of a saved chunk, and the next saved chunk.
    ///
    /// # Safety
    ///
    /// `chunk` is a saved chunk of this arena.
    unsafe fn saved_range(chunk: Chunk) -> (FreeRange, Option<Chunk>) {
        // SAFETY: a saved chunk is a shared one of the list, and its free bytes are not lent (invariant 8).
        let range = unsafe { Self::range_of(chunk) };
        // SAFETY: the range is the end of a chunk of the list, which was not freed (invariant 5).
        let link = unsafe { Self::link(range.end) };
        // SAFETY: the last word of a saved chunk holds the next saved chunk (invariant 8).
        (range, unsafe { link.read() })
    }

    /// Returns the address of the link in a saved chunk that ends at `end`.
    ///
    /// # Safety
    ///
    /// `end` is the end of a chunk that was not freed.
    unsafe fn link(end: NonNull<u8>) -> NonNull<Option<Chunk>> {
        // SAFETY: the caller guarantees that `end` is the end of a chunk, which has more bytes than its header and thus
        // than a link.
        unsafe { end.cast::<Option<Chunk>>().sub(1) }
    }

    /// Makes a chunk the newest of the list. The free range becomes all of its bytes behind the header.
    ///
    /// # Safety
    ///
    /// The chunk is of this arena's store, has `size` bytes, is in no list, and has no live block.
    #[inline]
    unsafe fn install(&self, (chunk, size): (Chunk, usize)) {
        // SAFETY: the chunk is in no list, so it was not freed; the store has this `HEADER`.
        let start = unsafe { chunk.start(Self::HEADER) };
        // SAFETY: the chunk was not freed and has `size` bytes, and the store has this `GAP`.
        let end = unsafe { chunk.end(size, Self::GAP) };
        self.park();
        // SAFETY: the caller guarantees that the chunk is of this store, has `size` bytes and is in no list. It has no
        // block, so none is behind `start`.
        unsafe { self.list(chunk, Header { prev: None, size, used: start, kind: Kind::Shared }) };
        self.enter(FreeRange { pos: start, chunk: Some(chunk), end });
    }

    /// Makes a chunk the newest of the list, dedicated to the first block of this layout in it. Returns that block.
    ///
    /// # Safety
    ///
    /// The chunk is of this arena's store, has `size` bytes, is in no list, and has no live block except that one, which
    /// lies in the chunk before its gap.
    unsafe fn dedicate(&self, (chunk, size): (Chunk, usize), layout: Layout) -> NonNull<u8> {
        // SAFETY: the chunk is in no list, so it was not freed; the store has this `HEADER`.
        let start = unsafe { chunk.start(Self::HEADER) };
        let padding = arithmetic::padding(start.addr().get(), layout.align());
        // SAFETY: the caller guarantees that the block, which begins behind this padding, lies in the chunk.
        let block = unsafe { start.add(padding) };
        // SAFETY: the caller guarantees that the block, which has `layout.size()` bytes, lies in the chunk.
        let used = unsafe { block.add(layout.size()) };
        // SAFETY: the caller guarantees that the chunk is of this store, has `size` bytes and is in no list, and that the
        // block, which ends at `used`, is its only one.
        unsafe { self.list(chunk, Header { prev: None, size, used, kind: Kind::Dedicated { block } }) };
        block
    }

    /// Makes a chunk the newest of the list. `header.prev` is ignored.
    ///
    /// # Safety
    ///
    /// The chunk is of this arena's store and in no list, and `header.size` is its size. Blocks in it end at `header.used`
    /// or before.
    #[inline]
    unsafe fn list(&self, chunk: Chunk, header: Header) {
        // SAFETY: the chunk is in no list, so it was not freed, and the caller guarantees its size.
        unsafe { chunk.set_header(Header { prev: self.chunks.get(), ..header }) };
        self.chunks.set(Some(chunk));
    }

    /// Returns `pointer` with another address of its allocation.
    ///
    /// # Safety
    ///
    /// `addr` is not 0.
    #[inline]
    unsafe fn at(pointer: NonNull<u8>, addr: usize) -> NonNull<u8> {
        debug_assert!(addr != 0);
        // SAFETY: the caller guarantees that the address is not 0.
        let addr = unsafe { NonZero::new_unchecked(addr) };
        pointer.with_addr(addr)
    }
}

/// The fast path and the slow path.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Moves `pos` to the address `after`. Returns the block, which is the last `taken` bytes before `after`.
    ///
    /// # Safety
    ///
    /// `after` is a multiple of `MIN_ALIGN` and at most `end`. The block begins at `pos` or behind it, or is the last
    /// block before `pos`, which grows.
    #[inline]
    unsafe fn advance(&self, after: usize, taken: usize) -> NonNull<u8> {
        debug_assert!(after <= self.end.get().addr().get() && after.is_multiple_of(MIN_ALIGN) && taken < after);
        let pos = self.pos.get();
        // SAFETY: `after` is not 0: it is not less than the block's beginning.
        self.pos.set(unsafe { Self::at(pos, after) });
        // SAFETY: the block's beginning is not 0: it is `pos`, which is not null, or behind it, or in a chunk.
        unsafe { Self::at(pos, after - taken) }
    }

    /// Takes a block for a type that is not zero-sized from the free range.
    #[inline(always)]
    fn take_typed<T>(&self) -> Option<NonNull<u8>> {
        if !Typed::<MIN_ALIGN, T>::IS_SMALL {
            return self.take(Layout::new::<T>());
        }
        let after = Typed::<MIN_ALIGN, T>::place(self.pos.get().addr().get());
        if after > self.end.get().addr().get() {
            return None;
        }
        // SAFETY: `after` is the end of a block at `pos` or behind it, rounded up to `MIN_ALIGN`, and at most `end` (the
        // check above).
        Some(unsafe { self.advance(after, Typed::<MIN_ALIGN, T>::TAKEN) })
    }

    /// Takes a block from the free range. For size 0 the result is an aligned pointer at or behind `pos`, and no block.
    #[inline]
    fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        let (pos, end) = (self.pos.get().addr().get(), self.end.get().addr().get());
        let after = arithmetic::place(pos, end, layout.size(), layout.align(), MIN_ALIGN)?;
        // SAFETY: `place` returned the end of a block at `pos` or behind it, rounded up to `MIN_ALIGN` and at most `end`.
        Some(unsafe { self.advance(after, arithmetic::taken(layout.size(), MIN_ALIGN)) })
    }

    /// Takes a block of `size` bytes for elements of type `T` from the free range.
    #[inline(always)]
    fn take_slice<T>(&self, size: usize) -> Option<NonNull<u8>> {
        let (pos, end) = (self.pos.get().addr().get(), self.end.get().addr().get());
        if Typed::<MIN_ALIGN, T>::IS_ALIGNED {
            let after = arithmetic::place_aligned(pos, end, size, MIN_ALIGN)?;
            // SAFETY: `place_aligned` returned the end of a block at `pos`, rounded up to `MIN_ALIGN` and at most `end`.
            return Some(unsafe { self.advance(after, after - pos) });
        }
        let after = arithmetic::place(pos, end, size, align_of::<T>(), MIN_ALIGN)?;
        // SAFETY: `place` returned the end of a block at `pos` or behind it, rounded up to `MIN_ALIGN` and at most `end`.
        Some(unsafe { self.advance(after, arithmetic::taken(size, MIN_ALIGN)) })
    }

    /// Allocates a block by the fast path or the slow path.
    #[inline]
    fn take_or_refill(&self, layout: Layout) -> Option<NonNull<u8>> {
        match self.take(layout) {
            Some(block) => Some(block),
            None => self.refill(layout),
        }
    }

    /// The slow path: allocates a block that does not fit in the free range.
    ///
    /// The base allocator may re-enter this arena. So each step reads the arena's state again, and a chunk that the
    /// allocator returns first enters the list.
    #[cold]
    #[inline(never)]
    fn refill(&self, layout: Layout) -> Option<NonNull<u8>> {
        // The first chunk of an arena has a constant size. Without this case, a short-lived arena took 53 more
        // instructions, of 219, in the prototype: `cargo run --release -p dwell-bench -- bump --workload creation --ir`
        if self.store().is_fresh()
            && layout.align() <= MIN_ALIGN
            && (1..=Store::<MIN_ALIGN, A>::FIRST - Self::OVERHEAD).contains(&layout.size())
            && let Some(chunk) = self.store().make(Store::<MIN_ALIGN, A>::FIRST)
        {
            // SAFETY: the chunk is new, so it is in no list and has no block. The size is its own.
            unsafe { self.install(chunk) };
            let taken = arithmetic::up(layout.size(), MIN_ALIGN);
            // SAFETY: the block begins at `pos`. It fits: the chunk's bytes behind the header are a multiple of
            // `MIN_ALIGN`, and at least the block's size.
            return Some(unsafe { self.advance(self.pos.get().addr().get() + taken, taken) });
        }
        self.refill_more(layout)
    }

    /// The general part of [`refill`](Self::refill): the arena has a chunk or a limit, or needs a first chunk of
    /// another size.
    #[cold]
    #[inline(never)]
    fn refill_more(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            // Only the padding did not fit. A zero-size value needs none.
            return NonNull::new(ptr::without_provenance_mut(layout.align()));
        }
        let least = arithmetic::least_chunk(layout.size(), layout.align(), Self::OVERHEAD, Self::CHUNK_ALIGN)?;
        // If a small block fits in no saved chunk, all are abandoned below. A large one leaves them as they are, so it
        // tries only a few: otherwise each would try all of them again.
        let tries = if arithmetic::is_dedicated(least) { 8 } else { usize::MAX };
        if let Some(block) = self.take_saved(layout, tries) {
            return Some(block);
        }
        let chunk = if let Some(chunk) = self.store().take_spare(least).or_else(|| self.store().make_wanted(least)) {
            chunk
        } else if arithmetic::is_dedicated(least) {
            let chunk = self.store().make_least(least)?;
            // SAFETY: the chunk is new, so it is in no list and has no block. The size is its own, and at least what
            // `least_chunk` returned for the block.
            return Some(unsafe { self.dedicate(chunk, layout) });
        } else {
            // SAFETY: `chunk` is in the list (invariant 3), and chunks of the list are not freed (invariant 5).
            let current = self.chunk.get().map(|chunk| unsafe { chunk.header() }.size);
            self.store().obtain(least, current)?
        };
        // The block fits in no saved chunk. The arena abandons them, as it abandons the current chunk.
        self.saved.set(None);
        // SAFETY: the chunk is new or was the spare one, so it is in no list and has no live block. The size is its
        // own.
        unsafe { self.install(chunk) };
        self.take(layout)
    }

    /// Takes a block from the first saved chunk in which it fits, of the first `tries` ones. The arena continues in that
    /// chunk and saves the current one.
    ///
    /// The arena abandons the saved chunks before that one, as it does with any chunk in which a block does not fit.
    fn take_saved(&self, layout: Layout, tries: usize) -> Option<NonNull<u8>> {
        let mut rest = self.saved.get();
        for _ in 0..tries {
            let saved = rest?;
            // SAFETY: the list `saved` has only saved chunks of this arena (invariant 8).
            let (range, next) = unsafe { Self::saved_range(saved) };
            if range.fits(layout, MIN_ALIGN) {
                self.saved.set(next);
                // SAFETY: the range is this arena's free range. Its chunk, if any, is a shared one of the list and not
                // saved, and the range is that chunk's end (invariants 1, 3 and 8). The arena enters another range in
                // the next line.
                unsafe { self.save(self.range()) };
                self.enter(range);
                return self.take(layout);
            }
            rest = next;
        }
        None
    }
}

/// The arena as a whole.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Frees all blocks and keeps the largest chunk, or the only one and a spare one that a scope has left.
    ///
    /// If the allocated bytes do not fit in that chunk, the next new chunk is large enough for them, unless the allocator or
    /// the limit refuses such a chunk. An arena that is repeatedly filled and reset ends up with one chunk and no longer
    /// calls its allocator.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let mut bump = Bump::new();
    /// for line in ["a = 1", "b = 2"] {
    ///     let words = bump.alloc_iter(line.split(" = "));
    ///     assert_eq!(words.len(), 2);
    ///     bump.reset();
    /// }
    /// ```
    #[inline]
    pub fn reset(&mut self) {
        if let Some(chunk) = self.chunk.get()
            && self.chunks.get() == Some(chunk)
            // SAFETY: chunks of the list are not freed (invariant 5).
            && unsafe { chunk.header() }.prev.is_none()
        {
            // This is the only chunk, and the free range is its end. Now all its bytes are free.
            // SAFETY: the chunk is in the list, so it was not freed (invariant 5), and the store that made it has this
            // `HEADER`.
            self.pos.set(unsafe { chunk.start(Self::HEADER) });
            return;
        }
        self.reset_chunks();
    }

    /// [`reset`](Self::reset) of an arena that does not have exactly one chunk, or whose only chunk is dedicated.
    #[cold]
    #[inline(never)]
    fn reset_chunks(&mut self) {
        let used: usize = self.chunks().map(<[_]>::len).sum();
        let list = self.chunks.take();
        self.enter(Self::EMPTY);
        self.saved.set(None);
        // SAFETY: the chunks are of this arena's store, `take` emptied the arena's list, and the exclusive borrow ends
        // the use of all blocks.
        unsafe { self.store().recycle(list) };
        if let Some(chunk) = self.store().take_spare(0) {
            // SAFETY: the spare chunk is of this store, is in no list and has no live block. The size is its own.
            unsafe { self.install(chunk) };
            if used > self.end.get().addr().get() - self.pos.get().addr().get() {
                self.store().set_wanted(arithmetic::chunk_for_round(used, Self::OVERHEAD, Self::CHUNK_ALIGN));
            }
        }
    }

    /// Returns the number of bytes that the arena and its scopes hold from the allocator, used or not.
    pub fn allocated_bytes(&self) -> usize {
        self.store().held()
    }

    /// Returns the [limit](Self::set_allocation_limit) in bytes, if there is one. A limit of `isize::MAX` or more is none.
    pub fn allocation_limit(&self) -> Option<usize> {
        self.store().limit()
    }

    /// Limits the bytes that the arena holds from its allocator. `None` removes the limit.
    ///
    /// An arena that already holds more keeps its chunks. An allocation that needs a new chunk fails if even the smallest
    /// chunk for it would exceed the limit. A vector that grows by itself needs twice its capacity; `reserve_exact` needs
    /// less.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// bump.set_allocation_limit(Some(1000));
    /// assert!(bump.try_alloc([0_u8; 900]).is_ok());
    /// assert!(bump.try_alloc([0_u8; 900]).is_err());
    /// assert!(bump.allocated_bytes() <= 1000);
    /// ```
    pub fn set_allocation_limit(&self, bytes: Option<usize>) {
        self.store().set_limit(bytes);
    }

    /// Returns the number of free bytes in the current chunk. Padding for a block's alignment may take some of them.
    pub fn chunk_capacity(&self) -> usize {
        self.end.get().addr().get() - self.pos.get().addr().get()
    }

    /// Returns the allocator of the chunks.
    pub fn allocator(&self) -> &A {
        self.store().alloc()
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Bump<MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        // The guard of a scope's arena has already returned the chunks to the store.
        if let Owner::Arena(store) = &self.owner {
            // SAFETY: all chunks of the list are of this store, and `take` emptied the list. The arena is being
            // dropped, so it is not borrowed and no block is used again.
            unsafe { store.free_all(self.chunks.take()) };
            store.free_spare();
        }
    }
}

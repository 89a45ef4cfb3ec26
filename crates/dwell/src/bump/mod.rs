//! An arena: values of all types side by side, dropped together.
//!
//! A [`Bump`] takes large chunks from an allocator and hands out their bytes one after the other. An allocation is an addition
//! and a comparison. All values are freed at once, with the arena or at the end of a scope.
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
//! To use the same memory again and again, [`reset`](Bump::reset) the arena, or take a [`scope`](Bump::scope) for what is
//! needed only for a while. [`bump::Vec`](Vec) and [`bump::String`](String) grow in an arena.
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
//! A reference into an arena runs no destructor. Allocate values that own no other memory, or own the values by a
//! [`bump::Box`](Box) or a [`bump::Vec`](Vec), which drop their contents.
//!
//! # When to use something else
//!
//! - Values that come and go one by one: their bytes are freed only with the arena. A slab reuses them.
//! - Values of one type that refer to each other by index: a `Vec`.
//!
//! # How it works
//!
//! A *chunk* is one allocation of the base allocator. A *block* is the memory of one
//! allocation; it has at least one byte, since zero-size allocations return a dangling pointer and never touch the arena. The next
//! block begins the *free range* `pos..end`. A chunk is either *shared* by small blocks or *dedicated* to one of
//! more than 16 KiB.
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
//! - *Fast*, inlined: the block ends at `pos` plus its size, rounded up; compare that with `end`, store it to `pos`.
//! - *Slow*, `Bump::refill`, not generic over the type: another free range, or a dedicated chunk.
//! - *Growth*, `Block::grow`: in place if the block is the last one before `pos`, else a new block and a copy; a dedicated chunk
//!   is grown by the base allocator.
//!
//! The eight invariants are at [`Bump`]'s fields, and two rules go with them:
//!
//! - **Re-entrancy.** The base allocator, closures, `Clone`, iterators, `Display` and drops may use the arena that calls them.
//!   So the arena does not use values that it read before such code ran, and a chunk is in no list while the base allocator
//!   works on it. An allocated block stays its owner's, whatever such code allocates.
//! - **Identity.** Two tests compare addresses, and both need a live block of at least one byte. A block is the last one if it
//!   ends at `pos`: a header lies between `pos` and any block of another allocation. A dedicated chunk belongs to a block if the
//!   block in its header has the same start: two live allocations do not share an address.
//!
//! ## Why `alloc_fmt` is sound
//!
//! [`Bump::alloc_fmt`] runs `Display` implementations, which may allocate from the same arena, free, grow, or open scopes before,
//! between and after the pieces of text that they write. It writes to a plain [`bump::String`](String):
//!
//! 1. The string begins with a block of 64 bytes of the free range, which `pos` passes, or, if that has fewer, with capacity 0
//!    and no block at all. There is no zero-size block, whose address could become that of another block.
//! 2. A block is the string's own: it is in use, has `capacity` bytes, and is not handed out again, wherever a `Display`
//!    implementation moves `pos`.
//! 3. A piece that does not fit calls `Block::grow`. That reads `pos` *now*: if the block still ends there, the free range behind
//!    it is free and it grows in place; if a `Display` allocated meanwhile, it does not end there, and it is copied.
//! 4. While a `Display` runs, no state of the arena is cached: the string has its start, length and capacity, and a reference.
//!
//! `docs/bump.md` in the repository has the reasons for the design, the rejected designs, the bugs of other arenas that are tested
//! here, and measurements.

#![expect(clippy::mut_from_ref, reason = "each call of an allocating method returns another value")]
#![expect(
    clippy::inline_always,
    reason = "the fast path is a few instructions: it is compiled where it is called and nowhere else"
)]

mod alloc_slice;
mod allocator;
mod arithmetic;
mod block;
mod boxed;
mod buffer;
mod capacity;
mod chunk;
mod chunks;
mod drain;
mod forward;
mod gap;
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
#[doc(inline)]
pub use self::macros::{format, try_format, try_vec, vec};
#[cfg(feature = "std")]
pub use self::pool::{Pool, Pooled};
pub use self::scope::{Checkpoint, Scope};
pub use self::string::{DrainChars, FromUtf8Error, String};
pub use self::thin::Thin;
pub use self::unmanaged::UnmanagedVec;
pub use self::vec::{IntoIter, Vec};

use self::arithmetic::Typed;
use self::chunk::{Chunk, Header, Kind, Store};
use crate::alloc::{AllocError, Allocator, Global};
use core::alloc::Layout;
use core::cell::Cell;
use core::hint::assert_unchecked;
use core::num::NonZero;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;

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
/// - `MIN_ALIGN`: a power of two up to 64. A block takes a multiple of it in bytes; one of at most that alignment needs
///   no more than an addition and a comparison. 8 suits most programs, 1 those of many odd strings:
///
/// ```
/// use dwell::Bump;
///
/// let bytes = Bump::<1>::with_min_align();
/// let (a, b) = (bytes.alloc_str("abc"), bytes.alloc_str("d"));
/// assert_eq!(b.as_ptr().addr() - a.as_ptr().addr(), 3);
/// ```
///
/// - `A`: the allocator that chunks come from. See [`alloc`](crate::alloc).
// `chunk` separates `pos` from `end`. If they were adjacent, aarch64 would load them as a pair, and that load would wait for the
// previous allocation's store to `pos`.
#[repr(C)]
pub struct Bump<const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. The free range `pos..end` is in one allocation. Its bytes are in no block, and only this arena hands them out. `pos` and
    //    `end` are multiples of MIN_ALIGN, and as pointers they reach the whole allocation.
    // 2. `chunks` lists the chunks that this arena took from the store, newest first. A chunk is in the list of one arena, or is
    //    the store's spare one, or a function of this module has it.
    // 3. If `chunk` is a chunk, it is a shared one of the list, and the free range is its end. If it is `None`, the free range is
    //    empty, or lent by the arena that this scope came from.
    // 4. In a shared chunk of the list that is not `chunk`, the bytes from `used` on are in no block of this arena. They are
    //    not handed out, or handed out by the one scope that they are lent to, or saved: then they become the free range again.
    // 5. Chunks of the list are not freed and shared ones do not move while the arena is borrowed. A dedicated chunk has one
    //    block and no free range.
    // 6. The free range ends at `arithmetic::TOP` or below.
    // 7. The arena of a scope is reached by `&` only, through a guard that borrows the arena that it came from.
    // 8. `saved` lists shared chunks of the list other than `chunk`, each once, whose free bytes are not lent and at least a word.
    //    The last word of each is the next one, or `None`.
    pos: Cell<NonNull<u8>>,
    chunk: Cell<Option<Chunk>>,
    end: Cell<NonNull<u8>>,
    chunks: Cell<Option<Chunk>>,
    /// Other chunks with free bytes, which the arena left for that of a scope that has ended. The last one left comes first.
    saved: Cell<Option<Chunk>>,
    owner: Owner<MIN_ALIGN, A>,
}

/// The owner of the store.
enum Owner<const MIN_ALIGN: usize, A: Allocator> {
    Arena(Store<MIN_ALIGN, A>),
    /// This is the arena of a scope: the outer arena owns the store and outlives this one.
    Scope(NonNull<Store<MIN_ALIGN, A>>),
}

/// The free range of an arena, and the arena's chunk that it is the end of.
#[derive(Clone, Copy, Debug)]
struct FreeRange {
    pos: NonNull<u8>,
    chunk: Option<Chunk>,
    end: NonNull<u8>,
}

impl FreeRange {
    /// Whether a block of this layout fits.
    fn fits(self, layout: Layout, min_align: usize) -> bool {
        let (pos, end) = (self.pos.addr().get(), self.end.addr().get());
        arithmetic::place(pos, end, layout.size(), layout.align(), min_align).is_some()
    }
}

// SAFETY: an arena owns its chunks and its allocator, and only those who borrow it reach them. The arena of a scope, which
// points to another's store, is never moved out of its guard, which is not `Send`.
unsafe impl<const MIN_ALIGN: usize, A: Allocator + Send> Send for Bump<MIN_ALIGN, A> {}

// Each function restores the invariants before it runs other code, so they hold after a panic.
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
    pub fn with_capacity_in(bytes: usize, alloc: A) -> Self {
        match Self::try_with_capacity_in(bytes, alloc) {
            Ok(bump) => bump,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// [`with_capacity_in`](Self::with_capacity_in) that reports a failed allocation and returns the allocator in the error.
    pub fn try_with_capacity_in(bytes: usize, alloc: A) -> Result<Self, AllocError<Self>> {
        let bump = Self::new_in(alloc);
        let least = arithmetic::least_chunk(bytes, 1, Self::HEADER, Self::CHUNK_ALIGN);
        match least.and_then(|least| bump.store().make(least.max(Store::<MIN_ALIGN, A>::FIRST))) {
            Some(chunk) => {
                // SAFETY: the chunk is new.
                unsafe { bump.install(chunk) };
                Ok(bump)
            }
            None => Err(AllocError::new(bump, Layout::from_size_align(bytes, 1).unwrap_or(Layout::new::<()>()))),
        }
    }
}

/// The free range and the list of chunks.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The alignment of chunks, in bytes.
    pub(crate) const CHUNK_ALIGN: usize = Store::<MIN_ALIGN, A>::ALIGN;

    /// Bytes in front of a chunk's first block.
    const HEADER: usize = Store::<MIN_ALIGN, A>::HEADER;

    /// No free bytes. The address is not null and a multiple of `MIN_ALIGN`, and no block ends there: chunks are not so low.
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
            // SAFETY: this is a scope's arena. Its guard borrows the arena that has the store (invariant 7), so that the store
            // is neither moved nor dropped nor borrowed exclusively.
            Owner::Scope(store) => unsafe { store.as_ref() },
        }
    }

    #[inline]
    fn range(&self) -> FreeRange {
        FreeRange { pos: self.pos.get(), chunk: self.chunk.get(), end: self.end.get() }
    }

    #[inline]
    fn enter(&self, range: FreeRange) {
        self.pos.set(range.pos);
        self.chunk.set(range.chunk);
        self.end.set(range.end);
    }

    /// Stores the start of the free range in its chunk, before the arena leaves the chunk.
    #[inline]
    fn park(&self) {
        if let Some(chunk) = self.chunk.get() {
            // SAFETY: `chunk` is a shared chunk of the list, and from `pos` on its bytes are free (invariants 1 to 3).
            unsafe { chunk.set_used(self.pos.get()) };
        }
    }

    /// The bytes of a shared chunk of the list, one which the arena left, that are in no block.
    ///
    /// # Safety
    ///
    /// `chunk` is a shared chunk of this arena's list, and the bytes behind `used` are not lent to a scope.
    #[inline]
    unsafe fn range_of(chunk: Chunk) -> FreeRange {
        // SAFETY: chunks of the list are not freed (invariant 5).
        let header = unsafe { chunk.header() };
        // SAFETY: the chunk was not freed, and has `size` bytes.
        let end = unsafe { chunk.end(header.size) };
        match header.kind {
            Kind::Shared { used } => FreeRange { pos: used, chunk: Some(chunk), end },
            Kind::Dedicated { .. } => Self::EMPTY,
        }
    }

    /// Saves a free range that the arena leaves, if it has the bytes for the link. If it is not a chunk's end, it is lost.
    ///
    /// # Safety
    ///
    /// If the range has a chunk, it is a shared one of this arena's list, which is not saved yet. The range is that chunk's end, and
    /// its bytes are in no block and not lent to a scope. The arena enters another range before it allocates.
    #[cold]
    #[inline(never)]
    unsafe fn save(&self, range: FreeRange) {
        let Some(chunk) = range.chunk else { return };
        // SAFETY: the chunk is shared and in the list, so that it was not freed, and from `pos` on its bytes are in no block.
        unsafe { chunk.set_used(range.pos) };
        if range.end.addr().get() - range.pos.addr().get() >= size_of::<Option<Chunk>>() {
            // SAFETY: the range has as many bytes, they are in no block, and its end is aligned as chunks are.
            unsafe { Self::link(range.end).write(self.saved.get()) };
            self.saved.set(Some(chunk));
        }
    }

    /// The free range of a saved chunk, and the next saved chunk.
    ///
    /// # Safety
    ///
    /// The chunk is a saved one of this arena.
    unsafe fn saved_range(chunk: Chunk) -> (FreeRange, Option<Chunk>) {
        // SAFETY: a saved chunk is a shared one of the list, and its free bytes are not lent (invariant 8).
        let range = unsafe { Self::range_of(chunk) };
        // SAFETY: its last word is the next saved chunk (invariant 8).
        (range, unsafe { Self::link(range.end).read() })
    }

    /// Where a saved chunk that ends at `end` has the next one.
    fn link(end: NonNull<u8>) -> NonNull<Option<Chunk>> {
        Self::at(end, end.addr().get() - size_of::<Option<Chunk>>()).cast()
    }

    /// Makes a chunk the newest of the list, and all its bytes the free range.
    ///
    /// # Safety
    ///
    /// The chunk is of this arena's store, has `size` bytes, is in no list, and has no block in use.
    #[inline]
    unsafe fn install(&self, (chunk, size): (Chunk, usize)) {
        // SAFETY: the chunk is in no list, so it was not freed; the store has this `HEADER`.
        let start = unsafe { chunk.start(Self::HEADER) };
        // SAFETY: the chunk was not freed, and has `size` bytes.
        let end = unsafe { chunk.end(size) };
        self.park();
        // SAFETY: the chunk was not freed, and has `size` bytes.
        unsafe { chunk.set_header(Header { prev: self.chunks.get(), size, kind: Kind::Shared { used: start } }) };
        self.chunks.set(Some(chunk));
        self.enter(FreeRange { pos: start, chunk: Some(chunk), end });
    }

    /// Makes a chunk the newest of the list, dedicated to the block at its beginning, which is returned.
    ///
    /// # Safety
    ///
    /// The chunk is of this arena's store, has `size` bytes, is in no list, and has no block in use but that one, aligned to
    /// `align`.
    unsafe fn dedicate(&self, (chunk, size): (Chunk, usize), align: usize) -> NonNull<u8> {
        // SAFETY: the chunk is in no list, so it was not freed; the store has this `HEADER`.
        let start = unsafe { chunk.start(Self::HEADER) };
        let block = Self::at(start, arithmetic::up(start.addr().get(), align));
        // SAFETY: the chunk was not freed, and has `size` bytes.
        unsafe { chunk.set_header(Header { prev: self.chunks.get(), size, kind: Kind::Dedicated { block } }) };
        self.chunks.set(Some(chunk));
        block
    }

    /// `pointer` moved to another address of its allocation.
    #[inline]
    fn at(pointer: NonNull<u8>, addr: usize) -> NonNull<u8> {
        // SAFETY: an address at or behind a block, a chunk's header or a dangling `pos` is not 0: sums do not overflow by the
        // ground rules of `arithmetic`.
        let addr = unsafe { NonZero::new_unchecked(addr) };
        pointer.with_addr(addr)
    }
}

/// The fast path and the slow path.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The address of `pos`, which the compiler learns to be aligned.
    #[inline]
    fn pos_addr(&self) -> usize {
        let pos = self.pos.get().addr().get();
        // SAFETY: `pos` is a multiple of `MIN_ALIGN` (invariant 1).
        unsafe { assert_unchecked(pos.is_multiple_of(MIN_ALIGN)) };
        pos
    }

    /// Removes the bytes up to the address `after`, at most `end`, from the free range. The last `taken` of them are the block.
    #[inline]
    fn advance(&self, after: usize, taken: usize) -> NonNull<u8> {
        debug_assert!(after <= self.end.get().addr().get() && after.is_multiple_of(MIN_ALIGN));
        let pos = self.pos.get();
        self.pos.set(Self::at(pos, after));
        Self::at(pos, after - taken)
    }

    /// A block for a type that has bytes, from the free range.
    #[inline(always)]
    fn take_typed<T>(&self) -> Option<NonNull<u8>> {
        if !Typed::<MIN_ALIGN, T>::IS_SMALL {
            return self.take(Layout::new::<T>());
        }
        let after = Typed::<MIN_ALIGN, T>::place(self.pos.get().addr().get());
        if after > self.end.get().addr().get() {
            return None;
        }
        Some(self.advance(after, Typed::<MIN_ALIGN, T>::TAKEN))
    }

    /// A block from the free range. For size 0 it is an aligned dangling pointer.
    #[inline]
    fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        let (size, align) = (layout.size(), layout.align());
        let after = arithmetic::place(self.pos_addr(), self.end.get().addr().get(), size, align, MIN_ALIGN)?;
        Some(self.advance(after, arithmetic::taken(size, align, MIN_ALIGN)))
    }

    /// A block by the fast path or the slow path.
    #[inline]
    fn take_or_refill(&self, layout: Layout) -> Option<NonNull<u8>> {
        match self.take(layout) {
            Some(block) => Some(block),
            None => self.refill(layout),
        }
    }

    /// The slow path: a block that does not fit in the free range.
    ///
    /// The base allocator may re-enter this arena. So each step reads the arena's state anew, and a chunk that the allocator returns
    /// is put into the list first.
    #[cold]
    #[inline(never)]
    fn refill(&self, layout: Layout) -> Option<NonNull<u8>> {
        // An arena's first chunk is made of constants: in the prototype a short life took 53 instructions more without this, of 219.
        // `cargo run --release -p dwell-bench -- bump --workload creation --ir`
        if self.store().is_fresh()
            && layout.align() <= MIN_ALIGN
            && layout.size().wrapping_sub(1) < Store::<MIN_ALIGN, A>::FIRST - Self::HEADER
            && let Some(chunk) = self.store().make(Store::<MIN_ALIGN, A>::FIRST)
        {
            // SAFETY: the chunk is new.
            unsafe { self.install(chunk) };
            // Its bytes are a multiple of `MIN_ALIGN`, and not less than the block's.
            let taken = arithmetic::up(layout.size(), MIN_ALIGN);
            return Some(self.advance(self.pos.get().addr().get() + taken, taken));
        }
        self.refill_more(layout)
    }

    /// [`refill`](Self::refill) of an arena that has a chunk or a limit.
    #[cold]
    #[inline(never)]
    fn refill_more(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            // Only the padding did not fit, and a zero-size value needs none.
            return NonNull::new(ptr::without_provenance_mut(layout.align()));
        }
        let least = arithmetic::least_chunk(layout.size(), layout.align(), Self::HEADER, Self::CHUNK_ALIGN)?;
        if let Some(block) = self.take_saved(layout) {
            return Some(block);
        }
        let chunk = if let Some(spare) = self.store().take_spare(least) {
            spare
        } else if arithmetic::is_dedicated(least) {
            let chunk = self.store().make_least(least)?;
            // SAFETY: the chunk is new.
            return Some(unsafe { self.dedicate(chunk, layout.align()) });
        } else {
            // SAFETY: chunks of the list are not freed (invariant 5).
            let current = self.chunk.get().map(|chunk| unsafe { chunk.header() }.size);
            self.store().obtain(least, current)?
        };
        // The block fits in none of the saved chunks. They are abandoned, as the one is that the arena leaves.
        self.saved.set(None);
        // SAFETY: the chunk is new, or was the spare one, and in no list.
        unsafe { self.install(chunk) };
        self.take(layout)
    }

    /// A block from the first saved chunk in which it fits. The arena continues in that chunk and saves the one that it leaves.
    ///
    /// The chunks before it are abandoned, as any chunk is in which a block does not fit.
    fn take_saved(&self, layout: Layout) -> Option<NonNull<u8>> {
        let mut rest = self.saved.get();
        while let Some(saved) = rest {
            // SAFETY: the chunk is saved.
            let (range, next) = unsafe { Self::saved_range(saved) };
            if range.fits(layout, MIN_ALIGN) {
                self.saved.set(next);
                // SAFETY: the range is the arena's, whose chunk is not saved (invariants 1, 3 and 8), and which it leaves.
                unsafe { self.save(self.range()) };
                self.enter(range);
                return self.take(layout);
            }
            rest = next;
        }
        None
    }
}

/// Allocation of values.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Moves a value into the arena, which does not drop it.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let number = bump.alloc(1);
    /// *number += 1;
    /// assert_eq!(*number, 2);
    /// ```
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn alloc<T>(&self, value: T) -> &mut T {
        if const { size_of::<T>() == 0 || size_of::<T>() > 2 * size_of::<usize>() } {
            return self.alloc_with(|| value);
        }
        // The slow path is a tail call that takes up to two words in registers, so the fast path saves no registers. A larger
        // value would be built on the stack and passed by address, so `alloc_with` takes its block first.
        match self.take_typed::<T>() {
            // SAFETY: the block is for a `T`, and no other pointer to it exists.
            Some(block) => unsafe { Self::fill(block.cast(), value) },
            None => self.alloc_slow(value),
        }
    }

    /// [`alloc`](Self::alloc) of a small value that does not fit in the free range.
    #[cold]
    #[inline(never)]
    fn alloc_slow<T>(&self, value: T) -> &mut T {
        let layout = Layout::new::<T>();
        let block = self.refill(layout).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: the block is for a `T`, and no other pointer to it exists.
        unsafe { Self::fill(block.cast(), value) }
    }

    /// Writes a value to its block.
    ///
    /// # Safety
    ///
    /// `block` is valid for writes of a `T`, aligned, and nothing else accesses it for `'a`.
    #[inline(always)]
    unsafe fn fill<'a, T>(block: NonNull<T>, value: T) -> &'a mut T {
        // SAFETY: the block is valid for writes and aligned.
        unsafe { block.write(value) };
        // SAFETY: it holds a value since just now, and nothing else accesses it for `'a`.
        unsafe { &mut *block.as_ptr() }
    }

    /// [`alloc`](Self::alloc) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    #[inline]
    pub fn try_alloc<T>(&self, value: T) -> Result<&mut T, AllocError<T>> {
        match self.block_for::<T>() {
            // SAFETY: the block is for a `T`, and no other pointer to it exists.
            Some(block) => Ok(unsafe { Self::fill(block, value) }),
            None => Err(AllocError::new(value, Layout::new::<T>())),
        }
    }

    /// A block for a value.
    #[inline]
    fn block_for<T>(&self) -> Option<NonNull<T>> {
        if size_of::<T>() == 0 {
            return Some(NonNull::dangling());
        }
        self.take_typed::<T>().or_else(|| self.refill(Layout::new::<T>())).map(NonNull::cast)
    }

    /// Allocates a block and writes the value that `make` returns to it.
    ///
    /// For large values: optimised code writes the result to the block instead of the stack.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let page: &mut [u8; 4096] = bump.alloc_with(|| [0; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn alloc_with<T>(&self, make: impl FnOnce() -> T) -> &mut T {
        let block = self.block_for::<T>().unwrap_or_else(|| handle_alloc_error(Layout::new::<T>()));
        // `make` may use the arena: the block is its owner's already.
        // SAFETY: the block is for a `T`, and no other pointer to it exists.
        unsafe { Self::fill(block, make()) }
    }

    /// [`alloc_with`](Self::alloc_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; `make` is returned in the error, not called.
    #[inline]
    pub fn try_alloc_with<T, F: FnOnce() -> T>(&self, make: F) -> Result<&mut T, AllocError<F>> {
        match self.block_for::<T>() {
            // SAFETY: the block is for a `T`, and no other pointer to it exists, whatever `make` does with the arena.
            Some(block) => Ok(unsafe { Self::fill(block, make()) }),
            None => Err(AllocError::new(make, Layout::new::<T>())),
        }
    }

    /// A block for elements of a type, of this many bytes, from the free range.
    #[inline(always)]
    fn take_slice<T>(&self, size: usize) -> Option<NonNull<u8>> {
        let (pos, end) = (self.pos_addr(), self.end.get().addr().get());
        if Typed::<MIN_ALIGN, T>::IS_ALIGNED {
            let after = arithmetic::place_aligned(pos, end, size, MIN_ALIGN)?;
            return Some(self.advance(after, after - pos));
        }
        let after = arithmetic::place(pos, end, size, align_of::<T>(), MIN_ALIGN)?;
        Some(self.advance(after, arithmetic::taken(size, align_of::<T>(), MIN_ALIGN)))
    }
}

/// The arena as a whole.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Frees all blocks and keeps the largest chunk.
    ///
    /// If the allocated bytes do not fit that chunk, the next new chunk is large enough for them. An arena that is filled and reset
    /// repeatedly ends up with one chunk and does not call its allocator any more.
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
            // The only chunk, and its end is the free range: now all of it is.
            // SAFETY: the chunk is in the list, so it was not freed (invariant 5); the store has this `HEADER`.
            self.pos.set(unsafe { chunk.start(Self::HEADER) });
            return;
        }
        self.reset_chunks();
    }

    /// [`reset`](Self::reset) of an arena that has not just one chunk.
    #[cold]
    #[inline(never)]
    fn reset_chunks(&mut self) {
        let used: usize = self.chunks().map(<[_]>::len).sum();
        let list = self.chunks.take();
        self.enter(Self::EMPTY);
        self.saved.set(None);
        // SAFETY: the chunks are of this arena's store, it has given up the list, and the exclusive borrow ends the use of all
        // blocks.
        unsafe { self.store().recycle(list) };
        if let Some(chunk) = self.store().take_spare(0) {
            // SAFETY: the spare chunk was in no list.
            unsafe { self.install(chunk) };
            if used > self.end.get().addr().get() - self.pos.get().addr().get() {
                self.store().set_wanted(arithmetic::chunk_for_round(used, Self::HEADER, Self::CHUNK_ALIGN));
            }
        }
    }

    /// Returns the bytes that the arena has from its allocator, used or not.
    pub fn allocated_bytes(&self) -> usize {
        self.store().held()
    }

    /// Returns the [limit](Self::set_allocation_limit) in bytes, if there is one.
    pub fn allocation_limit(&self) -> Option<usize> {
        self.store().limit()
    }

    /// Limits the bytes that the arena has from its allocator; `None` is no limit.
    ///
    /// Chunks beyond the limit stay. A request fails only if no chunk that is large enough for it is within the limit.
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

    /// [`set_allocation_limit`](Self::set_allocation_limit) by a shorter name.
    pub fn set_limit(&self, bytes: Option<usize>) {
        self.set_allocation_limit(bytes);
    }

    /// Returns the free bytes of the current chunk, without bytes that a block's alignment may need.
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
        // A scope's arena has given its chunks to the store when its guard was dropped.
        if let Owner::Arena(store) = &self.owner {
            // SAFETY: all chunks of the list are of this store, the list is taken from the arena, and what is dropped is not
            // borrowed: blocks are not used again.
            unsafe { store.free_all(self.chunks.take()) };
            store.free_spare();
        }
    }
}

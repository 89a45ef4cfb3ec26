//! An arena: values of all types side by side, dropped together.
//!
//! A [`Bump`] takes large chunks from an allocator and hands out their bytes one after the other. To allocate is to add to
//! an address and to compare; to free is to forget the whole arena, or everything since a scope began.
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
//! needed for a while. [`bump::Vec`](Vec) and [`bump::String`](String) grow in an arena.
//!
//! ```
//! use dwell::{Bump, bump};
//!
//! let mut bump = Bump::new();
//! for request in ["a=1&b=2", "c=3"] {
//!     let pairs = bump::Vec::from_iter_in(request.split('&').filter_map(|pair| pair.split_once('=')), &bump);
//!     assert_eq!(pairs.len(), request.len().div_ceil(4));
//!     drop(pairs);
//!     bump.reset(); // all is free, and the largest chunk is kept
//! }
//! ```
//!
//! # What is not dropped
//!
//! A reference into an arena drops nothing: put values there that own nothing elsewhere, or own them by a
//! [`bump::Box`](Box) or [`bump::Vec`](Vec), which drop what is in them.
//!
//! # When to use something else
//!
//! - Values that come and go one by one: their bytes come back only with the arena. A slab reuses them.
//! - Values of one type that refer to each other by index: a `Vec`.
//!
//! `docs/bump.md` in the repository has the representation, what it is compared with, and the bugs it is tested for.

#![expect(clippy::mut_from_ref, reason = "each call of an allocating method returns another value")]
#![cfg_attr(
    not(debug_assertions),
    expect(
        clippy::inline_always,
        reason = "what each type is put here by is a few instructions: it is compiled where it is called and nowhere else"
    )
)]

mod allocator;
mod boxed;
mod chunk;
mod first;
mod fit;
mod forward;
mod list;
#[cfg(feature = "std")]
mod pool;
mod realloc;
mod scope;
mod string;
mod thin;
mod vec;

pub use self::boxed::Box;
pub use self::first::First;
pub use self::list::Chunks;
#[cfg(feature = "std")]
pub use self::pool::{Pool, Pooled};
pub use self::scope::{Checkpoint, Scope};
pub use self::string::String;
pub use self::thin::Thin;
pub use self::vec::{IntoIter, Vec};

use self::chunk::{Header, Store};
use self::fit::For;
use crate::alloc::{AllocError, Allocator, Global};
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::hint::{assert_unchecked, unreachable_unchecked};
use core::mem::MaybeUninit;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};
use core::slice;
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
// In this order: side by side, `pos` and `end` would become one paired load on aarch64, behind the store to `pos` of the
// allocation before.
#[repr(C)]
pub struct Bump<const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `pos` and `end` are multiples of MIN_ALIGN, and `pos <= end <= TOP`.
    // 2. The bytes from `pos` to `end` are in one allocation, unused, and this arena's alone; both pointers may reach them.
    // 3. `chunk` is the newest of a list of chunks, linked by `prev`, that came from `source` with this MIN_ALIGN; they are
    //    this arena's to release.
    // 4. A chunk whose `used` is `None` has one block, and `pos` does not lie in it.
    // 5. If `chunk` has a `used`, then `pos` and `end` are NOWHERE (its room is lent to a scope, or it has none), or `end`
    //    is its end and `pos` lies in it. Otherwise they are NOWHERE or what a scope was lent.
    // 6. Chunks further down the list that have a `used` are older; those that have none may be newer only if they come
    //    right after `chunk`.
    // 7. If `next` is 0, then there is no chunk and no limit, the store is this arena's own, and no scope has been lent it.
    // 8. An arena that is lent a store has no chunk when it is dropped.
    // 9. If `next` is ONLY, then `chunk` is an arena's first, of the layout `FIRST`, alone in the list and regular; its header
    //    is not written, and no count has it. The rest is as in 7. `newest` and `next()` write all that down; what they return
    //    is as the other invariants say.
    //
    // A block is never reachable through a header, nor a header through a block: all headers are read and written through
    // the pointer that the allocator returned, which no reference to a chunk's bytes is derived from but that of a block.
    pos: Cell<NonNull<u8>>,
    chunk: Cell<Option<NonNull<Header>>>,
    /// The size of the next regular chunk, or 0: then nothing is said of the first, or ONLY: then there is nothing else.
    next: Cell<usize>,
    end: Cell<NonNull<u8>>,
    source: Source<A>,
}

/// The `next` of an arena that has its first chunk and nothing else, as most of those have that live for a short time. No chunk
/// is so small.
const ONLY: usize = 1;

/// A value of up to a word, whatever it is made of. A pointer, so that one in the value stays one.
type Word = MaybeUninit<*mut ()>;

/// Who has the allocator and the counts.
enum Source<A: Allocator> {
    Own(Store<A>),
    /// Another arena's, which outlives this one, and that arena's `next`: see `scope`.
    Lent(NonNull<Store<A>>, NonNull<Cell<usize>>),
}

// SAFETY: an arena owns its chunks and its allocator, and shares them only with those who borrow it. One that is lent a store
// is never moved out of a `Scope`, which is not `Send`.
unsafe impl<const MIN_ALIGN: usize, A: Allocator + Send> Send for Bump<MIN_ALIGN, A> {}

// An allocation changes numbers only, in an order in which no panic can be seen.
impl<const MIN_ALIGN: usize, A: Allocator + UnwindSafe> UnwindSafe for Bump<MIN_ALIGN, A> {}
impl<const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> RefUnwindSafe for Bump<MIN_ALIGN, A> {}

impl Bump {
    /// An arena without chunks.
    #[inline]
    pub const fn new() -> Self {
        Self::new_in(Global)
    }

    /// An arena whose first chunk has room for `bytes`.
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
    /// An arena without chunks, of the alignment that the type says.
    #[inline]
    pub const fn with_min_align() -> Self {
        Self::new_in(Global)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Where `pos` and `end` are without room. No block ends there, for no chunk is so low.
    const NOWHERE: NonNull<u8> = NonNull::new(ptr::without_provenance_mut(MIN_ALIGN)).expect("a power of two");

    /// An arena without chunks, which will come from `alloc`.
    #[inline]
    pub const fn new_in(alloc: A) -> Self {
        const { assert!(chunk::Of::<MIN_ALIGN>::ALIGN >= MIN_ALIGN) };
        Self {
            pos: Cell::new(Self::NOWHERE),
            chunk: Cell::new(None),
            end: Cell::new(Self::NOWHERE),
            next: Cell::new(0),
            source: Source::Own(Store::new(alloc)),
        }
    }

    /// [`with_capacity`](Bump::with_capacity) with an allocator.
    pub fn with_capacity_in(bytes: usize, alloc: A) -> Self {
        match Self::try_with_capacity_in(bytes, alloc) {
            Ok(bump) => bump,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// [`with_capacity_in`](Self::with_capacity_in) that reports a failed allocation and gives the allocator back.
    pub fn try_with_capacity_in(bytes: usize, alloc: A) -> Result<Self, AllocError<Self>> {
        let bump = Self::new_in(alloc);
        let size = bytes.checked_add(chunk::Of::<MIN_ALIGN>::HEADER);
        let size = size.and_then(|size| fit::round(size.max(fit::FIRST_CHUNK), chunk::Of::<MIN_ALIGN>::ALIGN));
        match size.and_then(|size| bump.store().obtain::<MIN_ALIGN>(size)) {
            Some(chunk) => {
                bump.push(chunk);
                Ok(bump)
            }
            None => Err(AllocError::new(bump, Layout::from_size_align(bytes, 1).unwrap_or(Layout::new::<()>()))),
        }
    }

    /// Who has the allocator and the counts.
    #[inline]
    fn store(&self) -> &Store<A> {
        match &self.source {
            Source::Own(store) => store,
            // SAFETY: the arena that lent it outlives this one, and lets no one borrow its store mutably while this one lives.
            Source::Lent(store, _) => unsafe { store.as_ref() },
        }
    }

    /// The `next` of the arena that has the store.
    fn next_of_owner(&self) -> &Cell<usize> {
        match &self.source {
            Source::Own(_) => &self.next,
            // SAFETY: the arena that lent it outlives this one, and is not borrowed mutably while this one lives.
            Source::Lent(_, next) => unsafe { next.as_ref() },
        }
    }

    /// The size of the next regular chunk.
    fn next(&self) -> usize {
        self.settle();
        self.next.get().max(fit::FIRST_CHUNK)
    }

    /// The newest chunk, with its header.
    #[inline]
    fn newest(&self) -> Option<NonNull<Header>> {
        self.settle();
        self.chunk.get()
    }

    /// Makes an only chunk one like others.
    #[inline]
    fn settle(&self) {
        if self.next.get() == ONLY {
            self.write_first();
        }
    }

    /// Writes the header of an only chunk, and counts it.
    #[cold]
    #[inline(never)]
    fn write_first(&self) {
        debug_assert!(self.next.get() == ONLY);
        if let Some(chunk) = self.chunk.get() {
            // SAFETY: by invariant 9 it is from `obtain_first` of this store, and not counted.
            unsafe { self.store().count_first::<MIN_ALIGN>(chunk) };
        }
        self.next.set(const { fit::after(chunk::Of::<MIN_ALIGN>::FIRST.size()) });
    }

    /// Makes a chunk the newest, and the one to allocate from. Its `prev` is written, and so is `used` of the one before.
    fn push(&self, chunk: NonNull<Header>) {
        let prev = self.newest();
        if let Some(prev) = prev {
            // SAFETY: invariant 3.
            unsafe { Self::retire(prev, self.pos.get()) };
        }
        // SAFETY: a chunk begins with its header.
        let header = unsafe { chunk.read() };
        // SAFETY: as above.
        unsafe { chunk.write(Header { prev, ..header }) };
        // SAFETY: it is a chunk.
        let start = unsafe { chunk::Of::<MIN_ALIGN>::start(chunk) };
        // SAFETY: it is a chunk.
        let end = unsafe { chunk::Of::<MIN_ALIGN>::end(chunk) };
        self.next.set(self.next());
        self.chunk.set(Some(chunk));
        self.pos.set(start);
        self.end.set(end);
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Writes down how far a chunk was used.
    ///
    /// # Safety
    ///
    /// `chunk` is the newest of this arena's, and `pos` is the arena's.
    unsafe fn retire(chunk: NonNull<Header>, pos: NonNull<u8>) {
        // SAFETY: a chunk begins with its header.
        let mut header = unsafe { chunk.read() };
        // NOWHERE: the chunk's room is lent, and what was used was written when it was.
        if header.used.is_some() && pos != Self::NOWHERE {
            header.used = Some(pos);
            // SAFETY: as above.
            unsafe { chunk.write(header) };
        }
    }

    /// The pointer to `addr`, which lies from `pos` to `end`, or in a block that ended at `pos`.
    #[inline]
    fn at(pos: NonNull<u8>, addr: usize) -> NonNull<u8> {
        // SAFETY: no block and no room is at address 0.
        let addr = unsafe { core::num::NonZero::new_unchecked(addr) };
        pos.with_addr(addr)
    }

    /// `pos`, which is aligned as the compiler now knows.
    #[inline]
    fn pos(&self) -> NonNull<u8> {
        let pos = self.pos.get();
        // SAFETY: invariant 1.
        unsafe { assert_unchecked(pos.addr().get().is_multiple_of(MIN_ALIGN)) };
        pos
    }

    /// Bytes from the room that is left.
    #[inline]
    fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        let pos = self.pos();
        let end = self.end.get().addr().get();
        let (start, after) = fit::any(pos.addr().get(), end, layout.size(), layout.align(), MIN_ALIGN)?;
        self.pos.set(Self::at(pos, after));
        Some(Self::at(pos, start))
    }

    /// [`take`](Self::take) for a layout that is small, and known when the program is compiled: one comparison.
    ///
    /// Not generic over the type, so that a debug build has it once.
    #[inline]
    fn take_small(&self, layout: Layout) -> Option<NonNull<u8>> {
        let (size, align) = (layout.size(), layout.align());
        debug_assert!(fit::is_small(size, align));
        let pos = self.pos.get();
        let end = self.end.get().addr().get();
        let (start, after) = fit::constant(pos.addr().get(), end, size, align, MIN_ALIGN)?;
        self.pos.set(Self::at(pos, after));
        Some(Self::at(pos, start))
    }

    /// A place for a type, in the room that is left.
    #[inline]
    fn take_for<T>(&self) -> Option<NonNull<T>> {
        if const { size_of::<T>() == 0 } {
            return Some(NonNull::dangling());
        }
        let place = if For::<MIN_ALIGN, T>::SMALL {
            self.take_small(Layout::new::<T>())
        } else {
            self.take(Layout::new::<T>())
        };
        place.map(NonNull::cast)
    }

    /// `pos`.
    #[inline]
    fn start(&self) -> *mut u8 {
        self.pos.get().as_ptr()
    }

    /// Whether a block for which `fit::constant` may be asked has room there.
    #[inline]
    fn has_room(&self, start: *mut u8, size: usize) -> bool {
        fit::has_room(start.addr(), self.end.get().as_ptr().addr(), size)
    }

    /// `pos` rounded up.
    #[inline]
    fn aligned(&self, align: usize) -> *mut u8 {
        self.pos.get().as_ptr().map_addr(|pos| fit::up(pos, align))
    }

    /// Takes the bytes from `pos`, padding included, up to `size` bytes behind `start`.
    ///
    /// # Safety
    ///
    /// They are no more than there are up to `end`, and end at a multiple of `MIN_ALIGN`.
    #[inline]
    unsafe fn take_from(&self, start: *mut u8, size: usize) {
        // SAFETY: up to `end` all is in one allocation (invariant 2).
        let after = unsafe { start.add(size) };
        // SAFETY: no memory is at address 0.
        self.pos.set(unsafe { NonNull::new_unchecked(after) });
    }

    /// The first `size` bytes of the first chunk, when nothing is said of that: nearly all of it is known beforehand.
    ///
    /// # Safety
    ///
    /// `next` is 0. `size` is a multiple of `MIN_ALIGN` and has room there.
    #[inline]
    unsafe fn first_chunk(&self, size: usize) -> Option<NonNull<u8>> {
        debug_assert!(self.next.get() == 0 && self.chunk.get().is_none());
        let Source::Own(store) = &self.source else {
            // SAFETY: invariant 7.
            unsafe { unreachable_unchecked() }
        };
        let chunk = store.obtain_first::<MIN_ALIGN>(|| self.next.get() == 0)?;
        self.next.set(ONLY);
        self.chunk.set(Some(chunk));
        // SAFETY: it has room for the block behind its header.
        self.pos.set(unsafe { chunk.cast::<u8>().add(chunk::Of::<MIN_ALIGN>::HEADER + size) });
        // SAFETY: it has as many bytes.
        self.end.set(unsafe { chunk.cast::<u8>().add(chunk::Of::<MIN_ALIGN>::FIRST.size()) });
        // SAFETY: it is a chunk.
        let start = unsafe { chunk::Of::<MIN_ALIGN>::start(chunk) };
        Some(start)
    }

    /// Bytes from a new chunk.
    #[cold]
    #[inline(never)]
    fn more(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            // Padding did not fit, and there is nothing to pad for.
            return Some(Self::at(Self::NOWHERE, layout.align()));
        }
        let (header, align) = (chunk::Of::<MIN_ALIGN>::HEADER, chunk::Of::<MIN_ALIGN>::ALIGN);
        let next = self.next();
        // Nearly always the next regular chunk is large enough, and there is nothing to plan.
        if layout.align() <= align
            && layout.size() <= next - header
            && next.is_multiple_of(align)
            && let Some(chunk) = self.store().obtain::<MIN_ALIGN>(next)
        {
            self.next.set(fit::after(next));
            self.push(chunk);
            let start = self.pos.get();
            self.pos.set(Self::at(start, fit::up(start.addr().get() + layout.size(), MIN_ALIGN)));
            return Some(start);
        }
        self.more_by_plan(layout)
    }

    /// [`more`](Self::more) for a request or a limit that needs a chunk of its own size.
    #[cold]
    #[inline(never)]
    fn more_by_plan(&self, layout: Layout) -> Option<NonNull<u8>> {
        let store = self.store();
        let next = self.next();
        let plan =
            fit::plan(layout, chunk::Of::<MIN_ALIGN>::HEADER, chunk::Of::<MIN_ALIGN>::ALIGN, next, store.left())?;
        let chunk = match store.obtain::<MIN_ALIGN>(plan.size) {
            Some(chunk) => {
                if !plan.apart {
                    self.next.set(fit::after(plan.size.max(next)));
                }
                chunk
            }
            None if plan.least < plan.size => store.obtain::<MIN_ALIGN>(plan.least)?,
            None => return None,
        };
        if plan.apart {
            return Some(self.put_apart(chunk, layout.align()));
        }
        self.push(chunk);
        self.take(layout)
    }

    /// Bytes, wherever they are.
    #[inline]
    fn bytes(&self, layout: Layout) -> Option<NonNull<u8>> {
        match self.take(layout) {
            Some(block) => Some(block),
            None => self.more(layout),
        }
    }

    /// Links a chunk for one block, which is returned. Room that is left elsewhere stays in use.
    fn put_apart(&self, chunk: NonNull<Header>, align: usize) -> NonNull<u8> {
        // SAFETY: a chunk begins with its header.
        let mut header = unsafe { chunk.read() };
        header.used = None;
        self.link_apart(chunk, header);
        // SAFETY: it is a chunk.
        let start = unsafe { chunk::Of::<MIN_ALIGN>::start(chunk) };
        Self::at(start, fit::up(start.addr().get(), align))
    }

    /// Links a chunk behind the one with room, or in front if there is none.
    fn link_apart(&self, chunk: NonNull<Header>, mut header: Header) {
        self.next.set(self.next());
        let newest = self.newest();
        match newest {
            // SAFETY: invariant 3.
            Some(regular) if unsafe { regular.read() }.used.is_some() => {
                // SAFETY: invariant 3.
                let mut over = unsafe { regular.read() };
                header.prev = over.prev.replace(chunk);
                // SAFETY: invariant 3.
                unsafe { regular.write(over) };
            }
            _ => {
                header.prev = newest;
                self.chunk.set(Some(chunk));
            }
        }
        // SAFETY: a chunk begins with its header.
        unsafe { chunk.write(header) };
    }
}

/// What a block is made for.
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
        // Written out, here and in `alloc_with`: a function more is compiled for each type. docs/bump.md has what that takes.
        let place = if For::<MIN_ALIGN, T>::DIRECT {
            let start = if For::<MIN_ALIGN, T>::ALIGNED { self.start() } else { self.aligned(align_of::<T>()) };
            if self.has_room(start, For::<MIN_ALIGN, T>::TAKEN) {
                // SAFETY: there is room, and both are multiples of `MIN_ALIGN`.
                unsafe { self.take_from(start, For::<MIN_ALIGN, T>::TAKEN) };
                start
            } else {
                match For::<MIN_ALIGN, T>::PASSED {
                    fit::WORD => {
                        let mut word = Word::uninit();
                        // SAFETY: it fits, and is no more aligned than a word.
                        unsafe { (&raw mut word).cast::<T>().write(value) };
                        // SAFETY: the word is a `T`, and new.
                        return unsafe { self.alloc_word(word).cast().as_mut() };
                    }
                    fit::PAIR => {
                        let mut pair = [Word::uninit(); 2];
                        // SAFETY: it fits, and is no more aligned than a word.
                        unsafe { (&raw mut pair).cast::<T>().write(value) };
                        // SAFETY: the two words are a `T`, and new.
                        return unsafe { self.alloc_pair(pair[0], pair[1]).cast().as_mut() };
                    }
                    fit::VALUE => return self.alloc_slow(value),
                    _ => self.more_or_abort(Layout::new::<T>()).as_ptr(),
                }
            }
        } else {
            self.place_unusual::<T>()
        };
        let place = place.cast::<T>();
        // SAFETY: the place is for a `T`, and new.
        unsafe { place.write(value) };
        // SAFETY: just written, and the caller's alone.
        unsafe { &mut *place }
    }

    /// A place for a type that has no size, or a large one.
    #[inline]
    fn place_unusual<T>(&self) -> *mut u8 {
        if size_of::<T>() == 0 {
            return ptr::dangling_mut::<T>().cast();
        }
        self.alloc_layout(Layout::new::<T>()).as_ptr()
    }

    /// Writes a value to its place.
    ///
    /// # Safety
    ///
    /// `place` is valid for writes of a `T`, aligned, and for the caller alone for `'a`.
    #[inline]
    unsafe fn fill<'a, T>(mut place: NonNull<T>, value: T) -> &'a mut T {
        // SAFETY: the caller says that it is valid for writes.
        unsafe { place.write(value) };
        // SAFETY: it was just written, and is the caller's for `'a`.
        unsafe { place.as_mut() }
    }

    /// [`alloc`](Self::alloc) when there is no room. It takes the value, so that the caller need not keep it.
    #[cold]
    #[inline(never)]
    fn alloc_slow<T>(&self, value: T) -> &mut T {
        let place = self.more_or_abort(Layout::new::<T>());
        // SAFETY: the place is for a `T`, and new.
        unsafe { Self::fill(place.cast(), value) }
    }

    /// [`alloc_slow`](Self::alloc_slow) of what has a word: the same code for all types.
    #[cold]
    #[inline(never)]
    fn alloc_word(&self, word: Word) -> NonNull<Word> {
        if self.next.get() == 0
            // SAFETY: `next` is 0, and the chunk has room for a block of the least size.
            && let Some(place) = unsafe { self.first_chunk(MIN_ALIGN) }
        {
            let place = place.cast();
            // SAFETY: a block has at least `MIN_ALIGN` bytes, which for this are a word.
            unsafe { place.write(word) };
            return place;
        }
        self.alloc_word_slow(word)
    }

    /// [`alloc_slow`](Self::alloc_slow) of what has two words: the same code for all types.
    #[cold]
    #[inline(never)]
    fn alloc_pair(&self, first: Word, second: Word) -> NonNull<[Word; 2]> {
        let place = self.more_or_abort(Layout::new::<[Word; 2]>()).cast();
        // SAFETY: the place is for two words, and new.
        unsafe { place.write([first, second]) };
        place
    }

    /// [`alloc_word`](Self::alloc_word) beyond the first chunk.
    #[cold]
    #[inline(never)]
    fn alloc_word_slow(&self, word: Word) -> NonNull<Word> {
        let place = self.more_or_abort(Layout::new::<Word>()).cast();
        // SAFETY: the place is for a word, and new.
        unsafe { place.write(word) };
        place
    }

    /// [`alloc`](Self::alloc) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no room; the value comes back in the error.
    #[inline]
    pub fn try_alloc<T>(&self, value: T) -> Result<&mut T, AllocError<T>> {
        let layout = Layout::new::<T>();
        match self.take_for::<T>().or_else(|| self.more(layout).map(NonNull::cast)) {
            // SAFETY: the place is for a `T`, and new.
            Some(place) => Ok(unsafe { Self::fill(place, value) }),
            None => Err(AllocError::new(value, layout)),
        }
    }

    /// Moves what `make` returns into the arena, after its place was found.
    ///
    /// For large values: optimised code writes the result where it belongs instead of on the stack.
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
        let place = if For::<MIN_ALIGN, T>::DIRECT {
            let start = if For::<MIN_ALIGN, T>::ALIGNED { self.start() } else { self.aligned(align_of::<T>()) };
            if self.has_room(start, For::<MIN_ALIGN, T>::TAKEN) {
                // SAFETY: there is room, and both are multiples of `MIN_ALIGN`.
                unsafe { self.take_from(start, For::<MIN_ALIGN, T>::TAKEN) };
                start
            } else {
                self.more_or_abort(Layout::new::<T>()).as_ptr()
            }
        } else {
            self.place_unusual::<T>()
        };
        let place = place.cast::<T>();
        // SAFETY: the place is for a `T`, and new.
        unsafe { place.write(make()) };
        // SAFETY: just written, and the caller's alone.
        unsafe { &mut *place }
    }

    /// [`alloc_with`](Self::alloc_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no room; `make` comes back in the error, not called.
    #[inline]
    pub fn try_alloc_with<T, F: FnOnce() -> T>(&self, make: F) -> Result<&mut T, AllocError<F>> {
        match self.try_alloc_uninit() {
            Ok(place) => Ok(place.write(make())),
            Err(error) => Err(error.map(|()| make)),
        }
    }

    /// A place for a value that is not yet there.
    #[inline]
    pub fn alloc_uninit<T>(&self) -> &mut MaybeUninit<T> {
        self.alloc(MaybeUninit::uninit())
    }

    /// [`alloc_uninit`](Self::alloc_uninit) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_uninit<T>(&self) -> Result<&mut MaybeUninit<T>, AllocError<()>> {
        self.try_alloc(MaybeUninit::uninit()).map_err(|error| error.map(drop))
    }

    /// A block of this layout, valid for as long as a reference from [`alloc`](Self::alloc).
    #[inline]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> {
        match self.take(layout) {
            Some(block) => block,
            None => self.more_or_abort(layout),
        }
    }

    /// [`more`](Self::more) or the end: the caller has nothing to keep for after it.
    #[cold]
    #[inline(never)]
    fn more_or_abort(&self, layout: Layout) -> NonNull<u8> {
        let (header, align) = (chunk::Of::<MIN_ALIGN>::HEADER, chunk::Of::<MIN_ALIGN>::ALIGN);
        if self.next.get() == 0
            && layout.align() <= align
            // No bytes are too many too.
            && layout.size().wrapping_sub(1) < chunk::Of::<MIN_ALIGN>::FIRST.size() - header
            // SAFETY: `next` is 0, and the size of a chunk without its header is a multiple of `MIN_ALIGN`.
            && let Some(block) = unsafe { self.first_chunk(fit::up(layout.size(), MIN_ALIGN)) }
        {
            return block;
        }
        self.more_or_abort_slow(layout)
    }

    /// [`more_or_abort`](Self::more_or_abort) beyond the first chunk.
    #[cold]
    #[inline(never)]
    fn more_or_abort_slow(&self, layout: Layout) -> NonNull<u8> {
        match self.more(layout) {
            Some(block) => block,
            None => handle_alloc_error(layout),
        }
    }

    /// [`alloc_layout`](Self::alloc_layout) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocError<()>> {
        self.bytes(layout).ok_or(AllocError::new((), layout))
    }

    /// Copies a slice into the arena.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let copy = bump.alloc_slice_copy(&[1, 2, 3]);
    /// copy.reverse();
    /// assert_eq!(copy, [3, 2, 1]);
    /// ```
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn alloc_slice_copy<T: Copy>(&self, values: &[T]) -> &mut [T] {
        let size = size_of_val(values);
        let block = if For::<MIN_ALIGN, T>::ALIGNED {
            let start = self.start();
            if fit::has_room_at_pos(start.addr(), self.end.get().as_ptr().addr(), size) {
                let taken = if For::<MIN_ALIGN, T>::WHOLE {
                    size
                } else {
                    // One instruction less than the size rounded up.
                    fit::up(start.addr() + size, MIN_ALIGN) - start.addr()
                };
                // SAFETY: there is room, also for the rounded size, as `start` and `end` are multiples of `MIN_ALIGN`.
                unsafe { self.take_from(start, taken) };
                start
            } else {
                self.more_or_abort(Layout::for_value(values)).as_ptr()
            }
        } else {
            self.alloc_layout(Layout::for_value(values)).as_ptr()
        };
        let block = block.cast::<T>();
        // SAFETY: both are of this many elements, the new one is aligned for them, and they are not the same.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), block, values.len()) };
        // SAFETY: just written, and the caller's alone.
        unsafe { slice::from_raw_parts_mut(block, values.len()) }
    }

    /// [`alloc_slice_copy`](Self::alloc_slice_copy) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_slice_copy<T: Copy>(&self, values: &[T]) -> Result<&mut [T], AllocError<()>> {
        let block = self.try_alloc_layout(Layout::for_value(values))?;
        // SAFETY: the block is for these values, and new.
        Ok(unsafe { Self::copy(block, values) })
    }

    /// Copies values to their place.
    ///
    /// # Safety
    ///
    /// `block` has the layout of `values`, apart from them, and is for the caller alone for `'a`.
    #[inline]
    unsafe fn copy<'a, T: Copy>(block: NonNull<u8>, values: &[T]) -> &'a mut [T] {
        let to = block.cast::<T>();
        // SAFETY: both are of this many elements, the new one is aligned for them, and they are not the same.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to.as_ptr(), values.len()) };
        // SAFETY: just written, and the caller's for `'a`.
        unsafe { slice::from_raw_parts_mut(to.as_ptr(), values.len()) }
    }

    /// Copies a string into the arena.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let name = bump.alloc_str("name");
    /// name.make_ascii_uppercase();
    /// assert_eq!(name, "NAME");
    /// ```
    #[inline]
    pub fn alloc_str(&self, text: &str) -> &mut str {
        let bytes = self.alloc_slice_copy(text.as_bytes());
        // SAFETY: these are the bytes of a `str`.
        unsafe { core::str::from_utf8_unchecked_mut(bytes) }
    }

    /// [`alloc_str`](Self::alloc_str) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_str(&self, text: &str) -> Result<&mut str, AllocError<()>> {
        let bytes = self.try_alloc_slice_copy(text.as_bytes())?;
        // SAFETY: these are the bytes of a `str`.
        Ok(unsafe { core::str::from_utf8_unchecked_mut(bytes) })
    }
}

/// The arena as a whole.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Forgets everything that was allocated, and keeps the largest chunk for what comes.
    ///
    /// If all of it has no room there, the next chunk that has to be made will have: an arena that is used and reset again
    /// and again ends up with one chunk and calls its allocator no more.
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
    pub fn reset(&mut self) {
        let used: usize = self.chunks().map(<[_]>::len).sum();
        self.pos.set(Self::NOWHERE);
        self.end.set(Self::NOWHERE);
        if let Some(chunk) = self.clear() {
            self.push(chunk);
            if used > self.end.get().addr().get() - self.pos.get().addr().get() {
                self.next.set(fit::next_round(self.next(), used));
            }
        }
    }

    /// Takes the list of chunks apart and releases all but the largest, which is returned, regular and unused.
    fn clear(&self) -> Option<NonNull<Header>> {
        let mut kept: Option<NonNull<Header>> = None;
        let mut list = self.newest();
        self.chunk.set(None);
        while let Some(chunk) = list {
            // SAFETY: invariant 3.
            let header = unsafe { chunk.read() };
            list = header.prev;
            // SAFETY: a chunk begins with its header.
            let largest = kept.map_or(0, |kept| unsafe { kept.read() }.size);
            let gone = if header.size > largest && chunk::ends_low(chunk.cast(), header.size) {
                kept.replace(chunk)
            } else {
                Some(chunk)
            };
            if let Some(gone) = gone {
                // SAFETY: invariant 3, and the list is no longer this arena's.
                unsafe { self.store().release::<MIN_ALIGN>(gone) };
            }
        }
        if let Some(kept) = kept {
            // SAFETY: a chunk begins with its header.
            let mut header = unsafe { kept.read() };
            // SAFETY: it is a chunk.
            let start = unsafe { chunk::Of::<MIN_ALIGN>::start(kept) };
            header.prev = None;
            header.used = Some(start);
            // SAFETY: as above.
            unsafe { kept.write(header) };
            // SAFETY: these are the chunk's bytes behind its header; the blocks are forgotten.
            unsafe { chunk::poison(start, header.size - chunk::Of::<MIN_ALIGN>::HEADER) };
        }
        kept
    }

    /// Gives a list of chunks back.
    ///
    /// # Safety
    ///
    /// They came from this arena's store, are in no other list, and their blocks are not used again.
    unsafe fn release_all(&self, mut list: Option<NonNull<Header>>) {
        while let Some(chunk) = list {
            // SAFETY: a chunk begins with its header.
            list = unsafe { chunk.read() }.prev;
            // SAFETY: the caller's promise, passed on.
            unsafe { self.store().release::<MIN_ALIGN>(chunk) };
        }
    }

    /// The bytes that the arena has from its allocator, used or not.
    pub fn allocated_bytes(&self) -> usize {
        self.settle();
        self.store().held()
    }

    /// Never has more than `bytes` from its allocator from now on; `None` is no limit.
    ///
    /// What is over the limit already stays. A request fails only if no chunk that holds it is within the limit.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// bump.set_limit(Some(1000));
    /// assert!(bump.try_alloc([0_u8; 900]).is_ok());
    /// assert!(bump.try_alloc([0_u8; 900]).is_err());
    /// assert!(bump.allocated_bytes() <= 1000);
    /// ```
    pub fn set_limit(&self, bytes: Option<usize>) {
        self.settle();
        let next = self.next_of_owner();
        next.set(next.get().max(fit::FIRST_CHUNK));
        self.store().set_limit(bytes.unwrap_or(usize::MAX));
    }

    /// The allocator that chunks come from.
    pub fn allocator(&self) -> &A {
        self.store().alloc()
    }
}

impl<const MIN_ALIGN: usize, A: Allocator + Default> Default for Bump<MIN_ALIGN, A> {
    fn default() -> Self {
        Self::new_in(A::default())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Bump<MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bump").field("allocated_bytes", &self.allocated_bytes()).finish_non_exhaustive()
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Bump<MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        // Counts and list stay as they are: by invariant 8 both are this arena's, and go with it.
        if self.next.get() == ONLY {
            // SAFETY: by invariant 9 there is a chunk.
            let chunk = unsafe { self.chunk.get().unwrap_unchecked() };
            // SAFETY: by invariant 9 it is from `obtain_first` of this store; its blocks are not used again.
            unsafe { self.store().release_first::<MIN_ALIGN>(chunk) };
        } else if self.chunk.get().is_some() {
            self.drop_all();
        }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The end of an arena whose chunks have headers.
    #[cold]
    #[inline(never)]
    fn drop_all(&mut self) {
        let mut list = self.chunk.get();
        while let Some(chunk) = list {
            // SAFETY: a chunk begins with its header.
            list = unsafe { chunk.read() }.prev;
            // SAFETY: invariant 3.
            unsafe { self.store().release_uncounted::<MIN_ALIGN>(chunk) };
        }
    }
}

//! A part of an arena's life: what is allocated in it is forgotten at its end, and nothing else is.

use super::chunk::{self, Header, Of};
use super::{Bump, ONLY, Source};
use crate::alloc::Allocator;
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

/// An arena for a while: what [`Bump::scope_guard`] returns.
///
/// It is used like a [`Bump`]. When it is dropped, its bytes go back to the arena that it came from.
///
/// ```
/// use dwell::Bump;
///
/// let bump = Bump::new();
/// let outer = bump.alloc(1);
/// {
///     let scope = bump.scope_guard();
///     let inner = scope.alloc(*outer + 1);
///     *outer = *inner;
/// }
/// assert_eq!(*outer, 2);
/// ```
///
/// Nothing that lives in it gets out:
///
/// ```compile_fail,E0505
/// let bump = dwell::Bump::new();
/// let scope = bump.scope_guard();
/// let inner = scope.alloc(1);
/// drop(scope);
/// assert_eq!(*inner, 1);
/// ```
///
/// [`Bump::scope_guard`]: super::Bump::scope_guard
pub struct Scope<'a, const MIN_ALIGN: usize = 8, A: Allocator = crate::alloc::Global> {
    // # Invariants
    //
    // 1. `inner` is lent the store of `outer`. Its chunks are its own; besides, it has the room from `pos` to `end`, which
    //    was all that `outer` had left in `chunk` and which `outer` gave up. While `outer.chunk` is `chunk` and its `pos` is
    //    NOWHERE, the room can be given back: the last to be lent that chunk's room is this scope, or had none.
    // 2. No one has `inner` but by `&`: a `Bump` moved out of here would outlive the store.
    inner: Bump<MIN_ALIGN, A>,
    outer: &'a Bump<MIN_ALIGN, A>,
    pos: NonNull<u8>,
    end: NonNull<u8>,
    chunk: Option<NonNull<Header>>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Runs `f` with the arena for a while: what `f` allocates from its argument is forgotten when it returns or panics.
    ///
    /// The arena itself can be used in the meantime; what is allocated from it stays. Scopes nest.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let longest: &str = bump.scope(|scope| {
    ///     let words = scope.alloc_iter("where values live".split(' '));
    ///     words.sort_by_key(|word| word.len());
    ///     bump.alloc_str(words[words.len() - 1])
    /// });
    /// assert_eq!(longest, "values");
    /// ```
    #[inline]
    pub fn scope<R>(&self, f: impl FnOnce(&Self) -> R) -> R {
        f(&self.scope_guard())
    }

    /// [`scope`](Self::scope) as a value, which ends the scope when it is dropped.
    #[inline]
    pub fn scope_guard(&self) -> Scope<'_, MIN_ALIGN, A> {
        if self.next.get() <= ONLY {
            self.before_scopes();
        }
        let (pos, end) = (self.pos.replace(Self::NOWHERE), self.end.replace(Self::NOWHERE));
        let chunk = self.chunk.get();
        if let Some(chunk) = chunk {
            // SAFETY: it is the newest of this arena, and `pos` was the arena's.
            unsafe { Self::retire(chunk, pos) };
        }
        let inner = Self {
            pos: pos.into(),
            chunk: None.into(),
            end: end.into(),
            next: self.next.clone(),
            source: Source::Lent(NonNull::from(self.store()), NonNull::from(self.next_of_owner())),
        };
        Scope { inner, outer: self, pos, end, chunk }
    }

    /// Makes an arena one that has, or will have, chunks with headers: its store is about to be lent.
    #[cold]
    #[inline(never)]
    fn before_scopes(&self) {
        self.next.set(self.next());
    }

    /// A point to which [`rewind`](Self::rewind) goes back.
    pub fn checkpoint(&self) -> Checkpoint {
        let (pos, end, chunk) = (self.pos.get(), self.end.get(), self.newest());
        let offset = chunk.and_then(|chunk| {
            // SAFETY: invariant 3.
            let in_chunk = pos != Self::NOWHERE && unsafe { chunk.read() }.used.is_some();
            in_chunk.then(|| pos.addr().get() - chunk.addr().get())
        });
        // A first chunk has the number that none has been made.
        let made = (self.next.get() != 0).then(|| self.store().made());
        Checkpoint { pos, end, offset, made }
    }

    /// Forgets everything that was allocated since the checkpoint.
    ///
    /// [`scope`](Self::scope) does so without `unsafe`, and at less cost.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let kept = bump.alloc(1);
    /// let checkpoint = bump.checkpoint();
    /// let gone = bump.alloc(2);
    /// *kept += *gone;
    /// // SAFETY: `gone` is not used again, and nothing else was allocated since.
    /// unsafe { bump.rewind(checkpoint) };
    /// assert_eq!(*kept, 3);
    /// ```
    ///
    /// # Safety
    ///
    /// - The checkpoint is this arena's, and since it was taken the arena was neither moved nor reset nor rewound to an
    ///   earlier one, and no block from before was given back or made larger or smaller.
    /// - Nothing that was allocated since is used again, and each scope that began since has ended.
    pub unsafe fn rewind(&self, checkpoint: Checkpoint) {
        // Newer chunks are released at the end, when the arena is whole: the allocator may come back to it.
        let (mut list, mut gone) = (self.newest(), None);
        // SAFETY: the chunks are this arena's; their blocks are from after the checkpoint.
        unsafe { move_newer(&mut list, &mut gone, checkpoint.made) };
        self.chunk.set(list);
        self.pos.set(checkpoint.pos);
        self.end.set(checkpoint.end);
        if let Some(newest) = list {
            // SAFETY: invariant 3.
            let mut header = unsafe { newest.read() };
            // Chunks for one block each, made while this one was the newest.
            // SAFETY: as above.
            unsafe { move_newer(&mut header.prev, &mut gone, checkpoint.made) };
            // SAFETY: invariant 3.
            unsafe { newest.write(header) };
            if checkpoint.offset.is_some() && header.used.is_none() {
                // It grew to where it may have no more than one block.
                self.pos.set(Self::NOWHERE);
                self.end.set(Self::NOWHERE);
            } else if let Some(offset) = checkpoint.offset {
                // The chunk may have moved: an empty one, whose first block grew.
                // SAFETY: the newest chunk is the one that was then, and has not become smaller.
                self.pos.set(unsafe { newest.cast::<u8>().add(offset) });
                // SAFETY: invariant 3.
                self.end.set(unsafe { Of::<MIN_ALIGN>::end(newest) });
            }
        }
        let free = self.end.get().addr().get() - self.pos.get().addr().get();
        // SAFETY: these bytes are free.
        unsafe { chunk::poison(self.pos.get(), free) };
        // SAFETY: the chunks were this arena's, and their blocks are not used again.
        unsafe { self.release_all(gone) };
    }
}

/// Moves the chunks at the beginning of a list that are newer than when `made` had been made to another list.
///
/// # Safety
///
/// `from` is a list of chunks.
unsafe fn move_newer(from: &mut Option<NonNull<Header>>, to: &mut Option<NonNull<Header>>, made: Option<usize>) {
    while let Some(chunk) = *from {
        // SAFETY: a chunk begins with its header.
        let mut header = unsafe { chunk.read() };
        if made.is_some_and(|made| header.serial <= made) {
            return;
        }
        *from = header.prev;
        header.prev = to.replace(chunk);
        // SAFETY: as above.
        unsafe { chunk.write(header) };
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Scope<'_, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: by invariant 1 these bytes are the scope's, which ends.
        unsafe { chunk::poison(self.pos, self.room()) };
        if self.inner.chunk.get().is_some() {
            return self.drop_slow();
        }
        self.give_back();
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Scope<'_, MIN_ALIGN, A> {
    /// The bytes that the outer arena had left.
    #[inline]
    fn room(&self) -> usize {
        self.end.addr().get() - self.pos.addr().get()
    }

    /// Gives the outer arena its room back, unless it has found other room meanwhile.
    #[inline]
    fn give_back(&self) -> bool {
        let back = self.outer.pos.get() == Bump::<MIN_ALIGN, A>::NOWHERE && self.outer.chunk.get() == self.chunk;
        if back {
            self.outer.pos.set(self.pos);
            self.outer.end.set(self.end);
        }
        back
    }

    /// The end of a scope that has chunks.
    ///
    /// The largest becomes the outer arena's, so that the next scope finds its room there.
    #[cold]
    #[inline(never)]
    fn drop_slow(&mut self) {
        let largest = self.inner.clear();
        let back = self.give_back();
        let Some(largest) = largest else { return };
        // SAFETY: by `clear` it is a chunk, and in no list.
        let size = unsafe { largest.read() }.size;
        if back && size - Of::<MIN_ALIGN>::HEADER > self.room() {
            self.outer.next.set(self.inner.next().max(self.outer.next.get()));
            self.outer.push(largest);
        } else {
            // SAFETY: it came from this store, and is in no list.
            unsafe { self.outer.store().release::<MIN_ALIGN>(largest) };
        }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Deref for Scope<'_, MIN_ALIGN, A> {
    type Target = Bump<MIN_ALIGN, A>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Scope<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// A point in an arena's life, for [`Bump::rewind`].
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    pos: NonNull<u8>,
    end: NonNull<u8>,
    /// How far `pos` is from the beginning of the newest chunk, if it is in it.
    offset: Option<usize>,
    /// The number of chunks that had been made. `None`: the arena was new.
    made: Option<usize>,
}

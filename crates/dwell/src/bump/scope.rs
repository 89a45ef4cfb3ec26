//! Scopes and checkpoints: their end frees what was allocated since their beginning.

use super::chunk::{Chunk, Header};
use super::{Bump, FreeRange, Owner};
use crate::alloc::Allocator;
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

/// A temporary arena: the result of [`Bump::scope_guard`].
///
/// It is used like a [`Bump`]. Dropping it returns its bytes to the arena that it came from.
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
/// References into it cannot outlive it:
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
    // 1. `lent` is the free range that `outer` gave up when this scope began. Only `inner` cuts blocks from it, and they are not
    //    used after this guard is dropped.
    // 2. `inner` is reached by `&` only: a `Bump` that was moved out of here would outlive the store that it points to.
    inner: Bump<MIN_ALIGN, A>,
    outer: &'a Bump<MIN_ALIGN, A>,
    lent: FreeRange,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Runs `f` with a temporary arena, whose blocks are freed when `f` returns or panics.
    ///
    /// `f` may also allocate from the outer arena; these blocks stay. Scopes nest.
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
    ///
    /// A guard that is forgotten leaks the chunks that the scope allocated, and they stay in
    /// [`allocated_bytes`](Self::allocated_bytes).
    #[inline]
    pub fn scope_guard(&self) -> Scope<'_, MIN_ALIGN, A> {
        let lent = self.range();
        self.park();
        self.enter(Self::EMPTY);
        let owner = Owner::Scope(NonNull::from(self.store()));
        // The chunk of the free range stays this arena's.
        Scope { inner: Self::with_range(FreeRange { chunk: None, ..lent }, owner), outer: self, lent }
    }

    /// Returns a checkpoint for [`rewind`](Self::rewind).
    pub fn checkpoint(&self) -> Checkpoint {
        // SAFETY: the chunk is saved.
        let saved = self.saved.get().map(|chunk| unsafe { Self::saved_range(chunk) }.0);
        Checkpoint { range: self.range(), saved, chunks: self.chunks.get() }
    }

    /// Frees everything that was allocated since the checkpoint.
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
    ///   earlier one, and no earlier block was freed, grown or shrunk.
    /// - Nothing that was allocated since is used again, nor an iterator that [`chunks_raw`](Self::chunks_raw) returned since, and
    ///   each scope that began since has ended.
    pub unsafe fn rewind(&self, checkpoint: Checkpoint) {
        // The chunks that are newer than the checkpoint are the front of the list. They are freed at the end, when the arena is
        // whole: the allocator may use it.
        let newer = self.chunks.replace(checkpoint.chunks);
        let mut oldest = None;
        let mut rest = newer;
        while let Some(chunk) = rest
            && rest != checkpoint.chunks
        {
            oldest = rest;
            // SAFETY: the chunk is of this arena's list, so it was not freed.
            rest = unsafe { chunk.header() }.prev;
        }
        self.enter(checkpoint.range);
        // Of the saved chunks only the first at the checkpoint stays saved: others may be among the newer ones.
        self.saved.set(None);
        if let Some(range) = checkpoint.saved {
            // SAFETY: the chunk was saved at the checkpoint: a shared one of the list, in which it still is, and not the one of the
            // range just entered. The blocks in `range` were allocated since, and are not used again.
            unsafe { self.save(range) };
        }
        let Some(oldest) = oldest else { return };
        // SAFETY: the chunk is one of the newer ones, which are not freed yet.
        let header = unsafe { oldest.header() };
        // SAFETY: the chunk is not freed yet, and keeps its size.
        unsafe { oldest.set_header(Header { prev: None, ..header }) };
        // SAFETY: the newer chunks are of this store, and the arena's list begins behind them. Their blocks were allocated since
        // the checkpoint, and are not used again.
        unsafe { self.store().free_all(newer) };
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Scope<'_, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        let outer = self.outer;
        if self.lent.pos != self.lent.end {
            if outer.chunk.get().is_some() {
                // The outer arena was used meanwhile. It uses the rest of its chunk before it allocates another one.
                // SAFETY: the range is the arena's, whose chunk is not saved (its invariants 1, 3 and 8). It leaves that range below.
                unsafe { outer.save(outer.range()) };
            }
            outer.enter(self.lent);
        }
        if self.inner.chunks.get().is_some() {
            self.recycle();
        }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Scope<'_, MIN_ALIGN, A> {
    /// Returns the chunks of a scope to the store, which keeps the largest for the next one.
    #[cold]
    #[inline(never)]
    fn recycle(&mut self) {
        let list = self.inner.chunks.take();
        // SAFETY: the chunks are of the outer arena's store, the inner one has given up the list, and the blocks of a scope are
        // not used after its end.
        unsafe { self.outer.store().recycle(list) };
        // An outer arena that has no free bytes gets that chunk at once, so that the next scope is lent it.
        if self.outer.pos.get() == self.outer.end.get()
            && let Some(spare) = self.outer.store().take_spare(0)
        {
            // SAFETY: the spare chunk was in no list.
            unsafe { self.outer.install(spare) };
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

/// The state of an arena at one moment, for [`Bump::rewind`].
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    range: FreeRange,
    saved: Option<FreeRange>,
    chunks: Option<Chunk>,
}

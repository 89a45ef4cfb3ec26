//! Scopes and checkpoints, which free what was allocated since they began.

use super::chunk::{Chunk, Header};
use super::{Bump, FreeRange, Owner};
use crate::alloc::Allocator;
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

/// A temporary arena, which ends when it is dropped. [`Bump::scope_guard`] returns it.
///
/// It dereferences to a [`Bump`]. Dropping it returns its bytes to the arena that it came from.
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
    // 1. `lent` is the free range that `outer` gave up when this scope began. Only `inner` allocates from it, and the
    //    blocks are not used after this guard is dropped.
    // 2. Other code reaches `inner` only by `&`: a `Bump` that was moved out of here could outlive the store that it
    //    points to.
    inner: Bump<MIN_ALIGN, A>,
    outer: &'a Bump<MIN_ALIGN, A>,
    lent: FreeRange,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Runs `f` with a temporary arena, whose blocks are freed when `f` returns or panics.
    ///
    /// `f` may also allocate from the outer arena. Those blocks outlive the scope. Scopes may be nested.
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

    /// Begins a [`scope`](Self::scope) that ends when the returned guard is dropped.
    ///
    /// Forgetting the guard loses the free range that the scope was lent and leaks the chunks that it allocated. They
    /// still count in [`allocated_bytes`](Self::allocated_bytes).
    #[inline]
    pub fn scope_guard(&self) -> Scope<'_, MIN_ALIGN, A> {
        let lent = self.range();
        self.park();
        self.enter(Self::EMPTY);
        let owner = Owner::Scope(NonNull::from(self.store()));
        // The chunk stays in this arena's list. The scope gets only the range.
        Scope { inner: Self::with_range(FreeRange { chunk: None, ..lent }, owner), outer: self, lent }
    }

    /// Returns a checkpoint for [`rewind`](Self::rewind).
    pub fn checkpoint(&self) -> Checkpoint {
        // SAFETY: the list `saved` has only saved chunks of this arena (invariant 8).
        let saved = self.saved.get().map(|chunk| unsafe { Self::saved_range(chunk) }.0);
        Checkpoint { range: self.range(), saved, chunks: self.chunks.get() }
    }

    /// Frees everything that was allocated since the checkpoint.
    ///
    /// [`scope`](Self::scope) does so without `unsafe`, and costs less.
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
    /// - This arena returned the checkpoint. Since then it was not moved, reset or rewound to an earlier checkpoint,
    ///   and no block that is older than the checkpoint was freed, grown or shrunk.
    /// - Nothing that was allocated since is used again, nor an iterator that [`chunks_raw`](Self::chunks_raw) returned
    ///   since. Each scope that began since has ended.
    pub unsafe fn rewind(&self, checkpoint: Checkpoint) {
        // The chunks that are newer than the checkpoint are at the front of the list. They are freed at the end, when
        // the arena is consistent, because the allocator may use it.
        let newer = self.chunks.replace(checkpoint.chunks);
        let mut oldest = None;
        let mut rest = newer;
        while let Some(chunk) = rest
            && rest != checkpoint.chunks
        {
            oldest = rest;
            // SAFETY: the chunk was in this arena's list, and the newer chunks are not freed yet.
            rest = unsafe { chunk.header() }.prev;
        }
        self.enter(checkpoint.range);
        // Of the saved chunks only the one that was the first at the checkpoint stays saved, because others may be
        // among the newer chunks.
        self.saved.set(None);
        if let Some(range) = checkpoint.saved {
            // SAFETY: the chunk was saved at the checkpoint, so it is a shared chunk of the list, and it is still in
            // the list. It is not the chunk of the range just entered, and not saved, since `saved` is `None`. The
            // blocks in `range` were allocated since the checkpoint. The caller guarantees that they are not used again
            // and that scopes that began since have ended, so the range is not lent.
            unsafe { self.save(range) };
        }
        let Some(oldest) = oldest else { return };
        // SAFETY: the chunk is one of the newer ones, which were in the list and are not freed yet.
        let header = unsafe { oldest.header() };
        // SAFETY: the chunk is not freed yet, and its size is unchanged.
        unsafe { oldest.set_header(Header { prev: None, ..header }) };
        // SAFETY: the newer chunks are of this store, and the arena's list now begins behind them. Their blocks were
        // allocated since the checkpoint, and the caller guarantees that they are not used again.
        unsafe { self.store().free_all(newer) };
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Scope<'_, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        let outer = self.outer;
        if self.lent.pos != self.lent.end {
            if outer.chunk.get().is_some() {
                // The outer arena was used meanwhile. Its current chunk is saved, so that it uses the rest before it
                // allocates another one.
                // SAFETY: the range is the free range of the outer arena. Its chunk is a shared one of the list and not
                // saved, and the range is that chunk's end (invariants 1, 3 and 8 of `Bump`). The arena enters the lent
                // range below.
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
    /// Returns the chunks of a scope to the store, which keeps the largest for the next scope.
    #[cold]
    #[inline(never)]
    fn recycle(&mut self) {
        let list = self.inner.chunks.take();
        // SAFETY: the chunks are of the outer arena's store, `take` emptied the inner arena's list, and the blocks of a
        // scope are not used after its end (invariant 1).
        unsafe { self.outer.store().recycle(list) };
        // An outer arena without free bytes enters that chunk at once, so that it can lend it to the next scope.
        if self.outer.pos.get() == self.outer.end.get()
            && let Some(spare) = self.outer.store().take_spare(0)
        {
            // SAFETY: the spare chunk is of this store, is in no list and has no live block. The size is its own.
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

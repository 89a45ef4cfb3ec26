//! What an arena has in it.

use super::{Bump, chunk};
use crate::alloc::{Allocator, Global};
use chunk::Header;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice;

/// The bytes of an arena, chunk by chunk: what [`Bump::chunks`] returns.
pub struct Chunks<'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `next` is one of the arena's chunks, which stay as they are for `'a`, with no one using a block.
    next: Option<NonNull<Header>>,
    bump: PhantomData<&'a mut Bump<MIN_ALIGN, A>>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The bytes that were allocated, a slice for each chunk, the newest first.
    ///
    /// Padding between values is among them, and so is what was given back unless it was the last.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let mut bump = Bump::new();
    /// bump.alloc_slice_copy(&[1_u64, 2]);
    /// assert_eq!(bump.chunks().map(|chunk| chunk.len()).sum::<usize>(), 16);
    /// ```
    pub fn chunks(&mut self) -> Chunks<'_, MIN_ALIGN, A> {
        let next = self.newest();
        if let Some(chunk) = next {
            // SAFETY: it is the newest of this arena, and `pos` is the arena's.
            unsafe { Self::retire(chunk, self.pos.get()) };
        }
        Chunks { next, bump: PhantomData }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The alignment of chunks.
    pub(crate) const CHUNK_ALIGN: usize = chunk::Of::<MIN_ALIGN>::ALIGN;

    /// Calls `each`, which does not use the arena, with the bytes of each of its chunks and how many of them at the end are free.
    pub(crate) fn each_chunk(&self, mut each: impl FnMut(usize, usize)) {
        let pos = self.pos.get().addr().get();
        let mut next = self.newest();
        while let Some(chunk) = next {
            // SAFETY: by invariant 3 of `Bump` it is a chunk, and none is released meanwhile, since nobody uses the arena.
            let header = unsafe { chunk.read() };
            let start = chunk.addr().get();
            let end = start + header.size;
            // What the newest says of itself is old.
            let used = match header.used {
                Some(_) if start < pos && pos <= end => pos,
                Some(used) => used.addr().get(),
                None => end,
            };
            each(header.size, end - used);
            next = header.prev;
        }
    }
}

impl<'a, const MIN_ALIGN: usize, A: Allocator> Iterator for Chunks<'a, MIN_ALIGN, A> {
    type Item = &'a [MaybeUninit<u8>];

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.next?;
        // SAFETY: invariant 1.
        let header = unsafe { chunk.read() };
        self.next = header.prev;
        // SAFETY: invariant 1.
        let start = unsafe { chunk::Of::<MIN_ALIGN>::start(chunk) };
        let used = match header.used {
            Some(used) => used,
            // SAFETY: invariant 1.
            None => unsafe { chunk::Of::<MIN_ALIGN>::end(chunk) },
        };
        let len = used.addr().get() - start.addr().get();
        // SAFETY: these bytes are in the chunk, which no one else uses for `'a`; they need not be initialised.
        Some(unsafe { slice::from_raw_parts(start.cast().as_ptr(), len) })
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> FusedIterator for Chunks<'_, MIN_ALIGN, A> {}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Chunks<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").finish_non_exhaustive()
    }
}

//! What an arena has in it, chunk by chunk.

use super::chunk::{Chunk, Kind};
use super::{Bump, Owner};
use crate::alloc::{Allocator, Global};
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

/// The bytes of an arena, chunk by chunk: what [`Bump::chunks`] returns.
pub struct Chunks<'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `next` is a chunk of the arena's list, which stays as it is for `'a`. No block of the arena is in use.
    next: Option<Chunk>,
    bump: PhantomData<&'a mut Bump<MIN_ALIGN, A>>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// The bytes that were allocated, a slice for each chunk, the newest first.
    ///
    /// Padding between values is among them, and so is what was freed unless it was the last block.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let mut bump = Bump::new();
    /// bump.alloc_slice_copy(&[1_u64, 2]);
    /// assert_eq!(bump.chunks().map(|chunk| chunk.len()).sum::<usize>(), 16);
    /// ```
    pub fn chunks(&mut self) -> Chunks<'_, MIN_ALIGN, A> {
        self.park();
        Chunks { next: self.chunks.get(), bump: PhantomData }
    }

    /// Calls `each` with the size of each chunk that this arena has, and how many bytes at its end are free.
    pub(crate) fn each_chunk(&self, mut each: impl FnMut(usize, usize)) {
        self.park();
        let mut list = self.chunks.get();
        while let Some(chunk) = list {
            // SAFETY: chunks of the list are not freed; `each` has no way to the arena.
            let header = unsafe { chunk.header() };
            // SAFETY: as for `header`.
            let end = unsafe { chunk.end(header.size) };
            let free = match header.kind {
                Kind::Shared { used } => end.addr().get() - used.addr().get(),
                Kind::Dedicated { .. } => 0,
            };
            each(header.size, free);
            list = header.prev;
        }
        if let Owner::Own(store) = &self.owner
            && let Some(spare) = store.spare()
        {
            // SAFETY: the spare chunk is not freed while it is there.
            let size = unsafe { spare.header() }.size;
            each(size, size - Self::HEADER);
        }
    }
}

impl<'a, const MIN_ALIGN: usize, A: Allocator> Iterator for Chunks<'a, MIN_ALIGN, A> {
    type Item = &'a [MaybeUninit<u8>];

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.next?;
        // SAFETY: chunks of the list are not freed for `'a` (invariant 1).
        let header = unsafe { chunk.header() };
        self.next = header.prev;
        // SAFETY: as for `header`.
        let start = unsafe { chunk.start(Bump::<MIN_ALIGN, A>::HEADER) };
        let used = match header.kind {
            Kind::Shared { used } => used,
            // SAFETY: as for `header`.
            Kind::Dedicated { .. } => unsafe { chunk.end(header.size) },
        };
        let len = used.addr().get() - start.addr().get();
        // SAFETY: these bytes are in the chunk, in which no block is in use for `'a`. They need not be initialised.
        Some(unsafe { slice::from_raw_parts(start.cast().as_ptr(), len) })
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> FusedIterator for Chunks<'_, MIN_ALIGN, A> {}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Chunks<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").finish_non_exhaustive()
    }
}

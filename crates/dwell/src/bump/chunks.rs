//! Iterators over the allocated bytes of an arena, chunk by chunk.

use super::chunk::Chunk;
use super::{Bump, Owner};
use crate::alloc::{Allocator, Global};
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// An iterator over the allocated bytes of each chunk of an arena. [`Bump::chunks`] returns it.
pub struct Chunks<'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. No block of the arena is used for `'a`.
    chunks: ChunksRaw<'a, MIN_ALIGN, A>,
    exclusive: PhantomData<&'a mut Bump<MIN_ALIGN, A>>,
}

/// An iterator over pointers to the allocated bytes of each chunk. [`Bump::chunks_raw`] returns it.
pub struct ChunksRaw<'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `next` is a chunk of the arena's list or `None`. Neither it nor an older chunk leaves the list, moves or is
    //    freed for `'a`: only the newest chunk can, if it is dedicated, and the chunk that was the newest when this was
    //    made is shared.
    next: Option<Chunk>,
    bump: PhantomData<&'a Bump<MIN_ALIGN, A>>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Returns the allocated bytes, a slice for each chunk, newest chunk first.
    ///
    /// Within a chunk the oldest value comes first. A value of more than 16 KiB has a chunk of its own, so a value that was
    /// allocated after it may be in an older chunk.
    ///
    /// The bytes include padding between values, the unused capacity of vectors, and freed blocks other than the last. Without
    /// these they are those of the values and all initialised, if all values have the same alignment, which is at least
    /// `MIN_ALIGN` and at most 16, and none has padding inside.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let mut bump = Bump::new();
    /// bump.alloc_slice_copy(&[1_u64, 2]);
    /// assert_eq!(bump.chunks().map(|chunk| chunk.len()).sum::<usize>(), 16);
    /// ```
    pub fn chunks(&mut self) -> Chunks<'_, MIN_ALIGN, A> {
        Chunks { chunks: self.chunks_raw(), exclusive: PhantomData }
    }

    /// Returns pointers to the bytes allocated before this call, one for each chunk, newest first.
    ///
    /// See [`chunks`](Self::chunks). The bytes that a [`scope`](Self::scope) allocates in the free range of the outer
    /// arena are in the chunks of neither.
    ///
    /// Values in the chunks may be borrowed, and the padding between them is uninitialised. Reading through such a
    /// pointer is `unsafe`: the bytes must be initialised, no `&mut` to them may be in use, and no `Cell` among them
    /// may be written at the same time. The pointers are valid for as long as the arena is borrowed.
    ///
    /// The newest block, if it has a chunk of its own, cannot grow in place after this.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let numbers: &[u64] = bump.alloc_slice_copy(&[1, 2]);
    /// let chunk = bump.chunks_raw().next().unwrap();
    /// assert_eq!(chunk.len(), 16);
    /// // SAFETY: the chunk's bytes are those of `numbers`, which are initialised and shared.
    /// assert_eq!(unsafe { chunk.cast::<u64>().read() }, numbers[0]);
    /// ```
    pub fn chunks_raw(&self) -> ChunksRaw<'_, MIN_ALIGN, A> {
        self.park();
        let newest = self.chunks.get();
        if let Some(chunk) = newest {
            // A newest chunk that is dedicated is freed or moved with its block, which would invalidate the iterator.
            // SAFETY: chunks of the list are not freed (invariant 5 of `Bump`).
            unsafe { chunk.share() };
        }
        ChunksRaw { next: newest, bump: PhantomData }
    }

    /// Calls `each` for each chunk of this arena, with its size and the number of free bytes at its end.
    pub(crate) fn each_chunk(&self, mut each: impl FnMut(usize, usize)) {
        self.park();
        let mut list = self.chunks.get();
        while let Some(chunk) = list {
            // SAFETY: chunks of the list are not freed (invariant 5 of `Bump`). The closures that `weigh` passes as
            // `each` do not use the arena.
            let header = unsafe { chunk.header() };
            // SAFETY: the chunk is in the list, so it was not freed, `header.size` is its size, and the store that made it has
            // this `GAP`.
            let end = unsafe { chunk.end(header.size, Self::GAP) };
            let free = end.addr().get() - header.used.addr().get();
            each(header.size, free);
            list = header.prev;
        }
        if let Owner::Arena(store) = &self.owner
            && let Some(spare) = store.spare()
        {
            // SAFETY: the spare chunk was in a list and was not freed (invariant 2 of `Store`).
            let size = unsafe { spare.header() }.size;
            each(size, size - Self::OVERHEAD);
        }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Iterator for ChunksRaw<'_, MIN_ALIGN, A> {
    type Item = NonNull<[MaybeUninit<u8>]>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.next?;
        // SAFETY: the chunk is in the arena's list, so it was not freed (invariant 1).
        let header = unsafe { chunk.header() };
        self.next = header.prev;
        // SAFETY: the chunk was not freed, and this is the `HEADER` of the store that made it.
        let start = unsafe { chunk.start(Bump::<MIN_ALIGN, A>::HEADER) };
        Some(NonNull::slice_from_raw_parts(start.cast(), header.used.addr().get() - start.addr().get()))
    }
}

impl<'a, const MIN_ALIGN: usize, A: Allocator> Iterator for Chunks<'a, MIN_ALIGN, A> {
    type Item = &'a [MaybeUninit<u8>];

    fn next(&mut self) -> Option<Self::Item> {
        // SAFETY: the bytes are in a chunk that stays for `'a`, and no block in it is used (invariant 1). `MaybeUninit`
        // bytes need not be initialised.
        Some(unsafe { self.chunks.next()?.as_ref() })
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> FusedIterator for Chunks<'_, MIN_ALIGN, A> {}
impl<const MIN_ALIGN: usize, A: Allocator> FusedIterator for ChunksRaw<'_, MIN_ALIGN, A> {}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Chunks<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").finish_non_exhaustive()
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for ChunksRaw<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunksRaw").finish_non_exhaustive()
    }
}

//! An arena whose first chunk is in a buffer of the caller.

use super::{Bump, arithmetic};
use crate::alloc::{Allocator, Global, Refused};
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;

/// An allocator that first hands out a buffer of the caller: the base allocator of [`Bump::with_buffer`].
///
/// [`Bump::with_buffer`]: super::Bump::with_buffer
pub struct First<'b, A: Allocator = Global> {
    // # Invariants
    //
    // 1. The `len` bytes from `start` are borrowed for `'b`, and only this value and the owners of its blocks access them.
    // 2. `taken` is the block that this value handed out from them and that was not freed, if there is one.
    start: NonNull<u8>,
    len: usize,
    taken: Cell<Option<NonNull<[u8]>>>,
    rest: A,
    // The type that `new` takes. It determines variance and auto traits.
    buffer: PhantomData<&'b mut [MaybeUninit<u8>]>,
}

// SAFETY: a `First` owns a `&mut [MaybeUninit<u8>]`, which is `Send`, and the other allocator (`A: Send`).
unsafe impl<A: Allocator + Send> Send for First<'_, A> {}

// `taken` is written in one step, so it is right after any panic. Only the owners of blocks access the buffer.
impl<A: Allocator + UnwindSafe> UnwindSafe for First<'_, A> {}
impl<A: Allocator + RefUnwindSafe> RefUnwindSafe for First<'_, A> {}

impl<'b, A: Allocator> First<'b, A> {
    /// Creates an allocator that first hands out the buffer, and then blocks from `rest`.
    pub fn new(buffer: &'b mut [MaybeUninit<u8>], rest: A) -> Self {
        let len = buffer.len();
        Self { start: NonNull::from(buffer).cast(), len, taken: Cell::new(None), rest, buffer: PhantomData }
    }

    /// Returns the offset and the length of the largest part of the buffer that begins at a multiple of `align` and
    /// whose length is a multiple of `align`.
    fn aligned(&self, align: usize) -> (usize, usize) {
        let pad = arithmetic::padding(self.start.addr().get(), align);
        (pad, self.len.saturating_sub(pad) & !(align - 1))
    }

    /// Returns whether a block of this size is the buffer's.
    ///
    /// A block of `rest` may lie in the buffer: `rest` may have got it from the owner of the buffer's block. It may then
    /// begin where that block begins, so the size is compared too. A block of `rest` with the same size covers that
    /// block, whose owner can no longer free it.
    fn is_first(&self, block: NonNull<u8>, size: usize) -> bool {
        self.taken.get().is_some_and(|taken| taken.addr() == block.addr() && taken.len() == size)
    }
}

// SAFETY: each block is the other allocator's or the buffer's. For `'b` nothing else accesses the buffer, and it is handed
// out to one owner at a time. A block of `rest` that lies in it is in memory that this owner gave to `rest`. Moving a `First`
// moves neither.
unsafe impl<A: Allocator> Allocator for First<'_, A> {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused> {
        let pad = arithmetic::padding(self.start.addr().get(), layout.align());
        let fits = self.len.checked_sub(pad).is_some_and(|len| layout.size() <= len);
        // A zero-size block in the buffer could have the address of another block, so `rest` allocates it.
        if self.taken.get().is_some() || !fits || layout.size() == 0 {
            return self.rest.allocate(layout);
        }
        // SAFETY: `pad` is at most `len` (`fits`), so the block is in the buffer.
        let block = unsafe { self.start.add(pad) };
        let block = NonNull::slice_from_raw_parts(block, layout.size());
        self.taken.set(Some(block));
        Ok(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() != 0 && self.is_first(block, layout.size()) {
            self.taken.set(None);
        } else {
            // SAFETY: the block has size 0 or is not the buffer's, so `rest` returned it for this layout. The caller
            // guarantees that it was not freed.
            unsafe { self.rest.deallocate(block, layout) };
        }
    }
}

impl<A: Allocator> fmt::Debug for First<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("First").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<'b, const MIN_ALIGN: usize> Bump<MIN_ALIGN, First<'b>> {
    /// Creates an arena whose first chunk is a buffer, such as one on the stack.
    ///
    /// A buffer that is too small for a chunk is ignored.
    ///
    /// ```
    /// use dwell::Bump;
    /// use std::mem::MaybeUninit;
    ///
    /// let mut buffer = [MaybeUninit::uninit(); 1024];
    /// let bump = Bump::<8, _>::with_buffer(&mut buffer);
    /// let before = bump.allocated_bytes();
    /// let numbers = bump.alloc_slice_copy(&[1_u64; 100]); // no call of the global allocator
    /// assert_eq!((numbers.len(), bump.allocated_bytes()), (100, before));
    /// ```
    pub fn with_buffer(buffer: &'b mut [MaybeUninit<u8>]) -> Self {
        Self::with_buffer_in(buffer, Global)
    }
}

impl<'b, const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, First<'b, A>> {
    /// [`with_buffer`](Bump::with_buffer) with an allocator for the other chunks.
    pub fn with_buffer_in(buffer: &'b mut [MaybeUninit<u8>], alloc: A) -> Self {
        let bump = Self::new_in(First::new(buffer, alloc));
        let (_, size) = bump.allocator().aligned(Self::CHUNK_ALIGN);
        if size > Self::OVERHEAD
            && let Some(chunk) = bump.store().make(size)
        {
            // SAFETY: the chunk is new, so it is in no list and has no block. The size is its own.
            unsafe { bump.install(chunk) };
        }
        bump
    }
}

//! The free stack of a slab: the addresses of its vacant cells, which every insert and every drop touches.

use crate::alloc::try_alloc;
#[cfg(feature = "std")]
use crate::prefetch::prefetch;
use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use std_alloc::alloc::{dealloc, realloc};

/// The address of a *cell*: the memory for one value, vacant or occupied. It was made from its chunk's pointer, so that it
/// may be used to reach the whole block.
pub(crate) type CellPtr = NonNull<()>;

/// How many pops ahead [`FreeStack::pop_prefetch`] loads a cell: enough to hide a cache miss behind values of one to four
/// cache lines.
#[cfg(feature = "std")]
pub(super) const AHEAD: usize = 16;

/// Vacant cells, the last one that was freed on top. The cells themselves are not touched.
///
/// ```text
///          bottom           top                 end
///            ▼               ▼                   ▼
/// ┌──────────┬───────┬───────┬───────────────────┐
/// │ `ahead`  │ cell  │ cell  │ a word for each   │
/// │ words    │       │       │ occupied cell     │
/// └──────────┴───────┴───────┴───────────────────┘
/// ```
///
/// `top == bottom` is the only test of a pop, and `top == end` the only test of a push. A stack without a buffer answers yes
/// to both. So a slab that is not set up, is growing, or was torn down needs no test of its own: its stack has no buffer.
pub(super) struct FreeStack {
    // # Invariants
    //
    // 1. Either the three pointers are null, or they point into one block of the global allocator's with the layout
    //    `self.layout(capacity)`: `bottom` is `ahead` words behind its start, `end` is its end, and `bottom <= top <= end`.
    // 2. The words from the start of the block to `top` are initialised.
    // 3. The words from `bottom` to `top` are the addresses of vacant cells, each of them on this stack once and on no other.
    top: Cell<*mut CellPtr>,
    bottom: Cell<*mut CellPtr>,
    end: Cell<*mut CellPtr>,
    ahead: usize,
}

impl FreeStack {
    /// A stack without a buffer. One that is popped by [`pop_prefetch`](Self::pop_prefetch) has [`AHEAD`] words in front of the
    /// bottom, others have none.
    pub(super) const fn new(ahead: usize) -> Self {
        let [top, bottom, end] = [const { Cell::new(ptr::null_mut()) }; 3];
        Self { top, bottom, end, ahead }
    }

    /// Takes the cell on top.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<CellPtr> {
        let top = self.top.get();
        if top == self.bottom.get() {
            return None;
        }
        // SAFETY: `top` is not `bottom`, so by invariant 1 it is at least a word above it in the same block.
        let top = unsafe { top.sub(1) };
        self.top.set(top);
        // SAFETY: the word was below the old `top`, so by invariant 2 it is initialised.
        Some(unsafe { top.read() })
    }

    /// [`pop`](Self::pop) that prefetches the cell which is popped [`AHEAD`] pops later.
    ///
    /// Cells freed in random order have random addresses, which no hardware prefetcher predicts. Inserting a million values
    /// after a million random drops takes 32 ticks a value with it and 70 without (`cargo run --release -p dwell-bench --
    /// slab --times --only random-free`); the price is two instructions an insert.
    ///
    /// # Safety
    ///
    /// The stack was made with [`AHEAD`] words in front of the bottom.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) unsafe fn pop_prefetch(&self) -> Option<CellPtr> {
        debug_assert!(self.ahead == AHEAD);
        let cell = self.pop()?;
        // SAFETY: there was a cell, so by invariant 1 there is a block, and `top` is at least `ahead` words behind its start, which
        // the caller says are `AHEAD`; by invariant 2 the words in front of `top` are initialised.
        prefetch(unsafe { self.top.get().wrapping_sub(AHEAD).read() }.as_ptr());
        Some(cell)
    }

    /// Puts a cell on top, unless the buffer is full.
    ///
    /// # Safety
    ///
    /// The cell is vacant and on no stack, and the caller does not use it again.
    #[inline(always)]
    pub(super) unsafe fn push(&self, cell: CellPtr) -> Result<(), StackFull> {
        if self.top.get() == self.end.get() {
            return Err(StackFull);
        }
        // SAFETY: `top` is not `end`, so that the buffer is not full; the caller says that the cell is vacant and its own to give.
        unsafe { self.push_unchecked(cell) };
        Ok(())
    }

    /// Puts a cell on top of a stack that is not full.
    ///
    /// # Safety
    ///
    /// The cell is vacant and on no stack, and the caller does not use it again. The buffer is not full.
    #[inline(always)]
    pub(super) unsafe fn push_unchecked(&self, cell: CellPtr) {
        let top = self.top.get();
        debug_assert!(top != self.end.get());
        // SAFETY: the buffer is not full, so by invariant 1 there is a word between `top` and `end`.
        unsafe { top.write(cell) };
        // SAFETY: `top` is below `end` in the same block, so that one word behind it is `end` at most.
        self.top.set(unsafe { top.add(1) });
    }

    /// Pushes the `count` cells that follow `cell` at multiples of `stride`. The first of them ends on top. If the buffer has too
    /// little capacity, the last of them are lost.
    ///
    /// # Safety
    ///
    /// The cells behind `cell` are vacant and on no stack, and the caller does not use them again. All are in one block.
    pub(super) unsafe fn push_run(&self, cell: CellPtr, stride: usize, count: usize) {
        let count = count.min(self.capacity() - self.len());
        let mut top = self.top.get();
        // SAFETY: the caller says that there are so many cells behind `cell` in one block.
        let mut cell = unsafe { cell.byte_add(count * stride) };
        for _ in 0..count {
            // SAFETY: no more words are written than the buffer holds, so by invariant 1 this one is between `top` and `end`.
            unsafe { top.write(cell) };
            top = top.wrapping_add(1);
            // SAFETY: the cell in front of it, or at last the one that all of them are behind.
            cell = unsafe { cell.byte_sub(stride) };
        }
        self.top.set(top);
    }

    /// Cells on the stack.
    #[inline]
    pub(super) fn len(&self) -> usize {
        Self::words_between(self.bottom.get(), self.top.get())
    }

    /// The buffer's capacity in cells.
    pub(super) fn capacity(&self) -> usize {
        Self::words_between(self.bottom.get(), self.end.get())
    }

    fn words_between(from: *mut CellPtr, to: *mut CellPtr) -> usize {
        (to.addr() - from.addr()) / size_of::<CellPtr>()
    }

    /// Sees that the buffer has capacity for this many cells in all.
    ///
    /// The buffer grows by `realloc`: pages that were touched once stay (see [`touch`](Self::touch)). Meanwhile this stack has
    /// no buffer, so that the global allocator, if it re-enters the slab, can neither pop nor push. It must not re-enter
    /// this method.
    pub(super) fn try_reserve(&self, cells: usize) -> Result<(), Layout> {
        if cells <= self.capacity() {
            return Ok(());
        }
        let layout = self.layout(cells).ok_or(Layout::new::<CellPtr>())?;
        let old = self.take();
        let block = match old.buffer() {
            // SAFETY: by invariant 1 of `old` the block is the global allocator's, with this layout. The new size is that of a
            // layout with the same alignment, and it is not 0.
            Some((block, now)) => NonNull::new(unsafe { realloc(block.as_ptr(), now, layout.size()) }),
            None => try_alloc(layout).inspect(|block| {
                for index in 0..self.ahead {
                    // A mapped address, because prefetching an unmapped one is slow.
                    // SAFETY: the block was allocated with `layout(cells)`: `ahead` words, and those for cells behind them.
                    unsafe { block.cast::<CellPtr>().as_ptr().wrapping_add(index).write(block.cast()) };
                }
            }),
        };
        let Some(block) = block else {
            self.swap(&old);
            return Err(layout);
        };
        let bottom = block.cast::<CellPtr>().as_ptr().wrapping_add(self.ahead);
        self.bottom.set(bottom);
        self.top.set(bottom.wrapping_add(old.len()));
        self.end.set(bottom.wrapping_add(cells));
        Ok(())
    }

    /// Writes to the word of the cell with this number, counted from the bottom, if it is above the top.
    ///
    /// The first write to a page of a new buffer is a page fault. Here an insert pays for it that pays for memory anyway; else
    /// one in 512 first drops does.
    pub(super) fn touch(&self, number: usize) {
        let word = self.bottom.get().wrapping_add(number);
        if number >= self.len() && number < self.capacity() {
            // SAFETY: the number is less than the capacity, so by invariant 1 the word is in the block; it is above the top, so that
            // no cell's address is overwritten.
            unsafe { word.write(NonNull::dangling()) };
        }
    }

    /// Takes the buffer with its contents, and leaves a stack without a buffer.
    pub(super) fn take(&self) -> Self {
        let taken = Self::new(self.ahead);
        self.swap(&taken);
        taken
    }

    /// Swaps the buffers of two stacks that have the same number of words in front of the bottom.
    pub(super) fn swap(&self, other: &Self) {
        assert!(self.ahead == other.ahead);
        self.top.swap(&other.top);
        self.bottom.swap(&other.bottom);
        self.end.swap(&other.end);
    }

    /// Keeps the cells for which `keep` says so, in their order. The number of those that went.
    ///
    /// `keep` does not touch this stack.
    pub(super) fn retain(&self, mut keep: impl FnMut(CellPtr) -> bool) -> usize {
        let (bottom, len) = (self.bottom.get(), self.len());
        let mut kept = 0;
        for index in 0..len {
            // SAFETY: `index` is less than `len`, so the word is below `top`: by invariant 2 it is initialised.
            let cell = unsafe { bottom.wrapping_add(index).read() };
            if keep(cell) {
                // SAFETY: `kept` is at most `index`, so the word is in the block.
                unsafe { bottom.wrapping_add(kept).write(cell) };
                kept += 1;
            }
        }
        self.top.set(bottom.wrapping_add(kept));
        len - kept
    }

    /// The block and its layout, if there is one.
    pub(super) fn buffer(&self) -> Option<(NonNull<u8>, Layout)> {
        let block = NonNull::new(self.bottom.get())?.as_ptr().wrapping_sub(self.ahead);
        Some((NonNull::new(block)?.cast(), self.layout(self.capacity())?))
    }

    /// The layout of a buffer with capacity for this many cells.
    fn layout(&self, capacity: usize) -> Option<Layout> {
        Layout::array::<CellPtr>(capacity.checked_add(self.ahead)?).ok()
    }

    /// Frees the buffer if there is no cell on the stack.
    pub(super) fn shrink(&self) {
        if self.len() == 0 {
            self.take().free();
        }
    }

    /// Frees the buffer, not the cells.
    pub(super) fn free(self) {
        if let Some((block, layout)) = self.buffer() {
            // SAFETY: by invariant 1 the block is the global allocator's, with this layout; `self`, which had it, is gone.
            unsafe { dealloc(block.as_ptr(), layout) };
        }
    }
}

/// A stack is full: see [`FreeStack::push`].
pub struct StackFull;

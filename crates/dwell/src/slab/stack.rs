//! The free stack of a slab: the addresses of its vacant cells. Inserts pop from it and drops push to it.

use crate::alloc::try_alloc;
use crate::prefetch::prefetch;
use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use std_alloc::alloc::{dealloc, realloc};

/// The address of a *cell*: the memory for one value, vacant or occupied. It is derived from the pointer to its chunk,
/// so it may access the whole chunk.
pub(crate) type CellPtr = NonNull<()>;

/// The number of pops by which [`FreeStack::pop_prefetch`] loads a cell in advance, in the slab of a module: enough to hide a
/// cache miss behind values of one to four cache lines.
#[cfg(feature = "std")]
pub(super) const AHEAD: usize = 16;

/// The same in a pool, which has a stack for each size class: fewer, because each takes that many words.
#[cfg(feature = "std")]
pub(super) const POOL_AHEAD: usize = 8;

/// A stack of the addresses of vacant cells, with the most recently freed cell on top. It does not access the cells.
///
/// ```text
///           base            top                limit
///            ▼               ▼                   ▼
/// ┌──────────┬───────┬───────┬───────────────────┐
/// │ `ahead`  │ cell  │ cell  │ a word for each   │
/// │ words    │       │       │ occupied cell     │
/// └──────────┴───────┴───────┴───────────────────┘
/// ```
///
/// A pop tests only `top == bottom`, and a push only `top == end`. These are `base` and `limit`, unless a pool has
/// [marked](Self::mark) words between them, so that its slow path runs when the stack shrinks or grows to there. Without a
/// buffer all pointers are null, so pops and pushes fail. A slab that is not set up, whose stack is growing, or that was torn down has a stack without a
/// buffer and needs no test of its own. Only slots that are `Send` need one: `AnyThread` tests the thread.
pub(super) struct FreeStack {
    // # Invariants
    //
    // 1. Either the five pointers are null, or they point into one block with the layout `self.layout(capacity)`:
    //    `base` is `ahead` words after its start, `limit` is its end, and `base <= bottom <= top <= end <= limit`. If
    //    `lent`, the block is a part of a chunk; otherwise it came from the global allocator.
    // 2. The words from the start of the block to `top` are initialised.
    // 3. The words from `base` to `top` are the addresses of vacant cells, each of which is on this stack once and on
    //    no other list.
    top: Cell<*mut CellPtr>,
    bottom: Cell<*mut CellPtr>,
    end: Cell<*mut CellPtr>,
    base: Cell<*mut CellPtr>,
    limit: Cell<*mut CellPtr>,
    ahead: usize,
    lent: Cell<bool>,
}

impl FreeStack {
    /// Returns a stack without a buffer. `ahead` is the number of words below the bottom, as in the calls of
    /// [`pop_prefetch`](Self::pop_prefetch), or 0.
    pub(super) const fn new(ahead: usize) -> Self {
        let [top, bottom, end, base, limit] = [const { Cell::new(ptr::null_mut()) }; 5];
        Self { top, bottom, end, base, limit, ahead, lent: Cell::new(false) }
    }

    /// Sets the pointers to a buffer of which `len` words from `base` on are the addresses of cells.
    fn set(&self, base: *mut CellPtr, len: usize, capacity: usize) {
        self.base.set(base);
        self.top.set(base.wrapping_add(len));
        self.limit.set(base.wrapping_add(capacity));
        self.unmark();
    }

    /// Makes the pop fail that would leave fewer than `low` cells, and the push after which there would be more than `high`:
    /// as far as there are so few cells and as much capacity.
    #[cfg(feature = "std")]
    pub(super) fn mark(&self, low: usize, high: usize) {
        let len = self.len();
        self.bottom.set(self.base.get().wrapping_add(low.min(len)));
        self.end.set(self.base.get().wrapping_add(high.clamp(len, self.capacity())));
    }

    /// Ends [`mark`](Self::mark).
    pub(super) fn unmark(&self) {
        self.bottom.set(self.base.get());
        self.end.set(self.limit.get());
    }

    /// Returns the cell with this number, counted from the bottom.
    #[cfg(feature = "std")]
    pub(super) fn get(&self, number: usize) -> Option<CellPtr> {
        if number >= self.len() {
            return None;
        }
        // SAFETY: the number is less than `len`, so the word is below `top`: by invariant 2 it is initialised.
        Some(unsafe { self.base.get().wrapping_add(number).read() })
    }

    /// Gives a stack without a buffer a buffer for this many cells, which begins at `words`.
    ///
    /// # Safety
    ///
    /// `ahead + capacity` words are valid for reads and writes while this stack is used, and no other code accesses them. The
    /// stack has no buffer.
    pub(super) unsafe fn lend(&self, words: NonNull<CellPtr>, capacity: usize) {
        debug_assert!(self.base.get().is_null());
        // SAFETY: the caller guarantees that the block has `ahead` words before those for cells, which no other code uses.
        unsafe { self.write_ahead(words) };
        self.set(words.as_ptr().wrapping_add(self.ahead), 0, capacity);
        self.lent.set(true);
    }

    /// Initialises the words below the bottom with a mapped address, because prefetching an unmapped one is slow.
    ///
    /// # Safety
    ///
    /// `ahead` words from `words` on are valid for writes, and no other code uses them.
    unsafe fn write_ahead(&self, words: NonNull<CellPtr>) {
        for index in 0..self.ahead {
            // SAFETY: `index` is less than `ahead`, and the caller guarantees that as many words are valid for writes.
            unsafe { words.as_ptr().wrapping_add(index).write(words.cast()) };
        }
    }

    /// Pops the cell on top.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<CellPtr> {
        let top = self.top.get();
        if top == self.bottom.get() {
            return None;
        }
        // SAFETY: `top` is not `bottom`, so by invariant 1 it is at least one word above `bottom` in the same block.
        let top = unsafe { top.sub(1) };
        self.top.set(top);
        // SAFETY: the word was below the old `top`, so by invariant 2 it is initialised.
        Some(unsafe { top.read() })
    }

    /// Pops the cell on top, and prefetches the cell that is popped `AHEAD` pops later.
    ///
    /// Cells freed in random order have random addresses, which no hardware prefetcher predicts. Inserting a million
    /// values after a million random drops takes 32 ticks a value with the prefetch and 70 without (`cargo run
    /// --release -p dwell-bench -- slab --times --workload random-free`). It costs two instructions an insert.
    ///
    /// # Safety
    ///
    /// The stack was created with `AHEAD` words below the bottom, or has no buffer.
    #[inline(always)]
    pub(super) unsafe fn pop_prefetch<const AHEAD: usize>(&self) -> Option<CellPtr> {
        let top = self.top.get();
        if top == self.bottom.get() {
            return None;
        }
        debug_assert!(self.ahead == AHEAD);
        // SAFETY: `top` is not `bottom`, so the stack has a buffer, and by invariant 1 `top` is at least `ahead + 1` words
        // after its start. The caller guarantees that `ahead` is `AHEAD`. By invariant 2 the words below `top` are
        // initialised.
        prefetch(unsafe { top.wrapping_sub(AHEAD + 1).read() }.as_ptr());
        // SAFETY: `top` is at least one word above `bottom`, so by invariant 2 the word below it is initialised.
        let cell = unsafe { top.wrapping_sub(1).read() };
        self.top.set(top.wrapping_sub(1));
        Some(cell)
    }

    /// Pushes a cell, unless the buffer is full.
    ///
    /// # Safety
    ///
    /// The cell is vacant and on no stack, and the caller does not use it again.
    #[inline(always)]
    pub(super) unsafe fn push(&self, cell: CellPtr) -> Result<(), StackFull> {
        if self.top.get() == self.end.get() {
            return Err(StackFull);
        }
        // SAFETY: `top` is not `end`, so the buffer is not full. The caller guarantees that the cell is vacant, on no
        // stack, and not used again.
        unsafe { self.push_unchecked(cell) };
        Ok(())
    }

    /// Like [`push`](Self::push), but also beyond the upper [mark](Self::mark), which then ends.
    ///
    /// # Safety
    ///
    /// The same as for [`push`](Self::push).
    pub(super) unsafe fn push_beyond(&self, cell: CellPtr) -> Result<(), StackFull> {
        if self.top.get() == self.end.get() {
            self.end.set(self.limit.get());
        }
        // SAFETY: the caller guarantees that the cell is vacant, on no stack, and not used again.
        unsafe { self.push(cell) }
    }

    /// Pushes a cell to a stack whose buffer is not full.
    ///
    /// # Safety
    ///
    /// The cell is vacant and on no stack, and the caller does not use it again. `top` is not `end`.
    #[inline(always)]
    pub(super) unsafe fn push_unchecked(&self, cell: CellPtr) {
        let top = self.top.get();
        debug_assert!(top != self.end.get());
        // SAFETY: the caller guarantees that `top` is not `end`, so by invariant 1 the word at `top` is below `end` in the
        // block.
        unsafe { top.write(cell) };
        // Not read again, though reading, adding and writing would be one instruction: that read waits for the write of the word,
        // whose address the processor does not know yet. pom took a tenth longer (`dwell-bench-real pom`).
        self.top.set(top.wrapping_add(1));
    }

    /// Pushes the `count` cells that follow `cell` at multiples of `stride`. The first of them ends on top. If the
    /// buffer is too small, the last of them are lost.
    ///
    /// # Safety
    ///
    /// The `count` cells after `cell` are vacant and on no stack, and the caller does not use them again. They are in
    /// the same block as `cell`.
    pub(super) unsafe fn push_run(&self, cell: CellPtr, stride: usize, count: usize) {
        self.unmark();
        let count = count.min(self.capacity() - self.len());
        let mut top = self.top.get();
        // SAFETY: the caller guarantees that at least `count` cells follow `cell` in the same block.
        let mut cell = unsafe { cell.byte_add(count * stride) };
        for _ in 0..count {
            // SAFETY: `count` is at most the number of free words, so by invariant 1 this word is between the old `top`
            // and `limit`.
            unsafe { top.write(cell) };
            top = top.wrapping_add(1);
            // SAFETY: the result is the cell before, or in the last round the `cell` that the caller passed, in the
            // same block.
            cell = unsafe { cell.byte_sub(stride) };
        }
        self.top.set(top);
    }

    /// Returns the number of cells on the stack.
    #[inline]
    pub(super) fn len(&self) -> usize {
        Self::words_between(self.base.get(), self.top.get())
    }

    /// Returns the capacity of the buffer in cells.
    pub(super) fn capacity(&self) -> usize {
        Self::words_between(self.base.get(), self.limit.get())
    }

    fn words_between(from: *mut CellPtr, to: *mut CellPtr) -> usize {
        (to.addr() - from.addr()) / size_of::<CellPtr>()
    }

    /// Ensures that the buffer has capacity for `cells` cells in total.
    ///
    /// The buffer grows by `realloc`, so pages that were touched once stay mapped (see [`touch`](Self::touch)).
    /// Meanwhile this stack has no buffer: if the global allocator re-enters the slab, it can neither pop nor push. It
    /// must not re-enter this method.
    pub(super) fn try_reserve(&self, cells: usize) -> Result<(), Layout> {
        if cells <= self.capacity() {
            return Ok(());
        }
        let layout = self.layout(cells).ok_or(Layout::new::<CellPtr>())?;
        let old = self.take();
        let block = match old.buffer() {
            // SAFETY: by invariant 1 of `old` the block came from the global allocator with this layout. The new size
            // is that of a layout with the same alignment, and it is not 0, since `cells` is more than the capacity.
            Some((block, now)) => NonNull::new(unsafe { realloc(block.as_ptr(), now, layout.size()) }),
            None => try_alloc(layout).inspect(|block| {
                let block = block.cast::<CellPtr>();
                // SAFETY: the block was just allocated with `layout(cells)`, which begins with `ahead` words.
                unsafe { self.write_ahead(block) };
                let words = block.as_ptr().wrapping_add(self.ahead);
                // SAFETY: by invariants 1 and 2 of `old` these words are initialised: those of a lent buffer, or none. The new
                // block has more words, and does not overlap the old one.
                unsafe { ptr::copy_nonoverlapping(old.base.get(), words, old.len()) };
            }),
        };
        let Some(block) = block else {
            self.swap(&old);
            return Err(layout);
        };
        self.set(block.cast::<CellPtr>().as_ptr().wrapping_add(self.ahead), old.len(), cells);
        Ok(())
    }

    /// Writes to the word with this number, counted from the bottom, if it is free.
    ///
    /// The first write to a page of a new buffer causes a page fault. With this call it happens in an insert that gets
    /// new memory anyway. Otherwise it would happen in one of 512 first drops.
    pub(super) fn touch(&self, number: usize) {
        let word = self.base.get().wrapping_add(number);
        if number >= self.len() && number < self.capacity() {
            // SAFETY: the number is less than the capacity, so by invariant 1 the word is in the block. It is not below
            // `top`, so no cell's address is overwritten.
            unsafe { word.write(NonNull::dangling()) };
        }
    }

    /// Takes the buffer with its contents, and leaves a stack without a buffer.
    pub(super) fn take(&self) -> Self {
        let taken = Self::new(self.ahead);
        self.swap(&taken);
        taken
    }

    /// Swaps the buffers of two stacks, which must have the same number of words below the bottom.
    pub(super) fn swap(&self, other: &Self) {
        assert!(self.ahead == other.ahead);
        self.top.swap(&other.top);
        self.bottom.swap(&other.bottom);
        self.end.swap(&other.end);
        self.base.swap(&other.base);
        self.limit.swap(&other.limit);
        self.lent.swap(&other.lent);
    }

    /// Keeps the cells for which `keep` returns `true`, in order, and ends [`mark`](Self::mark). Returns the number of removed cells.
    ///
    /// `keep` must not use this stack.
    pub(super) fn retain(&self, mut keep: impl FnMut(CellPtr) -> bool) -> usize {
        self.unmark();
        let (base, len) = (self.base.get(), self.len());
        let mut kept = 0;
        for index in 0..len {
            // SAFETY: `index` is less than `len`, so the word is below `top`: by invariant 2 it is initialised.
            let cell = unsafe { base.wrapping_add(index).read() };
            if keep(cell) {
                // SAFETY: `kept` is at most `index`, so this word is below `top` in the block too.
                unsafe { base.wrapping_add(kept).write(cell) };
                kept += 1;
            }
        }
        self.top.set(base.wrapping_add(kept));
        len - kept
    }

    /// Returns the start and the layout of the buffer, or `None` if there is none that the stack has allocated.
    pub(super) fn buffer(&self) -> Option<(NonNull<u8>, Layout)> {
        if self.lent.get() {
            return None;
        }
        let block = NonNull::new(self.base.get())?.as_ptr().wrapping_sub(self.ahead);
        Some((NonNull::new(block)?.cast(), self.layout(self.capacity())?))
    }

    /// Returns the layout of a buffer with capacity for this many cells.
    fn layout(&self, capacity: usize) -> Option<Layout> {
        Layout::array::<CellPtr>(capacity.checked_add(self.ahead)?).ok()
    }

    /// Shrinks the buffer to this many cells, or to as many as are on the stack. Like [`try_reserve`](Self::try_reserve) it
    /// leaves the stack without a buffer meanwhile.
    pub(super) fn shrink(&self, cells: usize) {
        let cells = cells.max(self.len());
        let Some((block, layout)) = self.buffer().filter(|_| cells < self.capacity()) else { return };
        let old = self.take();
        if cells == 0 {
            return old.free();
        }
        let size = layout.size() - (old.capacity() - cells) * size_of::<CellPtr>();
        // SAFETY: by invariant 1 of `old` the block came from the global allocator with this layout. The new size is that of
        // `ahead + cells` words, which is less and not 0.
        let Some(block) = NonNull::new(unsafe { realloc(block.as_ptr(), layout, size) }) else {
            return self.swap(&old);
        };
        self.set(block.cast::<CellPtr>().as_ptr().wrapping_add(self.ahead), old.len(), cells);
    }

    /// Frees the buffer, but not the cells.
    pub(super) fn free(self) {
        if let Some((block, layout)) = self.buffer() {
            // SAFETY: by invariant 1 the block came from the global allocator with this layout. This method consumes
            // `self`, which owns the block, so it is freed once.
            unsafe { dealloc(block.as_ptr(), layout) };
        }
    }
}

/// The error of [`FreeStack::push`] on a stack whose buffer is full.
pub struct StackFull;

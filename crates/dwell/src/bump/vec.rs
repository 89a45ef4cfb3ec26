//! A vector in an arena.

use super::block::Block;
use super::capacity::NoMemory;
use super::{Box, Bump};
use crate::alloc::{AllocError, Allocator, Global};
use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{self, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};
use core::slice;

/// A vector in an arena. It grows in place while it is the arena's last block.
///
/// As with std's vector, a pointer from [`as_ptr`](Self::as_ptr) or [`as_mut_ptr`](Self::as_mut_ptr) covers the whole
/// capacity, and stays valid until the vector grows, shrinks or is dropped. A method creates references only to the
/// elements that it compares, drops or passes to a function.
///
/// ```
/// use dwell::{Bump, bump};
///
/// let bump = Bump::new();
/// let mut squares = bump::Vec::new_in(&bump);
/// for n in 0..5 {
///     squares.push(n * n);
/// }
/// let squares: &mut [i32] = squares.into_slice(); // outlives the vector
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// For methods of `std::vec::Vec` that this type lacks, use the `Vec` of allocator-api2 or of nightly's std with
/// `&bump`.
pub struct Vec<'a, T, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `len <= cap`, and the first `len` elements from `start` are live and owned by this vector.
    // 2. If `T` is not zero-sized and `cap` is not 0, `start` is the beginning of a block of `bump` with the layout of
    //    `cap` elements, which only this vector accesses. Otherwise `start` is aligned, and `cap` is `usize::MAX` if
    //    `T` is zero-sized.
    start: NonNull<T>,
    cap: usize,
    len: usize,
    bump: &'a Bump<MIN_ALIGN, A>,
    // The vector owns its elements, which the drop check must know.
    owns: PhantomData<T>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Grows the block of a vector by `extra` elements or more. Returns the block and the new capacity.
    ///
    /// The function takes the vector's words by value, so that a loop keeps them in registers, and returns two
    /// registers.
    ///
    /// # Safety
    ///
    /// `start` is a live block of this arena with the layout of `cap` elements, or `cap` is 0. After `Some`, only the
    /// returned block is used. The size of `T` is not 0.
    #[cold]
    #[inline(never)]
    unsafe fn grow_elements<T>(&self, start: NonNull<T>, cap: usize, extra: usize) -> Option<(NonNull<T>, usize)> {
        let element = Layout::new::<T>();
        let first = match element.size() {
            // Most strings have more than 8 bytes, and a second growth costs as much as the first:
            // `cargo run --release -p dwell-bench -- bump --workload fmt --ir`
            1 => 16,
            2..=1024 => 4,
            _ => 1,
        };
        // A block has at most `isize::MAX` bytes, and thus elements, so `cap + cap` does not overflow.
        let want = cap.checked_add(extra)?.max(cap + cap).max(first);
        let new = Layout::array::<T>(want).ok()?;
        // SAFETY: if `cap` is not 0, this is the layout of the block. If it is 0, the size is 0. The alignment is that
        // of `element`.
        let old = unsafe { Layout::from_size_align_unchecked(cap * element.size(), element.align()) };
        // SAFETY: if `cap` is not 0, the caller guarantees that `start` is a live block of this arena with the layout
        // `old`. `want` is at least `cap`, so `new` is no smaller, and the caller uses only the returned block.
        let block = unsafe { self.grown(start.cast(), old, new) }?;
        Some((block.cast(), want))
    }
}

impl<'a, T, const MIN_ALIGN: usize, A: Allocator> Vec<'a, T, MIN_ALIGN, A> {
    /// Creates an empty vector.
    #[inline]
    pub fn new_in(bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        let cap = if size_of::<T>() == 0 { usize::MAX } else { 0 };
        Self { start: NonNull::dangling(), cap, len: 0, bump, owns: PhantomData }
    }

    /// Creates an empty vector with capacity for `capacity` elements.
    pub fn with_capacity_in(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self::with_exact_capacity(capacity, bump).unwrap_or_else(|no| no.abort())
    }

    /// [`with_capacity_in`](Self::with_capacity_in) that reports a failed allocation.
    pub fn try_with_capacity_in(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, AllocError<()>> {
        Self::with_exact_capacity(capacity, bump).map_err(|no| no.error(()))
    }

    pub(super) fn with_exact_capacity(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, NoMemory> {
        let mut vec = Self::new_in(bump);
        if capacity > vec.cap {
            let layout = Layout::array::<T>(capacity).map_err(|_| NoMemory::too_many::<T>())?;
            vec.start = bump.take_or_refill(layout).ok_or(NoMemory::Refused(layout))?.cast();
            vec.cap = capacity;
        }
        Ok(vec)
    }

    /// Creates an empty vector with this capacity if the free range is large enough, and with capacity 0 otherwise.
    #[inline]
    pub(super) fn with_free_capacity(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        let mut vec = Self::new_in(bump);
        if let Ok(layout) = Layout::array::<T>(capacity)
            && layout.size() != 0
            && let Some(block) = bump.take(layout)
        {
            vec.start = block.cast();
            vec.cap = capacity;
        }
        vec
    }

    /// Creates a vector from its raw parts.
    ///
    /// # Safety
    ///
    /// - Either `start`, `len` and `capacity` are those of a forgotten vector of this arena, and no other vector was
    ///   made from them.
    /// - Or `len` and `capacity` are 0, or `T` is zero-sized and the caller gives up `len` values; `capacity` is ignored
    ///   then. In both cases `start` is aligned and not null.
    pub unsafe fn from_raw_parts_in(start: *mut T, len: usize, capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        // SAFETY: the caller guarantees that `start` came from a vector, whose pointer is not null, or is not null
        // itself.
        let start = unsafe { NonNull::new_unchecked(start) };
        let cap = if size_of::<T>() == 0 { usize::MAX } else { capacity };
        debug_assert!(len <= cap);
        Self { start, cap, len, bump, owns: PhantomData }
    }
}

/// Parts of the vector.
impl<'a, T, const MIN_ALIGN: usize, A: Allocator> Vec<'a, T, MIN_ALIGN, A> {
    /// Returns the arena of the vector.
    #[inline]
    pub fn bump(&self) -> &'a Bump<MIN_ALIGN, A> {
        self.bump
    }

    /// Returns a pointer to the first element, valid for the whole capacity.
    #[inline]
    pub(super) fn start(&self) -> NonNull<T> {
        self.start
    }

    /// Returns a pointer to the first element, valid for reads of the whole capacity.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let vec = bump::vec![in &bump; 1, 2];
    /// // SAFETY: the vector has two elements.
    /// assert_eq!(unsafe { vec.as_ptr().add(1).read() }, 2);
    /// ```
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.start.as_ptr()
    }

    /// Returns a pointer to the first element, valid for the whole capacity.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
    }

    /// Returns the elements as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// Returns the elements as a mutable slice.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }

    /// Returns the unused capacity.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut vec = bump::Vec::with_capacity_in(4, &bump);
    /// vec.spare_capacity_mut()[0].write(7);
    /// // SAFETY: the first element was written, and the capacity is 4.
    /// unsafe { vec.set_len(1) };
    /// assert_eq!(vec, [7]);
    /// ```
    #[inline]
    pub fn spare_capacity_mut(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: `len` is at most the capacity (invariant 1), so the result is in the block or at its end.
        let end = unsafe { self.start.add(self.len) };
        // SAFETY: the block has `cap - len` slots from `end` on (invariant 2), or the elements are zero-sized. No element is
        // in them, `MaybeUninit` slots need not be initialised, and `&mut self` borrows them.
        unsafe { slice::from_raw_parts_mut(end.cast().as_ptr(), self.left()) }
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the vector has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of elements by which the vector can grow within its capacity.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.cap - self.len
    }

    /// Sets the length.
    ///
    /// # Safety
    ///
    /// `len` is at most the capacity, and the first `len` elements are live.
    #[inline]
    pub unsafe fn set_len(&mut self, len: usize) {
        debug_assert!(len <= self.cap);
        self.len = len;
    }

    /// Returns the capacity in elements.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.cap
    }

    /// Reserves capacity for at least `more` more elements.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        self.grow_for(more).unwrap_or_else(|no| no.abort());
    }

    /// [`reserve`](Self::reserve) that reports a failed allocation.
    #[inline]
    pub fn try_reserve(&mut self, more: usize) -> Result<(), AllocError<()>> {
        self.grow_for(more).map_err(|no| no.error(()))
    }

    /// Reserves capacity for exactly `more` more elements, unless the capacity is already sufficient.
    pub fn reserve_exact(&mut self, more: usize) {
        self.grow_exact(more).unwrap_or_else(|no| no.abort());
    }

    /// [`reserve_exact`](Self::reserve_exact) that reports a failed allocation.
    pub fn try_reserve_exact(&mut self, more: usize) -> Result<(), AllocError<()>> {
        self.grow_exact(more).map_err(|no| no.error(()))
    }

    fn grow_exact(&mut self, more: usize) -> Result<(), NoMemory> {
        if more <= self.left() {
            return Ok(());
        }
        let cap = self.len.checked_add(more).ok_or_else(NoMemory::too_many::<T>)?;
        let new = Layout::array::<T>(cap).map_err(|_| NoMemory::too_many::<T>())?;
        if new.size() == 0 {
            return Err(NoMemory::too_many::<T>()); // The elements are zero-sized, and the capacity is `usize::MAX`.
        }
        let bump = self.bump;
        let start = match self.block() {
            // SAFETY: `cap` is more than the capacity, so `new` is no smaller than the block's layout. On success the
            // vector uses only the returned block; on failure the block is unchanged.
            Some(block) => unsafe { block.grow(new) },
            None => bump.take_or_refill(new),
        };
        self.start = start.ok_or(NoMemory::Refused(new))?.cast();
        self.cap = cap;
        Ok(())
    }

    /// Grows if the capacity is not sufficient for `more` more elements.
    #[inline]
    pub(super) fn grow_for(&mut self, more: usize) -> Result<(), NoMemory> {
        let left = self.left();
        if more > left { self.grow(more - left) } else { Ok(()) }
    }

    /// Grows the capacity by `extra` elements or more.
    ///
    /// It is inlined and takes an increment, not a length. So a loop of `push` keeps the vector's words in registers
    /// and has 7 instructions instead of 9: `cargo run --release -p dwell-bench -- bump --workload vec/warm --ir`
    #[inline(always)]
    pub(super) fn grow(&mut self, extra: usize) -> Result<(), NoMemory> {
        if size_of::<T>() == 0 {
            return Err(NoMemory::too_many::<T>()); // The capacity is `usize::MAX`.
        }
        // SAFETY: if the capacity is not 0, `start` is a live block of the arena with its layout (invariant 2). The
        // size of `T` is not 0 (checked above). After `Some`, the vector uses only the returned block.
        let grown = unsafe { self.bump.grow_elements(self.start, self.cap, extra) };
        let Some((start, cap)) = grown else { return Err(NoMemory::of(Layout::new::<T>(), self.cap, extra)) };
        self.start = start;
        self.cap = cap;
        Ok(())
    }

    /// Shrinks the capacity to the length. The unused bytes return to the arena if the vector is its last block.
    pub fn shrink_to_fit(&mut self) {
        let Some(block) = self.block().filter(|_| self.len != self.cap) else { return };
        if self.len == 0 {
            self.start = NonNull::dangling();
            self.cap = 0;
            block.free();
        } else {
            self.cap = self.len;
            // SAFETY: the size is less than that of the block's layout, and the alignment is the same, so they form a
            // layout.
            let new = unsafe { Layout::from_size_align_unchecked(self.len * size_of::<T>(), align_of::<T>()) };
            // SAFETY: the alignment is the block's, and the size is less than before.
            unsafe { block.shrink(new) };
        }
    }

    /// Returns the vector's block, if it has one.
    #[inline]
    fn block(&self) -> Option<Block<'a, MIN_ALIGN, A>> {
        let size = if size_of::<T>() == 0 { 0 } else { self.cap * size_of::<T>() };
        // SAFETY: if the size is not 0, this is the layout of the block (invariant 2). Size 0 is valid with any
        // alignment.
        let layout = unsafe { Layout::from_size_align_unchecked(size, align_of::<T>()) };
        // SAFETY: if the layout's size is not 0, `start` is a live block of the arena with this layout, which only this
        // vector accesses (invariant 2).
        unsafe { self.bump.block(self.start.cast(), layout) }
    }
}

/// Elements.
impl<'a, T, const MIN_ALIGN: usize, A: Allocator> Vec<'a, T, MIN_ALIGN, A> {
    /// Appends an element.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == self.cap {
            self.grow(1).unwrap_or_else(|no| no.abort());
        }
        // SAFETY: `grow` made capacity if the vector was full, so the capacity is greater than the length.
        unsafe { self.push_unchecked(value) };
    }

    /// [`push`](Self::push) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    #[inline]
    pub fn try_push(&mut self, value: T) -> Result<(), AllocError<T>> {
        if self.len == self.cap
            && let Err(no) = self.grow(1)
        {
            return Err(no.error(value));
        }
        // SAFETY: `grow` made capacity if the vector was full, so the capacity is greater than the length.
        unsafe { self.push_unchecked(value) };
        Ok(())
    }

    /// Appends an element within the capacity.
    ///
    /// # Safety
    ///
    /// `len` is less than `cap`.
    #[inline]
    pub(super) unsafe fn push_unchecked(&mut self, value: T) {
        // SAFETY: the caller guarantees that `len` is less than `cap`, so the slot is in the block.
        let slot = unsafe { self.start.add(self.len) };
        // SAFETY: the slot is in the vector's block, thus valid for writes and aligned, and no live element is in it.
        unsafe { slot.write(value) };
        self.len += 1;
    }

    /// Removes and returns the last element.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: `len` was greater than 0 and is now less than the capacity, so the result is in the block (invariants
        // 1 and 2).
        let last = unsafe { self.start.add(self.len) };
        // SAFETY: this is a live element (invariant 1), which the vector no longer counts.
        Some(unsafe { last.read() })
    }

    /// Removes and returns the last element if `predicate` returns true for it.
    #[inline]
    pub fn pop_if(&mut self, predicate: impl FnOnce(&mut T) -> bool) -> Option<T> {
        if predicate(self.last_mut()?) { self.pop() } else { None }
    }

    /// Inserts an element before the one at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is more than the length.
    pub fn insert(&mut self, index: usize, value: T) {
        assert!(index <= self.len, "insertion index (is {index}) should be <= len (is {})", self.len);
        if self.len == self.cap {
            self.grow(1).unwrap_or_else(|no| no.abort());
        }
        // SAFETY: `index` is at most the length, and `grow` made capacity if the vector was full.
        unsafe { self.insert_unchecked(index, value) };
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    ///
    /// # Panics
    ///
    /// When `index` is more than the length.
    pub fn try_insert(&mut self, index: usize, value: T) -> Result<(), AllocError<T>> {
        assert!(index <= self.len, "insertion index (is {index}) should be <= len (is {})", self.len);
        if self.len == self.cap
            && let Err(no) = self.grow(1)
        {
            return Err(no.error(value));
        }
        // SAFETY: `index` is at most the length, and `grow` made capacity if the vector was full.
        unsafe { self.insert_unchecked(index, value) };
        Ok(())
    }

    /// Inserts an element within the capacity.
    ///
    /// # Safety
    ///
    /// `index` is at most `len`, which is less than `cap`.
    unsafe fn insert_unchecked(&mut self, index: usize, value: T) {
        // SAFETY: the caller guarantees that `index` is at most `len`, so there are `len - index` elements from it on, and
        // that there is capacity for one more.
        let slot = unsafe { self.open(index, 1) };
        // SAFETY: `open` returned a slot of the block, thus valid for writes and aligned, without a live element.
        unsafe { slot.write(value) };
        self.len += 1;
    }

    /// Moves the elements from `index` on back by `count`, within the capacity, and returns a pointer to the `count`
    /// slots before them. The length is unchanged.
    ///
    /// # Safety
    ///
    /// `index` is at most `len`, and `len + count` at most `cap`. Before other code uses the vector, the caller sets the
    /// length to cover live elements only.
    #[inline]
    pub(super) unsafe fn open(&mut self, index: usize, count: usize) -> NonNull<T> {
        // SAFETY: the caller guarantees that `index` is at most the length, so the result is in the block or at its end.
        let slots = unsafe { self.start.add(index) };
        // SAFETY: the caller guarantees that `index + count` is at most the capacity.
        let tail = unsafe { slots.add(count) };
        // SAFETY: `len - index` live elements begin at `slots`, and the caller guarantees capacity for as many from `tail`
        // on. `copy_to` allows overlap.
        unsafe { slots.copy_to(tail, self.len - index) };
        slots
    }

    /// Removes and returns the element at `index`; later elements move forward.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn remove(&mut self, index: usize) -> T {
        assert!(index < self.len, "removal index (is {index}) should be < len (is {})", self.len);
        // SAFETY: `index` is less than the length (checked above), so the result is in the block.
        let slot = unsafe { self.start.add(index) };
        // SAFETY: this is a live element (invariant 1). The lines below overwrite its slot, or no longer count it.
        let removed = unsafe { slot.read() };
        self.len -= 1;
        // SAFETY: `index` was less than the length, so the result is in the block or at its end.
        let later = unsafe { slot.add(1) };
        // SAFETY: there were `len - index` live elements from `later` on, with the new length. They move by one, and the
        // new length covers them there. `copy_to` allows overlap.
        unsafe { later.copy_to(slot, self.len - index) };
        removed
    }

    /// Removes and returns the element at `index` and moves the last one there.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn swap_remove(&mut self, index: usize) -> T {
        assert!(index < self.len, "swap_remove index (is {index}) should be < len (is {})", self.len);
        // SAFETY: `index` is less than the length (checked above), so the result is in the block.
        let slot = unsafe { self.start.add(index) };
        // SAFETY: this is a live element (invariant 1). The lines below overwrite its slot, or no longer count it.
        let removed = unsafe { slot.read() };
        self.len -= 1;
        // SAFETY: the old length was greater than 0, so the new one is less than the capacity.
        let last = unsafe { self.start.add(self.len) };
        // SAFETY: the last element was live and is no longer counted in its old slot. `copy_to` allows that both slots are
        // the same.
        unsafe { last.copy_to(slot, 1) };
        removed
    }

    /// Drops the elements from the index `len` on.
    pub fn truncate(&mut self, len: usize) {
        if let Some(gone) = self.len.checked_sub(len) {
            self.len = len;
            // SAFETY: `len` is at most the old length, which is at most the capacity (invariant 1), so the result is in
            // the block or at its end.
            let tail = unsafe { self.start.add(len) };
            // SAFETY: these elements were live (invariant 1). The vector no longer counts them, whatever their drop
            // does.
            unsafe { ptr::slice_from_raw_parts_mut(tail.as_ptr(), gone).drop_in_place() };
        }
    }

    /// Drops all elements.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Moves the elements from the index `at` on to a new vector in the same arena.
    ///
    /// # Panics
    ///
    /// When `at` is more than the length.
    #[must_use = "use `truncate` if you do not need the tail"]
    pub fn split_off(&mut self, at: usize) -> Self {
        self.split(at).unwrap_or_else(|no| no.abort())
    }

    /// [`split_off`](Self::split_off) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the vector is unchanged.
    ///
    /// # Panics
    ///
    /// When `at` is more than the length.
    pub fn try_split_off(&mut self, at: usize) -> Result<Self, AllocError<()>> {
        self.split(at).map_err(|no| no.error(()))
    }

    fn split(&mut self, at: usize) -> Result<Self, NoMemory> {
        assert!(at <= self.len, "`at` split index (is {at}) should be <= len (is {})", self.len);
        let mut tail = Self::with_exact_capacity(self.len - at, self.bump)?;
        // SAFETY: `at` is at most the length (checked above), so the result is in the block or at its end.
        let from = unsafe { self.start.add(at) };
        // SAFETY: `len - at` live elements begin at `from`, and the new vector's block has capacity for them. They are
        // in the blocks of two vectors, so they do not overlap. This vector no longer counts them.
        unsafe { tail.start.copy_from_nonoverlapping(from, self.len - at) };
        tail.len = self.len - at;
        self.len = at;
        Ok(tail)
    }

    /// Converts the vector to a slice in the arena, whose elements are never dropped.
    #[inline]
    pub fn into_slice(mut self) -> &'a mut [T]
    where
        T: 'a,
    {
        self.shrink_to_fit();
        let (start, len) = (self.start, self.len);
        mem::forget(self);
        // SAFETY: by invariants 1 and 2 these are live elements in a block of an arena that is borrowed for `'a`, or
        // they are zero-sized. Only the vector accessed them, and it was forgotten.
        unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) }
    }

    /// Converts the vector to a boxed slice, which drops the elements.
    #[inline]
    pub fn into_boxed_slice(mut self) -> Box<'a, [T]> {
        self.shrink_to_fit();
        let elements = ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.len);
        mem::forget(self);
        // SAFETY: by invariants 1 and 2 these are live elements in a block of an arena that is borrowed for `'a`, or
        // they are zero-sized. Only the vector accessed them, and it was forgotten, so the box is their only owner.
        unsafe { Box::from_raw(elements) }
    }
}

// As for std's vector: code that observes the elements after a panic observes values of `T`, and the pointer adds
// nothing.
impl<T: UnwindSafe, const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> UnwindSafe for Vec<'_, T, MIN_ALIGN, A> {}

impl<T, const MIN_ALIGN: usize, A: Allocator> Drop for Vec<'_, T, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            // If the drop of an element panics, the block is not freed before the arena.
            self.clear();
        }
        if let Some(block) = self.block() {
            block.free();
        }
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> Deref for Vec<'_, T, MIN_ALIGN, A> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` elements from `start` are live, and `&self` borrows them (invariant 1).
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> DerefMut for Vec<'_, T, MIN_ALIGN, A> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the first `len` elements from `start` are live and owned by this vector, and `&mut self` borrows it
        // (invariant 1).
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug, const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Vec<'_, T, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

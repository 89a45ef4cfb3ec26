//! A vector in an arena.

use super::block::Block;
use super::capacity::{NoMemory, expected, indices};
use super::{Box, Bump};
use crate::alloc::{AllocError, Allocator, Global};
use core::alloc::Layout;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::{Deref, DerefMut, RangeBounds};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};
use core::slice;

/// A vector in an arena. It grows in place while it is the arena's last block.
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

    fn with_exact_capacity(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, NoMemory> {
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

    /// Creates a vector of the items of an iterator.
    ///
    /// The size hint of the iterator is not trusted.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut words = bump::Vec::from_iter_in("where values live".split(' '), &bump);
    /// words.push("long");
    /// assert_eq!(words, ["where", "values", "live", "long"]);
    /// ```
    pub fn from_iter_in(values: impl IntoIterator<Item = T>, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        let values = values.into_iter();
        let mut vec = Self::with_free_capacity(expected(&values), bump);
        vec.extend(values);
        vec
    }

    /// [`from_iter_in`](Self::from_iter_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the vector with the values so far, the value that did not fit, and
    /// the iterator with the remaining ones.
    pub fn try_from_iter_in<I: IntoIterator<Item = T>>(
        values: I,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<(Self, T, I::IntoIter)>> {
        let values = values.into_iter();
        let mut vec = Self::with_free_capacity(expected(&values), bump);
        match vec.try_extend(values) {
            Ok(()) => Ok(vec),
            Err(error) => Err(error.map(|(value, rest)| (vec, value, rest))),
        }
    }

    /// Creates a vector of the elements of an array.
    ///
    /// [`bump::vec!`](super::vec!) is a shorter form.
    pub fn from_array_in<const N: usize>(values: [T; N], bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        let mut vec = Self::with_capacity_in(N, bump);
        vec.push_array(values);
        vec
    }

    /// [`from_array_in`](Self::from_array_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the array is returned in the error.
    pub fn try_from_array_in<const N: usize>(
        values: [T; N],
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<[T; N]>> {
        match Self::with_exact_capacity(N, bump) {
            Ok(mut vec) => {
                vec.push_array(values);
                Ok(vec)
            }
            Err(no) => Err(no.error(values)),
        }
    }

    /// Appends the elements of an array. The capacity must be large enough for them.
    fn push_array<const N: usize>(&mut self, values: [T; N]) {
        assert!(self.cap - self.len >= N);
        // SAFETY: `len` is at most the capacity, so the result is in the block or at its end.
        let end = unsafe { self.start.add(self.len) };
        // SAFETY: the check above found capacity for `N` more elements, which are not live. An array has the alignment
        // of its elements.
        unsafe { end.cast::<[T; N]>().write(values) };
        self.len += N;
    }

    /// Creates a vector of `len` clones of a value.
    pub fn from_elem_in(value: T, len: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self
    where
        T: Clone,
    {
        let mut vec = Self::with_capacity_in(len, bump);
        vec.resize(len, value);
        vec
    }

    /// [`from_elem_in`](Self::from_elem_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    pub fn try_from_elem_in(value: T, len: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, AllocError<T>>
    where
        T: Clone,
    {
        match Self::with_exact_capacity(len, bump) {
            Ok(mut vec) => {
                vec.resize(len, value);
                Ok(vec)
            }
            Err(no) => Err(no.error(value)),
        }
    }

    /// Creates a vector from its raw parts.
    ///
    /// # Safety
    ///
    /// - Either `start`, `len` and `capacity` are those of a forgotten vector of this arena, and no other vector was
    ///   made from them.
    /// - Or `len` and `capacity` are 0, or `T` is zero-sized, `capacity` is `usize::MAX` and the caller gives up `len`
    ///   values. In both cases `start` is aligned and not null.
    pub unsafe fn from_raw_parts_in(start: *mut T, len: usize, capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        // SAFETY: the caller guarantees that `start` came from a vector, whose pointer is not null, or is not null
        // itself.
        let start = unsafe { NonNull::new_unchecked(start) };
        Self { start, cap: capacity, len, bump, owns: PhantomData }
    }

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

    /// Returns a pointer to the first element, valid for the whole capacity.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
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
        if more <= self.cap - self.len {
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
    fn grow_for(&mut self, more: usize) -> Result<(), NoMemory> {
        let left = self.cap - self.len;
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

    /// Inserts an element before the one at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is more than the length.
    pub fn insert(&mut self, index: usize, value: T) {
        assert!(index <= self.len, "insertion index (is {index}) should be <= len (is {})", self.len);
        self.push(value);
        self[index..].rotate_right(1);
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
        self.try_push(value)?;
        self[index..].rotate_right(1);
        Ok(())
    }

    /// [`extend`](Extend::extend) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the value that did not fit, and the iterator with the remaining ones.
    pub fn try_extend<I: IntoIterator<Item = T>>(&mut self, values: I) -> Result<(), AllocError<(T, I::IntoIter)>> {
        let mut values = values.into_iter();
        self.extend_until_full(&mut values).map_err(|(value, no)| no.error((value, values)))
    }

    /// Appends the items of an iterator. If there is no memory, returns the item that did not fit.
    #[inline]
    pub(super) fn extend_until_full(&mut self, values: &mut impl Iterator<Item = T>) -> Result<(), (T, NoMemory)> {
        // The hint may be too large. If there is no memory for that many items, there may be enough for the actual
        // ones.
        let _ = self.grow_for(expected(values));
        // If the hint is exact, the compiler sees that the iterator ends with it, and the loop has one test:
        // `cargo run --release -p dwell-bench -- bump --workload iter --ir`
        let hint = values.size_hint().0;
        if hint <= self.cap - self.len && self.fill_from(values, hint) {
            return Ok(());
        }
        while !self.fill_from(values, self.cap - self.len) {
            let Some(value) = values.next() else { return Ok(()) };
            if let Err(no) = self.grow(1) {
                return Err((value, no));
            }
            // SAFETY: `grow` made capacity if the vector was full, so the capacity is greater than the length.
            unsafe { self.push_unchecked(value) };
        }
        Ok(())
    }

    /// Appends up to `count` items of an iterator. Returns whether the iterator ended before.
    ///
    /// # Panics
    ///
    /// When the capacity is not sufficient for `count` more elements.
    #[inline]
    fn fill_from(&mut self, values: &mut impl Iterator<Item = T>, count: usize) -> bool {
        /// Sets the length to the number of written elements when it is dropped, also if the iterator panics.
        struct SetLen<'v> {
            len: &'v mut usize,
            local: usize,
        }
        impl Drop for SetLen<'_> {
            #[inline]
            fn drop(&mut self) {
                *self.len = self.local;
            }
        }
        assert!(count <= self.cap - self.len);
        let (start, len) = (self.start, self.len + count);
        // The length is in a register.
        let mut run = SetLen { local: self.len, len: &mut self.len };
        while run.local < len {
            let Some(value) = values.next() else { return true };
            // SAFETY: `local` is less than `len`, which is at most the capacity, so the slot is in the block. The
            // iterator cannot access the vector, which is borrowed exclusively, so the block is unchanged.
            let element = unsafe { start.add(run.local) };
            // SAFETY: the slot is in the vector's block, thus valid for writes and aligned, and no live element is in
            // it.
            unsafe { element.write(value) };
            run.local += 1;
        }
        false
    }

    /// Removes and returns the element at `index`; later elements move forward.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn remove(&mut self, index: usize) -> T {
        assert!(index < self.len, "removal index (is {index}) should be < len (is {})", self.len);
        self[index..].rotate_left(1);
        self.pop().expect("the vector is not empty")
    }

    /// Removes and returns the element at `index` and moves the last one there.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn swap_remove(&mut self, index: usize) -> T {
        assert!(index < self.len, "swap_remove index (is {index}) should be < len (is {})", self.len);
        let last = self.len - 1;
        self.swap(index, last);
        self.pop().expect("the vector is not empty")
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

    /// Sets the length to `len`: drops later elements, or appends clones of `value`.
    pub fn resize(&mut self, len: usize, value: T)
    where
        T: Clone,
    {
        if let Err((_, no)) = self.resize_to(len, value) {
            no.abort();
        }
    }

    /// [`resize`](Self::resize) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    pub fn try_resize(&mut self, len: usize, value: T) -> Result<(), AllocError<T>>
    where
        T: Clone,
    {
        self.resize_to(len, value).map_err(|(value, no)| no.error(value))
    }

    fn resize_to(&mut self, len: usize, value: T) -> Result<(), (T, NoMemory)>
    where
        T: Clone,
    {
        if len <= self.len {
            self.truncate(len);
            return Ok(());
        }
        if let Err(no) = self.grow_for(len - self.len) {
            return Err((value, no));
        }
        while self.len + 1 < len {
            let clone = value.clone();
            // SAFETY: the capacity is at least `len`, which is greater than the length.
            unsafe { self.push_unchecked(clone) };
        }
        // SAFETY: the capacity is at least `len`, and the length is one less than `len`.
        unsafe { self.push_unchecked(value) };
        Ok(())
    }

    /// Sets the length to `len`: drops later elements, or appends values that `make` returns.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let (mut vec, mut next) = (bump::vec![in &bump; 1], 1);
    /// vec.resize_with(4, || { next *= 2; next });
    /// assert_eq!(vec, [1, 2, 4, 8]);
    /// ```
    pub fn resize_with(&mut self, len: usize, make: impl FnMut() -> T) {
        if let Err((_, no)) = self.resize_to_with(len, make) {
            no.abort();
        }
    }

    /// [`resize_with`](Self::resize_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. `make` is returned in the error and was not called.
    pub fn try_resize_with<F: FnMut() -> T>(&mut self, len: usize, make: F) -> Result<(), AllocError<F>> {
        self.resize_to_with(len, make).map_err(|(make, no)| no.error(make))
    }

    fn resize_to_with<F: FnMut() -> T>(&mut self, len: usize, mut make: F) -> Result<(), (F, NoMemory)> {
        if len <= self.len {
            self.truncate(len);
            return Ok(());
        }
        if let Err(no) = self.grow_for(len - self.len) {
            return Err((make, no));
        }
        while self.len < len {
            let value = make();
            // SAFETY: the capacity is at least `len`, which is greater than the length.
            unsafe { self.push_unchecked(value) };
        }
        Ok(())
    }

    /// Moves all elements of another vector, which may be in another arena, to the end of this one.
    pub fn append<const N: usize, B: Allocator>(&mut self, other: &mut Vec<'_, T, N, B>) {
        self.take_all(other).unwrap_or_else(|no| no.abort());
    }

    /// [`append`](Self::append) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; both vectors are unchanged.
    pub fn try_append<const N: usize, B: Allocator>(
        &mut self,
        other: &mut Vec<'_, T, N, B>,
    ) -> Result<(), AllocError<()>> {
        self.take_all(other).map_err(|no| no.error(()))
    }

    fn take_all<const N: usize, B: Allocator>(&mut self, other: &mut Vec<'_, T, N, B>) -> Result<(), NoMemory> {
        self.grow_for(other.len)?;
        // SAFETY: `len` is at most the capacity (invariant 1), so the result is in the block or at its end.
        let to = unsafe { self.start.add(self.len) };
        // SAFETY: `other` has `other.len` live elements, and `grow_for` made capacity for as many behind `to`. They are
        // in the blocks of two vectors, so they do not overlap. `other` no longer counts them.
        unsafe { to.copy_from_nonoverlapping(other.start, other.len) };
        self.len += other.len;
        other.len = 0;
        Ok(())
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

    /// Appends clones of the elements of a range of this vector.
    ///
    /// # Panics
    ///
    /// When the range starts after its end or ends after the last element.
    pub fn extend_from_within(&mut self, range: impl RangeBounds<usize>)
    where
        T: Clone,
    {
        self.clone_within(&range).unwrap_or_else(|no| no.abort());
    }

    /// [`extend_from_within`](Self::extend_from_within) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the vector is unchanged.
    ///
    /// # Panics
    ///
    /// When the range starts after its end or ends after the last element.
    pub fn try_extend_from_within(&mut self, range: impl RangeBounds<usize>) -> Result<(), AllocError<()>>
    where
        T: Clone,
    {
        self.clone_within(&range).map_err(|no| no.error(()))
    }

    fn clone_within(&mut self, range: &impl RangeBounds<usize>) -> Result<(), NoMemory>
    where
        T: Clone,
    {
        let range = indices(range, self.len);
        self.grow_for(range.len())?;
        for index in range {
            let clone = self[index].clone();
            // SAFETY: `grow_for` made capacity for as many more elements as the range has.
            unsafe { self.push_unchecked(clone) };
        }
        Ok(())
    }

    /// [`clone`](Clone::clone) that reports a failed allocation.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>>
    where
        T: Clone,
    {
        self.cloned().map_err(|no| no.error(()))
    }

    fn cloned(&self) -> Result<Self, NoMemory>
    where
        T: Clone,
    {
        let mut vec = Self::with_exact_capacity(self.len, self.bump)?;
        for element in self {
            let clone = element.clone();
            // SAFETY: the capacity is at least `self.len`, and fewer elements were pushed.
            unsafe { vec.push_unchecked(clone) };
        }
        Ok(vec)
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

impl<T: Copy, const MIN_ALIGN: usize, A: Allocator> Vec<'_, T, MIN_ALIGN, A> {
    /// Appends copies of the elements of a slice.
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.reserve(values.len());
        // SAFETY: the line above reserved capacity for the values.
        unsafe { self.extend_unchecked(values) };
    }

    /// [`extend_from_slice`](Self::extend_from_slice) that reports a failed allocation.
    #[inline]
    pub fn try_extend_from_slice(&mut self, values: &[T]) -> Result<(), AllocError<()>> {
        self.try_reserve(values.len())?;
        // SAFETY: the line above reserved capacity for the values.
        unsafe { self.extend_unchecked(values) };
        Ok(())
    }

    /// Appends copies of the values within the capacity.
    ///
    /// # Safety
    ///
    /// `cap - len` is at least the number of values.
    #[inline]
    unsafe fn extend_unchecked(&mut self, values: &[T]) {
        // SAFETY: `len` is at most the capacity (invariant 1), so the result is in the block or at its end.
        let to = unsafe { self.start.add(self.len) };
        // SAFETY: the caller guarantees that the block has capacity for the values behind `to`. The values are
        // borrowed, so they are not in that capacity.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to.as_ptr(), values.len()) };
        self.len += values.len();
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Vec<'_, u8, MIN_ALIGN, A> {
    /// Appends a piece of text within the capacity. Most pieces are numbers and single characters.
    ///
    /// Up to 16 bytes are copied without a call: five pieces with `push_str` took 311 instructions of 434 in the
    /// prototype. `cargo run --release -p dwell-bench -- bump --workload fmt --ir`
    ///
    /// # Safety
    ///
    /// `cap - len` is at least the number of bytes.
    #[inline]
    pub(super) unsafe fn push_piece(&mut self, piece: &[u8]) {
        /// Copies the first `N` bytes and the last `N`, which together cover all bytes.
        ///
        /// # Safety
        ///
        /// `from` is valid for reads of `len` bytes and `to` for writes of `len` bytes, they do not overlap, and
        /// `N <= len <= 2 * N`.
        #[inline]
        unsafe fn copy_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
            // SAFETY: the caller guarantees that both have `len` bytes, which are at least `N`, and do not overlap.
            unsafe { ptr::copy_nonoverlapping(from, to, N) };
            // SAFETY: `from` has `len` bytes, and `len - N` is at most that.
            let from = unsafe { from.add(len - N) };
            // SAFETY: `to` has `len` bytes, and `len - N` is at most that.
            let to = unsafe { to.add(len - N) };
            // SAFETY: both have `N` bytes left, and they do not overlap.
            unsafe { ptr::copy_nonoverlapping(from, to, N) };
        }
        let (from, len) = (piece.as_ptr(), piece.len());
        // SAFETY: `len` is at most the capacity (invariant 1), so the result is in the block or at its end.
        let to = unsafe { self.start.add(self.len) };
        self.len += len;
        match len {
            // SAFETY: the piece has a byte, and the capacity behind `to` has one. They do not overlap: the piece is
            // borrowed, so it is not in that capacity.
            1 => unsafe { ptr::copy_nonoverlapping(from, to.as_ptr(), 1) },
            // SAFETY: the piece and the capacity behind `to` have `len` bytes and do not overlap, and `len` is 2 or 3.
            2..4 => unsafe { copy_ends::<2>(from, to.as_ptr(), len) },
            // SAFETY: the piece and the capacity behind `to` have `len` bytes and do not overlap, and `len` is from 4
            // to 7.
            4..8 => unsafe { copy_ends::<4>(from, to.as_ptr(), len) },
            // SAFETY: the piece and the capacity behind `to` have `len` bytes and do not overlap, and `len` is from 8
            // to 16.
            8..=16 => unsafe { copy_ends::<8>(from, to.as_ptr(), len) },
            // SAFETY: the piece and the capacity behind `to` have `len` bytes and do not overlap.
            _ => unsafe { ptr::copy_nonoverlapping(from, to.as_ptr(), len) },
        }
    }

    /// Returns the number of unused bytes of the capacity.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.cap - self.len
    }
}

// As for std's vector: code that observes the elements after a panic observes values of `T`, and the pointer adds
// nothing.
impl<T: UnwindSafe, const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> UnwindSafe for Vec<'_, T, MIN_ALIGN, A> {}
// As for the vector from which it was made.
impl<T: UnwindSafe> UnwindSafe for IntoIter<'_, T> {}

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

impl<T: Clone, const MIN_ALIGN: usize, A: Allocator> Clone for Vec<'_, T, MIN_ALIGN, A> {
    /// Clones the elements to a new vector in the same arena.
    fn clone(&self) -> Self {
        self.cloned().unwrap_or_else(|no| no.abort())
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

/// Appends the written bytes. If there is no memory, a write returns an error of the kind `OutOfMemory`.
#[cfg(feature = "std")]
impl<const MIN_ALIGN: usize, A: Allocator> std::io::Write for Vec<'_, u8, MIN_ALIGN, A> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.try_extend_from_slice(bytes).map_err(|_| std::io::ErrorKind::OutOfMemory.into())
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> Extend<T> for Vec<'_, T, MIN_ALIGN, A> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        if let Err((value, no)) = self.extend_until_full(&mut values.into_iter()) {
            drop(value);
            no.abort();
        }
    }
}

impl<T: fmt::Debug, const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Vec<'_, T, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'v, T, const MIN_ALIGN: usize, A: Allocator> IntoIterator for &'v Vec<'_, T, MIN_ALIGN, A> {
    type Item = &'v T;
    type IntoIter = slice::Iter<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'v, T, const MIN_ALIGN: usize, A: Allocator> IntoIterator for &'v mut Vec<'_, T, MIN_ALIGN, A> {
    type Item = &'v mut T;
    type IntoIter = slice::IterMut<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<'a, T, const MIN_ALIGN: usize, A: Allocator> IntoIterator for Vec<'a, T, MIN_ALIGN, A> {
    type Item = T;
    type IntoIter = IntoIter<'a, T>;

    fn into_iter(self) -> IntoIter<'a, T> {
        let vec = ManuallyDrop::new(self);
        IntoIter { start: vec.start, front: 0, back: vec.len, owns: PhantomData }
    }
}

/// An iterator that moves the elements out of a [`Vec`]. It does not return memory to the arena.
pub struct IntoIter<'a, T> {
    // # Invariants
    //
    // 1. `front <= back`, and the elements at the indices `front..back` from `start` are live, owned by this iterator,
    //    and in memory reserved for `'a`.
    start: NonNull<T>,
    front: usize,
    back: usize,
    // Owns elements and borrows the arena, as `Box` does.
    owns: PhantomData<(&'a (), T)>,
}

// SAFETY: the iterator is the only owner of its elements and does not access the arena.
unsafe impl<T: Send> Send for IntoIter<'_, T> {}
// SAFETY: a shared iterator gives access to `&T` only.
unsafe impl<T: Sync> Sync for IntoIter<'_, T> {}

impl<T> IntoIter<'_, T> {
    /// Returns the remaining elements as a slice.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `front` is at most `back`, the end of the elements, so the result is among them or at their end
        // (invariant 1).
        let front = unsafe { self.start.add(self.front) };
        // SAFETY: the elements from `front` to `back` are live and owned by this iterator, which is borrowed (invariant
        // 1).
        unsafe { slice::from_raw_parts(front.as_ptr(), self.back - self.front) }
    }

    /// Returns the remaining elements as a mutable slice.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: `front` is at most `back`, the end of the elements, so the result is among them or at their end
        // (invariant 1).
        let front = unsafe { self.start.add(self.front) };
        // SAFETY: the elements from `front` to `back` are live and owned by this iterator, which is borrowed
        // exclusively (invariant 1).
        unsafe { slice::from_raw_parts_mut(front.as_ptr(), self.back - self.front) }
    }
}

impl<T> Iterator for IntoIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.front == self.back {
            return None;
        }
        let front = self.front;
        self.front += 1;
        // SAFETY: `front` was less than `back`, so it is the index of a live element (invariant 1).
        let slot = unsafe { self.start.add(front) };
        // SAFETY: the element was live and owned by this iterator, which no longer counts it.
        Some(unsafe { slot.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.back - self.front, Some(self.back - self.front))
    }
}

impl<T> DoubleEndedIterator for IntoIter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        if self.front == self.back {
            return None;
        }
        self.back -= 1;
        // SAFETY: `back` was greater than `front` and is now the index of the last live element (invariant 1).
        let slot = unsafe { self.start.add(self.back) };
        // SAFETY: the element was live and owned by this iterator, which no longer counts it.
        Some(unsafe { slot.read() })
    }
}

impl<T> ExactSizeIterator for IntoIter<'_, T> {}
impl<T> FusedIterator for IntoIter<'_, T> {}

impl<T> Drop for IntoIter<'_, T> {
    fn drop(&mut self) {
        // SAFETY: `front` is at most `back`, the end of the elements, so the result is among them or at their end
        // (invariant 1).
        let front = unsafe { self.start.add(self.front) };
        let rest = ptr::slice_from_raw_parts_mut(front.as_ptr(), self.back - self.front);
        // SAFETY: these elements are live and owned by this iterator (invariant 1), and are not used after its drop.
        unsafe { rest.drop_in_place() };
    }
}

impl<T: fmt::Debug> fmt::Debug for IntoIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("len", &(self.back - self.front)).finish_non_exhaustive()
    }
}

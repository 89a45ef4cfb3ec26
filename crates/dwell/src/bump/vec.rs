//! A vector in an arena.

use super::block::Block;
use super::capacity::{NoMemory, TRUSTED_BYTES, array, indices};
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
/// let squares: &mut [i32] = squares.into_slice(); // stays when the vector is gone
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// For methods of `std::vec::Vec` that this one lacks, use the `Vec` of allocator-api2 or of nightly's std with `&bump`.
pub struct Vec<'a, T, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `len <= cap`, and the first `len` elements from `start` are live and owned by this vector.
    // 2. If `T` has bytes and `cap` is not 0, `start` is a block of `bump`'s with the layout of `cap` elements, which this
    //    vector alone reaches. Otherwise it is aligned, and `cap` is `usize::MAX` if `T` has none.
    start: NonNull<T>,
    cap: usize,
    len: usize,
    bump: &'a Bump<MIN_ALIGN, A>,
    // Owns elements: drop check.
    owns: PhantomData<T>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// A larger block for the elements of a vector, for `extra` elements more or for even more, and for how many.
    ///
    /// It takes the vector's words by value, so that in a loop they stay in registers, and returns two registers.
    ///
    /// # Safety
    ///
    /// `start` is a block of this arena's with the layout of `cap` elements, in use, or `cap` is 0. After `Some`, the block is
    /// the returned one. `element` has bytes.
    #[cold]
    #[inline(never)]
    unsafe fn grow_elements(
        &self,
        start: NonNull<u8>,
        cap: usize,
        extra: usize,
        element: Layout,
    ) -> Option<(NonNull<u8>, usize)> {
        let first = match element.size() {
            // Most texts have more than 8 bytes, and a second growth costs as much as the first:
            // `cargo run --release -p dwell-bench -- bump --workload fmt --ir`
            1 => 16,
            2..=1024 => 4,
            _ => 1,
        };
        // The elements of a block are less than half of a `usize` can count: the sum does not overflow.
        let want = cap.checked_add(extra)?.max(cap + cap).max(first);
        let new = array(element, want)?;
        // SAFETY: the block has this size, unless `cap` is 0, and the alignment of `element`.
        let old = unsafe { Layout::from_size_align_unchecked(cap * element.size(), element.align()) };
        // SAFETY: if `cap` is not 0, `start` is a block of this arena with the layout of `cap` elements. `want` is no less, and the
        // caller uses the returned block from now on.
        let block = unsafe { self.grown(start, old, new) }?;
        Some((block, want))
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
            let layout = array(Layout::new::<T>(), capacity).ok_or(NoMemory::TOO_MANY)?;
            vec.start = bump.take_or_refill(layout).ok_or(NoMemory::of_layout(layout))?.cast();
            vec.cap = capacity;
        }
        Ok(vec)
    }

    /// Creates an empty vector with this capacity if the free range is large enough, and with none otherwise.
    #[inline]
    pub(super) fn with_free_capacity(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        let mut vec = Self::new_in(bump);
        if let Some(layout) = array(Layout::new::<T>(), capacity)
            && layout.size() != 0
            && let Some(block) = bump.take(layout)
        {
            vec.start = block.cast();
            vec.cap = capacity;
        }
        vec
    }

    /// Collects the items of an iterator, whose size hint is not trusted.
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
        let mut vec = Self::new_in(bump);
        vec.extend(values);
        vec
    }

    /// [`from_iter_in`](Self::from_iter_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the values so far, the one that did not fit, and the iterator with
    /// those after it.
    pub fn try_from_iter_in<I: IntoIterator<Item = T>>(
        values: I,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<(Self, T, I::IntoIter)>> {
        let mut vec = Self::new_in(bump);
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

    /// Appends the elements of an array. The capacity is enough for them.
    fn push_array<const N: usize>(&mut self, values: [T; N]) {
        assert!(self.cap - self.len >= N);
        // SAFETY: the length is at most the capacity, so that it is in the block or at its end.
        let end = unsafe { self.start.add(self.len) };
        // SAFETY: the block has `N` elements behind `end`, none of them live. An array is aligned as its elements are.
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

    /// Creates a vector from its parts.
    ///
    /// # Safety
    ///
    /// - `start`, `len` and `capacity` are those of a vector of this arena that was forgotten, and of which no other vector was
    ///   made.
    /// - Or `capacity` is 0, or `T` has no bytes and `capacity` is `usize::MAX`; and `start` is aligned and not null.
    pub unsafe fn from_raw_parts_in(start: *mut T, len: usize, capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        // SAFETY: the address of a vector's elements is not null.
        let start = unsafe { NonNull::new_unchecked(start) };
        Self { start, cap: capacity, len, bump, owns: PhantomData }
    }

    /// Returns the arena of the vector.
    #[inline]
    pub fn bump(&self) -> &'a Bump<MIN_ALIGN, A> {
        self.bump
    }

    /// Where the elements begin. It reaches the whole capacity.
    #[inline]
    pub(super) fn start(&self) -> NonNull<T> {
        self.start
    }

    /// A pointer to the first element, which reaches the whole capacity.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
    }

    /// Sets the length.
    ///
    /// # Safety
    ///
    /// `len` is at most the capacity, and as many elements are live.
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

    /// Reserves capacity for exactly `more` more elements, unless there is enough.
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
        let cap = self.len.checked_add(more).ok_or(NoMemory::TOO_MANY)?;
        let new = array(Layout::new::<T>(), cap).ok_or(NoMemory::TOO_MANY)?;
        if new.size() == 0 {
            return Err(NoMemory::TOO_MANY); // Elements of no bytes: the capacity is `usize::MAX`.
        }
        let bump = self.bump;
        let start = match self.block() {
            // SAFETY: `cap` is more than the capacity. On success the vector takes the block that is returned.
            Some(block) => unsafe { block.grow(new) },
            None => bump.take_or_refill(new),
        };
        self.start = start.ok_or(NoMemory::of_layout(new))?.cast();
        self.cap = cap;
        Ok(())
    }

    /// Grows if the capacity is not enough for `more` elements.
    #[inline]
    fn grow_for(&mut self, more: usize) -> Result<(), NoMemory> {
        let left = self.cap - self.len;
        if more > left { self.grow(more - left) } else { Ok(()) }
    }

    /// Grows by `extra` elements or more.
    ///
    /// Inlined, and by a number, not to a length: so a loop of `push` keeps the vector's words in registers, and has 7 instructions
    /// of 9. `cargo run --release -p dwell-bench -- bump --workload vec/warm --ir`
    #[inline(always)]
    pub(super) fn grow(&mut self, extra: usize) -> Result<(), NoMemory> {
        if size_of::<T>() == 0 {
            return Err(NoMemory::TOO_MANY); // The capacity is `usize::MAX`.
        }
        // SAFETY: if the capacity is not 0, `start` is a block of the arena with its layout. The elements have bytes.
        let grown = unsafe { self.bump.grow_elements(self.start.cast(), self.cap, extra, Layout::new::<T>()) };
        let Some((start, cap)) = grown else { return Err(NoMemory::of(Layout::new::<T>(), self.cap, extra)) };
        self.start = start.cast();
        self.cap = cap;
        Ok(())
    }

    /// Appends an element.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == self.cap {
            self.grow(1).unwrap_or_else(|no| no.abort());
        }
        // SAFETY: the capacity is more than the length.
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
        // SAFETY: the capacity is more than the length.
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
        // SAFETY: `len` is less than `cap`, so that the element is in the block.
        let slot = unsafe { self.start.add(self.len) };
        // SAFETY: the block is valid for writes and aligned, and no live element is there.
        unsafe { slot.write(value) };
        self.len += 1;
    }

    /// Removes and returns the last element.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: by invariant 1 it is in the block.
        let last = unsafe { self.start.add(self.len) };
        // SAFETY: it is a live element, which is no longer counted.
        Some(unsafe { last.read() })
    }

    /// Inserts an element before the one at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is more than the length.
    pub fn insert(&mut self, index: usize, value: T) {
        assert!(index <= self.len, "an element was to go to {index}, and there are {}", self.len);
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
        assert!(index <= self.len, "an element was to go to {index}, and there are {}", self.len);
        self.try_push(value)?;
        self[index..].rotate_right(1);
        Ok(())
    }

    /// [`extend`](Extend::extend) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the value that did not fit, and the iterator with those after it.
    pub fn try_extend<I: IntoIterator<Item = T>>(&mut self, values: I) -> Result<(), AllocError<(T, I::IntoIter)>> {
        let mut values = values.into_iter();
        self.extend_until_full(&mut values).map_err(|(value, no)| no.error((value, values)))
    }

    /// Appends the items of an iterator. Without memory it returns the item that did not fit.
    #[inline]
    pub(super) fn extend_until_full(&mut self, values: &mut impl Iterator<Item = T>) -> Result<(), (T, NoMemory)> {
        /// Sets the length to the number of written elements, also if the iterator panics.
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
        let hint = values.size_hint().0.min(TRUSTED_BYTES / size_of::<T>().max(1));
        // The hint may be too large. If there is no memory for that many items, there may be for the actual ones.
        let _ = self.grow_for(hint);
        loop {
            // Up to the capacity, with the length in a register.
            let (start, cap) = (self.start, self.cap);
            let mut run = SetLen { local: self.len, len: &mut self.len };
            while run.local < cap {
                let Some(value) = values.next() else { return Ok(()) };
                // SAFETY: it is in the block, which has the capacity, and no live element is there. The iterator cannot reach the
                // vector, which is borrowed exclusively.
                let element = unsafe { start.add(run.local) };
                // SAFETY: the block is valid for writes and aligned.
                unsafe { element.write(value) };
                run.local += 1;
            }
            drop(run);
            let Some(value) = values.next() else { return Ok(()) };
            if let Err(no) = self.grow(1) {
                return Err((value, no));
            }
            // SAFETY: the capacity is more than the length.
            unsafe { self.push_unchecked(value) };
        }
    }

    /// Removes and returns the element at `index`; later elements move forward.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn remove(&mut self, index: usize) -> T {
        self[index..].rotate_left(1);
        match self.pop() {
            Some(value) => value,
            None => panic!("there is no element"),
        }
    }

    /// Removes and returns the element at `index` and moves the last one there.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn swap_remove(&mut self, index: usize) -> T {
        let last = self.len.checked_sub(1).expect("there is no element");
        self.swap(index, last);
        match self.pop() {
            Some(value) => value,
            None => unreachable!("there is one"),
        }
    }

    /// Drops the elements from index `len` on.
    pub fn truncate(&mut self, len: usize) {
        if let Some(gone) = self.len.checked_sub(len) {
            self.len = len;
            // SAFETY: by invariant 1 it is in the block, or at its end.
            let tail = unsafe { self.start.add(len) };
            // SAFETY: these were live elements. They are no longer counted, whatever their drop does.
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
            // SAFETY: the capacity is at least `len`, which is more than the length.
            unsafe { self.push_unchecked(clone) };
        }
        // SAFETY: the capacity is at least `len`, and the length is one less.
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
    /// When there is no memory; `make` is returned in the error, not called.
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
            // SAFETY: the capacity is at least `len`, which is more than the length.
            unsafe { self.push_unchecked(value) };
        }
        Ok(())
    }

    /// Appends all elements of another vector, which may be of another arena, and leaves it empty.
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
        // SAFETY: the length is at most the capacity, so that it is in the block or at its end.
        let to = unsafe { self.start.add(self.len) };
        // SAFETY: `other` has as many live elements, and the block of this vector has as many behind `to`. The two blocks belong to
        // two vectors.
        unsafe { to.copy_from_nonoverlapping(other.start, other.len) };
        self.len += other.len;
        other.len = 0;
        Ok(())
    }

    /// Moves the elements from index `at` on to a new vector in the same arena.
    ///
    /// # Panics
    ///
    /// When `at` is more than the length.
    #[must_use = "`truncate` drops elements"]
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
        assert!(at <= self.len, "a split at {at}, and the length is {}", self.len);
        let mut tail = Self::with_exact_capacity(self.len - at, self.bump)?;
        // SAFETY: `at` is at most the length, so that it is in the block or at its end.
        let from = unsafe { self.start.add(at) };
        // SAFETY: as many live elements begin at `from`, and the new vector's block has capacity for them. The two blocks belong to two
        // vectors.
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
            // SAFETY: the capacity is enough for as many elements more as the range has.
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
            // SAFETY: the capacity is that of all elements.
            unsafe { vec.push_unchecked(clone) };
        }
        Ok(vec)
    }

    /// Returns unused capacity to the arena, if the vector is its last block.
    pub fn shrink_to_fit(&mut self) {
        let Some(block) = self.block().filter(|_| self.len != self.cap) else { return };
        if self.len == 0 {
            self.start = NonNull::dangling();
            self.cap = 0;
            block.free();
        } else {
            self.cap = self.len;
            // SAFETY: it is less than the block, which is of a layout of the same alignment.
            block.shrink(unsafe { Layout::from_size_align_unchecked(self.len * size_of::<T>(), align_of::<T>()) });
        }
    }

    /// The block, if there is one.
    #[inline]
    fn block(&self) -> Option<Block<'a, MIN_ALIGN, A>> {
        let size = if size_of::<T>() == 0 { 0 } else { self.cap * size_of::<T>() };
        // SAFETY: the block has this size, unless the capacity is 0, and the alignment of `T`.
        let layout = unsafe { Layout::from_size_align_unchecked(size, align_of::<T>()) };
        // SAFETY: if the layout has bytes, `start` is a block of the arena with this layout, which this vector owns.
        unsafe { self.bump.block(self.start.cast(), layout) }
    }

    /// Converts the vector to a slice of the arena, which does not drop the elements.
    #[inline]
    pub fn into_slice(mut self) -> &'a mut [T]
    where
        T: 'a,
    {
        self.shrink_to_fit();
        let (start, len) = (self.start, self.len);
        mem::forget(self);
        // SAFETY: by invariants 1 and 2 these are live elements, which only the vector reached and which it gave up, in a block of an
        // arena that is borrowed for `'a`.
        unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) }
    }

    /// Converts the vector to a boxed slice, which drops the elements.
    #[inline]
    pub fn into_boxed_slice(mut self) -> Box<'a, [T]> {
        self.shrink_to_fit();
        let elements = ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.len);
        mem::forget(self);
        // SAFETY: these are live elements, which only the vector reached and which it gave up, in a block of an arena that is borrowed for
        // `'a`, or they have no bytes.
        unsafe { Box::from_raw(elements) }
    }
}

impl<T: Copy, const MIN_ALIGN: usize, A: Allocator> Vec<'_, T, MIN_ALIGN, A> {
    /// Appends copies of the elements of a slice.
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.reserve(values.len());
        // SAFETY: the capacity is enough for the values.
        unsafe { self.extend_unchecked(values) };
    }

    /// [`extend_from_slice`](Self::extend_from_slice) that reports a failed allocation.
    #[inline]
    pub fn try_extend_from_slice(&mut self, values: &[T]) -> Result<(), AllocError<()>> {
        self.try_reserve(values.len())?;
        // SAFETY: the capacity is enough for the values.
        unsafe { self.extend_unchecked(values) };
        Ok(())
    }

    /// Appends copies within the capacity.
    ///
    /// # Safety
    ///
    /// `cap - len` is at least the number of values.
    #[inline]
    unsafe fn extend_unchecked(&mut self, values: &[T]) {
        // SAFETY: the length is at most the capacity, so that it is in the block or at its end.
        let to = unsafe { self.start.add(self.len) };
        // SAFETY: the block has as many elements behind `to`. The values are borrowed, so that they are not among those.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to.as_ptr(), values.len()) };
        self.len += values.len();
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Vec<'_, u8, MIN_ALIGN, A> {
    /// Appends a piece of text within the capacity. Most pieces are numbers and single characters.
    ///
    /// Up to 16 bytes are copied without a call: five pieces with `push_str` took 311 instructions of 434 in the prototype.
    /// `cargo run --release -p dwell-bench -- bump --workload fmt --ir`
    ///
    /// # Safety
    ///
    /// `cap - len` is at least the number of bytes.
    #[inline]
    pub(super) unsafe fn push_piece(&mut self, piece: &[u8]) {
        /// Copies the first `N` bytes and the last `N`, which together are all.
        ///
        /// # Safety
        ///
        /// The `len` bytes from `from` can be read and those from `to` written, they do not overlap, and `len` is from `N` to
        /// `2 * N`.
        #[inline]
        unsafe fn copy_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
            // SAFETY: both have at least `N` bytes and do not overlap.
            unsafe { ptr::copy_nonoverlapping(from, to, N) };
            // SAFETY: `from` has `len` bytes.
            let from = unsafe { from.add(len - N) };
            // SAFETY: `to` has `len` bytes.
            let to = unsafe { to.add(len - N) };
            // SAFETY: both have `N` bytes left and do not overlap.
            unsafe { ptr::copy_nonoverlapping(from, to, N) };
        }
        let (from, len) = (piece.as_ptr(), piece.len());
        // SAFETY: the length is at most the capacity, so that it is in the block or at its end.
        let to = unsafe { self.start.add(self.len) };
        self.len += len;
        match len {
            // SAFETY: the block has a byte there, and the piece has one. They do not overlap: the piece is borrowed.
            1 => unsafe { ptr::copy_nonoverlapping(from, to.as_ptr(), 1) },
            // SAFETY: as many bytes are in the piece and left in the block, they do not overlap, and `len` is 2 or 3.
            2..4 => unsafe { copy_ends::<2>(from, to.as_ptr(), len) },
            // SAFETY: as many bytes are in the piece and left in the block, they do not overlap, and `len` is from 4 to 7.
            4..8 => unsafe { copy_ends::<4>(from, to.as_ptr(), len) },
            // SAFETY: as many bytes are in the piece and left in the block, they do not overlap, and `len` is from 8 to 16.
            8..=16 => unsafe { copy_ends::<8>(from, to.as_ptr(), len) },
            // SAFETY: as many bytes are in the piece and left in the block, and they do not overlap.
            _ => unsafe { ptr::copy_nonoverlapping(from, to.as_ptr(), len) },
        }
    }

    /// The unused bytes of the capacity.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.cap - self.len
    }
}

// As for std's vector: code that sees the elements after a panic sees values of `T`, whatever is behind the pointer.
impl<T: UnwindSafe, const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> UnwindSafe for Vec<'_, T, MIN_ALIGN, A> {}
// As for the vector that it came from.
impl<T: UnwindSafe> UnwindSafe for IntoIter<'_, T> {}

impl<T, const MIN_ALIGN: usize, A: Allocator> Drop for Vec<'_, T, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            // If a drop panics, the block stays the arena's.
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
        // SAFETY: the first `len` elements from `start` are live and this vector's only, and `&mut self` borrows it (invariant 1).
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Appends the written bytes. Without memory, a write returns an error of the kind `OutOfMemory`.
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

/// An iterator over the elements of a [`Vec`] by value. It does not return memory to the arena.
pub struct IntoIter<'a, T> {
    // # Invariants
    //
    // 1. The elements from `front` to `back` from `start` are live, owned by this iterator, and reserved for `'a`.
    start: NonNull<T>,
    front: usize,
    back: usize,
    // As `Box`.
    owns: PhantomData<(&'a (), T)>,
}

// SAFETY: it is the elements' one owner, and does not reach the arena.
unsafe impl<T: Send> Send for IntoIter<'_, T> {}
// SAFETY: a shared one gives access to no more than `&T`.
unsafe impl<T: Sync> Sync for IntoIter<'_, T> {}

impl<T> IntoIter<'_, T> {
    /// The remaining elements.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `front` is at most `back`, the end of the elements from `start` (invariant 1).
        let front = unsafe { self.start.add(self.front) };
        // SAFETY: the elements from `front` to `back` are live and this iterator's, which is borrowed (invariant 1).
        unsafe { slice::from_raw_parts(front.as_ptr(), self.back - self.front) }
    }

    /// The remaining elements.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: `front` is at most `back`, the end of the elements from `start` (invariant 1).
        let front = unsafe { self.start.add(self.front) };
        // SAFETY: the elements from `front` to `back` are live and this iterator's, which is borrowed exclusively (invariant 1).
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
        // SAFETY: `front` was less than `back`, so that it is the index of an element from `start` (invariant 1).
        let slot = unsafe { self.start.add(front) };
        // SAFETY: it was live, and is no longer counted.
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
        // SAFETY: `back` is lowered to the index of the last element from `start` (invariant 1).
        let slot = unsafe { self.start.add(self.back) };
        // SAFETY: it was live, and is no longer counted.
        Some(unsafe { slot.read() })
    }
}

impl<T> ExactSizeIterator for IntoIter<'_, T> {}
impl<T> FusedIterator for IntoIter<'_, T> {}

impl<T> Drop for IntoIter<'_, T> {
    fn drop(&mut self) {
        // SAFETY: `front` is at most `back`, the end of the elements from `start` (invariant 1).
        let front = unsafe { self.start.add(self.front) };
        let rest = ptr::slice_from_raw_parts_mut(front.as_ptr(), self.back - self.front);
        // SAFETY: invariant 1; they are not used again.
        unsafe { rest.drop_in_place() };
    }
}

impl<T: fmt::Debug> fmt::Debug for IntoIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("len", &(self.back - self.front)).finish_non_exhaustive()
    }
}

//! Methods of a vector that add many elements: from iterators, arrays, slices and other vectors.

use super::capacity::{NoMemory, expected, indices};
use super::{Bump, Vec};
use crate::alloc::{AllocError, Allocator};
use core::ops::RangeBounds;
use core::ptr;

impl<'a, T, const MIN_ALIGN: usize, A: Allocator> Vec<'a, T, MIN_ALIGN, A> {
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
        assert!(self.left() >= N);
        // SAFETY: `len` is at most the capacity, so the result is in the block or at its end.
        let end = unsafe { self.start().add(self.len()) };
        // SAFETY: the check above found capacity for `N` more elements, which are not live. An array has the alignment
        // of its elements.
        unsafe { end.cast::<[T; N]>().write(values) };
        // SAFETY: the check above found capacity for `N` more elements, which the line above wrote.
        unsafe { self.set_len(self.len() + N) };
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
}

impl<T, const MIN_ALIGN: usize, A: Allocator> Vec<'_, T, MIN_ALIGN, A> {
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
        if hint <= self.left() && self.fill_from(values, hint) {
            return Ok(());
        }
        while !self.fill_from(values, self.left()) {
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
        struct SetLen<'v, 'a, T, const MIN_ALIGN: usize, A: Allocator> {
            // # Invariants
            //
            // 1. `local` is at most the vector's capacity, and its first `local` elements are live.
            vec: &'v mut Vec<'a, T, MIN_ALIGN, A>,
            local: usize,
        }
        impl<T, const MIN_ALIGN: usize, A: Allocator> Drop for SetLen<'_, '_, T, MIN_ALIGN, A> {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: `local` is at most the capacity, and the first `local` elements are live (invariant 1).
                unsafe { self.vec.set_len(self.local) };
            }
        }
        assert!(count <= self.left());
        let (start, len) = (self.start(), self.len() + count);
        // The length is in a register.
        let mut run = SetLen { local: self.len(), vec: self };
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
        if len <= self.len() {
            self.truncate(len);
            return Ok(());
        }
        if let Err(no) = self.grow_for(len - self.len()) {
            return Err((value, no));
        }
        while self.len() + 1 < len {
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
        if len <= self.len() {
            self.truncate(len);
            return Ok(());
        }
        if let Err(no) = self.grow_for(len - self.len()) {
            return Err((make, no));
        }
        while self.len() < len {
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
        let count = other.len();
        self.grow_for(count)?;
        // SAFETY: the length is at most the capacity, so the result is in the block or at its end.
        let to = unsafe { self.start().add(self.len()) };
        // SAFETY: `other` has `count` live elements, and `grow_for` made capacity for as many behind `to`. They are in the
        // blocks of two vectors, so they do not overlap.
        unsafe { to.copy_from_nonoverlapping(other.start(), count) };
        // SAFETY: 0 is at most the capacity. `other` gives up its elements, which were moved.
        unsafe { other.set_len(0) };
        // SAFETY: `grow_for` made capacity for `count` more elements, which are live now.
        unsafe { self.set_len(self.len() + count) };
        Ok(())
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
        let range = indices(range, self.len());
        self.grow_for(range.len())?;
        for index in range {
            // SAFETY: `index` is less than the length when this function was called, so the result is in the block.
            let element = unsafe { self.start().add(index) };
            // SAFETY: the element is live, and `clone` has no other access to the vector, which is borrowed exclusively.
            let clone = unsafe { element.as_ref() }.clone();
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
        let mut vec = Self::with_exact_capacity(self.len(), self.bump())?;
        for element in self {
            let clone = element.clone();
            // SAFETY: the capacity is at least `self.len()`, and fewer elements were pushed.
            unsafe { vec.push_unchecked(clone) };
        }
        Ok(vec)
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
        let to = unsafe { self.start().add(self.len()) };
        // SAFETY: the caller guarantees that the block has capacity for the values behind `to`. The values are
        // borrowed, so they are not in that capacity.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to.as_ptr(), values.len()) };
        // SAFETY: the caller guarantees capacity for the values, which are live now.
        unsafe { self.set_len(self.len() + values.len()) };
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
        let to = unsafe { self.start().add(self.len()) };
        // SAFETY: the caller guarantees capacity for the bytes. They are written below, and nothing else runs before.
        unsafe { self.set_len(self.len() + len) };
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

    /// Inserts a piece of text before the byte at `index`, within the capacity.
    ///
    /// # Safety
    ///
    /// `index` is at most `len`, and `cap - len` is at least the number of bytes.
    pub(super) unsafe fn insert_piece(&mut self, index: usize, piece: &[u8]) {
        // SAFETY: the caller guarantees that `index` is at most the length and that there is capacity for the piece. The
        // bytes are all initialised again when the length changes.
        let slots = unsafe { self.open(index, piece.len()) };
        // SAFETY: `open` returned a pointer to as many slots as the piece has bytes. The piece is borrowed, so it is not in
        // them.
        unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), slots.as_ptr(), piece.len()) };
        // SAFETY: the caller guarantees capacity for the piece, and all bytes up to the new length are initialised.
        unsafe { self.set_len(self.len() + piece.len()) };
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

impl<T: Clone, const MIN_ALIGN: usize, A: Allocator> Clone for Vec<'_, T, MIN_ALIGN, A> {
    /// Clones the elements to a new vector in the same arena.
    fn clone(&self) -> Self {
        self.cloned().unwrap_or_else(|no| no.abort())
    }
}

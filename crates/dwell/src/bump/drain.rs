//! Iterators that remove elements from a vector: `drain`, `splice`, `extract_if`.

use super::Vec;
use super::capacity::{NoMemory, expected, indices};
use super::gap::Gap;
use crate::alloc::{AllocError, Allocator, Global};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Range, RangeBounds};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::{ptr, slice};

impl<'a, T, const MIN_ALIGN: usize, A: Allocator> Vec<'a, T, MIN_ALIGN, A> {
    /// Removes a range of elements and returns them as an iterator.
    ///
    /// Dropping the iterator drops the elements that it has not returned.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut vec = bump::vec![in &bump; 1, 2, 3, 4];
    /// assert!(vec.drain(1..3).eq([2, 3]));
    /// assert_eq!(vec, [1, 4]);
    /// ```
    ///
    /// If the iterator is forgotten, the elements from the start of the range on leak.
    ///
    /// # Panics
    ///
    /// When the range starts after its end or ends after the last element.
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> Drain<'_, 'a, T, MIN_ALIGN, A> {
        let Range { start, end } = indices(&range, self.len());
        Drain { front: start, back: end, gap: Gap::new(self, start, end) }
    }

    /// Replaces a range by the items of an iterator, and returns the old elements as an iterator.
    ///
    /// The items of `values` are inserted when the returned iterator is dropped.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut vec = bump::vec![in &bump; 1, 2, 3];
    /// let removed = bump::Vec::from_iter_in(vec.splice(..2, [7, 8, 9]), &bump);
    /// assert_eq!(removed, [1, 2]);
    /// assert_eq!(vec, [7, 8, 9, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// When the range starts after its end or ends after the last element.
    pub fn splice<I: IntoIterator<Item = T>>(
        &mut self,
        range: impl RangeBounds<usize>,
        values: I,
    ) -> Splice<'_, 'a, I::IntoIter, MIN_ALIGN, A> {
        Splice { drain: self.drain(range), values: values.into_iter() }
    }

    /// [`splice`](Self::splice) that reports a failed allocation. It drops the old elements.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the value that did not fit, and the iterator with the remaining ones.
    /// The values before it are in the vector.
    ///
    /// # Panics
    ///
    /// When the range starts after its end or ends after the last element.
    pub fn try_splice<I: IntoIterator<Item = T>>(
        &mut self,
        range: impl RangeBounds<usize>,
        values: I,
    ) -> Result<(), AllocError<(T, I::IntoIter)>> {
        self.drain(range).try_replace(values)
    }

    /// Removes the elements of a range for which `filter` returns true, and returns them as an iterator.
    ///
    /// Elements that the iterator has not reached when it is dropped stay in the vector.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut vec = bump::vec![in &bump; 1, 2, 3, 4];
    /// assert!(vec.extract_if(.., |n| *n % 2 == 0).eq([2, 4]));
    /// assert_eq!(vec, [1, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// When the range starts after its end or ends after the last element.
    pub fn extract_if<F: FnMut(&mut T) -> bool>(
        &mut self,
        range: impl RangeBounds<usize>,
        filter: F,
    ) -> ExtractIf<'_, 'a, T, F, MIN_ALIGN, A> {
        let Range { start, end } = indices(&range, self.len());
        ExtractIf { left: end - start, filter, gap: Gap::new(self, start, start) }
    }
}

/// An iterator over the removed elements of a range of a [`Vec`]. [`Vec::drain`] returns it.
pub struct Drain<'v, 'a, T, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `front <= back <= gap.next`. If `front < back`, `gap.vec().len() <= front`.
    // 2. The elements from `front` to `back` are live and owned by this iterator.
    front: usize,
    back: usize,
    // Dropped after the elements, also if the drop of an element panics.
    gap: Gap<'v, 'a, T, MIN_ALIGN, A>,
}

impl<T, const MIN_ALIGN: usize, A: Allocator> Drain<'_, '_, T, MIN_ALIGN, A> {
    /// Returns the remaining elements as a slice.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `front` is at most `gap.next` (invariant 1), and thus at most `gap.end`.
        let front = unsafe { self.gap.at(self.front) };
        // SAFETY: the elements from `front` to `back` are live and owned by this iterator, which is borrowed (invariant
        // 2).
        unsafe { slice::from_raw_parts(front.as_ptr(), self.back - self.front) }
    }

    /// Drops the remaining elements and puts the items of an iterator in the place of the range.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut vec = bump::vec![in &bump; 1, 2, 3, 4];
    /// let mut drain = vec.drain(1..3);
    /// let removed = drain.next();
    /// drain.try_replace([7, 8, 9])?;
    /// assert_eq!((removed, &vec[..]), (Some(2), &[1, 7, 8, 9, 4][..]));
    /// # Ok::<(), dwell::AllocError<(i32, std::array::IntoIter<i32, 3>)>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the value that did not fit, and the iterator with the remaining ones.
    /// The values before it are in the vector.
    pub fn try_replace<I: IntoIterator<Item = T>>(mut self, values: I) -> Result<(), AllocError<(T, I::IntoIter)>> {
        let mut values = values.into_iter();
        self.replace(&mut values).map_err(|(value, no)| no.error((value, values)))
    }

    /// Drops the remaining elements.
    fn finish(&mut self) {
        // SAFETY: `front` is at most `gap.next` (invariant 1), and thus at most `gap.end`.
        let front = unsafe { self.gap.at(self.front) };
        let rest = ptr::slice_from_raw_parts_mut(front.as_ptr(), self.back - self.front);
        self.front = self.back;
        // SAFETY: these elements were live and owned by this iterator (invariant 2), which no longer counts them,
        // whatever their drop does.
        unsafe { rest.drop_in_place() };
    }

    /// Drops the remaining elements and replaces them by the items of an iterator. If there is no memory, returns the
    /// item that did not fit.
    fn replace(&mut self, values: &mut impl Iterator<Item = T>) -> Result<(), (T, NoMemory)> {
        self.finish();
        let mut widened = 0;
        while let Some(value) = values.next() {
            if let Err(value) = self.gap.fill(value) {
                // The gap doubles, so that the elements behind the range do not move for each value. If there is no
                // memory for that, the gap takes the whole capacity, or if that is used up, one more element.
                let hint = expected(values);
                let more = hint.saturating_add(1).max(widened);
                if self.gap.widen(more).is_ok() {
                    widened = more.saturating_mul(2);
                } else if let Err(no) = self.gap.widen(self.gap.spare().max(1)) {
                    return Err((value, no));
                }
                // The gap is not empty now, so `fill` returns no value.
                drop(self.gap.fill(value));
            }
        }
        Ok(())
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> Iterator for Drain<'_, '_, T, MIN_ALIGN, A> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.front == self.back {
            return None;
        }
        // SAFETY: `front` is at most `gap.next` (invariant 1), and thus at most `gap.end`.
        let element = unsafe { self.gap.at(self.front) };
        self.front += 1;
        // SAFETY: the element was between `front` and `back`, thus live and owned by this iterator (invariant 2), which
        // no longer counts it.
        Some(unsafe { element.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.back - self.front, Some(self.back - self.front))
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> DoubleEndedIterator for Drain<'_, '_, T, MIN_ALIGN, A> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        if self.front == self.back {
            return None;
        }
        self.back -= 1;
        // SAFETY: `back` is at most `gap.next` (invariant 1), and thus at most `gap.end`.
        let element = unsafe { self.gap.at(self.back) };
        // SAFETY: the element was between `front` and `back`, thus live and owned by this iterator (invariant 2), which
        // no longer counts it.
        Some(unsafe { element.read() })
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> ExactSizeIterator for Drain<'_, '_, T, MIN_ALIGN, A> {}
impl<T, const MIN_ALIGN: usize, A: Allocator> FusedIterator for Drain<'_, '_, T, MIN_ALIGN, A> {}

impl<T, const MIN_ALIGN: usize, A: Allocator> Drop for Drain<'_, '_, T, MIN_ALIGN, A> {
    fn drop(&mut self) {
        self.finish();
    }
}

impl<T: fmt::Debug, const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Drain<'_, '_, T, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Drain").field(&self.as_slice()).finish()
    }
}

// As for std's `Drain`: a panic leaves a valid vector with fewer elements. User code gets the elements by `&` only.
impl<T: RefUnwindSafe, const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> UnwindSafe
    for Drain<'_, '_, T, MIN_ALIGN, A>
{
}

/// An iterator over the replaced elements of a range of a [`Vec`]. [`Vec::splice`] returns it.
pub struct Splice<'v, 'a, I: Iterator, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    drain: Drain<'v, 'a, I::Item, MIN_ALIGN, A>,
    values: I,
}

impl<I: Iterator, const MIN_ALIGN: usize, A: Allocator> Iterator for Splice<'_, '_, I, MIN_ALIGN, A> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.drain.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.drain.size_hint()
    }
}

impl<I: Iterator, const MIN_ALIGN: usize, A: Allocator> DoubleEndedIterator for Splice<'_, '_, I, MIN_ALIGN, A> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.drain.next_back()
    }
}

impl<I: Iterator, const MIN_ALIGN: usize, A: Allocator> ExactSizeIterator for Splice<'_, '_, I, MIN_ALIGN, A> {}
impl<I: Iterator, const MIN_ALIGN: usize, A: Allocator> FusedIterator for Splice<'_, '_, I, MIN_ALIGN, A> {}

impl<I: Iterator, const MIN_ALIGN: usize, A: Allocator> Drop for Splice<'_, '_, I, MIN_ALIGN, A> {
    fn drop(&mut self) {
        if let Err((value, no)) = self.drain.replace(&mut self.values) {
            drop(value);
            no.abort();
        }
    }
}

impl<I: Iterator<Item: fmt::Debug>, const MIN_ALIGN: usize, A: Allocator> fmt::Debug
    for Splice<'_, '_, I, MIN_ALIGN, A>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Splice").field(&self.drain.as_slice()).finish()
    }
}

/// An iterator that removes the elements for which a function returns true. [`Vec::extract_if`] returns it.
pub struct ExtractIf<'v, 'a, T, F, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    /// The number of remaining elements in the range.
    left: usize,
    filter: F,
    gap: Gap<'v, 'a, T, MIN_ALIGN, A>,
}

impl<T, F: FnMut(&mut T) -> bool, const MIN_ALIGN: usize, A: Allocator> Iterator
    for ExtractIf<'_, '_, T, F, MIN_ALIGN, A>
{
    type Item = T;

    fn next(&mut self) -> Option<T> {
        while self.left > 0 {
            let extracts = (self.filter)(self.gap.first()?);
            self.left -= 1;
            if extracts {
                return Some(self.gap.take());
            }
            self.gap.keep_one();
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left))
    }
}

impl<T, F: FnMut(&mut T) -> bool, const MIN_ALIGN: usize, A: Allocator> FusedIterator
    for ExtractIf<'_, '_, T, F, MIN_ALIGN, A>
{
}

impl<T: fmt::Debug, F, const MIN_ALIGN: usize, A: Allocator> fmt::Debug for ExtractIf<'_, '_, T, F, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractIf").field("kept", &self.gap.vec()).field("left", &self.left).finish_non_exhaustive()
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> Vec<'_, T, MIN_ALIGN, A> {
    /// Drops the elements for which `keep` returns false.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut vec = bump::vec![in &bump; 1, 2, 3, 4];
    /// vec.retain(|n| n % 2 == 0);
    /// assert_eq!(vec, [2, 4]);
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.retain_mut(|element| keep(element));
    }

    /// [`retain`](Self::retain) with a function that may change the elements.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        let mut gap = Gap::new(self, 0, 0);
        while let Some(element) = gap.first() {
            if keep(element) {
                gap.keep_one();
            } else {
                drop(gap.take());
            }
        }
    }

    /// Drops each element for which `same` returns true when called with it and the last kept element before it.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut words = bump::vec![in &bump; "a", "A", "b", "a"];
    /// words.dedup_by(|word, before| word.eq_ignore_ascii_case(before));
    /// assert_eq!(words, ["a", "b", "a"]);
    /// ```
    pub fn dedup_by(&mut self, mut same: impl FnMut(&mut T, &mut T) -> bool) {
        if self.is_empty() {
            return;
        }
        let mut gap = Gap::new(self, 1, 1);
        // SAFETY: the first element is kept, and no kept element is removed.
        while let Some((before, element)) = unsafe { gap.pair() } {
            if same(element, before) {
                drop(gap.take());
            } else {
                gap.keep_one();
            }
        }
    }

    /// Drops each element whose key equals that of the last kept element before it.
    pub fn dedup_by_key<K: PartialEq>(&mut self, mut key: impl FnMut(&mut T) -> K) {
        self.dedup_by(|element, before| key(element) == key(before));
    }

    /// Drops each element that equals the last kept element before it.
    pub fn dedup(&mut self)
    where
        T: PartialEq,
    {
        self.dedup_by(|element, before| element == before);
    }
}

//! A gap in a vector's elements: the common part of `drain`, `splice`, `extract_if`, `retain_mut` and `dedup_by`.

use super::Vec;
use super::capacity::NoMemory;
use crate::alloc::Allocator;
use core::ptr::NonNull;
use core::slice;

/// A vector whose elements are processed from front to back.
///
/// ```text
///  0            vec.len()      next                     end        vec.capacity()
/// ┌────────────┬──────────────┬────────────────────────┬──────────┐
/// │ kept       │ gap          │ remaining              │ spare    │
/// └────────────┴──────────────┴────────────────────────┴──────────┘
/// ```
///
/// The vector's length covers only the kept elements, so the vector is valid whichever user code panics. Dropping the
/// gap moves the remaining elements behind the kept ones. Forgetting it leaks the remaining elements.
pub(super) struct Gap<'v, 'a, T, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `vec.len() <= next <= end <= vec.capacity()`.
    // 2. The elements from `next` to `end` are live, and this value owns them. It owns no elements from `vec.len()` to
    //    `next`.
    vec: &'v mut Vec<'a, T, MIN_ALIGN, A>,
    next: usize,
    end: usize,
}

impl<'v, 'a, T, const MIN_ALIGN: usize, A: Allocator> Gap<'v, 'a, T, MIN_ALIGN, A> {
    /// Creates a gap. The vector keeps its first `kept` elements, those from `next` on remain, and the caller owns
    /// those in between.
    pub(super) fn new(vec: &'v mut Vec<'a, T, MIN_ALIGN, A>, kept: usize, next: usize) -> Self {
        let end = vec.len();
        assert!(kept <= next && next <= end);
        // SAFETY: `kept` is at most `end`, the vector's length, so the first `kept` elements are live and within the
        // capacity. The vector gives up the others.
        unsafe { vec.set_len(kept) };
        Self { vec, next, end }
    }

    pub(super) fn vec(&self) -> &Vec<'a, T, MIN_ALIGN, A> {
        self.vec
    }

    /// Returns the number of remaining elements.
    pub(super) fn remaining(&self) -> usize {
        self.end - self.next
    }

    /// Returns a pointer to the element at `index`, live or not.
    ///
    /// # Safety
    ///
    /// `index` is at most `end`.
    #[inline]
    pub(super) unsafe fn at(&self, index: usize) -> NonNull<T> {
        debug_assert!(index <= self.end);
        // SAFETY: `index` is at most `end`, which is at most the capacity (invariant 1), so the result is in the
        // vector's block or at its end.
        unsafe { self.vec.start().add(index) }
    }

    /// Returns the first remaining element.
    ///
    /// This and [`pair`](Self::pair) refer to no other element: as with std's `retain` and `dedup_by`, the function that
    /// gets the element may use a pointer to another one.
    #[inline]
    pub(super) fn first(&mut self) -> Option<&mut T> {
        if self.next == self.end {
            return None;
        }
        // SAFETY: `next` is less than `end` (invariant 1 and the check above).
        let mut first = unsafe { self.at(self.next) };
        // SAFETY: the element is live and owned by this value (invariant 2), which is borrowed exclusively.
        Some(unsafe { first.as_mut() })
    }

    /// Returns the last kept element and the first remaining one.
    ///
    /// # Safety
    ///
    /// There is a kept element.
    #[inline]
    pub(super) unsafe fn pair(&mut self) -> Option<(&mut T, &mut T)> {
        debug_assert!(!self.vec.is_empty());
        // SAFETY: the vector's length is greater than 0 (the caller guarantees it) and at most `end` (invariant 1).
        let mut last = unsafe { self.at(self.vec.len() - 1) };
        let first = self.first()?;
        // SAFETY: the element is live and owned by the vector, which is borrowed exclusively. `first` is behind the vector's
        // elements.
        Some((unsafe { last.as_mut() }, first))
    }

    /// Returns the remaining elements.
    #[inline]
    pub(super) fn rest(&self) -> &[T] {
        // SAFETY: `next` is at most `end` (invariant 1).
        let next = unsafe { self.at(self.next) };
        // SAFETY: the elements from `next` to `end` are live and owned by this value, which is borrowed (invariant 2).
        unsafe { slice::from_raw_parts(next.as_ptr(), self.end - self.next) }
    }

    /// Removes and returns the first remaining element.
    ///
    /// # Panics
    ///
    /// When no element remains.
    #[inline]
    pub(super) fn take(&mut self) -> T {
        assert!(self.next < self.end);
        // SAFETY: `next` is less than `end` (checked above).
        let element = unsafe { self.at(self.next) };
        self.next += 1;
        // SAFETY: the element was live and owned by this value (invariant 2), which no longer counts it.
        unsafe { element.read() }
    }

    /// Removes the first `count` remaining elements without dropping them.
    ///
    /// # Panics
    ///
    /// When fewer remain.
    #[inline]
    pub(super) fn skip(&mut self, count: usize) {
        assert!(count <= self.remaining());
        self.next += count;
    }

    /// Moves the first remaining element behind the kept ones.
    ///
    /// # Panics
    ///
    /// When no element remains.
    #[inline]
    pub(super) fn keep_one(&mut self) {
        assert!(self.next < self.end);
        let kept = self.vec.len();
        // SAFETY: `next` is less than `end` (checked above).
        let from = unsafe { self.at(self.next) };
        // SAFETY: the vector's length is at most `end` (invariant 1).
        let to = unsafe { self.at(kept) };
        // SAFETY: a live element is at `from`. `to` is not behind it, so it is a slot of the block, and it holds no kept
        // element. `copy_to` allows that they are the same.
        unsafe { from.copy_to(to, 1) };
        self.next += 1;
        // SAFETY: the element behind the kept ones is live, since it is there now, and this value no longer counts it.
        unsafe { self.vec.set_len(kept + 1) };
    }

    /// Moves the first `count` remaining elements behind the kept ones.
    ///
    /// # Panics
    ///
    /// When fewer remain.
    #[inline]
    pub(super) fn keep(&mut self, count: usize) {
        assert!(count <= self.remaining());
        let kept = self.vec.len();
        // Elements that stay where they are are not written: their owner may have pointers to them.
        if kept != self.next {
            // SAFETY: `next` is at most `end` (invariant 1).
            let from = unsafe { self.at(self.next) };
            // SAFETY: the vector's length is at most `end` (invariant 1).
            let to = unsafe { self.at(kept) };
            // SAFETY: `count` live elements begin at `from` (checked above). `to` is before `from`, so the block also has
            // `count` slots from `to` on, and none of them holds a kept element. `copy_to` allows overlap.
            unsafe { from.copy_to(to, count) };
        }
        self.next += count;
        // SAFETY: the `count` elements behind the kept ones are live, since they are there now, and this value no longer
        // counts them.
        unsafe { self.vec.set_len(kept + count) };
    }

    /// Writes an element into the gap, behind the kept ones. Returns it if the gap is empty.
    #[inline]
    pub(super) fn fill(&mut self, value: T) -> Result<(), T> {
        if self.vec.len() == self.next {
            return Err(value);
        }
        // SAFETY: the length is less than `next` (it is at most `next` by invariant 1, and not equal by the check
        // above), which is at most the capacity.
        unsafe { self.vec.push_unchecked(value) };
        Ok(())
    }

    /// Returns the number of elements by which the gap can widen within the capacity.
    pub(super) fn spare(&self) -> usize {
        self.vec.capacity() - self.end
    }

    /// Widens the gap by `more` elements.
    pub(super) fn widen(&mut self, more: usize) -> Result<(), NoMemory> {
        let spare = self.spare();
        if more > spare {
            // If the block moves, all its bytes are copied, with those of the remaining elements.
            self.vec.grow(more - spare)?;
        }
        // SAFETY: `next` is at most `end` (invariant 1).
        let from = unsafe { self.at(self.next) };
        // SAFETY: the capacity is at least `end + more` now, so the result is in the block or at its end.
        let to = unsafe { from.add(more) };
        // SAFETY: the remaining elements begin at `from`, and the block has slots for as many from `to` on, since
        // `end + more` is at most the capacity. `copy_to` allows overlap.
        unsafe { from.copy_to(to, self.end - self.next) };
        self.next += more;
        self.end += more;
        Ok(())
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> Drop for Gap<'_, '_, T, MIN_ALIGN, A> {
    #[inline]
    fn drop(&mut self) {
        self.keep(self.remaining());
    }
}

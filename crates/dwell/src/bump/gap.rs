//! A gap in a vector's elements: what `drain`, `splice`, `extract_if`, `retain_mut` and `dedup_by` have in common.

use super::Vec;
use super::capacity::NoMemory;
use crate::alloc::Allocator;
use core::ptr::NonNull;
use core::slice;

/// A vector that is consumed from front to back.
///
/// ```text
///  0            vec.len()      next                     end        vec.capacity()
/// ┌────────────┬──────────────┬────────────────────────┬──────────┐
/// │ kept       │ gap          │ remaining              │ spare    │
/// └────────────┴──────────────┴────────────────────────┴──────────┘
/// ```
///
/// The vector has the kept elements and nothing else, so that it is valid whatever user code panics. When this is dropped, the
/// remaining elements are moved behind them. If it is forgotten, the remaining elements leak.
pub(super) struct Gap<'v, 'a, T, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `vec.len() <= next <= end <= vec.capacity()`.
    // 2. The elements from `next` to `end` are live, and this value owns them. It has none from `vec.len()` to `next`.
    vec: &'v mut Vec<'a, T, MIN_ALIGN, A>,
    next: usize,
    end: usize,
}

impl<'v, 'a, T, const MIN_ALIGN: usize, A: Allocator> Gap<'v, 'a, T, MIN_ALIGN, A> {
    /// The vector keeps its first `kept` elements, and those from `next` on remain. Those in between are the caller's.
    pub(super) fn new(vec: &'v mut Vec<'a, T, MIN_ALIGN, A>, kept: usize, next: usize) -> Self {
        let end = vec.len();
        assert!(kept <= next && next <= end);
        // SAFETY: the first `kept` elements are among the `end` live ones. The vector gives the others up.
        unsafe { vec.set_len(kept) };
        Self { vec, next, end }
    }

    pub(super) fn vec(&self) -> &Vec<'a, T, MIN_ALIGN, A> {
        self.vec
    }

    /// How many elements remain.
    pub(super) fn remaining(&self) -> usize {
        self.end - self.next
    }

    /// Where the element at an index of at most `end` is, live or not.
    ///
    /// # Safety
    ///
    /// `index` is at most `end`.
    #[inline]
    pub(super) unsafe fn at(&self, index: usize) -> NonNull<T> {
        debug_assert!(index <= self.end);
        // SAFETY: `end` is at most the capacity, so that the address is in the vector's block or at its end.
        unsafe { self.vec.start().add(index) }
    }

    /// The kept elements and the remaining ones.
    #[inline]
    pub(super) fn parts(&mut self) -> (&mut [T], &mut [T]) {
        // SAFETY: `next` is at most `end`.
        let next = unsafe { self.at(self.next) };
        // SAFETY: the elements from `next` to `end` are live and this value's only. They are behind the vector's own, so that the
        // two slices do not overlap, and both borrow this value exclusively.
        let remaining = unsafe { slice::from_raw_parts_mut(next.as_ptr(), self.end - self.next) };
        (&mut *self.vec, remaining)
    }

    /// Takes the first remaining element out.
    ///
    /// # Panics
    ///
    /// When no element remains.
    #[inline]
    pub(super) fn take(&mut self) -> T {
        assert!(self.next < self.end);
        // SAFETY: `next` is less than `end`.
        let element = unsafe { self.at(self.next) };
        self.next += 1;
        // SAFETY: the element is live and was this value's, which counts it no more.
        unsafe { element.read() }
    }

    /// Leaves the first `count` remaining elements out, which are not dropped.
    ///
    /// # Panics
    ///
    /// When fewer remain.
    #[inline]
    pub(super) fn skip(&mut self, count: usize) {
        assert!(count <= self.remaining());
        self.next += count;
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
        // SAFETY: `next` is at most `end`.
        let from = unsafe { self.at(self.next) };
        // SAFETY: the vector's length is at most `end`.
        let to = unsafe { self.at(kept) };
        // SAFETY: `count` live elements begin at `from`. From `to` on the block has as many, none of them kept: `to` is not behind
        // `from`.
        unsafe { from.copy_to(to, count) };
        self.next += count;
        // SAFETY: as many elements behind the kept ones are live since they were moved there, and this value counts them no more.
        unsafe { self.vec.set_len(kept + count) };
    }

    /// Puts an element into the gap, behind the kept ones. It is returned if there is no gap.
    #[inline]
    pub(super) fn fill(&mut self, value: T) -> Result<(), T> {
        if self.vec.len() == self.next {
            return Err(value);
        }
        // SAFETY: the length is less than `next`, which is at most the capacity.
        unsafe { self.vec.push_unchecked(value) };
        Ok(())
    }

    /// By how many elements the gap can become wider within the capacity.
    pub(super) fn spare(&self) -> usize {
        self.vec.capacity() - self.end
    }

    /// Makes the gap wider by `more` elements.
    pub(super) fn widen(&mut self, more: usize) -> Result<(), NoMemory> {
        let spare = self.spare();
        if more > spare {
            // All of the block is copied if it moves, with what remains in it.
            self.vec.grow(more - spare)?;
        }
        // SAFETY: `next` is at most `end`.
        let from = unsafe { self.at(self.next) };
        // SAFETY: the capacity is at least `end + more`.
        let to = unsafe { from.add(more) };
        // SAFETY: the remaining elements begin at `from`, and behind `to` the block has as many.
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

//! The iterators of a vector.

use super::Vec;
use crate::alloc::Allocator;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::panic::UnwindSafe;
use core::ptr::{self, NonNull};
use core::slice;

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
        IntoIter { start: vec.start(), front: 0, back: vec.len(), owns: PhantomData }
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
// As for the vector from which it was made.
impl<T: UnwindSafe> UnwindSafe for IntoIter<'_, T> {}

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

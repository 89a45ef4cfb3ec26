//! Iterators in a box, and boxed slices as iterators.

use super::SmallBox;
use crate::alloc::{Allocator, Global};
use core::fmt;
use core::iter::FusedIterator;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr;
use core::slice;

/// A trait of the iterators that stay iterators in a `SmallBox`. It is implemented for all sized iterators, `dyn
/// Iterator`, and the trait objects of its subtraits in std.
///
/// This trait tells the compiler that a box of a slice is not an iterator, so that it can have its own `IntoIterator`.
/// Implement it for your own trait objects that have `Iterator` as a supertrait:
///
/// ```
/// use dwell::{SmallBox, small_box};
/// use dwell::small::BoxedIterator;
///
/// trait Tokens: Iterator<Item = char> {}
/// impl Tokens for std::str::Chars<'_> {}
/// impl BoxedIterator for dyn Tokens + '_ {}
///
/// let tokens: SmallBox<dyn Tokens> = small_box!("ab".chars());
/// assert_eq!(tokens.collect::<String>(), "ab");
/// ```
#[diagnostic::on_unimplemented(
    message = "`SmallBox<{Self}>` is not an iterator",
    note = "for a trait object of your own add `impl BoxedIterator for {Self} {{}}`"
)]
pub trait BoxedIterator: Iterator {}

impl<I: Iterator> BoxedIterator for I {}

macro_rules! objects {
    ($($trait:ident)*) => {$(
        impl<'a, T> BoxedIterator for dyn $trait<Item = T> + 'a {}
        impl<'a, T> BoxedIterator for dyn $trait<Item = T> + Send + 'a {}
        impl<'a, T> BoxedIterator for dyn $trait<Item = T> + Send + Sync + 'a {}
    )*};
}
objects!(Iterator DoubleEndedIterator ExactSizeIterator FusedIterator);

/// Forwards every method that a `dyn Iterator` has; the others, such as `fold`, require `Self: Sized`.
impl<I: ?Sized + BoxedIterator, const N: usize, A: Allocator, L> Iterator for SmallBox<I, N, A, L> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        (**self).next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (**self).size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth(n)
    }
}

impl<I, const N: usize, A: Allocator, L> DoubleEndedIterator for SmallBox<I, N, A, L>
where
    I: ?Sized + BoxedIterator + DoubleEndedIterator,
{
    fn next_back(&mut self) -> Option<I::Item> {
        (**self).next_back()
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth_back(n)
    }
}

impl<I, const N: usize, A: Allocator, L> ExactSizeIterator for SmallBox<I, N, A, L>
where
    I: ?Sized + BoxedIterator + ExactSizeIterator,
{
    fn len(&self) -> usize {
        (**self).len()
    }
}

impl<I: ?Sized + BoxedIterator + FusedIterator, const N: usize, A: Allocator, L> FusedIterator
    for SmallBox<I, N, A, L>
{
}

/// An iterator that moves the elements out of a boxed slice, from `into_iter` of a `SmallBox<[T]>`.
pub struct IntoIter<T, const N: usize = 2, A: Allocator = Global, L = usize> {
    // # Invariants
    //
    // 1. `alive` is a range within `elements`. The elements in this range are initialised and owned; the others are
    //    not.
    elements: SmallBox<[MaybeUninit<T>], N, A, L>,
    alive: Range<usize>,
}

impl<T, const N: usize, A: Allocator, L> IntoIter<T, N, A, L> {
    /// Returns the remaining elements.
    pub fn as_slice(&self) -> &[T] {
        let elements: *const [MaybeUninit<T>] = &raw const self.elements[self.alive.clone()];
        // SAFETY: the elements in `alive` are initialised (invariant 1), and a `[MaybeUninit<T>]` has the layout of a
        // `[T]`.
        unsafe { &*(elements as *const [T]) }
    }

    /// Returns the remaining elements.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let elements: *mut [MaybeUninit<T>] = &raw mut self.elements[self.alive.clone()];
        // SAFETY: the elements in `alive` are initialised (invariant 1), and a `[MaybeUninit<T>]` has the layout of a
        // `[T]`.
        unsafe { &mut *(elements as *mut [T]) }
    }
}

impl<T, const N: usize, A: Allocator, L> Iterator for IntoIter<T, N, A, L> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let index = self.alive.next()?;
        // SAFETY: the element was in `alive`, so it is initialised and owned (invariant 1). `next` has just removed it
        // from there, so it is moved out once.
        Some(unsafe { self.elements[index].assume_init_read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.alive.size_hint()
    }
}

impl<T, const N: usize, A: Allocator, L> DoubleEndedIterator for IntoIter<T, N, A, L> {
    fn next_back(&mut self) -> Option<T> {
        let index = self.alive.next_back()?;
        // SAFETY: the element was in `alive`, so it is initialised and owned (invariant 1). `next_back` has just
        // removed it from there, so it is moved out once.
        Some(unsafe { self.elements[index].assume_init_read() })
    }
}

impl<T, const N: usize, A: Allocator, L> ExactSizeIterator for IntoIter<T, N, A, L> {}
impl<T, const N: usize, A: Allocator, L> FusedIterator for IntoIter<T, N, A, L> {}

impl<T, const N: usize, A: Allocator, L> Drop for IntoIter<T, N, A, L> {
    fn drop(&mut self) {
        let left: *mut [T] = self.as_mut_slice();
        self.alive = 0..0;
        // SAFETY: these elements were in `alive`, so they are initialised and owned (invariant 1). `alive` is empty
        // now, so nothing uses them again.
        unsafe { ptr::drop_in_place(left) };
    }
}

impl<T: fmt::Debug, const N: usize, A: Allocator, L> fmt::Debug for IntoIter<T, N, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoIter").field(&self.as_slice()).finish()
    }
}

impl<T, const N: usize, A: Allocator, L> IntoIterator for SmallBox<[T], N, A, L> {
    type Item = T;
    type IntoIter = IntoIter<T, N, A, L>;

    fn into_iter(self) -> IntoIter<T, N, A, L> {
        let alive = 0..self.len();
        // SAFETY: a `[MaybeUninit<T>]` has the layout and the metadata of a `[T]`, and its elements need not be
        // initialised. (They all are, as `alive` requires.)
        let elements = unsafe { self.retype() };
        IntoIter { elements, alive }
    }
}

impl<'a, T, const N: usize, A: Allocator, L> IntoIterator for &'a SmallBox<[T], N, A, L> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T, const N: usize, A: Allocator, L> IntoIterator for &'a mut SmallBox<[T], N, A, L> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.iter_mut()
    }
}

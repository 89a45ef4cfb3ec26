//! bumpalo's `Vec`.

use super::{CollectionAllocErr, out_of_memory};
use crate::Bump;
#[cfg(feature = "boxed")]
use crate::boxed::Box;
use core::alloc::Layout;
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut, Index, IndexMut, RangeBounds};
use core::slice::{self, SliceIndex};
use dwell::bump;

/// An iterator that moves the elements out of a [`Vec`].
pub type IntoIter<'bump, T> = bump::IntoIter<'bump, T>;
/// An iterator over the removed elements of a range of a [`Vec`]. [`Vec::drain`] returns it.
pub type Drain<'a, 'bump, T> = bump::Drain<'a, 'bump, T, 1>;

/// Creates a [`Vec`](crate::collections::Vec) in an arena, like bumpalo's `vec!`.
#[macro_export]
macro_rules! vec {
    (in $bump:expr; $elem:expr; $n:expr) => {{
        let len = $n;
        let mut vec = $crate::collections::Vec::with_capacity_in(len, $bump);
        // As in bumpalo, and not as in std: `$elem` is not evaluated for an empty vector.
        if len > 0 {
            vec.resize(len, $elem);
        }
        vec
    }};
    (in $bump:expr) => {
        $crate::collections::Vec::new_in($bump)
    };
    (in $bump:expr; $($x:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut vec = $crate::collections::Vec::new_in($bump);
        $(vec.push($x);)*
        vec
    }};
}

/// bumpalo's `Vec`, a wrapper of [`bump::Vec`].
// `Vec::of` casts a pointer to a `bump::Vec` to a pointer to this type.
#[repr(transparent)]
pub struct Vec<'bump, T: 'bump>(bump::Vec<'bump, T, 1>);

#[cfg(feature = "boxed")]
impl<'a, A> Box<'a, [A]> {
    /// Moves the items of an iterator into a boxed slice.
    pub fn from_iter_in<T: IntoIterator<Item = A>>(iter: T, a: &'a Bump) -> Self {
        Vec::from_iter_in(iter, a).into_boxed_slice()
    }
}

impl<'bump, T: 'bump> Vec<'bump, T> {
    pub(super) fn from_inner(vec: bump::Vec<'bump, T, 1>) -> Self {
        Self(vec)
    }

    pub(super) fn into_inner(self) -> bump::Vec<'bump, T, 1> {
        self.0
    }

    /// Converts a reference to dwell's vector to one to bumpalo's type.
    pub(super) fn of<'v>(vec: &'v mut bump::Vec<'bump, T, 1>) -> &'v mut Self {
        // SAFETY: `Vec` is a transparent wrapper of `bump::Vec<_, 1>`, so a pointer to one is a valid pointer to the
        // other. The lifetime is the same.
        unsafe { &mut *core::ptr::from_mut(vec).cast::<Self>() }
    }

    /// Creates an empty vector.
    #[inline]
    pub fn new_in(bump: &'bump Bump) -> Self {
        Self(bump::Vec::new_in(bump))
    }

    /// Creates an empty vector with capacity for `capacity` elements.
    #[inline]
    pub fn with_capacity_in(capacity: usize, bump: &'bump Bump) -> Self {
        Self(bump::Vec::try_with_capacity_in(capacity, bump).unwrap_or_else(out_of_memory))
    }

    /// Collects an iterator's items into a vector.
    pub fn from_iter_in<I: IntoIterator<Item = T>>(iter: I, bump: &'bump Bump) -> Self {
        Self(bump::Vec::try_from_iter_in(iter, bump).unwrap_or_else(out_of_memory))
    }

    /// Creates a vector from its raw parts.
    ///
    /// # Safety
    ///
    /// The parts are those of a forgotten vector of this arena, and no other vector was made from them.
    pub unsafe fn from_raw_parts_in(ptr: *mut T, length: usize, capacity: usize, bump: &'bump Bump) -> Self {
        // SAFETY: the caller guarantees that the parts are those of a forgotten vector of this arena, and that no other
        // vector was made from them.
        Self(unsafe { bump::Vec::from_raw_parts_in(ptr, length, capacity, bump) })
    }

    /// Returns the arena of the vector.
    #[inline]
    pub fn bump(&self) -> &'bump Bump {
        Bump::of(self.0.bump())
    }

    /// Returns the capacity in elements.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Reserves capacity for at least `additional` more elements.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.0.try_reserve(additional).unwrap_or_else(out_of_memory);
    }

    /// Reserves capacity for exactly `additional` more elements.
    #[inline]
    pub fn reserve_exact(&mut self, additional: usize) {
        self.0.try_reserve_exact(additional).unwrap_or_else(out_of_memory);
    }

    /// Returns the reason why there is no memory for `additional` more elements.
    fn refused(&self, additional: usize) -> CollectionAllocErr {
        let layout = self.len().checked_add(additional).map(Layout::array::<T>);
        if let Some(Ok(_)) = layout { CollectionAllocErr::AllocErr } else { CollectionAllocErr::CapacityOverflow }
    }

    /// [`reserve`](Self::reserve) that reports a failed allocation.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), CollectionAllocErr> {
        self.0.try_reserve(additional).map_err(|_| self.refused(additional))
    }

    /// [`reserve_exact`](Self::reserve_exact) that reports a failed allocation.
    pub fn try_reserve_exact(&mut self, additional: usize) -> Result<(), CollectionAllocErr> {
        self.0.try_reserve_exact(additional).map_err(|_| self.refused(additional))
    }

    /// Shrinks the capacity to the length. The unused bytes return to the arena if the vector is its last block.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Converts the vector to a slice in the arena.
    #[inline]
    pub fn into_bump_slice(self) -> &'bump [T] {
        self.0.into_slice()
    }

    /// Converts the vector to a mutable slice in the arena.
    #[inline]
    pub fn into_bump_slice_mut(self) -> &'bump mut [T] {
        self.0.into_slice()
    }

    /// Converts the vector to a boxed slice.
    #[cfg(feature = "boxed")]
    #[inline]
    pub fn into_boxed_slice(self) -> Box<'bump, [T]> {
        Box::from_inner(self.0.into_boxed_slice())
    }

    /// Drops the elements from the index `len` on.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Returns the elements as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// Returns the elements as a mutable slice.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }

    /// Returns a pointer to the first element.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }

    /// Returns a mutable pointer to the first element.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.0.as_mut_ptr()
    }

    /// Sets the length.
    ///
    /// # Safety
    ///
    /// `len` is at most the capacity, and the first `len` elements are live.
    #[inline]
    pub unsafe fn set_len(&mut self, len: usize) {
        // SAFETY: the caller guarantees that `len` is at most the capacity and that the first `len` elements are live.
        unsafe { self.0.set_len(len) };
    }

    /// Removes and returns the element at `index` and moves the last one there.
    #[inline]
    pub fn swap_remove(&mut self, index: usize) -> T {
        self.0.swap_remove(index)
    }

    /// Inserts an element before the one at `index`.
    #[inline]
    pub fn insert(&mut self, index: usize, element: T) {
        self.0.try_insert(index, element).unwrap_or_else(out_of_memory);
    }

    /// Removes and returns the element at `index`; later elements move forward.
    #[inline]
    pub fn remove(&mut self, index: usize) -> T {
        self.0.remove(index)
    }

    /// Keeps the elements for which `f` returns true.
    pub fn retain<F: FnMut(&T) -> bool>(&mut self, f: F) {
        self.0.retain(f);
    }

    /// Keeps the elements for which `f` returns true.
    pub fn retain_mut<F: FnMut(&mut T) -> bool>(&mut self, f: F) {
        self.0.retain_mut(f);
    }

    /// Removes the elements for which `filter` returns true, and returns them as an iterator.
    ///
    /// Dropping the iterator early removes the others too.
    pub fn drain_filter<'a, F: FnMut(&mut T) -> bool>(&'a mut self, filter: F) -> DrainFilter<'a, 'bump, T, F> {
        DrainFilter { extracted: self.0.extract_if(.., filter), panicked: false }
    }

    /// Drops each element whose key equals that of the last kept element before it.
    #[inline]
    pub fn dedup_by_key<F: FnMut(&mut T) -> K, K: PartialEq>(&mut self, key: F) {
        self.0.dedup_by_key(key);
    }

    /// Drops each element for which `same_bucket` returns true when called with it and the last kept element before it.
    pub fn dedup_by<F: FnMut(&mut T, &mut T) -> bool>(&mut self, same_bucket: F) {
        self.0.dedup_by(same_bucket);
    }

    /// Drops each element that equals the last kept element before it.
    #[inline]
    pub fn dedup(&mut self)
    where
        T: PartialEq,
    {
        self.0.dedup();
    }

    /// Appends an element.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.0.try_push(value).unwrap_or_else(out_of_memory);
    }

    /// Removes and returns the last element.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Removes and returns the last element if `predicate` returns true for it.
    #[inline]
    pub fn pop_if(&mut self, predicate: impl FnOnce(&mut T) -> bool) -> Option<T> {
        if predicate(self.last_mut()?) { self.pop() } else { None }
    }

    /// Moves all elements of another vector to the end of this one.
    #[inline]
    pub fn append(&mut self, other: &mut Self) {
        self.0.try_append(&mut other.0).unwrap_or_else(out_of_memory);
    }

    /// Removes a range of elements and returns them as an iterator.
    pub fn drain<'a, R: RangeBounds<usize>>(&'a mut self, range: R) -> Drain<'a, 'bump, T> {
        self.0.drain(range)
    }

    /// Replaces a range by the items of an iterator, and returns the old elements as an iterator.
    #[inline]
    pub fn splice<'a, R, I>(&'a mut self, range: R, replace_with: I) -> Splice<'a, 'bump, I::IntoIter>
    where
        R: RangeBounds<usize>,
        I: IntoIterator<Item = T>,
    {
        Splice { drain: Some(self.drain(range)), values: replace_with.into_iter() }
    }

    /// Drops all elements.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the vector is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves the elements from the index `at` on to a new vector.
    #[inline]
    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Self {
        Self(self.0.try_split_off(at).unwrap_or_else(out_of_memory))
    }

    /// Sets the length to `new_len`: drops later elements, or appends clones of `value`.
    pub fn resize(&mut self, new_len: usize, value: T)
    where
        T: Clone,
    {
        self.0.try_resize(new_len, value).unwrap_or_else(out_of_memory);
    }

    /// Appends clones of the elements of a slice.
    pub fn extend_from_slice(&mut self, other: &[T])
    where
        T: Clone,
    {
        self.reserve(other.len());
        self.extend(other.iter().cloned());
    }

    /// Appends copies of the elements of a slice.
    #[inline]
    pub fn extend_from_slice_copy(&mut self, other: &[T])
    where
        T: Copy,
    {
        self.0.try_extend_from_slice(other).unwrap_or_else(out_of_memory);
    }

    /// Appends copies of the elements of several slices.
    pub fn extend_from_slices_copy(&mut self, slices: &[&[T]])
    where
        T: Copy,
    {
        self.reserve(slices.iter().map(|slice| slice.len()).sum());
        for slice in slices {
            self.extend_from_slice_copy(slice);
        }
    }
}

impl<T: Clone> Clone for Vec<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.try_clone().unwrap_or_else(out_of_memory))
    }
}

impl<T> Deref for Vec<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Vec<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T, I: SliceIndex<[T]>> Index<I> for Vec<'_, T> {
    type Output = I::Output;

    #[inline]
    fn index(&self, index: I) -> &I::Output {
        &(**self)[index]
    }
}

impl<T, I: SliceIndex<[T]>> IndexMut<I> for Vec<'_, T> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut I::Output {
        &mut (**self)[index]
    }
}

impl<'bump, T: 'bump> IntoIterator for Vec<'bump, T> {
    type Item = T;
    type IntoIter = IntoIter<'bump, T>;

    #[inline]
    fn into_iter(self) -> IntoIter<'bump, T> {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Vec<'_, T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Vec<'_, T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.iter_mut()
    }
}

impl<T> Extend<T> for Vec<'_, T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, iter: I) {
        self.0.try_extend(iter).unwrap_or_else(out_of_memory);
    }
}

impl<'a, T: 'a + Copy> Extend<&'a T> for Vec<'_, T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, iter: I) {
        Extend::<T>::extend(self, iter.into_iter().copied());
    }
}

macro_rules! compares_with {
    ($([$($generics:tt)*] $Other:ty;)*) => {$(
        impl<T: PartialEq<U>, U, $($generics)*> PartialEq<$Other> for Vec<'_, T> {
            #[inline]
            fn eq(&self, other: &$Other) -> bool {
                self[..] == other[..]
            }
        }
    )*};
}
compares_with! {
    [] Vec<'_, U>;
    [] &[U];
    [] &mut [U];
    [const N: usize] [U; N];
    [const N: usize] &[U; N];
    [const N: usize] &mut [U; N];
}

impl<T: Eq> Eq for Vec<'_, T> {}

impl<T: PartialOrd> PartialOrd for Vec<'_, T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Ord> Ord for Vec<'_, T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: Hash> Hash for Vec<'_, T> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: fmt::Debug> fmt::Debug for Vec<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> AsRef<Self> for Vec<'_, T> {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl<T> AsMut<Self> for Vec<'_, T> {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

impl<T> AsRef<[T]> for Vec<'_, T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T> AsMut<[T]> for Vec<'_, T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T> Borrow<[T]> for Vec<'_, T> {
    fn borrow(&self) -> &[T] {
        self
    }
}

impl<T> BorrowMut<[T]> for Vec<'_, T> {
    fn borrow_mut(&mut self) -> &mut [T] {
        self
    }
}

#[cfg(feature = "boxed")]
impl<'bump, T: 'bump> From<Vec<'bump, T>> for Box<'bump, [T]> {
    fn from(vec: Vec<'bump, T>) -> Self {
        vec.into_boxed_slice()
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Vec<'_, u8> {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.extend_from_slice_copy(buf);
        Ok(buf.len())
    }

    #[inline]
    fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
        self.extend_from_slice_copy(buf);
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize> serde::Serialize for Vec<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// An iterator over the replaced elements of a range of a [`Vec`]. [`Vec::splice`] returns it.
///
/// Dropping it inserts the new elements. When there is no memory for them, it panics, as bumpalo does; dwell calls
/// `handle_alloc_error`.
#[derive(Debug)]
pub struct Splice<'a, 'bump, I: Iterator>
where
    I::Item: 'a + 'bump,
{
    /// `None` while this is dropped.
    drain: Option<Drain<'a, 'bump, I::Item>>,
    values: I,
}

impl<I: Iterator> Iterator for Splice<'_, '_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.drain.as_mut()?.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.drain.as_ref().map_or((0, Some(0)), Iterator::size_hint)
    }
}

impl<I: Iterator> DoubleEndedIterator for Splice<'_, '_, I> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.drain.as_mut()?.next_back()
    }
}

impl<I: Iterator> ExactSizeIterator for Splice<'_, '_, I> {}

impl<I: Iterator> Drop for Splice<'_, '_, I> {
    fn drop(&mut self) {
        if let Some(drain) = self.drain.take() {
            drain.try_replace(&mut self.values).unwrap_or_else(out_of_memory);
        }
    }
}

/// An iterator that removes the elements for which a function returns true. [`Vec::drain_filter`] returns it.
pub struct DrainFilter<'a, 'bump, T: 'bump, F: FnMut(&mut T) -> bool> {
    extracted: bump::ExtractIf<'a, 'bump, T, F, 1>,
    /// Whether the function panicked. If so, it is not called again.
    panicked: bool,
}

impl<T, F: FnMut(&mut T) -> bool> Iterator for DrainFilter<'_, '_, T, F> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.panicked = true;
        let element = self.extracted.next();
        self.panicked = false;
        element
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.extracted.size_hint()
    }
}

impl<T, F: FnMut(&mut T) -> bool> Drop for DrainFilter<'_, '_, T, F> {
    fn drop(&mut self) {
        if !self.panicked {
            self.for_each(drop);
        }
    }
}

impl<T: fmt::Debug, F: FnMut(&mut T) -> bool> fmt::Debug for DrainFilter<'_, '_, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DrainFilter").field(&self.extracted).finish()
    }
}

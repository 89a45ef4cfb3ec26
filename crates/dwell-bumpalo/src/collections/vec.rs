//! bumpalo's `Vec`.

use super::{CollectionAllocErr, out_of_memory};
use crate::Bump;
#[cfg(feature = "boxed")]
use crate::boxed::Box;
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut, Index, IndexMut, RangeBounds};
use core::slice::{self, SliceIndex};
use dwell::bump;

/// The elements of a [`Vec`], by value.
pub type IntoIter<'bump, T> = bump::IntoIter<'bump, T>;
/// The elements of a range, which leave a [`Vec`].
pub type Drain<'a, 'bump, T> = bump::Drain<'a, 'bump, T, 1>;
/// The elements of a range, which others replace.
pub type Splice<'a, 'bump, I> = bump::Splice<'a, 'bump, I, 1>;

/// A vector in an arena, as bumpalo has it.
#[macro_export]
macro_rules! vec {
    (in $bump:expr; $elem:expr; $n:expr) => {{
        let mut vec = $crate::collections::Vec::new_in($bump);
        vec.resize($n, $elem);
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

/// bumpalo's vector, over [`bump::Vec`].
// A `&mut bump::Vec` becomes a reference to this by a cast of the pointer.
#[repr(transparent)]
pub struct Vec<'bump, T: 'bump>(bump::Vec<'bump, T, 1>);

fn refused(error: &dwell::AllocError<()>) -> CollectionAllocErr {
    // An error of no layout is that of a capacity that none has.
    if error.layout().size() == 0 { CollectionAllocErr::CapacityOverflow } else { CollectionAllocErr::AllocErr }
}

impl<'bump, T: 'bump> Vec<'bump, T> {
    pub(super) fn from_inner(vec: bump::Vec<'bump, T, 1>) -> Self {
        Self(vec)
    }

    pub(super) fn into_inner(self) -> bump::Vec<'bump, T, 1> {
        self.0
    }

    /// A vector of dwell's as bumpalo's type.
    pub(super) fn of<'v>(vec: &'v mut bump::Vec<'bump, T, 1>) -> &'v mut Self {
        // SAFETY: `Vec` is a transparent wrapper of `bump::Vec<_, 1>`, so that a pointer to one is a pointer to the
        // other, with the same lifetime.
        unsafe { &mut *core::ptr::from_mut(vec).cast::<Self>() }
    }

    /// An empty vector.
    #[inline]
    pub fn new_in(bump: &'bump Bump) -> Self {
        Self(bump::Vec::new_in(bump))
    }

    /// An empty vector with capacity for `capacity` elements.
    #[inline]
    pub fn with_capacity_in(capacity: usize, bump: &'bump Bump) -> Self {
        Self(bump::Vec::try_with_capacity_in(capacity, bump).unwrap_or_else(out_of_memory))
    }

    /// Collects an iterator's items into a vector.
    pub fn from_iter_in<I: IntoIterator<Item = T>>(iter: I, bump: &'bump Bump) -> Self {
        Self(bump::Vec::try_from_iter_in(iter, bump).unwrap_or_else(out_of_memory))
    }

    /// A vector of its parts.
    ///
    /// # Safety
    ///
    /// They are those of a vector of this arena, which was forgotten.
    pub unsafe fn from_raw_parts_in(ptr: *mut T, length: usize, capacity: usize, bump: &'bump Bump) -> Self {
        // SAFETY: the parts are those of a vector of this arena, of which no other is made.
        Self(unsafe { bump::Vec::from_raw_parts_in(ptr, length, capacity, bump) })
    }

    /// The arena.
    #[inline]
    pub fn bump(&self) -> &'bump Bump {
        Bump::of(self.0.bump())
    }

    /// The elements that fit without moving.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Reserves capacity for more elements.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.0.try_reserve(additional).unwrap_or_else(out_of_memory);
    }

    /// Reserves capacity for more elements, and no more than that.
    #[inline]
    pub fn reserve_exact(&mut self, additional: usize) {
        self.0.try_reserve_exact(additional).unwrap_or_else(out_of_memory);
    }

    /// [`reserve`](Self::reserve) that reports a failed allocation.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), CollectionAllocErr> {
        self.0.try_reserve(additional).map_err(|error| refused(&error))
    }

    /// [`reserve_exact`](Self::reserve_exact) that reports a failed allocation.
    pub fn try_reserve_exact(&mut self, additional: usize) -> Result<(), CollectionAllocErr> {
        self.0.try_reserve_exact(additional).map_err(|error| refused(&error))
    }

    /// Returns unused capacity to the arena, if the vector is its last block.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// The elements, as a part of the arena.
    #[inline]
    pub fn into_bump_slice(self) -> &'bump [T] {
        self.0.into_slice()
    }

    /// The elements, as a part of the arena.
    #[inline]
    pub fn into_bump_slice_mut(self) -> &'bump mut [T] {
        self.0.into_slice()
    }

    /// The elements, in a box.
    #[cfg(feature = "boxed")]
    #[inline]
    pub fn into_boxed_slice(self) -> Box<'bump, [T]> {
        self.0.into_boxed_slice()
    }

    /// Drops the elements from `len` on.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The elements.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The elements.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }

    /// Where the elements are.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }

    /// Where the elements are.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.0.as_mut_ptr()
    }

    /// Says how many elements there are.
    ///
    /// # Safety
    ///
    /// `len` is at most the capacity, and as many elements are there.
    #[inline]
    pub unsafe fn set_len(&mut self, len: usize) {
        // SAFETY: `len` is at most the capacity, and as many elements are live.
        unsafe { self.0.set_len(len) };
    }

    /// Takes an element out; the last one takes its place.
    #[inline]
    pub fn swap_remove(&mut self, index: usize) -> T {
        self.0.swap_remove(index)
    }

    /// Puts an element in front of another.
    #[inline]
    pub fn insert(&mut self, index: usize, element: T) {
        self.0.try_insert(index, element).unwrap_or_else(out_of_memory);
    }

    /// Takes an element out; those behind it move up.
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

    /// Removes the elements for which `filter` returns true, also if the iterator is dropped early.
    pub fn drain_filter<'a, F: FnMut(&mut T) -> bool>(&'a mut self, filter: F) -> DrainFilter<'a, 'bump, T, F> {
        DrainFilter { extracted: self.0.extract_if(.., filter), panicked: false }
    }

    /// Drops elements whose key is that of the one before.
    #[inline]
    pub fn dedup_by_key<F: FnMut(&mut T) -> K, K: PartialEq>(&mut self, key: F) {
        self.0.dedup_by_key(key);
    }

    /// Drops elements that are the same as the one before.
    pub fn dedup_by<F: FnMut(&mut T, &mut T) -> bool>(&mut self, same_bucket: F) {
        self.0.dedup_by(same_bucket);
    }

    /// Drops elements that equal the one before.
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

    /// Takes the last element off.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Removes and returns the last element if `predicate` returns true for it.
    #[inline]
    pub fn pop_if(&mut self, predicate: impl FnOnce(&mut T) -> bool) -> Option<T> {
        if predicate(self.last_mut()?) { self.pop() } else { None }
    }

    /// Moves the elements of another vector behind those of this one.
    #[inline]
    pub fn append(&mut self, other: &mut Self) {
        self.0.try_append(&mut other.0).unwrap_or_else(out_of_memory);
    }

    /// Removes a range of elements.
    pub fn drain<'a, R: RangeBounds<usize>>(&'a mut self, range: R) -> Drain<'a, 'bump, T> {
        self.0.drain(range)
    }

    /// Replaces a range of elements.
    #[inline]
    pub fn splice<'a, R, I>(&'a mut self, range: R, replace_with: I) -> Splice<'a, 'bump, I::IntoIter>
    where
        R: RangeBounds<usize>,
        I: IntoIterator<Item = T>,
    {
        self.0.splice(range, replace_with)
    }

    /// Drops all elements.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// How many elements there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves the elements from `at` on to another vector.
    #[inline]
    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Self {
        Self(self.0.try_split_off(at).unwrap_or_else(out_of_memory))
    }

    /// Makes the length `new_len`.
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

    /// Appends copies of the elements of slices.
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

/// An iterator that removes the elements for which a function returns true: what [`Vec::drain_filter`] returns.
pub struct DrainFilter<'a, 'bump, T: 'bump, F: FnMut(&mut T) -> bool> {
    extracted: bump::ExtractIf<'a, 'bump, T, F, 1>,
    /// The function panicked: it is not called again.
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

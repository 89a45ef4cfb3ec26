//! A set for few values with a handle of one word: a sorted slice.
#![forbid(unsafe_code)]

use super::collect::Cautious;
use super::sorted::{Keys, Sorted};
use super::thin_slice::collect;
use super::{IsEmpty, ThinSlice};
use crate::alloc::{AllocError, try_collect};
use core::alloc::Layout;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::iter::{FusedIterator, Peekable};
use core::mem;
use core::ops::{BitAnd, BitOr, BitXor, RangeBounds, Sub};
use core::slice;
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;
use std_alloc::collections::BTreeSet;
use std_alloc::vec::Vec;

/// A set for few values, with a handle of one word.
///
/// A `HashSet` has six words, a `BTreeSet` three, and both allocate more than their values need. A `SortedSet` has one
/// word (8 bytes on a 64-bit target), and so has `Option<SortedSet<T>>`. An empty set owns no memory; any other owns
/// one block with its length and exactly its values, sorted. A lookup is a binary search.
///
/// ```
/// use dwell::sparse::SortedSet;
///
/// let tags = SortedSet::from(["late", "fragile", "late"]);
/// assert!(tags.contains("late"));
/// assert_eq!(tags.as_slice(), ["fragile", "late"]); // in order
/// assert_eq!(size_of::<Option<SortedSet<String>>>(), size_of::<usize>());
/// ```
///
/// # When to use something else
///
/// Build it at once, from an array, an iterator or a document, and then read it. [`insert`](Self::insert) and
/// [`remove`](Self::remove) reallocate and move up to all values each. Use a `BTreeSet` for an ordered set that keeps
/// changing, and a `HashSet` for a large set without an order.
///
/// # Which values are the same
///
/// As in a `BTreeSet`, [`Ord`] alone decides, for any number of values and in every method: two values are the same
/// when `cmp` returns `Equal`. `Eq` of the values is used only to compare two sets.
///
/// As with std's sets, a value whose order changes while it is in the set, or an [`Ord`] that contradicts itself, leads
/// to failed lookups and another order of iteration. It does not cause undefined behaviour.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedSet<T> {
    sorted: Sorted<T, Keys>,
}

impl<T> SortedSet<T> {
    /// Creates an empty set, which owns no memory.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// static NONE: SortedSet<String> = SortedSet::new();
    /// assert!(!NONE.contains("any"));
    /// ```
    pub const fn new() -> Self {
        Self { sorted: Sorted::new() }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.sorted.entries.len()
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        IsEmpty::is_empty(&self.sorted.entries)
    }

    /// Removes all values and frees their memory.
    pub fn clear(&mut self) {
        drop(mem::take(self));
    }

    /// Returns the values in order.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// assert_eq!(SortedSet::from([3, 1, 2]).as_slice()[1..], [2, 3]);
    /// ```
    pub fn as_slice(&self) -> &[T] {
        &self.sorted.entries
    }

    /// Returns the values in order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self.sorted.entries.iter())
    }

    /// Returns the smallest value.
    pub fn first(&self) -> Option<&T> {
        self.as_slice().first()
    }

    /// Returns the greatest value.
    pub fn last(&self) -> Option<&T> {
        self.as_slice().last()
    }

    /// Removes and returns the smallest value.
    ///
    /// Reallocates and moves all other values; to remove all, iterate by value.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// let mut set = SortedSet::from([2, 1]);
    /// assert_eq!(set.pop_first(), Some(1));
    /// assert_eq!(set.pop_last(), Some(2));
    /// assert_eq!(set.pop_last(), None);
    /// ```
    pub fn pop_first(&mut self) -> Option<T> {
        self.try_pop_first().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`pop_first`](Self::pop_first), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The set stays unchanged.
    pub fn try_pop_first(&mut self) -> Result<Option<T>, AllocError<()>> {
        self.sorted.try_pop_first()
    }

    /// Removes and returns the greatest value. Reallocates.
    pub fn pop_last(&mut self) -> Option<T> {
        self.try_pop_last().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`pop_last`](Self::pop_last), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The set stays unchanged.
    pub fn try_pop_last(&mut self) -> Result<Option<T>, AllocError<()>> {
        self.sorted.try_pop_last()
    }

    /// Keeps the values for which `keep` returns `true`, and shrinks the block to them.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// let mut set: SortedSet<u32> = (0..8).collect();
    /// set.retain(|n| n % 2 == 0);
    /// assert_eq!(set.as_slice(), [0, 2, 4, 6]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics only if `keep` or the drop of a value panics. The values rejected so far are then removed, and all others stay.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.sorted.retain(|value| keep(value));
    }

    /// Like [`retain`](Self::retain), but returns an error if the allocation fails.
    ///
    /// It calls `keep` for all values before it removes any, so that all stay if `keep` panics.
    ///
    /// # Errors
    ///
    /// If the allocation for the results of `keep` fails, before `keep` is called, or one for moving the values. All
    /// values stay.
    pub fn try_retain(&mut self, mut keep: impl FnMut(&T) -> bool) -> Result<(), AllocError<()>> {
        self.sorted.try_retain(|value| keep(value))
    }

    /// Like `Vec::from(set)`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the set.
    pub fn try_into_vec(self) -> Result<Vec<T>, AllocError<Self>> {
        let mut values = Vec::new();
        if values.try_reserve_exact(self.len()).is_err() {
            let layout = Layout::for_value(self.as_slice());
            return Err(AllocError::new(self, layout));
        }
        values.extend(self);
        Ok(values)
    }
}

impl<T: Clone> SortedSet<T> {
    /// Like `clone`, but returns an error if the allocation fails. `T::clone` itself may still abort.
    ///
    /// # Errors
    ///
    /// If the allocation fails. No value has been cloned then.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        Ok(Self { sorted: self.sorted.try_clone()? })
    }
}

impl<T: Ord> SortedSet<T> {
    /// Returns whether the set contains this value.
    #[inline]
    pub fn contains<Q: Ord + ?Sized>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.sorted.search(value).is_ok()
    }

    /// Returns the stored value that equals `value`.
    #[inline]
    pub fn get<Q: Ord + ?Sized>(&self, value: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
    {
        Some(&self.sorted.entries[self.sorted.search(value).ok()?])
    }

    /// Inserts a value and returns whether it is new. An equal stored value stays, as in std's sets.
    ///
    /// A new value reallocates and moves all greater ones. To insert many, see [`Extend`].
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// let mut set = SortedSet::new();
    /// assert!(set.insert("a"));
    /// assert!(!set.insert("a"));
    /// ```
    pub fn insert(&mut self, value: T) -> bool {
        self.try_insert(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`insert`](Self::insert), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value is new and the allocation for one more value fails. The error contains the value, and the set stays
    /// unchanged.
    pub fn try_insert(&mut self, value: T) -> Result<bool, AllocError<T>> {
        match self.sorted.search(&value) {
            Ok(_) => Ok(false),
            Err(index) => self.sorted.entries.try_insert(index, value).map(|()| true),
        }
    }

    /// Inserts a value. Replaces an equal stored value and returns it.
    pub fn replace(&mut self, value: T) -> Option<T> {
        self.try_replace(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`replace`](Self::replace), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// The same as for [`try_insert`](Self::try_insert).
    pub fn try_replace(&mut self, value: T) -> Result<Option<T>, AllocError<T>> {
        match self.sorted.search(&value) {
            Ok(index) => Ok(Some(mem::replace(&mut self.sorted.entries[index], value))),
            Err(index) => self.sorted.entries.try_insert(index, value).map(|()| None),
        }
    }

    /// Removes a value and returns whether the set contained it.
    ///
    /// Reallocates, and moves all greater values. To remove many, see [`retain`](Self::retain).
    pub fn remove<Q: Ord + ?Sized>(&mut self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.take(value).is_some()
    }

    /// Like [`remove`](Self::remove), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The set stays unchanged.
    pub fn try_remove<Q: Ord + ?Sized>(&mut self, value: &Q) -> Result<bool, AllocError<()>>
    where
        T: Borrow<Q>,
    {
        self.try_take(value).map(|taken| taken.is_some())
    }

    /// Removes and returns the stored value that equals `value`.
    pub fn take<Q: Ord + ?Sized>(&mut self, value: &Q) -> Option<T>
    where
        T: Borrow<Q>,
    {
        self.try_take(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`take`](Self::take), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The set stays unchanged.
    pub fn try_take<Q: Ord + ?Sized>(&mut self, value: &Q) -> Result<Option<T>, AllocError<()>>
    where
        T: Borrow<Q>,
    {
        self.sorted.search(value).ok().map(|index| self.sorted.try_remove_at(index)).transpose()
    }

    /// Moves all values of `other` into this set. Of two equal values, this set keeps its own.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// let (mut set, mut other) = (SortedSet::from([1, 2]), SortedSet::from([2, 3]));
    /// set.append(&mut other);
    /// assert_eq!((set.len(), other.len()), (3, 0));
    /// ```
    pub fn append(&mut self, other: &mut Self) {
        self.try_append(other).unwrap_or_else(|error| handle_alloc_error(error.layout()));
    }

    /// Like [`append`](Self::append), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation for the values of both sets fails. Both sets stay unchanged.
    pub fn try_append(&mut self, other: &mut Self) -> Result<(), AllocError<()>> {
        self.sorted.try_append(&mut other.sorted)
    }

    /// Moves all values that are not less than `value` to a new set, and returns it.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// let mut set = SortedSet::from([1, 2, 3]);
    /// assert_eq!(set.split_off(&2), SortedSet::from([2, 3]));
    /// assert_eq!(set, SortedSet::from([1]));
    /// ```
    #[must_use = "what is split off is dropped otherwise"]
    pub fn split_off<Q: Ord + ?Sized>(&mut self, value: &Q) -> Self
    where
        T: Borrow<Q>,
    {
        self.try_split_off(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`split_off`](Self::split_off), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation for one of the two parts fails. The set stays unchanged.
    pub fn try_split_off<Q: Ord + ?Sized>(&mut self, value: &Q) -> Result<Self, AllocError<()>>
    where
        T: Borrow<Q>,
    {
        Ok(Self { sorted: self.sorted.try_split_off(value)? })
    }

    /// Returns an iterator over the values in a range, in order.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// assert!(SortedSet::from([1, 3, 5]).range(2..).eq(&[3, 5]));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the start of the range is greater than the end, or if both are equal and excluded, as with a
    /// `BTreeSet`.
    pub fn range<Q: Ord + ?Sized, R: RangeBounds<Q>>(&self, range: R) -> Iter<'_, T>
    where
        T: Borrow<Q>,
    {
        Iter(self.sorted.entries[self.sorted.indices(&range)].iter())
    }

    /// Returns an iterator over the values of this set that `other` does not contain, in order.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// let (a, b) = (SortedSet::from([1, 2, 3]), SortedSet::from([2, 4]));
    /// assert!(a.difference(&b).eq(&[1, 3]));
    /// assert!(a.intersection(&b).eq(&[2]));
    /// assert!(a.union(&b).eq(&[1, 2, 3, 4]));
    /// assert!(a.symmetric_difference(&b).eq(&[1, 3, 4]));
    /// assert_eq!(&a - &b, SortedSet::from([1, 3]));
    /// ```
    pub fn difference<'a>(&'a self, other: &'a Self) -> impl FusedIterator<Item = &'a T> + Clone {
        Both::new(self, other).filter_map(|(here, there)| if there.is_none() { here } else { None })
    }

    /// Returns an iterator over the values that exactly one of the sets contains, in order.
    pub fn symmetric_difference<'a>(&'a self, other: &'a Self) -> impl FusedIterator<Item = &'a T> + Clone {
        Both::new(self, other).filter_map(|(here, there)| here.xor(there))
    }

    /// Returns an iterator over the values that both sets contain, in order.
    pub fn intersection<'a>(&'a self, other: &'a Self) -> impl FusedIterator<Item = &'a T> + Clone {
        Both::new(self, other).filter_map(|(here, there)| there.and(here))
    }

    /// Returns an iterator over the values of both sets, in order. Of two equal values it yields that of this set.
    pub fn union<'a>(&'a self, other: &'a Self) -> impl FusedIterator<Item = &'a T> + Clone {
        Both::new(self, other).filter_map(|(here, there)| here.or(there))
    }

    /// Returns whether the sets have no value in common.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).next().is_none()
    }

    /// Returns whether `other` contains all values of this set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.len() <= other.len() && self.difference(other).next().is_none()
    }

    /// Returns whether this set contains all values of `other`.
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    /// Like `SortedSet::from(values)`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation for sorting or for the values fails. The error contains the values, which may be sorted and
    /// lack those that equal an earlier value.
    ///
    /// # Panics
    ///
    /// May panic if `Ord` is not a total order, as std's sort does.
    pub fn try_from_vec(values: Vec<T>) -> Result<Self, AllocError<Vec<T>>> {
        Ok(Self { sorted: Sorted::try_from_vec(values)? })
    }

    /// Collects values, or returns an error if an allocation fails.
    ///
    /// ```
    /// use dwell::sparse::SortedSet;
    ///
    /// let set = SortedSet::try_from_iter(["b", "a"]).ok().expect("memory is left");
    /// assert_eq!(set.as_slice(), ["a", "b"]);
    /// ```
    ///
    /// # Errors
    ///
    /// If an allocation fails. The error contains an iterator over all values, including those that the iterator had
    /// not yielded yet. [`try_from_vec`](Self::try_from_vec) describes their order.
    ///
    /// # Panics
    ///
    /// May panic if `Ord` is not a total order, as std's sort does.
    pub fn try_from_iter<I: IntoIterator<Item = T>>(values: I) -> Result<Self, AllocError<impl Iterator<Item = T>>> {
        try_collect(Cautious(values.into_iter()), Self::try_from_vec)
    }

    /// Like `extend`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If an allocation fails. The set stays unchanged, and the error contains an iterator over the new values, as that
    /// of [`try_from_iter`](Self::try_from_iter) does.
    ///
    /// # Panics
    ///
    /// May panic if `Ord` is not a total order, as std's sort does.
    pub fn try_extend<I: IntoIterator<Item = T>>(
        &mut self,
        values: I,
    ) -> Result<(), AllocError<impl Iterator<Item = T> + use<T, I>>> {
        try_collect(Cautious(values.into_iter()), |more| self.sorted.try_extend(more))
    }
}

/// An iterator over the values of two sets in order. It yields equal values of both sets together.
struct Both<'a, T> {
    here: Peekable<slice::Iter<'a, T>>,
    there: Peekable<slice::Iter<'a, T>>,
}

impl<'a, T> Both<'a, T> {
    fn new(here: &'a SortedSet<T>, there: &'a SortedSet<T>) -> Self {
        Self { here: here.as_slice().iter().peekable(), there: there.as_slice().iter().peekable() }
    }
}

impl<T> Clone for Both<'_, T> {
    fn clone(&self) -> Self {
        Self { here: self.here.clone(), there: self.there.clone() }
    }
}

impl<'a, T: Ord> Iterator for Both<'a, T> {
    type Item = (Option<&'a T>, Option<&'a T>);

    fn next(&mut self) -> Option<Self::Item> {
        let order = match (self.here.peek(), self.there.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(here), Some(there)) => here.cmp(there),
        };
        let here = if order.is_le() { self.here.next() } else { None };
        let there = if order.is_ge() { self.there.next() } else { None };
        Some((here, there))
    }
}

impl<T: Ord> FusedIterator for Both<'_, T> {}

macro_rules! operators {
    ($($trait:ident $operator:ident $method:ident: $doc:literal;)*) => {$(
        impl<T: Ord + Clone> $trait<&SortedSet<T>> for &SortedSet<T> {
            type Output = SortedSet<T>;

            #[doc = $doc]
            fn $operator(self, other: &SortedSet<T>) -> SortedSet<T> {
                self.$method(other).cloned().collect()
            }
        }
    )*};
}
operators! {
    BitOr bitor union: "A set of the values of both.";
    BitAnd bitand intersection: "A set of the values that both have.";
    BitXor bitxor symmetric_difference: "A set of the values of either that the other has not.";
    Sub sub difference: "A set of the values that the other has not.";
}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SortedSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

/// Sorts the values once. The first of equal values stays.
impl<T: Ord> From<Vec<T>> for SortedSet<T> {
    fn from(values: Vec<T>) -> Self {
        Self { sorted: Sorted::from_unsorted(ThinSlice::from(values)) }
    }
}

impl<T: Ord> From<Box<[T]>> for SortedSet<T> {
    fn from(values: Box<[T]>) -> Self {
        Self::from(values.into_vec())
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for SortedSet<T> {
    fn from(values: [T; N]) -> Self {
        Self::from(Vec::from(values))
    }
}

impl<T: Ord> From<BTreeSet<T>> for SortedSet<T> {
    fn from(set: BTreeSet<T>) -> Self {
        Self::from(Vec::from_iter(set))
    }
}

#[cfg(feature = "std")]
impl<T: Ord, S> From<std::collections::HashSet<T, S>> for SortedSet<T> {
    fn from(set: std::collections::HashSet<T, S>) -> Self {
        Self::from(Vec::from_iter(set))
    }
}

impl<T> From<SortedSet<T>> for Vec<T> {
    fn from(set: SortedSet<T>) -> Self {
        set.sorted.entries.into()
    }
}

impl<T: Ord> From<SortedSet<T>> for BTreeSet<T> {
    fn from(set: SortedSet<T>) -> Self {
        set.into_iter().collect()
    }
}

/// Collects the values and sorts them once. The first of equal values stays. The iterator's `size_hint` is not trusted.
impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self { sorted: Sorted::from_unsorted(collect(values)) }
    }
}

/// Collects the values, sorts them once and merges them: *n* more values take one reallocation, not *n*.
///
/// If the iterator or the comparison of two values panics, the set stays unchanged.
impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.sorted.extend(collect(values));
    }
}

impl<'a, T: Ord + Copy> Extend<&'a T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, values: I) {
        self.extend(values.into_iter().copied());
    }
}

/// An iterator over the values of a [`SortedSet`] in order.
pub struct Iter<'a, T>(slice::Iter<'a, T>);

/// An iterator over the values of a [`SortedSet`] in order, by value.
pub struct IntoIter<T>(super::thin_slice::IntoIter<T>);

macro_rules! iterators {
    ($({$($lifetime:lifetime)?} $name:ty: $item:ty;)*) => {$(
        impl<$($lifetime,)? T> Iterator for $name {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.0.next()
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }

        impl<$($lifetime,)? T> DoubleEndedIterator for $name {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                self.0.next_back()
            }
        }

        impl<$($lifetime,)? T> ExactSizeIterator for $name {}

        impl<$($lifetime,)? T> FusedIterator for $name {}

        impl<$($lifetime,)? T: fmt::Debug> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.0.as_slice()).finish()
            }
        }
    )*};
}
iterators! {
    {'a} Iter<'a, T>: &'a T;
    {} IntoIter<T>: T;
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, T> IntoIterator for &'a SortedSet<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self.sorted.entries.into_iter())
    }
}

impl<T> IsEmpty for SortedSet<T> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

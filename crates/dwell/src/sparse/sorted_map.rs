//! A map for few entries with a handle of one word: a sorted slice.
#![forbid(unsafe_code)]

use super::collect::Cautious;
pub use super::entry::{Entry, OccupiedEntry, VacantEntry};
use super::sorted::{Pairs, Sorted};
use super::thin_slice::collect;
use super::{IsEmpty, ThinSlice};
use crate::alloc::{AllocError, try_collect};
use core::alloc::Layout;
use core::borrow::Borrow;
use core::fmt;
use core::iter::FusedIterator;
use core::mem;
use core::ops::{Index, RangeBounds};
use core::slice;
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;
use std_alloc::collections::BTreeMap;
use std_alloc::vec::Vec;

/// A map for few entries, with a handle of one word.
///
/// A `HashMap` has six words, a `BTreeMap` three, and both allocate more than their entries need. A `SortedMap` has one
/// word (8 bytes on a 64-bit target), and so has `Option<SortedMap<K, V>>`. An empty map owns no memory; any other owns
/// one block with its length and exactly its entries, sorted by key. A lookup is a binary search.
///
/// ```
/// use dwell::sparse::SortedMap;
///
/// let ports = SortedMap::from([("https", 443), ("http", 80)]);
/// assert_eq!(ports["http"], 80);
/// assert_eq!(ports.get("ftp"), None);
/// assert!(ports.keys().eq(&["http", "https"])); // in order
/// assert_eq!(size_of::<Option<SortedMap<&str, i32>>>(), size_of::<usize>());
/// ```
///
/// # When to use something else
///
/// Build it at once, from an array, an iterator or a document, and then read it. [`insert`](Self::insert) and
/// [`remove`](Self::remove) reallocate and move up to all entries each: building a map of *n* entries that way takes
/// *n*² / 4 moves. Use a `BTreeMap` for an ordered map that keeps changing, and a `HashMap` for a large map without an
/// order.
///
/// # Which keys are the same
///
/// As in a `BTreeMap`, [`Ord`] alone decides, for any number of entries and in every method: two keys are the same when
/// `cmp` returns `Equal`. `Eq` of the keys is used only to compare two maps.
///
/// As with std's maps, a key whose order changes while it is in the map, or an [`Ord`] that contradicts itself, leads
/// to failed lookups and another order of iteration. It does not cause undefined behaviour.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V> {
    pub(super) sorted: Sorted<(K, V), Pairs>,
}

impl<K, V> SortedMap<K, V> {
    /// Creates an empty map, which owns no memory.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// static NONE: SortedMap<String, u32> = SortedMap::new();
    /// assert_eq!(NONE.get("any"), None);
    /// ```
    pub const fn new() -> Self {
        Self { sorted: Sorted::new() }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.sorted.entries.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        IsEmpty::is_empty(&self.sorted.entries)
    }

    /// Removes all entries and frees their memory.
    pub fn clear(&mut self) {
        drop(mem::take(self));
    }

    /// Returns the entries, sorted by key.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let map = SortedMap::from([(3, 'c'), (1, 'a'), (2, 'b')]);
    /// assert_eq!(map.as_slice()[1..], [(2, 'b'), (3, 'c')]);
    /// ```
    pub fn as_slice(&self) -> &[(K, V)] {
        &self.sorted.entries
    }

    /// Returns the entry with the smallest key.
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// Returns the entry with the greatest key.
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Removes and returns the entry with the smallest key.
    ///
    /// Reallocates and moves all other entries; to remove all, iterate by value.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::from([(2, 'b'), (1, 'a')]);
    /// assert_eq!(map.pop_first(), Some((1, 'a')));
    /// assert_eq!(map.pop_last(), Some((2, 'b')));
    /// assert_eq!(map.pop_last(), None);
    /// ```
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        self.try_pop_first().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`pop_first`](Self::pop_first), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The map stays unchanged.
    pub fn try_pop_first(&mut self) -> Result<Option<(K, V)>, AllocError<()>> {
        self.sorted.try_pop_first()
    }

    /// Removes and returns the entry with the greatest key. Reallocates.
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        self.try_pop_last().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`pop_last`](Self::pop_last), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The map stays unchanged.
    pub fn try_pop_last(&mut self) -> Result<Option<(K, V)>, AllocError<()>> {
        self.sorted.try_pop_last()
    }

    /// Converts to a `Vec` of the entries, sorted by key, or returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the map.
    pub fn try_into_vec(self) -> Result<Vec<(K, V)>, AllocError<Self>> {
        let mut entries = Vec::new();
        if entries.try_reserve_exact(self.len()).is_err() {
            let layout = Layout::for_value(self.as_slice());
            return Err(AllocError::new(self, layout));
        }
        entries.extend(self);
        Ok(entries)
    }

    /// Returns the entries in order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.sorted.entries.iter())
    }

    /// Returns the entries in order of their keys, with mutable values.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.sorted.entries.iter_mut())
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + FusedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values in order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the values in order of their keys, mutably.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator + FusedIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Returns the keys in order, by value.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + FusedIterator {
        self.into_iter().map(|(key, _)| key)
    }

    /// Returns the values in order of their keys, by value.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator + FusedIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// Keeps the entries for which `keep` returns `true`, and shrinks the block to them.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map: SortedMap<u32, u32> = (0..8).map(|n| (n, n * n)).collect();
    /// map.retain(|key, _| key % 2 == 0);
    /// assert!(map.into_values().eq([0, 4, 16, 36]));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics only if `keep` or the drop of an entry panics. The entries rejected so far are then removed, and all others stay.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.sorted.retain(|(key, value)| keep(key, value));
    }

    /// Like [`retain`](Self::retain), but returns an error if the allocation fails.
    ///
    /// It calls `keep` for all entries before it removes any, so that all stay if `keep` panics.
    ///
    /// # Errors
    ///
    /// If the allocation for the results of `keep` fails, before `keep` is called, or one for moving the entries. All
    /// entries stay.
    pub fn try_retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) -> Result<(), AllocError<()>> {
        self.sorted.try_retain(|(key, value)| keep(key, value))
    }
}

impl<K: Clone, V: Clone> SortedMap<K, V> {
    /// Like `clone`, but returns an error if the allocation fails. `K::clone` and `V::clone` themselves may still
    /// abort.
    ///
    /// # Errors
    ///
    /// If the allocation fails. No entry has been cloned then.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        Ok(Self { sorted: self.sorted.try_clone()? })
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the value of `key`.
    #[inline]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Returns a mutable reference to the value of `key`.
    #[inline]
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let index = self.sorted.search(key).ok()?;
        Some(&mut self.sorted.entries[index].1)
    }

    /// Returns the stored key that equals `key`, and its value.
    #[inline]
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (key, value) = &self.sorted.entries[self.sorted.search(key).ok()?];
        Some((key, value))
    }

    /// Returns whether the map contains `key`.
    #[inline]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.sorted.search(key).is_ok()
    }

    /// Sets the value of `key` and returns the old one. The stored key stays, as in std's maps.
    ///
    /// A new key reallocates and moves all greater entries. To insert many, see [`Extend`].
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::new();
    /// assert_eq!(map.insert("a", 1), None);
    /// assert_eq!(map.insert("a", 2), Some(1));
    /// ```
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.try_insert(key, value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`insert`](Self::insert), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the key is new and the allocation for one more entry fails. The error contains the key and the value, and the
    /// map stays unchanged.
    pub fn try_insert(&mut self, key: K, value: V) -> Result<Option<V>, AllocError<(K, V)>> {
        match self.sorted.search(&key) {
            Ok(index) => Ok(Some(mem::replace(&mut self.sorted.entries[index].1, value))),
            Err(index) => self.sorted.entries.try_insert(index, (key, value)).map(|()| None),
        }
    }

    /// Removes `key` and returns its value.
    ///
    /// Reallocates, and moves all greater entries. To remove many, see [`retain`](Self::retain).
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.try_remove(key).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`remove`](Self::remove), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The map stays unchanged.
    pub fn try_remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Result<Option<V>, AllocError<()>>
    where
        K: Borrow<Q>,
    {
        Ok(self.try_remove_entry(key)?.map(|(_, value)| value))
    }

    /// Like [`remove`](Self::remove), but also returns the stored key.
    pub fn remove_entry<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        self.try_remove_entry(key).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`remove_entry`](Self::remove_entry), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The map stays unchanged.
    pub fn try_remove_entry<Q: Ord + ?Sized>(&mut self, key: &Q) -> Result<Option<(K, V)>, AllocError<()>>
    where
        K: Borrow<Q>,
    {
        self.sorted.search(key).ok().map(|index| self.sorted.try_remove_at(index)).transpose()
    }

    /// Moves all entries of `other` into this map. For a key in both maps, the value of `other` replaces that of this
    /// map.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::from([(1, 'a'), (2, 'b')]);
    /// map.append(&mut SortedMap::from([(2, 'B'), (3, 'C')]));
    /// assert_eq!(map, SortedMap::from([(1, 'a'), (2, 'B'), (3, 'C')]));
    /// ```
    pub fn append(&mut self, other: &mut Self) {
        self.try_append(other).unwrap_or_else(|error| handle_alloc_error(error.layout()));
    }

    /// Like [`append`](Self::append), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation for the entries of both maps fails. Both maps stay unchanged.
    pub fn try_append(&mut self, other: &mut Self) -> Result<(), AllocError<()>> {
        self.sorted.try_append(&mut other.sorted)
    }

    /// Moves all entries whose keys are not less than `key` to a new map, and returns it.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::from([(1, 'a'), (2, 'b'), (3, 'c')]);
    /// assert_eq!(map.split_off(&2), SortedMap::from([(2, 'b'), (3, 'c')]));
    /// assert_eq!(map, SortedMap::from([(1, 'a')]));
    /// ```
    #[must_use = "what is split off is dropped otherwise"]
    pub fn split_off<Q: Ord + ?Sized>(&mut self, key: &Q) -> Self
    where
        K: Borrow<Q>,
    {
        self.try_split_off(key).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`split_off`](Self::split_off), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation for one of the two parts fails. The map stays unchanged.
    pub fn try_split_off<Q: Ord + ?Sized>(&mut self, key: &Q) -> Result<Self, AllocError<()>>
    where
        K: Borrow<Q>,
    {
        Ok(Self { sorted: self.sorted.try_split_off(key)? })
    }

    /// Returns an iterator over the entries whose keys are in a range, in order.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let map = SortedMap::from([(1, 'a'), (3, 'c'), (5, 'e')]);
    /// assert!(map.range(2..).map(|(key, _)| key).eq(&[3, 5]));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the start of the range is greater than the end, or if both are equal and excluded, as with a
    /// `BTreeMap`.
    pub fn range<Q: Ord + ?Sized, R: RangeBounds<Q>>(&self, range: R) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        Iter(self.sorted.entries[self.sorted.indices(&range)].iter())
    }

    /// Like [`range`](Self::range), but with mutable values.
    ///
    /// # Panics
    ///
    /// The same as for [`range`](Self::range).
    pub fn range_mut<Q: Ord + ?Sized, R: RangeBounds<Q>>(&mut self, range: R) -> IterMut<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let indices = self.sorted.indices(&range);
        IterMut(self.sorted.entries[indices].iter_mut())
    }

    /// Like `SortedMap::from(entries)`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation for sorting or for the entries fails. The error contains the entries, which may be sorted and
    /// lack those that a later entry with the same key replaces.
    ///
    /// # Panics
    ///
    /// May panic if `Ord` is not a total order, as std's sort does.
    pub fn try_from_vec(entries: Vec<(K, V)>) -> Result<Self, AllocError<Vec<(K, V)>>> {
        Ok(Self { sorted: Sorted::try_from_vec(entries)? })
    }

    /// Collects entries, or returns an error if an allocation fails.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let map = SortedMap::try_from_iter([("b", 2), ("a", 1)]).ok().expect("memory is left");
    /// assert_eq!(map["a"], 1);
    /// ```
    ///
    /// # Errors
    ///
    /// If an allocation fails. The error contains an iterator over all entries, including those that the iterator had
    /// not yielded yet. [`try_from_vec`](Self::try_from_vec) describes their order.
    ///
    /// # Panics
    ///
    /// May panic if `Ord` is not a total order, as std's sort does.
    pub fn try_from_iter<I: IntoIterator<Item = (K, V)>>(
        entries: I,
    ) -> Result<Self, AllocError<impl Iterator<Item = (K, V)>>> {
        try_collect(Cautious(entries.into_iter()), Self::try_from_vec)
    }

    /// Like `extend`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If an allocation fails. The map stays unchanged, and the error contains an iterator over the new entries, as
    /// that of [`try_from_iter`](Self::try_from_iter) does.
    ///
    /// # Panics
    ///
    /// May panic if `Ord` is not a total order, as std's sort does.
    pub fn try_extend<I: IntoIterator<Item = (K, V)>>(
        &mut self,
        entries: I,
    ) -> Result<(), AllocError<impl Iterator<Item = (K, V)> + use<K, V, I>>> {
        try_collect(Cautious(entries.into_iter()), |more| self.sorted.try_extend(more))
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: Borrow<Q> + Ord, V, Q: Ord + ?Sized> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    /// # Panics
    ///
    /// Panics if the map does not contain `key`.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry found for key")
    }
}

/// Sorts the entries once. The last value of equal keys wins.
impl<K: Ord, V> From<Vec<(K, V)>> for SortedMap<K, V> {
    fn from(entries: Vec<(K, V)>) -> Self {
        Self { sorted: Sorted::from_unsorted(ThinSlice::from(entries)) }
    }
}

impl<K: Ord, V> From<Box<[(K, V)]>> for SortedMap<K, V> {
    fn from(entries: Box<[(K, V)]>) -> Self {
        Self::from(entries.into_vec())
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        Self::from(Vec::from(entries))
    }
}

impl<K: Ord, V> From<BTreeMap<K, V>> for SortedMap<K, V> {
    fn from(map: BTreeMap<K, V>) -> Self {
        Self::from(Vec::from_iter(map))
    }
}

#[cfg(feature = "std")]
impl<K: Ord, V, S> From<std::collections::HashMap<K, V, S>> for SortedMap<K, V> {
    fn from(map: std::collections::HashMap<K, V, S>) -> Self {
        Self::from(Vec::from_iter(map))
    }
}

impl<K, V> From<SortedMap<K, V>> for Vec<(K, V)> {
    fn from(map: SortedMap<K, V>) -> Self {
        map.sorted.entries.into()
    }
}

impl<K: Ord, V> From<SortedMap<K, V>> for BTreeMap<K, V> {
    fn from(map: SortedMap<K, V>) -> Self {
        map.into_iter().collect()
    }
}

/// Collects the entries and sorts them once. The last value of equal keys wins. The iterator's `size_hint` is not
/// trusted.
impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self { sorted: Sorted::from_unsorted(collect(entries)) }
    }
}

/// Collects the entries, sorts them once and merges them: *n* more entries take one reallocation, not *n*.
///
/// If the iterator or the comparison of two keys panics, the map stays unchanged.
impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.sorted.extend(collect(entries));
    }
}

impl<'a, K: Ord + Copy, V: Copy> Extend<(&'a K, &'a V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, entries: I) {
        self.extend(entries.into_iter().map(|(key, value)| (*key, *value)));
    }
}

/// The entries of a [`SortedMap`] in order of their keys.
pub struct Iter<'a, K, V>(slice::Iter<'a, (K, V)>);

/// The entries of a [`SortedMap`] in order of their keys, with mutable values.
pub struct IterMut<'a, K, V>(slice::IterMut<'a, (K, V)>);

/// The entries of a [`SortedMap`] in order of their keys, by value.
pub struct IntoIter<K, V>(super::thin_slice::IntoIter<(K, V)>);

macro_rules! iterators {
    ($({$($lifetime:lifetime)?} $name:ty: $item:ty, $entry:pat => $value:expr;)*) => {$(
        impl<$($lifetime,)? K, V> Iterator for $name {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.0.next().map(|$entry| $value)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }

        impl<$($lifetime,)? K, V> DoubleEndedIterator for $name {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                self.0.next_back().map(|$entry| $value)
            }
        }

        impl<$($lifetime,)? K, V> ExactSizeIterator for $name {}

        impl<$($lifetime,)? K, V> FusedIterator for $name {}

        impl<$($lifetime,)? K: fmt::Debug, V: fmt::Debug> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.0.as_slice()).finish()
            }
        }
    )*};
}
iterators! {
    {'a} Iter<'a, K, V>: (&'a K, &'a V), (key, value) => (key, value);
    {'a} IterMut<'a, K, V>: (&'a K, &'a mut V), (key, value) => (&*key, value);
    {} IntoIter<K, V>: (K, V), entry => entry;
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut SortedMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter(self.sorted.entries.into_iter())
    }
}

impl<K, V> IsEmpty for SortedMap<K, V> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

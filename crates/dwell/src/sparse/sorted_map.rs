//! A map for few entries behind one word: a sorted slice.

pub use super::entry::{Entry, OccupiedEntry, VacantEntry};
use super::thin_slice::Filling;
use super::{IsEmpty, ThinSlice};
use crate::alloc::{AllocError, try_collect};
use core::alloc::Layout;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::iter::FusedIterator;
use core::mem;
use core::ops::{Bound, Index, Range, RangeBounds};
use core::slice;
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;
use std_alloc::collections::BTreeMap;
use std_alloc::vec::Vec;

/// The number of entries up to which a lookup goes through them in turn.
const FEW: usize = 8;

/// A map for few entries that costs one word where it is kept.
///
/// A `HashMap` is six words, a `BTreeMap` three, and each allocates more than its entries need. This is one word (8 bytes
/// on a 64-bit target), and so is `Option<SortedMap<K, V>>`. An empty one owns no memory; any other owns one block with
/// its length and exactly its entries, sorted by key. Finding one is a binary search, or a walk if they are few.
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
/// It is made to be built at once, from an array, an iterator or a document, and then read. [`insert`](Self::insert)
/// and [`remove`](Self::remove) reallocate and move up to all entries each: to build a map of *n* entries that way takes
/// *n*² / 4 moves. Take `BTreeMap` for a map that goes on changing and is ordered, or `HashMap` for one that is large and
/// is not.
///
/// # Keys that compare badly
///
/// As with std's maps, a key whose order changes while it is in the map, or an [`Ord`] that contradicts itself, makes
/// lookups miss and iteration go in some other order. It does not break memory safety.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V> {
    /// Strictly ascending by key, if `K` is ordered as `Ord` says. No `unsafe` code leans on it.
    pub(super) entries: ThinSlice<(K, V)>,
}

impl<K, V> SortedMap<K, V> {
    /// An empty map, which owns no memory.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// static NONE: SortedMap<String, u32> = SortedMap::new();
    /// assert_eq!(NONE.get("any"), None);
    /// ```
    pub const fn new() -> Self {
        Self { entries: ThinSlice::empty() }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        IsEmpty::is_empty(&self.entries)
    }

    /// Removes all entries and gives their memory back.
    pub fn clear(&mut self) {
        drop(mem::take(self));
    }

    /// The entries, sorted by key.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let map = SortedMap::from([(3, 'c'), (1, 'a'), (2, 'b')]);
    /// assert_eq!(map.as_slice()[1..], [(2, 'b'), (3, 'c')]);
    /// ```
    pub fn as_slice(&self) -> &[(K, V)] {
        &self.entries
    }

    /// The entry with the smallest key.
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// The entry with the greatest key.
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Takes the entry with the smallest key out.
    ///
    /// It reallocates and moves all others; to take all, iterate by value.
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
        (!self.is_empty()).then(|| self.remove_at(0))
    }

    /// [`pop_first`](Self::pop_first) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator does not make the block smaller; the map stays as it is.
    pub fn try_pop_first(&mut self) -> Result<Option<(K, V)>, AllocError<()>> {
        if self.is_empty() { Ok(None) } else { self.try_remove_at(0).map(Some) }
    }

    /// Takes the entry with the greatest key out. It reallocates.
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        let last = self.len().checked_sub(1)?;
        Some(self.remove_at(last))
    }

    /// [`pop_last`](Self::pop_last) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator does not make the block smaller; the map stays as it is.
    pub fn try_pop_last(&mut self) -> Result<Option<(K, V)>, AllocError<()>> {
        self.len().checked_sub(1).map(|last| self.try_remove_at(last)).transpose()
    }

    /// Takes the entry at an index below the length out.
    pub(super) fn remove_at(&mut self, index: usize) -> (K, V) {
        self.try_remove_at(index).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    fn try_remove_at(&mut self, index: usize) -> Result<(K, V), AllocError<()>> {
        self.entries.try_remove(index).map_err(|layout| AllocError::new((), layout))
    }

    /// The entries in order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.entries.iter())
    }

    /// The entries in order of their keys, with values for writing.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.entries.iter_mut())
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + FusedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values in order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The values in order of their keys, for writing.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator + FusedIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// The keys in order, by value.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + FusedIterator {
        self.into_iter().map(|(key, _)| key)
    }

    /// The values in order of their keys, by value.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator + FusedIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// Keeps the entries for which `keep` says `true`, and shrinks to them.
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
    /// Only if `keep` does. The entries it has refused are gone then, and all others stay.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        /// Puts the entries back, also when `keep` panics.
        struct PutBack<'a, K, V> {
            map: &'a mut SortedMap<K, V>,
            entries: Vec<(K, V)>,
        }

        impl<K, V> Drop for PutBack<'_, K, V> {
            fn drop(&mut self) {
                self.map.entries = mem::take(&mut self.entries).into();
            }
        }

        let entries = mem::take(&mut self.entries).into();
        let mut guard = PutBack { map: self, entries };
        guard.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// [`retain`](Self::retain) that reports a failed allocation.
    ///
    /// It asks `keep` about all entries before it takes any out; so if `keep` panics, all stay.
    ///
    /// # Errors
    ///
    /// When the allocator has no block for the answers, and `keep` has not been called, or none for the entries that are
    /// left; all stay then.
    pub fn try_retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) -> Result<(), AllocError<()>> {
        let refused = |layout| AllocError::new((), layout);
        let mut kept = Vec::new();
        if kept.try_reserve_exact(self.len()).is_err() {
            return Err(refused(Layout::for_value(&*self.entries)));
        }
        kept.extend(self.entries.iter_mut().map(|(key, value)| keep(key, value)));
        let mut left = Filling::try_new(kept.iter().filter(|keep| **keep).count()).map_err(refused)?;
        for (entry, keep) in mem::take(&mut self.entries).into_iter().zip(kept) {
            if keep {
                left.push(entry);
            }
        }
        self.entries = left.finish();
        Ok(())
    }
}

impl<K: Clone, V: Clone> SortedMap<K, V> {
    /// `clone` that reports a failed allocation; `K::clone` and `V::clone` themselves may still abort.
    ///
    /// # Errors
    ///
    /// When the allocator has no block for the entries; nothing was cloned then.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        let entries = ThinSlice::try_from_slice(&self.entries).map_err(|error| error.map(|_| ()))?;
        Ok(Self { entries })
    }
}

/// Whether two entries have one key. If so, `first` gets the value of `later`, as repeated `insert` does it.
fn merged<K: Ord, V>(later: &mut (K, V), first: &mut (K, V)) -> bool {
    let same = later.0.cmp(&first.0) == Ordering::Equal;
    if same {
        mem::swap(&mut later.1, &mut first.1);
    }
    same
}

/// Sorts by key; the first of equal keys stays, with the last value. Without memory to do so, the entries come back as they
/// were.
#[expect(clippy::type_complexity, reason = "entries, and the same entries")]
fn try_sort<K: Ord, V>(mut entries: Vec<(K, V)>) -> Result<Vec<(K, V)>, AllocError<Vec<(K, V)>>> {
    // std's stable sort aborts when it gets no memory. With each entry's place beside it, any sort is stable.
    let mut placed = Vec::new();
    if placed.try_reserve_exact(entries.len()).is_err() {
        let layout = Layout::for_value(&*entries);
        return Err(AllocError::new(entries, layout));
    }
    placed.extend(entries.drain(..).zip(0_usize..));
    placed.sort_unstable_by(|((a, _), i), ((b, _), j)| a.cmp(b).then(i.cmp(j)));
    placed.dedup_by(|(later, _), (first, _)| merged(later, first));
    entries.extend(placed.into_iter().map(|(entry, _)| entry)); // it has room
    Ok(entries)
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Where the key is, or where it would be.
    #[inline]
    pub(super) fn search<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries.binary_search_by(|(other, _)| other.borrow().cmp(key))
    }

    /// Where the key is.
    ///
    /// Of few keys it is quicker to ask each whether it is equal, which most say no to at once, than to ask some how they
    /// are ordered. `docs/sparse.md` has the numbers.
    #[inline]
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        if self.len() <= FEW {
            self.entries.iter().position(|(other, _)| other.borrow() == key)
        } else {
            self.search(key).ok()
        }
    }

    /// The value at `key`.
    #[inline]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The value at `key`, for writing.
    #[inline]
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let index = self.find(key)?;
        Some(&mut self.entries[index].1)
    }

    /// The key as it is stored, and its value.
    #[inline]
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (key, value) = &self.entries[self.find(key)?];
        Some((key, value))
    }

    /// Whether there is a value at `key`.
    #[inline]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_some()
    }

    /// Sets the value at `key` and returns the one that was there; the stored key stays, as in std's maps.
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

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the key is new and the allocator has no block for one entry more; key and value come back in the error and
    /// the map stays as it is.
    pub fn try_insert(&mut self, key: K, value: V) -> Result<Option<V>, AllocError<(K, V)>> {
        match self.search(&key) {
            Ok(index) => Ok(Some(mem::replace(&mut self.entries[index].1, value))),
            Err(index) => self.entries.try_insert(index, (key, value)).map(|()| None),
        }
    }

    /// Removes the value at `key` and returns it.
    ///
    /// It reallocates to the entries that are left and moves all greater ones. To remove many, see
    /// [`retain`](Self::retain).
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.try_remove(key).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`remove`](Self::remove) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator does not make the block smaller; the map stays as it is.
    pub fn try_remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Result<Option<V>, AllocError<()>>
    where
        K: Borrow<Q>,
    {
        let Some(index) = self.find(key) else { return Ok(None) };
        let (_, value) = self.try_remove_at(index)?;
        Ok(Some(value))
    }

    /// The entries whose keys lie in a range, in order.
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
    /// When the range ends before it begins, or is empty with both ends excluded, as with a `BTreeMap`.
    pub fn range<Q: Ord + ?Sized, R: RangeBounds<Q>>(&self, range: R) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        Iter(self.entries[self.places(&range)].iter())
    }

    /// [`range`](Self::range) with values for writing.
    ///
    /// # Panics
    ///
    /// As [`range`](Self::range).
    pub fn range_mut<Q: Ord + ?Sized, R: RangeBounds<Q>>(&mut self, range: R) -> IterMut<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let places = self.places(&range);
        IterMut(self.entries[places].iter_mut())
    }

    /// Where the keys of a range are.
    fn places<Q: Ord + ?Sized>(&self, range: &impl RangeBounds<Q>) -> Range<usize>
    where
        K: Borrow<Q>,
    {
        match (range.start_bound(), range.end_bound()) {
            (Bound::Excluded(start), Bound::Excluded(end)) => assert!(start < end, "the range is empty"),
            (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
                assert!(start <= end, "the range ends before it begins");
            }
            _ => {}
        }
        // The first place that is not before the range, and the first behind it.
        let first = |is_before: &dyn Fn(Ordering) -> bool, bound: &Q| {
            self.entries.partition_point(|(key, _)| is_before(key.borrow().cmp(bound)))
        };
        let start = match range.start_bound() {
            Bound::Unbounded => 0,
            Bound::Included(bound) => first(&Ordering::is_lt, bound),
            Bound::Excluded(bound) => first(&Ordering::is_le, bound),
        };
        let end = match range.end_bound() {
            Bound::Unbounded => self.len(),
            Bound::Included(bound) => first(&Ordering::is_le, bound),
            Bound::Excluded(bound) => first(&Ordering::is_lt, bound),
        };
        // With keys that compare badly they may be the wrong way round.
        start..end.max(start)
    }

    /// `SortedMap::from(entries)` that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory to sort in, or no block for the entries; they come back in the error, perhaps sorted
    /// and without those that a later one with the same key replaces.
    pub fn try_from_vec(entries: Vec<(K, V)>) -> Result<Self, AllocError<Vec<(K, V)>>> {
        let entries = ThinSlice::try_from_vec(try_sort(entries)?)?;
        Ok(Self { entries })
    }

    /// Collecting that reports a failed allocation.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let map = SortedMap::try_from_iter([("b", 2), ("a", 1)]).ok().expect("some memory is left");
    /// assert_eq!(map["a"], 1);
    /// ```
    ///
    /// # Errors
    ///
    /// When the allocator has no memory; the error has an iterator over the entries, those that were not asked for yet
    /// included, as [`try_from_vec`](Self::try_from_vec) gives them back.
    pub fn try_from_iter<I: IntoIterator<Item = (K, V)>>(
        entries: I,
    ) -> Result<Self, AllocError<impl Iterator<Item = (K, V)>>> {
        try_collect(entries, Self::try_from_vec)
    }

    /// `extend` that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory; the map stays as it is, and the error has an iterator over the entries as that of
    /// [`try_from_iter`](Self::try_from_iter) has.
    pub fn try_extend<I: IntoIterator<Item = (K, V)>>(
        &mut self,
        entries: I,
    ) -> Result<(), AllocError<impl Iterator<Item = (K, V)> + use<K, V, I>>> {
        try_collect(entries, |more| self.try_merge(try_sort(more)?))
    }

    /// Adds entries that are sorted and have one of each key.
    fn try_merge(&mut self, more: Vec<(K, V)>) -> Result<(), AllocError<Vec<(K, V)>>> {
        // Where each belongs. All comparisons are made before anything moves, so that one that panics does no harm.
        let mut places = Vec::new();
        if places.try_reserve_exact(more.len()).is_err() {
            let layout = Layout::for_value(&*more);
            return Err(AllocError::new(more, layout));
        }
        places.extend(more.iter().map(|(key, _)| self.search(key)));
        let new = places.iter().filter(|place| place.is_err()).count();
        // The sum of the lengths of two slices, of which one has elements, or of units.
        let mut all = match Filling::try_new(self.len().saturating_add(new)) {
            Ok(all) => all,
            Err(layout) => return Err(AllocError::new(more, layout)),
        };
        let mut old = mem::take(&mut self.entries).into_iter();
        let mut reached = 0; // of the old entries
        for ((key, value), place) in more.into_iter().zip(places) {
            let (Ok(index) | Err(index)) = place;
            // In an order that contradicts itself it may lie behind: then a new entry goes here, and a value nowhere.
            old.by_ref().take(index.saturating_sub(reached)).for_each(|entry| all.push(entry));
            reached = reached.max(index);
            if place.is_err() {
                all.push((key, value));
            } else if reached == index
                && let Some((first, _)) = old.next()
            {
                all.push((first, value));
                reached += 1;
            }
        }
        old.for_each(|entry| all.push(entry));
        self.entries = all.finish();
        Ok(())
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
    /// When there is no value at `key`.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry found for key")
    }
}

/// Sorts once. The last of equal keys wins.
impl<K: Ord, V> From<Vec<(K, V)>> for SortedMap<K, V> {
    fn from(mut entries: Vec<(K, V)>) -> Self {
        // Stable, so that of equal keys the one that came last is last.
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(merged);
        Self { entries: entries.into() }
    }
}

impl<K: Ord, V> From<Box<[(K, V)]>> for SortedMap<K, V> {
    fn from(entries: Box<[(K, V)]>) -> Self {
        Self::from(entries.into_vec())
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        Self::from_iter(entries)
    }
}

impl<K: Ord, V> From<BTreeMap<K, V>> for SortedMap<K, V> {
    fn from(map: BTreeMap<K, V>) -> Self {
        Self::from_iter(map)
    }
}

#[cfg(feature = "std")]
impl<K: Ord, V, S> From<std::collections::HashMap<K, V, S>> for SortedMap<K, V> {
    fn from(map: std::collections::HashMap<K, V, S>) -> Self {
        Self::from_iter(map)
    }
}

impl<K, V> From<SortedMap<K, V>> for Vec<(K, V)> {
    fn from(map: SortedMap<K, V>) -> Self {
        map.entries.into()
    }
}

impl<K: Ord, V> From<SortedMap<K, V>> for BTreeMap<K, V> {
    fn from(map: SortedMap<K, V>) -> Self {
        map.into_iter().collect()
    }
}

/// Collects, then sorts once. The last of equal keys wins.
impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::from(Vec::from_iter(entries))
    }
}

/// Collects, then sorts once: *n* entries more take one reallocation, not *n*.
///
/// If the iterator panics, the map stays as it is. If the comparison of two keys does, the map is left empty.
impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        let mut more = Vec::from_iter(entries);
        if !more.is_empty() {
            let mut all = Vec::from(mem::take(self));
            all.append(&mut more);
            *self = Self::from(all);
        }
    }
}

/// The entries of a [`SortedMap`] in order of their keys.
pub struct Iter<'a, K, V>(slice::Iter<'a, (K, V)>);

/// The entries of a [`SortedMap`] in order of their keys, with values for writing.
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
        IntoIter(self.entries.into_iter())
    }
}

impl<K, V> IsEmpty for SortedMap<K, V> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

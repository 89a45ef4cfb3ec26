//! The entry API of [`SortedMap`]: a lookup and an insertion with one search.
#![forbid(unsafe_code)]

use super::SortedMap;
use crate::alloc::AllocError;
use core::fmt;
use core::mem;
use std_alloc::alloc::handle_alloc_error;

/// An entry of a [`SortedMap`], occupied or vacant: the result of [`SortedMap::entry`].
///
/// ```
/// use dwell::sparse::SortedMap;
///
/// let mut counts = SortedMap::new();
/// for word in ["a", "b", "a"] {
///     *counts.entry(word).or_insert(0) += 1;
/// }
/// assert_eq!(counts, SortedMap::from([("a", 2), ("b", 1)]));
/// ```
pub enum Entry<'a, K, V> {
    /// The map has an entry with this key.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The map has no entry with this key.
    Vacant(VacantEntry<'a, K, V>),
}

/// An occupied entry of a [`SortedMap`].
pub struct OccupiedEntry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    // Below the length of the map, which has been borrowed since the index was found. All uses are bounds-checked.
    index: usize,
}

/// A vacant entry of a [`SortedMap`].
pub struct VacantEntry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    // At most the length of the map, as above.
    index: usize,
    key: K,
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the entry of a key, so that a lookup and an insertion need only one search.
    ///
    /// Like [`insert`](Self::insert), an insertion into a vacant entry reallocates and moves all greater entries.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut groups: SortedMap<usize, Vec<&str>> = SortedMap::new();
    /// for word in ["one", "three", "two"] {
    ///     groups.entry(word.len()).or_default().push(word);
    /// }
    /// assert_eq!(groups[&3], ["one", "two"]);
    /// ```
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        match self.sorted.search(&key) {
            Ok(index) => Entry::Occupied(OccupiedEntry { map: self, index }),
            Err(index) => Entry::Vacant(VacantEntry { map: self, index, key }),
        }
    }
}

impl<K, V> SortedMap<K, V> {
    /// Returns the entry with the smallest key.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::from([(1, 'a'), (2, 'b')]);
    /// assert_eq!(map.first_entry().unwrap().remove(), 'a');
    /// *map.last_entry().unwrap().get_mut() = 'c';
    /// assert_eq!(map, SortedMap::from([(2, 'c')]));
    /// ```
    pub fn first_entry(&mut self) -> Option<OccupiedEntry<'_, K, V>> {
        (!self.is_empty()).then_some(OccupiedEntry { map: self, index: 0 })
    }

    /// Returns the entry with the greatest key.
    pub fn last_entry(&mut self) -> Option<OccupiedEntry<'_, K, V>> {
        let index = self.len().checked_sub(1)?;
        Some(OccupiedEntry { map: self, index })
    }
}

impl<'a, K, V> Entry<'a, K, V> {
    /// Returns the stored key of an occupied entry, or the key passed to [`SortedMap::entry`].
    pub fn key(&self) -> &K {
        match self {
            Self::Occupied(entry) => entry.key(),
            Self::Vacant(entry) => entry.key(),
        }
    }

    /// Inserts `value` if the entry is vacant, and returns the value.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// Like [`or_insert`](Self::or_insert), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the entry is vacant and the allocation for one more entry fails. The error contains the key and the value.
    pub fn try_or_insert(self, value: V) -> Result<&'a mut V, AllocError<(K, V)>> {
        self.try_or_insert_with(|| value)
    }

    /// Inserts the result of `make` if the entry is vacant, and returns the value.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        self.or_insert_with_key(|_| make())
    }

    /// Like [`or_insert_with`](Self::or_insert_with), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// The same as for [`try_or_insert`](Self::try_or_insert).
    pub fn try_or_insert_with(self, make: impl FnOnce() -> V) -> Result<&'a mut V, AllocError<(K, V)>> {
        self.try_or_insert_with_key(|_| make())
    }

    /// Inserts the result of `make` for the key if the entry is vacant, and returns the value.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut lengths = SortedMap::new();
    /// assert_eq!(*lengths.entry("three").or_insert_with_key(|key| key.len()), 5);
    /// ```
    pub fn or_insert_with_key(self, make: impl FnOnce(&K) -> V) -> &'a mut V {
        self.try_or_insert_with_key(make).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`or_insert_with_key`](Self::or_insert_with_key), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// The same as for [`try_or_insert`](Self::try_or_insert).
    pub fn try_or_insert_with_key(self, make: impl FnOnce(&K) -> V) -> Result<&'a mut V, AllocError<(K, V)>> {
        match self {
            Self::Occupied(entry) => Ok(entry.into_mut()),
            Self::Vacant(entry) => {
                let value = make(entry.key());
                entry.try_insert(value)
            }
        }
    }

    /// Inserts the default if the entry is vacant, and returns the value.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Like [`or_default`](Self::or_default), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// The same as for [`try_or_insert`](Self::try_or_insert).
    pub fn try_or_default(self) -> Result<&'a mut V, AllocError<(K, V)>>
    where
        V: Default,
    {
        self.try_or_insert_with(V::default)
    }

    /// Changes the value if the entry is occupied.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::from([("a", 1)]);
    /// map.entry("a").and_modify(|n| *n += 1).or_insert(0);
    /// map.entry("b").and_modify(|n| *n += 1).or_insert(0);
    /// assert_eq!(map, SortedMap::from([("a", 2), ("b", 0)]));
    /// ```
    #[must_use = "without `or_insert` after it, `get_mut` does the same"]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }

    /// Sets the value, whether the entry is occupied or vacant, and returns the entry.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::from([("a", 1)]);
    /// assert_eq!(map.entry("a").insert_entry(2).remove_entry(), ("a", 2));
    /// assert_eq!(map.entry("b").insert_entry(3).get(), &3);
    /// ```
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V> {
        self.try_insert_entry(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`insert_entry`](Self::insert_entry), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// The same as for [`try_or_insert`](Self::try_or_insert).
    pub fn try_insert_entry(self, value: V) -> Result<OccupiedEntry<'a, K, V>, AllocError<(K, V)>> {
        match self {
            Self::Occupied(mut entry) => {
                entry.insert(value);
                Ok(entry)
            }
            Self::Vacant(entry) => entry.try_insert_entry(value),
        }
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    /// Returns the key as it is stored.
    pub fn key(&self) -> &K {
        &self.map.sorted.entries[self.index].0
    }

    /// Returns the value.
    pub fn get(&self) -> &V {
        &self.map.sorted.entries[self.index].1
    }

    /// Returns a mutable reference to the value.
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.map.sorted.entries[self.index].1
    }

    /// Returns a mutable reference to the value, for as long as the map is borrowed.
    pub fn into_mut(self) -> &'a mut V {
        &mut self.map.sorted.entries[self.index].1
    }

    /// Sets the value and returns the old one.
    pub fn insert(&mut self, value: V) -> V {
        mem::replace(self.get_mut(), value)
    }

    /// Removes the entry and returns its value. See [`SortedMap::remove`].
    pub fn remove(self) -> V {
        self.remove_entry().1
    }

    /// Like [`remove`](Self::remove), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The error contains this entry, and the map stays unchanged.
    pub fn try_remove(self) -> Result<V, AllocError<Self>> {
        self.try_remove_entry().map(|(_, value)| value)
    }

    /// Removes the entry and returns the stored key and the value.
    pub fn remove_entry(self) -> (K, V) {
        self.try_remove_entry().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`remove_entry`](Self::remove_entry), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the reallocation to the smaller size fails. The error contains this entry, and the map stays unchanged.
    pub fn try_remove_entry(self) -> Result<(K, V), AllocError<Self>> {
        self.map.sorted.try_remove_at(self.index).map_err(|error| error.map(|()| self))
    }
}

impl<'a, K, V> VacantEntry<'a, K, V> {
    /// Returns the key passed to [`SortedMap::entry`].
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns the key.
    pub fn into_key(self) -> K {
        self.key
    }

    /// Inserts the key with a value, and returns the value.
    pub fn insert(self, value: V) -> &'a mut V {
        self.insert_entry(value).into_mut()
    }

    /// Like [`insert`](Self::insert), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation for one more entry fails. The error contains the key and the value, and the map stays
    /// unchanged.
    pub fn try_insert(self, value: V) -> Result<&'a mut V, AllocError<(K, V)>> {
        self.try_insert_entry(value).map(OccupiedEntry::into_mut)
    }

    /// Inserts the key with a value, and returns the entry.
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V> {
        self.try_insert_entry(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`insert_entry`](Self::insert_entry), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// The same as for [`try_insert`](Self::try_insert).
    pub fn try_insert_entry(self, value: V) -> Result<OccupiedEntry<'a, K, V>, AllocError<(K, V)>> {
        let Self { map, index, key } = self;
        map.sorted.entries.try_insert(index, (key, value))?;
        Ok(OccupiedEntry { map, index })
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Entry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry: &dyn fmt::Debug = match self {
            Self::Occupied(entry) => entry,
            Self::Vacant(entry) => entry,
        };
        f.debug_tuple("Entry").field(entry).finish()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for OccupiedEntry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedEntry").field("key", self.key()).field("value", self.get()).finish()
    }
}

impl<K: fmt::Debug, V> fmt::Debug for VacantEntry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(self.key()).finish()
    }
}

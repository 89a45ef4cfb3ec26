//! A place of a [`SortedMap`], looked up once.
#![forbid(unsafe_code)]

use super::SortedMap;
use crate::alloc::AllocError;
use core::fmt;
use core::mem;
use std_alloc::alloc::handle_alloc_error;

/// The place of a key in a [`SortedMap`], with an entry or without: what [`SortedMap::entry`] returns.
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
#[derive(Debug)]
pub enum Entry<'a, K, V> {
    /// The map has an entry of this key.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The map has none.
    Vacant(VacantEntry<'a, K, V>),
}

/// An entry of a [`SortedMap`].
pub struct OccupiedEntry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    // Where `search` found the key; the map is borrowed since. All uses are checked.
    index: usize,
}

/// A place of a [`SortedMap`] where an entry would go.
pub struct VacantEntry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    // As in `OccupiedEntry`.
    index: usize,
    key: K,
}

impl<K: Ord, V> SortedMap<K, V> {
    /// The place of a key, to look at it and to fill it with one search.
    ///
    /// As with [`insert`](Self::insert), filling a vacant one reallocates and moves all greater entries.
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
        match self.search(&key) {
            Ok(index) => Entry::Occupied(OccupiedEntry { map: self, index }),
            Err(index) => Entry::Vacant(VacantEntry { map: self, index, key }),
        }
    }
}

impl<'a, K, V> Entry<'a, K, V> {
    /// The key: as it is stored, or else as it was asked for.
    pub fn key(&self) -> &K {
        match self {
            Self::Occupied(entry) => entry.key(),
            Self::Vacant(entry) => entry.key(),
        }
    }

    /// The value, which is `value` if there was none.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// [`or_insert`](Self::or_insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there was no entry and the allocator has no block for one more; key and value come back in the error.
    pub fn try_or_insert(self, value: V) -> Result<&'a mut V, AllocError<(K, V)>> {
        match self {
            Self::Occupied(entry) => Ok(entry.into_mut()),
            Self::Vacant(entry) => entry.try_insert(value),
        }
    }

    /// The value, which is what `make` returns if there was none.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => entry.insert(make()),
        }
    }

    /// The value, which is the default if there was none.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value, if there is one.
    ///
    /// ```
    /// use dwell::sparse::SortedMap;
    ///
    /// let mut map = SortedMap::from([("a", 1)]);
    /// map.entry("a").and_modify(|n| *n += 1).or_insert(0);
    /// map.entry("b").and_modify(|n| *n += 1).or_insert(0);
    /// assert_eq!(map, SortedMap::from([("a", 2), ("b", 0)]));
    /// ```
    #[must_use = "without `or_insert` after it, `get_mut` says the same"]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    /// The key as it is stored.
    pub fn key(&self) -> &K {
        &self.map.entries[self.index].0
    }

    /// The value.
    pub fn get(&self) -> &V {
        &self.map.entries[self.index].1
    }

    /// The value, for writing.
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.map.entries[self.index].1
    }

    /// The value, for writing, for as long as the map is borrowed.
    pub fn into_mut(self) -> &'a mut V {
        &mut self.map.entries[self.index].1
    }

    /// Sets the value and returns the one that was there.
    pub fn insert(&mut self, value: V) -> V {
        mem::replace(self.get_mut(), value)
    }

    /// Takes the entry out of the map and returns its value. See [`SortedMap::remove`].
    pub fn remove(self) -> V {
        let (_, value) = self.map.remove_at(self.index);
        value
    }
}

impl<'a, K, V> VacantEntry<'a, K, V> {
    /// The key that was asked for.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The key that was asked for, back.
    pub fn into_key(self) -> K {
        self.key
    }

    /// Puts an entry there.
    pub fn insert(self, value: V) -> &'a mut V {
        self.try_insert(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no block for one entry more; key and value come back in the error, and the map stays as it is.
    pub fn try_insert(self, value: V) -> Result<&'a mut V, AllocError<(K, V)>> {
        self.map.entries.try_insert(self.index, (self.key, value))?;
        Ok(&mut self.map.entries[self.index].1)
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

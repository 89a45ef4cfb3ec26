//! A slab that owns its values and finds them by key: [`SlabMap`].
//!
//! The values live in one `Vec`. A vacant entry holds the key of the next vacant one, so that the free list takes no
//! memory of its own; the entry that was vacated last is reused first. That is the design of the crate
//! [slab](https://docs.rs/slab), and [`SlabMap`] has its interface.

mod iter;
#[cfg(feature = "serde")]
mod serde;

pub use self::iter::{Drain, IntoIter, Iter, IterMut};

use crate::alloc::AllocError;
use core::alloc::Layout;
use core::convert::Infallible;
use core::ops::{Index, IndexMut};
use core::{fmt, mem};
use std_alloc::vec::Vec;

/// A map that chooses its keys: `insert` returns the key of the value.
///
/// Keys are small integers. A later value reuses the key of a removed one. `SlabMap` owns its values, so it is `Send`
/// and `Sync` where `T` is; an empty one allocates nothing. Values move when the map grows: for addresses that do not
/// change use a [`Slab`](super::Slab).
///
/// ```
/// use dwell::slab::SlabMap;
///
/// let mut sessions = SlabMap::new();
/// let alice = sessions.insert("alice");
/// let bob = sessions.insert("bob");
/// assert_eq!(sessions[alice], "alice");
/// assert_eq!(sessions.remove(alice), "alice");
/// assert_eq!(sessions.get(alice), None);
///
/// let carol = sessions.insert("carol");
/// assert_eq!(carol, alice); // the key is reused
/// assert_eq!(sessions.iter().collect::<Vec<_>>(), [(carol, &"carol"), (bob, &"bob")]);
/// ```
///
/// # Memory
///
/// An entry has the size of `T`, but at least one word. It has one more word for a tag, rounded up to the alignment of `T`,
/// unless a niche of `T` holds the tag. Capacity doubles like that of a `Vec`.
pub struct SlabMap<T> {
    // # Invariants
    //
    // No unsafe code in this crate depends on them.
    //
    // 1. `len` is the number of occupied entries.
    // 2. The free list begins at `next`, goes through every vacant entry once, and ends with `entries.len()`.
    entries: Vec<Entry<T>>,
    len: usize,
    next: usize,
}

#[derive(Clone)]
enum Entry<T> {
    /// The key of the next vacant entry, or the number of entries if this is the last one.
    Vacant(usize),
    Occupied(T),
}

impl<T> Entry<T> {
    fn value(&self) -> Option<&T> {
        match self {
            Self::Occupied(value) => Some(value),
            Self::Vacant(_) => None,
        }
    }

    fn value_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Occupied(value) => Some(value),
            Self::Vacant(_) => None,
        }
    }
}

/// The error of [`SlabMap::get_disjoint_mut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetDisjointMutError {
    /// A key has no value.
    IndexVacant,
    /// A key is out of bounds: the map has no entry for it.
    IndexOutOfBounds,
    /// Two keys are equal.
    OverlappingIndices,
}

impl fmt::Display for GetDisjointMutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IndexVacant => "a key has no value",
            Self::IndexOutOfBounds => "a key is out of bounds",
            Self::OverlappingIndices => "two keys are equal",
        })
    }
}

impl core::error::Error for GetDisjointMutError {}

impl<T> SlabMap<T> {
    /// The layout of an entry.
    pub(crate) const ENTRY: Layout = Layout::new::<Entry<T>>();

    /// Creates an empty map without an allocation.
    ///
    /// ```
    /// static EMPTY: dwell::slab::SlabMap<u8> = dwell::slab::SlabMap::new();
    /// assert_eq!(EMPTY.capacity(), 0);
    /// ```
    pub const fn new() -> Self {
        Self { entries: Vec::new(), len: 0, next: 0 }
    }

    /// Creates an empty map with capacity for at least `capacity` values.
    ///
    /// # Panics
    ///
    /// When the capacity exceeds `isize::MAX` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), len: 0, next: 0 }
    }

    /// Like [`with_capacity`](Self::with_capacity), but returns an error on failure.
    ///
    /// # Errors
    ///
    /// When the capacity exceeds `isize::MAX` bytes, or the allocator fails.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError<()>> {
        let mut map = Self::new();
        map.try_reserve(capacity)?;
        Ok(map)
    }

    /// Returns the number of values that the map can hold without another allocation.
    pub fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the map has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of entries that `additional` values need beside the vacant ones.
    fn missing(&self, additional: usize) -> usize {
        additional.saturating_sub(self.entries.len() - self.len)
    }

    /// Reserves capacity for at least `additional` more values, and more to avoid frequent allocations.
    ///
    /// # Panics
    ///
    /// When the capacity exceeds `isize::MAX` bytes.
    pub fn reserve(&mut self, additional: usize) {
        self.entries.reserve(self.missing(additional));
    }

    /// Reserves capacity for exactly `additional` more values. The allocator may give more.
    ///
    /// # Panics
    ///
    /// When the capacity exceeds `isize::MAX` bytes.
    pub fn reserve_exact(&mut self, additional: usize) {
        self.entries.reserve_exact(self.missing(additional));
    }

    /// Like [`reserve`](Self::reserve), but returns an error on failure.
    ///
    /// # Errors
    ///
    /// When the capacity exceeds `isize::MAX` bytes, or the allocator fails. The map is unchanged.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), AllocError<()>> {
        let missing = self.missing(additional);
        self.entries.try_reserve(missing).map_err(|_| AllocError::new((), self.layout_with(missing)))
    }

    /// Like [`reserve_exact`](Self::reserve_exact), but returns an error on failure.
    ///
    /// # Errors
    ///
    /// The same as for [`try_reserve`](Self::try_reserve).
    pub fn try_reserve_exact(&mut self, additional: usize) -> Result<(), AllocError<()>> {
        let missing = self.missing(additional);
        self.entries.try_reserve_exact(missing).map_err(|_| AllocError::new((), self.layout_with(missing)))
    }

    /// Returns the layout of the present entries and `more` new ones, or that of one entry if the size exceeds
    /// `isize::MAX` bytes.
    fn layout_with(&self, more: usize) -> Layout {
        let entries = self.entries.len().checked_add(more);
        entries.and_then(|entries| Layout::array::<Entry<T>>(entries).ok()).unwrap_or(Self::ENTRY)
    }

    /// Frees unused memory. Keys do not change.
    pub fn shrink_to_fit(&mut self) {
        let before = self.entries.len();
        while let Some(Entry::Vacant(_)) = self.entries.last() {
            self.entries.pop();
        }
        if self.entries.len() != before {
            self.rebuild_free_list();
        }
        self.entries.shrink_to_fit();
    }

    /// Rebuilds the free list, lowest key first, so that later calls of `shrink_to_fit` find more vacant entries at the
    /// end.
    fn rebuild_free_list(&mut self) {
        let vacant = self.entries.len() - self.len;
        let end = self.entries.len();
        self.next = Self::link(self.entries.iter_mut().enumerate().rev(), vacant, end);
    }

    /// Links `vacant` entries, the last of them first, in front of the list that begins at `next`. Returns the new
    /// beginning.
    fn link<'a>(entries: impl Iterator<Item = (usize, &'a mut Entry<T>)>, vacant: usize, next: usize) -> usize
    where
        T: 'a,
    {
        let vacant_entries = entries.filter_map(|(key, entry)| match entry {
            Entry::Vacant(next) => Some((key, next)),
            Entry::Occupied(_) => None,
        });
        // `take` ends the loop after the last vacant entry.
        vacant_entries.take(vacant).fold(next, |first, (key, next)| {
            *next = first;
            key
        })
    }

    /// Moves the values with the largest keys into vacant entries, and frees the memory after them.
    ///
    /// It calls `rekey` with each value that moves, its key and its new key. If `rekey` returns `false`, the value
    /// stays and `compact` ends.
    ///
    /// ```
    /// use dwell::slab::SlabMap;
    ///
    /// let mut map: SlabMap<char> = [(0, 'a'), (3, 'd')].into_iter().collect();
    /// map.compact(|_, from, to| (from, to) == (3, 1));
    /// assert_eq!(map[1], 'd');
    /// ```
    ///
    /// # Panics
    ///
    /// When `rekey` panics. The map stays usable, and the value that `rekey` got is dropped.
    pub fn compact(&mut self, mut rekey: impl FnMut(&mut T, usize, usize) -> bool) {
        /// A guard that makes the map valid again, even if `rekey` panics.
        struct Guard<'a, T>(&'a mut SlabMap<T>);
        impl<T> Drop for Guard<'_, T> {
            fn drop(&mut self) {
                self.0.rebuild_free_list();
            }
        }

        let mut target = 0;
        while self.len < self.entries.len() {
            let Some(Entry::Occupied(mut value)) = self.entries.pop() else { continue };
            // The value is in no entry while `rekey` runs.
            self.len -= 1;
            let from = self.entries.len();
            let guard = Guard(self);
            let map = &mut *guard.0;
            // There is a vacant entry, because the map has fewer values than entries.
            while matches!(map.entries.get(target), Some(Entry::Occupied(_))) {
                target += 1;
            }
            let moves = rekey(&mut value, from, target);
            map.len += 1;
            if moves {
                map.entries[target] = Entry::Occupied(value);
                mem::forget(guard); // the end of the loop builds the list
            } else {
                map.entries.push(Entry::Occupied(value));
                break; // the guard builds the list
            }
        }
        if self.len == self.entries.len() {
            self.next = self.len;
        }
        self.entries.shrink_to_fit();
    }

    /// Drops all values and keeps the capacity.
    pub fn clear(&mut self) {
        // Before the drops, so that the map is empty if one panics.
        self.len = 0;
        self.next = 0;
        self.entries.clear();
    }

    /// Returns an iterator over the keys and values, in the order of the keys.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self.entries.iter(), self.len)
    }

    /// Returns an iterator over the keys and values, with mutable references to the values, in the order of the keys.
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::new(self.entries.iter_mut(), self.len)
    }

    /// Returns whether the key has a value.
    pub fn contains(&self, key: usize) -> bool {
        self.get(key).is_some()
    }

    /// Returns a reference to the value of a key.
    #[inline]
    pub fn get(&self, key: usize) -> Option<&T> {
        self.entries.get(key)?.value()
    }

    /// Returns a mutable reference to the value of a key.
    #[inline]
    pub fn get_mut(&mut self, key: usize) -> Option<&mut T> {
        self.entries.get_mut(key)?.value_mut()
    }

    /// Returns mutable references to the values of two keys, if both have one.
    ///
    /// # Panics
    ///
    /// When the keys are equal.
    pub fn get2_mut(&mut self, key1: usize, key2: usize) -> Option<(&mut T, &mut T)> {
        assert!(key1 != key2, "the keys are equal");
        self.get_disjoint_mut([key1, key2]).ok().map(|[first, second]| (first, second))
    }

    /// Returns mutable references to the values of several keys.
    ///
    /// ```
    /// use dwell::slab::SlabMap;
    ///
    /// let mut map: SlabMap<u8> = [(0, 1), (1, 2)].into_iter().collect();
    /// let [a, b] = map.get_disjoint_mut([0, 1]).unwrap();
    /// std::mem::swap(a, b);
    /// assert_eq!((map[0], map[1]), (2, 1));
    /// ```
    ///
    /// # Errors
    ///
    /// When two keys are equal or a key has no value.
    #[expect(clippy::missing_panics_doc, reason = "the keys are checked before")]
    pub fn get_disjoint_mut<const N: usize>(&mut self, keys: [usize; N]) -> Result<[&mut T; N], GetDisjointMutError> {
        // In the order of the crate slab: first whether the keys differ, then each key.
        if keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key)) {
            return Err(GetDisjointMutError::OverlappingIndices);
        }
        for key in keys {
            match self.entries.get(key) {
                Some(Entry::Occupied(_)) => {}
                Some(Entry::Vacant(_)) => return Err(GetDisjointMutError::IndexVacant),
                None => return Err(GetDisjointMutError::IndexOutOfBounds),
            }
        }
        let entries = self.entries.get_disjoint_mut(keys).expect("the keys differ and are in bounds");
        Ok(entries.map(|entry| entry.value_mut().expect("each entry was seen to be occupied")))
    }

    /// Returns a reference to the value of a key that is known to be in bounds.
    ///
    /// # Safety
    ///
    /// The key is in bounds: since the last `clear`, `clone_from`, `compact`, `drain` or `shrink_to_fit` the map has had a
    /// value whose key is at least as large.
    ///
    /// # Panics
    ///
    /// When the key has no value.
    pub unsafe fn get_unchecked(&self, key: usize) -> &T {
        debug_assert!(key < self.entries.len());
        // SAFETY: only the methods that the contract names remove entries, so the entry of the value that the caller
        // refers to is there, and `key` is at most its index.
        let entry = unsafe { self.entries.get_unchecked(key) };
        // A vacant entry is not excluded: the contract is that of the crate slab, whose callers may rely on the panic.
        entry.value().expect("invalid key")
    }

    /// Returns a mutable reference to the value of a key that is known to be in bounds.
    ///
    /// # Safety
    ///
    /// The key is in bounds: since the last `clear`, `clone_from`, `compact`, `drain` or `shrink_to_fit` the map has had a
    /// value whose key is at least as large.
    ///
    /// # Panics
    ///
    /// When the key has no value.
    pub unsafe fn get_unchecked_mut(&mut self, key: usize) -> &mut T {
        debug_assert!(key < self.entries.len());
        // SAFETY: only the methods that the contract names remove entries, so the entry of the value that the caller
        // refers to is there, and `key` is at most its index.
        let entry = unsafe { self.entries.get_unchecked_mut(key) };
        entry.value_mut().expect("invalid key")
    }

    /// Returns mutable references to the values of two keys that are known to be in bounds.
    ///
    /// # Safety
    ///
    /// Both keys are in bounds, as [`get_unchecked`](Self::get_unchecked) requires, and they are not equal.
    ///
    /// # Panics
    ///
    /// When a key has no value.
    pub unsafe fn get2_unchecked_mut(&mut self, key1: usize, key2: usize) -> (&mut T, &mut T) {
        debug_assert!(key1 != key2 && key1.max(key2) < self.entries.len());
        // SAFETY: only the methods that the contract names remove entries, so the entries of the values that the
        // caller refers to are there, and the keys are at most their indices. The caller guarantees that the keys differ.
        let [first, second] = unsafe { self.entries.get_disjoint_unchecked_mut([key1, key2]) };
        (first.value_mut().expect("invalid key"), second.value_mut().expect("invalid key"))
    }

    /// Returns the key of a value of this map, from the value's address.
    ///
    /// ```
    /// use dwell::slab::SlabMap;
    ///
    /// let mut map = SlabMap::new();
    /// let key = map.insert(String::from("found"));
    /// assert_eq!(map.key_of(&map[key]), key);
    /// ```
    ///
    /// # Panics
    ///
    /// When the reference does not point into this map. A reference to something inside of a value gives the value's
    /// key.
    #[track_caller]
    pub fn key_of(&self, value: &T) -> usize {
        let base = self.entries.as_ptr().addr();
        // An entry holds at least the word of `Vacant`, so the divisor is not 0.
        let key = core::ptr::from_ref(value).addr().wrapping_sub(base) / size_of::<Entry<T>>();
        assert!(key < self.entries.len(), "the reference does not point to a value of this map");
        key
    }

    /// Inserts a value and returns its key.
    ///
    /// # Panics
    ///
    /// When the capacity exceeds `isize::MAX` bytes.
    #[inline]
    pub fn insert(&mut self, value: T) -> usize {
        let key = self.next;
        self.insert_at_next(value);
        key
    }

    /// Like [`insert`](Self::insert), but returns the value in an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// When the map has no vacant entry and cannot grow.
    pub fn try_insert(&mut self, value: T) -> Result<usize, AllocError<T>> {
        match self.try_reserve(1) {
            Ok(()) => Ok(self.insert(value)),
            Err(error) => Err(error.map(|()| value)),
        }
    }

    /// Writes a value to the first entry of the free list, or after all entries.
    #[inline]
    fn insert_at_next(&mut self, value: T) {
        let key = self.next;
        // An insertion behind all entries makes no reference to them, as in slab: a program may have pointers to values.
        if key >= self.entries.len() {
            self.entries.push(Entry::Occupied(value));
            self.next = key + 1;
        } else {
            let entry = &mut self.entries[key];
            let Entry::Vacant(next) = *entry else { unreachable!("the free list has vacant entries only") };
            *entry = Entry::Occupied(value);
            self.next = next;
        }
        self.len += 1;
    }

    /// Returns the key of the next insertion.
    pub fn vacant_key(&self) -> usize {
        self.next
    }

    /// Returns a vacant entry, whose key is known before its value.
    ///
    /// ```
    /// use dwell::slab::SlabMap;
    ///
    /// let mut map = SlabMap::new();
    /// let entry = map.vacant_entry();
    /// let key = entry.key();
    /// entry.insert((key, "knows its key"));
    /// assert_eq!(map[key].0, key);
    /// ```
    pub fn vacant_entry(&mut self) -> VacantEntry<'_, T> {
        VacantEntry { map: self }
    }

    /// Removes and returns the value of a key, if there is one.
    #[inline]
    pub fn try_remove(&mut self, key: usize) -> Option<T> {
        let entry = self.entries.get_mut(key)?;
        if matches!(entry, Entry::Vacant(_)) {
            return None;
        }
        let Entry::Occupied(value) = mem::replace(entry, Entry::Vacant(self.next)) else {
            unreachable!("the entry was seen to be occupied")
        };
        self.next = key;
        self.len -= 1;
        Some(value)
    }

    /// Removes and returns the value of a key.
    ///
    /// # Panics
    ///
    /// When the key has no value.
    #[inline]
    #[track_caller]
    pub fn remove(&mut self, key: usize) -> T {
        self.try_remove(key).expect("invalid key")
    }

    /// Removes the values for which `keep` returns `false`, in the order of the keys.
    pub fn retain(&mut self, mut keep: impl FnMut(usize, &mut T) -> bool) {
        for key in 0..self.entries.len() {
            let removes = self.get_mut(key).is_some_and(|value| !keep(key, value));
            if removes {
                drop(self.try_remove(key));
            }
        }
    }

    /// Removes all values and returns an iterator over them, in the order of the keys.
    ///
    /// Dropping the iterator drops the values that it has not returned.
    pub fn drain(&mut self) -> Drain<'_, T> {
        // The map is valid, and empty, even if the iterator is forgotten: a `Vec` is empty while it is drained.
        self.next = 0;
        let len = mem::take(&mut self.len);
        Drain::new(self.entries.drain(..), len)
    }

    /// Creates a map from keys and values. `reserve` reserves capacity for more entries.
    ///
    /// The free list has the order of the crate slab: the largest key first if the keys came in ascending order,
    /// otherwise the lowest key first.
    fn from_entries<E>(
        mut entry: impl FnMut() -> Result<Option<(usize, T)>, E>,
        mut reserve: impl FnMut(&mut Vec<Entry<T>>, usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut map = Self::new();
        let mut in_order = true;
        while let Some((key, value)) = entry()? {
            if key >= map.entries.len() {
                let more = (key - map.entries.len()).saturating_add(1);
                reserve(&mut map.entries, more)?;
                map.entries.resize_with(key, || Entry::Vacant(0));
                map.entries.push(Entry::Occupied(value));
                map.len += 1;
            } else if mem::replace(&mut map.entries[key], Entry::Occupied(value)).value().is_none() {
                map.len += 1;
                in_order = false;
            }
        }
        if in_order {
            let (vacant, end) = (map.entries.len() - map.len, map.entries.len());
            map.next = Self::link(map.entries.iter_mut().enumerate(), vacant, end);
        } else {
            map.rebuild_free_list();
        }
        Ok(map)
    }
}

/// A vacant entry of a [`SlabMap`]. See [`SlabMap::vacant_entry`].
#[derive(Debug)]
pub struct VacantEntry<'a, T> {
    map: &'a mut SlabMap<T>,
}

impl<'a, T> VacantEntry<'a, T> {
    /// Returns the key that the value will have.
    pub fn key(&self) -> usize {
        self.map.next
    }

    /// Inserts the value.
    ///
    /// # Panics
    ///
    /// When the map must grow and its capacity would exceed `isize::MAX` bytes.
    pub fn insert(self, value: T) -> &'a mut T {
        let key = self.map.insert(value);
        self.map.get_mut(key).expect("the value was just put there")
    }

    /// Like [`insert`](Self::insert), but returns the value in an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// When the map has no vacant entry and cannot grow.
    pub fn try_insert(self, value: T) -> Result<&'a mut T, AllocError<T>> {
        match self.map.try_reserve(1) {
            Ok(()) => Ok(self.insert(value)),
            Err(error) => Err(error.map(|()| value)),
        }
    }
}

impl<T> Index<usize> for SlabMap<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, key: usize) -> &T {
        self.get(key).expect("invalid key")
    }
}

impl<T> IndexMut<usize> for SlabMap<T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, key: usize) -> &mut T {
        self.get_mut(key).expect("invalid key")
    }
}

impl<T> Default for SlabMap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Clone for SlabMap<T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), len: self.len, next: self.next }
    }

    fn clone_from(&mut self, source: &Self) {
        // The map is empty while values are cloned, so that a panic leaves a valid map.
        let mut entries = mem::take(self).entries;
        entries.clone_from(&source.entries);
        *self = Self { entries, len: source.len, next: source.next };
    }
}

/// Formats the keys and values as a map.
impl<T: fmt::Debug> fmt::Debug for SlabMap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// Creates a map with the given keys. A later value replaces an earlier one with the same key.
///
/// The map has an entry for every key up to the largest: do not build one from keys that you do not trust.
impl<T> FromIterator<(usize, T)> for SlabMap<T> {
    fn from_iter<I: IntoIterator<Item = (usize, T)>>(values: I) -> Self {
        let mut values = values.into_iter();
        let Ok(map) = Self::from_entries(
            || Ok::<_, Infallible>(values.next()),
            |entries, more| {
                entries.reserve(more);
                Ok(())
            },
        );
        map
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::SlabMap;
    use std::boxed::Box;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::string::String;
    use std::vec::Vec;

    /// Checks invariants 1 and 2.
    fn check<T>(map: &SlabMap<T>) {
        assert_eq!(map.len, map.entries.iter().filter(|entry| entry.value().is_some()).count());
        let mut vacant = 0;
        let mut key = map.next;
        while let Some(entry) = map.entries.get(key) {
            let super::Entry::Vacant(next) = *entry else { panic!("an occupied entry in the free list") };
            key = next;
            vacant += 1;
            assert!(vacant <= map.entries.len(), "the free list is a circle");
        }
        assert_eq!((key, vacant), (map.entries.len(), map.entries.len() - map.len));
    }

    #[test]
    fn empty_map_allocates_nothing() {
        let map = SlabMap::<String>::new();
        assert_eq!((map.capacity(), map.len(), map.vacant_key()), (0, 0, 0));
        check(&map);
    }

    #[test]
    fn send_and_sync_follow_the_values() {
        fn both<T: Send + Sync>() {}
        both::<SlabMap<u8>>();
        both::<super::Iter<'_, u8>>();
    }

    #[test]
    fn entry_uses_a_niche() {
        assert_eq!(size_of::<super::Entry<Box<u8>>>(), 16);
        assert_eq!(size_of::<super::Entry<String>>(), size_of::<String>());
        assert_eq!(size_of::<super::Entry<()>>(), 16);
    }

    /// The contract of the crate slab: the key is in bounds, and a vacant entry panics. It was undefined behaviour.
    #[test]
    fn get_unchecked_of_a_vacant_key_panics() {
        let mut map: SlabMap<_> = [(0, 'a'), (2, 'c')].into_iter().collect();
        let panics = |f: &mut dyn FnMut() -> char| catch_unwind(AssertUnwindSafe(f)).is_err();
        // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds.
        assert_eq!(unsafe { *map.get_unchecked(2) }, 'c');
        // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds.
        assert!(panics(&mut || unsafe { *map.get_unchecked(1) }));
        // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds.
        assert!(panics(&mut || unsafe { *map.get_unchecked_mut(1) }));
        // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds. The two differ.
        assert!(panics(&mut || unsafe { *map.get2_unchecked_mut(2, 1).0 }));
        // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds. The two differ.
        let (first, last) = unsafe { map.get2_unchecked_mut(0, 2) };
        core::mem::swap(first, last);
        assert_eq!((map[0], map[2]), ('c', 'a'));
    }

    #[test]
    fn panic_in_clone_from_leaves_an_empty_map() {
        struct Fragile(bool);
        impl Clone for Fragile {
            fn clone(&self) -> Self {
                assert!(!self.0);
                Self(self.0)
            }
        }
        let source: SlabMap<_> = [(0, Fragile(false)), (2, Fragile(true))].into_iter().collect();
        let mut target: SlabMap<_> = [(4, Fragile(false))].into_iter().collect();
        assert!(catch_unwind(AssertUnwindSafe(|| target.clone_from(&source))).is_err());
        check(&target);
        assert!(target.is_empty());
        assert_eq!(target.insert(Fragile(false)), 0);
    }

    #[test]
    fn panic_in_drop_leaves_a_valid_map() {
        struct Bomb(bool);
        impl Drop for Bomb {
            fn drop(&mut self) {
                assert!(!self.0);
            }
        }
        let mut map: SlabMap<_> = [(0, Bomb(false)), (1, Bomb(true)), (5, Bomb(false))].into_iter().collect();
        assert!(catch_unwind(AssertUnwindSafe(|| map.retain(|_, _| false))).is_err());
        check(&map);
        map.insert(Bomb(true));
        assert!(catch_unwind(AssertUnwindSafe(|| map.clear())).is_err());
        check(&map);
        assert!(map.is_empty());
    }

    #[test]
    fn panic_in_compact_drops_one_value() {
        let mut map: SlabMap<_> = [(1, 'b'), (3, 'd'), (6, 'g')].into_iter().collect();
        let caught =
            catch_unwind(AssertUnwindSafe(|| map.compact(|_, from, _| if from == 6 { true } else { panic!() })));
        assert!(caught.is_err());
        check(&map);
        assert_eq!(map.iter().collect::<Vec<_>>(), [(0, &'g'), (1, &'b')]);
    }

    #[test]
    fn compact_stops_at_a_key_that_must_stay() {
        let mut map: SlabMap<_> = [(1, 'b'), (4, 'e'), (7, 'h')].into_iter().collect();
        map.compact(|_, from, _| from != 4);
        check(&map);
        assert_eq!(map.iter().map(|(key, _)| key).collect::<Vec<_>>(), [0, 1, 4]);
        map.compact(|_, _, _| true);
        check(&map);
        assert_eq!((map.len(), map.capacity()), (3, 3));
    }

    #[test]
    fn forgotten_drain_leaves_an_empty_map() {
        let mut map: SlabMap<_> = (0..5).map(|key| (key * 2, Box::new(key))).collect();
        let mut drain = map.drain();
        assert!(drain.next().is_some());
        let left: Vec<_> = drain.by_ref().collect(); // drops the rest, so that nothing leaks
        core::mem::forget(drain);
        check(&map);
        assert_eq!((left.len(), map.insert(Box::new(7))), (4, 0));
    }

    #[test]
    fn size_hints_are_not_trusted() {
        struct Lies(usize);
        impl Iterator for Lies {
            type Item = (usize, u8);
            fn next(&mut self) -> Option<Self::Item> {
                self.0 = self.0.checked_sub(1)?;
                Some((self.0, 1))
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                (usize::MAX, None)
            }
        }
        let map: SlabMap<u8> = Lies(3).collect();
        check(&map);
        assert_eq!(map.len(), 3);
    }

    #[test]
    fn too_large_capacities_are_refused() {
        let mut map = SlabMap::<[u64; 4]>::new();
        assert!(map.try_reserve(usize::MAX).is_err());
        assert!(SlabMap::<u8>::try_with_capacity(usize::MAX / 2).is_err());
        assert_eq!(map.try_insert([1; 4]).unwrap(), 0);
        check(&map);
    }

    #[test]
    fn behaves_like_a_std_map() {
        use std::collections::BTreeMap;
        let seed = 0x5EED_u64;
        let mut random = seed;
        let mut next = move |bound: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % bound
        };
        let mut map = SlabMap::new();
        let mut model = BTreeMap::new();
        for step in 0..if cfg!(miri) { 90 } else { 20_000_u64 } {
            match next(20) {
                0..10 => {
                    let key = map.vacant_key();
                    assert_eq!(map.insert(Box::new(step)), key, "seed {seed:#x}");
                    assert!(model.insert(key, Box::new(step)).is_none());
                }
                10..17 => {
                    let key = usize::try_from(next(64)).unwrap();
                    assert_eq!(map.try_remove(key), model.remove(&key));
                }
                17 => {
                    let odd = next(2);
                    map.retain(|_, value| **value % 3 != odd);
                    model.retain(|_, value| **value % 3 != odd);
                }
                18 => map.shrink_to_fit(),
                _ => {
                    map.compact(|value, from, to| {
                        let keeps = value.is_multiple_of(5);
                        if !keeps {
                            let value = model.remove(&from).unwrap();
                            assert!(model.insert(to, value).is_none());
                        }
                        !keeps
                    });
                }
            }
            check(&map);
            if step % 50 == 0 {
                assert!(map.iter().eq(model.iter().map(|(key, value)| (*key, value))));
                assert!(map.iter().rev().eq(model.iter().rev().map(|(key, value)| (*key, value))));
                assert_eq!(map.iter().len(), model.len());
                let copy: SlabMap<_> = map.clone().into_iter().rev().collect();
                check(&copy);
                assert!(copy.iter().eq(map.iter()));
            }
        }
    }
}

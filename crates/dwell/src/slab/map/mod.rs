//! A slab that owns its values and finds them by key: [`SlabMap`].
//!
//! The values live in one `Vec`. A vacant entry holds the key of the next vacant one, so that the free list takes no
//! memory of its own; the entry that was vacated last is reused first. That is the design of the crate
//! [slab](https://docs.rs/slab), and [`SlabMap`] has its interface.

mod compact;
mod disjoint;
mod iter;
#[cfg(feature = "serde")]
mod serde;
#[cfg(all(test, feature = "std"))]
mod tests;
mod vacant;

pub use self::disjoint::GetDisjointMutError;
pub use self::iter::{Drain, IntoIter, Iter, IterMut};
pub use self::vacant::VacantEntry;

use crate::alloc::AllocError;
use core::alloc::Layout;
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

//! The order of a [`SlabMap`]'s free list, and the functions that rebuild it.

use super::{Entry, SlabMap};
use core::convert::Infallible;
use core::mem;
use std_alloc::vec::Vec;

impl<T> SlabMap<T> {
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

    /// Creates a map from keys and values. `reserve` reserves capacity for more entries.
    ///
    /// The free list has the order of the crate slab: the largest key first if the keys came in ascending order,
    /// otherwise the lowest key first.
    pub(super) fn from_entries<E>(
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

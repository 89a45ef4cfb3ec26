//! Maps and sets in sorted vectors, and the one sort of this crate's model.
//!
//! They replace std's `BTreeMap`, `BTreeSet` and `sort_by_key`. For each type std's map is fifty functions and its sort is a
//! dozen, which together were two fifths of the code that the library compiled. The collections here have few entries, and
//! the sort is not the fastest.

use core::cmp::Ordering;
use std_alloc::vec::Vec;

/// A map whose entries are in a vector, sorted by key. Insertion moves the later entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<K, V>(Vec<(K, V)>);

impl<K: Ord, V> Map<K, V> {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    fn find(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.cmp(key))
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let at = self.find(key).ok()?;
        Some(&self.0[at].1)
    }

    /// Returns whether the map has a value for a key.
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Returns the value of a key, which is a default one if the map had none.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let at = self.find(&key).unwrap_or_else(|at| {
            self.0.insert(at, (key, V::default()));
            at
        });
        &mut self.0[at].1
    }

    /// Removes the value of a key.
    pub fn remove(&mut self, key: &K) {
        if let Ok(at) = self.find(key) {
            self.0.remove(at);
        }
    }

    /// Returns the entries in the order of their keys.
    pub fn entries(&self) -> &[(K, V)] {
        &self.0
    }

    /// Returns the entries in the order of their keys.
    pub fn into_entries(self) -> Vec<(K, V)> {
        self.0
    }

    /// Keeps the entries for which `keep` returns `true`.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord> Default for Set<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// A set whose elements are in a sorted vector.
#[derive(Clone, Debug)]
pub struct Set<K>(Vec<K>);

impl<K: Ord> Set<K> {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns whether an element is in the set.
    pub fn contains(&self, element: &K) -> bool {
        self.0.binary_search(element).is_ok()
    }

    /// Adds an element. Returns whether it was not in the set.
    pub fn insert(&mut self, element: K) -> bool {
        let vacant = self.0.binary_search(&element);
        if let Err(at) = vacant {
            self.0.insert(at, element);
        }
        vacant.is_err()
    }

    /// Removes an element.
    pub fn remove(&mut self, element: &K) {
        if let Ok(at) = self.0.binary_search(element) {
            self.0.remove(at);
        }
    }

    /// Returns the elements that are `first` or greater, in order.
    pub fn since(&self, first: &K) -> &[K] {
        &self.0[self.0.partition_point(|element| element < first)..]
    }

    /// Returns the elements in order.
    pub fn elements(&self) -> &[K] {
        &self.0
    }
}

/// The number of indices up to which [`sort`] inserts each at its place.
const FEW: usize = 20;

/// Sorts indices. The order of equal ones stays.
pub fn sort(indices: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    if indices.len() <= FEW {
        for next in 1..indices.len() {
            let (index, mut at) = (indices[next], next);
            while at > 0 && compare(index, indices[at - 1]).is_lt() {
                indices[at] = indices[at - 1];
                at -= 1;
            }
            indices[at] = index;
        }
        return;
    }
    let middle = indices.len() / 2;
    sort(&mut indices[..middle], compare);
    sort(&mut indices[middle..], compare);
    if !compare(indices[middle], indices[middle - 1]).is_lt() {
        return;
    }
    // Merges the halves. The next free slot, `taken + right - middle`, is never after `right`.
    let left = indices[..middle].to_vec();
    let mut right = middle;
    for (taken, &index) in left.iter().enumerate() {
        while right < indices.len() && compare(indices[right], index).is_lt() {
            indices[taken + right - middle] = indices[right];
            right += 1;
        }
        indices[taken + right - middle] = index;
    }
}

/// Sorts values. The order of equal ones stays.
pub fn sorted<T>(mut values: Vec<T>, compare: &dyn Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut order: Vec<usize> = Vec::with_capacity(values.len());
    for index in 0..values.len() {
        order.push(index);
    }
    sort(&mut order, &mut |a, b| compare(&values[a], &values[b]));
    for at in 0..order.len() {
        // A slot before `at` was swapped with the slot that `order` has for it.
        let mut from = order[at];
        while from < at {
            from = order[from];
        }
        values.swap(at, from);
        order[at] = from;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::{Map, Set, sorted};
    use proptest::prelude::*;
    use std_alloc::collections::{BTreeMap, BTreeSet};
    use std_alloc::vec::Vec;

    /// The number of cases. Miri needs a second for each.
    const CASES: u32 = if cfg!(miri) { 4 } else { 256 };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(CASES))]

        #[test]
        fn maps_and_sets_match_std(program: Vec<(u8, u8, u8)>) {
            let (mut map, mut set) = (Map::new(), Set::new());
            let (mut std_map, mut std_set) = (BTreeMap::new(), BTreeSet::new());
            for (step, key, value) in program {
                let key = key % 16;
                match step % 6 {
                    0 | 1 => {
                        map.insert(key, value);
                        std_map.insert(key, value);
                        prop_assert_eq!(set.insert(key), std_set.insert(key));
                    }
                    2 => {
                        map.remove(&key);
                        std_map.remove(&key);
                        set.remove(&key);
                        std_set.remove(&key);
                    }
                    3 => *map.or_default(key) ^= *std_map.entry(key).or_default() ^ value,
                    4 => {
                        map.retain(|_, &of| of != value);
                        std_map.retain(|_, of| *of != value);
                    }
                    _ => prop_assert!(set.since(&key).iter().eq(std_set.range(key..))),
                }
                std_map.extend(map.get(&key).map(|&value| (key, value)));
                prop_assert_eq!(map.contains_key(&key), std_map.contains_key(&key));
                prop_assert_eq!(set.contains(&key), std_set.contains(&key));
                prop_assert!(map.entries().iter().map(|(key, value)| (key, value)).eq(&std_map));
                prop_assert!(set.elements().iter().eq(&std_set));
            }
            prop_assert!(map.into_entries().into_iter().eq(std_map));
        }

        #[test]
        fn sort_is_stable(values: Vec<(u8, u8)>) {
            let mut expected = values.clone();
            expected.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(sorted(values, &|a, b| a.0.cmp(&b.0)), expected);
        }
    }
}

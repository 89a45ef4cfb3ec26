//! The sets of keys that occur together.

use super::text::{Hashed, Hashes, Room};
use crate::schema::MOST_COUNT;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

/// The most distinct sets that are kept.
const MAX_SETS: usize = 4096;
/// The bytes of a set in the table.
const ENTRY: usize = 48;

/// The sets of keys of a record's objects, and the number of objects with exactly these keys.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Sets {
    /// The sets, by the sum of the hashes of their keys, which does not depend on the order.
    seen: HashMap<u64, (Box<[u64]>, u64), BuildHasherDefault<Hashed>>,
    /// Whether there were more than [`MAX_SETS`] sets.
    full: bool,
}

impl Sets {
    /// Counts an object by the sum of its keys, and takes the memory for a new set from `room`.
    pub(super) fn add_one(&mut self, sum: u64, keys: &[u64], room: &mut Room) {
        if room.is_used_up() && !self.seen.contains_key(&sum) {
            *self = Self { full: true, ..Self::default() };
        }
        self.add(sum, 1, || {
            room.take(size_of_val(keys) + ENTRY);
            keys.into()
        });
    }

    /// Counts objects by the sum of their keys; calls `keys` for their hashes if the set is new.
    fn add(&mut self, sum: u64, count: u64, keys: impl FnOnce() -> Box<[u64]>) {
        if self.full {
            return;
        }
        if let Some((_, known)) = self.seen.get_mut(&sum) {
            *known += count;
        } else if self.seen.len() < MAX_SETS {
            self.seen.insert(sum, (keys(), count));
        } else {
            *self = Self { full: true, ..Self::default() };
        }
    }

    /// Returns whether the counts are in the range of a corpus. A part file is untrusted input.
    pub(super) fn is_plausible(&self) -> bool {
        self.seen.len() <= MAX_SETS && self.seen.values().all(|(_, count)| *count <= MOST_COUNT)
    }

    /// Returns the bytes that the sets have on the heap.
    pub(super) fn memory(&self) -> usize {
        self.seen.values().map(|(keys, _)| size_of_val(&**keys) + ENTRY).sum()
    }

    /// Drops the sets if they take more than `most` bytes.
    pub(super) fn coarsen(&mut self, most: usize) {
        if self.memory() > most {
            *self = Self { full: true, ..Self::default() };
        }
    }

    /// Adds the counts of another record.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.full {
            *self = Self { full: true, ..Self::default() };
            return;
        }
        for (&sum, (keys, count)) in &other.seen {
            self.add(sum, *count, || keys.clone());
        }
    }

    /// Returns the number of objects whose keys all satisfy `is`, and the number of objects; `None` if the sets are not
    /// known.
    pub(super) fn within(&self, is: impl Fn(u64) -> bool) -> Option<(u64, u64)> {
        if self.full {
            return None;
        }
        let sum = |within: bool| {
            let sets = self.seen.values().filter(|(keys, _)| !within || keys.iter().all(|&key| is(key)));
            sets.map(|(_, count)| count).sum()
        };
        Some((sum(true), sum(false)))
    }

    /// Returns the sets in a fixed order, with the number of objects; `None` if they are not known.
    pub(super) fn list(&self) -> Option<Vec<(Vec<u64>, u64)>> {
        if self.full {
            return None;
        }
        let sorted = |(keys, count): &(Box<[u64]>, u64)| {
            let mut keys = keys.to_vec();
            keys.sort_unstable();
            (keys, *count)
        };
        let mut sets: Vec<_> = self.seen.values().map(sorted).collect();
        sets.sort_unstable();
        Some(sets)
    }

    /// Removes all keys but `kept` from the sets, and merges sets that are equal then.
    pub(super) fn keep(&mut self, kept: &Hashes) {
        for (_, (keys, count)) in std::mem::take(&mut self.seen) {
            let keys: Box<[u64]> = keys.iter().copied().filter(|key| kept.contains(key)).collect();
            let sum = keys.iter().fold(0, |sum: u64, &key| sum.wrapping_add(part(key)));
            self.add(sum, count, || keys);
        }
    }

    /// Returns the sets as indices from `index`, in a fixed order. Keys without an index are removed, and sets that are
    /// equal then are merged.
    pub(super) fn to_schema(&self, index: impl Fn(u64) -> Option<usize>) -> Vec<(Vec<usize>, u64)> {
        let mut sets = BTreeMap::<Vec<usize>, u64>::new();
        for (keys, count) in self.seen.values() {
            let mut set: Vec<usize> = keys.iter().filter_map(|&key| index(key)).collect();
            set.sort_unstable();
            *sets.entry(set).or_default() += count;
        }
        sets.into_iter().collect()
    }
}

/// Returns a key's contribution to the sum of its set: its hash, mixed again, because sums of the plain hash collide
/// too often.
pub(super) fn part(hash: u64) -> u64 {
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 32)
}

//! Which keys come together.

use super::text::{Hashed, Hashes};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

/// More different sets than this are not kept.
const MAX_SETS: usize = 4096;

/// The sets of keys of a record's objects, and how many objects have exactly these keys.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Sets {
    /// By a sum over the hashes of the keys, whatever their order.
    seen: HashMap<u64, (Box<[u64]>, u64), BuildHasherDefault<Hashed>>,
    /// There were too many.
    full: bool,
}

impl Sets {
    /// Counts an object by the sum of its keys; `keys` gives their hashes if the set is new.
    pub(super) fn add(&mut self, sum: u64, count: u64, keys: impl FnOnce() -> Box<[u64]>) {
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

    /// Adds what another record knows.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.full {
            *self = Self { full: true, ..Self::default() };
            return;
        }
        for (&sum, (keys, count)) in &other.seen {
            self.add(sum, *count, || keys.clone());
        }
    }

    /// How many objects have no key but such, and how many there are; none if that is not known.
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

    /// Leaves keys out of the sets; sets that were different may be one then.
    pub(super) fn keep(&mut self, kept: &Hashes) {
        for (_, (keys, count)) in std::mem::take(&mut self.seen) {
            let keys: Box<[u64]> = keys.iter().copied().filter(|key| kept.contains(key)).collect();
            let sum = keys.iter().fold(0, |sum: u64, &key| sum.wrapping_add(part(key)));
            self.add(sum, count, || keys);
        }
    }

    /// The sets as the indices that `index` gives, in a fixed order; keys without one are left out, after which sets that
    /// were different may be one.
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

/// The contribution of a key to the sum of its set. The hash itself is too regular.
pub(super) fn part(hash: u64) -> u64 {
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 32)
}

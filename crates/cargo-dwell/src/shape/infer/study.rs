//! Finds the tag of a union: the key whose value distinguishes the objects of a node.
//!
//! A tag is a key of every object. Its value is a string of a closed set, and the set of the other keys depends on it.
//! The dependence is measured as the share of the variance of the keys' presence that the tag explains.
//!
//! A common tag key, such as `type`, may also determine the JSON types of the values of other keys, as in `GeoJSON`'s
//! `coordinates`. A few objects may lack it: `{}` beside the nodes of a syntax tree.

use super::text::Room;
use foldhash::HashSet;
use std::collections::{BTreeMap, HashMap};

/// The most values of a tag.
pub(super) const MAX_VARIANTS: usize = 256;
/// The most candidates that are counted.
const MAX_CANDIDATES: usize = 12;
/// The most objects that are counted; more do not change the result.
const MAX_OBJECTS: u64 = 20_000;
/// The most keys of an object in a study. A larger object ends the study without a tag.
const MAX_KEYS: usize = 64;
/// The number of objects after which a study without candidates ends without a tag.
const MIN_OBJECTS: u64 = 256;
/// The most distinct keys, and types of their values, of a record that is studied.
const MAX_ALL: usize = 8192;
/// The least share of the variance that a tag explains.
const EXPLAINED: f64 = 0.5;
/// The least distance between objects of different variants: 1 minus the share of common keys.
const DISTANCE: f64 = 0.3;

/// Codes for the JSON types that a tag may determine. An array has the code of its first element plus `ARRAY`.
pub(super) mod mark {
    /// `null`, an empty array, or unknown.
    pub(in super::super) const NONE: u8 = 0;
    pub(in super::super) const BOOL: u8 = 1;
    pub(in super::super) const NUMBER: u8 = 2;
    pub(in super::super) const TEXT: u8 = 3;
    pub(in super::super) const OBJECT: u8 = 4;
    /// An object with a common tag key.
    pub(in super::super) const TAGGED: u8 = 5;
    /// Added once for each array around the value.
    pub(in super::super) const ARRAY: u8 = 8;
}

/// Counts of keys for each value of each candidate.
#[derive(Default, Clone)]
pub(super) struct Study {
    objects: u64,
    /// The index of each feature in [`Self::all`] and in the counts of each value.
    index: HashMap<Feature, usize, foldhash::fast::FixedState>,
    /// The features, each with the number of objects that have it.
    all: Vec<(Feature, u64)>,
    /// Whether the study ended without a tag.
    given_up: bool,
    /// The candidates by the hashes of their keys, with the counts for each of their values.
    candidates: BTreeMap<u64, Values>,
}

#[derive(Default, Clone)]
struct Values {
    counts: BTreeMap<u64, Seen>,
    /// Whether the key is a common tag key, which objects may lack.
    usual: bool,
}

/// The hash of a key, and the type code of its value; 0 for any type.
type Feature = (u64, u8);

#[derive(Default, Clone)]
struct Seen {
    objects: u64,
    /// The number of objects with a key (code 0), and with a value of some type under it, by the index of the feature;
    /// 0 beyond the end.
    features: Vec<u32>,
}

impl Seen {
    fn count(&self, feature: usize) -> u64 {
        self.features.get(feature).copied().map_or(0, u64::from)
    }

    /// Adds to a count. Returns the bytes that this takes.
    fn add(&mut self, feature: usize, count: u32) -> usize {
        let before = self.features.capacity();
        if self.features.len() <= feature {
            self.features.resize(feature + 1, 0);
        }
        self.features[feature] += count;
        (self.features.capacity() - before) * size_of::<u32>()
    }
}

impl Study {
    /// Returns the index of a feature.
    fn feature(&mut self, feature: Feature) -> usize {
        *self.index.entry(feature).or_insert_with(|| {
            self.all.push((feature, 0));
            self.all.len() - 1
        })
    }

    /// Returns the number of objects with a key.
    fn with(&self, key: u64) -> u64 {
        self.index.get(&(key, 0)).map_or(0, |&index| self.all[index].1)
    }

    /// Counts an object that was just read, and takes the memory for it from `room`. `words` are its keys whose value
    /// may be a tag's: the key, its hash, and the hash of the string.
    pub(super) fn count(&mut self, words: &[(&str, u64, u64)], keys: &[u64], marks: &[Feature], room: &mut Room) {
        if self.objects >= MAX_OBJECTS || self.given_up {
            return;
        }
        let none = self.candidates.is_empty() && self.objects >= MIN_OBJECTS;
        if none || keys.len() > MAX_KEYS || self.all.len() > MAX_ALL || room.is_used_up() {
            *self = Self { objects: self.objects, given_up: true, ..Self::default() };
            return;
        }
        if self.objects == 0 {
            // Sorted, so that the choice does not depend on the order of the keys.
            let mut candidates = words.to_vec();
            candidates.sort_by_key(|&(key, ..)| (!is_usual(key), key));
            let candidates = candidates.iter().take(MAX_CANDIDATES);
            let new = |usual| Values { usual, ..Values::default() };
            self.candidates = candidates.map(|&(key, hash, _)| (hash, new(is_usual(key)))).collect();
        } else {
            // The objects before this one lacked these keys.
            for &(key, hash, _) in words {
                if is_usual(key) && self.with(hash) == 0 {
                    self.candidates.entry(hash).or_insert(Values { usual: true, ..Values::default() });
                }
            }
        }
        self.objects += 1;
        let before = self.all.len();
        let features: Vec<usize> = keys
            .iter()
            .map(|&key| (key, 0))
            .chain(marks.iter().copied())
            .map(|feature| self.feature(feature))
            .collect();
        for &feature in &features {
            self.all[feature].1 += 1;
        }
        room.take((self.all.len() - before) * 2 * size_of::<(Feature, u64)>());
        self.candidates.retain(|candidate, values| {
            let Some(&(.., word)) = words.iter().find(|(_, hash, _)| hash == candidate) else {
                return values.usual && !keys.contains(candidate);
            };
            let seen = values.counts.entry(word).or_default();
            seen.objects += 1;
            for &feature in &features {
                room.take(seen.add(feature, 1));
            }
            values.counts.len() <= MAX_VARIANTS
        });
    }

    /// Returns a predicate for the hashes of the keys of objects with this value of the tag, if they are known.
    pub(super) fn keys_of(&self, tag: u64, value: u64) -> Option<impl Fn(u64) -> bool> {
        let seen = self.candidates.get(&tag)?.counts.get(&value)?;
        Some(|key| self.index.get(&(key, 0)).is_some_and(|&feature| seen.count(feature) > 0))
    }

    /// Returns a predicate for the hashes of the keys of objects without this tag.
    pub(super) fn keys_without(&self, tag: u64) -> Option<impl Fn(u64) -> bool> {
        let values = self.candidates.get(&tag)?;
        Some(move |key| {
            let Some(&feature) = self.index.get(&(key, 0)) else { return false };
            self.all[feature].1 > values.counts.values().map(|seen| seen.count(feature)).sum::<u64>()
        })
    }

    /// Returns whether objects with this value of the tag have a tagged object, or an array of these, under a key.
    pub(super) fn has_tagged(&self, tag: u64, value: u64, key: u64) -> bool {
        let Some(seen) = self.candidates.get(&tag).and_then(|values| values.counts.get(&value)) else { return false };
        let is_tagged = |mark: u8| mark % mark::ARRAY == mark::TAGGED;
        let features = seen.features.iter().zip(&self.all).filter(|(count, _)| **count > 0);
        features.map(|(_, (feature, _))| feature).any(|&(of, mark)| of == key && mark > 0 && is_tagged(mark))
    }

    /// Adds the counts of another position.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.objects == 0 {
            return;
        }
        if self.objects == 0 {
            *self = other.clone();
            return;
        }
        if self.given_up || other.given_up {
            *self = Self { objects: self.objects + other.objects, given_up: true, ..Self::default() };
            return;
        }
        for (&key, values) in &other.candidates {
            if values.usual && self.with(key) == 0 {
                self.candidates.entry(key).or_insert(Values { usual: true, ..Values::default() });
            }
        }
        self.objects += other.objects;
        let features: Vec<usize> = other.all.iter().map(|&(feature, _)| self.feature(feature)).collect();
        for (&feature, (_, count)) in features.iter().zip(&other.all) {
            self.all[feature].1 += count;
        }
        self.candidates.retain(|key, values| {
            let Some(more) = other.candidates.get(key) else {
                return values.usual && other.with(*key) == 0;
            };
            for (value, more) in &more.counts {
                let seen = values.counts.entry(*value).or_default();
                seen.objects += more.objects;
                for (&feature, &count) in features.iter().zip(&more.features).filter(|(_, count)| **count > 0) {
                    seen.add(feature, count);
                }
            }
            values.counts.len() <= MAX_VARIANTS
        });
    }

    /// Returns the tag of these objects, if they have one.
    pub(super) fn tag(&self, key_of: impl Fn(u64) -> Option<String>) -> Option<String> {
        let mut best: Option<(f64, String)> = None;
        for (&hash, values) in &self.candidates {
            let Some(key) = key_of(hash) else { continue };
            let usual = is_usual(&key);
            if let Some(explained) = values.explains(&self.all, hash, usual) {
                let score = explained + if usual { 0.25 } else { 0.0 };
                let better = best
                    .as_ref()
                    .is_none_or(|(known, other)| score > *known + 1e-9 || (score > *known - 1e-9 && key < *other));
                if better {
                    best = Some((score, key));
                }
            }
        }
        best.map(|(_, key)| key)
    }
}

/// Returns whether a key is a common tag key of JSON formats.
pub(super) fn is_usual(key: &str) -> bool {
    let key = key.trim_start_matches(['@', '$', '_', '#']).to_ascii_lowercase();
    matches!(key.as_str(), "type" | "kind" | "tag" | "op" | "typename" | "event" | "variant" | "nodetype" | "node_type")
}

impl Values {
    /// Returns the share of the variance of the other keys' presence that the tag explains, if it is large enough.
    fn explains(&self, all: &[(Feature, u64)], tag: u64, usual: bool) -> Option<f64> {
        let objects = self.counts.values().map(|seen| seen.objects).sum::<u64>();
        let variants = self.counts.len() as u64;
        if variants < 2 || (!usual && objects < 5 * variants) {
            return None;
        }
        let total = objects as f64;
        let with = |feature: usize| self.counts.values().map(move |seen| seen.count(feature));
        // The type of a value is a feature of its own only if the value is always present. The last object of a text
        // may lack it, since the sample ends in the middle of a text.
        let is_always = |feature: usize| {
            let without = objects - with(feature).sum::<u64>().min(objects);
            without == 0 || (objects >= 8 && without * 100 <= objects.max(100))
        };
        let always: HashSet<u64> = (0..)
            .zip(all)
            .filter(|&(feature, ((_, mark), _))| *mark == 0 && usual && is_always(feature))
            .map(|(_, &((key, _), _))| key)
            .collect();
        let mut features: Vec<(Feature, usize)> = all.iter().map(|&(feature, _)| feature).zip(0..).collect();
        features.retain(|&((key, mark), feature)| {
            key != tag && (mark == 0 || always.contains(&key)) && with(feature).any(|count| count > 0)
        });
        // Sums of fractions depend on the order.
        features.sort_unstable();
        let features: Vec<usize> = features.into_iter().map(|(_, feature)| feature).collect();
        // Keys that one variant always has and another never has.
        let mut exclusive = 0;
        let (mut variance, mut explained) = (0.0, 0.0);
        for &feature in &features {
            let share = with(feature).sum::<u64>() as f64 / total;
            variance += share * (1.0 - share);
            let always = self.counts.values().any(|seen| seen.count(feature) == seen.objects);
            let never = with(feature).any(|count| count == 0);
            exclusive += u64::from(always && never);
            for seen in self.counts.values() {
                let weight = seen.objects as f64;
                explained += weight / total * (seen.count(feature) as f64 / weight - share).powi(2);
            }
        }
        let distance = self.distance(&features);
        let differ = distance >= DISTANCE && (exclusive >= 2 || (usual && exclusive == 1 && distance >= 0.5));
        (differ && explained / variance >= EXPLAINED).then(|| explained / variance)
    }

    /// Returns the expected distance between the keys and types of two objects of different variants.
    fn distance(&self, features: &[usize]) -> f64 {
        let bits = |seen: &Seen| -> Vec<u64> {
            let word = |features: &[usize]| {
                (0..).zip(features).map(|(bit, &feature)| u64::from(seen.count(feature) > 0) << bit).sum()
            };
            features.chunks(64).map(word).collect()
        };
        let sets: Vec<(f64, Vec<u64>)> = self.counts.values().map(|seen| (seen.objects as f64, bits(seen))).collect();
        let (mut sum, mut weights) = (0.0, 0.0);
        for (index, (left_weight, left)) in sets.iter().enumerate() {
            for (right_weight, right) in &sets[index + 1..] {
                let ones = |of: fn(u64, u64) -> u64| {
                    left.iter().zip(right).map(|(&left, &right)| of(left, right).count_ones()).sum::<u32>()
                };
                let (common, all) = (ones(|left, right| left & right), ones(|left, right| left | right));
                sum += left_weight * right_weight * (1.0 - f64::from(common) / f64::from(all.max(1)));
                weights += left_weight * right_weight;
            }
        }
        if weights > 0.0 { sum / weights } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn study_ends_when_its_memory_is_used_up() {
        let (mut study, mut room) = (Study::default(), Room::new(100_000));
        for object in 0..1000 {
            let words: Vec<(&str, u64, u64)> = (0..12).map(|key| ("key", key, object * (key + 7) % 200)).collect();
            let keys: Vec<u64> = (0..12).chain((0..40).map(|key| 100 + (object + key) % 200)).collect();
            study.count(&words, &keys, &[], &mut room);
        }
        assert!(room.is_used_up() && study.given_up && study.candidates.is_empty() && study.all.is_empty());
        assert!(study.objects > 20, "{}", study.objects);
    }
}

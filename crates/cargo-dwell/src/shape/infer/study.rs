//! Finds the key that distinguishes the objects of a node.
//!
//! A tag is a key that every object has, with one string of a closed set, such that which other keys an object has
//! depends on it. The dependence is measured as the share of the variance of the keys' presence that the tag explains.
//!
//! A key that is usual for a tag, such as `type`, may also determine the JSON types of the values of keys that all objects
//! have: the `coordinates` of `GeoJSON`. Some objects may be without it: `{}` beside the nodes of a syntax tree.

use super::text::Hashed;
use super::visit::mark;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

/// More values of a tag than this are no closed set.
pub(super) const MAX_VARIANTS: usize = 256;
/// More candidates than this are not followed.
const MAX_CANDIDATES: usize = 12;
/// More objects than this are not counted: they are enough to tell.
const MAX_OBJECTS: u64 = 20_000;
/// Objects with more keys than this are not distinguished.
const MAX_KEYS: usize = 64;
/// So many objects without a candidate have none.
const MIN_OBJECTS: u64 = 256;
/// More keys than this are no record's.
const MAX_ALL: usize = 4096;
/// The share of the variance that a tag explains at least.
const EXPLAINED: f64 = 0.5;
/// How different the keys of two objects of different variants are, at least: one less the share of common keys.
const DISTANCE: f64 = 0.3;

/// Which keys occur with which value of which candidate.
#[derive(Default, Clone)]
pub(super) struct Study {
    objects: u64,
    /// How many of all objects have each key, by its hash.
    all: HashMap<u64, u64, BuildHasherDefault<Hashed>>,
    /// No tag can be found any more.
    given_up: bool,
    /// Hashes of the keys that may be the tag, with how often each of their values occurs with each key.
    candidates: BTreeMap<u64, Values>,
}

#[derive(Default, Clone)]
struct Values {
    counts: BTreeMap<u64, Seen>,
    /// Objects may be without the key.
    usual: bool,
}

/// The hash of a key, and the mark of the JSON type of its value; 0 for any.
type Feature = (u64, u8);

#[derive(Default, Clone)]
struct Seen {
    objects: u64,
    /// How many of the objects have a key (with 0), and a value of some JSON type under it (with its mark).
    features: BTreeMap<Feature, u64>,
}

impl Study {
    /// Counts an object that has just been read: its keys, and those of its keys that have a string which may be a tag, as
    /// `(key, hash of the key, hash of the string)`.
    pub(super) fn count(&mut self, words: &[(&str, u64, u64)], keys: &[u64], marks: &[Feature]) {
        if self.objects >= MAX_OBJECTS || self.given_up {
            return;
        }
        let none = self.candidates.is_empty() && self.objects >= MIN_OBJECTS;
        if none || keys.len() > MAX_KEYS || self.all.len() > MAX_ALL {
            *self = Self { objects: self.objects, given_up: true, ..Self::default() };
            return;
        }
        if self.objects == 0 {
            // The order does not depend on which object comes first.
            let mut candidates = words.to_vec();
            candidates.sort_by_key(|&(key, ..)| (!is_usual(key), key));
            let candidates = candidates.iter().take(MAX_CANDIDATES);
            let new = |usual| Values { usual, ..Values::default() };
            self.candidates = candidates.map(|&(key, hash, _)| (hash, new(is_usual(key)))).collect();
        } else {
            // The objects so far were without it.
            for &(key, hash, _) in words {
                if is_usual(key) && !self.all.contains_key(&hash) {
                    self.candidates.entry(hash).or_insert(Values { usual: true, ..Values::default() });
                }
            }
        }
        self.objects += 1;
        for &key in keys {
            *self.all.entry(key).or_default() += 1;
        }
        self.candidates.retain(|candidate, values| {
            let Some(&(.., word)) = words.iter().find(|(_, hash, _)| hash == candidate) else {
                return values.usual && !keys.contains(candidate);
            };
            let seen = values.counts.entry(word).or_default();
            seen.objects += 1;
            for feature in keys.iter().map(|&key| (key, 0)).chain(marks.iter().copied()) {
                *seen.features.entry(feature).or_default() += 1;
            }
            values.counts.len() <= MAX_VARIANTS
        });
    }

    /// The hashes of the keys that objects have whose tag has this value, if that is known.
    pub(super) fn keys_of(&self, tag: u64, value: u64) -> Option<impl Fn(u64) -> bool> {
        let seen = self.candidates.get(&tag)?.counts.get(&value)?;
        Some(|key| seen.features.contains_key(&(key, 0)))
    }

    /// The hashes of the keys that objects without this tag have.
    pub(super) fn keys_without(&self, tag: u64) -> Option<impl Fn(u64) -> bool> {
        let values = self.candidates.get(&tag)?;
        Some(move |key| {
            let with = values.counts.values().filter_map(|seen| seen.features.get(&(key, 0)));
            self.all.get(&key).copied().unwrap_or(0) > with.sum::<u64>()
        })
    }

    /// Whether objects whose tag has this value had objects with a tag, or arrays of such, under a key.
    pub(super) fn has_tagged(&self, tag: u64, value: u64, key: u64) -> bool {
        let seen = self.candidates.get(&tag).and_then(|values| values.counts.get(&value));
        let mut marks = seen.into_iter().flat_map(|seen| seen.features.range((key, 1)..=(key, u8::MAX)));
        marks.any(|(&(_, mark), _)| mark % mark::ARRAY == mark::TAGGED)
    }

    /// Adds what was found at another position.
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
            if values.usual && !self.all.contains_key(&key) {
                self.candidates.entry(key).or_insert(Values { usual: true, ..Values::default() });
            }
        }
        self.objects += other.objects;
        for (&key, count) in &other.all {
            *self.all.entry(key).or_default() += count;
        }
        self.candidates.retain(|key, values| {
            let Some(more) = other.candidates.get(key) else {
                return values.usual && !other.all.contains_key(key);
            };
            for (value, more) in &more.counts {
                let seen = values.counts.entry(*value).or_default();
                seen.objects += more.objects;
                for (&feature, count) in &more.features {
                    *seen.features.entry(feature).or_default() += count;
                }
            }
            values.counts.len() <= MAX_VARIANTS
        });
    }

    /// The hash of the key that distinguishes these objects, if one does.
    pub(super) fn tag(&self, key_of: impl Fn(u64) -> Option<String>) -> Option<String> {
        let mut best: Option<(f64, String)> = None;
        for (&hash, values) in &self.candidates {
            let Some(key) = key_of(hash) else { continue };
            let usual = is_usual(&key);
            if let Some(explained) = values.explains(hash, usual) {
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

/// Keys by which formats distinguish objects.
pub(super) fn is_usual(key: &str) -> bool {
    let key = key.trim_start_matches(['@', '$', '_', '#']).to_ascii_lowercase();
    matches!(key.as_str(), "type" | "kind" | "tag" | "op" | "typename" | "event" | "variant" | "nodetype" | "node_type")
}

impl Values {
    /// The share of the variance of the other keys' presence that is explained, if the values make a good tag.
    fn explains(&self, tag: u64, usual: bool) -> Option<f64> {
        let objects = self.counts.values().map(|seen| seen.objects).sum::<u64>();
        let variants = self.counts.len() as u64;
        if variants < 2 || (!usual && objects < 5 * variants) {
            return None;
        }
        let total = objects as f64;
        // The type of a value says something of its own only if the value is always there, but in the last object of a
        // text of which only the beginning is studied.
        let is_always = |key: u64| {
            let with = |seen: &Seen| seen.features.get(&(key, 0)).copied().unwrap_or(0);
            let without = objects - self.counts.values().map(with).sum::<u64>().min(objects);
            without == 0 || (objects >= 8 && without * 100 <= objects.max(100))
        };
        let all: BTreeSet<Feature> = self.counts.values().flat_map(|seen| seen.features.keys().copied()).collect();
        let counts = |&(key, mark): &Feature| key != tag && (mark == 0 || (usual && is_always(key)));
        let features: BTreeSet<Feature> = all.into_iter().filter(counts).collect();
        // Keys that one variant always has and another never.
        let mut exclusive = 0;
        let (mut variance, mut explained) = (0.0, 0.0);
        for feature in &features {
            let with = |seen: &Seen| seen.features.get(feature).copied().unwrap_or(0) as f64;
            let share = self.counts.values().map(with).sum::<f64>() / total;
            variance += share * (1.0 - share);
            let always = self.counts.values().any(|seen| seen.features.get(feature) == Some(&seen.objects));
            let never = self.counts.values().any(|seen| !seen.features.contains_key(feature));
            exclusive += u64::from(always && never);
            for seen in self.counts.values() {
                let weight = seen.objects as f64;
                explained += weight / total * (with(seen) / weight - share).powi(2);
            }
        }
        let distance = self.distance(&features);
        let differ = distance >= DISTANCE && (exclusive >= 2 || (usual && exclusive == 1 && distance >= 0.5));
        (differ && explained / variance >= EXPLAINED).then(|| explained / variance)
    }

    /// How different the keys and types of two objects of different variants are to be expected.
    fn distance(&self, features: &BTreeSet<Feature>) -> f64 {
        let own = |seen: &Seen| seen.features.keys().copied().filter(|feature| features.contains(feature)).collect();
        let sets: Vec<(f64, BTreeSet<Feature>)> =
            self.counts.values().map(|seen| (seen.objects as f64, own(seen))).collect();
        let (mut sum, mut weights) = (0.0, 0.0);
        for (index, (left_weight, left)) in sets.iter().enumerate() {
            for (right_weight, right) in &sets[index + 1..] {
                let common = left.intersection(right).count() as f64;
                let all = left.union(right).count().max(1) as f64;
                sum += left_weight * right_weight * (1.0 - common / all);
                weights += left_weight * right_weight;
            }
        }
        if weights > 0.0 { sum / weights } else { 0.0 }
    }
}

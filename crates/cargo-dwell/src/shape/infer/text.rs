//! Counts of the strings at one position, the strings themselves while they are few, and the number of distinct ones.

use crate::shape::formats::Excluded;
use crate::shape::schema;
use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// The most distinct strings of a closed set.
const MAX_WORDS: usize = 256;
/// The least length of a long string in bytes, for which a thin string needs a further word.
const LONG: u64 = 255;
/// The longest string of a closed set, in bytes.
const MAX_WORD: usize = 64;
/// The most distinct strings that are counted exactly.
const EXACT: usize = 2048;
/// Bits of a hash that select a register: 4096 registers give a standard error of 1.6 %.
const REGISTER_BITS: u32 = 12;

/// Returns the hash of a key or string. The seed is fixed, so that all runs and threads agree.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// A hasher that returns its input, which is a hash already.
#[derive(Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only hashes are hashed")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A set of strings by their hashes.
pub(super) type Hashes = HashSet<u64, BuildHasherDefault<Hashed>>;

/// The strings seen at a position.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Texts {
    pub(super) count: u64,
    pub(super) empty: u64,
    pub(super) bytes: u64,
    min: u64,
    max: u64,
    long: u64,
    #[serde(default = "Excluded::every")]
    excluded: Excluded,
    distinct: Distinct,
}

/// A count of distinct strings: exact while they are few, then an estimate in bounded memory. The result does not
/// depend on the order of the strings.
#[derive(Clone, Serialize, Deserialize)]
enum Distinct {
    #[serde(rename = "Words")] // the name in part files
    Exact(ExactSet),
    Hashes(Hashes),
    Registers(Box<[u8]>),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Exact(ExactSet::default())
    }
}

/// Short strings with their counts, without an allocation for each.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct ExactSet {
    hashes: Vec<u64>,
    counts: Vec<u64>,
    ends: Vec<usize>,
    text: String,
}

impl ExactSet {
    fn find(&self, hash: u64) -> Option<usize> {
        self.hashes.iter().position(|&known| known == hash)
    }

    fn push(&mut self, hash: u64, text: &str, count: u64) {
        self.hashes.push(hash);
        self.counts.push(count);
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn word(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().enumerate().map(|(index, &count)| (self.word(index), count))
    }

    fn clear(&mut self) {
        self.hashes.clear();
        self.counts.clear();
        self.ends.clear();
        self.text.clear();
    }
}

impl Texts {
    /// Counts one string.
    pub(super) fn add(&mut self, text: &str, hash: u64) {
        let length = text.len() as u64;
        self.measure(1, u64::from(length == 0), length, length, length);
        self.long += u64::from(length >= LONG);
        self.excluded.look_at(text);
        self.insert(hash, text, 1);
    }

    fn measure(&mut self, count: u64, empty: u64, bytes: u64, min: u64, max: u64) {
        self.min = if self.count == 0 { min } else { self.min.min(min) };
        self.max = self.max.max(max);
        self.count += count;
        self.empty += empty;
        self.bytes += bytes;
    }

    /// Counts a record's key, which `count` objects have, as `count` strings.
    pub(super) fn add_key(&mut self, key: &str, hash: u64, count: u64) {
        let length = key.len() as u64;
        self.measure(count, if length == 0 { count } else { 0 }, length * count, length, length);
        self.long += if length >= LONG { count } else { 0 };
        self.excluded = Excluded::EVERY;
        self.insert(hash, key, count);
    }

    fn insert(&mut self, hash: u64, text: &str, count: u64) {
        if let Distinct::Exact(words) = &mut self.distinct {
            if let Some(index) = words.find(hash) {
                words.counts[index] += count;
                return;
            }
            if words.len() < MAX_WORDS && text.len() <= MAX_WORD {
                words.push(hash, text, count);
                return;
            }
        }
        self.insert_hash(hash);
    }

    fn insert_hash(&mut self, hash: u64) {
        match &mut self.distinct {
            Distinct::Exact(words) => {
                let mut hashes: Hashes = words.hashes.iter().copied().collect();
                hashes.insert(hash);
                self.distinct = Distinct::Hashes(hashes);
            }
            Distinct::Hashes(hashes) => {
                hashes.insert(hash);
                if hashes.len() > EXACT {
                    let mut registers = vec![0; 1 << REGISTER_BITS].into_boxed_slice();
                    for &hash in hashes.iter() {
                        register(&mut registers, hash);
                    }
                    self.distinct = Distinct::Registers(registers);
                }
            }
            Distinct::Registers(registers) => register(registers, hash),
        }
    }

    /// Adds the counts of another position.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.measure(other.count, other.empty, other.bytes, other.min, other.max);
        self.long += other.long;
        self.excluded.merge(other.excluded);
        match &other.distinct {
            Distinct::Exact(words) => {
                for (index, (word, count)) in words.iter().enumerate() {
                    self.insert(words.hashes[index], word, count);
                }
            }
            Distinct::Hashes(hashes) => hashes.iter().for_each(|&hash| self.insert_hash(hash)),
            Distinct::Registers(from) => {
                if let Distinct::Registers(into) = &mut self.distinct {
                    for (into, &from) in into.iter_mut().zip(from) {
                        *into = from.max(*into);
                    }
                } else {
                    let known = std::mem::replace(&mut self.distinct, Distinct::Registers(from.clone()));
                    match known {
                        Distinct::Exact(words) => words.hashes.iter().for_each(|&hash| self.insert_hash(hash)),
                        Distinct::Hashes(hashes) => hashes.iter().for_each(|&hash| self.insert_hash(hash)),
                        Distinct::Registers(_) => unreachable!("matched above"),
                    }
                }
            }
        }
    }

    /// Removes all strings and keeps the memory.
    pub(super) fn clear(&mut self) {
        let mut distinct = std::mem::take(&mut self.distinct);
        if let Distinct::Exact(words) = &mut distinct {
            words.clear();
        } else {
            distinct = Distinct::default();
        }
        *self = Self { distinct, ..Self::default() };
    }

    /// Returns the strings and their counts, if all are short and few are distinct.
    pub(super) fn exact(&self) -> Option<&ExactSet> {
        match &self.distinct {
            Distinct::Exact(words) => Some(words),
            _ => None,
        }
    }

    /// Returns the string and its hash, if all strings are equal.
    pub(super) fn only_word(&self) -> Option<(&str, u64)> {
        let words = self.exact().filter(|words| words.len() == 1)?;
        Some((words.word(0), words.hashes[0]))
    }

    /// Returns the hashes of the strings from [`Texts::exact`], in the same order.
    pub(super) fn word_hashes(&self) -> &[u64] {
        self.exact().map_or(&[], |words| &words.hashes)
    }

    /// Returns whether a string with this hash was counted; true for all hashes once only an estimate is kept.
    pub(super) fn may_have(&self, hash: u64) -> bool {
        match &self.distinct {
            Distinct::Exact(words) => words.find(hash).is_some(),
            Distinct::Hashes(hashes) => hashes.contains(&hash),
            Distinct::Registers(_) => true,
        }
    }

    pub(super) fn distinct(&self) -> u64 {
        match &self.distinct {
            Distinct::Exact(words) => words.len() as u64,
            Distinct::Hashes(hashes) => hashes.len() as u64,
            Distinct::Registers(registers) => estimate(registers).min(self.count),
        }
    }

    pub(super) fn to_schema(&self) -> schema::Text {
        schema::Text {
            count: self.count,
            empty: self.empty,
            bytes: self.bytes,
            min: self.min,
            max: self.max,
            distinct: self.distinct(),
            long: self.long,
            words: match self.exact() {
                Some(words) if self.count >= 10 && (words.len() * words.len()) as u64 <= self.count => {
                    words.iter().map(|(word, count)| (word.to_owned(), count)).collect()
                }
                _ => BTreeMap::new(),
            },
            format: if self.count > 0 { self.excluded.format() } else { None },
        }
    }
}

/// Mixes a hash again: the fast hash is good for tables, but its leading zeros are not uniform.
fn spread(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash ^ (hash >> 32)
}

fn register(registers: &mut [u8], hash: u64) {
    let hash = spread(hash);
    let index = usize::try_from(hash >> (64 - REGISTER_BITS)).unwrap_or(0);
    let zeros = (hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1)).leading_zeros() + 1;
    registers[index] = registers[index].max(u8::try_from(zeros).unwrap_or(u8::MAX));
}

/// Estimates the number of distinct strings by `HyperLogLog` (Flajolet, Fusy, Gandouet, Meunier, 2007), with linear
/// counting while many registers are zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rounded estimate of a count")]
fn estimate(registers: &[u8]) -> u64 {
    let m = registers.len() as f64;
    let sum: f64 = registers.iter().map(|&register| 0.5f64.powi(i32::from(register))).sum();
    let zeros = memchr::memchr_iter(0, registers).count();
    let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
    let estimate = if raw <= 2.5 * m && zeros > 0 { m * (m / zeros as f64).ln() } else { raw };
    estimate.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(from: u64, to: u64) -> Texts {
        let mut texts = Texts::default();
        for index in from..to {
            let text = format!("text {index}");
            texts.add(&text, hash(&text));
        }
        texts
    }

    #[test]
    fn distinct_count_is_exact_up_to_2048_and_estimated_beyond() {
        for count in [0, 1, 64, 65, 2048] {
            assert_eq!(texts(0, count).distinct(), count);
        }
        for count in [2049, 5000, 20_000, 300_000] {
            let distinct = texts(0, count).distinct() as f64;
            assert!((distinct / count as f64 - 1.0).abs() < 0.05, "{distinct} of {count}");
        }
    }

    #[test]
    fn merging_in_either_order_equals_adding_all() {
        for (low, middle, high) in [(0, 10, 30), (0, 40, 100), (0, 1500, 3000), (0, 2500, 5000), (0, 3, 5000)] {
            let all = texts(low, high).to_schema();
            let (left, right) = (texts(low, middle), texts(middle, high));
            for (mut into, from) in [(left.clone(), right.clone()), (right, left)] {
                into.merge(&from);
                let merged = into.to_schema();
                assert_eq!(format!("{merged:?}"), format!("{all:?}"));
            }
        }
    }

    #[test]
    fn long_string_ends_the_exact_set() {
        let mut texts = Texts::default();
        texts.add("a", hash("a"));
        texts.add("", hash(""));
        assert_eq!(texts.exact().map(ExactSet::len), Some(2));
        let long = "x".repeat(MAX_WORD + 1);
        texts.add(&long, hash(&long));
        assert!(texts.exact().is_none());
        let known = texts.to_schema();
        assert_eq!((known.count, known.empty, known.min, known.max, known.distinct), (3, 1, 0, 65, 3));
    }
}

//! Counts of the strings at one position, the strings themselves while they are few, and the number of distinct ones.

use crate::formats::Excluded;
use crate::schema::{self, MOST_COUNT};
use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// The most distinct strings of a closed set.
pub(super) const MAX_WORDS: usize = 1024;
/// The least length of a long string in bytes, for which a thin string needs a further word.
const LONG: u64 = 255;
/// The longest string of a closed set, in bytes.
const MAX_WORD: usize = 64;
/// The most distinct strings that are counted exactly.
const EXACT: usize = 2048;
/// Bits of a hash that select a register: 4096 registers give a standard error of 1.6 %.
const REGISTER_BITS: u32 = 12;
/// The same once memory is short: 128 registers give a standard error of 9 %.
const FEW_BITS: u32 = 7;

/// The memory that the sets of strings and keys of all positions may take. When it is used up, the sets grow no further.
#[derive(Clone)]
pub(super) struct Room {
    left: usize,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.left == 0
    }
}

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
    excluded: Excluded,
    distinct: Distinct,
}

/// A count of distinct strings: exact while they are few, then an estimate in bounded memory. The result does not
/// depend on the order of the strings.
#[derive(Clone, Serialize, Deserialize)]
enum Distinct {
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
    words: Vec<Word>,
    text: String,
    /// A hash table of indices into `words`, plus one; empty for a set of up to [`LISTED`] strings.
    #[serde(skip)]
    index: Vec<u16>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Word {
    hash: u64,
    count: u64,
    /// The end of the string in [`ExactSet::text`]; it starts where the one before it ends.
    end: usize,
}

/// The most strings of a set that are searched linearly.
const LISTED: usize = 16;
/// The least number of entries of [`ExactSet::index`], a power of two. It grows until it is twice the number of strings.
const ENTRIES: usize = 512;

impl ExactSet {
    /// Returns whether each word has its part of the text and its hash.
    fn is_plausible(&self) -> bool {
        let mut start = 0;
        let words = self.words.iter().all(|word| {
            let text = self.text.get(start..word.end);
            start = word.end;
            text.is_some_and(|text| hash(text) == word.hash) && word.count <= MOST_COUNT
        });
        words && start == self.text.len() && self.words.len() <= MAX_WORDS
    }

    fn find(&self, hash: u64) -> Option<usize> {
        if self.index.is_empty() {
            return self.words.iter().position(|word| word.hash == hash);
        }
        self.probe(hash).ok()
    }

    /// Returns the index of a string, or the entry of the table where it belongs.
    fn probe(&self, hash: u64) -> Result<usize, usize> {
        let last = self.index.len() - 1;
        let mut entry = usize::try_from(hash & last as u64).unwrap_or(0);
        loop {
            match usize::from(self.index[entry]) {
                0 => return Err(entry),
                word if self.words[word - 1].hash == hash => return Ok(word - 1),
                _ => entry = (entry + 1) & last,
            }
        }
    }

    /// Adds a string that is not in the set.
    fn push(&mut self, hash: u64, text: &str, count: u64) {
        self.text.push_str(text);
        self.words.push(Word { hash, count, end: self.text.len() });
        if self.words.len() > LISTED && self.words.len() * 2 > self.index.len() {
            self.index = vec![0; (self.words.len() * 2).next_power_of_two().max(ENTRIES)];
            (0..self.words.len()).for_each(|word| self.enter(word));
        } else if !self.index.is_empty() {
            self.enter(self.words.len() - 1);
        }
    }

    fn enter(&mut self, word: usize) {
        if let Err(entry) = self.probe(self.words[word].hash) {
            self.index[entry] = u16::try_from(word + 1).expect("there are at most MAX_WORDS strings");
        }
    }

    fn word(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.words[index - 1].end };
        &self.text[start..self.words[index].end]
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.words.iter().enumerate().map(|(index, word)| (self.word(index), word.count))
    }

    fn hashes(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| word.hash)
    }

    fn clear(&mut self) {
        self.words.clear();
        self.text.clear();
        self.index.clear();
    }

    /// Returns the bytes that the set has on the heap.
    fn memory(&self) -> usize {
        self.words.capacity() * size_of::<Word>() + self.text.capacity() + self.index.capacity() * 2
    }
}

impl Texts {
    /// Returns whether the strings are consistent and the counts in the range of a corpus. A part file is untrusted
    /// input.
    pub(super) fn is_plausible(&self) -> bool {
        let counts = [self.count, self.empty, self.bytes, self.min, self.max, self.long];
        let counts = counts.into_iter().all(|count| count <= MOST_COUNT) && self.empty <= self.count;
        counts
            && match &self.distinct {
                Distinct::Exact(words) => words.is_plausible(),
                Distinct::Hashes(hashes) => hashes.len() <= EXACT,
                Distinct::Registers(registers) => {
                    [1 << REGISTER_BITS, 1 << FEW_BITS].contains(&registers.len())
                        && registers.iter().all(|&zeros| zeros <= 64)
                }
            }
    }

    /// Counts one string, and takes the memory for it from `room`.
    pub(super) fn add(&mut self, text: &str, hash: u64, room: &mut Room) {
        let length = text.len() as u64;
        self.measure(1, u64::from(length == 0), length, length, length);
        self.long += u64::from(length >= LONG);
        if self.insert(hash, text, 1, room) {
            self.excluded.look_at(text);
        }
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
        self.insert(hash, key, count, &mut Room::unlimited());
    }

    /// Counts strings that are equal. Returns whether they may be the first of their kind.
    fn insert(&mut self, hash: u64, text: &str, count: u64, room: &mut Room) -> bool {
        if let Distinct::Exact(words) = &mut self.distinct {
            if let Some(index) = words.find(hash) {
                words.words[index].count += count;
                return false;
            }
            if words.len() < MAX_WORDS && text.len() <= MAX_WORD && !room.is_used_up() {
                let before = words.memory();
                words.push(hash, text, count);
                room.take(words.memory() - before);
                return true;
            }
        }
        self.insert_hash(hash, room);
        true
    }

    fn insert_hash(&mut self, hash: u64, room: &mut Room) {
        let hashes = match &mut self.distinct {
            Distinct::Registers(registers) => return register(registers, hash),
            Distinct::Hashes(hashes) if hashes.contains(&hash) => return,
            Distinct::Hashes(hashes) => hashes,
            Distinct::Exact(words) => {
                self.distinct = Distinct::Hashes(words.hashes().collect());
                return self.insert_hash(hash, room);
            }
        };
        let before = hashes.capacity();
        if hashes.len() < EXACT && !room.is_used_up() {
            hashes.insert(hash);
            room.take((hashes.capacity() - before) * size_of::<u64>());
            return;
        }
        let bits = if room.is_used_up() { FEW_BITS } else { REGISTER_BITS };
        let mut registers = vec![0; 1 << bits].into_boxed_slice();
        hashes.iter().chain([&hash]).for_each(|&hash| register(&mut registers, hash));
        room.take(registers.len());
        self.distinct = Distinct::Registers(registers);
    }

    /// Adds the counts of another position.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        // The result takes no more memory than both.
        let room = &mut Room::unlimited();
        self.measure(other.count, other.empty, other.bytes, other.min, other.max);
        self.long += other.long;
        self.excluded.merge(other.excluded);
        match &other.distinct {
            Distinct::Exact(words) => {
                for (word, (text, count)) in words.words.iter().zip(words.iter()) {
                    self.insert(word.hash, text, count, room);
                }
            }
            Distinct::Hashes(hashes) => hashes.iter().for_each(|&hash| self.insert_hash(hash, room)),
            Distinct::Registers(from) => {
                let mut registers = from.clone();
                match &self.distinct {
                    Distinct::Exact(words) => words.hashes().for_each(|hash| register(&mut registers, hash)),
                    Distinct::Hashes(hashes) => hashes.iter().for_each(|&hash| register(&mut registers, hash)),
                    Distinct::Registers(known) => registers = union(registers, known),
                }
                self.distinct = Distinct::Registers(registers);
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
        Some((words.word(0), words.words[0].hash))
    }

    /// Returns the hashes of the strings from [`Texts::exact`], in the same order.
    pub(super) fn word_hashes(&self) -> impl Iterator<Item = u64> {
        self.exact().into_iter().flat_map(ExactSet::hashes)
    }

    /// Returns the bytes that the set of strings has on the heap.
    pub(super) fn memory(&self) -> usize {
        match &self.distinct {
            Distinct::Exact(words) => words.memory(),
            Distinct::Hashes(hashes) => hashes.capacity() * size_of::<u64>(),
            Distinct::Registers(registers) => registers.len(),
        }
    }

    /// Replaces a set of more than `most` bytes by an estimate in a few bytes.
    pub(super) fn coarsen(&mut self, most: usize) {
        if self.memory() > most.max(1 << FEW_BITS) {
            let mut few = vec![0; 1 << FEW_BITS].into_boxed_slice();
            match &self.distinct {
                Distinct::Exact(words) => words.hashes().for_each(|hash| register(&mut few, hash)),
                Distinct::Hashes(hashes) => hashes.iter().for_each(|&hash| register(&mut few, hash)),
                Distinct::Registers(registers) => few = union(few, registers),
            }
            self.distinct = Distinct::Registers(few);
        }
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
    let bits = registers.len().ilog2();
    let hash = spread(hash);
    let index = usize::try_from(hash >> (64 - bits)).unwrap_or(0);
    let zeros = (hash << bits | 1 << (bits - 1)).leading_zeros() + 1;
    registers[index] = registers[index].max(u8::try_from(zeros).unwrap_or(u8::MAX));
}

/// Returns the registers of all strings of two sets, as many as the smaller set has.
fn union(mut one: Box<[u8]>, other: &[u8]) -> Box<[u8]> {
    if one.len() > other.len() {
        return union(other.into(), &one);
    }
    // With fewer registers, the last bits of an index are the first bits of those whose zeros are counted.
    let bits = other.len().ilog2() - one.len().ilog2();
    for (index, &zeros) in other.iter().enumerate().filter(|&(_, &zeros)| zeros > 0) {
        let last = u32::try_from(index & ((1 << bits) - 1)).unwrap_or(0);
        let bits = u8::try_from(bits).unwrap_or(0);
        let zeros = if last == 0 { zeros + bits } else { bits - u8::try_from(last.ilog2()).unwrap_or(0) };
        let into = &mut one[index >> bits];
        *into = zeros.max(*into);
    }
    one
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
            texts.add(&text, hash(&text), &mut Room::unlimited());
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
    fn sets_without_room_grow_no_further() {
        for (before, after) in [(0, 5000), (3, 300), (100, 1000), (1000, 9000), (5000, 90_000)] {
            let mut all = texts(0, before);
            let least = all.memory();
            for index in 0..after {
                let text = format!("text {index}");
                all.add(&text, hash(&text), &mut Room::new(0));
                assert!(all.memory() <= least.max(1 << FEW_BITS), "{before} {after}");
            }
            let distinct = all.distinct() as f64;
            assert!((distinct / after as f64 - 1.0).abs() < 0.2, "{distinct} of {after}");
            // A set with fewer registers, joined with one that has more.
            for (mut into, from) in [(all.clone(), texts(after, after + 5000)), (texts(after, after + 5000), all)] {
                into.merge(&from);
                let distinct = into.distinct() as f64;
                assert!((distinct / (after + 5000) as f64 - 1.0).abs() < 0.25, "{distinct} of {}", after + 5000);
            }
        }
    }

    #[test]
    fn long_string_ends_the_exact_set() {
        let (mut texts, mut room) = (Texts::default(), Room::unlimited());
        texts.add("a", hash("a"), &mut room);
        texts.add("", hash(""), &mut room);
        assert_eq!(texts.exact().map(ExactSet::len), Some(2));
        let long = "x".repeat(MAX_WORD + 1);
        texts.add(&long, hash(&long), &mut room);
        assert!(texts.exact().is_none());
        let known = texts.to_schema();
        assert_eq!((known.count, known.empty, known.min, known.max, known.distinct), (3, 1, 0, 65, 3));
    }
}

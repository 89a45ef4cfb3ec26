//! Reads the agent's ledgers from the memory of the program.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "halves of words are taken on purpose, and `usize` has 64 bits where this runs"
)]

use super::{Allocator, Counts, LIFETIMES, Pair, Profile, Thread};
use crate::agent::layout::{self, COUNTED, FRAMES, HUGE, LEDGER_BYTES, LEDGERS, Ledger, PAIRS, State};
use crate::capture::Memory;
use crate::capture::image::NO_RECORDS;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::mem::offset_of;

/// The memory with the records, and the address of the agent's [`State`].
pub(super) struct ReadFrom<'m> {
    pub(super) memory: &'m dyn Memory,
    pub(super) state: u64,
}

impl ReadFrom<'_> {
    fn words(&self, addr: u64, count: usize) -> Option<Vec<u64>> {
        let mut bytes = vec![0; count * 8];
        (self.memory.read(addr, &mut bytes) == bytes.len()).then(|| {
            let (words, _) = bytes.as_chunks::<8>();
            words.iter().map(|word| u64::from_le_bytes(*word)).collect()
        })
    }

    fn of_state(&self, at: usize) -> Option<u64> {
        self.words(self.state + at as u64, 1)?.first().copied()
    }

    /// Returns the addresses of the ledgers.
    fn ledgers(&self) -> Option<Vec<u64>> {
        let len = self.of_state(offset_of!(State, ledgers_len))?.min(LEDGERS);
        self.words(self.of_state(offset_of!(State, ledgers))?, len as usize)
    }

    /// Returns the number of blocks that all threads have got so far. The program may run.
    pub(super) fn blocks(&self) -> Option<u64> {
        let at = offset_of!(Ledger, blocks) as u64;
        self.ledgers()?.iter().map(|ledger| self.words(ledger + at, 1)?.first().copied()).sum()
    }
}

/// The size of the counts of a pair in words.
const WORDS: usize = size_of::<layout::Counts>() / 8;
/// The number of pairs that are read at once.
const AT_ONCE: u64 = 1 << 12;

const _: () = assert!(LIFETIMES == layout::LIFETIMES);

/// Reads the profile.
pub(super) fn read(from: &ReadFrom<'_>) -> Result<Profile> {
    read_all(from).context(NO_RECORDS)
}

fn read_all(from: &ReadFrom<'_>) -> Option<Profile> {
    let pairs_len = from.of_state(offset_of!(State, pairs_len))?.min(PAIRS).min(COUNTED);
    let frames_len = from.of_state(offset_of!(State, frames_len))?.min(FRAMES);
    let pairs = from.words(from.of_state(offset_of!(State, pairs))?, pairs_len as usize)?;
    let frames = from.words(from.of_state(offset_of!(State, frames))?, frames_len as usize)?;
    let sample = from.of_state(offset_of!(State, sample))?;
    let mut counted: Vec<Option<Box<Counted>>> = Vec::new();
    counted.resize_with(pairs_len as usize, || None);
    let mut threads = Vec::new();
    for ledger in from.ledgers()? {
        let words = from.words(ledger, LEDGER_BYTES / 8)?;
        let len = words[offset_of!(Ledger, pairs) / 8].min(pairs_len);
        let mut thread = Thread { threads: words[offset_of!(Ledger, threads) / 8], ..Thread::default() };
        let mut at = 0;
        while at < len {
            let count = AT_ONCE.min(len - at);
            let first = ledger + LEDGER_BYTES as u64 + at * WORDS as u64 * 8;
            let words = from.words(first, count as usize * WORDS)?;
            let (all, _) = words.as_chunks::<WORDS>();
            for (number, words) in (at as usize..).zip(all).filter(|(_, words)| words.iter().any(|word| *word != 0)) {
                let size = size_of_pair(pairs[number]);
                let pair = counted[number].get_or_insert_default();
                let (counts, live) = counts(words, weight(size, sample));
                thread.allocations += counts.allocations;
                thread.frees += counts.frees;
                thread.reallocations += counts.reallocations;
                pair.counts.add(&counts);
                pair.live += live;
                let last = words[offset_of!(layout::Counts, allocator) / 8];
                pair.allocator = pair.allocator.max(last as u32);
                pair.run_stack = pair.run_stack.max((last >> 32) as u32);
                pair.free_stack = pair.free_stack.max(words[offset_of!(layout::Counts, free_stack) / 8] as u32);
            }
            at += count;
        }
        threads.push(thread);
    }
    let mut stacks = Stacks { frames: &frames, known: HashMap::new(), found: Vec::new() };
    let mut found = Vec::new();
    for (number, pair) in counted.into_iter().enumerate() {
        let Some(mut pair) = pair else { continue };
        pair.counts.live = pair.live.max(0) as u64;
        found.push(Pair {
            size: size_of_pair(pairs[number]),
            stack: stacks.number(pairs[number] as u32),
            allocator: allocator(pair.allocator),
            run_stack: (pair.run_stack != 0).then(|| stacks.number(pair.run_stack)),
            free_stack: (pair.free_stack != 0).then(|| stacks.number(pair.free_stack)),
            counts: pair.counts,
        });
    }
    Some(Profile {
        pairs: found,
        stacks: stacks.found,
        threads,
        lost: from.of_state(offset_of!(State, lost))?,
        counters: from.of_state(offset_of!(State, counters))?,
        calls: from.of_state(offset_of!(State, calls)),
        start_nanos: from.of_state(offset_of!(State, start_nanos))?,
        sample,
        ..Profile::default()
    })
}

/// The counts of a pair in all threads.
#[derive(Default)]
struct Counted {
    counts: Counts,
    live: i64,
    allocator: u32,
    run_stack: u32,
    free_stack: u32,
}

/// Returns the counts of a pair in a thread, each of which stands for `weight`, and the live blocks.
fn counts(words: &[u64; WORDS], weight: f64) -> (Counts, i64) {
    let scaled = |count: u64| if weight <= 1.0 { count } else { (count as f64 * weight).round() as u64 };
    let word = |at: usize| scaled(words[at / 8]);
    let three = |at: usize| [word(at), word(at + 8), word(at + 16)];
    let signed = |at: usize| words[at / 8] as i64;
    let mut counts = Counts {
        allocations: word(offset_of!(layout::Counts, allocations)),
        frees: word(offset_of!(layout::Counts, frees)),
        bytes: word(offset_of!(layout::Counts, bytes)),
        live: 0,
        most_live: scaled(signed(offset_of!(layout::Counts, most_live)).max(0) as u64),
        temporary: word(offset_of!(layout::Counts, temporary)),
        in_order: word(offset_of!(layout::Counts, in_order)),
        together: word(offset_of!(layout::Counts, together)),
        reallocations: word(offset_of!(layout::Counts, reallocations)),
        replaced: word(offset_of!(layout::Counts, replaced)),
        copied: word(offset_of!(layout::Counts, copied)),
        foreign: word(offset_of!(layout::Counts, foreign)),
        allocated: three(offset_of!(layout::Counts, allocated)),
        freed: three(offset_of!(layout::Counts, freed)),
        lifetimes: [0; LIFETIMES],
    };
    for (index, count) in counts.lifetimes.iter_mut().enumerate() {
        *count = word(offset_of!(layout::Counts, lifetimes) + index * 8);
    }
    (counts, (signed(offset_of!(layout::Counts, live)) as f64 * weight).round() as i64)
}

/// Returns the size in a pair: a size in pages has the highest bit.
fn size_of_pair(pair: u64) -> u64 {
    let stored = pair >> 32;
    if stored & HUGE == 0 { stored } else { (stored & (HUGE - 1)) << 12 }
}

/// Returns the number of blocks for which a recorded block of a sampled run stands.
fn weight(size: u64, mean: u64) -> f64 {
    if mean == 0 || size == 0 { 1.0 } else { 1.0 / -(-(size as f64) / mean as f64).exp_m1() }
}

fn allocator(number: u32) -> Allocator {
    match number {
        1 => Allocator::Mimalloc,
        2 => Allocator::Jemalloc,
        3 => Allocator::Executable,
        _ => Allocator::Glibc,
    }
}

/// The call stacks, numbered in the order in which they are asked for.
struct Stacks<'f> {
    frames: &'f [u64],
    known: HashMap<u32, u32>,
    found: Vec<Vec<u64>>,
}

impl Stacks<'_> {
    fn number(&mut self, at: u32) -> u32 {
        *self.known.entry(at).or_insert_with(|| {
            let word = |index: usize| self.frames.get(index).copied().unwrap_or(0);
            let len = if at == 0 { 0 } else { word(at as usize).min(layout::DEPTH as u64) };
            self.found.push((1..=len as usize).map(|index| word(at as usize + index)).collect());
            self.found.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_pairs_are_stored_in_pages_from_2_gib_on() {
        assert_eq!(size_of_pair(100 << 32 | 7), 100);
        assert_eq!(size_of_pair((HUGE | 3 << 18) << 32), 3 << 30);
        for size in [1024, 1025, 3000, 1 << 20, (1 << 20) + 1, u64::MAX] {
            let rounded = layout::rounded(size);
            assert!(rounded >= size && rounded - size <= size / 8, "{size}: {rounded}");
        }
        assert_eq!((layout::rounded(1023), layout::rounded(1025)), (1023, 1152));
    }
}

//! Walks over the memory of a program after some of its bytes were changed. `tests/census_types.rs` and the fuzz target
//! share this.

use dwell_heap::json;
use dwell_heap::run::{At, Options, snapshots};
use dwell_heap::{Memory, Moment, Snapshot};
use dwell_heap::{Ran, Symbols};
use std::path::PathBuf;
use std::sync::Arc;

/// A snapshot taken at the exit of a program, with a copy of its memory.
pub(crate) struct Copied {
    symbols: Symbols,
    whole: Snapshot,
    /// The start addresses and contents of the whole pages that hold blocks or the executable, sorted by address.
    ranges: Arc<Vec<(u64, Vec<u8>)>>,
    /// The half-open address ranges that a walk may read: blocks and the executable. Sorted and disjoint.
    readable: Arc<Vec<(u64, u64)>>,
}

/// A change to the copied memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// Flips the given bits of the byte at an address.
    Flip(u64, u8),
    /// Writes a word at an address.
    Word(u64, u64),
}

impl Copied {
    /// Runs `executable` and copies its memory when it exits.
    pub(crate) fn new(executable: PathBuf, mode: &str, cache: PathBuf) -> Self {
        let options = Options { at: vec![At::Exit], cache: Some(cache), ..Options::default() };
        let mut run = snapshots(&executable, &[mode.into()], &options).expect("it runs");
        let ran = Ran { executable, own_crates: vec!["truth".into(), "crates".into()], ..Ran::default() };
        let symbols = Symbols::load(&ran, &mut run.snapshots).expect("it is read");
        let whole = run.snapshots.pop().expect("a snapshot");
        let module = (whole.modules[0].start, whole.modules[0].end);
        let mut pages: Vec<u64> =
            whole.blocks.iter().flat_map(|block| block.addr / 4096..=(block.addr + block.size) / 4096).collect();
        pages.extend(module.0 / 4096..module.1 / 4096);
        pages.sort_unstable();
        pages.dedup();
        let mut ranges: Vec<(u64, Vec<u8>)> = Vec::new();
        for page in pages {
            let mut bytes = vec![0; 4096];
            let read = whole.memory.read(page * 4096, &mut bytes);
            bytes.truncate(read);
            match ranges.last_mut() {
                Some((start, before)) if *start + before.len() as u64 == page * 4096 => before.extend(bytes),
                _ => ranges.push((page * 4096, bytes)),
            }
        }
        let mut readable: Vec<(u64, u64)> =
            whole.blocks.iter().map(|block| (block.addr, block.addr + block.size)).collect();
        readable.push(module);
        readable.sort_unstable();
        Self { symbols, whole, ranges: Arc::new(ranges), readable: Arc::new(readable) }
    }

    /// Returns the number of live bytes.
    #[allow(dead_code, reason = "the fuzz target does not use it")]
    pub(crate) fn live_bytes(&self) -> u64 {
        self.whole.live_bytes
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.whole.blocks.len()
    }

    /// Returns the address and the size of a block.
    pub(crate) fn block(&self, index: usize) -> (u64, u64) {
        let block = self.whole.blocks[index];
        (block.addr, block.size)
    }

    /// Walks over the memory with the given changes. The walk must not panic, must read only near blocks and the
    /// executable, and must count each block exactly once.
    pub(crate) fn check(&self, changes: &[Change], at: Moment) -> json::Snapshot {
        let whole = &self.whole;
        let mut bytes: Vec<(u64, u8)> = Vec::new();
        for change in changes {
            match *change {
                Change::Flip(addr, bits) => {
                    let mut byte = [0];
                    read(&self.ranges, addr, &mut byte);
                    bytes.push((addr, byte[0] ^ bits));
                }
                Change::Word(addr, word) => bytes.extend((addr..).zip(word.to_le_bytes())),
            }
        }
        // The last of several changes to a byte wins.
        bytes.reverse();
        bytes.sort_by_key(|(addr, _)| *addr);
        bytes.dedup_by_key(|(addr, _)| *addr);
        let memory = Changed { ranges: Arc::clone(&self.ranges), readable: Arc::clone(&self.readable), bytes };
        let snapshot = Snapshot {
            at,
            millis: 0,
            live_bytes: whole.live_bytes,
            live_blocks: whole.live_blocks,
            peak_bytes: whole.peak_bytes,
            blocks: whole.blocks.clone(),
            stacks: whole.stacks.clone(),
            modules: whole.modules.clone(),
            anonymous: Vec::new(),
            // Every eighth block stands in for a stack, in which the walk looks for values.
            roots: whole.blocks.iter().step_by(8).map(|block| (block.addr, block.addr + block.size / 8 * 8)).collect(),
            // Thread-local memory is not copied.
            threads: Vec::new(),
            usable: None,
            memory: Box::new(memory),
        };
        let read = self.symbols.look_at(&snapshot);
        let sum: u64 = read.blocks.iter().map(|row| row.bytes).sum();
        assert_eq!(sum, whole.live_bytes, "each block is counted once, whatever is in it");
        assert!(
            read.typed_bytes <= sum && read.owned_bytes <= sum,
            "{} and {} of {sum}",
            read.typed_bytes,
            read.owned_bytes
        );
        read
    }
}

/// The copied memory with some bytes changed.
struct Changed {
    ranges: Arc<Vec<(u64, Vec<u8>)>>,
    readable: Arc<Vec<(u64, u64)>>,
    /// The changed bytes by address, sorted.
    bytes: Vec<(u64, u8)>,
}

fn read(ranges: &[(u64, Vec<u8>)], addr: u64, into: &mut [u8]) -> usize {
    let Some(index) = ranges.partition_point(|(start, _)| *start <= addr).checked_sub(1) else { return 0 };
    let (start, bytes) = &ranges[index];
    let from = usize::try_from(addr - start).expect("an address of 64 bits");
    let Some(there) = bytes.get(from..) else { return 0 };
    let length = there.len().min(into.len());
    into[..length].copy_from_slice(&there[..length]);
    length
}

impl Memory for Changed {
    fn read(&self, addr: u64, into: &mut [u8]) -> usize {
        // The walk reads memory in aligned pieces of this size.
        const PIECE: u64 = 1 << 16;
        let (first, last) = (addr / PIECE * PIECE, addr.saturating_add(into.len() as u64).next_multiple_of(PIECE));
        let index = self.readable.partition_point(|(start, _)| *start < last);
        let end = index.checked_sub(1).map_or(0, |index| self.readable[index].1);
        assert!(into.is_empty() || end > first, "{} bytes from {addr:#x} are not near any block", into.len());
        let length = read(&self.ranges, addr, into);
        let from = self.bytes.partition_point(|(at, _)| *at < addr);
        for &(at, byte) in &self.bytes[from..] {
            let Some(slot) = usize::try_from(at - addr).ok().and_then(|index| into[..length].get_mut(index)) else {
                break;
            };
            *slot = byte;
        }
        length
    }
}

/// Words that are invalid as lengths, heights, and pointers.
const WORDS: [u64; 8] = [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 60, 1 << 47, 0xffff_ffff];

/// Decodes changes from arbitrary bytes, twelve for each: the kind of change, a block, an offset in the block, and a
/// value.
pub(crate) fn changes(copied: &Copied, bytes: &[u8]) -> Vec<Change> {
    let (records, _) = bytes.as_chunks::<12>();
    let change = |record: &[u8; 12]| {
        let number =
            |from: usize, len: usize| record[from..from + len].iter().rev().fold(0_u64, |n, &b| n << 8 | u64::from(b));
        let block = |index: u64| copied.block(usize::try_from(index).expect("a small number") % copied.blocks());
        let (addr, size) = block(number(1, 3));
        let offset = number(4, 3) % size.max(1);
        let word = addr + offset / 8 * 8;
        let (target, of_target) = block(number(7, 3));
        match record[0] % 6 {
            0 => Change::Flip(addr + offset, record[7].max(1)),
            1 => Change::Word(word, WORDS[usize::from(record[7]) % WORDS.len()]),
            2 => Change::Word(word, target),
            3 => Change::Word(word, target + number(10, 2) % (of_target + 1)),
            4 => Change::Word(word, number(7, 5)),
            _ => Change::Word(word, !number(7, 5)),
        }
    };
    records.iter().map(change).collect()
}

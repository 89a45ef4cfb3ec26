//! Cores with random changes: whatever their words are, they are read to the end without a panic.

use crate::running::{Running, build, churn, folder, gcore, ran, truth};
use dwell_heap::Symbols;
use dwell_heap::outside;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A random sequence that is the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}

#[test]
fn damaged_cores_are_read_to_the_end() {
    let running = Running::start(&mut Command::new(churn()), "", "damaged");
    let core = gcore(&running, "damaged");
    running.end();
    if let Some(core) = core {
        check(&core, churn(), 200);
    }
}

#[test]
fn damaged_cores_with_more_types_are_read_to_the_end() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "hold", "damaged-types");
    let core = gcore(&running, "damaged-types");
    drop(running);
    if let Some(core) = core {
        check(&core, exe, 16);
    }
}

#[test]
fn damaged_cores_with_mimalloc_are_read_to_the_end() {
    let mimalloc = "mimalloc = { version = \"0.1.52\", default-features = false }";
    let Some(exe) = build(mimalloc, "--cfg mimalloc") else { return };
    let running = Running::start(&mut Command::new(&exe), "hold", "damaged-mimalloc");
    let core = gcore(&running, "damaged-mimalloc");
    drop(running);
    if let Some(core) = core {
        check(&core, &exe, 16);
    }
}

/// Reads a core with some changes, again and again.
fn check(core: &Path, exe: &Path, rounds: u64) {
    let (mut whole, notes) = outside::open(core, None, None).expect("it is read").snapshot().expect("its heap is read");
    assert!(notes.is_empty() && whole.blocks.len() > 100, "{notes:?}");
    let symbols = Symbols::load(&ran(exe), std::slice::from_mut(&mut whole)).expect("debug info");
    symbols.settle(&mut whole);
    let addresses: Vec<u64> = whole.blocks.iter().map(|block| block.addr).collect();
    drop(whole);
    let file = File::options().read(true).write(true).open(core).expect("it is there");
    let segments = segments(&file);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut read, mut longest) = (0, Duration::ZERO);
    for round in 0..rounds {
        let mut before = Vec::new();
        for _ in 0..=random.below(8) {
            let (from, len) = segments[usize::try_from(random.below(segments.len() as u64)).expect("an index")];
            // The structures of allocators are at the start of a segment, and so are the headers of the file.
            let at = match random.below(8) {
                0 => random.below(4096),
                1..4 => from + random.below(len.min(4096)),
                _ => from + random.below(len),
            };
            let at = if random.below(4) == 0 { at } else { at & !7 };
            let mut word = [0; 8];
            file.read_exact_at(&mut word, at).unwrap_or_default();
            before.push((at, word));
            let some = addresses[usize::try_from(random.below(addresses.len() as u64)).expect("an index")];
            let word = match random.below(7) {
                0 => 0,
                1 => u64::MAX - random.below(64),
                2 => random.below(1 << 12),
                3 => some.wrapping_sub(16 * random.below(4)),
                4 => u64::from_le_bytes(word).wrapping_add(16 * random.below(9)).wrapping_sub(64),
                5 => u64::from_le_bytes(word) ^ 1 << random.below(64),
                _ => random.below(u64::MAX),
            };
            file.write_all_at(&word.to_le_bytes(), at).expect("it is written");
        }
        let start = Instant::now();
        let looked = catch_unwind(AssertUnwindSafe(|| {
            let Ok((mut snapshot, _)) = outside::open(core, Some(exe), None).and_then(outside::Captured::snapshot)
            else {
                return false;
            };
            let are_apart = snapshot.blocks.is_sorted_by(|a, b| a.addr + a.size <= b.addr);
            assert!(are_apart, "blocks overlap");
            // The walk takes longer, and reads damaged memory in other tests, too.
            if round % 8 == 0 {
                symbols.settle(&mut snapshot);
                symbols.look_at(&snapshot);
            }
            true
        }));
        let Ok(is_read) = looked else { panic!("round {round}: {before:x?}") };
        read += u64::from(is_read);
        longest = longest.max(start.elapsed());
        for (at, word) in before.iter().rev() {
            file.write_all_at(word, *at).expect("it is written");
        }
    }
    eprintln!("{}: {read} of {rounds} were read, each in {longest:?} at most", folder().join(core).display());
    assert!(read > rounds / 4 && longest < Duration::from_secs(60));
    fs::remove_file(core).expect("it is there");
}

/// Returns the offsets and lengths of the segments of a core.
fn segments(file: &File) -> Vec<(u64, u64)> {
    let word = |at: u64| {
        let mut bytes = [0; 8];
        file.read_exact_at(&mut bytes, at).expect("it is there");
        u64::from_le_bytes(bytes)
    };
    let (table, count) = (word(32), word(56) & 0xffff);
    let all = (0..count).map(|index| table + 56 * index).map(|at| (word(at + 8), word(at + 32)));
    all.filter(|(_, len)| *len > 0).collect()
}

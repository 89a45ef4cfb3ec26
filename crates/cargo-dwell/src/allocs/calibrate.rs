//! Measures on this machine what an allocation and its free cost, and what the places of this library cost instead.
//!
//! Times are the shortest of many rounds. Instructions are counted in a child process that is run step by step, because
//! virtual machines and containers seldom have hardware counters.

#![expect(clippy::cast_precision_loss, reason = "counts and times are far below 2^52")]

mod patterns;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod steps;

use patterns::Pattern;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What an operation costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The time in nanoseconds.
    pub nanos: f64,
    /// The number of instructions; 0 if they could not be counted.
    pub instructions: f64,
}

impl Cost {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos + other.nanos, instructions: self.instructions + other.instructions }
    }

    pub(super) fn times(self, count: f64) -> Self {
        Self { nanos: self.nanos * count, instructions: self.instructions * count }
    }

    /// Returns the difference, at least 0.
    fn less(self, other: Self) -> Self {
        Self {
            nanos: (self.nanos - other.nanos).max(0.0),
            instructions: (self.instructions - other.instructions).max(0.0),
        }
    }
}

/// Where a value lives instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A slot of the thread's pool: `pooled!`, `.pooled()`.
    Pool,
    /// Inside of a `SmallBox`.
    Inline,
    /// A slot of a slab of one thread.
    Slab,
    /// A slot of a slab that threads share.
    SyncSlab,
    /// An arena.
    Arena,
    /// A buffer that is cleared and filled again.
    Buffer,
    /// One more handle to a shared value.
    Shared,
    /// Nowhere: the value is borrowed, or exists already.
    Borrowed,
}

/// The costs of an allocator's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// Allocations by the depot that the block comes from: the thread's cache, a fast bin, the heap.
    pub allocate: [Cost; 3],
    /// Frees by the depot that the block goes to.
    pub free: [Cost; 3],
}

/// The costs on this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// glibc's allocator.
    pub glibc: Calls,
    /// mimalloc.
    pub mimalloc: Calls,
    /// The nanoseconds to copy 1 KiB.
    pub copy_kib: f64,
    /// A value's allocation and drop in each place.
    pub places: Vec<(Place, Cost)>,
    /// Whether instructions could be counted.
    pub has_instructions: bool,
}

impl Calibration {
    /// Measures all of it, in some tens of milliseconds.
    pub fn measure() -> Self {
        let counts = instructions(patterns::ALL);
        let zero = time(&patterns::EMPTY);
        let all: Vec<Vec<Cost>> = patterns::ALL
            .iter()
            .enumerate()
            .map(|(index, pattern)| {
                let times = time(pattern);
                let phases = times.iter().zip(&zero).enumerate();
                phases
                    .map(|(phase, (time, zero))| {
                        let instructions = counts.as_ref().and_then(|counts| counts.get(index)?.get(phase));
                        let cost = Cost {
                            nanos: (time - zero).max(0.0),
                            instructions: instructions.copied().unwrap_or(0) as f64,
                        };
                        cost.times(1.0 / pattern.blocks as f64)
                    })
                    .collect()
            })
            .collect();
        let of = |pattern: &Pattern| {
            let index = patterns::ALL.iter().position(|of| of.name == pattern.name).unwrap_or(0);
            let phase = |phase: usize| all[index].get(phase).copied().unwrap_or_default();
            (phase(0), phase(1))
        };
        let sum = |pattern: &Pattern| {
            let (make, drop) = of(pattern);
            make.plus(drop)
        };
        Self {
            glibc: calls(of(&patterns::GLIBC_CACHED), of(&patterns::GLIBC_FAST), of(&patterns::GLIBC_HEAP)),
            mimalloc: {
                let (make, drop) = of(&patterns::MIMALLOC);
                Calls { allocate: [make; 3], free: [drop; 3] }
            },
            copy_kib: time(&patterns::COPY).first().map_or(0.0, |nanos| nanos / patterns::COPY.blocks as f64),
            places: vec![
                (Place::Pool, sum(&patterns::POOL)),
                (Place::Inline, sum(&patterns::INLINE)),
                (Place::Slab, sum(&patterns::SLAB)),
                (Place::SyncSlab, sum(&patterns::SYNC_SLAB)),
                (Place::Arena, sum(&patterns::ARENA)),
                (Place::Buffer, sum(&patterns::BUFFER)),
                (Place::Shared, sum(&patterns::SHARED)),
                (Place::Borrowed, Cost::default()),
            ],
            has_instructions: counts.is_some(),
        }
    }

    /// Returns what a value costs in a place.
    pub fn place(&self, place: Place) -> Cost {
        self.places.iter().find(|(of, _)| *of == place).map(|(_, cost)| *cost).unwrap_or_default()
    }
}

/// Derives the cost of each call from patterns of many blocks.
///
/// glibc's cache takes the first seven blocks that are freed. When the cache is empty, an allocation takes a block from
/// the bin and moves seven more to the cache.
fn calls(cached: (Cost, Cost), fast: (Cost, Cost), heap: (Cost, Cost)) -> Calls {
    let blocks = patterns::BATCH as f64;
    let per_call = |all: Cost, others: f64, other: Cost| {
        let own = (blocks - others).max(1.0);
        all.times(blocks).less(other.times(others)).times(1.0 / own)
    };
    let refills = ((blocks - 7.0) / 8.0).ceil();
    Calls {
        allocate: [cached.0, per_call(fast.0, blocks - refills, cached.0), per_call(heap.0, 7.0, cached.0)],
        free: [cached.1, per_call(fast.1, 7.0, cached.1), per_call(heap.1, 7.0, cached.1)],
    }
}

/// Returns the shortest time of each phase in nanoseconds.
fn time(pattern: &Pattern) -> Vec<f64> {
    const ROUNDS: usize = 200;
    const MOST: Duration = Duration::from_millis(5);
    let started = Instant::now();
    let mut best: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let mut marks = Vec::with_capacity(4);
        (pattern.run)(&mut || marks.push(Instant::now()));
        let phases = marks.windows(2).map(|two| two[1].duration_since(two[0]).as_nanos() as f64);
        if best.is_empty() {
            best = phases.collect();
        } else {
            best.iter_mut().zip(phases).for_each(|(best, time)| *best = best.min(time));
        }
        if started.elapsed() > MOST {
            break;
        }
    }
    best
}

/// Returns the instructions of each phase of each pattern, without those of the marks; `None` if they cannot be counted.
fn instructions(all: &[Pattern]) -> Option<Vec<Vec<u64>>> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        steps::count(all)
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = all;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocator_costs_more_than_the_places_of_this_library() {
        let found = Calibration::measure();
        let pair = |depot: usize| found.glibc.allocate[depot].plus(found.glibc.free[depot]);
        let [cached, fast, heap] = [pair(0), pair(1), pair(2)];
        if found.has_instructions {
            // Without optimisation this library's places take more than they do in a release.
            assert!(cached.instructions > 20.0 && cached.instructions < 2000.0, "{found:?}");
            assert!(fast.instructions > cached.instructions && heap.instructions > cached.instructions, "{found:?}");
            assert!(found.place(Place::Arena).instructions > 0.0, "{found:?}");
        } else {
            eprintln!("skipped: no process can be run step by step here");
        }
        // Times depend on the load, so that only their existence is checked.
        assert!(cached.nanos > 0.0 && found.copy_kib > 0.0, "{found:?}");
    }
}

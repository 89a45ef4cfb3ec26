//! Measures on this machine what an allocation and its free cost, and what the places of the library `dwell` cost instead.
//!
//! `cargo dwell allocs` predicts with it. It is a crate because it is optimised in every profile: what is not optimised
//! predicts wrongly. `patterns.rs` has what is measured, `steps.rs` counts instructions. Times are the shortest of many rounds. Instructions are counted in a child process that is run step by step, because
//! virtual machines and containers seldom have hardware counters.

#![expect(clippy::cast_precision_loss, reason = "counts and times are far below 2^52")]

mod patterns;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod steps;

use patterns::{Counted, Pattern};
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
    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos + other.nanos, instructions: self.instructions + other.instructions }
    }

    /// Returns the cost of several.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { nanos: self.nanos * count, instructions: self.instructions * count }
    }

    /// Returns the difference, which may be below 0.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(other.times(-1.0))
    }

    /// Returns the cost with a time of at most that of another one.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self { nanos: self.nanos.min(other.nanos), ..self }
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
    /// A reallocation, without those of a block that it moves from or to if the allocator is glibc's.
    #[serde(default)]
    pub reallocate: Cost,
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
    /// What std does beside the allocator's calls when a vector grows.
    #[serde(default)]
    pub grown: Cost,
    /// What a map does for each entry when it grows.
    #[serde(default)]
    pub rehashed: Cost,
    /// The same when a short text is cloned.
    #[serde(default)]
    pub cloned: Cost,
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
        // The costs of a pattern's phases, for the numbers of values of both measures.
        let phases = |pattern: Counted| -> [Cost; 2] {
            let times = time(&patterns::ALL[pattern as usize]);
            let number = |phase: usize| Some(*counts.as_ref()?.get(pattern as usize)?.get(phase)? as f64);
            [0, 1].map(|phase| Cost {
                nanos: (times[phase] - zero[phase]).max(0.0),
                instructions: number(phase).unwrap_or(0.0),
            })
        };
        let per_value = |pattern: Counted, cost: Cost| Cost {
            nanos: cost.nanos / patterns::ALL[pattern as usize].timed as f64,
            instructions: cost.instructions / patterns::ALL[pattern as usize].counted as f64,
        };
        let each = |pattern: Counted| phases(pattern).map(|cost| per_value(pattern, cost));
        // The vector of the handles is not the allocator's.
        let without = |cost: [Cost; 2], base: [Cost; 2]| [cost[0].less(base[0]), cost[1].less(base[1])];
        let words = each(Counted::Words);
        let values = each(Counted::Values);
        let place = |pattern: Counted, base: [Cost; 2]| {
            let [make, drop] = without(each(pattern), base);
            make.plus(drop)
        };
        let mut cached = without(each(Counted::GlibcCached), words);
        let pair = (time(&patterns::GLIBC_PAIRS)[0] - zero[0]).max(0.0) / patterns::TIMED as f64;
        for cost in &mut cached {
            cost.nanos = pair / 2.0;
        }
        let [mimalloc, freed] = without(each(Counted::Mimalloc), words);
        let none = [Cost::default(); 2];
        let beside = |pattern: Counted| each(pattern)[0].less(each(Counted::Boxes)[0]);
        let resized = |pattern: Counted, [make, drop]: [Cost; 2]| each(pattern)[0].less(make.plus(drop));
        let fast = without(each(Counted::GlibcFast), words);
        let heap = without(each(Counted::GlibcHeap), words);
        let glibc = calls(cached, fast, heap, resized(Counted::GlibcResized, cached));
        let moves = resized(Counted::MimallocResized, [mimalloc, freed]);
        // Between a program and its allocator are functions of std. Which allocator this program has shows the smaller
        // difference that is one.
        let alone = [Counted::GlibcAlone, Counted::MimallocAlone];
        let differences = alone.map(|pattern| each(Counted::ByStd)[0].instructions - each(pattern)[0].instructions);
        let between = differences.into_iter().filter(|difference| *difference > 0.0).fold(f64::INFINITY, f64::min);
        let between = Cost { nanos: 0.0, instructions: if between.is_finite() { between } else { 0.0 } };
        let with_std = |calls: Calls| Calls { allocate: calls.allocate.map(|call| call.plus(between)), ..calls };
        Self {
            glibc: with_std(glibc),
            mimalloc: with_std(Calls { allocate: [mimalloc; 3], free: [freed; 3], reallocate: moves }),
            copy_kib: time(&patterns::COPY)[0] / (patterns::COPY.timed >> 10) as f64,
            grown: beside(Counted::Grown),
            rehashed: {
                let all = phases(Counted::Rehashed)[0].less(phases(Counted::Hashed)[0]);
                let [counted, timed] = patterns::REHASHED.map(|entries| entries as f64);
                Cost { nanos: all.nanos / timed, instructions: all.instructions / counted }
            },
            cloned: beside(Counted::Cloned),
            places: vec![
                (Place::Pool, place(Counted::Pool, values)),
                (Place::Inline, place(Counted::Inline, values)),
                (Place::Slab, place(Counted::Slab, values)),
                (Place::SyncSlab, place(Counted::SyncSlab, values)),
                (Place::Arena, place(Counted::Arena, [values[0], Cost::default()])),
                (Place::Buffer, place(Counted::Buffer, none)),
                (Place::Shared, place(Counted::Shared, words)),
                (Place::Borrowed, Cost::default()),
            ],
            has_instructions: counts.is_some(),
        }
    }

    /// Returns what a value costs in a place.
    pub fn place(&self, place: Place) -> Cost {
        self.places.iter().find(|(known, _)| *known == place).map(|(_, cost)| *cost).unwrap_or_default()
    }
}

/// Derives the cost of each call from patterns with many blocks.
///
/// glibc's cache takes the first seven blocks that are freed. When the cache is empty, an allocation takes a block from
/// the bin and moves seven more to the cache.
fn calls(cached: [Cost; 2], fast: [Cost; 2], heap: [Cost; 2], reallocate: Cost) -> Calls {
    // All calls of a pattern, of which `others` are from or to the cache.
    let own = |all: f64, calls: usize, others: f64, other: f64| {
        let own = (calls as f64 - others).max(1.0);
        ((all * calls as f64 - other * others) / own).max(0.0)
    };
    let refills = |calls: usize| calls as f64 - ((calls as f64 - 7.0) / 8.0).ceil();
    let call = |all: Cost, others: &dyn Fn(usize) -> f64, other: Cost| Cost {
        nanos: own(all.nanos, patterns::TIMED, others(patterns::TIMED), other.nanos),
        instructions: own(all.instructions, patterns::COUNTED, others(patterns::COUNTED), other.instructions),
    };
    let seven = |_: usize| 7.0;
    Calls {
        allocate: [cached[0], call(fast[0], &refills, cached[0]), call(heap[0], &seven, cached[0])],
        free: [cached[1], call(fast[1], &seven, cached[1]), call(heap[1], &seven, cached[1])],
        reallocate,
    }
}

/// Returns the shortest time of each of the two phases in nanoseconds.
fn time(pattern: &Pattern) -> [f64; 2] {
    const ROUNDS: usize = 200;
    /// The system may stop a round for longer than all of them take.
    const LEAST: usize = 16;
    const MOST: Duration = Duration::from_millis(4);
    let started = Instant::now();
    let mut best = [f64::INFINITY; 2];
    for round in 1..=ROUNDS {
        let mut marks = Vec::with_capacity(4);
        (pattern.run)(pattern.timed, &mut || marks.push(Instant::now()));
        for (best, two) in best.iter_mut().zip(marks.windows(2)) {
            *best = best.min(two[1].duration_since(two[0]).as_nanos() as f64);
        }
        if round >= LEAST && started.elapsed() > MOST {
            break;
        }
    }
    best
}

/// Returns the instructions of each phase of each pattern, without those of the marks; `None` if they cannot be counted.
fn instructions(all: &[Pattern]) -> Option<Vec<Vec<u64>>> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        steps::count(all)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
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
            assert!(cached.instructions > 20.0 && cached.instructions < 2000.0, "{found:?}");
            assert!(fast.instructions > cached.instructions && heap.instructions > cached.instructions, "{found:?}");
            assert!(found.place(Place::Arena).instructions > 0.0, "{found:?}");
            // In several units without LTO (`--release` with another profile) a place costs several times what it costs where it is used.
            let [inline, cached] = [found.place(Place::Inline).instructions, cached.instructions];
            assert!(inline < cached / 4.0, "{found:?}");
            assert!(found.grown.instructions > 0.0, "{found:?}");
            let resized = [found.glibc, found.mimalloc].map(|calls| calls.reallocate.instructions);
            assert!(resized.iter().all(|instructions| (10.0..2000.0).contains(instructions)), "{found:?}");
        } else {
            eprintln!("skipped: no process can be run step by step here");
        }
        // Times depend on the load, so that only their existence is checked.
        assert!(cached.nanos > 0.0 && found.copy_kib > 0.0, "{found:?}");
    }
}

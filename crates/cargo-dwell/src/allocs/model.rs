//! The costs of a site, from its counts, the costs of each call on this machine, and the measured time in the allocator.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and times are far below 2^52"
)]

use super::calibrate::{Calibration, Calls, Cost};
use super::document::Time;
use dwell_heap::profile::{Allocator, Counts, Pair, Profile};

/// The costs of pairs.
pub(super) struct Model<'c> {
    pub(super) calibration: &'c Calibration,
    /// The measured time in the allocator by the model's. A call in a program takes longer than one in a loop: its
    /// instructions and data are seldom in the caches.
    pub(super) scale: f64,
    is_sampled: bool,
}

/// The costs of some blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Costs {
    /// Of allocations and frees.
    pub(super) blocks: Cost,
    /// Of reallocations.
    pub(super) growth: Cost,
}

impl Costs {
    pub(super) fn total(self) -> Cost {
        self.blocks.plus(self.growth)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { blocks: self.blocks.plus(other.blocks), growth: self.growth.plus(other.growth) }
    }
}

/// The fewest samples in the allocator for which their number counts.
const FEWEST: u64 = 20;
/// The range around a prediction; docs/allocs.md has the programs for which it holds.
const LEAST: f64 = 0.5;
const MOST: f64 = 1.5;
/// The bounds of the scale: beyond these something else than the allocator was measured.
const SCALES: (f64, f64) = (0.25, 8.0);

impl<'c> Model<'c> {
    /// Returns the model, and the time of the run.
    pub(super) fn new(profile: &Profile, calibration: &'c Calibration) -> (Self, Time) {
        let mut model = Self { calibration, scale: 1.0, is_sampled: profile.sample != 0 };
        let all = profile.pairs.iter().fold(Costs::default(), |sum, pair| sum.plus(model.of(pair))).total();
        let mut time = Time {
            user: profile.user_nanos,
            system: profile.system_nanos,
            program: profile.user_nanos + profile.system_nanos,
            allocator: (all.nanos as u64).min(profile.user_nanos),
            by: "model".into(),
            why: profile.no_samples.clone(),
            samples: [0; 3],
            error: 0,
            model: all.nanos as u64,
            instructions: all.instructions as u64,
        };
        let Some(samples) = &profile.samples else { return (model, time) };
        time.samples = [samples.program, samples.allocator, samples.agent];
        let taken: u64 = time.samples.iter().sum();
        if samples.allocator < FEWEST {
            time.why = format!("the run is too short: {} samples are in the allocator", samples.allocator);
        }
        if taken == 0 {
            return (model, time);
        }
        let part = |samples: u64| profile.user_nanos as f64 * samples as f64 / taken as f64;
        time.program = part(samples.program + samples.allocator) as u64 + profile.system_nanos;
        if samples.allocator >= FEWEST && all.nanos > 0.0 {
            let measured = part(samples.allocator);
            time.allocator = measured as u64;
            time.by = "samples".into();
            time.error = (measured / (samples.allocator as f64).sqrt()) as u64;
            model.scale = (measured / all.nanos).clamp(SCALES.0, SCALES.1);
        } else {
            time.allocator = time.allocator.min(time.program);
        }
        (model, time)
    }

    /// Returns the costs of a pair by the calibration alone.
    pub(super) fn of(&self, pair: &Pair) -> Costs {
        self.of_counts(&pair.counts, pair.allocator)
    }

    fn calls(&self, allocator: Allocator) -> &Calls {
        match allocator {
            Allocator::Glibc => &self.calibration.glibc,
            // The others keep free lists as mimalloc does.
            Allocator::Mimalloc | Allocator::Jemalloc | Allocator::Executable => &self.calibration.mimalloc,
        }
    }

    fn of_counts(&self, counts: &Counts, allocator: Allocator) -> Costs {
        let calls = self.calls(allocator);
        let mut all = Cost::default();
        if self.is_sampled {
            // A sampled run does not see what the cache has.
            all = calls.allocate[0].times(counts.allocations as f64).plus(calls.free[0].times(counts.frees as f64));
        } else {
            for depot in 0..3 {
                all = all
                    .plus(calls.allocate[depot].times(counts.allocated[depot] as f64))
                    .plus(calls.free[depot].times(counts.freed[depot] as f64));
            }
        }
        let calls_of = counts.allocations + counts.frees + counts.reallocations + counts.replaced;
        // A block that moves is allocated and freed; its part of these costs belongs to the growth.
        let moved = if calls_of == 0 || self.is_sampled {
            0.0
        } else {
            let of_depots: u64 = counts.allocated.iter().chain(&counts.freed).sum();
            of_depots.saturating_sub(counts.allocations + counts.frees) as f64 / of_depots.max(1) as f64
        };
        let copied = Cost { nanos: self.calibration.copy_kib * counts.copied as f64 / 1024.0, instructions: 0.0 };
        let reallocated = calls.allocate[0].times(counts.reallocations as f64);
        Costs { blocks: all.times(1.0 - moved), growth: all.times(moved).plus(copied).plus(reallocated) }
    }

    /// Returns the measured time of a cost: at least, probably, at most.
    pub(super) fn range(&self, nanos: f64) -> [u64; 3] {
        let (plain, scaled) = (nanos, nanos * self.scale);
        let (low, high) = (plain.min(scaled), plain.max(scaled));
        [low * LEAST, scaled, high * MOST].map(|nanos| nanos.max(0.0) as u64)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums of small whole numbers are exact")]
mod tests {
    use super::*;
    use dwell_heap::profile::Samples;

    fn calibration() -> Calibration {
        let cost = |nanos: f64| Cost { nanos, instructions: nanos * 4.0 };
        let calls = Calls { allocate: [cost(10.0), cost(20.0), cost(40.0)], free: [cost(5.0), cost(10.0), cost(20.0)] };
        Calibration { glibc: calls, copy_kib: 50.0, ..Calibration::default() }
    }

    fn pair(counts: Counts) -> Pair {
        Pair { size: 48, stack: 0, allocator: Allocator::Glibc, run_stack: None, free_stack: None, counts }
    }

    #[test]
    fn misses_of_the_cache_cost_more() {
        let calibration = calibration();
        let profile = Profile::default();
        let (model, _) = Model::new(&profile, &calibration);
        let of = |allocated, freed| {
            let counts = Counts { allocations: 100, frees: 100, allocated, freed, ..Counts::default() };
            model.of(&pair(counts)).total().nanos
        };
        assert_eq!(of([100, 0, 0], [100, 0, 0]), 1500.0);
        assert_eq!(of([50, 0, 50], [50, 50, 0]), 500.0 + 2000.0 + 250.0 + 500.0);
    }

    #[test]
    fn moved_blocks_are_growth() {
        let calibration = calibration();
        let (model, _) = Model::new(&Profile::default(), &calibration);
        let counts = Counts {
            allocations: 10,
            frees: 10,
            reallocations: 10,
            replaced: 10,
            copied: 2048,
            allocated: [20, 0, 0],
            freed: [20, 0, 0],
            ..Counts::default()
        };
        let costs = model.of(&pair(counts));
        assert_eq!(costs.blocks.nanos, 150.0);
        assert_eq!(costs.growth.nanos, 150.0 + 100.0 + 100.0);
    }

    #[test]
    fn samples_scale_the_model_and_leave_out_the_agent() {
        let calibration = calibration();
        let counts =
            Counts { allocations: 100, frees: 100, allocated: [100, 0, 0], freed: [100, 0, 0], ..Counts::default() };
        let mut profile = Profile {
            pairs: vec![pair(counts)],
            user_nanos: 10_000,
            samples: Some(Samples { program: 50, allocator: 30, agent: 20 }),
            ..Profile::default()
        };
        let (model, time) = Model::new(&profile, &calibration);
        assert_eq!((time.program, time.allocator, time.model, &*time.by), (8000, 3000, 1500, "samples"));
        assert_eq!(model.scale, 2.0);
        assert_eq!(model.range(100.0), [50, 200, 300]);
        profile.samples = Some(Samples { program: 50, allocator: 3, agent: 20 });
        assert_eq!(Model::new(&profile, &calibration).1.by, "model");
    }
}

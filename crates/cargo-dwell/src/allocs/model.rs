//! The costs of a site, from its counts, the costs of each call on this machine, and the measured time in the allocator.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and times are far below 2^52"
)]

use super::document::{Again, Time};
use dwell_calibrate::{Calibration, Calls, Cost};
use dwell_heap::profile::{Allocator, Counts, Pair, Profile};

/// The costs of pairs.
pub(super) struct Model<'c> {
    pub(super) calibration: &'c Calibration,
    /// The measured time in the allocator by the model's. A call in a program takes longer than one in a loop: its
    /// instructions and data are seldom in the caches.
    pub(super) scale: f64,
    /// The same for mimalloc, if the program ran under it.
    other: Option<Other>,
    is_sampled: bool,
}

/// The program under the other allocator.
struct Other {
    scale: f64,
    /// Its processor time.
    program: u64,
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

/// The fewest samples for which their number counts.
const FEWEST: u64 = 20;
/// The range around a prediction; bench/results/allocs.md has the programs for which it holds.
const LEAST: f64 = 0.5;
const MOST: f64 = 1.5;
/// The most of the scale: beyond it something else than the allocator was measured.
const MOST_SCALE: f64 = 8.0;

impl<'c> Model<'c> {
    /// Returns the model, and the time of the run.
    pub(super) fn new(profile: &Profile, calibration: &'c Calibration, again: &Again) -> (Self, Time) {
        // The measured time is that of the whole run.
        let pairs = if profile.whole.is_empty() { &profile.pairs } else { &profile.whole };
        let mut model = Self { calibration, scale: 1.0, other: None, is_sampled: profile.sample != 0 };
        let all = pairs.iter().fold(Costs::default(), |sum, pair| sum.plus(model.costs(pair))).total();
        let recorded = profile.user_nanos + profile.system_nanos;
        let mut time = Time {
            user: profile.user_nanos,
            system: profile.system_nanos,
            program: if again.nanos[0] > 0 { again.nanos[0] } else { recorded },
            by: "model".into(),
            why: profile.no_samples.clone(),
            model: all.nanos as u64,
            instructions: all.instructions as u64,
            ..Time::default()
        };
        if let Some(samples) = &profile.samples {
            time.samples = [samples.program, samples.allocator, samples.agent];
        }
        let [of_program, of_allocator, of_agent] = time.samples;
        let taken = of_program + of_allocator + of_agent;
        let part = |samples: u64| profile.user_nanos as f64 * samples as f64 / taken.max(1) as f64;
        // One sample of a short run says nothing: it may be the agent's.
        if again.nanos[0] == 0 && taken >= FEWEST {
            time.program = part(of_program + of_allocator) as u64 + profile.system_nanos;
        }
        let (measured, samples) = if again.samples[0] >= FEWEST {
            time.by = "plain".into();
            (again.allocator[0] as f64, again.samples[0])
        } else if of_allocator >= FEWEST {
            time.by = "samples".into();
            // Recording slows the program and its allocator alike.
            let slower = (part(of_program + of_allocator) + profile.system_nanos as f64) / time.program.max(1) as f64;
            (part(of_allocator) / slower.max(1.0), of_allocator)
        } else {
            if profile.samples.is_some() {
                time.why = format!(
                    "the run is too short: {} samples are in the allocator",
                    again.samples[0].max(of_allocator)
                );
            }
            (all.nanos.min(time.program as f64), 0)
        };
        time.allocator = measured as u64;
        if all.nanos > 0.0 {
            let most = if time.by == "model" { 1.0 } else { MOST_SCALE };
            model.scale = (measured / all.nanos).min(most);
        }
        if samples > 0 {
            time.error = (measured / (samples as f64).sqrt()) as u64;
        }
        model.other = (!again.other.is_empty()).then(|| {
            let all = pairs.iter().fold(Costs::default(), |sum, pair| sum.plus(model.of_other(pair))).total();
            let is_measured = again.samples[1] >= FEWEST && all.nanos > 0.0;
            let scale = if is_measured { again.allocator[1] as f64 / all.nanos } else { model.scale };
            Other { scale: scale.min(MOST_SCALE), program: again.nanos[1] }
        });
        (model, time)
    }

    /// Returns the costs of a pair by the calibration alone.
    pub(super) fn costs(&self, pair: &Pair) -> Costs {
        self.of_counts(&pair.counts, self.calls(pair.allocator))
    }

    /// Returns those under mimalloc.
    pub(super) fn of_other(&self, pair: &Pair) -> Costs {
        self.of_counts(&pair.counts, &self.calibration.mimalloc)
    }

    fn calls(&self, allocator: Allocator) -> &Calls {
        match allocator {
            Allocator::Glibc => &self.calibration.glibc,
            // The others keep free lists as mimalloc does.
            Allocator::Mimalloc | Allocator::Jemalloc | Allocator::Executable => &self.calibration.mimalloc,
        }
    }

    fn of_counts(&self, counts: &Counts, calls: &Calls) -> Costs {
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
        let reallocated = calls.reallocate.times(counts.reallocations as f64);
        Costs { blocks: all.times(1.0 - moved), growth: all.times(moved).plus(copied).plus(reallocated) }
    }

    /// Returns the measured time of a cost in the allocator, and of one beside it: at least, probably, at most.
    pub(super) fn range(&self, nanos: f64, beside: f64) -> [u64; 3] {
        let scaled = nanos.max(0.0) * self.scale + beside;
        [scaled * LEAST, scaled, scaled * MOST].map(|nanos| nanos as u64)
    }

    /// Returns the part of the program's time under the other allocator in the same way, in per cent; below 0 if it costs more.
    pub(super) fn range_of_other(&self, nanos: f64, beside: f64) -> Option<[f64; 3]> {
        let other = self.other.as_ref().filter(|other| other.program > 0)?;
        let percent = (nanos * other.scale + beside) * 100.0 / other.program as f64;
        let [low, high] = if percent < 0.0 { [MOST, LEAST] } else { [LEAST, MOST] };
        Some([percent * low, percent, percent * high].map(|percent| percent.min(100.0)))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums of small whole numbers are exact")]
mod tests {
    use super::*;
    use dwell_heap::profile::Samples;

    fn calibration() -> Calibration {
        let cost = |nanos: f64| Cost { nanos, instructions: nanos * 4.0 };
        let calls = Calls {
            allocate: [cost(10.0), cost(20.0), cost(40.0)],
            free: [cost(5.0), cost(10.0), cost(20.0)],
            reallocate: cost(10.0),
        };
        Calibration { glibc: calls, copy_kib: 50.0, ..Calibration::default() }
    }

    fn pair(counts: Counts) -> Pair {
        Pair { size: 48, stack: 0, allocator: Allocator::Glibc, run_stack: None, free_stack: None, counts }
    }

    #[test]
    fn misses_of_the_cache_cost_more() {
        let calibration = calibration();
        let profile = Profile::default();
        let (model, _) = Model::new(&profile, &calibration, &Again::default());
        let nanos = |allocated, freed| {
            let counts = Counts { allocations: 100, frees: 100, allocated, freed, ..Counts::default() };
            model.costs(&pair(counts)).total().nanos
        };
        assert_eq!(nanos([100, 0, 0], [100, 0, 0]), 1500.0);
        assert_eq!(nanos([50, 0, 50], [50, 50, 0]), 500.0 + 2000.0 + 250.0 + 500.0);
    }

    #[test]
    fn moved_blocks_are_growth() {
        let calibration = calibration();
        let (model, _) = Model::new(&Profile::default(), &calibration, &Again::default());
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
        let costs = model.costs(&pair(counts));
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
        let (model, time) = Model::new(&profile, &calibration, &Again::default());
        assert_eq!((time.program, time.allocator, time.model, &*time.by), (8000, 3000, 1500, "samples"));
        assert_eq!(model.scale, 2.0);
        assert_eq!(model.range(100.0, 0.0), [100, 200, 300]);
        // A region of the run has the scale of all of it.
        let mut region = profile.clone();
        region.whole = std::mem::take(&mut region.pairs);
        assert_eq!(Model::new(&region, &calibration, &Again::default()).0.scale, 2.0);
        profile.samples = Some(Samples { program: 50, allocator: 3, agent: 20 });
        assert_eq!(Model::new(&profile, &calibration, &Again::default()).1.by, "model");
        // The one sample of a short run is the agent's.
        profile.samples = Some(Samples { program: 0, allocator: 0, agent: 1 });
        assert_eq!(Model::new(&profile, &calibration, &Again::default()).1.program, 10_000);
        // A plain run knows better.
        let again = Again { nanos: [4000, 2000], allocator: [750, 300], samples: [40, 30], ..Again::default() };
        let (model, time) = Model::new(&profile, &calibration, &again);
        assert_eq!((time.program, time.allocator, &*time.by, model.scale), (4000, 750, "plain", 0.5));
        assert_eq!(model.range_of_other(100.0, 0.0), None, "nothing was compared");
    }

    #[test]
    fn savings_under_the_other_allocator_are_scaled_by_its_own_time() {
        let mut calibration = calibration();
        calibration.mimalloc.allocate = [Cost { nanos: 2.0, instructions: 8.0 }; 3];
        calibration.mimalloc.free = [Cost { nanos: 1.0, instructions: 4.0 }; 3];
        let counts =
            Counts { allocations: 100, frees: 100, allocated: [100, 0, 0], freed: [100, 0, 0], ..Counts::default() };
        let profile = Profile { pairs: vec![pair(counts)], user_nanos: 10_000, ..Profile::default() };
        let (nanos, allocator) = ([8000, 5000], [3000, 600]);
        let again = Again { other: "mimalloc".into(), nanos, allocator, samples: [30, 30], ..Again::default() };
        let (model, _) = Model::new(&profile, &calibration, &again);
        let nanos = model.of_other(&profile.pairs[0]).total().nanos;
        assert_eq!((nanos, model.scale), (300.0, 2.0));
        assert_eq!(model.range_of_other(nanos, 0.0), Some([6.0, 12.0, 18.0]));
        assert_eq!(model.range_of_other(-50.0, 0.0), Some([-3.0, -2.0, -1.0]));
    }
}

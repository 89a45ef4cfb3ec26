//! What the program costs before and after a change, and whether the difference is one.

use super::super::proof::{Bench, Measured, Seen, ratios};
use anyhow::Result;
use clap::ValueEnum;
use dwell_output::units;
use serde::{Deserialize, Serialize};

/// What a change has to improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Goal {
    /// Live bytes at the peak; for another allocator, resident bytes.
    Memory,
    /// CPU time.
    Time,
}

/// The least share of what the program costs that a change has to save.
pub(super) const LEAST: f64 = 0.01;
/// The largest share by which it may make worse what it is not made for.
const WORSE: f64 = 0.02;
/// The same for what a goal says nothing about.
const WORSE_BESIDE_GOAL: f64 = 0.10;
/// Without a goal, what it saves may cost this part of that share.
const TRADE: f64 = 0.25;

/// The resident bytes that another allocator takes for itself, whatever the program holds: mimalloc has some 5 MB more than glibc in a
/// program that allocates nothing.
const OF_ALLOCATOR: u64 = 8 << 20;

/// How much equal runs of the program differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Noise {
    /// Live bytes at the peak.
    pub(super) live: u64,
    /// The median distance of a ratio of CPU times from 1.
    pub(super) cpu: f64,
    /// The median difference of the resident bytes of a pair.
    pub(super) resident: f64,
    /// The same for instructions; `None`: nothing counts them.
    pub(super) instructions: Option<f64>,
}

impl Noise {
    /// Returns by how much runs of one program differ.
    pub(super) fn of(runs: &[[Seen; 2]], live: [u64; 2], instructions: Option<[u64; 2]>) -> Self {
        // One of five pairs may be far off.
        let mut apart: Vec<f64> = ratios(runs).iter().map(|ratio| (ratio - 1.0).abs()).collect();
        apart.sort_by(f64::total_cmp);
        let ends = |all: &[u64]| {
            let (least, most) = (all.iter().min().copied()?, all.iter().max().copied()?);
            Some((most - least) as f64 / (least as f64).max(1.0))
        };
        // A run may end before anything, or all, is seen of it.
        let resident = |pair: &[Seen; 2]| Some(pair.map(|run| run.usage.resident)).filter(|seen| !seen.contains(&0));
        let mut resident: Vec<f64> = runs.iter().filter_map(resident).filter_map(|seen| ends(&seen)).collect();
        resident.sort_by(f64::total_cmp);
        Self {
            live: live[0].abs_diff(live[1]),
            cpu: apart.get(apart.len() / 2).copied().unwrap_or_default(),
            resident: resident.get(resident.len() / 2).copied().unwrap_or_default(),
            instructions: instructions.and_then(|both| ends(&both)),
        }
    }
}

/// What the program costs with a change, beside before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Gain {
    /// Live bytes at the peak, before and after.
    pub(super) live: [u64; 2],
    /// The most resident bytes, the median of several runs.
    pub(super) resident: [u64; 2],
    /// The ratios of CPU times of pairs of runs, in order of size. Runs that are too short have none.
    pub(super) cpu: Vec<f64>,
    /// The ratio of the fastest runs.
    pub(super) fastest: Option<f64>,
    /// The instructions of a run in user mode, before and after; `None`: nothing counts them.
    #[serde(default)]
    pub(super) instructions: Option<[u64; 2]>,
    /// What a run shows that it did not show before; none if equal runs differ in it too.
    pub(super) differs: Option<String>,
}

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// Types and places of the program.
    Code,
    /// The allocator: live bytes stay, resident ones do not.
    Allocator,
}

impl Gain {
    /// Measures two builds of the program.
    ///
    /// # Errors
    /// Returns an error if one cannot be run.
    pub(super) fn measure(bench: &Bench<'_>, before: &Measured, after: &Measured) -> Result<Self> {
        let pairs = bench.pairs(&before.executable, &after.executable)?;
        let resident = |side: usize| {
            let mut all: Vec<u64> = pairs.iter().map(|pair| pair[side].usage.resident).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or_default()
        };
        let mut gain = Self {
            live: [before.live_bytes, after.live_bytes],
            resident: [resident(0), resident(1)],
            cpu: ratios(&pairs),
            fastest: fastest(&pairs),
            instructions: counted(&pairs),
            differs: differs(&pairs),
        };
        // Valgrind takes long: only what may be faster is worth it.
        if gain.instructions.is_none() && gain.median().is_some_and(|median| median < 1.0 - LEAST / 2.0) {
            let of = |program: &Measured, side: usize| bench.instructions(program, pairs.first()?[side].usage);
            gain.instructions = of(before, 0).zip(of(after, 1)).map(|(before, after)| [before, after]);
        }
        Ok(gain)
    }

    /// Returns the median of the ratios of CPU times.
    pub(super) fn median(&self) -> Option<f64> {
        self.cpu.get(self.cpu.len() / 2).copied()
    }

    /// Returns the share of the CPU time that is saved. Runs of a second or less have slow ones among them: the median of the pairs and the
    /// fastest runs must agree, and all pairs but one.
    pub(super) fn saved_time(&self) -> f64 {
        let (Some(median), Some(fastest)) = (self.median(), self.fastest) else { return 0.0 };
        let [median, fastest] = [1.0 - median, 1.0 - fastest];
        let less = if median.abs() < fastest.abs() { median } else { fastest };
        let but_one = usize::from(self.cpu.len() > 3);
        let others = self.cpu.iter().filter(|ratio| (1.0 - **ratio) * less <= 0.0).count();
        if median * fastest > 0.0 && others <= but_one { less } else { 0.0 }
    }

    /// Returns `Err` with the reason if the change does not pay.
    pub(super) fn judge(&self, about: About, goal: Option<Goal>, noise: Noise) -> Result<(), String> {
        if let Some(differs) = &self.differs {
            return Err(differs.clone());
        }
        let share = |[before, after]: [u64; 2]| (before as f64 - after as f64) / (before as f64).max(1.0);
        // By how much less it is, and how much of that may be noise.
        let memory = match about {
            About::Code => (share(self.live), noise.live as f64 / (self.live[0] as f64).max(1.0)),
            About::Allocator => (share(self.resident), noise.resident),
        };
        let is_better = |(share, noise): (f64, f64)| share >= LEAST.max(noise);
        let mut time = (self.saved_time(), noise.cpu);
        // Instructions differ less than time does. Fewer that take as long are no gain.
        let work = (self.instructions.map(share), noise.instructions);
        if let (Some(work), Some(noise), Some(median)) = (work.0, work.1, self.median())
            && is_better((work, noise))
            && !is_better(time)
            && time.0 >= 0.0
            && median < 1.0
        {
            time = (work.min(1.0 - median), noise);
        }
        let is_worse = |(share, noise): (f64, f64), most: f64| -share > most.max(noise);
        let (gains, other, most) = match goal {
            Some(Goal::Memory) => (is_better(memory), ("CPU time", time), WORSE_BESIDE_GOAL),
            Some(Goal::Time) => (is_better(time), ("memory", memory), WORSE_BESIDE_GOAL),
            None if is_better(memory) => (true, ("CPU time", time), WORSE.max(memory.0 * TRADE)),
            None => (is_better(time), ("memory", memory), WORSE.max(time.0 * TRADE)),
        };
        if !gains {
            let is_some = memory.0 >= LEAST || time.0 >= LEAST;
            return Err(if is_some { "not more than two equal runs differ" } else { "saves nothing" }.to_owned());
        }
        let [before, after] = self.resident;
        let is_own = about == About::Allocator && other.0 == "memory" && after.saturating_sub(before) <= OF_ALLOCATOR;
        if is_worse(other.1, most) && !is_own {
            return Err(format!("{} gets worse by {:.0} %", other.0, -other.1.0 * 100.0));
        }
        // Blocks of another size class may need more pages.
        let resident = (share(self.resident), noise.resident);
        if about == About::Code && goal != Some(Goal::Time) && is_worse(resident, WORSE_BESIDE_GOAL) {
            return Err("more bytes are resident".to_owned());
        }
        Ok(())
    }

    /// Returns the numbers in words.
    pub(super) fn words(&self) -> String {
        let mut all = Vec::new();
        let [before, after] = self.live;
        if before != after {
            let share = units::percent(before.abs_diff(after), before);
            let sign = if after < before { "-" } else { "+" };
            all.push(format!("live bytes {} to {} ({sign}{share})", units::bytes(before), units::bytes(after)));
        } else if before > 0 {
            all.push("live bytes as before".to_owned());
        }
        let [before, after] = self.resident;
        if before.abs_diff(after) > before / 100 {
            all.push(format!("resident {} to {}", units::bytes(before), units::bytes(after)));
        }
        if let (Some(least), Some(median), Some(most)) = (self.cpu.first(), self.median(), self.cpu.last()) {
            all.push(format!("CPU time {median:.2} of before ({least:.2} to {most:.2})"));
        }
        if let Some([before, after]) = self.instructions {
            all.push(format!("instructions {:.2}", after as f64 / (before as f64).max(1.0)));
        }
        all.join(", ")
    }
}

/// Returns the medians of the instructions of two builds.
pub(super) fn counted(pairs: &[[Seen; 2]]) -> Option<[u64; 2]> {
    let median = |side: usize| {
        let mut all: Vec<u64> = pairs.iter().filter_map(|pair| pair[side].usage.instructions).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().filter(|count| *count > 0)
    };
    Some([median(0)?, median(1)?])
}

/// Returns the ratio of the fastest runs of two builds.
fn fastest(pairs: &[[Seen; 2]]) -> Option<f64> {
    let least = |side: usize| pairs.iter().map(|pair| pair[side].usage.cpu()).min().filter(|time| !time.is_zero());
    Some(least(1)?.as_secs_f64() / least(0)?.as_secs_f64())
}

/// Returns what all runs of one build show and all of the other do not.
fn differs(pairs: &[[Seen; 2]]) -> Option<String> {
    let [before, after] = *pairs.first()?;
    let is_always = |test: &dyn Fn(&Seen) -> bool, index: usize| pairs.iter().all(|pair| test(&pair[index]));
    if before.status != after.status && is_always(&|seen| seen.status == before.status, 0) {
        return Some(format!("the program ends with {}, before with {}", after.status, before.status));
    }
    // One pair does not tell whether equal runs print the same.
    let is_same = pairs.len() > 1 && is_always(&|seen| seen.printed == before.printed, 0);
    (is_same && !is_always(&|seen| seen.printed == before.printed, 1))
        .then(|| "the program prints something else".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::Usage;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn gain(live: [u64; 2], resident: [u64; 2], cpu: f64) -> Gain {
        Gain { live, resident, cpu: vec![cpu], fastest: Some(cpu), ..Gain::default() }
    }

    const NOISE: Noise = Noise { live: 100, cpu: 0.03, resident: 0.02, instructions: Some(0.001) };

    #[test]
    fn a_gain_is_more_than_equal_runs_differ() {
        let code = |gain: &Gain, goal| gain.judge(About::Code, goal, NOISE).is_ok();
        let less = gain([10_000, 9_000], [20_000, 19_000], 1.0);
        assert!(code(&less, None) && code(&less, Some(Goal::Memory)) && !code(&less, Some(Goal::Time)));
        // One per cent is what two equal runs may differ by.
        assert!(!code(&gain([10_000, 9_950], [20_000, 20_000], 0.98), None));
        assert!(!code(&gain([10_000, 10_000], [20_000, 20_000], 0.98), None));
        assert!(code(&gain([10_000, 10_000], [20_000, 20_000], 0.95), None));
        let pairs = |cpu: &[f64]| Gain { cpu: cpu.to_vec(), ..gain([10_000, 10_000], [20_000, 20_000], 0.9) };
        assert!(code(&pairs(&[0.8, 0.9, 0.94, 0.96, 1.1]), None) && !code(&pairs(&[0.8, 0.9, 0.94, 1.02, 1.1]), None));
    }

    #[test]
    fn instructions_decide_where_times_differ_more() {
        let with = |cpu: f64, instructions: Option<[u64; 2]>| {
            let gain = Gain { instructions, ..gain([10_000; 2], [20_000; 2], cpu) };
            gain.judge(About::Code, Some(Goal::Time), NOISE).is_ok()
        };
        assert!(!with(0.98, None) && with(0.98, Some([1000, 960])));
        // No fewer, or as long as before.
        assert!(!with(0.98, Some([1000, 995])) && !with(1.0, Some([1000, 900])) && !with(1.05, Some([1000, 900])));
        // Less waiting for memory needs no fewer instructions.
        assert!(with(0.9, Some([1000, 1000])));
        let text = Gain { instructions: Some([1000, 960]), ..gain([0; 2], [0; 2], 0.98) }.words();
        assert!(text.ends_with(", instructions 0.96"), "{text}");
        let seen = |count| {
            let usage = Usage { instructions: Some(count), ..Usage::default() };
            Seen { usage, status: ExitStatus::from_raw(0), printed: 0 }
        };
        let pairs = [[seen(10), seen(7)], [seen(12), seen(8)], [seen(11), seen(9)]];
        assert_eq!(counted(&pairs), Some([11, 8]));
    }

    #[test]
    fn noise_is_that_of_what_was_seen() {
        let seen = |resident, millis| {
            let user = std::time::Duration::from_millis(millis);
            let usage = Usage { user, resident, ..Usage::default() };
            Seen { usage, status: ExitStatus::from_raw(0), printed: 0 }
        };
        let noise =
            Noise::of(&[[seen(0, 100), seen(100, 102)], [seen(110, 100), seen(100, 100)]], [7, 9], Some([200, 202]));
        assert_eq!((noise.live, noise.resident, noise.instructions), (2, 0.1, Some(0.01)));
        assert!(noise.cpu <= 0.021);
        assert_eq!(Noise::of(&[], [0; 2], None), Noise::default());
        // One run of ten was seen too early: another allocator that takes more memory is no gain for it.
        let mut pairs = vec![[seen(100, 100), seen(101, 100)]; 5];
        pairs[1][0] = seen(26, 100);
        assert!((Noise::of(&pairs, [0; 2], None).resident - 0.01).abs() < 1e-9);
    }

    #[test]
    fn slow_runs_decide_nothing() {
        let gain = Gain { cpu: vec![0.99, 1.1, 1.4, 1.4, 1.5], ..gain([10_000, 9_000], [20_000, 20_000], 1.01) };
        assert!((gain.saved_time() + 0.01).abs() < 1e-9 && gain.judge(About::Code, None, NOISE).is_ok());
        assert!(Gain { fastest: Some(0.98), ..gain }.saved_time().abs() < 1e-9);
    }

    #[test]
    fn what_gets_worse_is_a_reason() {
        let slower = gain([10_000, 9_000], [20_000, 19_000], 1.05);
        let why = slower.judge(About::Code, None, NOISE).unwrap_err();
        assert_eq!(why, "CPU time gets worse by 5 %");
        assert!(slower.judge(About::Code, Some(Goal::Memory), NOISE).is_ok());
        // Half of the bytes are worth more than a tenth.
        assert!(gain([10_000, 5_000], [20_000, 15_000], 1.05).judge(About::Code, None, NOISE).is_ok());
        let larger = gain([10_000, 10_000], [20 << 20, 29 << 20], 0.7);
        assert!(larger.judge(About::Allocator, None, NOISE).unwrap_err().starts_with("memory"));
        // What the allocator takes for itself is none of the program.
        let own = gain([10_000, 10_000], [2 << 20, 7 << 20], 0.7);
        assert!(own.judge(About::Allocator, None, NOISE).is_ok() && own.judge(About::Code, None, NOISE).is_err());
        assert!(own.judge(About::Allocator, Some(Goal::Memory), NOISE).is_err());
        assert!(larger.judge(About::Allocator, Some(Goal::Memory), NOISE).is_err());
        let pages = gain([10_000, 9_000], [20_000, 30_000], 1.0);
        assert_eq!(pages.judge(About::Code, None, NOISE).unwrap_err(), "more bytes are resident");
    }

    #[test]
    fn numbers_are_said_with_their_range() {
        let words = Gain { cpu: vec![0.9, 1.0, 1.25], ..gain([2_000, 1_000], [5_000, 5_000], 1.0) }.words();
        assert_eq!(words, "live bytes 2.0 kB to 1.0 kB (-50.0 %), CPU time 1.00 of before (0.90 to 1.25)");
    }

    #[test]
    fn what_a_run_shows_stays() {
        let seen = |code: i32, printed: u64| Seen {
            usage: Usage::default(),
            status: ExitStatus::from_raw(code << 8),
            printed,
        };
        let differs = |all: &[[(i32, u64); 2]]| {
            let all: Vec<[Seen; 2]> = all.iter().map(|pair| pair.map(|(code, printed)| seen(code, printed))).collect();
            super::differs(&all)
        };
        assert_eq!(differs(&[[(0, 1), (0, 1)], [(0, 1), (0, 1)]]), None);
        assert!(differs(&[[(0, 1), (1, 1)]]).unwrap().contains("exit status: 1, before with exit status: 0"));
        assert_eq!(differs(&[[(0, 1), (0, 2)], [(0, 1), (0, 2)]]).unwrap(), "the program prints something else");
        // The order of a hash map, or a time.
        assert_eq!(differs(&[[(0, 1), (0, 2)], [(0, 3), (0, 4)]]), None);
        assert_eq!(differs(&[[(0, 1), (0, 2)]]), None);
    }
}

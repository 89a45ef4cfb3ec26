//! The program runs again without recording: what its time is, what the allocator takes of it, and what mimalloc alone gives.

use super::document::Again;
use crate::allocators::{Pairs, Preload, Program, Run};
use crate::processes;
use crate::program::user_cache;
use anyhow::{Result, bail};
use dwell_heap::profile::{Allocator, Profile};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The most pairs, and the time after which no further one begins.
const PAIRS: usize = 7;
const BUDGET: Duration = Duration::from_secs(8);
/// The longest run that is repeated, in milliseconds with recording.
const LONGEST: u64 = 120_000;
/// The shortest run that is compared, in nanoseconds.
const SHORTEST: u64 = 10_000_000;
/// A run that takes so many times as long as the recorded one was another one, beside so many nanoseconds.
const OTHER: u64 = 2;
const SLACK: u64 = 100_000_000;

/// Runs a program that was recorded again. `counts` also counts its instructions.
pub(super) fn run(file: &Path, arguments: &[OsString], profile: &Profile, cache: Option<&Path>, counts: bool) -> Again {
    if profile.code > 128 {
        return none("a signal ended the program");
    }
    if profile.millis > LONGEST {
        return none("the run takes minutes");
    }
    eprintln!("note: the program runs again without recording, plain and under mimalloc; --once leaves that out");
    processes::watch_signals();
    let bound = Duration::from_millis(profile.millis * 4 + 5000);
    let program = Program { file, arguments, bound };
    processes::interruptible(|| measured(&program, profile, cache, counts))
        .unwrap_or_else(|error| none(&error.to_string()))
}

/// Returns why there were no such runs.
pub(super) fn none(why: &str) -> Again {
    Again { why: why.to_owned(), ..Again::default() }
}

fn measured(program: &Program<'_>, profile: &Profile, cache: Option<&Path>, counts: bool) -> Result<Again> {
    let plain = program.run(None)?;
    if plain.code != profile.code {
        bail!("run again, the program ended with {} instead of {}", plain.code, profile.code);
    }
    if plain.nanos() > (profile.user_nanos + profile.system_nanos) * OTHER + SLACK {
        bail!("run again, the program did something else: it took longer than with recording");
    }
    let own = own_allocator(profile).map(|own| format!("the program has {own}"));
    let is_short = plain.nanos() < SHORTEST;
    let own = own.or_else(|| is_short.then(|| "the program ends in 10 ms, as long as an allocator starts".to_owned()));
    let folder = user_cache();
    let other = match own {
        Some(own) => Err(anyhow::anyhow!(own)),
        None => Preload::mimalloc(folder.as_deref().or(cache)),
    };
    let compared = other.and_then(|other| Ok((program.pairs(&other, PAIRS, BUDGET)?, other)));
    let (pairs, other, why) = match compared {
        Ok((pairs, other)) => (pairs, Some(other), String::new()),
        Err(error) => (Pairs(vec![[plain, plain]]), None, error.to_string()),
    };
    let nanos = pairs.medians(Run::nanos);
    let user = pairs.medians(Run::user_nanos);
    let allocator = [0, 1].map(|side| pairs.in_allocator(side));
    let instructions = match (&other, counts) {
        (Some(other), true) => {
            // Valgrind takes some fifty times as long.
            let program = Program { bound: program.bound * 100, ..*program };
            program.instructions(None)?.zip(program.instructions(Some(other))?).map(<[u64; 2]>::from)
        }
        _ => None,
    };
    Ok(Again {
        other: other.as_ref().map_or_else(String::new, |other| other.name.clone()),
        why,
        pairs: pairs.0.len(),
        nanos,
        ratio: pairs.ratio(Run::nanos),
        allocator: [part(user[0], allocator[0].0), part(user[1], allocator[1].0)],
        samples: allocator.map(|(_, samples)| samples),
        peak: pairs.medians(|run| run.usage.resident),
        instructions,
    })
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive and far below 2^52"
)]
fn part(number: u64, part: f64) -> u64 {
    (number as f64 * part) as u64
}

/// Returns the allocator that the program has instead of the system's: the one of most of its blocks.
fn own_allocator(profile: &Profile) -> Option<&'static str> {
    let allocations = |allocator: Allocator| {
        let pairs = profile.pairs.iter().filter(|pair| pair.allocator == allocator);
        pairs.map(|pair| pair.counts.allocations).sum::<u64>()
    };
    let all = [
        (Allocator::Glibc, None),
        (Allocator::Mimalloc, Some("mimalloc")),
        (Allocator::Jemalloc, Some("jemalloc")),
        (Allocator::Executable, Some("a malloc of its own")),
    ];
    all.into_iter().max_by_key(|(allocator, _)| allocations(*allocator)).and_then(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_heap::profile::{Counts, Pair};

    #[test]
    fn the_allocator_of_most_blocks_is_named() {
        let pair = |allocator, allocations| Pair {
            size: 8,
            stack: 0,
            allocator,
            run_stack: None,
            free_stack: None,
            counts: Counts { allocations, ..Counts::default() },
        };
        let pairs = vec![pair(Allocator::Glibc, 9), pair(Allocator::Mimalloc, 5), pair(Allocator::Mimalloc, 6)];
        let mut profile = Profile { pairs, ..Profile::default() };
        assert_eq!(own_allocator(&profile), Some("mimalloc"));
        profile.pairs[0].counts.allocations = 12;
        assert_eq!(own_allocator(&profile), None);
    }

    #[test]
    fn runs_that_cannot_be_compared_say_why() {
        let run = |profile: &Profile| run(Path::new("/bin/sh"), &["-c".into(), "exit 4".into()], profile, None, false);
        assert_eq!(run(&Profile { code: 139, ..Profile::default() }).why, "a signal ended the program");
        assert_eq!(run(&Profile { millis: 1 << 30, ..Profile::default() }).why, "the run takes minutes");
        let arguments = ["-c".into(), "exit 4".into()];
        let program = Program { file: Path::new("/bin/sh"), arguments: &arguments, bound: Duration::from_secs(60) };
        let error = measured(&program, &Profile { code: 3, ..Profile::default() }, None, false).unwrap_err();
        assert_eq!(error.to_string(), "run again, the program ended with 4 instead of 3");
    }
}

//! `--pid`: the part of a running program's time that is in the allocator, by the code that calls it.

use super::build;
use super::document::{self, Again, Document, VERSION};
use super::places::Own;
use crate::processes;
use anyhow::{Result, bail};
use dwell_debuginfo::{Options, load_objects};
use dwell_heap::profile::{Allocator, Counts, Live, Pair, Profile, sample};
use dwell_heap::stacks;
use dwell_output::units::plural;
use std::path::PathBuf;
use std::time::Duration;

/// Samples a process, and makes a document without counts.
///
/// # Errors
/// Returns an error if the process cannot be sampled, or if its executable has no debug info.
pub(super) fn document(pid: i32, length: Duration) -> Result<Document> {
    if std::fs::read_link(format!("/proc/{pid}/exe")).is_ok() {
        eprintln!("note: process {pid} is sampled for {length:?}; Ctrl-C reports earlier");
    }
    processes::watch_signals();
    let live = sample(pid, length, &mut || processes::received().is_some())?;
    let [of_program, of_allocator] = live.samples;
    if of_program + of_allocator == 0 {
        bail!("process {pid} took no processor time in user mode, so there is nothing to report");
    }
    let [sampled, threads] = live.threads;
    if sampled < threads {
        eprintln!(
            "note: {sampled} of {} were sampled: more files cannot be opened (ulimit -n)",
            plural(threads as u64, "thread")
        );
    }
    let profile = profile(&live);
    let executable = PathBuf::from(format!("/proc/{pid}/exe"));
    let addresses = stacks::addresses(&profile.as_snapshot());
    let options = Options { own_crates: Vec::new(), cache: None, progress: true };
    let (program, frames, _) = load_objects(&profile.files(&executable), &options, &addresses, &[])?;
    let own = Own::new(&[], &frames);
    let all = of_program + of_allocator;
    let time =
        |samples: u64| u64::try_from(u128::from(live.nanos) * u128::from(samples) / u128::from(all)).unwrap_or(0);
    let nanos: Vec<u64> = profile.pairs.iter().map(|pair| time(pair.counts.allocations)).collect();
    let (names, folded) = build::stacks_of(&profile, &frames, &nanos);
    Ok(Document {
        version: VERSION,
        kind: "allocs".into(),
        program: document::Program {
            file: std::fs::read_link(&executable).map_or_else(|_| String::new(), |path| path.display().to_string()),
            pid: Some(pid),
            build_id: program.build_id.as_deref().map(str::to_owned),
            rustc: program.rustc.as_deref().map(str::to_owned),
            ..document::Program::default()
        },
        time: document::Time {
            program: live.nanos,
            allocator: time(of_allocator),
            by: "samples".into(),
            samples: [of_program, of_allocator, 0],
            ..document::Time::default()
        },
        again: Again { why: "a running process is only sampled".into(), ..Again::default() },
        functions: own.functions(&profile, &frames, &nanos),
        frames: names,
        stacks: folded,
        ..Document::default()
    })
}

/// Returns the samples as a profile in which each is a block.
fn profile(live: &Live) -> Profile {
    let pair = |(number, (_, samples)): (usize, &(Vec<u64>, u64))| Pair {
        size: 0,
        stack: u32::try_from(number).unwrap_or(u32::MAX),
        allocator: Allocator::Glibc,
        run_stack: None,
        free_stack: None,
        counts: Counts { allocations: *samples, ..Counts::default() },
    };
    Profile {
        pairs: live.stacks.iter().enumerate().map(pair).collect(),
        stacks: live.stacks.iter().map(|(stack, _)| stack.clone()).collect(),
        modules: live.modules.clone(),
        ..Profile::default()
    }
}

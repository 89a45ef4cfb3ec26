//! Runs a program, and reads its profile after its end.

#[cfg(agent)]
pub use counted::{profile, with_snapshots};

use std::path::PathBuf;
use std::time::Duration;

/// Options for running a program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The mean number of bytes between two recorded allocations; `None` records all.
    pub sample: Option<u64>,
    /// The folder for the compiled agent.
    pub cache: Option<PathBuf>,
    /// The interval of the curve; by default the curve has up to [`POINTS`](super::POINTS) points.
    pub every: Option<Duration>,
    /// Whether to pass signals on to the program.
    pub signals: bool,
    /// Whether the processes that the program starts are counted, too.
    pub follow: bool,
    /// The addresses and sizes of functions whose calls are counted.
    pub counted: Vec<(u64, u64)>,
}

/// Returns an error, because there is no agent for this platform.
///
/// # Errors
/// Always returns an error.
#[cfg(not(agent))]
pub fn profile(_: &std::path::Path, _: &[std::ffi::OsString], _: &Options) -> anyhow::Result<super::Profile> {
    anyhow::bail!("`cargo dwell allocs` needs Linux with glibc on x86-64 or aarch64")
}

/// Returns an error, because there is no agent for this platform.
///
/// # Errors
/// Always returns an error.
#[cfg(not(agent))]
pub fn with_snapshots(
    executable: &std::path::Path,
    args: &[std::ffi::OsString],
    _: &crate::run::Options,
) -> anyhow::Result<(crate::run::Run, super::Profile)> {
    profile(executable, args, &Options::default()).map(|profile| (crate::run::Run::default(), profile))
}

#[cfg(agent)]
mod counted {
    use super::super::records::{self, ReadFrom};
    use super::super::sampler::{Counting, Live, Sampler};
    use super::Options;
    use crate::capture::image::{self, About, Process};
    use crate::capture::run::{self, Watch};
    use crate::profile::{Followed, Profile};
    use anyhow::{Result, bail};
    use std::collections::HashMap;
    use std::ffi::OsString;
    use std::fs::File;
    use std::path::Path;
    use std::sync::{Arc, Mutex, PoisonError};

    /// Runs a program with this process's standard streams, and returns its profile.
    ///
    /// # Errors
    /// Returns an error if the agent cannot be loaded, if the program cannot be started, or if its records cannot be
    /// read.
    pub fn profile(executable: &Path, args: &[OsString], options: &Options) -> Result<Profile> {
        let of_run = run::Options {
            at: Vec::new(),
            every: None,
            sample: options.sample,
            cache: options.cache.clone(),
            signals: options.signals,
            records: run::Records::Counts,
            follow: options.follow,
        };
        let mut follower = Follower {
            options,
            sampler: None,
            before: (0, 0),
            profile: None,
            uncounted: None,
            live: None,
            region: [None, None],
        };
        let counted: Counted = Arc::default();
        let of_child: run::OfChild = {
            let counted = Arc::clone(&counted);
            Arc::new(move |pid, state| Box::new(OfChild::new(pid, state, Arc::clone(&counted))))
        };
        let run = run::watched(executable, args, &of_run, &mut follower, Some(of_child))?;
        let Some(mut profile) = follower.profile else {
            bail!(LOST);
        };
        profile.code = run.code;
        profile.millis = run.millis;
        profile.notes = run.notes;
        let is_counted = profile.counters == options.counted.len() as u64 && profile.counters > 0;
        profile.calls = profile.calls.filter(|_| is_counted && follower.uncounted.is_none());
        profile.uncounted = follower.uncounted;
        profile.children = profile.children.max(run.processes);
        if profile.children > 0 && !options.follow {
            profile.notes.push(format!(
                "the program started {}, whose allocations are not counted; --follow counts them",
                crate::units::plural(profile.children, "process")
            ));
        }
        if profile.executed && !options.follow {
            profile.notes.push("the program executed another one, whose allocations are not counted".into());
        }
        for child in run.children {
            let Some(counts) = counted.lock().unwrap_or_else(PoisonError::into_inner).remove(&child.pid) else {
                continue;
            };
            let counts = Profile { millis: child.run.millis, ..counts };
            let (name, executable, arguments) = (child.name, child.executable, child.arguments);
            profile.followed.push(Followed { pid: child.pid, name, executable, arguments, profile: counts });
        }
        if profile.lost > 0 {
            profile.notes.push(format!("{} calls of threads beyond the 4,096th were not counted", profile.lost));
        }
        Ok(profile)
    }

    /// The error if there is nothing to read.
    const LOST: &str = "the agent's helper process was killed or does not answer, so the counts of the run are lost";

    /// Runs a program like [`profile`], with snapshots of its live blocks in the same run. The profile has only how often, and how
    /// many bytes, each call stack allocated and reallocated.
    ///
    /// # Errors
    /// The same as those of [`profile`].
    pub fn with_snapshots(executable: &Path, args: &[OsString], options: &run::Options) -> Result<(run::Run, Profile)> {
        let options = run::Options { records: run::Records::Both, ..options.clone() };
        let mut counter = Counter(None);
        let run = run::watched(executable, args, &options, &mut counter, None)?;
        let Some(mut profile) = counter.0 else { bail!(LOST) };
        (profile.code, profile.millis) = (run.code, run.millis);
        Ok((run, profile))
    }

    /// Reads the counts at the end.
    struct Counter(Option<Profile>);

    impl Watch for Counter {
        fn started(&mut self, _: i32, _: &File) -> Result<()> {
            Ok(())
        }

        fn ended(&mut self, process: &Arc<Process>, about: &About) -> Result<()> {
            let memory = image::ProcessMemory(Arc::clone(process));
            let modules = image::files(process, about)?;
            let profile = records::read(&ReadFrom { memory: &memory, state: about.state })?;
            self.0 = Some(Profile { modules, ..profile });
            Ok(())
        }
    }

    /// The profiles of children, by their number.
    type Counted = Arc<Mutex<HashMap<u32, Profile>>>;

    /// Reads the counts of a child at its end.
    struct OfChild {
        pid: i32,
        /// What its parent had counted when it was forked.
        before: Option<Profile>,
        counted: Counted,
    }

    impl OfChild {
        fn new(pid: i32, state: Option<u64>, counted: Counted) -> Self {
            let before = state.and_then(|state| {
                let memory = Live(File::open(format!("/proc/{pid}/mem")).ok()?);
                records::read(&ReadFrom { memory: &memory, state }).ok()
            });
            Self { pid, before, counted }
        }
    }

    impl Watch for OfChild {
        fn started(&mut self, _: i32, _: &File) -> Result<()> {
            Ok(())
        }

        fn ended(&mut self, process: &Arc<Process>, about: &About) -> Result<()> {
            let memory = image::ProcessMemory(Arc::clone(process));
            let mut profile = records::read(&ReadFrom { memory: &memory, state: about.state })?;
            profile.modules = image::files(process, about)?;
            if let Some(before) = &self.before {
                profile.leave_out(before);
                for (thread, before) in profile.threads.iter_mut().zip(&before.threads) {
                    thread.leave_out(before);
                }
            }
            let pid = self.pid.cast_unsigned();
            self.counted.lock().unwrap_or_else(PoisonError::into_inner).insert(pid, profile);
            Ok(())
        }
    }

    struct Follower<'o> {
        options: &'o Options,
        sampler: Option<Sampler>,
        /// The processor time of children that ended before.
        before: (u64, u64),
        profile: Option<Profile>,
        /// Why the calls of functions are not counted.
        uncounted: Option<String>,
        /// The running program.
        live: Option<Counting>,
        /// What was counted at the first SIGUSR1, and at the second.
        region: [Option<Profile>; 2],
    }

    impl Watch for Follower<'_> {
        fn counted(&self) -> &[(u64, u64)] {
            &self.options.counted
        }

        fn uncounted(&mut self, why: &str) {
            self.uncounted = Some(why.to_owned());
        }

        fn marked(&mut self) {
            let now = self.live.as_ref().and_then(Counting::read);
            let [start, end] = &mut self.region;
            let (at, told) = if start.is_none() || end.is_some() { (start, "begins") } else { (end, "ends") };
            if now.is_none() {
                eprintln!("note: SIGUSR1: the program does not count yet");
                return;
            }
            *at = now;
            eprintln!("note: SIGUSR1: the region of the report {told} here");
            if told == "begins" {
                self.region[1] = None;
            }
        }

        fn started(&mut self, pid: i32, plan: &File) -> Result<()> {
            self.before = time_of_children();
            self.live = Counting::new(pid, plan).ok();
            self.sampler = Some(Sampler::start(pid, plan, self.options.every)?);
            Ok(())
        }

        fn ended(&mut self, process: &Arc<Process>, about: &About) -> Result<()> {
            let (user, system) = time_of_children();
            let modules = image::files(process, about)?;
            let memory = image::ProcessMemory(Arc::clone(process));
            let mut profile = records::read(&ReadFrom { memory: &memory, state: about.state })?;
            profile.user_nanos = user.saturating_sub(self.before.0);
            profile.system_nanos = system.saturating_sub(self.before.1);
            if let Some(sampler) = self.sampler.take() {
                let found = sampler.finish(&modules, &about.executable);
                profile.curve = found.curve;
                profile.children = found.children.len() as u64;
                profile.executed = found.executed;
                match found.samples {
                    Ok(samples) => profile.samples = Some(samples),
                    Err(reason) => profile.no_samples = reason,
                }
            }
            profile.curve.push(crate::profile::Point {
                millis: about.nanos.saturating_sub(profile.start_nanos) / 1_000_000,
                blocks: profile.threads.iter().map(|thread| thread.allocations + thread.reallocations).sum(),
            });
            profile.modules = modules;
            let [start, end] = std::mem::take(&mut self.region);
            if let Some(start) = start {
                profile.whole.clone_from(&profile.pairs);
                if let Some(end) = end {
                    (profile.pairs, profile.stacks, profile.calls) = (end.pairs, end.stacks, end.calls);
                }
                profile.leave_out(&start);
            }
            self.profile = Some(profile);
            Ok(())
        }
    }

    /// Returns the processor time of this process's children that ended, in user mode and in the kernel.
    fn time_of_children() -> (u64, u64) {
        // SAFETY: a `rusage` consists of numbers, for which zeros are valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes to a local of the right type.
        unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
        let nanos = |time: libc::timeval| {
            let micros = time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_usec);
            u64::try_from(micros).unwrap_or(0).saturating_mul(1000)
        };
        (nanos(usage.ru_utime), nanos(usage.ru_stime))
    }
}

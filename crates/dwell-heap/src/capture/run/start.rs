//! Starts the program.

#![expect(clippy::cast_possible_wrap, reason = "process ids are far from the bounds of their types")]

use super::children::{Children, OfChild};
use super::growth::Shield;
use super::plan::{EndOf, Plan, sockets, wake};
use super::process::{Early, Followed, Watch, follow};
use super::{Options, Records, Run, signals};
use crate::agent::loadable::{self, Target};
use crate::agent::{self, hooks, layout};
use crate::capture::events::{self, Events};
use crate::capture::resident;
use crate::debuginfo;
use crate::units::plural;
use anyhow::{Context, Result};
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Runs a program with this process's standard streams and takes snapshots.
///
/// # Errors
/// Returns an error if the agent cannot be loaded, if the program cannot be started, or if its memory cannot be read.
pub fn snapshots(executable: &Path, args: &[OsString], options: &Options) -> Result<Run> {
    run(executable, args, options, None, None, None)
}

/// Runs a program like [`snapshots`], and gives its records to `watch`, and those of a child to what `of_child` makes.
///
/// # Errors
/// As [`snapshots`].
pub(crate) fn watched(
    executable: &Path,
    args: &[OsString],
    options: &Options,
    watch: &mut dyn Watch,
    of_child: Option<OfChild>,
) -> Result<Run> {
    run(executable, args, options, None, Some(watch), of_child)
}

/// Like [`snapshots`], but also reports while the program runs: it calls `early` with the snapshots so far when a
/// signal requests one, and after the last planned snapshot if none is planned for the end. The [`Run`] has these
/// snapshots only if later ones follow.
///
/// # Errors
/// As [`snapshots`].
pub fn snapshots_early(executable: &Path, args: &[OsString], options: &Options, early: Early<'_>) -> Result<Run> {
    run(executable, args, options, Some(early), None, None)
}

fn run<'w>(
    executable: &Path,
    args: &[OsString],
    options: &Options,
    early: Option<Early<'w>>,
    mut watch: Option<&'w mut dyn Watch>,
    of_child: Option<OfChild>,
) -> Result<Run> {
    let target = Target::open(executable)?;
    // Another program, such as Python or Node, may load a library with the Rust code.
    if loadable::is_rust(&target.data) {
        debuginfo::expect(executable)?;
    }
    let library = agent::library(options.cache.as_deref())?;
    let mut notes = Vec::new();
    if loadable::has_frame_pointers(&target.data) == Some(false) {
        notes.push(
            "the program was built without frame pointers, so most call stacks are incomplete; leave --exe out, or build with \
             RUSTFLAGS=-Cforce-frame-pointers=yes"
                .to_owned(),
        );
    }
    notes.extend(resident::undivided().filter(|_| options.records != Records::Counts));
    let patches = hooks::plan(&target.data, watch.as_ref().map_or(&[], |watch| watch.counted()));
    if let (Some(why), Some(watch)) = (&patches.uncounted, &mut watch) {
        watch.uncounted(why);
    }
    if let Some(first) = patches.refused.first() {
        let more = patches.refused.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!(
            "functions of the allocator cannot be hooked, so their allocations are not recorded: {first}{more}"
        ));
    }
    let plan = Plan::new(&target, options, &patches.bytes)?;
    // Before the program runs: a short one may be at its peak before this thread runs again.
    let can_wait = EndOf::new(std::process::id() as i32).is_some();
    plan.shared().stops.store(u32::from(can_wait), Ordering::Relaxed);
    let (ours, theirs) = sockets()?;
    let mut command = Command::new(&target.path);
    let started = Instant::now();
    let children = options.follow.then(|| Children::listen(options, of_child, started)).transpose()?;
    let address = children.as_ref().map_or_else(String::new, |children| format!("@{}", children.address()));
    command.args(args).env(layout::VARIABLE, format!("{},{}{address}", plan.file.as_raw_fd(), theirs.as_raw_fd()));
    let mut preload = library.into_os_string();
    if let Some(other) = std::env::var_os("LD_PRELOAD").filter(|other| !other.is_empty()) {
        preload.push(":");
        preload.push(other);
    }
    command.env("LD_PRELOAD", preload);
    let inherited = [plan.file.as_raw_fd(), theirs.as_raw_fd()];
    let keep = move || {
        for file in inherited {
            // SAFETY: the call changes a flag of an open file of the new process; it neither allocates nor locks.
            if unsafe { libc::fcntl(file, libc::F_SETFD, 0) } < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: `keep` runs after `fork`; it calls `fcntl`, which is async-signal-safe, and reads an array it owns.
    unsafe { command.pre_exec(keep) };

    let (sender, messages) = mpsc::channel();
    if options.signals {
        signals::listen(sender.clone())?;
    }
    let mut child = command.spawn().with_context(|| format!("{}: cannot be started", target.path.display()))?;
    let pid = child.id() as i32;
    drop(theirs);
    if let Some(watch) = &mut watch {
        watch.started(pid, &plan.file)?;
    }
    let tasks = (options.records != Records::Counts || options.follow).then(|| Tasks::watch(pid));
    plan.shared().attached.store(1, Ordering::Release);
    wake(&plan.shared().attached);
    signals::PROGRAM.store(pid, Ordering::Release);
    // `wait` would return when a thread is stopped.
    let end = EndOf::new(pid);
    if end.is_none() {
        plan.shared().stops.store(0, Ordering::Release);
    }
    let wait = move || {
        if let Some(end) = end {
            end.wait();
        }
        let status = child.wait();
        signals::PROGRAM.store(0, Ordering::Release);
        status
    };
    let plan = Arc::new(plan);
    let ask = || children.iter().for_each(Children::ask);
    let program = Followed {
        pid,
        target: &target,
        options,
        plan: Arc::clone(&plan),
        socket: ours,
        started,
        patches: patches.count,
        allocator: patches.allocator,
        notes,
        shield: (options.records != Records::Counts).then(Shield::new),
        ask: Some(&ask),
    };
    let result = follow(program, wait, (sender, messages), early, watch);
    let mut seen = tasks.map(Tasks::finish).unwrap_or_default();
    seen.started.remove(&plan.shared().helper.load(Ordering::Relaxed));
    let found = children.map(|children| children.finish(&seen.started));
    let mut run = result?;
    run.processes =
        u64::try_from(seen.started.len()).unwrap_or(0).max(plan.shared().forks.load(Ordering::Relaxed).into());
    match found {
        Some((found, notes)) => {
            run.notes.extend(notes);
            run.children = found;
        }
        None if options.records != Records::Counts => {
            if run.processes > 0 {
                let processes = plural(run.processes, "process");
                run.notes
                    .push(format!("the program started {processes}, whose memory is not counted; --follow counts it"));
            }
            if seen.executed {
                run.notes
                    .push("the program executed another one, whose memory is not counted; --follow counts it".into());
            }
        }
        None => {}
    }
    Ok(run)
}

/// Watches what a process starts, by events of the kernel.
#[derive(Debug)]
pub struct Tasks {
    over: Arc<AtomicBool>,
    thread: thread::JoinHandle<Seen>,
}

/// What a process started, and whether it became another program. Nothing is known if the kernel gives no events.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The numbers of the processes.
    pub started: HashSet<u32>,
    executed: bool,
}

impl Tasks {
    /// Begins to watch a process and those that it starts.
    pub fn watch(pid: i32) -> Self {
        /// How often the events are read.
        const ROUND: Duration = Duration::from_millis(20);
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let events = Events::of_tasks(pid);
        let thread = thread::spawn(move || {
            let mut seen = Seen::default();
            let Ok(events) = events else { return seen };
            loop {
                let is_last = is_over.load(Ordering::Relaxed);
                events.read(pid, &mut |event| match event {
                    events::Seen::Started(child) => {
                        seen.started.insert(child);
                    }
                    events::Seen::Executed => seen.executed = true,
                    _ => {}
                });
                if is_last {
                    return seen;
                }
                thread::sleep(ROUND);
            }
        });
        Self { over, thread }
    }

    /// Returns what was seen.
    pub fn finish(self) -> Seen {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::At;
    use super::*;
    use crate::arch;
    use crate::capture::Moment;
    use crate::capture::image::{About, Process};
    use std::fs::{self, File};

    /// Is told last of the start.
    struct Late;

    impl Watch for Late {
        fn started(&mut self, _: i32, _: &File) -> Result<()> {
            thread::sleep(Duration::from_millis(300));
            Ok(())
        }

        fn ended(&mut self, _: &Arc<Process>, _: &About) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_program_that_is_at_its_peak_at_once_is_stopped_for_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("main.rs"), folder.path().join("main"));
        fs::write(&source, "fn main() { drop(std::hint::black_box(vec![1; 1_000_000])) }").unwrap();
        let built = Command::new("rustc").args(["-g", "-o"]).args([&program, &source]).status();
        if !built.is_ok_and(|status| status.success()) {
            return eprintln!("skipped: rustc builds no program here");
        }
        let options = Options { at: vec![At::Peak], cache: Some(folder.path().into()), ..Options::default() };
        let run = watched(&program, &[], &options, &mut Late, None).unwrap();
        let [peak] = run.snapshots.as_slice() else { panic!("{}", run.snapshots.len()) };
        assert_eq!(peak.at, Moment::Peak);
        let frames = peak.threads.iter().filter(|thread| thread.registers[arch::FRAME_POINTER].is_some());
        assert!(frames.count() > 0, "{:?}", peak.threads);
    }
}

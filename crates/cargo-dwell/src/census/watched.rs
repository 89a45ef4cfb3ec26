//! A run of a program that loads no agent, since it is linked statically or for musl: it is read from outside while it grows.

use super::output::{self, OutputArgs};
use crate::processes;
use anyhow::{Context as _, Result, bail};
use dwell_heap::outside::{self, Captured};
use dwell_heap::run::Tasks;
use dwell_heap::{Ran, from_outside};
use dwell_output::Format;
use dwell_output::units::plural;
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

/// How long the program runs between two stops, in lengths of the last stop.
const BETWEEN: u32 = 50;
/// The longest pause between two looks at its size.
const PAUSE: Duration = Duration::from_millis(5);
/// How long it runs after a look that failed, at first and at most.
const AGAIN: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(5)];
/// How often its children are looked for.
const CHILDREN: Duration = Duration::from_millis(50);
/// How long a program may take to end by itself after a signal that this process received.
const GRACE: Duration = Duration::from_secs(1);

/// What the looks at a program found.
#[derive(Default)]
struct Watched {
    /// The copy at the most resident bytes.
    last: Option<Captured>,
    /// The resident bytes at that copy, and the most of all.
    copied: u64,
    most: u64,
    stops: u32,
    longest: Duration,
    /// Why the last look failed, and how many did since the last that did not.
    error: Option<anyhow::Error>,
    failed: u32,
    /// The processes that it started.
    started: HashSet<u32>,
}

/// Returns how long a program runs before it is stopped again: `failed` looks in a row failed, and the longest stop of the others
/// took so long. One that cannot be read is left alone for longer and longer.
fn pause(failed: u32, longest: Duration) -> Duration {
    match failed.checked_sub(1) {
        None => longest * BETWEEN,
        Some(before) => AGAIN[0].saturating_mul(2_u32.saturating_pow(before)).min(AGAIN[1]),
    }
}

/// Runs a program to its end, and reports on the last copy that was made while its resident memory was larger than before.
///
/// # Errors
/// Returns an error if it cannot be started or was not read once.
pub(super) fn run(file: &Path, args: &[OsString], mut ran: Ran, output: &OutputArgs) -> Result<ExitCode> {
    let name = file.display();
    dwell_debuginfo::expect(file)?;
    let mut command = Command::new(file);
    command.args(args);
    let tool = u64::from(std::process::id());
    let allow = move || {
        // SAFETY: the call reads no memory. It allows this process to read the program where only a debugger may (Yama).
        unsafe { libc::prctl(libc::PR_SET_PTRACER, tool, 0, 0, 0) };
        Ok(())
    };
    // SAFETY: between `fork` and `exec`, `allow` makes one system call and allocates nothing.
    unsafe { command.pre_exec(allow) };
    processes::watch_signals();
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("{name}: cannot be started"))?;
    let tasks = Tasks::watch(child.id().cast_signed());
    let mut watched = Watched::default();
    let status = watched.watch(&mut child).context("the program cannot be waited for")?;
    // The kernel may not tell.
    watched.started.extend(tasks.finish().started);
    ran.millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let code = ExitCode::from(processes::code(status));
    let Some(captured) = watched.last else {
        let reason = watched.error.map_or_else(String::new, |error| format!(" ({error:#})"));
        bail!(
            "{name}: loads no agent, and ended before it was read from outside{reason}; let it run longer, or build it for glibc"
        );
    };
    eprintln!(
        "note: {name} loads no agent: it was stopped and read {} times while it grew, for at most {} ms; at the last time {} % of its \
         most memory was resident",
        watched.stops,
        watched.longest.as_millis(),
        (100 * watched.copied).checked_div(watched.most).unwrap_or(100)
    );
    if let started @ 1.. = watched.started.len() as u64 {
        eprintln!("note: the program started {}, whose memory is not counted", plural(started, "process"));
    }
    let (snapshot, notes) = captured.snapshot()?;
    for note in notes {
        eprintln!("note: {note}");
    }
    let document = from_outside(&ran, &mut [snapshot])?;
    // As of other runs: standard output is the program's, except for formats that other programs read.
    output::show(&document, output, output.format == Format::Human)?;
    Ok(code)
}

impl Watched {
    /// Reads a program each time that it has more resident memory than before, and stops it for a fiftieth of the time, or more
    /// often while it grows fast.
    fn watch(&mut self, child: &mut Child) -> std::io::Result<std::process::ExitStatus> {
        let mut next = Instant::now();
        let mut looked: Option<Instant> = None;
        let mut signalled: Option<Instant> = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if let Some(signal) = processes::received() {
                // One from a terminal reached the program, too.
                if signalled.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    processes::signal(child.id(), signal);
                    signalled = Some(Instant::now());
                }
            }
            if looked.is_none_or(|looked| looked.elapsed() > CHILDREN) {
                self.started.extend(processes::descendants(child.id()));
                looked = Some(Instant::now());
            }
            if let Some([most, now]) = processes::resident(child.id()) {
                self.most = self.most.max(most);
                let grows_fast = self.failed == 0 && now / 5 > self.copied / 4;
                if now > self.copied && (grows_fast || Instant::now() >= next) {
                    self.read(child.id().cast_signed(), now);
                    next = Instant::now() + pause(self.failed, self.longest);
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn read(&mut self, pid: i32, resident: u64) {
        match outside::attach(pid, None, None) {
            Ok(captured) => {
                let pause = captured.pause.unwrap_or_default();
                (self.stops, self.longest) = (self.stops + 1, self.longest.max(pause));
                (self.last, self.copied, self.error, self.failed) = (Some(captured), resident, None, 0);
            }
            // It ended meanwhile, or has not begun.
            Err(error) => (self.error, self.failed) = (Some(error), self.failed.saturating_add(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_that_fail_are_further_and_further_apart() {
        let longest = Duration::from_millis(7);
        assert_eq!(pause(0, longest), 7 * Duration::from_millis(50));
        let millis: Vec<u128> = (1..=11).map(|failed| pause(failed, longest).as_millis()).collect();
        assert_eq!(millis, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000]);
        assert_eq!(pause(u32::MAX, longest), AGAIN[1]);
    }
}

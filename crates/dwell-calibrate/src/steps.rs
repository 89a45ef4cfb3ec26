//! Counts instructions by running a child process step by step.

use super::patterns::{self, Pattern};
use std::process;

/// The maximum number of steps, so that a child that goes astray ends.
const MOST: u64 = 2_000_000;
/// The seconds after which a child ends itself.
const SECONDS: u32 = 10;
/// Begins a pattern or a phase, and ends a pattern.
const PHASE: i32 = libc::SIGSTOP;
const END: i32 = libc::SIGUSR2;

/// Returns the instructions of each phase of each pattern, without those of the marks.
pub(super) fn count(all: &[Pattern]) -> Option<Vec<Vec<u64>>> {
    let _pinned = Pinned::here();
    // SAFETY: the child runs `child`, which uses this thread's own data and allocators that handle a fork, and ends by
    // `_exit`, so that no destructor of this process runs twice.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => child(all),
        _ if pid < 0 => None,
        _ => {
            let found = follow(pid, all.len() + 1);
            // SAFETY: the child was not waited for to its end, so that the id is still its own.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            let mut status = 0;
            // SAFETY: the call writes the status to a local.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            let mut found = found?;
            let empty = found.remove(0);
            // The marks of a phase take as long in each pattern.
            for phases in &mut found {
                phases.iter_mut().zip(&empty).for_each(|(phase, mark)| *phase = phase.saturating_sub(*mark));
            }
            Some(found)
        }
    }
}

/// Keeps this thread, and children that it starts, on one processor: a step is several times as fast if no other one must
/// wake up.
struct Pinned(Option<libc::cpu_set_t>);

impl Pinned {
    fn here() -> Self {
        // SAFETY: a set of processors consists of integers, for which zeros are valid.
        let (mut before, mut only): (libc::cpu_set_t, libc::cpu_set_t) = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes to a local of the given size.
        let known = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut before) } == 0;
        // SAFETY: the call takes no arguments.
        let Ok(here) = usize::try_from(unsafe { libc::sched_getcpu() }) else { return Self(None) };
        // SAFETY: the call sets a bit of a local, and checks the number.
        unsafe { libc::CPU_SET(here, &mut only) };
        // SAFETY: the call reads a local of the given size.
        let pinned = known && unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const only) } == 0;
        Self(pinned.then_some(before))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // SAFETY: the call reads a set of the given size.
            unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const *before) };
        }
    }
}

/// Runs the patterns, each once without and once with marks.
fn child(all: &[Pattern]) -> ! {
    let own = process::id();
    let signal = move |signal: i32| {
        // SAFETY: the call sends a signal to this process. Its tracer gets it.
        unsafe { libc::syscall(libc::SYS_kill, own, signal) };
    };
    // SAFETY: the call sets a timer of this process.
    unsafe { libc::alarm(SECONDS) };
    // SAFETY: the call takes no pointer for this request.
    if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } == 0 {
        signal(END);
        for pattern in std::iter::once(&patterns::EMPTY).chain(all) {
            (pattern.run)(pattern.counted, &mut || ());
            (pattern.run)(pattern.counted, &mut || signal(PHASE));
            signal(END);
        }
    }
    // SAFETY: the call ends the process at once.
    unsafe { libc::_exit(0) }
}

/// Steps the child through the phases of `count` patterns.
fn follow(pid: i32, count: usize) -> Option<Vec<Vec<u64>>> {
    let mut all = Vec::new();
    let mut phases: Vec<u64> = Vec::new();
    let (mut steps, mut total, mut is_stepping) = (0_u64, 0_u64, false);
    let mut is_first = true;
    while all.len() < count {
        let mut status = 0;
        // SAFETY: the call writes the status to a local.
        if unsafe { libc::waitpid(pid, &raw mut status, 0) } != pid || !libc::WIFSTOPPED(status) {
            return None;
        }
        match libc::WSTOPSIG(status) {
            PHASE => {
                if is_stepping {
                    phases.push(std::mem::take(&mut steps));
                }
                is_stepping = true;
                steps = 0;
            }
            END => {
                is_stepping = false;
                if !std::mem::take(&mut is_first) {
                    all.push(std::mem::take(&mut phases));
                }
            }
            libc::SIGTRAP => steps += 1,
            _ => return None,
        }
        total += 1;
        if total > MOST {
            return None;
        }
        let request = if is_stepping { libc::PTRACE_SINGLESTEP } else { libc::PTRACE_CONT };
        // SAFETY: the child is stopped. The requests take no pointers; the signal that stopped it is dropped.
        if unsafe { libc::ptrace(request, pid, 0, 0) } != 0 {
            return None;
        }
    }
    Some(all)
}

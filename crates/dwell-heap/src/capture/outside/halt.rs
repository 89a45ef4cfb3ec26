//! Stops all threads of a process that is not a child, so that it notices nothing but the time.
//!
//! The stop is one of `ptrace`, which the kernel ends by itself when this process ends, whatever the reason. A system call
//! like `epoll_wait` returns `EINTR` after a stop, where others are restarted by the kernel. A thread that was stopped in
//! one is set back to the call at once, as the kernel does for the others, unless a signal waits for the thread:
//! then its program expects `EINTR`.
//!
//! [`guard`](super::guard) does this in a process of its own, which outlives this one.

use crate::capture::Thread;
use crate::capture::registers::{self, Before};
use crate::capture::stop::{self, SetBack, State};
use anyhow::{Result, bail};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// The time to wait for a thread to stop. One that waits for a disk stops later.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum number of rounds in which new threads are looked for.
const ROUNDS: usize = 1000;

/// A process whose threads are stopped until this is dropped. It must be dropped by the thread that made it.
#[derive(Debug)]
pub(super) struct Halted {
    pub(super) threads: Vec<Thread>,
    process: i32,
    /// The threads that are stopped, each with the signal to deliver.
    held: Vec<(i32, i32)>,
    /// The threads that did not stop in time. They are in the kernel, and stop before they return to the program.
    late: Vec<(i32, Before)>,
    set_back: Vec<SetBack>,
}

impl Halted {
    /// Stops all threads of a process, also those that start meanwhile.
    pub(super) fn new(process: i32) -> Result<Self> {
        let mut halted =
            Self { threads: Vec::new(), process, held: Vec::new(), late: Vec::new(), set_back: Vec::new() };
        let mut known: Vec<i32> = Vec::new();
        for _ in 0..ROUNDS {
            let fresh: Vec<i32> = stop::tasks(process).into_iter().filter(|id| !known.contains(id)).collect();
            if fresh.is_empty() {
                return if halted.held.is_empty() { Err(gone(process)) } else { Ok(halted) };
            }
            known.extend(&fresh);
            let mut asked = Vec::new();
            for id in fresh {
                let before = Before::new(process, id);
                if stop::interrupt(id) {
                    asked.push((id, before));
                } else {
                    let error = io::Error::last_os_error();
                    // A thread that has ended, or whose process does.
                    if is_alive(process, id) {
                        halted.late.extend(asked);
                        return Err(refused(process, &error));
                    }
                }
            }
            let until = Instant::now() + PATIENCE;
            for (id, before) in asked {
                halted.wait(id, before, until);
            }
        }
        bail!("process {process} starts threads faster than they can be stopped; try again")
    }

    /// Waits until a thread stops, and reads its registers.
    fn wait(&mut self, id: i32, before: Before, until: Instant) {
        let begin = Instant::now();
        loop {
            match stop::state(0, id) {
                State::Stopped(signal) => {
                    self.held.push((id, signal));
                    if let Some(of) = registers::read(id) {
                        self.threads.push(registers::thread(id, &of));
                        self.set_back.extend(SetBack::new(self.process, id, before, of));
                    }
                    return;
                }
                State::Ended => return,
                State::Runs if Instant::now() >= until => return self.late.push((id, before)),
                State::Runs if begin.elapsed() < Duration::from_millis(1) => std::thread::yield_now(),
                State::Runs => std::thread::sleep(Duration::from_micros(100)),
            }
        }
    }
}

impl Drop for Halted {
    fn drop(&mut self) {
        self.set_back.iter().for_each(SetBack::before_detach);
        for &(id, signal) in &self.held {
            stop::detach(id, signal);
        }
        // A thread can be detached only while it is stopped. The kernel does it when this process ends.
        let until = Instant::now() + PATIENCE;
        for &(id, before) in &self.late {
            loop {
                match stop::state(0, id) {
                    State::Stopped(signal) => {
                        registers::read(id).and_then(|of| SetBack::new(self.process, id, before, of));
                        stop::detach(id, signal);
                    }
                    State::Runs if Instant::now() < until => {
                        std::thread::sleep(Duration::from_millis(1));
                        continue;
                    }
                    State::Runs | State::Ended => {}
                }
                break;
            }
        }
    }
}

/// Returns `true` if a thread has not ended.
fn is_alive(process: i32, id: i32) -> bool {
    stop::status(process, id, "State").is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// Returns the error of a process that has ended.
pub(super) fn gone(process: i32) -> anyhow::Error {
    anyhow::anyhow!("process {process} has ended meanwhile")
}

/// Returns the error of a process that must not be stopped, with what to do.
pub(super) fn refused(process: i32, error: &io::Error) -> anyhow::Error {
    let tracer = stop::status(process, process, "TracerPid").filter(|tracer| tracer != "0");
    if let Some(thread) = tracer {
        let of = thread.parse().ok().and_then(|thread| stop::status(thread, thread, "Tgid"));
        let tracer = of.unwrap_or(thread);
        return anyhow::anyhow!(
            "process {process} is traced by process {tracer}, such as a debugger, and only one can; end that first"
        );
    }
    let yama = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let advice = match yama.trim() {
        "" | "0" => "run this as the user of that process or as root, in a container with --cap-add=SYS_PTRACE",
        "1" => "run this as root, or first `sudo sysctl kernel.yama.ptrace_scope=0` (it is 1)",
        "2" => "run this as root (kernel.yama.ptrace_scope is 2)",
        _ => "kernel.yama.ptrace_scope is 3, so that only a restart of the machine permits it; take a core instead",
    };
    anyhow::anyhow!("process {process} must not be looked at by ptrace ({error}): {advice}")
}

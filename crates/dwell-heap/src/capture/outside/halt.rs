//! Why a process that is not a child could not be stopped, in one line each.

use crate::capture::stop::{self, Failed};
use std::fs;
use std::io;

/// Returns the error of a process that could not be stopped.
pub(super) fn error(process: i32, failed: &Failed) -> anyhow::Error {
    match failed {
        Failed::Gone => gone(process),
        Failed::Refused(error) => refused(process, error),
        Failed::TooManyThreads => {
            anyhow::anyhow!("process {process} starts threads faster than they can be stopped; try again")
        }
    }
}

/// Returns the error of a process that has ended.
pub(super) fn gone(process: i32) -> anyhow::Error {
    anyhow::anyhow!("process {process} has ended meanwhile")
}

/// Returns the error of a process that must not be stopped, with what to do.
pub(super) fn refused(process: i32, error: &io::Error) -> anyhow::Error {
    let tracer = stop::status(process, process, "TracerPid").filter(|tracer| tracer != "0");
    if let Some(thread) = tracer {
        let leader = thread.parse().ok().and_then(|thread| stop::status(thread, thread, "Tgid"));
        let tracer = leader.unwrap_or(thread);
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

//! Runs a program with the agent and takes its snapshots.

#[cfg(agent)]
mod children;
#[cfg(agent)]
mod copies;
#[cfg(agent)]
mod growth;
#[cfg(agent)]
mod limits;
#[cfg(agent)]
mod listen;
#[cfg(agent)]
mod message;
#[cfg(agent)]
mod plan;
#[cfg(agent)]
mod process;
#[cfg(agent)]
mod signals;
#[cfg(agent)]
mod start;

use super::Snapshot;
use crate::units::{bytes, percent};
#[cfg(agent)]
pub(crate) use children::OfChild;
#[cfg(agent)]
pub(crate) use process::Watch;
use serde::{Deserialize, Serialize};
#[cfg(agent)]
pub(crate) use start::watched;
#[cfg(agent)]
pub use start::{Seen, Tasks, snapshots, snapshots_early};

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// When to take a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// At the maximum of live bytes.
    Peak,
    /// When the program ends.
    Exit,
    /// When this process receives SIGUSR1 or SIGINT.
    Signal,
    /// This long after the start of the program.
    After(Duration),
}

/// The result of running a program.
#[derive(Default)]
pub struct Run {
    /// The snapshots in the order of time. Dropping one ends the process that has its memory.
    pub snapshots: Vec<Snapshot>,
    /// The mean number of bytes between two blocks of the snapshots, if the memory that was left was not enough for all.
    pub sample: Option<u64>,
    /// The most live bytes until the end, if that is known; a snapshot of the peak has at least 98 % of them.
    pub peak_bytes: Option<u64>,
    /// The program's exit code; for a signal, 128 plus its number.
    pub code: u8,
    /// The running time of the program in milliseconds.
    pub millis: u64,
    /// Notes for the user, a line each.
    pub notes: Vec<String>,
    /// The end, if a signal killed the program together with the agent's helper.
    pub killed: Option<Killed>,
    /// The number of processes that it started.
    pub processes: u64,
    /// Those that were followed.
    pub children: Vec<Child>,
    /// Whether the process still runs.
    #[cfg(agent)]
    pub(crate) is_left: bool,
    /// Whether it became another program.
    #[cfg(agent)]
    pub(crate) is_replaced: bool,
}

/// A process that the program started.
#[derive(Default)]
pub struct Child {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// The executable.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its snapshots.
    pub run: Run,
}

/// The end of a program that was killed together with the agent's helper, so that its memory is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Killed {
    /// Whether the kernel counts a kill by its OOM killer.
    pub is_oom: bool,
    /// The bytes in use in the control group or on the machine, and the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// See `used`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The live bytes that the threads had reported.
    pub live: u64,
    /// The time from the last copy to the end, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

impl Killed {
    /// Returns a line for the user. `copied` are the live bytes in the snapshot.
    #[cfg_attr(not(agent), allow(dead_code, reason = "only a run has a child that is killed"))]
    fn note(&self, copied: u64) -> String {
        let by = match (self.is_oom, self.used, self.limit) {
            (true, Some(used), Some(limit)) => {
                format!("killed by the OOM killer at {} of {}", bytes(used), bytes(limit))
            }
            (true, ..) => "killed by the OOM killer".to_owned(),
            _ => "killed by SIGKILL together with census' helper, as the OOM killer does".to_owned(),
        };
        let live = bytes(self.live);
        match self.before.filter(|_| copied >= self.live / 100 && copied > 0) {
            Some(before) => {
                // The program frees, too, and a thread reports its allocations late.
                let part = if copied <= self.live {
                    format!("{} of the {live} at the end", percent(copied, self.live))
                } else {
                    format!("and about {live} at the end")
                };
                format!("{by}; the snapshot is from {before} ms before, when {} were live, {part}", bytes(copied))
            }
            None => format!("{by}; {live} were live, and there is no copy of them"),
        }
    }
}

/// Returns an error, because there is no agent for this platform.
///
/// # Errors
/// Always returns an error.
#[cfg(not(agent))]
pub fn snapshots(_: &std::path::Path, _: &[std::ffi::OsString], _: &Options) -> anyhow::Result<Run> {
    anyhow::bail!("`cargo dwell census` needs Linux with glibc on x86-64 or aarch64")
}

/// Returns an error, because there is no agent for this platform.
///
/// # Errors
/// Always returns an error.
#[cfg(not(agent))]
pub fn snapshots_early(
    executable: &std::path::Path,
    args: &[std::ffi::OsString],
    options: &Options,
    _: &mut dyn FnMut(Vec<Snapshot>, u64),
) -> anyhow::Result<Run> {
    snapshots(executable, args, options)
}

/// Options for running a program.
#[derive(Clone, Debug)]
pub struct Options {
    /// When to take snapshots.
    pub at: Vec<At>,
    /// The interval of further snapshots.
    pub every: Option<Duration>,
    /// The mean number of bytes between two recorded allocations; `None` records all.
    pub sample: Option<u64>,
    /// The folder for the compiled agent.
    pub cache: Option<PathBuf>,
    /// Whether to handle signals of this process: SIGUSR1 takes a snapshot, others also go to the program.
    pub signals: bool,
    /// What is recorded.
    pub records: Records,
    /// Whether the processes that the program starts are recorded, too.
    pub follow: bool,
}

/// What is recorded of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// The live blocks, for snapshots.
    #[default]
    Blocks,
    /// Counts of all allocations instead. There are no snapshots then.
    Counts,
    /// The live blocks, and how often each call stack allocated.
    Both,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            at: vec![At::Peak],
            every: None,
            sample: None,
            cache: None,
            signals: false,
            records: Records::Blocks,
            follow: false,
        }
    }
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "peak" => Ok(Self::Peak),
            "exit" => Ok(Self::Exit),
            "signal" => Ok(Self::Signal),
            _ => duration(text)
                .map(Self::After)
                .map_err(|_| "must be peak, exit, signal or a time such as 30s, 500ms or 2m".to_owned()),
        }
    }
}

/// Parses a time such as `30s`.
///
/// # Errors
/// Returns an error that names the mistake.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "must be a time such as 30s, 500ms or 2m".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(wrong()),
    };
    if seconds <= 0.0 {
        return Err("must be longer than 0 s".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_killed_program_is_told_in_one_line() {
        let mut killed = Killed {
            is_oom: true,
            used: Some(399_000_000),
            limit: Some(400_000_000),
            live: 300_000_000,
            before: Some(35),
        };
        assert_eq!(
            killed.note(270_000_000),
            "killed by the OOM killer at 399.0 MB of 400.0 MB; the snapshot is from 35 ms before, when 270.0 MB were live, \
             90.0 % of the 300.0 MB at the end"
        );
        assert!(killed.note(354_000_000).ends_with("when 354.0 MB were live, and about 300.0 MB at the end"));
        assert!(killed.note(1700).ends_with("400.0 MB; 300.0 MB were live, and there is no copy of them"));
        killed.is_oom = false;
        assert!(killed.note(270_000_000).starts_with("killed by SIGKILL together with census' helper, as"));
    }

    #[test]
    fn snapshot_moments_are_parsed() {
        assert_eq!("peak".parse(), Ok(At::Peak));
        assert_eq!("30s".parse(), Ok(At::After(Duration::from_secs(30))));
        assert_eq!("1.5m".parse(), Ok(At::After(Duration::from_secs(90))));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["", "30", "s", "1e9s", "-1s", "0s", "9999999999999999999999h", "later", "1.2.3s"] {
            assert!(wrong.parse::<At>().is_err(), "{wrong}");
        }
    }
}

//! Runs a program with the agent inside and takes its snapshots.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod exe;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;

use super::snapshot::Snapshot;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use exe::code_at;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use process::{snapshots, snapshots_early};

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// When to take a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Of the most live bytes.
    Peak,
    /// When the program ends.
    Exit,
    /// When this process gets SIGUSR1 or SIGINT.
    Signal,
    /// So long after the program began.
    After(Duration),
}

/// What came of running a program.
pub struct Run {
    /// In the order of time. Their memory is that of processes which end when these are dropped.
    pub snapshots: Vec<Snapshot>,
    /// The program's exit code, or 128 and the signal that killed it.
    pub code: u8,
    /// Milliseconds that it ran.
    pub millis: u64,
    /// What a user should know, a line each.
    pub notes: Vec<String>,
}

/// There is no agent for this platform.
///
/// # Errors
/// Always, with a line that says so.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn snapshots(_: &std::path::Path, _: &[std::ffi::OsString], _: &Options) -> anyhow::Result<Run> {
    anyhow::bail!("`cargo dwell census` needs Linux with glibc on x86-64")
}

/// There is no agent for this platform.
///
/// # Errors
/// Always, with a line that says so.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn snapshots_early(
    executable: &std::path::Path,
    args: &[std::ffi::OsString],
    options: &Options,
    _: &mut dyn FnMut(Vec<Snapshot>, u64),
) -> anyhow::Result<Run> {
    snapshots(executable, args, options)
}

/// How to run a program.
#[derive(Clone, Debug)]
pub struct Options {
    /// When to take snapshots.
    pub at: Vec<At>,
    /// And one each time that so much time has passed.
    pub every: Option<Duration>,
    /// The mean number of bytes from one allocation that is recorded to the next; all are if there is none.
    pub sample: Option<u64>,
    /// Where the compiled agent is kept.
    pub cache: Option<PathBuf>,
    /// Whether signals that this process gets are handled: SIGUSR1 takes a snapshot, others go to the program as well.
    pub signals: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { at: vec![At::Peak], every: None, sample: None, cache: None, signals: false }
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

/// A time such as `30s`.
///
/// # Errors
/// The error in the text.
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
    fn moments_are_read_as_they_are_written() {
        assert_eq!("peak".parse(), Ok(At::Peak));
        assert_eq!("30s".parse(), Ok(At::After(Duration::from_secs(30))));
        assert_eq!("1.5m".parse(), Ok(At::After(Duration::from_secs(90))));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["", "30", "s", "1e9s", "-1s", "0s", "9999999999999999999999h", "later", "1.2.3s"] {
            assert!(wrong.parse::<At>().is_err(), "{wrong}");
        }
    }
}

//! The arguments of `cargo dwell advise`.

use super::costs::Goal;
use crate::program::BuildArgs;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "Exit code: 0 if a change held; 1 if none did; 2 for wrong input or usage, or if the program does not \
                          build or run. Your source stays as it is: the changes are patches.";

/// `cargo dwell advise`
#[derive(Debug, Clone, Args)]
#[command(after_help = EXIT_CODES, override_usage = "cargo dwell advise [OPTIONS] [-- ARGS]...")]
pub struct Advise {
    /// The time for the tries, such as `90s` or `10m`: the program's first build, and the first check and tests, come on top
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    pub(super) time: Duration,
    /// What a change has to improve [default: one of them, and the other does not get worse]
    #[arg(long = "for", value_name = "GOAL", value_enum)]
    pub(super) goal: Option<Goal>,
    /// The folder for the patches, one for each change that held [default: `dwell/advise` in the target directory]
    #[arg(long, value_name = "DIR")]
    pub(super) patch: Option<PathBuf>,
    /// Make a branch of git with a commit for each change that held
    #[arg(long, value_name = "NAME")]
    pub(super) branch: Option<String>,
    /// Go on where the last run in this workspace ended
    #[arg(long)]
    pub(super) resume: bool,
    /// Run SCRIPT while the program runs, and end the program after it: a server gets its load so. `DWELL_PID` is the program's
    #[arg(long, value_name = "SCRIPT")]
    pub(super) driver: Option<PathBuf>,
    /// Append what was predicted and measured to FILE, a line of JSON for each try
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Print the error of each kind of prediction in FILE, which --record wrote, and do nothing else
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(super) errors: Option<PathBuf>,
    /// Do not run the tests
    #[arg(long)]
    pub(super) no_test: bool,
    /// Run the tests by this command for a shell, instead of `cargo test`
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_test")]
    pub(super) test_command: Option<String>,
    /// The folder of the library `dwell`, for changes that use a type of its own [default: the one that the workspace depends on; without one, types of std are tried]
    #[arg(long, value_name = "PATH")]
    pub(super) dwell: Option<PathBuf>,
    /// Try also changes of public types and signatures of a library that can be published
    #[arg(long)]
    pub(super) breaking: bool,
    /// Change the source of the dependency NAME, in a copy of the workspace
    #[arg(long, value_name = "NAME", conflicts_with = "branch")]
    pub(super) patched: Option<String>,
    #[command(flatten)]
    pub(super) build: BuildArgs,
    /// The program's own arguments
    #[arg(last = true, value_name = "ARGS")]
    pub(super) args: Vec<OsString>,
}

fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "takes a time such as `90s`, `5m` or `1h`".to_owned();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match &text[digits.len()..] {
        "s" | "" => number,
        "m" | "min" => number.saturating_mul(60),
        "h" => number.saturating_mul(3600),
        _ => return Err(wrong()),
    };
    // More than a day is no bound that a person waits for.
    if (1..=86_400).contains(&seconds) { Ok(Duration::from_secs(seconds)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        for (text, seconds) in [("90s", 90), ("5m", 300), ("1h", 3600), ("10min", 600), ("7", 7)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)));
        }
        for wrong in ["", "m", "0s", "5x", "-1s", "25h", "99999999999999999999h", "1.5m"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}

//! The arguments of `cargo dwell apply`.

use super::condition::{self, KeepIf};
use crate::program::BuildArgs;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "Exit code: 0 if the change was made, or shown with --dry-run; 1 if it does not compile, if a \
                          test has another outcome, or if it does not pay: then nothing is changed; 2 for wrong input or \
                          usage.";

/// `cargo dwell apply`
#[derive(Debug, Clone, Args)]
#[command(after_help = EXIT_CODES, override_usage = "cargo dwell apply [OPTIONS] [FINDING]... [-- ARGS]...")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Apply {
    /// The findings to apply: numbers of the report, or names such as `Type.field` [default: ask, or the first one]
    #[arg(value_name = "FINDING", conflicts_with = "all")]
    pub(super) finding: Vec<String>,
    /// The report: a file with the JSON of `census`, `allocs`, `layout`, `futures`, `dyn` or `dwell::weigh`'s advice, or `census`, `allocs` or `layout` to make it now
    /// [default: census if ARGS are given, else layout]
    #[arg(long, value_name = "FILE|COMMAND")]
    pub(super) from: Option<String>,
    /// Try all findings, one after the other, and keep each that pays
    #[arg(long)]
    pub(super) all: bool,
    /// List the findings, and whether they can be applied
    #[arg(long)]
    pub(super) list: bool,
    /// Show the change as a diff, without tests, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Write the change to FILE as a patch, instead of changing the source
    #[arg(long, value_name = "FILE")]
    pub(super) patch: Option<PathBuf>,
    /// Keep a change only if it saves this much of the live bytes: `saves >= 5%`, `saves >= 64KB`
    #[arg(long, value_name = "CONDITION", value_parser = condition::parse)]
    pub(super) keep_if: Option<KeepIf>,
    /// Write the change even if some uses do not compile yet
    #[arg(long)]
    pub(super) keep: bool,
    /// Do not run the tests
    #[arg(long)]
    pub(super) no_test: bool,
    /// Run the tests by this command for a shell, instead of `cargo test`
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_test")]
    pub(super) test_command: Option<String>,
    /// Do not run the program before and after the change
    #[arg(long)]
    pub(super) no_measure: bool,
    /// Check also with these features only, separated by commas; may be repeated
    #[arg(long, value_name = "FEATURES")]
    pub(super) features_set: Vec<String>,
    /// The folder of the library `dwell`, for changes that use a type of its own [default: the one of crates.io]
    #[arg(long, value_name = "PATH")]
    pub(super) dwell: Option<PathBuf>,
    /// Change the public types and signatures of a library that can be published
    #[arg(long)]
    pub(super) breaking: bool,
    /// Make a change although a warning names places where its effect may be one that no test sees
    #[arg(long)]
    pub(super) accept: bool,
    /// Change the source of the dependency NAME, in a copy of the workspace
    #[arg(long, value_name = "NAME")]
    pub(super) patched: Option<String>,
    /// Change a tree with uncommitted changes
    #[arg(long)]
    pub(super) allow_dirty: bool,
    /// Change a tree that is not in a git repository
    #[arg(long)]
    pub(super) allow_no_vcs: bool,
    /// The longest time for one step, such as a build, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = seconds)]
    pub(super) timeout: Duration,
    #[command(flatten)]
    pub(super) build: BuildArgs,
    /// The program's own arguments, to measure it
    #[arg(last = true, value_name = "ARGS")]
    pub(super) args: Vec<OsString>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("takes a number of seconds, at least 1".to_owned()),
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
    }
}

impl Apply {
    /// Returns the arguments for tries in a copy, which write nothing.
    pub(super) fn of_tries(build: BuildArgs, timeout: Duration) -> Self {
        Self {
            finding: Vec::new(),
            from: None,
            all: false,
            list: false,
            dry_run: true,
            patch: None,
            keep_if: None,
            keep: false,
            no_test: false,
            test_command: None,
            no_measure: true,
            features_set: Vec::new(),
            dwell: None,
            breaking: false,
            accept: false,
            patched: None,
            allow_dirty: true,
            allow_no_vcs: true,
            timeout,
            build,
            args: Vec::new(),
        }
    }
}

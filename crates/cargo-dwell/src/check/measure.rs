//! One run of a program for `cargo dwell check`, which starts this in a process of its own: what the program holds and what it
//! allocates, both of the same run.

use crate::allocs;
use crate::report::saved;
use anyhow::Result;
use clap::Args;
use dwell_heap::profile::run::with_snapshots;
use dwell_heap::run::{At, Options, Records, Run, snapshots};
use dwell_heap::{Ran, Symbols, stacks};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is measured of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) peak: bool,
    pub(super) exit: bool,
    pub(super) allocs: bool,
}

impl Wanted {
    pub(super) const ALL: Self = Self { peak: true, exit: true, allocs: true };

    pub(super) fn is_nothing(self) -> bool {
        !(self.peak || self.exit || self.allocs)
    }
}

/// `cargo dwell measure`
#[derive(Debug, Args)]
pub struct Measure {
    #[arg(long)]
    exe: PathBuf,
    #[arg(long)]
    root: PathBuf,
    #[arg(long)]
    cache: Option<PathBuf>,
    #[arg(long, value_delimiter = ',')]
    own: Vec<String>,
    #[arg(long, value_delimiter = ',')]
    at: Vec<At>,
    #[arg(long)]
    allocs: bool,
    /// The file to write.
    #[arg(long)]
    save: PathBuf,
    #[arg(last = true)]
    args: Vec<OsString>,
}

/// What a run cost.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    pub(super) heap: Option<dwell_heap::json::Document>,
    pub(super) peak_bytes: Option<u64>,
    pub(super) allocs: Option<allocs::document::Document>,
}

impl Measure {
    /// Runs the program.
    ///
    /// # Errors
    /// Returns an error if it cannot be run or read.
    pub fn run(&self) -> Result<ExitCode> {
        let options = Options {
            at: self.at.clone(),
            every: None,
            sample: None,
            cache: self.cache.clone(),
            signals: true,
            records: Records::Blocks,
            follow: false,
        };
        let (run, profile) = if self.allocs {
            let (run, profile) = with_snapshots(&self.exe, &self.args, &options)?;
            (run, Some(profile))
        } else {
            (snapshots(&self.exe, &self.args, &options)?, None)
        };
        let Run { mut snapshots, peak_bytes, code, millis, notes, killed, .. } = run;
        for note in &notes {
            eprintln!("note: {note}");
        }
        if code != 0 || killed.is_some() {
            return Ok(ExitCode::from(code.max(1)));
        }
        let ran = Ran {
            executable: self.exe.clone(),
            own_crates: self.own.clone(),
            root: Some(self.root.clone()),
            millis,
            only_blocks: true,
            ..Ran::default()
        };
        let addresses = profile.as_ref().map(|profile| stacks::addresses(&profile.as_snapshot())).unwrap_or_default();
        // Threads report what they take a little late.
        let most = snapshots.iter().map(|snapshot| snapshot.live_bytes).max().unwrap_or(0);
        let peak_bytes = peak_bytes.map(|peak| peak.max(most));
        let symbols = Symbols::load_at(&ran, &mut snapshots, &addresses)?;
        let heap = (!snapshots.is_empty()).then(|| symbols.census(&ran, &snapshots));
        // This ends the copies of the process.
        drop(snapshots);
        let (program, frames) = symbols.program();
        let scope = allocs::Scope { root: Some(&self.root), own_crates: &self.own, during: None };
        let allocs = profile.map(|profile| allocs::document(&profile, program, frames, None, scope));
        let cost = Cost { heap, peak_bytes, allocs };
        saved::write(&self.save, |out| serde_json::to_writer(out, &cost).map_err(Into::into))?;
        Ok(ExitCode::SUCCESS)
    }
}

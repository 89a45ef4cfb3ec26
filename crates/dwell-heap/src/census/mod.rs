//! From snapshots of a program to the rows and findings of a report.

mod snapshot;

use crate::capture::run::Killed;
use crate::capture::{self, Snapshot, variables};
use crate::debuginfo::{self, Frames, Locals, Options, Program, Text};
use crate::findings::{Known, also::Also};
use crate::heap::ages;
pub use crate::heap::walk::found::Find;
use crate::heap::walk::owners;
use crate::json::{self, Document, VERSION};
use crate::source::Items;
use anyhow::{Result, bail};
use std::collections::HashSet;
use std::path::PathBuf;

/// A program that was run.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// The executable, with debug info.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The crates of the workspace that it was built from, with `_` for `-`.
    pub own_crates: Vec<String>,
    /// The running time of the program in milliseconds.
    pub millis: u64,
    /// The mean number of bytes between two recorded allocations, if not all were recorded.
    pub sample: Option<u64>,
    /// The end, if the program was killed together with the agent's helper.
    pub killed: Option<Killed>,
    /// The workspace, whose source is searched for declarations.
    pub root: Option<PathBuf>,
    /// Further runs, which show how large the values of integers become.
    pub also: Vec<Document>,
    /// What to answer with the chain of owners from a root.
    pub asked: Asked,
    /// Whether only the blocks with their owners are wanted: no findings, values and shapes.
    pub only_blocks: bool,
}

/// Questions that are answered with chains of owners from a root.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The largest block of a type, or the block at an address such as `0x5581c0de`.
    pub path: Option<String>,
    /// Values by their contents.
    pub find: Option<Find>,
}

/// The debug info of an executable, for reports on its snapshots.
#[derive(Debug)]
pub struct Symbols {
    program: Program,
    frames: Frames,
    locals: Locals,
    known: Known,
    asked: Asked,
    only_blocks: bool,
}

impl Symbols {
    /// Reads the debug info.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn load(ran: &Ran, snapshots: &mut [Snapshot]) -> Result<Self> {
        Self::load_at(ran, snapshots, &[])
    }

    /// Reads the debug info, also of the functions at more addresses.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn load_at(ran: &Ran, snapshots: &mut [Snapshot], more: &[u64]) -> Result<Self> {
        let mut files = capture::number(snapshots);
        if files.is_empty() {
            files.push(ran.executable.clone());
        }
        let running: Vec<u64> = snapshots.iter().flat_map(variables::addresses).collect();
        let mut addresses: Vec<u64> =
            snapshots.iter().flat_map(owners::addresses).chain(running.iter().chain(more).copied()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let options = Options { own_crates: ran.own_crates.clone(), cache: None, progress: true };
        let (mut program, frames, locals) = debuginfo::load_objects(&files, &options, &addresses, &running)?;
        let also = ran.also.iter().fold(Also::default(), |mut all, run| {
            run.snapshots.iter().for_each(|snapshot| all.add(&snapshot.fields));
            all
        });
        // Of an executable that was built elsewhere, the paths of its sources tell.
        let guessed = if ran.own_crates.is_empty() { debuginfo::guess_own(&mut program) } else { Vec::new() };
        let units = own_units(&program.units);
        let is_known = |own: &&String| units.contains(&***own);
        let mut own: Vec<String> = ran.own_crates.iter().filter(is_known).cloned().collect();
        // To read all sources of a workspace takes seconds; a program that has no crate of it was built elsewhere.
        let has_own = || crates(&program.units).any(|(_, name)| ran.own_crates.iter().any(|own| own == name));
        let has_sources = !ran.only_blocks && (ran.own_crates.is_empty() || has_own());
        let items = Items::new(ran.root.as_deref().filter(|_| has_sources));
        if ran.own_crates.is_empty() {
            own.extend(guessed.into_iter().chain(units.into_iter().map(str::to_owned)));
        }
        program.prefer_own_names();
        Ok(Self {
            program,
            frames,
            locals,
            known: Known { also, items, own },
            asked: ran.asked.clone(),
            only_blocks: ran.only_blocks,
        })
    }

    /// Returns the types, and the functions at the addresses that were asked for.
    pub fn program(&self) -> (&Program, &Frames) {
        (&self.program, &self.frames)
    }

    /// Summarises the snapshots of a run.
    pub fn census(&self, ran: &Ran, snapshots: &[Snapshot]) -> Document {
        document(ran, self, snapshots)
    }

    /// Replaces what can be used of blocks by what was requested, in a snapshot from outside.
    pub fn settle(&self, snapshot: &mut Snapshot) {
        snapshot::settle(snapshot, &self.program, &self.frames, &self.locals);
    }

    /// Summarises a snapshot of the executable.
    pub fn look_at(&self, snapshot: &Snapshot) -> json::Snapshot {
        self.look(snapshot, (&[], &[]))
    }

    /// See [`look_at`](Self::look_at). `ages` are the numbers of the snapshots since which the blocks live, and their moments.
    fn look(&self, snapshot: &Snapshot, ages: (&[u32], &[String])) -> json::Snapshot {
        let asked = (!self.only_blocks).then_some(&self.asked);
        snapshot::summarise(snapshot, &self.program, &self.frames, &self.locals, &self.known, asked, ages)
    }
}

/// Returns the crates of a workspace: cargo gives rustc their sources by a relative path, and those of other crates by an
/// absolute one.
fn own_units(units: &[Text]) -> HashSet<&str> {
    let is_own = |unit: &str| !unit.starts_with(['/', '<']) && !unit.starts_with("library/");
    crates(units).filter(|(unit, _)| is_own(unit)).map(|(_, name)| name).collect()
}

/// Returns the units of rustc with the names of their crates.
fn crates(units: &[Text]) -> impl Iterator<Item = (&str, &str)> {
    // `src/main.rs/@/app.0f3a-cgu.0`; std has `library/std/src/lib.rs/@/..`.
    units.iter().filter_map(|unit| {
        let at = unit.find("/@/")? + 3;
        Some((&**unit, &unit[at..at + unit[at..].find('.')?]))
    })
}

/// Summarises the snapshots of a run.
///
/// # Errors
/// Returns an error if the debug info cannot be read, or if there is no snapshot.
pub fn census(ran: &Ran, snapshots: &mut [Snapshot]) -> Result<Document> {
    if snapshots.is_empty() {
        bail!("there is no snapshot: the program ended before one was taken");
    }
    let symbols = Symbols::load(ran, snapshots)?;
    Ok(document(ran, &symbols, snapshots))
}

/// Summarises the snapshots of a program that was started without the agent.
///
/// # Errors
/// Returns an error if the debug info cannot be read.
pub fn from_outside(ran: &Ran, snapshots: &mut [Snapshot]) -> Result<Document> {
    let symbols = Symbols::load(ran, snapshots)?;
    for snapshot in &mut *snapshots {
        symbols.settle(snapshot);
    }
    Ok(document(ran, &symbols, snapshots))
}

fn document(ran: &Ran, symbols: &Symbols, snapshots: &[Snapshot]) -> Document {
    let program = &symbols.program;
    let of_program = json::Program {
        file: ran.executable.display().to_string(),
        arguments: ran.arguments.clone(),
        build_id: program.build_id.as_deref().map(str::to_owned),
        rustc: program.rustc.as_deref().map(str::to_owned),
        millis: ran.millis,
        sample: ran.sample,
        killed: ran.killed.clone(),
    };
    let moments: Vec<String> = snapshots.iter().map(|snapshot| snapshot::at(&snapshot.at)).collect();
    let ages = if snapshots.len() > 1 && !ran.only_blocks { ages::find(snapshots) } else { Vec::new() };
    let snapshots = snapshots
        .iter()
        .enumerate()
        .map(|(number, snapshot)| {
            let ages = ages.get(number).map_or((&[][..], &[][..]), |ages| (&ages[..], &moments[..=number]));
            let mut report = symbols.look(snapshot, ages);
            report.standard_error = ran.sample.map(|mean| standard_error(snapshot, mean));
            report
        })
        .collect();
    Document { version: VERSION, program: of_program, snapshots }
}

/// Returns the standard error of the live bytes of a sampled run.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "only a few digits of the error are printed"
)]
fn standard_error(snapshot: &Snapshot, mean: u64) -> u64 {
    let variance: f64 = snapshot
        .blocks
        .iter()
        .map(|block| {
            let size = block.size as f64;
            // A block of this size is recorded with this probability and counts for its inverse (Horvitz and Thompson,
            // 1952).
            let chance = 1.0 - (-size / mean.max(1) as f64).exp();
            if chance <= 0.0 { 0.0 } else { (1.0 - chance) * (size / chance) * (size / chance) }
        })
        .sum();
    variance.sqrt() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_the_workspace_have_relative_paths() {
        let units = [
            "src/main.rs/@/app.a42-cgu.0",
            "crates/model/src/lib.rs/@/app_model.b1-cgu.3",
            "/home/a/.cargo/registry/src/index-1/tokio-1.0.0/src/lib.rs/@/tokio.0-cgu.1",
            "library/std/src/lib.rs/@/std.4-cgu.0",
            "other.c",
        ];
        let units = units.map(Text::from);
        let mut own: Vec<&str> = own_units(&units).into_iter().collect();
        own.sort_unstable();
        assert_eq!(own, ["app", "app_model"]);
    }
}

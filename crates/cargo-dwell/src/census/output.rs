//! The output options of a census, and its reports.

use crate::capture::run::Killed;
use crate::capture::{Snapshot, variables};
use crate::debuginfo::{self, Frames, Locals, Options, Program, Text};
use crate::findings::{Known, also::Also};
use crate::heap::walk::owners;
use crate::output::{self, Format, Look};
use crate::report::files::Files;
use crate::report::json::{self, Document, VERSION};
use crate::report::{diff, saved, snapshot, text};
use crate::source::Items;
use anyhow::{Result, bail};
use clap::Args;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The output options of a census.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Show one type: its blocks, fields and variants, and the chain of owners up to a root
    #[arg(long = "type", value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub of_type: Option<String>,
    /// Show the first N rows of each table
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Write all snapshots to FILE as JSON; `cargo dwell census FILE` reports on them without running the program
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Print what grew since OLD, a file that --save wrote
    #[arg(long, value_name = "OLD")]
    pub diff: Option<PathBuf>,
    /// Also use the values of another run of this program, which --save wrote, to suggest narrower integers; give at least
    /// two files, of runs with other input
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub also: Vec<PathBuf>,
    /// Write no bytes of the program's values: no keys of maps, and no arguments of the program
    #[arg(long)]
    pub no_texts: bool,
    /// The files to write.
    #[command(flatten)]
    pub files: Files,
}

impl OutputArgs {
    /// Checks the arguments before the program runs.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub fn check(&self) -> Result<()> {
        for file in self.diff.iter().chain(&self.also) {
            saved::read(file)?;
        }
        for file in self.save.as_deref().into_iter().chain(self.files.paths()) {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if file.is_dir() || file.file_name().is_none() {
                bail!("{}: is a directory; name a file", file.display());
            }
            if !folder.is_dir() {
                bail!("{}: there is no directory {}", file.display(), folder.display());
            }
        }
        Ok(())
    }
}

impl OutputArgs {
    /// Reads the files of `--also`.
    ///
    /// # Errors
    /// Returns an error if one is not a census.
    pub fn also(&self) -> Result<Vec<Document>> {
        self.also.iter().map(|file| saved::read(file)).collect()
    }
}

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
}

/// The debug info of an executable, for reports on its snapshots.
#[derive(Debug)]
pub struct Symbols {
    program: Program,
    frames: Frames,
    locals: Locals,
    known: Known,
}

impl Symbols {
    /// Reads the debug info.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn load(ran: &Ran, snapshots: &[Snapshot]) -> Result<Self> {
        let running: Vec<u64> = snapshots.iter().flat_map(variables::addresses).collect();
        let mut addresses: Vec<u64> = snapshots.iter().flat_map(owners::addresses).chain(running.clone()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let options = Options { own_crates: ran.own_crates.clone(), cache: None, progress: true };
        let (mut program, frames, locals) =
            debuginfo::load_with_locals(&ran.executable, &options, &addresses, &running)?;
        let also = ran.also.iter().fold(Also::default(), |mut all, run| {
            run.snapshots.iter().for_each(|snapshot| all.add(&snapshot.fields));
            all
        });
        let items = Items::new(ran.root.as_deref());
        // Of an executable that was built elsewhere, the paths of its sources tell.
        let guessed = if ran.own_crates.is_empty() { debuginfo::guess_own(&mut program) } else { Vec::new() };
        let units = own_units(&program.units);
        let is_known = |own: &&String| units.contains(&***own);
        let mut own: Vec<String> = ran.own_crates.iter().filter(is_known).cloned().collect();
        if ran.own_crates.is_empty() {
            own.extend(guessed.into_iter().chain(units.into_iter().map(str::to_owned)));
        }
        program.prefer_own_names();
        Ok(Self { program, frames, locals, known: Known { also, items, own } })
    }

    /// Replaces what can be used of blocks by what was requested, in a snapshot from outside.
    pub fn settle(&self, snapshot: &mut Snapshot) {
        snapshot::settle(snapshot, &self.program, &self.frames, &self.locals);
    }

    /// Summarises a snapshot of the executable.
    pub fn look_at(&self, snapshot: &Snapshot) -> json::Snapshot {
        snapshot::of(snapshot, &self.program, &self.frames, &self.locals, &self.known)
    }
}

/// Returns the crates of a workspace: cargo gives rustc their sources by a relative path, and those of other crates by an
/// absolute one.
fn own_units(units: &[Text]) -> HashSet<&str> {
    // `src/main.rs/@/app.0f3a-cgu.0`; std has `library/std/src/lib.rs/@/..`.
    let of = |unit: &'_ Text| -> Option<(usize, usize)> {
        let at = unit.find("/@/").filter(|_| !unit.starts_with(['/', '<']) && !unit.starts_with("library/"))? + 3;
        Some((at, at + unit[at..].find('.')?))
    };
    units.iter().filter_map(|unit| of(unit).map(|(from, to)| &unit[from..to])).collect()
}

/// Summarises the snapshots of a run.
///
/// # Errors
/// Returns an error if the debug info cannot be read, or if there is no snapshot.
pub fn census(ran: &Ran, snapshots: &[Snapshot]) -> Result<Document> {
    if snapshots.is_empty() {
        bail!("there is no snapshot: the program ended before one was taken");
    }
    Ok(document(ran, &Symbols::load(ran, snapshots)?, snapshots))
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
    let snapshots = snapshots
        .iter()
        .map(|snapshot| {
            let mut of = symbols.look_at(snapshot);
            of.standard_error = ran.sample.map(|mean| standard_error(snapshot, mean));
            of
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

/// Prints the snapshots of a run, as text on standard error, since standard output is the program's.
///
/// # Errors
/// Returns an error if the debug info cannot be read, a file cannot be written, or no type has the requested name.
pub fn report(ran: &Ran, snapshots: Vec<Snapshot>, args: &OutputArgs) -> Result<ExitCode> {
    let document = census(ran, &snapshots)?;
    // Dropping the snapshots ends the copies of the process.
    drop(snapshots);
    // Standard output is the program's, except for formats that other programs read.
    show(&document, args, args.format == Format::Human)
}

/// Prints a file that `--save` wrote.
///
/// # Errors
/// Returns an error if it cannot be read; otherwise as [`report`].
pub fn again(file: &Path, args: &OutputArgs) -> Result<ExitCode> {
    show(&saved::read(file)?, args, false)
}

pub(super) fn show(document: &Document, args: &OutputArgs, beside: bool) -> Result<ExitCode> {
    if args.no_texts {
        return show(&document.without_texts(), &OutputArgs { no_texts: false, ..args.clone() }, beside);
    }
    // Save first, so that a later error cannot lose the measurement.
    if let Some(file) = &args.save {
        saved::write(file, |out| serde_json::to_writer(out, document).map_err(Into::into))?;
        eprintln!("note: saved to {}", file.display());
    }
    let diff = match &args.diff {
        Some(old) => Some(diff::Diff::new(&saved::read(old)?, document)?),
        None => None,
    };
    args.files.write(document, diff.as_ref())?;
    if let Some(diff) = diff {
        output::print_to(beside, |mut out| match args.format {
            Format::Json => {
                serde_json::to_writer(&mut out, &diff)?;
                writeln!(out)
            }
            Format::Human => diff.write(args.top, &Look::terminal(), &mut out),
            Format::Markdown => diff.write(args.top, &Look::page(), &mut out),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let of_type = match &args.of_type {
        Some(name) => Some(text::TypeDetail::find(document, name)?),
        None => None,
    };
    output::print_to(beside, |mut out| match (args.format, &of_type) {
        (Format::Json, None) => {
            serde_json::to_writer(&mut out, document)?;
            writeln!(out)
        }
        (Format::Json, Some(detail)) => {
            serde_json::to_writer(&mut out, detail)?;
            writeln!(out)
        }
        (Format::Human, None) => text::write(document, args.top, &Look::terminal(), &mut out),
        (Format::Markdown, None) => text::write(document, args.top, &Look::page(), &mut out),
        (Format::Human, Some(detail)) => detail.write(args.top, &Look::terminal(), &mut out),
        (Format::Markdown, Some(detail)) => detail.write(args.top, &Look::page(), &mut out),
    })?;
    Ok(ExitCode::SUCCESS)
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

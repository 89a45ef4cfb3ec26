//! The output options of a census, and its reports.

use crate::report::files::Files;
use crate::report::{diff, paths, saved, text};
use anyhow::{Result, bail};
use clap::Args;
use dwell_heap::Find;
use dwell_heap::json::Document;
pub use dwell_heap::{Ran, Snapshot, census};
use dwell_output::{Format, Look};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The output options of a census.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Show one type: its blocks, fields and variants, and the chain of owners from a root to the largest block; or show that
    /// chain for the block at an address such as 0x5581c0de
    #[arg(long = "type", value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub of_type: Option<String>,
    /// Show the values that contain a text, or are a number, and who holds them: 'Session.user contains TEXT', 'Session.id is 42'
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["file", "no_texts", "of_type"])]
    pub find: Option<Find>,
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
    /// Checks the arguments for a report on several processes.
    ///
    /// # Errors
    /// Returns an error if a file is to be written or compared.
    pub(super) fn check_several(&self) -> Result<()> {
        if self.save.is_some() || self.diff.is_some() || self.files.paths().next().is_some() {
            bail!("--follow: a file has one process; leave out the files, or --follow");
        }
        Ok(())
    }

    /// Reads the files of `--also`.
    ///
    /// # Errors
    /// Returns an error if one is not a census.
    pub fn also(&self) -> Result<Vec<Document>> {
        self.also.iter().map(|file| saved::read(file)).collect()
    }
}

/// Prints the snapshots of a run, as text on standard error, since standard output is the program's.
///
/// # Errors
/// Returns an error if the debug info cannot be read, a file cannot be written, or no type has the requested name.
pub fn report(ran: &Ran, mut snapshots: Vec<Snapshot>, args: &OutputArgs) -> Result<ExitCode> {
    let document = census(ran, &mut snapshots)?;
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
        dwell_output::print_to(beside, |mut out| match args.format {
            Format::Json => {
                serde_json::to_writer(&mut out, &diff)?;
                writeln!(out)
            }
            Format::Human => diff.write(args.top, &Look::terminal(), &mut out),
            Format::Markdown => diff.write(args.top, &Look::page(), &mut out),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let asked = args.of_type.as_ref().filter(|name| name.starts_with("0x"));
    if let Some(asked) = asked.cloned().or_else(|| args.find.as_ref().map(ToString::to_string)) {
        paths::expect(document, &asked)?;
        if args.format != Format::Json {
            let look = if args.format == Format::Human { Look::terminal() } else { Look::page() };
            return dwell_output::print_to(beside, |mut out| {
                document.snapshots.iter().try_for_each(|snapshot| paths::write(&snapshot.paths, &look, &mut out))
            })
            .map(|()| ExitCode::SUCCESS);
        }
    }
    let of_type = match args.of_type.as_ref().filter(|_| asked.is_none()) {
        Some(name) => Some(text::TypeDetail::find(document, name)?),
        None => None,
    };
    dwell_output::print_to(beside, |mut out| match (args.format, &of_type) {
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

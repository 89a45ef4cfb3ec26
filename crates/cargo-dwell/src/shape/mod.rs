//! `cargo dwell shape`: how a corpus of JSON should live in Rust.

pub mod advice;
pub mod infer;
pub mod input;
pub mod lean;
pub mod model;
pub mod names;
pub mod places;
pub mod plan;
pub mod report;
pub mod rust;
pub mod schema;
pub mod types;
pub mod units;

use anyhow::{Context, Result, bail};
use bytesize::ByteSize;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plan::Plan;
use report::Format;
use schema::{Kind, Schema};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `cargo dwell shape` is asked for.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 if all was read, 2 if something was not (with --keep-going too) or on wrong usage."
)]
pub struct ShapeArgs {
    /// Files and folders with JSON (.json, .jsonl, .ndjson, each also .gz), `-` for standard input; none for a
    /// built-in sample
    #[arg(value_name = "DIR|FILE")]
    pub paths: Vec<PathBuf>,
    /// Write Rust types, naive and lean, to FILE
    #[arg(long, value_name = "FILE")]
    pub rust: Option<PathBuf>,
    /// Overwrite what --rust names
    #[arg(long)]
    pub force: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print the N moves that save most and the N largest records only
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Leave advice out that saves less, such as 64K or 1MiB
    #[arg(long, value_name = "BYTES")]
    pub min_saving: Option<ByteSize>,
    /// Read about N texts only: files evenly spread, the first lines of JSON Lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
    /// Report what could be read although something could not
    #[arg(long)]
    pub keep_going: bool,
    /// Read with N threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
}

/// Runs `cargo dwell shape`.
///
/// # Errors
/// Bad input, unless it may be left out; a file that may not be overwritten; output that cannot be written.
pub fn run(args: &ShapeArgs) -> Result<ExitCode> {
    if let Some(file) = &args.rust {
        check_target(file, args.force)?;
    }
    let mut found = if args.paths.is_empty() { input::sample() } else { input::find(&args.paths) };
    if args.paths.is_empty() {
        eprintln!("note: no path given, so this is a built-in sample of {} service models", found.inputs.len());
    }
    if !args.keep_going && !found.problems.is_empty() {
        return Err(found.problems.swap_remove(0).into());
    }
    let files = found.inputs.len();
    if let Some(texts) = args.sample {
        found.sample(texts as usize);
        eprintln!("note: sampled, {} of {files} files are read, at most {texts} texts", found.inputs.len());
    }

    let progress = progress(found.inputs.iter().map(input::Input::size).sum());
    let options = input::Options { threads: args.threads.map_or(0, usize::from), keep_going: args.keep_going };
    let mut reading = input::read(&found, &options, &|bytes| progress.inc(bytes));
    progress.finish_and_clear();
    if !args.keep_going && !reading.problems.is_empty() {
        return Err(reading.problems.swap_remove(0).into());
    }
    let mut left_out = found.problems;
    left_out.append(&mut reading.problems);
    for problem in &left_out {
        eprintln!("error: {problem}");
    }
    let schema = reading.accumulator.finish();
    if schema.documents == 0 {
        bail!("nothing could be read");
    }
    if is_medley(&schema) {
        eprintln!("note: the files seem to hold unrelated data; types are better for one kind of file at a time");
    }
    let plan = Plan::new(&schema);
    // Neither takes the other with it when it fails: the corpus may have taken long to read.
    let written = args.rust.as_ref().map_or(Ok(()), |file| write_rust(file, args.force, &plan.rust()));
    print(&plan, args)?;
    written?;
    if left_out.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("error: {} left out, {} texts read", count(left_out.len(), "input"), schema.documents);
    Ok(ExitCode::from(2))
}

/// Whether the documents, or their elements, are one record only because they are in one place: many keys, of which
/// each object has few, and no object has more than half.
fn is_medley(schema: &Schema) -> bool {
    let slots = match &schema.root.kind {
        Kind::Mixed { alternatives } => alternatives.iter().collect(),
        _ => vec![&schema.root],
    };
    let records = slots.into_iter().filter_map(|slot| match &slot.kind {
        Kind::Record { id, .. } => Some(&schema.records[*id]),
        Kind::Seq(seq) => match seq.element.kind {
            Kind::Record { id, .. } => Some(&schema.records[id]),
            _ => None,
        },
        _ => None,
    });
    schema.documents > 1
        && records.into_iter().any(|record| {
            let often = record.fields.iter().filter(|field| field.slot.count * 2 > record.instances).count();
            record.fields.len() >= 20 && often * 10 < record.fields.len()
        })
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { " was" } else { "s were" })
}

/// A bar on standard error, if that is a terminal.
fn progress(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// Refuses what cannot be written before all is read: the report would be lost with it.
fn check_target(file: &Path, force: bool) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.as_os_str() == "-" {
        bail!("--rust -: standard output has the report; name a file");
    } else if file.is_dir() {
        bail!("{}: is a folder; name a file in it", file.display());
    } else if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!("{}: there is no folder {}; make it first", file.display(), folder.display());
    } else if !force && file.exists() {
        bail!("{}: exists already; --force overwrites it", file.display());
    }
    Ok(())
}

/// Writes the types; a file that came to be in the meantime is not overwritten either.
fn write_rust(file: &Path, force: bool, source: &str) -> Result<()> {
    let mut options = File::options();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(file).and_then(|mut file| file.write_all(source.as_bytes()));
    written.with_context(|| format!("{}: cannot be written", file.display()))
}

fn print(plan: &Plan<'_>, args: &ShapeArgs) -> Result<()> {
    let min_saving = args.min_saving.map_or(0, |size| size.as_u64());
    let options = report::Options { top: args.top, min_saving, width: None, sampled: args.sample.is_some() };
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    let written = plan.write(args.format, &options, &mut out);
    match written.and_then(|()| out.flush()) {
        // Who closes the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}

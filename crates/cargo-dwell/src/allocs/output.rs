//! The output options of `cargo dwell allocs`, and the files that it writes and reads.

use super::document::{Counts, Document, VERSION};
use super::folded::By;
use super::{diff, folded, html, pprof, text};
use crate::report::saved;
use anyhow::{Context, Result, bail};
use clap::Args;
use comfy_table::Cell;
use dwell_output::{Format, Look, header, right, units};
use serde::Deserialize;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The output options.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Show the first N rows
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Write the result to FILE as JSON; `cargo dwell allocs FILE` reports on it without running the program
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print what changed since OLD, a file that --save wrote
    #[arg(long, value_name = "OLD")]
    diff: Option<PathBuf>,
    /// Write the call stacks to FILE, folded, for flame graphs
    #[arg(long, value_name = "FILE")]
    folded: Option<PathBuf>,
    /// Write the call stacks to FILE for `go tool pprof` and the viewers that read its format
    #[arg(long, value_name = "FILE")]
    pprof: Option<PathBuf>,
    /// What --folded and --html count
    #[arg(long, value_enum, default_value_t)]
    by: By,
    /// Write a page to FILE: what to change, a flame graph, and a table to search; it loads nothing from the network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl OutputArgs {
    /// Checks the arguments before the program runs.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(file) = &self.diff {
            read(file)?;
        }
        for file in [&self.save, &self.folded, &self.pprof, &self.html].into_iter().flatten() {
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
        if [&self.save, &self.diff, &self.folded, &self.pprof, &self.html].into_iter().any(Option::is_some) {
            bail!("--follow: a file has one process; leave out the files, or --follow");
        }
        Ok(())
    }
}

/// Prints the report on a process that the program started.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn show_child(document: &Document, name: &str, args: &OutputArgs) -> Result<()> {
    if args.format != Format::Json {
        dwell_output::print_to(args.format == Format::Human, |out| writeln!(out, "\n{name}:\n"))?;
    }
    show(document, args, true)
}

/// Prints how many blocks each process got, and the sum: its number, its counts and its name.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn sum(all: &[(String, Counts, String)], args: &OutputArgs) -> Result<()> {
    let sum = |part: fn(&Counts) -> u64| all.iter().map(|(_, counts, _)| part(counts)).fold(0, u64::saturating_add);
    let parts: [fn(&Counts) -> u64; 3] =
        [|counts| counts.allocations, |counts| counts.reallocations, |counts| counts.bytes];
    let look = match args.format {
        Format::Json => return Ok(()),
        Format::Human => Look::terminal(),
        Format::Markdown => Look::page(),
    };
    dwell_output::print_to(args.format == Format::Human, |mut out| {
        let total = format!("  {} allocated", units::plural(sum(parts[0]), "block"));
        look.heading(&mut out, &units::plural(all.len() as u64, "process"), &total)?;
        let mut rows = vec![header(&["process", "blocks", "reallocations", "bytes", "name"])];
        for (pid, counts, name) in all {
            let [blocks, moved, bytes] = parts.map(|part| part(counts));
            rows.push(vec![
                right(pid),
                right(units::count(blocks)),
                right(units::count(moved)),
                right(units::bytes(bytes)),
                Cell::new(name),
            ]);
        }
        look.table(&mut out, &rows)
    })
}

/// Writes the files, and prints the report: as text on standard error if `beside`, since standard output is the
/// program's.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub(super) fn show(document: &Document, args: &OutputArgs, beside: bool) -> Result<()> {
    // Save first, so that a later error cannot lose the measurement.
    if let Some(file) = &args.save {
        saved::write(file, |out| serde_json::to_writer(out, document).map_err(Into::into))?;
        eprintln!("note: saved to {}", file.display());
    }
    if let Some(file) = &args.folded {
        saved::write(file, |out| folded::write(document, args.by, out))?;
    }
    if let Some(file) = &args.pprof {
        saved::write(file, |out| pprof::write(document, out))?;
    }
    let diff = match &args.diff {
        Some(old) => Some(diff::Diff::new(&read(old)?, document)),
        None => None,
    };
    if let Some(file) = &args.html {
        saved::write(file, |out| out.write_all(html::page(document, args.by, diff.as_ref()).as_bytes()))?;
    }
    let beside = beside && args.format == Format::Human;
    dwell_output::print_to(beside, |mut out| match (args.format, &diff) {
        (Format::Json, None) => {
            serde_json::to_writer(&mut out, document)?;
            writeln!(out)
        }
        (Format::Json, Some(diff)) => {
            serde_json::to_writer(&mut out, diff)?;
            writeln!(out)
        }
        (Format::Human, None) => text::write(document, args.top, &Look::terminal(), &mut out),
        (Format::Markdown, None) => text::write(document, args.top, &Look::page(), &mut out),
        (Format::Human, Some(diff)) => diff.write(args.top, &Look::terminal(), &mut out),
        (Format::Markdown, Some(diff)) => diff.write(args.top, &Look::page(), &mut out),
    })
}

/// The largest number of a file: more nanoseconds than a year has. Sums of such numbers do not overflow.
const LARGEST: u64 = 1 << 56;

/// Reads a file that `--save` wrote.
///
/// # Errors
/// Returns an error if it cannot be read, is not such a file, or has another version.
pub(crate) fn read(file: &Path) -> Result<Document> {
    /// The version alone: a file of a later version may have other fields.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
        kind: String,
    }
    let not_saved = || format!("{}: is not a file that `cargo dwell allocs --save` wrote", file.display());
    let opened = std::fs::File::open(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let value: serde_json::Value = serde_json::from_reader(BufReader::new(opened)).with_context(not_saved)?;
    let Version { version, kind } = Version::deserialize(&value).with_context(not_saved)?;
    if kind != "allocs" {
        bail!(not_saved());
    }
    if version != VERSION {
        bail!(
            "{}: has version {version} of the schema, not {VERSION}; save it again with this cargo dwell",
            file.display()
        );
    }
    let document = Document::deserialize(value).with_context(not_saved)?;
    let is_damaged = document
        .rows
        .iter()
        .any(|row| row.suggestions.iter().any(|number| *number >= document.suggestions.len()))
        || document.suggestions.iter().any(|suggestion| suggestion.row >= document.rows.len())
        || document.stacks.iter().flat_map(|stack| &stack.frames).any(|frame| *frame as usize >= document.frames.len())
        || document.numbers().any(|number| number > LARGEST);
    if is_damaged {
        bail!("{}: has numbers that no run has; the file was changed or damaged", file.display());
    }
    Ok(document)
}

impl Document {
    /// Returns the numbers that reports add up.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        let of_rows = self.rows.iter().flat_map(|row| {
            let counts = &row.counts;
            [row.nanos, counts.allocations, counts.reallocations, counts.frees, counts.live, counts.bytes, row.sizes[1]]
        });
        let of_stacks = self
            .stacks
            .iter()
            .flat_map(|stack| [stack.nanos, stack.blocks, stack.bytes, stack.live_blocks, stack.live_bytes]);
        let (time, total) = (&self.time, &self.total);
        let of_run = [time.program, time.allocator, total.allocations, total.reallocations, total.frees, total.bytes];
        of_rows.chain(of_stacks).chain(of_run)
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{Row, Stack};
    use super::*;

    #[test]
    fn saved_document_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("allocs.json");
        let row = Row { what: "Box<Node>".into(), nanos: 7, ..Row::default() };
        let document = Document { version: VERSION, kind: "allocs".into(), rows: vec![row], ..Document::default() };
        saved::write(&file, |out| serde_json::to_writer(out, &document).map_err(Into::into)).unwrap();
        assert_eq!(read(&file).unwrap(), document);
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("other");
        let damaged = Document {
            version: VERSION,
            kind: "allocs".into(),
            stacks: vec![Stack { frames: vec![3], ..Stack::default() }],
            ..Document::default()
        };
        for (text, wrong) in [
            (String::new(), "is not a file that"),
            (r#"{"version": 1, "snapshots": []}"#.into(), "is not a file that"),
            (r#"{"version": 1, "kind": "census"}"#.into(), "is not a file that"),
            (r#"{"version": 9, "kind": "allocs"}"#.into(), "has version 9"),
            (r#"{"version": 1, "kind": "allocs", "rows": [{"what": 3}]}"#.into(), "is not a file that"),
            (r#"{"version": 1, "kind": "allocs", "rows": [{"suggestions": [3]}]}"#.into(), "was changed or damaged"),
            (r#"{"version": 1, "kind": "allocs", "rows": [{"nanos": 18446744073709551615}]}"#.into(), "was changed"),
            (serde_json::to_string(&damaged).unwrap(), "was changed or damaged"),
        ] {
            std::fs::write(&file, &text).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(wrong), "{text}: {error}");
        }
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("cannot be read"));
    }
}

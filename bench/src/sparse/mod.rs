//! Measures `dwell::sparse` in a real program, and the cost of reads through it.
//!
//! The program is that of the article "Box to save memory" (dystroy.org), which loads service models and keeps them.
//! Here it runs with several layouts, each in a separate process.

mod access;
mod arena;
mod canonical;
pub(crate) mod corpus;
mod intern;
pub(crate) mod layouts;
mod load;

use anyhow::{Result, bail};
use std::path::PathBuf;

use self::corpus::Corpus;
use self::load::{LAYOUTS, Layout, Report};
use crate::check::CheckFailed;
use crate::count;
use crate::op::Suite;
use crate::row::{Output, Row};
use crate::select::Select;
use crate::time::median;

pub(crate) use self::load::{Task, files};

/// The arguments of `dwell-bench sparse`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Args {
    /// A folder of Smithy models in JSON; without it a sample is generated.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Counts the bytes of each layout and measures no times.
    #[arg(long)]
    bytes: bool,
    #[command(flatten)]
    select: Select,
}

const BASELINE: &str = "unboxed";

/// Returns whether a layout has this name.
#[cfg(test)]
pub(crate) fn has_layout(name: &str) -> bool {
    LAYOUTS.iter().any(|layout| layout.name == name)
}

/// Returns the operations whose instructions and times are measured.
pub(crate) fn suite() -> Suite {
    access::suite()
}

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    let suite = suite();
    args.select.check(suite.names())?;
    // A selection is one of operations.
    if args.select.is_all() {
        run_program(args, quick, output)?;
        if args.bytes {
            return Ok(());
        }
    }
    output.say("\nOne operation on a struct of eight words")?;
    let rows = args.select.rows(suite, quick, output, |workload| !quick || !workload.ends_with("50%"))?;
    output.rows(&rows)?;
    Ok(())
}

/// Measures the real program in all layouts.
fn run_program(args: &Args, quick: bool, output: Output) -> Result<()> {
    let corpus = Corpus::open(args.models.as_deref(), quick)?;
    output.say(&format!("{}; {} allocator", corpus.describe(), count::allocator()))?;
    let reports = count_all(&corpus)?;
    if args.bytes {
        return Ok(output.rows(&smithy(&reports, &[])?)?);
    }
    output.rows(&smithy(&reports, &time_all(&corpus, if quick { 3 } else { 11 })?)?)?;
    let sizes = LAYOUTS.iter().zip(&reports).map(|(layout, Report { sizes: [shape, reference, traits], .. })| {
        format!("{} {shape} {reference} {traits}", layout.name)
    });
    output.say(&format!("size_of Shape, Reference, Traits: {}", sizes.collect::<Vec<_>>().join(", ")))?;

    Ok(())
}

/// Returns the rows for gates: bytes and blocks of the small sample.
pub(crate) fn counted() -> Result<Vec<Row>> {
    smithy(&count_all(&Corpus::open(None, true)?)?, &[])
}

/// Measures the memory of each layout.
fn count_all(corpus: &Corpus) -> Result<Vec<Report>> {
    LAYOUTS.iter().map(|&layout| load::measure(layout, corpus.folder(), true)).collect()
}

/// Returns the times of all layouts for each round. A round loads all layouts in turn.
fn time_all(corpus: &Corpus, rounds: usize) -> Result<Vec<Vec<f64>>> {
    let time = |layout: &Layout| load::measure(*layout, corpus.folder(), false).map(|report| report.cpu_ms);
    (0..rounds).map(|_| LAYOUTS.iter().map(time).collect()).collect()
}

/// Returns the rows of the real program. Fails if two layouts do not hold the same data.
fn smithy(reports: &[Report], rounds: &[Vec<f64>]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (index, (layout, report)) in LAYOUTS.iter().zip(reports).enumerate() {
        rows.extend(memory_rows(layout.name, report, &reports[0])?);
        if !rounds.is_empty() {
            let times = rounds.iter().map(|round| round[index]).collect();
            let ratios = rounds.iter().map(|round| round[index] / round[0]).collect();
            rows.push(row(layout.name, "cpu_ms", median(times), "ms", median(ratios)));
        }
    }
    Ok(rows)
}

fn row(subject: &str, metric: &'static str, value: f64, unit: &'static str, ratio: f64) -> Row {
    let (workload, baseline) = ("smithy".to_owned(), BASELINE.to_owned());
    Row { module: "sparse", workload, subject: subject.to_owned(), metric, value, unit, baseline, ratio }
}

/// Returns the rows for the memory of a layout, with ratios to the unboxed one.
fn memory_rows(subject: &str, report: &Report, baseline: &Report) -> Result<Vec<Row>> {
    let (Some(counted), Some(unboxed)) = (&report.counted, &baseline.counted) else {
        bail!("{subject}: the run that counts allocations printed no count")
    };
    if counted.hash != unboxed.hash {
        return Err(CheckFailed::error(format!("{subject} does not hold the data that {BASELINE} holds")));
    }
    let megabytes = |metric, bytes: f64, base: f64| row(subject, metric, bytes / 1e6, "MB", bytes / base);
    let mut rows = vec![
        megabytes("bytes", counted.bytes as f64, unboxed.bytes as f64),
        row(subject, "allocs", counted.blocks as f64, "", counted.blocks as f64 / unboxed.blocks as f64),
    ];
    if let (Some(jemalloc), Some(unboxed)) = (counted.jemalloc, unboxed.jemalloc) {
        rows.push(megabytes("jemalloc", jemalloc as f64, unboxed as f64));
    }
    rows.push(megabytes("rss", counted.rss as f64, unboxed.rss as f64));
    Ok(rows)
}

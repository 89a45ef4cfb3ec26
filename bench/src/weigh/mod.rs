//! The size of a value as Dwell, its peers and the allocator report it.
//!
//! The value is that of the article: all Smithy models, in several layouts. Each is weighed after loading, and again
//! after three quarters of the shapes were deleted.

mod instructions;
mod layouts;
mod measure;
mod subjects;

use anyhow::Result;
use std::path::{Path, PathBuf};

use self::measure::{LAYOUTS, Layout, Report, State};
use crate::count;
use crate::op::Suite;
use crate::row::{Output, Row};
use crate::select::Select;
use crate::sparse::corpus::Corpus;
use crate::time::median;

pub(crate) use self::measure::Task;

/// The arguments of `dwell-bench weigh`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Args {
    /// A folder of Smithy models in JSON; without it a sample is generated.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Writes the tree of the unboxed layout as a page of HTML.
    #[arg(long, value_name = "FILE")]
    tree: Option<PathBuf>,
    #[command(flatten)]
    select: Select,
}

/// The subject whose bytes are those that the allocator counted.
const ALLOCATOR: &str = "allocator";

/// Returns the operations whose instructions are counted.
pub(crate) fn suite() -> Suite {
    instructions::suite()
}

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    let suite = suite();
    args.select.check(suite.names())?;
    // A selection is one of operations.
    if args.select.is_all() {
        run_program(args, quick, output)?;
    }
    output.say("\nA walk over eight generated models; an operation is 1/20,000 of a walk")?;
    // The times above are of larger values.
    let select = Select { ir: true, ..args.select.clone() };
    output.rows(&select.rows(suite, quick, output, |_| true)?)?;
    Ok(())
}

/// Measures the real program in all layouts.
fn run_program(args: &Args, quick: bool, output: Output) -> Result<()> {
    let corpus = Corpus::open(args.models.as_deref(), quick)?;
    output.say(&format!("{}; {} allocator", corpus.describe(), count::allocator()))?;
    let reports = measure_all(&corpus, if quick { 3 } else { 11 }, args.tree.as_deref())?;
    output.rows(&rows(&reports))?;
    output.say("\nThe suggestions for `unboxed`; each saving assumes the suggestions above it:")?;
    output.say(reports[0].advice.trim_end())?;
    Ok(())
}

/// Returns the rows for gates: bytes and errors on the small sample.
pub(crate) fn counted() -> Result<Vec<Row>> {
    Ok(rows(&measure_all(&Corpus::open(None, true)?, 0, None)?))
}

fn measure_all(corpus: &Corpus, rounds: usize, html: Option<&Path>) -> Result<Vec<Report>> {
    let html = |layout: &Layout| if layout.name == "unboxed" { html } else { None };
    LAYOUTS.iter().map(|layout| measure::measure(layout, corpus.folder(), rounds, html(layout))).collect()
}

fn rows(reports: &[Report]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut predicted = None;
    for (layout, report) in LAYOUTS.iter().zip(reports) {
        for (state, name) in report.states.iter().zip(["loaded", "deleted"]) {
            rows.extend(said(&format!("{}/{name}", layout.name), state));
        }
        rows.extend(modelled(layout.name, report));
        if let (Some((bytes, allocations)), "boxed") = (predicted, layout.name) {
            rows.extend(prediction(bytes, allocations, report));
        }
        predicted = predicted.or(report.boxed);
    }
    rows
}

/// Returns the rows for the bytes that `weigh` computes by the allocator's model, with ratios to the allocated bytes.
fn modelled(layout: &str, report: &Report) -> [Row; 2] {
    let ratio = report.modelled as f64 / report.taken as f64;
    let row = |metric, value, unit| Row {
        module: "weigh",
        workload: format!("{layout}/loaded"),
        subject: "dwell/model".to_owned(),
        metric,
        value,
        unit,
        baseline: ALLOCATOR.to_owned(),
        ratio,
    };
    [row("bytes", report.modelled as f64 / 1e6, "MB"), row("error", (ratio - 1.0).abs() * 100.0, "%")]
}

/// Returns the rows for the prediction of the article's layout from the unboxed one, with ratios to the measured numbers.
fn prediction(bytes: u64, allocations: u64, measured: &Report) -> [Row; 3] {
    let truth = measured.states[0].truth as f64;
    let row = |metric, value: f64, unit, ratio: f64| Row {
        module: "weigh",
        workload: "unboxed to boxed".to_owned(),
        subject: "dwell/predicted".to_owned(),
        metric,
        value,
        unit,
        baseline: ALLOCATOR.to_owned(),
        ratio,
    };
    let ratio = bytes as f64 / truth;
    [
        row("bytes", bytes as f64 / 1e6, "MB", ratio),
        row("error", (ratio - 1.0).abs() * 100.0, "%", ratio),
        row("allocs", allocations as f64, "", allocations as f64 / measured.allocations as f64),
    ]
}

/// Returns the rows for what all subjects report of a layout in one state.
fn said(workload: &str, state: &State) -> Vec<Row> {
    let row = |subject: &str, metric, value, unit, baseline: &str, ratio| Row {
        module: "weigh",
        workload: workload.to_owned(),
        subject: subject.to_owned(),
        metric,
        value,
        unit,
        baseline: baseline.to_owned(),
        ratio,
    };
    let truth = state.truth as f64;
    let mut rows = vec![row(ALLOCATOR, "bytes", truth / 1e6, "MB", ALLOCATOR, 1.0)];
    let baseline = state.said.iter().find(|said| said.subject == subjects::BASELINE);
    for said in &state.said {
        let bytes = said.bytes as f64;
        rows.push(row(&said.subject, "bytes", bytes / 1e6, "MB", ALLOCATOR, bytes / truth));
        rows.push(row(&said.subject, "error", (bytes / truth - 1.0).abs() * 100.0, "%", ALLOCATOR, bytes / truth));
        if said.ms.is_empty() {
            continue;
        }
        let base_times = &baseline.unwrap_or(said).ms;
        let ratios = said.ms.iter().zip(base_times).map(|(ms, base)| ms / base).collect();
        rows.push(row(&said.subject, "ms", median(said.ms.clone()), "ms", subjects::BASELINE, median(ratios)));
    }
    rows
}

//! How big a value is, as Dwell, its peers and the allocator itself say.
//!
//! The value is the write-up's: all Smithy models, loaded and kept, in one layout after the other. Each is weighed as it
//! was loaded, and once more after three quarters of the shapes were deleted.

mod layouts;
mod measure;
mod subjects;

use anyhow::Result;
use std::path::PathBuf;

use self::measure::{LAYOUTS, Report, State};
use crate::row::{Output, Row};
use crate::sparse::corpus::Corpus;
use crate::time::median;

pub(crate) use self::measure::Task;

/// What `dwell-bench weigh` takes.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Args {
    /// A folder of Smithy models in JSON; without it a sample is generated.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

/// Who knows.
const ALLOCATOR: &str = "allocator";

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    let corpus = Corpus::open(args.models.as_deref(), quick)?;
    output.say(&corpus.describe())?;
    let rows = rows(&corpus, if quick { 3 } else { 11 })?;
    output.rows(&rows)?;
    Ok(())
}

fn rows(corpus: &Corpus, rounds: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut predicted = None;
    for layout in LAYOUTS {
        let report = measure::measure(layout, corpus.folder(), rounds)?;
        for (state, name) in report.states.iter().zip(["loaded", "deleted"]) {
            rows.extend(said(&format!("{}/{name}", layout.name), state));
        }
        if layout.name == "boxed"
            && let Some((bytes, allocations)) = predicted
        {
            rows.extend(prediction(bytes, allocations, &report));
        }
        predicted = predicted.or(report.boxed);
    }
    Ok(rows)
}

/// What was predicted from the naive layout for the write-up's, beside what that one takes.
fn prediction(bytes: u64, allocations: u64, measured: &Report) -> [Row; 3] {
    let truth = measured.states[0].truth as f64;
    let row = |metric, value: f64, unit, of: f64| Row {
        module: "weigh",
        workload: "naive to boxed".to_owned(),
        subject: "dwell/predicted".to_owned(),
        metric,
        value,
        unit,
        baseline: ALLOCATOR.to_owned(),
        ratio: of,
    };
    let ratio = bytes as f64 / truth;
    [
        row("bytes", bytes as f64 / 1e6, "MB", ratio),
        row("error", (ratio - 1.0).abs() * 100.0, "%", ratio),
        row("allocs", allocations as f64, "", allocations as f64 / measured.allocations as f64),
    ]
}

/// What all said of one layout in one state.
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
        let of = &baseline.unwrap_or(said).ms;
        let ratios = said.ms.iter().zip(of).map(|(ms, of)| ms / of).collect();
        rows.push(row(&said.subject, "ms", median(said.ms.clone()), "ms", subjects::BASELINE, median(ratios)));
    }
    rows
}

//! `dwell::sparse` in a real program, and what reading through it costs.
//!
//! The program is that of the write-up "Box to save memory" (dystroy.org): service models are loaded and kept. Here it
//! does so in one layout after the other, each in a process of its own.

mod access;
mod arena;
mod canonical;
mod corpus;
mod intern;
mod layouts;
mod lent;
mod load;

use anyhow::{Result, bail};
use std::path::PathBuf;

use self::corpus::Corpus;
use self::load::{LAYOUTS, Layout, Report};
use crate::check::CheckFailed;
use crate::op::Suite;
use crate::row::{Output, Row};
use crate::time::median;
use crate::{callgrind, count, time};

pub(crate) use self::load::Task;

/// What `dwell-bench sparse` takes.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Args {
    /// A folder of Smithy models in JSON; without it a sample is generated.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

const BASELINE: &str = "naive";

/// The operations that callgrind and the clock measure.
pub(crate) fn suite() -> Suite {
    access::suite()
}

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    let corpus = Corpus::open(args.models.as_deref(), quick)?;
    output.say(&format!("{}; {} allocator", corpus.describe(), count::ALLOCATOR));
    output.rows(&smithy(&corpus, if quick { 2 } else { 7 })?);

    output.say("\nOne operation on a part of eight words; ratios to option-box, ir less the loop's own:");
    let suite = suite();
    match callgrind::version() {
        Some(version) => {
            let mut rows = callgrind::rows(&suite, |workload, _| !quick || !workload.ends_with("50%"))?;
            if !quick {
                rows.extend(time::rows(&suite, 21));
            }
            output.rows(&rows);
            output.say(&format!("ir counted by {version}"));
        }
        None => {
            // stderr, so that stdout holds rows only
            eprintln!("no valgrind: the column `ir` is left out");
            output.rows(&time::rows(&suite, if quick { 5 } else { 21 }));
        }
    }
    Ok(())
}

/// Rows of the real program on the small sample, for gates: the clock's are of one round.
pub(crate) fn counted() -> Result<Vec<Row>> {
    smithy(&Corpus::open(None, true)?, 1)
}

/// Rows of the real program. Fails if two layouts do not hold the same data.
fn smithy(corpus: &Corpus, rounds: usize) -> Result<Vec<Row>> {
    let counted: Vec<Report> =
        LAYOUTS.iter().map(|&layout| load::measure(layout, corpus.folder(), true)).collect::<Result<_>>()?;
    let mut times = vec![Vec::with_capacity(rounds); LAYOUTS.len()];
    for _ in 0..rounds {
        for (&layout, times) in LAYOUTS.iter().zip(&mut times) {
            times.push(load::measure(layout, corpus.folder(), false)?.cpu_ms);
        }
    }
    let mut rows = Vec::new();
    for ((layout, report), time) in LAYOUTS.iter().zip(&counted).zip(&times) {
        rows.extend(layout_rows(*layout, report, &counted[0], time, &times[0])?);
    }
    Ok(rows)
}

/// What one layout took, beside the first layout in the same round.
fn layout_rows(
    layout: Layout,
    report: &Report,
    baseline: &Report,
    time: &[f64],
    baseline_time: &[f64],
) -> Result<Vec<Row>> {
    let (Some(counted), Some(first)) = (&report.counted, &baseline.counted) else {
        bail!("{}: the counting run counted nothing", layout.name)
    };
    if counted.hash != first.hash {
        return Err(CheckFailed::new(format!("{} does not hold the data that {BASELINE} holds", layout.name)));
    }
    let row = |metric, value: f64, unit, ratio| Row {
        module: "sparse",
        workload: "smithy".to_owned(),
        subject: layout.name.to_owned(),
        metric,
        value,
        unit,
        baseline: BASELINE.to_owned(),
        ratio,
    };
    let megabytes = |metric, bytes: f64, of: f64| row(metric, bytes / 1e6, "MB", bytes / of);
    let mut rows = vec![
        megabytes("bytes", counted.bytes as f64, first.bytes as f64),
        row("allocs", counted.blocks as f64, "", counted.blocks as f64 / first.blocks as f64),
    ];
    if let (Some(jemalloc), Some(first)) = (counted.jemalloc, first.jemalloc) {
        rows.push(megabytes("jemalloc", jemalloc as f64, first as f64));
    }
    rows.push(megabytes("rss", counted.rss as f64, first.rss as f64));
    let ratios = time.iter().zip(baseline_time).map(|(time, baseline)| time / baseline).collect();
    rows.push(row("cpu_ms", median(time.to_vec()), "ms", median(ratios)));
    Ok(rows)
}

//! Compares `dwell::pin` with `Box::pin` and other crates that store futures, in the workloads of the article.
#![expect(clippy::inline_always, reason = "a call would cost what is measured")]

mod runtimes;
mod subjects;
mod tower;
mod workloads;

use anyhow::Result;

use crate::count;
use crate::op::{Op, Suite};
use crate::row::{Output, Row};
use crate::select::Select;

/// `.boxed()` of the crate futures.
const BASELINE: &str = "boxed";

/// Returns two suites. Their baselines are `.boxed()` and tower's service.
pub(crate) fn suites() -> [Suite; 2] {
    let futures = Suite { module: "pin", baseline: BASELINE, ops: workloads::ops() };
    [futures, tower::suite()]
}

pub(crate) fn run(select: &Select, quick: bool, output: Output) -> Result<()> {
    let suites = suites();
    select.check(suites.iter().flat_map(Suite::names))?;
    for suite in suites {
        let module = suite.module;
        // With --quick most phases are left out, since a count takes a second.
        let is_counted = |workload: &str| !quick || module != "pin" || workload.ends_with("/first_poll");
        let blocks = if select.ir || select.times { Vec::new() } else { allocations(&suite, select) };
        let mut rows = select.rows(suite, quick, output, is_counted)?;
        rows.extend(blocks);
        output.rows(&rows)?;
    }
    if !select.ir && select.workload.is_empty() {
        output.say("under an executor, to the end, each wait followed by a wake:")?;
        output.rows(&runtimes::rows(if quick { 5 } else { 21 })?)?;
    }
    Ok(())
}

/// Returns the allocations per operation, without the first operation, which fills pools.
fn allocations(suite: &Suite, select: &Select) -> Vec<Row> {
    const OPERATIONS: usize = 1000;
    let mut rows: Vec<Row> = Vec::new();
    let is_selected = |op: &&Op| select.has_workload(&op.workload) && select.has_subject(op.subject, suite.baseline);
    for op in suite.ops.iter().filter(is_selected) {
        let mut run = (op.prepare)();
        run(1);
        count::start();
        run(OPERATIONS);
        let value = count::made() as f64 / OPERATIONS as f64;
        count::stop();
        rows.push(Row {
            module: suite.module,
            workload: op.workload.clone(),
            subject: op.subject.to_owned(),
            metric: "allocs",
            value,
            unit: "",
            baseline: suite.baseline.to_owned(),
            ratio: 0.0,
        });
    }
    for at in 0..rows.len() {
        let is_baseline = |row: &&Row| row.workload == rows[at].workload && row.subject == suite.baseline;
        let baseline = rows.iter().find(is_baseline).map_or(f64::NAN, |row| row.value);
        rows[at].ratio = rows[at].value / baseline;
    }
    rows
}

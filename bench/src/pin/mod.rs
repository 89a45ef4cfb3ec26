//! Compares `dwell::pin` with `Box::pin` and other crates that store futures, in the workloads of the article.
#![expect(clippy::inline_always, reason = "a call would cost what is measured")]

mod postfix;
mod runtimes;
mod subjects;
mod tower;
mod workloads;

use anyhow::Result;

use crate::op::Suite;
use crate::row::{Output, Row};
use crate::{callgrind, count, time};

/// `.boxed()` of the crate futures.
const BASELINE: &str = "boxed";

/// Returns three suites. Their baselines are `.boxed()`, the expression that a postfix method replaces, and tower's
/// service.
pub(crate) fn suites() -> [Suite; 3] {
    let futures = Suite { module: "pin", baseline: BASELINE, ops: workloads::ops() };
    [futures, postfix::suite(), tower::suite()]
}

pub(crate) fn run(quick: bool, output: Output) -> Result<()> {
    match callgrind::version() {
        Some(version) => output.say(&format!("({version})"))?,
        None => eprintln!("valgrind is not installed: the column `ir` is left out"),
    }
    for suite in suites() {
        output.say(&format!(
            "ratios are relative to `{}`; those of ir exclude the loop's instructions",
            suite.baseline
        ))?;
        let mut rows = Vec::new();
        if callgrind::version().is_some() {
            // With --quick most phases are left out, since a count takes a second.
            rows = callgrind::rows(&suite, |workload, _| {
                !quick || suite.module != "pin" || workload.ends_with("/first_poll")
            })?;
        }
        rows.extend(time::rows(&suite, if quick { 5 } else { 21 }));
        rows.extend(allocations(&suite));
        output.rows(&rows)?;
    }
    output.say("under an executor, to the end, each wait followed by a wake:")?;
    output.rows(&runtimes::rows(if quick { 5 } else { 21 })?)?;
    Ok(())
}

/// Returns the allocations per operation, without the first operation, which fills pools.
fn allocations(suite: &Suite) -> Vec<Row> {
    const OPERATIONS: usize = 1000;
    let mut rows: Vec<Row> = Vec::new();
    for op in &suite.ops {
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
        let of = |row: &&Row| row.workload == rows[at].workload && row.subject == suite.baseline;
        let baseline = rows.iter().find(of).map_or(f64::NAN, |row| row.value);
        rows[at].ratio = rows[at].value / baseline;
    }
    rows
}

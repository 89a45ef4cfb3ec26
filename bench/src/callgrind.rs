//! Instructions per operation: this program under callgrind with N and with 2N operations, the difference divided.
//!
//! Whatever is done once (start, building the data, printing) cancels. The count is the same on every run of one binary.

use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

use crate::op::{LOOP, Suite};
use crate::row::Row;

/// Enough to drown what differs between the two runs by chance: a handful of instructions in the allocator.
const OPERATIONS: usize = 200_000;

/// The valgrind that is installed, or none.
pub(crate) fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A row for each operation of `suite` that `wanted` picks; the loop around them is a subject of its own.
///
/// Ratios compare what is left without the loop.
pub(crate) fn rows(suite: &Suite, wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for workload in suite.workloads() {
        let subjects: Vec<&str> =
            suite.of(workload).map(|op| op.subject).filter(|subject| wanted(workload, subject)).collect();
        if subjects.is_empty() {
            continue;
        }
        let bare = suite.find(workload, LOOP).map_or(Ok(0.0), |_| per_operation(suite.module, workload, LOOP))?;
        let baseline = per_operation(suite.module, workload, suite.baseline)?;
        for subject in subjects {
            let value = match subject {
                LOOP => bare,
                _ if subject == suite.baseline => baseline,
                _ => per_operation(suite.module, workload, subject)?,
            };
            rows.push(Row {
                module: suite.module,
                workload: workload.to_owned(),
                subject: subject.to_owned(),
                metric: "ir",
                value,
                unit: "ir",
                baseline: suite.baseline.to_owned(),
                ratio: (value - bare) / (baseline - bare),
            });
        }
    }
    Ok(rows)
}

fn per_operation(module: &str, workload: &str, subject: &str) -> Result<f64> {
    let once = total(module, workload, subject, OPERATIONS)?;
    let twice = total(module, workload, subject, 2 * OPERATIONS)?;
    Ok((twice as f64 - once as f64) / OPERATIONS as f64)
}

/// Instructions of a whole run.
fn total(module: &str, workload: &str, subject: &str, operations: usize) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["operate", module, workload, subject, &operations.to_string()])
        .output()
        .context("cannot run valgrind")?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("valgrind failed on {workload} {subject}: {}", messages.lines().last().unwrap_or_default());
    }
    collected(&messages).with_context(|| format!("callgrind gave no count for {workload} {subject}"))
}

/// The number in callgrind's last line, `==1234== Collected : 5678`.
fn collected(messages: &str) -> Option<u64> {
    let (_, count) = messages.lines().find(|line| line.contains("Collected"))?.rsplit_once(':')?;
    count.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn count_is_found() {
        let messages = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n==7== I   refs:      123,456\n";
        assert_eq!(super::collected(messages), Some(123_456));
        assert_eq!(super::collected("==7== Events    : Ir"), None);
    }
}

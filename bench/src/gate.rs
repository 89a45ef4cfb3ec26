//! `dwell-bench gate`, which tests that numbers do not get worse.
//!
//! `gates.toml` has the promised bounds, absolute or relative to peers. `baseline.tsv` has counts of Dwell from
//! the last `gate --update`: those of the subject `dwell`, and those that a gate or a goal names. No count may be 2 %
//! higher.

mod baseline;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use self::baseline::Baseline;
use crate::check::CheckFailed;
use crate::goals::Goals;
use crate::row::{Output, Row};
use crate::{callgrind, sparse, suites, weigh};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Write the measurements to bench/baseline.tsv instead of comparing them with it
    #[arg(long)]
    update: bool,
}

/// A bound on one number of one subject.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gate {
    module: String,
    subject: String,
    workload: String,
    metric: String,
    /// The upper bound of the number.
    value: Option<f64>,
    /// The upper bound of the ratio to the baseline's number.
    ratio: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gates {
    gate: Vec<Gate>,
}

fn parse(text: &str) -> Result<Vec<Gate>> {
    let gates: Gates = toml::from_str(text)?;
    for gate in &gates.gate {
        let name = gate.name();
        if gate.value.is_none() && gate.ratio.is_none() {
            bail!("{name}: neither `value` nor `ratio`");
        }
        if !["bytes", "allocs", "error", "ir"].contains(&gate.metric.as_str()) {
            bail!("{name}: only `bytes`, `allocs`, `error` and `ir` are the same on every run");
        }
    }
    Ok(gates.gate)
}

impl Gate {
    fn name(&self) -> String {
        format!("{} {} {} {}", self.module, self.subject, self.workload, self.metric)
    }

    fn is_of(&self, row: &Row) -> bool {
        (self.module.as_str(), self.subject.as_str(), self.workload.as_str(), self.metric.as_str())
            == (row.module, row.subject.as_str(), row.workload.as_str(), row.metric)
    }

    fn holds(&self, row: &Row) -> bool {
        // NaN fails these comparisons.
        self.value.is_none_or(|bound| row.value <= bound) && self.ratio.is_none_or(|bound| row.ratio <= bound)
    }

    /// Returns whether the gate holds, and a line for the report.
    fn judge(&self, row: &Row) -> (bool, String) {
        let holds = self.holds(row);
        let value = self.value.map(|bound| format!(": {:.2} {}, at most {bound}", row.value, row.unit));
        let ratio = self.ratio.map(|bound| format!(": {:.3} of {}, at most {bound}", row.ratio, row.baseline));
        let line = format!(
            "{}  {}{}{}",
            if holds { "ok  " } else { "FAIL" },
            self.name(),
            value.unwrap_or_default(),
            ratio.unwrap_or_default()
        );
        (holds, line)
    }
}

/// Measures the rows in `gates.toml` and in the baseline.
pub(crate) fn run(args: &Args, output: Output) -> Result<()> {
    let mut gates = parse(include_str!("../gates.toml")).context("bench/gates.toml")?;
    let mut rows = sparse::counted()?;
    rows.extend(weigh::counted()?);
    let before = gates.len();
    let goals = Goals::read()?;
    let counts = callgrind::version().is_some();
    if counts {
        for suite in suites() {
            rows.extend(callgrind::rows(&suite, |workload, subject| {
                let names = (suite.module, workload, subject, "ir");
                baseline::is_ours(subject)
                    || goals.name(suite.module, workload, subject)
                    || gates.iter().any(|gate| {
                        names
                            == (
                                gate.module.as_str(),
                                gate.workload.as_str(),
                                gate.subject.as_str(),
                                gate.metric.as_str(),
                            )
                    })
            })?);
        }
    } else {
        gates.retain(|gate| gate.metric != "ir");
        eprintln!("valgrind is not installed: {} gates on `ir` are skipped", before - gates.len());
    }

    let mut failed = 0;
    let mut measured = Vec::new();
    for gate in &gates {
        let row = rows.iter().find(|row| gate.is_of(row));
        let row = row.with_context(|| format!("bench/gates.toml: nothing measures {}", gate.name()))?;
        let (holds, line) = gate.judge(row);
        output.say(&line)?;
        failed += usize::from(!holds);
        measured.push(row.clone());
    }
    if output.json {
        output.rows(&measured)?;
    }
    if args.update {
        if !counts {
            bail!("valgrind is not installed: the baseline would have no instruction counts");
        }
        return Baseline::from_rows(&rows).write();
    }
    let worse = Baseline::committed()?.compare(&rows, output)?;
    match (failed, worse) {
        (0, 0) => Ok(()),
        (0, worse) => Err(CheckFailed::error(format!(
            "{worse} numbers are worse than bench/baseline.tsv; if that is meant: dwell-bench gate --update"
        ))),
        (failed, _) => Err(CheckFailed::error(format!("{failed} of {} gates do not hold", gates.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Gate, parse};
    use crate::row::Row;

    fn gate(bound: &str) -> Gate {
        let text = format!(
            "[[gate]]\nmodule = \"sparse\"\nsubject = \"dwell\"\nworkload = \"read\"\nmetric = \"ir\"\n{bound}\n"
        );
        parse(&text).unwrap().remove(0)
    }

    fn row(value: f64, ratio: f64) -> Row {
        let (workload, subject, baseline) = ("read".to_owned(), "dwell".to_owned(), "box".to_owned());
        Row { module: "sparse", workload, subject, metric: "ir", value, unit: "ir", baseline, ratio }
    }

    #[test]
    fn gates_file_parses() {
        assert!(!parse(include_str!("../gates.toml")).unwrap().is_empty());
    }

    #[test]
    fn value_and_ratio_bounds_are_checked() {
        assert!(gate("value = 5").holds(&row(5.0, 9.0)));
        assert!(!gate("value = 5").holds(&row(5.1, 0.1)));
        assert!(gate("ratio = 1.2").holds(&row(100.0, 1.2)));
        assert!(!gate("ratio = 1.2").holds(&row(0.0, 1.21)));
        assert!(!gate("value = 5\nratio = 1.2").holds(&row(4.0, 1.3)));
        assert!(!gate("ratio = 1.2").holds(&row(0.0, f64::NAN)));
        assert!(!gate("ratio = 1.2").is_of(&Row { metric: "ns", ..row(0.0, 0.0) }));
    }

    #[test]
    fn failure_names_the_measured_value() {
        let (holds, line) = gate("ratio = 1.2").judge(&row(7.0, 1.4));
        assert!(!holds);
        assert_eq!(line, "FAIL  sparse dwell read ir: 1.400 of box, at most 1.2");
    }

    #[test]
    fn mistakes_in_the_file_are_reported() {
        for (wrong, expected) in [
            ("[[gate]]\nmodule = \"sparse\"\nsubject = \"a\"\nworkload = \"b\"\nmetric = \"ir\"", "neither"),
            (
                "[[gate]]\nmodule = \"sparse\"\nsubject = \"a\"\nworkload = \"b\"\nmetric = \"ns\"\nratio = 1",
                "the same on every run",
            ),
            ("[[gate]]\nmodule = \"sparse\"\nsubject = \"a\"\nworkload = \"b\"\nmetric = \"ir\"\nbound = 1", "bound"),
        ] {
            let error = parse(wrong).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

//! The committed numbers, and the comparison of a run with them.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

use crate::row::{Output, Row};
use crate::{about, callgrind};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.tsv");

/// The allowed growth of a number: 2 %, and the noise of counts that are not whole numbers.
const SHARE: f64 = 1.02;
const NOISE: f64 = 0.05;

/// Returns whether the numbers of a subject belong in the file although neither a gate nor a goal names them: those of
/// Dwell's types with default settings.
pub(super) fn is_ours(subject: &str) -> bool {
    subject == "dwell"
}

/// One number.
#[derive(Debug, PartialEq)]
struct Entry {
    module: String,
    workload: String,
    subject: String,
    metric: String,
    value: f64,
}

impl Entry {
    fn name(&self) -> String {
        format!("{} {} {} {}", self.module, self.workload, self.subject, self.metric)
    }
}

#[derive(Debug)]
pub(super) struct Baseline {
    /// The compiler and C library of the counts. Counts of others are not comparable.
    made_with: String,
    entries: Vec<Entry>,
}

impl Baseline {
    /// Returns the numbers of Dwell that are the same in every run.
    pub(super) fn from_rows(rows: &[Row]) -> Self {
        // Peers have no entries.
        let is_dwell = |subject: &str| subject.starts_with("dwell");
        // Counts of two threads depend on their timing. Those of blocks of several kilobytes depend on the heap: glibc splits
        // and merges blocks, and copies a block that grows or not. Gates bound them.
        let varies = ["producer+consumer", "vec/warm", "vec/fresh"];
        let is_steady = |workload: &str| !varies.iter().any(|start| workload.starts_with(start));
        let ours = |row: &&Row| {
            is_dwell(&row.subject) && is_steady(&row.workload) && ["ir", "bytes", "allocs"].contains(&row.metric)
        };
        let entries = rows.iter().filter(ours).map(|row| Entry {
            module: row.module.to_owned(),
            workload: row.workload.clone(),
            subject: row.subject.clone(),
            metric: row.metric.to_owned(),
            value: row.value,
        });
        let machine = about::machine();
        let value_of = |wanted: &str| machine.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value);
        let made_with = format!("{}, {}", value_of("compiler"), value_of("allocator"));
        Self { made_with, entries: entries.collect() }
    }

    /// Returns the committed numbers.
    pub(super) fn committed() -> Result<Self> {
        Self::parse(&fs::read_to_string(FILE).with_context(|| format!("cannot read {FILE}"))?)
    }

    fn parse(text: &str) -> Result<Self> {
        let (first, rest) = text.split_once('\n').context("bench/baseline.tsv is empty")?;
        let made_with = first.trim_start_matches("# ").to_owned();
        let entries = rest.lines().map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let &[module, workload, subject, metric, value] = fields.as_slice() else {
                anyhow::bail!("bench/baseline.tsv: not five fields: {line}")
            };
            let value = value.parse().with_context(|| format!("bench/baseline.tsv: not a number: {line}"))?;
            let [module, workload, subject, metric] = [module, workload, subject, metric].map(str::to_owned);
            Ok(Entry { module, workload, subject, metric, value })
        });
        Ok(Self { made_with, entries: entries.collect::<Result<_>>()? })
    }

    fn text(&self) -> String {
        let lines = self.entries.iter().map(|Entry { module, workload, subject, metric, value }| {
            format!("{module}\t{workload}\t{subject}\t{metric}\t{value:.3}\n")
        });
        format!("# {}\n{}", self.made_with, lines.collect::<String>())
    }

    pub(super) fn write(&self) -> Result<()> {
        fs::write(Path::new(FILE), self.text()).with_context(|| format!("cannot write {FILE}"))?;
        eprintln!("{} numbers written to {FILE}; commit them in a separate commit", self.entries.len());
        Ok(())
    }

    /// Prints the numbers that grew by more than is allowed, and returns how many there are.
    pub(super) fn compare(&self, rows: &[Row], output: Output) -> Result<usize> {
        let now = Self::from_rows(rows);
        let counted = callgrind::version().is_some();
        let mut worse = Vec::new();
        let mut better = 0;
        for entry in self.entries.iter().filter(|entry| counted || entry.metric != "ir") {
            let same = |other: &&Entry| {
                (&entry.module, &entry.workload, &entry.subject, &entry.metric)
                    == (&other.module, &other.workload, &other.subject, &other.metric)
            };
            match now.entries.iter().find(same) {
                // The comparison treats NaN as worse.
                Some(Entry { value, .. }) if *value <= entry.value * SHARE + NOISE => {
                    better += usize::from(*value < entry.value / SHARE - NOISE);
                }
                Some(Entry { value, .. }) => worse.push(format!(
                    "WORSE {}: {:.2} -> {value:.2} ({:+.1} %)",
                    entry.name(),
                    entry.value,
                    (value / entry.value - 1.0) * 100.0
                )),
                None => worse.push(format!("GONE  {}: {:.2} is no longer measured", entry.name(), entry.value)),
            }
        }
        for line in &worse {
            output.say(line)?;
        }
        let compared = format!("{} numbers compared with bench/baseline.tsv", self.entries.len());
        output.say(&format!("{compared}: {} worse by more than 2 %, {better} better", worse.len()))?;
        if self.made_with != now.made_with {
            eprintln!(
                "the baseline was made with {}, these numbers with {}: differences are not failures",
                self.made_with, now.made_with
            );
            return Ok(0);
        }
        Ok(worse.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Baseline;
    use crate::row::{Output, Row};

    const QUIET: Output = Output { json: true, kept: None };

    fn row(subject: &str, value: f64) -> Row {
        let (workload, subject, baseline) = ("w".to_owned(), subject.to_owned(), "b".to_owned());
        Row { module: "m", workload, subject, metric: "bytes", value, unit: "", baseline, ratio: 1.0 }
    }

    #[test]
    fn committed_baseline_round_trips() {
        let committed = Baseline::committed().unwrap();
        assert_eq!(Baseline::parse(&committed.text()).unwrap().entries, committed.entries);
        assert!(Baseline::parse("# made\nm\tw\n").unwrap_err().to_string().contains("five fields"));
    }

    #[test]
    fn two_percent_more_is_allowed() {
        let baseline = Baseline::from_rows(&[row("dwell", 100.0), row("dwell/x", 10.0), row("peer", 1.0)]);
        assert_eq!(baseline.entries.len(), 2);
        assert_eq!(baseline.compare(&[row("dwell", 101.9), row("dwell/x", 9.0)], QUIET).unwrap(), 0);
        assert_eq!(baseline.compare(&[row("dwell", 102.2), row("dwell/x", 10.0)], QUIET).unwrap(), 1);
        assert_eq!(baseline.compare(&[row("dwell", f64::NAN)], QUIET).unwrap(), 2);
    }

    #[test]
    fn baseline_of_another_compiler_does_not_fail() {
        let mut baseline = Baseline::from_rows(&[row("dwell", 100.0)]);
        baseline.made_with = "rustc 1.0".to_owned();
        assert_eq!(baseline.compare(&[row("dwell", 200.0)], QUIET).unwrap(), 0);
    }
}

//! The arguments that all modules with operations share, and the measurement of the selected operations.

use anyhow::{Result, bail};

use crate::op::{LOOP, Suite};
use crate::row::{Output, Row, distinct};
use crate::{callgrind, time};

/// Which operations are measured, and how.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Select {
    /// Counts instructions only.
    #[arg(long)]
    pub(crate) ir: bool,
    /// Measures times only.
    #[arg(long, conflicts_with = "ir")]
    pub(crate) times: bool,
    /// Measures only workloads with this text in their name (can be given several times).
    #[arg(long, value_name = "TEXT")]
    pub(crate) workload: Vec<String>,
    /// Measures only the baseline and the subjects whose names begin with this (can be given several times).
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Vec<String>,
}

impl Select {
    /// Returns whether everything is measured.
    pub(crate) fn is_all(&self) -> bool {
        !self.ir && !self.times && self.workload.is_empty() && self.subject.is_empty()
    }

    /// Returns whether a workload is selected.
    pub(crate) fn has_workload(&self, name: &str) -> bool {
        self.workload.is_empty() || self.workload.iter().any(|text| name.contains(text.as_str()))
    }

    /// Returns whether a subject is selected. The baseline and the loop always are.
    pub(crate) fn has_subject(&self, name: &str, baseline: &str) -> bool {
        self.subject.is_empty()
            || [LOOP, baseline].contains(&name)
            || self.subject.iter().any(|start| name.starts_with(start.as_str()))
    }

    /// Fails if an argument selects none of these workloads or subjects.
    pub(crate) fn check<'a>(&self, names: impl Iterator<Item = (&'a str, &'a str)>) -> Result<()> {
        let names: Vec<_> = names.collect();
        let (workloads, subjects) =
            (distinct(names.iter().map(|names| names.0)), distinct(names.iter().map(|names| names.1)));
        if let Some(text) = self.workload.iter().find(|text| !workloads.iter().any(|name| name.contains(text.as_str())))
        {
            bail!("no workload has `{text}` in its name; there are: {}", workloads.join(", "));
        }
        if let Some(start) =
            self.subject.iter().find(|start| !subjects.iter().any(|name| name.starts_with(start.as_str())))
        {
            bail!("no subject begins with `{start}`; there are: {}", subjects.join(", "));
        }
        Ok(())
    }

    /// Counts and times the selected operations of a suite. Only those that `is_counted` accepts are counted.
    pub(crate) fn rows(
        &self,
        mut suite: Suite,
        quick: bool,
        output: Output,
        is_counted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Row>> {
        suite.ops.retain(|op| self.has_workload(&op.workload) && self.has_subject(op.subject, suite.baseline));
        let mut rows = Vec::new();
        if suite.ops.is_empty() {
            return Ok(rows);
        }
        if self.times {
            // Nothing is counted.
        } else if let Some(version) = callgrind::version() {
            output
                .say(&format!("({version}; ratios of ir are relative to {} and exclude the loop)", suite.baseline))?;
            rows = callgrind::rows(&suite, |workload, _| is_counted(workload))?;
        } else {
            eprintln!("valgrind is not installed: the column `ir` is left out");
        }
        if !self.ir {
            rows.extend(time::rows(&suite, if quick { 5 } else { 21 }));
        }
        Ok(rows)
    }
}

impl Suite {
    /// Returns the names of all operations: the workload and the subject.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ops.iter().map(|op| (op.workload.as_str(), op.subject))
    }
}

//! `dwell-bench goals`: which goals the rows reach.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::fmt::Write as _;

use crate::measured::{Measured, number, parse};

/// The goals of `goals.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Goals {
    goals: Vec<Goal>,
}

/// The largest ratio of Dwell's number to another subject's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Goal {
    /// The module, the workload and the metric.
    row: [String; 3],
    /// A subject, or the beginning of several and a star.
    dwell: String,
    beside: String,
    at_most: f64,
    /// The reason why the goal is missed.
    #[serde(default)]
    why: String,
}

impl Goals {
    pub(crate) fn read() -> Result<Self> {
        toml::from_str(include_str!("../goals.toml")).context("bench/goals.toml")
    }

    /// Returns whether a goal names this subject of Dwell.
    pub(crate) fn name(&self, module: &str, workload: &str, subject: &str) -> bool {
        let is_row = |goal: &Goal| goal.row[0] == module && goal.row[1] == workload;
        subject.starts_with("dwell") && self.goals.iter().any(|goal| is_row(goal) && is_named(&goal.dwell, subject))
    }
}

/// Returns whether a subject is meant.
fn is_named(wanted: &str, subject: &str) -> bool {
    wanted.strip_suffix('*').map_or(wanted == subject, |start| subject.starts_with(start))
}

impl Goal {
    /// Returns the best of the subjects with a name, and its number.
    fn best<'a>(&self, rows: &'a [Measured], wanted: &str) -> Option<(&'a str, f64)> {
        let [module, workload, metric] = &self.row;
        let is_wanted = |row: &&Measured| (&row.module, &row.workload, &row.metric) == (module, workload, metric);
        let named = rows.iter().filter(is_wanted).filter(|row| is_named(wanted, &row.subject));
        named.filter_map(|row| Some((row.subject.as_str(), row.value?))).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Returns a table with a line for each goal that the rows measure.
pub(crate) fn markdown(rows: &[Measured]) -> Result<String> {
    let mut text = "| goal | Dwell | beside | × | at most | | |\n|---|---|---|--:|--:|---|---|\n".to_owned();
    for goal in Goals::read()?.goals {
        let Some(((ours, value), (theirs, other))) = goal.best(rows, &goal.dwell).zip(goal.best(rows, &goal.beside))
        else {
            continue;
        };
        // Half of the last printed digit is tolerated.
        let is_reached = value / other < goal.at_most + 0.005;
        let (verdict, why) = if is_reached { ("reached", "") } else { ("**missed**", goal.why.as_str()) };
        let [module, workload, metric] = &goal.row;
        writeln!(
            text,
            "| {module} {workload}, {metric} | {} `{ours}` | {} `{theirs}` | {:.2} | {:.2} | {verdict} | {why} |",
            number(value, metric),
            number(other, metric),
            value / other,
            goal.at_most
        )?;
    }
    Ok(text)
}

/// Prints the goals with the numbers of the rows.
pub(crate) fn run(lines: &[String]) -> Result<()> {
    print!("{}", markdown(&parse(lines)?)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Goals, Measured, is_named, markdown};

    fn row(subject: &str, value: f64) -> Measured {
        Measured {
            module: "bump".to_owned(),
            workload: "u64".to_owned(),
            subject: subject.to_owned(),
            metric: "ir".to_owned(),
            value: Some(value),
            unit: "ir".to_owned(),
            baseline: String::new(),
            ratio: Some(1.0),
        }
    }

    #[test]
    fn best_settings_are_compared() {
        let rows = [row("bumpalo 1/1", 11.0), row("bumpalo 1/8", 9.0), row("bump-scope 1", 6.0), row("dwell/1", 8.0)];
        let text = markdown(&[&rows[..], &[row("dwell", 6.0)]].concat()).unwrap();
        let lines: Vec<&str> = text.lines().skip(2).collect();
        let expected = [
            "| bump u64, ir | 6.00 `dwell` | 9.00 `bumpalo 1/8` | 0.67 | 0.67 | reached |  |",
            "| bump u64, ir | 6.00 `dwell` | 6.00 `bump-scope 1` | 1.00 | 0.86 | **missed** |  |",
        ];
        assert_eq!(lines, expected);
    }

    /// A renamed workload or subject would silently drop a goal from the table.
    #[test]
    fn goals_name_measured_rows() {
        let mut names: Vec<[String; 3]> = Vec::new();
        let mut add = |module: &str, (workload, subject): (&str, &str)| {
            names.push([module, workload, subject].map(str::to_owned));
        };
        for suite in crate::suites() {
            suite.names().for_each(|name| add(suite.module, name));
        }
        for (workload, subject) in &crate::slab::probe_names() {
            add("slab", (workload, subject));
        }
        for subject in ["box/glibc", "dwell/push"] {
            add("small", ("bulk/push", subject));
        }
        for goal in Goals::read().unwrap().goals {
            let [module, workload, _] = &goal.row;
            for subject in [&goal.dwell, &goal.beside] {
                // Subjects on mimalloc are those of another process.
                let subject = subject.trim_end_matches(", mimalloc");
                let is_it =
                    |name: &&[String; 3]| &name[0] == module && &name[1] == workload && is_named(subject, &name[2]);
                assert!(names.iter().any(|name| is_it(&name)), "{module} {workload} {subject}");
            }
        }
    }
}

//! `dwell-bench medians`, which prints one table of several runs, such as builds with different code placement.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::io::BufRead;

use crate::row::{self, Output};
use crate::time::median;

/// The fields that are read from a row.
#[derive(Debug, PartialEq, Deserialize)]
struct Measured {
    workload: String,
    subject: String,
    metric: String,
    value: f64,
    ratio: f64,
}

/// The values of one number in all runs.
#[derive(Debug, PartialEq)]
struct Summary {
    workload: String,
    subject: String,
    metric: String,
    values: Vec<f64>,
    ratios: Vec<f64>,
}

/// Groups rows by measurement, in order of appearance.
fn summaries(rows: impl BufRead) -> Result<Vec<Summary>> {
    let mut summaries: Vec<Summary> = Vec::new();
    for line in row::read(rows)? {
        let row: Measured = serde_json::from_str(&line).with_context(|| format!("not a row: {line}"))?;
        let same = |summary: &&mut Summary| {
            (&summary.workload, &summary.subject, &summary.metric) == (&row.workload, &row.subject, &row.metric)
        };
        match summaries.iter_mut().find(same) {
            Some(summary) => {
                summary.values.push(row.value);
                summary.ratios.push(row.ratio);
            }
            None => summaries.push(Summary {
                workload: row.workload,
                subject: row.subject,
                metric: row.metric,
                values: vec![row.value],
                ratios: vec![row.ratio],
            }),
        }
    }
    Ok(summaries)
}

/// Prints a Markdown table with a line for each number.
pub(crate) fn run(rows: impl BufRead, output: Output) -> Result<()> {
    output.say("| workload | subject | metric | median | ratio, median | min | max | runs |")?;
    output.say("|---|---|---|---|---|---|---|---|")?;
    for Summary { workload, subject, metric, values, mut ratios } in summaries(rows)? {
        let runs = values.len();
        ratios.sort_by(f64::total_cmp);
        let (min, max) = (ratios[0], ratios[runs - 1]);
        let (value, ratio) = (median(values), median(ratios));
        output.say(&format!(
            "| {workload} | {subject} | {metric} | {value:.1} | {ratio:.2} | {min:.2} | {max:.2} | {runs} |"
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::summaries;

    #[test]
    fn runs_are_grouped_by_subject() {
        let row = |subject: &str, value: f64| {
            format!(
                r#"{{"module":"m","workload":"w","subject":"{subject}","metric":"ns","value":{value},"ratio":0.5}}"#
            )
        };
        let rows = [row("a", 1.5), row("b", 2.0), row("a", 3.5)].join("\n");
        let summaries = summaries(rows.as_bytes()).unwrap();
        let found: Vec<_> =
            summaries.iter().map(|summary| (summary.subject.as_str(), summary.values.clone())).collect();
        assert_eq!(found, [("a", vec![1.5, 3.5]), ("b", vec![2.0])]);
        assert!(super::summaries("no row".as_bytes()).is_err());
        assert!(super::summaries("".as_bytes()).is_err());
    }
}

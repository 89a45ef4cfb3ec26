//! `dwell-bench seeds`: the claims of the articles behind Dwell, with the measurements of their published code and of
//! Dwell.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

use super::measured::{Measured, number, parse};
use crate::check::CheckFailed;
use crate::row::{Output, Row};

/// The names that identify a number: module, workload, subject, metric.
type Names = [String; 4];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Claim>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    title: String,
    source: String,
    /// Whether the claim is confirmed, is an artefact, or depends on a condition.
    verdict: String,
    why: String,
    line: Vec<Line>,
    /// The bounds on which the verdict rests.
    rests: Vec<Bound>,
}

/// The range of a ratio between two numbers of a workload that agrees with the verdict.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    row: Names,
    /// The other subject, or `None` for the baseline.
    beside: Option<String>,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

/// A bound as text, and whether it holds; `None` if it was not measured.
#[derive(Debug, Serialize)]
struct Rest {
    text: String,
    holds: Option<bool>,
}

impl Bound {
    /// Returns the ratio and the name of the other subject. The ratio is that of both ratios to the baseline, which are
    /// net of the loop and taken within rounds.
    fn measured(&self, rows: &[Measured]) -> Option<(f64, String)> {
        let [module, workload, _, metric] = &self.row;
        let row = find(rows, &self.row)?;
        let Some(other) = &self.beside else { return Some((row.ratio?, row.baseline.clone())) };
        let beside = find(rows, &[module.clone(), workload.clone(), other.clone(), metric.clone()])?;
        Some((row.ratio? / beside.ratio?, other.clone()))
    }

    fn judge(&self, rows: &[Measured]) -> Rest {
        let [module, workload, subject, metric] = &self.row;
        let bounds = [("at least", self.at_least), ("at most", self.at_most)];
        let bounds = bounds.into_iter().filter_map(|(words, bound)| Some(format!("{words} {:.2}", bound?)));
        let bounds = bounds.collect::<Vec<_>>().join(" and ");
        let name = format!("{module} {workload} {metric}: {subject} is {bounds} of");
        let Some((ratio, other)) = self.measured(rows) else {
            let other = self.beside.as_deref().unwrap_or("its baseline");
            return Rest { text: format!("{name} {other} (not measured in this run)"), holds: None };
        };
        // With these comparisons a bound does not hold for NaN.
        let holds = self.at_least.is_none_or(|bound| ratio >= bound) && self.at_most.is_none_or(|bound| ratio <= bound);
        Rest { text: format!("{name} {other} ({ratio:.2} measured)"), holds: Some(holds) }
    }
}

/// Returns the row with these names.
fn find<'a>(rows: &'a [Measured], [module, workload, subject, metric]: &Names) -> Option<&'a Measured> {
    rows.iter()
        .find(|row| (&row.module, &row.workload, &row.subject, &row.metric) == (module, workload, subject, metric))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    what: String,
    published: String,
    theirs: Option<Names>,
    ours: Option<Names>,
}

/// A claim with its numbers as text.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    title: String,
    source: String,
    verdict: String,
    why: String,
    lines: Vec<Cells>,
    rests: Vec<Rest>,
}

impl Table {
    /// Returns a message for each bound of the verdict that does not hold.
    fn contradicted(&self) -> impl Iterator<Item = String> {
        let wrong = self.rests.iter().filter(|rest| rest.holds == Some(false));
        wrong.map(|rest| format!("{}: the verdict no longer fits: {}", self.title, rest.text))
    }
}

#[derive(Debug, Serialize)]
struct Cells {
    what: String,
    published: String,
    theirs: String,
    ours: String,
}

fn file() -> Result<File> {
    toml::from_str(include_str!("../../seeds.toml")).context("bench/seeds.toml")
}

/// Returns the number of bounds that these rows measure, and messages for those that they contradict.
pub(crate) fn judge(rows: &[Row]) -> Result<(usize, Vec<String>)> {
    let measured = |row: &Row| Measured {
        module: row.module.to_owned(),
        workload: row.workload.clone(),
        subject: row.subject.clone(),
        metric: row.metric.to_owned(),
        value: Some(row.value),
        unit: row.unit.to_owned(),
        baseline: row.baseline.clone(),
        ratio: Some(row.ratio),
    };
    let tables = tables(&rows.iter().map(measured).collect::<Vec<_>>())?;
    let judged = tables.iter().flat_map(|table| &table.rests).filter(|rest| rest.holds.is_some()).count();
    Ok((judged, tables.iter().flat_map(Table::contradicted).map(|line| format!("VERDICT  {line}")).collect()))
}

/// Returns the claims with the numbers of the rows.
pub(super) fn tables(rows: &[Measured]) -> Result<Vec<Table>> {
    let file = file()?;
    let found = |names: Option<Names>| names.map_or_else(|| "–".to_owned(), |names| value(rows, &names));
    let table = |claim: Claim| Table {
        title: claim.title,
        source: claim.source,
        verdict: claim.verdict,
        why: claim.why,
        rests: claim.rests.iter().map(|bound| bound.judge(rows)).collect(),
        lines: claim
            .line
            .into_iter()
            .map(|line| Cells {
                what: line.what,
                published: line.published,
                theirs: found(line.theirs),
                ours: found(line.ours),
            })
            .collect(),
    };
    Ok(file.claim.into_iter().map(table).collect())
}

/// Formats a number with its ratio to the baseline.
fn value(rows: &[Measured], names: &Names) -> String {
    let Some((row, value)) = find(rows, names).and_then(|row| Some((row, row.value?))) else {
        return "not measured in this run".to_owned();
    };
    match row.ratio {
        Some(ratio) if row.subject != row.baseline => {
            format!("{} {} ({ratio:.2} of {})", number(value, &row.unit), row.unit, row.baseline)
        }
        _ => format!("{} {}", number(value, &row.unit), row.unit),
    }
}

/// Returns the claims as Markdown.
pub(super) fn markdown(rows: &[Measured]) -> Result<String> {
    let mut text = "\n## The tables of the articles\n".to_owned();
    for table in tables(rows)? {
        let contradicted: Vec<String> = table.contradicted().collect();
        let Table { title, source, verdict, why, lines, rests } = table;
        write!(
            text,
            "\n### {title}\n\n{source}\n\n| | as published | its code, measured here | Dwell, measured here |\n|---|---|---|---|\n"
        )?;
        for Cells { what, published, theirs, ours } in lines {
            writeln!(text, "| {what} | {published} | {theirs} | {ours} |")?;
        }
        writeln!(text, "\n**{verdict}** {why}\n\nThe verdict rests on:\n")?;
        for rest in rests {
            writeln!(text, "- {}", rest.text)?;
        }
        for line in contradicted {
            writeln!(text, "\n**{line}**")?;
        }
    }
    Ok(text)
}

/// Prints verdicts that the rows contradict to standard error. Returns their number.
pub(super) fn complain(lines: &[String]) -> Result<usize> {
    let tables = tables(&parse(lines)?)?;
    let contradicted: Vec<String> = tables.iter().flat_map(Table::contradicted).collect();
    for line in &contradicted {
        eprintln!("{line}");
    }
    Ok(contradicted.len())
}

/// Prints the claims with the numbers of the rows. Fails if the rows contradict a verdict.
pub(crate) fn run(lines: &[String], output: Output) -> Result<()> {
    let rows = parse(lines)?;
    if output.json {
        for table in &tables(&rows)? {
            println!("{}", serde_json::to_string(table)?);
        }
    }
    output.say(markdown(&rows)?.trim())?;
    match complain(lines)? {
        0 => Ok(()),
        wrong => Err(CheckFailed::error(format!("{wrong} bounds of verdicts do not hold"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Measured, file, judge, markdown, parse, tables};
    use crate::row::Row;
    use crate::suites;

    #[test]
    fn every_claim_has_a_verdict_and_names_measured_rows() {
        let file = file().unwrap();
        assert!(file.claim.len() >= 5);
        let suites = suites();
        for claim in &file.claim {
            assert!(!claim.verdict.is_empty() && !claim.why.is_empty(), "{claim:?}");
            assert!(!claim.rests.is_empty(), "{}: the verdict rests on nothing", claim.title);
            let mut beside = Vec::new();
            for bound in &claim.rests {
                assert!(bound.at_least.is_some() || bound.at_most.is_some(), "{bound:?}");
                let [module, workload, _, metric] = bound.row.clone();
                beside.extend(bound.beside.clone().map(|subject| [module, workload, subject, metric]));
            }
            let lines = claim.line.iter().flat_map(|line| line.theirs.iter().chain(&line.ours));
            for names in lines.chain(claim.rests.iter().map(|bound| &bound.row)).chain(&beside) {
                let [module, workload, subject, metric] = names;
                // A suite has no operations for percentiles, bytes, and workloads that run under an executor.
                if !["ir", "ns"].contains(&metric.as_str())
                    || subject.starts_with("ssobox")
                    || workload.contains("block_on")
                {
                    continue;
                }
                let suite = suites.iter().find(|suite| suite.module == module);
                assert!(suite.is_some_and(|suite| suite.find(workload, subject).is_some()), "{names:?}");
            }
        }
    }

    #[test]
    fn missing_measurements_are_reported() {
        assert!(markdown(&[]).unwrap().contains("not measured in this run"));
        assert_eq!(tables(&[]).unwrap().len(), markdown(&[]).unwrap().matches("\n### ").count());
    }

    fn row(subject: &str, ratio: f64) -> Row {
        let (workload, baseline) = ("smithy".to_owned(), "unboxed".to_owned());
        let (module, subject, metric) = ("sparse", subject.to_owned(), "bytes");
        Row { module, workload, subject, metric, value: 38.0 * ratio, unit: "MB", baseline, ratio }
    }

    #[test]
    fn rows_contradicting_a_verdict_are_reported() {
        let (judged, wrong) = judge(&[row("boxed", 0.3), row("dwell/sparse", 0.2)]).unwrap();
        assert_eq!((judged, wrong), (2, Vec::new()));
        let (judged, wrong) = judge(&[row("boxed", 0.7), row("dwell/sparse", f64::NAN)]).unwrap();
        assert_eq!((judged, wrong.len()), (2, 2));
        assert!(wrong[0].contains("no longer fits") && wrong[0].contains("0.70 measured"), "{}", wrong[0]);
        let lines = [serde_json::to_string(&row("boxed", 0.7)).unwrap()];
        let rows: Vec<Measured> = parse(&lines).unwrap();
        assert!(markdown(&rows).unwrap().contains("**Box to save memory: Smithy models: the verdict no longer fits"));
        assert_eq!(super::complain(&lines).unwrap(), 1);
    }

    #[test]
    fn committed_results_contradict_no_verdict() {
        assert!(!include_str!("../../results/all.md").contains("the verdict no longer fits"));
    }
}

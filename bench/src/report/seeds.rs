//! `dwell-bench seeds`: what the write-ups that Dwell starts from claimed, what their published code does here, and Dwell.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

use super::markdown::{Measured, parse};
use crate::row::{Output, number};

/// Names of a number: module, workload, subject, metric.
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
    /// Held, an artefact, or what it depends on; and why.
    verdict: String,
    why: String,
    line: Vec<Line>,
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
}

#[derive(Debug, Serialize)]
struct Cells {
    what: String,
    published: String,
    theirs: String,
    ours: String,
}

/// The claims beside the rows.
pub(super) fn tables(rows: &[Measured]) -> Result<Vec<Table>> {
    let file: File = toml::from_str(include_str!("../../seeds.toml")).context("bench/seeds.toml")?;
    let found = |names: Option<Names>| names.map_or_else(|| "–".to_owned(), |names| value(rows, &names));
    let table = |claim: Claim| Table {
        title: claim.title,
        source: claim.source,
        verdict: claim.verdict,
        why: claim.why,
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

/// A number with its ratio to the baseline.
fn value(rows: &[Measured], [module, workload, subject, metric]: &Names) -> String {
    let row = rows
        .iter()
        .find(|row| (&row.module, &row.workload, &row.subject, &row.metric) == (module, workload, subject, metric));
    let Some((row, value)) = row.and_then(|row| Some((row, row.value?))) else {
        return "not measured in this run".to_owned();
    };
    match row.ratio {
        Some(ratio) if row.subject != row.baseline => {
            format!("{} {} ({ratio:.2} of {})", number(value, &row.unit), row.unit, row.baseline)
        }
        _ => format!("{} {}", number(value, &row.unit), row.unit),
    }
}

/// The claims as Markdown.
pub(super) fn markdown(rows: &[Measured]) -> Result<String> {
    let mut text = "\n## The write-ups' own tables\n".to_owned();
    for Table { title, source, verdict, why, lines } in tables(rows)? {
        write!(
            text,
            "\n### {title}\n\n{source}\n\n| | as published | theirs, here | Dwell, here |\n|---|---|---|---|\n"
        )?;
        for Cells { what, published, theirs, ours } in lines {
            writeln!(text, "| {what} | {published} | {theirs} | {ours} |")?;
        }
        writeln!(text, "\n**{verdict}** {why}")?;
    }
    Ok(text)
}

/// Prints the claims beside rows that were read.
pub(crate) fn run(lines: &[String], output: Output) -> Result<()> {
    let tables = tables(&parse(lines)?)?;
    if output.json {
        for table in &tables {
            println!("{}", serde_json::to_string(table)?);
        }
    }
    output.say(markdown(&parse(lines)?)?.trim())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{File, markdown, tables};
    use crate::suites;

    #[test]
    fn every_claim_has_a_verdict_and_names_what_is_measured() {
        let file: File = toml::from_str(include_str!("../../seeds.toml")).unwrap();
        assert!(file.claim.len() >= 5);
        let suites = suites();
        for claim in &file.claim {
            assert!(!claim.verdict.is_empty() && !claim.why.is_empty(), "{claim:?}");
            for names in claim.line.iter().flat_map(|line| line.theirs.iter().chain(&line.ours)) {
                let [module, workload, subject, metric] = names;
                // Percentiles, bytes and what runs under an executor are no operations of a suite.
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
    fn what_was_not_measured_is_said() {
        assert!(markdown(&[]).unwrap().contains("not measured in this run"));
        assert_eq!(tables(&[]).unwrap().len(), markdown(&[]).unwrap().matches("\n### ").count());
    }
}

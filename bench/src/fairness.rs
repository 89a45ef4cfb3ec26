//! `dwell-bench check`, which tests that the comparison is fair:
//!
//! - Every workload documents what keeps the compiler from removing the work.
//! - Every subject's operation executes instructions. Their number is within an order of magnitude of the others', unless
//!   `fairness.toml` lists a reason.
//! - The counts contradict no verdict on an article in `seeds.toml`.
//! - Two copies of Dwell are equally fast within `NOISE`.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::check::CheckFailed;
use crate::op::{LOOP, Op, Suite};
use crate::row::{Output, Row};
use crate::seeds;
use crate::{callgrind, sparse, suites, time};

/// The number of instructions, without the loop, below which an operation counts as empty.
const FLOOR: f64 = 0.5;
/// The largest factor between a subject and the median of the others.
const ORDER: f64 = 10.0;
/// The largest distance from 1 of a ratio between two copies of the same code. The confidence interval of the median
/// must reach this close to 1.
const NOISE: f64 = 0.10;
const ROUNDS: usize = 21;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Counts instructions and bytes only: times nothing.
    #[arg(long)]
    ir: bool,
}

/// The documentation of workloads: what they do, and what stops the compiler from removing it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub(crate) module: String,
    /// The names of the workloads. A name that ends in `*` matches all with that prefix.
    pub(crate) workloads: Vec<String>,
    pub(crate) does: String,
    pub(crate) stops: String,
}

/// The reason why a subject takes far fewer or far more instructions than the others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unequal {
    module: String,
    workloads: Vec<String>,
    subjects: Vec<String>,
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fairness {
    note: Vec<Note>,
    unequal: Vec<Unequal>,
}

fn parse() -> Result<Fairness> {
    let fairness: Fairness = toml::from_str(include_str!("../fairness.toml")).context("bench/fairness.toml")?;
    if let Some(unequal) = fairness.unequal.iter().find(|unequal| unequal.why.trim().is_empty()) {
        anyhow::bail!("bench/fairness.toml: {unequal:?} gives no reason");
    }
    Ok(fairness)
}

/// Returns the documentation of the workloads.
pub(crate) fn notes() -> Result<Vec<Note>> {
    Ok(parse()?.note)
}

/// Returns whether one of the names equals `name`, or is a prefix of it followed by a star.
fn names(names: &[String], name: &str) -> bool {
    names.iter().any(|wanted| wanted.strip_suffix('*').map_or(wanted == name, |start| name.starts_with(start)))
}

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    let fairness = parse()?;
    let mut wrong = without_note(&suites(), &fairness);
    if callgrind::version().is_some() {
        callgrind::be_coarse();
        let mut rows = sparse::counted()?;
        for suite in suites() {
            let counted = callgrind::rows(&suite, |_, _| true)?;
            wrong.extend(unequal(&counted, &fairness));
            rows.extend(counted);
        }
        let (judged, contradicted) = seeds::judge(&rows)?;
        wrong.extend(contradicted);
        output.say(&format!(
            "{} numbers, of which {judged} bounds of verdicts: {} findings",
            rows.len(),
            wrong.len()
        ))?;
    } else {
        eprintln!("valgrind is not installed: empty loops are not detected");
    }
    wrong.iter().try_for_each(|line| output.say(line))?;
    let apart = if args.ir { 0 } else { twice(quick, output)? };
    if wrong.is_empty() && apart == 0 {
        return Ok(());
    }
    Err(CheckFailed::error(format!("{} findings of unfairness", wrong.len() + apart)))
}

/// Returns the workloads without documentation.
fn without_note(suites: &[Suite], fairness: &Fairness) -> Vec<String> {
    let mut missing = Vec::new();
    for suite in suites {
        for workload in suite.workloads() {
            if !fairness.note.iter().any(|note| note.module == suite.module && names(&note.workloads, workload)) {
                missing.push(format!("NO NOTE  {} {workload}: what stops the optimiser?", suite.module));
            }
        }
    }
    missing
}

/// Returns the subjects in rows of one module whose instructions are none, or far from those of the others.
fn unequal(rows: &[Row], fairness: &Fairness) -> Vec<String> {
    let mut found = Vec::new();
    let workloads = crate::row::distinct(rows.iter().map(|row| row.workload.as_str()));
    for workload in workloads {
        let of_workload = || rows.iter().filter(|row| row.workload == workload);
        let bare = of_workload().find(|row| row.subject == LOOP).map_or(0.0, |row| row.value);
        let subjects: Vec<(&Row, f64)> =
            of_workload().filter(|row| row.subject != LOOP).map(|row| (row, row.value - bare)).collect();
        for (row, net) in &subjects {
            let others: Vec<f64> =
                subjects.iter().filter(|(other, _)| other.subject != row.subject).map(|(_, net)| *net).collect();
            let listed = fairness.unequal.iter().any(|unequal| {
                unequal.module == row.module
                    && names(&unequal.workloads, workload)
                    && names(&unequal.subjects, &row.subject)
            });
            let name = format!("{} {workload} {}", row.module, row.subject);
            if listed {
                continue;
            }
            if *net < FLOOR || net.is_nan() {
                found.push(format!("EMPTY    {name}: {net:.2} instructions more than the loop alone"));
            } else if !others.is_empty() {
                let middle = time::median(others).max(1.0);
                if net / middle > ORDER || middle / net > ORDER {
                    found.push(format!("UNEQUAL  {name}: {net:.1} instructions, the others {middle:.1} in the middle"));
                }
            }
        }
    }
    found
}

/// Times the same code under two names, and returns how many workloads differ by more than the noise.
fn twice(quick: bool, output: Output) -> Result<usize> {
    let mut apart = 0;
    let percent = NOISE * 100.0;
    output.say(&format!("\nthe same code under two names, {ROUNDS} rounds; at most {percent:.0} % difference:"))?;
    for module in suites().iter().map(|suite| suite.module) {
        // Other work on the machine seldom disturbs both attempts.
        for attempt in [1, 2] {
            let Some((name, [ratio, low, high])) = beside_itself(module, quick)? else { break };
            let holds = low <= 1.0 + NOISE && high >= 1.0 - NOISE;
            let how = if holds { "ok     " } else { "DIFFERS" };
            output.say(&format!("{how}  {name}: {ratio:.3}, {low:.3} to {high:.3}"))?;
            if holds {
                break;
            }
            apart += usize::from(attempt == 2);
        }
    }
    Ok(apart)
}

/// Times the first workload of a module under two names. Returns its name, the ratio, and the confidence interval.
fn beside_itself(module: &str, quick: bool) -> Result<Option<(String, [f64; 3])>> {
    let suite = || suites().into_iter().find(|suite| suite.module == module).context("a module has a suite");
    let first = suite()?.ops.into_iter().find(|op| op.subject.starts_with("dwell"));
    let Some(first) = first else { return Ok(None) };
    let again = suite()?.find_owned(&first.workload, first.subject);
    let name = format!("{module} {} {}", first.workload, first.subject);
    let ops = [(Some(first), "A"), (again, "A again")];
    let ops = ops.into_iter().filter_map(|(op, subject)| Some(Op { subject, ..op? })).collect();
    let rows = time::rows_of(&Suite { module: "check", baseline: "A", ops }, ROUNDS, quick);
    let ratios: Vec<f64> = rows.iter().filter(|row| row.subject == "A again").map(|row| row.ratio).collect();
    Ok(Some((name, ratios.try_into().ok().context("a time and its range")?)))
}

#[cfg(test)]
mod tests {
    use super::{Fairness, Unequal, names, parse, unequal, without_note};
    use crate::row::Row;

    fn rows(values: &[(&str, f64)]) -> Vec<Row> {
        let row = |&(subject, value): &(&str, f64)| Row {
            module: "m",
            workload: "w".to_owned(),
            subject: subject.to_owned(),
            metric: "ir",
            value,
            unit: "ir",
            baseline: "a".to_owned(),
            ratio: 1.0,
        };
        values.iter().map(row).collect()
    }

    #[test]
    fn every_workload_has_a_note() {
        assert_eq!(without_note(&crate::suites(), &parse().unwrap()), Vec::<String>::new());
    }

    #[test]
    fn empty_and_unequal_loops_are_reported() {
        let mut fairness = Fairness { note: Vec::new(), unequal: Vec::new() };
        let fair = [("loop", 2.0), ("a", 12.0), ("b", 22.0), ("c", 8.0)];
        assert!(unequal(&rows(&fair), &fairness).is_empty());
        let emptied = rows(&[("loop", 2.0), ("a", 12.0), ("b", 22.0), ("c", 2.0)]);
        assert!(unequal(&emptied, &fairness)[0].starts_with("EMPTY    m w c"));
        let apart = rows(&[("loop", 2.0), ("a", 12.0), ("b", 22.0), ("c", 502.0), ("d", 15.0)]);
        assert!(unequal(&apart, &fairness)[0].starts_with("UNEQUAL  m w c"));
        let (module, why) = ("m".to_owned(), "it allocates".to_owned());
        fairness.unequal.push(Unequal { module, workloads: vec!["w".into()], subjects: vec!["c".into()], why });
        assert!(unequal(&apart, &fairness).is_empty());
    }

    #[test]
    fn star_matches_any_suffix() {
        let wanted = ["read/*".to_owned(), "len".to_owned()];
        assert!(names(&wanted, "read/50%") && names(&wanted, "len") && !names(&wanted, "length"));
    }
}

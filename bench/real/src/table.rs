//! The results as a Markdown table and as JSON.

use serde_json::json;
use std::fmt::Write as _;

use crate::cargo::Tests;
use crate::measure::{Pair, Time};

/// The results of one program.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) change: &'static str,
    pub(crate) lines: usize,
    /// The test results of both sides; `None` if the package ships no tests.
    pub(crate) tests: Option<(Tests, Tests)>,
    pub(crate) workloads: Vec<Workload>,
}

/// The numbers of one workload; `None` for those that could not be measured.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) instructions: Option<Pair>,
    pub(crate) glibc: Option<Time>,
    /// The program before its change, with mimalloc by glibc's allocator.
    pub(crate) alone: Option<Time>,
    pub(crate) mimalloc: Option<Time>,
    /// The largest number of live requested bytes.
    pub(crate) peak: Option<Pair>,
    /// The largest number of bytes that the allocator used for live blocks.
    pub(crate) held: Option<Pair>,
}

/// Returns the table. A column without numbers is left out.
pub(crate) fn markdown(programs: &[Measured]) -> String {
    let any = |has: fn(&Workload) -> bool| programs.iter().flat_map(|program| &program.workloads).any(has);
    let shown = [
        any(|workload| workload.instructions.is_some()),
        any(|workload| workload.glibc.is_some()),
        any(|workload| workload.alone.is_some()),
        any(|workload| workload.mimalloc.is_some()),
        any(|workload| workload.peak.is_some()),
        any(|workload| workload.held.is_some()),
    ];
    let titles = ["instructions", "time, glibc", "mimalloc alone", "time, mimalloc", "peak bytes", "allocator"];
    let mut text = String::from("| program | change | lines | tests | workload |");
    for (title, _) in titles.iter().zip(shown).filter(|(_, shown)| *shown) {
        let _ = write!(text, " {title} |");
    }
    text.push_str("\n|---|---|--:|--:|---|");
    text.push_str(&"--:|".repeat(shown.iter().filter(|shown| **shown).count()));
    text.push('\n');
    for program in programs {
        for (at, workload) in program.workloads.iter().enumerate() {
            // Only the first row of a program has its name and change.
            let head = if at > 0 {
                "| | | | |".to_owned()
            } else {
                let (name, version, change) = (program.name, program.version, program.change);
                let tests = program.tests.map_or("none".to_owned(), |(_, after)| tests(after));
                format!("| {name} {version} | {change} | {} | {tests} |", program.lines)
            };
            let cells = [
                workload.instructions.map(|pair| ratio(pair.ratio())),
                workload.glibc.map(time),
                workload.alone.map(time),
                workload.mimalloc.map(time),
                workload.peak.map(|pair| ratio(pair.ratio())),
                workload.held.map(|pair| ratio(pair.ratio())),
            ];
            let _ = write!(text, "{head} {} |", workload.name);
            for (cell, _) in cells.into_iter().zip(shown).filter(|(_, shown)| *shown) {
                let _ = write!(text, " {} |", cell.unwrap_or_default());
            }
            text.push('\n');
        }
    }
    text
}

/// Formats a ratio with up to three significant digits.
fn ratio(value: f64) -> String {
    // Neither side allocates.
    if value.is_nan() {
        return "-".to_owned();
    }
    if value >= 10.0 { format!("{value:.1}") } else { format!("{value:.2}") }
}

fn time(time: Time) -> String {
    format!("{} ({}-{})", ratio(time.ratio), ratio(time.low), ratio(time.high))
}

/// Formats the numbers of tests.
pub(crate) fn tests(tests: Tests) -> String {
    match tests.failed {
        0 => format!("{} pass", tests.passed),
        failed => format!("{failed} of {} fail", tests.passed + failed),
    }
}

/// Returns rows as the other modules of `dwell-bench` print them, one number a line.
pub(crate) fn json(program: &Measured) -> String {
    let mut text = String::new();
    let mut row = |workload: &str, subject: &str, metric: &str, unit: &str, pair: Pair, ratio: f64| {
        let workload =
            if workload.is_empty() { program.name.to_owned() } else { format!("{}/{workload}", program.name) };
        let baseline = subject.replace("dwell", "published");
        let row = json!({
            "module": "real", "workload": workload, "subject": subject, "metric": metric, "value": pair.after,
            "unit": unit, "baseline": baseline, "ratio": ratio, "before": pair.before, "version": program.version,
        });
        let _ = writeln!(text, "{row}");
    };
    let lines = Pair { before: 0.0, after: program.lines as f64 };
    row("", "dwell", "lines", "lines", lines, 0.0);
    if let Some((before, after)) = program.tests {
        for (metric, old, new) in
            [("tests_passed", before.passed, after.passed), ("tests_failed", before.failed, after.failed)]
        {
            let pair = Pair { before: old as f64, after: new as f64 };
            row("", "dwell", metric, "tests", pair, if old == 0 { 0.0 } else { pair.ratio() });
        }
    }
    for workload in &program.workloads {
        let mut pair = |subject: &str, metric: &str, unit: &str, pair: Option<Pair>| {
            if let Some(pair) = pair {
                row(workload.name, subject, metric, unit, pair, pair.ratio());
            }
        };
        pair("dwell", "ir", "ir", workload.instructions);
        pair("dwell", "peak", "bytes", workload.peak);
        pair("dwell", "held", "bytes", workload.held);
        let times =
            [("dwell/glibc", workload.glibc), ("mimalloc", workload.alone), ("dwell/mimalloc", workload.mimalloc)];
        for (subject, time) in times {
            let Some(time) = time else { continue };
            for (metric, ratio) in [("ns", time.ratio), ("ns_low", time.low), ("ns_high", time.high)] {
                row(workload.name, subject, metric, "ns", time.least, ratio);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(instructions: Option<Pair>, failed: usize) -> Measured {
        let time = Time { least: Pair { before: 2.0, after: 1.0 }, ratio: 0.5, low: 0.456, high: 12.34 };
        let workload = |name, peak| Workload {
            name,
            instructions,
            glibc: Some(time),
            alone: None,
            mimalloc: None,
            peak,
            held: None,
        };
        Measured {
            name: "lru",
            version: "0.18.0",
            change: "slab for Box",
            lines: 12,
            tests: Some((Tests { passed: 3, failed: 0, ignored: 0 }, Tests { passed: 3 - failed, failed, ignored: 0 })),
            workloads: vec![workload("small", Some(Pair { before: 4.0, after: 5.0 })), workload("large", None)],
        }
    }

    #[test]
    fn every_workload_has_a_row_even_if_slower() {
        let table = markdown(&[measured(Some(Pair { before: 10.0, after: 9.0 }), 0)]);
        assert_eq!(
            table,
            "| program | change | lines | tests | workload | instructions | time, glibc | peak bytes |\n\
             |---|---|--:|--:|---|--:|--:|--:|\n\
             | lru 0.18.0 | slab for Box | 12 | 3 pass | small | 0.90 | 0.50 (0.46-12.3) | 1.25 |\n\
             | | | | | large | 0.90 | 0.50 (0.46-12.3) |  |\n"
        );
    }

    #[test]
    fn empty_columns_are_omitted_and_failures_are_shown() {
        let table = markdown(&[measured(None, 1), Measured { tests: None, ..measured(None, 0) }]);
        assert!(!table.contains("instructions") && !table.contains("mimalloc"), "{table}");
        assert!(table.contains("| 1 of 3 fail |") && table.contains("| none |"), "{table}");
    }

    #[test]
    fn json_rows_have_the_keys_of_the_other_modules() {
        let rows = json(&measured(Some(Pair { before: 10.0, after: 9.0 }), 0));
        let rows: Vec<serde_json::Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // One row of lines and two of tests, four for each workload (instructions and time), and one peak.
        assert_eq!(rows.len(), 3 + 2 * 4 + 1);
        for key in ["module", "workload", "subject", "metric", "value", "unit", "baseline", "ratio"] {
            assert!(rows.iter().all(|row| row.get(key).is_some()), "{key}");
        }
        let ir = rows.iter().find(|row| row["metric"] == "ir" && row["workload"] == "lru/small").unwrap();
        assert_eq!(
            (ir["ratio"].as_f64(), ir["before"].as_f64(), &ir["baseline"]),
            (Some(0.9), Some(10.0), &"published".into())
        );
    }
}

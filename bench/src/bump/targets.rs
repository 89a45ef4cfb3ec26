//! What the arena is meant to reach beside bumpalo and bump-scope, each subject at its best setting.

use std::fmt::Write;

use crate::op::LOOP;
use crate::row::Row;

/// A metric of a workload, and the largest ratio to bumpalo's and to bump-scope's best.
type Target = (&'static str, &'static str, f64, f64);

const TARGETS: [Target; 14] = [
    ("u8", "ir", 0.86, 0.86),
    ("u64", "ir", 0.67, 0.86),
    ("u128", "ir", 0.60, 0.80),
    ("struct40", "ir", 0.77, 0.80),
    ("bytes", "ir", 1.0, 1.0),
    ("tree", "ir", 0.79, 0.95),
    ("vec/warm", "ir", 0.50, 1.0),
    ("vec/fresh", "ir", 0.55, 0.55),
    ("fmt", "ir", 0.75, 0.88),
    ("hashbrown", "ir", 1.0, 1.0),
    ("creation", "ir", 0.60, 1.05),
    ("mixed", "ns", 0.35, 0.90),
    ("tree", "ns", 0.76, 1.0),
    ("vec/warm", "ns", 0.75, 1.0),
];

/// The best of a crate's settings, less the loop in instructions: its name and the number.
fn best<'a>(rows: &'a [Row], workload: &str, metric: &str, name: &str) -> Option<(&'a str, f64)> {
    let of = |row: &&Row| row.workload == workload && row.metric == metric;
    let bare = rows.iter().filter(of).find(|row| row.subject == LOOP && metric == "ir").map_or(0.0, |row| row.value);
    let settings = rows.iter().filter(of).filter(|row| row.subject.starts_with(name));
    settings.map(|row| (row.subject.as_str(), row.value - bare)).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// A line for each target whose subjects were measured, as a table for the documentation.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| | ours | bumpalo's best | ratio | meant | bump-scope's best | ratio | meant | |\n\
         |---|---|---|--:|--:|---|--:|--:|---|\n",
    );
    for (workload, metric, to_bumpalo, to_bump_scope) in TARGETS {
        let Some((ours, value)) = best(rows, workload, metric, "dwell") else { continue };
        let mut missed = false;
        let mut line = format!("| {workload}, {metric} | {value:.1} `{ours}` |");
        for (name, bound) in [("bumpalo", to_bumpalo), ("bump-scope", to_bump_scope)] {
            let Some((theirs, other)) = best(rows, workload, metric, name) else { continue };
            let ratio = value / other;
            // Of instructions the least part that is printed counts; a time is not known so well.
            missed |= ratio >= bound + 0.005;
            let _ = write!(line, " {other:.1} `{theirs}` | {ratio:.2} | {bound:.2} |");
        }
        let _ = writeln!(text, "{line} {} |", if missed { "**missed**" } else { "reached" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::row::Row;

    fn row(subject: &str, value: f64) -> Row {
        let (workload, subject, baseline) = ("u64".to_owned(), subject.to_owned(), String::new());
        Row { module: "bump", workload, subject, metric: "ir", value, unit: "ir", baseline, ratio: 1.0 }
    }

    #[test]
    fn best_settings_are_compared_without_the_loop() {
        let rows = [
            row("bumpalo 1/1", 14.0),
            row("bumpalo 1/8", 12.0),
            row("bump-scope 1", 9.0),
            row("dwell/1", 11.0),
            row("dwell", 9.0),
            row("loop", 3.0),
        ];
        let expected = "| u64, ir | 6.0 `dwell` | 9.0 `bumpalo 1/8` | 0.67 | 0.67 | 6.0 `bump-scope 1` | 1.00 | 0.86 | **missed** |";
        assert_eq!(table(&rows).lines().last(), Some(expected));
    }
}

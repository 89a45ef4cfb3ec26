//! Targets for the arena relative to bumpalo and bump-scope, each crate at its best setting.

use std::fmt::Write;

use crate::op::LOOP;
use crate::row::Row;

/// A workload, a metric, and the largest ratio to the best number of bumpalo and of bump-scope.
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

/// Returns the name and the number of a crate's best setting. Instructions are net of the loop.
fn best<'a>(rows: &'a [Row], workload: &str, metric: &str, name: &str) -> Option<(&'a str, f64)> {
    let of = |row: &&Row| row.workload == workload && row.metric == metric;
    let bare = rows.iter().filter(of).find(|row| row.subject == LOOP && metric == "ir").map_or(0.0, |row| row.value);
    let settings = rows.iter().filter(of).filter(|row| row.subject.starts_with(name));
    settings.map(|row| (row.subject.as_str(), row.value - bare)).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns a table for the documentation, with a line for each target whose subjects were measured.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| | dwell | bumpalo's best | ratio | target | bump-scope's best | ratio | target | |\n\
         |---|---|---|--:|--:|---|--:|--:|---|\n",
    );
    for (workload, metric, to_bumpalo, to_bump_scope) in TARGETS {
        let Some((ours, value)) = best(rows, workload, metric, "dwell") else { continue };
        let mut missed = false;
        let mut line = format!("| {workload}, {metric} | {value:.1} `{ours}` |");
        for (name, bound) in [("bumpalo", to_bumpalo), ("bump-scope", to_bump_scope)] {
            let Some((theirs, other)) = best(rows, workload, metric, name) else { continue };
            let ratio = value / other;
            // Half of the last printed digit is tolerated.
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
    fn best_settings_are_compared_net_of_the_loop() {
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

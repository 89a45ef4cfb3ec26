//! The published numbers of "Bump Allocation: Up or Down?" beside the numbers measured here.

use std::fmt::Write;

use crate::op::LOOP;
use crate::row::Row;

const WORKLOADS: [&str; 4] = ["u8", "u64", "u128", "bytes"];

/// The published microseconds for 10,000 allocations of each workload. Byte slices at alignment 16 have none.
const PUBLISHED: [(&str, [Option<f64>; 4]); 7] = [
    ("article/down/checked", [Some(4.7), Some(7.5), Some(7.5), Some(18.7)]),
    ("article/up/checked", [Some(4.8), Some(9.3), Some(9.3), Some(18.7)]),
    ("article/up/branch", [Some(3.1), Some(9.9), Some(9.9), Some(17.1)]),
    ("article/up/8", [Some(3.2), Some(3.6), Some(9.9), Some(17.3)]),
    ("article/down/8", [Some(4.7), Some(4.8), Some(7.5), Some(18.7)]),
    ("article/up/16", [Some(3.2), Some(3.7), Some(3.5), None]),
    ("article/down/16", [Some(4.7), Some(4.7), Some(4.8), None]),
];

/// Returns a table for the documentation: published and measured microseconds, and instructions net of the loop.
pub(super) fn table(rows: &[Row]) -> String {
    let value = |workload: &str, subject: &str, metric: &str| {
        rows.iter()
            .find(|row| row.workload == workload && row.subject == subject && row.metric == metric)
            .map(|row| row.value)
    };
    let mut text = String::from("| us for 10,000: published; here; instructions |");
    for workload in WORKLOADS {
        let _ = write!(text, " {workload} |");
    }
    text.push_str("\n|---|--:|--:|--:|--:|\n");
    let ours = ["dwell/1", "dwell", "dwell/16"].map(|name| (name, [None; 4]));
    for (subject, published) in PUBLISHED.into_iter().chain(ours) {
        if !rows.iter().any(|row| row.subject == subject && WORKLOADS.contains(&row.workload.as_str())) {
            continue;
        }
        let _ = write!(text, "| {subject} |");
        for (workload, published) in WORKLOADS.into_iter().zip(published) {
            let shown = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.1}"));
            // One nanosecond per allocation is ten microseconds for 10,000.
            let here = value(workload, subject, "ns").map(|ns| ns * 10.0);
            let bare = value(workload, LOOP, "ir").unwrap_or(0.0);
            let ir = value(workload, subject, "ir").map_or("-".to_owned(), |ir| format!("{:.0}", ir - bare));
            let _ = write!(text, " {}; {}; {ir} |", shown(published), shown(here));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::row::Row;

    #[test]
    fn published_and_measured_values_share_a_row() {
        let row = |subject: &str, metric, value| Row {
            module: "bump",
            workload: "u64".to_owned(),
            subject: subject.to_owned(),
            metric,
            value,
            unit: metric,
            baseline: String::new(),
            ratio: 1.0,
        };
        let rows = [row("loop", "ir", 3.0), row("article/up/8", "ir", 13.0), row("article/up/8", "ns", 0.5)];
        let last = table(&rows).lines().last().map(str::to_owned);
        assert_eq!(last.as_deref(), Some("| article/up/8 | 3.2; -; - | 3.6; 5.0; 10 | 9.9; -; - | 17.3; -; - |"));
    }
}

//! The tables of `docs/slab.md`, with the verdicts on claims and goals.

use std::fmt::Write;

use super::latency::MANY;
use crate::row::{Row, distinct};

/// A column of a table: its title and metric.
struct Column {
    title: String,
    workload: String,
    metric: &'static str,
}

fn column(title: &str, workload: &str, metric: &'static str) -> Column {
    Column { title: title.to_owned(), workload: workload.to_owned(), metric }
}

fn find<'a>(rows: &'a [Row], workload: &str, subject: &str, metric: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.workload == workload && row.subject == subject && row.metric == metric)
}

/// Formats a number with one decimal, or from 1000 on as a whole number with a thousands separator.
fn digits(value: f64) -> String {
    if value < 1000.0 {
        return format!("{value:.1}");
    }
    let whole = format!("{value:.0}");
    let (head, tail) = whole.split_at(whole.len() - 3);
    format!("{head},{tail}")
}

fn table(text: &mut String, rows: &[Row], heading: &str, columns: &[Column]) {
    let titles: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
    let mut lines = String::new();
    for subject in distinct(rows.iter().map(|row| row.subject.as_str())) {
        let cells: Vec<String> = columns
            .iter()
            .map(|column| find(rows, &column.workload, subject, column.metric))
            .map(|row| row.map_or(String::new(), |row| digits(row.value)))
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let _ = writeln!(lines, "| {subject} | {} |", cells.join(" | "));
        }
    }
    if !lines.is_empty() {
        let _ = write!(
            text,
            "{heading}:\n\n| | {} |\n|---|{}\n{lines}\n",
            titles.join(" | "),
            "---:|".repeat(columns.len())
        );
    }
}

/// A goal: the largest ratio of a subject's number to another's, or the largest number itself if `beside` is empty.
struct Goal {
    what: &'static str,
    subject: &'static str,
    workload: &'static str,
    metric: &'static str,
    beside: &'static str,
    most: f64,
}

const MACRO: &str = "nexus-slab 0.10.2";
const FIXED: &str = "nexus-slab 2.4.0/bounded";
const GROWING: &str = "nexus-slab 2.4.0/unbounded";
const SLAB: &str = "slab 0.4.12";

#[rustfmt::skip] // a table
const GOALS: [Goal; 26] = {
    const fn goal(
        what: &'static str, subject: &'static str, workload: &'static str, metric: &'static str, beside: &'static str, most: f64,
    ) -> Goal {
        Goal { what, subject, workload, metric, beside, most }
    }
    [
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", "box/glibc", 0.35),
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", "box/mimalloc", 0.60),
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", MACRO, 0.60),
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", FIXED, 1.05),
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", GROWING, 0.35),
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", SLAB, 0.90),
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", "slotmap 1.1.1", 0.80),
        goal("lifecycle", "dwell", "lifecycle/64B", "p50", "plurality 0.2.3", 0.12),
        goal("churn", "dwell", "churn/64B", "p50", "box/glibc", 0.33),
        goal("churn", "dwell", "churn/64B", "p50", "box/mimalloc", 0.55),
        goal("churn", "dwell", "churn/64B", "p50", MACRO, 0.60),
        goal("churn", "dwell", "churn/64B", "p50", FIXED, 1.0),
        goal("churn", "dwell", "churn/64B", "p50", GROWING, 1.0),
        goal("churn", "dwell", "churn/64B", "p50", SLAB, 0.80),
        goal("churn", "dwell", "churn/64B", "p50", "slotmap 1.1.1", 0.45),
        goal("churn", "dwell", "churn/64B", "p50", "plurality 0.2.3", 0.18),
        goal("insert", "dwell", "insert", "p50", SLAB, 1.0),
        goal("cold burst", "dwell", "cold/burst/64B", "p50", MACRO, 0.30),
        goal("cold burst", "dwell", "cold/burst/256B", "p50", MACRO, 0.30),
        goal("cold burst", "dwell", "cold/burst/4096B", "p50", MACRO, 0.30),
        goal("get_mut of 4096 B", "dwell", "get_mut/4096B", "p50", FIXED, 0.15),
        goal("p99.99 of growth", "dwell", "growth/64B", "p9999", "nexus-slab 0.10.2/unbounded", 0.05),
        goal("p99.99 of growth", "dwell/direct", "growth/64B", "p9999", "nexus-slab 0.10.2/unbounded", 0.05),
        goal("free of many on another thread", "dwell/sync/drop_all", "remote/free/64B", "p50", "box/mimalloc", 0.40),
        goal("instructions a lifecycle", "dwell", "lifecycle/64B", "ir", "", 28.0),
        goal("instructions a lifecycle", "dwell/direct", "lifecycle/64B", "ir", "", 35.0),
    ]
};

fn goals(text: &mut String, rows: &[Row]) {
    let mut lines = String::new();
    for goal in &GOALS {
        let Some(ours) = find(rows, goal.workload, goal.subject, goal.metric) else { continue };
        let is = if goal.beside.is_empty() {
            ours.value
        } else {
            let Some(theirs) = find(rows, goal.workload, goal.beside, goal.metric) else { continue };
            ours.value / theirs.value
        };
        // "Value alone" only writes the value to the next entry of a ring.
        let floor = find(rows, goal.workload, "value alone", goal.metric).filter(|_| !goal.beside.is_empty());
        let floor = floor.zip(find(rows, goal.workload, goal.beside, goal.metric));
        let floor = floor.map_or(String::new(), |(floor, theirs)| format!("{:.2}", floor.value / theirs.value));
        let Goal { what, subject, beside, most, .. } = goal;
        let verdict = if is <= *most { "holds" } else { "**missed**" };
        let _ = writeln!(lines, "| {what}: {subject} | {beside} | {most} | {is:.2} | {floor} | {verdict} |");
    }
    if !lines.is_empty() {
        text.push_str("| goal | beside | at most | is | value alone | |\n|---|---|---:|---:|---:|---|\n");
        text.push_str(&lines);
    }
}

/// A line of the tables in nexus-slab's README: cycles of its slab and of the crate `slab` or a box.
struct Claim {
    what: &'static str,
    workload: &'static str,
    metric: &'static str,
    beside: &'static str,
    published: (f64, f64),
}

#[rustfmt::skip] // a table
const CLAIMS: [Claim; 27] = {
    const fn claim(
        what: &'static str, workload: &'static str, metric: &'static str, beside: &'static str, ours: f64, theirs: f64,
    ) -> Claim {
        Claim { what, workload, metric, beside, published: (ours, theirs) }
    }
    const BOX: &str = super::BASELINE;
    [
        claim("GET", "get", "p50", SLAB, 2.0, 3.0),
        claim("GET by key", "get by key", "p50", SLAB, 3.0, 3.0),
        claim("GET_MUT", "get_mut/64B", "p50", SLAB, 2.0, 3.0),
        claim("INSERT", "insert", "p50", SLAB, 8.0, 4.0),
        claim("REMOVE", "remove", "p50", SLAB, 4.0, 3.0),
        claim("REPLACE", "replace/64B", "p50", SLAB, 2.0, 4.0),
        claim("CONTAINS by key", "contains", "p50", SLAB, 3.0, 2.0),
        claim("lifecycle (insert, get, remove)", "lifecycle/64B", "p50", SLAB, 18.0, 10.0),
        claim("hot 64 B", "lifecycle/64B", "p50", BOX, 9.0, 12.0),
        claim("hot 64 B", "lifecycle/64B", "p99", BOX, 12.0, 20.0),
        claim("hot 64 B", "lifecycle/64B", "p999", BOX, 19.0, 48.0),
        claim("hot 256 B", "lifecycle/256B", "p50", BOX, 16.0, 15.0),
        claim("hot 256 B", "lifecycle/256B", "p99", BOX, 25.0, 48.0),
        claim("hot 256 B", "lifecycle/256B", "p999", BOX, 50.0, 80.0),
        claim("hot 4096 B", "lifecycle/4096B", "p50", BOX, 62.0, 105.0),
        claim("hot 4096 B", "lifecycle/4096B", "p99", BOX, 71.0, 149.0),
        claim("hot 4096 B", "lifecycle/4096B", "p999", BOX, 129.0, 209.0),
        claim("cold single 64 B", "cold/single/64B", "p50", BOX, 126.0, 132.0),
        claim("cold single 64 B", "cold/single/64B", "p99", BOX, 218.0, 334.0),
        claim("cold single 256 B", "cold/single/256B", "p50", BOX, 122.0, 166.0),
        claim("cold single 256 B", "cold/single/256B", "p99", BOX, 230.0, 336.0),
        claim("cold burst 64 B", "cold/burst/64B", "p50", BOX, 52.0, 51.0),
        claim("cold burst 64 B", "cold/burst/64B", "p99", BOX, 65.0, 71.0),
        claim("cold burst 256 B", "cold/burst/256B", "p50", BOX, 62.0, 58.0),
        claim("cold burst 256 B", "cold/burst/256B", "p99", BOX, 80.0, 94.0),
        claim("cold burst 4096 B", "cold/burst/4096B", "p50", BOX, 120.0, 181.0),
        claim("cold burst 4096 B", "cold/burst/4096B", "p99", BOX, 166.0, 270.0),
    ]
};

/// Adds a table of the claims: the published ratio, and the measured ones of both versions of nexus-slab and of Dwell.
fn claims(text: &mut String, rows: &[Row]) {
    let mut lines = String::new();
    for claim in &CLAIMS {
        let Some(beside) = find(rows, claim.workload, claim.beside, claim.metric) else { continue };
        let ratio = |subject| find(rows, claim.workload, subject, claim.metric).map(|row| row.value / beside.value);
        let cell = |subject| ratio(subject).map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let Some(again) = ratio(MACRO) else { continue };
        let published = claim.published.0 / claim.published.1;
        // The counter resolves one tick, which is a tenth of ten ticks.
        let verdict = match (published < 1.0, again < 1.0) {
            _ if again <= published * 1.1 => "confirmed",
            (true, true) => "partly confirmed",
            (true, false) => "refuted",
            (false, _) => "worse than published",
        };
        let Claim { what, metric, beside, published: (ours, theirs), .. } = claim;
        let (fixed, growing, dwell) = (cell(FIXED), cell(GROWING), cell("dwell"));
        let _ = writeln!(
            lines,
            "| {what}, {metric} | {beside} | {ours} : {theirs} | {published:.2} | {again:.2} | {verdict} | {fixed} | {growing} | {dwell} |"
        );
    }
    if !lines.is_empty() {
        let versions = "0.10.2 | | 2.4 bounded | 2.4 unbounded | dwell";
        let _ = write!(
            text,
            "| claim | beside | cycles | published | {versions} |\n|---|---|---|{}---|{}\n",
            "---:|".repeat(2),
            "---:|".repeat(3)
        );
        text.push_str(&lines);
        text.push('\n');
    }
}

/// Returns all tables that have rows.
pub(super) fn markdown(rows: &[Row]) -> String {
    const SIZES: [usize; 3] = [64, 256, 4096];
    let mut text = String::new();
    let instructions = [
        ("lifecycle", "lifecycle/64B"),
        ("churn", "churn/64B"),
        ("fill+drain", "fill+drain/64B"),
        ("book", "book"),
        ("producer+consumer", "producer+consumer/64B"),
    ];
    let instructions = instructions.map(|(title, workload)| column(title, workload, "ir"));
    table(&mut text, rows, "Instructions an operation, 64 bytes", &instructions);
    let operations = ["insert", "get", "get by key", "get_mut", "replace", "contains", "remove"].map(|title| {
        let workload = if ["get_mut", "replace"].contains(&title) { format!("{title}/64B") } else { title.to_owned() };
        column(title, &workload, "p50")
    });
    table(&mut text, rows, "Operations, median ticks, hot, 64 bytes", &operations);
    for metric in ["p50", "p99", "p999"] {
        let kinds =
            [("lifecycle", "lifecycle"), ("churn", "churn"), ("single", "cold/single"), ("burst", "cold/burst")];
        let columns: Vec<Column> = SIZES
            .iter()
            .flat_map(|size| {
                kinds.map(|(title, kind)| column(&format!("{title} {size}"), &format!("{kind}/{size}B"), metric))
            })
            .collect();
        table(&mut text, rows, &format!("Hot lifecycle and churn, cold single and burst, {metric}, ticks"), &columns);
    }
    let many = ["p50", "p99"].map(|metric| {
        ["lifecycle", "churn"].map(|kind| column(&format!("{kind} {metric}"), &format!("{kind}/64B/{MANY}"), metric))
    });
    let heading = format!("Lifecycle and churn of 64 bytes while {MANY} values live, ticks");
    table(&mut text, rows, &heading, many.as_flattened());
    let growth = [
        column("growth p99", "growth/64B", "p99"),
        column("p99.9", "growth/64B", "p999"),
        column("p99.99", "growth/64B", "p9999"),
        column("first drops p50", "first-drops/64B", "p50"),
        column("p99.9", "first-drops/64B", "p999"),
        column("random free p50", "random-free/64B", "p50"),
        column("p99", "random-free/64B", "p99"),
        column("refill p50", "refill/64B", "p50"),
        column("p99", "refill/64B", "p99"),
        column("get_mut 4096 B", "get_mut/4096B", "p50"),
    ];
    table(
        &mut text,
        rows,
        "Growth to a million values, their drop at random, as many inserted again, and large values, ticks",
        &growth,
    );
    let threads = [column("insert", "remote/insert/64B", "p50"), column("free", "remote/free/64B", "p50")];
    table(&mut text, rows, "Threads, 1024 values at a time, median ticks a value", &threads);
    table(&mut text, rows, "Order book, nanoseconds an event", &[column("event", "book", "ns")]);
    claims(&mut text, rows);
    goals(&mut text, rows);
    text
}

#[cfg(test)]
mod tests {
    use super::{CLAIMS, GOALS, MACRO, Row, markdown};
    use crate::slab::measures;

    fn row(workload: &str, subject: &str, metric: &'static str, value: f64) -> Row {
        let (workload, subject, baseline) = (workload.to_owned(), subject.to_owned(), String::new());
        Row { module: "slab", workload, subject, metric, value, unit: "", baseline, ratio: 1.0 }
    }

    #[test]
    fn goals_are_marked_as_met_or_missed() {
        let rows = [
            row("churn/64B", "dwell", "p50", 6.0),
            row("churn/64B", "slab 0.4.12", "p50", 10.0),
            row("churn/64B", "slotmap 1.1.1", "p50", 10.0),
            row("churn/64B", "value alone", "p50", 5.0),
        ];
        let text = markdown(&rows);
        assert!(text.contains("| churn: dwell | slab 0.4.12 | 0.8 | 0.60 | 0.50 | holds |"), "{text}");
        assert!(text.contains("| churn: dwell | slotmap 1.1.1 | 0.45 | 0.60 | 0.50 | **missed** |"), "{text}");
    }

    /// A renamed workload or subject would silently drop a goal from the table.
    #[test]
    fn goals_and_claims_name_measured_rows() {
        let all = measures();
        let goals = GOALS.iter().flat_map(|goal| [(goal.workload, goal.subject), (goal.workload, goal.beside)]);
        let claims = CLAIMS.iter().flat_map(|claim| [(claim.workload, MACRO), (claim.workload, claim.beside)]);
        for (workload, subject) in goals.chain(claims).filter(|(_, subject)| !subject.is_empty()) {
            let operation = all.ops.iter().any(|op| op.workload == workload && op.subject == subject);
            let probe = all.probes.iter().any(|probe| probe.names() == (workload, subject));
            assert!(operation || probe, "{subject} {workload}");
        }
    }
}

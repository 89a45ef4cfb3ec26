//! Writes rows as Markdown: all of them as tables, and the headlines for a README.

use anyhow::{Context, Result};
use std::fmt::Write as _;

use super::measured::{Measured, number, parse};
use super::seeds;
use crate::about;
use crate::row::distinct;

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Returns the text of `docs/results.md`.
pub(super) fn results(lines: &[String]) -> Result<String> {
    let rows = parse(lines)?;
    let mut text = "# Results\n\nThese commands write this page:\n\n".to_owned();
    text += "    cargo run --release -p dwell-bench -- all --quick --json > rows.jsonl\n";
    text += "    cargo run --release -p dwell-bench -- report --markdown docs/results.md < rows.jsonl\n\n";
    text +=
        "Lower is better in every column. `×` is the number divided by the baseline's: for counts after subtracting ";
    text += "the loop's own, for times the median of the ratios within rounds. The bold subjects are Dwell's.\n\n";
    text += "| measured on | |\n|---|---|\n";
    for (name, value) in about::machine() {
        writeln!(text, "| {name} | {} |", cell(&value))?;
    }
    let versions: Vec<String> = about::versions()?.iter().map(|(name, version)| format!("{name} {version}")).collect();
    writeln!(text, "| peers | {} |", versions.join(", "))?;
    text += &seeds::markdown(&rows)?;
    for module in distinct(rows.iter().map(|row| row.module.as_str())) {
        let of_module: Vec<&Measured> = rows.iter().filter(|row| row.module == module).collect();
        writeln!(text, "\n## {module}")?;
        for workload in distinct(of_module.iter().map(|row| row.workload.as_str())) {
            let of_workload: Vec<&Measured> =
                of_module.iter().copied().filter(|row| row.workload == workload).collect();
            text += &table(workload, &of_workload);
        }
    }
    Ok(text)
}

/// Returns a table with a line for each subject and two columns for each metric.
fn table(workload: &str, rows: &[&Measured]) -> String {
    let metrics = distinct(rows.iter().map(|row| row.metric.as_str()));
    let title = |metric: &&str| {
        let unit = rows.iter().find(|row| row.metric == *metric).map_or("", |row| row.unit.as_str());
        let unit = if unit.is_empty() || unit == *metric { String::new() } else { format!(", {unit}") };
        vec![format!("{metric}{unit}"), "×".to_owned()]
    };
    let numbers = |subject: &str, metric: &str| {
        let row = rows.iter().find(|row| row.subject == subject && row.metric == metric);
        let value = row.and_then(|row| Some(number(row.value?, &row.unit)));
        let ratio = row.and_then(|row| row.ratio).filter(|ratio| *ratio > 0.0).map(|ratio| format!("{ratio:.2}"));
        vec![value.unwrap_or_default(), ratio.unwrap_or_default()]
    };
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut lines =
        vec!["\n".to_owned(), line([vec![cell(workload)], metrics.iter().flat_map(title).collect()].concat())];
    lines.push(format!("|---|{}\n", "--:|--:|".repeat(metrics.len())));
    for subject in distinct(rows.iter().map(|row| row.subject.as_str())) {
        let name = if subject.starts_with("dwell") { format!("**{}**", cell(subject)) } else { cell(subject) };
        let cells = metrics.iter().flat_map(|metric| numbers(subject, metric)).collect();
        lines.push(line([vec![name], cells].concat()));
    }
    lines.concat()
}

/// The lines of the README's table.
const HEADLINES: [[&str; 5]; 12] = [
    // A description, the module, the workload, Dwell's subject, and the metric.
    ["a small boxed trait object: create, drop", "small", "create+drop/small", "dwell", "ir"],
    ["a call through it, sizes mixed", "small", "access/varied", "dwell", "ns"],
    ["a large one: create, drop", "small", "create+drop/large", "dwell", "ir"],
    ["slab: insert and drop 64 bytes", "slab", "lifecycle/64B", "dwell", "ns"],
    ["slab: an order book", "slab", "book", "dwell", "ns"],
    ["slab: p99.9 while growing", "slab", "growth/64B", "dwell", "p999"],
    ["bump: allocate a `u64`", "bump", "u64", "dwell", "ir"],
    ["bump: build a tree", "bump", "tree", "dwell", "ns"],
    ["future: box in a pool, first poll", "pin", "pending_8/first_poll", "dwell/pooled", "ns"],
    ["future: eight boxed layers, to the end", "pin", "layered_pending_8_l8/complete", "dwell/pooled", "ns"],
    ["Smithy models, generated, in memory", "sparse", "smithy", "dwell/sparse", "bytes"],
    ["read a field of a mostly empty struct", "sparse", "read/field/2%", "dwell", "ir"],
];

/// Returns whether a subject is no competitor, such as a lower bound or a prototype.
pub(super) fn is_ground(subject: &str) -> bool {
    ["loop", "allocator", "value alone", "nodes alone", "inline", "lent"].contains(&subject)
        || subject.starts_with("no_box")
        || subject.contains("prototype")
        || subject.ends_with(" bytes")
}

const BEGIN: &str = "<!-- results -->\n";
const END: &str = "<!-- /results -->";

/// Returns a README with its table of results replaced.
pub(super) fn into_readme(readme: &str, lines: &[String]) -> Result<String> {
    let (before, rest) = readme.split_once(BEGIN).context("no comment `results` in the README")?;
    let (_, after) = rest.split_once(END).context("no comment `/results` in the README")?;
    let rows = parse(lines)?;
    let mut table = "| | Dwell | baseline | × | best peer | × |\n|---|--:|---|--:|---|--:|\n".to_owned();
    for [what, module, workload, subject, metric] in HEADLINES {
        let of: Vec<&Measured> = rows
            .iter()
            .filter(|row| {
                row.module == module && row.workload == workload && row.metric == metric && row.ratio > Some(0.0)
            })
            .collect();
        let Some(ours) = of.iter().find(|row| row.subject == subject) else {
            continue; // not measured in this run
        };
        let is_peer = |row: &&&Measured| !row.subject.starts_with("dwell") && !is_ground(&row.subject);
        let peers = of.iter().filter(is_peer).filter(|row| row.subject != ours.baseline);
        let best = peers.min_by(|a, b| a.ratio.partial_cmp(&b.ratio).unwrap_or(std::cmp::Ordering::Equal));
        let ratio = ours.ratio.unwrap_or(f64::NAN);
        let (peer, beside) = best.map_or_else(Default::default, |peer| {
            (cell(&peer.subject), format!("{:.2}", ratio / peer.ratio.unwrap_or(f64::NAN)))
        });
        let value = number(ours.value.unwrap_or(f64::NAN), &ours.unit);
        writeln!(
            table,
            "| {what} | {value} {} | {} | {ratio:.2} | {peer} | {beside} |",
            ours.unit,
            cell(&ours.baseline)
        )?;
    }
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, HEADLINES, into_readme, results};

    fn row(subject: &str, value: f64, ratio: f64) -> String {
        format!(
            r#"{{"module":"slab","workload":"book","subject":"{subject}","metric":"ns","value":{value},"unit":"ns","baseline":"box/glibc","ratio":{ratio}}}"#
        )
    }

    #[test]
    fn headline_has_its_baseline_and_best_peer() {
        let rows =
            [row("box/glibc", 10.0, 1.0), row("dwell", 5.0, 0.5), row("value alone", 1.0, 0.1), row("p 1", 4.0, 0.4)];
        let readme = into_readme(&format!("a\n{BEGIN}old\n{END}\nb"), &rows).unwrap();
        assert!(readme.starts_with("a\n") && readme.ends_with("\nb") && !readme.contains("old"));
        assert!(readme.contains("| slab: an order book | 5.00 ns | box/glibc | 0.50 | p 1 | 1.25 |"), "{readme}");
        assert!(into_readme("none", &rows).is_err());
        assert!(HEADLINES.len() <= 12);
    }

    #[test]
    fn every_number_has_a_cell() {
        let text = results(&[row("dwell", 5.0, 0.5)]).unwrap();
        assert!(text.contains("\n| book | ns | × |\n|---|--:|--:|\n| **dwell** | 5.00 | 0.50 |\n"), "{text}");
    }
}

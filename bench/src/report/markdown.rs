//! Writes rows as Markdown: all of them as tables, and the headlines for the README of `bench/results`.

use anyhow::{Context, Result};
use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::about;
use crate::measured::{self, Measured, number, parse, with_ranges};
use crate::row::{MIMALLOC, distinct};
use crate::{goals, seeds};

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Returns the text of `bench/results/all.md`.
pub(super) fn results(lines: &[String]) -> Result<String> {
    let rows = parse(lines)?;
    let about = measured::about(lines)?;
    let mut text = "# Results\n\nThese commands write this page:\n\n".to_owned();
    let values_of =
        |wanted: &str| about.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str()).collect();
    let commands: Vec<&str> = values_of(about::COMMAND);
    // Rows of single modules do not name their command.
    for command in if commands.is_empty() { vec!["MODULE --json"] } else { commands } {
        writeln!(text, "    cargo run --release -p dwell-bench -- {command} >> rows.jsonl")?;
    }
    text += "    cargo run --release -p dwell-bench -- report --markdown bench/results/all.md < rows.jsonl\n\n";
    text += "Lower is better in every column. `×` is the number divided by the baseline's. `ir` are instructions without those of the empty loop, where a table has a line ";
    text += "`loop`. The bold subjects are Dwell's.\n\n";
    text += "| measured on | |\n|---|---|\n";
    for (name, here) in about::machine() {
        writeln!(text, "| {name} | {} |", cell(values_of(name).first().unwrap_or(&here.as_str())))?;
    }
    let versions: Vec<String> = about::versions()?.iter().map(|(name, version)| format!("{name} {version}")).collect();
    writeln!(text, "| peers | {} |", versions.join(", "))?;
    text += "\n## Goals\n\n";
    text += &goals::markdown(&rows)?;
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
const HEADLINES: [[&str; 5]; 13] = [
    // A description, the module, the workload, Dwell's subject, and the metric.
    ["a small boxed trait object: create, drop", "small", "create+drop/small", "dwell", "ir"],
    ["a large one: create, drop", "small", "create+drop/large", "dwell", "ir"],
    ["a call, 500 boxes of mixed sizes in turn", "small", "access/varied", "dwell", "ns"],
    ["a call, 40,000 boxes of mixed sizes in turn", "small", "access/varied/40000", "dwell", "ns"],
    ["slab: insert and drop 64 bytes", "slab", "lifecycle/64B", "dwell", "ir"],
    ["slab: an order book", "slab", "book", "dwell", "ns"],
    ["slab: find a value by key (`SlabMap`)", "slab", "find/64B", "dwell/map", "ir"],
    ["bump: allocate a `u64`", "bump", "u64", "dwell", "ir"],
    ["bump: push 16 elements to a new vector", "bump", "vec/short", "dwell", "ir"],
    ["future: box in a pool, first poll", "pin", "pending_8/first_poll", "dwell/pooled", "ns"],
    ["future: eight boxed `async` layers, to the end", "pin", "layered_async_l8/complete", "dwell/pooled", "ns"],
    ["Smithy models, generated, in memory", "sparse", "smithy", "dwell/sparse", "bytes"],
    ["read a field of a mostly empty struct", "sparse", "read/field/2%", "dwell", "ir"],
];

/// Returns whether a subject is no competitor, such as a lower bound.
pub(super) fn is_ground(subject: &str) -> bool {
    ["loop", "allocator", "value alone", "nodes alone", "inline"].contains(&subject)
        || subject.starts_with("no_box")
        || subject.ends_with(MIMALLOC)
}

/// A number, and the confidence interval of a time.
#[derive(Clone, Copy)]
struct Ranged {
    number: f64,
    range: Option<[f64; 2]>,
}

impl Ranged {
    /// Returns the ratio to another number. Its range is the widest that both ranges allow.
    fn over(self, other: Self) -> Self {
        let range = self.range.zip(other.range).map(|([low, high], [least, most])| [low / most, high / least]);
        Self { number: self.number / other.number, range }
    }

    fn text(self, unit: &str) -> String {
        let range = self.range.map(|[low, high]| format!(" ({}-{})", number(low, unit), number(high, unit)));
        format!("{}{}", number(self.number, unit), range.unwrap_or_default())
    }
}

/// The value and the ratio of a subject in one workload. `None` for a time without a range.
fn ranged(rows: &[&Measured], subject: &str, metric: &str) -> Option<[Ranged; 2]> {
    let find = |metric: &str| rows.iter().find(|row| row.subject == subject && row.metric == metric);
    let (row, low, high) = (find(metric)?, find(&format!("{metric}_low")), find(&format!("{metric}_high")));
    if row.unit == "ns" && low.is_none() {
        return None;
    }
    let range = |number_of: fn(&Measured) -> Option<f64>| {
        low.zip(high).and_then(|(low, high)| Some([number_of(low)?, number_of(high)?]))
    };
    Some([
        Ranged { number: row.value?, range: range(|row| row.value) },
        Ranged { number: row.ratio?, range: range(|row| row.ratio) },
    ])
}

const BEGIN: &str = "<!-- results -->\n";
const END: &str = "<!-- /results -->";

/// Returns a README with its table of results replaced.
pub(super) fn into_readme(readme: &str, lines: &[String]) -> Result<String> {
    let (before, rest) = readme.split_once(BEGIN).context("no comment `results` in the README")?;
    let (_, after) = rest.split_once(END).context("no comment `/results` in the README")?;
    let rows = with_ranges(lines)?;
    let mut table =
        "| | Dwell | beside | × | mimalloc, × | best peer | × |\n|---|--:|---|--:|--:|---|--:|\n".to_owned();
    for [what, module, workload, subject, metric] in HEADLINES {
        let measured: Vec<&Measured> =
            rows.iter().filter(|row| row.module == module && row.workload == workload).collect();
        let Some([value, ratio]) = ranged(&measured, subject, metric) else {
            continue; // not measured in this run
        };
        let Some(ours) = measured.iter().find(|row| row.subject == subject && row.metric == metric) else { continue };
        let ratio_of = |subject: &str| ranged(&measured, subject, metric).map(|[_, ratio]| ratio);
        let value_of = |subject: &str| ranged(&measured, subject, metric).map(|[value, _]| value);
        // With mimalloc as the global allocator, or beside boxes that name it.
        let mimalloc = ratio_of(&format!("{subject}{MIMALLOC}")).or_else(|| {
            (ours.baseline == "box/glibc")
                .then(|| value_of("box/mimalloc"))
                .flatten()
                .map(|mimalloc| value.over(mimalloc))
        });
        let is_peer = |row: &&&Measured| {
            let is_ours = row.subject.starts_with("dwell") || row.subject.starts_with("box/");
            row.metric == metric && !is_ours && !is_ground(&row.subject) && row.subject != ours.baseline
        };
        let best =
            measured.iter().filter(is_peer).min_by(|a, b| a.ratio.partial_cmp(&b.ratio).unwrap_or(Ordering::Equal));
        let beside = best.and_then(|peer| Some((cell(&peer.subject), value.over(value_of(&peer.subject)?).text(""))));
        let (peer, beside) = beside.unwrap_or_default();
        let mimalloc = mimalloc.map(|ratio| ratio.text("")).unwrap_or_default();
        let (value, unit) = (value.text(&ours.unit), &ours.unit);
        writeln!(
            table,
            "| {what} | {value} {unit} | {} | {} | {mimalloc} | {peer} | {beside} |",
            cell(&ours.baseline),
            ratio.text("")
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

    fn with_range(subject: &str, value: f64, ratio: f64) -> [String; 3] {
        let measured = |metric: &str, by: f64| {
            row(subject, value * by, ratio * by).replace(r#""metric":"ns""#, &format!(r#""metric":"{metric}""#))
        };
        [measured("ns", 1.0), measured("ns_low", 0.5), measured("ns_high", 2.0)]
    }

    #[test]
    fn headline_has_its_baseline_and_best_peer() {
        let rows = [
            with_range("box/glibc", 10.0, 1.0),
            with_range("box/mimalloc", 8.0, 0.8),
            with_range("dwell", 5.0, 0.5),
            with_range("value alone", 1.0, 0.1),
            with_range("p 1", 4.0, 0.4),
        ];
        let readme = into_readme(&format!("a\n{BEGIN}old\n{END}\nb"), rows.as_flattened()).unwrap();
        assert!(readme.starts_with("a\n") && readme.ends_with("\nb") && !readme.contains("old"));
        let line = "| slab: an order book | 5.00 (2.50-10.0) ns | box/glibc | 0.50 (0.12-2.00) | 0.62 (0.16-2.50) | p 1 | 1.25 (0.31-5.00) |";
        assert!(readme.contains(line), "{readme}");
        assert!(into_readme("none", rows.as_flattened()).is_err());
        let count = |subject: &str, value: f64, ratio: f64| {
            let row = row(subject, value, ratio).replace(r#""workload":"book""#, r#""workload":"lifecycle/64B""#);
            row.replace(r#""metric":"ns","#, r#""metric":"ir","#).replace(r#""unit":"ns""#, r#""unit":"ir""#)
        };
        let counts = [count("box/glibc", 13.0, 1.0), count("dwell", 8.0, 0.5), count("loop", 3.0, 0.0)];
        let readme = into_readme(&format!("{BEGIN}{END}"), &counts).unwrap();
        assert!(readme.contains("| slab: insert and drop 64 bytes | 5.00 ir | box/glibc | 0.50 |"), "{readme}");
        // A time without a range is no headline.
        assert!(
            !into_readme(&format!("{BEGIN}{END}"), &[row("box/glibc", 10.0, 1.0), row("dwell", 5.0, 0.5)])
                .unwrap()
                .contains("order book")
        );
        assert!(HEADLINES.len() <= 13);
    }

    #[test]
    fn every_number_has_a_cell() {
        let text = results(&[row("dwell", 5.0, 0.5)]).unwrap();
        assert!(text.contains("\n| book | ns | × |\n|---|--:|--:|\n| **dwell** | 5.00 | 0.50 |\n"), "{text}");
    }

    #[test]
    fn counts_are_without_the_loop() {
        let count = |subject: &str, value: f64| row(subject, value, 0.5).replace(r#":"ns""#, r#":"ir""#);
        let rows = [("dwell", 8.0), ("dwell, mimalloc", 9.0), ("loop", 3.0), ("loop, mimalloc", 2.0)];
        let text = results(&rows.map(|(subject, value)| count(subject, value))).unwrap();
        for line in ["| **dwell** | 5.00 |", "| **dwell, mimalloc** | 7.00 |", "| loop | 3.00 |"] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn command_is_that_of_the_rows() {
        let about = row("all --quick --json", 0.0, 0.0).replace("slab", "about").replace("book", "command");
        let text = results(&[about, row("dwell", 5.0, 0.5)]).unwrap();
        assert!(text.contains(" -- all --quick --json >> rows.jsonl\n"), "{text}");
        assert!(results(&[row("dwell", 5.0, 0.5)]).unwrap().contains(" -- MODULE --json >> rows.jsonl\n"));
    }
}

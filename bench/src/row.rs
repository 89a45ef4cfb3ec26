//! Rows, the results of measurements, and their output.

use anyhow::{Result, bail};
use serde::Serialize;
use std::io::{self, BufRead, Write};
use std::sync::{Mutex, PoisonError};

use crate::count;

/// One number. Lower is better in every metric.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) module: &'static str,
    pub(crate) workload: String,
    pub(crate) subject: String,
    pub(crate) metric: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The subject that `ratio` compares with.
    pub(crate) baseline: String,
    pub(crate) ratio: f64,
}

impl Row {
    /// Adds the name of the global allocator to those of the subjects, if it is not the system's.
    fn on_this_allocator(mut self) -> Self {
        if count::is_mimalloc() && self.module != "about" {
            for name in [&mut self.subject, &mut self.baseline] {
                *name = format!("{}{MIMALLOC}", name.trim_end_matches("/glibc"));
            }
        }
        self
    }
}

/// The end of the names of subjects whose global allocator is mimalloc.
pub(crate) const MIMALLOC: &str = ", mimalloc";

/// Rows as JSON, one row in each line.
pub(crate) type Lines = Mutex<Vec<String>>;

/// Reads the rows that earlier runs printed.
pub(crate) fn read(lines: impl BufRead) -> Result<Vec<String>> {
    let lines = lines.lines().collect::<Result<Vec<_>, _>>()?;
    if lines.is_empty() {
        bail!("there are no rows on standard input; `dwell-bench all --json` prints some");
    }
    Ok(lines)
}

/// The output format of rows: tables with text, or only JSON with one row in each line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    /// Collects the rows for a report.
    pub(crate) kept: Option<&'static Lines>,
}

impl Output {
    /// Prints text that is not a row.
    pub(crate) fn say(self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { writeln!(io::stdout(), "{text}") }
    }

    /// Prints rows as tables with a line for each subject and a column for each metric, or as JSON.
    pub(crate) fn rows(self, rows: &[Row]) -> io::Result<()> {
        let rows: Vec<Row> = rows.iter().cloned().map(Row::on_this_allocator).collect();
        let lines = rows.iter().map(|row| serde_json::to_string(row).expect("a row is plain data"));
        if let Some(kept) = self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend(lines.clone());
        }
        if !self.json {
            return io::stdout().write_all(table(&rows).as_bytes());
        }
        for line in lines {
            writeln!(io::stdout(), "{line}")?;
        }
        Ok(())
    }
}

impl Output {
    /// Prints rows of another process, as a list.
    pub(crate) fn foreign(self, rows: &[String]) -> io::Result<()> {
        if let Some(kept) = self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(rows);
        }
        for row in rows {
            if self.json {
                writeln!(io::stdout(), "{row}")?;
                continue;
            }
            let Ok(value) = serde_json::from_str::<serde_json::Value>(row) else { continue };
            let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
            if RANGE.iter().any(|end| text("metric").ends_with(end)) {
                continue;
            }
            let numbers = [&value["value"], &value["ratio"]].map(|number| number.as_f64().unwrap_or(f64::NAN));
            let (what, metric) = (format!("{} {}", text("workload"), text("subject")), text("metric"));
            writeln!(io::stdout(), "{what}: {:.2} {metric}, {:.3} of {}", numbers[0], numbers[1], text("baseline"))?;
        }
        Ok(())
    }
}

/// The suffixes of metrics for the confidence interval, which appear in JSON and reports but not in tables.
pub(crate) const RANGE: [&str; 2] = ["_low", "_high"];

/// Returns the distinct values of `items`, in order of appearance.
pub(crate) fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// Formats a line for each subject under its workload, with the value and the ratio to the baseline for each metric.
fn table(rows: &[Row]) -> String {
    let in_range = |metric: &&str| RANGE.iter().any(|end| metric.ends_with(end));
    let metrics = distinct(rows.iter().map(|row| row.metric).filter(|metric| !in_range(metric)));
    let mut lines = vec![vec![String::new()]];
    for metric in &metrics {
        let unit = rows.iter().find(|row| row.metric == *metric).map_or("", |row| row.unit);
        let title = if unit == *metric || unit.is_empty() { (*metric).to_owned() } else { format!("{metric} {unit}") };
        lines[0].extend([title, "ratio".to_owned()]);
    }
    let workloads = distinct(rows.iter().map(|row| row.workload.as_str()));
    for workload in &workloads {
        let of_workload = || rows.iter().filter(|row| row.workload == *workload);
        if workloads.len() > 1 {
            lines.push(vec![format!("{workload}:")]);
        }
        for subject in distinct(of_workload().map(|row| row.subject.as_str())) {
            let mut line = vec![subject.to_owned()];
            for metric in &metrics {
                match of_workload().find(|row| row.subject == subject && row.metric == *metric) {
                    Some(row) => line.extend([number(row.value, row.unit), format!("{:.3}", row.ratio)]),
                    None => line.extend([String::new(), String::new()]),
                }
            }
            lines.push(line);
        }
    }
    align(&lines)
}

/// Pads columns to their widest entry: the first to the left, numbers to the right.
fn align(lines: &[Vec<String>]) -> String {
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let first = format!("{:<1$}", line[0], widths[0]);
        let rest = line.iter().zip(&widths).skip(1).map(|(entry, width)| format!("  {entry:>width$}"));
        text += (first + &rest.collect::<String>()).trim_end();
        text.push('\n');
    }
    text
}

/// Formats a number with three or four significant digits, and counts with separators.
pub(crate) fn number(value: f64, unit: &str) -> String {
    if unit == "%" {
        return format!("{value:.4}");
    }
    if unit == "MB" || value.abs() < 1000.0 {
        return format!("{value:.1}");
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", dwell_output::units::group(&format!("{:.0}", value.abs())))
}

#[cfg(test)]
mod tests {
    use super::{Row, number, table};

    fn row(subject: &str, metric: &'static str, value: f64, unit: &'static str) -> Row {
        let (workload, baseline) = ("smithy".to_owned(), "unboxed".to_owned());
        Row { module: "sparse", workload, subject: subject.to_owned(), metric, value, unit, baseline, ratio: 0.5 }
    }

    #[test]
    fn workloads_are_headings() {
        let other = Row { workload: "access".to_owned(), ..row("unboxed", "bytes", 1.0, "MB") };
        let table = table(&[row("unboxed", "bytes", 2.0, "MB"), other]);
        let heads: Vec<&str> = table.lines().filter(|line| line.ends_with(':')).collect();
        assert_eq!(heads, ["smithy:", "access:"]);
    }

    #[test]
    fn table_has_a_line_per_subject() {
        let rows = [row("unboxed", "bytes", 2.0, "MB"), row("boxed", "allocs", 12345.0, "")];
        let table = table(&rows);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["bytes", "MB", "ratio", "allocs", "ratio"]);
        assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["boxed", "12,345", "0.500"]);
    }

    #[test]
    fn numbers_are_formatted_by_size() {
        assert_eq!(number(1_164_484.0, ""), "1,164,484");
        assert_eq!(number(999.94, "ms"), "999.9");
        assert_eq!(number(1234.56, "MB"), "1234.6");
    }
}

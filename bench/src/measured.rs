//! The rows that a report reads.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::op::LOOP;
use crate::row::{self, MIMALLOC, RANGE};

/// The fields of a row that a report reads.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Measured {
    pub(crate) module: String,
    pub(crate) workload: String,
    pub(crate) subject: String,
    pub(crate) metric: String,
    pub(crate) value: Option<f64>,
    pub(crate) unit: String,
    pub(crate) baseline: String,
    pub(crate) ratio: Option<f64>,
}

fn all(lines: &[String]) -> Result<Vec<Measured>> {
    lines.iter().map(|line| serde_json::from_str(line).with_context(|| format!("not a row: {line}"))).collect()
}

/// Returns the names and values that describe the machine and the command, from the rows of `about`.
pub(crate) fn about(lines: &[String]) -> Result<Vec<(String, String)>> {
    let rows = all(lines)?.into_iter().filter(|row| row.module == "about");
    Ok(rows.map(|row| (row.workload, row.subject)).collect())
}

/// Parses rows and returns those with numbers, without the description of the machine. Counts of instructions are
/// without the loop, as their ratios are. The ratio of a time is that of the printed medians.
pub(crate) fn with_ranges(lines: &[String]) -> Result<Vec<Measured>> {
    let mut rows: Vec<Measured> = all(lines)?.into_iter().filter(|row| row.module != "about").collect();
    subtract_loops(&mut rows);
    divide_medians(&mut rows);
    Ok(rows)
}

/// Sets the ratios of times to those of the medians, and their ends to the widest that both intervals allow.
///
/// The median of the ratios within rounds is another number if times have two modes: then .70 ns could be .88 of .48 ns.
fn divide_medians(rows: &mut [Measured]) {
    let old = rows.to_vec();
    for row in rows.iter_mut().filter(|row| ["ns", "ticks"].contains(&row.unit.as_str()) && row.subject != row.baseline)
    {
        let other = match row.metric.rsplit_once('_') {
            Some((metric, "low")) => format!("{metric}_high"),
            Some((metric, "high")) => format!("{metric}_low"),
            _ => row.metric.clone(),
        };
        let is_base = |base: &&Measured| {
            (&base.module, &base.workload, &base.subject, &base.metric)
                == (&row.module, &row.workload, &row.baseline, &other)
        };
        if let Some((value, base)) = row.value.zip(old.iter().find(is_base).and_then(|base| base.value))
            && row.ratio != Some(0.0)
        {
            row.ratio = Some(value / base);
        }
    }
}

/// Subtracts the loop from the instructions of the other subjects that were counted with the same allocator.
fn subtract_loops(rows: &mut [Measured]) {
    let is_mimalloc = |row: &Measured| row.subject.ends_with(MIMALLOC);
    let is_loop = |row: &Measured| row.metric == "ir" && row.subject.trim_end_matches(MIMALLOC) == LOOP;
    let loops: Vec<Measured> = rows.iter().filter(|row| is_loop(row)).cloned().collect();
    for row in rows.iter_mut().filter(|row| row.metric == "ir" && !is_loop(row)) {
        let is_bare = |bare: &&Measured| {
            (&bare.module, &bare.workload, is_mimalloc(bare)) == (&row.module, &row.workload, is_mimalloc(row))
        };
        let bare = loops.iter().find(is_bare).and_then(|bare| bare.value);
        row.value = row.value.map(|value| value - bare.unwrap_or(0.0));
    }
}

/// Parses rows and returns those with numbers, without confidence intervals.
pub(crate) fn parse(lines: &[String]) -> Result<Vec<Measured>> {
    let rows = with_ranges(lines)?.into_iter();
    Ok(rows.filter(|row| !RANGE.iter().any(|end| row.metric.ends_with(end))).collect())
}

/// Formats a number with three or four digits.
pub(crate) fn number(value: f64, unit: &str) -> String {
    if value.abs() < 10.0 { format!("{value:.2}") } else { row::number(value, unit) }
}

#[cfg(test)]
mod tests {
    use super::with_ranges;

    /// Times with two modes: the ratio is that of the numbers beside it.
    #[test]
    fn ratio_is_of_the_printed_times() {
        let row = |subject: &str, metric: &str, value: f64, ratio: f64| {
            format!(
                r#"{{"module":"bump","workload":"bytes","subject":"{subject}","metric":"{metric}","value":{value},"unit":"ns","baseline":"b","ratio":{ratio}}}"#
            )
        };
        let rows = [
            row("b", "ns", 0.5, 1.0),
            row("b", "ns_low", 0.4, 1.0),
            row("b", "ns_high", 0.8, 1.0),
            row("dwell", "ns", 0.7, 0.88),
            row("dwell", "ns_low", 0.6, 0.8),
            row("dwell", "ns_high", 0.8, 0.9),
            row("loop", "ns", 0.1, 0.0),
        ];
        let ratios: Vec<_> = with_ranges(&rows).unwrap().iter().map(|row| row.ratio.unwrap()).collect();
        let expected = [1.0, 1.0, 1.0, 1.4, 0.75, 2.0, 0.0];
        assert!(ratios.iter().zip(expected).all(|(ratio, expected)| (ratio - expected).abs() < 1e-9), "{ratios:?}");
    }
}

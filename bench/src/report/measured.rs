//! The rows that a report reads.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::row::{self, RANGE};

/// The fields of a row that a report reads.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Measured {
    pub(super) module: String,
    pub(super) workload: String,
    pub(super) subject: String,
    pub(super) metric: String,
    pub(super) value: Option<f64>,
    pub(super) unit: String,
    pub(super) baseline: String,
    pub(super) ratio: Option<f64>,
}

/// Parses rows and returns those with numbers, without the description of the machine.
pub(super) fn with_ranges(lines: &[String]) -> Result<Vec<Measured>> {
    let rows = lines.iter().map(|line| serde_json::from_str(line).with_context(|| format!("not a row: {line}")));
    let rows: Vec<Measured> = rows.collect::<Result<_>>()?;
    Ok(rows.into_iter().filter(|row| row.module != "about").collect())
}

/// Parses rows and returns those with numbers, without confidence intervals.
pub(super) fn parse(lines: &[String]) -> Result<Vec<Measured>> {
    let rows = with_ranges(lines)?.into_iter();
    Ok(rows.filter(|row| !RANGE.iter().any(|end| row.metric.ends_with(end))).collect())
}

/// Formats a number with three or four digits.
pub(super) fn number(value: f64, unit: &str) -> String {
    if value.abs() < 10.0 { format!("{value:.2}") } else { row::number(value, unit) }
}

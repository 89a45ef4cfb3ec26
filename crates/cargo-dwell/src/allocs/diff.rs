//! `--diff`: what changed between two runs.

use super::document::{Document, Row};
use super::text::{millions, seconds};
use comfy_table::Cell;
use dwell_output::{Look, header, right};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;

/// The differences between two runs.
#[derive(Debug, Serialize)]
pub(super) struct Diff {
    /// The version of the format.
    version: u32,
    /// The numbers of the whole run.
    total: Change,
    /// The rows with a difference, the largest difference of time first.
    pub(super) rows: Vec<Changed>,
}

/// The numbers of two runs.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Change {
    /// Time in the allocator in nanoseconds, before and after.
    pub(super) nanos: [u64; 2],
    /// Allocations.
    pub(super) allocations: [u64; 2],
    /// Reallocations.
    pub(super) reallocations: [u64; 2],
    /// Bytes.
    pub(super) bytes: [u64; 2],
}

/// A row with a difference.
#[derive(Debug, Serialize)]
pub(super) struct Changed {
    pub(super) what: String,
    /// The first place, without its line, which an edit above it changes.
    pub(super) at: String,
    #[serde(flatten)]
    pub(super) change: Change,
}

impl Change {
    fn add(&mut self, side: usize, row: &Row) {
        self.nanos[side] += row.nanos;
        self.allocations[side] += row.counts.allocations;
        self.reallocations[side] += row.counts.reallocations;
        self.bytes[side] += row.counts.bytes;
    }
}

/// The default number of rows.
const ROWS: usize = 20;

impl Diff {
    /// Compares two runs.
    pub(super) fn new(old: &Document, new: &Document) -> Self {
        let mut all: BTreeMap<(String, String), Change> = BTreeMap::new();
        let mut total = Change::default();
        for (side, document) in [old, new].into_iter().enumerate() {
            total.nanos[side] = document.time.allocator;
            total.allocations[side] = document.total.allocations;
            total.reallocations[side] = document.total.reallocations;
            total.bytes[side] = document.total.bytes;
            for row in &document.rows {
                // Boxes are one row wherever they are made.
                let is_type =
                    row.what.starts_with("Box<") || row.what.starts_with("Rc<") || row.what.starts_with("Arc<");
                let place = row.places.first().filter(|_| !is_type);
                let at = place.map_or_else(String::new, |place| place.function.clone());
                all.entry((row.what.clone(), at)).or_default().add(side, row);
            }
        }
        let is_other = |change: &Change| {
            change.allocations[0] != change.allocations[1]
                || change.reallocations[0] != change.reallocations[1]
                || change.bytes[0] != change.bytes[1]
        };
        let mut rows: Vec<Changed> = all
            .into_iter()
            .filter(|(_, change)| is_other(change))
            .map(|((what, at), change)| Changed { what, at, change })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.change.nanos[0].abs_diff(row.change.nanos[1])));
        Self { version: super::document::VERSION, total, rows }
    }

    /// Writes the differences as text.
    pub(super) fn write(&self, top: Option<usize>, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
        let total = &self.total;
        writeln!(
            out,
            "{} in the allocator instead of {}: {} allocations instead of {}, {} reallocations instead of {}",
            seconds(total.nanos[1]),
            seconds(total.nanos[0]),
            millions(total.allocations[1]),
            millions(total.allocations[0]),
            millions(total.reallocations[1]),
            millions(total.reallocations[0]),
        )?;
        if self.rows.is_empty() {
            return writeln!(out, "No difference: the same places allocate as often and as much.");
        }
        writeln!(out)?;
        let mut rows = vec![header(&["time before", "after", "allocs before", "after", "what, where"])];
        let most = top.unwrap_or(if look.markdown { usize::MAX } else { ROWS });
        for row in self.rows.iter().take(most) {
            let at = if row.at.is_empty() { String::new() } else { format!(" in {}", row.at) };
            rows.push(vec![
                right(seconds(row.change.nanos[0])),
                right(seconds(row.change.nanos[1])),
                right(millions(row.change.allocations[0] + row.change.reallocations[0])),
                right(millions(row.change.allocations[1] + row.change.reallocations[1])),
                Cell::new(format!("{}{at}", row.what)),
            ]);
        }
        look.table(out, &rows)?;
        if self.rows.len() > most && !look.markdown {
            writeln!(out, "{} more are not shown (--top).", self.rows.len() - most)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{Counts, Spot};
    use super::*;

    fn document(what: &str, allocations: u64, line: u32) -> Document {
        let place = Spot { function: "app::f".into(), at: Some(format!("src/main.rs:{line}")), ..Spot::default() };
        let counts = Counts { allocations, ..Counts::default() };
        let row = Row { what: what.into(), counts: counts.clone(), places: vec![place], ..Row::default() };
        Document { rows: vec![row], total: counts, ..Document::default() }
    }

    #[test]
    fn rows_are_compared_by_type_and_function() {
        assert!(Diff::new(&document("String", 5, 3), &document("String", 5, 9)).rows.is_empty());
        let diff = Diff::new(&document("String", 5, 3), &document("String", 7, 9));
        assert_eq!((diff.rows.len(), diff.rows[0].change.allocations), (1, [5, 7]));
        let diff = Diff::new(&document("Box<A>", 5, 3), &document("Box<B>", 5, 3));
        assert_eq!(diff.rows.len(), 2);
    }
}

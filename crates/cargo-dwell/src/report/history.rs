//! What grew over several snapshots, and between which of them.

use comfy_table::Cell;
use dwell_heap::json::Snapshot;
use dwell_output::page::{Histogram, Unit};
use dwell_output::units::bytes;
use dwell_output::{Look, header, right};
use std::collections::BTreeMap;
use std::io;

/// The most snapshots that a table has, and the most owners.
const SNAPSHOTS: usize = 8;
const OWNERS: usize = 10;

/// The live bytes of an owner and type in each snapshot.
struct Row {
    owner: String,
    content: String,
    bytes: Vec<u64>,
}

impl Row {
    fn growth(&self) -> u64 {
        let (first, last) = (self.bytes.first().copied().unwrap_or(0), self.bytes.last().copied().unwrap_or(0));
        last.saturating_sub(first)
    }

    /// Returns between which snapshots the row grew most.
    fn steepest(&self) -> usize {
        let steps = self.bytes.windows(2).map(|two| two[1].saturating_sub(two[0]));
        steps.enumerate().max_by_key(|(at, step)| (*step, usize::MAX - at)).map_or(0, |(at, _)| at)
    }
}

/// Returns the owners that grew most.
fn rows(snapshots: &[&Snapshot]) -> Vec<Row> {
    let mut found: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for (at, snapshot) in snapshots.iter().enumerate() {
        for blocks in &snapshot.blocks {
            let row = found.entry((&blocks.owner, &blocks.content)).or_insert_with(|| vec![0; snapshots.len()]);
            row[at] = row[at].saturating_add(blocks.bytes);
        }
    }
    let mut rows: Vec<Row> = found
        .into_iter()
        .map(|((owner, content), bytes)| Row { owner: owner.to_owned(), content: content.to_owned(), bytes })
        .filter(|row| row.growth() > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.growth()));
    rows.truncate(OWNERS);
    rows
}

/// Returns at most so many snapshots, with the first and the last.
fn thinned<'d>(all: &[&'d Snapshot]) -> Vec<&'d Snapshot> {
    let count = all.len().min(SNAPSHOTS);
    (0..count).map(|index| all[index * (all.len() - 1) / (count - 1).max(1)]).collect()
}

/// Writes a table with a column for each snapshot, if there are more than two.
pub(super) fn write(all: &[&Snapshot], look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    let shown = thinned(all);
    let rows = rows(&shown);
    if all.len() < 3 || rows.is_empty() {
        return Ok(());
    }
    look.heading(out, "What grew when", "  live bytes at each time; most of it between the two that are named")?;
    let mut names: Vec<&str> = shown.iter().map(|snapshot| &*snapshot.at).collect();
    names.extend(["most between", "owner", "what"]);
    let mut table = vec![header(&names)];
    let all_bytes = Row {
        owner: String::new(),
        content: "all".into(),
        bytes: shown.iter().map(|snapshot| snapshot.live_bytes).collect(),
    };
    for row in std::iter::once(&all_bytes).chain(&rows) {
        let at = row.steepest();
        let mut cells: Vec<Cell> = row.bytes.iter().map(|size| right(bytes(*size))).collect();
        cells.push(Cell::new(format!("{} and {}", shown[at].at, shown[at + 1].at)));
        cells.extend([Cell::new(&row.owner), Cell::new(&row.content)]);
        table.push(cells);
    }
    look.table(out, &table)
}

/// Returns a chart of the live bytes, and one of each owner that grew.
pub(super) fn charts(all: &[&Snapshot]) -> Vec<Histogram> {
    let shown = thinned(all);
    if all.len() < 3 {
        return Vec::new();
    }
    let bars =
        |numbers: &[u64]| shown.iter().zip(numbers).map(|(snapshot, bytes)| (snapshot.at.clone(), *bytes)).collect();
    let live: Vec<u64> = shown.iter().map(|snapshot| snapshot.live_bytes).collect();
    let mut charts = vec![Histogram { title: "Live bytes by time".into(), unit: Unit::Bytes, bars: bars(&live) }];
    charts.extend(rows(&shown).into_iter().map(|row| Histogram {
        title: format!("{} {}: bytes by time", row.owner, row.content),
        unit: Unit::Bytes,
        bars: bars(&row.bytes),
    }));
    charts
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_heap::json::Blocks;

    fn snapshot(at: &str, leak: u64) -> Snapshot {
        let blocks =
            |owner: &str, bytes| Blocks { owner: owner.into(), content: "Vec<u8>".into(), bytes, ..Blocks::default() };
        Snapshot {
            at: at.into(),
            live_bytes: leak + 10,
            blocks: vec![blocks("A.leak", leak), blocks("A.same", 10)],
            ..Snapshot::default()
        }
    }

    #[test]
    fn the_steepest_growth_is_named() {
        let all = [snapshot("0 s", 1), snapshot("1 s", 2), snapshot("2 s", 100), snapshot("3 s", 101)];
        let all: Vec<&Snapshot> = all.iter().collect();
        let rows = rows(&all);
        assert_eq!(rows.len(), 1);
        assert_eq!((&*rows[0].owner, rows[0].growth(), rows[0].steepest()), ("A.leak", 100, 1));
        let mut out = Vec::new();
        write(&all, &Look::page(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("1 s and 2 s") && text.contains("A.leak"), "{text}");
        assert_eq!(charts(&all).len(), 2);
        assert!(charts(&all[..2]).is_empty());
    }

    #[test]
    fn the_first_and_the_last_stay() {
        let all: Vec<Snapshot> = (0..100).map(|at| snapshot(&at.to_string(), at)).collect();
        let all: Vec<&Snapshot> = all.iter().collect();
        let shown = thinned(&all);
        assert_eq!((shown.len(), &*shown[0].at, &*shown[7].at), (8, "0", "99"));
    }
}

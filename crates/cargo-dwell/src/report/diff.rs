//! The differences between two snapshots, of one run or of two.

use anyhow::{Result, bail};
use comfy_table::Cell;
use dwell_heap::json::{Blocks, Document, Snapshot};
use dwell_output::page::Table;
use dwell_output::units::{bytes, count};
use dwell_output::{Look, header, right};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;

/// The default number of rows.
const ROWS: usize = 30;

/// The differences between two snapshots.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Diff {
    version: u32,
    before: Moment,
    after: Moment,
    /// The differences by type and field, largest growth first.
    changes: Vec<Change>,
    /// The differences by type, largest growth first.
    types: Vec<TypeChange>,
}

/// One of the two snapshots.
#[derive(Clone, Debug, Serialize)]
struct Moment {
    at: String,
    millis: u64,
    live_bytes: u64,
    live_blocks: u64,
}

/// The blocks of one owner and type.
#[derive(Clone, Debug, Serialize)]
struct Change {
    owner: String,
    content: String,
    element: String,
    before_bytes: u64,
    after_bytes: u64,
    before_blocks: u64,
    after_blocks: u64,
    /// The call site with the most new bytes.
    at: Option<String>,
}

/// The blocks of one type.
#[derive(Clone, Debug, Serialize)]
struct TypeChange {
    content: String,
    before_bytes: u64,
    after_bytes: u64,
}

fn by(before: u64, after: u64) -> i128 {
    i128::from(after) - i128::from(before)
}

impl Diff {
    /// Compares the last snapshots of two runs with the same kind of moment.
    pub(crate) fn new(old: &Document, new: &Document) -> Result<Self> {
        let Some(after) = new.snapshots.last() else { bail!("there is no snapshot to compare") };
        let same = old.snapshots.iter().rev().find(|snapshot| snapshot.at == after.at);
        let Some(before) = same.or(old.snapshots.last()) else { bail!("there is no snapshot to compare with") };
        Ok(Self::between(before, after))
    }

    /// Compares two snapshots.
    pub(crate) fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let key = |piece: &Piece<'_>| (piece.owner.to_owned(), piece.row.content.clone(), piece.row.element.clone());
        let mut changes: BTreeMap<(String, String, String), Change> = BTreeMap::new();
        let mut types: BTreeMap<String, TypeChange> = BTreeMap::new();
        for (pieces, is_after) in [(pieces(before, after), false), (pieces(after, before), true)] {
            for piece in pieces {
                let blocks = piece.row;
                let change = changes.entry(key(&piece)).or_insert_with(|| Change {
                    owner: piece.owner.to_owned(),
                    content: blocks.content.clone(),
                    element: blocks.element.clone(),
                    before_bytes: 0,
                    after_bytes: 0,
                    before_blocks: 0,
                    after_blocks: 0,
                    at: None,
                });
                let of_type = types.entry(blocks.content.clone()).or_insert_with(|| TypeChange {
                    content: blocks.content.clone(),
                    before_bytes: 0,
                    after_bytes: 0,
                });
                if is_after {
                    change.after_bytes += piece.bytes;
                    change.after_blocks += piece.blocks;
                    of_type.after_bytes += piece.bytes;
                    change.at = change.at.take().or_else(|| piece.at.map(str::to_owned));
                } else {
                    change.before_bytes += piece.bytes;
                    change.before_blocks += piece.blocks;
                    of_type.before_bytes += piece.bytes;
                }
            }
        }
        let mut changes: Vec<Change> = changes
            .into_values()
            .filter(|change| (change.before_bytes, change.before_blocks) != (change.after_bytes, change.after_blocks))
            .collect();
        changes.sort_by_key(|change| std::cmp::Reverse(by(change.before_bytes, change.after_bytes)));
        let mut types: Vec<TypeChange> =
            types.into_values().filter(|change| change.before_bytes != change.after_bytes).collect();
        types.sort_by_key(|change| std::cmp::Reverse(by(change.before_bytes, change.after_bytes)));
        let moment = |snapshot: &Snapshot| Moment {
            at: snapshot.at.clone(),
            millis: snapshot.millis,
            live_bytes: snapshot.live_bytes,
            live_blocks: snapshot.live_blocks,
        };
        Self { version: dwell_heap::json::VERSION, before: moment(before), after: moment(after), changes, types }
    }

    /// Returns the differences as a heading and a table for a page.
    pub(crate) fn page(&self) -> (String, Table) {
        let (before, after) = (&self.before, &self.after);
        let title = format!(
            "What grew from {} ({}) to {} ({})",
            before.at,
            bytes(before.live_bytes),
            after.at,
            bytes(after.live_bytes)
        );
        let head = ["owner", "what", "change", "before", "after", "blocks", "allocated at"].map(str::to_owned).to_vec();
        let row = |changed: &Change| {
            vec![
                changed.owner.clone(),
                changed.content.clone(),
                change(changed.before_bytes, changed.after_bytes),
                bytes(changed.before_bytes),
                bytes(changed.after_bytes),
                signed(changed.before_blocks, changed.after_blocks),
                changed.at.clone().unwrap_or_default(),
            ]
        };
        (title, Table { head, rows: self.changes.iter().map(row).collect() })
    }

    /// Writes the differences as text.
    pub(crate) fn write(&self, top: Option<usize>, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
        let (before, after) = (&self.before, &self.after);
        writeln!(
            out,
            "{}: {} in {} blocks; before, {}: {} in {} blocks; {}",
            after.at,
            bytes(after.live_bytes),
            count(after.live_blocks),
            before.at,
            bytes(before.live_bytes),
            count(before.live_blocks),
            change(before.live_bytes, after.live_bytes)
        )?;
        if self.changes.is_empty() {
            return writeln!(out, "The same types and fields hold the same bytes.");
        }
        let most = top.unwrap_or(if look.markdown { usize::MAX } else { ROWS });
        look.heading(out, "By type and field", "  largest growth first")?;
        let mut rows = vec![header(&["change", "before", "after", "blocks", "owner", "what", "allocated at"])];
        for changed in self.changes.iter().take(most) {
            rows.push(vec![
                right(change(changed.before_bytes, changed.after_bytes)),
                right(bytes(changed.before_bytes)),
                right(bytes(changed.after_bytes)),
                right(signed(changed.before_blocks, changed.after_blocks)),
                Cell::new(&changed.owner),
                Cell::new(&changed.content),
                Cell::new(changed.at.as_deref().unwrap_or("")),
            ]);
        }
        look.table(out, &rows)?;
        if self.changes.len() > most {
            writeln!(out, "{} more are not shown (--top).", self.changes.len() - most)?;
        }
        look.heading(out, "By type", "")?;
        let mut rows = vec![header(&["change", "before", "after", "what"])];
        for changed in self.types.iter().take(most) {
            rows.push(vec![
                right(change(changed.before_bytes, changed.after_bytes)),
                right(bytes(changed.before_bytes)),
                right(bytes(changed.after_bytes)),
                Cell::new(&changed.content),
            ]);
        }
        look.table(out, &rows)
    }
}

/// Blocks of one owner and type that one line allocated.
struct Piece<'s> {
    owner: &'s str,
    row: &'s Blocks,
    at: Option<&'s str>,
    bytes: u64,
    blocks: u64,
}

/// Returns the blocks of a snapshot by call site.
///
/// A local variable has a known value at some moments, and at others not; then its blocks have no owner, and neither have
/// those that they lead to. Such blocks get the owner that only the other snapshot has for blocks of the same line.
fn pieces<'s>(one: &'s Snapshot, other: &'s Snapshot) -> Vec<Piece<'s>> {
    let is_known =
        |owner: &str, content: &str| one.blocks.iter().any(|blocks| blocks.owner == owner && blocks.content == content);
    let elsewhere = |blocks: &Blocks, at: &str| {
        let mut same = other.blocks.iter().filter(|other| {
            other.content == blocks.content && other.sites.iter().any(|site| site.at.as_deref() == Some(at))
        });
        same.find(|other| !is_unsure(other) && !is_known(&other.owner, &blocks.content))
            .map(|other| other.owner.as_str())
    };
    let mut all = Vec::new();
    for held in &one.blocks {
        let (mut bytes, mut blocks) = (held.bytes, held.blocks);
        for site in &held.sites {
            let at = site.at.as_deref();
            let owner = at.filter(|_| is_unsure(held)).and_then(|at| elsewhere(held, at)).unwrap_or(&held.owner);
            all.push(Piece { owner, row: held, at, bytes: site.bytes, blocks: site.blocks });
            bytes = bytes.saturating_sub(site.bytes);
            blocks = blocks.saturating_sub(site.blocks);
        }
        // Only some of the sites are listed.
        all.push(Piece { owner: &held.owner, row: held, at: None, bytes, blocks });
    }
    all
}

/// Returns `true` for an owner that may be another one at the next moment.
fn is_unsure(blocks: &Blocks) -> bool {
    matches!(&*blocks.by, "stack" | "cycle")
}

/// Formats a difference in bytes: `+1.2 MB`.
fn change(before: u64, after: u64) -> String {
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", bytes(after.abs_diff(before)))
}

fn signed(before: u64, after: u64) -> String {
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", count(after.abs_diff(before)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_heap::json::CallSite;

    fn snapshot(rows: &[(&str, &str, u64)]) -> Snapshot {
        let blocks = rows.iter().map(|&(owner, content, bytes)| Blocks {
            owner: owner.into(),
            content: content.into(),
            bytes,
            blocks: bytes / 8,
            ..Blocks::default()
        });
        Snapshot { blocks: blocks.collect(), live_bytes: rows.iter().map(|row| row.2).sum(), ..Snapshot::default() }
    }

    #[test]
    fn blocks_of_one_line_keep_their_owner() {
        let row = |owner: &str, by: &str, bytes: u64, line: u32| {
            let site = CallSite { at: Some(format!("src/main.rs:{line}")), bytes, blocks: 1, ..CallSite::default() };
            let content = if line == 1 { "Vec<Item>" } else { "String" };
            let (owner, by, content) = (owner.into(), by.into(), content.into());
            Blocks { owner, by, content, bytes, blocks: 1, sites: vec![site], ..Blocks::default() }
        };
        let snapshot = |blocks| Snapshot { blocks, ..Snapshot::default() };
        // At first the variable has no known value, so nothing owns its items' texts.
        let before =
            [row("(stack)", "stack", 800, 1), row("(stack)", "stack", 90_000, 2), row("(stack)", "stack", 7, 3)];
        let after = [row("(local items of app::main)", "local", 800, 1), row("Item.name", "field", 99_000, 2)];
        let after = after.into_iter().chain([row("(stack)", "stack", 7, 3)]).collect();
        let diff = Diff::between(&snapshot(before.to_vec()), &snapshot(after));
        let changes: Vec<_> = diff
            .changes
            .iter()
            .map(|change| (change.owner.as_str(), change.before_bytes, change.after_bytes))
            .collect();
        assert_eq!(changes, [("Item.name", 90_000, 99_000)]);
    }

    #[test]
    fn changes_are_sorted_by_growth() {
        let before = snapshot(&[("A.x", "Vec<u8>", 80), ("A.y", "String", 400), ("A.z", "Box<B>", 8)]);
        let after = snapshot(&[("A.x", "Vec<u8>", 8000), ("A.z", "Box<B>", 8), ("A.w", "Vec<u8>", 16)]);
        let diff = Diff::between(&before, &after);
        let owners: Vec<&str> = diff.changes.iter().map(|change| &*change.owner).collect();
        assert_eq!(owners, ["A.x", "A.w", "A.y"]);
        assert_eq!((diff.types[0].content.as_str(), diff.types[0].after_bytes), ("Vec<u8>", 8016));
        let mut out = Vec::new();
        diff.write(None, &Look::page(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("+7.9 kB") && text.contains("-400 B"), "{text}");
    }
}

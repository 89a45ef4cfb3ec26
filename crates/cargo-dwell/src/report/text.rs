//! A census as text: totals, types and findings, or one type in detail.

use super::{history, paths};
use anyhow::{Result, bail};
use comfy_table::Cell;
use dwell_heap::json::{self, Blocks, Document, Enum, Field, Finding, Retained, RetainedKey, Snapshot, Strings};
use dwell_heap::names::{around, has_inline, is_named, type_of};
use dwell_output::units::{bytes, count, percent};
use dwell_output::{Look, header, right};
use serde::Serialize;
use std::collections::HashSet;
use std::io;

/// The default number of rows.
const ROWS: usize = 20;
/// The maximum number of snapshots printed in full.
const MOST_IN_FULL: usize = 2;
/// The default number of owners with what they keep.
const RETAINED: usize = 10;
/// The most fields shown that share a value.
const SHARERS: usize = 4;
/// The longest path from a type to a root.
const LONGEST: usize = 24;

/// Writes all snapshots.
pub(crate) fn write(document: &Document, top: Option<usize>, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    if look.markdown {
        writeln!(out, "# The live heap of {}\n", document.program.file)?;
    }
    // If there are more, only the one with the most live bytes is printed in full.
    let largest = document.snapshots.iter().map(|snapshot| snapshot.live_bytes).max();
    let is_short = document.snapshots.len() > MOST_IN_FULL;
    let mut was_full = false;
    for (number, snapshot) in document.snapshots.iter().enumerate() {
        if number > 0 && !is_short {
            writeln!(out)?;
        }
        let is_full = !is_short || !was_full && Some(snapshot.live_bytes) == largest;
        was_full |= is_full;
        one(document, snapshot, is_full, top, look, out)?;
    }
    // Timed snapshots also show growth.
    let is_timed = |snapshot: &&Snapshot| !matches!(&*snapshot.at, "peak" | "exit" | "growth");
    let timed: Vec<&Snapshot> = document.snapshots.iter().filter(is_timed).collect();
    history::write(&timed, look, out)?;
    if let [first, .., last] = timed[..] {
        look.heading(out, "What grew", &format!(" from {} to {}", first.at, last.at))?;
        super::diff::Diff::between(first, last).write(top, look, out)?;
    }
    Ok(())
}

fn seconds(millis: u64) -> String {
    if millis < 10_000 { format!("{millis} ms") } else { format!("{}.{} s", millis / 1000, millis % 1000 / 100) }
}

fn one(
    document: &Document,
    snapshot: &Snapshot,
    is_full: bool,
    top: Option<usize>,
    look: &Look,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let most = top.unwrap_or(if look.markdown { usize::MAX } else { ROWS });
    let error = snapshot.standard_error.map_or_else(String::new, |error| format!(" (± {})", bytes(error)));
    let run = document.program.millis.max(snapshot.millis);
    // Cores do not tell when their program was started, and dumps of a folder are counted from the first one.
    let when = if &*snapshot.at == "core" || snapshot.at.starts_with('+') {
        String::new()
    } else {
        format!(", {} after the start of a {} run", seconds(snapshot.millis), seconds(run))
    };
    writeln!(
        out,
        "{}: {}{error} live in {} blocks{when}; {} of the bytes have a type",
        snapshot.at,
        bytes(snapshot.live_bytes),
        count(snapshot.live_blocks),
        percent(snapshot.typed_bytes, snapshot.live_bytes),
    )?;
    if !is_full {
        return Ok(());
    }
    if look.markdown {
        writeln!(out)?;
    }
    writeln!(
        out,
        "{} of the bytes are owned by a field, variable, static or pointer; for {} only the type and the allocating \
         call stack are known.",
        percent(snapshot.owned_bytes, snapshot.live_bytes),
        percent(snapshot.root_bytes, snapshot.live_bytes),
    )?;
    if snapshot.blocks.is_empty() {
        return writeln!(out, "There are no live blocks.");
    }
    super::rss::write(snapshot, look, out)?;
    writeln!(out)?;
    let has_ages = snapshot.blocks.iter().any(|blocks| !blocks.ages.is_empty());
    let names = ["live bytes", "blocks", "what", "owner", "unused", "of it live since"];
    let mut rows = vec![header(if has_ages { &names } else { &names[..5] })];
    for blocks in snapshot.blocks.iter().take(most) {
        rows.push(vec![
            right(bytes(blocks.bytes)),
            right(count(blocks.blocks)),
            Cell::new(what(blocks)),
            Cell::new(owner(blocks)),
            Cell::new(unused(blocks, snapshot)),
        ]);
        if has_ages && let Some(row) = rows.last_mut() {
            row.push(Cell::new(ages(blocks)));
        }
    }
    look.table(out, &rows)?;
    more(snapshot.blocks.len(), most, look, out)?;
    retained(snapshot, top, look, out)?;
    findings(snapshot, most, look, out)
}

fn more(all: usize, shown: usize, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    if all > shown && !look.markdown {
        writeln!(out, "{} more are not shown (--top, --type NAME).", all - shown)?;
    }
    Ok(())
}

/// Describes the contents of blocks: `Vec<Shape>: 1,200 x 96 B`.
fn what(blocks: &Blocks) -> String {
    let element = match (blocks.len, blocks.content.as_str()) {
        _ if blocks.by == "unknown" => return blocks.content.clone(),
        (None, _) if blocks.element_size > 0 && blocks.capacity > 0 => {
            format!("{} slots x {} B, length unknown", count(blocks.capacity), count(blocks.element_size))
        }
        (None, _) => return blocks.content.clone(),
        (Some(len), "String") => format!("{} of text", bytes(len)),
        (Some(len), content) if content.split_once("<dyn ").is_some_and(|(start, _)| !start.contains('<')) => {
            format!("{} {} x {} B", blocks.element, count(len), count(blocks.element_size))
        }
        (Some(len), _) => format!("{} x {} B", count(len), count(blocks.element_size)),
    };
    format!("{}: {element}", blocks.content)
}

/// Returns the owner, or the call site if there is no owner.
fn owner(blocks: &Blocks) -> String {
    let is_root = matches!(&*blocks.by, "stack" | "task" | "cycle" | "leak" | "unknown");
    match blocks.sites.first().filter(|_| is_root) {
        Some(site) => format!("{} {}", blocks.owner, site.at.as_deref().unwrap_or(&site.function)),
        None if blocks.by == "weak" => format!("{} (raw pointer)", blocks.owner),
        None if blocks.shared_by.is_empty() => blocks.owner.clone(),
        None => shared(blocks),
    }
}

/// Returns the fields that share the values of a row: `Cache.all [] (5,000), Audit.entry (5,000)`.
fn shared(blocks: &Blocks) -> String {
    let sharers: Vec<String> = blocks
        .shared_by
        .iter()
        .take(SHARERS)
        .map(|sharer| format!("{} ({})", sharer.owner, count(sharer.references)))
        .collect();
    let more = blocks.shared_by.len().saturating_sub(SHARERS);
    if more == 0 { sharers.join(", ") } else { format!("{}, {more} more", sharers.join(", ")) }
}

fn unused(blocks: &Blocks, snapshot: &Snapshot) -> String {
    let mut parts = Vec::new();
    if blocks.leaked_bytes > 0 {
        parts.push(format!("{} leaked", bytes(blocks.leaked_bytes)));
    }
    if blocks.unused_bytes > 0 {
        parts.push(format!("{} capacity", bytes(blocks.unused_bytes)));
    }
    let texts = snapshot.strings.iter().find(|strings| strings.owner == blocks.owner && blocks.element == "u8");
    if let Some(texts) = texts.filter(|texts| texts.duplicate_bytes > 0) {
        parts.push(format!("{} duplicates", bytes(texts.duplicate_bytes)));
    }
    parts.join(", ")
}

/// Returns since when most of the blocks live, with the part of the bytes: `10s (90.0 %)`.
fn ages(blocks: &Blocks) -> String {
    let most = blocks.ages.iter().max_by_key(|age| age.bytes);
    most.map_or_else(String::new, |age| format!("{} ({})", age.since, percent(age.bytes, blocks.bytes)))
}

/// Writes what would be freed without each owner: by default the largest ones.
fn retained(snapshot: &Snapshot, top: Option<usize>, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    let is_large = |row: &&Retained| row.bytes >= snapshot.live_bytes / 100;
    let rows: Vec<&Retained> = snapshot.retained.iter().take_while(is_large).take(top.unwrap_or(RETAINED)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    look.heading(out, "What each owner keeps", ": the bytes that would be freed without it")?;
    let mut table = vec![header(&["keeps", "of live", "blocks", "owner", "of which the largest keys"])];
    for keeper in rows {
        let key = |key: &RetainedKey| format!("{} {}", key.key, percent(key.bytes, keeper.bytes));
        let keys: Vec<String> = keeper.keys.iter().filter(|key| key.bytes >= keeper.bytes / 100).map(key).collect();
        let at = keeper.at.as_deref().map_or_else(String::new, |at| format!(" {at}"));
        table.push(vec![
            right(bytes(keeper.bytes)),
            right(percent(keeper.bytes, snapshot.live_bytes)),
            right(count(keeper.blocks)),
            Cell::new(if keeper.content.is_empty() {
                keeper.owner.clone()
            } else {
                format!("{}: {}{at}", keeper.owner, keeper.content)
            }),
            Cell::new(keys.join(", ")),
        ]);
    }
    look.table(out, &table)
}

fn findings(snapshot: &Snapshot, most: usize, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    let (own, others): (Vec<&Finding>, Vec<&Finding>) =
        snapshot.findings.iter().partition(|finding| finding.dependency.is_none());
    if own.is_empty() {
        look.heading(out, "What to change", "")?;
        let whose = if others.is_empty() { "" } else { " of the program's own types" };
        writeln!(out, "No change{whose} was found that would save a thousandth of the live bytes.")?;
    } else {
        look.heading(out, "What to change", ", largest saving first")?;
        look.table(out, &finding_rows(own.iter().copied().take(most), snapshot.live_bytes))?;
        more(own.len(), most, look, out)?;
    }
    if !others.is_empty() {
        look.heading(out, "In dependencies", ", whose types you cannot change")?;
        look.table(out, &finding_rows(others.iter().copied().take(most), snapshot.live_bytes))?;
        more(others.len(), most, look, out)?;
    }
    Ok(())
}

fn finding_rows<'a>(findings: impl Iterator<Item = &'a Finding>, live: u64) -> Vec<Vec<Cell>> {
    let findings: Vec<&Finding> = findings.collect();
    let has_rss = findings.iter().any(|finding| finding.rss.is_some());
    let titles = ["saves", "of live", "RSS", "where", "why", "how", "allocated at"];
    let titles: Vec<&str> = titles.into_iter().filter(|title| has_rss || *title != "RSS").collect();
    let mut rows = vec![header(&titles)];
    for finding in findings {
        let about = if finding.exact { "" } else { "~" };
        let mut row = vec![
            right(format!("{about}{}", bytes(finding.saves))),
            // The allocator's own bytes are no part of the live ones.
            right(if finding.of_allocator { "-".into() } else { percent(finding.saves, live) }),
        ];
        if has_rss {
            row.push(right(match finding.rss {
                Some(0) => "frees no page".to_owned(),
                Some(saved) => format!("~{}", bytes(saved)),
                None => "?".to_owned(),
            }));
        }
        row.extend([
            Cell::new(&finding.location),
            Cell::new(why(finding)),
            Cell::new(how(finding)),
            Cell::new(finding.at.as_deref().unwrap_or("")),
        ]);
        rows.push(row);
    }
    rows
}

/// Returns a finding's reason, and what it saves alone if the findings before it take most of that.
pub(crate) fn why(finding: &Finding) -> String {
    let alone = finding.saves_alone.filter(|alone| alone / 2 >= finding.saves);
    alone.map_or_else(
        || finding.why.clone(),
        |alone| format!("{}; saves {} if it is the only change", finding.why, bytes(alone)),
    )
}

/// Returns a finding's change, and the others of the same values.
pub(crate) fn how(finding: &Finding) -> String {
    let mut text = finding.how.clone();
    for other in &finding.alternatives {
        let place = if other.location == finding.location { String::new() } else { format!("{}: ", other.location) };
        let of_allocator = if other.of_allocator { " of the allocator's" } else { "" };
        text.extend(["; or ", &place, &other.how, " (saves ", &bytes(other.saves), of_allocator, ")"]);
    }
    text
}

/// The details of one type.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TypeDetail<'d> {
    /// The requested name.
    name: &'d str,
    /// The moment of the snapshot.
    at: &'d str,
    live_bytes: u64,
    /// Blocks that hold values of the type, or that its fields own.
    holds: Vec<&'d Blocks>,
    owns: Vec<&'d Blocks>,
    fields: Vec<&'d Field>,
    enums: Vec<&'d Enum>,
    strings: Vec<&'d Strings>,
    findings: Vec<&'d Finding>,
    /// The owners from the type to a root. The blocks of each owner belong to the next one.
    path: Vec<String>,
    /// The chain of owners from a root to the largest block of the type; of a saved census only if it was asked for.
    paths: &'d [json::Path],
}

impl<'d> TypeDetail<'d> {
    /// Finds a type in the snapshot with the most live bytes.
    ///
    /// # Errors
    /// Returns an error if no type has the name.
    pub(crate) fn find(document: &'d Document, name: &'d str) -> Result<Self> {
        let Some(snapshot) = document.largest() else {
            bail!("there is no snapshot");
        };
        let is_it = |type_name: &str| {
            is_named(type_name, name) || type_name.split_once("::").is_some_and(|(start, _)| is_named(start, name))
        };
        let around = around(&snapshot.fields, name);
        let detail = Self {
            name,
            at: &snapshot.at,
            live_bytes: snapshot.live_bytes,
            holds: snapshot
                .blocks
                .iter()
                .filter(|blocks| blocks.content == name || around.iter().any(|name| has_inline(&blocks.element, name)))
                .collect(),
            owns: snapshot.blocks.iter().filter(|blocks| is_named(type_of(&blocks.owner), name)).collect(),
            fields: snapshot.fields.iter().filter(|row| is_it(&row.owner)).collect(),
            enums: snapshot.enums.iter().filter(|row| is_it(&row.name)).collect(),
            strings: snapshot.strings.iter().filter(|row| is_named(type_of(&row.owner), name)).collect(),
            findings: snapshot
                .findings
                .iter()
                .filter(|blocks| {
                    blocks.fields.iter().any(|field| is_named(type_of(field), name)) || blocks.location == name
                })
                .collect(),
            path: path(snapshot, name),
            paths: &snapshot.paths,
        };
        if detail.holds.is_empty() && detail.owns.is_empty() && detail.fields.is_empty() && detail.enums.is_empty() {
            let mut names: HashSet<&str> = snapshot.fields.iter().map(|field| type_of(&field.owner)).collect();
            names.extend(snapshot.enums.iter().map(|row| &*row.name));
            names.extend(snapshot.blocks.iter().flat_map(|blocks| [&*blocks.content, &*blocks.element]));
            let mut names: Vec<&str> = names.into_iter().collect();
            names.sort_unstable();
            bail!("no live value is of type `{name}`{}", dwell_output::nearest::suggestion(name, names.into_iter()));
        }
        Ok(detail)
    }

    /// Writes the details as text.
    pub(crate) fn write(&self, top: Option<usize>, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
        let most = top.unwrap_or(usize::MAX);
        if look.markdown {
            writeln!(out, "# {}\n", self.name)?;
        }
        let held: u64 = self.holds.iter().map(|blocks| blocks.bytes).sum();
        writeln!(
            out,
            "{} at {}: blocks that contain it take {} ({} of {}); its fields own {}",
            self.name,
            self.at,
            bytes(held),
            percent(held, self.live_bytes),
            bytes(self.live_bytes),
            bytes(self.owns.iter().map(|blocks| blocks.bytes).sum())
        )?;
        for (title, blocks) in [("In blocks", &self.holds), ("What its fields own", &self.owns)] {
            if blocks.is_empty() {
                continue;
            }
            look.heading(out, title, "")?;
            let mut rows = vec![header(&["bytes", "blocks", "what", "owner", "unused", "mean block"])];
            for row in blocks.iter().take(most) {
                rows.push(vec![
                    right(bytes(row.bytes)),
                    right(count(row.blocks)),
                    Cell::new(what(row)),
                    Cell::new(owner(row)),
                    right(bytes(row.unused_bytes)),
                    right(bytes(row.bytes / row.blocks.max(1))),
                ]);
            }
            look.table(out, &rows)?;
        }
        for blocks in self.holds.iter().chain(&self.owns).filter(|blocks| !blocks.lengths.is_empty()).take(most) {
            look.heading(out, "Lengths", &format!("  of {} of {}", blocks.content, owner(blocks)))?;
            let all: u64 = blocks.lengths.iter().map(|bin| bin.count).sum();
            let mut rows = vec![header(&["elements", "collections", ""])];
            for bin in &blocks.lengths {
                let range = if bin.from == bin.to {
                    count(bin.from)
                } else {
                    format!("{} to {}", count(bin.from), count(bin.to))
                };
                rows.push(vec![right(range), right(count(bin.count)), Cell::new(histogram(bin.count, all))]);
            }
            look.table(out, &rows)?;
        }
        if !self.fields.is_empty() {
            look.heading(out, "Fields", "")?;
            let mut rows = vec![header(&["field", "type", "size", "values", "not empty", "values per variant"])];
            for field in self.fields.iter().take(most) {
                let variants: Vec<String> = field
                    .variants
                    .iter()
                    .filter(|variant| variant.count > 0)
                    .map(|variant| format!("{} {}", variant.name, count(variant.count)))
                    .collect();
                rows.push(vec![
                    Cell::new(format!("{}.{}", field.owner, field.field)),
                    Cell::new(&field.field_type),
                    right(count(field.size)),
                    right(count(field.instances)),
                    right(percent(field.filled, field.instances)),
                    Cell::new(variants.join(", ")),
                ]);
            }
            look.table(out, &rows)?;
        }
        for row in &self.enums {
            look.heading(out, "Variants", &format!("  {} values of {} B", count(row.instances), count(row.size)))?;
            let mut rows = vec![header(&["values", "of all", "variant", ""])];
            for variant in row.variants.iter().filter(|variant| variant.count > 0).take(most) {
                rows.push(vec![
                    right(count(variant.count)),
                    right(percent(variant.count, row.instances)),
                    Cell::new(&variant.name),
                    Cell::new(histogram(variant.count, row.instances)),
                ]);
            }
            look.table(out, &rows)?;
        }
        if !self.strings.is_empty() {
            look.heading(out, "Texts", "")?;
            let mut rows = vec![header(&["texts", "distinct", "bytes", "duplicates", "owner"])];
            for string in self.strings.iter().take(most) {
                rows.push(vec![
                    right(count(string.count)),
                    right(count(string.distinct)),
                    right(bytes(string.bytes)),
                    right(bytes(string.duplicate_bytes)),
                    Cell::new(&string.owner),
                ]);
            }
            look.table(out, &rows)?;
        }
        if !self.findings.is_empty() {
            look.heading(out, "What to change", "")?;
            look.table(out, &finding_rows(self.findings.iter().copied().take(most), self.live_bytes))?;
            for finding in &self.findings {
                writeln!(out, "Cost of {}: {}.", finding.location, finding.costs)?;
            }
        }
        paths::write(self.paths, look, out)?;
        if !self.path.is_empty() && self.paths.is_empty() {
            look.heading(out, "Chain of owners up to a root", "")?;
            for step in &self.path {
                writeln!(out, "  {step}")?;
            }
        }
        Ok(())
    }
}

fn histogram(part: u64, whole: u64) -> String {
    let width = u128::from(part) * 30 / u128::from(whole.max(1));
    "#".repeat(usize::try_from(width).unwrap_or(0).max(1))
}

/// Returns `true` if the name of a type contains `name` as a whole word: `Shape` in `Option<Shape>`.
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |character: Option<char>| character.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(name)
        .any(|(at, _)| !is_word(text[..at].chars().next_back()) && !is_word(text[at + name.len()..].chars().next()))
}

/// Returns the owners from a type up to a root, as sentences.
fn path(snapshot: &Snapshot, name: &str) -> Vec<String> {
    owners(snapshot, name)
        .into_iter()
        .map(|Step { type_name, within, owner }| match within {
            Some(blocks) => format!("{type_name} is in {} of {}", blocks.content, self::owner(blocks)),
            None => format!("{type_name} is in {owner}"),
        })
        .collect()
}

/// A step from a type to its owner.
pub(crate) struct Step<'d> {
    type_name: &'d str,
    /// What the owner has the type in, if that is a block.
    within: Option<&'d Blocks>,
    pub(crate) owner: String,
}

/// Returns the owners from a type up to a root. Each step takes the owner with the most bytes.
pub(crate) fn owners<'d>(snapshot: &'d Snapshot, name: &'d str) -> Vec<Step<'d>> {
    let mut steps = Vec::new();
    let mut met: HashSet<&str> = HashSet::new();
    let mut type_name = name;
    while steps.len() < LONGEST && met.insert(type_name) {
        // The owner stores the type inline, or in a block.
        let holder = snapshot
            .blocks
            .iter()
            .filter(|blocks| has_inline(&blocks.element, type_name))
            .max_by_key(|blocks| blocks.bytes);
        let inline = || {
            snapshot
                .fields
                .iter()
                .filter(|field| mentions(&field.field_type, type_name))
                .max_by_key(|field| field.instances)
        };
        if let Some(blocks) = holder {
            steps.push(Step { type_name, within: Some(blocks), owner: blocks.owner.clone() });
            if !["field", "weak"].contains(&&*blocks.by) {
                break;
            }
            type_name = type_of(&blocks.owner);
        } else if let Some(field) = inline() {
            steps.push(Step { type_name, within: None, owner: format!("{}.{}", field.owner, field.field) });
            type_name = type_of(&field.owner);
        } else {
            break;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_detail_shows_lengths_and_owners() {
        use dwell_heap::json::Bin;
        let bin = |from, to, count| Bin { from, to, count };
        let shapes = Blocks {
            owner: "Model.shapes".into(),
            by: "field".into(),
            content: "Vec<Shape>".into(),
            element: "Shape".into(),
            bytes: 4000,
            blocks: 8,
            lengths: vec![bin(0, 0, 2), bin(4, 7, 6)],
            ..Blocks::default()
        };
        let snapshot = Snapshot { at: "peak".into(), live_bytes: 4000, blocks: vec![shapes], ..Snapshot::default() };
        let document = Document { snapshots: vec![snapshot], ..Document::default() };
        let mut out = Vec::new();
        TypeDetail::find(&document, "Shape").unwrap().write(None, &Look::page(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in ["4 to 7", "Vec<Shape> of Model.shapes", "Shape is in Vec<Shape> of Model.shapes"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(TypeDetail::find(&document, "Shap").unwrap_err().to_string().contains("Shape"));
    }

    #[test]
    fn a_word_is_not_a_part_of_one() {
        assert!(mentions("Option<Shape>", "Shape") && !mentions("Shapes", "Shape") && !mentions("MyShape", "Shape"));
    }
}

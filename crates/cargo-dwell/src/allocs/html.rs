//! `--html`: a page with what to change, a flame graph, and a table.

use super::diff::Diff;
use super::document::{Document, Row};
use super::folded::{By, measure};
use super::text::{millions, saves, seconds};
use dwell_output::page::{Bar, Class, Histogram, Icicle, Page, Suggestion, Table, Unit, file_name};
use dwell_output::units::{bytes, count};
use std::collections::BTreeMap;

/// The maximum number of suggestions.
const SUGGESTIONS: usize = 100;

/// Renders the page.
pub(super) fn page(document: &Document, by: By, diff: Option<&Diff>) -> String {
    let (time, total) = (&document.time, &document.total);
    let title = match by {
        By::Time => "time in the allocator",
        By::Count => "allocations and reallocations",
        By::Bytes => "allocated bytes",
    };
    let mut notes = Vec::new();
    if time.by == "model" {
        notes.push(format!("The time in the allocator is estimated from the calls. {}", time.why));
    }
    if let Some(mean) = document.program.sample {
        notes.push(format!("One allocation in {} was recorded.", bytes(mean)));
    }
    let suggestions = document.suggestions.iter().take(SUGGESTIONS).map(|suggestion| {
        let row = &document.rows[suggestion.row];
        Suggestion {
            location: row
                .places
                .first()
                .map_or_else(String::new, |place| place.at.clone().unwrap_or_else(|| place.function.clone())),
            before: row.what.clone(),
            after: suggestion.instead.clone(),
            saves: suggestion.saves[1],
            why: format!("{}: {}; cost: {}", saves(suggestion), suggestion.why, suggestion.costs),
            paths: Vec::new(),
            at: row.places.first().map_or_else(String::new, |place| format!("in {}", place.function)),
        }
    });
    let page = Page {
        unit: match by {
            By::Time => Unit::Nanos,
            By::Count => Unit::Count,
            By::Bytes => Unit::Bytes,
        },
        saves: Unit::Nanos,
        title: format!("The allocations of {}", file_name(&document.program.file)),
        about: document.program.file.clone(),
        numbers: vec![
            ("CPU time".into(), seconds(time.program)),
            ("of it in the allocator".into(), seconds(time.allocator)),
            ("allocations".into(), millions(total.allocations)),
            ("reallocations".into(), millions(total.reallocations)),
        ],
        notes,
        suggestions: suggestions.collect(),
        icicles: vec![Icicle { title: title.into(), root: flames(document, by), is_alone: false }],
        histograms: histograms(document),
        changes: diff.map(changes),
        table: table(document),
    };
    page.html()
}

/// A function of the flame graph, with those that it calls.
#[derive(Default)]
struct Node<'d> {
    sum: u64,
    below: BTreeMap<&'d str, Node<'d>>,
}

/// Whether a frame is one of std, or of code without a name before `main`.
fn is_of_std(name: &str) -> bool {
    ["alloc::", "core::", "std::", "hashbrown::"].iter().any(|start| name.starts_with(start)) || name.contains("+0x")
}

/// Returns the flame graph: the outermost functions first, without those of std.
fn flames(document: &Document, by: By) -> Bar {
    let mut root = Node::default();
    for stack in &document.stacks {
        let measure = measure(stack, by);
        let mut node = &mut root;
        node.sum += measure;
        for frame in stack.frames.iter().rev() {
            let Some(name) = document.frames.get(*frame as usize).filter(|name| !is_of_std(name)) else { continue };
            node = node.below.entry(name).or_default();
            node.sum += measure;
        }
    }
    bar("all ", &root, root.sum, DEEPEST)
}

/// The deepest nesting of bars, and the part of the whole that a bar has at least.
const DEEPEST: usize = 64;
const PART: u64 = 5000;

fn bar(name: &str, node: &Node<'_>, whole: u64, deepest: usize) -> Bar {
    let mut bars: Vec<Bar> = node
        .below
        .iter()
        .filter(|(_, below)| deepest > 0 && below.sum >= whole / PART)
        .map(|(name, below)| bar(&format!("{name} "), below, whole, deepest - 1))
        .collect();
    bars.sort_by_key(|bar| std::cmp::Reverse(bar.bytes));
    let class = if node.below.is_empty() { Class::Pointer } else { Class::Struct };
    // `parser::parse (src/parser.rs:32)`
    let (name, details) = match name.trim_end().strip_suffix(')').and_then(|rest| rest.split_once(" (")) {
        Some((function, at)) => (format!("{function} "), vec![("at".to_owned(), at.to_owned())]),
        None => (name.to_owned(), Vec::new()),
    };
    Bar { name, bytes: node.sum, class, details, bars }
}

fn histograms(document: &Document) -> Vec<Histogram> {
    let mut all = Vec::new();
    let lifetimes = &document.total.lifetimes;
    if !lifetimes.is_empty() {
        let label = |bits: usize| match bits {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            bits => format!("{} to {}", count(1 << (bits - 1)), count((1 << bits) - 1)),
        };
        let bars = lifetimes.iter().enumerate().map(|(bits, frees)| (label(bits), *frees)).collect();
        all.push(Histogram { title: "Lifetimes, in allocations of the thread".into(), unit: Unit::Count, bars });
    }
    let bars: Vec<(String, u64)> = document
        .curve
        .windows(2)
        .map(|two| (format!("from {} ms", two[0].millis), two[1].blocks.saturating_sub(two[0].blocks)))
        .collect();
    if !bars.is_empty() {
        all.push(Histogram { title: "Allocations over time".into(), unit: Unit::Count, bars });
    }
    all
}

fn changes(diff: &Diff) -> (String, Table) {
    let head = ["what", "time before", "after", "allocations before", "after"];
    let row = |changed: &super::diff::Changed| {
        vec![
            if changed.at.is_empty() { changed.what.clone() } else { format!("{} in {}", changed.what, changed.at) },
            seconds(changed.change.nanos[0]),
            seconds(changed.change.nanos[1]),
            count(changed.change.allocations[0]),
            count(changed.change.allocations[1]),
        ]
    };
    let table = Table { head: head.map(str::to_owned).to_vec(), rows: diff.rows.iter().map(row).collect() };
    ("What changed".into(), table)
}

fn table(document: &Document) -> Table {
    let head = ["what", "time", "allocations", "reallocations", "sizes", "lifetime", "where", "instead", "saves"];
    let row = |row: &Row| {
        let best = row.suggestions.first().and_then(|number| document.suggestions.get(*number));
        vec![
            row.what.clone(),
            seconds(row.nanos),
            count(row.counts.allocations),
            count(row.counts.reallocations),
            format!("{} to {} B", count(row.sizes[0]), count(row.sizes[1])),
            row.lifetime.clone(),
            row.places.first().map_or_else(String::new, |place| place.at.clone().unwrap_or_default()),
            best.map_or_else(String::new, |best| best.instead.clone()),
            best.map_or_else(String::new, saves),
        ]
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: document.rows.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::document::Stack;
    use super::*;

    #[test]
    fn flames_have_the_sum_of_their_stacks() {
        let stack = |frames: &[u32], nanos| Stack { frames: frames.to_vec(), nanos, ..Stack::default() };
        let document = Document {
            frames: ["alloc", "f", "main"].map(str::to_owned).to_vec(),
            stacks: vec![stack(&[0, 1, 2], 30), stack(&[0, 2], 10)],
            ..Document::default()
        };
        let root = flames(&document, By::Time);
        assert_eq!((root.bytes, root.bars[0].bytes, root.bars[0].bars.len()), (40, 40, 2));
        let html = page(&document, By::Time, None);
        assert!(html.contains("time in the allocator") && html.contains("40 ns"), "{html}");
    }
}

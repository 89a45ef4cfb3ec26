//! The page of `--html`: the deepest paths as charts, with the locals of each frame.

use super::{Document, Row};
use dwell_output::page::{Bar, Class, Icicle, Page, Suggestion, Table, file_name};
use dwell_output::units::count;
use std::collections::HashMap;

/// The number of paths that are drawn.
const PATHS: usize = 8;

pub(super) fn page(document: &Document) -> Page {
    let known: HashMap<&str, &Row> = document.functions.iter().map(|of| (&*of.name, of)).collect();
    let mut deepest: Vec<&Row> = document.functions.iter().collect();
    deepest.sort_by_key(|of| std::cmp::Reverse((of.deepest, of.frame)));
    // A function on the path of another one is in its chart.
    let mut drawn: Vec<&Row> = Vec::new();
    for of in deepest {
        let is_below = drawn.iter().any(|above| above.path.iter().any(|step| step.name == of.name));
        if !is_below && drawn.len() < PATHS {
            drawn.push(of);
        }
    }
    let chart = |of: &&Row| Icicle { title: of.name.clone(), root: path(of, &known), is_alone: false };
    let row = |of: &Row| {
        let at = of.file.as_ref().zip(of.line).map_or_else(String::new, |(file, line)| format!("{file}:{line}"));
        let locals: Vec<_> = of.locals.iter().map(|local| format!("{} {}", local.name, count(local.size))).collect();
        let least = if of.is_least { "at least" } else { "" };
        vec![of.name.clone(), count(of.frame), count(of.deepest), least.into(), at, of.advice(), locals.join(", ")]
    };
    Page {
        title: format!("The stack frames of {}", file_name(&document.file)),
        about: document.file.clone(),
        numbers: vec![
            ("functions".into(), count(document.functions.len() as u64)),
            ("bytes on the deepest known path".into(), count(drawn.first().map_or(0, |of| of.deepest))),
        ],
        notes: vec![
            "A bar has a frame and those of the deepest known path below it. The optimiser may give several locals the same bytes."
                .into(),
        ],
        suggestions: suggestions(document),
        icicles: drawn.iter().map(chart).collect(),
        table: Table {
            head: ["function", "frame", "deepest", "", "where", "what to try", "locals"].map(str::to_owned).into(),
            rows: document.functions.iter().map(row).collect(),
        },
        ..Page::default()
    }
}

/// Returns what to try for the frames of which it is known by how much they get smaller.
fn suggestions(document: &Document) -> Vec<Suggestion> {
    let mut all: Vec<Suggestion> = document
        .functions
        .iter()
        .filter(|of| of.spared() > 0)
        .map(|of| Suggestion {
            location: of.name.clone(),
            before: format!("a frame of {} bytes", count(of.frame)),
            after: of.advice(),
            saves: of.spared(),
            at: of.file.as_ref().zip(of.line).map_or_else(String::new, |(file, line)| format!("{file}:{line}")),
            paths: vec![of.name.clone()],
            ..Suggestion::default()
        })
        .collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.saves));
    all
}

/// Returns the bars of a path: each frame has its locals and the frame below.
fn path(of: &Row, known: &HashMap<&str, &Row>) -> Bar {
    let mut below: Option<Bar> = None;
    for step in of.path.iter().rev() {
        let row = known.get(&*step.name);
        let mut left = step.frame;
        let locals = row.iter().flat_map(|row| &row.locals);
        let mut bars: Vec<Bar> = locals
            .filter_map(|local| {
                left = left.checked_sub(local.size)?;
                Some(Bar {
                    name: format!("{}: {}", local.name, local.of),
                    bytes: local.size,
                    class: Class::Pointer,
                    ..Bar::default()
                })
            })
            .collect();
        let bytes = step.frame.saturating_add(below.as_ref().map_or(0, |bar| bar.bytes));
        bars.extend(below);
        let mut details = vec![("frame".to_owned(), format!("{} bytes", count(step.frame)))];
        details.extend(
            row.map(|row| row.advice()).filter(|text| !text.is_empty()).map(|text| ("what to try".to_owned(), text)),
        );
        below = Some(Bar { name: step.name.clone(), bytes, class: Class::Struct, details, bars });
    }
    below.unwrap_or_default()
}

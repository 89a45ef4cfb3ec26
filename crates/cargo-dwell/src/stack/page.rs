//! The page of `--html`: the deepest paths as charts, with the locals of each frame.

use super::{Document, Row};
use dwell_output::page::{Bar, Class, Icicle, Page, Suggestion, Table, file_name};
use dwell_output::units::count;
use std::collections::HashMap;

/// The number of paths that are drawn.
const PATHS: usize = 8;

pub(super) fn page(document: &Document) -> Page {
    let known: HashMap<&str, &Row> = document.functions.iter().map(|row| (&*row.name, row)).collect();
    let mut deepest: Vec<&Row> = document.functions.iter().collect();
    deepest.sort_by_key(|row| std::cmp::Reverse((row.deepest, row.frame)));
    // A function on the path of another one is in its chart.
    let mut drawn: Vec<&Row> = Vec::new();
    for row in deepest {
        let is_below = drawn.iter().any(|above| above.path.iter().any(|step| step.name == row.name));
        if !is_below && drawn.len() < PATHS {
            drawn.push(row);
        }
    }
    let chart = |row: &&Row| Icicle { title: row.name.clone(), root: path(row, &known), is_alone: false };
    let row = |function: &Row| {
        let at =
            function.file.as_ref().zip(function.line).map_or_else(String::new, |(file, line)| format!("{file}:{line}"));
        let locals: Vec<_> =
            function.locals.iter().map(|local| format!("{} {}", local.name, count(local.size))).collect();
        let least = if function.is_least { "at least" } else { "" };
        vec![
            function.name.clone(),
            count(function.frame),
            count(function.deepest),
            least.into(),
            at,
            function.advice(),
            locals.join(", "),
        ]
    };
    Page {
        title: format!("The stack frames of {}", file_name(&document.file)),
        about: document.file.clone(),
        numbers: vec![
            ("functions".into(), count(document.functions.len() as u64)),
            ("bytes on the deepest known path".into(), count(drawn.first().map_or(0, |row| row.deepest))),
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
        .filter(|row| row.spared() > 0)
        .map(|row| Suggestion {
            location: row.name.clone(),
            before: format!("a frame of {} bytes", count(row.frame)),
            after: row.advice(),
            saves: row.spared(),
            at: row.file.as_ref().zip(row.line).map_or_else(String::new, |(file, line)| format!("{file}:{line}")),
            paths: vec![row.name.clone()],
            ..Suggestion::default()
        })
        .collect();
    all.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.saves));
    all
}

/// Returns the bars of a path: each frame has its locals and the frame below.
fn path(function: &Row, known: &HashMap<&str, &Row>) -> Bar {
    let mut below: Option<Bar> = None;
    for step in function.path.iter().rev() {
        let row = known.get(&*step.name);
        let mut left = step.frame;
        let locals = row.iter().flat_map(|row| &row.locals);
        let mut bars: Vec<Bar> = locals
            .filter_map(|local| {
                left = left.checked_sub(local.size)?;
                Some(Bar {
                    name: format!("{}: {}", local.name, local.type_name),
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

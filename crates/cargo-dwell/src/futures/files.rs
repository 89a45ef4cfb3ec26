//! What `--html` and `--sarif` write.

use super::FuturesArgs;
use super::json::Advice;
use super::report::Report;
use crate::layout::picture;
use crate::report::saved;
use anyhow::Result;
use dwell_debuginfo::{Program, TypeId};
use dwell_output::page::{Icicle, Page, Suggestion, Table, file_name};
use dwell_output::sarif::{self, Found};
use dwell_output::units::count;

/// The number of futures with a picture.
const PICTURES: usize = 12;

/// Writes the files that are asked for. `ids` are the futures of the report.
pub(super) fn write(program: &Program, ids: &[TypeId], report: &Report, args: &FuturesArgs) -> Result<()> {
    if let Some(file) = &args.html {
        saved::write(file, |out| out.write_all(page(program, ids, report).html().as_bytes()))?;
    }
    if let Some(file) = &args.sarif {
        let document = sarif::document(
            &[("future", "A future that can be smaller")],
            shown(report).into_iter().map(|one| Found {
                rule: "future",
                is_note: true,
                text: format!("{} takes {} bytes: {}: {}", one.future, count(one.future_size), one.what, one.how),
                place: one.file.clone().zip(one.line),
            }),
        );
        saved::write(file, |out| serde_json::to_writer_pretty(out, &document).map_err(Into::into))?;
    }
    Ok(())
}

fn shown(report: &Report) -> Vec<&Advice> {
    let mut all = report.advice();
    all.retain(|one| one.shown);
    all
}

fn page(program: &Program, ids: &[TypeId], report: &Report) -> Page {
    let at = |file: &Option<String>, line: Option<u32>| match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => String::new(),
    };
    let suggestion = |one: &Advice| Suggestion {
        location: one.future.clone(),
        before: one.what.clone(),
        after: one.how.clone(),
        saves: one.saves_together,
        why: match one.heap {
            0 => String::new(),
            heap => format!("each call allocates {} bytes", count(heap)),
        },
        at: at(&one.file, one.line),
        paths: vec![one.future.clone()],
    };
    // A future inside of a larger one is in its bars.
    let chart =
        |id: &TypeId| Icicle { title: program.get(*id).name.to_string(), root: picture(program, *id), is_alone: true };
    let row = |future: &super::json::Future| {
        let most = future
            .awaits
            .iter()
            .map(|point| point.held_size + point.awaited.as_ref().map_or(0, |held| held.size))
            .max();
        let most = most.map_or_else(String::new, count);
        vec![
            future.name.clone(),
            count(future.size),
            count(future.awaits.len() as u64),
            most,
            at(&future.file, future.line),
        ]
    };
    Page {
        title: format!("The futures of {}", file_name(&report.program.file)),
        about: report.program.file.clone(),
        numbers: vec![
            ("futures of its own".into(), count(report.own as u64)),
            ("of dependencies".into(), count((report.all - report.own) as u64)),
        ],
        notes: vec!["A bar has the largest state of its future; what other states hold has the same bytes.".into()],
        suggestions: shown(report).into_iter().map(suggestion).collect(),
        icicles: ids.iter().take(PICTURES).map(chart).collect(),
        table: Table {
            head: ["future", "size", ".awaits", "largest .await", "where"].map(str::to_owned).into(),
            rows: report.futures.iter().map(row).collect(),
        },
        ..Page::default()
    }
}

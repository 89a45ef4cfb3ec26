//! What `--html` and `--sarif` write.

use super::LayoutArgs;
use super::measure::measure;
use super::picture::picture;
use super::report::{About, changes, takes};
use crate::report::saved;
use anyhow::Result;
use dwell_debuginfo::TypeId;
use dwell_output::page::{Icicle, Page, Suggestion, Table, file_name};
use dwell_output::sarif::{self, Found};
use dwell_output::units::count;

/// The number of types with a picture.
const PICTURES: usize = 12;

/// Writes the files that are asked for.
pub(super) fn write(about: &About<'_>, ids: &[TypeId], args: &LayoutArgs) -> Result<()> {
    if let Some(file) = &args.html {
        saved::write(file, |out| out.write_all(page(about, ids).html().as_bytes()))?;
    }
    if let Some(file) = &args.sarif {
        let document = scan(about, ids);
        saved::write(file, |out| serde_json::to_writer_pretty(out, &document).map_err(Into::into))?;
    }
    Ok(())
}

fn page(about: &About<'_>, ids: &[TypeId]) -> Page {
    let program = about.program;
    let file = program.file.display().to_string();
    let mut shown = changes(about, ids);
    shown.retain(|(_, suggestion)| suggestion.shown);
    let mut suggestions: Vec<Suggestion> = shown
        .iter()
        .map(|(id, suggestion)| Suggestion {
            location: program.get(*id).name.to_string(),
            before: format!("{} bytes", count(suggestion.size)),
            after: suggestion.how.clone(),
            saves: suggestion.saves,
            why: suggestion.why(),
            at: place(about, *id, suggestion).map_or_else(String::new, |(file, line)| format!("{file}:{line}")),
            paths: vec![program.get(*id).name.to_string()],
        })
        .collect();
    suggestions.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.saves));
    // Types to change first, then the largest; those inside of others are in their bars.
    let mut drawn: Vec<TypeId> = shown.iter().map(|(id, _)| *id).collect();
    let mut others: Vec<TypeId> = ids.iter().copied().filter(|id| !drawn.contains(id)).collect();
    others.sort_by_key(|id| (std::cmp::Reverse(program.size_of(*id)), *id));
    drawn.extend(others);
    let drawn = drawn.into_iter().filter(|id| program.size_of(*id) > 0).take(PICTURES);
    let chart =
        |id: TypeId| Icicle { title: program.get(id).name.to_string(), root: picture(program, id), is_alone: true };
    let rows = ids.iter().map(|id| {
        let ty = program.get(*id);
        let measured = measure(program, ty);
        let at = about.facts.position(ty).map_or_else(String::new, |(file, line)| format!("{file}:{line}"));
        let parts = takes(program, ty, &measured);
        vec![ty.name.to_string(), count(ty.size), count(ty.align), count(measured.padding), at, parts]
    });
    Page {
        title: format!("The types of {}", file_name(&file)),
        numbers: vec![
            ("types of its own".into(), count(ids.iter().filter(|id| program.get(**id).own).count() as u64)),
            ("to change".into(), count(shown.len() as u64)),
        ],
        about: file,
        suggestions,
        icicles: drawn.map(chart).collect(),
        table: Table {
            head: ["type", "size", "align", "padding", "where", "largest parts"].map(str::to_owned).into(),
            rows: rows.collect(),
        },
        ..Page::default()
    }
}

/// Returns the line of the field or variant to change, or else that of its type.
fn place(about: &About<'_>, id: TypeId, suggestion: &super::suggest::Suggestion) -> Option<(String, u32)> {
    let edit = suggestion.edits.first().map(|edit| (edit.file.clone(), edit.line));
    edit.or_else(|| about.facts.position(about.program.get(id)))
}

fn scan(about: &About<'_>, ids: &[TypeId]) -> serde_json::Value {
    let all = changes(about, ids);
    let found = all.iter().filter(|(_, suggestion)| suggestion.shown).map(|(id, suggestion)| Found {
        rule: "layout",
        is_note: true,
        text: format!(
            "{} takes {} bytes, {} less if you {}; {}",
            about.program.get(*id).name,
            count(suggestion.size),
            count(suggestion.saves),
            suggestion.how,
            suggestion.why()
        ),
        place: place(about, *id, suggestion),
    });
    sarif::document(&[("layout", "A type that can be smaller")], found)
}

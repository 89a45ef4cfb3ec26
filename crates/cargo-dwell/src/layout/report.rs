//! Types as a table or as JSON.

use super::measure::{Change, Embedding, Measured, change, measure};
use super::{LayoutArgs, json};
use crate::debuginfo::{Kind, Program, Type, TypeId};
use crate::futures;
use crate::output::{Format, Look, header, right};
use crate::units::{count, percent};
use comfy_table::Cell;
use serde::Serialize;
use std::io;

/// The program that a report describes.
pub(super) struct About<'a> {
    pub(super) program: &'a Program,
    pub(super) profile: Option<&'a str>,
    /// All types that could be shown.
    pub(super) listed: &'a [TypeId],
    pub(super) embedding: &'a Embedding,
}

/// The default number of rows.
const ROWS: usize = 20;
/// The default number of suggestions.
const CHANGES: usize = 10;

#[derive(Serialize)]
struct Document {
    version: u32,
    program: futures::About,
    types: Vec<json::Type>,
}

pub(super) fn json(about: &About<'_>, ids: &[TypeId], out: &mut impl io::Write) -> io::Result<()> {
    let types = ids.iter().map(|id| json::Type::new(about.program, about.embedding, *id)).collect();
    let document = Document { version: 1, program: futures::About::new(about.program, about.profile), types };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

pub(super) fn text(about: &About<'_>, ids: &[TypeId], args: &LayoutArgs, out: &mut impl io::Write) -> io::Result<()> {
    let look = if args.format == Format::Markdown { Look::page() } else { Look::terminal() };
    if look.markdown {
        writeln!(out, "# Types\n")?;
    }
    writeln!(out, "{}", summary(about))?;
    let changes = changes(about, ids);
    if !changes.is_empty() {
        look.heading(out, "What to change, largest saving first", "")?;
        let mut rows = vec![header(&["saves", "of", "type", "how", "takes most of"])];
        for (id, change) in changes.iter().take(CHANGES) {
            let ty = about.program.get(*id);
            rows.push(vec![
                right(count(change.saves)),
                right(count(ty.size)),
                Cell::new(&ty.name),
                Cell::new(format!("{}{}", change.how, if ty.public { " (*)" } else { "" })),
                Cell::new(embedded(about, *id)),
            ]);
        }
        look.table(out, &rows)?;
        if changes.len() > CHANGES {
            writeln!(out, "{} that save less are not shown (--format json).", changes.len() - CHANGES)?;
        }
        if changes.iter().take(CHANGES).any(|(id, _)| about.program.get(*id).public) {
            writeln!(out, "(*) The type is `pub`: if it is part of a library's API, this is a breaking change.")?;
        }
    }
    if ids.is_empty() {
        return writeln!(out, "There is no type to show.");
    }
    let shown = args.top.unwrap_or(if look.markdown { usize::MAX } else { ROWS }).min(ids.len());
    look.heading(out, "Types", "")?;
    let mut rows = vec![header(&["size", "align", "padding", "type", "largest parts", "takes most of"])];
    for id in &ids[..shown] {
        let ty = about.program.get(*id);
        let measured = measure(about.program, ty);
        rows.push(vec![
            right(count(ty.size)),
            right(count(ty.align)),
            right(if measured.padding == 0 { String::new() } else { count(measured.padding) }),
            Cell::new(&ty.name),
            Cell::new(takes(about.program, ty, &measured)),
            Cell::new(embedded(about, *id)),
        ]);
    }
    look.table(out, &rows)?;
    if shown < ids.len() {
        writeln!(
            out,
            "{} more are not shown (--top, --sort, PATTERN). --explain TYPE draws the layout of one type.",
            ids.len() - shown
        )?;
    }
    Ok(())
}

fn summary(about: &About<'_>) -> String {
    let program = about.program;
    let name = program.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let profile = about.profile.map_or_else(String::new, |profile| format!(", profile {profile}"));
    let rustc = program.rustc.as_deref().map_or_else(String::new, |rustc| format!(", rustc {rustc}"));
    let own = about.listed.iter().filter(|id| program.get(**id).own).count();
    let others = about.listed.len() - own;
    format!(
        "`{name}`{profile}{rustc}: {} types of its own, {} of dependencies.",
        count(own as u64),
        count(others as u64)
    )
}

/// Returns suggestions for types of the workspace, largest saving first.
fn changes(about: &About<'_>, ids: &[TypeId]) -> Vec<(TypeId, Change)> {
    let own = ids.iter().filter(|id| about.program.get(**id).own);
    let mut changes: Vec<(TypeId, Change)> = own
        .filter_map(|id| {
            let ty = about.program.get(*id);
            Some((*id, change(about.program, ty, &measure(about.program, ty))?))
        })
        .collect();
    changes.sort_by_key(|(id, change)| (std::cmp::Reverse(change.saves), *id));
    changes
}

/// Returns the largest variants or fields.
fn takes(program: &Program, ty: &Type, measured: &Measured<'_>) -> String {
    if !measured.has_variants {
        let fields = measured.parts.iter().flat_map(|part| &part.fields);
        let mut fields: Vec<(u64, String)> = fields
            .map(|field| (program.size_of(field.ty), format!("{}: {}", field.name, program.get(field.ty).name)))
            .collect();
        fields.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        let more = fields.len().saturating_sub(3);
        let mut texts: Vec<String> = fields
            .iter()
            .take(3)
            .filter(|(size, _)| *size > 0)
            .map(|(size, name)| format!("{} {}", short(name), count(*size)))
            .collect();
        if more > 0 {
            texts.push(format!("{more} more"));
        }
        return texts.join(", ");
    }
    let mut parts: Vec<_> = measured.parts.iter().map(|part| (part.content(measured.tag), part.name)).collect();
    parts.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    match &parts[..] {
        [] => "no variants".to_owned(),
        [(0, _), ..] if ty.size > 0 => format!("{} variants without fields", parts.len()),
        [(size, name)] => format!("{name} {}", count(*size)),
        [(size, name), rest @ ..] if matches!(ty.kind, Kind::Coroutine(_)) => {
            format!("{name} {}, {} other states (see `cargo dwell futures`)", count(*size), rest.len())
        }
        [(size, name), (next, after), rest @ ..] => {
            let rest = if rest.is_empty() { String::new() } else { format!(", {} more", rest.len()) };
            format!("{name} {}, next {after} {}{rest}", count(*size), count(*next))
        }
    }
}

/// Returns a name truncated to the width of a table's column.
fn short(name: &str) -> String {
    const MOST: usize = 48;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(std::iter::once('…')).collect()
}

/// Returns the type whose size is mainly due to this one, and its share.
fn embedded(about: &About<'_>, id: TypeId) -> String {
    let program = about.program;
    if let Some(outer) = about.embedding.makes_big(program, id) {
        let outer = program.get(outer);
        return format!(
            "{} ({} of {})",
            short(&outer.name),
            percent(program.size_of(id), outer.size),
            count(outer.size)
        );
    }
    let outer = about.embedding.outer(program, id);
    match &outer[..] {
        [] => String::new(),
        [one] => format!("in {}", short(&program.get(*one).name)),
        [first, rest @ ..] => format!("in {} and {} more", short(&program.get(*first).name), rest.len()),
    }
}

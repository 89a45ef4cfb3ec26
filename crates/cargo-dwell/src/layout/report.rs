//! Types as a table or as JSON.

use super::measure::{Measured, measure};
use super::suggest::{Facts, Suggestion};
use super::{LayoutArgs, ROWS, json, withheld};
use crate::about;
use comfy_table::Cell;
use dwell_debuginfo::{Kind, Program, Type, TypeId};
use dwell_output::units::{count, percent};
use dwell_output::{Format, Look, header, right};
use serde::Serialize;
use std::collections::HashSet;
use std::io;

/// The program that a report describes.
pub(super) struct About<'a> {
    pub(super) program: &'a Program,
    pub(super) profile: Option<&'a str>,
    /// All types that could be shown.
    pub(super) listed: &'a [TypeId],
    pub(super) facts: &'a Facts<'a>,
}

/// The default number of suggestions.
const CHANGES: usize = 6;

#[derive(Serialize)]
struct Document {
    version: u32,
    program: about::About,
    types: Vec<json::Type>,
}

pub(super) fn json(about: &About<'_>, ids: &[TypeId], out: &mut impl io::Write) -> io::Result<()> {
    let types = ids.iter().map(|id| json::Type::new(about.facts, *id)).collect();
    let document = Document { version: 1, program: about::About::new(about.program, about.profile), types };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

pub(super) fn text(about: &About<'_>, ids: &[TypeId], args: &LayoutArgs, out: &mut impl io::Write) -> io::Result<()> {
    let look = if args.format == Format::Markdown { Look::page() } else { Look::terminal() };
    if look.markdown {
        writeln!(out, "# Types\n")?;
    }
    writeln!(out, "{}", summary(about))?;
    suggestions(about, ids, args, &look, out)?;
    if ids.is_empty() {
        return writeln!(out, "There is no type to show.");
    }
    let shown = args.top.unwrap_or(if look.markdown { usize::MAX } else { ROWS }).min(ids.len());
    look.heading(out, "Types", "")?;
    let mut rows = vec![header(&["size", "align", "padding", "type", "where", "largest parts", "takes most of"])];
    for id in &ids[..shown] {
        let ty = about.program.get(*id);
        let measured = measure(about.program, ty);
        rows.push(vec![
            right(count(ty.size)),
            right(count(ty.align)),
            right(if measured.padding == 0 { String::new() } else { count(measured.padding) }),
            Cell::new(&ty.name),
            Cell::new(about.facts.position(ty).map_or_else(String::new, |(file, line)| format!("{file}:{line}"))),
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

/// Writes the suggestions; then counts those that are withheld, or lists them.
fn suggestions(
    about: &About<'_>,
    ids: &[TypeId],
    args: &LayoutArgs,
    look: &Look,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let all = changes(about, ids);
    let (shown, withheld): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, suggestion)| suggestion.shown);
    let mut write = |title: &str, last: &str, list: &[(TypeId, Suggestion)], most: usize| -> io::Result<()> {
        look.heading(out, title, "")?;
        let mut rows = vec![header(&["saves", "of", "type", "where", "how", last])];
        for (id, change) in list.iter().take(most) {
            let ty = about.program.get(*id);
            let at = about.facts.position(ty).map_or_else(String::new, |(file, line)| format!("{file}:{line}"));
            rows.push(vec![
                right(count(change.saves)),
                right(count(change.size)),
                Cell::new(&ty.name),
                Cell::new(at),
                Cell::new(format!("{}{}", change.how, if is_api(about, ty) { " (*)" } else { "" })),
                Cell::new(change.withheld.as_ref().map_or_else(|| change.why(), |withheld| withheld.why.clone())),
            ]);
        }
        look.table(out, &rows)?;
        if list.len() > most {
            writeln!(out, "{} that save less are not shown (--top, --format json).", list.len() - most)?;
        }
        if list.iter().take(most).any(|(id, _)| is_api(about, about.program.get(*id))) {
            writeln!(out, "(*) The type is `pub` in a library: if it is part of the API, this is a breaking change.")?;
        }
        Ok(())
    };
    if !shown.is_empty() {
        let order = if shown[0].1.evidence.live.is_some() { "" } else { ", types with the most values first" };
        write(&format!("What to change{order}"), "evidence", &shown, args.top.unwrap_or(CHANGES).max(1))?;
    }
    let reasons = withheld.iter().filter_map(|(_, suggestion)| Some(suggestion.withheld.as_ref()?.reason));
    let Some(text) = withheld::summary(reasons) else { return Ok(()) };
    if args.withheld {
        write(&text, "why not", &withheld, usize::MAX)
    } else {
        let census = if about.facts.is_counted() { "" } else { "; --census FILE counts values" };
        writeln!(out, "\n{text} (--withheld lists them{census}).")
    }
}

/// Returns `true` if a type is `pub` in a library, so that it may be part of its API.
fn is_api(about: &About<'_>, ty: &Type) -> bool {
    // The name of a unit begins with the root file of its crate.
    ty.public && about.program.units.iter().any(|unit| is_library(unit, &ty.krate))
}

/// Returns `true` if a unit belongs to the library `krate`: `src/lib.rs/@/krate.0123-cgu.0`.
fn is_library(unit: &str, krate: &str) -> bool {
    let Some((file, unit)) = unit.split_once("/@/") else { return false };
    unit.split('.').next() == Some(krate) && file.ends_with("lib.rs")
}

/// Returns suggestions for types of the workspace: those with the most values first, then the largest saving. Of the
/// instances of a generic type, only the largest has one.
pub(super) fn changes(about: &About<'_>, ids: &[TypeId]) -> Vec<(TypeId, Suggestion)> {
    let mut changes: Vec<(TypeId, Suggestion)> =
        ids.iter().filter_map(|id| Some((*id, about.facts.suggest(*id)?))).collect();
    changes.sort_by_cached_key(|(id, suggestion)| {
        let few = (suggestion.evidence.saves_in_all, suggestion.evidence.rank, suggestion.saves);
        let reason = suggestion.withheld.as_ref().map(|withheld| withheld.reason);
        (!suggestion.shown, suggestion.order, reason, std::cmp::Reverse(few), *id)
    });
    let mut seen = HashSet::new();
    changes.retain(|(id, _)| {
        let path = &about.program.get(*id).path;
        seen.insert(path.split('<').next().unwrap_or_default().to_owned())
    });
    changes
}

/// Returns the largest variants or fields.
pub(super) fn takes(program: &Program, ty: &Type, measured: &Measured<'_>) -> String {
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
    if let Some((outer, taken)) = about.facts.embedding.makes_big(program, id) {
        let outer = program.get(outer);
        return format!("{} ({} of {})", short(&outer.name), percent(taken, outer.size), count(outer.size));
    }
    let outer = about.facts.embedding.outer(program, id);
    match &outer[..] {
        [] => String::new(),
        [one] => format!("in {}", short(&program.get(*one).name)),
        [first, rest @ ..] => format!("in {} and {} more", short(&program.get(*first).name), rest.len()),
    }
}

//! The statics of a program, such as pools of tasks, and the types that fill its sections.

use super::{LayoutArgs, ROWS};
use comfy_table::Cell;
use dwell_debuginfo::{Kind, Program};
use dwell_output::units::{count, plural};
use dwell_output::{Format, Look, header, right};
use object::{Object as _, ObjectSection as _};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::Range;

/// A static of the program.
#[derive(Serialize)]
struct Static<'a> {
    path: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    size: u64,
    /// The section: `.bss` takes memory only, `.data` is in the file too, `.rodata` may stay in flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'a str>,
}

/// Returns the sections of an executable with their addresses.
fn sections(program: &Program) -> Vec<(Range<u64>, String)> {
    let Ok(data) = dwell_debuginfo::map(&program.file) else { return Vec::new() };
    let Ok(object) = object::File::parse(&data[..]) else { return Vec::new() };
    let section = |section: object::Section<'_, '_>| {
        let end = section.address().checked_add(section.size())?;
        Some((section.address()..end, section.name().ok()?.to_owned()))
    };
    object.sections().filter(|section| section.address() > 0).filter_map(section).collect()
}

/// Lists the statics, largest first: of the workspace, or of all crates.
pub(super) fn write(program: &Program, args: &LayoutArgs, out: &mut impl io::Write) -> io::Result<()> {
    let own: HashSet<&str> = program.types().filter(|(_, ty)| ty.own).map(|(_, ty)| &*ty.krate).collect();
    let is_shown = |path: &str| args.all || own.is_empty() || own.contains(path.split("::").next().unwrap_or_default());
    let pattern = args.pattern.as_deref().unwrap_or_default();
    let sections = sections(program);
    let section = |address: u64| sections.iter().find(|(range, _)| range.contains(&address)).map(|(_, name)| &**name);
    let mut all: Vec<Static<'_>> = program
        .statics
        .iter()
        .filter(|variable| {
            !matches!(program.get(variable.ty).kind, Kind::Vtable(_) | Kind::Opaque) && is_shown(&variable.path)
        })
        .map(|variable| Static {
            path: &variable.path,
            type_name: &program.get(variable.ty).name,
            size: program.size_of(variable.ty),
            section: section(variable.address),
        })
        .filter(|variable| {
            variable.path.contains(pattern) && variable.size >= args.min.map_or(1, |bytes| bytes.as_u64())
        })
        .collect();
    all.sort_by_key(|variable| std::cmp::Reverse(variable.size));
    if args.format == Format::Json {
        serde_json::to_writer(&mut *out, &all)?;
        return writeln!(out);
    }
    let look = if args.format == Format::Markdown { Look::page() } else { Look::terminal() };
    let sum = |all: &[&Static<'_>]| all.iter().map(|variable| variable.size).fold(0, u64::saturating_add);
    let mut by_section: BTreeMap<&str, Vec<&Static<'_>>> = BTreeMap::new();
    let mut by_type: BTreeMap<&str, Vec<&Static<'_>>> = BTreeMap::new();
    for variable in &all {
        by_section.entry(variable.section.unwrap_or("elsewhere")).or_default().push(variable);
        by_type.entry(variable.type_name).or_default().push(variable);
    }
    let whole = |name: &str| {
        sections.iter().find(|(_, section)| section == name).map_or(0, |(range, _)| range.end - range.start)
    };
    let of_section = |(name, list): (&&str, &Vec<&Static<'_>>)| match whole(name) {
        0 => format!("{} {name}", count(sum(list))),
        all => format!("{} of the {} in {name}", count(sum(list)), count(all)),
    };
    let parts: Vec<String> = by_section.iter().map(of_section).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let total = sum(&all.iter().collect::<Vec<_>>());
    writeln!(out, "{} with {} bytes{parts}.\n", plural(all.len() as u64, "static"), count(total))?;
    let mut rows = vec![header(&["size", "in", "static", "type"])];
    let shown = args.top.unwrap_or(ROWS).min(all.len());
    rows.extend(all[..shown].iter().map(|variable| {
        let section = variable.section.unwrap_or_default();
        vec![right(count(variable.size)), Cell::new(section), Cell::new(variable.path), Cell::new(variable.type_name)]
    }));
    look.table(out, &rows)?;
    if shown < all.len() {
        writeln!(out, "{} more are not shown (--top, PATTERN).", all.len() - shown)?;
    }
    let mut types: Vec<(u64, &str, usize)> = by_type
        .iter()
        .filter(|(_, list)| list.len() > 1)
        .map(|(type_name, list)| (sum(list), *type_name, list.len()))
        .collect();
    types.sort_by_key(|(size, type_name, _)| (std::cmp::Reverse(*size), *type_name));
    if !types.is_empty() {
        look.heading(out, "Types with several statics", "")?;
        let mut rows = vec![header(&["size", "statics", "type"])];
        let row = |(size, type_name, number): &(u64, &str, usize)| {
            vec![right(count(*size)), right(count(*number as u64)), Cell::new(type_name)]
        };
        rows.extend(types.iter().take(args.top.unwrap_or(ROWS)).map(row));
        look.table(out, &rows)?;
    }
    Ok(())
}

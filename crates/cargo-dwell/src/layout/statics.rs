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
    of: &'a str,
    size: u64,
    /// The section: `.bss` takes memory only, `.data` is in the file too, `.rodata` may stay in flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'a str>,
}

/// Returns the sections of an executable with their addresses.
fn sections(program: &Program) -> Vec<(Range<u64>, String)> {
    let Ok(data) = dwell_debuginfo::map(&program.file) else { return Vec::new() };
    let Ok(object) = object::File::parse(&data[..]) else { return Vec::new() };
    let section = |of: object::Section<'_, '_>| {
        let end = of.address().checked_add(of.size())?;
        Some((of.address()..end, of.name().ok()?.to_owned()))
    };
    object.sections().filter(|of| of.address() > 0).filter_map(section).collect()
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
        .filter(|of| !matches!(program.get(of.ty).kind, Kind::Vtable(_) | Kind::Opaque) && is_shown(&of.path))
        .map(|of| Static {
            path: &of.path,
            of: &program.get(of.ty).name,
            size: program.size_of(of.ty),
            section: section(of.address),
        })
        .filter(|of| of.path.contains(pattern) && of.size >= args.min.map_or(1, |bytes| bytes.as_u64()))
        .collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.size));
    if args.format == Format::Json {
        serde_json::to_writer(&mut *out, &all)?;
        return writeln!(out);
    }
    let look = if args.format == Format::Markdown { Look::page() } else { Look::terminal() };
    let sum = |all: &[&Static<'_>]| all.iter().map(|of| of.size).fold(0, u64::saturating_add);
    let mut by_section: BTreeMap<&str, Vec<&Static<'_>>> = BTreeMap::new();
    let mut by_type: BTreeMap<&str, Vec<&Static<'_>>> = BTreeMap::new();
    for of in &all {
        by_section.entry(of.section.unwrap_or("elsewhere")).or_default().push(of);
        by_type.entry(of.of).or_default().push(of);
    }
    let whole = |name: &str| sections.iter().find(|(_, of)| of == name).map_or(0, |(range, _)| range.end - range.start);
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
    rows.extend(all[..shown].iter().map(|of| {
        let section = of.section.unwrap_or_default();
        vec![right(count(of.size)), Cell::new(section), Cell::new(of.path), Cell::new(of.of)]
    }));
    look.table(out, &rows)?;
    if shown < all.len() {
        writeln!(out, "{} more are not shown (--top, PATTERN).", all.len() - shown)?;
    }
    let mut types: Vec<(u64, &str, usize)> =
        by_type.iter().filter(|(_, list)| list.len() > 1).map(|(of, list)| (sum(list), *of, list.len())).collect();
    types.sort_by_key(|(size, of, _)| (std::cmp::Reverse(*size), *of));
    if !types.is_empty() {
        look.heading(out, "Types with several statics", "")?;
        let mut rows = vec![header(&["size", "statics", "type"])];
        let row = |(size, of, number): &(u64, &str, usize)| {
            vec![right(count(*size)), right(count(*number as u64)), Cell::new(of)]
        };
        rows.extend(types.iter().take(args.top.unwrap_or(ROWS)).map(row));
        look.table(out, &rows)?;
    }
    Ok(())
}

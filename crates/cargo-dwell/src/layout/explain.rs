//! `--explain TYPE`: the bytes of a type, drawn to scale where there is space.

use super::json;
use super::measure::{Embedding, Measured, Part, measure};
use comfy_table::Cell;
use dwell_debuginfo::{Program, Type, TypeId};
use dwell_output::units::count;
use dwell_output::{Format, Look, header, right};
use std::io;

/// Draws each type and lists its fields.
pub(super) fn write(
    program: &Program,
    embedding: &Embedding,
    ids: &[TypeId],
    format: Format,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let look = if format == Format::Markdown { Look::page() } else { Look::terminal() };
    for (index, id) in ids.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let ty = program.get(*id);
        let measured = measure(program, ty);
        writeln!(out, "{}", title(ty, &measured))?;
        if *ty.path != *ty.name {
            writeln!(out, "  {}", ty.path)?;
        }
        if look.markdown {
            writeln!(out, "\n```")?;
        }
        for line in draw(program, ty, &measured, look.columns().saturating_sub(2).min(140)) {
            writeln!(out, "  {line}")?;
        }
        if look.markdown {
            writeln!(out, "```")?;
        }
        let rows = list(program, ty, &measured);
        if rows.len() > 1 {
            writeln!(out)?;
            look.table(out, &rows)?;
        }
        if let Some((outer, taken)) = embedding.makes_big(program, *id) {
            let outer = program.get(outer);
            writeln!(out, "\nIt is {} of the {} bytes of `{}`.", count(taken), count(outer.size), outer.name)?;
        }
    }
    Ok(())
}

fn title(ty: &Type, measured: &Measured<'_>) -> String {
    let plural = if ty.size == 1 { "byte" } else { "bytes" };
    let mut about = vec![format!("{}  {} {plural}", ty.name, count(ty.size)), format!("align {}", ty.align)];
    if let Some(tag) = measured.tag {
        about.push(match json::niche(&ty.kind) {
            Some(niche) => format!("niche in `{niche}`"),
            None => format!("tag of {} at {}", tag.size, tag.offset),
        });
    }
    if measured.padding > 0 {
        about.push(format!("padding {}", count(measured.padding)));
    }
    if let Some((largest, gap)) = measured.gap {
        about.push(format!("`{}` is {} larger than the next", measured.parts[largest].name, count(gap)));
    }
    about.join(", ")
}

/// A range of bytes with a label.
struct Span {
    start: u64,
    end: u64,
    label: String,
    is_padding: bool,
}

/// Returns the ranges of a part, in order.
fn spans(program: &Program, ty: &Type, part: &Part<'_>, measured: &Measured<'_>) -> Vec<Span> {
    let mut spans: Vec<Span> = part
        .fields
        .iter()
        .map(|field| {
            let field_type = program.get(field.ty);
            let is_numbered = field.name.bytes().all(|byte| byte.is_ascii_digit());
            let label = match &*field.name {
                "__awaitee" => format!("awaits {}", field_type.name),
                _ if is_numbered => field_type.name.to_string(),
                name => format!("{name}: {}", field_type.name),
            };
            Span {
                start: field.offset,
                end: field.offset.saturating_add(field_type.size).min(ty.size),
                label,
                is_padding: false,
            }
        })
        .collect();
    if let Some(tag) = measured.tag.filter(|tag| {
        // A niche is inside a field of the variant that has it, so it gets no range.
        !part
            .fields
            .iter()
            .any(|field| field.offset <= tag.offset && tag.offset < field.offset + program.size_of(field.ty))
    }) {
        let label = if tag.niche.is_some() { "niche" } else { "tag" };
        spans.push(Span { start: tag.offset, end: tag.offset + tag.size, label: label.to_owned(), is_padding: false });
    }
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut all = Vec::new();
    let mut at = 0;
    let end = if measured.has_variants { part.end } else { ty.size };
    for span in spans {
        if span.start > at {
            all.push(Span { start: at, end: span.start, label: "padding".to_owned(), is_padding: true });
        }
        at = at.max(span.end);
        all.push(span);
    }
    if at < end {
        all.push(Span { start: at, end, label: "padding".to_owned(), is_padding: true });
    }
    all
}

/// The maximum number of parts to draw, because an enum may have hundreds of variants without fields.
const MOST_PARTS: usize = 40;

/// Draws a scale of bytes, and a row for each part.
fn draw(program: &Program, ty: &Type, measured: &Measured<'_>, columns: usize) -> Vec<String> {
    if ty.size == 0 || measured.parts.is_empty() {
        return Vec::new();
    }
    let mut parts: Vec<(&Part<'_>, Vec<Span>)> =
        measured.parts.iter().map(|part| (part, spans(program, ty, part, measured))).collect();
    // All fields of a union start at 0, so each has a row.
    if matches!(ty.kind, dwell_debuginfo::Kind::Union(_)) {
        let Some((part, spans)) = parts.pop() else { return Vec::new() };
        parts = spans.into_iter().filter(|span| !span.is_padding).map(|span| (part, vec![span])).collect();
    }
    let left_out = parts.len().saturating_sub(MOST_PARTS);
    if left_out > 0 {
        parts.sort_by_key(|(part, _)| std::cmp::Reverse(part.end));
        parts.truncate(MOST_PARTS);
    }
    let mut edges: Vec<u64> =
        parts.iter().flat_map(|(_, spans)| spans.iter().flat_map(|span| [span.start, span.end])).collect();
    edges.extend([0, ty.size]);
    edges.sort_unstable();
    edges.dedup();
    let name_width = parts.iter().map(|(part, _)| part.name.chars().count()).max().unwrap_or(0).clamp(4, 20);
    let space = columns.saturating_sub(name_width + 2);
    let Some(widths) = widths(&edges, &parts, space) else {
        return vec![format!("(too many fields to draw in {columns} columns)")];
    };
    let mut at = Vec::with_capacity(edges.len());
    let mut sum = 0;
    for width in &widths {
        at.push(sum);
        sum += width;
    }
    at.push(sum);
    let column = |byte: u64| at[edges.binary_search(&byte).unwrap_or(edges.len() - 1)];

    let mut scale = format!("{:name_width$} ", "byte");
    for edge in &edges {
        let to = name_width + 1 + column(*edge);
        let length = scale.chars().count();
        if length <= to {
            scale.extend(std::iter::repeat_n(' ', to - length));
            scale += &edge.to_string();
        }
    }
    let mut lines = vec![scale];
    for (part, spans) in &parts {
        let mut line = format!("{:name_width$.name_width$} ", part.name);
        let mut last = 0;
        for span in spans {
            if span.start < last {
                continue;
            }
            let width = column(span.end) - column(span.start) - 1;
            line.push('|');
            line += &fill(&span.label, width, span.is_padding);
            last = span.end;
        }
        if last > 0 {
            line.push('|');
        }
        lines.push(line.trim_end().to_owned());
    }
    if left_out > 0 {
        lines.push(format!("({left_out} smaller variants)"));
    }
    lines
}

/// Returns a label of a given width: truncated if it is longer, padded with dots if it is shorter.
fn fill(label: &str, width: usize, is_padding: bool) -> String {
    let label = if is_padding { "" } else { label };
    let mut text: String = label.chars().take(width).collect();
    let length = text.chars().count();
    if length < width {
        let filler = if is_padding { '~' } else { '.' };
        let rest = width - length;
        match rest {
            0..=2 if !is_padding => text.extend(std::iter::repeat_n(' ', rest)),
            _ if is_padding => text.extend(std::iter::repeat_n(filler, rest)),
            _ => {
                text.push(' ');
                text.extend(std::iter::repeat_n(filler, rest - 1));
            }
        }
    }
    text
}

/// Returns the number of columns of each range between two edges: first enough for its number, then for labels, then in
/// proportion to its bytes.
fn widths(edges: &[u64], parts: &[(&Part<'_>, Vec<Span>)], space: usize) -> Option<Vec<usize>> {
    let mut widths: Vec<usize> = edges.windows(2).map(|edge| edge[0].to_string().len() + 1).collect();
    let mut left = space.checked_sub(widths.iter().sum::<usize>() + 4)?;
    let mut wants: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
    for span in parts.iter().flat_map(|(_, spans)| spans) {
        let from = edges.binary_search(&span.start).ok()?;
        let to = edges.binary_search(&span.end).ok()?;
        if from < to && !span.is_padding {
            wants.push((span.label.chars().count().min(24) + 1, from..to));
        }
    }
    // The shortest labels first, so that as many as possible fit.
    wants.sort_by_key(|(want, range)| (*want, range.start));
    for (want, range) in wants {
        let has: usize = widths[range.clone()].iter().sum();
        let more = want.saturating_sub(has);
        if more <= left {
            widths[range.end - 1] += more;
            left -= more;
        }
    }
    // The remaining columns go to long spans, in proportion to their bytes.
    let whole = u128::from((*edges.last()?).max(1));
    let spread = left.min(48) as u128;
    for (width, edge) in widths.iter_mut().zip(edges.windows(2)) {
        *width += usize::try_from(spread * u128::from(edge[1] - edge[0]) / whole).unwrap_or(0);
    }
    Some(widths)
}

/// The bytes of a cache line. A value that is aligned to one has its fields in the lines that the list shows.
const CACHE_LINE: u64 = 64;

/// Returns all fields with their bytes, and the padding between them.
fn list(program: &Program, ty: &Type, measured: &Measured<'_>) -> Vec<Vec<Cell>> {
    let mut rows = vec![header(&["offset", "size", "align", "field", "type"])];
    if measured.has_variants {
        rows[0].insert(0, header(&["variant"]).remove(0));
    }
    for part in &measured.parts {
        let mut is_first = true;
        let (mut at, mut line) = (0, 0);
        let mut push = |offset: u64, size: u64, align: String, name: &str, type_name: &str| {
            if !measured.has_variants && offset / CACHE_LINE > line {
                line = offset / CACHE_LINE;
                let text = format!("(cache line {})", line + 1);
                rows.push(vec![right(count(line * CACHE_LINE)), right(""), right(""), Cell::new(text), Cell::new("")]);
            }
            let mut row =
                vec![right(count(offset)), right(count(size)), right(align), Cell::new(name), Cell::new(type_name)];
            if measured.has_variants {
                row.insert(0, Cell::new(if is_first { part.name } else { "" }));
            }
            is_first = false;
            rows.push(row);
        };
        let mut fields = part.fields.clone();
        fields.sort_by_key(|field| (field.offset, program.size_of(field.ty)));
        let mut all: Vec<(u64, u64, String, &str, &str)> = fields
            .iter()
            .map(|field| {
                let ty = program.get(field.ty);
                (field.offset, ty.size, ty.align.to_string(), &*field.name, &*ty.name)
            })
            .collect();
        let is_covered = |offset: u64| {
            fields
                .iter()
                .any(|field| field.offset <= offset && offset < field.offset.saturating_add(program.size_of(field.ty)))
        };
        if let Some(tag) = measured.tag.filter(|tag| !is_covered(tag.offset)) {
            let name = if tag.niche.is_some() { "(niche)" } else { "(tag)" };
            all.push((tag.offset, tag.size, tag.size.to_string(), name, ""));
            all.sort_by_key(|row| row.0);
        }
        for (offset, size, align, name, type_name) in all {
            if offset > at {
                push(at, offset - at, String::new(), "(padding)", "");
            }
            at = at.max(offset.saturating_add(size));
            push(offset, size, align, name, type_name);
        }
        if at < ty.size && !measured.has_variants && !part.fields.is_empty() {
            push(at, ty.size - at, String::new(), "(padding)", "");
        }
    }
    rows
}

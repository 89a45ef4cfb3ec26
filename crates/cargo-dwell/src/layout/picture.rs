//! The bytes of a type as nested bars of a page.

use super::measure::{Measured, is_listed, measure};
use dwell_debuginfo::{Kind, Program, Type, TypeId};
use dwell_output::page::{Bar, Class};
use dwell_output::units::count;

/// The depth of the bars, and the part of a type that a field takes to have bars of its own.
const DEEPEST: usize = 12;
const LEAST: u64 = 200;

/// Returns the bar of a type: its fields with those of their types, and padding. An enum or a future has the largest of its
/// variants or states.
pub(crate) fn picture(program: &Program, id: TypeId) -> Bar {
    let ty = program.get(id);
    bar(program, ty.name.to_string(), id, (ty.size / LEAST, DEEPEST))
}

fn bar(program: &Program, name: String, id: TypeId, (least, depth): (u64, usize)) -> Bar {
    let ty = program.get(id);
    let measured = measure(program, ty);
    let mut details = vec![("type".to_owned(), ty.name.to_string())];
    let others = variants(&measured);
    if !others.is_empty() {
        details.push((if is_future(ty) { "states" } else { "variants" }.to_owned(), others));
    }
    details
        .extend(ty.source.as_ref().map(|source| ("declared".to_owned(), format!("{}:{}", source.file, source.line))));
    let is_open = depth > 0 && ty.size > least && is_worth_opening(ty);
    let bars = if is_open { parts(program, ty, &measured, (least, depth - 1)) } else { Vec::new() };
    Bar { name, bytes: ty.size, class: class(ty), details, bars }
}

/// Returns the fields of the largest part, the tag and the padding, by offset.
fn parts(program: &Program, ty: &Type, measured: &Measured<'_>, limits: (u64, usize)) -> Vec<Bar> {
    let Some(part) = measured.parts.iter().max_by_key(|part| part.end) else { return Vec::new() };
    let of_part = |name: &str| if part.name.is_empty() { name.to_owned() } else { format!("{}.{name}", part.name) };
    let mut all: Vec<(u64, Bar)> =
        part.fields.iter().map(|field| (field.offset, bar(program, of_part(&field.name), field.ty, limits))).collect();
    all.extend(measured.tag.map(|tag| (tag.offset, plain("tag", tag.size, Class::Other))));
    // The largest of a union's fields stands for all; a tag in a niche is inside of a field.
    all.sort_by_key(|(offset, bar)| (*offset, std::cmp::Reverse(bar.bytes)));
    // A future keeps its arguments and what other states hold.
    let (of_gap, class) =
        if is_future(ty) { ("arguments, other states", Class::Absent) } else { ("padding", Class::Padding) };
    let gap = |bytes: u64| plain(of_gap, bytes, class);
    let (mut bars, mut at) = (Vec::new(), 0_u64);
    for (offset, bar) in all {
        let end = offset.saturating_add(bar.bytes);
        if bar.bytes == 0 || offset < at || end > ty.size {
            continue;
        }
        bars.extend((offset > at).then(|| gap(offset - at)));
        bars.push(bar);
        at = end;
    }
    if bars.is_empty() {
        return bars;
    }
    bars.extend((ty.size > at).then(|| gap(ty.size - at)));
    bars
}

fn plain(name: &str, bytes: u64, class: Class) -> Bar {
    Bar { name: name.into(), bytes, class, ..Bar::default() }
}

/// Returns the sizes of the variants or states, if there are several, largest first.
fn variants(measured: &Measured<'_>) -> String {
    if !measured.has_variants {
        return String::new();
    }
    let mut all: Vec<_> = measured.parts.iter().map(|part| (part.content(measured.tag), part.name)).collect();
    all.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let texts: Vec<_> = all.iter().take(6).map(|(bytes, name)| format!("{name} {}", count(*bytes))).collect();
    texts.join(", ")
}

fn is_future(ty: &Type) -> bool {
    matches!(ty.kind, Kind::Coroutine(_))
}

/// Returns `true` if the inside of a type tells its user something. That of a list or a text does not.
fn is_worth_opening(ty: &Type) -> bool {
    let is_of_std = matches!(&*ty.krate, "alloc" | "core" | "std");
    if !is_listed(ty) {
        return false;
    }
    !is_of_std || is_future(ty) || matches!(ty.kind, Kind::Enum(_)) || ty.path.starts_with("core::mem::")
}

fn class(ty: &Type) -> Class {
    let name = ty.path.split('<').next().unwrap_or_default();
    match name.rsplit("::").next().unwrap_or_default() {
        "String" | "PathBuf" | "OsString" => Class::Text,
        "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" => Class::Sequence,
        "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" => Class::Map,
        "Box" | "Rc" | "Arc" => Class::Pointer,
        _ => match ty.kind {
            _ if is_listed(ty) => Class::Struct,
            _ if ty.name.starts_with(['&', '*']) => Class::Pointer,
            _ => Class::Other,
        },
    }
}

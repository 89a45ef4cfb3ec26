//! Changes of the user's types, each with the memory that it saves.

use super::found::{FieldId, Findings};
use super::items::{Item, Place, Shape};
use super::types::{Seq, Ty, Types};
use crate::model::Heap;
use crate::types::Int;
use dwell_model::Change;
use dwell_model::queue::Queue;
use dwell_model::search;
use dwell_source::Edit;
use dwell_source::Finding;

/// Changes that save less than the total divided by this number are left out.
const SMALLEST: i128 = 1_000;

/// The fewest documents that show the range of an integer.
const ENOUGH: u64 = 5;

/// A change of one field or variant.
struct Candidate {
    field: FieldId,
    kind: &'static str,
    to: Ty,
    costs: &'static str,
}

/// Returns the changes with the largest savings, largest first. Each saving is after the changes before it.
pub(super) fn changes(types: &mut Types<'_>, root: &Ty, found: &Findings) -> Vec<Finding> {
    let mut total = found.total(types, root);
    let least = (total.cost() / SMALLEST).max(1);
    let mut open = Queue::new(candidates(types, found).into_iter().map(|candidate| {
        let after = with(types, &candidate, root, found);
        let saves = total.cost() - after.cost();
        (candidate, saves)
    }));
    let mut findings = Vec::new();
    loop {
        let mut next = None;
        let best = open.pop(least, |candidate| {
            let after = *next.insert(with(types, candidate, root, found));
            total.cost() - after.cost()
        });
        let (Some(candidate), Some(after)) = (best, next) else { return findings };
        findings.push(describe(types, root, &candidate, found, (total, after)));
        *part(types, candidate.field) = candidate.to;
        total = after;
    }
}

fn part<'t>(types: &'t mut Types<'_>, (def, variant, field): FieldId) -> &'t mut Ty {
    &mut types.defs[def].parts[variant][field]
}

/// Returns the memory after a change.
fn with(types: &mut Types<'_>, candidate: &Candidate, root: &Ty, found: &Findings) -> Heap {
    let old = std::mem::replace(part(types, candidate.field), candidate.to.clone());
    let total = found.total(types, root);
    *part(types, candidate.field) = old;
    total
}

fn candidates(types: &Types<'_>, found: &Findings) -> Vec<Candidate> {
    let mut all = Vec::new();
    let mut layouts = types.layouts();
    for (id, def) in
        types.defs.iter().enumerate().filter(|(id, def)| found.instances.contains_key(id) && !def.item.is_opaque)
    {
        let is_enum = matches!(def.item.shape, Shape::Enum(_));
        for (variant, parts) in def.parts.iter().enumerate() {
            for (index, part) in parts.iter().enumerate() {
                let field = (id, variant, index);
                let mut add = |kind, to, costs| all.push(Candidate { field, kind, to, costs });
                let boxed = |ty: &Ty| Ty::Boxed(Box::new(ty.clone()), 0);
                match part {
                    Ty::Option(inner) if matches!(**inner, Ty::Named(_) | Ty::Tuple(_)) && layouts.size(inner) > 8 => {
                        add("box", Ty::Option(Box::new(boxed(inner))), Change::Boxed.cost());
                    }
                    Ty::Named(_) if is_enum && parts.len() == 1 && layouts.size(part) > 8 => {
                        add("variant", boxed(part), search::Edit::Variant(0, 0).cost());
                    }
                    _ => {}
                }
                if let Some(to) = exact(part) {
                    add("exact", to, Change::Exact.cost());
                }
                // The values of few documents are not the range of a type.
                if let Some(&(min, max)) = found.ranges.get(&field).filter(|_| found.documents >= ENOUGH)
                    && let Some(to) = narrower(part, min, max)
                {
                    add("narrow", to, "values outside the narrower range do not load");
                }
            }
        }
    }
    all
}

/// Returns the type without spare capacity.
fn exact(ty: &Ty) -> Option<Ty> {
    match ty {
        Ty::Option(inner) => Some(Ty::Option(Box::new(exact(inner)?))),
        Ty::String => Some(Ty::BoxStr(0)),
        Ty::Seq(Seq::Vec, element) => Some(Ty::Seq(Seq::BoxSlice, element.clone())),
        _ => None,
    }
}

/// Returns a narrower integer with headroom for values sixteen times as large.
fn narrower(ty: &Ty, min: i128, max: i128) -> Option<Ty> {
    match ty {
        Ty::Option(inner) => Some(Ty::Option(Box::new(narrower(inner, min, max)?))),
        Ty::Int { bits, nonzero: false, .. } => {
            let int = Int::with_headroom(min, max);
            (int.bits < *bits).then_some(Ty::Int { bits: int.bits, signed: int.signed, nonzero: false })
        }
        _ => None,
    }
}

/// Returns the name of a field in the source, and its place.
pub(super) fn item<'t>(types: &'t Types<'_>, (def, variant, field): FieldId) -> (&'t str, &'t Place) {
    let owner = match &types.defs[def].item {
        Item { shape: Shape::Struct(body), .. } => &body.fields[field],
        Item { shape: Shape::Enum(body), .. } => &body.variants[variant].content.fields[field],
        Item { place, .. } => return ("?", place),
    };
    (&owner.item, &owner.place)
}

fn describe(types: &Types<'_>, root: &Ty, candidate: &Candidate, found: &Findings, (was, is): (Heap, Heap)) -> Finding {
    let heap = found.heap(types, root);
    let (name, place) = item(types, candidate.field);
    let (def, variant, field) = candidate.field;
    let (mut layouts, now) = (types.layouts(), &types.defs[def].parts[variant][field]);
    let slots = found.instances.get(&def).copied().unwrap_or(0);
    let seen = found.seen.get(&candidate.field).copied().unwrap_or(0);
    let size = layouts.size(now);
    let heap = heap.get(&Some(candidate.field)).copied().unwrap_or_default();
    let rewritten = rewrite(&place.from, candidate.kind, &candidate.to);
    let why = match candidate.kind {
        "box" => format!("{seen} of {slots} have a value, and each takes {size} bytes"),
        "variant" => format!("{seen} of {slots} are this variant, and each value has room for it"),
        "narrow" => {
            let (min, max) = found.ranges.get(&candidate.field).copied().unwrap_or_default();
            format!("the values are {min} to {max}")
        }
        _ => "values that do not grow after loading need no spare capacity".to_owned(),
    };
    // `apply` replaces the type.
    let edit = |to: &String| Edit {
        file: place.file.clone(),
        line: place.line,
        item: name.to_owned(),
        from: type_in(&place.from).to_owned(),
        to: type_in(to).to_owned(),
    };
    Finding {
        kind: candidate.kind.to_owned(),
        location: name.to_owned(),
        count: slots,
        bytes: slots * size + heap.bytes,
        saves: was.bytes.saturating_sub(is.bytes),
        costs: candidate.costs.to_owned(),
        why,
        how: rewritten.as_deref().map_or_else(|| candidate.kind.to_owned(), closed),
        exact: found.is_exact(types),
        edits: rewritten.as_ref().map(edit).into_iter().collect(),
        ..Finding::default()
    }
}

/// Returns the text of a field with its type changed.
fn rewrite(from: &str, kind: &str, to: &Ty) -> Option<String> {
    match kind {
        "box" => wrap(from, "Option", |inner| format!("Option<Box<{inner}>>")),
        "variant" => {
            let (name, inner) = from.split_once('(')?;
            let inner = inner.strip_suffix(')').unwrap_or(inner);
            // The text of a variant ends with its type.
            let end = if from.ends_with(')') { ")" } else { "" };
            Some(format!("{name}(Box<{inner}>{end}"))
        }
        "exact" => {
            wrap(from, "Vec", |inner| format!("Box<[{inner}]>")).or_else(|| replace_word(from, "String", "Box<str>"))
        }
        "narrow" => {
            let mut inner_type = to;
            while let Ty::Option(inner) = inner_type {
                inner_type = inner;
            }
            let Ty::Int { bits, signed, .. } = inner_type else { return None };
            let new = format!("{}{bits}", if *signed { 'i' } else { 'u' });
            let old = ["u64", "i64", "usize", "isize", "u32", "i32", "u16", "i16"];
            old.iter().find_map(|old| replace_word(from, old, &new))
        }
        _ => None,
    }
}

/// Returns the text of a field or variant as it is printed: that of a variant may end with its type.
fn closed(text: &str) -> String {
    let open = text.matches('(').count().saturating_sub(text.matches(')').count());
    format!("{text}{}", ")".repeat(open))
}

/// Returns the type in the text of a field or variant: `Vec<u8>` in `bytes: Vec<u8>` and in `Bytes(Vec<u8>`.
fn type_in(text: &str) -> &str {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '#')
    };
    if let Some((_, ty)) = text.split_once(": ").filter(|(name, _)| is_name(name)) {
        return ty;
    }
    let Some((_, ty)) = text.split_once('(').filter(|(name, _)| is_name(name)) else { return text };
    // The text of a variant may end with its type.
    let is_closed = text.matches('(').count() == text.matches(')').count();
    if is_closed { ty.strip_suffix(')').unwrap_or(ty) } else { ty }
}

/// Returns the text with `Option` around the type of a field.
pub(super) fn optional(from: &str) -> Option<String> {
    let (name, ty) = from.split_once(": ")?;
    Some(format!("{name}: Option<{ty}>"))
}

/// Replaces `NAME<..>` with its matching bracket.
fn wrap(text: &str, name: &str, to: impl Fn(&str) -> String) -> Option<String> {
    let start = text.find(&format!("{name}<"))?;
    let inner = start + name.len() + 1;
    let mut depth = 1;
    for (at, letter) in text[inner..].char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let end = inner + at;
            return Some(format!("{}{}{}", &text[..start], to(&text[inner..end]), &text[end + 1..]));
        }
    }
    None
}

/// Replaces the last occurrence of a word, which is in the type.
fn replace_word(text: &str, word: &str, to: &str) -> Option<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (at, _) = text
        .rmatch_indices(word)
        .find(|(at, _)| !text[..*at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))?;
    Some(format!("{}{to}{}", &text[..at], &text[at + word.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_in_the_source_are_rewritten() {
        let int = Ty::Option(Box::new(Ty::Int { bits: 16, signed: false, nonzero: false }));
        for (from, kind, to) in [
            ("details: Option<Vec<Details>>", "box", "details: Option<Box<Vec<Details>>>"),
            ("File(Attachment", "variant", "File(Box<Attachment>"),
            ("File(Attachment)", "variant", "File(Box<Attachment>)"),
            ("names: Option<Vec<String>>", "exact", "names: Option<Box<[String]>>"),
            ("string: String", "exact", "string: Box<str>"),
            ("u64s: Option<u64>", "narrow", "u64s: Option<u16>"),
        ] {
            assert_eq!(rewrite(from, kind, &int).as_deref(), Some(to));
        }
        assert_eq!(rewrite("count: NonZero", "narrow", &int), None);
        for (text, ty) in [
            ("r#type: Option<Vec<u8>>", "Option<Vec<u8>>"),
            ("File(Attachment", "Attachment"),
            ("File((u8, u8)", "(u8, u8)"),
            ("File((u8, u8))", "(u8, u8)"),
            ("(String, Type)", "(String, Type)"),
            ("std::string::String", "std::string::String"),
        ] {
            assert_eq!(type_in(text), ty);
        }
        assert_eq!(optional("a: Vec<u8>").as_deref(), Some("a: Option<Vec<u8>>"));
    }
}

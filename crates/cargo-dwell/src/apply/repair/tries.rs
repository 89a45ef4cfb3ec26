//! What no rule repairs: a few repairs are made one after the other, and the check decides. The first after which fewer errors are left
//! stays.
//!
//! None of them changes what the program does: they box a value, take it out of its box, or reach it through its box; or they give the box
//! to a declaration that expects the value.

use super::super::moves::Becomes;
use super::super::syntax::{Bytes, Kind};
use super::{Replace, Site, range, suggestion};
use std::path::PathBuf;

/// The number of checks for repairs of one move that may turn out not to help.
pub(super) const CHECKS: usize = 24;

/// The number of repairs that are tried for one error.
const EACH: usize = 10;

/// Reaches the value in a box.
const OUT: [(&str, &str); 7] = [
    ("*", ""),
    ("&**", ""),
    ("&mut **", ""),
    ("", ".as_deref()"),
    ("", ".as_deref_mut()"),
    ("", ".map(|value| *value)"),
    ("", ".map(|value| &**value)"),
];

/// Puts a value into a box.
const IN: [(&str, &str); 2] = [("Box::new(", ")"), ("", ".map(Box::new)")];

/// Returns the repairs to try for an error, the likely ones first.
pub(super) fn candidates(site: &Site<'_>) -> Vec<Vec<Replace>> {
    let Becomes::Boxed(inner) = site.becomes else { return Vec::new() };
    let mut all = suggestion::all(site);
    let boxes = |ty: &str| ty.matches("Box<").count();
    let forms = match site.types() {
        Some((expected, found)) if boxes(expected) > boxes(found) => &IN[..],
        Some((expected, found)) if boxes(expected) < boxes(found) => &OUT[..],
        _ => &[],
    };
    // `self.details.as_ref().unwrap_or(&NONE)`: the error is at the other value.
    for place in fields(site) {
        all.extend(["as_deref", "as_deref_mut"].map(|name| vec![through(site, &place, name)]));
    }
    all.extend(declared(site, inner));
    if site.syntax.is_expr(&site.range) {
        let form = |form: &(&str, &str)| match *form {
            ("*", _) if site.shorthand(&site.range).is_none() && site.syntax.is_postfix(&site.range) => {
                let start = site.range.start;
                suggestion::without_box(site, vec![site.replace(start..start, "*")])
            }
            form => vec![site.replace(site.range.clone(), formed(site, &site.range, form))],
        };
        all.extend(forms.iter().map(form));
    }
    let mut seen: Vec<Vec<Replace>> = Vec::new();
    for one in all {
        if seen.len() < EACH && !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

/// Returns the text of an expression between two others.
fn formed(site: &Site<'_>, range: &Bytes, (before, after): (&str, &str)) -> String {
    if let Some(name) = site.shorthand(range) {
        return format!("{name}: {before}{name}{after}");
    }
    let text = site.at(range);
    // One repair takes the other back.
    let inverse = [(".map(|value| *value)", ".map(Box::new)"), (".map(Box::new)", ".map(|value| *value)")];
    let inverse = inverse.iter().find(|(known, _)| before.is_empty() && after == *known);
    if let Some(value) = inverse.and_then(|(_, other)| text.strip_suffix(other)) {
        return value.to_owned();
    }
    let is_whole = after == ")" || site.syntax.is_postfix(range);
    if is_whole { format!("{before}{text}{after}") } else { format!("{before}({text}){after}") }
}

/// Returns the places where the statement with the error names a changed field: `self.details`.
fn fields(site: &Site<'_>) -> Vec<Bytes> {
    let is_statement = |kind: &Kind| matches!(kind, Kind::Local { .. } | Kind::Arm { .. } | Kind::Let { .. });
    let around = site.syntax.around(&site.range).take_while(|node| node.range.len() < 600 && !is_statement(&node.kind));
    let Some(whole) = around.last().map(|node| node.range.clone()) else { return Vec::new() };
    let is_it = |range: &Bytes| {
        let text = site.at(range);
        site.names.iter().any(|name| text.rsplit_once('.').is_some_and(|(_, last)| last.trim() == name))
    };
    let postfix = site.syntax.within(&whole).filter(|node| node.kind == Kind::Postfix);
    let mut all: Vec<Bytes> = postfix.map(|node| node.range.clone()).filter(is_it).collect();
    all.sort_by_key(|range| range.start.abs_diff(site.range.start));
    all.dedup();
    all.truncate(3);
    all
}

/// Reaches through the box of an optional field: `self.details.as_ref()`, `self.details` or `&self.details` becomes
/// `self.details.as_deref()`.
fn through(site: &Site<'_>, field: &Bytes, method: &str) -> Replace {
    let plain = if method == "as_deref" { "as_ref" } else { "as_mut" };
    let whole = site.syntax.around(field).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if receiver == field && name == plain => Some(node.range.clone()),
        Kind::Ref { of: referent } if referent == field => Some(node.range.clone()),
        _ => None,
    });
    let end = whole.unwrap_or_else(|| field.clone());
    site.replace(end, format!("{}.{method}()", site.at(field)))
}

/// Gives the box to the declarations that the error names: a parameter, a result, or a variable with the type of the value.
fn declared(site: &Site<'_>, inner: &str) -> Vec<Vec<Replace>> {
    let children = site.error.children.iter().flat_map(|child| &child.spans);
    let spans = site.error.spans.iter().filter(|span| !span.is_primary).chain(children);
    let mut all = Vec::new();
    for span in spans.filter(|span| span.suggested_replacement.is_none() && span.expansion.is_none()) {
        let file = PathBuf::from(&span.file_name);
        let Some(text) = site.tree.read(&file) else { continue };
        let bytes = range(span);
        let Some(part) = text.get(bytes.clone()) else { continue };
        // Only what stands alone is a type, or the type of a parameter.
        let is_type = |text: &str| syn::parse_str::<syn::Type>(text.trim()).is_ok();
        let start = if is_type(part) { 0 } else { part.find(':').map_or(part.len(), |at| at + 1) };
        if !part.get(start..).is_some_and(is_type) {
            continue;
        }
        if let Some(at) = word(&part[start..], inner) {
            let at = bytes.start + start + at;
            all.push(vec![Replace { file, range: at..at + inner.len(), with: format!("Box<{inner}>") }]);
        }
    }
    all
}

/// Returns where a text has a type as a whole.
fn word(text: &str, ty: &str) -> Option<usize> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(ty).map(|(at, _)| at).find(|&at| {
        let (before, after) = (&text[..at], &text[at + ty.len()..]);
        !before.ends_with(is_word)
            && !before.ends_with("Box<")
            && !after.starts_with(|letter| is_word(letter) || letter == ':')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_as_a_whole() {
        assert_eq!(word("&mut Option<Value>", "Value"), Some(12));
        assert_eq!(word("Values<m::Value>", "Value"), Some(10));
        assert_eq!(word("Box<Value>", "Value"), None);
    }
}

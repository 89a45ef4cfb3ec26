//! A struct where its `Sparse` is expected, the reverse, and writes to its fields.

use super::super::moves::Becomes;
use super::{Replace, Site, argument};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Becomes::Sparse(field) = site.becomes else { return None };
    if matches!(site.code(), "E0594" | "E0596") {
        return written(site, field);
    }
    let (expected, found) = site.types()?;
    if argument(expected, "Sparse").is_some_and(|of| of == found) {
        return site.call(&site.range, ".into()");
    }
    if argument(found, "Sparse").is_some_and(|of| of == expected) {
        return site.call(&site.range, ".into_inner()");
    }
    None
}

/// `self.extra.name = name` becomes `self.extra.get_mut_or_default().name = name`.
fn written(site: &Site<'_>, field: &str) -> Option<Vec<Replace>> {
    let text = site.source();
    let is_word = |of: char| of.is_alphanumeric() || of == '_';
    let wanted = format!(".{field}");
    let mut ends = text.match_indices(&wanted).map(|(at, _)| at + wanted.len());
    let end = ends.find(|end| !text[*end..].starts_with(is_word))?;
    if text[end..].starts_with(".get_mut_or_default()") {
        return None;
    }
    let at = site.range.start + end;
    Some(vec![site.replace(at..at, ".get_mut_or_default()")])
}

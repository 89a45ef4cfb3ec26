//! `Option<T>` where `Option<Box<T>>` is expected, and the reverse.

use super::super::moves::Becomes;
use super::super::syntax::Kind;
use super::{Replace, Site, argument, range, unboxed};
use std::path::PathBuf;

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (expected, found) = site.types()?;
    if let (Some(wanted), Some(given)) = (argument(expected, "Option"), argument(found, "Option")) {
        return match (wanted, given) {
            _ if unboxed(wanted).is_some() && unboxed(given).is_none() && !given.starts_with('&') => {
                site.call(&site.range, ".map(Box::new)")
            }
            _ if unboxed(given).is_some() && unboxed(wanted).is_none() && !wanted.starts_with('&') => {
                site.call(&site.range, ".map(|value| *value)")
            }
            _ if given.starts_with("&mut ") && is_boxed_reference(given) && !is_boxed_reference(wanted) => {
                dereference(site, "as_mut", ".as_deref_mut()", ".map(|value| &mut **value)")
            }
            _ if given.starts_with('&') && is_boxed_reference(given) && !is_boxed_reference(wanted) => {
                dereference(site, "as_ref", ".as_deref()", ".map(|value| &**value)")
            }
            _ => None,
        };
    }
    parameter(site, expected, found)
}

/// Returns `true` for `&Box<T>` and `&mut Box<T>`.
fn is_boxed_reference(ty: &str) -> bool {
    let of = ty.trim_start_matches('&').trim_start_matches("mut ");
    ty.starts_with('&') && unboxed(of).is_some()
}

/// Replaces `.as_ref()` by `.as_deref()`, or maps the option.
fn dereference(site: &Site<'_>, method: &str, instead: &str, otherwise: &str) -> Option<Vec<Replace>> {
    let receiver = site.syntax.at(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if name == method => Some(receiver.clone()),
        _ => None,
    });
    match receiver {
        Some(receiver) => Some(vec![site.replace(receiver.end..site.range.end, instead)]),
        None => site.call(&site.range, otherwise),
    }
}

/// `&Option<Box<T>>` is given for `&Option<T>`: the function's parameter gets the box, because an option behind a
/// reference cannot be converted.
fn parameter(site: &Site<'_>, expected: &str, found: &str) -> Option<Vec<Replace>> {
    let of = |ty: &str| Some(ty.strip_prefix('&')?.trim_start_matches("mut ").to_owned());
    let (expected, found) = (of(expected)?, of(found)?);
    let (wanted, given) = (argument(&expected, "Option")?, argument(&found, "Option")?);
    if unboxed(given).is_none() || unboxed(wanted).is_some() {
        return None;
    }
    let Becomes::Boxed(inner) = site.becomes else { return None };
    let old = format!("Option<{inner}>");
    let spans = site.error.children.iter().flat_map(|child| &child.spans);
    // The note "function defined here" has the parameters that matter.
    spans.filter(|span| span.suggested_replacement.is_none()).find_map(|span| {
        let file = PathBuf::from(&span.file_name);
        let text = site.tree.read(&file)?;
        let bytes = range(span);
        let at = bytes.start + text.get(bytes.clone())?.find(&old)?;
        Some(vec![Replace { file, range: at..at + old.len(), with: format!("Option<Box<{inner}>>") }])
    })
}

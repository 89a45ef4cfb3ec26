//! `Option<T>` where `Option<Box<T>>` is expected, and the reverse.

use super::super::moves::Becomes;
use super::super::syntax::{Bytes, Kind, dense};
use super::{Replace, Site, argument, range, unboxed};
use std::path::PathBuf;

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    if site.code() == "E0507" {
        return copied(site);
    }
    let (expected, found) = site.types()?;
    if let (Some(wanted), Some(given)) = (argument(expected, "Option"), argument(found, "Option")) {
        // Texts and slices are converted, and not boxed.
        let is_of_value = |ty: &str| unboxed(ty).is_some_and(|inner| inner != "str" && !inner.starts_with('['));
        return match (wanted, given) {
            _ if is_of_value(wanted) && unboxed(given).is_none() && !given.starts_with('&') => {
                site.call(&site.range, ".map(Box::new)")
            }
            _ if is_of_value(given) && unboxed(wanted).is_none() && !wanted.starts_with('&') => {
                site.call(&site.range, ".map(|value| *value)")
            }
            _ if given.starts_with("&mut ") && is_boxed_reference(given) && !is_boxed_reference(wanted) => {
                dereference(site, "as_mut", ".as_deref_mut()", ".map(|value| &mut **value)")
            }
            _ if given.starts_with('&') && is_boxed_reference(given) && !is_boxed_reference(wanted) => {
                dereference(site, "as_ref", ".as_deref()", ".map(|value| &**value)")
            }
            // `as_deref` went through the value, and goes through the box now.
            _ if is_inner(site, given) && !is_inner(site, wanted) && wanted.starts_with('&') => {
                let through = if given.starts_with("&mut ") { "&mut " } else { "&" };
                deref_further(site, through)
            }
            _ => None,
        };
    }
    if let (Some(wanted), Some(given)) = (of_result(expected), of_result(found)) {
        return match (unboxed(wanted), unboxed(given)) {
            (None, Some(inner)) if inner == wanted => site.call(&site.range, ".map(|value| *value)"),
            (Some(inner), None) if inner == given => site.call(&site.range, ".map(Box::new)"),
            _ => None,
        };
    }
    parameter(site, expected, found)
}

/// Returns `T` of `Result<T, E>`.
fn of_result(ty: &str) -> Option<&str> {
    let all = argument(ty, "Result")?;
    let mut depth = 0_i32;
    let is_end = |letter: char| {
        depth += i32::from("<([".contains(letter)) - i32::from(">)]".contains(letter));
        depth == 0 && letter == ','
    };
    Some(&all[..all.find(is_end)?])
}

/// A box is moved out of a reference, where the value was copied before: `self.span` becomes `self.span.as_deref().copied()`.
fn copied(site: &Site<'_>) -> Option<Vec<Replace>> {
    let labels = site.error.spans.iter().filter_map(|span| span.label.as_deref());
    let children = site.error.children.iter().map(|child| child.message.as_str());
    let ty = labels.chain(children).find_map(|text| {
        let (_, rest) = text.split_once("move occurs because ")?;
        rest.split_once("has type `")?.1.split_once('`').map(|(ty, _)| ty)
    })?;
    unboxed(argument(ty, "Option")?)?;
    if !site.syntax.is_postfix(&site.range) {
        return None;
    }
    // An earlier repair may have taken the value out of the box.
    let is_mapped = |range: &super::Bytes| site.at(&(site.range.end..range.end)).trim() == ".map(|value| *value)";
    let mapped = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, .. } if *receiver == site.range && is_mapped(&node.range) => Some(node.range.clone()),
        _ => None,
    });
    // A closure gets a reference, which it reads as it reads the box.
    let has_closure = site.syntax.around(&site.range).any(|node| {
        const CLOSURES: [&str; 6] = ["map", "map_or", "map_or_else", "and_then", "is_some_and", "is_none_or"];
        matches!(&node.kind, Kind::Method { receiver, name, .. }
            if *receiver == site.range && CLOSURES.contains(&name.as_str()))
    });
    let copied = if has_closure && mapped.is_none() { "" } else { ".copied()" };
    let range = mapped.unwrap_or_else(|| site.range.clone());
    Some(vec![site.replace(range, format!("{}.as_deref(){copied}", site.source()))])
}

/// Returns `true` for `&Box<T>` and `&mut Box<T>`.
fn is_boxed_reference(ty: &str) -> bool {
    let inner = ty.trim_start_matches('&').trim_start_matches("mut ");
    ty.starts_with('&') && unboxed(inner).is_some()
}

/// Returns `true` for a reference to the type that was boxed.
fn is_inner(site: &Site<'_>, ty: &str) -> bool {
    let name = |ty: &str| ty.rsplit("::").next().unwrap_or_default().to_owned();
    matches!(site.becomes, Becomes::Boxed(inner) if ty.starts_with('&')
        && name(ty.trim_start_matches('&').trim_start_matches("mut ")) == name(inner))
}

/// `title.as_deref()` becomes `title.as_deref().map(|value| &**value)`.
fn deref_further(site: &Site<'_>, through: &str) -> Option<Vec<Replace>> {
    let is_deref = site.syntax.at(&site.range).any(
        |node| matches!(&node.kind, Kind::Method { name, .. } if ["as_deref", "as_deref_mut"].contains(&name.as_str())),
    );
    is_deref.then(|| site.call(&site.range, &format!(".map(|value| {through}**value)"))).flatten()
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
/// reference cannot be converted. If other calls have no box, it becomes `Option<&T>`.
fn parameter(site: &Site<'_>, expected: &str, found: &str) -> Option<Vec<Replace>> {
    let with = |ty: &str| Some(ty.strip_prefix('&')?.trim_start_matches("mut ").to_owned());
    let Becomes::Boxed(inner) = site.becomes else { return None };
    let found_in = with(found)?;
    let given = argument(&found_in, "Option")?;
    if let Some(wanted) = argument(expected, "Option") {
        let is_it = wanted.starts_with('&') && !is_boxed_reference(wanted) && unboxed(given).is_some();
        return is_it.then(|| vec![referenced(site, "as_deref")]);
    }
    let expected = with(expected)?;
    let wanted = argument(&expected, "Option")?;
    match (unboxed(wanted), unboxed(given)) {
        (None, Some(_)) => {
            if let Some(taken) = taken(site) {
                return Some(vec![taken]);
            }
            let boxed = |text: &str| boxed_option(text, inner);
            Some(vec![signature(site, &boxed).or_else(|| returned(site, &boxed))?])
        }
        (Some(_), None) => {
            let (old, new) = (format!("&Option<Box<{inner}>>"), format!("Option<&{inner}>"));
            let reference = |text: &str| {
                let at = text.find(&old)?;
                Some((at..at + old.len(), new.clone()))
            };
            let parameter = signature(site, &reference)?;
            Some(vec![parameter, referenced(site, "as_ref")])
        }
        _ => None,
    }
}

/// `mem::take(&mut self.details)` becomes `mem::take(&mut self.details).map(|value| *value)`.
fn taken(site: &Site<'_>) -> Option<Replace> {
    let call = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Call { arguments } if arguments.first() == Some(&site.range) => Some(node.range.clone()),
        _ => None,
    })?;
    let function = site.at(&call).split('(').next()?;
    let is_of_std =
        ["take", "replace"].iter().any(|name| function == *name || function.ends_with(&format!("mem::{name}")));
    is_of_std.then(|| site.replace(call.end..call.end, ".map(|value| *value)"))
}

/// `&self.author` becomes `self.author.as_ref()`.
fn referenced(site: &Site<'_>, method: &str) -> Replace {
    let referenced = site.syntax.at(&site.range).find_map(|node| match &node.kind {
        Kind::Ref { of: referent } => Some(referent.clone()),
        _ => None,
    });
    let referenced = referenced.unwrap_or_else(|| site.range.clone());
    let text = site.at(&referenced);
    let text = if site.syntax.is_postfix(&referenced) { text.to_owned() } else { format!("({text})") };
    site.replace(site.range.clone(), format!("{text}.{method}()"))
}

/// Finds a part of a text, and returns what stands there instead.
type Change<'a> = dyn Fn(&str) -> Option<(Bytes, String)> + 'a;

/// `Option<model::T>` becomes `Option<Box<model::T>>`, where the last name is that of `inner`.
fn boxed_option(text: &str, inner: &str) -> Option<(Bytes, String)> {
    const HEAD: &str = "Option<";
    let last = |ty: &str| dense(ty).rsplit("::").next().unwrap_or_default().to_owned();
    text.match_indices(HEAD).find_map(|(at, _)| {
        let start = at + HEAD.len();
        let mut depth = 1_i32;
        let is_end = |letter: char| {
            depth += i32::from(letter == '<') - i32::from(letter == '>');
            depth == 0
        };
        let end = start + text[start..].find(is_end)?;
        let ty = &text[start..end];
        (ty.trim() == inner || last(ty) == last(inner)).then(|| (start..end, format!("Box<{ty}>")))
    })
}

/// Changes the type that the function around the place returns.
fn returned(site: &Site<'_>, changed: &Change<'_>) -> Option<Replace> {
    let is_it = |label: &Option<String>| label.as_deref().is_some_and(|text| text.ends_with("because of return type"));
    let span = site.error.spans.iter().find(|span| is_it(&span.label) && span.file_name == site.span.file_name)?;
    let bytes = range(span);
    let (old, new) = changed(site.at(&bytes))?;
    Some(site.replace(bytes.start + old.start..bytes.start + old.end, new))
}

/// Changes a type in the signature of the function that is called.
fn signature(site: &Site<'_>, changed: &Change<'_>) -> Option<Replace> {
    let spans = site.error.children.iter().flat_map(|child| &child.spans);
    // The note "function defined here" has the parameters that matter.
    spans.filter(|span| span.suggested_replacement.is_none()).find_map(|span| {
        let file = PathBuf::from(&span.file_name);
        let text = site.tree.read(&file)?;
        let bytes = range(span);
        let (old, with) = changed(text.get(bytes.clone())?)?;
        Some(Replace { file, range: bytes.start + old.start..bytes.start + old.end, with })
    })
}

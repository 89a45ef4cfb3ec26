//! Patterns of the boxed type: a box has no patterns, so it is bound to a name and taken apart in the body.

use super::super::moves::Becomes;
use super::super::syntax::{By, Bytes, Kind, has_inner_path};
use super::matched::{free_name, is_box, is_mut, scrutinee_type};
use super::{Replace, Site, nested, quoted_after, range, unboxed};
use std::collections::BTreeSet;

/// A struct's pattern in the place of the box: `Expr::Call(Call { name, .. }) => body` becomes
/// `Expr::Call(boxed) => { let Call { name, .. } = &**boxed; body }`.
pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (expected, found) = site.types()?;
    let bindings = site.syntax.pattern(&site.range)?;
    if unboxed(expected).is_none()
        || unboxed(found).is_some()
        || scrutinee_type(site).is_some_and(|(_, ty)| is_box(&ty))
    {
        return None;
    }
    let pattern = site.source();
    let is_refutable = bindings.is_refutable || has_inner_path(pattern);
    if is_refutable || (nested::is_guarded(site) && !bindings.names.is_empty()) {
        return nested::repair(site, bindings, is_refutable);
    }
    if bindings.names.is_empty() {
        return Some(vec![site.replace(site.range.clone(), "_")]);
    }
    let body = body(site)?;
    let name = free_name(site);
    let (bound, value) = match scrutinee_type(site) {
        Some((_, ty)) if is_mut(&ty) => (name.clone(), format!("&mut **{name}")),
        Some((_, ty)) if ty.contains('&') => (name.clone(), format!("&**{name}")),
        _ if bindings.has(By::RefMut) => (format!("ref mut {name}"), format!("**{name}")),
        _ if bindings.has(By::Ref) => (format!("ref {name}"), format!("**{name}")),
        _ => (name.clone(), format!("*{name}")),
    };
    let statement = format!("let {pattern} = {value};");
    let mut all = vec![site.replace(site.range.clone(), bound)];
    match body {
        Body::Block(block) => all.push(site.replace(block.start + 1..block.start + 1, format!(" {statement}"))),
        Body::Value(value) => {
            all.push(site.replace(value.start..value.start, format!("{{ {statement} ")));
            all.push(site.replace(value.end..value.end, " }"));
        }
        Body::After(end) => all.push(site.replace(end..end, format!(" {statement}"))),
    }
    Some(all)
}

/// `match *self` copied what its patterns bind, and would move the box: its name becomes `ref pos`. If the patterns bind nothing else,
/// rustc's suggestion is shorter, `match self`.
pub(super) fn repair_moved(site: &Site<'_>) -> Option<Vec<Replace>> {
    let is_about_box = || {
        let labels = site.error.spans.iter().filter_map(|span| span.label.as_deref());
        let notes = site.error.children.iter().flat_map(|child| &child.spans).filter_map(|span| span.label.as_deref());
        labels.chain(notes).any(|label| label.contains("Box<"))
    };
    if site.code() != "E0507" || !site.source().starts_with('*') || !is_about_box() {
        return None;
    }
    let whole = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Match { scrutinee } if *scrutinee == site.range => Some(node.range.clone()),
        _ => None,
    })?;
    let is_moved = |label: &Option<String>| {
        label.as_deref().is_some_and(|label| label.starts_with("data moved here") || label == "...and here")
    };
    let spans = site.error.spans.iter().filter(|span| is_moved(&span.label) && span.expansion.is_none());
    let moved: BTreeSet<usize> = spans.map(|span| range(span).start).collect();
    let patterns = site.syntax.within(&whole).filter_map(|node| match &node.kind {
        Kind::Arm { pattern, .. } => site.syntax.pattern(pattern),
        _ => None,
    });
    let all = patterns.map(|bindings| bindings.names.len()).sum::<usize>();
    let is_name = |at: &usize| site.text[*at..].starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    (all > moved.len() && !moved.is_empty() && moved.iter().all(is_name))
        .then(|| moved.iter().map(|at| site.replace(*at..*at, "ref ")).collect())
}

/// The box itself is matched, by a variant of the boxed type: the scrutinee is dereferenced.
pub(super) fn repair_scrutinee(site: &Site<'_>) -> Option<Vec<Replace>> {
    site.syntax.pattern(&site.range)?;
    let (at, ty) = scrutinee_type(site)?;
    let text = site.at(&at).to_owned();
    let inner = site.syntax.at(&at).find_map(|node| match &node.kind {
        Kind::Ref { of: referent } => Some(referent.clone()),
        _ => None,
    });
    let method = |name: &str| {
        site.syntax.at(&at).find_map(|node| match &node.kind {
            Kind::Method { receiver, name: method, arguments } if method == name && arguments.is_empty() => {
                Some(receiver.clone())
            }
            _ => None,
        })
    };
    let parenthesized = if site.syntax.is_postfix(&at) { text.clone() } else { format!("({text})") };
    let with = if let Some(value) = ty.strip_prefix("&mut ") {
        if unboxed(value).is_some() {
            inner.map_or_else(|| format!("&mut **{parenthesized}"), |place| format!("&mut *{}", site.at(&place)))
        } else {
            boxed_option(value)?;
            inner.map_or_else(
                || format!("{parenthesized}.as_deref_mut()"),
                |place| format!("{}.as_deref_mut()", site.at(&place)),
            )
        }
    } else if let Some(value) = ty.strip_prefix('&') {
        if unboxed(value).is_some() {
            inner.map_or_else(|| format!("&**{parenthesized}"), |place| format!("&*{}", site.at(&place)))
        } else {
            boxed_option(value)?;
            inner.map_or_else(
                || format!("{parenthesized}.as_deref()"),
                |place| format!("{}.as_deref()", site.at(&place)),
            )
        }
    } else if unboxed(&ty).is_some() {
        format!("*{text}")
    } else {
        let option = boxed_option(&ty)?;
        if option.starts_with("&mut ") {
            method("as_mut").map_or_else(
                || format!("{parenthesized}.map(|value| &mut **value)"),
                |place| format!("{}.as_deref_mut()", site.at(&place)),
            )
        } else if option.starts_with('&') {
            method("as_ref").map_or_else(
                || format!("{parenthesized}.map(|value| &**value)"),
                |place| format!("{}.as_deref()", site.at(&place)),
            )
        } else if site.syntax.pattern(&site.range).is_some_and(|bindings| !bindings.has(By::Value))
            && !text.contains('(')
        {
            // Nothing is moved out of a place.
            format!("{parenthesized}.as_deref()")
        } else {
            format!("{parenthesized}.map(|value| *value)")
        }
    };
    (with != text).then(|| vec![site.replace(at, with)])
}

/// A `*` for the box stays where another repair took the box away.
pub(super) fn repair_star(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Becomes::Boxed(inner) = site.becomes else { return None };
    let last = |ty: &str| ty.rsplit("::").next().map(str::to_owned);
    // "type `Value` cannot be dereferenced"
    let ty = quoted_after(&site.error.message, "type ").filter(|_| site.code() == "E0614")?;
    let start = site.range.start;
    (last(ty) == last(inner) && site.source().starts_with('*')).then(|| vec![site.replace(start..start + 1, "")])
}

/// Returns `&Box<T>` or `Box<T>` of `Option<&Box<T>>` or `Option<Box<T>>`.
fn boxed_option(ty: &str) -> Option<&str> {
    super::argument(ty, "Option").filter(|inner| is_box(inner))
}

/// Where the names of a pattern are used.
enum Body {
    /// In a block.
    Block(Bytes),
    /// In an expression.
    Value(Bytes),
    /// After the end of a statement.
    After(usize),
}

/// Returns where the pattern's names are used. `None` if the pattern is one of several alternatives.
fn body(site: &Site<'_>) -> Option<Body> {
    let inside = |range: &Bytes| range.start <= site.range.start && site.range.end <= range.end;
    for node in site.syntax.around(&site.range) {
        match &node.kind {
            Kind::Or { .. } | Kind::Matches { .. } => return None,
            Kind::Arm { pattern, body, is_block, .. } if inside(pattern) => {
                return match is_block {
                    true => Some(Body::Block(body.clone())),
                    false => Some(Body::Value(body.clone())),
                };
            }
            Kind::Let { pattern, body, .. } if inside(pattern) => return body.clone().map(Body::Block),
            Kind::Local { pattern, .. } if inside(pattern) => return Some(Body::After(node.range.end)),
            _ => {}
        }
    }
    None
}

//! Comparisons of a box with a value: the box is dereferenced, so that the other side needs no allocation.

use super::super::syntax::{Bytes, Kind};
use super::{Replace, Site, argument, quoted_after, unboxed};

/// Returns what a box, or a shared text or list, derefs to.
fn inside(ty: &str) -> Option<&str> {
    unboxed(ty).or_else(|| argument(ty, "Arc"))
}

/// The two sides have no common comparison: `Box<str>` and `&str`.
fn different(site: &Site<'_>) -> Option<Vec<Replace>> {
    let message = &site.error.message;
    let (left_type, right_type) = match site.code() {
        "E0277" => (quoted_after(message, "can't compare ")?, quoted_after(message, "with ")?),
        "E0308" => site
            .types()
            .filter(|(expected, found)| inside(expected) != unboxed(expected) || inside(found) != unboxed(found))?,
        _ => return None,
    };
    let around = site.syntax.around(&site.range).chain(site.syntax.within(&site.range));
    let (left, right) = around
        .filter_map(|node| match &node.kind {
            Kind::Compare { left, right } => Some((left.clone(), right.clone())),
            _ => None,
        })
        .find(|(_, right)| site.code() == "E0277" || *right == site.range)?;
    let options = [left_type, right_type].map(|ty| argument(ty, "Option"));
    if let [Some(one), Some(other)] = options {
        let parts = [(one, other, &left), (other, one, &right)];
        let parts = parts.into_iter().filter(|(ty, ..)| inside(ty).is_some());
        let mut all = Vec::new();
        for (_, other, part) in parts {
            let _ = other.strip_prefix('&')?;
            all.extend(site.call(part, ".as_deref()")?);
        }
        return Some(all).filter(|all| !all.is_empty());
    }
    let is_reference = |ty: &str| ty.starts_with('&');
    let is_owned = |ty: &str| ty.ends_with("String") || ty.contains("Vec<");
    // `&*name == "text"`, `*name == *other`
    let with = match (inside(left_type), inside(right_type)) {
        (Some(_), None) if is_reference(right_type) => [Some("&*"), None],
        (None, Some(_)) if is_reference(left_type) => [None, Some("&*")],
        (Some(_), Some(_)) => [Some("*"), Some("*")],
        (Some(_), None) => [Some("*"), Some("*").filter(|_| is_owned(right_type))],
        (None, Some(_)) => [Some("*").filter(|_| is_owned(left_type)), Some("*")],
        (None, None) => return None,
    };
    let parts = [&left, &right].into_iter().zip(with);
    Some(parts.filter_map(|(part, with)| Some(site.replace(part.start..part.start, with?))).collect())
}

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    if let Some(all) = different(site) {
        return Some(all);
    }
    let range = &site.range;
    let compare = site.syntax.around(range).find_map(|node| match &node.kind {
        Kind::Compare { left, right } => Some((left.clone(), right.clone())),
        _ => None,
    });
    let (left, right) = compare?;
    let inside = |part: &Bytes| part.start <= range.start && range.end <= part.end;
    let (expected, found) = site.types()?;
    if *range == right && unboxed(expected).is_some() && unboxed(found).is_none() {
        return Some(vec![site.replace(left.start..left.start, "*")]);
    }
    if *range == right && unboxed(found).is_some() && unboxed(expected).is_none() {
        return Some(vec![site.replace(right.start..right.start, "*")]);
    }
    // `self.kind == Some(value)`: the error is at `value`.
    if inside(&right) && unboxed(expected).is_some() && unboxed(found).is_none() {
        let is_some = site
            .syntax
            .at(&right)
            .any(|node| matches!(&node.kind, Kind::Call { arguments } if arguments[..] == [range.clone()]));
        if is_some && site.at(&right).starts_with("Some(") {
            let mut all = site.call(&left, ".as_deref()")?;
            all.push(site.replace(range.start..range.start, "&"));
            return Some(all);
        }
    }
    // `self.name.as_ref() == Some(&key)`: the error is at `&key`.
    let is_reference = |ty: &str, boxed: bool| {
        let inner = ty.trim_start_matches('&').trim_start_matches("mut ");
        ty.starts_with('&') && unboxed(inner).is_some() == boxed
    };
    if inside(&right) && is_reference(expected, true) && is_reference(found, false) {
        let receiver = site.syntax.at(&left).find_map(|node| match &node.kind {
            Kind::Method { receiver, name, .. } if name == "as_ref" => Some(receiver.clone()),
            _ => None,
        });
        return receiver.map(|receiver| vec![site.replace(receiver.end..left.end, ".as_deref()")]);
    }
    let is_option =
        |ty: &str, boxed: bool| argument(ty, "Option").is_some_and(|inner| unboxed(inner).is_some() == boxed);
    if *range == right && is_option(expected, true) && is_option(found, false) {
        let mut all = site.call(&left, ".as_deref()")?;
        all.extend(referring(site, &right)?);
        return Some(all);
    }
    if *range == right && is_option(expected, false) && is_option(found, true) {
        let mut all = referring(site, &left)?;
        all.extend(site.call(&right, ".as_deref()")?);
        return Some(all);
    }
    None
}

/// An option of a reference to the value: `Some(&value)` for `Some(value)`, else `option.as_ref()`.
fn referring(site: &Site<'_>, option: &Bytes) -> Option<Vec<Replace>> {
    let argument = site.syntax.at(option).find_map(|node| match &node.kind {
        Kind::Call { arguments } if site.at(option).starts_with("Some(") => arguments.first().map(|only| only.start),
        _ => None,
    });
    argument.map_or_else(|| site.call(option, ".as_ref()"), |at| Some(vec![site.replace(at..at, "&")]))
}

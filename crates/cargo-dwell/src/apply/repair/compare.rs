//! Comparisons of a box with a value: the box is dereferenced, so that the other side needs no allocation.

use super::super::syntax::{Bytes, Kind};
use super::{Replace, Site, argument, unboxed};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
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
        all.extend(site.call(&right, ".as_ref()")?);
        return Some(all);
    }
    if *range == right && is_option(expected, false) && is_option(found, true) {
        let mut all = site.call(&left, ".as_ref()")?;
        all.extend(site.call(&right, ".as_deref()")?);
        return Some(all);
    }
    None
}

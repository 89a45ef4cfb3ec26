//! The items of an iterator are boxes: they are taken out where the iterator ends, `all.map(|value| *value).collect()`, or where an option
//! is one, `self.details.as_deref().into_iter()`.

use super::super::syntax::{Bytes, Kind};
use super::{Replace, Site, argument, quoted_after, range, unboxed};

/// Repairs an iterator that gives boxes to what takes the values.
pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let item = match site.code() {
        "E0271" => quoted_after(&site.error.message, "but it yields ")?.to_owned(),
        "E0277" => {
            let labels = site.error.spans.iter().filter_map(|span| span.label.as_deref());
            labels.chain([&*site.error.message]).find_map(item_of)?
        }
        _ => return None,
    };
    let item = item.replace("std::boxed::", "").replace("std::option::", "");
    let take = match argument(&item, "Option").unwrap_or(&item) {
        ty if ty.starts_with("&mut ") && unboxed(&ty[5..]).is_some() => "&mut **value",
        ty if ty.starts_with('&') && unboxed(&ty[1..]).is_some() => "&**value",
        ty if is_value(ty) => "*value",
        _ => return None,
    };
    let iterator = iterator(site)?;
    if argument(&item, "Option").is_some() {
        let body = mapped(site, &iterator)?;
        let (text, method) = (site.at(&body), format!(".map(|value| {take})"));
        let text = if site.syntax.is_postfix(&body) { text.to_owned() } else { format!("({text})") };
        return Some(vec![site.replace(body, format!("{text}{method}"))]);
    }
    // The option that was changed gives at most one.
    let own = site.syntax.at(&iterator).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, arguments } if arguments.is_empty() => {
            let field = site.at(receiver).rsplit('.').next()?.trim();
            let through = match name.as_str() {
                "iter" => ".as_deref().into_iter()",
                "iter_mut" => ".as_deref_mut().into_iter()",
                _ => return None,
            };
            let is_it = site.at(receiver).contains('.') && site.names.iter().any(|name| name == field);
            is_it.then(|| site.replace(receiver.end..iterator.end, through))
        }
        _ => None,
    });
    own.map(|own| vec![own]).or_else(|| site.call(&iterator, &format!(".map(|value| {take})")))
}

/// Returns the item in "cannot be built from `std::iter::Iterator<Item=&Box<T>>`", or in "over elements of type `&Box<T>`".
fn item_of(text: &str) -> Option<String> {
    let item = text.split_once("Iterator<Item=").and_then(|(_, rest)| rest.split_once(">`")).map(|(item, _)| item);
    Some(item.or_else(|| quoted_after(text, "elements of type "))?.to_owned())
}

fn is_value(ty: &str) -> bool {
    unboxed(ty).is_some_and(|inner| inner != "str" && !inner.starts_with('['))
}

/// Returns the iterator: what `collect` is called for, what a function returns, or the expression at the place.
fn iterator(site: &Site<'_>) -> Option<Bytes> {
    let receiver = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if receiver.end <= site.range.start => {
            ["collect", "sum", "product", "extend"].contains(&name.as_str()).then(|| receiver.clone())
        }
        _ => None,
    });
    let returned = || {
        let is_it = |label: &Option<String>| {
            label.as_deref().is_some_and(|text| text.starts_with("return type was inferred to be"))
        };
        let span = site.error.spans.iter().find(|span| is_it(&span.label) && span.file_name == site.span.file_name)?;
        Some(range(span))
    };
    receiver.or_else(returned).or_else(|| site.syntax.is_expr(&site.range).then(|| site.range.clone()))
}

/// Returns the body of the closure in `all.iter().map(|entry| entry.details.clone())`.
fn mapped(site: &Site<'_>, iterator: &Bytes) -> Option<Bytes> {
    let argument = site.syntax.at(iterator).find_map(|node| match &node.kind {
        Kind::Method { name, arguments, .. } if name == "map" && arguments.len() == 1 => Some(arguments[0].clone()),
        _ => None,
    })?;
    let syn::Expr::Closure(closure) = syn::parse_str(site.at(&argument)).ok()? else { return None };
    let body = syn::spanned::Spanned::span(&closure.body).byte_range();
    let is_plain = !matches!(*closure.body, syn::Expr::Block(_));
    is_plain.then(|| argument.start + body.start..argument.start + body.end)
}

//! A trait that a box does not implement: the value is passed instead of the box.

use super::super::syntax::Kind;
use super::{Replace, Site, quoted_after};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    if site.code() != "E0277" {
        return None;
    }
    if let Some(boxed) = conversion(site) {
        return Some(boxed);
    }
    if !site.syntax.is_expr(&site.range) {
        return None;
    }
    // "the trait bound `&Box<T>: Trait` is not satisfied", "`Box<T>` doesn't implement `Trait`"
    let message = &site.error.message;
    let ty = quoted_after(message, "bound ").or_else(|| quoted_after(message, ""))?;
    let text =
        if site.syntax.is_postfix(&site.range) { site.source().to_owned() } else { format!("({})", site.source()) };
    let stars = match ty {
        _ if ty.starts_with("&mut Box<") => "&mut **",
        _ if ty.starts_with("&Box<") => "&**",
        _ if ty.starts_with("Box<") => "*",
        // `Node: From<&Box<T>>`
        _ if ty.contains("<&mut Box<") => "&mut **",
        _ if ty.contains("<&Box<") => "&**",
        _ if ty.contains("From<Box<") => "*",
        _ => return None,
    };
    let with = match site.shorthand(&site.range) {
        Some(name) => format!("{name}: {stars}{name}"),
        None => format!("{stars}{text}"),
    };
    Some(vec![site.replace(site.range.clone(), with)])
}

/// `text.into()` and `text.parse()?` where a box is expected: the value is made, and then the box.
fn conversion(site: &Site<'_>) -> Option<Vec<Replace>> {
    let bound = quoted_after(&site.error.message, "bound ")?;
    if !bound.starts_with("Box<")
        || !bound.contains(">: From<") && !bound.contains(">: FromStr") && !bound.contains(">: std::str::FromStr")
    {
        return None;
    }
    let call = site.syntax.around(&site.range).find(|node| {
        matches!(&node.kind, Kind::Method { name, arguments, .. } if ["into", "parse"].contains(&name.as_str()) && arguments.is_empty())
    })?;
    let mut range = call.range.clone();
    if site.text.get(range.end..).is_some_and(|rest| rest.starts_with('?')) {
        range.end += 1;
    }
    let value = site.at(&range).to_owned();
    Some(vec![site.replace(range, format!("Box::new({value})"))])
}

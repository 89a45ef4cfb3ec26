//! A trait that a box does not implement: the value is passed instead of the box.

use super::{Replace, Site, quoted_after};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    if site.code() != "E0277" || !site.syntax.is_expr(&site.range) {
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

//! A variant that is used as a function, `.map(Expr::Call)`, becomes a closure that makes the box. A function of the value,
//! `.as_ref().map(Call::name)`, gets it from `.as_deref()`, or from a closure.

use super::super::syntax::{Bytes, Kind};
use super::{Replace, Site, quoted_after, unboxed};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let mentions_box = || {
        let labels = site.error.spans.iter().filter_map(|span| span.label.as_deref());
        let notes = site.error.children.iter().map(|child| child.message.as_str());
        labels.chain(notes).any(|text| text.contains("Box<"))
    };
    let is_path = site.syntax.at(&site.range).any(|node| node.kind == Kind::Path);
    let is_function = match site.code() {
        "E0631" => true,
        "E0308" => site.types().is_some_and(|(expected, found)| expected.contains("fn(") && found.contains("fn(")),
        _ => false,
    };
    if site.code() == "E0271" && is_path {
        return made(site);
    }
    let path = site.source();
    // `alt((one, Kind::Huge))`: the argument is wrong, and not what is called.
    let is_called = site.text[site.range.end..].trim_start().starts_with('(');
    if is_called || !is_path || !is_function || !mentions_box() {
        return None;
    }
    let is_variant = path.rsplit("::").next().is_some_and(|name| name.starts_with(char::is_uppercase));
    if is_variant {
        let name = site.argument_name(site.range.start);
        return Some(vec![site.replace(site.range.clone(), format!("|{name}| {path}(Box::new({name}))"))]);
    }
    let method = |range: &Bytes| {
        site.syntax.at(range).find_map(|node| match &node.kind {
            Kind::Method { receiver, name, arguments } => Some((receiver.clone(), name.clone(), arguments.len())),
            _ => None,
        })
    };
    let call = site.syntax.around(&site.range).find(|node| matches!(node.kind, Kind::Method { .. }))?.range.clone();
    let (option, ..) = method(&call)?;
    Some(match method(&option) {
        Some((call, name, 0)) if name == "as_ref" || name == "as_mut" => {
            let with = if name == "as_ref" { ".as_deref()" } else { ".as_deref_mut()" };
            vec![site.replace(call.end..option.end, with)]
        }
        // A reference to the box becomes one to the value where it is passed.
        _ => vec![site.replace(site.range.clone(), format!("|value| {path}(value)"))],
    })
}

/// Calls of a function without an argument that makes a value.
const MAKES: [&str; 7] =
    ["get_or_insert_with", "or_insert_with", "unwrap_or_else", "or_else", "resize_with", "get_or_init", "then"];

/// A function whose result is to be a box: `get_or_insert_with(Details::default)` becomes `.. (|| Box::new(Details::default()))`.
fn made(site: &Site<'_>) -> Option<Vec<Replace>> {
    // "expected `default` to return `Box<Details>`, but it returns `Details`"
    let wanted = quoted_after(&site.error.message, "to return ")?;
    let given = quoted_after(&site.error.message, "it returns ")?;
    if unboxed(wanted)? != given {
        return None;
    }
    let path = site.source();
    let name = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { name, arguments, .. } if arguments.contains(&site.range) => Some(name.clone()),
        _ => None,
    })?;
    let parameter = if MAKES.contains(&name.as_str()) { "" } else { "value" };
    Some(vec![site.replace(site.range.clone(), format!("|{parameter}| Box::new({path}({parameter}))"))])
}

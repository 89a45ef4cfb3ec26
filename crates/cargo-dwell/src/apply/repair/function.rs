//! A variant that is used as a function, `.map(Expr::Call)`, becomes a closure that makes the box. A function of the value,
//! `.as_ref().map(Call::name)`, gets it from `.as_deref()`, or from a closure.

use super::super::syntax::{Bytes, Kind};
use super::{Replace, Site};

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
    let path = site.source();
    if !is_path || !is_function || !mentions_box() {
        return None;
    }
    let is_variant = path.rsplit("::").next().is_some_and(|name| name.starts_with(char::is_uppercase));
    if is_variant {
        return Some(vec![site.replace(site.range.clone(), format!("|value| {path}(Box::new(value))"))]);
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
        Some((of, name, 0)) if name == "as_ref" || name == "as_mut" => {
            let with = if name == "as_ref" { ".as_deref()" } else { ".as_deref_mut()" };
            vec![site.replace(of.end..option.end, with)]
        }
        // A reference to the box becomes one to the value where it is passed.
        _ => vec![site.replace(site.range.clone(), format!("|value| {path}(value)"))],
    })
}

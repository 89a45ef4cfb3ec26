//! A variant that is used as a function, `.map(Expr::Call)`: it becomes a closure that makes the box.

use super::super::syntax::Kind;
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
    let is_variant = path.rsplit("::").next().is_some_and(|name| name.starts_with(char::is_uppercase));
    (is_path && is_function && is_variant && mentions_box())
        .then(|| vec![site.replace(site.range.clone(), format!("|value| {path}(Box::new(value))"))])
}

//! In a `const fn` the methods of options cannot be called: a `match` does the same.

use super::super::syntax::Kind;
use super::{Replace, Site};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    if !matches!(site.code(), "E0658" | "E0015") {
        return None;
    }
    // The span is the call, or the name of the method.
    let (range, receiver, name) = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } => Some((node.range.clone(), receiver.clone(), name.clone())),
        _ => None,
    })?;
    let value = match (name.as_str(), site.at(&(receiver.end..range.end))) {
        ("as_deref", _) | ("map", ".map(|value| &**value)") => "&**value",
        ("map", ".map(|value| *value)") => "**value",
        _ => return None,
    };
    let receiver = site.at(&receiver);
    Some(vec![site.replace(range, format!("match &{receiver} {{ Some(value) => Some({value}), None => None }}"))])
}

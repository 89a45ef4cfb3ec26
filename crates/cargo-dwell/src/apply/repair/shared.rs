//! A text or list that is shared: `Arc<str>` for a `String`, `Arc<[T]>` for a `Vec<T>`, and the reverse.

use super::super::moves::Becomes;
use super::super::shared;
use super::super::syntax::Kind;
use super::{Replace, Site, argument, quoted_after};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Becomes::Shared(_) = site.becomes else { return None };
    match site.code() {
        "E0425" => outside(site),
        "E0277" => collected(site),
        "E0308" => converted(site),
        "E0596" => changed(site),
        _ => None,
    }
}

/// The kinds of types that this rule converts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    Text,
    List,
    SharedText,
    SharedList,
    Other,
}

impl Is {
    fn of(ty: &str) -> Self {
        let name = ty.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or_default();
        match (name, argument(ty, "Arc")) {
            ("String", _) => Self::Text,
            ("Vec", _) => Self::List,
            (_, Some("str")) => Self::SharedText,
            (_, Some(list)) if list.starts_with('[') || list.starts_with("Vec<") => Self::SharedList,
            _ => Self::Other,
        }
    }
}

fn converted(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (expected, found) = site.types()?;
    if let (Some(expected), Some(found)) = (argument(expected, "Option"), argument(found, "Option")) {
        return match (Is::of(expected), Is::of(found)) {
            (Is::SharedText, Is::Text) => site.call(&site.range, &format!(".map({})", function(site)?)),
            (Is::SharedText, Is::Other) if found.ends_with("str") => {
                site.call(&site.range, &format!(".map({})", function(site)?))
            }
            (Is::SharedList, Is::List) if expected.contains("<[") => site.call(&site.range, ".map(Into::into)"),
            (Is::Text, Is::SharedText) => site.call(&site.range, ".map(|text| text.to_string())"),
            (Is::List, Is::SharedList) => site.call(&site.range, ".map(|list| list.to_vec())"),
            _ => None,
        };
    }
    match (Is::of(expected), Is::of(found)) {
        (Is::SharedText, Is::Text) => made(site),
        (Is::SharedText, Is::Other) if found.starts_with('&') && found.ends_with("str") => made(site),
        (Is::SharedList, Is::List) if expected.contains("<[") => site.call(&site.range, ".into()"),
        (Is::SharedList, Is::List) => Some(vec![around(site, "std::sync::Arc::new(")?]),
        (Is::Text, Is::SharedText) => copied(site, ".to_string()"),
        (Is::List, Is::SharedList) => copied(site, ".to_vec()"),
        _ => None,
    }
}

/// Returns the function that shares a text, by its path in the file; `None`: it is that of another crate.
fn function(site: &Site<'_>) -> Option<String> {
    let root = site.tree.crate_root(site.file)?;
    let is_there = site.tree.read(&root).is_some_and(|text| shared::is_in(&text));
    let path = if root == site.file { "" } else { "crate::" };
    is_there.then(|| format!("{path}{}", shared::FUNCTION))
}

/// A text that is to be shared is looked up; what only copies it goes.
fn made(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Some(function) = function(site) else { return site.call(&site.range, ".into()") };
    let call = site.syntax.at(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, arguments } if arguments.is_empty() => Some((receiver.clone(), name.as_str())),
        _ => None,
    });
    let value = match call {
        Some((receiver, "to_string" | "to_owned")) if site.at(&receiver).starts_with('"') => {
            site.at(&receiver).to_owned()
        }
        None if site.source().starts_with("String::from(\"") => {
            let text = site.source().trim_start_matches("String::from(");
            text.strip_suffix(')')?.to_owned()
        }
        Some((receiver, "clone")) => format!("&{}", site.at(&receiver)),
        _ => return Some(vec![around(site, &format!("{function}("))?]),
    };
    Some(vec![site.replace(site.range.clone(), format!("{function}({value})"))])
}

/// Puts the value between a text and a bracket.
fn around(site: &Site<'_>, before: &str) -> Option<Replace> {
    let text = match site.shorthand(&site.range) {
        Some(name) => format!("{name}: {before}{name})"),
        None if site.syntax.is_expr(&site.range) => format!("{before}{})", site.source()),
        None => return None,
    };
    Some(site.replace(site.range.clone(), text))
}

/// A text or list of one's own is copied once: `name.clone()` becomes `name.to_string()`.
fn copied(site: &Site<'_>, method: &str) -> Option<Vec<Replace>> {
    let receiver = site.syntax.at(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if ["clone", "to_owned"].contains(&&**name) => Some(receiver.clone()),
        _ => None,
    });
    match receiver {
        Some(receiver) => Some(vec![site.replace(receiver.end..site.range.end, method)]),
        None => site.call(&site.range, method),
    }
}

/// `all.collect()` of one into a list of the others.
fn collected(site: &Site<'_>) -> Option<Vec<Replace>> {
    let message = &site.error.message;
    let element = quoted_after(message, "over elements of type ")?;
    let method = match Is::of(element) {
        Is::SharedText => ".map(|text| text.to_string())".to_owned(),
        Is::SharedList => ".map(|list| list.to_vec())".to_owned(),
        Is::Text => format!(".map({})", function(site)?),
        Is::Other if element.ends_with("str") => format!(".map({})", function(site)?),
        _ => return None,
    };
    let receiver = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if name == "collect" => Some(receiver.clone()),
        _ => None,
    })?;
    // `.map(|entry| entry.name.clone())` copies it.
    if let (Some(value), true) = (site.at(&receiver).strip_suffix(".clone())"), method.contains(".to_")) {
        let start = receiver.start + value.len();
        let copy = if method.contains("to_string") { ".to_string())" } else { ".to_vec())" };
        return Some(vec![site.replace(start..receiver.end, copy)]);
    }
    Some(vec![site.replace(receiver.end..receiver.end, method)])
}

/// A shared list that is changed is copied then, if another has it too: `Arc::make_mut(&mut self.list).push(1)`.
fn changed(site: &Site<'_>) -> Option<Vec<Replace>> {
    let message = &site.error.message;
    if !message.starts_with("cannot borrow data in an `Arc`") || !site.syntax.is_expr(&site.range) {
        return None;
    }
    let place = site.source().trim_start_matches("&mut ").trim_start_matches('*');
    Some(vec![site.replace(site.range.clone(), format!("std::sync::Arc::make_mut(&mut {place})"))])
}

/// A module in the file of the root may not see the function by its name.
fn outside(site: &Site<'_>) -> Option<Vec<Replace>> {
    (site.source() == shared::FUNCTION)
        .then(|| vec![site.replace(site.range.clone(), format!("crate::{}", shared::FUNCTION))])
}

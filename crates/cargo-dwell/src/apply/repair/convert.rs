//! A text, list or map of another type than expected: `String` where `Box<str>` is, `HashMap` where `SortedMap` is, and the
//! reverse.

use super::super::syntax::{Bytes, Kind, Node};
use super::super::types::with_paths;
use super::{Replace, Site, argument, range, unboxed};
use std::path::PathBuf;

/// Texts, lists and maps: those that grow, and those that save memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    String,
    BoxedStr,
    ThinStr,
    Vec,
    BoxedSlice,
    ThinSlice,
    SharedStr,
    SharedSlice,
    HashMap,
    BTreeMap,
    SortedMap,
}

impl Is {
    fn of(ty: &str) -> Option<Self> {
        let name = ty.split('<').next()?.rsplit("::").next()?;
        match name {
            "String" => Some(Self::String),
            "ThinStr" => Some(Self::ThinStr),
            "Vec" => Some(Self::Vec),
            "ThinSlice" => Some(Self::ThinSlice),
            "HashMap" => Some(Self::HashMap),
            "BTreeMap" => Some(Self::BTreeMap),
            "SortedMap" => Some(Self::SortedMap),
            _ => match (unboxed(ty), argument(ty, "Arc")) {
                (Some("str"), _) => Some(Self::BoxedStr),
                (Some(inner), _) if inner.starts_with('[') => Some(Self::BoxedSlice),
                (_, Some("str")) => Some(Self::SharedStr),
                (_, Some(inner)) if inner.starts_with('[') => Some(Self::SharedSlice),
                _ => None,
            },
        }
    }

    /// Returns `true` if a value of this type is made from one of the other, or the reverse.
    fn is_kin(self, other: Self) -> bool {
        let family = |kind: Self| match kind {
            Self::String | Self::BoxedStr | Self::ThinStr | Self::SharedStr => 0,
            Self::Vec | Self::BoxedSlice | Self::ThinSlice | Self::SharedSlice => 1,
            Self::HashMap | Self::BTreeMap | Self::SortedMap => 2,
        };
        self != other && family(self) == family(other)
    }
}

/// Returns the method that makes a value of one type from one of another.
fn method(to: Is, from: Is) -> Option<&'static str> {
    Some(match (to, from) {
        (Is::BoxedStr, Is::String) => ".into_boxed_str()",
        (Is::BoxedSlice, Is::Vec) => ".into_boxed_slice()",
        (Is::String, Is::BoxedStr) => ".into_string()",
        (Is::Vec, Is::BoxedSlice) => ".into_vec()",
        (Is::HashMap, Is::SortedMap) => ".into_iter().collect()",
        _ if to.is_kin(from) => ".into()",
        _ => return None,
    })
}

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    if let Some(borrowed) = borrowed(site) {
        return Some(borrowed);
    }
    if let Some(collected) = collected(site) {
        return Some(collected);
    }
    let (expected, found) = site.types()?;
    if let (Some(expected), Some(found)) = (argument(expected, "Option"), argument(found, "Option")) {
        let method = match (Is::of(expected)?, Is::of(found)?) {
            (Is::BoxedStr, Is::String) => ".map(String::into_boxed_str)",
            (Is::BoxedSlice, Is::Vec) => ".map(Vec::into_boxed_slice)",
            (Is::String, Is::BoxedStr) => ".map(str::into_string)",
            (Is::Vec, Is::BoxedSlice) => ".map(|list| list.into_vec())",
            (to, from) if to.is_kin(from) && to != Is::HashMap => ".map(Into::into)",
            _ => return None,
        };
        return site.call(&site.range, method);
    }
    if let (Some(expected), Some(found)) = (expected.strip_prefix('&'), found.strip_prefix('&')) {
        let (to, from) = (Is::of(expected)?, Is::of(found)?);
        return returned(site, to, from).or_else(|| parameter(site, to, from, found));
    }
    let to = Is::of(expected)?;
    if matches!(to, Is::BoxedStr | Is::ThinStr) && found.starts_with('&') {
        return site.call(&site.range, ".into()");
    }
    let from = Is::of(found)?;
    let method = method(to, from)?;
    if let Some(empty) = empty(site, to) {
        return Some(empty);
    }
    if let Some(copied) = copied(site, to, from) {
        return Some(copied);
    }
    site.call(&site.range, method)
}

/// An iterator over new types is collected into a list of old ones: its elements are converted.
fn collected(site: &Site<'_>) -> Option<Vec<Replace>> {
    let element = super::quoted_after(&site.error.message, "over elements of type ")?;
    let method = match Is::of(element) {
        Some(Is::BoxedStr | Is::BoxedSlice | Is::ThinStr | Is::ThinSlice) => ".map(Into::into)",
        None if unboxed(element).is_some() => ".map(|value| *value)",
        _ => return None,
    };
    let receiver = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if name == "collect" => Some(receiver.clone()),
        _ => None,
    })?;
    if site.code() != "E0277" {
        return None;
    }
    if let Some(inside) = taken_out(site, &receiver).filter(|_| method.contains('*')) {
        return Some(inside);
    }
    Some(vec![site.replace(receiver.end..receiver.end, method)])
}

/// `.map(|part| match part { Part::Is(value) => value, .. })` gives the value itself: `*value`.
fn taken_out(site: &Site<'_>, mapped: &Bytes) -> Option<Vec<Replace>> {
    let closure = site.syntax.at(mapped).find_map(|node| match &node.kind {
        Kind::Method { name, arguments, .. } if name == "map" => arguments.first().cloned(),
        _ => None,
    })?;
    let body = site.at(&closure).strip_prefix('|')?.split_once('|')?.1.trim_start();
    if !body.starts_with("match ") {
        return None;
    }
    let bodies = site.syntax.within(&closure).filter_map(|node| match &node.kind {
        Kind::Arm { body, .. } if site.syntax.at(body).any(|node| node.kind == Kind::Path) => Some(body.clone()),
        _ => None,
    });
    let is_match = |node: &&Node| matches!(node.kind, Kind::Match { .. });
    let all: Vec<Replace> = bodies.map(|body| site.replace(body.start..body.start, "*")).collect();
    // An inner `match` may have another type.
    let is_one = site.syntax.within(&closure).filter(is_match).count() == 1;
    (is_one && !all.is_empty()).then_some(all)
}

/// `Vec::new()` becomes `Default::default()`, and `BTreeMap::new()` the `new` of a `SortedMap`: both are `const`.
fn empty(site: &Site<'_>, to: Is) -> Option<Vec<Replace>> {
    let is_new =
        site.syntax.at(&site.range).any(|node| matches!(&node.kind, Kind::Call { arguments } if arguments.is_empty()));
    let text = site.source();
    if to == Is::SortedMap && is_new && text.ends_with("::new()") {
        return Some(vec![site.replace(site.range.clone(), format!("{}::new()", with_paths("SortedMap")))]);
    }
    let is_vec = text == "vec![]";
    (is_vec || is_new && (text.ends_with("::new()") || text.ends_with("::default()")))
        .then(|| vec![site.replace(site.range.clone(), "Default::default()")])
}

/// `name.clone()` of a thin text becomes `name.to_string()`, which copies it once.
fn copied(site: &Site<'_>, to: Is, from: Is) -> Option<Vec<Replace>> {
    let instead = match (to, from) {
        (Is::String, Is::ThinStr) => ".to_string()",
        (Is::Vec, Is::ThinSlice) => ".to_vec()",
        _ => return None,
    };
    let receiver = site.syntax.at(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if ["clone", "to_owned"].contains(&&**name) => Some(receiver.clone()),
        _ => None,
    })?;
    Some(vec![site.replace(receiver.end..site.range.end, instead)])
}

/// `name.as_str()` of a `Box<str>`, which std offers for a `String` only: the text is dereferenced.
fn borrowed(site: &Site<'_>) -> Option<Vec<Replace>> {
    if !matches!(site.code(), "E0658" | "E0599") {
        return None;
    }
    let (whole, receiver, name) = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, arguments } if arguments.is_empty() => {
            Some((node.range.clone(), receiver.clone(), name.clone()))
        }
        _ => None,
    })?;
    // The span is the method's name, or the call.
    let is_this = site.range == whole || site.source() == name;
    if !is_this || !matches!(&*name, "as_str" | "as_slice" | "as_mut_slice" | "as_mut_str") {
        return None;
    }
    let is_receiver = site
        .syntax
        .around(&whole)
        .any(|node| matches!(&node.kind, Kind::Method { receiver, .. } if *receiver == whole));
    if is_receiver {
        // The next method is found by dereferencing.
        return Some(vec![site.replace(receiver.end..whole.end, "")]);
    }
    let stars = if name.contains("mut") { "&mut *" } else { "&*" };
    Some(vec![site.replace(whole, format!("{stars}{}", site.at(&receiver)))])
}

/// Returns the parts of a reference's text: `&'a mut ` and the rest.
fn reference(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('&')?.trim_start();
    let rest = match rest.strip_prefix('\'') {
        Some(rest) => rest.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_').trim_start(),
        None => rest,
    };
    let rest = rest.strip_prefix("mut ").unwrap_or(rest);
    Some((&text[..text.len() - rest.len()], rest))
}

/// Returns the type that both have, or the new one of a map: `&str` for `&String`, `&[T]` for `&Vec<T>`.
fn common(ty: &str, from: &str) -> Option<String> {
    let (before, is_of) = reference(ty)?;
    let is = Is::of(is_of)?;
    if before.contains("mut ") && matches!(is, Is::HashMap | Is::BTreeMap) {
        return None;
    }
    Some(match is {
        Is::String => format!("{before}str"),
        Is::Vec => format!("{before}[{}]", argument(is_of, "Vec")?),
        Is::HashMap | Is::BTreeMap if Is::of(from) == Some(Is::SortedMap) => {
            let (_, arguments) = is_of.split_once('<')?;
            // The types as the source writes them; a hasher is none of them.
            let arguments = arguments.strip_suffix('>')?;
            let end = top_level_commas(arguments).nth(1).unwrap_or(arguments.len());
            format!("{before}{}<{}>", with_paths("SortedMap"), &arguments[..end])
        }
        _ => return None,
    })
}

/// Returns the commas that are not inside of brackets.
fn top_level_commas(text: &str) -> impl Iterator<Item = usize> {
    let mut depth = 0_i32;
    text.char_indices().filter_map(move |(at, letter)| {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

/// A function takes `&String`, `&Vec<T>` or `&HashMap<K, V>`: its parameter becomes `&str`, `&[T]` or `&SortedMap<K, V>`.
fn parameter(site: &Site<'_>, to: Is, from: Is, found: &str) -> Option<Vec<Replace>> {
    if !to.is_kin(from) {
        return None;
    }
    let spans = site.error.children.iter().flat_map(|child| &child.spans);
    spans.filter(|span| span.suggested_replacement.is_none()).find_map(|span| {
        let file = PathBuf::from(&span.file_name);
        let text = site.tree.read(&file)?;
        let bytes = range(span);
        let (name, ty) = text.get(bytes.clone())?.split_once(':')?;
        let with = common(ty.trim(), found)?;
        Some(vec![Replace { file, range: bytes, with: format!("{name}: {with}") }])
    })
}

/// A function of the crate alone returns `&Vec<T>`: it returns `&[T]`.
fn returned(site: &Site<'_>, to: Is, from: Is) -> Option<Vec<Replace>> {
    if !to.is_kin(from) {
        return None;
    }
    let found = site.types()?.1.trim_start_matches('&').to_owned();
    let span = site.error.spans.iter().find(|span| {
        span.label.as_deref().is_some_and(|label| label.contains("because of return type")) && !span.is_primary
    })?;
    if span.file_name != site.span.file_name {
        return None;
    }
    let bytes = range(span);
    let line = site.text.get(..bytes.start)?.rsplit('\n').next()?.trim_start();
    // Users of the crate may call it.
    if line.starts_with("pub ") {
        return None;
    }
    let with = common(site.at(&bytes).trim(), &found)?;
    Some(vec![site.replace(bytes, with)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_take_what_both_types_have() {
        assert_eq!(common("&String", "Box<str>").as_deref(), Some("&str"));
        assert_eq!(common("&'a mut Vec<(u8, B)>", "ThinSlice<(u8, B)>").as_deref(), Some("&'a mut [(u8, B)]"));
        assert_eq!(
            common("&HashMap<String, (u8, u8), State>", "SortedMap<String, (u8, u8)>").as_deref(),
            Some("&dwell::sparse::SortedMap<String, (u8, u8)>")
        );
        assert_eq!(common("&mut HashMap<u8, u8>", "SortedMap<u8, u8>"), None);
        assert_eq!(common("String", "Box<str>"), None);
    }

    #[test]
    fn families_are_converted() {
        assert_eq!(method(Is::ThinStr, Is::BoxedStr), Some(".into()"));
        assert_eq!(method(Is::HashMap, Is::SortedMap), Some(".into_iter().collect()"));
        assert_eq!(method(Is::String, Is::Vec), None);
        assert_eq!(Is::of("dwell::sparse::SortedMap<u8, Vec<u8>>"), Some(Is::SortedMap));
        assert_eq!(Is::of("Box<[u8]>"), Some(Is::BoxedSlice));
    }
}

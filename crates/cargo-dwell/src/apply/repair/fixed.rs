//! `String` where `Box<str>` is expected, `Vec<T>` where `Box<[T]>` is, and the reverse.

use super::{Replace, Site, argument, range, unboxed};
use std::path::PathBuf;

/// Text and lists, growable and fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    String,
    BoxedStr,
    Vec,
    BoxedSlice,
}

impl Is {
    fn of(ty: &str) -> Option<Self> {
        match ty {
            _ if ty == "String" || ty.ends_with("::String") => Some(Self::String),
            _ if argument(ty, "Vec").is_some() => Some(Self::Vec),
            _ => match unboxed(ty) {
                Some("str") => Some(Self::BoxedStr),
                Some(of) if of.starts_with('[') => Some(Self::BoxedSlice),
                _ => None,
            },
        }
    }
}

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (expected, found) = site.types()?;
    let both = (argument(expected, "Option"), argument(found, "Option"));
    if let (Some(expected), Some(found)) = both {
        let method = match (Is::of(expected)?, Is::of(found)?) {
            (Is::BoxedStr, Is::String) => ".map(String::into_boxed_str)",
            (Is::BoxedSlice, Is::Vec) => ".map(Vec::into_boxed_slice)",
            (Is::String, Is::BoxedStr) => ".map(str::into_string)",
            (Is::Vec, Is::BoxedSlice) => ".map(|list| list.into_vec())",
            _ => return None,
        };
        return site.call(&site.range, method);
    }
    if let (Some(expected), Some(found)) = (expected.strip_prefix('&'), found.strip_prefix('&')) {
        return parameter(site, Is::of(expected)?, Is::of(found)?);
    }
    if Is::of(expected) == Some(Is::BoxedStr) && found.starts_with('&') {
        return site.call(&site.range, ".into()");
    }
    let method = match (Is::of(expected)?, Is::of(found)?) {
        (Is::BoxedStr, Is::String) => ".into_boxed_str()",
        (Is::BoxedSlice, Is::Vec) => ".into_boxed_slice()",
        (Is::String, Is::BoxedStr) => ".into_string()",
        (Is::Vec, Is::BoxedSlice) => ".into_vec()",
        _ => return None,
    };
    site.call(&site.range, method)
}

/// A function takes `&String` or `&Vec<T>`: its parameter becomes `&str` or `&[T]`, which both have.
fn parameter(site: &Site<'_>, expected: Is, found: Is) -> Option<Vec<Replace>> {
    if !matches!((expected, found), (Is::String, Is::BoxedStr) | (Is::Vec, Is::BoxedSlice)) {
        return None;
    }
    let spans = site.error.children.iter().flat_map(|child| &child.spans);
    spans.filter(|span| span.suggested_replacement.is_none()).find_map(|span| {
        let file = PathBuf::from(&span.file_name);
        let text = site.tree.read(&file)?;
        let bytes = range(span);
        let (name, ty) = text.get(bytes.clone())?.split_once(':')?;
        let ty = ty.trim();
        let with = match expected {
            Is::String => (ty == "&String").then(|| "&str".to_owned()),
            _ => ty.strip_prefix("&Vec<").and_then(|of| of.strip_suffix('>')).map(|of| format!("&[{of}]")),
        }?;
        Some(vec![Replace { file, range: bytes, with: format!("{name}: {with}") }])
    })
}

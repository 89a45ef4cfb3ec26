//! The expression that a pattern is matched against, and a name for the box in the pattern's place.

use super::super::syntax::Bytes;
use super::{Site, range, unboxed};
use heck::ToSnakeCase as _;

/// Returns `true` for a box, and for a reference to one.
pub(super) fn is_box(ty: &str) -> bool {
    unboxed(ty.trim_start_matches('&').trim_start_matches("mut ")).is_some()
}

/// Returns the matched expression with its type.
pub(super) fn scrutinee_type(site: &Site<'_>) -> Option<(Bytes, String)> {
    site.error.spans.iter().find_map(|span| {
        let ty = span.label.as_deref()?.strip_prefix("this expression has type `")?.strip_suffix('`')?;
        (span.expansion.is_none() && span.file_name == site.span.file_name).then(|| (range(span), ty.to_owned()))
    })
}

/// Returns a name for the box: that of its type, unless the code around uses it.
pub(super) fn free_name(site: &Site<'_>) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    // The largest expression around is the statement, if not the function's whole value.
    let around = site.syntax.around(&site.range).map(|node| node.range.clone()).max_by_key(std::ops::Range::len);
    let around = site.at(&around.unwrap_or_else(|| site.range.clone()));
    let used = |name: &str| around.split(|letter: char| !is_word(letter)).any(|word| word == name);
    let ty = site.types().and_then(|(expected, _)| unboxed(expected)).unwrap_or_default();
    let ty = ty.split('<').next().unwrap_or_default().rsplit("::").next().unwrap_or_default();
    let name = ty.to_snake_case();
    let is_name = |name: &str| syn::parse_str::<syn::Ident>(name).is_ok();
    let name = if is_name(&name) { name } else { "value".to_owned() };
    let names = [name.clone(), format!("boxed_{name}"), format!("inner_{name}")];
    names.iter().find(|name| !used(name)).cloned().unwrap_or_else(|| {
        let mut name = name;
        while used(&name) {
            name.push('_');
        }
        name
    })
}

/// Returns `true` if a value of a scrutinee's type, or what its option has, can be changed in place.
pub(super) fn is_mut(ty: &str) -> bool {
    let inner = super::argument(ty, "Option").or_else(|| super::argument(ty, "Result")).unwrap_or(ty);
    inner.starts_with("&mut ")
}

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

/// Returns a name for the box: that of its type, or else one after the pattern's first name.
pub(super) fn free_name(site: &Site<'_>) -> String {
    let is_word = |of: char| of.is_alphanumeric() || of == '_';
    let used = |name: &str| site.text.split(|of: char| !is_word(of)).any(|word| word == name);
    let path = site.source().split(|of: char| !is_word(of) && of != ':').next().unwrap_or_default();
    let name = path.rsplit("::").next().unwrap_or_default().to_snake_case();
    let bound = site.syntax.pattern(&site.range).and_then(|bindings| bindings.names.first());
    if !name.is_empty() && !used(&name) && syn::parse_str::<syn::Ident>(&name).is_ok() {
        return name;
    }
    let mut name = format!("boxed_{}", bound.map_or("value", |(name, _)| name.trim_start_matches('_')));
    while used(&name) {
        name.push('_');
    }
    name
}

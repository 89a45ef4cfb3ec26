//! A struct where its `Sparse` is expected, the reverse, and writes to its fields.

use super::super::moves::Becomes;
use super::super::syntax::Bytes;
use super::{Replace, Site, argument};
use syn::spanned::Spanned as _;
use syn::visit::Visit;

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Becomes::Sparse(field) = site.becomes else { return None };
    if site.error.message.ends_with("does not implement `IsEmpty`") {
        return compared(site);
    }
    if matches!(site.code(), "E0594" | "E0596") {
        return written(site, field);
    }
    let (expected, found) = site.types()?;
    if argument(expected, "Sparse").is_some_and(|of| of == found) {
        return site.call(&site.range, ".into()");
    }
    if argument(found, "Sparse").is_some_and(|of| of == expected) {
        return site.call(&site.range, ".into_inner()");
    }
    None
}

/// `self.extra.name = name` becomes `self.extra.get_mut_or_default().name = name`.
fn written(site: &Site<'_>, field: &str) -> Option<Vec<Replace>> {
    let text = site.source();
    let is_word = |of: char| of.is_alphanumeric() || of == '_';
    let wanted = format!(".{field}");
    let mut ends = text.match_indices(&wanted).map(|(at, _)| at + wanted.len());
    let end = ends.find(|end| !text[*end..].starts_with(is_word))?;
    if text[end..].starts_with(".get_mut_or_default()") {
        return None;
    }
    let at = site.range.start + end;
    Some(vec![site.replace(at..at, ".get_mut_or_default()")])
}

/// A field whose type cannot say whether it is empty is compared with its default: `#[sparse(eq)]`.
fn compared(site: &Site<'_>) -> Option<Vec<Replace>> {
    let source = syn::parse_file(site.text).ok()?;
    let mut search = Field { ty: &site.range, start: None };
    search.visit_file(&source);
    let at = search.start?;
    let line = site.text[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = site.text[line..at].chars().take_while(|of| of.is_whitespace()).collect();
    Some(vec![site.replace(at..at, format!("#[sparse(eq)]\n{indent}"))])
}

/// Finds the field that has its type in a range.
struct Field<'a> {
    ty: &'a Bytes,
    /// Where its visibility, or its name begins.
    start: Option<usize>,
}

impl<'ast> Visit<'ast> for Field<'_> {
    fn visit_field(&mut self, field: &'ast syn::Field) {
        let ty = field.ty.span().byte_range();
        let name = field.ident.as_ref().map_or(ty.start, |name| name.span().byte_range().start);
        let has_it = field.attrs.iter().any(|of| of.path().is_ident("sparse"));
        if ty.start <= self.ty.start && self.ty.end <= ty.end && !has_it {
            let is_private = matches!(field.vis, syn::Visibility::Inherited);
            self.start = Some(if is_private { name } else { field.vis.span().byte_range().start });
        }
    }
}

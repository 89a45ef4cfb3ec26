//! A struct where its `Sparse` is expected, the reverse, and writes to its fields.

use super::super::moves::Becomes;
use super::super::syntax::Bytes;
use super::{Replace, Site, argument};
use std::collections::HashMap;
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
    if argument(expected, "Sparse").is_some_and(|inner| inner == found) {
        return site.call(&site.range, ".into()");
    }
    if argument(found, "Sparse").is_some_and(|inner| inner == expected) {
        return site.call(&site.range, ".into_inner()");
    }
    None
}

/// `self.extra.name = name` becomes `self.extra.get_mut_or_default().name = name`.
fn written(site: &Site<'_>, field: &str) -> Option<Vec<Replace>> {
    let text = site.source();
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let wanted = format!(".{field}");
    let mut ends = text.match_indices(&wanted).map(|(at, _)| at + wanted.len());
    let end = ends.find(|end| !text[*end..].starts_with(is_word))?;
    if text[end..].starts_with(".get_mut_or_default()") {
        return None;
    }
    let at = site.range.start + end;
    Some(vec![site.replace(at..at, ".get_mut_or_default()")])
}

/// A field whose type cannot say whether it is empty is compared with its default: `#[sparse(eq)]`. Only a derived comparison is
/// known to tell all values apart.
fn compared(site: &Site<'_>) -> Option<Vec<Replace>> {
    let source = syn::parse_file(site.text).ok()?;
    let mut search = Field { ty: &site.range, start: None };
    search.visit_file(&source);
    let at = search.start?;
    let mut declared = Declared::default();
    declared.visit_file(&source);
    if !declared.tells_apart(site.source().rsplit("::").next()?, &mut Vec::new()) {
        return None;
    }
    let line = site.text[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = site.text[line..at].chars().take_while(|letter| letter.is_whitespace()).collect();
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
        let has_it = field.attrs.iter().any(|attr| attr.path().is_ident("sparse"));
        if ty.start <= self.ty.start && self.ty.end <= ty.end && !has_it {
            let is_private = matches!(field.vis, syn::Visibility::Inherited);
            self.start = Some(if is_private { name } else { field.vis.span().byte_range().start });
        }
    }
}

/// The declared types of a file, each with the names in the types of its fields; `None` if it does not derive `PartialEq`.
#[derive(Default)]
struct Declared(HashMap<String, Option<Vec<String>>>);

impl Declared {
    /// Types of std whose values are equal only if nothing tells them apart. `f64` is none: `-0.0` equals `0.0`.
    const KNOWN: [&str; 24] = [
        "bool",
        "char",
        "str",
        "String",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "Option",
        "Vec",
        "Box",
        "BTreeMap",
        "BTreeSet",
        "std",
        "collections",
        "string",
    ];

    fn add<'f>(
        &mut self,
        name: &syn::Ident,
        attributes: &[syn::Attribute],
        fields: impl Iterator<Item = &'f syn::Field>,
    ) {
        let derives = |attribute: &syn::Attribute| match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("derive") => {
                words(&list.tokens.to_string()).any(|word| word == "PartialEq")
            }
            _ => false,
        };
        let of_fields = || fields.flat_map(|field| words(&field.ty.span().source_text().unwrap_or_default())).collect();
        self.0.insert(name.to_string(), attributes.iter().any(derives).then(of_fields));
    }

    /// Returns `true` if equal values of a type cannot be told apart.
    fn tells_apart(&self, ty: &str, seen: &mut Vec<String>) -> bool {
        if Self::KNOWN.contains(&ty) || seen.iter().any(|item| item == ty) {
            return true;
        }
        seen.push(ty.to_owned());
        let Some(Some(parts)) = self.0.get(ty) else { return false };
        parts.iter().all(|part| self.tells_apart(part, seen))
    }
}

/// Returns the names in a text.
fn words(text: &str) -> std::vec::IntoIter<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let all: Vec<String> =
        text.split(|letter| !is_word(letter)).filter(|letter| !letter.is_empty()).map(str::to_owned).collect();
    all.into_iter()
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident, &item.attrs, item.fields.iter());
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident, &item.attrs, item.variants.iter().flat_map(|variant| &variant.fields));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_derived_comparisons_tell_values_apart() {
        let source = syn::parse_file(
            "#[derive(Clone, PartialEq)] struct A { of: u8, more: Vec<Option<A>> }\n\
             struct B; impl PartialEq for B { fn eq(&self, _: &B) -> bool { true } }\n\
             #[derive(PartialEq)] enum C { D(f64) } #[derive(PartialEq)] struct E { of: Vec<B>, a: A } #[derive(PartialEq)] struct F(A);",
        )
        .unwrap();
        let mut declared = Declared::default();
        declared.visit_file(&source);
        let is = |ty: &str| declared.tells_apart(ty, &mut Vec::new());
        assert_eq!(["A", "B", "C", "E", "F", "Other"].map(is), [true, false, false, false, true, false]);
    }
}

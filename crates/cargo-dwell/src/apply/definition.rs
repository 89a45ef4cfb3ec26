//! Finds the field or variant that an edit names, on the syntax tree.

use super::syntax::Bytes;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// The declared type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// The bytes of the type.
    pub(super) range: Bytes,
    /// The traits that the type with the field derives.
    pub(super) derives: Vec<String>,
    /// Whether the field's attributes name functions that take its type: `serialize_with`, `value_parser`.
    pub(super) named_functions: bool,
    /// The distance in lines from the line of the edit to the field.
    distance: u32,
}

/// Returns the type of the field `Type.field`, of the variant's only field `Type::Variant`, or of `Type::Variant.field`.
/// Of several the one nearest to the line.
pub(super) fn find(text: &str, item: &str, line: u32) -> Option<Declared> {
    let file = syn::parse_file(text).ok()?;
    let (head, field) = item.split_once('.').map_or((item, None), |(head, field)| (head, Some(field)));
    let parts: Vec<&str> = head.split("::").collect();
    let mut search = Search { parts, field, line, found: Vec::new() };
    search.visit_file(&file);
    search.found.into_iter().min_by_key(|found| found.distance)
}

/// Returns the places of a struct's first word after its attributes: `pub` or `struct`.
pub(super) fn keywords(text: &str, name: &str) -> Vec<usize> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let mut search = Keywords { name, found: Vec::new() };
    search.visit_file(&file);
    search.found
}

struct Keywords<'a> {
    name: &'a str,
    found: Vec<usize>,
}

impl<'ast> Visit<'ast> for Keywords<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if item.ident == self.name {
            let keyword = item.struct_token.span().byte_range().start;
            let visibility = item.vis.span().byte_range();
            self.found.push(if visibility.is_empty() { keyword } else { visibility.start });
        }
    }
}

struct Search<'a> {
    parts: Vec<&'a str>,
    field: Option<&'a str>,
    line: u32,
    found: Vec<Declared>,
}

impl Search<'_> {
    fn add(&mut self, fields: &syn::Fields, attributes: &[syn::Attribute]) {
        for (index, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            let wanted = match self.field {
                Some(wanted) => wanted.trim_start_matches("r#") == name.trim_start_matches("r#"),
                None => fields.len() == 1,
            };
            if !wanted {
                continue;
            }
            let line = u32::try_from(field.span().start().line).unwrap_or(u32::MAX);
            self.found.push(Declared {
                range: field.ty.span().byte_range(),
                derives: derives(attributes),
                named_functions: names_functions(&field.attrs),
                distance: line.abs_diff(self.line),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if self.parts.last().is_some_and(|name| item.ident == *name) {
            self.add(&item.fields, &item.attrs);
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let [.., owner, name] = self.parts[..] else { return };
        if item.ident != owner {
            return;
        }
        for variant in item.variants.iter().filter(|variant| variant.ident == name) {
            self.add(&variant.fields, &item.attrs);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        visit::visit_item_mod(self, item);
    }
}

/// Returns the names of the derived traits.
fn derives(attributes: &[syn::Attribute]) -> Vec<String> {
    let mut all = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let _ = attribute.parse_nested_meta(|meta| {
            all.extend(meta.path.segments.last().map(|last| last.ident.to_string()));
            Ok(())
        });
    }
    all
}

/// Returns `true` if an attribute names a function that takes or returns the field's type.
fn names_functions(attributes: &[syn::Attribute]) -> bool {
    let words = ["with", "serialize_with", "deserialize_with", "value_parser", "parse", "getter"];
    let named = |attribute: &syn::Attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.tokens.clone().into_iter().any(|token| words.iter().any(|word| token.to_string() == *word))
    };
    attributes.iter().any(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_variants_are_found() {
        let text = "mod a {\n    #[derive(Clone, Copy)]\n    pub struct S {\n        /// It.\n        #[serde(with = \"x\")]\n        \
                    pub b: Option<B>,\n    }\n}\nenum S {\n    V(Large<u8>),\n    W { x: u8, r#type: T },\n    P(u8, u8),\n}\nstruct S { b: u8 }\n";
        let found = |item: &str, line| find(text, item, line).map(|found| text[found.range].to_owned());
        assert_eq!(found("S.b", 5).as_deref(), Some("Option<B>"));
        assert_eq!(found("S.b", 14).as_deref(), Some("u8"));
        assert_eq!(found("S::V", 9).as_deref(), Some("Large<u8>"));
        assert_eq!(found("S::W.type", 9).as_deref(), Some("T"));
        assert_eq!(found("S::P.1", 9).as_deref(), Some("u8"));
        assert_eq!((found("S::P", 9), found("S::X", 9), found("T.b", 1)), (None, None, None));
        let field = find(text, "S.b", 5).unwrap();
        assert!(field.named_functions && field.derives == ["Clone", "Copy"]);
    }
}

//! Finds the types of fields in the text of a declaration.

use super::items::{Item, plain};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::ops::Range;

impl Item {
    /// Returns the line of a field, and the text of its type there. The field is one of a struct, or of a variant of an
    /// enum; `0`, `1` and so on in tuples.
    pub fn field_type(&self, variant: Option<&str>, field: &str) -> Option<(u32, String)> {
        let text = self.text();
        let tokens: Vec<TokenTree> = text.parse::<TokenStream>().ok()?.into_iter().collect();
        let fields = match variant {
            None => last_group(&tokens)?,
            Some(name) => variants(last_group(&tokens)?.1).into_iter().find(|(variant, ..)| variant == name)?.1?,
        };
        let (line, range) = of_field(fields.0, fields.1, field)?;
        Some((self.line + u32::try_from(line).ok()?.checked_sub(1)?, text.get(range)?.to_owned()))
    }

    /// Returns `true` if the declaration has a type parameter with this name.
    pub fn has_parameter(&self, name: &str) -> bool {
        let Ok(tokens) = self.text().parse::<TokenStream>() else { return false };
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let starts = |trees: &[TokenTree]| match trees {
            [TokenTree::Ident(word), TokenTree::Ident(_), TokenTree::Punct(open)] => {
                ["struct", "enum", "union"].iter().any(|keyword| word == keyword) && open.as_char() == '<'
            }
            _ => false,
        };
        let Some(start) = tokens.windows(3).position(starts) else { return false };
        let mut depth = 1_usize;
        let is_inside = |tree: &&TokenTree| {
            if let TokenTree::Punct(punct) = tree {
                match punct.as_char() {
                    '<' => depth += 1,
                    '>' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            depth > 0
        };
        let inside = tokens[start + 3..].iter().take_while(is_inside).cloned().collect();
        split(inside).iter().any(|part| matches!(part.first(), Some(TokenTree::Ident(ident)) if *ident == name))
    }
}

impl Item {
    /// Returns the line of a field or variant, and its text: `File(Attachment)`, `details: Option<Details>`.
    pub fn part(&self, name: &str) -> Option<(u32, &str)> {
        let text = self.text();
        let tokens: Vec<TokenTree> = text.parse::<TokenStream>().ok()?.into_iter().collect();
        let (delimiter, stream) = last_group(&tokens)?;
        let is_enum = tokens.iter().any(|tree| matches!(tree, TokenTree::Ident(word) if *word == "enum"));
        let find = |stream: TokenStream| split(stream).into_iter().find(|part| begins_with(bare(part), name));
        let found = find(stream.clone());
        // A field of a variant is a part too.
        let part = found.or_else(|| {
            let braced = variants(stream).into_iter().filter(|_| is_enum && delimiter == Delimiter::Brace);
            braced
                .filter_map(|(_, fields)| fields)
                .filter(|(delimiter, _)| *delimiter == Delimiter::Brace)
                .find_map(|(_, fields)| find(fields))
        })?;
        let part = bare(&part);
        let (first, last) = (part.first()?.span(), part.last()?.span());
        let line = self.line + u32::try_from(first.start().line).ok()?.checked_sub(1)?;
        Some((line, text.get(first.byte_range().start..last.byte_range().end)?))
    }
}

/// Returns `true` if a field or variant has the name.
fn begins_with(part: &[TokenTree], name: &str) -> bool {
    matches!(part.first(), Some(TokenTree::Ident(ident)) if plain(&ident.to_string()) == plain(name))
}

type Group = (Delimiter, TokenStream);

/// Returns the fields or variants of a declaration: its last group in parentheses or braces.
fn last_group(tokens: &[TokenTree]) -> Option<Group> {
    tokens.iter().rev().find_map(|tree| match tree {
        TokenTree::Group(group) if matches!(group.delimiter(), Delimiter::Brace | Delimiter::Parenthesis) => {
            Some((group.delimiter(), group.stream()))
        }
        _ => None,
    })
}

/// Returns the tokens between commas that are not between angle brackets.
fn split(stream: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut all = vec![Vec::new()];
    let (mut depth, mut is_arrow) = (0_usize, false);
    for tree in stream {
        if let TokenTree::Punct(punct) = &tree {
            match punct.as_char() {
                '<' => depth += 1,
                '>' if !is_arrow => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    all.push(Vec::new());
                    is_arrow = false;
                    continue;
                }
                _ => {}
            }
            is_arrow = matches!(punct.as_char(), '-' | '=') && punct.spacing() == Spacing::Joint;
        } else {
            is_arrow = false;
        }
        if let Some(last) = all.last_mut() {
            last.push(tree);
        }
    }
    all.retain(|part| !part.is_empty());
    all
}

/// Returns the tokens after attributes and visibility.
fn bare(part: &[TokenTree]) -> &[TokenTree] {
    let mut rest = part;
    loop {
        rest = match rest {
            [TokenTree::Punct(punct), TokenTree::Group(_), after @ ..] if punct.as_char() == '#' => after,
            [TokenTree::Ident(ident), TokenTree::Group(group), after @ ..]
                if *ident == "pub" && group.delimiter() == Delimiter::Parenthesis && !after.is_empty() =>
            {
                after
            }
            [TokenTree::Ident(ident), after @ ..] if *ident == "pub" => after,
            _ => return rest,
        };
    }
}

/// Returns the variants of an enum, each with its fields.
fn variants(stream: TokenStream) -> Vec<(String, Option<Group>)> {
    let variant = |part: Vec<TokenTree>| match bare(&part) {
        [TokenTree::Ident(name), TokenTree::Group(group), ..] => {
            Some((name.to_string(), Some((group.delimiter(), group.stream()))))
        }
        [TokenTree::Ident(name), ..] => Some((name.to_string(), None)),
        _ => None,
    };
    split(stream).into_iter().filter_map(variant).collect()
}

/// Returns the line of a field in the text, and the bytes of its type.
fn of_field(delimiter: Delimiter, stream: TokenStream, field: &str) -> Option<(usize, Range<usize>)> {
    let parts = split(stream);
    let part = match delimiter {
        Delimiter::Parenthesis => bare(parts.get(field.parse::<usize>().ok()?)?),
        _ => parts.iter().find_map(|part| match bare(part) {
            [TokenTree::Ident(name), TokenTree::Punct(colon), ty @ ..]
                if colon.as_char() == ':' && plain(&name.to_string()) == field =>
            {
                Some(ty)
            }
            _ => None,
        })?,
    };
    let (first, last) = (part.first()?.span(), part.last()?.span());
    Some((first.start().line, first.byte_range().start..last.byte_range().end))
}

#[cfg(test)]
mod tests {
    use super::super::Items;
    use std::fs;

    #[test]
    fn parameters_are_told_from_types() {
        let folder = tempfile::tempdir().unwrap();
        let source = "pub enum Pair<'a, T: Into<Vec<u8>>, U = u8> where Vec<T>: Sized { A(T, &'a U), B(Big) }\nstruct Big(Vec<u8>);\n";
        fs::write(folder.path().join("a.rs"), source).unwrap();
        let items = Items::new(Some(folder.path()));
        let has = |item: &str, name: &str| items.named(item).unwrap().has_parameter(name);
        assert!(has("Pair", "T") && has("Pair", "U"));
        assert!(!has("Pair", "Big") && !has("Pair", "u8") && !has("Pair", "Vec") && !has("Big", "T"));
    }

    #[test]
    fn types_of_fields_are_found_at_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let source = "// ü\n#[derive(Debug)]\npub enum Kind<T: Fn(u8) -> u8> {\n    /// A, and (B).\n    A(u8, Option<Box<(u8, T)>>),\n    \
                      #[doc = \"x\"]\n    B {\n        /// One\n        pub one: Vec<\n            u8>,\n        r#type: fn(u8, u8) -> Vec<u8>, last: [u8; 3],\n    },\n    \
                      C = 3,\n}\npub struct Pair(pub u8, pub Option<Big>);\nstruct Plain where u8: Copy {\n    a: u8, b: std::collections::HashMap<u8, (u8, u8)>\n}\n";
        fs::write(folder.path().join("a.rs"), source).unwrap();
        let items = Items::new(Some(folder.path()));
        let field_type =
            |name: &str, variant: Option<&str>, field: &str| items.named(name).unwrap().field_type(variant, field);
        let at = |line: u32, text: &str| Some((line, text.to_owned()));
        assert_eq!(field_type("Kind", Some("A"), "0"), at(5, "u8"));
        assert_eq!(field_type("Kind", Some("A"), "1"), at(5, "Option<Box<(u8, T)>>"));
        assert_eq!(field_type("Kind", Some("B"), "one"), at(9, "Vec<\n            u8>"));
        assert_eq!(field_type("Kind", Some("B"), "type"), at(11, "fn(u8, u8) -> Vec<u8>"));
        assert_eq!(field_type("Kind", Some("B"), "last"), at(11, "[u8; 3]"));
        assert_eq!(field_type("Kind", Some("C"), "0"), None);
        assert_eq!(field_type("Pair", None, "1"), at(15, "Option<Big>"));
        assert_eq!(field_type("Plain", None, "b"), at(17, "std::collections::HashMap<u8, (u8, u8)>"));
        assert_eq!(field_type("Plain", None, "c"), None);
    }
}

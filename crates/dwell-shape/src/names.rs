//! Rust identifiers for keys and values of the data.

use heck::{ToSnakeCase, ToUpperCamelCase};
use std::collections::{BTreeMap, BTreeSet};
use unicode_security::GeneralSecurityProfile;

/// The keywords of edition 2024, including the reserved ones. As identifiers they need `r#`.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Names that generated code must not shadow: the prelude's, and those of the types it uses.
pub(super) const TAKEN: &[&str] = &[
    "Any",
    "AsMut",
    "AsRef",
    "BTreeMap",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Deserializer",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Hash",
    "HashMap",
    "Into",
    "IntoIterator",
    "IsEmpty",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "OrOther",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Serialize",
    "Serializer",
    "Sized",
    "Some",
    "SortedMap",
    "Sparse",
    "String",
    "Sync",
    "ThinSlice",
    "ThinStr",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Value",
    "Vec",
];

/// Names that are in use in one scope.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    used: BTreeSet<String>,
    /// The first number to try behind a name.
    next: BTreeMap<String, u32>,
}

impl Scope {
    /// Creates a scope for type names, in which all names that generated code must not shadow are in use.
    pub fn types() -> Self {
        Self { used: TAKEN.iter().map(ToString::to_string).collect(), ..Self::default() }
    }

    /// Returns the first of `wanted` that is not in use; otherwise the last one with the first free number.
    pub fn choose(&mut self, wanted: &[String]) -> String {
        let free = wanted.iter().find(|name| !self.used.contains(*name)).or(wanted.last());
        let name = free.map_or("Type", String::as_str);
        self.unique(name)
    }

    /// Returns `name`, with the first free number if it is in use.
    pub fn unique(&mut self, name: &str) -> String {
        if self.used.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let unique = format!("{name}{number}");
            *number += 1;
            if self.used.insert(unique.clone()) {
                return unique;
            }
        }
    }
}

/// Returns field names for the keys of one record, in `snake_case`. A key such as `a.b#name` gives `name` if that is
/// unique.
pub fn fields<'k>(keys: impl Iterator<Item = &'k str> + Clone) -> Vec<String> {
    let short = |key: &str| snake(key.rsplit(['#', '/', ':', '.', '@', '$']).next().unwrap_or(key));
    let shorts: Vec<String> = keys.clone().map(short).collect();
    let mut scope = Scope::default();
    keys.zip(&shorts)
        .map(|(key, name)| {
            let one = !name.is_empty() && shorts.iter().filter(|other| *other == name).count() == 1;
            let name = if one { name.clone() } else { snake(key) };
            let name = match name.as_str() {
                "" => "field".to_owned(),
                "self" | "super" | "crate" => format!("{name}_"),
                name if !name.starts_with(unicode_ident::is_xid_start) => format!("n{name}"),
                name => name.to_owned(),
            };
            let name = scope.unique(&name);
            if KEYWORDS.contains(&name.as_str()) { format!("r#{name}") } else { name }
        })
        .collect()
}

/// Returns variant names for the values of one closed set of strings.
pub fn variants<'v>(values: impl Iterator<Item = &'v str>) -> Vec<String> {
    let mut scope = Scope::default();
    let name = |value: &str| if value.is_empty() { "Empty".to_owned() } else { type_name(value) };
    values.map(|value| scope.unique(&name(value))).collect()
}

/// Converts a text to `CamelCase`. The result is always a valid identifier.
pub fn type_name(text: &str) -> String {
    match camel(text) {
        name if name.is_empty() => "Other".into(),
        name if name == "Self" => "SelfType".into(),
        name if !name.starts_with(unicode_ident::is_xid_start) => format!("N{name}"),
        name => name,
    }
}

/// Converts a text to `snake_case`. The result may be empty.
pub fn snake(text: &str) -> String {
    words(text).to_snake_case()
}

/// Converts a text to `CamelCase`. The result may be empty.
pub fn camel(text: &str) -> String {
    words(text).to_upper_camel_case()
}

/// Replaces each character that an identifier cannot have by a space, which separates words.
fn words(text: &str) -> String {
    text.replace(|char: char| !is_part(char), " ")
}

/// Returns the step of a JSON path to the value of a key.
pub(super) fn step(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { format!(".{key}") } else { format!("[{key:?}]") }
}

/// Returns whether a character can be part of a word in an identifier. `_` separates words. rustc warns of characters
/// that are not in common use (Unicode's UTS 39), such as the `ǝ` of phonetic alphabets.
pub(super) fn is_part(char: char) -> bool {
    char != '_' && unicode_ident::is_xid_continue(char) && char.identifier_allowed()
}

/// The conventions of `#[serde(rename_all = "..")]`, the most common first.
pub const CONVENTIONS: &[&str] =
    &["camelCase", "kebab-case", "PascalCase", "SCREAMING_SNAKE_CASE", "snake_case", "lowercase"];

/// Returns the name that serde's `rename_all` gives a field.
pub fn renamed_field(name: &str, convention: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let pascal = || {
        let mut upper = true;
        let mut text = String::new();
        for char in name.chars() {
            match char {
                '_' => upper = true,
                char => text.push(if std::mem::take(&mut upper) { char.to_ascii_uppercase() } else { char }),
            }
        }
        text
    };
    match convention {
        "PascalCase" => pascal(),
        "camelCase" => lower_first(&pascal()),
        "kebab-case" => name.replace('_', "-"),
        "SCREAMING_SNAKE_CASE" => name.to_ascii_uppercase(),
        _ => name.to_owned(),
    }
}

/// Returns the name that serde's `rename_all` gives a variant.
pub fn renamed_variant(name: &str, convention: &str) -> String {
    let snake = || {
        let mut text = String::new();
        for (index, char) in name.char_indices() {
            if index > 0 && char.is_uppercase() {
                text.push('_');
            }
            text.push(char.to_ascii_lowercase());
        }
        text
    };
    match convention {
        "camelCase" => lower_first(name),
        "kebab-case" => snake().replace('_', "-"),
        "SCREAMING_SNAKE_CASE" => snake().to_ascii_uppercase(),
        "snake_case" => snake(),
        "lowercase" => name.to_ascii_lowercase(),
        _ => name.to_owned(),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_character_that_rustc_warns_of() {
        assert_eq!(fields(["größe", "имя", "kǝ na", "ʊ", "x·y"].into_iter()), ["größe", "имя", "k_na", "field", "x_y"]);
        assert_eq!(variants(["ŋgɩɖee", "ǝ", "ʊ", "名前"].into_iter()), ["ŊgEe", "Other", "Other2", "名前"]);
    }
}

//! Declarations of the user's types as they stand in the source, with their serde attributes.

use syn::Type;

/// The place of a part of the source.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: u32,
    /// The text, if it is on one line.
    pub(super) from: String,
}

/// A declaration of a struct, enum or alias.
#[derive(Debug)]
pub(super) struct Item {
    /// The name alone.
    pub(super) name: String,
    /// The path of its module: `a::b`, or nothing for the first file.
    pub(super) module: String,
    pub(super) parameters: Vec<String>,
    pub(super) shape: Shape,
    /// Whether code decides how it is read.
    pub(super) is_opaque: bool,
    pub(super) has_repr: bool,
    pub(super) place: Place,
}

#[derive(Debug)]
pub(super) enum Shape {
    Struct(Struct),
    Enum(Enum),
    Alias(Box<Type>),
}

/// The fields of a struct or of a variant.
#[derive(Debug)]
pub(super) struct Struct {
    pub(super) is_named: bool,
    pub(super) is_transparent: bool,
    pub(super) denies_unknown: bool,
    pub(super) fields: Vec<Field>,
    /// The key that a struct with `#[serde(tag = "..")]` is written with.
    pub(super) tag: Option<String>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an attribute of serde")]
pub(super) struct Field {
    /// The name in the source: `Order.items`, or that of a variant with one field.
    pub(super) item: String,
    pub(super) key: String,
    pub(super) aliases: Vec<String>,
    pub(super) ty: Type,
    pub(super) has_default: bool,
    pub(super) is_flat: bool,
    pub(super) is_skipped: bool,
    pub(super) is_opaque: bool,
    pub(super) place: Place,
}

#[derive(Debug)]
pub(super) struct Enum {
    pub(super) tagging: Tagging,
    pub(super) variants: Vec<Variant>,
}

#[derive(Debug)]
pub(super) enum Tagging {
    External,
    Internal(String),
    Adjacent(String, String),
    Untagged,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an attribute of serde")]
pub(super) struct Variant {
    pub(super) item: String,
    pub(super) tag: String,
    pub(super) aliases: Vec<String>,
    pub(super) content: Struct,
    pub(super) is_other: bool,
    pub(super) is_untagged: bool,
    pub(super) is_skipped: bool,
    pub(super) is_opaque: bool,
}

impl Variant {
    pub(super) fn has_tag(&self, tag: &str) -> bool {
        self.tag == tag || self.aliases.iter().any(|alias| alias == tag)
    }
}

/// A convention of `rename_all`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => return None,
        })
    }

    /// Returns the key of a field, by the rules of `serde_derive`.
    pub(super) fn field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
            Self::Pascal => pascal(name),
            Self::Camel => lower_first(&pascal(name)),
        }
    }

    /// Returns the tag of a variant.
    pub(super) fn variant(self, name: &str) -> String {
        let snake = || {
            let mut snake = String::new();
            for (index, letter) in name.char_indices() {
                if index > 0 && letter.is_uppercase() {
                    snake.push('_');
                }
                snake.push(letter.to_ascii_lowercase());
            }
            snake
        };
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => lower_first(name),
            Self::Snake => snake(),
            Self::ScreamingSnake => snake().to_ascii_uppercase(),
            Self::Kebab => snake().replace('_', "-"),
            Self::ScreamingKebab => snake().to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn pascal(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    name.split('_').map(word).collect()
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + letters.as_str())
}

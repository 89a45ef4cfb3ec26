//! Types as JSON. `docs/layout.md` names the fields.

use super::measure::{Embedding, change, is_listed, measure};
use crate::debuginfo::{self, Kind, Program, TypeId};
use serde::{Deserialize, Serialize};

/// A type with its layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Type {
    /// As a person writes it.
    pub name: String,
    /// In full.
    pub path: String,
    /// `struct`, `union`, `enum`, `closure` or `coroutine`.
    pub kind: String,
    /// The crate that declares it.
    #[serde(rename = "crate")]
    pub krate: String,
    /// Whether that is one of the workspace's own.
    pub own: bool,
    /// Whether it is declared `pub`: of a library, changing it breaks the API.
    pub public: bool,
    /// The position of its declaration, for closures and coroutines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Bytes of a value.
    pub size: u64,
    /// Bytes.
    pub align: u64,
    /// Bytes that no value uses, not even one of the variant that uses most.
    pub padding: u64,
    /// The fields of a struct or union, what a closure captures.
    pub fields: Vec<Field>,
    /// The variants of an enum, the states of a coroutine.
    pub variants: Vec<Variant>,
    /// The tag that distinguishes the variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
    /// By how many bytes the largest variant exceeds the next; 0 if it is no enum.
    pub variant_gap: u64,
    /// The types that have it as a field, the ten largest.
    pub embedded_in: Vec<Embedded>,
    /// The outermost type at least half of whose bytes it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub makes_big: Option<Embedded>,
    /// A suggested change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggestion>,
}

/// A field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Field {
    /// Its name; a tuple's are `0`, `1`.
    pub name: String,
    /// Its type as a person writes it.
    #[serde(rename = "type")]
    pub of: String,
    /// Bytes from the start of the whole type.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// A variant of an enum, a state of a coroutine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Bytes up to the end of its last field, without a tag of its own.
    pub size: u64,
    /// Bytes between its fields.
    pub padding: u64,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// The tag that distinguishes variants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tag {
    /// Bytes from the start of the whole type.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The field whose niche it is, with its variant: `B.buf.cap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub niche: Option<String>,
}

/// Another type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Embedded {
    /// As a person writes it.
    pub name: String,
    /// Bytes of a value.
    pub size: u64,
}

/// A suggested change of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Suggestion {
    /// The change, as text.
    pub how: String,
    /// At least so many bytes of each value.
    pub saves: u64,
}

/// The types of a program in the order of their paths; its own ones only, unless `all` is asked for.
pub fn types(program: &Program, all: bool) -> Vec<Type> {
    let embedding = Embedding::new(program);
    let wanted = program.types().filter(|(_, ty)| is_listed(ty) && (all || ty.own));
    wanted.map(|(id, _)| Type::new(program, &embedding, id)).collect()
}

impl Type {
    pub(super) fn new(program: &Program, embedding: &Embedding, id: TypeId) -> Self {
        let ty = program.get(id);
        let measured = measure(program, ty);
        let field = |field: &debuginfo::Field| Field {
            name: field.name.to_string(),
            of: program.get(field.ty).name.to_string(),
            offset: field.offset,
            size: program.size_of(field.ty),
        };
        let (mut fields, mut variants) = (Vec::new(), Vec::new());
        for part in &measured.parts {
            let of: Vec<Field> = part.fields.iter().map(|of| field(of)).collect();
            if measured.has_variants {
                let size = part.size(measured.tag);
                variants.push(Variant { name: part.name.to_owned(), size, padding: part.gaps(), fields: of });
            } else {
                fields = of;
            }
        }
        let embedded = |id: TypeId| Embedded { name: program.get(id).name.to_string(), size: program.size_of(id) };
        let change = change(program, ty, &measured).filter(|_| ty.own);
        Self {
            name: ty.name.to_string(),
            path: ty.path.to_string(),
            kind: kind(&ty.kind).to_owned(),
            krate: ty.krate.to_string(),
            own: ty.own,
            public: ty.public,
            file: ty.source.as_ref().map(|source| source.file.to_string()),
            line: ty.source.as_ref().map(|source| source.line),
            size: ty.size,
            align: ty.align,
            padding: measured.padding,
            fields,
            variants,
            tag: measured.tag.map(|tag| Tag { offset: tag.offset, size: tag.size, niche: niche(&ty.kind) }),
            variant_gap: measured.gap.map_or(0, |(_, bytes)| bytes),
            embedded_in: embedding.outer(program, id).into_iter().take(10).map(embedded).collect(),
            makes_big: embedding.makes_big(program, id).map(embedded),
            suggestion: change.map(|change| Suggestion { how: change.how, saves: change.saves }),
        }
    }
}

/// The field with an enum's niche, and its variant.
pub(super) fn niche(kind: &Kind) -> Option<String> {
    let Kind::Enum(of) = kind else { return None };
    let name = of.tag.as_ref()?.niche.as_ref()?;
    let variant = of.variants.iter().find(|variant| variant.discriminants.is_empty());
    Some(match variant {
        Some(variant) if name.is_empty() => variant.name.to_string(),
        Some(variant) => format!("{}.{name}", variant.name),
        None => name.to_string(),
    })
}

pub(super) fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Union(_) => "union",
        Kind::Enum(_) => "enum",
        Kind::Closure(_) => "closure",
        Kind::Coroutine(_) => "coroutine",
        _ => "struct",
    }
}

//! Types as JSON. `docs/json-output.md` names the fields.

use super::measure::{is_listed, measure};
use super::suggest::{Facts, Suggestion};
use dwell_debuginfo::{Kind, Program, TypeId};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A type with its layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Type {
    /// The short name.
    pub name: String,
    /// The full path.
    pub path: String,
    /// `struct`, `union`, `enum`, `closure` or `coroutine`.
    pub kind: String,
    /// The crate that declares it.
    #[serde(rename = "crate")]
    pub krate: String,
    /// Whether that crate is one of the workspace's.
    pub own: bool,
    /// Whether it is declared `pub`: in a library a change of its fields may break the API.
    pub public: bool,
    /// The position of its declaration: of closures and coroutines from the debug info, of own types from the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of its declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The size of a value in bytes.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// Padding in bytes: bytes that no variant uses.
    pub padding: u64,
    /// The fields of a struct or union; the captures of a closure.
    pub fields: Vec<Field>,
    /// The variants of an enum, the states of a coroutine.
    pub variants: Vec<Variant>,
    /// The tag that distinguishes the variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
    /// The bytes by which the largest variant exceeds the next; 0 for a type that is not an enum.
    pub variant_gap: u64,
    /// The ten largest types with a field of this type.
    pub embedded_in: Vec<Embedded>,
    /// The outermost type of which this one takes at least half of the bytes.
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
    /// The name; `0`, `1` and so on in tuples.
    pub name: String,
    /// The short name of its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The offset in the whole type, in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
}

/// A variant of an enum, a state of a coroutine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Variant {
    /// The name.
    pub name: String,
    /// The number of bytes up to the end of the last field, without a tag that has its own bytes.
    pub size: u64,
    /// The number of bytes between the fields.
    pub padding: u64,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// The tag that distinguishes variants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tag {
    /// The offset in the whole type, in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    /// The field whose niche holds the tag, with its variant: `B.buf.cap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub niche: Option<String>,
}

/// Another type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Embedded {
    /// The short name.
    pub name: String,
    /// The size of a value in bytes.
    pub size: u64,
}

/// Returns the types of a program in the order of their paths. Without `all`, only those of the workspace.
/// The sources of the workspace are read below `root`.
pub fn types(program: &Program, all: bool, root: Option<&Path>) -> Vec<Type> {
    let facts = Facts::new(program, root, None);
    let wanted = program.types().filter(|(_, ty)| is_listed(ty) && (all || ty.own));
    wanted.map(|(id, _)| Type::new(&facts, id)).collect()
}

impl Type {
    pub(super) fn new(facts: &Facts<'_>, id: TypeId) -> Self {
        let program = facts.program;
        let embedding = &facts.embedding;
        let ty = program.get(id);
        let measured = measure(program, ty);
        let field = |field: &dwell_debuginfo::Field| Field {
            name: field.name.to_string(),
            type_name: program.get(field.ty).name.to_string(),
            offset: field.offset,
            size: program.size_of(field.ty),
        };
        let (mut fields, mut variants) = (Vec::new(), Vec::new());
        for part in &measured.parts {
            let members: Vec<Field> = part.fields.iter().map(|member| field(member)).collect();
            if measured.has_variants {
                let size = part.size(measured.tag);
                variants.push(Variant { name: part.name.to_owned(), size, padding: part.gaps(), fields: members });
            } else {
                fields = members;
            }
        }
        let embedded = |id: TypeId| Embedded { name: program.get(id).name.to_string(), size: program.size_of(id) };
        let (file, line) = facts.position(ty).unzip();
        Self {
            name: ty.name.to_string(),
            path: ty.path.to_string(),
            kind: kind(&ty.kind).to_owned(),
            krate: ty.krate.to_string(),
            own: ty.own,
            public: ty.public,
            file,
            line,
            size: ty.size,
            align: ty.align,
            padding: measured.padding,
            fields,
            variants,
            tag: measured.tag.map(|tag| Tag { offset: tag.offset, size: tag.size, niche: niche(&ty.kind) }),
            variant_gap: measured.gap.map_or(0, |(_, bytes)| bytes),
            embedded_in: embedding.outer(program, id).into_iter().take(10).map(embedded).collect(),
            makes_big: embedding.makes_big(program, id).map(|(outer, _)| embedded(outer)),
            suggestion: facts.suggest(id),
        }
    }
}

/// Returns the field with an enum's niche, and its variant.
pub(super) fn niche(kind: &Kind) -> Option<String> {
    let Kind::Enum(def) = kind else { return None };
    let name = def.tag.as_ref()?.niche.as_ref()?;
    let variant = def.variants.iter().find(|variant| variant.discriminants.is_empty());
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

// Included by the modules `before` and `after`, which define `Text`, `List` and the other aliases.

use dwell::Weigh;
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize, Weigh)]
pub(crate) struct Crate {
    pub(crate) index: HashMap<Text, InIndex<Item>>,
    #[serde(default)]
    pub(crate) paths: HashMap<Text, Summary>,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Summary {
    pub(crate) crate_id: u32,
    pub(crate) path: List<Text>,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Item {
    pub(crate) id: u32,
    pub(crate) crate_id: u32,
    pub(crate) name: Option<Text>,
    pub(crate) span: Option<Span>,
    pub(crate) docs: Option<Text>,
    #[serde(default)]
    pub(crate) links: Links,
    pub(crate) deprecation: Rarely<Deprecation>,
    pub(crate) inner: ItemEnum,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Span {
    pub(crate) filename: Text,
    pub(crate) begin: (usize, usize),
    pub(crate) end: (usize, usize),
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Deprecation {
    pub(crate) since: Option<Text>,
    pub(crate) note: Option<Text>,
}

#[derive(Deserialize, Weigh)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant)]
pub(crate) enum ItemEnum {
    Module(Module),
    Struct(Large<Struct>),
    StructField(Type),
    Enum(Large<Enum>),
    Function(Large<Function>),
    Impl(Large<Impl>),
    #[serde(untagged)]
    Other(#[weigh(skip)] serde::de::IgnoredAny),
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Module {
    pub(crate) is_crate: bool,
    pub(crate) items: List<u32>,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Struct {
    pub(crate) generics: Generics,
    pub(crate) impls: List<u32>,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Enum {
    pub(crate) generics: Generics,
    pub(crate) variants: List<u32>,
    pub(crate) impls: List<u32>,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Function {
    pub(crate) sig: Signature,
    pub(crate) generics: Generics,
    pub(crate) has_body: bool,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Signature {
    pub(crate) inputs: List<(Text, Type)>,
    pub(crate) output: Option<Type>,
    pub(crate) is_c_variadic: bool,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Impl {
    pub(crate) is_unsafe: bool,
    pub(crate) generics: Generics,
    #[serde(default)]
    pub(crate) provided_trait_methods: List<Text>,
    pub(crate) r#trait: Option<Path>,
    pub(crate) r#for: Type,
    pub(crate) items: List<u32>,
    #[serde(rename = "blanket_impl")]
    pub(crate) blanket: Option<Type>,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Generics {
    pub(crate) params: List<Param>,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Param {
    pub(crate) name: Text,
}

#[derive(Deserialize, Weigh)]
pub(crate) struct Path {
    pub(crate) path: Text,
    pub(crate) id: u32,
}

#[derive(Deserialize, Weigh)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Type {
    ResolvedPath(Path),
    Generic(Text),
    Primitive(Text),
    Tuple(List<Type>),
    Slice(Box<Type>),
    Array {
        #[serde(rename = "type")]
        type_: Box<Type>,
        len: Text,
    },
    BorrowedRef {
        lifetime: Option<Text>,
        is_mutable: bool,
        #[serde(rename = "type")]
        type_: Box<Type>,
    },
    QualifiedPath {
        name: Text,
        self_type: Box<Type>,
    },
    Infer,
    #[serde(untagged)]
    Other(#[weigh(skip)] serde::de::IgnoredAny),
}

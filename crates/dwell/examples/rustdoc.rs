//! rustdoc's JSON, with types as the crate `rustdoc-types` has them, and after following the advice.
//!
//! `cargo run --release --example rustdoc` makes a crate up; add `-- FILE` for a real one, written by
//! `cargo +nightly rustdoc -- -Zunstable-options --output-format json`.

use serde::de::DeserializeOwned;

/// The types, for a module that says how a few of their parts are held. Kinds of items that are rare are left out.
macro_rules! types {
    () => {
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
    };
}

/// As the crate has them.
mod before {
    type Text = String;
    type List<T> = Vec<T>;
    type Links = std::collections::HashMap<String, u32>;
    type InIndex<T> = T;
    type Rarely<T> = Option<T>;
    type Large<T> = T;
    types!();
}

/// After what the advice says.
mod after {
    type Text = dwell::sparse::ThinStr;
    type List<T> = dwell::sparse::ThinSlice<T>;
    type Links = dwell::sparse::SortedMap<Text, u32>;
    type InIndex<T> = Box<T>;
    type Rarely<T> = Option<Box<T>>;
    type Large<T> = Box<T>;
    types!();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let document = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file)?,
        None => made_up(),
    };
    let before: before::Crate = parse(&document)?;
    let advice = dwell::weigh::tree(&before).advise();
    println!("{advice}");
    println!("The first suggestion in full:\n\n{}", advice.suggestions.first().map_or("none\n", |first| first.patch()));
    drop(before);
    let after: after::Crate = parse(&document)?;
    println!("predicted {} bytes; measured after the changes {}", advice.after, dwell::weigh(&after));
    Ok(())
}

fn parse<T: DeserializeOwned>(document: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(document)
}

/// A crate of 3000 items: functions, fields, blocks of methods, some structs and enums.
fn made_up() -> String {
    use serde_json::{Map, Value, json};
    let text = json!({ "resolved_path": { "path": "String", "id": 1 } });
    let generics = json!({ "params": [], "where_predicates": [] });
    let index: Map<String, Value> = (0..3000)
        .map(|n| {
            let reference =
                json!({ "borrowed_ref": { "lifetime": null, "is_mutable": false, "type": { "generic": "Self" } } });
            let inner = match n % 10 {
                0 => json!({ "struct": { "generics": generics, "impls": [n + 1, n + 2] } }),
                1 => json!({ "enum": { "generics": generics, "variants": [n], "impls": [] } }),
                2 | 3 => {
                    json!({ "impl": { "is_unsafe": false, "generics": generics, "trait": { "path": "Debug", "id": 9 },
                                         "for": text, "items": [n + 3], "blanket_impl": null } })
                }
                4 | 5 => json!({ "struct_field": text }),
                _ => json!({ "function": { "generics": generics, "has_body": true, "sig": {
                    "inputs": [["self", reference]], "output": { "primitive": "bool" }, "is_c_variadic": false } } }),
            };
            let docs = if n % 3 == 0 { json!("What it does, in a sentence or two.") } else { Value::Null };
            let item = json!({ "id": n, "crate_id": 0, "name": format!("item{n}"), "docs": docs, "links": {},
                               "span": { "filename": "src/lib.rs", "begin": [n, 1], "end": [n, 40] },
                               "deprecation": null, "inner": inner });
            (n.to_string(), item)
        })
        .collect();
    json!({ "index": index, "paths": {} }).to_string()
}

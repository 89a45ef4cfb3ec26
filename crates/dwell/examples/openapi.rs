//! `OpenAPI` descriptions, with types as the crate `openapiv3` has them, and after following the advice.
//!
//! `cargo run --release --example openapi` makes a description up; add `-- FILE` for a real one in JSON.

use serde::de::DeserializeOwned;

/// The types, for a module that says how a few of their parts are held.
macro_rules! types {
    () => {
        use dwell::{Sparse as DeriveSparse, Weigh};
        use serde::Deserialize;

        #[derive(Deserialize, Weigh)]
        pub(crate) struct OpenApi {
            #[serde(default)]
            pub(crate) paths: Map<PathItem>,
            #[serde(default)]
            pub(crate) components: Components,
        }

        #[derive(Default, Deserialize, Weigh)]
        pub(crate) struct Components {
            #[serde(default)]
            pub(crate) schemas: Map<ReferenceOr<Schema>>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default)]
        pub(crate) struct PathItem {
            pub(crate) summary: Option<Text>,
            pub(crate) description: Option<Text>,
            pub(crate) get: Rarely<Operation>,
            pub(crate) put: Rarely<Operation>,
            pub(crate) post: Rarely<Operation>,
            pub(crate) delete: Rarely<Operation>,
            pub(crate) options: Rarely<Operation>,
            pub(crate) head: Rarely<Operation>,
            pub(crate) patch: Rarely<Operation>,
            pub(crate) trace: Rarely<Operation>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default, rename_all = "camelCase")]
        #[allow(clippy::struct_field_names)] // as OpenAPI names it
        pub(crate) struct Operation {
            pub(crate) tags: List<Text>,
            pub(crate) summary: Option<Text>,
            pub(crate) description: Option<Text>,
            pub(crate) operation_id: Option<Text>,
            pub(crate) parameters: List<ReferenceOr<Parameter>>,
            pub(crate) responses: Map<ReferenceOr<Response>>,
            pub(crate) deprecated: bool,
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Parameter {
            pub(crate) name: Text,
            pub(crate) r#in: Text,
            #[serde(default)]
            pub(crate) description: Option<Text>,
            #[serde(default)]
            pub(crate) required: bool,
            #[serde(default)]
            pub(crate) schema: Option<Box<ReferenceOr<Schema>>>,
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Response {
            #[serde(default)]
            pub(crate) description: Text,
            #[serde(default)]
            pub(crate) content: Map<MediaType>,
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct MediaType {
            #[serde(default)]
            pub(crate) schema: Option<Box<ReferenceOr<Schema>>>,
        }

        #[derive(Deserialize, Weigh)]
        #[serde(untagged)]
        #[allow(clippy::large_enum_variant)]
        pub(crate) enum ReferenceOr<T> {
            Reference {
                #[serde(rename = "$ref")]
                reference: Text,
            },
            Item(T),
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Schema {
            #[serde(flatten)]
            pub(crate) data: Mostly<SchemaData>,
            #[serde(flatten)]
            pub(crate) kind: SchemaKind,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct SchemaData {
            pub(crate) nullable: bool,
            pub(crate) read_only: bool,
            pub(crate) write_only: bool,
            pub(crate) deprecated: bool,
            pub(crate) title: Option<Text>,
            pub(crate) description: Option<Text>,
            pub(crate) external_docs: Rarely<ExternalDocs>,
            pub(crate) discriminator: Rarely<Discriminator>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default)]
        pub(crate) struct ExternalDocs {
            pub(crate) description: Option<Text>,
            pub(crate) url: Text,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct Discriminator {
            pub(crate) property_name: Text,
            pub(crate) mapping: Map<Text>,
        }

        #[derive(Deserialize, Weigh)]
        #[serde(rename_all = "camelCase", untagged)]
        #[allow(clippy::large_enum_variant)]
        pub(crate) enum SchemaKind {
            OneOf {
                #[serde(rename = "oneOf")]
                one_of: List<ReferenceOr<Schema>>,
            },
            AllOf {
                #[serde(rename = "allOf")]
                all_of: List<ReferenceOr<Schema>>,
            },
            Type(Typed),
            Any {},
        }

        #[derive(Deserialize, Weigh)]
        #[serde(tag = "type", rename_all = "camelCase")]
        #[allow(clippy::large_enum_variant)]
        pub(crate) enum Typed {
            String(Large<StringType>),
            Number(Large<NumberType>),
            Integer(Large<IntegerType>),
            Object(Large<ObjectType>),
            Array(Large<ArrayType>),
            Boolean {},
        }

        #[derive(Default, Deserialize, Weigh)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct StringType {
            pub(crate) format: Option<Text>,
            pub(crate) pattern: Option<Text>,
            pub(crate) r#enum: List<Option<Text>>,
            pub(crate) min_length: Option<usize>,
            pub(crate) max_length: Option<usize>,
        }

        #[derive(Default, Deserialize, Weigh)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct NumberType {
            pub(crate) format: Option<Text>,
            pub(crate) minimum: Option<f64>,
            pub(crate) maximum: Option<f64>,
        }

        #[derive(Default, Deserialize, Weigh)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct IntegerType {
            pub(crate) format: Option<Text>,
            pub(crate) minimum: Option<i64>,
            pub(crate) maximum: Option<i64>,
        }

        #[derive(Default, Deserialize, Weigh)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct ObjectType {
            pub(crate) properties: Map<ReferenceOr<Schema>>,
            pub(crate) required: List<Text>,
            pub(crate) min_properties: Option<usize>,
            pub(crate) max_properties: Option<usize>,
        }

        #[derive(Default, Deserialize, Weigh)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct ArrayType {
            pub(crate) items: Option<Box<ReferenceOr<Schema>>>,
            pub(crate) min_items: Option<usize>,
            pub(crate) max_items: Option<usize>,
        }
    };
}

/// As the crate has them.
mod before {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = std::collections::BTreeMap<String, V>;
    type Mostly<T> = T;
    type Rarely<T> = Option<T>;
    type Large<T> = T;
    types!();
}

/// After what the advice says.
mod after {
    type Text = dwell::sparse::ThinStr;
    type List<T> = dwell::sparse::ThinSlice<T>;
    type Map<V> = dwell::sparse::SortedMap<Text, V>;
    type Mostly<T> = dwell::Sparse<T>;
    type Rarely<T> = dwell::Sparse<T>;
    type Large<T> = Box<T>;
    types!();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let document = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file)?,
        None => made_up(),
    };
    let before: before::OpenApi = parse(&document)?;
    let advice = dwell::weigh::tree(&before).advise();
    println!("{advice}");
    println!("The first suggestion in full:\n\n{}", advice.suggestions.first().map_or("none\n", |first| first.patch()));
    drop(before);
    let after: after::OpenApi = parse(&document)?;
    println!("predicted {} bytes; measured after the changes {}", advice.after, dwell::weigh(&after));
    Ok(())
}

fn parse<T: DeserializeOwned>(document: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(document)
}

/// 300 paths and 600 schemas, most of them references, strings and small objects.
fn made_up() -> String {
    use serde_json::{Map, Value, json};
    let property = |n: usize| match n % 5 {
        0 => json!({ "$ref": format!("#/components/schemas/Schema{}", n % 600) }),
        1 => json!({ "type": "integer", "format": "int64" }),
        2 => json!({ "type": "string", "description": "What it is for." }),
        3 => json!({ "type": "array", "items": { "type": "string" } }),
        _ => json!({ "type": "string" }),
    };
    let schemas: Map<String, Value> = (0..600)
        .map(|n| {
            let properties: Map<String, Value> =
                (0..2 + n % 9).map(|m| (format!("property{m}"), property(n + m))).collect();
            (format!("Schema{n}"), json!({ "type": "object", "properties": properties, "required": ["property0"] }))
        })
        .collect();
    let operation = |n: usize| {
        json!({
            "operationId": format!("operation{n}"),
            "tags": ["made-up"],
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
            "responses": { "200": { "description": "Done", "content": { "application/json": {
                "schema": { "$ref": format!("#/components/schemas/Schema{n}") } } } } },
        })
    };
    let paths: Map<String, Value> = (0..300)
        .map(|n| {
            let item = if n % 3 == 0 {
                json!({ "get": operation(n), "post": operation(n) })
            } else {
                json!({ "get": operation(n) })
            };
            (format!("/path{n}/{{id}}"), item)
        })
        .collect();
    json!({ "openapi": "3.0.0", "paths": paths, "components": { "schemas": schemas } }).to_string()
}

//! Measures and shrinks types for `OpenAPI` descriptions, those of the crate `openapiv3`.
//!
//! ```text
//! cargo run --release -p dwell --features advice,derive,serde --example openapi            # a generated description
//! cargo run --release -p dwell --features advice,derive,serde --example openapi -- FILE    # a description in JSON
//! ```
//!
//! The example `follow` applies the suggestions one by one, on real data, and measures each.

#[path = "../data/mod.rs"]
mod data;

/// The types as the crate defines them.
mod before {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = std::collections::BTreeMap<String, V>;
    type Mostly<T> = T;
    type Rarely<T> = Option<T>;
    type Large<T> = T;
    include!("types.rs");
    include!("schema.rs");
}

/// The types after following the advice.
mod after {
    type Text = dwell::sparse::ThinStr;
    type List<T> = dwell::sparse::ThinSlice<T>;
    type Map<V> = dwell::sparse::SortedMap<Text, V>;
    type Mostly<T> = dwell::Sparse<T>;
    type Rarely<T> = dwell::Sparse<T>;
    type Large<T> = Box<T>;
    include!("types.rs");
    include!("schema.rs");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    data::run::<before::OpenApi, after::OpenApi>(|| vec![generated()])
}

/// Returns a description of 300 paths and 600 schemas, most of which are references, strings and small objects.
fn generated() -> String {
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

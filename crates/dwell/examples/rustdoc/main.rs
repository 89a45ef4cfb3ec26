//! Measures and shrinks types for rustdoc's JSON, those of the crate `rustdoc-types` without rare kinds of items.
//!
//! ```text
//! cargo run --release -p dwell --features advice,derive,serde --example rustdoc            # a generated crate
//! cargo run --release -p dwell --features advice,derive,serde --example rustdoc -- FILE    # a crate's JSON
//! ```
//!
//! `cargo +nightly rustdoc -- -Zunstable-options --output-format json` writes the JSON of a crate.
//!
//! The example `follow` applies the suggestions one by one, on real data, and measures each.

#[path = "../data/mod.rs"]
mod data;

/// The types as the crate defines them.
mod before {
    type Text = String;
    type List<T> = Vec<T>;
    type Links = std::collections::HashMap<String, u32>;
    type InIndex<T> = T;
    type Rarely<T> = Option<T>;
    type Large<T> = T;
    include!("types.rs");
}

/// The types after following the advice.
mod after {
    type Text = dwell::sparse::ThinStr;
    type List<T> = dwell::sparse::ThinSlice<T>;
    type Links = dwell::sparse::SortedMap<Text, u32>;
    type InIndex<T> = Box<T>;
    type Rarely<T> = Option<Box<T>>;
    type Large<T> = Box<T>;
    include!("types.rs");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    data::run::<before::Crate, after::Crate>(|| vec![generated()])
}

/// Returns the JSON of a crate of 3000 items: functions, fields, impl blocks, some structs and enums.
fn generated() -> String {
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

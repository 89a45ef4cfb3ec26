//! Measures and shrinks types for AWS service models in Smithy's JSON.
//!
//! ```text
//! cargo run --release -p dwell --features advice,derive,serde --example smithy           # generated models
//! cargo run --release -p dwell --features advice,derive,serde --example smithy -- DIR    # a folder of models
//! ```
//!
//! Real models are at <https://github.com/aws/api-models-aws>.
//!
//! The example `follow` applies the suggestions one by one, on real data, and measures each.

#[path = "../data/mod.rs"]
mod data;

/// The types as first written.
mod before {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = std::collections::HashMap<String, V>;
    type Always<T> = T;
    type Rarely<T> = Option<T>;
    type Large<T> = T;
    include!("types.rs");
    include!("parts.rs");
}

/// The types after following the advice.
mod after {
    type Text = dwell::sparse::ThinStr;
    type List<T> = dwell::sparse::ThinSlice<T>;
    type Map<V> = dwell::sparse::SortedMap<Text, V>;
    type Always<T> = dwell::Sparse<T>;
    type Rarely<T> = dwell::Sparse<T>;
    type Large<T> = Box<T>;
    include!("types.rs");
    include!("parts.rs");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    data::run::<before::Model, after::Model>(|| (0..40).map(generated).collect())
}

/// Returns a model of 300 shapes with the frequencies of real ones: three of four members have documentation, few have
/// more.
fn generated(model: usize) -> String {
    let mut shapes = serde_json::Map::new();
    for n in 0..300 {
        let text = |number: usize| "This is what it is for. ".repeat(1 + (n * 7 + number * 5 + model) % 9);
        let member = |m: usize| match (n + m) % 4 {
            0 => serde_json::json!({ "target": "smithy.api#String" }),
            1 => {
                serde_json::json!({ "target": format!("made.up#Shape{m}"), "traits": { "smithy.api#documentation": text(m), "smithy.api#required": {} } })
            }
            _ => {
                serde_json::json!({ "target": format!("made.up#Shape{m}"), "traits": { "smithy.api#documentation": text(m) } })
            }
        };
        let shape = match n % 10 {
            0..=4 => {
                let members: serde_json::Map<String, serde_json::Value> =
                    (0..n % 12).map(|m| (format!("member{m}"), member(m))).collect();
                serde_json::json!({ "type": "structure", "members": members, "traits": { "smithy.api#documentation": text(0) } })
            }
            5 | 6 => serde_json::json!({
                "type": "operation",
                "input": { "target": format!("made.up#Shape{}", n + 1) },
                "output": { "target": format!("made.up#Shape{}", n + 2) },
                "errors": [{ "target": "made.up#Error" }],
                "traits": { "smithy.api#documentation": text(3), "smithy.api#http": { "method": "POST", "uri": format!("/operation{n}"), "code": 200 } },
            }),
            7 => serde_json::json!({ "type": "list", "member": member(n) }),
            8 => serde_json::json!({ "type": "string", "traits": { "smithy.api#length": { "min": 1, "max": 64 } } }),
            _ if n == 9 => {
                serde_json::json!({ "type": "service", "version": "2024-01-01", "operations": [], "traits": { "aws.api#service": { "sdkId": "Made Up" } } })
            }
            _ => serde_json::json!({ "type": "integer" }),
        };
        shapes.insert(format!("made.up#Shape{n}"), shape);
    }
    serde_json::json!({ "smithy": "2.0", "shapes": shapes }).to_string()
}

//! A corpus of service models in the format of Smithy's JSON AST, generated from a seed.
//!
//! The corpus replaces real data in tests and demonstrations. Its structure, fill rates and lengths match a published
//! corpus of 301 service models (86,504 shapes); its texts are generated. A seed gives the same bytes on every machine,
//! since the generator uses integers and exact float arithmetic only.

mod draw;
mod model;
mod node;
mod service;
mod shapes;
#[cfg(test)]
mod tests;
mod traits;
mod words;

use model::Model;

/// Returns the documents of `models` services: the file name and pretty-printed JSON, about 200 KB each.
///
/// Document `i` depends on `seed` and `i` only. One in fifty is five times as large.
///
/// ```
/// let (name, json) = dwell_shape::sample::documents(1, 40).next().unwrap();
/// assert!(name.ends_with(".json"));
/// assert!(json.starts_with(b"{\n  \"smithy\": \"2.0\""));
/// ```
#[expect(clippy::missing_panics_doc, reason = "serialising the generated models cannot fail")]
pub fn documents(seed: u64, models: usize) -> impl Iterator<Item = (String, Vec<u8>)> {
    (0..models).map(move |index| {
        let mut model = Model::new(seed, index);
        let name = format!("{}-{}-{}.json", model.namespace, index, model.version);
        let mut json = serde_json::to_vec_pretty(&model.document()).expect("a node holds nothing that JSON cannot");
        json.push(b'\n');
        (name, json)
    })
}

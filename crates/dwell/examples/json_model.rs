//! Measures and shrinks the types of a catalogue of products in JSON: as first written, and after the suggestions of
//! `weigh`.
//!
//! ```text
//! cargo run --release -p dwell --features advice,derive,serde --example json_model
//! ```
//!
//! The output lists each field to change, the saving and the costs. The last line compares the predicted bytes with
//! those of the changed types.

mod data;

use serde_json::{Value, json};

/// The types as first written.
mod before {
    use dwell::Weigh;
    use serde::Deserialize;
    use std::collections::HashMap;

    #[derive(Deserialize, Weigh)]
    pub(crate) struct Catalogue {
        pub(crate) products: Vec<Product>,
    }

    #[derive(Deserialize, Weigh)]
    pub(crate) struct Product {
        pub(crate) name: String,
        #[serde(default)]
        pub(crate) tags: Vec<String>,
        #[serde(default)]
        pub(crate) attributes: HashMap<String, String>,
        pub(crate) parcel: Option<Parcel>, // one product of ten
        pub(crate) recall: Option<Recall>, // one of a hundred
    }

    #[derive(Deserialize, Weigh)]
    pub(crate) struct Parcel {
        pub(crate) millimetres: [u32; 3],
        pub(crate) grams: u64,
        pub(crate) carrier: Option<String>,
        pub(crate) hazard: Option<String>,
    }

    #[derive(Deserialize, Weigh)]
    pub(crate) struct Recall {
        pub(crate) reason: String,
        pub(crate) contact: String,
        pub(crate) batches: Vec<String>,
    }
}

/// The types after following the advice. The JSON is the same.
mod after {
    use dwell::sparse::{SortedMap, ThinSlice, ThinStr};
    use dwell::{Sparse, Weigh};
    use serde::Deserialize;

    #[derive(Deserialize, Weigh)]
    pub(crate) struct Catalogue {
        pub(crate) products: ThinSlice<Product>,
    }

    #[derive(Deserialize, Weigh)]
    pub(crate) struct Product {
        pub(crate) name: ThinStr,
        #[serde(default)]
        pub(crate) tags: ThinSlice<ThinStr>,
        #[serde(default)]
        pub(crate) attributes: SortedMap<ThinStr, ThinStr>,
        #[serde(default, with = "dwell::sparse::nullable")]
        pub(crate) parcel: Sparse<Parcel>,
        #[serde(default, with = "dwell::sparse::nullable")]
        pub(crate) recall: Sparse<Recall>,
    }

    #[derive(Default, Deserialize, Sparse, Weigh)]
    pub(crate) struct Parcel {
        pub(crate) millimetres: [u32; 3],
        pub(crate) grams: u64,
        pub(crate) carrier: Option<ThinStr>,
        pub(crate) hazard: Option<ThinStr>,
    }

    #[derive(Default, Deserialize, Sparse, Weigh)]
    pub(crate) struct Recall {
        pub(crate) reason: ThinStr,
        pub(crate) contact: ThinStr,
        pub(crate) batches: ThinSlice<ThinStr>,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    data::run::<before::Catalogue, after::Catalogue>(|| vec![catalogue()])
}

/// Returns 5000 products, of which one in ten has a parcel and one in a hundred a recall.
fn catalogue() -> String {
    let products: Vec<Value> = (0..5000)
        .map(|n| {
            let tags = &["new", "garden"][..n % 3];
            let mut product = json!({
                "name": format!("product {n}"),
                "tags": tags,
                "attributes": { "colour": "green", "size": format!("{}", n % 50) },
            });
            if n % 10 == 0 {
                product["parcel"] =
                    json!({ "millimetres": [n, 200, 40], "grams": 900, "carrier": "post", "hazard": null });
            }
            if n % 100 == 0 {
                let batches = [format!("B{n}")];
                product["recall"] =
                    json!({ "reason": "sharp edges", "contact": "help@example.com", "batches": batches });
            }
            product
        })
        .collect();
    json!({ "products": products }).to_string()
}

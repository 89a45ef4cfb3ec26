//! Service models in Smithy's JSON, as one writes their types first, and after following the advice.
//!
//! `cargo run --release -p dwell --features derive,serde --example smithy` makes models up;
//! add `-- DIR` for a folder of real ones, as in <https://github.com/aws/api-models-aws>.

use serde::de::DeserializeOwned;
use std::path::Path;

/// The types, for a module that says how a few of their parts are held.
macro_rules! types {
    () => {
        use dwell::{Sparse as DeriveSparse, Weigh};
        use serde::Deserialize;

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Model {
            #[allow(dead_code)]
            pub(crate) smithy: Text,
            #[serde(default)]
            pub(crate) shapes: Map<Shape>,
        }

        #[derive(Deserialize, Weigh)]
        #[serde(tag = "type", rename_all = "camelCase")]
        #[allow(clippy::large_enum_variant)]
        pub(crate) enum Shape {
            Structure {
                #[serde(default)]
                members: Map<Member>,
                #[serde(default)]
                traits: Always<Traits>,
            },
            Union {
                #[serde(default)]
                members: Map<Member>,
                #[serde(default)]
                traits: Always<Traits>,
            },
            Enum {
                #[serde(default)]
                members: Map<Member>,
                #[serde(default)]
                traits: Always<Traits>,
            },
            IntEnum {
                #[serde(default)]
                members: Map<Member>,
                #[serde(default)]
                traits: Always<Traits>,
            },
            List {
                member: Member,
                #[serde(default)]
                traits: Always<Traits>,
            },
            Set {
                member: Member,
                #[serde(default)]
                traits: Always<Traits>,
            },
            Map {
                key: Member,
                value: Member,
                #[serde(default)]
                traits: Always<Traits>,
            },
            Operation {
                input: Option<Reference>,
                output: Option<Reference>,
                #[serde(default)]
                errors: List<Reference>,
                #[serde(default)]
                traits: Always<Traits>,
            },
            Service(Large<Service>),
            Resource(Large<Resource>),
            String {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Boolean {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Byte {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Short {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Integer {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Long {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Float {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Double {
                #[serde(default)]
                traits: Always<Traits>,
            },
            BigInteger {
                #[serde(default)]
                traits: Always<Traits>,
            },
            BigDecimal {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Blob {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Timestamp {
                #[serde(default)]
                traits: Always<Traits>,
            },
            Document {
                #[serde(default)]
                traits: Always<Traits>,
            },
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Service {
            pub(crate) version: Option<Text>,
            #[serde(default)]
            pub(crate) operations: List<Reference>,
            #[serde(default)]
            pub(crate) resources: List<Reference>,
            #[serde(default)]
            pub(crate) errors: List<Reference>,
            #[serde(default)]
            pub(crate) traits: Always<Traits>,
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Resource {
            #[serde(default)]
            pub(crate) identifiers: Map<Reference>,
            pub(crate) create: Option<Reference>,
            pub(crate) read: Option<Reference>,
            pub(crate) update: Option<Reference>,
            pub(crate) delete: Option<Reference>,
            pub(crate) list: Option<Reference>,
            pub(crate) put: Option<Reference>,
            #[serde(default)]
            pub(crate) operations: List<Reference>,
            #[serde(default)]
            pub(crate) traits: Always<Traits>,
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Reference {
            pub(crate) target: Text,
        }

        #[derive(Deserialize, Weigh)]
        pub(crate) struct Member {
            pub(crate) target: Text,
            #[serde(default)]
            pub(crate) traits: Always<Traits>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default)]
        pub(crate) struct Traits {
            #[serde(rename = "smithy.api#documentation")]
            pub(crate) documentation: Option<Text>,
            #[serde(rename = "smithy.api#title")]
            pub(crate) title: Option<Text>,
            #[serde(rename = "smithy.api#pattern")]
            pub(crate) pattern: Option<Text>,
            #[serde(rename = "smithy.api#error")]
            pub(crate) error: Option<Text>,
            #[serde(rename = "smithy.api#httpError")]
            pub(crate) http_error: Option<u16>,
            #[serde(rename = "smithy.api#jsonName")]
            pub(crate) json_name: Option<Text>,
            #[serde(rename = "smithy.api#xmlName")]
            pub(crate) xml_name: Option<Text>,
            #[serde(rename = "smithy.api#httpHeader")]
            pub(crate) http_header: Option<Text>,
            #[serde(rename = "smithy.api#httpQuery")]
            pub(crate) http_query: Option<Text>,
            #[serde(rename = "smithy.api#timestampFormat")]
            pub(crate) timestamp_format: Option<Text>,
            #[serde(rename = "smithy.api#http")]
            pub(crate) http: Rarely<Http>,
            #[serde(rename = "smithy.api#length")]
            pub(crate) length: Rarely<Length>,
            #[serde(rename = "smithy.api#paginated")]
            pub(crate) paginated: Rarely<Paginated>,
            #[serde(rename = "smithy.api#deprecated")]
            pub(crate) deprecated: Rarely<Deprecated>,
            #[serde(rename = "aws.api#service")]
            pub(crate) service: Rarely<ServiceTrait>,
            #[serde(rename = "aws.iam#iamAction")]
            pub(crate) iam_action: Rarely<IamAction>,
            #[serde(rename = "aws.api#arn")]
            pub(crate) arn: Rarely<Arn>,
            #[serde(rename = "smithy.api#tags")]
            pub(crate) tags: List<Text>,
            #[serde(rename = "aws.iam#conditionKeys")]
            pub(crate) condition_keys: List<Text>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default)]
        pub(crate) struct Http {
            pub(crate) method: Option<Text>,
            pub(crate) uri: Option<Text>,
            pub(crate) code: Option<u16>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default)]
        pub(crate) struct Length {
            pub(crate) min: Option<u64>,
            pub(crate) max: Option<u64>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct Paginated {
            pub(crate) input_token: Option<Text>,
            pub(crate) output_token: Option<Text>,
            pub(crate) items: Option<Text>,
            pub(crate) page_size: Option<Text>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default)]
        pub(crate) struct Deprecated {
            pub(crate) message: Option<Text>,
            pub(crate) since: Option<Text>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct ServiceTrait {
            pub(crate) sdk_id: Option<Text>,
            pub(crate) arn_namespace: Option<Text>,
            pub(crate) cloud_formation_name: Option<Text>,
            pub(crate) cloud_trail_event_source: Option<Text>,
            pub(crate) endpoint_prefix: Option<Text>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default, rename_all = "camelCase")]
        pub(crate) struct IamAction {
            pub(crate) name: Option<Text>,
            pub(crate) documentation: Option<Text>,
            pub(crate) relative_documentation: Option<Text>,
            pub(crate) required_actions: List<Text>,
        }

        #[derive(Default, Deserialize, Weigh, DeriveSparse)]
        #[serde(default)]
        pub(crate) struct Arn {
            pub(crate) template: Option<Text>,
            pub(crate) absolute: Option<bool>,
        }
    };
}

/// As one writes them first.
mod before {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = std::collections::HashMap<String, V>;
    type Always<T> = T;
    type Rarely<T> = Option<T>;
    type Large<T> = T;
    types!();
}

/// After what the advice says.
mod after {
    type Text = dwell::sparse::ThinStr;
    type List<T> = dwell::sparse::ThinSlice<T>;
    type Map<V> = dwell::sparse::SortedMap<Text, V>;
    type Always<T> = dwell::Sparse<T>;
    type Rarely<T> = dwell::Sparse<T>;
    type Large<T> = Box<T>;
    types!();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let documents = match std::env::args().nth(1) {
        Some(folder) => read(Path::new(&folder))?,
        None => (0..40).map(made_up).collect(),
    };
    let before: Vec<before::Model> = parse(&documents)?;
    let tree = dwell::weigh::tree(&before);
    let advice = tree.advise();
    println!("{advice}");
    println!("The first suggestion in full:\n\n{}", advice.suggestions.first().map_or("none\n", |first| first.patch()));
    drop(before);
    let after: Vec<after::Model> = parse(&documents)?;
    println!("predicted {} bytes; measured after the changes {}", advice.after, dwell::weigh(&after));
    Ok(())
}

fn parse<T: DeserializeOwned>(documents: &[String]) -> Result<Vec<T>, serde_json::Error> {
    let mut models: Vec<T> = Vec::with_capacity(documents.len());
    for document in documents {
        models.push(serde_json::from_str(document)?);
    }
    Ok(models)
}

fn read(folder: &Path) -> Result<Vec<String>, std::io::Error> {
    let mut files: Vec<_> = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(std::fs::read_to_string).collect()
}

/// A model of 300 shapes, as full as real ones: three of four members have documentation, few have more.
fn made_up(model: usize) -> String {
    let mut shapes = serde_json::Map::new();
    for n in 0..300 {
        let text = |of: usize| "This is what it is for. ".repeat(1 + (n * 7 + of * 5 + model) % 9);
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

//! Loads AWS's Smithy models, the `.json` files of a folder, into the structs that one writes first, and keeps them until the end:
//! the types of `bench/src/sparse/layouts.rs` in the layout `unboxed`, without what the comparison there needs.
//!
//! ```sh
//! cd crates/cargo-dwell/examples/smithy
//! cargo dwell census --at exit -- DIR                   # as first written
//! cargo dwell census --at exit --features first -- DIR  # the first finding followed, then the second, then the article's boxes
//! ```
#![allow(dead_code, reason = "most fields are only loaded")]

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer};

type Text = String;
type List<T> = Vec<T>;
type Map<V> = FxHashMap<Text, V>;

/// `Shape.key`, `.value`, `.member`, `.input`, `.output`
#[cfg(not(any(feature = "first", feature = "article")))]
type Link<T> = T;
#[cfg(any(feature = "first", feature = "article"))]
type Link<T> = Box<T>;

/// `Traits.service`, `.iam_action`
#[cfg(not(feature = "second"))]
type Rarely<T> = Option<T>;
#[cfg(feature = "second")]
type Rarely<T> = Option<Box<T>>;

/// `Shape.traits`, `Reference.traits`
#[cfg(not(feature = "article"))]
type Always<T> = T;
#[cfg(feature = "article")]
type Always<T> = BoxedIfAny<T>;

/// No box for traits that say nothing.
pub struct BoxedIfAny<T>(Option<Box<T>>);

impl<T> Default for BoxedIfAny<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de> Deserialize<'de> for BoxedIfAny<Traits> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let traits = Traits::deserialize(deserializer)?;
        let is_empty = traits.documentation.is_none()
            && traits.title.is_none()
            && traits.service.is_none()
            && traits.iam_action.is_none()
            && traits.arn.is_none();
        Ok(Self((!is_empty).then(|| Box::new(traits))))
    }
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum ShapeType {
    BigDecimal,
    BigInteger,
    Blob,
    Boolean,
    Byte,
    Document,
    Double,
    Enum,
    Float,
    IntEnum,
    Integer,
    List,
    Long,
    Map,
    Member,
    Operation,
    Resource,
    Service,
    Set,
    Short,
    String,
    Structure,
    Timestamp,
    Union,
}
#[derive(Deserialize)]
pub struct Model {
    #[serde(default)]
    smithy: Option<Text>,
    #[serde(default)]
    shapes: Map<Shape>,
}
#[derive(Deserialize)]
pub struct Shape {
    #[serde(rename = "type")]
    kind: ShapeType,
    #[serde(default)]
    operations: List<Reference>,
    #[serde(default)]
    members: Map<Reference>,
    #[serde(default)]
    key: Option<Link<Reference>>,
    #[serde(default)]
    value: Option<Link<Reference>>,
    #[serde(default)]
    member: Option<Link<Reference>>,
    #[serde(default)]
    input: Option<Link<Reference>>,
    #[serde(default)]
    output: Option<Link<Reference>>,
    #[serde(default)]
    traits: Always<Traits>,
}
#[derive(Deserialize)]
pub struct Reference {
    target: Text,
    #[serde(default)]
    traits: Always<Traits>,
}
#[derive(Default, Deserialize)]
pub struct Traits {
    #[serde(rename = "smithy.api#documentation", default)]
    documentation: Option<Text>,
    #[serde(rename = "smithy.api#title", default)]
    title: Option<Text>,
    #[serde(rename = "aws.api#service", default)]
    service: Rarely<ServiceTrait>,
    #[serde(rename = "aws.iam#iamAction", default)]
    iam_action: Rarely<IamAction>,
    #[serde(rename = "aws.api#arn", default)]
    arn: Option<Arn>,
}
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceTrait {
    #[serde(default)]
    sdk_id: Option<Text>,
    #[serde(default)]
    arn_namespace: Option<Text>,
    #[serde(default)]
    cloud_formation_name: Option<Text>,
    #[serde(default)]
    cloud_trail_event_source: Option<Text>,
    #[serde(default)]
    endpoint_prefix: Option<Text>,
    #[serde(default)]
    doc_id: Option<Text>,
}
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IamAction {
    #[serde(default)]
    name: Option<Text>,
    #[serde(default)]
    documentation: Option<Text>,
    #[serde(default)]
    required_actions: List<Text>,
    #[serde(default)]
    creates_resources: List<Text>,
    #[serde(default)]
    resources: Option<IamResources>,
}
#[derive(Default, Deserialize)]
pub struct IamResources {
    #[serde(default)]
    required: Map<IamResource>,
    #[serde(default)]
    optional: Map<IamResource>,
}
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IamResource {
    #[serde(default)]
    condition_keys: List<Text>,
}
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Arn {
    #[serde(default)]
    template: Option<Text>,
    #[serde(default)]
    absolute: Option<bool>,
    #[serde(default)]
    no_account: Option<bool>,
    #[serde(default)]
    no_region: Option<bool>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: smithy DIR")?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut models: Vec<Model> = Vec::with_capacity(files.len());
    for file in &files {
        models.push(serde_json::from_slice(&std::fs::read(file)?)?);
    }
    let shapes: usize = models.iter().map(|model| model.shapes.len()).sum();
    println!("{} models, {shapes} shapes", models.len());
    // Kept until the end, where nothing uses it.
    std::hint::black_box(Box::leak(std::hint::black_box(Box::new(models))));
    Ok(())
}

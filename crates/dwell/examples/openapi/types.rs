// Included by the modules `before` and `after`, which define `Text`, `List` and the other aliases.

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
#[allow(clippy::struct_field_names)] // the name in OpenAPI
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

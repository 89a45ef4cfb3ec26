// The parts of shapes: services, members and traits. Included by the modules `before` and `after`, as `types.rs` is.

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

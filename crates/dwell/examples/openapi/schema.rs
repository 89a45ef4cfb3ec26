// Schemas. Included by the modules `before` and `after`, as `types.rs` is.

#[derive(Deserialize, Weigh)]
pub(crate) struct Schema {
    #[serde(flatten)]
    pub(crate) data: Mostly<SchemaData>,
    #[serde(flatten)]
    pub(crate) kind: SchemaKind,
}

#[derive(Default, Deserialize, Weigh, DeriveSparse)]
#[serde(default, rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "as in the crate openapiv3")]
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

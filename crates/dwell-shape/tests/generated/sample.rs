//! Types for 12 JSON documents, written by `cargo dwell shape --rust`.
//!
//! Loaded, they take 21.4 MB in 23,168 allocations as `naive` types and 2.1 MB in 24,541 allocations (9.6 %) as `lean` ones.

/// First-draft types: `String`, `Vec`, `HashMap`, 64-bit integers.
pub mod naive {
    use serde::{Deserialize, Serialize};
    use std::collections::HashMap;

    /// 12 objects at `$`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Document {
        /// In all objects; 3 bytes, always the same string.
        pub smithy: String,
        /// In all objects; 178.7 entries on average, at most 434.
        pub shapes: HashMap<String, Shape>,
        /// In 66.7 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub metadata: Option<Metadata>,
    }

    /// One of 17 variants, by the value of `type`: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    pub enum Shape {
        /// 49.7 %.
        Structure(StructureShape),
        /// 14.1 %.
        Operation(OperationShape),
        /// 12.5 %.
        String(StringShape),
        /// 10.3 %.
        List(ListShape),
        /// 6.7 %.
        Enum(EnumShape),
        /// 2.4 %.
        Integer(IntegerShape),
        /// 0.9 %.
        Map(MapShape),
        /// 0.6 %.
        Boolean(BooleanShape),
        /// 0.6 %.
        Service(ServiceShape),
        /// 0.5 %.
        Timestamp(TimestampShape),
        /// 0.4 %.
        Union(UnionShape),
        /// 0.4 %.
        Resource(ResourceShape),
        /// 0.3 %.
        Long(LongShape),
        /// 0.3 %.
        Double(DoubleShape),
        /// 0.2 %.
        Blob(BlobShape),
        /// 0.05 %.
        Document,
        /// 0.05 %.
        Float,
        /// An object with a tag that was not seen.
        #[serde(untagged)]
        Other(serde_json::Value),
    }

    /// 1,065 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StructureShape {
        /// In all objects; 3.7 entries on average if not empty, at most 35, 7.8 % empty.
        pub members: HashMap<String, Member>,
        /// In 95.3 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 4,491 objects at `$.shapes.*.members.*`, `$.shapes.*.member`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Member {
        /// In all objects; 15 to 58 bytes, 834 distinct.
        pub target: String,
        /// In 92.3 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5,864 objects at `$.shapes.*.members.*.traits`, `$.shapes.*.traits`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Traits {
        /// In 74.2 % of the objects; 10 to 9,967 bytes, 3,352 distinct.
        #[serde(rename = "smithy.api#documentation")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<String>,
        /// In 4.3 % of the objects; 255 times `{}`.
        #[serde(rename = "smithy.api#output", skip_serializing_if = "Option::is_none")]
        pub output: Option<Empty>,
        /// In 2.2 % of the objects; 3 to 148 bytes, 111 distinct.
        #[serde(rename = "smithy.api#pattern", skip_serializing_if = "Option::is_none")]
        pub pattern: Option<String>,
        /// In 0.3 % of the objects; 17 times `{}`.
        #[serde(rename = "smithy.api#sensitive")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sensitive: Option<Empty>,
        /// In 2.0 % of the objects; 119 times `{}`.
        #[serde(rename = "smithy.api#httpLabel")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_label: Option<Empty>,
        /// In 18.4 % of the objects; 1,080 times `{}`.
        #[serde(rename = "smithy.api#required")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Empty>,
        /// In 4.8 % of the objects; 281 times `{}`.
        #[serde(rename = "smithy.api#input", skip_serializing_if = "Option::is_none")]
        pub input: Option<Empty>,
        /// In 1.3 % of the objects; 2 to 23 bytes, 56 distinct.
        #[serde(rename = "smithy.api#httpQuery")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_query: Option<String>,
        /// In 0.5 % of the objects; 4 to 20 bytes, 28 distinct.
        #[serde(rename = "smithy.api#httpHeader")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_header: Option<String>,
        /// In 4.1 % of the objects.
        #[serde(rename = "smithy.api#length", skip_serializing_if = "Option::is_none")]
        pub length: Option<Length>,
        /// In 2.2 % of the objects; 130 times `{}`.
        #[serde(rename = "smithy.api#clientOptional")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub client_optional: Option<Empty>,
        /// In 2.3 % of the objects.
        #[serde(rename = "smithy.api#http", skip_serializing_if = "Option::is_none")]
        pub http: Option<Http>,
        /// In 0.3 % of the objects; 2 to 17 bytes, 16 distinct.
        #[serde(rename = "smithy.api#xmlName", skip_serializing_if = "Option::is_none")]
        pub xml_name: Option<String>,
        /// In 1.7 % of the objects.
        #[serde(rename = "smithy.api#error", skip_serializing_if = "Option::is_none")]
        pub error: Option<Error>,
        /// In 1.0 % of the objects.
        #[serde(rename = "smithy.api#paginated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paginated: Option<Paginated>,
        /// In 1.8 % of the objects.
        #[serde(rename = "smithy.api#default", skip_serializing_if = "Option::is_none")]
        pub default: Option<DefaultValue>,
        /// In 10.6 % of the objects; 3 to 17 bytes, 436 distinct.
        #[serde(rename = "smithy.api#enumValue")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub enum_value: Option<String>,
        /// In 0.5 % of the objects; 30 times `{}`.
        #[serde(rename = "smithy.api#idempotent")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotent: Option<Empty>,
        /// In 0.5 % of the objects; 27 times `{}`.
        #[serde(rename = "smithy.api#readonly")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub readonly: Option<Empty>,
        /// In 0.7 % of the objects.
        #[serde(rename = "smithy.api#range", skip_serializing_if = "Option::is_none")]
        pub range: Option<Length>,
        /// In 0.4 % of the objects.
        #[serde(rename = "aws.protocols#awsQueryError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_query_error: Option<AwsQueryError>,
        /// In 1.2 % of the objects; 400 to 500.
        #[serde(rename = "smithy.api#httpError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_error: Option<u64>,
        /// In 0.5 % of the objects; 1.5 elements on average, at most 2.
        #[serde(rename = "smithy.api#examples")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub examples: Option<Vec<Example>>,
        /// In 0.4 % of the objects; 4.9 elements on average, at most 7.
        #[serde(rename = "smithy.api#enum", skip_serializing_if = "Option::is_none")]
        pub r#enum: Option<Vec<Enum>>,
        /// In 0.2 % of the objects.
        #[serde(rename = "smithy.api#deprecated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub deprecated: Option<Deprecated>,
        /// In 0.09 % of the objects.
        #[serde(rename = "aws.api#arn", skip_serializing_if = "Option::is_none")]
        pub arn: Option<Arn>,
        /// In 0.05 % of the objects; 3 times `{}`.
        #[serde(rename = "aws.cloudformation#cfnResource")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cfn_resource: Option<Empty>,
        /// In 0.2 % of the objects.
        #[serde(rename = "aws.api#service", skip_serializing_if = "Option::is_none")]
        pub service: Option<Service>,
        /// In 0.2 % of the objects.
        #[serde(rename = "aws.auth#sigv4", skip_serializing_if = "Option::is_none")]
        pub sigv4: Option<Sigv4>,
        /// In 0.1 % of the objects; 7 times `{}`.
        #[serde(rename = "aws.protocols#restJson1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rest_json1: Option<Empty>,
        /// In 0.2 % of the objects; 16 to 23 bytes, 12 distinct.
        #[serde(rename = "smithy.api#title", skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// In 0.2 % of the objects.
        #[serde(rename = "smithy.rules#endpointRuleSet")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_rule_set: Option<EndpointRuleSet>,
        /// In 0.2 % of the objects.
        #[serde(rename = "smithy.rules#endpointTests")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_tests: Option<EndpointTests>,
        /// In 0.2 % of the objects.
        #[serde(rename = "aws.iam#iamAction", skip_serializing_if = "Option::is_none")]
        pub iam_action: Option<IamAction>,
        /// In 0.4 % of the objects; 22 times `{}`.
        #[serde(rename = "smithy.api#idempotencyToken")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotency_token: Option<Empty>,
        /// In 0.03 % of the objects; 33 to 36 bytes, 2 distinct.
        #[serde(rename = "aws.iam#actionPermissionDescription")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub action_permission_description: Option<String>,
        /// In 0.09 % of the objects; 5 times `{}`.
        #[serde(rename = "aws.protocols#awsJson1_1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_json1_1: Option<Empty>,
        /// In 0.05 % of the objects; 9 to 13 bytes, 2 distinct.
        #[serde(rename = "smithy.api#timestampFormat")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub timestamp_format: Option<String>,
        /// In 0.07 % of the objects.
        #[serde(rename = "smithy.api#xmlNamespace")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub xml_namespace: Option<XmlNamespace>,
        /// In 0.05 % of the objects; 3 times `{}`.
        #[serde(rename = "smithy.api#streaming")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub streaming: Option<Empty>,
        /// In 0.09 % of the objects; 5 times `{}`.
        #[serde(rename = "smithy.api#retryable")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub retryable: Option<Empty>,
        /// In 0.02 % of the objects; 1.0 elements on average, at most 1.
        #[serde(rename = "smithy.api#tags", skip_serializing_if = "Option::is_none")]
        pub tags: Option<Vec<String>>,
    }

    /// 2,106 objects at `$.shapes.*.traits["smithy.api#required"]`, `$.shapes.*.traits["smithy.api#input"]`, `$.shapes.*.traits["smithy.api#output"]`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Empty {}

    /// 285 objects at `$.shapes.*.traits["smithy.api#length"]`, `$.shapes.*.traits["smithy.api#range"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Length {
        /// In 87.4 % of the objects; 0 to 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<u64>,
        /// In all objects; 3 to 988061.
        pub max: u64,
    }

    /// 136 objects at `$.shapes.*.traits["smithy.api#http"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Http {
        /// In all objects.
        pub method: Method,
        /// In all objects; 11 to 63 bytes, 55 distinct.
        pub uri: String,
        /// In all objects; always 200.
        pub code: u64,
    }

    /// One of 5 strings, 136 values seen: `$.shapes.*.traits["smithy.api#http"].method`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum Method {
        /// 16.9 %.
        Delete,
        /// 20.6 %.
        Get,
        /// 21.3 %.
        Patch,
        /// 20.6 %.
        Post,
        /// 20.6 %.
        Put,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(String),
    }

    /// One of 2 strings, 101 values seen: `$.shapes.*.traits["smithy.api#error"]`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub enum Error {
        /// 73.3 %.
        Client,
        /// 26.7 %.
        Server,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(String),
    }

    /// 61 objects at `$.shapes.*.traits["smithy.api#paginated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Paginated {
        /// In all objects; 9 bytes, always the same string.
        pub input_token: String,
        /// In all objects; 9 bytes, always the same string.
        pub output_token: String,
        /// In all objects; 3 to 10 bytes, 50 distinct.
        pub items: String,
        /// In all objects; 10 bytes, always the same string.
        pub page_size: String,
    }

    /// A value of `$.shapes.*.members.*.traits["smithy.api#default"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum DefaultValue {
        /// 5.8 % of the values; true 0 times.
        Bool(bool),
        /// 94.2 % of the values; always 0.
        Integer(u64),
    }

    /// 24 objects at `$.shapes.*.traits["aws.protocols#awsQueryError"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct AwsQueryError {
        /// In all objects; 4 to 8 bytes, 24 distinct.
        pub code: String,
        /// In all objects; 400 to 500.
        pub http_response_code: u64,
    }

    /// 48 objects at `$.shapes.*.traits["smithy.api#examples"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Example {
        /// In all objects; 14 to 32 bytes, 48 distinct.
        pub title: String,
        /// In all objects; 26 to 104 bytes, 47 distinct.
        pub documentation: String,
        /// In all objects; 2.6 entries on average, at most 4.
        pub input: HashMap<String, serde_json::Value>,
        /// In all objects; 2.4 entries on average, at most 4.
        pub output: HashMap<String, serde_json::Value>,
    }

    /// 103 objects at `$.shapes.*.traits["smithy.api#enum"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Enum {
        /// In all objects; 3 to 10 bytes, 67 distinct.
        pub value: String,
        /// In all objects; 3 to 10 bytes, 67 distinct.
        pub name: String,
    }

    /// 10 objects at `$.shapes.*.traits["smithy.api#deprecated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Deprecated {
        /// In all objects; 15 to 20 bytes, 9 distinct.
        pub message: String,
    }

    /// 5 objects at `$.shapes.*.traits["aws.api#arn"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Arn {
        /// In all objects; 15 to 17 bytes, 5 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub template: Option<String>,
    }

    /// 12 objects at `$.shapes.*.traits["aws.api#service"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Service {
        /// In all objects; 8 to 15 bytes, 12 distinct.
        pub sdk_id: String,
        /// In 91.7 % of the objects; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub arn_namespace: Option<String>,
        /// In 83.3 % of the objects; 20 to 27 bytes, 10 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_trail_event_source: Option<String>,
        /// In 25.0 % of the objects; 21 to 26 bytes, 3 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub doc_id: Option<String>,
        /// In 91.7 % of the objects; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_prefix: Option<String>,
        /// In 50.0 % of the objects; 10 to 14 bytes, 6 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_formation_name: Option<String>,
    }

    /// 12 objects at `$.shapes.*.traits["aws.auth#sigv4"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Sigv4 {
        /// In all objects; 8 to 15 bytes, 12 distinct.
        pub name: String,
    }

    /// 12 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRuleSet {
        /// In all objects; 3 bytes, always the same string.
        pub version: String,
        /// In all objects.
        pub parameters: Parameters,
        /// In all objects; 2.1 elements on average, at most 3.
        pub rules: Vec<Rule>,
    }

    /// 12 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Parameters {
        /// In all objects.
        pub region: Parameter,
        /// In all objects.
        pub use_dual_stack: Parameter,
        /// In all objects.
        #[serde(rename = "UseFIPS")]
        pub use_fips: Parameter,
        /// In all objects.
        pub endpoint: Parameter,
    }

    /// 48 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.UseFIPS`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Endpoint`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Parameter {
        /// In all objects.
        pub built_in: BuiltIn,
        /// In all objects; true 24 times.
        pub required: bool,
        /// In all objects; 32 bytes, always the same string.
        pub documentation: String,
        /// In all objects.
        pub r#type: ParameterType,
        /// In 50.0 % of the objects; true 0 times.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub default: Option<bool>,
    }

    /// One of 4 strings, 48 values seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.builtIn`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum BuiltIn {
        /// 25.0 %.
        #[serde(rename = "AWS::Region")]
        AwsRegion,
        /// 25.0 %.
        #[serde(rename = "AWS::UseDualStack")]
        AwsUseDualStack,
        /// 25.0 %.
        #[serde(rename = "AWS::UseFIPS")]
        AwsUseFips,
        /// 25.0 %.
        #[serde(rename = "SDK::Endpoint")]
        SdkEndpoint,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(String),
    }

    /// One of 2 strings, 48 values seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.type`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum ParameterType {
        /// 50.0 %.
        Boolean,
        /// 50.0 %.
        String,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(String),
    }

    /// One of 3 variants, by the value of `type`: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    pub enum Rule {
        /// 43.2 %.
        Tree(TreeRule),
        /// 41.1 %.
        Endpoint(EndpointRule),
        /// 15.8 %.
        Error(ErrorRule),
        /// An object with a tag that was not seen; its keys are lost.
        #[serde(other)]
        Other,
    }

    /// 63 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TreeRule {
        /// In all objects; 1.5 elements on average if not empty, at most 2, 34.9 % empty.
        pub conditions: Vec<Condition>,
        /// In all objects; 1.9 elements on average, at most 3.
        pub rules: Vec<Rule>,
    }

    /// One of 3 variants, by the value of `fn`: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(tag = "fn", rename_all = "camelCase")]
    pub enum Condition {
        /// 42.6 %.
        #[serde(rename = "aws.partition")]
        AwsPartition(AwsPartitionCondition),
        /// 29.1 %.
        IsSet(IsSetCondition),
        /// 28.4 %.
        BooleanEquals(BooleanEqualsCondition),
        /// An object with a tag that was not seen.
        #[serde(untagged)]
        Other(serde_json::Value),
    }

    /// 60 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct AwsPartitionCondition {
        /// In all objects; 1.0 elements on average, at most 1.
        pub argv: Vec<Argv>,
        /// In all objects; 15 bytes, always the same string.
        pub assign: String,
    }

    /// 173 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint.url`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Argv {
        /// In all objects.
        pub r#ref: Ref,
    }

    /// One of 4 strings, 173 values seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint.url.ref`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum Ref {
        /// 42.2 %.
        Endpoint,
        /// 34.7 %.
        Region,
        /// 11.6 %.
        UseDualStack,
        /// 11.6 %.
        #[serde(rename = "UseFIPS")]
        UseFips,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(String),
    }

    /// 41 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct IsSetCondition {
        /// In all objects; 1.0 elements on average, at most 1.
        pub argv: Vec<Argv>,
    }

    /// 40 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BooleanEqualsCondition {
        /// In all objects; 2.0 elements on average, at most 2.
        pub argv: Vec<ArgvOrBool>,
    }

    /// A value of `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum ArgvOrBool {
        /// 50.0 % of the values; true 22 times.
        Bool(bool),
        /// 50.0 % of the values.
        Argv(Argv),
    }

    /// 60 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRule {
        /// In all objects; 1.6 elements on average if not empty, at most 2, 40.0 % empty.
        pub conditions: Vec<Condition>,
        /// In all objects.
        pub endpoint: Endpoint,
    }

    /// 204 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Endpoint {
        /// In all objects.
        pub url: Url,
        /// In 29.4 % of the objects; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub properties: Option<Empty>,
        /// In 29.4 % of the objects; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub headers: Option<Empty>,
    }

    /// A value of `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint.url`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum Url {
        /// 84.3 % of the values; 33 to 48 bytes, 104 distinct.
        Text(String),
        /// 15.7 % of the values.
        Argv(Argv),
    }

    /// 23 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ErrorRule {
        /// In all objects; 1.5 elements on average if not empty, at most 2, 39.1 % empty.
        pub conditions: Vec<Condition>,
        /// In all objects; 44 bytes, always the same string.
        pub error: String,
    }

    /// 12 objects at `$.shapes.*.traits["smithy.rules#endpointTests"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct EndpointTests {
        /// In all objects; 12.0 elements on average, at most 19.
        pub test_cases: Vec<TestCase>,
        /// In all objects; 3 bytes, always the same string.
        pub version: String,
    }

    /// 144 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TestCase {
        /// In all objects; 51 to 54 bytes, 20 distinct.
        pub documentation: String,
        /// In all objects.
        pub expect: Expect,
        /// In all objects.
        pub params: Params,
    }

    /// 144 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Expect {
        /// In all objects.
        pub endpoint: Endpoint,
    }

    /// 144 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Params {
        /// In all objects.
        pub region: Region,
        /// In all objects; true 71 times.
        #[serde(rename = "UseFIPS")]
        pub use_fips: bool,
        /// In all objects; true 72 times.
        pub use_dual_stack: bool,
    }

    /// One of 5 strings, 144 values seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params.Region`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum Region {
        /// 21.5 %.
        #[serde(rename = "east-1")]
        East1,
        /// 20.8 %.
        #[serde(rename = "north-1")]
        North1,
        /// 20.1 %.
        #[serde(rename = "north-2")]
        North2,
        /// 18.8 %.
        #[serde(rename = "south-1")]
        South1,
        /// 18.8 %.
        #[serde(rename = "west-1")]
        West1,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(String),
    }

    /// 10 objects at `$.shapes.*.traits["aws.iam#iamAction"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct IamAction {
        /// In 60.0 % of the objects; 6 to 25 bytes, 6 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// In 90.0 % of the objects; 33 to 40 bytes, 9 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<String>,
        /// In 30.0 % of the objects; 3.0 elements on average, at most 3.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required_actions: Option<Vec<String>>,
        /// In 20.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Resources>,
        /// In 10.0 % of the objects; 1.0 elements on average, at most 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub creates_resources: Option<Vec<String>>,
    }

    /// 2 objects at `$.shapes.*.traits["aws.iam#iamAction"].resources`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Resources {
        /// In all objects; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Required>,
    }

    /// 2 objects at `$.shapes.*.traits["aws.iam#iamAction"].resources.required`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Required {
        /// In 50.0 % of the objects; 1 time `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lever: Option<Empty>,
        /// In 50.0 % of the objects; 1 time `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub order: Option<Empty>,
    }

    /// 4 objects at `$.shapes.*.traits["smithy.api#xmlNamespace"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct XmlNamespace {
        /// In all objects; 43 to 49 bytes, 4 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uri: Option<String>,
    }

    /// 302 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct OperationShape {
        /// In all objects.
        pub input: Target,
        /// In all objects.
        pub output: Target,
        /// In 98.7 % of the objects; 4.5 elements on average, at most 20.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub errors: Option<Vec<Target>>,
        /// In all objects.
        pub traits: Traits,
    }

    /// 2,320 objects at `$.shapes.*.errors[]`, `$.shapes.*.input`, `$.shapes.*.output`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Target {
        /// In all objects; 15 to 67 bytes, 1,028 distinct.
        pub target: String,
    }

    /// 269 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StringShape {
        /// In 84.8 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 221 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ListShape {
        /// In all objects.
        pub member: Member,
        /// In 28.5 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 143 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EnumShape {
        /// In all objects; 4.4 entries on average, at most 54.
        pub members: HashMap<String, Member>,
        /// In 15.4 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 51 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct IntegerShape {
        /// In 78.4 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 20 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct MapShape {
        /// In all objects.
        pub key: Target,
        /// In all objects.
        pub value: Target,
        /// In 40.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 13 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BooleanShape {
        /// In 46.2 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 12 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ServiceShape {
        /// In all objects; 10 bytes, 12 distinct.
        pub version: String,
        /// In all objects; 25.2 elements on average, at most 62.
        pub operations: Vec<Target>,
        /// In 58.3 % of the objects; 1.1 elements on average, at most 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Vec<Target>>,
        /// In all objects.
        pub traits: Traits,
    }

    /// 11 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TimestampShape {
        /// In 27.3 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 9 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct UnionShape {
        /// In all objects; 2.9 entries on average, at most 9.
        pub members: HashMap<String, Member>,
        /// In all objects.
        pub traits: Traits,
    }

    /// 8 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ResourceShape {
        /// In 87.5 % of the objects; 1.0 entries on average, at most 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub identifiers: Option<HashMap<String, Target>>,
        /// In 50.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub create: Option<Target>,
        /// In 75.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub read: Option<Target>,
        /// In 37.5 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delete: Option<Target>,
        /// In 62.5 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
        /// In 75.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub update: Option<Target>,
        /// In 75.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub list: Option<Target>,
    }

    /// 7 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct LongShape {
        /// In 28.6 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 6 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct DoubleShape {
        /// In 50.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BlobShape {
        /// In 60.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 8 objects at `$.metadata`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Metadata {
        /// In all objects; 5.0 elements on average, at most 7.
        pub suppressions: Vec<Suppression>,
    }

    /// 40 objects at `$.metadata.suppressions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Suppression {
        /// In all objects; 7 to 15 bytes, 40 distinct.
        pub id: String,
        /// In all objects; 1 byte, always the same string.
        pub namespace: String,
    }
}

/// Types that take less memory and read the same JSON.
pub mod lean {
    use dwell::Sparse;
    use dwell::sparse::{SortedMap, ThinSlice, ThinStr};
    use serde::{Deserialize, Serialize};

    /// 12 objects at `$`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Document {
        /// In all objects; 3 bytes, always the same string.
        pub smithy: ThinStr,
        /// In all objects; 178.7 entries on average, at most 434.
        pub shapes: SortedMap<ThinStr, Shape>,
        /// In 66.7 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub metadata: Option<Metadata>,
    }

    /// One of 17 variants, by the value of `type`: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    pub enum Shape {
        /// 49.7 %.
        Structure(StructureShape),
        /// 14.1 %.
        Operation(OperationShape),
        /// 12.5 %.
        String(StringShape),
        /// 10.3 %.
        List(ListShape),
        /// 6.7 %.
        Enum(EnumShape),
        /// 2.4 %.
        Integer(IntegerShape),
        /// 0.9 %.
        Map(MapShape),
        /// 0.6 %.
        Boolean(BooleanShape),
        /// 0.6 %.
        Service(Box<ServiceShape>),
        /// 0.5 %.
        Timestamp(TimestampShape),
        /// 0.4 %.
        Union(UnionShape),
        /// 0.4 %.
        Resource(Box<ResourceShape>),
        /// 0.3 %.
        Long(LongShape),
        /// 0.3 %.
        Double(DoubleShape),
        /// 0.2 %.
        Blob(BlobShape),
        /// 0.05 %.
        Document,
        /// 0.05 %.
        Float,
        /// An object with a tag that was not seen.
        #[serde(untagged)]
        Other(Box<serde_json::Value>),
    }

    /// 1,065 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StructureShape {
        /// In all objects; 3.7 entries on average if not empty, at most 35, 7.8 % empty.
        pub members: SortedMap<ThinStr, Member>,
        /// In 95.3 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 4,491 objects at `$.shapes.*.members.*`, `$.shapes.*.member`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Member {
        /// In all objects; 15 to 58 bytes, 834 distinct.
        pub target: ThinStr,
        /// In 92.3 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5,864 objects at `$.shapes.*.members.*.traits`, `$.shapes.*.traits`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    pub struct Traits {
        /// In 74.2 % of the objects; 10 to 9,967 bytes, 3,352 distinct.
        #[serde(rename = "smithy.api#documentation")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<ThinStr>,
        /// In 4.3 % of the objects; 255 times `{}`.
        #[serde(rename = "smithy.api#output", skip_serializing_if = "Option::is_none")]
        pub output: Option<Empty>,
        /// In 2.0 % of the objects; 119 times `{}`.
        #[serde(rename = "smithy.api#httpLabel")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_label: Option<Empty>,
        /// In 18.4 % of the objects; 1,080 times `{}`.
        #[serde(rename = "smithy.api#required")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Empty>,
        /// In 4.8 % of the objects; 281 times `{}`.
        #[serde(rename = "smithy.api#input", skip_serializing_if = "Option::is_none")]
        pub input: Option<Empty>,
        /// In 2.2 % of the objects; 130 times `{}`.
        #[serde(rename = "smithy.api#clientOptional")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub client_optional: Option<Empty>,
        /// In 10.6 % of the objects; 3 to 17 bytes, 436 distinct.
        #[serde(rename = "smithy.api#enumValue")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub enum_value: Option<ThinStr>,
        /// 9.5 % of the objects have any of these fields.
        #[serde(flatten)]
        pub uncommon: Sparse<TraitsUncommon>,
        /// 6.1 % of the objects have any of these fields.
        #[serde(flatten)]
        pub rare: Sparse<TraitsRare>,
    }

    /// 2,106 objects at `$.shapes.*.traits["smithy.api#required"]`, `$.shapes.*.traits["smithy.api#input"]`, `$.shapes.*.traits["smithy.api#output"]`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Empty {}

    /// The rare fields of `$.shapes.*.members.*.traits`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    pub struct TraitsUncommon {
        /// In 2.2 % of the objects; 3 to 148 bytes, 111 distinct.
        #[serde(rename = "smithy.api#pattern", skip_serializing_if = "Option::is_none")]
        pub pattern: Option<ThinStr>,
        /// In 0.3 % of the objects; 17 times `{}`.
        #[serde(rename = "smithy.api#sensitive")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sensitive: Option<Empty>,
        /// In 1.3 % of the objects; 2 to 23 bytes, 56 distinct.
        #[serde(rename = "smithy.api#httpQuery")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_query: Option<ThinStr>,
        /// In 0.5 % of the objects; 4 to 20 bytes, 28 distinct.
        #[serde(rename = "smithy.api#httpHeader")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_header: Option<ThinStr>,
        /// In 4.1 % of the objects.
        #[serde(rename = "smithy.api#length", skip_serializing_if = "Option::is_none")]
        pub length: Option<Length>,
        /// In 1.8 % of the objects.
        #[serde(rename = "smithy.api#default", skip_serializing_if = "Option::is_none")]
        pub default: Option<Box<DefaultValue>>,
        /// In 0.7 % of the objects.
        #[serde(rename = "smithy.api#range", skip_serializing_if = "Option::is_none")]
        pub range: Option<Length>,
        /// In 0.4 % of the objects; 4.9 elements on average, at most 7.
        #[serde(rename = "smithy.api#enum", skip_serializing_if = "Option::is_none")]
        pub r#enum: Option<ThinSlice<Enum>>,
        /// In 0.4 % of the objects; 22 times `{}`.
        #[serde(rename = "smithy.api#idempotencyToken")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotency_token: Option<Empty>,
        /// In 0.05 % of the objects; 3 times `{}`.
        #[serde(rename = "smithy.api#streaming")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub streaming: Option<Empty>,
    }

    /// 285 objects at `$.shapes.*.traits["smithy.api#length"]`, `$.shapes.*.traits["smithy.api#range"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Length {
        /// In 87.4 % of the objects; 0 to 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<u16>,
        /// In all objects; 3 to 988061.
        pub max: u32,
    }

    /// A value of `$.shapes.*.members.*.traits["smithy.api#default"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum DefaultValue {
        /// 5.8 % of the values; true 0 times.
        Bool(bool),
        /// 94.2 % of the values; always 0.
        Integer(u64),
        /// A value of another type, which was not seen.
        Other(Box<serde_json::Value>),
    }

    /// 103 objects at `$.shapes.*.traits["smithy.api#enum"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Enum {
        /// In all objects; 3 to 10 bytes, 67 distinct.
        pub value: ThinStr,
        /// In all objects; 3 to 10 bytes, 67 distinct.
        pub name: ThinStr,
    }

    /// The rare fields of `$.shapes.*.members.*.traits`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    pub struct TraitsRare {
        /// In 2.3 % of the objects.
        #[serde(rename = "smithy.api#http", skip_serializing_if = "Option::is_none")]
        pub http: Option<Box<Http>>,
        /// In 0.3 % of the objects; 2 to 17 bytes, 16 distinct.
        #[serde(rename = "smithy.api#xmlName", skip_serializing_if = "Option::is_none")]
        pub xml_name: Option<ThinStr>,
        /// In 1.7 % of the objects.
        #[serde(rename = "smithy.api#error", skip_serializing_if = "Option::is_none")]
        pub error: Option<Error>,
        /// In 1.0 % of the objects.
        #[serde(rename = "smithy.api#paginated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paginated: Option<Box<Paginated>>,
        /// In 0.5 % of the objects; 30 times `{}`.
        #[serde(rename = "smithy.api#idempotent")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotent: Option<Empty>,
        /// In 0.5 % of the objects; 27 times `{}`.
        #[serde(rename = "smithy.api#readonly")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub readonly: Option<Empty>,
        /// In 0.4 % of the objects.
        #[serde(rename = "aws.protocols#awsQueryError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_query_error: Option<Box<AwsQueryError>>,
        /// In 1.2 % of the objects; 400 to 500.
        #[serde(rename = "smithy.api#httpError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_error: Option<u32>,
        /// In 0.5 % of the objects; 1.5 elements on average, at most 2.
        #[serde(rename = "smithy.api#examples")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub examples: Option<ThinSlice<Example>>,
        /// In 0.2 % of the objects.
        #[serde(rename = "smithy.api#deprecated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub deprecated: Option<Deprecated>,
        /// In 0.09 % of the objects.
        #[serde(rename = "aws.api#arn", skip_serializing_if = "Option::is_none")]
        pub arn: Option<Box<Arn>>,
        /// In 0.05 % of the objects; 3 times `{}`.
        #[serde(rename = "aws.cloudformation#cfnResource")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cfn_resource: Option<Empty>,
        /// In 0.2 % of the objects.
        #[serde(rename = "aws.api#service", skip_serializing_if = "Option::is_none")]
        pub service: Option<Box<Service>>,
        /// In 0.2 % of the objects.
        #[serde(rename = "aws.auth#sigv4", skip_serializing_if = "Option::is_none")]
        pub sigv4: Option<Sigv4>,
        /// In 0.1 % of the objects; 7 times `{}`.
        #[serde(rename = "aws.protocols#restJson1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rest_json1: Option<Empty>,
        /// In 0.2 % of the objects; 16 to 23 bytes, 12 distinct.
        #[serde(rename = "smithy.api#title", skip_serializing_if = "Option::is_none")]
        pub title: Option<ThinStr>,
        /// In 0.2 % of the objects.
        #[serde(rename = "smithy.rules#endpointRuleSet")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_rule_set: Option<Box<EndpointRuleSet>>,
        /// In 0.2 % of the objects.
        #[serde(rename = "smithy.rules#endpointTests")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_tests: Option<Box<EndpointTests>>,
        /// In 0.2 % of the objects.
        #[serde(rename = "aws.iam#iamAction")]
        #[serde(default)]
        #[serde(skip_serializing_if = "Sparse::is_empty")]
        pub iam_action: Sparse<IamAction>,
        /// In 0.03 % of the objects; 33 to 36 bytes, 2 distinct.
        #[serde(rename = "aws.iam#actionPermissionDescription")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub action_permission_description: Option<ThinStr>,
        /// In 0.09 % of the objects; 5 times `{}`.
        #[serde(rename = "aws.protocols#awsJson1_1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_json1_1: Option<Empty>,
        /// In 0.05 % of the objects; 9 to 13 bytes, 2 distinct.
        #[serde(rename = "smithy.api#timestampFormat")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub timestamp_format: Option<ThinStr>,
        /// In 0.07 % of the objects.
        #[serde(rename = "smithy.api#xmlNamespace")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub xml_namespace: Option<Box<XmlNamespace>>,
        /// In 0.09 % of the objects; 5 times `{}`.
        #[serde(rename = "smithy.api#retryable")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub retryable: Option<Empty>,
        /// In 0.02 % of the objects; 1.0 elements on average, at most 1.
        #[serde(rename = "smithy.api#tags", skip_serializing_if = "Option::is_none")]
        pub tags: Option<ThinSlice<ThinStr>>,
    }

    /// 136 objects at `$.shapes.*.traits["smithy.api#http"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Http {
        /// In all objects.
        pub method: Method,
        /// In all objects; 11 to 63 bytes, 55 distinct.
        pub uri: ThinStr,
        /// In all objects; always 200.
        pub code: u64,
    }

    /// One of 5 strings, 136 values seen: `$.shapes.*.traits["smithy.api#http"].method`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum Method {
        /// 16.9 %.
        Delete,
        /// 20.6 %.
        Get,
        /// 21.3 %.
        Patch,
        /// 20.6 %.
        Post,
        /// 20.6 %.
        Put,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// One of 2 strings, 101 values seen: `$.shapes.*.traits["smithy.api#error"]`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub enum Error {
        /// 73.3 %.
        Client,
        /// 26.7 %.
        Server,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// 61 objects at `$.shapes.*.traits["smithy.api#paginated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Paginated {
        /// In all objects; 9 bytes, always the same string.
        pub input_token: ThinStr,
        /// In all objects; 9 bytes, always the same string.
        pub output_token: ThinStr,
        /// In all objects; 3 to 10 bytes, 50 distinct.
        pub items: ThinStr,
        /// In all objects; 10 bytes, always the same string.
        pub page_size: ThinStr,
    }

    /// 24 objects at `$.shapes.*.traits["aws.protocols#awsQueryError"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct AwsQueryError {
        /// In all objects; 4 to 8 bytes, 24 distinct.
        pub code: ThinStr,
        /// In all objects; 400 to 500.
        pub http_response_code: u64,
    }

    /// 48 objects at `$.shapes.*.traits["smithy.api#examples"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Example {
        /// In all objects; 14 to 32 bytes, 48 distinct.
        pub title: ThinStr,
        /// In all objects; 26 to 104 bytes, 47 distinct.
        pub documentation: ThinStr,
        /// In all objects; 2.6 entries on average, at most 4.
        pub input: SortedMap<ThinStr, serde_json::Value>,
        /// In all objects; 2.4 entries on average, at most 4.
        pub output: SortedMap<ThinStr, serde_json::Value>,
    }

    /// 10 objects at `$.shapes.*.traits["smithy.api#deprecated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Deprecated {
        /// In all objects; 15 to 20 bytes, 9 distinct.
        pub message: ThinStr,
    }

    /// 5 objects at `$.shapes.*.traits["aws.api#arn"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Arn {
        /// In all objects; 15 to 17 bytes, 5 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub template: Option<ThinStr>,
    }

    /// 12 objects at `$.shapes.*.traits["aws.api#service"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Service {
        /// In all objects; 8 to 15 bytes, 12 distinct.
        pub sdk_id: ThinStr,
        /// In 91.7 % of the objects; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub arn_namespace: Option<ThinStr>,
        /// In 83.3 % of the objects; 20 to 27 bytes, 10 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_trail_event_source: Option<ThinStr>,
        /// In 25.0 % of the objects; 21 to 26 bytes, 3 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub doc_id: Option<ThinStr>,
        /// In 91.7 % of the objects; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_prefix: Option<ThinStr>,
        /// In 50.0 % of the objects; 10 to 14 bytes, 6 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_formation_name: Option<ThinStr>,
    }

    /// 12 objects at `$.shapes.*.traits["aws.auth#sigv4"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Sigv4 {
        /// In all objects; 8 to 15 bytes, 12 distinct.
        pub name: ThinStr,
    }

    /// 12 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRuleSet {
        /// In all objects; 3 bytes, always the same string.
        pub version: ThinStr,
        /// In all objects.
        pub parameters: Parameters,
        /// In all objects; 2.1 elements on average, at most 3.
        pub rules: Box<[Rule]>,
    }

    /// 12 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Parameters {
        /// In all objects.
        pub region: Parameter,
        /// In all objects.
        pub use_dual_stack: Parameter,
        /// In all objects.
        #[serde(rename = "UseFIPS")]
        pub use_fips: Parameter,
        /// In all objects.
        pub endpoint: Parameter,
    }

    /// 48 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.UseFIPS`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Endpoint`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Parameter {
        /// In all objects.
        pub built_in: BuiltIn,
        /// In all objects; true 24 times.
        pub required: bool,
        /// In all objects; 32 bytes, always the same string.
        pub documentation: ThinStr,
        /// In all objects.
        pub r#type: ParameterType,
        /// In 50.0 % of the objects; true 0 times.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub default: Option<bool>,
    }

    /// One of 4 strings, 48 values seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.builtIn`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum BuiltIn {
        /// 25.0 %.
        #[serde(rename = "AWS::Region")]
        AwsRegion,
        /// 25.0 %.
        #[serde(rename = "AWS::UseDualStack")]
        AwsUseDualStack,
        /// 25.0 %.
        #[serde(rename = "AWS::UseFIPS")]
        AwsUseFips,
        /// 25.0 %.
        #[serde(rename = "SDK::Endpoint")]
        SdkEndpoint,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// One of 2 strings, 48 values seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.type`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum ParameterType {
        /// 50.0 %.
        Boolean,
        /// 50.0 %.
        String,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// One of 3 variants, by the value of `type`: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    pub enum Rule {
        /// 43.2 %.
        Tree(TreeRule),
        /// 41.1 %.
        Endpoint(EndpointRule),
        /// 15.8 %.
        Error(ErrorRule),
        /// An object with a tag that was not seen; its keys are lost.
        #[serde(other)]
        Other,
    }

    /// 63 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TreeRule {
        /// In all objects; 1.5 elements on average if not empty, at most 2, 34.9 % empty.
        pub conditions: Box<[Condition]>,
        /// In all objects; 1.9 elements on average, at most 3.
        pub rules: Box<[Rule]>,
    }

    /// One of 3 variants, by the value of `fn`: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(tag = "fn", rename_all = "camelCase")]
    pub enum Condition {
        /// 42.6 %.
        #[serde(rename = "aws.partition")]
        AwsPartition(AwsPartitionCondition),
        /// 29.1 %.
        IsSet(IsSetCondition),
        /// 28.4 %.
        BooleanEquals(BooleanEqualsCondition),
        /// An object with a tag that was not seen.
        #[serde(untagged)]
        Other(Box<serde_json::Value>),
    }

    /// 60 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct AwsPartitionCondition {
        /// In all objects; 1.0 elements on average, at most 1.
        pub argv: Box<[Argv]>,
        /// In all objects; 15 bytes, always the same string.
        pub assign: ThinStr,
    }

    /// 173 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint.url`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Argv {
        /// In all objects.
        pub r#ref: Ref,
    }

    /// One of 4 strings, 173 values seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint.url.ref`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum Ref {
        /// 42.2 %.
        Endpoint,
        /// 34.7 %.
        Region,
        /// 11.6 %.
        UseDualStack,
        /// 11.6 %.
        #[serde(rename = "UseFIPS")]
        UseFips,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// 41 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct IsSetCondition {
        /// In all objects; 1.0 elements on average, at most 1.
        pub argv: Box<[Argv]>,
    }

    /// 40 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BooleanEqualsCondition {
        /// In all objects; 2.0 elements on average, at most 2.
        pub argv: Box<[ArgvOrBool]>,
    }

    /// A value of `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum ArgvOrBool {
        /// 50.0 % of the values; true 22 times.
        Bool(bool),
        /// 50.0 % of the values.
        Argv(Argv),
        /// A value of another type, which was not seen.
        Other(Box<serde_json::Value>),
    }

    /// 60 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRule {
        /// In all objects; 1.6 elements on average if not empty, at most 2, 40.0 % empty.
        pub conditions: Box<[Condition]>,
        /// In all objects.
        pub endpoint: Endpoint,
    }

    /// 204 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Endpoint {
        /// In all objects.
        pub url: Url,
        /// In 29.4 % of the objects; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub properties: Option<Empty>,
        /// In 29.4 % of the objects; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub headers: Option<Empty>,
    }

    /// A value of `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint.url`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum Url {
        /// 84.3 % of the values; 33 to 48 bytes, 104 distinct.
        Text(ThinStr),
        /// 15.7 % of the values.
        Argv(Argv),
        /// A value of another type, which was not seen.
        Other(Box<serde_json::Value>),
    }

    /// 23 objects at `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ErrorRule {
        /// In all objects; 1.5 elements on average if not empty, at most 2, 39.1 % empty.
        pub conditions: Box<[Condition]>,
        /// In all objects; 44 bytes, always the same string.
        pub error: ThinStr,
    }

    /// 12 objects at `$.shapes.*.traits["smithy.rules#endpointTests"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct EndpointTests {
        /// In all objects; 12.0 elements on average, at most 19.
        pub test_cases: Box<[TestCase]>,
        /// In all objects; 3 bytes, always the same string.
        pub version: ThinStr,
    }

    /// 144 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TestCase {
        /// In all objects; 51 to 54 bytes, 20 distinct.
        pub documentation: ThinStr,
        /// In all objects.
        pub expect: Expect,
        /// In all objects.
        pub params: Params,
    }

    /// 144 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Expect {
        /// In all objects.
        pub endpoint: Endpoint,
    }

    /// 144 objects at `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Params {
        /// In all objects.
        pub region: Region,
        /// In all objects; true 71 times.
        #[serde(rename = "UseFIPS")]
        pub use_fips: bool,
        /// In all objects; true 72 times.
        pub use_dual_stack: bool,
    }

    /// One of 5 strings, 144 values seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params.Region`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum Region {
        /// 21.5 %.
        #[serde(rename = "east-1")]
        East1,
        /// 20.8 %.
        #[serde(rename = "north-1")]
        North1,
        /// 20.1 %.
        #[serde(rename = "north-2")]
        North2,
        /// 18.8 %.
        #[serde(rename = "south-1")]
        South1,
        /// 18.8 %.
        #[serde(rename = "west-1")]
        West1,
        /// A string that is not in the data.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// 10 objects at `$.shapes.*.traits["aws.iam#iamAction"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    #[serde(rename_all = "camelCase")]
    pub struct IamAction {
        /// In 60.0 % of the objects; 6 to 25 bytes, 6 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<ThinStr>,
        /// In 90.0 % of the objects; 33 to 40 bytes, 9 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<ThinStr>,
        /// In 30.0 % of the objects; 3.0 elements on average, at most 3.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required_actions: Option<ThinSlice<ThinStr>>,
        /// In 20.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Resources>,
        /// In 10.0 % of the objects; 1.0 elements on average, at most 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub creates_resources: Option<ThinSlice<ThinStr>>,
    }

    /// 2 objects at `$.shapes.*.traits["aws.iam#iamAction"].resources`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Resources {
        /// In all objects; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Required>,
    }

    /// 2 objects at `$.shapes.*.traits["aws.iam#iamAction"].resources.required`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Required {
        /// In 50.0 % of the objects; 1 time `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lever: Option<Empty>,
        /// In 50.0 % of the objects; 1 time `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub order: Option<Empty>,
    }

    /// 4 objects at `$.shapes.*.traits["smithy.api#xmlNamespace"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct XmlNamespace {
        /// In all objects; 43 to 49 bytes, 4 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uri: Option<ThinStr>,
    }

    /// 302 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct OperationShape {
        /// In all objects.
        pub input: Target,
        /// In all objects.
        pub output: Target,
        /// In 98.7 % of the objects; 4.5 elements on average, at most 20.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub errors: Option<Box<[Target]>>,
        /// In all objects.
        pub traits: Traits,
    }

    /// 2,320 objects at `$.shapes.*.errors[]`, `$.shapes.*.input`, `$.shapes.*.output`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Target {
        /// In all objects; 15 to 67 bytes, 1,028 distinct.
        pub target: ThinStr,
    }

    /// 269 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StringShape {
        /// In 84.8 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 221 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ListShape {
        /// In all objects.
        pub member: Member,
        /// In 28.5 % of the objects.
        #[serde(default, skip_serializing_if = "Sparse::is_empty")]
        pub traits: Sparse<Traits>,
    }

    /// 143 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EnumShape {
        /// In all objects; 4.4 entries on average, at most 54.
        pub members: SortedMap<ThinStr, Member>,
        /// In 15.4 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 51 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct IntegerShape {
        /// In 78.4 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 20 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct MapShape {
        /// In all objects.
        pub key: Target,
        /// In all objects.
        pub value: Target,
        /// In 40.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 13 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BooleanShape {
        /// In 46.2 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 12 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ServiceShape {
        /// In all objects; 10 bytes, 12 distinct.
        pub version: ThinStr,
        /// In all objects; 25.2 elements on average, at most 62.
        pub operations: Box<[Target]>,
        /// In 58.3 % of the objects; 1.1 elements on average, at most 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Box<[Target]>>,
        /// In all objects.
        pub traits: Traits,
    }

    /// 11 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TimestampShape {
        /// In 27.3 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 9 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct UnionShape {
        /// In all objects; 2.9 entries on average, at most 9.
        pub members: SortedMap<ThinStr, Member>,
        /// In all objects.
        pub traits: Traits,
    }

    /// 8 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ResourceShape {
        /// In 87.5 % of the objects; 1.0 entries on average, at most 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub identifiers: Option<SortedMap<ThinStr, Target>>,
        /// In 50.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub create: Option<Target>,
        /// In 75.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub read: Option<Target>,
        /// In 37.5 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delete: Option<Target>,
        /// In 62.5 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
        /// In 75.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub update: Option<Target>,
        /// In 75.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub list: Option<Target>,
    }

    /// 7 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct LongShape {
        /// In 28.6 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 6 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct DoubleShape {
        /// In 50.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5 objects at `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BlobShape {
        /// In 60.0 % of the objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 8 objects at `$.metadata`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Metadata {
        /// In all objects; 5.0 elements on average, at most 7.
        pub suppressions: Box<[Suppression]>,
    }

    /// 40 objects at `$.metadata.suppressions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Suppression {
        /// In all objects; 7 to 15 bytes, 40 distinct.
        pub id: ThinStr,
        /// In all objects; 1 byte, always the same string.
        pub namespace: ThinStr,
    }
}

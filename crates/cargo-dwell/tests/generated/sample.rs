//! Types for 12 JSON documents, written by `cargo dwell shape --rust`.
//!
//! Loaded, they take 21.4 MB in 23,168 allocations as `naive` types and 2.1 MB in 24,600 allocations (9.6 %) as `lean` ones.

/// The types as first written.
pub mod naive {
    use serde::{Deserialize, Serialize};
    use std::collections::HashMap;

    /// 12 seen: `$`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Document {
        /// Always; 3 bytes, one text only.
        pub smithy: String,
        /// Always; 178.7 on average, 434 at most.
        pub shapes: HashMap<String, Shape>,
        /// 66.7 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub metadata: Option<Metadata>,
    }

    /// One of 17, distinguished by `type`: `$.shapes.*`.
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

    /// 1,065 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StructureShape {
        /// Always; 3.7 on average, 35 at most, 7.8 % empty.
        pub members: HashMap<String, Member>,
        /// 95.3 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 4,491 seen: `$.shapes.*.members.*`, `$.shapes.*.member`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Member {
        /// Always; 15 to 58 bytes, 834 distinct.
        pub target: String,
        /// 92.3 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5,864 seen: `$.shapes.*.members.*.traits`, `$.shapes.*.traits`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Traits {
        /// 74.2 % filled; 10 to 9,967 bytes, 3,352 distinct.
        #[serde(rename = "smithy.api#documentation")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<String>,
        /// 4.3 % filled; 255 times `{}`.
        #[serde(rename = "smithy.api#output", skip_serializing_if = "Option::is_none")]
        pub output: Option<Empty>,
        /// 2.2 % filled; 3 to 148 bytes, 111 distinct.
        #[serde(rename = "smithy.api#pattern", skip_serializing_if = "Option::is_none")]
        pub pattern: Option<String>,
        /// 0.3 % filled; 17 times `{}`.
        #[serde(rename = "smithy.api#sensitive")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sensitive: Option<Empty>,
        /// 2.0 % filled; 119 times `{}`.
        #[serde(rename = "smithy.api#httpLabel")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_label: Option<Empty>,
        /// 18.4 % filled; 1,080 times `{}`.
        #[serde(rename = "smithy.api#required")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Empty>,
        /// 4.8 % filled; 281 times `{}`.
        #[serde(rename = "smithy.api#input", skip_serializing_if = "Option::is_none")]
        pub input: Option<Empty>,
        /// 1.3 % filled; 2 to 23 bytes, 56 distinct.
        #[serde(rename = "smithy.api#httpQuery")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_query: Option<String>,
        /// 0.5 % filled; 4 to 20 bytes, 28 distinct.
        #[serde(rename = "smithy.api#httpHeader")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_header: Option<String>,
        /// 4.1 % filled.
        #[serde(rename = "smithy.api#length", skip_serializing_if = "Option::is_none")]
        pub length: Option<Length>,
        /// 2.2 % filled; 130 times `{}`.
        #[serde(rename = "smithy.api#clientOptional")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub client_optional: Option<Empty>,
        /// 2.3 % filled.
        #[serde(rename = "smithy.api#http", skip_serializing_if = "Option::is_none")]
        pub http: Option<Http>,
        /// 0.3 % filled; 2 to 17 bytes, 16 distinct.
        #[serde(rename = "smithy.api#xmlName", skip_serializing_if = "Option::is_none")]
        pub xml_name: Option<String>,
        /// 1.7 % filled.
        #[serde(rename = "smithy.api#error", skip_serializing_if = "Option::is_none")]
        pub error: Option<Error>,
        /// 1.0 % filled.
        #[serde(rename = "smithy.api#paginated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paginated: Option<Paginated>,
        /// 1.8 % filled.
        #[serde(rename = "smithy.api#default", skip_serializing_if = "Option::is_none")]
        pub default: Option<DefaultValue>,
        /// 10.6 % filled; 3 to 17 bytes, 436 distinct.
        #[serde(rename = "smithy.api#enumValue")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub enum_value: Option<String>,
        /// 0.5 % filled; 30 times `{}`.
        #[serde(rename = "smithy.api#idempotent")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotent: Option<Empty>,
        /// 0.5 % filled; 27 times `{}`.
        #[serde(rename = "smithy.api#readonly")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub readonly: Option<Empty>,
        /// 0.7 % filled.
        #[serde(rename = "smithy.api#range", skip_serializing_if = "Option::is_none")]
        pub range: Option<Length>,
        /// 0.4 % filled.
        #[serde(rename = "aws.protocols#awsQueryError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_query_error: Option<AwsQueryError>,
        /// 1.2 % filled; 400 to 500.
        #[serde(rename = "smithy.api#httpError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_error: Option<u64>,
        /// 0.5 % filled; 1.5 on average, 2 at most.
        #[serde(rename = "smithy.api#examples")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub examples: Option<Vec<Example>>,
        /// 0.4 % filled; 4.9 on average, 7 at most.
        #[serde(rename = "smithy.api#enum", skip_serializing_if = "Option::is_none")]
        pub r#enum: Option<Vec<Enum>>,
        /// 0.2 % filled.
        #[serde(rename = "smithy.api#deprecated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub deprecated: Option<Deprecated>,
        /// 0.09 % filled.
        #[serde(rename = "aws.api#arn", skip_serializing_if = "Option::is_none")]
        pub arn: Option<Arn>,
        /// 0.05 % filled; 3 times `{}`.
        #[serde(rename = "aws.cloudformation#cfnResource")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cfn_resource: Option<Empty>,
        /// 0.2 % filled.
        #[serde(rename = "aws.api#service", skip_serializing_if = "Option::is_none")]
        pub service: Option<Service>,
        /// 0.2 % filled.
        #[serde(rename = "aws.auth#sigv4", skip_serializing_if = "Option::is_none")]
        pub sigv4: Option<Sigv4>,
        /// 0.1 % filled; 7 times `{}`.
        #[serde(rename = "aws.protocols#restJson1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rest_json1: Option<Empty>,
        /// 0.2 % filled; 16 to 23 bytes, 12 distinct.
        #[serde(rename = "smithy.api#title", skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// 0.2 % filled.
        #[serde(rename = "smithy.rules#endpointRuleSet")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_rule_set: Option<EndpointRuleSet>,
        /// 0.2 % filled.
        #[serde(rename = "smithy.rules#endpointTests")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_tests: Option<EndpointTests>,
        /// 0.2 % filled.
        #[serde(rename = "aws.iam#iamAction", skip_serializing_if = "Option::is_none")]
        pub iam_action: Option<IamAction>,
        /// 0.4 % filled; 22 times `{}`.
        #[serde(rename = "smithy.api#idempotencyToken")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotency_token: Option<Empty>,
        /// 0.03 % filled; 33 to 36 bytes, 2 distinct.
        #[serde(rename = "aws.iam#actionPermissionDescription")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub action_permission_description: Option<String>,
        /// 0.09 % filled; 5 times `{}`.
        #[serde(rename = "aws.protocols#awsJson1_1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_json1_1: Option<Empty>,
        /// 0.05 % filled; 9 to 13 bytes, 2 distinct.
        #[serde(rename = "smithy.api#timestampFormat")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub timestamp_format: Option<String>,
        /// 0.07 % filled.
        #[serde(rename = "smithy.api#xmlNamespace")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub xml_namespace: Option<XmlNamespace>,
        /// 0.05 % filled; 3 times `{}`.
        #[serde(rename = "smithy.api#streaming")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub streaming: Option<Empty>,
        /// 0.09 % filled; 5 times `{}`.
        #[serde(rename = "smithy.api#retryable")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub retryable: Option<Empty>,
        /// 0.02 % filled; 1.0 on average, 1 at most.
        #[serde(rename = "smithy.api#tags", skip_serializing_if = "Option::is_none")]
        pub tags: Option<Vec<String>>,
    }

    /// 2,106 seen: `$.shapes.*.traits["smithy.api#required"]`, `$.shapes.*.traits["smithy.api#input"]`, `$.shapes.*.traits["smithy.api#output"]`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Empty {}

    /// 285 seen: `$.shapes.*.traits["smithy.api#length"]`, `$.shapes.*.traits["smithy.api#range"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Length {
        /// 87.4 % filled; 0 to 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<u64>,
        /// Always; 3 to 988061.
        pub max: u64,
    }

    /// 136 seen: `$.shapes.*.traits["smithy.api#http"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Http {
        /// Always.
        pub method: Method,
        /// Always; 11 to 63 bytes, 55 distinct.
        pub uri: String,
        /// Always; always 200.
        pub code: u64,
    }

    /// One of 5, 136 seen: `$.shapes.*.traits["smithy.api#http"].method`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(String),
    }

    /// One of 2, 101 seen: `$.shapes.*.traits["smithy.api#error"]`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub enum Error {
        /// 73.3 %.
        Client,
        /// 26.7 %.
        Server,
        /// A text that was not seen.
        #[serde(untagged)]
        Other(String),
    }

    /// 61 seen: `$.shapes.*.traits["smithy.api#paginated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Paginated {
        /// Always; 9 bytes, one text only.
        pub input_token: String,
        /// Always; 9 bytes, one text only.
        pub output_token: String,
        /// Always; 3 to 10 bytes, 50 distinct.
        pub items: String,
        /// Always; 10 bytes, one text only.
        pub page_size: String,
    }

    /// What `$.shapes.*.members.*.traits["smithy.api#default"]` holds.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum DefaultValue {
        /// 5.8 % filled; true 0 times.
        Bool(bool),
        /// 94.2 % filled; always 0.
        Integer(u64),
    }

    /// 24 seen: `$.shapes.*.traits["aws.protocols#awsQueryError"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct AwsQueryError {
        /// Always; 4 to 8 bytes, 24 distinct.
        pub code: String,
        /// Always; 400 to 500.
        pub http_response_code: u64,
    }

    /// 48 seen: `$.shapes.*.traits["smithy.api#examples"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Example {
        /// Always; 14 to 32 bytes, 48 distinct.
        pub title: String,
        /// Always; 26 to 104 bytes, 47 distinct.
        pub documentation: String,
        /// Always; 2.6 on average, 4 at most.
        pub input: HashMap<String, serde_json::Value>,
        /// Always; 2.4 on average, 4 at most.
        pub output: HashMap<String, serde_json::Value>,
    }

    /// 103 seen: `$.shapes.*.traits["smithy.api#enum"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Enum {
        /// Always; 3 to 10 bytes, 67 distinct.
        pub value: String,
        /// Always; 3 to 10 bytes, 67 distinct.
        pub name: String,
    }

    /// 10 seen: `$.shapes.*.traits["smithy.api#deprecated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Deprecated {
        /// Always; 15 to 20 bytes, 9 distinct.
        pub message: String,
    }

    /// 5 seen: `$.shapes.*.traits["aws.api#arn"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Arn {
        /// Always; 15 to 17 bytes, 5 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub template: Option<String>,
    }

    /// 12 seen: `$.shapes.*.traits["aws.api#service"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Service {
        /// Always; 8 to 15 bytes, 12 distinct.
        pub sdk_id: String,
        /// 91.7 % filled; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub arn_namespace: Option<String>,
        /// 83.3 % filled; 20 to 27 bytes, 10 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_trail_event_source: Option<String>,
        /// 25.0 % filled; 21 to 26 bytes, 3 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub doc_id: Option<String>,
        /// 91.7 % filled; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_prefix: Option<String>,
        /// 50.0 % filled; 10 to 14 bytes, 6 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_formation_name: Option<String>,
    }

    /// 12 seen: `$.shapes.*.traits["aws.auth#sigv4"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Sigv4 {
        /// Always; 8 to 15 bytes, 12 distinct.
        pub name: String,
    }

    /// 12 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRuleSet {
        /// Always; 3 bytes, one text only.
        pub version: String,
        /// Always.
        pub parameters: Parameters,
        /// Always; 2.1 on average, 3 at most.
        pub rules: Vec<Rule>,
    }

    /// 12 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Parameters {
        /// Always.
        pub region: Parameter,
        /// Always.
        pub use_dual_stack: Parameter,
        /// Always.
        #[serde(rename = "UseFIPS")]
        pub use_fips: Parameter,
        /// Always.
        pub endpoint: Parameter,
    }

    /// 48 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.UseFIPS`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Endpoint`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Parameter {
        /// Always.
        pub built_in: BuiltIn,
        /// Always; true 24 times.
        pub required: bool,
        /// Always; 32 bytes, one text only.
        pub documentation: String,
        /// Always.
        pub r#type: ParameterType,
        /// 50.0 % filled; true 0 times.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub default: Option<bool>,
    }

    /// One of 4, 48 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.builtIn`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(String),
    }

    /// One of 2, 48 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.type`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum ParameterType {
        /// 50.0 %.
        Boolean,
        /// 50.0 %.
        String,
        /// A text that was not seen.
        #[serde(untagged)]
        Other(String),
    }

    /// One of 3, distinguished by `type`: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
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

    /// 63 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TreeRule {
        /// Always; 1.5 on average, 2 at most, 34.9 % empty.
        pub conditions: Vec<Condition>,
        /// Always; 1.9 on average, 3 at most.
        pub rules: Vec<Rule>,
    }

    /// 141 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Condition {
        /// Always.
        pub r#fn: ConditionFn,
        /// Always; 1.3 on average, 2 at most.
        pub argv: Vec<ArgvOrBool>,
        /// 42.6 % filled; 15 bytes, one text only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub assign: Option<String>,
    }

    /// One of 3, 141 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].fn`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub enum ConditionFn {
        /// 42.6 %.
        #[serde(rename = "aws.partition")]
        AwsPartition,
        /// 28.4 %.
        BooleanEquals,
        /// 29.1 %.
        IsSet,
        /// A text that was not seen.
        #[serde(untagged)]
        Other(String),
    }

    /// What `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]` holds.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum ArgvOrBool {
        /// 22.1 % filled; true 22 times.
        Bool(bool),
        /// 77.9 % filled.
        Argv(Argv),
    }

    /// 173 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint.url`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Argv {
        /// Always.
        pub r#ref: Ref,
    }

    /// One of 4, 173 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[].ref`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(String),
    }

    /// 60 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRule {
        /// Always; 1.6 on average, 2 at most, 40.0 % empty.
        pub conditions: Vec<Condition>,
        /// Always.
        pub endpoint: Endpoint,
    }

    /// 204 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Endpoint {
        /// Always.
        pub url: Url,
        /// 29.4 % filled; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub properties: Option<Empty>,
        /// 29.4 % filled; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub headers: Option<Empty>,
    }

    /// What `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint.url` holds.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum Url {
        /// 84.3 % filled; 33 to 48 bytes, 104 distinct.
        Text(String),
        /// 15.7 % filled.
        Argv(Argv),
    }

    /// 23 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ErrorRule {
        /// Always; 1.5 on average, 2 at most, 39.1 % empty.
        pub conditions: Vec<Condition>,
        /// Always; 44 bytes, one text only.
        pub error: String,
    }

    /// 12 seen: `$.shapes.*.traits["smithy.rules#endpointTests"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct EndpointTests {
        /// Always; 12.0 on average, 19 at most.
        pub test_cases: Vec<TestCase>,
        /// Always; 3 bytes, one text only.
        pub version: String,
    }

    /// 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TestCase {
        /// Always; 51 to 54 bytes, 20 distinct.
        pub documentation: String,
        /// Always.
        pub expect: Expect,
        /// Always.
        pub params: Params,
    }

    /// 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Expect {
        /// Always.
        pub endpoint: Endpoint,
    }

    /// 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Params {
        /// Always.
        pub region: Region,
        /// Always; true 71 times.
        #[serde(rename = "UseFIPS")]
        pub use_fips: bool,
        /// Always; true 72 times.
        pub use_dual_stack: bool,
    }

    /// One of 5, 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params.Region`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(String),
    }

    /// 10 seen: `$.shapes.*.traits["aws.iam#iamAction"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct IamAction {
        /// 60.0 % filled; 6 to 25 bytes, 6 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// 90.0 % filled; 33 to 40 bytes, 9 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<String>,
        /// 30.0 % filled; 3.0 on average, 3 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required_actions: Option<Vec<String>>,
        /// 20.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Resources>,
        /// 10.0 % filled; 1.0 on average, 1 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub creates_resources: Option<Vec<String>>,
    }

    /// 2 seen: `$.shapes.*.traits["aws.iam#iamAction"].resources`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Resources {
        /// Always; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Required>,
    }

    /// 2 seen: `$.shapes.*.traits["aws.iam#iamAction"].resources.required`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Required {
        /// 50.0 % filled; 1 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lever: Option<Empty>,
        /// 50.0 % filled; 1 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub order: Option<Empty>,
    }

    /// 4 seen: `$.shapes.*.traits["smithy.api#xmlNamespace"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct XmlNamespace {
        /// Always; 43 to 49 bytes, 4 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uri: Option<String>,
    }

    /// 302 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct OperationShape {
        /// Always.
        pub input: Target,
        /// Always.
        pub output: Target,
        /// 98.7 % filled; 4.5 on average, 20 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub errors: Option<Vec<Target>>,
        /// Always.
        pub traits: Traits,
    }

    /// 2,320 seen: `$.shapes.*.errors[]`, `$.shapes.*.input`, `$.shapes.*.output`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Target {
        /// Always; 15 to 67 bytes, 1,028 distinct.
        pub target: String,
    }

    /// 269 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StringShape {
        /// 84.8 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 221 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ListShape {
        /// Always.
        pub member: Member,
        /// 28.5 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 143 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EnumShape {
        /// Always; 4.4 on average, 54 at most.
        pub members: HashMap<String, Member>,
        /// 15.4 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 51 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct IntegerShape {
        /// 78.4 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 20 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct MapShape {
        /// Always.
        pub key: Target,
        /// Always.
        pub value: Target,
        /// 40.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 13 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BooleanShape {
        /// 46.2 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 12 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ServiceShape {
        /// Always; 10 bytes, 12 distinct.
        pub version: String,
        /// Always; 25.2 on average, 62 at most.
        pub operations: Vec<Target>,
        /// 58.3 % filled; 1.1 on average, 2 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Vec<Target>>,
        /// Always.
        pub traits: Traits,
    }

    /// 11 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TimestampShape {
        /// 27.3 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 9 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct UnionShape {
        /// Always; 2.9 on average, 9 at most.
        pub members: HashMap<String, Member>,
        /// Always.
        pub traits: Traits,
    }

    /// 8 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ResourceShape {
        /// 87.5 % filled; 1.0 on average, 1 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub identifiers: Option<HashMap<String, Target>>,
        /// 50.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub create: Option<Target>,
        /// 75.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub read: Option<Target>,
        /// 37.5 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delete: Option<Target>,
        /// 62.5 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
        /// 75.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub update: Option<Target>,
        /// 75.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub list: Option<Target>,
    }

    /// 7 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct LongShape {
        /// 28.6 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 6 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct DoubleShape {
        /// 50.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BlobShape {
        /// 60.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 8 seen: `$.metadata`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Metadata {
        /// Always; 5.0 on average, 7 at most.
        pub suppressions: Vec<Suppression>,
    }

    /// 40 seen: `$.metadata.suppressions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Suppression {
        /// Always; 7 to 15 bytes, 40 distinct.
        pub id: String,
        /// Always; 1 bytes, one text only.
        pub namespace: String,
    }
}

/// Types that take less memory and read the same JSON.
pub mod lean {
    use dwell::Sparse;
    use dwell::sparse::{SortedMap, ThinSlice, ThinStr};
    use serde::{Deserialize, Serialize};

    /// 12 seen: `$`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Document {
        /// Always; 3 bytes, one text only.
        pub smithy: ThinStr,
        /// Always; 178.7 on average, 434 at most.
        pub shapes: SortedMap<ThinStr, Shape>,
        /// 66.7 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub metadata: Option<Metadata>,
    }

    /// One of 17, distinguished by `type`: `$.shapes.*`.
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

    /// 1,065 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StructureShape {
        /// Always; 3.7 on average, 35 at most, 7.8 % empty.
        pub members: SortedMap<ThinStr, Member>,
        /// 95.3 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 4,491 seen: `$.shapes.*.members.*`, `$.shapes.*.member`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Member {
        /// Always; 15 to 58 bytes, 834 distinct.
        pub target: ThinStr,
        /// 92.3 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5,864 seen: `$.shapes.*.members.*.traits`, `$.shapes.*.traits`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    pub struct Traits {
        /// 74.2 % filled; 10 to 9,967 bytes, 3,352 distinct.
        #[serde(rename = "smithy.api#documentation")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<ThinStr>,
        /// 4.3 % filled; 255 times `{}`.
        #[serde(rename = "smithy.api#output", skip_serializing_if = "Option::is_none")]
        pub output: Option<Empty>,
        /// 2.0 % filled; 119 times `{}`.
        #[serde(rename = "smithy.api#httpLabel")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_label: Option<Empty>,
        /// 18.4 % filled; 1,080 times `{}`.
        #[serde(rename = "smithy.api#required")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Empty>,
        /// 4.8 % filled; 281 times `{}`.
        #[serde(rename = "smithy.api#input", skip_serializing_if = "Option::is_none")]
        pub input: Option<Empty>,
        /// 2.2 % filled; 130 times `{}`.
        #[serde(rename = "smithy.api#clientOptional")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub client_optional: Option<Empty>,
        /// 10.6 % filled; 3 to 17 bytes, 436 distinct.
        #[serde(rename = "smithy.api#enumValue")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub enum_value: Option<ThinStr>,
        /// 12.4 % have any of these.
        #[serde(flatten)]
        pub uncommon: Sparse<TraitsUncommon>,
        /// 3.7 % have any of these.
        #[serde(flatten)]
        pub rare: Sparse<TraitsRare>,
    }

    /// 2,106 seen: `$.shapes.*.traits["smithy.api#required"]`, `$.shapes.*.traits["smithy.api#input"]`, `$.shapes.*.traits["smithy.api#output"]`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Empty {}

    /// What `$.shapes.*.members.*.traits` has rarely.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    pub struct TraitsUncommon {
        /// 2.2 % filled; 3 to 148 bytes, 111 distinct.
        #[serde(rename = "smithy.api#pattern", skip_serializing_if = "Option::is_none")]
        pub pattern: Option<ThinStr>,
        /// 0.3 % filled; 17 times `{}`.
        #[serde(rename = "smithy.api#sensitive")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sensitive: Option<Empty>,
        /// 1.3 % filled; 2 to 23 bytes, 56 distinct.
        #[serde(rename = "smithy.api#httpQuery")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_query: Option<ThinStr>,
        /// 4.1 % filled.
        #[serde(rename = "smithy.api#length", skip_serializing_if = "Option::is_none")]
        pub length: Option<Length>,
        /// 2.3 % filled.
        #[serde(rename = "smithy.api#http", skip_serializing_if = "Option::is_none")]
        pub http: Option<Box<Http>>,
        /// 1.0 % filled.
        #[serde(rename = "smithy.api#paginated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paginated: Option<Box<Paginated>>,
        /// 1.8 % filled.
        #[serde(rename = "smithy.api#default", skip_serializing_if = "Option::is_none")]
        pub default: Option<Box<DefaultValue>>,
        /// 0.5 % filled; 30 times `{}`.
        #[serde(rename = "smithy.api#idempotent")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotent: Option<Empty>,
        /// 0.5 % filled; 27 times `{}`.
        #[serde(rename = "smithy.api#readonly")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub readonly: Option<Empty>,
        /// 0.7 % filled.
        #[serde(rename = "smithy.api#range", skip_serializing_if = "Option::is_none")]
        pub range: Option<Length>,
        /// 0.5 % filled; 1.5 on average, 2 at most.
        #[serde(rename = "smithy.api#examples")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub examples: Option<ThinSlice<Example>>,
        /// 0.4 % filled; 22 times `{}`.
        #[serde(rename = "smithy.api#idempotencyToken")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotency_token: Option<Empty>,
    }

    /// 285 seen: `$.shapes.*.traits["smithy.api#length"]`, `$.shapes.*.traits["smithy.api#range"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Length {
        /// 87.4 % filled; 0 to 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<u16>,
        /// Always; 3 to 988061.
        pub max: u32,
    }

    /// 136 seen: `$.shapes.*.traits["smithy.api#http"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Http {
        /// Always.
        pub method: Method,
        /// Always; 11 to 63 bytes, 55 distinct.
        pub uri: ThinStr,
        /// Always; always 200.
        pub code: u64,
    }

    /// One of 5, 136 seen: `$.shapes.*.traits["smithy.api#http"].method`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// 61 seen: `$.shapes.*.traits["smithy.api#paginated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Paginated {
        /// Always; 9 bytes, one text only.
        pub input_token: ThinStr,
        /// Always; 9 bytes, one text only.
        pub output_token: ThinStr,
        /// Always; 3 to 10 bytes, 50 distinct.
        pub items: ThinStr,
        /// Always; 10 bytes, one text only.
        pub page_size: ThinStr,
    }

    /// What `$.shapes.*.members.*.traits["smithy.api#default"]` holds.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum DefaultValue {
        /// 5.8 % filled; true 0 times.
        Bool(bool),
        /// 94.2 % filled; always 0.
        Integer(u64),
        /// A value of another type, which was not seen.
        Other(Box<serde_json::Value>),
    }

    /// 48 seen: `$.shapes.*.traits["smithy.api#examples"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Example {
        /// Always; 14 to 32 bytes, 48 distinct.
        pub title: ThinStr,
        /// Always; 26 to 104 bytes, 47 distinct.
        pub documentation: ThinStr,
        /// Always; 2.6 on average, 4 at most.
        pub input: SortedMap<ThinStr, serde_json::Value>,
        /// Always; 2.4 on average, 4 at most.
        pub output: SortedMap<ThinStr, serde_json::Value>,
    }

    /// What `$.shapes.*.members.*.traits` has rarely.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    pub struct TraitsRare {
        /// 0.5 % filled; 4 to 20 bytes, 28 distinct.
        #[serde(rename = "smithy.api#httpHeader")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_header: Option<ThinStr>,
        /// 0.3 % filled; 2 to 17 bytes, 16 distinct.
        #[serde(rename = "smithy.api#xmlName", skip_serializing_if = "Option::is_none")]
        pub xml_name: Option<ThinStr>,
        /// 1.7 % filled.
        #[serde(rename = "smithy.api#error", skip_serializing_if = "Option::is_none")]
        pub error: Option<Error>,
        /// 0.4 % filled.
        #[serde(rename = "aws.protocols#awsQueryError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_query_error: Option<Box<AwsQueryError>>,
        /// 1.2 % filled; 400 to 500.
        #[serde(rename = "smithy.api#httpError")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub http_error: Option<u16>,
        /// 0.4 % filled; 4.9 on average, 7 at most.
        #[serde(rename = "smithy.api#enum", skip_serializing_if = "Option::is_none")]
        pub r#enum: Option<ThinSlice<Enum>>,
        /// 0.2 % filled.
        #[serde(rename = "smithy.api#deprecated")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub deprecated: Option<Deprecated>,
        /// 0.09 % filled; open to other types, because there are so few values.
        #[serde(rename = "aws.api#arn", skip_serializing_if = "Option::is_none")]
        pub arn: Option<Box<OrOther<Arn>>>,
        /// 0.05 % filled; 3 times `{}`; open to other types, because there are so few values.
        #[serde(rename = "aws.cloudformation#cfnResource")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cfn_resource: Option<Box<OrOther<Empty>>>,
        /// 0.2 % filled.
        #[serde(rename = "aws.api#service", skip_serializing_if = "Option::is_none")]
        pub service: Option<Box<Service>>,
        /// 0.2 % filled.
        #[serde(rename = "aws.auth#sigv4", skip_serializing_if = "Option::is_none")]
        pub sigv4: Option<Sigv4>,
        /// 0.1 % filled; 7 times `{}`.
        #[serde(rename = "aws.protocols#restJson1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rest_json1: Option<Empty>,
        /// 0.2 % filled; 16 to 23 bytes, 12 distinct.
        #[serde(rename = "smithy.api#title", skip_serializing_if = "Option::is_none")]
        pub title: Option<ThinStr>,
        /// 0.2 % filled.
        #[serde(rename = "smithy.rules#endpointRuleSet")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_rule_set: Option<Box<EndpointRuleSet>>,
        /// 0.2 % filled.
        #[serde(rename = "smithy.rules#endpointTests")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_tests: Option<Box<EndpointTests>>,
        /// 0.2 % filled.
        #[serde(rename = "aws.iam#iamAction")]
        #[serde(default)]
        #[serde(skip_serializing_if = "Sparse::is_empty")]
        pub iam_action: Sparse<IamAction>,
        /// 0.03 % filled; 33 to 36 bytes, 2 distinct; open to other types, because there are so few values.
        #[serde(rename = "aws.iam#actionPermissionDescription")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub action_permission_description: Option<Box<OrOther<ThinStr>>>,
        /// 0.09 % filled; 5 times `{}`; open to other types, because there are so few values.
        #[serde(rename = "aws.protocols#awsJson1_1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aws_json1_1: Option<Box<OrOther<Empty>>>,
        /// 0.05 % filled; 9 to 13 bytes, 2 distinct; open to other types, because there are so few values.
        #[serde(rename = "smithy.api#timestampFormat")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub timestamp_format: Option<Box<OrOther<ThinStr>>>,
        /// 0.07 % filled; open to other types, because there are so few values.
        #[serde(rename = "smithy.api#xmlNamespace")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub xml_namespace: Option<Box<OrOther<XmlNamespace>>>,
        /// 0.05 % filled; 3 times `{}`; open to other types, because there are so few values.
        #[serde(rename = "smithy.api#streaming")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub streaming: Option<Box<OrOther<Empty>>>,
        /// 0.09 % filled; 5 times `{}`; open to other types, because there are so few values.
        #[serde(rename = "smithy.api#retryable")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub retryable: Option<Box<OrOther<Empty>>>,
        /// 0.02 % filled; 1.0 on average, 1 at most; open to other types, because there are so few values.
        #[serde(rename = "smithy.api#tags", skip_serializing_if = "Option::is_none")]
        pub tags: Option<Box<OrOther<ThinSlice<ThinStr>>>>,
    }

    /// One of 2, 101 seen: `$.shapes.*.traits["smithy.api#error"]`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub enum Error {
        /// 73.3 %.
        Client,
        /// 26.7 %.
        Server,
        /// A text that was not seen.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// 24 seen: `$.shapes.*.traits["aws.protocols#awsQueryError"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct AwsQueryError {
        /// Always; 4 to 8 bytes, 24 distinct.
        pub code: ThinStr,
        /// Always; 400 to 500.
        pub http_response_code: u64,
    }

    /// 103 seen: `$.shapes.*.traits["smithy.api#enum"][]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Enum {
        /// Always; 3 to 10 bytes, 67 distinct.
        pub value: ThinStr,
        /// Always; 3 to 10 bytes, 67 distinct.
        pub name: ThinStr,
    }

    /// 10 seen: `$.shapes.*.traits["smithy.api#deprecated"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Deprecated {
        /// Always; 15 to 20 bytes, 9 distinct.
        pub message: ThinStr,
    }

    /// 5 seen: `$.shapes.*.traits["aws.api#arn"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Arn {
        /// Always; 15 to 17 bytes, 5 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub template: Option<ThinStr>,
    }

    /// 12 seen: `$.shapes.*.traits["aws.api#service"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Service {
        /// Always; 8 to 15 bytes, 12 distinct.
        pub sdk_id: ThinStr,
        /// 91.7 % filled; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub arn_namespace: Option<ThinStr>,
        /// 83.3 % filled; 20 to 27 bytes, 10 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_trail_event_source: Option<ThinStr>,
        /// 25.0 % filled; 21 to 26 bytes, 3 distinct; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub doc_id: Option<Box<OrOther<ThinStr>>>,
        /// 91.7 % filled; 8 to 15 bytes, 11 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub endpoint_prefix: Option<ThinStr>,
        /// 50.0 % filled; 10 to 14 bytes, 6 distinct; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cloud_formation_name: Option<OrOther<ThinStr>>,
    }

    /// 12 seen: `$.shapes.*.traits["aws.auth#sigv4"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Sigv4 {
        /// Always; 8 to 15 bytes, 12 distinct.
        pub name: ThinStr,
    }

    /// 12 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRuleSet {
        /// Always; 3 bytes, one text only.
        pub version: ThinStr,
        /// Always.
        pub parameters: Parameters,
        /// Always; 2.1 on average, 3 at most.
        pub rules: Box<[Rule]>,
    }

    /// 12 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Parameters {
        /// Always.
        pub region: Parameter,
        /// Always.
        pub use_dual_stack: Parameter,
        /// Always.
        #[serde(rename = "UseFIPS")]
        pub use_fips: Parameter,
        /// Always.
        pub endpoint: Parameter,
    }

    /// 48 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.UseFIPS`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Endpoint`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Parameter {
        /// Always.
        pub built_in: BuiltIn,
        /// Always; true 24 times.
        pub required: bool,
        /// Always; 32 bytes, one text only.
        pub documentation: ThinStr,
        /// Always.
        pub r#type: ParameterType,
        /// 50.0 % filled; true 0 times.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub default: Option<bool>,
    }

    /// One of 4, 48 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.builtIn`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// One of 2, 48 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].parameters.Region.type`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    pub enum ParameterType {
        /// 50.0 %.
        Boolean,
        /// 50.0 %.
        String,
        /// A text that was not seen.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// One of 3, distinguished by `type`: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
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

    /// 63 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TreeRule {
        /// Always; 1.5 on average, 2 at most, 34.9 % empty.
        pub conditions: Box<[Condition]>,
        /// Always; 1.9 on average, 3 at most.
        pub rules: Box<[Rule]>,
    }

    /// 141 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Condition {
        /// Always.
        pub r#fn: ConditionFn,
        /// Always; 1.3 on average, 2 at most.
        pub argv: Box<[ArgvOrBool]>,
        /// 42.6 % filled; 15 bytes, one text only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub assign: Option<ThinStr>,
    }

    /// One of 3, 141 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].fn`.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub enum ConditionFn {
        /// 42.6 %.
        #[serde(rename = "aws.partition")]
        AwsPartition,
        /// 28.4 %.
        BooleanEquals,
        /// 29.1 %.
        IsSet,
        /// A text that was not seen.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// What `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]` holds.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum ArgvOrBool {
        /// 22.1 % filled; true 22 times.
        Bool(bool),
        /// 77.9 % filled.
        Argv(Argv),
        /// A value of another type, which was not seen.
        Other(Box<serde_json::Value>),
    }

    /// 173 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[]`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint.url`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Argv {
        /// Always.
        pub r#ref: Ref,
    }

    /// One of 4, 173 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].conditions[].argv[].ref`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// 60 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EndpointRule {
        /// Always; 1.6 on average, 2 at most, 40.0 % empty.
        pub conditions: Box<[Condition]>,
        /// Always.
        pub endpoint: Endpoint,
    }

    /// 204 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint`, `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[].endpoint`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Endpoint {
        /// Always.
        pub url: Url,
        /// 29.4 % filled; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub properties: Option<Empty>,
        /// 29.4 % filled; 60 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub headers: Option<Empty>,
    }

    /// What `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect.endpoint.url` holds.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum Url {
        /// 84.3 % filled; 33 to 48 bytes, 104 distinct.
        Text(ThinStr),
        /// 15.7 % filled.
        Argv(Argv),
        /// A value of another type, which was not seen.
        Other(Box<serde_json::Value>),
    }

    /// 23 seen: `$.shapes.*.traits["smithy.rules#endpointRuleSet"].rules[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ErrorRule {
        /// Always; 1.5 on average, 2 at most, 39.1 % empty.
        pub conditions: Box<[Condition]>,
        /// Always; 44 bytes, one text only.
        pub error: ThinStr,
    }

    /// 12 seen: `$.shapes.*.traits["smithy.rules#endpointTests"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct EndpointTests {
        /// Always; 12.0 on average, 19 at most.
        pub test_cases: Box<[TestCase]>,
        /// Always; 3 bytes, one text only.
        pub version: ThinStr,
    }

    /// 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TestCase {
        /// Always; 51 to 54 bytes, 20 distinct.
        pub documentation: ThinStr,
        /// Always.
        pub expect: Expect,
        /// Always.
        pub params: Params,
    }

    /// 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].expect`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Expect {
        /// Always.
        pub endpoint: Endpoint,
    }

    /// 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub struct Params {
        /// Always.
        pub region: Region,
        /// Always; true 71 times.
        #[serde(rename = "UseFIPS")]
        pub use_fips: bool,
        /// Always; true 72 times.
        pub use_dual_stack: bool,
    }

    /// One of 5, 144 seen: `$.shapes.*.traits["smithy.rules#endpointTests"].testCases[].params.Region`.
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
        /// A text that was not seen.
        #[serde(untagged)]
        Other(ThinStr),
    }

    /// 10 seen: `$.shapes.*.traits["aws.iam#iamAction"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Sparse)]
    #[sparse(const)]
    #[serde(rename_all = "camelCase")]
    pub struct IamAction {
        /// 60.0 % filled; 6 to 25 bytes, 6 distinct; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<OrOther<ThinStr>>,
        /// 90.0 % filled; 33 to 40 bytes, 9 distinct.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documentation: Option<ThinStr>,
        /// 30.0 % filled; 3.0 on average, 3 at most; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required_actions: Option<OrOther<ThinSlice<ThinStr>>>,
        /// 20.0 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Box<OrOther<Resources>>>,
        /// 10.0 % filled; 1.0 on average, 1 at most; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub creates_resources: Option<Box<OrOther<ThinSlice<ThinStr>>>>,
    }

    /// 2 seen: `$.shapes.*.traits["aws.iam#iamAction"].resources`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Resources {
        /// Always; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub required: Option<Required>,
    }

    /// 2 seen: `$.shapes.*.traits["aws.iam#iamAction"].resources.required`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Required {
        /// 50.0 % filled; 1 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lever: Option<Empty>,
        /// 50.0 % filled; 1 times `{}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub order: Option<Empty>,
    }

    /// 4 seen: `$.shapes.*.traits["smithy.api#xmlNamespace"]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct XmlNamespace {
        /// Always; 43 to 49 bytes, 4 distinct; optional, because there are so few objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uri: Option<ThinStr>,
    }

    /// 302 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct OperationShape {
        /// Always.
        pub input: Target,
        /// Always.
        pub output: Target,
        /// 98.7 % filled; 4.5 on average, 20 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub errors: Option<Box<[Target]>>,
        /// Always.
        pub traits: Traits,
    }

    /// 2,320 seen: `$.shapes.*.errors[]`, `$.shapes.*.input`, `$.shapes.*.output`, ..
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Target {
        /// Always; 15 to 67 bytes, 1,028 distinct.
        pub target: ThinStr,
    }

    /// 269 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct StringShape {
        /// 84.8 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 221 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ListShape {
        /// Always.
        pub member: Member,
        /// 28.5 % filled.
        #[serde(default, skip_serializing_if = "Sparse::is_empty")]
        pub traits: Sparse<Traits>,
    }

    /// 143 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct EnumShape {
        /// Always; 4.4 on average, 54 at most.
        pub members: SortedMap<ThinStr, Member>,
        /// 15.4 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 51 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct IntegerShape {
        /// 78.4 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 20 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct MapShape {
        /// Always.
        pub key: Target,
        /// Always.
        pub value: Target,
        /// 40.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 13 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BooleanShape {
        /// 46.2 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<OrOther<Traits>>,
    }

    /// 12 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ServiceShape {
        /// Always; 10 bytes, 12 distinct.
        pub version: ThinStr,
        /// Always; 25.2 on average, 62 at most.
        pub operations: Box<[Target]>,
        /// 58.3 % filled; 1.1 on average, 2 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resources: Option<Box<[Target]>>,
        /// Always.
        pub traits: Traits,
    }

    /// 11 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct TimestampShape {
        /// 27.3 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<OrOther<Traits>>,
    }

    /// 9 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct UnionShape {
        /// Always; 2.9 on average, 9 at most.
        pub members: SortedMap<ThinStr, Member>,
        /// Always.
        pub traits: Traits,
    }

    /// 8 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct ResourceShape {
        /// 87.5 % filled; 1.0 on average, 1 at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub identifiers: Option<SortedMap<ThinStr, Target>>,
        /// 50.0 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub create: Option<OrOther<Target>>,
        /// 75.0 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub read: Option<OrOther<Target>>,
        /// 37.5 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delete: Option<OrOther<Target>>,
        /// 62.5 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<OrOther<Traits>>,
        /// 75.0 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub update: Option<OrOther<Target>>,
        /// 75.0 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub list: Option<OrOther<Target>>,
    }

    /// 7 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct LongShape {
        /// 28.6 % filled; open to other types, because there are so few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<OrOther<Traits>>,
    }

    /// 6 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct DoubleShape {
        /// 50.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 5 seen: `$.shapes.*`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct BlobShape {
        /// 60.0 % filled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traits: Option<Traits>,
    }

    /// 8 seen: `$.metadata`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Metadata {
        /// Always; 5.0 on average, 7 at most.
        pub suppressions: Box<[Suppression]>,
    }

    /// 40 seen: `$.metadata.suppressions[]`.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    pub struct Suppression {
        /// Always; 7 to 15 bytes, 40 distinct.
        pub id: ThinStr,
        /// Always; 1 bytes, one text only.
        pub namespace: ThinStr,
    }

    /// A value of the inferred type, or any other value: the data was too little to rule other types out.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum OrOther<T> {
        /// A value of the inferred type.
        Known(T),
        /// Any other value.
        Other(Box<serde_json::Value>),
    }

    impl<T> OrOther<T> {
        /// The value, if it has the inferred type.
        #[allow(dead_code)]
        pub fn known(&self) -> Option<&T> {
            match self {
                OrOther::Known(value) => Some(value),
                OrOther::Other(_) => None,
            }
        }
    }
}

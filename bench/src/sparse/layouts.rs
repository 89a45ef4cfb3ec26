//! The types of the article, once for each layout.
//!
//! A layout is a module with six aliases, with which `smithy_types!` defines the structs. The fields are those of the
//! article. It shows a part of `Traits`; the rest follows from its sizes (`Shape` 2488 bytes, `Reference` 408, `Traits`
//! 384 unboxed; 112 and 32 boxed) and from the contents of the models.

use allocative::Allocative;
use datasize::DataSize;
use deepsize::DeepSizeOf;
use dwell::sparse::{IsEmpty, SortedMap, ThinSlice, ThinStr};
use dwell::{Sparse, Weigh};
use get_size2::GetSize;
use mem_dbg::MemSize;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize};

use super::{arena, intern};

/// The kind of a shape, which is the same in all layouts.
#[derive(
    Clone, Copy, Debug, Deserialize, PartialEq, Serialize, Allocative, DataSize, DeepSizeOf, GetSize, MemSize, Weigh,
)]
#[mem_size(flat)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ShapeType {
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

/// Defines the structs in a module that has these aliases:
/// - `Text`, `List<T>`, `Map<V>`: a string, a list, and a map by name;
/// - `Link<T>`: an optional reference;
/// - `Always<T>`: traits, which every shape and reference has;
/// - `Rarely<T>`: a part of the traits that few have.
///
/// A call can pass attributes for all structs. With `peers: true` the structs also derive the traits of the peers of
/// `dwell::weigh`, which must support the field types. The derives are written here because not all of them accept a name
/// from another macro.
///
/// Fields that equal their default are not serialized, so that all layouts write the same JSON.
macro_rules! smithy_types {
    ($(#[$attribute:meta])* $(peers: $peers:literal)?) => {
        #[allow(unused_imports, reason = "for peers only")]
        use {allocative::Allocative, datasize::DataSize, deepsize::DeepSizeOf, get_size2::GetSize, mem_dbg::MemSize};

        use super::*;

        #[derive(Deserialize, Serialize)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        pub(in super::super) struct Model {
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            smithy: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            shapes: Map<Shape>,
        }

        #[derive(Deserialize, Serialize)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        pub(in super::super) struct Shape {
            #[serde(rename = "type")]
            kind: ShapeType,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            operations: List<Reference>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            members: Map<Reference>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            key: Option<Link<Reference>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            value: Option<Link<Reference>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            member: Option<Link<Reference>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            input: Option<Link<Reference>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            output: Option<Link<Reference>>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            traits: Always<Traits>,
        }

        #[derive(Deserialize, Serialize)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        pub(in super::super) struct Reference {
            target: Text,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            traits: Always<Traits>,
        }

        #[derive(Default, Deserialize, Serialize, Sparse)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        pub(in super::super) struct Traits {
            #[serde(rename = "smithy.api#documentation", default, skip_serializing_if = "IsEmpty::is_empty")]
            documentation: Option<Text>,
            #[serde(rename = "smithy.api#title", default, skip_serializing_if = "IsEmpty::is_empty")]
            title: Option<Text>,
            #[serde(rename = "aws.api#service", default, skip_serializing_if = "IsEmpty::is_empty")]
            service: Rarely<ServiceTrait>,
            #[serde(rename = "aws.iam#iamAction", default, skip_serializing_if = "IsEmpty::is_empty")]
            iam_action: Rarely<IamAction>,
            #[serde(rename = "aws.api#arn", default, skip_serializing_if = "IsEmpty::is_empty")]
            arn: Rarely<Arn>,
        }

        #[derive(Default, Deserialize, Serialize, Sparse)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        #[serde(rename_all = "camelCase")]
        pub(in super::super) struct ServiceTrait {
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            sdk_id: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            arn_namespace: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            cloud_formation_name: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            cloud_trail_event_source: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            endpoint_prefix: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            doc_id: Option<Text>,
        }

        #[derive(Default, Deserialize, Serialize, Sparse)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        #[serde(rename_all = "camelCase")]
        pub(in super::super) struct IamAction {
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            name: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            documentation: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            required_actions: List<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            creates_resources: List<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            resources: Rarely<IamResources>,
        }

        #[derive(Default, Deserialize, Serialize, Sparse)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        pub(in super::super) struct IamResources {
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            required: Map<IamResource>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            optional: Map<IamResource>,
        }

        #[derive(Default, Deserialize, Serialize)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        #[serde(rename_all = "camelCase")]
        pub(in super::super) struct IamResource {
            #[serde(default)]
            condition_keys: List<Text>,
        }

        #[derive(Default, Deserialize, Serialize, Sparse)]
        $(#[$attribute])*
        #[cfg_attr(any($($peers)?), derive(Allocative, DataSize, DeepSizeOf, GetSize, MemSize))]
        #[serde(rename_all = "camelCase")]
        pub(in super::super) struct Arn {
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            template: Option<Text>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            absolute: Option<bool>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            no_account: Option<bool>,
            #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
            no_region: Option<bool>,
        }

        /// The sizes of a shape, a reference and traits.
        #[allow(dead_code, reason = "only `sparse` prints them")]
        pub(in super::super) const SIZES: [usize; 3] =
            [size_of::<Shape>(), size_of::<Reference>(), size_of::<Traits>()];
    };
}

pub(crate) use smithy_types;

/// An `Option<T>` that is written only if it holds something, as the `Sparse` of the other layouts.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct IfAny<T>(Option<T>);

impl<T> Default for IfAny<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: IsEmpty> IsEmpty for IfAny<T> {
    fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(IsEmpty::is_empty)
    }
}

/// The article's `Option<Box<T>>`, whose deserialisation leaves out an empty `T`.
#[derive(Serialize, Allocative, DataSize, DeepSizeOf, GetSize, MemSize, Weigh)]
pub(crate) struct BoxedIfAny<T>(Option<Box<T>>);

impl<T> Default for BoxedIfAny<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> IsEmpty for BoxedIfAny<T> {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl<'de, T: Deserialize<'de> + IsEmpty> Deserialize<'de> for BoxedIfAny<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self((!value.is_empty()).then(|| Box::new(value))))
    }
}

/// Defines layouts. Each names its types for a text, a list, a map by name, an optional reference, traits that every shape
/// has, and parts of the traits that few have.
macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident: $text:ty, $list:ty, $map:ty, $link:ty, $always:ty, $rarely:ty;)*) => {$(
        $(#[$doc])*
        pub(super) mod $name {
            type Text = $text;
            type List<T> = $list;
            type Map<T> = $map;
            type Link<T> = $link;
            type Always<T> = $always;
            type Rarely<T> = $rarely;
            smithy_types!();
        }
    )*};
}

layouts! {
    /// The first draft: nothing is boxed.
    unboxed: String, Vec<T>, FxHashMap<Text, T>, T, T, IfAny<T>;
    /// The layout that the article arrives at.
    boxed: String, Vec<T>, FxHashMap<Text, T>, Box<T>, BoxedIfAny<T>, IfAny<T>;
    /// `Option<Box<T>>` wherever the next layout has a `Sparse`.
    option_box: String, Vec<T>, FxHashMap<Text, T>, Box<T>, BoxedIfAny<T>, BoxedIfAny<T>;
    /// `Sparse` for mostly empty structs; strings and maps are unchanged.
    sparse: String, Vec<T>, FxHashMap<Text, T>, Box<T>, Sparse<T>, Sparse<T>;
    /// Also strings without spare capacity.
    box_str: Box<str>, Vec<T>, FxHashMap<Text, T>, Box<T>, Sparse<T>, Sparse<T>;
    /// Also maps as sorted slices, and lists without spare capacity.
    sorted: Box<str>, Box<[T]>, SortedMap<Text, T>, Box<T>, Sparse<T>, Sparse<T>;
    /// Also strings and lists of one word.
    thin: ThinStr, ThinSlice<T>, SortedMap<Text, T>, Box<T>, Sparse<T>, Sparse<T>;
}

/// Also interned strings: a layout for each interner.
macro_rules! interned {
    ($($name:ident: $interner:ident,)*) => {
        layouts! {$(
            $name: intern::Interned<intern::$interner>, ThinSlice<T>, SortedMap<Text, T>, Box<T>, Sparse<T>, Sparse<T>;
        )*}
    };
}
interned! {
    string_interner: StringInterner,
    lasso: Lasso,
    ustr: Ustr,
    internment: Internment,
}

/// All contents in a bump arena: a layout for each arena.
macro_rules! arenas {
    ($($name:ident: $arena:ident,)*) => {
        layouts! {$(
            $name: arena::Str<arena::$arena>, arena::Slice<T, arena::$arena>, arena::Map<T, arena::$arena>,
                arena::Ref<T, arena::$arena>, arena::Sparse<T, arena::$arena>, arena::Sparse<T, arena::$arena>;
        )*}
    };
}
arenas! {
    bump: Dwell,
    bumpalo: Bumpalo,
}

#[cfg(test)]
mod tests {
    use super::super::canonical::hash_of;
    use super::super::load::LAYOUTS;
    use serde_json::{Map, Value, json};

    /// A function that reduces a JSON value to the parts that the types store.
    type Keep = fn(&Value) -> Value;

    fn fields(value: &Value, fields: &[(&str, Keep)]) -> Value {
        let kept = fields.iter().filter_map(|(name, keep)| Some(((*name).to_owned(), keep(value.get(name)?))));
        // Empty lists and maps are defaults, which are not serialized.
        let written = kept.filter(|(_, value)| *value != json!([]) && *value != json!({}));
        Value::Object(written.collect::<Map<_, _>>())
    }

    fn all(value: &Value, keep: Keep) -> Value {
        match value {
            Value::Array(values) => values.iter().map(keep).collect(),
            Value::Object(entries) => entries.iter().map(|(name, value)| (name.clone(), keep(value))).collect(),
            other => panic!("neither list nor map: {other}"),
        }
    }

    fn model(value: &Value) -> Value {
        fields(value, &[("smithy", Value::clone), ("shapes", |shapes| all(shapes, shape))])
    }

    fn shape(value: &Value) -> Value {
        let all_references: Keep = |references| all(references, reference);
        let one: Keep = reference;
        let lists = [("operations", all_references), ("members", all_references)];
        let links = ["key", "value", "member", "input", "output"].map(|name| (name, one));
        let rest: [(&str, Keep); 2] = [("type", Value::clone), ("traits", traits)];
        fields(value, &[&lists[..], &links[..], &rest[..]].concat())
    }

    fn reference(value: &Value) -> Value {
        fields(value, &[("target", Value::clone), ("traits", traits)])
    }

    fn traits(value: &Value) -> Value {
        fields(
            value,
            &[
                ("smithy.api#documentation", Value::clone),
                ("smithy.api#title", Value::clone),
                ("aws.api#service", service),
                ("aws.iam#iamAction", iam_action),
                ("aws.api#arn", arn),
            ],
        )
    }

    fn copies(value: &Value, names: &[&str]) -> Value {
        fields(value, &names.iter().map(|name| (*name, Value::clone as Keep)).collect::<Vec<_>>())
    }

    fn service(value: &Value) -> Value {
        let names = ["sdkId", "arnNamespace", "cloudFormationName", "cloudTrailEventSource", "endpointPrefix", "docId"];
        copies(value, &names)
    }

    fn iam_action(value: &Value) -> Value {
        fields(
            value,
            &[
                ("name", Value::clone),
                ("documentation", Value::clone),
                ("requiredActions", Value::clone),
                ("createsResources", Value::clone),
                ("resources", |resources| {
                    fields(resources, &[("required", |map| all(map, resource)), ("optional", |map| all(map, resource))])
                }),
            ],
        )
    }

    fn resource(value: &Value) -> Value {
        json!({ "conditionKeys": value.get("conditionKeys").cloned().unwrap_or_else(|| json!([])) })
    }

    fn arn(value: &Value) -> Value {
        copies(value, &["template", "absolute", "noAccount", "noRegion"])
    }

    /// Compares each layout with the document itself, since all layouts could lose the same part.
    #[test]
    fn every_layout_preserves_the_document() {
        let documents = dwell_shape::sample::documents(3, 12).map(|(_, json)| String::from_utf8(json).unwrap());
        // Parts that the sample lacks: keys that are present with an empty or false value.
        let bare = r#"{"shapes": {"a#B": {"type": "operation", "traits": {"aws.iam#iamAction": {"resources": {}},
            "smithy.api#documentation": "", "aws.api#arn": {"template": "t", "absolute": false}},
            "operations": [], "members": {"x": {"target": "y", "traits": {}}}}}}"#;
        let mut holds_actions = false;
        for json in documents.chain([bare.to_owned()]) {
            let document: Value = serde_json::from_str(&json).unwrap();
            let expected = hash_of(&model(&document)).unwrap();
            for layout in LAYOUTS {
                assert_eq!(layout.hash(&json).unwrap(), expected, "{}", layout.name);
            }
            holds_actions |= json.contains("aws.iam#iamAction") && json.contains("requiredActions");
        }
        assert!(holds_actions, "the sample has all parts");
    }

    #[test]
    fn sizes_match_the_article() {
        assert_eq!(super::unboxed::SIZES, [2488, 408, 384]);
        assert_eq!(super::boxed::SIZES, [112, 32, 384]);
    }
}

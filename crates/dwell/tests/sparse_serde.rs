//! serde: a `Sparse<T>` is serialised as a `T`, for every attribute of the field and every format.
#![cfg(all(feature = "derive", feature = "serde"))]

use dwell::Sparse;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_str, json, to_value};
use std::collections::BTreeMap;

fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, Sparse)]
#[serde(default, rename_all = "camelCase")]
struct Traits {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(rename = "smithy.api#tags", skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<u32>,
}

/// The same fields without attributes, for formats that do not name them.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, Sparse)]
struct Plain {
    title: Option<String>,
    tags: Vec<String>,
    length: u32,
}

/// Deserializes JSON as a `T` and serializes it again.
fn round_trip<T: DeserializeOwned + Serialize>(value: &Value) -> Value {
    to_value(serde_json::from_value::<T>(value.clone()).unwrap()).unwrap()
}

#[test]
fn missing_empty_and_full_fields_round_trip() {
    #[derive(Serialize, Deserialize)]
    struct Shape {
        #[serde(default, skip_serializing_if = "Sparse::is_empty")]
        traits: Sparse<Traits>,
    }

    let empty: Shape = from_str("{}").unwrap();
    assert!(empty.traits.get().is_none());
    let braces: Shape = from_str(r#"{"traits": {}}"#).unwrap();
    assert!(braces.traits.get().is_none());
    assert_eq!(round_trip::<Shape>(&json!({})), json!({}));
    assert_eq!(round_trip::<Shape>(&json!({"traits": {}})), json!({}), "the documented difference");
    let full = json!({"traits": {"title": "a", "smithy.api#tags": ["b"], "maxLength": 3}});
    assert_eq!(round_trip::<Shape>(&full), full);
}

#[test]
fn missing_field_without_default_is_an_error() {
    #[derive(Debug, Deserialize)]
    struct Shape {
        #[expect(dead_code, reason = "only read")]
        traits: Sparse<Traits>,
    }
    assert!(from_str::<Shape>("{}").unwrap_err().to_string().contains("missing field `traits`"));
}

#[test]
fn null_requires_nullable_or_option() {
    #[derive(Debug, Deserialize, Serialize)]
    struct Strict {
        #[serde(default)]
        traits: Sparse<Traits>,
    }
    #[derive(Debug, Deserialize, Serialize)]
    struct Nullable {
        #[serde(default, with = "dwell::sparse::nullable")]
        traits: Sparse<Traits>,
    }
    #[derive(Debug, Deserialize, Serialize)]
    struct Optional {
        traits: Option<Sparse<Traits>>,
    }

    let null = r#"{"traits": null}"#;
    assert!(from_str::<Strict>(null).unwrap_err().to_string().contains("null"));
    assert!(from_str::<Nullable>(null).unwrap().traits.get().is_none());
    assert!(from_str::<Nullable>("{}").unwrap().traits.get().is_none());
    assert!(from_str::<Nullable>(r#"{"traits": {}}"#).unwrap().traits.get().is_none());
    assert!(from_str::<Optional>(null).unwrap().traits.is_none());
    assert!(from_str::<Optional>("{}").unwrap().traits.is_none());
    assert!(from_str::<Optional>(r#"{"traits": {}}"#).unwrap().traits.is_some());

    let full = json!({"traits": {"title": "a"}});
    for written in [round_trip::<Strict>(&full), round_trip::<Nullable>(&full), round_trip::<Optional>(&full)] {
        assert_eq!(written, full);
    }
    assert_eq!(round_trip::<Nullable>(&json!({"traits": null})), json!({"traits": null}));
    assert_eq!(round_trip::<Strict>(&json!({})), json!({"traits": {}}));
}

#[test]
fn option_box_reads_empty_values_as_none() {
    #[derive(Debug, Deserialize, Serialize)]
    struct Shape {
        #[serde(default, with = "dwell::sparse::option_box", skip_serializing_if = "Option::is_none")]
        traits: Option<Box<Traits>>,
    }

    for empty in [json!({}), json!({"traits": null}), json!({"traits": {}}), json!({"traits": {"title": null}})] {
        assert!(serde_json::from_value::<Shape>(empty.clone()).unwrap().traits.is_none());
        assert_eq!(round_trip::<Shape>(&empty), json!({}));
    }
    let full = json!({"traits": {"title": "a"}});
    assert_eq!(round_trip::<Shape>(&full), full);
    assert!(from_str::<Shape>(r#"{"traits": 3}"#).is_err());
}

#[test]
fn flatten_takes_matching_fields() {
    #[derive(Debug, Deserialize, Serialize)]
    struct Shape {
        name: String,
        #[serde(flatten)]
        traits: Sparse<Traits>,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }

    let none: Shape = from_str(r#"{"name": "n", "other": 1}"#).unwrap();
    assert!(none.traits.get().is_none());
    assert_eq!(none.rest["other"], 1);
    let some: Shape = from_str(r#"{"name": "n", "title": "t", "other": 1}"#).unwrap();
    assert_eq!(some.traits.title.as_deref(), Some("t"));
    for value in [json!({"name": "n", "other": 1}), json!({"name": "n", "title": "t", "maxLength": 1, "other": 1})] {
        assert_eq!(round_trip::<Shape>(&value), value);
    }
    // A field of the wrong type is an error, where a flattened `Option` would silently become `None`.
    assert!(from_str::<Shape>(r#"{"name": "n", "maxLength": "long"}"#).is_err());
}

#[test]
fn deny_unknown_fields_of_the_value_is_respected() {
    #[derive(Debug, Default, Deserialize, Sparse)]
    #[serde(default, deny_unknown_fields)]
    struct Strict {
        a: u8,
    }
    #[derive(Debug, Deserialize)]
    struct Shape {
        #[expect(dead_code, reason = "only read")]
        strict: Sparse<Strict>,
    }

    assert!(from_str::<Shape>(r#"{"strict": {"a": 1}}"#).is_ok());
    assert!(from_str::<Shape>(r#"{"strict": {"b": 1}}"#).unwrap_err().to_string().contains("unknown field `b`"));
}

#[test]
fn borrows_from_the_input() {
    #[derive(Default, Deserialize, Serialize, Sparse)]
    #[serde(default)]
    struct Borrowed<'a> {
        name: &'a str,
        #[serde(borrow)]
        text: std::borrow::Cow<'a, str>,
    }
    #[derive(Deserialize, Serialize)]
    struct Shape<'a> {
        #[serde(borrow, default)]
        traits: Sparse<Borrowed<'a>>,
    }

    let input = String::from(r#"{"traits":{"name":"n","text":"t"}}"#);
    let shape: Shape<'_> = from_str(&input).unwrap();
    assert!(input.as_bytes().as_ptr_range().contains(&shape.traits.name.as_ptr()));
    assert_eq!(serde_json::to_string(&shape).unwrap(), input);
    assert!(from_str::<Shape<'_>>("{}").unwrap().traits.get().is_none());
}

#[test]
fn generic_and_recursive_types() {
    #[derive(Debug, Default, Deserialize, Serialize, Sparse)]
    #[serde(default, bound(serialize = "T: Default + Serialize", deserialize = "T: Default + Deserialize<'de>"))]
    #[sparse(bound = "")]
    struct Tree<T> {
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<T>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        children: Vec<Tree<T>>,
        // A recursive type needs `skip_serializing_if` or `nullable`: serializing its default would never end.
        #[serde(skip_serializing_if = "Sparse::is_empty")]
        left: Sparse<Tree<T>>,
        #[serde(with = "dwell::sparse::nullable")]
        right: Sparse<Tree<T>>,
    }

    let value = json!({
        "value": 1,
        "children": [{"left": {"value": 2, "right": null}, "right": null}],
        "left": {"left": {"value": 3, "right": null}, "right": null},
        "right": {"value": 4, "right": null},
    });
    assert_eq!(round_trip::<Tree<u8>>(&value), value);
    assert_eq!(round_trip::<Tree<u8>>(&json!({})), json!({"right": null}));
}

#[test]
fn tagged_and_untagged_enums_round_trip() {
    #[derive(Deserialize, Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    enum Tagged {
        Structure {
            #[serde(default, skip_serializing_if = "Sparse::is_empty")]
            traits: Sparse<Traits>,
        },
        Bare(Sparse<Traits>),
    }
    #[derive(Deserialize, Serialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
        Traits(Sparse<Traits>),
    }

    for value in [
        json!({"type": "structure", "traits": {"title": "a"}}),
        json!({"type": "structure"}),
        json!({"type": "bare", "title": "a"}),
    ] {
        assert_eq!(round_trip::<Tagged>(&value), value);
    }
    for value in [json!(3), json!({"title": "a"}), json!({})] {
        assert_eq!(round_trip::<Untagged>(&value), value);
    }
}

fn texts() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("[a-zA-Z \"\\\\\u{e9}]{0,12}")
}

prop_compose! {
    fn plain()(title in texts(), tags in prop::collection::vec("[a-z]{0,3}", 0..3), length in 0_u32..3) -> Plain {
        Plain { title, tags, length }
    }
}

prop_compose! {
    fn traits()(
        title in texts(),
        tags in prop::collection::vec("[a-z]{0,3}", 0..3),
        max_length in proptest::option::of(0_u32..3),
    ) -> Traits {
        Traits { title, tags, max_length }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// A format with field names writes the same for `T` and `Sparse<T>`, and each reads the other's output.
    #[test]
    fn json_matches_the_plain_value(value in traits()) {
        let sparse = Sparse::new(value.clone());
        let written = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&serde_json::to_string(&sparse).unwrap(), &written);
        prop_assert_eq!(from_str::<Sparse<Traits>>(&written).unwrap(), sparse.clone());
        prop_assert_eq!(from_str::<Traits>(&written).unwrap(), value);
        prop_assert_eq!(round_trip::<Sparse<Traits>>(&to_value(&sparse).unwrap()), to_value(&sparse).unwrap());
    }

    /// A binary format writes the same bytes for both.
    #[test]
    fn postcard_matches_the_plain_value(values in prop::collection::vec(plain(), 0..4)) {
        let sparse: Vec<Sparse<Plain>> = values.iter().cloned().map(Sparse::new).collect();
        let written = postcard::to_allocvec(&values).unwrap();
        prop_assert_eq!(&postcard::to_allocvec(&sparse).unwrap(), &written);
        prop_assert_eq!(postcard::from_bytes::<Vec<Sparse<Plain>>>(&written).unwrap(), sparse.clone());
        prop_assert_eq!(postcard::from_bytes::<Vec<Plain>>(&written).unwrap(), values);
    }

    /// In a binary format `nullable` and `option_box` write the same bytes as an `Option`.
    #[test]
    fn with_modules_match_option_in_postcard(value in proptest::option::of(plain())) {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Optional { value: Option<Plain>, after: u8 }
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Nullable { #[serde(with = "dwell::sparse::nullable")] value: Sparse<Plain>, after: u8 }
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Boxed { #[serde(with = "dwell::sparse::option_box")] value: Option<Box<Plain>>, after: u8 }

        let value = value.filter(|value| *value != Plain::default());
        let optional = postcard::to_allocvec(&Optional { value: value.clone(), after: 9 }).unwrap();
        let nullable = Nullable { value: value.clone().into(), after: 9 };
        let boxed = Boxed { value: value.map(Box::new), after: 9 };
        prop_assert_eq!(&postcard::to_allocvec(&nullable).unwrap(), &optional);
        prop_assert_eq!(&postcard::to_allocvec(&boxed).unwrap(), &optional);
        prop_assert_eq!(postcard::from_bytes::<Nullable>(&optional).unwrap(), nullable);
        prop_assert_eq!(postcard::from_bytes::<Boxed>(&optional).unwrap(), boxed);
    }
}

//! A hash over JSON in a canonical form, which tells whether two layouts hold the same data.

use serde::Serialize;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash};

/// Hashes `value` as JSON, with the entries of objects sorted by key.
///
/// The types do not serialize fields that equal their default, so absent and empty values are equal.
pub(super) fn hash(value: &impl Serialize, state: &mut DefaultHasher) -> serde_json::Result<()> {
    hash_value(&serde_json::to_value(value)?, state);
    Ok(())
}

/// Returns the hash of a value.
#[cfg(test)]
pub(super) fn hash_of(value: &impl Serialize) -> serde_json::Result<u64> {
    let mut state = DefaultHasher::new();
    hash(value, &mut state)?;
    Ok(std::hash::Hasher::finish(&state))
}

fn hash_value(value: &Value, state: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(state),
        Value::Bool(value) => (1_u8, value).hash(state),
        Value::Number(value) => (2_u8, value).hash(state),
        Value::String(value) => (3_u8, value).hash(state),
        Value::Array(values) => {
            (4_u8, values.len()).hash(state);
            for value in values {
                hash_value(value, state);
            }
        }
        Value::Object(entries) => {
            (5_u8, entries.len()).hash(state);
            // serde_json sorts them too, unless a crate of the build enables its feature `preserve_order`.
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            for (key, value) in entries {
                key.hash(state);
                hash_value(value, state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hash_of;
    use serde_json::{Value, json};

    fn hash(value: &Value) -> u64 {
        hash_of(value).unwrap()
    }

    #[test]
    fn key_order_does_not_change_the_hash() {
        let read = |text| hash(&serde_json::from_str(text).unwrap());
        assert_eq!(
            read(r#"{"a": 1, "b": [2, {"d": null, "c": "x"}]}"#),
            read(r#"{"b": [2, {"c": "x", "d": null}], "a": 1}"#)
        );
    }

    #[test]
    fn all_other_differences_change_the_hash() {
        let values = [
            json!(null),
            json!(false),
            json!(true),
            json!(0),
            json!(1),
            json!(""),
            json!("1"),
            json!([]),
            json!({}),
            json!([1]),
            json!([1, 2]),
            json!([2, 1]),
            json!([[1], 2]),
            json!([1, [2]]),
            json!({"a": 1}),
            json!({"b": 1}),
            json!({"a": {"b": 1}}),
            json!({"a": [], "b": 1}),
        ];
        let mut hashes: Vec<u64> = values.iter().map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), values.len());
    }
}

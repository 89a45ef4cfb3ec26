//! Whether two layouts hold the same data: a hash over JSON in one form.

use serde::Serialize;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash};

/// A hash of `value` as JSON whose objects are read in the order of their keys.
///
/// "Absent" and "empty" are one: the types write no field that is its type's default, and an entry that is left as `{}`
/// is passed over here. No map of these types has a `{}` for a value that means something.
pub(super) fn hash(value: &impl Serialize, state: &mut DefaultHasher) -> serde_json::Result<()> {
    let mut value = serde_json::to_value(value)?;
    prune(&mut value);
    hash_value(&value, state);
    Ok(())
}

/// The hash of one value.
#[cfg(test)]
pub(super) fn hash_of(value: &impl Serialize) -> serde_json::Result<u64> {
    let mut state = DefaultHasher::new();
    hash(value, &mut state)?;
    Ok(std::hash::Hasher::finish(&state))
}

/// Removes entries that are `{}`, from the inside out.
fn prune(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(prune),
        Value::Object(entries) => {
            entries.values_mut().for_each(prune);
            entries.retain(|_, value| value.as_object().is_none_or(|entries| !entries.is_empty()));
        }
        _ => (),
    }
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
            // serde_json sorts them too, unless a crate of the build turns its `preserve_order` on.
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

    fn of(value: &Value) -> u64 {
        hash_of(value).unwrap()
    }

    #[test]
    fn order_of_keys_does_not_count() {
        let read = |text| of(&serde_json::from_str(text).unwrap());
        assert_eq!(
            read(r#"{"a": 1, "b": [2, {"d": null, "c": "x"}]}"#),
            read(r#"{"b": [2, {"c": "x", "d": null}], "a": 1}"#)
        );
    }

    #[test]
    fn empty_objects_are_absent() {
        assert_eq!(of(&json!({"a": {"b": {}}, "c": 1})), of(&json!({"c": 1})));
    }

    #[test]
    fn all_else_does() {
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
        let mut hashes: Vec<u64> = values.iter().map(of).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), values.len());
    }
}

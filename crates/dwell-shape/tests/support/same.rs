//! Whether two JSON values are the same. `1` and `1.0` are one number: an `f64` writes the first as the second.

use serde_json::Value;

/// Returns whether two values are the same.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|right| same(value, right)))
        }
        // Whole numbers above 2^53 are the same if they are equal to the last digit.
        (Value::Number(number), Value::Number(other)) if number.is_f64() != other.is_f64() => {
            let whole = if number.is_f64() { other } else { number };
            let magnitude = whole.as_i64().map(i64::unsigned_abs).or(whole.as_u64());
            magnitude.is_some_and(|magnitude| magnitude <= 1 << 53) && number.as_f64() == other.as_f64()
        }
        _ => left == right,
    }
}

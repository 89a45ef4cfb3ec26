//! Writes a list of measurements, and reads it as values.
use ciborium::value::Value;

fn main() {
    let text = |text: &str| Value::Text(text.to_owned());
    let item = |number: i64| {
        Value::Map(vec![
            (text("id"), Value::from(number)),
            (text("name"), text(&format!("sensor {}", number % 900))),
            (text("at"), Value::Tag(1, Box::new(Value::from(1_700_000_000 + number)))),
            (text("values"), Value::Array((0..8).map(|index| Value::Float((number + index) as f64 / 3.0)).collect())),
            (text("valid"), Value::Bool(number % 7 != 0)),
            (text("raw"), Value::Bytes(vec![number as u8; 12])),
        ])
    };
    let mut bytes = Vec::new();
    ciborium::into_writer(&Value::Array((0..40_000).map(item).collect()), &mut bytes).unwrap();
    let read: Value = ciborium::from_reader(bytes.as_slice()).unwrap();
    let fields: usize = read.as_array().unwrap().iter().map(|item| item.as_map().unwrap().len()).sum();
    println!("{} {fields}", bytes.len());
}

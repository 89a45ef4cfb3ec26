//! Keeps many parsed values.

use ron::Value;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut values: Vec<Value> = Vec::new();
    for n in 0..count {
        let mut text = String::from("{\"scene\": [");
        for m in 0..12 {
            text.push_str(&format!(
                "{{\"name\": \"object {n}-{m}\", \"at\": (1.0, 2.5, {m}.0), \"visible\": true, \"material\": Some(\"m{m}\"), \"id\": {m}}},"
            ));
        }
        text.push_str("]}");
        values.push(ron::from_str(&text).expect("it is RON"));
    }
    println!("{} values", values.len());
}

//! pom's own benchmark: creates the JSON parser of its examples and parses the file of its benchmarks.

#[path = "../pom/examples/json.rs"]
mod json;

static INPUT: &[u8] = include_bytes!("../pom/assets/data.json");

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        // Recursive parts of the grammar are created again at each occurrence, as in its benchmark.
        "parse data.json" => Box::new(|| {
            let mut sum = 0;
            for _ in 0..20 {
                let value = json::json().parse(std::hint::black_box(INPUT)).expect("the input is JSON");
                sum += match value {
                    json::JsonValue::Object(members) => members.len() as u64,
                    json::JsonValue::Array(values) => values.len() as u64,
                    _ => 1,
                };
            }
            sum
        }),
        _ => panic!("no workload {name}"),
    }
}

//! A description of a service, 586 kB of JSON, as a document whose nodes are in an arena.

use sonic_rs::{JsonContainerTrait, JsonValueTrait, Value};

fn nodes(value: &Value) -> u64 {
    let inner: u64 = match (value.as_object(), value.as_array()) {
        (Some(members), _) => members.iter().map(|(_, value)| nodes(value)).sum(),
        (_, Some(values)) => values.iter().map(nodes).sum(),
        _ => u64::from(value.is_str()),
    };
    inner + 1
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    let text = std::fs::read_to_string("{input}").expect("the input is there");
    match name {
        "slack.json" => Box::new(move || {
            let value: Value = sonic_rs::from_str(&text).expect("the input is JSON");
            nodes(&value)
        }),
        _ => panic!("no workload {name}"),
    }
}

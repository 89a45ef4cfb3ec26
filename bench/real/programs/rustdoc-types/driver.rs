//! rustdoc's JSON of syn, 10 MB, loaded and kept in memory.

use rustdoc_types::Crate;

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "load syn" => {
            let text = std::fs::read_to_string("{input}").expect("the command has written it");
            Box::new(move || {
                let described: Crate = serde_json::from_str(&text).expect("the text is of this format");
                let length = |name: &str| name.len() as u64;
                described.index.values().filter_map(|item| item.name.as_deref().map(length)).sum()
            })
        }
        _ => panic!("no workload {name}"),
    }
}

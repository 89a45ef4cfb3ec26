//! Reads a list of records from JSON, and writes it again.
use facet::Facet;

#[derive(Debug, Facet)]
struct Record {
    id: u64,
    name: String,
    tags: Vec<String>,
    parent: Option<u64>,
    note: Option<String>,
}

fn main() {
    let record = |id: usize| format!("{{\"id\":{id},\"name\":\"Name {id}\",\"tags\":[\"a\",\"b{}\"],\"parent\":null,\"note\":null}}", id % 7);
    let text = format!("[{}]", (0..60_000).map(record).collect::<Vec<_>>().join(","));
    let records: Vec<Record> = facet_json::from_str(&text).unwrap();
    let back = facet_json::to_string(&records).unwrap();
    println!("{} {}", records.len(), back.len());
}

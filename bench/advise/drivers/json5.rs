//! Reads a configuration of many hosts, and writes it once more.
use serde_derive::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Deserialize, Serialize)]
struct Host {
    name: String,
    port: u16,
    weight: f64,
    tags: Vec<String>,
    settings: BTreeMap<String, Setting>,
}

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Setting {
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<Setting>),
}

fn main() {
    let host = |number: usize| {
        let (rack, last) = (number % 40, number % 250);
        format!(
            "{{ // host {number}\n  name: 'host-{number}', port: 0x{:x}, weight: .{rack},\n  tags: ['rack {rack}', \"zone \\u0041\",],\n  \
             settings: {{ debug: {}, address: '10.0.{rack}.{last}', 'cache size': {number}, paths: ['/srv/{number}', '/var/log/{number}', +7.5] }},\n}},\n",
            8000 + rack,
            number % 3 == 0
        )
    };
    let text = format!("[\n{}]\n", (0..40_000).map(host).collect::<String>());
    let hosts: Vec<Host> = json5::from_str(&text).unwrap();
    let written = json5::to_string(&hosts).unwrap();
    println!("{} {}", hosts.len(), written.len());
}

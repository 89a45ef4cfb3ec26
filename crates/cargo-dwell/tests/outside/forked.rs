//! `--follow`: a server and its workers.

use crate::running::{folder, one_line, tool};
use crate::support;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn workers_have_a_report_each_and_a_sum() {
    let exe = folder().join("workers");
    support::truth::compile(&support::truth::source("outside/workers.rs"), &exe, &["-O", "-g"]);
    let mut server = Command::new(&exe).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says something");
    let pid = server.id().to_string();
    let run = |more: &[&str]| tool(&[&["--pid", &pid, "--follow"], more].concat()).output().expect("it runs");
    let json = run(&["--format", "json"]);
    let text = String::from_utf8(run(&[]).stdout).expect("UTF-8");
    let refused = run(&["--save", "census.json"]);
    drop(server.stdin.take());
    server.wait().expect("it ends");
    assert_eq!(line, "ready\n");
    let all: Vec<Value> =
        serde_json::Deserializer::from_slice(&json.stdout).into_iter().map(|one| one.expect("JSON")).collect();
    let sessions = |document: &Value| {
        let blocks = document["snapshots"][0]["blocks"].as_array().expect("rows");
        let is_session = |row: &&Value| row["content"] == "Box<[u64; 12]>";
        blocks.iter().filter(is_session).filter_map(|row| row["blocks"].as_u64()).sum::<u64>()
    };
    assert_eq!(
        all.iter().map(sessions).collect::<Vec<_>>(),
        [500, 1000, 2000],
        "{}",
        String::from_utf8_lossy(&json.stderr)
    );
    assert!(text.contains("3 processes") && text.contains("workers"), "{text}");
    assert!(one_line(&refused).contains("a file has one process"), "{refused:?}");
}

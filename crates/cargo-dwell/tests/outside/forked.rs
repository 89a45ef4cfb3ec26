//! `--follow`: a server and its workers.

use crate::running::{folder, one_line, tool};
use crate::support;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

fn workers() -> PathBuf {
    static WORKERS: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let exe = folder().join("workers");
        support::truth::compile(&support::truth::source("outside/workers.rs"), &exe, &["-O", "-g"]);
        exe
    };
    WORKERS.get_or_init(build).clone()
}

/// A program that starts the tool on itself has the tool below it, which must not stop itself.
#[test]
fn the_tool_below_the_process_is_left_out() {
    let mut server = Command::new(workers());
    server.args([env!("CARGO_BIN_EXE_cargo-dwell"), "dwell", "census", "--follow", "--format", "json", "--pid"]);
    let begin = Instant::now();
    let output = server.stdin(Stdio::null()).output().expect("it runs");
    let all = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    assert_eq!(all.flatten().count(), 3, "{}", String::from_utf8_lossy(&output.stderr));
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !notes.contains("is not counted"), "{notes} {:?}", begin.elapsed());
}

#[test]
fn workers_have_a_report_each_and_a_sum() {
    let exe = workers();
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

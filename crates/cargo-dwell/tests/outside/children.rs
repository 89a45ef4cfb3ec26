//! `--follow` on a run: the processes that the program starts.

use crate::running::{folder, one_line};
use crate::support;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

fn starts() -> PathBuf {
    static STARTS: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let exe = folder().join("starts");
        support::truth::compile(&support::truth::source("outside/starts.rs"), &exe, &["-O", "-g"]);
        exe
    };
    STARTS.get_or_init(build).clone()
}

fn dwell(command: &str, options: &[&str], steps: &[&str]) -> Output {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    tool.args(["dwell", command]).args(options).arg("--exe").arg(starts()).arg("--").args(steps);
    let output = tool.stdin(Stdio::null()).output().expect("it runs");
    assert!(output.status.success(), "{steps:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns the number of sessions of each process, the program first and the others in their order.
fn sessions(steps: &[&str], at: &str) -> Vec<u64> {
    let output = dwell("census", &["--follow", "--at", at, "--format", "json"], steps);
    let all = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let sessions = |document: Value| {
        let snapshot = document["snapshots"].as_array().and_then(|all| all.last()).cloned().expect("one");
        let is_session = |row: &&Value| row["content"] == "Box<[u64; 12]>" && row["by"] != "stack";
        let blocks = snapshot["blocks"].as_array().expect("rows");
        blocks.iter().filter(is_session).filter_map(|row| row["blocks"].as_u64()).sum::<u64>()
    };
    let mut all: Vec<u64> = all.map(|document| sessions(document.expect("JSON"))).collect();
    all[1..].sort_unstable();
    all
}

#[test]
fn processes_that_a_run_starts_have_a_report_each() {
    // A process that was forked has the sessions of its parent, too.
    assert_eq!(sessions(&["100", "fork=30"], "exit"), [100, 130]);
    assert_eq!(sessions(&["100", "fork=7", "spawn=200", "spawn=300"], "exit"), [100, 107, 200, 300]);
    assert_eq!(sessions(&["100", "fork=30", "spawn=200"], "peak"), [100, 130, 200]);
}

/// The locks of the agent are free in the child, whatever the other threads do.
#[test]
fn threads_may_allocate_while_the_program_forks() {
    let steps: Vec<&str> = ["100", "threads"].into_iter().chain([["fork=30"; 12]].concat()).collect();
    let found = sessions(&steps, "exit");
    assert_eq!(found, [&[100][..], &[130; 12]].concat());
}

#[test]
fn a_process_that_outlives_the_program_is_looked_at_then() {
    assert_eq!(sessions(&["100", "leave=400"], "exit"), [100, 400]);
}

#[test]
fn a_process_without_its_environment_is_said_to_be_missing() {
    for (command, options) in [("census", ["--follow", "--at", "exit"]), ("allocs", ["--follow", "--once", "--top=9"])]
    {
        let output = dwell(command, &options, &["100", "cleared=20", "spawn=30"]);
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        let note = "note: 1 process that the program started is not counted: without its environment, or static";
        // Without events of the kernel nobody sees it.
        assert!(notes.lines().any(|line| line == note) || !sees_starts(), "{notes}");
    }
    let output = dwell("census", &["--follow", "--at", "exit"], &["100", "fork=20", "spawn=30"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("not counted"));
}

/// The tool reads a static program from outside, and looks for what it starts.
#[test]
fn processes_of_a_static_program_are_mentioned() {
    let exe = folder().join("starts-static");
    let source = support::truth::source("outside/starts.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "-O", "-g", "-Ctarget-feature=+crt-static"]);
    let built = rustc.arg(&source).arg("-o").arg(&exe).output().expect("rustc runs");
    if cfg!(target_arch = "aarch64") || !built.status.success() {
        support::skip("no static program can be linked or read here");
        return;
    }
    let mut tool = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    tool.args(["dwell", "census", "--exe"]).arg(&exe).args(["--", "20000", "leave=5", "leave=6", "stay"]);
    let output = tool.stdin(Stdio::null()).output().expect("it runs");
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    let note = "note: the program started 2 processes, whose memory is not counted";
    assert!(output.status.success() && notes.lines().any(|line| line == note), "{notes}");
}

/// Returns `true` if the kernel tells what a process starts.
fn sees_starts() -> bool {
    let output = dwell("census", &["--at", "exit"], &["1", "cleared=1"]);
    String::from_utf8_lossy(&output.stderr).contains("started 1 process")
}

/// A script's shell has no debug info.
#[test]
fn processes_of_a_script_have_reports() {
    let exe = starts();
    for command in ["census", "allocs"] {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
        tool.args(["dwell", command, "--follow", "--exe", "/bin/sh", "--", "-c"]);
        tool.arg(format!("{0} 100; {0} 200; exit 3", exe.display()));
        let output = tool.stdin(Stdio::null()).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("note: the program is not counted: ") && text.contains("\n2 processes  "), "{text}");
    }
}

#[test]
fn a_killed_process_has_a_report() {
    assert_eq!(sessions(&["100", "killed=400"], "exit"), [100, 400]);
}

/// The program and what it started run on if the tool is killed, and nothing of the tool stays.
#[test]
fn a_killed_tool_leaves_all_processes_running() {
    // Of its own, so that all that runs it is of this test.
    let exe = folder().join("starts-alone");
    fs::copy(starts(), &exe).expect("it is copied");
    let marks = ["begun", "ended"].map(|name| folder().join(format!("starts-alone-{name}")));
    for mark in &marks {
        let _ = fs::remove_file(mark);
    }
    let mut tool = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    tool.args(["dwell", "census", "--follow", "--at", "exit", "--exe"]).arg(&exe).args(["--", "100", "leave=400"]);
    tool.args([format!("mark={}", marks[0].display()), "stay".into(), format!("mark={}", marks[1].display())]);
    let tool = tool.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null()).spawn();
    let mut tool = tool.expect("it starts");
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let until = Instant::now() + Duration::from_secs(120);
        while !is_so() {
            assert!(Instant::now() < until, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait("the program has not begun", &|| marks[0].exists());
    tool.kill().expect("it is killed");
    tool.wait().expect("it ends");
    wait("the program has not ended", &|| marks[1].exists());
    let runs = |entry: fs::DirEntry| fs::read_link(entry.path().join("exe")).is_ok_and(|path| path == exe);
    wait("a process stays", &|| !fs::read_dir("/proc").expect("it exists").flatten().any(runs));
}

#[test]
fn a_run_without_follow_says_how_many_processes_are_not_counted() {
    for (command, what) in
        [("census", "memory is not counted; --follow counts it"), ("allocs", "allocations are not counted")]
    {
        let once: &[&str] = if command == "allocs" { &["--once"] } else { &[] };
        let output = dwell(command, once, &["10", "fork=20", "fork=30"]);
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        let told = format!("note: the program started 2 processes, whose {what}");
        assert!(notes.lines().any(|line| line.starts_with(&told)), "{notes}");
    }
    let tool = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"))
        .args(["dwell", "census", "--follow", "--save", "x.json", "--exe"])
        .arg(starts())
        .output();
    assert!(one_line(&tool.expect("it runs")).contains("a file has one process"));
}

#[test]
fn allocations_of_processes_are_counted_each() {
    let output = dwell("allocs", &["--follow", "--once"], &["100", "fork=3000", "spawn=20000"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, table) = text.split_once("3 processes  ").expect("a sum");
    let blocks = |name: &str| -> u64 {
        let line = table.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
        let words = line.trim_start().strip_prefix(name).expect("it begins so").split_whitespace();
        words.clone().next().expect("a number").replace(',', "").parse().expect("a number")
    };
    let own = blocks("the program");
    let mut others: Vec<u64> = table
        .lines()
        .filter(|line| line.trim_end().ends_with("starts") && !line.contains("the program"))
        .filter_map(|line| line.split_whitespace().nth(1)?.replace(',', "").parse().ok())
        .collect();
    others.sort_unstable();
    // The vectors, and what std allocates at the start.
    assert!((100..300).contains(&own), "{text}");
    assert!((3000..3100).contains(&others[0]) && (20_000..20_200).contains(&others[1]), "{text}");
}

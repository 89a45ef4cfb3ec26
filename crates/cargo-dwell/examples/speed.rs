//! How much CPU inference takes, against `serde_json` into `IgnoredAny` over the same files.
//!
//! `cargo run --release -p cargo-dwell --example speed -- DIR`
//!
//! To count instructions, `--once ignore` and `--once infer` in front of the paths do one of them once, with one thread:
//! `valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/speed --once infer DIR`.

use cargo_dwell::shape::input;
use serde::de::IgnoredAny;
use std::path::PathBuf;
use std::process::ExitCode;

/// CPU time of this process so far, user and system, in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

const ROUNDS: u32 = 10;

/// Parses all files and keeps nothing.
fn ignore(found: &input::Found) {
    for input in &found.inputs {
        let text = std::fs::read(input.path()).unwrap_or_default();
        let _ = serde_json::Deserializer::from_slice(&text).into_iter::<IgnoredAny>().all(|value| value.is_ok());
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let once = arguments.next_if(|argument| argument == "--once").and_then(|_| arguments.next());
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let found = input::find(&paths);
    if found.inputs.is_empty() {
        eprintln!("usage: speed [--once ignore|infer] DIR|FILE...");
        return ExitCode::from(2);
    }
    if let Some(what) = once {
        if what == "ignore" {
            ignore(&found);
        } else {
            let options = input::Options { threads: 1, ..Default::default() };
            std::hint::black_box(input::read(&found, &options, &|_| {}).accumulator.finish());
        }
        return ExitCode::SUCCESS;
    }
    // The clock ticks in hundredths of a second, so several rounds are added up.
    let (mut ignored, mut inferred) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        let start = cpu();
        ignore(&found);
        ignored += cpu() - start;
        let start = cpu();
        let schema = input::read(&found, &input::Options::default(), &|_| {}).accumulator.finish();
        std::hint::black_box(schema);
        inferred += cpu() - start;
    }
    let (ignored, inferred) = (ignored / f64::from(ROUNDS), inferred / f64::from(ROUNDS));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("IgnoredAny {ignored:.2} s, inference {inferred:.2} s CPU: {:.2} times; {peak}", inferred / ignored);
    ExitCode::SUCCESS
}

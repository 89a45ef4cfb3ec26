//! How much CPU inference takes, against `serde_json` into `IgnoredAny` over the same files.
//!
//! `cargo run --release -p cargo-dwell --example speed -- DIR`

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

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let found = input::find(&paths);
    if found.inputs.is_empty() {
        eprintln!("usage: speed DIR|FILE...");
        return ExitCode::from(2);
    }
    // The clock ticks in hundredths of a second, so several rounds are added up.
    let (mut ignored, mut inferred) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        let start = cpu();
        for input in &found.inputs {
            let text = std::fs::read(input.path()).unwrap_or_default();
            let _ = serde_json::Deserializer::from_slice(&text).into_iter::<IgnoredAny>().all(|value| value.is_ok());
        }
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

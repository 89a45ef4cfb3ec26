//! How much CPU `cargo dwell shape` takes, against `serde_json` into `IgnoredAny` over the same files.
//!
//! `cargo run --release -p dwell-shape --example speed -- DIR`
//!
//! To count instructions, `--once ignore`, `--once infer` and `--once all` in front of the paths do one of them once, with one
//! thread: `valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/speed --once all DIR`.

use dwell_shape::input;
use dwell_shape::plan::Plan;
use dwell_shape::report::{Format, Options};
use dwell_shape::schema::Schema;
use serde::de::IgnoredAny;
use std::path::PathBuf;
use std::process::ExitCode;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// CPU time of this process so far, user and system, in seconds.
fn cpu() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes, and the clock exists on Linux.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if failed == 0 { time.tv_sec as f64 + time.tv_nsec as f64 / 1e9 } else { f64::NAN }
}

const ROUNDS: u32 = 10;

/// Parses all files and keeps nothing.
fn ignore(found: &input::Found) {
    for input in &found.inputs {
        let text = std::fs::read(input.path()).unwrap_or_default();
        let _ = serde_json::Deserializer::from_slice(&text).into_iter::<IgnoredAny>().all(|value| value.is_ok());
    }
}

/// Infers the schema.
fn infer(found: &input::Found, threads: usize) -> Schema {
    let options = input::Options { threads, ..Default::default() };
    input::read(found, &options, &|_| {}).accumulator.finish()
}

/// Plans the types and writes the report, as the command does after reading.
fn report(schema: &Schema) {
    let options = Options { width: Some(80), ..Options::default() };
    let _ = Plan::new(schema).write(Format::Human, &options, &mut std::io::sink());
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let once = arguments.next_if(|argument| argument == "--once").and_then(|_| arguments.next());
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let found = input::find(&paths);
    if found.inputs.is_empty() {
        eprintln!("usage: speed [--once ignore|infer|all] DIR|FILE...");
        return ExitCode::from(2);
    }
    if let Some(what) = once {
        match what.to_str() {
            Some("ignore") => ignore(&found),
            Some("infer") => drop(std::hint::black_box(infer(&found, 1))),
            _ => report(&infer(&found, 1)),
        }
        return ExitCode::SUCCESS;
    }
    let (mut ignored, mut inferred, mut reported) = (0.0, 0.0, 0.0);
    for _ in 0..ROUNDS {
        let start = cpu();
        ignore(&found);
        ignored += cpu() - start;
        let start = cpu();
        let schema = infer(&found, 0);
        inferred += cpu() - start;
        let start = cpu();
        report(&schema);
        reported += cpu() - start;
    }
    let [ignored, inferred, reported] = [ignored, inferred, reported].map(|sum| sum / f64::from(ROUNDS));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!(
        "IgnoredAny {ignored:.3} s, inference {inferred:.3} s, report {reported:.3} s CPU: {:.2} times, all {:.2} times; {peak}",
        inferred / ignored,
        (inferred + reported) / ignored
    );
    ExitCode::SUCCESS
}

//! `dwell-shape`: the command `cargo dwell shape` as a program of its own.

use clap::Parser;
use dwell_shape::ShapeArgs;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The command allocates many small nodes and maps: with mimalloc it takes a sixth less time than with glibc's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The other commands of `cargo dwell`, for whoever types one after `cargo run --`.
const COMMANDS: [&str; 8] = ["layout", "futures", "dyn", "stack", "census", "allocs", "check", "apply"];

/// Infers Rust types for JSON, predicts the memory that they take, and suggests smaller ones
#[derive(Debug, Parser)]
#[command(name = "dwell-shape", version)]
struct Cli {
    #[command(flatten)]
    args: ShapeArgs,
}

fn main() -> ExitCode {
    // The arguments of `cargo dwell shape` work too.
    let mut args: Vec<OsString> = std::env::args_os().collect();
    match args.get(1).and_then(|arg| arg.to_str()) {
        Some("shape") => drop(args.remove(1)),
        Some(name) if COMMANDS.contains(&name) && !Path::new(name).exists() => {
            dwell_output::eprintln!(
                "error: this program is only the command `shape`; `cargo run --release -p cargo-dwell -- {name}` has the others"
            );
            return ExitCode::from(2);
        }
        _ => {}
    }
    match dwell_shape::run(&Cli::parse_from(args).args) {
        Ok(code) => code,
        Err(error) => {
            dwell_output::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

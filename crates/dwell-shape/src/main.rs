//! `dwell-shape`: the command `cargo dwell shape` as a program of its own.

use clap::Parser;
use dwell_shape::ShapeArgs;
use std::process::ExitCode;

/// The command allocates many small nodes and maps: with mimalloc it takes a sixth less time than with glibc's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Infers Rust types for JSON, predicts the memory that they take, and suggests smaller ones
#[derive(Debug, Parser)]
#[command(name = "dwell-shape", version)]
struct Cli {
    #[command(flatten)]
    args: ShapeArgs,
}

fn main() -> ExitCode {
    // The arguments of `cargo dwell shape` work too.
    let args = std::env::args_os().enumerate().filter(|(index, arg)| *index != 1 || arg != "shape").map(|(_, arg)| arg);
    match dwell_shape::run(&Cli::parse_from(args).args) {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

//! Published programs before and after a change to Dwell, and crates on the drop-ins, without the other benchmarks.

use clap::Parser;
use std::process::ExitCode;

/// Measures published programs before and after a change to Dwell
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    args: dwell_bench_real::Args,
    /// Print only JSON, one row per line
    #[arg(long)]
    json: bool,
    /// Measure fewer rounds
    #[arg(long)]
    quick: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dwell_bench_real::run(&cli.args, dwell_bench_real::Options { quick: cli.quick, json: cli.json }) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

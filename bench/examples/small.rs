//! The workloads of `dwell-bench small` alone, for `bench/several-builds`. The program builds in seconds, and a change
//! of another module does not change the addresses of its code.
#![expect(dead_code, reason = "the modules are those of the whole suite, which uses more of them")]

#[path = "../src/callgrind.rs"]
mod callgrind;
#[path = "../src/count.rs"]
mod count;
#[path = "../src/medians.rs"]
mod medians;
#[path = "../src/op.rs"]
mod op;
#[path = "../src/row.rs"]
mod row;
#[path = "../src/select.rs"]
mod select;
#[path = "../src/sink.rs"]
mod sink;
#[path = "../src/small/mod.rs"]
mod small;
#[path = "../src/time.rs"]
mod time;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::io;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints the times as JSON, one row per line.
    Times,
    /// Reads rows of several runs and prints the median of each number.
    Medians,
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Times => small::run(
            &select::Select { times: true, ..select::Select::default() },
            true,
            row::Output { json: true, kept: None },
        ),
        Command::Medians => medians::run(io::stdin().lock(), row::Output { json: false, kept: None }),
    }
}

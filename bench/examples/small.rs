//! `dwell-bench small` and `medians` in a program with nothing else in it, which builds in seconds: for `bench/several-builds`.
#![expect(dead_code, reason = "the modules are shared with the whole suite, which uses more of them")]

#[path = "../src/callgrind.rs"]
mod callgrind;
#[path = "../src/medians.rs"]
mod medians;
#[path = "../src/op.rs"]
mod op;
#[path = "../src/row.rs"]
mod row;
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
    #[arg(long, global = true)]
    json: bool,
    #[arg(long, global = true)]
    quick: bool,
}

#[derive(Subcommand)]
enum Command {
    Small(small::Args),
    Medians,
    #[command(hide = true)]
    Operate {
        module: String,
    },
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let output = row::Output { json: cli.json, kept: None };
    match cli.command {
        Command::Small(args) => small::run(&args, cli.quick, output),
        Command::Medians => medians::run(io::stdin().lock(), output),
        Command::Operate { .. } => callgrind::operate(&small::suite()),
    }
}

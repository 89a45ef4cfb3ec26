//! Dwell beside its peers, measured in one run.
//!
//! `dwell-bench MODULE` measures one module, `all` all of them, `gate` the bounds in `gates.toml`. A module is a folder:
//! it says what its operations are (`op`), and `callgrind` and `time` measure them.

mod bump;
mod callgrind;
mod check;
mod companions;
mod compile;
mod count;
mod gate;
mod medians;
mod op;
mod pin;
mod row;
mod sink;
mod slab;
mod small;
mod sparse;
mod time;
mod weigh;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::io;
use std::process::ExitCode;

use crate::check::CheckFailed;
use crate::op::Suite;
use crate::row::Output;

/// Measures Dwell beside its peers.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Prints one row a line as JSON, and nothing else.
    #[arg(long, global = true)]
    json: bool,
    /// Takes less data and fewer rounds.
    #[arg(long, global = true)]
    quick: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Boxes that keep small values in place: access, creation, queues and trees.
    Small(small::Args),
    /// Slabs and pools: operations, latency, growth, threads and an order book.
    Slab,
    /// Mostly-empty structs: a real program in twelve layouts, and the cost of a read.
    Sparse(sparse::Args),
    /// How big a value is: a real program in four layouts, weighed by all.
    Weigh(weigh::Args),
    /// Arenas: one type at a time, mixed layouts, trees, vectors, text, maps.
    Bump(bump::Args),
    /// Thin strings, thin slices and sorted maps, beside their peers.
    Companions,
    /// Futures kept still and erased: the write-up's workloads, and a stack of tower services.
    Pin,
    /// What boxing and erasing futures does to compile times: generated and published programs, built in turn.
    Compile,
    /// All modules.
    All,
    /// Measures what gates.toml names; exit code 1 if a bound does not hold.
    Gate,
    /// Reads rows of several runs (`--json`) and prints the median of each number, and the least and the greatest ratio.
    Medians,
    /// What a process of its own does for `sparse`.
    #[command(hide = true)]
    Load(sparse::Task),
    /// What a process of its own does for `weigh`.
    #[command(hide = true)]
    WeighOne(weigh::Task),
    /// What runs under callgrind.
    #[command(hide = true)]
    Operate { module: String, workload: String, subject: String, operations: usize },
}

/// The operations of all modules.
fn suites() -> Vec<Suite> {
    let modules = [small::suite(), bump::suite(), slab::suite(), sparse::suite(), weigh::suite()];
    modules.into_iter().chain(pin::suites()).chain(companions::suites()).collect()
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A reader that has seen enough is no failure.
            if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
                return ExitCode::SUCCESS;
            }
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<CheckFailed>() { 1 } else { 2 })
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    let output = Output { json: cli.json };
    match cli.command {
        Command::Sparse(args) => sparse::run(&args, cli.quick, output),
        Command::Bump(args) => bump::run(&args, cli.quick, output),
        Command::Companions => companions::run(cli.quick, output),
        Command::Weigh(args) => weigh::run(&args, cli.quick, output),
        Command::Slab => slab::run(cli.quick, output),
        Command::Small(args) => small::run(&args, cli.quick, output),
        Command::Pin => pin::run(cli.quick, output),
        Command::Compile => compile::run(cli.quick, output),
        Command::All => {
            small::run(&small::Args::default(), cli.quick, output)?;
            output.say("")?;
            bump::run(&bump::Args::default(), cli.quick, output)?;
            output.say("")?;
            slab::run(cli.quick, output)?;
            output.say("")?;
            pin::run(cli.quick, output)?;
            output.say("")?;
            sparse::run(&sparse::Args::default(), cli.quick, output)?;
            output.say("")?;
            companions::run(cli.quick, output)?;
            output.say("")?;
            weigh::run(&weigh::Args::default(), cli.quick, output)
        }
        Command::Gate => gate::run(output),
        Command::Medians => medians::run(io::stdin().lock(), output),
        Command::Load(task) => task.answer(),
        Command::WeighOne(task) => task.answer(),
        Command::Operate { module, workload, subject, operations } => {
            let suite = suites().into_iter().find(|suite| suite.module == module).context("no such module")?;
            let op = suite.find(&workload, &subject).context("no such operation")?;
            (op.prepare)()(operations);
            Ok(())
        }
    }
}

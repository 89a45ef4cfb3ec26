//! Compares Dwell with other crates, in one run.
//!
//! `dwell-bench MODULE` measures one module, `all` all of them, `gate` the bounds in `gates.toml`. Each module has a
//! folder, which defines its operations (`op`); `callgrind` and `time` measure them. `README.md` explains how to add
//! a row or a peer.

mod about;
mod again;
mod bump;
mod callgrind;
mod check;
mod companions;
mod compile;
mod count;
mod fairness;
mod gate;
mod medians;
mod op;
mod pin;
mod report;
mod row;
mod scaling;
mod select;
mod sink;
mod slab;
mod small;
mod sparse;
mod time;
mod weigh;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::PoisonError;

use crate::check::CheckFailed;
use crate::op::Suite;
use crate::row::{Lines, Output};
use crate::select::Select;

/// Measures Dwell beside its peers.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Prints only JSON, one row per line.
    #[arg(long, global = true)]
    json: bool,
    /// Takes less data and fewer rounds.
    #[arg(long, global = true)]
    quick: bool,
    /// Writes a page with pictures of all rows.
    #[arg(long, global = true, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Measures in a process whose global allocator is mimalloc instead of the system's.
    #[arg(long, global = true)]
    mimalloc: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Boxes with inline storage: access, creation, queues and trees.
    Small(Select),
    /// Slabs and pools: operations, latency, growth, threads and an order book.
    Slab(Select),
    /// Structs that are mostly empty: a real program in several layouts, and the cost of a read.
    Sparse(sparse::Args),
    /// Measuring values: a real program in four layouts, measured by all crates.
    Weigh(weigh::Args),
    /// Arenas: one type at a time, mixed layouts, trees, vectors, text, maps.
    Bump(Select),
    /// Thin strings, thin slices and sorted maps, beside their peers.
    Companions(Select),
    /// Pinned and erased futures: the workloads of the article, and a stack of tower services.
    Pin(Select),
    /// The cost of an operation with 1e3 to 1e7 live values and in two threads, and the memory in use after 1e8.
    Scaling,
    /// Compile times of generated and published programs that erase futures, and of one that calls an arena.
    Compile(compile::Args),
    /// Published programs before and after a change to Dwell: their tests, instructions, time and memory.
    Real(dwell_bench_real::Args),
    /// All modules.
    All,
    /// Prints the machine and the versions of all peers.
    About,
    /// Measures the numbers in gates.toml and baseline.tsv; exit code 1 if a bound is exceeded or a number got worse.
    Gate(gate::Args),
    /// Checks that the optimiser emptied no loop, that counts agree with the verdicts, and that two runs of the same
    /// code are equally fast; exit code 1 if not.
    Check(fairness::Args),
    /// Reads rows (`--json`) and prints the tables of the articles: as published, as measured, and Dwell's.
    Seeds,
    /// Reads rows (`--json`) and prints which goals of goals.toml they reach.
    Goals,
    /// Reads rows (`--json`) and writes them as a page (`--html FILE`) or as Markdown.
    Report(report::Args),
    /// Reads rows of several runs (`--json`) and prints the median of each number, and the smallest and largest ratio.
    Medians,
    /// A child process of `sparse`.
    #[command(hide = true)]
    Load(sparse::Task),
    /// A child process of `weigh`.
    #[command(hide = true)]
    WeighOne(weigh::Task),
    /// A child process of `scaling`.
    #[command(hide = true)]
    LeftOver(scaling::Task),
    /// The process that runs under callgrind.
    #[command(hide = true)]
    Operate { module: String },
}

/// Returns the operations of all modules.
fn suites() -> Vec<Suite> {
    let modules = [small::suite(), bump::suite(), slab::suite(), sparse::suite(), weigh::suite()];
    modules.into_iter().chain(pin::suites()).chain(companions::suites()).collect()
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A closed pipe is not an error.
            if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
                return ExitCode::SUCCESS;
            }
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<CheckFailed>() { 1 } else { 2 })
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    if cli.quick {
        callgrind::be_quick();
    }
    if let Command::Report(args) = &cli.command {
        return report::run(args, io::stdin().lock(), cli.html);
    }
    if let Command::Seeds = &cli.command {
        return report::seeds::run(&row::read(io::stdin().lock())?, Output { json: cli.json, kept: None });
    }
    if let Command::Goals = &cli.command {
        return report::goals::run(&row::read(io::stdin().lock())?);
    }
    if cli.mimalloc && !count::is_mimalloc() {
        return again::with_mimalloc();
    }
    if let Some(file) = &cli.html {
        // Fails before a measurement that takes minutes.
        report::can_write(file)?;
    }
    // Leaked, since the rows live until the program ends.
    let kept: Option<&'static Lines> = cli.html.is_some().then(|| &*Box::leak(Box::default()));
    measure(cli.command, cli.quick, Output { json: cli.json, kept })?;
    if let (Some(file), Some(kept)) = (cli.html, kept) {
        report::write(&file, &report::page(&kept.lock().unwrap_or_else(PoisonError::into_inner))?)?;
    }
    Ok(())
}

fn measure(command: Command, quick: bool, output: Output) -> Result<()> {
    match command {
        Command::Sparse(args) => sparse::run(&args, quick, output),
        Command::Bump(select) => bump::run(&select, quick, output),
        Command::Companions(select) => companions::run(&select, quick, output),
        Command::Weigh(args) => weigh::run(&args, quick, output),
        Command::Slab(select) => slab::run(&select, quick, output),
        Command::Small(select) => {
            small::run(&select, quick, output)?;
            // A selection is of this build.
            if select.is_all() && !count::is_mimalloc() { again::by_nightly(quick, output) } else { Ok(()) }
        }
        Command::Pin(select) => pin::run(&select, quick, output),
        Command::Real(args) => real(&args, quick, output),
        Command::All => all(quick, output),
        Command::About => about::run(output),
        Command::Check(args) => fairness::run(&args, quick, output),
        Command::Gate(args) => gate::run(&args, output),
        Command::Compile(args) => compile::run(&args, quick, output),
        Command::Seeds | Command::Goals | Command::Report(_) => unreachable!("they measure nothing"),
        Command::Medians => medians::run(io::stdin().lock(), output),
        Command::Scaling => scaling::run(quick, output),
        Command::LeftOver(task) => task.answer(),
        Command::Load(task) => task.answer(),
        Command::WeighOne(task) => task.answer(),
        Command::Operate { module } => {
            let suite = suites().into_iter().find(|suite| suite.module == module).context("no such module")?;
            callgrind::operate(&suite)
        }
    }
}

/// Measures published programs. `all` leaves them out: they need the registry and take many minutes to build.
fn real(args: &dwell_bench_real::Args, quick: bool, output: Output) -> Result<()> {
    match dwell_bench_real::run(args, dwell_bench_real::Options { quick, json: output.json })? {
        0 => Ok(()),
        failed => Err(CheckFailed::error(format!("{failed} programs could not be built or measured"))),
    }
}

fn all(quick: bool, output: Output) -> Result<()> {
    about::run(output)?;
    let select = Select::default();
    let modules: [&dyn Fn() -> Result<()>; 10] = [
        &|| small::run(&select, quick, output),
        &|| bump::run(&select, quick, output),
        &|| slab::run(&select, quick, output),
        &|| pin::run(&select, quick, output),
        &|| sparse::run(&sparse::Args::default(), quick, output),
        &|| companions::run(&select, quick, output),
        &|| weigh::run(&weigh::Args::default(), quick, output),
        &|| scaling::run(quick, output),
        &|| again::on_mimalloc(quick, output),
        &|| again::by_nightly(quick, output),
    ];
    for module in modules {
        output.say("")?;
        module()?;
    }
    Ok(())
}

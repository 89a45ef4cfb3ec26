//! The command line of `cargo dwell`.

use crate::allocs::Allocs;
use crate::apply::{Advise, Apply};
use crate::census::Census;
use crate::check::{Check, Measure};
use crate::inspect::{Dyn, Futures, Layout};
use crate::settings::Allocators;
use crate::stack::Stack;
use anyhow::Result;
use clap::{Parser, Subcommand};
use dwell_shape::ShapeArgs;
use std::ffi::OsString;
use std::process::ExitCode;

/// Finds the types of a program or of JSON data that waste memory, and predicts what changes save
#[derive(Debug, Parser)]
#[command(name = "cargo dwell", bin_name = "cargo dwell", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Try the changes that all reports propose, in a copy, and print what held
    Advise(Box<Advise>),
    /// Infer Rust types for JSON, predict the memory that they take, and suggest smaller ones
    Shape(Box<ShapeArgs>),
    /// List the types of a program with sizes and padding, and suggest changes
    Layout(Box<Layout>),
    /// List the futures of a program with the variables that each `.await` holds, and suggest changes
    Futures(Box<Futures>),
    /// List the types that a program uses as `dyn Trait`, and suggest an inline size for each trait
    Dyn(Box<Dyn>),
    /// List the stack frames of a program's functions with the locals that fill them, and the deepest call paths
    Stack(Box<Stack>),
    /// Run a program, list its live heap by type and field, and suggest changes
    Census(Box<Census>),
    /// Run a program, list what its allocations cost by type and call site, and predict what changes save
    Allocs(Box<Allocs>),
    /// Run the programs of dwell.toml, and compare what they hold and allocate with budgets and with another revision
    Check(Box<Check>),
    /// One run of `check`
    #[command(hide = true)]
    Measure(Box<Measure>),
    /// Run a program under other allocators and settings, and compare memory and time
    Allocators(Box<Allocators>),
    /// Make a suggested change: edit, compile, run the tests, measure
    Apply(Box<Apply>),
}

impl Cli {
    /// Parses the arguments of this process; exits with a message if they are invalid.
    pub fn from_env() -> Self {
        Self::parse_from(without_cargo(std::env::args_os()))
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Returns the reason of a failure, as text for a line on standard error.
    pub fn run(&self) -> Result<ExitCode> {
        match &self.command {
            Command::Advise(advise) => advise.run(),
            Command::Shape(args) => dwell_shape::run(args),
            Command::Layout(layout) => layout.run(),
            Command::Futures(futures) => futures.run(),
            Command::Dyn(dyn_traits) => dyn_traits.run(),
            Command::Stack(stack) => stack.run(),
            Command::Census(census) => census.run(),
            Command::Allocs(allocs) => allocs.run(),
            Command::Check(check) => check.run(),
            Command::Measure(measure) => measure.run(),
            Command::Allocators(allocators) => allocators.run(),
            Command::Apply(apply) => apply.run(),
        }
    }
}

/// Removes the word `dwell` that cargo adds: for `cargo dwell ..` it runs `cargo-dwell dwell ..`.
fn without_cargo(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.enumerate().filter(|(index, arg)| *index != 1 || arg != "dwell").map(|(_, arg)| arg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn clap_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn dwell_argument_added_by_cargo_is_dropped_once() {
        let dropped = |args: &[&str]| without_cargo(args.iter().map(OsString::from)).collect::<Vec<_>>();
        assert_eq!(dropped(&["cargo-dwell", "dwell", "shape", "dwell"]), ["cargo-dwell", "shape", "dwell"]);
        assert_eq!(dropped(&["cargo-dwell", "shape", "x"]), ["cargo-dwell", "shape", "x"]);
    }
}

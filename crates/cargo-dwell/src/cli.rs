//! The command line of `cargo dwell`.

use crate::census::Census;
use crate::inspect::{Dyn, Futures, Layout};
use crate::shape::{self, ShapeArgs};
use anyhow::Result;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// Shows where a program's bytes live, and what moving them saves
#[derive(Debug, Parser)]
#[command(name = "cargo dwell", bin_name = "cargo dwell", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// How a corpus of JSON should live in Rust: its records, what they weigh, leaner types for them
    Shape(ShapeArgs),
    /// What the types of a program take: sizes, padding, the largest variants and fields
    Layout(Box<Layout>),
    /// What the futures of a program hold across their `.await`s, and what would make them smaller
    Futures(Box<Futures>),
    /// Which types a program uses as `dyn Trait`, and how many bytes would hold them inline
    Dyn(Box<Dyn>),
    /// The live heap of a running program, by type and by field, and what to change
    Census(Box<Census>),
}

impl Cli {
    /// Reads the arguments of this process; ends it with a message if they are wrong.
    pub fn from_env() -> Self {
        Self::parse_from(without_cargo(std::env::args_os()))
    }

    /// Does what was asked for.
    ///
    /// # Errors
    /// What kept it from being done, for a line on standard error.
    pub fn run(&self) -> Result<ExitCode> {
        match &self.command {
            Command::Shape(args) => shape::run(args),
            Command::Layout(layout) => layout.run(),
            Command::Futures(futures) => futures.run(),
            Command::Dyn(dyn_traits) => dyn_traits.run(),
            Command::Census(census) => census.run(),
        }
    }
}

/// Cargo calls `cargo-dwell dwell ..` for `cargo dwell ..`.
fn without_cargo(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.enumerate().filter(|(index, arg)| *index != 1 || arg != "dwell").map(|(_, arg)| arg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_word_that_cargo_adds_is_dropped_once() {
        let dropped = |args: &[&str]| without_cargo(args.iter().map(OsString::from)).collect::<Vec<_>>();
        assert_eq!(dropped(&["cargo-dwell", "dwell", "shape", "dwell"]), ["cargo-dwell", "shape", "dwell"]);
        assert_eq!(dropped(&["cargo-dwell", "shape", "x"]), ["cargo-dwell", "shape", "x"]);
    }
}

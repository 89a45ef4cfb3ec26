//! Measures published programs before and after a change to Dwell: downloads their sources from the registry, builds
//! both sides, runs the tests that the packages ship, and runs the workloads.
//!
//! `programs` lists the programs, `side` writes the two sides of one, `cargo` builds and tests them, `measure` runs
//! their drivers, `table` prints the results. docs/real.md describes the measurements. `dependents` tests published
//! crates with Dwell's drop-ins in place of their dependencies; bench/results/dependents.md describes it.

mod cargo;
mod dependents;
mod edit;
mod measure;
mod program;
mod programs;
mod side;
mod table;

use anyhow::{Context as _, Result, bail};
use std::io::{self, Write as _};
use std::path::Path;

use crate::measure::Pair;
pub use crate::measure::{median, spread, valgrind};
use crate::program::Program;
use crate::side::{Folders, Prepared, Side};
use crate::table::{Measured, Workload};

/// The arguments of the command.
#[derive(clap::Args, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Args {
    /// The names of the programs; all programs without a name
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Print the names and versions of the programs, and what changes
    #[arg(long)]
    list: bool,
    /// Only check that the edits can be applied and that both sides compile
    #[arg(long)]
    check: bool,
    /// Measure the programs that an earlier run built
    #[arg(long, conflicts_with = "check")]
    no_build: bool,
    /// Skip the tests that the packages ship
    #[arg(long)]
    no_tests: bool,
    /// Test crates that depend on bumpalo or slab, with the original and with Dwell's drop-in
    #[arg(long, conflicts_with_all = ["no_build", "no_tests"])]
    dependents: bool,
}

/// The length of the measurement, and the output format.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Runs fewer rounds.
    pub quick: bool,
    /// Prints rows as JSON, one per line, instead of the table.
    pub json: bool,
}

/// Measures the programs that `args` names. Progress goes to standard error, results to standard output.
///
/// Returns the number of programs that could not be built or measured, or of crates whose tests differ without a reason.
/// Each has an error on standard error.
///
/// # Errors
///
/// If a name is unknown, or standard output cannot be written to.
pub fn run(args: &Args, options: Options) -> Result<usize> {
    if args.dependents {
        return dependents::run(args, options);
    }
    let programs = chosen(&args.names)?;
    let mut out = io::stdout();
    if args.list {
        for program in programs {
            let (name, version, change) = (program.name, program.main().version, program.change);
            writeln!(out, "{name:<16} {:<20} {version:<12} {change}", program.main().name)?;
        }
        return Ok(0);
    }
    let folders = Folders::of_this_clone()?;
    let valgrind = measure::valgrind().is_some();
    if !valgrind {
        eprintln!("valgrind is not installed: the column `instructions` is left out");
    }
    let (mut measured, mut failed) = (Vec::new(), 0);
    for program in programs {
        match one(program, &folders, args, options, valgrind) {
            Ok(result) => {
                if options.json {
                    write!(out, "{}", table::json(&result))?;
                }
                measured.push(result);
            }
            Err(error) => {
                eprintln!("error: {}: {error:#}", program.name);
                failed += 1;
            }
        }
    }
    if !options.json && !measured.is_empty() {
        write!(out, "{}", table::markdown(&measured))?;
    }
    Ok(failed)
}

/// Returns the programs with these names, or all programs if there are no names.
fn chosen(names: &[String]) -> Result<Vec<&'static Program>> {
    if names.is_empty() {
        return Ok(programs::ALL.iter().collect());
    }
    let find = |name: &String| {
        let known = || programs::ALL.iter().map(|program| program.name).collect::<Vec<_>>().join(", ");
        match programs::find(name) {
            Some(program) => Ok(program),
            None => bail!("no program is called `{name}`; there are: {}", known()),
        }
    };
    names.iter().map(find).collect()
}

/// Prepares, builds, tests and measures one program.
fn one(program: &Program, folders: &Folders, args: &Args, options: Options, valgrind: bool) -> Result<Measured> {
    let say = |what: &str| eprintln!("{}: {what}", program.name);
    let target = folders.target();
    say("getting the source");
    let Prepared { before, after, lines } = side::prepare(program, folders)?;
    for (side, name) in [(&before, "before"), (&after, "after")] {
        if args.no_build {
            continue;
        }
        say(&format!("building {name}"));
        let built = cargo::build(&side.folder, &target, &side.package, args.check);
        built.with_context(|| format!("cannot build the program {name}"))?;
    }
    let mut tests = None;
    if args.check {
        return Ok(Measured {
            name: program.name,
            version: program.main().version,
            change: program.change,
            lines,
            tests,
            workloads: Vec::new(),
        });
    }
    for package in program.packages.iter().filter(|_| !args.no_tests) {
        let Some(arguments) = package.tests else { continue };
        say(&format!("testing {} before and after the change", package.name));
        let test = |side: &Side| cargo::test(&side.folder, &target, package.name, arguments, None)?.complete();
        let (old, new) = (test(&before).context("before")?, test(&after).context("after")?);
        say(&format!("tests of {}: {old:?} before, {new:?} after", package.name));
        let (total_old, total_new): &mut (cargo::Tests, cargo::Tests) = tests.get_or_insert_default();
        total_old.add(old);
        total_new.add(new);
    }
    let mut workloads = Vec::new();
    for name in program.workloads.iter().copied() {
        say(&format!("measuring {name}"));
        let binaries = |allocator| (before.binary(&target, allocator), after.binary(&target, allocator));
        let time = |allocator| {
            let (before, after) = binaries(allocator);
            measure::time(&before, &after, name, if options.quick { 3 } else { 15 })
        };
        let count = |before: &Path, after: &Path| -> Result<Option<Pair>> {
            let more = if options.quick { 1 } else { 2 };
            if valgrind { measure::instructions(before, after, name, more).map(Some) } else { Ok(None) }
        };
        let (old, new) = binaries("count");
        let peak = Some(measure::peak(&old, &new, "peak", name)?);
        let held = Some(measure::peak(&old, &new, "held", name)?);
        let (old, new) = binaries("glibc");
        let instructions = count(&old, &new)?;
        let (glibc, mimalloc) = (Some(time("glibc")?), Some(time("mimalloc")?));
        // The user's cheapest change: the program as it is, with another allocator.
        let alone = measure::time(&old, &binaries("mimalloc").0, name, if options.quick { 3 } else { 15 })?;
        workloads.push(Workload { name, instructions, glibc, alone: Some(alone), mimalloc, peak, held });
    }
    Ok(Measured {
        name: program.name,
        version: program.main().version,
        change: program.change,
        lines,
        tests,
        workloads,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn unknown_program_error_lists_the_names() {
        let message = super::chosen(&["lost".to_owned()]).err().unwrap().to_string();
        assert!(message.starts_with("no program is called `lost`; there are: lru"), "{message}");
        assert_eq!(message.lines().count(), 1);
        assert_eq!(super::chosen(&[]).unwrap().len(), crate::programs::ALL.len());
    }
}

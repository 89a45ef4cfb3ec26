//! The common part of the commands that inspect a program: building or opening it, comparing it, and checking its
//! budgets.

use crate::dyn_traits::{self, DynArgs};
use crate::futures::{self, FuturesArgs};
use crate::layout::{self, LayoutArgs};
use crate::program::{self, BuildArgs, Executable, Outcome, Purpose};
use crate::sizes::{self, Budgets, CheckArgs, Diff, Document, Selection};
use anyhow::{Result, bail};
use clap::Args;
use dwell_debuginfo::{Options, Program};
use dwell_output::Format;
use std::path::Path;
use std::process::ExitCode;

const EXIT_CODES: &str = "Exit code: 0 on success, 1 if a budget is exceeded, 2 for wrong input or usage, cargo's exit \
                          code if the build fails.";

/// `cargo dwell layout`
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Layout {
    #[command(flatten)]
    args: LayoutArgs,
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten)]
    build: BuildArgs,
}

/// `cargo dwell futures`
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Futures {
    #[command(flatten)]
    args: FuturesArgs,
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten)]
    build: BuildArgs,
}

/// `cargo dwell dyn`
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Dyn {
    #[command(flatten)]
    args: DynArgs,
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten)]
    build: BuildArgs,
}

impl Layout {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built or read, or if nothing matches the pattern.
    pub fn run(&self) -> Result<ExitCode> {
        let args = &self.args;
        inspect(&self.build, &self.check, args.all, args.format, &|program, executable| {
            layout::run(program, args, executable.root.as_deref(), executable.profile.as_deref())
        })
    }
}

impl Futures {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built or read, or if nothing matches the pattern.
    pub fn run(&self) -> Result<ExitCode> {
        let args = &self.args;
        inspect(&self.build, &self.check, args.all, args.format, &|program, executable| {
            futures::run(program, args, executable.root.as_deref(), executable.profile.as_deref())
        })
    }
}

impl Dyn {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built or read, or if nothing matches the pattern.
    pub fn run(&self) -> Result<ExitCode> {
        let args = &self.args;
        inspect(&self.build, &self.check, args.all, args.format, &|program, executable| {
            dyn_traits::run(program, args, executable.root.as_deref(), executable.profile.as_deref())
        })
    }
}

/// Reads the types of an executable. The own crates of one from elsewhere are guessed.
fn open(file: &Path, options: &Options, format: Format) -> Result<Program> {
    let mut program = dwell_debuginfo::load(file, options)?;
    for what in program.damaged.iter().take(5) {
        eprintln!("note: {what}");
    }
    if !program.types().any(|(_, ty)| ty.own) {
        let crates = dwell_debuginfo::guess_own(&mut program);
        if format == Format::Human && program.types().any(|(_, ty)| ty.own) {
            eprintln!(
                "note: the executable is not of this workspace; its own crates are taken to be {}",
                crates.join(", ")
            );
        }
    }
    Ok(program)
}

/// Writes a report about a program, or its differences from another; then saves its sizes and checks its budgets.
fn inspect(
    build: &BuildArgs,
    check: &CheckArgs,
    all: bool,
    format: Format,
    report: &dyn Fn(&Program, &Executable) -> Result<()>,
) -> Result<ExitCode> {
    let choice = match program::choose(build)? {
        Outcome::Done(choice) => choice,
        Outcome::Failed(code) => return Ok(code),
    };
    // Errors in the arguments are reported before the build.
    let budgets = Budgets::new(check, choice.config().as_deref())?;
    if let Some(file) = &check.save {
        sizes::check_target(file)?;
    }
    if let Some(file) = check.diff.as_ref().filter(|file| !file.is_file()) {
        bail!("{}: is not a file; --diff takes a file that --save wrote, or an executable", file.display());
    }
    let executable = match choice.build(Purpose::Inspect)? {
        Outcome::Done(executable) => executable,
        Outcome::Failed(code) => return Ok(code),
    };

    let options =
        Options { own_crates: executable.own_crates.clone(), cache: executable.cache.clone(), progress: true };
    let program = open(&executable.file, &options, format)?;
    let others = check.also.iter().map(|file| open(file, &options, Format::Json)).collect::<Result<Vec<_>>>()?;
    let programs: Vec<&Program> = std::iter::once(&program).chain(&others).collect();
    let mut broken = budgets.broken(&programs, all)?;
    let selection = Selection { all, root: executable.root.as_deref(), profile: executable.profile.as_deref() };
    let document = (check.save.is_some() || check.diff.is_some()).then(|| Document::new(&program, selection));
    if let (Some(file), Some(document)) = (&check.diff, &document) {
        let diff = Diff::new(document, file, &options, selection)?;
        broken.extend(check.fail_on_growth.iter().flat_map(|most| diff.grown(most.as_u64())));
        dwell_output::print(|mut out| diff.write(format, &mut out))?;
    } else {
        report(&program, &executable)?;
        for (other, file) in others.iter().zip(&check.also) {
            let executable = Executable { file: file.clone(), profile: None, ..executable.clone() };
            if format != Format::Json {
                dwell_output::print(|out| writeln!(out))?;
            }
            report(other, &executable)?;
        }
    }
    if let (Some(file), Some(document)) = (&check.save, &document) {
        document.save(file)?;
        eprintln!("note: saved to {}", file.display());
    }
    for line in &broken {
        eprintln!("error: {line}");
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

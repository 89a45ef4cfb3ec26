//! The arguments of `cargo dwell allocs`, and the order of its steps.

use super::document::Document;
use super::output::{self, OutputArgs};
use super::{again, budget, build, calls, places};
use crate::exists::exists;
use crate::program::{self, BuildArgs, Outcome, Purpose};
use anyhow::{Result, bail};
use bytesize::ByteSize;
use clap::Args;
use dwell_calibrate::Calibration;
use dwell_debuginfo::Options;
use dwell_heap::profile::{Profile, run};
use dwell_heap::stacks;
use dwell_output::units::count;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXIT_CODES: &str = "Exit code: the program's exit code, or 128 plus the signal number if a signal killed it; 1 if \
                          a budget is exceeded and the program ended with 0; 2 if allocs itself fails, for example \
                          because of wrong input or usage; cargo's exit code if the build fails.";

/// `cargo dwell allocs`
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, override_usage = "cargo dwell allocs [OPTIONS] [-- ARGS]...\n       cargo dwell allocs --pid PID [OPTIONS]\n       cargo dwell allocs FILE [OPTIONS]")]
pub struct Allocs {
    /// Report on FILE, which --save wrote, without running a program
    #[arg(value_name = "FILE", conflicts_with_all = ["every", "sample", "during", "once", "instructions", "args", "exe"])]
    file: Option<PathBuf>,
    /// Sample a running process, which is neither stopped nor changed
    #[arg(long, value_name = "PID", conflicts_with_all = ["file", "every", "sample", "during", "once", "instructions", "args", "exe"])]
    pid: Option<i32>,
    /// How long --pid samples [default: 10s]
    #[arg(long = "for", value_name = "TIME", requires = "pid", value_parser = dwell_heap::run::duration)]
    length: Option<Duration>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    budget: budget::BudgetArgs,
    #[command(flatten)]
    build: BuildArgs,
}

/// How to run the program.
#[derive(Clone, Debug, Default, Args)]
struct RunArgs {
    /// The interval of the curve of allocations, such as 1s [default: up to 64 points]
    #[arg(long, value_name = "TIME", value_parser = dwell_heap::run::duration)]
    every: Option<Duration>,
    /// Record one allocation per BYTES on average, such as 64K, for long runs
    #[arg(long, value_name = "BYTES", value_parser = dwell_output::units::parse_bytes)]
    sample: Option<ByteSize>,
    /// Report on the blocks of the function NAME alone, with all that it calls
    #[arg(long, value_name = "NAME")]
    during: Option<String>,
    /// Run the program only once, and do not compare it with mimalloc
    #[arg(long)]
    once: bool,
    /// Also count in the processes that the program starts: a report each, and a sum
    #[arg(long, conflicts_with_all = ["file", "pid"])]
    follow: bool,
    /// Compare also the instructions, by valgrind, which takes some 50 times as long
    #[arg(long, conflicts_with = "once")]
    instructions: bool,
    /// The program's own arguments
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl Allocs {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built, run or read.
    pub fn run(&self) -> Result<ExitCode> {
        self.output.check()?;
        if self.run.follow {
            self.output.check_several()?;
        }
        if let Some(file) = &self.file {
            let document = output::read(file)?;
            let budgets = self.budget.budgets(None)?;
            output::show(&document, &self.output, false)?;
            // Without the program nothing tells a wrong name from a function that took no block.
            for line in budgets.unknown(&document, &|_| false) {
                eprintln!("{}", line.replace("error: the program has", "note: the run has"));
            }
            return Ok(Self::checked(&budgets, &document, 0));
        }
        if let Some(pid) = self.pid {
            return self.sampled(pid);
        }
        if self.run.sample.is_some_and(|bytes| bytes.as_u64() == 0) {
            bail!("--sample: must be at least 1 byte; leave it out to record all allocations");
        }
        let choice = match program::choose(&self.build)? {
            Outcome::Done(choice) => choice,
            Outcome::Failed(code) => return Ok(code),
        };
        let budgets = self.budget.budgets(choice.config().as_deref())?;
        let executable = match choice.build(Purpose::Run)? {
            Outcome::Done(executable) => executable,
            Outcome::Failed(code) => return Ok(code),
        };
        let options = run::Options {
            sample: self.run.sample.map(|bytes| bytes.as_u64()),
            cache: executable.cache.clone(),
            every: self.run.every,
            signals: true,
            follow: self.run.follow,
            counted: self.run.during.as_ref().map_or_else(Vec::new, |name| calls::functions(&executable.file, name)),
        };
        let mut profile = run::profile(&executable.file, &self.run.args, &options)?;
        for note in &profile.notes {
            eprintln!("note: {note}");
        }
        let (root, own_crates) = (executable.root.as_deref(), &executable.own_crates[..]);
        let scope = build::Scope { root, own_crates, during: self.run.during.as_deref() };
        let addresses = stacks::addresses(&profile.as_snapshot());
        let options = Options { own_crates: executable.own_crates.clone(), cache: None, progress: true };
        let files = profile.files(&executable.file);
        let (mut program, frames, _) = match dwell_debuginfo::load_objects(&files, &options, &addresses, &[]) {
            // A script's shell.
            Err(error) if !profile.followed.is_empty() => {
                eprintln!("note: the program is not counted: {error:#}");
                self.followed(None, &profile, scope)?;
                return Ok(ExitCode::from(profile.code));
            }
            read => read?,
        };
        program.prefer_own_names();
        let left_out = places::leave_out_backtraces(&mut profile, &frames);
        if left_out > 0 {
            eprintln!("note: {} blocks of backtraces are left out", count(left_out));
        }
        let again = if self.run.once {
            again::none("--once was given")
        } else {
            let cache = executable.cache.as_deref();
            again::run(&executable.file, &self.run.args, &profile, cache, self.run.instructions)
        };
        let calibration = Calibration::measure();
        let mut document = build::document(&profile, &program, &frames, Some((calibration, again)), scope);
        document.program.file = executable.file.display().to_string();
        document.program.arguments = self.run.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        output::show(&document, &self.output, true)?;
        if self.run.follow {
            self.followed(Some(&document), &profile, scope)?;
        }
        let root = executable.root.clone().unwrap_or_default();
        let mut unknown = budgets.unknown(&document, &|name| exists(&program, &executable.file, name, &root));
        let names = self.run.during.iter().filter(|_| document.total.allocations == 0);
        unknown.extend(names.map(|name| format!("error: --during: no block comes from a function `{name}`")));
        if !unknown.is_empty() {
            for line in &unknown {
                eprintln!("{line}");
            }
            return Ok(ExitCode::from(2));
        }
        Ok(Self::checked(&budgets, &document, profile.code))
    }

    /// Reports on the processes that the program started, and prints a sum.
    fn followed(&self, own: Option<&Document>, profile: &Profile, scope: build::Scope<'_>) -> Result<()> {
        let name = |file: &str| file.rsplit('/').next().unwrap_or_default().to_owned();
        let of_own = |own: &Document| ("the program".to_owned(), own.total.clone(), name(&own.program.file));
        let mut all: Vec<_> = own.map(of_own).into_iter().collect();
        for child in &profile.followed {
            let addresses = stacks::addresses(&child.profile.as_snapshot());
            let options = Options { own_crates: scope.own_crates.to_vec(), cache: None, progress: true };
            let files = child.profile.files(&child.executable);
            let (mut program, frames, _) = dwell_debuginfo::load_objects(&files, &options, &addresses, &[])?;
            program.prefer_own_names();
            let mut document = build::document(&child.profile, &program, &frames, None, scope);
            document.program.file = child.executable.display().to_string();
            document.program.arguments.clone_from(&child.arguments);
            output::show_child(&document, &format!("Process {}, {}", child.pid, child.name), &self.output)?;
            all.push((child.pid.to_string(), document.total.clone(), child.name.clone()));
        }
        output::sum(&all, &self.output)
    }

    /// Reports on a running process.
    #[cfg(agent)]
    fn sampled(&self, pid: i32) -> Result<ExitCode> {
        let document = super::live::document(pid, self.length.unwrap_or(Duration::from_secs(10)))?;
        output::show(&document, &self.output, false)?;
        Ok(ExitCode::SUCCESS)
    }

    #[cfg(not(agent))]
    #[expect(clippy::unused_self, reason = "it has the arguments where processes are sampled")]
    fn sampled(&self, _: i32) -> Result<ExitCode> {
        bail!("--pid needs Linux on x86-64 or aarch64")
    }

    /// Prints the budgets that are exceeded, and returns the exit code for a program that ended with `code`.
    fn checked(budgets: &budget::Budgets, document: &Document, code: u8) -> ExitCode {
        let exceeded = budgets.exceeded(document);
        for line in &exceeded {
            eprintln!("{line}");
        }
        ExitCode::from(if code == 0 && !exceeded.is_empty() { 1 } else { code })
    }
}

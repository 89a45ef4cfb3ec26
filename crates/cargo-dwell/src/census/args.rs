//! The arguments of `cargo dwell census`.

use super::output::{self, OutputArgs};
use crate::program::{self, BuildArgs, Outcome, Purpose};
use anyhow::{Result, bail};
use bytesize::ByteSize;
use clap::Args;
use dwell_heap::run::{self, At, Options};
use dwell_heap::{Asked, Ran};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXIT_CODES: &str = "Exit code: the program's exit code, or 128 plus the signal number if a signal killed it; 2 \
                          if census itself fails, for example because of wrong input or usage; cargo's exit code if \
                          the build fails.";

/// `cargo dwell census`
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, override_usage = "cargo dwell census [OPTIONS] [-- ARGS]...\n       cargo dwell census --pid PID | --core FILE [OPTIONS]\n       \
                                                         cargo dwell census FILE [OPTIONS]")]
pub struct Census {
    /// Report on FILE, which --save wrote, without running a program
    #[arg(value_name = "FILE", conflicts_with_all = ["at", "every", "sample", "args", "exe", "pid", "core"])]
    file: Option<PathBuf>,
    /// Look at the running process PID, which was started without this tool; with --every twice, to show what grows
    #[arg(long, value_name = "PID", conflicts_with_all = ["at", "sample", "args", "core"])]
    pid: Option<i32>,
    /// Also look at the processes that the program, or PID, started, such as the workers of a server: a report each, and a sum
    #[arg(long, conflicts_with_all = ["every", "file", "core"])]
    follow: bool,
    /// Look at FILE, a heap dump of the crate dwell-heapdump, or the core of a program that died or that `gcore` made; of a
    /// folder of heap dumps, show what grew
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "every", "sample", "args"])]
    core: Option<PathBuf>,
    /// Search DIR for the executable of --core or --pid and its debug info, by build id
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "args"])]
    debug_dir: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    build: BuildArgs,
}

/// How to run the program.
#[derive(Clone, Debug, Default, Args)]
struct RunArgs {
    /// When to take a snapshot: at the `peak` of live bytes, at the `exit`, at a `signal` (SIGUSR1 or Ctrl-C), or after
    /// a time such as 30s; several are separated by commas [default: peak]
    #[arg(long, value_name = "WHEN", value_delimiter = ',')]
    at: Vec<At>,
    /// Take a snapshot at this interval, such as 10s
    #[arg(long, value_name = "TIME", value_parser = run::duration)]
    every: Option<Duration>,
    /// Record one allocation per BYTES on average, such as 64K, for long runs
    #[arg(long, value_name = "BYTES", value_parser = dwell_output::units::parse_bytes)]
    sample: Option<ByteSize>,
    /// The program's own arguments
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl Census {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built, run or read.
    pub fn run(&self) -> Result<ExitCode> {
        self.output.check()?;
        if let Some(file) = &self.file {
            return output::again(file, &self.output);
        }
        if self.follow {
            self.output.check_several()?;
        }
        if let Some(code) = self.outside()? {
            return Ok(code);
        }
        let choice = match program::choose(&self.build)? {
            Outcome::Done(choice) => choice,
            Outcome::Failed(code) => return Ok(code),
        };
        if self.run.sample.is_some_and(|bytes| bytes.as_u64() == 0) {
            bail!("--sample: must be at least 1 byte; leave it out to record all allocations");
        }
        let executable = match choice.build(Purpose::Run)? {
            Outcome::Done(executable) => executable,
            Outcome::Failed(code) => return Ok(code),
        };
        let mut options = Options {
            at: self.run.at.clone(),
            every: self.run.every,
            sample: self.run.sample.map(|bytes| bytes.as_u64()),
            cache: executable.cache.clone(),
            signals: true,
            records: run::Records::Blocks,
            follow: self.follow,
        };
        if options.at.is_empty() && options.every.is_none() {
            options.at.push(At::Peak);
        }
        let also = self.output.also()?;
        let ran = |millis| Ran {
            executable: executable.file.clone(),
            arguments: self.run.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            own_crates: executable.own_crates.clone(),
            root: executable.root.clone(),
            millis,
            sample: options.sample,
            also: also.clone(),
            asked: self.asked(),
            ..Ran::default()
        };
        let mut early = |snapshots, millis| {
            // The program continues after an error in a report.
            if let Err(error) = output::report(&ran(millis), snapshots, &self.output) {
                eprintln!("error: {error:#}");
            }
        };
        #[cfg(agent)]
        if !run::loads_agent(&executable.file) {
            if options.at != [At::Peak] || options.every.is_some() || options.sample.is_some() || self.follow {
                bail!(
                    "{}: is linked statically or for musl and loads no agent, so that only its peak is found: leave --at, --every, \
                     --sample and --follow out",
                    executable.file.display()
                );
            }
            return super::watched::run(&executable.file, &self.run.args, ran(0), &self.output);
        }
        let run = run::snapshots_early(&executable.file, &self.run.args, &options, &mut early)?;
        for note in &run.notes {
            eprintln!("note: {note}");
        }
        // All snapshots may have been reported while the program ran.
        if !run.snapshots.is_empty() {
            let sample = run.sample.or(options.sample);
            let ran = Ran { killed: run.killed, sample, ..ran(run.millis) };
            if self.follow {
                super::follow::report(&ran, run.snapshots, run.children, &self.output)?;
            } else {
                output::report(&ran, run.snapshots, &self.output)?;
            }
        }
        Ok(ExitCode::from(run.code))
    }

    fn asked(&self) -> Asked {
        Asked { path: self.output.of_type.clone(), find: self.output.find.clone() }
    }

    /// Looks at a program from outside, if that is asked for.
    fn outside(&self) -> Result<Option<ExitCode>> {
        if self.pid.is_none() && self.core.is_none() {
            return Ok(None);
        }
        #[cfg(agent)]
        {
            use super::outside::{self, Target};
            let target = match (self.pid, &self.core) {
                (Some(pid), _) => Target::Process(pid),
                (_, Some(core)) => Target::Core(core.clone()),
                _ => return Ok(None),
            };
            let ran = Ran { also: self.output.also()?, asked: self.asked(), ..Ran::default() };
            let exe = outside::Exe { file: self.build.exe.clone(), folder: self.debug_dir.clone() };
            if let (Target::Process(pid), true) = (&target, self.follow) {
                return super::follow::run(*pid, &exe, &ran, &self.output).map(Some);
            }
            outside::run(&target, &exe, self.run.every, ran, &self.output).map(Some)
        }
        #[cfg(not(agent))]
        bail!("--pid and --core need Linux on x86-64 or aarch64")
    }
}

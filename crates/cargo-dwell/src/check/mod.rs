//! `cargo dwell check`: budgets of memory and allocations, and what changed since another revision.
//!
//! | file | what it does |
//! |---|---|
//! | `runs.rs` | reads the runs of `dwell.toml`, builds and runs their programs |
//! | `measure.rs` | one such run, in a process of its own |
//! | `costs.rs` | what a run costs: totals, owners, places that allocate, leaks, sizes of types; over several equal runs |
//! | `budgets.rs` | compares costs with budgets |
//! | `causes.rs` | compares costs with those of a base, and names the cause of each difference |
//! | `limits.rs` | which difference counts |
//! | `base.rs` | a worktree with another revision, or a saved file |
//! | `saved.rs` | the files of `--save` |
//! | `row.rs`, `report.rs` | a budget or a growth; writes them as text, Markdown, JSON, SARIF, or annotations of GitHub |

mod base;
mod budgets;
mod causes;
mod costs;
mod limits;
mod measure;
mod report;
mod row;
mod runs;
mod saved;

pub use measure::Measure;

use crate::processes;
use crate::program::{self, BuildArgs};
use crate::report::saved as files;
use anyhow::{Result, bail};
use bytesize::ByteSize;
use clap::{Args, ValueEnum as _};
use dwell_source::Items;
use limits::{Least, Limits};
use report::{Format, Report};
use runs::Session;
use saved::Saved;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const EXIT_CODES: &str = "Exit code: 0 if everything is within its budget and nothing grew, 1 if not, 2 for wrong input, a \
                          program that fails, or a base that cannot be measured; cargo's exit code if the build fails.";

/// `cargo dwell check`
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Check {
    /// The runs to check, by their names in dwell.toml [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Check the integration test NAME, and name its tests with what each allocates; needs no dwell.toml
    #[arg(long, value_name = "NAME", conflicts_with = "names")]
    test: Option<String>,
    /// Also compare with REV, a revision that is built in a worktree, or with a file of --save
    #[arg(long, value_name = "REV|FILE")]
    base: Option<String>,
    /// Write what was measured to FILE, for --base
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// The least growth since the base that counts, in per cent of the owner's or function's own; dwell.toml has those of names
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, requires = "base")]
    growth: f64,
    /// The least growth since the base that counts, in bytes
    #[arg(long, value_name = "BYTES", default_value = "1KiB", requires = "base", value_parser = dwell_output::units::parse_bytes)]
    growth_bytes: ByteSize,
    /// How often a program is run at most if something grew, and always for --save: what differs between equal runs is noise
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    repeat: u8,
    /// End a program that runs longer
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = dwell_heap::run::duration)]
    timeout: Duration,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Also write the report to FILE, such as `markdown=memory.md`; repeatable
    #[arg(long, value_name = "FORMAT=FILE", value_parser = of_file)]
    write: Vec<(Format, PathBuf)>,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Build only if Cargo.lock needs no change
    #[arg(long)]
    locked: bool,
    /// Build without the network
    #[arg(long)]
    offline: bool,
}

/// Reads `FORMAT=FILE`.
fn of_file(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("write it as FORMAT=FILE, such as `markdown=memory.md`")?;
    if file.is_empty() {
        return Err("name a file behind the `=`".into());
    }
    Ok((Format::from_str(format, false)?, file.into()))
}

impl Check {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if there is no budget, a name in it matches nothing, a program cannot be built or fails, or the base cannot
    /// be measured.
    pub fn run(&self) -> Result<ExitCode> {
        if !(0.0..=1000.0).contains(&self.growth) {
            bail!("--growth: must be a number of per cent from 0 to 1000");
        }
        for file in self.save.iter().chain(self.write.iter().map(|(_, file)| file)) {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if file.is_dir() || !folder.is_dir() {
                bail!("{}: no file can be written there; name one in a folder that exists", file.display());
            }
        }
        processes::ended_by_signals(|| self.check())
    }

    fn check(&self) -> Result<ExitCode> {
        let build = BuildArgs {
            manifest_path: self.manifest_path.clone(),
            locked: self.locked,
            offline: self.offline,
            ..BuildArgs::default()
        };
        let Some(workspace) = program::workspace(&build)? else { return Ok(ExitCode::from(101)) };
        let session = Session::new(&workspace, build, &self.names, self.test.as_deref(), self.timeout)?;
        let everything = self.base.is_some() || self.save.is_some() || self.test.is_some();
        if session.is_empty() && everything {
            bail!(
                "{}: has no run; add a table such as `[check.load]` with `example = \"load\"`",
                session.config().display()
            );
        }
        let mut base = match &self.base {
            Some(base) => match base::measure(base, &session)? {
                Some(base) => Some(base),
                None => return Ok(ExitCode::from(2)),
            },
            None => None,
        };
        let times = if self.save.is_some() { self.repeat } else { 1 };
        let mut measured = match session.measure(session.root(), everything, times)? {
            program::Outcome::Done(measured) => measured,
            program::Outcome::Failed(code) => return Ok(code),
        };
        let mut report = Report::new(budgets::rows(&session, &measured)?);
        if let Some(base) = &mut base {
            let default = Least::new(self.growth / 100.0, self.growth_bytes.as_u64());
            let items = Items::new(Some(session.root()));
            for run in &mut measured {
                let named = run.growth().clone();
                let limits = Limits { default, named: &named };
                run.has_names(limits, base.saved().runs.get(&run.name))?;
                while !report.compare(base.saved(), &run.name, &run.costs, limits, &items, session.root())
                    && run.times() < usize::from(self.repeat)
                {
                    // What differs between equal runs is no growth.
                    base.again(&run.name, &session)?;
                    session.again(run)?;
                }
            }
        }
        if self.test.is_some() {
            report.name_tests(measured.iter().flat_map(|run| &run.costs.tests));
        }
        let now = Saved::new(&measured);
        if let Some(file) = &self.save {
            now.write(file)?;
            eprintln!("note: saved to {}", file.display());
        }
        for (format, file) in &self.write {
            files::write(file, |mut out| report.write(*format, &mut out))?;
        }
        dwell_output::print(|out| report.write(self.format, out))?;
        Ok(if report.has_failed() { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }
}

//! Reads the runs of `dwell.toml`, builds their programs and runs them.

use super::costs::Costs;
use super::limits::Limits;
use super::measure::{Cost, Wanted};
use crate::allocs::document::Document as Allocs;
use crate::config::{Config, Limit, Run};
use crate::processes;
use crate::program::{self, BuildArgs, Executable, Outcome, Purpose};
use crate::sizes::{Document, Known, Selection};
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use dwell_debuginfo::Program;
use dwell_heap::json::Document as Heap;
use dwell_output::nearest;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// The runs to make, and how.
pub(super) struct Session {
    root: PathBuf,
    target: PathBuf,
    build: BuildArgs,
    /// The files with the budgets.
    files: Vec<(PathBuf, Config)>,
    runs: Vec<Planned>,
    timeout: Duration,
}

/// A run of a `dwell.toml`.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) run: Run,
    /// The folder of the `dwell.toml`, relative to the workspace's root: the program runs there.
    folder: PathBuf,
    pub(super) file: PathBuf,
}

/// A run that was made, once or several times.
pub(super) struct Measured {
    pub(super) name: String,
    planned: Planned,
    /// The tree that it is of.
    root: PathBuf,
    wanted: Wanted,
    sizes: Known,
    pub(super) costs: Costs,
    pub(super) heaps: Vec<Heap>,
    peaks: Vec<u64>,
    pub(super) allocs: Vec<Allocs>,
    pub(super) executable: Executable,
    pub(super) program: Program,
}

impl Measured {
    fn add(&mut self, cost: Cost) {
        self.heaps.extend(cost.heap);
        self.peaks.extend(cost.peak_bytes);
        self.allocs.extend(cost.allocs);
        self.costs = Costs::new(&self.heaps, &self.peaks, &self.allocs, self.sizes.clone());
    }

    /// Returns how often it was made.
    pub(super) fn times(&self) -> usize {
        self.heaps.len().max(self.allocs.len())
    }

    /// Returns what counts as growth, by name.
    pub(super) fn growth(&self) -> &BTreeMap<String, Limit> {
        &self.planned.run.growth
    }

    /// # Errors
    /// Returns an error if a limit has a name that neither this run nor the base's has.
    pub(super) fn has_names(&self, limits: Limits<'_>, base: Option<&Costs>) -> Result<()> {
        let costs: Vec<&Costs> = base.into_iter().chain([&self.costs]).collect();
        let Some((name, all)) = limits.unknown(&costs, (&self.program, &self.executable.file), &self.root) else {
            return Ok(());
        };
        let (file, near) = (self.planned.file.display(), nearest::suggestion(name, all.into_iter()));
        bail!("{file}: `growth` of `check.{}`: the program has no owner, type or function `{name}`{near}", self.name);
    }
}

impl Session {
    /// Reads each `dwell.toml` of the workspace and its packages.
    ///
    /// # Errors
    /// Returns an error if there is none, one is wrong, or none has a run of a name.
    pub(super) fn new(
        workspace: &Metadata,
        build: BuildArgs,
        names: &[String],
        test: Option<&str>,
        timeout: Duration,
    ) -> Result<Self> {
        let root: PathBuf = workspace.workspace_root.clone().into();
        let packages = workspace.workspace_packages();
        let mut folders = vec![(root.clone(), None)];
        for package in packages {
            let folder = package.manifest_path.parent().map(|folder| folder.as_std_path().to_owned());
            match folder {
                Some(folder) if folder == root => folders[0].1 = Some(package.name.to_string()),
                Some(folder) => folders.push((folder, Some(package.name.to_string()))),
                None => {}
            }
        }
        let mut files = Vec::new();
        let mut runs: Vec<Planned> = Vec::new();
        for (folder, package) in folders {
            let file = folder.join("dwell.toml");
            if !file.is_file() {
                continue;
            }
            let config = Config::read(&file)?;
            for (name, run) in &config.check {
                if let Some(other) = runs.iter().find(|run| run.name == *name) {
                    bail!("{}: `check.{name}` is in {} too; rename one", file.display(), other.file.display());
                }
                let targets = [&run.package, &run.bin, &run.example, &run.test, &run.bench];
                if run.exe.is_some() && (run.lib || targets.iter().any(|target| target.is_some())) {
                    bail!("{}: `check.{name}` has an `exe` and what cargo builds; leave out one", file.display());
                }
                let mut run = run.clone();
                run.package = run.package.or_else(|| package.clone());
                let folder = folder.strip_prefix(&root).unwrap_or(&folder).to_owned();
                runs.push(Planned { name: name.clone(), run, folder, file: file.clone() });
            }
            files.push((file, config));
        }
        if let Some(test) = test {
            runs.retain(|run| run.run.test.as_deref() == Some(test));
            if runs.is_empty() {
                let args = vec!["--test-threads=1".to_owned()];
                let run = Run { test: Some(test.to_owned()), args, ..Run::default() };
                let file = root.join("dwell.toml");
                runs.push(Planned { name: test.to_owned(), run, folder: PathBuf::new(), file: file.clone() });
                // The budgets of sizes are those of other programs.
                files = vec![(file, Config::default())];
            }
        }
        if files.is_empty() {
            bail!(
                "there is no dwell.toml in {} or a folder of its packages; `[check.load]`, `example = \"load\"`, \
                 `peak-bytes = \"10MB\"` in it check an example",
                root.display()
            );
        }
        if !names.is_empty() {
            for name in names {
                if !runs.iter().any(|run| run.name == *name) {
                    let near = nearest::suggestion(name, runs.iter().map(|run| &*run.name));
                    bail!("no dwell.toml has a run `check.{name}`{near}");
                }
            }
            runs.retain(|run| names.contains(&run.name));
        }
        let target = workspace.target_directory.join("dwell").into();
        let session = Self { root, target, build, files, runs, timeout };
        if session.runs.is_empty() && !session.has_sizes() {
            bail!("{}: has no budget; add a table such as `[check.load]` or `[max-size]`", session.config().display());
        }
        Ok(session)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for what this command keeps.
    pub(super) fn scratch(&self) -> PathBuf {
        self.target.join("check")
    }

    /// Returns the target directory of a tree. cargo takes a package of another tree for the same one, so each has its own; the
    /// user's is that of `census` and `allocs`.
    fn target_dir(&self, root: &Path) -> PathBuf {
        if root == self.root { self.target.join("census") } else { self.scratch().join("target") }
    }

    /// Returns whether there is nothing to run.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the first `dwell.toml`.
    pub(super) fn config(&self) -> &Path {
        &self.files[0].0
    }

    pub(super) fn configs(&self) -> impl Iterator<Item = &Config> {
        self.files.iter().map(|(_, config)| config)
    }

    pub(super) fn runs(&self) -> &[Planned] {
        &self.runs
    }

    fn has_sizes(&self) -> bool {
        self.configs().any(|config| {
            config.max_future.is_some()
                || !(config.max_size.is_empty() && config.max_frame.is_empty() && config.max_dyn.is_empty())
        })
    }

    /// Builds all programs of a tree, and runs each `times` times. With `everything`, also what no budget is about.
    ///
    /// # Errors
    /// Returns an error if a program fails or cannot be read.
    pub(super) fn measure(&self, root: &Path, everything: bool, times: u8) -> Result<Outcome<Vec<Measured>>> {
        let only_sizes = [Planned {
            name: "sizes".into(),
            run: Run::default(),
            folder: PathBuf::new(),
            file: self.config().to_owned(),
        }];
        let runs = if self.runs.is_empty() { &only_sizes[..] } else { &self.runs };
        let mut all = Vec::new();
        for planned in runs {
            match self.one(planned, root, everything, times)? {
                Outcome::Done(measured) => all.push(measured),
                Outcome::Failed(code) => return Ok(Outcome::Failed(code)),
            }
        }
        Ok(Outcome::Done(all))
    }

    fn one(&self, planned: &Planned, root: &Path, everything: bool, times: u8) -> Result<Outcome<Measured>> {
        let Planned { name, run, .. } = planned;
        let exe = run.exe.as_ref().map(|exe| root.join(&planned.folder).join(exe));
        if let Some(exe) = exe.as_ref().filter(|exe| !exe.is_file()) {
            bail!(
                "`check.{name}`: {}: there is no such file; build it first (a base is then a file of --save)",
                exe.display()
            );
        }
        let args = BuildArgs {
            exe,
            manifest_path: Some(root.join("Cargo.toml")),
            package: run.package.clone(),
            bin: run.bin.clone(),
            example: run.example.clone(),
            test: run.test.clone(),
            bench: run.bench.clone(),
            lib: run.lib,
            features: run.features.clone(),
            target_dir: Some(self.target_dir(root)),
            ..self.build.clone()
        };
        let choice = match program::choose(&args).with_context(|| format!("`check.{name}`"))? {
            Outcome::Done(choice) => choice,
            Outcome::Failed(code) => return Ok(Outcome::Failed(code)),
        };
        let executable = match processes::interruptible(|| choice.build(Purpose::Run))? {
            Outcome::Done(executable) => executable,
            Outcome::Failed(code) => return Ok(Outcome::Failed(code)),
        };
        let options = dwell_debuginfo::Options {
            own_crates: executable.own_crates.clone(),
            cache: executable.cache.clone(),
            progress: false,
        };
        let wanted = match (self.runs.is_empty(), everything) {
            (true, _) => Wanted { peak: false, exit: false, allocs: false },
            (_, true) => Wanted::ALL,
            _ => Wanted { peak: run.needs_peak(), exit: run.needs_exit(), allocs: run.needs_allocs() },
        };
        // The types are read while the program runs.
        let (program, cost) = thread::scope(|scope| {
            let program = scope.spawn(|| dwell_debuginfo::load(&executable.file, &options));
            let cost = self.cost(planned, root, wanted, &executable);
            (program.join(), cost)
        });
        let program = program.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let cost = cost?;
        let selection = Selection { all: false, root: Some(root), profile: executable.profile.as_deref() };
        let sizes = Known::from_document(&Document::new(&program, selection))?;
        let mut measured = Measured {
            name: name.clone(),
            planned: planned.clone(),
            root: root.to_owned(),
            wanted,
            costs: Costs::default(),
            sizes,
            heaps: Vec::new(),
            peaks: Vec::new(),
            allocs: Vec::new(),
            executable,
            program,
        };
        measured.add(cost);
        for _ in 1..times {
            self.again(&mut measured)?;
        }
        Ok(Outcome::Done(measured))
    }

    /// Runs a program once more.
    ///
    /// # Errors
    /// Returns an error if it fails or cannot be read.
    pub(super) fn again(&self, run: &mut Measured) -> Result<()> {
        run.add(self.cost(&run.planned, &run.root, run.wanted, &run.executable)?);
        Ok(())
    }

    /// Runs the program in a process of this tool, and returns what that measured.
    fn cost(&self, planned: &Planned, root: &Path, wanted: Wanted, executable: &Executable) -> Result<Cost> {
        if wanted.is_nothing() {
            return Ok(Cost::default());
        }
        let Planned { name, run, folder, .. } = planned;
        let scratch = self.scratch();
        fs::create_dir_all(&scratch).with_context(|| format!("{}: cannot be made", scratch.display()))?;
        let file = scratch.join(format!("run-{}.json", std::process::id()));
        let mut started = processes::own_command()?;
        started.arg("measure").arg("--exe").arg(&executable.file).arg("--root").arg(root).arg("--save").arg(&file);
        let moments: Vec<&str> =
            [("peak", wanted.peak), ("exit", wanted.exit)].iter().filter(|(_, is)| *is).map(|(at, _)| *at).collect();
        if !moments.is_empty() {
            started.arg("--at").arg(moments.join(","));
        }
        started.args(wanted.allocs.then_some("--allocs"));
        if !executable.own_crates.is_empty() {
            started.arg("--own").arg(executable.own_crates.join(","));
        }
        started.args(executable.cache.iter().flat_map(|cache| [OsStr::new("--cache"), cache.as_os_str()]));
        started.arg("--").args(&run.args).envs(&run.env).current_dir(root.join(folder));
        let stdin = match &run.stdin {
            Some(path) => {
                let path = root.join(folder).join(path);
                let opened = File::open(&path);
                opened.with_context(|| format!("`check.{name}`: {}: cannot be read", path.display()))?.into()
            }
            None => Stdio::null(),
        };
        eprintln!("note: runs `{name}`");
        let ran = processes::run_with(&mut started, stdin, self.timeout).with_context(|| format!("`check.{name}`"));
        let cost = fs::read(&file);
        let _ = fs::remove_file(&file);
        let ran = ran?;
        let printed = String::from_utf8_lossy(&ran.stderr);
        let error = printed.lines().rev().find_map(|line| line.strip_prefix("error: "));
        match (ran.status.success(), cost) {
            (true, Ok(cost)) => {
                serde_json::from_slice(&cost).with_context(|| format!("`check.{name}`: the run cannot be read"))
            }
            // The tool's own errors have this code, and so may the program's.
            (false, _) if ran.status.code() != Some(2) || error.is_none() => bail!(
                "`check.{name}`: the program failed with {}; what a run costs is known of one that succeeds",
                ran.status
            ),
            _ => bail!("`check.{name}`: {}", error.unwrap_or("the program was not measured")),
        }
    }
}

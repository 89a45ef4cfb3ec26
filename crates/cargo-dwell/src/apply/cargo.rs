//! Runs cargo in the copy of the work tree, for a bounded time.

use super::builds::{Build, Checked, Features};
use super::outcomes::{Tests, outcomes};
use crate::processes::run;
use crate::program::{self, BuildArgs, Outcome};
use anyhow::{Result, bail};
use cargo_metadata::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Cargo with the user's selection of packages and features.
#[derive(Debug)]
pub(super) struct Cargo<'a> {
    /// The root of the workspace.
    pub(super) root: PathBuf,
    /// The target directory, apart from the user's.
    pub(super) target: PathBuf,
    /// The user's flags.
    pub(super) build: &'a BuildArgs,
    /// What is checked: the user's build first.
    pub(super) builds: Vec<Build>,
    /// The packages whose tests run, if not those of the whole workspace.
    pub(super) tested: Vec<String>,
    /// How long a step may take.
    pub(super) bound: Duration,
}

/// What a check found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The index of the build that it checked last.
    pub(super) build: usize,
    /// The errors of that build.
    pub(super) errors: Vec<Diagnostic>,
    /// The warnings of the user's build that are new.
    pub(super) new_warnings: Vec<String>,
}

impl Cargo<'_> {
    /// Returns a command of cargo for the user's package, or for the whole workspace.
    fn command(&self, step: &str) -> Command {
        let mut command = self.command_in(step, Path::new(""));
        match &self.build.package {
            Some(package) => command.arg("--package").arg(package),
            None => command.arg("--workspace"),
        };
        command
    }

    fn command_in(&self, step: &str, folder: &Path) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.arg(step).current_dir(self.root.join(folder)).env("CARGO_TARGET_DIR", &self.target);
        let build = self.build;
        // Another workspace may have no lock file yet.
        let is_own = folder.as_os_str().is_empty();
        for (flag, given) in [
            ("--locked", build.locked && is_own),
            ("--offline", build.offline || build.frozen && !is_own),
            ("--frozen", build.frozen && is_own),
        ] {
            if given {
                command.arg(flag);
            }
        }
        if let Some(jobs) = &build.jobs {
            command.arg("--jobs").arg(jobs);
        }
        if let Some(target) = &build.target {
            command.arg("--target").arg(target);
        }
        command
    }

    fn add_features(&self, command: &mut Command) {
        let build = self.build;
        for features in &build.features {
            command.arg("--features").arg(features);
        }
        if build.all_features {
            command.arg("--all-features");
        }
        if build.no_default_features {
            command.arg("--no-default-features");
        }
    }

    /// Returns rustc's errors that the change made, of the first build that has some.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run, takes too long, or fails without an error of rustc.
    pub(super) fn check(&self) -> Result<Found> {
        let mut found = Found::default();
        for (index, build) in self.builds.iter().enumerate() {
            let (after, failed) = self.check_build(build)?;
            if index == 0 {
                found.new_warnings = build.new_warnings(&after);
            }
            (found.build, found.errors) = (index, build.made_by_change(&after));
            if !found.errors.is_empty() {
                return Ok(found);
            }
            if let Some(unit) = build.missing(&after).next() {
                bail!("{} does not compile: {}", unit.target, failed.unwrap_or_default());
            }
        }
        Ok(found)
    }

    /// Checks all targets of a build, and returns cargo's error if it failed.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run or takes too long.
    pub(super) fn check_build(&self, build: &Build) -> Result<(Checked, Option<String>)> {
        let mut command = match &build.features {
            Features::Program(manifest) => self.program(manifest)?,
            features => {
                let mut command = self.command_in("check", &build.folder);
                command.args(["--workspace", "--all-targets", "--message-format=json", "--keep-going"]);
                self.add_features_of(&mut command, features);
                command
            }
        };
        let ran = run(&mut command, self.bound)?;
        let failed = (!ran.status.success()).then(|| first_error(&ran.stderr));
        Ok((Checked::read(&ran.stdout, &self.root, &build.folder), failed))
    }

    /// Returns the command that builds the measured program as the census does: its dependencies are compiled, and what it makes is
    /// measured.
    fn program(&self, manifest: &Path) -> Result<Command> {
        let args = args_of_program(self.build, manifest, &self.target);
        match program::choose(&args)? {
            Outcome::Done(choice) => choice.command_to_run(),
            Outcome::Failed(_) => bail!("{}: cargo cannot read it", manifest.display()),
        }
    }

    /// Returns the errors of a package's library.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run or takes too long.
    pub(super) fn check_library(&self, package: &str) -> Result<Vec<Diagnostic>> {
        let mut command = self.command_in("check", Path::new(""));
        command.args(["--package", package, "--lib", "--message-format=json"]);
        self.add_features(&mut command);
        let ran = run(&mut command, self.bound)?;
        let checked = Checked::read(&ran.stdout, &self.root, Path::new(""));
        Ok(checked.errors.into_iter().map(|(_, error)| error).collect())
    }

    /// Returns what clippy says of some packages; `None` if there is no clippy, or if it cannot check them.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run or takes too long.
    pub(super) fn clippy(&self, packages: &[String]) -> Result<Option<Checked>> {
        let mut command = self.command_in("clippy", Path::new(""));
        command.args(["--all-targets", "--message-format=json", "--keep-going"]);
        for package in packages {
            command.args(["--package", package]);
        }
        self.add_features(&mut command);
        let ran = run(&mut command, self.bound)?;
        let checked = Checked::read(&ran.stdout, &self.root, Path::new(""));
        Ok((ran.status.success() || !checked.lints.is_empty()).then_some(checked))
    }

    fn add_features_of(&self, command: &mut Command, features: &Features) {
        match features {
            Features::Given | Features::Program(_) => self.add_features(command),
            Features::All => _ = command.arg("--all-features"),
            Features::Only(set) => _ = command.args(["--no-default-features", "--features", set]),
            Features::With(set) => _ = command.args(["--features", set]),
        }
    }

    /// Builds the workspace's packages as the user does, without the results of earlier builds that rustc keeps. Returns
    /// the CPU time; `None` if it failed.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run or takes too long.
    pub(super) fn rebuild(&self) -> Result<Option<Duration>> {
        let mut command = self.command("build");
        self.add_features(&mut command);
        match (&self.build.profile, self.build.release) {
            (Some(profile), _) => command.arg("--profile").arg(profile),
            (None, true) => command.arg("--release"),
            (None, false) => &mut command,
        };
        let ran = run(command.env("CARGO_INCREMENTAL", "0"), self.bound)?;
        Ok(ran.status.success().then_some(ran.usage.cpu()))
    }

    /// Runs the user's tests: with the user's features, with all if these are others and compile, and those of excluded packages.
    ///
    /// # Errors
    /// Returns an error if the command cannot be run or takes too long.
    pub(super) fn test(&self, own: Option<&str>) -> Result<Tests> {
        if let Some(own) = own {
            let mut command = Command::new("sh");
            command.args(["-c", own]).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
            let ran = run(&mut command, self.bound)?;
            let mut all = Tests { success: ran.status.success(), ..Tests::default() };
            outcomes(&ran.stdout, &ran.stderr, "", &mut all.outcomes);
            return Ok(all);
        }
        let mut all = Tests { success: true, ..Tests::default() };
        for build in self.builds.iter().filter(|build| build.is_tested()) {
            let name = build.name();
            let note = if name.is_empty() { name } else { format!(" with {name}") };
            for arguments in tested_targets(build) {
                let mut command = self.command_in("test", &build.folder);
                command.arg("--no-fail-fast").args(&arguments);
                let is_own = build.folder.as_os_str().is_empty();
                if self.tested.is_empty() || !is_own {
                    command.arg("--workspace");
                }
                for package in self.tested.iter().filter(|_| is_own) {
                    command.args(["--package", package]);
                }
                self.add_features_of(&mut command, &build.features);
                let ran = run(&mut command, self.bound)?;
                // One that cannot be linked here, such as `fuzz`, has no outcome before either.
                all.success &= ran.status.success() || !is_own;
                let before = all.outcomes.len();
                outcomes(&ran.stdout, &ran.stderr, &note, &mut all.outcomes);
                if is_own && !ran.status.success() && all.outcomes.len() == before {
                    all.error = all.error.or_else(|| Some(first_error(&ran.stderr)));
                }
            }
        }
        Ok(all)
    }
}

/// Returns the arguments of a build of the program for a run.
pub(super) fn args_of_program(build: &BuildArgs, manifest: &Path, target: &Path) -> BuildArgs {
    BuildArgs {
        manifest_path: Some(manifest.to_owned()),
        target_dir: Some(target.join("dwell/census")),
        ..build.clone()
    }
}

/// Returns the arguments for the targets that can be tested, for each call of cargo. One target that does not compile would end
/// all tests.
fn tested_targets(build: &Build) -> Vec<Vec<String>> {
    if build.before.errors.is_empty() {
        return vec![Vec::new()];
    }
    let (mut all, mut has_library) = (vec!["--bins".to_owned()], false);
    for unit in build.before.units.iter().filter(|unit| unit.is_test) {
        if let [.., kind, name] = &unit.target.split(' ').collect::<Vec<_>>()[..] {
            match *kind {
                "test" | "example" => all.extend([format!("--{kind}"), (*name).to_owned()]),
                kind if kind.contains("lib") => has_library = true,
                _ => {}
            }
        }
    }
    if has_library {
        all.push("--lib".to_owned());
        return vec![all, vec!["--doc".to_owned()]];
    }
    vec![all]
}

/// Returns the line of cargo's output that says what is wrong.
pub(super) fn first_error(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find_map(|line| line.strip_prefix("error: ")).or_else(|| text.lines().last());
    line.unwrap_or("it printed nothing").to_owned()
}

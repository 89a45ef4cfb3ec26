//! Runs cargo in the copy of the work tree, for a bounded time.

use crate::program::BuildArgs;
use anyhow::{Context, Result, bail};
use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Cargo with the user's selection of packages and features.
#[derive(Debug)]
pub(super) struct Cargo<'a> {
    /// The root of the workspace.
    pub(super) root: PathBuf,
    /// The target directory, apart from the user's.
    pub(super) target: PathBuf,
    /// The user's flags.
    pub(super) build: &'a BuildArgs,
    /// Other sets of features to check too.
    pub(super) feature_sets: &'a [String],
    /// Whether the benchmarks compile.
    pub(super) has_benches: bool,
    /// How long a step may take.
    pub(super) bound: Duration,
}

/// The number of times that tests of a name had an outcome.
pub(super) type Outcomes = BTreeMap<(String, String), usize>;

/// The result of a user's tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tests {
    /// The outcomes by name: `ok`, `FAILED`, `ignored`.
    pub(super) outcomes: Outcomes,
    /// Whether the command succeeded.
    pub(super) success: bool,
}

impl Tests {
    /// Returns the number of tests with an outcome.
    pub(super) fn count(&self, outcome: &str) -> usize {
        self.outcomes.iter().filter(|((_, of), _)| of == outcome).map(|(_, count)| count).sum()
    }

    /// Returns the names of tests whose outcome differs.
    pub(super) fn differ(&self, other: &Self) -> Vec<String> {
        let changed = |(key, count): (&(String, String), &usize)| {
            (self.outcomes.get(key) != Some(count)).then(|| format!("{} is {}", key.0, key.1))
        };
        other.outcomes.iter().filter_map(changed).collect()
    }
}

impl Cargo<'_> {
    fn command(&self, step: &str) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.arg(step).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        let build = self.build;
        match &build.package {
            Some(package) => command.arg("--package").arg(package),
            None => command.arg("--workspace"),
        };
        for (flag, given) in [("--locked", build.locked), ("--offline", build.offline), ("--frozen", build.frozen)] {
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

    /// Returns rustc's errors for all targets, each once.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run, takes too long, or fails without an error of rustc.
    pub(super) fn check(&self) -> Result<Vec<Diagnostic>> {
        let mut errors = self.check_with(None)?;
        // The errors of one set of features are repaired first.
        for set in self.feature_sets {
            if !errors.is_empty() {
                break;
            }
            errors = self.check_with(Some(set))?;
        }
        Ok(errors)
    }

    fn check_with(&self, set: Option<&str>) -> Result<Vec<Diagnostic>> {
        let mut command = self.command("check");
        // Benchmarks may need a nightly compiler; `--tests` has the libraries too.
        let targets: &[&str] = if self.has_benches { &["--all-targets"] } else { &["--bins", "--examples", "--tests"] };
        command.args(targets).args(["--message-format=json", "--keep-going"]);
        match set {
            Some(set) => {
                command.args(["--no-default-features", "--features", set]);
            }
            None => self.add_features(&mut command),
        }
        let ran = run(&mut command, self.bound)?;
        let mut errors: Vec<Diagnostic> = Vec::new();
        for message in Message::parse_stream(&ran.stdout[..]) {
            let Ok(Message::CompilerMessage(message)) = message else { continue };
            let error = message.message;
            if error.level == DiagnosticLevel::Error && !error.spans.is_empty() && !errors.contains(&error) {
                errors.push(error);
            }
        }
        if !ran.status.success() && errors.is_empty() {
            bail!("cargo check failed: {}", first_error(&ran.stderr));
        }
        Ok(errors)
    }

    /// Builds the workspace's packages as the user does, without the results of earlier builds that rustc keeps. Returns
    /// whether it succeeded.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run or takes too long.
    pub(super) fn rebuild(&self) -> Result<bool> {
        let mut command = self.command("build");
        self.add_features(&mut command);
        match (&self.build.profile, self.build.release) {
            (Some(profile), _) => command.arg("--profile").arg(profile),
            (None, true) => command.arg("--release"),
            (None, false) => &mut command,
        };
        Ok(run(command.env("CARGO_INCREMENTAL", "0"), self.bound)?.status.success())
    }

    /// Runs the user's tests.
    ///
    /// # Errors
    /// Returns an error if the command cannot be run or takes too long.
    pub(super) fn test(&self, own: Option<&str>) -> Result<Tests> {
        let mut command = if let Some(own) = own {
            let mut command = Command::new("sh");
            command.args(["-c", own]).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
            command
        } else {
            let mut command = self.command("test");
            self.add_features(&mut command);
            command.arg("--no-fail-fast");
            command
        };
        let ran = run(&mut command, self.bound)?;
        let text = String::from_utf8_lossy(&ran.stdout);
        Ok(Tests { outcomes: outcomes(&text), success: ran.status.success() })
    }
}

/// Returns the outcomes in the output of Rust's test harness. A document's test has its line in its name, which a change
/// moves.
fn outcomes(text: &str) -> Outcomes {
    let mut all = Outcomes::new();
    for line in text.lines() {
        let Some((name, outcome)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ")) else {
            continue;
        };
        let name = name.split(" (line ").next().unwrap_or(name);
        let outcome = outcome.split([' ', ',']).next().unwrap_or(outcome);
        *all.entry((name.to_owned(), outcome.to_owned())).or_default() += 1;
    }
    all
}

/// Returns the line of cargo's output that says what is wrong.
fn first_error(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find_map(|line| line.strip_prefix("error: ")).or_else(|| text.lines().last());
    line.unwrap_or("it printed nothing").to_owned()
}

/// What a command printed.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs a command to its end.
///
/// # Errors
/// Returns an error if it cannot be started, or if it takes longer than the bound; then it and its children are ended.
pub(super) fn run(command: &mut Command, bound: Duration) -> Result<Ran> {
    let name = command.get_program().to_string_lossy().into_owned();
    let step: Vec<OsString> = command.get_args().take(1).map(Into::into).collect();
    let step = step.first().map(|step| step.to_string_lossy().into_owned()).unwrap_or_default();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("{name} cannot be run; is it on the PATH?"))?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let end = Instant::now() + bound;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().with_context(|| format!("{name} did not end"))? {
            break status;
        }
        if Instant::now() > end {
            end_all(&mut child);
            bail!("`{name} {step}` took more than {} s and was ended; --timeout allows more", bound.as_secs());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    let joined = |reader: thread::JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Ran { status, stdout: joined(stdout), stderr: joined(stderr) })
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Ends a process and all that it started. They stay in this process's group, so that Ctrl-C reaches them.
fn end_all(child: &mut Child) {
    let mut pids = vec![child.id()];
    let mut next = 0;
    while let Some(&pid) = pids.get(next) {
        next += 1;
        // Each thread has the children that it started.
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            pids.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    for pid in pids.into_iter().rev() {
        if let Ok(pid) = libc::pid_t::try_from(pid) {
            // SAFETY: `kill` reads no memory. The process is a descendant of ours: its number stays taken until its
            // parent, which is killed after it, waits for it.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    }
    let _ = child.wait();
}

/// Returns `true` if git knows changes of the tree; `None` if the tree is not in a repository of git.
pub(super) fn is_dirty(root: &Path) -> Option<bool> {
    let output = Command::new("git")
        .args(["status", "--porcelain", "--untracked-files=no", "--", "."])
        .current_dir(root)
        .output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(!output.stdout.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read() {
        let text = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d - should panic ... ok\n\
                    test src/lib.rs - f (line 3) ... ok\ntest e ... ignored, because\ntest result: FAILED. 2 passed;\n";
        let all = outcomes(text);
        let keys: Vec<_> = all.keys().map(|(name, of)| format!("{name}={of}")).collect();
        assert_eq!(keys, ["a::b=ok", "c=FAILED", "d - should panic=ok", "e=ignored", "src/lib.rs - f=ok"]);
        let before = Tests { outcomes: all.clone(), success: false };
        let moved = outcomes(&text.replace("(line 3)", "(line 4)").replace("c ... FAILED", "c ... ok"));
        let after = Tests { outcomes: moved, success: true };
        assert_eq!((before.differ(&after), after.count("ok")), (vec!["c is ok".to_owned()], 4));
    }

    #[test]
    fn command_that_hangs_is_ended_with_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]);
        let start = Instant::now();
        let error = run(&mut command, Duration::from_millis(200)).unwrap_err().to_string();
        assert!(error.contains("took more than 0 s") && start.elapsed() < Duration::from_secs(60), "{error}");
    }
}

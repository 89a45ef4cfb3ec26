//! Calls cargo, and includes its output in errors.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns a command for the cargo that runs this program, or for the one in the path.
fn cargo(directory: &Path, target: &Path) -> Command {
    prepared(Command::new(program()), directory, target)
}

/// Returns the cargo that runs this program, or the one in the path.
fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"))
}

/// Sets the folders and the environment of a command that is cargo or starts it.
fn prepared(mut command: Command, directory: &Path, target: &Path) -> Command {
    // Warnings in the code of published packages must not fail a build.
    command.env("RUSTFLAGS", "--cap-lints=warn").env_remove("CARGO_ENCODED_RUSTFLAGS");
    command.env("CARGO_TARGET_DIR", target).env("CARGO_TERM_COLOR", "never").env("CARGO_INCREMENTAL", "0");
    command.current_dir(directory);
    command
}

/// Runs cargo in `directory`.
///
/// # Errors
///
/// If cargo fails. The error contains cargo's errors but not its warnings.
fn run(directory: &Path, target: &Path, arguments: &[&str]) -> Result<Output> {
    let output = cargo(directory, target).args(arguments).output().context("cannot run cargo")?;
    if !output.status.success() {
        let what = arguments.first().copied().unwrap_or_default();
        bail!("cargo {what} failed\n{}", errors(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(output)
}

/// Returns the errors in cargo's output. Each ends at a blank line.
fn errors(stderr: &str) -> String {
    let mut kept = Vec::new();
    let mut inside = false;
    for line in stderr.lines() {
        inside = if line.starts_with("error") { true } else { inside && !line.starts_with("warning") };
        if inside && !line.is_empty() {
            kept.push(line);
        }
    }
    if kept.is_empty() { stderr.trim_end().to_owned() } else { kept.join("\n") }
}

/// Returns the packages that `cargo metadata` lists in `directory`.
fn metadata(directory: &Path, target: &Path, more: &[&str]) -> Result<Vec<serde_json::Value>> {
    let output = run(directory, target, &[&["metadata", "--format-version", "1", "--quiet"], more].concat())?;
    let mut metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    match metadata["packages"].take() {
        serde_json::Value::Array(packages) => Ok(packages),
        _ => bail!("cargo metadata lists no packages"),
    }
}

/// Returns name, version and source folder of the packages that the manifest in `directory` needs with all features.
/// Downloads missing ones.
pub(crate) fn sources(directory: &Path, target: &Path) -> Result<Vec<(String, String, PathBuf)>> {
    let packages = metadata(directory, target, &["--all-features"]).context(
        "cannot take the sources from the registry; without a network only what cargo has downloaded is there",
    )?;
    let package = |package: &serde_json::Value| {
        let text = |name: &str| package[name].as_str().map(str::to_owned);
        let folder = PathBuf::from(text("manifest_path")?).parent()?.to_owned();
        Some((text("name")?, text("version")?, folder))
    };
    Ok(packages.iter().filter_map(package).collect())
}

/// Writes the lock file of the workspace in `directory`.
pub(crate) fn lock(directory: &Path, target: &Path) -> Result<()> {
    metadata(directory, target, &[]).map(drop)
}

/// Returns the names of the features of the package in `directory`.
pub(crate) fn features(directory: &Path, target: &Path, package: &str) -> Result<Vec<String>> {
    let packages = metadata(directory, target, &["--no-deps"])?;
    let package = packages.iter().find(|found| found["name"] == package);
    let features = package.and_then(|package| package["features"].as_object());
    let features = features.with_context(|| format!("cargo lists no features in {}", directory.display()))?;
    Ok(features.keys().cloned().collect())
}

/// Builds the tests of `package` that `arguments` selects.
pub(crate) fn build_tests(directory: &Path, target: &Path, package: &str, arguments: &[&str]) -> Result<()> {
    run(directory, target, &[&TEST[..], &["--no-run", "--package", package], arguments].concat()).map(drop)
}

/// Builds the binaries of `package` in release, or only checks that it compiles.
pub(crate) fn build(directory: &Path, target: &Path, package: &str, check: bool) -> Result<()> {
    let how: &[&str] = if check { &["check"] } else { &["build", "--release"] };
    run(directory, target, &[how, &["--quiet", "--package", package]].concat()).map(drop)
}

/// Writes the JSON of `package`, a dependency of the one in `directory`, to `doc` in the target directory.
pub(crate) fn rustdoc_json(directory: &Path, target: &Path, package: &str) -> Result<()> {
    let mut command = cargo(directory, target);
    // rustdoc's JSON is not stable; the variable lets a stable rustdoc write it.
    command.env("RUSTC_BOOTSTRAP", "1").args(["rustdoc", "--quiet", "--package", package]);
    let output = command.args(["--", "-Zunstable-options", "--output-format", "json"]).output();
    let output = output.context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "rustdoc writes no JSON of {package}\n{}",
        errors(&String::from_utf8_lossy(&output.stderr))
    );
    Ok(())
}

/// The numbers of tests that passed, failed and were ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tests {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
}

impl Tests {
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

/// How tests are built and run.
const TEST: [&str; 5] = ["test", "--no-fail-fast", "--quiet", "--config", "profile.dev.debug=0"];

/// The results of the tests of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) tests: Tests,
    /// The names of the tests that failed.
    pub(crate) failures: BTreeSet<String>,
    /// The signals that ended test programs.
    pub(crate) signals: Vec<String>,
    /// Whether the time limit ended the tests.
    pub(crate) timed_out: bool,
}

impl Outcome {
    /// Returns the numbers of tests.
    ///
    /// # Errors
    ///
    /// If the tests ended early.
    pub(crate) fn complete(&self) -> Result<Tests> {
        ensure!(self.signals.is_empty(), "a test program ended by {}", self.signals.join(" and "));
        ensure!(!self.timed_out, "the time limit ended the tests");
        Ok(self.tests)
    }
}

/// The limits of a run of tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) seconds: u32,
    /// The address space of each process, in KiB.
    pub(crate) memory: u64,
}

/// The exit code of `timeout` after it ended its command.
const TIMED_OUT: i32 = 124;

/// Runs the tests of `package`, whether they pass or not. With `limits`, `sh` and `timeout` start cargo.
///
/// # Errors
///
/// If the tests do not build, or if there are none.
pub(crate) fn test(
    directory: &Path,
    target: &Path,
    package: &str,
    arguments: &[&str],
    limits: Option<Limits>,
) -> Result<Outcome> {
    let mut command = match limits {
        None => cargo(directory, target),
        Some(Limits { seconds, memory }) => {
            let script = format!("ulimit -v {memory}; exec timeout --kill-after=5 {seconds} \"$@\"");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script, "sh"]).arg(program());
            prepared(shell, directory, target)
        }
    };
    let output = command.args(TEST).args(["--package", package]).args(arguments).output();
    let output = output.context("cannot run cargo")?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let outcome = Outcome {
        tests: summary(&stdout),
        failures: failures(&stdout),
        signals: signals(&stderr),
        timed_out: limits.is_some() && output.status.code() == Some(TIMED_OUT),
    };
    if outcome.timed_out || !outcome.signals.is_empty() {
        return Ok(outcome);
    }
    if outcome.tests == Tests::default() || stderr.contains("error: could not compile") {
        bail!("the tests of {package} do not run\n{}", errors(&stderr));
    }
    if outcome.tests.failed == 0 && !output.status.success() {
        bail!("the tests of {package} ended early\n{}", errors(&stderr));
    }
    Ok(outcome)
}

/// Returns the names below `failures:`, which the test harness prints after the output of the failed tests.
fn failures(stdout: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in stdout.lines() {
        match line.strip_prefix("    ") {
            Some(name) if inside => drop(names.insert(name.to_owned())),
            _ => inside = line == "failures:",
        }
    }
    names
}

/// Returns the signals that ended test programs. Cargo prints them in brackets.
fn signals(stderr: &str) -> Vec<String> {
    let signal = |line: &str| {
        let (_, signal) = line.split_once("process didn't exit successfully")?.1.rsplit_once("(signal: ")?;
        Some(format!("signal {}", signal.trim_end_matches(')')))
    };
    stderr.lines().filter_map(signal).collect()
}

/// Returns the sum of the lines `test result: ok. 3 passed; 0 failed; 1 ignored; ..`.
fn summary(stdout: &str) -> Tests {
    let mut tests = Tests::default();
    for line in stdout.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        let count = |what: &str| {
            let before = line.split(what).next()?;
            before.trim_end().rsplit([' ', '.']).next()?.parse::<usize>().ok()
        };
        tests.passed += count(" passed").unwrap_or_default();
        tests.failed += count(" failed").unwrap_or_default();
        tests.ignored += count(" ignored").unwrap_or_default();
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::{Tests, errors, failures, signals, summary};

    #[test]
    fn results_of_all_test_binaries_are_added() {
        let output = "running 3 tests\n...\n\
            test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s\n";
        assert_eq!(summary(output), Tests { passed: 13, failed: 2, ignored: 1 });
        assert_eq!(summary("error: no tests"), Tests::default());
    }

    #[test]
    fn warnings_are_left_out_of_errors() {
        let stderr = "warning: unused\n --> a.rs\n\nerror[E0308]: mismatched types\n --> b.rs\n\nwarning: one warning\n\
            error: could not compile `lru`\n";
        assert_eq!(errors(stderr), "error[E0308]: mismatched types\n --> b.rs\nerror: could not compile `lru`");
        assert_eq!(errors("killed\n"), "killed");
    }

    #[test]
    fn names_of_failed_tests_are_found_but_not_their_output() {
        let output = "failures:\n\n---- a::b stdout ----\n    left: 1\n\nfailures:\n    a::b\n    c\n\n\
            test result: FAILED. 0 passed; 2 failed\n\n    indented\n";
        assert_eq!(failures(output).into_iter().collect::<Vec<_>>(), ["a::b", "c"]);
    }

    #[test]
    fn signals_of_test_programs_are_found() {
        let stderr = "error: test failed\n\nCaused by:\n  process didn't exit successfully: `a (b) --quiet` \
            (signal: 6, SIGABRT: process abort signal)\n  process didn't exit successfully: `a` (exit status: 101)\n";
        assert_eq!(signals(stderr), ["signal 6, SIGABRT: process abort signal"]);
    }
}

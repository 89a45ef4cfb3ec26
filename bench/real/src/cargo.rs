//! Calls cargo, and includes its output in errors.

use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns a command for the cargo that runs this program, or for the one in the path.
fn cargo(directory: &Path, target: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
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

/// Returns name, version and source folder of the packages that the manifest in `directory` needs. Downloads missing
/// ones.
pub(crate) fn sources(directory: &Path, target: &Path) -> Result<Vec<(String, String, PathBuf)>> {
    let output = run(directory, target, &["metadata", "--format-version", "1", "--quiet"]).context(
        "cannot take the sources from the registry; without a network only what cargo has downloaded is there",
    )?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let package = |package: &serde_json::Value| {
        let text = |name: &str| package[name].as_str().map(str::to_owned);
        let folder = PathBuf::from(text("manifest_path")?).parent()?.to_owned();
        Some((text("name")?, text("version")?, folder))
    };
    Ok(packages.iter().filter_map(package).collect())
}

/// Writes the lock file of the workspace in `directory`.
pub(crate) fn lock(directory: &Path, target: &Path) -> Result<()> {
    run(directory, target, &["metadata", "--format-version", "1", "--quiet"]).map(drop)
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

/// Runs the tests of `package`, whether they pass or not.
///
/// # Errors
///
/// If the tests do not build, or if there are none.
pub(crate) fn test(directory: &Path, target: &Path, package: &str, arguments: &[&str]) -> Result<Tests> {
    let mut command = cargo(directory, target);
    command.args(["test", "--no-fail-fast", "--quiet", "--package", package, "--config", "profile.dev.debug=0"]);
    let output = command.args(arguments).output().context("cannot run cargo")?;
    let tests = summary(&String::from_utf8_lossy(&output.stdout));
    let stderr = String::from_utf8_lossy(&output.stderr);
    if tests == Tests::default() || stderr.contains("error: could not compile") {
        bail!("the tests of {package} do not run\n{}", errors(&stderr));
    }
    if tests.failed == 0 && !output.status.success() {
        bail!("the tests of {package} ended early\n{}", errors(&stderr));
    }
    Ok(tests)
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
    use super::{Tests, errors, summary};

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
}

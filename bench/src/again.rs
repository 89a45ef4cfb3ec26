//! Runs this program again: with mimalloc as its global allocator, and built by a nightly compiler.

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::count;
use crate::row::Output;

/// Replaces this process by one with the same arguments whose global allocator is mimalloc. Returns only an error.
pub(crate) fn with_mimalloc() -> Result<()> {
    let error = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(count::VARIABLE, "mimalloc")
        .exec();
    Err(error).context("cannot run this program again")
}

/// Adds the rows of modules whose baseline is a box on the global allocator, with mimalloc as that allocator.
pub(crate) fn on_mimalloc(quick: bool, output: Output) -> Result<()> {
    if count::is_mimalloc() {
        return Ok(()); // this process has these rows
    }
    output.say("with mimalloc as the global allocator:")?;
    for module in ["small", "pin", "sparse", "companions"] {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([module, "--json", "--mimalloc", "--subject", "dwell"]).args(quick.then_some("--quick"));
        output.foreign(&rows(&mut command)?)?;
    }
    Ok(())
}

/// Runs this program with other arguments, and returns what it prints as JSON. A child process profits from no other's
/// heap.
pub(crate) fn child<T: DeserializeOwned>(arguments: &[&OsStr]) -> Result<T> {
    let output = Command::new(std::env::current_exe()?).args(arguments).output();
    let output = output.context("cannot run this program again")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{}", message.trim().trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("a child process gave no report: {arguments:?}"))
}

/// The feature that needs a nightly compiler, the module whose rows it changes, and the beginning of the added subjects.
const FEATURE: &str = "ssobox";
const MODULE: &str = "small";

/// Builds the program with a nightly compiler, and adds the rows of `small` that this build lacks. A quick run uses an
/// earlier nightly build.
///
/// If there is no nightly compiler, or if it cannot build the peer, prints one line about it.
pub(crate) fn by_nightly(quick: bool, output: Output) -> Result<()> {
    if cfg!(feature = "ssobox") {
        return Ok(()); // this build has these rows
    }
    match nightly_rows(quick) {
        Ok(rows) => {
            output.say("peers that need a nightly compiler, in a program built with it:")?;
            output.foreign(&rows)?;
        }
        Err(error) => eprintln!("without {FEATURE}, which needs a nightly compiler: {error:#}"),
    }
    Ok(())
}

fn nightly_rows(quick: bool) -> Result<Vec<String>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("a crate of a workspace")?;
    let target = workspace.join("target/nightly");
    let program = target.join("release/dwell-bench");
    if !quick {
        build(workspace, &target)?;
    } else if !program.exists() {
        bail!("no nightly build yet; run once without --quick");
    } else if changed(&program)? < changed(&std::env::current_exe()?)? {
        eprintln!("{FEATURE}: the nightly build is older than this program; run without --quick to rebuild it");
    }
    let mut command = Command::new(program);
    command.args([MODULE, "--json", "--subject", FEATURE]).args(quick.then_some("--quick"));
    Ok(rows(&mut command)?.into_iter().filter(|line| is_added(line)).collect())
}

/// Runs a command and returns the rows that it prints.
fn rows(command: &mut Command) -> Result<Vec<String>> {
    let output = command.stderr(Stdio::inherit()).output().context("cannot run this program again")?;
    if !output.status.success() {
        bail!("it ended with {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

fn changed(file: &Path) -> Result<SystemTime> {
    let metadata = file.metadata().with_context(|| format!("cannot read {}", file.display()))?;
    Ok(metadata.modified()?)
}

fn build(workspace: &Path, target: &Path) -> Result<()> {
    let built = Command::new("cargo")
        .args(["+nightly", "build", "--quiet", "--release", "-p", "dwell-bench", "--features", FEATURE])
        .arg("--target-dir")
        .arg(target)
        .current_dir(workspace)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context("cannot run cargo")?;
    if !built.status.success() {
        let messages = String::from_utf8_lossy(&built.stderr);
        bail!("{}", messages.lines().find(|line| line.starts_with("error")).unwrap_or("the nightly build failed"));
    }
    Ok(())
}

/// Returns whether only the nightly build has the subject of a row.
fn is_added(line: &str) -> bool {
    let subject = |row: Value| row.get("subject")?.as_str().map(|subject| subject.starts_with(FEATURE));
    serde_json::from_str(line).ok().and_then(subject).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_nightly_subjects_are_added() {
        assert!(super::is_added(r#"{"subject":"ssobox 0.1.1"}"#));
        assert!(!super::is_added(r#"{"subject":"dwell"}"#));
        assert!(!super::is_added("no row"));
    }
}

//! Adds the rows of peers that need a nightly compiler, by building and running this program once more with it.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::row::Output;

/// The feature that needs a nightly compiler, and the module whose rows it changes.
const FEATURE: &str = "ssobox";
const MODULE: &str = "small";
/// The prefix of the added subjects.
const SUBJECT: &str = "ssobox";

/// Builds the program with a nightly compiler, and adds the rows of `small` that this build lacks. A quick run uses an
/// earlier nightly build.
///
/// If there is no nightly compiler, or if it cannot build the peer, prints one line about it.
pub(crate) fn run(quick: bool, output: Output) -> Result<()> {
    if cfg!(feature = "ssobox") {
        return Ok(()); // this build has these rows
    }
    match rows(quick) {
        Ok(rows) => {
            output.say("peers that need a nightly compiler, in a program built with it:")?;
            output.foreign(&rows)?;
        }
        Err(error) => eprintln!("without {SUBJECT}, which needs a nightly compiler: {error:#}"),
    }
    Ok(())
}

fn rows(quick: bool) -> Result<Vec<String>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("a crate of a workspace")?;
    let target = workspace.join("target/nightly");
    let program = target.join("release/dwell-bench");
    if !quick {
        build(workspace, &target)?;
    } else if !program.exists() {
        bail!("no nightly build yet; run once without --quick");
    } else if changed(&program)? < changed(&std::env::current_exe()?)? {
        eprintln!("{SUBJECT}: the nightly build is older than this program; run without --quick to rebuild it");
    }
    let mut command = Command::new(program);
    command.args([MODULE, "--json", "--subject", SUBJECT]);
    if quick {
        command.arg("--quick");
    }
    let output = command.stderr(Stdio::inherit()).output().context("cannot run the nightly build")?;
    if !output.status.success() {
        bail!("the nightly build ended with {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?.lines().filter(|line| is_added(line)).map(str::to_owned).collect())
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
    let subject = |row: serde_json::Value| row.get("subject")?.as_str().map(|subject| subject.starts_with(SUBJECT));
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

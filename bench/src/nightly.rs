//! Peers that only a nightly compiler builds: this program once more, built with it, whose rows are added to these.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::row::Output;

/// The features that need a nightly, and the modules whose rows they change.
const FEATURE: &str = "ssobox";
const MODULE: &str = "small";
/// The subjects that are added, beside the baseline that their ratios are to.
const SUBJECT: &str = "ssobox";

/// Builds the program with a nightly compiler, and adds the rows of `small` that this one cannot have. A quick run takes the
/// program that an earlier one built.
///
/// Without a nightly compiler, or where it cannot build the peer, one line says so.
pub(crate) fn run(quick: bool, output: Output) -> Result<()> {
    if cfg!(feature = "ssobox") {
        return Ok(()); // they are here already
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
        bail!("its program is not built yet, which a run without --quick does");
    } else if changed(&program)? < changed(&std::env::current_exe()?)? {
        eprintln!("{SUBJECT}: its program is older than this one; a run without --quick builds it anew");
    }
    let mut command = Command::new(program);
    command.args([MODULE, "--json", "--subject", SUBJECT]);
    if quick {
        command.arg("--quick");
    }
    let output = command.stderr(Stdio::inherit()).output().context("cannot run it")?;
    if !output.status.success() {
        bail!("it ended with {}", output.status);
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
        .context("no cargo")?;
    if !built.status.success() {
        let messages = String::from_utf8_lossy(&built.stderr);
        bail!("{}", messages.lines().find(|line| line.starts_with("error")).unwrap_or("it does not build"));
    }
    Ok(())
}

/// Whether a row is of a subject that only the other program has.
fn is_added(line: &str) -> bool {
    let subject = |row: serde_json::Value| row.get("subject")?.as_str().map(|subject| subject.starts_with(SUBJECT));
    serde_json::from_str(line).ok().and_then(subject).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_is_not_here_is_added() {
        assert!(super::is_added(r#"{"subject":"ssobox 0.1.1"}"#));
        assert!(!super::is_added(r#"{"subject":"dwell"}"#));
        assert!(!super::is_added("no row"));
    }
}

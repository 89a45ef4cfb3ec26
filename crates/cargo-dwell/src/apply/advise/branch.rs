//! A branch with a commit for each change, made without the user's work tree and index.

use anyhow::{Context, Result, bail};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs git, with a text as its input. Returns what it printed.
fn git(root: &Path, index: &Path, arguments: &[&str], input: &str) -> Result<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(root).env("GIT_INDEX_FILE", index);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("git cannot be run; is it on the PATH?")?;
    if let Some(mut stdin) = child.stdin.take() {
        // A git that fails reads nothing, and says why.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().context("git did not end")?;
    if !output.status.success() {
        bail!("git {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Refuses a name that is taken, or that git does not take.
///
/// # Errors
/// See above.
pub(super) fn check(root: &Path, name: &str) -> Result<()> {
    let run = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !run(&["rev-parse", "--verify", "HEAD"]) {
        bail!("--branch: {} is in no repository of git with a commit", root.display());
    }
    if !run(&["check-ref-format", "--branch", name]) {
        bail!("--branch: git takes no branch with the name `{name}`");
    }
    if run(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{name}")]) {
        bail!("--branch: there is a branch `{name}`; choose another name");
    }
    Ok(())
}

/// A commit to make: its message, and the files with their texts.
pub(super) struct Commit {
    pub(super) message: String,
    pub(super) files: Vec<(PathBuf, String)>,
}

/// Makes the branch, from the commit that is checked out.
///
/// # Errors
/// Returns an error if git fails. Then there is no branch.
pub(super) fn make(root: &Path, folder: &Path, name: &str, commits: &[Commit]) -> Result<()> {
    let index = folder.join("index");
    let _ = std::fs::remove_file(&index);
    let run = |arguments: &[&str], input: &str| git(root, &index, arguments, input);
    let mut parent = run(&["rev-parse", "HEAD"], "")?;
    let prefix = run(&["rev-parse", "--show-prefix"], "")?;
    run(&["read-tree", &parent], "")?;
    for commit in commits {
        for (file, text) in &commit.files {
            let path = format!("{prefix}{}", file.display());
            let old = run(&["ls-files", "--stage", "--full-name", "--", &format!(":(top,literal){path}")], "")?;
            // Files keep their mode; one that git does not track stays out.
            let Some(mode) = old.split_whitespace().next() else { continue };
            let blob = run(&["hash-object", "-w", "--stdin"], text)?;
            run(&["update-index", "--cacheinfo", &format!("{mode},{blob},{path}")], "")?;
        }
        let tree = run(&["write-tree"], "")?;
        parent = run(&["commit-tree", &tree, "-p", &parent], &commit.message)?;
    }
    run(&["update-ref", &format!("refs/heads/{name}"), &parent, ""], "")?;
    let _ = std::fs::remove_file(&index);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn branch_leaves_work_tree_and_index() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        fs::create_dir_all(root.join("app")).unwrap();
        fs::write(root.join("app/a.rs"), "a\n").unwrap();
        let index = root.join(".git/index");
        let run = |arguments: &[&str]| {
            let user = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
            git(&root, &index, &[&user[..], arguments].concat(), "").unwrap()
        };
        run(&["init", "-q", "-b", "main"]);
        run(&["config", "user.name", "t"]);
        run(&["config", "user.email", "t@localhost"]);
        run(&["add", "-A"]);
        run(&["commit", "-qm", "first"]);
        fs::write(root.join("app/a.rs"), "mine\n").unwrap();
        let app = root.join("app");
        check(&app, "advice").unwrap();
        let commit = |text: &str, message: &str| Commit {
            message: message.into(),
            files: vec![("a.rs".into(), text.into()), ("new.rs".into(), "n".into())],
        };
        make(&app, folder.path(), "advice", &[commit("b\n", "one"), commit("c\n", "two")]).unwrap();
        assert_eq!(run(&["log", "--format=%s", "advice"]), "two\none\nfirst");
        assert_eq!(run(&["show", "advice:app/a.rs"]), "c");
        assert_eq!(run(&["show", "advice~1:app/a.rs"]), "b");
        assert_eq!(fs::read_to_string(root.join("app/a.rs")).unwrap(), "mine\n");
        assert_eq!(run(&["status", "--porcelain"]), "M app/a.rs");
        for (name, why) in [("advice", "there is a branch"), ("a b", "takes no branch")] {
            assert!(check(&app, name).unwrap_err().to_string().contains(why));
        }
    }
}

//! What an earlier revision costs: a saved file, or a worktree that is built and run.

use super::runs::{Measured, Session};
use super::saved::Saved;
use crate::processes;
use crate::program::{self, Outcome};
use anyhow::{Context, Result, bail};
use dwell_output::units::plural;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The bound of a command of git.
const BOUND: Duration = Duration::from_secs(300);

/// What is compared with: a saved file, or a revision, which can be run again while its worktree exists.
pub(super) struct Base {
    saved: Saved,
    runs: Vec<Measured>,
    _tree: Option<Worktree>,
}

impl Base {
    pub(super) fn saved(&self) -> &Saved {
        &self.saved
    }

    /// Runs a program of a revision once more.
    ///
    /// # Errors
    /// Returns an error if it fails or cannot be read.
    pub(super) fn again(&mut self, run: &str, session: &Session) -> Result<()> {
        if let Some(known) = self.runs.iter_mut().find(|known| known.name == run) {
            session.again(known)?;
            self.saved = Saved::new(&self.runs);
        }
        Ok(())
    }
}

/// Measures a base: `None` if it does not build, which cargo has explained.
///
/// # Errors
/// Returns an error if the file cannot be read, or the revision is not known or cannot be measured.
pub(super) fn measure(base: &str, session: &Session) -> Result<Option<Base>> {
    let file = Path::new(base);
    if file.is_file() {
        return Ok(Some(Base { saved: Saved::read(file)?, runs: Vec::new(), _tree: None }));
    }
    let commit = commit(base, session.root())?;
    say_changes(session.root())?;
    let tree = Worktree::new(session, &commit)?;
    tree.fill_submodules()?;
    let inside = top(session.root())?;
    let root = tree.folder.join(session.root().strip_prefix(&inside).unwrap_or(Path::new("")));
    if !root.join("Cargo.toml").is_file() {
        bail!(
            "the base {base} has no {}",
            root.strip_prefix(&tree.folder).unwrap_or(&root).join("Cargo.toml").display()
        );
    }
    eprintln!("note: builds and runs the base {base} ({})", commit.get(..10).unwrap_or(&commit));
    match session.measure(&root, true, 1).with_context(|| format!("the base {base}"))? {
        Outcome::Done(runs) => Ok(Some(Base { saved: Saved::new(&runs), runs, _tree: Some(tree) })),
        Outcome::Failed(_) => {
            eprintln!("error: the base {base} does not build; name another one, or a file of --save");
            Ok(None)
        }
    }
}

fn git(folder: &Path, args: &[&str]) -> Result<std::result::Result<String, String>> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(args);
    // As in a hook of git, these would name another repository.
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    let ran = processes::run(&mut command, BOUND)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) })
}

/// Returns the root of the repository.
fn top(root: &Path) -> Result<PathBuf> {
    match git(root, &["rev-parse", "--show-toplevel"])? {
        Ok(top) => Ok(PathBuf::from(top)),
        Err(_) => bail!("{}: is in no repository of git; --base also takes a file of --save", root.display()),
    }
}

/// Says how many files are compared as they are, not as they were committed.
fn say_changes(root: &Path) -> Result<()> {
    let changed = git(root, &["status", "--porcelain", "--untracked-files=no"])?.unwrap_or_default();
    let files = changed.lines().count() as u64;
    if files > 0 {
        eprintln!(
            "note: {} {} changed since the last commit, and compared as {} now",
            plural(files, "file"),
            if files == 1 { "is" } else { "are" },
            if files == 1 { "it is" } else { "they are" }
        );
    }
    Ok(())
}

/// Returns the commit of a revision.
fn commit(base: &str, root: &Path) -> Result<String> {
    top(root)?;
    if base.starts_with('-') {
        bail!("--base: `{base}` is no revision");
    }
    if let Ok(commit) = git(root, &["rev-parse", "--verify", "--quiet", &format!("{base}^{{commit}}")])? {
        return Ok(commit);
    }
    let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"])?.is_ok_and(|is| is == "true");
    if is_shallow {
        bail!("--base: this clone is shallow and does not have {base}; fetch it: `git fetch --depth 1 origin {base}`");
    }
    bail!("--base: there is neither a file nor a revision `{base}`")
}

/// A worktree of the user's repository, which is removed at the end.
struct Worktree {
    repository: PathBuf,
    folder: PathBuf,
}

impl Worktree {
    /// Makes it in the user's cache directory, where no file of cargo's settings above it is that of the repository.
    fn new(session: &Session, commit: &str) -> Result<Self> {
        let repository = session.root().to_owned();
        let caches = program::user_cache().unwrap_or_else(std::env::temp_dir);
        fs::create_dir_all(&caches).with_context(|| format!("{}: cannot be made", caches.display()))?;
        // Without symbolic links, since cargo resolves them.
        let caches = caches.canonicalize().unwrap_or(caches);
        let mut hasher = DefaultHasher::new();
        repository.hash(&mut hasher);
        let folder = caches.join(format!("base-{:016x}", hasher.finish()));
        // One that an earlier run left, because it was killed.
        remove(&repository, &folder);
        let name = folder.display().to_string();
        if let Err(why) = git(&repository, &["worktree", "add", "--detach", "--force", &name, commit])? {
            let why = why.lines().last().unwrap_or_default().to_owned();
            bail!("--base: git cannot make a worktree in {name}: {why}");
        }
        Ok(Self { repository, folder })
    }

    /// Fetches the submodules, which a new worktree has as empty folders. Those of the user's clone are not downloaded again.
    ///
    /// # Errors
    /// Returns an error that names the first one that is missing.
    fn fill_submodules(&self) -> Result<()> {
        if !self.folder.join(".gitmodules").is_file() {
            return Ok(());
        }
        let missing = || -> Result<Option<String>> {
            let all = git(&self.folder, &["submodule", "status", "--recursive"])?.unwrap_or_default();
            // `-1f0c… vendor/lib`
            let missing = all.lines().find_map(|line| line.trim().strip_prefix('-'));
            Ok(missing.map(|line| line.split_once(' ').map_or(line, |(_, path)| path).to_owned()))
        };
        if let Some(first) = missing()? {
            eprintln!("note: fetches the submodules of the base, such as {first}");
        }
        if let Err(why) = git(&self.folder, &["submodule", "update", "--init", "--recursive", "--depth", "1"])? {
            let first = missing()?.unwrap_or_else(|| "a submodule".to_owned());
            let why = why.lines().find(|line| line.starts_with("fatal: ")).unwrap_or_default().to_owned();
            bail!("--base: git cannot fetch the submodule {first} of the base: {why}; use a file of --save");
        }
        Ok(())
    }
}

/// Removes a worktree, if it exists. Other worktrees stay as they are.
fn remove(repository: &Path, folder: &Path) {
    if folder.exists() {
        let mut command = Command::new("git");
        let _ = command.arg("-C").arg(repository).args(["worktree", "remove", "--force"]).arg(folder).output();
        let _ = fs::remove_dir_all(folder);
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        remove(&self.repository, &self.folder);
    }
}

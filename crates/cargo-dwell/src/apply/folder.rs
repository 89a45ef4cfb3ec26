//! The folder of the command in the target directory, and the manifest of a copy in it.

use super::tree::Tree;
use super::write;
use crate::program::{self, BuildArgs};
use anyhow::{Context, Result};
use cargo_metadata::Metadata;
use dwell_output::units;
use std::fs;
use std::path::{Path, PathBuf};

/// The contents of a file that marks a folder as a cache: <https://bford.info/cachedir/>.
const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

/// The file that says what is being written to the user's files.
pub(super) const JOURNAL: &str = "journal.json";

/// Returns the folder for the copy and what is built of it, and the lock, which ends with this process. What an interrupted run wrote
/// is undone.
pub(super) fn folder(workspace: &Metadata) -> Result<(PathBuf, fs::File)> {
    let (folder, lock) = locked(workspace, "dwell/apply")?;
    match write::recover(&folder.join(JOURNAL))? {
        0 => {}
        files => eprintln!(
            "note: an interrupted apply had written {}; they are as before it",
            units::plural(files as u64, "file")
        ),
    }
    Ok((folder, lock))
}

/// Returns a folder of the target directory, and its lock, which ends with this process.
pub(super) fn locked(workspace: &Metadata, name: &str) -> Result<(PathBuf, fs::File)> {
    let folder = workspace.target_directory.join(name).into_std_path_buf();
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    // The copy is no source of the workspace: tools that look for sources leave out folders with this file, as those of cargo.
    fs::write(folder.join("CACHEDIR.TAG"), CACHE_TAG)
        .with_context(|| format!("{}: cannot be written", folder.display()))?;
    let lock = lock(&folder)?;
    Ok((folder, lock))
}

/// Returns the manifest in the copy that stands for the user's.
pub(super) fn manifest(build: &BuildArgs, workspace: &Metadata, tree: &Tree) -> PathBuf {
    let given = build.manifest_path.clone().or_else(program::manifest_above);
    let root = workspace.workspace_root.as_std_path();
    let below =
        given.and_then(|path| Some(path.canonicalize().ok()?.strip_prefix(root.canonicalize().ok()?).ok()?.to_owned()));
    tree.root.join(below.unwrap_or_else(|| "Cargo.toml".into()))
}

/// Locks the folder for this process.
fn lock(folder: &Path) -> Result<fs::File> {
    const TAKEN: &str = "another `cargo dwell apply` or `advise` works in this workspace; wait until it ends";
    let path = folder.join("lock");
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd as _;
        let file = fs::File::create(&path).with_context(|| format!("{}: cannot be written", path.display()))?;
        // SAFETY: `flock` reads no memory, and `file` keeps the descriptor open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            anyhow::bail!(TAKEN);
        }
        Ok(file)
    }
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt as _;
        // No other process opens the file while this one has it.
        fs::OpenOptions::new().write(true).create(true).truncate(false).share_mode(0).open(&path).context(TAKEN)
    }
}

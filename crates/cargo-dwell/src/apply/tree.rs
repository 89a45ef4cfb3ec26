//! The copy of the user's work tree in which a change is tried.
//!
//! It is below `target/dwell/apply`. Dependencies outside of the workspace are reached by links at the same relative
//! path. The user's files are read here, and written by [`super::write`] alone.

use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use walkdir::WalkDir;

/// The largest work tree that is copied, in bytes.
const LARGEST: u64 = 4 << 30;

/// The file in which cargo keeps the versions of all dependencies.
const LOCK: &str = "Cargo.lock";

/// A copy of a work tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// The root of the copy.
    pub(super) root: PathBuf,
    /// The texts of the changed files before the change, by their path below the root.
    before: BTreeMap<PathBuf, String>,
    /// The lock file when the tree was copied: each command of cargo may change it.
    lock: Option<String>,
}

impl Tree {
    /// Copies the workspace into a folder, which is emptied first.
    ///
    /// # Errors
    /// Returns an error if a file cannot be copied, or if the tree is too large.
    pub(super) fn copy(workspace: &Metadata, folder: &Path) -> Result<Self> {
        let original = workspace.workspace_root.clone().into_std_path_buf();
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("{}: cannot be emptied", folder.display()))?;
        }
        let outside = outside(workspace, &original);
        let levels = outside.iter().map(|path| ups(&original, path)).max().unwrap_or(0);
        let mut parent = folder.to_owned();
        (0..levels).for_each(|level| parent.push(level.to_string()));
        let root = parent.join(original.file_name().unwrap_or("workspace".as_ref()));
        // The target folder has no tag before its first build, and the copy may be in it.
        copy_all(&original, &root, &[workspace.target_directory.as_std_path(), folder])?;
        for path in outside {
            link(&original, &root, &path)?;
        }
        let lock = fs::read_to_string(root.join(LOCK)).ok();
        Ok(Self { root, before: BTreeMap::new(), lock })
    }

    /// Returns the text of a file. `None`: it is not in the tree, or not text.
    pub(super) fn read(&self, file: &Path) -> Option<String> {
        let inside = file.is_relative() && !file.components().any(|part| part == Component::ParentDir);
        inside.then(|| fs::read_to_string(self.root.join(file)).ok()).flatten()
    }

    /// Writes the text of a file of the copy.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(super) fn write(&mut self, file: &Path, text: &str) -> Result<()> {
        let path = self.root.join(file);
        self.track(file)?;
        fs::write(&path, text).with_context(|| format!("{}: cannot be written", path.display()))
    }

    /// Keeps the present text of a file that a command is about to change; a file that does not exist stays untracked.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub(super) fn track(&mut self, file: &Path) -> Result<()> {
        if file == Path::new(LOCK) {
            if let Some(lock) = self.lock.take() {
                self.before.insert(file.to_owned(), lock);
            }
            return Ok(());
        }
        let path = self.root.join(file);
        if path.exists() && !self.before.contains_key(file) {
            let before = fs::read_to_string(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
            self.before.insert(file.to_owned(), before);
        }
        Ok(())
    }

    /// Returns the files of Rust source below a folder of the tree.
    pub(super) fn sources(&self, folder: &Path) -> Vec<PathBuf> {
        let entries = WalkDir::new(self.root.join(folder)).sort_by_file_name().into_iter();
        let entries = entries.filter_entry(|entry| !entry.path().join("CACHEDIR.TAG").exists()).filter_map(Result::ok);
        let is_source = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
        let below = |path: &Path| Some(path.strip_prefix(&self.root).ok()?.to_owned());
        entries
            .filter(|entry| entry.file_type().is_file() && is_source(entry.path()))
            .filter_map(|entry| below(entry.path()))
            .collect()
    }

    /// Returns the changed files with their texts before and after.
    pub(super) fn changes(&self) -> Vec<Change> {
        let after = |file: &PathBuf| fs::read_to_string(self.root.join(file)).ok();
        let changes = self.before.iter().filter_map(|(file, before)| {
            Some(Change { file: file.clone(), before: before.clone(), after: after(file)? })
        });
        changes.filter(|change| change.before != change.after).collect()
    }

    /// Returns the present texts of the changed files, for [`Tree::restore`].
    pub(super) fn mark(&self) -> Vec<Change> {
        self.changes()
    }

    /// Gives all files the texts that they had at a mark.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub(super) fn restore(&mut self, mark: &[Change]) -> Result<()> {
        for (file, before) in self.before.clone() {
            let text = mark.iter().find(|change| change.file == file).map_or(&before, |change| &change.after);
            self.write(&file, text)?;
        }
        Ok(())
    }
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The path below the root.
    pub(super) file: PathBuf,
    /// The text before the change.
    pub(super) before: String,
    /// The text after the change.
    pub(super) after: String,
}

impl Change {
    /// Returns the change as a unified diff.
    pub(super) fn diff(&self) -> String {
        let name = self.file.display();
        let diff = similar::TextDiff::from_lines(&self.before, &self.after);
        diff.unified_diff().context_radius(3).header(&format!("a/{name}"), &format!("b/{name}")).to_string()
    }
}

fn copy_all(from: &Path, to: &Path, except: &[&Path]) -> Result<()> {
    let skipped = |entry: &walkdir::DirEntry| {
        let (path, is_folder) = (entry.path(), entry.file_type().is_dir() && entry.depth() > 0);
        is_folder && (entry.file_name() == ".git" || except.contains(&path) || path.join("CACHEDIR.TAG").exists())
    };
    let mut bytes = 0;
    for entry in WalkDir::new(from).into_iter().filter_entry(|entry| !skipped(entry)) {
        let entry = entry.with_context(|| format!("{}: cannot be copied", from.display()))?;
        let Ok(below) = entry.path().strip_prefix(from) else { continue };
        let target = to.join(below);
        let failed = || format!("{}: cannot be copied to {}", entry.path().display(), target.display());
        let kind = entry.file_type();
        if kind.is_dir() {
            fs::create_dir_all(&target).with_context(failed)?;
        } else if kind.is_symlink() {
            let points_to = fs::read_link(entry.path()).with_context(failed)?;
            std::os::unix::fs::symlink(points_to, &target).with_context(failed)?;
        } else if kind.is_file() {
            bytes += entry.metadata().map_or(0, |of| of.len());
            if bytes > LARGEST {
                bail!("{}: has more than 4 GiB outside of target folders, too much to copy", from.display());
            }
            fs::copy(entry.path(), &target).with_context(failed)?;
            make_writable(&target).with_context(failed)?;
        }
    }
    Ok(())
}

/// Makes a file writable, as those of an unpacked package may not be.
fn make_writable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(file)?.permissions().mode();
    if mode & 0o200 != 0 { Ok(()) } else { fs::set_permissions(file, fs::Permissions::from_mode(mode | 0o200)) }
}

/// Returns the folders of dependencies by path that are outside of the workspace.
fn outside(workspace: &Metadata, root: &Path) -> Vec<PathBuf> {
    let all = workspace.packages.iter().flat_map(|package| &package.dependencies);
    let mut paths: Vec<PathBuf> =
        all.filter_map(|dependency| Some(dependency.path.clone()?.into_std_path_buf())).collect();
    paths.retain(|path| !path.starts_with(root));
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the number of `..` in the relative path from one folder to another.
fn ups(from: &Path, to: &Path) -> usize {
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    from.components().count() - common
}

fn link(original: &Path, root: &Path, path: &Path) -> Result<()> {
    let ups = ups(original, path);
    let (Some(base), Some(common)) = (root.ancestors().nth(ups), original.ancestors().nth(ups)) else { return Ok(()) };
    let Ok(rest) = path.strip_prefix(common) else { return Ok(()) };
    let at = base.join(rest);
    let failed = || format!("{}: cannot be linked to {}", path.display(), at.display());
    if let Some(parent) = at.parent() {
        fs::create_dir_all(parent).with_context(failed)?;
    }
    match std::os::unix::fs::symlink(path, &at) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error).with_context(failed),
        _ => Ok(()),
    }
}

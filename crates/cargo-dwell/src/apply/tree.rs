//! The copy of the user's work tree in which a change is tried.
//!
//! It is below `target/dwell/apply`. Dependencies outside of the workspace are reached by links at the same relative
//! path. The user's files are read here, and written by [`super::write`] alone.

use super::git;
use crate::{processes, program};
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use walkdir::WalkDir;

/// The largest work tree that is copied, in bytes.
const LARGEST: u64 = 4 << 30;

/// The largest folder outside of the work tree that is copied, in bytes and in files.
const LARGE: u64 = 256 << 20;
const FILES: usize = 20_000;

/// The file in which cargo keeps the versions of all dependencies.
const LOCK: &str = "Cargo.lock";

/// A copy of a work tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// The root of the copy.
    pub(super) root: PathBuf,
    /// The user's work tree.
    original: PathBuf,
    /// The texts of the changed files before the change, by their path below the root.
    before: BTreeMap<PathBuf, String>,
    /// The lock file when the tree was copied: each command of cargo may change it.
    lock: Option<String>,
    /// The roots of the members' crates, below the root, those of libraries first.
    crates: Vec<PathBuf>,
    packages: Vec<Own>,
}

impl Tree {
    /// Copies the workspace into a folder, in place of an earlier copy, of which equal files keep their time of change: cargo builds
    /// only what differs.
    ///
    /// # Errors
    /// Returns an error if a file cannot be copied, or if the tree is too large.
    pub(super) fn copy(workspace: &Metadata, folder: &Path) -> Result<Self> {
        let original = workspace.workspace_root.clone().into_std_path_buf();
        let mut earlier = folder.as_os_str().to_owned();
        earlier.push(".before");
        let earlier = PathBuf::from(earlier);
        for old in [&earlier, folder].into_iter().filter(|old| old.exists()) {
            let moved = if old == folder { fs::rename(folder, &earlier) } else { fs::remove_dir_all(old) };
            moved.with_context(|| format!("{}: cannot be emptied", old.display()))?;
        }
        let (linked, read) = (outside(workspace, &original), read_outside(workspace, &original));
        let levels = linked.iter().chain(&read).map(|path| ups(&original, path)).max().unwrap_or(0);
        let mut parent = folder.to_owned();
        (0..levels).for_each(|level| parent.push(level.to_string()));
        let root = parent.join(original.file_name().unwrap_or("workspace".as_ref()));
        let except = vec![workspace.target_directory.clone().into(), folder.to_owned(), earlier.clone()];
        let mut copy = Copy { except, bytes: 0, earlier: Some((folder.to_owned(), earlier.clone())) };
        // The target folder has no tag before its first build, and the copy may be in it.
        copy.all(&original, &root, &original, &root)?;
        for path in linked {
            link(&original, &root, &path)?;
        }
        for path in read {
            if let Some(at) = place_of(&original, &root, &path).filter(|at| !at.exists()) {
                copy.outside(&path, &at)?;
            }
        }
        if earlier.exists() {
            fs::remove_dir_all(&earlier).with_context(|| format!("{}: cannot be removed", earlier.display()))?;
        }
        let lock = fs::read_to_string(root.join(LOCK)).ok();
        let root = root.canonicalize().with_context(|| format!("{}: cannot be read", root.display()))?;
        let (crates, packages) = (crates(workspace, &original), packages(workspace, &original));
        Ok(Self { root, original, before: BTreeMap::new(), lock, crates, packages })
    }

    /// Returns the root of the crate that a file belongs to.
    pub(super) fn crate_root(&self, file: &Path) -> Option<PathBuf> {
        let length = |root: &&PathBuf| root.parent().map_or(0, |folder| folder.components().count());
        let around = || self.crates.iter().filter(|root| root.parent().is_some_and(|folder| file.starts_with(folder)));
        let deepest = around().map(|root| length(&root)).max();
        let own = self.crates.iter().find(|root| *root == file);
        own.or_else(|| around().find(|root| Some(length(root)) == deepest)).cloned()
    }

    /// Returns the edition of a file, and whether it may have several `let` in a condition.
    fn package(&self, file: &Path) -> Option<&Own> {
        let around = self.packages.iter().filter(|package| file.starts_with(&package.folder));
        around.max_by_key(|package| package.folder.components().count())
    }

    /// Returns `true` if a file may have several `let` in a condition.
    pub(super) fn has_chains(&self, file: &Path) -> bool {
        self.package(file).is_some_and(|package| package.has_chains)
    }

    /// Returns `true` if a file may have `if let` in the guard of an arm.
    pub(super) fn has_let_guards(&self, file: &Path) -> bool {
        self.package(file).is_some_and(|package| package.has_let_guards)
    }

    /// Returns the edition of a file.
    pub(super) fn edition(&self, file: &Path) -> &'static str {
        self.package(file).map_or("2021", |package| package.edition)
    }

    /// Returns the sources of the folder with the root of a file's crate.
    pub(super) fn sources_beside(&self, file: &Path) -> Vec<PathBuf> {
        let root = self.crate_root(file);
        root.and_then(|root| Some(self.sources(root.parent()?))).unwrap_or_default()
    }

    /// Returns the text that a file had before all changes.
    pub(super) fn read_before(&self, file: &Path) -> Option<String> {
        self.before.get(file).cloned().or_else(|| self.read(file))
    }

    /// Refuses files that the user's tree cannot give back, or that a program writes.
    ///
    /// # Errors
    /// See above.
    pub(super) fn check_changes(&self) -> Result<()> {
        for change in self.changes() {
            if change.file.file_name().is_some_and(|name| name == LOCK) {
                continue;
            }
            git::check_tracked(&self.original, &change.file)?;
            if git::is_generated(&change.before) {
                bail!("{}: its first lines say that a program writes it", change.file.display());
            }
        }
        Ok(())
    }

    /// Returns the path of a file in the copy; `None` if it is not one of the work tree's own, but one that is reached by a link.
    fn own(&self, file: &Path) -> Option<PathBuf> {
        let inside = file.is_relative() && !file.components().any(|part| part == Component::ParentDir);
        let is_below = |root: &Path| {
            let real = root.join(file).canonicalize();
            real.is_ok_and(|real| root.canonicalize().is_ok_and(|root| real.starts_with(root)))
        };
        (inside && is_below(&self.root) && is_below(&self.original)).then(|| self.root.join(file))
    }

    /// Returns the text of a file. `None`: it is not in the tree, or not text.
    pub(super) fn read(&self, file: &Path) -> Option<String> {
        fs::read_to_string(self.own(file)?).ok()
    }

    /// Writes the text of a file of the copy.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(super) fn write(&mut self, file: &Path, text: &str) -> Result<()> {
        let Some(path) = self.own(file) else { bail!("{}: is not in this work tree", file.display()) };
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

/// A member.
#[derive(Debug)]
struct Own {
    folder: PathBuf,
    edition: &'static str,
    /// Whether its edition, and the oldest compiler that it names, have `if let .. && let ..`.
    has_chains: bool,
    /// Whether this compiler, and the oldest that it names, have `pattern if let ..`.
    has_let_guards: bool,
}

/// Returns the members.
fn packages(workspace: &Metadata, original: &Path) -> Vec<Own> {
    let is_recent = program::rustc_version().is_some_and(|version| version >= (1, 95));
    let with = |package: &&cargo_metadata::Package| {
        let folder = package.manifest_path.parent()?.as_std_path().strip_prefix(original).ok()?.to_owned();
        let has = |least| package.rust_version.as_ref().is_none_or(|version| (version.major, version.minor) >= least);
        Some(Own {
            folder,
            edition: package.edition.as_str(),
            has_chains: package.edition >= cargo_metadata::Edition::E2024 && has((1, 88)),
            has_let_guards: is_recent && has((1, 95)),
        })
    };
    workspace.workspace_packages().iter().filter_map(with).collect()
}

/// Returns the roots of the members' crates.
fn crates(workspace: &Metadata, original: &Path) -> Vec<PathBuf> {
    let targets = workspace.workspace_packages().into_iter().flat_map(|package| &package.targets);
    let mut all: Vec<(bool, PathBuf)> = targets
        .filter_map(|target| {
            let below = target.src_path.as_std_path().strip_prefix(original).ok()?;
            Some((!target.is_lib(), below.to_owned()))
        })
        .collect();
    all.sort();
    all.into_iter().map(|(_, root)| root).collect()
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

/// Copies folders, up to a number of bytes.
struct Copy {
    /// Folders that are left out.
    except: Vec<PathBuf>,
    bytes: u64,
    /// The folder of the copy, and where the earlier copy is now.
    earlier: Option<(PathBuf, PathBuf)>,
}

impl Copy {
    /// Copies a folder of the work tree `original` to a folder of its copy `root`.
    fn all(&mut self, from: &Path, to: &Path, original: &Path, root: &Path) -> Result<()> {
        let except = self.except.clone();
        let skipped = |entry: &walkdir::DirEntry| {
            let (path, is_folder) = (entry.path(), entry.file_type().is_dir() && entry.depth() > 0);
            let is_except = || except.iter().any(|item| item == path);
            is_folder && (entry.file_name() == ".git" || is_except() || path.join("CACHEDIR.TAG").exists())
        };
        for entry in WalkDir::new(from).into_iter().filter_entry(|entry| !skipped(entry)) {
            let entry = entry.with_context(|| format!("{}: cannot be copied", from.display()))?;
            let Ok(below) = entry.path().strip_prefix(from) else { continue };
            let target = to.join(below);
            let failed = || format!("{}: cannot be copied to {}", entry.path().display(), target.display());
            let kind = entry.file_type();
            if kind.is_dir() {
                fs::create_dir_all(&target).with_context(failed)?;
            } else if kind.is_symlink() {
                self.link(entry.path(), &target, original, root)?;
            } else if kind.is_file() {
                self.file(entry.path(), &target)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path) -> Result<()> {
        let failed = || format!("{}: cannot be copied to {}", from.display(), to.display());
        self.bytes += fs::metadata(from).map_or(0, |metadata| metadata.len());
        if self.bytes > LARGEST {
            bail!("{}: with it more than 4 GiB outside of target folders, too much to copy", from.display());
        }
        processes::check()?;
        fs::copy(from, to).with_context(failed)?;
        make_writable(to).with_context(failed)?;
        self.keep_time(to).with_context(failed)
    }

    /// Gives a file the time of change of the same file of the earlier copy, if both are equal.
    fn keep_time(&self, file: &Path) -> std::io::Result<()> {
        let Some((folder, earlier)) = &self.earlier else { return Ok(()) };
        let Some(before) = file.strip_prefix(folder).ok().map(|below| earlier.join(below)) else { return Ok(()) };
        let Ok(metadata) = fs::metadata(&before) else { return Ok(()) };
        if metadata.len() == fs::metadata(file)?.len() && fs::read(&before)? == fs::read(file)? {
            fs::File::options().write(true).open(file)?.set_modified(metadata.modified()?)?;
        }
        Ok(())
    }

    /// Copies a link. One that leads out of the work tree becomes a copy of what it names, so that nothing there is changed.
    fn link(&mut self, from: &Path, to: &Path, original: &Path, root: &Path) -> Result<()> {
        let failed = || format!("{}: cannot be copied to {}", from.display(), to.display());
        let points_to = fs::read_link(from).with_context(failed)?;
        let Ok(real) = from.canonicalize() else {
            return symlink(points_to, to).with_context(failed);
        };
        match real.strip_prefix(original.canonicalize().with_context(failed)?) {
            Ok(_) if points_to.is_relative() => symlink(points_to, to).with_context(failed),
            Ok(below) => symlink(root.join(below), to).with_context(failed),
            Err(_) => self.outside(&real, to),
        }
    }

    /// Copies what is not in the work tree: a file, or a folder if it is small. A large one is linked.
    fn outside(&mut self, from: &Path, to: &Path) -> Result<()> {
        let failed = || format!("{}: cannot be copied to {}", from.display(), to.display());
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).with_context(failed)?;
        }
        if from.is_file() {
            return self.file(from, to);
        }
        let files = WalkDir::new(from).into_iter().filter_map(Result::ok);
        let bytes =
            files.take(FILES + 1).map(|entry| entry.metadata().map_or(0, |metadata| metadata.len())).sum::<u64>();
        let is_small = bytes <= LARGE && WalkDir::new(from).into_iter().take(FILES + 1).count() <= FILES;
        if !is_small {
            return symlink(from, to).with_context(failed);
        }
        self.folder(from, to)
    }

    /// Copies all files of a folder, and follows its links.
    fn folder(&mut self, from: &Path, to: &Path) -> Result<()> {
        let failed = || format!("{}: cannot be copied to {}", from.display(), to.display());
        for entry in WalkDir::new(from) {
            let entry = entry.with_context(failed)?;
            let Ok(below) = entry.path().strip_prefix(from) else { continue };
            if entry.file_type().is_dir() {
                fs::create_dir_all(to.join(below)).with_context(failed)?;
            } else if entry.path().is_file() {
                self.file(entry.path(), &to.join(below))?;
            }
        }
        Ok(())
    }
}

/// Copies a folder.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub(super) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    Copy { except: Vec::new(), bytes: 0, earlier: None }.folder(from, to)
}

/// Makes a file writable, as those of an unpacked package may not be.
fn make_writable(file: &Path) -> std::io::Result<()> {
    let mut permissions = fs::metadata(file)?.permissions();
    if !permissions.readonly() {
        return Ok(());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        permissions.set_mode(permissions.mode() | 0o200);
    }
    #[cfg(not(unix))]
    permissions.set_readonly(false);
    fs::set_permissions(file, permissions)
}

/// Makes a link to a file or folder.
fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, link);
    #[cfg(windows)]
    match target.as_ref().is_dir() {
        true => std::os::windows::fs::symlink_dir(target, link),
        false => std::os::windows::fs::symlink_file(target, link),
    }
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

/// Returns a path without `..` and `.`.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                all.pop();
            }
            Component::CurDir => {}
            part => all.push(part),
        }
    }
    all
}

/// Returns the number of `..` in the relative path from one folder to another.
fn ups(from: &Path, to: &Path) -> usize {
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    from.components().count() - common
}

/// Returns the place in the copy of a path outside of the work tree, at the same relative path.
fn place_of(original: &Path, root: &Path, path: &Path) -> Option<PathBuf> {
    let ups = ups(original, path);
    let rest = path.strip_prefix(original.ancestors().nth(ups)?).ok()?;
    Some(root.ancestors().nth(ups)?.join(rest))
}

fn link(original: &Path, root: &Path, path: &Path) -> Result<()> {
    let Some(at) = place_of(original, root, path) else { return Ok(()) };
    let failed = || format!("{}: cannot be linked to {}", path.display(), at.display());
    if let Some(parent) = at.parent() {
        fs::create_dir_all(parent).with_context(failed)?;
    }
    match symlink(path, &at) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error).with_context(failed),
        _ => Ok(()),
    }
}

/// Returns the files and folders outside of the workspace that its sources and manifests name by a relative path:
/// `include_str!("../../shared/query.sql")`. A source that is included may need what is beside it.
fn read_outside(workspace: &Metadata, root: &Path) -> BTreeSet<PathBuf> {
    let packages: Vec<PathBuf> = workspace
        .workspace_packages()
        .iter()
        .filter_map(|package| Some(package.manifest_path.parent()?.as_std_path().to_owned()))
        .collect();
    let mut all = BTreeSet::new();
    let entries = WalkDir::new(root).into_iter();
    let is_wanted = |entry: &walkdir::DirEntry| {
        let is_hidden = entry.depth() > 0 && entry.file_name() == ".git";
        !is_hidden && !entry.path().join("CACHEDIR.TAG").exists()
    };
    for entry in entries.filter_entry(is_wanted).filter_map(Result::ok) {
        let path = entry.path();
        let is_read = path.extension().is_some_and(|extension| extension == "rs") || entry.file_name() == "Cargo.toml";
        if !entry.file_type().is_file() || !is_read {
            continue;
        }
        let Ok(text) = fs::read_to_string(path) else { continue };
        // `include_str!` begins at the file, `CARGO_MANIFEST_DIR` and the tests' current folder are the package's.
        let package =
            packages.iter().filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.as_os_str().len());
        for name in relative_names(&text) {
            for base in path.parent().into_iter().chain(package.map(PathBuf::as_path)) {
                let mut named = normal(&base.join(name));
                let is_source = named.extension().is_some_and(|extension| extension == "rs") && named.is_file();
                if let Some(folder) = named.parent().filter(|folder| is_source && !root.starts_with(folder)) {
                    named = folder.to_owned();
                }
                if !named.starts_with(root) && !root.starts_with(&named) && named.exists() {
                    all.insert(named);
                }
            }
        }
    }
    // Of a folder and a part of it the folder.
    let whole = all.clone();
    all.retain(|path| !path.ancestors().skip(1).any(|folder| whole.contains(folder)));
    all
}

/// Returns the paths in a text's literals that lead to a folder above, up to a part that is not fixed.
fn relative_names(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("\"../").chain(text.match_indices("\"/../"));
    starts.filter_map(|(at, _)| {
        let name = text[at + 1..].split(['"', '\n']).next()?.trim_start_matches('/');
        let fixed = name.find(['*', '{', '[', '?']).map_or(name, |end| &name[..name[..end].rfind('/').unwrap_or(0)]);
        (!fixed.is_empty()).then_some(fixed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_keep_the_time_of_the_earlier_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["from", "before"] {
            fs::create_dir(path(name)).unwrap();
            for file in ["same", "other"] {
                fs::write(path(name).join(file), file).unwrap();
            }
        }
        fs::write(path("before/other"), "OTHER").unwrap();
        fs::write(path("from/new"), "new").unwrap();
        let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        for file in ["before/same", "before/other"] {
            fs::File::options().write(true).open(path(file)).unwrap().set_modified(hour_ago).unwrap();
        }
        let mut copy = Copy { except: Vec::new(), bytes: 0, earlier: Some((path("to"), path("before"))) };
        copy.folder(&path("from"), &path("to")).unwrap();
        let is_old = |file: &str| fs::metadata(path("to").join(file)).unwrap().modified().unwrap() == hour_ago;
        assert!(is_old("same") && !is_old("other") && !is_old("new"));
    }

    #[test]
    fn names_of_files_above_are_found() {
        let text =
            "include_str!(\"../../q.sql\"); concat!(env!(\"D\"), \"/../data/{name}.txt\"); \"a/../b\"; \"../x/*.rs\"";
        assert_eq!(relative_names(text).collect::<Vec<_>>(), ["../../q.sql", "../x", "../data"]);
    }

    /// A link out of the work tree becomes a copy, which no edit changes; one inside of it stays a link.
    #[test]
    fn links_never_lead_to_the_users_files() {
        let folder = tempfile::tempdir().unwrap();
        let (original, root) = (folder.path().join("user"), folder.path().join("copy"));
        fs::create_dir_all(original.join("src")).unwrap();
        fs::write(original.join("src/a.rs"), "a").unwrap();
        fs::write(folder.path().join("other.rs"), "o").unwrap();
        for (to, at) in [
            (folder.path().join("other.rs"), "src/out.rs"),
            (original.join("src/a.rs"), "src/whole.rs"),
            ("a.rs".into(), "src/near.rs"),
        ] {
            symlink(to, original.join(at)).unwrap();
        }
        Copy { except: Vec::new(), bytes: 0, earlier: None }.all(&original, &root, &original, &root).unwrap();
        let mut tree = Tree {
            root,
            original: original.clone(),
            before: BTreeMap::new(),
            lock: None,
            crates: Vec::new(),
            packages: Vec::new(),
        };
        for file in ["src/whole.rs", "src/near.rs"] {
            tree.write(Path::new(file), file).unwrap();
            assert_eq!(tree.read(Path::new("src/a.rs")).as_deref(), Some(file));
        }
        assert!(
            tree.write(Path::new("src/out.rs"), "x").is_err() && tree.read(Path::new("../user/src/a.rs")).is_none()
        );
        assert_eq!(fs::read_to_string(original.join("src/a.rs")).unwrap(), "a");
        assert_eq!(fs::read_to_string(folder.path().join("other.rs")).unwrap(), "o");
    }
}

//! A dependency in the place of a member: a copy of the workspace, in which the source of a package of a registry is a member that
//! `[patch]` puts in the place of the published one. The user's files stay as they are.

use super::folder;
use super::tree::{self, Tree};
use crate::program::{self, BuildArgs};
use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The folder in the copy's root for the package's source.
const FOLDER: &str = "patched";

/// The name of crates.io in `[patch]`, and its address in the metadata.
const CRATES_IO: (&str, &str) = ("crates-io", "https://github.com/rust-lang/crates.io-index");

/// A copy of the workspace with the source of a dependency.
#[derive(Debug)]
pub(super) struct Patched {
    /// The name of the package, with its version.
    pub(super) package: String,
    /// The copy.
    root: PathBuf,
    /// The lines of a manifest that use the source in it.
    pub(super) lines: String,
    /// Another run waits, or it would take this copy away.
    _lock: fs::File,
}

impl Patched {
    /// Makes the copy. `name` may have a version: `NAME@1.2.0`. Returns the flags of a build in it; `None`: cargo said why not.
    ///
    /// # Errors
    /// Returns an error if there is no such dependency, or if it is not from a registry.
    pub(super) fn new(name: &str, build: &BuildArgs) -> Result<Option<(Self, BuildArgs)>> {
        let Some(workspace) = program::with_dependencies(build)? else { return Ok(None) };
        let package = find(&workspace, name)?;
        let source = package.source.as_ref().map(|source| source.repr.as_str()).unwrap_or_default();
        let registry = source.strip_prefix("registry+").or(Some(source).filter(|source| source.starts_with("sparse+")));
        let Some(registry) = registry else {
            let from = package.manifest_path.parent().unwrap_or(&package.manifest_path);
            bail!("--patched: {} is not from a registry, but at {from}: run this command there", package.name);
        };
        let registry = if registry == CRATES_IO.1 { CRATES_IO.0 } else { registry };
        let (all, lock) = folder::locked(&workspace, "dwell/patched")?;
        let folder = all.join(format!("{}-{}", package.name, package.version));
        let kept = Kept::take(&folder)?;
        let tree = Tree::copy(&workspace, &folder.join("copy"))?;
        kept.give_back(&tree.root)?;
        let own = Path::new(FOLDER).join(format!("{}-{}", package.name, package.version));
        copy_package(package, &tree.root.join(&own))?;
        let path = tree.root.join("Cargo.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        let text = with_member(&text, registry, &package.name, &own);
        fs::write(&path, text).with_context(|| format!("{}: cannot be written", path.display()))?;
        let manifest_path = Some(folder::manifest(build, &workspace, &tree));
        let lines = format!("[patch.{}]\n{}", quoted(registry), line(&package.name, &tree.root.join(own)));
        let package = format!("{} {}", package.name, package.version);
        Ok(Some((Self { package, root: tree.root, lines, _lock: lock }, BuildArgs { manifest_path, ..build.clone() })))
    }
}

impl Patched {
    /// Says what to do with patches of the copy.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(super) fn print(&self, patch: &Path, out: &mut dyn Write) -> io::Result<()> {
        let (package, root) = (&self.package, self.root.display());
        writeln!(
            out,
            "\nthe patches change {package}: propose them to its author. `cat {}/*.patch | patch -p1 -d {root}` makes them in a copy of its source, \
             which these lines of Cargo.toml use:\n{}",
            patch.parent().unwrap_or(patch).display(),
            self.lines
        )
    }
}

/// Returns the dependency with this name.
fn find<'w>(workspace: &'w Metadata, name: &str) -> Result<&'w Package> {
    let (krate, version) = name.split_once('@').map_or((name, None), |(krate, version)| (krate, Some(version)));
    let is_named = |package: &&Package| {
        *package.name == *krate && version.is_none_or(|version| package.version.to_string() == version)
    };
    let all: Vec<&Package> = workspace.packages.iter().filter(is_named).collect();
    match all[..] {
        [package] if workspace.workspace_members.contains(&package.id) => {
            bail!("--patched: {name} is a member of this workspace, whose source is changed without it")
        }
        [package] => Ok(package),
        [] => bail!("--patched: this workspace has no dependency {name}; `cargo tree` lists them"),
        _ => {
            let versions: Vec<String> = all.iter().map(|package| format!("{krate}@{}", package.version)).collect();
            bail!("--patched: there are several: {}", versions.join(", "))
        }
    }
}

/// What cargo built in an earlier copy: the copy is made anew, and what its dependencies became is not.
struct Kept(Option<PathBuf>);

impl Kept {
    /// Moves the target folder out of a copy.
    fn take(folder: &Path) -> Result<Self> {
        let aside = folder.join("target");
        let copy = walkdir::WalkDir::new(folder.join("copy")).max_depth(12).into_iter();
        let is_target = |entry: &walkdir::DirEntry| entry.path().join("CACHEDIR.TAG").exists();
        let target = copy.filter_map(Result::ok).find(is_target).map(walkdir::DirEntry::into_path);
        if let Some(target) = target {
            let failed = || format!("{}: cannot be moved", target.display());
            if aside.exists() {
                fs::remove_dir_all(&aside).with_context(failed)?;
            }
            fs::rename(&target, &aside).with_context(failed)?;
        }
        Ok(Self(Some(aside).filter(|aside| aside.exists())))
    }

    fn give_back(self, root: &Path) -> Result<()> {
        let Some(aside) = self.0 else { return Ok(()) };
        let target = root.join("target");
        let failed = || format!("{}: cannot be moved to {}", aside.display(), target.display());
        // The sources may have a folder of this name: then all is built anew.
        if target.exists() { fs::remove_dir_all(&aside) } else { fs::rename(&aside, &target) }.with_context(failed)
    }
}

/// Copies a package without what only its own tests need, which may not be in the registry's archive.
fn copy_package(package: &Package, to: &Path) -> Result<()> {
    let from = package.manifest_path.parent().context("a manifest is in a folder")?.as_std_path();
    tree::copy_folder(from, to)?;
    let path = to.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let mut manifest: Table = text.parse().with_context(|| format!("{}: is no manifest", path.display()))?;
    without_tests(&mut manifest);
    fs::write(&path, manifest.to_string()).with_context(|| format!("{}: cannot be written", path.display()))
}

/// Removes the targets of a manifest that are no library, and what they need.
fn without_tests(manifest: &mut Table) {
    const TARGETS: [&str; 4] = ["bin", "example", "test", "bench"];
    for name in TARGETS.iter().chain(&["dev-dependencies", "dev_dependencies", "workspace", "patch"]) {
        manifest.remove(*name);
    }
    let targets = manifest.get_mut("target").and_then(Value::as_table_mut);
    for target in targets.into_iter().flat_map(|all| all.iter_mut()).filter_map(|(_, value)| value.as_table_mut()) {
        target.remove("dev-dependencies");
        target.remove("dev_dependencies");
    }
    let off = |table: &mut Table, names: &[&str]| {
        for name in names {
            table.insert((*name).to_owned(), Value::Boolean(false));
        }
    };
    if let Some(package) = manifest.get_mut("package").and_then(Value::as_table_mut) {
        off(package, &["autobins", "autoexamples", "autotests", "autobenches"]);
    }
    let library = manifest.entry("lib").or_insert_with(|| Value::Table(Table::new()));
    if let Some(library) = library.as_table_mut() {
        off(library, &["test", "doctest", "bench"]);
    }
}

/// Returns the text of the workspace's manifest with the package as a member, in the place of the published one. It stays as it is
/// otherwise, as the changes of it are the user's.
fn with_member(text: &str, registry: &str, name: &str, folder: &Path) -> String {
    let member = format!("{:?}", folder.display().to_string());
    let has_members = text
        .parse::<Table>()
        .is_ok_and(|table| table.get("workspace").is_some_and(|workspace| workspace.get("members").is_some()));
    let text = if has_members {
        // The first list of this name is that of the workspace in a root's manifest.
        let at = text.find("\nmembers").map_or(0, |at| at + 1);
        let start = text[at..].find('[').map_or(text.len(), |start| at + start + 1);
        format!("{}{member}, {}", &text[..start], &text[start..])
    } else {
        inserted(text, "[workspace]", &format!("members = [{member}]"))
    };
    inserted(&text, &format!("[patch.{}]", quoted(registry)), &line(name, folder))
}

/// Returns a text with a line after a header, which is added if it is not there.
fn inserted(text: &str, header: &str, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    match lines.iter().position(|line| line.trim() == header) {
        Some(at) => lines.insert(at + 1, line),
        None => lines.extend(["", header, line]),
    }
    lines.join("\n") + "\n"
}

fn line(name: &str, folder: &Path) -> String {
    format!("{name} = {{ path = {:?} }}", folder.display().to_string())
}

fn quoted(registry: &str) -> String {
    if registry == CRATES_IO.0 { registry.to_owned() } else { format!("{registry:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_becomes_a_member() {
        let with = |text: &str| with_member(text, CRATES_IO.0, "a", Path::new("patched/a-1.0.0"));
        let members = |text: &str| {
            let table: Table = text.parse().unwrap();
            let path = table["patch"]["crates-io"]["a"]["path"].as_str().unwrap().to_owned();
            assert_eq!(path, "patched/a-1.0.0");
            table["workspace"]["members"].as_array().unwrap().len()
        };
        assert_eq!(members(&with("[package]\nname = \"b\"\n")), 1);
        assert_eq!(members(&with("[workspace]\nresolver = \"2\"\n\n[package]\nname = \"b\"\n")), 1);
        let whole = "[package]\nname = \"b\"\n[workspace]\nmembers = [\n    \"c\",\n]\n[patch.crates-io]\nd = { path = \"d\" }\n";
        assert_eq!(members(&with(whole)), 2);
        assert_eq!(members(&with("[workspace]\nmembers = []\n")), 1);
    }

    #[test]
    fn what_only_tests_need_is_left_out() {
        let text = "[package]\nname = \"a\"\n[[test]]\nname = \"t\"\n[dev-dependencies]\nx = \"1\"\n\
                    [target.'cfg(unix)'.dev-dependencies]\ny = \"1\"\n[dependencies]\nz = \"1\"\n";
        let mut manifest: Table = text.parse().unwrap();
        without_tests(&mut manifest);
        let text = manifest.to_string();
        assert!(
            !text.contains("dev-dependencies]\nx") && !text.contains("y = ") && !text.contains("[[test]]"),
            "{text}"
        );
        assert!(text.contains("z = \"1\"") && text.contains("doctest = false"), "{text}");
    }
}

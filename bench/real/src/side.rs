//! The two sides of a program on disk: the copied packages, edited or not, and the driver that uses them.
//!
//! ```text
//! target/real/lru/source/Cargo.toml            depends on the exact version
//! target/real/lru/before/Cargo.toml            the driver: a library and three binaries
//! target/real/lru/before/src/program.rs        its workloads
//! target/real/lru/before/lru/                  the package as published
//! target/real/lru/after/                       the same, edited
//! target/real/build/                           cargo's output, for all programs
//! ```

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cargo;
use crate::edit;
use crate::program::{Input, Package, Program, text};

/// Files by their paths in a folder.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The binaries of a driver, each with another global allocator.
const BINARIES: [(&str, &str); 3] = [
    ("glibc", "std::alloc::System = std::alloc::System"),
    ("mimalloc", "mimalloc::MiMalloc = mimalloc::MiMalloc"),
    ("count", "driver::shell::Counting = driver::shell::Counting"),
];

/// The folders that the command works in.
pub(crate) struct Folders {
    /// The root of this repository.
    pub(crate) dwell: PathBuf,
    /// `target/real`.
    pub(crate) work: PathBuf,
}

impl Folders {
    /// Returns the folders of the clone that this program was built from.
    pub(crate) fn of_this_clone() -> Result<Self> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let dwell =
            package.join("../..").canonicalize().context("the clone that this program was built from is gone")?;
        Ok(Self { work: dwell.join("target/real"), dwell })
    }

    /// Returns cargo's target folder. All programs share it, so that a dependency is built once.
    pub(crate) fn target(&self) -> PathBuf {
        self.work.join("build")
    }
}

/// A program that is ready to be built.
pub(crate) struct Prepared {
    pub(crate) before: Side,
    pub(crate) after: Side,
    /// The number of changed lines in the packages and in the driver.
    pub(crate) lines: usize,
}

/// One side of a program.
pub(crate) struct Side {
    pub(crate) folder: PathBuf,
    /// The name of the driver.
    pub(crate) package: String,
}

impl Side {
    /// Returns the path of a binary of the driver.
    pub(crate) fn binary(&self, target: &Path, allocator: &str) -> PathBuf {
        target.join("release").join(format!("{}-{allocator}{}", self.package, std::env::consts::EXE_SUFFIX))
    }
}

/// Gets the sources of `program` and writes both sides.
///
/// # Errors
///
/// If a package cannot be downloaded, or an edit cannot be applied.
pub(crate) fn prepare(program: &Program, folders: &Folders) -> Result<Prepared> {
    let work = folders.work.join(program.name);
    let published = take(program, &work, &folders.target())?;
    let input = program.input.as_ref().map(|input| find_input(input, &work, &folders.target())).transpose()?;
    let dwell = folders.dwell.to_str().context("the path of this clone is not UTF-8")?;
    let mut edited = published.clone();
    for (package, files) in program.packages.iter().zip(&mut edited) {
        let edits = text(package.edits)
            .and_then(|script| edit::parse(&script))
            .and_then(|edits| edit::apply(&edits, files, dwell));
        edits.with_context(|| format!("the edit script of {} {}", package.name, package.version))?;
    }
    let driver = text(program.driver)?.replace("{input}", input.as_deref().unwrap_or_default());
    let driver_before = Files::from([("program.rs".to_owned(), driver.into_bytes())]);
    let mut driver_after = driver_before.clone();
    edit::apply(&edit::parse(&text(program.driver_after)?)?, &mut driver_after, dwell)
        .context("the edit script of the driver")?;
    let mut lines = edit::lines_changed(&driver_before, &driver_after) + program.more_after.lines().count();
    lines += published.iter().zip(&edited).map(|(old, new)| edit::lines_changed(old, new)).sum::<usize>();

    let before = write(program, &work, "before", "", &published, &driver_before["program.rs"])?;
    let lock = before.folder.join("Cargo.lock");
    if !lock.exists() {
        cargo::lock(&before.folder, &folders.target())?;
    }
    let more = program.more_after.replace("{dwell}", dwell);
    let after = write(program, &work, "after", &more, &edited, &driver_after["program.rs"])?;
    if !after.folder.join("Cargo.lock").exists() {
        // Both sides use the same versions of their common dependencies.
        fs::copy(&lock, after.folder.join("Cargo.lock"))?;
    }
    Ok(Prepared { before, after, lines })
}

/// Returns the files of packages as published, from cargo's copy of the registry. Writes a manifest to `folder`.
pub(crate) fn published(packages: &[(&str, &str, &[&str])], folder: &Path, target: &Path) -> Result<Vec<Files>> {
    registry(packages, folder, target)?.iter().map(|folder| read(folder)).collect()
}

/// Returns the files of each package of the program as published.
fn take(program: &Program, work: &Path, target: &Path) -> Result<Vec<Files>> {
    let packages: Vec<(&str, &str, &[&str])> =
        program.packages.iter().map(|package| (package.name, package.version, &[][..])).collect();
    published(&packages, &work.join("source"), target)
}

/// Returns the path of the file that a driver reads.
fn find_input(input: &Input, work: &Path, target: &Path) -> Result<String> {
    let folder = work.join("input");
    let path = match *input {
        Input::Shipped { package, version, path } => {
            let folders = registry(&[(package, version, &[])], &folder, target)?;
            let file = folders[0].join(path);
            ensure!(file.is_file(), "{package} {version} ships no {path}");
            file
        }
        Input::RustdocJson { package, version, features, format } => {
            let file = target.join("doc").join(package).with_extension("json");
            if !file.is_file() {
                registry(&[(package, version, features)], &folder, target)?;
                cargo::rustdoc_json(&folder, target, &format!("{package}@{version}"))?;
            }
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            ensure!(
                text.contains(&format!("\"format_version\":{format}}}")),
                "{} is not of rustdoc's format {format}, which Rust 1.95 writes; remove the file and use that compiler",
                file.display()
            );
            file
        }
    };
    path.into_os_string().into_string().ok().context("a path of the input is not UTF-8")
}

/// Returns the folders of packages, at exact versions and with features, in cargo's copy of the registry. Writes a
/// manifest with these dependencies to `folder`.
fn registry(packages: &[(&str, &str, &[&str])], folder: &Path, target: &Path) -> Result<Vec<PathBuf>> {
    let asked: Vec<String> = packages
        .iter()
        .map(|(name, version, features)| format!("{name} = {{ version = \"={version}\", features = {features:?} }}\n"))
        .collect();
    let asked = asked.concat();
    let manifest = format!(
        "[workspace]\n[package]\nname = \"source\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\
         [lib]\npath = \"lib.rs\"\n[dependencies]\n{asked}"
    );
    fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
    put(&folder.join("Cargo.toml"), manifest.as_bytes())?;
    put(&folder.join("lib.rs"), b"")?;
    let sources = cargo::sources(folder, target)?;
    let folders = packages.iter().map(|(name, version, _)| {
        let found = sources.iter().find(|(found, at, _)| found == name && at == version);
        let (_, _, folder) = found.with_context(|| format!("cargo found no {name} {version}"))?;
        Ok(folder.clone())
    });
    folders.collect()
}

/// Returns all files in a folder that a build may need.
pub(crate) fn read(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current).with_context(|| format!("cannot read {}", current.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder)?.to_str().context("a file name is not UTF-8")?.replace('\\', "/");
            if !matches!(name.as_str(), "Cargo.lock" | "Cargo.toml.orig" | ".cargo-ok" | ".cargo_vcs_info.json") {
                files.insert(name, fs::read(path)?);
            }
        }
    }
    Ok(files)
}

/// Writes one side: the package of the driver, with the copied packages in it.
fn write(program: &Program, work: &Path, side: &str, more: &str, packages: &[Files], driver: &[u8]) -> Result<Side> {
    let folder = work.join(side);
    let package = format!("{}-{side}", program.name);
    let tested = program.packages.iter().filter(|package| package.tests.is_some());
    let members: Vec<String> = tested.map(|package| format!("\"{}\", ", package.name)).collect();
    let binary = |(allocator, _): &(&str, &str)| {
        format!("[[bin]]\nname = \"{package}-{allocator}\"\npath = \"src/{allocator}.rs\"\n")
    };
    let binaries: Vec<String> = BINARIES.iter().map(binary).collect();
    let patch = |package: &Package| format!("{0} = {{ path = \"{0}\" }}\n", package.name);
    let patches: Vec<String> = program.packages.iter().map(patch).collect();
    // One codegen unit: the split of a crate decides what is inlined, and would differ at random between the sides.
    let manifest = format!(
        "[workspace]\nresolver = \"2\"\nmembers = [{}]\n\
         [package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\
         [lib]\nname = \"driver\"\n{}\
         [dependencies]\nmimalloc = {{ version = \"0.1.52\", default-features = false }}\n{}\n{more}\n\
         [patch.crates-io]\n{}\
         [profile.release]\ncodegen-units = 1\ndebug = \"line-tables-only\"\n",
        members.concat(),
        binaries.concat(),
        program.dependencies,
        patches.concat(),
    );

    let source = folder.join("src");
    fs::create_dir_all(&source).with_context(|| format!("cannot write {}", source.display()))?;
    put(&folder.join("Cargo.toml"), manifest.as_bytes())?;
    put(&source.join("lib.rs"), b"pub mod program;\npub mod shell;\n")?;
    put(&source.join("shell.rs"), include_bytes!("../driver/shell.rs"))?;
    put(&source.join("program.rs"), driver)?;
    for (allocator, global) in BINARIES {
        let text =
            format!("#[global_allocator]\nstatic GLOBAL: {global};\n\nfn main() {{\n    driver::shell::main();\n}}\n");
        put(&source.join(format!("{allocator}.rs")), text.as_bytes())?;
    }
    for (package, files) in program.packages.iter().zip(packages) {
        put_all(&folder.join(package.name), files)?;
    }
    Ok(Side { folder, package })
}

/// Writes files to a folder.
pub(crate) fn put_all(folder: &Path, files: &Files) -> Result<()> {
    files.iter().try_for_each(|(name, bytes)| put(&folder.join(name), bytes))
}

/// Writes a file unless it has these bytes already, because cargo rebuilds after a new modification time.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    match fs::read(path) {
        Ok(old) if old == bytes => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => bail!("cannot read {}: {error}", path.display()),
        _ => {}
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs;

    #[test]
    fn edit_scripts_parse_and_names_are_unique() {
        let mut names = Vec::new();
        for program in programs::ALL {
            assert!(!program.packages.is_empty() && !program.workloads.is_empty(), "{}", program.name);
            assert!(!names.contains(&program.name), "{}", program.name);
            names.push(program.name);
            for package in program.packages {
                edit::parse(&text(package.edits).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", package.name));
            }
            let code = text(program.driver).unwrap();
            let mut driver = Files::from([("program.rs".to_owned(), code.clone().into_bytes())]);
            edit::apply(&edit::parse(&text(program.driver_after).unwrap()).unwrap(), &mut driver, "").unwrap();
            for workload in program.workloads {
                assert!(code.contains(&format!("\"{workload}\"")), "{}: {workload}", program.name);
            }
        }
    }

    #[test]
    fn side_is_a_separate_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let program = &programs::ALL[0];
        let files = vec![Files::from([("src/lib.rs".to_owned(), b"// foreign".to_vec())]); program.packages.len()];
        let side = write(program, folder.path(), "before", "", &files, b"// ours").unwrap();
        let manifest = fs::read_to_string(side.folder.join("Cargo.toml")).unwrap();
        assert!(manifest.starts_with("[workspace]\n"), "{manifest}");
        assert!(manifest.contains(&format!("name = \"{}-before-mimalloc\"", program.name)), "{manifest}");
        assert_eq!(fs::read(side.folder.join(program.main().name).join("src/lib.rs")).unwrap(), b"// foreign");
    }

    #[test]
    fn unchanged_file_keeps_its_modification_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        put(&path, b"1").unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        put(&path, b"1").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
        put(&path, b"2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
    }
}

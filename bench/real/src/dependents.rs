//! Tests published crates that depend on bumpalo or slab, once as published and once with `[patch.crates-io]` entries
//! that replace the originals by Dwell's drop-ins.
//!
//! ```text
//! target/real/dependents/starlark-0.13.0/source/Cargo.toml           depends on the exact version
//! target/real/dependents/starlark-0.13.0/before/Cargo.toml           a workspace of the crate
//! target/real/dependents/starlark-0.13.0/before/starlark/            the crate as published
//! target/real/dependents/starlark-0.13.0/after/Cargo.toml            the same, with `[patch.crates-io]`
//! target/real/dependents/starlark-0.13.0/after/bumpalo/              the drop-in under the original's name
//! ```

mod list;
mod report;

use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cargo::{self, Limits, Outcome};
use crate::edit;
use crate::program::{Package, text};
use crate::side::{self, Folders};
use crate::{Args, Options};

/// A crate that a drop-in replaces.
pub(crate) struct Original {
    pub(crate) name: &'static str,
    /// The package in `crates/` that replaces it.
    pub(crate) drop_in: &'static str,
}

/// A published crate that depends on originals.
pub(crate) struct Dependent {
    pub(crate) package: Package,
    pub(crate) originals: &'static [&'static Original],
    /// Which tests are run, in a few words.
    pub(crate) part: &'static str,
    /// `None` if the tests give the same results with the drop-ins.
    pub(crate) differs: Option<Differs>,
}

/// A known difference.
pub(crate) struct Differs {
    /// The tests that fail only with the drop-ins; empty if the crate does not build with them.
    pub(crate) tests: &'static [&'static str],
    /// Why, in one sentence.
    pub(crate) reason: &'static str,
}

/// The tests of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    Built(Outcome),
    /// The crate does not resolve or compile: the errors.
    NotBuilt(String),
}

/// The results of one crate. Without `--check` both sides have run.
pub(crate) struct Tested {
    pub(crate) dependent: &'static Dependent,
    pub(crate) before: Ran,
    pub(crate) after: Ran,
    pub(crate) seconds: u64,
}

const LIMITS: Limits = Limits { seconds: 900, memory: 16 << 20 };

/// Tests the crates that `args` names. Progress goes to standard error, results to standard output.
///
/// Returns the number of crates that could not be tested, or whose results differ without a reason in the list.
pub(crate) fn run(args: &Args, options: Options) -> Result<usize> {
    let dependents = chosen(&args.names)?;
    let mut out = io::stdout();
    if args.list {
        for dependent in dependents {
            let originals: Vec<&str> = dependent.originals.iter().map(|original| original.name).collect();
            let Package { name, version, .. } = dependent.package;
            writeln!(out, "{name:<28} {version:<10} {:<14} {}", originals.join(", "), dependent.part)?;
        }
        return Ok(0);
    }
    let folders = Folders::of_this_clone()?;
    let (mut tested, mut failed) = (Vec::new(), 0);
    for dependent in dependents {
        let result = one(dependent, &folders, args.check).and_then(|result| {
            if options.json && !args.check {
                write!(out, "{}", report::json(&result))?;
            }
            let verdict = if args.check { report::builds(&result) } else { report::verdict(&result) };
            tested.push(result);
            verdict
        });
        if let Err(error) = result {
            eprintln!("error: {} {}: {error:#}", dependent.package.name, dependent.package.version);
            failed += 1;
        }
    }
    if !options.json && !args.check && !tested.is_empty() {
        write!(out, "{}", report::markdown(&tested))?;
    }
    Ok(failed)
}

/// Returns the crates with these names, or all if there are no names.
fn chosen(names: &[String]) -> Result<Vec<&'static Dependent>> {
    for name in names {
        if !list::ALL.iter().any(|dependent| dependent.package.name == name) {
            let known: Vec<&str> = list::ALL.iter().map(|dependent| dependent.package.name).collect();
            bail!("no dependent is called `{name}`; there are: {}", known.join(", "));
        }
    }
    let asked = |dependent: &&Dependent| names.is_empty() || names.iter().any(|name| name == dependent.package.name);
    Ok(list::ALL.iter().filter(asked).collect())
}

/// Prepares, builds and tests one crate on both sides.
fn one(dependent: &'static Dependent, folders: &Folders, check: bool) -> Result<Tested> {
    let start = Instant::now();
    let target = folders.target();
    let package = &dependent.package;
    let say = |what: &str| eprintln!("{} {}: {what}", package.name, package.version);
    say("getting the source");
    let work = folders.work.join("dependents").join(format!("{}-{}", package.name, package.version));
    let before = write_before(package, &work, folders)?;
    say("testing with the original");
    let old = test(package, &before, &target, check)?;
    if let Ran::NotBuilt(errors) = &old {
        bail!("the published crate does not build\n{errors}");
    }
    say("testing with the drop-in");
    let new = match write_after(dependent, &work, &before, folders) {
        Ok(after) => test(package, &after, &target, check)?,
        Err(error) => Ran::NotBuilt(format!("{error:#}")),
    };
    Ok(Tested { dependent, before: old, after: new, seconds: start.elapsed().as_secs() })
}

/// Builds the tests of a side, and runs them unless `check`.
fn test(package: &Package, folder: &Path, target: &Path, check: bool) -> Result<Ran> {
    let arguments = package.tests.unwrap_or_default();
    // `--no-run` refuses what follows `--`.
    let of_cargo = arguments.split(|argument| *argument == "--").next().unwrap_or_default();
    // Tests may depend on another version of the crate.
    let name = format!("{}@{}", package.name, package.version);
    if let Err(error) = cargo::build_tests(folder, target, &name, of_cargo) {
        return Ok(Ran::NotBuilt(format!("{error:#}")));
    }
    if check {
        return Ok(Ran::Built(Outcome::default()));
    }
    cargo::test(folder, target, &name, arguments, Some(LIMITS)).map(Ran::Built)
}

/// Writes a workspace of the published crate, and its lock file.
fn write_before(package: &Package, work: &Path, folders: &Folders) -> Result<PathBuf> {
    let folder = work.join("before");
    let of_registry = [(package.name, package.version, &[][..])];
    let mut files = side::published(&of_registry, &work.join("source"), &folders.target())?.remove(0);
    edit::apply(&edit::parse(&text(package.edits)?)?, &mut files, "")
        .with_context(|| format!("the edit script of {} {}", package.name, package.version))?;
    side::put_all(&folder.join(package.name), &files)?;
    side::put(&folder.join("Cargo.toml"), workspace(package, &[]).as_bytes())?;
    if !folder.join("Cargo.lock").exists() {
        cargo::lock(&folder, &folders.target())?;
    }
    Ok(folder)
}

/// Writes the workspace of `before` again, with the drop-ins in place of the originals.
///
/// # Errors
///
/// If cargo does not find a solution, or if the original is still part of it.
fn write_after(dependent: &Dependent, work: &Path, before: &Path, folders: &Folders) -> Result<PathBuf> {
    let folder = work.join("after");
    let (package, target) = (&dependent.package, folders.target());
    let files = side::read(&before.join(package.name))?;
    side::put_all(&folder.join(package.name), &files)?;
    side::put(&folder.join("Cargo.toml"), workspace(package, dependent.originals).as_bytes())?;
    // Both sides use the same versions of their common dependencies.
    fs::copy(before.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let resolved = cargo::sources(before, &target)?;
    for original in dependent.originals {
        let versions: Vec<&String> =
            resolved.iter().filter(|(name, ..)| name == original.name).map(|(_, version, _)| version).collect();
        let [version] = versions[..] else {
            bail!("the crate uses {} versions of {} instead of one", versions.len(), original.name)
        };
        write_patch(original, version, &folder, folders)?;
    }
    let resolved = cargo::sources(&folder, &target)?;
    for original in dependent.originals {
        let ours = folder.join(original.name);
        let found = resolved.iter().filter(|(name, ..)| name == original.name);
        let replaced = found.clone().count() == 1 && found.clone().all(|(_, _, path)| *path == ours);
        ensure!(replaced, "cargo does not replace {}", original.name);
    }
    Ok(folder)
}

/// Returns the manifest of a side. Tests may depend on the tested crate through other crates, so it is patched too.
fn workspace(package: &Package, originals: &[&Original]) -> String {
    let names = std::iter::once(package.name).chain(originals.iter().map(|original| original.name));
    let patches: Vec<String> = names.map(|name| format!("{name} = {{ path = \"{name}\" }}\n")).collect();
    format!(
        "[workspace]\nresolver = \"2\"\nmembers = [\"{}\"]\n\n[patch.crates-io]\n{}\n[profile.dev]\ndebug = 0\n",
        package.name,
        patches.concat()
    )
}

/// Writes a package with the name and version of `original` that consists of the drop-in. Its features are those of
/// the drop-in: one that the drop-in lacks is missing here too.
fn write_patch(original: &Original, version: &str, folder: &Path, folders: &Folders) -> Result<()> {
    let drop_in = folders.dwell.join("crates").join(original.drop_in);
    let features = cargo::features(&drop_in, &folders.target(), original.drop_in)?;
    let path = drop_in.to_str().context("the path of this clone is not UTF-8")?;
    let manifest = patch(original, version, path, &features);
    side::put(&folder.join(original.name).join("Cargo.toml"), manifest.as_bytes())?;
    let library = format!("#![no_std]\npub use {}::*;\n", original.drop_in.replace('-', "_"));
    side::put(&folder.join(original.name).join("lib.rs"), library.as_bytes())
}

/// Returns the manifest of the package that replaces `original`.
fn patch(original: &Original, version: &str, path: &str, features: &[String]) -> String {
    let Original { name, drop_in } = original;
    let features: Vec<String> = features.iter().map(|name| format!("{name} = [\"{drop_in}/{name}\"]\n")).collect();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\npublish = false\n\n\
         [lib]\npath = \"lib.rs\"\n\n[features]\n{}\n\
         [dependencies]\n{drop_in} = {{ path = {path:?}, default-features = false }}\n",
        features.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_dependent_error_lists_the_names() {
        let message = chosen(&["lost".to_owned()]).err().unwrap().to_string();
        assert!(message.starts_with("no dependent is called `lost`; there are: "), "{message}");
        assert_eq!(message.lines().count(), 1);
        assert_eq!(chosen(&[]).unwrap().len(), list::ALL.len());
    }

    #[test]
    fn patch_has_the_name_of_the_original_and_the_features_of_the_drop_in() {
        let text = patch(&list::SLAB, "0.4.12", "/dwell/crates/dwell-slab", &["default".to_owned(), "std".to_owned()]);
        assert!(text.starts_with("[package]\nname = \"slab\"\nversion = \"0.4.12\"\n"), "{text}");
        assert!(
            text.contains("[features]\ndefault = [\"dwell-slab/default\"]\nstd = [\"dwell-slab/std\"]\n"),
            "{text}"
        );
        assert!(text.ends_with("dwell-slab = { path = \"/dwell/crates/dwell-slab\", default-features = false }\n"));
    }

    #[test]
    fn only_the_second_side_replaces_the_originals() {
        let package = &list::ALL[0].package;
        assert!(!workspace(package, &[]).contains("slab"));
        assert!(workspace(package, &[&list::SLAB]).contains("slab = { path = \"slab\" }\n"));
    }

    #[test]
    fn entries_are_unique_and_say_what_is_run() {
        let mut keys = Vec::new();
        for dependent in list::ALL {
            let Package { name, version, edits, tests } = dependent.package;
            assert!(!keys.contains(&(name, version)), "{name} {version}");
            keys.push((name, version));
            assert!(tests.is_some() && !dependent.part.is_empty() && !dependent.originals.is_empty(), "{name}");
            edit::parse(&text(edits).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Some(differs) = &dependent.differs {
                assert!(differs.reason.ends_with('.'), "{name}: the reason is a sentence");
            }
        }
        assert!(keys.len() >= 12);
    }
}

//! Adds the library `dwell` to a package whose types use it.

use super::args::Apply;
use super::package::package_of;
use super::tree::Tree;
use crate::program::BuildArgs;
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use std::path::Path;
use std::process::Command;

/// The maximum number of packages that are updated in the lock file.
const UPDATES: usize = 4;

/// Adds the library to the package of a file, if the new type is one of its own. A package that has it gets the features.
///
/// # Errors
/// Returns an error if cargo cannot add it, with cargo's reason.
pub(super) fn add(tree: &mut Tree, workspace: &Metadata, args: &Apply, file: &Path, features: &[&str]) -> Result<()> {
    if features.is_empty() {
        return Ok(());
    }
    let Some(package) = package_of(workspace, file) else { return Ok(()) };
    let Ok(manifest) = package.manifest_path.strip_prefix(&workspace.workspace_root) else { return Ok(()) };
    let mut features = features.join(",");
    if package.dependencies.iter().any(|dependency| dependency.name == "serde") {
        features.push_str(",serde");
    }
    tree.track(manifest.as_std_path())?;
    tree.track(Path::new("Cargo.lock"))?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["add", "--quiet", "--no-default-features", "--features", &features, "--manifest-path"]);
    command.arg(tree.root.join(manifest)).current_dir(&tree.root);
    let folder = args.dwell.as_deref().map(folder).transpose()?;
    match &folder {
        Some(path) => command.arg("dwell").arg("--path").arg(path),
        None => command.arg(concat!("dwell@", env!("CARGO_PKG_VERSION"))),
    };
    if args.build.offline || args.build.frozen {
        command.arg("--offline");
    }
    let mut error = run(&mut command)?;
    for _ in 0..UPDATES {
        // The lock file may have an older version of what the library needs too, such as `syn`.
        let Some(name) = error.as_deref().and_then(locked) else { break };
        let mut update = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        update.args(["update", "--quiet", name]).current_dir(&tree.root);
        if args.build.offline || args.build.frozen {
            update.arg("--offline");
        }
        if run(&mut update)?.is_some() {
            break;
        }
        error = run(&mut command)?;
    }
    if let Some(line) = error {
        bail!("the library dwell cannot be added to {manifest}: {line}; --dwell PATH names a folder with it");
    }
    if let (Some(path), Some(text)) = (folder, tree.read(manifest.as_std_path())) {
        tree.write(manifest.as_std_path(), &with_path(&text, &path))?;
    }
    Ok(())
}

/// Adds a crate of crates.io to a package, at first one that was downloaded before.
///
/// # Errors
/// Returns an error if cargo cannot add it, with cargo's reason.
pub(super) fn add_crate(tree: &Tree, manifest: &Path, words: &[&str], build: &BuildArgs) -> Result<()> {
    let cargo = |step: &str, offline: bool| {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args([step, "--quiet", "--manifest-path"]).arg(tree.root.join(manifest)).current_dir(&tree.root);
        if offline {
            command.arg("--offline");
        }
        command
    };
    let texts = [manifest, Path::new("Cargo.lock")].map(|file| tree.root.join(file));
    let before = texts.clone().map(|path| std::fs::read(path).ok());
    let mut error = None;
    for offline in if build.offline || build.frozen { &[true][..] } else { &[true, false] } {
        error = run(cargo("add", *offline).args(words))?;
        if error.is_none() {
            error = run(&mut cargo("fetch", *offline))?;
        }
        if error.is_none() {
            return Ok(());
        }
        for (path, text) in texts.iter().zip(&before) {
            if let Some(text) = text {
                std::fs::write(path, text).with_context(|| format!("{}: cannot be written", path.display()))?;
            }
        }
    }
    bail!("{} cannot be added to {}: {}", words[0], manifest.display(), error.unwrap_or_default())
}

/// Runs a command of cargo. Returns its error, if there is one.
fn run(command: &mut Command) -> Result<Option<String>> {
    let output = command.output().context("cargo cannot be run; is it on the PATH?")?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("it printed nothing");
    Ok(Some(line.to_owned()))
}

/// Returns the package of which the lock file has a version that does not fit.
fn locked(error: &str) -> Option<&str> {
    error.strip_prefix("failed to select a version for `")?.strip_suffix("`.")
}

/// Returns the absolute path of a folder, as TOML can state it.
fn folder(path: &Path) -> Result<String> {
    let path = path.canonicalize().with_context(|| format!("{}: there is no such folder", path.display()))?;
    match path.to_str() {
        Some(text) if !text.contains(['"', '\\']) && !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => bail!("{}: a path with these characters cannot stand in Cargo.toml", path.display()),
    }
}

/// Returns a manifest in which the library has an absolute path: cargo writes one that is relative to the copy.
fn with_path(manifest: &str, path: &str) -> String {
    let with = |line: &str| {
        let start = line.find("path = \"")? + "path = \"".len();
        let end = start + line[start..].find('"')?;
        line.starts_with("dwell = {").then(|| format!("{}{path}{}", &line[..start], &line[end..]))
    };
    manifest.split_inclusive('\n').map(|line| with(line).unwrap_or_else(|| line.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_the_library_is_absolute() {
        let before = "[dependencies]\na = { path = \"../a\" }\ndwell = { version = \"0.1.0\", path = \"../../dwell\", features = [\"std\"] }\n";
        let after = before.replace("../../dwell", "/lib/dwell");
        assert_eq!(with_path(before, "/lib/dwell"), after);
        assert!(folder(Path::new("/no/such/folder")).is_err());
        assert_eq!(locked("failed to select a version for `proc-macro2`."), Some("proc-macro2"));
        assert_eq!(locked("could not find `dwell` in registry"), None);
    }
}

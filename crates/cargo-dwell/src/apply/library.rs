//! Adds the library `dwell` to a package whose types use it.

use super::args::Apply;
use super::package::package_of;
use super::tree::Tree;
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use std::path::Path;
use std::process::Command;

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
    match &args.dwell {
        Some(path) => {
            let path = path.canonicalize().with_context(|| format!("{}: there is no such folder", path.display()))?;
            command.arg("dwell").arg("--path").arg(path);
        }
        None => {
            command.arg(concat!("dwell@", env!("CARGO_PKG_VERSION")));
        }
    }
    if args.build.offline || args.build.frozen {
        command.arg("--offline");
    }
    let output = command.output().context("cargo cannot be run; is it on the PATH?")?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("it printed nothing");
        bail!("the library dwell cannot be added to {manifest}: {line}; --dwell PATH names a folder with it");
    }
    Ok(())
}

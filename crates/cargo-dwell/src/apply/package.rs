//! The package that a file belongs to.

use super::tree::Tree;
use cargo_metadata::{Metadata, Package, TargetKind};
use std::path::{Path, PathBuf};

/// Returns the sources of the package that a file belongs to.
pub(super) fn sources_of_package(tree: &Tree, workspace: &Metadata, file: &Path) -> Vec<PathBuf> {
    let folder = package_of(workspace, file).and_then(|package| package.manifest_path.parent());
    let below = folder.and_then(|folder| folder.strip_prefix(&workspace.workspace_root).ok());
    below.map(|folder| tree.sources(folder.as_std_path())).unwrap_or_default()
}

/// Returns the package that a file belongs to.
pub(super) fn package_of<'m>(workspace: &'m Metadata, file: &Path) -> Option<&'m Package> {
    let path = workspace.workspace_root.as_std_path().join(file);
    let members = workspace.workspace_packages().into_iter();
    let of = members.filter(|package| package.manifest_path.parent().is_some_and(|folder| path.starts_with(folder)));
    of.max_by_key(|package| package.manifest_path.as_str().len())
}

/// Returns `true` if a file belongs to a package with a library that may be published.
pub(super) fn is_published_library(workspace: &Metadata, file: &Path) -> bool {
    package_of(workspace, file).is_some_and(|package| {
        let is_library = package.targets.iter().any(|target| target.kind.contains(&TargetKind::Lib));
        is_library && package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    })
}

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
    let packages =
        members.filter(|package| package.manifest_path.parent().is_some_and(|folder| path.starts_with(folder)));
    packages.max_by_key(|package| package.manifest_path.as_str().len())
}

/// Returns `true` if cargo runs a file to build its package; a module may be called `build.rs` too.
pub(super) fn is_build_script(workspace: &Metadata, file: &Path) -> bool {
    let path = workspace.workspace_root.as_std_path().join(file);
    let mut targets = package_of(workspace, file).into_iter().flat_map(|package| &package.targets);
    targets.any(|target| target.kind.contains(&TargetKind::CustomBuild) && target.src_path.as_std_path() == path)
}

/// Returns the root of a package's library below that of the workspace, if the library may be published.
pub(super) fn published_library(workspace: &Metadata, package: &Package) -> Option<PathBuf> {
    let is_published = package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
    library(workspace, package).filter(|_| is_published)
}

/// Returns the root of a package's library, below the workspace.
pub(super) fn library(workspace: &Metadata, package: &Package) -> Option<PathBuf> {
    let kinds = [TargetKind::Lib, TargetKind::RLib, TargetKind::DyLib];
    let library = package.targets.iter().find(|target| target.kind.iter().any(|kind| kinds.contains(kind)))?;
    Some(library.src_path.strip_prefix(&workspace.workspace_root).ok()?.as_std_path().to_owned())
}

//! Makes another allocator the global one: a dependency and two lines.

use super::library;
use super::session::Session;
use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package, Target};
use std::path::{Path, PathBuf};
use syn::spanned::Spanned as _;

/// What the lines are put in for.
pub(super) const NAME: &str = "mimalloc";

/// The lines.
const LINES: &str = "\n#[global_allocator]\nstatic GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;\n";

/// Returns the package and target of an executable by its file's name.
pub(super) fn target_of<'m>(workspace: &'m Metadata, executable: &Path) -> Option<(&'m Package, &'m Target)> {
    let name = executable.file_stem()?.to_string_lossy();
    let is_example = executable.parent().is_some_and(|folder| folder.ends_with("examples"));
    let all = workspace.workspace_packages().into_iter();
    let mut all = all.flat_map(|package| package.targets.iter().map(move |target| (package, target)));
    all.find(|(_, target)| target.name == name && if is_example { target.is_example() } else { target.is_bin() })
}

/// Returns the file that the lines are put into, below the root of the workspace.
pub(super) fn root_of(workspace: &Metadata, executable: &Path) -> Option<PathBuf> {
    let (_, target) = target_of(workspace, executable)?;
    Some(target.src_path.strip_prefix(&workspace.workspace_root).ok()?.as_std_path().to_owned())
}

/// Makes the change in the copy.
///
/// # Errors
/// Returns an error if the program has a global allocator, or if cargo cannot add the dependency.
pub(super) fn set(session: &mut Session<'_>, executable: &Path) -> Result<()> {
    let Some((package, target)) = target_of(&session.workspace, executable) else {
        bail!("a benchmark or test has no allocator of its own to choose");
    };
    let original = session.workspace.workspace_root.as_std_path();
    let below = |path: &cargo_metadata::camino::Utf8Path| -> Result<PathBuf> {
        let below = path.as_std_path().strip_prefix(original);
        Ok(below.with_context(|| format!("{path}: is not in this workspace"))?.to_owned())
    };
    let (root, manifest) = (below(&target.src_path)?, below(&package.manifest_path)?);
    let folders: Vec<PathBuf> = session
        .workspace
        .workspace_packages()
        .iter()
        .filter_map(|package| below(package.manifest_path.parent()?).ok())
        .collect();
    let sources = folders.iter().flat_map(|folder| session.tree.sources(folder));
    let set = sources.filter_map(|file| session.tree.read(&file)).any(|text| text.contains("#[global_allocator]"));
    if set {
        bail!("the workspace sets a global allocator");
    }
    let text = session.tree.read(&root).with_context(|| format!("{}: cannot be read", root.display()))?;
    let text = with_lines(&text).with_context(|| format!("{}: cannot be parsed", root.display()))?;
    session.tree.track(&manifest)?;
    session.tree.track(Path::new("Cargo.lock"))?;
    let mut wanted = vec![NAME];
    if target.is_example() {
        wanted.push("--dev");
    }
    library::add_crate(&session.tree, &manifest, &wanted, &session.args.build)?;
    session.tree.write(&root, &text)
}

/// Returns a source with the lines after its first declarations of modules and imports.
fn with_lines(text: &str) -> Option<String> {
    let source = syn::parse_file(text).ok()?;
    let is_head = |item: &&syn::Item| match item {
        syn::Item::Use(_) | syn::Item::ExternCrate(_) => true,
        syn::Item::Mod(module) => module.content.is_none(),
        _ => false,
    };
    let last = source.items.iter().take_while(is_head).last().map(|item| item.span().byte_range().end);
    let first = source.items.first().map_or(text.len(), |item| item.span().byte_range().start);
    // A comment may stand on the line of the last one, and documentation before the first item.
    let at = match last {
        Some(end) => text[end..].find('\n').map_or(text.len(), |line| end + line + 1),
        None => text[..first].rfind('\n').map_or(0, |line| line + 1),
    };
    let mut text = text.to_owned();
    let lines = if last.is_some() { LINES.to_owned() } else { format!("{}\n", LINES.trim_start()) };
    text.insert_str(at, &lines);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_after_the_imports() {
        let text = "//! Docs.\n#![warn(missing_docs)]\n\nmod a;\nuse std::fs; // files\n\nfn main() {}\n";
        let with = with_lines(text).unwrap();
        assert_eq!(with, text.replace("// files\n", &format!("// files\n{LINES}")));
        let with = with_lines("#![allow(x)]\n\n/// Begins.\nfn main() {}\n").unwrap();
        assert!(with.starts_with("#![allow(x)]\n\n#[global_allocator]\nstatic GLOBAL"), "{with}");
        assert!(with.ends_with("= mimalloc::MiMalloc;\n\n/// Begins.\nfn main() {}\n"), "{with}");
        assert_eq!(with_lines("fn ("), None);
    }
}

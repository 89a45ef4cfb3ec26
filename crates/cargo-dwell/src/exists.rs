//! Whether a program has a function or type that a budget names, though it took no block.

use crate::function_names::{ends_with, plain};
use crate::{sizes, stack};
use dwell_debuginfo::Program;
use std::fs;
use std::path::Path;

/// Returns whether the program has it: by its types, its symbols, or the sources below `root`.
pub(crate) fn exists(program: &Program, executable: &Path, wanted: &str, root: &Path) -> bool {
    if !sizes::matching(program, wanted).is_empty() {
        return true;
    }
    let name = plain(wanted);
    let has_symbol = || {
        let functions = stack::frame_sizes(executable).unwrap_or_default();
        functions.iter().any(|(function, _)| ends_with(&plain(function), &name))
    };
    // One that is inlined everywhere has no symbol. A method of a trait is several functions, and none of its own.
    let (path, last) = name.rsplit_once("::").unwrap_or(("", &name));
    let owner = path.rsplit("::").next().unwrap_or_default();
    let declares = |what: &str| declaration(root, what).is_some();
    has_symbol() || declares(&format!("fn {last}")) && (owner.is_empty() || !declares(&format!("trait {owner}")))
}

/// Returns where a source file of the workspace has a declaration, such as `fn name`.
pub(crate) fn declaration(root: &Path, declaration: &str) -> Option<(String, u32)> {
    let find = |text: &str| {
        let found = text.match_indices(declaration).find(|(at, _)| {
            let next = text[at + declaration.len()..].chars().next();
            next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
        });
        found.map(|(at, _)| 1 + text[..at].matches('\n').count())
    };
    let is_source = |entry: &walkdir::DirEntry| {
        entry.depth() == 0
            || !entry.file_name().to_string_lossy().starts_with('.') && !entry.path().join("CACHEDIR.TAG").exists()
    };
    let files = walkdir::WalkDir::new(root).into_iter().filter_entry(is_source).flatten();
    files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs")).find_map(|entry| {
        let line = find(&fs::read_to_string(entry.path()).ok()?)?;
        let file = entry.path().strip_prefix(root).unwrap_or(entry.path());
        Some((file.display().to_string(), u32::try_from(line).ok()?))
    })
}

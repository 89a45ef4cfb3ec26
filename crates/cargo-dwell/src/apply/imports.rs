//! Imports a type that a file names often by its path.

use super::syntax::Bytes;
use super::types::PATHS;
use syn::spanned::Spanned as _;

/// The number of times that a file names a type by its path at most.
const TIMES: usize = 2;

/// Returns the source with imports of the types that it names by their paths more often than before, and often; `None` if there are
/// none. Modules in the file keep the paths.
pub(super) fn added(before: &str, after: &str) -> Option<String> {
    let mut text = after.to_owned();
    for path in PATHS {
        let places = |name: &str| name.match_indices(path).filter(|(at, _)| is_whole(name, *at, path)).count();
        if places(&text) > places(before)
            && let Some(imported) = by_import(&text, path).or_else(|| with_import(&text, path))
        {
            text = imported;
        }
    }
    (text != after).then_some(text)
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns `true` if a path at a place of a text is no part of a longer one.
fn is_whole(text: &str, at: usize, path: &str) -> bool {
    !text[..at].ends_with(|letter: char| is_word(letter) || letter == ':')
        && !text[at + path.len()..].starts_with(is_word)
}

/// Returns the modules with their contents in a file, and its imports.
fn parts(source: &syn::File) -> (Vec<Bytes>, Vec<&syn::ItemUse>) {
    let modules = source.items.iter().filter(|item| matches!(item, syn::Item::Mod(module) if module.content.is_some()));
    let imports = source.items.iter().filter_map(|item| match item {
        syn::Item::Use(import) => Some(import),
        _ => None,
    });
    (modules.map(|item| item.span().byte_range()).collect(), imports.collect())
}

/// Returns `true` if an import has the name of a path: `use dwell::{Sparse, sparse::ThinStr};`.
fn has(tree: &syn::UseTree, path: &[&str]) -> bool {
    match (tree, path) {
        (syn::UseTree::Path(expr_path), [first, rest @ ..]) => expr_path.ident == first && has(&expr_path.tree, rest),
        (syn::UseTree::Name(name), [last]) => name.ident == last,
        (syn::UseTree::Group(group), _) => group.items.iter().any(|item| has(item, path)),
        _ => false,
    }
}

/// Returns the source in which a type that it imports has no path; `None` if it does not import it.
fn by_import(text: &str, path: &str) -> Option<String> {
    let source = syn::parse_file(text).ok()?;
    let (mut others, imports) = parts(&source);
    let names: Vec<&str> = path.split("::").collect();
    let is_it = |import: &&syn::ItemUse| import.attrs.is_empty() && has(&import.tree, &names);
    imports.iter().find(|import| is_it(import))?;
    others.extend(imports.iter().map(|import| import.span().byte_range()));
    let places = text.match_indices(path).map(|(at, _)| at);
    let places = places.filter(|at| is_whole(text, *at, path) && !others.iter().any(|other| other.contains(at)));
    let mut text = text.to_owned();
    for at in places.collect::<Vec<_>>().into_iter().rev() {
        text.replace_range(at..at + path.len(), names.last()?);
    }
    Some(text)
}

fn with_import(text: &str, path: &str) -> Option<String> {
    let source = syn::parse_file(text).ok()?;
    let name = path.rsplit("::").next()?;
    let (modules, _) = parts(&source);
    let is_inside = |at: usize| modules.iter().any(|module| module.contains(&at));
    // The name may be that of another type.
    let others = text.match_indices(name).filter(|(at, _)| {
        let is_name = !text[..*at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word);
        is_name && !text[..*at].ends_with(&path[..path.len() - name.len()]) && !is_inside(*at)
    });
    if others.count() > 0 {
        return None;
    }
    let places: Vec<usize> =
        text.match_indices(path).map(|(at, _)| at).filter(|at| is_whole(text, *at, path) && !is_inside(*at)).collect();
    // What is not the library's is imported as other files do it.
    let times = if path.starts_with("dwell::") { TIMES } else { 0 };
    if places.len() <= times {
        return None;
    }
    let is_plain_use = |item: &&syn::Item| matches!(item, syn::Item::Use(import) if import.attrs.is_empty());
    let is_beside = |item: &&syn::Item| {
        let root = path.split("::").next().unwrap_or_default();
        is_plain_use(item)
            && matches!(item, syn::Item::Use(import) if matches!(&import.tree, syn::UseTree::Path(import) if import.ident == root))
    };
    let uses = || source.items.iter().rev();
    // `use alloc::{borrow::ToOwned, format};` gets one more.
    let root = path.split("::").next().unwrap_or_default();
    let group = uses().filter(is_beside).find_map(|item| match item {
        syn::Item::Use(syn::ItemUse { tree: syn::UseTree::Path(import), .. }) => match &*import.tree {
            syn::UseTree::Group(group) => Some(group.brace_token.span.open().byte_range().end),
            _ => None,
        },
        _ => None,
    });
    if let Some(at) = group {
        let line: String = text[at..].chars().take_while(|letter| letter.is_whitespace()).collect();
        let one = format!("{line}{},{}", &path[root.len() + 2..], if line.is_empty() { " " } else { "" });
        return Some(replaced(text, places.into_iter().map(|at| (at..at + path.len(), name)).chain([(at..at, &*one)])));
    }
    let (at, import) = match uses().find(is_beside).or_else(|| uses().find(is_plain_use)) {
        Some(last) => (last.span().byte_range().end, format!("\nuse {path};")),
        None => (source.items.first()?.span().byte_range().start, format!("use {path};\n\n")),
    };
    Some(replaced(text, places.into_iter().map(|at| (at..at + path.len(), name)).chain([(at..at, &*import)])))
}

/// Returns a text with other parts.
fn replaced<'t>(text: &str, edits: impl Iterator<Item = (Bytes, &'t str)>) -> String {
    let mut edits: Vec<(Bytes, &str)> = edits.collect();
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = text.to_owned();
    for (range, with) in edits {
        text.replace_range(range, with);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_named_often_is_imported() {
        let path = "dwell::sparse::ThinStr";
        let text = |path: &str, import: &str| {
            format!(
                "//! A.\nuse std::fmt;{import}\nstruct A {{ a: {path}, b: {path} }}\nfn f(_: &{path}) {{}}\nmod m {{ fn f(_: &dwell::sparse::ThinStr) {{}} }}\n"
            )
        };
        let imported = text("ThinStr", &format!("\nuse {path};"));
        assert_eq!(added("", &text(path, "")).as_deref(), Some(&*imported));
        assert_eq!(added(&text(path, ""), &text(path, "")), None);
        assert_eq!(added("", &format!("{}struct ThinStr;", text(path, ""))), None);
        let with =
            |path: &str, import: &str| format!("use alloc::vec::Vec;{import}\nuse core::fmt;\nstruct A({path}<u8>);\n");
        let imported = with("Box", "\nuse alloc::boxed::Box;");
        assert_eq!(added("", &with("alloc::boxed::Box", "")), Some(imported));
        let group = "use alloc::{\n    fmt,\n};\nuse alloc::a;\nstruct A(alloc::boxed::Box<u8>);\n";
        let with = group.replace("{\n", "{\n    boxed::Box,\n").replace("(alloc::boxed::", "(");
        assert_eq!(added("", group), Some(with));
        // A later change finds the import.
        let import = "\nuse dwell::{Sparse, sparse::{SortedMap, ThinStr}};";
        let later = format!("{}struct B {{ a: {path} }}\n", text("ThinStr", import));
        assert_eq!(
            added(&text("ThinStr", import), &later),
            Some(later.replace(&format!("B {{ a: {path}"), "B { a: ThinStr"))
        );
    }
}

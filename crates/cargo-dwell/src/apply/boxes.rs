//! The path by which a file names the standard library's `Box`: another type may have that name there, and a crate without `std`
//! has it in `alloc`.

use super::tree::Tree;
use anyhow::{Result, bail};
use std::path::Path;
use syn::visit::{self, Visit};

/// Returns the path of `Box` in a file.
///
/// # Errors
/// Returns an error if the crate has no heap.
pub(super) fn path(tree: &Tree, file: &Path) -> Result<&'static str> {
    let Some(text) = tree.read(file) else { return Ok("Box") };
    let mut names = Names::default();
    if let Ok(source) = syn::parse_file(&text) {
        names.visit_file(&source);
    }
    let root = tree.crate_root(file).and_then(|root| tree.read(&root)).unwrap_or_default();
    let (is_no_std, has_alloc) = (is_no_std(&root), root.contains("extern crate alloc;"));
    if is_no_std && names.has_standard && !names.has_other {
        return Ok("Box");
    }
    if is_no_std {
        return match has_alloc {
            true => Ok("alloc::boxed::Box"),
            // Without the attribute's feature the standard library is there.
            false if root.contains("extern crate std") || root.contains("cfg_attr") => Ok("std::boxed::Box"),
            false => bail!("{}: the crate is `no_std` and does not use `alloc`, so it has no box", file.display()),
        };
    }
    let is_own = |file: &std::path::PathBuf| tree.read(file).is_some_and(|text| declares(&text));
    let is_hidden = names.has_other || names.has_glob && tree.sources_beside(file).iter().any(is_own);
    Ok(if is_hidden { "std::boxed::Box" } else { "Box" })
}

/// Returns `true` if the root of a crate says that it is one without `std`, always or with some features.
pub(super) fn is_no_std(root: &str) -> bool {
    let attributes = root.lines().map(str::trim).filter(|line| line.starts_with("#!["));
    attributes.filter(|line| !line.contains("cfg_attr(test")).any(|line| line.contains("no_std"))
}

/// Returns `true` if a source declares or imports a `Box` of its own.
fn declares(text: &str) -> bool {
    let mut names = Names::default();
    if text.contains("Box")
        && let Ok(source) = syn::parse_file(text)
    {
        names.visit_file(&source);
    }
    names.has_other
}

/// Returns a text that names `Box` by its path.
pub(super) fn with_path(text: &str, path: &str) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if path == "Box" {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("Box") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        out.push_str(before);
        let is_part = out.ends_with(|letter: char| is_word(letter) || letter == ':') || !after.starts_with(['<', ':']);
        out.push_str(if is_part { "Box" } else { path });
        rest = after;
    }
    out + rest
}

/// How a file gets the name.
#[derive(Default)]
struct Names {
    /// A type of its own, or one that it imports.
    has_other: bool,
    has_standard: bool,
    has_glob: bool,
    /// Inside of functions and modules, whose imports are theirs alone.
    depth: usize,
}

impl Names {
    fn import(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(expr_path) => {
                path.push(expr_path.ident.to_string());
                self.import(&expr_path.tree, path);
                path.pop();
            }
            syn::UseTree::Name(name) => self.name(&name.ident, path, true),
            syn::UseTree::Rename(rename) => self.name(&rename.rename, path, rename.ident == "Box"),
            syn::UseTree::Glob(_) => {
                let is_standard = path.first().is_some_and(|first| ["std", "alloc", "core"].contains(&first.as_str()));
                self.has_glob |= !is_standard;
                self.has_standard |=
                    is_standard && self.depth == 0 && path.iter().any(|part| part == "boxed" || part == "prelude");
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path)),
        }
    }

    fn name(&mut self, name: &syn::Ident, path: &[String], same: bool) {
        if name == "Box" {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let is_standard =
                same && matches!(names[..], ["std" | "alloc", "boxed"] | ["std" | "alloc" | "core", "prelude", ..]);
            self.has_standard |= is_standard && self.depth == 0;
            self.has_other |= !is_standard;
        }
    }

    fn declared(&mut self, name: &syn::Ident) {
        self.has_other |= name == "Box";
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_block(&mut self, node: &'ast syn::Block) {
        self.depth += 1;
        visit::visit_block(self, node);
        self.depth -= 1;
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        self.depth += 1;
        visit::visit_item_mod(self, node);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, node: &'ast syn::ItemUse) {
        self.import(&node.tree, &mut Vec::new());
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.declared(&node.ident);
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.declared(&node.ident);
    }

    fn visit_item_union(&mut self, node: &'ast syn::ItemUnion) {
        self.declared(&node.ident);
    }

    fn visit_item_type(&mut self, node: &'ast syn::ItemType) {
        self.declared(&node.ident);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.declared(&node.ident);
        visit::visit_item_trait(self, node);
    }

    fn visit_type_param(&mut self, node: &'ast syn::TypeParam) {
        self.declared(&node.ident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (bool, bool, bool) {
        let mut names = Names::default();
        names.visit_file(&syn::parse_file(text).unwrap());
        (names.has_other, names.has_standard, names.has_glob)
    }

    #[test]
    fn another_box_is_told_from_the_standard_one() {
        for text in [
            "use arena::Box;",
            "use bumpalo::{boxed::Box, Bump};",
            "use std::sync::Arc as Box;",
            "struct Box;",
            "fn f() { type Box<T> = Vec<T>; }",
        ] {
            assert_eq!(names(text), (true, false, false), "{text}");
        }
        assert_eq!(names("use alloc::{boxed::Box, vec::Vec};"), (false, true, false));
        assert_eq!(names("use std::prelude::v1::*; use crate::arena::*;"), (false, true, true));
        assert_eq!(names("fn f() { use alloc::boxed::Box; } mod m { use alloc::boxed::Box; }"), (false, false, false));
        assert!(is_no_std("//! A.\n#![no_std]\n") && is_no_std("#![cfg_attr(not(feature = \"std\"), no_std)]"));
        assert!(!is_no_std("// #![no_std]\n#![cfg_attr(test, no_std)]"));
    }

    #[test]
    fn the_path_stands_where_the_name_stood() {
        let with = |text: &str| with_path(text, "std::boxed::Box");
        assert_eq!(with("Option<Box<T>>"), "Option<std::boxed::Box<T>>");
        assert_eq!(with(".map(Box::new)"), ".map(std::boxed::Box::new)");
        assert_eq!(
            with("SmallBox<T>, std::boxed::Box<T>, Boxed, BoxFuture<T>"),
            "SmallBox<T>, std::boxed::Box<T>, Boxed, BoxFuture<T>"
        );
    }
}

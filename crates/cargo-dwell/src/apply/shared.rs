//! Texts that are equal share one block: the function that finds the shared one, in the root of the crate.
//!
//! An `Arc<str>` alone shares what is cloned. Texts that are read again and again are equal and not clones, so each is looked up.

use super::args::Apply;
use super::library;
use super::package::package_of;
use super::syntax::dense;
use super::tree::Tree;
use super::{boxes, definition};
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use dwell_source::Edit;
use std::path::Path;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// The name of the function.
pub(super) const FUNCTION: &str = "shared_text";

const LOOKUP: &str = r"
/// Returns the shared text that is equal to `text`.
pub(crate) fn shared_text(text: impl AsRef<str>) -> std::sync::Arc<str> {
    use std::{cell::RefCell, collections::HashSet};

    thread_local! {
        static TEXTS: RefCell<HashSet<std::sync::Arc<str>>> = RefCell::default();
    }
    let text = text.as_ref();
    TEXTS.with(|texts| {
        let mut texts = texts.borrow_mut();
        if let Some(known) = texts.get(text) {
            return std::sync::Arc::clone(known);
        }
        if texts.len() == texts.capacity() {
            // Those that nothing else has are freed.
            texts.retain(|text| std::sync::Arc::strong_count(text) > 1);
            let more = texts.len() + 1;
            texts.reserve(more);
        }
        let new: std::sync::Arc<str> = text.into();
        texts.insert(std::sync::Arc::clone(&new));
        new
    })
}
";

const PLAIN: (&str, &str) = (
    "deserialize_shared_text",
    r"
/// Deserializes a shared text.
pub(crate) fn deserialize_shared_text<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<std::sync::Arc<str>, D::Error> {
    let text: String = serde::Deserialize::deserialize(deserializer)?;
    Ok(shared_text(text))
}
",
);

const OPTION: (&str, &str) = (
    "deserialize_shared_option",
    r"
/// Deserializes an optional shared text.
pub(crate) fn deserialize_shared_option<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<std::sync::Arc<str>>, D::Error> {
    let text: Option<String> = serde::Deserialize::deserialize(deserializer)?;
    Ok(text.map(shared_text))
}
",
);

/// Returns `true` if a text of a crate's root has the function.
pub(super) fn is_in(root: &str) -> bool {
    root.contains("fn shared_text(")
}

/// Prepares the crate of a field that becomes shared: the function, and what serde needs.
///
/// # Errors
/// Returns an error if the crate has no standard library, or if cargo cannot add a feature of serde.
pub(super) fn prepare(tree: &mut Tree, workspace: &Metadata, args: &Apply, edit: &Edit) -> Result<()> {
    let file = Path::new(&edit.file);
    let place = format!("{}:{}", edit.file, edit.line);
    let root = tree.crate_root(file).with_context(|| format!("{place}: no crate of the workspace has this file"))?;
    let text = tree.read(&root).with_context(|| format!("{}: cannot be read", root.display()))?;
    if boxes::is_no_std(&text) {
        bail!("{place}: the crate is `no_std`; a person can share its values");
    }
    let source = tree.read(file).unwrap_or_default();
    let Some(found) = definition::find(&source, &edit.item, edit.line) else { return Ok(()) };
    let is_of_serde = names_serde(&source) || names_serde(&text);
    let derives = |name: &str| is_of_serde && found.derives.iter().any(|derived| derived == name);
    if derives("Serialize") || derives("Deserialize") {
        let package = package_of(workspace, file);
        let manifest = package.and_then(|package| package.manifest_path.strip_prefix(&workspace.workspace_root).ok());
        let manifest = manifest.with_context(|| format!("{place}: no package has this file"))?.as_std_path();
        tree.track(manifest)?;
        tree.track(Path::new("Cargo.lock"))?;
        library::add_crate(tree, manifest, &["serde", "--features", "rc"], &args.build)?;
    }
    if !dense(&edit.to).contains("<str>") {
        return Ok(());
    }
    let mut more = if is_in(&text) { String::new() } else { LOOKUP.to_owned() };
    let helper = match &*dense(&edit.from).replace("std::string::", "") {
        "String" => Some(PLAIN),
        "Option<String>" => Some(OPTION),
        _ => None,
    };
    if let Some((name, function)) = helper.filter(|_| derives("Deserialize")) {
        if !text.contains(name) {
            more.push_str(function);
        }
        tree.write(file, &with_attribute(&source, found.range.start, name))?;
    }
    let text = tree.read(&root).unwrap_or(text);
    let tests = text.find("\n#[cfg(test)]\nmod ").map_or(text.len(), |at| at + 1);
    let (before, after) = text.split_at(tests);
    let gap = if after.is_empty() { "" } else { "\n" };
    if !more.is_empty() {
        let line = if before.ends_with('\n') { "" } else { "\n" };
        let more = if after.is_empty() { more } else { more.trim_start().to_owned() };
        tree.write(&root, &format!("{before}{line}{more}{gap}{after}"))?;
    }
    calls(tree, workspace, edit)
}

/// Returns `true` if a source names serde: other crates, such as rkyv, have derives of the same names.
fn names_serde(text: &str) -> bool {
    let names = ["serde::", "serde_derive", "#[serde", "use serde", "crate serde"];
    text.lines().any(|line| !line.trim_start().starts_with("//") && names.iter().any(|name| line.contains(name)))
}

/// Returns the source in which the field whose type begins at `start` is deserialized by a function.
fn with_attribute(text: &str, start: usize, name: &str) -> String {
    let mut line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    // A field may stand on the line of the struct.
    let before = &text[line..start];
    line += before.rfind(['{', ',', '(']).map_or(0, |at| at + 1);
    let indent: String = text[line..].chars().take_while(|letter| letter.is_whitespace() && *letter != '\n').collect();
    let is_optional = name == OPTION.0 && !has_default(text, line);
    let default = if is_optional { "default, " } else { "" };
    let end = if line == 0 || text[..line].ends_with('\n') { "\n" } else { "" };
    let mut text = text.to_owned();
    text.insert_str(line, &format!("{indent}#[serde({default}deserialize_with = \"crate::{name}\")]{end}"));
    text
}

/// Returns `true` if an attribute above a line names serde's `default`.
fn has_default(text: &str, line: usize) -> bool {
    let above = text[..line].lines().rev().take_while(|line| line.trim_start().starts_with(['#', '/']));
    above.filter(|line| line.contains("serde")).any(|line| line.contains("default"))
}

/// A text that is converted by `into()` would be one of its own: `name: name.into()` becomes `name: shared_text(name)`.
fn calls(tree: &mut Tree, workspace: &Metadata, edit: &Edit) -> Result<()> {
    let Some((owner, field)) = edit.item.rsplit_once('.') else { return Ok(()) };
    let owner = owner.rsplit("::").next().unwrap_or_default();
    let root = tree.crate_root(Path::new(&edit.file));
    for file in super::package::sources_of_package(tree, workspace, Path::new(&edit.file)) {
        let Some(text) = tree.read(&file).filter(|text| text.contains(".into()")) else { continue };
        if tree.crate_root(&file) != root {
            continue;
        }
        let Ok(source) = syn::parse_file(&text) else { continue };
        let mut search = Literals { owner, field, of_impl: false, found: Vec::new() };
        search.visit_file(&source);
        let mut text = text;
        search.found.sort_by_key(|(whole, _)| std::cmp::Reverse(whole.start));
        let any = !search.found.is_empty();
        for (whole, value) in search.found {
            let call = called(&text[value], root.as_deref() == Some(&file));
            text.replace_range(whole, &call);
        }
        if any {
            tree.write(&file, &text)?;
        }
    }
    Ok(())
}

/// Returns the call of the function, in the root of the crate or elsewhere.
pub(super) fn called(value: &str, is_root: bool) -> String {
    format!("{}{FUNCTION}({value})", if is_root { "" } else { "crate::" })
}

/// Finds the values of a field that a struct expression converts.
struct Literals<'a> {
    owner: &'a str,
    field: &'a str,
    of_impl: bool,
    /// The call of `into`, and its receiver.
    found: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)>,
}

impl<'ast> Visit<'ast> for Literals<'_> {
    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let is_it = matches!(&*node.self_ty, syn::Type::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == self.owner));
        let before = std::mem::replace(&mut self.of_impl, is_it);
        visit::visit_item_impl(self, node);
        self.of_impl = before;
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        let is_it = node
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == self.owner || last.ident == "Self" && self.of_impl);
        for field in &node.fields {
            if is_it
                && matches!(&field.member, syn::Member::Named(name) if name == self.field)
                && let syn::Expr::MethodCall(call) = &field.expr
                && call.method == "into"
            {
                self.found.push((call.span().byte_range(), call.receiver.span().byte_range()));
            }
        }
        visit::visit_expr_struct(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_of_other_crates_are_not_those_of_serde() {
        for (text, is) in [
            ("use serde::{Deserialize, Serialize};", true),
            ("#[derive(serde::Serialize)]\nstruct A;", true),
            ("#[macro_use]\nextern crate serde_derive;", true),
            ("// As serde::Serialize.\nuse rkyv::{Archive, Deserialize, Serialize};", false),
        ] {
            assert_eq!(names_serde(text), is, "{text}");
        }
    }

    #[test]
    fn attribute_stands_before_the_field() {
        let text = "struct A {\n    /// A.\n    #[serde(default)]\n    pub a: Option<String>,\n    b: Option<String>,\n}\nstruct B { c: String }\n";
        let with = |field: &str, name: &str| with_attribute(text, text.find(field).unwrap() + field.len(), name);
        let plain = "#[serde(deserialize_with = \"crate::deserialize_shared_text\")]";
        let option = "#[serde(deserialize_with = \"crate::deserialize_shared_option\")]";
        assert!(with("a: ", OPTION.0).contains(&format!("    #[serde(default)]\n    {option}\n    pub a")));
        assert!(with("b: ", OPTION.0).contains(&option.replace("(deser", "(default, deser")));
        assert!(
            with("c: ", PLAIN.0).contains(&format!("struct B {{ {plain} c: String }}")),
            "{}",
            with("c: ", PLAIN.0)
        );
    }

    #[test]
    fn conversions_in_struct_expressions_are_found() {
        let text = "impl A { fn f(n: &str) { let _ = Self { name: n.into() }; B { name: n.into() }; } }\nfn g() { m::A { name: x().into(), b }; }";
        let mut search = Literals { owner: "A", field: "name", of_impl: false, found: Vec::new() };
        search.visit_file(&syn::parse_file(text).unwrap());
        let found: Vec<&str> = search.found.into_iter().map(|(_, value)| &text[value]).collect();
        assert_eq!(found, ["n", "x()"]);
    }
}

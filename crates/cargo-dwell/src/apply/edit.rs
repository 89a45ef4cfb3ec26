//! Changes the definitions that a move names.

use super::args::Apply;
use super::moves::{Becomes, Move};
use super::package::{is_build_script, sources_of_package};
use super::syntax::dense;
use super::tree::Tree;
use super::types::with_paths;
use super::unbuilt::Place;
use super::{boxes, capacity, definition, effects, everywhere, library, shared, shrink};
use anyhow::{Result, bail};
use cargo_metadata::Metadata;
use dwell_source::Edit;
use std::path::Path;
use syn::spanned::Spanned as _;
use syn::visit::Visit;

/// What the edits of a move do.
pub(super) struct Made {
    pub(super) becomes: Becomes,
    /// The fields that get another type.
    pub(super) changed: Vec<effects::Changed>,
    /// The fields and variants of a type that is replaced everywhere.
    pub(super) everywhere: Vec<String>,
    /// The places that see another capacity.
    pub(super) asking: Vec<Place>,
}

impl Made {
    /// Returns the names of the changed fields.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |change: &effects::Changed| Some(change.item.rsplit_once('.')?.1.split(' ').next()?.to_owned());
        self.changed.iter().filter_map(name).collect()
    }
}

/// Makes the edits of a move in the copy.
///
/// # Errors
/// Returns an error if an edit does not fit the source, or must not be made.
pub(super) fn make(tree: &mut Tree, workspace: &Metadata, args: &Apply, change: &Move) -> Result<Made> {
    if let Some(refusal) = change.refusal() {
        bail!("{refusal}");
    }
    // From the end, so that the lines before stay.
    let mut edits: Vec<(&Edit, Becomes)> =
        change.edits.iter().filter_map(|edit| Some((edit, change.becomes(edit)?))).collect();
    edits.sort_by_key(|(edit, _)| std::cmp::Reverse((edit.file.clone(), edit.line)));
    let mut made = Made { becomes: Becomes::Fixed, changed: Vec::new(), everywhere: Vec::new(), asking: Vec::new() };
    for (edit, becomes) in edits {
        let file = Path::new(&edit.file);
        let place = format!("{}:{}", edit.file, edit.line);
        let Some(text) = tree.read(file) else {
            bail!("{place}: is not in this workspace's source; the change would be lost");
        };
        if is_build_script(workspace, file) {
            bail!("{place}: is a build script, which is not part of the program");
        }
        if !becomes.features().is_empty()
            && let Some(root) = tree.crate_root(file).and_then(|root| tree.read(&root))
            && boxes::is_no_std(&root)
        {
            bail!("{place}: the crate is `no_std`, and the library's types are used with `std`");
        }
        if becomes == Becomes::Shrunk {
            made.asking.extend(shrink::edit(tree, workspace, edit)?);
        } else if becomes == Becomes::Wrapped {
            tree.write(file, &wrapped(&text, edit)?)?;
        } else if becomes == Becomes::Capacity {
            tree.write(file, &capacity::edit(&text, edit)?)?;
        } else if becomes == Becomes::Hoisted {
            tree.write(file, &capacity::hoist(&text, edit)?)?;
        } else if edit.item == edit.from {
            made.everywhere.extend(everywhere::replace(tree, workspace, edit, &becomes)?);
        } else {
            let (mut from, mut to) = field(&text, edit)?;
            let mut text = text;
            if let Becomes::Narrowed(new) = &becomes {
                let why = format!("a value that is no {new} ends the program: check the range of {}", edit.item);
                made.asking.push(Place { file: file.to_owned(), line: edit.line as usize, why });
            }
            if let Becomes::Shared(new) = &becomes {
                shared::prepare(tree, workspace, args, edit)?;
                text = tree.read(file).unwrap_or_default();
                to = to.replacen(new, &format!("std::sync::{new}"), 1);
                from = definition::find(&text, &edit.item, edit.line).map_or(from, |found| found.range);
            }
            let to = boxes::with_path(&to, boxes::path(tree, file)?);
            made.changed.push(effects::Changed {
                item: edit.item.clone(),
                file: file.to_owned(),
                line: edit.line,
                from: edit.from.clone(),
                becomes: becomes.clone(),
            });
            let start = from.start;
            text.replace_range(from, &to);
            tests_for_empty(&mut text, start);
            if let Some(result) = default_of(&text, start, &edit.from) {
                text.replace_range(result, &to);
            }
            tree.write(file, &text)?;
            if matches!(becomes, Becomes::Sparse(_)) {
                derive(tree, workspace, edit)?;
            }
        }
        library::add(tree, workspace, args, file, becomes.features())?;
        made.becomes = becomes;
    }
    Ok(made)
}

/// The functions that test whether a value of a changed type is empty, in an attribute of its field, and those of what it derefs to.
const EMPTY: [(&str, &str); 4] = [
    ("Vec::is_empty", "<[_]>::is_empty"),
    ("String::is_empty", "str::is_empty"),
    ("HashMap::is_empty", "dwell::sparse::SortedMap::is_empty"),
    ("BTreeMap::is_empty", "dwell::sparse::SortedMap::is_empty"),
];

/// Changes such functions in the attributes of the field whose type begins at `start`:
/// `#[serde(skip_serializing_if = "Vec::is_empty")]`.
fn tests_for_empty(text: &mut String, start: usize) {
    let first = attributes(text, start);
    let head = text[start..].split(['<', '>', ',', '\n']).next().unwrap_or_default().trim();
    let name = head.rsplit("::").next().unwrap_or_default().to_owned();
    let is_changed = |text: &str| !text.starts_with(&format!("{name}::"));
    let mut attributes = text[first..start].to_owned();
    for (from, to) in EMPTY.iter().filter(|(from, _)| is_changed(from)) {
        for path in ["", "std::collections::", "std::vec::", "std::string::"] {
            attributes = attributes.replace(&format!("= \"{path}{from}\""), &format!("= \"{to}\""));
        }
    }
    text.replace_range(first..start, &attributes);
}

/// Returns where the attributes of the field whose type begins at `start` begin.
fn attributes(text: &str, start: usize) -> usize {
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let above = text[..line].split_inclusive('\n').rev();
    let of_field = above.take_while(|above| above.trim_start().starts_with(['#', '/']));
    line - of_field.map(str::len).sum::<usize>()
}

/// Returns the result of the function that an attribute of a field names, which makes its value: `#[serde(default = "limits")]`.
fn default_of(text: &str, start: usize, from: &str) -> Option<std::ops::Range<usize>> {
    struct Search<'a> {
        text: &'a str,
        name: &'a str,
        from: String,
        found: Option<std::ops::Range<usize>>,
    }
    impl<'ast> Visit<'ast> for Search<'_> {
        fn visit_signature(&mut self, node: &'ast syn::Signature) {
            if let syn::ReturnType::Type(_, ty) = &node.output
                && node.ident == self.name
                && node.inputs.is_empty()
                && dense(&self.text[ty.span().byte_range()]) == self.from
            {
                self.found = Some(ty.span().byte_range());
            }
        }
    }
    let (_, named) = text[attributes(text, start)..start].split_once("default = \"")?;
    let mut path = named.split('"').next()?.rsplit("::");
    let name = path.next()?;
    // `Details::new` is used elsewhere too.
    if path.next().is_some_and(|owner| owner != "Self" && owner.starts_with(char::is_uppercase)) {
        return None;
    }
    let mut search = Search { text, name, from: dense(from), found: None };
    search.visit_file(&syn::parse_file(text).ok()?);
    search.found
}

/// Returns the source in which an expression is wrapped. It begins on the line of the edit, and stands there once.
fn wrapped(text: &str, edit: &Edit) -> Result<String> {
    let place = format!("{}:{}", edit.file, edit.line);
    let number = (edit.line as usize).saturating_sub(1);
    let line = text.split_inclusive('\n').nth(number).unwrap_or_default();
    let start: usize = text.split_inclusive('\n').take(number).map(str::len).sum();
    let found: Vec<usize> =
        text[start..].match_indices(&edit.from).map(|(at, _)| at).filter(|at| *at < line.len()).collect();
    let [at] = found[..] else {
        bail!(
            "{place}: `{}` is there {} times; the source changed since, or change it by hand",
            edit.from,
            found.len()
        );
    };
    let mut text = text.to_owned();
    text.replace_range(start + at..start + at + edit.from.len(), &edit.to);
    Ok(text)
}

/// Returns the bytes of a field's type, and the new type.
fn field(text: &str, edit: &Edit) -> Result<(std::ops::Range<usize>, String)> {
    let place = format!("{}:{}", edit.file, edit.line);
    let item = &edit.item;
    let Some(found) = definition::find(text, item, edit.line) else {
        bail!("{place}: {item} is not declared there; a macro generates it, or the source changed since the report");
    };
    let now = &text[found.range.clone()];
    let is_made = |to: &str| dense(now).replace("std::boxed::", "").replace("alloc::boxed::", "") == dense(to);
    if dense(now) != dense(&edit.from) && [edit.to.clone(), with_paths(&edit.to)].iter().any(|to| is_made(to)) {
        bail!("{place}: {item} is {now} already");
    }
    if dense(now) != dense(&edit.from) {
        bail!(
            "{place}: {item} is {now}, and the report says {}; the source changed since, so make the report again",
            edit.from
        );
    }
    if found.derives.iter().any(|name| name == "Copy") {
        bail!("{place}: the type of {item} is Copy, and a box is not");
    }
    if found.named_functions {
        bail!("{place}: an attribute of {item} names a function that takes its type; change both by hand");
    }
    Ok((found.range, with_paths(&edit.to)))
}

/// Derives `Sparse` for the struct whose field becomes sparse.
fn derive(tree: &mut Tree, workspace: &Metadata, edit: &Edit) -> Result<()> {
    let name = edit.from.split('<').next().unwrap_or_default().trim();
    let name = name.rsplit("::").next().unwrap_or_default();
    let mut found = Vec::new();
    for file in sources_of_package(tree, workspace, Path::new(&edit.file)) {
        let Some(text) = tree.read(&file) else { continue };
        found.extend(definition::keywords(&text, name).into_iter().map(|at| (file.clone(), text.clone(), at)));
    }
    let [(file, text, at)] = &mut found[..] else {
        bail!("{}: {} structs of the package have this name; derive `dwell::Sparse` by hand", edit.from, found.len());
    };
    let line = text[..*at].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = text[line..*at].chars().take_while(|letter| letter.is_whitespace()).collect();
    text.insert_str(*at, &format!("#[derive(dwell::Sparse)]\n{indent}"));
    tree.write(file, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_test_the_new_type() {
        let text = "struct A {\n    #[serde(skip_serializing_if = \"Vec::is_empty\")]\n    a: Vec<u8>,\n    /// B.\n    \
                    #[serde(default, skip_serializing_if = \"Vec::is_empty\")] // b\n    pub b: Box<[u8]>,\n}\n";
        let mut changed = text.to_owned();
        tests_for_empty(&mut changed, text.find("Box<").unwrap());
        assert_eq!(
            changed,
            text.replace("default, skip_serializing_if = \"Vec::", "default, skip_serializing_if = \"<[_]>::")
        );
        tests_for_empty(&mut changed, text.find("Vec<u8>").unwrap());
        assert!(changed.contains("(skip_serializing_if = \"Vec::is_empty\")"), "a list stays one");
    }

    #[test]
    fn function_of_a_default_is_found() {
        let text = "struct A {\n    /// B.\n    #[serde(default = \"Self::b\")]\n    b: B<u8>,\n    c: B<u8>,\n}\nimpl A {\n    \
                    fn b() -> B < u8 > { todo!() }\n}\n";
        let at = |field: &str| text.find(field).unwrap() + field.len();
        assert_eq!(default_of(text, at("    b: "), "B<u8>").map(|range| &text[range]), Some("B < u8 >"));
        let of_type = text.replace("Self::b", "C::b");
        assert_eq!(default_of(&of_type, of_type.find("    b: ").unwrap() + 7, "B<u8>"), None);
        assert_eq!((default_of(text, at("    b: "), "B<u16>"), default_of(text, at("    c: "), "B<u8>")), (None, None));
    }

    #[test]
    fn expression_is_wrapped_on_its_line() {
        let text =
            "async fn f() {\n    a(1).await;\n    join(a(1), b(\n        2)).await; a(1).await; a(1).await;\n}\n";
        let with = |line, from: &str| {
            wrapped(
                text,
                &Edit {
                    file: "a.rs".into(),
                    line,
                    from: from.into(),
                    to: format!("Box::pin({from})"),
                    ..Edit::default()
                },
            )
        };
        assert!(with(2, "a(1)").unwrap().contains("\n    Box::pin(a(1)).await;\n    join(a(1)"));
        assert!(with(3, "b(\n        2)").unwrap().contains("join(a(1), Box::pin(b(\n        2)))"));
        assert!(with(4, "a(1)").unwrap_err().to_string().contains("is there 2 times"));
        assert!(with(9, "a(1)").is_err());
    }
}

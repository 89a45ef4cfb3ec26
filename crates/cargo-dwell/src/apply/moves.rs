//! The moves that reports propose, read from their JSON.

use crate::source::Edit;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A change that a report proposes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Move {
    /// The kind of the finding: `box`, `variant`, `BoxVariants`, ...
    pub(super) kind: String,
    /// The field, variant or type.
    #[serde(rename = "where")]
    pub(super) location: String,
    /// The bytes that the report expects to be saved: in all for `census`, for each value for `layout`.
    pub(super) saves: u64,
    /// The change in words.
    pub(super) how: String,
    /// The crate that declares the field, if it is a dependency.
    pub(super) dependency: Option<String>,
    /// What to change in the source.
    pub(super) edits: Vec<Edit>,
}

impl Move {
    /// Returns `true` if an argument names this move: `Type.field`, `Type::Variant`, or its type.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let is_end = |of: &str| of == name || of.ends_with(&format!("::{name}"));
        is_end(&self.location) || self.edits.iter().any(|edit| is_end(&edit.item))
    }

    /// Returns the reason if the move cannot be made.
    pub(super) fn refusal(&self) -> Option<String> {
        if let Some(dependency) = &self.dependency {
            return Some(format!("{} is declared in {dependency}: its author can make this change", self.location));
        }
        if self.edits.is_empty() {
            return Some(format!("{}: the report names no place in this workspace's source", self.location));
        }
        self.edits.iter().find_map(|edit| match becomes(edit) {
            Some(_) => None,
            None if edit.to.is_empty() => {
                Some(format!("{}: its fields must first become a struct, which a person has to name", edit.item))
            }
            None => Some(format!("{}: from {} to {} is no move that apply can make", edit.item, edit.from, edit.to)),
        })
    }
}

/// What an edit does to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// `T` becomes `Box<T>`, and `Option<T>` becomes `Option<Box<T>>`; with the source of `T`.
    Boxed(String),
    /// `String` becomes `Box<str>` and `Vec<T>` becomes `Box<[T]>`, also in an option.
    Fixed,
}

/// Returns what an edit does. `None`: no move that apply can make.
pub(super) fn becomes(edit: &Edit) -> Option<Becomes> {
    let dense = |text: &str| text.chars().filter(|of| !of.is_whitespace()).collect::<String>();
    let (from, to) = (dense(&edit.from), dense(&edit.to));
    let inside = |text: &str| Some(text.strip_prefix("Option<")?.strip_suffix('>')?.to_owned());
    let (old, new, source) = match (inside(&from), inside(&to)) {
        (Some(old), Some(new)) => (old, new, inside(edit.from.trim())?),
        _ => (from, to, edit.from.clone()),
    };
    if !old.is_empty() && new == format!("Box<{old}>") {
        return Some(Becomes::Boxed(source.trim().to_owned()));
    }
    let element = old.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>'));
    let is_fixed = old == "String" && new == "Box<str>" || element.is_some_and(|of| new == format!("Box<[{of}]>"));
    is_fixed.then_some(Becomes::Fixed)
}

/// Reads the moves of a file with a report as JSON, in its order.
///
/// # Errors
/// Returns an error if the file cannot be read, is not JSON, or proposes nothing.
pub(super) fn read(file: &Path) -> Result<Vec<Move>> {
    let text = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let value = serde_json::from_slice(&text).with_context(|| {
        format!("{}: is no JSON; save a report with `cargo dwell census --save FILE`", file.display())
    })?;
    let mut all = Vec::new();
    collect(&value, "", &mut all);
    if all.is_empty() {
        bail!(
            "{}: has no finding; save a report with `cargo dwell census --save FILE` or `cargo dwell layout --format json`",
            file.display()
        );
    }
    Ok(all)
}

/// Collects the objects with edits. A suggestion of `layout` is a field of its type, which has the name.
pub(super) fn collect(value: &Value, name: &str, to: &mut Vec<Move>) {
    match value {
        Value::Array(all) => all.iter().for_each(|value| collect(value, name, to)),
        Value::Object(fields) => {
            let text = |key: &str| fields.get(key).and_then(Value::as_str);
            if text("kind").is_some() && fields.get("saves").is_some_and(Value::is_u64) {
                if let Ok(mut found) = Move::deserialize(value) {
                    if found.location.is_empty() {
                        name.clone_into(&mut found.location);
                    }
                    to.push(found);
                }
                return;
            }
            let name = text("name").unwrap_or(name);
            fields.values().for_each(|value| collect(value, name, to));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(from: &str, to: &str) -> Edit {
        Edit { from: from.into(), to: to.into(), item: "A.b".into(), ..Edit::default() }
    }

    #[test]
    fn moves_are_known() {
        let boxed = |of: &str| Some(Becomes::Boxed(of.to_owned()));
        assert_eq!(becomes(&edit("Option<B<u8>>", "Option<Box<B<u8>>>")), boxed("B<u8>"));
        assert_eq!(becomes(&edit("(u8, B)", "Box<(u8, B)>")), boxed("(u8, B)"));
        assert_eq!(becomes(&edit("Option<B>", "Box<Option<B>>")), boxed("Option<B>"));
        for (from, to) in
            [("String", "Box<str>"), ("Vec<(u8, B)>", "Box<[(u8, B)]>"), ("Option<String>", "Option<Box<str>>")]
        {
            assert_eq!(becomes(&edit(from, to)), Some(Becomes::Fixed), "{from}");
        }
        for (from, to) in [("B", "C"), ("", ""), ("B", "Box<C>"), ("Vec<B>", "Box<[C]>"), ("u64", "u32")] {
            assert_eq!(becomes(&edit(from, to)), None, "{from}");
        }
    }

    #[test]
    fn moves_are_read_from_both_kinds_of_reports() {
        let census = r#"{"snapshots": [{"findings": [{"kind": "box", "where": "m::A.b", "saves": 9, "how": "x",
            "edits": [{"file": "a.rs", "line": 3, "item": "A.b", "from": "Option<B>", "to": "Option<Box<B>>"}]},
            {"kind": "box", "where": "D.e", "saves": 1, "dependency": "hyper"}]}]}"#;
        let layout = r#"{"types": [{"name": "E", "kind": "enum", "suggestion": {"kind": "variant", "saves": 24, "edits": []}}]}"#;
        let read = |text: &str| {
            let mut all = Vec::new();
            collect(&serde_json::from_str(text).unwrap(), "", &mut all);
            all
        };
        let all = read(census);
        assert!(all.len() == 2 && all[0].is_named("A.b") && !all[0].is_named("b") && all[0].refusal().is_none());
        assert!(all[1].refusal().unwrap().contains("hyper"));
        let all = read(layout);
        assert_eq!((all[0].location.as_str(), all[0].saves), ("E", 24));
        assert!(all[0].refusal().unwrap().contains("no place"));
    }
}

//! The differences in size between two builds, by field.

use super::saved::{Document, Known, KnownField, KnownType, Selection};
use crate::about::About;
use crate::futures;
use anyhow::{Result, bail};
use comfy_table::Cell;
use dwell_debuginfo::Options;
use dwell_output::units::{count, plural};
use dwell_output::{Format, Look, header, right};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The types and futures with a different size.
#[derive(Debug, Serialize)]
pub struct Diff {
    version: u32,
    before: About,
    after: About,
    /// The types and futures that grew, the largest growth first.
    grew: Vec<Change>,
    /// The types and futures that shrank, the largest reduction first.
    shrank: Vec<Change>,
    /// The types and futures of the later build only.
    new: Vec<Single>,
    /// The types and futures of the earlier build only.
    gone: Vec<Single>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Change {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    path: String,
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// The fields, variants and held values that account for the difference.
    pub(crate) by: Vec<By>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct By {
    /// The name of the part: `field`, `Variant`, `Variant.field`; for a future, a variable that it holds or the future
    /// that it awaits.
    pub(crate) field: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    /// The size before, in bytes; 0 if the part is new.
    pub(crate) before: u64,
    /// The size after, in bytes; 0 if the part is gone.
    pub(crate) after: u64,
}

#[derive(Debug, Serialize)]
struct Single {
    kind: &'static str,
    name: String,
    path: String,
    size: u64,
}

/// A type or future with a size.
struct Item {
    kind: &'static str,
    name: String,
    size: u64,
    /// The type and the size in bytes of each part, by name.
    parts: BTreeMap<String, (String, u64)>,
}

impl Diff {
    /// Compares a document with `file`, which is a file from `--save` or an executable.
    ///
    /// # Errors
    /// Returns an error if the file is neither, or cannot be read.
    pub fn new(after: &Document, file: &Path, options: &Options, selection: Selection<'_>) -> Result<Self> {
        let before = if is_json(file) {
            Known::read(file)?
        } else {
            let program = dwell_debuginfo::load(file, options)?;
            Known::from_document(&Document::new(&program, Selection { profile: None, ..selection }))?
        };
        let after = Known::from_document(after)?;
        if let (Some(old), Some(new)) = (&before.program.profile, &after.program.profile)
            && old != new
        {
            bail!(
                "{}: is of a build with the profile {old}, this one has {new}; their sizes differ anyway, so compare \
                 builds of one profile",
                file.display()
            );
        }
        Ok(Self::between(before, after))
    }

    /// The types and futures that grew, the largest growth first.
    pub(crate) fn grew(&self) -> &[Change] {
        &self.grew
    }

    /// Returns a line for each type and future that grew by more than `most` bytes.
    pub fn grown(&self, most: u64) -> Vec<String> {
        let grown = self.grew.iter().filter(|change| change.after.saturating_sub(change.before) > most);
        let line = |change: &Change| {
            let by: Vec<String> = change.by.iter().take(2).map(By::text).collect();
            let because = if by.is_empty() { String::new() } else { format!(" because of {}", by.join(", ")) };
            format!(
                "`{}` grew from {} to {} bytes, by more than {}{because}",
                change.name,
                count(change.before),
                count(change.after),
                count(most)
            )
        };
        grown.map(line).collect()
    }

    /// Compares two builds.
    pub(crate) fn between(before: Known, after: Known) -> Self {
        let same_selection = before.all == after.all;
        // The output of one command lacks the lists of the other commands.
        let both_futures = !before.futures.is_empty() && !after.futures.is_empty();
        let both_types = !before.types.is_empty() && !after.types.is_empty();
        let (about_before, about_after) = (before.program.clone(), after.program.clone());
        let (mut old, new) = (items(before), items(after));
        let mut diff = Self {
            version: 1,
            before: about_before,
            after: about_after,
            grew: Vec::new(),
            shrank: Vec::new(),
            new: Vec::new(),
            gone: Vec::new(),
        };
        let comparable = |kind: &str| same_selection && if kind == "future" { both_futures } else { both_types };
        for (path, item) in new {
            match old.remove(&path) {
                Some(was) if was.size != item.size => {
                    let change = Change {
                        kind: item.kind,
                        by: by(&was, &item),
                        name: item.name,
                        path,
                        before: was.size,
                        after: item.size,
                    };
                    if change.after > change.before { diff.grew.push(change) } else { diff.shrank.push(change) }
                }
                None if comparable(item.kind) => {
                    diff.new.push(Single { kind: item.kind, name: item.name, path, size: item.size });
                }
                _ => {}
            }
        }
        for (path, item) in old {
            if comparable(item.kind) {
                diff.gone.push(Single { kind: item.kind, name: item.name, path, size: item.size });
            }
        }
        let changed = |change: &Change| (std::cmp::Reverse(change.before.abs_diff(change.after)), change.path.clone());
        diff.grew.sort_by_key(changed);
        diff.shrank.sort_by_key(changed);
        diff
    }

    /// Writes the differences.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn write(&self, format: Format, out: &mut impl io::Write) -> io::Result<()> {
        let look = match format {
            Format::Json => {
                serde_json::to_writer(&mut *out, self)?;
                return writeln!(out);
            }
            Format::Human => Look::terminal(),
            Format::Markdown => Look::page(),
        };
        for (title, changes) in [("Grew", &self.grew), ("Shrank", &self.shrank)] {
            if changes.is_empty() {
                continue;
            }
            look.heading(out, title, "")?;
            let mut rows = vec![header(&["bytes", "before", "after", "type", "because of"])];
            for change in changes {
                let by: Vec<String> = change.by.iter().take(4).map(By::text).collect();
                rows.push(vec![
                    right(signed(change.before, change.after)),
                    right(count(change.before)),
                    right(count(change.after)),
                    Cell::new(&change.name),
                    Cell::new(by.join(", ")),
                ]);
            }
            look.table(out, &rows)?;
        }
        if self.grew.is_empty() && self.shrank.is_empty() {
            writeln!(out, "No size differs.")?;
        }
        for (title, list) in [("new", &self.new), ("gone", &self.gone)] {
            let mut sorted: Vec<&Single> = list.iter().collect();
            sorted.sort_by_key(|single| std::cmp::Reverse(single.size));
            let names: Vec<_> =
                sorted.iter().take(5).map(|single| format!("`{}` {}", single.name, count(single.size))).collect();
            let more = if sorted.len() > names.len() { ", ..." } else { "" };
            if !names.is_empty() {
                writeln!(out, "\n{} {title}: {}{more}", count(sorted.len() as u64), names.join(", "))?;
            }
        }
        Ok(())
    }
}

impl By {
    pub(crate) fn text(&self) -> String {
        let suffix = if self.type_name.is_empty() { String::new() } else { format!(": {}", self.type_name) };
        match (self.before, self.after) {
            (0, after) => format!("added `{}{suffix}` ({})", self.field, plural(after, "byte")),
            (before, 0) => format!("removed `{}{suffix}` ({})", self.field, plural(before, "byte")),
            (before, after) => format!("`{}{suffix}` {} -> {}", self.field, count(before), count(after)),
        }
    }
}

/// Returns whether a file begins with a JSON object, or is empty.
fn is_json(file: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 64];
    let read = std::fs::File::open(file).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let start = &start[..read];
    // An empty file counts as JSON, so that the error is about a damaged file of `--save`.
    start.iter().all(u8::is_ascii_whitespace) || start.trim_ascii_start().starts_with(b"{")
}

/// Returns all items by path. If several items have one path, as generic closures do, the largest remains; a future
/// replaces a type.
fn items(known: Known) -> BTreeMap<String, Item> {
    let mut items: BTreeMap<String, Item> = BTreeMap::new();
    let mut add = |path: String, item: Item| match items.get(&path) {
        Some(other) if other.size >= item.size && (other.kind == "future") >= (item.kind == "future") => {}
        _ => {
            items.insert(path, item);
        }
    };
    // Futures are added last and replace types, since they have the names of variables.
    for ty in known.types {
        let parts = type_parts(&ty);
        add(ty.path, Item { kind: "type", name: ty.name, size: ty.size, parts });
    }
    for future in known.futures {
        let parts = future_parts(&future);
        add(future.path, Item { kind: "future", name: future.name, size: future.size, parts });
    }
    items
}

fn type_parts(ty: &KnownType) -> BTreeMap<String, (String, u64)> {
    let mut parts = BTreeMap::new();
    let field =
        |prefix: &str, field: &KnownField| (format!("{prefix}{}", field.name), (field.type_name.clone(), field.size));
    parts.extend(ty.fields.iter().map(|part| field("", part)));
    for variant in &ty.variants {
        parts.insert(variant.name.clone(), (String::new(), variant.size));
        parts.extend(variant.fields.iter().map(|part| field(&format!("{}.", variant.name), part)));
    }
    parts
}

/// Returns the arguments and variables that a future holds, each with its largest size, and the futures that it awaits.
fn future_parts(future: &futures::json::Future) -> BTreeMap<String, (String, u64)> {
    let mut parts: BTreeMap<String, (String, u64)> = BTreeMap::new();
    let mut add = |name: String, type_name: &str, size: u64| {
        let part = parts.entry(name).or_default();
        if size > part.1 {
            *part = (type_name.to_owned(), size);
        }
    };
    for capture in &future.captures {
        add(format!("argument {}", capture.name), &capture.type_name, capture.size);
    }
    for one in &future.awaits {
        for held in &one.held {
            add(held.name.clone(), &held.type_name, held.size);
        }
        if let Some(awaited) = &one.awaited {
            add(format!("await {}", awaited.type_name), "", awaited.size);
        }
    }
    parts
}

/// Returns the parts that differ between two items, with those that explain the change first.
fn by(before: &Item, after: &Item) -> Vec<By> {
    let mut all: Vec<By> = Vec::new();
    for (name, (type_name, size)) in &after.parts {
        let was = before.parts.get(name).map_or(0, |part| part.1);
        if was != *size {
            all.push(By { field: name.clone(), type_name: type_name.clone(), before: was, after: *size });
        }
    }
    for (name, (type_name, size)) in &before.parts {
        if *size > 0 && !after.parts.contains_key(name) {
            all.push(By { field: name.clone(), type_name: type_name.clone(), before: *size, after: 0 });
        }
    }
    let grows = after.size > before.size;
    // Fields that change in the same direction as the item explain its change, so they come first.
    all.sort_by_key(|by| ((by.after > by.before) != grows, std::cmp::Reverse(by.before.abs_diff(by.after))));
    all
}

fn signed(before: u64, after: u64) -> String {
    if after >= before { format!("+{}", count(after - before)) } else { format!("-{}", count(before - after)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Known {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn size_changes_are_explained_by_field() {
        let before = known(
            r#"{"version":1,"types":[
                {"name":"A","path":"a::A","size":16,"fields":[{"name":"x","type":"u64","offset":0,"size":8},
                    {"name":"y","type":"u64","offset":8,"size":8}]},
                {"name":"E","path":"a::E","size":24,"variants":[{"name":"One","size":24,
                    "fields":[{"name":"0","type":"String","offset":0,"size":24}]}]},
                {"name":"Same","path":"a::Same","size":1},
                {"name":"Old","path":"a::Old","size":2}]}"#,
        );
        let after = known(
            r#"{"version":1,"types":[
                {"name":"A","path":"a::A","size":48,"fields":[{"name":"x","type":"[u64; 4]","offset":0,"size":32},
                    {"name":"z","type":"u128","offset":32,"size":16}]},
                {"name":"E","path":"a::E","size":8,"variants":[{"name":"One","size":8,
                    "fields":[{"name":"0","type":"u64","offset":0,"size":8}]}]},
                {"name":"Same","path":"a::Same","size":1},
                {"name":"New","path":"a::New","size":3}]}"#,
        );
        let diff = Diff::between(before, after);
        let mut text = Vec::new();
        diff.write(Format::Json, &mut text).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(json["grew"][0]["name"], "A");
        assert_eq!(json["grew"][0]["by"][0], serde_json::json!({"field":"x","type":"[u64; 4]","before":8,"after":32}));
        assert_eq!(json["grew"][0]["by"][1]["field"], "z");
        assert_eq!(json["grew"][0]["by"][2], serde_json::json!({"field":"y","type":"u64","before":8,"after":0}));
        assert_eq!(json["shrank"][0]["by"][0]["field"], "One");
        assert_eq!(json["new"][0]["name"], "New");
        assert_eq!(json["gone"][0]["name"], "Old");
    }
}

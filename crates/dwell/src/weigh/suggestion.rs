//! Suggested changes of the source with their savings and costs, as text, Markdown and JSON.
#![forbid(unsafe_code)]

use super::render::{JSON_VERSION, Json, Markdown, align, bytes, count, header};
use core::fmt::{self, Write};
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// Suggestions that make a value smaller: the result of [`Tree::advise`](super::Tree::advise).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Advice {
    /// The suggestions, largest saving first. Estimates are last.
    pub suggestions: Vec<Suggestion>,
    /// Types a few bytes above the size of a cache line or of an allocator's size class.
    pub hints: Vec<Hint>,
    /// The requested bytes at present, inline and on the heap.
    pub before: u64,
    /// The bytes after all suggestions except the estimates.
    pub after: u64,
}

/// One change of the source, and the bytes that it saves.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The part to change, in words: `Shape.traits`, `8 fields of PathItem`.
    pub path: String,
    /// Each field that changes: `PathItem.get`, `PathItem.put`.
    pub paths: Vec<String>,
    /// The type at present.
    pub from: String,
    /// The suggested type.
    pub to: String,
    /// The kind of change.
    pub kind: SuggestionKind,
    /// The number of slots with a value that is not empty.
    pub filled: u64,
    /// The number of slots.
    pub slots: u64,
    /// The type whose size changes: the owner of the field, or the type of the elements.
    pub type_name: String,
    /// Bytes of that type, before and after this suggestion.
    pub type_size: [u64; 2],
    /// Requested bytes that this suggestion saves after the suggestions before it.
    pub saves: u64,
    /// Requested bytes in total, after this suggestion and those before it.
    pub total: u64,
    /// The change in the number of allocations; negative if fewer.
    pub allocations: i64,
    /// Other costs, in words.
    pub cost: &'static str,
    /// Whether `saves` is exact. Then `total` is exact too if the [weight](super::Weight::is_exact) of the present
    /// value is.
    pub is_exact: bool,
    /// The removed and added lines, and how uses of the field change.
    pub(super) patch: String,
}

/// A type a few bytes above a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The type.
    pub type_name: String,
    /// The size of the type in bytes, after the suggestions.
    pub size: u64,
    /// The limit in bytes.
    pub limit: u64,
    /// The kind of limit: `cache line`, `size class`.
    pub limit_kind: &'static str,
    /// The number of values.
    pub values: u64,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SuggestionKind {
    /// A struct that is mostly absent moves into a box.
    Box,
    /// A struct that mostly equals its default becomes a [`Sparse`](struct@crate::Sparse).
    Sparse,
    /// A string or vector becomes a `Box<str>` or `Box<[T]>` without spare capacity.
    Exact,
    /// A string or slice becomes a [`ThinStr`](crate::sparse::ThinStr) or [`ThinSlice`](crate::sparse::ThinSlice) of
    /// one word.
    Thin,
    /// A map becomes a [`SortedMap`](crate::sparse::SortedMap).
    Sorted,
    /// The fields of an enum's large and rare variant move into a box.
    Variant,
    /// A `repr(C)` struct lets the compiler order its fields.
    Reorder,
    /// A map or vector with much spare capacity shrinks to its length.
    Shrink,
    /// A `Box<dyn Trait>` of small values becomes a `SmallBox`.
    Inline,
    /// Equal strings share one block. Suggested only if the walk [read strings](super::tree_with_texts).
    Intern,
}

impl SuggestionKind {
    /// Returns the name in JSON: `box`, `sparse` and so on.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Sparse => "sparse",
            Self::Exact => "exact",
            Self::Thin => "thin",
            Self::Sorted => "sorted",
            Self::Variant => "variant",
            Self::Reorder => "reorder",
            Self::Shrink => "shrink",
            Self::Inline => "inline",
            Self::Intern => "intern",
        }
    }
}

impl Suggestion {
    /// Returns the change as a patch for a person to follow: removed lines, added lines, and how uses of the field
    /// change.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// use dwell::Weigh;
    ///
    /// #[derive(Default, Weigh)]
    /// struct Page {
    ///     title: Box<str>,
    ///     author: Option<[u64; 20]>,
    /// }
    ///
    /// let pages: Vec<Page> = (0..10).map(|_| Page::default()).collect();
    /// let advice = dwell::weigh::tree(&pages).advise();
    /// assert_eq!(
    ///     advice.suggestions[0].patch(),
    ///     "struct Page { // 184 -> 24 B; saves 1600 B, leaves 264 B in total\n\
    ///      -    author: Option<[u64; 20]>,\n\
    ///      +    author: Option<Box<[u64; 20]>>,\n\
    ///      }\n\
    ///      // to create a value: `Some(Box::new(value))`; to read: `.as_deref()` for `.as_ref()`; \
    ///      to write: `.as_deref_mut()`\n"
    /// );
    /// # }
    /// ```
    pub fn patch(&self) -> &str {
        &self.patch
    }
}

impl Advice {
    /// Returns all suggestions as [patches](Suggestion::patch).
    pub fn to_patch(&self) -> String {
        let mut text = String::new();
        for suggestion in &self.suggestions {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&suggestion.patch);
        }
        text
    }
}

impl Advice {
    /// Returns the suggestions as JSON, with the schema of [`JSON_VERSION`].
    ///
    /// ```json
    /// {"version": 3, "before": 1864, "after": 264,
    ///  "suggestions": [{"kind": "box", "path": "Page.author", "paths": ["Page.author"], "from": "..", "to": "..",
    ///                   "filled": 0, "slots": 10, "type": "Page", "size": [184, 24], "saves": 1600, "total": 264,
    ///                   "allocations": 0, "cost": "..", "exact": true, "patch": ".."}, ..],
    ///  "hints": [{"type": "Page", "size": 72, "limit": 64, "of": "cache line", "values": 10}, ..]}
    /// ```
    pub fn to_json(&self) -> String {
        let mut text =
            format!(r#"{{"version":{JSON_VERSION},"before":{},"after":{},"suggestions":["#, self.before, self.after);
        for (index, made) in self.suggestions.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            let Suggestion { filled, slots, saves, total, allocations, is_exact, .. } = made;
            let [before, after] = made.type_size;
            let mut paths = String::new();
            for path in &made.paths {
                let _ = write!(paths, "{}{}", if paths.is_empty() { "" } else { "," }, Json(path));
            }
            let _ = write!(
                text,
                r#"{{"kind":"{}","path":{},"paths":[{}],"from":{},"to":{},"filled":{filled},"slots":{slots},"type":{},"size":[{before},{after}],"saves":{saves},"total":{total},"allocations":{allocations},"cost":{},"exact":{is_exact},"patch":{}}}"#,
                made.kind.name(),
                Json(&made.path),
                paths,
                Json(&made.from),
                Json(&made.to),
                Json(&made.type_name),
                Json(made.cost),
                Json(made.patch()),
            );
        }
        text.push_str(r#"],"hints":["#);
        for (index, hint) in self.hints.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(
                text,
                r#"{comma}{{"type":{},"size":{},"limit":{},"of":"{}","values":{}}}"#,
                Json(&hint.type_name),
                hint.size,
                hint.limit,
                hint.limit_kind,
                hint.values
            );
        }
        text.push_str("]}");
        text
    }

    /// Returns the suggestions as a table in Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::from(
            "| field | from | to | type | saves | allocations | filled | cost |\n|---|---|---|---|--:|--:|--:|---|\n",
        );
        for made in &self.suggestions {
            for (column, cell) in made.columns().iter().enumerate() {
                // The first four are types and names.
                let _ = if column < 4 { write!(text, "| {} ", Markdown(cell)) } else { write!(text, "| {cell} ") };
            }
            text.push_str("|\n");
        }
        text
    }
}

impl Suggestion {
    fn columns(&self) -> Vec<String> {
        let of = format!("{} of {}", count(self.filled), count(self.slots));
        let about = if self.is_exact { "" } else { "about " };
        let sign = match self.allocations {
            ..0 => "-",
            0 => "",
            1.. => "+",
        };
        let [before, after] = self.type_size;
        Vec::from([
            self.path.clone(),
            self.from.clone(),
            self.to.clone(),
            format!("{} {before} -> {after} B", self.type_name),
            format!("{about}{}", bytes(self.saves)),
            format!("{sign}{}", count(self.allocations.unsigned_abs())),
            of,
            self.cost.into(),
        ])
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { type_name, size, limit, limit_kind, values } = self;
        write!(
            f,
            "{type_name} is {size} B, {} B above a {limit_kind} of {limit} B ({} values)",
            size.saturating_sub(*limit),
            count(*values)
        )
    }
}

/// Writes a table for a terminal: each suggestion with its saving and the size of the changed type.
impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::from([header(&["", "type", "saves", "allocations", "filled"])]);
        for made in &self.suggestions {
            let mut line = made.columns();
            line.truncate(7);
            // The path and the two types are one column.
            let what = format!("{}: {} -> {}", line[0], line[1], line[2]);
            line.drain(..2);
            line[0] = what;
            lines.push(line);
        }
        f.write_str(&align(&lines))?;
        for hint in &self.hints {
            writeln!(f, "hint: {hint}")?;
        }
        let exact = if self.suggestions.iter().all(|made| made.is_exact || made.total == 0) { "" } else { "about " };
        writeln!(f, "{} now, {exact}{} after the suggestions", bytes(self.before), bytes(self.after))
    }
}

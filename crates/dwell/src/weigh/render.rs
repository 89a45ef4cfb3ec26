//! A tree as text, Markdown, JSON and folded stacks.
#![forbid(unsafe_code)]

use super::tree::{Edge, Node, Tree};
use super::types::{Kind, Reach, short};
use core::fmt::{self, Write};
use std_alloc::format;
use std_alloc::string::{String, ToString};
use std_alloc::vec::Vec;

/// The version of the JSON that [`Tree::to_json`] and `Advice::to_json` write.
///
/// It increases when a key is removed or changes its meaning. Keys may be added within a version.
pub const JSON_VERSION: u32 = 3;

/// The columns of the tables.
pub(super) const TITLE: [&str; 9] = ["", "values", "slots", "empty", "inline", "heap", "waste", "blocks", "subtree"];

impl Tree {
    /// Returns a table for a terminal, with a line for each node, indented by depth.
    ///
    /// | column | of the node |
    /// |---|---|
    /// | values | the number of values, including `None` and empty collections |
    /// | slots | the number of slots for values, occupied or not; for a variant, the number of values, since variants overlap |
    /// | empty | the percentage of slots without a value, or with a `None` or an empty collection |
    /// | inline | bytes of the slots, which are part of the parent's slots or of its blocks |
    /// | heap | bytes of the blocks that the values own directly |
    /// | waste | unused bytes of those blocks |
    /// | blocks | the number of those blocks |
    /// | subtree | bytes of the blocks of this node and of its descendants |
    ///
    /// ```
    /// let text = dwell::weigh::tree(&vec![String::from("a")]).to_text();
    /// assert!(text.lines().nth(1).unwrap().starts_with("Vec<String>"));
    /// ```
    pub fn to_text(&self) -> String {
        let mut lines = Vec::from([header(&TITLE)]);
        let below = self.heap_below();
        self.shown(&mut |depth, index| {
            let mut line = self.columns(index, below[index]);
            line[0].insert_str(0, &"  ".repeat(depth));
            lines.push(line);
        });
        let mut text = align(&lines);
        put(&mut text, format_args!("{}\n", self.weight));
        text
    }

    /// Returns a table in Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::from("| |");
        cells(&mut text, " ", &header(&TITLE)[1..], " |");
        text.push_str("\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
        let below = self.heap_below();
        self.shown(&mut |depth, index| {
            let columns = self.columns(index, below[index]);
            // Markdown drops leading spaces.
            text.push_str("| ");
            for _ in 0..depth {
                text.push_str("&emsp;");
            }
            put(&mut text, format_args!("{} |", Markdown(&columns[0])));
            cells(&mut text, " ", &columns[1..], " |");
            text.push('\n');
        });
        text
    }

    /// Returns folded stacks for flame graph tools: a line for each node, `name;name;name bytes`.
    ///
    /// The bytes are those of the blocks that the node's values own directly. The first line includes the inline bytes.
    pub fn to_folded(&self) -> String {
        let mut text = String::new();
        let mut path = Path::default();
        self.each(&mut |depth, index| {
            path.enter(depth, ";", &Folded(&self.title(index)).to_string());
            let node = &self.nodes[index];
            let bytes = if index == 0 { node.heap.saturating_add(self.weight.inline) } else { node.heap };
            if bytes != 0 {
                put(&mut text, format_args!("{} {bytes}\n", path.text));
            }
        });
        text
    }

    /// Returns the whole tree as JSON, with the schema of [`JSON_VERSION`].
    ///
    /// ```json
    /// {"version": 3, "model": "Requested", "inline": 24, "heap": 25, "allocations": 2, "opaque": 0, "accuracy": "exact",
    ///  "nodes": [{"parent": null, "edge": "root", "label": "", "type": "..", "size": 24, "align": 8, "values": 1,
    ///             "slots": 1, "filled": 1, "heap": 24, "requested": 24, "allocations": 1, "waste": 0}, ..]}
    /// ```
    ///
    /// If the walk [read strings](super::tree_with_texts), a node also has `"texts": {"distinct": 2, "bytes": 8}`.
    pub fn to_json(&self) -> String {
        let weight = &self.weight;
        let mut text = format!(r#"{{"version":{JSON_VERSION},"model":"{:?}""#, self.model);
        numbers(
            &mut text,
            &[
                ("inline", weight.inline),
                ("heap", weight.heap),
                ("allocations", weight.allocations),
                ("opaque", weight.opaque),
            ],
        );
        put(&mut text, format_args!(r#","accuracy":"{}","nodes":["#, weight.accuracy().name()));
        for (index, node) in self.nodes.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            let parent: &dyn fmt::Display = match &node.parent {
                Some(parent) => parent,
                None => &"null",
            };
            put(
                &mut text,
                format_args!(
                    r#"{{"parent":{parent},"edge":"{}","label":{},"type":{}"#,
                    edge_name(node.edge),
                    Json(self.label(index)),
                    Json(node.ty.name()),
                ),
            );
            numbers(
                &mut text,
                &[
                    ("size", node.size),
                    ("align", node.ty.align as u64),
                    ("values", node.instances),
                    ("slots", node.slots),
                    ("filled", node.filled),
                    ("heap", node.heap),
                    ("requested", node.requested),
                    ("allocations", node.allocations),
                    ("waste", node.waste),
                ],
            );
            if let Some(texts) = &node.texts {
                put(
                    &mut text,
                    format_args!(r#","texts":{{"distinct":{},"bytes":{}}}"#, texts.distinct(), texts.bytes()),
                );
            }
            text.push('}');
        }
        text.push_str("]}");
        text
    }

    /// Returns the name of a node with its type: `traits: Option<Traits>`.
    pub(super) fn title(&self, index: usize) -> String {
        let node = &self.nodes[index];
        let (label, ty) = (self.label(index), short(node.ty.name()));
        match node.edge {
            Edge::Root => ty,
            Edge::Variant(_) => format!("::{label}"),
            _ => format!("{label}: {ty}"),
        }
    }

    /// Returns the cells of a row of the table, one for each column of [`TITLE`].
    pub(super) fn columns(&self, index: usize, below: u64) -> Vec<String> {
        let node = &self.nodes[index];
        let empty = if node.slots == 0 || node.filled == node.slots { String::new() } else { percent(node) };
        Vec::from([
            self.title(index),
            count(node.instances),
            count(node.slots),
            empty,
            bytes(node.inline()),
            bytes(node.heap),
            bytes(node.waste),
            count(node.allocations),
            bytes(below),
        ])
    }

    /// Calls `f` with the depth and number of each node, parents first.
    pub(super) fn each(&self, f: &mut dyn FnMut(usize, usize)) {
        // A child of a recursive type may be an enclosing node, which the loop has visited already.
        let mut todo: Vec<(usize, usize)> = Vec::from([(0, 0)]);
        while let Some((depth, index)) = todo.pop() {
            f(depth, index);
            for &child in self.nodes[index].children.iter().rev() {
                if self.nodes[child].parent == Some(index) {
                    todo.push((depth + 1, child));
                }
            }
        }
    }

    /// Calls `f` as [`each`](Self::each) does, but not for fields and elements that own nothing, such as numbers.
    pub(super) fn shown(&self, f: &mut dyn FnMut(usize, usize)) {
        self.each(&mut |depth, index| {
            let node = &self.nodes[index];
            let is_plain = node.ty.reach == Reach::Plain && node.edge.is_inline();
            if !is_plain || matches!(node.edge, Edge::Variant(_)) {
                f(depth, index);
            }
        });
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

pub(super) fn edge_name(edge: Edge) -> &'static str {
    match edge {
        Edge::Root => "root",
        Edge::Field(_) => "field",
        Edge::Variant(_) => "variant",
        Edge::Optional => "some",
        Edge::Inner => "inner",
        Edge::Array => "array",
        Edge::Element => "element",
        Edge::Key => "key",
        Edge::Value => "value",
        Edge::Pointee => "pointee",
    }
}

/// The names from the root of a tree to a node.
#[derive(Default)]
pub(super) struct Path {
    pub(super) text: String,
    /// The end of each name in `text`.
    ends: Vec<usize>,
}

impl Path {
    /// Changes the path to a node at `depth`, whose parent is on the path.
    pub(super) fn enter(&mut self, depth: usize, separator: &str, name: &str) {
        self.ends.truncate(depth);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
        if depth > 0 {
            self.text.push_str(separator);
        }
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }
}

/// Appends formatted text. `write!` to a `String` compiles to more code at each use.
pub(super) fn put(text: &mut String, what: fmt::Arguments<'_>) {
    let _ = text.write_fmt(what);
}

/// Writes members of a JSON object, after others.
fn numbers(text: &mut String, members: &[(&str, u64)]) {
    for (name, number) in members {
        put(text, format_args!(r#","{name}":{number}"#));
    }
}

/// Returns the first line of a table.
pub(super) fn header(titles: &[&str]) -> Vec<String> {
    let mut line = Vec::with_capacity(titles.len());
    for &title in titles {
        line.push(title.into());
    }
    line
}

/// Writes cells of a table, each between `before` and `after`.
pub(super) fn cells(text: &mut String, before: &str, cells: &[String], after: &str) {
    for cell in cells {
        put(text, format_args!("{before}{cell}{after}"));
    }
}

/// Aligns columns: the first to the left, the others to the right.
pub(super) fn align(lines: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for line in lines {
        for (column, entry) in line.iter().enumerate() {
            let width = entry.chars().count();
            match widths.get_mut(column) {
                Some(most) => *most = width.max(*most),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for line in lines {
        let start = text.len();
        for (column, entry) in line.iter().enumerate() {
            // Not by a width in `format!`, which panics above 65,535: the name of a type can be longer.
            let padding = widths[column] - entry.chars().count();
            if column == 0 {
                text.push_str(entry);
            }
            for _ in 0..padding {
                text.push(' ');
            }
            if column > 0 {
                text.push_str("  ");
                text.push_str(entry);
            }
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text
}

/// Formats a number with thousands separators.
pub(super) fn count(n: u64) -> String {
    let mut text = n.to_string();
    let mut at = text.len();
    while at > 3 {
        at -= 3;
        text.insert(at, ',');
    }
    text
}

/// Formats bytes with a unit, and one decimal from 10 kB on.
pub(super) fn bytes(n: u64) -> String {
    let (unit, name) = match n {
        0..10_000 => return format!("{n} B"),
        10_000..10_000_000 => (1e3, "kB"),
        10_000_000..10_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{:.1} {name}", n as f64 / unit)
}

/// Formats the percentage of empty slots. The result is 100 only if all are empty.
fn percent(node: &Node) -> String {
    let percent = node.percent_empty();
    let percent = if node.filled != 0 && percent > 99.99 { 99.99 } else { percent };
    format!("{percent:.2} %")
}

/// Writes each character of `text` with `one`.
fn escape(
    f: &mut fmt::Formatter<'_>,
    text: &str,
    one: &dyn Fn(&mut fmt::Formatter<'_>, char) -> fmt::Result,
) -> fmt::Result {
    for c in text.chars() {
        one(f, c)?;
    }
    Ok(())
}

/// Writes a character after a backslash.
fn marked(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    f.write_char('\\')?;
    f.write_char(c)
}

/// A text as a JSON string.
pub(super) struct Json<'a>(pub(super) &'a str);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        escape(f, self.0, &|f, c| match c {
            '"' | '\\' => marked(f, c),
            c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c)),
            c => f.write_char(c),
        })?;
        f.write_char('"')
    }
}

/// A text in a cell of a Markdown table.
pub(super) struct Markdown<'a>(pub(super) &'a str);

impl fmt::Display for Markdown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, &|f, c| match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => marked(f, c),
            '<' => f.write_str("&lt;"),
            '&' => f.write_str("&amp;"),
            '\n' | '\r' => f.write_char(' '),
            c => f.write_char(c),
        })
    }
}

/// A name in folded stacks, which separate names by semicolons and stacks by newlines.
struct Folded<'a>(&'a str);

impl fmt::Display for Folded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, &|f, c| match c {
            ';' => f.write_char(','),
            c if c.is_control() => f.write_char(' '),
            c => f.write_char(c),
        })
    }
}

/// A text escaped for HTML, including attributes.
pub(super) struct Html<'a>(pub(super) &'a str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, &|f, c| match c {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            c => f.write_char(c),
        })
    }
}

/// Returns the CSS class of a type's kind, which determines the colour.
pub(super) fn class(node: &Node) -> &'static str {
    match node.ty.kind {
        Kind::Text { .. } => "text",
        Kind::Sequence { .. } => "sequence",
        Kind::Map { .. } => "map",
        Kind::Pointer { .. } => "pointer",
        Kind::Struct { .. } | Kind::Enum { .. } => "struct",
        _ => "other",
    }
}

//! A report as one HTML page: numbers, suggestions, icicle charts of live bytes, and a searchable table.
//!
//! The page loads nothing from the network. The HTML has all information; a script (`page/page.js`) draws the charts, shows the
//! details of a bar with its finding, and searches.

use crate::units::{bytes, count, plural};
use serde::Serialize;
use std::fmt::Write;

/// The contents of a page.
#[derive(Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// What the heading is short for, shown beside the pointer.
    pub about: String,
    /// What the bars of the charts count.
    pub unit: Unit,
    /// What suggestions save.
    pub saves: Unit,
    /// The main numbers, each with a label.
    pub numbers: Vec<(String, String)>,
    /// Notes, such as reasons why numbers may be inexact.
    pub notes: Vec<String>,
    /// The suggestions.
    pub suggestions: Vec<Suggestion>,
    /// The icicle charts, one above the other, on one scale but for those that are alone.
    pub icicles: Vec<Icicle>,
    /// The histograms.
    pub histograms: Vec<Histogram>,
    /// The differences between two snapshots: a heading and its rows.
    pub changes: Option<(String, Table)>,
    /// The searchable table at the end of the page.
    pub table: Table,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    #[default]
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// Anything else.
    Count,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Nanos => "ns",
            Self::Count => "",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Nanos => "time",
            Self::Count => "number",
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "only a few digits are shown")]
    fn shown(self, number: u64) -> String {
        match self {
            Self::Bytes => bytes(number),
            Self::Count => count(number),
            Self::Nanos if number >= 1_000_000 => format!("{:.1} ms", number as f64 / 1e6),
            Self::Nanos if number >= 1000 => format!("{:.1} us", number as f64 / 1e3),
            Self::Nanos => format!("{number} ns"),
        }
    }
}

/// A suggested change and its saving.
#[derive(Debug, Default)]
pub struct Suggestion {
    /// The type or field to change.
    pub location: String,
    /// The present type.
    pub before: String,
    /// The suggested type.
    pub after: String,
    /// The number of bytes that the change saves.
    pub saves: u64,
    /// The reason for the saving, and the cost.
    pub why: String,
    /// The line of the source to change, or that allocates.
    pub at: String,
    /// The paths of the bars that it changes.
    pub paths: Vec<String>,
}

/// A histogram of a quantity.
#[derive(Debug, Default)]
pub struct Histogram {
    /// The counted quantity.
    pub title: String,
    /// What the numbers are.
    pub unit: Unit,
    /// Ranges, each with the number of values in it.
    pub bars: Vec<(String, u64)>,
}

/// An icicle chart: live bytes as nested bars.
#[derive(Debug, Default, Serialize)]
pub struct Icicle {
    /// The heading of the chart.
    pub title: String,
    /// The outermost bar.
    pub root: Bar,
    /// Whether it has a scale of its own.
    pub is_alone: bool,
}

/// A bar. Its width shows its own bytes and those of the bars below it.
#[derive(Debug, Default, Serialize)]
pub struct Bar {
    /// The label of the bar.
    pub name: String,
    /// Its own bytes and those of the bars below.
    pub bytes: u64,
    /// The use of its own bytes, which decides the colour.
    pub class: Class,
    /// Pairs of label and text, shown after a click on the bar.
    pub details: Vec<(String, String)>,
    /// The bars below, from left to right.
    pub bars: Vec<Bar>,
}

/// The use of a bar's own bytes, which decides its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Structs and enums.
    #[default]
    Struct,
    /// Strings.
    Text,
    /// Vectors, slices.
    Sequence,
    /// Maps and sets.
    Map,
    /// Boxes.
    Pointer,
    /// Fields that are absent but take bytes.
    Absent,
    /// Unused capacity.
    Spare,
    /// Padding: bytes that no value uses.
    Padding,
    /// Anything else.
    Other,
}

impl Class {
    const ALL: [(Self, &'static str, &'static str); 9] = [
        (Self::Struct, "struct", "structs, enums"),
        (Self::Text, "text", "strings"),
        (Self::Sequence, "sequence", "lists"),
        (Self::Map, "map", "maps"),
        (Self::Pointer, "pointer", "boxes"),
        (Self::Absent, "absent", "absent values"),
        (Self::Spare, "spare", "unused capacity"),
        (Self::Padding, "padding", "padding"),
        (Self::Other, "other", "other"),
    ];
}

/// A table that the page searches.
#[derive(Debug, Default)]
pub struct Table {
    /// The names of the columns.
    pub head: Vec<String>,
    /// The rows. The first cell is a name; the others are numbers or short texts.
    pub rows: Vec<Vec<String>>,
}

const STYLE: &str = concat!("<style>\n", include_str!("page/page.css"), "</style>\n");
const SCRIPT: &str = concat!("<script>\n", include_str!("page/page.js"), "</script>\n");

impl Page {
    /// Renders the page: the picture with what a bar is beside it, what to change, and then all else.
    pub fn html(&self) -> String {
        let mut out = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width\">\n");
        out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n");
        let (title, unit) = (escaped(&self.title), self.unit.name());
        let _ = writeln!(out, "<title>{title}</title>\n{STYLE}</head><body data-unit=\"{unit}\">");
        let _ = write!(out, "<header><h1 title=\"{}\">{title}</h1><div id=\"numbers\">", escaped(&self.about));
        for (label, number) in &self.numbers {
            let _ = write!(out, "<div><b>{}</b>{}</div>", escaped(number), escaped(label));
        }
        out.push_str("</div></header>\n");
        self.write_top(&mut out);
        for note in &self.notes {
            let _ = writeln!(out, "<p class=\"dim\">{}</p>", escaped(note));
        }
        self.write_changes(&mut out);
        self.write_histograms(&mut out);
        self.write_table(&mut out);
        // An escaped `<` cannot end the element.
        let data = serde_json::to_string(&self.icicles).unwrap_or_default().replace('<', "\\u003c");
        let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{data}</script>\n{SCRIPT}</body></html>");
        out
    }

    fn write_suggestions(&self, out: &mut String) {
        out.push_str("<h2>What to change, largest saving first</h2>\n");
        if self.suggestions.is_empty() {
            let _ = writeln!(out, "<p>No change that saves {} was found.</p>", self.saves.what());
            return;
        }
        let most = self.suggestions.iter().map(|one| one.saves).max().unwrap_or(1).max(1);
        let (first, rest) = self.suggestions.split_at(self.suggestions.len().min(FIRST));
        out.push_str("<div id=\"advice\">\n");
        cards(out, first, self.saves, most);
        out.push_str("</div>\n");
        if !rest.is_empty() {
            let number = plural(rest.len() as u64, "suggestion");
            let _ = writeln!(out, "<details id=\"more\"><summary>{number} with smaller savings</summary>");
            cards(out, rest, self.saves, most);
            out.push_str("</details>\n");
        }
    }

    /// Writes the first picture, what to change, and the other pictures; beside them is what a bar is.
    fn write_top(&self, out: &mut String) {
        out.push_str("<div class=\"top\"><div>\n");
        if self.icicles.is_empty() {
            self.write_suggestions(out);
        }
        for (index, icicle) in self.icicles.iter().enumerate() {
            let _ = writeln!(
                out,
                "<div class=\"chart\"><h3>{}, {} <span class=\"crumbs\" id=\"crumbs{index}\"></span></h3>\
                 <div class=\"icicle\" id=\"plot{index}\"></div>",
                escaped(&icicle.title),
                self.unit.shown(icicle.root.bytes)
            );
            if index == 0 {
                self.write_key(out);
            }
            out.push_str("</div>\n");
            if index == 0 {
                self.write_suggestions(out);
                if self.icicles.len() > 1 {
                    out.push_str("<h2>Other pictures</h2>\n");
                }
            }
        }
        let what = self.unit.what();
        let _ = writeln!(
            out,
            "</div><div id=\"side\"><div id=\"detail\" class=\"dim\">A bar is as wide as its {what} with that of the bars \
             below it. Click one to see what it is and to widen it, or walk with Tab and the arrows. Escape goes back, / \
             searches.</div></div></div>"
        );
    }

    /// Writes the colours that the charts use.
    fn write_key(&self, out: &mut String) {
        fn uses(bar: &Bar, class: Class) -> bool {
            bar.class == class || bar.bars.iter().any(|bar| uses(bar, class))
        }
        // Functions have no kinds of memory.
        let plain = [Class::Struct, Class::Pointer, Class::Other];
        let mut kinds = Class::ALL.iter().filter(|(class, ..)| !plain.contains(class));
        if !kinds.any(|(class, ..)| self.icicles.iter().any(|icicle| uses(&icicle.root, *class))) {
            return;
        }
        out.push_str("<p class=\"key\">");
        for (class, name, text) in Class::ALL {
            if self.icicles.iter().any(|icicle| uses(&icicle.root, class)) {
                let _ = write!(out, "<span class=\"{name}\">{text}</span>");
            }
        }
        out.push_str("</p>");
    }

    fn write_changes(&self, out: &mut String) {
        let Some((title, table)) = &self.changes else { return };
        let _ = writeln!(out, "<h2>{}</h2>", escaped(title));
        if table.rows.is_empty() {
            out.push_str("<p>No difference: the same types and fields hold the same bytes.</p>\n");
            return;
        }
        let (first, rest) = table.rows.split_at(table.rows.len().min(CHANGES));
        write_rows(out, "changes", &table.head, first);
        if !rest.is_empty() {
            let _ = writeln!(out, "<details><summary>{} more</summary>", rest.len());
            write_rows(out, "more-changes", &table.head, rest);
            out.push_str("</details>\n");
        }
    }

    fn write_histograms(&self, out: &mut String) {
        // One bar compares nothing.
        let histograms: Vec<&Histogram> = self.histograms.iter().filter(|histogram| histogram.bars.len() > 1).collect();
        if histograms.is_empty() {
            return;
        }
        out.push_str("<h2>Sizes and lengths</h2>\n<div class=\"histograms\">\n");
        for histogram in histograms {
            let most = histogram.bars.iter().map(|bar| bar.1).max().unwrap_or(1).max(1);
            let _ = writeln!(out, "<div><h3>{}</h3><table class=\"histogram\"><tbody>", escaped(&histogram.title));
            for (label, number) in &histogram.bars {
                // At least 1 %, so that the bar is visible.
                let width = (u128::from(*number) * 100 / u128::from(most)).max(1);
                let _ = writeln!(
                    out,
                    "<tr><td>{}</td><td>{}</td><td><i style=\"width:{width}%\"></i></td></tr>",
                    escaped(label),
                    histogram.unit.shown(*number)
                );
            }
            out.push_str("</tbody></table></div>\n");
        }
        out.push_str("</div>\n");
    }

    fn write_table(&self, out: &mut String) {
        let rows = self.table.rows.len();
        let _ = writeln!(
            out,
            "<h2>Full table</h2>\n<p><input id=\"search\" type=\"search\" placeholder=\"search\" aria-label=\"search\"> <span id=\"shown\">{rows}</span> of {rows} rows</p>"
        );
        write_rows(out, "table", &self.table.head, &self.table.rows);
    }
}

fn write_rows(out: &mut String, id: &str, head: &[String], rows: &[Vec<String>]) {
    // A column with long words is broken between these and not in the middle of a short one.
    let is_long: Vec<bool> =
        (0..head.len()).map(|at| rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.len() > LONG))).collect();
    let _ = write!(out, "<div class=\"wide\"><table id=\"{id}\"><thead><tr>");
    for name in head {
        let _ = write!(out, "<th>{}</th>", escaped(name));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let class = if is_long.get(at) == Some(&true) { " class=\"long\"" } else { "" };
            let _ = write!(out, "<td{class}>{}</td>", escaped(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

/// The number of changes shown by default.
const CHANGES: usize = 30;
/// The number of suggestions shown by default.
const FIRST: usize = 12;

/// The length from which a cell of a table may take several lines.
const LONG: usize = 24;

fn cards(out: &mut String, suggestions: &[Suggestion], unit: Unit, most: u64) {
    for one in suggestions {
        let width = (u128::from(one.saves) * 100 / u128::from(most)).max(1);
        let saves = unit.shown(one.saves);
        let change = if one.before.is_empty() {
            format!("<code>{}</code>", escaped(&one.after))
        } else {
            format!("<code>{}</code> &rarr; <code>{}</code>", escaped(&one.before), escaped(&one.after))
        };
        let _ = writeln!(
            out,
            "<article class=\"advice\" tabindex=\"0\" data-saves=\"{saves}\" data-paths=\"{}\"><div class=\"saves\">\
             <b>{saves}</b><i style=\"width:{width}%\"></i></div><div><div class=\"what name\">{}</div><div \
             class=\"how name\">{change}</div><div class=\"dim\">{}</div><div class=\"line name\">{}</div></div></article>",
            escaped(&one.paths.join("\n")),
            escaped(&one.location),
            escaped(&one.why),
            escaped(&one.at),
        );
    }
}

/// Returns the last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Escapes `text` for an element or a quoted attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_data_is_escaped() {
        let hostile = "</script><img src=x onerror=alert(1)>\"&";
        let page = Page {
            unit: Unit::Bytes,
            saves: Unit::Bytes,
            title: hostile.into(),
            about: hostile.into(),
            numbers: vec![(hostile.into(), hostile.into())],
            notes: vec![hostile.into()],
            suggestions: vec![Suggestion {
                location: hostile.into(),
                paths: vec![hostile.into()],
                ..Suggestion::default()
            }],
            icicles: vec![Icicle {
                title: hostile.into(),
                root: Bar { name: hostile.into(), bytes: 1, ..Bar::default() },
                is_alone: true,
            }],
            histograms: vec![Histogram {
                title: hostile.into(),
                bars: vec![(hostile.into(), 1), (hostile.into(), 2)],
                ..Histogram::default()
            }],
            changes: Some((hostile.into(), Table { head: vec![hostile.into()], rows: vec![vec![hostile.into()]] })),
            table: Table { head: vec![hostile.into()], rows: vec![vec![hostile.into()]] },
        };
        let html = page.html();
        assert!(!html.contains("<img"));
        assert_eq!(html.matches("</script>").count(), 2);
    }

    #[test]
    fn page_loads_no_external_resources() {
        let html = Page::default().html();
        assert!(
            !html.contains("://") && !html.contains("src=") && !html.contains("@import") && !html.contains("<link")
        );
        assert!(html.contains("default-src 'none'"));
    }

    #[test]
    fn each_class_has_a_colour() {
        for (class, name, _) in Class::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{name}\""));
            assert!(STYLE.contains(&format!(".{name}{{background")), "{name}");
        }
    }
}

//! The report as sentences and lists, for terminals too narrow for tables, and for pipes and files.

use super::report::{FIRST, Field, Options, Report, Takes, Total, Type};
use anstyle::Style;
use dwell_output::units::{bytes, count, percent};
use std::fmt::Write as _;
use std::io;

/// The most types that are listed below a suggestion.
const PLACES: usize = 5;

impl Report {
    /// Writes the report in lines of at most `width` columns; a longer word gets a line of its own.
    pub(super) fn lists(&self, options: &Options, width: usize, out: &mut impl io::Write) -> io::Result<()> {
        let bold = Style::new().bold();
        let mut page = Page { width, out };
        page.text(0, &self.summary())?;
        page.text(0, "Loaded into memory, the documents take, as predicted:")?;
        let about = if self.value_is_exact { "" } else { "about " };
        page.total(about, self.value, "as serde_json::Value")?;
        page.total("", self.naive, "in naive types: String, Vec, HashMap, u64, no boxes")?;
        page.total("", self.std, "in lean types, with serde and std only")?;
        page.total("", self.lean, "in lean types")?;
        for doubt in &self.doubts {
            page.text(0, &format!("Not exact: {doubt}."))?;
        }
        writeln!(page.out, "\n{bold}What to change{bold:#}")?;
        page.text(0, "The largest saving comes first. Each saving assumes that the changes above it are made.")?;
        let shown = self.suggestions.len().min(options.top.unwrap_or(FIRST));
        for (number, one) in (1..).zip(&self.suggestions[..shown]) {
            let saves = bytes(one.saves.unsigned_abs());
            page.item(&format!("{number}. "), &format!("Save {saves} ({} left): {}.", bytes(one.total), one.why))?;
            page.text(3, &format!("{} -> {}", one.from, one.to))?;
            for place in one.places.iter().take(PLACES) {
                page.text(5, &format!("{}: {}", place.path, bytes(place.saves.unsigned_abs())))?;
            }
            if let Some(more) = one.places.len().checked_sub(PLACES + 1) {
                page.text(5, &format!("and {} more", count(more as u64 + 1)))?;
            }
            let blocks = match one.allocations {
                0 => String::new(),
                1 => ", 1 more allocation".to_owned(),
                2.. => format!(", {} more allocations", count(one.allocations.unsigned_abs())),
                -1 => ", but 1 fewer allocation".to_owned(),
                _ => format!(", but {} fewer allocations", count(one.allocations.unsigned_abs())),
            };
            page.text(3, &format!("Cost: {}{blocks}.", one.cost))?;
        }
        self.end_of_suggestions(shown, page.out)?;
        if !self.repeats.is_empty() {
            writeln!(page.out, "\n{bold}Repeated strings{bold:#}")?;
            page.text(
                0,
                "Interning would store each distinct string once; the lean types do not do that. The savings are \
                 estimates.",
            )?;
            for one in self.repeats.iter().take(options.top.unwrap_or(FIRST / 2)) {
                let (number, distinct) = (count(one.count), count(one.distinct));
                let text =
                    format!("{}: {number} strings, {distinct} of them distinct; saves {}.", one.path, bytes(one.saves));
                page.item("- ", &text)?;
            }
        }
        let shown = self.records.len().min(options.top.unwrap_or(FIRST));
        for record in &self.records[..shown] {
            writeln!(page.out, "\n{bold}{}{bold:#}", record.name)?;
            page.text(2, &record.about())?;
            for field in &record.fields {
                page.item("  - ", &field.about(record.instances))?;
                if let (Some(naive), Some(lean)) = (&field.naive, &field.lean) {
                    page.text(4, &change(naive, lean))?;
                }
            }
        }
        self.end(shown, page.out)
    }
}

impl Type {
    /// Describes the objects and their memory in sentences.
    fn about(&self) -> String {
        let mut text = match self.paths.first() {
            Some(path) => format!("{path}: {}", self.objects()),
            None => self.objects(),
        };
        if let (Some(naive), Some(lean)) = (self.naive, self.lean) {
            let each = if naive.size == lean.size {
                format!(" of {} bytes", count(naive.size))
            } else {
                format!(" of {} bytes as naive types, {} as lean ones", count(naive.size), count(lean.size))
            };
            text.push_str(&each);
        }
        text + "."
    }
}

impl Field {
    /// Describes how many instances have the field, and its values.
    fn about(&self, instances: u64) -> String {
        let mut text = match self.count {
            count if count == instances => format!("{}: in all objects", self.name),
            filled => format!("{}: in {} of the objects", self.name, percent(filled, instances)),
        };
        if self.nulls > 0 {
            let _ = write!(text, ", null in {}", percent(self.nulls, instances));
        }
        if !self.about.is_empty() {
            let _ = write!(text, "; {}", self.about);
        }
        text
    }
}

/// Describes the types of a field and their memory.
fn change(naive: &Takes, lean: &Takes) -> String {
    let (was, is) = (naive.inline + naive.heap, lean.inline + lean.heap);
    if naive.of == lean.of {
        let same = format!("{}, {}", naive.of, bytes(was));
        return if was == is { same } else { format!("{same} -> {}", bytes(is)) };
    }
    format!("{} -> {}, {} -> {}", naive.of, lean.of, bytes(was), bytes(is))
}

/// A writer of lines of a limited width.
struct Page<'a, W> {
    width: usize,
    out: &'a mut W,
}

impl<W: io::Write> Page<'_, W> {
    fn total(&mut self, about: &str, total: Total, what: &str) -> io::Result<()> {
        let bytes = format!("{about}{}", bytes(total.bytes));
        self.item(&format!("  {bytes:>12}  "), &format!("{what}, {} allocations", count(total.allocations)))
    }

    /// Writes a text with an indent.
    fn text(&mut self, indent: usize, text: &str) -> io::Result<()> {
        self.item(&" ".repeat(indent), text)
    }

    /// Writes a text with `head` before its first line and blanks before the others.
    fn item(&mut self, head: &str, text: &str) -> io::Result<()> {
        let indent = head.chars().count();
        let (mut line, mut length) = (head.to_owned(), indent);
        for word in text.split(' ') {
            let word_length = word.chars().count();
            if length > indent && length + 1 + word_length > self.width {
                writeln!(self.out, "{}", line.trim_end())?;
                line = " ".repeat(indent);
                length = indent;
            }
            if length > indent {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += word_length;
        }
        writeln!(self.out, "{}", line.trim_end())
    }
}

//! How the reports of `cargo dwell` look: headings and tables for a terminal or for Markdown, [numbers for people](units),
//! [similar names](nearest), the [HTML page](page), and [SARIF](sarif).

pub mod nearest;
pub mod page;
pub mod sarif;
pub mod units;

use anstyle::Style;
use anyhow::{Context, Result};
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, presets};
use std::io::{self, Write};

/// Writes a line to standard output like std's macro, but does not panic if nobody reads it, as after `| head`.
#[macro_export]
macro_rules! println {
    ($($text:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stdout(), $($text)*);
    }};
}

/// The same without the end of the line.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::write!(::std::io::stdout(), $($text)*);
    }};
}

/// Writes a line to standard error like std's macro, but does not panic if nobody reads it.
#[macro_export]
macro_rules! eprintln {
    ($($text:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stderr(), $($text)*);
    }};
}

/// The same without the end of the line.
#[macro_export]
macro_rules! eprint {
    ($($text:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::write!(::std::io::stderr(), $($text)*);
    }};
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// Sentences and lists, or tables from 120 columns on
    #[default]
    Human,
    /// One JSON object, whose `version` rises when a field is removed or changes its meaning
    Json,
    /// Tables in Markdown
    Markdown,
}

/// The style of a report.
#[derive(Clone, Debug)]
pub struct Look {
    bold: Style,
    /// Whether the report is Markdown, not terminal output.
    pub markdown: bool,
    /// The width in columns; `None` to ask the terminal.
    pub width: Option<u16>,
}

impl Look {
    /// Returns the style for a terminal.
    pub fn terminal() -> Self {
        Self { bold: Style::new().bold(), markdown: false, width: None }
    }

    /// Returns the style for Markdown.
    pub fn page() -> Self {
        Self { bold: Style::new(), markdown: true, width: Some(u16::MAX) }
    }

    /// Writes a heading, and text after it.
    pub fn heading(&self, out: &mut impl io::Write, heading: &str, rest: &str) -> io::Result<()> {
        let bold = self.bold;
        if self.markdown {
            writeln!(out, "\n## {heading}\n")?;
            if rest.is_empty() { Ok(()) } else { writeln!(out, "{}\n", rest.trim()) }
        } else {
            writeln!(out, "\n{bold}{heading}{bold:#}{rest}")
        }
    }

    /// Writes rows, of which the first is the header.
    pub fn table(&self, out: &mut impl io::Write, rows: &[Vec<Cell>]) -> io::Result<()> {
        let mut table = Table::new();
        table.load_preset(if self.markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(width) = self.width {
            table.set_width(width);
        }
        let mut rows = rows.iter().cloned();
        if let Some(head) = rows.next() {
            table.set_header(head);
        }
        table.add_rows(rows);
        for line in table.trim_fmt().lines() {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Returns the number of columns available for text.
    pub fn columns(&self) -> usize {
        usize::from(self.width.or_else(|| Table::new().width()).unwrap_or(100).min(200))
    }
}

/// Returns the cells of a table's header.
pub fn header(names: &[&str]) -> Vec<Cell> {
    names.iter().map(|name| Cell::new(name).add_attribute(Attribute::Underlined)).collect()
}

/// Returns a right-aligned cell, for a number.
pub fn right(text: impl Into<String>) -> Cell {
    Cell::new(text.into()).set_alignment(CellAlignment::Right)
}

/// Writes to standard output.
///
/// # Errors
/// Returns an error if standard output cannot be written. A closed pipe is not an error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    print_to(false, write)
}

/// Writes to standard output, or to standard error if `beside`.
///
/// # Errors
/// Returns an error if the stream cannot be written. A closed pipe is not an error.
pub fn print_to(beside: bool, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let (stream, name): (Box<dyn Write>, _) = if beside {
        (Box::new(anstream::stderr().lock()), "standard error")
    } else {
        (Box::new(anstream::stdout().lock()), "standard output")
    };
    let mut out = io::BufWriter::new(stream);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context(name),
    }
}

//! The rows of a check, and how they are written.

use super::causes;
use super::costs::{Costs, Place};
use super::limits::Limits;
use super::row::{Kind, Row};
use super::saved::Saved;
use clap::ValueEnum;
use comfy_table::Cell;
use dwell_output::sarif::{self, Found};
use dwell_output::units::count;
use dwell_output::{Look, header, right};
use dwell_source::Items;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// The version of the JSON.
const VERSION: u32 = 1;

/// The number of causes that a table has.
const MOST: usize = 30;

/// The format of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table
    #[default]
    Human,
    /// One JSON object
    Json,
    /// A table for a pull request
    Markdown,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// A table, and annotations of GitHub's actions at the lines
    Github,
}

/// The result of a check.
pub(super) struct Report {
    budgets: Vec<Row>,
    grown: Vec<Row>,
    /// Whether there was a base.
    is_compared: bool,
    /// Runs that the base does not have.
    new: Vec<String>,
    /// Tests with what they allocate.
    tests: Vec<Place>,
}

impl Report {
    pub(super) fn new(budgets: Vec<Row>) -> Self {
        Self { budgets, grown: Vec::new(), is_compared: false, new: Vec::new(), tests: Vec::new() }
    }

    /// Replaces what grew in a run since the base, and returns whether nothing did.
    pub(super) fn compare(
        &mut self,
        base: &Saved,
        name: &str,
        after: &Costs,
        limits: Limits<'_>,
        items: &Items,
        root: &Path,
    ) -> bool {
        self.is_compared = true;
        let Some(before) = base.runs.get(name) else {
            self.new.push(name.to_owned());
            return true;
        };
        let rows = causes::rows(name, before, after, limits, items, root);
        self.grown.retain(|row| row.run != name);
        let is_same = rows.is_empty();
        self.grown.extend(rows);
        is_same
    }

    /// Adds a table of tests.
    pub(super) fn name_tests<'t>(&mut self, tests: impl Iterator<Item = &'t Place>) {
        self.tests.extend(tests.cloned());
    }

    pub(super) fn has_failed(&self) -> bool {
        self.budgets.iter().chain(&self.grown).any(Row::has_failed)
    }

    fn failed(&self) -> impl Iterator<Item = &Row> {
        self.budgets.iter().chain(&self.grown).filter(|row| row.has_failed())
    }

    /// Writes the report.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub(super) fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Human => self.text(&Look::terminal(), out),
            Format::Markdown => self.markdown(out),
            Format::Json => {
                let rows = |rows: &[Row]| rows.iter().map(Row::json).collect::<Vec<_>>();
                let (budgets, grown) = (rows(&self.budgets), rows(&self.grown));
                let failed = self.has_failed();
                let mut document = json!({ "version": VERSION, "failed": failed, "budgets": budgets, "grown": grown });
                if !self.tests.is_empty() {
                    let test =
                        |place: &Place| json!({ "test": place.function, "blocks": place.blocks.most, "at": place.at });
                    document["tests"] = self.tests.iter().map(test).collect();
                }
                serde_json::to_writer(&mut *out, &document)?;
                writeln!(out)
            }
            Format::Sarif => {
                serde_json::to_writer_pretty(&mut *out, &self.sarif())?;
                writeln!(out)
            }
            Format::Github => {
                self.text(&Look::terminal(), out)?;
                self.annotations(out)
            }
        }
    }

    fn text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let mut out = out;
        if !self.budgets.is_empty() {
            let failed = self.budgets.iter().filter(|row| row.has_failed()).count();
            let rest = format!("  {} of {} are kept", self.budgets.len() - failed, self.budgets.len());
            look.heading(&mut out, "Budgets", &rest)?;
            let mut rows = vec![header(&["", "measured", "budget", "what", "because of", "at"])];
            rows.extend(self.budgets.iter().map(|row| {
                let Kind::Budget { most } = row.kind else { return Vec::new() };
                let mark = if row.has_failed() { "over" } else { "ok" };
                vec![
                    Cell::new(mark),
                    right(row.number(row.now)),
                    right(row.number(most)),
                    Cell::new(row.name()),
                    Cell::new(&row.cause),
                    Cell::new(row.at()),
                ]
            }));
            look.table(&mut out, &rows)?;
        }
        if !self.tests.is_empty() {
            look.heading(&mut out, "Tests", "  allocations and reallocations of each, the largest first")?;
            let mut rows = vec![header(&["blocks", "test", "at"])];
            rows.extend(self.tests.iter().take(MOST).map(|place| {
                let at = place.at.clone().unwrap_or_default();
                vec![right(count(place.blocks.most)), Cell::new(&place.function), Cell::new(at)]
            }));
            look.table(&mut out, &rows)?;
        }
        if !self.is_compared {
            return Ok(());
        }
        if self.grown.is_empty() {
            writeln!(out, "\nNothing grew since the base.")?;
        } else {
            look.heading(&mut out, "What grew since the base", "  totals, then causes, the largest first")?;
            let mut rows = vec![header(&["growth", "before", "now", "what", "because of", "at"])];
            rows.extend(self.grown.iter().take(MOST).map(|row| {
                let Kind::Growth { before } = row.kind else { return Vec::new() };
                vec![
                    right(format!("+{}", row.number(row.growth()))),
                    right(row.number(before)),
                    right(row.number(row.now)),
                    Cell::new(row.name()),
                    Cell::new(&row.cause),
                    Cell::new(row.at()),
                ]
            }));
            look.table(&mut out, &rows)?;
            if self.grown.len() > MOST {
                writeln!(out, "{} more are in --format json.", self.grown.len() - MOST)?;
            }
        }
        for name in &self.new {
            writeln!(out, "`{name}` is new: the base was not measured with it.")?;
        }
        Ok(())
    }

    /// A table of what failed, with all else collapsed.
    fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let failed: Vec<&Row> = self.failed().collect();
        if failed.is_empty() {
            let grown = if self.is_compared { ", and nothing grew since the base" } else { "" };
            writeln!(out, "**Memory**: all {} budgets are kept{grown}.", self.budgets.len())?;
        } else {
            writeln!(out, "**Memory**: {} to look at.\n", count(failed.len() as u64))?;
            writeln!(out, "| what | now | budget or before | because of | at |\n|---|--:|--:|---|---|")?;
            for row in failed.iter().take(MOST) {
                let other = match row.kind {
                    Kind::Budget { most } => format!("budget {}", row.number(most)),
                    Kind::Growth { before } => row.number(before),
                };
                let cells = [row.name(), row.number(row.now), other, row.cause.clone(), row.at()];
                let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
                writeln!(out, "| {} |", cells.join(" | "))?;
            }
        }
        writeln!(out, "\n<details><summary>All numbers</summary>\n")?;
        self.text(&Look::page(), out)?;
        writeln!(out, "\n</details>")
    }

    fn annotations(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in self.failed() {
            let place = row.place.as_ref().map_or_else(String::new, |(file, line)| {
                format!("file={},line={line},", escaped(file).replace(',', "%2C").replace(':', "%3A"))
            });
            let title = if matches!(row.kind, Kind::Budget { .. }) { "over its budget" } else { "takes more memory" };
            writeln!(out, "::warning {place}title={title}::{}", escaped(&row.sentence()))?;
        }
        Ok(())
    }

    fn sarif(&self) -> Value {
        let found = |row: &Row| Found {
            rule: if matches!(row.kind, Kind::Budget { .. }) { "budget" } else { "growth" },
            is_note: false,
            text: row.sentence(),
            place: row.place.clone(),
        };
        let rules = [("budget", "More than its budget"), ("growth", "More memory than at the base")];
        sarif::document(&rules, self.failed().map(found))
    }
}

/// Escapes the text of an annotation.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::super::row::Unit;
    use super::*;

    fn report() -> Report {
        let row = |what: &str, kind, now| Row {
            run: "load".into(),
            what: what.into(),
            unit: Unit::Bytes,
            kind,
            now,
            cause: "a | b".into(),
            place: Some(("src/main.rs".into(), 7)),
        };
        Report {
            budgets: vec![
                row("peak-bytes", Kind::Budget { most: 5000 }, 4000),
                row("rss", Kind::Budget { most: 5000 }, 6000),
            ],
            grown: vec![row("Session.tags", Kind::Growth { before: 100 }, 3100)],
            is_compared: true,
            new: vec!["other".into()],
            tests: Vec::new(),
        }
    }

    fn written(write: impl Fn(&Report, &mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&report(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn formats_have_what_failed_with_its_line() {
        assert!(report().has_failed());
        let text = written(|report, out| report.text(&Look::page(), out));
        for part in ["1 of 2 are kept", "over", "+3.0 kB", "load: Session.tags", "src/main.rs:7", "`other` is new"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let markdown = written(Report::markdown);
        assert!(markdown.contains("2 to look at") && markdown.contains("a \\| b") && markdown.contains("<details>"));
        let annotations = written(Report::annotations);
        assert_eq!(annotations.lines().count(), 2, "{annotations}");
        assert!(
            annotations.starts_with("::warning file=src/main.rs,line=7,title=over its budget::load: rss is 6.0 kB")
        );
        let sarif = report().sarif();
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        assert_eq!(results[1]["ruleId"], "growth");
        assert_eq!(results[1]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
    }
}

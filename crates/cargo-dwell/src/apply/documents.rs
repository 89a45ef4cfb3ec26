//! Repairs the code in the documents of a library's items, which `cargo check` does not see: it is checked at the end of the library's
//! root, and what a repair changed there is written into the comments.

use super::edit::Made;
use super::package::library;
use super::session::Session;
use super::unbuilt::{Names, documents, included};
use super::{builds, repair};
use anyhow::Result;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The code of a comment: its file, its first line there, and its lines without what marks them as a comment.
struct Code {
    file: PathBuf,
    first: usize,
    lines: Vec<String>,
}

impl Session<'_> {
    /// Repairs the code of comments that uses what was changed. What cannot be repaired stays, and the tests decide.
    pub(super) fn repair_documents(&mut self, made: &Made) -> Result<()> {
        let mut names = Names::default();
        made.changed.iter().map(|item| &item.item).chain(&made.everywhere).for_each(|item| names.add(item));
        let files: Vec<PathBuf> = self.tree.changes().into_iter().map(|change| change.file).collect();
        let affected = builds::affected(&self.workspace, &files);
        let libraries: Vec<(PathBuf, String)> = affected
            .into_iter()
            .filter_map(|package| Some((library(&self.workspace, package)?, package.name.replace('-', "_"))))
            .collect();
        let mark = self.tree.mark();
        for (root, name) in libraries {
            let mut all = Vec::new();
            for file in self.tree.sources_beside(&root) {
                let text = self.tree.read(&file).unwrap_or_default();
                let mut texts: Vec<(PathBuf, String, bool)> = included(&file, &text)
                    .into_iter()
                    .filter_map(|file| Some((file.clone(), self.tree.read(&file)?, false)))
                    .collect();
                texts.push((file, text, true));
                for (file, text, is_source) in texts {
                    let own = documents(&text, is_source).into_iter().filter(|(_, code)| uses(code, &names));
                    all.extend(own.map(|(first, code)| Code {
                        file: file.clone(),
                        first,
                        lines: code.lines().map(str::to_owned).collect(),
                    }));
                }
            }
            if all.is_empty() {
                continue;
            }
            let others = self.cargo.builds.split_off(1);
            let repaired = self.repaired(&root, &name, &all, made);
            self.cargo.builds.extend(others);
            self.tree.restore(&mark)?;
            for (code, lines) in all.iter().zip(repaired.unwrap_or_default()) {
                self.write_lines(code, &lines)?;
            }
        }
        Ok(())
    }

    /// Returns the lines of all codes after their repair.
    fn repaired(&mut self, root: &Path, name: &str, all: &[Code], made: &Made) -> Result<Vec<Vec<String>>> {
        let before = self.tree.read(root).unwrap_or_default();
        let mut text = format!("{before}\n#[cfg(test)]\nextern crate self as {name};\n");
        for (index, code) in all.iter().enumerate() {
            let code = code.lines.join("\n");
            // A closure, so that `?` has a result to return.
            let _ = write!(
                text,
                "#[cfg(test)]\n#[allow(warnings)]\nfn dwell_document_{index}() {{ let _ = || {{\n{code}\n}}; }}\n"
            );
        }
        self.tree.write(root, &text)?;
        let names = made.names();
        repair::repair(&mut self.tree, &self.cargo, (&made.becomes, &names), |_, _| {})?;
        let after = self.tree.read(root).unwrap_or_default();
        let of_code = |index: usize| {
            let (_, rest) = after.split_once(&format!("fn dwell_document_{index}() {{ let _ = || {{\n"))?;
            let (code, _) = rest.split_once("\n}; }\n")?;
            Some(code.lines().map(str::to_owned).collect())
        };
        Ok((0..all.len()).map(|index| of_code(index).unwrap_or_default()).collect())
    }

    /// Writes changed lines into the comment. If a repair made more lines, the comment stays.
    fn write_lines(&mut self, code: &Code, lines: &[String]) -> Result<()> {
        if lines == code.lines || lines.len() != code.lines.len() {
            return Ok(());
        }
        let text = self.tree.read(&code.file).unwrap_or_default();
        let mut changed = String::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let place = (index + 1).checked_sub(code.first).filter(|at| *at < lines.len());
            // A text in an attribute has no quotes.
            let is_written = |at: &usize| !(line.trim_start().starts_with('#') && lines[*at].contains(['"', '\\']));
            match place.filter(|at| code.lines[*at] != lines[*at]).filter(is_written) {
                Some(at) => changed.push_str(&line.replacen(&code.lines[at], &lines[at], 1)),
                None => changed.push_str(line),
            }
        }
        self.tree.write(&code.file, &changed)
    }
}

/// Returns `true` if a code names what was changed.
fn uses(code: &str, names: &Names) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let known = || names.fields.iter().chain(&names.tuples);
    !code.contains("#![") && code.split(|letter| !is_word(letter)).any(|word| known().any(|name| name == word))
}

//! New warnings of clippy and rustc, at the levels of the crate: those that they can repair themselves are repaired, the others are named.

use super::builds::Checked;
use super::session::Session;
use super::tree::Change;
use super::{builds, format};
use anyhow::Result;
use cargo_metadata::diagnostic::{Applicability, Diagnostic, DiagnosticSpan};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl Session<'_> {
    /// Keeps what clippy says of some packages now. Without clippy it says nothing.
    pub(super) fn lint_before(&mut self, files: &[PathBuf]) -> Result<()> {
        let affected = builds::affected(&self.workspace, files);
        let packages: Vec<String> = affected.into_iter().map(|package| package.name.to_string()).collect();
        self.lints = self.cargo.clippy(&packages)?.map(|before| (packages, before));
        Ok(())
    }

    /// Repairs the new warnings with a suggestion that is sure, and returns the others, each with its place; `None` without clippy.
    pub(super) fn lint_after(&mut self) -> Result<Option<Vec<String>>> {
        let Some(new) = self.new_lints()? else { return Ok(None) };
        let repairs: Vec<&DiagnosticSpan> = new.iter().flat_map(repair).collect();
        if !repairs.is_empty() {
            let mark = self.tree.mark();
            self.replace(&repairs)?;
            self.tree.changes().iter().try_for_each(|change| format::restore(&mut self.tree, change))?;
            let left = if self.cargo.check()?.errors.is_empty() { self.new_lints()? } else { None };
            match left {
                Some(left) if left.len() < new.len() => return Ok(Some(left.iter().map(named).collect())),
                _ => self.tree.restore(&mark)?,
            }
        }
        Ok(Some(new.iter().map(named).collect()))
    }

    /// Returns the warnings of clippy that it did not have before.
    fn new_lints(&mut self) -> Result<Option<Vec<Diagnostic>>> {
        let Some((packages, before)) = &self.lints else { return Ok(None) };
        let Some(after) = self.cargo.clippy(packages)? else { return Ok(None) };
        Ok(Some(new(before, &after, &self.tree.changes())))
    }

    /// Makes the replacements that clippy suggests.
    fn replace(&mut self, spans: &[&DiagnosticSpan]) -> Result<()> {
        let mut by_file: BTreeMap<PathBuf, Vec<&DiagnosticSpan>> = BTreeMap::new();
        for span in spans {
            by_file.entry(PathBuf::from(&span.file_name)).or_default().push(span);
        }
        for (file, mut spans) in by_file {
            let Some(mut text) = self.tree.read(&file) else { continue };
            spans.sort_by_key(|span| std::cmp::Reverse((span.byte_start, span.byte_end)));
            let mut end = usize::MAX;
            for span in spans {
                let range = span.byte_start as usize..span.byte_end as usize;
                if range.end > end || text.get(range.clone()).is_none() {
                    continue;
                }
                end = range.start;
                text.replace_range(range, span.suggested_replacement.as_deref().unwrap_or_default());
            }
            self.tree.write(&file, &text)?;
        }
        Ok(())
    }
}

/// Returns the warnings after a change in the files that it changed, without those that the code had before: one that only moves is not new.
fn new(before: &Checked, after: &Checked, changes: &[Change]) -> Vec<Diagnostic> {
    let mut old: Vec<&str> = before.lints.iter().map(|lint| lint.message.as_str()).collect();
    let mut all: Vec<Diagnostic> = Vec::new();
    for lint in &after.lints {
        match old.iter().position(|item| *item == lint.message) {
            Some(index) => _ = old.swap_remove(index),
            None => all.push(lint.clone()),
        }
    }
    // A library is checked as it is and for its tests.
    let mut seen: Vec<Diagnostic> = Vec::new();
    for lint in all {
        let is_here =
            |span: &DiagnosticSpan| changes.iter().any(|change| change.file.as_os_str() == span.file_name.as_str());
        if lint.spans.iter().any(is_here) && !seen.contains(&lint) {
            seen.push(lint);
        }
    }
    seen
}

/// Returns the replacements of a suggestion that clippy itself would make.
fn repair(lint: &Diagnostic) -> Vec<&DiagnosticSpan> {
    let is_sure = |span: &&DiagnosticSpan| {
        span.suggested_replacement.is_some()
            && span.suggestion_applicability == Some(Applicability::MachineApplicable)
            && span.expansion.is_none()
    };
    lint.children.iter().flat_map(|child| &child.spans).filter(is_sure).collect()
}

fn named(lint: &Diagnostic) -> String {
    let at = lint.spans.iter().find(|span| span.is_primary).or(lint.spans.first());
    let at = at.map(|span| format!("{}:{}: ", span.file_name, span.line_start)).unwrap_or_default();
    let code = lint.code.as_ref().map(|code| format!(" ({})", code.code)).unwrap_or_default();
    format!("{at}{}{code}", lint.message)
}

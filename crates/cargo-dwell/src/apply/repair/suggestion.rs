//! Rustc's own suggestion, of any applicability: it marks "store this in the heap by calling `Box::new`" and "consider
//! unboxing the value" as `MaybeIncorrect`, and the check of the next round decides.

use super::{Replace, Site, range};
use cargo_metadata::diagnostic::{Applicability, Diagnostic};
use std::path::PathBuf;

/// The words of suggestions that repair a box, those without a cost first.
const HELP: [&str; 9] = ["unbox", "dereferenc", "Box::new", "heap", "as_deref", "borrow", "as_ref", "as_mut", "clon"];

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let offers = |child: &&Diagnostic, word: &str| {
        let replaced = |of: &cargo_metadata::diagnostic::DiagnosticSpan| of.suggested_replacement.is_some();
        child.message.contains(word) && child.spans.iter().any(replaced)
    };
    let child = HELP.iter().find_map(|word| site.error.children.iter().find(|child| offers(child, word)))?;
    let mut all = Vec::new();
    for span in &child.spans {
        let Some(with) = &span.suggested_replacement else { continue };
        let has_places = span.suggestion_applicability == Some(Applicability::HasPlaceholders);
        // `<Option<Box<T>> as Clone>::clone(..)` copies what the program changes in place.
        if has_places || span.expansion.is_some() || with.contains(" as Clone>::clone") {
            return None;
        }
        let file = PathBuf::from(&span.file_name);
        // A suggestion in the source of a dependency or of the standard library is none.
        site.tree.read(&file)?.get(range(span))?;
        let replace = Replace { file, range: range(span), with: with.clone() };
        // Several suggestions of one message are alternatives: the first is taken.
        if all.iter().any(|other: &Replace| other.range == replace.range && other.file == replace.file) {
            break;
        }
        all.push(replace);
    }
    (!all.is_empty()).then_some(all)
}

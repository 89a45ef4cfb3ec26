//! A macro of the workspace that builds the value: in its body `value.into()` serves the boxed form and all others.

use super::super::syntax::dense;
use super::{Replace, range, unboxed};
use cargo_metadata::diagnostic::DiagnosticSpan;
use std::path::Path;

/// Repairs a value in the body of a macro, whose text is in `file`.
pub(super) fn repair(
    span: &DiagnosticSpan,
    types: Option<&(String, String)>,
    file: &Path,
    text: &str,
) -> Option<Vec<Replace>> {
    let (expected, found) = types?;
    if dense(unboxed(expected)?) != dense(found) {
        return None;
    }
    let range = range(span);
    let value = text.get(range.clone())?;
    // A name, or a parameter of the macro: anything else may need parentheses.
    let name = value.strip_prefix('$').unwrap_or(value);
    let is_name = !name.is_empty() && name.chars().all(|of| of.is_alphanumeric() || of == '_');
    is_name.then(|| vec![Replace { file: file.to_owned(), range, with: format!("{value}.into()") }])
}

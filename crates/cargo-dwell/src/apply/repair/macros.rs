//! A macro of the workspace that builds the value: in its body `value.into()` serves the boxed form and all others, and a struct
//! that stands there is boxed. What a macro gives is taken out of its box where it is called.

use super::super::syntax::dense;
use super::{Replace, range, unboxed};
use cargo_metadata::diagnostic::DiagnosticSpan;
use std::path::{Path, PathBuf};

/// Repairs a value in the body of a macro, whose text is in `file`.
pub(super) fn repair(
    span: &DiagnosticSpan,
    types: Option<&(String, String)>,
    file: &Path,
    text: &str,
) -> Option<Vec<Replace>> {
    let (expected, found) = types?;
    if dense(unboxed(found).unwrap_or_default()) == dense(expected) {
        // What the macro gives is the box.
        let mut call = span;
        while let Some(expansion) = &call.expansion {
            call = &expansion.span;
        }
        let (file, start) = (PathBuf::from(&call.file_name), call.byte_start as usize);
        return Some(vec![Replace { file, range: start..start, with: "*".to_owned() }]);
    }
    if dense(unboxed(expected)?) != dense(found) {
        return None;
    }
    let range = range(span);
    let value = text.get(range.clone())?;
    let parameters = value.replace('$', "");
    let with = match syn::parse_str(&parameters).ok()? {
        // A name, or a parameter of the macro.
        syn::Expr::Path(expr_path) if expr_path.path.get_ident().is_some() => format!("{value}.into()"),
        // A value of this type alone.
        syn::Expr::Struct(_) | syn::Expr::Call(_) => format!("Box::new({value})"),
        _ => return None,
    };
    Some(vec![Replace { file: file.to_owned(), range, with }])
}

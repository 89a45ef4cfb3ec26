//! A macro of the workspace that builds the value: in its body `value.into()` serves the new form and all others, and a struct
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
        // A macro that makes items gives no value: a person has to see what serves both forms in its body.
        if call.file_name == span.file_name && is_statement(text, &range(call)) {
            return None;
        }
        let (file, at) = (PathBuf::from(&call.file_name), range(call));
        // `Some(value)` in its body is an option of the box.
        let is_option = text.get(..span.byte_start as usize).is_some_and(|before| before.ends_with("Some("));
        let (at, with) = if is_option { (at.end, ".map(|value| *value)") } else { (at.start, "*") };
        return Some(vec![Replace { file, range: at..at, with: with.to_owned() }]);
    }
    let is_other_text = expected == "Box<str>" && found == "String"
        || ["ThinStr", "ThinSlice<", "Box<["].iter().any(|other| expected.contains(other))
            && (found == "String" || found.starts_with("Vec<"));
    if !is_other_text && dense(unboxed(expected)?) != dense(found) {
        return None;
    }
    let range = range(span);
    let value = text.get(range.clone())?;
    // `Details { name, .. }` is a pattern.
    if dense(value).ends_with("..}") {
        return None;
    }
    if !is_other_text
        && is_result(text, &range)
        && let Some(expansion) = &span.expansion
    {
        // What the macro gives is boxed where it is called.
        let (file, call) = (PathBuf::from(&expansion.span.file_name), super::range(&expansion.span));
        let start = Replace { file: file.clone(), range: call.start..call.start, with: "Box::new(".to_owned() };
        return Some(vec![start, Replace { file, range: call.end..call.end, with: ")".to_owned() }]);
    }
    let parameters = value.replace('$', "");
    let is_repeated = value.contains("$(") && value.ends_with('}');
    if is_repeated && value.split('{').next().is_some_and(|name| syn::parse_str::<syn::Path>(name.trim()).is_ok()) {
        return Some(vec![Replace { file: file.to_owned(), range, with: format!("Box::new({value})") }]);
    }
    let with = match syn::parse_str(&parameters).ok()? {
        // A name, or a parameter of the macro.
        syn::Expr::Path(expr_path) if expr_path.path.get_ident().is_some() => format!("{value}.into()"),
        syn::Expr::MethodCall(_) | syn::Expr::Call(_) | syn::Expr::Macro(_) if is_other_text => {
            format!("{value}.into()")
        }
        // A value of this type alone.
        syn::Expr::Struct(_) | syn::Expr::Call(_) | syn::Expr::Macro(_) => format!("Box::new({value})"),
        _ => return None,
    };
    Some(vec![Replace { file: file.to_owned(), range, with }])
}

/// Returns `true` if a call stands alone, as an item or a statement.
fn is_statement(text: &str, call: &std::ops::Range<usize>) -> bool {
    let (Some(before), Some(after)) = (text.get(..call.start), text.get(call.end..)) else { return false };
    let before = before.trim_end();
    (after.starts_with(';') || text[..call.end].ends_with(';'))
        && (before.is_empty() || before.ends_with([';', '}', '{', ')', ']']))
}

/// Returns `true` if a value is all that a macro's rule gives: `($n:expr) => { Literal::Int($n) };`.
fn is_result(text: &str, value: &std::ops::Range<usize>) -> bool {
    let (before, after) = (text[..value.start].trim_end(), text[value.end..].trim_start());
    before.strip_suffix(['{', '(', '[']).is_some_and(|head| head.trim_end().ends_with("=>"))
        && after.strip_prefix(['}', ')', ']']).is_some_and(|rest| rest.trim_start().starts_with([';', '}', ')']))
}

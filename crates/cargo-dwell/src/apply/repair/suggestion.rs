//! Rustc's own suggestion, of any applicability: it marks "store this in the heap by calling `Box::new`" and "consider
//! unboxing the value" as `MaybeIncorrect`, and the check of the next round decides.

use super::super::syntax::Kind;
use super::{Replace, Site, range};
use cargo_metadata::diagnostic::{Applicability, Diagnostic};
use std::path::PathBuf;

/// The words of suggestions that repair a box, those without a cost first.
const HELP: [&str; 10] = [
    "unbox",
    "dereferenc",
    "Box::new",
    "heap",
    "as_deref",
    "borrow",
    "as_ref",
    "as_mut",
    "changing this to be mutable",
    "clon",
];

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let child = children(site).next()?;
    alternatives(site, child).into_iter().next().map(|all| without_box(site, all))
}

/// `*value.clone()` makes a box and frees it: `value.as_ref().clone()` copies the value alone. `*option.unwrap_or_default()` makes one for
/// nothing too: `option.map(|value| *value).unwrap_or_default()`.
pub(super) fn without_box(site: &Site<'_>, all: Vec<Replace>) -> Vec<Replace> {
    let [Replace { file, range, with }] = &all[..] else { return all };
    if with != "*" || !range.is_empty() || file != site.file {
        return all;
    }
    let receiver = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if node.range.start == range.start => match name.as_str() {
            "clone" => Some((receiver, ".as_ref()")),
            "unwrap_or_default" => Some((receiver, ".map(|value| *value)")),
            _ => None,
        },
        _ => None,
    });
    receiver.map_or(all, |(receiver, with)| vec![site.replace(receiver.end..receiver.end, with)])
}

/// Returns all suggestions about a box that add no clone, each with its alternatives.
pub(super) fn all(site: &Site<'_>) -> Vec<Vec<Replace>> {
    let is_free = |repair: &Vec<Replace>| !repair.iter().any(|replace| replace.with.contains("clone"));
    let all = children(site).flat_map(|child| alternatives(site, child)).filter(is_free);
    all.map(|all| without_box(site, all)).collect()
}

fn children<'s>(site: &'s Site<'_>) -> impl Iterator<Item = &'s Diagnostic> {
    let offers = |child: &&Diagnostic, word: &str| {
        let replaced = |span: &cargo_metadata::diagnostic::DiagnosticSpan| span.suggested_replacement.is_some();
        child.message.contains(word) && child.spans.iter().any(replaced)
    };
    HELP.iter().filter_map(move |word| site.error.children.iter().find(|child| offers(child, word)))
}

/// A grammar such as `seq!(Point { x: number })` makes a variable of each field: for the suggestion `x: Box::new(x)` the parser becomes
/// `x: number.map(Box::new)`.
fn parsed(site: &Site<'_>, all: Vec<Replace>) -> Vec<Replace> {
    let [first, last] = &all[..] else { return all };
    let Some(text) = site.tree.read(&last.file).filter(|_| first.with.ends_with(": Box::new(")) else { return all };
    let rest = text.get(last.range.end..).unwrap_or_default().trim_start();
    let Some(rest) = rest.strip_prefix(':').filter(|rest| !rest.starts_with(':')) else { return all };
    let start = text.len() - rest.trim_start().len();
    let mut depth = 0_i32;
    let end = text[start..].find(|letter| {
        depth += i32::from("([{".contains(letter)) - i32::from(")]}".contains(letter));
        depth < 0 || depth == 0 && letter == ','
    });
    let parser = text[start..].get(..end.unwrap_or(0)).unwrap_or_default().trim_end();
    let is_plain = syn::parse_str::<syn::Expr>(parser)
        .is_ok_and(|expr| matches!(expr, syn::Expr::Path(_) | syn::Expr::Call(_) | syn::Expr::MethodCall(_)));
    if !is_plain {
        return all;
    }
    let end = start + parser.len();
    vec![Replace { file: last.file.clone(), range: end..end, with: ".map(Box::new)".to_owned() }]
}

/// Returns the repairs that a suggestion offers. One is a list of replacements; where a place has several, they are alternatives.
fn alternatives(site: &Site<'_>, child: &Diagnostic) -> Vec<Vec<Replace>> {
    let mut all: Vec<Vec<Replace>> = vec![Vec::new()];
    for span in &child.spans {
        let Some(with) = &span.suggested_replacement else { continue };
        let has_places = span.suggestion_applicability == Some(Applicability::HasPlaceholders);
        let file = PathBuf::from(&span.file_name);
        // A suggestion in the source of a dependency or of the standard library is none.
        let is_own = || site.tree.read(&file).is_some_and(|text| text.get(range(span)).is_some());
        // `<Option<Box<T>> as Clone>::clone(..)` copies what the program changes in place.
        if has_places || span.expansion.is_some() || with.contains(" as Clone>::clone") || !is_own() {
            return Vec::new();
        }
        let replace = Replace { file, range: range(span), with: with.clone() };
        let is_same = |other: &Replace| other.range == replace.range && other.file == replace.file;
        match all.last_mut() {
            Some(last) if !last.iter().any(is_same) => last.push(replace),
            _ => all.push(vec![replace]),
        }
    }
    all.retain(|one| !one.is_empty());
    all.into_iter().map(|one| parsed(site, one)).collect()
}

//! Repairs the uses of a field whose type changed, until the workspace compiles.
//!
//! In each round `cargo check` names the errors. For each the first of [`RULES`] that knows a repair changes the text; the
//! last rule is rustc's own suggestion. A round without a repair, or rounds without progress, end the loop: what is left
//! is listed for a person.

mod alternative;
mod arms;
mod bound;
mod compare;
mod constant;
mod convert;
mod function;
mod items;
mod macros;
mod matched;
mod nested;
mod option;
mod owner;
mod pattern;
mod shared;
mod sparse;
mod suggestion;
mod temporary;
mod tries;

use super::boxes;
use super::cargo::{Cargo, Found};
use super::moves::Becomes;
use super::syntax::{Bytes, Syntax};
use super::tree::Tree;
use crate::processes;
use anyhow::Result;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticSpan};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The maximum number of rounds.
const ROUNDS: usize = 16;
/// The number of rounds in which the number of errors may stay.
const PATIENCE: usize = 3;

/// What two repairs make of an option that is cloned.
const CLONED: &str = ".clone().map(|value| *value)";

/// A text to write at a range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replace {
    /// The file, below the root of the tree.
    pub(super) file: PathBuf,
    /// The range.
    pub(super) range: Bytes,
    /// The text.
    pub(super) with: String,
}

/// A rule: it returns the replacements that repair an error, or `None` if it does not know the error.
type Rule = fn(&Site<'_>) -> Option<Vec<Replace>>;

/// The rules in order, each with its name.
const RULES: [(&str, Rule); 18] = [
    ("a const fn", constant::repair),
    ("a comparison", compare::repair),
    ("a shared value", shared::repair),
    ("alternatives", alternative::repair),
    ("a pattern", pattern::repair),
    ("a moved value", pattern::repair_moved),
    ("a matched value", pattern::repair_scrutinee),
    ("a matched value", pattern::repair_star),
    ("the other values", arms::repair_rest),
    ("the last arm", nested::repair_last),
    ("an option", option::repair),
    ("a conversion", convert::repair),
    ("another owner", owner::repair),
    ("an empty struct", sparse::repair),
    ("a function", function::repair),
    ("the items of an iterator", items::repair),
    ("a trait", bound::repair),
    ("rustc", suggestion::repair),
];

/// The place of an error.
pub(super) struct Site<'a> {
    /// The error.
    pub(super) error: &'a Diagnostic,
    /// Its primary span.
    pub(super) span: &'a DiagnosticSpan,
    /// The file, below the root.
    pub(super) file: &'a Path,
    /// The file's text.
    pub(super) text: &'a str,
    /// The file's syntax.
    pub(super) syntax: &'a Syntax,
    /// The bytes of the primary span.
    pub(super) range: Bytes,
    /// The expected type and the one that was found.
    pub(super) types: Option<(String, String)>,
    /// The move.
    pub(super) becomes: &'a Becomes,
    /// The names of the changed fields.
    pub(super) names: &'a [String],
    /// Whether the file's edition has `if let .. && let ..`.
    pub(super) has_chains: bool,
    /// The texts of all files.
    tree: &'a Tree,
}

impl Site<'_> {
    /// Returns the text of a range.
    fn at(&self, range: &Bytes) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Returns the text of the primary span.
    fn source(&self) -> &str {
        self.at(&self.range)
    }

    /// Returns a replacement in this file.
    fn replace(&self, range: Bytes, with: impl Into<String>) -> Replace {
        Replace { file: self.file.to_owned(), range, with: with.into() }
    }

    /// Returns the expected and the found type.
    fn types(&self) -> Option<(&str, &str)> {
        self.types.as_ref().map(|(expected, found)| (expected.as_str(), found.as_str()))
    }

    /// Returns the error's code.
    fn code(&self) -> &str {
        self.error.code.as_ref().map_or("", |code| &code.code)
    }

    /// Appends a method call to an expression, with parentheses if it needs them. A field without a value gets its name.
    fn call(&self, range: &Bytes, method: &str) -> Option<Vec<Replace>> {
        let text = self.at(range);
        if let Some(name) = self.shorthand(range) {
            return Some(vec![self.replace(range.clone(), format!("{name}: {name}{method}"))]);
        }
        if !self.syntax.is_expr(range) {
            return None;
        }
        // The other repair of the same value is taken back.
        let inverse = match method {
            ".map(Box::new)" => ".map(|value| *value)",
            ".map(|value| *value)" => ".map(Box::new)",
            _ => "\n",
        };
        if let Some(value) = text.strip_suffix(inverse) {
            return Some(vec![self.replace(range.clone(), value)]);
        }
        if let Some(value) = text.strip_suffix(".as_deref().cloned()").filter(|_| method == ".map(Box::new)") {
            return Some(vec![self.replace(range.clone(), format!("{value}.clone()"))]);
        }
        let text = if self.syntax.is_postfix(range) { text.to_owned() } else { format!("({text})") };
        if method == ".map(Box::new)"
            && let Some(inside) = self.boxed_in_closure(range)
        {
            return Some(inside);
        }
        Some(vec![self.replace(range.clone(), format!("{text}{method}"))])
    }

    /// Returns a name for what the closure that stands there gets.
    fn argument_name(&self, start: usize) -> &'static str {
        let before = self.text[..start].trim_end();
        if before.ends_with("map_err(") || before.ends_with("or_else(") { "error" } else { "value" }
    }

    /// `number.map(|n| Details { n })` becomes `number.map(|n| Box::new(Details { n }))`.
    fn boxed_in_closure(&self, range: &Bytes) -> Option<Vec<Replace>> {
        use super::syntax::Kind;
        let argument = self.syntax.at(range).find_map(|node| match &node.kind {
            Kind::Method { name, arguments, .. } if arguments.len() == 1 && (name == "map" || name == "then") => {
                Some(arguments[0].clone())
            }
            _ => None,
        })?;
        let syn::Expr::Closure(closure) = syn::parse_str(self.at(&argument)).ok()? else { return None };
        if !matches!(*closure.body, syn::Expr::Struct(_) | syn::Expr::Call(_) | syn::Expr::MethodCall(_)) {
            return None;
        }
        let body = syn::spanned::Spanned::span(&closure.body).byte_range();
        let body = argument.start + body.start..argument.start + body.end;
        let with = format!("Box::new({})", self.at(&body));
        Some(vec![self.replace(body, with)])
    }

    /// Returns the name of a struct expression's field without a value.
    fn shorthand(&self, range: &Bytes) -> Option<String> {
        self.syntax.at(range).find_map(|node| match &node.kind {
            super::syntax::Kind::Shorthand { name } => Some(name.clone()),
            _ => None,
        })
    }
}

/// How a loop of repairs ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Repaired {
    /// The number of times that `cargo check` ran.
    pub(super) rounds: usize,
    /// The number of repairs by rule.
    pub(super) by: BTreeMap<&'static str, usize>,
    /// The places where a suggestion of rustc's added a clone.
    pub(super) clones: Vec<String>,
    /// The warnings of the compiler that are new.
    pub(super) new_warnings: Vec<String>,
    /// What is left for a person; empty if all compiles.
    pub(super) left: Vec<Left>,
}

/// An error that no rule repairs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Left {
    /// `file:line`.
    pub(super) at: String,
    /// The source there.
    pub(super) source: String,
    /// What rustc says.
    pub(super) message: String,
}

impl Left {
    /// Returns `true` if the source or the message names the field of an item such as `Doc.name`, or the variant of `Kind::Huge`.
    pub(super) fn is_about(&self, item: &str) -> bool {
        // `Doc.names []` are the elements of a field.
        let name = item.split(' ').next().and_then(|item| item.rsplit(['.', ':']).next()).unwrap_or_default();
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        [&self.source, &self.message]
            .into_iter()
            .any(|text| text.split(|letter| !is_word(letter)).any(|word| word == name))
    }
}

/// Repairs the uses of a boxed type; the fields have `names`.
///
/// # Errors
/// Returns an error if cargo cannot be run, or if a file cannot be written.
pub(super) fn repair(
    tree: &mut Tree,
    cargo: &Cargo<'_>,
    (becomes, names): (&Becomes, &[String]),
    mut tell: impl FnMut(usize, usize),
) -> Result<Repaired> {
    let mut done = Repaired::default();
    let (mut fewest, mut waited, mut reached) = (usize::MAX, 0, 0);
    let (mut tried, mut checks) = (None, tries::CHECKS);
    loop {
        let found = match tried.take() {
            Some(found) => found,
            None => cargo.check()?,
        };
        let errors = &found.errors;
        done.rounds += 1;
        tell(done.rounds, errors.len());
        if errors.is_empty() {
            done.left = temporary::find(&tree.changes());
            done.new_warnings = found.new_warnings;
            return Ok(done);
        }
        if found.build > reached {
            // Those before compile.
            (reached, fewest) = (found.build, usize::MAX);
        }
        // An error that is repaired may uncover others, so their number may stay for a while.
        waited = if errors.len() < fewest { 0 } else { waited + 1 };
        fewest = fewest.min(errors.len());
        let (repairs, left) = round(tree, errors, becomes, names);
        done.left = left;
        if repairs.is_empty() || waited > PATIENCE || done.rounds >= ROUNDS + 2 * reached {
            tried = try_repairs(tree, cargo, &found, (becomes, names), &mut checks)?;
            if tried.is_some() {
                *done.by.entry("a try").or_default() += 1;
                continue;
            }
            if done.left.is_empty() {
                done.left = errors.iter().filter_map(|error| leftover(error, tree)).collect();
            }
            done.left.sort();
            done.left.dedup();
            return Ok(done);
        }
        for (name, replaces) in apply(tree, repairs)? {
            *done.by.entry(name).or_default() += 1;
            let is_clone = |replace: &&Replace| name == "rustc" && replace.with.contains(".clone()");
            for replace in replaces.iter().filter(is_clone) {
                done.clones.push(replace.file.display().to_string());
            }
        }
    }
}

/// Tries repairs of the errors that no rule knows, until one leaves fewer. Returns what is left then.
fn try_repairs(
    tree: &mut Tree,
    cargo: &Cargo<'_>,
    before: &Found,
    (becomes, names): (&Becomes, &[String]),
    checks: &mut usize,
) -> Result<Option<Found>> {
    let mut all = Vec::new();
    for error in &before.errors {
        each_site(tree, error, becomes, names, &mut BTreeMap::new(), |site| all.extend(tries::candidates(site)));
    }
    let mark = tree.mark();
    for repair in all {
        if *checks == 0 || processes::received().is_some() {
            break;
        }
        *checks -= 1;
        apply(tree, vec![("a try", repair)])?;
        // Without an error of rustc's cargo's own is no better.
        if temporary::find(&tree.changes()).is_empty()
            && let Ok(after) = cargo.check()
            && (after.build > before.build || after.build == before.build && after.errors.len() < before.errors.len())
        {
            return Ok(Some(after));
        }
        tree.restore(&mark)?;
    }
    Ok(None)
}

/// Calls a function with each place of an error that the user's text has.
fn each_site(
    tree: &Tree,
    error: &Diagnostic,
    becomes: &Becomes,
    names: &[String],
    files: &mut Files,
    mut each: impl FnMut(&Site<'_>),
) {
    for (span, types) in places(error) {
        let span = written_by_user(span);
        let file = PathBuf::from(&span.file_name);
        let Some((text, syntax)) = read(tree, files, &file).filter(|_| is_written(span)) else { continue };
        let range = range(span);
        if text.get(range.clone()).is_some() {
            let has_chains = tree.has_chains(&file);
            each(&Site { error, span, file: &file, text, syntax, range, types, becomes, names, has_chains, tree });
        }
    }
}

/// The texts of files with their syntax.
type Files = BTreeMap<PathBuf, Option<(String, Syntax)>>;

fn read<'f>(tree: &Tree, files: &'f mut Files, file: &Path) -> Option<&'f (String, Syntax)> {
    let read = || {
        let text = tree.read(file)?;
        let syntax = Syntax::of(&text)?;
        Some((text, syntax))
    };
    files.entry(file.to_owned()).or_insert_with(read).as_ref()
}

/// A repair with the name of its rule.
type Named = (&'static str, Vec<Replace>);

/// Returns the repairs of a round, and the errors that no rule knows.
fn round(tree: &Tree, errors: &[Diagnostic], becomes: &Becomes, names: &[String]) -> (Vec<Named>, Vec<Left>) {
    let mut files = Files::new();
    let (mut repairs, mut left) = (Vec::<Named>::new(), Vec::new());
    for error in errors {
        let places = places(error);
        if places.is_empty() {
            continue;
        }
        let mut found: Vec<Named> = Vec::new();
        for (span, types) in places.iter().filter(|(span, _)| !is_written(written_by_user(span))) {
            let file = Path::new(&span.file_name);
            let text = read(tree, &mut files, file).map(|(text, _)| text);
            let repair = text.and_then(|text| macros::repair(span, types.as_ref(), file, text));
            found.extend(repair.map(|repair| ("a macro", repair)));
        }
        each_site(tree, error, becomes, names, &mut files, |site| {
            found.extend(RULES.iter().find_map(|(name, rule)| Some((*name, rule(site)?))));
        });
        if found.is_empty() {
            left.extend(leftover(error, tree));
        }
        for repair in found {
            if !repairs.contains(&repair) {
                repairs.push(repair);
            }
        }
    }
    (repairs, left)
}

/// Returns the places of an error, each with the expected and the found type: the arguments of a call if several are wrong,
/// else the primary span.
fn places(error: &Diagnostic) -> Vec<(&DiagnosticSpan, Option<(String, String)>)> {
    let in_text =
        |text: &str| Some((quoted_after(text, "expected ")?.to_owned(), quoted_after(text, "found ")?.to_owned()));
    if error.message.starts_with("arguments to this") {
        // One argument has a label, and of several each has a note.
        let labels = error.spans.iter().filter_map(|span| Some((span, in_text(span.label.as_deref()?)?)));
        let notes = error.children.iter().filter_map(|child| Some((child.spans.first()?, in_text(&child.message)?)));
        let wrong: Vec<_> = labels.chain(notes).map(|(span, types)| (span, Some(types))).collect();
        if !wrong.is_empty() {
            return wrong;
        }
    }
    error.spans.iter().filter(|span| span.is_primary).take(1).map(|span| (span, types(error, span))).collect()
}

/// The macros whose calls stand for what rustc finds in them: a result of another type than expected, or a comparison.
const CALLS: [&str; 4] = ["vec!", "format!", "assert_eq!", "assert_ne!"];

/// Returns the call of such a macro.
fn written_by_user(span: &DiagnosticSpan) -> &DiagnosticSpan {
    match &span.expansion {
        Some(expansion) if CALLS.contains(&&*expansion.macro_decl_name) => &expansion.span,
        _ => span,
    }
}

/// Returns `true` if a span is the user's text: also that of an operator such as `?`, which the compiler rewrites.
fn is_written(span: &DiagnosticSpan) -> bool {
    span.expansion.as_ref().is_none_or(|expansion| expansion.macro_decl_name.starts_with("desugaring of"))
}

/// Applies repairs, each as a whole; one that overlaps another waits for the next round. Returns those that were applied.
fn apply(tree: &mut Tree, repairs: Vec<Named>) -> Result<Vec<Named>> {
    let overlaps = |one: &Replace, other: &Replace| {
        let (a, b) = (&one.range, &other.range);
        one.file == other.file && one != other && (a.start < b.end && b.start < a.end || a == b)
    };
    let mut done: Vec<Named> = Vec::new();
    for repair in repairs {
        let mut taken = done.iter().flat_map(|(_, replaces)| replaces);
        if !taken.any(|other| repair.1.iter().any(|one| overlaps(one, other))) {
            done.push(repair);
        }
    }
    let mut by_file: BTreeMap<&Path, Vec<&Replace>> = BTreeMap::new();
    for replace in done.iter().flat_map(|(_, replaces)| replaces) {
        by_file.entry(&replace.file).or_default().push(replace);
    }
    let mut texts = Vec::new();
    for (file, mut replaces) in by_file {
        // From the end, so that the ranges before stay valid.
        replaces.sort_by_key(|replace| std::cmp::Reverse((replace.range.start, replace.range.end)));
        replaces.dedup();
        let mut text = tree.read(file).unwrap_or_default();
        // A clone of the value needs none of the box.
        let is_own = !text.contains(CLONED);
        let names_box = replaces.iter().any(|replace| replace.with.contains("Box"));
        let path = if names_box { boxes::path(tree, file)? } else { "Box" };
        for replace in replaces {
            text.replace_range(replace.range.clone(), &boxes::with_path(&replace.with, path));
        }
        if is_own {
            text = text.replace(CLONED, ".as_deref().cloned()");
        }
        texts.push((file.to_owned(), text));
    }
    for (file, text) in texts {
        tree.write(&file, &text)?;
    }
    Ok(done)
}

/// Returns what a person has to look at.
fn leftover(error: &Diagnostic, tree: &Tree) -> Option<Left> {
    let span = error.spans.iter().find(|span| span.is_primary)?;
    // The place where the user's code calls the macro.
    let mut place = span;
    while let Some(expansion) = &place.expansion {
        place = &expansion.span;
    }
    let text = tree.read(Path::new(&place.file_name)).unwrap_or_default();
    let line = text.lines().nth(place.line_start.saturating_sub(1)).unwrap_or_default().trim();
    let label = span.label.as_ref().map(|label| format!(": {label}")).unwrap_or_default();
    Some(Left {
        at: format!("{}:{}", place.file_name, place.line_start),
        source: line.to_owned(),
        message: format!("{}{label}", error.message),
    })
}

fn range(span: &DiagnosticSpan) -> Bytes {
    span.byte_start as usize..span.byte_end as usize
}

/// Returns the expected and the found type of a mismatch, from the label or from the note with the whole types.
fn types(error: &Diagnostic, span: &DiagnosticSpan) -> Option<(String, String)> {
    let label = span.label.as_deref().unwrap_or_default();
    let whole = error.children.iter().map(|child| child.message.as_str()).find(|text| text.starts_with("expected "));
    [whole.unwrap_or_default(), label]
        .into_iter()
        .find_map(|text| Some((quoted_after(text, "expected ")?.to_owned(), quoted_after(text, "found ")?.to_owned())))
}

/// Returns the text between backticks after a word.
fn quoted_after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = &text[text.find(word)? + word.len()..];
    // `expected enum`, `expected reference`
    rest.split_once('`')?.1.split_once('`').map(|(quoted, _)| quoted)
}

/// Returns the argument of a generic type, if it is that type: `T` of `Option<T>`.
fn argument<'a>(ty: &'a str, name: &str) -> Option<&'a str> {
    let (head, rest) = ty.split_once('<')?;
    // `&mut std::option::Option<T>` is a reference.
    let is_named = head == name || !head.starts_with('&') && head.ends_with(&format!("::{name}"));
    is_named.then(|| rest.strip_suffix('>')).flatten()
}

/// Returns the boxed type: `T` of `Box<T>`, `Box<T, A>`.
fn unboxed(ty: &str) -> Option<&str> {
    argument(ty, "Box")
}

//! Patterns inside of the box in the arms of a `match`: the arms of one variant become one, whose body matches what the box contains,
//! `Part::Is(value) => match &**value { Value::Number(n) => .., Value::Text(text) => .. }`. The compiler still sees whether all values
//! are matched.

use super::super::syntax::{By, Bytes, Kind, dense};
use super::matched::{free_name, is_mut, scrutinee_type};
use super::{Replace, Site};
use std::fmt::Write as _;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;

/// The number of lines of a body that is written twice at most.
const LINES: usize = 4;

/// Joins the arms of the variant whose box has the pattern at the error's place.
pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let inside = |range: &Bytes| range.start <= site.range.start && site.range.end <= range.end;
    let arm = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Arm { pattern, .. } if inside(pattern) => Some(node.range.clone()),
        _ => None,
    })?;
    let whole = site.syntax.around(&arm).find_map(|node| match &node.kind {
        Kind::Match { .. } => Some(node.range.clone()),
        _ => None,
    })?;
    let matched = Match::of(site, &whole)?;
    let own = matched.arms.iter().find(|arm| inside(&arm.pattern))?;
    let case = own.cases.iter().find(|case| inside(case))?;
    // One of the alternatives of a pattern inside of the box.
    let alternatives = site.syntax.around(&site.range).filter(|node| matches!(node.kind, Kind::Or { .. }));
    let alternatives = alternatives.filter(|node| case.start < node.range.start && node.range.end < case.end);
    let hole = alternatives.last().map_or_else(|| site.range.clone(), |node| node.range.clone());
    let shape = Shape { before: site.at(&(case.start..hole.start)), after: site.at(&(hole.end..case.end)) };
    let parts: Vec<Parts> = matched.arms.iter().map(|arm| shape.parts(site, arm)).collect::<Option<_>>()?;
    let has_own = |parts: &Parts| !parts.own.is_empty();
    let (first, last) = (parts.iter().position(has_own)?, parts.iter().rposition(has_own)?);
    // Between the arms none may match the variant's values.
    let others = || parts[first..=last].iter().flat_map(|parts| &parts.others);
    if !others().all(|case| shape.excludes(site.at(case))) {
        return None;
    }
    // `Part::Is(_)` after them has the values that the inner match does not cover.
    let rest = parts.iter().position(|parts| parts.rest.is_some());
    if let Some(rest) = rest {
        let arm = &matched.arms[rest];
        if rest <= last || arm.guard.is_some() || site.at(&arm.body).lines().count() > LINES {
            return None;
        }
    }
    // What the inner match does not cover goes on to the arms after it.
    for arm in &matched.arms[last + 1..rest.unwrap_or(matched.arms.len())] {
        let is_excluded = arm.cases.iter().all(|case| shape.excludes(site.at(case)));
        let is_short = site.at(&arm.body).lines().count() <= LINES && arm.guard.is_none();
        let is_default = is_short && dense(site.at(&arm.pattern)) == "_";
        if !(is_excluded || is_default) {
            return None;
        }
    }
    let bindings = || parts.iter().flat_map(|parts| &parts.own).filter_map(|case| site.syntax.pattern(case));
    let name = free_name(site);
    let (bound, value) = match scrutinee_type(site) {
        Some((_, ty)) if is_mut(&ty) => (name.clone(), format!("&mut **{name}")),
        Some((_, ty)) if ty.contains('&') => (name.clone(), format!("&**{name}")),
        _ if bindings().any(|binding| binding.has(By::RefMut)) => (format!("ref mut {name}"), format!("**{name}")),
        _ if bindings().any(|binding| binding.has(By::Ref)) => (format!("ref {name}"), format!("**{name}")),
        _ => (name.clone(), format!("*{name}")),
    };
    let line = site.text[..matched.arms[first].whole.start].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = site.text[line..].chars().take_while(|letter| *letter == ' ' || *letter == '\t').collect();
    let mut inner = String::new();
    let mut all = Vec::new();
    for (index, (arm, parts)) in matched.arms.iter().zip(&parts).enumerate() {
        if parts.own.is_empty() {
            continue;
        }
        let body = site.at(&arm.body);
        if !parts.others.is_empty() && body.lines().count() > LINES {
            return None;
        }
        let cases: Vec<&str> = parts.own.iter().map(|case| site.at(case)).collect();
        let guard = arm.guard.as_ref().map(|guard| format!(" if {}", site.at(guard))).unwrap_or_default();
        let above = if index == first { "" } else { site.at(&arm.above).trim() };
        let above = if above.is_empty() { String::new() } else { format!("{above}\n{indent}    ") };
        let attributes = site.at(&(arm.whole.start..arm.pattern.start)).trim().to_owned();
        let attributes = if attributes.is_empty() { attributes } else { format!("{attributes} ") };
        let body = deeper(body);
        let comma = if body.starts_with('{') && body.ends_with('}') { "" } else { "," };
        let cases = cases.join(" | ");
        let _ = write!(inner, "\n{indent}    {above}{attributes}{cases}{guard} => {body}{comma}");
        let kept: Vec<&str> = parts.others.iter().map(|case| site.at(case)).collect();
        match (index == first, kept.is_empty()) {
            // The first gets the text below.
            (true, _) => {}
            (false, true) => all.push(site.replace(arm.above.start..arm.end, "")),
            (false, false) => all.push(site.replace(arm.pattern.clone(), kept.join(" | "))),
        }
    }
    if let Some(rest) = rest {
        let (arm, body) = (&matched.arms[rest], deeper(site.at(&matched.arms[rest].body)));
        let comma = if body.starts_with('{') && body.ends_with('}') { "" } else { "," };
        let _ = write!(inner, "\n{indent}    _ => {body}{comma}");
        let kept: Vec<&str> = parts[rest].others.iter().map(|case| site.at(case)).collect();
        all.push(match &kept[..] {
            [] => site.replace(arm.above.start..arm.end, ""),
            kept => site.replace(arm.pattern.clone(), kept.join(" | ")),
        });
    }
    let kept: Vec<&str> = parts[first].others.iter().map(|case| site.at(case)).collect();
    let (arm, Shape { before, after }) = (&matched.arms[first], &shape);
    let joined = format!("{before}{bound}{after} => match {value} {{{inner}\n{indent}}},");
    let rest = match &kept[..] {
        [] => String::new(),
        kept => {
            let guard = arm.guard.as_ref().map(|guard| format!(" if {}", site.at(guard))).unwrap_or_default();
            format!("\n{indent}{}{guard} => {},", kept.join(" | "), site.at(&arm.body))
        }
    };
    all.push(site.replace(arm.whole.start..arm.end, format!("{joined}{rest}")));
    all.sort_by_key(|replace| replace.range.start);
    Some(all)
}

/// The inner `match` does not cover all values: it gets the outer one's last arm, which has them.
pub(super) fn repair_rest(site: &Site<'_>) -> Option<Vec<Replace>> {
    if site.code() != "E0004" || !site.source().trim_start_matches("&mut ").trim_start_matches('&').starts_with('*') {
        return None;
    }
    let mut matches = site.syntax.around(&site.range).filter_map(|node| match &node.kind {
        Kind::Match { scrutinee } => Some((node.range.clone(), *scrutinee == site.range)),
        _ => None,
    });
    let ((inner, true), (outer, _)) = (matches.next()?, matches.next()?) else { return None };
    let outer = Match::of(site, &outer)?;
    let rest = outer.arms.last().filter(|arm| dense(site.at(&arm.pattern)) == "_" && arm.guard.is_none())?;
    if rest.whole.start < inner.end || site.at(&rest.body).lines().count() > LINES {
        return None;
    }
    let within = Match::of(site, &inner)?;
    let end = within.arms.last()?.end;
    let last = within.arms.last()?;
    let is_block = site.at(&last.body).ends_with('}');
    let comma = if is_block || site.at(&(end - 1..end)) == "," { "" } else { "," };
    // On a line of its own, if the arm before is.
    let line = site.text[..last.whole.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &site.text[line..last.whole.start];
    let between = if indent.trim().is_empty() { format!("\n{indent}") } else { " ".to_owned() };
    Some(vec![site.replace(end..end, format!("{comma}{between}_ => {},", site.at(&rest.body)))])
}

/// Returns an expression that stands one level deeper, unless a text in it has several lines.
fn deeper(body: &str) -> String {
    fn has_long_text(tokens: proc_macro2::TokenStream) -> bool {
        tokens.into_iter().any(|tree| match tree {
            proc_macro2::TokenTree::Literal(literal) => literal.to_string().contains('\n'),
            proc_macro2::TokenTree::Group(group) => has_long_text(group.stream()),
            _ => false,
        })
    }
    if body.parse().is_ok_and(has_long_text) { body.to_owned() } else { body.replace('\n', "\n    ") }
}

/// The arms of a `match`, with their places in the file.
struct Match {
    arms: Vec<Arm>,
}

struct Arm {
    /// With its attributes.
    whole: Bytes,
    /// From the end of the arm before.
    above: Bytes,
    pattern: Bytes,
    /// The alternatives of the pattern.
    cases: Vec<Bytes>,
    guard: Option<Bytes>,
    body: Bytes,
    /// The end with its comma.
    end: usize,
}

impl Match {
    fn of(site: &Site<'_>, whole: &Bytes) -> Option<Self> {
        let text = site.at(whole);
        let parsed: syn::ExprMatch = syn::parse_str(text).ok()?;
        let at = |range: Bytes| whole.start + range.start..whole.start + range.end;
        let mut before = whole.start + parsed.brace_token.span.open().byte_range().end;
        let arms = parsed.arms.iter().map(|arm| {
            let range = at(arm.span().byte_range());
            let cases = match &arm.pat {
                syn::Pat::Or(or) => or.cases.iter().map(|case| at(case.span().byte_range())).collect(),
                pat => vec![at(pat.span().byte_range())],
            };
            let end = arm.comma.as_ref().map_or(range.end, |comma| at(comma.span().byte_range()).end);
            let arm = Arm {
                whole: range.clone(),
                above: before..range.start,
                pattern: at(arm.pat.span().byte_range()),
                cases,
                guard: arm.guard.as_ref().map(|(_, guard)| at(guard.span().byte_range())),
                body: at(arm.body.span().byte_range()),
                end,
            };
            before = end;
            arm
        });
        Some(Self { arms: arms.collect() })
    }
}

/// A pattern with a place for that of the box: `Part::Is(` and `)`.
struct Shape<'a> {
    before: &'a str,
    after: &'a str,
}

/// The alternatives of an arm.
struct Parts {
    /// The patterns in the place of the box.
    own: Vec<Bytes>,
    /// The alternatives without the box.
    others: Vec<Bytes>,
    /// One that has all values of the variant, and gives no name to any.
    rest: Option<Bytes>,
}

impl Shape<'_> {
    /// Tells the alternatives of an arm apart. `None`: one has the variant in another way.
    fn parts(&self, site: &Site<'_>, arm: &Arm) -> Option<Parts> {
        let mut parts = Parts { own: Vec::new(), others: Vec::new(), rest: None };
        for case in &arm.cases {
            let text = site.at(case);
            let inner = text.strip_prefix(self.before).and_then(|rest| rest.strip_suffix(self.after));
            let is_pattern = |text: &&str| syn::Pat::parse_multi.parse_str(text).is_ok();
            match inner.filter(is_pattern) {
                Some(inner) => {
                    let start = case.start + self.before.len();
                    parts.own.push(start..start + inner.len());
                }
                None if self.is_rest(text) => parts.rest = Some(case.clone()),
                None if self.variant().is_some_and(|name| names(text).any(|word| word == name)) => return None,
                None => parts.others.push(case.clone()),
            }
        }
        Some(parts)
    }

    /// Returns the name of the variant: that before the last bracket that is open.
    fn variant(&self) -> Option<&str> {
        let mut depth = 0;
        let open = self.before.char_indices().rev().find(|(_, letter)| {
            depth += i32::from(")}]".contains(*letter)) - i32::from("({[".contains(*letter));
            depth < 0
        });
        let head = self.before[..open?.0].trim_end_matches(|letter: char| !is_word(letter));
        head.rsplit(|letter: char| !is_word(letter)).next()
    }

    /// Returns `true` for `Part::Is(_)`, `Part::Is(..)` and `Part::Is { .. }`, if the variant is the whole pattern.
    fn is_rest(&self, pattern: &str) -> bool {
        let is_all = |pat: &syn::Pat| matches!(pat, syn::Pat::Wild(_) | syn::Pat::Rest(_));
        let is_variant = |path: &syn::Path| {
            path.segments.last().is_some_and(|last| Some(&*last.ident.to_string()) == self.variant())
        };
        let is_whole = self.before.matches(['(', '{', '[']).count() == 1;
        is_whole
            && syn::Pat::parse_multi.parse_str(pattern).is_ok_and(|pat| match &pat {
                syn::Pat::TupleStruct(tuple) => is_variant(&tuple.path) && tuple.elems.iter().all(is_all),
                syn::Pat::Struct(of_fields) => {
                    is_variant(&of_fields.path) && of_fields.fields.iter().all(|field| is_all(&field.pat))
                }
                _ => false,
            })
    }

    /// Returns `true` if a pattern can match no value that has the variant: it names another one in its place.
    fn excludes(&self, pattern: &str) -> bool {
        fn differs(pat: &syn::Pat, heads: &[&str]) -> bool {
            let Some((head, rest)) = heads.split_first() else { return false };
            let last = |path: &syn::Path| path.segments.last().map(|last| last.ident.to_string());
            let wanted = head.rsplit("::").next().unwrap_or_default().trim();
            match pat {
                syn::Pat::Path(pat_path) => last(&pat_path.path).is_some_and(|name| name != wanted),
                syn::Pat::Ident(ident) => {
                    ident.ident.to_string().starts_with(char::is_uppercase) && ident.ident != wanted
                }
                syn::Pat::Struct(pat_struct) => last(&pat_struct.path).is_some_and(|name| name != wanted),
                syn::Pat::TupleStruct(tuple_struct) => match last(&tuple_struct.path) {
                    Some(name) if name != wanted => true,
                    Some(_) if tuple_struct.elems.len() == 1 => differs(&tuple_struct.elems[0], rest),
                    _ => false,
                },
                syn::Pat::Or(or) => or.cases.iter().all(|case| differs(case, heads)),
                syn::Pat::Reference(reference) => differs(&reference.pat, heads),
                syn::Pat::Paren(paren) => differs(&paren.pat, heads),
                _ => false,
            }
        }
        // `Some(Part::Is(`
        let heads = self.before.trim_start_matches('&').split(['(', '{']);
        let heads: Vec<&str> = heads.filter(|head| !head.is_empty()).collect();
        syn::Pat::parse_multi.parse_str(pattern).is_ok_and(|pat| differs(&pat, &heads))
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter| !is_word(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_with_names_are_told_apart() {
        let shape = Shape { before: "Token::Lit { value: ", after: ", .. }" };
        assert_eq!(shape.variant(), Some("Lit"));
        assert!(shape.excludes("Token::Punct(_)") && !shape.excludes("Token::Lit { at: 0, .. }"));
        assert!(shape.is_rest("Token::Lit { .. }") && !shape.is_rest("Token::Lit { at: 0, .. }"));
        let shape = Shape { before: "Some(Part::Is(", after: "))" };
        assert_eq!(shape.variant(), Some("Is"));
        assert!(shape.excludes("None") && shape.excludes("Some(Part::Not)") && !shape.excludes("Some(Part::Is(_))"));
        assert!(!shape.is_rest("Some(_)"));
        let shape = Shape { before: "Pair { one: Part::Is(", after: "), .. }" };
        assert!(!shape.excludes("Pair { one: Part::Not, .. }") && !shape.excludes("Pair { .. }"));
    }
}

//! Alternatives of a match arm, of which only some have the box: `A(x) | B(x) => body` binds one name with two types.

use super::super::syntax::{Bytes, Kind};
use super::matched::is_box;
use super::{Replace, Site, range};

/// The number of lines of an arm that is written twice at most.
const LINES: usize = 8;

/// The alternative with the box gets an arm of its own with the same body: `A(x) => body, B(x) => body`.
pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (expected, found) = site.types()?;
    // Each side may be the box: the name gets its type from the first alternative.
    let is_new = |ty: &str| is_box(ty) || ty.contains("ThinStr") || ty.contains("ThinSlice<");
    let place = match (is_new(expected), is_new(found)) {
        (true, false) => first(site).unwrap_or_else(|| site.range.clone()),
        (false, true) => site.range.clone(),
        _ => return None,
    };
    site.syntax.pattern(&place)?;
    let inside = |range: &Bytes| range.start <= place.start && place.end <= range.end;
    let mut cases = None;
    for node in site.syntax.around(&place) {
        match &node.kind {
            Kind::Matches { .. } => return None,
            // Alternatives inside of others stay together.
            Kind::Or { cases: alternatives } => cases = Some((node.range.clone(), alternatives)),
            Kind::Arm { pattern, body, .. } if inside(pattern) => {
                let (_, cases) = cases.filter(|(range, _)| range == pattern)?;
                return split(site, node.range.start, pattern, body, cases, &place);
            }
            _ => {}
        }
    }
    None
}

/// Parts the arm at `start`. The alternatives keep their order, since a value may match several of them.
fn split(
    site: &Site<'_>,
    start: usize,
    pattern: &Bytes,
    body: &Bytes,
    cases: &[Bytes],
    place: &Bytes,
) -> Option<Vec<Replace>> {
    let at = cases.iter().position(|case| case.start <= place.start && place.end <= case.end)?;
    let case = &cases[at];
    let (before, after) = (&cases[..at], &cases[at + 1..]);
    // With the guard, if there is one.
    let rest = site.at(&(pattern.end..body.end));
    // An attribute of the arm would have to be on each.
    if rest.lines().count() > LINES || start != pattern.start || cases.len() < 2 {
        return None;
    }
    let line = site.text[..start].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = site.text[line..start].chars().take_while(|letter| letter.is_whitespace()).collect();
    // A comment beside the alternative goes with it.
    let left = before.last().map(|last| last.end..case.start);
    let right = after.first().map(|first| case.end..first.start);
    let comments = [left, right].into_iter().flatten().map(|gap| site.at(&gap).trim().trim_matches('|').trim());
    let comments = comments.filter(|comment| !comment.is_empty()).map(|comment| format!("{comment}\n{indent}"));
    let own: String = comments.chain([site.at(case).to_owned()]).collect();
    let all = |ranges: &[Bytes]| Some(site.at(&(ranges.first()?.start..ranges.last()?.end)).to_owned());
    let arms = [all(before), Some(own), all(after)].into_iter().flatten().map(|pattern| format!("{pattern}{rest}"));
    let arms: Vec<String> = arms.collect();
    Some(vec![site.replace(pattern.start..body.end, arms.join(&format!(",\n{indent}")))])
}

/// Returns where the name got its type.
fn first(site: &Site<'_>) -> Option<Bytes> {
    let is_first = |label: &Option<String>| label.as_deref().is_some_and(|label| label.starts_with("first introduced"));
    let span = site.error.spans.iter().find(|span| is_first(&span.label) && span.file_name == site.span.file_name)?;
    Some(range(span))
}

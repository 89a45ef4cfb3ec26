//! The order of findings, and one row for those of which only one can be followed.
//!
//! The savings of the rows can be added: changes of types are computed one after the other, the other kinds look at what
//! those leave, and a field has one row. Its other changes are alternatives in that row.

use super::{dependencies, leak};
use crate::source::Finding;
use std::cmp::Reverse;

/// Returns a row for each set of fields, largest saving first, and those in dependencies last.
pub(super) fn rows(mut found: Vec<Finding>) -> Vec<Finding> {
    // The first row of a field is the one to follow: bytes that are live, then the largest saving.
    found.sort_by_key(|finding| (!finding.instead_of.is_empty(), finding.of_allocator, Reverse(finding.saves)));
    let mut rows: Vec<Finding> = Vec::new();
    let (leaks, found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|finding| finding.kind == leak::KIND && finding.dependency.is_none());
    for finding in found {
        let is_same = |row: &&mut Finding| row.fields.iter().any(|field| is_of(&finding, field));
        match rows.iter_mut().find(is_same) {
            Some(row) => row.alternatives.push(finding),
            None => rows.push(finding),
        }
    }
    rows.sort_by_key(|row| (row.dependency.is_some(), Reverse(row.saves)));
    for row in rows.iter_mut().filter(|row| row.dependency.is_some()) {
        elsewhere(row);
    }
    // What is leaked must not be made smaller, but freed.
    leaks.into_iter().chain(rows).collect()
}

/// Returns `true` if a finding changes a field, directly or in an alternative that replaces its finding.
fn is_of(finding: &Finding, field: &String) -> bool {
    finding.fields.contains(field) || finding.instead_of.contains(field)
}

/// Turns a finding in a dependency into what the author of the program can do.
fn elsewhere(row: &mut Finding) {
    let krate = row.dependency.as_deref().unwrap_or_default();
    row.how = if dependencies::is_of_type(row) {
        format!("in {krate}: {}; an issue there, or a patch, by `cargo dwell apply --patched`", row.how)
    } else {
        format!("in {krate}: a setting of it, fewer of these values, or an issue there")
    };
    row.alternatives.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &str, field: &str, saves: u64) -> Finding {
        Finding { kind: kind.into(), fields: vec![field.into()], location: field.into(), saves, ..Finding::default() }
    }

    #[test]
    fn field_has_one_row() {
        let box_of = Finding { instead_of: vec!["T.a".into()], ..finding("box", "U.t", 90) };
        let rounding = Finding { of_allocator: true, ..finding("rounding", "T.a", 70) };
        let found = vec![finding("thin", "T.a", 50), box_of, finding("shrink", "T.b", 60), rounding];
        let rows: Vec<_> = rows(found).into_iter().map(|row| (row.kind, row.alternatives.len())).collect();
        assert_eq!(rows, [("shrink".to_owned(), 0), ("thin".to_owned(), 2)]);
    }

    #[test]
    fn dependencies_come_last_and_suggest_no_type() {
        let other =
            Finding { dependency: Some("hyper".into()), how: "ThinSlice<u8>".into(), ..finding("thin", "B.c", 9) };
        let rows = rows(vec![other, finding("box", "T.a", 1)]);
        assert_eq!((&*rows[0].kind, &*rows[1].kind), ("box", "thin"));
        assert!(!rows[1].how.contains("ThinSlice") && rows[1].how.contains("hyper"), "{rows:?}");
    }
}

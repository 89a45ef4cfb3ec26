//! Names for types, after the keys under which they occur.

use crate::shape::names::{TAKEN, is_part};
use heck::ToUpperCamelCase;
use std::collections::HashSet;

/// Gives out each name once.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// The first of `wanted` that is free, or else its last with a number.
    pub(super) fn choose(&mut self, wanted: &[String]) -> String {
        let last = wanted.last().map_or("Record", String::as_str);
        let numbered = (2..).map(|number| format!("{last}{number}"));
        let mut names = wanted.iter().cloned().chain(numbered);
        let free = names.find(|name| !TAKEN.contains(&name.as_str()) && !self.0.contains(&name.to_lowercase()));
        let name = free.unwrap_or_default();
        // Names that differ in case only would be a trap.
        self.0.insert(name.to_lowercase());
        name
    }
}

/// A key as a type name: `smithy.api#httpQuery` is `HttpQuery`.
pub(super) fn type_name(key: &str) -> String {
    let last = key.rsplit(['#', '/', ':']).find(|part| part.contains(is_part));
    let words: String = last.unwrap_or(key).chars().map(|c| if is_part(c) { c } else { ' ' }).collect();
    let mut name = words.to_upper_camel_case();
    if name.is_empty() {
        "Item".clone_into(&mut name);
    }
    if !name.starts_with(unicode_ident::is_xid_start) {
        name.insert(0, 'N');
    }
    name
}

/// The singular of `plural` by simple rules.
pub(super) fn singular(plural: &str) -> String {
    let lower = plural.to_ascii_lowercase();
    let cut = |end: usize| plural[..plural.len() - end].to_owned();
    let ends = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    if !plural.is_ascii() || lower.len() < 3 {
        return plural.to_owned();
    }
    // The whole word, or the last of several.
    let irregular = [
        ("children", 3, ""),
        ("people", 4, "rson"),
        ("indices", 4, "ex"),
        ("vertices", 4, "ex"),
        ("matrices", 4, "ix"),
        ("analyses", 2, "is"),
        ("bases", 1, ""),
        ("leaves", 3, "f"),
        ("movies", 1, ""),
        ("cookies", 1, ""),
        ("series", 0, ""),
        ("species", 0, ""),
        ("caches", 1, ""),
        ("aliases", 2, ""),
        ("buses", 2, ""),
        ("gases", 2, ""),
        ("biases", 2, ""),
        ("canvases", 2, ""),
        ("atlases", 2, ""),
    ];
    for (word, end, instead) in irregular {
        if lower.ends_with(word) {
            return cut(end) + instead;
        }
    }
    let whole = ["aws", "css", "dns", "gps", "https", "ios", "js", "sms", "tls", "gas", "bus", "yes", "has", "always"];
    if whole.contains(&lower.as_str()) || ends(&["ss", "us", "is", "as", "os", "news"]) {
        plural.to_owned()
    } else if ends(&["ies"]) && lower.len() > 4 {
        cut(3) + "y"
    } else if ends(&["sses", "shes", "ches", "xes", "zzes"])
        || (ends(&["uses"]) && !ends(&["houses", "causes", "clauses", "pauses", "excuses", "spouses"]))
    {
        cut(2)
    } else if ends(&["s"]) {
        cut(1)
    } else {
        plural.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_type_names() {
        for (key, name) in [
            ("traits", "Traits"),
            ("smithy.api#httpQuery", "HttpQuery"),
            ("aws.protocols#awsJson1_1", "AwsJson11"),
            ("3d-model", "N3dModel"),
            ("", "Item"),
            ("naïve", "Naïve"),
            ("größe", "Größe"),
            ("名前", "名前"),
            ("x²", "X"),
            ("#", "Item"),
            ("a/", "A"),
        ] {
            assert_eq!(type_name(key), name, "{key}");
        }
    }

    #[test]
    fn plurals_become_singular() {
        for (plural, one) in [
            ("shapes", "shape"),
            ("members", "member"),
            ("properties", "property"),
            ("classes", "class"),
            ("boxes", "box"),
            ("status", "status"),
            ("aliases", "alias"),
            ("statuses", "status"),
            ("movies", "movie"),
            ("cookies", "cookie"),
            ("caches", "cache"),
            ("houses", "house"),
            ("cases", "case"),
            ("analyses", "analysis"),
            ("leaves", "leaf"),
            ("matrices", "matrix"),
            ("licenses", "license"),
            ("buses", "bus"),
            ("address", "address"),
            ("children", "child"),
            ("people", "person"),
            ("indices", "index"),
            ("vertices", "vertex"),
            ("data", "data"),
            ("ids", "id"),
        ] {
            assert_eq!(singular(plural), one, "{plural}");
        }
    }

    #[test]
    fn a_name_is_given_once_and_never_one_of_the_prelude() {
        let mut names = Names::default();
        let wanted = ["Option".to_owned(), "TraitsOption".to_owned()];
        assert_eq!(names.choose(&wanted), "TraitsOption");
        assert_eq!(names.choose(&wanted), "TraitsOption2");
        assert_eq!(names.choose(&wanted), "TraitsOption3");
        assert_eq!(names.choose(&["Traitsoption".to_owned()]), "Traitsoption4");
    }
}

//! Names for types, after the keys under which they occur.

use crate::shape::names::TAKEN;
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
    let last = key.rsplit(['#', '/', ':']).find(|part| part.contains(|c: char| c.is_ascii_alphanumeric()));
    let ascii: String = last.unwrap_or(key).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    let mut name = ascii.to_upper_camel_case();
    if name.is_empty() {
        "Item".clone_into(&mut name);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'N');
    }
    name
}

/// What one of `plural` is called, as far as simple rules know.
pub(super) fn singular(plural: &str) -> String {
    let lower = plural.to_ascii_lowercase();
    let cut = |end: usize| plural[..plural.len() - end].to_owned();
    let ends = |ending: &[&str]| ending.iter().any(|ending| lower.ends_with(ending));
    match lower.as_str() {
        "aws" | "css" | "dns" | "gps" | "https" | "ios" | "js" | "sms" | "tls" => return plural.to_owned(),
        "children" => return cut(3),
        "people" => return cut(5) + "erson",
        "indices" | "vertices" | "matrices" => return cut(4) + if lower == "indices" { "ex" } else { "ix" },
        _ => {}
    }
    if !plural.is_ascii() || ends(&["ss", "us", "is", "as", "news", "series", "species"]) || lower.len() < 3 {
        plural.to_owned()
    } else if ends(&["ies"]) && lower.len() > 4 {
        cut(3) + "y"
    } else if ends(&["sses", "shes", "ches", "xes", "zzes"]) {
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
            ("naïve", "NaVe"),
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
            ("aliases", "aliase"),
            ("address", "address"),
            ("children", "child"),
            ("people", "person"),
            ("indices", "index"),
            ("vertices", "vertix"),
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

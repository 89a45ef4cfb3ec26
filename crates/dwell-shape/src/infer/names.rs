//! Names types after the keys of their positions.

use crate::names::{TAKEN, is_part};
use heck::ToUpperCamelCase;
use std::collections::{HashMap, HashSet};

/// The set of names in use.
#[derive(Default)]
pub(super) struct Names {
    /// In lower case, since names that differ only in case are easy to confuse.
    used: HashSet<String>,
    /// The number of the first letters to try behind a name.
    next: HashMap<String, usize>,
}

impl Names {
    /// Returns the first of `wanted` that is not in use; otherwise the last one with the first free letter.
    pub(super) fn choose(&mut self, wanted: &[String]) -> String {
        let free = wanted.iter().find(|name| self.is_free(name)).cloned();
        let name = free.unwrap_or_else(|| {
            let last = wanted.last().map_or("Record", String::as_str);
            let mut number = self.next.get(last).copied().unwrap_or(0);
            let mut name = format!("{last}{}", letters(number));
            while !self.is_free(&name) {
                number += 1;
                name = format!("{last}{}", letters(number));
            }
            self.next.insert(last.to_owned(), number + 1);
            name
        });
        self.used.insert(name.to_lowercase());
        name
    }

    fn is_free(&self, name: &str) -> bool {
        !TAKEN.contains(&name) && !self.used.contains(&name.to_lowercase())
    }
}

/// Converts a number to letters: `B`, `C`, .. `Z`, `BB`, .. A number after a name would look like a version.
fn letters(mut number: usize) -> String {
    let mut text = String::new();
    loop {
        text.insert(0, char::from(b'B' + u8::try_from(number % 25).unwrap_or(0)));
        if number < 25 {
            return text;
        }
        number = number / 25 - 1;
    }
}

/// Converts a key to a type name: `HttpQuery` for `smithy.api#httpQuery`.
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

/// Irregular plurals. They also match the end of a longer word.
const IRREGULAR: &[(&str, &str)] = &[
    ("children", "child"),
    ("people", "person"),
    ("women", "woman"),
    ("men", "man"),
    ("mice", "mouse"),
    ("geese", "goose"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("indices", "index"),
    ("vertices", "vertex"),
    ("appendices", "appendix"),
    ("matrices", "matrix"),
    ("criteria", "criterion"),
    ("phenomena", "phenomenon"),
    ("analyses", "analysis"),
    ("diagnoses", "diagnosis"),
    ("hypotheses", "hypothesis"),
    ("theses", "thesis"),
    ("crises", "crisis"),
    ("oases", "oasis"),
    ("axes", "axis"),
    ("aliases", "alias"),
    ("atlases", "atlas"),
    ("biases", "bias"),
    ("buses", "bus"),
    ("canvases", "canvas"),
    ("gases", "gas"),
    ("lenses", "lens"),
    ("quizzes", "quiz"),
    ("calves", "calf"),
    ("elves", "elf"),
    ("selves", "self"),
    ("halves", "half"),
    ("knives", "knife"),
    ("leaves", "leaf"),
    ("lives", "life"),
    ("loaves", "loaf"),
    ("shelves", "shelf"),
    ("thieves", "thief"),
    ("wives", "wife"),
    ("wolves", "wolf"),
    ("birdies", "birdie"),
    ("brownies", "brownie"),
    ("calories", "calorie"),
    ("cookies", "cookie"),
    ("genies", "genie"),
    ("movies", "movie"),
    ("rookies", "rookie"),
    ("selfies", "selfie"),
    ("zombies", "zombie"),
    ("shoes", "shoe"),
    ("toes", "toe"),
    ("caches", "cache"),
    ("apis", "api"),
    ("apus", "apu"),
    ("cpus", "cpu"),
    ("gpus", "gpu"),
    ("vcpus", "vcpu"),
    ("abis", "abi"),
    ("emojis", "emoji"),
    ("guis", "gui"),
    ("kpis", "kpi"),
    ("pois", "poi"),
    ("quasis", "quasi"),
    ("taxis", "taxi"),
    ("uris", "uri"),
    ("wikis", "wiki"),
    ("gurus", "guru"),
    ("menus", "menu"),
    ("skus", "sku"),
];

/// Words that end in `s` and are singular, or both; they match whole words.
const SINGULAR: &[&str] = &[
    "aas",
    "alias",
    "always",
    "analytics",
    "as",
    "asbestos",
    "atlas",
    "aws",
    "bias",
    "bus",
    "canvas",
    "chaos",
    "chess",
    "cosmos",
    "css",
    "dns",
    "dos",
    "ethos",
    "gas",
    "gps",
    "has",
    "https",
    "ios",
    "js",
    "kudos",
    "lens",
    "macos",
    "mathematics",
    "means",
    "nas",
    "news",
    "os",
    "physics",
    "pos",
    "saas",
    "series",
    "sms",
    "species",
    "tls",
    "was",
    "yes",
];

/// Returns the singular of a word, or of the last word of several.
pub(crate) fn singular(plural: &str) -> String {
    // The singular of `goals1` is `goal`.
    let stem = plural.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() > 3 && stem.len() < plural.len() && stem.ends_with('s') {
        return singular(stem);
    }
    if !plural.is_ascii() {
        return plural.to_owned();
    }
    // `IDs`, `URLs`.
    if let Some(acronym) =
        plural.strip_suffix('s').filter(|front| front.len() > 1 && front.ends_with(char::is_uppercase))
    {
        return acronym.to_owned();
    }
    let is_start = |&(at, char): &(usize, char)| at > 0 && (char.is_ascii_uppercase() || !char.is_ascii_alphanumeric());
    // An acronym counts as one word.
    let shouts = !plural.contains(|c: char| c.is_ascii_lowercase());
    let start = plural.char_indices().rev().find(is_start).filter(|_| !shouts).map_or(0, |(at, _)| at);
    let start = start + usize::from(plural[start..].starts_with(|c: char| !c.is_ascii_alphanumeric()));
    let (front, word) = plural.split_at(start);
    let lower = word.to_ascii_lowercase();
    let cut = |end: usize| plural[..plural.len() - end].to_owned();
    let ends = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    if lower.len() < 3 || SINGULAR.contains(&lower.as_str()) {
        return plural.to_owned();
    }
    for (many, one) in IRREGULAR {
        // `lives` must not match the end of `olives`, so short plurals match whole words only.
        let is_it = if many.len() < 6 { lower == *many } else { lower.ends_with(many) };
        if is_it {
            let kept = &word[..word.len() - many.len()];
            let is_upper = word[kept.len()..].starts_with(|c: char| c.is_ascii_uppercase());
            let one = if shouts {
                one.to_ascii_uppercase()
            } else if is_upper {
                one[..1].to_ascii_uppercase() + &one[1..]
            } else {
                (*one).to_owned()
            };
            return format!("{front}{kept}{one}");
        }
    }
    if ends(&["ss", "is", "us", "js"]) {
        plural.to_owned()
    } else if ends(&["ies"]) && lower.len() > 4 {
        cut(3) + "y"
    } else if ends(&["sses", "shes", "ches", "xes", "zzes"])
        || (ends(&["oes"]) && lower.len() > 5)
        || (ends(&["uses"])
            && lower.len() > 4
            && !ends(&["houses", "causes", "clauses", "pauses", "excuses", "spouses"]))
    {
        cut(2)
    } else if ends(&["s"]) {
        cut(1)
    } else {
        plural.to_owned()
    }
}

/// Returns the last word of a `CamelCase` name.
pub(super) fn last_word(name: &str) -> &str {
    let start = name.char_indices().rev().find(|(_, char)| char.is_uppercase());
    start.map_or(name, |(at, _)| &name[at..])
}

/// Returns the words that all names have in common: `Team` for `HomeTeam` and `AwayTeam`, `Goal` for `Goal1` and
/// `Goal2`.
pub(crate) fn common(names: &[String]) -> Option<String> {
    let first = names.first()?;
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() > 1 && names.iter().all(|name| name.trim_end_matches(|c: char| c.is_ascii_digit()) == stem) {
        return Some(stem.to_owned());
    }
    let word = last_word(first);
    (word.len() > 2 && names.iter().all(|name| last_word(name) == word)).then(|| word.to_owned())
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
            ("homeTeams", "homeTeam"),
            ("team_members", "team_member"),
            ("goals1", "goal"),
            ("schemas", "schema"),
            ("photos", "photo"),
            ("chaos", "chaos"),
            ("heroes", "hero"),
            ("knives", "knife"),
            ("mice", "mouse"),
            ("diagnoses", "diagnosis"),
            ("imageLenses", "imageLens"),
            ("AxisIndices", "AxisIndex"),
            ("specimens", "specimen"),
            ("quasis", "quasi"),
            ("APIS", "API"),
            ("cpus", "cpu"),
            ("virus", "virus"),
            ("campus", "campus"),
            ("olives", "olive"),
            ("uses", "use"),
            ("menus", "menu"),
            ("tests", "test"),
            ("utf8", "utf8"),
            ("bonus", "bonus"),
            ("IDs", "ID"),
            ("nodejs", "nodejs"),
        ] {
            assert_eq!(singular(plural), one, "{plural}");
        }
    }

    #[test]
    fn names_are_unique_and_avoid_the_prelude() {
        let mut names = Names::default();
        let wanted = ["Option".to_owned(), "TraitsOption".to_owned()];
        assert_eq!(names.choose(&wanted), "TraitsOption");
        assert_eq!(names.choose(&wanted), "TraitsOptionB");
        assert_eq!(names.choose(&wanted), "TraitsOptionC");
        assert_eq!(names.choose(&["Traitsoption".to_owned()]), "TraitsoptionD");
    }
}

//! Suggests known names that are similar to an unknown one.

use std::collections::BTreeSet;

/// Returns `; did you mean ..?` with up to three similar names, or an empty string if no name is similar.
pub fn suggestion<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    let wanted = bare(wanted).to_lowercase();
    let mut seen = BTreeSet::new();
    let mut near: Vec<(f64, &str)> = names
        .filter(|name| seen.insert(*name))
        .map(|name| (strsim::jaro_winkler(&wanted, &bare(name).to_lowercase()), name))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(b.1)));
    let names: Vec<_> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    match &names[..] {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

/// Returns the last part of a path, without arguments: `Map` of `a::Map<u8, u16>`.
fn bare(name: &str) -> &str {
    let name = name.trim_start_matches(['{', '&', '*', '(', '[']);
    let name = &name[..name.find(['<', '{', ';', '}']).unwrap_or(name.len())];
    name.rsplit("::").find(|part| !part.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_suggested_first() {
        let names = ["Config", "Vec<Config>", "shape::Connection<u8>", "Other", "Config"];
        let suggestion = suggestion("Confg", names.into_iter());
        assert!(suggestion.starts_with("; did you mean `Config`"), "{suggestion}");
        assert!(!suggestion.contains("Other"), "{suggestion}");
        assert_eq!(super::suggestion("qqq", names.into_iter()), "");
    }

    #[test]
    fn bare_name_drops_path_and_arguments() {
        assert_eq!(bare("a::Map<u8, b::C>"), "Map");
        assert_eq!(bare("{async fn f}"), "async fn f");
        assert_eq!(bare("::"), "::");
    }
}

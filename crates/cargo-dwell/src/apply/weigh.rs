//! The advice of `dwell::weigh` as moves: it names fields by their type, and the source is searched for their place.

use super::types::difference;
use dwell_source::{Edit, Items};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A suggestion of `Advice::to_json`.
#[derive(Debug, Deserialize)]
pub(super) struct Suggestion {
    pub(super) kind: String,
    pub(super) path: String,
    pub(super) paths: Vec<String>,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) saves: u64,
}

/// Returns a suggestion; `None`: the object is none.
pub(super) fn read(fields: &Map<String, Value>) -> Option<Suggestion> {
    if fields.contains_key("edits") {
        return None;
    }
    Suggestion::deserialize(fields).ok()
}

/// Returns an edit with its place in the source, and with the types as they are written there.
pub(super) fn located(edit: &Edit, items: &Items) -> Option<Edit> {
    let (item, line, from) = items.field(&edit.item)?;
    let (old, new) = difference(&edit.from, &edit.to)?;
    let to = replaced(&from, &old, &new)?;
    Some(Edit { file: item.file.clone(), line, item: edit.item.clone(), from, to })
}

/// Replaces a type in the text of another, in which it may have a path: `Option<model::Extra>`.
fn replaced(text: &str, old: &str, new: &str) -> Option<String> {
    let is_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':');
    let mut places = text.match_indices(old).filter(|(at, _)| {
        let after = text[at + old.len()..].chars().next();
        let before = text[..*at].chars().next_back();
        !after.is_some_and(is_path) && !before.is_some_and(|letter| is_path(letter) && letter != ':')
    });
    let (at, _) = places.next().filter(|_| places.next().is_none())?;
    let start = text[..at].trim_end_matches(is_path).len();
    let whole = &text[start..at + old.len()];
    Some(format!("{}{}{}", &text[..start], new.replacen(old, whole, 1), &text[at + old.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_replaced_with_their_paths() {
        let with = |text: &str, old: &str, new: &str| replaced(text, old, new);
        assert_eq!(with("Option<model::Extra>", "Extra", "Box<Extra>").as_deref(), Some("Option<Box<model::Extra>>"));
        assert_eq!(
            with("Option< [u64; 20] >", "[u64; 20]", "Box<[u64; 20]>").as_deref(),
            Some("Option< Box<[u64; 20]> >")
        );
        assert_eq!(with("String", "String", "ThinStr").as_deref(), Some("ThinStr"));
        assert_eq!(with("std::string::String", "String", "ThinStr").as_deref(), Some("ThinStr"));
        assert_eq!(with("Extras", "Extra", "Box<Extra>"), None);
        assert_eq!(with("(Extra, Extra)", "Extra", "Box<Extra>"), None);
    }
}

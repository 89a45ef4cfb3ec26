//! The advice of `dwell::weigh` as moves: it names fields by their type, and the source is searched for their place.

use super::moves::{Move, Saves, difference};
use crate::source::{Edit, Items};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A suggestion of `Advice::to_json`.
#[derive(Debug, Deserialize)]
struct Suggestion {
    kind: String,
    path: String,
    paths: Vec<String>,
    from: String,
    to: String,
    saves: u64,
}

/// Returns the move of a suggestion; its edits have no place yet. `None`: the object is none.
pub(super) fn read(fields: &Map<String, Value>) -> Option<Move> {
    if fields.contains_key("edits") {
        return None;
    }
    let of = Suggestion::deserialize(fields).ok()?;
    let edit = |item: &String| Edit { item: item.clone(), from: of.from.clone(), to: of.to.clone(), ..Edit::default() };
    Some(Move {
        kind: of.kind,
        saves: Saves::Bytes(of.saves),
        how: format!("{} to {}", of.from, of.to),
        edits: of.paths.iter().map(edit).collect(),
        location: of.path,
        ..Move::default()
    })
}

/// Gives the edits their places in the source. A move of which one has none loses all, and is refused.
pub(super) fn locate(moves: &mut [Move], items: &Items) {
    for of in moves {
        let found = of.edits.iter().map(|edit| match edit.file.is_empty() {
            true => located(edit, items),
            false => Some(edit.clone()),
        });
        of.edits = found.collect::<Option<_>>().unwrap_or_default();
    }
}

fn located(edit: &Edit, items: &Items) -> Option<Edit> {
    let (item, line, from) = items.field(&edit.item)?;
    let (old, new) = difference(&edit.from, &edit.to)?;
    let to = replaced(&from, &old, &new)?;
    Some(Edit { file: item.file.clone(), line, item: edit.item.clone(), from, to })
}

/// Replaces a type in the text of another, in which it may have a path: `Option<model::Extra>`.
fn replaced(text: &str, old: &str, new: &str) -> Option<String> {
    let is_path = |of: char| of.is_alphanumeric() || matches!(of, '_' | ':');
    let mut places = text.match_indices(old).filter(|(at, _)| {
        let after = text[at + old.len()..].chars().next();
        let before = text[..*at].chars().next_back();
        !after.is_some_and(is_path) && !before.is_some_and(|of| is_path(of) && of != ':')
    });
    let (at, _) = places.next().filter(|_| places.next().is_none())?;
    let start = text[..at].rfind(|of| !is_path(of)).map_or(0, |end| end + 1);
    let whole = &text[start..at + old.len()];
    Some(format!("{}{}{}", &text[..start], new.replacen(old, whole, 1), &text[at + old.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_replaced_with_their_paths() {
        let of = |text: &str, old: &str, new: &str| replaced(text, old, new);
        assert_eq!(of("Option<model::Extra>", "Extra", "Box<Extra>").as_deref(), Some("Option<Box<model::Extra>>"));
        assert_eq!(
            of("Option< [u64; 20] >", "[u64; 20]", "Box<[u64; 20]>").as_deref(),
            Some("Option< Box<[u64; 20]> >")
        );
        assert_eq!(of("String", "String", "ThinStr").as_deref(), Some("ThinStr"));
        assert_eq!(of("std::string::String", "String", "ThinStr").as_deref(), Some("ThinStr"));
        assert_eq!(of("Extras", "Extra", "Box<Extra>"), None);
        assert_eq!(of("(Extra, Extra)", "Extra", "Box<Extra>"), None);
    }
}

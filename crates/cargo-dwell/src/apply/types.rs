//! The types of the library.

/// The types of the library, with their paths.
const TYPES: [(&str, &str); 7] = [
    ("ThinStr", "dwell::sparse::ThinStr"),
    ("ThinSlice", "dwell::sparse::ThinSlice"),
    ("SortedMap", "dwell::sparse::SortedMap"),
    ("Sparse", "dwell::Sparse"),
    ("SmallBox", "dwell::SmallBox"),
    ("PoolSlot", "dwell::slab::sync::PoolSlot"),
    ("Pooled", "dwell::slab::Pooled"),
];

/// Returns the text of a type in which the library's types have their paths.
pub(super) fn with_paths(ty: &str) -> String {
    let is_word = |of: char| of.is_alphanumeric() || of == '_';
    let mut text = String::new();
    let mut rest = ty;
    while let Some(start) = rest.find(is_word) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|of| !is_word(of)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        text.push_str(before);
        let known = TYPES.iter().find(|(name, _)| *name == word && !text.ends_with("::"));
        text.push_str(known.map_or(word, |(_, path)| path));
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_get_their_paths() {
        for (ty, with) in [
            ("Option<ThinStr>", "Option<dwell::sparse::ThinStr>"),
            ("SortedMap<ThinStr, Vec<u8>>", "dwell::sparse::SortedMap<dwell::sparse::ThinStr, Vec<u8>>"),
            ("dwell::Sparse<SparseMap>", "dwell::Sparse<SparseMap>"),
            ("Box<str>", "Box<str>"),
        ] {
            assert_eq!(with_paths(ty), with);
        }
    }
}

//! The types of the library, and in what two types differ.

use super::syntax::dense;
use syn::spanned::Spanned as _;

/// The types of the library, with their paths.
const TYPES: [(&str, &str); 6] = [
    ("ThinStr", "dwell::sparse::ThinStr"),
    ("ThinSlice", "dwell::sparse::ThinSlice"),
    ("SortedMap", "dwell::sparse::SortedMap"),
    ("Sparse", "dwell::Sparse"),
    ("SmallBox", "dwell::SmallBox"),
    ("Pooled", "dwell::slab::Pooled"),
];

/// The paths by which the changed source names types.
pub(super) const PATHS: [&str; 9] = [
    TYPES[0].1,
    TYPES[1].1,
    TYPES[2].1,
    TYPES[3].1,
    TYPES[4].1,
    TYPES[5].1,
    "dwell::pin::PoolFuture",
    "alloc::boxed::Box",
    "std::sync::Arc",
];

/// Returns the text of a type in which the library's types have their paths.
pub(super) fn with_paths(ty: &str) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut text = String::new();
    let mut rest = ty;
    while let Some(start) = rest.find(is_word) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|letter| !is_word(letter)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        text.push_str(before);
        let known = TYPES.iter().find(|(name, _)| *name == word && !text.ends_with("::"));
        text.push_str(known.map_or(word, |(_, path)| path));
        rest = after;
    }
    text + rest
}

/// The integers with their bits.
const INTEGERS: [(&str, u32); 12] = [
    ("u8", 8),
    ("u16", 16),
    ("u32", 32),
    ("u64", 64),
    ("u128", 128),
    ("usize", 64),
    ("i8", 8),
    ("i16", 16),
    ("i32", 32),
    ("i64", 64),
    ("i128", 128),
    ("isize", 64),
];

/// Returns `true` if a type is an integer, and another one of its kind with fewer bits.
pub(super) fn is_narrower(from: &str, to: &str) -> bool {
    let bits = |name: &str| INTEGERS.iter().find(|(known, _)| *known == name).map(|(_, bits)| *bits);
    // The size of `isize` is that of the target.
    bits(from).zip(bits(to)).is_some_and(|(old, new)| new < old && from[..1] == to[..1] && !to.ends_with("size"))
}

/// Returns the parts in which two types differ: `B` and `Box<B>` for `Option<B>` and `Option<Box<B>>`.
pub(super) fn difference(from: &str, to: &str) -> Option<(String, String)> {
    let only_argument = |text: &str, other: &str| -> Option<Vec<(String, String)>> {
        let (syn::Type::Path(one), syn::Type::Path(two)) = (syn::parse_str(text).ok()?, syn::parse_str(other).ok()?)
        else {
            return None;
        };
        let (one, two) = (one.path.segments.last()?.clone(), two.path.segments.last()?.clone());
        let (syn::PathArguments::AngleBracketed(before), syn::PathArguments::AngleBracketed(after)) =
            (&one.arguments, &two.arguments)
        else {
            return None;
        };
        let same_length = before.args.len() == after.args.len();
        let pairs = before.args.iter().zip(&after.args).map(|(before, after)| {
            Some((text.get(before.span().byte_range())?.to_owned(), other.get(after.span().byte_range())?.to_owned()))
        });
        (one.ident == two.ident && same_length).then(|| pairs.collect()).flatten()
    };
    let (mut from, mut to) = (from.trim().to_owned(), to.trim().to_owned());
    if dense(&from) == dense(&to) || from.is_empty() || to.is_empty() {
        return None;
    }
    while let Some(pairs) = only_argument(&from, &to) {
        let mut differ = pairs.into_iter().filter(|(before, after)| dense(before) != dense(after));
        match (differ.next(), differ.next()) {
            (Some((before, after)), None) => (from, to) = (before, after),
            _ => break,
        }
    }
    Some((from, to))
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

    #[test]
    fn integers_become_narrower_ones_of_their_kind() {
        assert!(is_narrower("u64", "u32") && is_narrower("usize", "u16") && is_narrower("i64", "i32"));
        assert!(!is_narrower("i64", "u32") && !is_narrower("u32", "u64") && !is_narrower("u64", "usize"));
        assert!(!is_narrower("Id", "u32"));
    }
}

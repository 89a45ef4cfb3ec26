//! Suggestions: a change of the source, what it saves, and what it costs.
#![forbid(unsafe_code)]

use std_alloc::string::String;
use std_alloc::vec::Vec;

/// Suggestions that make a value smaller: the result of [`Tree::advise`](super::Tree::advise).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Advice {
    /// The suggestions, largest saving first. Estimates are last.
    pub suggestions: Vec<Suggestion>,
    /// Types a few bytes above the size of a cache line or of an allocator's size class.
    pub hints: Vec<Hint>,
    /// The requested bytes at present, inline and on the heap.
    pub before: u64,
    /// The bytes after all suggestions that are predicted together.
    pub after: u64,
}

/// One change of the source, and what it saves.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// What to change, in words: `Shape.traits`, `8 fields of PathItem`.
    pub path: String,
    /// Each field that changes: `PathItem.get`, `PathItem.put`.
    pub paths: Vec<String>,
    /// The type at present.
    pub from: String,
    /// The suggested type.
    pub to: String,
    /// The kind of change.
    pub kind: SuggestionKind,
    /// The number of slots with a value that is not empty.
    pub filled: u64,
    /// The number of slots.
    pub slots: u64,
    /// The type whose size changes: the owner of the field, or the type of the elements.
    pub type_name: String,
    /// Bytes of that type, before and after this suggestion.
    pub type_size: [u64; 2],
    /// Requested bytes that this saves after the suggestions before it.
    pub saves: u64,
    /// Requested bytes in total, after this suggestion and those before it.
    pub total: u64,
    /// The change in the number of allocations; negative if fewer.
    pub allocations: i64,
    /// Other costs, in words.
    pub cost: &'static str,
    /// Whether the bytes that this saves are exact. `total` is too if the [weight](super::Weight::is_exact) of the present value is.
    pub is_exact: bool,
    /// The removed and added lines, and how uses of the field change.
    pub(super) patch: String,
}

/// A type that is a few bytes above a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The type.
    pub type_name: String,
    /// The size of the type in bytes, after the suggestions.
    pub size: u64,
    /// The limit in bytes.
    pub limit: u64,
    /// The kind of limit: `cache line`, `size class`.
    pub of: &'static str,
    /// The number of values.
    pub values: u64,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SuggestionKind {
    /// A struct that is mostly absent moves into a box.
    Box,
    /// A struct that mostly equals its default becomes a [`Sparse`](struct@crate::Sparse).
    Sparse,
    /// A string or vector loses its spare capacity: `Box<str>`, `Box<[T]>`.
    Exact,
    /// A string or slice gets a handle of one word: [`ThinStr`](crate::sparse::ThinStr), [`ThinSlice`](crate::sparse::ThinSlice).
    Thin,
    /// A map becomes a [`SortedMap`](crate::sparse::SortedMap).
    Sorted,
    /// The fields of an enum's large and rare variant move into a box.
    Variant,
    /// A `repr(C)` struct lets the compiler order its fields.
    Reorder,
    /// A map or vector with much spare capacity is shrunk.
    Shrink,
    /// A `Box<dyn Trait>` of small values becomes a `SmallBox`.
    Inline,
    /// Equal strings share one block. Suggested only if [strings were read](super::tree_with_texts).
    Intern,
}

impl SuggestionKind {
    /// The name in JSON: `box`, `sparse` and so on.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Sparse => "sparse",
            Self::Exact => "exact",
            Self::Thin => "thin",
            Self::Sorted => "sorted",
            Self::Variant => "variant",
            Self::Reorder => "reorder",
            Self::Shrink => "shrink",
            Self::Inline => "inline",
            Self::Intern => "intern",
        }
    }
}

impl Suggestion {
    /// The change as a patch for a person to follow: the removed and added lines, and how uses of the field change.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// use dwell::Weigh;
    ///
    /// #[derive(Default, Weigh)]
    /// struct Page {
    ///     title: Box<str>,
    ///     author: Option<[u64; 20]>,
    /// }
    ///
    /// let pages: Vec<Page> = (0..10).map(|_| Page::default()).collect();
    /// let advice = dwell::weigh::tree(&pages).advise();
    /// assert_eq!(
    ///     advice.suggestions[0].patch(),
    ///     "struct Page { // 184 -> 24 B; 1600 B less, 264 B in all\n\
    ///      -    author: Option<[u64; 20]>,\n\
    ///      +    author: Option<Box<[u64; 20]>>,\n\
    ///      }\n\
    ///      // to make one: `Some(Box::new(value))`; to read: `.as_deref()` for `.as_ref()`; to write: `.as_deref_mut()`\n"
    /// );
    /// # }
    /// ```
    pub fn patch(&self) -> &str {
        &self.patch
    }
}

impl Advice {
    /// All suggestions as [patches](Suggestion::patch).
    pub fn to_patch(&self) -> String {
        let mut text = String::new();
        for suggestion in &self.suggestions {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&suggestion.patch);
        }
        text
    }
}

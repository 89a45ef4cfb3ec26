//! How big a value is, really: itself and everything it owns.
//!
//! [`size_of_val`] tells the bytes of a `Vec`'s three words, not those of its elements. [`weigh`](fn@weigh) follows
//! every pointer, and [`tree`] says the same by type and field:
//!
//! ```
//! # #[cfg(feature = "derive")] {
//! use dwell::{Weigh, assert_weighs};
//!
//! #[derive(Weigh)]
//! struct Page {
//!     title: String,
//!     lines: Vec<String>,
//! }
//!
//! let page = Page { title: "Deed".into(), lines: vec!["one".into(), "three".into()] };
//! let weight = dwell::weigh(&page);
//! assert_eq!(weight.heap, 4 + 2 * size_of::<String>() as u64 + 3 + 5);
//! assert_eq!(weight.allocations, 4);
//!
//! let tree = dwell::weigh::tree(&page);
//! println!("{tree}"); // a table: the bytes of each type and field
//! println!("{}", tree.advise()); // what to change, the most worth first
//! # let title = &tree.nodes[tree.nodes[0].children[0]];
//! # assert_eq!((title.ty.name(), title.heap), ("alloc::string::String", 4));
//!
//! assert_weighs!(page <= 1 KiB); // in a test
//! # }
//! ```
//!
//! # What is exact
//!
//! [`Weight::is_exact`] says whether the bytes are those asked of the allocator. They are for all of `core`, `alloc` and `std`
//! but what a value does not show:
//!
//! - A lock that is held, a cell that is borrowed for writing, and the inside of a `Cell`. [`Weight::missed`] counts them.
//! - A `BTreeMap` without entries may keep its root node: counted as no bytes.
//! - A `HashMap` tells its capacity and not its size. Both belong together until entries are removed. What is counted is the
//!   smallest table that fits, and is called exact only for a table of 29 entries or more that is as full as growing leaves
//!   it, with a hasher that mixes. [`Weight::at_least`] counts these maps, and empty ones.
//!
//! A weight that is not exact says on which side it errs: [`Weight::accuracy`].
//!
//! [`weigh_as`] says what an allocator takes for the bytes asked of it. A block of an `Rc` or `Arc` counts once a walk;
//! references and raw pointers own nothing. `docs/weigh.md` in the repository lists what else cannot be known.
//!
//! A walk needs neither a deep stack for long lists nor memory for many values, ends in cycles, and calls no `Hash`, `Ord`
//! or `Drop` of the values.
//!
//! # Whose types
//!
//! `#[derive(Weigh)]` (feature `derive`) is for one's own. Dwell's types and std's are `Weigh`, and with the feature that is
//! named after a crate those of that crate: the crate's front page lists these features. A field of any other type can be marked
//! `#[weigh(skip)]` or `#[weigh(with = "function")]`.
//!
//! # By hand
//!
//! A container of one's own says what it is made of in [`TYPE`](Weigh::TYPE), and reports in [`weigh`](Weigh::weigh) first
//! its blocks, then the places for values in them, then the values, by the part numbers of [`Kind`]:
//!
//! ```
//! use dwell::weigh::{Kind, Type, Walk, Weigh, type_of};
//!
//! /// Values that stay where they are, in chunks of eight.
//! struct Chunks<T> {
//!     chunks: Vec<Box<[Option<T>; 8]>>,
//! }
//!
//! impl<T: Weigh> Weigh for Chunks<T> {
//!     const TYPE: &'static Type =
//!         &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: true, contiguous: false });
//!
//!     fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
//!     where
//!         Self: 'v,
//!     {
//!         if walk.puts_off(self) {
//!             return; // deep down: it will be weighed again with less on the stack
//!         }
//!         let values = || self.chunks.iter().flat_map(|chunk| chunk.iter().flatten());
//!         let (used, slots) = (values().count(), 8 * self.chunks.len());
//!         let spare = (slots - used) * size_of::<Option<T>>();
//!         walk.block(self.chunks.capacity() * size_of::<Box<[Option<T>; 8]>>(), align_of::<usize>(), 0);
//!         walk.blocks(size_of::<[Option<T>; 8]>(), align_of::<Option<T>>(), self.chunks.len(), spare as u64);
//!         walk.places::<T>(0, slots, used);
//!         walk.elements(0, values());
//!     }
//! }
//!
//! let one = Box::new([const { None::<String> }; 8]);
//! let chunks = Chunks { chunks: vec![one] };
//! assert_eq!(dwell::weigh(&chunks).heap, 8 + 8 * size_of::<String>() as u64);
//! ```
//!
//! What a guard lends is followed by [`Walk::guarded`], what others may point to as well by [`Walk::shared`].

#![forbid(unsafe_code)]

mod advise;
mod assert;
mod diff;
mod icicle;
mod impls;
mod model;
mod program;
mod render;
mod seen;
mod tally;
mod texts;
mod tree;
mod types;
mod walk;
mod what_if;

use core::fmt;

#[cfg(feature = "derive")]
pub use dwell_derive::Weigh;

pub use self::advise::{Advice, Hint, Suggestion, SuggestionKind};
pub use self::diff::{Changed, Diff, diff};
pub use self::model::Model;
pub use self::render::JSON_VERSION;
pub use self::texts::Texts;
pub use self::tree::{Edge, Node, Tree};
pub use self::types::{Field, Kind, MapKind, Part, Reach, Repr, Type, Variant, type_of};
pub use self::walk::Walk;
pub use self::what_if::{NoSuchField, WhatIf};

/// A type whose values can be followed to everything they own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be weighed: it is not `Weigh`",
    label = "not `Weigh`",
    note = "derive it with `#[derive(Weigh)]`; a field of another crate's type can be marked `#[weigh(skip)]` or `#[weigh(with = \"..\")]`, and `dwell` has features for the types of some crates"
)]
pub trait Weigh {
    /// How far values reach; what is nearer than [`Reach::Heap`] is not walked at all for a total.
    const REACH: Reach = Reach::Heap;

    /// What is known of the type.
    const TYPE: &'static Type;

    /// Whether [`prefetch`](Self::prefetch) does anything.
    #[doc(hidden)]
    const PREFETCHES: bool = false;

    /// Standard maps in a vacant value of the type. A map without entries may keep memory that it does not show.
    #[doc(hidden)]
    const VACANT_MAPS: u64 = 0;

    /// Whether that is worth it for one of many fields, where what is optional is seldom there.
    #[doc(hidden)]
    const PREFETCHES_AMONG_MANY: bool = Self::PREFETCHES && !matches!(Self::TYPE.kind, Kind::Optional { .. });

    /// Whether there is nothing in this value: it is `None`, or a collection without memory, or all its fields are so.
    ///
    /// Trees count those places as empty and do not follow them.
    #[inline]
    fn is_vacant(&self) -> bool {
        false
    }

    /// Whether the value says nothing that its type's default does not say, as far as that is known: what
    /// [`Sparse`](crate::Sparse) would store without a block.
    #[doc(hidden)]
    #[inline]
    fn is_default(&self) -> bool {
        self.is_vacant()
    }

    /// Asks for the memory that the value points to, if it is there: a walk will look at it soon.
    #[doc(hidden)]
    #[inline]
    fn prefetch(_value: Option<&Self>) {}

    /// Reports the blocks that the value owns and follows its parts. The value's own bytes are counted where it lies.
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v;
}

/// Bytes and allocations, and how far they are known.
///
/// ```
/// use dwell::weigh::{Accuracy, weigh};
/// use std::collections::BTreeMap;
///
/// assert!(weigh(&vec![1, 2, 3]).is_exact());
///
/// let mut map = BTreeMap::from([(1, "one")]);
/// map.pop_first(); // the map keeps its root node and does not show it
/// let weight = weigh(&map);
/// assert!(!weight.is_exact());
/// assert_eq!(weight.accuracy(), Accuracy::AtLeast);
/// assert_eq!(weight.to_string(), "at least 24 bytes (24 inline, 0 in 0 allocations)");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weight {
    /// Bytes of the value itself: [`size_of_val`].
    pub inline: u64,
    /// Bytes of all blocks that it owns.
    pub heap: u64,
    /// How many blocks.
    pub allocations: u64,
    /// Parts that could not be looked at: locks that were held, cells that were borrowed for writing.
    pub missed: u64,
    /// Parts that may own more than is counted: an empty map, a small hash table, or one from which entries were removed.
    pub at_least: u64,
    /// Parts that may own less than is counted.
    pub at_most: u64,
}

/// What the numbers of a [`Weight`] are: the answer of [`Weight::accuracy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Accuracy {
    /// The bytes and allocations that there are.
    Exact,
    /// There may be more.
    AtLeast,
    /// There may be fewer.
    AtMost,
    /// Some parts may own more and others less.
    About,
}

impl Accuracy {
    /// A word for it: `exact`, `at least`, `at most`, `about`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
            Self::About => "about",
        }
    }
}

impl Weight {
    /// What a value owns: for functions named in `#[weigh(with = "..")]`.
    pub const fn of_blocks(heap: u64, allocations: u64) -> Self {
        Self { inline: 0, heap, allocations, missed: 0, at_least: 0, at_most: 0 }
    }

    /// Whether these are the bytes and allocations that there are.
    pub const fn is_exact(&self) -> bool {
        matches!(self.accuracy(), Accuracy::Exact)
    }

    /// Whether there may be more or fewer bytes.
    pub const fn accuracy(&self) -> Accuracy {
        match (self.missed != 0 || self.at_least != 0, self.at_most != 0) {
            (false, false) => Accuracy::Exact,
            (true, false) => Accuracy::AtLeast,
            (false, true) => Accuracy::AtMost,
            (true, true) => Accuracy::About,
        }
    }

    /// The bytes of the value and of all it owns.
    pub const fn total(&self) -> u64 {
        self.inline.saturating_add(self.heap)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_exact() {
            write!(f, "{} ", self.accuracy().name())?;
        }
        write!(f, "{} bytes ({} inline, {} in {} allocations", self.total(), self.inline, self.heap, self.allocations)?;
        if self.missed != 0 {
            write!(f, ", {} parts not looked at", self.missed)?;
        }
        f.write_str(")")
    }
}

#[doc(hidden)]
pub use self::assert::Limit;

/// The bytes of a value and of all that it owns, as asked of the allocator.
///
/// ```
/// let names = vec![String::from("Ada"), String::new()];
/// let weight = dwell::weigh(&names);
/// assert_eq!(weight.inline, size_of::<Vec<String>>() as u64);
/// assert_eq!(weight.heap, 2 * size_of::<String>() as u64 + 3);
/// assert_eq!(weight.allocations, 2);
/// ```
pub fn weigh<T: Weigh + ?Sized>(value: &T) -> Weight {
    walk::total(value, Model::Requested)
}

/// The bytes of a value and of all that it owns, as an allocator takes them. It walks as [`tree`] does.
///
/// ```
/// use dwell::weigh::{Model, weigh_as};
///
/// let text = String::from("Ada");
/// assert_eq!(weigh_as(&text, Model::Requested).heap, 3);
/// assert_eq!(weigh_as(&text, Model::Jemalloc).heap, 8);
/// ```
pub fn weigh_as<T: Weigh + ?Sized>(value: &T, model: Model) -> Weight {
    walk::total(value, model)
}

/// What a value owns, by type and field.
///
/// ```
/// use std::collections::BTreeMap;
///
/// let notes: BTreeMap<u32, Option<String>> = BTreeMap::from([(1, None), (2, Some("late".into())), (3, None)]);
/// let tree = dwell::weigh::tree(&notes);
/// let value = tree.nodes[0].children[1]; // part 0 are the keys
/// assert_eq!(tree.label(value), "value");
/// assert_eq!((tree.nodes[value].instances, tree.nodes[value].filled), (3, 1));
/// assert_eq!(tree.heap_below()[0], tree.weight.heap);
/// ```
pub fn tree<T: Weigh + ?Sized>(value: &T) -> Tree {
    tree_as(value, Model::Requested)
}

/// What a value owns, by type and field, as an allocator takes it.
pub fn tree_as<T: Weigh + ?Sized>(value: &T, model: Model) -> Tree {
    let (weight, counters) = walk::counters(value, model, false);
    Tree::new(counters, weight, model)
}

/// [`tree`] that also reads every string, to count [how many differ](Node::texts): what [`Tree::advise`] needs to know to
/// say which are worth sharing.
///
/// ```
/// let names = vec!["Ada", "Ada", "Grace", "Ada"].into_iter().map(String::from).collect::<Vec<_>>();
/// let tree = dwell::weigh::tree_with_texts(&names);
/// let texts = tree.nodes[1].texts.as_ref().unwrap();
/// assert_eq!((texts.distinct(), texts.bytes()), (2, 8));
/// ```
pub fn tree_with_texts<T: Weigh + ?Sized>(value: &T) -> Tree {
    let (weight, counters) = walk::counters(value, Model::Requested, true);
    Tree::new(counters, weight, Model::Requested)
}

//! Measures how much memory a value uses: itself and everything it owns.
//!
//! [`size_of_val`] of a `Vec` returns the 24 bytes of its pointer, length and capacity, without the elements.
//! [`weigh`](fn@weigh) adds all heap blocks that the value owns. [`tree`] reports the bytes by type and field, and with the feature
//! `advice` it suggests changes:
//!
//! ```
//! # #[cfg(all(feature = "derive", feature = "advice"))] {
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
//! println!("{}", tree.advise()); // suggestions, the largest saving first
//! # let title = &tree.nodes[tree.nodes[0].children[0]];
//! # assert_eq!((title.ty.name(), title.heap), ("alloc::string::String", 4));
//!
//! assert_weighs!(page <= 1 KiB); // in a test
//! # }
//! ```
//!
//! # Accuracy
//!
//! [`Weight::is_exact`] returns whether the value requested exactly these bytes from the allocator. The types of
//! `core`, `alloc` and `std` are exact, with three exceptions:
//!
//! - A lock that is held, a cell that is mutably borrowed, and the contents of a `Cell` are opaque. [`Weight::opaque`] counts
//!   them.
//! - A `BTreeMap` without entries may keep its root node, which is counted as 0 bytes.
//! - A `HashMap` reports its capacity but not the size of its table. After removals the capacity does not determine the
//!   size, and `weigh` counts the smallest table that fits. The result is exact only for a table of at least 29 entries
//!   that is as full as growth leaves it, with a hasher that mixes. [`Weight::at_least`] counts all other maps,
//!   including empty ones.
//!
//! [`Weight::accuracy`] returns whether a weight that is not exact is a lower bound, an upper bound, or an estimate.
//!
//! [`weigh_as`] returns the bytes that an allocator uses, after rounding. A walk counts the block of an `Rc` or `Arc`
//! once; references and raw pointers own nothing. `docs/weigh.md` in the repository lists the remaining limits.
//!
//! A walk uses a bounded stack for lists of any length, allocates memory for the types rather than for the values, terminates
//! on cycles, and calls no `Hash`, `Ord` or `Drop` of the values.
//!
//! # Which types implement `Weigh`
//!
//! Derive `Weigh` for your own types with `#[derive(Weigh)]` (feature `derive`). The types of Dwell and std implement
//! it. Features named after crates add the types of these crates (see the crate's front page). Mark a field of any
//! other type `#[weigh(skip)]` or `#[weigh(with = "function")]`.
//!
//! # Implementing it by hand
//!
//! A container describes its parts in [`TYPE`](Weigh::TYPE). Its [`weigh`](Weigh::weigh) reports its blocks, then the
//! slots in them, then the values. [`Kind`] defines the part numbers:
//!
//! ```
//! use dwell::weigh::{Kind, Type, Walk, Weigh, type_of};
//!
//! /// Values at stable addresses, in chunks of eight.
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
//!         if walk.defer(self) {
//!             return; // too deep: the walk calls `weigh` again later, with a shallow stack
//!         }
//!         let values = || self.chunks.iter().flat_map(|chunk| chunk.iter().flatten());
//!         let (used, slots) = (values().count(), 8 * self.chunks.len());
//!         let spare = (slots - used) * size_of::<Option<T>>();
//!         walk.block(self.chunks.capacity() * size_of::<Box<[Option<T>; 8]>>(), align_of::<usize>(), 0);
//!         walk.blocks(size_of::<[Option<T>; 8]>(), align_of::<Option<T>>(), self.chunks.len(), spare as u64);
//!         walk.slots::<T>(0, slots, used);
//!         walk.elements(0, values());
//!     }
//! }
//!
//! let one = Box::new([const { None::<String> }; 8]);
//! let chunks = Chunks { chunks: vec![one] };
//! assert_eq!(dwell::weigh(&chunks).heap, 8 + 8 * size_of::<String>() as u64);
//! ```
//!
//! [`Walk::guarded`] follows a value behind a guard, [`Walk::shared`] a shared pointer.

#![forbid(unsafe_code)]

#[cfg(feature = "advice")]
mod advise;
mod assert;
mod diff;
mod icicle;
mod impls;
mod malloc;
#[cfg(feature = "advice")]
mod patch;
#[cfg(feature = "advice")]
mod program;
mod render;
mod seen;
#[allow(dead_code, unreachable_pub, reason = "a file of `dwell-model` too, which exports and uses the rest")]
mod sorted;
#[cfg(feature = "advice")]
mod suggestion;
#[allow(dead_code, unreachable_pub, reason = "a file of `dwell-model` too, which exports and uses the rest")]
mod table;
mod tally;
mod texts;
mod tree;
mod types;
mod walk;
#[cfg(feature = "advice")]
mod what_if;

use core::fmt;

#[cfg(feature = "derive")]
pub use dwell_derive::Weigh;

pub use self::diff::{Changed, Diff, diff};
pub use self::malloc::Model;
pub use self::render::JSON_VERSION;
#[cfg(feature = "advice")]
pub use self::suggestion::{Advice, Hint, Suggestion, SuggestionKind};
pub use self::texts::Texts;
pub use self::tree::{Edge, Node, Tree};
#[doc(hidden)]
pub use self::types::{Facts, Sizes, SizesOf, SizesUnknown, facts_of};
pub use self::types::{Field, Kind, MapKind, Part, Reach, Repr, Type, Variant, type_of};
pub use self::walk::Walk;
#[cfg(feature = "advice")]
pub use self::what_if::{NoSuchField, WhatIf};

/// A type with values that [`weigh`](fn@weigh) can measure.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be weighed: it does not implement `Weigh`",
    label = "does not implement `Weigh`",
    note = "derive it with `#[derive(Weigh)]`; a field of another crate's type can be marked `#[weigh(skip)]` or `#[weigh(with = \"..\")]`, and `dwell` has features for the types of some crates"
)]
pub trait Weigh {
    /// Whether values may own memory. A walk for a total follows only values of [`Reach::Heap`].
    const REACH: Reach = Reach::Heap;

    /// The description of the type: its name, size and parts.
    const TYPE: &'static Type;

    /// Whether [`prefetch`](Self::prefetch) does anything.
    #[doc(hidden)]
    const PREFETCHES: bool = false;

    /// The number of std maps in a vacant value of the type. A map without entries may keep memory that it does not
    /// report.
    #[doc(hidden)]
    const VACANT_MAPS: u64 = 0;

    /// Whether a prefetch pays off for one of many fields. It does not for optional fields, which are mostly `None`.
    #[doc(hidden)]
    const PREFETCHES_AMONG_MANY: bool = Self::PREFETCHES && !matches!(Self::TYPE.kind, Kind::Optional { .. });

    /// Returns whether this value is `None`, a collection without memory, or a struct of vacant fields.
    ///
    /// A tree counts the slots of vacant values as empty and does not follow the values.
    #[inline]
    fn is_vacant(&self) -> bool {
        false
    }

    /// Returns whether the value is known to equal its type's default. [`Sparse`](crate::Sparse) would then store it
    /// without a block.
    #[doc(hidden)]
    #[inline]
    fn is_default(&self) -> bool {
        self.is_vacant()
    }

    /// Prefetches the memory that the value points to.
    #[doc(hidden)]
    #[inline]
    fn prefetch(_value: Option<&Self>) {}

    /// Returns [`TYPE`](Self::TYPE): a [`Part`].
    #[doc(hidden)]
    fn __part() -> &'static Type {
        Self::TYPE
    }

    /// Follows the value as part `index` of the current struct or variant.
    #[doc(hidden)]
    #[expect(clippy::inline_always, reason = "as `Walk::field`")]
    #[inline(always)]
    fn __follow<'a, 'v, const TREE: bool>(&'a self, index: usize, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.field::<Self>(index, self);
    }

    /// Reports the blocks that the value owns and follows its parts. The value's owner has already counted the value's
    /// own bytes.
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v;
}

/// The bytes and allocations of a value, and how exact they are.
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
    /// Bytes of all heap blocks that it owns.
    pub heap: u64,
    /// The number of these blocks.
    pub allocations: u64,
    /// The number of opaque parts, which are not measured: locks that were held, cells that were mutably borrowed.
    pub opaque: u64,
    /// The number of parts that may own more than is counted: empty maps, small hash tables, tables with removed
    /// entries.
    pub at_least: u64,
    /// The number of parts that may own less than is counted.
    pub at_most: u64,
}

/// How exact a [`Weight`] is: the result of [`Weight::accuracy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Accuracy {
    /// The numbers are exact.
    Exact,
    /// The numbers are a lower bound.
    AtLeast,
    /// The numbers are an upper bound.
    AtMost,
    /// Some parts may own more and others less.
    About,
}

impl Accuracy {
    /// Returns the name: `exact`, `at least`, `at most` or `about`.
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
    /// Creates a weight of heap blocks, which a function in `#[weigh(with = "..")]` can return.
    pub const fn of_blocks(heap: u64, allocations: u64) -> Self {
        Self { inline: 0, heap, allocations, opaque: 0, at_least: 0, at_most: 0 }
    }

    /// Returns whether the numbers are exact.
    pub const fn is_exact(&self) -> bool {
        matches!(self.accuracy(), Accuracy::Exact)
    }

    /// Returns whether the numbers are exact, a bound, or an estimate.
    pub const fn accuracy(&self) -> Accuracy {
        match (self.opaque != 0 || self.at_least != 0, self.at_most != 0) {
            (false, false) => Accuracy::Exact,
            (true, false) => Accuracy::AtLeast,
            (false, true) => Accuracy::AtMost,
            (true, true) => Accuracy::About,
        }
    }

    /// Returns the bytes of the value and of all that it owns.
    pub const fn total(&self) -> u64 {
        self.inline.saturating_add(self.heap)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_exact() {
            f.write_str(self.accuracy().name())?;
            f.write_str(" ")?;
        }
        write!(f, "{} bytes ({} inline, {} in {} allocations", self.total(), self.inline, self.heap, self.allocations)?;
        if self.opaque != 0 {
            write!(f, ", {} parts not measured", self.opaque)?;
        }
        f.write_str(")")
    }
}

#[doc(hidden)]
pub use self::assert::Limit;

/// Returns the bytes of a value and of all that it owns, as requested from the allocator.
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

/// Returns the bytes of a value and of all that it owns, as rounded up by an allocator. Takes as long as [`tree`].
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

/// Returns the bytes of a value and of all that it owns, by type and field.
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

/// Returns the bytes of a value and of all that it owns, by type and field, as rounded up by an allocator.
pub fn tree_as<T: Weigh + ?Sized>(value: &T, model: Model) -> Tree {
    let (weight, counters) = walk::counters(value, model, false);
    Tree::new(counters, weight, model)
}

/// Returns a [`tree`] with the number of [distinct strings](Node::texts).
///
/// The walk reads every string, so that `Tree::advise` can suggest which strings to share.
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

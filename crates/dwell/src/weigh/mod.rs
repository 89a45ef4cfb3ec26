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
//! Of `core`, `alloc` and `std`, all: the bytes are those asked of the allocator, after removals too, with any hasher.
//! [`weigh_as`] says what an allocator takes for them. A block of an `Rc` or `Arc` counts once a walk; references and raw
//! pointers own nothing. A lock that is held, a cell that is borrowed for writing and the inside of a `Cell` cannot be
//! looked at: [`Weight::missed`] counts them. `docs/weigh.md` in the repository lists what else cannot be known.
//!
//! A walk needs neither a deep stack for long lists nor memory for many values, ends in cycles, and calls no `Hash`, `Ord`
//! or `Drop` of the values.
//!
//! # Whose types
//!
//! `#[derive(Weigh)]` (feature `derive`) is for one's own. Dwell's types are `Weigh`, and with the features `ahash`,
//! `arrayvec`, `bumpalo`, `bytes`, `chrono`, `compact_str`, `hashbrown`, `indexmap`, `rustc-hash`, `serde_json`, `slab`,
//! `slotmap`, `smallvec`, `time` and `uuid` those of the crates of these names. A field of any other type can be marked
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

pub use self::advise::{Advice, Move, MoveKind};
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

    /// Asks for the memory that the value points to, if it is there: a walk will look at it soon.
    #[doc(hidden)]
    #[inline]
    fn prefetch(_value: Option<&Self>) {}

    /// Reports the blocks that the value owns and follows its parts. The value's own bytes are counted where it lies.
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v;
}

/// Bytes and allocations.
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
}

impl Weight {
    /// What a value owns: for functions named in `#[weigh(with = "..")]`.
    pub const fn of_blocks(heap: u64, allocations: u64) -> Self {
        Self { inline: 0, heap, allocations, missed: 0 }
    }

    /// The bytes of the value and of all it owns.
    pub const fn total(&self) -> u64 {
        self.inline.saturating_add(self.heap)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
    Tree::new(&counters, weight, model)
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
    Tree::new(&counters, weight, Model::Requested)
}

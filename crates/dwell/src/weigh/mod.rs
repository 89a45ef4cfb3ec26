//! How big a value is, really: itself and everything it owns.
//!
//! [`size_of_val`] tells the bytes of a `Vec`'s three words, not those of its elements. [`weigh`](fn@weigh) follows
//! every pointer:
//!
//! ```
//! # #[cfg(feature = "derive")] {
//! use dwell::Weigh;
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
//! let tree = dwell::weigh::tree(&page); // the same by type and field
//! assert_eq!(tree.label(1), "title");
//! assert_eq!(tree.nodes[1].heap, 4);
//! # }
//! ```

mod advise;
mod assert;
mod diff;
mod icicle;
mod impls;
mod model;
mod render;
mod seen;
mod tally;
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

    /// Whether there is nothing in this value: it is `None`, or a collection without memory, or all its fields are so.
    ///
    /// Trees count those places as empty and do not follow them.
    #[inline]
    fn is_vacant(&self) -> bool {
        false
    }

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
pub fn weigh<T: Weigh + ?Sized>(value: &T) -> Weight {
    walk::total(value, Model::Requested)
}

/// The bytes of a value and of all that it owns, as an allocator takes them.
pub fn weigh_as<T: Weigh + ?Sized>(value: &T, model: Model) -> Weight {
    walk::total(value, model)
}

/// What a value owns, by type and field.
pub fn tree<T: Weigh + ?Sized>(value: &T) -> Tree {
    tree_as(value, Model::Requested)
}

/// What a value owns, by type and field, as an allocator takes it.
pub fn tree_as<T: Weigh + ?Sized>(value: &T, model: Model) -> Tree {
    let (weight, tally) = walk::tally(value, model);
    Tree::new(&tally, weight, model)
}

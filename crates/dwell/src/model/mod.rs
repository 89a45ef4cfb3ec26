//! The model of type layouts and of changes to them, which `weigh`(mod@crate::weigh) and the command-line tool share.
//!
//! - `layout`: the compiler's rules for sizes and niches.
//! - `blocks`: the sizes of the blocks that containers request.
//! - `table`: the tables of std's hash maps.
//! - `malloc`: the bytes that allocators use for a block.
//! - `Program`: the types of a program, with the counts at each site. The counts may come from live values, from documents or
//!   from a heap.
//! - `Plan`: a set of changes, and the resulting bytes.
//! - `search`: the search for the changes that save most.
//! - `queue`: the order in which a greedy search takes candidates.
//! - `sorted`: maps and sets that compile fast.
//!
//! All numbers are bytes, or counts of values and blocks.

#![forbid(unsafe_code)]

#[cfg(feature = "advice")]
pub mod blocks;
#[cfg(feature = "advice")]
mod known;
#[cfg(feature = "advice")]
pub mod layout;
pub mod malloc;
#[cfg(feature = "advice")]
mod plan;
#[cfg(feature = "advice")]
mod program;
#[cfg(feature = "advice")]
pub mod queue;
#[cfg(feature = "advice")]
pub mod search;
pub mod sorted;
pub mod table;

#[cfg(feature = "advice")]
pub use self::layout::{Layout, Niche};
#[cfg(feature = "advice")]
pub use self::plan::{Change, Plan, Sum};
#[cfg(feature = "advice")]
pub use self::program::{Counts, Def, DefId, Edge, FieldDef, Holder, Program, ReprOf, Shape, Site, SiteId, VariantDef};

/// The length in bytes from which on a `ThinStr` needs a longer header.
pub const LONG_TEXT: usize = 255;

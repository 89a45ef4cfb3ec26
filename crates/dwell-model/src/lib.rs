//! The model of type layouts and of changes to them, which `dwell::weigh` and the command-line tool share.
//!
//! - `layout`: the compiler's rules for sizes and niches.
//! - `blocks`: the sizes of the blocks that containers request.
//! - `table`: the tables of std's hash maps.
//! - `Program`: the types of a program, with the counts at each site. The counts may come from live values, from documents or
//!   from a heap.
//! - `Plan`: a set of changes, and the resulting bytes.
//! - `search`: the search for the changes that save most.
//! - `queue`: the order in which a greedy search takes candidates.
//! - `sorted`: maps and sets that compile fast.
//!
//! All numbers are bytes, or counts of values and blocks.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc as std_alloc;

pub mod blocks;
mod known;
pub mod layout;
mod plan;
mod program;
pub mod queue;
pub mod search;
pub mod sorted;
pub mod table;

pub use self::layout::{Layout, Niche};
pub use self::plan::{Change, Plan, Sum};
pub use self::program::{Counts, Def, DefId, Edge, FieldDef, Holder, Program, ReprOf, Shape, Site, SiteId, VariantDef};

/// The length in bytes from which on a `ThinStr` needs a longer header.
pub const LONG_TEXT: usize = 255;

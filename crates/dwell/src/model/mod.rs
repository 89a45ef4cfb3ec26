//! The model of type layouts and of changes to them, which [`weigh`](mod@crate::weigh) and the command-line tool share.
//!
//! - [`layout`]: the compiler's rules for sizes and niches.
//! - [`blocks`]: the blocks that containers request.
//! - [`malloc`]: the bytes that allocators use for a block.
//! - [`Program`]: the types of a program, with the counts at each site. The counts may come from live values, from documents or
//!   from a heap.
//! - [`Plan`]: a set of changes, and the resulting bytes.
//! - [`search`]: the changes that save most; [`queue`]: the order in which a greedy search takes candidates.
//!
//! All numbers are bytes, or counts of values and blocks.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod layout;
pub mod malloc;
mod plan;
mod program;
pub mod queue;
pub mod search;

pub use self::layout::{Layout, Niche};
pub use self::plan::{Change, Plan, Sum};
pub use self::program::{Counts, Def, DefId, Edge, FieldDef, Holder, Program, ReprOf, Shape, Site, SiteId, VariantDef};

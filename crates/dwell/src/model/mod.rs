//! The model of type layouts and of changes to them, which [`weigh`](mod@crate::weigh) and the command-line tool share.
//!
//! [`layout`] has the compiler's rules for sizes, [`blocks`] the allocations of containers, [`Program`] the types of a program with
//! the counts at each site, and [`Plan`] a set of changes with the resulting bytes. The counts of a `Program` may come from live
//! values, from documents or from a heap.
//!
//! All numbers are bytes, or counts of values and blocks.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod layout;
mod plan;
mod program;
pub mod search;

pub use self::layout::{Layout, Niche};
pub use self::plan::{Change, Plan, Sum};
pub use self::program::{Counts, Def, DefId, Edge, FieldDef, Holder, Program, ReprOf, Shape, Site, SiteId, VariantDef};

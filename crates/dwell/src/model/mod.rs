//! How types are laid out and what a change of them saves: the one model that [`weigh`](mod@crate::weigh) and the command line
//! tool share.
//!
//! [`layout`] has the compiler's rules for sizes, [`blocks`] what containers ask of the allocator, [`Program`] the types and
//! the places of a program with what was counted at each, and [`Plan`] a set of changes with the bytes that it leads to. Who
//! fills a `Program` may count live values, documents or a heap; nothing here knows which.
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

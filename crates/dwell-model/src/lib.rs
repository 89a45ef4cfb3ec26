//! The model of type layouts and of changes to them, which `dwell::weigh` and the command-line tool share.
//!
//! A [`Program`] has types with the counts at each site; the counts may come from live values, from JSON documents or from a
//! heap. A [`Plan`] is a set of changes with the resulting bytes, and [`search`](mod@search) finds the changes that save most.
//!
//! - `layout` has the compiler's rules for sizes and niches ([`Layout`]).
//! - [`blocks`] has the sizes of the blocks that containers request, and [`table`] the tables of std's hash maps.
//! - `plan` has the **changes**: each is a variant of [`Change`].
//! - [`text`] chooses the type of texts.
//! - `queue` is the order in which a greedy search takes candidates.
//! - [`sorted`] has maps and sets that compile fast.
//!
//! All numbers are bytes, or counts of values and blocks. The crate has no stability guarantee of its own: its version is that of
//! `dwell`, which depends on this one only with the feature `advice`.

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
pub mod text;

pub use self::layout::{Layout, Niche};
pub use self::plan::{Change, Plan, Sum};
pub use self::program::{Counts, Def, DefId, Edge, FieldDef, Holder, Program, ReprOf, Shape, Site, SiteId, VariantDef};

/// The length in bytes from which on a `ThinStr` needs a longer header.
pub const LONG_TEXT: usize = 255;

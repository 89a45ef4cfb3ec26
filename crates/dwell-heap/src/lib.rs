//! The typed heap of a process or a core dump: each live block with its size, owner, type and values, and what to change.
//!
//! ```no_run
//! use dwell_heap::run::{At, Options, snapshots};
//! use dwell_heap::{Ran, census};
//!
//! # fn main() -> anyhow::Result<()> {
//! let executable = std::path::PathBuf::from("target/release/app");
//! let mut run = snapshots(&executable, &[], &Options { at: vec![At::Peak], ..Options::default() })?;
//! let heap = census(&Ran { executable, ..Ran::default() }, &mut run.snapshots)?;
//! for field in &heap.snapshots[0].fields {
//!     println!("{field:?}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`run`] starts a program with the agent inside and takes snapshots of it; [`outside`] takes them of a process that runs
//! already, or of a core. [`census`](census()) makes the rows and findings of [`json`] of them. [`profile`] counts the
//! allocations of a run instead.
//!
//! # Where things are
//!
//! Data flows in one direction, and a folder uses only those above it:
//!
//! | folder | what it does with a block of the heap |
//! |---|---|
//! | `agent/` | runs inside the program, and records the block's address, size and call stack when it is allocated |
//! | `capture/` | copies the process at one moment: the live blocks and the memory ([`Snapshot`]) |
//! | `profile/` | counts all allocations of a run by size and call stack, and samples its time |
//! | `heap/walk/` | finds the block's owner, type and length, and reads the values in it |
//! | `heap/decode/` | **decoders**: a file for each family of collections and pointers, and a line in `mod.rs` |
//! | `findings/` | **findings**: a file for each kind of waste, and a line in `KINDS` of `mod.rs` |
//! | `census/` | the order of these steps; `json.rs` has the rows that they make |
//!
//! What differs between processors is in `arch/`, `agent/library/arch/`, `agent/hooks/` and `capture/registers/`, and what
//! differs between allocators in `capture/malloc/`. CONTRIBUTING.md of the repository shows how to add a decoder and a finding.
//! Types come from `dwell-debuginfo`, declarations in the user's source from `dwell-source`, and what a change saves from
//! `dwell-model`. Reports (text, pages, files for other viewers) are in `cargo-dwell`.

#[cfg(agent)]
mod agent;
#[cfg_attr(not(agent), allow(dead_code, reason = "what runs and reads programs uses them"))]
mod arch;
mod capture;
mod census;
mod findings;
mod heap;
pub mod json;
pub mod profile;
pub mod stacks;

use dwell_debuginfo as debuginfo;
use dwell_output::units;
use dwell_source as source;

pub use capture::{Block, Memory, Module, Moment, Registers, Resident, Snapshot, Thread};
pub use census::{Asked, Find, Ran, Symbols, census, from_outside};
pub use heap::names;

/// Runs a program with the agent inside, and takes snapshots of it.
pub mod run {
    #[cfg(agent)]
    pub use crate::agent::loadable::loads_agent;
    pub use crate::capture::run::{At, Child, Killed, Options, Records, Run, duration, snapshots, snapshots_early};
    #[cfg(agent)]
    pub use crate::capture::run::{Seen, Tasks};
}

/// Takes snapshots of programs that were started without the agent: running processes, and cores.
#[cfg(agent)]
pub mod outside {
    pub use crate::capture::outside::{Captured, attach, history, hold, open};
}

//! The live heap of a process or a core dump.

#[cfg(agent)]
mod agent;
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
pub use census::{Ran, Symbols, census, from_outside};

/// Runs a program with the agent inside, and takes snapshots of it.
pub mod run {
    pub use crate::capture::run::{At, Killed, Options, Run, duration, snapshots, snapshots_early};
}

/// Takes snapshots of programs that were started without the agent: running processes, and cores.
#[cfg(agent)]
pub mod outside {
    pub use crate::capture::outside::{Captured, attach, history, open};
}

//! The parts of `cargo dwell`, as a library for its tests and for `dwell-bench`.

#[cfg(agent)]
pub mod agent;
pub mod allocs;
pub mod apply;
pub mod arch;
pub mod capture;
pub mod census;
pub mod check;
pub mod cli;
pub mod debuginfo;
pub mod dyn_traits;
pub mod findings;
pub mod futures;
pub mod heap;
pub mod inspect;
pub mod layout;
pub mod nearest;
pub mod output;
pub mod page;
pub mod profile;
mod pprof;
pub mod program;
pub mod report;
pub mod sample;
pub mod shape;
pub mod source;
pub mod stack;
pub mod units;

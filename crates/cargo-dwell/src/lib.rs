//! The parts of `cargo dwell`, as a library for its tests and for `dwell-bench`.

pub mod allocs;
pub mod apply;
pub mod census;
pub mod check;
pub mod cli;
pub mod dyn_traits;
pub mod futures;
pub mod inspect;
pub mod layout;
mod pprof;
pub mod program;
pub mod report;
pub mod stack;

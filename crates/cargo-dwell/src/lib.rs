//! The parts of `cargo dwell`, as a library for its tests and for `dwell-bench`.

pub mod build;
pub mod census;
pub mod check;
pub mod cli;
pub mod debuginfo;
pub mod dyn_traits;
pub mod futures;
pub mod inspect;
pub mod layout;
pub mod nearest;
pub mod output;
pub mod page;
pub mod sample;
pub mod shape;
pub mod stack;
pub mod units;

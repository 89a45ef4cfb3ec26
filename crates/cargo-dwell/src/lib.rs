//! The parts of `cargo dwell`, as a library for its tests and for `dwell-bench`.

pub mod build;
pub mod cli;
pub mod debuginfo;
pub mod sample;
pub mod shape;

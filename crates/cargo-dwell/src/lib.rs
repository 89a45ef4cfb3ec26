//! The parts of `cargo dwell`, as a library for its tests and for `dwell-bench`.

pub mod sample;
pub mod shape;

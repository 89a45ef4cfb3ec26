//! Random operations on pinned futures; the model test in `crates/dwell/tests/pin.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/pin.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

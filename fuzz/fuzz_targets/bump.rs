//! Random operations on `Bump`; the model test in `crates/dwell/tests/bump.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/bump.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

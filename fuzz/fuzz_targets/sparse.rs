//! Random operations on `Sparse`; the model test in `crates/dwell/tests/sparse.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/sparse.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

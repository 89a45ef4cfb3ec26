//! Random operations on `ThinSlice` and `ThinStr`; the model test in `crates/dwell/tests/thin.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/thin.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

//! Random operations on `SmallBox`; the model test in `crates/dwell/tests/small.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/small.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

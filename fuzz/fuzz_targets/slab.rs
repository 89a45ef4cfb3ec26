//! Random operations on slabs; the model test in `crates/dwell/tests/slab.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/slab.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

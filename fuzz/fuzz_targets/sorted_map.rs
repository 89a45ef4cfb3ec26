//! Random operations on `SortedMap`; the model test in `crates/dwell/tests/sorted_map.rs` runs the same.
#![no_main]

#[path = "../../crates/dwell/tests/ops/sorted_map.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

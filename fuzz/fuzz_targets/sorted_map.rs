//! Random operations on `SortedMap` and `SortedSet`; the model tests in `crates/dwell/tests/sorted_map.rs` run the same
//! code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/sorted_map.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ops::run(bytes);
    ops::run_set(bytes);
});

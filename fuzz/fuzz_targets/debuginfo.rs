//! Executables with debug info made of arbitrary bytes; the test in `crates/cargo-dwell/tests/debuginfo_hostile.rs`
//! runs the same code.
#![no_main]

#[path = "../../crates/cargo-dwell/tests/ops/debuginfo.rs"]
mod ops;

#[global_allocator]
static ALLOCATOR: ops::Peak = ops::Peak;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

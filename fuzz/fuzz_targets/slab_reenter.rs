//! Programs on slabs whose values re-enter their slab; the test in `crates/dwell/tests/slab_attack_again.rs` runs the
//! same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/slab_reenter.rs"]
mod ops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ops::run(bytes);
});

//! Slabs under a global allocator that uses them and fails at random; the test in
//! `crates/dwell/tests/slab_attack_allocator.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/slab_allocator.rs"]
mod ops;

use std::sync::OnceLock;

libfuzzer_sys::fuzz_target!(|input: (u64, u8)| {
    thread_local!(static SLABS: OnceLock<&'static ops::Slabs> = const { OnceLock::new() });
    let (seed, inserts) = input;
    SLABS.with(|slabs| {
        let slabs = *slabs.get_or_init(ops::set_up);
        ops::program(slabs, seed, usize::from(inserts) * 4);
        ops::clear_all(slabs);
    });
});

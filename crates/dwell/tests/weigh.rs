//! What `weigh` says against what the allocator counted, on random values of every type of core, alloc and std that can
//! own memory, and of Dwell's own.
#![cfg(feature = "std")]
#![expect(clippy::cast_possible_truncation, reason = "random numbers of any kind")]
#![expect(clippy::zero_sized_map_values, reason = "their tables differ from sets' by nothing, which is to be shown")]

mod common;
#[path = "ops/weigh.rs"]
mod ops;

use common::live;
use proptest::prelude::*;

fn cases() -> u32 {
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
}

/// Each group of types in a test of its own.
macro_rules! exact {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            proptest!(ProptestConfig { cases: cases(), ..ProptestConfig::default() }, |(seed: u64)| {
                ops::$name(&seed.to_le_bytes());
            });
        }
    )*};
}

exact! {
    texts vectors deques heaps lists slices pointers choices cells tuples maps hashers sets trees tree_sets own mixed
}

#[test]
fn of_bytes() {
    proptest!(ProptestConfig { cases: cases(), ..ProptestConfig::default() }, |(bytes: Vec<u8>)| {
        ops::run(&bytes);
    });
}

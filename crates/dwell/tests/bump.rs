//! `Bump` beside models, and what its documentation says of it.
#![cfg_attr(feature = "nightly", feature(allocator_api))]

mod common;
#[path = "ops/bump.rs"]
mod ops;

use proptest::prelude::*;

/// Cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools.
fn cases() -> u32 {
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn blocks_keep_to_themselves(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let left = common::left_by(|| ops::run(&bytes));
        prop_assert_eq!(left, (0, 0));
    }
}

//! Tests of `Bump` against models, and of its documented behaviour.
#![cfg_attr(feature = "nightly", feature(allocator_api))]

mod common;
#[path = "ops/bump.rs"]
mod ops;

use proptest::prelude::*;

/// The number of cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools such as Miri.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

/// The maximum length of a random program in bytes, four for each step. Each step checks every block, which takes Miri
/// seconds.
const BYTES: usize = if cfg!(miri) { 80 } else { 600 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn random_programs_match_the_model(bytes in prop::collection::vec(any::<u8>(), 0..BYTES)) {
        let left = common::left_by(|| ops::run(&bytes));
        prop_assert_eq!(left, (0, 0));
    }
}

#[test]
#[expect(clippy::mutable_key_type, reason = "the hash does not depend on the arena's cells")]
fn collections_compare_and_hash_like_those_of_std() {
    use dwell::{Bump, bump};
    use std::collections::{BTreeSet, HashMap};

    let (small, large) = (Bump::<1>::with_min_align(), Bump::<16>::with_min_align());
    let one = bump::Vec::from_iter_in([1, 2], &small);
    let two = bump::Vec::from_iter_in([1, 3], &large);
    assert!(one != two && one < two && one == [1, 2] && two == vec![1, 3] && one == [1, 2][..]);

    let mut text = bump::String::from_str_in("a", &small);
    text += "b";
    text.extend(['c', 'd']);
    text.extend(["e", "f"]);
    assert!(text == "abcdef" && *"abcdef" == text && text == *"abcdef".to_owned() && text.as_str() == "abcdef");
    assert_eq!(text, "abcdef".to_owned());
    let mut counts = HashMap::new();
    counts.insert(text, 1);
    assert_eq!(counts.get("abcdef"), Some(&1));
    let mut lists = HashMap::new();
    lists.insert(one, 1);
    assert_eq!(lists.get(&[1, 2][..]), Some(&1));

    let ordered: BTreeSet<bump::Box<u32>> = [3, 1, 2].map(|n| bump::Box::new_in(n, &large)).into();
    assert!(ordered.iter().map(|n| **n).eq(1..4) && ordered.contains(&2));
    let boxed = bump::Box::new_in(7, &large);
    assert_eq!(format!("{boxed:p}"), format!("{:p}", &raw const *boxed));
}

#[test]
fn full_arena_returns_refused_values() {
    use dwell::{Bump, bump};

    let bump = Bump::with_capacity(64);
    bump.set_allocation_limit(Some(bump.allocated_bytes()));
    let (vec, refused, rest) = bump::Vec::try_from_iter_in(0..1000_u64, &bump).unwrap_err().into_inner();
    assert_eq!(refused, vec.len() as u64);
    assert!(vec.iter().copied().chain([refused]).chain(rest).eq(0..1000));
    drop(vec);
    assert_eq!(bump.try_alloc_slice_fill_copy(1000, 7_u8).unwrap_err().into_inner(), 7);
    assert!(bump.try_alloc_slice_fill_default::<u64>(1000).is_err());
    assert!(bump::String::try_from_str_in(&"x".repeat(1000), &bump).is_err());
    assert_eq!(bump::String::try_from_str_in("x", &bump).unwrap(), "x");
}

#[cfg(feature = "serde")]
#[test]
fn collections_serialize_like_those_of_std() {
    use dwell::{Bump, bump};

    let bump = Bump::new();
    let mut list = bump::Vec::new_in(&bump);
    list.push(bump::Box::new_in(bump::String::from_str_in("a", &bump), &bump));
    assert_eq!(serde_json::to_string(&list).unwrap(), r#"["a"]"#);
}

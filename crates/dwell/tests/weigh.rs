//! `weigh` compared with the allocator's counts, on random values of every type of core, alloc and std that can own
//! memory, and of Dwell's types.
//!
//! Every value is made from a seed and every hasher is fixed, so a seed reproduces a failure:
//! `DWELL_TEST_SEED=<seed> cargo test -p dwell --test weigh <group>`.
#![cfg(feature = "std")]
#![expect(clippy::cast_possible_truncation, reason = "random numbers of any kind")]
#![expect(clippy::zero_sized_map_values, reason = "the test shows that such a map has the table of a set")]

mod common;
#[path = "ops/weigh.rs"]
mod ops;

use common::live;
use dwell::weigh::{Accuracy, weigh};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::CStr;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Runs `check` on many seeds, or on the one in `DWELL_TEST_SEED`. A failure prints its seed.
fn seeds(group: &str, check: fn(&[u8])) {
    struct Failed<'a>(&'a str, u64);
    impl Drop for Failed<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let Self(group, seed) = self;
                eprintln!("to repeat: DWELL_TEST_SEED={seed} cargo test -p dwell --test weigh {group}");
            }
        }
    }
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let run = |seed: u64| {
        let _failed = Failed(group, seed);
        check(&seed.to_le_bytes());
    };
    match number("DWELL_TEST_SEED") {
        Some(seed) => run(seed),
        // Multiplies consecutive numbers by an odd constant, so that seeds differ in all bytes.
        None => {
            for n in 1..=if cfg!(miri) { 2 } else { number("DWELL_TEST_CASES").unwrap_or(30) } {
                run(n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            }
        }
    }
}

/// Defines one test for each group of types.
macro_rules! exact {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            seeds(stringify!($name), ops::$name);
        }
    )*};
}

exact! {
    texts vectors deques heaps lists slices pointers choices cells tuples maps hashers sets trees tree_sets own mixed
}

/// Weighs values of the types that the fuzz target chooses among.
#[test]
fn mixed_types_chosen_by_bytes() {
    seeds("mixed_types_chosen_by_bytes", ops::run);
}

/// Returns the value that `make` makes, and the bytes and blocks that the allocator counted for it.
fn counted<T>(make: impl FnOnce() -> T) -> (T, u64, u64) {
    let before = live();
    let value = make();
    let after = live();
    (value, (after.1 - before.1).unsigned_abs() as u64, (after.0 - before.0).unsigned_abs() as u64)
}

#[test]
fn filled_hash_map_is_exact() {
    for len in [29, 100, 448, 1000, if cfg!(miri) { 0 } else { 5000 }] {
        let (map, bytes, blocks) = counted(|| (0..len).map(|n| (n, n)).collect::<HashMap<u32, u32, ops::Sip>>());
        let weight = weigh(&map);
        assert!(weight.is_exact() || len <= 448, "{len}: {weight}");
        assert_eq!((weight.heap, weight.allocations), (bytes, blocks), "{len}");
    }
}

/// The capacity of a map; its table is much larger than the entries left in it.
const MANY: usize = if cfg!(miri) { 1000 } else { 50_000 };

#[test]
fn emptied_hash_map_is_a_lower_bound() {
    let (map, bytes, _) = counted(|| {
        let mut map: HashMap<u64, u64, ops::Sip> = HashMap::with_capacity_and_hasher(MANY, ops::Sip::default());
        let capacity = map.capacity() as u64;
        map.extend((0..capacity).map(|n| (n, n)));
        (0..capacity).for_each(|n| _ = map.remove(&n));
        map
    });
    let weight = weigh(&map);
    assert_eq!((weight.is_exact(), weight.accuracy()), (false, Accuracy::AtLeast));
    assert!(weight.heap <= bytes);
    assert_eq!(dwell::weigh::tree(&map).weight, weight);
}

#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only `u64` is hashed")
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}

#[test]
fn hash_set_with_identity_hasher_is_a_lower_bound() {
    type IdentityHash = BuildHasherDefault<Identity>;
    for keep in [0, 1, 14, MANY as u64 / 5 * 2] {
        let (set, bytes, _) = counted(|| {
            let mut set: HashSet<u64, IdentityHash> = HashSet::with_capacity_and_hasher(MANY, IdentityHash::default());
            set.extend(0..set.capacity() as u64);
            (keep..set.len() as u64).for_each(|n| _ = set.remove(&n));
            set
        });
        let weight = weigh(&set);
        assert_eq!(weight.accuracy(), Accuracy::AtLeast, "{keep}: {weight}");
        assert!(weight.heap <= bytes);
        assert_eq!(dwell::weigh::tree(&set).weight, weight);
    }
}

#[test]
fn emptied_btree_is_a_lower_bound() {
    const MAPS: u64 = if cfg!(miri) { 10 } else { 100 };
    let (maps, bytes, blocks) = counted(|| {
        let mut maps: Vec<BTreeMap<u64, [u64; 8]>> = (0..MAPS).map(|_| BTreeMap::from([(1, [0; 8])])).collect();
        for map in &mut maps {
            map.pop_first();
        }
        maps
    });
    let weight = weigh(&maps);
    assert_eq!((weight.accuracy(), weight.at_least), (Accuracy::AtLeast, MAPS));
    assert!(weight.heap < bytes && weight.allocations < blocks);
    assert_eq!(dwell::weigh::tree(&maps).weight, weight);
    // A map that never held an entry cannot be distinguished from an emptied one.
    assert_eq!(weigh(&BTreeSet::<u8>::new()).accuracy(), Accuracy::AtLeast);
}

#[test]
fn empty_arc_slices_are_weighed_exactly() {
    let (value, bytes, blocks) =
        counted(|| (Arc::<str>::default(), Arc::<[u64]>::default(), Arc::<[String]>::default()));
    let weight = weigh(&value);
    assert_eq!((weight.heap, weight.allocations, weight.is_exact()), (bytes, blocks, true));
    assert_eq!(dwell::weigh::tree(&value).weight, weight);
    let (value, bytes, blocks) =
        counted(|| (Arc::<CStr>::default(), Arc::<str>::from(""), Arc::new(()), Arc::<[u8]>::from([])));
    let weight = weigh(&value);
    assert_eq!((weight.heap, weight.allocations, weight.is_exact()), (bytes, blocks, true));
}

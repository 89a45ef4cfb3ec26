//! Tests of the public API of `Slab`.

mod common;
#[path = "ops/slab.rs"]
mod ops;

use dwell::slab::{Bounded, Key, Slab, Slot};
use proptest::prelude::*;

/// The number of cases of the model test: fewer under slow tools.
fn cases() -> u32 {
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(250)
}

/// Enough values for many chunks; under Miri, which is a thousand times slower, for one block.
const MANY: usize = if cfg!(miri) { 60 } else { 100_000 };

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_match_the_model(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let left = common::left_by(|| ops::run(&bytes));
        prop_assert!(left.0 <= 1, "what a thread has to do at its end: {left:?}");
    }
}

#[test]
fn sizes() {
    assert_eq!(size_of::<Slot<[u64; 8]>>(), 8);
    assert_eq!(size_of::<Option<Slot<[u64; 8]>>>(), 8);
    assert_eq!(size_of::<Option<Slot<dyn std::fmt::Debug>>>(), 16);
    assert_eq!((size_of::<Key>(), size_of::<Slab<String>>()), (4, 8));
}

#[test]
fn memory_is_reused_after_all_slots_drop() {
    let left = common::left_by(|| {
        let slab = Slab::new();
        let slots: Vec<Slot<Box<usize>>> = (0..MANY).map(|n| slab.insert(Box::new(n))).collect();
        assert_eq!(slab.len(), MANY);
        assert!(slots.iter().enumerate().all(|(n, slot)| ***slot == n));
        let capacity = slab.capacity();
        drop(slots);
        assert!(slab.is_empty());
        let again: Vec<Slot<Box<usize>>> = (0..MANY).map(|n| slab.insert(Box::new(n))).collect();
        assert_eq!(slab.capacity(), capacity);
        drop(slab);
        assert_eq!(**again[47], 47);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn addresses_are_stable() {
    let slab = Slab::new();
    let slots: Vec<Slot<u32>> = (0..if cfg!(miri) { 60 } else { 10_000 }).map(|n| slab.insert(n)).collect();
    let addresses: Vec<*const u32> = slots.iter().map(Slot::as_ptr).collect();
    let slots: Vec<Slot<u32>> = slots.into_iter().rev().collect();
    assert!(slots.iter().rev().map(Slot::as_ptr).eq(addresses));
}

#[test]
fn last_freed_cell_is_reused_first() {
    let slab = Slab::new();
    let slots: Vec<Slot<u32>> = (0..100).map(|n| slab.insert(n)).collect();
    assert!(slots.windows(2).all(|pair| pair[1].key().index() == pair[0].key().index() + 1));
    let address = slots[50].as_ptr();
    let mut slots = slots;
    drop(slots.remove(50));
    assert_eq!(slab.insert(7).as_ptr(), address);
}

#[test]
fn with_capacity_allocates_up_front() {
    let slab: Slab<u64> = Slab::with_capacity(1000);
    let capacity = slab.capacity();
    assert!(capacity >= 1000);
    let slots: Vec<_> = (0..1000).map(|n| slab.insert(n)).collect();
    assert_eq!((slab.len(), slab.capacity()), (slots.len(), capacity));
    assert_eq!(Slab::<u64>::with_capacity(0).capacity(), 0);
    assert!(Slab::<u64>::try_with_capacity(10).unwrap().capacity() >= 10);
}

#[test]
fn capacity() {
    let slab = Slab::<u64>::new();
    assert_eq!((slab.len(), slab.capacity()), (0, 0));
    slab.reserve(2 * MANY);
    let capacity = slab.capacity();
    assert!(capacity >= 2 * MANY);
    let mut slots: Vec<Slot<u64>> = (0..2 * MANY as u64).map(|n| slab.insert(n)).collect();
    assert_eq!((slab.len(), slab.capacity()), (2 * MANY, capacity));
    slots.truncate(1);
    slab.shrink_to_fit();
    assert_eq!((slab.len(), slab.capacity()), (1, capacity), "there is one chunk");
    slots.clear();
    slab.shrink_to_fit();
    assert_eq!((slab.len(), slab.capacity()), (0, 0));
    for capacity in if cfg!(miri) { [0, 1, 11, 12, 13, MANY] } else { [0, 1, 1021, 1022, 1023, MANY] } {
        let slab = Bounded::with_capacity(capacity);
        assert_eq!(slab.capacity(), capacity);
        let slots: Vec<Slot<[u64; 8]>> = (0..capacity).map(|n| slab.insert([n as u64; 8])).collect();
        assert!(slab.is_full() && slab.try_insert([0; 8]).is_err());
        drop(slots);
        assert!(slab.is_empty());
    }
    let slab: Slab<[u8; 100]> = Slab::builder().chunk_capacity(3).build();
    let _slots: Vec<Slot<[u8; 100]>> = (0..7).map(|_| slab.insert([0; 100])).collect();
    assert_eq!(slab.capacity(), 9);
}

#[test]
fn keys() {
    assert!(Key::NONE.is_none() && !Key::NONE.is_some());
    assert_eq!(Key::default(), Key::NONE);
    assert_eq!(format!("{:?} {:?}", Key::NONE, Key::from_raw(7)), "Key::NONE Key(7)");
    assert_eq!(Key::from_raw(7).into_raw(), 7);
}

#[cfg(feature = "serde")]
#[test]
fn keys_serialize_as_numbers() {
    let json = serde_json::to_string(&(Key::from_raw(7), Key::NONE)).unwrap();
    assert_eq!(json, "[7,4294967295]");
    assert_eq!(serde_json::from_str::<(Key, Key)>(&json).unwrap(), (Key::from_raw(7), Key::NONE));
}

#[test]
fn slots_forward_the_traits_of_their_values() {
    let slab = Slab::new();
    let (one, two) = (slab.insert(1), slab.insert(2));
    assert!(one < two && one != two && one == slab.insert(1));
    assert_eq!(
        format!("{one} {two:?} {slab:?}"),
        "1 2 Slab { len: 2, capacity: 8191, .. }".replace("8191", &slab.capacity().to_string())
    );
    let sum: i32 = Slab::new().insert(0..4).coerce::<dyn Iterator<Item = i32>, _>(|view| view as _).sum();
    assert_eq!(sum, 6);
    let slots: std::collections::HashSet<Slot<i32>> = [one, two].into();
    assert!(slots.contains(&2));
}

/// Returns the number of bytes that stay allocated while the value that `make` returns is alive.
fn bytes_of<R>(make: impl FnOnce() -> R) -> usize {
    let before = common::live().1;
    let value = make();
    let bytes = (common::live().1 - before).unsigned_abs();
    drop(value);
    assert_eq!(common::live().1, before);
    bytes
}

/// Returns a slab and an array of slots in it.
fn slab_of<T: Copy, const N: usize>(value: T) -> (Slab<T>, [Slot<T>; N]) {
    let slab = Slab::new();
    let slots = [(); N].map(|()| slab.insert(value));
    (slab, slots)
}

#[test]
fn ten_values_take_at_most_twice_the_bytes_of_boxes() {
    let boxes = bytes_of(|| [(); 10].map(|()| Box::new([0_u64; 8])));
    assert_eq!(boxes, 640);
    let slab = bytes_of(|| slab_of::<_, 10>([0_u64; 8]));
    assert!(slab <= 2 * boxes, "{slab} bytes, {boxes} in boxes");
    // The bytes of larger and smaller values, which take 2560, 320 and 80 bytes in boxes: docs/slab.md has these
    // numbers.
    let others = [
        bytes_of(|| slab_of::<_, 10>([0_u64; 32])),
        bytes_of(|| slab_of::<_, 10>([0_u64; 4])),
        bytes_of(|| slab_of::<_, 10>(0_u64)),
    ];
    println!("ten values of 64 bytes: {slab}; of 256, 32 and 8: {others:?}");
    assert!(others[0] <= 2 * 2560 && others[1] < 1024 && others[2] < 640, "{others:?}");
    let shared = bytes_of(|| {
        let slab = dwell::slab::sync::Slab::new();
        let slots = [(); 10].map(|()| slab.insert([0_u64; 8]));
        (slab, slots)
    });
    println!("of 64 bytes in a `sync::Slab`: {shared}");
    assert!(shared <= 3 * boxes, "{shared}");
}

#[test]
fn empty_slab_allocates_no_chunk() {
    assert_eq!(bytes_of(Slab::<[u8; 4096]>::new), 0);
    assert_eq!(bytes_of(dwell::slab::sync::Slab::<u64>::new), 0);
    assert_eq!(bytes_of(dwell::slab::Pool::new), 0);
    let slab = Slab::<[u8; 4096]>::new();
    assert_eq!((slab.capacity(), slab.leaked().count()), (0, 0));
    drop(slab.insert([0; 4096]));
    assert!(slab.capacity() != 0);
    slab.shrink_to_fit();
    assert_eq!(slab.capacity(), 0);
}

/// A container with a few values calls the allocator once, and frees that block when nothing is left, in any order.
#[test]
fn small_slab_is_one_allocation() {
    let before = common::live();
    for capacity in [0, 1, 12] {
        let slab = Slab::with_capacity(capacity);
        assert_eq!((common::live().0 - before.0, slab.capacity()), if capacity == 0 { (0, 0) } else { (1, 12) });
        let mut slots: Vec<Slot<[u64; 8]>> = Vec::with_capacity(12);
        slots.extend((0..12).map(|n| slab.insert([n; 8])));
        assert_eq!(common::live().0 - before.0, 2, "the slab, and the vector of slots");
        slots.truncate(1);
        slab.shrink_to_fit();
        assert_eq!((slab.len(), slab.capacity(), slots[0][7]), (1, 12, 0));
        if capacity == 0 {
            slots.clear();
            slab.shrink_to_fit();
            assert_eq!((slab.len(), slab.capacity(), common::live().0 - before.0), (0, 0, 1));
            slots.push(slab.insert([7; 8]));
        }
        drop(slab);
        assert_eq!(common::live().0 - before.0, 2, "the last slot frees the slab");
        drop(slots);
        assert_eq!(common::live(), before);
    }
}

/// A slab that outgrows its first chunk moves the free stack out of it, and gives all memory back but that chunk.
#[test]
fn slab_outgrows_its_first_chunk() {
    fn outgrow<T: Copy + PartialEq + std::fmt::Debug>(value: T) {
        let before = common::live();
        let slab = Slab::new();
        let mut slots: Vec<Slot<T>> = Vec::with_capacity(100);
        slots.extend((0..13).map(|_| slab.insert(value)));
        drop(slots.drain(..7));
        slots.extend((0..94).map(|_| slab.insert(value)));
        assert!(slots.iter().all(|slot| **slot == value) && slab.len() == 100);
        let addresses: std::collections::HashSet<usize> = slots.iter().map(|slot| slot.as_ptr().addr()).collect();
        assert_eq!(addresses.len(), 100);
        let kept = slots.pop();
        drop(slots);
        slab.shrink_to_fit();
        assert_eq!(slab.len(), 1);
        let more: [Slot<T>; 20] = [(); 20].map(|()| slab.insert(value));
        drop(slab);
        drop(more);
        assert_eq!(kept.as_deref(), Some(&value));
        drop((kept, addresses));
        assert_eq!(common::live(), before);
    }
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(128))]
    struct Aligned(u8);
    outgrow(());
    outgrow(7_u8);
    outgrow([7_u64; 30]);
    outgrow(Aligned(7));
    outgrow([Aligned(7); 2]);
    if !cfg!(miri) {
        outgrow([7_u8; 4096]);
    }
}

/// `shrink_to_fit` frees the core of an empty slab, but not the number of the last stamp.
#[test]
fn stamped_keys_stay_unique_after_shrink_to_fit() {
    let slab = Slab::new();
    let key = slab.insert(1_u64).leak_stamped();
    drop(slab.reclaim_stamped(key));
    slab.shrink_to_fit();
    let new = slab.insert(2_u64).leak_stamped();
    assert_ne!(key, new);
    assert!(slab.reclaim_stamped(key).is_none());
    assert_eq!(slab.reclaim_stamped(new).as_deref(), Some(&2));
}

/// The first chunk has capacity for a dozen values, and each later one for twice as many, up to a block of 64 KiB.
#[test]
fn chunks_double_from_a_dozen_values_to_a_block() {
    fn capacities<T: Copy>(value: T) -> Vec<usize> {
        let slab = Slab::new();
        let mut capacities = vec![];
        let mut slots = vec![];
        while capacities.len() < if size_of::<T>() < 100 { 11 } else { 4 } {
            slots.push(slab.insert(value));
            if capacities.last() != Some(&slab.capacity()) {
                capacities.push(slab.capacity());
            }
        }
        assert!(slots.iter().enumerate().all(|(n, slot)| slot.key().index() as usize == n), "keys have no gap");
        capacities
    }
    // A block holds 1021 values of 64 bytes; later chunks have 1, 2, 4 and 8 blocks.
    let doubling = [12, 36, 84, 180, 372, 756, 1524];
    if !cfg!(miri) {
        let more = [1, 3, 7, 15].map(|blocks| 1524 + blocks * 1021);
        assert_eq!(capacities([0_u64; 8]), [&doubling[..], &more[..]].concat());
    }
    // A block holds 15 values of 4096 bytes: a small chunk comes first, then whole blocks.
    assert_eq!(capacities([0_u8; 4096])[..4], [12, 27, 57, 117]);
}

/// Small blocks are numbered and lose their numbers in any order, mixed with whole blocks.
#[test]
fn keys_are_unique_in_blocks_of_all_sizes() {
    let slab = Slab::new();
    let mut slots: Vec<Slot<[usize; 8]>> = vec![];
    for round in 0..if cfg!(miri) { 4 } else { 60_usize } {
        let more = [1, 40, 7, 300, 1100, 2][round % if cfg!(miri) { 3 } else { 6 }];
        if round % 4 == 3 {
            slab.reserve(more * 3);
        }
        slots.extend((0..more).map(|n| slab.insert([n; 8])));
        let keys: std::collections::HashSet<Key> = slots.iter().map(Slot::key).collect();
        assert_eq!(keys.len(), slots.len(), "a key for two cells");
        let kept: Vec<([usize; 8], Key)> = slots.drain(..).map(|slot| (*slot, slot.leak())).collect();
        assert_eq!(slab.leaked().collect::<std::collections::HashSet<_>>(), keys);
        for (n, (value, key)) in kept.into_iter().enumerate() {
            let slot = slab.reclaim(key).unwrap();
            assert_eq!(*slot, value);
            if !(n + round).is_multiple_of(3) && round % 7 != 6 {
                slots.push(slot);
            }
        }
        slab.shrink_to_fit();
    }
}

/// The address that a key finds is that of the value, for as long as no slot owns it.
#[test]
fn get_ptr_is_the_address_of_a_leaked_value() {
    dwell::slab! { mod numbers: std::cell::Cell<u64>; }
    let slot = numbers::insert(7.into());
    let address = slot.as_ptr();
    let key = slot.leak();
    let found = numbers::get_ptr(key).unwrap();
    assert_eq!(found.as_ptr().cast_const(), address);
    // SAFETY: the value is leaked, and no reference to it exists.
    unsafe { found.as_ref() }.set(8);
    assert_eq!(numbers::with(key, |n| (n.get(), numbers::get_ptr(key))), Some((8, None)));
    let slot = numbers::reclaim(key).unwrap();
    assert_eq!((slot.get(), numbers::get_ptr(key)), (8, None));
    drop(slot);
    assert_eq!(numbers::get_ptr(dwell::slab::Key::NONE), None);
    let bounded = dwell::slab::Bounded::with_capacity(2);
    let keys = [1_u8, 2].map(|n| bounded.insert(n).leak());
    // SAFETY: the values are leaked, and nothing writes to them.
    assert_eq!(keys.map(|key| unsafe { *bounded.get_ptr(key).unwrap().as_ref() }), [1, 2]);
}

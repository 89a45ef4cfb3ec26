//! Tests of `SlabMap` with an allocator that counts blocks and fails on request.
#![cfg(feature = "std")]

mod common;

use common::{failing_after, live};
use dwell::slab::SlabMap;

fn filled(count: usize) -> SlabMap<String> {
    let mut map = SlabMap::new();
    for n in 0..count {
        map.insert("x".repeat(n % 40));
    }
    map.retain(|key, _| key % 3 != 0);
    map
}

#[test]
fn weight_equals_allocated_bytes() {
    for count in [0, 1, 4, 5, 100] {
        let before = live();
        let map = filled(count);
        let after = live();
        let weight = dwell::weigh(&map);
        assert_eq!(weight.allocations.cast_signed(), i64::try_from(after.0 - before.0).unwrap(), "{count}");
        assert_eq!(weight.heap.cast_signed(), i64::try_from(after.1 - before.1).unwrap(), "{count}");
        assert_eq!(dwell::weigh::tree(&map).weight, weight);
    }
}

/// Ten entries take at most twice the bytes of the boxes they replace.
#[test]
fn ten_entries_take_at_most_twice_the_bytes_of_boxes() {
    let before = live();
    let boxes: [Box<[u64; 8]>; 10] = std::array::from_fn(|_| Box::new([1; 8]));
    let of_boxes = live().1 - before.1;
    drop(boxes);
    let map: SlabMap<[u64; 8]> = (0..10).map(|key| (key, [1; 8])).collect();
    let of_map = live().1 - before.1;
    assert_eq!(map.len(), 10);
    assert!(of_map <= 2 * of_boxes, "{of_map} bytes, {of_boxes} of boxes");
}

#[test]
fn failed_allocation_returns_the_value() {
    let mut map = filled(0);
    let value = String::from("k");
    let error = failing_after(0, || map.try_insert(value)).unwrap_err();
    assert_eq!((error.layout().size(), error.into_inner().as_str()), (size_of::<String>(), "k"));
    assert!(failing_after(0, || map.try_reserve(10).is_err() && map.try_reserve_exact(10).is_err()));
    let value = String::from("e");
    let error = failing_after(0, || map.vacant_entry().try_insert(value).map(drop).unwrap_err());
    assert_eq!(error.into_inner(), "e");
    assert!(failing_after(0, || SlabMap::<u8>::try_with_capacity(10)).is_err());
    assert!(map.is_empty() && map.vacant_key() == 0);
    assert_eq!(map.try_insert(String::from("kept")).unwrap(), 0);
    assert_eq!(map.vacant_entry().try_insert(String::from("too")).unwrap(), "too");
    map.try_reserve_exact(10).unwrap();
    assert!(map.len() == 2 && map.capacity() >= 12);
}

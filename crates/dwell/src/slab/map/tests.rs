//! Tests of the invariants of a [`SlabMap`].

use super::SlabMap;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::String;
use std::vec::Vec;

/// Checks invariants 1 and 2.
fn check<T>(map: &SlabMap<T>) {
    assert_eq!(map.len, map.entries.iter().filter(|entry| entry.value().is_some()).count());
    let mut vacant = 0;
    let mut key = map.next;
    while let Some(entry) = map.entries.get(key) {
        let super::Entry::Vacant(next) = *entry else { panic!("an occupied entry in the free list") };
        key = next;
        vacant += 1;
        assert!(vacant <= map.entries.len(), "the free list is a circle");
    }
    assert_eq!((key, vacant), (map.entries.len(), map.entries.len() - map.len));
}

#[test]
fn empty_map_allocates_nothing() {
    let map = SlabMap::<String>::new();
    assert_eq!((map.capacity(), map.len(), map.vacant_key()), (0, 0, 0));
    check(&map);
}

#[test]
fn send_and_sync_follow_the_values() {
    fn both<T: Send + Sync>() {}
    both::<SlabMap<u8>>();
    both::<super::Iter<'_, u8>>();
}

#[test]
fn entry_uses_a_niche() {
    assert_eq!(size_of::<super::Entry<Box<u8>>>(), 16);
    assert_eq!(size_of::<super::Entry<String>>(), size_of::<String>());
    assert_eq!(size_of::<super::Entry<()>>(), 16);
}

/// The contract of the crate slab: the key is in bounds, and a vacant entry panics. It was undefined behaviour.
#[test]
fn get_unchecked_of_a_vacant_key_panics() {
    let mut map: SlabMap<_> = [(0, 'a'), (2, 'c')].into_iter().collect();
    let panics = |f: &mut dyn FnMut() -> char| catch_unwind(AssertUnwindSafe(f)).is_err();
    // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds.
    assert_eq!(unsafe { *map.get_unchecked(2) }, 'c');
    // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds.
    assert!(panics(&mut || unsafe { *map.get_unchecked(1) }));
    // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds.
    assert!(panics(&mut || unsafe { *map.get_unchecked_mut(1) }));
    // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds. The two differ.
    assert!(panics(&mut || unsafe { *map.get2_unchecked_mut(2, 1).0 }));
    // SAFETY: the map has a value whose key is 2, so keys up to 2 are in bounds. The two differ.
    let (first, last) = unsafe { map.get2_unchecked_mut(0, 2) };
    core::mem::swap(first, last);
    assert_eq!((map[0], map[2]), ('c', 'a'));
}

#[test]
fn panic_in_clone_from_leaves_an_empty_map() {
    struct Fragile(bool);
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            assert!(!self.0);
            Self(self.0)
        }
    }
    let source: SlabMap<_> = [(0, Fragile(false)), (2, Fragile(true))].into_iter().collect();
    let mut target: SlabMap<_> = [(4, Fragile(false))].into_iter().collect();
    assert!(catch_unwind(AssertUnwindSafe(|| target.clone_from(&source))).is_err());
    check(&target);
    assert!(target.is_empty());
    assert_eq!(target.insert(Fragile(false)), 0);
}

#[test]
fn panic_in_drop_leaves_a_valid_map() {
    struct Bomb(bool);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0);
        }
    }
    let mut map: SlabMap<_> = [(0, Bomb(false)), (1, Bomb(true)), (5, Bomb(false))].into_iter().collect();
    assert!(catch_unwind(AssertUnwindSafe(|| map.retain(|_, _| false))).is_err());
    check(&map);
    map.insert(Bomb(true));
    assert!(catch_unwind(AssertUnwindSafe(|| map.clear())).is_err());
    check(&map);
    assert!(map.is_empty());
}

#[test]
fn panic_in_compact_drops_one_value() {
    let mut map: SlabMap<_> = [(1, 'b'), (3, 'd'), (6, 'g')].into_iter().collect();
    let caught = catch_unwind(AssertUnwindSafe(|| map.compact(|_, from, _| if from == 6 { true } else { panic!() })));
    assert!(caught.is_err());
    check(&map);
    assert_eq!(map.iter().collect::<Vec<_>>(), [(0, &'g'), (1, &'b')]);
}

#[test]
fn compact_stops_at_a_key_that_must_stay() {
    let mut map: SlabMap<_> = [(1, 'b'), (4, 'e'), (7, 'h')].into_iter().collect();
    map.compact(|_, from, _| from != 4);
    check(&map);
    assert_eq!(map.iter().map(|(key, _)| key).collect::<Vec<_>>(), [0, 1, 4]);
    map.compact(|_, _, _| true);
    check(&map);
    assert_eq!((map.len(), map.capacity()), (3, 3));
}

#[test]
fn forgotten_drain_leaves_an_empty_map() {
    let mut map: SlabMap<_> = (0..5).map(|key| (key * 2, Box::new(key))).collect();
    let mut drain = map.drain();
    assert!(drain.next().is_some());
    let left: Vec<_> = drain.by_ref().collect(); // drops the rest, so that nothing leaks
    core::mem::forget(drain);
    check(&map);
    assert_eq!((left.len(), map.insert(Box::new(7))), (4, 0));
}

#[test]
fn size_hints_are_not_trusted() {
    struct Lies(usize);
    impl Iterator for Lies {
        type Item = (usize, u8);
        fn next(&mut self) -> Option<Self::Item> {
            self.0 = self.0.checked_sub(1)?;
            Some((self.0, 1))
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, None)
        }
    }
    let map: SlabMap<u8> = Lies(3).collect();
    check(&map);
    assert_eq!(map.len(), 3);
}

#[test]
fn too_large_capacities_are_refused() {
    let mut map = SlabMap::<[u64; 4]>::new();
    assert!(map.try_reserve(usize::MAX).is_err());
    assert!(SlabMap::<u8>::try_with_capacity(usize::MAX / 2).is_err());
    assert_eq!(map.try_insert([1; 4]).unwrap(), 0);
    check(&map);
}

#[test]
fn behaves_like_a_std_map() {
    use std::collections::BTreeMap;
    let seed = 0x5EED_u64;
    let mut random = seed;
    let mut next = move |bound: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % bound
    };
    let mut map = SlabMap::new();
    let mut model = BTreeMap::new();
    for step in 0..if cfg!(miri) { 90 } else { 20_000_u64 } {
        match next(20) {
            0..10 => {
                let key = map.vacant_key();
                assert_eq!(map.insert(Box::new(step)), key, "seed {seed:#x}");
                assert!(model.insert(key, Box::new(step)).is_none());
            }
            10..17 => {
                let key = usize::try_from(next(64)).unwrap();
                assert_eq!(map.try_remove(key), model.remove(&key));
            }
            17 => {
                let odd = next(2);
                map.retain(|_, value| **value % 3 != odd);
                model.retain(|_, value| **value % 3 != odd);
            }
            18 => map.shrink_to_fit(),
            _ => {
                map.compact(|value, from, to| {
                    let keeps = value.is_multiple_of(5);
                    if !keeps {
                        let value = model.remove(&from).unwrap();
                        assert!(model.insert(to, value).is_none());
                    }
                    !keeps
                });
            }
        }
        check(&map);
        if step % 50 == 0 {
            assert!(map.iter().eq(model.iter().map(|(key, value)| (*key, value))));
            assert!(map.iter().rev().eq(model.iter().rev().map(|(key, value)| (*key, value))));
            assert_eq!(map.iter().len(), model.len());
            let copy: SlabMap<_> = map.clone().into_iter().rev().collect();
            check(&copy);
            assert!(copy.iter().eq(map.iter()));
        }
    }
}

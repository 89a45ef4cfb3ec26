//! Attempts to break `SortedMap` and `SortedSet` with safe code, under an allocator that checks every block.

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::sparse::{SortedMap, SortedSet};
use std::cell::Cell;
use std::cmp::Ordering;

type Map<'a> = SortedMap<u32, Spy<'a>>;

fn spies(counts: &Counts, keys: impl IntoIterator<Item = u32>) -> Map<'_> {
    keys.into_iter().map(|n| (n, counts.spy(n))).collect()
}

fn keys(map: &Map<'_>) -> Vec<u32> {
    map.iter().inspect(|(key, spy)| assert_eq!(**key, spy.value)).map(|(key, _)| *key).collect()
}

#[test]
fn every_entry_is_dropped_once_and_every_block_freed() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut map = spies(&counts, [5, 1, 3, 1, 5]);
        map.insert(2, counts.spy(2));
        map.insert(2, counts.spy(2));
        map.insert(0, counts.spy(0));
        map.insert(9, counts.spy(9));
        assert_eq!(keys(&map), [0, 1, 2, 3, 5, 9]);
        map.remove(&0);
        map.remove(&9);
        map.remove(&2);
        map.remove(&7);
        map.extend([(4, counts.spy(4)), (1, counts.spy(1))]);
        map.retain(|key, _| *key != 3);
        assert_eq!(keys(&map), [1, 4, 5]);
        let mut iter = map.clone().into_iter();
        drop((iter.next(), iter));
        map.clear();
        map.insert(1, counts.spy(1));
        drop(map.remove(&1));
        assert!(map.is_empty());
        map
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn allocates_one_block_of_length_and_entries() {
    let mut map = SortedMap::new();
    assert_eq!(left_by(|| map = (0..10_u64).map(|n| (n / 2, n)).collect()), (1, 8 + 5 * 16));
    assert_eq!(left_by(|| map.insert(7, 7)), (0, 16));
    assert_eq!(left_by(|| map.retain(|key, _| *key < 2)), (0, -4 * 16));
    assert_eq!(left_by(|| map.remove(&1)), (0, -16));
    assert_eq!(left_by(|| map.remove(&0)), (-1, -24));
}

#[test]
fn panic_in_drop_frees_the_block() {
    let ways: [fn(Map<'_>); 6] = [
        |m| drop(m),
        |mut m| m.clear(),
        |m| drop(m.into_iter()),
        |mut m| m.retain(|key, _| *key == 1),
        |mut m| drop(m.remove(&1)),
        |m| drop(m.into_keys().collect::<Vec<_>>()),
    ];
    for way in ways {
        let counts = Counts::default();
        counts.panic_at_drop.set(1);
        let left = left_by(|| assert!(panics(|| way(spies(&counts, 0..3)))));
        assert_eq!(left.1, 0, "all bytes freed");
        assert!(counts.balanced(), "{counts:?}");
    }
}

#[test]
fn panic_in_retain_removes_only_rejected_entries() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut map = spies(&counts, 0..6);
        assert!(panics(|| map.retain(|key, _| {
            assert_ne!(*key, 3, "in the closure");
            *key != 1
        })));
        assert_eq!(keys(&map), [0, 2, 3, 4, 5]);
        assert!(map.contains_key(&4));
    });
    assert_eq!(left.1, 0);
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn panic_in_an_iterator_leaves_the_map_unchanged() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut map = spies(&counts, 0..3);
        let spies = |end| {
            let counts = &counts;
            (0..end).map(move |n| (10 - n, counts.spy(10 - n))).inspect(|(key, _)| assert_ne!(*key, 6))
        };
        assert!(panics(|| map.extend(spies(9))));
        assert!(panics(|| drop(spies(9).collect::<Map<'_>>())));
        assert_eq!(keys(&map), [0, 1, 2]);
        map.extend(spies(2));
        assert_eq!(keys(&map), [0, 1, 2, 9, 10]);
    });
    assert_eq!(left.1, 0);
    assert!(counts.balanced(), "{counts:?}");
}

/// Returns the step between cases in tests with many cases: with `DWELL_TEST_CASES` every seventh runs, under Miri
/// every 67th.
fn step() -> usize {
    match std::env::var_os("DWELL_TEST_CASES") {
        _ if cfg!(miri) => 67,
        Some(_) => 7,
        None => 1,
    }
}

thread_local! {
    /// The number of comparisons until one panics; 0 for never.
    static UNTIL_PANIC: Cell<u32> = const { Cell::new(0) };
    /// The state of a simple random generator that replaces the results of comparisons; 0 for off.
    static RANDOM: Cell<u32> = const { Cell::new(0) };
}

/// A key whose `cmp` panics or returns random results on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FaultyOrd(Box<u32>);

impl PartialOrd for FaultyOrd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FaultyOrd {
    fn cmp(&self, other: &Self) -> Ordering {
        let until = UNTIL_PANIC.get();
        UNTIL_PANIC.set(until.saturating_sub(1));
        assert_ne!(until, 1, "intentional panic in cmp");
        let random = RANDOM.get();
        if random == 0 {
            return self.0.cmp(&other.0);
        }
        RANDOM.set(random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223).max(1));
        [Ordering::Less, Ordering::Equal, Ordering::Greater][(random >> 16) as usize % 3]
    }
}

#[test]
fn panic_in_cmp_leaves_maps_sorted() {
    let fresh = |range: std::ops::Range<u32>| range.rev().map(|n| (FaultyOrd(Box::new(n)), Box::new(n)));
    let left = left_by(|| {
        let mut panicked = 0_usize;
        // Enough entries that std's sort does not use insertion sort.
        for k in (1..200).step_by(step()) {
            for step in 0..7 {
                let mut map: SortedMap<_, _> = fresh(0..40).collect();
                UNTIL_PANIC.set(k);
                let key = FaultyOrd(Box::new(20));
                panicked += usize::from(panics(|| match step {
                    0 => map.extend(fresh(10..60)),
                    1 => drop(map.insert(key, Box::new(0))),
                    2 => drop(map.remove(&key)),
                    3 => assert!(map.get(&key).is_some()),
                    4 => assert!(map.try_extend(fresh(10..60)).is_ok()),
                    5 => map = SortedMap::try_from_iter(fresh(0..40)).ok().unwrap(),
                    _ => map = fresh(0..40).collect(),
                }));
                UNTIL_PANIC.set(0);
                // The map is unchanged, or the operation is complete.
                assert!(matches!(map.len(), 39 | 40 | 60));
                assert!(map.keys().is_sorted());
            }
        }
        assert!(panicked > 200 / step(), "{panicked}");
    });
    assert_eq!(left, (0, 0));
}

/// `extend` used to leave the collection empty after a panic in `cmp`, and its entries were lost.
#[test]
fn panic_in_cmp_leaves_sets_unchanged() {
    let keys = |range: std::ops::Range<u32>| range.rev().map(|n| FaultyOrd(Box::new(n)));
    let left = left_by(|| {
        let mut panicked = 0_usize;
        for k in (1..120).step_by(step()) {
            for step in 0..6 {
                let mut set: SortedSet<FaultyOrd> = keys(0..20).collect();
                let mut other: SortedSet<FaultyOrd> = keys(10..30).collect();
                UNTIL_PANIC.set(k);
                let has_panicked = panics(|| match step {
                    0 => set.extend(keys(10..30)),
                    1 => set.append(&mut other),
                    2 => drop(set.split_off(&FaultyOrd(Box::new(7)))),
                    3 => assert!(set.try_extend(keys(10..30)).is_ok()),
                    4 => drop(set.replace(FaultyOrd(Box::new(7)))),
                    _ => drop(&set ^ &other),
                });
                UNTIL_PANIC.set(0);
                panicked += usize::from(has_panicked);
                if has_panicked {
                    assert_eq!((set.len(), other.len()), (20, 20));
                }
            }
        }
        assert!(panicked > 100 / step(), "{panicked}");
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn panic_in_drop_of_a_replaced_value_loses_no_other_entry() {
    for way in 0..2 {
        let counts = Counts::default();
        let left = left_by(|| {
            let mut map = spies(&counts, [1, 3, 5, 7]);
            let more = [6, 3, 1].map(|n| (n, counts.spy(n)));
            counts.panic_at_drop.set(1);
            assert!(panics(|| match way {
                0 => map.extend(more),
                _ => map.append(&mut SortedMap::from(more)),
            }));
            assert_eq!(keys(&map), [1, 3, 5, 6, 7]);
        });
        assert_eq!(left.1, 0);
        assert!(counts.balanced(), "{counts:?}");
    }
}

#[test]
fn panic_in_drop_of_a_rejected_entry_loses_no_other_entry() {
    for way in 0..2 {
        let counts = Counts::default();
        let left = left_by(|| {
            let mut map = spies(&counts, 0..6);
            counts.panic_at_drop.set(1);
            assert!(panics(|| match way {
                0 => map.retain(|key, _| key % 3 != 1),
                _ => assert!(map.try_retain(|key, _| key % 3 != 1).is_ok()),
            }));
            // `retain` stops at the panic; `try_retain` has decided for all entries before it.
            assert_eq!(keys(&map), [&[0, 2, 3, 4, 5][..], &[0, 2, 3, 5]][way]);
        });
        assert_eq!(left.1, 0);
        assert!(counts.balanced(), "{counts:?}");
    }
}

/// An iterator whose `size_hint` cycles through the values that the test sets.
struct WrongHints<I>(I, Vec<usize>, Cell<usize>);

impl<I: Iterator> Iterator for WrongHints<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.2.set(self.2.get() + 1);
        let hint = self.1[self.2.get() % self.1.len()];
        (hint, Some(hint))
    }
}

#[test]
fn size_hints_are_not_trusted() {
    const ALL: u32 = if cfg!(miri) { 20 } else { 100 };
    const KEYS: u32 = ALL / 10 * 7;
    let (all, keys) = (ALL as usize, KEYS as usize);
    let left = left_by(|| {
        let lies = [vec![usize::MAX], vec![1 << 47], vec![usize::MAX - 1, 0, 3], vec![0], vec![isize::MAX as usize]];
        // Each case reserves 64 KiB, which is slow under Miri.
        for hint in lies.into_iter().step_by(if cfg!(miri) { 2 } else { 1 }) {
            let lies = || WrongHints((0..ALL).map(|n| (n % KEYS, Box::new(n))), hint.clone(), Cell::new(0));
            let values = || lies().map(|(_, value)| value);
            let mut map: SortedMap<_, _> = lies().collect();
            map.extend(lies());
            assert!(map.try_extend(lies()).is_ok());
            assert_eq!((map.len(), SortedMap::try_from_iter(lies()).ok().map(|map| map.len())), (keys, Some(keys)));
            let mut set: SortedSet<_> = values().collect();
            set.extend(values());
            assert!(set.try_extend(values()).is_ok());
            assert_eq!((set.len(), SortedSet::try_from_iter(values()).ok().map(|set| set.len())), (all, Some(all)));
            assert_eq!(WrongHints([(); 9].into_iter(), hint.clone(), Cell::new(0)).collect::<SortedSet<()>>().len(), 1);
        }
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn failed_allocation_in_a_set_loses_nothing() {
    let text = |n: u32| n.to_string();
    let set = |values: &[u32]| values.iter().map(|&n| text(n)).collect::<SortedSet<String>>();
    let left = left_by(|| {
        until_it_succeeds(|k| {
            let mut set = set(&[1, 3]);
            let value = text(2);
            let inserted = failing_after(k, || set.try_insert(value)).map_err(dwell::AllocError::into_inner);
            assert_eq!(
                (set.len(), inserted.clone().err()),
                if inserted.is_ok() { (3, None) } else { (2, Some(text(2))) }
            );
            inserted.is_ok()
        });
        until_it_succeeds(|k| {
            let mut set = set(&[1, 3]);
            let value = text(2);
            let replaced = failing_after(k, || set.try_replace(value)).map_err(dwell::AllocError::into_inner);
            assert_eq!(set.len(), 2 + usize::from(replaced.is_ok()));
            replaced.is_ok()
        });
        for way in 0..4 {
            until_it_succeeds(|k| {
                let mut set = set(&[1, 2, 3]);
                let taken = failing_after(k, || match way {
                    0 => set.try_remove("2").is_ok(),
                    1 => set.try_pop_first().is_ok(),
                    2 => set.try_pop_last().is_ok(),
                    _ => set.try_retain(|value| value != "2").is_ok(),
                });
                assert_eq!(set.len(), 3 - usize::from(taken));
                taken
            });
        }
        until_it_succeeds(|k| {
            let mut set = set(&[1, 2, 3]);
            let tail = failing_after(k, || set.try_split_off("2"));
            assert_eq!(set.len(), if tail.is_ok() { 1 } else { 3 });
            tail.is_ok_and(|tail| tail.len() == 2)
        });
        until_it_succeeds(|k| {
            let (mut one, mut other) = (set(&[1, 2, 3]), set(&[2, 4]));
            let appended = failing_after(k, || one.try_append(&mut other).is_ok());
            assert_eq!((one.len(), other.len()), if appended { (4, 0) } else { (3, 2) });
            appended
        });
        until_it_succeeds(|k| {
            let (mut one, mut other) = (SortedMap::from([(1, text(1))]), SortedMap::from([(1, text(2)), (0, text(3))]));
            let appended = failing_after(k, || one.try_append(&mut other).is_ok());
            assert_eq!((one.len(), other.len()), if appended { (2, 0) } else { (1, 2) });
            assert_eq!(one[&1], if appended { "2" } else { "1" });
            appended
        });
        until_it_succeeds(|k| {
            let set = set(&[1, 2, 3]);
            match failing_after(k, || set.try_into_vec()) {
                Ok(values) => values.len() == 3,
                Err(error) => error.into_inner().len() != 3,
            }
        });
        until_it_succeeds(|k| {
            let values: Vec<_> = [3, 1, 2, 1].map(text).into();
            match failing_after(k, || SortedSet::try_from_iter(values)) {
                Ok(set) => set.len() == 3,
                Err(error) => error.into_inner().count() < 3,
            }
        });
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn failed_allocation_returns_the_entry() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut map = spies(&counts, [1, 3]);
        for way in 0..4 {
            let (key, value) = (2, counts.spy(2));
            let error = failing_after(0, || match way {
                0 => map.entry(key).try_or_insert_with(|| value).map(drop),
                1 => map.entry(key).try_or_insert_with_key(|_| value).map(drop),
                2 => map.entry(key).try_insert_entry(value).map(drop),
                _ => map.entry(key).try_or_insert(value).map(drop),
            });
            assert_eq!(error.unwrap_err().into_inner().1.value, 2);
            assert_eq!(keys(&map), [1, 3]);
        }
        // If shrinking the block fails, the entry stays in the map and can be retried.
        let entry = map.first_entry().unwrap();
        let entry = failing_after(0, || entry.try_remove_entry()).unwrap_err().into_inner();
        assert_eq!((*entry.key(), entry.try_remove().unwrap().value), (1, 1));
        let mut defaults = SortedMap::<u8, Vec<u8>>::new();
        assert!(failing_after(0, || defaults.entry(1).try_or_default().is_err()));
        assert!(defaults.is_empty());
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn inconsistent_ord_is_memory_safe() {
    /// More than 20 elements, up to which std's sort uses insertion sort.
    const MANY: u32 = if cfg!(miri) { 24 } else { 50 };
    let left = left_by(|| {
        for seed in (1..200_u32).step_by(step()) {
            let mut map = SortedMap::new();
            RANDOM.set(seed.wrapping_mul(0x9E37_79B9));
            for n in 0..if cfg!(miri) { 16 } else { 40 } {
                // std's sort may detect the inconsistent order and panic.
                let _ = panics(|| match n % 8 {
                    0 => map.extend((0..MANY).map(|n| (FaultyOrd(Box::new(n)), Box::new(n)))),
                    1 => map.retain(|_, value| !value.is_multiple_of(3)),
                    2..4 => drop(map.remove(&FaultyOrd(Box::new(n)))),
                    4 => drop(map.try_extend((0..MANY).map(|n| (FaultyOrd(Box::new(n)), Box::new(n))))),
                    5 => drop(map.try_retain(|_, value| !value.is_multiple_of(5))),
                    6 if n % 3 == 0 => drop(map.split_off(&FaultyOrd(Box::new(n)))),
                    6 => map.append(&mut (0..9).map(|n| (FaultyOrd(Box::new(n)), Box::new(n))).collect()),
                    _ => drop(map.insert(FaultyOrd(Box::new(n)), Box::new(n))),
                });
                let _ = (map.get(&FaultyOrd(Box::new(n))), map.iter().count());
            }
            RANDOM.set(0);
        }
    });
    assert_eq!(left, (0, 0));
}

/// A key that is changed inside the map may not be found, but memory stays safe.
#[test]
fn keys_changed_inside_the_map_are_memory_safe() {
    let left = left_by(|| {
        let cells: Vec<_> = (0..10).map(|n| std::rc::Rc::new(Cell::new(n))).collect();
        let mut map: SortedMap<_, _> = cells.iter().map(|cell| (std::rc::Rc::clone(cell), cell.get())).collect();
        for cell in &cells {
            cell.set(10 - cell.get());
        }
        for n in 0..12 {
            let key = std::rc::Rc::new(Cell::new(n));
            let _ = (map.contains_key(&key), map.remove(&key), map.insert(key, n));
        }
        map.retain(|_, value| *value > 3);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn failed_allocation_returns_key_and_value() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut map = Map::new();
        let error = failing_after(0, || map.try_insert(1, counts.spy(1))).unwrap_err();
        assert_eq!(error.layout().size(), 8 + size_of::<(u32, Spy<'_>)>());
        let (key, value) = error.into_inner();
        assert!(map.try_insert(key, value).unwrap().is_none());

        let mut map = spies(&counts, [1, 3, 5]);
        for key in [0, 2, 4, 6] {
            let error = failing_after(0, || map.try_insert(key, counts.spy(key))).unwrap_err();
            assert_eq!(error.into_inner().1.value, key);
            assert_eq!(keys(&map), [1, 3, 5]);
        }
        let error = failing_after(0, || map.entry(2).try_or_insert(counts.spy(2))).unwrap_err();
        assert_eq!((error.into_inner().0, keys(&map)), (2, vec![1, 3, 5]));
        // An existing key needs no allocation.
        assert_eq!(failing_after(0, || map.entry(3).try_or_insert(counts.spy(9))).unwrap().value, 3);
        let old = failing_after(0, || map.try_insert(3, counts.spy(3))).unwrap();
        assert_eq!(old.map(|spy| spy.value), Some(3));
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

/// Calls `attempt` with 0, 1, 2, .. as the number of allocations that succeed, until it returns `true`.
fn until_it_succeeds(mut attempt: impl FnMut(usize) -> bool) {
    let failures = (0..100).take_while(|&successes| !attempt(successes)).count();
    assert!((1..100).contains(&failures), "it allocates, and then it succeeds");
}

#[test]
fn failed_allocation_loses_no_entry() {
    let counts = Counts::default();
    let entries = |keys: &[u32]| keys.iter().map(|&n| (n, counts.spy(n))).collect::<Vec<_>>();
    let sorted = |entries: Vec<(u32, Spy<'_>)>| {
        let mut keys: Vec<_> = entries.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    };
    let left = left_by(|| {
        until_it_succeeds(|k| {
            let mut map = spies(&counts, [1, 3, 5]);
            let removed = failing_after(k, || map.try_remove(&3).map(|spy| spy.map(|spy| spy.value)));
            assert_eq!(keys(&map), if removed.is_ok() { vec![1, 5] } else { vec![1, 3, 5] });
            removed.is_ok_and(|value| value == Some(3))
        });
        assert!(failing_after(0, || Map::new().try_remove(&3)).unwrap().is_none());
        until_it_succeeds(|k| {
            let mut map = spies(&counts, [1, 3, 5]);
            let taken = failing_after(k, || map.try_pop_first().map(|entry| entry.map(|(key, _)| key)));
            assert_eq!(keys(&map), if taken.is_ok() { vec![3, 5] } else { vec![1, 3, 5] });
            taken.is_ok_and(|key| key == Some(1))
        });
        until_it_succeeds(|k| {
            let mut map = spies(&counts, [1, 3, 5]);
            let taken = failing_after(k, || map.try_pop_last().map(|entry| entry.map(|(key, _)| key)));
            assert_eq!(keys(&map), if taken.is_ok() { vec![1, 3] } else { vec![1, 3, 5] });
            taken.is_ok_and(|key| key == Some(5))
        });
        let none = failing_after(0, || (Map::new().try_pop_first().is_ok(), Map::new().try_pop_last().is_ok()));
        assert_eq!(none, (true, true));
        until_it_succeeds(|k| {
            let mut map = spies(&counts, 0..9);
            let mut asked = 0;
            let retained = failing_after(k, || {
                map.try_retain(|key, _| {
                    asked += 1;
                    key % 3 == 0
                })
            });
            assert!(asked == 0 || asked == 9);
            assert_eq!(keys(&map), if retained.is_ok() { vec![0, 3, 6] } else { (0..9).collect() });
            retained.is_ok()
        });
        until_it_succeeds(|k| {
            let mut map = spies(&counts, [2, 4, 6]);
            let more = entries(&[7, 4, 1, 5]);
            let outcome = failing_after(k, || map.try_extend(more));
            match outcome {
                Ok(()) => assert_eq!(keys(&map), [1, 2, 4, 5, 6, 7]),
                Err(error) => {
                    assert_eq!(sorted(error.into_inner().collect()), [1, 4, 5, 7]);
                    assert_eq!(keys(&map), [2, 4, 6]);
                    return false;
                }
            }
            true
        });
        until_it_succeeds(|k| {
            let all = entries(&[7, 4, 1, 5, 9, 8]);
            match failing_after(k, || SortedMap::try_from_iter(all)) {
                Ok(map) => assert_eq!(keys(&map), [1, 4, 5, 7, 8, 9]),
                Err(error) => {
                    assert_eq!(sorted(error.into_inner().collect()), [1, 4, 5, 7, 8, 9]);
                    return false;
                }
            }
            true
        });
        until_it_succeeds(|k| {
            let map = spies(&counts, [1, 2]);
            let clone = failing_after(k, || map.try_clone());
            clone.is_ok_and(|clone| keys(&clone) == [1, 2])
        });
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn panic_in_try_retain_leaves_the_map_unchanged() {
    let counts = Counts::default();
    let mut map = spies(&counts, 0..6);
    assert!(panics(|| {
        let _ = map.try_retain(|key, _| {
            assert_ne!(*key, 3, "in the closure");
            *key != 1
        });
    }));
    assert_eq!(keys(&map), [0, 1, 2, 3, 4, 5]);
}

/// `AllocError::layout` is that of the block that could not be allocated.
#[test]
fn errors_have_the_layout_of_the_refused_block() {
    type Entry = (u32, String);
    fn entries(keys: std::ops::Range<u32>) -> Vec<Entry> {
        keys.map(|n| (n, String::new())).collect()
    }
    fn array<T>(len: usize) -> std::alloc::Layout {
        std::alloc::Layout::array::<T>(len).unwrap()
    }
    let mut map = SortedMap::from(entries(0..9));
    for (successes, layout) in [(0, array::<bool>(9)), (1, array::<Entry>(6))] {
        let refused = failing_after(successes, || map.try_retain(|key, _| *key < 3)).unwrap_err();
        assert_eq!(refused.layout(), layout);
    }
    let mut other = SortedMap::from(entries(7..11));
    for (successes, layout) in [(0, array::<Result<usize, usize>>(4)), (1, array::<Entry>(2))] {
        assert_eq!(failing_after(successes, || map.try_append(&mut other)).unwrap_err().layout(), layout);
    }
    let unsorted = entries(0..3);
    let refused = failing_after(0, || SortedMap::try_from_vec(unsorted)).map(drop).unwrap_err();
    assert_eq!(refused.layout(), array::<(Entry, usize)>(3));
    assert_eq!((map.len(), other.len()), (9, 4));
}

/// `try_extend` and `try_from_iter` treat duplicate keys like `extend` and `collect`.
#[test]
fn try_functions_keep_the_first_key_and_the_last_value() {
    let entries = [("b", 1), ("a", 2), ("b", 3), ("c", 4), ("a", 5)];
    let mut map = SortedMap::try_from_iter(entries).ok().unwrap();
    assert_eq!(map.as_slice(), [("a", 5), ("b", 3), ("c", 4)]);
    assert!(map.try_extend([("d", 6), ("b", 7), ("b", 8), ("0", 9)]).is_ok());
    assert_eq!(map.as_slice(), [("0", 9), ("a", 5), ("b", 8), ("c", 4), ("d", 6)]);
}

#[test]
fn zero_sized_and_over_aligned_entries() {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[repr(align(128))]
    struct Wide(u8);

    let left = left_by(|| {
        let mut none = SortedMap::from([((), ()), ((), ())]);
        assert_eq!(none.insert((), ()), Some(()));
        assert_eq!(none.len(), 1);
        assert_eq!(none.remove(&()), Some(()));
        assert!(none.is_empty() && none.get(&()).is_none());

        let mut wide = SortedMap::new();
        for n in [5, 3, 4, 1, 2] {
            wide.insert(Wide(n), n);
            assert_eq!(wide.as_slice().as_ptr().addr() % 128, 0);
        }
        assert_eq!(wide.remove(&Wide(3)), Some(3));
        assert_eq!(wide.remove(&Wide(5)), Some(5));
        assert!(wide.keys().eq(&[Wide(1), Wide(2), Wide(4)]));
        wide.clear();
        assert_eq!(wide.as_slice().as_ptr().addr() % 128, 0);
    });
    assert_eq!(left, (0, 0));
}

/// These calls moved all entries to a new block, for which there may be no memory.
#[test]
fn calls_that_add_and_move_nothing_allocate_nothing() {
    let mut map: SortedMap<u32, u32> = (0..100).map(|n| (n, n)).collect();
    let mut none = SortedMap::new();
    assert!(failing_after(0, || {
        map.extend([] as [(u32, u32); 0]);
        map.append(&mut SortedMap::new());
        none.append(&mut map); // takes the block
        map.try_extend([]).is_ok()
            && map.try_append(&mut none).is_ok()
            && map.try_split_off(&100).is_ok_and(|rest| rest.is_empty())
    }));
    assert!(none.is_empty() && map.len() == 100);
}

/// Only `Ord` decides whether the start of a range is behind its end.
#[test]
fn ranges_compare_their_bounds_by_ord() {
    #[derive(Eq)]
    struct Incomparable(u32);
    impl PartialEq for Incomparable {
        fn eq(&self, _: &Self) -> bool {
            false
        }
    }
    #[allow(clippy::non_canonical_partial_ord_impl, reason = "it contradicts `Ord` on purpose")]
    impl PartialOrd for Incomparable {
        fn partial_cmp(&self, _: &Self) -> Option<Ordering> {
            None
        }
    }
    impl Ord for Incomparable {
        fn cmp(&self, other: &Self) -> Ordering {
            self.0.cmp(&other.0)
        }
    }
    let map: SortedMap<Incomparable, u32> = (0..10).map(|n| (Incomparable(n), n)).collect();
    assert_eq!(map.range(Incomparable(2)..=Incomparable(4)).map(|(_, n)| *n).collect::<Vec<_>>(), [2, 3, 4]);
    assert!(panics(|| _ = map.range(Incomparable(4)..Incomparable(2))));
    let equal = (std::ops::Bound::Excluded(Incomparable(3)), std::ops::Bound::Excluded(Incomparable(3)));
    assert!(panics(|| _ = map.range(equal)));
}

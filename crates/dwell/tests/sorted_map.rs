//! What `SortedMap` and `SortedSet` do, and that they do it like a `BTreeMap` and a `BTreeSet`.

#[path = "ops/sorted_map.rs"]
mod ops;

use dwell::Sparse;
use dwell::sparse::{IsEmpty, SortedMap, SortedSet, ThinStr};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

/// The longest input of a random test is shorter under Miri, which is a thousand times slower.
const LONGEST: usize = if cfg!(miri) { 24 } else { 400 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn behaves_like_a_btree_map(bytes in prop::collection::vec(any::<u8>(), 0..LONGEST / 2)) {
        ops::run(&bytes);
    }

    #[test]
    fn a_set_behaves_like_a_btree_set(bytes in prop::collection::vec(any::<u8>(), 0..LONGEST / 2)) {
        ops::run_set(&bytes);
    }

    #[test]
    fn lookups_agree_at_any_size(entries in prop::collection::vec(any::<(u8, u32)>(), 0..LONGEST)) {
        let map: SortedMap<_, _> = entries.iter().copied().collect();
        let model: BTreeMap<_, _> = entries.into_iter().collect();
        for key in 0..=255 {
            prop_assert_eq!(map.get(&key), model.get(&key));
        }
        prop_assert!(map.iter().eq(&model));
    }

    #[test]
    fn lookups_in_a_set_agree_at_any_size(values in prop::collection::vec(any::<u8>(), 0..LONGEST)) {
        let set: SortedSet<_> = values.iter().copied().collect();
        let model: BTreeSet<_> = values.into_iter().collect();
        for value in 0..=255 {
            prop_assert_eq!(set.contains(&value), model.contains(&value));
        }
        prop_assert!(set.iter().eq(&model));
    }
}

#[test]
fn is_one_word_with_a_niche() {
    assert_eq!(size_of::<SortedMap<String, [u64; 100]>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<SortedMap<u8, ()>>>(), size_of::<usize>());
    assert_eq!(size_of::<SortedSet<String>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<SortedSet<[u64; 9]>>>(), size_of::<usize>());
}

#[test]
fn auto_traits_and_variance() {
    fn holds<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    fn shorten<'a>(map: SortedMap<&'static str, &'static str>) -> SortedMap<&'a str, &'a str> {
        map
    }
    fn shorten_set<'a>(set: SortedSet<&'static str>) -> SortedSet<&'a str> {
        set
    }
    holds::<SortedMap<String, Vec<u8>>>();
    holds::<SortedSet<String>>();
    assert_eq!(shorten_set(SortedSet::from(["a"])).first(), Some(&"a"));
    // As their kin of std, what owns a cell is unwind safe, and a reference to it is not.
    fn unwind_safe<T: UnwindSafe>() {}
    unwind_safe::<SortedMap<u8, std::cell::Cell<u8>>>();
    unwind_safe::<SortedSet<std::cell::Cell<u8>>>();
    unwind_safe::<dwell::sparse::sorted_map::IntoIter<u8, std::cell::Cell<u8>>>();
    unwind_safe::<dwell::sparse::sorted_map::Iter<'_, u8, String>>();
    unwind_safe::<dwell::sparse::sorted_set::IntoIter<std::cell::Cell<u8>>>();
    unwind_safe::<dwell::sparse::sorted_set::Iter<'_, String>>();
    holds::<dwell::sparse::sorted_map::IntoIter<u8, String>>();
    holds::<dwell::sparse::sorted_set::IntoIter<String>>();
    assert_eq!(shorten(SortedMap::from([("a", "b")]))["a"], "b");
}

#[test]
fn makes_statics() {
    static MAP: SortedMap<String, u8> = SortedMap::new();
    assert!(MAP.is_empty() && IsEmpty::is_empty(&MAP) && MAP.first_key_value().is_none());
    assert!(Sparse::new(SortedMap::<u8, u8>::new()).get().is_none());
}

/// Equal to every other one, but distinguished by the second field.
#[derive(Debug, Clone, Copy)]
struct Key(u8, u8);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for Key {}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

#[test]
fn of_equal_keys_the_first_key_stays_with_the_last_value() {
    let entries = [(Key(1, 1), 'a'), (Key(0, 0), 'b'), (Key(1, 2), 'c'), (Key(1, 3), 'd')];
    let mut one_by_one = SortedMap::new();
    for (key, value) in entries {
        one_by_one.insert(key, value);
    }
    let mut extended = SortedMap::from([entries[0]]);
    extended.extend(entries[1..].iter().copied());
    for map in [SortedMap::from(entries), one_by_one, extended] {
        let seen: Vec<_> = map.iter().map(|(key, value)| (key.0, key.1, *value)).collect();
        assert_eq!(seen, [(0, 0, 'b'), (1, 1, 'd')]);
    }
}

/// `Eq` that contradicts `Ord`: it says no to all, or yes to all.
#[derive(Debug, Clone, Copy)]
struct BadEq(u8, bool);

impl PartialEq for BadEq {
    fn eq(&self, _: &Self) -> bool {
        self.1
    }
}
impl Eq for BadEq {}
impl PartialOrd for BadEq {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for BadEq {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

/// `get` asked `==` in maps of up to eight entries, and `Ord` in larger ones.
#[test]
fn ord_alone_decides_which_keys_are_the_same_at_any_size() {
    for said in [false, true] {
        for len in 0..40 {
            let key = |n| BadEq(n, said);
            let mut map: SortedMap<BadEq, u8> = (0..len).map(|n| (key(2 * n), n)).collect();
            let mut set: SortedSet<BadEq> = (0..len).map(|n| key(2 * n)).collect();
            assert_eq!((map.len(), set.len()), (usize::from(len), usize::from(len)));
            for n in 0..len {
                assert_eq!(map.get(&key(2 * n)), Some(&n));
                assert_eq!(map.get_mut(&key(2 * n)), Some(&mut { n }));
                assert_eq!(map[&key(2 * n)], n);
                assert!(map.contains_key(&key(2 * n)) && !map.contains_key(&key(2 * n + 1)));
                assert!(set.contains(&key(2 * n)) && !set.contains(&key(2 * n + 1)));
                assert!(matches!(map.entry(key(2 * n)), dwell::sparse::sorted_map::Entry::Occupied(_)));
                assert!(matches!(map.entry(key(2 * n + 1)), dwell::sparse::sorted_map::Entry::Vacant(_)));
                assert_eq!(map.insert(key(2 * n), n), Some(n));
                assert!(!set.insert(key(2 * n)));
            }
            map.extend((0..len).map(|n| (key(2 * n), n + 1)));
            set.extend((0..len).map(|n| key(2 * n)));
            assert_eq!((map.len(), set.len()), (usize::from(len), usize::from(len)));
            for n in 0..len {
                assert_eq!(map.remove(&key(2 * n)), Some(n + 1));
                assert!(set.remove(&key(2 * n)) && !set.remove(&key(2 * n)));
            }
        }
    }
}

#[test]
fn a_set_keeps_the_first_of_equal_values() {
    let values = [Key(1, 1), Key(0, 0), Key(1, 2)];
    let mut one_by_one = SortedSet::new();
    assert_eq!(values.map(|value| one_by_one.insert(value)), [true, true, false]);
    let mut extended = SortedSet::from([values[0]]);
    extended.extend(&values[1..]);
    let mut appended = SortedSet::from([values[0]]);
    appended.append(&mut SortedSet::from([values[1], values[2]]));
    let tried = SortedSet::try_from_iter(values).ok().unwrap();
    for set in [SortedSet::from(values), one_by_one, extended, appended, tried] {
        assert_eq!(set.iter().map(|key| (key.0, key.1)).collect::<Vec<_>>(), [(0, 0), (1, 1)]);
    }
    let mut set = SortedSet::from(values);
    assert_eq!(set.replace(Key(1, 9)).map(|old| old.1), Some(1));
    assert_eq!(set.get(&Key(1, 0)).map(|key| key.1), Some(9));
}

#[test]
fn a_set_is_looked_up_by_what_a_value_borrows_as() {
    let mut set: SortedSet<ThinStr> = ["b", "a", "c"].map(ThinStr::from).into();
    assert!(set.contains("a") && !set.contains("d"));
    assert_eq!(set.take("b").as_deref(), Some("b"));
    let from = (std::ops::Bound::Included("b"), std::ops::Bound::Unbounded);
    assert_eq!(set.range::<str, _>(from).next().map(|text| &**text), Some("c"));
    assert!(HashSet::from([set.clone()]).contains(&set));
    assert!(set < SortedSet::from(["b"].map(ThinStr::from)));
    assert_eq!(format!("{:?} {:?}", set, set.iter()), r#"{"a", "c"} ["a", "c"]"#);
    static NONE: SortedSet<String> = SortedSet::new();
    assert!(IsEmpty::is_empty(&NONE) && Sparse::<SortedSet<u8>>::empty().first().is_none());
    assert_eq!(Vec::from(set).len(), 2);
}

#[test]
fn entries_print() {
    let mut map = SortedMap::from([("a", 1)]);
    assert_eq!(format!("{:?}", map.entry("a")), r#"Entry(OccupiedEntry { key: "a", value: 1 })"#);
    assert_eq!(format!("{:?}", map.entry("b")), r#"Entry(VacantEntry("b"))"#);
}

#[test]
fn is_looked_up_by_what_a_key_borrows_as() {
    let mut map: SortedMap<ThinStr, u8> = [("b".into(), 2), ("a".into(), 1)].into();
    assert_eq!((map["a"], map.get("c")), (1, None));
    assert_eq!(map.remove("b"), Some(2));
    *map.get_mut("a").unwrap() = 7;
    assert_eq!(map.into_values().collect::<Vec<_>>(), [7]);
}

#[test]
#[should_panic(expected = "no entry found for key")]
fn indexing_a_missing_key_panics() {
    let _ = SortedMap::from([(1, 2)])[&3];
}

#[test]
#[should_panic(expected = "the range ends before it begins")]
fn a_range_that_ends_before_it_begins_panics_as_in_a_btree_map() {
    let (from, to) = (3, 2);
    let _ = SortedMap::from([(1, 2)]).range(from..to);
}

#[test]
#[should_panic(expected = "the range is empty")]
fn a_range_with_one_key_excluded_twice_panics_as_in_a_btree_map() {
    use std::ops::Bound::Excluded;
    let _ = SortedMap::from([(1, 2)]).range((Excluded(1), Excluded(1)));
}

/// An order that contradicts itself: each key is said to be less, or each greater.
#[derive(Debug, PartialEq, Eq)]
struct Liar(Ordering);

impl PartialOrd for Liar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Liar {
    fn cmp(&self, _: &Self) -> Ordering {
        self.0
    }
}

#[test]
fn a_range_and_an_entry_of_keys_that_compare_badly_are_some_range_and_some_entry() {
    for said in [Ordering::Less, Ordering::Equal, Ordering::Greater] {
        let mut map: SortedMap<Liar, u8> = (0..5).map(|n| (Liar(said), n)).collect();
        let all = map.len();
        for other in [Ordering::Less, Ordering::Equal] {
            assert!(map.range(Liar(other)..=Liar(other)).len() <= all);
        }
        *map.entry(Liar(said)).or_insert(7) += 1;
        assert!((all..=all + 1).contains(&map.len()));
    }
}

#[test]
fn compares_and_hashes_by_its_entries() {
    let a = SortedMap::from([(1, 'a'), (2, 'b')]);
    let b = SortedMap::from([(2, 'b'), (1, 'a')]);
    assert_eq!(a, b);
    assert!(a < SortedMap::from([(1, 'b')]));
    assert!(HashSet::from([a]).contains(&b));
}

#[test]
fn iterators_print_and_count() {
    let mut map = SortedMap::from([(1, 'a'), (2, 'b')]);
    assert_eq!(format!("{:?}", map.iter()), "[(1, 'a'), (2, 'b')]");
    assert_eq!(map.iter_mut().rev().map(|(key, _)| *key).collect::<Vec<_>>(), [2, 1]);
    assert_eq!((map.keys().len(), map.values().len()), (2, 2));
    for (_, value) in &mut map {
        value.make_ascii_uppercase();
    }
    assert_eq!(Vec::from(map), [(1, 'A'), (2, 'B')]);
}

#[cfg(feature = "serde")]
mod serde {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases().div_ceil(5)))]

        #[test]
        fn on_the_wire_it_is_a_map(plain in any::<BTreeMap<String, Option<u32>>>()) {
            let map: SortedMap<String, Option<u32>> = plain.clone().into();

            let json = serde_json::to_string(&plain).unwrap();
            prop_assert_eq!(&serde_json::to_string(&map).unwrap(), &json);
            prop_assert_eq!(&serde_json::from_str::<SortedMap<_, _>>(&json).unwrap(), &map);

            let bytes = postcard::to_allocvec(&plain).unwrap();
            prop_assert_eq!(&postcard::to_allocvec(&map).unwrap(), &bytes);
            prop_assert_eq!(&postcard::from_bytes::<SortedMap<_, _>>(&bytes).unwrap(), &map);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases().div_ceil(5)))]

        #[test]
        fn on_the_wire_a_set_is_a_sequence(plain in any::<BTreeSet<String>>()) {
            let set = SortedSet::from(plain.clone());

            let json = serde_json::to_string(&plain).unwrap();
            prop_assert_eq!(&serde_json::to_string(&set).unwrap(), &json);
            prop_assert_eq!(&serde_json::from_str::<SortedSet<_>>(&json).unwrap(), &set);

            let bytes = postcard::to_allocvec(&plain).unwrap();
            prop_assert_eq!(&postcard::to_allocvec(&set).unwrap(), &bytes);
            prop_assert_eq!(&postcard::from_bytes::<SortedSet<_>>(&bytes).unwrap(), &set);
        }
    }

    #[test]
    fn of_equal_keys_the_last_wins() {
        let set: SortedSet<String> = serde_json::from_str(r#"["b","a","b"]"#).unwrap();
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["a","b"]"#);
        let map: SortedMap<String, u8> = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#).unwrap();
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"a":2,"b":3}"#);
        assert!(serde_json::from_str::<SortedMap<u8, u8>>("[]").unwrap_err().to_string().contains("expected a map"));
        assert!(serde_json::from_str::<SortedMap<String, u8>>(r#"{"a":1,"b"}"#).is_err());
    }

    #[test]
    fn a_document_that_claims_to_be_huge_is_not_believed() {
        // postcard writes the number of entries first: 2^63 of them, and then none.
        let bytes = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
        assert!(postcard::from_bytes::<SortedMap<u64, u64>>(&bytes).is_err());
        assert!(postcard::from_bytes::<SortedSet<u64>>(&bytes).is_err());
        assert!(postcard::from_bytes::<SortedMap<(), ()>>(&[3]).is_ok_and(|map| map.len() == 1));
    }
}

//! Tests of `SortedMap` and `SortedSet`, whose behaviour is that of `BTreeMap` and `BTreeSet`.

#[path = "ops/sorted_map.rs"]
mod ops;

use dwell::Sparse;
use dwell::sparse::{IsEmpty, SortedMap, SortedSet, ThinStr};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// The number of cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(250)
}

/// The maximum length of a random test's input; lower under Miri, which is a thousand times slower.
const LONGEST: usize = if cfg!(miri) { 24 } else { 400 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn behaves_like_a_btree_map(bytes in prop::collection::vec(any::<u8>(), 0..LONGEST / 2)) {
        ops::run(&bytes);
    }

    #[test]
    fn set_behaves_like_a_btree_set(bytes in prop::collection::vec(any::<u8>(), 0..LONGEST / 2)) {
        ops::run_set(&bytes);
    }

    #[test]
    fn lookups_match_a_btree_map_at_any_size(entries in prop::collection::vec(any::<(u8, u32)>(), 0..LONGEST)) {
        let map: SortedMap<_, _> = entries.iter().copied().collect();
        let model: BTreeMap<_, _> = entries.into_iter().collect();
        for key in 0..=255 {
            prop_assert_eq!(map.get(&key), model.get(&key));
        }
        prop_assert!(map.iter().eq(&model));
    }

    #[test]
    fn lookups_match_a_btree_set_at_any_size(values in prop::collection::vec(any::<u8>(), 0..LONGEST)) {
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
    // As in std, owners of a cell are unwind safe, and references to them are not.
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
fn new_works_in_statics() {
    static MAP: SortedMap<String, u8> = SortedMap::new();
    assert!(MAP.is_empty() && IsEmpty::is_empty(&MAP) && MAP.first_key_value().is_none());
    assert!(Sparse::new(SortedMap::<u8, u8>::new()).get().is_none());
}

/// A key that is compared by its first field only, so that equal keys can be told apart.
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
fn duplicate_keys_keep_the_first_key_and_the_last_value() {
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

/// A key whose `==` contradicts `Ord`: it is always false or always true.
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

/// `get` used to compare with `==` in maps of up to eight entries, and with `Ord` in larger ones.
#[test]
fn lookups_use_only_ord() {
    for equal in [false, true] {
        for len in 0..40 {
            let key = |n| BadEq(n, equal);
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
fn set_keeps_the_first_of_equal_values() {
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
fn set_lookup_by_borrowed_form() {
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
fn entries_implement_debug() {
    let mut map = SortedMap::from([("a", 1)]);
    assert_eq!(format!("{:?}", map.entry("a")), r#"Entry(OccupiedEntry { key: "a", value: 1 })"#);
    assert_eq!(format!("{:?}", map.entry("b")), r#"Entry(VacantEntry("b"))"#);
}

#[test]
fn map_lookup_by_borrowed_key() {
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
#[should_panic(expected = "range start is greater than range end")]
fn reversed_range_panics_like_btree_map() {
    let (from, to) = (3, 2);
    let _ = SortedMap::from([(1, 2)]).range(from..to);
}

#[test]
#[should_panic(expected = "range start and end are equal and excluded")]
fn range_excluding_one_key_twice_panics_like_btree_map() {
    use std::ops::Bound::Excluded;
    let _ = SortedMap::from([(1, 2)]).range((Excluded(1), Excluded(1)));
}

/// A key with an inconsistent order: `cmp` always returns the same result.
#[derive(Debug, PartialEq, Eq)]
struct ConstantOrd(Ordering);

impl PartialOrd for ConstantOrd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ConstantOrd {
    fn cmp(&self, _: &Self) -> Ordering {
        self.0
    }
}

#[test]
fn inconsistent_ord_gives_an_arbitrary_range_and_entry() {
    for ordering in [Ordering::Less, Ordering::Equal, Ordering::Greater] {
        let mut map: SortedMap<ConstantOrd, u8> = (0..5).map(|n| (ConstantOrd(ordering), n)).collect();
        let all = map.len();
        for other in [Ordering::Less, Ordering::Equal] {
            assert!(map.range(ConstantOrd(other)..=ConstantOrd(other)).len() <= all);
        }
        *map.entry(ConstantOrd(ordering)).or_insert(7) += 1;
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
fn iterators_implement_debug_and_exact_size() {
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
        fn serializes_as_a_map(plain in any::<BTreeMap<String, Option<u32>>>()) {
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
        fn set_serializes_as_a_sequence(plain in any::<BTreeSet<String>>()) {
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
    fn last_duplicate_key_wins_when_deserializing() {
        let set: SortedSet<String> = serde_json::from_str(r#"["b","a","b"]"#).unwrap();
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["a","b"]"#);
        let map: SortedMap<String, u8> = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#).unwrap();
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"a":2,"b":3}"#);
        assert!(serde_json::from_str::<SortedMap<u8, u8>>("[]").unwrap_err().to_string().contains("expected a map"));
        assert!(serde_json::from_str::<SortedMap<String, u8>>(r#"{"a":1,"b"}"#).is_err());
    }

    #[test]
    fn claimed_length_is_not_trusted_when_deserializing() {
        // In postcard the number of entries comes first: the document claims 2^63 and has none.
        let bytes = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
        assert!(postcard::from_bytes::<SortedMap<u64, u64>>(&bytes).is_err());
        assert!(postcard::from_bytes::<SortedSet<u64>>(&bytes).is_err());
        assert!(postcard::from_bytes::<SortedMap<(), ()>>(&[3]).is_ok_and(|map| map.len() == 1));
    }
}

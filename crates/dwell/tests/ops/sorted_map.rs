//! Random operations on `SortedMap` and `SortedSet`, compared with a `BTreeMap` and a `BTreeSet`. The model tests and
//! the fuzz target share this file.

use dwell::sparse::{SortedMap, SortedSet, sorted_map};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::Bound;

/// A hasher without a random seed, so that a map has the same order in each run.
type Fixed = BuildHasherDefault<DefaultHasher>;

/// Runs the operations encoded in `bytes`, three bytes each: the operation, the key and the value.
pub(crate) fn run(bytes: &[u8]) {
    // Keys and values own memory, so that a checking allocator detects a wrong move.
    let mut map: SortedMap<String, Box<u8>> = SortedMap::new();
    let mut model: BTreeMap<String, Box<u8>> = BTreeMap::new();

    for step in bytes.chunks_exact(3) {
        // There are few keys, so that many operations find one in the map.
        let (key, value) = (format!("{}", step[1] % 24), Box::new(step[2]));
        // Up to 40 entries, with duplicate keys.
        let more: Vec<_> =
            (0..step[1] % 40).map(|i| (format!("{}", i.wrapping_mul(step[2]) % 24), Box::new(i))).collect();
        match step[0] % 29 {
            0..=3 => assert_eq!(map.insert(key, value.clone()), insert(&mut model, step[1], value)),
            4 => assert_eq!(map.try_insert(key, value.clone()).unwrap(), insert(&mut model, step[1], value)),
            5..=7 => assert_eq!(map.remove(&*key), model.remove(&key)),
            8 => {
                if let Some(v) = map.get_mut(&*key) {
                    **v ^= step[2];
                }
                if let Some(v) = model.get_mut(&key) {
                    **v ^= step[2];
                }
            }
            9 => {
                let mut keep = |key: &String, value: &mut Box<u8>| {
                    **value ^= 1;
                    key.len().is_multiple_of(2) || (**value).is_multiple_of(3)
                };
                map.retain(&mut keep);
                model.retain(&mut keep);
            }
            10 => {
                map.extend(more.clone());
                model.extend(more);
            }
            11 => {
                map = more.iter().cloned().collect();
                model = more.into_iter().collect();
            }
            12 => {
                map = SortedMap::from(model.clone());
                model = BTreeMap::from(map.clone());
            }
            13 => {
                map = SortedMap::from(map.clone().into_iter().collect::<HashMap<_, _, Fixed>>());
                for (value, expected) in map.values_mut().zip(model.values_mut()) {
                    **value = value.wrapping_add(1);
                    **expected = expected.wrapping_add(1);
                }
            }
            14 => {
                assert!(map.clone().into_keys().eq(model.clone().into_keys()));
                assert!(map.clone().into_values().rev().eq(model.clone().into_values().rev()));
                let mut ours = std::mem::take(&mut map).into_iter();
                let mut theirs = std::mem::take(&mut model).into_iter();
                assert_eq!((ours.next(), ours.next_back()), (theirs.next(), theirs.next_back()));
                assert_eq!(ours.len(), theirs.len());
            }
            15 => {
                map.clear();
                model.clear();
            }
            16 => assert_eq!(map.try_remove(&*key).unwrap(), model.remove(&key)),
            17 => {
                let mut keep = |key: &String, value: &mut Box<u8>| {
                    **value ^= 2;
                    key.len().is_multiple_of(2) || (**value).is_multiple_of(3)
                };
                map.try_retain(&mut keep).unwrap();
                model.retain(&mut keep);
            }
            18 => {
                assert!(map.try_extend(more.clone()).is_ok());
                model.extend(more);
            }
            19 => {
                map = SortedMap::try_from_iter(more.iter().cloned()).ok().unwrap();
                model = more.into_iter().collect();
            }
            20 => map = map.try_clone().unwrap(),
            21 => {
                **map.entry(key.clone()).and_modify(|v| **v ^= 3).or_insert(value.clone()) ^= 1;
                **model.entry(key).and_modify(|v| **v ^= 3).or_insert(value) ^= 1;
            }
            22 => {
                use std::collections::btree_map;
                match (map.entry(key.clone()), model.entry(key)) {
                    (sorted_map::Entry::Occupied(mut ours), btree_map::Entry::Occupied(mut theirs)) => {
                        assert_eq!((ours.key(), ours.get()), (theirs.key(), theirs.get()));
                        assert_eq!(ours.insert(value.clone()), theirs.insert(value));
                        if step[2] % 2 == 0 {
                            assert_eq!(ours.remove(), theirs.remove());
                        }
                    }
                    (sorted_map::Entry::Vacant(ours), btree_map::Entry::Vacant(theirs)) if step[2] % 2 == 0 => {
                        assert_eq!(ours.into_key(), theirs.into_key());
                    }
                    (ours @ sorted_map::Entry::Vacant(_), btree_map::Entry::Vacant(theirs)) => {
                        assert_eq!(ours.key(), theirs.key());
                        assert_eq!(ours.try_or_insert(value.clone()).unwrap(), theirs.insert(value));
                    }
                    _ => panic!("one has the key, one has not"),
                }
            }
            23 if step[2] % 2 == 0 => {
                assert_eq!((map.pop_first(), map.pop_last()), (model.pop_first(), model.pop_last()));
            }
            23 => {
                assert_eq!(map.try_pop_first().unwrap(), model.pop_first());
                assert_eq!(map.try_pop_last().unwrap(), model.pop_last());
            }
            24 => {
                let (mut other, mut others): (SortedMap<_, _>, BTreeMap<_, _>) =
                    (more.iter().cloned().collect(), more.into_iter().collect());
                map.append(&mut other);
                model.append(&mut others);
                assert!(other.is_empty());
            }
            25 => {
                let (tail, expected) = (map.split_off(&*key), model.split_off(&key));
                assert!(tail.iter().eq(&expected));
                if step[2] % 2 == 0 {
                    (map, model) = (tail, expected);
                }
            }
            26 => {
                let made = |key: &String| Box::new(u8::try_from(key.len()).unwrap());
                **map.entry(key.clone()).or_insert_with_key(made) ^= 1;
                **model.entry(key.clone()).or_insert_with_key(made) ^= 1;
                assert_eq!(map.remove_entry(&*key), model.remove_entry(&key));
                *map.entry(key.clone()).or_default() = value.clone();
                *model.entry(key).or_default() = value;
            }
            27 => {
                assert_eq!(map.entry(key.clone()).insert_entry(value.clone()).get(), &value);
                model.insert(key.clone(), value);
                if step[2] % 2 == 0 {
                    let first = map.first_entry().map(sorted_map::OccupiedEntry::remove_entry);
                    assert_eq!(first, model.pop_first());
                    let last = map.last_entry().map(|entry| entry.try_remove_entry().unwrap());
                    assert_eq!(last, model.pop_last());
                }
            }
            _ => {
                let other = format!("{}", step[2] % 24);
                let (start, end) = if key <= other { (key, other) } else { (other, key) };
                let (from, to) = (start.as_str(), end.as_str());
                for bounds in [
                    (Bound::Included(from), Bound::Unbounded),
                    (Bound::Unbounded, Bound::Included(to)),
                    (Bound::Excluded(from), Bound::Included(to)),
                    (Bound::Included(from), Bound::Excluded(to)),
                ] {
                    assert!(map.range::<str, _>(bounds).eq(model.range::<str, _>(bounds)));
                }
                map.range_mut(start.clone()..end.clone()).for_each(|(_, v)| **v ^= 1);
                model.range_mut(start..end).for_each(|(_, v)| **v ^= 1);
            }
        }
        assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
        assert!(map.iter().eq(&model));
        assert!(map.iter().rev().eq(model.iter().rev()));
        assert!(map.keys().eq(model.keys()));
        assert!(map.values().eq(model.values()));
        assert_eq!(map.first_key_value(), model.first_key_value());
        assert_eq!(map.last_key_value(), model.last_key_value());
        assert_eq!(format!("{map:?}"), format!("{model:?}"));
        for n in 0..24 {
            let key = n.to_string();
            assert_eq!(map.get(&*key), model.get(&key));
            assert_eq!(map.get_key_value(&key), model.get_key_value(&key));
            assert_eq!(map.contains_key(&key), model.contains_key(&key));
        }
    }
}

fn insert(model: &mut BTreeMap<String, Box<u8>>, key: u8, value: Box<u8>) -> Option<Box<u8>> {
    model.insert(format!("{}", key % 24), value)
}

/// Runs the operations encoded in `bytes` on sets, three bytes each.
pub(crate) fn run_set(bytes: &[u8]) {
    let mut set: SortedSet<String> = SortedSet::new();
    let mut model: BTreeSet<String> = BTreeSet::new();

    for step in bytes.chunks_exact(3) {
        let value = format!("{}", step[1] % 24);
        let more: Vec<_> = (0..step[1] % 40).map(|i| format!("{}", i.wrapping_mul(step[2]) % 24)).collect();
        match step[0] % 16 {
            0..=2 => assert_eq!(set.insert(value.clone()), model.insert(value)),
            3 => assert_eq!(set.try_insert(value.clone()).unwrap(), model.insert(value)),
            4 => assert_eq!(set.replace(value.clone()), model.replace(value)),
            5 => assert_eq!(set.remove(&*value), model.remove(&value)),
            6 => assert_eq!(set.take(&*value), model.take(&value)),
            7 => {
                set.retain(|value| value.len() % 2 == 0 || value.ends_with('1'));
                model.retain(|value| value.len() % 2 == 0 || value.ends_with('1'));
            }
            8 => {
                assert!(set.try_retain(|value| value.len() % 2 == 1 || value.ends_with('1')).is_ok());
                model.retain(|value| value.len() % 2 == 1 || value.ends_with('1'));
            }
            9 => {
                set.extend(more.clone());
                model.extend(more);
            }
            10 => {
                assert!(set.try_extend(more.clone()).is_ok());
                model.extend(more);
            }
            11 => {
                set = SortedSet::try_from_iter(more.iter().cloned()).ok().unwrap();
                model = more.into_iter().collect();
            }
            12 => {
                let (mut other, mut others): (SortedSet<_>, BTreeSet<_>) =
                    (more.iter().cloned().collect(), more.into_iter().collect());
                assert!((&set | &other).iter().eq(&(&model | &others)));
                assert!((&set & &other).iter().eq(&(&model & &others)));
                assert!((&set ^ &other).iter().eq(&(&model ^ &others)));
                assert!((&set - &other).iter().eq(&(&model - &others)));
                assert_eq!(set.is_disjoint(&other), model.is_disjoint(&others));
                assert_eq!(set.is_subset(&other), model.is_subset(&others));
                assert_eq!(set.is_superset(&other), model.is_superset(&others));
                assert_eq!(set.cmp(&other), model.cmp(&others));
                set.append(&mut other);
                model.append(&mut others);
                assert!(other.is_empty());
            }
            13 => {
                let (tail, expected) = (set.split_off(&*value), model.split_off(&value));
                assert!(tail.iter().eq(&expected));
                if step[2] % 2 == 0 {
                    (set, model) = (tail, expected);
                }
            }
            14 => {
                assert_eq!((set.pop_first(), set.pop_last()), (model.pop_first(), model.pop_last()));
                let other = format!("{}", step[2] % 24);
                let (start, end) = if value <= other { (value, other) } else { (other, value) };
                let bounds = (Bound::Excluded(&*start), Bound::Included(&*end));
                if start != end {
                    assert!(set.range::<str, _>(bounds).eq(model.range::<str, _>(bounds)));
                }
            }
            _ => {
                set = SortedSet::from(model.clone());
                model = BTreeSet::from(set.clone());
                let mut ours = set.clone().into_iter();
                let mut theirs = model.clone().into_iter();
                assert_eq!(
                    (ours.next(), ours.next_back(), ours.len()),
                    (theirs.next(), theirs.next_back(), theirs.len())
                );
                assert_eq!(set.try_clone().unwrap().try_into_vec().unwrap(), Vec::from_iter(model.clone()));
            }
        }
        assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
        assert!(set.iter().eq(&model) && set.iter().rev().eq(model.iter().rev()));
        assert_eq!((set.first(), set.last()), (model.first(), model.last()));
        assert_eq!(format!("{set:?}"), format!("{model:?}"));
        for n in 0..24 {
            let value = n.to_string();
            assert_eq!((set.contains(&*value), set.get(&value)), (model.contains(&value), model.get(&value)));
        }
    }
}

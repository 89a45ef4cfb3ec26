//! Compares records by their keys.

use super::arena::{Arena, ObjectId};
use foldhash::{HashMap, HashMapExt, HashSet};
use std::cmp::Reverse;

/// The most records that are compared with each other.
pub(super) const MAX_COMPARED: usize = 256;
/// The least share of common keys between a record and the one most like it, on average, if they are of one type.
const LIKE: f64 = 0.45;

/// Returns whether most of these sets of keys resemble another of them. Records of different kinds, such as the
/// definitions `customer` and `invoice` of an API, may all have an `id`, but each has keys of its own.
pub(super) fn have_likes(sets: &mut [Vec<u64>]) -> bool {
    if sets.len() < 2 {
        return true;
    }
    for set in sets.iter_mut() {
        set.sort_unstable();
    }
    let common = |left: &[u64], right: &[u64]| {
        let (mut at, mut common) = (0, 0usize);
        for key in left {
            while right.get(at).is_some_and(|other| other < key) {
                at += 1;
            }
            common += usize::from(right.get(at) == Some(key));
        }
        common
    };
    let mut sum = 0.0;
    for (index, set) in sets.iter().enumerate() {
        let mut best = 0.0f64;
        for (other, theirs) in sets.iter().enumerate() {
            // The shorter set limits what they can have in common.
            let (short, long) = (set.len().min(theirs.len()), set.len().max(theirs.len()));
            if other != index && short as f64 > best * long as f64 {
                let common = common(set, theirs);
                best = best.max(common as f64 / (set.len() + theirs.len() - common) as f64);
            }
        }
        sum += best;
    }
    sum >= LIKE * sets.len() as f64
}

/// The most records of other positions that are compared with the values of a map.
const MAX_SHARED: usize = 16;

/// Returns whether the values of an object can become those of a map without changing the types of other positions.
///
/// The values of a map have one type. Where some of them are records that occur at other positions too, such as the
/// nodes of a recursive type, unlike values would become part of these records everywhere.
pub(super) fn is_acceptable(arena: &Arena, object: ObjectId, values: &[ObjectId], shared: &HashSet<ObjectId>) -> bool {
    if values.contains(&object) {
        return false;
    }
    let keys = |object: ObjectId| -> HashSet<u64> {
        let fields = arena.fields(object).into_iter().flat_map(|fields| &fields.list);
        fields.filter(|field| arena.node(field.node).count() > 0).map(|field| field.hash).collect()
    };
    let mut sets = HashMap::<ObjectId, HashSet<u64>>::new();
    for &value in values {
        sets.entry(value).or_insert_with(|| keys(value));
    }
    let mut known: Vec<ObjectId> = sets.keys().copied().filter(|value| shared.contains(value)).collect();
    known.sort_by_key(|&object| (Reverse(arena.object(object).instances), object));
    known.iter().take(MAX_SHARED).all(|known| {
        let own = &sets[known];
        let like = |set: &HashSet<u64>| {
            let common = own.intersection(set).count();
            common * 2 >= own.len().min(set.len())
        };
        let others = sets.iter().filter(|(other, _)| *other != known);
        let unlike = others.clone().filter(|(_, set)| !like(set)).count();
        unlike * 10 <= others.count()
    })
}

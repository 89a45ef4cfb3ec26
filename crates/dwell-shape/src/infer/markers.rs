//! Finds unions without a tag: objects of several kinds, each with a required key that no other kind has.
//!
//! serde tries the variants of an untagged `enum` one after the other. Each has a required key of its own, its *marker*, so
//! that only one of them reads an object. The kinds may have a tag that serde does not know: a number, or a string further
//! inside.

use super::arena::{Arena, ObjectId};
use super::judge::{self, Group};
use super::study::{MARK, markers, may_lack};
use super::text::hash;
use super::values::{OBJECT, is_name, kinds, objects_below};
use foldhash::{HashMap, HashSet, HashSetExt};

/// The fewest objects of a kind, as many as show that a key is required.
const LEAST: u64 = 8;
/// The most kinds.
const MAX_KINDS: usize = 64;
/// The most keys that are tried.
const MAX_TRIALS: usize = 512;

/// The sets of keys that were not seen to have a marker yet, each with the number of objects, and the markers so far.
struct Cover<'s> {
    sets: &'s [(Vec<u64>, u64)],
    /// The number of objects with each key that may be a marker.
    counts: HashMap<u64, u64>,
    found: Vec<u64>,
    trials: usize,
}

impl Cover<'_> {
    /// Adds markers until nearly all objects have exactly one. Returns whether there are such.
    fn complete(&mut self, all: u64) -> bool {
        let open = self.sets.iter().filter(|(keys, _)| !keys.iter().any(|key| self.found.contains(key)));
        let without: u64 = open.clone().map(|(_, count)| count).sum();
        let Some((first, _)) = open.max_by_key(|(keys, count)| (count, std::cmp::Reverse(keys))) else { return true };
        if may_lack(false, without, all) {
            return true;
        }
        let is_apart = |key: &u64| {
            let mut with = self.sets.iter().filter(|(keys, _)| keys.contains(key));
            with.all(|(keys, _)| !keys.iter().any(|key| self.found.contains(key)))
        };
        let mut next: Vec<u64> =
            first.iter().copied().filter(|key| self.counts.contains_key(key) && is_apart(key)).collect();
        next.sort_unstable_by_key(|key| (std::cmp::Reverse(self.counts[key]), *key));
        for key in next {
            if self.trials == MAX_TRIALS || self.found.len() == MAX_KINDS {
                return false;
            }
            self.trials += 1;
            self.found.push(key);
            if self.complete(all) {
                return true;
            }
            self.found.pop();
        }
        false
    }
}

/// Returns the markers of these objects as a tag, if the objects are of several kinds. `is_given` means that the user said so.
pub(super) fn find(arena: &Arena, object: ObjectId, is_given: bool) -> Option<String> {
    let seen = arena.object(object);
    let fields = arena.fields(object).filter(|fields| fields.rest.is_none())?;
    let all = seen.instances;
    if seen.lengths.max < 2 || all < 2 * LEAST {
        return None;
    }
    let used: Vec<_> = fields.list.iter().filter(|field| arena.node(field.node).count() > 0).collect();
    let may_mark = |key: &str, count: u64| (LEAST..all).contains(&count) && is_name(key) && !key.contains(MARK);
    let marks = used.iter().filter(|field| {
        let node = arena.node(field.node);
        node.nulls == 0 && may_mark(&field.key, node.count())
    });
    let counts: HashMap<u64, u64> = marks.map(|field| (field.hash, arena.node(field.node).count())).collect();
    if counts.len() < 2 {
        return None;
    }
    let sets = seen.sets.list()?;
    let mut cover = Cover { sets: &sets, counts, found: Vec::new(), trials: 0 };
    if !cover.complete(all) || cover.found.len() < 2 {
        return None;
    }
    let index: HashMap<u64, usize> = used.iter().map(|field| field.hash).zip(0..).collect();
    let group = |marker: Option<u64>| {
        let is_of = |keys: &[u64]| match marker {
            Some(marker) => keys.contains(&marker),
            None => !keys.iter().any(|key| cover.found.contains(key)),
        };
        let mut group = Group { objects: 0, counts: vec![0; used.len()], word: None };
        for (keys, count) in sets.iter().filter(|(keys, _)| is_of(keys)) {
            group.objects += count;
            keys.iter().filter_map(|key| index.get(key)).for_each(|&key| group.counts[key] += count);
        }
        group
    };
    let mut groups: Vec<Group> = cover.found.iter().map(|&marker| group(Some(marker))).collect();
    // Objects under all of the keys are parts of one, each of which may be missing.
    if used.iter().filter(|field| arena.node(field.node).count() < all).all(|field| kinds(arena, field.node) == OBJECT)
        && !is_given
    {
        return None;
    }
    // Two kinds of which one has a single key are an optional key or others: `result` or `error`.
    let is_own = |at: usize, key: usize| {
        groups[at].counts[key] > 0
            && groups.iter().enumerate().all(|(other, group)| other == at || group.counts[key] == 0)
    };
    let own = |at: usize| (0..used.len()).filter(|&key| is_own(at, key)).count();
    if groups.len() == 2 && (0..2).any(|at| own(at) < 2) && !is_given {
        return None;
    }
    groups.extend(Some(group(None)).filter(|group| group.objects > 0));
    if !is_given && judge::gain(&groups, false, judge::LEAST_INSIDE).is_none() {
        return None;
    }
    // serde copies the contents of an untagged enum, once for each level of a recursive type.
    if is_recursive(arena, object) {
        return None;
    }
    let mut markers: Vec<&str> =
        used.iter().filter(|field| cover.found.contains(&field.hash)).map(|field| &*field.key).collect();
    markers.sort_unstable();
    Some(markers.into_iter().fold(String::new(), |tag, key| tag + &String::from(MARK) + key))
}

fn is_recursive(arena: &Arena, object: ObjectId) -> bool {
    let (mut open, mut seen) = (objects_below(arena, object), HashSet::new());
    while let Some(below) = open.pop() {
        if below == object {
            return true;
        }
        if seen.insert(below) {
            open.extend(objects_below(arena, below));
        }
    }
    false
}

/// Returns whether nearly all of these objects have exactly one of the markers, by their sets of keys.
pub(super) fn mark_all(tag: &str, sets: &super::sets::Sets) -> bool {
    let Some(sets) = sets.list() else { return false };
    let markers: Vec<u64> = markers(tag).map(hash).collect();
    let (mut all, mut without) = (0, 0);
    for (keys, count) in sets {
        let has = keys.iter().filter(|key| markers.contains(key)).count();
        if has > 1 {
            return false;
        }
        all += count;
        without += if has == 0 { count } else { 0 };
    }
    may_lack(false, without, all)
}

//! Decides whether the values of a key stand for types: the judge of all candidates for a tag, and of no tag.
//!
//! Without a tag, the objects are one type, and each of its keys is in some of them. With one, each value has a type of its own.
//! The judge compares the bits that say which keys the objects have: a minimum description length, which is also what a
//! prediction of further objects costs. Keys that are always together count once. A type costs bits for each key, so a value
//! that was seen once costs as much as it explains, and a tag that explains nothing loses. A value has a price: it is higher if
//! it looks like an identifier, an address or a digest.
//!
//! The types must also be worth it: they must save a share of these bits and of the slots, and few of them may be equal.

use super::text::hash;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use std::sync::OnceLock;

/// The least share of the slots of one type that a type for each value saves.
pub(super) const LEAST: f64 = 0.15;
/// The same for the objects under a key: these have a type of their own for each value.
pub(super) const LEAST_INSIDE: f64 = 0.3;
/// The least share of the bits of one type that a type for each value saves, if the key is no common tag key.
const EXPLAINED: f64 = 0.2;
/// A value with fewer objects than this part of the average does not count for what the types save.
const RARE: u64 = 10;
/// The bits of a value.
const VALUE: f64 = 2.0;
/// The further bits of a value that was seen once, if the key is no common tag key.
const ONCE: f64 = 3.0;
/// The bits of each object with a value that is wholly digits or an address.
const LOOK: f64 = 3.0;
/// The bits in favor of a common tag key, whose name says that it is one.
const USUAL: f64 = 16.0;

/// A string that may be the value of a tag.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Word {
    pub(super) hash: u64,
    /// The hash of the string without the digits at its end: that of `comp_12` and `comp_7` is one.
    stem: u64,
    /// How much it looks like an identifier or an address: 100 for no name at all.
    look: u8,
}

impl Word {
    pub(super) fn new(text: &str, whole: u64) -> Self {
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = if stem.len() == text.len() { whole } else { hash(stem) };
        Self { hash: whole, stem, look: look(text) }
    }
}

/// Returns how much a string looks like an identifier or an address. The digits of a digest are letters too, so that
/// each change between letters and digits counts.
fn look(text: &str) -> u8 {
    if text.contains("://") || text.contains('@') {
        return 100;
    }
    let bytes = text.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_change =
        |two: &&[u8]| two.iter().all(u8::is_ascii_alphanumeric) && two[0].is_ascii_digit() != two[1].is_ascii_digit();
    let changes = bytes.windows(2).filter(is_change).count();
    let odd = digits.max(if changes > 2 { changes * 2 } else { 0 }) * 100 / bytes.len().max(1);
    u8::try_from(odd.min(100)).unwrap_or(100)
}

/// The objects with one value of a candidate.
pub(super) struct Group {
    pub(super) objects: u64,
    /// The number of objects with each feature.
    pub(super) counts: Vec<u64>,
    /// The value; `None` for objects without the key.
    pub(super) word: Option<Word>,
}

/// Returns the bits that a type for each group gains over one type, if this is worth `least` of its slots.
pub(super) fn gain(groups: &[Group], usual: bool, least: f64) -> Option<f64> {
    if groups.len() < 2 || (least == LEAST_INSIDE && !have_own(groups)) {
        return None;
    }
    // A few objects beside many of one value are no second type, unless the name of the key says so.
    let all: u64 = groups.iter().map(|group| group.objects).sum();
    let rare = if usual { 0 } else { all / (RARE * groups.len() as u64) };
    let common: Vec<&Group> = groups.iter().filter(|group| group.objects >= rare).collect();
    if saved(&common) < least {
        return None;
    }
    let features = features(groups);
    let counts = |group: &Group| features.iter().map(|&feature| group.counts[feature]).collect::<Vec<u64>>();
    let one: Vec<(u64, Vec<u64>)> = groups.iter().map(|group| (group.objects, counts(group))).collect();
    let all = sum(&one);
    let without: f64 = all.1.iter().map(|&count| which(count, all.0)).sum();
    let with = bits(&one);
    // Values that differ in a number only, and tell no more than the names before it, are numbered things. Values seen once
    // tell nothing yet.
    let mut stems = HashMap::<Option<u64>, Vec<(u64, Vec<u64>)>>::new();
    for (group, counts) in groups.iter().zip(&one) {
        stems.entry(group.word.map(|word| word.stem)).or_default().push(counts.clone());
    }
    if stems.len() < groups.len() && all.0 >= 2 * groups.len() as u64 {
        let mut stems: Vec<_> = stems.into_values().map(|parts| sum(&parts)).collect();
        stems.sort_unstable();
        if bits(&stems) <= with {
            return None;
        }
    }
    let price = |group: &Group| {
        group.word.map_or(0.0, |word| {
            let look = f64::from(word.look) / 100.0;
            let single = if group.objects == 1 && !usual { ONCE } else { 0.0 };
            VALUE + single + LOOK * look * look * group.objects as f64
        })
    };
    let prices: f64 = groups.iter().map(price).sum();
    let (more, explained) = if usual { (USUAL, 0.0) } else { (0.0, EXPLAINED) };
    let gain = without - with - prices + more;
    (gain > explained * without).then_some(gain)
}

/// Returns the share of the slots of one type that a type for each group saves. Few types for many values save less.
fn saved(groups: &[&Group]) -> f64 {
    let used = |feature: &usize| groups.iter().any(|group| group.counts[*feature] > 0);
    let slots = (0..groups[0].counts.len()).filter(used).count() as u64;
    let objects: u64 = groups.iter().map(|group| group.objects).sum();
    let kinds = |group: &Group| group.counts.iter().filter(|count| **count > 0).count() as u64;
    let own: u64 = groups.iter().map(|group| group.objects * kinds(group)).sum();
    let has = |group: &&Group| group.counts.iter().map(|count| *count > 0).collect::<Vec<bool>>();
    let types = groups.iter().map(has).collect::<HashSet<_>>().len();
    let distinct = (2.0 * types as f64 / groups.len() as f64).min(1.0);
    (1.0 - own as f64 / (objects * slots).max(1) as f64) * distinct
}

/// Returns whether most objects are of a group with a key that nearly all its objects have and nearly no others. Records
/// have such keys. The annotations of a model may depend on the kind of what they annotate, but each is optional: on AWS's
/// models, types for these lose twice as many keys of held-out documents.
fn have_own(groups: &[Group]) -> bool {
    let all: u64 = groups.iter().map(|group| group.objects).sum();
    let sums: Vec<u64> =
        (0..groups[0].counts.len()).map(|feature| groups.iter().map(|group| group.counts[feature]).sum()).collect();
    let has_own = |group: &&Group| {
        let is_own = |(&count, &sum): (&u64, &u64)| {
            count * 10 >= group.objects * 9 && (sum - count) * 10 <= (all - group.objects)
        };
        group.counts.iter().zip(&sums).any(is_own)
    };
    groups.iter().filter(has_own).map(|group| group.objects).sum::<u64>() * 2 > all
}

/// Returns one feature of those that are always together, or never, and none that all or no objects have.
fn features(groups: &[Group]) -> Vec<usize> {
    // A linear hash of the counts: that of the objects without a feature is the difference.
    let factor = |index: usize| (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) | 1;
    let (mut objects, mut all) = (0u64, 0);
    let mut with = vec![(0u64, 0u64); groups[0].counts.len()];
    for (index, group) in groups.iter().enumerate() {
        let factor = factor(index).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        objects = objects.wrapping_add(group.objects.wrapping_mul(factor));
        all += group.objects;
        for (known, count) in with.iter_mut().zip(&group.counts).filter(|(_, count)| **count > 0) {
            *known = (known.0.wrapping_add(count.wrapping_mul(factor)), known.1 + count);
        }
    }
    let mut seen = HashSet::new();
    let is_new = |feature: &usize| {
        let (hash, count) = with[*feature];
        (1..all).contains(&count) && !seen.contains(&objects.wrapping_sub(hash)) && seen.insert(hash)
    };
    (0..with.len()).filter(is_new).collect()
}

fn sum(parts: &[(u64, Vec<u64>)]) -> (u64, Vec<u64>) {
    let mut all = vec![0; parts[0].1.len()];
    for (_, counts) in parts {
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    (parts.iter().map(|(objects, _)| objects).sum(), all)
}

/// Returns the bits that say which features the objects of each group have: for each group and feature, whether all, none or
/// some have it, and which of them do.
fn bits(groups: &[(u64, Vec<u64>)]) -> f64 {
    let mut kinds = [0u64; 3];
    let mut some = 0.0;
    for (objects, counts) in groups {
        for &count in counts {
            let kind = if count == 0 { 0 } else { 1 + usize::from(count < *objects) };
            kinds[kind] += 1;
            some += if kind == 2 { which(count, *objects) } else { 0.0 };
        }
    }
    let all: u64 = kinds.iter().sum();
    // The number of sequences of kinds with these counts, and of such counts.
    let sequences = factorial(all) - kinds.iter().map(|&count| factorial(count)).sum::<f64>();
    some + sequences + factorial(all + 2) - factorial(all) - 1.0
}

/// Returns the bits that say how many objects have a feature, and which of them.
fn which(count: u64, objects: u64) -> f64 {
    let choices = factorial(objects) - factorial(count) - factorial(objects.saturating_sub(count));
    choices + ((objects + 1) as f64).log2()
}

/// Returns the binary logarithm of a factorial.
fn factorial(whole: u64) -> f64 {
    static SMALL: OnceLock<Vec<f64>> = OnceLock::new();
    let small = SMALL.get_or_init(|| {
        let mut sum = 0.0;
        let next = |number: u32| {
            sum += f64::from(number.max(1)).log2();
            sum
        };
        (0..4096).map(next).collect()
    });
    let stirling = || {
        let number = whole as f64;
        (number * number.ln() - number + 0.5 * (std::f64::consts::TAU * number).ln() + 1.0 / (12.0 * number))
            / std::f64::consts::LN_2
    };
    usize::try_from(whole).ok().and_then(|index| small.get(index)).copied().unwrap_or_else(stirling)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the groups of objects, each a value and its keys.
    fn groups(objects: &[(&str, &[usize])], keys: usize) -> Vec<Group> {
        let mut found: Vec<(&str, Group)> = Vec::new();
        for &(value, counts) in objects {
            let at = found.iter().position(|(known, _)| *known == value).unwrap_or_else(|| {
                let word = Some(Word::new(value, hash(value)));
                found.push((value, Group { objects: 0, counts: vec![0; keys], word }));
                found.len() - 1
            });
            found[at].1.objects += 1;
            for &key in counts {
                found[at].1.counts[key] += 1;
            }
        }
        found.into_iter().map(|(_, group)| group).collect()
    }

    #[test]
    fn few_objects_and_identifiers_are_no_evidence() {
        let verdict = |value: [&'static str; 2], times: usize| {
            let one: [(&str, &[usize]); 2] = [(value[0], &[0, 1, 2]), (value[1], &[0, 3, 4])];
            gain(&groups(&one.repeat(times), 5), false, LEAST)
        };
        // Two objects of two kinds may be anything; many of each are two types, if the values are names.
        assert_eq!(verdict(["cat", "dog"], 1), None);
        assert!(verdict(["cat", "dog"], 20) < verdict(["cat", "dog"], 200));
        assert!(verdict(["cat", "dog"], 20) > Some(5.0));
        for ids in [["U01", "W02"], ["https://a", "https://b"], ["a1f94c08", "b21e9d3f"], ["item_1", "item_2"]] {
            assert!(verdict(ids, 20) < verdict(["cat", "dog"], 20), "{ids:?}");
        }
        assert_eq!([verdict(["U01", "W02"], 20), verdict(["https://a", "https://b"], 20)], [None, None]);
    }

    #[test]
    fn numbers_at_the_end_stand_for_types_only_if_these_differ() {
        let names: Vec<String> = (0..6).flat_map(|n| [format!("comp_{n}"), format!("image_{n}")]).collect();
        let keys: [&[usize]; 2] = [&[0, 1], &[2, 3, 4]];
        let equal: Vec<(&str, &[usize])> =
            names.iter().zip(keys.iter().cycle()).map(|(name, keys)| (&**name, *keys)).collect();
        assert_eq!(gain(&groups(&equal.repeat(10), 5), false, LEAST), None);
        let own: Vec<[usize; 2]> = (0..12).map(|n| [2 * n, 2 * n + 1]).collect();
        let apart: Vec<(&str, &[usize])> = names.iter().zip(&own).map(|(name, keys)| (&**name, &keys[..])).collect();
        assert!(gain(&groups(&apart.repeat(3), 24), false, LEAST).is_some());
    }

    #[test]
    fn logarithms_of_factorials_continue() {
        assert!((factorial(5) - 120f64.log2()).abs() < 1e-9 && factorial(0) == 0.0);
        assert!((factorial(4096) - factorial(4095) - 12.0).abs() < 1e-6);
    }
}

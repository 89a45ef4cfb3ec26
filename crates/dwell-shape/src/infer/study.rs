//! Finds the tag of a union: the key whose value distinguishes the objects of a node.
//!
//! A tag is a key of every object. Its value is a string of a closed set, and the set of the other keys depends on it.
//! [`judge`] weighs each candidate, and no tag at all: it counts the bits that tell which keys each object has, and the
//! slots of the types.
//!
//! A common tag key, such as `type`, may also determine the JSON types of the values of other keys, as in `GeoJSON`'s
//! `coordinates`. A few objects may lack it: `{}` beside the nodes of a syntax tree.

use super::judge::{self, Group, Word};
use super::text::Room;
use foldhash::HashSet;
use std::collections::{BTreeMap, HashMap};

/// The most values of a tag.
pub(super) const MAX_VARIANTS: usize = super::text::MAX_WORDS;
/// The most values of a key that is no common tag key while each occurs less than twice on average.
const MAX_ONCE: usize = 256;
/// The most candidates that are counted. Keys whose strings are not a closed set drop out after a few hundred objects.
const MAX_CANDIDATES: usize = 256;
/// The most objects that are counted; more do not change the result.
const MAX_OBJECTS: u64 = 20_000;
/// The most keys of an object in a study, as many as a record may have. A larger object ends the study without a tag.
const MAX_KEYS: usize = 1024;
/// The number of objects after which a study without candidates ends without a tag.
const MIN_OBJECTS: u64 = 256;
/// The most distinct keys, and types of their values, of a record that is studied.
const MAX_ALL: usize = 8192;
/// Codes for the JSON types that a tag may determine. An array has the code of its first element plus `ARRAY`.
pub(super) mod mark {
    /// `null`, an empty array, or unknown.
    pub(in super::super) const NONE: u8 = 0;
    pub(in super::super) const BOOL: u8 = 1;
    pub(in super::super) const NUMBER: u8 = 2;
    pub(in super::super) const TEXT: u8 = 3;
    pub(in super::super) const OBJECT: u8 = 4;
    /// An object with a common tag key.
    pub(in super::super) const TAGGED: u8 = 5;
    /// Added once for each array around the value.
    pub(in super::super) const ARRAY: u8 = 8;
}

/// Counts of keys for each value of each candidate.
#[derive(Default, Clone)]
pub(super) struct Study {
    objects: u64,
    /// The keys, and the types of their values.
    own: Features<(u64, u8)>,
    /// The keys of the objects under a key: the hash of the outer key, and that of the inner one.
    inner: Features<(u64, u64)>,
    /// Whether the keys of the objects under a key are not counted, since the memory for them was used up.
    is_shallow: bool,
    /// Whether the study ended without a tag.
    given_up: bool,
    /// The candidates by the hashes of their keys, with the counts for each of their values.
    candidates: BTreeMap<u64, Values>,
}

/// What an object may have, with the number of objects that have it.
#[derive(Clone)]
struct Features<K> {
    /// The index of each feature in [`Self::all`] and in the counts of each value.
    index: HashMap<K, usize, foldhash::fast::FixedState>,
    all: Vec<(K, u64)>,
}

impl<K> Default for Features<K> {
    fn default() -> Self {
        Self { index: HashMap::default(), all: Vec::new() }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Features<K> {
    /// Adds to the count of a feature, and returns its index.
    fn add(&mut self, feature: K, count: u64) -> usize {
        let index = *self.index.entry(feature).or_insert_with(|| {
            self.all.push((feature, 0));
            self.all.len() - 1
        });
        self.all[index].1 += count;
        index
    }

    fn count(&self, feature: K) -> u64 {
        self.index.get(&feature).map_or(0, |&index| self.all[index].1)
    }

    /// Returns the bytes of this number of features.
    fn bytes(count: usize) -> usize {
        count * 2 * size_of::<(K, u64)>()
    }
}

#[derive(Default, Clone)]
struct Values {
    counts: BTreeMap<u64, Seen>,
    /// Whether the key is a common tag key.
    usual: bool,
    /// The number of objects without the key.
    missing: u64,
    /// The number of objects with a value that is no string.
    odd: u64,
}

/// The hash of a key, and the type code of its value; 0 for any type.
type Feature = (u64, u8);

#[derive(Default, Clone)]
struct Seen {
    objects: u64,
    /// The value.
    word: Word,
    /// The number of objects with each feature of [`Study::own`], by its index.
    own: Counts,
    /// The number of objects with each feature of [`Study::inner`].
    inner: Counts,
}

/// Counts by the index of a feature; 0 beyond the end.
#[derive(Default, Clone)]
struct Counts(Vec<u32>);

impl Counts {
    fn count(&self, feature: usize) -> u64 {
        self.0.get(feature).copied().map_or(0, u64::from)
    }

    /// Adds to a count. Returns the bytes that this takes.
    fn add(&mut self, feature: usize, count: u32) -> usize {
        let before = self.0.capacity();
        if self.0.len() <= feature {
            self.0.resize(feature + 1, 0);
        }
        self.0[feature] += count;
        (self.0.capacity() - before) * size_of::<u32>()
    }

    /// Adds the counts of another study, whose features have these indices here.
    fn merge(&mut self, other: &Self, indices: &[usize]) {
        for (&feature, &count) in indices.iter().zip(&other.0).filter(|(_, count)| **count > 0) {
            self.add(feature, count);
        }
    }
}

/// A tag that distinguishes the objects of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The key.
    pub(super) key: String,
    /// The hashes of the keys under which the objects of different variants have objects with different keys.
    pub(super) contents: Vec<u64>,
}

impl Study {
    /// Counts an object that was just read, and takes the memory for it from `room`. `words` are its keys whose value
    /// may be a tag's: the key, its hash, and the hash of the string. `inner` are the keys of the objects in it, each
    /// after the key of the object; the memory for them comes from `inner_room`.
    pub(super) fn count(
        &mut self,
        words: &[(&str, u64, Word)],
        keys: &[u64],
        marks: &[Feature],
        inner: &[(u64, u64)],
        room: &mut Room,
        inner_room: &mut Room,
    ) {
        if self.objects >= MAX_OBJECTS || self.given_up {
            return;
        }
        let none = self.candidates.is_empty() && self.objects >= MIN_OBJECTS;
        if none || keys.len() > MAX_KEYS || self.own.all.len() > MAX_ALL || room.is_used_up() {
            *self = Self { objects: self.objects, given_up: true, ..Self::default() };
            return;
        }
        if self.objects == 0 {
            // Sorted, so that the choice does not depend on the order of the keys.
            let mut candidates = words.to_vec();
            candidates.sort_by_key(|&(key, ..)| (!is_usual(key), key));
            let candidates = candidates.iter().take(MAX_CANDIDATES);
            self.candidates = candidates.map(|&(key, hash, _)| (hash, Values::new(is_usual(key), 0))).collect();
        } else {
            // The objects before this one lacked these keys.
            for &(key, hash, _) in words {
                let (had, texts) = (self.own.count((hash, 0)), self.own.count((hash, mark::TEXT)));
                if (self.objects == 1 && texts == 0) || (is_usual(key) && had == 0) {
                    let new = Values { odd: had, ..Values::new(is_usual(key), self.objects - had) };
                    self.candidates.entry(hash).or_insert(new);
                }
            }
        }
        if inner_room.is_used_up() && !inner.is_empty() {
            self.make_shallow();
        }
        self.objects += 1;
        let (before, inner_before) = (self.own.all.len(), self.inner.all.len());
        let own = keys.iter().map(|&key| (key, 0)).chain(marks.iter().copied());
        let own: Vec<usize> = own.map(|feature| self.own.add(feature, 1)).collect();
        let is_full = self.inner.all.len() > MAX_ALL;
        let inner = if self.is_shallow { &[] } else { inner };
        let known = inner.iter().filter(|feature| !is_full || self.inner.index.contains_key(feature));
        let known: Vec<(u64, u64)> = known.copied().collect();
        let inner: Vec<usize> = known.into_iter().map(|feature| self.inner.add(feature, 1)).collect();
        room.take(Features::<Feature>::bytes(self.own.all.len() - before));
        inner_room.take(Features::<(u64, u64)>::bytes(self.inner.all.len() - inner_before));
        let words: HashMap<u64, Word, foldhash::fast::FixedState> =
            words.iter().map(|&(_, hash, word)| (hash, word)).collect();
        self.candidates.retain(|candidate, values| {
            let Some(&word) = words.get(candidate) else {
                let has = keys.contains(candidate);
                *(if has { &mut values.odd } else { &mut values.missing }) += 1;
                // A string that is no name is text.
                return !marks.contains(&(*candidate, mark::TEXT)) && values.may_be_tag(self.objects);
            };
            let seen = values.counts.entry(word.hash).or_default();
            (seen.objects, seen.word) = (seen.objects + 1, word);
            for &feature in &own {
                room.take(seen.own.add(feature, 1));
            }
            for &feature in &inner {
                inner_room.take(seen.inner.add(feature, 1));
            }
            values.are_few(self.objects)
        });
    }

    /// Drops the counts of the keys of the objects under a key, and counts them no more.
    fn make_shallow(&mut self) {
        if !std::mem::replace(&mut self.is_shallow, true) {
            self.inner = Features::default();
            let values = self.candidates.values_mut().flat_map(|values| values.counts.values_mut());
            values.for_each(|seen| seen.inner = Counts::default());
        }
    }

    /// Returns whether a common tag key may distinguish the objects, each kind of which has keys of its own.
    pub(super) fn may_have_kinds(&self) -> bool {
        self.candidates.values().any(|values| values.usual && values.counts.len() > 1)
    }

    /// Returns whether nearly all objects have a common tag key with several strings. The keys of such objects are no data,
    /// though a small sample may have too few objects of each kind to show the tag.
    pub(super) fn has_usual_key(&self) -> bool {
        let is = |values: &Values| {
            values.usual && values.counts.len() > 1 && lacks_few(values.missing + values.odd, self.objects)
        };
        self.candidates.values().any(is)
    }

    /// Returns a predicate for the hashes of the keys of objects with this value of the tag, if they are known.
    pub(super) fn keys_of(&self, tag: u64, value: u64) -> Option<impl Fn(u64) -> bool> {
        let seen = self.candidates.get(&tag)?.counts.get(&value)?;
        Some(|key| self.own.index.get(&(key, 0)).is_some_and(|&feature| seen.own.count(feature) > 0))
    }

    /// Returns a predicate for the hashes of the keys of objects without this tag.
    pub(super) fn keys_without(&self, tag: u64) -> Option<impl Fn(u64) -> bool> {
        let values = self.candidates.get(&tag)?;
        Some(move |key| {
            let Some(&feature) = self.own.index.get(&(key, 0)) else { return false };
            self.own.all[feature].1 > values.counts.values().map(|seen| seen.own.count(feature)).sum::<u64>()
        })
    }

    /// Returns whether objects with this value of the tag have a tagged object, or an array of these, under a key.
    pub(super) fn has_tagged(&self, tag: u64, value: u64, key: u64) -> bool {
        let Some(seen) = self.candidates.get(&tag).and_then(|values| values.counts.get(&value)) else { return false };
        let is_tagged = |mark: u8| mark % mark::ARRAY == mark::TAGGED;
        let features = seen.own.0.iter().zip(&self.own.all).filter(|(count, _)| **count > 0);
        features
            .map(|(_, (feature, _))| feature)
            .any(|&(feature_key, mark)| feature_key == key && mark > 0 && is_tagged(mark))
    }

    /// Returns whether the study ended without a tag.
    pub(super) fn has_ended(&self) -> bool {
        self.given_up
    }

    /// Adds the counts of another position.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.objects == 0 {
            return;
        }
        if self.objects == 0 {
            *self = other.clone();
            return;
        }
        if self.given_up || other.given_up {
            *self = Self { objects: self.objects + other.objects, given_up: true, ..Self::default() };
            return;
        }
        for (&key, values) in &other.candidates {
            if (values.usual || lacks_few(self.objects, other.objects)) && self.own.count((key, 0)) == 0 {
                self.candidates.entry(key).or_insert(Values::new(values.usual, self.objects));
            }
        }
        self.objects += other.objects;
        let own: Vec<usize> = other.own.all.iter().map(|&(feature, count)| self.own.add(feature, count)).collect();
        if other.is_shallow {
            self.make_shallow();
        }
        let more = if self.is_shallow { &[][..] } else { &other.inner.all[..] };
        let inner: Vec<usize> = more.iter().map(|&(feature, count)| self.inner.add(feature, count)).collect();
        self.candidates.retain(|key, values| {
            let Some(more) = other.candidates.get(key) else {
                values.missing += other.objects;
                return other.own.count((*key, 0)) == 0 && values.may_be_tag(self.objects);
            };
            (values.missing, values.odd) = (values.missing + more.missing, values.odd + more.odd);
            for (value, more) in &more.counts {
                let seen = values.counts.entry(*value).or_default();
                (seen.objects, seen.word) = (seen.objects + more.objects, more.word);
                seen.own.merge(&more.own, &own);
                seen.inner.merge(&more.inner, &inner);
            }
            values.are_few(self.objects)
        });
    }

    /// Returns the tags that these objects may have, best first.
    pub(super) fn tags(&self, key_of: impl Fn(u64) -> Option<String>) -> Vec<Found> {
        let mut found: Vec<(f64, Found)> = Vec::new();
        for (&hash, values) in &self.candidates {
            let Some(key) = key_of(hash) else { continue };
            let usual = is_usual(&key);
            if let Some((gain, contents)) = self.gain(hash, values, usual) {
                found.push((gain, Found { key, contents }));
            }
        }
        // A common tag key says that it is one, so no object more or less makes `name` the tag beside `type`. Equal gains are rare;
        // the name makes the result independent of the order.
        found.sort_by(|(left, one), (right, other)| {
            let by_gain = right.total_cmp(left).then_with(|| one.key.cmp(&other.key));
            is_usual(&other.key).cmp(&is_usual(&one.key)).then(by_gain)
        });
        found.into_iter().map(|(_, tag)| tag).collect()
    }

    /// Returns the objects with each value of a tag, and those without, if these are few.
    fn groups_of(&self, tag: u64, values: &Values, usual: bool) -> Option<Vec<Group>> {
        let objects = values.counts.values().map(|seen| seen.objects).sum::<u64>();
        let without = self.objects.saturating_sub(objects);
        // A key that many objects lack does not distinguish them.
        if values.counts.len() < 2 || !may_lack(usual, without, self.objects) {
            return None;
        }
        let own = self.features_of(tag, values, objects, usual);
        let mut groups = values.groups(&own, |seen| seen.objects, |seen| &seen.own);
        if without > 0 {
            let all = own.iter().enumerate().map(|(index, &feature)| {
                self.own.all[feature].1.saturating_sub(groups.iter().map(|group| group.counts[index]).sum::<u64>())
            });
            groups.push(Group { objects: without, counts: all.collect(), word: None });
        }
        Some(groups)
    }

    /// Returns what a tag gains, if it is worth a type for each value, with the keys whose objects depend on it.
    fn gain(&self, tag: u64, values: &Values, usual: bool) -> Option<(f64, Vec<u64>)> {
        let groups = self.groups_of(tag, values, usual)?;
        let mut gain = judge::gain(&groups, usual, judge::LEAST);
        // The objects under one key may depend on the tag too.
        let mut contents: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, &((outer, _), _)) in self.inner.all.iter().enumerate() {
            contents.entry(outer).or_default().push(index);
        }
        let mut found = Vec::new();
        for (outer, mut inner) in contents.into_iter().filter(|(outer, _)| *outer != tag) {
            inner.retain(|&feature| values.counts.values().any(|seen| seen.inner.count(feature) > 0));
            inner.sort_unstable_by_key(|&feature| self.inner.all[feature].0);
            let objects = self.objects_under(outer);
            // Objects with a tag of their own are a union, such as the expressions of a syntax tree.
            let tagged = objects.iter().filter(|&&feature| self.own.all[feature].0.1 % mark::ARRAY == mark::TAGGED);
            let tagged: u64 = tagged.map(|&feature| self.own.all[feature].1).sum();
            if tagged * 2 > objects.iter().map(|&feature| self.own.all[feature].1).sum::<u64>() {
                continue;
            }
            let count = |seen: &Seen| objects.iter().map(|&feature| seen.own.count(feature)).sum::<u64>();
            let mut groups = values.groups(&inner, count, |seen| &seen.inner);
            groups.retain(|group| group.objects > 0);
            if let Some(more) = judge::gain(&groups, usual, judge::LEAST_INSIDE) {
                gain = Some(gain.unwrap_or(0.0) + more);
                found.push(outer);
            }
        }
        gain.map(|gain| (gain, found))
    }

    /// Returns the features of an object that has objects under this key, at least one of which it has then.
    fn objects_under(&self, key: u64) -> Vec<usize> {
        let features = self.own.all.iter().zip(0..);
        let is_object = |code: u8| matches!(code % mark::ARRAY, mark::OBJECT | mark::TAGGED);
        features
            .filter(|(((feature_key, code), _), _)| *feature_key == key && is_object(*code))
            .map(|(_, index)| index)
            .collect()
    }

    /// Returns the features other than the tag that the objects differ in. The type of a value is a feature only for a
    /// common tag key, and if the value is always present. The last object of a text may lack it, since the sample ends
    /// in the middle of a text. If there is only one other key, the contents of an adjacently tagged enum, then variants
    /// without contents lack it.
    fn features_of(&self, tag: u64, values: &Values, objects: u64, usual: bool) -> Vec<usize> {
        let with = |feature: usize| values.counts.values().map(move |seen| seen.own.count(feature));
        let is_all = |objects: u64, with: u64| {
            let without = objects.saturating_sub(with);
            without == 0 || (objects >= 8 && without * 100 <= objects.max(100))
        };
        let is_adjacent = self.own.all.iter().filter(|((_, mark), _)| *mark == 0).count() == 2;
        let is_always = |feature: usize| {
            let of_variant = |seen: &Seen| {
                let with = seen.own.count(feature);
                with == 0 || is_all(seen.objects, with)
            };
            is_all(objects, with(feature).sum()) || (is_adjacent && values.counts.values().all(of_variant))
        };
        let always: HashSet<u64> = (0..)
            .zip(&self.own.all)
            .filter(|&(feature, ((_, mark), _))| *mark == 0 && usual && is_always(feature))
            .map(|(_, &((key, _), _))| key)
            .collect();
        let mut features: Vec<(Feature, usize)> = self.own.all.iter().map(|&(feature, _)| feature).zip(0..).collect();
        features.retain(|&((key, mark), feature)| {
            let is_kind = mark == 0 || (always.contains(&key) && self.own.all[feature].1 < self.own.count((key, 0)));
            key != tag && is_kind && with(feature).any(|count| count > 0)
        });
        // Sums of fractions depend on the order.
        features.sort_unstable();
        features.into_iter().map(|(_, feature)| feature).collect()
    }
}

/// Of this number of objects, one may lack a tag, or have another value than a string under its key. A limit of none would flip
/// by one object.
const FEW: u64 = 16;

/// Returns whether so few objects lack a key that it may be a tag.
fn lacks_few(without: u64, all: u64) -> bool {
    without * FEW <= all
}

/// Returns whether so few objects lack a key that it may be a tag; of a common tag key, up to a quarter may.
pub(super) fn may_lack(usual: bool, without: u64, all: u64) -> bool {
    lacks_few(without, all) || (usual && without * 4 <= all)
}

/// Returns whether so few objects have another value than a string under a tag that they are exceptions.
pub(super) fn are_odd(odd: u64, all: u64) -> bool {
    odd == 0 || lacks_few(odd, all)
}

/// In place of a tag, a union has its markers, each after this character; see [`super::markers`].
pub(super) const MARK: char = '\0';

/// Returns whether a tag stands for the markers of a union without a tag.
pub(super) fn has_markers(tag: &str) -> bool {
    tag.starts_with(MARK)
}

/// Returns the markers.
pub(super) fn markers(tag: &str) -> impl Iterator<Item = &str> {
    tag.split(MARK).skip(1)
}

/// Returns whether a key is a common tag key of JSON formats.
pub(super) fn is_usual(key: &str) -> bool {
    let key = key.trim_start_matches(['@', '$', '_', '#']);
    // Nearly all keys are longer or have other letters.
    if key.len() > 14 {
        return false;
    }
    let key = key.replace(['_', '-'], "").to_ascii_lowercase();
    let names = |noun: &str| {
        matches!(
            noun,
            "" | "node"
                | "resource"
                | "object"
                | "record"
                | "event"
                | "message"
                | "entity"
                | "block"
                | "element"
                | "shape"
        )
    };
    matches!(key.as_str(), "tag" | "t" | "op" | "typename" | "event" | "variant")
        || key.strip_suffix("type").or(key.strip_suffix("kind")).is_some_and(names)
}

impl Values {
    fn new(usual: bool, missing: u64) -> Self {
        Self { usual, missing, ..Self::default() }
    }

    /// Returns whether the values are few enough, after this number of objects.
    fn are_few(&self, objects: u64) -> bool {
        let values = self.counts.len();
        values <= MAX_ONCE || (values <= MAX_VARIANTS && (self.usual || values as u64 * 2 <= objects))
    }

    /// Returns whether the key may still be a tag, after this number of objects: one exception more is allowed.
    fn may_be_tag(&self, objects: u64) -> bool {
        let missing = if self.usual { 0 } else { self.missing };
        (missing + self.odd).saturating_sub(1) * FEW <= objects
    }

    /// Returns the objects with each value of the tag: their number, and how many have each of these features.
    fn groups<'a>(
        &'a self,
        features: &[usize],
        objects: impl Fn(&'a Seen) -> u64,
        counts: impl Fn(&'a Seen) -> &'a Counts,
    ) -> Vec<Group> {
        let group = |seen: &'a Seen| Group {
            objects: objects(seen),
            counts: features.iter().map(|&feature| counts(seen).count(feature)).collect(),
            word: Some(seen.word),
        };
        self.counts.values().map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn study_ends_when_its_memory_is_used_up() {
        let (mut study, mut room) = (Study::default(), Room::new(100_000));
        for object in 0..1000 {
            let word = |hash| Word::new("", hash);
            let words: Vec<_> = (0..12).map(|key| ("key", key, word(object * (key + 7) % 200))).collect();
            let keys: Vec<u64> = (0..12).chain((0..40).map(|key| 100 + (object + key) % 200)).collect();
            study.count(&words, &keys, &[], &[], &mut room, &mut Room::new(0));
        }
        assert!(room.is_used_up() && study.given_up && study.candidates.is_empty() && study.own.all.is_empty());
        assert!(study.objects > 20, "{}", study.objects);
    }

    #[test]
    fn inner_keys_take_none_of_the_memory_for_strings() {
        let (mut study, mut room, mut inner_room) = (Study::default(), Room::new(1 << 20), Room::new(20_000));
        for object in 0..1000u64 {
            // The keys under key 1 depend on the tag, and others are always new.
            let words = [("type", 0, Word::new("", object % 4))];
            let inner: Vec<(u64, u64)> =
                (0..4).map(|key| (1, object % 4 * 4 + key)).chain([(1, 100 + object)]).collect();
            study.count(&words, &[0, 1], &[(1, mark::OBJECT)], &inner, &mut room, &mut inner_room);
            if object == 100 {
                let found = study.tags(|_| Some("type".to_owned()));
                assert_eq!(found, [Found { key: "type".to_owned(), contents: vec![1] }]);
            }
        }
        assert!(inner_room.is_used_up() && study.is_shallow && !room.is_used_up() && !study.given_up);
        assert!(study.inner.all.is_empty());
        let seen = &study.candidates[&0].counts;
        assert!(seen.len() == 4 && seen.values().all(|seen| seen.objects == 250 && seen.inner.0.is_empty()));
        // A part without these counts leaves them out of the whole.
        let mut whole = Study::default();
        let inner = [(1, 7)];
        whole.count(
            &[("type", 0, Word::default())],
            &[0, 1],
            &[(1, mark::OBJECT)],
            &inner,
            &mut room,
            &mut Room::new(20_000),
        );
        whole.merge(&study);
        assert!(whole.is_shallow && whole.inner.all.is_empty() && whole.objects == 1001);
    }
}

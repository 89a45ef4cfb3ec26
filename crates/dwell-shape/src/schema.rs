//! The schema: the result of inference, and the input of prediction, code generation and report.
//!
//! A [`Schema`] is a graph of types with counts. A [`Slot`] has the counts of one position of a type: a record's field,
//! or the element of a sequence. A [`Record`] that several slots share has their sum.

use super::formats::{Format, Typed};
use super::style::Style;
use super::types::{Layouts, Type};
use dwell_model::{blocks, table};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An index into [`Schema::records`].
pub type RecordId = usize;
/// An index into [`Schema::unions`].
pub type UnionId = usize;
/// An index into [`Schema::keywords`].
pub type KeywordsId = usize;

/// The types and counts that were inferred from a corpus.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Schema {
    /// The number of JSON texts read: files, and lines of JSON Lines.
    pub documents: u64,
    /// The number of bytes of JSON read, after decompression.
    pub bytes: u64,
    /// The position of one document; its `count` is `documents`.
    pub root: Slot,
    /// Objects with a fixed set of keys, one record for each shape.
    pub records: Vec<Record>,
    /// Records distinguished by the value of one key.
    pub unions: Vec<Union>,
    /// Closed sets of strings.
    pub keywords: Vec<Keywords>,
    /// Whether enums are closed: the types refuse strings that the data does not have.
    #[serde(skip)]
    pub strict: bool,
    /// The unions without a variant for other values, if not `strict`.
    #[serde(skip)]
    pub closed_unions: BTreeSet<UnionId>,
    /// The enums of strings without one.
    #[serde(skip)]
    pub closed_keywords: BTreeSet<usize>,
    /// The formats whose strings get types of other crates.
    #[serde(skip)]
    pub typed: Typed,
    /// Whether the types refuse unknown keys.
    #[serde(skip)]
    pub refuse: bool,
    /// The enum of the types of all documents, if these are several.
    #[serde(skip)]
    pub roots: Option<UnionId>,
    /// How the types are written.
    #[serde(skip)]
    pub style: Style,
}

/// The largest whole number up to which an `f64` holds all of them.
pub const MOST_IN_F64: u64 = 1 << 53;

/// The fewest objects that show which keys are required, and the fewest values that show their JSON type.
pub(crate) const ENOUGH: u64 = 8;
/// The fewest texts of a corpus that is taken as a sample. A smaller corpus is taken to be complete.
pub(crate) const MIN_TEXTS: u64 = 5;

impl Schema {
    /// Returns whether numbers of which some have a fraction are `serde_json::Number`s. An `f64` of 8 bytes holds the same
    /// numbers, unless a whole one is beyond 2^53 or must be written back to the letter.
    pub fn needs_number(whole: u64, wide: bool) -> bool {
        whole > 0 && wide
    }

    /// Returns the unions whose variant for unknown tags holds no value. These unions contain themselves at any depth,
    /// and serde would copy such a value once for each level of nesting. Unions that have objects without a tag are
    /// left out: serde copies these objects in any case.
    pub fn unions_with_unit_other(&self) -> BTreeSet<UnionId> {
        let is_within = |&union: &UnionId| {
            let (mut records, mut unions) = (BTreeSet::new(), BTreeSet::new());
            let mut next: Vec<RecordId> = self.unions[union].variants.iter().map(|&(_, record)| record).collect();
            while let Some(record) = next.pop() {
                if !records.insert(record) {
                    continue;
                }
                for field in &self.records[record].fields {
                    field.slot.kind.walk(&mut |kind| match kind {
                        Kind::Record { id, .. } => next.push(*id),
                        Kind::Union { id } if unions.insert(*id) => {
                            next.extend(self.unions[*id].variants.iter().map(|&(_, record)| record));
                        }
                        _ => {}
                    });
                }
            }
            // Only a union with a tag has a variant `other`.
            let declared = &self.unions[union];
            !declared.untagged
                && !matches!(declared.form, Tagging::External | Tagging::Untagged)
                && unions.contains(&union)
        };
        (0..self.unions.len()).filter(is_within).collect()
    }

    /// Returns whether a key may be missing: some objects lack it, or too few objects have it to require it.
    pub fn is_optional(&self, record: &Record, field: &Field) -> bool {
        !record.is_variant && (field.slot.count < record.instances || self.may_lack(record, field))
    }

    /// Returns whether a key that all objects have is optional nevertheless, because the objects are too few.
    pub fn may_lack(&self, record: &Record, field: &Field) -> bool {
        // A field that may be `null` accepts a missing key already.
        let is_key = !record.is_variant && field.slot.nulls == 0 && !field.rest && field.slot.count == record.instances;
        is_key && !self.strict && self.documents >= MIN_TEXTS && record.instances < ENOUGH
    }

    /// Returns whether a position accepts values of JSON types that the data does not have there.
    pub fn is_open(&self, slot: &Slot) -> bool {
        !self.strict && slot.open.is_some()
    }

    /// Returns the format of the strings, if they get a type of another crate.
    pub fn format(&self, text: &Text) -> Option<Format> {
        text.format.filter(|&format| self.typed.has(format))
    }

    /// Returns whether a record, union or enum has this name.
    pub fn has_type(&self, name: &str) -> bool {
        self.records.iter().any(|record| record.name == name)
            || self.unions.iter().any(|union| union.name == name)
            || self.keywords.iter().any(|set| set.name == name)
    }

    /// Returns whether a union has no variant for other values.
    pub fn is_closed_union(&self, id: UnionId) -> bool {
        self.strict || self.closed_unions.contains(&id)
    }

    /// Returns whether an enum of strings has no variant for other strings.
    pub fn is_closed_enum(&self, id: usize) -> bool {
        self.strict || self.closed_keywords.contains(&id)
    }

    /// Makes these enums of strings plain strings.
    pub fn drop_keywords(&mut self, gone: &foldhash::HashSet<KeywordsId>) {
        self.each_kind(&mut |kind| {
            if let Kind::Keyword { id, text } = kind {
                if gone.contains(id) {
                    *kind = Kind::Text(std::mem::take(text));
                } else {
                    *id -= gone.iter().filter(|lost| **lost < *id).count();
                }
            }
        });
        let mut index = 0..;
        self.keywords.retain(|_| index.next().is_some_and(|id| !gone.contains(&id)));
    }

    /// Orders the variants of unions by their tags, not by their counts, which change with the data.
    pub fn sort_variants(&mut self) {
        for union in &mut self.unions {
            let tagged = union.variants.len() - usize::from(union.untagged);
            union.variants[..tagged].sort();
        }
    }

    /// Adds to each record a map for unknown keys.
    pub fn keep_unknown_keys(&mut self) {
        // The keys beside an adjacent tag belong to no variant, so the variants become records.
        for union in self.unions.iter_mut().filter(|union| matches!(union.form, Tagging::Adjacent(_))) {
            union.form = Tagging::Internal;
            union.variants.iter().for_each(|&(_, record)| self.records[record].is_variant = false);
        }
        for record in &mut self.records {
            if !record.is_variant && !record.fields.iter().any(|field| field.rest) {
                let lengths = Lengths { count: record.instances, empty: record.instances, ..Lengths::default() };
                let kind = Kind::Map(Box::new(Map { lengths, ..Map::default() }));
                let slot = Slot { count: record.instances, kind, ..Slot::default() };
                record.fields.push(Field { key: String::new(), slot, rest: true });
            }
        }
    }
}

/// A position that holds values, with their counts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Slot {
    /// The number of values, including `null`.
    pub count: u64,
    /// The number of `null`s.
    pub nulls: u64,
    /// The type of the values other than `null`.
    pub kind: Kind,
    /// Why the position accepts other JSON types, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
}

/// Why a position accepts JSON types that the data does not have there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Open {
    /// The position has few values.
    Few,
    /// Nearly all fields of the record have one JSON type, and some of these fields have other types as well.
    Siblings,
}

impl Slot {
    /// Calls `f` with the kind of this position and those of the positions inside it.
    pub(crate) fn walk_mut(&mut self, f: &mut impl FnMut(&mut Kind)) {
        f(&mut self.kind);
        match &mut self.kind {
            Kind::Seq(seq) => seq.element.walk_mut(f),
            Kind::Map(map) => map.value.walk_mut(f),
            Kind::Tuple { positions: slots } | Kind::Mixed { alternatives: slots } => {
                for slot in slots {
                    slot.walk_mut(f);
                }
            }
            _ => {}
        }
    }
}

/// The type of a slot's values other than `null`.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// Only `null` was seen, or all sequences around the position are empty.
    #[default]
    Never,
    /// `true` and `false`.
    Bool {
        /// The number of `true`s.
        trues: u64,
    },
    /// Integers.
    Integer {
        /// The smallest value.
        min: i128,
        /// The largest value.
        max: i128,
    },
    /// Numbers of which at least one has a fraction or an exponent, or does not fit in 64 bits.
    Float {
        /// The number of values without a fraction, which an `f64` writes back with a `.0`.
        whole: u64,
        /// The number of whole numbers that do not fit in 64 bits; an `f64` keeps about 17 digits of them.
        huge: u64,
        /// Whether a whole number within 64 bits is beyond 2^53, so that an `f64` may be another number.
        wide: bool,
    },
    /// Strings.
    Text(Text),
    /// One of a closed set of strings.
    Keyword {
        /// The set.
        id: KeywordsId,
        /// The counts of the strings.
        text: Text,
    },
    /// An object with a fixed set of keys.
    Record {
        /// The record.
        id: RecordId,
        /// The number of `{}`s.
        empty: u64,
    },
    /// One of several records, distinguished by a tag.
    Union {
        /// The union.
        id: UnionId,
    },
    /// An object whose keys are data.
    Map(Box<Map>),
    /// An array of one type.
    Seq(Box<Seq>),
    /// Arrays of one length whose positions differ in type.
    Tuple {
        /// The positions in order; each has a `count` of the number of tuples.
        positions: Vec<Slot>,
    },
    /// Values of several JSON types: at least two, in the order in which an untagged enum must try them.
    Mixed {
        /// One slot for each type; their counts add up to the non-null count of the slot that holds them.
        alternatives: Vec<Slot>,
    },
    /// Values too varied for a type, represented as `serde_json::Value`.
    Any(Box<Free>),
}

impl Kind {
    /// Calls `f` with this kind and the kinds inside it. It does not enter records and unions.
    pub fn walk(&self, f: &mut impl FnMut(&Self)) {
        f(self);
        match self {
            Self::Seq(seq) => seq.element.kind.walk(f),
            Self::Map(map) => map.value.kind.walk(f),
            Self::Tuple { positions: slots } | Self::Mixed { alternatives: slots } => {
                for slot in slots {
                    slot.kind.walk(f);
                }
            }
            _ => {}
        }
    }
}

/// Sums over the values of a position without a type, at any depth.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Free {
    /// The number of values at the position itself, without `null`.
    pub count: u64,
    /// The number of non-empty strings.
    pub texts: u64,
    /// Bytes of the strings.
    pub text_bytes: u64,
    /// The lengths of the arrays.
    pub arrays: Lengths,
    /// The numbers of keys of the objects.
    pub objects: Lengths,
    /// Bytes of the objects' keys.
    pub key_bytes: u64,
    /// Whether some sums are estimates, since other positions share the objects below this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// The capacity of a leaf of std's B-tree.
const LEAF: u64 = 11;

impl Free {
    /// Returns whether the sums are in the range of a corpus.
    pub(super) fn is_plausible(&self) -> bool {
        let sums = [self.count, self.texts, self.text_bytes, self.key_bytes];
        sums.into_iter().all(|sum| sum <= MOST_COUNT) && self.arrays.is_plausible() && self.objects.is_plausible()
    }

    /// Adds the sums of another position.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.texts += other.texts;
        self.text_bytes += other.text_bytes;
        self.arrays.merge(&other.arrays);
        self.objects.merge(&other.objects);
        self.key_bytes += other.key_bytes;
        self.estimated |= other.estimated;
    }

    /// Returns a share of all sums, as an estimate.
    #[must_use]
    pub fn share(&self, part: u64, whole: u64) -> Self {
        let scaled = |number: u64| scale(number, part, whole);
        Self {
            count: scaled(self.count),
            texts: scaled(self.texts),
            text_bytes: scaled(self.text_bytes),
            arrays: self.arrays.share(part, whole),
            objects: self.objects.share(part, whole),
            key_bytes: scaled(self.key_bytes),
            estimated: true,
        }
    }

    /// Returns whether [`owned`](Self::owned) is exact. For larger maps it is not, since the order of insertion decides
    /// how full the nodes of a B-tree are.
    pub fn is_exact(&self) -> bool {
        self.objects.max <= LEAF && !self.estimated
    }

    /// Returns the bytes and blocks that the values own as `serde_json::Value`s.
    pub fn owned(&self) -> (u64, u64) {
        let mut layouts = Layouts::new(&[]);
        let [key, value] = [Type::String, Type::Value].map(|ty| layouts.layout(&ty));
        let (leaf, inner) = (blocks::leaf(key, value), blocks::internal(key, value));
        let (mut bytes, mut allocations) = (self.text_bytes + self.key_bytes, self.texts + self.objects.total);
        bytes += value.size * self.arrays.pushed_capacity(4);
        allocations += self.arrays.count - self.arrays.empty;
        for (power, &count) in (0u32..).zip(&self.objects.by_power) {
            let typical = ((3u64 << power) / 4).min(self.objects.max);
            let (leaves, inners) = match typical {
                ..=LEAF => (1, 0),
                // A leaf that splits keeps six entries and passes one up.
                _ => (1 + (typical - 5) / 7, 1 + typical / 84),
            };
            bytes += count * (leaves * leaf + inners * inner);
            allocations += count * (leaves + inners);
        }
        (bytes, allocations)
    }
}

/// The counts of the strings of a position.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Text {
    /// The number of strings.
    pub count: u64,
    /// The number of empty strings.
    pub empty: u64,
    /// The bytes of all strings in UTF-8, without quotes and escapes.
    pub bytes: u64,
    /// The length of the shortest string, in bytes.
    pub min: u64,
    /// The length of the longest string, in bytes.
    pub max: u64,
    /// The number of distinct strings, exact up to some thousands and estimated beyond.
    pub distinct: u64,
    /// The number of strings of 255 bytes or more. A thin string needs more than one byte for such a length.
    pub long: u64,
    /// The distinct strings and their counts, if few are distinct.
    #[serde(skip)]
    pub words: BTreeMap<String, u64>,
    /// The format of all strings, if they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
}

/// The counts of the arrays of a position.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Seq {
    /// The lengths of the arrays.
    pub lengths: Lengths,
    /// The position of one element, over all arrays.
    pub element: Slot,
}

impl Text {
    /// Adds the counts of another position. The number of distinct strings becomes an upper bound, unless both
    /// positions list their strings.
    pub fn merge(&mut self, other: Self) {
        (self.min, self.max) = match (self.count, other.count) {
            (0, _) => (other.min, other.max),
            (_, 0) => (self.min, self.max),
            _ => (self.min.min(other.min), self.max.max(other.max)),
        };
        self.format = self.format.filter(|_| self.format == other.format);
        self.distinct += other.distinct;
        // One side has too many distinct strings to list, so the list would be incomplete.
        if self.words.is_empty() || other.words.is_empty() {
            self.words.clear();
        } else {
            for (word, count) in other.words {
                *self.words.entry(word).or_default() += count;
            }
            self.distinct = self.words.len() as u64;
        }
        self.count += other.count;
        self.empty += other.empty;
        self.bytes += other.bytes;
        self.long += other.long;
    }
}

/// The counts of the maps of a position.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Map {
    /// The numbers of entries of the maps.
    pub lengths: Lengths,
    /// The keys, over all maps.
    pub key: Text,
    /// The position of one value, over all maps.
    pub value: Slot,
}

/// The lengths of the sequences or maps at a position, in constant space, with all counts that an exact prediction of
/// their capacities needs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Lengths {
    /// The number of sequences or maps.
    pub count: u64,
    /// The number of empty ones.
    pub empty: u64,
    /// The number of elements in all of them.
    pub total: u64,
    /// The largest length.
    pub max: u64,
    /// `by_power[k]` sequences have a length in `(2^(k-1), 2^k]`; `by_power[0]` have length 1. A `Vec` that grows to
    /// such a length by `push` has a capacity of `2^k`, or its first capacity if that is larger.
    pub by_power: Vec<u64>,
    /// `by_buckets[k]` maps need `2^k` buckets, at least 4, at hashbrown's load of 7/8 (3 entries in 4 buckets).
    pub by_buckets: Vec<u64>,
}

/// The largest count in a part file: 17 TB, for bytes. The sum of half a million of them does not overflow.
pub(super) const MOST_COUNT: u64 = 1 << 44;

impl Lengths {
    /// Returns whether the counts are in the range of a corpus. A part file is untrusted input.
    pub(super) fn is_plausible(&self) -> bool {
        let Self { count, empty, total, max, by_power, by_buckets } = self;
        let classes = [by_power, by_buckets];
        let counts = [count, empty, total, max].into_iter().chain(classes.into_iter().flatten());
        counts.into_iter().all(|&count| count <= MOST_COUNT)
            && classes.into_iter().all(|counts| counts.len() <= 48)
            && empty <= count
    }

    /// Counts one sequence or map.
    #[inline]
    pub fn add(&mut self, length: u64) {
        // Most are short: points, ranges.
        let (power, buckets) = match length {
            1 => (0, 2),
            2 => (1, 2),
            3 => (2, 2),
            _ => return self.add_many(length, 1),
        };
        debug_assert_eq!((power, buckets), classes_of(length));
        match (self.by_power.get_mut(power), self.by_buckets.get_mut(buckets)) {
            (Some(power), Some(buckets)) => (*power, *buckets) = (*power + 1, *buckets + 1),
            _ => return self.add_many(length, 1),
        }
        self.count += 1;
        self.total += length;
        self.max = self.max.max(length);
    }

    /// Counts `count` sequences or maps of one length.
    pub fn add_many(&mut self, length: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.count += count;
        self.total += length * count;
        self.max = self.max.max(length);
        if length == 0 {
            self.empty += count;
            return;
        }
        let (power, buckets) = classes_of(length);
        bump(&mut self.by_power, power, count);
        bump(&mut self.by_buckets, buckets, count);
    }

    /// Subtracts counts that [`merge`](Self::merge) added; `max` stays.
    pub fn unmerge(&mut self, other: &Self) {
        self.count -= other.count;
        self.empty -= other.empty;
        self.total -= other.total;
        for (from, less) in [(&mut self.by_power, &other.by_power), (&mut self.by_buckets, &other.by_buckets)] {
            from.iter_mut().zip(less).for_each(|(from, less)| *from -= less);
        }
    }

    /// Adds the counts of another position.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.empty += other.empty;
        self.total += other.total;
        self.max = self.max.max(other.max);
        for (into, from) in [(&mut self.by_power, &other.by_power), (&mut self.by_buckets, &other.by_buckets)] {
            for (power, &count) in from.iter().enumerate() {
                bump(into, power, count);
            }
        }
    }

    /// Estimates the lengths of `count` maps with `total` entries. As few maps as possible have entries, up to `most`
    /// each.
    pub fn spread(count: u64, total: u64, most: u64) -> Self {
        let mut lengths = Self::default();
        let most = most.max(total.div_ceil(count.max(1))).max(1);
        let filled = total.div_ceil(most);
        if filled > 0 {
            lengths.add_many(most, filled - 1);
            lengths.add_many(total - most * (filled - 1), 1);
        }
        lengths.count = count;
        lengths.empty = count - filled;
        lengths
    }

    /// Returns a share of all counts, as an estimate.
    pub(super) fn share(&self, part: u64, whole: u64) -> Self {
        let scaled = |number: &u64| scale(*number, part, whole);
        Self {
            count: scaled(&self.count),
            empty: scaled(&self.empty),
            total: scaled(&self.total),
            max: self.max,
            by_power: self.by_power.iter().map(scaled).collect(),
            by_buckets: self.by_buckets.iter().map(scaled).collect(),
        }
    }

    /// Returns the length of all sequences, if they have the same length and it is not 0.
    pub fn one(&self) -> Option<u64> {
        (self.max > 0 && self.total == self.count * self.max).then_some(self.max)
    }

    /// Returns the total capacity, in elements, of `Vec`s that grew from empty by `push`. `smallest` is the first
    /// capacity that such a `Vec` allocates: 8 for elements of one byte, 4 up to 1 KiB, else 1.
    pub fn pushed_capacity(&self, smallest: u64) -> u64 {
        (0..).zip(&self.by_power).map(|(power, count)| count * (1u64 << power).max(smallest)).sum()
    }

    /// Returns the total number of buckets of `HashMap`s that grew from empty by inserts.
    pub fn hash_buckets(&self) -> u64 {
        (0..).zip(&self.by_buckets).map(|(power, count)| count << power).sum()
    }
}

fn scale(number: u64, part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(number) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

/// Returns the classes of a length in [`Lengths::by_power`] and in [`Lengths::by_buckets`].
fn classes_of(length: u64) -> (usize, usize) {
    let buckets = table::buckets_for(usize::try_from(length).unwrap_or(usize::MAX));
    (length.next_power_of_two().ilog2() as usize, buckets.ilog2() as usize)
}

fn bump(counts: &mut Vec<u64>, index: usize, by: u64) {
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] += by;
}

/// An object with a fixed set of keys.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Record {
    /// A Rust type name, unique in the schema, derived from the position of the record.
    pub name: String,
    /// Some JSON paths of the record (`$.shapes.*.traits`), the most frequent first.
    pub paths: Vec<String>,
    /// The number of objects of this shape, over all slots.
    pub instances: u64,
    /// The keys in the order of their first occurrence, without a union's tag.
    pub fields: Vec<Field>,
    /// The sets of keys that occur together, as ascending indices into `fields`, each with the number of instances that
    /// have exactly these keys. Empty if there are too many sets; then only the count of each key is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_sets: Vec<(Vec<usize>, u64)>,
    /// Whether it stands for a variant of an adjacently or externally tagged union: its only field, if it has one, is
    /// the variant's content, and no struct is written for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_variant: bool,
}

/// One key of a record.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Field {
    /// The key as it is in the data.
    pub key: String,
    /// The values. `slot.count` is the number of instances that have the key.
    pub slot: Slot,
    /// Whether this is a map for the entries whose keys are not fields. Each instance has one such map; `key` is
    /// unused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
}

/// Where the tag of a union is, in serde's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tagging {
    /// Beside the keys of the variant: `{"type": "Circle", "radius": 1}`.
    #[default]
    Internal,
    /// Beside the content, which is under this key: `{"type": "Circle", "data": {"radius": 1}}`.
    Adjacent(String),
    /// The only key, or a string: `{"Circle": {"radius": 1}}`, `"Empty"`.
    External,
    /// Nowhere: each variant has a required key that no other has.
    Untagged,
}

/// Records distinguished by the value of one key.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Union {
    /// A Rust type name, unique in the schema.
    pub name: String,
    /// The JSON path of its first occurrence.
    pub path: String,
    /// The key: `type` in many formats. Empty if the union is externally tagged or untagged.
    pub tag: String,
    /// Where the tag is.
    pub form: Tagging,
    /// The value of the tag, or the key, and the record of each variant, most frequent first. A record belongs to one union only.
    pub variants: Vec<(String, RecordId)>,
    /// Whether the last variant is for a few objects without a tag.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untagged: bool,
}

impl Union {
    /// Returns the record of the objects without a tag.
    pub fn without_tag(&self) -> Option<RecordId> {
        self.variants.last().filter(|_| self.untagged).map(|&(_, record)| record)
    }

    /// Returns the tag and the record of each variant that has a tag.
    pub fn tagged(&self) -> &[(String, RecordId)] {
        &self.variants[..self.variants.len() - usize::from(self.untagged)]
    }

    /// Returns whether an object has this value of the tag, or this marker.
    pub fn is_of(&self, value: &str, object: &serde_json::Map<String, serde_json::Value>) -> bool {
        match self.form {
            Tagging::Untagged => object.contains_key(value),
            _ => object.get(&self.tag).and_then(serde_json::Value::as_str) == Some(value),
        }
    }

    /// Returns whether the variants hold contents, and not records with the keys beside the tag.
    pub fn has_contents(&self) -> bool {
        !matches!(self.form, Tagging::Internal | Tagging::Untagged)
    }
}

/// A closed set of strings, each seen more than once.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Keywords {
    /// A Rust type name, unique in the schema.
    pub name: String,
    /// The JSON path of its first occurrence.
    pub path: String,
    /// The strings and their counts.
    pub values: BTreeMap<String, u64>,
}

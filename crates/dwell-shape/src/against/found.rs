//! What the documents show about the user's types: refused and lost values, and what the values own on the heap.

use super::types::{DefId, Layouts, Map, Seq, Ty, Types};
use crate::model::Heap;
use crate::schema::{Free, Lengths};
use dwell_model::{LONG_TEXT, blocks, table};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A field of a declaration: the declaration, the variant (0 for a struct), and the field.
pub(super) type FieldId = (DefId, usize, usize);

/// A type within the type of a field, or of a document: the field, the place in its type, and whether serde reads it from a buffer.
pub(super) type Place = (Option<FieldId>, u64, bool);

/// Values that the types refuse.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    /// The field or variant: `Order.price`.
    pub(super) item: String,
    pub(super) path: String,
    /// What the data has there.
    pub(super) what: String,
    pub(super) count: u64,
    /// The field whose type an `Option` would mend.
    pub(super) optional: Option<FieldId>,
}

/// The values of one place.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The number of values.
    count: u64,
    /// The number of filled strings, of long ones, and the bytes of all.
    filled: u64,
    long: u64,
    bytes: u64,
    /// The lengths of sequences and maps, and the number and the bytes of the keys that own a block.
    lengths: Lengths,
    keys: u64,
    key_bytes: u64,
}

/// One thing that happens while a document is read. What happened in a variant that does not fit is taken back.
pub(super) enum Event {
    Refused { item: String, path: String, what: String, optional: Option<FieldId> },
    Lost { of: String, path: String },
    Unchecked { path: String, why: String, of: Option<DefId> },
    Instance(DefId),
    Variant(DefId, usize),
    Seen(FieldId),
    Integer(FieldId, i128),
    Value(Place),
    Text(Place, usize),
    Length(Place, usize),
    Keys(Place, u64, usize),
    Free(Box<Free>),
}

/// What the documents show.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) documents: u64,
    /// The documents that do not load.
    pub(super) failed: u64,
    refusals: BTreeMap<(String, String, String), (u64, Option<FieldId>)>,
    /// Keys that are dropped: the type, the path, and the number of values.
    pub(super) lost: BTreeMap<(String, String), u64>,
    /// Positions that are not checked, with the reason.
    pub(super) unchecked: BTreeMap<String, String>,
    /// Types of which a position is not checked, so that it is not known which variants no value has.
    pub(super) unsure: BTreeSet<DefId>,
    /// The number of values of each declaration, and of each of its variants.
    pub(super) instances: HashMap<DefId, u64>,
    pub(super) variants: HashMap<(DefId, usize), u64>,
    /// The number of values of each field.
    pub(super) seen: HashMap<FieldId, u64>,
    /// The least and the largest integer of each field.
    pub(super) ranges: HashMap<FieldId, (i128, i128)>,
    tallies: BTreeMap<Place, Tally>,
    free: Free,
    /// Whether some sets had equal elements, so that their sizes are not known.
    pub(super) has_unknown_sets: bool,
}

/// More different refusals or lost keys are counted together: a map's keys may all differ.
const MOST: usize = 10_000;

impl Findings {
    /// Adds a document. The memory of one that does not load is that of no document.
    pub(super) fn add(&mut self, events: Vec<Event>, loads: bool) {
        self.documents += 1;
        self.failed += u64::from(!loads);
        for event in events {
            match event {
                Event::Refused { item, path, what, optional } => {
                    let key = if self.refusals.len() < MOST { (item, path, what) } else { Default::default() };
                    self.refusals.entry(key).or_insert((0, optional)).0 += 1;
                }
                Event::Lost { of: owner, path } => {
                    let key = if self.lost.len() < MOST { (owner, path) } else { Default::default() };
                    *self.lost.entry(key).or_default() += 1;
                }
                Event::Unchecked { path, why, of: def } => {
                    self.unsure.extend(def);
                    if self.unchecked.len() < MOST {
                        self.unchecked.entry(path).or_insert(why);
                    }
                }
                Event::Instance(id) => *self.instances.entry(id).or_default() += 1,
                Event::Variant(id, index) => *self.variants.entry((id, index)).or_default() += 1,
                Event::Seen(field) => *self.seen.entry(field).or_default() += 1,
                Event::Integer(field, value) => {
                    let known = self.ranges.entry(field).or_insert((value, value));
                    *known = (known.0.min(value), known.1.max(value));
                }
                _ if !loads => {}
                Event::Value(at) => self.tallies.entry(at).or_default().count += 1,
                Event::Text(at, bytes) => {
                    let tally = self.tallies.entry(at).or_default();
                    tally.filled += u64::from(bytes > 0);
                    tally.long += u64::from(bytes >= LONG_TEXT);
                    tally.bytes += bytes as u64;
                }
                Event::Length(at, length) => self.tallies.entry(at).or_default().lengths.add(length as u64),
                Event::Keys(at, keys, bytes) => {
                    let tally = self.tallies.entry(at).or_default();
                    tally.keys += keys;
                    tally.key_bytes += bytes as u64;
                }
                Event::Free(free) => self.free.merge(&free),
            }
        }
    }

    /// Returns the refusals, the most frequent first.
    pub(super) fn refused(&self) -> Vec<Refusal> {
        let refusals =
            |((item, path, what), &(count, optional)): (&(String, String, String), &(u64, Option<FieldId>))| Refusal {
                item: item.clone(),
                path: path.clone(),
                what: what.clone(),
                count,
                optional,
            };
        let mut all: Vec<Refusal> = self.refusals.iter().map(refusals).collect();
        all.sort_by_key(|refusal| (std::cmp::Reverse(refusal.count), refusal.path.clone()));
        all
    }

    /// Returns what each field owns with these types; `None` is the vector of the documents that load, and all
    /// `serde_json::Value`s.
    pub(super) fn heap(&self, types: &Types<'_>, root: &Ty) -> BTreeMap<Option<FieldId>, Heap> {
        let mut layouts = types.layouts();
        let mut heap = BTreeMap::new();
        let (bytes, allocations) = self.free.owned();
        let documents = layouts.size(root) * (self.documents - self.failed);
        let all = Heap { bytes: bytes + documents, allocations: allocations + u64::from(documents > 0) };
        heap.insert(None, all);
        let mut add = |owner: Option<FieldId>, ty: &Ty| {
            each_place(ty, PLACE, &mut |inner, at| {
                for buffered in [false, true] {
                    if let Some(tally) = self.tallies.get(&(owner, at, buffered)) {
                        *heap.entry(owner).or_default() += owned(inner, tally, buffered, &mut layouts);
                    }
                }
            });
        };
        add(None, root);
        for (id, def) in types.defs.iter().enumerate() {
            for (variant, parts) in def.parts.iter().enumerate() {
                parts.iter().enumerate().for_each(|(field, part)| add(Some((id, variant, field)), part));
            }
        }
        heap
    }

    /// Returns the memory of all documents in one vector.
    pub(super) fn total(&self, types: &Types<'_>, root: &Ty) -> Heap {
        let mut total = Heap::default();
        self.heap(types, root).into_values().for_each(|heap| total += heap);
        total
    }

    /// Returns whether the bytes are exact: nothing was left unchecked, and all sizes are known.
    pub(super) fn is_exact(&self, types: &Types<'_>) -> bool {
        let mut layouts = types.layouts();
        let used = types.defs.iter().enumerate().filter(|(id, _)| self.instances.contains_key(id));
        for (id, _) in used {
            layouts.size(&Ty::Named(id));
        }
        let mut is_known = true;
        for (id, def) in types.defs.iter().enumerate() {
            for (variant, parts) in def.parts.iter().enumerate() {
                for (field, part) in parts.iter().enumerate() {
                    each_place(part, PLACE, &mut |inner, at| {
                        let tally = |buffered| self.tallies.get(&(Some((id, variant, field)), at, buffered));
                        let is_tree = matches!(inner, Ty::Map(Map::BTree | Map::Json, ..) | Ty::Seq(Seq::BTreeSet, _));
                        let is_guess =
                            matches!(inner, Ty::Map(Map::Index, ..)) || matches!(inner, Ty::Seq(Seq::BTreeSet, _));
                        let used = [false, true].into_iter().filter_map(tally);
                        let is_large = |tally: &Tally| is_guess || (is_tree && tally.lengths.max > 11);
                        is_known &= !used.into_iter().any(is_large);
                    });
                }
            }
        }
        is_known && layouts.is_exact && self.unchecked.is_empty() && self.free.is_exact() && !self.has_unknown_sets
    }
}

/// The place of the whole type of a field.
pub(super) const PLACE: u64 = 1;

/// Returns the place of a part of a type.
pub(super) fn inside(place: u64, index: usize) -> u64 {
    place.wrapping_mul(31).wrapping_add(index as u64 + 1)
}

/// Calls `f` with each part of a type that has a place. Boxes and options have the place of what is in them.
fn each_place(ty: &Ty, place: u64, f: &mut impl FnMut(&Ty, u64)) {
    f(ty, place);
    match ty {
        Ty::Option(inner) | Ty::Boxed(inner, _) => each_place(inner, place, f),
        Ty::Seq(_, element) | Ty::Array(element, _) => each_place(element, inside(place, 0), f),
        Ty::Map(_, _, value) => each_place(value, inside(place, 0), f),
        Ty::Tuple(all) => all.iter().enumerate().for_each(|(index, inner)| each_place(inner, inside(place, index), f)),
        _ => {}
    }
}

/// Returns the blocks that the values of a place own.
fn owned(ty: &Ty, tally: &Tally, buffered: bool, layouts: &mut Layouts<'_, '_>) -> Heap {
    let heap = |bytes: u64, allocations: u64| Heap { bytes, allocations: if bytes == 0 { 0 } else { allocations } };
    let lengths = &tally.lengths;
    let filled = lengths.count - lengths.empty;
    match ty {
        Ty::Boxed(inner, before) => heap(tally.count * (layouts.size(inner) + before), tally.count),
        Ty::ThinStr => heap(tally.bytes + blocks::thin_texts(tally.filled, tally.long), tally.filled),
        // A shared text has its counters even if it is empty.
        Ty::BoxStr(before) if *before > 0 => heap(tally.bytes + before * tally.count, tally.count),
        Ty::String | Ty::BoxStr(_) => heap(tally.bytes, tally.filled),
        Ty::Seq(seq, element) => {
            let layout = layouts.layout(element);
            let size = layout.size;
            match seq {
                Seq::Vec | Seq::VecDeque => {
                    let least = blocks::least_capacity(size);
                    let capacity = if buffered { lengths.total } else { lengths.pushed_capacity(least) };
                    heap(capacity * size, filled)
                }
                Seq::BoxSlice => heap(lengths.total * size, filled),
                Seq::ThinSlice => heap(lengths.total * size + filled * blocks::thin_header(layout), filled),
                Seq::HashSet => heap(table::tables(filled, lengths.hash_buckets(), size), filled),
                Seq::BTreeSet => heap(lengths.total * size * 3 / 2, filled),
            }
        }
        Ty::Map(map, key, value) => {
            let (key, value) = (layouts.layout(key), layouts.layout(value));
            let entry = blocks::entry(key, value).size;
            let mut all = match map {
                Map::Hash => heap(table::tables(filled, lengths.hash_buckets(), entry), filled),
                Map::Sorted => heap(lengths.total * entry + filled * 8, filled),
                Map::Index => {
                    let entries = lengths.pushed_capacity(4) * (entry + 8);
                    heap(entries + table::tables(filled, lengths.hash_buckets(), 8), 2 * filled)
                }
                Map::BTree | Map::Json => {
                    let many: u64 = lengths.by_power.iter().skip(4).sum();
                    // Each further leaf holds about eight entries.
                    let more = lengths.total.saturating_sub(8 * (filled - many.min(filled))) / 8;
                    let leaves = filled + if lengths.max > 11 { more.min(lengths.total / 8) } else { 0 };
                    heap(leaves * blocks::leaf(key, value), leaves)
                }
            };
            all += heap(tally.key_bytes, tally.keys);
            all
        }
        _ => Heap::default(),
    }
}

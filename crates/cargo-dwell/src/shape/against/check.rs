//! Reads a schema by the rules of the user's types: what they refuse and lose, and the memory that the values take.

use super::data::{Object, name_of, objects, words};
use super::types::{DefId, Enum, Field, Layouts, Map, Seq, Shape, Struct, Tagging, Ty, Types, Variant};
use crate::shape::model::Heap;
use crate::shape::schema::{Free, Kind, Lengths, RecordId, Schema, Slot, Text};
use dwell::model::{blocks, table};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// A field of a declaration: the declaration, the variant (0 for a struct), and the field.
pub(super) type FieldId = (DefId, usize, usize);

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

/// What a reading of the schema finds.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) refused: Vec<Refusal>,
    /// Keys that are dropped: the type, the path, and the number of values.
    pub(super) lost: BTreeMap<(String, String), u64>,
    /// Positions that are not checked, with the reason.
    pub(super) unchecked: BTreeMap<String, String>,
    /// The number of values of each declaration, and of each of its variants.
    pub(super) instances: Vec<u64>,
    pub(super) variants: HashMap<(DefId, usize), u64>,
    /// The number of values of each field.
    pub(super) seen: HashMap<FieldId, u64>,
    /// The least and the largest integer of each field.
    pub(super) ranges: HashMap<FieldId, (i128, i128)>,
    /// The blocks that each field owns; those of a `serde_json::Value` are in [`Self::free`].
    pub(super) heap: BTreeMap<FieldId, Heap>,
    pub(super) root: Heap,
    free: Free,
    /// Whether the bytes are exact.
    pub(super) is_exact: bool,
}

impl Findings {
    /// Returns the live memory of all documents in one vector.
    pub(super) fn total(&self) -> Heap {
        let (bytes, allocations) = self.free.owned();
        let mut total = self.root;
        total += Heap { bytes, allocations };
        self.heap.values().for_each(|heap| total += *heap);
        total
    }
}

/// Reads the schema. The root is the type of a document.
pub(super) fn check(types: &Types<'_>, root: &Ty, schema: &Schema) -> Findings {
    // A record that several declarations read has a share for each. The shares of recursive types depend on each other.
    let mut shares = HashMap::new();
    for _ in 0..8 {
        let (found, new) = read(types, root, schema, &shares);
        let is_stable = new == shares || new.values().all(|share| *share == 1.0);
        shares = new;
        if is_stable {
            return found;
        }
    }
    read(types, root, schema, &shares).0
}

/// The share of a record's objects that a reader gets.
type Shares = HashMap<(Reader, RecordId), f64>;

fn read(types: &Types<'_>, root: &Ty, schema: &Schema, shares: &Shares) -> (Findings, Shares) {
    let mut check = Check {
        types,
        layouts: types.layouts(),
        schema,
        found: Findings { is_exact: true, instances: vec![0; types.defs.len()], ..Findings::default() },
        shares,
        reached: HashMap::new(),
        known: HashSet::new(),
        open: VecDeque::new(),
    };
    check.run(root);
    let new = check.new_shares();
    let mut found = check.found;
    found.is_exact &= check.layouts.is_exact && new.values().all(|share| *share == 1.0);
    (found, new)
}

/// What reads a record: a declaration and its variant, or a map or `serde_json::Value`; and whether from serde's buffer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Reader {
    of: String,
    buffered: bool,
}

/// The place of a value.
#[derive(Clone)]
struct At {
    /// The share of the position's values that are read here.
    share: f64,
    /// The field that owns the blocks; `None` for the document.
    owner: Option<FieldId>,
    item: String,
    path: String,
    /// Whether serde reads it from a buffer.
    buffered: bool,
    /// Whether the values of several types are one position, so that missing and unknown keys say nothing.
    lenient: bool,
}

impl At {
    fn step(&self, key: &str) -> String {
        let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain { format!("{}.{key}", self.path) } else { format!("{}[{key:?}]", self.path) }
    }
}

struct Check<'a, 's> {
    types: &'a Types<'s>,
    layouts: Layouts<'a, 's>,
    schema: &'a Schema,
    found: Findings,
    shares: &'a Shares,
    /// The number of objects of each record that a reader gets.
    reached: HashMap<(Reader, RecordId), f64>,
    known: HashSet<(Reader, RecordId)>,
    /// Objects to read.
    open: VecDeque<Task<'a>>,
}

/// Objects of one record for one reader.
struct Task<'a> {
    object: Object<'a>,
    by: By,
    at: At,
}

/// How objects are read.
#[derive(Clone)]
enum By {
    /// As a struct, or as the content of a variant.
    Fields(DefId, usize),
    Map(Map, Ty),
    Value,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
fn scale(count: u64, share: f64) -> u64 {
    if share == 1.0 { count } else { (count as f64 * share).round() as u64 }
}

impl<'a> Check<'a, '_> {
    fn run(&mut self, root: &Ty) {
        let at = At {
            share: 1.0,
            owner: None,
            item: "the document".into(),
            path: "$".into(),
            buffered: false,
            lenient: false,
        };
        let bytes = self.layouts.size(root) * self.schema.documents;
        self.found.root += Heap { bytes, allocations: u64::from(bytes > 0) };
        let schema = self.schema;
        self.value(root, &schema.root, &at);
        while let Some(task) = self.open.pop_front() {
            match &task.by {
                By::Fields(id, part) => {
                    let (id, part) = (*id, *part);
                    let def = &self.types.defs[id];
                    let of = match &def.item.shape {
                        Shape::Struct(of) => of,
                        Shape::Enum(of) => &of.variants[part].content,
                        Shape::Alias(_) => continue,
                    };
                    let mut claimed = BTreeSet::new();
                    self.fields(id, part, of, &task.object, &task.at, &mut claimed);
                    self.unclaimed(&def.name, of.denies_unknown, &task.object, &task.at, &claimed);
                }
                By::Map(kind, value) => {
                    let (kind, value) = (*kind, value.clone());
                    let keys: u64 = task.object.fields.iter().map(|(key, slot)| slot.count * key.len() as u64).sum();
                    let count: u64 = task.object.fields.iter().map(|(_, slot)| slot.count).sum();
                    let lengths = self.lengths(&task.object.lengths(), &task.at);
                    self.map(
                        kind,
                        &value,
                        &lengths,
                        (scale(count, task.at.share), scale(keys, task.at.share)),
                        &task.at,
                    );
                    for (key, slot) in task.object.fields.clone() {
                        let at = At { path: task.at.step(key), ..task.at.clone() };
                        self.value(&value, slot, &at);
                    }
                }
                By::Value => self.free_object(&task.object, &task.at),
            }
        }
    }

    /// Returns the share of each record that each reader gets.
    fn new_shares(&self) -> Shares {
        let mut readers = HashMap::<RecordId, usize>::new();
        self.reached.keys().for_each(|(_, record)| *readers.entry(*record).or_default() += 1);
        let share = |(key, reached): (&(Reader, RecordId), &f64)| {
            let all = self.schema.records[key.1].instances.max(1) as f64;
            let share = if readers[&key.1] == 1 { 1.0 } else { (reached / all).min(1.0) };
            (key.clone(), share)
        };
        self.reached.iter().map(share).collect()
    }

    /// Reads the objects of a record later, once for each reader. `count` of them are at this place.
    fn later(&mut self, object: Object<'a>, by: By, count: f64, at: &At) {
        let of = match &by {
            By::Fields(id, part) => format!("{id} {part}"),
            By::Map(kind, value) => format!("{kind:?} {value:?} {:?}", at.owner),
            By::Value => String::new(),
        };
        let key = (Reader { of, buffered: at.buffered }, object.record);
        *self.reached.entry(key.clone()).or_default() += count;
        if self.known.insert(key.clone()) {
            let share = self.shares.get(&key).copied().unwrap_or(1.0);
            self.open.push_back(Task { object, by, at: At { share, ..at.clone() } });
        }
    }

    fn refuse(&mut self, what: impl Into<String>, count: u64, at: &At, optional: bool) {
        let (what, count) = (what.into(), scale(count, at.share));
        if count == 0 {
            return;
        }
        let known = self.found.refused.iter_mut();
        let mut same = known.filter(|of| of.item == at.item && of.path == at.path && of.what == what);
        if let Some(known) = same.next() {
            known.count += count;
            return;
        }
        let optional = at.owner.filter(|_| optional);
        self.found.refused.push(Refusal { item: at.item.clone(), path: at.path.clone(), what, count, optional });
    }

    fn not_checked(&mut self, at: &At, why: impl Into<String>) {
        self.found.unchecked.entry(at.path.clone()).or_insert_with(|| why.into());
        self.found.is_exact = false;
    }

    fn own(&mut self, bytes: u64, allocations: u64, at: &At) {
        let heap = Heap { bytes, allocations: if bytes == 0 { 0 } else { allocations } };
        match at.owner {
            Some(owner) => *self.found.heap.entry(owner).or_default() += heap,
            None => self.found.root += heap,
        }
    }

    fn lengths(&self, lengths: &Lengths, at: &At) -> Lengths {
        if at.share == 1.0 { lengths.clone() } else { lengths.share(scale(1 << 20, at.share), 1 << 20) }
    }

    /// Reads the values of a position.
    fn value(&mut self, of: &Ty, slot: &'a Slot, at: &At) {
        if slot.nulls > 0 && !self.takes_null(of) {
            self.refuse("null", slot.nulls, at, true);
        }
        let count = scale(slot.count - slot.nulls, at.share);
        match (of, &slot.kind) {
            (Ty::Option(inner), _) => self.some(inner, slot, at),
            _ => self.known(of, &slot.kind, slot, count, at),
        }
    }

    /// Reads the values that are in an `Option`.
    fn some(&mut self, of: &Ty, slot: &'a Slot, at: &At) {
        let count = scale(slot.count - slot.nulls, at.share);
        match of {
            Ty::Option(inner) => self.some(inner, slot, at),
            _ => self.known(of, &slot.kind, slot, count, at),
        }
    }

    /// Reads `count` values other than `null`.
    fn known(&mut self, of: &Ty, kind: &'a Kind, slot: &'a Slot, count: u64, at: &At) {
        match (of, kind) {
            (_, Kind::Never) => {}
            (Ty::Boxed(inner, before), _) => {
                let size = self.layouts.size(inner);
                let header = if size > 0 || *before > 0 { *before } else { 0 };
                self.own(count * (size + header), count, at);
                self.known(inner, kind, slot, count, at);
            }
            (Ty::Option(inner), _) => self.known(inner, kind, slot, count, at),
            (_, Kind::Mixed { alternatives }) if !matches!(of, Ty::Value) => {
                alternatives.iter().for_each(|slot| self.value(of, slot, at));
            }
            (Ty::Unknown(name), _) => self.not_checked(at, format!("the source does not declare `{name}`")),
            (Ty::Named(id), _) => self.named(*id, slot, count, at),
            (Ty::Value, _) => self.free(slot, at),
            (_, Kind::Any(_)) => self.not_checked(at, "the values there have too many types"),
            (Ty::Bool, Kind::Bool { .. })
            | (Ty::Number | Ty::Float { .. }, Kind::Integer { .. } | Kind::Float { .. })
            | (Ty::Borrowed, Kind::Text(_) | Kind::Keyword { .. }) => {}
            (Ty::Char, Kind::Text(text) | Kind::Keyword { text, .. }) if text.max <= 4 && text.empty == 0 => {}
            (Ty::Int { bits, signed }, Kind::Integer { min, max }) => {
                let (low, high) = range(*bits, *signed);
                if let Some(owner) = at.owner {
                    let known = self.found.ranges.entry(owner).or_insert((*min, *max));
                    *known = (known.0.min(*min), known.1.max(*max));
                }
                for wrong in [(min < &low).then_some(min), (max > &high).then_some(max)].into_iter().flatten() {
                    self.refuse(format!("integers such as {wrong}"), 1, at, false);
                }
            }
            (Ty::String | Ty::BoxStr(_) | Ty::ThinStr, Kind::Text(text) | Kind::Keyword { text, .. }) => {
                self.text(of, text, at);
            }
            (Ty::Seq(seq, element), Kind::Seq(data)) => {
                let lengths = self.lengths(&data.lengths, at);
                self.seq(*seq, element, &lengths, at);
                let at = At { path: format!("{}[]", at.path), ..at.clone() };
                self.value(element, &data.element, &at);
            }
            (Ty::Seq(seq, element), Kind::Tuple { positions }) => {
                let mut lengths = Lengths::default();
                lengths.add_many(positions.len() as u64, count);
                self.seq(*seq, element, &lengths, at);
                for (index, position) in positions.iter().enumerate() {
                    let at = At { path: format!("{}[{index}]", at.path), ..at.clone() };
                    self.value(element, position, &at);
                }
            }
            (Ty::Array(..) | Ty::Tuple(_), Kind::Seq(_) | Kind::Tuple { .. }) => {
                let of: Vec<Ty> = match of {
                    Ty::Array(element, length) => {
                        (0..usize::try_from(*length).unwrap_or(0)).map(|_| (**element).clone()).collect()
                    }
                    Ty::Tuple(all) => all.clone(),
                    _ => Vec::new(),
                };
                self.tuple(&of, kind, count, at);
            }
            (Ty::Map(map, value), Kind::Map(data)) => {
                let lengths = self.lengths(&data.lengths, at);
                let keys = (scale(data.key.count, at.share), scale(data.key.bytes, at.share));
                self.map(*map, value, &lengths, keys, at);
                let at = At { path: format!("{}.*", at.path), ..at.clone() };
                self.value(value, &data.value, &at);
            }
            (Ty::Map(map, value), Kind::Record { .. } | Kind::Union { .. }) => {
                let schema = self.schema;
                for object in objects(schema, slot).0 {
                    let share = object.of.instances as f64 / self.instances_of(slot).max(1) as f64;
                    self.later(object, By::Map(*map, (**value).clone()), count as f64 * share, at);
                }
            }
            _ => self.refuse(format!("{} for {}", name_of(kind), self.wanted(of)), slot.count - slot.nulls, at, false),
        }
    }

    /// Returns the number of objects of all records of a position.
    fn instances_of(&self, slot: &Slot) -> u64 {
        objects(self.schema, slot).0.iter().map(|object| object.of.instances).sum()
    }

    fn takes_null(&self, of: &Ty) -> bool {
        match of {
            Ty::Option(_) | Ty::Value | Ty::Unit | Ty::Unknown(_) => true,
            Ty::Boxed(inner, _) => self.takes_null(inner),
            Ty::Named(id) => {
                let def = &self.types.defs[*id];
                match &def.item.shape {
                    _ if def.item.is_opaque => true,
                    Shape::Struct(of) if of.is_transparent => def.parts[0].iter().all(|of| self.takes_null(of)),
                    Shape::Enum(Enum { tagging: Tagging::Untagged, variants }) => {
                        variants.iter().zip(&def.parts).any(|(variant, parts)| match &parts[..] {
                            [] => !variant.content.is_named,
                            [only] => !variant.content.is_named && self.takes_null(only),
                            _ => false,
                        })
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Returns the JSON type that a type wants.
    fn wanted(&self, of: &Ty) -> String {
        match of {
            Ty::Unit => "null".into(),
            Ty::Bool => "a boolean".into(),
            Ty::Char => "one character".into(),
            Ty::Int { bits, signed } => format!("an integer (`{}{bits}`)", if *signed { 'i' } else { 'u' }),
            Ty::Float { .. } | Ty::Number => "a number".into(),
            Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed => "a string".into(),
            Ty::Seq(..) | Ty::Array(..) | Ty::Tuple(_) => "an array".into(),
            Ty::Map(..) => "an object".into(),
            Ty::Named(id) => format!("`{}`", self.types.defs[*id].name),
            Ty::Option(inner) | Ty::Boxed(inner, _) => self.wanted(inner),
            Ty::Value => "any value".into(),
            Ty::Unknown(name) => format!("`{name}`"),
        }
    }

    fn text(&mut self, of: &Ty, text: &Text, at: &At) {
        let filled = scale(text.count - text.empty, at.share);
        let bytes = scale(text.bytes, at.share);
        match of {
            Ty::ThinStr => {
                self.own(bytes + blocks::thin_texts(filled, scale(text.long, at.share)), filled, at);
            }
            // A shared text has its counters even if it is empty.
            Ty::BoxStr(before) if *before > 0 => {
                let count = scale(text.count, at.share);
                self.own(bytes + before * count, count, at);
            }
            _ => self.own(bytes, filled, at),
        }
    }

    fn seq(&mut self, seq: Seq, element: &Ty, lengths: &Lengths, at: &At) {
        let layout = self.layouts.of(element);
        let (size, filled) = (layout.size, lengths.count - lengths.empty);
        match seq {
            Seq::Vec | Seq::VecDeque => {
                let capacity =
                    if at.buffered { lengths.total } else { lengths.pushed_capacity(blocks::least_capacity(size)) };
                self.own(capacity * size, filled, at);
            }
            Seq::BoxSlice => self.own(lengths.total * size, filled, at),
            Seq::ThinSlice => self.own(lengths.total * size + filled * blocks::thin_header(layout), filled, at),
            Seq::HashSet => self.own(table::tables(filled, lengths.hash_buckets(), size), filled, at),
            Seq::BTreeSet => {
                self.found.is_exact = false;
                self.own(lengths.total * size * 3 / 2, filled, at);
            }
        }
    }

    /// Adds the blocks of maps with these numbers of entries; `keys` are the number and the bytes of all keys.
    fn map(&mut self, map: Map, value: &Ty, lengths: &Lengths, (count, bytes): (u64, u64), at: &At) {
        let filled = lengths.count - lengths.empty;
        let (key, of) = (self.layouts.of(&Ty::String), self.layouts.of(value));
        let entry = blocks::entry(key, of).size;
        match map {
            Map::Hash => self.own(table::tables(filled, lengths.hash_buckets(), entry), filled, at),
            Map::Sorted => self.own(lengths.total * entry + filled * 8, filled, at),
            Map::Index => {
                self.found.is_exact = false;
                let entries = lengths.pushed_capacity(4) * (entry + 8);
                self.own(entries + table::tables(filled, lengths.hash_buckets(), 8), 2 * filled, at);
            }
            Map::BTree | Map::Json => {
                let leaf = blocks::leaf(key, of);
                let many: u64 = lengths.by_power.iter().skip(4).sum();
                self.found.is_exact &= lengths.max <= 11;
                // Each further leaf holds about eight entries.
                let more = lengths.total.saturating_sub(8 * (filled - many.min(filled))) / 8;
                let leaves = filled + if lengths.max > 11 { more.min(lengths.total / 8) } else { 0 };
                self.own(leaves * leaf, leaves, at);
            }
        }
        self.own(bytes, count, at);
    }

    fn tuple(&mut self, of: &[Ty], kind: &'a Kind, count: u64, at: &At) {
        match kind {
            Kind::Tuple { positions } if positions.len() == of.len() => {
                for (index, (of, position)) in of.iter().zip(positions).enumerate() {
                    let at = At { path: format!("{}[{index}]", at.path), ..at.clone() };
                    self.value(of, position, &at);
                }
            }
            Kind::Seq(data) if data.lengths.one() == Some(of.len() as u64) || data.lengths.count == 0 => {
                // All elements have one type; each of the tuple's gets its part of them.
                let share = at.share / of.len().max(1) as f64;
                for of in of {
                    let at = At { path: format!("{}[]", at.path), share, ..at.clone() };
                    self.value(of, &data.element, &at);
                }
            }
            Kind::Seq(_) | Kind::Tuple { .. } => {
                self.refuse(
                    format!("arrays whose length is not {}", of.len()),
                    count,
                    &At { share: 1.0, ..at.clone() },
                    false,
                );
            }
            kind => {
                self.refuse(format!("{} for an array", name_of(kind)), count, &At { share: 1.0, ..at.clone() }, false)
            }
        }
    }
}

/// Returns the least and the largest value of an integer type.
fn range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The declarations: structs and enums.
impl<'a, 's> Check<'a, 's> {
    fn named(&mut self, id: DefId, slot: &'a Slot, count: u64, at: &At) {
        self.found.instances[id] += count;
        let (types, schema) = (self.types, self.schema);
        let def = &types.defs[id];
        if def.item.is_opaque {
            return self.not_checked(at, format!("`{}` has a `Deserialize` of its own", def.name));
        }
        match &def.item.shape {
            Shape::Struct(of) if of.is_transparent || !of.is_named => self.content(id, 0, of, slot, count, at),
            Shape::Struct(_) => {
                let (all, units) = objects(schema, slot);
                if all.is_empty() || !units.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                let instances: u64 = all.iter().map(|object| object.of.instances).sum();
                for object in all {
                    let part = object.of.instances as f64 / instances.max(1) as f64;
                    self.later(object, By::Fields(id, 0), count as f64 * part, at);
                }
            }
            Shape::Enum(of) => self.enumeration(id, of, slot, count, at),
            Shape::Alias(_) => {}
        }
    }

    fn not_an_object(&mut self, id: DefId, slot: &Slot, at: &At) {
        let name = &self.types.defs[id].name;
        match slot.kind {
            Kind::Map(_) => self.not_checked(at, format!("the keys there are data, and `{name}` has fields")),
            Kind::Any(_) => self.not_checked(at, "the values there have too many types"),
            _ => self.refuse(format!("{} for `{name}`", name_of(&slot.kind)), slot.count - slot.nulls, at, false),
        }
    }

    /// Reads values as a tuple struct, or as the content of a variant.
    fn content(&mut self, id: DefId, part: usize, of: &'s Struct, slot: &'a Slot, count: u64, at: &At) {
        let parts = &self.types.defs[id].parts[part];
        let place =
            |index: usize| At { owner: Some((id, part, index)), item: of.fields[index].item.clone(), ..at.clone() };
        match &parts[..] {
            [] if !of.is_named => {}
            [only] if !of.is_named || of.is_transparent => {
                *self.found.seen.entry((id, part, 0)).or_default() += count;
                let at = place(0);
                if of.fields[0].is_opaque {
                    return self.not_checked(&at, "a function reads it");
                }
                self.value(only, slot, &at);
            }
            all if !of.is_named => {
                (0..all.len()).for_each(|index| *self.found.seen.entry((id, part, index)).or_default() += count);
                self.tuple(all, &slot.kind, count, &place(0));
            }
            _ => {
                let (all, _) = objects(self.schema, slot);
                if all.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                let instances: u64 = all.iter().map(|object| object.of.instances).sum();
                for object in all {
                    let share = object.of.instances as f64 / instances.max(1) as f64;
                    self.later(object, By::Fields(id, part), count as f64 * share, at);
                }
            }
        }
    }

    /// Reads the fields of a struct or variant, and claims their keys.
    fn fields(
        &mut self,
        id: DefId,
        part: usize,
        of: &'s Struct,
        object: &Object<'a>,
        at: &At,
        claimed: &mut BTreeSet<&'a str>,
    ) {
        let parts = &self.types.defs[id].parts[part];
        let instances = object.of.instances;
        let path = self.path_of(object, at);
        let at = &At { path, ..at.clone() };
        let fields = || of.fields.iter().zip(parts).enumerate();
        if let Some((tag, _)) = object.tag.filter(|(tag, _)| of.tag.as_deref() == Some(*tag)) {
            claimed.insert(tag);
        }
        for (index, (field, ty)) in fields().filter(|(_, (field, _))| !field.is_flat && !field.is_skipped) {
            let has = |key: &str| field.key == key || field.aliases.iter().any(|alias| alias == key);
            let own = At {
                owner: Some((id, part, index)),
                item: field.item.clone(),
                path: at.step(&field.key),
                ..at.clone()
            };
            let seen = self.found.seen.entry((id, part, index)).or_default();
            if let Some((tag, value)) = object.tag.filter(|(tag, _)| has(tag)) {
                *seen += scale(instances, at.share);
                claimed.insert(tag);
                self.constant(ty, value, instances, &own);
                continue;
            }
            let mut count = 0;
            for (key, slot) in object.fields.iter().filter(|(key, _)| has(key)) {
                claimed.insert(key);
                count += slot.count;
                *self.found.seen.entry((id, part, index)).or_default() += scale(slot.count, at.share);
                if field.is_opaque {
                    self.not_checked(&own, "a function reads it");
                } else {
                    self.value(ty, slot, &own);
                }
            }
            let is_required =
                !field.has_default && !matches!(ty, Ty::Option(_)) && !at.lenient && object.rest.is_none();
            if is_required && count < instances {
                self.refuse("the key is missing", instances - count, &own, true);
            }
        }
        for (index, (field, ty)) in fields().filter(|(_, (field, _))| field.is_flat && !field.is_skipped) {
            let own = At { owner: Some((id, part, index)), item: field.item.clone(), buffered: true, ..at.clone() };
            self.flat(ty, field, object, &own, claimed);
        }
    }

    /// Returns the path of the objects of a record; of a union's, the path to here.
    fn path_of(&self, object: &Object<'_>, at: &At) -> String {
        let first = self.schema.records[object.record].paths.first();
        first.filter(|_| object.tag.is_none() && at.share == 1.0).cloned().unwrap_or_else(|| at.path.clone())
    }

    /// Reads the tag's value as a field.
    fn constant(&mut self, of: &Ty, value: &str, count: u64, at: &At) {
        match of {
            Ty::Option(inner) | Ty::Boxed(inner, _) => self.constant(inner, value, count, at),
            Ty::String | Ty::ThinStr | Ty::BoxStr(_) => {
                let text = Text { count, bytes: count * value.len() as u64, ..Text::default() };
                self.text(of, &text, at);
            }
            Ty::Named(id) => {
                self.found.instances[*id] += scale(count, at.share);
                if let Shape::Enum(of) = &self.types.defs[*id].item.shape
                    && !self.types.defs[*id].item.is_opaque
                {
                    self.units(*id, of, &[(value, count)], at);
                }
            }
            Ty::Value | Ty::Unknown(_) | Ty::Borrowed => {}
            _ => self.refuse(format!("a string for {}", self.wanted(of)), count, at, false),
        }
    }

    /// Reads a flattened field from the keys that no field has claimed.
    fn flat(&mut self, of: &Ty, field: &'s Field, object: &Object<'a>, at: &At, claimed: &mut BTreeSet<&'a str>) {
        let count = scale(object.of.instances, at.share);
        match of {
            Ty::Option(inner) => {
                let at = At { lenient: true, ..at.clone() };
                self.flat(inner, field, object, &at, claimed);
            }
            Ty::Boxed(inner, before) => {
                let size = self.layouts.size(inner) + before;
                self.own(count * size, count, at);
                self.flat(inner, field, object, at, claimed);
            }
            Ty::Named(id) if !self.types.defs[*id].item.is_opaque && !field.is_opaque => {
                self.found.instances[*id] += count;
                match &self.types.defs[*id].item.shape {
                    Shape::Struct(of) => self.fields(*id, 0, of, object, at, claimed),
                    Shape::Enum(of) => self.tagged(*id, of, object, at, Some(claimed)),
                    Shape::Alias(_) => {}
                }
            }
            Ty::Map(map, value) => {
                let free: Vec<_> = object.fields.iter().filter(|(key, _)| !claimed.contains(key)).copied().collect();
                let entries: u64 = free.iter().map(|(_, slot)| slot.count).sum();
                let bytes: u64 = free.iter().map(|(key, slot)| slot.count * key.len() as u64).sum();
                let lengths = Lengths::spread(object.of.instances, entries, free.len() as u64);
                self.found.is_exact &= free.is_empty() && object.rest.is_none();
                let lengths = self.lengths(&lengths, at);
                self.map(*map, value, &lengths, (scale(entries, at.share), scale(bytes, at.share)), at);
                *self.found.seen.entry(at.owner.unwrap_or_default()).or_default() += scale(entries, at.share);
                for (key, slot) in free {
                    claimed.insert(key);
                    self.value(value, slot, &At { path: at.step(key), ..at.clone() });
                }
                claimed.extend(object.tag.map(|(tag, _)| tag));
            }
            _ => {
                claimed.extend(object.fields.iter().map(|(key, _)| *key));
                self.not_checked(at, "a flattened field of another type reads it");
            }
        }
    }

    /// Reports the keys that no field has claimed.
    fn unclaimed(&mut self, name: &str, denies: bool, object: &Object<'a>, at: &At, claimed: &BTreeSet<&str>) {
        if at.lenient {
            return;
        }
        let at = &At { path: self.path_of(object, at), ..at.clone() };
        let tag = object.tag.map(|(tag, _)| (tag, object.of.instances));
        let keys = object.fields.iter().map(|(key, slot)| (*key, slot.count)).chain(tag);
        for (key, count) in keys.filter(|(key, _)| !claimed.contains(key)).collect::<Vec<_>>() {
            if denies {
                let at = At { item: name.to_owned(), path: at.step(key), ..at.clone() };
                self.refuse("the key is unknown", count, &at, false);
            } else {
                *self.found.lost.entry((name.to_owned(), at.step(key))).or_default() += scale(count, at.share);
            }
        }
    }

    fn enumeration(&mut self, id: DefId, of: &'s Enum, slot: &'a Slot, count: u64, at: &At) {
        let schema = self.schema;
        let (all, units) = objects(schema, slot);
        match &of.tagging {
            Tagging::Untagged => self.untagged(id, of, slot, count, at),
            Tagging::External => {
                if matches!(slot.kind, Kind::Text(_) | Kind::Keyword { .. }) {
                    match words(schema, slot) {
                        Some(words) => self.units(id, of, &words, at),
                        None => self.not_checked(at, "there are too many strings"),
                    }
                    return;
                }
                if all.is_empty() && units.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                self.units(id, of, &units, at);
                for object in all {
                    self.tagged(id, of, &object, at, None);
                }
            }
            Tagging::Internal(_) | Tagging::Adjacent(..) => {
                if all.is_empty() || !units.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                for object in all {
                    self.tagged(id, of, &object, at, None);
                }
            }
        }
    }

    /// Reads strings as variants without content.
    fn units(&mut self, id: DefId, of: &'s Enum, words: &[(&str, u64)], at: &At) {
        for (word, count) in words {
            match of.variants.iter().position(|variant| variant.has_tag(word) && variant.content.fields.is_empty()) {
                Some(index) => *self.found.variants.entry((id, index)).or_default() += scale(*count, at.share),
                None => self.unseen_tag(id, of, word, *count, at),
            }
        }
    }

    fn unseen_tag(&mut self, id: DefId, of: &'s Enum, word: &str, count: u64, at: &At) {
        let other = of.variants.iter().position(|variant| variant.is_other || variant.is_untagged);
        match other {
            Some(index) => *self.found.variants.entry((id, index)).or_default() += scale(count, at.share),
            None => {
                let what = format!("{word:?} is no variant of `{}`", self.types.defs[id].name);
                self.refuse(what, count, at, false);
            }
        }
    }

    /// Reads objects as a tagged enum. With `claimed`, the enum is flattened.
    fn tagged(
        &mut self,
        id: DefId,
        of: &'s Enum,
        object: &Object<'a>,
        at: &At,
        claimed: Option<&mut BTreeSet<&'a str>>,
    ) {
        let instances = object.of.instances;
        let share = at.share;
        let mut taken = BTreeSet::new();
        let claimed_keys = claimed.as_ref().map(|keys| (**keys).clone()).unwrap_or_default();
        match &of.tagging {
            Tagging::External => {
                // Without an external tag in the schema, each key is a variant.
                for (key, slot) in object.fields.iter().filter(|(key, _)| !claimed_keys.contains(key)) {
                    match of.variants.iter().position(|variant| variant.has_tag(key)) {
                        Some(index) => {
                            taken.insert(*key);
                            let at = At { path: at.step(key), item: of.variants[index].item.clone(), ..at.clone() };
                            self.variant(id, index, &of.variants[index], slot, scale(slot.count, share), &at);
                        }
                        None if claimed.is_none() => self.unseen_tag(id, of, key, slot.count, at),
                        None => {}
                    }
                }
            }
            Tagging::Internal(tag) | Tagging::Adjacent(tag, _) => {
                let Some(tags) = object.tags(self.schema, tag) else {
                    if claimed.is_none() && !object.fields.iter().any(|(key, _)| key == tag) && !at.lenient {
                        let at = At { path: at.step(tag), item: self.types.defs[id].name.clone(), ..at.clone() };
                        return self.refuse("the tag is missing", instances, &at, false);
                    }
                    return self.not_checked(at, format!("the values of `{tag}` are not told apart"));
                };
                taken.extend(object.fields.iter().map(|(key, _)| *key).find(|key| key == tag));
                taken.extend(object.tag.map(|(tag, _)| tag).filter(|key| key == tag));
                let seen: u64 = tags.iter().map(|(_, count)| count).sum();
                if seen < instances && claimed.is_none() && !at.lenient {
                    let at = At { path: at.step(tag), item: self.types.defs[id].name.clone(), ..at.clone() };
                    self.refuse("the tag is missing", instances - seen, &at, false);
                }
                let is_one = tags.len() == 1;
                for (value, count) in tags {
                    let Some(index) = of.variants.iter().position(|variant| variant.has_tag(value)) else {
                        self.unseen_tag(id, of, value, count, at);
                        continue;
                    };
                    let variant = &of.variants[index];
                    let part = count as f64 / instances.max(1) as f64;
                    let item = variant.item.clone();
                    let at = At { share: share * part, item, lenient: at.lenient || !is_one, ..at.clone() };
                    if let Tagging::Adjacent(_, content) = &of.tagging {
                        let found = object.fields.iter().find(|(key, _)| key == content);
                        if let Some((key, slot)) = found {
                            taken.insert(*key);
                            let at = At { path: at.step(content), ..at };
                            self.variant(id, index, variant, slot, scale(count, share), &at);
                        } else {
                            *self.found.variants.entry((id, index)).or_default() += scale(count, share);
                        }
                        continue;
                    }
                    *self.found.variants.entry((id, index)).or_default() += scale(count, share);
                    let mut keys: BTreeSet<&'a str> = claimed_keys.union(&taken).copied().collect();
                    self.internal(id, index, variant, object, &at, &mut keys, claimed.is_none());
                    taken.extend(keys);
                }
            }
            Tagging::Untagged => {
                taken.extend(object.fields.iter().map(|(key, _)| *key));
                self.not_checked(at, "an untagged enum is flattened there");
            }
        }
        if let Some(claimed) = claimed {
            claimed.extend(taken);
        }
    }

    /// Reads the objects with one value of an internal tag, whose content has the other keys.
    #[expect(clippy::too_many_arguments, reason = "the objects, and where they are")]
    fn internal(
        &mut self,
        id: DefId,
        index: usize,
        variant: &'s Variant,
        object: &Object<'a>,
        at: &At,
        keys: &mut BTreeSet<&'a str>,
        is_whole: bool,
    ) {
        let at = &At { buffered: true, ..at.clone() };
        let parts = &self.types.defs[id].parts[index];
        let count = scale(object.of.instances, at.share);
        let (mut of, mut ty) = ((id, index, &variant.content), parts.first());
        if variant.is_opaque {
            return self.not_checked(at, "a function reads it");
        }
        let mut at = at.clone();
        // `Variant(Struct)`: through boxes to the struct.
        while !of.2.is_named {
            *self.found.seen.entry((of.0, of.1, 0)).or_default() += count;
            at.owner = Some((of.0, of.1, 0));
            let mut inner = ty;
            while let Some(Ty::Boxed(next, before)) = inner {
                let size = self.layouts.size(next) + before;
                self.own(count * size, count, &at);
                inner = Some(&**next);
            }
            match inner {
                Some(Ty::Named(next)) if !self.types.defs[*next].item.is_opaque => {
                    self.found.instances[*next] += count;
                    match &self.types.defs[*next].item.shape {
                        Shape::Struct(inner) => {
                            of = (*next, 0, inner);
                            ty = self.types.defs[*next].parts[0].first();
                            if inner.fields.is_empty() {
                                break;
                            }
                        }
                        Shape::Enum(inner) => return self.tagged(*next, inner, object, &at, Some(keys)),
                        Shape::Alias(_) => return,
                    }
                }
                Some(Ty::Map(map, value)) => {
                    let field = &variant.content.fields[0];
                    let of = Ty::Map(*map, value.clone());
                    return self.flat(&of, field, object, &at, keys);
                }
                None => break,
                Some(_) => return self.not_checked(&at, "the content is of another type"),
            }
        }
        let path = at.path.clone();
        self.fields(of.0, of.1, of.2, object, &At { path, ..at.clone() }, keys);
        if is_whole {
            let name = if of.0 == id { variant.item.clone() } else { self.types.defs[of.0].name.clone() };
            self.unclaimed(&name, of.2.denies_unknown, object, &at, keys);
        }
    }

    /// Reads the content of a variant.
    fn variant(&mut self, id: DefId, index: usize, of: &'s Variant, slot: &'a Slot, count: u64, at: &At) {
        *self.found.variants.entry((id, index)).or_default() += count;
        if of.is_opaque {
            return self.not_checked(at, "a function reads it");
        }
        self.content(id, index, &of.content, slot, count, at);
    }

    fn untagged(&mut self, id: DefId, of: &'s Enum, slot: &'a Slot, count: u64, at: &At) {
        let parts = &self.types.defs[id].parts;
        let fits = |(variant, parts): (&Variant, &Vec<Ty>)| match &parts[..] {
            _ if variant.is_skipped => false,
            _ if variant.is_opaque => true,
            _ if variant.content.is_named => self.fits_fields(&variant.content, parts, slot, 4),
            [] => false,
            [only] => self.fits(only, slot, 4),
            all => match &slot.kind {
                Kind::Tuple { positions } => positions.len() == all.len(),
                Kind::Seq(seq) => seq.lengths.one() == Some(all.len() as u64),
                _ => false,
            },
        };
        let Some(index) = of.variants.iter().zip(parts).position(fits) else {
            let what = format!("{} fits no variant of `{}`", name_of(&slot.kind), self.types.defs[id].name);
            return self.refuse(what, slot.count - slot.nulls, at, false);
        };
        let variant = &of.variants[index];
        let at = At { buffered: true, item: variant.item.clone(), ..at.clone() };
        self.variant(id, index, variant, slot, count, &at);
    }

    /// Returns whether a type takes all values of a position, looking `depth` levels into it.
    fn fits(&self, of: &Ty, slot: &Slot, depth: usize) -> bool {
        if (slot.nulls > 0 && !self.takes_null(of)) || depth == 0 {
            return depth == 0;
        }
        match (of, &slot.kind) {
            (Ty::Option(inner) | Ty::Boxed(inner, _), _) => {
                let slot = Slot { nulls: 0, ..slot.clone() };
                self.fits(inner, &slot, depth)
            }
            (Ty::Value | Ty::Unknown(_), _) | (_, Kind::Never | Kind::Any(_)) => true,
            (_, Kind::Mixed { alternatives }) => alternatives.iter().all(|slot| self.fits(of, slot, depth)),
            (Ty::Bool, Kind::Bool { .. })
            | (Ty::Number | Ty::Float { .. }, Kind::Integer { .. } | Kind::Float { .. })
            | (Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed, Kind::Text(_) | Kind::Keyword { .. }) => true,
            (Ty::Int { bits, signed }, Kind::Integer { min, max }) => {
                let (low, high) = range(*bits, *signed);
                low <= *min && *max <= high
            }
            (Ty::Seq(_, element), Kind::Seq(data)) => self.fits(element, &data.element, depth - 1),
            (Ty::Seq(_, element), Kind::Tuple { positions }) => {
                positions.iter().all(|slot| self.fits(element, slot, depth - 1))
            }
            (Ty::Array(_, length), Kind::Seq(data)) => data.lengths.one() == Some(*length),
            (Ty::Tuple(all), Kind::Tuple { positions }) => all.len() == positions.len(),
            (Ty::Tuple(all), Kind::Seq(data)) => data.lengths.one() == Some(all.len() as u64),
            (Ty::Map(_, value), Kind::Map(data)) => self.fits(value, &data.value, depth - 1),
            (Ty::Map(_, value), Kind::Record { .. } | Kind::Union { .. }) => {
                let (all, units) = objects(self.schema, slot);
                let of_all =
                    |object: &Object<'_>| object.fields.iter().all(|(_, slot)| self.fits(value, slot, depth - 1));
                units.is_empty() && all.iter().all(of_all)
            }
            (Ty::Named(id), _) => {
                let def = &self.types.defs[*id];
                match &def.item.shape {
                    _ if def.item.is_opaque => true,
                    Shape::Struct(of) if of.is_named && !of.is_transparent => {
                        self.fits_fields(of, &def.parts[0], slot, depth)
                    }
                    Shape::Struct(_) => def.parts[0].first().is_some_and(|of| self.fits(of, slot, depth)),
                    Shape::Enum(of) => self.fits_enum(of, &def.parts, slot, depth),
                    Shape::Alias(_) => false,
                }
            }
            _ => false,
        }
    }

    fn fits_fields(&self, of: &Struct, parts: &[Ty], slot: &Slot, depth: usize) -> bool {
        let (all, units) = objects(self.schema, slot);
        let fits = |object: &Object<'_>| {
            let known = |key: &str| of.fields.iter().any(|field| field.key == key);
            let has_flat = of.fields.iter().any(|field| field.is_flat);
            let unknown = of.denies_unknown && !has_flat && object.fields.iter().any(|(key, _)| !known(key));
            !unknown
                && of.fields.iter().zip(parts).filter(|(field, _)| !field.is_flat && !field.is_skipped).all(
                    |(field, ty)| {
                        if object.tag.is_some_and(|(tag, _)| tag == field.key) {
                            return true;
                        }
                        match object.fields.iter().find(|(key, _)| *key == field.key) {
                            Some((_, slot)) => {
                                let may_lack = field.has_default || matches!(ty, Ty::Option(_));
                                (may_lack || slot.count == object.of.instances)
                                    && (field.is_opaque || self.fits(ty, slot, depth - 1))
                            }
                            None => field.has_default || matches!(ty, Ty::Option(_)),
                        }
                    },
                )
        };
        units.is_empty() && !all.is_empty() && all.iter().all(fits)
    }

    fn fits_enum(&self, of: &Enum, parts: &[Vec<Ty>], slot: &Slot, depth: usize) -> bool {
        let has = |word: &str| of.variants.iter().any(|variant| variant.has_tag(word) || variant.is_other);
        let (all, units) = objects(self.schema, slot);
        match &of.tagging {
            Tagging::Untagged => of.variants.iter().zip(parts).any(|(variant, parts)| match &parts[..] {
                _ if variant.content.is_named => self.fits_fields(&variant.content, parts, slot, depth - 1),
                [only] => self.fits(only, slot, depth - 1),
                _ => false,
            }),
            Tagging::External if matches!(slot.kind, Kind::Text(_) | Kind::Keyword { .. }) => {
                words(self.schema, slot).is_some_and(|words| words.iter().all(|(word, _)| has(word)))
            }
            Tagging::External => {
                (!all.is_empty() || !units.is_empty())
                    && units.iter().all(|(word, _)| has(word))
                    && all.iter().flat_map(|object| &object.fields).all(|(key, _)| has(key))
            }
            Tagging::Internal(tag) | Tagging::Adjacent(tag, _) => {
                let of_all = |object: &Object<'_>| {
                    object.tags(self.schema, tag).is_some_and(|tags| tags.iter().all(|(word, _)| has(word)))
                };
                units.is_empty() && !all.is_empty() && all.iter().all(of_all)
            }
        }
    }
}

/// Values without a type.
impl<'a> Check<'a, '_> {
    fn free(&mut self, slot: &'a Slot, at: &At) {
        let share = at.share;
        let count = scale(slot.count - slot.nulls, share);
        match &slot.kind {
            Kind::Text(text) | Kind::Keyword { text, .. } => {
                self.found.free.texts += scale(text.count - text.empty, share);
                self.found.free.text_bytes += scale(text.bytes, share);
            }
            Kind::Seq(data) => {
                let lengths = self.lengths(&data.lengths, at);
                self.found.free.arrays.merge(&lengths);
                self.free(&data.element, at);
            }
            Kind::Tuple { positions } => {
                self.found.free.arrays.add_many(positions.len() as u64, count);
                positions.iter().for_each(|slot| self.free(slot, at));
            }
            Kind::Map(data) => {
                let lengths = self.lengths(&data.lengths, at);
                self.found.free.objects.merge(&lengths);
                self.found.free.key_bytes += scale(data.key.bytes, share);
                self.free(&data.value, at);
            }
            Kind::Mixed { alternatives } => alternatives.iter().for_each(|slot| self.free(slot, at)),
            Kind::Any(free) if share == 1.0 => self.found.free.merge(free),
            Kind::Any(_) => self.found.is_exact = false,
            Kind::Record { .. } | Kind::Union { .. } => {
                let (all, units) = objects(self.schema, slot);
                for (word, count) in units {
                    self.found.free.texts += scale(count, share);
                    self.found.free.text_bytes += scale(count, share) * word.len() as u64;
                }
                let instances: u64 = all.iter().map(|object| object.of.instances).sum();
                for object in all {
                    let part = object.of.instances as f64 / instances.max(1) as f64;
                    self.later(object, By::Value, count as f64 * part, at);
                }
            }
            Kind::Never | Kind::Bool { .. } | Kind::Integer { .. } | Kind::Float { .. } => {}
        }
    }

    fn free_object(&mut self, object: &Object<'a>, at: &At) {
        let lengths = self.lengths(&object.lengths(), at);
        self.found.is_exact &= lengths.max <= 11 && (!object.of.key_sets.is_empty() || object.fields.is_empty());
        self.found.free.objects.merge(&lengths);
        if let Some((tag, value)) = object.tag {
            let count = scale(object.of.instances, at.share);
            self.found.free.key_bytes += count * tag.len() as u64;
            self.found.free.text_bytes += count * value.len() as u64;
            self.found.free.texts += if value.is_empty() { 0 } else { count };
        }
        for (key, slot) in object.fields.clone() {
            self.found.free.key_bytes += scale(slot.count, at.share) * key.len() as u64;
            self.free(slot, at);
        }
    }
}

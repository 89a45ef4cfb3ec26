//! Reads a schema by the rules of the user's types: what they refuse and lose, and the memory that the values take.

mod blocks;
mod declared;
mod fits;
mod tagged;

use super::data::{Object, name_of, objects};
use super::items::Shape;
use super::types::{DefId, Layouts, Map, Ty, Types};
use crate::model::Heap;
use crate::schema::{Free, Kind, Lengths, RecordId, Schema, Slot};
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
    /// Types of which a position is not checked, so that it is not known which variants no value has.
    pub(super) unsure: BTreeSet<DefId>,
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
        let is_stable = new == shares || new.values().all(|share| is_whole(*share));
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
    found.is_exact &= check.layouts.is_exact && new.values().all(|share| is_whole(*share));
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
    /// As an enum with a tag.
    Tagged(DefId),
    Map(Map, Ty),
    Value,
}

/// Returns whether a share is all of it.
fn is_whole(share: f64) -> bool {
    share >= 1.0
}

/// Returns the lengths at a place.
fn lengths_of(lengths: &Lengths, at: &At) -> Lengths {
    if is_whole(at.share) { lengths.clone() } else { lengths.share(scale(1 << 20, at.share), 1 << 20) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
fn scale(count: u64, share: f64) -> u64 {
    if is_whole(share) { count } else { (count as f64 * share).round() as u64 }
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
                By::Tagged(id) => {
                    if let Shape::Enum(of) = &self.types.defs[*id].item.shape {
                        self.tagged(*id, of, &task.object, &task.at, None);
                    }
                }
                By::Map(kind, value) => {
                    let (kind, value) = (*kind, value.clone());
                    let keys: u64 = task.object.fields.iter().map(|(key, slot)| slot.count * key.len() as u64).sum();
                    let count: u64 = task.object.fields.iter().map(|(_, slot)| slot.count).sum();
                    let lengths = lengths_of(&task.object.lengths(), &task.at);
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
            By::Tagged(id) => format!("{id}"),
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

    /// Returns whether other types read the objects here too, so that a value that some of these objects have may be
    /// of others. The data does not tell them apart, and the report says so.
    fn is_doubtful(&mut self, at: &At) -> bool {
        if !is_whole(at.share) {
            self.not_checked(at, "several of your types read these objects, which the data does not tell apart");
        }
        !is_whole(at.share)
    }

    fn own(&mut self, bytes: u64, allocations: u64, at: &At) {
        let heap = Heap { bytes, allocations: if bytes == 0 { 0 } else { allocations } };
        match at.owner {
            Some(owner) => *self.found.heap.entry(owner).or_default() += heap,
            None => self.found.root += heap,
        }
    }

    /// Reads the values of a position.
    fn value(&mut self, of: &Ty, slot: &'a Slot, at: &At) {
        let may_refuse = slot.nulls > 0 && !self.takes_null(of);
        if may_refuse && (slot.nulls == slot.count || !self.is_doubtful(at)) {
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
        if matches!(kind, Kind::Never) {
            return;
        }
        match (of, kind) {
            (Ty::Boxed(inner, before), _) => {
                let size = self.layouts.size(inner);
                let header = if size > 0 || *before > 0 { *before } else { 0 };
                self.own(count * (size + header), count, at);
                self.known(inner, kind, slot, count, at);
            }
            (Ty::Option(inner), _) => self.known(inner, kind, slot, count, at),
            (_, Kind::Mixed { alternatives }) if !matches!(of, Ty::Value) => {
                for slot in alternatives {
                    if is_whole(at.share) || self.fits(of, slot, fits::DEPTH) || !self.is_doubtful(at) {
                        self.value(of, slot, at);
                    }
                }
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
                let is_wrong = *min < low || *max > high;
                if is_wrong && self.is_doubtful(at) {
                    return;
                }
                for wrong in [(min < &low).then_some(min), (max > &high).then_some(max)].into_iter().flatten() {
                    self.refuse(format!("integers such as {wrong}"), 1, at, false);
                }
            }
            (Ty::String | Ty::BoxStr(_) | Ty::ThinStr, Kind::Text(text) | Kind::Keyword { text, .. }) => {
                self.text(of, text, at);
            }
            (Ty::Seq(seq, element), Kind::Seq(data)) => {
                let lengths = lengths_of(&data.lengths, at);
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
                let lengths = lengths_of(&data.lengths, at);
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
                self.refuse(format!("{} for an array", name_of(kind)), count, &At { share: 1.0, ..at.clone() }, false);
            }
        }
    }
}

/// Returns the least and the largest value of an integer type.
fn range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

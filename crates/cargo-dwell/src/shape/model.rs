//! Builds Rust types from a schema and a choice for each position, and predicts the heap memory of the documents in
//! them.

use super::formats::Format;
use super::positions::{Position, PositionId, Positions, ROOT};
use super::schema::{KeywordsId, Kind, Lengths, RecordId, Text, UnionId};
use super::types::{Body, DefId, Int, Layouts, Type};
use dwell::model::{blocks, table};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The representation of the values of one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The types of a first draft: `String`, `Vec`, `HashMap`, 64-bit integers, no boxes.
    #[default]
    Plain,
    /// Without spare capacity: `Box<str>`, `Box<[T]>`, `SortedMap<Box<str>, T>`.
    Exact,
    /// [`Exact`](Self::Exact) behind a one-word handle: `ThinStr`, `ThinSlice`, `SortedMap<ThinStr, T>`.
    Thin,
    /// `Box<T>`
    Boxed,
    /// `Sparse<T>`
    Sparse,
    /// An integer of this width.
    Int(Int),
    /// An array of this length: `[T; N]`.
    Array(u64),
}

/// A choice for each position, variant and record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choices {
    /// The choice for each position.
    pub at: Vec<Choice>,
    /// The variants that are boxed.
    pub variants: BTreeSet<(UnionId, usize)>,
    /// The records whose rare fields are moved to structs of their own.
    pub splits: BTreeMap<RecordId, Rc<Split>>,
    /// Whether to use std's types only: `HashMap` for maps, and `Box<str>` for strings of enums with a variant `Other`.
    pub standard: bool,
}

/// The fields of a record that are moved to structs of their own, in groups.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Split {
    /// The fields of each group, the most common group first.
    pub groups: Vec<Vec<usize>>,
    /// For each group, the number of instances that have at least one of its fields.
    pub filled: Vec<u64>,
    /// Whether each field is in a group.
    moved: Vec<bool>,
}

impl Split {
    /// Groups fields of a record.
    pub fn new(positions: &Positions<'_>, record: RecordId, mut groups: Vec<Vec<usize>>) -> Self {
        groups
            .sort_by_cached_key(|group| (std::cmp::Reverse(positions.any_of(record, group).0), group.first().copied()));
        let filled = groups.iter().map(|group| positions.any_of(record, group).0).collect();
        let mut moved = vec![false; positions.fields[record].len()];
        groups.iter().flatten().for_each(|&field| moved[field] = true);
        Self { groups, filled, moved }
    }

    /// Returns whether a field is in one of the groups.
    pub fn moved(&self, field: usize) -> bool {
        self.moved[field]
    }
}

impl Choices {
    /// Returns whether these are the naive types.
    pub fn is_naive(&self) -> bool {
        self.variants.is_empty() && self.splits.is_empty() && self.at.iter().all(|choice| *choice == Choice::Plain)
    }

    /// Returns the choices of the naive types, a first draft that is not optimised for memory.
    pub fn naive(positions: &Positions<'_>) -> Self {
        Self { at: vec![Choice::Plain; positions.list.len()], ..Self::default() }
    }
}

/// The part of the schema that a struct or enum is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A record.
    Record(RecordId),
    /// Rare fields of a record.
    Group(RecordId, usize),
    /// A union.
    Union(UnionId),
    /// A set of keywords.
    Keywords(KeywordsId),
    /// The untagged enum at a position of several JSON types.
    Mixed(PositionId),
}

/// The part of the schema that a field or variant is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The values of a position.
    Position(PositionId, Presence),
    /// A group of rare fields.
    Group(usize),
    /// A variant of a union.
    Variant(usize),
}

/// The representation of a missing key or of `null` in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The key is always present; `null`, if it occurs, is `None`.
    Always,
    /// A missing key is `None`; `null` does not occur.
    Missing,
    /// A missing key is `None`; a key with `null` is `Some` of the inner representation of `null`.
    MissingOrNull,
    /// A missing key is the empty value.
    MissingIsEmpty,
}

/// A struct or enum.
#[derive(Debug, Clone)]
pub struct Def {
    /// The part of the schema that it is generated for.
    pub source: Source,
    /// The part of the schema for each field or variant of its [`Body`], except for a variant for unseen values; empty
    /// for keywords.
    pub parts: Vec<Part>,
    /// Whether it is the `T` of a `Sparse<T>`.
    pub sparse: bool,
}

/// The owner of a heap block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// All documents in one vector.
    Documents,
    /// A position.
    Position(PositionId),
    /// A group of rare fields.
    Group(RecordId, usize),
    /// A variant of a union.
    Variant(UnionId, usize),
}

/// The heap blocks that the values of one position own.
#[derive(Debug, Clone)]
enum Owned<'s> {
    /// Strings, one block for each that is not empty. If `true`, they are thin and store the length in the block.
    Text(&'s Text, bool),
    /// Blocks whose sum is known.
    Known(Heap),
    /// A number of boxes, and the type in them.
    Boxes(u64, Type),
    /// Vectors that grew by `push`. The last field is the share that serde read from a buffer, with a known length.
    Vecs(&'s Lengths, Type, f64),
    /// Boxed slices. If `true`, they are thin and have a header.
    Slices(&'s Lengths, Type, bool),
    /// Hash maps with entries of this type.
    HashMaps(&'s Lengths, Type),
}

/// Live bytes, as requested from the allocator, and live allocations.
pub use dwell::model::Sum as Heap;

/// Enums of mixed types that are equal, and so are written once.
#[derive(Debug, Default)]
struct Aliases {
    /// The enum that is written instead of each duplicate.
    of: BTreeMap<DefId, DefId>,
    /// The first enum with each name; others with the name represent their values differently.
    firsts: BTreeMap<String, DefId>,
}

/// Rust types for a schema, and the heap memory of all documents in them.
#[derive(Debug)]
pub struct Model<'p, 's> {
    positions: &'p Positions<'s>,
    choices: Cow<'p, Choices>,
    /// Whether these are the naive types.
    is_naive: bool,
    /// The structs and enums, in the order in which a document leads to them.
    pub defs: Vec<Def>,
    /// The types of the fields or variants of each definition.
    pub bodies: Vec<Body>,
    /// The type of a document.
    pub root: Type,
    ids: BTreeMap<(u8, usize, usize), DefId>,
    buffered: Vec<f64>,
    own: Vec<(At, Owned<'s>)>,
    aliases: OnceCell<Aliases>,
}

impl<'p, 's> Model<'p, 's> {
    /// Builds the types of `choices`.
    pub fn new(positions: &'p Positions<'s>, choices: &'p Choices) -> Self {
        Self::with(positions, Cow::Borrowed(choices))
    }

    /// Builds the types of `choices`, which may be owned by the model.
    pub fn with(positions: &'p Positions<'s>, choices: Cow<'p, Choices>) -> Self {
        let mut model = Self {
            positions,
            is_naive: choices.is_naive(),
            choices,
            defs: Vec::new(),
            bodies: Vec::new(),
            root: Type::Unit,
            ids: BTreeMap::new(),
            buffered: Vec::new(),
            own: Vec::new(),
            aliases: OnceCell::new(),
        };
        // Only containers that grow by `push` need the shares.
        let grows = |(position, choice): (&Position<'_>, &Choice)| {
            *choice == Choice::Plain && matches!(position.slot.kind, Kind::Seq(_))
        };
        if positions.list.iter().zip(&model.choices.at).any(grows) {
            model.buffered = model.buffered_shares();
        }
        model.root = model.position(ROOT).0;
        model.own.push((At::Documents, Owned::Boxes(1, Type::Unit)));
        model
    }

    /// Finds equal enums of mixed types.
    fn aliases(&self) -> Aliases {
        let mixes: Vec<(DefId, &str)> = (0..self.defs.len())
            .filter_map(|id| match self.defs[id].source {
                Source::Mixed(position) => Some((id, &*self.positions.list[position].name)),
                _ => None,
            })
            .collect();
        let mut found = Aliases::default();
        for &(id, name) in &mixes {
            found.firsts.entry(name.to_owned()).or_insert(id);
        }
        // An enum may contain others, so this repeats until nothing changes.
        loop {
            let (mut known, mut of) = (BTreeMap::new(), BTreeMap::new());
            for &(id, name) in &mixes {
                let Body::Enum(types) = &self.bodies[id] else { continue };
                let number = |id: DefId| found.of.get(&id).unwrap_or(&id).to_string();
                let types: Vec<String> =
                    types.iter().map(|of| of.as_ref().map_or_else(String::new, |of| of.rust(&number))).collect();
                let first = *known.entry((name, types)).or_insert(id);
                if first != id {
                    of.insert(id, first);
                }
            }
            if of == found.of {
                return found;
            }
            found.of = of;
        }
    }

    /// Returns the definition that is written for this one: itself, or an equal one.
    pub fn canonical(&self, id: DefId) -> DefId {
        *self.aliases.get_or_init(|| self.aliases()).of.get(&id).unwrap_or(&id)
    }

    /// Returns the memory of all documents in one vector without spare capacity, by owner.
    ///
    /// The sum equals the count of an allocator after `serde_json::from_slice` of each document.
    pub fn heap(&self) -> BTreeMap<At, Heap> {
        let mut layouts = Layouts::new(&self.bodies);
        let mut heap = BTreeMap::<At, Heap>::new();
        for (at, own) in &self.own {
            *heap.entry(*at).or_default() += self.owned(*at, own, &mut layouts);
        }
        heap
    }

    /// Returns the unused part of [`heap`](Self::heap): spare capacity of vectors, and empty buckets of hash tables.
    pub fn spare(&self) -> BTreeMap<At, u64> {
        let mut layouts = Layouts::new(&self.bodies);
        let mut spare = BTreeMap::<At, u64>::new();
        for (at, own) in &self.own {
            if let Owned::Vecs(lengths, of, _) | Owned::HashMaps(lengths, of) = own {
                let used = lengths.total * layouts.size(of);
                *spare.entry(*at).or_default() += self.owned(*at, own, &mut layouts).bytes.saturating_sub(used);
            }
        }
        spare
    }

    /// Returns the sum of [`heap`](Self::heap).
    pub fn total(&self) -> Heap {
        let mut layouts = Layouts::new(&self.bodies);
        let mut total = Heap::default();
        for (at, own) in &self.own {
            total += self.owned(*at, own, &mut layouts);
        }
        total
    }

    fn owned(&self, at: At, own: &Owned<'s>, layouts: &mut Layouts<'_>) -> Heap {
        let owned = |count: u64, bytes: u64| Heap { bytes, allocations: if bytes == 0 { 0 } else { count } };
        if at == At::Documents {
            return owned(1, self.positions.schema.documents * layouts.size(&self.root));
        }
        match own {
            Owned::Text(text, thin) => {
                let lengths = if *thin { thin_lengths(text) } else { 0 };
                Heap { bytes: text.bytes + lengths, allocations: text.count - text.empty }
            }
            Owned::Known(heap) => *heap,
            Owned::Boxes(count, of) => owned(*count, count * layouts.size(of)),
            Owned::Vecs(lengths, of, buffered) => {
                let size = layouts.size(of);
                let exact = share_of(buffered_capacity(lengths, size).0, *buffered);
                let pushed = share_of(lengths.pushed_capacity(blocks::least_capacity(size)), 1.0 - buffered);
                owned(lengths.count - lengths.empty, (exact + pushed) * size)
            }
            Owned::Slices(lengths, of, is_thin) => {
                let (filled, element) = (lengths.count - lengths.empty, layouts.layout(of));
                let header = if *is_thin { blocks::thin_header(element) } else { 0 };
                owned(filled, lengths.total * element.size + filled * header)
            }
            Owned::HashMaps(lengths, entry) => {
                let (buckets, filled) = (lengths.hash_buckets(), lengths.count - lengths.empty);
                owned(filled, table::tables(filled, buckets, layouts.size(entry)))
            }
        }
    }

    /// Returns the number of slots of each struct and enum, with the spare capacity of vectors and hash tables.
    pub fn slots(&self) -> Vec<u64> {
        let mut layouts = Layouts::new(&self.bodies);
        let mut slots = vec![0; self.defs.len()];
        let mut count = |of: &Type, units: u64| inline(of, 1, &mut |id, times| slots[id] += units * times);
        count(&self.root, self.positions.schema.documents);
        for (at, own) in &self.own {
            match own {
                _ if *at == At::Documents => {}
                Owned::Text(..) | Owned::Known(_) => {}
                Owned::Boxes(number, of) => count(of, *number),
                Owned::Vecs(lengths, of, buffered) => {
                    let smallest = blocks::least_capacity(layouts.size(of));
                    let pushed = share_of(lengths.pushed_capacity(smallest), 1.0 - buffered);
                    count(of, share_of(lengths.total, *buffered) + pushed);
                }
                Owned::Slices(lengths, of, _) => count(of, lengths.total),
                Owned::HashMaps(lengths, entry) => count(entry, lengths.hash_buckets()),
            }
        }
        // Each definition passes its slots to the types inside it, outermost first. An enum passes to each variant only
        // the instances of that variant: unused bytes of a small variant belong to the enum.
        let schema = self.positions.schema;
        let each_inside = |id: DefId, f: &mut dyn FnMut(DefId, u64)| match (&self.bodies[id], self.defs[id].source) {
            (Body::Struct(fields), _) => fields
                .iter()
                .for_each(|field| inline(field, 1, &mut |id, times| (0..times).for_each(|_| f(id, u64::MAX)))),
            (Body::Enum(variants), source) => {
                for (index, field) in variants.iter().enumerate().filter_map(|(index, of)| Some((index, of.as_ref()?)))
                {
                    let most = match (source, self.defs[id].parts.get(index)) {
                        (Source::Union(union), _) => {
                            let variant = schema.unions[union].variants.get(index);
                            variant.map_or(0, |&(_, record)| schema.records[record].instances)
                        }
                        (_, Some(&Part::Position(position, _))) => self.positions.full(position),
                        _ => u64::MAX,
                    };
                    inline(field, 1, &mut |id, times| (0..times).for_each(|_| f(id, most)));
                }
            }
        };
        let mut containers = vec![0u32; self.defs.len()];
        for id in 0..self.defs.len() {
            each_inside(id, &mut |inner, _| containers[inner] += 1);
        }
        let mut ready: Vec<DefId> = (0..self.defs.len()).filter(|&id| containers[id] == 0).collect();
        while let Some(id) = ready.pop() {
            let own = slots[id];
            each_inside(id, &mut |inner, most| {
                slots[inner] += own.min(most);
                containers[inner] -= 1;
                if containers[inner] == 0 {
                    ready.push(inner);
                }
            });
        }
        slots
    }

    /// Returns the struct or enum that is generated for `source`, if a document reaches it.
    pub fn find(&self, source: Source) -> Option<DefId> {
        self.ids.get(&key(source)).copied()
    }

    /// Returns the positions of vectors that may exceed 1 MiB, the most that serde reserves for a sequence from a
    /// buffer.
    pub fn grown(&self) -> Vec<PositionId> {
        let mut layouts = Layouts::new(&self.bodies);
        let grown = self.own.iter().filter_map(|(at, own)| match (at, own) {
            (At::Position(id), Owned::Vecs(lengths, of, buffered)) if *buffered > 0.0 => {
                (!buffered_capacity(lengths, layouts.size(of)).1
                    || (*buffered < 1.0 && lengths.max * layouts.size(of) > 1 << 20))
                    .then_some(*id)
            }
            _ => None,
        });
        grown.collect()
    }

    /// Returns the choices that the types were built from.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Returns whether these are the naive types.
    pub fn is_naive(&self) -> bool {
        self.is_naive
    }

    /// Returns the positions of the model.
    pub fn positions(&self) -> &'p Positions<'s> {
        self.positions
    }

    /// Returns the type of a field's position as Rust source; `?` if no document reaches the position.
    pub fn type_at(&self, id: PositionId) -> String {
        for (def, body) in self.defs.iter().zip(&self.bodies) {
            let Body::Struct(types) = body else { continue };
            for (part, of) in def.parts.iter().zip(types) {
                if matches!(part, Part::Position(position, _) if *position == id) {
                    return self.rust(of);
                }
            }
        }
        "?".into()
    }

    /// Returns the name of a group of rare fields.
    pub fn group_name(&self, record: RecordId, group: usize) -> String {
        self.find(Source::Group(record, group)).map_or_else(String::new, |id| self.name(id))
    }

    /// Returns the name of a struct or enum.
    pub fn name(&self, id: DefId) -> String {
        let id = self.canonical(id);
        match self.defs[id].source {
            Source::Record(id) => self.positions.record_names[id].0.clone(),
            Source::Group(id, group) => {
                // A single group has no number in its name.
                let first = usize::from(self.choices.splits[&id].groups.len() == 1);
                self.positions.record_names[id].1[first + group].clone()
            }
            Source::Union(id) => self.positions.union_names[id].0.clone(),
            Source::Keywords(id) => self.positions.keywords_names[id].0.clone(),
            Source::Mixed(position) => {
                let position = &self.positions.list[position];
                let firsts = &self.aliases.get_or_init(|| self.aliases()).firsts;
                if firsts.get(&position.name) == Some(&id) { position.name.clone() } else { position.own_name.clone() }
            }
        }
    }

    /// Returns a type as Rust source.
    pub fn rust(&self, of: &Type) -> String {
        of.rust(&|id| self.name(id))
    }

    /// Returns the share of each record's instances that serde reads from a buffer, where sequences have a known
    /// length.
    ///
    /// serde buffers the contents of internally tagged enums, untagged enums and flattened structs.
    fn buffered_shares(&self) -> Vec<f64> {
        let records = &self.positions.schema.records;
        let mut shares = vec![0.0; records.len()];
        // Recursive types make this a system of equations; the iteration converges quickly.
        for _ in 0..32 {
            let mut counts = vec![0.0; records.len()];
            for (id, position) in self.positions.list.iter().enumerate() {
                match position.slot.kind {
                    Kind::Record { id: record, .. } => {
                        counts[record] += self.positions.full(id) as f64 * self.share(id, &shares);
                    }
                    Kind::Union { id: union } => {
                        let variants = &self.positions.schema.unions[union].variants;
                        for &(_, record) in variants {
                            counts[record] = records[record].instances as f64;
                        }
                    }
                    _ => {}
                }
            }
            let new = counts.iter().zip(records).map(|(count, record)| count / (record.instances.max(1) as f64));
            let new: Vec<f64> = new.map(|share| share.min(1.0)).collect();
            if new == shares {
                break;
            }
            shares = new;
        }
        shares
    }

    /// Returns the share of a position's values that serde reads from a buffer.
    fn share(&self, id: PositionId, shares: &[f64]) -> f64 {
        let position = &self.positions.list[id];
        match position.owner {
            _ if position.buffered => 1.0,
            None => 0.0,
            Some(record) => {
                let moved = |split: &Rc<Split>| position.field.is_some_and(|field| split.moved(field));
                if self.choices.splits.get(&record).is_some_and(moved) { 1.0 } else { shares[record] }
            }
        }
    }

    /// Returns the type of a position, including `null` and missing keys.
    fn position(&mut self, id: PositionId) -> (Type, Presence) {
        let position = &self.positions.list[id];
        let (slot, missing) = (position.slot, self.positions.is_optional(id));
        let base = self.base(id);
        if let (Type::Sparse(inner), Kind::Record { empty, .. }) = (&base, &slot.kind) {
            if let Type::Named(inner) = **inner {
                self.defs[inner].sparse = true;
            }
            if missing && slot.nulls == 0 && *empty == 0 {
                return (base, Presence::MissingIsEmpty);
            }
        }
        let null = slot.nulls > 0;
        let base = if null { base.option() } else { base };
        match (missing, null) {
            (false, _) => (base, Presence::Always),
            (true, false) => (base.option(), Presence::Missing),
            (true, true) => (base.option(), Presence::MissingOrNull),
        }
    }

    /// Returns the type of a position's values other than `null`.
    fn base(&mut self, id: PositionId) -> Type {
        let of = self.seen(id);
        let (positions, position) = (self.positions, &self.positions.list[id]);
        // Naive types accept only what the data has.
        if self.is_naive || !positions.schema.is_open(position.slot) {
            return of;
        }
        let (of, full) = (of.open(), positions.full(id));
        // The enum takes two words or more. In a field that is rarely present, a pointer to it takes one.
        if positions.slots(id) < 4 * full {
            return of;
        }
        self.own.push((At::Position(id), Owned::Boxes(full, of.clone())));
        of.boxed()
    }

    /// Returns the inferred type of a position's values other than `null`.
    fn seen(&mut self, id: PositionId) -> Type {
        let positions = self.positions;
        let position = &positions.list[id];
        let choice = self.choices.at[id];
        let at = At::Position(id);
        let bare = match &position.slot.kind {
            // No value but `null` was seen, so the type of other values is unknown.
            Kind::Never => Type::Value,
            Kind::Any(free) => {
                let (bytes, allocations) = free.owned();
                self.own.push((at, Owned::Known(Heap { bytes, allocations })));
                Type::Value
            }
            Kind::Bool { .. } => return Type::Bool,
            Kind::Integer { min, max } if !Int::fits(*min, *max) => return Type::Number,
            Kind::Integer { min, max } => {
                return match choice {
                    Choice::Int(int) => Type::Int(int),
                    _ => Type::Int(Int::narrowest(*min, *max).widest()),
                };
            }
            // Only `Number` keeps the difference between `1` and `1.0`.
            Kind::Float { whole, .. } if *whole > 0 && !positions.schema.floats => return Type::Number,
            Kind::Float { .. } => return Type::Float,
            Kind::Text(text) => {
                if let Some(format) = positions.schema.format(text) {
                    if format == Format::Url {
                        self.own.push((at, Owned::Text(text, false)));
                    }
                    return Type::Foreign(format);
                }
                self.own.push((at, Owned::Text(text, choice == Choice::Thin)));
                return match choice {
                    Choice::Exact => Type::BoxStr,
                    Choice::Thin => Type::ThinStr,
                    _ => Type::String,
                };
            }
            Kind::Seq(seq) => {
                let element = self.position(position.within[0]).0;
                let lengths = &seq.lengths;
                let inner = Box::new(element.clone());
                if let Choice::Array(length) = choice {
                    return Type::Array(inner, length);
                }
                let (own, of) = match choice {
                    Choice::Exact => (Owned::Slices(lengths, element, false), Type::BoxSlice(inner)),
                    Choice::Thin => (Owned::Slices(lengths, element, true), Type::ThinSlice(inner)),
                    _ => (Owned::Vecs(lengths, element, self.share(id, &self.buffered)), Type::Vec(inner)),
                };
                self.own.push((at, own));
                return of;
            }
            Kind::Map(map) => {
                let value = self.position(position.within[0]).0;
                let (key, sorted) = match choice {
                    _ if self.choices.standard => (Type::String, false),
                    Choice::Thin => (Type::ThinStr, true),
                    Choice::Exact => (Type::BoxStr, true),
                    _ => (Type::String, false),
                };
                self.own.push((at, Owned::Text(&map.key, choice == Choice::Thin)));
                let entry = Type::Tuple(vec![key.clone(), value.clone()]);
                let (own, of) = if sorted {
                    (Owned::Slices(&map.lengths, entry, true), Type::SortedMap(Box::new(key), Box::new(value)))
                } else {
                    (Owned::HashMaps(&map.lengths, entry), Type::HashMap(Box::new(value)))
                };
                self.own.push((at, own));
                return of;
            }
            Kind::Tuple { .. } => Type::Tuple(position.within.iter().map(|&within| self.position(within).0).collect()),
            Kind::Keyword { id, .. } => Type::Named(self.keywords(*id)),
            Kind::Record { id, .. } => Type::Named(self.record(*id)),
            Kind::Union { id } => Type::Named(self.union(*id)),
            Kind::Mixed { .. } => Type::Named(self.mixed(id)),
        };
        let mut full = positions.full(id);
        match choice {
            Choice::Sparse => {
                if let Kind::Record { empty, .. } = position.slot.kind {
                    full -= empty;
                }
                self.own.push((at, Owned::Boxes(full, bare.clone())));
                Type::Sparse(Box::new(bare))
            }
            Choice::Plain if !position.recursive => bare,
            _ => {
                self.own.push((at, Owned::Boxes(full, bare.clone())));
                bare.boxed()
            }
        }
    }

    /// Reserves an id, so that a recursive type can refer to itself. Returns `Err` with the id if the source has one
    /// already.
    fn reserve(&mut self, source: Source) -> Result<DefId, DefId> {
        let id = self.defs.len();
        match self.ids.entry(key(source)) {
            std::collections::btree_map::Entry::Occupied(known) => return Err(*known.get()),
            std::collections::btree_map::Entry::Vacant(new) => new.insert(id),
        };
        self.defs.push(Def { source, parts: Vec::new(), sparse: false });
        self.bodies.push(Body::Struct(Vec::new()));
        Ok(id)
    }

    fn record(&mut self, record: RecordId) -> DefId {
        let id = match self.reserve(Source::Record(record)) {
            Ok(id) => id,
            Err(known) => return known,
        };
        let positions = self.positions;
        let split = self.choices.splits.get(&record).cloned();
        let split = split.as_deref();
        let (mut types, mut parts) = (Vec::new(), Vec::new());
        let is_rest = |index: usize| positions.schema.records[record].fields[index].rest;
        for (index, &field) in positions.fields[record].iter().enumerate() {
            if !is_rest(index) && !split.is_some_and(|split| split.moved(index)) {
                let (of, presence) = self.position(field);
                types.push(of);
                parts.push(Part::Position(field, presence));
            }
        }
        for (index, group) in split.into_iter().flat_map(|split| split.groups.iter().enumerate()) {
            let of = Type::Named(self.group(record, index, group));
            let filled = split.map_or(0, |split| split.filled[index]);
            self.own.push((At::Group(record, index), Owned::Boxes(filled, of.clone())));
            types.push(Type::Sparse(Box::new(of)));
            parts.push(Part::Group(index));
        }
        // A flattened map takes all remaining keys, so it is the last field.
        for (_, &field) in positions.fields[record].iter().enumerate().filter(|&(index, _)| is_rest(index)) {
            let (of, presence) = self.position(field);
            types.push(of);
            parts.push(Part::Position(field, presence));
        }
        self.defs[id].parts = parts;
        self.bodies[id] = Body::Struct(types);
        id
    }

    fn group(&mut self, record: RecordId, index: usize, group: &[usize]) -> DefId {
        let id = match self.reserve(Source::Group(record, index)) {
            Ok(id) => id,
            Err(known) => return known,
        };
        let (mut types, mut parts) = (Vec::new(), Vec::new());
        for &field in group {
            let position = self.positions.fields[record][field];
            let (of, presence) = self.position(position);
            types.push(of);
            parts.push(Part::Position(position, presence));
        }
        self.defs[id].sparse = true;
        self.defs[id].parts = parts;
        self.bodies[id] = Body::Struct(types);
        id
    }

    fn union(&mut self, union: UnionId) -> DefId {
        let id = match self.reserve(Source::Union(union)) {
            Ok(id) => id,
            Err(known) => return known,
        };
        let schema = self.positions.schema;
        let (mut types, mut parts) = (Vec::new(), Vec::new());
        for (index, &(_, record)) in schema.unions[union].variants.iter().enumerate() {
            parts.push(Part::Variant(index));
            // A record without fields becomes a unit variant.
            if schema.records[record].fields.is_empty() && schema.unions[union].without_tag() != Some(record) {
                types.push(None);
                continue;
            }
            let bare = Type::Named(self.record(record));
            let at = (union, index);
            let boxed = self.choices.variants.contains(&at) || self.positions.recursive_variants.contains(&at);
            if boxed {
                let count = schema.records[record].instances;
                self.own.push((At::Variant(union, index), Owned::Boxes(count, bare.clone())));
            }
            types.push(Some(if boxed { bare.boxed() } else { bare }));
        }
        if !schema.strict {
            // The variant for unknown tags, which the data does not have.
            let value = || if self.is_naive { Type::Value } else { Type::Value.boxed() };
            types.push((!self.positions.has_unit_other(union)).then(value));
        }
        self.defs[id].parts = parts;
        self.bodies[id] = Body::Enum(types);
        id
    }

    fn keywords(&mut self, keywords: KeywordsId) -> DefId {
        match self.reserve(Source::Keywords(keywords)) {
            Ok(id) => {
                let mut variants = vec![None; self.positions.schema.keywords[keywords].values.len()];
                if !self.positions.schema.strict {
                    // The variant for unknown strings, which the data does not have.
                    let other = if self.choices.standard { Type::BoxStr } else { Type::ThinStr };
                    variants.push(Some(if self.is_naive { Type::String } else { other }));
                }
                self.bodies[id] = Body::Enum(variants);
                id
            }
            Err(known) => known,
        }
    }

    fn mixed(&mut self, position: PositionId) -> DefId {
        let id = match self.reserve(Source::Mixed(position)) {
            Ok(id) => id,
            Err(known) => return known,
        };
        let within = &self.positions.list[position].within;
        let mut types: Vec<Option<Type>> = within.iter().map(|&within| Some(self.position(within).0)).collect();
        // The variant for other JSON types, which the data does not have. Naive types have no such variant.
        let holds_all = self.positions.list[position]
            .within
            .iter()
            .any(|&id| matches!(self.positions.list[id].slot.kind, Kind::Any(_)));
        if !self.positions.schema.strict && !self.is_naive && !holds_all {
            types.push(Some(Type::Value.boxed()));
        }
        self.defs[id].parts = within.iter().map(|&within| Part::Position(within, Presence::Always)).collect();
        self.bodies[id] = Body::Enum(types);
        id
    }
}

/// Returns the total capacity of vectors that serde fills from a buffer, and whether it is exact.
///
/// serde reserves the length in the buffer, up to 1 MiB. A longer vector grows from there by doubling.
fn buffered_capacity(lengths: &Lengths, size: u64) -> (u64, bool) {
    let reserved = (1u64 << 20).checked_div(size).unwrap_or(u64::MAX).max(1);
    if lengths.max <= reserved {
        return (lengths.total, true);
    }
    let grown = |length: u64| {
        let mut capacity = reserved;
        while capacity < length {
            capacity *= 2;
        }
        capacity - length
    };
    let (mut capacity, mut exact) = (lengths.total, true);
    for (power, &count) in (0u32..).zip(&lengths.by_power) {
        let most = 1u64 << power;
        if most > reserved && count > 0 {
            let is_last = power as usize + 1 == lengths.by_power.len();
            // The lengths of this class are not known, except for the longest.
            let length = if is_last { lengths.max } else { (most / 4 * 3).max(1) };
            exact &= is_last && count == 1;
            capacity += if length > reserved { grown(length) * count } else { 0 };
        }
    }
    (capacity, exact)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is between 0 and 1")]
fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share).round() as u64
}

/// Returns the bytes of the lengths that thin strings store in their blocks.
pub fn thin_lengths(text: &Text) -> u64 {
    blocks::thin_texts(text.count - text.empty, text.long)
}

fn key(source: Source) -> (u8, usize, usize) {
    match source {
        Source::Record(id) => (0, id, 0),
        Source::Group(id, group) => (1, id, group),
        Source::Union(id) => (2, id, 0),
        Source::Keywords(id) => (3, id, 0),
        Source::Mixed(position) => (4, position, 0),
    }
}

/// Calls `f` with each struct and enum that a type stores inline, and their number.
fn inline(of: &Type, times: u64, f: &mut dyn FnMut(DefId, u64)) {
    match of {
        Type::Named(id) => f(*id, times),
        Type::Option(inner) | Type::Open(inner) => inline(inner, times, f),
        Type::Array(inner, length) => inline(inner, times * length, f),
        Type::Tuple(fields) => fields.iter().for_each(|field| inline(field, times, f)),
        _ => {}
    }
}

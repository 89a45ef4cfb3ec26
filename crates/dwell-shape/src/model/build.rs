//! Builds the types from the choices.

use super::choices::{Choice, Split};
use super::defs::{At, Def, Part, Presence, Source};
use super::{Heap, Model, Owned, key};
use crate::formats::Format;
use crate::positions::PositionId;
use crate::schema::{KeywordsId, Kind, RecordId, Schema, Tagging, Union, UnionId};
use crate::types::{Body, DefId, Int, Type};
use std::rc::Rc;

impl Model<'_, '_> {
    /// Returns the share of each record's instances that serde reads from a buffer, where sequences have a known
    /// length.
    ///
    /// serde buffers the contents of internally tagged enums, untagged enums and flattened structs.
    pub(super) fn buffered_shares(&self) -> Vec<f64> {
        let records = &self.positions.schema.records;
        let mut shares = vec![0.0; records.len()];
        // Recursive types make this a system of equations; the iteration converges quickly.
        for _ in 0..32 {
            let mut counts = vec![0.0; records.len()];
            for &id in &self.positions.objects {
                match self.positions.list[id].slot.kind {
                    Kind::Record { id: record, .. } => {
                        counts[record] += self.positions.full(id) as f64 * self.share(id, &shares);
                    }
                    Kind::Union { id: union } => {
                        let members = &self.positions.schema.unions[union];
                        // Without a variant for other values, an external tag needs no buffer.
                        let is_direct =
                            self.positions.schema.is_closed_union(union) && members.form == Tagging::External;
                        let all: u64 = members.variants.iter().map(|&(_, record)| records[record].instances).sum();
                        let own = self.positions.full(id) as f64 * self.share(id, &shares) / all.max(1) as f64;
                        for &(_, record) in &members.variants {
                            let instances = records[record].instances as f64;
                            counts[record] = if is_direct { counts[record] + instances * own } else { instances };
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

    /// Returns whether [`buffered_shares`](Self::buffered_shares) depend on which fields of a record move: these hold objects
    /// that serde does not read from a buffer anyway.
    pub(super) fn may_move_objects(&self, record: RecordId) -> bool {
        let list = &self.positions.list;
        let mut open = self.positions.fields[record].clone();
        while let Some(id) = open.pop() {
            if matches!(list[id].slot.kind, Kind::Record { .. } | Kind::Union { .. }) {
                let schema = self.positions.schema;
                let is_of = |(id, union): (UnionId, &Union)| {
                    (union.form != Tagging::External || !schema.is_closed_union(id))
                        && union.variants.iter().any(|&(_, variant)| variant == record)
                };
                return !schema.unions.iter().enumerate().any(is_of);
            }
            open.extend(&list[id].within);
        }
        false
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
    pub(super) fn position(&mut self, id: PositionId) -> (Type, Presence) {
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
        let seen = self.seen(id);
        let (positions, position) = (self.positions, &self.positions.list[id]);
        // Naive types accept only what the data has.
        if self.is_naive || !positions.schema.is_open(position.slot) {
            return seen;
        }
        let (ty, full) = (seen.open(), positions.full(id));
        // The enum takes two words or more. In a field that is rarely present, a pointer to it takes one.
        if positions.slots(id) < 4 * full {
            return ty;
        }
        self.own.push((At::Position(id), Owned::Boxes(full, ty.clone())));
        ty.boxed()
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
            Kind::Float { whole, wide, .. } if Schema::needs_number(*whole, *wide) => return Type::Number,
            Kind::Float { .. } => return Type::Float,
            Kind::Text(text) => {
                if let Some(format) = positions.schema.format(text) {
                    if format == Format::Url {
                        self.own.push((at, Owned::Text(text, false)));
                    }
                    return Type::Foreign(format);
                }
                if positions.schema.style.borrow {
                    return Type::Cow;
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
                let (own, ty) = match choice {
                    Choice::Exact => (Owned::Slices(lengths, element, false), Type::BoxSlice(inner)),
                    Choice::Thin => (Owned::Slices(lengths, element, true), Type::ThinSlice(inner)),
                    _ => (Owned::Vecs(lengths, element, self.share(id, &self.buffered)), Type::Vec(inner)),
                };
                self.own.push((at, own));
                return ty;
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
                let (own, ty) = if sorted {
                    (Owned::Slices(&map.lengths, entry, true), Type::SortedMap(Box::new(key), Box::new(value)))
                } else {
                    (Owned::HashMaps(&map.lengths, entry), Type::HashMap(Box::new(value)))
                };
                self.own.push((at, own));
                return ty;
            }
            Kind::Tuple { .. } => Type::Tuple(position.within.iter().map(|&within| self.position(within).0).collect()),
            Kind::Keyword { id, .. } => Type::Named(self.def(Source::Keywords(*id))),
            Kind::Record { id, .. } => Type::Named(self.def(Source::Record(*id))),
            Kind::Union { id } => Type::Named(self.def(Source::Union(*id))),
            Kind::Mixed { .. } => Type::Named(self.def(Source::Mixed(id))),
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

    /// Returns the struct or enum for a part of the schema, and builds it if it is new.
    fn def(&mut self, source: Source) -> DefId {
        match self.reserve(source) {
            Ok(id) => {
                self.fill(id);
                id
            }
            Err(known) => known,
        }
    }

    /// Builds a struct or enum by the present choices, and adds the heap blocks of its values to [`Self::own`].
    pub(super) fn fill(&mut self, id: DefId) {
        match self.defs[id].source {
            Source::Record(record) => self.record(id, record),
            Source::Group(record, index) => self.group(id, record, index),
            Source::Union(union) => self.union(id, union),
            Source::Keywords(keywords) => self.keywords(id, keywords),
            Source::Mixed(position) => self.mixed(id, position),
        }
    }

    fn record(&mut self, id: DefId, record: RecordId) {
        let positions = self.positions;
        let split = self.choices.splits.get(&record).cloned();
        let split = split.as_deref();
        let (mut types, mut parts) = (Vec::new(), Vec::new());
        let is_rest = |index: usize| positions.schema.records[record].fields[index].rest;
        for (index, &field) in positions.fields[record].iter().enumerate() {
            if !is_rest(index) && !split.is_some_and(|split| split.moved(index)) {
                let (ty, presence) = self.position(field);
                types.push(ty);
                parts.push(Part::Position(field, presence));
            }
        }
        for index in 0..split.map_or(0, |split| split.groups.len()) {
            let group_type = Type::Named(self.def(Source::Group(record, index)));
            let filled = split.map_or(0, |split| split.filled[index]);
            self.own.push((At::Group(record, index), Owned::Boxes(filled, group_type.clone())));
            types.push(Type::Sparse(Box::new(group_type)));
            parts.push(Part::Group(index));
        }
        // A flattened map takes all remaining keys, so it is the last field.
        for (_, &field) in positions.fields[record].iter().enumerate().filter(|&(index, _)| is_rest(index)) {
            let (ty, presence) = self.position(field);
            types.push(ty);
            parts.push(Part::Position(field, presence));
        }
        self.defs[id].parts = parts;
        self.bodies[id] = Body::Struct(types);
    }

    fn group(&mut self, id: DefId, record: RecordId, index: usize) {
        // After a change of the choices, the group may be no more.
        let split = self.choices.splits.get(&record).cloned();
        let group = split.as_deref().and_then(|split| split.groups.get(index)).map_or(&[][..], |group| group);
        let (mut types, mut parts) = (Vec::new(), Vec::new());
        for &field in group {
            let position = self.positions.fields[record][field];
            let (ty, presence) = self.position(position);
            types.push(ty);
            parts.push(Part::Position(position, presence));
        }
        self.defs[id].sparse = true;
        self.defs[id].parts = parts;
        self.bodies[id] = Body::Struct(types);
    }

    fn union(&mut self, id: DefId, union: UnionId) {
        let schema = self.positions.schema;
        let (mut types, mut parts) = (Vec::new(), Vec::new());
        for (index, &(_, record)) in schema.unions[union].variants.iter().enumerate() {
            parts.push(Part::Variant(index));
            // A record without fields becomes a unit variant.
            if schema.records[record].fields.is_empty() && schema.unions[union].without_tag() != Some(record) {
                types.push(None);
                continue;
            }
            let bare = match self.positions.fields[record][..] {
                [content] if schema.records[record].is_variant => self.position(content).0,
                _ => Type::Named(self.def(Source::Record(record))),
            };
            let at = (union, index);
            let boxed = self.choices.variants.contains(&at) || self.positions.recursive_variants.contains(&at);
            if boxed {
                let count = schema.records[record].instances;
                self.own.push((At::Variant(union, index), Owned::Boxes(count, bare.clone())));
            }
            types.push(Some(if boxed { bare.boxed() } else { bare }));
        }
        if !schema.is_closed_union(union) {
            // The variant for unknown tags, which the data does not have.
            let value = || if self.is_naive { Type::Value } else { Type::Value.boxed() };
            types.push((!self.positions.has_unit_other(union)).then(value));
        }
        self.defs[id].parts = parts;
        self.bodies[id] = Body::Enum(types);
    }

    fn keywords(&mut self, id: DefId, keywords: KeywordsId) {
        let mut variants = vec![None; self.positions.schema.keywords[keywords].values.len()];
        if !self.positions.schema.is_closed_enum(keywords) {
            // The variant for unknown strings, which the data does not have.
            let other = if self.choices.standard { Type::BoxStr } else { Type::ThinStr };
            variants.push(Some(if self.is_naive { Type::String } else { other }));
        }
        self.bodies[id] = Body::Enum(variants);
    }

    fn mixed(&mut self, id: DefId, position: PositionId) {
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
    }
}

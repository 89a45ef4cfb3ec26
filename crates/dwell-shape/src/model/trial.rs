//! A model whose choices change one at a time.
//!
//! To predict the memory for other choices, [`Model::new`] builds all types. A choice about one position changes only the
//! struct or enum with that position, and the sizes of those that contain it inline. A [`Trial`] builds these again and
//! keeps the rest, so that a search takes time in proportion to the number of positions.

use super::choices::{Choice, Choices, Split};
use super::defs::{At, Part, Source};
use super::heap::inline;
use super::{Heap, Model, Owned};
use crate::positions::{PositionId, Positions, ROOT};
use crate::schema::{Kind, RecordId, UnionId};
use crate::types::{Body, Layouts, Type};
use dwell_model::Layout;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The document (0), or a struct or enum: its number plus 1.
type UnitId = usize;

/// The unit of the documents.
const DOCUMENT: UnitId = 0;

/// What is built at once: a struct or enum, or the type of a document.
#[derive(Debug, Default)]
struct Unit<'s> {
    /// The heap blocks of its values.
    own: Vec<(At, Owned<'s>)>,
    /// Their sum.
    heap: Heap,
    /// The units whose types contain this one, and whether inline. Behind a pointer, it does not change their layout.
    users: BTreeMap<UnitId, bool>,
}

/// A model whose choices change one at a time.
#[derive(Debug)]
pub struct Trial<'p, 's> {
    model: Model<'p, 's>,
    units: Vec<Unit<'s>>,
    /// The layouts of the structs and enums.
    layouts: Vec<Layout>,
    /// The unit that each position is in.
    homes: Vec<UnitId>,
    total: Heap,
}

impl<'p, 's> Trial<'p, 's> {
    /// Builds the types of `choices`. These may be those of the naive types, but the types have the variants for other
    /// values that naive types do not have.
    pub fn new(positions: &'p Positions<'s>, choices: Choices) -> Self {
        let model = Model::build(positions, Cow::Owned(choices), false);
        let mut layouts = Layouts::new(&model.bodies);
        let layouts = (0..model.defs.len()).map(|id| layouts.named(id)).collect();
        let homes = vec![DOCUMENT; positions.list.len()];
        let mut trial = Self { model, units: Vec::new(), layouts, homes, total: Heap::default() };
        trial.units.resize_with(trial.model.defs.len() + 1, Unit::default);
        let all: Vec<UnitId> = (0..trial.units.len()).collect();
        trial.rebuild(&all);
        trial
    }

    /// Returns the types. The numbers and bodies of its definitions may change with the choices.
    pub fn model(&self) -> &Model<'p, 's> {
        &self.model
    }

    /// Returns the choices.
    pub fn choices(&self) -> &Choices {
        &self.model.choices
    }

    /// Returns the choices, without the model.
    pub fn into_choices(self) -> Choices {
        self.model.choices.into_owned()
    }

    /// Returns the memory of all documents.
    pub fn total(&self) -> Heap {
        self.total
    }

    /// Returns the layout of a type.
    pub fn layout(&self, ty: &Type) -> Layout {
        ty.layout(&mut |id| self.layouts[id])
    }

    /// Returns the type of a field's position as Rust source; `?` if it is not a field.
    pub fn type_at(&self, position: PositionId) -> String {
        let Some(id) = self.homes[position].checked_sub(1) else { return "?".into() };
        let Body::Struct(types) = &self.model.bodies[id] else { return "?".into() };
        let is = |part: &Part| matches!(part, Part::Position(own, _) if *own == position);
        let index = self.model.defs[id].parts.iter().position(is);
        index.map_or_else(|| "?".into(), |index| self.model.rust(&types[index]))
    }

    /// Changes the choices for these positions.
    pub fn set(&mut self, positions: impl IntoIterator<Item = (PositionId, Choice)>) {
        let mut units = BTreeSet::new();
        for (position, choice) in positions {
            self.model.choices.to_mut().at[position] = choice;
            units.insert(self.homes[position]);
        }
        self.rebuild(&units.into_iter().collect::<Vec<_>>());
    }

    /// Boxes these variants of a union, and no others.
    pub fn set_variants(&mut self, union: UnionId, boxed: &BTreeSet<usize>) {
        let variants = &mut self.model.choices.to_mut().variants;
        let old: Vec<(UnionId, usize)> = variants.range((union, 0)..(union + 1, 0)).copied().collect();
        for old_variant in old {
            variants.remove(&old_variant);
        }
        variants.extend(boxed.iter().map(|&index| (union, index)));
        let unit = self.model.find(Source::Union(union)).map(|id| id + 1);
        self.rebuild(unit.as_slice());
    }

    /// Moves rare fields of a record to structs of their own, or back.
    pub fn set_split(&mut self, record: RecordId, split: Option<Rc<Split>>) {
        let splits = &mut self.model.choices.to_mut().splits;
        match split {
            Some(split) => drop(splits.insert(record, split)),
            None => drop(splits.remove(&record)),
        }
        let groups = (0..).map_while(|index| self.model.find(Source::Group(record, index)));
        let own = self.model.find(Source::Record(record)).into_iter().chain(groups);
        let mut units: BTreeSet<UnitId> = own.map(|id| id + 1).collect();
        if !self.model.buffered.is_empty() && self.model.may_move_objects(record) {
            // serde reads moved fields, and all that is in them, from a buffer.
            let new = self.model.buffered_shares();
            let old = std::mem::replace(&mut self.model.buffered, new);
            let shares = old.iter().zip(&self.model.buffered).enumerate();
            for (record, _) in shares.filter(|(_, (old, new))| old.to_bits() != new.to_bits()) {
                units.extend(self.model.positions.fields[record].iter().map(|&field| self.homes[field]));
            }
        }
        self.rebuild(&units.into_iter().collect::<Vec<_>>());
    }

    /// Builds units again, and then the sizes of those that contain them.
    fn rebuild(&mut self, units: &[UnitId]) {
        // The units to weigh again, and whether their layouts may change.
        let mut open = BTreeMap::new();
        for &unit in units {
            self.build(unit);
            open.insert(unit, true);
            // A record that is split has new structs.
            let known = self.units.len();
            self.units.resize_with(self.model.defs.len() + 1, Unit::default);
            self.layouts.resize(self.model.defs.len(), Layout::NOTHING);
            for new in known..self.units.len() {
                self.build(new);
                open.insert(new, true);
            }
            if known < self.units.len() {
                self.build(unit);
            }
        }
        // A definition is numbered before those that it contains, so most are laid out before those that contain them.
        while let Some((unit, may_change)) = open.pop_last() {
            self.weigh(unit);
            let Some(id) = unit.checked_sub(1).filter(|_| may_change) else { continue };
            let layout = self.model.bodies[id].layout(&mut |id| self.layouts[id]);
            if layout != self.layouts[id] {
                self.layouts[id] = layout;
                for (&user, &is_inline) in &self.units[unit].users {
                    *open.entry(user).or_default() |= is_inline;
                }
            }
        }
    }

    /// Builds a unit by the present choices.
    fn build(&mut self, unit: UnitId) {
        self.model.own.clear();
        let mut named = Vec::new();
        let mut name = |ty: &Type| {
            ty.walk(&mut |part| {
                if let Type::Named(id) = part {
                    named.push((*id, false));
                }
            });
            inline(ty, 1, &mut |id, _| named.push((id, true)));
        };
        let parts = match unit.checked_sub(1) {
            None => {
                self.model.root = self.model.position(ROOT).0;
                self.model.own.push((At::Documents, Owned::Boxes(1, Type::Unit)));
                name(&self.model.root);
                vec![ROOT]
            }
            Some(id) => {
                self.model.fill(id);
                self.model.bodies[id].each(&mut name);
                let def = &self.model.defs[id];
                if matches!(def.source, Source::Mixed(_)) {
                    self.model.aliases = OnceCell::new();
                }
                def.parts.iter().filter_map(|part| self.part(def.source, *part)).collect()
            }
        };
        self.units[unit].own = std::mem::take(&mut self.model.own);
        for (id, is_inline) in named {
            // A new one gets a unit after this, and this one is built again.
            if let Some(unit_of) = self.units.get_mut(id + 1) {
                *unit_of.users.entry(unit).or_default() |= is_inline;
            }
        }
        for position in parts {
            self.set_home(position, unit);
        }
    }

    /// Returns the position of a field, or of the content of a variant.
    fn part(&self, source: Source, part: Part) -> Option<PositionId> {
        let positions = self.model.positions;
        match (part, source) {
            (Part::Position(position, _), _) => Some(position),
            (Part::Variant(index), Source::Union(union)) => {
                let (_, record) = positions.schema.unions[union].variants[index];
                positions.fields[record].first().copied().filter(|_| positions.schema.records[record].is_variant)
            }
            _ => None,
        }
    }

    fn set_home(&mut self, position: PositionId, unit: UnitId) {
        self.homes[position] = unit;
        let seen = &self.model.positions.list[position];
        // A mix of types is a unit of its own.
        if !matches!(seen.slot.kind, Kind::Mixed { .. }) {
            seen.within.iter().for_each(|&within| self.set_home(within, unit));
        }
    }

    /// Adds up the heap blocks of a unit.
    fn weigh(&mut self, unit: UnitId) {
        let mut heap = Heap::default();
        for (at, own) in &self.units[unit].own {
            heap += self.model.owned(*at, own, &mut |ty| ty.layout(&mut |id| self.layouts[id]));
        }
        let old = std::mem::replace(&mut self.units[unit].heap, heap);
        self.total.bytes = self.total.bytes - old.bytes + heap.bytes;
        self.total.allocations = self.total.allocations - old.allocations + heap.allocations;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Accumulator;
    use crate::lean;
    use crate::schema::Schema;

    /// Infers the schema of the built-in sample, which has unions, maps and records with rare fields.
    fn schema() -> Schema {
        let read = |accumulator: &mut Accumulator| {
            for (_, text) in crate::sample::documents(7, 6) {
                accumulator.read(&mut serde_json::Deserializer::from_slice(&text)).unwrap();
            }
        };
        let mut study = Accumulator::new();
        read(&mut study);
        let mut all = study.into_form().blank().start(1);
        read(&mut all);
        all.finish()
    }

    #[test]
    fn changed_model_is_the_model_of_the_changed_choices() {
        let schema = schema();
        let positions = Positions::new(&schema);
        let lean = lean::choose(&positions);
        assert!(!lean.splits.is_empty() && lean.at.contains(&Choice::Boxed), "{lean:?}");
        let mut start = Choices::naive(&positions);
        // Without a naive model, since a trial is none.
        start.at[lean.at.iter().position(|choice| *choice == Choice::Thin).unwrap()] = Choice::Thin;
        let mut trial = Trial::new(&positions, start);
        let check = |trial: &Trial<'_, '_>, what: &str| {
            assert_eq!(trial.total(), Model::new(&positions, trial.choices()).total(), "{what}");
        };
        check(&trial, "start");
        // To the lean choices one by one, in an order that is not that of the positions, and back.
        let mut rng = fastrand::Rng::with_seed(5);
        for round in 0..3 {
            let mut order: Vec<PositionId> = (0..positions.list.len()).collect();
            rng.shuffle(&mut order);
            for (index, &position) in order.iter().enumerate() {
                let choice = if rng.u8(..4) == 0 { Choice::Plain } else { lean.at[position] };
                trial.set([(position, choice)]);
                if index % 16 == 0 {
                    check(&trial, &positions.list[position].path);
                }
            }
            for (&record, split) in &lean.splits {
                trial.set_split(record, (round != 1).then(|| split.clone()));
                check(&trial, "split");
            }
            for union in 0..schema.unions.len() {
                let boxed = (0..schema.unions[union].variants.len()).filter(|_| rng.bool()).collect();
                trial.set_variants(union, &boxed);
                check(&trial, "variants");
            }
        }
        trial.set(lean.at.iter().copied().enumerate());
        for (position, info) in positions.list.iter().enumerate().filter(|(_, info)| info.field.is_some()) {
            assert_eq!(
                trial.type_at(position),
                Model::new(&positions, trial.choices()).type_at(position),
                "{}",
                info.path
            );
        }
    }
}

//! Chooses the types with the least memory among those that stay natural to read and write.
//!
//! Some choices have no cost and are made at once: texts, sequences and maps without spare capacity. A box costs an
//! allocation. Each box is tried, and kept if the predicted memory of all documents falls by more than [`BLOCK`] bytes
//! for each block; for a struct of `s` bytes that is the case if fewer than `(s - 8) / (s + 16)` of its slots are full.
//! One choice changes the savings of others, so the search repeats until nothing changes.

use super::model::{Choice, Choices, Part, Source, Split, Trial, thin_lengths};
use super::positions::{MAX_GROUPS, PositionId, Positions};
use super::schema::{self, Kind, RecordId, Seq};
use super::types::{Body, Int};
use dwell_model::blocks::BLOCK;
use dwell_model::text::{
    Text::{Exact, Thin},
    Texts,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The largest share of full slots of a position that may get a box.
const MOSTLY: f64 = 0.75;

/// The fewest fields of a record that may be split.
const WIDE: usize = 12;

/// Makes the lean choices for a schema.
pub fn choose(positions: &Positions<'_>) -> Choices {
    let mut choices = Choices::naive(positions);
    for id in 0..positions.list.len() {
        choices.at[id] = exact(positions, id);
    }
    let mut trial = Trial::new(positions, choices);
    let mut split = BTreeMap::new();
    for _ in 0..4 {
        let before = trial.choices().clone();
        boxes(positions, &mut trial);
        variants(positions, &mut trial);
        splits(positions, &mut trial, &mut split);
        if *trial.choices() == before {
            break;
        }
    }
    widen(positions, &mut trial);
    trial.into_choices()
}

/// Returns the same choices with std's types instead of Dwell's.
pub fn standard(lean: &Choices) -> Choices {
    let mut choices = lean.clone();
    choices.standard = true;
    choices.splits.clear();
    for choice in &mut choices.at {
        *choice = match *choice {
            Choice::Thin => Choice::Exact,
            Choice::Sparse => Choice::Boxed,
            other => other,
        };
    }
    choices
}

/// Returns the best choice among those without a cost.
fn exact(positions: &Positions<'_>, id: PositionId) -> Choice {
    match positions.list[id].slot.kind {
        Kind::Seq(ref seq) if array(seq).is_some() => array(seq).map_or(Choice::Exact, Choice::Array),
        Kind::Text(ref text) if positions.schema.style.borrow || positions.schema.format(text).is_some() => {
            Choice::Plain
        }
        Kind::Text(ref text) if thin(positions, id) => match loaded(text).best(&[Thin, Exact]) {
            Thin => Choice::Thin,
            _ => Choice::Exact,
        },
        Kind::Seq(_) | Kind::Map(_) if thin(positions, id) => Choice::Thin,
        Kind::Text(_) | Kind::Seq(_) | Kind::Map(_) => Choice::Exact,
        Kind::Integer { min, max } if Int::fits(min, max) && positions.schema.strict => {
            Choice::Int(Int::narrowest(min, max))
        }
        Kind::Integer { min, max } if Int::fits(min, max) => Choice::Int(Int::with_headroom(min, max)),
        _ => Choice::Plain,
    }
}

/// Returns what was counted of strings that are loaded and kept.
pub fn loaded(text: &schema::Text) -> Texts {
    Texts { made: text.count, kept: text.count, distinct: Some(text.distinct), ..Texts::default() }
}

/// Returns the length of arrays whose length seems to be fixed: points, colours, ranges, matrices.
pub fn array(seq: &Seq) -> Option<u64> {
    let plain = match &seq.element.kind {
        Kind::Integer { .. } | Kind::Float { .. } | Kind::Bool { .. } => true,
        Kind::Seq(inner) => array(inner).is_some(),
        _ => false,
    };
    let length = seq.lengths.one()?;
    (seq.lengths.count >= 32 && (2..=16).contains(&length) && plain && seq.element.nulls == 0).then_some(length)
}

/// Returns whether a one-word handle saves enough to justify a less common type: more than half a word for each slot.
///
/// The handle saves the length word in each slot, and stores the length in each block instead: a word for a sequence,
/// usually a byte for a string.
fn thin(positions: &Positions<'_>, id: PositionId) -> bool {
    let (slots, lengths) = match &positions.list[id].slot.kind {
        Kind::Text(text) => (positions.slots(id), thin_lengths(text)),
        Kind::Seq(seq) => (positions.slots(id), 8 * (seq.lengths.count - seq.lengths.empty)),
        Kind::Map(map) => (map.key.count, thin_lengths(&map.key)),
        _ => return false,
    };
    lengths < 4 * slots
}

/// Boxes rare values.
fn boxes(positions: &Positions<'_>, trial: &mut Trial<'_, '_>) {
    // The rarest first, since their boxes almost certainly save memory.
    let mut candidates: Vec<PositionId> = (0..positions.list.len()).filter(|&id| rare(positions, id)).collect();
    candidates.sort_by_key(|&id| (positions.full(id), id));
    for id in candidates {
        let boxed = if sparse(positions, id) { Choice::Sparse } else { Choice::Boxed };
        let (least, now) = (trial.total().cost(), trial.choices().at[id]);
        trial.set([(id, if now == Choice::Plain { boxed } else { Choice::Plain })]);
        if trial.total().cost() >= least {
            trial.set([(id, now)]);
        }
    }
}

/// Boxes the large variants of unions.
fn variants(positions: &Positions<'_>, trial: &mut Trial<'_, '_>) {
    for (union, members) in positions.schema.unions.iter().enumerate() {
        let all: u64 = members.variants.iter().map(|&(_, record)| positions.schema.records[record].instances).sum();
        trial.set_variants(union, &BTreeSet::new());
        // A box saves memory only if the whole enum shrinks, so all variants above a size get boxes together.
        let model = trial.model();
        let Some(id) = model.find(Source::Union(union)) else { continue };
        let Body::Enum(types) = &model.bodies[id] else { continue };
        let variants = types.iter().take(members.variants.len()).enumerate();
        let is_free = |index: usize| !positions.recursive_variants.contains(&(union, index));
        let sizes = variants.filter_map(|(index, ty)| Some((trial.layout(ty.as_ref()?).size, index)));
        let mut variants: Vec<(u64, usize)> = sizes.filter(|&(_, index)| is_free(index)).collect();
        variants.sort_unstable_by_key(|&(size, index)| (std::cmp::Reverse(size), index));
        let mut best = (trial.total().cost(), BTreeSet::new());
        let mut boxed = BTreeSet::new();
        for (at, &(size, index)) in variants.iter().enumerate() {
            let instances = positions.schema.records[members.variants[index].1].instances;
            if instances as f64 > all as f64 * MOSTLY {
                break;
            }
            boxed.insert(index);
            // The enum shrinks only if no variant of this size is left.
            if variants.get(at + 1).is_some_and(|&(next, _)| next == size) {
                continue;
            }
            trial.set_variants(union, &boxed);
            let cost = trial.total().cost();
            if cost < best.0 {
                best = (cost, boxed.clone());
            }
        }
        if boxed != best.1 {
            trial.set_variants(union, &best.1);
        }
    }
}

/// Returns whether the values of a position may be boxed.
fn rare(positions: &Positions<'_>, id: PositionId) -> bool {
    let position = &positions.list[id];
    let boxable = match &position.slot.kind {
        Kind::Record { id, .. } => !positions.schema.records[*id].fields.is_empty(),
        Kind::Union { .. } | Kind::Mixed { .. } | Kind::Tuple { .. } | Kind::Any(_) | Kind::Never => true,
        _ => false,
    };
    let slots = positions.slots(id);
    let mut full = positions.full(id);
    if let (Kind::Record { empty, .. }, true) = (&position.slot.kind, sparse(positions, id)) {
        full -= empty;
    }
    // The model boxes an open position itself.
    let boxable = boxable && !positions.schema.is_open(position.slot);
    boxable && position.field.is_some() && slots > full && full as f64 <= slots as f64 * MOSTLY
}

/// Returns whether `Sparse` represents a position's values as exactly as `Option` does, and better than a box if `{}`
/// occurs.
fn sparse(positions: &Positions<'_>, id: PositionId) -> bool {
    let slot = positions.list[id].slot;
    match slot.kind {
        Kind::Record { id: record, empty } => {
            let absorbs = empty > 0 || (positions.missing(id) > 0 && slot.nulls == 0);
            absorbs && positions.all_optional(record)
        }
        _ => false,
    }
}

/// Moves the rare fields of wide records to structs of their own. `known` has the sizes of a record's fields when it was
/// split last: while these are the same, so is the split.
fn splits(positions: &Positions<'_>, trial: &mut Trial<'_, '_>, known: &mut BTreeMap<RecordId, Vec<u64>>) {
    for record in wide(positions) {
        let Some(sizes) = field_sizes(trial, record).filter(|sizes| known.get(&record) != Some(sizes)) else {
            continue;
        };
        trial.set_split(record, None);
        // Each further group makes the code longer, so it must save some of the record's memory, and of all.
        let whole = trial.total().cost();
        let own = i128::from(sizes.iter().sum::<u64>() * positions.schema.records[record].instances);
        let least = own / 100 + whole / 20_000;
        let (mut best, mut tried) = ((whole, None), None);
        for count in 1..=MAX_GROUPS {
            let Some(groups) = split(positions, &sizes, record, count) else { continue };
            tried = Some(Rc::new(Split::new(positions, record, groups)));
            trial.set_split(record, tried.clone());
            let cost = trial.total().cost();
            if cost + least < best.0 {
                best = (cost, tried.clone());
            }
        }
        if tried != best.1 {
            trial.set_split(record, best.1);
        }
        known.insert(record, sizes);
    }
}

/// Returns the records that may be split.
fn wide(positions: &Positions<'_>) -> impl Iterator<Item = RecordId> {
    (0..positions.schema.records.len()).filter(|&record| positions.fields[record].len() >= WIDE)
}

/// Returns the sizes of a record's fields, if a document reaches it.
fn field_sizes(trial: &Trial<'_, '_>, record: RecordId) -> Option<Vec<u64>> {
    let (model, positions) = (trial.model(), trial.model().positions());
    let own = model.find(Source::Record(record))?;
    let groups = trial.choices().splits.get(&record).map_or(0, |split| split.groups.len());
    let groups = (0..groups).filter_map(|group| model.find(Source::Group(record, group)));
    let mut sizes = vec![0; positions.fields[record].len()];
    for id in std::iter::once(own).chain(groups) {
        let Body::Struct(types) = &model.bodies[id] else { return None };
        for (part, ty) in model.defs[id].parts.iter().zip(types) {
            if let Part::Position(position, _) = *part
                && let Some(field) = positions.list[position].field
            {
                sizes[field] = trial.layout(ty).size;
            }
        }
    }
    Some(sizes)
}

/// Distributes a record's optional fields over the record and `count` groups.
fn split(positions: &Positions<'_>, sizes: &[u64], record: RecordId, count: usize) -> Option<Vec<Vec<usize>>> {
    let fields_of = &positions.schema.records[record];
    let optional = |field: &usize| positions.missing(positions.fields[record][*field]) > 0;
    let mut fields: Vec<usize> = (0..fields_of.fields.len()).filter(optional).collect();
    fields.sort_by_key(|&field| (fields_of.fields[field].slot.count, field));

    let mut spread = Spread::new(positions, record, sizes, count);
    // Start with equal numbers of fields by rarity. Fields that most instances have stay in the record.
    for (rank, &field) in fields.iter().enumerate() {
        if fields_of.fields[field].slot.count * 2 < fields_of.instances {
            spread.put(field, count - rank * count / fields.len());
        }
    }
    for _ in 0..8 {
        let mut changed = false;
        for &field in &fields {
            let from = spread.group[field];
            let to = spread.best(field);
            spread.put(field, to);
            changed |= to != from;
        }
        if !changed {
            break;
        }
    }
    let members = |wanted: usize| (0..fields_of.fields.len()).filter(|&field| spread.group[field] == wanted).collect();
    let groups: Vec<Vec<usize>> = (1..=count).map(members).collect();
    // A group of one field would be a box for that field.
    groups.iter().all(|group| group.len() > 1).then_some(groups)
}

/// A number for the record (group 0) and each of its groups.
type Each<T> = [T; MAX_GROUPS + 1];

/// An assignment of fields to the record (group 0) and its groups, with running totals that each move updates.
struct Spread<'a> {
    sizes: &'a [u64],
    instances: u64,
    /// The number of groups.
    count: usize,
    /// The group of each field.
    group: Vec<usize>,
    totals: Totals,
    /// For each set of keys, the number of instances with exactly these keys, and the number of these keys in each
    /// group.
    sets: Vec<(u64, Each<u32>)>,
    /// The sets that contain each field.
    sets_of: Vec<Vec<usize>>,
}

#[derive(Clone, Copy)]
struct Totals {
    /// For each group, the number of its fields and the sum of their sizes.
    members: Each<(u64, u64)>,
    /// For each group, the number of instances that have any of its fields.
    filled: Each<u64>,
}

impl Totals {
    fn weight(&self, instances: u64) -> u64 {
        let group = |((members, size), filled): (&(u64, u64), &u64)| match members {
            0 => 0,
            _ => 8 * instances + filled.min(&instances) * (size + BLOCK),
        };
        self.members[0].1 * instances + self.members.iter().zip(&self.filled).skip(1).map(group).sum::<u64>()
    }
}

impl<'a> Spread<'a> {
    fn new(positions: &Positions<'_>, record: RecordId, sizes: &'a [u64], count: usize) -> Self {
        let fields_of = &positions.schema.records[record];
        let mut sets_of = vec![Vec::new(); fields_of.fields.len()];
        let mut sets = Vec::new();
        let mut add = |keys: &[usize], instances: u64| {
            let mut in_group = Each::default();
            in_group[0] = u32::try_from(keys.len()).unwrap_or(u32::MAX);
            for &key in keys {
                sets_of[key].push(sets.len());
            }
            sets.push((instances, in_group));
        };
        if fields_of.key_sets.is_empty() {
            fields_of.fields.iter().enumerate().for_each(|(index, field)| add(&[index], field.slot.count));
        } else {
            fields_of.key_sets.iter().for_each(|(keys, instances)| add(keys, *instances));
        }
        let mut members = Each::default();
        members[0] = (sizes.len() as u64, sizes.iter().sum());
        let totals = Totals { members, filled: Each::default() };
        Self { sizes, instances: fields_of.instances, count, group: vec![0; sizes.len()], totals, sets, sets_of }
    }

    fn put(&mut self, field: usize, to: usize) {
        let from = std::mem::replace(&mut self.group[field], to);
        if from == to {
            return;
        }
        for &set in &self.sets_of[field] {
            let (instances, in_group) = &mut self.sets[set];
            in_group[from] -= 1;
            in_group[to] += 1;
            if in_group[from] == 0 && from > 0 {
                self.totals.filled[from] -= *instances;
            }
            if in_group[to] == 1 && to > 0 {
                self.totals.filled[to] += *instances;
            }
        }
        self.totals = moved(self.totals, self.sizes[field], from, to);
    }

    fn weight(&self) -> u64 {
        self.totals.weight(self.instances)
    }

    /// Returns the group for which the weight is smallest if the field is in it.
    fn best(&self, field: usize) -> usize {
        let from = self.group[field];
        // The instances with the field that have no other field of a group.
        let mut alone = Each::<u64>::default();
        for &set in &self.sets_of[field] {
            let (instances, in_group) = &self.sets[set];
            for group in 1..=self.count {
                alone[group] += if in_group[group] == u32::from(group == from) { *instances } else { 0 };
            }
        }
        let weight = |to: usize| {
            let mut totals = moved(self.totals, self.sizes[field], from, to);
            totals.filled[from] -= alone[from];
            totals.filled[to] += alone[to];
            totals.weight(self.instances)
        };
        let others = (0..=self.count).filter(|&to| to != from);
        others.map(|to| (weight(to), to)).fold((self.weight(), from), std::cmp::min).1
    }
}

/// Returns the totals after a field of this size moves, without [`Totals::filled`].
fn moved(mut totals: Totals, size: u64, from: usize, to: usize) -> Totals {
    let members = &mut totals.members;
    members[from] = (members[from].0 - 1, members[from].1 - size);
    members[to] = (members[to].0 + 1, members[to].1 + size);
    totals
}

/// Widens integers where that takes no memory, so that later data may have larger values.
fn widen(positions: &Positions<'_>, trial: &mut Trial<'_, '_>) {
    let mut of_record = BTreeMap::<Option<RecordId>, Vec<PositionId>>::new();
    for id in (0..positions.list.len()).filter(|&id| wider(trial, id).is_some()) {
        of_record.entry(positions.list[id].owner).or_default().push(id);
    }
    for ids in of_record.values() {
        widen_each(trial, ids);
    }
}

/// Returns the choice of twice as many bits, if these are integers of fewer than 64.
fn wider(trial: &Trial<'_, '_>, id: PositionId) -> Option<Int> {
    match trial.choices().at[id] {
        Choice::Int(int) if int.bits < 64 => Some(Int { bits: int.bits * 2, ..int }),
        _ => None,
    }
}

/// Makes these choices, and keeps them if they take no more memory. Returns whether they do not.
fn keep(trial: &mut Trial<'_, '_>, choices: &[(PositionId, Choice)]) -> bool {
    let before: Vec<_> = choices.iter().map(|&(id, _)| (id, trial.choices().at[id])).collect();
    let least = trial.total().bytes;
    trial.set(choices.iter().copied());
    let is = trial.total().bytes <= least;
    if !is {
        trial.set(before);
    }
    is
}

/// Widens these integers of a record in turn: all at once, or each half.
fn widen_each(trial: &mut Trial<'_, '_>, ids: &[PositionId]) {
    let most = |&id: &PositionId| Some((id, Choice::Int(Int { bits: 64, ..wider(trial, id)? })));
    let all: Vec<_> = ids.iter().filter_map(most).collect();
    if keep(trial, &all) {
        return;
    }
    if let [id] = *ids {
        while let Some(int) = wider(trial, id)
            && keep(trial, &[(id, Choice::Int(int))])
        {}
        return;
    }
    // A struct without room for the least step has none for another.
    let narrowest = ids.iter().copied().filter_map(|id| Some((wider(trial, id)?, id))).min_by_key(|(int, _)| int.bits);
    if let Some((int, id)) = narrowest {
        let before = trial.choices().at[id];
        if !keep(trial, &[(id, Choice::Int(int))]) {
            return;
        }
        trial.set([(id, before)]);
    }
    let (left, right) = ids.split_at(ids.len() / 2);
    widen_each(trial, left);
    widen_each(trial, right);
}

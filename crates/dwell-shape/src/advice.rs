//! The differences between the naive and the lean types as separate suggestions, largest saving first.

use super::lean::loaded;
use super::model::{At, Choice, Choices, Heap, Model, Source, Trial};
use super::positions::{PositionId, Positions};
use super::schema::{Kind, RecordId, Text, UnionId};
use super::types::{Int, Layouts, Type};
use dwell_model::Change;
use dwell_model::queue::Queue;
use dwell_model::search::Edit;
use dwell_model::text::Text::Interned;
use dwell_output::units::{count, percent};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A suggested change of the types.
#[derive(Debug, Clone, Serialize)]
pub struct Suggestion {
    /// The JSON path of the field or type to change: `$.shapes.*.traits`.
    pub path: String,
    /// The present type.
    pub from: String,
    /// The suggested type.
    pub to: String,
    /// The counts that justify the suggestion, as a sentence.
    pub why: String,
    /// The number of slots that hold a value, if the suggestion depends on it.
    pub filled: Option<u64>,
    /// The number of slots, if the suggestion depends on it.
    pub slots: Option<u64>,
    /// Live bytes saved, after the suggestions above it.
    pub saves: i64,
    /// Live allocations added; negative if fewer.
    pub allocations: i64,
    /// Live bytes after this suggestion and all above it.
    pub total: u64,
    /// Other costs, in words.
    pub cost: String,
    /// The types that it changes, if these are several, largest saving first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

/// One of the types that a suggestion changes.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    /// Its JSON path.
    pub path: String,
    /// Live bytes saved there.
    pub saves: i64,
}

/// Positions by the record that they are in.
type ByOwner = Vec<(Option<RecordId>, Vec<PositionId>)>;

/// Strings that repeat at one position.
#[derive(Debug, Clone, Serialize)]
pub struct Repeats {
    /// Their JSON path.
    pub path: String,
    /// The number of strings.
    pub count: u64,
    /// The number of distinct strings.
    pub distinct: u64,
    /// Bytes that would be saved if each were stored once, estimated from the mean length.
    pub saves: u64,
}

/// The change that one suggestion makes.
#[derive(Debug, Clone)]
enum Step {
    /// A struct or enum gets a box.
    Box(PositionId),
    /// A hash map is sorted instead.
    Map(PositionId),
    /// Strings and sequences lose their spare capacity.
    Exact(ByOwner),
    /// Integers become narrower.
    Narrow(ByOwner),
    /// Large variants of a union get boxes.
    Variants(UnionId),
    /// Rare fields of a record move to a struct of their own.
    Split(RecordId),
    /// The steps with the smallest savings, made together.
    Several(Vec<Step>),
}

/// Steps that save less than the total divided by this number are not measured a second time.
const SMALLEST: i128 = 1_000;

/// Returns the suggestions that lead from the naive types to `lean`. Each is the best of those that remain (see
/// `Queue`). Steps below `SMALLEST` come last, in the order of their last measured savings.
pub fn suggestions(positions: &Positions<'_>, lean: &Choices) -> Vec<Suggestion> {
    let naive = Choices::naive(positions);
    let model = Model::new(positions, &naive);
    let steps = bounded(&model, steps(positions, lean));
    let mut now = Now { heap: model.total(), trial: Trial::new(positions, naive.clone()), naive: &naive, lean };
    let mut open = Queue::new(steps.into_iter().map(|step| {
        let saves = now.saving(&step);
        (step, saves)
    }));
    // Naive types have no variants for other values, which all other types have.
    let mut first = Some(model);
    let mut suggestions = Vec::new();
    loop {
        let best = open.pop(now.heap.cost() / SMALLEST, |step| now.saving(step));
        let Some(step) = best.or_else(|| open.pop_stale()) else { return suggestions };
        let from = from(&now, &step, first.take().as_ref());
        let places = places(&mut now, &step);
        step.make(&mut now.trial, lean);
        suggestions.push(describe(&now, &step, from, places));
        now.heap = now.trial.total();
    }
}

/// The types after the suggestions so far.
struct Now<'p, 's> {
    trial: Trial<'p, 's>,
    /// The memory of the documents in them.
    heap: Heap,
    naive: &'p Choices,
    lean: &'p Choices,
}

impl Now<'_, '_> {
    /// Returns the saving of a step, at least 0: steps that save nothing alone are equally good.
    fn saving(&mut self, step: &Step) -> i128 {
        step.make(&mut self.trial, self.lean);
        let after = self.trial.total().cost();
        step.make(&mut self.trial, self.naive);
        (self.heap.cost() - after).max(0)
    }
}

/// Returns the positions whose strings repeat, largest saving first.
pub fn repeats(positions: &Positions<'_>) -> Vec<Repeats> {
    let mut repeats = Vec::new();
    let mut look = |path: String, text: &Text| {
        let once = u128::from(text.bytes) * u128::from(text.distinct) / u128::from(text.count.max(1));
        let saves = text.bytes.saturating_sub(u64::try_from(once).unwrap_or(u64::MAX));
        if text.count >= 100 && loaded(text).best(&[Interned]) == Interned {
            repeats.push(Repeats { path, count: text.count, distinct: text.distinct, saves });
        }
    };
    for position in &positions.list {
        match &position.slot.kind {
            Kind::Text(text) => look(position.path.clone(), text),
            Kind::Map(map) => look(format!("keys of {}", position.path), &map.key),
            _ => {}
        }
    }
    repeats.sort_by(|a, b| b.saves.cmp(&a.saves).then_with(|| a.path.cmp(&b.path)));
    repeats
}

/// The most steps that are measured alone; the others are one suggestion.
const MOST: usize = 1_000;

/// Returns the steps that probably save most. If there are too many, a last step makes all others together.
fn bounded(naive: &Model<'_, '_>, mut steps: Vec<Step>) -> Vec<Step> {
    let positions = naive.positions();
    if steps.len() <= MOST {
        return steps;
    }
    let (heap, mut layouts) = (naive.heap(), Layouts::new(&naive.bodies));
    let mut size = |source: Source| naive.find(source).map_or(0, |id| layouts.named(id).size);
    let bytes = |id: &PositionId| heap.get(&At::Position(*id)).map_or(0, |heap| heap.bytes);
    let mut likely = |step: &Step| match step {
        Step::Box(id) => {
            let inner = match positions.list[*id].slot.kind {
                Kind::Record { id, .. } => size(Source::Record(id)),
                Kind::Union { id } => size(Source::Union(id)),
                _ => 32,
            };
            inner * (positions.slots(*id) - positions.full(*id))
        }
        Step::Map(id) => bytes(id),
        Step::Exact(slices) => ids(slices).map(|id| bytes(&id)).sum(),
        Step::Narrow(fields) => ids(fields).map(|id| 4 * positions.slots(id)).sum(),
        Step::Variants(union) => {
            let records = positions.schema.unions[*union].variants.iter().map(|&(_, record)| record);
            size(Source::Union(*union)) * records.map(|record| positions.schema.records[record].instances).sum::<u64>()
        }
        Step::Split(record) => size(Source::Record(*record)) * positions.schema.records[*record].instances,
        Step::Several(_) => 0,
    };
    steps.sort_by_cached_key(|step| std::cmp::Reverse(likely(step)));
    let others = steps.split_off(MOST - 1);
    steps.push(Step::Several(others));
    steps
}

fn steps(positions: &Positions<'_>, lean: &Choices) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut exact, mut narrow) = (BTreeMap::<_, Vec<PositionId>>::new(), BTreeMap::<_, Vec<PositionId>>::new());
    for (id, choice) in lean.at.iter().enumerate() {
        let position = &positions.list[id];
        match (choice, &position.slot.kind) {
            (Choice::Boxed | Choice::Sparse, _) => steps.push(Step::Box(id)),
            (Choice::Exact | Choice::Thin, Kind::Map(_)) => steps.push(Step::Map(id)),
            (Choice::Exact | Choice::Thin | Choice::Array(_), _) => exact.entry(position.owner).or_default().push(id),
            (Choice::Int(int), _) if int.bits < 64 => narrow.entry(position.owner).or_default().push(id),
            (Choice::Int(_) | Choice::Plain, _) => {}
        }
    }
    // One idea is one suggestion, however many types it changes.
    steps.extend((!exact.is_empty()).then(|| Step::Exact(exact.into_iter().collect())));
    steps.extend((!narrow.is_empty()).then(|| Step::Narrow(narrow.into_iter().collect())));
    let mut unions: Vec<UnionId> = lean.variants.iter().map(|(union, _)| *union).collect();
    unions.dedup();
    steps.extend(unions.into_iter().map(Step::Variants));
    steps.extend(lean.splits.keys().map(|&record| Step::Split(record)));
    steps
}

impl Step {
    /// Makes the choices of `from` for the positions of this step.
    fn make(&self, trial: &mut Trial<'_, '_>, from: &Choices) {
        match self {
            Self::Box(id) | Self::Map(id) => trial.set([(*id, from.at[*id])]),
            Self::Exact(owners) | Self::Narrow(owners) => trial.set(ids(owners).map(|id| (id, from.at[id]))),
            Self::Variants(union) => trial.set_variants(*union, &boxed(from, *union)),
            Self::Split(record) => trial.set_split(*record, from.splits.get(record).cloned()),
            Self::Several(steps) => steps.iter().for_each(|step| step.make(trial, from)),
        }
    }
}

fn ids(owners: &ByOwner) -> impl Iterator<Item = PositionId> {
    owners.iter().flat_map(|(_, ids)| ids.iter().copied())
}

/// Makes a step type by type, if it changes several. Returns what it saves at each, largest saving first.
fn places(now: &mut Now<'_, '_>, step: &Step) -> Vec<Place> {
    let (Step::Exact(owners) | Step::Narrow(owners)) = step else { return Vec::new() };
    if owners.len() < 2 {
        return Vec::new();
    }
    let mut places = Vec::new();
    for (owner, ids) in owners {
        let before = now.trial.total().bytes;
        now.trial.set(ids.iter().map(|&id| (id, now.lean.at[id])));
        let saves = before.cast_signed() - now.trial.total().bytes.cast_signed();
        places.push(Place { path: path_of(now.trial.model().positions(), *owner), saves });
    }
    places.sort_by(|left, right| right.saves.cmp(&left.saves).then_with(|| left.path.cmp(&right.path)));
    places
}

/// Returns the path of a record, or of the documents.
fn path_of(positions: &Positions<'_>, owner: Option<RecordId>) -> String {
    owner.map_or_else(|| positions.list[0].path.clone(), |record| positions.record_path(record))
}

/// Returns the variants of a union that are boxed.
fn boxed(choices: &Choices, union: UnionId) -> BTreeSet<usize> {
    choices.variants.range((union, 0)..(union + 1, 0)).map(|&(_, index)| index).collect()
}

/// Returns the present type of the position that a step changes.
fn from(now: &Now<'_, '_>, step: &Step, naive: Option<&Model<'_, '_>>) -> String {
    match step {
        Step::Box(id) | Step::Map(id) => naive.map_or_else(|| now.trial.type_at(*id), |naive| naive.type_at(*id)),
        _ => String::new(),
    }
}

/// Returns the suggestion of a step that was just made. `from` is the type before it.
fn describe(now: &Now<'_, '_>, step: &Step, from: String, places: Vec<Place>) -> Suggestion {
    let (was, is) = (now.heap, now.trial.total());
    let after = now.trial.model();
    let (positions, next, before) = (after.positions(), after.choices(), now.naive);
    let more = is.allocations.cast_signed() - was.allocations.cast_signed();
    let owner = |owners: &ByOwner| match places.first() {
        Some(place) => place.path.clone(),
        None => path_of(positions, owners.first().and_then(|(owner, _)| *owner)),
    };
    let (path, from, to, filled, costs) = match step {
        Step::Box(id) => (
            positions.list[*id].path.clone(),
            from,
            now.trial.type_at(*id),
            Some((positions.full(*id), positions.slots(*id))),
            Change::Boxed.cost().to_owned(),
        ),
        Step::Map(id) => {
            let (from, to) = if positions.list[*id].field.is_some() {
                (from, now.trial.type_at(*id))
            } else {
                let key = if next.at[*id] == Choice::Thin { "ThinStr" } else { "Box<str>" };
                ("HashMap<String, _>".into(), format!("SortedMap<{key}, _>"))
            };
            (positions.list[*id].path.clone(), from, to, None, Change::Sorted.cost().into())
        }
        Step::Exact(owners) => {
            let mut names: Vec<(String, String)> = Vec::new();
            for id in ids(owners) {
                let pair = bare(positions, id, next.at[id]);
                if !names.contains(&pair) {
                    names.push(pair);
                }
            }
            names.sort();
            let (mut from, to): (Vec<String>, Vec<String>) = names.into_iter().unzip();
            from.dedup();
            (owner(owners), from.join(", "), to.join(", "), None, Change::Exact.cost().into())
        }
        Step::Narrow(owners) => {
            let ints = |choices: &Choices| {
                let name = |id: PositionId| match (choices.at[id], &positions.list[id].slot.kind) {
                    (Choice::Int(int), _) => Type::Int(int),
                    (_, Kind::Integer { min, max }) => Type::Int(Int::narrowest(*min, *max).widest()),
                    _ => Type::Unit,
                };
                let mut names: Vec<String> = ids(owners).map(|id| after.rust(&name(id))).collect();
                names.sort();
                names.dedup();
                names.join(", ")
            };
            let words = "values outside the narrower range do not load";
            (owner(owners), ints(before), ints(next), None, words.to_owned())
        }
        Step::Variants(union) => {
            let variants = &positions.union_names[*union].1;
            let boxed = boxed(next, *union);
            let cases = &positions.schema.unions[*union].variants;
            let instances = |index: usize| positions.schema.records[cases[index].1].instances;
            let filled = boxed.iter().map(|&index| instances(index)).sum();
            let slots = (0..cases.len()).map(instances).sum();
            let names: Vec<&str> = boxed.iter().map(|&index| variants[index].as_str()).collect();
            (
                positions.schema.unions[*union].path.clone(),
                names.join(", "),
                "Box<_>".into(),
                Some((filled, slots)),
                Edit::Variant(0, 0).cost().into(),
            )
        }
        Step::Several(steps) => {
            let number = count(steps.len() as u64);
            (
                "$".into(),
                format!("{number} positions"),
                "smaller types (see the output of --rust)".into(),
                None,
                "as for the suggestions above".into(),
            )
        }
        Step::Split(record) => {
            let groups = &next.splits[record].groups;
            let all: Vec<usize> = groups.iter().flatten().copied().collect();
            let filled = (positions.any_of(*record, &all).0, positions.schema.records[*record].instances);
            let names: Vec<String> =
                (0..groups.len()).map(|group| format!("Sparse<{}>", after.group_name(*record, group))).collect();
            let from =
                format!("{} of {} fields", count(all.len() as u64), count(positions.fields[*record].len() as u64));
            let words = "an indirection; serde(flatten) reads these keys through a buffer, which is slower";
            (positions.record_path(*record), from, names.join(", "), Some(filled), words.to_owned())
        }
    };
    Suggestion {
        why: match places.len() {
            0 => why(positions, next, step, &path, filled),
            several => why(positions, next, step, &format!("{} types", count(several as u64)), filled),
        },
        path,
        from,
        to,
        filled: filled.map(|(filled, _)| filled),
        slots: filled.map(|(_, slots)| slots),
        saves: was.bytes.cast_signed() - is.bytes.cast_signed(),
        allocations: more,
        total: is.bytes,
        cost: costs,
        places,
    }
}

/// Returns the counts that justify a step, as a sentence.
fn why(positions: &Positions<'_>, next: &Choices, step: &Step, path: &str, filled: Option<(u64, u64)>) -> String {
    let (filled, slots) = filled.unwrap_or_default();
    let absent = percent(slots - filled.min(slots), slots);
    match step {
        Step::Box(id) if positions.missing(*id) == 0 => format!("{path} is null in {absent} of the objects"),
        Step::Box(id) if positions.list[*id].slot.nulls == 0 => format!("{path} is absent in {absent} of the objects"),
        Step::Box(_) => format!("{path} is absent or null in {absent} of the objects"),
        Step::Map(_) => format!("as a sorted map, {path} has no empty buckets"),
        Step::Exact(owners) => {
            let (mut texts, mut lists, mut arrays) = (false, false, false);
            for id in ids(owners) {
                let text = matches!(positions.list[id].slot.kind, Kind::Text(_));
                texts |= text;
                arrays |= matches!(next.at[id], Choice::Array(_));
                lists |= !text && !matches!(next.at[id], Choice::Array(_));
            }
            let what = match (texts, lists) {
                (true, true) => "the strings and lists",
                (true, false) => "the strings",
                _ => "the lists",
            };
            if texts || lists {
                let all = if arrays { "; some lists have one length" } else { "" };
                format!("if {what} of {path} do not grow after loading, they need no spare capacity{all}")
            } else {
                format!("each list of {path} has one length, so it needs no pointer and no capacity")
            }
        }
        Step::Narrow(..) if positions.schema.strict => format!("the integers of {path} fit in fewer bytes"),
        Step::Narrow(..) => format!("the integers of {path} fit in fewer bytes, even values 16 times as large"),
        Step::Variants(_) => {
            format!(
                "each object of {path} takes the size of the largest variants, which are {} of the objects",
                percent(filled, slots)
            )
        }
        Step::Several(steps) => {
            format!("{} more changes of the same kinds each save too little to be listed", count(steps.len() as u64))
        }
        Step::Split(record) => {
            let moved: usize = next.splits[record].groups.iter().map(Vec::len).sum();
            let all = positions.fields[*record].len();
            let moved = format!("{} of {} fields", count(moved as u64), count(all as u64));
            format!("{moved} of {path} are absent in {absent} of the objects")
        }
    }
}

/// Returns the type constructors of a string or sequence before and after: `String`, `Box<str>`.
fn bare(positions: &Positions<'_>, id: PositionId, choice: Choice) -> (String, String) {
    if let Choice::Array(length) = choice {
        return ("Vec<_>".into(), format!("[_; {length}]"));
    }
    let text = matches!(positions.list[id].slot.kind, Kind::Text(_));
    let (from, to) = match (text, choice) {
        (true, Choice::Thin) => ("String", "ThinStr"),
        (true, _) => ("String", "Box<str>"),
        (false, Choice::Thin) => ("Vec<_>", "ThinSlice<_>"),
        (false, _) => ("Vec<_>", "Box<[_]>"),
    };
    (from.into(), to.into())
}

/// Returns the name of the owner of a heap block.
pub fn name_of(positions: &Positions<'_>, at: At) -> String {
    match at {
        At::Documents => "documents".into(),
        At::Position(id) => positions.list[id].path.clone(),
        At::Group(record, group) => format!("{} group {group}", positions.record_names[record].0),
        At::Variant(union, index) => {
            let (name, variants) = &positions.union_names[union];
            format!("{name}::{}", variants[index])
        }
    }
}

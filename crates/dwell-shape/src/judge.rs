//! Judges the decisions that inference cannot make from counts alone: types of a sample under each decision are weighed by their
//! bytes, and by the held-out documents that they refuse or that lose keys.
//!
//! Two kinds of decisions come here. [`judge`] finds those that differ when a part of a sample is left out. [`rejects_maps`] accepts
//! the maps of a corpus or rejects them: a map has one type for all its values, so one decision for a map may swallow most types of
//! a corpus. Where maps hold most objects, all texts are read a second time with fewer maps.

use super::infer::Accumulator;
use super::loading::{Effect, Outcome};
use super::overrides::{Override, What};
use super::plan::Plan;
use super::schema::{Kind, Schema, Slot, Tagging};
use foldhash::fast::FixedState;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::BuildHasher;

/// Returns what the objects of each type are, by its first path, and how many; those of maps by each path.
pub fn positions(schema: &Schema) -> BTreeMap<String, (What, u64)> {
    let mut found = BTreeMap::new();
    let (mut seen, mut unions) = (HashSet::new(), HashSet::new());
    let mut open: VecDeque<(&Slot, String)> = VecDeque::from([(&schema.root, "$".to_owned())]);
    while let Some((slot, path)) = open.pop_front() {
        let mut add = |is: What| {
            found.entry(path.clone()).or_insert((is, slot.count));
        };
        let mut records = Vec::new();
        match &slot.kind {
            Kind::Record { id, .. } => {
                let fields = &schema.records[*id].fields;
                let is_map = !fields.is_empty() && fields.iter().all(|field| field.rest);
                if !seen.contains(id) {
                    add(if is_map { What::Map } else { What::Struct });
                }
                records.push(*id);
            }
            Kind::Union { id } => {
                let of = &schema.unions[*id];
                match of.form {
                    _ if !unions.insert(*id) => {}
                    // Nothing of `--set` makes such a union.
                    Tagging::External => {}
                    Tagging::Untagged => add(What::Untagged),
                    _ => add(What::Tag(of.tag.clone())),
                }
                records.extend(of.variants.iter().map(|(_, record)| *record));
            }
            Kind::Map(map) => {
                add(What::Map);
                open.push_back((&map.value, format!("{path}.*")));
            }
            Kind::Seq(seq) => open.push_back((&seq.element, format!("{path}[]"))),
            Kind::Tuple { positions } => open.extend(positions.iter().map(|slot| (slot, format!("{path}[]")))),
            Kind::Mixed { alternatives } => open.extend(alternatives.iter().map(|slot| (slot, path.clone()))),
            Kind::Any(free) if free.objects.count > 0 => add(What::Value),
            _ => {}
        }
        for record in records.into_iter().filter(|record| seen.insert(*record)) {
            let mut fields: Vec<_> = schema.records[record].fields.iter().collect();
            fields.sort_by_key(|field| &field.key);
            for field in fields {
                match &field.slot.kind {
                    Kind::Map(map) if field.rest => open.push_back((&map.value, format!("{path}.*"))),
                    _ => open.push_back((&field.slot, format!("{path}{}", super::names::step(&field.key)))),
                }
            }
        }
    }
    found
}

/// Parts of a sample, each of which is left out in turn.
const PARTS: u64 = 5;
/// The parts on which a decision is tested.
const TESTED: u64 = 2;
/// The fewest texts of a sample that shows what a little less data would change.
const FEWEST: usize = 10;
/// The most texts of a sample, in bytes.
pub(super) const SAMPLE: usize = 2 << 20;
/// The most decisions that are weighed.
const WEIGHED: usize = 6;
/// The price of a refused document and of a lost key, in sizes of a document.
const PRICE: [f64; 2] = [5.0, 0.1];
/// The share of its price that a tag must save: the fields of one struct say most about new data. A map loses no key.
const TAG_SAVES: f64 = 0.15;

/// What a sample says about decisions that a little less data would change.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// The decisions.
    pub decisions: Vec<Override>,
    /// The same as `--set` takes them, each with what the objects nearly were.
    pub doubts: Vec<(String, String)>,
}

impl Verdict {
    /// Returns the decisions, and those of the user, which come last and win.
    pub fn with(&self, overrides: &[Override]) -> Vec<Override> {
        [&self.decisions[..], overrides].concat()
    }
}

/// Judges the decisions that differ when a part of the texts is left out: for each, what the objects may be is weighed by the bytes
/// of all types, and by the documents of the part that these refuse, or the keys that they lose.
pub fn judge(texts: &[String], overrides: &[Override]) -> Verdict {
    let mut verdict = Verdict::default();
    if texts.len() < FEWEST {
        return verdict;
    }
    let in_part = |part: u64, is: bool| {
        let texts = texts.iter().filter(move |text| (hash(text) % PARTS == part) == is);
        texts.map(String::as_str)
    };
    let without = |part: u64, all: &[Override]| infer(&in_part(part, false).collect::<Vec<_>>(), all, false);
    let price = |all: &[Override]| -> f64 {
        (0..TESTED)
            .map(|part| {
                let schema = without(part, all);
                let outcome = tested(&schema, in_part(part, true));
                let lost = outcome.reasons.iter().filter(|((effect, _), _)| *effect == Effect::Lost);
                let lost: u64 = lost.map(|(_, times)| *times).sum();
                let share = |number: u64| number as f64 / outcome.tried.max(1) as f64;
                let bytes = Plan::new(&schema).lean_heap().bytes as f64;
                bytes * (1.0 + PRICE[0] * share(outcome.refused) + PRICE[1] * share(lost))
            })
            .sum()
    };
    let found = doubts(&(0..PARTS).map(|part| positions(&without(part, overrides))).collect::<Vec<_>>(), overrides);
    verdict.decisions = found.iter().map(|(one, _)| one.clone()).collect();
    let mut least = if found.is_empty() { 0.0 } else { price(&verdict.with(overrides)) };
    for (at, (_, others)) in found.iter().enumerate() {
        for other in others {
            let was = std::mem::replace(&mut verdict.decisions[at].what, other.clone());
            let mut of = price(&verdict.with(overrides));
            if matches!(other, What::Tag(_) | What::Untagged) {
                of /= 1.0 - TAG_SAVES;
            }
            if std::env::var_os("JUDGE").is_some() {
                eprintln!("judge: {}: {was} {least} {other} {of}", verdict.decisions[at].path);
            }
            if of < least {
                least = of;
            } else {
                verdict.decisions[at].what = was;
            }
        }
        let one = &verdict.decisions[at];
        let others: BTreeSet<&What> = others.iter().chain([&found[at].0.what]).filter(|what| **what != one.what).collect();
        let others: Vec<String> = others.into_iter().map(ToString::to_string).collect();
        verdict.doubts.push((format!("{}={}", one.path, one.what), others.join(" or ")));
    }
    verdict
}

pub(super) fn hash(text: &str) -> u64 {
    FixedState::with_seed(0).hash_one(text)
}

/// Returns the decisions in which types differ, the outer and more frequent ones first: the most careful one, and what else the
/// objects may be. Decisions inside of others, or that `all` makes, are left out.
fn doubts(types: &[BTreeMap<String, (What, u64)>], all: &[Override]) -> Vec<(Override, Vec<What>)> {
    let mut found = BTreeMap::<&String, (BTreeSet<&What>, u64)>::new();
    for (path, (what, count)) in types.iter().flatten() {
        let known = found.entry(path).or_default();
        known.0.insert(what);
        known.1 += count;
    }
    found.retain(|path, (what, _)| what.len() > 1 && !all.iter().any(|one| one.path == **path));
    let decide = |(path, (what, count)): (&String, (BTreeSet<&What>, u64))| {
        let one = format!("{path}=struct").parse::<Override>().ok()?;
        let is_struct = |what: &&&What| **what == &What::Struct;
        let others = what.iter().filter(|what| !is_struct(what)).map(|what| (*what).clone()).collect();
        Some((one, others, count))
    };
    let mut found: Vec<(Override, Vec<What>, u64)> = found.into_iter().filter_map(decide).collect();
    found.sort_by_key(|(one, _, count)| (one.steps.len(), std::cmp::Reverse(*count)));
    let mut kept: Vec<(Override, Vec<What>)> = Vec::new();
    for (one, others, _) in found {
        if kept.len() < WEIGHED && !kept.iter().any(|(outer, _)| one.steps.starts_with(&outer.steps)) {
            kept.push((one, others));
        }
    }
    kept
}

/// The share of the bytes that maps of most objects must save: they also lose the types. Since they need more than to be a
/// little smaller, more data seldom changes the choice.
const SWALLOWED: f64 = 0.2;

/// Infers types from texts: two rounds of a study, then the full pass.
pub(super) fn infer(texts: &[&str], overrides: &[Override], is_cautious: bool) -> Schema {
    let read = |mut accumulator: Accumulator| {
        for (index, text) in (0..).zip(texts) {
            accumulator.at(index);
            let _ = accumulator.read(&mut serde_json::Deserializer::from_str(text));
        }
        accumulator
    };
    let mut study = Accumulator::new();
    study.set_overrides(overrides);
    if is_cautious {
        study.set_cautious();
    }
    let study = read(study).into_form().study();
    read(read(study).into_form().blank().start(1)).finish()
}

/// Tests types on texts.
fn tested<'t>(schema: &Schema, texts: impl Iterator<Item = &'t str>) -> Outcome {
    let unit_other = schema.unions_with_unit_other();
    let mut outcome = Outcome::default();
    for value in texts.filter_map(|text| serde_json::from_str::<Value>(text).ok()) {
        outcome.add(schema, &unit_other, &value);
    }
    outcome
}

/// Tests the types of four fifths of the texts on the others.
fn held_out(texts: &[String], overrides: &[Override], is_cautious: bool) -> Outcome {
    let list = |held: bool| {
        let texts = texts.iter().enumerate().filter(move |(index, _)| is_held(*index, 0) == held);
        texts.map(|(_, text)| text.as_str())
    };
    tested(&infer(&list(false).collect::<Vec<_>>(), overrides, is_cautious), list(true))
}

/// Returns whether a text is held back in a round.
pub fn is_held(index: usize, round: u32) -> bool {
    // Neighbouring texts are similar, so a multiplicative hash spreads the held-out fifth.
    let mixed = (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
    mixed.wrapping_add(u64::from(round)) % 5 == 0
}

/// Returns whether types with fewer maps are better. `texts` are a sample of the documents.
pub(super) fn rejects_maps(maps: &Schema, fewer: &Schema, texts: &[String], overrides: &[Override]) -> bool {
    let bytes = |schema: &Schema| Plan::new(schema).lean_heap().bytes as f64;
    if bytes(maps) < bytes(fewer) * (1.0 - SWALLOWED) {
        return false;
    }
    let [maps, fewer] = [false, true].map(|is_cautious| held_out(texts, overrides, is_cautious));
    // Keys that many held-out texts have and the fields do not are data.
    fewer.refused <= maps.refused + maps.tried / 20 && fewer.lost <= maps.lost + maps.tried / 4
}


#[cfg(test)]
mod tests {
    use super::*;

    /// Folders in folders: the names are data.
    fn folder(rng: &mut fastrand::Rng, depth: usize) -> String {
        let name = |rng: &mut fastrand::Rng| (0..6).map(|_| rng.lowercase()).collect::<String>();
        let count = rng.usize(1..5);
        let inner: Vec<String> = (0..if depth == 0 { 0 } else { count })
            .map(|_| format!("\"{}\":{}", name(rng), folder(rng, depth - 1)))
            .collect();
        format!("{{{}}}", inner.join(","))
    }

    #[test]
    fn maps_that_save_memory_are_accepted() {
        let mut rng = fastrand::Rng::with_seed(3);
        let texts: Vec<String> = (0..30).map(|_| format!("{{\"files\":{}}}", folder(&mut rng, 3))).collect();
        let list: Vec<&str> = texts.iter().map(String::as_str).collect();
        let [maps, fewer] = [false, true].map(|is_cautious| infer(&list, &[], is_cautious));
        assert!(!rejects_maps(&maps, &fewer, &texts, &[]));
        // Fields would lose the names of other folders, whatever they take.
        assert!(!rejects_maps(&fewer, &maps, &texts, &[]));
    }

    #[test]
    fn maps_that_save_nothing_are_rejected() {
        let texts: Vec<String> = (0..60).map(|n| format!("{{\"a\":{n},\"b\":{{\"c\":\"x\"}}}}")).collect();
        let list: Vec<&str> = texts.iter().map(String::as_str).collect();
        let schema = infer(&list, &[], false);
        assert!(rejects_maps(&schema, &schema, &texts, &[]));
    }
}

//! Judges the decisions that counts alone cannot make.
//!
//! `doubts` finds the decisions that differ when a part of a sample is left out. `rejects_maps` accepts the maps of a corpus or
//! rejects them, by the bytes of all types and by the held-out documents that these refuse or that lose keys: a map has one type for
//! all its values, so one decision for a map may swallow most types of a corpus. Where maps hold most objects, all texts are read a
//! second time with fewer maps.

use super::decisions::positions;
use super::infer::Accumulator;
use super::loading::Outcome;
use super::overrides::{Override, What};
use super::plan::Plan;
use super::schema::Schema;
use foldhash::fast::FixedState;
use serde_json::Value;
use std::collections::BTreeSet;
use std::hash::BuildHasher;

/// Parts of a sample, each of which is left out in turn.
const PARTS: u64 = 5;
/// The fewest texts of a sample that shows what a little less data would change.
const FEWEST: usize = 10;
/// The most texts of a sample, in bytes.
pub(super) const SAMPLE: usize = 4 << 20;

/// Returns the decisions of a schema that differ when a part of these texts is left out, as `--set` keeps them, each with what the
/// objects are then.
pub(super) fn doubts(schema: &Schema, texts: &[String], overrides: &[Override]) -> Vec<(String, String)> {
    if texts.len() < FEWEST {
        return Vec::new();
    }
    let without = |part: u64| {
        let kept = texts.iter().filter(|text| hash(text) % PARTS != part);
        positions(&infer(&kept.map(String::as_str).collect::<Vec<_>>(), overrides, false))
    };
    let (own, all) = (positions(schema), (0..PARTS).map(without).collect::<Vec<_>>());
    let is_whole = texts.len() as u64 == schema.documents;
    let mut found = Vec::new();
    for (path, (is, count)) in &own {
        let others: BTreeSet<&What> = all.iter().filter_map(|decided| Some(&decided.get(path)?.0)).collect();
        let Ok(one) = format!("{path}={is}").parse::<Override>() else { continue };
        // Far fewer texts than all may be too few for the decision.
        let differ = others.len() > 1 || (is_whole && others.iter().any(|other| *other != is));
        if differ && !overrides.iter().any(|given| given.path == *path) {
            let others: Vec<String> =
                others.into_iter().filter(|other| *other != is).map(ToString::to_string).collect();
            found.push((one, others.join(" or "), count));
        }
    }
    // Those inside of others may follow from them.
    found.sort_by_key(|(one, _, count)| (one.steps.len(), std::cmp::Reverse(**count)));
    found.into_iter().map(|(one, others, _)| (format!("{}={}", one.path, one.what), others)).collect()
}

pub(super) fn hash(text: &str) -> u64 {
    FixedState::with_seed(0).hash_one(text)
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

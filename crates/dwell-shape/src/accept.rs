//! Accepts the maps of a corpus, or rejects them.
//!
//! A map has one type for all its values, so one decision for a map may swallow most types of a corpus. Where maps hold most
//! objects, all texts are read a second time with fewer maps. The maps are accepted if they save memory, and if types without
//! them refuse or change more held-out texts.

use super::infer::Accumulator;
use super::loading::Outcome;
use super::overrides::Override;
use super::plan::Plan;
use super::schema::Schema;
use serde_json::Value;

/// The share of the bytes that maps of most objects must save: they also lose the types. Since they need more than to be a
/// little smaller, more data seldom changes the choice.
const SAVES: f64 = 0.2;

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

/// Tests the types of four fifths of the texts on the others.
fn held_out(texts: &[String], overrides: &[Override], is_cautious: bool) -> Outcome {
    let list = |held: bool| -> Vec<&str> {
        texts
            .iter()
            .enumerate()
            .filter(|(index, _)| is_held(*index, 0) == held)
            .map(|(_, text)| text.as_str())
            .collect()
    };
    let schema = infer(&list(false), overrides, is_cautious);
    let unit_other = schema.unions_with_unit_other();
    let mut outcome = Outcome::default();
    for text in list(true) {
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            outcome.add(&schema, &unit_other, &value);
        }
    }
    outcome
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
    if bytes(maps) < bytes(fewer) * (1.0 - SAVES) {
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

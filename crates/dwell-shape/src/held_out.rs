//! Cross-validation: types inferred from four fifths of the texts are tested on the last fifth.
//!
//! Nothing is compiled: `loading` compares each held-out text with the schema.

use super::formats::Typed;
use super::input::{self, Found};
use super::judge;
pub use super::judge::is_held;
pub use super::loading::{Effect, Outcome};
use super::overrides::{self, Override};
use super::schema::Schema;
use crate::UnknownKeys;
use dwell_output::units::{count, percent, plural};
use serde_json::Value;

/// The most bytes of text that are tested, since all of them are kept in memory.
pub const MOST: usize = 64 << 20;

/// The options that decide which values the types accept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// Whether sets of strings are closed.
    pub strict: bool,
    /// The treatment of unknown keys, if the user chose one.
    pub unknown: Option<UnknownKeys>,
    /// The formats whose strings get types of other crates.
    pub typed: Typed,
}

impl Rules {
    /// Applies the options to a schema.
    pub fn apply(self, schema: &mut Schema) {
        (schema.strict, schema.typed) = (self.strict, self.typed);
        schema.refuse = self.strict;
        match self.unknown {
            Some(UnknownKeys::Keep) => schema.keep_unknown_keys(),
            Some(unknown) => schema.refuse = unknown == UnknownKeys::Refuse,
            None => {}
        }
    }
}

/// Infers types from four fifths of the texts, tests them on the rest, and prints the result. Does so `rounds` times,
/// with the five fifths in turn.
///
/// With fewer than five texts it prints that there are too few to hold any back.
pub fn print(found: &Found, rounds: u32, rules: Rules, overrides: &[Override]) {
    let texts = input::texts(found, MOST);
    if texts.len() < 5 {
        eprintln!("held out: not run; it needs at least five documents (found {})", texts.len());
        return;
    }
    let mut all = Outcome::default();
    (0..rounds).for_each(|round| all.merge(round_of(&texts, round, rules, overrides)));
    eprintln!(
        "held out: {}, types from four fifths of {}: of {} tested, {} ({}) failed to load, {} differed when written \
         back, {} lost keys",
        plural(u64::from(rounds), "round"),
        plural(texts.len() as u64, "document"),
        count(all.tried),
        count(all.refused),
        percent(all.refused, all.tried),
        count(all.changed),
        count(all.lost),
    );
    for line in all.lines().into_iter().take(10) {
        eprintln!("held out: {line}");
    }
}

/// Runs one round. `round` selects the held-out fifth. A decision that has no effect on the others is left out.
pub fn round_of(texts: &[String], round: u32, rules: Rules, overrides: &[Override]) -> Outcome {
    let held = |index: usize| is_held(index, round);
    let kept: Vec<&str> =
        texts.iter().enumerate().filter(|&(index, _)| !held(index)).map(|(_, text)| text.as_str()).collect();
    let mut schema = judge::infer(&kept, overrides, false);
    rules.apply(&mut schema);
    overrides::apply(overrides, &mut schema);
    let unit_other = schema.unions_with_unit_other();
    let mut outcome = Outcome::default();
    for (_, text) in texts.iter().enumerate().filter(|&(index, _)| held(index)) {
        let Ok(value) = serde_json::from_str::<Value>(text) else { continue };
        outcome.add(&schema, &unit_other, &value);
    }
    outcome
}

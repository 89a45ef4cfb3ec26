//! Infers a [`Schema`] from JSON texts, without keeping their values.
//!
//! 1. A study reads a sample of the texts to find the tags of unions, and the objects whose keys are data. Its result
//!    is a [`Form`].
//! 2. The full pass reads all texts into accumulators of that form, one set for each part of the corpus, and adds these up. All
//!    counts are from this pass, so they are exact.
//! 3. `decide` chooses a kind for each position, `types` puts objects of one type together, and `build` makes the
//!    schema.

mod arena;
mod build;
mod compare;
mod cost;
mod decide;
mod form;
mod judge;
#[cfg(test)]
mod listing;
mod markers;
mod names;
mod sets;
mod study;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod under;
mod values;
mod visit;

pub(super) use build::joined;
pub(super) use names::{common, singular};

use super::overrides::Override;
use super::schema::Schema;
use arena::Arena;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error};
use std::sync::atomic::{AtomicU64, Ordering};
use types::Types;

/// The accumulated counts of the texts read so far.
pub struct Accumulator(Arena);

/// The form of the documents, inferred from a sample.
pub struct Form(Arena);

impl Form {
    /// Returns the number of texts that the last round of the study read.
    pub fn documents(&self) -> u64 {
        self.0.documents
    }

    /// Returns the number of positions of the form.
    pub fn positions(&self) -> usize {
        form::build(&self.0, true).len()
    }

    /// Creates accumulators of this form for another round of the study, and drops the counts of the last one.
    pub fn study(self) -> Accumulator {
        Accumulator(form::build(&self.0, true))
    }

    /// Returns empty accumulators of this form for a full pass, and drops the counts of the study.
    pub fn blank(self) -> Blank {
        static FORMS: AtomicU64 = AtomicU64::new(1);
        let mut arena = form::build(&self.0, false);
        arena.set_run(FORMS.fetch_add(1, Ordering::Relaxed));
        Blank(arena)
    }

    /// Returns the form without counts, for [`Blank::restore`], so that several runs can read by one form.
    pub fn save(self) -> impl serde::Serialize {
        form::build(&self.0, false).stored()
    }
}

/// Empty accumulators of a form.
pub struct Blank(Arena);

impl Blank {
    /// Restores the result of [`Form::save`]. `id` identifies the form: accumulators with one id have one form.
    ///
    /// # Errors
    /// Returns the deserializer's error, or an error if the data is not valid.
    pub fn restore<'de, D: serde::Deserializer<'de>>(deserializer: D, id: u64) -> Result<Self, D::Error> {
        let saved = arena::stored::Saved::deserialize(deserializer)?;
        let mut arena = Arena::restored(saved).ok_or_else(|| D::Error::custom("its contents are inconsistent"))?;
        arena.set_file(id);
        form::seal(&mut arena);
        Ok(Self(arena))
    }

    /// Returns into how many parts a corpus may be divided. The number of positions of all their accumulators together
    /// is limited, and each has those of the form.
    pub fn most(&self) -> usize {
        (arena::MOST / 2 / self.0.len()).clamp(1, MOST_ACCUMULATORS)
    }

    /// Creates accumulators for a full pass; there are `accumulators` of them for parts of one size.
    pub fn start(&self, accumulators: usize) -> Accumulator {
        self.start_part(accumulators, 1, accumulators as u64)
    }

    /// Like [`start`](Self::start), for accumulators that get `part` of `whole` bytes.
    pub fn start_part(&self, accumulators: usize, part: u64, whole: u64) -> Accumulator {
        let mut arena = self.0.clone();
        arena.limit(accumulators.max(1), part, whole);
        Accumulator(arena)
    }
}

/// The most parts of a corpus. Each gets memory for tens of thousands of positions.
const MOST_ACCUMULATORS: usize = 8;

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Accumulator {
    /// Creates accumulators without a form, for the first round of the study.
    pub fn new() -> Self {
        Self(Arena::new(true))
    }

    /// Sets the decisions of the user. Later rounds of a study have them too.
    pub fn set_overrides(&mut self, overrides: &[Override]) {
        self.0.user.overrides = overrides.into();
    }

    /// Lets objects become maps only if their values are alike and no other position shares them. Later rounds of a study
    /// do so too.
    pub fn set_cautious(&mut self) {
        self.0.user.cautious = true;
    }

    /// Sets the index of the file or line for the next texts. Fields are listed in the order of their first index.
    pub fn at(&mut self, index: u32) {
        self.0.reading.moment = self.0.reading.moment.max(u64::from(index) << 32);
    }

    /// Reads the next value of `deserializer`.
    pub fn read<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        deserializer: &mut serde_json::Deserializer<R>,
    ) -> serde_json::Result<()> {
        self.read_as(None, deserializer)
    }

    /// Like [`read`](Self::read); reads the value as if it were under the key `root`, if there is one.
    pub fn read_as<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        root: Option<&str>,
        deserializer: &mut serde_json::Deserializer<R>,
    ) -> serde_json::Result<()> {
        let value = visit::Value { node: self.0.root, arena: &mut self.0 };
        let read = match root {
            Some(key) => value.deserialize(under::Under { key, inner: deserializer }),
            None => value.deserialize(deserializer),
        };
        self.0.abandon();
        self.0.settle();
        self.0.reclaim();
        self.0.documents += u64::from(read.is_ok());
        read
    }

    /// Adds to the number of bytes read.
    pub fn add_bytes(&mut self, bytes: u64) {
        self.0.bytes += bytes;
    }

    /// Infers the form from the counts.
    pub fn into_form(mut self) -> Form {
        decide::sketch(&mut self.0);
        Form(self.0)
    }

    /// Returns the number of texts read.
    pub fn documents(&self) -> u64 {
        self.0.documents
    }

    /// Returns all counts, in a form that serde can write.
    pub fn save(self) -> impl serde::Serialize {
        self.0.saved()
    }

    /// Restores the result of [`save`](Self::save).
    ///
    /// # Errors
    /// Returns the deserializer's error, or an error if the data is not valid.
    pub fn restore<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = arena::stored::Saved::deserialize(deserializer)?;
        let arena = Arena::restored(saved).ok_or_else(|| D::Error::custom("its contents are inconsistent"))?;
        Ok(Self(arena))
    }

    /// Adds the counts of another set of accumulators.
    pub fn merge(&mut self, other: Self) {
        self.0.user.outvoted = None;
        self.0.merge(other.0);
    }

    /// Adds the counts of a part of the corpus that another run read. Drops detail where both together are too large.
    pub fn add_part(&mut self, mut part: Self) {
        for accumulator in [&mut *self, &mut part] {
            accumulator.0.shrink(arena::MOST / 2, arena::ROOM / 2);
        }
        self.0.merge(part.0);
    }

    /// Decides about the objects, and returns another form if the full pass met a map of its form that is of one type with
    /// more records: the counts of a map cannot become those of fields, so the texts must be read again.
    pub fn correction(&mut self) -> Option<Form> {
        self.0.settle();
        self.0.prune();
        decide::settle(&mut self.0, |arena| Types::new(arena).outvoted());
        self.0.name_maps(&decide::shared(&self.0));
        let types = Types::new(&self.0);
        if !types.is_overruled {
            let outvoted = types.outvoted();
            self.0.user.outvoted = Some(outvoted);
            return None;
        }
        // In a study, the side with more entries decides.
        let mut arena = std::mem::replace(&mut self.0, Arena::new(false));
        arena.studying = true;
        Some(Form(arena))
    }

    /// Returns whether most objects are in maps whose values are such maps again, or are untyped, after
    /// [`correction`](Self::correction). Such maps may have swallowed the types of the corpus.
    pub fn is_in_doubt(&self) -> bool {
        let (all, swallowed) = self.0.swallowed();
        all >= 100 && swallowed * 2 > all
    }

    /// Builds the schema without the counts being used up.
    pub fn schema(&self) -> Schema {
        Self(self.0.clone()).finish()
    }

    /// Builds the schema.
    pub fn finish(mut self) -> Schema {
        self.0.settle();
        self.0.prune();
        let outvoted = self.0.user.outvoted.take();
        decide::settle(&mut self.0, |arena| outvoted.unwrap_or_else(|| Types::new(arena).outvoted()));
        loop {
            self.0.name_maps(&decide::shared(&self.0));
            let types = Types::new(&self.0);
            // If one node of a position is untyped, the others become untyped too.
            let mut lost = types.lost();
            // All objects of a type must agree on which keys are fields.
            let apart = types.with_rest();
            let maps = types.named_maps();
            if lost.is_empty() && apart.is_empty() && maps.is_empty() {
                // This comes last, because it makes a position untyped for all objects of the same type.
                lost = types.hopeless();
                if lost.is_empty() {
                    return build::build(&self.0, &types);
                }
            }
            for node in lost {
                self.0.set_free(node);
            }
            for objects in apart {
                self.0.join(&objects);
            }
            for objects in &maps {
                self.0.join(objects);
            }
            self.0.settle();
            for objects in maps {
                let object = self.0.find(objects[0]);
                self.0.move_to_rest(object, |_, _| true);
            }
            self.0.settle();
            self.0.reclaim();
        }
    }

    /// Returns the number of distinct positions, a measure of the memory in use.
    pub fn positions(&self) -> usize {
        self.0.len()
    }
}

/// Checks the next value of `deserializer` for errors, without counting it.
pub fn check<'de, R: serde_json::de::Read<'de>>(
    deserializer: &mut serde_json::Deserializer<R>,
) -> serde_json::Result<()> {
    visit::FreeValue { free: &mut super::schema::Free::default() }.deserialize(deserializer)
}

//! From JSON texts to a [`Schema`], without keeping any value of them.
//!
//! 1. Part of the texts is read into accumulators to find the keys that tell the
//!    objects of a position apart, and the objects whose keys are data. What is left of it is a [`Form`].
//! 2. All texts are read into accumulators of that form, one set a thread, and those are added up. All counts are of
//!    this reading, so they are exact.
//! 3. The positions are decided (`decide`), objects of one type are put together (`types`), and the schema is built.

mod arena;
mod build;
mod decide;
mod form;
#[cfg(test)]
mod listing;
mod names;
mod sets;
mod study;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod visit;

pub(super) use build::joined;
pub(super) use names::{common, singular};

use super::schema::Schema;
use arena::Arena;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error};
use std::sync::atomic::{AtomicU64, Ordering};
use types::Types;

/// The accumulated counts of the texts read so far.
pub struct Accumulator(Arena);

/// The form of all texts, inferred from a part of them.
pub struct Form {
    arena: Arena,
    /// Tells forms apart.
    number: u64,
}

impl Form {
    /// Accumulators of this form, of which so many are filled at the same time.
    pub fn start(&self, accumulators: usize) -> Accumulator {
        let mut arena = form::of(&self.arena, false);
        arena.set_form(self.number);
        arena.budget = (arena::BUDGET * 2 / accumulators.max(1)).clamp(arena::BUDGET / 16, arena::BUDGET);
        Accumulator(arena)
    }

    /// Accumulators of this form, to find a better one with.
    pub fn study(&self) -> Accumulator {
        Accumulator(form::of(&self.arena, true))
    }
}

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Accumulator {
    /// Accumulators of no form yet, to find one with.
    pub fn new() -> Self {
        Self(Arena::new(true))
    }

    /// Says that the next texts are of the file or line `index`; fields are listed in the order of these.
    pub fn at(&mut self, index: u32) {
        self.0.moment = self.0.moment.max(u64::from(index) << 32);
    }

    /// Reads the next value of `deserializer`.
    pub fn read<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        deserializer: &mut serde_json::Deserializer<R>,
    ) -> serde_json::Result<()> {
        let node = self.0.root;
        let read = visit::Value { arena: &mut self.0, node }.deserialize(deserializer);
        self.0.abandon();
        self.0.settle();
        self.0.reclaim();
        self.0.documents += u64::from(read.is_ok());
        read
    }

    /// Counts bytes of text.
    pub fn add_bytes(&mut self, bytes: u64) {
        self.0.bytes += bytes;
    }

    /// The inferred form.
    pub fn into_form(mut self) -> Form {
        static FORMS: AtomicU64 = AtomicU64::new(1);
        decide::sketch(&mut self.0);
        Form { arena: self.0, number: FORMS.fetch_add(1, Ordering::Relaxed) }
    }

    /// Texts read.
    pub fn documents(&self) -> u64 {
        self.0.documents
    }

    /// All that is known, to be written to a file.
    pub fn save(self) -> impl serde::Serialize {
        self.0.saved()
    }

    /// Restores the result of [`save`](Self::save).
    ///
    /// # Errors
    /// The deserializer's, or that this is not what was saved.
    pub fn restore<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = arena::Saved::deserialize(deserializer)?;
        let arena = Arena::restored(saved).ok_or_else(|| D::Error::custom("its parts do not fit together"))?;
        Ok(Self(arena))
    }

    /// Adds what another set of accumulators knows.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// The schema of all that was read.
    pub fn finish(mut self) -> Schema {
        self.0.settle();
        self.0.prune();
        decide::settle(&mut self.0);
        loop {
            self.0.name_maps(&decide::shared(&self.0));
            let types = Types::new(&self.0);
            // What is in one position with something that was given up is given up too.
            let mut lost = types.lost();
            // Which key is a field has to be the same for all objects of a type.
            let apart = types.with_rest();
            let maps = types.named_maps();
            if lost.is_empty() && apart.is_empty() && maps.is_empty() {
                // Not before, for what is given up is given up for all that is found to be of the same type later.
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

    /// Positions that are distinguished, a measure of the memory used.
    pub fn positions(&self) -> usize {
        self.0.len()
    }
}

/// Reads the next value of `deserializer` and finds what is wrong with it, keeping nothing.
pub fn check<'de, R: serde_json::de::Read<'de>>(
    deserializer: &mut serde_json::Deserializer<R>,
) -> serde_json::Result<()> {
    visit::FreeValue { free: &mut super::schema::Free::default() }.deserialize(deserializer)
}

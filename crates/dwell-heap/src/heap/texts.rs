//! Finds equal strings, and blocks with equal contents, of one owner.

use foldhash::fast::FixedState;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};

/// The counts of a site's strings, or of its blocks' contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    /// The number of texts that are equal to an earlier one.
    pub(crate) duplicates: u64,
    pub(crate) duplicate_bytes: u64,
    distinct: u64,
    /// Hashes of the contents. Of ten million texts, two that differ have the same one once in 300,000 heaps.
    known: HashSet<u64, FixedState>,
}

impl Texts {
    /// Adds a text that represents `weight` texts of a sampled run. Only a text that was recorded before counts as a
    /// duplicate.
    pub(crate) fn add(&mut self, text: &[u8], weight: u64) {
        let mut hasher = FixedState::with_seed(1).build_hasher();
        hasher.write(text);
        hasher.write_usize(text.len());
        let length = text.len() as u64;
        self.count = self.count.saturating_add(weight);
        self.bytes = self.bytes.saturating_add(length.saturating_mul(weight));
        if self.known.insert(hasher.finish()) {
            self.distinct += 1;
        } else {
            self.duplicates = self.duplicates.saturating_add(weight);
            self.duplicate_bytes = self.duplicate_bytes.saturating_add(length.saturating_mul(weight));
        }
    }

    pub(crate) fn distinct(&self) -> u64 {
        self.distinct
    }

    /// Frees the hashes when all texts were added.
    pub(crate) fn complete(&mut self) {
        self.known = HashSet::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_copy_after_the_first_is_a_duplicate() {
        let mut texts = Texts::default();
        for text in ["", "a", "bc", "a", "bc", "bc", "abc"] {
            texts.add(text.as_bytes(), 1);
        }
        assert_eq!((texts.count, texts.bytes, texts.distinct(), texts.duplicate_bytes), (7, 11, 4, 5));
    }
}

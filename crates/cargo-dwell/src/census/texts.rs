//! Equal texts, and other equal contents, of one owner.

use foldhash::fast::FixedState;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};

/// Counts of the texts of a site, or of the contents of its blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// Those that are equal to one before.
    pub(super) duplicates: u64,
    pub(super) duplicate_bytes: u64,
    /// By a hash of 128 bits, which two different texts do not share.
    known: HashSet<u128, FixedState>,
}

impl Texts {
    /// Adds a text that stands for `weight` of which the others were not recorded. Whether these are equal is not known: only
    /// what was met before is a duplicate.
    pub(super) fn add(&mut self, text: &[u8], weight: u64) {
        let half = |seed| {
            let mut hasher = FixedState::with_seed(seed).build_hasher();
            hasher.write(text);
            hasher.write_usize(text.len());
            u128::from(hasher.finish())
        };
        let length = text.len() as u64;
        self.count = self.count.saturating_add(weight);
        self.bytes = self.bytes.saturating_add(length.saturating_mul(weight));
        let is_new = self.known.insert(half(1) << 64 | half(2));
        if !is_new {
            self.duplicates = self.duplicates.saturating_add(weight);
            self.duplicate_bytes = self.duplicate_bytes.saturating_add(length.saturating_mul(weight));
        }
    }

    pub(super) fn distinct(&self) -> u64 {
        self.known.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_first_of_equal_texts_are_duplicates() {
        let mut texts = Texts::default();
        for text in ["", "a", "bc", "a", "bc", "bc", "abc"] {
            texts.add(text.as_bytes(), 1);
        }
        assert_eq!((texts.count, texts.bytes, texts.distinct(), texts.duplicate_bytes), (7, 11, 4, 5));
    }
}

//! Finds equal strings, and blocks with equal contents, of one owner.

use foldhash::fast::FixedState;
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
    known: Known,
    /// The last texts, which are not yet known.
    new: Vec<Text>,
}

/// A text that is looked for among the known ones.
#[derive(Clone, Copy, Debug)]
struct Text {
    hash: u64,
    len: u64,
    weight: u64,
}

/// The texts that are looked for at once, so that the processor waits for the memory of all of them together.
const AT_ONCE: usize = 32;

impl Texts {
    /// Adds a text that represents `weight` texts of a sampled run. Only a text that was recorded before counts as a
    /// duplicate.
    pub(crate) fn add(&mut self, text: &[u8], weight: u64) {
        let mut hasher = FixedState::with_seed(1).build_hasher();
        hasher.write(text);
        hasher.write_usize(text.len());
        let len = text.len() as u64;
        self.count = self.count.saturating_add(weight);
        self.bytes = self.bytes.saturating_add(len.saturating_mul(weight));
        // No text has the hash 0, which stands for none.
        self.new.push(Text { hash: hasher.finish().max(1), len, weight });
        if self.new.len() >= AT_ONCE {
            self.look_up();
        }
    }

    fn look_up(&mut self) {
        if self.new.is_empty() {
            return;
        }
        self.known.reserve(self.new.len());
        self.known.touch(&self.new);
        for Text { hash, len, weight } in self.new.drain(..) {
            if self.known.insert(hash) {
                self.distinct += 1;
            } else {
                self.duplicates = self.duplicates.saturating_add(weight);
                self.duplicate_bytes = self.duplicate_bytes.saturating_add(len.saturating_mul(weight));
            }
        }
    }

    pub(crate) fn distinct(&self) -> u64 {
        self.distinct
    }

    /// Counts the last texts, and frees the hashes, when all texts were added.
    pub(crate) fn complete(&mut self) {
        self.look_up();
        (self.known, self.new) = (Known::default(), Vec::new());
    }
}

/// Hashes of the contents. Of ten million texts, two that differ have the same one once in 300,000 heaps.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The hashes, nearly in their order, so that a larger table is filled from its start to its end; 0 is none. At most three
    /// of four have a hash.
    slots: Vec<u64>,
    len: usize,
}

impl Known {
    /// Makes room for so many more hashes.
    fn reserve(&mut self, more: usize) {
        let wanted = (self.len + more) / 3 * 4 + 4;
        if wanted > self.slots.len() {
            let slots = vec![0; wanted.max(self.slots.len() / 2 * 3).max(64)];
            let old = std::mem::replace(self, Self { slots, len: 0 });
            for hash in old.slots.into_iter().filter(|hash| *hash != 0) {
                self.insert(hash);
            }
        }
    }

    /// Returns the first slot that a hash may have.
    fn first(&self, hash: u64) -> usize {
        let slot = (u128::from(hash) * self.slots.len() as u128) >> u64::BITS;
        usize::try_from(slot).unwrap_or(0)
    }

    /// Reads the slots of hashes, so that they are near.
    fn touch(&self, texts: &[Text]) {
        std::hint::black_box(texts.iter().fold(0, |all, text| all ^ self.slots[self.first(text.hash)]));
    }

    /// Adds a hash, for which there is room. Returns `false` if it is known.
    fn insert(&mut self, hash: u64) -> bool {
        let mut slot = self.first(hash);
        while self.slots[slot] != hash && self.slots[slot] != 0 {
            slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
        }
        let is_new = self.slots[slot] == 0;
        self.slots[slot] = hash;
        self.len += usize::from(is_new);
        is_new
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
        texts.complete();
        assert_eq!((texts.count, texts.bytes, texts.distinct(), texts.duplicate_bytes), (7, 11, 4, 5));
    }

    #[test]
    fn many_texts_are_told_apart() {
        let mut texts = Texts::default();
        for number in (0..30_000_u32).chain(0..10_000) {
            texts.add(&number.to_le_bytes(), 2);
        }
        texts.complete();
        assert_eq!(
            (texts.count, texts.distinct(), texts.duplicates, texts.duplicate_bytes),
            (80_000, 30_000, 20_000, 80_000)
        );
    }
}

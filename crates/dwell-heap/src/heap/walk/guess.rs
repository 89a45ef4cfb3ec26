//! The lengths of lists of which no header was found: a local variable that only a register points to, a list on its way
//! between two functions. The values of such a list are judged like others.

use super::{OWNED, Walk, length, sub};
use crate::heap::walk::{Holds, SiteId};

impl Walk<'_, '_> {
    /// Returns the number of values that a list without a header has at least.
    pub(in crate::heap) fn guessed(&self, block: usize) -> Option<u64> {
        self.hints.guessed.get(&block).copied()
    }

    /// Guesses the lengths of lists without an owner, after all owners are known, and reads their values.
    pub(super) fn guess_lengths(&mut self) {
        for block in 0..self.snapshot.blocks.len() {
            if self.marks.flags[block] & OWNED != 0
                || self.marks.local_of[block] != 0
                || self.known_len(block).is_some()
            {
                continue;
            }
            let Some((element, _)) = self.slots_of(block) else { continue };
            let content = self.content_of(block);
            let root = self.root(super::BlockType::Slots(element), &content);
            let Some((site, stride)) = self.schema.sites[root].decoder.slots() else { continue };
            let Some(len) = self.guess(block, site, stride) else { continue };
            self.hints.guessed.insert(block, len);
            self.run(block, site, 0, stride, len);
            self.drain();
        }
    }

    /// Returns the number of values up to the last one with pointers to blocks, if none of these has another owner. All before
    /// it have to be valid.
    fn guess(&mut self, block: usize, site: SiteId, stride: u64) -> Option<u64> {
        let allocation = self.snapshot.blocks[block];
        let holds = self.schema.sites[site].decoder.holds();
        if stride == 0 || matches!(holds, Holds::Plain | Holds::Opaque) {
            return None;
        }
        let mut bytes = Vec::new();
        if !self.image.read(allocation.addr, length(allocation.size), &mut bytes) {
            return None;
        }
        let value = |index: u64| sub(&bytes, index * stride, stride);
        let last = (0..allocation.size / stride).rev().find(|index| self.points_to_free(value(*index)))?;
        let size = self.schema.sites[site].size;
        (0..=last).all(|index| self.is_valid(site, sub(&bytes, index * stride, size), 0)).then_some(last + 1)
    }
}

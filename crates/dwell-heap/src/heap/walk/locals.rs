//! Finds collections that are local variables.

use super::read::{CHUNK, length};
use super::{OWNED, Owner, SEEN, Walk};
use crate::capture::Moment;
use crate::heap::walk::{BlockType, Part, SiteId, VecHeader, WORD, sub, word};
use dwell_model::Shape;
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of bytes of a stack to search.
pub(super) const LONGEST_STACK: u64 = 8 << 20;
/// The maximum number of a collection's last elements whose bytes are checked.
const CHECKED: u64 = 64;
/// The deepest nesting of values that is checked.
const DEEPEST: u32 = 256;

impl Walk<'_, '_> {
    /// Finds collections that are local variables.
    ///
    /// A header must have the layout of its type: a pointer to a block without an owner, and beside it a capacity that
    /// matches the size of the block. Several headers may point to one block, as copies left behind by moves. The
    /// longest one whose elements are all valid counts. At the exit of a program, the frames of its functions are gone,
    /// and their remains are not read.
    pub(super) fn start_at_stacks(&mut self) {
        if self.snapshot.at == Moment::Exit {
            return;
        }
        let open = |this: &Self, block: usize| {
            this.marks.flags[block] & (SEEN | OWNED) == 0 && matches!(this.type_of(block), Some(BlockType::Slots(_)))
        };
        let mut found: HashMap<usize, Vec<u64>> = HashMap::new();
        let roots = &self.snapshot.roots;
        let mut bytes = Vec::new();
        for &(start, end) in roots {
            let start = start.next_multiple_of(WORD);
            let size = end.saturating_sub(start).min(LONGEST_STACK) / WORD * WORD;
            if !self.image.read(start, length(size), &mut bytes) {
                continue;
            }
            for at in (0..size).step_by(8) {
                let Some(block) =
                    word(&bytes, at).and_then(|ptr| self.block_at(ptr)).filter(|block| open(self, *block))
                else {
                    continue;
                };
                let Some((element, header)) = self.slots_of(block) else { continue };
                if let Some(len) = self.header_at(&bytes, at, block, element, &header) {
                    found.entry(block).or_default().push(len);
                }
            }
        }
        let mut found: Vec<(usize, Vec<u64>)> = found.into_iter().collect();
        found.sort_unstable();
        for (block, mut lengths) in found {
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            lengths.dedup();
            let valid = lengths.into_iter().find(|len| self.is_filled(block, *len));
            if let Some(len) = valid {
                self.hints.lengths.insert(block, len);
                self.start(block, Owner::Stack);
                self.drain();
            }
        }
    }

    /// Returns `true` if the last of the first `len` slots of a block have valid values.
    pub(super) fn is_filled(&mut self, block: usize, len: u64) -> bool {
        let Some(ty) = self.type_of(block) else { return false };
        let content = self.content_of(block);
        let root = self.root(ty, &content);
        let Some(Shape::Sequence(_, element)) = self.schema.sites[root].decoder.shape_of_block() else { return false };
        let stride = self.schema.sites[element].size;
        self.are_valid(self.snapshot.blocks[block].addr, element, stride, len)
    }

    /// Returns `true` if the last of `count` adjacent values are valid for their type. The last ones decide, because
    /// stale lengths include elements that were removed, and elements are dropped from the first one on.
    fn are_valid(&mut self, addr: u64, site: SiteId, stride: u64, count: u64) -> bool {
        let size = self.schema.sites[site].size;
        let mut bytes = Vec::new();
        (count.saturating_sub(CHECKED)..count).all(|index| {
            let Some(at) = index.checked_mul(stride).and_then(|at| addr.checked_add(at)) else { return false };
            size > CHUNK || self.image.read(at, length(size), &mut bytes) && self.is_valid(site, &bytes, 0)
        })
    }

    pub(super) fn is_valid(&mut self, site: SiteId, bytes: &[u8], depth: u32) -> bool {
        let decoder = Rc::clone(&self.schema.sites[site].decoder);
        depth > DEEPEST || decoder.is_valid(self, bytes, depth)
    }

    /// Returns `true` if parts of a value, which is nested `depth` levels deep, are valid.
    pub(in crate::heap) fn are_parts_valid(&mut self, parts: &[Part], bytes: &[u8], depth: u32) -> bool {
        parts.iter().all(|part| {
            let size = self.schema.sites[part.site].size;
            self.is_valid(part.site, sub(bytes, part.at, size), depth + 1)
        })
    }

    /// Returns `true` if the header of a collection is valid: its block exists and is large enough for the capacity.
    pub(in crate::heap) fn is_header(&self, header: &VecHeader, bytes: &[u8], stride: u64) -> bool {
        let Some((ptr, cap, len)) = header.read(bytes) else { return false };
        let fits = |block: usize| cap.checked_mul(stride).is_some_and(|end| self.fits(block, end));
        len <= cap && (cap == 0 || stride == 0 || self.block_at(ptr).is_some_and(fits))
    }
}

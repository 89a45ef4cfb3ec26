//! Collections that grow: hashbrown copies the entries to a new block, and frees the old one after that.
//!
//! A peak is often at such a moment, so that both blocks are live with the same entries. The second one has no owner. Read
//! as a collection of its own, it would own every entry again.

use super::read::length;
use super::{OWNED, Owner, SiteId, Use, Walk};
use crate::capture::Moment;
use crate::heap::walk::BlockType;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The maximum number of blocks without an owner that are compared with others.
const MOST: usize = 64;
/// The most bytes of blocks that are compared, as a multiple of the live bytes.
const MOST_COMPARED: u64 = 4;
/// The number of entries of a block that are looked for in the other one.
const COMPARED: usize = 64;

/// The entries of a block that a collection leaves when it grows.
#[derive(Clone, Debug)]
pub(crate) struct Movable {
    /// The addresses of the entries.
    pub(crate) at: Vec<u64>,
    /// The size of an entry.
    pub(crate) stride: u64,
    /// The number of entries for which the block has a place.
    pub(crate) capacity: u64,
}

impl Walk<'_, '_> {
    /// Returns the site of a block whose collection leaves it when it grows.
    fn movable(&mut self, block: usize) -> Option<SiteId> {
        let ty = self.type_of(block).filter(|ty| matches!(ty, BlockType::Own(..)))?;
        let content = self.content_of(block);
        let site = self.root(ty, &content);
        self.schema.sites[site].decoder.moves().then_some(site)
    }

    /// Returns `true` if a block has to wait until its owner, or that of its copy, is known.
    pub(super) fn may_be_copy(&mut self, block: usize) -> bool {
        self.snapshot.at != Moment::Exit && self.marks.flags[block] & OWNED == 0 && self.movable(block).is_some()
    }

    /// Finds the blocks that a growing collection leaves, or is about to use. `waiting` are those without an owner.
    pub(super) fn find_copies(&mut self, waiting: &[usize]) {
        let has_owner =
            |this: &Self, block: usize| this.marks.flags[block] & OWNED != 0 || this.marks.local_of[block] != 0;
        let mut open: Vec<usize> = waiting.iter().copied().filter(|block| !has_owner(self, *block)).collect();
        open.sort_by_key(|block| std::cmp::Reverse(self.snapshot.blocks[*block].size));
        open.truncate(MOST);
        if open.is_empty() {
            return;
        }
        let types: HashSet<BlockType> = open.iter().filter_map(|block| self.type_of(*block)).collect();
        let mut by_type: HashMap<BlockType, Vec<usize>> = HashMap::new();
        for block in 0..self.snapshot.blocks.len() {
            if let Some(ty) = self.type_of(block).filter(|ty| types.contains(ty)) {
                by_type.entry(ty).or_default().push(block);
            }
        }
        // Many tables of one type must not take long.
        let mut left = self.snapshot.live_bytes.saturating_mul(MOST_COMPARED);
        for block in open {
            let Some(all) = self.type_of(block).and_then(|ty| by_type.get(&ty)) else { continue };
            for &other in all {
                let are_known = self.hints.copies.contains_key(&block) || self.hints.copies.contains_key(&other);
                let [size, of_other] = [block, other].map(|block| self.snapshot.blocks[block].size);
                // A table doubles when it grows.
                let is_double = size.min(of_other).saturating_mul(3) > size.max(of_other) && size != of_other;
                if are_known || !is_double {
                    continue;
                }
                let Some(rest) = left.checked_sub(size.saturating_add(of_other)) else { return };
                left = rest;
                if !self.is_copy(block, other) {
                    continue;
                }
                let (copy, kept) = if has_owner(self, other) || self.is_fuller(other, block) {
                    (block, other)
                } else {
                    (other, block)
                };
                self.hints.copies.insert(copy, kept);
            }
        }
    }

    /// Returns the entries of a block, if it is one that a collection may leave.
    fn entries_of(&mut self, block: usize) -> Option<Movable> {
        let site = self.movable(block)?;
        let decoder = Rc::clone(&self.schema.sites[site].decoder);
        decoder.movable(self, block)
    }

    /// Returns `true` if a block has more entries than another one, or is the larger one of two with as many.
    fn is_fuller(&mut self, block: usize, than: usize) -> bool {
        let rank = |movable: Option<Movable>| movable.map(|movable| (movable.at.len(), movable.capacity));
        rank(self.entries_of(block)) > rank(self.entries_of(than))
    }

    /// Returns `true` if one of two blocks has only entries of the other one.
    fn is_copy(&mut self, block: usize, other: usize) -> bool {
        let (Some(a), Some(b)) = (self.entries_of(block), self.entries_of(other)) else { return false };
        let (few, many) = if (a.at.len(), a.capacity) <= (b.at.len(), b.capacity) { (a, b) } else { (b, a) };
        if few.at.is_empty() {
            // Nothing was copied yet. The old block is full then, and the new one twice as large.
            return few.capacity == many.capacity.saturating_mul(2) && many.at.len() as u64 >= many.capacity / 4 * 3;
        }
        let step = (few.at.len() / COMPARED).max(1);
        let mut wanted: HashSet<Vec<u8>> = HashSet::new();
        let mut bytes = Vec::new();
        for &at in few.at.iter().step_by(step) {
            if !self.image.read(at, length(few.stride), &mut bytes) {
                return false;
            }
            wanted.insert(bytes.clone());
        }
        for &at in &many.at {
            if wanted.is_empty() {
                break;
            }
            if self.image.read(at, length(many.stride), &mut bytes) {
                wanted.remove(&bytes);
            }
        }
        wanted.is_empty()
    }

    /// Gives the copies of growing collections to the owners of these.
    pub(super) fn claim_copies(&mut self) {
        let mut copies: Vec<(usize, usize)> = self.hints.copies.iter().map(|(copy, kept)| (*copy, *kept)).collect();
        copies.sort_unstable();
        for (copy, kept) in copies {
            let Some(number) = self.marks.claims[kept].checked_sub(1) else { continue };
            let holding = &self.counted.holdings[number as usize];
            let (site, size) = (holding.site, holding.element_size);
            let (content, element) = (format!("{}, which grows", holding.content), holding.element.clone());
            let used = Use { unused: self.snapshot.blocks[copy].size, ..Use::default() };
            self.claim_as(copy, Owner::Copy(number), site, None, |_| (content, element, size), used);
        }
    }
}

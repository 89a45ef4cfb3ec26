//! Raw pointers and references, the weak owners of blocks; values inside blocks of slabs and arenas.

use super::{Owner, POINTED_AT, SEEN, Start, Use, Walk};
use crate::debuginfo::{Text, TypeId};
use crate::heap::owners::BlockType;
use crate::heap::types::SiteId;

/// The maximum number of bytes read through pointers into blocks, as a multiple of the live bytes. It limits the work
/// for damaged memory.
const MOST_INNER: u64 = 8;

/// A block that a raw pointer or reference points to.
pub(super) struct Pointed {
    block: usize,
    site: SiteId,
    /// The type of the target, or of its elements.
    pointee: Option<TypeId>,
    /// The number of elements, for a pointer to a slice.
    len: Option<u64>,
}

impl Walk<'_, '_> {
    /// Follows a pointer to a value of a known type, or to `len` of them. Its block gets a weak owner, if it has no
    /// other. Returns `true` if the pointer is null.
    pub(in crate::heap) fn points_to(
        &mut self,
        site: SiteId,
        ptr: u64,
        pointee: Option<TypeId>,
        len: Option<u64>,
    ) -> bool {
        // A reference to a value in an arena.
        if let Some(pointee) = pointee
            && self.schema.get(pointee).size > 0
            && let Some(block) = self.block_around(ptr)
            && matches!(self.type_of(block), Some(BlockType::Chunk(_)))
        {
            let element = self.pointee(site, pointee);
            self.within(site, ptr, element, self.schema.get(pointee).size, len.unwrap_or(1));
            return false;
        }
        if let Some(block) = self.block_at(ptr) {
            if !self.is_counting {
                self.flags[block] |= POINTED_AT;
            }
            if !self.is_met(block) {
                self.pointed_at.push(Pointed { block, site, pointee, len });
            }
        }
        ptr == 0
    }

    /// Follows raw pointers and references to blocks without another owner.
    pub(super) fn follow_pointers(&mut self) {
        while let Some(Pointed { block, site, pointee, len }) = self.pointed_at.pop() {
            if self.is_met(block) {
                continue;
            }
            let size = self.snapshot.blocks[block].size;
            // Only a slice of the whole block tells how many elements there are: a `Vec` may have more.
            let slice = pointee
                .zip(len)
                .filter(|(element, len)| *len > 0 && len.checked_mul(self.schema.get(*element).size) == Some(size));
            let of_block = self.type_of(block);
            if let Some(ty) = of_block {
                if let Some((element, len)) = slice.filter(|(element, _)| ty == BlockType::Slots(*element)) {
                    self.lengths.insert(block, len);
                    self.slice_text(block, site, element, len);
                }
                self.start(block, Owner::Weak(site));
            } else if let Some((element, len)) = slice {
                let content = format!("*[{}]", self.schema.get(element).name);
                let root = self.root(BlockType::Slots(element), &content);
                self.lengths.insert(block, len);
                self.slice_text(block, site, element, len);
                self.start_as(
                    block,
                    BlockType::Slots(element),
                    Start { owner: Owner::Weak(site), site: root, content },
                );
            } else if let Some(ty) = pointee
                && len.is_none()
                && self.schema.get(ty).size == size
                && size != 0
            {
                let content = format!("*{}", self.schema.get(ty).name);
                let root = self.root(BlockType::Value(ty), &content);
                self.start_as(block, BlockType::Value(ty), Start { owner: Owner::Weak(site), site: root, content });
            } else if let Some(ty) = pointee
                && self.schema.get(ty).size == 0
                && self.is_foreign(block)
            {
                // An opaque type of a C library, such as `DIR`: its size and fields are unknown.
                let name = Text::clone(&self.schema.get(ty).name);
                let content = format!("*{name}");
                let root = self.root(BlockType::Value(ty), &content);
                let used = Use { len: 1, capacity: 1, unused: 0, is_unknown: false };
                self.claim_as(block, Owner::Weak(site), root, None, |_| (content, name, 0), used);
            }
            self.drain();
        }
    }

    /// Returns `true` if the present pass has met an owner of a block, or has read it.
    fn is_met(&self, block: usize) -> bool {
        if self.is_counting { self.claims[block] != 0 } else { self.flags[block] & SEEN != 0 }
    }

    /// Counts the text of a `&str`.
    fn slice_text(&mut self, block: usize, site: SiteId, element: TypeId, len: u64) {
        if self.schema.get(element).size == 1 && self.schema.sites[site].name.ends_with("str") {
            self.text(block, site, 0, len);
        }
    }

    /// Returns the block that contains an address.
    pub(in crate::heap) fn block_around(&self, addr: u64) -> Option<usize> {
        let block = self.addresses.partition_point(|start| *start <= addr).checked_sub(1)?;
        let of = self.snapshot.blocks[block];
        (addr - of.addr < of.size).then_some(block)
    }

    /// Reads values inside a block that a slab or arena owns. Each pass reads a value once, even if several pointers
    /// lead to it.
    pub(in crate::heap) fn within(&mut self, site: SiteId, ptr: u64, element: SiteId, stride: u64, len: u64) {
        let Some(block) = self.block_around(ptr).filter(|_| stride > 0 && len > 0) else { return };
        let of = self.snapshot.blocks[block];
        let at = ptr - of.addr;
        let fits = |bytes: &u64| at.checked_add(*bytes).is_some_and(|end| end <= of.size);
        let Some(bytes) = len.checked_mul(stride).filter(fits) else { return };
        let most = self.snapshot.live_bytes.saturating_mul(MOST_INNER);
        if self.inner_bytes > most || !self.inner.insert((ptr, element)) {
            return;
        }
        self.inner_bytes = self.inner_bytes.saturating_add(bytes);
        if !self.is_counting {
            self.flags[block] |= POINTED_AT;
        } else if self.claims[block] == 0 {
            self.pointed_at.push(Pointed { block, site, pointee: None, len: None });
        }
        self.run(block, element, at, stride, len);
    }
}

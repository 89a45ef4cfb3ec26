//! Where pointers are found without a type that says so: trait objects beside their vtables, and headers of collections in
//! unions, which are searched like stacks.

use super::locals::LONGEST_STACK;
use super::read::length;
use super::{Owner, SEEN, Walk};
use crate::debuginfo::TypeId;
use crate::heap::walk::{BlockType, SiteId, VecHeader, WORD, header_of, word};
use std::collections::HashMap;

/// The bytes of the counts of an `Rc` or `Arc`.
const COUNTS: u64 = 2 * WORD;
/// The longest value that is searched, in bytes.
const LONGEST: usize = 1 << 16;

/// What is known of blocks besides what their call stacks show. Several of these maps are asked for each block, so they hash
/// fast.
#[derive(Default)]
pub(super) struct Hints {
    /// The types and containers of blocks whose call stack shows none: those of tasks, and by the vtable beside a pointer.
    pub(super) types: foldhash::HashMap<usize, (BlockType, String)>,
    /// The layout of a `Vec` with these elements, if the program has it.
    headers: foldhash::HashMap<TypeId, Option<VecHeader>>,
    /// Lengths of blocks whose header is on a live stack frame.
    pub(super) lengths: foldhash::HashMap<usize, u64>,
    /// The least lengths of lists without a header.
    pub(super) guessed: foldhash::HashMap<usize, u64>,
    /// The second blocks of collections that grow, with the first ones.
    pub(super) copies: foldhash::HashMap<usize, usize>,
}

impl Walk<'_, '_> {
    /// Looks for pointers in a value whose type says nothing about its contents. Each is followed like a raw pointer, and
    /// the header of a `Vec` gives its block a length.
    pub(in crate::heap) fn search(&mut self, site: SiteId, bytes: &[u8]) {
        if bytes.len() > LONGEST {
            return;
        }
        let (words, _) = bytes.as_chunks::<8>();
        for (at, ptr) in (0..).step_by(8).zip(words.iter().map(|word| u64::from_le_bytes(*word))) {
            let Some(block) = self.block_at(ptr) else { continue };
            if let Some((element, header)) = self.slots_of(block)
                && let Some(len) = self.header_at(bytes, at, block, element, &header)
                && self.known_len(block).is_none()
                && self.is_filled(block, len)
            {
                self.hints.lengths.insert(block, len);
            }
            self.points_to(site, ptr, None, None);
        }
    }

    /// Returns the type of the elements in a block that a `Vec` allocated, and the layout of the `Vec`.
    pub(super) fn slots_of(&mut self, block: usize) -> Option<(TypeId, VecHeader)> {
        let Some(BlockType::Slots(element)) = self.type_of(block) else { return None };
        let schema = &self.schema;
        let header = *self.hints.headers.entry(element).or_insert_with(|| header_of(schema, element));
        Some((element, header?))
    }

    /// Returns the length in the header of a `Vec` whose pointer to a block is at an offset of `bytes`. Its capacity must
    /// be that of the block.
    pub(super) fn header_at(
        &self,
        bytes: &[u8],
        at: u64,
        block: usize,
        element: TypeId,
        header: &VecHeader,
    ) -> Option<u64> {
        let stride = self.schema.get(element).size;
        let beside = |field: u64| word(bytes, at.checked_sub(header.ptr)?.checked_add(field)?);
        let (cap, len) = (header.cap.and_then(beside)?, beside(header.len)?);
        (len <= cap && cap.checked_mul(stride).is_some_and(|bytes| self.is_size(block, bytes))).then_some(len)
    }

    /// Finds blocks of an unknown type that a trait object points to: the words beside it are a vtable, whose type has the
    /// size of the block. Looks on the stacks and in other blocks of an unknown type.
    pub(super) fn find_trait_objects(&mut self) {
        let is_open = |this: &Self, block: usize| this.marks.flags[block] & SEEN == 0 && this.type_of(block).is_none();
        let open: Vec<usize> = (0..self.snapshot.blocks.len()).filter(|block| is_open(self, *block)).collect();
        if open.is_empty() || self.trait_objects.vtables.is_empty() {
            return;
        }
        let of_block = |block: &usize| {
            let allocation = self.snapshot.blocks[*block];
            (allocation.addr, allocation.addr.saturating_add(allocation.size))
        };
        let ranges: Vec<(u64, u64)> = self.snapshot.roots.iter().copied().chain(open.iter().map(of_block)).collect();
        let mut found: HashMap<usize, (BlockType, String)> = HashMap::new();
        let mut bytes = Vec::new();
        for (start, end) in ranges {
            let start = start.next_multiple_of(WORD);
            let size = end.saturating_sub(start).min(LONGEST_STACK) / WORD * WORD;
            if !self.image.read(start, length(size), &mut bytes) {
                continue;
            }
            let (words, _) = bytes.as_chunks::<8>();
            for pair in words.windows(2) {
                let [data, vtable] = [pair[0], pair[1]].map(u64::from_le_bytes);
                if let Some(concrete) = self.of_vtable(vtable)
                    && let Some(block) = self.block_at(data).filter(|block| is_open(self, *block))
                    && let Some(ty) = self.behind(block, concrete)
                {
                    found.insert(block, ty);
                }
            }
        }
        self.hints.types.extend(found);
    }

    /// Decodes the blocks of trait objects that have no owner.
    pub(super) fn start_at_trait_objects(&mut self) {
        let mut found: Vec<usize> = self.hints.types.keys().copied().collect();
        found.sort_unstable();
        for block in found {
            if self.marks.flags[block] & SEEN == 0 {
                self.start(block, Owner::Stack);
                self.drain();
            }
        }
    }

    /// Returns the contents of a block that a trait object of a type points to: a value, or one after two counts.
    fn behind(&self, block: usize, concrete: TypeId) -> Option<(BlockType, String)> {
        let definition = self.schema.get(concrete);
        if definition.size == 0 {
            return None;
        }
        if self.is_size(block, definition.size) {
            return Some((BlockType::Value(concrete), format!("Box<{}>", definition.name)));
        }
        ["alloc::sync::ArcInner", "alloc::rc::RcInner"].iter().find_map(|inner| {
            let inner = self.schema.by_path(&format!("{inner}<{}>", definition.path), concrete)?;
            let size = self.schema.get(inner).size;
            (size >= COUNTS && self.is_size(block, size))
                .then(|| (BlockType::Value(inner), self.schema.get(inner).name.to_string()))
        })
    }
}

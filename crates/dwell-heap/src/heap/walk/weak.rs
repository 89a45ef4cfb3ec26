//! Raw pointers and references, the weak owners of blocks; values inside blocks of slabs and arenas.

use super::{OWNED, Owner, POINTED_AT, SEEN, Start, Use, Walk};
use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{BlockType, Part, SiteId, Value};
use foldhash::{HashMap, HashSet};

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
    /// The place of the pointer, as in `Hold`.
    from: u32,
}

/// A value that may be uninitialised.
pub(super) struct Possible {
    site: SiteId,
    bytes: Box<[u8]>,
    weight: u64,
    /// The place of the value, as in `Hold`.
    from: u32,
}

/// What a pass follows after all other values, since another owner of the block may be met until then.
#[derive(Default)]
pub(super) struct Deferred {
    /// The raw pointers and references.
    pointed_at: Vec<Pointed>,
    /// The values that may be uninitialised.
    possible: Vec<Possible>,
    /// The ranges of buffers that handles use, with the site of the first handle.
    views: HashMap<usize, (SiteId, Vec<(u64, u64)>)>,
}

/// The values inside blocks of slabs and arenas that a pass has read. The next pass begins with none.
#[derive(Default)]
pub(super) struct Inner {
    /// Their addresses and sites.
    values: HashSet<(u64, SiteId)>,
    /// The number of their bytes.
    bytes: u64,
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
        if let Some(block) = self.block_at(ptr).filter(|block| self.may_point_to(*block)) {
            if !self.is_counting() {
                self.marks.flags[block] |= POINTED_AT;
            }
            if !self.is_met(block) {
                self.deferred.pointed_at.push(Pointed { block, site, pointee, len, from: self.current.from });
            }
        }
        ptr == 0
    }

    /// Reads a part of a value that may be uninitialised, or that was moved away. It is a value if its bytes are valid, and
    /// if it has pointers to blocks, none of which has another owner. So it is read after all other values.
    pub(in crate::heap) fn perhaps(&mut self, part: &Part, value: Value<'_>) {
        let bytes = value.part(part.at, self.schema.sites[part.site].size);
        if self.points_to_free(bytes) {
            let from = self.current.from;
            self.deferred.possible.push(Possible { site: part.site, bytes: bytes.into(), weight: value.weight, from });
        }
    }

    /// Returns `true` if a value has words that point to blocks, and none of these has an owner.
    pub(super) fn points_to_free(&self, bytes: &[u8]) -> bool {
        let (words, _) = bytes.as_chunks::<8>();
        let mut blocks = words.iter().filter_map(|word| self.block_at(u64::from_le_bytes(*word))).peekable();
        let is_free = |block: usize| {
            if self.is_counting() { self.marks.claims[block] == 0 } else { self.marks.flags[block] & OWNED == 0 }
        };
        blocks.peek().is_some() && blocks.all(is_free)
    }

    /// Reads the values that may be uninitialised.
    fn follow_possible(&mut self) {
        while let Some(Possible { site, bytes, weight, from }) = self.deferred.possible.pop() {
            if self.points_to_free(&bytes) && self.is_valid(site, &bytes, 0) {
                self.place(from);
                self.value(site, &bytes, weight);
                self.place(0);
                self.drain();
            }
        }
    }

    /// Records a handle to `len` bytes of a buffer that several handles own. The buffer is claimed after all other values,
    /// when the part is known that any handle uses.
    pub(in crate::heap) fn view(&mut self, site: SiteId, ptr: u64, len: u64) {
        let Some(block) = self.block_around(ptr) else { return };
        let allocation = self.snapshot.blocks[block];
        let from = ptr - allocation.addr;
        if let Some(to) = from.checked_add(len).filter(|to| *to <= allocation.size) {
            self.deferred.views.entry(block).or_insert_with(|| (site, Vec::new())).1.push((from, to));
            // A buffer may have many handles, each of which holds it.
            if !self.is_counting() {
                self.hold(block, site);
            }
        }
    }

    /// Counts a buffer of which the handles use `len` bytes.
    pub(in crate::heap) fn pin(&mut self, block: usize, site: SiteId, len: u64) {
        if !self.is_counting() || self.is_leaked(block) {
            return;
        }
        let all: Vec<SiteId> = self.holders.pointers_to(block).map(|hold| hold.site as SiteId).collect();
        self.counted.pinned.entry(site).or_default().extend(all);
        let allocation = self.snapshot.blocks[block];
        let weight = u64::from(allocation.weight);
        let pinned = &mut self.tally(site).pinned;
        pinned.buffers = pinned.buffers.saturating_add(weight);
        pinned.bytes = pinned.bytes.saturating_add(allocation.size.saturating_mul(weight));
        pinned.used = pinned.used.saturating_add(len.saturating_mul(weight));
    }

    /// Claims the buffers of handles.
    fn follow_views(&mut self) {
        let mut views: Vec<_> = self.deferred.views.drain().collect();
        views.sort_unstable_by_key(|view| view.0);
        for (block, (site, mut ranges)) in views {
            ranges.sort_unstable();
            let (len, _) = ranges.iter().fold((0, 0), |(len, end), &(from, to)| {
                let from = from.max(end);
                (len + to.saturating_sub(from), end.max(to))
            });
            let size = self.snapshot.blocks[block].size;
            if self.is_counting() {
                let used = Use { len, capacity: size, unused: size - len, is_unknown: false };
                if self.claim(block, site, used) {
                    self.pin(block, site, len);
                }
            } else {
                // Its handles are its holders already.
                self.marks.flags[block] |= SEEN | OWNED;
            }
        }
    }

    /// Follows raw pointers and references to blocks without another owner.
    pub(super) fn follow_pointers(&mut self) {
        self.follow_possible();
        self.follow_views();
        while let Some(Pointed { block, site, pointee, len, from }) = self.deferred.pointed_at.pop() {
            if self.is_met(block) {
                continue;
            }
            if self.is_counting() && self.holders.first_of(block).is_none() {
                self.place(from);
                self.hold(block, site);
                self.place(0);
            }
            // Only a slice of the whole block tells how many elements there are: a `Vec` may have more.
            let is_whole = |(element, len): &(TypeId, u64)| {
                *len > 0
                    && len.checked_mul(self.schema.get(*element).size).is_some_and(|bytes| self.is_size(block, bytes))
            };
            let slice = pointee.zip(len).filter(is_whole);
            let of_block = self.type_of(block);
            if let Some(ty) = of_block {
                if let Some((element, len)) = slice.filter(|(element, _)| ty == BlockType::Slots(*element)) {
                    self.hints.lengths.insert(block, len);
                    self.slice_text(block, site, element, len);
                }
                self.start(block, Owner::Weak(site));
            } else if let Some((element, len)) = slice {
                self.is_requested(block, len.saturating_mul(self.schema.get(element).size));
                let content = format!("*[{}]", self.schema.get(element).name);
                let root = self.root(BlockType::Slots(element), &content);
                self.hints.lengths.insert(block, len);
                self.slice_text(block, site, element, len);
                self.start_as(
                    block,
                    BlockType::Slots(element),
                    Start { owner: Owner::Weak(site), site: root, content },
                );
            } else if let Some(ty) = pointee
                && len.is_none()
                && self.schema.get(ty).size != 0
                && self.is_size(block, self.schema.get(ty).size)
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
            self.follow_possible();
            self.follow_views();
        }
    }

    /// Returns `true` if the present pass has met an owner of a block, or has read it.
    fn is_met(&self, block: usize) -> bool {
        if self.is_counting() { self.marks.claims[block] != 0 } else { self.marks.flags[block] & SEEN != 0 }
    }

    /// Counts the text of a `&str`.
    fn slice_text(&mut self, block: usize, site: SiteId, element: TypeId, len: u64) {
        if self.schema.get(element).size == 1 && self.schema.sites[site].name.ends_with("str") {
            self.text(block, site, 0, len);
        }
    }

    /// Returns the block that contains an address.
    pub(in crate::heap) fn block_around(&self, addr: u64) -> Option<usize> {
        self.block_before(addr).filter(|block| self.contains(*block, addr))
    }

    /// Returns the last block that begins at or before an address.
    pub(in crate::heap) fn block_before(&self, addr: u64) -> Option<usize> {
        self.index.before(addr)
    }

    /// Returns `true` if an address is in a block that begins before it.
    pub(in crate::heap) fn contains(&self, block: usize, addr: u64) -> bool {
        let allocation = self.snapshot.blocks[block];
        addr.wrapping_sub(allocation.addr) < allocation.size
    }

    /// Reads values inside a block that a slab or arena owns. Each pass reads a value once, even if several pointers
    /// lead to it.
    pub(in crate::heap) fn within(&mut self, site: SiteId, ptr: u64, element: SiteId, stride: u64, len: u64) {
        let Some(block) = self.block_around(ptr).filter(|_| stride > 0 && len > 0) else { return };
        let allocation = self.snapshot.blocks[block];
        let at = ptr - allocation.addr;
        let fits = |bytes: &u64| at.checked_add(*bytes).is_some_and(|end| end <= allocation.size);
        let Some(bytes) = len.checked_mul(stride).filter(fits) else { return };
        let most = self.snapshot.live_bytes.saturating_mul(MOST_INNER);
        if self.inner.bytes > most || !self.inner.values.insert((ptr, element)) {
            return;
        }
        self.inner.bytes = self.inner.bytes.saturating_add(bytes);
        if !self.is_counting() {
            self.marks.flags[block] |= POINTED_AT;
        } else if self.marks.claims[block] == 0 {
            self.deferred.pointed_at.push(Pointed { block, site, pointee: None, len: None, from: self.current.from });
        }
        self.run(block, element, at, stride, len);
    }
}

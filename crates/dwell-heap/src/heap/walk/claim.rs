//! Gives blocks their owners.

use super::read::What;
use super::roots::Reading;
use super::{Holding, HoldingId, OWNED, Owner, SEEN, SHORT, Walk};
use crate::capture::Block;
use crate::debuginfo::{Text, TypeId};
use crate::heap::rows::Histogram;
use crate::heap::walk::{BlockType, SiteId, Value, WORD};
use dwell::weigh::Model as Malloc;
use dwell_model::{Counts, Edge, LONG_TEXT};
use foldhash::{HashMap, HashMapExt};

/// The part of a block that is in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// The number of elements.
    pub(crate) len: u64,
    /// The number of elements for which there is space.
    pub(crate) capacity: u64,
    /// The number of bytes that hold no elements.
    pub(crate) unused: u64,
    /// Whether the length is unknown.
    pub(crate) is_unknown: bool,
}

/// A block without an owning field that is about to be decoded by the type from its call stack.
#[derive(Debug)]
pub(crate) struct Start {
    pub(super) owner: Owner,
    /// The site of such blocks.
    pub(crate) site: SiteId,
    /// The collection that owns the block: `Vec<Node>`.
    pub(super) content: String,
}

impl Start {
    /// Returns the name of the site.
    pub(crate) fn name(&self, cx: &Walk<'_, '_>) -> Text {
        Text::clone(&cx.schema.sites[self.site].name)
    }
}

/// What is behind the pointers to trait objects.
pub(super) struct TraitObjects {
    /// The concrete types, by the address of the vtable.
    pub(super) vtables: HashMap<u64, TypeId>,
    /// Their least and greatest address: most words are elsewhere.
    range: (u64, u64),
    /// The sites of values, by the site of the pointer and the concrete type.
    concretes: HashMap<(SiteId, TypeId), SiteId>,
}

impl TraitObjects {
    pub(super) fn new(vtables: HashMap<u64, TypeId>) -> Self {
        let range = vtables.keys().fold((u64::MAX, 0), |range, &at| (at.min(range.0), at.max(range.1)));
        Self { vtables, range, concretes: HashMap::new() }
    }
}

impl Walk<'_, '_> {
    /// Returns the block that begins at `addr`.
    pub(in crate::heap) fn block_at(&self, addr: u64) -> Option<usize> {
        self.index.at(addr)
    }

    /// Returns the address and size of a block.
    pub(in crate::heap) fn block(&self, block: usize) -> Block {
        self.snapshot.blocks[block]
    }

    /// Returns the contents of a block as far as its call stack shows, or the vtable beside a pointer to it.
    pub(in crate::heap) fn type_of(&self, block: usize) -> Option<BlockType> {
        let of_stack = self.origins.get(self.snapshot.blocks[block].stack as usize).and_then(|origin| origin.ty);
        of_stack.or_else(|| self.hints.types.get(&block).map(|found| found.0))
    }

    /// Assigns a block to a site that points to it, unless it has an owner. Returns `true` if its contents must be queued:
    /// by [`run`](Self::run), [`text`](Self::text) or [`later`](Self::later).
    pub(in crate::heap) fn claim(&mut self, block: usize, site: SiteId, used: Use) -> bool {
        self.claim_of(block, site, None, used)
    }

    /// Assigns a block whose contents have the type `concrete`, which the site does not name, to a site.
    pub(in crate::heap) fn claim_of(
        &mut self,
        block: usize,
        site: SiteId,
        concrete: Option<TypeId>,
        used: Use,
    ) -> bool {
        if self.current.reading != Reading::Other {
            let field = &self.schema.sites[site];
            let (element, _) =
                field.decoder.element(&self.schema, concrete).unwrap_or_else(|| (Text::clone(&field.name), 0));
            if !self.may_own(block, &element) {
                return false;
            }
        }
        if !self.is_counting() {
            let is_new = self.marks.flags[block] & SEEN == 0;
            // A variable of a frame is no reason to look for no other owner.
            if self.current.reading == Reading::Other {
                self.hold(block, site);
                self.marks.flags[block] |= OWNED;
            }
            self.marks.flags[block] |= SEEN;
            return is_new;
        }
        if self.marks.claims[block] != 0 {
            return false;
        }
        // The stack owns the root block only, not the blocks below it.
        let describe = |cx: &Self| {
            let field = &cx.schema.sites[site];
            let (element, size) =
                field.decoder.element(&cx.schema, concrete).unwrap_or_else(|| (Text::clone(&field.name), field.size));
            (field.name.to_string(), element, size)
        };
        let is_new = self.claim_as(block, Owner::Site(site), site, concrete, describe, used);
        if is_new && self.current.reading != Reading::Other {
            self.hold(block, site);
        }
        if is_new && !self.is_leaked(block) {
            let allocation = self.snapshot.blocks[block];
            let weight = u64::from(allocation.weight);
            let tally = self.tally(site);
            let bytes = allocation.size.saturating_mul(weight);
            tally.counts.add(&Counts {
                requested: bytes,
                allocations: weight,
                waste: used.unused.saturating_mul(weight),
                hollow: if used.len == 0 { weight } else { 0 },
                element_slots: used.capacity.saturating_mul(weight),
                used: used.len.saturating_mul(weight),
                ..Counts::default()
            });
            if used.len == 0 {
                tally.hollow_bytes = tally.hollow_bytes.saturating_add(bytes);
            }
            tally.rounding = tally.rounding.saturating_add(rounding(allocation.size).saturating_mul(weight));
        }
        is_new
    }

    /// Assigns a block that only its call stack describes. `element` is the name and size of its elements.
    pub(in crate::heap) fn claim_start(&mut self, block: usize, start: Start, element: (Text, u64), used: Use) -> bool {
        let Start { owner, site, content } = start;
        self.claim_as(block, owner, site, None, |_| (content, element.0, element.1), used)
    }

    /// Records a block of which the number of elements in use is unknown, unless an owner is found later.
    pub(in crate::heap) fn claim_unknown(&mut self, block: usize, start: Start, element: (Text, u64), capacity: u64) {
        if self.is_counting() {
            self.claim_start(block, start, element, Use { capacity, is_unknown: true, ..Use::default() });
        }
    }

    /// Records a block whose type is known but does not match its size.
    pub(in crate::heap) fn start_unknown(&mut self, block: usize, start: Start, element_size: u64) {
        let name = start.name(self);
        self.claim_unknown(block, start, (name, element_size), 0);
    }

    pub(super) fn claim_as(
        &mut self,
        block: usize,
        owner: Owner,
        site: SiteId,
        concrete: Option<TypeId>,
        text: impl FnOnce(&Self) -> (String, Text, u64),
        used: Use,
    ) -> bool {
        if !self.is_counting() {
            let is_new = self.marks.flags[block] & SEEN == 0;
            self.marks.flags[block] |= SEEN;
            return is_new;
        }
        if self.marks.claims[block] != 0 {
            return false;
        }
        let is_usual = concrete.is_none() && owner == Owner::Site(site);
        let known = match self.counted.usual.get(site).filter(|_| is_usual) {
            Some(&holding) => holding,
            None => self.counted.holding_of.get(&(owner.clone(), site, concrete)).copied(),
        };
        let holding = known.unwrap_or_else(|| {
            let (content, element, element_size) = text(self);
            let holding = HoldingId::try_from(self.counted.holdings.len()).unwrap_or(HoldingId::MAX - 1);
            self.counted.holding_of.insert((owner.clone(), site, concrete), holding);
            if is_usual {
                self.counted.usual.resize(self.counted.usual.len().max(site + 1), None);
                self.counted.usual[site] = Some(holding);
            }
            self.counted.holdings.push(Holding {
                owner,
                site,
                content,
                element,
                element_size,
                concrete,
                blocks: 0,
                bytes: 0,
                len: 0,
                capacity: 0,
                unused: 0,
                unknown: 0,
                lengths: Histogram::default(),
                is_leaked: false,
            });
            holding
        });
        self.marks.claims[block] = holding + 1;
        let allocation = self.snapshot.blocks[block];
        let (weight, is_leaked) = (u64::from(allocation.weight), self.is_leaked(block));
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more.saturating_mul(weight));
        if used.unused > 0 {
            add(self.counted.unused.entry((holding, allocation.stack)).or_default(), used.unused);
        }
        let holding = &mut self.counted.holdings[holding as usize];
        holding.is_leaked |= is_leaked;
        add(&mut holding.blocks, 1);
        add(&mut holding.bytes, allocation.size);
        add(&mut holding.len, used.len);
        add(&mut holding.capacity, used.capacity);
        add(&mut holding.unused, used.unused);
        add(&mut holding.unknown, u64::from(used.is_unknown));
        if !used.is_unknown {
            holding.lengths.add(used.len, weight);
        }
        true
    }

    /// Assigns the block of a collection with a capacity and a length. Returns the block if its elements must be queued.
    pub(in crate::heap) fn elements(
        &mut self,
        site: SiteId,
        ptr: u64,
        cap: u64,
        len: u64,
        stride: u64,
    ) -> Option<usize> {
        if cap == 0 || stride == 0 || len > cap {
            return None;
        }
        let block = self.block_at(ptr)?;
        let (size, bytes) = (self.snapshot.blocks[block].size, cap.checked_mul(stride)?);
        if !self.fits(block, bytes) {
            return None;
        }
        let used = Use { len, capacity: cap, unused: size - len * stride, is_unknown: false };
        self.claim(block, site, used).then(|| {
            self.is_requested(block, bytes);
            block
        })
    }

    /// Queues a text in a block that was claimed.
    pub(in crate::heap) fn text(&mut self, block: usize, site: SiteId, at: u64, len: u64) {
        if !self.is_counting() || self.is_leaked(block) {
            return;
        }
        if len >= LONG_TEXT as u64 {
            let weight = u64::from(self.snapshot.blocks[block].weight);
            let counts = &mut self.tally(site).counts;
            counts.long = counts.long.saturating_add(weight);
        }
        if len <= SHORT {
            let allocation = self.snapshot.blocks[block];
            let (number, bytes) = &mut self.tally(site).short;
            *number = number.saturating_add(u64::from(allocation.weight));
            *bytes = bytes.saturating_add(allocation.size.saturating_mul(u64::from(allocation.weight)));
        }
        self.push(block, site, What::Text { at, len });
    }

    /// Assigns a block with one value, and queues the value.
    pub(in crate::heap) fn boxed(&mut self, block: usize, site: SiteId, value: SiteId, concrete: Option<TypeId>) {
        let (size, bytes) = (self.schema.sites[value].size, self.snapshot.blocks[block].size);
        if size == 0 || !self.fits(block, size) {
            return;
        }
        let used = Use { len: 1, capacity: 1, unused: bytes - size, is_unknown: false };
        if self.claim_of(block, site, concrete, used) {
            self.is_requested(block, size);
            self.run(block, value, 0, size, 1);
        }
    }

    /// Returns the type that a vtable is for.
    pub(in crate::heap) fn of_vtable(&self, vtable: u64) -> Option<TypeId> {
        let (first, last) = self.trait_objects.range;
        if vtable < first || vtable > last {
            return None;
        }
        self.trait_objects.vtables.get(&vtable).copied()
    }

    /// Returns the concrete type of a trait object, and the site of its values.
    pub(in crate::heap) fn concrete(&mut self, site: SiteId, vtable: u64) -> Option<(TypeId, SiteId)> {
        let concrete = self.of_vtable(vtable)?;
        Some((concrete, self.pointee(site, concrete)))
    }

    /// Returns the site of a pointer's target.
    pub(in crate::heap) fn pointee(&mut self, site: SiteId, pointee: TypeId) -> SiteId {
        if let Some(&value) = self.trait_objects.concretes.get(&(site, pointee)) {
            return value;
        }
        let value = self.schema.part(pointee, site, Edge::Pointee);
        self.trait_objects.concretes.insert((site, pointee), value);
        value
    }

    /// Counts a zero-sized value behind a trait object, which has no block.
    pub(in crate::heap) fn inline_dyn(&mut self, vtable: u64, value: Value<'_>) {
        if !self.counts() {
            return;
        }
        let Some((concrete, inner)) = self.concrete(value.site, vtable) else { return };
        if self.schema.get(concrete).size == 0 {
            let counts = &mut self.tally(inner).counts;
            counts.instances = counts.instances.saturating_add(value.weight);
        }
    }
}

/// Returns the overhead of glibc for a block of `size` bytes. A block of 0 bytes takes as much as one of 1 byte.
fn rounding(size: u64) -> u64 {
    Malloc::Glibc.bytes(size.max(1), WORD).saturating_sub(size)
}

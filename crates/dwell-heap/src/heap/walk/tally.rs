//! What a walk counts: for each site, for each struct and enum, for the blocks of each owner.

use super::{Leak, Walk};
use crate::debuginfo::{Text, TypeId};
use crate::heap::rows::Histogram;
use crate::heap::texts::Texts;
use crate::heap::walk::{DefId, SiteId, Value};
use dwell_model::Counts;
pub(crate) use dwell_model::text::SHORT;
use foldhash::HashMap;
use std::collections::BTreeSet;

/// The counts of a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// The number of values of each variant, for an enum.
    pub(crate) variants: Vec<u64>,
    pub(crate) texts: Option<Box<Texts>>,
    /// The counts of equal blocks with these elements.
    pub(crate) contents: Option<Box<Texts>>,
    /// The least and greatest value, for an integer.
    pub(crate) range: Option<Range>,
    /// The number of bytes of blocks that empty collections own.
    pub(crate) hollow_bytes: u64,
    /// The number of texts of at most [`SHORT`] bytes, and the bytes of their blocks.
    pub(crate) short: (u64, u64),
    /// The number of bytes by which glibc's blocks are larger than the requested sizes.
    pub(crate) rounding: u64,
    /// The number of `Rc` blocks with one owner and no `Weak`.
    pub(crate) unshared: u64,
    /// The buffers of `Bytes`.
    pub(crate) pinned: Pinned,
    /// The number of values whose bytes are invalid for the type.
    pub(crate) invalid: u64,
}

/// Buffers that handles keep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pinned {
    pub(crate) buffers: u64,
    pub(crate) bytes: u64,
    /// The bytes that a handle uses.
    pub(crate) used: u64,
}

/// The range of an integer's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: i128,
    pub(crate) high: i128,
    pub(crate) has_zero: bool,
}

impl Range {
    /// Returns the number of bits that hold all values with their sign.
    pub(crate) fn bits(self) -> u32 {
        let bits = |value: i128| i128::BITS - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
        bits(self.low).max(bits(self.high)) + u32::from(self.low < 0)
    }
}

/// The counts of a struct or enum.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefTally {
    pub(crate) instances: u64,
    pub(crate) variants: Vec<u64>,
}

/// The blocks that one site owns.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) owner: Owner,
    /// The site of the pointers to the blocks, or of the blocks.
    pub(crate) site: SiteId,
    pub(crate) content: String,
    pub(crate) element: Text,
    pub(crate) element_size: u64,
    /// The concrete type behind a `Box<dyn Trait>`.
    pub(crate) concrete: Option<TypeId>,
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    pub(crate) len: u64,
    pub(crate) capacity: u64,
    /// The number of bytes that hold no elements.
    pub(crate) unused: u64,
    /// The number of blocks with an unknown length.
    pub(crate) unknown: u64,
    /// The lengths of the other blocks.
    pub(crate) lengths: Histogram,
    /// Whether any of the blocks is leaked.
    pub(crate) is_leaked: bool,
}

impl Holding {
    /// Returns `true` if no field owns the blocks, and their lengths are known.
    pub(crate) fn is_counted_as_root(&self) -> bool {
        !matches!(self.owner, Owner::Site(_) | Owner::Leaked | Owner::Copy(_)) && self.unknown == 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Site(SiteId),
    /// A raw pointer or a reference.
    Weak(SiteId),
    Stack,
    /// A task, which its runtime frees.
    Task,
    /// The type is known, but the only path to the block starts at the block itself.
    Unowned,
    /// The same, and no code can drop the block.
    Leaked,
    /// The owner of a collection that grows, by its holding. This is its second block.
    Copy(HoldingId),
    /// The type is unknown. The number of the function that allocated the block tells them apart.
    Untyped(u32),
}

/// The index of a [`Holding`].
pub(crate) type HoldingId = u32;

/// What the second pass counts.
#[derive(Default)]
pub(crate) struct Counted {
    /// By site.
    pub(crate) tallies: Vec<Tally>,
    /// By struct or enum.
    pub(crate) def_tallies: Vec<DefTally>,
    pub(crate) holdings: Vec<Holding>,
    pub(super) holding_of: HashMap<(Owner, SiteId, Option<TypeId>), HoldingId>,
    /// The holding of the blocks that a site itself owns and whose type it names, by the site.
    pub(super) usual: Vec<Option<HoldingId>>,
    /// The number of bytes without elements in the blocks of a holding that a call stack allocated.
    pub(crate) unused: HashMap<(HoldingId, u32), u64>,
    /// The sites of all handles that keep the buffers counted at a site.
    pub(crate) pinned: HashMap<SiteId, BTreeSet<SiteId>>,
    pub(crate) leaks: Vec<Leak>,
}

impl Walk<'_, '_> {
    pub(super) fn tally(&mut self, site: SiteId) -> &mut Tally {
        if self.counted.tallies.len() <= site {
            self.counted.tallies.resize_with(self.schema.sites.len().max(site + 1), Tally::default);
        }
        &mut self.counted.tallies[site]
    }

    pub(super) fn def_tally(&mut self, def: DefId) -> &mut DefTally {
        if self.counted.def_tallies.len() <= def {
            self.counted.def_tallies.resize_with(self.schema.defs.len().max(def + 1), DefTally::default);
        }
        &mut self.counted.def_tallies[def]
    }

    /// Returns `true` if the values that are being read count: in the second pass, if no leak contains them.
    pub(super) fn counts(&self) -> bool {
        self.is_counting() && !self.current.is_in_leak
    }

    /// Counts a value whose bytes are invalid for its type, which is not empty.
    pub(in crate::heap) fn invalid(&mut self, value: Value<'_>) -> bool {
        if self.counts() {
            let tally = self.tally(value.site);
            tally.invalid = tally.invalid.saturating_add(value.weight);
        }
        false
    }

    /// Counts a value of the variant with an index.
    pub(in crate::heap) fn count_variant(&mut self, index: usize, number: usize, value: Value<'_>) {
        if self.counts() && index < number {
            let variants = &mut self.tally(value.site).variants;
            variants.resize(number, 0);
            variants[index] = variants[index].saturating_add(value.weight);
        }
    }

    /// Counts a value of a struct or enum. `variant` is the index of its variant and the number of variants.
    pub(in crate::heap) fn count_def(&mut self, def: DefId, variant: Option<(usize, usize)>, value: Value<'_>) {
        if !self.counts() {
            return;
        }
        let tally = self.def_tally(def);
        tally.instances = tally.instances.saturating_add(value.weight);
        if let Some((index, number)) = variant {
            tally.variants.resize(number, 0);
            tally.variants[index] = tally.variants[index].saturating_add(value.weight);
            self.count_variant(index, number, value);
        }
    }

    /// Counts the block of an `Rc` with one owner and no `Weak`.
    pub(in crate::heap) fn count_unshared(&mut self, block: usize, site: SiteId) {
        if self.counts() {
            let weight = u64::from(self.snapshot.blocks[block].weight);
            let tally = self.tally(site);
            tally.unshared = tally.unshared.saturating_add(weight);
        }
    }

    /// Records the range of an integer's values.
    pub(in crate::heap) fn integers(&mut self, site: SiteId, bytes: &[u8]) {
        let field = &self.schema.sites[site];
        let (Some(integer), Ok(size)) = (field.integer, usize::try_from(field.size)) else { return };
        if !self.counts() || size == 0 {
            return;
        }
        let mut range = self.tally(site).range;
        for value in bytes.chunks_exact(size).filter_map(|value| integer.read(value)) {
            let bounds = range.get_or_insert(Range { low: value, high: value, has_zero: false });
            bounds.low = bounds.low.min(value);
            bounds.high = bounds.high.max(value);
            bounds.has_zero |= value == 0;
        }
        self.tally(site).range = range;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_hold_all_values() {
        let cases = [(0, 0, 0), (0, 1, 1), (0, 255, 8), (0, 256, 9), (-1, 0, 1), (-128, 127, 8), (-129, 0, 9)];
        for (low, high, expected) in cases {
            assert_eq!(Range { low, high, has_zero: false }.bits(), expected, "{low} to {high}");
        }
    }
}

//! jemalloc 5.3: a tree of all extents. One in use is a large block, or a slab of blocks with a bit for each; blocks in the
//! caches of threads are free, too.
//!
//! The debug info of its C code tells whether its structures are the known ones. glibc's blocks, those of C code, are there
//! too.

use super::{Allocator, Live, Place, glibc, words};
use crate::capture::Rounding;
use crate::debuginfo;
use anyhow::{Result, bail};
use std::collections::HashMap;

/// The variables with the tree and the arenas, with the prefix of the functions.
pub(super) const NAMES: [(&str, &str); 2] =
    [("_rjem_je_arena_emap_global", "_rjem_je_arenas"), ("je_arena_emap_global", "je_arenas")];
/// The entries of the tree's root and of each leaf, for addresses of 48 bits.
const ENTRIES: usize = 1 << 18;
/// The most arenas, and caches of one.
const ARENAS: usize = 1 << 12;
const CACHES: usize = 1 << 16;
/// The most bins of a cache, and the size of each.
const BINS: u64 = 80;
const BIN: u64 = 24;
/// The number of size classes.
const CLASSES: u64 = 232;
const PAGE: u64 = 4096;

/// jemalloc 5.3.
pub(super) struct Jemalloc {
    /// The addresses of the two variables.
    pub(super) tree: u64,
    pub(super) arenas: u64,
}

/// The offsets that differ by version.
struct Offsets {
    /// The root in the tree.
    root: u64,
    /// The list of caches in an arena.
    caches: u64,
    /// The end of the stack in a cache's bin.
    empty: u64,
}

impl Offsets {
    fn new(fields: impl Fn(&str) -> HashMap<String, u64>) -> Option<Self> {
        let (extent, bin) = (fields("edata_s"), fields("cache_bin_s"));
        let known = [("e_bits", 0), ("e_addr", 8), ("e_ps", 24), ("e_sn", 32)];
        let is_known =
            known.iter().all(|(name, at)| extent.get(*name) == Some(at)) && bin.get("stack_head") == Some(&0);
        let root = *fields("rtree_s").get("root")?;
        let caches = *fields("arena_s").get("cache_bin_array_descriptor_ql")?;
        is_known.then_some(Self { root, caches, empty: *bin.get("low_bits_empty")? })
    }
}

/// An extent in use.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u64,
    bytes: u64,
    /// The first block. A large one may begin later in its first page.
    first: u64,
    /// The size class of its blocks.
    class: u64,
    /// The header, if this is a slab.
    slab: Option<u64>,
}

impl Allocator for Jemalloc {
    fn live(&self, of: &Place<'_>) -> Result<Live> {
        let name = of.executable.0.display();
        let fields = |name: &str| debuginfo::c_struct(of.executable.1, name).unwrap_or_default();
        let Some(offsets) = Offsets::new(fields) else {
            bail!(
                "{name}: its allocator is jemalloc, whose C code has no debug info, or is not of version 5.3; build it with \
                 `debug = 2` in the profile, or start it with `cargo dwell census --exe`"
            );
        };
        let extents = self.extents(of, &offsets);
        let cached = self.cached(of, &offsets);
        let mut blocks = Vec::new();
        for extent in &extents {
            extent.blocks(of, &cached, &mut blocks);
        }
        if blocks.is_empty() {
            bail!(
                "{name}: its allocator is jemalloc, but its extents were not found; start it with `cargo dwell census --exe`"
            );
        }
        blocks.sort_unstable();
        // Damaged extents may overlap.
        blocks.dedup_by(|next, before| before.0 + before.1 > next.0);
        let own: Vec<(u64, u64)> = extents.iter().map(|extent| (extent.start, extent.start + extent.bytes)).collect();
        if let Ok(others) = glibc::blocks(of, &own) {
            let is_own = |addr: u64| {
                let index = own.partition_point(|(start, _)| *start <= addr);
                index.checked_sub(1).is_some_and(|index| addr < own[index].1)
            };
            blocks.extend(others.blocks.into_iter().filter(|(addr, _)| !is_own(*addr)));
        }
        blocks.sort_unstable();
        Ok(Live { blocks, allocator: "jemalloc 5.3".into(), rounding: Rounding::Jemalloc, lost: 0 })
    }
}

impl Jemalloc {
    /// Returns the extents in use, sorted by address, without overlap.
    fn extents(&self, of: &Place<'_>, offsets: &Offsets) -> Vec<Extent> {
        let mut leaves: Vec<u64> = words(of, self.tree.wrapping_add(offsets.root), ENTRIES).collect();
        leaves.sort_unstable();
        leaves.dedup();
        // The address of a header is between its size class and the state.
        let header = |entry: u64| entry << 16 >> 16 & !0x7f;
        let mut headers: Vec<u64> = leaves.into_iter().flat_map(|leaf| words(of, leaf, ENTRIES)).map(header).collect();
        headers.sort_unstable();
        headers.dedup();
        let mut extents: Vec<Extent> = headers.into_iter().filter_map(|header| Extent::read(of, header)).collect();
        extents.sort_unstable_by_key(|extent| extent.start);
        extents.dedup_by(|next, before| before.start + before.bytes > next.start);
        extents
    }

    /// Returns the blocks in the caches of threads with their size classes, sorted.
    fn cached(&self, of: &Place<'_>, offsets: &Offsets) -> Vec<(u64, u64)> {
        let word = |at: u64, offset: u64| of.memory.word(at.checked_add(offset)?);
        let mut found = Vec::new();
        for arena in words(of, self.arenas, ARENAS) {
            let Some(first) = word(arena, offsets.caches).filter(|first| *first != 0) else { continue };
            let mut cache = first;
            for _ in 0..CACHES {
                if let Some(bins) = word(cache, 16) {
                    (0..BINS).for_each(|class| bin(of, offsets, bins, class, &mut found));
                }
                match word(cache, 0) {
                    Some(next) if next != first && next != 0 => cache = next,
                    _ => break,
                }
            }
        }
        found.sort_unstable();
        found
    }
}

/// Adds the blocks in a bin of a cache: a stack that grows down, of whose end only the low 16 bits are stored.
fn bin(of: &Place<'_>, offsets: &Offsets, bins: u64, class: u64, found: &mut Vec<(u64, u64)>) {
    let Some(at) = bins.checked_add(BIN * class) else { return };
    let Some(head) = of.memory.word(at).filter(|head| *head != 0 && *head % 8 == 0) else { return };
    let Some(end) = at.checked_add(offsets.empty).and_then(|at| of.memory.bytes_at(at, 2)) else { return };
    let end = u16::from_le_bytes([end[0], end[1]]);
    let low = u16::from_le_bytes([head.to_le_bytes()[0], head.to_le_bytes()[1]]);
    let count = usize::from(end.wrapping_sub(low) / 8);
    found.extend(words(of, head, count).map(|block| (block, class)));
}

/// Returns the size of a class: 8, 16, 32, 48, 64, and then four for each doubling.
fn size_of_class(class: u64) -> Option<u64> {
    let Some(number) = class.checked_sub(1) else { return Some(8) };
    let (group, step) = (number / 4, number % 4 + 1);
    let shift = u32::try_from(group).ok()?;
    match shift {
        0 => Some(16 * step),
        1..56 => (32_u64 << shift).checked_add((8_u64 << shift) * step),
        _ => None,
    }
}

impl Extent {
    /// Reads the header of an extent; `None` if it is not in use.
    fn read(of: &Place<'_>, header: u64) -> Option<Self> {
        let word = |offset: u64| of.memory.word(header.checked_add(offset)?);
        let (bits, addr, size) = (word(0)?, word(8)?, word(16)?);
        let (is_slab, state, class) = (bits >> 12 & 1 == 1, bits >> 17 & 7, bits >> 20 & 0xff);
        let (start, bytes) = (addr & !(PAGE - 1), size & !(PAGE - 1));
        let end = start.checked_add(bytes)?;
        let is_mapped = of.maps.iter().any(|map| map.writable && map.is_anonymous() && map.contains(start));
        let is_used = state == 0 && class < CLASSES && bytes > 0 && end > start && is_mapped;
        is_used.then_some(Self { start, bytes, first: addr, class, slab: is_slab.then_some(header) })
    }

    /// Adds the blocks that are live.
    fn blocks(&self, of: &Place<'_>, cached: &[(u64, u64)], blocks: &mut Vec<(u64, u64)>) {
        /// The offset of the bits, one for each free block.
        const FREE: u64 = 64;
        const MOST: u64 = 512;
        let Some(size) = size_of_class(self.class) else { return };
        let mut add = |addr: u64| {
            if cached.binary_search(&(addr, self.class)).is_err() {
                blocks.push((addr, size));
            }
        };
        let Some(header) = self.slab else {
            if size <= self.bytes {
                add(self.first);
            }
            return;
        };
        let Some(free) = header.checked_add(FREE).and_then(|at| of.memory.bytes_at(at, 64)) else { return };
        for number in 0..(self.bytes / size).min(MOST) {
            let byte = usize::try_from(number / 8).ok().and_then(|at| free.get(at)).copied().unwrap_or(u8::MAX);
            if byte >> (number % 8) & 1 == 0 {
                add(self.start + number * size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_their_sizes() {
        let sizes: Vec<u64> = (0..17).filter_map(size_of_class).collect();
        assert_eq!(sizes, [8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512]);
        assert_eq!(size_of_class(36), Some(14 << 10));
        assert_eq!(size_of_class(39), Some(28 << 10));
    }
}

//! jemalloc 5.3: a tree of all extents. One in use is a large block, or a slab of blocks with a bit for each; blocks in the
//! caches of threads are free, too.
//!
//! The debug info of its C code tells whether its structures are the known ones. glibc's blocks, those of C code, are there
//! too.

use super::{Allocator, Live, ProcessImage, system, words};
use crate::arch;
use crate::capture::{Memory, Rounding, variables};
use crate::debuginfo;
use anyhow::{Result, bail};
use std::collections::HashMap;

/// The variables with the tree and with the data of a thread, with and without the prefix of the functions.
pub(super) const NAMES: [(&str, &str); 2] =
    [("_rjem_je_arena_emap_global", "_rjem_je_tsd_tls"), ("je_arena_emap_global", "je_tsd_tls")];
/// The bits of an address.
const ADDRESS: u32 = 48;
/// The size of a bin of a cache.
const BIN: u64 = 24;
/// The number of size classes.
const CLASSES: u64 = 232;

/// jemalloc 5.3.
pub(super) struct Jemalloc {
    /// The address of the tree.
    pub(super) tree: u64,
    /// The bytes of the tree, and of what is stored with it.
    pub(super) tree_bytes: u64,
    /// Where the data of a thread begins in the executable's block of thread-local memory.
    pub(super) of_thread: u64,
}

/// What differs by version.
struct Layout {
    /// The offset of the root in the tree.
    root: u64,
    /// The offset of the cache's bins in the data of a thread, and their number.
    bins: u64,
    count: u64,
    pages: PageSize,
}

/// The bits of an address below the number of its page, for which jemalloc was built. It need not be that of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageSize(u32);

impl PageSize {
    /// Finds it by the bytes of the tree's root, which is nearly all of `bytes`.
    fn by_root(bytes: u64) -> Option<Self> {
        [12, 14, 16].map(Self).into_iter().find(|size| (size.root()..size.root() + size.root() / 2).contains(&bytes))
    }

    /// Returns the bits of the number of a leaf in the root, and of an entry in a leaf.
    const fn bits(self) -> u32 {
        (ADDRESS - self.0) / 2
    }

    /// Returns the bytes of the root.
    const fn root(self) -> u64 {
        8 << self.bits()
    }

    /// Returns the bits of an address below the number of its leaf.
    const fn leaf(self) -> u32 {
        self.0 + self.bits()
    }

    /// Returns the bytes of a page.
    const fn bytes(self) -> u64 {
        1 << self.0
    }

    /// Returns the most blocks of a slab: those of the smallest class in a page.
    const fn most(self) -> u64 {
        self.bytes() / 8
    }
}

impl Layout {
    /// Returns the layout, if the structures are known.
    fn new(tree_bytes: u64, fields: impl Fn(&str) -> HashMap<String, u64>) -> Option<Self> {
        let has = |name: &str, known: &[(&str, u64)]| {
            let fields = fields(name);
            known.iter().all(|(field, at)| fields.get(*field) == Some(at))
        };
        let is_known = has("edata_s", &[("e_bits", 0), ("e_addr", 8), ("e_ps", 24), ("e_sn", 32)])
            && has("cache_bin_s", &[("stack_head", 0), ("low_bits_empty", 20)])
            // With addresses of more than 48 bits, an entry has more words.
            && has("rtree_leaf_elm_s", &[("le_bits", 0)]);
        let thread = fields("tsd_s");
        let cache = thread.iter().find(|(name, _)| name.ends_with("_tcache")).map(|(_, at)| *at)?;
        let end = thread.values().copied().filter(|at| *at > cache).min()?;
        let bins = cache.checked_add(*fields("tcache_s").get("bins")?)?;
        let root = *fields("rtree_s").get("root")?;
        let pages = PageSize::by_root(tree_bytes.checked_sub(root)?)?;
        is_known.then_some(Self { root, bins, count: (end.checked_sub(bins)? / BIN).min(CLASSES), pages })
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
    fn live(&self, process: &ProcessImage<'_>) -> Result<Live> {
        let name = process.executable.0.display();
        let fields = |name: &str| debuginfo::c_struct(process.executable.1, name).unwrap_or_default();
        let Some(layout) = Layout::new(self.tree_bytes, fields) else {
            bail!(
                "{name}: its allocator is jemalloc, whose C code has no debug info, or is not of version 5.3; build it with \
                 `debug = 2` in the profile, or start it with `cargo dwell census --exe`"
            );
        };
        let extents = self.extents(process, &layout);
        let caches = self.caches(process, &layout);
        let mut blocks = Vec::new();
        for extent in &extents {
            extent.blocks(process, layout.pages, &caches.free, &mut blocks);
        }
        if blocks.is_empty() {
            bail!(
                "{name}: its allocator is jemalloc, but its extents were not found; start it with `cargo dwell census --exe`"
            );
        }
        blocks.sort_unstable();
        blocks.retain(|(addr, size)| {
            let next = caches.stacks.partition_point(|stack| stack < addr);
            caches.stacks.get(next).is_none_or(|stack| *stack >= addr + size)
        });
        // Damaged extents may overlap.
        blocks.dedup_by(|next, before| before.0 + before.1 > next.0);
        let own: Vec<(u64, u64)> = extents.iter().map(|extent| (extent.start, extent.start + extent.bytes)).collect();
        if let Ok(others) = system(process, &own) {
            let is_own = |addr: u64| {
                let index = own.partition_point(|(start, _)| *start <= addr);
                index.checked_sub(1).is_some_and(|index| addr < own[index].1)
            };
            blocks.extend(others.blocks.into_iter().filter(|(addr, _)| !is_own(*addr)));
        }
        blocks.sort_unstable();
        Ok(Live { blocks, allocator: "jemalloc 5.3".into(), rounding: Rounding::Classes, lost: 0 })
    }
}

impl Jemalloc {
    /// Returns the extents in use, sorted by address, without overlap.
    fn extents(&self, process: &ProcessImage<'_>, layout: &Layout) -> Vec<Extent> {
        let mut extents = Vec::new();
        // Other leaves than those of mapped memory are damaged entries.
        let pages = layout.pages;
        let number = |addr: u64| addr >> pages.leaf();
        let is_mapped = |high: u64| {
            process.maps.iter().any(|map| number(map.start) <= high && high <= number(map.end.saturating_sub(1)))
        };
        let leaves = entries(process, pages, self.tree.wrapping_add(layout.root));
        for (high, leaf) in leaves.into_iter().filter(|(high, _)| is_mapped(*high)) {
            for (low, entry) in entries(process, pages, leaf) {
                // The address of a header is between its size class and the state.
                let header = entry << 16 >> 16 & !0x7f;
                // Pages inside of an extent may have the entry of an earlier one.
                let page = (high << pages.bits() | low) * pages.bytes();
                extents.extend(Extent::read(process, pages, header).filter(|extent| extent.start == page));
            }
        }
        extents.sort_unstable_by_key(|extent| extent.start);
        extents.dedup_by(|next, before| before.start + before.bytes > next.start);
        extents
    }

    /// Reads the caches of threads.
    ///
    /// The arenas have a list of all caches only if jemalloc was built with statistics, so the caches are found by the threads.
    fn caches(&self, process: &ProcessImage<'_>, layout: &Layout) -> Caches {
        let mut caches = Caches::default();
        let Some((size, align)) = variables::block_size(process.executable.1) else { return caches };
        for pointer in process.threads.iter().filter_map(|thread| thread.pointer) {
            let Some(start) = arch::thread_locals(pointer, size, align) else { continue };
            let data = start.wrapping_add(self.of_thread);
            for number in 0..layout.count {
                caches.read(process, data.wrapping_add(layout.bins + BIN * number));
            }
        }
        caches.free.sort_unstable();
        caches.stacks.sort_unstable();
        caches
    }
}

/// The caches of threads.
#[derive(Debug, Default)]
struct Caches {
    /// The free blocks.
    free: Vec<u64>,
    /// Where these are listed, in blocks of jemalloc's own.
    stacks: Vec<u64>,
}

impl Caches {
    /// Reads a bin: a stack that grows down, of whose end only the low 16 bits are stored.
    fn read(&mut self, process: &ProcessImage<'_>, bin: u64) {
        let Some(head) = process.memory.word(bin).filter(|head| *head != 0 && *head % 8 == 0) else { return };
        let Some(end) = bin.checked_add(20).and_then(|at| process.memory.bytes_at(at, 2)) else { return };
        let end = u16::from_le_bytes([end[0], end[1]]);
        let low = u16::from_le_bytes([head.to_le_bytes()[0], head.to_le_bytes()[1]]);
        let bytes = end.wrapping_sub(low);
        self.free.extend(words(process, head, usize::from(bytes / 8)));
        // The end may be that of the block.
        self.stacks.push(head.saturating_add(u64::from(bytes)).saturating_sub(8));
    }
}

/// Returns the entries of a node of the tree that are not zero, with their numbers.
fn entries(process: &ProcessImage<'_>, pages: PageSize, start: u64) -> Vec<(u64, u64)> {
    let mut bytes = vec![0; 8 << pages.bits()];
    let read = Memory::read(process.memory, start, &mut bytes);
    let entries = bytes[..read].as_chunks::<8>().0.iter().map(|entry| u64::from_le_bytes(*entry));
    (0_u64..).zip(entries).filter(|(_, entry)| *entry != 0).collect()
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
    fn read(process: &ProcessImage<'_>, pages: PageSize, header: u64) -> Option<Self> {
        let word = |offset: u64| process.memory.word(header.checked_add(offset)?);
        let (bits, addr, size) = (word(0)?, word(8)?, word(16)?);
        let (is_slab, state, class) = (bits >> 12 & 1 == 1, bits >> 17 & 7, bits >> 20 & 0xff);
        let (start, bytes) = (addr & !(pages.bytes() - 1), size & !(pages.bytes() - 1));
        let end = start.checked_add(bytes)?;
        let is_mapped = process.maps.iter().any(|map| map.writable && map.is_anonymous() && map.contains(start));
        let is_used = state == 0 && class < CLASSES && bytes > 0 && end > start && is_mapped;
        is_used.then_some(Self { start, bytes, first: addr, class, slab: is_slab.then_some(header) })
    }

    /// Adds the blocks that are live.
    fn blocks(&self, process: &ProcessImage<'_>, pages: PageSize, free: &[u64], blocks: &mut Vec<(u64, u64)>) {
        /// The offset of the bits, one for each free block.
        const FREE: u64 = 64;
        let Some(size) = size_of_class(self.class) else { return };
        let mut add = |addr: u64, size: u64| {
            if free.binary_search(&addr).is_err() {
                blocks.push((addr, size));
            }
        };
        let Some(header) = self.slab else {
            // A large one of 5.3.1 may have fewer pages than its class.
            add(self.first, size.min(self.bytes - (self.first - self.start)));
            return;
        };
        let bits = |at: u64| process.memory.bytes_at(at, usize::try_from(pages.most() / 8).ok()?);
        let Some(bits) = header.checked_add(FREE).and_then(bits) else { return };
        for number in 0..(self.bytes / size).min(pages.most()) {
            let byte = usize::try_from(number / 8).ok().and_then(|at| bits.get(at)).copied().unwrap_or(u8::MAX);
            if byte >> (number % 8) & 1 == 0 {
                add(self.start + number * size, size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_known_by_the_root_of_the_tree() {
        assert_eq!(PageSize::by_root((8 << 18) + 120), Some(PageSize(12)));
        assert_eq!(PageSize::by_root((8 << 17) + 120), Some(PageSize(14)));
        assert_eq!(PageSize::by_root((8 << 16) + 120), Some(PageSize(16)));
        assert_eq!(PageSize::by_root(8 << 15), None);
        assert_eq!((PageSize(12).leaf(), PageSize(16).leaf(), PageSize(16).most()), (30, 32, 8192));
    }

    #[test]
    fn classes_have_their_sizes() {
        let sizes: Vec<u64> = (0..17).filter_map(size_of_class).collect();
        assert_eq!(sizes, [8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512]);
        assert_eq!([35, 36].map(size_of_class), [Some(14 << 10), Some(16 << 10)]);
        assert_eq!(size_of_class(39), Some(28 << 10));
    }
}

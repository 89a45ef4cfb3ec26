//! jemalloc 5.3: a tree of all extents. One in use is a large block, or a slab of blocks with a bit for each; blocks in the
//! caches of threads are free, too.
//!
//! The debug info of its C code tells whether its structures are the known ones. glibc's blocks, those of C code, are there
//! too.

use super::{Inside, ProcessImage, words};
use crate::capture::Memory;
use crate::capture::variables::BlockOf;
use crate::debuginfo;
use anyhow::{Result, bail};
use std::collections::HashMap;

/// The variables with the tree and with the data of a thread, with and without the prefix of the functions.
pub(super) const NAMES: [(&str, &str); 2] =
    [("_rjem_je_arena_emap_global", "_rjem_je_tsd_tls"), ("je_arena_emap_global", "je_tsd_tls")];
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
    tree: Tree,
}

/// The tree for which jemalloc was built. Its pages need not have the size of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tree {
    /// The bits of an address below the number of its page.
    page: u32,
    /// The bits of an address for each level.
    bits: u32,
    levels: u32,
    /// The words of an entry in a leaf: an address together with other bits, or alone, and a word of other bits.
    words: usize,
}

impl Tree {
    /// For addresses of 48 bits. The processor on which jemalloc is built decides.
    const fn of_48(page: u32) -> Self {
        Self { page, bits: (48 - page) / 2, levels: 2, words: 1 }
    }

    /// For addresses of 57 bits.
    const OF_57: Self = Self { page: 12, bits: 15, levels: 3, words: 2 };

    /// Finds it by the bytes of the root, which is nearly all of `bytes`.
    fn by_root(bytes: u64, words: usize) -> Option<Self> {
        let all = [Self::of_48(12), Self::of_48(14), Self::of_48(16), Self::OF_57];
        let is_root = |tree: &Self| (tree.root()..tree.root() + tree.root() / 2).contains(&bytes);
        all.into_iter().find(|tree| tree.words == words && is_root(tree))
    }

    /// Returns the bytes of the root.
    const fn root(self) -> u64 {
        8 << self.bits
    }

    /// Returns the bytes of a page.
    const fn bytes(self) -> u64 {
        1 << self.page
    }

    /// Returns the most blocks of a slab: those of the smallest class in a page.
    const fn most(self) -> u64 {
        self.bytes() / 8
    }

    /// Returns the address of a header in the first word of a leaf's entry.
    const fn header(self, entry: u64) -> u64 {
        // It is between a size class and the state.
        let entry = if self.words == 1 { entry << 16 >> 16 } else { entry };
        entry & !0x7f
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
            && has("cache_bin_s", &[("stack_head", 0), ("low_bits_empty", 20)]);
        let words = match () {
            () if has("rtree_leaf_elm_s", &[("le_bits", 0)]) => 1,
            () if has("rtree_leaf_elm_s", &[("le_edata", 0), ("le_metadata", 8)]) => 2,
            () => return None,
        };
        let thread = fields("tsd_s");
        let cache = thread.iter().find(|(name, _)| name.ends_with("_tcache")).map(|(_, at)| *at)?;
        let end = thread.values().copied().filter(|at| *at > cache).min()?;
        let bins = cache.checked_add(*fields("tcache_s").get("bins")?)?;
        let root = *fields("rtree_s").get("root")?;
        let tree = Tree::by_root(tree_bytes.checked_sub(root)?, words)?;
        is_known.then_some(Self { root, bins, count: (end.checked_sub(bins)? / BIN).min(CLASSES), tree })
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

impl Jemalloc {
    /// Returns the live blocks.
    pub(super) fn live(&self, process: &ProcessImage<'_>) -> Result<Inside> {
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
            extent.blocks(process, layout.tree, &caches.free, &mut blocks);
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
        Ok(Inside { blocks, own, allocator: "jemalloc 5.3" })
    }

    /// Returns the extents in use, sorted by address, without overlap.
    fn extents(&self, process: &ProcessImage<'_>, layout: &Layout) -> Vec<Extent> {
        let mut extents = Vec::new();
        let tree = layout.tree;
        let mut nodes = vec![(0, self.tree.wrapping_add(layout.root))];
        for below in (1..tree.levels).rev() {
            let number = |addr: u64| addr >> (tree.page + tree.bits * below);
            // Other nodes than those of mapped memory are damaged entries.
            let is_mapped = |high: u64| {
                process.maps.iter().any(|map| number(map.start) <= high && high <= number(map.end.saturating_sub(1)))
            };
            let inner = |(high, node): (u64, u64)| {
                entries(process, tree.bits, 1, node).into_iter().map(move |(low, node)| (high << tree.bits | low, node))
            };
            nodes = nodes.into_iter().flat_map(inner).filter(|(high, _)| is_mapped(*high)).collect();
        }
        for (high, leaf) in nodes {
            for (low, entry) in entries(process, tree.bits, tree.words, leaf) {
                // Pages inside of an extent may have the entry of an earlier one.
                let page = (high << tree.bits | low) * tree.bytes();
                let extent = Extent::read(process, tree, tree.header(entry));
                extents.extend(extent.filter(|extent| extent.start == page));
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
        let Some(block) = BlockOf::new(process.memory, process.executable.1, process.bias) else { return caches };
        for pointer in process.threads.iter().filter_map(|thread| thread.pointer) {
            let Some(start) = block.start(process.memory, pointer) else { continue };
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

/// Returns the first words of a node's entries that are not zero, with their numbers.
fn entries(process: &ProcessImage<'_>, bits: u32, words: usize, start: u64) -> Vec<(u64, u64)> {
    let mut bytes = vec![0; (8 * words) << bits];
    let read = Memory::read(process.memory, start, &mut bytes);
    let entries = bytes[..read].as_chunks::<8>().0.iter().step_by(words).map(|entry| u64::from_le_bytes(*entry));
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
    fn read(process: &ProcessImage<'_>, tree: Tree, header: u64) -> Option<Self> {
        let word = |offset: u64| process.memory.word(header.checked_add(offset)?);
        let (bits, addr, size) = (word(0)?, word(8)?, word(16)?);
        let (is_slab, state, class) = (bits >> 12 & 1 == 1, bits >> 17 & 7, bits >> 20 & 0xff);
        let (start, bytes) = (addr & !(tree.bytes() - 1), size & !(tree.bytes() - 1));
        let end = start.checked_add(bytes)?;
        let is_mapped = process.maps.iter().any(|map| map.writable && map.is_anonymous() && map.contains(start));
        let is_used = state == 0 && class < CLASSES && bytes > 0 && end > start && is_mapped;
        is_used.then_some(Self { start, bytes, first: addr, class, slab: is_slab.then_some(header) })
    }

    /// Adds the blocks that are live.
    fn blocks(&self, process: &ProcessImage<'_>, tree: Tree, free: &[u64], blocks: &mut Vec<(u64, u64)>) {
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
        let bits = |at: u64| process.memory.bytes_at(at, usize::try_from(tree.most() / 8).ok()?);
        let Some(bits) = header.checked_add(FREE).and_then(bits) else { return };
        for number in 0..(self.bytes / size).min(tree.most()) {
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
        assert_eq!(Tree::by_root((8 << 18) + 120, 1), Some(Tree::of_48(12)));
        assert_eq!(Tree::by_root((8 << 17) + 120, 1), Some(Tree::of_48(14)));
        assert_eq!(Tree::by_root((8 << 16) + 120, 1), Some(Tree::of_48(16)));
        assert_eq!(Tree::by_root((8 << 15) + 120, 2), Some(Tree::OF_57));
        assert_eq!((Tree::by_root(8 << 15, 1), Tree::by_root(8 << 18, 2)), (None, None));
        assert_eq!((Tree::of_48(12).bits, Tree::of_48(16).bits, Tree::of_48(16).most()), (18, 16, 8192));
    }

    #[test]
    fn classes_have_their_sizes() {
        let sizes: Vec<u64> = (0..17).filter_map(size_of_class).collect();
        assert_eq!(sizes, [8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512]);
        assert_eq!([35, 36].map(size_of_class), [Some(14 << 10), Some(16 << 10)]);
        assert_eq!(size_of_class(39), Some(28 << 10));
    }
}

//! The structures of glibc's malloc, 2.28 to 2.44, on processors with 64 bits.
//!
//! ```text
//! heap of a thread's arena, at a multiple of 64 MiB:  arena, previous heap, size, ... chunk, chunk, ..., top
//! chunk:  (size of the chunk before, if that is free)  size and flags  contents ...
//! ```
#![cfg_attr(not(agent), allow(dead_code, reason = "only the blocks of a process need all of them"))]

/// The size and the alignment of the heaps of arenas other than the main one.
pub(super) const HEAP: u64 = 64 << 20;
/// The number of bins of an arena.
pub(super) const BINS: u64 = 128;
/// The smallest chunk. Others are larger by multiples of 16 bytes.
pub(super) const LEAST_CHUNK: u64 = 32;
/// The flags of a chunk's size: the chunk before is in use; it is mapped separately; any of the three.
pub(super) const PREVIOUS_IN_USE: u64 = 1;
pub(super) const IS_MAPPED: u64 = 2;
pub(super) const FLAGS: u64 = 7;

/// The structures of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The first version, 2.N.
    pub(super) from: u32,
    /// The offset and number of the lists of small free chunks in an arena.
    pub(super) fast: Option<(u64, u64)>,
    /// The offset of the pointer to the top chunk.
    pub(super) top: u64,
    /// The offset of the bins.
    pub(super) bins: u64,
    /// The size of an arena.
    pub(super) arena: u64,
    /// The size of the header of an arena's heap.
    pub(super) heap: u64,
    /// A thread's cache.
    pub(super) cache: Cache,
    /// Whether pointers in lists are combined with their own addresses.
    pub(super) is_mangled: bool,
    /// The bytes of a separately mapped chunk that its size does not count.
    pub(super) beside: u64,
}

/// A thread's cache: counts, then lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cache {
    pub(super) lists: u64,
    /// The bytes of each count.
    pub(super) count: u64,
    /// Whether the counts are those of chunks, and not of free places.
    pub(super) is_count: bool,
}

const fn cache(lists: u64, count: u64, is_count: bool) -> Cache {
    Cache { lists, count, is_count }
}

/// The oldest known version's.
pub(super) const OLDEST: Layout = Layout {
    from: 28,
    fast: Some((0x10, 10)),
    top: 0x60,
    bins: 0x70,
    arena: 0x898,
    heap: 0x20,
    cache: cache(64, 1, true),
    is_mangled: false,
    beside: 0,
};

/// What changed from version to version, by the published sources.
pub(super) const LAYOUTS: [Layout; 6] = [
    OLDEST,
    Layout { from: 30, cache: cache(64, 2, true), ..OLDEST },
    Layout { from: 32, cache: cache(64, 2, true), is_mangled: true, ..OLDEST },
    Layout { from: 35, cache: cache(64, 2, true), is_mangled: true, heap: 0x30, ..OLDEST },
    Layout { from: 42, cache: cache(76, 2, false), is_mangled: true, heap: 0x30, ..OLDEST },
    Layout {
        from: 43,
        cache: cache(76, 2, false),
        is_mangled: true,
        heap: 0x30,
        fast: None,
        top: 8,
        bins: 0x18,
        arena: 0x840,
        beside: 16,
    },
];
/// The newest known version.
pub(super) const NEWEST: u32 = 44;

/// Returns the structures of version 2.`minor`.
pub(super) fn layout(minor: u32) -> Option<Layout> {
    LAYOUTS.into_iter().rev().find(|layout| layout.from <= minor && minor <= NEWEST)
}

impl Layout {
    /// Returns the offset of the pointer to the next arena: behind the bins and a bit for each of them.
    pub(super) const fn next(&self) -> u64 {
        self.bins + 2 * 8 * (BINS - 1) + 16
    }

    /// Returns the offset of the number of bytes that an arena has.
    pub(super) const fn system(&self) -> u64 {
        self.next() + 24
    }

    /// Returns the size of the chunk of a thread's cache.
    pub(super) const fn cache_chunk(&self) -> u64 {
        (self.cache.lists * (self.cache.count + 8) + 8).next_multiple_of(16)
    }

    /// Returns the pointer in a list that is stored at an address.
    pub(super) const fn pointer(&self, at: u64, stored: u64) -> u64 {
        if self.is_mangled { stored ^ (at >> 12) } else { stored }
    }
}

/// Returns `true` if a list of a thread's cache may have a chunk of `size` bytes: the first 64 lists have chunks of one size each.
pub(super) const fn is_listed_size(list: u64, size: u64) -> bool {
    const SMALL: u64 = 64;
    size == LEAST_CHUNK + 16 * list || list >= SMALL && size > LEAST_CHUNK + 16 * (SMALL - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_differ_by_version() {
        assert_eq!(layout(27), None);
        assert_eq!(layout(NEWEST + 1), None);
        for (minor, from) in [(28, 28), (29, 28), (31, 30), (34, 32), (36, 35), (41, 35), (42, 42), (44, 43)] {
            assert_eq!(layout(minor).map(|layout| layout.from), Some(from), "{minor}");
        }
        let sizes: Vec<u64> = LAYOUTS.iter().map(Layout::cache_chunk).collect();
        assert_eq!(sizes, [0x250, 0x290, 0x290, 0x290, 0x300, 0x300]);
        for layout in &LAYOUTS {
            assert_eq!(layout.system() + 16, layout.arena, "{}", layout.from);
        }
    }
}

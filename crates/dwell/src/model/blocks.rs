//! The blocks that containers of std and of Dwell request from the allocator, by the layouts of their elements.

use super::layout::{Layout, WORD, declared, structure, tuple, up};

/// A leaf of a B-tree: a pointer to its parent, two lengths, eleven keys and values.
pub fn leaf(key: Layout, value: Layout) -> u64 {
    let eleven = |of: Layout| Layout::plain(of.size.saturating_mul(11), of.align);
    structure(&[Layout::plain(WORD, WORD), Layout::plain(4, 2), eleven(key), eleven(value)]).size
}

/// An inner node of a B-tree, with twelve edges.
pub fn internal(key: Layout, value: Layout) -> u64 {
    up(leaf(key, value).saturating_add(12 * WORD), key.align.max(value.align).max(WORD))
}

/// A key and its value.
pub fn entry(key: Layout, value: Layout) -> Layout {
    tuple(&[key, value])
}

/// The block of an `Rc` or `Arc`: two counts, then the value.
pub fn counted(value: Layout) -> u64 {
    declared(&[Layout::plain(2 * WORD, WORD), value]).size
}

/// The node of a linked list: two links beside the value.
pub fn link(value: Layout) -> u64 {
    structure(&[Layout::plain(2 * WORD, WORD), value]).size
}

/// Bytes of a thin slice's block before its elements.
pub fn thin_header(element: Layout) -> u64 {
    element.align.max(WORD)
}

/// The length in bytes from which on a `ThinStr` has a longer header.
pub const LONG: usize = 255;
/// Bytes before a short string in a `ThinStr`.
const THIN_TEXT: u64 = 1;

/// The bytes of the lengths of `strings` non-empty `ThinStr`s, `long` of which have [`LONG`] bytes or more.
pub fn thin_texts(strings: u64, long: u64) -> u64 {
    strings.saturating_mul(THIN_TEXT).saturating_add(long.saturating_mul(WORD))
}

/// Bytes that an allocator such as glibc's adds to a block: a header, and the rounding of the size.
pub const BLOCK: u64 = 16;

/// The capacity of the first block of a vector that is pushed to, by the size of its elements (`RawVec::MIN_NON_ZERO_CAP`).
pub const fn least_capacity(element: u64) -> u64 {
    match element {
        1 => 8,
        2..=1024 => 4,
        _ => 1,
    }
}

/// [`GROUP`] of a program with SSE2, as all on x86-64 are.
pub const GROUP_OF_SSE2: usize = 16;

/// Control bytes that hashbrown reads at once, a *group*. A table has those of one group more than it has buckets.
pub const GROUP: usize = if cfg!(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2", not(miri)),
    all(target_arch = "loongarch64", target_feature = "lsx", not(miri)),
)) {
    GROUP_OF_SSE2
} else if cfg!(any(
    target_pointer_width = "64",
    target_arch = "aarch64",
    target_arch = "x86_64",
    target_arch = "wasm32",
)) {
    8
} else {
    4
};

/// The capacity of a hash table with this number of buckets, without tombstones.
pub const fn capacity_of(buckets: usize) -> usize {
    let free = buckets / 8;
    buckets - if free == 0 { 1 } else { free }
}

/// The least power of two that a hash table of that capacity may have as its number of buckets.
#[inline]
pub fn buckets_at_least(capacity: usize) -> usize {
    capacity.max(4).checked_next_power_of_two().unwrap_or(1 << (usize::BITS - 1))
}

/// The least number of buckets with that capacity.
pub fn buckets_for(capacity: usize) -> usize {
    let buckets = buckets_at_least(capacity);
    if capacity <= capacity_of(buckets) { buckets } else { buckets.saturating_mul(2) }
}

/// Bytes and alignment of a hash table: its entries, a control byte for each bucket, and a group.
#[inline]
pub fn table(buckets: usize, entry: usize, align: usize) -> (usize, usize) {
    let align = align.max(GROUP);
    let entries = buckets.saturating_mul(entry);
    let entries = entries.checked_next_multiple_of(align).unwrap_or(usize::MAX);
    (entries.saturating_add(buckets).saturating_add(GROUP), align)
}

/// Where the control bytes of a table begin, and its size, in a program with groups of `group`. `None` if it is too large to be.
pub fn table_of(buckets: u64, entry: u64, align: u64, group: u64) -> Option<(u64, u64)> {
    let control = buckets.checked_mul(entry)?.checked_next_multiple_of(align.max(group))?;
    Some((control, control.checked_add(buckets)?.checked_add(group)?))
}

/// The bytes of `tables` tables with `buckets` buckets in all, if [`table_is_regular`] for their entries.
pub fn tables(tables: u64, buckets: u64, entry: u64) -> u64 {
    buckets.saturating_mul(entry.saturating_add(1)).saturating_add(tables.saturating_mul(GROUP as u64))
}

/// Whether the bytes of a table's entries need no rounding up to the group's alignment, so that they grow with the entry.
pub fn table_is_regular(old: Layout, new: Layout) -> bool {
    // Four buckets of a multiple of four bytes are a multiple of the group's sixteen; smaller entries get more buckets.
    let fine = |layout: Layout| layout.size >= 4 && layout.size.is_multiple_of(4) && layout.align <= 16;
    old.size == new.size || fine(old) && fine(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn blocks_of_std() {
        let word = Layout::plain(8, 8);
        assert_eq!(leaf(word, word), 8 + 4 + 4 + 88 + 88);
        assert_eq!(internal(word, word), leaf(word, word) + 96);
        assert_eq!(counted(Layout::plain(1, 1)), 24);
        assert_eq!(counted(Layout::plain(32, 32)), 64);
        assert_eq!(link(Layout::plain(1, 1)), 24);
        assert_eq!(thin_header(Layout::plain(1, 1)), 8);
    }

    #[test]
    fn sums_of_tables_are_those_of_each() {
        for (buckets, entry) in [(4, 4), (8, 24), (1024, 40)] {
            let (bytes, align) = table(buckets, entry, 4);
            let (many, entry) = (buckets as u64, entry as u64);
            assert_eq!(tables(3, 3 * many, entry), 3 * bytes as u64);
            assert_eq!(table_of(many, entry, 4, GROUP as u64), Some((many * entry, bytes as u64)));
            assert_eq!(align, GROUP);
        }
        assert_eq!(table_of(1 << 40, 1 << 40, 1, 16), None);
        assert_eq!(table_of(u64::MAX - 3, 1, 1, 16), None);
    }

    /// std's growth.
    #[test]
    #[expect(clippy::vec_init_then_push, reason = "the capacity after a push is what is tested")]
    fn first_capacities() {
        fn pushed<const N: usize>() -> u64 {
            let mut vector = std_alloc::vec::Vec::new();
            vector.push([0_u8; N]);
            vector.capacity() as u64
        }
        assert_eq!(least_capacity(1), pushed::<1>());
        assert_eq!(least_capacity(2), pushed::<2>());
        assert_eq!(least_capacity(1024), pushed::<1024>());
        assert_eq!(least_capacity(1025), pushed::<1025>());
    }
}

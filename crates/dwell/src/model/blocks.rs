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

/// Bytes before the text of so many `ThinStr`s that are not empty, `long` of which have [`LONG`] bytes or more.
pub fn thin_texts(strings: u64, long: u64) -> u64 {
    strings.saturating_mul(THIN_TEXT).saturating_add(long.saturating_mul(WORD))
}

/// Control bytes that hashbrown reads at once, a *group*. A table has those of one group more than it has buckets.
pub const GROUP: usize = if cfg!(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2", not(miri)),
    all(target_arch = "loongarch64", target_feature = "lsx", not(miri)),
)) {
    16
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

/// The capacity of a hash table with so many buckets, without tombstones.
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
}

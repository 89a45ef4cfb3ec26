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
pub const THIN_TEXT: u64 = 1;

/// The number of buckets below which hashbrown rounds the bytes of a table up to its group size.
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

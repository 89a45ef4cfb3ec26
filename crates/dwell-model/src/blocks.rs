//! The sizes of the blocks that containers of std and Dwell request, from the layouts of their elements.

use super::layout::{Layout, WORD, declared, structure, tuple, up};

/// Returns the size of a B-tree's leaf: a pointer to its parent, its index there, its length, eleven keys and values.
pub fn leaf(key: Layout, value: Layout) -> u64 {
    let eleven = |layout: Layout| Layout::plain(layout.size.saturating_mul(11), layout.align);
    structure(&[Layout::plain(WORD, WORD), Layout::plain(4, 2), eleven(key), eleven(value)]).size
}

/// Returns the size of a B-tree's inner node: a leaf and twelve edges.
pub fn internal(key: Layout, value: Layout) -> u64 {
    up(leaf(key, value).saturating_add(12 * WORD), key.align.max(value.align).max(WORD))
}

/// Returns the layout of a key and its value.
pub fn entry(key: Layout, value: Layout) -> Layout {
    tuple(&[key, value])
}

/// Returns the size of the block of an `Rc` or `Arc`: two counts, then the value.
pub fn counted(value: Layout) -> u64 {
    declared(&[Layout::plain(2 * WORD, WORD), value]).size
}

/// Returns the size of a linked list's node: two links and the value.
pub fn link(value: Layout) -> u64 {
    structure(&[Layout::plain(2 * WORD, WORD), value]).size
}

/// Returns the bytes before the elements in the block of a `ThinSlice`.
pub fn thin_header(element: Layout) -> u64 {
    element.align.max(WORD)
}

/// The bytes before the text in the block of a short `ThinStr`.
const THIN_TEXT: u64 = 1;

/// Returns the bytes before the texts of `strings` non-empty `ThinStr`s, of which `long` have at least
/// [`LONG_TEXT`](super::LONG_TEXT) bytes.
pub fn thin_texts(strings: u64, long: u64) -> u64 {
    strings.saturating_mul(THIN_TEXT).saturating_add(long.saturating_mul(WORD))
}

/// The bytes that an allocator such as glibc's adds to a block, by a header and by rounding.
pub const BLOCK: u64 = 16;

/// Returns the capacity of a vector after the first push, by the size of its elements (`RawVec::MIN_NON_ZERO_CAP`).
pub const fn least_capacity(element: u64) -> u64 {
    match element {
        1 => 8,
        2..=1024 => 4,
        _ => 1,
    }
}

/// Returns whether the entries of a table need no padding up to the group's alignment, so that they grow with the
/// entry.
pub fn table_is_regular(old: Layout, new: Layout) -> bool {
    // A table has at least four buckets. With entries of a multiple of four bytes they take a multiple of the group's
    // sixteen bytes; tables of smaller entries begin with more buckets.
    let fine = |layout: Layout| layout.size >= 4 && layout.size.is_multiple_of(4) && layout.align <= 16;
    old.size == new.size || fine(old) && fine(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn std_block_layouts_match() {
        let word = Layout::plain(8, 8);
        assert_eq!(leaf(word, word), 8 + 4 + 4 + 88 + 88);
        assert_eq!(internal(word, word), leaf(word, word) + 96);
        assert_eq!(counted(Layout::plain(1, 1)), 24);
        assert_eq!(counted(Layout::plain(32, 32)), 64);
        assert_eq!(link(Layout::plain(1, 1)), 24);
        assert_eq!(thin_header(Layout::plain(1, 1)), 8);
    }

    /// Compares with the growth of std's vectors.
    #[test]
    #[expect(clippy::vec_init_then_push, reason = "the capacity after a push is what is tested")]
    fn first_capacities_match_std() {
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

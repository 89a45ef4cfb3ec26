//! Where cells lie in a block: arithmetic on sizes, without a pointer or an allocator.
#![forbid(unsafe_code)]

use core::alloc::Layout;

/// The size of a block, in bytes, unless values are larger than a sixteenth of it.
pub(super) const MIN_BLOCK: usize = 64 * 1024;

/// Values of at most this size and alignment are in such blocks.
const SMALL: usize = MIN_BLOCK / 16;

/// Cells whose stride is a multiple of this many bytes compete for the same few cache sets.
const ALIASED: usize = 1024;

/// A cache line. Such a stride is longer by one, or by the alignment if that is two lines; and the first cell of a block is
/// aligned to one at least.
const LINE: usize = 64;

/// A block is large enough for this many cells.
const MIN_CELLS: usize = 4;

/// How a block is divided into cells for values of one layout.
///
/// ```text
/// 0        header  bitmap        first            first + stride
/// ┌────────┬───────┬─────────────┬────────────────┬────────────────┬─────
/// │ Header │ leaked: a bit each  │ cell 0         │ cell 1         │ ..
/// └────────┴───────┴─────────────┴────────────────┴────────────────┴─────
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    // # Invariants, unless `cells` is 0
    //
    // 1. `block` is a power of two, at least `align`, and at most `isize::MAX / 2`.
    // 2. `stride` is at least the value's size and 8, and a multiple of its alignment and of 8.
    // 3. `header + words * 8 <= first`, a multiple of the value's alignment, and `words * 64 >= cells`.
    // 4. `first + cells * stride <= block`.
    /// The size and alignment of a block, in bytes.
    pub(super) block: usize,
    /// Bytes from one cell to the next.
    pub(super) stride: usize,
    /// Bytes from the block's start to its first cell.
    pub(super) first: usize,
    /// Words of the bitmap.
    pub(super) words: usize,
    /// Cells in a block. 0 when a value is too large for any.
    pub(super) cells: usize,
}

impl Geometry {
    /// The bytes of a block's header, in front of its bitmap.
    pub(super) const HEADER: usize = 48;

    /// The largest layout there is: for an error that says what could not be allocated.
    pub(super) const LARGEST: Layout = match Layout::from_size_align(isize::MAX.cast_unsigned(), 1) {
        Ok(layout) => layout,
        Err(_) => panic!("a layout of isize::MAX bytes"),
    };

    /// Of values that are too large: no cell.
    const IMPOSSIBLE: Self = Self { block: MIN_BLOCK, stride: 8, first: 0, words: 0, cells: 0 };

    /// How values of this layout are stored.
    pub(super) const fn of(layout: Layout) -> Self {
        let (size, align) = (layout.size(), layout.align());
        // Nothing below overflows: at most 8 times this is added up.
        if size > isize::MAX.cast_unsigned() / 32 || align > isize::MAX.cast_unsigned() / 32 {
            return Self::IMPOSSIBLE;
        }
        let block = Self::block(layout);
        let stride = Self::stride(size, align);
        // A few bits too many: the header takes room too.
        let words = (block / stride).div_ceil(64);
        let first = (Self::HEADER + 8 * words).next_multiple_of(if align > LINE { align } else { LINE });
        Self { block, stride, first, words, cells: (block - first) / stride }
    }

    /// The size of the block alone, cheaply: what a slot masks its address with.
    #[inline]
    pub(super) const fn block(layout: Layout) -> usize {
        let (size, align) = (layout.size(), layout.align());
        if size <= SMALL && align <= SMALL {
            return MIN_BLOCK;
        }
        // The header and its bitmap of one word or two, at the alignment of a cell, then the cells.
        let block = (Self::stride(size, align) * MIN_CELLS + align + 4 * LINE).next_power_of_two();
        if block < MIN_BLOCK { MIN_BLOCK } else { block }
    }

    #[inline]
    const fn stride(size: usize, align: usize) -> usize {
        let (size, align) = (if size < 8 { 8 } else { size }, if align < 8 { 8 } else { align });
        let stride = size.next_multiple_of(align);
        if stride % ALIASED == 0 && align <= 2 * LINE {
            stride + if align > LINE { align } else { LINE }
        } else {
            stride
        }
    }

    /// The bytes of a chunk of this many cells, or `None` if there is no such chunk.
    pub(super) fn chunk(&self, cells: usize) -> Option<Layout> {
        let before = cells.checked_sub(1)?.checked_div(self.cells)?;
        let last = self.first + (cells - before * self.cells) * self.stride;
        let size = before.checked_mul(self.block)?.checked_add(last)?;
        Layout::from_size_align(size, self.block).ok()
    }

    /// The offset at which the cell with this index begins.
    pub(super) const fn offset(&self, index: usize) -> usize {
        self.first + index * self.stride
    }

    /// The index of the cell that begins at this offset.
    pub(super) const fn index(&self, offset: usize) -> usize {
        (offset - self.first) / self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::Geometry;
    use core::alloc::Layout;

    #[test]
    fn cells_are_inside_their_block() {
        let mut seen = 0;
        for shift in 0..30 {
            let align = 1_usize << shift;
            for size in [0, 1, 7, 8, 9, 64, 100, 1000, 1024, 4096, 4097, 65536, 100_000, 1 << 24, usize::MAX >> 6] {
                let Some(size) = size.checked_next_multiple_of(align) else { continue };
                let Ok(layout) = Layout::from_size_align(size, align) else { continue };
                let geometry = Geometry::of(layout);
                if geometry.cells == 0 {
                    assert!(size > usize::MAX >> 7, "{layout:?}");
                    continue;
                }
                seen += 1;
                assert!(geometry.cells >= 3, "{layout:?} {geometry:?}");
                assert!(geometry.block.is_power_of_two() && geometry.block >= align);
                assert!(geometry.stride >= size.max(8) && geometry.stride.is_multiple_of(align.max(8)));
                assert!(
                    Geometry::HEADER + geometry.words * 8 <= geometry.first && geometry.words * 64 >= geometry.cells
                );
                assert!(geometry.first.is_multiple_of(align.max(64)));
                assert!(geometry.offset(geometry.cells) <= geometry.block);
                assert_eq!(geometry.index(geometry.offset(geometry.cells - 1)), geometry.cells - 1);
                let chunk = geometry.chunk(geometry.cells).unwrap();
                assert!(chunk.size() <= geometry.block && chunk.align() == geometry.block);
                let chunk = geometry.chunk(geometry.cells + 1).unwrap();
                assert_eq!(chunk.size(), geometry.block + geometry.offset(1));
                assert_eq!(geometry.chunk(0), None);
                assert_eq!(geometry.chunk(usize::MAX), None);
            }
        }
        assert!(seen > 200);
    }

    #[test]
    fn a_value_too_large_has_no_place() {
        let size = (isize::MAX.cast_unsigned() / 32 + 1).next_multiple_of(8);
        let geometry = Geometry::of(Layout::from_size_align(size, 8).unwrap());
        assert_eq!((geometry.cells, geometry.chunk(1)), (0, None));
    }

    #[test]
    fn large_powers_of_two_are_coloured() {
        for size in [1024, 4096, 65536] {
            assert_eq!(Geometry::of(Layout::from_size_align(size, 8).unwrap()).stride, size + 64);
        }
        assert_eq!(Geometry::of(Layout::from_size_align(4096, 4096).unwrap()).stride, 4096);
    }
}

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

/// Cells of the first chunk. With these ten values of 64 bytes, slab and all, take less than twice the bytes of ten boxes
/// (`ten_values_are_small` in `tests/slab.rs`); with 16 they do not.
pub(super) const FIRST_CELLS: usize = 12;

/// The most small blocks: those of values of 8 bytes.
pub(super) const MOST_SMALL: usize = (MIN_BLOCK / 8).div_ceil(FIRST_CELLS).next_power_of_two().ilog2() as usize;

/// How a block is divided into cells for values of one layout.
///
/// ```text
/// 0        first    first + stride             offset(n)
/// ┌────────┬────────┬────────┬─────┬────────────┬─────────────────────┐
/// │ Header │ cell 0 │ cell 1 │ ..  │ cell n - 1 │ leaked: a bit each  │
/// └────────┴────────┴────────┴─────┴────────────┴─────────────────────┘
/// ```
///
/// The last block of a chunk may have fewer cells, and is shorter then.
///
/// Cells are numbered, block by block. A slab grows by small blocks first, the next always twice the last. These have the
/// numbers `0..small`, for as many cells as such a block has, so that the cells of a small slab are numbered without a gap. Each
/// number from `small` on is for a whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    // # Invariants, unless `cells` is 0
    //
    // 1. `block` is a power of two, at least `align`, and at most `isize::MAX / 2`.
    // 2. `stride` is at least the value's size and 8, and a multiple of its alignment and of 8.
    // 3. `first` is at least `HEADER`, and a multiple of the value's alignment and of `LINE`.
    // 4. `size(cells) <= block`.
    /// The size and alignment of a block, in bytes.
    pub(super) block: usize,
    /// Bytes from one cell to the next.
    pub(super) stride: usize,
    /// Bytes from the block's start to its first cell.
    first: usize,
    /// Cells in a block. 0 when a value is too large for any.
    pub(super) cells: usize,
    /// Numbers of small blocks: at most `MOST_SMALL`.
    pub(super) small: usize,
}

impl Geometry {
    /// The most bytes that a block's header has.
    pub(super) const HEADER: usize = LINE;

    /// The largest layout, for the error of an allocation that exceeds all layouts.
    pub(super) const LARGEST: Layout = match Layout::from_size_align(isize::MAX.cast_unsigned(), 1) {
        Ok(layout) => layout,
        Err(_) => panic!("a layout of isize::MAX bytes"),
    };

    /// How values of this layout are stored.
    pub(super) const fn of(layout: Layout) -> Self {
        let (size, align) = (layout.size(), layout.align());
        // Nothing below overflows: at most 8 times this is added up.
        if size > isize::MAX.cast_unsigned() / 32 || align > isize::MAX.cast_unsigned() / 32 {
            return Self { block: MIN_BLOCK, stride: 8, first: LINE, cells: 0, small: 0 };
        }
        let block = Self::block(layout);
        let stride = Self::stride(size, align);
        let first = if align > LINE { align } else { LINE };
        // A word too many at most: the bitmap takes bytes too.
        let bitmap = 8 * ((block - first) / stride).div_ceil(64);
        let cells = (block - first - bitmap) / stride;
        let small = cells.div_ceil(FIRST_CELLS).next_power_of_two().ilog2() as usize;
        assert!(small <= MOST_SMALL);
        Self { block, stride, first, cells, small }
    }

    /// Only the size of the block, cheaply: a slot masks its address with it.
    #[inline]
    pub(super) const fn block(layout: Layout) -> usize {
        let (size, align) = (layout.size(), layout.align());
        if size <= SMALL && align <= SMALL {
            return MIN_BLOCK;
        }
        // The header, at the alignment of a cell, then the cells and their bitmap of one word or two.
        let block = (Self::stride(size, align) * MIN_CELLS + align + 2 * LINE).next_power_of_two();
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

    /// The bytes of a block of this many cells: at most `self.cells`.
    const fn size(&self, cells: usize) -> usize {
        self.offset(cells) + 8 * cells.div_ceil(64)
    }

    /// The bytes of a chunk of this many cells, or `None` if there is no such chunk.
    pub(super) fn chunk(&self, cells: usize) -> Option<Layout> {
        let before = cells.checked_sub(1)?.checked_div(self.cells)?;
        let last = self.size(cells - before * self.cells);
        let size = before.checked_mul(self.block)?.checked_add(last)?;
        Layout::from_size_align(size, self.block).ok()
    }

    /// The position of the first cell of the block with this number, or of none if that is more than there are.
    pub(super) const fn position(&self, number: usize) -> usize {
        match number.checked_sub(self.small) {
            None => FIRST_CELLS * ((1 << number) - 1),
            Some(whole) => self.small_cells().saturating_add(whole.saturating_mul(self.cells)),
        }
    }

    /// The number of a cell's block, and the cell's index in the block, if there are blocks.
    pub(super) fn locate(&self, position: usize) -> Option<(usize, usize)> {
        let Some(behind) = position.checked_sub(self.small_cells()) else {
            let number = (position / FIRST_CELLS + 1).ilog2() as usize;
            return Some((number, position - FIRST_CELLS * ((1 << number) - 1)));
        };
        Some((self.small + behind.checked_div(self.cells)?, behind % self.cells))
    }

    /// Cells of all small blocks.
    const fn small_cells(&self) -> usize {
        FIRST_CELLS * ((1 << self.small) - 1)
    }

    /// The offset at which the cell with this index begins, or the bitmap of a block of so many cells.
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
        for shift in (0..30).step_by(if cfg!(miri) { 6 } else { 1 }) {
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
                assert!(Geometry::HEADER <= geometry.first && geometry.first.is_multiple_of(align.max(64)));
                assert!(geometry.size(geometry.cells) <= geometry.block);
                assert!(geometry.size(geometry.cells) - geometry.offset(geometry.cells) >= geometry.cells.div_ceil(8));
                assert!(geometry.size(geometry.cells + 3) > geometry.block, "{layout:?}: cells are wasted");
                assert_eq!(geometry.index(geometry.offset(geometry.cells - 1)), geometry.cells - 1);
                let chunk = geometry.chunk(geometry.cells).unwrap();
                assert!(chunk.size() <= geometry.block && chunk.align() == geometry.block);
                let chunk = geometry.chunk(geometry.cells + 1).unwrap();
                assert_eq!(chunk.size(), geometry.block + geometry.size(1));
                assert_eq!(geometry.chunk(0), None);
                let mut position = 0;
                for number in 0..geometry.small + 3 {
                    assert_eq!(geometry.position(number), position);
                    assert_eq!(geometry.locate(position), Some((number, 0)));
                    let cells = geometry.position(number + 1) - position;
                    assert!(0 < cells && cells <= geometry.cells);
                    position += cells;
                    assert_eq!(geometry.locate(position - 1), Some((number, cells - 1)));
                }
                assert_eq!(geometry.chunk(usize::MAX), None);
            }
        }
        assert!(seen > if cfg!(miri) { 30 } else { 200 });
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

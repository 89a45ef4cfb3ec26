//! The positions of cells in a block: arithmetic on sizes, without pointers and without an allocator.
#![forbid(unsafe_code)]

use core::alloc::Layout;

/// The minimum size of a block, in bytes.
pub(super) const MIN_BLOCK: usize = 64 * 1024;

/// The size and alignment up to which the blocks of values always have [`MIN_BLOCK`] bytes.
const SMALL: usize = MIN_BLOCK / 16;

/// Cells whose stride is a multiple of this many bytes compete for the same few cache sets.
const ALIASED: usize = 1024;

/// The size of a cache line. A stride that is a multiple of [`ALIASED`] is lengthened by one line, or by the alignment
/// if that is two lines. The first cell of a block is aligned to at least one line.
const LINE: usize = 64;

/// The minimum number of cells in a whole block.
const MIN_CELLS: usize = 4;

/// The number of cells in the first chunk. With 12, ten values of 64 bytes and their slab take less than twice the
/// bytes of ten boxes (`ten_values_take_at_most_twice_the_bytes_of_boxes` in `tests/slab.rs`); with 16 they do not.
pub(super) const FIRST_CELLS: usize = 12;

/// The maximum size of a starter, in bytes: one page. `shrink_to_fit` keeps the starter of a slab with values.
const LARGEST_STARTER: usize = 4096;

/// The maximum number of small blocks in a slab, which a slab of 8-byte values has.
pub(super) const MOST_SMALL: usize = (MIN_BLOCK / 8).div_ceil(FIRST_CELLS).next_power_of_two().ilog2() as usize;

/// The division of a block into cells for values of one layout.
///
/// ```text
/// 0        first    first + stride             offset(n)
/// ┌────────┬────────┬────────┬─────┬────────────┬─────────────────────┐
/// │ Header │ cell 0 │ cell 1 │ ..  │ cell n - 1 │ leaked: a bit each  │
/// └────────┴────────┴────────┴─────┴────────────┴─────────────────────┘
/// ```
///
/// The last block of a chunk may have fewer cells and is then shorter.
///
/// Cells are numbered block by block. A slab first grows by small blocks, each with twice the cells of the one before.
/// Small blocks have the numbers `0..small`. Number `n` reserves the cell numbers of `FIRST_CELLS << n` cells, exactly
/// those of its block, so the cells of a small slab are numbered without gaps. Each block number from `small` on
/// reserves the cell numbers of a whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    // # Invariants of a geometry with cells
    //
    // 1. `block` is a power of two, at least the value's alignment, and at most `isize::MAX / 2`.
    // 2. `stride` is at least the value's size and 8, and a multiple of its alignment and of 8.
    // 3. `first` is at least `HEADER`, and a multiple of the value's alignment and of `LINE`.
    // 4. `size(cells) <= block`.
    /// The size and alignment of a block, in bytes.
    pub(super) block: usize,
    /// The number of bytes from one cell to the next.
    pub(super) stride: usize,
    /// The number of bytes from the block's start to its first cell.
    first: usize,
    /// The number of cells in a whole block, or 0 if a value is too large for any block.
    pub(super) cells: usize,
    /// The number of small blocks, at most `MOST_SMALL`.
    pub(super) small: usize,
}

impl Geometry {
    /// The maximum size of a block's header, in bytes.
    pub(super) const HEADER: usize = LINE;

    /// The largest layout, which errors report for a request that exceeds every layout.
    pub(super) const LARGEST: Layout = match Layout::from_size_align(isize::MAX.cast_unsigned(), 1) {
        Ok(layout) => layout,
        Err(_) => panic!("a layout of isize::MAX bytes"),
    };

    /// Returns the geometry of blocks for values of this layout.
    ///
    /// It is inlined: where the layout is a constant, so is the geometry.
    #[inline]
    pub(super) const fn of(layout: Layout) -> Self {
        let (size, align) = (layout.size(), layout.align());
        // Below this limit nothing overflows: no sum exceeds 8 times the limit.
        if size > isize::MAX.cast_unsigned() / 32 || align > isize::MAX.cast_unsigned() / 32 {
            return Self { block: MIN_BLOCK, stride: 8, first: LINE, cells: 0, small: 0 };
        }
        let block = Self::block(layout);
        let stride = Self::stride(size, align);
        let first = if align > LINE { align } else { LINE };
        // At most one word too many, because this ignores the bytes of the bitmap itself.
        let bitmap = 8 * ((block - first) / stride).div_ceil(64);
        let cells = (block - first - bitmap) / stride;
        let small = cells.div_ceil(FIRST_CELLS).next_power_of_two().ilog2() as usize;
        assert!(small <= MOST_SMALL);
        Self { block, stride, first, cells, small }
    }

    /// Returns only the size of a block. This is cheap, because every drop masks an address with it.
    #[inline]
    pub(super) const fn block(layout: Layout) -> usize {
        let (size, align) = (layout.size(), layout.align());
        if size <= SMALL && align <= SMALL {
            return MIN_BLOCK;
        }
        // The header padded to the alignment of a cell, the cells, and their bitmap of one or two words.
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

    /// Returns the size in bytes of a block with this many cells, which are at most `self.cells`.
    const fn size(&self, cells: usize) -> usize {
        self.offset(cells) + 8 * cells.div_ceil(64)
    }

    /// Returns the layout of a chunk with this many cells. `None` for 0 cells, for values too large for any block, and
    /// on overflow.
    pub(super) fn chunk(&self, cells: usize) -> Option<Layout> {
        let before = cells.checked_sub(1)?.checked_div(self.cells)?;
        let last = self.size(cells - before * self.cells);
        let size = before.checked_mul(self.block)?.checked_add(last)?;
        Layout::from_size_align(size, self.block).ok()
    }

    /// Returns the layout of a starter with a core of this layout, and with `ahead` words below the bottom of its free stack, or
    /// `None` if it would be too large, or if a block has no more cells than a starter.
    pub(super) fn starter(&self, core: Layout, ahead: usize) -> Option<Starter> {
        if self.small == 0 {
            return None;
        }
        let core_at = self.size(FIRST_CELLS).next_multiple_of(core.align());
        let stack_at = (core_at + core.size()).next_multiple_of(align_of::<usize>());
        let size = stack_at + (ahead + FIRST_CELLS) * size_of::<usize>();
        let layout = Layout::from_size_align(size, self.block.max(core.align())).ok()?;
        (size <= LARGEST_STARTER).then_some(Starter { layout, core_at, stack_at })
    }

    /// Returns the position of the first cell of the block with this number. It saturates for numbers that no block
    /// has.
    pub(super) const fn position(&self, number: usize) -> usize {
        match number.checked_sub(self.small) {
            None => FIRST_CELLS * ((1 << number) - 1),
            Some(whole) => self.small_cells().saturating_add(whole.saturating_mul(self.cells)),
        }
    }

    /// Returns the number of the block with the cell at this position, and the cell's index in the block. `None` if
    /// values are too large for any block.
    #[inline]
    pub(super) fn locate(&self, position: usize) -> Option<(usize, usize)> {
        let Some(behind) = position.checked_sub(self.small_cells()) else {
            let number = (position / FIRST_CELLS + 1).ilog2() as usize;
            return Some((number, position - FIRST_CELLS * ((1 << number) - 1)));
        };
        Some((self.small + behind.checked_div(self.cells)?, behind % self.cells))
    }

    /// Returns the number of cells in all small blocks.
    const fn small_cells(&self) -> usize {
        FIRST_CELLS * ((1 << self.small) - 1)
    }

    /// Returns the offset of the cell with this index. If a block has `index` cells, this is the offset of its bitmap.
    pub(super) const fn offset(&self, index: usize) -> usize {
        self.first + index * self.stride
    }

    /// Returns the index of the cell that begins at this offset.
    pub(super) const fn index(&self, offset: usize) -> usize {
        (offset - self.first) / self.stride
    }
}

/// A *starter*: a first chunk that also contains the core of its slab, and a free stack for its cells.
///
/// ```text
/// 0                                     core_at    stack_at
/// ┌────────┬────────┬─────┬────────────┬──────────┬─────────────┐
/// │ Header │ cell 0 │ ..  │ leaked bits│ Core     │ a word each │
/// └────────┴────────┴─────┴────────────┴──────────┴─────────────┘
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Starter {
    // # Invariants
    //
    // 1. The block of `FIRST_CELLS` cells, the core and the free stack for as many do not overlap, are aligned, and are inside
    //    `layout`.
    // 2. `layout` is aligned to a block.
    // 3. The geometry has small blocks, of which the first has `FIRST_CELLS` cells.
    pub(super) layout: Layout,
    /// The offset of the core.
    pub(super) core_at: usize,
    /// The offset of the free stack.
    pub(super) stack_at: usize,
}

#[cfg(test)]
mod tests {
    use super::{FIRST_CELLS, Geometry};
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
    fn parts_of_a_starter_do_not_overlap() {
        let core = Layout::from_size_align(300, 8).unwrap();
        for size in [0, 1, 8, 64, 100, 256] {
            for align in [1, 8, 64, 128] {
                let geometry = Geometry::of(Layout::from_size_align(size, align).unwrap().pad_to_align());
                let starter = geometry.starter(core, 4).unwrap();
                assert!(geometry.size(FIRST_CELLS) <= starter.core_at && starter.core_at.is_multiple_of(8));
                assert!(starter.core_at + 300 <= starter.stack_at && starter.stack_at.is_multiple_of(8));
                assert_eq!(starter.stack_at + 8 * (4 + FIRST_CELLS), starter.layout.size());
                assert!(starter.layout.align() == geometry.block && starter.layout.size() <= 4096);
            }
        }
        assert!(Geometry::of(Layout::from_size_align(400, 8).unwrap()).starter(core, 0).is_none());
        assert!(Geometry::of(Geometry::LARGEST).starter(core, 0).is_none());
    }

    #[test]
    fn too_large_value_has_no_cells() {
        let size = (isize::MAX.cast_unsigned() / 32 + 1).next_multiple_of(8);
        let geometry = Geometry::of(Layout::from_size_align(size, 8).unwrap());
        assert_eq!((geometry.cells, geometry.chunk(1)), (0, None));
    }

    #[test]
    fn large_powers_of_two_get_cache_colouring() {
        for size in [1024, 4096, 65536] {
            assert_eq!(Geometry::of(Layout::from_size_align(size, 8).unwrap()).stride, size + 64);
        }
        assert_eq!(Geometry::of(Layout::from_size_align(4096, 4096).unwrap()).stride, 4096);
    }
}

//! Finds blocks by address. A search through the addresses of ten million blocks misses the cache at nearly every step, so a
//! bitmap tells where blocks begin. With the number of blocks before each word of it, one access answers.

use crate::capture::Block;

/// The addresses of a cell at which blocks may begin.
const SLOTS: u64 = 64;
/// The distance of two blocks between which there are no cells.
const FAR: u64 = 1 << 20;
/// Blocks begin at multiples of at most `1 << ALIGNED` bytes, as far as the bitmap knows.
const ALIGNED: u32 = 4;

/// The blocks that begin in each cell.
#[derive(Debug)]
pub(super) struct Index {
    ranges: Vec<Range>,
    cells: Vec<Cell>,
}

/// Blocks that are close together.
#[derive(Debug)]
struct Range {
    /// The first address of the first cell.
    start: u64,
    /// The blocks begin at multiples of `1 << shift` bytes.
    shift: u32,
    /// The first cell.
    from: usize,
    /// The number of cells.
    count: usize,
    /// One past the number of the last block.
    end: u32,
}

/// Addresses of adjacent memory.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// A bit for each address: whether a block begins there.
    starts: u64,
    /// The number of blocks that begin before the cell.
    before: u32,
}

impl Index {
    /// `blocks` are sorted by address.
    pub(super) fn new(blocks: &[Block]) -> Self {
        let (mut ranges, mut cells, mut end) = (Vec::new(), 0, 0_u32);
        for blocks in blocks.chunk_by(|last, next| next.addr - last.addr <= FAR) {
            let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { continue };
            let shift = blocks.iter().fold(1 << ALIGNED, |all, block| all | block.addr).trailing_zeros();
            let start = first.addr / (SLOTS << shift) * (SLOTS << shift);
            let count = (((last.addr - start) >> shift) / SLOTS) as usize + 1;
            end = end.saturating_add(u32::try_from(blocks.len()).unwrap_or(u32::MAX));
            ranges.push(Range { start, shift, from: cells, count, end });
            cells += count;
        }
        let mut index = Self { ranges, cells: Vec::with_capacity(cells) };
        let mut number = 0;
        for range in &index.ranges {
            let of_range = blocks.get(number as usize..range.end as usize).unwrap_or_default();
            for block in of_range {
                let slot = (block.addr - range.start) >> range.shift;
                let cell = range.from + (slot / SLOTS) as usize;
                index.cells.resize(index.cells.len().max(cell + 1), Cell { starts: 0, before: number });
                index.cells[cell].starts |= 1 << (slot % SLOTS);
                number += 1;
            }
        }
        index
    }

    /// Returns the range that begins at or before an address.
    fn range(&self, addr: u64) -> Option<&Range> {
        self.ranges.get(self.ranges.partition_point(|range| range.start <= addr).checked_sub(1)?)
    }

    /// Returns the cell around an address of a range, and the slot of the address in it.
    fn cell(&self, range: &Range, addr: u64) -> Option<(Cell, u64)> {
        let slot = (addr - range.start) >> range.shift;
        let cell = usize::try_from(slot / SLOTS).ok().filter(|cell| *cell < range.count)?;
        Some((*self.cells.get(range.from + cell)?, slot % SLOTS))
    }

    /// Returns the block that begins at an address.
    pub(super) fn at(&self, addr: u64) -> Option<usize> {
        let range = self.range(addr)?;
        let (cell, slot) = self.cell(range, addr)?;
        let is_start = cell.starts >> slot & 1 != 0 && addr.is_multiple_of(1 << range.shift);
        is_start.then(|| (cell.before + (cell.starts & ((1 << slot) - 1)).count_ones()) as usize)
    }

    /// Returns the last block that begins at or before an address.
    pub(super) fn before(&self, addr: u64) -> Option<usize> {
        let range = self.range(addr)?;
        let count = match self.cell(range, addr) {
            Some((cell, slot)) => cell.before + (cell.starts & (u64::MAX >> (SLOTS - 1 - slot))).count_ones(),
            None => range.end,
        };
        (count as usize).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_before_an_address_is_found() {
        for count in [0, 1, 63, 64, 65, 200] {
            let blocks: Vec<Block> =
                (0..count).map(|number| Block { addr: 100 + 3 * number, size: 2, stack: 0, weight: 1 }).collect();
            check(&blocks, 90..110 + 3 * count);
        }
        let far = [5, 250, 260, 700, 256 * 5000, FAR * 4, FAR * 4 + 900, FAR * 5 + 901, FAR * 9];
        let blocks: Vec<Block> = far.iter().map(|addr| Block { addr: *addr, size: 2, stack: 0, weight: 1 }).collect();
        check(&blocks, far.iter().flat_map(|addr| [addr - 1, *addr, addr + 1, addr + 255, addr + 257, addr + FAR]));
    }

    fn check(blocks: &[Block], all: impl IntoIterator<Item = u64>) {
        let index = Index::new(blocks);
        for addr in all {
            let wanted = blocks.iter().rposition(|block| block.addr <= addr);
            assert_eq!(index.before(addr), wanted, "{addr}");
            assert_eq!(index.at(addr), wanted.filter(|block| blocks[*block].addr == addr), "{addr}");
        }
    }
}

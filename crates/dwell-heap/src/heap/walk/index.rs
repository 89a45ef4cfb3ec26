//! Finds blocks by address. A search through the addresses of ten million blocks misses the cache at nearly every step, so a
//! table tells for each 256 bytes of the heap which blocks begin there.

use crate::capture::Block;

/// The bytes of a cell.
const CELL: u64 = 256;
/// The distance of two blocks between which there are no cells.
const FAR: u64 = 1 << 20;

/// The blocks that begin in each cell.
#[derive(Debug)]
pub(super) struct Index {
    ranges: Vec<Range>,
    /// The number of the first block that begins in each cell or after it, and at the end of a range that of the next range.
    cells: Vec<u32>,
}

/// Blocks that are close together.
#[derive(Debug)]
struct Range {
    start: u64,
    /// The first cell.
    from: usize,
    /// The number of cells.
    count: usize,
}

impl Index {
    /// `blocks` are sorted by address.
    pub(super) fn new(blocks: &[Block]) -> Self {
        let mut index = Self { ranges: Vec::new(), cells: Vec::new() };
        for (number, block) in (0_u32..).zip(blocks) {
            let last = number.checked_sub(1).and_then(|before| blocks.get(before as usize));
            if last.is_none_or(|last| block.addr - last.addr > FAR) {
                index.close(number);
                index.ranges.push(Range { start: block.addr, from: index.cells.len(), count: 0 });
            }
            let Some(range) = index.ranges.last() else { continue };
            let cells = range.from + ((block.addr - range.start) / CELL) as usize + 1;
            index.cells.resize(cells.max(index.cells.len()), number);
        }
        index.close(u32::try_from(blocks.len()).unwrap_or(u32::MAX));
        index
    }

    /// Ends the last range before the block `next`.
    fn close(&mut self, next: u32) {
        if let Some(range) = self.ranges.last_mut() {
            range.count = self.cells.len() - range.from;
            self.cells.push(next);
        }
    }

    /// Returns the last block that begins at or before an address.
    pub(super) fn before(&self, blocks: &[Block], addr: u64) -> Option<usize> {
        let range = &self.ranges[self.ranges.partition_point(|range| range.start <= addr).checked_sub(1)?];
        let cell = usize::try_from((addr - range.start) / CELL).unwrap_or(usize::MAX);
        if cell >= range.count {
            return (*self.cells.get(range.from + range.count)? as usize).checked_sub(1);
        }
        let [from, to] = [cell, cell + 1].map(|cell| self.cells[range.from + cell] as usize);
        let near = blocks.get(from..to)?;
        (from + near.iter().take_while(|block| block.addr <= addr).count()).checked_sub(1)
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
            assert_eq!(index.before(blocks, addr), wanted, "{addr}");
        }
    }
}

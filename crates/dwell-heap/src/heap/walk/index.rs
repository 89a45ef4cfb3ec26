//! Finds blocks by address. A search through the addresses of ten million blocks misses the cache at nearly every step, so
//! every 64th one is in a table of its own.

use crate::capture::Block;

const EVERY: usize = 64;

/// The addresses of every 64th block.
#[derive(Debug)]
pub(super) struct Index {
    starts: Vec<u64>,
}

impl Index {
    /// `blocks` are sorted by address.
    pub(super) fn new(blocks: &[Block]) -> Self {
        Self { starts: blocks.iter().step_by(EVERY).map(|block| block.addr).collect() }
    }

    /// Returns the last block that begins at or before an address.
    pub(super) fn before(&self, blocks: &[Block], addr: u64) -> Option<usize> {
        let from = EVERY * self.starts.partition_point(|start| *start <= addr).checked_sub(1)?;
        let near = blocks.get(from..blocks.len().min(from + EVERY))?;
        (from + near.partition_point(|block| block.addr <= addr)).checked_sub(1)
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
            let index = Index::new(&blocks);
            for addr in 90..110 + 3 * count {
                let wanted = blocks.iter().rposition(|block| block.addr <= addr);
                assert_eq!(index.before(&blocks, addr), wanted, "{count} {addr}");
            }
        }
    }
}

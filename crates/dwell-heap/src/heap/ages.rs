//! Since which snapshot the blocks live.

use crate::capture::{Block, Snapshot};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Returns for each block of each snapshot the number of the first snapshot since which it lives: in all between there was a block
/// with its address, size and call stack. That may be another one, which was freed in the meantime.
pub(crate) fn find(snapshots: &[Snapshot]) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = Vec::new();
    let mut before: (&[Block], Vec<u64>) = (&[], Vec::new());
    for (number, snapshot) in (0..).zip(snapshots) {
        let hash = |stack: &Vec<u64>| FixedState::with_seed(1).hash_one(stack);
        let stacks: Vec<u64> = snapshot.stacks.iter().map(hash).collect();
        let stack = |stacks: &[u64], stack: u32| stacks.get(stack as usize).copied();
        let mut at = 0;
        let of_block = |block: &Block| {
            while before.0.get(at).is_some_and(|old| old.addr < block.addr) {
                at += 1;
            }
            let is_it = |old: &&Block| {
                (old.addr, old.size) == (block.addr, block.size)
                    && stack(&before.1, old.stack) == stack(&stacks, block.stack)
            };
            let old = before.0.get(at).filter(is_it).and(all.last()).and_then(|ages| ages.get(at));
            old.copied().unwrap_or(number)
        };
        let ages = snapshot.blocks.iter().map(of_block).collect();
        before = (&snapshot.blocks, stacks);
        all.push(ages);
    }
    all
}

//! The size classes of mimalloc and jemalloc: multiples of 16 bytes up to 128, then four for each doubling.

use crate::capture::Block;

const LEAST: u64 = 8;
const QUANTUM: u64 = 16;
/// From here on there are four classes for each doubling.
const GEOMETRIC: u64 = 128;
/// Larger blocks are rounded to pages.
const LARGE: u64 = 512 << 10;
const PAGE: u64 = 4096;

/// Returns the bytes that a block of this size takes.
fn class(size: u64) -> u64 {
    match size {
        _ if size <= LEAST => LEAST,
        _ if size <= GEOMETRIC => size.next_multiple_of(QUANTUM),
        _ if size <= LARGE => size.next_multiple_of(1 << ((size - 1).ilog2() - 2)),
        _ => size.checked_next_multiple_of(PAGE).unwrap_or(size),
    }
}

/// Adds the rounding to what blocks take. It changes nothing if blocks are closer together than their classes: then they
/// are of another allocator.
pub(super) fn round(blocks: &[Block], is_known: &[bool], taken: &mut [(u64, u64)]) {
    let end_of =
        |number: usize| (!is_known[number]).then(|| blocks[number].addr.saturating_add(class(blocks[number].size)));
    let overlaps =
        |number: usize| end_of(number).zip(blocks.get(number + 1)).is_some_and(|(end, next)| end > next.addr);
    if (0..blocks.len()).filter(|number| overlaps(*number)).count() > blocks.len() / 1000 {
        return;
    }
    for (number, taken) in taken.iter_mut().enumerate() {
        let next = blocks.get(number + 1).map_or(u64::MAX, |next| next.addr);
        if let Some(end) = end_of(number) {
            taken.1 = end.min(next).max(taken.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_rounded_to_their_class() {
        let classes = [0, 8, 9, 17, 48, 113, 128, 129, 161, 256, 257, 1025, 20_000].map(class);
        assert_eq!(classes, [8, 8, 16, 32, 48, 128, 128, 160, 192, 256, 320, 1280, 20_480]);
        assert_eq!(class((1 << 20) + 1), (1 << 20) + 4096);
    }

    #[test]
    fn blocks_that_are_closer_are_of_another_allocator() {
        let block = |addr, size| Block { addr, size, stack: 0, weight: 1 };
        let far = [block(0x1000, 129), block(0x10a0, 129), block(0x2000, 20)];
        let mut taken = far.map(|block| (block.addr, block.addr + block.size));
        round(&far, &[false, false, true], &mut taken);
        assert_eq!(taken, [(0x1000, 0x10a0), (0x10a0, 0x1140), (0x2000, 0x2014)]);
        let close = [block(0x1000, 129), block(0x1090, 129)];
        let before = close.map(|block| (block.addr, block.addr + block.size));
        let mut taken = before;
        round(&close, &[false, false], &mut taken);
        assert_eq!(taken, before);
    }
}

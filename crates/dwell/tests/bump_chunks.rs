//! `Bump::chunks`: if all values have one alignment of at least `MIN_ALIGN` and no padding, a chunk has no other bytes.
//!
//! Miri checks that all of them are initialised.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_ptr_alignment,
    reason = "numbers may wrap, and the alignment of chunks is checked"
)]

use dwell::{Bump, bump};
use std::mem::MaybeUninit;

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// A number without padding, whose alignment is its size.
trait Number: Copy + PartialEq + std::fmt::Debug + 'static {
    fn new(n: usize) -> Self;
    /// Reads the numbers in a chunk.
    fn read(chunk: &[MaybeUninit<u8>]) -> Vec<Self>;
}

macro_rules! numbers {
    ($($Number:ident)*) => {$(
        impl Number for $Number {
            fn new(n: usize) -> Self {
                n as $Number
            }

            fn read(chunk: &[MaybeUninit<u8>]) -> Vec<Self> {
                assert!(chunk.len() % size_of::<Self>() == 0 && chunk.as_ptr().cast::<Self>().is_aligned());
                let numbers = std::ptr::slice_from_raw_parts(chunk.as_ptr().cast::<Self>(), chunk.len() / size_of::<Self>());
                // SAFETY: the test allocates only numbers of this type, so a chunk has initialised numbers and nothing else.
                unsafe { &*numbers }.to_vec()
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 u128);

/// The address of a block and the numbers in it, oldest block first.
struct Model<T> {
    blocks: Vec<(usize, Vec<T>)>,
    next: usize,
}

impl<T: Number> Model<T> {
    /// Returns `count` new numbers.
    fn values(&mut self, count: usize) -> Vec<T> {
        let first = self.next;
        self.next += count;
        (first..self.next).map(T::new).collect()
    }

    fn add(&mut self, block: &[T]) {
        if !block.is_empty() {
            self.blocks.push((block.as_ptr().addr(), block.to_vec()));
        }
    }

    /// Compares the chunks with the blocks: each chunk consists of blocks, and each block is in one chunk. If vectors grew,
    /// a chunk may also have the old numbers of one that moved.
    fn check<const MIN_ALIGN: usize>(&self, bump: &mut Bump<MIN_ALIGN>, grew: bool) {
        let mut found = 0;
        for chunk in bump.chunks() {
            let (start, end) = (chunk.as_ptr().addr(), chunk.as_ptr().addr() + chunk.len());
            let mut inside: Vec<_> = self.blocks.iter().filter(|(at, _)| (start..end).contains(at)).collect();
            let oldest_first = inside.clone();
            inside.sort_by_key(|(at, _)| *at);
            assert!(inside.iter().zip(&oldest_first).all(|(a, b)| a.0 == b.0), "within a chunk the oldest is first");
            let read = T::read(chunk);
            for (at, values) in &inside {
                assert!(read[(at - start) / size_of::<T>()..][..values.len()] == **values);
            }
            let expected: usize = inside.iter().map(|(_, values)| values.len()).sum();
            assert!(read.len() == expected || grew, "{} numbers in a chunk instead of {expected}", read.len());
            found += inside.len();
        }
        assert_eq!(found, self.blocks.len());
    }
}

/// Runs a random program, in which vectors grow or not.
fn run<T: Number, const MIN_ALIGN: usize>(seed: u64, grow: bool) {
    let mut random = Random(seed);
    let mut bump = Bump::<MIN_ALIGN>::with_min_align();
    let mut model = Model::<T> { blocks: Vec::new(), next: 1 };
    let rounds = if cfg!(miri) { 2 } else { 4 };
    for _ in 0..rounds {
        for _ in 0..random.below(if cfg!(miri) { 10 } else { 30 }) {
            step(&mut random, &bump, &mut model, grow);
        }
        model.check(&mut bump, grow);
        if random.below(3) == 0 {
            bump.reset();
            model.blocks.clear();
            model.check(&mut bump, grow);
        }
    }
}

fn step<T: Number, const MIN_ALIGN: usize>(
    random: &mut Random,
    bump: &Bump<MIN_ALIGN>,
    model: &mut Model<T>,
    grow: bool,
) {
    // Half a chunk of 16 KiB, or more than one.
    let large = [9_000, 17_000, 33_000][random.below(3)] / size_of::<T>() + random.below(9);
    let small = random.below(40);
    match random.below(if grow { 12 } else { 9 }) {
        0..3 => {
            let values = model.values(1);
            model.add(std::slice::from_ref(bump.alloc(values[0])));
        }
        3 => {
            let values = model.values(small);
            model.add(bump.alloc_slice_copy(&values));
        }
        4 => {
            let values = model.values(large);
            model.add(bump.alloc_slice_copy(&values));
        }
        9 => {
            // An iterator of unknown length: the slice grows, and shrinks at the end.
            let values = model.values(if random.below(4) == 0 { large } else { small });
            model.add(bump.alloc_iter(values.iter().copied().filter(|_| true)));
        }
        10 => {
            // A vector that grows, shrinks and grows again, beside other blocks if it has the newest chunk of its own: a
            // block that moves leaves its old bytes behind.
            let values = model.values(large);
            let mut vec = bump::Vec::with_capacity_in(large, bump);
            vec.extend_from_slice(&values);
            let dedicated = size_of_val(&*values) > 1 << 14;
            for _ in 0..3 {
                if dedicated && bump.chunk_capacity() >= size_of::<T>() {
                    let value = model.values(1);
                    model.add(std::slice::from_ref(bump.alloc(value[0])));
                }
                vec.truncate(random.below(large));
                vec.shrink_to_fit();
                vec.extend_from_slice(&values[..random.below(large)]);
            }
            let before = model.blocks.iter().map(|(at, _)| *at).collect::<Vec<_>>();
            let slice = vec.into_slice();
            // The vector's block is older than the small ones, but in another chunk.
            assert!(!before.contains(&slice.as_ptr().addr()) || slice.is_empty());
            model.add(slice);
        }
        11 => {
            // A vector that is dropped.
            let mut vec = bump::Vec::new_in(bump);
            (0..large).for_each(|n| vec.push(T::new(n)));
        }
        5 => {
            // Values in a scope are gone at its end; those of the outer arena stay.
            let before = model.blocks.len();
            bump.scope(|scope| {
                let values = model.values(small.max(1));
                scope.alloc_slice_copy(&values);
                let outer = model.values(1);
                model.add(std::slice::from_ref(bump.alloc(outer[0])));
                scope.alloc_slice_copy(&vec![values[0]; large]);
            });
            assert!(model.blocks.len() > before);
        }
        6 => {
            let checkpoint = bump.checkpoint();
            for _ in 0..random.below(6) {
                let values = model.values(if random.below(3) == 0 { large } else { small });
                bump.alloc_slice_copy(&values);
            }
            // SAFETY: nothing that was allocated since the checkpoint is used again, and no older block was changed.
            unsafe { bump.rewind(checkpoint) };
        }
        7 => {
            // A closure that fails gives its block back.
            let large = random.below(2) * large;
            let failed =
                bump.alloc_slice_try_fill_with(large + 1, |at| if at < large { Ok(T::new(at)) } else { Err(at) });
            assert_eq!(failed, Err(large));
        }
        _ => {
            // A vector of a known length.
            let values = model.values(small);
            model.add(bump::Vec::from_iter_in(values, bump).into_slice());
        }
    }
}

#[test]
fn chunks_have_the_bytes_of_the_values_and_no_others() {
    if cfg!(miri) {
        for seed in 0..4 {
            run::<u64, 1>(seed, seed % 2 == 1);
            run::<u64, 8>(seed, seed % 2 == 1);
        }
        return run::<u16, 2>(1, true);
    }
    for seed in 0..100 {
        let grow = seed % 2 == 1;
        run::<u8, 1>(seed, grow);
        run::<u16, 1>(seed, grow);
        run::<u16, 2>(seed, grow);
        run::<u32, 1>(seed, grow);
        run::<u32, 4>(seed, grow);
        run::<u64, 1>(seed, grow);
        run::<u64, 8>(seed, grow);
        run::<u128, 1>(seed, grow);
        run::<u128, 8>(seed, grow);
        run::<u128, 16>(seed, grow);
    }
}

/// A dedicated chunk had up to 15 bytes behind its block, which were returned as allocated.
#[test]
fn a_dedicated_chunk_ends_with_its_block() {
    let mut bump = Bump::<1>::with_min_align();
    for len in [5_001, 5_002, 5_003] {
        bump.alloc_slice_fill_copy(len, 7_i32);
    }
    let lens: Vec<usize> = bump.chunks().map(<[_]>::len).collect();
    assert_eq!(lens, [5_003 * 4, 5_002 * 4, 5_001 * 4], "newest first");
    // `chunks_raw` makes the newest chunk a shared one, which changes no length.
    assert_eq!(bump.chunks_raw().map(std::ptr::NonNull::len).collect::<Vec<_>>(), lens);
    assert_eq!(bump.chunks_raw().map(std::ptr::NonNull::len).collect::<Vec<_>>(), lens);
}

/// A chunk comes before all older ones. Values allocated after a large one may be in an older chunk.
#[test]
fn chunks_are_ordered_by_their_age() {
    let mut bump = Bump::<8>::with_min_align();
    bump.alloc(1_u64);
    bump.alloc_slice_fill_copy(3_000, 2_u64);
    bump.alloc(3_u64);
    let mut numbers: Vec<Vec<u64>> = bump.chunks().map(u64::read).collect();
    numbers[0].dedup();
    assert_eq!(numbers, [vec![2], vec![1, 3]]);
}

//! Attempts to break `Bump` with safe code, by bugs that arenas have had.
#![cfg_attr(feature = "nightly", feature(allocator_api))]
#![expect(clippy::large_stack_arrays, reason = "values of all sizes are put into arenas")]

mod common;

use common::{Counts, Spy, failing_after, forget, left_by, panics};
use dwell::alloc::{Allocator, Global};
use dwell::bump::{self, BumpPool, Scope};
use dwell::{AllocError, Bump};
use std::alloc::Layout;
use std::cell::Cell;
use std::fmt;
use std::mem::MaybeUninit;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::Barrier;
use std::thread;

/// The size of a block that gets a dedicated chunk.
const LARGE: usize = if cfg!(miri) { 17_000 } else { 40_000 };

/// The number of eight-byte pieces with which a string outgrows any chunk in which it starts.
const PIECES: usize = if cfg!(miri) { 100 } else { 6000 };

/// Writes `PIECES` pieces, one at a time.
struct Pieces;

impl fmt::Display for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..PIECES).try_for_each(|_| f.write_str("a piece "))
    }
}

/// The number of bytes in front of a chunk's first block.
const HEADER: usize = 4 * size_of::<usize>();

/// Returns the step between cases in tests with hundreds of cases: slow tools, which set `DWELL_TEST_CASES`, run every
/// fifth, and Miri every 37th.
fn stride() -> usize {
    match std::env::var_os("DWELL_TEST_CASES") {
        _ if cfg!(miri) => 37,
        Some(_) => 5,
        None => 1,
    }
}

/// Divides a count by the stride.
fn scaled(count: usize) -> usize {
    count.div_ceil(stride())
}

/// Returns whether all bytes are `value`, by one comparison of memory, which is fast under Miri too.
fn is_filled(bytes: &[u8], value: u8) -> bool {
    *bytes == *vec![value; bytes.len()]
}

/// Allocates `size` bytes of this value by one copy.
fn filled(bump: &Bump, size: usize, value: u8) -> &mut [u8] {
    filled_in(bump, size, value)
}

fn filled_in<A: Allocator>(bump: &Bump<8, A>, size: usize, value: u8) -> &mut [u8] {
    bump.alloc_slice_copy(&vec![value; size])
}

fn bytes(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

fn read(block: NonNull<u8>, at: usize) -> u8 {
    // SAFETY: the tests pass offsets inside the chunk, which is live.
    let byte = unsafe { block.add(at) };
    // SAFETY: the byte is in a live chunk, and the test has written it.
    unsafe { byte.read() }
}

// --- Growing and shrinking -------------------------------------------------------------------------------------------

/// RUSTSEC-2020-0006: moving a block copies its old bytes and nothing after them.
#[test]
fn realloc_copies_the_old_size() {
    let mut bump = Bump::with_capacity(4000);
    bump.alloc([0xEE_u8; 4000]); // gives the free bytes a known value
    bump.reset();
    let first = bump.alloc_slice_copy(&[1_u8; 24]);
    let first = NonNull::from(first).cast::<u8>();
    bump.alloc_slice_copy(&[2_u8; 24]);
    // SAFETY: the block is the arena's, with this layout.
    let grown = unsafe { bump.grow(first, bytes(24, 1), bytes(100, 1)) }.unwrap().cast::<u8>();
    assert!((0..24).all(|at| read(grown, at) == 1));
    assert!((24..100).all(|at| read(grown, at) == 0xEE), "more than the old bytes was copied");
}

/// bumpalo #247: after growing in place, the returned pointer has the provenance of the chunk, not of the caller's
/// shorter block.
#[test]
fn pointer_returned_by_grow_covers_the_whole_block() {
    let bump = Bump::new();
    let block = NonNull::from(bump.alloc(1_u64)).cast::<u8>();
    // SAFETY: the block is the arena's, with this layout.
    let grown = unsafe { bump.grow(block, bytes(8, 8), bytes(400, 8)) }.unwrap();
    assert_eq!(grown.cast(), block);
    // SAFETY: the block has these bytes.
    unsafe { grown.cast::<u8>().write_bytes(7, 400) };
    assert_eq!(read(grown.cast(), 399), 7);
}

/// A last block whose size is not a multiple of the minimum alignment is recognised as the last.
#[test]
fn blocks_of_odd_sizes_grow_and_are_freed_in_place() {
    fn check<const MIN_ALIGN: usize>() {
        let bump = Bump::<MIN_ALIGN>::with_capacity_in(4000, Global);
        for size in (1..70).step_by(stride()) {
            let start = bump.alloc_layout(bytes(0, 1));
            let block = bump.alloc_layout(bytes(size, 1));
            assert_eq!(block, start);
            // SAFETY: the block is the arena's, with this layout.
            let grown = unsafe { bump.grow(block, bytes(size, 1), bytes(size + 13, 1)) }.unwrap();
            assert_eq!(grown.cast(), block);
            let mut text = bump::String::new_in(&bump);
            text.push_str("a piece");
            text.push_str(&"x".repeat(size));
            let text = text.into_str();
            let behind = bump.alloc(0_u8);
            assert_eq!((&raw const *behind).addr(), (text.as_ptr().addr() + text.len()).next_multiple_of(MIN_ALIGN));
            // SAFETY: the blocks are the arena's, with these layouts, and not used again.
            unsafe { bump.deallocate(NonNull::from(behind), bytes(1, 1)) };
            let (text, len) = (NonNull::from(&mut *text).cast(), text.len());
            // SAFETY: the string's block is the arena's; since `into_str` it has as many bytes as the string. It is not
            // used again.
            unsafe { bump.deallocate(text, bytes(len, 1)) };
            // SAFETY: `grow` returned the block for this layout, and it is not used again.
            unsafe { bump.deallocate(block, bytes(size + 13, 1)) };
            assert_eq!(bump.alloc_layout(bytes(0, 1)), start);
        }
    }
    check::<1>();
    check::<2>();
    check::<8>();
    check::<16>();
    check::<64>();
}

/// Memory that a vector freed is used by another vector; growing the first again moves it.
#[test]
fn memory_freed_by_shrinking_can_be_reused() {
    let bump = Bump::with_capacity(4000);
    let mut first = bump::Vec::with_capacity_in(100, &bump);
    first.extend_from_slice(&[1_u16; 10]);
    first.shrink_to_fit();
    let mut second = bump::Vec::new_in(&bump);
    second.extend_from_slice(&[2_u16; 60]);
    first.extend_from_slice(&[3; 50]);
    second.extend_from_slice(&[4; 50]);
    first.truncate(0);
    first.shrink_to_fit();
    let third = bump.alloc_slice_copy(&[5_u16; 40]);
    first.push(6);
    assert_eq!((&*first, &second[..60], &second[60..]), (&[6][..], &[2; 60][..], &[4; 50][..]));
    assert_eq!(third, [5; 40]);
}

/// A vector that is the only block of its chunk grows by reallocating the chunk, and leaves no old copy.
#[test]
fn only_block_of_a_chunk_grows_with_the_chunk() {
    let bump = Bump::new();
    let mut numbers = bump::Vec::new_in(&bump);
    let count = if cfg!(miri) { 2500 } else { scaled(100_000).max(12_000) } as u64;
    for number in 0..count {
        numbers.push(number);
    }
    assert!(numbers.iter().copied().eq(0..count));
    let held = bump.allocated_bytes();
    assert!(held < 2 * numbers.capacity() * 8, "{held} bytes for {} elements", numbers.capacity());
    // So does a vector in a dedicated chunk while the arena allocates from another chunk.
    let bump = Bump::new();
    let mark = bump.alloc(7);
    let mut numbers = bump::Vec::with_capacity_in(LARGE / 8, &bump);
    let other = bump.alloc(8);
    for number in 0..count {
        numbers.push(number);
    }
    assert!(numbers.iter().copied().eq(0..count));
    assert_eq!((*mark, *other), (7, 8));
    assert!(bump.allocated_bytes() < 2 * numbers.capacity() * 8);
    drop(numbers);
    assert!(bump.allocated_bytes() < 1000, "the chunk is given back with the vector");
}

/// Checkpoints and scopes from before a chunk was moved with its only block stay valid.
#[test]
fn rewind_works_after_a_chunk_moved() {
    // Only a few elements are pushed one by one, since pushing is slow under Miri.
    fn fill<const MIN_ALIGN: usize>(numbers: &mut bump::Vec<'_, u32, MIN_ALIGN>) {
        (0..300).for_each(|number| numbers.push(number));
        (0..20).for_each(|number| numbers.extend_from_slice(&[number; 500]));
        assert_eq!((numbers[299], numbers[300], numbers[10_299]), (299, 0, 19));
    }
    let bump = Bump::with_capacity(100);
    let checkpoint = bump.checkpoint();
    let mut numbers = bump::Vec::new_in(&bump);
    fill(&mut numbers);
    drop(numbers);
    // SAFETY: nothing allocated since the checkpoint is used again.
    unsafe { bump.rewind(checkpoint) };
    assert_eq!(*bump.alloc(5), 5);
    bump.scope(|scope| {
        let mut numbers = bump::Vec::new_in(scope);
        fill(&mut numbers);
    });
    assert_eq!(bump.alloc_slice_fill_with(1000, |n| n).len(), 1000);
}

/// A block that shrinks to a larger alignment takes no more bytes than before. Otherwise freeing it would free bytes of
/// the next block too.
#[cfg(any(feature = "allocator-api2", feature = "nightly"))]
#[test]
fn shrinking_to_a_larger_alignment_takes_no_more_bytes() {
    for last in [56, 24, 8] {
        let bump = Bump::with_capacity(4000);
        // The block starts at a multiple of 64.
        let first = bump.alloc_layout(bytes(64, 64));
        // SAFETY: the block is the arena's, with this layout; the new one is no larger.
        let first = unsafe { bump.shrink(first, bytes(64, 64), bytes(8, 8)) }.unwrap().cast::<u8>();
        assert_eq!(first.addr().get() % 64, 0);
        let second = bump.alloc_slice_fill_copy(last, 2_u8);
        let third = bump.alloc_slice_fill_copy(56 - last, 3_u8);
        // SAFETY: `shrink` returned the block for this layout; the new one is no larger.
        let first = unsafe { bump.shrink(first, bytes(8, 8), bytes(1, 64)) }.unwrap().cast::<u8>();
        // SAFETY: the block is the arena's, with this layout, and not used again.
        unsafe { bump.deallocate(first, bytes(1, 64)) };
        bump.alloc([9_u8; 64]);
        assert!(is_filled(second, 2) && is_filled(third, 3));
    }
}

/// A block whose alignment exceeds its size takes its size and not its alignment, also as the first block of its chunk.
#[test]
fn block_smaller_than_its_alignment_is_not_padded() {
    for align in [16, 32, 64, 256] {
        let bump = Bump::new();
        let first = bump.alloc_layout(bytes(8, align));
        // SAFETY: the block has this byte.
        unsafe { first.write(1) };
        let second = bump.alloc(2_u64);
        assert_eq!((&raw const *second).addr(), first.addr().get() + 8);
        // SAFETY: the block is the arena's, with this layout, and not used again.
        unsafe { bump.deallocate(first, bytes(8, align)) };
        let third = bump.alloc(3_u64);
        assert_eq!((*second, *third), (2, 3));
    }
}

/// Growing the only block of a chunk does not move the chunk while its free range is lent to a scope.
#[test]
fn chunk_lent_to_a_scope_does_not_move() {
    let mut bump = Bump::new();
    for _ in 0..60 {
        bump.alloc([0_u64; 1000]);
    }
    bump.reset(); // one chunk that has capacity for what follows
    let (small, large, huge) = (bytes(20_000, 8), bytes(300_000, 8), bytes(600_000, 8));
    let block = bump.alloc_layout(small); // the only block of its chunk, at its start
    // SAFETY: the block has these bytes.
    unsafe { block.write_bytes(7, small.size()) };
    let scope = bump.scope_guard();
    let inner = scope.alloc([5_u64; 8]);
    // SAFETY: the block is the arena's, with this layout.
    let block = unsafe { bump.grow(block, small, large) }.unwrap().cast::<u8>();
    // SAFETY: `grow` returned the block for the layout `large`; the new one is no smaller.
    let block = unsafe { bump.grow(block, large, huge) }.unwrap().cast::<u8>();
    inner[0] = 6;
    assert_eq!((inner[0], inner[7], read(block, 0), read(block, 19_999)), (6, 5, 7, 7));
    // SAFETY: the block is the arena's, with this layout, and not used again.
    unsafe { bump.deallocate(block, huge) };
    drop(scope);
    assert_eq!(bump.alloc([1_u64; 100])[99], 1);
}

/// Large blocks of every alignment grow, move and are freed, the newest and others.
#[test]
fn dedicated_blocks_grow_move_and_are_freed() {
    for align in [1, 8, 16, 64, 1 << 15] {
        let bump = Bump::new();
        let mut blocks: Vec<(NonNull<u8>, Layout)> = Vec::new();
        for (n, size) in (0_u8..).zip([17_000, 40_000, 9000, 20_000]) {
            let layout = bytes(size, align);
            let block = bump.alloc_layout(layout);
            assert!(block.addr().get().is_multiple_of(align));
            // SAFETY: the block has these bytes.
            unsafe { block.write_bytes(n, size) };
            blocks.push((block, layout));
        }
        for round in 0..3 {
            for n in [3, 0, 2, 1] {
                let (block, layout) = blocks[n];
                let larger = bytes(layout.size() + 30_000 * round, align);
                // SAFETY: the block is the arena's, with this layout; the new one is no smaller.
                let block = unsafe { bump.grow(block, layout, larger) }.unwrap().cast::<u8>();
                assert!(block.addr().get().is_multiple_of(align));
                let value = u8::try_from(n).unwrap();
                assert!(
                    (0..layout.size()).step_by(if cfg!(miri) { 9973 } else { 997 }).all(|at| read(block, at) == value)
                );
                // SAFETY: the block has these bytes.
                unsafe { block.write_bytes(value, larger.size()) };
                blocks[n] = (block, larger);
            }
        }
        let held = bump.allocated_bytes();
        for (block, layout) in blocks.into_iter().rev() {
            // SAFETY: the block is the arena's, with this layout, and not used again.
            unsafe { bump.deallocate(block, layout) };
        }
        assert!(bump.allocated_bytes() < held, "the newest was given back");
        bump.alloc([1_u8; 100]);
    }
}

/// The base allocator takes a dedicated chunk from the arena itself. The chunk then ended where the free range began, so
/// its block was both the last one and in a dedicated chunk: dropping it moved the range into the chunk, and growing it in
/// place left the chunk.
#[cfg(feature = "allocator-api2")]
#[test]
fn allocator_takes_a_chunk_from_the_arena_itself() {
    type Arena = Bump<8, FromArena>;

    #[derive(Default)]
    struct FromArena {
        arena: Cell<Option<&'static Arena>>,
        /// The block of the arena that is a chunk.
        taken: Cell<Option<NonNull<u8>>>,
    }

    // SAFETY: the blocks come from `Global` and the arena, which also free them.
    unsafe impl Allocator for FromArena {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, allocator_api2::alloc::AllocError> {
            let is_for_test = self.taken.get().is_none() && layout.size() >= 16_400;
            let Some(arena) = self.arena.get().filter(|_| is_for_test) else {
                return Global.allocate(layout);
            };
            self.arena.set(None);
            while arena.chunk_capacity() < 20_000 {
                arena.alloc_layout(bytes(16_000, 8));
            }
            let block = arena.allocate(layout)?;
            self.arena.set(Some(arena));
            self.taken.set(Some(block.cast()));
            Ok(block)
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            if self.taken.get() != Some(block) {
                // SAFETY: `allocate` took the block from `Global` for this layout; it was not freed.
                return unsafe { Global.deallocate(block, layout) };
            }
            self.taken.set(None);
            if let Some(arena) = self.arena.get() {
                // SAFETY: `allocate` took the block from the arena for this layout; it was not freed.
                unsafe { arena.deallocate(block, layout) };
            }
        }
    }

    fn with_arena(f: impl Fn(&'static Arena)) {
        let owner = Box::into_raw(Box::new(Bump::new_in(FromArena::default())));
        // SAFETY: the pointer comes from `Box::into_raw`, and the box is only rebuilt at the end.
        let arena: &'static Arena = unsafe { &*owner };
        arena.allocator().arena.set(Some(arena));
        f(arena);
        arena.allocator().arena.set(None);
        // SAFETY: the pointer came from `Box::into_raw`, and is not used again.
        drop(unsafe { Box::from_raw(owner) });
    }

    const SIZE: usize = 16_400;
    with_arena(|arena| {
        drop(bump::Vec::<u8, 8, _>::with_capacity_in(SIZE, arena));
        let first = bump::Vec::<u8, 8, _>::with_capacity_in(8000, arena);
        let second = arena.alloc_slice_copy(&vec![2_u8; SIZE - 8000]);
        drop(first);
        let third = arena.alloc_slice_copy(&vec![3_u8; 9000]);
        assert!(is_filled(second, 2) && is_filled(third, 3));
    });
    with_arena(|arena| {
        let mut numbers = bump::Vec::with_capacity_in(SIZE, arena);
        numbers.resize(SIZE, 1_u8);
        numbers.reserve_exact(100);
        numbers.resize(SIZE + 100, 1);
        arena.alloc(2);
        numbers.reserve_exact(1000);
        assert!(is_filled(&numbers, 1));
    });
}

/// The base allocator takes a shared chunk from the arena itself, by a pointer that only it may use. The chunk's last block
/// ended where the free range began, and grew in place by a pointer of the other chunk.
#[cfg(feature = "allocator-api2")]
#[test]
fn block_grows_in_place_only_in_its_own_chunk() {
    use std::cell::OnceCell;

    /// Forwards to a `First` once there is one. Its other allocator is `Global`.
    #[derive(Default)]
    struct Late(OnceCell<bump::First<'static>>);

    // SAFETY: the blocks come from `Global` and the `First`, which also free them. The `First` frees all that it does not
    // know by `Global`.
    unsafe impl Allocator for Late {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, allocator_api2::alloc::AllocError> {
            match self.0.get() {
                Some(first) => first.allocate(layout),
                None => Global.allocate(layout),
            }
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            match self.0.get() {
                // SAFETY: `allocate` took the block from `Global` or the `First` for this layout; it was not freed.
                Some(first) => unsafe { first.deallocate(block, layout) },
                // SAFETY: `allocate` took the block from `Global` for this layout; it was not freed.
                None => unsafe { Global.deallocate(block, layout) },
            }
        }
    }

    const CHUNK: usize = 496; // the first chunk of an arena, and here of a scope

    let owner = Box::into_raw(Box::new(Bump::<8, _>::with_capacity_in(3000, Late::default())));
    // SAFETY: the pointer comes from `Box::into_raw`, and the box is only rebuilt at the end and never dropped.
    let arena = unsafe { &*owner };
    arena.alloc_layout(bytes(16, 16));
    let buffer = arena.alloc_slice_fill_with(CHUNK, |_| MaybeUninit::uninit());
    arena.allocator().0.set(bump::First::new(buffer, Global)).ok().unwrap();
    for round in 0..2 {
        let scope = arena.scope_guard();
        let inner = scope.scope_guard(); // is lent the range behind the buffer
        let mut numbers = bump::Vec::<u64, 8, _>::with_capacity_in(50, &scope); // in a chunk in the buffer
        let more = scope.chunk_capacity() / 8;
        numbers.reserve_exact(50 + more); // takes the rest of the chunk
        numbers.resize(50 + more, round);
        drop(inner);
        numbers.push(round);
        assert!(numbers.iter().all(|number| *number == round));
    }
    // The `First` borrows the arena forever. Leak checkers find it here.
    // SAFETY: the pointer came from `Box::into_raw`, and is not used again.
    forget(unsafe { Box::from_raw(owner) }, 0);
}

// --- Chunks and alignment --------------------------------------------------------------------------------------------

/// bumpalo #45: the first block of a new chunk is aligned too.
#[test]
fn slow_path_aligns_blocks() {
    fn check<const MIN_ALIGN: usize>() {
        for align in (0..=13).step_by(if cfg!(miri) { 3 } else { 1 }).map(|bits| 1 << bits) {
            for filled in (0..40).step_by(stride()) {
                let bump = Bump::<MIN_ALIGN>::with_min_align();
                for _ in 0..filled {
                    bump.alloc([1_u8; 31]);
                }
                for size in [0, 1, 300, 500, 20_000] {
                    let block = bump.alloc_layout(bytes(size, align));
                    assert_eq!(block.addr().get() % align, 0);
                    // SAFETY: the block has these bytes.
                    unsafe { block.write_bytes(2, size) };
                }
            }
        }
    }
    check::<1>();
    check::<8>();
    check::<64>();
    #[repr(align(128))]
    struct Wide(u8);
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    #[repr(align(64))]
    struct Nothing;
    let bump = Bump::new();
    for _ in 0..50 {
        assert_eq!((&raw const *bump.alloc(Wide(1))).addr() % 128, 0);
        assert_eq!((&raw const *bump.alloc(Page([1; 4096]))).addr() % 4096, 0);
        assert_eq!((&raw const *bump.alloc(Nothing)).addr() % 64, 0);
        assert_eq!(bump.alloc_with(|| Wide(3)).0, 3);
        assert_eq!(bump.alloc(Page([5; 4096])).0[4095], 5);
    }
}

/// bump-scope #127: the next chunk has capacity for any request.
#[test]
fn new_chunk_fits_the_requested_block() {
    let sizes = (0..2200).chain((1 << 14) - 200..(1 << 14) + 200).chain((1 << 20) - 50..(1 << 20) + 2);
    for size in sizes.step_by(if cfg!(miri) { 107 } else { stride() }) {
        for align in [1, 16, 64] {
            let bump = Bump::new();
            bump.alloc(1_u8);
            let block = bump.alloc_layout(bytes(size, align));
            assert!(block.addr().get().is_multiple_of(align) && bump.allocated_bytes() > size, "{size} {align}");
            // SAFETY: the block has these bytes.
            unsafe { block.write_bytes(1, size) };
        }
    }
}

/// A zero-size allocation is never refused, and it can be grown and freed like any other block.
#[test]
fn zero_size_allocations_always_succeed() {
    fn aligns() -> impl Iterator<Item = usize> {
        (0..=13).step_by(if cfg!(miri) { 4 } else { 1 }).map(|bits| 1 << bits)
    }
    fn check<const MIN_ALIGN: usize>() {
        let bump = Bump::<MIN_ALIGN>::with_min_align();
        bump.set_allocation_limit(Some(0));
        for align in aligns() {
            let block = bump.alloc_layout(bytes(0, align));
            assert!(block.addr().get().is_multiple_of(align));
            // SAFETY: the block is the arena's, with this layout.
            unsafe { bump.deallocate(block, bytes(0, align)) };
        }
        assert_eq!(bump.alloc_slice_copy::<u64>(&[]).len(), 0);
        assert_eq!(bump.allocated_bytes(), 0);
        bump.set_allocation_limit(None);
        for align in aligns() {
            for used in 0..3 {
                bump.alloc_slice_copy(&vec![1_u8; used]);
                let (a, b) = (bump.alloc_layout(bytes(0, align)), bump.alloc_layout(bytes(0, align)));
                // SAFETY: the blocks are the arena's, with this layout.
                let a = unsafe { bump.grow(a, bytes(0, align), bytes(700, align)) }.unwrap();
                // SAFETY: the block is the arena's, with this layout, and distinct from `a`.
                let b = unsafe { bump.grow(b, bytes(0, align), bytes(9, align)) }.unwrap();
                let (a, b) = (a.cast::<u8>(), b.cast::<u8>());
                // SAFETY: the block has these bytes.
                unsafe { a.write_bytes(2, 700) };
                // SAFETY: the block has nine bytes.
                unsafe { b.write_bytes(3, 9) };
                assert_eq!((read(a, 0), read(a, 699), read(b, 0)), (2, 2, 3));
            }
        }
    }
    check::<1>();
    check::<8>();
    check::<64>();
}

/// Slices and vectors of a zero-sized type have up to `usize::MAX` elements.
#[test]
fn zero_sized_elements_up_to_usize_max() {
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct Nothing;
    let bump = Bump::new();
    let mut vec = bump::Vec::new_in(&bump);
    vec.extend_from_slice(&[Nothing; usize::MAX]);
    assert!((&raw const vec[0]).is_aligned());
    assert!(vec.try_push(Nothing).is_err());
    assert!(panics(|| vec.push(Nothing)));
    assert!(panics(|| vec.extend([Nothing])));
    assert_eq!(vec.len(), usize::MAX);
    assert_eq!(bump.alloc_thin((), &vec).len(), usize::MAX);
    assert_eq!(vec.into_slice().len(), usize::MAX);
    assert_eq!(bump.alloc_slice_copy(&[Nothing; usize::MAX]).len(), usize::MAX);
}

/// bumpalo #205: sizes above the maximum of an allocation are refused and do not wrap.
#[test]
fn sizes_near_isize_max_are_refused() {
    const MAX: usize = isize::MAX.cast_unsigned();
    let bump = Bump::new();
    for _ in 0..2 {
        let mut vec = bump::Vec::<u64>::new_in(&bump);
        vec.push(1);
        let mut nothing = bump::Vec::new_in(&bump);
        nothing.push(());
        // The test allocator fails first, since a sanitizer's allocator aborts on such sizes.
        failing_after(0, || {
            for size in [MAX, MAX - 15, MAX - 31, MAX - 63, MAX / 2] {
                assert!(bump.try_alloc_layout(bytes(size, 1)).is_err());
            }
            assert!(bump.try_alloc_layout(bytes(1, 1 << (usize::BITS - 2))).is_err());
            assert!(bump.try_alloc_layout(bytes(MAX & !((1 << 40) - 1), 1 << 40)).is_err());
            assert!(bump.try_alloc_slice_fill_with(usize::MAX, |n| n).is_err());
            assert!(bump.try_alloc_slice_fill_with(MAX / 8 + 1, |n| n).is_err());
            assert!(bump::Vec::<u64>::try_with_capacity_in(usize::MAX, &bump).is_err());
            assert!(Bump::try_with_capacity(usize::MAX).is_err());
            assert!(Bump::try_with_capacity(MAX).is_err());
            assert!(vec.try_reserve(usize::MAX).is_err());
            assert!(vec.try_reserve(MAX / 8).is_err());
            assert!(nothing.try_reserve(usize::MAX).is_err());
        });
        assert!(panics(|| vec.reserve(usize::MAX)));
        assert!(panics(|| nothing.reserve(usize::MAX)));
        bump.alloc(1);
    }
}

/// Like std's collections. It aborted with "memory allocation of 0 bytes failed".
#[test]
fn capacity_above_isize_max_panics() {
    let above = isize::MAX.cast_unsigned() + 1;
    for capacity in [above, usize::MAX] {
        assert!(panics(|| drop(Bump::with_capacity(capacity))));
        assert!(panics(|| drop(Bump::<1>::with_capacity_in(capacity, Global))));
        assert!(Bump::try_with_capacity(capacity).is_err());
    }
}

/// A scope's blocks in the free range of the outer arena are in no list of chunks.
#[test]
fn chunks_of_scopes_list_their_own_chunks() {
    let bump = Bump::new();
    let outer: &u64 = bump.alloc(1_u64);
    let scope = bump.scope_guard();
    scope.alloc(2_u64);
    assert_eq!((scope.chunks_raw().count(), bump.chunks_raw().map(NonNull::len).sum::<usize>()), (0, 8));
    let own: &[u8] = filled(&scope, LARGE, 3);
    assert_eq!(scope.chunks_raw().next().unwrap().cast::<u8>().as_ptr().cast_const(), own.as_ptr());
    assert_eq!(scope.allocated_bytes(), bump.allocated_bytes());
    drop(scope);
    assert_eq!((*outer, bump.chunks_raw().map(NonNull::len).sum::<usize>()), (1, 8));
}

#[test]
fn zero_sized_values_need_no_chunk() {
    let bump = Bump::new();
    bump.alloc(());
    bump.alloc_slice_copy::<u64>(&[]);
    bump.alloc_str("");
    assert_eq!(bump.alloc_fmt(format_args!("{}", "")), "");
    assert_eq!(bump.alloc_slice_fill_with(10_000, |_| ()).len(), 10_000);
    assert_eq!(bump.alloc_iter(std::iter::repeat_n((), 1000)).len(), 1000);
    assert_eq!(bump.alloc_slice_copy(&[[0_u64; 0]; 3]).len(), 3);
    drop(bump::Box::new_in((), &bump));
    bump.scope(|scope| *scope.alloc(()));
    assert_eq!(bump.allocated_bytes(), 0, "no chunk is asked for");

    struct Nothing;
    thread_local!(static DROPS: Cell<u32> = const { Cell::new(0) });
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
        }
    }
    let mut vec = bump::Vec::new_in(&bump);
    (0..10).for_each(|_| vec.push(Nothing));
    drop(vec.pop());
    drop(vec.remove(3));
    vec.truncate(6);
    let mut values = vec.into_iter();
    values.next_back();
    assert_eq!(DROPS.get(), 5);
    drop(values);
    assert_eq!(DROPS.get(), 10);
}

// --- Scopes, checkpoints, reset --------------------------------------------------------------------------------------

/// bumpalo #322: `rewind` restores the exact position across chunks of all kinds, and frees newer chunks.
#[test]
fn rewind_restores_position_and_chunks() {
    for before in (0..30).step_by(stride()) {
        let bump = Bump::new();
        let kept: Vec<&mut [u8]> = (0..before).map(|n| bump.alloc_slice_copy(&[n; 77])).collect();
        let checkpoint = bump.checkpoint();
        let mut address = None;
        let mut held = None;
        for _ in 0..3 {
            let next = bump.alloc_layout(bytes(10, 1));
            bump.alloc_slice_copy(&[9_u8; 20_000]);
            (0..40).for_each(|_| _ = bump.alloc([9_u64; 31]));
            bump.alloc_slice_copy(&[9_u8; 30_000]);
            // SAFETY: nothing allocated since the checkpoint is used again.
            unsafe { bump.rewind(checkpoint) };
            if before > 0 {
                assert_eq!(*address.get_or_insert(next), next);
            }
            assert_eq!(*held.get_or_insert(bump.allocated_bytes()), bump.allocated_bytes());
        }
        assert!(kept.iter().zip(0..).all(|(block, n)| is_filled(block, n)));
    }
}

/// GHSA-xhx6-q96x-pf9c: freeing a block of the outer arena inside a scope does not add it to the scope's free range.
#[test]
fn outer_block_can_be_freed_in_a_scope() {
    let bump = Bump::with_capacity(4000);
    let outer = NonNull::from(bump.alloc([1_u64; 4])).cast::<u8>();
    let mut vec = bump::Vec::new_in(&bump);
    vec.push(1_u8);
    let scope = bump.scope_guard();
    let inner = scope.alloc([2_u64; 4]);
    drop(vec);
    // SAFETY: the block is the arena's, with this layout, and not used again.
    unsafe { bump.deallocate(outer, bytes(32, 8)) };
    let other = bump.alloc([3_u64; 8]);
    let more = scope.alloc([4_u64; 8]);
    assert_eq!((*inner, *other, *more), ([2; 4], [3; 8], [4; 8]));
    drop(scope);
    let after = bump.alloc([5_u64; 8]);
    assert_eq!((*other, *after), ([3; 8], [5; 8]));
}

/// Scopes of one arena that are open at once end in any order.
#[test]
fn scopes_end_in_any_order() {
    // The bits select which of the open scopes and the arena allocate.
    for allocations in (0..64_u32).step_by(stride()) {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for size in [8, 600, LARGE].into_iter().step_by(if cfg!(miri) { 2 } else { 1 }) {
                let left = left_by(|| {
                    let bump = Bump::with_capacity(1000);
                    let mut kept: Vec<&[u8]> = vec![bump.alloc_slice_fill_with(16, |_| 0)];
                    let mut scopes: [Option<Scope<'_>>; 3] = [const { None }; 3];
                    for (index, scope) in scopes.iter_mut().enumerate() {
                        let scope = scope.insert(bump.scope_guard());
                        if allocations >> index & 1 != 0 {
                            filled(scope, size, 0xEE);
                        }
                        if allocations >> (3 + index) & 1 != 0 {
                            kept.push(filled(&bump, size, u8::try_from(index).unwrap()));
                        }
                    }
                    for index in order {
                        drop(scopes[index].take());
                        kept.push(bump.alloc_slice_fill_with(24, |_| 7));
                    }
                    let values: Vec<u8> = kept.iter().map(|block| block[0]).collect();
                    for (block, value) in kept.iter().zip(values) {
                        assert!(is_filled(block, value));
                    }
                });
                assert_eq!(left, (0, 0));
            }
        }
    }
}

#[test]
fn scope_ends_on_panic() {
    let bump = Bump::with_capacity(1000);
    let address = bump.alloc_layout(bytes(0, 1));
    for size in [100, LARGE] {
        assert!(panics(|| {
            bump.scope(|scope| {
                filled(scope, size, 1);
                panic!("in a scope");
            });
        }));
        assert_eq!(bump.alloc_layout(bytes(0, 1)), address, "the free range is as before the scope");
        assert_eq!(*bump.scope_guard().alloc(1), 1);
    }
}

#[test]
fn forgotten_scope_only_leaks() {
    let mut bump = Bump::with_capacity(1000);
    let kept = bump.alloc([1_u8; 100]);
    let scope = bump.scope_guard();
    scope.alloc([2_u8; 100]);
    std::mem::forget(scope);
    let other = bump.alloc([3_u8; 100]);
    assert_eq!((kept[99], other[99]), (1, 3));
    bump.reset();
    assert_eq!(bump.alloc([4_u8; 100])[99], 4);
}

/// A forgotten owner of a block: `reset` frees the bytes.
#[test]
fn forgotten_owners_only_leak() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut bump = Bump::new();
        for size in [4, 100, if cfg!(miri) { 400 } else { 10_000 }] {
            let mut vec = bump::Vec::new_in(&bump);
            vec.extend((0..size).map(|n| counts.spy(n)));
            let mut values = vec.into_iter();
            values.next();
            values.next_back();
            std::mem::forget(values);
            let mut vec = bump::Vec::new_in(&bump);
            vec.extend((0..size).map(|n| counts.spy(n)));
            std::mem::forget(vec);
            std::mem::forget(bump::Box::new_in(counts.spy(1), &bump));
            let mut text = bump::String::new_in(&bump);
            text.push_str("gone");
            std::mem::forget(text);
            std::mem::forget(bump.scope_guard());
            let after = bump.alloc_slice_copy(&[7_u8; 100]);
            assert!(is_filled(after, 7));
            bump.reset();
        }
    });
    assert_eq!(counts.dropped.get(), 6);
    assert_eq!(left, (0, 0));
    // The guard owns the chunks of its scope. Here they are blocks of an outer arena, which frees them.
    let outermost = Bump::new();
    let bump = Bump::<8, _>::new_in(&outermost);
    let before = bump.allocated_bytes();
    let scope = bump.scope_guard();
    filled_in(&scope, LARGE, 7);
    std::mem::forget(scope);
    let held = bump.allocated_bytes();
    assert!(held > before + LARGE);
    let scope = bump.scope_guard();
    assert!(is_filled(filled_in(&scope, LARGE, 8), 8) && is_filled(filled_in(&bump, LARGE, 9), 9));
    drop(scope);
    assert!(bump.allocated_bytes() > held);
}

/// A scope guard can be moved, boxed, returned, swapped and dropped late like any other value.
#[test]
fn scope_guard_can_be_moved() {
    fn begin(bump: &Bump) -> Scope<'_> {
        let scope = bump.scope_guard();
        scope.alloc([1_u64; 9]);
        scope
    }
    let (bump, other) = (Bump::with_capacity(1000), Bump::with_capacity(1000));
    let address = bump.alloc_layout(bytes(0, 1));
    let mut first = Box::new(begin(&bump));
    let mut second = begin(&other);
    std::mem::swap(&mut *first, &mut second);
    let a = first.alloc([2_u64; 9]); // now a scope of `other`
    let b = second.alloc([3_u64; 9]);
    let (c, d) = (bump.alloc([4_u64; 9]), other.alloc([5_u64; 9]));
    assert_eq!((*a, *b, *c, *d), ([2; 9], [3; 9], [4; 9], [5; 9]));
    let mut kept = vec![*first, second];
    kept.push(begin(&bump));
    let value = kept[1].alloc(6);
    assert_eq!(*value, 6);
    kept.reverse();
    drop(kept);
    assert_eq!((*c, *d), ([4; 9], [5; 9]));
    // If nothing else was allocated meanwhile, the whole free range is restored.
    let bump = Bump::with_capacity(1000);
    let start = bump.alloc_layout(bytes(0, 1));
    drop(Box::new(begin(&bump)));
    assert_eq!(bump.alloc_layout(bytes(0, 1)), start);
    assert_ne!(start, address);
}

/// Allocating from the outer arena while a scope is open does not cost a chunk per round: 2,000 rounds that keep 12,000
/// bytes took 2.09 GB.
#[test]
fn keeping_values_from_a_loop_of_scopes_reuses_chunks() {
    for (size, value) in [(6, 6), (6, 5000), (100, 100), (6, 0)] {
        let bump = Bump::new();
        let rounds = if cfg!(miri) { 24 } else { 2000 / stride() };
        let mut kept: Vec<&[u8]> = Vec::new();
        for round in 0..rounds {
            let byte = round.to_le_bytes()[0];
            kept.push(bump.scope(|scope| {
                assert!(is_filled(filled(scope, value, byte), byte));
                &*bump.alloc_slice_fill_copy(size, byte)
            }));
        }
        let held = bump.allocated_bytes();
        let least = size.next_multiple_of(8) * rounds + value;
        assert!(held <= 4 * least + 4000, "{held} bytes for {least}");
        let is_whole = |(round, block): (usize, &&[u8])| is_filled(block, round.to_le_bytes()[0]);
        assert!(kept.iter().enumerate().all(is_whole));
    }
    // Deeply nested scopes alternate with the outer arena.
    fn nest(bump: &Bump, depth: u8) {
        let kept = bump.scope(|scope| {
            let (inner, kept) = (scope.alloc([depth; 40]), bump.alloc([depth; 40]));
            if depth > 0 {
                nest(scope, depth - 1);
                nest(bump, depth - 1);
            }
            assert_eq!((*inner, *kept), ([depth; 40], [depth; 40]));
            kept
        });
        assert_eq!(*kept, [depth; 40]);
    }
    let bump = Bump::new();
    let depth = match stride() {
        1 => 9,
        5 => 5,
        _ => 3,
    };
    nest(&bump, depth);
    assert!(bump.allocated_bytes() < 200_000, "{}", bump.allocated_bytes());
}

/// Nor does it with several scopes open at once, whatever the innermost one allocates: 1,000 rounds took 1.05 GB.
#[test]
fn keeping_values_across_nested_scopes_reuses_chunks() {
    for (depth, count, value) in [(2, 1, LARGE), (2, 40, LARGE), (3, 1, 3), (5, 7, 3000), (3, 3, 0)] {
        let bump = Bump::new();
        let rounds: u16 = if cfg!(miri) { 8 } else { 300 };
        let mut kept: Vec<&u64> = Vec::new();
        for round in 0..rounds {
            let mut scopes = Vec::new();
            for _ in 0..depth {
                scopes.push(bump.scope_guard());
                kept.extend((0..count).map(|_| &*bump.alloc(u64::from(round))));
            }
            assert!(is_filled(filled(scopes.last().unwrap(), value, 7), 7));
            // Ends the scopes in both orders; `pop` from an unreversed list ends the last one first, as nested blocks
            // do.
            if round % 3 == 0 {
                scopes.reverse();
            }
            while scopes.pop().is_some() {}
        }
        let (held, least) = (bump.allocated_bytes(), 8 * kept.len() + 2 * value);
        assert!(held <= 2 * least + 1000 * (1 + depth), "{held} bytes for {least}");
        assert!(kept.chunks(depth * count).zip(0_u64..).all(|(kept, round)| kept.iter().all(|value| **value == round)));
    }
}

/// A failed request loses no free bytes, and a saved chunk is found behind others in the list.
#[test]
fn failed_request_keeps_saved_chunks() {
    let bump = Bump::new();
    bump.alloc([0_u8; 400]);
    let mut scopes = Vec::new();
    for size in [8, 8, 8] {
        scopes.push(bump.scope_guard());
        bump.alloc_slice_fill_copy(size, 1_u8);
    }
    let large = bump.alloc_slice_fill_copy(15_000, 2_u8);
    while scopes.pop().is_some() {}
    bump.set_allocation_limit(Some(bump.allocated_bytes()));
    assert!(bump.try_alloc([0_u8; 16_000]).is_err() && bump.try_alloc([0_u8; 20_000]).is_err());
    let kept: Vec<&mut [u8; 400]> = (3..6).map(|n| bump.try_alloc([n; 400]).unwrap()).collect();
    assert!(is_filled(large, 2) && kept.iter().zip(3..).all(|(bytes, n)| is_filled(&bytes[..], n)));
}

/// A large block tries eight saved chunks and not all: it abandons none, so 8,000 large blocks beside as many saved
/// chunks took 0.6 s instead of 0.05.
#[test]
fn large_blocks_try_few_saved_chunks() {
    for (scopes, fits) in [(8, true), (9, false)] {
        let bump = Bump::with_capacity(2 * LARGE);
        // Each scope is lent a chunk, the first one the large chunk. They are saved in this order.
        let mut guards = Vec::new();
        for _ in 0..=scopes {
            guards.push(bump.scope_guard());
            bump.alloc(1_u8);
        }
        guards.into_iter().for_each(drop);
        let before = bump.allocated_bytes();
        filled(&bump, LARGE, 1);
        assert_eq!(bump.allocated_bytes() == before, fits, "{scopes} scopes");
    }
}

/// Saved chunks form a list. A large block that fits in none of them leaves them saved, and a checkpoint keeps the
/// first.
#[test]
fn saved_chunks_are_reused_in_order() {
    fn check<const MIN_ALIGN: usize>() {
        let bump = Bump::<MIN_ALIGN>::with_min_align();
        let mut scopes = Vec::new();
        let mut kept = Vec::new();
        for n in 0..4_u8 {
            kept.push((bump.alloc_slice_fill_copy(usize::from(n) * 100 + 1, n), n));
            scopes.push(bump.scope_guard());
        }
        while scopes.pop().is_some() {}
        // Four chunks: the current one and three saved ones.
        let before = bump.allocated_bytes();
        let checkpoint = bump.checkpoint();
        for n in 4..9 {
            kept.push((bump.alloc_slice_fill_copy(90, n), n));
        }
        assert_eq!(bump.allocated_bytes(), before);
        assert!(kept.iter().all(|(bytes, n)| is_filled(bytes, *n)));
        kept.truncate(4);
        // SAFETY: nothing allocated since the checkpoint is used again, and no scope is open.
        unsafe { bump.rewind(checkpoint) };
        let large = bump.alloc_slice_fill_copy(LARGE, 99_u8);
        let before = bump.allocated_bytes();
        for n in 10..13 {
            kept.push((bump.alloc_slice_fill_copy(90, n), n));
        }
        assert_eq!(bump.allocated_bytes(), before);
        for n in 20..60 {
            kept.push((bump.alloc_slice_fill_copy(usize::from(n), n), n));
        }
        assert!(is_filled(large, 99) && kept.iter().all(|(bytes, n)| is_filled(bytes, *n)));
    }
    check::<1>();
    check::<8>();
    check::<64>();
}

/// The next vector reuses the bytes of an outgrown chunk: 400 vectors of a million elements, one after the other, took
/// 73 MB.
#[test]
fn bytes_of_an_outgrown_chunk_are_reused() {
    let bump = Bump::new();
    let count = if cfg!(miri) { 9000 } else { 100_000 };
    let rounds = if cfg!(miri) { 5 } else { 100 };
    let mut held = Vec::new();
    for round in 0..rounds {
        let mut values = bump::Vec::new_in(&bump);
        for n in 0..count {
            values.push(n ^ round);
        }
        assert!(values.iter().zip(0..).all(|(value, n)| *value == n ^ round));
        drop(values);
        held.push(bump.allocated_bytes());
    }
    assert_eq!(held.first(), held.last(), "{held:?}");
}

/// The next scope reuses the chunk of the last one without allocating.
#[test]
fn next_scope_reuses_the_chunk() {
    let bump = Bump::new();
    bump.alloc(1);
    let run = || {
        bump.scope(|scope| {
            for _ in 0..100 {
                scope.alloc([1_u64; 10]);
            }
        });
    };
    run();
    let held = bump.allocated_bytes();
    failing_after(0, || {
        for _ in 0..3 {
            run();
        }
    });
    assert_eq!(bump.allocated_bytes(), held);
}

#[test]
fn reset_keeps_the_largest_chunk() {
    let mut bump = Bump::new();
    bump.alloc([1_u8; 100_000]); // dedicated chunk
    for _ in 0..50 {
        bump.alloc([1_u64; 20]);
    }
    bump.reset();
    assert!((100_000..100_200).contains(&bump.allocated_bytes()), "{}", bump.allocated_bytes());
    failing_after(0, || {
        for _ in 0..4 {
            bump.alloc([1_u8; 25_000]);
        }
    });
}

/// An arena that is filled and reset repeatedly ends up with one chunk.
#[test]
fn rounds_of_equal_size_stop_allocating() {
    for blocks in if cfg!(miri) { [10, 30, 150] } else { [30, 300, scaled(30_000)] } {
        let mut bump = Bump::new();
        for round in 0..4 {
            failing_after(if round < 3 { usize::MAX } else { 0 }, || {
                (0..blocks).for_each(|_| _ = bump.alloc([1_u64; 12]));
            });
            assert!(bump.allocated_bytes() < 3 * blocks * 96 + 1000);
            bump.reset();
        }
    }
}

/// Also if a round needs more than the largest regular chunk, with blocks of all sizes.
#[test]
fn rounds_of_mixed_sizes_stop_allocating() {
    for blocks in if cfg!(miri) { &[30, 200][..] } else { &[100, 2000, 40_000] }.iter().copied() {
        let mut bump = Bump::new();
        for round in 0..4 {
            failing_after(if round < 3 { usize::MAX } else { 0 }, || {
                for n in 0..blocks {
                    bump.alloc_layout(bytes(n * 23 % 4000, 1 << (n % 5)));
                    if n % if cfg!(miri) { 70 } else { 700 } == 0 {
                        bump.alloc_layout(bytes(100_000, 64));
                    }
                }
            });
            bump.reset();
        }
    }
}

/// Also if all blocks are large: each got a chunk of its own in each round.
#[test]
fn rounds_of_large_blocks_stop_allocating() {
    let mut bump = Bump::new();
    for round in 0..4 {
        failing_after(if round < 2 { usize::MAX } else { 0 }, || {
            for _ in 0..10 {
                bump.alloc_layout(bytes(20_000, 8));
            }
        });
        bump.reset();
    }
}

/// If the limit does not allow the chunk of a round, a large block gets a chunk of its own, and the free range stays.
#[test]
fn large_block_within_a_limit_leaves_the_free_range() {
    let mut bump = Bump::new();
    (0..10).for_each(|_| _ = bump.alloc_layout(bytes(20_000, 8)));
    bump.reset();
    bump.alloc(1_u64);
    bump.set_allocation_limit(Some(bump.allocated_bytes() + 50_000));
    let free = bump.chunk_capacity();
    assert!(free > 0);
    bump.alloc_layout(bytes(30_000, 8));
    assert_eq!(bump.chunk_capacity(), free);
}

/// A limit that allows a dedicated chunk to grow refused it, because the spare chunk was freed too late.
#[test]
fn spare_chunk_is_freed_for_a_growing_block() {
    let bump = Bump::new();
    bump.alloc(1_u64);
    bump.scope(|scope| {
        scope.alloc_slice_fill_copy(50_000, 0_u8); // its chunk becomes the spare one
    });
    let mut bytes = bump::Vec::<u8>::with_capacity_in(100_000, &bump);
    bytes.resize(100_000, 7);
    bump.set_allocation_limit(Some(bump.allocated_bytes() + 10_000));
    assert_eq!(bytes.try_reserve_exact(30_000).map_err(|error| error.layout()), Ok(()));
    assert!(bytes.capacity() >= 130_000 && bump.allocated_bytes() < 140_000 && is_filled(&bytes, 7));
}

/// The errors for too many elements had no alignment.
#[test]
fn errors_have_the_alignment_of_the_elements() {
    let bump = Bump::new();
    let mut vec = bump::Vec::<u64>::new_in(&bump);
    vec.push(1);
    let mut unmanaged = bump::UnmanagedVec::<u64>::new();
    for layout in [
        bump::Vec::<u64>::try_with_capacity_in(usize::MAX, &bump).unwrap_err().layout(),
        bump.try_alloc_slice_fill_with(1 << 60, |_| 0_u64).unwrap_err().layout(),
        vec.try_reserve(usize::MAX).unwrap_err().layout(),
        vec.try_reserve_exact(usize::MAX).unwrap_err().layout(),
        unmanaged.try_reserve(&bump, usize::MAX).unwrap_err().layout(),
        unmanaged.try_reserve(&bump, u32::MAX as usize + 1).unwrap_err().layout(),
    ] {
        assert!(layout.align() == align_of::<u64>() && layout.size() > isize::MAX.unsigned_abs() / 2);
    }
}

/// Slowly growing rounds do not double the size of the arena each time.
#[test]
fn slowly_growing_rounds_do_not_double_the_chunk() {
    let mut bump = Bump::new();
    let least = if cfg!(miri) { 60 } else { 1000 };
    for blocks in (0..60).step_by(if cfg!(miri) { 30 } else { stride() }).map(|round| least + 10 * round) {
        (0..blocks).for_each(|_| _ = bump.alloc_layout(bytes(4000, 8)));
        assert!(bump.allocated_bytes() < 5 * 4000 * blocks / 2);
        bump.reset();
    }
    // Under a limit the next chunk is as large as the limit allows.
    bump.set_allocation_limit(Some(bump.allocated_bytes() + 5000));
    (0..2 * least).map_while(|_| bump.try_alloc_layout(bytes(4000, 8)).ok()).count();
    bump.reset();
    assert!(bump.try_alloc_layout(bytes(4000, 8)).is_ok());
}

// --- Re-entrancy and panics in user code -----------------------------------------------------------------------------

/// bumpalo #302, #323: a panic in user code drops each value made so far once.
#[test]
fn panic_in_user_code_drops_each_value_once() {
    for panic_at in 1..6 {
        let counts = Counts::default();
        let left = left_by(|| {
            let bump = Bump::new();
            let values: Vec<Spy<'_>> = (0..5).map(|n| counts.spy(n)).collect();
            counts.panic_at_clone.set(panic_at);
            assert!(panics(|| _ = bump.alloc_slice_clone(&values)));
            counts.cloned.set(0);
            assert!(panics(|| _ = bump.alloc_iter(values.iter().cloned())));
            assert!(panics(|| {
                bump.alloc_slice_fill_with(5, |n| {
                    if n + 1 == panic_at as usize { panic!("made no more") } else { counts.spy(1) }
                });
            }));
            assert!(panics(|| _ = bump.alloc_with(|| -> u8 { panic!("made none") })));
            let mut vec = bump::Vec::new_in(&bump);
            vec.extend((0..5).map(|n| counts.spy(n)));
            assert!(panics(|| vec.retain(|spy| if spy.value + 1 == panic_at {
                panic!("in retain")
            } else {
                spy.value % 2 == 0
            })));
            // As in std, the elements before the panic were kept or dropped, and those after it stay.
            let dropped = (panic_at - 1) / 2;
            assert_eq!(vec.len(), 5 - dropped as usize);
            assert_eq!(counts.made.get() - counts.dropped.get(), 10 - dropped);
            counts.panic_at_drop.set(counts.dropped.get() + panic_at);
            assert_eq!(panics(|| vec.truncate(1)), panic_at < 5 - dropped);
            counts.panic_at_drop.set(0);
            assert_eq!(vec.len(), 1);
        });
        assert!(counts.balanced(), "{counts:?}");
        assert_eq!(left.0, 0);
        let counts = Counts::default();
        let left = left_by(|| {
            let bump = Bump::new();
            counts.panic_at_drop.set(panic_at);
            let mut vec = bump::Vec::new_in(&bump);
            vec.extend((0..5).map(|n| counts.spy(n)));
            if panic_at % 2 == 0 {
                assert!(panics(|| drop(vec)));
            } else {
                let mut values = vec.into_iter();
                std::mem::forget(values.next_back());
                counts.made.set(4);
                assert_eq!(panics(|| drop(values)), panic_at < 5);
            }
            drop(bump::Box::new_in((), &bump));
        });
        assert!(counts.balanced(), "{counts:?}");
        assert_eq!(left.0, 0);
    }
}

/// Closures, iterators, `Display` implementations and destructors use the arena themselves.
#[test]
fn closures_iterators_display_and_drop_re_enter() {
    struct Nested<'a>(&'a Bump, u32);
    impl fmt::Display for Nested<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("<")?;
            let own = self.0.alloc([self.1; 20]);
            if self.1 > 0 {
                f.write_str(self.0.alloc_fmt(format_args!("{}{}", Nested(self.0, self.1 - 1), own[19])))?;
            }
            self.0.scope(|scope| f.write_str(scope.alloc_str(";")))?;
            write!(f, "{}>", own[0])
        }
    }
    struct Allocates<'a>(&'a Bump);
    impl Drop for Allocates<'_> {
        fn drop(&mut self) {
            self.0.alloc_slice_copy(&[7_u8; 33]);
        }
    }
    for limit in (0..40).step_by(stride()) {
        let bump = Bump::new();
        (0..limit).for_each(|_| _ = bump.alloc_slice_copy(&[1_u8; 13]));
        assert_eq!(bump.alloc_fmt(format_args!("{}!", Nested(&bump, 2))), "<<<;0>1;1>2;2>!");
        let nested = bump.alloc_with(|| bump.alloc_with(|| bump.alloc(7)));
        assert_eq!(***nested, 7);
        let lists = bump.alloc_slice_fill_with(30, |n| bump.alloc_slice_fill_with(n, |m| m));
        assert!(lists.iter().enumerate().all(|(n, list)| list.iter().copied().eq(0..n)));
        let lists = bump.alloc_iter((0..30).map(|n| bump.alloc_iter(0..n)));
        assert!((0..).zip(lists.iter()).all(|(n, list)| list.iter().copied().eq(0..n)));
        let mut vec = bump::Vec::new_in(&bump);
        (0..20).for_each(|_| vec.push(Allocates(&bump)));
        vec.truncate(10);
        vec.retain(|_| bump.alloc_str("kept").len() > 5);
        drop(vec);
        drop(bump::Box::new_in(Allocates(&bump), &bump));
    }
}

/// The string of `alloc_fmt` has no block while it is empty, or one of its own, so a `Display` that allocates before it
/// writes gets other bytes. At first the string took the address of another block, which then grew with it.
#[test]
fn display_may_allocate_before_it_writes() {
    struct First<'a> {
        bump: &'a Bump,
        kept: Cell<Option<&'a mut [u8]>>,
        size: usize,
    }
    impl fmt::Display for First<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.kept.set(Some(filled(self.bump, self.size, 1)));
            f.write_str("abcdefgh")?;
            f.write_str("ijklmnopq")?;
            assert_eq!(self.bump.alloc_fmt(format_args!("{}{}", 1, 2)), "12");
            f.write_str("r")
        }
    }
    for fill in [0, 1, 55, 56, 57, 58, 100].into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
        for size in [0, 1, 100, LARGE] {
            let bump = Bump::new();
            bump.alloc_slice_fill_copy(fill, 0_u64);
            let first = First { bump: &bump, kept: Cell::new(None), size };
            let text = bump.alloc_fmt(format_args!("{}{}", first, 7));
            let kept = first.kept.take().unwrap();
            kept.fill(9);
            assert_eq!(text, "abcdefghijklmnopqr7");
            let again = First { bump: &bump, kept: Cell::new(None), size: LARGE };
            let long = bump.alloc_fmt(format_args!("{again}{Pieces}x"));
            let kept_again = again.kept.take().unwrap();
            kept_again.fill(8);
            assert_eq!(*long, *format!("abcdefghijklmnopqr{}x", "a piece ".repeat(PIECES)));
            text.make_ascii_uppercase();
            long.make_ascii_uppercase();
            assert!(is_filled(kept, 9) && is_filled(kept_again, 8));
        }
    }
}

/// The same through the `Allocator` trait: a zero-size allocation has no block, so it cannot grow into another one.
#[test]
fn growing_a_zero_size_block_never_overlaps_another() {
    for align in [1, 8, 64] {
        for size in [1, 100, LARGE] {
            let bump = Bump::new();
            bump.alloc(1_u8);
            let zero = bytes(0, align);
            let block = bump.allocate(zero).unwrap().cast::<u8>();
            let other = filled(&bump, size, 3);
            // SAFETY: the block is the arena's, with this layout.
            let grown = unsafe { bump.grow(block, zero, bytes(50_000, align)) }.unwrap().cast::<u8>();
            // SAFETY: the block has these bytes.
            unsafe { grown.write_bytes(5, 50_000) };
            assert!(is_filled(other, 3));
            // Freeing a zero-size allocation has no effect, even at the address of a live block.
            let here = bump.alloc_layout(bytes(0, 8));
            let block = bump.alloc(6_u64);
            // SAFETY: the block is the arena's, with this layout, and not used again.
            unsafe { bump.deallocate(here, bytes(0, 8)) };
            let next = bump.alloc(7_u64);
            assert_eq!((*block, *next), (6, 7));
        }
    }
}

/// Memory that is handed out again: a vector that starts where an empty block does outgrows its chunk, the chunk moves, and
/// the allocator gives its address to a dedicated chunk. `alloc_fmt` and `Allocator::grow` took that chunk for the one of the
/// empty block, by its address, and two live references shared its bytes.
#[test]
fn empty_block_does_not_own_a_later_block_at_its_address() {
    /// Returns a block at the address of the arena's empty chunk, which a vector outgrows.
    fn at_address_of_outgrown_chunk(bump: &Bump) -> &mut [u8] {
        let mut outgrows = bump::Vec::<u8>::with_capacity_in(95_000, bump);
        outgrows.reserve(120_000);
        bump.alloc_slice_fill_copy(LARGE, 1) // `filled` would take the freed memory for a moment
    }
    struct Reuses<'a>(&'a Bump, Cell<Option<&'a mut [u8]>>);
    impl fmt::Display for Reuses<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.1.set(Some(at_address_of_outgrown_chunk(self.0)));
            f.write_str("text")
        }
    }
    // The memory after the chunk is in use, so the chunk cannot grow where it is.
    let arena = || (Bump::with_capacity(100_000), vec![0_u8; 60_000]);

    let (bump, _next) = arena();
    let display = Reuses(&bump, Cell::new(None));
    let text = bump.alloc_fmt(format_args!("{display}"));
    let other = display.1.take().unwrap();
    other.fill(9);
    assert_eq!(text, "text");
    text.make_ascii_uppercase();
    assert!(is_filled(other, 9));

    let (bump, _next) = arena();
    let empty = bump.allocate(bytes(0, 1)).unwrap().cast::<u8>();
    let other = at_address_of_outgrown_chunk(&bump);
    // SAFETY: the block is the arena's, with this layout.
    let grown = unsafe { bump.grow(empty, bytes(0, 1), bytes(50_000, 1)) }.unwrap().cast::<u8>();
    // SAFETY: the block has these bytes.
    unsafe { grown.write_bytes(5, 50_000) };
    assert!(is_filled(other, 1));
}

/// `next`, `size_hint` and `clone` use the arena, and scopes stay open in between.
#[test]
fn size_hint_clone_and_open_scopes_re_enter() {
    struct AllocatingIter<'a>(&'a Bump, u32, Option<Scope<'a>>);
    impl Iterator for AllocatingIter<'_> {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            self.1 = self.1.checked_sub(1)?;
            self.2 = (!self.1.is_multiple_of(3)).then(|| self.0.scope_guard());
            self.0.alloc([self.1; 7]);
            Some(self.1)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            self.0.alloc([9_u8; 5]);
            self.2.as_ref().map(|scope| scope.alloc([9_u8; 300]));
            (self.1 as usize / 2, None)
        }
    }
    #[derive(Debug)]
    struct AllocatingClone<'a>(&'a Bump, &'a [u8]);
    impl Clone for AllocatingClone<'_> {
        fn clone(&self) -> Self {
            self.0.scope(|scope| scope.alloc_slice_clone(&[Some(self.1); 20]).len());
            Self(self.0, self.0.alloc_slice_copy(self.1))
        }
    }
    struct AllocatingDisplay<'a>(&'a Bump, Cell<Option<Scope<'a>>>);
    impl fmt::Display for AllocatingDisplay<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one ")?;
            self.1.set(Some(self.0.scope_guard())); // takes the bytes after the string
            f.write_str("two ")?;
            self.0.alloc(1_u8);
            self.1.take();
            f.write_str("three ")?;
            self.1.set(Some(self.0.scope_guard()));
            write!(f, "{:>WIDE$}", "four")
        }
    }
    const WIDE: usize = if cfg!(miri) { 200 } else { 700 };
    const MANY: u32 = if cfg!(miri) { 20 } else { 50 };
    for fill in (0..40).step_by(stride()) {
        let bump = Bump::new();
        bump.alloc_slice_copy(&vec![1_u8; 13 * fill]);
        let numbers = bump.alloc_iter(AllocatingIter(&bump, 2 * MANY, None));
        let mut vec = bump::Vec::new_in(&bump);
        vec.extend(AllocatingIter(&bump, MANY, None));
        let text: &[u8] = bump.alloc_str("some text").as_bytes();
        let copies = bump.alloc_slice_clone(&vec![AllocatingClone(&bump, text); if cfg!(miri) { 6 } else { 30 }]);
        let display = AllocatingDisplay(&bump, Cell::new(None));
        let text_of_both = bump.alloc_fmt(format_args!("{display}!{display}"));
        let last = bump.alloc_slice_copy(&[0xEE_u8; 60]);
        assert!(numbers.iter().copied().eq((0..2 * MANY).rev()) && vec.iter().copied().eq((0..MANY).rev()));
        assert!(copies.iter().all(|copy| copy.1 == text));
        let once = format!("one two three {:>WIDE$}", "four");
        assert_eq!(*text_of_both, *format!("{once}!{once}"));
        assert!(is_filled(last, 0xEE));
    }
}

/// After a panic in an iterator or a `Display` the items written so far stay, and the arena remains usable.
#[test]
fn panic_in_iterator_or_display_keeps_written_items() {
    struct Panics(u32);
    impl fmt::Display for Panics {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (0..self.0).try_for_each(|_| f.write_str("piece"))?;
            panic!("in fmt")
        }
    }
    for at in (0..70_u32).step_by(stride()) {
        let counts = Counts::default();
        let bump = Bump::new();
        let iter = || (0..1000).map(|n| if n == at { panic!("in next") } else { counts.spy(n) });
        let mut vec = bump::Vec::new_in(&bump);
        assert!(panics(|| vec.extend(iter())));
        assert!(vec.iter().map(|spy| spy.value).eq(0..at));
        assert!(panics(|| _ = bump.alloc_iter(iter())));
        assert!(panics(|| drop(bump.try_alloc_iter(iter()))));
        assert!(panics(|| _ = bump.alloc_fmt(format_args!("{}{}", at, Panics(at)))));
        let mut text = bump::String::new_in(&bump);
        assert!(panics(|| _ = fmt::write(&mut text, format_args!("{}", Panics(at)))));
        assert_eq!(text.len(), 5 * at as usize);
        bump.alloc_slice_copy(&[7_u8; 30]);
        assert!(vec.iter().map(|spy| spy.value).eq(0..at));
        drop(vec);
        assert!(counts.balanced());
    }
}

/// Formats pieces of all lengths at each offset in a chunk and across its end.
#[test]
fn alloc_fmt_concatenates_pieces_of_all_lengths() {
    fn check<const MIN_ALIGN: usize>() {
        let source: String = ('a'..='z').chain('0'..='9').collect();
        for fill in (0..120).step_by(stride()) {
            let bump = Bump::<MIN_ALIGN>::with_min_align();
            bump.alloc_slice_copy(&vec![0xEE_u8; 4 * fill]);
            for len in (0..source.len()).step_by(if cfg!(miri) { 7 } else { 1 }) {
                let (a, b) = source.split_at(len);
                let text = bump.alloc_fmt(format_args!("{a}{b}{}{a}", 'x'));
                let next = bump.alloc_slice_copy(&[0xEE_u8; 3]);
                assert_eq!(*text, *format!("{a}{b}x{a}"));
                assert_eq!(next, [0xEE; 3]);
            }
        }
    }
    check::<1>();
    check::<8>();
    check::<64>();
}

#[test]
fn error_of_display_is_reported() {
    struct Fails;
    impl fmt::Display for Fails {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("half")?;
            Err(fmt::Error)
        }
    }
    let bump = Bump::new();
    assert!(panics(|| _ = bump.alloc_fmt(format_args!("{Fails}"))));
    let error = bump.try_alloc_fmt(format_args!("a {Fails}")).unwrap_err();
    assert_eq!(error.layout().size(), "a half".len());
    assert_eq!(bump.alloc_fmt(format_args!("{}", 1)), "1");
}

/// Size hints are not trusted: neither one above the maximum size of an allocation nor one that the allocator refuses.
#[test]
fn huge_size_hints_are_not_trusted() {
    #[derive(Clone)]
    struct Hint(std::ops::Range<u64>, usize);
    impl Iterator for Hint {
        type Item = u64;
        fn next(&mut self) -> Option<u64> {
            self.0.next()
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, None)
        }
    }
    struct Words(Hint);
    impl Iterator for Words {
        type Item = char;
        fn next(&mut self) -> Option<char> {
            self.0.next().map(|_| 'x')
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            self.0.size_hint()
        }
    }
    let limited = Bump::new();
    limited.set_allocation_limit(Some(1200));
    for bump in [&Bump::new(), &limited] {
        for hint in [usize::MAX, usize::MAX / 8, 1 << 47, 1 << 40, 1 << 20] {
            for len in [0, 1, 5] {
                let values = Hint(0..len, hint);
                assert!(bump.alloc_iter(values.clone()).iter().copied().eq(0..len));
                assert!(bump.try_alloc_iter(values.clone()).unwrap().iter().copied().eq(0..len));
                let mut vec = bump::Vec::from_iter_in(values.clone(), bump);
                vec.extend(values.clone());
                vec.try_extend(values.clone()).unwrap();
                assert!(vec.iter().copied().eq((0..len).chain(0..len).chain(0..len)));
                assert!(bump::Vec::try_from_iter_in(values.clone(), bump).unwrap().iter().copied().eq(0..len));
                assert_eq!(bump.alloc_iter(values.clone().map(drop)).len() as u64, len);
                let mut text = bump::String::new_in(bump);
                text.extend(Words(values.clone()));
                text.try_extend(Words(values)).unwrap();
                assert_eq!(text.len() as u64, 2 * len);
            }
        }
    }
    assert!(limited.allocated_bytes() <= 1200);
}

/// Iterators whose size hints are wrong.
#[test]
fn wrong_size_hints_are_not_trusted() {
    struct WrongHint(u32, (usize, Option<usize>));
    impl Iterator for WrongHint {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            self.1
        }
    }
    let bump = Bump::new();
    for hint in [(0, Some(0)), (0, None), (3, Some(3)), (500, Some(600)), (1000, Some(5))] {
        let mut expected: Vec<u32> = (0..100).collect();
        expected.reverse();
        assert_eq!(*bump.alloc_iter(WrongHint(100, hint)), *expected);
        assert_eq!(**bump.try_alloc_iter(WrongHint(100, hint)).as_ref().unwrap(), *expected);
    }
}

// --- Failed allocations ----------------------------------------------------------------------------------------------

/// A limit that rises in steps makes each allocation fail in turn, and nothing is lost.
#[test]
fn failed_allocation_at_every_step_loses_nothing() {
    /// The number of elements made one by one.
    const MANY: usize = if cfg!(miri) { 60 } else { 5000 };
    const BIG: usize = if cfg!(miri) { 5000 } else { 20_000 };
    fn attempt(bump: &Bump, counts: &Counts) -> Result<(), ()> {
        fn or<T, V>(result: Result<T, AllocError<V>>) -> Result<T, ()> {
            result.map_err(|error| assert!(error.layout().size() > 0))
        }
        let spy = bump.try_alloc(counts.spy(1)).map_err(|error| drop(error.into_inner()))?;
        // SAFETY: `try_alloc` does not drop the value, and no other box owns it.
        let spy = unsafe { bump::Box::from_mut(spy) };
        let other = or(bump::Box::try_new_in(counts.spy(2), bump))?;
        let numbers = or(bump.try_alloc_slice_copy(&[7_u64; 70]))?;
        let text = or(bump.try_alloc_str(&"x".repeat(700)))?;
        let made = or(bump.try_alloc_with(|| [1_u8; 3000]))?;
        or(bump.try_alloc_uninit::<[u8; 300]>())?.write([1; 300]);
        let squares = or(bump.try_alloc_slice_fill_with(MANY, |n| n * n))?;
        let copies = or(bump.try_alloc_slice_clone(&vec![Some(1_u32); MANY]))?;
        let collected = or(bump.try_alloc_iter(0..MANY))?;
        let formatted = or(bump.try_alloc_fmt(format_args!("{Pieces}|{Pieces}")))?;
        let thin = or(bump.try_alloc_thin(7_u8, &[1_u64; 3000]))?;
        let name = or(bump.try_alloc_thin_str(7_u8, &"y".repeat(9000)))?;
        let mut vec = or(bump::Vec::try_with_capacity_in(9, bump))?;
        for n in 0..MANY {
            if let Err(error) = vec.try_push(n) {
                assert_eq!(error.into_inner(), n);
                assert!(vec.iter().copied().eq(0..n));
                return Err(());
            }
        }
        or(vec.try_extend_from_slice(&[7; BIG]))?;
        let mut string = or(bump::String::try_with_capacity_in(1, bump))?;
        for _ in 0..MANY {
            or(string.try_push('é'))?;
        }
        bump.scope(|scope| or(scope.try_alloc([1_u64; BIG])).map(drop))?;
        assert!(numbers.iter().all(|&n| n == 7) && is_filled(text.as_bytes(), b'x') && made == &[1; 3000]);
        assert!(squares.iter().enumerate().all(|(n, &square)| square == n * n) && copies.iter().all(Option::is_some));
        assert!(collected.iter().copied().eq(0..MANY) && formatted.len() == 16 * PIECES + 1);
        assert!(*thin.slice() == [1; 3000] && *name.header() == 7 && name.len() == 9000 && string.len() == 2 * MANY);
        assert!(vec[..MANY].iter().copied().eq(0..MANY));
        assert_eq!(spy.value + other.value, 3);
        Ok(())
    }
    for limit in (0..).step_by(if cfg!(miri) { 30_000 } else { 3000 * stride() }) {
        let counts = Counts::default();
        let mut done = false;
        let left = left_by(|| {
            let mut bump = Bump::new();
            // `repeat` and `vec!` abort if the global allocator fails, so the arena's limit makes its requests fail
            // instead.
            bump.set_allocation_limit(Some(limit));
            done = attempt(&bump, &counts).is_ok();
            assert!(bump.allocated_bytes() <= limit);
            bump.set_allocation_limit(None);
            attempt(&bump, &counts).unwrap();
            bump.reset();
            attempt(&bump, &counts).unwrap();
        });
        assert!(counts.balanced());
        assert_eq!(left, (0, 0));
        if done {
            assert!(limit > 90_000, "it failed at few steps");
            break;
        }
    }
}

/// The allocator fails: each call reports it, and the same call succeeds later.
#[test]
fn try_functions_report_failed_allocations() {
    for fill in (0..40).step_by(stride()) {
        let bump = Bump::new();
        (0..fill).for_each(|_| _ = bump.alloc([1_u8; 40]));
        let big = [7_u64; 2000];
        let mut vec = bump::Vec::new_in(&bump);
        vec.push(1_u64);
        failing_after(0, || {
            assert!(bump.try_alloc(big).is_err());
            assert!(bump.try_alloc_slice_copy(&big).is_err());
            assert!(bump.try_alloc_fmt(format_args!("{Pieces}{Pieces}")).is_err());
            assert!(bump.try_alloc_iter(0..9999).is_err_and(|error| {
                let (values, last) = error.into_inner();
                values.iter().copied().eq(0..last)
            }));
            assert!(vec.try_reserve(5000).is_err());
            let mut other = bump::Vec::new_in(&bump);
            assert!(other.try_extend(0..9999).is_err_and(|error| {
                let (last, mut rest) = error.into_inner();
                rest.next() == Some(last + 1)
            }));
            let len = other.len();
            assert!(other.iter().copied().eq(0..len) && other.capacity() == len);
            assert_eq!(other.try_insert(len / 2, 7).map_err(AllocError::into_inner), Err(7));
            bump.scope(|scope| assert!(scope.try_alloc(big).is_err()));
            assert!(Bump::try_with_capacity(10).is_err());
        });
        assert_eq!(*vec, [1]);
        vec.try_insert(0, 2).unwrap();
        vec.try_extend([3]).unwrap();
        assert_eq!(*vec, [2, 1, 3]);
        assert_eq!((vec.remove(0), vec.pop()), (2, Some(3)));
        vec.extend_from_slice(&big);
        assert_eq!((vec[0], vec[2000]), (1, 7));
    }
}

/// The fallible functions of strings and pools report a failed allocation.
#[test]
fn strings_and_pools_report_failed_allocations() {
    let bump = Bump::new();
    let mut text = bump::String::from_str_in("kept", &bump);
    let long = "x".repeat(1000);
    failing_after(0, || {
        let (item, mut rest) = text.try_extend(["a", "b", &long, "c"]).unwrap_err().into_inner();
        assert_eq!((item.len(), rest.next(), &*text), (1000, Some("c"), "keptab"));
        assert!(text.try_extend([format_args!("{}{}", "part", long)]).is_err());
        assert_eq!(text, "keptab");
        assert!(bump.try_alloc_fmt(format_args!("{long}{long}")).is_err());
    });
    text.try_extend(['c', 'd']).unwrap();
    assert_eq!(text, "keptabcd");

    let pool = BumpPool::new();
    assert!(failing_after(0, || pool.try_get().is_err()));
    drop(pool.get());
    // The pool returns an arena that was put back, without allocating.
    assert!(failing_after(0, || pool.try_get().is_ok()));
}

/// If the limit is too low for the next chunk, a smaller chunk that fits the request is allocated.
#[test]
fn limit_is_used_up_exactly() {
    for limit in (0..1500).step_by(if cfg!(miri) { 407 } else { stride() }) {
        let bump = Bump::<1>::with_min_align();
        bump.set_allocation_limit(Some(limit));
        let mut taken = 0;
        while bump.try_alloc(1_u8).is_ok() {
            taken += 1;
            assert!(bump.allocated_bytes() <= limit);
        }
        // A header has 32 bytes, a chunk's size is a multiple of 16, and there are at most two chunks.
        let usable = limit / 16 * 16;
        assert!(taken + 2 * (HEADER + 16) >= usable, "{taken} of {limit}");
        assert!(taken <= limit);
    }
    let bump = Bump::new();
    bump.alloc([1_u8; 400]);
    bump.set_allocation_limit(Some(0));
    assert!(bump.try_alloc([1_u8; 400]).is_err());
    bump.scope(|scope| assert!(scope.try_alloc([1_u8; 400]).is_err()));
    bump.set_allocation_limit(None);
    bump.alloc([1_u8; 400]);
    // The limit also holds in a scope, for the scope and the arena together.
    bump.set_allocation_limit(Some(bump.allocated_bytes() + 100_000));
    bump.scope(|scope| {
        assert!(scope.try_alloc([1_u8; 60_000]).is_ok());
        assert!(bump.try_alloc([1_u8; 60_000]).is_err());
        assert!(bump.try_alloc([1_u8; 30_000]).is_ok());
        assert!(scope.try_alloc([1_u8; 30_000]).is_err());
    });
}

// --- Buffers, threads ------------------------------------------------------------------------------------------------

/// Buffers of all lengths and alignments, with all minimum alignments of the arena.
#[test]
fn buffers_of_any_length_and_alignment() {
    const BYTES: u8 = if cfg!(miri) { 15 } else { 60 };
    fn check<const MIN_ALIGN: usize>() {
        for len in (0..200).step_by(if cfg!(miri) { 66 } else { stride() }) {
            for skip in (0..len.min(67)).step_by(if cfg!(miri) { 27 } else { 1 }) {
                let mut buffer = [const { MaybeUninit::uninit() }; 202];
                buffer[len].write(0x5A);
                let mut bump = Bump::<MIN_ALIGN, _>::with_buffer(&mut buffer[skip..len]);
                for round in 0..2 {
                    let bytes: Vec<&mut u8> = (0..BYTES).map(|n| bump.alloc(n)).collect();
                    let words: Vec<&mut u64> = (0..9).map(|n| bump.alloc(n)).collect();
                    assert!(bytes.iter().map(|byte| **byte).eq(0..BYTES), "round {round}");
                    assert!(words.iter().map(|word| **word).eq(0..9));
                    bump.reset();
                }
                drop(bump);
                // SAFETY: the element was written above.
                assert_eq!(unsafe { buffer[len].assume_init() }, 0x5A);
            }
        }
    }
    check::<1>();
    check::<8>();
    check::<32>();
    check::<64>();
}

/// The other allocator of a `First` hands out a block that it took from the arena in the buffer. When that block was
/// freed, it was mistaken for the whole buffer, whose bytes were then handed out again.
#[cfg(feature = "allocator-api2")]
#[test]
fn block_inside_the_buffer_is_not_the_buffer() {
    type Arena = Bump<8, bump::First<'static, Cache>>;

    /// An allocator with one block that it hands out first.
    #[derive(Clone, Default)]
    struct Cache(std::rc::Rc<Cell<Option<NonNull<u8>>>>, std::rc::Rc<Cell<usize>>);

    // SAFETY: the blocks come from `Global`, which also frees them, or are the cached block, which is live and is handed
    // out again after it was freed.
    unsafe impl Allocator for Cache {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, allocator_api2::alloc::AllocError> {
            match self.0.take().filter(|_| layout == bytes(layout.size().min(17_000), 16)) {
                Some(block) => {
                    self.1.set(block.addr().get());
                    Ok(NonNull::slice_from_raw_parts(block, layout.size()))
                }
                None => Global.allocate(layout),
            }
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            if block.addr().get() == self.1.get() {
                self.0.set(Some(block));
            } else {
                // SAFETY: `allocate` took the block from `Global` for this layout; it was not freed.
                unsafe { Global.deallocate(block, layout) };
            }
        }
    }

    let cache = Cache::default();
    let buffer = Box::into_raw(vec![MaybeUninit::uninit(); 20_000].into_boxed_slice());
    // SAFETY: the pointer comes from `Box::into_raw`, and the box is only rebuilt at the end.
    let arena = Arena::with_buffer_in(unsafe { &mut *buffer }, cache.clone());
    cache.0.set(Some(arena.alloc_layout(bytes(17_000, 16))));
    let kept = arena.alloc_slice_copy(&[1_u8; 1000]);
    drop(bump::Vec::<u8, 8, _>::with_capacity_in(16_400, &arena)); // in the cached block
    let other = arena.alloc_slice_copy(&[2_u8; 18_500]);
    assert!(is_filled(kept, 1) && is_filled(other, 2));
    drop(arena);
    // SAFETY: the pointer came from `Box::into_raw`, and is not used again.
    drop(unsafe { Box::from_raw(buffer) });
}

#[test]
fn buffer_serves_as_the_first_chunk() {
    for len in (0..300).step_by(if cfg!(miri) { 59 } else { stride() }) {
        for skip in (0..17_usize.min(len + 1)).step_by(if cfg!(miri) { 7 } else { 1 }) {
            let mut buffer = [const { MaybeUninit::uninit() }; 300];
            let buffer = &mut buffer[skip..len.max(skip)];
            let (range, range_len) = (buffer.as_ptr_range(), buffer.len());
            let left = left_by(|| {
                let mut bump = Bump::<16, _>::with_buffer(buffer);
                for round in 0..3 {
                    let values: Vec<&mut u128> = (0..30).map(|n| bump.alloc(n)).collect();
                    assert!(values.iter().map(|value| **value).eq(0..30));
                    if round == 0 {
                        let own = values.iter().filter(|value| range.contains(&(&raw const ***value).cast())).count();
                        // The rest is a header, a gap, and padding at both ends.
                        assert!(own >= range_len.saturating_sub(HEADER + 16 + 30) / 16, "{own} in {range_len} bytes");
                    }
                    bump.reset();
                }
            });
            assert_eq!(left, (0, 0));
        }
    }
    // A vector that outgrows the buffer moves out of it.
    let mut buffer = [MaybeUninit::uninit(); 200];
    let bump = Bump::<8, _>::with_buffer(&mut buffer);
    let mut vec = bump::Vec::new_in(&bump);
    (0..1000_u32).for_each(|n| vec.push(n));
    assert!(vec.iter().copied().eq(0..1000));
    thread::scope(|threads| {
        threads.spawn(move || {
            let mut buffer = [MaybeUninit::uninit(); 200];
            let bump = Bump::<8, _>::with_buffer(&mut buffer);
            let bump = std::convert::identity(bump); // the arena moves, its chunk does not
            assert_eq!(*bump.alloc(7), 7);
        });
    });
}

/// bumpalo #289: empty arenas share no state. Run with `ThreadSanitizer`.
#[test]
fn empty_arenas_share_no_state() {
    let barrier = Barrier::new(4);
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                barrier.wait();
                for _ in 0..if cfg!(miri) { 6 } else { scaled(1000) } {
                    let mut bump = Bump::new();
                    bump.alloc(());
                    bump.scope(|scope| assert!(scope.try_alloc_layout(bytes(0, 8)).is_ok()));
                    let checkpoint = bump.checkpoint();
                    // SAFETY: nothing was allocated since the checkpoint.
                    unsafe { bump.rewind(checkpoint) };
                    bump.reset();
                    assert_eq!(bump.chunks().count(), 0);
                    bump.alloc(1_u8);
                }
            });
        }
    });
}

/// The header of the first chunk is written lazily. Each operation either needs it or leaves it unwritten.
#[test]
fn each_operation_works_on_a_lazy_first_chunk() {
    type Use = fn(&mut Bump);
    let uses: [Use; 15] = [
        |_| (),
        |bump| assert_eq!(bump.allocated_bytes(), 496),
        |bump| bump.set_allocation_limit(Some(496)),
        |bump| assert_eq!(bump.chunks().map(<[_]>::len).sum::<usize>(), 8),
        Bump::reset,
        |bump| _ = bump.alloc([1_u8; 1000]),
        |bump| _ = bump.alloc([1_u8; 100_000]),
        |bump| _ = bump.scope(|scope| *scope.alloc(1)),
        |bump| _ = bump.scope(|scope| scope.alloc([1_u8; 1000])[0]),
        |bump| {
            let checkpoint = bump.checkpoint();
            bump.alloc([1_u8; 1000]);
            // SAFETY: nothing allocated since the checkpoint is used again.
            unsafe { bump.rewind(checkpoint) };
        },
        |bump| _ = bump.alloc_iter(0..1000),
        |bump| bump::Vec::new_in(bump).extend(0..LARGE / 8),
        |bump| assert!(!format!("{bump:?}").is_empty()),
        |bump| *bump = Bump::new(),
        |bump| {
            // The arena's first chunk is allocated while a scope is open.
            *bump = Bump::new();
            let scope = bump.scope_guard();
            let (outer, inner) = (bump.alloc(1_u64), scope.alloc(2_u64));
            scope.set_allocation_limit(Some(2000));
            assert_eq!((*outer, *inner, scope.allocated_bytes()), (1, 2, bump.allocated_bytes()));
            assert!(scope.try_alloc([0_u8; 2000]).is_err());
        },
    ];
    for each in uses {
        let left = left_by(|| {
            let mut bump = Bump::new();
            bump.alloc(7_u64);
            each(&mut bump);
            if let Ok(values) = bump.try_alloc([7_u64; 100]) {
                assert_eq!(values[99], 7);
            }
            assert!(bump.allocated_bytes() >= bump.chunks().map(<[_]>::len).sum());
        });
        assert_eq!(left, (0, 0));
    }
}

#[test]
fn threads_share_a_pool() {
    const ROUNDS: u32 = if cfg!(miri) { 2 } else { 20 };
    let mut pool = BumpPool::new();
    for round in 0..if cfg!(miri) { 2 } else { 3 } {
        let barrier = Barrier::new(4);
        let kept: Vec<&mut [u32]> = thread::scope(|threads| {
            let handles: Vec<_> = (0..8)
                .map(|n| {
                    let (pool, barrier) = (&pool, &barrier);
                    threads.spawn(move || {
                        barrier.wait();
                        let mut last = None;
                        for m in 0..ROUNDS {
                            let bump = pool.get();
                            bump.scope(|scope| scope.alloc_slice_copy(&[1_u32; 100]).len());
                            last = Some(bump.keep(|bump| bump.alloc_slice_fill_copy(50, n * 100 + m)));
                        }
                        last.unwrap()
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        for (n, values) in (0..).zip(&kept) {
            assert_eq!(**values, [n * 100 + ROUNDS - 1; 50], "round {round}");
        }
        assert!(!format!("{pool:?}").is_empty());
        pool.reset();
    }
}

/// A pool works after panics with an arena in use, in `keep` and in a thread, and after a guard was forgotten.
#[test]
fn pool_survives_panics_and_forgotten_guards() {
    let counts = Counts::default();
    let mut pool = BumpPool::new();
    for round in 0..3_u8 {
        let kept = {
            let bump = pool.get();
            bump.keep(|bump| bump.alloc([round; 50]))
        };
        assert!(panics(|| {
            let bump = pool.get();
            let _spy = bump::Box::new_in(counts.spy(1), &bump);
            let scope = bump.scope_guard();
            scope.alloc([1_u8; 5000]);
            panic!("with an arena of the pool's");
        }));
        assert!(panics(|| _ = pool.get().keep(|bump| bump.alloc_with(|| -> u8 { panic!("while keeping") }))));
        let panicked = thread::scope(|threads| {
            let pool = &pool;
            let thread = threads.spawn(move || {
                let bump = pool.get();
                bump.alloc([2_u8; 50]);
                panics(|| panic!("in a thread"))
            });
            thread.join().unwrap()
        });
        assert!(panicked);
        let again = pool.get().keep(|bump| bump.alloc([7_u8; 50]));
        assert_eq!((*kept, *again), ([round; 50], [7; 50]));
        pool.reset();
    }
    assert!(counts.balanced());
    // A forgotten arena does not block the pool, and values kept in it stay valid.
    let bump = pool.get();
    let kept = bump.keep(|bump| bump.alloc([1_u8; 50]));
    let arena: &Bump = &bump;
    let address = (&raw const *arena).addr();
    forget(bump, address);
    assert_eq!(*pool.get().keep(|bump| bump.alloc([2_u8; 50])), [2; 50]);
    assert_eq!(*kept, [1; 50]);
    pool.reset();
}

/// The `Clone` of an allocator uses the pool that clones it, so the pool must not be locked then.
#[cfg(feature = "allocator-api2")]
#[test]
fn clone_of_the_allocator_may_use_the_pool() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, OnceLock, Weak};

    #[derive(Default)]
    struct Shared {
        pool: OnceLock<Weak<BumpPool<8, Clones>>>,
        clones: AtomicUsize,
    }

    struct Clones(Arc<Shared>);

    impl Clone for Clones {
        fn clone(&self) -> Self {
            let depth = self.0.clones.fetch_add(1, Ordering::Relaxed);
            if depth < 3
                && let Some(pool) = self.0.pool.get().and_then(Weak::upgrade)
            {
                assert_eq!(*pool.get().alloc(depth), depth);
                assert!(!format!("{pool:?}").is_empty());
            }
            Self(Arc::clone(&self.0))
        }
    }

    // SAFETY: both functions forward to `Global` with the same layout.
    unsafe impl Allocator for Clones {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, allocator_api2::alloc::AllocError> {
            Global.allocate(layout)
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            // SAFETY: `allocate` took the block from `Global` for this layout; it was not freed.
            unsafe { Global.deallocate(block, layout) };
        }
    }

    let shared = Arc::new(Shared::default());
    let pool = Arc::new(BumpPool::new_in(Clones(Arc::clone(&shared))));
    shared.pool.set(Arc::downgrade(&pool)).unwrap();
    assert_eq!(*pool.get().alloc(7_u8), 7);
    assert_eq!(shared.clones.load(Ordering::Relaxed), 4);
}

/// `Send`, `Sync` and unwind safety are those of the corresponding types of std.
#[test]
fn auto_traits() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    fn safe<T: UnwindSafe + RefUnwindSafe + Unpin>() {}
    send::<Bump>();
    send::<Bump<1, bump::First<'_>>>();
    send::<BumpPool>();
    sync::<BumpPool>();
    send::<bump::BumpPoolGuard<'_>>();
    send::<bump::Box<'_, dyn fmt::Debug + Send>>();
    sync::<bump::Box<'_, dyn fmt::Debug + Sync>>();
    send::<bump::IntoIter<'_, u8>>();
    send::<bump::Thin<'_, u8, str>>();
    sync::<bump::Thin<'_, u8, [u8]>>();
    safe::<Bump>();
    safe::<Bump<8, bump::First<'_>>>();
    safe::<bump::Box<'_, u8>>();
    // Like std's types, also with interior mutability.
    fn unwind_safe<T: UnwindSafe>() {}
    unwind_safe::<Vec<Cell<u8>>>();
    unwind_safe::<bump::Vec<'_, Cell<u8>>>();
    unwind_safe::<bump::IntoIter<'_, Cell<u8>>>();
    unwind_safe::<bump::Box<'_, Cell<u8>>>();
    safe::<bump::Vec<'_, u8>>();
    safe::<bump::IntoIter<'_, u8>>();
    safe::<bump::String<'_>>();
    safe::<bump::BumpPoolGuard<'_>>();
    safe::<BumpPool>();
    safe::<bump::Thin<'_, u8, str>>();
    assert_eq!(size_of::<Option<bump::Thin<'_, [u64; 9], [u64]>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<bump::Box<'_, u8>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<bump::Box<'_, dyn fmt::Debug>>>(), 2 * size_of::<usize>());
    static EMPTY: std::sync::Mutex<Bump> = std::sync::Mutex::new(Bump::new());
    assert_eq!(EMPTY.lock().unwrap().allocated_bytes(), 0);
}

#[test]
fn boxes_drop_and_coerce() {
    trait Speak {
        fn speak(&self) -> u32;
    }
    trait Loud: Speak {}
    impl Speak for Spy<'_> {
        fn speak(&self) -> u32 {
            self.value
        }
    }
    impl Loud for Spy<'_> {}
    let counts = Counts::default();
    let bump = Bump::new();
    let loud: bump::Box<'_, dyn Loud + '_> = bump::Box::new_in(counts.spy(7), &bump).coerce(|value| value as _);
    let mut speaker: bump::Box<'_, dyn Speak + '_> = loud.coerce(|value| value as _);
    assert_eq!(speaker.speak(), 7);
    speaker = bump::Box::new_in(counts.spy(8), &bump).coerce(|value| value as _);
    assert_eq!((speaker.speak(), counts.dropped.get()), (8, 1));
    drop(speaker);
    let slice: bump::Box<'_, [Spy<'_>]> =
        bump::Box::new_in([counts.spy(1), counts.spy(2)], &bump).coerce(|value| value as _);
    assert_eq!(slice.len(), 2);
    drop(slice);
    let mut vec = bump::Vec::new_in(&bump);
    vec.extend((0..9).map(|n| counts.spy(n)));
    drop(vec.into_boxed_slice());
    assert_eq!(bump::Box::into_inner(bump::Box::new_in(counts.spy(3), &bump)).value, 3);
    bump::Box::leak(bump::Box::new_in(counts.spy(4), &bump)).value = 5;
    counts.dropped.set(counts.dropped.get() + 1); // the leaked one
    assert!(panics(|| drop(bump::Box::new_in(counts.spy(7), &bump).coerce::<dyn Speak, _>(|_| panic!("in coerce")))));
    assert!(counts.balanced());
}

/// A box is coerced to a struct with an unsized tail and from trait to trait, and written to afterwards.
#[test]
fn coerced_boxes_can_be_written() {
    struct Tail<T: ?Sized>(Cell<u8>, T);
    trait Cells: fmt::Debug {
        fn put(&self, value: u8);
    }
    impl Cells for Cell<u8> {
        fn put(&self, value: u8) {
            self.set(value);
        }
    }
    let bump = Bump::new();
    let mut tail = bump::Box::new_in(Tail(Cell::new(1), [2_u64; 3]), &bump).coerce::<Tail<[u64]>, _>(|value| value);
    tail.0.set(3);
    tail.1[2] = 4;
    assert_eq!((tail.0.get(), &tail.1), (3, &[2, 2, 4][..]));
    let cells = bump::Box::new_in(Cell::new(1), &bump).coerce::<dyn Cells, _>(|value| value);
    cells.put(2);
    assert_eq!(format!("{:?}", cells.coerce::<dyn fmt::Debug, _>(|value| value)), "Cell { value: 2 }");
    // Metadata has bits for fewer elements than units can be. A conversion has no such limit.
    let units = || bump::Box::new_in([const {}; usize::MAX >> 1], &bump);
    assert!(panics(|| drop(units().coerce::<[()], _>(|value| value))));
    assert_eq!(bump::Box::<'_, [()]>::from(units()).len(), usize::MAX >> 1);
}

/// The guard of a scope, and an arena with chunks in this arena, are values in it.
#[test]
fn scopes_and_arenas_in_their_own_arena() {
    let counts = Counts::default();
    let bump = Bump::new();
    for _ in 0..20 {
        let scope = bump::Box::new_in(bump.scope_guard(), &bump);
        let value = bump::Box::new_in(counts.spy(7), &scope);
        let outer = filled(&bump, 700, 1);
        filled(&scope, 700, 2);
        assert_eq!(value.value, 7);
        drop(value);
        drop(scope);
        assert!(is_filled(outer, 1));
    }
    assert!(counts.balanced());
    let inner: &Bump<8, &Bump> = bump.alloc(Bump::new_in(&bump));
    let mut numbers = bump::Vec::new_in(inner);
    for n in 0..scaled(5000) {
        numbers.push(n);
        bump.alloc(n);
    }
    assert!(numbers.into_slice().iter().copied().eq(0..scaled(5000)));
}

/// Headers and elements of all alignments can be read back.
#[test]
fn thin_values_of_all_alignments() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(32))]
    struct Wide(u8);
    let bump = Bump::<1>::with_min_align();
    for len in 0..40 {
        let bytes: Vec<u8> = (0..len).collect();
        let thin = bump.alloc_thin(Wide(len), &bytes);
        assert_eq!((*thin.header(), thin.slice()), (Wide(len), &*bytes));
        let wide: Vec<Wide> = bytes.iter().map(|&byte| Wide(byte)).collect();
        let thin = bump.alloc_thin(len, &wide);
        assert_eq!((*thin.header(), &*thin), (len, &*wide));
        assert!(thin.slice().as_ptr().is_aligned());
        let nothing = bump.alloc_thin((), &vec![(); len.into()]);
        assert_eq!(nothing.len(), usize::from(len));
    }
    let text = bump.alloc_thin_str(1_u128, "tëxt");
    assert_eq!(format!("{text:?}"), "Thin(1, \"tëxt\")");
}

/// After `reset` every chunk was requested with the size of the last round. If the base allocator refused it, each chunk had
/// room for one or two values, and so did those of later rounds.
#[test]
fn refused_chunk_of_a_round_is_requested_once() {
    const VALUES: u64 = if cfg!(miri) { 5_000 } else { 500_000 };
    let outer = Bump::new();
    let mut bump = Bump::<8, _>::new_in(&outer);
    for n in 0..VALUES {
        bump.alloc(n);
    }
    let bytes = bump.allocated_bytes();
    bump.reset();
    // Not enough for one chunk of the whole round, and enough for several ones.
    outer.set_allocation_limit(Some(outer.allocated_bytes() + bytes));
    let placed = (0..VALUES).take_while(|n| bump.try_alloc(*n).is_ok()).count();
    assert!(bump.allocated_bytes() < 8 * placed * 5 / 2, "{} for {placed}", bump.allocated_bytes());
    assert!(bump.chunks().count() < 40);
}

/// A vector that shrank could not grow in its own chunk if the arena held more than its limit.
#[test]
fn block_grows_within_its_chunk_beyond_the_limit() {
    let bump = Bump::new();
    let mut bytes = bump::Vec::<u8>::with_capacity_in(40_000, &bump);
    bytes.resize(5_000, 1);
    bytes.shrink_to_fit();
    let held = bump.allocated_bytes();
    bump.set_allocation_limit(Some(1_000));
    bytes.try_reserve_exact(30_000).unwrap();
    bytes.resize(35_000, 2);
    assert!(bytes[..5_000].iter().all(|byte| *byte == 1) && bytes[5_000..].iter().all(|byte| *byte == 2));
    assert_eq!(bump.allocated_bytes(), held);
    assert!(bytes.try_reserve_exact(30_000).is_err());
}

//! `&Bump` and `Bump` as the allocators of allocator-api2's and other crates' collections, and user-defined base allocators of a
//! `Bump`. hashbrown's map is tested in `bench/tests/hashbrown.rs`, since with allocator-api2's `nightly` feature
//! hashbrown needs its own.
#![cfg(any(feature = "allocator-api2", feature = "nightly"))]
#![cfg_attr(feature = "nightly", feature(allocator_api))]
#![expect(clippy::large_stack_arrays, reason = "values of all sizes are put into arenas")]

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::alloc::{Allocator, Global};
use dwell::{Bump, bump};
use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::NonNull;

#[cfg(not(feature = "nightly"))]
use allocator_api2::{alloc::AllocError, boxed::Box as AnyBox, vec::Vec as AnyVec};
#[cfg(feature = "nightly")]
use std::{alloc::AllocError, boxed::Box as AnyBox, vec::Vec as AnyVec};

/// Returns a repetition count that is lower under Miri.
fn scaled(count: usize) -> usize {
    if cfg!(miri) { count.div_ceil(30) } else { count }
}

/// Returns whether all bytes are `value`, by one comparison of memory, which is fast under Miri too.
fn is_filled(bytes: &[u8], value: u8) -> bool {
    *bytes == *vec![value; bytes.len()]
}

fn vectors<const MIN_ALIGN: usize, A: Allocator>(bump: &Bump<MIN_ALIGN, A>) {
    let mut vec = AnyVec::new_in(bump);
    let mut other = AnyVec::new_in(bump);
    let (count, some) = (if cfg!(miri) { 60 } else { 5000 }, if cfg!(miri) { 40 } else { 300 });
    for n in 0..count {
        vec.push(n);
        if n % 3 == 0 {
            other.push(n.to_string());
        }
    }
    assert!(vec.iter().copied().eq(0..count));
    vec.truncate(20);
    vec.shrink_to_fit();
    vec.extend(20..some);
    assert!(vec.iter().copied().eq(0..some));
    assert_eq!(other[count / 5], (count / 5 * 3).to_string());
    let boxed = AnyBox::new_in([1_u64; 9], bump);
    let again = vec.clone();
    drop(vec);
    bump.scope(|scope| {
        let mut inner = AnyVec::new_in(scope);
        inner.extend(again.iter().copied());
        other.push("in the scope".to_owned());
        assert_eq!(inner.len(), again.len());
    });
    assert_eq!((boxed[8], other.pop().as_deref()), (1, Some("in the scope")));
}

#[test]
fn allocator_vectors_grow_in_the_arena() {
    let left = left_by(|| {
        for _ in 0..if cfg!(miri) { 1 } else { 2 } {
            let mut bump = Bump::<1>::with_min_align();
            vectors(&bump);
            bump.reset();
            vectors(&bump);
            vectors(&Bump::new());
            vectors(&Bump::<16>::with_min_align());
            vectors(&Bump::<64>::with_capacity_in(100_000, Global));
        }
    });
    assert_eq!(left, (0, 0));
}

/// A collection that owns its arena moves with it, and frees it after its values.
#[test]
fn collections_own_their_arena() {
    let left = left_by(|| {
        let mut vec = AnyVec::new_in(Bump::<1>::with_min_align());
        (0..scaled(2000)).for_each(|n| vec.push(n.to_string()));
        let mut moved = Some(Box::new(vec));
        let vec = moved.as_mut().unwrap();
        // The arena serves others while the vector uses it.
        let other = vec.allocator().alloc_str("beside");
        assert_eq!((&*other, vec[7].as_str()), ("beside", "7"));
        vec.truncate(10);
        vec.shrink_to_fit();
        vec.extend((10..scaled(3000)).map(|n| n.to_string()));
        assert!(vec.iter().enumerate().all(|(n, text)| *text == n.to_string()));

        let mut pinned = AnyBox::into_pin(AnyBox::new_in([7_u64; 9], Bump::new()));
        pinned.as_mut()[8] = 8;
        assert_eq!((pinned[0], pinned[8]), (7, 8));
        // An arena whose chunks are of another arena.
        let mut inner = AnyVec::new_in(Bump::<8, Bump>::new_in(Bump::new()));
        (0..scaled(5000)).for_each(|n| inner.push(n));
        assert!(inner.iter().copied().eq(0..scaled(5000)));
        let small: dwell::SmallBox<dyn std::fmt::Display, 2, Bump> =
            dwell::SmallBox::new_coerced_in("spilled".to_owned(), Bump::new(), |view| view as _);
        assert!(!small.is_inline() && small.to_string() == "spilled");
    });
    assert_eq!(left, (0, 0));
}

/// allocator-api2 0.4 has its own `Allocator` trait.
#[cfg(feature = "allocator-api2-04")]
#[test]
fn allocator_api2_04_vectors_grow_in_the_arena() {
    let bump = Bump::new();
    let mut vec = allocator_api2_04::vec::Vec::new_in(&bump);
    (0..scaled(5000)).for_each(|n| vec.push(n));
    vec.truncate(10);
    vec.shrink_to_fit();
    assert!({ vec }.iter().copied().eq(0..10));
    let mut owner = allocator_api2_04::vec::Vec::new_in(bump);
    owner.extend(0..scaled(5000));
    assert!({ owner }.iter().copied().eq(0..scaled(5000)));
}

/// The allocator of `with_buffer`, used by several vectors at once, moved, and asked for zero-size blocks.
#[test]
fn buffer_serves_collections() {
    let mut buffer = [std::mem::MaybeUninit::uninit(); 1000];
    for offset in 0..9 {
        let first = bump::First::new(&mut buffer[offset..], Global);
        let (mut some, mut other) = (AnyVec::new_in(&first), AnyVec::new_in(&first));
        for n in 0..scaled(400) {
            some.push(n);
            other.push(n.to_le_bytes()[0]);
            if n.is_multiple_of(50) {
                some.shrink_to_fit();
                other = AnyVec::with_capacity_in(0, &first);
            }
        }
        assert!(some.iter().copied().eq(0..scaled(400)));
        drop((some, other, AnyBox::new_in((), &first)));
        let aligned = AnyBox::new_in([7_u128; 9], &first);
        assert_eq!(*aligned, [7; 9]);
        drop(aligned);
        let mut moved = AnyVec::new_in(first);
        moved.extend(0..100_u8);
        assert!({ moved }.iter().copied().eq(0..100));
    }
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// bumpalo #232: shrinking to another alignment copies overlapping ranges correctly.
#[test]
fn shrinking_to_another_alignment_moves_the_bytes() {
    let numbers: [u8; 100] = std::array::from_fn(|at| at.to_le_bytes()[0]);
    for align in [1, 2, 16, 64, 256] {
        for size in [1_usize, 7, 24, 33, 100] {
            for small in (0..=size).step_by(if cfg!(miri) { 23 } else { 1 }) {
                for is_last in [true, false] {
                    let bump = Bump::<1>::with_capacity_in(2000, Global);
                    bump.alloc(1_u8);
                    let block = bump.alloc_layout(layout(size, 1));
                    // SAFETY: the block has `size` bytes and does not overlap the array.
                    unsafe { block.copy_from_nonoverlapping(NonNull::from(&numbers).cast(), size) };
                    if !is_last {
                        bump.alloc([0xFF_u8; 50]);
                    }
                    // SAFETY: the block is the arena's, with this layout; the new one is no larger.
                    let new = unsafe { (&&bump).shrink(block, layout(size, 1), layout(small, align)) }.unwrap();
                    assert_eq!(new.cast::<u8>().addr().get() % align, 0);
                    // SAFETY: the block has these bytes.
                    let bytes = unsafe { std::slice::from_raw_parts(new.cast::<u8>().as_ptr(), small) };
                    assert_eq!(bytes, &numbers[..small]);
                    // Then grows it, to another alignment.
                    // SAFETY: `shrink` returned the block for this layout; the new one is no smaller.
                    let new = unsafe { (&&bump).grow_zeroed(new.cast(), layout(small, align), layout(size + 70, 32)) }
                        .unwrap();
                    assert_eq!(new.cast::<u8>().addr().get() % 32, 0);
                    // SAFETY: the block has these bytes.
                    let bytes = unsafe { std::slice::from_raw_parts(new.cast::<u8>().as_ptr(), size + 70) };
                    assert_eq!(bytes[..small], numbers[..small]);
                    assert!(is_filled(&bytes[small..], 0));
                }
            }
        }
    }
}

/// bump-scope #32: an allocator that is itself highly aligned. It counts the blocks and bytes that it has allocated.
#[repr(align(128))]
#[derive(Default)]
struct Counting {
    blocks: Cell<isize>,
    bytes: Cell<isize>,
    /// The number of the call that fails, counted from 1.
    fail_at: Cell<u32>,
    calls: Cell<u32>,
}

impl Counting {
    fn call(&self) -> Result<(), AllocError> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() == self.fail_at.get() { Err(AllocError) } else { Ok(()) }
    }

    fn count(&self, blocks: isize, bytes: usize) {
        self.blocks.set(self.blocks.get() + blocks);
        self.bytes.set(self.bytes.get() + blocks * bytes.cast_signed());
    }
}

// SAFETY: the blocks come from `Global`, which also frees them.
unsafe impl Allocator for Counting {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        assert_eq!((&raw const *self).addr() % 128, 0);
        self.call()?;
        let block = Global.allocate(layout)?;
        self.count(1, layout.size());
        Ok(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.count(-1, layout.size());
        // SAFETY: `allocate` took the block from `Global` for this layout; it was not freed.
        unsafe { Global.deallocate(block, layout) };
    }
}

fn workload<A: Allocator>(bump: &mut Bump<8, A>, counts: &Counts) -> Result<(), ()> {
    let mut vec = bump::Vec::new_in(bump);
    let count = u32::try_from(scaled(3000)).unwrap();
    for n in 0..count {
        vec.try_push(n).map_err(drop)?;
    }
    let mut spies = bump::Vec::new_in(bump);
    for n in 0..count {
        spies.try_push(counts.spy(n)).map_err(drop)?;
        vec.try_push(n).map_err(drop)?;
    }
    bump.scope(|scope| {
        scope.try_alloc([1_u64; 3000]).map_err(drop)?;
        scope.try_alloc([1_u64; 30]).map_err(drop).map(drop)
    })?;
    let big = bump.try_alloc_slice_copy(&[7_u8; 20_000]).map_err(drop)?;
    assert!(is_filled(big, 7));
    let values = spies.iter().map(|spy: &Spy<'_>| spy.value);
    assert!(vec[..scaled(3000)].iter().copied().eq(0..count) && values.eq(0..count));
    drop((vec, spies));
    bump.reset();
    bump.try_alloc(1).map_err(drop)?;
    Ok(())
}

#[test]
fn aligned_base_allocator_fails_at_each_call() {
    let base = Counting::default();
    for fail_at in (1..).step_by(if cfg!(miri) { 5 } else { 1 }) {
        let counts = Counts::default();
        base.fail_at.set(fail_at);
        base.calls.set(0);
        let mut bump = Bump::<8, _>::new_in(&base);
        let done = workload(&mut bump, &counts).is_ok();
        assert!(counts.balanced());
        assert_eq!(bump.allocated_bytes().cast_signed(), base.bytes.get());
        if !done {
            base.fail_at.set(0);
            workload(&mut bump, &counts).unwrap();
        }
        drop(bump);
        assert_eq!((base.blocks.get(), base.bytes.get()), (0, 0));
        if fail_at > base.calls.get() {
            break;
        }
    }
    // The same with an allocator that the arena owns.
    let counts = Counts::default();
    let mut bump = Bump::<8, _>::new_in(Counting::default());
    workload(&mut bump, &counts).unwrap();
    assert_eq!(bump.allocator().bytes.get(), bump.allocated_bytes().cast_signed());
}

/// An allocator that panics instead of failing, and returns longer blocks than requested.
struct Panicking(Counting);

impl Panicking {
    /// Returns the layout of the longer block that is requested from `Global`.
    fn longer(layout: Layout) -> Layout {
        self::layout(layout.size() + 48, layout.align())
    }
}

// SAFETY: the blocks come from `Global`, which also frees them, and are longer than requested.
unsafe impl Allocator for Panicking {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.0.call().expect("intentional panic");
        let block = Global.allocate(Self::longer(layout))?;
        self.0.count(1, layout.size());
        Ok(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.0.count(-1, layout.size());
        // SAFETY: `allocate` and `grow` took the block from `Global` for the longer layout; it was not freed.
        unsafe { Global.deallocate(block, Self::longer(layout)) };
        self.0.call().expect("intentional panic");
    }

    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.0.call().expect("intentional panic");
        // SAFETY: `allocate` and `grow` took the block from `Global` for the longer layout; the new one is no smaller.
        let grown = unsafe { Global.grow(block, Self::longer(old), Self::longer(new)) }?;
        self.0.count(1, new.size() - old.size());
        self.0.blocks.set(self.0.blocks.get() - 1);
        Ok(grown)
    }
}

/// The allocator panics at each call, also in `deallocate`. The arena uses no block that was freed, and remains usable.
#[test]
fn base_allocator_panics_at_each_call() {
    for fail_at in (1..).step_by(if cfg!(miri) { 5 } else { 1 }) {
        let base = Panicking(Counting::default());
        let counts = Counts::default();
        base.0.fail_at.set(fail_at);
        let mut bump = Bump::<8, _>::new_in(&base);
        let mut panicked = panics(|| workload(&mut bump, &counts).unwrap());
        if panicked {
            workload(&mut bump, &counts).unwrap();
        }
        panicked |= panics(|| drop(bump));
        assert!(counts.balanced());
        assert!(base.0.blocks.get() >= 0);
        if !panicked {
            assert_eq!((base.0.blocks.get(), base.0.bytes.get()), (0, 0));
            assert!(fail_at > 10, "the workload made {fail_at} calls");
            break;
        }
    }
}

/// Shrinking by moving frees no chunk: if the allocator panicked then, the owner would keep a block that was freed.
#[test]
fn shrinking_to_another_alignment_frees_no_chunk() {
    for size in [100, 0] {
        let base = Panicking(Counting::default());
        let bump = Bump::<8, _>::new_in(&base);
        bump.alloc(1_u64);
        let old = layout(20_000, 1);
        let block = bump.alloc_layout(old);
        // SAFETY: the block has these bytes.
        unsafe { block.write_bytes(7, 20_000) };
        // An alignment that the block does not have, so it has to move.
        let new = layout(size, 2 << block.addr().get().trailing_zeros());
        base.0.fail_at.set(base.0.calls.get() + 1);
        let mut smaller = None;
        // SAFETY: the block is the arena's, with this layout; the new one is no larger.
        let panicked = panics(|| smaller = unsafe { (&&bump).shrink(block, old, new) }.ok());
        // SAFETY: the arena frees a dedicated chunk only with its block, so the old bytes are still there.
        assert!(is_filled(unsafe { std::slice::from_raw_parts(block.as_ptr(), 20_000) }, 7) && !panicked);
        // SAFETY: `shrink` returned the block, and copied this many bytes.
        assert!(is_filled(unsafe { std::slice::from_raw_parts(smaller.unwrap().cast().as_ptr(), size) }, 7));
        base.0.fail_at.set(0);
        drop(bump);
        assert_eq!((base.0.blocks.get(), base.0.bytes.get()), (0, 0));
    }
}

/// Collections from before a checkpoint keep their elements after a rewind to it, and can grow.
#[test]
fn older_collections_survive_a_rewind() {
    for size in [3, 100, if cfg!(miri) { 400 } else { 30_000 }] {
        let bump = Bump::new();
        let mut before = AnyVec::new_in(&bump);
        before.extend(0..size);
        let own = bump.alloc_iter(0..size);
        for _ in 0..3 {
            let checkpoint = bump.checkpoint();
            let mut after = AnyVec::new_in(&bump);
            after.extend(0..2 * size);
            bump.scope(|scope| AnyVec::<u64, _>::with_capacity_in(5000, scope).push(1));
            let boxed = AnyBox::new_in([1_u8; 20_000], &bump);
            drop((boxed, after));
            // SAFETY: nothing allocated since the checkpoint is used again, and older collections were not changed
            // since.
            unsafe { bump.rewind(checkpoint) };
        }
        before.extend(0..size);
        before.shrink_to_fit();
        assert!(before.iter().copied().eq((0..size).chain(0..size)) && own.iter().copied().eq(0..size));
    }
}

/// An arena whose chunks come from an arena.
#[test]
fn arena_serves_as_base_allocator() {
    let counts = Counts::default();
    let outer = Bump::<64>::with_min_align();
    let mut inner = Bump::<8, _>::new_in(&outer);
    workload(&mut inner, &counts).unwrap();
    let mut buffer = [std::mem::MaybeUninit::uninit(); 900];
    let mut stacked = Bump::<8, _>::with_buffer_in(&mut buffer, &inner);
    workload(&mut stacked, &counts).unwrap();
    assert!(counts.balanced());
}

/// An allocator that owns an arena.
struct Owns(Bump);

// SAFETY: the blocks belong to the arena, which keeps them until it is dropped, even when it moves, and which frees
// them.
unsafe impl Allocator for Owns {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.0.allocate(layout)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: `allocate` took the block from the arena for this layout; it was not freed.
        unsafe { (&&self.0).deallocate(block, layout) };
    }
}

/// An unmanaged vector identifies the arena of its block by address, so no two arenas may share one: not even an arena
/// and the arena inside its allocator, which is part of the same struct.
#[test]
fn arena_and_its_allocators_arena_have_distinct_addresses() {
    let outer = Bump::<8, _>::new_in(Owns(Bump::new()));
    let inner = &outer.allocator().0;
    assert_ne!((&raw const *inner).addr(), (&raw const outer).addr());
    let (mut vec, mut other) = (bump::UnmanagedVec::new(), bump::UnmanagedVec::new());
    for n in 0..100_u32 {
        if n % 3 == 0 {
            vec.push(inner, n);
            other.push(&outer, n);
        } else {
            vec.push(&outer, n);
            other.push(inner, n);
        }
        if n % 7 == 0 {
            outer.alloc(n);
            inner.alloc(n);
            vec.reserve(inner, 10 * n as usize);
            other.reserve(&outer, 10 * n as usize);
        }
    }
    assert!(vec.iter().copied().eq(0..100) && other.iter().copied().eq(0..100));
    // Nor may an arena and a scope of it.
    let scope = outer.scope_guard();
    let mut third = bump::UnmanagedVec::from_iter_in(vec.iter().copied(), &scope);
    third.reserve(&outer, 5000);
    third.reserve(&scope, 50_000);
    assert_eq!(*third, *vec);
}

thread_local! {
    static SELF: Cell<Option<&'static Bump<8, Reentrant>>> = const { Cell::new(None) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static KEPT: Cell<Option<&'static [u64; 40]>> = const { Cell::new(None) };
}

/// An allocator that re-enters the arena that calls it, and panics on demand.
struct Reentrant(Cell<bool>);

impl Reentrant {
    fn enter(&self) {
        assert!(!self.0.get(), "intentional panic in the allocator");
        if DEPTH.replace(1) == 0 {
            if let Some(bump) = SELF.get() {
                let value = bump.alloc([7_u64; 40]);
                KEPT.set(Some(value));
                bump.scope(|scope| assert_eq!(*scope.alloc(value[39]), 7));
                assert!(is_filled(bump.alloc_slice_copy(&[7_u8; 30_000]), 7));
            }
            DEPTH.set(0);
        }
    }
}

// SAFETY: the blocks come from `Global`, which also frees them.
unsafe impl Allocator for Reentrant {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.enter();
        Global.allocate(layout)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.enter();
        // SAFETY: `allocate` and `grow` took the block from `Global` for this layout; it was not freed.
        unsafe { Global.deallocate(block, layout) };
    }

    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.enter();
        // SAFETY: `allocate` and `grow` took the block from `Global` for the layout `old`; `new` is no smaller.
        let grown = unsafe { Global.grow(block, old, new) };
        self.enter();
        grown
    }
}

/// The base allocator may re-enter the arena in the middle of an operation, and panic.
#[test]
fn base_allocator_re_enters_and_panics() {
    let owner = Box::into_raw(Box::new(Bump::new_in(Reentrant(Cell::new(false)))));
    // SAFETY: the pointer comes from `Box::into_raw`, and the box is only rebuilt at the end.
    let bump: &'static Bump<8, Reentrant> = unsafe { &*owner };
    SELF.set(Some(bump));
    for size in if cfg!(miri) { &[1, 100, 600][..] } else { &[1, 100, 1000, 20_000, 100_000] }.iter().copied() {
        let mut vec = bump::Vec::new_in(bump);
        let mut other = bump::Vec::new_in(bump);
        for n in 0..size {
            vec.push(n);
            if n % 100 == 0 {
                other.push(n);
            }
        }
        assert!(vec.iter().copied().eq(0..size));
        assert!(other.iter().copied().eq((0..size).step_by(100)));
        bump.scope(|scope| {
            let mut vec = bump::Vec::new_in(scope);
            (0..size).for_each(|n| vec.push(n));
            assert!(vec.iter().copied().eq(0..size));
        });
        // `rewind` frees chunks, and the allocator uses the arena meanwhile; the values it allocates then stay valid.
        let checkpoint = bump.checkpoint();
        bump.alloc_layout(layout(size, 8));
        bump.alloc_layout(layout(3 << 20, 8)); // larger than any chunk
        (0..20).for_each(|_| _ = bump.alloc([7_u64; 60]));
        KEPT.set(None);
        // SAFETY: nothing allocated since the checkpoint is used again.
        unsafe { bump.rewind(checkpoint) };
        bump.alloc_slice_copy(&[8_u8; 3000]);
        assert_eq!(KEPT.get(), Some(&[7; 40]));
        let mut vec = bump::Vec::with_capacity_in(10, bump);
        bump.allocator().0.set(true);
        let _ = panics(|| (0..size).for_each(|n| vec.push(n)));
        bump.allocator().0.set(false);
        DEPTH.set(0);
        assert!(vec.iter().copied().eq(0..vec.len()));
        (vec.len()..size).for_each(|n| vec.push(n));
        assert!(vec.iter().copied().eq(0..size));
    }
    SELF.set(None);
    // SAFETY: the pointer came from `Box::into_raw`, and is not used again.
    drop(unsafe { Box::from_raw(owner) });
}

#[test]
fn failed_reserve_keeps_the_elements() {
    let bump = Bump::new();
    let mut vec = AnyVec::new_in(&bump);
    vec.extend_from_slice(&[1, 2, 3]);
    failing_after(0, || assert!(vec.try_reserve(100_000).is_err()));
    assert_eq!(*vec, [1, 2, 3]);
}

type Scripted = Bump<8, Script>;

/// An allocator that runs one action on the arena that calls it, and counts the bytes that it has allocated.
struct Script {
    arena: Cell<Option<&'static Scripted>>,
    /// The number of the call that runs `what`, counted from 0.
    when: usize,
    what: fn(&'static Scripted),
    calls: Cell<usize>,
    /// The size of the largest block that is not refused.
    largest: Cell<usize>,
    held: Cell<usize>,
    /// The most bytes that were allocated at once.
    peak: Cell<usize>,
}

impl Script {
    fn new(when: usize, what: fn(&'static Scripted)) -> Self {
        Self {
            arena: Cell::new(None),
            when,
            what,
            calls: Cell::new(0),
            largest: Cell::new(usize::MAX),
            held: Cell::new(0),
            peak: Cell::new(0),
        }
    }

    fn enter(&self) {
        if self.calls.replace(self.calls.get() + 1) == self.when
            && let Some(arena) = self.arena.get()
        {
            (self.what)(arena);
        }
    }

    fn hold(&self, more: usize, less: usize) {
        self.held.set(self.held.get() + more - less);
        self.peak.set(self.peak.get().max(self.held.get()));
    }
}

// SAFETY: the blocks come from `Global`, which also frees them.
unsafe impl Allocator for Script {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.enter();
        if layout.size() > self.largest.get() {
            return Err(AllocError);
        }
        let block = Global.allocate(layout)?;
        self.hold(layout.size(), 0);
        Ok(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.enter();
        // SAFETY: `allocate` and `grow` took the block from `Global` for this layout; it was not freed.
        unsafe { Global.deallocate(block, layout) };
        self.hold(0, layout.size());
    }

    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.enter();
        if new.size() > self.largest.get() {
            return Err(AllocError);
        }
        // SAFETY: `allocate` and `grow` took the block from `Global` for the layout `old`; `new` is no smaller.
        let block = unsafe { Global.grow(block, old, new) }?;
        self.hold(new.size(), old.size());
        Ok(block)
    }
}

/// Runs `f` with an arena of this allocator, and checks the counted bytes and that nothing is leaked.
fn scripted(script: Script, f: impl Fn(&'static Scripted)) {
    assert_eq!(
        left_by(|| {
            let owner = Box::into_raw(Box::new(Bump::new_in(script)));
            // SAFETY: the pointer comes from `Box::into_raw`, and the box is only rebuilt at the end.
            let arena: &'static Scripted = unsafe { &*owner };
            arena.allocator().arena.set(Some(arena));
            f(arena);
            assert_eq!(arena.allocated_bytes(), arena.allocator().held.get());
            arena.allocator().arena.set(None);
            // SAFETY: the pointer came from `Box::into_raw`, and is not used again.
            drop(unsafe { Box::from_raw(owner) });
        }),
        (0, 0)
    );
}

/// The step between the elements of `FIRST`: Miri takes every second one.
const EACH: usize = if cfg!(miri) { 2 } else { 1 };

/// The expected contents of all values; none is longer.
static SEVENS: [u64; 9000] = [7; 9000];

/// First requests of an arena, each returning memory filled with sevens.
const FIRST: [fn(&'static Scripted) -> &'static [u64]; 7] = [
    |arena| std::slice::from_ref(arena.alloc(7)),
    |arena| arena.alloc([7; 2]),
    |arena| arena.alloc([7; 5]),
    |arena| arena.alloc_slice_copy(&[7; 58]), // fills a first chunk
    |arena| arena.alloc([7; 9000]),
    |arena| arena.alloc_slice_copy(&[7; 59]),
    |arena| arena.try_alloc_slice_copy(&[7; 3]).unwrap(),
];

/// The base allocator uses the arena while the arena requests its first chunk.
#[test]
fn base_allocator_re_enters_during_the_first_chunk() {
    fn keep(arena: &'static Scripted, value: &'static [u64]) {
        KEPT_ALL.with_borrow_mut(|all| all.push(value));
        assert!(arena.allocated_bytes() > 0);
    }
    thread_local!(static KEPT_ALL: std::cell::RefCell<Vec<&'static [u64]>> = const { std::cell::RefCell::new(Vec::new()) });
    let actions: [fn(&'static Scripted); 9] = [
        |_| {},
        |arena| keep(arena, FIRST[0](arena)),
        |arena| keep(arena, FIRST[2](arena)),
        |arena| keep(arena, FIRST[4](arena)),
        |arena| arena.scope(|scope| assert_eq!(*scope.alloc(7), 7)),
        |arena| arena.set_allocation_limit(None),
        |arena| {
            let checkpoint = arena.checkpoint();
            arena.alloc([1_u64; 100]);
            // SAFETY: nothing allocated since the checkpoint is used again.
            unsafe { arena.rewind(checkpoint) };
        },
        |arena| std::mem::forget(arena.scope_guard()),
        |arena| (0..if cfg!(miri) { 60 } else { 200 }).for_each(|_| keep(arena, FIRST[1](arena))),
    ];
    for first in FIRST.into_iter().step_by(EACH) {
        for what in actions {
            for when in 0..if cfg!(miri) { 2 } else { 3 } {
                scripted(Script::new(when, what), |arena| {
                    KEPT_ALL.take();
                    let value = first(arena);
                    let more: Vec<_> = FIRST.iter().chain(&FIRST).step_by(EACH).map(|next| next(arena)).collect();
                    let kept = KEPT_ALL.take();
                    let all: Vec<_> = more.iter().chain(&kept).chain([&value]).collect();
                    assert!(all.iter().all(|value| **value == &SEVENS[..value.len()]));
                    let mut ranges: Vec<_> = all.iter().map(|value| value.as_ptr_range()).collect();
                    ranges.sort_by_key(|range| range.start);
                    assert!(ranges.is_sorted_by(|a, b| a.end <= b.start), "two values have the same bytes");
                });
            }
        }
    }
}

/// Bytes that are being requested count towards the limit: an allocator that re-enters the arena cannot get them a
/// second time.
#[test]
fn limit_holds_while_the_base_allocator_re_enters() {
    for when in 0..4 {
        for limit in [0, 200, 600, 1100, 2000, 20_000, 100_000].into_iter().step_by(EACH) {
            // The limit is set before the first chunk is requested; below, during the request.
            let what: fn(&'static Scripted) = |arena| _ = arena.try_alloc_slice_copy(&[7_u64; 50]);
            scripted(Script::new(when, what), |arena| {
                arena.set_allocation_limit(Some(limit));
                for size in [1, 30, 60, 100, 1000, 3000, 10] {
                    let _ = arena.try_alloc_slice_copy(&SEVENS[..size]);
                    let mut vec = bump::Vec::new_in(arena);
                    let _ = vec.try_extend(0..if cfg!(miri) { size.min(20) } else { size });
                    let _ = vec.try_extend_from_slice(&[0; 3000][..size]);
                }
                arena.scope(|scope| _ = scope.try_alloc([7_u64; 300]));
                assert!(arena.allocator().peak.get() <= limit);
            });
        }
    }
    for first in FIRST {
        let what: fn(&'static Scripted) = |arena| arena.set_allocation_limit(Some(80_000));
        scripted(Script::new(0, what), |arena| {
            first(arena);
            (0..if cfg!(miri) { 120 } else { 200 }).for_each(|_| _ = arena.try_alloc([7_u64; 100]));
            assert!(arena.allocator().peak.get() <= 80_000);
        });
    }
    // From inside a scope.
    scripted(Script::new(usize::MAX, |_| {}), |arena| {
        arena.scope(|scope| scope.set_allocation_limit(Some(100)));
        assert!(arena.try_alloc([7_u64; 20]).is_err() && arena.try_alloc(7_u64).is_ok());
        assert!(arena.allocated_bytes() <= 100);
    });
}

/// A first chunk is not counted if the allocator refuses it or panics, and a smaller one is used instead.
#[test]
fn refused_first_chunk_is_not_counted() {
    for first in FIRST {
        scripted(Script::new(0, |_| panic!("intentional panic in the allocator")), |arena| {
            assert!(panics(|| _ = first(arena)));
            assert_eq!(arena.allocated_bytes(), 0);
            let value = first(arena);
            assert_eq!(value, &SEVENS[..value.len()]);
        });
        scripted(Script::new(usize::MAX, |_| {}), |arena| {
            arena.allocator().largest.set(0);
            assert!(arena.try_alloc(7_u64).is_err() && arena.try_alloc([7_u64; 9]).is_err());
            assert_eq!(arena.allocated_bytes(), 0);
            arena.allocator().largest.set(100);
            assert_eq!(*arena.alloc(7_u64), 7);
            assert_eq!(arena.alloc([7_u64; 3]), &[7; 3]);
            assert!(arena.allocated_bytes() <= 2 * 100);
            arena.allocator().largest.set(usize::MAX);
            let value = first(arena);
            assert_eq!(value, &SEVENS[..value.len()]);
        });
    }
}

/// A rewind to a checkpoint from before the first chunk frees that chunk; one to a later checkpoint keeps it.
#[test]
fn rewind_to_before_the_first_chunk() {
    for first in FIRST {
        scripted(Script::new(usize::MAX, |_| {}), |arena| {
            for round in 0..3 {
                let none = arena.checkpoint();
                first(arena);
                let checkpoint = arena.checkpoint();
                let kept = first(arena);
                let one = arena.checkpoint();
                for next in FIRST {
                    next(arena);
                }
                if round == 2 {
                    arena.scope(|scope| assert_eq!(scope.alloc([7_u64; 300]), &[7; 300]));
                }
                // SAFETY: nothing allocated since the checkpoint is used again.
                unsafe { arena.rewind(one) };
                arena.alloc([round; 70]);
                assert_eq!(kept, &SEVENS[..kept.len()]);
                // SAFETY: nothing allocated since the checkpoint is used again.
                unsafe { arena.rewind(checkpoint) };
                assert!(arena.allocated_bytes() > 0);
                // SAFETY: nothing allocated since the checkpoint is used again.
                unsafe { arena.rewind(none) };
                // The arena may keep a saved chunk of the scope.
                assert!(arena.allocated_bytes() <= if round == 2 { 4080 } else { 0 });
            }
        });
    }
}

/// An allocator that lends out a value inside itself, once.
struct HandsOut {
    value: std::cell::UnsafeCell<u64>,
    is_out: Cell<bool>,
}

impl HandsOut {
    #[expect(clippy::mut_from_ref, reason = "a flag ensures that it is returned once")]
    fn value(&self) -> Option<&mut u64> {
        // SAFETY: `is_out` was false, so no other reference to the value was made.
        (!self.is_out.replace(true)).then(|| unsafe { &mut *self.value.get() })
    }
}

impl Clone for HandsOut {
    fn clone(&self) -> Self {
        Self { value: 7.into(), is_out: Cell::new(false) }
    }
}

// SAFETY: the blocks come from `Global`, which also frees them.
unsafe impl Allocator for HandsOut {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Global.allocate(layout)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: `allocate` took the block from `Global` for this layout; it was not freed.
        unsafe { Global.deallocate(block, layout) };
    }
}

/// A value kept from a pool may be inside the arena's struct, which must not move when the arena returns to the pool.
#[cfg(feature = "std")]
#[test]
fn values_kept_in_a_pooled_arena_do_not_move() {
    let mut pool = bump::BumpPool::<8, HandsOut>::new_in(HandsOut { value: 7.into(), is_out: Cell::new(false) });
    {
        // On the heap, so that a reference into a guard dangles when the guard is dropped.
        let arenas = Box::new([pool.get(), pool.get(), pool.get()]);
        let kept = arenas.each_ref().map(|arena| arena.keep(|bump| bump.allocator().value().expect("the first time")));
        let other = arenas[0].keep(|bump| bump.alloc(1_u64));
        drop(arenas);
        let again = [pool.get(), pool.get(), pool.get(), pool.get()];
        *kept[1] += 1;
        assert!(again[..3].iter().all(|arena| arena.allocator().value().is_none()));
        assert_eq!((*kept[0], *kept[1], *kept[2], *other), (7, 8, 7, 1));
        drop(again);
        assert_eq!(*kept[0] + *kept[1], 15);
    }
    pool.reset();
    assert_eq!(*pool.get().alloc(3), 3);
}

thread_local! {
    static REUSING: Cell<Option<&'static Bump<8, Reusing>>> = const { Cell::new(None) };
}

/// An allocator that reuses freed blocks immediately, at the same address, and uses the arena that calls it before and
/// after each call.
#[derive(Default)]
struct Reusing {
    free: std::cell::RefCell<Vec<(NonNull<u8>, Layout)>>,
    is_in: Cell<bool>,
    calls: Cell<usize>,
    reused: Cell<usize>,
}

impl Reusing {
    /// Uses the arena in a way that depends on the number of calls so far.
    fn enter(&self) {
        let Some(bump) = REUSING.get() else { return };
        if self.is_in.replace(true) {
            return;
        }
        let call = self.calls.replace(self.calls.get() + 1);
        let size = [1, 30, 300, 20_000, 40_000][call % 5];
        let block = bump.alloc_slice_copy(&vec![7_u8; size]);
        let mut vec = bump::Vec::new_in(bump);
        vec.extend_from_slice(block);
        if call.is_multiple_of(3) {
            let scope = bump.scope_guard();
            scope.alloc_slice_copy(&vec![6_u8; size]);
            vec.push(7);
        }
        let text = bump.alloc_fmt(format_args!("{size}{call}"));
        assert!(text.starts_with(char::is_numeric));
        assert!(is_filled(block, 7) && is_filled(&vec, 7));
        if call.is_multiple_of(2) {
            std::mem::forget(vec);
        }
        self.is_in.set(false);
    }
}

impl Drop for Reusing {
    fn drop(&mut self) {
        for (block, layout) in self.free.take() {
            // SAFETY: the block came from `Global`, and it is on the free list, so no other code uses it.
            unsafe { Global.deallocate(block, layout) };
        }
    }
}

// SAFETY: a block comes from `Global` with this layout, and is only returned to `Global` at the end. While it is on the
// free list no other code uses it.
unsafe impl Allocator for Reusing {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.enter();
        let mut free = self.free.borrow_mut();
        let found = free.iter().rposition(|&(_, free)| free == layout);
        let block = match found {
            Some(at) => {
                self.reused.set(self.reused.get() + 1);
                NonNull::slice_from_raw_parts(free.swap_remove(at).0, layout.size())
            }
            None => Global.allocate(layout)?,
        };
        drop(free);
        self.enter();
        Ok(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.enter();
        // SAFETY: the block has `layout.size()` bytes, and the caller guarantees that it is not used after it was
        // freed.
        unsafe { block.write_bytes(0xDD, layout.size()) };
        self.free.borrow_mut().push((block, layout));
        self.enter();
    }
}

/// The arena stays correct if its base allocator re-enters it and immediately reuses addresses.
#[test]
fn base_allocator_re_enters_and_reuses_addresses() {
    const EACH: usize = if cfg!(miri) { 1 } else { 6 };
    const WIDE: usize = if cfg!(miri) { 100 } else { 900 };
    const EVERY: usize = if cfg!(miri) { 60 } else { 400 };
    let owner = Box::into_raw(Box::new(Bump::new_in(Reusing::default())));
    // SAFETY: the pointer comes from `Box::into_raw`, and the box is only rebuilt at the end.
    let bump: &'static Bump<8, Reusing> = unsafe { &*owner };
    REUSING.set(Some(bump));
    for round in 0..if cfg!(miri) { 2 } else { 6_usize } {
        let mut vecs: Vec<bump::Vec<'_, usize, 8, Reusing>> = (0..3).map(|_| bump::Vec::new_in(bump)).collect();
        for n in 0..if cfg!(miri) {
            130
        } else if round % 2 == 0 {
            500
        } else {
            3000
        } {
            vecs[n % 2].push(n);
            vecs[2].push(n);
            if n % EVERY == EVERY - 1 {
                vecs[1] = bump::Vec::new_in(bump);
                bump.scope(|scope| {
                    let mut inner = bump::Vec::new_in(scope);
                    inner.extend(0..n * EACH);
                    assert!(inner.iter().copied().eq(0..n * EACH));
                    assert_eq!(bump.alloc_fmt(format_args!("{n:>WIDE$}")).len(), WIDE);
                });
                vecs[2].clear();
                vecs[2].shrink_to_fit();
            }
        }
        assert!(vecs[0].iter().all(|n| n % 2 == 0) && vecs[0].is_sorted() && vecs[2].is_sorted());
        // Allocates large blocks one after the other: the newest is freed, and the allocator reuses it.
        for size in [20_000, 20_000, 30_000, 20_000] {
            let mut large = bump::Vec::with_capacity_in(size, bump);
            large.extend_from_slice(&vec![1_u8; size]);
            large.extend_from_slice(&vec![1; size]);
            assert!(is_filled(&large, 1));
        }
        let checkpoint = bump.checkpoint();
        bump.alloc_slice_copy(&[1_u8; 50_000]);
        bump.alloc([1_u64; 300]);
        // SAFETY: nothing allocated since the checkpoint is used again, also not by the allocator.
        unsafe { bump.rewind(checkpoint) };
    }
    assert!(bump.allocator().reused.get() > 5 && bump.allocator().calls.get() > 20);
    REUSING.set(None);
    // SAFETY: the pointer came from `Box::into_raw`, and is not used again.
    drop(unsafe { Box::from_raw(owner) });
}

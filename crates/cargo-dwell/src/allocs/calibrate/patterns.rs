//! What is measured: values that are made and dropped, in phases.

use std::alloc::GlobalAlloc;
use std::alloc::Layout;
use std::fmt::Write as _;
use std::hint::black_box;

/// A sequence of operations, with a mark at the start, between the phases and at the end.
pub(super) struct Pattern {
    pub(super) name: &'static str,
    pub(super) run: fn(&mut dyn FnMut()),
    /// The number of blocks in each phase.
    pub(super) blocks: usize,
}

/// The number of blocks of a pattern.
pub(super) const BATCH: usize = 24;
/// The number of values in one of this library's places.
const FEW: usize = 8;
/// The blocks of glibc's thread cache.
const CACHED: usize = 7;
/// A size that has a fast bin, and one that has none.
const SMALL: usize = 48;
const LARGE: usize = 400;

/// Two phases without an operation.
pub(super) const EMPTY: Pattern = Pattern {
    name: "nothing",
    blocks: 1,
    run: |mark| {
        mark();
        mark();
        mark();
    },
};

pub(super) const GLIBC_CACHED: Pattern =
    Pattern { name: "glibc, thread cache", blocks: CACHED, run: |mark| batch(CACHED, mark, || Malloc::new(SMALL)) };
pub(super) const GLIBC_FAST: Pattern =
    Pattern { name: "glibc, fast bin", blocks: BATCH, run: |mark| batch(BATCH, mark, || Malloc::new(SMALL)) };
pub(super) const GLIBC_HEAP: Pattern =
    Pattern { name: "glibc, heap", blocks: BATCH, run: |mark| batch(BATCH, mark, || Malloc::new(LARGE)) };
pub(super) const MIMALLOC: Pattern =
    Pattern { name: "mimalloc", blocks: FEW, run: |mark| batch(FEW, mark, Mimalloc::new) };
/// Only timed: a string instruction counts once, and takes a step for each byte.
pub(super) const COPY: Pattern = Pattern { name: "copy", blocks: COPIED >> 10, run: copy };

pub(super) const POOL: Pattern =
    Pattern { name: "pool", blocks: FEW, run: |mark| batch(FEW, mark, || dwell::pooled!(value())) };
pub(super) const INLINE: Pattern = Pattern { name: "inline", blocks: FEW, run: |mark| batch(FEW, mark, inline) };
pub(super) const SLAB: Pattern = Pattern { name: "slab", blocks: FEW, run: slab };
pub(super) const SYNC_SLAB: Pattern = Pattern { name: "sync slab", blocks: FEW, run: sync_slab };
pub(super) const ARENA: Pattern = Pattern { name: "arena", blocks: FEW, run: arena };
pub(super) const BUFFER: Pattern = Pattern { name: "buffer", blocks: FEW, run: buffer };
pub(super) const SHARED: Pattern = Pattern { name: "shared", blocks: FEW, run: shared };

pub(super) const ALL: &[Pattern] =
    &[GLIBC_CACHED, GLIBC_FAST, GLIBC_HEAP, MIMALLOC, POOL, INLINE, SLAB, SYNC_SLAB, ARENA, BUFFER, SHARED];

type Value = [u64; 4];

fn value() -> Value {
    black_box([1, 2, 3, 4])
}

/// Makes values and drops them, first outside of the marks, so that caches are warm.
fn batch<T>(blocks: usize, mark: &mut dyn FnMut(), mut make: impl FnMut() -> T) {
    let mut all = Vec::with_capacity(blocks);
    (0..blocks).for_each(|_| all.push(make()));
    all.clear();
    mark();
    for _ in 0..blocks {
        all.push(make());
    }
    black_box(&mut all);
    mark();
    all.clear();
    mark();
}

/// A block of the system's allocator, whatever this program's allocator is.
struct Malloc(*mut u8);

impl Malloc {
    fn new(size: usize) -> Self {
        // SAFETY: `malloc` takes any size.
        let block = unsafe { libc::malloc(size) }.cast::<u8>();
        if !block.is_null() {
            // SAFETY: the block has at least one byte.
            unsafe { block.write(1) };
        }
        Self(black_box(block))
    }
}

impl Drop for Malloc {
    fn drop(&mut self) {
        // SAFETY: the block is from `malloc`, and is freed once.
        unsafe { libc::free(self.0.cast()) };
    }
}

/// A block of mimalloc.
struct Mimalloc(*mut u8);

const BLOCK: Layout = Layout::new::<Value>();

impl Mimalloc {
    fn new() -> Self {
        // SAFETY: the layout has a size above 0.
        let block = unsafe { mimalloc::MiMalloc.alloc(BLOCK) };
        if !block.is_null() {
            // SAFETY: the block has at least one byte.
            unsafe { block.write(1) };
        }
        Self(black_box(block))
    }
}

impl Drop for Mimalloc {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the block is from the same allocator with this layout, and is freed once.
            unsafe { mimalloc::MiMalloc.dealloc(self.0, BLOCK) };
        }
    }
}

/// The number of bytes that are copied: more than the first-level cache has.
const COPIED: usize = 256 << 10;

fn copy(mark: &mut dyn FnMut()) {
    let from = vec![1_u8; COPIED];
    let mut to = vec![0_u8; COPIED];
    mark();
    to.copy_from_slice(black_box(&from));
    black_box(&mut to);
    mark();
    mark();
}

fn inline() -> dwell::SmallBox<dyn Fn() -> u64, 4> {
    let value = value();
    dwell::small_box!(move || value[0])
}

fn slab(mark: &mut dyn FnMut()) {
    let slab = dwell::Slab::new();
    batch(FEW, mark, || slab.insert(value()));
}

fn sync_slab(mark: &mut dyn FnMut()) {
    let slab = dwell::slab::sync::Slab::new();
    batch(FEW, mark, || slab.insert(value()));
}

fn arena(mark: &mut dyn FnMut()) {
    let mut arena = dwell::Bump::new();
    for _ in 0..2 * FEW {
        black_box(arena.alloc(value()));
    }
    arena.reset();
    mark();
    for _ in 0..FEW {
        black_box(arena.alloc(value()));
    }
    mark();
    arena.reset();
    mark();
}

fn buffer(mark: &mut dyn FnMut()) {
    let mut buffer = String::with_capacity(64);
    mark();
    for _ in 0..FEW {
        // The text itself is written in both cases.
        buffer.clear();
        black_box(&mut buffer);
    }
    mark();
    let _ = write!(buffer, "");
    mark();
}

fn shared(mark: &mut dyn FnMut()) {
    let text: std::rc::Rc<str> = "shared".into();
    batch(FEW, mark, || black_box(&text).clone());
}

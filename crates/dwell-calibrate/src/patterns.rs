//! What is measured: values that are made and dropped, in phases.

use std::alloc::GlobalAlloc;
use std::alloc::Layout;
use std::hint::black_box;

/// Operations on a number of values, with a mark at the start, between the phases and at the end.
pub(super) struct Pattern {
    pub(super) run: fn(usize, &mut dyn FnMut()),
    /// The number of values for counting instructions, and for times: a clock needs many.
    pub(super) counted: usize,
    pub(super) timed: usize,
}

/// The number of blocks of a pattern for bins of glibc's allocator.
pub(super) const COUNTED: usize = 24;
/// The number of values in one of this library's places.
const FEW: usize = 8;
/// The number of values for times.
pub(super) const TIMED: usize = 512;
/// The blocks of glibc's thread cache.
const CACHED: usize = 7;
/// A size that has a fast bin, and one that has none.
const SMALL: usize = 48;
const LARGE: usize = 400;

const fn pattern(counted: usize, run: fn(usize, &mut dyn FnMut())) -> Pattern {
    Pattern { run, counted, timed: TIMED }
}

const fn maps(run: fn(usize, &mut dyn FnMut())) -> Pattern {
    Pattern { run, counted: ENTRIES[0], timed: ENTRIES[1] }
}

/// Two phases without an operation.
pub(super) const EMPTY: Pattern = pattern(1, |_, mark| {
    mark();
    mark();
    mark();
});
/// Words in a vector: the part of the next patterns that is not the allocator's.
pub(super) const WORDS: Pattern = pattern(FEW, |count, mark| batch(count, mark, || Word(black_box(1))));
pub(super) const GLIBC_CACHED: Pattern = pattern(CACHED, |count, mark| batch(count, mark, || Malloc::new(SMALL)));
pub(super) const GLIBC_FAST: Pattern = pattern(COUNTED, |count, mark| batch(count, mark, || Malloc::new(SMALL)));
pub(super) const GLIBC_HEAP: Pattern = pattern(COUNTED, |count, mark| batch(count, mark, || Malloc::new(LARGE)));
pub(super) const MIMALLOC: Pattern = pattern(FEW, |count, mark| batch(count, mark, Mimalloc::new));
/// Values in a vector: the part of the next patterns that is not the place's.
pub(super) const VALUES: Pattern = pattern(FEW, |count, mark| batch(count, mark, || Stored(value())));
pub(super) const POOL: Pattern = pattern(FEW, |count, mark| batch(count, mark, || dwell::pooled!(value())));
pub(super) const INLINE: Pattern = pattern(FEW, |count, mark| batch(count, mark, inline));
pub(super) const SLAB: Pattern = pattern(FEW, slab);
pub(super) const SYNC_SLAB: Pattern = pattern(FEW, sync_slab);
pub(super) const ARENA: Pattern = pattern(FEW, arena);
pub(super) const BUFFER: Pattern = pattern(FEW, buffer);
pub(super) const SHARED: Pattern = pattern(FEW, shared);
/// Blocks of this program's allocator, each freed before the next: the part of the next two that is not std's.
pub(super) const BOXES: Pattern = pattern(FEW, |count, mark| one_by_one(count, mark, || Box::new(value())));
pub(super) const GROWN: Pattern = pattern(FEW, |count, mark| one_by_one(count, mark, grown));
pub(super) const CLONED: Pattern = pattern(FEW, cloned);
/// A block that is freed before the next: of this program's allocator by std, of glibc's and of mimalloc without it.
pub(super) const BY_STD: Pattern = pattern(FEW, |count, mark| one_by_one(count, mark, by_std));
pub(super) const GLIBC_ALONE: Pattern =
    pattern(FEW, |count, mark| one_by_one(count, mark, || Malloc::new(BLOCK.size())));
pub(super) const MIMALLOC_ALONE: Pattern = pattern(FEW, |count, mark| one_by_one(count, mark, Mimalloc::new));
/// A block that is reallocated before it is freed.
pub(super) const GLIBC_RESIZED: Pattern =
    pattern(FEW, |count, mark| one_by_one(count, mark, || Malloc::new(8).resized()));
pub(super) const MIMALLOC_RESIZED: Pattern =
    pattern(FEW, |count, mark| one_by_one(count, mark, || Mimalloc::new().resized()));
/// A map that gets as large as another one was from the start.
pub(super) const HASHED: Pattern = maps(|count, mark| filled(count, mark, count));
pub(super) const REHASHED_MAP: Pattern = maps(|count, mark| filled(count, mark, 0));
/// Allocations, each freed before the next. Only timed: seven blocks are too few for a clock.
pub(super) const GLIBC_PAIRS: Pattern = pattern(FEW, |count, mark| one_by_one(count, mark, || Malloc::new(SMALL)));
/// Only timed: a string instruction counts once, and takes a step for each byte.
pub(super) const COPY: Pattern = Pattern { run: copy, counted: 0, timed: COPIED };

/// The patterns whose instructions are counted, in the order of [`Counted`].
pub(super) const ALL: &[Pattern] = &[
    WORDS,
    GLIBC_CACHED,
    GLIBC_FAST,
    GLIBC_HEAP,
    MIMALLOC,
    VALUES,
    POOL,
    INLINE,
    SLAB,
    SYNC_SLAB,
    ARENA,
    BUFFER,
    SHARED,
    BOXES,
    GROWN,
    CLONED,
    HASHED,
    REHASHED_MAP,
    GLIBC_RESIZED,
    MIMALLOC_RESIZED,
    BY_STD,
    GLIBC_ALONE,
    MIMALLOC_ALONE,
];

/// The index of a pattern in [`ALL`].
#[derive(Clone, Copy)]
pub(super) enum Counted {
    Words,
    GlibcCached,
    GlibcFast,
    GlibcHeap,
    Mimalloc,
    Values,
    Pool,
    Inline,
    Slab,
    SyncSlab,
    Arena,
    Buffer,
    Shared,
    Boxes,
    Grown,
    Cloned,
    Hashed,
    Rehashed,
    GlibcResized,
    MimallocResized,
    ByStd,
    GlibcAlone,
    MimallocAlone,
}

type Value = [u64; 4];

fn value() -> Value {
    black_box([1, 2, 3, 4])
}

/// Makes values and drops them, first outside of the marks, so that caches are warm.
fn batch<T>(count: usize, mark: &mut dyn FnMut(), mut make: impl FnMut() -> T) {
    let mut all = Vec::with_capacity(count);
    (0..count).for_each(|_| all.push(make()));
    all.clear();
    mark();
    for _ in 0..count {
        all.push(make());
    }
    black_box(&mut all);
    mark();
    all.clear();
    mark();
}

/// A word with a drop.
struct Word(usize);

impl Drop for Word {
    fn drop(&mut self) {
        black_box(self.0);
    }
}

/// A value with a drop.
struct Stored(Value);

impl Drop for Stored {
    fn drop(&mut self) {
        black_box(&mut self.0);
    }
}

/// Makes values, each dropped before the next, in one phase.
fn one_by_one<T>(count: usize, mark: &mut dyn FnMut(), mut make: impl FnMut() -> T) {
    mark();
    for _ in 0..count {
        drop(black_box(make()));
    }
    mark();
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

    fn resized(mut self) -> Self {
        // SAFETY: the block is from `malloc`. The new one replaces it, unless there is none.
        let block = unsafe { libc::realloc(self.0.cast(), 16) }.cast::<u8>();
        if !block.is_null() {
            self.0 = black_box(block);
        }
        self
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
        // SAFETY: `alloc` needs a layout of at least one byte, and `BLOCK` is that of four words.
        let block = unsafe { mimalloc::MiMalloc.alloc(BLOCK) };
        if !block.is_null() {
            // SAFETY: the block has at least one byte.
            unsafe { block.write(1) };
        }
        Self(black_box(block))
    }
}

impl Mimalloc {
    fn resized(mut self) -> Self {
        if !self.0.is_null() {
            // SAFETY: the block is from the same allocator with this layout, which `drop` is not called with after this.
            let block = unsafe { mimalloc::MiMalloc.realloc(self.0, BLOCK, RESIZED.size()) };
            if !block.is_null() {
                // SAFETY: the block is from the same allocator with this layout, and is freed once.
                unsafe { mimalloc::MiMalloc.dealloc(block, RESIZED) };
                self.0 = std::ptr::null_mut();
            }
        }
        self
    }
}

const RESIZED: Layout = Layout::new::<[u64; 8]>();

impl Drop for Mimalloc {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the block is from the same allocator with this layout, and is freed once.
            unsafe { mimalloc::MiMalloc.dealloc(self.0, BLOCK) };
        }
    }
}

/// The entries of maps that are filled, and how many of them growth moves: of 12 those of tables for 3 and 7.
const ENTRIES: [usize; 2] = [12, 100];
pub(super) const REHASHED: [usize; 2] = [3 + 7, 3 + 7 + 14 + 28 + 56];

/// Fills a map of a capacity; the difference of two is what growth costs.
fn filled(count: usize, mark: &mut dyn FnMut(), capacity: usize) {
    mark();
    let mut map = std::collections::HashMap::with_capacity(capacity);
    for key in 0..count {
        map.insert(black_box(key), key);
    }
    mark();
    drop(black_box(map));
    mark();
}

/// The number of bytes that are copied: more than the first-level cache has.
const COPIED: usize = 256 << 10;

fn copy(count: usize, mark: &mut dyn FnMut()) {
    let from = vec![1_u8; count];
    let mut to = vec![0_u8; count];
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

fn slab(count: usize, mark: &mut dyn FnMut()) {
    let slab = dwell::Slab::new();
    batch(count, mark, || slab.insert(value()));
}

fn sync_slab(count: usize, mark: &mut dyn FnMut()) {
    let slab = dwell::slab::sync::Slab::new();
    batch(count, mark, || slab.insert(value()));
}

fn arena(count: usize, mark: &mut dyn FnMut()) {
    let mut arena = dwell::Bump::new();
    for _ in 0..2 * count {
        black_box(arena.alloc(value()));
    }
    arena.reset();
    mark();
    for _ in 0..count {
        black_box(arena.alloc(value()));
    }
    mark();
    arena.reset();
    mark();
}

fn buffer(count: usize, mark: &mut dyn FnMut()) {
    let mut buffer = String::with_capacity(64);
    mark();
    for _ in 0..count {
        // The text itself is written in both cases.
        buffer.clear();
        black_box(&mut buffer);
    }
    mark();
    mark();
}

fn shared(count: usize, mark: &mut dyn FnMut()) {
    let text: std::rc::Rc<str> = "shared".into();
    batch(count, mark, || black_box(&text).clone());
}

/// A block as those of [`Malloc`] and [`Mimalloc`], with one byte written.
#[expect(clippy::unnecessary_box_returns, reason = "the box is what is measured")]
fn by_std() -> Box<std::mem::MaybeUninit<Value>> {
    let mut block = Box::<Value>::new_uninit();
    // SAFETY: the block has at least one byte.
    unsafe { block.as_mut_ptr().cast::<u8>().write(1) };
    block
}

/// A vector that allocates by its first push.
#[expect(clippy::vec_init_then_push, reason = "the push is what is measured")]
fn grown() -> Vec<u64> {
    let mut values = Vec::new();
    values.push(black_box(1));
    values
}

fn cloned(count: usize, mark: &mut dyn FnMut()) {
    let text = String::from("a word");
    one_by_one(count, mark, || black_box(&text).clone());
}

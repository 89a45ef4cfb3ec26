//! The global allocator, which counts on request: the system's, mimalloc with `--mimalloc`, or jemalloc with the feature
//! `profile`.

use anyhow::{Context, Result};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::CStr;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU8, Ordering::Relaxed};

use mimalloc::MiMalloc;

#[cfg(not(feature = "profile"))]
const SYSTEM: System = System;
#[cfg(feature = "profile")]
const SYSTEM: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The variable of the environment that names the allocator. A process has one allocator from its first allocation on.
pub(crate) const VARIABLE: &str = "DWELL_BENCH_ALLOCATOR";
const NAME: &CStr = c"DWELL_BENCH_ALLOCATOR";

/// Returns the name of the allocator, for reports.
pub(crate) fn allocator() -> &'static str {
    match MODE.load(Relaxed) & MIMALLOC {
        0 if cfg!(feature = "profile") => "jemalloc",
        0 => "system",
        _ => "mimalloc",
    }
}

/// Returns whether the allocator is mimalloc.
pub(crate) fn is_mimalloc() -> bool {
    MODE.load(Relaxed) & MIMALLOC != 0
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// What an allocation has to test. A timed run with the system's allocator finds 0, and one with mimalloc `MIMALLOC`.
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
/// The allocator is mimalloc.
const MIMALLOC: u8 = 1;
/// Allocations are recorded.
const WATCHED: u8 = 2;
/// This is the first allocation.
const UNKNOWN: u8 = 4;

fn watch(on: bool) {
    if on {
        MODE.fetch_or(WATCHED, Relaxed);
    } else {
        MODE.fetch_and(!WATCHED, Relaxed);
    }
}

/// Whether the allocator counts. It is off by default, so that a timed run costs only one predictable branch.
static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);
static BLOCKS: AtomicIsize = AtomicIsize::new(0);
static MADE: AtomicIsize = AtomicIsize::new(0);

/// Whether the usable size of each block is queried.
static ASKING: AtomicBool = AtomicBool::new(false);
static TAKEN: AtomicIsize = AtomicIsize::new(0);

/// The blocks allocated and not freed since [`start`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    /// The requested bytes, without those that the allocator adds.
    pub(crate) bytes: isize,
    pub(crate) blocks: isize,
}

/// Starts to count.
pub(crate) fn start() {
    BYTES.store(0, Relaxed);
    BLOCKS.store(0, Relaxed);
    MADE.store(0, Relaxed);
    ON.store(true, Relaxed);
    watch(true);
}

/// Returns the bytes and blocks allocated and not freed since [`start`].
pub(crate) fn live() -> Live {
    Live { bytes: BYTES.load(Relaxed), blocks: BLOCKS.load(Relaxed) }
}

/// Returns the number of blocks allocated since [`start`], freed or not.
pub(crate) fn made() -> isize {
    MADE.load(Relaxed)
}

/// Starts to query the allocator for the usable size of each block. Not used during timed runs.
pub(crate) fn start_asking() {
    TAKEN.store(0, Relaxed);
    ASKING.store(true, Relaxed);
    watch(true);
}

/// Stops to query the allocator. Returns the bytes that it took for the blocks allocated and not freed since
/// [`start_asking`].
pub(crate) fn taken() -> isize {
    ASKING.store(false, Relaxed);
    watch(ON.load(Relaxed));
    TAKEN.load(Relaxed)
}

/// Returns the resident bytes of this process.
pub(crate) fn resident() -> Result<usize> {
    let statm = fs::read_to_string("/proc/self/statm").context("no /proc/self/statm: this needs Linux")?;
    let pages: usize = statm.split_whitespace().nth(1).context("/proc/self/statm has no second number")?.parse()?;
    Ok(pages * rustix::param::page_size())
}

/// Returns the bytes that the allocator takes for a block, including its header.
///
/// # Safety
///
/// `block` is a live block of the inner allocator.
unsafe fn taken_for(block: *mut u8) -> usize {
    if is_mimalloc() {
        // SAFETY: the caller guarantees that `block` is a live block of the inner allocator, which is mimalloc.
        return unsafe { MiMalloc.usable_size(block) };
    }
    #[cfg(feature = "profile")]
    // SAFETY: the caller guarantees that `block` is a live block of the inner allocator, which is jemalloc.
    return unsafe { tikv_jemallocator::usable_size(block) };
    // glibc stores a chunk's size before each block, and another word for a chunk with pages of its own.
    #[cfg(not(feature = "profile"))]
    {
        // SAFETY: the caller guarantees that `block` is a live block of the inner allocator, which uses `malloc`.
        let usable = unsafe { libc::malloc_usable_size(block.cast()) };
        if usable == 0 { 0 } else { usable + size_of::<usize>() }
    }
}

/// Stops to count.
pub(crate) fn stop() {
    ON.store(false, Relaxed);
    watch(ASKING.load(Relaxed));
}

struct Counting;

/// Returns the inner allocator of this process.
fn inner() -> &'static dyn GlobalAlloc {
    if MODE.load(Relaxed) & UNKNOWN != 0 {
        // SAFETY: the name is a string, and no other thread writes the environment before the first allocation.
        let value = unsafe { libc::getenv(NAME.as_ptr()) };
        // SAFETY: `getenv` returns null or a string.
        let is_mimalloc = !value.is_null() && unsafe { CStr::from_ptr(value) } == c"mimalloc";
        MODE.store(if is_mimalloc { MIMALLOC } else { 0 }, Relaxed);
    }
    if is_mimalloc() { &MiMalloc } else { &SYSTEM }
}

impl Counting {
    /// Counts an allocated (`sign` 1) or freed (-1) block.
    ///
    /// # Safety
    ///
    /// `block` is a live block of the inner allocator, or null.
    unsafe fn note(block: *mut u8, size: usize, sign: isize) {
        Self::add(sign, sign * signed(size));
        // SAFETY: the caller guarantees that `block` is a live block of the inner allocator, or null.
        unsafe { Self::ask(block, sign) };
    }

    // All but the system's allocator is behind functions that are not inlined: a call costs one test and saves no
    // register, and the compiler optimises subjects as with a plain allocator. A drop that it inlines there is inlined
    // here; with mimalloc's functions beside the system's it is not.

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::alloc`].
    #[cold]
    #[inline(never)]
    unsafe fn alloc_other(layout: Layout) -> *mut u8 {
        if MODE.load(Relaxed) == MIMALLOC {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc`.
            return unsafe { MiMalloc.alloc(layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc` for this layout.
        let block = unsafe { inner().alloc(layout) };
        // SAFETY: the inner allocator has just returned `block`, which is live or null.
        unsafe { Self::note(block, layout.size(), 1) };
        block
    }

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::alloc_zeroed`].
    #[cold]
    #[inline(never)]
    unsafe fn alloc_zeroed_other(layout: Layout) -> *mut u8 {
        if MODE.load(Relaxed) == MIMALLOC {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc_zeroed`.
            return unsafe { MiMalloc.alloc_zeroed(layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc_zeroed` for this layout.
        let block = unsafe { inner().alloc_zeroed(layout) };
        // SAFETY: the inner allocator has just returned `block`, which is live or null.
        unsafe { Self::note(block, layout.size(), 1) };
        block
    }

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::realloc`].
    #[cold]
    #[inline(never)]
    unsafe fn realloc_other(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if MODE.load(Relaxed) == MIMALLOC {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`. `block` comes from mimalloc, which is
            // the allocator of this process, with the same layout.
            return unsafe { MiMalloc.realloc(block, layout, size) };
        }
        Self::add(0, signed(size) - signed(layout.size()));
        // SAFETY: the caller guarantees that `block` is a live block of this allocator. All its blocks come from the
        // inner allocator.
        unsafe { Self::ask(block, -1) };
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`. `block` comes from the inner allocator
        // with the same layout.
        let block = unsafe { inner().realloc(block, layout, size) };
        // SAFETY: the inner allocator has just returned `block`, which is live or null.
        unsafe { Self::ask(block, 1) };
        block
    }

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::dealloc`].
    #[cold]
    #[inline(never)]
    unsafe fn dealloc_other(block: *mut u8, layout: Layout) {
        if MODE.load(Relaxed) == MIMALLOC {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::dealloc`. `block` comes from mimalloc, which is
            // the allocator of this process, with the same layout.
            return unsafe { MiMalloc.dealloc(block, layout) };
        }
        // SAFETY: the caller guarantees that `block` is a live block of this allocator. All its blocks come from the
        // inner allocator.
        unsafe { Self::note(block, layout.size(), -1) };
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::dealloc`. `block` comes from the inner allocator
        // with the same layout.
        unsafe { inner().dealloc(block, layout) }
    }

    /// Adds the usable size of a block, or subtracts it, by `sign`.
    ///
    /// # Safety
    ///
    /// `block` is a live block of the inner allocator, or null.
    unsafe fn ask(block: *mut u8, sign: isize) {
        if ASKING.load(Relaxed) && !block.is_null() {
            // SAFETY: the caller guarantees a live block of the inner allocator, or null, which the check above
            // excludes.
            TAKEN.fetch_add(sign * signed(unsafe { taken_for(block) }), Relaxed);
        }
    }

    fn add(blocks: isize, bytes: isize) {
        if ON.load(Relaxed) {
            BYTES.fetch_add(bytes, Relaxed);
            BLOCKS.fetch_add(blocks, Relaxed);
            MADE.fetch_add(blocks.max(0), Relaxed);
        }
    }
}

fn signed(size: usize) -> isize {
    isize::try_from(size).expect("a layout is at most isize::MAX bytes")
}

// SAFETY: each function passes its arguments on to the inner allocator, whose implementation fulfils the contract, and
// returns its result.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if MODE.load(Relaxed) != 0 {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc`,
            // which `alloc_other` requires.
            return unsafe { Self::alloc_other(layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc`.
        unsafe { SYSTEM.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if MODE.load(Relaxed) != 0 {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc_zeroed`,
            // which `alloc_zeroed_other` requires.
            return unsafe { Self::alloc_zeroed_other(layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { SYSTEM.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if MODE.load(Relaxed) != 0 {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`,
            // which `realloc_other` requires.
            return unsafe { Self::realloc_other(block, layout, size) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`. `block` comes from the system's allocator,
        // which is that of this process, with the same layout.
        unsafe { SYSTEM.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if MODE.load(Relaxed) != 0 {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::dealloc`,
            // which `dealloc_other` requires.
            return unsafe { Self::dealloc_other(block, layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::dealloc`. `block` comes from the system's allocator,
        // which is that of this process, with the same layout.
        unsafe { SYSTEM.dealloc(block, layout) }
    }
}

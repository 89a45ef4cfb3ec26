//! The global allocator: the system's (jemalloc with the feature `profile`, mimalloc with `mimalloc`), counting when asked.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

#[cfg(not(any(feature = "profile", feature = "mimalloc")))]
type Inner = std::alloc::System;
#[cfg(feature = "profile")]
type Inner = tikv_jemallocator::Jemalloc;

#[cfg(not(any(feature = "profile", feature = "mimalloc")))]
const INNER: Inner = std::alloc::System;
#[cfg(feature = "profile")]
const INNER: Inner = tikv_jemallocator::Jemalloc;

#[cfg(all(feature = "mimalloc", not(feature = "profile")))]
type Inner = mimalloc::MiMalloc;
#[cfg(all(feature = "mimalloc", not(feature = "profile")))]
const INNER: Inner = mimalloc::MiMalloc;

/// What the numbers were measured on.
pub(crate) const ALLOCATOR: &str = if cfg!(feature = "profile") {
    "jemalloc"
} else if cfg!(feature = "mimalloc") {
    "mimalloc"
} else {
    "system"
};

#[global_allocator]
static GLOBAL: Counting = Counting(INNER);

/// Off by default, so that a timed run pays one predictable branch only.
static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);
static BLOCKS: AtomicIsize = AtomicIsize::new(0);
static MADE: AtomicIsize = AtomicIsize::new(0);

/// What lives more than at [`start`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    /// Bytes as requested, without the allocator's own.
    pub(crate) bytes: isize,
    pub(crate) blocks: isize,
}

/// Counts from here on.
pub(crate) fn start() {
    BYTES.store(0, Relaxed);
    BLOCKS.store(0, Relaxed);
    MADE.store(0, Relaxed);
    ON.store(true, Relaxed);
}

/// What has been allocated and not freed since [`start`].
pub(crate) fn live() -> Live {
    Live { bytes: BYTES.load(Relaxed), blocks: BLOCKS.load(Relaxed) }
}

/// Blocks allocated since [`start`], freed or not.
pub(crate) fn made() -> isize {
    MADE.load(Relaxed)
}

/// Counts no more.
pub(crate) fn stop() {
    ON.store(false, Relaxed);
}

struct Counting(Inner);

impl Counting {
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

// SAFETY: every call is handed on to an allocator that keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(1, signed(layout.size()));
        // SAFETY: the caller keeps the contract of this very function.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(1, signed(layout.size()));
        // SAFETY: as in `alloc`.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(0, signed(size) - signed(layout.size()));
        // SAFETY: as in `alloc`.
        unsafe { self.0.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::add(-1, -signed(layout.size()));
        // SAFETY: as in `alloc`.
        unsafe { self.0.dealloc(block, layout) }
    }
}

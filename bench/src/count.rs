//! The global allocator: the system's (jemalloc with the feature `profile`, mimalloc with `mimalloc`), counting when
//! asked.

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
/// Whether there is anything to do for a block that is made or freed: the one thing that a timed run looks at.
static WATCHED: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);
static BLOCKS: AtomicIsize = AtomicIsize::new(0);
static MADE: AtomicIsize = AtomicIsize::new(0);

/// Whether the usable size of each block is queried.
static ASKING: AtomicBool = AtomicBool::new(false);
static TAKEN: AtomicIsize = AtomicIsize::new(0);

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
    WATCHED.store(true, Relaxed);
}

/// What has been allocated and not freed since [`start`].
pub(crate) fn live() -> Live {
    Live { bytes: BYTES.load(Relaxed), blocks: BLOCKS.load(Relaxed) }
}

/// Blocks allocated since [`start`], freed or not.
pub(crate) fn made() -> isize {
    MADE.load(Relaxed)
}

/// Starts to query the allocator for the usable size of each block. Not used during timed runs.
pub(crate) fn start_asking() {
    TAKEN.store(0, Relaxed);
    ASKING.store(true, Relaxed);
    WATCHED.store(true, Relaxed);
}

/// The bytes that the allocator took for blocks since [`start_asking`] and not freed; it is not asked any more.
pub(crate) fn taken() -> isize {
    ASKING.store(false, Relaxed);
    WATCHED.store(ON.load(Relaxed), Relaxed);
    TAKEN.load(Relaxed)
}

/// Bytes that the allocator takes for a block, its own for each block included.
///
/// # Safety
///
/// It is a block of the allocator's.
unsafe fn taken_for(block: *mut u8) -> usize {
    #[cfg(feature = "profile")]
    // SAFETY: by the caller.
    return unsafe { tikv_jemallocator::usable_size(block) };
    #[cfg(all(feature = "mimalloc", not(feature = "profile")))]
    // SAFETY: by the caller.
    return unsafe { INNER.usable_size(block) };
    // glibc stores a chunk's size before each block, and another word for a chunk with pages of its own.
    #[cfg(not(any(feature = "profile", feature = "mimalloc")))]
    {
        // SAFETY: by the caller.
        let usable = unsafe { libc::malloc_usable_size(block.cast()) };
        if usable == 0 { 0 } else { usable + size_of::<usize>() }
    }
}

/// Counts no more.
pub(crate) fn stop() {
    ON.store(false, Relaxed);
    WATCHED.store(ASKING.load(Relaxed), Relaxed);
}

struct Counting(Inner);

impl Counting {
    /// Counts a block that is made (`sign` 1) or freed (-1).
    ///
    /// # Safety
    ///
    /// It is a block of the allocator's, or null.
    unsafe fn note(block: *mut u8, size: usize, sign: isize) {
        Self::add(sign, sign * signed(size));
        // SAFETY: by the caller.
        unsafe { Self::ask(block, sign) };
    }

    // The paths with counting are separate functions: without it there is one test, and no register is saved for it.
    // Not inlined, so that subjects are optimised as with a plain allocator: a drop that is inlined there is inlined
    // here.

    /// # Safety
    ///
    /// As [`GlobalAlloc::alloc`].
    #[cold]
    #[inline(never)]
    unsafe fn alloc_noted(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller.
        let block = unsafe { self.0.alloc(layout) };
        // SAFETY: that is where it is from.
        unsafe { Self::note(block, layout.size(), 1) };
        block
    }

    /// # Safety
    ///
    /// As [`GlobalAlloc::alloc_zeroed`].
    #[cold]
    #[inline(never)]
    unsafe fn alloc_zeroed_noted(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller.
        let block = unsafe { self.0.alloc_zeroed(layout) };
        // SAFETY: that is where it is from.
        unsafe { Self::note(block, layout.size(), 1) };
        block
    }

    /// # Safety
    ///
    /// As [`GlobalAlloc::realloc`].
    #[cold]
    #[inline(never)]
    unsafe fn realloc_noted(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(0, signed(size) - signed(layout.size()));
        // SAFETY: the caller's block is the allocator's.
        unsafe { Self::ask(block, -1) };
        // SAFETY: by the caller.
        let block = unsafe { self.0.realloc(block, layout, size) };
        // SAFETY: that is where it is from.
        unsafe { Self::ask(block, 1) };
        block
    }

    /// # Safety
    ///
    /// As [`GlobalAlloc::dealloc`].
    #[cold]
    #[inline(never)]
    unsafe fn dealloc_noted(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's block is the allocator's.
        unsafe { Self::note(block, layout.size(), -1) };
        // SAFETY: by the caller.
        unsafe { self.0.dealloc(block, layout) }
    }

    /// Adds the usable size of a block, or subtracts it, by `sign`.
    ///
    /// # Safety
    ///
    /// It is a block of the allocator's, or null.
    unsafe fn ask(block: *mut u8, sign: isize) {
        if ASKING.load(Relaxed) && !block.is_null() {
            // SAFETY: by the caller.
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

// SAFETY: every call is handed on to an allocator that keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller keeps the contract of this very function.
            return unsafe { self.alloc_noted(layout) };
        }
        // SAFETY: as above.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller keeps the contract of this very function.
            return unsafe { self.alloc_zeroed_noted(layout) };
        }
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller keeps the contract of this very function.
            return unsafe { self.realloc_noted(block, layout, size) };
        }
        // SAFETY: as above.
        unsafe { self.0.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller keeps the contract of this very function.
            return unsafe { self.dealloc_noted(block, layout) };
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(block, layout) }
    }
}

//! The global allocator: the system's (jemalloc with the feature `profile`, mimalloc with `mimalloc`), which counts on
//! request.

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

/// The name of the allocator, for reports.
pub(crate) const ALLOCATOR: &str = if cfg!(feature = "profile") {
    "jemalloc"
} else if cfg!(feature = "mimalloc") {
    "mimalloc"
} else {
    "system"
};

#[global_allocator]
static GLOBAL: Counting = Counting(INNER);

/// Whether the allocator counts. It is off by default, so that a timed run costs only one predictable branch.
static ON: AtomicBool = AtomicBool::new(false);
/// Whether an allocation or a free has anything to record. A timed run reads only this flag.
static WATCHED: AtomicBool = AtomicBool::new(false);
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
    WATCHED.store(true, Relaxed);
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
    WATCHED.store(true, Relaxed);
}

/// Stops to query the allocator. Returns the bytes that it took for the blocks allocated and not freed since
/// [`start_asking`].
pub(crate) fn taken() -> isize {
    ASKING.store(false, Relaxed);
    WATCHED.store(ON.load(Relaxed), Relaxed);
    TAKEN.load(Relaxed)
}

/// Returns the bytes that the allocator takes for a block, including its header.
///
/// # Safety
///
/// `block` is a live block of the inner allocator.
unsafe fn taken_for(block: *mut u8) -> usize {
    #[cfg(feature = "profile")]
    // SAFETY: the caller guarantees that `block` is a live block of the inner allocator, which is jemalloc.
    return unsafe { tikv_jemallocator::usable_size(block) };
    #[cfg(all(feature = "mimalloc", not(feature = "profile")))]
    // SAFETY: the caller guarantees that `block` is a live block of the inner allocator, which is mimalloc.
    return unsafe { INNER.usable_size(block) };
    // glibc stores a chunk's size before each block, and another word for a chunk with pages of its own.
    #[cfg(not(any(feature = "profile", feature = "mimalloc")))]
    {
        // SAFETY: the caller guarantees that `block` is a live block of the inner allocator, which uses `malloc`.
        let usable = unsafe { libc::malloc_usable_size(block.cast()) };
        if usable == 0 { 0 } else { usable + size_of::<usize>() }
    }
}

/// Stops to count.
pub(crate) fn stop() {
    ON.store(false, Relaxed);
    WATCHED.store(ASKING.load(Relaxed), Relaxed);
}

struct Counting(Inner);

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

    // The counting paths are separate functions: without counting, a call costs one test and saves no register. They
    // are not inlined, so that the compiler optimises subjects as with a plain allocator: a drop that is inlined there
    // is inlined here.

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::alloc`].
    #[cold]
    #[inline(never)]
    unsafe fn alloc_noted(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc` for this layout.
        let block = unsafe { self.0.alloc(layout) };
        // SAFETY: the inner allocator has just returned `block`, which is live or null.
        unsafe { Self::note(block, layout.size(), 1) };
        block
    }

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::alloc_zeroed`].
    #[cold]
    #[inline(never)]
    unsafe fn alloc_zeroed_noted(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc_zeroed` for this layout.
        let block = unsafe { self.0.alloc_zeroed(layout) };
        // SAFETY: the inner allocator has just returned `block`, which is live or null.
        unsafe { Self::note(block, layout.size(), 1) };
        block
    }

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::realloc`].
    #[cold]
    #[inline(never)]
    unsafe fn realloc_noted(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(0, signed(size) - signed(layout.size()));
        // SAFETY: the caller guarantees that `block` is a live block of this allocator. All its blocks come from the
        // inner allocator.
        unsafe { Self::ask(block, -1) };
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`. `block` comes from the inner allocator
        // with the same layout.
        let block = unsafe { self.0.realloc(block, layout, size) };
        // SAFETY: the inner allocator has just returned `block`, which is live or null.
        unsafe { Self::ask(block, 1) };
        block
    }

    /// # Safety
    ///
    /// The contract is that of [`GlobalAlloc::dealloc`].
    #[cold]
    #[inline(never)]
    unsafe fn dealloc_noted(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that `block` is a live block of this allocator. All its blocks come from the
        // inner allocator.
        unsafe { Self::note(block, layout.size(), -1) };
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::dealloc`. `block` comes from the inner allocator
        // with the same layout.
        unsafe { self.0.dealloc(block, layout) }
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
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc`, which `alloc_noted` requires.
            return unsafe { self.alloc_noted(layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc`.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc_zeroed`, which `alloc_zeroed_noted`
            // requires.
            return unsafe { self.alloc_zeroed_noted(layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`, which `realloc_noted` requires.
            return unsafe { self.realloc_noted(block, layout, size) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`. `block` comes from the inner allocator
        // with the same layout.
        unsafe { self.0.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if WATCHED.load(Relaxed) {
            // SAFETY: the caller guarantees the contract of `GlobalAlloc::dealloc`, which `dealloc_noted` requires.
            return unsafe { self.dealloc_noted(block, layout) };
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::dealloc`. `block` comes from the inner allocator
        // with the same layout.
        unsafe { self.0.dealloc(block, layout) }
    }
}

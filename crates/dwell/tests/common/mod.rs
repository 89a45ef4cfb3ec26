//! A global allocator for tests: it counts blocks and bytes, fails on request, aborts if a block is freed with a
//! different layout than it was allocated with, and overwrites freed bytes.
//!
//! Neither sanitizers nor valgrind detect a wrong layout. Miri does, and it also reports accesses to a header in front
//! of a block, which `Box` and `Vec` may not touch; so under Miri blocks come from `System` without a header.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::{Mutex, Once};

/// The bytes in front of a block that hold its layout: a multiple of every alignment up to 64.
const HEADER: usize = 64;
/// The byte that freed memory is overwritten with.
const FREED: u8 = 0xDD;

thread_local! {
    /// The number of allocations of this thread that still succeed; `None` means no limit.
    static REMAINING_SUCCESSES: Cell<Option<usize>> = const { Cell::new(None) };
    /// The size in bytes above which allocations of this thread fail.
    static LARGEST: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The blocks and bytes that this thread has allocated and not freed.
    static LIVE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

pub(crate) struct CheckingAllocator;

#[global_allocator]
static ALLOCATOR: CheckingAllocator = CheckingAllocator;

/// Returns whether the next allocation of this thread, which has this layout, fails, and counts it.
fn next_allocation_fails(layout: Layout) -> bool {
    if LARGEST.try_with(|largest| layout.size() > largest.get()).unwrap_or(false) {
        return true;
    }
    let refused = REMAINING_SUCCESSES.try_with(|left| match left.get() {
        None => false,
        Some(0) => true,
        Some(n) => {
            left.set(Some(n - 1));
            false
        }
    });
    refused.unwrap_or(false)
}

fn count(blocks: isize, bytes: usize) {
    // The thread-local may already be destroyed at thread exit.
    let _ = LIVE.try_with(|live| {
        let (live_blocks, live_bytes) = live.get();
        live.set((live_blocks + blocks, live_bytes + blocks * bytes.cast_signed()));
    });
}

// SAFETY: both functions forward to `System` with the same layout.
#[cfg(miri)]
unsafe impl GlobalAlloc for CheckingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if next_allocation_fails(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: the layout's size is not 0, which `alloc` requires of its caller.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            count(1, layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-1, layout.size());
        // SAFETY: `alloc` took the block from `System` with this layout, which `dealloc` requires of its caller.
        unsafe { System.dealloc(block, layout) };
    }
}

/// Returns the layout of the whole block and the offset of the user's part.
#[cfg(not(miri))]
fn padded_layout(layout: Layout) -> (Layout, usize) {
    let offset = HEADER.max(layout.align());
    let size = layout.size().checked_add(offset).expect("a layout of at most isize::MAX bytes");
    (Layout::from_size_align(size, offset).unwrap_or(layout), offset)
}

// SAFETY: both functions forward to `System` with the same layout, which is larger by a header and aligned at least as
// much. The returned pointer is aligned and lies behind the header inside the block.
#[cfg(not(miri))]
#[expect(clippy::cast_ptr_alignment, reason = "a block is aligned to `HEADER` at least")]
unsafe impl GlobalAlloc for CheckingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (block, offset) = padded_layout(layout);
        if next_allocation_fails(layout) || block == layout {
            return std::ptr::null_mut();
        }
        // SAFETY: the size is at least the header's.
        let start = unsafe { System.alloc(block) };
        if start.is_null() {
            return start;
        }
        // SAFETY: the header is inside the block, which is aligned to at least 64.
        unsafe { start.cast::<Layout>().write(layout) };
        count(1, layout.size());
        // SAFETY: `offset` is at most the block's size.
        unsafe { start.add(offset) }
    }

    unsafe fn dealloc(&self, user: *mut u8, layout: Layout) {
        let (block, offset) = padded_layout(layout);
        // SAFETY: the caller guarantees that `alloc` returned `user`; it lies `offset` bytes into its block if the
        // layout is the same. The next lines check whether it is.
        let start = unsafe { user.sub(offset) };
        // SAFETY: `alloc` wrote a layout there.
        let recorded = unsafe { start.cast::<Layout>().read() };
        if recorded != layout {
            eprintln!("allocated as {recorded:?}, freed as {layout:?}");
            std::process::abort();
        }
        // SAFETY: the user's part has `layout.size()` bytes, and the caller guarantees that it is not used again.
        unsafe { user.write_bytes(FREED, layout.size()) };
        count(-1, layout.size());
        // SAFETY: this is the block and the layout that `System.alloc` was called with.
        unsafe { System.dealloc(start, block) };
    }
}

/// Runs `f` with every allocation of this thread failing after the first `successes`.
pub(crate) fn failing_after<R>(successes: usize, f: impl FnOnce() -> R) -> R {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            REMAINING_SUCCESSES.set(None);
        }
    }
    let _restore = Restore;
    REMAINING_SUCCESSES.set(Some(successes));
    f()
}

/// Runs `f` with every allocation of this thread of more than `bytes` bytes failing.
pub(crate) fn failing_above<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            LARGEST.set(usize::MAX);
        }
    }
    let _restore = Restore;
    LARGEST.set(bytes);
    f()
}

/// Returns the blocks and bytes that this thread has allocated and not freed.
pub(crate) fn live() -> (isize, isize) {
    LIVE.get()
}

/// Runs `f` and returns the blocks and bytes that it left allocated on this thread.
pub(crate) fn left_by<R>(f: impl FnOnce() -> R) -> (isize, isize) {
    silence_expected_panics(); // the hook's allocation is not counted for `f`
    let before = LIVE.get();
    drop(f());
    let after = LIVE.get();
    (after.0 - before.0, after.1 - before.1)
}

thread_local!(static EXPECTED: Cell<bool> = const { Cell::new(false) });

/// Installs a panic hook that prints nothing for expected panics: printing allocates memory that is never freed.
fn silence_expected_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                usual(info);
            }
        }));
    });
}

/// Runs `f` and returns whether it panicked.
pub(crate) fn panics(f: impl FnOnce()) -> bool {
    silence_expected_panics();
    EXPECTED.set(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    EXPECTED.set(false);
    result.is_err()
}

/// A value that counts its drops and panics in a chosen call of drop or clone.
#[derive(Debug)]
pub(crate) struct Spy<'a> {
    pub(crate) counts: &'a Counts,
    pub(crate) value: u32,
}

/// The counts over all spies of a test.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) made: Cell<u32>,
    pub(crate) dropped: Cell<u32>,
    pub(crate) cloned: Cell<u32>,
    /// The number of the drop that panics, counted from 1; 0 for none.
    pub(crate) panic_at_drop: Cell<u32>,
    /// The number of the clone that panics, counted from 1; 0 for none.
    pub(crate) panic_at_clone: Cell<u32>,
}

impl Counts {
    pub(crate) fn spy(&self, value: u32) -> Spy<'_> {
        self.made.set(self.made.get() + 1);
        Spy { counts: self, value }
    }

    /// Returns whether the number of drops equals the number of values made.
    pub(crate) fn balanced(&self) -> bool {
        self.made.get() == self.dropped.get()
    }
}

impl Clone for Spy<'_> {
    fn clone(&self) -> Self {
        let counts = self.counts;
        counts.cloned.set(counts.cloned.get() + 1);
        assert_ne!(counts.cloned.get(), counts.panic_at_clone.get(), "intentional panic in clone");
        counts.spy(self.value)
    }
}

impl Drop for Spy<'_> {
    fn drop(&mut self) {
        let counts = self.counts;
        counts.dropped.set(counts.dropped.get() + 1);
        if counts.dropped.get() == counts.panic_at_drop.get() && !std::thread::panicking() {
            panic!("intentional panic in drop");
        }
    }
}

/// Forgets a value deliberately. The value, everything it owns, and the memory at `address` stay reachable from a
/// static, so that leak checkers do not report them.
pub(crate) fn forget<T>(value: T, address: usize) {
    struct Kept {
        _value: *mut (),
        _address: usize,
    }
    // SAFETY: the pointer is only kept, never used.
    unsafe impl Send for Kept {}
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

    let before = LIVE.get();
    let value: *mut T = Box::into_raw(Box::new(value));
    KEPT.lock().unwrap().push(Kept { _value: value.cast(), _address: address });
    LIVE.set(before); // the allocations of this function do not count
}

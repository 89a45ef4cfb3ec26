//! A global allocator for tests: it counts, fails on request, aborts on a block that is freed with another layout than it was
//! allocated with, and overwrites freed bytes.
//!
//! Neither a sanitizer nor valgrind notices the wrong layout. Miri does, and it notices that a header in front of a block is
//! not part of what `Box` and `Vec` may touch; so under Miri blocks are those of `System`, without a header.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::{Mutex, Once};

/// The bytes in front of a block that hold its layout: a multiple of every alignment up to 64.
const HEADER: usize = 64;
/// What freed bytes are overwritten with.
const FREED: u8 = 0xDD;

thread_local! {
    /// The number of this thread's allocations that still succeed; `None` for no limit.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    /// Blocks and bytes this thread allocated and did not free.
    static LIVE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

pub(crate) struct Watching;

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// Whether an allocation of this thread is to fail now.
fn refused() -> bool {
    let refused = LEFT.try_with(|left| match left.get() {
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
    // Not there any more while the thread is torn down.
    let _ = LIVE.try_with(|live| {
        let (live_blocks, live_bytes) = live.get();
        live.set((live_blocks + blocks, live_bytes + blocks * bytes.cast_signed()));
    });
}

// SAFETY: both functions call `System`'s with the same layout.
#[cfg(miri)]
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused() {
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

/// The layout of the whole block, and where in it the user's part begins.
#[cfg(not(miri))]
fn whole(layout: Layout) -> (Layout, usize) {
    let offset = HEADER.max(layout.align());
    let size = layout.size().checked_add(offset).expect("a layout of at most isize::MAX bytes");
    (Layout::from_size_align(size, offset).unwrap_or(layout), offset)
}

// SAFETY: every call is passed on to `System` with a layout that is larger by a header and aligned at least as much, the
// same one in `alloc` and `dealloc`; what is returned lies behind the header, inside the block and aligned.
#[cfg(not(miri))]
#[expect(clippy::cast_ptr_alignment, reason = "a block is aligned to `HEADER` at least")]
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (block, offset) = whole(layout);
        if refused() || block == layout {
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
        let (block, offset) = whole(layout);
        // SAFETY: `alloc` returned `user`, `offset` bytes into its block if the layout is the same. If it is not, the next
        // lines find out.
        let start = unsafe { user.sub(offset) };
        // SAFETY: `alloc` wrote a layout there.
        let recorded = unsafe { start.cast::<Layout>().read() };
        if recorded != layout {
            eprintln!("allocated as {recorded:?}, freed as {layout:?}");
            std::process::abort();
        }
        // SAFETY: the user's part is `layout.size()` bytes, and no longer used.
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
            LEFT.set(None);
        }
    }
    let _restore = Restore;
    LEFT.set(Some(successes));
    f()
}

/// The blocks and bytes that this thread allocated and did not free.
pub(crate) fn live() -> (isize, isize) {
    LIVE.get()
}

/// Runs `f` and returns the blocks and bytes that it left allocated on this thread.
pub(crate) fn left_by<R>(f: impl FnOnce() -> R) -> (isize, isize) {
    quiet(); // what the hook allocates for the rest of the run is not `f`'s
    let before = LIVE.get();
    drop(f());
    let after = LIVE.get();
    (after.0 - before.0, after.1 - before.1)
}

thread_local!(static EXPECTED: Cell<bool> = const { Cell::new(false) });

/// From now on, an expected panic prints no message: printing one allocates what is never freed.
fn quiet() {
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

/// Runs `f` and says whether it panicked.
pub(crate) fn panics(f: impl FnOnce()) -> bool {
    quiet();
    EXPECTED.set(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    EXPECTED.set(false);
    result.is_err()
}

/// A value that counts its drops, and panics at the chosen call of drop or clone.
#[derive(Debug)]
pub(crate) struct Spy<'a> {
    pub(crate) counts: &'a Counts,
    pub(crate) value: u32,
}

/// What all spies of a test have seen.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) made: Cell<u32>,
    pub(crate) dropped: Cell<u32>,
    pub(crate) cloned: Cell<u32>,
    /// The drop, counted from 1, that panics; 0 is none.
    pub(crate) panic_at_drop: Cell<u32>,
    /// The clone, counted from 1, that panics; 0 is none.
    pub(crate) panic_at_clone: Cell<u32>,
}

impl Counts {
    pub(crate) fn spy(&self, value: u32) -> Spy<'_> {
        self.made.set(self.made.get() + 1);
        Spy { counts: self, value }
    }

    /// Whether every value made was dropped exactly once.
    pub(crate) fn balanced(&self) -> bool {
        self.made.get() == self.dropped.get()
    }
}

impl Clone for Spy<'_> {
    fn clone(&self) -> Self {
        let counts = self.counts;
        counts.cloned.set(counts.cloned.get() + 1);
        assert_ne!(counts.cloned.get(), counts.panic_at_clone.get(), "told to panic in clone");
        counts.spy(self.value)
    }
}

impl Drop for Spy<'_> {
    fn drop(&mut self) {
        let counts = self.counts;
        counts.dropped.set(counts.dropped.get() + 1);
        if counts.dropped.get() == counts.panic_at_drop.get() && !std::thread::panicking() {
            panic!("told to panic in drop");
        }
    }
}

/// Forgets a value on purpose. The value, and by it what it owns, stays reachable from a static, and so does what is at this
/// address, so that no leak checker reports them.
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
    LIVE.set(before); // what this function allocates is not the test's
}

//! Values of nested types of std, weighed against a counting allocator; the test in `crates/dwell/tests/weigh.rs` runs the
//! same.
#![no_main]

#[path = "../../crates/dwell/tests/ops/weigh.rs"]
mod ops;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Blocks and bytes this thread allocated and did not free.
    static LIVE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(blocks: isize, size: usize) {
    let (live, bytes) = LIVE.get();
    LIVE.set((live + blocks, bytes + blocks * size.cast_signed()));
}

/// What there is.
fn live() -> (isize, isize) {
    LIVE.get()
}

// SAFETY: the system's allocator, counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-1, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

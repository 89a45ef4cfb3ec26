//! Values of nested std types, whose weight is compared with a counting allocator; the test in
//! `crates/dwell/tests/weigh.rs` runs the same code.
#![no_main]

#[path = "../../crates/dwell/tests/ops/weigh.rs"]
mod ops;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// The blocks and bytes that this thread has allocated and not freed.
    static LIVE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(blocks: isize, size: usize) {
    let (live, bytes) = LIVE.get();
    LIVE.set((live + blocks, bytes + blocks * size.cast_signed()));
}

/// Returns the blocks and bytes that this thread has allocated and not freed.
fn live() -> (isize, isize) {
    LIVE.get()
}

// SAFETY: both functions forward to `System` with the same layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size());
        // SAFETY: the caller upholds the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-1, layout.size());
        // SAFETY: the caller upholds the contract of `dealloc`, which is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ops::run(bytes));

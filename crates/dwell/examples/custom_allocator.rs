//! A custom allocator for dwell's containers, which counts the memory that a part of a program holds.
//!
//! ```text
//! cargo run --release --example custom_allocator --features allocator-api2
//! ```

use allocator_api2::alloc::{AllocError, Allocator, Global};
use dwell::{Bump, SmallBox};
use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::NonNull;

/// An allocator that forwards to the global one, up to a budget of bytes, and counts its blocks.
struct Budget {
    left: Cell<usize>, // bytes
    blocks: Cell<usize>,
}

// SAFETY: `allocate` returns only blocks of `Global`, whose implementation fulfils the contract of the trait, and
// `deallocate` passes them back to `Global`. The allocator has no blocks of its own, so moving or copying a `&Budget`
// invalidates none, and each copy frees the blocks of any other.
unsafe impl Allocator for &Budget {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let left = self.left.get().checked_sub(layout.size()).ok_or(AllocError)?;
        let block = Global.allocate(layout)?;
        self.left.set(left);
        self.blocks.set(self.blocks.get() + 1);
        Ok(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.left.set(self.left.get() + layout.size());
        self.blocks.set(self.blocks.get() - 1);
        // SAFETY: the caller guarantees that this allocator allocated `block`, that `block` has not been freed, and
        // that `layout` fits it. `allocate` returns only blocks that `Global` allocated for the same layout, so all of
        // this holds for `Global` too.
        unsafe { Global.deallocate(block, layout) };
    }
}

fn main() {
    const BYTES: usize = 64 * 1024;
    let budget = Budget { left: Cell::new(BYTES), blocks: Cell::new(0) };

    // The chunks of the arena count against the budget. When it is used up, `try_alloc` returns the value with the
    // error.
    let arena = Bump::<8, _>::new_in(&budget);
    let mut values = 0_u32;
    let refused = loop {
        match arena.try_alloc([u64::from(values); 16]) {
            Ok(_) => values += 1,
            Err(error) => break error,
        }
    };
    println!("{values} values of 128 bytes in {} chunks; then: {refused}", budget.blocks.get());
    assert_eq!(refused.into_inner()[0], u64::from(values));

    // The arena has returned its chunks, so a box that spills can use the same budget.
    drop(arena);
    let large = SmallBox::<_, 2, _>::new_in([7_u64; 100], &budget);
    let small = SmallBox::<_, 2, _>::new_in(7_u64, &budget);
    println!("a box of 800 bytes and one of 8: {} bytes of the budget", BYTES - budget.left.get());
    assert!(!large.is_inline() && small.is_inline());
    drop((large, small));
    assert_eq!((budget.left.get(), budget.blocks.get()), (BYTES, 0));
}

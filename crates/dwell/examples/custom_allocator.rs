//! An allocator of one's own under dwell's containers: one that counts what each part of a program holds.
//!
//! ```text
//! cargo run --release --example custom_allocator --features allocator-api2
//! ```

use allocator_api2::alloc::{AllocError, Allocator, Global};
use dwell::{Bump, SmallBox};
use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::NonNull;

/// Hands out blocks of the global allocator, up to a budget, and counts them.
struct Budget {
    left: Cell<usize>, // bytes
    blocks: Cell<usize>,
}

// SAFETY: each block is one of `Global`, which keeps the contract of the trait. A `&Budget` that is copied or moved gives the
// same blocks back to the same `Global`.
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
        // SAFETY: `allocate` returned this block, and got it from `Global` with this layout.
        unsafe { Global.deallocate(block, layout) };
    }
}

fn main() {
    const BYTES: usize = 64 * 1024;
    let budget = Budget { left: Cell::new(BYTES), blocks: Cell::new(0) };

    // An arena whose chunks the budget pays for. The call that finds it used up gets its value back.
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

    // A box that spills into the same budget, once the arena has given its chunks back.
    drop(arena);
    let large = SmallBox::<_, 2, _>::new_in([7_u64; 100], &budget);
    let small = SmallBox::<_, 2, _>::new_in(7_u64, &budget);
    println!("a box of 800 bytes and one of 8: {} bytes of the budget", BYTES - budget.left.get());
    assert!(!large.is_inline() && small.is_inline());
    drop((large, small));
    assert_eq!((budget.left.get(), budget.blocks.get()), (BYTES, 0));
}

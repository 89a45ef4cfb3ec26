//! The global allocator exits the process in the middle of an insert, as an allocator with a memory limit may.
//! Thread-local variables that are dropped then can still read the values of their slots.

use dwell::slab::{Pool, Pooled, Slab, Slot};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::env;
use std::process::{Command, exit};
use std::sync::atomic::{AtomicBool, Ordering};

/// An allocator that exits at the next allocation if `EXIT` is set, or after the next free if `EXIT_AFTER_FREE` is, and
/// overwrites freed memory. A `realloc` allocates, copies and frees.
struct Exiting;

static EXIT: AtomicBool = AtomicBool::new(false);
static EXIT_AFTER_FREE: AtomicBool = AtomicBool::new(false);

// SAFETY: both functions forward to `System` with the same layout.
unsafe impl GlobalAlloc for Exiting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if EXIT.swap(false, Ordering::Relaxed) {
            exit(3);
        }
        // SAFETY: the caller upholds the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that the block has this layout and is not used again.
        unsafe { std::hint::black_box(block).write_bytes(0xdd, layout.size()) };
        // SAFETY: the caller upholds the contract of `dealloc`, which is the same.
        unsafe { System.dealloc(block, layout) };
        if EXIT_AFTER_FREE.swap(false, Ordering::Relaxed) {
            exit(3);
        }
    }
}

#[global_allocator]
static ALLOCATOR: Exiting = Exiting;

struct Reads(Cell<Option<(Slot<u64>, Pooled<u64>)>>);

impl Drop for Reads {
    fn drop(&mut self) {
        let (slot, pooled) = self.0.take().expect("two slots");
        println!("read {} {}", *slot, *pooled);
    }
}

thread_local! {
    // Dropped last, since it is used first.
    static READS: Reads = const { Reads(Cell::new(None)) };
    static SLABS: (Slab<u64>, Pool) = const { (Slab::new(), Pool::new()) };
}

#[test]
fn exit_inside_an_allocation() {
    const CHILD: &str = "DWELL_EXIT_IN";
    let Ok(which) = env::var(CHILD) else {
        for which in ["slab", "pool", "modules"] {
            let mut this = Command::new(env::current_exe().expect("a path"));
            this.args(["--exact", "exit_inside_an_allocation", "--nocapture", "--test-threads=1"]).env(CHILD, which);
            let child = this.output().expect("it starts");
            let printed = String::from_utf8_lossy(&child.stdout);
            assert!(child.status.code() == Some(3) && printed.contains("read 7 8"), "{which}: {child:?}");
        }
        return;
    };
    READS.with(|_| ());
    let slots = SLABS.with(|(slab, pool)| (slab.insert(7), pool.insert(8)));
    READS.with(|reads| reads.0.set(Some(slots)));
    if which == "modules" {
        insert_in_five_modules();
    }
    SLABS.with(|(slab, pool)| {
        let (mut slots, mut pooled) = (Vec::with_capacity(1000), Vec::with_capacity(1000));
        EXIT.store(true, Ordering::Relaxed);
        for n in 0..1000 {
            match &*which {
                "slab" => slots.push(slab.insert(n)),
                _ => pooled.push(pool.insert(n)),
            }
        }
    });
    unreachable!("a thousand values need more memory");
}

/// The list of the modules of a thread has a capacity of four at first. The fifth moves it, and the allocator exits in
/// between, when the old list is freed.
fn insert_in_five_modules() {
    dwell::slab!(mod first: u64);
    dwell::slab!(mod second: u64);
    dwell::slab!(mod third: u64);
    dwell::slab!(mod fourth: u64);
    dwell::slab!(mod fifth: u64);
    drop((first::insert(1), second::insert(2), third::insert(3), fourth::insert(4)));
    EXIT_AFTER_FREE.store(true, Ordering::Relaxed);
    drop(fifth::insert(5));
}

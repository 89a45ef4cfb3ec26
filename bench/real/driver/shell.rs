//! The command line of a driver: runs one workload and prints the measured number.
//!
//! `side` copies this file into the package of a driver. It is not a module of this package.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The shortest total time of the timed runs of one process.
const TIMED: Duration = Duration::from_millis(150);

/// Runs the workload that the command line names.
///
/// `time WORKLOAD` prints the nanoseconds of the fastest run, `count WORKLOAD N` runs it N times, `peak WORKLOAD`
/// prints the largest number of live bytes of one run. Each then prints the checksum of a run.
pub fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["time", workload] => {
            let mut run = crate::program::workload(workload);
            let checksum = run();
            let (mut least, mut total) = (Duration::MAX, Duration::ZERO);
            while total < TIMED {
                let start = Instant::now();
                std::hint::black_box(run());
                let took = start.elapsed();
                least = least.min(took);
                total += took;
            }
            println!("{} {checksum}", least.as_nanos());
        }
        ["count", workload, times] => {
            let mut run = crate::program::workload(workload);
            let checksum = run();
            for _ in 1..times.parse().expect("a number of runs") {
                std::hint::black_box(run());
            }
            println!("0 {checksum}");
        }
        ["peak", workload] => {
            let mut run = crate::program::workload(workload);
            let before = LIVE.load(Relaxed);
            PEAK.store(before, Relaxed);
            let checksum = run();
            println!("{} {checksum}", PEAK.load(Relaxed) - before);
        }
        _ => panic!("usage: time WORKLOAD | count WORKLOAD TIMES | peak WORKLOAD"),
    }
}

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts live requested bytes.
pub struct Counting;

fn add(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: each method passes its arguments to `System`'s method of the same name, and returns what that returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `System::alloc` has the same contract as this method.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            add(layout.size());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `System::alloc_zeroed` has the same contract as this method.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            add(layout.size());
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `System::realloc` has the same contract as this method.
        let new = unsafe { System.realloc(block, layout, size) };
        if !new.is_null() {
            add(size);
            LIVE.fetch_sub(layout.size(), Relaxed);
        }
        new
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `System::dealloc` has the same contract as this method.
        unsafe { System.dealloc(block, layout) }
    }
}

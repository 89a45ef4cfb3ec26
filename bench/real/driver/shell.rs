//! The command line of a driver: runs one workload and prints the measured number.
//!
//! `side` copies this file into the package of a driver. It is not a module of this package.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The shortest total time of the timed runs of one process.
const TIMED: Duration = Duration::from_millis(150);

/// The least number of timed runs of one process: a pool gives memory back after the first, needs it again in the second, and keeps
/// it from then on.
const RUNS: usize = 3;

/// Runs the workload that the command line names.
///
/// `time WORKLOAD` prints the nanoseconds of the fastest run (on Linux of its CPU time, which other processes disturb less), `count WORKLOAD N` runs it N times, `peak WORKLOAD`
/// prints the largest number of live requested bytes of one run, and `held WORKLOAD` that of the bytes that the allocator
/// uses for them. Each then prints the checksum of a run.
pub fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["time", workload] => {
            let mut run = crate::program::workload(workload);
            let checksum = run();
            let (mut least, mut total, mut runs) = (Duration::MAX, Duration::ZERO, 0);
            while total < TIMED || runs < RUNS {
                let start = now();
                std::hint::black_box(run());
                let took = now().saturating_sub(start);
                least = least.min(took);
                total += took;
                runs += 1;
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
        ["peak", workload] => print_peak(&REQUESTED, workload),
        ["held", workload] => print_peak(&HELD, workload),
        _ => panic!("usage: time WORKLOAD | count WORKLOAD TIMES | peak WORKLOAD | held WORKLOAD"),
    }
}

/// Returns the CPU time that the process has taken.
#[cfg(target_os = "linux")]
fn now() -> Duration {
    #[repr(C)]
    struct Timespec {
        seconds: std::ffi::c_long,
        nanoseconds: std::ffi::c_long,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: std::ffi::c_int, time: *mut Timespec) -> std::ffi::c_int;
    }
    const CLOCK_PROCESS_CPUTIME_ID: std::ffi::c_int = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `time` has the layout of libc's `timespec` on 64-bit Linux, and is valid for writes.
    let failed = unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "the clock of the process cannot be read");
    Duration::new(time.seconds.try_into().unwrap_or(0), time.nanoseconds.try_into().unwrap_or(0))
}

/// Returns the time since the first call.
#[cfg(not(target_os = "linux"))]
fn now() -> Duration {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(std::time::Instant::now).elapsed()
}

fn print_peak(bytes: &Bytes, workload: &str) {
    let mut run = crate::program::workload(workload);
    let before = bytes.live.load(Relaxed);
    bytes.peak.store(before, Relaxed);
    let checksum = run();
    println!("{} {checksum}", bytes.peak.load(Relaxed) - before);
}

/// Live bytes, and the most that there were.
struct Bytes {
    live: AtomicUsize,
    peak: AtomicUsize,
}

/// The bytes that the program requested.
static REQUESTED: Bytes = Bytes { live: AtomicUsize::new(0), peak: AtomicUsize::new(0) };
/// The bytes that the allocator uses for them: the usable size of each block, and glibc's header of a word.
static HELD: Bytes = Bytes { live: AtomicUsize::new(0), peak: AtomicUsize::new(0) };

impl Bytes {
    fn add(&self, bytes: usize) {
        let live = self.live.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(live, Relaxed);
    }
}

/// Returns the bytes that the allocator uses for a live block.
///
/// # Safety
/// The block must be live and from [`System`].
#[cfg(target_os = "linux")]
unsafe fn held(block: *mut u8, _: usize) -> usize {
    unsafe extern "C" {
        fn malloc_usable_size(block: *mut u8) -> usize;
    }
    // SAFETY: the block is live, and on Linux `System` allocates with libc's `malloc` or `posix_memalign`, whose blocks this reads.
    let usable = unsafe { malloc_usable_size(block) };
    usable + 8
}

/// Returns the bytes that were requested, because those that the allocator uses are not known.
///
/// # Safety
/// None is needed: the block is not read.
#[cfg(not(target_os = "linux"))]
unsafe fn held(_: *mut u8, size: usize) -> usize {
    size
}

/// Counts a new block.
///
/// # Safety
/// The block must be live and from [`System`].
unsafe fn add(block: *mut u8, size: usize) {
    REQUESTED.add(size);
    // SAFETY: the block is live and from `System`, as this function requires.
    HELD.add(unsafe { held(block, size) });
}

/// The system's allocator, which counts live bytes.
pub struct Counting;

// SAFETY: each method passes its arguments to `System`'s method of the same name, and returns what that returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `System::alloc` has the same contract as this method.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            // SAFETY: `System` has just allocated the block.
            unsafe { add(block, layout.size()) };
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `System::alloc_zeroed` has the same contract as this method.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            // SAFETY: `System` has just allocated the block.
            unsafe { add(block, layout.size()) };
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the contract of `realloc` has it that the block is live, and all blocks of this allocator are from `System`.
        let before = unsafe { held(block, layout.size()) };
        // SAFETY: `System::realloc` has the same contract as this method.
        let new = unsafe { System.realloc(block, layout, size) };
        if !new.is_null() {
            // SAFETY: `System` has just allocated or grown the block.
            unsafe { add(new, size) };
            REQUESTED.live.fetch_sub(layout.size(), Relaxed);
            HELD.live.fetch_sub(before, Relaxed);
        }
        new
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        REQUESTED.live.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the contract of `dealloc` has it that the block is live, and all blocks of this allocator are from `System`.
        HELD.live.fetch_sub(unsafe { held(block, layout.size()) }, Relaxed);
        // SAFETY: `System::dealloc` has the same contract as this method.
        unsafe { System.dealloc(block, layout) }
    }
}

//! A program with a counting allocator: `truth MODE FILE` behaves as MODE selects, and writes the numbers of its
//! allocations, frees, reallocations and their bytes to FILE.

use std::alloc::{GlobalAlloc, Layout};
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(jemalloc)]
use tikv_jemallocator::Jemalloc as Inner;
#[cfg(mimalloc)]
use mimalloc::MiMalloc as Inner;
#[cfg(not(any(jemalloc, mimalloc)))]
use std::alloc::System as Inner;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static FREES: AtomicU64 = AtomicU64::new(0);
static REALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size() as u64, Relaxed);
        unsafe { Inner.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size() as u64, Relaxed);
        unsafe { Inner.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        REALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(size as u64, Relaxed);
        unsafe { Inner.realloc(block, layout, size) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        FREES.fetch_add(1, Relaxed);
        unsafe { Inner.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[repr(align(256))]
struct Aligned([u8; 300]);

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % below
    }
}

/// Allocates, grows and frees blocks of many sizes and alignments.
fn work(seed: u64) -> impl Sized {
    let mut random = Random(seed);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for _ in 0..3000 {
        let size = if random.next(20) == 0 { random.next(100_000) } else { random.next(1500) };
        let mut block = Vec::with_capacity(size);
        block.push(1);
        match random.next(4) {
            0 => kept.push(block),
            1 => {
                block.reserve_exact(random.next(3000));
                block.shrink_to_fit();
            }
            2 if !kept.is_empty() => drop(kept.swap_remove(random.next(kept.len()))),
            _ => {}
        }
    }
    let mut map = HashMap::new();
    let mut tree = BTreeMap::new();
    for _ in 0..1000 {
        let text = format!("{:0width$}", 1, width = random.next(60));
        map.insert(random.next(1 << 30), text.clone());
        tree.insert(text, random.next(9));
    }
    let aligned: Vec<Box<Aligned>> = (0..20).map(|_| Box::new(Aligned([0; 300]))).collect();
    let zeroed = vec![0_u8; 1 << 20];
    let bytes: Vec<Box<u8>> = (0..200).map(Box::new).collect();
    let huge = vec![1_u8; 5 << 20];
    black_box((kept, map, tree, aligned, zeroed, bytes, huge))
}

/// Writes the numbers to the file, without allocating.
fn report(file: &str) {
    use std::io::Write;
    let mut buffer = [0_u8; 128];
    let mut rest = &mut buffer[..];
    let [a, b, c, d] = [&ALLOCATIONS, &FREES, &REALLOCATIONS, &BYTES].map(|count| count.load(Relaxed));
    write!(rest, "{a} {b} {c} {d}").unwrap();
    let used = 128 - rest.len();
    std::fs::write(file, &buffer[..used]).unwrap();
}

unsafe extern "C" {
    fn _exit(code: i32) -> !;
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, flags: i32) -> i32;
}

/// The sizes of blocks that the test looks for.
const TEMPORARY: usize = 331;
const STACK: usize = 347;
const TOGETHER: usize = 363;
const FOREIGN: usize = 379;
const GROWN: usize = 395;

/// A value that is copied because it is shared.
#[derive(Clone)]
struct Shared([u64; 47]);

/// Allocates below more calls of itself than a call stack has functions.
#[inline(never)]
fn nested(calls: u32) -> u64 {
    if calls == 0 {
        return black_box(vec![1_u8; 427])[0].into();
    }
    nested(black_box(calls - 1)) + black_box(1)
}

#[inline(never)]
fn deep() -> u64 {
    nested(60) + black_box(2)
}

/// Allocates in orders of which the counts are known.
fn orders() {
    for _ in 0..1000 {
        drop(black_box(vec![1_u8; TEMPORARY]));
    }
    for _ in 0..100 {
        let mut stack: Vec<Vec<u8>> = Vec::with_capacity(5);
        for _ in 0..5 {
            stack.push(black_box(vec![1_u8; STACK]));
        }
        while stack.pop().is_some() {}
    }
    let together: Vec<Vec<u8>> = (0..1000).map(|_| black_box(vec![1_u8; TOGETHER])).collect();
    drop(together);
    let foreign: Vec<Vec<u8>> = (0..100).map(|_| black_box(vec![1_u8; FOREIGN])).collect();
    std::thread::spawn(move || drop(black_box(foreign))).join().unwrap();
    for _ in 0..50 {
        let mut grown: Vec<u8> = Vec::with_capacity(GROWN);
        grown.resize(GROWN, 1);
        grown.reserve_exact(GROWN * 8);
        drop(black_box(grown));
    }
    let mut shared = std::rc::Rc::new(Shared([1; 47]));
    for _ in 0..500 {
        let other = shared.clone();
        std::rc::Rc::make_mut(&mut shared).0[0] += 1;
        black_box(other);
    }
}

fn main() {
    let mut args = std::env::args();
    args.next();
    let mode = args.next().unwrap();
    let file = args.next().unwrap_or_default();
    match mode.as_str() {
        "exit" => {
            std::mem::forget(work(1));
            drop(work(2));
            let threads: Vec<_> = (0..4).map(|seed| std::thread::spawn(move || drop(work(seed)))).collect();
            for thread in threads {
                thread.join().unwrap();
            }
        }
        // Threads that start and end one after the other, and free blocks of others.
        "threads" => {
            static POOL: std::sync::Mutex<Vec<Vec<u8>>> = std::sync::Mutex::new(Vec::new());
            for round in 0..20_u64 {
                let threads: Vec<_> = (0..8)
                    .map(|seed| {
                        std::thread::spawn(move || {
                            let mut random = Random(round * 8 + seed);
                            for _ in 0..300 {
                                let mut block = Vec::with_capacity(random.next(2000) + 1);
                                block.push(1_u8);
                                let mut pool = POOL.lock().unwrap();
                                if pool.len() > 50 {
                                    let at = random.next(pool.len());
                                    let mut other = pool.swap_remove(at);
                                    other.reserve_exact(random.next(3000));
                                    if random.next(2) == 0 {
                                        pool.push(other);
                                    }
                                }
                                pool.push(block);
                            }
                        })
                    })
                    .collect();
                for thread in threads {
                    thread.join().unwrap();
                }
            }
        }
        "orders" => orders(),
        // Leaves a process in the background, whose name is the file.
        "leaves" => {
            drop(work(1));
            let mut left = std::process::Command::new("sleep");
            left.arg(&file).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        }
        "deep" => {
            black_box(deep());
        }
        "panics" => {
            std::panic::set_hook(Box::new(|_| ()));
            for seed in 0..20 {
                let caught = std::panic::catch_unwind(|| {
                    let work = work(seed);
                    if seed % 2 == 0 {
                        panic!("on purpose {seed}");
                    }
                    drop(work);
                });
                drop(black_box(caught));
                let thread = std::thread::spawn(move || {
                    let _work = work(seed);
                    panic!("in a thread");
                });
                assert!(thread.join().is_err());
            }
        }
        "fork" => {
            drop(work(1));
            let child = unsafe { fork() };
            if child == 0 {
                drop(work(2));
                std::mem::forget(work(3));
                unsafe { _exit(5) };
            }
            let mut status = 0;
            assert_eq!(unsafe { waitpid(-1, &mut status, 0) }, child);
            assert_eq!(status, 5 << 8);
            drop(work(4));
        }
        "exec" => {
            drop(work(1));
            // The arguments are made before the numbers are written.
            use std::ffi::CString;
            let words = ["/bin/sh", "-c", "exit 9"].map(|word| CString::new(word).unwrap());
            let words: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
            unsafe extern "C" {
                fn execv(file: *const std::ffi::c_char, words: *const *const std::ffi::c_char) -> i32;
            }
            report(&file);
            unsafe { execv(words[0], words.as_ptr()) };
            unreachable!();
        }
        "abort" => {
            drop(work(1));
            report(&file);
            std::process::abort();
        }
        "empty" => {}
        _ => panic!("no such mode"),
    }
    report(&file);
    unsafe { _exit(7) };
}

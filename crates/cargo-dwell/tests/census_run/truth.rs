//! A program that knows what it allocates: `truth MODE FILE` does what MODE says and writes its live blocks and bytes to FILE.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

struct Counting;

static BLOCKS: AtomicI64 = AtomicI64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(blocks: i64, bytes: i64) {
    BLOCKS.fetch_add(blocks, Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(0, size as i64 - layout.size() as i64);
        unsafe { System.realloc(block, layout, size) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-1, -(layout.size() as i64));
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[repr(align(256))]
struct Aligned([u8; 300]);

/// Data of many sizes and alignments.
fn make(seed: u64) -> impl Sized {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let boxes: Vec<Box<[u8]>> = (0..2000).map(|_| vec![1; next() % 3000].into_boxed_slice()).collect();
    let mut map = HashMap::new();
    for _ in 0..1000 {
        map.insert(next(), format!("{:0width$}", 1, width = next() % 60));
    }
    for key in map.keys().copied().filter(|key| key % 3 == 0).collect::<Vec<_>>() {
        map.remove(&key);
    }
    let mut grown = Vec::new();
    for index in 0..5000_u64 {
        grown.push(index);
    }
    grown.shrink_to_fit();
    let aligned: Vec<Box<Aligned>> = (0..20).map(|_| Box::new(Aligned([0; 300]))).collect();
    let zeroed = vec![0_u8; 1 << 20];
    let small: Vec<Box<u8>> = (0..100).map(Box::new).collect();
    black_box((boxes, map, grown, aligned, zeroed, small))
}

/// Writes the live blocks and bytes, without allocating.
fn report(file: &str) {
    use std::io::Write;
    let mut buffer = [0_u8; 64];
    let mut rest = &mut buffer[..];
    write!(rest, "{} {}", BLOCKS.load(Relaxed), BYTES.load(Relaxed)).unwrap();
    let used = 64 - rest.len();
    std::fs::write(file, &buffer[..used]).unwrap();
}

unsafe extern "C" {
    fn _exit(code: i32) -> !;
}

fn main() {
    let mut args = std::env::args();
    args.next();
    let mode = args.next().unwrap();
    let file = args.next().unwrap_or_default();
    match mode.as_str() {
        "exit" => {
            std::mem::forget(make(1));
            let threads: Vec<_> = (0..4).map(|seed| std::thread::spawn(move || std::mem::forget(make(seed)))).collect();
            for thread in threads {
                thread.join().unwrap();
            }
            drop(make(2));
            // What is not used is not allocated by an optimised program.
            std::mem::forget(black_box((mode.clone(), file.clone())));
            report(&file);
            unsafe { _exit(7) };
        }
        _ => panic!("no such mode"),
    }
}

//! `load naive|lean FILE..` loads JSON files into generated types and prints the memory that they take.
//!
//! It prints one line: live bytes, live allocations, milliseconds of CPU time, and the number of documents that
//! serialize back to different JSON.

mod same;
mod types;

use serde::{Serialize, de::DeserializeOwned};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

/// The system's allocator, which counts live blocks and requested bytes.
struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);
static BLOCKS: AtomicI64 = AtomicI64::new(0);

// SAFETY: each method passes its arguments on to `System`, which upholds the contract of `GlobalAlloc`.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Relaxed);
        BLOCKS.fetch_add(1, Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`, which is also that of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Relaxed);
        BLOCKS.fetch_sub(1, Relaxed);
        // SAFETY: the caller passes a block of this allocator with its layout, and every such block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size as i64 - layout.size() as i64, Relaxed);
        // SAFETY: the caller upholds the contract of `realloc`, and every block of this allocator came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("naive") => load::<types::naive::Document>(arguments.collect()),
        Some("lean") => load::<types::lean::Document>(arguments.collect()),
        other => panic!("naive or lean, not {other:?}"),
    }
}

fn load<T: DeserializeOwned + Serialize>(files: Vec<String>) {
    let mut json = vec![0; files.iter().map(|file| std::fs::metadata(file).expect(file).len() as usize).max().unwrap_or(0)];
    let (bytes, blocks) = (BYTES.load(Relaxed), BLOCKS.load(Relaxed));
    let mut documents: Vec<T> = Vec::with_capacity(files.len());
    let mut cpu = Duration::ZERO;
    for file in &files {
        let length = read(file, &mut json);
        let before = cpu_time();
        documents.push(serde_json::from_slice(&json[..length]).unwrap_or_else(|error| panic!("{file}: {error}")));
        cpu += cpu_time() - before;
    }
    let (bytes, blocks) = (BYTES.load(Relaxed) - bytes, BLOCKS.load(Relaxed) - blocks);
    let mut unequal = 0;
    for (file, document) in files.iter().zip(&documents) {
        let length = read(file, &mut json);
        let was: serde_json::Value = serde_json::from_slice(&json[..length]).expect("it was read before");
        let text = serde_json::to_vec(document).expect("it came from JSON");
        let is: serde_json::Value = serde_json::from_slice(&text).expect("it was just written");
        if !same::same(&was, &is) {
            unequal += 1;
            eprintln!("{file} is written back otherwise");
        }
    }
    println!("{bytes} {blocks} {} {unequal}", cpu.as_millis());
}

/// Reads the file into the start of `json`, without keeping an allocation, and returns its length.
fn read(file: &str, json: &mut [u8]) -> usize {
    use std::io::Read;
    let mut from = std::fs::File::open(file).expect(file);
    let mut length = 0;
    loop {
        match from.read(&mut json[length..]).expect(file) {
            0 => return length,
            more => length += more,
        }
    }
}

/// Returns the CPU time of this process.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

//! Loads JSON files into sets of types: of each `--` and the files behind it into the next set. Prints a line for each set: live bytes,
//! live allocations, how many files are refused, and how many of the others are written back otherwise.

// MODULES
mod same;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The system's allocator, with its live blocks and bytes as they were requested.
struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);
static BLOCKS: AtomicI64 = AtomicI64::new(0);

// SAFETY: every call goes to `System` with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Relaxed);
        BLOCKS.fetch_add(1, Relaxed);
        // SAFETY: `layout` is as it came.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Relaxed);
        BLOCKS.fetch_sub(1, Relaxed);
        // SAFETY: `block` is of `alloc` above, which is `System`'s, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size as i64 - layout.size() as i64, Relaxed);
        // SAFETY: `block` is of `alloc` above, which is `System`'s, with this layout.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut groups = arguments.split(|argument| argument == "--").skip(1);
    // CALLS
}

fn load<Document: serde::de::DeserializeOwned + serde::Serialize>(files: &[String]) {
    let texts: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect(file)).collect();
    let (bytes, blocks) = (BYTES.load(Relaxed), BLOCKS.load(Relaxed));
    let mut documents: Vec<Document> = Vec::with_capacity(files.len());
    let mut loaded = Vec::with_capacity(files.len());
    let before = BYTES.load(Relaxed) - bytes;
    let mut refused = 0;
    for (index, text) in texts.iter().enumerate() {
        match serde_json::from_slice(text) {
            Ok(document) => {
                documents.push(document);
                loaded.push(index);
            }
            Err(error) => {
                refused += 1;
                if refused == 1 {
                    eprintln!("{}: {error}", files[index]);
                }
            }
        }
    }
    // The list of indices is not of the documents.
    let list = before - (files.len() * size_of::<Document>()) as i64;
    let (bytes, blocks) = (BYTES.load(Relaxed) - bytes - list, BLOCKS.load(Relaxed) - blocks - 1);
    let mut unequal = 0;
    for (&index, document) in loaded.iter().zip(&documents) {
        let was: serde_json::Value = serde_json::from_slice(&texts[index]).expect("it was read before");
        let text = serde_json::to_vec(document).expect("it came from JSON");
        let is: serde_json::Value = serde_json::from_slice(&text).expect("it was just written");
        if !same::same(&was, &is) {
            unequal += 1;
            if unequal == 1 {
                eprintln!("{}: written back otherwise", files[index]);
            }
        }
    }
    println!("{bytes} {blocks} {refused} {unequal}");
}

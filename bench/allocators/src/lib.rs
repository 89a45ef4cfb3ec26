//! What the programs share: the allocator, and blocks that are made and dropped.

use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A generator of numbers, by Marsaglia (2003).
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap_or(0)
    }
}

/// Returns a block whose pages are written.
#[must_use]
pub fn block(bytes: usize) -> Vec<u8> {
    black_box(vec![7; bytes])
}

/// Runs threads, which are idle after their work, as those of a server. With an argument the program creates this file then, and waits for
/// ever.
pub fn serve(works: Vec<Box<dyn FnOnce() + Send>>) {
    let done = Arc::new(Barrier::new(works.len() + 1));
    for work in works {
        let done = Arc::clone(&done);
        thread::spawn(move || {
            work();
            done.wait();
            loop {
                thread::park();
            }
        });
    }
    done.wait();
    if let Some(file) = std::env::args_os().nth(1) {
        std::fs::write(file, "").expect("a file");
        loop {
            thread::park();
        }
    }
}

//! A block that lives at the top of the heap keeps what is freed below it.
use dwell_bench_allocators::{block, serve};

fn main() {
    let work = || {
        let mut kept = Vec::new();
        for _ in 0..4 {
            let all: Vec<Vec<u8>> = (0..400).map(|_| block(100 << 10)).collect();
            kept.push(block(1000));
            drop(all);
        }
        std::mem::forget(kept);
    };
    serve(vec![Box::new(work)]);
}

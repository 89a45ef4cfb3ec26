//! Threads of a runtime that keep some of many small blocks for long: what is freed lies between (fedimint#8876).
use dwell_bench_allocators::{Random, block, serve};
use std::sync::Mutex;

static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

fn work(number: u64) {
    let mut random = Random(number + 1);
    for _ in 0..6 {
        let mut held: Vec<Vec<u8>> = (0..4000).map(|_| block(100 + random.below(2000))).collect();
        let kept: Vec<Vec<u8>> = (0..10).map(|_| held.swap_remove(random.below(held.len()))).collect();
        KEPT.lock().expect("no panic").extend(kept);
    }
}

fn main() {
    serve((0..16).map(|number| Box::new(move || work(number)) as _).collect());
}

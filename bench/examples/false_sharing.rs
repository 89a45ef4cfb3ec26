//! What the padding in `slab::sync` saves: `cargo run --release -p dwell-bench --example false_sharing`.
//!
//! One thread drops slots of a slab one by one, which writes the list of returned cells, while the thread of the slab
//! inserts and drops values, which reads the words beside it. To compare, change `PADDING` in
//! `crates/dwell/src/slab/remote.rs` to 0.

use dwell::slab::sync::Slab;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

const ROUNDS: usize = 41;
const SLOTS: u64 = 200_000;

fn main() {
    let slab = Slab::<[u64; 8]>::new();
    let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let slots: Vec<_> = (0..SLOTS).map(|n| slab.insert([n; 8])).collect();
        let (begin, ended) = (Barrier::new(2), AtomicBool::new(false));
        thread::scope(|threads| {
            let dropping = threads.spawn(|| {
                begin.wait();
                let start = Instant::now();
                slots.into_iter().for_each(drop);
                let nanoseconds = start.elapsed().as_secs_f64() * 1e9;
                ended.store(true, Ordering::Relaxed);
                nanoseconds / SLOTS as f64
            });
            begin.wait();
            let start = Instant::now();
            let mut operations = 0_u32;
            while !ended.load(Ordering::Relaxed) {
                for n in 0..16 {
                    drop(black_box(slab.insert([n; 8])));
                }
                operations += 16;
            }
            here.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(operations.max(1)));
            elsewhere.push(dropping.join().expect("the thread does not panic"));
        });
    }
    print("insert and drop on the slab's thread", here);
    print("drop on the other thread", elsewhere);
}

fn print(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |tenths: usize| times[times.len() * tenths / 10];
    println!("{name}: {:.1} ns, of {ROUNDS} rounds four fifths from {:.1} to {:.1}", at(5), at(1), at(9));
}

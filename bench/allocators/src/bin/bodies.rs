//! A burst of requests with large bodies, then nothing (aisix#968).
use dwell_bench_allocators::{Random, block, serve};

fn requests(number: u64) {
    let mut random = Random(number + 1);
    for _ in 0..40 {
        // The raw bytes, what was parsed, and what is sent.
        let bytes = (300 << 10) + random.below(2 << 20);
        let all = [block(bytes), block(bytes), block(bytes * 3 / 4)];
        drop(all);
    }
}

fn main() {
    serve((0..8).map(|number| Box::new(move || requests(number)) as _).collect());
}

//! Clients that come, each with a thread that makes and drops buffers, and then are idle (fedimint#9025).
use dwell_bench_allocators::{Random, block, serve};

fn client(number: u64) {
    let mut random = Random(number * 77 + 1);
    let mut held: Vec<Vec<u8>> = Vec::new();
    for round in 0..3000 {
        held.push(block(256 + random.below(24 << 10)));
        if held.len() > 150 || round % 200 == 199 {
            let half = held.len() / 2;
            held.drain(..half);
        }
    }
}

fn main() {
    serve((0..24).map(|number| Box::new(move || client(number)) as _).collect());
}

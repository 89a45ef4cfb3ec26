//! A cache of texts, with mimalloc.

use lru::LruCache;
use std::num::NonZeroUsize;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let mut sum = 0;
    let mut cache = LruCache::new(NonZeroUsize::new(500).expect("not 0"));
    for round in 0..rounds {
        for at in 0..6_000_u64 {
            let key = (at * 7919 + round) % 3_001;
            if cache.get(&key).is_none() {
                cache.put(key, format!("the value of the key {key}"));
            }
            sum += cache.len() as u64;
        }
    }
    println!("{sum}");
}

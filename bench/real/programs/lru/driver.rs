//! Caches whose entries have 72 bytes: small ones that are created and dropped, one with constant insertions and
//! removals, a large one.

use lru::LruCache;
use std::num::NonZeroUsize;

fn capacity(entries: usize) -> NonZeroUsize {
    NonZeroUsize::new(entries).expect("not 0")
}

/// SplitMix64, with a fixed seed.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        // Caches are created, filled with ten entries and dropped, one at a time.
        "10 entries" => Box::new(|| {
            let mut sum = 0;
            for round in 0..2_000_u64 {
                let mut cache = LruCache::new(capacity(10));
                for key in 0..10 {
                    cache.put(key, [key + round; 5]);
                }
                sum += cache.get(&(round % 10)).map_or(0, |value| value[0]);
            }
            sum
        }),
        // Sessions: half of the operations insert, half remove a key that may be present.
        "churn" => Box::new(|| {
            let (mut cache, mut state, mut sum) = (LruCache::unbounded(), 7, 0);
            for _ in 0..100_000 {
                let key = random(&mut state);
                cache.put(key % 20_000, [key; 5]);
                sum = cache.pop(&((key >> 32) % 20_000)).map_or(sum, |value| sum ^ value[1]);
            }
            sum
        }),
        // A million entries are inserted, and dropped with the cache.
        "a million" => Box::new(|| {
            let (mut cache, mut state) = (LruCache::new(capacity(1_000_000)), 3);
            for _ in 0..1_000_000 {
                cache.put(random(&mut state), [2_u64; 5]);
            }
            cache.len() as u64
        }),
        _ => panic!("no workload {name}"),
    }
}

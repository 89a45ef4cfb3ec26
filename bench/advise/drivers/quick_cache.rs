//! A cache of texts with a skewed order of reads.
use quick_cache::sync::Cache;

fn main() {
    let cache: Cache<String, String> = Cache::new(60_000);
    let (mut state, mut hits) = (1_u64, 0);
    for _ in 0..600_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = (state >> 33) as f64 / (1_u64 << 31) as f64;
        let key = format!("user/{}", (uniform * uniform * 200_000.0) as u64);
        if cache.get(&key).is_some() {
            hits += 1;
        } else {
            let value = format!("session of {key}");
            cache.insert(key, value);
        }
    }
    println!("{} {}", hits > 100_000, cache.len());
}

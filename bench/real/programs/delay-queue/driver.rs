//! Timeouts of connections: inserted, pushed back and removed; the rest expires. tokio's clock is paused.

use std::time::Duration;
use tokio_util::time::DelayQueue;

/// SplitMix64, with a fixed seed.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

async fn next(queue: &mut DelayQueue<u64>) -> Option<u64> {
    std::future::poll_fn(|context| queue.poll_expired(context)).await.map(tokio_util::time::delay_queue::Expired::into_inner)
}

/// Inserts `entries` timeouts and pushes each back once. Half are removed, and half expire.
async fn timeouts(entries: u64) -> u64 {
    let mut state = 5;
    let mut queue = DelayQueue::new();
    let mut delay = || Duration::from_millis(1 + random(&mut state) % 1_000);
    let keys: Vec<_> = (0..entries).map(|value| queue.insert(value, delay())).collect();
    for key in &keys {
        queue.reset(key, delay());
    }
    let mut sum = 0;
    for key in keys.iter().step_by(2) {
        sum += queue.remove(key).into_inner();
    }
    let mut expired = 0;
    while let Some(value) = next(&mut queue).await {
        sum += value;
        expired += 1;
    }
    assert_eq!(expired, entries / 2, "the other half expires");
    sum
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    let build = || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = build().expect("a runtime");
    match name {
        "10 timeouts" => Box::new(move || runtime.block_on(async {
            let mut sum = 0;
            for _ in 0..100 {
                sum += timeouts(10).await;
            }
            sum
        })),
        "20,000 timeouts" => Box::new(move || runtime.block_on(timeouts(20_000))),
        // Each entry is removed right after it was inserted.
        "insert, remove" => Box::new(move || runtime.block_on(async {
            let (mut state, mut sum) = (9, 0);
            let mut queue = DelayQueue::new();
            let mut keys = Vec::new();
            for value in 0..1_000_u64 {
                keys.push(queue.insert(value, Duration::from_millis(1 + random(&mut state) % 100_000)));
            }
            for value in 0..50_000_u64 {
                let at = (random(&mut state) % 1_000) as usize;
                sum += queue.remove(&keys[at]).into_inner();
                keys[at] = queue.insert(value, Duration::from_millis(1 + random(&mut state) % 100_000));
            }
            sum
        })),
        _ => panic!("no workload {name}"),
    }
}

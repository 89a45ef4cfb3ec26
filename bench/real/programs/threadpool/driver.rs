//! Jobs that a thread submits and one worker runs: closures of 2 and of 9 words.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use threadpool::ThreadPool;

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "jobs of 2 words" => Box::new(|| {
            let (pool, sum) = (ThreadPool::new(1), Arc::new(AtomicU64::new(0)));
            for round in 0..20_000_u64 {
                let sum = Arc::clone(&sum);
                pool.execute(move || _ = sum.fetch_add(round, Ordering::Relaxed));
            }
            pool.join();
            sum.load(Ordering::Relaxed)
        }),
        "jobs of 9 words" => Box::new(|| {
            let (pool, sum) = (ThreadPool::new(1), Arc::new(AtomicU64::new(0)));
            for round in 0..20_000_u64 {
                let (sum, data) = (Arc::clone(&sum), [round; 8]);
                pool.execute(move || _ = sum.fetch_add(data.iter().sum(), Ordering::Relaxed));
            }
            pool.join();
            sum.load(Ordering::Relaxed)
        }),
        _ => panic!("no workload {name}"),
    }
}

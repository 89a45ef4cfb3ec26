//! Jobs on the heap: tasks that a scope spawns, on a pool of one thread.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicU64, Ordering};

fn pool() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts")
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "scope, one thread" => {
            let pool = pool();
            Box::new(move || {
                let sum = AtomicU64::new(0);
                pool.scope(|scope| {
                    for round in 0..200_u64 {
                        let sum = &sum;
                        scope.spawn(move |scope| {
                            for task in 0..100 {
                                scope.spawn(move |_| _ = sum.fetch_add(round * task, Ordering::Relaxed));
                            }
                        });
                    }
                });
                sum.into_inner()
            })
        }
        _ => panic!("no workload {name}"),
    }
}

//! Tasks of an executor in one thread: the executor keeps the waker of each live task in a slab.

use async_executor::LocalExecutor;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Lets other tasks run.
async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(move |context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    let executor = LocalExecutor::new();
    match name {
        // Its benchmark `spawn_one`.
        "one task at a time" => Box::new(move || {
            block_on(executor.run(async {
                let mut sum = 0;
                for value in 0..20_000_u64 {
                    sum += executor.spawn(async move { value }).await;
                }
                sum
            }))
        }),
        // Its benchmark `spawn_many_local`, with a yield.
        "5,000 tasks" => Box::new(move || {
            block_on(executor.run(async {
                let spawn = |value: u64| executor.spawn(async move {
                    yield_now().await;
                    value
                });
                let tasks: Vec<_> = (0..5_000).map(spawn).collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await;
                }
                sum
            }))
        }),
        _ => panic!("no workload {name}"),
    }
}

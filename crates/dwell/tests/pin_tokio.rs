//! Tests of `spawn_erased`.
#![cfg(feature = "tokio")]

mod common;

use common::failing_after;
use dwell::pin::{spawn_erased, try_spawn_erased};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime of one thread")
}

#[test]
fn tasks_drop_their_future_once() {
    /// A value that counts its drops.
    struct Held(Arc<AtomicU32>);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let drops = Arc::new(AtomicU32::new(0));
    let held = || Held(drops.clone());
    let runtime = runtime();
    runtime.block_on(async {
        let (ends, waits) = (held(), held());
        assert_eq!(
            spawn_erased(async move {
                tokio::task::yield_now().await;
                drop(ends);
                7
            })
            .await
            .unwrap(),
            7
        );
        let aborted = spawn_erased(async move {
            std::future::pending::<()>().await;
            drop(waits);
        });
        aborted.abort();
        assert!(aborted.await.unwrap_err().is_cancelled());
        let inner = held();
        let nested =
            spawn_erased(async move { spawn_erased(async move { inner.0.load(Ordering::Relaxed) }).await.unwrap() });
        assert_eq!(nested.await.unwrap(), 2);
    });
    let left = held();
    drop(runtime.spawn(async move { drop(left) }));
    let entered = runtime.enter();
    let (never_polled, task) = (held(), held());
    drop(spawn_erased(async move { drop(never_polled) }));
    let task = spawn_erased(async move { drop(task) });
    drop(entered);
    drop(runtime); // drops its tasks
    drop(task);
    assert_eq!(drops.load(Ordering::Relaxed), 6);
}

#[test]
fn failed_allocation_returns_the_future() {
    let runtime = runtime();
    let _entered = runtime.enter();
    // A size that no other test uses.
    let wide = [7_u64; 300];
    let back = failing_after(0, || try_spawn_erased(async move { wide[299] }).map(drop).unwrap_err()).into_inner();
    assert_eq!(runtime.block_on(back), 7);
}

//! A pool for each thread, for what is pinned there.

use crate::slab::sync::{Pool, PoolSlot};
use core::pin::Pin;
use core::ptr;

/// A pinned future of a [`sync::Pool`](Pool), its type erased: what [`ErasedExt::pooled`](super::ErasedExt::pooled) returns.
///
/// A word, as `futures`' `BoxFuture` is with its vtable: two. A trait whose methods return it can be a `dyn Trait`, with
/// neither `malloc` nor a macro:
///
/// ```
/// use dwell::pin::{ErasedExt, PoolFuture};
/// use std::collections::HashMap;
///
/// trait Store: Send + Sync {
///     fn load<'a>(&'a self, key: &'a str) -> PoolFuture<'a, Option<u64>>;
/// }
///
/// impl Store for HashMap<String, u64> {
///     fn load<'a>(&'a self, key: &'a str) -> PoolFuture<'a, Option<u64>> {
///         async move { self.get(key).copied() }.pooled()
///     }
/// }
///
/// async fn sum(store: &dyn Store, keys: &[&str]) -> u64 {
///     let mut sum = 0;
///     for key in keys {
///         sum += store.load(key).await.unwrap_or(0);
///     }
///     sum
/// }
/// # let store = HashMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
/// # let future = std::pin::pin!(sum(&store, &["a", "b", "c"]));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(future.poll(&mut context), std::task::Poll::Ready(3));
/// ```
pub type PoolFuture<'a, T> = Pin<PoolSlot<dyn Future<Output = T> + Send + 'a>>;

std::thread_local! {
    static POOL: Pool = const { Pool::new() };
}

/// Puts a value in this thread's pool.
#[inline(always)]
pub(super) fn insert<T>(value: T) -> PoolSlot<T> {
    // The value is not moved into a closure, which would be a copy of it.
    match POOL.try_with(ptr::from_ref) {
        // SAFETY: a thread's own, which is there until the thread's end. `insert` calls no code that could end it, nor
        // does the pool move; and it is shared only.
        Ok(pool) => unsafe { &*pool }.insert(value),
        // The thread is at its end. A pool may go before its slots.
        Err(_) => Pool::new().insert(value),
    }
}

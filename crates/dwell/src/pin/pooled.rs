//! A pool for each thread, for what is pinned there.

use crate::slab::sync::{Anywhere, Pool, PoolSlot};
use crate::slab::{Pair, Vacancy, Words};
use core::mem::ManuallyDrop;
use core::pin::Pin;

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
    /// Never dropped, so that it can be reached without a question whether it was.
    static POOL: ManuallyDrop<Pool> = const { ManuallyDrop::new(Pool::new()) };

    static AT_EXIT: AtExit = const { AtExit };
}

/// Lets go of the thread's pool in its destructor.
struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        let _ = POOL.try_with(|pool| pool.clear());
    }
}

/// Puts a value in this thread's pool.
#[inline(always)]
pub(super) fn insert<T>(value: T) -> PoolSlot<T> {
    // The value is not moved into a closure, which would be a copy of it.
    let vacancy = match POOL.try_with(|pool| pool.pop()) {
        Ok(Some(vacancy)) => vacancy,
        _ if const { Words::fit::<T>() } => {
            let Words(first, second) = Words::new(value);
            return insert_in_new(first, second);
        }
        _ if const { Words::nearly_fit::<T>() } => {
            // As in a pool's `insert`.
            let value = ManuallyDrop::new(value);
            return vacancy().fill(ManuallyDrop::into_inner(value));
        }
        _ => vacancy(),
    };
    vacancy.fill(value)
}

#[cold]
#[inline(never)]
fn insert_in_new<T>(first: Pair, second: Pair) -> PoolSlot<T> {
    // SAFETY: made of a `T` by `insert`.
    let value = unsafe { Words(first, second).into() };
    vacancy().fill(value)
}

/// The one that `pop` did not find.
#[cold]
#[inline(never)]
fn vacancy<T>() -> Vacancy<T, Anywhere> {
    if AT_EXIT.try_with(|_| ()).is_ok()
        && let Ok(vacancy) = POOL.try_with(|pool| pool.refill())
    {
        return vacancy;
    }
    // The thread is at its end. A pool may go before its slots.
    Pool::new().refill()
}

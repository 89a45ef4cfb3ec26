//! The types that `.pooled()` returns, and the functions that `#[erased]` calls.

use crate::slab::Pooled;
use core::pin::Pin;

/// A type-erased, pinned future in a pool: the result of
/// [`ErasedExt::pooled`](super::ErasedExt::pooled).
///
/// It has two words, as the `BoxFuture` of the crate futures has. A trait whose methods return it can be used as
/// `dyn Trait`, without `malloc` and without a macro:
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
pub type PoolFuture<'a, T> = Pin<Pooled<dyn Future<Output = T> + Send + 'a>>;

/// A [`PoolFuture`] that need not be `Send`: the result of [`ErasedExt::pooled_local`](super::ErasedExt::pooled_local).
pub type LocalPoolFuture<'a, T> = Pin<Pooled<dyn Future<Output = T> + 'a>>;

/// A [`PoolFuture`] that is also `Sync`: the result of a function with `#[erased(Sync)]`.
pub type SyncPoolFuture<'a, T> = Pin<Pooled<dyn Future<Output = T> + Send + Sync + 'a>>;

/// Calls [`pooled`](super::ErasedExt::pooled), for `#[erased]`. With this function, compile errors for futures that are
/// not `Send` are shorter.
#[doc(hidden)]
#[inline(always)]
pub fn erase<'a, F: Future + Send + 'a>(future: F) -> PoolFuture<'a, F::Output> {
    super::ErasedExt::pooled(future)
}

/// Calls [`pooled_local`](super::ErasedExt::pooled_local), for `#[erased(?Send)]`.
#[doc(hidden)]
#[inline(always)]
pub fn erase_local<'a, F: Future + 'a>(future: F) -> LocalPoolFuture<'a, F::Output> {
    super::ErasedExt::pooled_local(future)
}

/// Like [`erase`], for `#[erased(Sync)]`.
#[doc(hidden)]
#[inline(always)]
pub fn erase_sync<'a, F: Future + Send + Sync + 'a>(future: F) -> SyncPoolFuture<'a, F::Output> {
    Pooled::new(future).coerce::<dyn Future<Output = F::Output> + Send + Sync + 'a, _>(|view| view).into_pin()
}

/// The type `!`, which stable Rust cannot name as an argument of a type, for `#[erased]`.
#[doc(hidden)]
pub type Never = <fn() -> ! as Function>::Output;

/// A function, with the type that it returns.
#[doc(hidden)]
pub trait Function {
    /// The type that it returns.
    type Output;
}

impl<R> Function for fn() -> R {
    type Output = R;
}

//! Tasks of tokio with type-erased futures.

use super::{ErasedExt, PoolFuture};
use crate::alloc::AllocError;
use tokio::task::JoinHandle;

/// Spawns a future with `tokio::spawn`, after erasing its type.
///
/// The future is stored in a slot of this thread's pool. tokio's code for a task is then compiled once for each output
/// type, instead of once for each future.
///
/// ```
/// use dwell::pin::spawn_erased;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # let sum = runtime.block_on(async {
/// let task = spawn_erased(async { 1 + 1 });
/// task.await
/// # });
/// # assert_eq!(sum.unwrap(), 2);
/// ```
///
/// # Panics
///
/// Panics outside a runtime, as `tokio::spawn` does. Calls the allocation error handler if the allocation fails, as
/// [`ErasedExt::pooled`] does; [`try_spawn_erased`] returns the future instead.
#[inline]
#[track_caller]
pub fn spawn_erased<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    spawn(future.pooled())
}

/// Like [`spawn_erased`], but returns an error if the allocation of the future fails. If tokio's own allocation of the
/// task fails, the program still aborts.
///
/// # Errors
///
/// If the allocation of the future fails. The error contains the future.
///
/// # Panics
///
/// Panics outside a runtime.
#[inline]
#[track_caller]
pub fn try_spawn_erased<F>(future: F) -> Result<JoinHandle<F::Output>, AllocError<F>>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    Ok(spawn(future.try_pooled()?))
}

/// Spawns the erased future. This is a separate function so that it is compiled once for each output type.
#[track_caller]
fn spawn<T: Send + 'static>(future: PoolFuture<'static, T>) -> JoinHandle<T> {
    tokio::spawn(future)
}

//! Tasks of tokio.

use super::{ErasedExt, PoolFuture};
use crate::alloc::AllocError;
use tokio::task::JoinHandle;

/// `tokio::spawn` of a future of an erased type.
///
/// The future is in a slot of this thread's pool. tokio's code for a task is then compiled once for each output, and not once
/// for each future.
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
/// Outside a runtime, as `tokio::spawn` does, and when there is no memory, as [`ErasedExt::pooled`].
/// [`try_spawn_erased`] returns the future in the second case.
#[inline]
#[track_caller]
pub fn spawn_erased<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    spawn(future.pooled())
}

/// [`spawn_erased`] that reports when there is no memory for the future. tokio's own allocation of a task aborts.
///
/// # Errors
///
/// When there is no memory; the future is returned in the error.
///
/// # Panics
///
/// Outside a runtime.
#[inline]
#[track_caller]
pub fn try_spawn_erased<F>(future: F) -> Result<JoinHandle<F::Output>, AllocError<F>>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    Ok(spawn(future.try_pooled()?))
}

/// A function of its own, so that it is compiled once for each output.
#[track_caller]
fn spawn<T: Send + 'static>(future: PoolFuture<'static, T>) -> JoinHandle<T> {
    tokio::spawn(future)
}

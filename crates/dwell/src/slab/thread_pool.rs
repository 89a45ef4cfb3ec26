//! The pool that each thread has for `.pooled()`, `.boxed_iter()` and [`pooled!`](crate::pooled).

use super::InPool;
use super::insert::{self, CellAllocator, CellPtr, Refusal};
use super::sync::{AnyThread, Pool, PoolSlot};
use crate::alloc::AllocError;
use core::mem::ManuallyDrop;

std::thread_local! {
    /// Never dropped, so that no use has to test whether it was.
    static POOL: ManuallyDrop<Pool> = const { ManuallyDrop::new(Pool::new()) };

    static AT_EXIT: AtExit = const { AtExit };
}

/// Clears the thread's pool in its destructor.
struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        let _ = POOL.try_with(|pool| pool.clear());
    }
}

/// The pool of this thread.
struct ThreadPool;

// SAFETY: each cell comes from a `Pool`, whose `CellAllocator<T>` returns vacant cells for a `T` that no other code uses and that
// `InPool<AnyThread>` frees. Its slots may outlive it, so that the thread's pool and the temporary one may end first.
unsafe impl<T> CellAllocator<T> for ThreadPool {
    type Kind = InPool<AnyThread>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        POOL.try_with(|pool| CellAllocator::<T>::pop(&**pool)).ok()?
    }

    #[cold]
    #[inline(never)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        if AT_EXIT.try_with(|_| ()).is_ok()
            && let Ok(cell) = POOL.try_with(|pool| CellAllocator::<T>::refill(&**pool))
        {
            return cell;
        }
        // The thread is ending. Its pool has been cleared, or will not be.
        CellAllocator::<T>::refill(&Pool::new())
    }
}

/// Inserts a value into this thread's pool.
#[inline(always)]
pub(crate) fn insert<T>(value: T) -> PoolSlot<T> {
    insert::insert(&ThreadPool, value)
}

/// [`insert`] that reports a failed allocation.
#[inline(always)]
pub(crate) fn try_insert<T>(value: T) -> Result<PoolSlot<T>, AllocError<T>> {
    insert::try_insert(&ThreadPool, value)
}

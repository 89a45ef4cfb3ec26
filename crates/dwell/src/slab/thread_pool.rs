//! The pool of each thread, for [`Pooled`](super::Pooled), [`PoolRc`](super::PoolRc), `.pooled()`, `.boxed_iter()` and `pooled!`.

use super::classes::Class;
use super::insert::{self, CellAllocator, CellPtr, Refusal};
use super::pool::{InPool, Pool};
use super::pooled::Pooled;
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::mem::ManuallyDrop;

std::thread_local! {
    /// The pool of this thread. It is never dropped, so accesses do not test whether it was.
    static POOL: ManuallyDrop<Pool> = const { ManuallyDrop::new(Pool::new()) };

    static AT_EXIT: ClearPool = const { ClearPool };
}

/// A guard that clears the thread's pool when the thread ends.
struct ClearPool;

impl Drop for ClearPool {
    fn drop(&mut self) {
        let _ = POOL.try_with(|pool| pool.clear());
    }
}

/// The [`CellAllocator`] of the thread's pool.
struct ThreadPool;

// SAFETY: each cell comes from a `Pool`, whose `CellAllocator<T>` returns vacant cells for a `T` that no other code
// uses and that `InPool` frees. The values of a pool may outlive it, so the thread's pool and the temporary
// one may end first.
unsafe impl<T> CellAllocator<T> for ThreadPool {
    type Kind = InPool;
    type Handle = Pooled<T>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        pop(const { Class::of(Layout::new::<T>()) }?)
    }

    #[inline(always)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        refill(Layout::new::<T>())
    }
}

// These functions are not generic, so that they are compiled once, and not for each type.

#[inline(always)]
fn pop(class: Class) -> Option<CellPtr> {
    POOL.try_with(|pool| pool.pop_class(class)).ok()?
}

#[cold]
#[inline(never)]
fn refill(layout: Layout) -> Result<CellPtr, Refusal> {
    if AT_EXIT.try_with(|_| ()).is_ok()
        && let Ok(cell) = POOL.try_with(|pool| pool.refill_class(layout))
    {
        return cell;
    }
    // The thread is ending: its pool was already cleared, or nothing will clear it. Use a temporary pool.
    Pool::new().refill_class(layout)
}

/// Frees the memory of this thread's pool that no value is in.
///
/// The pool of a thread, in which [`Pooled`](super::Pooled), [`PoolRc`](super::PoolRc) and [`PoolArc`](super::PoolArc) put their
/// values, gives chunks back by itself: when more than half of its cells of a size are vacant, it frees the chunks that have no
/// value. If it needed as many again within 10 ms, it keeps them the next time. A value that another thread has dropped is
/// vacant when its own thread needs a cell. So a server may call this function when it begins to wait.
///
/// It visits each vacant cell.
///
/// ```
/// use dwell::slab::{Pooled, trim};
///
/// drop((0..1000).map(Pooled::new).collect::<Vec<_>>());
/// trim();
/// ```
pub fn trim() {
    let _ = POOL.try_with(|pool| pool.shrink_to_fit());
}

/// Inserts a value into the thread's pool.
#[inline(always)]
pub(crate) fn insert<T>(value: T) -> Pooled<T> {
    insert::insert(&ThreadPool, value)
}

/// Inserts the value that `make` returns into the thread's pool. Takes the cell before it calls `make`.
#[inline(always)]
pub(crate) fn insert_with<T>(make: impl FnOnce() -> T) -> Pooled<T> {
    insert::insert_with(&ThreadPool, make)
}

/// Like [`insert`], but returns an error if the allocation fails.
#[inline(always)]
pub(crate) fn try_insert<T>(value: T) -> Result<Pooled<T>, AllocError<T>> {
    insert::try_insert(&ThreadPool, value)
}

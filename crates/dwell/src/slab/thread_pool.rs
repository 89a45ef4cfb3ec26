//! The pool of each thread, for [`Pooled`](super::Pooled), [`PoolRc`](super::PoolRc), `.pooled()`, `.boxed_iter()` and `pooled!`.

use super::classes::Class;
use super::insert::{self, CellPtr, Refusal};
use super::size_classes::SizeClasses;
use core::alloc::Layout;
use core::mem::ManuallyDrop;

std::thread_local! {
    /// The pool of this thread. It is never dropped, so accesses do not test whether it was.
    static POOL: ManuallyDrop<SizeClasses> = const { ManuallyDrop::new(SizeClasses::new()) };

    static AT_EXIT: ClearPool = const { ClearPool };
}

/// A guard that clears the thread's pool when the thread ends.
struct ClearPool;

impl Drop for ClearPool {
    fn drop(&mut self) {
        let _ = POOL.try_with(|pool| pool.clear());
    }
}

/// The pool of the thread, as an allocator of cells.
pub(super) struct ThreadPool;

// These functions are not generic, so that they are compiled once, and not for each type.

#[inline(always)]
pub(super) fn pop(class: usize) -> Option<CellPtr> {
    POOL.with(|pool| pool.pop_class(class)) // its access never fails, since it has no destructor
}

#[cold]
#[inline(never)]
pub(super) fn refill(layout: Layout) -> Result<CellPtr, Refusal> {
    if AT_EXIT.try_with(|_| ()).is_ok()
        && let Ok(cell) = POOL.try_with(|pool| pool.refill_class(layout))
    {
        return cell;
    }
    // The thread is ending: its pool was already cleared, or nothing will clear it. Use a temporary pool.
    let pool = SizeClasses::new();
    let cell = pool.refill_class(layout);
    pool.clear();
    cell
}

/// Like [`refill`], but calls [`refused`](insert::refused) where that is refused.
#[cold]
#[inline(never)]
pub(super) fn refill_or_stop(layout: Layout) -> CellPtr {
    refill(layout).unwrap_or_else(|refusal| insert::refused(refusal))
}

/// Allocates a cell of the thread's pool for a value of this layout. An `InPool` handle frees it.
pub(super) fn allocate(layout: Layout) -> CellPtr {
    Class::of(layout).and_then(|class| pop(class.index)).unwrap_or_else(|| refill_or_stop(layout))
}

/// Frees the memory of this thread's pool that no value is in.
///
/// The pool of a thread, in which [`Pooled`](super::Pooled), [`PoolRc`](super::PoolRc) and [`PoolArc`](super::PoolArc) put their
/// values, gives chunks back by itself: when more than half of its cells of a size are vacant, it frees the chunks that have no
/// value. If it needed as many again within 100 ms (for more than 16 MiB: in proportion), it keeps them the next time. A value that another thread has dropped is
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
    let _ = POOL.try_with(|pool| pool.sweep());
}

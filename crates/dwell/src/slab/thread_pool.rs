//! The pool of each thread, for [`Pooled`](super::Pooled), [`PoolRc`](super::PoolRc), `.pooled()`, `.boxed_iter()` and `pooled!`.

use super::classes::{CLASSES, Class};
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

/// Like [`refill`] for a layout of this size and alignment, but calls [`refused`](insert::refused) where that is refused.
///
/// `extern "C"`, so that it never unwinds, and its callers, which are compiled for each type, need no code for that.
#[cold]
#[inline(never)]
pub(super) extern "C" fn refill_or_stop(size: usize, align: usize) -> CellPtr {
    let layout = Layout::from_size_align(size, align).expect("the layout of a type");
    refill(layout).unwrap_or_else(|refusal| insert::refused(refusal))
}

/// Takes a cell for values of a `T` from the thread's pool. It is vacant, used by no other code, and freed by `InPool`.
#[inline(always)]
pub(super) fn cell<T>() -> CellPtr {
    if const { ClassOf::<T>::INDEX == CLASSES } {
        return refill_or_stop(size_of::<T>(), align_of::<T>());
    }
    take(ClassOf::<T>::INDEX, size_of::<T>(), align_of::<T>())
}

/// Takes a cell of this class, or gets one for a layout of this size and alignment.
#[inline]
fn take(class: usize, size: usize, align: usize) -> CellPtr {
    // All of it in the closure: a function of its own that is optimised once, and then inlined. rustc would copy a `match` outside of
    // it to each use, and LLVM optimise it there.
    POOL.with(move |pool| match pool.pop_class(class) {
        Some(cell) => cell,
        None => refill_or_stop(size, align),
    })
}

/// The size class of a type. A constant of a type is evaluated once, a `const` block at each use.
pub(super) struct ClassOf<T>(core::marker::PhantomData<T>);

impl<T> ClassOf<T> {
    /// The index, or `CLASSES` if the type has no class: a number, because an `Option<Class>` is five times as much for the compiler.
    pub(super) const INDEX: usize = match Class::of(Layout::new::<T>()) {
        Some(class) => class.index,
        None => CLASSES,
    };
}

/// Allocates a cell of the thread's pool for a value of this layout. An `InPool` handle frees it.
pub(super) fn allocate(layout: Layout) -> CellPtr {
    Class::of(layout)
        .and_then(|class| pop(class.index))
        .unwrap_or_else(|| refill_or_stop(layout.size(), layout.align()))
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

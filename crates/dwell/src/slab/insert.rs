//! Inserts values into cells: the only code that pops cells, refills the stack and writes values.

use super::kind::SlotKind;
pub(crate) use super::memory::Refusal;
use super::owner::{Handle, Owner};
pub(crate) use super::stack::CellPtr;
use core::alloc::Layout;
use std_alloc::alloc::handle_alloc_error;

/// A slab, module or pool that allocates cells for values of type `T`.
///
/// # Safety
///
/// A returned cell is vacant and not leaked, is for values of a `T`'s layout, is used by no other code, and belongs to a
/// slab with handles of kind `Kind`. Its chunk is not freed while the cell is occupied.
pub(crate) unsafe trait CellAllocator<T> {
    /// The kind of the handles.
    type Kind: SlotKind;
    /// The handle that an insert returns.
    type Handle: Handle<T, Self::Kind>;

    /// Takes a cell from the free stack.
    fn pop(&self) -> Option<CellPtr>;

    /// Allocates a cell if the free stack is empty. Never inlined.
    fn refill(&self) -> Result<CellPtr, Refusal>;

    /// Like `refill`, but calls [`refused`] where that is refused.
    #[cold]
    #[inline(never)]
    fn refill_or_stop(&self) -> CellPtr {
        self.refill().unwrap_or_else(|refusal| refused(refusal))
    }
}

/// Inserts a value into a cell that `alloc` allocates.
///
/// # Panics
///
/// When the slab is full. If the global allocator fails, [`handle_alloc_error`] is called instead.
#[inline(always)]
pub(crate) fn insert<T, S: CellAllocator<T>>(alloc: &S, value: T) -> S::Handle {
    let cell = pop_or_stop(alloc);
    // SAFETY: `CellAllocator` guarantees that the cell is vacant and not leaked, is for a `T`, is used by no
    // other code, and belongs to a slab with handles of kind `Kind`, and that its chunk is not freed while the cell
    // is occupied.
    S::Handle::of(unsafe { Owner::fill(cell, value) })
}

/// Like [`insert`], but returns the value in an error if there is no cell.
#[inline(always)]
pub(crate) fn try_insert<T, S, E>(alloc: &S, value: T) -> Result<S::Handle, E>
where
    S: CellAllocator<T>,
    E: InsertError<T>,
{
    match pop_or_refill(alloc) {
        // SAFETY: `CellAllocator` guarantees that the cell is vacant and not leaked, is for a `T`, is used by
        // no other code, and belongs to a slab with handles of kind `Kind`, and that its chunk is not freed
        // while the cell is occupied.
        Ok(cell) => Ok(S::Handle::of(unsafe { Owner::fill(cell, value) })),
        Err(refusal) => Err(E::new(value, refusal, Layout::new::<T>())),
    }
}

/// Inserts the value that `make` returns. Takes the cell before it calls `make`, and frees it if `make` panics.
///
/// # Panics
///
/// The same as for [`insert`].
#[inline(always)]
pub(crate) fn insert_with<T, S: CellAllocator<T>>(alloc: &S, make: impl FnOnce() -> T) -> S::Handle {
    let cell = pop_or_stop(alloc);
    // SAFETY: `CellAllocator` guarantees that the cell is vacant and not leaked, is for a `T`, is used by no
    // other code, and belongs to a slab with handles of kind `Kind`, and that its chunk is not freed while the cell
    // is occupied.
    S::Handle::of(unsafe { Owner::fill_with(cell, make) })
}

/// Like [`insert_with`], but returns `make` in an error, without calling it, if there is no cell.
#[inline(always)]
pub(crate) fn try_insert_with<T, S, F, E>(alloc: &S, make: F) -> Result<S::Handle, E>
where
    S: CellAllocator<T>,
    F: FnOnce() -> T,
    E: InsertError<F>,
{
    match pop_or_refill(alloc) {
        // SAFETY: `CellAllocator` guarantees that the cell is vacant and not leaked, is for a `T`, is used by
        // no other code, and belongs to a slab with handles of kind `Kind`, and that its chunk is not freed
        // while the cell is occupied.
        Ok(cell) => Ok(S::Handle::of(unsafe { Owner::fill_with(cell, make) })),
        Err(refusal) => Err(E::new(make, refusal, Layout::new::<T>())),
    }
}

/// An error that returns the value: [`Full`](super::Full) or [`AllocError`](crate::AllocError).
pub(crate) trait InsertError<V> {
    /// Creates the error. `layout` is the layout of the value.
    fn new(value: V, refusal: Refusal, layout: Layout) -> Self;
}

#[inline(always)]
fn pop_or_refill<T, S: CellAllocator<T>>(alloc: &S) -> Result<CellPtr, Refusal> {
    match alloc.pop() {
        Some(cell) => Ok(cell),
        None => alloc.refill(),
    }
}

/// Returns a cell, or calls [`refused`]. A `match`, which is less for the compiler than closures: each use has this code.
#[inline(always)]
fn pop_or_stop<T, S: CellAllocator<T>>(alloc: &S) -> CellPtr {
    match alloc.pop() {
        Some(cell) => cell,
        None => alloc.refill_or_stop(),
    }
}

/// Reports a refusal in a function that returns no error: panics or calls [`handle_alloc_error`].
#[cold]
pub(super) fn refused(refusal: Refusal) -> ! {
    match refusal {
        Refusal::Alloc(layout) => handle_alloc_error(layout),
        // A global allocator must not unwind.
        #[cfg(feature = "std")]
        Refusal::ReEntered => {
            std::eprintln!("{refusal}");
            std::process::abort();
        }
        refusal => panic!("{refusal}"),
    }
}

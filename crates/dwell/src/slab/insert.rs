//! Inserts values into cells: the only code that pops cells, refills the stack and writes values.

use super::kind::SlotKind;
pub(crate) use super::memory::Refusal;
use super::slot::Slot;
pub(crate) use super::stack::CellPtr;
use core::alloc::Layout;
use std_alloc::alloc::handle_alloc_error;

/// A slab, module or pool that allocates cells for values of type `T`.
///
/// # Safety
///
/// A returned cell is vacant, has the layout of a `T`, is owned by the caller alone, and may be freed by `Kind`.
pub(crate) unsafe trait CellAllocator<T> {
    /// The kind of its slots.
    type Kind: SlotKind;

    /// Takes a cell from the free stack.
    fn pop(&self) -> Option<CellPtr>;

    /// Allocates a cell if the free stack is empty. Never inlined.
    fn refill(&self) -> Result<CellPtr, Refusal>;
}

type SlotOf<T, S> = Slot<T, <S as CellAllocator<T>>::Kind>;

/// Puts a value in a cell.
///
/// # Panics
///
/// When there is no cell, unless it is the allocator's: then [`handle_alloc_error`] is called.
#[inline(always)]
pub(crate) fn insert<T, S: CellAllocator<T>>(alloc: &S, value: T) -> SlotOf<T, S> {
    let cell = alloc.pop().unwrap_or_else(|| refill(alloc));
    // SAFETY: `CellAllocator` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
    unsafe { Slot::fill(cell, value) }
}

/// [`insert`] that gives the value back if there is no cell.
#[inline(always)]
pub(crate) fn try_insert<T, S, E>(alloc: &S, value: T) -> Result<SlotOf<T, S>, E>
where
    S: CellAllocator<T>,
    E: InsertError<T>,
{
    match pop_or_refill(alloc) {
        // SAFETY: `CellAllocator` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
        Ok(cell) => Ok(unsafe { Slot::fill(cell, value) }),
        Err(refusal) => Err(E::new(value, refusal, Layout::new::<T>())),
    }
}

/// Inserts the result of `make`. The cell is popped before, and freed if `make` panics.
///
/// # Panics
///
/// As [`insert`].
#[inline(always)]
pub(crate) fn insert_with<T, S: CellAllocator<T>>(alloc: &S, make: impl FnOnce() -> T) -> SlotOf<T, S> {
    let cell = alloc.pop().unwrap_or_else(|| refill(alloc));
    // SAFETY: `CellAllocator` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
    unsafe { Slot::fill_with(cell, make) }
}

/// [`insert_with`] that gives `make` back, not called, if there is no cell.
#[inline(always)]
pub(crate) fn try_insert_with<T, S, F, E>(alloc: &S, make: F) -> Result<SlotOf<T, S>, E>
where
    S: CellAllocator<T>,
    F: FnOnce() -> T,
    E: InsertError<F>,
{
    match pop_or_refill(alloc) {
        // SAFETY: `CellAllocator` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
        Ok(cell) => Ok(unsafe { Slot::fill_with(cell, make) }),
        Err(refusal) => Err(E::new(make, refusal, Layout::new::<T>())),
    }
}

/// An error that returns the value: [`Full`](super::Full) or [`AllocError`](crate::AllocError).
pub(crate) trait InsertError<V> {
    /// `layout` is that of the value.
    fn new(value: V, refusal: Refusal, layout: Layout) -> Self;
}

#[inline(always)]
fn pop_or_refill<T, S: CellAllocator<T>>(alloc: &S) -> Result<CellPtr, Refusal> {
    match alloc.pop() {
        Some(cell) => Ok(cell),
        None => alloc.refill(),
    }
}

/// The cell that `pop` did not find.
#[cold]
#[inline(never)]
fn refill<T, S: CellAllocator<T>>(alloc: &S) -> CellPtr {
    alloc.refill().unwrap_or_else(|refusal| refused(refusal))
}

/// Ends a call that has no `try_` in its name.
#[cold]
pub(super) fn refused(refusal: Refusal) -> ! {
    match refusal {
        Refusal::Alloc(layout) => handle_alloc_error(layout),
        refusal => panic!("{refusal}"),
    }
}

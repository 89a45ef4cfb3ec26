//! Inserts values into cells: the only code that pops cells, refills the stack and writes values.

use super::kind::SlotKind;
pub(crate) use super::memory::Refusal;
use super::slot::Slot;
pub(crate) use super::stack::CellPtr;
use core::alloc::Layout;
use std_alloc::alloc::handle_alloc_error;

/// Where vacant cells for values of a type come from: a slab, a module, a pool.
///
/// # Safety
///
/// A cell that is returned is vacant, for a `T`, exclusively the caller's, and one that `Kind` frees.
pub(crate) unsafe trait CellSource<T> {
    /// The kind of its slots.
    type Kind: SlotKind;

    /// Takes a cell from the free stack.
    fn pop(&self) -> Option<CellPtr>;

    /// The cell that `pop` did not find. It is never inlined.
    fn refill(&self) -> Result<CellPtr, Refusal>;
}

type SlotOf<T, S> = Slot<T, <S as CellSource<T>>::Kind>;

/// Puts a value in a cell.
///
/// # Panics
///
/// When there is no cell, unless it is the allocator's: then [`handle_alloc_error`] is called.
#[inline(always)]
pub(crate) fn insert<T, S: CellSource<T>>(source: &S, value: T) -> SlotOf<T, S> {
    let cell = source.pop().unwrap_or_else(|| refill(source));
    // SAFETY: `CellSource` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
    unsafe { Slot::fill(cell, value) }
}

/// [`insert`] that gives the value back if there is no cell.
#[inline(always)]
pub(crate) fn try_insert<T, S, E>(source: &S, value: T) -> Result<SlotOf<T, S>, E>
where
    S: CellSource<T>,
    E: InsertError<T>,
{
    match pop_or_refill(source) {
        // SAFETY: `CellSource` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
        Ok(cell) => Ok(unsafe { Slot::fill(cell, value) }),
        Err(refusal) => Err(E::new(value, refusal, Layout::new::<T>())),
    }
}

/// Puts what `make` returns in a cell that was taken before, and is freed if `make` panics.
///
/// # Panics
///
/// As [`insert`].
#[inline(always)]
pub(crate) fn insert_with<T, S: CellSource<T>>(source: &S, make: impl FnOnce() -> T) -> SlotOf<T, S> {
    let cell = source.pop().unwrap_or_else(|| refill(source));
    // SAFETY: `CellSource` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
    unsafe { Slot::fill_with(cell, make) }
}

/// [`insert_with`] that gives `make` back, not called, if there is no cell.
#[inline(always)]
pub(crate) fn try_insert_with<T, S, F, E>(source: &S, make: F) -> Result<SlotOf<T, S>, E>
where
    S: CellSource<T>,
    F: FnOnce() -> T,
    E: InsertError<F>,
{
    match pop_or_refill(source) {
        // SAFETY: `CellSource` returns a cell that is vacant, for a `T`, owned by this function, and one that `Kind` frees.
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
fn pop_or_refill<T, S: CellSource<T>>(source: &S) -> Result<CellPtr, Refusal> {
    match source.pop() {
        Some(cell) => Ok(cell),
        None => source.refill(),
    }
}

/// The cell that `pop` did not find.
#[cold]
#[inline(never)]
fn refill<T, S: CellSource<T>>(source: &S) -> CellPtr {
    source.refill().unwrap_or_else(|refusal| refused(refusal))
}

/// Ends a call that has no `try_` in its name.
#[cold]
pub(super) fn refused(refusal: Refusal) -> ! {
    match refusal {
        Refusal::Alloc(layout) => handle_alloc_error(layout),
        refusal => panic!("{refusal}"),
    }
}

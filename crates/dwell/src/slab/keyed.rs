//! Finds leaked values by their keys: the only code that makes a slot or a reference of a leaked value.

use super::engine::{Core, CoreRef, OneThread, Owners};
use super::insert::CellAllocator;
use super::key::{Key, StampedKey};
use super::kind::{Keyed, SlotKind};
use super::memory::CellEntry;
use super::owner::{Handle, Owner};
use super::stack::CellPtr;
use core::ptr::NonNull;

/// A slab or module whose leaked values have keys.
///
/// # Safety
///
/// An entry that is returned is that of a cell for values of a `T`'s layout in a slab with handles of kind `Kind`. If the
/// cell is leaked, it holds a `T`. The cell's chunk is not freed before other code of the slab runs, nor while the cell is
/// occupied.
pub(crate) unsafe trait KeyedCells<T>: CellAllocator<T, Kind: Keyed> {
    /// Returns the entry of the cell with this key, if there is such a cell.
    fn entry(&self, key: Key) -> Option<CellEntry<CoreRef<OneThread>>>;
}

/// Returns whether the key has a leaked value.
pub(crate) fn contains_key<T>(cells: &impl KeyedCells<T>, key: Key) -> bool {
    cells.entry(key).is_some_and(|entry| entry.is_leaked())
}

/// Returns the address of a leaked value, or `None` if the key has none.
#[inline]
pub(crate) fn get_ptr<T>(cells: &impl KeyedCells<T>, key: Key) -> Option<NonNull<T>> {
    let entry = cells.entry(key)?;
    entry.is_leaked().then(|| entry.cell().cast())
}

/// Returns a slot for a leaked value, or `None` if the key has none.
#[inline]
pub(crate) fn reclaim<T, S: KeyedCells<T>>(cells: &S, key: Key) -> Option<S::Handle> {
    let cell = cells.entry(key)?.reclaim()?;
    // SAFETY: `KeyedCells` guarantees that a leaked cell holds a `T` and belongs to a slab with handles of kind `Kind`. No
    // slot owned the value, and `reclaim` has cleared the leaked bit, so this slot is the only owner.
    Some(S::Handle::of(unsafe { Owner::owning(cell.cast()) }))
}

/// Like [`reclaim`], but only for the value that was leaked with this key, and no later one.
#[inline]
pub(crate) fn reclaim_stamped<T, S: KeyedCells<T>>(cells: &S, key: StampedKey) -> Option<S::Handle> {
    if cells.entry(key.key())?.has_stamp(key.stamp()) { reclaim(cells, key.key()) } else { None }
}

/// Calls `f` with a leaked value. Returns `None` if the key has none. While `f` runs, the key finds nothing.
#[inline]
pub(crate) fn with<T, R>(cells: &impl KeyedCells<T>, key: Key, f: impl FnOnce(&mut T) -> R) -> Option<R> {
    let lent = cells.entry(key)?.lend()?;
    // SAFETY: `KeyedCells` guarantees that a leaked cell holds a `T`, and no slot owns that. While it is lent no key
    // finds it, so no other code accesses the value, even if `f` uses the slab.
    Some(f(unsafe { lent.cell().cast().as_mut() }))
}

/// Drops the leaked values, and those that their destructors leak as far as [`Core::drop_leaked`] says.
///
/// # Safety
///
/// The cells of the core are for values of a `T` and belong to a slab with handles of kind `K`.
pub(super) unsafe fn drop_leaked<T, K: SlotKind, O: Owners>(core: &Core<O>) {
    // SAFETY: `Core::drop_leaked` passes cells that were leaked. The caller guarantees that they are for a `T` and belong to a slab
    // with handles of kind `K`.
    core.drop_leaked(&mut |cell| unsafe { drop_leaked_cell::<T, K>(cell) });
}

/// Drops the value in a cell from [`Core::drop_leaked`].
///
/// # Safety
///
/// The cell holds a `T` that was leaked, belongs to a slab with handles of kind `K`, and its leaked bit was cleared.
pub(super) unsafe fn drop_leaked_cell<T, K: SlotKind>(cell: CellPtr) {
    // SAFETY: the caller guarantees that the cell holds a `T` and belongs to a slab with handles of kind `K`. No slot owned the value,
    // and its leaked bit was cleared, so this slot is the only owner.
    drop(unsafe { Owner::<T, K>::owning(cell.cast()) });
}

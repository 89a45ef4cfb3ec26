//! [`Owner`], the engine of [`Slot`](super::Slot) and [`Pooled`](super::Pooled): the only code that reads a value in a cell,
//! drops it, and frees the cell.

use super::coerce::{CoerceBrand, SlotView};
use super::engine::{CoreRef, OneThread};
use super::geometry::Geometry;
use super::kind::sealed::CrossThread;
use super::kind::{Keyed, SlotKind};
use super::memory::CellEntry;
use super::stack::CellPtr;
use crate::raw::with_metadata;
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// An owned value in a cell of a slab or pool. `K` is the [kind](SlotKind) of its handles, which determines how it finds its slab.
///
/// It is covariant in `T`, as a `Box` is. [`Slot`](super::Slot), whose value can be leaked and found by a key, is not.
#[repr(transparent)] // one word, with its niche
pub(crate) struct Owner<T: ?Sized, K: SlotKind> {
    // # Invariants
    //
    // 1. `value` points to a live `T` that only this owner owns, in an occupied cell for values of its layout. If `K` is
    //    `Keyed`, the cell has the geometry of that layout. The cell is not leaked, and its memory is not freed while
    //    the owner exists.
    // 2. `value` is derived from the pointer to its chunk or dedicated block and may access all of it.
    // 3. The cell belongs to a slab with handles of kind `K`.
    value: NonNull<T>,
    // `*mut K` makes the owner invariant in `K`: a subtype of a `Module` may be another `Module`, whose values have another
    // layout, and an owner must free its cell with the kind that it was made with. It makes the owner neither `Send` nor
    // `Sync`, as `NonNull<T>` does. Drop check knows from the `impl Drop` that the owner owns a `T`.
    of: PhantomData<*mut K>,
}

// SAFETY: an owner owns its value as a `Box` does, and a `T` is `Send`. A drop frees the cell by `free_cell`, which
// `CrossThread` guarantees may be called on any thread.
unsafe impl<T: ?Sized + Send, K: CrossThread> Send for Owner<T, K> {}

// SAFETY: a shared owner gives shared access to the value, and a `T` is `Sync`. It gives no access to the block's
// header, which is not synchronised: that requires a `Keyed` kind, and no `CrossThread` kind is `Keyed`.
unsafe impl<T: ?Sized + Sync, K: CrossThread> Sync for Owner<T, K> {}

/// A guard that frees a cell if the closure that makes its value panics.
struct FreeCellOnUnwind<K: SlotKind> {
    // Invariant: the cell is occupied and belongs to a slab with handles of kind `K`, for values of this layout. It
    // contains no value, and only this guard may pass it to `K::free_cell`.
    cell: CellPtr,
    // A `Layout` and not a `&T` to take it from: an uninhabited type, such as `Infallible`, has no `&T`.
    value: Layout,
    of: PhantomData<K>,
}

impl<K: SlotKind> Drop for FreeCellOnUnwind<K> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: by the invariant the cell is occupied, belongs to a slab with handles of kind `K` for values of this
        // layout, contains no value, and may be freed by this guard only. The guard ends here, so the cell is not used
        // again.
        unsafe { free_unwinding::<K>(self.cell, self.value) };
    }
}

/// A guard that frees the cell of an owner if the value's destructor panics.
struct FreeOwnedOnUnwind<'a, T: ?Sized, K: SlotKind>(
    // Invariant: the slot's value was dropped or is being dropped, and only this guard may pass the cell to
    // `K::free_cell`.
    &'a Owner<T, K>,
);

impl<T: ?Sized, K: SlotKind> Drop for FreeOwnedOnUnwind<'_, T, K> {
    #[inline(always)]
    fn drop(&mut self) {
        // A volatile read, so that the compiler loads the address again here. Otherwise it keeps the address in a
        // register while the destructor runs, which every drop must save: a pooled future then takes 62 instructions
        // instead of 61 (`cargo run --release -p dwell-bench -- pin`).
        // SAFETY: `self.0` is a reference to an owner, so its field is initialised and aligned, and nothing writes to it
        // meanwhile.
        let value = unsafe { (&raw const self.0.value).read_volatile() };
        // SAFETY: by the invariant the value was dropped, as far as its destructor ran, and only this guard may free
        // the cell. By invariants 1 and 3 of `Owner` the cell is occupied and belongs to a slab with handles of kind `K`,
        // for values of this layout. The guard ends here, so the cell is not used again.
        unsafe { free_unwinding::<K>(value.cast(), self.0.layout()) };
    }
}

/// Frees a cell during unwinding. Not inlined.
///
/// # Safety
///
/// The cell is occupied and belongs to a slab with handles of kind `K`, for values of this layout. It contains no live
/// value, and the caller does not use it again.
#[cold]
#[inline(never)]
unsafe fn free_unwinding<K: SlotKind>(cell: CellPtr, value: Layout) {
    // SAFETY: the caller guarantees that the cell is occupied, belongs to a slab with handles of kind `K` for values of
    // this layout, contains no live value, and is not used again, which is all that `free_cell` requires.
    unsafe { K::free_cell(cell, value) };
}

impl<T: ?Sized, K: SlotKind> Drop for Owner<T, K> {
    #[inline(always)]
    fn drop(&mut self) {
        let value = self.value;
        if mem::needs_drop::<T>() {
            // The guard is forgotten below and not dropped: the compiler would not inline its drop, and an insert and a drop
            // took 48 instructions instead of 26 (docs/slab.md, "Rejected designs").
            let guard = FreeOwnedOnUnwind(self);
            // SAFETY: by invariant 1 the value is live and only this owner owns it. The owner is being dropped, so the
            // value is dropped once and not used again.
            unsafe { value.drop_in_place() };
            mem::forget(guard);
        }
        let layout = self.layout_after_drop();
        // SAFETY: by invariants 1 and 3 the cell is occupied and belongs to a slab with handles of kind `K`, for values
        // of this layout. The value was dropped above or needs no drop, and the owner is not used again.
        unsafe { K::free_cell(value.cast(), layout) };
    }
}

impl<T: ?Sized, K: SlotKind> Owner<T, K> {
    /// Returns the layout of the value.
    #[inline(always)]
    fn layout(&self) -> Layout {
        // An `&UnsafeCell<T>` and not a `&T`: a `&T` would assert that nothing writes to the value, which is wrong for
        // a future with references to itself.
        // SAFETY: by invariant 1 the pointer is that of a live value, or, while the owner is consumed, of a cell that
        // contained the value and is not freed. So it is aligned and points to memory of that layout. `for_value` uses
        // only its metadata and reads no byte of the value.
        Layout::for_value(unsafe { &*(self.value.as_ptr() as *const UnsafeCell<T>) })
    }

    /// Returns the layout of the value, which was dropped.
    #[inline(always)]
    fn layout_after_drop(&self) -> Layout {
        if size_of::<&T>() == size_of::<usize>() {
            return self.layout();
        }
        // A `&T`, unlike in `layout`, since nothing uses the value any more: the size of an `UnsafeCell<dyn Trait>` is rounded up to
        // its alignment, which takes five instructions.
        // SAFETY: the cell is not freed yet, so the pointer is aligned and points to memory of that layout. `for_value` uses only its
        // metadata and reads no byte of the value.
        Layout::for_value(unsafe { self.value.as_ref() })
    }

    /// Consumes the owner and returns its cell with the value in it. The caller must drop the value and free the cell.
    #[cfg(feature = "std")]
    pub(super) fn into_cell(self) -> CellPtr {
        ManuallyDrop::new(self).value.cast()
    }

    /// Returns a pointer to the value.
    #[inline]
    pub(super) fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// Returns a mutable pointer to the value.
    #[inline]
    pub(super) fn as_mut_ptr(&mut self) -> *mut T {
        self.value.as_ptr()
    }

    /// Consumes the owner without dropping the value or freeing the cell.
    #[inline]
    pub(super) fn into_raw(self) -> *mut T {
        ManuallyDrop::new(self).value.as_ptr()
    }

    /// Creates the owner of `value`.
    ///
    /// # Safety
    ///
    /// The invariants of [`Owner`] hold for `value`.
    #[inline(always)]
    pub(super) unsafe fn owning(value: NonNull<T>) -> Self {
        Self { value, of: PhantomData }
    }

    /// Converts a pointer from [`into_raw`](Self::into_raw) back to an owner.
    ///
    /// # Safety
    ///
    /// - `raw` came from `into_raw` of an `Owner<U, K>` with this `K`, and was not converted to an owner since.
    /// - The value is live. It is a `T` at the same address and of the same layout.
    /// - The calling thread is the one that called `into_raw`, unless `K` is [`CrossThread`].
    #[inline]
    pub(super) unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller guarantees that the address came from `into_raw`, which returns the pointer of a
        // `NonNull`.
        let value = unsafe { NonNull::new_unchecked(raw) };
        // SAFETY: the invariants held for the owner that `into_raw` consumed without dropping the value or freeing the
        // cell. The caller guarantees that the value is live, is a `T` of the same address and layout, and was not
        // converted to an owner since. So the invariants hold for this one, which alone owns the value.
        unsafe { Self::owning(value) }
    }

    /// Unsizes the value, as [`Slot::coerce`](super::Slot::coerce) does.
    #[inline]
    pub(super) fn coerce<U: ?Sized, F>(self, unsize: F) -> Owner<U, K>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        // SAFETY: by invariant 1 the value is live and only `self` owns it. `self` is not used until the closure
        // returns, so nothing writes to the value. The closure is generic over `'brand`, so it must accept every brand.
        let view = unsafe { SlotView::at(self.as_ptr()) };
        let like = unsize(view).as_ptr();
        // SAFETY: the closure accepts every brand, so the view that it returned is the only one with this brand: the
        // view of this value, coerced. A coercion changes neither the address nor the layout of the value, and no
        // lifetime, because views are invariant.
        unsafe { self.unsized_like(like) }
    }

    /// Unsizes the value as `like`.
    ///
    /// # Safety
    ///
    /// With the metadata of `like`, the value is a live `U` of the same layout. If the handle can be leaked, `U` is a type
    /// that [`coerce`](Self::coerce) converts `T` to.
    #[inline]
    pub(crate) unsafe fn unsized_like<U: ?Sized>(self, like: *const U) -> Owner<U, K> {
        let this = ManuallyDrop::new(self);
        // Takes the metadata from `like` but the address from the owner, whose pointer may access the whole chunk.
        let value = with_metadata(this.value.as_ptr().cast(), like);
        // SAFETY: `with_metadata` keeps the address that it is given, which is that of `this.value`, a `NonNull`.
        let value = unsafe { NonNull::new_unchecked(value.cast_mut()) };
        // SAFETY: the caller guarantees that the value is a live `U` of the same layout. So the invariants that held for `self` hold
        // for the result, and `self` is not used again.
        unsafe { Owner::owning(value) }
    }
}

impl<T: ?Sized, K: Keyed> Owner<T, K> {
    /// Returns the entry of the cell in its block. The caller uses it only while the owner exists or its value is leaked.
    pub(super) fn entry(&self) -> CellEntry<CoreRef<OneThread>> {
        let geometry = Geometry::of(self.layout());
        // SAFETY: `K` is `Keyed`, so by invariants 1 and 3 the value is in a cell of a `Core<OneThread>` with this
        // geometry. The chunk is not freed while the owner exists or its value is leaked.
        unsafe { CellEntry::of(self.value.cast(), geometry) }
    }
}

impl<T, K: SlotKind> Owner<T, K> {
    /// Moves the value out of its slab.
    #[inline(always)]
    pub(super) fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: by invariant 1 the value is live. It is moved out once: `this` is not dropped, and its value is not
        // accessed again.
        let value = unsafe { this.value.read() };
        // SAFETY: by invariants 1 and 3 the cell is occupied and belongs to a slab with handles of kind `K`, for values
        // of a `T`. The value was moved out, and `this` is not used again.
        unsafe { K::free_cell(this.value.cast(), Layout::new::<T>()) };
        value
    }

    /// Writes a value to a cell and returns its owner.
    ///
    /// # Safety
    ///
    /// The cell is vacant and not leaked, belongs to a slab with handles of kind `K` for values of this layout, and only the
    /// caller uses it. Its chunk is not freed while the cell is occupied.
    #[inline(always)]
    pub(super) unsafe fn fill(cell: CellPtr, value: T) -> Self {
        let cell = cell.cast::<T>();
        // SAFETY: the caller guarantees that the cell is vacant, is for values of a `T`, so aligned and large enough,
        // and is used by no other code.
        unsafe { cell.write(value) };
        // SAFETY: the cell now contains a live value. The caller guarantees that the cell is not leaked, that no other
        // code uses it, that its chunk is not freed while it is occupied, and that it belongs to a slab with handles of kind
        // `K`; a `CellPtr` may access its whole chunk. So the invariants hold.
        unsafe { Self::owning(cell) }
    }

    /// Writes the value that `make` returns to a cell and returns its owner. Frees the cell if `make` panics.
    ///
    /// # Safety
    ///
    /// The cell is vacant and not leaked, belongs to a slab with handles of kind `K` for values of this layout, and only the
    /// caller uses it. Its chunk is not freed while the cell is occupied.
    #[inline(always)]
    pub(super) unsafe fn fill_with(cell: CellPtr, make: impl FnOnce() -> T) -> Self {
        let guard = FreeCellOnUnwind::<K> { cell, value: Layout::new::<T>(), of: PhantomData };
        let value = cell.cast::<T>();
        // SAFETY: the caller guarantees that the cell is vacant, is for values of a `T`, so aligned and large enough,
        // and is used by no other code.
        unsafe { value.write(make()) };
        mem::forget(guard);
        // SAFETY: the cell now contains a live value. The caller guarantees that the cell is not leaked, that no other
        // code uses it, that its chunk is not freed while it is occupied, and that it belongs to a slab with handles of kind
        // `K`; a `CellPtr` may access its whole chunk. So the invariants hold.
        unsafe { Self::owning(value) }
    }
}

impl<T: ?Sized, K: SlotKind> Deref for Owner<T, K> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: by invariant 1 the value is live and only this owner owns it. The returned reference borrows the owner.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized, K: SlotKind> DerefMut for Owner<T, K> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: by invariant 1 the value is live and only this owner owns it. The returned reference borrows the owner.
        unsafe { self.value.as_mut() }
    }
}

/// A handle that owns one value: [`Slot`](super::Slot) or [`Pooled`](super::Pooled).
pub(crate) trait Handle<T, K: SlotKind> {
    /// Wraps an owner.
    fn of(owner: Owner<T, K>) -> Self;
}

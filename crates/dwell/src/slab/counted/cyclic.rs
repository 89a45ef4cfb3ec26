//! Values that contain weak pointers to themselves, and weak pointers to none.

use super::super::pooled::Pooled;
use super::{Counted, Counts, InCell, NO_CELL, Weak, remove_weak, value};
use crate::raw::Meta;
use crate::slab::coerce::{CoerceBrand, SlotView};
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{self, NonNull};

impl<T, C: Counts> Weak<T, C> {
    /// Creates a weak pointer to no value.
    pub(super) const fn new() -> Self {
        // SAFETY: the address is not null.
        Self { cell: unsafe { NonNull::new_unchecked(ptr::without_provenance_mut(NO_CELL)) } }
    }

    /// Unsizes the value, which may have been dropped, or not exist.
    pub(super) fn coerce<U: ?Sized, F>(self, unsize: F) -> Weak<U, C>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        let meta = if self.counts().is_some() {
            // SAFETY: the cell is occupied, because this pointer is counted.
            Self::meta(unsafe { value(self.cell) }, unsize)
        } else {
            Self::meta(MaybeUninit::uninit().as_mut_ptr(), unsize)
        };
        let this = ManuallyDrop::new(self);
        // An `InCell<U, C>` has the metadata of its last field.
        let cell = meta.decode(this.cell.as_ptr().cast()).cast_mut() as *mut InCell<U, C>;
        // SAFETY: `decode` keeps the address that it is given, which is that of `this.cell`, a `NonNull`. As in `Counted::coerce` a
        // value in the cell is a `U`. The count of `this`, which is not dropped, is that of the result.
        Weak { cell: unsafe { NonNull::new_unchecked(cell) } }
    }

    /// Returns the metadata with which `unsize` unsizes a value at `place`.
    #[inline]
    fn meta<U: ?Sized, F>(place: *mut T, unsize: F) -> Meta<U>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        // SAFETY: there is memory for a `T` at `place` until the end of this function. A view neither reads nor writes it, so that
        // there may be no value. The closure is generic over `'brand`, so it must accept every brand.
        let view = unsafe { SlotView::at(place) };
        Meta::new(unsize(view).as_ptr(), false)
    }
}

impl<T: ?Sized, C: Counts> Weak<T, C> {
    /// Returns the number of strong pointers.
    pub(super) fn strong_count(&self) -> usize {
        self.counts().map_or(0, |counts| counts.strong() as usize)
    }

    /// Returns the number of weak pointers, or 0 if there is no strong one.
    pub(super) fn weak_count(&self) -> usize {
        self.counts().map_or(0, |counts| if counts.strong() == 0 { 0 } else { counts.weak() as usize - 1 })
    }

    /// Returns whether two pointers are to the same value, or to none.
    pub(super) fn ptr_eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.cell.as_ptr(), other.cell.as_ptr())
    }
}

impl<T, C: Counts> Counted<T, C> {
    /// Stores the value that `make` returns. `make` gets a weak pointer to it, which cannot be upgraded before it returns.
    pub(super) fn new_cyclic(make: impl FnOnce(&Weak<T, C>) -> T) -> Self {
        let slot = Pooled::new(InCell { counts: C::weak_only(), value: MaybeUninit::<T>::uninit() });
        let cell = slot.into_raw().cast::<InCell<T, C>>();
        // SAFETY: `into_raw` returns a pointer that is not null. A `MaybeUninit<T>` has the layout of a `T`, and the strong count is 0,
        // so that nothing uses the value. This owns the weak count of 1.
        let weak = Weak { cell: unsafe { NonNull::new_unchecked(cell) } };
        // If this unwinds, the weak pointer frees the cell, unless there are others.
        let contents = make(&weak);
        let cell = ManuallyDrop::new(weak).cell;
        // SAFETY: the cell is occupied, because `weak` is counted.
        let place = unsafe { value(cell) };
        // SAFETY: nothing else uses the value while the strong count is 0, and there is memory for a `T`.
        unsafe { place.write(contents) };
        let this = Self { cell, of: PhantomData };
        // The weak count of `weak` becomes that of all strong pointers.
        this.counts().restore_only();
        this
    }

    /// Moves the value out if this is the last strong pointer. If several threads call it, exactly one gets the value.
    pub(super) fn into_inner(this: Self) -> Option<T> {
        let this = ManuallyDrop::new(this);
        if !this.counts().remove_strong() {
            return None;
        }
        // SAFETY: the cell is occupied, because the strong pointers own a weak count.
        let value = unsafe { value(this.cell) };
        // SAFETY: this was the last strong pointer, so nothing else uses the value, and it is moved out once.
        let value = unsafe { value.read() };
        // SAFETY: the strong pointers owned a weak count, and there are none any more.
        unsafe { remove_weak(this.cell) };
        Some(value)
    }
}

impl<C: Counts> Counted<dyn core::any::Any, C> {
    /// Converts the pointer to one to the concrete type.
    pub(super) fn downcast<T: 'static>(self) -> Result<Counted<T, C>, Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        // SAFETY: the value is a `T`.
        Ok(unsafe { self.downcast_to() })
    }
}

impl<C: Counts> Counted<dyn core::any::Any + Send + Sync, C> {
    /// Converts the pointer to one to the concrete type.
    pub(super) fn downcast<T: 'static>(self) -> Result<Counted<T, C>, Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        // SAFETY: the value is a `T`.
        Ok(unsafe { self.downcast_to() })
    }
}

impl<U: ?Sized, C: Counts> Counted<U, C> {
    /// Converts the pointer to one to the concrete type.
    ///
    /// # Safety
    ///
    /// The value is a `T`.
    unsafe fn downcast_to<T>(self) -> Counted<T, C> {
        let this = ManuallyDrop::new(self);
        Counted { cell: this.cell.cast(), of: PhantomData }
    }
}

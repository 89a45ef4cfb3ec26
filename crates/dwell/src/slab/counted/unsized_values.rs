//! Counted slices and texts.

use super::{Counted, Counts, InCell, thread_pool, value};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use std_alloc::vec::Vec;

impl<T, C: Counts> Counted<[T], C> {
    /// Moves the elements of a vector to a cell.
    pub(super) fn of_vec(mut elements: Vec<T>) -> Self {
        // SAFETY: the length becomes 0 below, before the vector is dropped, so that the elements are moved.
        let this = unsafe { Self::copy(&elements) };
        // SAFETY: 0 is at most the capacity, and no element remains to be initialised.
        unsafe { elements.set_len(0) };
        this
    }

    /// Copies the bytes of the elements to a cell.
    ///
    /// # Safety
    ///
    /// Only one copy of each element is used afterwards, or `T` is `Copy`.
    pub(super) unsafe fn copy(elements: &[T]) -> Self {
        let layout = Layout::new::<C>().extend(Layout::for_value(elements)).map(|(layout, _)| layout.pad_to_align());
        let cell = thread_pool::allocate(layout.expect("a layout of at most isize::MAX bytes"));
        let cell = ptr::slice_from_raw_parts_mut(cell.as_ptr().cast::<T>(), elements.len()) as *mut InCell<[T], C>;
        // SAFETY: `allocate` returned a cell, whose address is not null.
        let cell = unsafe { NonNull::new_unchecked(cell) };
        // SAFETY: the cell is vacant, large enough and aligned for this layout, and begins with the counts, as `repr(C)` says.
        unsafe { cell.cast::<C>().write(C::one()) };
        // SAFETY: the cell is not freed before the result is dropped.
        let place = unsafe { value(cell) };
        // SAFETY: there is memory for as many elements in the cell, which no other code uses. The caller guarantees that they may be
        // copied.
        unsafe { ptr::copy_nonoverlapping(elements.as_ptr(), place.cast(), elements.len()) };
        Self { cell, of: PhantomData }
    }
}

impl<C: Counts> Counted<str, C> {
    /// Copies a text to a cell.
    pub(super) fn of_str(text: &str) -> Self {
        // SAFETY: a byte is `Copy`.
        let bytes = ManuallyDrop::new(unsafe { Counted::<[u8], C>::copy(text.as_bytes()) });
        // SAFETY: the address is that of a cell, which is not null. The bytes are those of a text, and a `str` has the layout and the
        // metadata of its bytes. The count of `bytes`, which is not dropped, is that of the result.
        Self { cell: unsafe { NonNull::new_unchecked(bytes.cell.as_ptr() as *mut InCell<str, C>) }, of: PhantomData }
    }
}

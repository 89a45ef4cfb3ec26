//! Conversions of a [`Pooled`] that a `Box` has as well.

use super::Pooled;
use super::insert::CellPtr;
use super::thread_pool;
use core::alloc::Layout;
use core::any::Any;
use core::ptr;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// Copies the bytes of the elements to a cell of this thread's pool.
///
/// # Safety
///
/// Only one copy of each element is used afterwards, or `T` is `Copy`.
unsafe fn copy<T>(elements: &[T]) -> Pooled<[T]> {
    let cell: CellPtr = thread_pool::allocate(Layout::for_value(elements));
    let place = cell.as_ptr().cast::<T>();
    // SAFETY: the cell is vacant, aligned and large enough for these elements, and no other code uses it. The caller guarantees that
    // they may be copied.
    unsafe { ptr::copy_nonoverlapping(elements.as_ptr(), place, elements.len()) };
    // SAFETY: `allocate` returned a cell for a value of this layout, which now is a live slice that nothing else owns: as if
    // `into_raw` had returned the pointer.
    unsafe { Pooled::from_raw(ptr::slice_from_raw_parts_mut(place, elements.len())) }
}

/// Moves the elements to one cell.
impl<T> From<Vec<T>> for Pooled<[T]> {
    fn from(mut elements: Vec<T>) -> Self {
        // SAFETY: the length becomes 0 below, before the vector is dropped, so that the elements are moved.
        let moved = unsafe { copy(&elements) };
        // SAFETY: 0 is at most the capacity, and no element remains to be initialised.
        unsafe { elements.set_len(0) };
        moved
    }
}

impl<T: Clone> From<&[T]> for Pooled<[T]> {
    fn from(elements: &[T]) -> Self {
        elements.to_vec().into()
    }
}

impl<T> FromIterator<T> for Pooled<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        elements.into_iter().collect::<Vec<_>>().into()
    }
}

impl From<&str> for Pooled<str> {
    fn from(text: &str) -> Self {
        // SAFETY: a byte is `Copy`.
        let bytes = unsafe { copy(text.as_bytes()) }.into_raw();
        // SAFETY: `into_raw` returned the pointer. The bytes are those of a text, and a `str` has the layout of its bytes.
        unsafe { Pooled::from_raw(bytes as *mut str) }
    }
}

impl From<String> for Pooled<str> {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

macro_rules! downcast {
    ($($Any:ty)*) => {
        $(impl Pooled<$Any> {
            /// Converts it to one of the concrete type.
            ///
            /// # Errors
            ///
            /// If the value has another type; the error is the owner.
            pub fn downcast<T: 'static>(self) -> Result<Pooled<T>, Self> {
                if !self.is::<T>() {
                    return Err(self);
                }
                // SAFETY: the pointer is from `into_raw`, and the value was just found to be a `T`.
                Ok(unsafe { Pooled::from_raw(self.into_raw().cast::<T>()) })
            }
        })*
    };
}
downcast!(dyn Any dyn Any + Send dyn Any + Send + Sync);

impl<T: ?Sized> Pooled<T> {
    /// Consumes it and returns a reference to the value, which is never dropped. Use [`into_raw`](Self::into_raw) for one that is
    /// converted back: unlike that of a `Box`, this reference does not suffice.
    ///
    /// ```
    /// let number: &'static mut u8 = dwell::slab::Pooled::leak(dwell::slab::Pooled::new(7));
    /// assert_eq!(*number, 7);
    /// ```
    #[must_use]
    pub fn leak<'a>(this: Self) -> &'a mut T
    where
        T: 'a,
    {
        // SAFETY: the value is live, and no owner of it is left, so that it is neither dropped nor freed, and nothing else refers to
        // it.
        unsafe { &mut *this.into_raw() }
    }
}

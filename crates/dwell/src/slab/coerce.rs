//! How a slot is unsized in safe code. The argument is that of `small::coerce`, with one addition: a view is invariant in `T`, so
//! that a coercion cannot shorten a lifetime. A slab finds leaked values by the type that it knows, so that type must not change.

use core::cell::UnsafeCell;
use core::convert::Infallible;
use core::marker::PhantomData;

/// A value that can be coerced but not accessed, for the closure of [`Slot::coerce`](super::Slot::coerce).
///
/// Coerce it and return it: `coerce::<dyn Trait, _>(|view| view)`.
#[repr(transparent)] // a pointer to a `T` is a pointer to a view of it
pub struct SlotView<B, T: ?Sized> {
    // # Invariants
    //
    // 1. It was made by `Slot::coerce` for one closure; no other has this brand.
    brand: PhantomData<fn(B) -> B>,
    // `UnsafeCell` for the variance. Nothing reads or writes it.
    value: UnsafeCell<T>,
}

/// The brand of one call of [`Slot::coerce`](super::Slot::coerce).
pub enum CoerceBrand<'brand> {
    #[doc(hidden)]
    Never(Infallible, PhantomData<fn(&'brand ()) -> &'brand ()>),
}

impl<B, T: ?Sized> SlotView<B, T> {
    /// The pointer to the value.
    pub(super) const fn as_ptr(&self) -> *const T {
        self.value.get()
    }

    /// The value at `pointer`, wrapped.
    ///
    /// # Safety
    ///
    /// - `pointer` is valid for reads of a live `T` for `'a`, and nothing writes to it.
    /// - `B` is a brand that the closure which gets the reference must accept as any.
    pub(super) unsafe fn at<'a>(pointer: *const T) -> &'a Self {
        // SAFETY: a view is transparent over its value, which the caller says is live for `'a`.
        unsafe { &*(pointer as *const Self) }
    }
}

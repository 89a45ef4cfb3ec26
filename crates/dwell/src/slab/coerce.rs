//! Unsizing a slot in safe code. The argument is that of `small::coerce`, with one addition: a view is invariant in
//! `T`, so a coercion cannot shorten a lifetime. A slab returns a leaked value as its own `T`, so that type must not
//! change.

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
    // 1. If `B` is a `CoerceBrand`, `Slot::coerce` made this view for one call, and no other view has this brand. If it is a
    //    `small::Pooling<U>`, this was created as a `SlotView<B, U>` and then coerced.
    brand: PhantomData<fn(B) -> B>,
    // `UnsafeCell` makes the view invariant in `T`. Nothing reads or writes the value through it.
    value: UnsafeCell<T>,
}

/// The brand of one call of [`Slot::coerce`](super::Slot::coerce).
pub enum CoerceBrand<'brand> {
    #[doc(hidden)]
    Never(Infallible, PhantomData<fn(&'brand ()) -> &'brand ()>),
}

impl<B, T: ?Sized> SlotView<B, T> {
    /// Returns the pointer to the value.
    pub(crate) const fn as_ptr(&self) -> *const T {
        self.value.get()
    }

    /// Wraps the value at `pointer`.
    ///
    /// # Safety
    ///
    /// - `pointer` is valid for reads of a live `T` for `'a`, and nothing writes to it.
    /// - `B` is a `CoerceBrand` with a lifetime that the closure which gets the reference cannot choose.
    pub(super) unsafe fn at<'a>(pointer: *const T) -> &'a Self {
        // SAFETY: a view is `repr(transparent)` over its value, which the caller guarantees is live and readable for
        // `'a`.
        unsafe { &*(pointer as *const Self) }
    }
    /// Like [`at`](Self::at), but for a view that cannot be copied.
    ///
    /// # Safety
    ///
    /// - `pointer` is valid for accesses of a live `T` for `'a`, and nothing accesses it through another pointer meanwhile.
    /// - `B` is the brand of `T`.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn at_mut<'a>(pointer: *mut T) -> &'a mut Self {
        // SAFETY: a view is `repr(transparent)` over its value, which the caller guarantees is live and accessed through no
        // other pointer for `'a`.
        unsafe { &mut *(pointer as *mut Self) }
    }
}

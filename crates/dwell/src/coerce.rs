//! The type of values that can be coerced but not accessed. `small::coerce` explains how it unsizes a pointer in safe code.

use core::marker::PhantomData;

/// A value that can be coerced but not accessed, for the closures of `SmallBox::new_coerced`, `SmallBox::coerce` and
/// `bump::Box::coerce`.
///
/// Coerce it and return it: `|value| value as _`.
#[repr(transparent)] // a pointer to a `T` is a pointer to a `Coercible` of it
pub struct Coercible<B, T: ?Sized> {
    // # Invariants
    //
    // 1. A `Coercible<B, T>` whose `B` is not a `Brand` was created as a `Coercible<B, B>` and then coerced.
    // 2. A `Coercible<Brand<'b>, T>` was created by one call of `SmallBox::coerce` or `bump::Box::coerce`. No other has
    //    this `'b`.
    //
    // Invariant in `B`; otherwise a subtype of a brand could be used in its place.
    brand: PhantomData<fn(B) -> B>,
    value: T,
}

/// The brand of one call of `SmallBox::coerce` or `bump::Box::coerce`. It has no values, so there is no
/// `Coercible<Brand<'_>, Brand<'_>>`.
pub enum Brand<'brand> {
    #[doc(hidden)]
    Never(core::convert::Infallible, PhantomData<fn(&'brand ()) -> &'brand ()>),
}

impl<U> Coercible<U, U> {
    /// Wraps `value`.
    pub(crate) const fn new(value: U) -> Self {
        Self { brand: PhantomData, value }
    }

    /// Returns the value.
    pub(crate) fn into_inner(self) -> U {
        self.value
    }
}

impl<B, T: ?Sized> Coercible<B, T> {
    /// Returns a pointer to the value.
    pub(crate) const fn as_ptr(&self) -> *const T {
        (&raw const *self) as *const T
    }

    /// Wraps the value at `pointer`.
    ///
    /// # Safety
    ///
    /// - `pointer` is valid for reads of a live `T` for `'a`.
    /// - `B` is `T`; or it is a `Brand<'b>`, and the closure that gets the reference is generic over `'b`.
    pub(crate) unsafe fn at<'a>(pointer: *const T) -> &'a Self {
        // SAFETY: a `Coercible` is `repr(transparent)` over its value, and the caller guarantees that the value is live
        // and readable for `'a`.
        unsafe { &*(pointer as *const Self) }
    }
}

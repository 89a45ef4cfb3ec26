//! How a pointer is unsized without trusting who does it.
//!
//! On stable there is no bound that says "`U` unsizes to `T`". A closure can say it, since coercion happens in its body,
//! but a closure can also return something else. So it is handed a reference that it can do nothing with but coerce and
//! return: a `&Place<B, U>`, whose *brand* `B` no other place has unless its metadata would be the same.
//!
//! - [`SmallBox::new_with`](super::SmallBox::new_with) brands with `U`, the type of the value. Each `Place<U, T>` began
//!   as a `Place<U, U>`, for nothing else makes one, and for a sized `U` the metadata follows from the two types.
//! - [`SmallBox::coerce`](super::SmallBox::coerce) has a value whose own type is not known, so its brand is a lifetime that
//!   the closure cannot name and that is different in each call.

use super::SmallBox;
use crate::alloc::Global;
use crate::raw::Meta;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

/// A value that can be unsized and not touched: what the closures of [`SmallBox::new_with`] and [`SmallBox::coerce`] get.
///
/// Coerce it and hand it back: `|place| place as _`.
#[repr(transparent)] // a pointer to a `T` is a pointer to a place that holds it
pub struct Place<B, T: ?Sized> {
    // # Invariants
    //
    // 1. If `B` is sized data, the place was made as a `Place<B, B>`, and `T` is what it was coerced to.
    // 2. If `B` is a `Brand<'b>`, it was made by `SmallBox::coerce` for one closure: no other has this `'b`.
    //
    // Invariant in `B`: it is compared, not used.
    brand: PhantomData<fn(B) -> B>,
    value: T,
}

/// The brand of one call of [`SmallBox::coerce`]. It has no values, so there is no `Place<Brand<'_>, Brand<'_>>`.
pub enum Brand<'brand> {
    #[doc(hidden)]
    Never(core::convert::Infallible, PhantomData<fn(&'brand ()) -> &'brand ()>),
}

impl<U> Place<U, U> {
    /// Holds `value` until it is known how it is to be seen.
    #[doc(hidden)]
    pub const fn new(value: U) -> Self {
        Self { brand: PhantomData, value }
    }

    /// The value that it held.
    pub(crate) fn into_inner(self) -> U {
        self.value
    }
}

impl<B, T: ?Sized> Place<B, T> {
    /// The pointer to the value.
    pub(crate) const fn as_ptr(&self) -> *const T {
        (&raw const *self) as *const T
    }

    /// Sees the value at `pointer` as a place.
    ///
    /// # Safety
    ///
    /// - `pointer` is valid for reads of a live `T` for `'a`.
    /// - `B` is `T`, or a brand that the closure which gets the reference must accept as any.
    pub(crate) unsafe fn at<'a>(pointer: *const T) -> &'a Self {
        // SAFETY: a place is transparent over its value, which the caller says is live for `'a`.
        unsafe { &*(pointer as *const Self) }
    }
}

/// How a `U` is seen as a `T`: made by coercing a `Place`. For [`small_box_const!`](crate::small_box_const).
#[doc(hidden)]
pub struct View<U, T: ?Sized> {
    meta: Meta<T>,
    of: PhantomData<fn(U) -> U>,
}

impl<U, T: ?Sized> View<U, T> {
    pub const fn of(place: &Place<U, T>) -> Self {
        Self { meta: Meta::new_inline(place.as_ptr()), of: PhantomData }
    }
}

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// What [`small_box_const!`](crate::small_box_const) calls.
    #[doc(hidden)]
    pub const fn from_view<U>(place: Place<U, U>, view: &View<U, T>) -> Self {
        const {
            assert!(
                Self::fits(size_of::<U>(), align_of::<U>()),
                "the value is too large or too aligned to be kept in place"
            );
        }
        let place = ManuallyDrop::new(place);
        // SAFETY: `ManuallyDrop` and `Place` are transparent over the value, which is moved out once: `place` is not used
        // again.
        let value = unsafe { (&raw const place).cast::<U>().read() };
        // SAFETY: a place branded with the sized type `U` has the metadata of a `U` seen as a `T` (invariant 1 of
        // `Place`), and so has the view of one; the assertion above says that it fits.
        unsafe { Self::new_inline(value, view.meta, Global) }
    }
}

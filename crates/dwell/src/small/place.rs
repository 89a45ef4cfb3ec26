//! How a pointer is unsized in safe code.
//!
//! Stable Rust has no bound for "`U` unsizes to `T`". A closure from `&U` to `&T` can do the coercion, but it can also return
//! some other `&T`, with metadata that is wrong for the value. So the closure gets a reference that it can only coerce and
//! return: a `&Place<B, U>`. Its type parameter `B`, the brand, ties what the closure returns to what it got.
//!
//! - [`SmallBox::new_with`](super::SmallBox::new_with) brands with `U`, the type of the value. Every `Place<U, T>` was a
//!   `Place<U, U>` before it was coerced, because no function makes another. For a sized `U` the metadata follows from the
//!   two types, so any `Place<U, T>` that the closure returns has the right metadata.
//! - [`SmallBox::coerce`](super::SmallBox::coerce) has a value whose type is erased, so two values of the same static type may
//!   have different metadata. Its brand is a lifetime that is new in each call and that the closure cannot name: the only
//!   place with this brand is the one that the closure got.

use super::SmallBox;
use crate::alloc::Global;
use crate::raw::Meta;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

/// A value that can be unsized but not touched, for the closures of [`SmallBox::new_with`] and [`SmallBox::coerce`].
///
/// Coerce it and return it: `|place| place as _`.
#[repr(transparent)] // a pointer to a `T` is a pointer to a place that holds it
pub struct Place<B, T: ?Sized> {
    // # Invariants
    //
    // 1. A place whose brand is a sized type was made as a `Place<B, B>`; `T` is what it was coerced to.
    // 2. A place whose brand is a `Brand<'b>` was made by `SmallBox::coerce` for one call. No other place has this `'b`.
    //
    // Invariant in `B`, or a subtype of a brand could pass for it.
    brand: PhantomData<fn(B) -> B>,
    value: T,
}

/// The brand of one call of [`SmallBox::coerce`]. It has no values, so there is no `Place<Brand<'_>, Brand<'_>>`.
pub enum Brand<'brand> {
    #[doc(hidden)]
    Never(core::convert::Infallible, PhantomData<fn(&'brand ()) -> &'brand ()>),
}

impl<U> Place<U, U> {
    /// A place that holds `value`.
    #[doc(hidden)]
    pub const fn new(value: U) -> Self {
        Self { brand: PhantomData, value }
    }

    /// The value.
    pub(crate) fn into_inner(self) -> U {
        self.value
    }
}

impl<B, T: ?Sized> Place<B, T> {
    /// The pointer to the value.
    pub(crate) const fn as_ptr(&self) -> *const T {
        (&raw const *self) as *const T
    }

    /// The value at `pointer` as a place.
    ///
    /// # Safety
    ///
    /// - `pointer` is valid for reads of a live `T` for `'a`.
    /// - `B` is `T`, or a `Brand` whose lifetime the closure that gets the reference must accept as any.
    pub(crate) unsafe fn at<'a>(pointer: *const T) -> &'a Self {
        // SAFETY: a place is `repr(transparent)` over its value, which is live and readable for `'a`.
        unsafe { &*(pointer as *const Self) }
    }
}

/// The metadata of a `U` as a `T`, from a coerced `Place`. For [`small_box_const!`](crate::small_box_const).
#[doc(hidden)]
pub struct Coerced<U, T: ?Sized> {
    // # Invariants
    //
    // 1. This is the metadata of a `U` coerced to a `T`, without the heap bit.
    meta: Meta<T>,
    // Invariant in `U`, as a place is in its brand.
    of: PhantomData<fn(U) -> U>,
}

impl<U, T: ?Sized> Coerced<U, T> {
    pub const fn of(place: &Place<U, T>) -> Self {
        // `U` is sized, so the place was a `Place<U, U>` before it was coerced (invariant 1 of `Place`).
        Self { meta: Meta::new_inline(place.as_ptr()), of: PhantomData }
    }
}

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// What [`small_box_const!`](crate::small_box_const) calls.
    #[doc(hidden)]
    pub const fn from_coerced<U>(place: Place<U, U>, coerced: &Coerced<U, T>) -> Self {
        const {
            assert!(
                Self::fits(size_of::<U>(), align_of::<U>()),
                "the value is too large or too aligned to be stored inline"
            );
        }
        let place = ManuallyDrop::new(place);
        // SAFETY: `ManuallyDrop` and `Place` are `repr(transparent)` over the value. It is moved out once, because `place` is
        // neither used again nor dropped.
        let value = unsafe { (&raw const place).cast::<U>().read() };
        // SAFETY: the assertion says that a `U` fits. `coerced` has the metadata of a `U` as a `T`, without the heap bit
        // (invariant 1 of `Coerced`).
        unsafe { Self::new_storing(value, coerced.meta, Global) }
    }
}

//! Unsizing a pointer in safe code.
//!
//! Stable Rust has no bound for "`U` unsizes to `T`". A closure from `&U` to `&T` can do the coercion, but it can also
//! return an unrelated `&T`, with metadata that is wrong for the value. So the closure gets a reference that it can
//! only coerce and return: a `&Coercible<B, U>`. Its type parameter `B`, the brand, ties the returned reference to the
//! argument.
//!
//! - [`SmallBox::new_with`](super::SmallBox::new_with) brands with `U`, the type of the value. Every `Coercible<U, T>`
//!   was a `Coercible<U, U>` before it was coerced, because no function creates one in another way. For a sized `U` the
//!   metadata follows from the two types, so any `Coercible<U, T>` that the closure returns has the right metadata.
//! - [`SmallBox::coerce`](super::SmallBox::coerce) starts from a value whose type is erased, so two values of the same
//!   static type may have different metadata. Its brand is a lifetime that is new in each call and that the closure
//!   cannot name: the only `Coercible` with this brand is the closure's argument.
//! - [`small_box!`](crate::small_box) has no closure. A closure's parameters are inferred before the target is known,
//!   its `as _` is checked after integer literals have become `i32`, and an opaque type that captures a lifetime and a
//!   type parameter cannot pass through it. The macro coerces a `&mut Incoming<U, U>` to a `&mut Incoming<U, T>` in the
//!   argument of a function that returns the box, as `Box::new(value)` is coerced where a `Box<dyn Trait>` is expected.

use super::SmallBox;
use crate::alloc::Global;
use crate::coerce::Coercible;
use crate::raw::Meta;
use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use std_alloc::alloc::handle_alloc_error;

/// A `U` that [`small_box!`](crate::small_box) moves to a box, coerced to a `T`.
#[doc(hidden)]
pub struct Incoming<U, T: ?Sized> {
    // # Invariants
    //
    // 1. An `Incoming<U, T>` was created as an `Incoming<U, U>` and then coerced.
    // 2. While `full` is set, `value` is a live `U` that this struct owns.
    full: bool,
    // Invariant in `U`, as a `Coercible` is in its brand.
    of: PhantomData<fn(U) -> U>,
    // `ManuallyDrop`: a type with a drop could not borrow a local variable in the last expression of a block, where
    // temporaries outlive the variables in editions up to 2021.
    value: ManuallyDrop<T>,
}

/// The memory of an [`Incoming`].
#[doc(hidden)]
pub struct IncomingStorage<U> {
    incoming: Option<Incoming<U, U>>,
}

impl<U> IncomingStorage<U> {
    #[expect(clippy::new_without_default, reason = "only a macro calls it")]
    #[inline]
    pub const fn new() -> Self {
        Self { incoming: None }
    }

    /// Stores `value` and returns it as an [`Incoming`]. This is a method and not a function with two arguments, so
    /// that the expected type of its result, a `&mut Incoming<_, dyn Trait>`, determines the expected type of `value`
    /// and of nothing else.
    #[inline]
    pub fn fill(&mut self, value: U) -> &mut Incoming<U, U> {
        self.incoming.insert(Incoming { full: true, of: PhantomData, value: ManuallyDrop::new(value) })
    }
}

impl<U, T: ?Sized> Incoming<U, T> {
    /// Returns a pointer with the metadata of a `U` as a `T`. Its address has no meaning.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *const T {
        (&raw const self.value) as *const T
    }

    /// Moves the value out.
    ///
    /// # Panics
    ///
    /// Panics if the value was moved out before.
    #[inline]
    pub(crate) fn take(&mut self) -> U {
        assert!(mem::replace(&mut self.full, false), "the value was already moved out");
        // SAFETY: `full` was set, so `value` is a live `U` (invariants 1 and 2), at the same address because
        // `ManuallyDrop` is `repr(transparent)`. It is moved out once, since `full` is clear now.
        unsafe { (&raw const self.value).cast::<U>().read() }
    }
}

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Boxes the value of an [`Incoming`], for [`small_box!`](crate::small_box).
    #[doc(hidden)]
    #[inline]
    pub fn from_incoming<U>(incoming: &mut Incoming<U, T>) -> Self {
        let like = incoming.as_ptr();
        let value = incoming.take(); // dropped if a line below panics
        let meta = Meta::new(like, !Self::fits(size_of::<U>(), align_of::<U>()));
        let layout = Layout::new::<U>();
        let Ok(block) = Self::block_for(layout, &Global) else { handle_alloc_error(layout) };
        // SAFETY: `block_for` returned `block` for the layout of a `U` and `Global`. It is `Some` if a `U` does not
        // fit, which is also when `meta` has the heap bit. `like` had the metadata of a `U` as a `T`, because every
        // `Incoming<U, T>` was an `Incoming<U, U>` before it was coerced and `U` is sized.
        unsafe { Self::write_new(value, meta, block, Global) }
    }
}

/// The metadata of a `U` as a `T`, from a coerced `Coercible`. For [`small_box_const!`](crate::small_box_const).
#[doc(hidden)]
pub struct Coerced<U, T: ?Sized> {
    // # Invariants
    //
    // 1. `meta` is the metadata that each value of type `U` has as a `T`, without the heap bit.
    meta: Meta<T>,
    // Invariant in `U`, as a `Coercible` is in its brand.
    of: PhantomData<fn(U) -> U>,
}

impl<U, T: ?Sized> Coerced<U, T> {
    pub const fn of(value: &Coercible<U, T>) -> Self {
        // A `Brand` has no values. For any other `U`, `value` was a `Coercible<U, U>` before it was coerced (invariant 1
        // of `Coercible`); `U` is sized, so each `U` has the same metadata as a `T`.
        Self { meta: Meta::new_inline(value.as_ptr()), of: PhantomData }
    }
}

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Boxes a value with coerced metadata, for [`small_box_const!`](crate::small_box_const).
    #[doc(hidden)]
    pub const fn from_coerced<U>(coerced: &Coerced<U, T>, value: Coercible<U, U>) -> Self {
        const {
            assert!(
                Self::fits(size_of::<U>(), align_of::<U>()),
                "the value is too large or too aligned to be stored inline"
            );
        }
        let value = ManuallyDrop::new(value);
        // SAFETY: `ManuallyDrop` and `Coercible` are `repr(transparent)` over the value. It is moved out once, because
        // the wrapped `value` is neither used again nor dropped.
        let value = unsafe { (&raw const value).cast::<U>().read() };
        // SAFETY: the assertion above says that a `U` fits. By invariant 1 of `Coerced` its metadata is that of this `U`
        // as a `T`, without the heap bit.
        unsafe { Self::new_storing(value, coerced.meta, Global) }
    }
}

//! Unsizing a pointer in safe code.
//!
//! Stable Rust has no bound for "`U` unsizes to `T`". A closure from `&U` to `&T` can do the coercion, but it can also
//! return an unrelated `&T`, with metadata that is wrong for the value. So the closure gets a reference that it can
//! only coerce and return: a `&Coercible<B, U>`. Its type parameter `B`, the brand, ties the returned reference to the
//! argument.
//!
//! - [`SmallBox::new_coerced`](super::SmallBox::new_coerced) brands with `U`, the type of the value. Every `Coercible<U, T>`
//!   was a `Coercible<U, U>` before it was coerced, because no function creates one in another way. For a sized `U` the
//!   metadata follows from the two types, so any `Coercible<U, T>` that the closure returns has the right metadata.
//! - [`SmallBox::coerce`](super::SmallBox::coerce) starts from a value whose type is erased, so two values of the same
//!   static type may have different metadata. Its brand is a lifetime that is new in each call and that the closure
//!   cannot name: the only `Coercible` with this brand is the closure's argument.
//! - [`small_box!`](crate::small_box) and its twins have no closure. A closure's parameters are inferred before the
//!   target is known, its `as _` is checked after integer literals have become `i32`, and an opaque type that captures a
//!   lifetime and a type parameter cannot pass through it. The macro coerces a `&mut Incoming<U, U>` to a
//!   `&mut Incoming<U, T>` in the argument of a function that returns the box, as `Box::new(value)` is coerced where a
//!   `Box<dyn Trait>` is expected.

use super::{InlineStorage, SmallBox};
use crate::alloc::Global;
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

// SAFETY: no function reads or drops a value that is in the storage already: `fill` only overwrites it. So another
// thread that gets the storage cannot access that value. (The storage of a macro lives to the end of the statement. A
// future that awaits after the macro in the same statement contains it, empty by then, and stays `Send`.)
unsafe impl<U> Send for IncomingStorage<U> {}

impl<U> IncomingStorage<U> {
    #[expect(clippy::new_without_default, reason = "only a macro calls it")]
    #[inline]
    pub const fn new() -> Self {
        Self { incoming: None }
    }
}

/// Finds the type of the memory that [`fill`] needs for a value.
#[doc(hidden)]
pub trait Incomes {
    type Storage;
}

impl<U> Incomes for U {
    type Storage = IncomingStorage<U>;
}

/// Moves `value` to `storage` and returns it as an [`Incoming`].
///
/// `value` comes first, so that it is evaluated before the storage exists: a future that awaits in the argument of the
/// macro does not contain the storage. The expected type of the result, a `&mut Incoming<_, dyn Trait>`, is also that of
/// `value`, as for `Box::new(value)`. It must not be that of the storage too, whose type is therefore a projection, which
/// the compiler resolves when it knows the type of `value`.
#[doc(hidden)]
#[inline]
pub const fn fill<U>(value: U, storage: &mut <U as Incomes>::Storage) -> &mut Incoming<U, U> {
    storage.incoming = Some(Incoming { full: true, of: PhantomData, value: ManuallyDrop::new(value) });
    match &mut storage.incoming {
        Some(incoming) => incoming,
        None => unreachable!(),
    }
}

impl<U, T: ?Sized> Incoming<U, T> {
    /// Returns a pointer with the metadata of a `U` as a `T`. Its address has no meaning.
    #[inline]
    pub(crate) const fn as_ptr(&self) -> *const T {
        (&raw const self.value) as *const T
    }

    /// Moves the value out.
    ///
    /// # Panics
    ///
    /// Panics if the value was moved out before.
    #[inline]
    pub(crate) const fn take(&mut self) -> U {
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

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Boxes the value of an [`Incoming`] inline, for [`small_box_const!`](crate::small_box_const).
    #[doc(hidden)]
    #[track_caller]
    pub const fn from_incoming_const<U>(incoming: &mut Incoming<U, T>) -> Self {
        InlineStorage::<N, L>::assert_fits::<U>(); // in a constant, this names the line of the caller
        let meta = Meta::new_inline(incoming.as_ptr());
        // SAFETY: `meta` is the metadata of a `U` as a `T`, because every `Incoming<U, T>` was an `Incoming<U, U>` before
        // it was coerced and `U` is sized. `new_inline` leaves the heap bit clear.
        unsafe { Self::new_fitting(incoming.take(), meta) }
    }
}

//! The variance of slots in the type of their value.

use core::convert::Infallible;
use core::marker::PhantomData;

/// The third parameter of a [`Slot<T>`](super::Slot) that is invariant in `T`: the slots of slabs, whose values can be leaked
/// and found by a key.
///
/// This type has no values.
pub enum Invariant<T: ?Sized> {
    #[doc(hidden)]
    Never(Infallible, PhantomData<*mut T>), // `*mut T` is invariant in `T`
}

/// The third parameter of a [`Slot<T>`](super::Slot) that is covariant in `T`, as a `Box<T>` is: the slots of pools.
///
/// This type has no values.
pub enum Covariant {}

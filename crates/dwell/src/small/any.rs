//! `dyn Any` and `dyn Error`: downcasts, and boxes of errors.

use super::SmallBox;
use crate::alloc::{Allocator, Global};
use core::any::Any;
use core::error::Error;

macro_rules! downcast {
    ($($object:ty: $bound:path);* $(;)?) => {$(
        impl<const N: usize, A: Allocator, L> SmallBox<$object, N, A, L> {
            /// The box of a `T` if the value is one, or else the box unchanged.
            ///
            /// ```
            /// use dwell::{SmallBox, small_box};
            /// use std::any::Any;
            ///
            /// let value: SmallBox<dyn Any> = small_box!(7_u32);
            /// let value = value.downcast::<String>().unwrap_err();
            /// assert_eq!(*value.downcast::<u32>().unwrap(), 7);
            /// ```
            pub fn downcast<T: $bound + 'static>(self) -> Result<SmallBox<T, N, A, L>, Self> {
                if !(*self).is::<T>() {
                    return Err(self);
                }
                // SAFETY: the closure keeps the address. `is` compared the `TypeId`s: the value is a live `T`, and its layout has
                // always been that of a `T`.
                Ok(unsafe { self.cast(|object| object.cast::<T>()) })
            }
        }
    )*};
}
downcast!(
    dyn Any: Any;
    dyn Any + Send: Any;
    dyn Any + Send + Sync: Any;
    dyn Error: Error;
    dyn Error + Send: Error;
    dyn Error + Send + Sync: Error;
);

macro_rules! from_error {
    ($($object:ty: $($auto:path),*);* $(;)?) => {$(
        impl<'a, E: Error $(+ $auto)* + 'a, const N: usize, L> From<E> for SmallBox<$object, N, Global, L> {
            fn from(error: E) -> Self {
                SmallBox::new_with(error, |place| place as _)
            }
        }
    )*};
}
from_error!(
    dyn Error + 'a:;
    dyn Error + Send + 'a: Send;
    dyn Error + Send + Sync + 'a: Send, Sync;
);

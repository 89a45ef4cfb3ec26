//! `dyn Any` and `dyn Error`: downcasts, and boxes of errors.

use super::SmallBox;
use crate::alloc::{Allocator, Global};
use crate::small_box;
use core::any::Any;
use core::error::Error;
use std_alloc::boxed::Box;

macro_rules! downcast {
    ($($object:ty: $bound:path);* $(;)?) => {$(
        impl<const N: usize, A: Allocator, L> SmallBox<$object, N, A, L> {
            /// Downcasts to a box of a `T`, or returns the box unchanged if the value is not a `T`.
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
                // SAFETY: the closure keeps the address. `is` compared the `TypeId`s, so the value is a live `T` and
                // has the layout of a `T`.
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

// One `From` covers all of these types. Coherence rejects an implementation for `E: Error` beside one for `&str`,
// because `&str` may implement `Error` in the future. The types that `Box<dyn Error>` has a `From` for are settled by
// std.
macro_rules! from_error {
    ($($object:ty);* $(;)?) => {$(
        /// Converts every type that `Box<dyn Error>` implements `From` for: errors, `&str`, `String`, `Cow<str>`,
        /// `Box<dyn Error>`, and the error types of other crates that convert to it.
        ///
        /// ```
        /// use dwell::SmallBox;
        /// use std::error::Error;
        ///
        /// fn parse(text: &str) -> Result<u8, SmallBox<dyn Error>> {
        ///     if text.is_empty() {
        ///         return Err("there is no text".into());
        ///     }
        ///     Ok(text.parse()?)
        /// }
        ///
        /// assert_eq!(parse("").unwrap_err().to_string(), "there is no text");
        /// assert!(parse("x").unwrap_err().is_inline()); // a `ParseIntError` has one byte
        /// ```
        ///
        /// The value is converted to a `Box<dyn Error>` and moved inline if it fits. Optimised code allocates nothing
        /// for an error that fits; a debug build allocates and frees. [`small_box!`](crate::small_box) never allocates
        /// for an error that fits, and [`SmallBox::try_new_coerced`] reports a failed allocation.
        impl<'a, E: Into<Box<$object>>, const N: usize, L> From<E> for SmallBox<$object, N, Global, L> {
            #[inline]
            fn from(error: E) -> Self {
                Self::from_box_inline(error.into())
            }
        }
    )*};
}
from_error!(
    dyn Error + 'a;
    dyn Error + Send + Sync + 'a;
);

// std has no `From` for `Box<dyn Error + Send>`.
impl<'a, E: Error + Send + 'a, const N: usize, L> From<E> for SmallBox<dyn Error + Send + 'a, N, Global, L> {
    fn from(error: E) -> Self {
        small_box!(error)
    }
}

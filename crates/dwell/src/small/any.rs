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

// One `From` for all of them: of an implementation for `E: Error` and one for `&str` coherence says that they may overlap, since
// `&str` may be an error one day. Whether `Box<dyn Error>` has a `From` of a type, std has settled.
macro_rules! from_error {
    ($($object:ty);* $(;)?) => {$(
        /// Converts every type that `Box<dyn Error>` implements `From` for: errors, `&str`, `String`, `Cow<str>`, `Box<dyn Error>`, and
        /// the error types of other crates that convert to it.
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
        /// The value becomes a `Box<dyn Error>`, and is moved inline if it fits there. Optimised code allocates nothing for an error
        /// that fits; a debug build allocates and frees. [`small_box!`](crate::small_box) never allocates for an error
        /// that fits, and [`SmallBox::try_new_with`] reports a failed allocation.
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

// `Box` has no `From` for these.
impl<'a, E: Error + Send + 'a, const N: usize, L> From<E> for SmallBox<dyn Error + Send + 'a, N, Global, L> {
    fn from(error: E) -> Self {
        small_box!(error)
    }
}

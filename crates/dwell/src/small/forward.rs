//! Trait implementations that forward to the value.

use super::SmallBox;
use crate::alloc::{AllocError, Allocator, Global};
use core::any::Any;
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::error::Error;
use core::fmt;
use core::future::Future;
use core::hash::{Hash, Hasher};
use core::pin::Pin;
use core::task::{Context, Poll};
use std_alloc::boxed::Box;

impl<T: Default, const N: usize, L> Default for SmallBox<T, N, Global, L> {
    fn default() -> Self {
        Self::new_in(T::default(), Global)
    }
}

impl<T: Clone, const N: usize, A: Allocator + Clone, L> SmallBox<T, N, A, L> {
    /// Like `clone`, but returns an error if the allocation fails. `T::clone` itself may still abort.
    ///
    /// # Errors
    ///
    /// If the value does not fit inline and the allocation fails; the error contains its clone.
    pub fn try_clone(&self) -> Result<Self, AllocError<T>> {
        Self::try_new_in((**self).clone(), self.allocator().clone())
    }
}

impl<T: Clone, const N: usize, A: Allocator + Clone, L> Clone for SmallBox<T, N, A, L> {
    fn clone(&self) -> Self {
        Self::new_in((**self).clone(), self.allocator().clone())
    }

    fn clone_from(&mut self, source: &Self) {
        (**self).clone_from(source);
    }
}

impl<T, const N: usize, L> From<T> for SmallBox<T, N, Global, L> {
    fn from(value: T) -> Self {
        Self::new_in(value, Global)
    }
}

/// The sized types, for the `From<Box<T>>` of small boxes. A trait of its own, for the error message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a `Box<{Self}>` does not convert to a `SmallBox<{Self}>` by `into`",
    label = "convert it with `SmallBox::from_box(..)`",
    note = "`From` is implemented for boxes of sized types, slices, `str` and `dyn Any`, but cannot be for every trait object"
)]
pub trait IntoSmall {}

#[diagnostic::do_not_recommend] // an error names this trait instead of `Sized`
impl<T> IntoSmall for T {}

// `SmallBox::from_box` accepts every `T`. `From` is implemented only for the listed types, because coherence cannot
// tell `From<Box<T>>` for every `T` from `From<E: Error>`.
macro_rules! from_box {
    ($($(#[$attr:meta])* [$($generics:tt)*] $Type:ty);* $(;)?) => {$(
        $(#[$attr])*
        impl<$($generics)* const N: usize, L> From<Box<$Type>> for SmallBox<$Type, N, Global, L> {
            /// Keeps the block of the `Box`: see [`SmallBox::from_box`].
            fn from(value: Box<$Type>) -> Self {
                Self::from_box(value)
            }
        }
    )*};
}
from_box!(
    [T: ?Sized + IntoSmall,] T;
    [T,] [T];
    [] str;
    [] core::ffi::CStr;
    #[cfg(feature = "std")] [] std::ffi::OsStr;
    #[cfg(feature = "std")] [] std::path::Path;
    [] dyn Any;
    [] dyn Any + Send;
    [] dyn Any + Send + Sync;
);

impl<T: ?Sized, const N: usize, A: Allocator, L> AsRef<T> for SmallBox<T, N, A, L> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> AsMut<T> for SmallBox<T, N, A, L> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> Borrow<T> for SmallBox<T, N, A, L> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> BorrowMut<T> for SmallBox<T, N, A, L> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized + PartialEq, const N: usize, A: Allocator, L> PartialEq for SmallBox<T, N, A, L> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq, const N: usize, A: Allocator, L> Eq for SmallBox<T, N, A, L> {}

impl<T: ?Sized + PartialOrd, const N: usize, A: Allocator, L> PartialOrd for SmallBox<T, N, A, L> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(other)
    }
}

impl<T: ?Sized + Ord, const N: usize, A: Allocator, L> Ord for SmallBox<T, N, A, L> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl<T: ?Sized + Hash, const N: usize, A: Allocator, L> Hash for SmallBox<T, N, A, L> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug, const N: usize, A: Allocator, L> fmt::Debug for SmallBox<T, N, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, const N: usize, A: Allocator, L> fmt::Display for SmallBox<T, N, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> fmt::Pointer for SmallBox<T, N, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&(&raw const **self), f)
    }
}

/// Implemented for sized errors only, as for `Box`: if `SmallBox<dyn Error>` were an error, `From<E: Error>` for it
/// would overlap with `From<T> for T`.
impl<E: Error, const N: usize, A: Allocator, L> Error for SmallBox<E, N, A, L> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

/// A box of a future is a future, even of one that is not `Unpin`: a pinned box pins its value.
///
/// ```
/// use dwell::{SmallBox, small_box};
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
///
/// let future: SmallBox<dyn Future<Output = u32>, 8> = small_box!(async { 7_u32 }); // `async` blocks are not `Unpin`
/// let mut pinned = pin!(future);
/// let mut context = Context::from_waker(Waker::noop());
/// assert_eq!(pinned.as_mut().poll(&mut context), Poll::Ready(7));
/// ```
impl<F: ?Sized + Future, const N: usize, A: Allocator + 'static, L> Future for SmallBox<F, N, A, L> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().poll(context)
    }
}

// The allocator must be `'static`, as for `Box::into_pin`: a pinned box may be forgotten, and the memory of its value
// must then never be reused. A borrowed allocator could be dropped or reset while the value is live.
impl<T: ?Sized, const N: usize, A: Allocator + 'static, L> SmallBox<T, N, A, L> {
    /// Projects a pinned box to its pinned value.
    ///
    /// The allocator must be `'static`, so that the memory of the value stays valid if the box is forgotten.
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    /// use std::pin::{Pin, pin};
    ///
    /// let future: SmallBox<dyn Future<Output = ()>, 4> = small_box!(async {});
    /// let mut pinned = pin!(future);
    /// let _inner: Pin<&mut dyn Future<Output = ()>> = pinned.as_mut().project();
    /// ```
    pub fn project(self: Pin<&mut Self>) -> Pin<&mut T> {
        // Structural pinning, as the documentation of `core::pin` requires: the box is `Unpin` only if `T` is; its drop
        // drops the value at its address before the memory is used for anything else; and no function moves the value
        // out of a `Pin<&mut Self>`, because each function that moves it takes the box by value or by `&mut`. SAFETY:
        // nothing is moved out of the reference, which is used only for the next line.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: an inline value moves only with the box, which is pinned. A spilled value stays in its block until
        // its drop has run. If the box is forgotten, the value stays there forever, because the allocator is `'static`.
        unsafe { Pin::new_unchecked(&mut **this) }
    }
}

crate::forward::forward!([const N: usize, A: Allocator, L] SmallBox<T, N, A, L>);

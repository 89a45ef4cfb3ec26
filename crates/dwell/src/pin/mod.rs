//! Futures and other values that stay put: pinned by a suffix, erased without `malloc`.
//!
//! ```
//! use dwell::pin::{ErasedExt, InPlace, PinExt};
//!
//! async fn answer() -> u32 {
//!     42
//! }
//!
//! let concrete = answer().pinned(); // Pin<Box<impl Future>>: the type is kept
//! let erased: InPlace<dyn Future<Output = u32> + Send, 4> = answer().in_place(); // no allocation
//! # assert!(size_of_val(&erased) == 40 && size_of_val(&concrete) == 8);
//! ```
//!
//! # Which
//!
//! | the future | its place |
//! |---|---|
//! | is awaited where it is made | none: `.await` it, or [`core::pin::pin!`] |
//! | is kept, its type known | [`pinned`](PinExt::pinned), or a place of your own by [`pinned_in`](PinExt::pinned_in) |
//! | is kept, its type erased, mostly small | [`small`](ErasedExt::small): in place, or in a box if it is too large |
//! | is kept, its type erased, never to allocate | [`in_place`](ErasedExt::in_place): one that does not fit is refused by the compiler |
//!
//! `docs/pin.md` in the repository has what each costs, and what erasure does to compile times.

mod in_place;

pub use self::in_place::InPlace;

use crate::alloc::{AllocError, Global, try_box};
use crate::small::SmallBox;
use core::pin::Pin;
use std_alloc::boxed::Box;
use std_alloc::rc::Rc;
use std_alloc::sync::Arc;

/// Pins any value by a suffix.
///
/// ```
/// use dwell::pin::PinExt;
///
/// let future = async { 1 + 1 }.pinned();
/// fn is_unpin<F: Unpin>(_: &F) {}
/// is_unpin(&future);
/// ```
pub trait PinExt: Sized {
    /// `Box::pin(self)`: the same machine code, and the type is kept.
    #[inline]
    fn pinned(self) -> Pin<Box<Self>> {
        Box::pin(self)
    }

    /// [`pinned`](Self::pinned) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no block for the value, which comes back in the error.
    #[inline]
    fn try_pinned(self) -> Result<Pin<Box<Self>>, AllocError<Self>> {
        try_box(self).map(Box::into_pin)
    }

    /// `Rc::pin(self)`.
    #[inline]
    fn pinned_rc(self) -> Pin<Rc<Self>> {
        Rc::pin(self)
    }

    /// `Arc::pin(self)`.
    #[inline]
    fn pinned_arc(self) -> Pin<Arc<Self>> {
        Arc::pin(self)
    }

    /// Pins the value in a place: what it becomes is the place's to say.
    #[inline]
    fn pinned_in<P: PinPlace<Self>>(self, place: P) -> P::Pinned {
        place.pin(self)
    }
}

impl<T> PinExt for T {}

/// Where values can be pinned.
///
/// [`Global`] is the heap, as [`PinExt::pinned`].
pub trait PinPlace<T> {
    /// The pinned value.
    type Pinned;

    /// Moves the value to its place.
    fn pin(self, value: T) -> Self::Pinned;
}

impl<T> PinPlace<T> for Global {
    type Pinned = Pin<Box<T>>;

    #[inline]
    fn pin(self, value: T) -> Pin<Box<T>> {
        Box::pin(value)
    }
}

/// Forgets a future's type, without allocating for it if it is small.
///
/// `local` in a name says that the future need not be `Send`.
pub trait ErasedExt: Future + Sized {
    /// In place, in `N` words. A future that does not fit is refused when the program is compiled, with its size.
    ///
    /// ```
    /// use dwell::pin::{ErasedExt, InPlace};
    ///
    /// let future: InPlace<dyn Future<Output = u8> + Send, 2> = async { 7 }.in_place();
    /// # drop(future);
    /// ```
    ///
    /// ```compile_fail
    /// use dwell::pin::ErasedExt;
    ///
    /// let large = [0_u64; 8];
    /// // error: a value of 64 bytes aligned to 8 does not fit in place: there are 16 aligned to 8
    /// let future = core::future::ready(large).in_place::<2>();
    /// ```
    #[inline]
    fn in_place<'a, const N: usize>(self) -> InPlace<dyn Future<Output = Self::Output> + Send + 'a, N>
    where
        Self: Send + 'a,
    {
        InPlace::new_with(self, |place| place as _)
    }

    /// [`in_place`](Self::in_place) for a future that is not `Send`.
    #[inline]
    fn in_place_local<'a, const N: usize>(self) -> InPlace<dyn Future<Output = Self::Output> + 'a, N>
    where
        Self: 'a,
    {
        InPlace::new_with(self, |place| place as _)
    }

    /// In place if it fits in `N` words, otherwise in a box.
    ///
    /// ```
    /// use dwell::{SmallBox, pin::ErasedExt};
    ///
    /// let future: SmallBox<dyn Future<Output = u8> + Send, 4> = async { 7 }.small();
    /// assert!(future.is_inline());
    /// ```
    #[inline]
    fn small<'a, const N: usize>(self) -> SmallBox<dyn Future<Output = Self::Output> + Send + 'a, N>
    where
        Self: Send + 'a,
    {
        SmallBox::new_with(self, |place| place as _)
    }

    /// [`small`](Self::small) for a future that is not `Send`.
    #[inline]
    fn small_local<'a, const N: usize>(self) -> SmallBox<dyn Future<Output = Self::Output> + 'a, N>
    where
        Self: 'a,
    {
        SmallBox::new_with(self, |place| place as _)
    }
}

impl<F: Future> ErasedExt for F {}

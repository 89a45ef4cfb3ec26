//! Pinned values: postfix methods that pin any value, and that erase the type of a future without `malloc`.
//!
//! ```
//! use dwell::pin::{ErasedExt, InPlaceFuture, PinExt};
//!
//! async fn answer() -> u32 {
//!     42
//! }
//!
//! let concrete = answer().pinned(); // Pin<Box<impl Future>>: the type is known
//! let erased: InPlaceFuture<'_, u32, 4> = answer().in_place(); // no allocation
//! # assert!(size_of_val(&erased) == 40 && size_of_val(&concrete) == 8);
//! ```
//!
//! # Which
//!
//! | the future | use |
//! |---|---|
//! | is awaited where it is made | `.await`, or [`core::pin::pin!`] |
//! | is stored, its type known | [`pinned`](PinExt::pinned), or [`pinned_in`](PinExt::pinned_in) a slab or pool |
//! | is stored, its type erased, mostly small | [`small`](ErasedExt::small): inline, or in a box if it is too large |
//! | is stored, its type erased, must not allocate | [`in_place`](ErasedExt::in_place): inline; the compiler refuses one that does not fit |
//! | is made and dropped all the time, its type erased | [`pooled`](ErasedExt::pooled), or [`boxed_in`](ErasedExt::boxed_in) a pool of your own |
//! | replaces another, over and over | [`Reusable`] |
//! | is that of an `async fn` in a `dyn Trait`, or of one that calls itself | the attribute `#[dwell::erased]` (feature `derive`) |
//! | is a task of tokio's | `spawn_erased` (feature `tokio`) |
//!
//! With the feature `futures` streams, sinks, readers and writers are erased in the same ways, by the traits
//! `ErasedStreamExt`, `ErasedSinkExt`, `ErasedReadExt` and `ErasedWriteExt`; with the feature `tower` services are, in
//! `pin::tower`.
//!
//! `docs/pin.md` in the repository has what each costs, and the effect of erasure on compile times.

#![expect(
    clippy::inline_always,
    reason = "a value that is passed to a function is written to memory twice, which costs more than an insert in a slab"
)]

mod erased;
#[cfg(feature = "futures")]
mod forward;
mod future;
mod in_place;
#[cfg(feature = "std")]
pub(crate) mod pooled;
mod reusable;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "tower")]
pub mod tower;

pub use self::erased::{ErasedExt, LocalPoolFuture};
#[cfg(all(feature = "futures", feature = "std"))]
pub use self::erased::{ErasedReadExt, ErasedWriteExt};
#[cfg(feature = "futures")]
pub use self::erased::{ErasedSinkExt, ErasedStreamExt};
pub use self::future::{FutureInPlace, InPlaceFuture, LocalInPlaceFuture};
pub use self::in_place::InPlace;
#[cfg(feature = "std")]
pub use self::pooled::{LocalPooledFuture, PoolFuture};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use self::pooled::{erase, erase_local, unreachable_output};
pub use self::reusable::{LocalReusableFuture, Reusable, ReusableFuture};
#[cfg(feature = "tokio")]
pub use self::tokio::{spawn_erased, try_spawn_erased};

use crate::alloc::{AllocError, Global, try_box};
use crate::slab::{InPool, SizeClasses, Slab, Slot, Threading};
use core::pin::Pin;
use std_alloc::boxed::Box;
use std_alloc::rc::Rc;
use std_alloc::sync::Arc;

/// Postfix methods that pin a value.
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

    /// `Rc::pin(self)`. There is no `try_` form: std has no fallible constructor of `Rc` on stable Rust.
    #[inline]
    fn pinned_rc(self) -> Pin<Rc<Self>> {
        Rc::pin(self)
    }

    /// `Arc::pin(self)`. There is no `try_` form: std has no fallible constructor of `Arc` on stable Rust.
    #[inline]
    fn pinned_arc(self) -> Pin<Arc<Self>> {
        Arc::pin(self)
    }

    /// Moves the value to a box, slab or pool and pins it there. [`PinPlace`] lists them and the types of the result.
    ///
    /// ```
    /// use dwell::{pin::PinExt, slab::{Slab, Slot}};
    /// use std::pin::Pin;
    ///
    /// let futures = Slab::new();
    /// let future: Pin<Slot<_>> = async { 1 + 1 }.pinned_in(&futures);
    /// # drop(future);
    /// ```
    ///
    /// # Panics
    ///
    /// As the place does without memory. [`try_pinned_in`](Self::try_pinned_in) gives the value back.
    #[inline(always)]
    fn pinned_in<P: PinPlace<Self>>(self, place: P) -> P::Pinned {
        place.pin(self)
    }

    /// [`pinned_in`](Self::pinned_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value comes back in the error.
    #[inline(always)]
    fn try_pinned_in<P: PinPlace<Self>>(self, place: P) -> Result<P::Pinned, AllocError<Self>> {
        place.try_pin(self)
    }
}

impl<T> PinExt for T {}

/// The boxes, slabs and pools that [`PinExt::pinned_in`] takes.
///
/// | place | the result |
/// |---|---|
/// | [`Global`] | `Pin<Box<T>>` |
/// | [`&Slab<T>`](Slab), [`&sync::Slab<T>`](crate::slab::sync::Slab) | a pinned [`Slot`] |
/// | [`&Pool`](crate::slab::Pool), [`&sync::Pool`](crate::slab::sync::Pool) | a pinned [`Slot`] of a pool |
///
/// An arena is no such place: it reuses the memory of a forgotten value without dropping it, which pinning forbids.
pub trait PinPlace<T> {
    /// The pinned value.
    type Pinned;

    /// Moves the value there and pins it.
    fn pin(self, value: T) -> Self::Pinned;

    /// [`pin`](Self::pin) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value comes back in the error.
    fn try_pin(self, value: T) -> Result<Self::Pinned, AllocError<T>>;
}

impl<T> PinPlace<T> for Global {
    type Pinned = Pin<Box<T>>;

    #[inline]
    fn pin(self, value: T) -> Pin<Box<T>> {
        Box::pin(value)
    }

    #[inline]
    fn try_pin(self, value: T) -> Result<Pin<Box<T>>, AllocError<T>> {
        try_box(value).map(Box::into_pin)
    }
}

macro_rules! slab_place {
    ($($(#[$attr:meta])* [$($generics:tt)*] $Slab:ty: $Slot:ty;)*) => {$(
        $(#[$attr])*
        impl<T, $($generics)*> PinPlace<T> for &$Slab {
            type Pinned = Pin<$Slot>;

            #[inline(always)]
            fn pin(self, value: T) -> Pin<$Slot> {
                self.insert(value).into_pin()
            }

            #[inline(always)]
            fn try_pin(self, value: T) -> Result<Pin<$Slot>, AllocError<T>> {
                self.try_insert(value).map(Slot::into_pin)
            }
        }
    )*};
}
slab_place! {
    [] Slab<T>: Slot<T>;
    #[cfg(feature = "std")] [] crate::slab::sync::Slab<T>: crate::slab::sync::Slot<T>;
    [O: Threading] SizeClasses<O>: Slot<T, InPool<O>>;
}

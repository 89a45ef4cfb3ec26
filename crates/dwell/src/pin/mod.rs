//! Pinned values: postfix methods that pin any value, and that erase the type of a future without `malloc`.
//!
//! ```
//! use dwell::pin::{ErasedExt, InlineFuture, PinExt};
//!
//! async fn answer() -> u32 {
//!     42
//! }
//!
//! let concrete = answer().pinned(); // Pin<Box<impl Future>>: the type is known
//! let erased: InlineFuture<'_, u32, 4> = answer().inline(); // no allocation
//! # assert!(size_of_val(&erased) == 40 && size_of_val(&concrete) == 8);
//! ```
//!
//! # Which method
//!
//! | the future | use |
//! |---|---|
//! | is awaited where it is created | `.await`, or [`core::pin::pin!`] |
//! | is stored, and its type is known | [`pinned`](PinExt::pinned), or [`pinned_in`](PinExt::pinned_in) a slab or pool |
//! | is stored with its type erased, and is mostly small | [`small`](ErasedExt::small): inline, or in a box if it is too large |
//! | is stored with its type erased, and must not allocate | [`inline`](ErasedExt::inline): inline, or a compile error |
//! | is created and dropped all the time | `pooled`, or `pooled_in` your own pool |
//! | repeatedly replaces another | [`Reusable`] |
//! | belongs to an `async fn` that is recursive or in a `dyn Trait` | the attribute `#[dwell::erased]` (feature `derive`) |
//! | is a task of tokio | `spawn_erased` (feature `tokio`) |
//!
//! The feature `futures` adds the same methods for streams, sinks, readers and writers, in the traits
//! `ErasedStreamExt`, `ErasedSinkExt`, `ErasedReadExt` and `ErasedWriteExt`. The feature `tower` adds type-erased
//! services in `pin::tower`.
//!
//! `docs/pin.md` in the repository describes the cost of each method and the effect of erasure on compile times.

#![expect(
    clippy::inline_always,
    reason = "a value that is passed to a function is written to memory twice, which costs more than an insert in a slab"
)]

mod erased;
mod error;
#[cfg(feature = "futures")]
mod forward;
mod future;
mod inline;
#[cfg(feature = "std")]
mod pooled;
mod reusable;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "tower")]
pub mod tower;

pub use self::erased::ErasedExt;
#[cfg(all(feature = "futures", feature = "std"))]
pub use self::erased::{ErasedReadExt, ErasedWriteExt};
#[cfg(feature = "futures")]
pub use self::erased::{ErasedSinkExt, ErasedStreamExt};
pub use self::error::DoesNotFit;
pub use self::future::{ErasedInlineFuture, InlineFuture, LocalInlineFuture};
pub use self::inline::InlineBox;
#[cfg(feature = "std")]
pub use self::pooled::{LocalPoolFuture, PoolFuture, SyncPoolFuture};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use self::pooled::{Never, erase, erase_local, erase_sync, unreachable_output};
pub use self::reusable::{LocalReusableFuture, Reusable, ReusableFuture};
#[cfg(feature = "tokio")]
pub use self::tokio::{spawn_erased, try_spawn_erased};

use crate::alloc::{AllocError, Global, try_box};
#[cfg(feature = "std")]
use crate::slab::{Pool, Pooled};
use crate::slab::{Slab, Slot};
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
    /// Pins the value in a box, with the same machine code as `Box::pin(self)`. The type is not erased.
    #[inline]
    fn pinned(self) -> Pin<Box<Self>> {
        Box::pin(self)
    }

    /// Like [`pinned`](Self::pinned), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the value.
    #[inline]
    fn try_pinned(self) -> Result<Pin<Box<Self>>, AllocError<Self>> {
        try_box(self).map(Box::into_pin)
    }

    /// Pins the value in an `Rc`, as `Rc::pin(self)` does. It has no `try_` form, because std has no fallible
    /// constructor of `Rc` on stable Rust.
    #[inline]
    fn pinned_rc(self) -> Pin<Rc<Self>> {
        Rc::pin(self)
    }

    /// Pins the value in an `Arc`, as `Arc::pin(self)` does. It has no `try_` form, because std has no fallible
    /// constructor of `Arc` on stable Rust.
    #[inline]
    fn pinned_arc(self) -> Pin<Arc<Self>> {
        Arc::pin(self)
    }

    /// Moves the value to a box, slab or pool and pins it there. [`PinStorage`] lists the choices and the types of the
    /// results.
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
    /// Panics or aborts if the allocation fails, as the box, slab or pool does. [`try_pinned_in`](Self::try_pinned_in)
    /// returns the value instead.
    #[inline(always)]
    fn pinned_in<P: PinStorage<Self>>(self, storage: P) -> P::Pinned {
        storage.pin(self)
    }

    /// Like [`pinned_in`](Self::pinned_in), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the value.
    #[inline(always)]
    fn try_pinned_in<P: PinStorage<Self>>(self, storage: P) -> Result<P::Pinned, AllocError<Self>> {
        storage.try_pin(self)
    }
}

impl<T> PinExt for T {}

/// The boxes, slabs and pools that [`PinExt::pinned_in`] accepts.
///
/// | argument | result |
/// |---|---|
/// | [`Global`] | `Pin<Box<T>>` |
/// | [`&Slab<T>`](Slab), [`&sync::Slab<T>`](crate::slab::sync::Slab) | a pinned [`Slot`] |
/// | `&Pool` | a pinned `Pooled<T>` |
///
/// An arena is not among them: it reuses the memory of a forgotten value without dropping the value, which pinning
/// forbids.
pub trait PinStorage<T> {
    /// The type of the pinned value.
    type Pinned;

    /// Moves the value into `self` and pins it.
    fn pin(self, value: T) -> Self::Pinned;

    /// Like [`pin`](Self::pin), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the value.
    fn try_pin(self, value: T) -> Result<Self::Pinned, AllocError<T>>;
}

impl<T> PinStorage<T> for Global {
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

macro_rules! pin_slab {
    ($($(#[$attr:meta])* $Slab:ty: $Slot:ty;)*) => {$(
        $(#[$attr])*
        impl<T> PinStorage<T> for &$Slab {
            type Pinned = Pin<$Slot>;

            #[inline(always)]
            fn pin(self, value: T) -> Pin<$Slot> {
                self.insert(value).into_pin()
            }

            #[inline(always)]
            fn try_pin(self, value: T) -> Result<Pin<$Slot>, AllocError<T>> {
                self.try_insert(value).map(<$Slot>::into_pin)
            }
        }
    )*};
}
pin_slab! {
    Slab<T>: Slot<T>;
    #[cfg(feature = "std")] crate::slab::sync::Slab<T>: crate::slab::sync::Slot<T>;
    #[cfg(feature = "std")] Pool: Pooled<T>;
}

//! Closures called by value.
//!
//! On stable nobody but `Box` can call a `dyn FnOnce`, and it frees the block that the closure is in, which in place is
//! none. A trait object of our own can: its vtable has a function that takes the closure from where it is.

use super::SmallBox;
use crate::alloc::Allocator;
use core::ptr;

/// A `FnOnce` that can be called in a [`SmallBox`] without moving it to the heap: `Args` are its arguments as a tuple.
///
/// Every `FnOnce` of up to four arguments has it, and so has `dyn FnOnce`:
///
/// ```
/// use dwell::small::CallOnce;
/// use dwell::{SmallBox, small_box};
///
/// let name = String::from("Ada");
/// let greet: SmallBox<dyn CallOnce<(u32,), Output = String>, 4> = small_box!(move |n: u32| name + &"!".repeat(n as usize));
/// assert_eq!(greet.call_once((2,)), "Ada!!");
///
/// let greet: SmallBox<dyn FnOnce(u32) -> u32> = small_box!(|n: u32| n + 1);
/// assert_eq!(greet.call_once((2,)), 3);
/// ```
///
/// A `dyn FnOnce` in place is moved to the heap for the call, except with the feature `nightly`, because stable Rust has
/// no other way to call it. `dyn CallOnce` is not. And a `dyn FnOnce(&T)`, for every lifetime of the reference, is called
/// by `small.into_box()(&value)` on stable; write `dyn for<'a> CallOnce<(&'a T,), Output = R>` for one that is called in
/// place.
pub trait CallOnce<Args> {
    /// What the call returns.
    type Output;

    /// Calls the closure where it is.
    ///
    /// # Safety
    ///
    /// The value is moved out of `self`: it is not used again and not dropped.
    #[doc(hidden)]
    unsafe fn call_in_place(&mut self, args: Args) -> Self::Output;
}

macro_rules! arity {
    ($($arg:ident $Arg:ident),*) => {
        impl<F: FnOnce($($Arg),*) -> R, R, $($Arg),*> CallOnce<($($Arg,)*)> for F {
            type Output = R;

            #[inline]
            unsafe fn call_in_place(&mut self, ($($arg,)*): ($($Arg,)*)) -> R {
                // SAFETY: the caller says that the value is ours to move out.
                let closure = unsafe { ptr::read(self) };
                closure($($arg),*)
            }
        }

        arity!(object $($arg $Arg),*;);
        arity!(object $($arg $Arg),*; Send);
        arity!(object $($arg $Arg),*; Send Sync);
    };
    (object $($arg:ident $Arg:ident),*; $($auto:ident)*) => {
        impl<'a, R, $($Arg),*> CallOnce<($($Arg,)*)> for dyn FnOnce($($Arg),*) -> R $(+ $auto)* + 'a {
            type Output = R;

            #[inline]
            unsafe fn call_in_place(&mut self, ($($arg,)*): ($($Arg,)*)) -> R {
                // SAFETY: the caller says that the value is ours to move out.
                let closure = unsafe { owned::take(self) };
                closure($($arg),*)
            }
        }
    };
}
arity!();
arity!(a A0);
arity!(a A0, b A1);
arity!(a A0, b A1, c A2);
arity!(a A0, b A1, c A2, d A3);

/// A `Box` of a value that is somewhere else, for a call by value.
#[cfg(feature = "nightly")]
pub(super) mod owned {
    use core::alloc::{AllocError, Allocator, Layout};
    use core::ptr::NonNull;
    use std_alloc::boxed::Box;

    /// # Safety
    ///
    /// The value is moved out of the reference: it is not used again and not dropped. The box is gone before its memory.
    #[inline]
    pub(in crate::small) unsafe fn take<F: ?Sized>(value: &mut F) -> Box<F, Nowhere> {
        // SAFETY: the caller says that the value is ours; `Nowhere` takes back what it never gave, by doing nothing.
        unsafe { Box::from_raw_in(value, Nowhere) }
    }

    /// Owns no blocks: what is given back to it stays where it is.
    pub(in crate::small) struct Nowhere;

    // SAFETY: it hands out no block, so there is none to keep valid.
    unsafe impl Allocator for Nowhere {
        fn allocate(&self, _: Layout) -> Result<NonNull<[u8]>, AllocError> {
            Err(AllocError)
        }

        unsafe fn deallocate(&self, _: NonNull<u8>, _: Layout) {}
    }
}

#[cfg(not(feature = "nightly"))]
pub(super) mod owned {
    use std_alloc::alloc::handle_alloc_error;
    use std_alloc::boxed::Box;

    /// # Safety
    ///
    /// The value is moved out of the reference: it is not used again and not dropped.
    pub(super) unsafe fn take<F: ?Sized>(value: &mut F) -> Box<F> {
        // SAFETY: the caller says that the value is ours.
        match unsafe { crate::small::move_to_box(value) } {
            Ok(boxed) => boxed,
            Err(layout) => handle_alloc_error(layout),
        }
    }
}

impl<F: ?Sized, const N: usize, A: Allocator, L> SmallBox<F, N, A, L> {
    /// Calls the closure by value.
    ///
    /// See [`CallOnce`] for which closures and at what cost. Where that is an allocation,
    /// [`try_into_box`](SmallBox::try_into_box) and a call of the box report one that fails.
    #[inline]
    pub fn call_once<Args>(self, args: Args) -> F::Output
    where
        F: CallOnce<Args>,
    {
        // Gives the block and the allocator back after the call, also when it panics.
        let mut shell = self.without_drop();
        // SAFETY: the shell does not drop its value, and this is its only use.
        unsafe { (**shell).call_in_place(args) }
    }
}

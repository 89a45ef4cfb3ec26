//! Closures called by value.
//!
//! On stable Rust only a `Box` can call a `dyn FnOnce`, and it frees the block that the closure is in. The block of a
//! spilled closure is that of a `Box`; an inline closure has no block. The vtable of a `dyn CallOnce` instead has a
//! function that moves the closure out of any address.

use super::SmallBox;
use crate::alloc::Allocator;
#[cfg(all(feature = "slab", feature = "std"))]
use crate::slab::Pooled;
#[cfg(feature = "slab")]
use crate::slab::{Slot, kind::SlotKind};
use core::mem::ManuallyDrop;
use core::ptr;
use std_alloc::boxed::Box;

/// A `FnOnce` that a [`SmallBox`] can call without moving it to the heap. `Args` is the tuple of its arguments.
///
/// Every `FnOnce` of up to four arguments implements it, and so does `dyn FnOnce`:
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
/// [`OnceFn`] is a short name for the trait object, and [`SendOnceFn`] for one that is `Send`.
///
/// Calling a `dyn CallOnce` allocates nothing. On stable Rust, calling an inline `dyn FnOnce` moves it to the heap,
/// because only a `Box` can call it; a spilled one is in a `Box` already. With the feature `nightly` no call allocates.
/// For arguments that are references of any lifetime, use a `dyn for<'a> CallOnce<(&'a T,), Output = R>`; on stable Rust
/// a `dyn FnOnce(&T)` can be called only by `small.into_box()(&value)`.
pub trait CallOnce<Args> {
    /// The type that the call returns.
    type Output;

    /// Moves the closure out of `self` and calls it.
    ///
    /// # Safety
    ///
    /// The caller neither uses nor drops the value behind `self` afterwards.
    #[doc(hidden)]
    unsafe fn call_in_place(&mut self, args: Args) -> Self::Output;

    /// Calls the closure in its box.
    #[doc(hidden)]
    #[inline]
    fn call_boxed(self: Box<Self>, args: Args) -> Self::Output {
        let closure = Box::into_raw(self) as *mut ManuallyDrop<Self>;
        // The shell frees the block after the call, even if the call panics.
        // SAFETY: `into_raw` returned the pointer, and no other box is made from it. A live value is a live
        // `ManuallyDrop` of it, at the same address and of the same layout.
        let mut shell = unsafe { Box::from_raw(closure) };
        // SAFETY: the shell does not drop its value, and nothing uses the value after this call.
        unsafe { (**shell).call_in_place(args) }
    }
}

/// The trait object of a closure that is called once: `SmallBox<OnceFn>` is what a queue of jobs holds.
///
/// It is a [`dyn CallOnce`](CallOnce). Calling it allocates nothing, where an inline `dyn FnOnce` must move to the heap.
///
/// ```
/// use dwell::small::OnceFn;
/// use dwell::{SmallBox, small_box};
///
/// let mut jobs: Vec<SmallBox<OnceFn>> = Vec::new();
/// jobs.push(small_box!(|| println!("done")));
/// for job in jobs {
///     job.call_once(());
/// }
///
/// let double: SmallBox<OnceFn<(u32,), u32>> = small_box!(|n| n * 2);
/// assert_eq!(double.call_once((4,)), 8);
/// ```
pub type OnceFn<Args = (), R = ()> = dyn CallOnce<Args, Output = R>;

/// An [`OnceFn`] that may be sent to other threads, as the jobs of a thread pool are.
///
/// ```
/// use dwell::small::SendOnceFn;
/// use dwell::{SmallBox, small_box};
///
/// let job: SmallBox<SendOnceFn, 3> = small_box!(|| println!("done"));
/// std::thread::spawn(move || job.call_once(())).join().unwrap();
/// ```
pub type SendOnceFn<Args = (), R = ()> = dyn CallOnce<Args, Output = R> + Send;

macro_rules! arity {
    ($($arg:ident $Arg:ident),*) => {
        impl<F: FnOnce($($Arg),*) -> R, R, $($Arg),*> CallOnce<($($Arg,)*)> for F {
            type Output = R;

            #[inline]
            unsafe fn call_in_place(&mut self, ($($arg,)*): ($($Arg,)*)) -> R {
                // SAFETY: the value is live, and the caller guarantees not to use or drop it afterwards, so this moves
                // it.
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
                // SAFETY: the caller guarantees not to use or drop the value afterwards, and its memory outlives this
                // call.
                let closure = unsafe { owned::take(self) };
                closure($($arg),*)
            }

            #[inline]
            fn call_boxed(self: Box<Self>, ($($arg,)*): ($($Arg,)*)) -> R {
                self($($arg),*)
            }
        }
    };
}
arity!();
arity!(a A0);
arity!(a A0, b A1);
arity!(a A0, b A1, c A2);
arity!(a A0, b A1, c A2, d A3);

/// Makes a `Box` of a value at any address, for a call by value, without moving the value.
#[cfg(feature = "nightly")]
pub(super) mod owned {
    use core::alloc::{AllocError, Allocator, Layout};
    use core::ptr::NonNull;
    use std_alloc::boxed::Box;

    /// Makes a `Box` that owns the value where it is.
    ///
    /// # Safety
    ///
    /// The caller neither uses nor drops the value behind `value` afterwards, and its memory outlives the box.
    #[inline]
    pub(in crate::small) unsafe fn take<F: ?Sized>(value: &mut F) -> Box<F, NoAllocator> {
        // SAFETY: the value is live, and the caller guarantees that the box is its only owner from here on and that its
        // memory outlives the box. That memory is aligned for the value. The box frees it through `NoAllocator`, which
        // does nothing.
        unsafe { Box::from_raw_in(value, NoAllocator) }
    }

    /// An allocator that never allocates and never frees.
    pub(in crate::small) struct NoAllocator;

    // SAFETY: it never returns a block, so there is no block that must stay valid.
    unsafe impl Allocator for NoAllocator {
        fn allocate(&self, _: Layout) -> Result<NonNull<[u8]>, AllocError> {
            Err(AllocError)
        }

        unsafe fn deallocate(&self, _: NonNull<u8>, _: Layout) {}
    }
}

/// Makes a `Box` of a value at any address, for a call by value, by moving the value to the heap.
#[cfg(not(feature = "nightly"))]
pub(super) mod owned {
    use std_alloc::alloc::handle_alloc_error;
    use std_alloc::boxed::Box;

    /// Moves the value to a new `Box`.
    ///
    /// # Safety
    ///
    /// The caller neither uses nor drops the value behind `value` afterwards.
    pub(super) unsafe fn take<F: ?Sized>(value: &mut F) -> Box<F> {
        // SAFETY: the value is live and may be written through the exclusive reference, and the caller guarantees that
        // it is not used or dropped afterwards.
        match unsafe { super::super::convert::move_to_box(value) } {
            Ok(boxed) => boxed,
            Err(layout) => handle_alloc_error(layout),
        }
    }
}

impl<F: ?Sized, const N: usize, A: Allocator, L> SmallBox<F, N, A, L> {
    /// Calls the closure by value.
    ///
    /// See [`CallOnce`] for the closures and the cost. If the call would allocate, use
    /// [`try_into_box`](SmallBox::try_into_box) and call the result, to get an error if the allocation fails.
    #[inline]
    pub fn call_once<Args>(self, args: Args) -> F::Output
    where
        F: CallOnce<Args>,
    {
        let this = match self.try_unspill() {
            Ok(boxed) => return boxed.call_boxed(args),
            Err(this) => this,
        };
        // The shell frees the block and drops the allocator after the call, even if the call panics.
        let mut shell = this.without_drop();
        // SAFETY: the shell does not drop its value, and nothing uses the value after this call.
        unsafe { (**shell).call_in_place(args) }
    }
}

#[cfg(feature = "slab")]
impl<F: ?Sized, K: SlotKind> Slot<F, K> {
    /// Calls the closure by value. See [`CallOnce`] for the closures and the cost.
    ///
    /// ```
    /// use dwell::slab::{Slab, Slot};
    /// use dwell::small::CallOnce;
    ///
    /// let name = String::from("Ada");
    /// let greet: Slot<dyn CallOnce<(u32,), Output = String>> =
    ///     Slab::new().insert(move |n: u32| name + &"!".repeat(n as usize)).coerce(|view| view as _);
    /// assert_eq!(greet.call_once((2,)), "Ada!!");
    /// ```
    #[inline]
    pub fn call_once<Args>(self, args: Args) -> F::Output
    where
        F: CallOnce<Args>,
    {
        let closure = self.into_raw() as *mut ManuallyDrop<F>;
        // The shell frees the cell after the call, even if the call panics. SAFETY: `into_raw` returned the pointer on
        // this thread, and no other slot is made from it. A live `F` is a live `ManuallyDrop<F>` at the same address
        // and of the same layout, and the slot is not leaked.
        let mut shell = unsafe { Slot::<ManuallyDrop<F>, K>::from_raw(closure) };
        // SAFETY: the shell does not drop its value, and nothing uses the value after this call.
        unsafe { (**shell).call_in_place(args) }
    }
}

#[cfg(all(feature = "slab", feature = "std"))]
impl<F: ?Sized> Pooled<F> {
    /// Calls the closure by value. See [`CallOnce`] for the closures and the cost.
    ///
    /// ```
    /// use dwell::small::CallOnce;
    /// use dwell::{pooled, slab::Pooled};
    ///
    /// let name = String::from("Ada");
    /// let greet: Pooled<dyn CallOnce<(u32,), Output = String>> = pooled!(move |n: u32| name + &"!".repeat(n as usize));
    /// assert_eq!(greet.call_once((2,)), "Ada!!");
    /// ```
    #[inline]
    pub fn call_once<Args>(self, args: Args) -> F::Output
    where
        F: CallOnce<Args>,
    {
        let closure = self.into_raw() as *mut ManuallyDrop<F>;
        // The shell frees the cell after the call, even if the call panics. SAFETY: `into_raw` returned the pointer on
        // this thread, and it is converted back once. A live `F` is a live `ManuallyDrop<F>` at the same address and of
        // the same layout.
        let mut shell = unsafe { Pooled::<ManuallyDrop<F>>::from_raw(closure) };
        // SAFETY: the shell does not drop its value, and nothing uses the value after this call.
        unsafe { (**shell).call_in_place(args) }
    }
}

//! Type-erased values with inline storage. A value that does not fit is a compile error.

use super::DoesNotFit;
use crate::coerce::Coercible;
use crate::raw::Meta;
use crate::small::InlineStorage;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr;
use core::task::{Context, Poll};

/// A type-erased value, stored inline in `N` words and never on the heap.
///
/// It has `N` words, 8 bytes each on a 64-bit target, and one more for the vtable; both parts are rounded up to the alignment of
/// `L`, which is the largest alignment that the value may have.
/// A value that does not fit is a compile error:
///
/// ```compile_fail
/// use dwell::pin::InlineBox;
/// use std::fmt::Debug;
///
/// // error: a value of 24 bytes aligned to 8 does not fit the inline buffer of 16 bytes aligned to 8
/// let text = InlineBox::<dyn Debug, 2>::new_coerced(String::from("text"), |value| value);
/// ```
///
/// The value moves with its owner, so an `InlineBox` is `Unpin` only if `T` is. A pinned `InlineBox` pins its value,
/// and an `InlineBox<dyn Future>` is a future, which can be awaited:
///
/// ```
/// use dwell::pin::InlineBox;
///
/// type Call<'a> = InlineBox<dyn Future<Output = u32> + 'a, 6>;
///
/// fn double(x: &u32) -> Call<'_> {
///     InlineBox::new_coerced(async move { *x * 2 }, |value| value as _)
/// }
///
/// async fn quadruple(x: u32) -> u32 {
///     double(&double(&x).await).await
/// }
/// # let future = std::pin::pin!(quadruple(2));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(future.poll(&mut context), std::task::Poll::Ready(8));
/// ```
// `repr(C)`: the storage is at offset 0, so the value has the address of its owner and reading it needs no offset.
#[must_use = "dropping a box drops its value, and futures do nothing unless you `.await` or poll them"]
#[repr(C)]
pub struct InlineBox<T: ?Sized, const N: usize, L = usize> {
    // # Invariants
    //
    // 1. `storage.words` begins with a live `T` that this box owns; `fits` holds for its layout.
    // 2. `meta` is that value's metadata, with a clear heap bit.
    storage: InlineStorage<N, L>,
    meta: Meta<T>,
    // Owns a `T`: drop check and auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

// SAFETY: an `InlineBox` owns its value, which is `Send`, and nothing else, as a `Box<T>` does.
unsafe impl<T: ?Sized + Send, const N: usize, L> Send for InlineBox<T, N, L> {}

// SAFETY: a `&InlineBox` gives only shared access to the value, which is `Sync`.
unsafe impl<T: ?Sized + Sync, const N: usize, L> Sync for InlineBox<T, N, L> {}

// The value moves with its owner, so it is pinned only if its owner is (see `project`).
impl<T: ?Sized + Unpin, const N: usize, L> Unpin for InlineBox<T, N, L> {}

// As `Box`: the `UnsafeCell` lets the value have interior mutability and adds none of its own.
impl<T: ?Sized + UnwindSafe, const N: usize, L> UnwindSafe for InlineBox<T, N, L> {}
impl<T: ?Sized + RefUnwindSafe, const N: usize, L> RefUnwindSafe for InlineBox<T, N, L> {}

impl<T: ?Sized, const N: usize, L> InlineBox<T, N, L> {
    /// Returns whether a value of this size and alignment, in bytes, fits.
    pub const fn fits(size: usize, align: usize) -> bool {
        InlineStorage::<N, L>::fits(size, align)
    }

    /// Stores a value that a closure coerces to a `T`.
    ///
    /// ```
    /// use dwell::pin::InlineBox;
    /// use std::fmt::Display;
    ///
    /// let number = InlineBox::<dyn Display, 1>::new_coerced(7, |value| value);
    /// assert_eq!(number.to_string(), "7");
    /// ```
    ///
    /// The compiler checks that the value fits.
    ///
    /// # Panics
    ///
    /// Panics if the closure panics, or if the value is coerced to a slice of more than `usize::MAX / 32` elements. The
    /// value is dropped.
    #[inline]
    pub fn new_coerced<U, F>(value: U, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        const { InlineStorage::<N, L>::assert_fits::<U>() };
        // SAFETY: the constant above asserts that a `U` fits.
        unsafe { Self::store(value, unsize) }
    }

    /// Like [`new_coerced`](Self::new_coerced), but returns an error if the value does not fit.
    ///
    /// ```
    /// use dwell::pin::InlineBox;
    /// use std::fmt::Debug;
    ///
    /// let error = InlineBox::<dyn Debug, 1>::try_new_coerced(String::from("seven"), |value| value).unwrap_err();
    /// assert_eq!(error.into_inner(), "seven");
    /// ```
    ///
    /// # Errors
    ///
    /// If the value does not fit. The error contains the value.
    ///
    /// # Panics
    ///
    /// Where [`new_coerced`](Self::new_coerced) panics. The value is dropped.
    #[inline]
    pub fn try_new_coerced<U, F>(value: U, unsize: F) -> Result<Self, DoesNotFit<U>>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        if !Self::fits(size_of::<U>(), align_of::<U>()) {
            return Err(DoesNotFit::new::<N, L>(value));
        }
        // SAFETY: a `U` fits, as checked above.
        Ok(unsafe { Self::store(value, unsize) })
    }

    /// Stores a value.
    ///
    /// # Safety
    ///
    /// `fits` holds for a `U`.
    #[inline]
    unsafe fn store<U, F>(value: U, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        let value = Coercible::new(value);
        let meta = Meta::new(unsize(&value).as_ptr(), false);
        let storage = InlineStorage::<N, L>::new();
        let to = storage.words.get().cast::<U>();
        let value = value.into_inner();
        // SAFETY: the caller guarantees that a `U` fits, so the words are large and aligned enough for one.
        unsafe { to.write(value) };
        // The closure returned a `Coercible<U, T>`, which was a `Coercible<U, U>` before it was coerced (invariant 1 of
        // `Coercible`). `U` is sized, so `meta` is the metadata of each `U` as a `T`, and both invariants hold.
        Self { storage, meta, owns: PhantomData }
    }

    /// Returns a pointer to the value. It may be written through if `self` is borrowed exclusively or owned.
    #[inline]
    fn value(&self) -> *mut T {
        self.meta.decode_known(false, self.storage.words.get().cast::<()>().cast_const()).cast_mut()
    }

    /// Projects a pinned `InlineBox` to its pinned value.
    ///
    /// ```
    /// use dwell::pin::InlineBox;
    /// use std::pin::pin;
    ///
    /// let future = InlineBox::<dyn Future<Output = ()>, 2>::new_coerced(async {}, |value| value);
    /// let mut future = pin!(future);
    /// let _: std::pin::Pin<&mut dyn Future<Output = ()>> = future.as_mut().project();
    /// ```
    #[inline]
    pub fn project(self: Pin<&mut Self>) -> Pin<&mut T> {
        // Structural pinning, as the documentation of `core::pin` requires: an `InlineBox` is `Unpin` only if `T` is;
        // its drop drops the value at its address before the memory is used for anything else; and no function moves
        // the value out.
        // SAFETY: nothing is moved out of the reference, which is used only for the next line.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the value moves only with its owner, which is pinned, and its drop runs at this address.
        unsafe { Pin::new_unchecked(&mut **this) }
    }
}

impl<T: ?Sized, const N: usize, L> Deref for InlineBox<T, N, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value is live (invariant 1), and is borrowed for as long as `self` is.
        unsafe { &*self.value() }
    }
}

impl<T: ?Sized, const N: usize, L> DerefMut for InlineBox<T, N, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the value is live (invariant 1), and is borrowed for as long as `self` is, exclusively. The storage
        // is an `UnsafeCell`, so `value`, which borrows `self` shared, returns a pointer that may be written through.
        unsafe { &mut *self.value() }
    }
}

impl<T: ?Sized, const N: usize, L> Drop for InlineBox<T, N, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is live and owned (invariant 1), and nothing uses it after the drop of its owner.
        unsafe { ptr::drop_in_place(self.value()) };
    }
}

impl<F: ?Sized + Future, const N: usize, L> Future for InlineBox<F, N, L> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().poll(context)
    }
}

impl<T: ?Sized + fmt::Debug, const N: usize, L> fmt::Debug for InlineBox<T, N, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

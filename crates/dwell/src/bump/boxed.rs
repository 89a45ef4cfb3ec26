//! A value in an arena that is dropped with its owner.

use super::{Bump, Vec};
use crate::alloc::{AllocError, Allocator};
use crate::raw::Meta;
use crate::small::{Brand, Coercible};
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;
use core::str;

/// The owner of a value in an arena: one pointer, which drops the value. It does not return memory to the arena.
///
/// ```
/// use dwell::{Bump, bump};
/// use std::rc::Rc;
///
/// let bump = Bump::new();
/// let shared = Rc::new(7);
/// let boxed = bump::Box::new_in(Rc::clone(&shared), &bump);
/// assert_eq!(Rc::strong_count(&boxed), 2);
/// drop(boxed);
/// assert_eq!(Rc::strong_count(&shared), 1);
/// ```
///
/// # Pinning
///
/// Safe code cannot pin such a box: after it is forgotten, the arena may reuse the value's bytes without dropping the
/// value, which pinning forbids.
pub struct Box<'a, T: ?Sized> {
    // # Invariants
    //
    // 1. `value` is a live `T`, owned by this box and reached only through it, in bytes that are reserved for `'a`.
    value: NonNull<T>,
    // Owns a `T` and borrows the arena: drop check, variance and auto traits are those of a `Box<T>`.
    owns: PhantomData<(&'a (), T)>,
}

// SAFETY: by invariant 1 it is the value's one owner; it does not reach the arena.
unsafe impl<T: ?Sized + Send> Send for Box<'_, T> {}
// SAFETY: a shared box gives no more than a `&T`, and does not reach the arena.
unsafe impl<T: ?Sized + Sync> Sync for Box<'_, T> {}
// The value does not move with the box.
impl<T: ?Sized> Unpin for Box<'_, T> {}
impl<T: ?Sized + UnwindSafe> UnwindSafe for Box<'_, T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for Box<'_, T> {}

impl<'a, T: 'a> Box<'a, T> {
    /// Moves a value into an arena.
    #[inline]
    pub fn new_in<const MIN_ALIGN: usize, A: Allocator>(value: T, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self::own(bump.alloc(value))
    }

    /// [`new_in`](Self::new_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    #[inline]
    pub fn try_new_in<const MIN_ALIGN: usize, A: Allocator>(
        value: T,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<T>> {
        bump.try_alloc(value).map(Self::own)
    }

    /// A box of a value that was just allocated.
    fn own(value: &'a mut T) -> Self {
        Self { value: NonNull::from(value), owns: PhantomData }
    }

    /// Moves the value out of the box.
    #[inline]
    pub fn into_inner(self) -> T {
        let value = self.value;
        mem::forget(self);
        // SAFETY: by invariant 1 it is a live value, of which the box was the one owner.
        unsafe { value.read() }
    }
}

impl<T: ?Sized> Box<'_, T> {
    /// Converts the box to a pointer. The value is not dropped unless [`from_raw`](Self::from_raw) makes a box of it
    /// again.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let raw: *mut String = bump::Box::new_in(String::from("owned"), &bump).into_raw();
    /// // SAFETY: the pointer came from `into_raw`, this is the only box made of it, and the arena is there.
    /// let boxed = unsafe { bump::Box::from_raw(raw) };
    /// assert_eq!(*boxed, "owned");
    /// ```
    #[inline]
    pub fn into_raw(self) -> *mut T {
        let value = self.value.as_ptr();
        mem::forget(self);
        value
    }

    /// Converts a pointer of [`into_raw`](Self::into_raw) to a box again.
    ///
    /// # Safety
    ///
    /// The pointer came from `into_raw`, and no other box is made of it. The arena that the value is in is borrowed for
    /// as long as the box's lifetime says.
    #[inline]
    pub unsafe fn from_raw(value: *mut T) -> Self {
        // SAFETY: the pointer came from `into_raw`, whose result is that of a `NonNull`.
        let value = unsafe { NonNull::new_unchecked(value) };
        Self { value, owns: PhantomData }
    }
}

impl<'a, T: ?Sized + 'a> Box<'a, T> {
    /// Owns the value behind a reference, and drops it.
    ///
    /// # Safety
    ///
    /// No other code drops the value, or uses it after `'a`.
    #[inline]
    pub unsafe fn from_mut(value: &'a mut T) -> Self {
        Self { value: NonNull::from(value), owns: PhantomData }
    }

    /// Converts the box to a reference, which does not drop the value.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let number: &mut u32 = bump::Box::new_in(1, &bump).leak();
    /// assert_eq!(*number, 1);
    /// ```
    #[inline]
    pub fn leak(self) -> &'a mut T {
        let mut value = self.value;
        mem::forget(self);
        // SAFETY: by invariant 1 the value is live, and nothing else accesses it for `'a` now that the box is forgotten.
        unsafe { value.as_mut() }
    }

    /// Unsizes the value: to a `dyn Trait`, or from an array to a slice.
    ///
    /// The closure gets a [`Coercible`], which it can only coerce and return. With the type written as here, no
    /// context is needed to infer it.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    /// use std::fmt::Display;
    ///
    /// let bump = Bump::new();
    /// let values = [
    ///     bump::Box::new_in(1, &bump).coerce::<dyn Display, _>(|value| value),
    ///     bump::Box::new_in("two", &bump).coerce::<dyn Display, _>(|value| value),
    /// ];
    /// assert_eq!(format!("{} {}", values[0], values[1]), "1 two");
    /// ```
    #[inline]
    pub fn coerce<U: ?Sized, F>(self, unsize: F) -> Box<'a, U>
    where
        F: for<'p, 'brand> FnOnce(&'p Coercible<Brand<'brand>, T>) -> &'p Coercible<Brand<'brand>, U>,
    {
        // SAFETY: the value is live while `self` is, which is until the closure has returned. The closure accepts every
        // brand.
        let wrapped = unsafe { Coercible::at(self.value.as_ptr()) };
        // The closure accepts every brand, so what it returned is the only `Coercible` with this one: the value, coerced.
        let meta = Meta::new(unsize(wrapped).as_ptr(), false);
        let data = self.value.cast::<()>();
        mem::forget(self);
        // The address is the box's own, which may write; the reference that the closure gets is for reading.
        let value = meta.decode(data.as_ptr()).cast_mut();
        // SAFETY: its address is that of `data`.
        let value = unsafe { NonNull::new_unchecked(value) };
        Box { value, owns: PhantomData }
    }
}

impl<T: ?Sized> Drop for Box<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: by invariant 1 the value is live, and it is not used again.
        unsafe { self.value.drop_in_place() };
    }
}

impl<T: ?Sized> Deref for Box<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `value` is a live `T`, which `&self` borrows for as long as the reference lives (invariant 1).
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Box<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `value` is a live `T` that only this box reaches, and `&mut self` borrows the box (invariant 1).
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'a, T> Box<'a, [T]> {
    /// Moves the values of an iterator into an arena.
    pub fn from_iter_in<const MIN_ALIGN: usize, A: Allocator>(
        values: impl IntoIterator<Item = T>,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Self {
        Vec::from_iter_in(values, bump).into_boxed_slice()
    }

    /// [`from_iter_in`](Self::from_iter_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the values so far, the one that did not fit, and the iterator with
    /// those after it.
    #[expect(clippy::type_complexity, reason = "a type alias would hide the result")]
    pub fn try_from_iter_in<I: IntoIterator<Item = T>, const MIN_ALIGN: usize, A: Allocator>(
        values: I,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<(Vec<'a, T, MIN_ALIGN, A>, T, I::IntoIter)>> {
        Ok(Vec::try_from_iter_in(values, bump)?.into_boxed_slice())
    }
}

/// An empty slice, which allocates nothing.
impl<T> Default for Box<'_, [T]> {
    fn default() -> Self {
        Self { value: NonNull::<[T; 0]>::dangling(), owns: PhantomData }
    }
}

/// An empty string, which allocates nothing.
impl Default for Box<'_, str> {
    fn default() -> Self {
        // SAFETY: no bytes are UTF-8, and a `str` is laid out as its bytes.
        let empty = unsafe { str::from_utf8_unchecked_mut(&mut []) };
        Self { value: NonNull::from(empty), owns: PhantomData }
    }
}

impl<'a, T, const N: usize> From<Box<'a, [T; N]>> for Box<'a, [T]> {
    fn from(array: Box<'a, [T; N]>) -> Self {
        let value: NonNull<[T]> = array.value;
        mem::forget(array);
        Self { value, owns: PhantomData }
    }
}

impl<'a, T, const N: usize> TryFrom<Box<'a, [T]>> for Box<'a, [T; N]> {
    type Error = Box<'a, [T]>;

    /// The same box, if the slice has `N` elements. Otherwise the box is returned in the error.
    fn try_from(slice: Box<'a, [T]>) -> Result<Self, Box<'a, [T]>> {
        if slice.len() != N {
            return Err(slice);
        }
        let value = slice.value.cast();
        mem::forget(slice);
        Ok(Self { value, owns: PhantomData })
    }
}

macro_rules! downcast {
    ($($Any:ty)*) => {$(
        impl<'a> Box<'a, $Any> {
            /// The same box, if the value is a `T`.
            ///
            /// # Errors
            ///
            /// When it is of another type; the box is returned in the error.
            pub fn downcast<T: Any>(self) -> Result<Box<'a, T>, Self> {
                if !self.is::<T>() {
                    return Err(self);
                }
                let value = self.value.cast();
                mem::forget(self);
                Ok(Box { value, owns: PhantomData })
            }
        }
    )*};
}
downcast!(dyn Any dyn Any + Send dyn Any + Send + Sync);

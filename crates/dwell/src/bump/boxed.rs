//! An owning pointer to a value in an arena.

use super::{Bump, Vec};
use crate::alloc::{AllocError, Allocator};
use crate::coerce::{Brand, Coercible};
use crate::raw::Meta;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;
use core::str;

/// An owning pointer to a value in an arena, of one word.
///
/// Dropping it drops the value and does not return memory to the arena.
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
/// Safe code cannot pin such a box. After the box is forgotten, the arena may reuse the value's bytes without dropping
/// the value, which pinning forbids.
#[repr(transparent)] // A pointer in memory and as an argument, as bumpalo's box is.
pub struct Box<'a, T: ?Sized> {
    // # Invariants
    //
    // 1. `value` points to a live `T`, which this box owns and only this box accesses, in bytes that are reserved for
    //    `'a`.
    value: NonNull<T>,
    // Owns a `T` in a borrowed arena: drop check and variance are those of a `std::boxed::Box<T>` with a lifetime. From
    // the `&'a T` the compiler infers `T: 'a`, so generic code need not write this bound.
    owns: PhantomData<(&'a T, T)>,
}

// SAFETY: by invariant 1 the box is the only owner of its value, and it does not access the arena.
unsafe impl<T: ?Sized + Send> Send for Box<'_, T> {}
// SAFETY: a shared box gives access to a `&T` only, and does not access the arena.
unsafe impl<T: ?Sized + Sync> Sync for Box<'_, T> {}
// Moving the box does not move the value.
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

    /// Creates a box from a value that was just allocated.
    fn own(value: &'a mut T) -> Self {
        Self { value: NonNull::from(value), owns: PhantomData }
    }

    /// Moves the value out of the box.
    ///
    /// This is an associated function, as in std: `Box::into_inner(boxed)`. A value may have a method of this name.
    #[inline]
    pub fn into_inner(boxed: Self) -> T {
        let value = boxed.value;
        mem::forget(boxed);
        // SAFETY: by invariant 1 the value is live and the box was its only owner, and the box was forgotten.
        unsafe { value.read() }
    }
}

impl<T: ?Sized> Box<'_, T> {
    /// Converts the box to a pointer.
    ///
    /// The value is not dropped unless [`from_raw`](Self::from_raw) converts the pointer to a box again. This is an
    /// associated function, as in std: a value may have a method of this name.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let raw: *mut String = bump::Box::into_raw(bump::Box::new_in(String::from("owned"), &bump));
    /// // SAFETY: the pointer came from `into_raw`, this is the only box made of it, and the arena is there.
    /// let boxed = unsafe { bump::Box::from_raw(raw) };
    /// assert_eq!(*boxed, "owned");
    /// ```
    #[inline]
    pub fn into_raw(boxed: Self) -> *mut T {
        let value = boxed.value.as_ptr();
        mem::forget(boxed);
        value
    }

    /// Converts a pointer from [`into_raw`](Self::into_raw) to a box again, or creates a box that owns the value at a
    /// pointer.
    ///
    /// # Safety
    ///
    /// The pointer came from `into_raw` or points to a live value, and no other code uses or drops the value. The bytes
    /// of the value are reserved for the lifetime of the box: their arena is borrowed for it.
    #[inline]
    pub unsafe fn from_raw(value: *mut T) -> Self {
        // SAFETY: the caller guarantees that the pointer is that of a value, thus not null.
        let value = unsafe { NonNull::new_unchecked(value) };
        Self { value, owns: PhantomData }
    }
}

impl<'a, T: ?Sized + 'a> Box<'a, T> {
    /// Creates a box that owns the value behind a reference, and drops it.
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
    /// This is an associated function, as in std: a value may have a method of this name.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let number: &mut u32 = bump::Box::leak(bump::Box::new_in(1, &bump));
    /// assert_eq!(*number, 1);
    /// ```
    #[inline]
    pub fn leak(boxed: Self) -> &'a mut T {
        let mut value = boxed.value;
        mem::forget(boxed);
        // SAFETY: by invariant 1 the value is live and its bytes are reserved for `'a`. Nothing else accesses it, now
        // that the box is forgotten.
        unsafe { value.as_mut() }
    }

    /// Unsizes the value, to a `dyn Trait` or from an array to a slice.
    ///
    /// The closure gets a [`Coercible`], which it can only coerce and return. The target type written as below needs no
    /// context for type inference.
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
    ///
    /// # Panics
    ///
    /// When the result is a slice of more than `usize::MAX >> 5` elements (`>> 2` on 32-bit targets), which only
    /// zero-sized elements can be. `From` converts such an array.
    #[inline]
    pub fn coerce<U: ?Sized, F>(self, unsize: F) -> Box<'a, U>
    where
        F: for<'p, 'brand> FnOnce(&'p Coercible<Brand<'brand>, T>) -> &'p Coercible<Brand<'brand>, U>,
    {
        // SAFETY: `self` keeps the value live until the closure has returned. The closure accepts every brand.
        let wrapped = unsafe { Coercible::at(self.value.as_ptr()) };
        // The closure accepts every brand, so the only `Coercible` with this brand that it can return is the one that
        // it got, coerced.
        let meta = Meta::new(unsize(wrapped).as_ptr(), false);
        let data = self.value.cast::<()>();
        mem::forget(self);
        // The address comes from the box's own pointer, which may write. The reference that the closure got is for
        // reading only.
        let value = meta.decode(data.as_ptr()).cast_mut();
        // SAFETY: its address is that of `data`, which is not null.
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
        // SAFETY: `value` points to a live `T`, and `&self` borrows it for as long as the reference lives (invariant
        // 1).
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Box<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `value` points to a live `T` that only this box accesses, and `&mut self` borrows the box (invariant
        // 1).
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
    /// Moves the items of an iterator into a boxed slice in an arena.
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
    /// When there is no memory. The error returns a vector of the values so far, the value that did not fit, and the
    /// iterator with the remaining ones.
    #[expect(clippy::type_complexity, reason = "a type alias would hide the result")]
    pub fn try_from_iter_in<I: IntoIterator<Item = T>, const MIN_ALIGN: usize, A: Allocator>(
        values: I,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<(Vec<'a, T, MIN_ALIGN, A>, T, I::IntoIter)>> {
        Ok(Vec::try_from_iter_in(values, bump)?.into_boxed_slice())
    }
}

/// Creates an empty slice without an allocation.
impl<T> Default for Box<'_, [T]> {
    fn default() -> Self {
        Self { value: NonNull::<[T; 0]>::dangling(), owns: PhantomData }
    }
}

/// Creates an empty string without an allocation.
impl Default for Box<'_, str> {
    fn default() -> Self {
        // SAFETY: an empty slice is valid UTF-8.
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

    /// Converts the box, if the slice has `N` elements. Otherwise the box is returned in the error.
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
            /// Converts the box to one of type `T`, if the value has that type.
            ///
            /// # Errors
            ///
            /// When the value has another type. The box is returned in the error.
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

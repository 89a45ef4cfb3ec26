//! bumpalo's `Box`.
//!
//! It has no `pin_in`; `README.md` says why.

use crate::{Bump, out_of_memory};
use core::any::Any;
use core::borrow::{Borrow, BorrowMut};
use core::fmt;
use core::hash::Hasher;
use core::iter::FusedIterator;
use core::ops::{Deref, DerefMut};
use core::pin::Pin;
use core::task::{Context, Poll};
use dwell::bump;

/// bumpalo's `Box`, a wrapper of [`bump::Box`].
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Box<'a, T: ?Sized>(bump::Box<'a, T>);

impl<'a, T> Box<'a, T> {
    /// Moves a value into an arena.
    #[inline]
    pub fn new_in(x: T, a: &'a Bump) -> Self {
        Self(bump::Box::try_new_in(x, a).unwrap_or_else(out_of_memory))
    }

    /// Moves the value out of the box.
    #[inline]
    pub fn into_inner(b: Self) -> T {
        bump::Box::into_inner(b.0)
    }
}

impl<'a, T: ?Sized> Box<'a, T> {
    #[cfg(feature = "collections")]
    pub(crate) fn from_inner(inner: bump::Box<'a, T>) -> Self {
        Self(inner)
    }

    /// Creates a box that owns the value at a pointer.
    ///
    /// # Safety
    ///
    /// The pointer came from [`into_raw`](Self::into_raw) or points to a live value, and no other code uses or drops the
    /// value. The bytes of the value are reserved for the lifetime of the box.
    #[inline]
    pub unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller guarantees that the pointer is that of a live value in bytes reserved for `'a`, which no other
        // code uses or drops.
        Self(unsafe { bump::Box::from_raw(raw) })
    }

    /// Converts the box to a pointer. The value is not dropped.
    #[inline]
    pub fn into_raw(b: Self) -> *mut T {
        bump::Box::into_raw(b.0)
    }

    /// Converts the box to a reference, which does not drop the value.
    #[inline]
    pub fn leak(b: Self) -> &'a mut T {
        bump::Box::leak(b.0)
    }
}

impl<T> Default for Box<'_, [T]> {
    fn default() -> Self {
        Self(bump::Box::default())
    }
}

impl Default for Box<'_, str> {
    fn default() -> Self {
        Self(bump::Box::default())
    }
}

impl<T: ?Sized> Deref for Box<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for Box<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: ?Sized> Borrow<T> for Box<'_, T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized> BorrowMut<T> for Box<'_, T> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized> AsRef<T> for Box<'_, T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> AsMut<T> for Box<'_, T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<F: ?Sized + Future + Unpin> Future for Box<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl<I: Iterator + ?Sized> Iterator for Box<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        self.0.nth(n)
    }
}

impl<I: DoubleEndedIterator + ?Sized> DoubleEndedIterator for Box<'_, I> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.0.next_back()
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        self.0.nth_back(n)
    }
}

impl<I: ExactSizeIterator + ?Sized> ExactSizeIterator for Box<'_, I> {
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<I: FusedIterator + ?Sized> FusedIterator for Box<'_, I> {}

/// Forwards the methods for numbers, since a hasher may override them and not hash the bytes of the number.
macro_rules! forward_writes {
    ($($write:ident: $Number:ty),* $(,)?) => {$(
        fn $write(&mut self, number: $Number) {
            self.0.$write(number);
        }
    )*};
}

impl<H: ?Sized + Hasher> Hasher for Box<'_, H> {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    forward_writes! {
        write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_usize: usize,
        write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_i128: i128, write_isize: isize,
    }
}

impl<'a, T, const N: usize> From<Box<'a, [T; N]>> for Box<'a, [T]> {
    fn from(array: Box<'a, [T; N]>) -> Self {
        Self(array.0.into())
    }
}

impl<'a, T, const N: usize> TryFrom<Box<'a, [T]>> for Box<'a, [T; N]> {
    type Error = Box<'a, [T]>;

    fn try_from(slice: Box<'a, [T]>) -> Result<Self, Box<'a, [T]>> {
        slice.0.try_into().map(Self).map_err(Box)
    }
}

macro_rules! downcast {
    ($($Any:ty)*) => {$(
        impl<'a> Box<'a, $Any> {
            /// Converts the box to one of type `T`, if the value has that type. Otherwise the box is returned in the error.
            pub fn downcast<T: Any>(self) -> Result<Box<'a, T>, Self> {
                self.0.downcast().map(Box).map_err(Self)
            }
        }
    )*};
}
downcast!(dyn Any dyn Any + Send);

#[cfg(feature = "serde")]
impl<T: ?Sized + serde::Serialize> serde::Serialize for Box<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

//! [`PoolRc`] and [`PoolArc`] and their weak pointers: types of their own over one engine.

use super::super::coerce::{CoerceBrand, SlotView};
use super::super::pool::Pool;
use super::{AtomicCounts, Counted, OneThreadCounts, Weak};
use crate::alloc::AllocError;
use core::ops::Deref;

macro_rules! pointers {
    (
        $(#[$attr:meta])* $Rc:ident;
        $(#[$weak_attr:meta])* $Weak:ident;
        counts: $Counts:ty, name: $name:literal, thread: $thread:literal
    ) => {
        $(#[$attr])*
        #[repr(transparent)] // one word, with its niche
        pub struct $Rc<T: ?Sized>(Counted<T, $Counts>);

        $(#[$weak_attr])*
        #[repr(transparent)] // one word, with its niche
        pub struct $Weak<T: ?Sized>(Weak<T, $Counts>);

        impl<T> $Rc<T> {
            /// Stores a value in the pool of this thread, and returns the first pointer to it.
            ///
            /// ```
            #[doc = concat!("let one = dwell::slab::", $name, "::new(1);")]
            /// assert_eq!(*one, 1);
            /// ```
            ///
            /// # Panics
            ///
            /// Calls the allocation error handler if the allocation fails. [`try_new`](Self::try_new) returns the value instead.
            #[inline]
            pub fn new(value: T) -> Self {
                Self(Counted::new(value))
            }

            /// Like [`new`](Self::new), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the allocation fails; the error contains the value.
            #[inline]
            pub fn try_new(value: T) -> Result<Self, AllocError<T>> {
                Counted::try_new(value).map(Self)
            }

            /// Like [`new`](Self::new), but in a pool of your own.
            ///
            /// ```
            #[doc = concat!("use dwell::slab::{", $name, ", Pool};")]
            ///
            /// let pool = Pool::new();
            #[doc = concat!("let one = ", $name, "::new_in(1, &pool);")]
            /// drop(pool);
            /// assert_eq!(*one, 1);
            /// ```
            #[inline]
            pub fn new_in(value: T, pool: &Pool) -> Self {
                Self(Counted::new_in(value, pool))
            }

            /// Moves the value out if this is the only strong pointer, or returns the pointer. Weak pointers do not count.
            ///
            /// ```
            #[doc = concat!("use dwell::slab::", $name, ";")]
            ///
            #[doc = concat!("let one = ", $name, "::new(String::from(\"one\"));")]
            #[doc = concat!("let two = ", $name, "::clone(&one);")]
            #[doc = concat!("let two = ", $name, "::try_unwrap(two).unwrap_err();")]
            /// drop(one);
            #[doc = concat!("assert_eq!(", $name, "::try_unwrap(two).unwrap(), \"one\");")]
            /// ```
            ///
            /// # Errors
            ///
            /// If there are other strong pointers.
            #[inline]
            pub fn try_unwrap(this: Self) -> Result<T, Self> {
                Counted::try_unwrap(this.0).map_err(Self)
            }
        }

        impl<T: Clone> $Rc<T> {
            /// Returns a mutable reference to the value, which it first clones if there are other strong pointers. If there are only
            /// weak ones, it moves the value to a new cell, and they lose it.
            ///
            /// ```
            #[doc = concat!("use dwell::slab::", $name, ";")]
            ///
            #[doc = concat!("let mut text = ", $name, "::new(String::from(\"a\"));")]
            #[doc = concat!($name, "::make_mut(&mut text).push('b'); // not shared: not cloned")]
            /// assert_eq!(*text, "ab");
            /// ```
            #[inline]
            pub fn make_mut(this: &mut Self) -> &mut T {
                Counted::make_mut(&mut this.0)
            }

            /// Moves the value out if this is the only strong pointer, and clones it otherwise.
            #[inline]
            pub fn unwrap_or_clone(this: Self) -> T {
                Counted::unwrap_or_clone(this.0)
            }
        }

        impl<T: ?Sized> $Rc<T> {
            /// Returns a mutable reference to the value if there is no other pointer to it, strong or weak.
            #[inline]
            pub fn get_mut(this: &mut Self) -> Option<&mut T> {
                Counted::get_mut(&mut this.0)
            }

            /// Creates a weak pointer to the value.
            #[inline]
            pub fn downgrade(this: &Self) -> $Weak<T> {
                $Weak(Counted::downgrade(&this.0))
            }

            /// Returns the number of strong pointers to the value.
            #[inline]
            pub fn strong_count(this: &Self) -> usize {
                Counted::strong_count(&this.0)
            }

            /// Returns the number of weak pointers to the value.
            #[inline]
            pub fn weak_count(this: &Self) -> usize {
                Counted::weak_count(&this.0)
            }

            /// Returns whether two pointers are to the same value.
            #[inline]
            pub fn ptr_eq(this: &Self, other: &Self) -> bool {
                Counted::ptr_eq(&this.0, &other.0)
            }

            /// Returns a pointer to the value.
            #[inline]
            pub fn as_ptr(this: &Self) -> *const T {
                Counted::as_ptr(&this.0)
            }

            /// Returns the layout of the counts and the value.
            #[cfg(feature = "weigh")]
            pub(crate) fn contents(this: &Self) -> core::alloc::Layout {
                Counted::contents(&this.0)
            }

            /// Converts the pointer to one to its value, which [`from_raw`](Self::from_raw) converts back. Until then it stays
            /// counted.
            #[inline]
            pub fn into_raw(this: Self) -> *const T {
                Counted::into_raw(this.0)
            }

            /// Converts a pointer from [`into_raw`](Self::into_raw) back.
            ///
            /// ```
            #[doc = concat!("use dwell::slab::", $name, ";")]
            ///
            #[doc = concat!("let raw: *const u8 = ", $name, "::into_raw(", $name, "::new(7));")]
            /// // SAFETY: the pointer came from `into_raw` of such a pointer on this thread, and is converted back once.
            #[doc = concat!("assert_eq!(*unsafe { ", $name, "::from_raw(raw) }, 7);")]
            /// ```
            ///
            /// # Safety
            ///
            #[doc = concat!("- `value` came from `into_raw` of a `", $name, "`, and was not converted back since. ", $thread)]
            /// - `T` is the type of that pointer, or one of the same layout and validity.
            #[inline]
            pub unsafe fn from_raw(value: *const T) -> Self {
                // SAFETY: the caller guarantees that the pointer came from `into_raw` of such a pointer to a `T` and is converted back
                // once, on a thread that may own it.
                Self(unsafe { Counted::from_raw(value) })
            }

            /// Unsizes the value: to a `dyn Trait`, or from an array to a slice. See [`Slot::coerce`](crate::slab::Slot::coerce).
            ///
            /// ```
            #[doc = concat!("use dwell::slab::", $name, ";")]
            /// use std::fmt::Display;
            ///
            #[doc = concat!("let number: ", $name, "<dyn Display> = ", $name, "::new(7).coerce(|view| view as _);")]
            /// assert_eq!(number.to_string(), "7");
            /// ```
            ///
            /// # Panics
            ///
            /// If the closure panics, or if the value is coerced to a slice of more than `usize::MAX / 32` elements. The pointer is
            /// dropped.
            #[inline]
            pub fn coerce<U: ?Sized, F>(self, unsize: F) -> $Rc<U>
            where
                F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
            {
                $Rc(self.0.coerce(unsize))
            }
        }

        impl<T: ?Sized> $Weak<T> {
            /// Returns a strong pointer, if there still is one.
            #[inline]
            pub fn upgrade(&self) -> Option<$Rc<T>> {
                self.0.upgrade().map($Rc)
            }
        }

        impl<T: ?Sized> Deref for $Rc<T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T: ?Sized> Clone for $Rc<T> {
            #[inline]
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T: ?Sized> Clone for $Weak<T> {
            #[inline]
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        super::forward::forward!($Rc, $Weak);
    };
}

pointers! {
    /// A counted pointer to a value in a pool, for one thread: an `Rc<T>` without a call to the allocator.
    ///
    /// It has 8 bytes, as an `Rc` has, and takes 8 bytes in front of the value instead of 16. [`new`](Self::new) uses the pool
    /// of the thread. As those of `Rc`, its methods are associated functions.
    ///
    /// A value has at most 2^31 strong and 2^31 weak pointers, forgotten ones included. One more aborts the process.
    ///
    /// ```
    /// use dwell::slab::PoolRc;
    ///
    /// let mut list = PoolRc::new(vec![1, 2]);
    /// let other = PoolRc::clone(&list);
    /// PoolRc::make_mut(&mut list).push(3); // shared, so this clones the vector
    /// assert_eq!((list.len(), other.len()), (3, 2));
    ///
    /// let weak = PoolRc::downgrade(&list);
    /// assert_eq!(weak.upgrade().unwrap().len(), 3);
    /// drop(list);
    /// assert!(weak.upgrade().is_none());
    /// ```
    ///
    /// It stays on its thread:
    ///
    /// ```compile_fail,E0277
    /// let counted = dwell::slab::PoolRc::new(1);
    /// std::thread::spawn(move || drop(counted));
    /// ```
    PoolRc;
    /// The weak pointer of a [`PoolRc`]: it does not keep the value alive, but its memory occupied.
    PoolRcWeak;
    counts: OneThreadCounts, name: "PoolRc", thread: "This is the same thread."
}

pointers! {
    /// A counted pointer to a value in a pool, for many threads: an `Arc<T>` without a call to the allocator.
    ///
    /// Any thread may drop it, and the value may outlive the thread that created it. See [`PoolRc`].
    ///
    /// ```
    /// use dwell::slab::PoolArc;
    ///
    /// let shared = PoolArc::new(String::from("shared"));
    /// let other = PoolArc::clone(&shared);
    /// std::thread::spawn(move || assert_eq!(*other, "shared")).join().unwrap();
    /// assert_eq!(PoolArc::strong_count(&shared), 1);
    /// ```
    PoolArc;
    /// The weak pointer of a [`PoolArc`]: it does not keep the value alive, but its memory occupied.
    PoolArcWeak;
    counts: AtomicCounts, name: "PoolArc", thread: ""
}

//! A rejected representation of `Sparse`: an empty one points to the static default of its type.
//!
//! It is kept for measurements. A read has no branch, since the pointer always leads to a `T`. In exchange the default
//! must be a constant that a static can contain, the type needs a hand-written impl to name that static, and the check
//! for emptiness must load the address of the static.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// A type with a default in a static.
pub(super) trait HasDefault: 'static {
    const LENT: &'static Self;
}

/// A `T` that takes one word as long as it equals its default.
pub(super) struct Lent<T: HasDefault> {
    // # Invariants
    //
    // 1. `ptr` is `T::LENT`, or a pointer to a `Box<T>` that only this value owns.
    // 2. `T` is not zero-sized (checked by the constructors), so that no box has the address of the default.
    ptr: NonNull<T>,
    owns: PhantomData<T>,
}

impl<T: HasDefault> Lent<T> {
    pub(super) fn empty() -> Self {
        const { assert!(size_of::<T>() > 0) }
        Self { ptr: NonNull::from(T::LENT), owns: PhantomData }
    }

    pub(super) fn new(value: T) -> Self {
        const { assert!(size_of::<T>() > 0) }
        Self { ptr: NonNull::from(Box::leak(Box::new(value))), owns: PhantomData }
    }
}

impl<T: HasDefault> Deref for Lent<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: by invariant 1 the pointer leads to a static or to a box that this value owns. Nothing writes to
        // either.
        unsafe { self.ptr.as_ref() }
    }
}

impl<T: HasDefault> Drop for Lent<T> {
    #[inline]
    fn drop(&mut self) {
        if !ptr::eq(self.ptr.as_ptr(), T::LENT) {
            // SAFETY: the address is not that of the default, so by invariants 1 and 2 it is a box that only this value
            // owns.
            drop(unsafe { Box::from_raw(self.ptr.as_ptr()) });
        }
    }
}

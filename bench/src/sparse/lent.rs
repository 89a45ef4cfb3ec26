//! The representation that `Sparse` does not have: an empty one points at its type's static default.
//!
//! Here to be measured only. A read has no branch, for the pointer always leads to a `T`. In exchange the default has to be
//! a constant that a static can hold, the type needs a hand-written impl to name that static, and whether one is empty is a
//! comparison with an address that has to be found first.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// A type with a default in a static.
pub(super) trait HasDefault: 'static {
    const LENT: &'static Self;
}

/// A `T` that costs one word until it differs from its default.
pub(super) struct Lent<T: HasDefault> {
    // # Invariants
    //
    // 1. `ptr` is `T::LENT`, or a pointer that `Box::<T>::into_raw` returned and that only this value has.
    // 2. `T` is not zero-sized (checked when one is made), so that no box has the address of the default.
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
        // SAFETY: by invariant 1 it leads to a static or to a box of ours; nothing writes to either.
        unsafe { self.ptr.as_ref() }
    }
}

impl<T: HasDefault> Drop for Lent<T> {
    #[inline]
    fn drop(&mut self) {
        if !ptr::eq(self.ptr.as_ptr(), T::LENT) {
            // SAFETY: by invariants 1 and 2 it is a box that only this value owns.
            drop(unsafe { Box::from_raw(self.ptr.as_ptr()) });
        }
    }
}

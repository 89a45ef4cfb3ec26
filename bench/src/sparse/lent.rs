//! The representation that `Sparse` does not have: an empty one points at its type's static default.
//!
//! Here to be measured only. A read has no branch, for the pointer always leads to a `T`. In exchange the default has to be
//! a constant that a static can hold, the type needs a hand-written impl to name that static, and whether one is empty is a
//! comparison with an address that has to be found first.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A type with a default in a static.
pub(super) trait HasDefault: 'static {
    const DEFAULT: &'static Self;
}

/// A `T` that costs one word until it differs from its default.
pub(super) struct Lent<T: HasDefault> {
    // # Invariants
    //
    // 1. `ptr` is `T::DEFAULT`, or a pointer that `Box::<T>::into_raw` returned and that no one else has.
    // 2. `T` is not zero-sized (checked when one is made), so that no box has the address of the default.
    ptr: NonNull<T>,
    owns: PhantomData<T>,
}

impl<T: HasDefault> Lent<T> {
    pub(super) fn empty() -> Self {
        const { assert!(size_of::<T>() > 0) }
        Self { ptr: NonNull::from(T::DEFAULT), owns: PhantomData }
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
        if !ptr::eq(self.ptr.as_ptr(), T::DEFAULT) {
            // SAFETY: by invariants 1 and 2 it is a box that no one else has.
            drop(unsafe { Box::from_raw(self.ptr.as_ptr()) });
        }
    }
}

/// `Sparse` with its lazily made default, but choosing the pointer before asking whether the default is there.
///
/// The choice compiles to a conditional move, and the branch that stays is never taken after the first read.
pub(super) struct Chosen<T: HasCell> {
    // # Invariants
    //
    // 1. `ptr` is `VACANT`, or a pointer that `Box::<T>::into_raw` returned and that no one else has.
    // 2. `T` is not zero-sized (checked when one is made), so that no box has the address `VACANT`.
    ptr: NonNull<T>,
    owns: PhantomData<T>,
}

/// A type with a place for its lazily made default.
pub(super) trait HasCell: Default + Sync + 'static {
    /// Null, or a leaked box that is only ever shared.
    fn cell() -> &'static AtomicPtr<Self>;

    #[cold]
    fn init() -> NonNull<Self> {
        // Races leak; this is a prototype.
        let made = NonNull::from(Box::leak(Box::default()));
        Self::cell().store(made.as_ptr(), Ordering::Release);
        made
    }
}

impl<T: HasCell> Chosen<T> {
    const VACANT: NonNull<T> = NonNull::new(ptr::without_provenance_mut(usize::MAX)).expect("usize::MAX is not null");

    pub(super) fn empty() -> Self {
        const { assert!(size_of::<T>() > 0) }
        Self { ptr: Self::VACANT, owns: PhantomData }
    }

    pub(super) fn new(value: T) -> Self {
        const { assert!(size_of::<T>() > 0) }
        Self { ptr: NonNull::from(Box::leak(Box::new(value))), owns: PhantomData }
    }
}

impl<T: HasCell> Deref for Chosen<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        let default = T::cell().load(Ordering::Acquire);
        let chosen = if self.ptr == Self::VACANT { default } else { self.ptr.as_ptr() };
        let chosen = NonNull::new(chosen).unwrap_or_else(T::init);
        // SAFETY: by invariant 1 it leads to a box of ours, or else to the leaked default; nothing writes to either.
        unsafe { chosen.as_ref() }
    }
}

impl<T: HasCell> Drop for Chosen<T> {
    #[inline]
    fn drop(&mut self) {
        if self.ptr != Self::VACANT {
            // SAFETY: by invariants 1 and 2 it is a box that no one else has.
            drop(unsafe { Box::from_raw(self.ptr.as_ptr()) });
        }
    }
}

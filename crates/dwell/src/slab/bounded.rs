//! [`Bounded`], a slab that does not grow.

use super::insert::{InsertError, refused, try_insert, try_insert_with};
use super::memory::Refusal;
use super::{Full, Key, MAX_CAPACITY, Slab, Slot, StampedKey};
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::ptr::NonNull;

/// A slab for values of one type with a fixed capacity, allocated at once.
///
/// ```
/// use dwell::slab::Bounded;
///
/// let slab = Bounded::with_capacity(2);
/// let (first, _second) = (slab.insert(1), slab.insert(2));
/// assert_eq!(slab.try_insert(3).unwrap_err().into_inner(), 3);
/// drop(first);
/// assert_eq!(*slab.insert(3), 3);
/// ```
pub struct Bounded<T> {
    pub(crate) slab: Slab<T>,
}

impl<T> Bounded<T> {
    /// Creates a slab for `capacity` values and allocates its memory.
    ///
    /// # Panics
    ///
    /// When `capacity` is more than [`MAX_CAPACITY`](super::MAX_CAPACITY).
    pub fn with_capacity(capacity: usize) -> Self {
        Self::allocate(capacity).unwrap_or_else(|refusal| refused(refusal))
    }

    /// Like [`with_capacity`](Self::with_capacity), but returns an error on failure.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory, or where `with_capacity` panics.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError<()>> {
        Self::allocate(capacity).map_err(|refusal| InsertError::new((), refusal, Layout::new::<T>()))
    }

    fn allocate(capacity: usize) -> Result<Self, Refusal> {
        let slab = Slab::builder().preallocate(capacity).finish(capacity.min(MAX_CAPACITY))?;
        Ok(Self { slab: Slab { slab } })
    }

    /// Inserts a value.
    ///
    /// # Panics
    ///
    /// When the slab is full.
    #[inline(always)]
    pub fn insert(&self, value: T) -> Slot<T> {
        self.slab.insert(value)
    }

    /// Like [`insert`](Self::insert), but returns the value in an error if the slab is full.
    #[inline(always)]
    pub fn try_insert(&self, value: T) -> Result<Slot<T>, Full<T>> {
        try_insert(&self.slab.slab, value)
    }

    /// Inserts the value that `make` returns. A full slab does not call `make`.
    ///
    /// # Panics
    ///
    /// When the slab is full.
    #[inline(always)]
    pub fn insert_with(&self, make: impl FnOnce() -> T) -> Slot<T> {
        self.slab.insert_with(make)
    }

    /// Like [`insert_with`](Self::insert_with), but returns `make` in an error, without calling it, if the slab is
    /// full.
    #[inline(always)]
    pub fn try_insert_with<F: FnOnce() -> T>(&self, make: F) -> Result<Slot<T>, Full<F>> {
        try_insert_with(&self.slab.slab, make)
    }

    /// Returns whether the key has a leaked value.
    pub fn contains_key(&self, key: Key) -> bool {
        self.slab.contains_key(key)
    }

    /// Returns the address of a leaked value, or `None` if the key has none.
    #[inline]
    pub fn get_ptr(&self, key: Key) -> Option<NonNull<T>> {
        self.slab.get_ptr(key)
    }

    /// Returns a slot for a leaked value, or `None` if the key has none.
    #[inline]
    pub fn reclaim(&self, key: Key) -> Option<Slot<T>> {
        self.slab.reclaim(key)
    }

    /// Like [`reclaim`](Self::reclaim), but only for the value that was leaked with this key, and no later one.
    #[inline]
    pub fn reclaim_stamped(&self, key: StampedKey) -> Option<Slot<T>> {
        self.slab.reclaim_stamped(key)
    }

    /// Calls `f` with a leaked value. See [`Slab::with`].
    #[inline]
    pub fn with<R>(&self, key: Key, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.slab.with(key, f)
    }

    /// Returns the keys of the leaked values.
    pub fn leaked(&self) -> impl Iterator<Item = Key> {
        self.slab.leaked()
    }

    /// Returns the number of values in the slab, leaked ones included.
    #[inline]
    pub fn len(&self) -> usize {
        self.slab.len()
    }

    /// Returns whether the slab has no values.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.slab.is_empty()
    }

    /// Returns whether the slab is full.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// Returns the number of values that the slab has memory for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.slab.capacity()
    }
}

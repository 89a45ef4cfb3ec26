//! [`Slot`], the owner of one value in a slab.

use super::coerce::{CoerceBrand, SlotView};
use super::engine::OneThread;
use super::key::{Key, StampedKey};
use super::kind::{Keyed, SlotKind};
use super::owner::{Handle, Owner};
use crate::alloc::AllocError;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::{Deref, DerefMut};
use core::pin::Pin;
use std_alloc::alloc::handle_alloc_error;

/// An owned value in a slab. Like a `Box` it has 8 bytes, and so has its `Option`.
///
/// Dropping a slot drops the value and frees its cell. A slot has no lifetime: if it outlives its slab, it keeps the
/// memory alive. Slots of `slab::sync` are `Send` and `Sync` if their values are; other slots are neither.
///
/// `T` may be a `dyn Trait` or a slice: see [`coerce`](Self::coerce). `K` determines how the slot finds its slab:
///
/// | slots of | are |
/// |---|---|
/// | [`Slab`](super::Slab), [`Bounded`](super::Bounded) | `Slot<T>` |
/// | a module that [`slab!`](crate::slab!) generated | the type `Slot` of that module |
/// | `sync::Slab` | `sync::Slot<T>` |
///
/// ```
/// use dwell::slab::{Slab, Slot};
///
/// let slab = Slab::new();
/// let mut slot: Slot<String> = slab.insert("a".into());
/// slot.push('b');
/// drop(slab);
/// assert_eq!(*slot, "ab");
/// assert_eq!(size_of::<Option<Slot<String>>>(), 8);
/// ```
///
/// A slot stays on its thread:
///
/// ```compile_fail,E0277
/// let slot = dwell::slab::Slab::new().insert(1);
/// std::thread::spawn(move || drop(slot));
/// ```
///
/// A slot is invariant in `T`, because a slab returns a leaked value as its own `T`, with the original lifetime. A
/// [`Pooled`](super::Pooled) is covariant, as a `Box` is.
///
/// ```compile_fail
/// # use dwell::slab::Slot;
/// fn shorten<'a>(slot: Slot<&'static str>) -> Slot<&'a str> {
///     slot
/// }
/// ```
///
/// ```compile_fail
/// # use dwell::slab::Slot;
/// fn shorten<'a>(slot: Slot<&'static str>) -> Slot<&'a str> {
///     slot.coerce(|view| view)
/// }
/// ```
#[must_use = "dropping a slot drops its value, and futures do nothing unless you `.await` or poll them"]
#[repr(transparent)] // one word, with its niche
pub struct Slot<T: ?Sized, K: SlotKind = OneThread> {
    owner: Owner<T, K>,
    // `*mut T` makes the slot invariant in `T`: otherwise a value with a shorter lifetime could be stored in the cell and then
    // be leaked, and a key would find it as the slab's `T`. A function pointer has all auto traits, so those of the slot are
    // those of its owner.
    of: PhantomData<fn() -> *mut T>,
}

impl<T: ?Sized, K: SlotKind> Slot<T, K> {
    pub(super) const fn from_owner(owner: Owner<T, K>) -> Self {
        Self { owner, of: PhantomData }
    }

    #[cfg(feature = "std")]
    pub(super) fn into_owner(self) -> Owner<T, K> {
        self.owner
    }

    /// Returns a pointer to the value. Its address does not change while the slot exists or the value is leaked.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.owner.as_ptr()
    }

    /// Returns a mutable pointer to the value.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.owner.as_mut_ptr()
    }

    /// Pins the value.
    ///
    /// This is safe, as for a `Box`: the cell is not reused before the value is dropped, even if the slot is forgotten,
    /// its slab is dropped or its thread ends.
    ///
    /// ```
    /// use dwell::slab::Slab;
    /// use std::pin::Pin;
    ///
    /// let slab = Slab::new();
    /// let mut future = slab.insert(async { 7 }).into_pin();
    /// let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// assert!(Future::poll(future.as_mut(), &mut context).is_ready());
    /// ```
    #[inline]
    pub fn into_pin(self) -> Pin<Self> {
        // SAFETY: the value does not move when the slot does, `Deref` and `DerefMut` return a reference to this value,
        // and only `drop` frees the cell, after it has dropped the value in place. Moving the value out (`into_inner`,
        // `leak`) takes the slot itself, and a `Pin` gives it out for `Unpin` values only.
        unsafe { Pin::new_unchecked(self) }
    }

    /// Converts the slot to a raw pointer to its value, which [`from_raw`](Self::from_raw) converts back.
    ///
    /// Until then the value stays live and its cell occupied, even if the slab is dropped. Without `from_raw` both
    /// leak.
    ///
    /// ```
    /// use dwell::slab::{Slab, Slot};
    ///
    /// let slab = Slab::new();
    /// let raw: *mut String = slab.insert(String::from("kept")).into_raw();
    /// // SAFETY: the pointer came from `into_raw` of such a slot on this thread, and is given back once.
    /// let slot: Slot<String> = unsafe { Slot::from_raw(raw) };
    /// assert_eq!(*slot, "kept");
    /// ```
    #[inline]
    pub fn into_raw(self) -> *mut T {
        self.owner.into_raw()
    }

    /// Converts a pointer from [`into_raw`](Self::into_raw) back to a slot.
    ///
    /// # Safety
    ///
    /// - `raw` came from `into_raw` of a `Slot<U, K>` with this `K`, and was not converted to a slot since.
    /// - The value is live. It is a `T` at the same address and of the same layout: `U` is `T` or a `ManuallyDrop` of it, or
    ///   the reverse, or was coerced to it as [`coerce`](Self::coerce) does. A slot of a [`Slab<U>`](super::Slab) may be
    ///   [leaked](Self::leak) only if `T` is `U`, or a type that `coerce` converts `U` to.
    /// - The calling thread is the one that called `into_raw`, unless `Slot<T, K>` is `Send`.
    #[inline]
    pub unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller guarantees that the pointer came from `into_raw` of a slot of this kind, was not converted back
        // since, that the value is live and a `T` of the same address and layout, and that this thread may own it.
        Self::from_owner(unsafe { Owner::from_raw(raw) })
    }

    /// Unsizes the value: to a `dyn Trait`, or from an array to a slice.
    ///
    /// The closure gets a view of the value, which it can only coerce and return. With the type named, as here, this
    /// compiles in any context; `slot.coerce(|view| view as _)` compiles where the context determines the type of the
    /// result. (With neither the closure returns what it got, and the compiler reports mismatched types.)
    ///
    /// ```
    /// use dwell::slab::Slab;
    /// use std::fmt::Display;
    ///
    /// let (numbers, texts) = (Slab::new(), Slab::new());
    /// let values = [
    ///     numbers.insert(7).coerce::<dyn Display, _>(|view| view),
    ///     texts.insert("seven").coerce::<dyn Display, _>(|view| view),
    /// ];
    /// assert_eq!(format!("{} {}", values[0], values[1]), "7 seven");
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure panics. The value is dropped.
    #[doc(alias = "unsize")]
    #[inline]
    pub fn coerce<U: ?Sized, F>(self, unsize: F) -> Slot<U, K>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        Slot::from_owner(self.owner.coerce(unsize))
    }
}

impl<T, K: SlotKind> Slot<T, K> {
    /// Moves the value out of its slab.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.owner.into_inner()
    }
}

impl<T: ?Sized, K: Keyed> Slot<T, K> {
    /// Returns the key of the cell. The key finds the value only after the slot is [leaked](Self::leak).
    #[inline]
    pub fn key(&self) -> Key {
        self.owner.entry().key()
    }

    /// Gives the value to its slab and returns its key.
    ///
    /// The slab owns the value until it is [reclaimed](super::Slab::reclaim) or the slab is dropped.
    ///
    /// If the slab is already dropped, the value and its memory leak.
    ///
    /// ```
    /// use dwell::slab::Slab;
    ///
    /// let slab = Slab::new();
    /// let key = slab.insert(String::from("kept")).leak();
    /// slab.with(key, |value| value.push('!'));
    /// assert_eq!(*slab.reclaim(key).unwrap(), "kept!");
    /// ```
    #[inline]
    pub fn leak(self) -> Key {
        ManuallyDrop::new(self).owner.entry().leak()
    }

    /// Like [`leak`](Self::leak), but returns a key that finds this value and no later value in the same cell.
    ///
    /// See [`StampedKey`] for its cost.
    #[inline]
    pub fn leak_stamped(self) -> StampedKey {
        self.try_leak_stamped().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`leak_stamped`](Self::leak_stamped), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory for the stamps of a block; the slot is returned in the error.
    pub fn try_leak_stamped(self) -> Result<StampedKey, AllocError<Self>> {
        let entry = self.owner.entry();
        match entry.try_stamps() {
            Ok(()) => {
                mem::forget(self);
                Ok(entry.leak_stamped())
            }
            Err(layout) => Err(AllocError::new(self, layout)),
        }
    }
}

impl<T, K: SlotKind> Handle<T, K> for Slot<T, K> {
    #[inline(always)]
    fn of(owner: Owner<T, K>) -> Self {
        Self::from_owner(owner)
    }
}

impl<T: ?Sized, K: SlotKind> Deref for Slot<T, K> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.owner
    }
}

impl<T: ?Sized, K: SlotKind> DerefMut for Slot<T, K> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.owner
    }
}

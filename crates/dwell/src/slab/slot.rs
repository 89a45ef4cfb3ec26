//! The owner of one place.

use super::blocks::Entry;
use super::free::Place;
use super::geometry::Geometry;
use super::home::sealed::Portable;
use super::home::{Home, Keyed, Own};
use super::key::{Key, StampedKey};
use super::place::{Brand, View};
use crate::alloc::AllocError;
use crate::raw::Meta;
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::{Deref, DerefMut};
use core::pin::Pin;
use core::ptr::NonNull;
use std_alloc::alloc::handle_alloc_error;

/// An owned value in a slab: 8 bytes, as a `Box`, and its `Option` too.
///
/// Dropping it drops the value and gives the place back. It has no lifetime: a slot that outlives its slab keeps the memory
/// that it needs. It is neither `Send` nor `Sync`.
///
/// `T` may be a `dyn Trait` or a slice: see [`coerce`](Self::coerce). `H` says how the slot finds its slab.
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
/// And it is invariant, since a slab must find what was leaked as what it holds:
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
#[must_use = "dropping a slot drops its value"]
#[repr(transparent)] // one word, with its niche
pub struct Slot<T: ?Sized, H: Home = Own> {
    // # Invariants
    //
    // 1. `value` is the address of a live `T`, this slot's alone, in a place with the geometry of the value's layout. The
    //    place is not leaked, and its chunk is there as long as the slot is.
    // 2. The pointer was made from the chunk's and may reach all of it.
    // 3. The place came from where `H` gives it back to.
    value: NonNull<T>,
    // Invariant in `T`: a value that is leaked is found again as what the slab says, so that nothing may be written to it
    // that has lived shorter. Neither `Send` nor `Sync`, as is a raw pointer. (It owns a `T`, which drop check sees by the `impl Drop`.)
    of: PhantomData<(*mut T, H)>,
}

// SAFETY: a slot owns its value, and gives its place back from any thread, as the trait says.
unsafe impl<T: ?Sized + Send, H: Portable> Send for Slot<T, H> {}

// SAFETY: a shared slot gives access to the value as shared, and to nothing else: keys are of homes that are not portable.
unsafe impl<T: ?Sized + Sync, H: Portable> Sync for Slot<T, H> {}

/// Gives a place back if what is to make its value panics.
struct Leaving<H: Home> {
    // # Invariants
    //
    // 1. The place is vacant, and this guard's alone to give back to `H`, which is to be told this.
    place: Place,
    told: H::Told,
}

impl<H: Home> Drop for Leaving<H> {
    // With a call that takes the parts, the guard need not be in memory.
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: invariant 1.
        unsafe { give_back_unwinding::<H>(self.place, self.told) };
    }
}

/// # Safety
///
/// As for `give_back`.
#[cold]
#[inline(never)]
unsafe fn give_back_unwinding<H: Home>(place: Place, told: H::Told) {
    // SAFETY: by the caller.
    unsafe { H::give_back(place, told) };
}

/// Gives the place of a slot back if the drop of its value panics.
struct Panicked<'a, T: ?Sized, H: Home> {
    // # Invariants
    //
    // 1. The value of the slot is gone and its place this guard's to give back to `H`, which is to be told this.
    slot: &'a Slot<T, H>,
    told: H::Told,
}

impl<T: ?Sized, H: Home> Drop for Panicked<'_, T, H> {
    #[inline(always)]
    fn drop(&mut self) {
        // Read anew, as volatile says: then the panic is all that is kept in a register here, and the way without one has a
        // register less to save.
        // SAFETY: the slot is borrowed.
        let value = unsafe { (&raw const self.slot.value).read_volatile() };
        // SAFETY: invariant 1.
        unsafe { give_back_unwinding::<H>(value.cast(), self.told) };
    }
}

impl<T: ?Sized, H: Home> Drop for Slot<T, H> {
    #[inline(always)]
    fn drop(&mut self) {
        let (value, told) = (self.value, self.told());
        if mem::needs_drop::<T>() {
            let panicked = Panicked { slot: self, told };
            // SAFETY: by invariant 1 the value is live and the slot's, which is not used again.
            unsafe { value.drop_in_place() };
            mem::forget(panicked);
        }
        // SAFETY: by invariant 3 the place is `H`'s, and it is vacant now; the slot is not used again.
        unsafe { H::give_back(value.cast(), told) };
    }
}

impl<T: ?Sized, H: Home> Slot<T, H> {
    /// # Safety
    ///
    /// The invariants hold.
    #[inline(always)]
    pub(super) unsafe fn from_raw(value: NonNull<T>) -> Self {
        Self { value, of: PhantomData }
    }

    #[inline(always)]
    fn told(&self) -> H::Told {
        H::told(self.layout())
    }

    /// The value's layout.
    #[inline(always)]
    fn layout(&self) -> Layout {
        // A reference to the value itself would say that nobody writes to it, which a future that refers to itself denies.
        // SAFETY: by invariant 1 there is a value, or, in `into_inner`, what was one; a cell has its layout. Nothing is read.
        Layout::for_value(unsafe { &*(self.value.as_ptr() as *const UnsafeCell<T>) })
    }

    fn entry(&self) -> Entry {
        let geometry = Geometry::of(self.layout());
        // SAFETY: by invariant 1 of `Slot`. The entry is used while the slot is there.
        unsafe { Entry::of(self.value.cast(), geometry) }
    }

    /// The value's place, without the value.
    ///
    /// # Safety
    ///
    /// The value is not used again, and the place is given back to `H`.
    #[cfg(feature = "std")]
    pub(super) unsafe fn into_place(self) -> Place {
        ManuallyDrop::new(self).value.cast()
    }

    /// The value.
    #[inline]
    pub fn get(&self) -> &T {
        self
    }

    /// The value, to be changed.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self
    }

    /// The address of the value, which does not change as long as the slot is there, or is leaked.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// The address of the value, for changing it.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.value.as_ptr()
    }

    /// The name of the place, under which the value can be found once it was [leaked](Self::leak), not before.
    #[inline]
    pub fn key(&self) -> Key
    where
        H: Keyed,
    {
        self.entry().key()
    }

    /// Gives the value to its slab, which has it until it is [reclaimed](super::Slab::reclaim) or the slab is dropped.
    ///
    /// A value whose slab is gone is leaked for good, with its memory.
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
    pub fn leak(self) -> Key
    where
        H: Keyed,
    {
        ManuallyDrop::new(self).entry().leak()
    }

    /// [`leak`](Self::leak) with a key that finds this value and no later one of the place.
    ///
    /// See [`StampedKey`] for what it costs.
    #[inline]
    pub fn leak_stamped(self) -> StampedKey
    where
        H: Keyed,
    {
        self.try_leak_stamped().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`leak_stamped`](Self::leak_stamped) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory for the stamps of a block; the slot comes back in the error.
    pub fn try_leak_stamped(self) -> Result<StampedKey, AllocError<Self>>
    where
        H: Keyed,
    {
        let entry = self.entry();
        match entry.try_stamps() {
            Ok(()) => {
                mem::forget(self);
                Ok(entry.leak_stamped())
            }
            Err(layout) => Err(AllocError::new(self, layout)),
        }
    }

    /// The slot pinned: its value has the address for good.
    ///
    /// The place of a value is not used for another before the value was dropped, even if the slot is forgotten, its slab
    /// dropped or its thread ended. So this is safe, as it is for a `Box`.
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
        // SAFETY: the value does not move when the slot does, `Deref` and `DerefMut` return it, and its place is given back
        // by `drop` alone, after the value was dropped in place. Moving it out (`into_inner`, `replace`, `leak`) needs the
        // slot itself or a `&mut` to it, which a pin gives for `Unpin` values only.
        unsafe { Pin::new_unchecked(self) }
    }

    /// The slot with its value seen as something else: a `dyn Trait` that it implements, or a slice that it is.
    ///
    /// The closure gets a [`View`] and can do nothing with it but coerce and return it.
    ///
    /// ```
    /// use dwell::slab::{Slab, Slot};
    /// use std::fmt::Display;
    ///
    /// let (numbers, texts) = (Slab::new(), Slab::new());
    /// let values: [Slot<dyn Display>; 2] = [
    ///     numbers.insert(7).coerce(|view| view as _),
    ///     texts.insert("seven").coerce(|view| view as _),
    /// ];
    /// assert_eq!(format!("{} {}", values[0], values[1]), "7 seven");
    /// ```
    #[inline]
    pub fn coerce<U: ?Sized, F>(self, unsize: F) -> Slot<U, H>
    where
        F: for<'a, 'brand> FnOnce(&'a View<Brand<'brand>, T>) -> &'a View<Brand<'brand>, U>,
    {
        // SAFETY: the value is live while `self` is borrowed, which it is until the closure returns. The closure accepts
        // every brand.
        let view = unsafe { View::at(self.as_ptr()) };
        let meta = Meta::new(unsize(view).as_ptr(), false);
        let this = ManuallyDrop::new(self);
        // The address is the slot's own, which reaches the chunk; that of the view does not.
        let value = meta.decode(this.value.as_ptr().cast());
        // SAFETY: not null, as it was.
        let value = unsafe { NonNull::new_unchecked(value.cast_mut()) };
        // SAFETY: the closure accepts every brand, so what it returned is the only view with this one: the value,
        // coerced. That changes neither the address nor the layout of a value, and views are invariant. So the invariants
        // hold as they did for `self`, which is not used again.
        unsafe { Slot::from_raw(value) }
    }
}

impl<T, H: Home> Slot<T, H> {
    /// The value, out of its slab.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: by invariant 1 the value is live; it is moved out once, since `this` is not used again.
        let value = unsafe { this.value.read() };
        // SAFETY: by invariant 3 the place is `H`'s, and it is vacant now; `this` is not used again.
        unsafe { H::give_back(this.value.cast(), this.told()) };
        value
    }

    /// Puts another value in, and returns the one that was there.
    #[inline]
    pub fn replace(&mut self, value: T) -> T {
        mem::replace(self, value)
    }

    /// Writes a value to a place.
    ///
    /// # Safety
    ///
    /// The place is vacant, for values of this layout, the caller's alone, and came from where `H` gives it back to.
    #[inline(always)]
    pub(super) unsafe fn fill(place: Place, value: T) -> Self {
        let place = place.cast::<T>();
        // SAFETY: the caller says so.
        unsafe { place.write(value) };
        // SAFETY: as above.
        unsafe { Self::from_raw(place) }
    }

    /// Writes what `make` returns to a place, which it is given back to if that panics.
    ///
    /// # Safety
    ///
    /// As for `fill`.
    #[inline(always)]
    pub(super) unsafe fn fill_with(place: Place, make: impl FnOnce() -> T) -> Self {
        let leaving = Leaving::<H> { place, told: H::told(Layout::new::<T>()) };
        let value = place.cast::<T>();
        // SAFETY: the caller says so.
        unsafe { value.write(make()) };
        mem::forget(leaving);
        // SAFETY: as above.
        unsafe { Self::from_raw(value) }
    }
}

impl<T: ?Sized, H: Home> Deref for Slot<T, H> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: invariant 1.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized, H: Home> DerefMut for Slot<T, H> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: invariant 1.
        unsafe { self.value.as_mut() }
    }
}

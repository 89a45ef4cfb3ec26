//! [`Slot`], the owner of one value.

use super::coerce::{CoerceBrand, SlotView};
use super::engine::{CoreRef, OneThread};
use super::geometry::Geometry;
use super::key::{Key, StampedKey};
use super::kind::sealed::CrossThread;
use super::kind::{Keyed, SlotKind};
use super::memory::Entry;
use super::stack::CellPtr;
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
/// Dropping it drops the value and frees its cell. It has no lifetime: a slot that outlives its slab keeps its memory alive. It is
/// neither `Send` nor `Sync`.
///
/// `T` may be a `dyn Trait` or a slice: see [`coerce`](Self::coerce). `K` says how the slot finds its slab.
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
/// A slot is invariant in `T`, since a slab finds leaked values by the type that it knows:
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
pub struct Slot<T: ?Sized, K: SlotKind = OneThread> {
    // # Invariants
    //
    // 1. `value` is the address of a live `T`, owned by this slot only, in an occupied cell with the geometry of the value's layout.
    //    The cell is not leaked, and its chunk is not freed as long as the slot is there.
    // 2. The pointer was made from the chunk's and may reach all of it.
    // 3. The cell is of a slab with slots of kind `K`.
    value: NonNull<T>,
    // Invariant in `T`: the slab returns a leaked value with its own `T`, so a slot must not store a shorter lifetime in it. Neither `Send` nor `Sync`, as is a raw pointer. (It owns a `T`, which drop check sees by the `impl Drop`.)
    of: PhantomData<(*mut T, K)>,
}

// SAFETY: a slot owns its value as a `Box` does, and `CrossThread` says that it frees its cell on any thread.
unsafe impl<T: ?Sized + Send, K: CrossThread> Send for Slot<T, K> {}

// SAFETY: a shared slot gives shared access to the value, and to nothing else: no `CrossThread` kind is `Keyed`.
unsafe impl<T: ?Sized + Sync, K: CrossThread> Sync for Slot<T, K> {}

/// Frees a cell if the closure that makes its value panics.
struct FreeCellOnUnwind<K: SlotKind> {
    // Invariant: the cell is an occupied one of a slab with slots of kind `K`, for values of this layout. It has no value, and is
    // this guard's to give to `K::free_cell`.
    cell: CellPtr,
    // Not the layout of a `&T`: a type without values, such as `Infallible`, has no `&T`.
    value: Layout,
    of: PhantomData<K>,
}

impl<K: SlotKind> Drop for FreeCellOnUnwind<K> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: by the invariant the cell is the guard's to free, and the guard is gone.
        unsafe { free_unwinding::<K>(self.cell, self.value) };
    }
}

/// Frees the cell of a slot if the value's destructor panics.
struct FreeSlotOnUnwind<'a, T: ?Sized, K: SlotKind>(
    // Invariant: the slot's value is gone or being dropped, and its cell is this guard's to give to `K::free_cell`.
    &'a Slot<T, K>,
);

impl<T: ?Sized, K: SlotKind> Drop for FreeSlotOnUnwind<'_, T, K> {
    #[inline(always)]
    fn drop(&mut self) {
        // Volatile, so that the cell is read again here and not kept in a register while the destructor runs, which each drop
        // would have to save: of a pooled future 62 instructions instead of 61 (`cargo run --release -p dwell-bench -- pin`).
        // SAFETY: the slot is borrowed, so that it is there and nothing writes to it.
        let value = unsafe { (&raw const self.0.value).read_volatile() };
        // SAFETY: by the invariant the cell is the guard's to free, and the guard is gone.
        unsafe { free_unwinding::<K>(value.cast(), self.0.layout()) };
    }
}

/// # Safety
///
/// The cell is an occupied one of a slab with slots of kind `K`, for values of this layout. Its value is gone, and the caller
/// does not use it again.
#[cold]
#[inline(never)]
unsafe fn free_unwinding<K: SlotKind>(cell: CellPtr, value: Layout) {
    // SAFETY: the cell is occupied, of a slab with slots of kind `K` for values of this layout, its value is gone, and nothing uses
    // it again: that is all that `free_cell` requires.
    unsafe { K::free_cell(cell, value) };
}

impl<T: ?Sized, K: SlotKind> Drop for Slot<T, K> {
    #[inline(always)]
    fn drop(&mut self) {
        let value = self.value;
        if mem::needs_drop::<T>() {
            // Forgotten below, not dropped: a guard that is dropped on both ways is a call.
            let guard = FreeSlotOnUnwind(self);
            // SAFETY: by invariant 1 the value is live and the slot's, which is not used again.
            unsafe { value.drop_in_place() };
            mem::forget(guard);
        }
        // SAFETY: by invariant 3 the cell is of a slab with slots of kind `K`, which has its value's layout; the value is gone,
        // and the slot is not used again.
        unsafe { K::free_cell(value.cast(), self.layout()) };
    }
}

impl<T: ?Sized, K: SlotKind> Slot<T, K> {
    /// # Safety
    ///
    /// The invariants hold.
    #[inline(always)]
    pub(super) unsafe fn owning(value: NonNull<T>) -> Self {
        Self { value, of: PhantomData }
    }

    /// The value's layout.
    #[inline(always)]
    fn layout(&self) -> Layout {
        // A `&T` would claim that nothing writes to the value, which is wrong for a future with references to itself.
        // SAFETY: by invariant 1 there is a value, or, while the slot is consumed, the cell that had one, with its layout.
        // Nothing is read.
        Layout::for_value(unsafe { &*(self.value.as_ptr() as *const UnsafeCell<T>) })
    }

    fn entry(&self) -> Entry<CoreRef<OneThread>>
    where
        K: Keyed,
    {
        let geometry = Geometry::of(self.layout());
        // SAFETY: by invariant 1 the value is in a cell with this geometry. `K` is `Keyed`, so that the cell is of a
        // `Core<OneThread>`. Callers use the entry while the slot is there, or leaked.
        unsafe { Entry::of(self.value.cast(), geometry) }
    }

    /// The slot's cell, with the value still in it. The caller is to drop the value and to free the cell.
    #[cfg(feature = "std")]
    pub(super) fn into_cell(self) -> CellPtr {
        ManuallyDrop::new(self).value.cast()
    }

    /// The value.
    #[inline]
    pub fn get(&self) -> &T {
        self
    }

    /// The value, mutably.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self
    }

    /// Returns the address of the value, which does not change while the slot exists or is leaked.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// Returns the address of the value, for writes.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.value.as_ptr()
    }

    /// Returns the key of the cell. It finds the value once that is [leaked](Self::leak), not before.
    #[inline]
    pub fn key(&self) -> Key
    where
        K: Keyed,
    {
        self.entry().key()
    }

    /// Passes the value to its slab, which owns it until it is [reclaimed](super::Slab::reclaim) or the slab is dropped.
    ///
    /// If the slab was dropped before, the value and its memory leak.
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
        K: Keyed,
    {
        ManuallyDrop::new(self).entry().leak()
    }

    /// [`leak`](Self::leak) with a key that finds this value and no later one of the cell.
    ///
    /// See [`StampedKey`] for its cost.
    #[inline]
    pub fn leak_stamped(self) -> StampedKey
    where
        K: Keyed,
    {
        self.try_leak_stamped().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`leak_stamped`](Self::leak_stamped) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory for the stamps of a block; the slot is returned in the error.
    pub fn try_leak_stamped(self) -> Result<StampedKey, AllocError<Self>>
    where
        K: Keyed,
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

    /// Pins the value.
    ///
    /// The cell of a value is not reused before the value is dropped, even if the slot is forgotten, its slab is dropped or its
    /// thread ends. So this is safe, as it is for a `Box`.
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
        // SAFETY: the value does not move when the slot does, `Deref` and `DerefMut` return it, and its cell is freed by `drop`
        // alone, after the value was dropped in place. Moving it out (`into_inner`, `replace`, `leak`) needs the
        // slot itself or a `&mut` to it, which a pin gives for `Unpin` values only.
        unsafe { Pin::new_unchecked(self) }
    }

    /// Converts the slot to a pointer to its value, for [`from_raw`](Self::from_raw).
    ///
    /// Until then the value lives and its cell is occupied, even if the slab is dropped: without `from_raw` both leak.
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
        ManuallyDrop::new(self).value.as_ptr()
    }

    /// Converts a pointer of [`into_raw`](Self::into_raw) to a slot again.
    ///
    /// # Safety
    ///
    /// - `raw` came from `into_raw` of a `Slot<U, K>` with this `K`, and no slot was made of it since.
    /// - The value is live. It is a `T` at the same address and of the same layout: `U` is `T`, or was coerced to it as
    ///   [`coerce`](Self::coerce) does. A slot of a [`Slab<U>`](super::Slab) may be [leaked](Self::leak) only if `T` is `U`,
    ///   or a type that `coerce` converts `U` to.
    /// - This is the thread that called `into_raw`, unless `Slot<T, K>` is `Send`.
    #[inline]
    pub unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller says that it was a slot's pointer to its value, which is not null.
        let value = unsafe { NonNull::new_unchecked(raw) };
        // SAFETY: the invariants held for the slot that `into_raw` consumed. It freed neither the value nor the cell, and since no
        // slot was made of `raw` after it, this one alone owns them.
        unsafe { Self::owning(value) }
    }

    /// Unsizes the value: to a `dyn Trait`, or from an array to a slice.
    ///
    /// The closure gets a [`SlotView`], which it can only coerce and return. With the type named, as here, this compiles in any
    /// context; `slot.coerce(|view| view as _)` compiles where the context determines the type of the result.
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
    #[inline]
    pub fn coerce<U: ?Sized, F>(self, unsize: F) -> Slot<U, K>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        // SAFETY: the value is live while `self` is borrowed, which it is until the closure returns. The closure accepts
        // every brand.
        let view = unsafe { SlotView::at(self.as_ptr()) };
        let meta = Meta::new(unsize(view).as_ptr(), false);
        let this = ManuallyDrop::new(self);
        // The address is the slot's own, which reaches the chunk; that of the view does not.
        let value = meta.decode(this.value.as_ptr().cast());
        // SAFETY: `decode` keeps the address it is given, that of `this.value`, which is not null.
        let value = unsafe { NonNull::new_unchecked(value.cast_mut()) };
        // SAFETY: the closure accepts every brand, so what it returned is the only view with this one: the value,
        // coerced. That changes neither the address nor the layout of a value, and views are invariant. So the invariants
        // hold as they did for `self`, which is not used again.
        unsafe { Slot::owning(value) }
    }
}

impl<T, K: SlotKind> Slot<T, K> {
    /// Moves the value out of its slab.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: by invariant 1 the value is live; it is moved out once, since `this` is not used again.
        let value = unsafe { this.value.read() };
        // SAFETY: by invariant 3 the cell is of a slab with slots of kind `K`; its value was moved out, and `this` is not used
        // again.
        unsafe { K::free_cell(this.value.cast(), Layout::new::<T>()) };
        value
    }

    /// Replaces the value and returns the old one.
    #[inline]
    pub fn replace(&mut self, value: T) -> T {
        mem::replace(self, value)
    }

    /// Writes a value to a cell.
    ///
    /// # Safety
    ///
    /// The cell is vacant, for values of this layout, exclusively the caller's, and of a slab with slots of kind `K`.
    #[inline(always)]
    pub(super) unsafe fn fill(cell: CellPtr, value: T) -> Self {
        let cell = cell.cast::<T>();
        // SAFETY: the caller says that the cell is for a `T`, vacant, and its own.
        unsafe { cell.write(value) };
        // SAFETY: now there is a live value in the cell, and the caller vouches for the rest of the invariants.
        unsafe { Self::owning(cell) }
    }

    /// Writes the value that `make` returns to a cell, which is freed if `make` panics.
    ///
    /// # Safety
    ///
    /// The cell is vacant, for values of this layout, exclusively the caller's, and of a slab with slots of kind `K`.
    #[inline(always)]
    pub(super) unsafe fn fill_with(cell: CellPtr, make: impl FnOnce() -> T) -> Self {
        let guard = FreeCellOnUnwind::<K> { cell, value: Layout::new::<T>(), of: PhantomData };
        let value = cell.cast::<T>();
        // SAFETY: the caller says that the cell is for a `T`, vacant, and its own.
        unsafe { value.write(make()) };
        mem::forget(guard);
        // SAFETY: now there is a live value in the cell, and the caller vouches for the rest of the invariants.
        unsafe { Self::owning(value) }
    }
}

impl<T: ?Sized, K: SlotKind> Deref for Slot<T, K> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: by invariant 1 there is a live value, which is owned by this slot only and borrowed with it.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized, K: SlotKind> DerefMut for Slot<T, K> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: by invariant 1 there is a live value, which is owned by this slot only and borrowed with it.
        unsafe { self.value.as_mut() }
    }
}

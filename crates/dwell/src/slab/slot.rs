//! [`Slot`], the owner of one value in a slab.

use super::coerce::{CoerceBrand, SlotView};
use super::engine::{CoreRef, OneThread};
use super::geometry::Geometry;
use super::key::{Key, StampedKey};
use super::kind::sealed::CrossThread;
use super::kind::{Keyed, SlotKind, sealed};
use super::memory::CellEntry;
use super::stack::CellPtr;
use super::variance::Invariant;
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

/// An owned value in a slab. Like a `Box` it has 8 bytes, and so has its `Option`.
///
/// Dropping a slot drops the value and frees its cell. A slot has no lifetime: if it outlives its slab, it keeps the
/// memory alive. Slots of `slab::sync` are `Send` and `Sync` if their values are; other slots are neither.
///
/// `T` may be a `dyn Trait` or a slice: see [`coerce`](Self::coerce). `K` is the [kind](SlotKind) of the slot, which
/// determines how the slot finds its slab.
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
/// A slot of a slab is invariant in `T`, because a slab returns a leaked value as its own `T`, with the original
/// lifetime. The third parameter, `V`, says so: it is [`Invariant<T>`], or [`Covariant`](super::Covariant) for the slots
/// of a pool, which are covariant, as a `Box` is. The kind determines it.
///
/// ```
/// # use dwell::slab::PoolSlot;
/// fn shorten<'a>(slot: PoolSlot<&'static str>) -> PoolSlot<&'a str> {
///     slot
/// }
/// ```
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
pub struct Slot<T: ?Sized, K: SlotKind = OneThread, V = Invariant<T>> {
    // # Invariants
    //
    // 1. `value` points to a live `T` that only this slot owns, in an occupied cell for values of its layout. If `K` is
    //    `Keyed`, the cell has the geometry of that layout. The cell is not leaked, and its memory is not freed while
    //    the slot exists.
    // 2. `value` is derived from the pointer to its chunk or dedicated block and may access all of it.
    // 3. The cell belongs to a slab with slots of kind `K`.
    // 4. The slot was created with the `V` that its kind has for its `T`. (Since then `T` and `V` may have been replaced
    //    by supertypes, independently. A `Slot<T, K, Invariant<T>>` never was: `Invariant<T>` has no other supertype.)
    //
    // `NonNull<T>` is covariant in `T`, as the slot is. That is sound for a value that only this slot ever returns: the
    // slot owns it, as a `Box` owns its value. A `Keyed` slab returns a leaked value as its own `T`, so a slot must not
    // store a value with a shorter lifetime in the cell and then be leaked. Therefore only a `Slot<T, K, Invariant<T>>`
    // can be leaked, whose `T` is the one that it was created with (invariant 4).
    value: NonNull<T>,
    // `*mut K` makes the slot invariant in `K`: a subtype of a `Module` may be another `Module`, whose values have another
    // layout, and a slot must free its cell with the kind that it was made with. It makes the slot neither `Send` nor
    // `Sync`, as `NonNull<T>` does. Drop check knows from the `impl Drop` that the slot owns a `T`.
    of: PhantomData<(*mut K, V)>,
}

/// A slot of the kind `K`, with the variance of this kind.
///
/// Generic code writes it for the slots of any kind. A `KindSlot<T, OneThread>` is a [`Slot<T>`](Slot), and a
/// `KindSlot<T, InPool<OneThread>>` is a [`PoolSlot<T>`](super::PoolSlot).
pub type KindSlot<T, K> = Slot<T, K, <K as sealed::SlotKind>::Variance<T>>;

// SAFETY: a slot owns its value as a `Box` does, and a `T` is `Send`. A drop frees the cell by `free_cell`, which
// `CrossThread` guarantees may be called on any thread.
unsafe impl<T: ?Sized + Send, K: CrossThread, V> Send for Slot<T, K, V> {}

// SAFETY: a shared slot gives shared access to the value, and a `T` is `Sync`. It gives no access to the block's
// header, which is not synchronised: that requires a `Keyed` kind, and no `CrossThread` kind is `Keyed`.
unsafe impl<T: ?Sized + Sync, K: CrossThread, V> Sync for Slot<T, K, V> {}

/// A guard that frees a cell if the closure that makes its value panics.
struct FreeCellOnUnwind<K: SlotKind> {
    // Invariant: the cell is occupied and belongs to a slab with slots of kind `K`, for values of this layout. It
    // contains no value, and only this guard may pass it to `K::free_cell`.
    cell: CellPtr,
    // A `Layout` and not a `&T` to take it from: an uninhabited type, such as `Infallible`, has no `&T`.
    value: Layout,
    of: PhantomData<K>,
}

impl<K: SlotKind> Drop for FreeCellOnUnwind<K> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: by the invariant the cell is occupied, belongs to a slab with slots of kind `K` for values of this
        // layout, contains no value, and may be freed by this guard only. The guard ends here, so the cell is not used
        // again.
        unsafe { free_unwinding::<K>(self.cell, self.value) };
    }
}

/// A guard that frees the cell of a slot if the value's destructor panics.
struct FreeSlotOnUnwind<'a, T: ?Sized, K: SlotKind, V>(
    // Invariant: the slot's value was dropped or is being dropped, and only this guard may pass the cell to
    // `K::free_cell`.
    &'a Slot<T, K, V>,
);

impl<T: ?Sized, K: SlotKind, V> Drop for FreeSlotOnUnwind<'_, T, K, V> {
    #[inline(always)]
    fn drop(&mut self) {
        // A volatile read, so that the compiler loads the address again here. Otherwise it keeps the address in a
        // register while the destructor runs, which every drop must save: a pooled future then takes 62 instructions
        // instead of 61 (`cargo run --release -p dwell-bench -- pin`).
        // SAFETY: `self.0` is a reference to a slot, so its field is initialised and aligned, and nothing writes to it
        // meanwhile.
        let value = unsafe { (&raw const self.0.value).read_volatile() };
        // SAFETY: by the invariant the value was dropped, as far as its destructor ran, and only this guard may free
        // the cell. By invariants 1 and 3 of `Slot` the cell is occupied and belongs to a slab with slots of kind `K`,
        // for values of this layout. The guard ends here, so the cell is not used again.
        unsafe { free_unwinding::<K>(value.cast(), self.0.layout()) };
    }
}

/// Frees a cell during unwinding. Not inlined.
///
/// # Safety
///
/// The cell is occupied and belongs to a slab with slots of kind `K`, for values of this layout. It contains no live
/// value, and the caller does not use it again.
#[cold]
#[inline(never)]
unsafe fn free_unwinding<K: SlotKind>(cell: CellPtr, value: Layout) {
    // SAFETY: the caller guarantees that the cell is occupied, belongs to a slab with slots of kind `K` for values of
    // this layout, contains no live value, and is not used again, which is all that `free_cell` requires.
    unsafe { K::free_cell(cell, value) };
}

impl<T: ?Sized, K: SlotKind, V> Drop for Slot<T, K, V> {
    #[inline(always)]
    fn drop(&mut self) {
        let value = self.value;
        if mem::needs_drop::<T>() {
            // The guard is forgotten below and not dropped: the compiler would not inline its drop, and an insert and a drop
            // took 48 instructions instead of 26 (docs/slab.md, "Rejected designs").
            let guard = FreeSlotOnUnwind(self);
            // SAFETY: by invariant 1 the value is live and only this slot owns it. The slot is being dropped, so the
            // value is dropped once and not used again.
            unsafe { value.drop_in_place() };
            mem::forget(guard);
        }
        let layout = self.layout_after_drop();
        // SAFETY: by invariants 1 and 3 the cell is occupied and belongs to a slab with slots of kind `K`, for values
        // of this layout. The value was dropped above or needs no drop, and the slot is not used again.
        unsafe { K::free_cell(value.cast(), layout) };
    }
}

impl<T: ?Sized, K: SlotKind, V> Slot<T, K, V> {
    /// Returns the layout of the value.
    #[inline(always)]
    fn layout(&self) -> Layout {
        // An `&UnsafeCell<T>` and not a `&T`: a `&T` would assert that nothing writes to the value, which is wrong for
        // a future with references to itself.
        // SAFETY: by invariant 1 the pointer is that of a live value, or, while the slot is consumed, of a cell that
        // contained the value and is not freed. So it is aligned and points to memory of that layout. `for_value` uses
        // only its metadata and reads no byte of the value.
        Layout::for_value(unsafe { &*(self.value.as_ptr() as *const UnsafeCell<T>) })
    }

    /// Returns the layout of the value, which was dropped.
    #[inline(always)]
    fn layout_after_drop(&self) -> Layout {
        if size_of::<&T>() == size_of::<usize>() {
            return self.layout();
        }
        // A volatile read, so that the compiler does not keep the metadata in a register while the destructor runs. And a `&T`,
        // unlike in `layout`, since nothing uses the value any more: the size of an `UnsafeCell<dyn Trait>` is rounded up to its
        // alignment. Without either a drop takes four instructions more.
        // SAFETY: `self` is a reference to a slot, so its field is initialised and aligned, and nothing writes to it meanwhile.
        let value = unsafe { (&raw const self.value).read_volatile() };
        // SAFETY: the cell is not freed yet, so the pointer is aligned and points to memory of that layout. `for_value` uses only its
        // metadata and reads no byte of the value.
        Layout::for_value(unsafe { value.as_ref() })
    }

    /// Consumes the slot and returns its cell with the value in it. The caller must drop the value and free the cell.
    #[cfg(feature = "std")]
    pub(super) fn into_cell(self) -> CellPtr {
        ManuallyDrop::new(self).value.cast()
    }

    /// Returns a reference to the value.
    #[inline]
    pub fn get(&self) -> &T {
        self
    }

    /// Returns a mutable reference to the value.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self
    }

    /// Returns a pointer to the value. Its address does not change while the slot exists or the value is leaked.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// Returns a mutable pointer to the value.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.value.as_ptr()
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
        // `replace`, `leak`) takes the slot itself or a `&mut` to it, and a `Pin` gives these out for `Unpin` values
        // only.
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
        ManuallyDrop::new(self).value.as_ptr()
    }
}

impl<T: ?Sized, K: SlotKind> KindSlot<T, K> {
    /// Creates the slot that owns `value`.
    ///
    /// # Safety
    ///
    /// The invariants of [`Slot`] hold for `value`.
    #[inline(always)]
    pub(super) unsafe fn owning(value: NonNull<T>) -> Self {
        Self { value, of: PhantomData }
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
        // SAFETY: the caller guarantees that the address came from `into_raw`, which returns the pointer of a
        // `NonNull`.
        let value = unsafe { NonNull::new_unchecked(raw) };
        // SAFETY: the invariants held for the slot that `into_raw` consumed without dropping the value or freeing the
        // cell. The caller guarantees that the value is live, is a `T` of the same address and layout, and was not
        // converted to a slot since. So the invariants hold for this slot, which alone owns the value.
        unsafe { Self::owning(value) }
    }

    /// Unsizes the value: to a `dyn Trait`, or from an array to a slice.
    ///
    /// The closure gets a [`SlotView`], which it can only coerce and return. With the type named, as here, this
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
    /// If the closure panics, or if the value is coerced to a slice of more than `usize::MAX / 32` elements. The value
    /// is dropped.
    #[doc(alias = "unsize")]
    #[inline]
    pub fn coerce<U: ?Sized, F>(self, unsize: F) -> KindSlot<U, K>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        // SAFETY: by invariant 1 the value is live and only `self` owns it. `self` is not used until the closure
        // returns, so nothing writes to the value. The closure is generic over `'brand`, so it must accept every brand.
        let view = unsafe { SlotView::at(self.as_ptr()) };
        let like = unsize(view).as_ptr();
        // SAFETY: the closure accepts every brand, so the view that it returned is the only one with this brand: the
        // view of this value, coerced. A coercion changes neither the address nor the layout of the value, and no
        // lifetime, because views are invariant.
        unsafe { self.unsized_like(like) }
    }

    /// Unsizes the value as `like`. Drops it if `like` is a slice of more than `usize::MAX / 32` elements.
    ///
    /// # Safety
    ///
    /// With the metadata of `like`, the value is a live `U` of the same layout. If the slot can be leaked, `U` is a type
    /// that [`coerce`](Self::coerce) converts `T` to.
    #[inline]
    pub(crate) unsafe fn unsized_like<U: ?Sized>(self, like: *const U) -> KindSlot<U, K> {
        let meta = Meta::new(like, false);
        let this = ManuallyDrop::new(self);
        // Takes the metadata from `like` but the address from the slot: the slot's pointer may access the whole chunk.
        let value = meta.decode(this.value.as_ptr().cast());
        // SAFETY: `decode` keeps the address that it is given, which is that of `this.value`, a `NonNull`.
        let value = unsafe { NonNull::new_unchecked(value.cast_mut()) };
        // SAFETY: the caller guarantees that the value is a live `U` of the same layout. So the invariants that held for
        // `self` hold for the result, and `self` is not used again.
        unsafe { KindSlot::owning(value) }
    }
}

impl<T: ?Sized, K: Keyed> Slot<T, K> {
    /// Returns the entry of the cell in its block.
    fn entry(&self) -> CellEntry<CoreRef<OneThread>> {
        let geometry = Geometry::of(self.layout());
        // SAFETY: `K` is `Keyed`, so by invariants 1 and 3 the value is in a cell of a `Core<OneThread>` with this
        // geometry. Callers use the entry only while the slot exists or its value is leaked, so the chunk is not freed
        // meanwhile.
        unsafe { CellEntry::of(self.value.cast(), geometry) }
    }

    /// Returns the key of the cell. The key finds the value only after the slot is [leaked](Self::leak).
    #[inline]
    pub fn key(&self) -> Key {
        self.entry().key()
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
        ManuallyDrop::new(self).entry().leak()
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
        let entry = self.entry();
        match entry.try_stamps() {
            Ok(()) => {
                mem::forget(self);
                Ok(entry.leak_stamped())
            }
            Err(layout) => Err(AllocError::new(self, layout)),
        }
    }
}

impl<T, K: SlotKind, V> Slot<T, K, V> {
    /// Moves the value out of its slab.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: by invariant 1 the value is live. It is moved out once: `this` is not dropped, and its value is not
        // accessed again.
        let value = unsafe { this.value.read() };
        // SAFETY: by invariants 1 and 3 the cell is occupied and belongs to a slab with slots of kind `K`, for values
        // of a `T`. The value was moved out, and `this` is not used again.
        unsafe { K::free_cell(this.value.cast(), Layout::new::<T>()) };
        value
    }

    /// Replaces the value and returns the old one.
    #[inline]
    pub fn replace(&mut self, value: T) -> T {
        mem::replace(self, value)
    }
}

impl<T, K: SlotKind> KindSlot<T, K> {
    /// Writes a value to a cell and returns its slot.
    ///
    /// # Safety
    ///
    /// The cell is vacant and not leaked, belongs to a slab with slots of kind `K` for values of this layout, and only the
    /// caller uses it. Its chunk is not freed while the cell is occupied.
    #[inline(always)]
    pub(super) unsafe fn fill(cell: CellPtr, value: T) -> Self {
        let cell = cell.cast::<T>();
        // SAFETY: the caller guarantees that the cell is vacant, is for values of a `T`, so aligned and large enough,
        // and is used by no other code.
        unsafe { cell.write(value) };
        // SAFETY: the cell now contains a live value. The caller guarantees that the cell is not leaked, that no other
        // code uses it, that its chunk is not freed while it is occupied, and that it belongs to a slab with slots of kind
        // `K`; a `CellPtr` may access its whole chunk. So the invariants hold.
        unsafe { Self::owning(cell) }
    }

    /// Writes the value that `make` returns to a cell and returns its slot. Frees the cell if `make` panics.
    ///
    /// # Safety
    ///
    /// The cell is vacant and not leaked, belongs to a slab with slots of kind `K` for values of this layout, and only the
    /// caller uses it. Its chunk is not freed while the cell is occupied.
    #[inline(always)]
    pub(super) unsafe fn fill_with(cell: CellPtr, make: impl FnOnce() -> T) -> Self {
        let guard = FreeCellOnUnwind::<K> { cell, value: Layout::new::<T>(), of: PhantomData };
        let value = cell.cast::<T>();
        // SAFETY: the caller guarantees that the cell is vacant, is for values of a `T`, so aligned and large enough,
        // and is used by no other code.
        unsafe { value.write(make()) };
        mem::forget(guard);
        // SAFETY: the cell now contains a live value. The caller guarantees that the cell is not leaked, that no other
        // code uses it, that its chunk is not freed while it is occupied, and that it belongs to a slab with slots of kind
        // `K`; a `CellPtr` may access its whole chunk. So the invariants hold.
        unsafe { Self::owning(value) }
    }
}

impl<T: ?Sized, K: SlotKind, V> Deref for Slot<T, K, V> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: by invariant 1 the value is live and only this slot owns it. The returned reference borrows the slot.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized, K: SlotKind, V> DerefMut for Slot<T, K, V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: by invariant 1 the value is live and only this slot owns it. The returned reference borrows the slot.
        unsafe { self.value.as_mut() }
    }
}

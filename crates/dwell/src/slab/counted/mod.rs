//! Counted values in a pool: [`PoolRc`] and [`PoolArc`], and their weak pointers.
//!
//! A cell holds two counts in front of the value. All strong pointers together own the value and one weak count; the cell is
//! freed when there is no weak count left. The pool knows nothing of this: the last pointer makes a slot of the cell again,
//! and drops it.

mod cyclic;
mod forward;
#[cfg(all(loom, test))]
mod model;
mod pointers;
mod unsized_values;

pub use self::pointers::{PoolArc, PoolArcWeak, PoolRc, PoolRcWeak};

use super::coerce::{CoerceBrand, SlotView};
use super::pool::Pool;
use super::pooled::Pooled;
use super::primitive::{AtomicU32, Ordering, spin_loop};
use super::thread_pool;
use crate::alloc::AllocError;
use crate::raw::Meta;
#[cfg(feature = "weigh")]
use core::alloc::Layout;
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::Deref;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};

/// The engine of [`PoolRc`] and [`PoolArc`]: a counted pointer to a value in a pool.
///
/// A value has at most 2^31 strong and 2^31 weak pointers, forgotten ones included. One more aborts the process.
struct Counted<T: ?Sized, C: Counts> {
    // # Invariants
    //
    // 1. `cell` is from `into_raw` of a `Pooled<InCell<T, C>>`, whose cell is occupied until the weak count is 0.
    // 2. The strong count is the number of these pointers, forgotten ones included. While it is not 0 the value is live, and it
    //    counts as one in the weak count. The weak count is that and the number of weak pointers.
    cell: NonNull<InCell<T, C>>,
    // Drop check: it owns a `T`.
    of: PhantomData<InCell<T, C>>,
}

/// The engine of [`PoolRcWeak`] and [`PoolArcWeak`]: a pointer that does not keep the value alive. It keeps its cell occupied.
struct Weak<T: ?Sized, C: Counts> {
    // Invariant: as 1 and 2 of `Counted`. This is counted in the weak count. Or its address is `NO_CELL`.
    cell: NonNull<InCell<T, C>>,
}

/// The address of a weak pointer to no cell. Cells are aligned to 8.
const NO_CELL: usize = usize::MAX;

/// The contents of a cell.
#[repr(C)] // the value last, for unsizing
struct InCell<T: ?Sized, C> {
    counts: C,
    value: T,
}

/// The counts of a value: [`OneThreadCounts`] or [`AtomicCounts`]. This trait is sealed: only this crate implements it.
trait Counts: sealed::Counts {}

/// The counts of a [`PoolRc`].
struct OneThreadCounts {
    strong: Cell<u32>,
    weak: Cell<u32>,
}

/// The counts of a [`PoolArc`].
struct AtomicCounts {
    strong: AtomicU32,
    weak: AtomicU32,
}

impl Counts for OneThreadCounts {}
impl Counts for AtomicCounts {}

/// The largest count. Above it the process aborts, long before a count wraps around.
const MOST: u32 = 1 << 31;

mod sealed {
    /// # Safety
    ///
    /// The counts begin as 1 and change only as the methods say. A decrement that returns `true` happens after everything that
    /// other threads did before they decremented the same count. An implementation is used on one thread if it is not `Sync`.
    pub(super) unsafe trait Counts: 'static {
        /// One strong pointer, and the weak count that all strong pointers own together.
        fn one() -> Self;
        /// No strong pointer, and a weak one.
        fn weak_only() -> Self;
        fn strong(&self) -> u32;
        fn weak(&self) -> u32;
        fn add_strong(&self);
        fn add_weak(&self);
        /// Adds a strong pointer unless there is none. Returns whether there was one.
        fn upgrade(&self) -> bool;
        /// Removes a strong pointer. Returns whether it was the last.
        fn remove_strong(&self) -> bool;
        /// Removes a weak pointer. Returns whether it was the last.
        fn remove_weak(&self) -> bool;
        /// Returns whether there is one strong pointer and no weak one. The caller has the strong one.
        fn is_unique(&self) -> bool;
        /// Removes the only strong pointer, or returns `false` if there are others.
        fn take_only(&self) -> bool;
        /// Sets the strong count to 1 after `take_only` or `weak_only`.
        fn restore_only(&self);
    }
}

#[cold]
#[inline(never)]
fn too_many() -> ! {
    std::process::abort()
}

// SAFETY: a `Cell` is not `Sync`, and each method changes its count as it says.
unsafe impl sealed::Counts for OneThreadCounts {
    fn one() -> Self {
        Self { strong: Cell::new(1), weak: Cell::new(1) }
    }

    fn weak_only() -> Self {
        Self { strong: Cell::new(0), weak: Cell::new(1) }
    }

    #[inline]
    fn strong(&self) -> u32 {
        self.strong.get()
    }

    #[inline]
    fn weak(&self) -> u32 {
        self.weak.get()
    }

    #[inline]
    fn add_strong(&self) {
        let count = self.strong.get();
        if count >= MOST {
            too_many();
        }
        self.strong.set(count + 1);
    }

    #[inline]
    fn add_weak(&self) {
        let count = self.weak.get();
        if count >= MOST {
            too_many();
        }
        self.weak.set(count + 1);
    }

    #[inline]
    fn upgrade(&self) -> bool {
        if self.strong.get() == 0 {
            return false;
        }
        self.add_strong();
        true
    }

    #[inline]
    fn remove_strong(&self) -> bool {
        self.strong.set(self.strong.get() - 1);
        self.strong.get() == 0
    }

    #[inline]
    fn remove_weak(&self) -> bool {
        self.weak.set(self.weak.get() - 1);
        self.weak.get() == 0
    }

    #[inline]
    fn is_unique(&self) -> bool {
        self.strong.get() == 1 && self.weak.get() == 1
    }

    #[inline]
    fn take_only(&self) -> bool {
        self.strong.get() == 1 && self.remove_strong()
    }

    #[inline]
    fn restore_only(&self) {
        self.strong.set(1);
    }
}

/// The weak count while [`AtomicCounts::is_unique`] looks at the strong count. A weak pointer that is made meanwhile waits.
const LOCKED: u32 = u32::MAX;

// The orderings are those of `Arc`, and for the same reasons. SAFETY: each method changes its count by one atomic operation as it
// says. A decrement is `Release`, and an `Acquire` load follows the last one: it reads the end of the release sequence of all decrements.
// A fence would do the same, but the thread sanitizer does not know fences.
unsafe impl sealed::Counts for AtomicCounts {
    fn one() -> Self {
        Self { strong: AtomicU32::new(1), weak: AtomicU32::new(1) }
    }

    fn weak_only() -> Self {
        Self { strong: AtomicU32::new(0), weak: AtomicU32::new(1) }
    }

    #[inline]
    fn strong(&self) -> u32 {
        self.strong.load(Ordering::Relaxed)
    }

    #[inline]
    fn weak(&self) -> u32 {
        match self.weak.load(Ordering::Relaxed) {
            LOCKED => 1,
            count => count,
        }
    }

    #[inline]
    fn add_strong(&self) {
        // Relaxed: the caller has a pointer, so the count does not become 0 meanwhile.
        if self.strong.fetch_add(1, Ordering::Relaxed) >= MOST {
            too_many();
        }
    }

    #[inline]
    fn add_weak(&self) {
        let mut count = self.weak.load(Ordering::Relaxed);
        loop {
            if count == LOCKED {
                spin_loop();
                count = self.weak.load(Ordering::Relaxed);
                continue;
            }
            if count >= MOST {
                too_many();
            }
            // Acquire: this follows the unlocking in `is_unique`.
            match self.weak.compare_exchange_weak(count, count + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => count = now,
            }
        }
    }

    #[inline]
    fn upgrade(&self) -> bool {
        let more = |count: u32| match count {
            0 => None,
            MOST.. => too_many(),
            count => Some(count + 1),
        };
        // Acquire: what `make_mut` and `get_mut` of another thread wrote happens before.
        self.strong.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
    }

    #[inline]
    fn remove_strong(&self) -> bool {
        let last = self.strong.fetch_sub(1, Ordering::Release) == 1;
        if last {
            self.strong.load(Ordering::Acquire);
        }
        last
    }

    #[inline]
    fn remove_weak(&self) -> bool {
        let last = self.weak.fetch_sub(1, Ordering::Release) == 1;
        if last {
            self.weak.load(Ordering::Acquire);
        }
        last
    }

    #[inline]
    fn is_unique(&self) -> bool {
        // Locks the weak count, so that no other thread makes a weak pointer of a strong one, and drops that, between the two
        // reads. Acquire: a weak pointer that was upgraded on another thread is dropped before.
        if self.weak.compare_exchange(1, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        // Acquire: the accesses through other strong pointers happen before their drops, which are `Release`.
        let unique = self.strong.load(Ordering::Acquire) == 1;
        self.weak.store(1, Ordering::Release);
        unique
    }

    #[inline]
    fn take_only(&self) -> bool {
        // Acquire: as in `is_unique`.
        self.strong.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    fn restore_only(&self) {
        // Release: what the caller does with the value afterwards is ordered by later decrements; this publishes the count.
        self.strong.store(1, Ordering::Release);
    }
}

// SAFETY: threads that have a pointer share the value, and the last one drops it: it is `Sync` and `Send`. The counts are atomic,
// and a slot of a `sync::Pool` may be dropped on any thread.
unsafe impl<T: ?Sized + Send + Sync> Send for Counted<T, AtomicCounts> {}
// SAFETY: a shared pointer can be cloned, so it gives what a pointer of one's own does.
unsafe impl<T: ?Sized + Send + Sync> Sync for Counted<T, AtomicCounts> {}
// SAFETY: a weak pointer can be upgraded, so it gives what a strong one does.
unsafe impl<T: ?Sized + Send + Sync> Send for Weak<T, AtomicCounts> {}
// SAFETY: as for `Send`.
unsafe impl<T: ?Sized + Send + Sync> Sync for Weak<T, AtomicCounts> {}

// Moving a pointer does not move its value.
impl<T: ?Sized, C: Counts> Unpin for Counted<T, C> {}
// The same bounds as for `Rc` and `Arc`.
impl<T: ?Sized + RefUnwindSafe, C: Counts> UnwindSafe for Counted<T, C> {}
impl<T: ?Sized + RefUnwindSafe, C: Counts> RefUnwindSafe for Counted<T, C> {}

/// Returns the counts in a cell.
///
/// # Safety
///
/// The cell is occupied while the reference is used.
#[inline]
unsafe fn counts<'a, T: ?Sized, C>(cell: NonNull<InCell<T, C>>) -> &'a C {
    // SAFETY: the caller guarantees that the cell is occupied, so it begins with live counts. The reference does not cover the
    // value. Counts change only through shared references.
    unsafe { &(*cell.as_ptr()).counts }
}

/// Returns a pointer to the value in a cell.
///
/// # Safety
///
/// The cell is occupied.
#[inline]
unsafe fn value<T: ?Sized, C>(cell: NonNull<InCell<T, C>>) -> *mut T {
    // SAFETY: the caller guarantees that the cell is occupied, so the field is in bounds of it. The result has the provenance of the
    // cell.
    unsafe { &raw mut (*cell.as_ptr()).value }
}

/// Removes a weak count, and frees the cell if it was the last.
///
/// # Safety
///
/// The caller owns one weak count, and does not use the cell again.
#[inline]
unsafe fn remove_weak<T: ?Sized, C: Counts>(cell: NonNull<InCell<T, C>>) {
    // SAFETY: the cell is occupied, because the caller owns a weak count.
    if unsafe { counts(cell) }.remove_weak() {
        // SAFETY: by invariant 1 the pointer came from `into_raw` of such a slot. No count is left, so no other slot is made of it.
        // The value was dropped or moved out, and a `ManuallyDrop` is not dropped again. It has the same address and layout. A slot
        // of a `sync::Pool` may be dropped on any thread.
        drop(unsafe { Pooled::from_raw(cell.as_ptr() as *mut ManuallyDrop<InCell<T, C>>) });
    }
}

impl<T, C: Counts> Counted<T, C> {
    /// Stores a value in the pool of this thread, and returns the first pointer to it.
    #[inline]
    fn new(value: T) -> Self {
        Self::of(Pooled::new(InCell { counts: C::one(), value }))
    }

    /// Like [`new`](Self::new), but returns an error if the allocation fails.
    #[inline]
    fn try_new(value: T) -> Result<Self, AllocError<T>> {
        match Pooled::try_new(InCell { counts: C::one(), value }) {
            Ok(slot) => Ok(Self::of(slot)),
            Err(error) => Err(error.map(|contents| contents.value)),
        }
    }

    /// Like [`new`](Self::new), but in a pool of your own.
    #[inline]
    fn new_in(value: T, pool: &Pool) -> Self {
        Self::of(pool.insert(InCell { counts: C::one(), value }))
    }

    #[inline]
    fn of(slot: Pooled<InCell<T, C>>) -> Self {
        // SAFETY: `into_raw` returns the pointer of a slot, which is not null.
        let cell = unsafe { NonNull::new_unchecked(slot.into_raw()) };
        Self { cell, of: PhantomData }
    }

    /// Moves the value out if this is the only strong pointer, or returns the pointer. Weak pointers do not count.
    #[inline]
    fn try_unwrap(this: Self) -> Result<T, Self> {
        if !this.counts().take_only() {
            return Err(this);
        }
        let this = ManuallyDrop::new(this);
        // SAFETY: the cell is occupied, because the strong pointers own a weak count.
        let value = unsafe { value(this.cell) };
        // SAFETY: `take_only` removed the only strong pointer, so nothing else uses the value, and it is moved out once.
        let value = unsafe { value.read() };
        // SAFETY: the strong pointers owned a weak count, and there are none any more.
        unsafe { remove_weak(this.cell) };
        Ok(value)
    }
}

impl<T: Clone, C: Counts> Counted<T, C> {
    /// Returns a mutable reference to the value, which it first clones if there are other strong pointers. If there are only weak
    /// ones, it moves the value to a new cell, and they lose it.
    #[inline]
    fn make_mut(this: &mut Self) -> &mut T {
        if !this.counts().is_unique() {
            Self::make_unique(this);
        }
        // SAFETY: the value has no other strong pointer, and no weak one that could be upgraded.
        unsafe { &mut (*this.cell.as_ptr()).value }
    }

    /// Makes this the only pointer to its value.
    #[cold]
    #[inline(never)]
    fn make_unique(this: &mut Self) {
        if !this.counts().take_only() {
            // The clone may panic, or drop other pointers to the value. `this` is not changed before it returns.
            let slot = Pooled::new_with(|| InCell { counts: C::one(), value: (**this).clone() });
            *this = Self::of(slot);
            return;
        }
        if this.counts().weak() == 1 {
            this.counts().restore_only();
            return;
        }
        // Only weak pointers are left, and no one can upgrade them. If getting a cell unwinds, the guard returns the pointer.
        struct Restore<'a, C: Counts>(&'a C);
        impl<C: Counts> Drop for Restore<'_, C> {
            fn drop(&mut self) {
                self.0.restore_only();
            }
        }
        let guard = Restore(this.counts());
        let value = &raw const **this;
        // `insert_with` takes the cell before it calls the closure.
        let slot = Pooled::new_with(|| {
            // SAFETY: `take_only` removed the only strong pointer, so nothing else uses the value. It is moved out once: `this` is
            // overwritten below without a drop, and the guard is forgotten.
            let value = unsafe { value.read() };
            InCell { counts: C::one(), value }
        });
        mem::forget(guard);
        let old = this.cell;
        mem::forget(mem::replace(this, Self::of(slot)));
        // SAFETY: the strong pointers owned a weak count, and there are none any more.
        unsafe { remove_weak(old) };
    }

    /// Moves the value out if this is the only strong pointer, and clones it otherwise.
    #[inline]
    fn unwrap_or_clone(this: Self) -> T {
        Self::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }
}

impl<T: ?Sized, C: Counts> Counted<T, C> {
    #[inline]
    fn counts(&self) -> &C {
        // SAFETY: the cell is occupied, because this pointer is counted.
        unsafe { counts(self.cell) }
    }

    /// Returns a mutable reference to the value if there is no other pointer to it, strong or weak.
    #[inline]
    fn get_mut(this: &mut Self) -> Option<&mut T> {
        if !this.counts().is_unique() {
            return None;
        }
        // SAFETY: there is no other pointer, so none can be made while `this` is borrowed.
        Some(unsafe { &mut (*this.cell.as_ptr()).value })
    }

    /// Creates a weak pointer to the value.
    #[inline]
    fn downgrade(this: &Self) -> Weak<T, C> {
        this.counts().add_weak();
        Weak { cell: this.cell }
    }

    /// Returns the number of strong pointers to the value.
    #[inline]
    fn strong_count(this: &Self) -> usize {
        this.counts().strong() as usize
    }

    /// Returns the number of weak pointers to the value.
    #[inline]
    fn weak_count(this: &Self) -> usize {
        this.counts().weak() as usize - 1
    }

    /// Returns whether two pointers are to the same value.
    #[inline]
    fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.cell.as_ptr(), other.cell.as_ptr())
    }

    /// Returns a pointer to the value.
    #[inline]
    fn as_ptr(this: &Self) -> *const T {
        // SAFETY: the cell is occupied, because this pointer is counted.
        unsafe { value(this.cell) }
    }

    /// Returns the layout of the counts and the value.
    #[cfg(feature = "weigh")]
    fn contents(this: &Self) -> Layout {
        // The value exists, so the layout is valid.
        Layout::new::<C>()
            .extend(Layout::for_value::<T>(this))
            .map_or(Layout::new::<C>(), |(layout, _)| layout.pad_to_align())
    }

    /// Converts the pointer to one to its value, which [`from_raw`](Self::from_raw) converts back. Until then it stays counted.
    #[inline]
    fn into_raw(this: Self) -> *const T {
        Self::as_ptr(&ManuallyDrop::new(this))
    }

    /// Converts a pointer from [`into_raw`](Self::into_raw) back.
    ///
    /// # Safety
    ///
    /// - `value` came from `into_raw` of a pointer with this `C`, and was not converted back since. If `C` is
    ///   [`OneThreadCounts`], this is the same thread.
    /// - `T` is the type of that pointer, or one of the same layout and validity.
    #[inline]
    unsafe fn from_raw(value: *const T) -> Self {
        // SAFETY: the caller guarantees that the pointer is counted, so the value is live.
        let align = align_of_val(unsafe { &*value });
        // As `repr(C)` lays out an `InCell`.
        let offset = size_of::<C>().next_multiple_of(align);
        let cell = value.wrapping_byte_sub(offset) as *mut InCell<T, C>;
        // SAFETY: `into_raw` returned the address of the value in a cell, which is `offset` bytes after the start of the cell. The
        // pointer is derived from that to the cell, and counted.
        Self { cell: unsafe { NonNull::new_unchecked(cell) }, of: PhantomData }
    }

    /// Unsizes the value: to a `dyn Trait`, or from an array to a slice. See [`Slot::coerce`](super::Slot::coerce).
    #[inline]
    fn coerce<U: ?Sized, F>(self, unsize: F) -> Counted<U, C>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        // SAFETY: the value is live while `self` is, and a view neither reads nor writes it. The closure is generic over `'brand`,
        // so it must accept every brand.
        let view = unsafe { SlotView::at(Self::as_ptr(&self)) };
        let meta = Meta::new(unsize(view).as_ptr(), false);
        let this = ManuallyDrop::new(self);
        // An `InCell<U, C>` has the metadata of its last field.
        let cell = meta.decode(this.cell.as_ptr().cast()).cast_mut() as *mut InCell<U, C>;
        // SAFETY: `decode` keeps the address that it is given, which is that of `this.cell`, a `NonNull`. The closure accepts every
        // brand, so the view that it returned is that of this value, coerced: the value is a live `U`, in the same cell. The count
        // of `this`, which is not dropped, is that of the result.
        Counted { cell: unsafe { NonNull::new_unchecked(cell) }, of: PhantomData }
    }
}

impl<T: ?Sized, C: Counts> Weak<T, C> {
    /// Returns a strong pointer, if there still is one.
    #[inline]
    fn upgrade(&self) -> Option<Counted<T, C>> {
        self.counts()?.upgrade().then(|| Counted { cell: self.cell, of: PhantomData })
    }

    /// Returns the counts, if there is a cell.
    #[inline]
    fn counts(&self) -> Option<&C> {
        // SAFETY: the cell is occupied, because this pointer is counted.
        (self.cell.addr().get() != NO_CELL).then(|| unsafe { counts(self.cell) })
    }
}

impl<T: ?Sized, C: Counts> Deref for Counted<T, C> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: by invariant 2 the value is live. It is borrowed mutably only through a pointer that is the only one.
        unsafe { &(*self.cell.as_ptr()).value }
    }
}

impl<T: ?Sized, C: Counts> Clone for Counted<T, C> {
    #[inline]
    fn clone(&self) -> Self {
        self.counts().add_strong();
        Self { cell: self.cell, of: PhantomData }
    }
}

impl<T: ?Sized, C: Counts> Clone for Weak<T, C> {
    #[inline]
    fn clone(&self) -> Self {
        if let Some(counts) = self.counts() {
            counts.add_weak();
        }
        Self { cell: self.cell }
    }
}

impl<T: ?Sized, C: Counts> Drop for Counted<T, C> {
    // Always: it is the drop of `PoolRc` and `PoolArc`, which the compiler otherwise calls. A history of rpds takes 0.73 of the time
    // (`dwell-bench-real rpds`).
    #[inline(always)]
    fn drop(&mut self) {
        if self.counts().remove_strong() {
            /// Removes the weak count of the strong pointers, also if the value's drop panics.
            struct RemoveWeak<T: ?Sized, C: Counts>(NonNull<InCell<T, C>>);
            impl<T: ?Sized, C: Counts> Drop for RemoveWeak<T, C> {
                #[inline]
                fn drop(&mut self) {
                    // SAFETY: there is no strong pointer left, so this owns the weak count that they owned together.
                    unsafe { remove_weak(self.0) };
                }
            }
            let _guard = RemoveWeak(self.cell);
            // SAFETY: the cell is occupied, because the guard owns a weak count.
            let value = unsafe { value(self.cell) };
            // SAFETY: by invariant 2 the value is live. This was the last strong pointer, so it is dropped once, and weak pointers
            // cannot be upgraded.
            unsafe { value.drop_in_place() };
        }
    }
}

impl<T: ?Sized, C: Counts> Drop for Weak<T, C> {
    #[inline]
    fn drop(&mut self) {
        if self.counts().is_some() {
            // SAFETY: this pointer owns a weak count, and does not use the cell again.
            unsafe { remove_weak(self.cell) };
        }
    }
}

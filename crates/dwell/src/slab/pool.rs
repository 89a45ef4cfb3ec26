//! Places for values of many types: a slab a size class.

use super::classes::{CLASSES, Class, LINE};
use super::core::Core;
use super::free::Place;
use super::geometry::{Geometry, LEAST, SMALL};
use super::home::{Home, Own, sealed};
use super::key::Key;
use super::{Slot, layout_of};
use crate::alloc::{AllocError, try_alloc, try_box};
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std_alloc::alloc::{dealloc, handle_alloc_error};
use std_alloc::boxed::Box;

/// A pool whose slots stay on their thread.
///
/// ```
/// use dwell::slab::{Pool, PoolSlot};
/// use std::fmt::Display;
///
/// let pool = Pool::new();
/// let values: Vec<PoolSlot<dyn Display>> =
///     vec![pool.insert(7).coerce(|view| view as _), pool.insert("seven").coerce(|view| view as _)];
/// drop(pool);
/// assert_eq!(format!("{} {}", values[0], values[1]), "7 seven");
/// ```
///
/// See [`SizeClasses`] for what it does, and [`sync::Pool`](super::sync::Pool) for one whose slots go to other threads.
pub type Pool = SizeClasses<Own>;

/// The owner of a value in a [`Pool`].
pub type PoolSlot<T> = Slot<T, Classed<Own>>;

/// Places for values of any types: small ones in slabs by size, others in blocks of their own.
///
/// What a [`Slab`](super::Slab) is for one type, for all. Sizes are rounded up, by a quarter at most, so that types share
/// slabs. A value of more than 16 KiB, or aligned to more than 64, is allocated as by a `Box`. With [`Slot::coerce`] the
/// slots of many types become one type. A pool may go before its slots, which have no keys.
pub struct SizeClasses<H: Pooling> {
    // # Invariants
    //
    // 1. Each slab is in service, this thread's, and has the geometry of its class.
    slabs: [Cell<Option<NonNull<()>>>; CLASSES],
    home: PhantomData<H>,
}

/// A [`Home`] that a pool can be made of. Implemented here only: for [`Own`] and [`sync::Anywhere`](super::sync::Anywhere).
pub trait Pooling: Home + engine::Pooling {}

impl<H: Home + engine::Pooling> Pooling for H {}

pub(super) mod engine {
    use super::{AllocError, Layout, NonNull, Place};

    /// A slab without its type.
    ///
    /// # Safety
    ///
    /// Places that `take` returns are vacant, for values of this layout, and given back to this `Home`.
    pub unsafe trait Pooling {
        fn make() -> Result<NonNull<()>, AllocError<()>>;

        /// A place, or the layout of a block that there was not.
        ///
        /// # Safety
        ///
        /// `slab` came from `make`, is not retired, and is always used with one layout and on one thread.
        unsafe fn take(slab: NonNull<()>, layout: Layout) -> Result<Place, Layout>;

        /// # Safety
        ///
        /// As for `take`, which is not called again.
        unsafe fn retire(slab: NonNull<()>, layout: Layout);

        /// Gives a place back to a block of this size. The layout is asked for only if a slab is freed, or far away.
        ///
        /// # Safety
        ///
        /// It came from `take` with this layout, is vacant, and not used again by the caller.
        unsafe fn put(place: Place, block: usize, layout: impl FnOnce() -> Layout);

        /// Calls `each`, which is no user's code, with the layout of each block, and the bytes in it that hold nothing.
        ///
        /// # Safety
        ///
        /// As for `take`.
        unsafe fn each_block(slab: NonNull<()>, layout: Layout, each: &mut dyn FnMut(Layout, usize));
    }
}

// SAFETY: `take` returns places of the core, which is what `Own` gives them back to.
unsafe impl engine::Pooling for Own {
    fn make() -> Result<NonNull<()>, AllocError<()>> {
        Ok(NonNull::from(Box::leak(try_box(Core::new(Key::LIMIT)).map_err(|error| error.map(drop))?)).cast())
    }

    #[inline(always)]
    unsafe fn take(slab: NonNull<()>, layout: Layout) -> Result<Place, Layout> {
        // SAFETY: by the caller it is the core that `make` made, and there.
        let core = unsafe { slab.cast::<Core>().as_ref() };
        match core.vacant.pop() {
            Some(place) => Ok(place),
            None => core.refill(Geometry::of(layout), slab.as_ptr()).map_err(layout_of),
        }
    }

    unsafe fn retire(slab: NonNull<()>, layout: Layout) {
        let slab = slab.cast::<Core>();
        // SAFETY: by the caller it is the core that `make` made, and there.
        let core = unsafe { slab.as_ref() };
        if core.occupied() == 0 {
            // SAFETY: no place is occupied, so that no slot is left, and the slab is not used again.
            unsafe { Core::free(slab, Geometry::of(layout)) };
        } else {
            core.retire();
        }
    }

    #[inline(always)]
    unsafe fn put(place: Place, block: usize, layout: impl FnOnce() -> Layout) {
        // SAFETY: by the caller.
        unsafe { Self::give_back_in(place, block, || Geometry::of(layout())) };
    }

    unsafe fn each_block(slab: NonNull<()>, layout: Layout, each: &mut dyn FnMut(Layout, usize)) {
        each(Layout::new::<Core>(), 0);
        // SAFETY: by the caller it is the core that `make` made, and there.
        unsafe { slab.cast::<Core>().as_ref() }.each_block(Geometry::of(layout), each);
    }
}

#[cfg(feature = "std")]
mod anywhere {
    use super::super::sync::{Anywhere, Shared};
    use super::{AllocError, Geometry, Layout, NonNull, Place, engine, layout_of};

    // SAFETY: `take` returns places of the slab, which is what `Anywhere` gives them back to.
    unsafe impl engine::Pooling for Anywhere {
        fn make() -> Result<NonNull<()>, AllocError<()>> {
            Shared::try_new().map(NonNull::cast)
        }

        #[inline(always)]
        unsafe fn take(slab: NonNull<()>, layout: Layout) -> Result<Place, Layout> {
            // SAFETY: by the caller, who has it from `make`.
            unsafe { Shared::take(slab.cast(), || Geometry::of(layout)) }.map_err(layout_of)
        }

        unsafe fn retire(slab: NonNull<()>, layout: Layout) {
            // SAFETY: by the caller, who has it from `make`.
            unsafe { Shared::retire(slab.cast(), Geometry::of(layout)) };
        }

        #[inline(always)]
        unsafe fn put(place: Place, block: usize, layout: impl FnOnce() -> Layout) {
            // SAFETY: by the caller.
            unsafe { Self::give_back_in(place, block, || Geometry::of(layout())) };
        }

        unsafe fn each_block(slab: NonNull<()>, layout: Layout, each: &mut dyn FnMut(Layout, usize)) {
            // SAFETY: by the caller, who has it from `make`.
            unsafe { slab.cast::<Shared>().as_ref() }.each_block(Geometry::of(layout), each);
        }
    }
}

/// By its value's size class, and then as `H` says: the slots of a [`Pool`].
pub struct Classed<H: Home> {
    home: PhantomData<H>,
}

impl<H: Pooling> Home for Classed<H> {}

// SAFETY: the place goes to one home, or to the allocator.
unsafe impl<H: Pooling> sealed::Home for Classed<H> {
    #[inline(always)]
    unsafe fn give_back(place: Place, layout: Layout) {
        // The layout of a `dyn Trait` is known at run time only, and which class it has is work. It is left undone for the
        // small ones, all of which have blocks of one size, as have their classes.
        if layout.size() <= SMALL && layout.align() <= LINE {
            // SAFETY: by the caller the place came from the pool for values of this layout: from the slab of this class.
            unsafe { H::put(place, LEAST, || small(layout)) };
        } else {
            // SAFETY: by the caller.
            unsafe { give_back_large::<H>(place, layout) };
        }
    }

    fn block_alone(layout: Layout) -> Option<Layout> {
        Class::of(layout).is_none().then(|| alone(layout))
    }
}

/// What values of this layout, which have a class, are kept as.
fn small(layout: Layout) -> Layout {
    Class::of(layout).map_or(layout, |class| class.layout)
}

/// # Safety
///
/// As for `give_back` of `Classed<H>`.
#[inline(never)]
unsafe fn give_back_large<H: Pooling>(place: Place, layout: Layout) {
    match Class::of(layout) {
        Some(class) => {
            // SAFETY: by the caller the place came from the pool for values of this layout: from the slab of this class.
            unsafe { H::put(place, Geometry::block(class.layout), || class.layout) };
        }
        // SAFETY: from the allocator, with this layout.
        None => unsafe { dealloc(place.cast().as_ptr(), alone(layout)) },
    }
}

// SAFETY: blocks of the allocator's are freed on any thread, and the others as `H` does.
unsafe impl<H: Pooling + sealed::Portable> sealed::Portable for Classed<H> {}

impl<H: Pooling> SizeClasses<H> {
    /// A pool without memory.
    pub const fn new() -> Self {
        Self { slabs: [const { Cell::new(None) }; CLASSES], home: PhantomData }
    }

    /// A place for values of this layout.
    #[inline(always)]
    fn take(&self, layout: Layout) -> Result<Place, Layout> {
        let Some(class) = Class::of(layout) else {
            return large(layout).ok_or(layout);
        };
        let slab = match self.slabs[class.index].get() {
            Some(slab) => slab,
            None => self.open(class)?,
        };
        // SAFETY: invariant 1.
        unsafe { H::take(slab, class.layout) }
    }

    #[cold]
    #[inline(never)]
    fn open(&self, class: Class) -> Result<NonNull<()>, Layout> {
        let slab = H::make().map_err(|error| error.layout())?;
        // If the global allocator came back here and opened it too, that one is not lost.
        if let Some(other) = self.slabs[class.index].replace(Some(slab)) {
            // SAFETY: invariant 1; it is not here any more.
            unsafe { H::retire(other, class.layout) };
        }
        Ok(slab)
    }

    /// Calls `each`, which is no user's code, with the layout of each block of the slabs, and the bytes in it that hold
    /// nothing.
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        for (index, slab) in self.slabs.iter().enumerate() {
            if let Some(slab) = slab.get() {
                // SAFETY: invariant 1.
                unsafe { H::each_block(slab, Class::numbered(index).layout, each) };
            }
        }
    }

    /// Puts a value in a place.
    ///
    /// ```
    /// let pool = dwell::slab::Pool::new();
    /// let (number, text) = (pool.insert(7), pool.insert(String::from("seven")));
    /// assert_eq!((*number, &**text), (7, "seven"));
    /// assert_eq!(size_of_val(&text), 8);
    /// ```
    #[inline(always)]
    pub fn insert<T>(&self, value: T) -> Slot<T, Classed<H>> {
        match self.take(Layout::new::<T>()) {
            // SAFETY: the place is for this layout, vacant, and this pool's.
            Ok(place) => unsafe { Slot::fill(place, value) },
            Err(layout) => handle_alloc_error(layout),
        }
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory; the value comes back in the error.
    #[inline(always)]
    pub fn try_insert<T>(&self, value: T) -> Result<Slot<T, Classed<H>>, AllocError<T>> {
        match self.take(Layout::new::<T>()) {
            // SAFETY: as in `insert`.
            Ok(place) => Ok(unsafe { Slot::fill(place, value) }),
            Err(layout) => Err(AllocError::new(value, layout)),
        }
    }

    /// Puts what `make` returns in a place that was found before. It is given back if `make` panics.
    ///
    /// ```
    /// let pool = dwell::slab::Pool::new();
    /// let page = pool.insert_with(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline(always)]
    pub fn insert_with<T>(&self, make: impl FnOnce() -> T) -> Slot<T, Classed<H>> {
        match self.take(Layout::new::<T>()) {
            // SAFETY: as in `insert`.
            Ok(place) => unsafe { Slot::fill_with(place, make) },
            Err(layout) => handle_alloc_error(layout),
        }
    }
}

/// The block of a value that is in no class. An allocator has none of no bytes.
fn alone(layout: Layout) -> Layout {
    if layout.size() == 0 { Layout::from_size_align(1, layout.align()).unwrap_or(layout) } else { layout }
}

#[cold]
fn large(layout: Layout) -> Option<Place> {
    try_alloc(alone(layout)).map(NonNull::cast)
}

impl<H: Pooling> Drop for SizeClasses<H> {
    fn drop(&mut self) {
        for (index, slab) in self.slabs.iter().enumerate() {
            if let Some(slab) = slab.take() {
                // SAFETY: invariant 1.
                unsafe { H::retire(slab, Class::numbered(index).layout) };
            }
        }
    }
}

impl<H: Pooling> Default for SizeClasses<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Pooling> fmt::Debug for SizeClasses<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

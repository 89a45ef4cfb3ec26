//! Places for values of many types: a slab a size class.

use super::alone;
use super::classes::{CLASSES, Class};
use super::core::Core;
use super::free::Place;
use super::geometry::Geometry;
use super::home::{Home, Own, sealed};
use super::key::Key;
use super::words::{Pair, Words};
use super::{Slot, layout_of};
use crate::alloc::{AllocError, try_box};
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std_alloc::alloc::handle_alloc_error;
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
/// slabs. A value of more than 14 KiB, or aligned to more than 128, has a block of the allocator's, aligned to 64 KiB. With
/// [`Slot::coerce`] the slots of many types become one type. A pool may go before its slots, which have no keys.
pub struct SizeClasses<H: Pooling> {
    // # Invariants
    //
    // 1. Each slab is `H::NONE`, or came from `H::make` for the layout of its class, on this thread, and is not retired.
    slabs: [Cell<NonNull<()>>; CLASSES],
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
    /// Places that `pop` and `refill` return are vacant, for values of the slab's layout, and given back to this `Home`.
    pub unsafe trait Pooling {
        /// No slab: `pop` finds nothing in it. The owner of a value in a block of its own.
        const NONE: NonNull<()>;

        /// For values of this layout.
        fn make(layout: Layout) -> Result<NonNull<()>, AllocError<()>>;

        /// A place, if there is one at hand.
        ///
        /// # Safety
        ///
        /// `slab` is `NONE`, or came from `make` on this thread and is not retired.
        unsafe fn pop(slab: NonNull<()>) -> Option<Place>;

        /// The place that `pop` did not find, or the layout of a block that there was not.
        ///
        /// # Safety
        ///
        /// As for `pop`, and it is not `NONE`.
        unsafe fn refill(slab: NonNull<()>) -> Result<Place, Layout>;

        /// # Safety
        ///
        /// As for `refill`; neither is called again.
        unsafe fn retire(slab: NonNull<()>);

        /// Gives a place back to its owner.
        ///
        /// # Safety
        ///
        /// It came from `pop` or `refill`, or from `alone::make` for `NONE`; it is vacant, and not used again by the caller.
        unsafe fn put(owner: NonNull<()>, place: Place);

        /// Calls `each`, which is no user's code, with the layout of each block, and the bytes in it that hold nothing.
        ///
        /// # Safety
        ///
        /// As for `refill`.
        unsafe fn each_block(slab: NonNull<()>, each: &mut dyn FnMut(Layout, usize));
    }
}

// SAFETY: places are the core's, which is what `Own` gives them back to.
unsafe impl engine::Pooling for Own {
    const NONE: NonNull<()> = Core::NONE.cast();

    fn make(layout: Layout) -> Result<NonNull<()>, AllocError<()>> {
        let core = try_box(Core::new(Geometry::of(layout), Key::LIMIT)).map_err(|error| error.map(drop))?;
        Ok(NonNull::from(Box::leak(core)).cast())
    }

    #[inline(always)]
    unsafe fn pop(slab: NonNull<()>) -> Option<Place> {
        // SAFETY: by the caller it is a core, and there.
        unsafe { slab.cast::<Core>().as_ref() }.vacant.pop()
    }

    unsafe fn refill(slab: NonNull<()>) -> Result<Place, Layout> {
        // SAFETY: by the caller it is the core that `make` made, and there.
        unsafe { slab.cast::<Core>().as_ref() }.refill(slab.as_ptr()).map_err(layout_of)
    }

    unsafe fn retire(slab: NonNull<()>) {
        let slab = slab.cast::<Core>();
        // SAFETY: by the caller it is the core that `make` made, and there.
        let core = unsafe { slab.as_ref() };
        if core.occupied() == 0 {
            // SAFETY: no place is occupied, so that no slot is left, and the slab is not used again.
            unsafe { Core::free(slab) };
        } else {
            core.retire();
        }
    }

    #[inline(always)]
    unsafe fn put(owner: NonNull<()>, place: Place) {
        // SAFETY: by the caller.
        unsafe { Self::put(owner.cast(), place) };
    }

    unsafe fn each_block(slab: NonNull<()>, each: &mut dyn FnMut(Layout, usize)) {
        each(Layout::new::<Core>(), 0);
        // SAFETY: by the caller it is the core that `make` made, and there.
        unsafe { slab.cast::<Core>().as_ref() }.each_block(each);
    }
}

#[cfg(feature = "std")]
mod anywhere {
    use super::super::sync::{Anywhere, Near, Shared};
    use super::{AllocError, Geometry, Layout, NonNull, Place, engine, layout_of};

    // SAFETY: places are the slab's, which is what `Anywhere` gives them back to.
    unsafe impl engine::Pooling for Anywhere {
        const NONE: NonNull<()> = Near::NONE.cast();

        fn make(layout: Layout) -> Result<NonNull<()>, AllocError<()>> {
            Shared::try_new(Geometry::of(layout)).map(NonNull::cast)
        }

        #[inline(always)]
        unsafe fn pop(slab: NonNull<()>) -> Option<Place> {
            // SAFETY: by the caller it is what a slab begins with, and there.
            unsafe { slab.cast::<Near>().as_ref() }.pop()
        }

        unsafe fn refill(slab: NonNull<()>) -> Result<Place, Layout> {
            // SAFETY: by the caller, who has it from `make`.
            unsafe { slab.cast::<Shared>().as_ref() }.refill().map_err(layout_of)
        }

        unsafe fn retire(slab: NonNull<()>) {
            // SAFETY: by the caller, who has it from `make`.
            unsafe { Shared::retire(slab.cast()) };
        }

        #[inline(always)]
        unsafe fn put(owner: NonNull<()>, place: Place) {
            // SAFETY: by the caller.
            unsafe { Self::put(owner.cast(), place) };
        }

        unsafe fn each_block(slab: NonNull<()>, each: &mut dyn FnMut(Layout, usize)) {
            // SAFETY: by the caller, who has it from `make`.
            unsafe { slab.cast::<Shared>().as_ref() }.each_block(each);
        }
    }
}

/// By its own address, masked, whatever the value: the slots of a [`Pool`].
pub struct Classed<H: Home> {
    home: PhantomData<H>,
}

impl<H: Pooling> Home for Classed<H> {}

// SAFETY: the place goes to one home, or to the allocator.
unsafe impl<H: Pooling> sealed::Home for Classed<H> {
    type Told = ();

    #[inline(always)]
    fn told(_: Layout) {}

    #[inline(always)]
    unsafe fn give_back(place: Place, (): ()) {
        // SAFETY: by the caller the place came from a pool, all of whose places are such.
        let owner = unsafe { alone::owner(place) };
        // SAFETY: by the caller.
        unsafe { H::put(owner, place) };
    }

    fn block_alone(value: Layout) -> Option<Layout> {
        if Class::of(value).is_some() { None } else { alone::layout(value).map(|(block, _)| block) }
    }
}

// SAFETY: blocks of the allocator's are freed on any thread, and the others as `H` does.
unsafe impl<H: Pooling + sealed::Portable> sealed::Portable for Classed<H> {}

impl<H: Pooling> SizeClasses<H> {
    /// A pool without memory.
    pub const fn new() -> Self {
        Self { slabs: [const { Cell::new(H::NONE) }; CLASSES], home: PhantomData }
    }

    /// A place for values of this layout, if there is one at hand.
    #[inline(always)]
    pub(crate) fn pop<T>(&self) -> Option<Vacancy<T, H>> {
        let class = const { Class::of(Layout::new::<T>()) }?;
        // SAFETY: invariant 1.
        let place = unsafe { H::pop(self.slabs[class.index].get()) }?;
        Some(Vacancy { place, of: PhantomData })
    }

    /// A place for values of this layout, in a new block if there is none.
    #[cold]
    #[inline(never)]
    fn place(&self, layout: Layout) -> Result<Place, Layout> {
        let Some(class) = Class::of(layout) else {
            return alone::make(layout, H::NONE).ok_or(layout);
        };
        let cell = &self.slabs[class.index];
        if cell.get() == H::NONE {
            let slab = H::make(class.layout).map_err(|error| error.layout())?;
            // If the global allocator came back here and made one too, that one is not lost.
            Self::let_go(cell.replace(slab));
        }
        // SAFETY: invariant 1, and it is a slab.
        unsafe { H::refill(cell.get()) }
    }

    fn let_go(slab: NonNull<()>) {
        if slab != H::NONE {
            // SAFETY: it is a slab by invariant 1, and in no cell any more.
            unsafe { H::retire(slab) };
        }
    }

    /// Lets go of the slabs.
    pub(crate) fn clear(&self) {
        for slab in &self.slabs {
            Self::let_go(slab.replace(H::NONE));
        }
    }

    /// Calls `each`, which is no user's code, with the layout of each block of the slabs, and the bytes in it that hold
    /// nothing.
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        for slab in self.slabs.iter().map(Cell::get).filter(|slab| *slab != H::NONE) {
            // SAFETY: invariant 1, and it is a slab.
            unsafe { H::each_block(slab, each) };
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
    ///
    /// # Panics
    ///
    /// When the allocator has no memory and that is a panic: without std, or with a hook that nightly has. (Otherwise the
    /// program is aborted.) A value of 5 to 16 words, or of fewer aligned to more than a word, is then leaked, and not dropped.
    /// [`try_insert`](Self::try_insert) gives the value back.
    #[inline(always)]
    pub fn insert<T>(&self, value: T) -> Slot<T, Classed<H>> {
        let vacancy = match self.pop() {
            Some(vacancy) => vacancy,
            None if const { Words::fit::<T>() } => {
                let Words(first, second) = Words::new(value);
                return self.insert_in_new(first, second);
            }
            None if const { Words::nearly_fit::<T>() } => {
                // Leaked if this panics: what is dropped then would be kept in memory for it.
                let value = ManuallyDrop::new(value);
                return self.refill().fill(ManuallyDrop::into_inner(value));
            }
            None => self.refill(),
        };
        vacancy.fill(value)
    }

    #[cold]
    #[inline(never)]
    fn insert_in_new<T>(&self, first: Pair, second: Pair) -> Slot<T, Classed<H>> {
        // SAFETY: made of a `T` by `insert`.
        let value = unsafe { Words(first, second).into() };
        self.refill().fill(value)
    }

    /// The place that `pop` did not find.
    pub(crate) fn refill<T>(&self) -> Vacancy<T, H> {
        self.try_refill().unwrap_or_else(|layout| handle_alloc_error(layout))
    }

    fn try_refill<T>(&self) -> Result<Vacancy<T, H>, Layout> {
        let place = self.place(Layout::new::<T>())?;
        Ok(Vacancy { place, of: PhantomData })
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory; the value comes back in the error.
    #[inline(always)]
    pub fn try_insert<T>(&self, value: T) -> Result<Slot<T, Classed<H>>, AllocError<T>> {
        let vacancy = match self.pop() {
            Some(vacancy) => vacancy,
            None => match self.try_refill() {
                Ok(vacancy) => vacancy,
                Err(layout) => return Err(AllocError::new(value, layout)),
            },
        };
        Ok(vacancy.fill(value))
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
        let Vacancy { place, .. } = self.pop::<T>().unwrap_or_else(|| self.refill());
        // SAFETY: invariant 1 of `Vacancy`.
        unsafe { Slot::fill_with(place, make) }
    }
}

/// A vacant place of a pool.
pub(crate) struct Vacancy<T, H> {
    // # Invariants
    //
    // 1. The place is vacant, nobody else's, for values of the layout of a `T`, and to be given back to `Classed<H>`.
    place: Place,
    of: PhantomData<(T, H)>,
}

impl<T, H: Pooling> Vacancy<T, H> {
    #[inline(always)]
    pub(crate) fn fill(self, value: T) -> Slot<T, Classed<H>> {
        if const { Words::are::<T>() } {
            let place = self.place.cast::<T>();
            // SAFETY: by invariant 1 it is a place for a `T`, which is of whole words.
            unsafe { Words::new(value).write(place.as_ptr()) };
            // SAFETY: invariant 1, and there is a value.
            return unsafe { Slot::from_raw(place) };
        }
        // SAFETY: invariant 1.
        unsafe { Slot::fill(self.place, value) }
    }
}

impl<H: Pooling> Drop for SizeClasses<H> {
    fn drop(&mut self) {
        self.clear();
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

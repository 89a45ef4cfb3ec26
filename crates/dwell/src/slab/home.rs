//! Where a slot's place goes when it is dropped.

use super::blocks::owner;
use super::core::Core;
use super::free::Place;
use super::geometry::Geometry;
use core::alloc::Layout;
use core::ptr::NonNull;

/// How a [`Slot`](super::Slot) finds its slab. Implemented here only.
pub trait Home: sealed::Home {}

/// A [`Home`] whose slots have keys. Implemented here only.
pub trait Keyed: Home {}

pub(super) mod sealed {
    use super::{Layout, Place};

    /// # Safety
    ///
    /// `give_back` hands the place out again at most once.
    pub unsafe trait Home: 'static {
        /// What `give_back` must know of a value besides where it was. Nothing, at best: it is kept while the value is dropped.
        type Told: Copy;

        /// For a value of this layout.
        fn told(layout: Layout) -> Self::Told;

        /// Takes a place back.
        ///
        /// # Safety
        ///
        /// The place came from here, for values of the layout that `told` was made of, it is vacant, and not used again by
        /// the caller.
        unsafe fn give_back(place: Place, told: Self::Told);

        /// The block of the allocator's that a value of this layout has for itself, if it has one.
        fn block_alone(_layout: Layout) -> Option<Layout> {
            None
        }
    }

    /// # Safety
    ///
    /// `give_back` may be called on any thread, and is the only thing that its slots do with their slab.
    pub unsafe trait Portable: super::Home {}
}

/// By its own address, masked: the slots of a [`Slab`](super::Slab) and of a [`Bounded`](super::Bounded).
pub enum Own {}

impl Home for Own {}
impl Keyed for Own {}

// SAFETY: the place is put on one stack.
unsafe impl sealed::Home for Own {
    /// The size of its block.
    type Told = usize;

    #[inline(always)]
    fn told(layout: Layout) -> usize {
        Geometry::block(layout)
    }

    #[inline(always)]
    unsafe fn give_back(place: Place, block: usize) {
        // SAFETY: by the caller it is a place of a slab whose blocks have this size.
        let core = unsafe { owner(place, block) }.cast();
        // SAFETY: the owner of such a block is a `Core`, and the place is vacant and the caller's.
        unsafe { Self::put(core, place) };
    }
}

impl Own {
    /// Gives a place back to its core.
    ///
    /// # Safety
    ///
    /// As for `give_back`.
    #[inline(always)]
    pub(super) unsafe fn put(core: NonNull<Core>, place: Place) {
        // SAFETY: a core is there at least until its last place is given back.
        let here = unsafe { core.as_ref() };
        // SAFETY: the place is vacant and the caller's.
        if unsafe { here.vacant.push(place) }.is_err() {
            // SAFETY: by the caller.
            unsafe { Self::put_aside(core, place) };
        }
    }

    /// The place of a slab that is gone, or of none.
    #[cold]
    #[inline(never)]
    unsafe fn put_aside(core: NonNull<Core>, place: Place) {
        if core == Core::NONE {
            // SAFETY: by the caller. What has no slab is in a block of its own.
            return unsafe { super::alone::free(place) };
        }
        // SAFETY: as in `put`.
        let here = unsafe { core.as_ref() };
        // SAFETY: the place is vacant and the caller's.
        if unsafe { here.put_aside(place) } {
            // SAFETY: the slab is gone, and this was the last place that was occupied.
            unsafe { Core::free(core) };
        }
    }
}

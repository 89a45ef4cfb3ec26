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
        /// Takes a place back.
        ///
        /// # Safety
        ///
        /// The place came from here, for values of this layout, it is vacant, and not used again by the caller.
        unsafe fn give_back(place: Place, layout: Layout);

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
    #[inline(always)]
    unsafe fn give_back(place: Place, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { Self::give_back_in(place, Geometry::block(layout), || Geometry::of(layout)) };
    }
}

impl Own {
    /// [`give_back`](sealed::Home::give_back) to a block of this size. The whole geometry is needed to free a slab only.
    ///
    /// # Safety
    ///
    /// As for `give_back`, and the geometry is that of the place's slab.
    #[inline(always)]
    pub(super) unsafe fn give_back_in(place: Place, block: usize, geometry: impl FnOnce() -> Geometry) {
        // SAFETY: by the caller it is a place of a slab whose blocks have this size.
        let core = unsafe { owner(place, block) }.cast::<Core>().cast_mut();
        // SAFETY: the owner of such a block is a `Core` that is there at least until its last place is given back.
        let here = unsafe { &*core };
        // SAFETY: the place is vacant and the caller's.
        if unsafe { here.vacant.push(place) }.is_ok() {
            return;
        }
        // SAFETY: as above.
        let last = unsafe { here.put_aside(place) };
        if last {
            // SAFETY: not null, as it was just used.
            let core = unsafe { NonNull::new_unchecked(core) };
            // SAFETY: the slab is gone, and this was the last place that was occupied.
            unsafe { Core::free(core, geometry()) };
        }
    }
}

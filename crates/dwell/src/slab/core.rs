//! A slab without its type: the list of vacant places, and the memory that they are in.

use super::blocks::{Blocks, Refusal};
#[cfg(feature = "std")]
use super::free::Vacant;
use super::free::{List, Place};
use super::geometry::Geometry;
use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std_alloc::boxed::Box;

/// What a slab is, whoever owns it. Its address is what blocks know their owner by.
pub(super) struct Core {
    // # Invariants
    //
    // 1. All methods of one `Core` are called with the same geometry, and `owner` as its address.
    // 2. Every place on the list is in a chunk that is there. Those of `blocks` that are not on it are occupied.
    // 3. `blocks` is not borrowed while a user's code runs, other than the global allocator.
    pub(super) list: List,
    /// Nobody inserts any more, or only while a thread ends: chunks are freed as soon as all is vacant.
    pub(super) retired: Cell<bool>,
    // Not dropped, so that a `Core` in thread-local storage needs no destructor, and no test for one at each use.
    blocks: ManuallyDrop<RefCell<Blocks>>,
}

impl Core {
    /// For at most this many places.
    pub(super) const fn new(limit: usize) -> Self {
        let blocks = ManuallyDrop::new(RefCell::new(Blocks::new(limit)));
        Self { list: List::new(), retired: Cell::new(false), blocks }
    }

    /// Runs `f` on what is known of the memory, or refuses if the global allocator came back here while that changes.
    pub(super) fn blocks<R>(&self, f: impl FnOnce(&mut Blocks) -> R) -> Result<R, Refusal> {
        self.blocks.try_borrow_mut().map(|mut blocks| f(&mut blocks)).map_err(|_| Refusal::Alloc(Layout::new::<()>()))
    }

    /// The place that `List::pop` did not find.
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&self, geometry: Geometry, owner: *const ()) -> Result<Place, Refusal> {
        self.list.undo();
        self.supply(geometry, owner)
    }

    /// A place, when there is none on the list, or it is retired.
    pub(super) fn supply(&self, geometry: Geometry, owner: *const ()) -> Result<Place, Refusal> {
        if self.retired.get() {
            let place = match self.list.unlink() {
                Some(place) => place,
                None => self.carve(geometry, owner)?.0,
            };
            self.list.await_place();
            return Ok(place);
        }
        let (place, more) = self.carve(geometry, owner)?;
        self.list.set_count(self.list.count() + more.cast_signed());
        Ok(place)
    }

    /// Carves some places: one for the caller, the others are put on the list uncounted.
    fn carve(&self, geometry: Geometry, owner: *const ()) -> Result<(Place, usize), Refusal> {
        let carved = self.blocks(|blocks| blocks.carve(geometry, owner))??;
        // SAFETY: at least one place was carved; if it was the only one this is the end of its block.
        let second = unsafe { carved.first.byte_add(geometry.stride) };
        let more = carved.count - 1;
        // SAFETY: these places were never handed out before; the callers count them.
        unsafe { self.list.link_all(second, more, geometry.stride) };
        Ok((carved.first, more))
    }

    /// Places that are occupied, of a slab in service.
    pub(super) fn occupied(&self) -> usize {
        if self.retired.get() {
            return self.list.count().min(0).unsigned_abs();
        }
        let carved = self.blocks(|blocks| blocks.carved).unwrap_or(0);
        carved.saturating_sub(self.list.count().unsigned_abs())
    }

    /// Calls `each`, which is no user's code, with the layout of each block but this one's, and the bytes in it that hold
    /// nothing.
    pub(super) fn each_block(&self, geometry: Geometry, each: &mut dyn FnMut(Layout, usize)) {
        let occupied = self.occupied();
        let _ = self.blocks(|blocks| blocks.each_block(geometry, occupied, each));
    }

    /// Frees the chunks that have no occupied place.
    pub(super) fn sweep(&self, geometry: Geometry, owner: *const ()) {
        // SAFETY: by invariant 2.
        let swept = self.blocks(|blocks| unsafe { blocks.sweep(geometry, owner, &self.list) });
        let Ok(added) = swept else { return };
        let count = self.list.count();
        // A retired list is shorter now, and counts something else. That it never counts more than it has matters if
        // places of others were put on it.
        self.list.set_count(if self.retired.get() { count.min(0) } else { count + added });
    }

    /// From now on each chunk is freed by the drop of the last slot.
    pub(super) fn retire(&self) {
        let occupied = self.occupied();
        self.retired.set(true);
        self.list.set_count(-occupied.cast_signed());
    }

    /// Frees a core of its own.
    ///
    /// # Safety
    ///
    /// It was made by `Box::into_raw`, with places of this geometry, and neither it nor any of its places is used again.
    #[cold]
    pub(super) unsafe fn free(core: NonNull<Self>, geometry: Geometry) {
        // SAFETY: by the caller.
        let core = unsafe { Box::from_raw(core.as_ptr()) };
        // SAFETY: by the caller.
        unsafe { core.free_places(geometry) };
    }

    /// Frees the memory of all places.
    ///
    /// # Safety
    ///
    /// None of them, all of this geometry, is used again.
    pub(super) unsafe fn free_places(self, geometry: Geometry) {
        let mut blocks = ManuallyDrop::into_inner(self.blocks).into_inner();
        // SAFETY: by the caller no place is used again.
        unsafe { blocks.free_all(geometry) };
    }

    /// Puts places that came back from elsewhere on the list.
    ///
    /// # Safety
    ///
    /// From `at` on they are vacant places of this core, in service, linked, and on no other list.
    #[cfg(feature = "std")]
    pub(super) unsafe fn take_back(&self, mut at: *mut Vacant) {
        while let Some(place) = NonNull::new(at) {
            // SAFETY: by the caller it begins with a `Vacant`.
            at = unsafe { (*at).next };
            // SAFETY: by the caller.
            unsafe { self.list.push(place.cast()) };
        }
    }
}

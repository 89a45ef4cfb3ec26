//! A slab without its type: the vacant places, and the memory that they are in.

use super::blocks::{Blocks, Refusal};
use super::free::{Place, Stack};
use super::geometry::Geometry;
#[cfg(feature = "std")]
use super::remote::Vacant;
use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std_alloc::boxed::Box;

/// What a slab is, whoever owns it. Its address is what blocks know their owner by.
#[repr(C)] // the stack first
pub(super) struct Core {
    // # Invariants
    //
    // 1. All methods of one `Core` are called with the same `owner`, its address.
    // 2. Every place on `vacant` or `parked` is in a chunk that is there. Those that `blocks` has handed out and that are on
    //    neither are occupied.
    // 3. In service, `parked` is empty, and `vacant` has room for all places that `blocks` has handed out. Retired, it is the
    //    other way round, so that every `pop` and every `push` of `vacant` fails, and `out` places are occupied.
    // 4. `blocks` is not borrowed while a user's code runs, other than the global allocator.
    //
    // (A module that lies may have put places of another slab on these stacks, and have this one's elsewhere. Then room may
    // be short, and what is occupied is more than it seems. Nothing but the number of values depends on either.)
    pub(super) vacant: Stack,
    geometry: Geometry,
    parked: Stack,
    out: Cell<usize>,
    retired: Cell<bool>,
    // Not dropped, so that a `Core` in thread-local storage needs no destructor, and no test for one at each use.
    blocks: ManuallyDrop<RefCell<Blocks>>,
}

/// Of no slab: see [`Core::NONE`].
static NONE: Nobody = Nobody(Core::new(Geometry::of(Layout::new::<()>()), 0));

struct Nobody(Core);

// SAFETY: nothing changes it. It has no place to take, and for one that is given back it has no room.
unsafe impl Sync for Nobody {}

impl Core {
    /// The core of no slab: `pop` and `push` of its stack fail, as they do when a slab is set up or gone. Nothing else is
    /// asked of it.
    // SAFETY: the address of a static is not null.
    pub(super) const NONE: NonNull<Self> = unsafe { NonNull::new_unchecked((&raw const NONE.0).cast_mut()) };

    /// For at most this many places of this geometry.
    pub(super) const fn new(geometry: Geometry, limit: usize) -> Self {
        let blocks = ManuallyDrop::new(RefCell::new(Blocks::new(limit)));
        let (out, retired) = (Cell::new(0), Cell::new(false));
        Self { vacant: Stack::new(), geometry, parked: Stack::new(), out, retired, blocks }
    }

    /// Runs `f` on what is known of the memory, or refuses if the global allocator came back here while that changes.
    pub(super) fn blocks<R>(&self, f: impl FnOnce(&mut Blocks) -> R) -> Result<R, Refusal> {
        self.blocks.try_borrow_mut().map(|mut blocks| f(&mut blocks)).map_err(|_| Refusal::Alloc(Layout::new::<()>()))
    }

    /// The stack that has the vacant places.
    fn stack(&self) -> &Stack {
        if self.retired.get() { &self.parked } else { &self.vacant }
    }

    /// The place that `vacant` did not have.
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&self, owner: *const ()) -> Result<Place, Refusal> {
        if !self.retired.get() {
            return self.carve(owner);
        }
        let place = match self.parked.pop() {
            Some(place) => place,
            None => self.carve(owner)?,
        };
        self.out.set(self.out.get() + 1);
        Ok(place)
    }

    /// Carves some places: one for the caller, the others for the stack.
    fn carve(&self, owner: *const ()) -> Result<Place, Refusal> {
        let stack = self.stack();
        let carved = self.blocks(|blocks| blocks.carve(self.geometry, owner, stack))??;
        // All that were carved, unless a module lies: `carve` saw to the room, but then asked the global allocator, which may
        // have come back with places of another slab. Nobody will have the rest.
        let count = (carved.count - 1).min(stack.room() - stack.len());
        // SAFETY: they were carved, a stride apart, and never handed out before. There is room.
        unsafe { stack.push_run(carved.first, self.geometry.stride, count) };
        Ok(carved.first)
    }

    /// Takes a place for which there was no room on `vacant`. Whether it was the last one of a slab that is retired.
    ///
    /// # Safety
    ///
    /// As for [`Stack::push`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn put_aside(&self, place: Place) -> bool {
        if !self.retired.get() {
            // Of another slab, from a module that lies. Nobody will have it.
            return false;
        }
        // SAFETY: by the caller. There is room, unless a module lies; then nobody will have it.
        let _ = unsafe { self.parked.push(place) };
        let out = self.out.get();
        self.out.set(out.saturating_sub(1));
        out == 1
    }

    /// Places that are occupied.
    pub(super) fn occupied(&self) -> usize {
        if self.retired.get() {
            return self.out.get();
        }
        let carved = self.blocks(|blocks| blocks.carved).unwrap_or(0);
        carved.saturating_sub(self.vacant.len())
    }

    /// Gets memory for this many more values than there are.
    pub(super) fn reserve(&self, additional: usize) -> Result<(), Refusal> {
        let occupied = self.occupied();
        let stack = self.stack();
        self.blocks(|blocks| {
            blocks.reserve(self.geometry, occupied, additional)?;
            stack.try_room(blocks.capacity).map_err(Refusal::Alloc)
        })?
    }

    /// Calls `each`, which is no user's code, with the layout of each block but this one's, and the bytes in it that hold
    /// nothing.
    pub(super) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        let occupied = self.occupied();
        let _ = self.blocks(|blocks| blocks.each_block(self.geometry, occupied, each));
        let stack = self.stack();
        if let Some(layout) = stack.block() {
            each(layout, (stack.room() - stack.len()) * size_of::<Place>());
        }
    }

    /// Frees the chunks that have no occupied place.
    pub(super) fn sweep(&self, owner: *const ()) {
        let stack = self.stack();
        // SAFETY: by invariant 2.
        let left =
            self.blocks(|blocks| unsafe { blocks.sweep(self.geometry, owner, stack) }).is_ok_and(|left| left == 0);
        if left && stack.len() == 0 {
            stack.take().free();
        }
    }

    /// From now on nothing is inserted, or only while a thread ends, and whoever drops the last slot is told.
    pub(super) fn retire(&self) {
        self.out.set(self.occupied());
        self.retired.set(true);
        self.vacant.swap(&self.parked);
    }

    /// Frees a core of its own.
    ///
    /// # Safety
    ///
    /// It was made by `Box::into_raw`, and neither it nor any of its places is used again.
    #[cold]
    pub(super) unsafe fn free(core: NonNull<Self>) {
        // SAFETY: by the caller.
        let core = unsafe { Box::from_raw(core.as_ptr()) };
        // SAFETY: by the caller.
        unsafe { core.free_places() };
    }

    /// Frees the memory of all places.
    ///
    /// # Safety
    ///
    /// None of them is used again.
    pub(super) unsafe fn free_places(self) {
        let mut blocks = ManuallyDrop::into_inner(self.blocks).into_inner();
        // SAFETY: by the caller no place is used again.
        unsafe { blocks.free_all(self.geometry) };
        self.vacant.free();
        self.parked.free();
    }

    /// Puts places that came back from elsewhere on the stack.
    ///
    /// # Safety
    ///
    /// From `at` on they are vacant places of this core, in service, linked, and on no stack.
    #[cfg(feature = "std")]
    pub(super) unsafe fn take_back(&self, mut at: *mut Vacant) {
        while let Some(place) = NonNull::new(at) {
            // SAFETY: by the caller it begins with a `Vacant`.
            at = unsafe { (*at).next };
            // SAFETY: by the caller. There is room by invariant 3.
            let _ = unsafe { self.vacant.push(place.cast()) };
        }
    }
}

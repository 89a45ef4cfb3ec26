//! The vacant places of a slab: the part that every insert and every drop touches.

use crate::alloc::try_alloc;
use crate::prefetch::prefetch;
use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use std_alloc::alloc::dealloc;

/// A place, whatever it holds. A pointer to one was made from its chunk's, so that it reaches the block's header.
pub(super) type Place = NonNull<()>;

/// How many inserts ahead the memory of a place is asked for: enough to hide a cache miss behind values of a line or four.
const AHEAD: usize = 16;

/// Vacant places, the last one that was given back uppermost. The places themselves are not touched.
///
/// ```text
///          bottom           top                 end
///            ▼               ▼                   ▼
/// ┌──────────┬───────┬───────┬───────────────────┐
/// │ for      │ place │ place │ one for each that │
/// │ `AHEAD`  │       │       │ is occupied       │
/// └──────────┴───────┴───────┴───────────────────┘
/// ```
///
/// `top == bottom` is all that an insert asks, and `top == end` all that a drop does. A stack without a buffer answers
/// yes to both: so a slab that is not set up, full, or gone needs no test of its own.
pub(super) struct Stack {
    // # Invariants
    //
    // 1. `bottom <= top <= end`, and from `AHEAD` words in front of `bottom` to `end` is a block of the global allocator's. Each
    //    of these words is an address. If `bottom` is null, all are, and there is no block.
    // 2. From `bottom` to `top` are the addresses of vacant places, each of which is on this stack once and on no other.
    top: Cell<*mut Place>,
    bottom: Cell<*mut Place>,
    end: Cell<*mut Place>,
}

impl Stack {
    /// A stack with room for nothing.
    pub(super) const fn new() -> Self {
        Self { top: Cell::new(ptr::null_mut()), bottom: Cell::new(ptr::null_mut()), end: Cell::new(ptr::null_mut()) }
    }

    /// Takes the uppermost place.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<Place> {
        let top = self.top.get();
        if top == self.bottom.get() {
            return None;
        }
        // SAFETY: by invariant 1 `top` is above `bottom`, in one block.
        let top = unsafe { top.sub(1) };
        self.top.set(top);
        // SAFETY: by invariant 2 there is the address of a place.
        Some(unsafe { top.read() })
    }

    /// [`pop`](Self::pop) that asks for the memory of the place that will be taken some inserts later.
    ///
    /// Places that were given back in any order lie in any order, where no processor guesses what is next. The price is two
    /// instructions, which an insert alone has nothing of.
    #[inline(always)]
    pub(super) fn pop_ahead(&self) -> Option<Place> {
        let place = self.pop()?;
        // SAFETY: by invariant 1 `top` is not below `bottom`, and there are so many words in front of that, each an address.
        prefetch(unsafe { self.top.get().wrapping_sub(AHEAD).read() }.as_ptr());
        Some(place)
    }

    /// Puts a place on top, or says that there is no room for it.
    ///
    /// # Safety
    ///
    /// The place is vacant, on no stack, and the caller's to give away.
    #[inline(always)]
    pub(super) unsafe fn push(&self, place: Place) -> Result<(), NoRoom> {
        let top = self.top.get();
        if top == self.end.get() {
            return Err(NoRoom);
        }
        // SAFETY: by invariant 1 there is a word between `top` and `end`.
        unsafe { top.write(place) };
        // SAFETY: as above.
        self.top.set(unsafe { top.add(1) });
        Ok(())
    }

    /// Puts a place on top, for which there is room.
    ///
    /// # Safety
    ///
    /// As for `push`, which would not refuse.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) unsafe fn push_within(&self, place: Place) {
        let top = self.top.get();
        // SAFETY: by the caller there is a word between `top` and `end`.
        unsafe { top.write(place) };
        // SAFETY: as above.
        self.top.set(unsafe { top.add(1) });
    }

    /// Puts the places behind `place` on top, this many and a stride apart, so that the nearest is uppermost.
    ///
    /// # Safety
    ///
    /// As for `push` of each, and there is room for all.
    pub(super) unsafe fn push_run(&self, place: Place, stride: usize, count: usize) {
        let mut top = self.top.get();
        // SAFETY: by the caller the last of them is there.
        let mut place = unsafe { place.byte_add(count * stride) };
        for _ in 0..count {
            // SAFETY: by the caller there is a word between `top` and `end`.
            unsafe { top.write(place) };
            // SAFETY: as above.
            top = unsafe { top.add(1) };
            // SAFETY: the one before, or the one that they are behind.
            place = unsafe { place.byte_sub(stride) };
        }
        self.top.set(top);
    }

    /// Places on the stack.
    #[inline]
    pub(super) fn len(&self) -> usize {
        Self::between(self.bottom.get(), self.top.get())
    }

    /// Places for which there is room.
    pub(super) fn room(&self) -> usize {
        Self::between(self.bottom.get(), self.end.get())
    }

    fn between(from: *mut Place, to: *mut Place) -> usize {
        (to.addr() - from.addr()) / size_of::<Place>()
    }

    /// Sees that there is room for this many places in all.
    ///
    /// The global allocator may come back to the stack from here, though not to this method.
    pub(super) fn try_room(&self, places: usize) -> Result<(), Layout> {
        if places <= self.room() {
            return Ok(());
        }
        let too_large = Layout::new::<Place>();
        let layout = Self::layout(places).ok_or(too_large)?;
        let block = try_alloc(layout).ok_or(layout)?;
        let base = block.cast::<Place>().as_ptr();
        let bottom = base.wrapping_add(AHEAD);
        for index in 0..AHEAD {
            // The block itself: to find that at some address there is nothing takes a processor long.
            // SAFETY: the block has more words than these.
            unsafe { base.wrapping_add(index).write(block.cast()) };
        }
        let len = self.len();
        if len != 0 {
            // SAFETY: there are `len` words of invariant 2 in the one, and room for more than them in the other, which is new.
            unsafe { ptr::copy_nonoverlapping(self.bottom.get(), bottom, len) };
        }
        let old = self.take();
        self.bottom.set(bottom);
        // SAFETY: inside the new block: what was on the stack is in the old one, which is smaller.
        self.top.set(unsafe { bottom.add(len) });
        // SAFETY: the end of the new block.
        self.end.set(unsafe { bottom.add(places) });
        // Only now may the global allocator come back.
        old.free();
        Ok(())
    }

    /// Takes the stack away, and leaves one with room for nothing.
    pub(super) fn take(&self) -> Self {
        let taken = Self::new();
        self.swap(&taken);
        taken
    }

    pub(super) fn swap(&self, other: &Self) {
        self.top.swap(&other.top);
        self.bottom.swap(&other.bottom);
        self.end.swap(&other.end);
    }

    /// Calls `f` with each place.
    pub(super) fn each(&self, mut f: impl FnMut(Place)) {
        for index in 0..self.len() {
            // SAFETY: by invariant 2 there is the address of a place. `f` is ours, and leaves the stack alone.
            f(unsafe { self.bottom.get().wrapping_add(index).read() });
        }
    }

    /// Keeps the places that `keep` says, in their order. The number of places that went.
    pub(super) fn retain(&self, mut keep: impl FnMut(Place) -> bool) -> usize {
        let mut kept = 0;
        let len = self.len();
        for index in 0..len {
            // SAFETY: as in `each`; words are overwritten behind the one that is read.
            let place = unsafe { self.bottom.get().wrapping_add(index).read() };
            if keep(place) {
                // SAFETY: `kept` is at most `index`.
                unsafe { self.bottom.get().wrapping_add(kept).write(place) };
                kept += 1;
            }
        }
        if kept != len {
            self.top.set(self.bottom.get().wrapping_add(kept));
        }
        len - kept
    }

    /// The layout of its memory, if it has any.
    pub(super) fn block(&self) -> Option<Layout> {
        (!self.bottom.get().is_null()).then(|| Self::layout(self.room())).flatten()
    }

    /// Of a buffer with room for this many places.
    fn layout(room: usize) -> Option<Layout> {
        Layout::array::<Place>(room.checked_add(AHEAD)?).ok()
    }

    /// Frees the memory of the stack, not of its places.
    pub(super) fn free(self) {
        if let (Some(layout), Some(bottom)) = (self.block(), NonNull::new(self.bottom.get())) {
            // SAFETY: by invariant 1; `self` is gone.
            unsafe { dealloc(bottom.as_ptr().wrapping_sub(AHEAD).cast(), layout) };
        }
    }
}

/// A stack has no room for a place: see [`Stack::push`].
pub(super) struct NoRoom;

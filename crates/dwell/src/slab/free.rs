//! The vacant places of a slab, and how many there are: the part that every insert and every drop touches.

use core::cell::Cell;
use core::ptr::{self, NonNull};

/// A place, whatever it holds. A pointer to one was made from its chunk's, so that it reaches the block's header.
pub(super) type Place = NonNull<()>;

/// What a vacant place begins with.
pub(super) struct Vacant {
    pub(super) next: *mut Vacant,
}

/// A stack of vacant places, linked through them.
///
/// It is in one of two modes. *In service*, `count` is its length, and so it is both what says that the stack is empty
/// and what the number of occupied places follows from. *Retired*, `count` is the number of occupied places, negated:
/// every [`pop`](Self::pop) then fails as if the stack were empty, and the [`push`](Self::push) that brings it to 0 was
/// the last. No test of its own tells the two apart.
pub(super) struct List {
    // # Invariants
    //
    // 1. From `head` on, each place is vacant, on this list alone, and begins with a `Vacant`; the last one's `next` is
    //    null.
    // 2. `count` is at most the number of these places. In service it is that number.
    head: Cell<*mut Vacant>,
    count: Cell<isize>,
}

impl List {
    pub(super) const fn new() -> Self {
        Self { head: Cell::new(ptr::null_mut()), count: Cell::new(0) }
    }

    /// Takes a place, or owes one: after `None`, [`undo`](Self::undo) comes next.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<Place> {
        let count = self.count.get() - 1;
        self.count.set(count);
        if count < 0 {
            return None;
        }
        let head = self.head.get();
        // SAFETY: the count was positive, so the list is not empty by invariant 2, and `head` begins with a
        // `Vacant` by invariant 1.
        let next = unsafe { (*head).next };
        self.head.set(next);
        // SAFETY: as above: `head` is a place.
        Some(unsafe { NonNull::new_unchecked(head.cast()) })
    }

    /// Counts a place that was taken by `unlink` from a retired list.
    pub(super) fn await_place(&self) {
        self.count.set(self.count.get() - 1);
    }

    /// Takes back what a failed `pop` did to the count.
    pub(super) fn undo(&self) {
        self.count.set(self.count.get() + 1);
    }

    /// Puts a place on top. Whether it was the last that was out, which only a retired list knows.
    ///
    /// # Safety
    ///
    /// The place is vacant, at least 8 bytes aligned to 8, valid for as long as it is listed, and on no list.
    #[inline(always)]
    pub(super) unsafe fn push(&self, place: Place) -> bool {
        // SAFETY: the caller says the same.
        unsafe { self.link(place) };
        let count = self.count.get() + 1;
        self.count.set(count);
        count == 0
    }

    /// [`push`](Self::push) without counting.
    ///
    /// # Safety
    ///
    /// As for `push`; and the count is corrected before the next `pop`.
    #[inline(always)]
    unsafe fn link(&self, place: Place) {
        let vacant = place.cast::<Vacant>();
        // SAFETY: the caller says that the place may be written.
        unsafe { vacant.write(Vacant { next: self.head.get() }) };
        self.head.set(vacant.as_ptr());
    }

    /// Puts `count` places on top, a stride apart, the first uppermost, without counting.
    ///
    /// # Safety
    ///
    /// As for `link`, for each of these.
    pub(super) unsafe fn link_all(&self, first: Place, count: usize, stride: usize) {
        for n in (0..count).rev() {
            // SAFETY: the caller says that there is a place.
            let place = unsafe { first.byte_add(n * stride) };
            // SAFETY: as above.
            unsafe { self.link(place) };
        }
    }

    /// In service: how many places are vacant. Retired: how many are occupied, negated.
    pub(super) fn count(&self) -> isize {
        self.count.get()
    }

    /// Corrects the count; a negative one retires the list.
    pub(super) fn set_count(&self, count: isize) {
        self.count.set(count);
    }

    /// Takes a place without counting.
    pub(super) fn unlink(&self) -> Option<Place> {
        let head = NonNull::new(self.head.get())?;
        // SAFETY: `head` is a place of the list, so it begins with a `Vacant` by invariant 1.
        let next = unsafe { (*head.as_ptr()).next };
        self.head.set(next);
        Some(head.cast())
    }

    /// Calls `f` with each place.
    pub(super) fn each(&self, mut f: impl FnMut(Place)) {
        let mut at = self.head.get();
        while let Some(place) = NonNull::new(at) {
            f(place.cast());
            // SAFETY: `at` is a place of the list, so it begins with a `Vacant` by invariant 1. `f` is ours and does not
            // touch places.
            at = unsafe { (*at).next };
        }
    }

    /// Keeps the places that `keep` says, in their order, and does not count. The number of places that went.
    pub(super) fn retain(&self, mut keep: impl FnMut(Place) -> bool) -> usize {
        let mut gone = 0;
        let mut link: *mut *mut Vacant = self.head.as_ptr();
        loop {
            // SAFETY: `link` is the head's address, or that of the `next` of a place on the list.
            let at = unsafe { link.read() };
            let Some(place) = NonNull::new(at) else { return gone };
            // SAFETY: `at` is a place of the list: it begins with a `Vacant` by invariant 1.
            let next = unsafe { &raw mut (*at).next };
            if keep(place.cast()) {
                link = next;
            } else {
                gone += 1;
                // SAFETY: as above.
                let after = unsafe { next.read() };
                // SAFETY: as for the first.
                unsafe { link.write(after) };
            }
        }
    }
}

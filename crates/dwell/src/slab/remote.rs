//! The places that other threads give back: a stack that many push to and one takes whole.
//!
//! ```text
//! give:    link the chain's last to head; head = chain's first       one compare-exchange, however long the chain
//! take:    chain = head; head = null                                  the owner, when it has no vacant place
//! close:   chain = head; head = CLOSED; left += places still out      the owner, once, when it inserts no more
//! give:    head is CLOSED: left -= chain's length                     whoever brings `left` to 0 frees the memory
//! ```
//!
//! The order of `close` and of the `give`s that find it does not matter: until `left` was added to it is below 0, and from
//! then on it is the number of places that are out.

use super::free::Place;
use core::ptr;
use primitive::{AtomicIsize, AtomicPtr, Ordering};

/// What loom replaces.
mod primitive {
    #[cfg(not(all(loom, test)))]
    pub(super) use core::sync::atomic::{AtomicIsize, AtomicPtr, Ordering};
    #[cfg(all(loom, test))]
    pub(super) use loom::sync::atomic::{AtomicIsize, AtomicPtr, Ordering};
}

/// What a vacant place begins with while it is on its way.
pub(super) struct Vacant {
    pub(super) next: *mut Vacant,
}

/// Vacant places linked one to the next, for giving back at once.
pub(super) struct Chain {
    // # Invariants
    //
    // 1. From `first` to `last` there are `count` places, vacant and nobody else's, each of which but `last` begins with a
    //    `Vacant` that leads to the next.
    first: Place,
    last: Place,
    count: isize,
}

impl Chain {
    /// # Safety
    ///
    /// The place is vacant and the caller's alone: at least 8 bytes, aligned to 8.
    pub(super) unsafe fn new(place: Place) -> Self {
        Self { first: place, last: place, count: 1 }
    }

    /// # Safety
    ///
    /// As for `new`; and the place is of the same slab.
    pub(super) unsafe fn push(&mut self, place: Place) {
        // SAFETY: by the caller the place may be written.
        unsafe { place.cast().write(Vacant { next: self.first.as_ptr().cast() }) };
        self.first = place;
        self.count += 1;
    }

    /// The places, linked to the end.
    pub(super) fn into_linked(self) -> *mut Vacant {
        // SAFETY: by invariant 1 the place is vacant and the chain's.
        unsafe { self.last.cast().write(Vacant { next: ptr::null_mut() }) };
        self.first.as_ptr().cast()
    }
}

/// Places on their way back to their slab.
pub(super) struct Returns {
    // # Invariants
    //
    // 1. `head` is `closed()`, for good, or leads to vacant places that are on no other list, each of which begins with a
    //    `Vacant`; the last one's `next` is null.
    // 2. Until `close`, `left` is 0 less the places that found it closed; from then on, the places that are out.
    head: AtomicPtr<Vacant>,
    left: AtomicIsize,
}

/// No place: places are aligned to 8.
fn closed() -> *mut Vacant {
    ptr::without_provenance_mut(1)
}

impl Returns {
    pub(super) fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), left: AtomicIsize::new(0) }
    }

    /// Gives places back. Whether they were the last of a slab that is gone.
    #[inline]
    pub(super) fn give(&self, Chain { first, last, count }: Chain) -> bool {
        let mut head = self.head.load(Ordering::Relaxed);
        while head != closed() {
            // SAFETY: by invariant 1 of `Chain` the place is vacant and the chain's.
            unsafe { last.cast().write(Vacant { next: head }) };
            // Release: what was done to the values comes before what the owner does with the places. The exchanges that
            // come after this one continue its release sequence, so that `take` synchronises with all of them.
            let top = first.as_ptr().cast();
            match self.head.compare_exchange_weak(head, top, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return false,
                Err(now) => head = now,
            }
        }
        self.settle(-count)
    }

    /// All that was given back, linked; null if there is nothing.
    #[inline]
    pub(super) fn take(&self) -> *mut Vacant {
        if self.head.load(Ordering::Relaxed).is_null() {
            return ptr::null_mut();
        }
        self.head.swap(ptr::null_mut(), Ordering::Acquire)
    }

    /// [`take`](Self::take) for the last time. What is given back from now on is only counted.
    pub(super) fn close(&self) -> *mut Vacant {
        self.head.swap(closed(), Ordering::AcqRel)
    }

    /// After [`close`](Self::close): this many places are still out. Whether none is left.
    pub(super) fn expect(&self, out: isize) -> bool {
        self.settle(out)
    }

    /// Whether this brings `left` to 0, which happens once.
    fn settle(&self, difference: isize) -> bool {
        // Release: this thread is done with the places, and with the slab if it is not the last. Acquire: the last one, which
        // frees all of it, comes after that.
        self.left.fetch_add(difference, Ordering::AcqRel) + difference == 0
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::{Chain, Place, Returns};
    use core::ptr::NonNull;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;
    use std_alloc::boxed::Box;

    /// A place, and a cell in which loom sees who touches it when.
    #[repr(C)]
    struct Node {
        next: usize,
        touched: UnsafeCell<usize>,
    }

    impl Node {
        fn place() -> Place {
            NonNull::from(Box::leak(Box::new(Self { next: 0, touched: UnsafeCell::new(0) }))).cast()
        }

        /// Changes what is in the place, as dropping or writing a value does.
        fn touch(place: Place) -> usize {
            // SAFETY: the tests make their places of nodes and free them at the end. A race is what loom looks for.
            let node = unsafe { place.cast::<Self>().as_ref() };
            node.touched.with_mut(|touched| {
                // SAFETY: loom checks that nobody else is there.
                unsafe { *touched += 1 };
                // SAFETY: as above.
                unsafe { *touched }
            })
        }

        fn free(place: Place) {
            // SAFETY: it was leaked by `place`; each place is freed once.
            drop(unsafe { Box::from_raw(place.cast::<Self>().as_ptr()) });
        }
    }

    /// A slab of some places, all of which are out.
    struct Slab {
        returns: Returns,
        /// How often its memory was freed.
        freed: AtomicUsize,
        places: [Place; 3],
    }

    // SAFETY: the places are raw memory; loom watches who touches it.
    unsafe impl Send for Slab {}
    // SAFETY: as above.
    unsafe impl Sync for Slab {}

    impl Slab {
        fn new() -> Arc<Self> {
            let places = [(); 3].map(|()| Node::place());
            Arc::new(Self { returns: Returns::new(), freed: AtomicUsize::new(0), places })
        }

        fn give(&self, places: &[Place]) {
            places.iter().for_each(|&place| {
                Node::touch(place);
            });
            // SAFETY: each test gives each place back once.
            let mut chain = unsafe { Chain::new(places[0]) };
            for &place in &places[1..] {
                // SAFETY: as above.
                unsafe { chain.push(place) };
            }
            if self.returns.give(chain) {
                self.free();
            }
        }

        /// The last one reads all places, so that loom sees that it comes after everybody.
        fn free(&self) {
            self.places.iter().for_each(|&place| {
                Node::touch(place);
            });
            self.freed.fetch_add(1, Ordering::Relaxed);
        }

        /// Uses what came back, and says how many that is.
        fn count(mut at: *mut super::Vacant) -> isize {
            let mut count = 0;
            while let Some(place) = NonNull::new(at) {
                // SAFETY: by invariant 1 of `Returns`.
                at = unsafe { (*at).next };
                Node::touch(place.cast());
                count += 1;
            }
            count
        }

        /// Drops the slab when `back` of its places are back.
        fn retire(&self, back: isize) {
            let out = 3 - back - Self::count(self.returns.close());
            if self.returns.expect(out) {
                self.free();
            }
        }

        fn check(&self) {
            assert_eq!(self.freed.load(Ordering::Relaxed), 1, "freed once");
            self.places.iter().for_each(|&place| Node::free(place));
        }
    }

    /// Two threads give back, one of them a chain, while the owner takes and goes.
    #[test]
    fn nothing_is_lost_whoever_is_last() {
        loom::model(|| {
            let slab = Slab::new();
            let one = thread::spawn({
                let slab = slab.clone();
                move || slab.give(&slab.places[..1])
            });
            let two = thread::spawn({
                let slab = slab.clone();
                move || slab.give(&slab.places[1..])
            });
            let back = Slab::count(slab.returns.take());
            slab.retire(back);
            one.join().unwrap();
            two.join().unwrap();
            slab.check();
        });
    }

    /// The owner's own slots outlive the slab too, and go the same way.
    #[test]
    fn the_owner_may_be_last() {
        loom::model(|| {
            let slab = Slab::new();
            let other = thread::spawn({
                let slab = slab.clone();
                move || {
                    slab.give(&slab.places[..1]);
                    slab.give(&slab.places[1..2]);
                }
            });
            slab.retire(0);
            slab.give(&slab.places[2..]);
            other.join().unwrap();
            slab.check();
        });
    }

    /// A place that came back is given out again and comes back again, while another is on its way.
    #[test]
    fn places_go_round() {
        loom::model(|| {
            let slab = Slab::new();
            let one = thread::spawn({
                let slab = slab.clone();
                move || slab.give(&slab.places[..1])
            });
            let mut back = Slab::count(slab.returns.take());
            if back == 1 {
                let slab = slab.clone();
                thread::spawn(move || slab.give(&slab.places[..1])).join().unwrap();
                back = 0;
            }
            slab.give(&slab.places[1..]);
            back += Slab::count(slab.returns.take());
            slab.retire(back);
            one.join().unwrap();
            slab.check();
        });
    }
}

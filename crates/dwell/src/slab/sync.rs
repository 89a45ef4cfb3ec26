//! Slabs whose slots go to other threads.
//!
//! A [`Slab`] belongs to the thread that made it: only that thread inserts. Its [`Slot`]s are `Send` where their values are,
//! and may be dropped anywhere. On its own thread a slot is dropped as that of a [`slab::Slab`](super::Slab) is, after a look
//! at which thread this is. Another thread puts the place on a list of its own, with one atomic exchange, from which the
//! slab takes them all when it has no other. [`drop_all`] gives back many at once.
//!
//! ```
//! use dwell::slab::sync::Slab;
//! use std::thread;
//!
//! let slab = Slab::new();
//! let slot = slab.insert(String::from("sent"));
//! thread::spawn(move || assert_eq!(*slot, "sent")).join().unwrap();
//! assert!(slab.is_empty());
//! ```
//!
//! Slab and slots may go in any order, on any threads: whichever is last frees the memory.

use super::blocks::{Refusal, owner};
use super::core::Core;
use super::free::Place;
use super::geometry::Geometry;
use super::home::{Home, sealed};
use super::key::Key;
use super::remote::{Chain, Returns};
use super::words::{Pair, Words};
use super::{layout_of, refused};
use crate::alloc::{AllocError, try_box};
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicUsize, Ordering};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;

/// The owner of a value in a [`sync::Slab`](Slab): `Send` and `Sync` where the value is.
///
/// Everything a [`slab::Slot`](super::Slot) can do but have a key.
pub type Slot<T> = super::Slot<T, Anywhere>;

/// A [`slab::Pool`](super::Pool) whose slots are `Send` and `Sync` where their values are.
///
/// ```
/// use dwell::slab::sync::{Pool, PoolSlot};
///
/// let pool = Pool::new();
/// let future: PoolSlot<dyn Future<Output = u32> + Send> = pool.insert(async { 1_u32 }).coerce(|view| view as _);
/// let mut pinned = future.into_pin();
/// std::thread::spawn(move || {
///     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
///     assert!(pinned.as_mut().poll(&mut context).is_ready());
/// })
/// .join()
/// .unwrap();
/// ```
pub type Pool = super::SizeClasses<Anywhere>;

/// The owner of a value in a [`sync::Pool`](Pool).
pub type PoolSlot<T> = super::Slot<T, super::Classed<Anywhere>>;

/// By its own address, masked, and then by which thread this is: the slots of a [`sync::Slab`](Slab).
pub enum Anywhere {}

impl Home for Anywhere {}

/// What one thread works with and another does not, on lines of its own. Processors fetch two at a time.
#[repr(align(128))]
struct Apart<T>(T);

/// What a slab is, whoever owns it. Its address is what blocks know their owner by.
#[repr(C)] // `near` first: its address is the same
pub struct Shared {
    near: Near,
    /// Written by all.
    returns: Apart<Returns>,
}

/// The part of it that its thread works with.
pub(super) struct Near {
    // # Invariants
    //
    // 1. `core` is in service. It is used by one thread at a time: until `retire`, the one whose number `thread` is; then
    //    the one that retires it; then the one that brings `returns` to 0.
    // 2. `thread` is the number of the thread that made this, and `RETIRED` from the beginning of `retire` on. It is written
    //    by that thread alone.
    core: Core,
    /// Read by all, hardly ever written.
    thread: Apart<AtomicUsize>,
}

/// The number of no thread.
const RETIRED: usize = usize::MAX;

std::thread_local! {
    /// The number of this thread, which no other has or had: 0 until it has made a slab.
    static THREAD: Cell<usize> = const { Cell::new(0) };
}

/// The number of this thread, given to it if it has none.
fn this_thread() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    if THREAD.get() == 0 {
        // Nothing is published by a number; that it is new is all.
        let last =
            LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| (last < RETIRED - 1).then_some(last + 1));
        THREAD.set(last.expect("there were fewer threads than numbers") + 1);
    }
    THREAD.get()
}

/// Of no slab: see [`Near::NONE`].
static NONE: Nobody = Nobody(Near::new(Geometry::of(Layout::new::<()>()), 0, RETIRED));

struct Nobody(Near);

// SAFETY: nothing changes it. It has no place to take, and no thread gives it one back.
unsafe impl Sync for Nobody {}

impl Near {
    /// That of no slab: it has no place, and is of no thread. There is nothing behind it.
    // SAFETY: the address of a static is not null.
    pub(super) const NONE: NonNull<Self> = unsafe { NonNull::new_unchecked((&raw const NONE.0).cast_mut()) };

    const fn new(geometry: Geometry, limit: usize, thread: usize) -> Self {
        Self { core: Core::new(geometry, limit), thread: Apart(AtomicUsize::new(thread)) }
    }

    /// Whether this thread made it, and it is not retired.
    #[inline(always)]
    fn is_here(&self) -> bool {
        // The thread that made it is the only one that writes here, so that it sees what it wrote last; another sees that
        // thread's number or `RETIRED`, neither of which is its own.
        self.thread.0.load(Ordering::Relaxed) == THREAD.get()
    }

    /// A vacant place, if there is one at hand.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<Place> {
        self.core.vacant.pop()
    }
}

impl Shared {
    pub(super) fn try_new(geometry: Geometry) -> Result<NonNull<Self>, AllocError<()>> {
        let near = Near::new(geometry, Key::LIMIT, this_thread());
        let shared = Self { near, returns: Apart(Returns::new()) };
        Ok(NonNull::from(Box::leak(try_box(shared).map_err(|error| error.map(drop))?)))
    }

    /// The place that `pop` did not find. The caller is the thread that made this, which is in service.
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&self) -> Result<Place, Refusal> {
        let returned = self.returns.0.take();
        if !returned.is_null() {
            // SAFETY: they are places of this slab that other threads gave back and nobody else has.
            unsafe { self.near.core.take_back(returned) };
            if let Some(place) = self.near.core.vacant.pop() {
                return Ok(place);
            }
        }
        self.near.core.refill(ptr::from_ref(self).cast())
    }

    /// Calls `each` with the layout of each block, and the bytes in it that hold nothing.
    pub(super) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        each(Layout::new::<Self>(), 0);
        self.near.core.each_block(each);
    }

    /// Takes what other threads gave back.
    fn collect(&self) {
        // SAFETY: as in `refill`.
        unsafe { self.near.core.take_back(self.returns.0.take()) };
    }

    /// Gives places back from a thread that did not make the slab, or to one that is gone.
    ///
    /// # Safety
    ///
    /// They are places of `this`, which `this` was not told yet; it is not used again by the caller.
    #[cold]
    #[inline(never)]
    unsafe fn give(this: NonNull<Self>, chain: Chain) {
        // SAFETY: it is there until the last place was given back. That may be on another thread as soon as this one was, while
        // `give` still runs; it does not touch it then, and a reference to atomics does not say that they are there for long.
        let returns = unsafe { &(*this.as_ptr()).returns.0 };
        if returns.give(chain) {
            // SAFETY: the slab is gone and this was the last place.
            unsafe { Self::free(this) };
        }
    }

    /// Lets go of the slab: whoever gives back the last place frees it, or this call if there is none.
    ///
    /// # Safety
    ///
    /// `this` is in service and was made by this thread; the caller inserts no more.
    pub(super) unsafe fn retire(this: NonNull<Self>) {
        // SAFETY: by the caller.
        let shared = unsafe { this.as_ref() };
        // From here on drops on this thread are counted as those of others are.
        shared.near.thread.0.store(RETIRED, Ordering::Relaxed);
        // SAFETY: as in `refill`.
        unsafe { shared.near.core.take_back(shared.returns.0.close()) };
        if shared.returns.0.expect(shared.near.core.occupied().cast_signed()) {
            // SAFETY: no place is out, and none will be.
            unsafe { Self::free(this) };
        }
    }

    /// # Safety
    ///
    /// It was made by `try_new`; neither it nor any of its places is used again.
    #[cold]
    unsafe fn free(this: NonNull<Self>) {
        // SAFETY: by the caller.
        let shared = unsafe { Box::from_raw(this.as_ptr()) };
        // SAFETY: by the caller.
        unsafe { shared.near.core.free_places() };
    }
}

/// Whose place it is.
///
/// # Safety
///
/// It is a place of a `Shared` whose blocks have this size.
#[inline(always)]
unsafe fn shared(place: Place, block: usize) -> NonNull<Shared> {
    // SAFETY: by the caller its blocks have this size.
    unsafe { owner(place, block) }.cast()
}

// SAFETY: the place is put on one stack.
unsafe impl sealed::Home for Anywhere {
    /// The size of its block.
    type Told = usize;

    #[inline(always)]
    fn told(layout: Layout) -> usize {
        Geometry::block(layout)
    }

    #[inline(always)]
    unsafe fn give_back(place: Place, block: usize) {
        // SAFETY: by the caller the place is a `Shared`'s.
        let this = unsafe { shared(place, block) };
        // SAFETY: by the caller it is vacant and the caller's.
        unsafe { Self::put(this.cast(), place) };
    }
}

impl Anywhere {
    /// Gives a place back to its slab.
    ///
    /// # Safety
    ///
    /// As for `give_back`.
    #[inline(always)]
    pub(super) unsafe fn put(near: NonNull<Near>, place: Place) {
        // SAFETY: it is there until the last place was given back, which this one was not.
        let here = unsafe { near.as_ref() };
        if here.is_here() {
            // SAFETY: the place is vacant. By invariant 1 no other thread is at the stack, which by invariant 3 of the core
            // has room for it.
            unsafe { here.core.vacant.push_within(place) };
        } else {
            // SAFETY: by the caller.
            unsafe { Self::send_back(near, place) };
        }
    }

    /// The place of another thread's slab, of one that is gone, or of none.
    #[cold]
    #[inline(never)]
    unsafe fn send_back(near: NonNull<Near>, place: Place) {
        if near == Near::NONE {
            // SAFETY: by the caller. What has no slab is in a block of its own.
            return unsafe { super::alone::free(place) };
        }
        // SAFETY: the place is vacant and the caller's.
        let chain = unsafe { Chain::new(place) };
        // SAFETY: by the caller. It is not `NONE`, so the beginning of a `Shared`, whose pointer it was made as.
        unsafe { Shared::give(near.cast(), chain) };
    }
}

// SAFETY: `give_back` is as above, on whatever thread; sync slots have no keys.
unsafe impl sealed::Portable for Anywhere {}

/// Places for values of one type, whose slots may be dropped on other threads.
///
/// It stays on the thread that made it: it is neither `Send` nor `Sync`. Memory comes in chunks that never move.
///
/// ```
/// use dwell::slab::sync::{Slab, Slot};
/// use std::sync::mpsc;
/// use std::thread;
///
/// let (send, receive) = mpsc::channel::<Slot<[u8; 64]>>();
/// let consumer = thread::spawn(move || receive.into_iter().map(|block| usize::from(block[0])).sum::<usize>());
/// let blocks = Slab::new();
/// for _ in 0..1000 {
///     send.send(blocks.insert([1; 64])).unwrap();
/// }
/// drop((send, blocks)); // in any order
/// assert_eq!(consumer.join().unwrap(), 1000);
/// ```
pub struct Slab<T> {
    // # Invariants
    //
    // 1. `shared` came from `Shared::try_new` on this thread, in service, with the geometry of a `T`.
    shared: NonNull<Shared>,
    // Neither `Send`, because of invariant 1, nor `Sync`.
    of: PhantomData<*mut T>,
}

impl<T> Slab<T> {
    const GEOMETRY: Geometry = Geometry::of(Layout::new::<T>());

    /// A slab without memory for values.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A slab with memory for this many values, which grows beyond.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::try_with_capacity(capacity).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`with_capacity`](Self::with_capacity) that reports a failed allocation.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError<()>> {
        let slab = Self { shared: Shared::try_new(Self::GEOMETRY)?, of: PhantomData };
        slab.try_reserve(capacity)?;
        Ok(slab)
    }

    #[inline(always)]
    fn shared(&self) -> &Shared {
        // SAFETY: invariant 1.
        unsafe { self.shared.as_ref() }
    }

    #[inline(always)]
    fn pop(&self) -> Option<Place> {
        self.shared().near.pop()
    }

    /// The place that `pop` did not find.
    #[cold]
    #[inline(never)]
    fn refill(&self) -> Place {
        self.shared().refill().unwrap_or_else(|refusal| refused(refusal))
    }

    #[cold]
    #[inline(never)]
    fn insert_in_new(&self, first: Pair, second: Pair) -> Slot<T> {
        // SAFETY: made of a `T` by `insert`.
        let value = unsafe { Words(first, second).into() };
        // SAFETY: the place is for a `T`, vacant, and this slab's.
        unsafe { Slot::fill(self.refill(), value) }
    }

    /// Puts a value in a place.
    ///
    /// ```
    /// let slab = dwell::slab::sync::Slab::new();
    /// assert_eq!(*slab.insert(7), 7);
    /// ```
    #[inline(always)]
    pub fn insert(&self, value: T) -> Slot<T> {
        let place = match self.pop() {
            Some(place) => place,
            None if const { Words::fit::<T>() } => {
                let Words(first, second) = Words::new(value);
                return self.insert_in_new(first, second);
            }
            None => self.refill(),
        };
        // SAFETY: the place is for a `T`, vacant, and this slab's.
        unsafe { Slot::fill(place, value) }
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no chunk; the value comes back in the error.
    #[inline(always)]
    pub fn try_insert(&self, value: T) -> Result<Slot<T>, AllocError<T>> {
        let place = match self.pop() {
            Some(place) => place,
            None => match self.shared().refill() {
                Ok(place) => place,
                Err(refusal) => return Err(AllocError::new(value, layout_of(refusal))),
            },
        };
        // SAFETY: as in `insert`.
        Ok(unsafe { Slot::fill(place, value) })
    }

    /// Puts what `make` returns in a place that was found before. It is given back if `make` panics.
    ///
    /// ```
    /// let slab = dwell::slab::sync::Slab::new();
    /// let page = slab.insert_with(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline(always)]
    pub fn insert_with(&self, make: impl FnOnce() -> T) -> Slot<T> {
        let place = self.pop().unwrap_or_else(|| self.refill());
        // SAFETY: as in `insert`.
        unsafe { Slot::fill_with(place, make) }
    }

    /// Calls `each`, which is no user's code, with the layout of each block that the slab has, and the bytes in it that hold
    /// nothing.
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        self.shared().each_block(each);
    }

    /// Values in the slab, without those whose drop on another thread is over.
    pub fn len(&self) -> usize {
        self.shared().collect();
        self.shared().near.core.occupied()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values that there is memory for.
    pub fn capacity(&self) -> usize {
        self.shared().near.core.blocks(|blocks| blocks.capacity).unwrap_or(0)
    }

    /// Gets memory for this many more values.
    pub fn reserve(&self, additional: usize) {
        self.try_reserve(additional).unwrap_or_else(|error| handle_alloc_error(error.layout()));
    }

    /// [`reserve`](Self::reserve) that reports a failed allocation.
    pub fn try_reserve(&self, additional: usize) -> Result<(), AllocError<()>> {
        self.shared().collect();
        let reserved = self.shared().near.core.reserve(additional);
        reserved.map_err(|refusal| AllocError::new((), layout_of(refusal)))
    }

    /// Frees the chunks in which there is no value. Looks at every vacant place.
    pub fn shrink_to_fit(&self) {
        self.shared().collect();
        self.shared().near.core.sweep(self.shared.as_ptr().cast());
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        // SAFETY: invariant 1; the slab is not used again.
        unsafe { Shared::retire(self.shared) };
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

/// Drops slots, and gives the places of a run of one slab back together: one atomic exchange instead of one each.
///
/// ```
/// use dwell::slab::sync::{Slab, drop_all};
/// use std::thread;
///
/// let slab = Slab::new();
/// let slots: Vec<_> = (0..1000).map(|n| slab.insert(n)).collect();
/// thread::spawn(move || drop_all(slots)).join().unwrap();
/// assert!(slab.is_empty());
/// ```
pub fn drop_all<T>(slots: impl IntoIterator<Item = Slot<T>>) {
    let mut run = Run::<T> { of: None, places: PhantomData };
    for slot in slots {
        run.push(slot);
    }
}

/// Places of one slab that are given back at the end, however that comes.
struct Run<T> {
    // # Invariants
    //
    // 1. The places of the chain are those of values of a `T` in this slab, vacant and this run's.
    of: Option<(NonNull<Shared>, Chain)>,
    places: PhantomData<T>,
}

impl<T> Run<T> {
    #[inline]
    fn push(&mut self, slot: Slot<T>) {
        /// A place that joins the run when its value is dropped, even if that panics.
        struct Joining<'a, T>(&'a mut Run<T>, Place);
        impl<T> Drop for Joining<'_, T> {
            #[inline(always)]
            fn drop(&mut self) {
                // SAFETY: it is the place of a slot of `Anywhere` with a `T`.
                let of = unsafe { shared(self.1, Geometry::block(Layout::new::<T>())) };
                match &mut self.0.of {
                    // SAFETY: the value was dropped or is no more, and the slot was taken apart.
                    Some((shared, chain)) if *shared == of => unsafe { chain.push(self.1) },
                    other => {
                        // SAFETY: as above.
                        let chain = unsafe { Chain::new(self.1) };
                        if let Some((shared, chain)) = other.replace((of, chain)) {
                            // SAFETY: invariant 1 of `Run`.
                            unsafe { finish(shared, chain) };
                        }
                    }
                }
            }
        }
        // SAFETY: the value is dropped here, and the place given back by the run.
        let place = unsafe { slot.into_place() };
        let _joining = Joining(self, place);
        if mem::needs_drop::<T>() {
            // SAFETY: it was the slot's, which is gone.
            unsafe { place.cast::<T>().drop_in_place() };
        }
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        if let Some((shared, chain)) = self.of.take() {
            // SAFETY: invariant 1.
            unsafe { finish(shared, chain) };
        }
    }
}

/// Gives a chain back, here or from afar.
///
/// # Safety
///
/// As for `Shared::give`.
unsafe fn finish(shared: NonNull<Shared>, chain: Chain) {
    // SAFETY: it is there until the last place was given back.
    let here = unsafe { shared.as_ref() };
    if here.near.is_here() {
        // SAFETY: they are vacant places of this slab, and no other thread is at its core.
        unsafe { here.near.core.take_back(chain.into_linked()) };
    } else {
        // SAFETY: by the caller.
        unsafe { Shared::give(shared, chain) };
    }
}

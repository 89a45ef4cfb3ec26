//! Slabs whose slots go to other threads.
//!
//! A [`Slab`] belongs to the thread that made it: only that thread inserts. Its [`Slot`]s are `Send` where their values are,
//! and may be dropped anywhere. On its own thread a slot is dropped as that of a [`slab::Slab`](super::Slab) is, after a look
//! at which thread this is. Another thread pushes the cell to a list of the slab's, with one atomic exchange, from which the
//! slab takes them all when its free stack is empty. [`drop_all`] gives back many at once.
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

use super::engine::{Core, CoreRef, Owners};
use super::geometry::Geometry;
use super::insert::{CellSource, InsertError, insert, insert_with, refused, try_insert, try_insert_with};
use super::key::Key;
use super::kind::sealed::Portable;
use super::memory::{Refusal, owner};
use super::remote::Chain;
use super::stack::CellPtr;
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem;

pub use super::remote::AnyThread;

/// The owner of a value in a [`sync::Slab`](Slab): `Send` and `Sync` where the value is.
///
/// Everything a [`slab::Slot`](super::Slot) can do but have a key.
pub type Slot<T> = super::Slot<T, AnyThread>;

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
pub type Pool = super::SizeClasses<AnyThread>;

/// The owner of a value in a [`sync::Pool`](Pool).
pub type PoolSlot<T> = super::Slot<T, super::InPool<AnyThread>>;

// SAFETY: on another thread than that of the slab `AnyThread` gives the cell to a list of atomics; and it is not `Keyed`.
unsafe impl Portable for AnyThread {}

/// Memory for values of one type, whose slots may be dropped on other threads.
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
    // 1. `core` came from `CoreRef::allocate` on this thread, with the geometry of a `T`. It is in service, and not freed, until
    //    the slab is dropped.
    core: CoreRef<AnyThread>,
    // Neither `Send`, because of invariant 1, nor `Sync`.
    of: PhantomData<*mut T>,
}

// SAFETY: by invariant 1 of `Slab` the cells of its core are for values of a `T`; the core pops and refills vacant ones. A slot of
// kind `AnyThread` frees its cell to the owner in the header of its block, which is that core.
unsafe impl<T> CellSource<T> for &Slab<T> {
    type Kind = AnyThread;

    #[inline(always)]
    fn pop(self) -> Option<CellPtr> {
        self.core().free.pop()
    }

    #[cold]
    #[inline(never)]
    fn refill(self) -> Result<CellPtr, Refusal> {
        // SAFETY: by invariant 1 of `Slab` the core was made on this thread, and not freed.
        unsafe { self.core.refill() }
    }
}

impl<T> Slab<T> {
    /// A slab without memory for values.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// [`new`](Self::new) that reports a failed allocation: a slab without values is a block of some 600 bytes.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory.
    pub fn try_new() -> Result<Self, AllocError<()>> {
        Self::try_with_capacity(0)
    }

    /// A slab with memory for this many values, which grows beyond.
    ///
    /// # Panics
    ///
    /// When that is more than [`MAX_CAPACITY`](super::MAX_CAPACITY).
    pub fn with_capacity(capacity: usize) -> Self {
        Self::allocate(capacity).unwrap_or_else(|refusal| refused(refusal))
    }

    /// [`with_capacity`](Self::with_capacity) that reports a failure.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory, or where `with_capacity` panics.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError<()>> {
        Self::allocate(capacity).map_err(|refusal| InsertError::new((), refusal, Layout::new::<T>()))
    }

    fn allocate(capacity: usize) -> Result<Self, Refusal> {
        let core = CoreRef::allocate(Geometry::of(Layout::new::<T>()), Key::LIMIT);
        let slab = Self { core: core.map_err(|error| Refusal::Alloc(error.layout()))?, of: PhantomData };
        slab.core().reserve(capacity)?;
        Ok(slab)
    }

    #[inline(always)]
    fn core(&self) -> &Core<AnyThread> {
        // SAFETY: by invariant 1 the core is not freed while the slab is borrowed.
        unsafe { self.core.get() }
    }

    /// Puts a value in a slot.
    ///
    /// ```
    /// let slab = dwell::slab::sync::Slab::new();
    /// assert_eq!(*slab.insert(7), 7);
    /// ```
    #[inline(always)]
    pub fn insert(&self, value: T) -> Slot<T> {
        insert(self, value)
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no chunk; the value comes back in the error.
    #[inline(always)]
    pub fn try_insert(&self, value: T) -> Result<Slot<T>, AllocError<T>> {
        try_insert(self, value)
    }

    /// Puts what `make` returns in a slot whose memory was taken before. It is given back if `make` panics.
    ///
    /// ```
    /// let slab = dwell::slab::sync::Slab::new();
    /// let page = slab.insert_with(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline(always)]
    pub fn insert_with(&self, make: impl FnOnce() -> T) -> Slot<T> {
        insert_with(self, make)
    }

    /// [`insert_with`](Self::insert_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// As [`try_insert`](Self::try_insert); `make` comes back in the error, not called.
    #[inline(always)]
    pub fn try_insert_with<F: FnOnce() -> T>(&self, make: F) -> Result<Slot<T>, AllocError<F>> {
        try_insert_with(self, make)
    }

    /// Calls `each`, which is no user's code, with the layout of each block that the slab has, and the bytes in it that hold
    /// nothing.
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        each(Layout::new::<Core<AnyThread>>(), 0);
        self.core().each_block(each);
    }

    /// Values in the slab, without those whose drop on another thread is over.
    pub fn len(&self) -> usize {
        self.core().len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values that there is memory for.
    pub fn capacity(&self) -> usize {
        self.core().capacity()
    }

    /// Gets memory for this many more values.
    ///
    /// # Panics
    ///
    /// When the slab would have memory for more than [`MAX_CAPACITY`](super::MAX_CAPACITY) values.
    pub fn reserve(&self, additional: usize) {
        self.core().reserve(additional).unwrap_or_else(|refusal| refused(refusal));
    }

    /// [`reserve`](Self::reserve) that reports a failure.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory, or where `reserve` panics.
    pub fn try_reserve(&self, additional: usize) -> Result<(), AllocError<()>> {
        self.core().reserve(additional).map_err(|refusal| InsertError::new((), refusal, Layout::new::<T>()))
    }

    /// Frees the chunks in which there is no value. Looks at every vacant cell.
    pub fn shrink_to_fit(&self) {
        // SAFETY: by invariant 1 the core was made on this thread, and not freed.
        unsafe { self.core.sweep() };
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        // SAFETY: by invariant 1 the core was made by `allocate` on this thread and is in service; the slab, which is being
        // dropped, does not use it again.
        unsafe { AnyThread::tear_down(self.core) };
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

/// Drops slots, and gives the cells of a run of slots of one slab back together: one atomic exchange instead of one each.
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
    let mut run = Run::<T> { of: None, values: PhantomData };
    for slot in slots {
        run.push(slot);
    }
}

/// Cells of one slab, which are given back at the end, however that comes.
struct Run<T> {
    // # Invariants
    //
    // 1. The cells of the chain are occupied cells of this core, for values of a `T`, which are gone. They are the run's to free.
    of: Option<(CoreRef<AnyThread>, Chain)>,
    values: PhantomData<T>,
}

impl<T> Run<T> {
    #[inline]
    fn push(&mut self, slot: Slot<T>) {
        /// A cell that joins the run when its value is dropped, even if that panics.
        struct Joining<'a, T>(&'a mut Run<T>, CellPtr);
        impl<T> Drop for Joining<'_, T> {
            #[inline(always)]
            fn drop(&mut self) {
                let Self(run, cell) = self;
                // SAFETY: it is the cell of a slot of kind `AnyThread` with a `T`, so of a `Core<AnyThread>` with that geometry. It
                // is occupied, so that its chunk was not freed.
                let core = unsafe { owner(*cell, Geometry::block(Layout::new::<T>())) };
                match &mut run.of {
                    // SAFETY: the value is gone, and `into_cell` has given the cell to us; it is of the same slab.
                    Some((of, chain)) if *of == core => unsafe { chain.push(*cell) },
                    _ => {
                        run.give();
                        // SAFETY: the value is gone, and `into_cell` has given the cell to us.
                        run.of = Some((core, unsafe { Chain::new(*cell) }));
                    }
                }
            }
        }
        let cell = slot.into_cell();
        let _joining = Joining(self, cell);
        if mem::needs_drop::<T>() {
            // SAFETY: the value was the slot's, which is taken apart; nobody else has it.
            unsafe { cell.cast::<T>().drop_in_place() };
        }
    }

    /// Gives the chain back.
    fn give(&mut self) {
        let Some((core, chain)) = self.of.take() else { return };
        // SAFETY: a core is not freed before its last cell was, and by invariant 1 the run has one.
        let here = unsafe { core.get() };
        if here.owners.is_here() {
            // SAFETY: the cells are linked, this core's, and ours to free; and this is the core's thread.
            unsafe { here.push_linked(chain.into_linked()) };
        } else {
            // SAFETY: by invariant 1 they are occupied cells of this core, whose values are gone, and the run's to free.
            unsafe { AnyThread::give(core, chain) };
        }
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        self.give();
    }
}

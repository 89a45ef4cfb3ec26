//! A slab without the type of its values: a free stack, the memory of its cells, and the rule that says which thread may free a cell.
//!
//! [`Core`] is the engine of every slab in this module. [`Owners`] is the only difference between slabs of one thread and slabs
//! whose slots are `Send`.

use super::dedicated;
use super::geometry::Geometry;
use super::key::Key;
use super::memory::{Entry, Memory, Refusal};
use super::stack::{CellPtr, FreeStack, StackFull};
use crate::alloc::{AllocError, try_box};
use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::mem::ManuallyDrop;
use core::num::NonZero;
use core::ptr::{self, NonNull};
use std_alloc::boxed::Box;

/// The engine of a slab.
#[repr(C)] // the free stack first, and what `O` is last: it may begin a cache line of its own
pub struct Core<O> {
    // # Invariants
    //
    // 1. Each cell on `free` or a list of returned cells is vacant, is on one of them once, and is in a chunk that was not freed.
    //    Cells that `memory` has carved and that are on none of them are occupied.
    // 2. `free` has capacity for all cells that were carved, except while `memory` is borrowed.
    // 3. `memory` is borrowed while the global allocator runs for it, but never while other code of a user does.
    //
    // A wrong implementation of `Module` (see `thread.rs`) may swap cells between cores of the same geometry. Then the stack's
    // capacity may be too small, and `occupied` may be wrong. No memory is freed by these, except in `tear_down`, which modules
    // do not call.
    pub(super) free: FreeStack,
    // Not dropped, so that a core in thread-local storage has no destructor, and no test for one at each use.
    memory: ManuallyDrop<RefCell<Memory<CoreRef<O>>>>,
    pub(super) owners: O,
}

/// The pointer to a core, with the right to free it.
///
/// Block headers have a copy of it. The last slot of a dropped slab frees the core through that copy, so it must not be derived
/// from a reference. Therefore no method of `&Core` returns one. There are three constructors:
///
/// - [`allocate`](Self::allocate): from `Box::into_raw`. It may read and write all of the core, and free it.
/// - [`of_static`](Self::of_static): of the empty core, which is never written to.
/// - [`of_thread`](Self::of_thread): of a core in thread-local storage. Writes go to `Cell`s only. It is never freed,
///   since the slots of a module find their core by the thread and not by a header.
pub struct CoreRef<O>(NonNull<Core<O>>);

impl<O> Clone for CoreRef<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for CoreRef<O> {}

impl<O> PartialEq for CoreRef<O> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// Which threads own the slots of a slab: [`OneThread`] or [`AnyThread`](super::sync::AnyThread).
///
/// # Safety
///
/// `try_free` and `free_slow` put each cell on exactly one list, from which it is taken once.
pub unsafe trait Owners: Sized + 'static {
    /// The empty core. Its free stack has no buffer, so pops and pushes fail. It is the owner of dedicated blocks.
    const NO_SLAB: CoreRef<Self>;

    /// For a slab of this thread.
    fn new() -> Self;

    /// Pushes a vacant cell to the free stack, if this thread may do that and the stack has capacity.
    ///
    /// # Safety
    ///
    /// It is a vacant cell of `core` on no list, and the caller does not use it again.
    unsafe fn try_free(core: &Core<Self>, cell: CellPtr) -> Result<(), StackFull>;

    /// Frees a cell which `try_free` refused, and the core if that was its last.
    ///
    /// # Safety
    ///
    /// It is an occupied cell of `core`, which is not `NO_SLAB`; neither is used again by the caller.
    unsafe fn free_slow(core: CoreRef<Self>, cell: CellPtr);

    /// Takes the linked list of cells that `free_slow` has kept.
    fn take_returned(&self) -> *mut Vacant;

    /// From now on, until [`resume`](Self::resume), `try_free` does not rely on the capacity of the free stack.
    fn suspend(&self) {}

    /// See [`suspend`](Self::suspend).
    fn resume(&self) {}

    /// Orphans a core: freeing its last cell frees the core, or this call does if no cell is occupied.
    ///
    /// # Safety
    ///
    /// The core came from [`CoreRef::allocate`] on this thread and is in service. The caller uses it no more.
    unsafe fn tear_down(core: CoreRef<Self>);
}

/// The contents of a vacant cell while it is linked.
pub struct Vacant {
    pub(super) next: *mut Vacant,
}

impl<O: Owners> CoreRef<O> {
    /// A new core in service, for at most `limit` cells.
    pub(super) fn allocate(geometry: Geometry, limit: usize) -> Result<Self, AllocError<()>> {
        let core = try_box(Core::new(FreeStack::new(0), geometry, limit, O::new())).map_err(|error| error.map(drop))?;
        // SAFETY: `Box::into_raw` returns the address of a box, which is not null.
        Ok(Self(unsafe { NonNull::new_unchecked(Box::into_raw(core)) }))
    }

    /// The core of no slab.
    pub(super) const fn of_static(core: &'static NoSlab<O>) -> Self {
        let NoSlab(core) = core;
        // SAFETY: the address of a static is not null.
        Self(unsafe { NonNull::new_unchecked((&raw const *core).cast_mut()) })
    }

    /// No core.
    #[cfg(all(loom, test, feature = "std"))]
    pub(super) const fn dangling() -> Self {
        Self(NonNull::dangling())
    }

    /// The core.
    ///
    /// # Safety
    ///
    /// It is not freed while the reference is used.
    #[inline(always)]
    pub(super) unsafe fn get<'a>(self) -> &'a Core<O> {
        // SAFETY: the three constructors are given a core, and the caller says that it was not freed. It is shared: after it was
        // made it changes through `Cell`s, and atomics.
        unsafe { self.0.as_ref() }
    }

    /// Takes a vacant cell, from memory that is new if there is no other. To be called if `free` has none.
    ///
    /// # Safety
    ///
    /// The core was not freed, and it is this thread's.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn refill(self) -> Result<CellPtr, Refusal> {
        // SAFETY: the caller says that the core was not freed; nothing below frees it.
        let core = unsafe { self.get() };
        core.collect();
        core.free.pop().map_or_else(|| core.grow(|memory| memory.carve(self, &core.free)), Ok)
    }

    /// Gets memory for this many more values than there are.
    ///
    /// # Safety
    ///
    /// The core was not freed, and it is this thread's.
    pub(super) unsafe fn reserve(self, additional: usize) -> Result<(), Refusal> {
        // SAFETY: the caller says that the core was not freed; nothing below frees it.
        let core = unsafe { self.get() };
        let len = core.len();
        core.grow(|memory| memory.reserve(self, &core.free, len, additional))
    }

    /// Frees an occupied cell after its value was dropped or moved out.
    ///
    /// # Safety
    ///
    /// It is a cell of this core, or a dedicated block's if this is `NO_SLAB`. Neither is used again by the caller.
    #[inline(always)]
    pub(super) unsafe fn free_cell(self, cell: CellPtr) {
        // SAFETY: a core is not freed before its last cell was, and the caller has one.
        let core = unsafe { self.get() };
        // SAFETY: the caller gives the cell away, whose value is gone; so it is vacant and on no list.
        if unsafe { O::try_free(core, cell) }.is_err() {
            // SAFETY: `StackFull` says that the cell came to no list, so it is ours to give still.
            unsafe { self.free_cell_slow(cell) };
        }
    }

    /// # Safety
    ///
    /// It is a cell of this core, or a dedicated block's if this is `NO_SLAB`, vacant and on no list. Neither is used again by the
    /// caller.
    #[cold]
    #[inline(never)]
    unsafe fn free_cell_slow(self, cell: CellPtr) {
        if self == O::NO_SLAB {
            // SAFETY: a cell with this owner is a dedicated block's, as the caller says.
            unsafe { dedicated::free::<Self>(cell) };
        } else {
            // SAFETY: the caller gives away an occupied cell of this core, which is another than `NO_SLAB`.
            unsafe { O::free_slow(self, cell) };
        }
    }

    /// Frees the chunks that have no occupied cell.
    ///
    /// # Safety
    ///
    /// The core was not freed, and it is this thread's.
    pub(super) unsafe fn sweep(self) {
        // SAFETY: the caller says that the core was not freed; nothing below frees it.
        let core = unsafe { self.get() };
        core.collect();
        let left = core.memory(|memory| {
            // SAFETY: by invariant 1 each cell on the stack is in a live chunk. It has the core's geometry, also if a `Module` returns
            // different slabs: these have values of the same type.
            unsafe { memory.sweep(self, &core.free) };
            memory.capacity
        });
        if left == Ok(0) {
            core.free.shrink();
        }
    }

    /// Frees the core and all its memory.
    ///
    /// # Safety
    ///
    /// It came from [`allocate`](Self::allocate). Neither it nor any of its cells is used again.
    #[cold]
    pub(super) unsafe fn free(self) {
        // SAFETY: the caller says that `allocate` made it, of a box, and that it is not used again.
        let core = *unsafe { Box::from_raw(self.0.as_ptr()) };
        // SAFETY: the caller says that no cell is used again, and the core, which had the memory, is gone.
        unsafe { ManuallyDrop::into_inner(core.memory).into_inner().free() };
        core.free.free();
    }
}

impl CoreRef<OneThread> {
    /// The core of a thread-local slab. It is not to be given to [`free`](Self::free) or [`Owners::tear_down`].
    #[cfg(feature = "std")]
    pub(super) fn of_thread(core: &Core<OneThread>) -> Self {
        Self(NonNull::from(core))
    }
}

impl<O: Owners> Core<O> {
    /// `free` has no buffer.
    pub(super) const fn new(free: FreeStack, geometry: Geometry, limit: usize, owners: O) -> Self {
        Self { free, memory: ManuallyDrop::new(RefCell::new(Memory::new(geometry, limit))), owners }
    }

    /// Whether this core has called the global allocator, and that has not returned. If the slab is torn down then, the allocator is
    /// ending the process: it has called `exit`, which drops thread-local variables. How many cells are occupied is not known, so
    /// the core is leaked.
    pub(super) fn is_growing(&self) -> bool {
        self.memory.try_borrow().is_err()
    }

    /// Runs `f` on the memory, or refuses if the global allocator has re-entered the slab from there.
    pub(super) fn memory<R>(&self, f: impl FnOnce(&mut Memory<CoreRef<O>>) -> R) -> Result<R, Refusal> {
        match self.memory.try_borrow_mut() {
            Ok(mut memory) => Ok(f(&mut memory)),
            Err(_) => Err(Refusal::Alloc(Layout::new::<Self>())),
        }
    }

    /// [`memory`](Self::memory) for calls that may replace the buffer of the stack.
    fn grow<R>(&self, f: impl FnOnce(&mut Memory<CoreRef<O>>) -> Result<R, Refusal>) -> Result<R, Refusal> {
        self.memory(|memory| {
            self.owners.suspend();
            let grown = f(memory);
            self.owners.resume();
            grown
        })?
    }

    /// Pushes the cells that `free_slow` has kept to the stack. Called on the core's thread.
    pub(super) fn collect(&self) {
        if self.is_growing() {
            // The global allocator has re-entered while the stack grows, which has no buffer just now.
            return;
        }
        let returned = self.owners.take_returned();
        // SAFETY: `take_returned` gives away linked vacant cells of this core.
        unsafe { self.push_linked(returned) };
    }

    /// Puts linked cells on the stack.
    ///
    /// # Safety
    ///
    /// From `at` on they are vacant cells of this core, linked, and owned by the caller. This is the core's thread.
    pub(super) unsafe fn push_linked(&self, mut at: *mut Vacant) {
        while let Some(cell) = NonNull::new(at) {
            // SAFETY: the caller says that the cells are linked: each begins with a `Vacant`.
            at = unsafe { cell.read() }.next;
            // SAFETY: a linked cell is vacant and, since it is in a list, on no stack. `at` has moved past it, so that this loop
            // does not reach it again. If the stack is full, a lying module freed a cell too often, or the global allocator has
            // re-entered: the cell is leaked, and its chunk stays.
            let _ = unsafe { self.free.push(cell.cast()) };
        }
    }

    /// Occupied cells, with those that were returned and not collected yet.
    pub(super) fn occupied(&self) -> usize {
        self.memory(|memory| memory.carved).unwrap_or(0).saturating_sub(self.free.len())
    }

    /// Occupied cells.
    pub(super) fn len(&self) -> usize {
        self.collect();
        self.occupied()
    }

    /// Cells of all chunks.
    pub(super) fn capacity(&self) -> usize {
        self.memory(|memory| memory.capacity).unwrap_or(0)
    }

    /// Calls `each`, which is no user's code, with the layout of each block of the allocator's, and the bytes in it that hold
    /// nothing.
    pub(super) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        each(Layout::new::<Self>(), 0);
        let len = self.len();
        let _ = self.memory(|memory| memory.each_block(len, each));
        if let Some((_, layout)) = self.free.buffer() {
            each(layout, (self.free.capacity() - self.free.len()) * size_of::<CellPtr>());
        }
    }

    /// The entry of the cell that a key names, if there is such a cell.
    #[inline]
    pub(super) fn entry(&self, key: Key) -> Option<Entry<CoreRef<O>>> {
        self.memory(|memory| memory.find(key)).ok()?
    }

    /// The key of the first leaked cell from this position on.
    pub(super) fn next_leaked(&self, from: usize) -> Option<Key> {
        self.memory(|memory| memory.next_leaked(from)).ok()?
    }

    /// Gives each leaked cell to `drop`, which may leak others: those too.
    ///
    /// A pass over the bitmaps takes time for the cells that there are, once. There is one for the values that were leaked
    /// before, and one more for all that destructors leak at lower positions during a pass.
    pub(super) fn drop_leaked(&self, mut drop: impl FnMut(CellPtr)) {
        let mut found = true;
        while found && self.memory(|memory| memory.has_leaked()) == Ok(true) {
            let mut at = 0;
            found = false;
            while let Some(key) = self.next_leaked(at) {
                at = key.index() as usize;
                self.entry(key).and_then(|entry| entry.reclaim()).into_iter().for_each(&mut drop);
                found = true;
            }
        }
    }
}

/// The slots of a slab stay on its thread: those of [`Slab`](super::Slab) and [`Bounded`](super::Bounded).
pub struct OneThread {
    /// Cells that were freed while the free stack grew, linked.
    returned: Cell<*mut Vacant>,
    /// Occupied cells, if the slab is gone: freeing the last of them frees the core. `None` while it is in service.
    left: Cell<Option<NonZero<usize>>>,
}

impl OneThread {
    pub(super) const fn on_any() -> Self {
        Self { returned: Cell::new(ptr::null_mut()), left: Cell::new(None) }
    }

    /// Keeps a cell that does not fit on the free stack.
    ///
    /// # Safety
    ///
    /// The cell is vacant and on no list, and the caller does not use it again.
    pub(super) unsafe fn link(&self, cell: CellPtr) {
        let vacant = cell.cast::<Vacant>();
        // SAFETY: the cell is vacant and the caller's to give away; a stride is at least 8 bytes, and aligned to 8.
        unsafe { vacant.write(Vacant { next: self.returned.get() }) };
        self.returned.set(vacant.as_ptr());
    }
}

/// The core of no slab: see [`Owners::NO_SLAB`].
pub(super) struct NoSlab<O>(Core<O>);

// SAFETY: nothing in it changes. Its stacks have no buffer, its memory has no chunk, and `free_cell` gives it no cell.
unsafe impl<O> Sync for NoSlab<O> {}

impl<O: Owners> NoSlab<O> {
    pub(super) const fn new(owners: O) -> Self {
        Self(Core::new(FreeStack::new(0), Geometry::of(Layout::new::<()>()), 0, owners))
    }
}

static NO_SLAB: NoSlab<OneThread> = NoSlab::new(OneThread::on_any());

// SAFETY: a cell is pushed to the free stack, or linked to `returned`, from where it comes to a stack.
unsafe impl Owners for OneThread {
    const NO_SLAB: CoreRef<Self> = CoreRef::of_static(&NO_SLAB);

    fn new() -> Self {
        Self::on_any()
    }

    #[inline(always)]
    unsafe fn try_free(core: &Core<Self>, cell: CellPtr) -> Result<(), StackFull> {
        // SAFETY: the caller says that the cell is vacant and on no list, and does not use it again.
        unsafe { core.free.push(cell) }
    }

    unsafe fn free_slow(core: CoreRef<Self>, cell: CellPtr) {
        // SAFETY: a core is not freed before its last cell was, and the caller has one.
        let owners = unsafe { &core.get().owners };
        let Some(left) = owners.left.get() else {
            // SAFETY: the caller says that the value is gone and gives the cell away; `try_free` has put it on no list.
            return unsafe { owners.link(cell) };
        };
        owners.left.set(NonZero::new(left.get() - 1));
        if owners.left.get().is_none() {
            // SAFETY: the slab is gone, and this was the last occupied cell. `owners` is not used again.
            unsafe { core.free() };
        }
    }

    fn take_returned(&self) -> *mut Vacant {
        self.returned.replace(ptr::null_mut())
    }

    unsafe fn tear_down(core: CoreRef<Self>) {
        // SAFETY: the caller says that it is in service, so that it was not freed.
        let here = unsafe { core.get() };
        if here.is_growing() {
            return;
        }
        let left = NonZero::new(here.len());
        here.owners.left.set(left);
        if left.is_none() {
            // SAFETY: no cell is occupied, and the caller says that the core is not used again. `here` is not either.
            unsafe { core.free() };
        } else {
            // From now on each drop finds a full stack, and is counted. The global allocator may drop the last slot.
            here.free.take().free();
        }
    }
}

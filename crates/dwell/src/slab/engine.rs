//! The engine of slabs, without the type of the values: a free stack, the memory of the cells, and the rule for which
//! threads may free a cell.
//!
//! [`Core`] is the engine of every slab in this module. [`Owners`] is the only difference between slabs of one thread
//! and slabs whose slots are `Send`.

use super::geometry::{FIRST_CELLS, Geometry, Starter};
use super::key::Key;
use super::memory::{CellEntry, Memory, Refusal};
use super::stack::{CellPtr, FreeStack, StackFull};
use crate::alloc::{try_alloc, try_box};
use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::hint::assert_unchecked;
use core::mem::{self, ManuallyDrop};
use core::num::NonZero;
use core::ptr::{self, NonNull};
use std_alloc::alloc::dealloc;
use std_alloc::boxed::Box;

/// The number of values leaked by destructors that are dropped in any case when a slab is dropped or its thread ends.
const MOST_LEAKED_AGAIN: usize = 1000;

/// The engine of a slab.
#[repr(C)] // `free` first and `owners` last: `owners` may begin a cache line of its own
pub struct Core<O> {
    // # Invariants
    //
    // 1. Each cell on `free` or on a list of returned cells is vacant, is on only one of these and only once, and is in
    //    a chunk that is not freed. A cell that `memory` has carved and that is on none of them is occupied, or kept by
    //    a `ThreadSlab` (`thread.rs`).
    // 2. While the slab was not torn down and `memory` is not borrowed, `free` of an allocated core has
    //    capacity for all carved cells, and each of its cells is this core's.
    // 3. `memory` is borrowed while the global allocator runs for it, but never while other user code runs.
    //
    // The core of a module has no invariant 2: a wrong implementation of `Module` (see `thread.rs`) may swap cells
    // between cores of the same geometry. Only `push_unchecked` and `tear_down` rely on invariant 2, and modules call
    // neither.
    pub(super) free: FreeStack,
    // `ManuallyDrop`, so that a core in thread-local storage has no destructor, and accesses do not test for one.
    memory: ManuallyDrop<RefCell<Memory<CoreRef<O>>>>,
    pub(super) owners: O,
}

/// A pointer to a core.
///
/// Block headers contain a copy of it. The last slot of a dropped slab frees the core through that copy, so the pointer
/// must not be derived from a reference. Therefore no method of `&Core` returns a `CoreRef`. There are three kinds of
/// constructors:
///
/// - [`allocate`](Self::allocate) and [`allocate_for`](Self::allocate_for): from the global allocator. This pointer may read,
///   write and free the core, and all of the chunk if the core is in a starter. Such a core is called *allocated* below.
/// - [`of_static`](Self::of_static): of the empty core, which is never written to.
/// - [`of_thread`](Self::of_thread): of a core in thread-local storage. Only the contents of `Cell`s and `RefCell`s are
///   written through it. The core is never freed, because the slots of a module find it by the thread and not by a header.
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

/// The rule for which threads may drop the slots of a slab: [`OneThread`] or [`AnyThread`](super::sync::AnyThread).
///
/// # Safety
///
/// `try_free` and `free_slow` put each cell on at most one list, from which it is taken once. `take_returned` returns a
/// linked list of vacant cells of this core that nothing else uses, whose last `next` is null. `NO_SLAB` is a static whose
/// stack never has a buffer.
pub unsafe trait Owners: Sized + 'static {
    /// The empty core. Its free stack has no buffer, so pops and pushes fail. It is the owner of dedicated blocks.
    const NO_SLAB: CoreRef<Self>;

    /// Creates the owners of a slab of this thread.
    fn new() -> Self;

    /// Pushes a vacant cell to the free stack, if this thread may do that and the stack has capacity.
    ///
    /// # Safety
    ///
    /// `cell` is a vacant cell of `core`, or of a dedicated block if that is `NO_SLAB`. It is on no list, and the
    /// caller does not use it again.
    unsafe fn try_free(core: &Core<Self>, cell: CellPtr) -> Result<(), StackFull>;

    /// Like [`try_free`](Self::try_free), but fails also if the stack of a pool is at its [mark](FreeStack::mark).
    ///
    /// # Safety
    ///
    /// The same as for [`try_free`](Self::try_free).
    #[inline(always)]
    unsafe fn try_free_in_pool(core: &Core<Self>, cell: CellPtr) -> Result<(), StackFull> {
        // SAFETY: the caller guarantees the same.
        unsafe { Self::try_free(core, cell) }
    }

    /// Called before a refill, because the stack is empty or at its lower mark.
    fn before_refill(_core: CoreRef<Self>) {}

    /// Called after a refill or a sweep.
    fn after_refill(_core: CoreRef<Self>) {}

    /// Ends the marks of the stack, and forgets what it counted.
    fn unmark(_core: CoreRef<Self>) {}

    /// Frees a cell that `try_free` or `try_free_in_pool` refused. If the slab was torn down and this was its last occupied
    /// cell, frees the core too.
    ///
    /// # Safety
    ///
    /// `cell` belongs to `core`, which is not `NO_SLAB`. Its value was dropped or moved out, and it is on no list. The
    /// caller uses neither the cell nor this reference to the core again.
    unsafe fn free_slow(core: CoreRef<Self>, cell: CellPtr);

    /// Takes the linked list of the cells that `free_slow` has kept. It is null if there are none.
    fn take_returned(&self) -> *mut Vacant;

    /// Stops `try_free` from relying on the capacity of the free stack, until [`resume`](Self::resume).
    fn suspend(&self) {}

    /// Ends [`suspend`](Self::suspend).
    fn resume(&self) {}

    /// Orphans a core. If no cell is occupied, this call frees it; otherwise freeing the last occupied cell does.
    ///
    /// # Safety
    ///
    /// The core was [allocated](CoreRef) on this thread and was not torn down. The caller does not use it again.
    unsafe fn tear_down(core: CoreRef<Self>);
}

/// The contents of a vacant cell in a linked list.
pub struct Vacant {
    pub(super) next: *mut Vacant,
}

impl<O: Owners> CoreRef<O> {
    /// Allocates a core for at most `limit` cells.
    pub(super) fn allocate(geometry: Geometry, limit: usize) -> Result<Self, Refusal> {
        Self::allocate_apart(FreeStack::new(0), geometry, limit)
    }

    fn allocate_apart(free: FreeStack, geometry: Geometry, limit: usize) -> Result<Self, Refusal> {
        let core = try_box(Core::new(free, geometry, limit, O::new()));
        let core = core.map_err(|error| Refusal::Alloc(error.layout()))?;
        // SAFETY: `Box::into_raw` returns the address of a box, which is not null.
        Ok(Self(unsafe { NonNull::new_unchecked(Box::into_raw(core)) }))
    }

    /// Allocates a core that will have at least `cells` cells, and whose stack has `ahead` words below the bottom: in a starter,
    /// if one has as many cells, otherwise apart and without cells.
    pub(super) fn allocate_for(geometry: Geometry, ahead: usize, cells: usize) -> Result<Self, Refusal> {
        let free = FreeStack::new(ahead);
        match geometry.starter(Layout::new::<Core<O>>(), ahead) {
            Some(starter) if cells <= FIRST_CELLS => Self::allocate_starter(free, geometry, starter),
            _ => Self::allocate_apart(free, geometry, Key::LIMIT),
        }
    }

    /// Allocates a core in a starter, which must be that of this geometry, a `Core<O>` and this stack.
    fn allocate_starter(free: FreeStack, geometry: Geometry, starter: Starter) -> Result<Self, Refusal> {
        let base = try_alloc(starter.layout).ok_or(Refusal::Alloc(starter.layout))?;
        // SAFETY: `base` was allocated with the layout, and by invariant 1 of `Starter` the core is inside it.
        let core = unsafe { base.add(starter.core_at) }.cast();
        // SAFETY: by the same invariant the words are inside it too.
        let words = unsafe { base.add(starter.stack_at) }.cast();
        // SAFETY: by invariant 1 of `Starter` there are words for this stack and `FIRST_CELLS` cells, aligned and apart from the
        // other parts. The core, and with it the stack, is not used after the starter is freed. The new stack has no buffer.
        unsafe { free.lend(words, FIRST_CELLS) };
        let mut new = Core::new(free, geometry, Key::LIMIT, O::new());
        // SAFETY: `base` was just allocated with the layout of a starter of this geometry. The memory has no chunk yet, and
        // `CoreRef::free` frees the starter.
        unsafe { new.memory.get_mut().start(Self(core), base, starter) };
        // SAFETY: by invariant 1 of `Starter` there is memory for a core here, aligned and apart from the other parts. It was
        // just allocated, so no other code uses it.
        unsafe { core.write(new) };
        Ok(Self(core))
    }

    /// Returns the pointer to an empty core.
    pub(super) const fn of_static(core: &'static NoSlab<O>) -> Self {
        let NoSlab(core) = core;
        // SAFETY: the address of a static is not null.
        Self(unsafe { NonNull::new_unchecked((&raw const *core).cast_mut()) })
    }

    /// Returns a pointer to no core, for models.
    #[cfg(all(loom, test, feature = "std"))]
    pub(super) const fn dangling() -> Self {
        Self(NonNull::dangling())
    }

    /// Returns a reference to the core.
    ///
    /// # Safety
    ///
    /// The core is not freed while the reference is used.
    #[inline(always)]
    pub(super) unsafe fn get<'a>(self) -> &'a Core<O> {
        // SAFETY: the constructors return pointers to an initialised core, and the caller guarantees that it is
        // not freed while the reference is used. A core is accessed only through shared references and changes through
        // `Cell`s, `RefCell`s and atomics.
        unsafe { self.0.as_ref() }
    }

    /// Returns a vacant cell: a returned one, or one from new memory if there is none. Called when `free` is empty.
    ///
    /// # Safety
    ///
    /// The core is not freed, and it belongs to a slab of this thread.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn refill(self) -> Result<CellPtr, Refusal> {
        // SAFETY: the caller guarantees that the core is not freed, and nothing below frees it.
        let core = unsafe { self.get() };
        O::before_refill(self);
        core.collect();
        let cell = core.free.pop().map_or_else(|| core.grow(|memory| memory.carve(self, &core.free)), Ok);
        O::after_refill(self);
        cell
    }

    /// Reserves memory for `additional` more values.
    ///
    /// # Safety
    ///
    /// The core is not freed, and it belongs to a slab of this thread.
    pub(super) unsafe fn reserve(self, additional: usize) -> Result<(), Refusal> {
        // SAFETY: the caller guarantees that the core is not freed, and nothing below frees it.
        let core = unsafe { self.get() };
        let len = core.len();
        core.grow(|memory| memory.reserve(self, &core.free, len, additional))
    }

    /// Frees an occupied cell.
    ///
    /// # Safety
    ///
    /// `cell` is an occupied cell of this core, or that of a dedicated block if this is `NO_SLAB`. It contains no live
    /// value. The caller uses neither the cell nor this reference to the core again.
    #[inline(always)]
    pub(super) unsafe fn free_cell(self, cell: CellPtr) {
        // SAFETY: a core is not freed while one of its cells is occupied, and up to this call the cell is. `NO_SLAB` is
        // a static.
        let core = unsafe { self.get() };
        // SAFETY: the caller guarantees that the cell is occupied, so on no list, contains no live value, and is not
        // used again. So it is vacant now.
        if unsafe { O::try_free(core, cell) }.is_err() {
            // SAFETY: `try_free` failed, so the cell is still on no list. The caller guarantees the rest.
            unsafe { self.free_cell_slow(cell) };
        }
    }

    /// Like [`free_cell`](Self::free_cell), for a pool.
    ///
    /// # Safety
    ///
    /// The same as for [`free_cell`](Self::free_cell).
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) unsafe fn free_cell_in_pool(self, cell: CellPtr) {
        // SAFETY: a core is not freed while one of its cells is occupied, and up to this call the cell is. `NO_SLAB` is
        // a static.
        let core = unsafe { self.get() };
        // SAFETY: the caller guarantees that the cell is occupied, so on no list, contains no live value, and is not
        // used again. So it is vacant now.
        if unsafe { O::try_free_in_pool(core, cell) }.is_err() {
            // SAFETY: `try_free_in_pool` failed, so the cell is still on no list. The caller guarantees the rest.
            unsafe { self.free_cell_slow(cell) };
        }
    }

    /// Frees a cell that `try_free` or `try_free_in_pool` refused.
    ///
    /// # Safety
    ///
    /// `cell` belongs to this core, or to a dedicated block if this is `NO_SLAB`. It is vacant and on no list. The
    /// caller uses neither the cell nor this reference to the core again.
    #[cold]
    #[inline(never)]
    unsafe fn free_cell_slow(self, cell: CellPtr) {
        // Only pools have dedicated blocks.
        #[cfg(feature = "std")]
        if self == O::NO_SLAB {
            // SAFETY: the caller guarantees that a cell with this owner is that of a dedicated block, which
            // `dedicated::allocate` made with this type of owner, and that it is not used again.
            unsafe { super::dedicated::free::<Self>(cell) };
            return;
        }
        // SAFETY: this core is not `NO_SLAB`. The caller guarantees that the cell belongs to this core, contains no value, is on
        // no list, and is not used again.
        unsafe { O::free_slow(self, cell) };
    }

    /// Frees the chunks that have no occupied cell.
    ///
    /// # Safety
    ///
    /// The core is not freed, and it belongs to a slab of this thread.
    pub(super) unsafe fn sweep(self) {
        // SAFETY: the caller guarantees that the core is not freed, and nothing below frees it.
        let core = unsafe { self.get() };
        core.collect();
        if core.is_growing() {
            return;
        }
        O::unmark(self);
        let _ = core.grow(|memory| {
            // SAFETY: by invariant 1 each cell on the stack is in a chunk that is not freed. The chunk has the geometry
            // of this core, even if a wrong `Module` returns different slabs, because these hold values of the same
            // type, and a slot's kind cannot change.
            unsafe { memory.sweep(self, &core.free) };
            core.free.shrink(memory.capacity);
            Ok(())
        });
        O::after_refill(self);
    }

    /// Frees the core and all its memory.
    ///
    /// # Safety
    ///
    /// The core came from [`allocate`](Self::allocate) or [`allocate_for`](Self::allocate_for). Neither the core nor any of
    /// its cells is used again.
    #[cold]
    pub(super) unsafe fn free(self) {
        const { assert!(!mem::needs_drop::<Core<O>>(), "the core in a starter is not dropped") };
        // SAFETY: the core is freed at the end of this function only.
        let core = unsafe { self.get() };
        core.free.take().free();
        // SAFETY: the caller guarantees that the core is not used again, so there is no other reference to its memory, now or
        // while the global allocator runs.
        let memory = unsafe { &mut *core.memory.as_ptr() };
        // SAFETY: the caller guarantees that no cell is used again, and nothing uses the memory again.
        if let Some((base, layout)) = unsafe { memory.free() } {
            // SAFETY: the first chunk is a starter, which `allocate_starter` got from the global allocator with this layout.
            // The core is in it and has no destructor. Neither is used again.
            unsafe { dealloc(base.as_ptr(), layout) };
        } else {
            // SAFETY: there is no starter, so the pointer came from `allocate`, which got it from `Box::into_raw`. The caller
            // guarantees that the core is not used again.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl CoreRef<OneThread> {
    /// Returns the pointer to the core of a thread-local slab. It must not be passed to [`free`](Self::free) or
    /// [`Owners::tear_down`].
    #[cfg(feature = "std")]
    pub(super) fn of_thread(core: &Core<OneThread>) -> Self {
        Self(NonNull::from(core))
    }
}

impl<O: Owners> Core<O> {
    /// Creates a core. `free` must have no buffer.
    pub(super) const fn new(free: FreeStack, geometry: Geometry, limit: usize, owners: O) -> Self {
        Self { free, memory: ManuallyDrop::new(RefCell::new(Memory::new(geometry, limit))), owners }
    }

    /// Returns whether this core is inside a call of the global allocator. If the slab is torn down meanwhile, the
    /// allocator is ending the process: it has called `exit`, which drops thread-local variables. The number of
    /// occupied cells is not known then, so the core is leaked.
    pub(super) fn is_growing(&self) -> bool {
        self.memory.try_borrow().is_err()
    }

    /// Calls `f` with the memory, or returns a refusal if the global allocator has re-entered the slab.
    #[inline]
    pub(super) fn memory<R>(&self, f: impl FnOnce(&mut Memory<CoreRef<O>>) -> R) -> Result<R, Refusal> {
        match self.memory.try_borrow_mut() {
            Ok(mut memory) => Ok(f(&mut memory)),
            Err(_) => Err(Refusal::ReEntered),
        }
    }

    /// Like [`memory`](Self::memory), but for calls that may replace the buffer of the stack.
    pub(super) fn grow<R>(&self, f: impl FnOnce(&mut Memory<CoreRef<O>>) -> Result<R, Refusal>) -> Result<R, Refusal> {
        self.memory(|memory| {
            self.owners.suspend();
            let grown = f(memory);
            self.owners.resume();
            grown
        })?
    }

    /// Pushes the cells that `free_slow` has kept to the stack. Must be called on the thread of the slab.
    pub(super) fn collect(&self) {
        if self.is_growing() {
            // The global allocator has re-entered while the stack grows, so the stack has no buffer.
            return;
        }
        let returned = self.owners.take_returned();
        // SAFETY: `take_returned` returns a linked list of vacant cells of this core, which nothing else uses. The callers
        // are methods of a slab, which does not leave its thread, so this is the thread of the slab.
        unsafe { self.push_linked(returned) };
    }

    /// Pushes linked cells to the stack.
    ///
    /// # Safety
    ///
    /// `at` is null or begins a linked list of vacant cells of this core, which the caller owns. This is the thread of
    /// the slab.
    pub(super) unsafe fn push_linked(&self, mut at: *mut Vacant) {
        while let Some(cell) = NonNull::new(at) {
            // SAFETY: the caller guarantees that the cells are linked, so each begins with a `Vacant`.
            at = unsafe { cell.read() }.next;
            // SAFETY: a linked cell is vacant and on no stack, and the caller owns it. `at` has moved past it, so this
            // loop does not reach it again. If the push fails, a wrong `Module` has freed foreign cells to this core,
            // or the global allocator has re-entered. Then the cell is leaked, and its chunk stays.
            let _ = unsafe { self.free.push_beyond(cell.cast()) };
        }
    }

    /// Returns the number of occupied cells, including returned cells that are not collected yet.
    pub(super) fn occupied(&self) -> usize {
        self.memory(|memory| memory.carved).unwrap_or(0).saturating_sub(self.free.len())
    }

    /// Returns the number of occupied cells.
    pub(super) fn len(&self) -> usize {
        self.collect();
        self.occupied()
    }

    /// Returns whether no cell is occupied, and a new core may take the place of this one: see [`Memory::is_only_starter`].
    /// Returned cells must have been collected.
    pub(super) fn is_unused(&self) -> bool {
        self.occupied() == 0 && self.memory(|memory| memory.is_only_starter()) == Ok(true)
    }

    /// Returns the number of cells in all chunks.
    pub(super) fn capacity(&self) -> usize {
        self.memory(|memory| memory.capacity).unwrap_or(0)
    }

    /// Calls `each` with the layout of each allocation and the number of unused bytes in it. `each` must not be user
    /// code. It may allocate: the memory is borrowed meanwhile, so an allocator that uses this slab does not free it.
    pub(super) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        let len = self.len();
        let _ = self.memory(|memory| {
            if memory.starter.is_none() {
                each(Layout::new::<Self>(), 0);
            }
            memory.each_block(len, each);
            if let Some((_, layout)) = self.free.buffer() {
                each(layout, (self.free.capacity() - self.free.len()) * size_of::<CellPtr>());
            }
        });
    }

    /// Calls `f` with the memory, of which the compiler then knows the geometry. Returns `None` if the memory is
    /// borrowed.
    ///
    /// The callers' geometry is a constant, so finding a cell takes no division and no multiplication by a number that
    /// is only known at run time: `cargo run --release -p dwell-bench -- slab --workload find/64B --ir`
    ///
    /// # Safety
    ///
    /// The core has this geometry.
    #[inline]
    unsafe fn memory_of<R>(&self, geometry: Geometry, f: impl FnOnce(&Memory<CoreRef<O>>) -> Option<R>) -> Option<R> {
        self.memory(|memory| {
            // SAFETY: the caller guarantees that this is the geometry of the core, and so of its memory.
            unsafe { assert_unchecked(memory.geometry() == geometry) };
            f(memory)
        })
        .ok()?
    }

    /// Returns the entry of the cell with this key, if there is such a cell.
    ///
    /// # Safety
    ///
    /// The core has this geometry.
    #[inline]
    pub(super) unsafe fn entry(&self, key: Key, geometry: Geometry) -> Option<CellEntry<CoreRef<O>>> {
        // SAFETY: the caller guarantees that the core has this geometry.
        unsafe { self.memory_of(geometry, |memory| memory.find(key)) }
    }

    /// Returns the entry of the first leaked cell whose position is at least `from`.
    ///
    /// # Safety
    ///
    /// The core has this geometry.
    #[inline]
    pub(super) unsafe fn next_leaked(&self, from: usize, geometry: Geometry) -> Option<CellEntry<CoreRef<O>>> {
        // SAFETY: the caller guarantees that the core has this geometry.
        unsafe { self.memory_of(geometry, |memory| memory.next_leaked(from)) }
    }

    /// Calls `drop` with each leaked cell, and with those that `drop` leaks: at most as many as were leaked before, or
    /// [`MOST_LEAKED_AGAIN`]. Otherwise this would never end for destructors that always leak a value, such as that of a
    /// connection that returns to a list of idle ones.
    ///
    /// Each pass over the bitmaps takes time linear in the number of cells. The first pass finds the values that were
    /// leaked before. If destructors leak values at lower positions during a pass, another pass finds these. So a chain of
    /// values, each of which leaks the next at a lower position, takes quadratic time in the number of blocks.
    pub(super) fn drop_leaked(&self, drop: &mut dyn FnMut(CellPtr)) {
        let leaked = || self.memory(|memory| memory.leaked()).unwrap_or(0);
        let before = leaked();
        if before == 0 {
            return;
        }
        let mut most = before + before.max(MOST_LEAKED_AGAIN);
        let mut found = true;
        while found && leaked() != 0 {
            let mut at = 0;
            found = false;
            while let Ok(Some(entry)) = self.memory(|memory| memory.next_leaked(at)) {
                if most == 0 {
                    return;
                }
                most -= 1;
                at = entry.key().index() as usize;
                entry.reclaim().into_iter().for_each(&mut *drop);
                found = true;
            }
        }
    }
}

/// The slot kind of slabs whose slots stay on their thread: [`Slab`](super::Slab) and [`Bounded`](super::Bounded).
pub struct OneThread {
    /// The linked list of cells that were freed while the free stack grew.
    returned: Cell<*mut Vacant>,
    /// The number of occupied cells after tear-down: freeing the last one frees the core. `None` before.
    left: Cell<Option<NonZero<usize>>>,
}

impl OneThread {
    pub(super) const fn on_any() -> Self {
        Self { returned: Cell::new(ptr::null_mut()), left: Cell::new(None) }
    }

    /// Links a cell that does not fit on the free stack to `returned`.
    ///
    /// # Safety
    ///
    /// The cell is vacant and on no list, and the caller does not use it again.
    pub(super) unsafe fn link(&self, cell: CellPtr) {
        let vacant = cell.cast::<Vacant>();
        // SAFETY: the caller guarantees that the cell is vacant and not used again. A cell has at least 8 bytes and is
        // aligned to 8, so it holds a `Vacant`.
        unsafe { vacant.write(Vacant { next: self.returned.get() }) };
        self.returned.set(vacant.as_ptr());
    }
}

/// An empty core: see [`Owners::NO_SLAB`].
pub(super) struct NoSlab<O>(Core<O>);

// SAFETY: nothing in an empty core changes, so threads may share it. Its free stack has no buffer, so pops and pushes
// fail without a write. Pools neither refill it nor borrow its `RefCell`, and `free_cell` puts no cell on its lists.
unsafe impl<O> Sync for NoSlab<O> {}

impl<O: Owners> NoSlab<O> {
    pub(super) const fn new(owners: O) -> Self {
        Self(Core::new(FreeStack::new(0), Geometry::of(Layout::new::<()>()), 0, owners))
    }
}

static NO_SLAB: NoSlab<OneThread> = NoSlab::new(OneThread::on_any());

// SAFETY: `try_free` pushes a cell to the free stack. If that fails, `free_slow` links it to `returned`, from which
// `collect` pushes it to the stack, or only counts it if the slab was torn down.
unsafe impl Owners for OneThread {
    const NO_SLAB: CoreRef<Self> = CoreRef::of_static(&NO_SLAB);

    fn new() -> Self {
        Self::on_any()
    }

    #[inline(always)]
    unsafe fn try_free(core: &Core<Self>, cell: CellPtr) -> Result<(), StackFull> {
        // SAFETY: the caller guarantees that the cell is vacant, on no list, and not used again.
        unsafe { core.free.push(cell) }
    }

    unsafe fn free_slow(core: CoreRef<Self>, cell: CellPtr) {
        // SAFETY: a core is not freed while one of its cells is occupied, and up to this call the cell is.
        let owners = unsafe { &core.get().owners };
        let Some(left) = owners.left.get() else {
            // SAFETY: the caller guarantees that the cell contains no value, is on no list, and is not used again.
            return unsafe { owners.link(cell) };
        };
        owners.left.set(NonZero::new(left.get() - 1));
        if owners.left.get().is_none() {
            // SAFETY: `left` was not `None`, so the slab was torn down: the core was allocated, and the slab
            // does not use it again. This was the last occupied cell, and `owners` is not used again.
            unsafe { core.free() };
        }
    }

    fn take_returned(&self) -> *mut Vacant {
        self.returned.replace(ptr::null_mut())
    }

    unsafe fn tear_down(core: CoreRef<Self>) {
        // SAFETY: the caller guarantees that the core was not torn down, so it is not freed.
        let here = unsafe { core.get() };
        if here.is_growing() {
            return;
        }
        if here.len() != 0 {
            // SAFETY: the core is not freed, and the caller guarantees that it belongs to a slab of this thread.
            unsafe { core.sweep() };
        }
        let left = NonZero::new(here.len());
        here.owners.left.set(left);
        if left.is_none() {
            // SAFETY: no cell is occupied, so none is used again. The caller guarantees that the core was
            // allocated and is not used again, and `here` is not used again either.
            unsafe { core.free() };
        } else {
            // Without a buffer each drop finds a full stack and is counted. `take` comes first, because the global
            // allocator may drop the last slot, and with it the core, while it frees the buffer.
            here.free.take().free();
        }
    }
}

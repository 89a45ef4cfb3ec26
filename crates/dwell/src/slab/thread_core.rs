//! The slab of a module on one thread, without the type of its values: compiled once, and not for each module.

use super::engine::{Core, CoreRef, OneThread};
use super::geometry::Geometry;
use super::insert::refused;
use super::memory::Refusal;
use super::stack::{AHEAD, CellPtr, FreeStack, StackFull};
use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::mem;
use core::ptr::{self, NonNull};
use std_alloc::vec::Vec;

/// A word for one vacant cell, which is used before the free stack.
///
/// A drop stores a cell here and the next insert takes it, at a fixed address. With the stack alone, the insert must
/// first load the `top` that the drop has just stored. A lifecycle, which is an insert, a read and a drop, takes 6.1
/// ticks without this word and 4.1 with it, of which writing the value takes 3 (`cargo run --release -p dwell-bench --
/// slab --times --workload lifecycle/64B`).
struct CachedCell(
    // Invariant: null if there is no cell, `CLOSED` if none may be stored again, or the address of a vacant cell that
    // is on no list.
    Cell<*mut ()>,
);

impl CachedCell {
    /// The value of a closed word. No cell has this address, because cells are aligned to 8.
    const CLOSED: *mut () = ptr::without_provenance_mut(1);

    #[inline(always)]
    fn take(&self) -> Option<CellPtr> {
        let cell = self.0.get();
        if cell.addr() <= Self::CLOSED.addr() {
            return None;
        }
        self.0.set(ptr::null_mut());
        NonNull::new(cell)
    }

    /// Stores a vacant cell, if there is none yet.
    #[inline(always)]
    fn put(&self, cell: CellPtr) -> Result<(), StackFull> {
        if !self.0.get().is_null() {
            return Err(StackFull);
        }
        self.0.set(cell.as_ptr());
        Ok(())
    }

    /// Closes the word, which must be empty, so that it takes no further cell.
    fn close(&self) {
        self.0.set(Self::CLOSED);
    }
}

/// The slab of one module on one thread. It has no destructor: [`tear_down`](Self::tear_down) is called at the thread's end.
pub(super) struct ThreadCore {
    // # Invariants
    //
    // 1. A `ThreadCore` with cells is in thread-local storage, because inserts reach it only by a `LocalKey`.
    // 2. Both stacks have `AHEAD` words below the bottom.
    // 3. In phase `Ended` the vacant cells are on `parked`. The free stack of the core has no buffer and `cached` is
    //    closed, so every insert and every drop takes the slow path.
    cached: CachedCell,
    pub(super) core: Core<OneThread>,
    parked: FreeStack,
    phase: Cell<Phase>,
    /// Whether the slab was set up, by `init`, `reserve` or an insert.
    initialized: Cell<bool>,
}

/// The phase of a thread's slab.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The slab was not used yet.
    New,
    /// The slab is in use, and `tear_down` will be called when the thread ends.
    InService,
    /// `tear_down` was called. Slots may be left, and destructors of thread-local variables may use the slab.
    Ended,
}

impl ThreadCore {
    /// Creates a slab without memory, for at most `limit` values.
    pub(super) const fn new(geometry: Geometry, limit: usize) -> Self {
        Self {
            cached: CachedCell(Cell::new(ptr::null_mut())),
            core: Core::new(FreeStack::new(AHEAD), geometry, limit, OneThread::on_any()),
            parked: FreeStack::new(AHEAD),
            phase: Cell::new(Phase::New),
            initialized: Cell::new(false),
        }
    }

    #[inline(always)]
    pub(super) fn pop(&self) -> Option<CellPtr> {
        // An insert right after a drop takes the cached cell. Only further inserts in a row pop the stack.
        match self.cached.take() {
            // SAFETY: by invariant 2 the stack has `AHEAD` words below the bottom.
            None => unsafe { self.core.free.pop_prefetch::<AHEAD>() },
            cell => cell,
        }
    }

    /// Stores a vacant cell in the cached word or on the free stack, if one of them can take it.
    ///
    /// # Safety
    ///
    /// The cell is vacant, belongs to a slab with this geometry, and is on no list. The caller does not use it again.
    #[inline(always)]
    pub(super) unsafe fn free_cell(&self, cell: CellPtr) -> Result<(), StackFull> {
        match self.cached.put(cell) {
            Ok(()) => Ok(()),
            // SAFETY: the caller guarantees that the cell is vacant, on no list, and not used again. `put` failed, so it is
            // not the cached cell.
            Err(StackFull) => unsafe { self.core.free.push(cell) },
        }
    }

    /// Moves all vacant cells to the stack of the core and calls `f`, which must not be user code.
    fn with_cells<R>(&self, f: impl FnOnce(CoreRef<OneThread>, &Core<OneThread>) -> R) -> R {
        let phase = self.phase.get();
        if phase == Phase::Ended {
            // In service meanwhile, in case the global allocator re-enters.
            self.phase.set(Phase::InService);
            self.core.free.swap(&self.parked);
        }
        if let Some(cell) = self.cached.take()
            // SAFETY: by the invariant of `CachedCell` the cell is vacant and on no list. `take` has removed it from
            // the word.
            && unsafe { self.core.free.push(cell) }.is_err()
        {
            // SAFETY: the cell is vacant and was taken from the word, and `push` failed, so it is on no list.
            unsafe { self.core.owners.link(cell) };
        }
        let result = f(CoreRef::of_thread(&self.core), &self.core);
        if phase == Phase::Ended {
            self.core.free.swap(&self.parked);
            self.phase.set(phase);
        }
        result
    }

    /// Returns the number of values on this thread.
    pub(super) fn len(&self) -> usize {
        self.with_cells(|_, core| core.len())
    }

    /// Ends the slab: from now on every insert and every drop takes the slow path.
    fn end(&self) {
        // A wrong `Module` that returns this slab for two of its own has it torn down twice. A second swap would return
        // the cells to the fast path (invariant 3), and the last slot would not free their chunks.
        if self.phase.get() == Phase::Ended {
            return;
        }
        self.with_cells(|_, core| core.free.swap(&self.parked));
        self.cached.close();
        self.phase.set(Phase::Ended);
    }

    /// Ensures that `tear_down` is called when the thread ends, or ends the slab at once if the thread is already ending.
    fn begin(&self, descriptor: &'static Descriptor) -> Result<(), Refusal> {
        if self.phase.get() == Phase::New {
            match AT_EXIT.try_with(|at_exit| at_exit.add(descriptor)) {
                Ok(result) => {
                    result?;
                    self.phase.set(Phase::InService);
                }
                Err(_) => self.end(),
            }
        }
        Ok(())
    }

    /// Returns a vacant cell if the stack is empty, and sets the slab up for that.
    fn refill(&self, descriptor: &'static Descriptor) -> Result<CellPtr, Refusal> {
        self.begin(descriptor)?;
        // SAFETY: the core is a field of the slab, which is borrowed, so it is not freed. By invariant 1 the slab is in storage
        // of this thread.
        let cell = self.with_cells(|core, _| unsafe { core.refill() })?;
        self.initialized.set(true);
        Ok(cell)
    }

    /// Frees a cell that the stack cannot take, because the slab was torn down or is growing.
    ///
    /// # Safety
    ///
    /// The cell is vacant, belongs to a slab with this geometry, and is on no list. The caller does not use it again.
    unsafe fn free_slow(&self, cell: CellPtr) {
        // SAFETY: the caller guarantees that the cell is vacant, on no list, and not used again.
        unsafe { self.core.owners.link(cell) };
        if self.phase.get() == Phase::Ended && self.len() == 0 {
            self.sweep();
        }
    }

    /// Reserves memory for `additional` more values, and sets the slab up.
    fn reserve(&self, additional: usize, descriptor: &'static Descriptor) -> Result<(), Refusal> {
        self.begin(descriptor)?;
        self.reserve_cells(additional)?;
        self.initialized.set(true);
        Ok(())
    }

    fn reserve_cells(&self, additional: usize) -> Result<(), Refusal> {
        // SAFETY: the core is a field of the slab, which is borrowed, so it is not freed. By invariant 1 the slab is in
        // storage of this thread.
        self.with_cells(|core, _| unsafe { core.reserve(additional) })
    }

    /// Sets the slab up with a limit and a size of chunks, and reserves memory. After an error it is as a new one for at most
    /// `usual` values.
    fn set_up(
        &self,
        [limit, chunk_capacity, preallocate]: [usize; 3],
        usual: usize,
        descriptor: &'static Descriptor,
    ) -> Result<(), Refusal> {
        if self.initialized.get() {
            return Err(Refusal::Initialized);
        }
        self.begin(descriptor)?;
        let configured = self.core.memory(|memory| memory.configure(limit, chunk_capacity));
        let reserved = configured.and_then(|()| self.reserve_cells(preallocate));
        match reserved {
            Ok(()) => self.initialized.set(true),
            Err(_) => self.reset(usual),
        }
        reserved
    }

    /// Returns whether the slab was set up, by `init`, `reserve` or an insert.
    pub(super) fn is_initialized(&self) -> bool {
        self.initialized.get()
    }

    /// Frees the chunks that have no occupied cell, and undoes `set_up`.
    fn reset(&self, limit: usize) {
        self.sweep();
        self.initialized.set(false);
        let _ = self.core.memory(|memory| memory.configure(limit, 0));
    }

    /// Frees the chunks that have no occupied cell.
    fn sweep(&self) {
        // SAFETY: the core is a field of the slab, which is borrowed, so it is not freed. By invariant 1 the slab is in
        // storage of this thread.
        self.with_cells(|core, _| unsafe { core.sweep() });
    }

    /// Drops the leaked values and frees the chunks without values. Dropping the last slot frees the rest.
    ///
    /// # Safety
    ///
    /// The slab is one that the descriptor finds.
    unsafe fn tear_down(&self, descriptor: &Descriptor) {
        self.core.drop_leaked(&mut |cell| {
            if let Some(drop) = descriptor.drop {
                // SAFETY: the cell was leaked, and its bit was cleared, so no other code uses its value. By the invariants of
                // `Descriptor` the value is of the type that `drop` drops.
                unsafe { drop(cell) };
            }
            // SAFETY: the cell is of this slab. It was leaked, so it is on no list, and its value was dropped.
            if let Err(StackFull) = unsafe { self.free_cell(cell) } {
                // SAFETY: the same, and `free_cell` failed, so the cell is on no list.
                unsafe { self.free_slow(cell) };
            }
        });
        self.end();
        self.sweep();
    }
}

/// The slab of a module on this thread, or nothing if it is gone. Functions get it and do not keep it.
pub(super) struct Local(
    // Invariant: the slab is in thread-local storage of this thread. std frees that only when the thread ends, while no function
    // runs that has a `Local`.
    Option<NonNull<ThreadCore>>,
);

impl Local {
    pub(super) const GONE: Self = Self(None);

    /// Wraps a slab in thread-local storage.
    #[inline(always)]
    pub(super) fn new(slab: &ThreadCore) -> Self {
        Self(Some(NonNull::from(slab)))
    }

    #[inline(always)]
    pub(super) fn get(&self) -> Option<&ThreadCore> {
        // SAFETY: by the invariant the slab is not freed while this `Local` exists. It is only accessed by shared references.
        self.0.map(|slab| unsafe { slab.as_ref() })
    }
}

/// What the code that is compiled once knows of a module.
pub(super) struct Descriptor {
    // # Invariants
    //
    // 1. `find` finds slabs whose cells have the layout `value`. Their leaked cells hold values of one type.
    // 2. `drop` drops a value of this type, if that needs it.
    find: fn() -> Local,
    drop: Option<unsafe fn(CellPtr)>,
    value: Layout,
}

/// Drops the value in a cell.
///
/// # Safety
///
/// The cell holds a `T`, which no other code uses.
unsafe fn drop_value<T>(cell: CellPtr) {
    // SAFETY: the caller guarantees that the cell holds a `T` that no other code uses.
    unsafe { cell.cast::<T>().drop_in_place() };
}

impl Descriptor {
    /// # Safety
    ///
    /// The cells of the slabs that `find` finds have the layout of a `T`, and their leaked cells hold a `T`.
    pub(super) const unsafe fn new<T>(find: fn() -> Local) -> Self {
        let drop: Option<unsafe fn(CellPtr)> = if mem::needs_drop::<T>() { Some(drop_value::<T>) } else { None };
        Self { find, drop, value: Layout::new::<T>() }
    }

    /// Calls a function with the slab. A slab that is gone refuses.
    fn try_call<R>(&self, f: impl FnOnce(&ThreadCore) -> Result<R, Refusal>) -> Result<R, Refusal> {
        (self.find)().get().map_or(Err(Refusal::Alloc(self.value)), f)
    }

    /// See [`ThreadCore::reserve`].
    pub(super) fn reserve(&'static self, additional: usize) -> Result<(), Refusal> {
        self.try_call(|slab| slab.reserve(additional, self))
    }

    /// See [`ThreadCore::set_up`].
    pub(super) fn set_up(&'static self, sizes: [usize; 3], usual: usize) -> Result<(), Refusal> {
        self.try_call(|slab| slab.set_up(sizes, usual, self))
    }

    /// See [`ThreadCore::sweep`].
    pub(super) fn sweep(&self) {
        let _ = self.try_call(|slab| {
            slab.sweep();
            Ok(())
        });
    }

    /// Frees all memory and undoes `set_up`, or returns the number of values.
    pub(super) fn shut_down(&self, limit: usize) -> Result<(), usize> {
        let local = (self.find)();
        let Some(slab) = local.get() else { return Ok(()) };
        match slab.len() {
            0 => slab.reset(limit),
            len => return Err(len),
        }
        Ok(())
    }
}

/// Allocates a cell for a module whose stack is empty.
#[cold]
#[inline(never)]
pub(super) fn refill_by(descriptor: &'static Descriptor) -> Result<CellPtr, Refusal> {
    descriptor.try_call(|slab| slab.refill(descriptor))
}

/// Like [`refill_by`], but calls [`refused`] where that is refused.
#[cold]
#[inline(never)]
pub(super) fn refill_or_stop_by(descriptor: &'static Descriptor) -> CellPtr {
    refill_by(descriptor).unwrap_or_else(|refusal| refused(refusal))
}

/// Frees a cell that the stack of its slab cannot take, because the slab was torn down or is growing.
///
/// # Safety
///
/// The cell is vacant, belongs to a slab with the geometry of those that the descriptor finds, and is on no list. The caller
/// does not use it again.
#[cold]
#[inline(never)]
pub(super) unsafe fn free_slow(descriptor: &Descriptor, cell: CellPtr) {
    if let Some(slab) = (descriptor.find)().get() {
        // SAFETY: the caller guarantees that the cell is vacant, has this geometry, is on no list, and is not used again.
        unsafe { slab.free_slow(cell) };
    }
}

/// The modules that this thread uses, whose slabs are torn down when it ends.
struct TearDowns(RefCell<Vec<&'static Descriptor>>);

thread_local!(static AT_EXIT: TearDowns = const { TearDowns(RefCell::new(Vec::new())) });

impl TearDowns {
    fn add(&self, module: &'static Descriptor) -> Result<(), Refusal> {
        let refused = Refusal::Alloc(Layout::new::<&Descriptor>());
        // This fails only if the global allocator has re-entered from `try_reserve` below.
        let mut calls = self.0.try_borrow_mut().map_err(|_| refused)?;
        // Taken, because the global allocator may call `exit` after it has freed the old buffer. `drop` then finds an
        // empty list, and no module is torn down.
        let mut list = mem::take(&mut *calls);
        let reserved = list.try_reserve(1).map_err(|_| refused);
        if reserved.is_ok() {
            list.push(module);
        }
        *calls = list;
        reserved
    }
}

impl Drop for TearDowns {
    fn drop(&mut self) {
        for module in mem::take(self.0.get_mut()) {
            if let Some(slab) = (module.find)().get() {
                // SAFETY: the descriptor has found the slab.
                unsafe { slab.tear_down(module) };
            }
        }
    }
}

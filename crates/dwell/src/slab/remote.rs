//! Slots that travel: which thread may use the free stack, and the cells that other threads free.
//!
//! ```text
//! give:    link the chain's last to head; head = chain's first       one compare-exchange, however long the chain
//! take:    chain = head; head = null                                  the slab's thread, when it has no vacant cell
//! close:   chain = head; head = CLOSED; left += occupied cells        the slab's thread, once, when it inserts no more
//! give:    head is CLOSED: left -= chain's length                     whoever brings `left` to 0 frees the memory
//! ```
//!
//! The order of `close` and of the `give`s that find it does not matter: until the occupied cells are added `left` is below 0,
//! and from then on it is the number of occupied cells.

#[cfg(not(all(loom, test)))]
use super::engine::NoSlab;
use super::engine::{Core, CoreRef, Owners, Vacant};
use super::stack::{CellPtr, StackFull};
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::AtomicUsize;
use primitive::{AtomicIsize, AtomicPtr, Ordering};

/// What loom replaces.
mod primitive {
    #[cfg(not(all(loom, test)))]
    pub(super) use core::sync::atomic::{AtomicIsize, AtomicPtr, Ordering};
    #[cfg(all(loom, test))]
    pub(super) use loom::sync::atomic::{AtomicIsize, AtomicPtr, Ordering};
}

/// A `const fn`, except for loom, whose atomics are not made at compile time.
macro_rules! const_fn {
    ($($function:tt)*) => {
        #[cfg(not(all(loom, test)))]
        const $($function)*
        #[cfg(all(loom, test))]
        $($function)*
    };
}

/// A value with padding in front, so that another thread's writes do not slow down reads of the words before it: processors
/// fetch two cache lines at a time.
///
/// Padding and not alignment: an over-aligned block for a core takes an allocator several times as long.
#[repr(C)] // the padding comes first
struct Padded<T>([MaybeUninit<u64>; 15], T);

/// The slots of a slab may be dropped on any thread: those of a [`sync::Slab`](super::sync::Slab).
pub struct AnyThread {
    // # Invariants
    //
    // 1. `thread` is the number of the thread that made the slab, or `NO_THREAD`. Only that thread writes it.
    // 2. While it is a number, only that thread uses the free stack and the memory of the core; and by invariant 2 of `Core`
    //    the stack has capacity for each of its cells.
    /// Read by all, hardly ever written.
    thread: Padded<AtomicUsize>,
    /// Written by all.
    returns: Padded<Returns>,
}

/// The number of no thread: the slab is torn down, or its free stack is about to grow.
const NO_THREAD: usize = usize::MAX;

std::thread_local! {
    /// The number of this thread, which no other has or had: 0 until it makes its first slab.
    static THREAD: Cell<usize> = const { Cell::new(0) };
}

/// The number of this thread, given to it if it has none.
fn this_thread() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    if THREAD.get() == 0 {
        // Relaxed: the number synchronises no other memory, it only has to be unique.
        let last =
            LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| (last < NO_THREAD - 1).then_some(last + 1));
        THREAD.set(last.expect("there were fewer threads than numbers") + 1);
    }
    THREAD.get()
}

impl AnyThread {
    const_fn! {
        fn of(thread: usize) -> Self {
            Self { thread: Padded([MaybeUninit::uninit(); 15], AtomicUsize::new(thread)), returns: Padded([MaybeUninit::uninit(); 15], Returns::new()) }
        }
    }

    /// Whether this thread made the slab, which is in service and does not grow.
    #[inline(always)]
    pub(super) fn is_here(&self) -> bool {
        // Relaxed: only the slab's own thread writes here, so it reads its last write. Another thread reads that thread's number
        // or `NO_THREAD`, which differ from its own.
        self.thread.1.load(Ordering::Relaxed) == THREAD.get()
    }

    /// Returns cells from another thread, or to a slab that was dropped.
    ///
    /// # Safety
    ///
    /// They are occupied cells of `core` whose values were dropped or moved out. The caller uses neither again.
    pub(super) unsafe fn give(core: CoreRef<Self>, chain: Chain) {
        // SAFETY: the core is not freed before its last cell was. That may happen on another thread as soon as the exchange in
        // `give` has shown it these cells; `give` does not touch the core after that. A reference to atomics alone, which
        // `Returns` is made of, does not promise that they are there until it ends.
        let returns = unsafe { &core.get().owners.returns.1 };
        if returns.give(chain) {
            // SAFETY: `left` was brought to 0: the slab is gone, and no cell is occupied.
            unsafe { core.free() };
        }
    }
}

#[cfg(not(all(loom, test)))]
static NO_SLAB: NoSlab<AnyThread> = NoSlab::new(AnyThread::of(NO_THREAD));

// SAFETY: a cell is pushed to the free stack by the only thread that uses it, or given to `returns`, from where that thread takes
// it to the stack.
unsafe impl Owners for AnyThread {
    #[cfg(not(all(loom, test)))]
    const NO_SLAB: CoreRef<Self> = CoreRef::of_static(&NO_SLAB);
    #[cfg(all(loom, test))] // the models have no pool
    const NO_SLAB: CoreRef<Self> = CoreRef::dangling();

    fn new() -> Self {
        Self::of(this_thread())
    }

    #[inline(always)]
    unsafe fn try_free(core: &Core<Self>, cell: CellPtr) -> Result<(), StackFull> {
        if !core.owners.is_here() {
            return Err(StackFull);
        }
        // SAFETY: the caller gives the cell away, which is one of this core. By invariant 2 no other thread uses the stack, and
        // the stack has capacity for each carved cell.
        unsafe { core.free.push_unchecked(cell) };
        Ok(())
    }

    unsafe fn free_slow(core: CoreRef<Self>, cell: CellPtr) {
        // SAFETY: the caller gives the cell away; a stride is at least 8 bytes, and aligned to 8.
        let chain = unsafe { Chain::new(cell) };
        // SAFETY: the caller says that it was an occupied cell of this core, whose value is gone; the chain has no other.
        unsafe { Self::give(core, chain) };
    }

    fn take_returned(&self) -> *mut Vacant {
        self.returns.1.take()
    }

    fn suspend(&self) {
        self.thread.1.store(NO_THREAD, Ordering::Relaxed);
    }

    fn resume(&self) {
        self.thread.1.store(THREAD.get(), Ordering::Relaxed);
    }

    unsafe fn tear_down(core: CoreRef<Self>) {
        // SAFETY: the caller says that it is in service, so that it was not freed.
        let here = unsafe { core.get() };
        if here.is_growing() {
            return;
        }
        // From here on drops on this thread are counted as those on others are.
        here.owners.suspend();
        // SAFETY: `close` gives away linked vacant cells of this core, whose thread this is.
        unsafe { here.push_linked(here.owners.returns.1.close()) };
        if here.owners.returns.1.expect(here.occupied().cast_signed()) {
            // SAFETY: no cell is occupied, and the caller says that none will be. `here` is not used again.
            unsafe { core.free() };
        }
    }
}

/// Vacant cells linked one to the next, for giving back at once.
pub(super) struct Chain {
    // # Invariants
    //
    // 1. From `first` to `last` there are `count` cells, vacant and owned by this chain, each of which but `last` begins with a
    //    `Vacant` that leads to the next.
    first: CellPtr,
    last: CellPtr,
    count: isize,
}

impl Chain {
    /// # Safety
    ///
    /// The cell is vacant and owned by the caller: at least 8 bytes, aligned to 8.
    pub(super) unsafe fn new(cell: CellPtr) -> Self {
        Self { first: cell, last: cell, count: 1 }
    }

    /// # Safety
    ///
    /// The cell is vacant and owned by the caller: at least 8 bytes, aligned to 8. It is of the same slab as the others.
    pub(super) unsafe fn push(&mut self, cell: CellPtr) {
        // SAFETY: the caller says that the cell is vacant and its own, and large enough for a link.
        unsafe { cell.cast().write(Vacant { next: self.first.as_ptr().cast() }) };
        self.first = cell;
        self.count += 1;
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.count.unsigned_abs()
    }
}

/// Cells on their way back to their slab.
pub(super) struct Returns {
    // # Invariants
    //
    // 1. `head` is `closed()`, for good, or leads to vacant cells that are on no other list, each of which begins with a
    //    `Vacant`; the last one's `next` is null.
    // 2. Until `close`, `left` is 0 less the cells that found it closed; from then on, the cells that are occupied.
    head: AtomicPtr<Vacant>,
    left: AtomicIsize,
}

/// No cell: cells are aligned to 8.
fn closed() -> *mut Vacant {
    ptr::without_provenance_mut(1)
}

impl Returns {
    const_fn! {
        fn new() -> Self {
            Self { head: AtomicPtr::new(ptr::null_mut()), left: AtomicIsize::new(0) }
        }
    }

    /// Gives cells back. Whether they were the last of a slab that is gone.
    #[inline]
    pub(super) fn give(&self, Chain { first, last, count }: Chain) -> bool {
        let mut head = self.head.load(Ordering::Relaxed);
        while head != closed() {
            // SAFETY: by invariant 1 of `Chain` the cell is vacant and owned by the chain, so that it may be written to.
            unsafe { last.cast().write(Vacant { next: head }) };
            // Release: what was done to the values comes before what the owner does with the cells. The exchanges that
            // come after this one continue its release sequence, so that `take` synchronises with all of them.
            let top = first.as_ptr().cast();
            match self.head.compare_exchange_weak(head, top, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return false,
                Err(now) => head = now,
            }
        }
        self.settle(-count)
    }

    /// All cells that were given back, linked; null if there are none.
    #[inline]
    pub(super) fn take(&self) -> *mut Vacant {
        if self.head.load(Ordering::Relaxed).is_null() {
            return ptr::null_mut();
        }
        self.head.swap(ptr::null_mut(), Ordering::Acquire)
    }

    /// [`take`](Self::take) for the last time. Cells that are returned later are only counted.
    pub(super) fn close(&self) -> *mut Vacant {
        self.head.swap(closed(), Ordering::AcqRel)
    }

    /// After [`close`](Self::close): this many cells are still occupied. Whether none is left.
    pub(super) fn expect(&self, out: isize) -> bool {
        self.settle(out)
    }

    /// Whether this brings `left` to 0, which happens once.
    fn settle(&self, difference: isize) -> bool {
        // Release: this thread is done with the cells, and with the slab if it is not the last. Acquire: the last one, which
        // frees all of it, comes after that.
        self.left.fetch_add(difference, Ordering::AcqRel) + difference == 0
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::{CellPtr, Chain, Returns};
    use core::ptr::NonNull;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;
    use std_alloc::boxed::Box;

    /// A cell, and a cell whose accesses loom checks.
    #[repr(C)]
    struct Node {
        next: usize,
        touched: UnsafeCell<usize>,
    }

    impl Node {
        fn cell() -> CellPtr {
            NonNull::from(Box::leak(Box::new(Self { next: 0, touched: UnsafeCell::new(0) }))).cast()
        }

        /// Changes what is in the cell, as dropping or writing a value does.
        fn touch(cell: CellPtr) -> usize {
            // SAFETY: the tests make their cells of nodes and free them at the end. A race is what loom looks for.
            let node = unsafe { cell.cast::<Self>().as_ref() };
            node.touched.with_mut(|touched| {
                // SAFETY: loom checks that no other thread accesses it.
                unsafe { *touched += 1 };
                // SAFETY: loom checks that no other thread accesses it.
                unsafe { *touched }
            })
        }

        fn free(cell: CellPtr) {
            // SAFETY: it was leaked by `cell`; each cell is freed once.
            drop(unsafe { Box::from_raw(cell.cast::<Self>().as_ptr()) });
        }
    }

    /// A slab whose cells are all occupied.
    struct Slab {
        returns: Returns,
        /// How often its memory was freed.
        freed: AtomicUsize,
        cells: [CellPtr; 3],
    }

    // SAFETY: the cells are raw memory; loom checks the accesses.
    unsafe impl Send for Slab {}
    // SAFETY: the cells are raw memory; loom checks the accesses.
    unsafe impl Sync for Slab {}

    impl Slab {
        fn new() -> Arc<Self> {
            let cells = [(); 3].map(|()| Node::cell());
            Arc::new(Self { returns: Returns::new(), freed: AtomicUsize::new(0), cells })
        }

        fn give(&self, cells: &[CellPtr]) {
            cells.iter().for_each(|&cell| {
                Node::touch(cell);
            });
            // SAFETY: each test gives each cell back once.
            let mut chain = unsafe { Chain::new(cells[0]) };
            for &cell in &cells[1..] {
                // SAFETY: each test gives each cell back once.
                unsafe { chain.push(cell) };
            }
            if self.returns.give(chain) {
                self.free();
            }
        }

        /// The last thread reads all cells, so that loom checks that it runs after all others.
        fn free(&self) {
            self.cells.iter().for_each(|&cell| {
                Node::touch(cell);
            });
            self.freed.fetch_add(1, Ordering::Relaxed);
        }

        /// Reuses the returned cells, and counts them.
        fn count(mut at: *mut super::Vacant) -> isize {
            let mut count = 0;
            while let Some(cell) = NonNull::new(at) {
                // SAFETY: by invariant 1 of `Returns` the cell begins with a link, and only this thread took it.
                at = unsafe { (*at).next };
                Node::touch(cell.cast());
                count += 1;
            }
            count
        }

        /// Drops the slab when `back` of its cells are back.
        fn retire(&self, back: isize) {
            let out = 3 - back - Self::count(self.returns.close());
            if self.returns.expect(out) {
                self.free();
            }
        }

        fn check(&self) {
            assert_eq!(self.freed.load(Ordering::Relaxed), 1, "freed once");
            self.cells.iter().for_each(|&cell| Node::free(cell));
        }
    }

    /// Two threads return cells, one of them a chain, while the owner takes cells and leaves.
    #[test]
    fn nothing_is_lost_whoever_is_last() {
        loom::model(|| {
            let slab = Slab::new();
            let one = thread::spawn({
                let slab = slab.clone();
                move || slab.give(&slab.cells[..1])
            });
            let two = thread::spawn({
                let slab = slab.clone();
                move || slab.give(&slab.cells[1..])
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
                    slab.give(&slab.cells[..1]);
                    slab.give(&slab.cells[1..2]);
                }
            });
            slab.retire(0);
            slab.give(&slab.cells[2..]);
            other.join().unwrap();
            slab.check();
        });
    }

    /// A returned cell is handed out and returned again, while another is on its way.
    #[test]
    fn cells_go_round() {
        loom::model(|| {
            let slab = Slab::new();
            let one = thread::spawn({
                let slab = slab.clone();
                move || slab.give(&slab.cells[..1])
            });
            let mut back = Slab::count(slab.returns.take());
            if back == 1 {
                let slab = slab.clone();
                thread::spawn(move || slab.give(&slab.cells[..1])).join().unwrap();
                back = 0;
            }
            slab.give(&slab.cells[1..]);
            back += Slab::count(slab.returns.take());
            slab.retire(back);
            one.join().unwrap();
            slab.check();
        });
    }
}

//! [`AnyThread`], the owners of slots that are `Send`: which thread may use the free stack, and the list of cells that
//! other threads free.
//!
//! ```text
//! give:    link the chain's last to head; head = chain's first       one compare-exchange, however long the chain
//! take:    chain = head; head = null                                  the slab's thread, when it has no vacant cell
//! close:   chain = head; head = CLOSED; left += occupied cells        the slab's thread, once, when it inserts no more
//! give:    head is CLOSED: left -= chain's length                     the thread that brings `left` to 0 frees the memory
//! ```
//!
//! `close` and the calls of `give` that find the list closed may add to `left` in any order: until the occupied cells
//! are added, each such `give` leaves `left` below 0, and from then on `left` is the number of occupied cells.

mod surplus;

use self::surplus::Surplus;
#[cfg(not(all(loom, test)))]
use super::engine::NoSlab;
use super::engine::{Core, CoreRef, Owners, Vacant};
use super::primitive::{AtomicIsize, AtomicPtr, Ordering};
use super::stack::{CellPtr, StackFull};
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::AtomicUsize;

/// Defines a `const fn`, or a plain `fn` under loom, whose atomics cannot be created at compile time.
macro_rules! const_fn {
    ($($function:tt)*) => {
        #[cfg(not(all(loom, test)))]
        const $($function)*
        #[cfg(all(loom, test))]
        $($function)*
    };
}

/// The words of padding in front of a value that other threads write: with the value 128 bytes, the cache line of some
/// aarch64 processors and twice that of x86-64. On an x86-64 with 2 cores an insert and a drop take 1.9 ns while another
/// thread drops slots, and 4.9 ns without padding, and such a drop 10 and 117 ns:
/// `cargo run --release -p dwell-bench --example false_sharing`.
const PADDING: usize = 15;

/// A value with padding in front, so that another thread's writes do not slow down reads of the words before it.
///
/// Padding and not alignment, because an allocator takes several times as long for an over-aligned core.
#[repr(C)] // the padding comes first
struct Padded<T, const WORDS: usize>([MaybeUninit<u64>; WORDS], T);

impl<T, const WORDS: usize> Padded<T, WORDS> {
    const fn new(value: T) -> Self {
        Self([MaybeUninit::uninit(); WORDS], value)
    }
}

/// The slot kind of slabs whose slots may be dropped on any thread: [`sync::Slab`](super::sync::Slab).
#[repr(C)] // `surplus` lies between the others
pub struct AnyThread {
    // # Invariants
    //
    // 1. `thread` is a number of the thread that made the slab, or `NO_THREAD`, and never 0, which is that of threads without
    //    a number. Only that thread writes it.
    // 2. While `thread` is not `NO_THREAD`, only that thread uses the free stack, `surplus` and the memory of the core, and by
    //    invariant 2 of `Core` the stack has capacity for each carved cell.
    /// Read by all threads, rarely written.
    thread: Padded<AtomicUsize, PADDING>,
    /// Used by its own thread, and rarely: a part of the padding of `returns`.
    surplus: Surplus,
    /// Written by all threads.
    returns: Padded<Returns, { PADDING - size_of::<Surplus>() / 8 }>,
}

/// A number that no thread has. It means that the slab was torn down or that its memory is growing.
const NO_THREAD: usize = usize::MAX;

std::thread_local! {
    /// The number of this thread, which no other thread has or had. 0 until the thread makes its first slab.
    static THREAD: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of this thread. The first call on a thread assigns it.
fn this_thread() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    if THREAD.get() == 0 {
        // Relaxed: the number synchronises no other memory. It only has to be unique.
        let last =
            LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| (last < NO_THREAD - 1).then_some(last + 1));
        THREAD.set(last.expect("there were fewer threads than numbers") + 1);
    }
    THREAD.get()
}

/// Returns whether `thread` of a slab has the number of this thread.
#[inline(always)]
fn is_this_thread(thread: &AtomicUsize) -> bool {
    // Relaxed: only the slab's own thread writes this, so it reads its own last write. Another thread reads the number of that
    // thread or `NO_THREAD`, which both differ from its own number.
    thread.load(Ordering::Relaxed) == THREAD.get()
}

impl AnyThread {
    const_fn! {
        fn of(thread: usize) -> Self {
            Self {
                thread: Padded::new(AtomicUsize::new(thread)),
                returns: Padded::new(Returns::new()),
                surplus: Surplus::new(),
            }
        }
    }

    /// Returns whether this thread made the slab, and the slab is neither torn down nor growing.
    #[inline(always)]
    pub(super) fn is_here(&self) -> bool {
        is_this_thread(&self.thread.1)
    }

    /// Returns what its pool counts. Only the thread of the slab may use it.
    fn surplus(&self) -> &Surplus {
        &self.surplus
    }

    /// Returns cells from another thread, or to a slab that was dropped.
    ///
    /// # Safety
    ///
    /// The cells of the chain are occupied cells of `core` whose values were dropped or moved out. The caller uses
    /// neither the cells nor this reference to the core again.
    pub(super) unsafe fn give(core: CoreRef<Self>, chain: Chain) {
        // SAFETY: a core is not freed while one of its cells is occupied, and these count as occupied until the last
        // atomic operation of `Returns::give`, which publishes or counts them. The reference to the whole core ends with
        // this line, before that. From then on another thread may free the core, but `Returns::give` does not access it
        // any more. The reference to `returns` may outlive the core: `Returns` consists of atomics only, and a reference
        // to atomics does not assert that their memory stays allocated until it ends.
        let returns = unsafe { &core.get().owners.returns.1 };
        if returns.give(chain) {
            // SAFETY: this call brought `left` to 0, so the slab was torn down and no cell is occupied. So the core
            // was allocated, and nothing uses the core or its cells again.
            unsafe { core.free() };
        }
    }
}

#[cfg(not(all(loom, test)))]
static NO_SLAB: NoSlab<AnyThread> = NoSlab::new(AnyThread::of(NO_THREAD));

// SAFETY: the only thread that uses the free stack pushes a cell to it. Every other cell is added to `returns`, from
// which that thread moves it to the stack, or is only counted after tear-down.
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
        // SAFETY: `is_here` says that `thread` is the number of this thread. So by invariant 2 no other thread uses the
        // stack, and it has capacity for each carved cell; only pools mark it, and they use `try_free_in_pool`. The caller
        // guarantees that this cell of the core is vacant, on no list, and not used again.
        unsafe { core.free.push_unchecked(cell) };
        Ok(())
    }

    #[inline(always)]
    unsafe fn try_free_in_pool(core: &Core<Self>, cell: CellPtr) -> Result<(), StackFull> {
        if !core.owners.is_here() {
            return Err(StackFull);
        }
        // SAFETY: `is_here` says that `thread` is the number of this thread. So by invariant 2 no other thread uses the
        // stack. The caller guarantees that this cell of the core is vacant, on no list, and not used again.
        unsafe { core.free.push(cell) }
    }

    fn before_refill(core: CoreRef<Self>) {
        Surplus::before_refill(core);
    }

    fn after_refill(core: CoreRef<Self>) {
        Surplus::after_refill(core);
    }

    fn unmark(core: CoreRef<Self>) {
        Surplus::unmark(core);
    }

    unsafe fn free_slow(core: CoreRef<Self>, cell: CellPtr) {
        // SAFETY: a core is not freed while one of its cells is occupied, and up to this call the cell is.
        if unsafe { core.get() }.owners.is_here() {
            // SAFETY: this is the thread of the core, which is no sooner freed than its slab is dropped here. The caller
            // guarantees that the cell is one of this core, contains no value, is on no list, and is not used again.
            return unsafe { Surplus::free_at_mark(core, cell) };
        }
        // SAFETY: the caller guarantees that the cell contains no value, is on no list, and is not used again. A stride
        // is at least 8 bytes and a multiple of 8.
        let chain = unsafe { Chain::new(cell) };
        // SAFETY: the caller guarantees that the cell belongs to this core, that its value was dropped or moved out,
        // and that neither is used again. The chain has no other cell.
        unsafe { Self::give(core, chain) };
    }

    fn take_returned(&self) -> *mut Vacant {
        self.returns.1.take()
    }

    fn suspend(&self) {
        self.thread.1.store(NO_THREAD, Ordering::Relaxed);
    }

    fn resume(&self) {
        // Not `THREAD`: on targets without native thread-local storage std may have destroyed it since. It is 0 then.
        self.thread.1.store(this_thread(), Ordering::Relaxed);
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
        // From now on drops on this thread are counted like those on other threads.
        here.owners.suspend();
        // SAFETY: `close` returns a linked list of vacant cells of this core, which nothing else uses. The caller
        // guarantees that this is the thread of the slab.
        unsafe { here.push_linked(here.owners.returns.1.close()) };
        let occupied = here.occupied();
        // Before the cells are expected: from then on another thread may free the core.
        here.free.take().free();
        if here.owners.returns.1.expect(occupied.cast_signed()) {
            // SAFETY: no cell is occupied, so none is used again. The caller guarantees that the core was
            // allocated and is not used again, and `here` is not used again either.
            unsafe { core.free() };
        }
    }
}

/// A linked list of vacant cells that are returned together.
pub(super) struct Chain {
    // # Invariants
    //
    // 1. From `first` to `last` there are `count` cells, which are vacant and owned by this chain. Each cell except
    //    `last` begins with a `Vacant` that points to the next.
    first: CellPtr,
    last: CellPtr,
    count: isize,
}

impl Chain {
    /// Creates a chain of one cell.
    ///
    /// # Safety
    ///
    /// The cell is vacant and owned by the caller. It has at least 8 bytes and is aligned to 8.
    pub(super) unsafe fn new(cell: CellPtr) -> Self {
        Self { first: cell, last: cell, count: 1 }
    }

    /// Adds a cell at the front.
    ///
    /// # Safety
    ///
    /// The cell is vacant and owned by the caller. It has at least 8 bytes and is aligned to 8. It belongs to the same
    /// slab as the others.
    pub(super) unsafe fn push(&mut self, cell: CellPtr) {
        // SAFETY: the caller guarantees that the cell is vacant, that no other code uses it, and that it holds a
        // `Vacant`.
        unsafe { cell.cast().write(Vacant { next: self.first.as_ptr().cast() }) };
        self.first = cell;
        self.count += 1;
    }

    /// Returns the number of cells.
    pub(super) fn len(&self) -> usize {
        self.count.unsigned_abs()
    }
}

/// The list of cells that were returned to a slab.
pub(super) struct Returns {
    // # Invariants
    //
    // 1. `head` is `closed()`, and then stays so, or it is the first of a linked list of vacant cells that are on no
    //    other list, or null. Each of them begins with a `Vacant`, and the `next` of the last is null.
    // 2. Until `expect` is called, `left` is minus the number of cells that `give` returned to the closed list. From
    //    then on it is the number of occupied cells.
    head: AtomicPtr<Vacant>,
    left: AtomicIsize,
}

/// Returns the head of a closed list. No cell has this address, because cells are aligned to 8.
fn closed() -> *mut Vacant {
    ptr::without_provenance_mut(1)
}

impl Returns {
    const_fn! {
        fn new() -> Self {
            Self { head: AtomicPtr::new(ptr::null_mut()), left: AtomicIsize::new(0) }
        }
    }

    /// Returns cells to the slab. The result is whether they were the last occupied cells of a slab that was torn down.
    #[inline]
    pub(super) fn give(&self, Chain { first, last, count }: Chain) -> bool {
        let mut head = self.head.load(Ordering::Relaxed);
        while head != closed() {
            // SAFETY: by invariant 1 of `Chain` the cell is vacant and owned by the chain, so nothing else accesses it.
            // The constructor's caller guarantees that it holds a `Vacant`.
            unsafe { last.cast().write(Vacant { next: head }) };
            // Release: everything that was done with the values happens before the owner reuses the cells. Later
            // exchanges continue the release sequence of this one, so `take` synchronises with all of them.
            let top = first.as_ptr().cast();
            match self.head.compare_exchange_weak(head, top, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return false,
                Err(now) => head = now,
            }
        }
        self.settle(-count)
    }

    /// Takes the linked list of all returned cells, or null if there are none or the list is closed. Only the thread of the
    /// slab calls this and [`close`](Self::close), so the list is not closed between the test and the swap.
    #[inline]
    pub(super) fn take(&self) -> *mut Vacant {
        let head = self.head.load(Ordering::Relaxed);
        if head.is_null() || head == closed() {
            return ptr::null_mut();
        }
        self.head.swap(ptr::null_mut(), Ordering::Acquire)
    }

    /// Like [`take`](Self::take), but closes the list. Cells that are returned later are only counted.
    pub(super) fn close(&self) -> *mut Vacant {
        self.head.swap(closed(), Ordering::AcqRel)
    }

    /// Adds the number of cells that are still occupied, after [`close`](Self::close). Returns whether none is left.
    pub(super) fn expect(&self, occupied: isize) -> bool {
        self.settle(occupied)
    }

    /// Adds to `left`. Returns whether that brings it to 0, which happens once.
    fn settle(&self, difference: isize) -> bool {
        // Release: what this thread did with the cells and the slab happens before the last thread frees them. Acquire:
        // if this is the last thread, what all others did happens before it frees them.
        self.left.fetch_add(difference, Ordering::AcqRel) + difference == 0
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::{AnyThread, Owners, THREAD, is_this_thread};
    use std::thread;

    /// `resume` stored the number of a thread without a number, so that each such thread took itself for the slab's: the
    /// slab grew while its thread ended, on a target where std had destroyed the number by then.
    #[test]
    fn slab_is_not_of_threads_without_a_number() {
        let owners = AnyThread::new();
        THREAD.set(0); // as if std had destroyed it and created it again
        owners.suspend();
        owners.resume();
        assert!(owners.is_here());
        let thread = &owners.thread.1;
        assert!(thread::scope(|threads| !threads.spawn(|| is_this_thread(thread)).join().unwrap()));
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
    use std_alloc::vec::Vec;

    /// A cell of the slab, with an `UnsafeCell` whose accesses loom checks.
    #[repr(C)]
    struct Node {
        next: usize,
        touched: UnsafeCell<usize>,
    }

    impl Node {
        fn cell() -> CellPtr {
            NonNull::from(Box::leak(Box::new(Self { next: 0, touched: UnsafeCell::new(0) }))).cast()
        }

        /// Changes the contents of the cell, as dropping or writing a value does.
        fn touch(cell: CellPtr) -> usize {
            // SAFETY: each cell of the tests is a leaked `Node`, which is freed at the end of a test. loom checks for
            // races.
            let node = unsafe { cell.cast::<Self>().as_ref() };
            node.touched.with_mut(|touched| {
                // SAFETY: loom checks that no other thread accesses it.
                unsafe { *touched += 1 };
                // SAFETY: loom checks that no other thread accesses it.
                unsafe { *touched }
            })
        }

        fn free(cell: CellPtr) {
            // SAFETY: `cell` leaked the box, and each cell is freed once.
            drop(unsafe { Box::from_raw(cell.cast::<Self>().as_ptr()) });
        }
    }

    /// A slab whose cells are all occupied.
    struct Slab {
        returns: Returns,
        /// The number of times its memory was freed.
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
            if self.give_only(cells) {
                self.free();
            }
        }

        /// Returns whether these were the last occupied cells.
        fn give_only(&self, cells: &[CellPtr]) -> bool {
            cells.iter().for_each(|&cell| {
                Node::touch(cell);
            });
            // SAFETY: each test returns each cell once, and a cell is a `Node`, which holds a `Vacant`.
            let mut chain = unsafe { Chain::new(cells[0]) };
            for &cell in &cells[1..] {
                // SAFETY: each test returns each cell once, and a cell is a `Node`, which holds a `Vacant`.
                unsafe { chain.push(cell) };
            }
            self.returns.give(chain)
        }

        /// Frees the memory. It accesses all cells, so that loom checks that this happens after all other accesses.
        fn free(&self) {
            self.cells.iter().for_each(|&cell| {
                Node::touch(cell);
            });
            self.freed.fetch_add(1, Ordering::Relaxed);
        }

        /// Reuses the returned cells.
        fn reuse(mut at: *mut super::Vacant) -> Vec<CellPtr> {
            let mut cells = Vec::new();
            while let Some(cell) = NonNull::new(at) {
                // SAFETY: by invariant 1 of `Returns` the cell begins with a `Vacant`, and only this thread took it.
                at = unsafe { (*at).next };
                Node::touch(cell.cast());
                cells.push(cell.cast());
            }
            cells
        }

        /// Reuses the returned cells and returns their number.
        fn count(at: *mut super::Vacant) -> isize {
            Self::reuse(at).len().cast_signed()
        }

        /// Drops the slab after `back` of its cells were taken from the list.
        fn drop_slab(&self, back: isize) {
            let occupied = 3 - back - Self::count(self.returns.close());
            if self.returns.expect(occupied) {
                self.free();
            }
        }

        fn check(&self) {
            assert_eq!(self.freed.load(Ordering::Relaxed), 1, "freed once");
            self.cells.iter().for_each(|&cell| Node::free(cell));
        }
    }

    /// Two threads return cells, one of them a chain, while the owner takes cells and drops the slab.
    #[test]
    fn last_thread_or_owner_frees_all_cells() {
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
            slab.drop_slab(back);
            one.join().unwrap();
            two.join().unwrap();
            slab.check();
        });
    }

    /// Slots of the owner outlive the slab too and are counted like the others.
    #[test]
    fn owner_may_free_the_last_cell() {
        loom::model(|| {
            let slab = Slab::new();
            let other = thread::spawn({
                let slab = slab.clone();
                move || {
                    slab.give(&slab.cells[..1]);
                    slab.give(&slab.cells[1..2]);
                }
            });
            slab.drop_slab(0);
            slab.give(&slab.cells[2..]);
            other.join().unwrap();
            slab.check();
        });
    }

    /// The owner takes two returned cells, which are a chunk, gives its memory back, and drops the slab, while the last cell,
    /// of another chunk, is being returned: that thread may have seen a freed cell at the head of the list.
    #[test]
    fn a_chunk_is_given_back_while_another_cell_returns() {
        loom::model(|| {
            let slab = Slab::new();
            let [first, second, last] = slab.cells;
            // The last one frees the other chunk.
            let freed = |slab: &Slab| {
                Node::touch(slab.cells[2]);
                slab.freed.fetch_add(1, Ordering::Relaxed);
            };
            let others = [0..2, 2..3].map(|cells| {
                let slab = slab.clone();
                thread::spawn(move || {
                    if slab.give_only(&slab.cells[cells]) {
                        freed(&slab);
                    }
                })
            });
            let returned = Slab::reuse(slab.returns.take());
            let is_swept = returned.contains(&first) && returned.contains(&second);
            if is_swept {
                [first, second].into_iter().for_each(Node::free);
            }
            let occupied = 3 - returned.len() - Slab::reuse(slab.returns.close()).len();
            if slab.returns.expect(occupied.cast_signed()) {
                freed(&slab);
            }
            others.into_iter().for_each(|other| other.join().unwrap());
            assert_eq!(slab.freed.load(Ordering::Relaxed), 1, "freed once");
            Node::free(last);
            if !is_swept {
                [first, second].into_iter().for_each(Node::free);
            }
        });
    }

    /// A returned cell is handed out and returned again, while another is being returned.
    #[test]
    fn returned_cells_are_reused_and_returned_again() {
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
            slab.drop_slab(back);
            one.join().unwrap();
            slab.check();
        });
    }
}

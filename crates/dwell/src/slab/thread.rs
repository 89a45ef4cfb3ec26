//! The modules that [`slab!`](crate::slab!) writes: a slab for each thread.
//!
//! A slot of a module finds its slab in a `thread_local!`, not through the header of its block. The macro writes no `unsafe`, so
//! crates that forbid it can use it. Therefore [`Module`] is a safe trait, and no unsafe code relies on its implementation.

use super::engine::{Core, CoreRef, OneThread};
use super::error::{Full, SlotsRemaining};
use super::geometry::Geometry;
use super::insert::{self, CellAllocator, InsertError, refused};
use super::key::{Key, StampedKey};
use super::kind::{Keyed, SlotKind, sealed};
use super::memory::Entry;
use super::memory::Refusal;
use super::slot::Slot;
use super::stack::{AHEAD, CellPtr, FreeStack, StackFull};
// For the macro: paths through `$crate` work even if the user shadows `std` or the prelude.
pub use ::std;
pub use core::{iter::Iterator, ops::FnOnce, option::Option, result::Result};

use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::convert::Infallible;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use std::thread::LocalKey;
use std_alloc::vec::Vec;

/// A module that [`slab!`](crate::slab!) wrote.
///
/// It is safe to implement. If `local` returns different slabs, a cell goes to the stack of a slab that does not own it. It has
/// the right layout there, and a chunk is freed only when each of its cells is on the stack of its owner.
pub trait Module: 'static {
    /// The type of the values.
    type Value: 'static;
    /// The largest number of values, unless `init` sets another.
    const LIMIT: usize;
    /// The slab of this thread.
    fn local() -> &'static LocalKey<ThreadSlab<Self::Value>>;
}

/// The kind of a module's slots: the cell returns to the slab of this thread.
pub struct PerThread<M>(Infallible, PhantomData<M>);

impl<M: Module> SlotKind for PerThread<M> {}
impl<M: Module> Keyed for PerThread<M> {}

// SAFETY: `ThreadSlab::free_cell` and `free_slow` put the cell on one list; without a slab it is leaked.
unsafe impl<M: Module> sealed::SlotKind for PerThread<M> {
    #[inline(always)]
    unsafe fn free_cell(cell: CellPtr, _: Layout) {
        // If the thread's slab is gone (on targets without native thread-local storage), the cell leaks.
        // SAFETY: the caller gives away an occupied cell of this thread's slab, whose value is gone. Should `M::local` return
        // another slab now, it is one for values of the same type.
        let kept = M::local().try_with(|slab| unsafe { in_register(slab).free_cell(cell) });
        if let Ok(Err(StackFull)) = kept {
            // SAFETY: the cell is vacant, and `StackFull` says that it came to no list.
            unsafe { free_slow::<M>(cell) };
        }
    }
}

/// A word for one vacant cell, in front of the free stack.
///
/// A drop stores a cell here and the next insert takes it, at a fixed address. With the stack alone, the insert must first load
/// the `top` that the drop has just stored: a lifecycle takes 6.1 ticks without this word and 4.1 with it, of which writing the
/// value takes 3 (`cargo run --release -p dwell-bench -- slab --times --only lifecycle/64B`).
struct CachedCell(
    // Invariant: null, if there is no cell; `CLOSED`, if there never is one again; or the address of a vacant cell that is on no
    // stack.
    Cell<*mut ()>,
);

impl CachedCell {
    /// No cell is at this address: cells are aligned to 8.
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

    /// Keeps a vacant cell, if there is none.
    #[inline(always)]
    fn put(&self, cell: CellPtr) -> Result<(), StackFull> {
        if !self.0.get().is_null() {
            return Err(StackFull);
        }
        self.0.set(cell.as_ptr());
        Ok(())
    }

    /// From now on there is no cell. There is none now.
    fn close(&self) {
        self.0.set(Self::CLOSED);
    }
}

/// The slab of one module on one thread. It has no destructor: `tear_down` is called at the thread's end.
#[repr(C, align(64))] // what every insert and every drop touches is one cache line
pub struct ThreadSlab<T> {
    // # Invariants
    //
    // 1. The geometry of `core` is that of a `T`. A `ThreadSlab` that inserts is in thread-local storage, since only a
    //    `LocalKey` leads to it.
    // 2. The stacks have `AHEAD` words in front of the bottom.
    // 3. In phase `Ended` the vacant cells are on `parked`. The free stack of the core has no buffer and `cached` is closed, so
    //    that each insert and each drop takes the slow path.
    cached: CachedCell,
    core: Core<OneThread>,
    parked: FreeStack,
    phase: Cell<Phase>,
    /// Whether it was set up, by `init` or an insert.
    initialized: Cell<bool>,
    of: PhantomData<*mut T>,
}

/// Where a thread is with its slab.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It was not used.
    New,
    /// `tear_down` will be called.
    InService,
    /// `tear_down` was called. Slots are left, or destructors of thread-local variables use the slab.
    Ended,
}

impl<T> ThreadSlab<T> {
    /// A slab without memory, which is to hold at most this many values.
    pub const fn new(limit: usize) -> Self {
        assert!(limit <= Key::LIMIT, "a slab can have at most 4294967295 slots");
        Self {
            cached: CachedCell(Cell::new(ptr::null_mut())),
            core: Core::new(FreeStack::new(AHEAD), Geometry::of(Layout::new::<T>()), limit, OneThread::on_any()),
            parked: FreeStack::new(AHEAD),
            phase: Cell::new(Phase::New),
            initialized: Cell::new(false),
            of: PhantomData,
        }
    }

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        // Several inserts in a row come to the stack, one after a drop does not.
        // SAFETY: by invariant 2 the stack has `AHEAD` words in front of the bottom.
        self.cached.take().or_else(|| unsafe { self.core.free.pop_prefetch() })
    }

    /// Keeps a vacant cell, if the stack has capacity.
    ///
    /// # Safety
    ///
    /// The cell is vacant, of a slab with this geometry and on no list. The caller does not use it again.
    #[inline(always)]
    unsafe fn free_cell(&self, cell: CellPtr) -> Result<(), StackFull> {
        // SAFETY: the caller says that the cell is vacant and given away, and by `Err` of `put` it is not the cached one.
        self.cached.put(cell).or_else(|_| unsafe { self.core.free.push(cell) })
    }

    /// Calls `f`, which is no user's code, with the core and all vacant cells on its stack.
    fn with_cells<R>(&self, f: impl FnOnce(CoreRef<OneThread>, &Core<OneThread>) -> R) -> R {
        let phase = self.phase.get();
        if phase == Phase::Ended {
            // In service meanwhile, should the global allocator re-enter.
            self.phase.set(Phase::InService);
            self.core.free.swap(&self.parked);
        }
        if let Some(cell) = self.cached.take()
            // SAFETY: the cell is vacant and on no stack, as the invariant of `CachedCell` says.
            && unsafe { self.core.free.push(cell) }.is_err()
        {
            // SAFETY: the cell is vacant and was the cached one; `push` has refused it, so that it is on no list.
            unsafe { self.core.owners.link(cell) };
        }
        let result = f(CoreRef::of_thread(&self.core), &self.core);
        if phase == Phase::Ended {
            self.core.free.swap(&self.parked);
            self.phase.set(phase);
        }
        result
    }

    /// Values on this thread.
    fn len(&self) -> usize {
        self.with_cells(|_, core| core.len())
    }

    /// From now on each insert and each drop takes the slow path.
    fn end(&self) {
        self.with_cells(|_, core| core.free.swap(&self.parked));
        self.cached.close();
        self.phase.set(Phase::Ended);
    }

    /// Sees that the slab is torn down at the thread's end, or ends it at once if that is now.
    fn begin<M: Module<Value = T>>(&self) -> Result<(), Refusal> {
        if self.phase.get() == Phase::New {
            match AT_EXIT.try_with(|at_exit| at_exit.call(tear_down::<M>)) {
                Ok(result) => {
                    result?;
                    self.phase.set(Phase::InService);
                }
                Err(_) => self.end(),
            }
        }
        self.initialized.set(true);
        Ok(())
    }

    /// Gets memory for this many more values than there are.
    fn reserve(&self, additional: usize) -> Result<(), Refusal> {
        // SAFETY: the core is a field of the slab, which is borrowed, and in storage of this thread.
        self.with_cells(|core, _| unsafe { core.reserve(additional) })
    }

    /// Frees the chunks that have no occupied cell.
    fn sweep(&self) {
        // SAFETY: the core is a field of the slab, which is borrowed, and in storage of this thread.
        self.with_cells(|core, _| unsafe { core.sweep() });
    }
}

/// What to call when this thread ends.
struct AtExit(RefCell<Vec<fn()>>);

thread_local!(static AT_EXIT: AtExit = const { AtExit(RefCell::new(Vec::new())) });

impl AtExit {
    fn call(&self, f: fn()) -> Result<(), Refusal> {
        let refused = Refusal::Alloc(Layout::new::<fn()>());
        // Not borrowed, unless the global allocator re-entered from the next line.
        let mut calls = self.0.try_borrow_mut().map_err(|_| refused)?;
        calls.try_reserve(1).map_err(|_| refused)?;
        calls.push(f);
        Ok(())
    }
}

impl Drop for AtExit {
    fn drop(&mut self) {
        for f in core::mem::take(self.0.get_mut()) {
            f();
        }
    }
}

/// Drops the leaked values, and frees the blocks without values; dropping the last slot frees the rest.
fn tear_down<M: Module>() {
    let _ = M::local().try_with(|slab| {
        slab.core.drop_leaked(|cell| {
            // SAFETY: a leaked cell of this slab holds a value without an owner. `drop_leaked` has taken it from its key.
            drop(unsafe { SlotOf::<M>::owning(cell.cast()) });
        });
        slab.end();
        slab.sweep();
    });
}

/// Frees a cell of a slab whose stack cannot take it: one that was torn down or grows.
///
/// # Safety
///
/// The cell is vacant, of a slab for values of this type and on no list. The caller does not use it again.
#[cold]
#[inline(never)]
unsafe fn free_slow<M: Module>(cell: CellPtr) {
    let _ = M::local().try_with(|slab| {
        // SAFETY: the caller says that the cell is vacant and on no list, and gives it away.
        unsafe { slab.core.owners.link(cell) };
        if slab.phase.get() == Phase::Ended && slab.len() == 0 {
            slab.sweep();
        }
    });
}

/// The same slab, at an address that the compiler computes once.
///
/// On x86-64 the compiler would otherwise use the thread's segment at each access. The processor forwards a stored word to a load
/// with the same register and offset (on Zen 4, in every run), but with a segment only in some runs (4.1 and 5.7 ticks:
/// `cargo run --release -p dwell-bench -- slab --times --only lifecycle/64B`).
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    expect(clippy::pointers_in_nomem_asm_block, reason = "it is not followed there")
)]
#[inline(always)]
fn in_register<T>(slab: &ThreadSlab<T>) -> &ThreadSlab<T> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut address: *const ThreadSlab<T> = slab;
        // SAFETY: the assembly is a comment: it does nothing, and leaves the address as it is.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags));
        }
        // SAFETY: the address is that of `slab`, which the result borrows.
        unsafe { &*address }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    slab
}

/// The cells of a module.
struct InModule<M>(PhantomData<M>);

// SAFETY: the cells of a `ThreadSlab<M::Value>` are for such values, and vacant when they are popped or refilled. A slot of a module
// frees its cell to a `ThreadSlab<M::Value>`, on this thread since it is not `Send`.
unsafe impl<M: Module> CellAllocator<M::Value> for InModule<M> {
    type Kind = PerThread<M>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        M::local().try_with(|slab| in_register(slab).pop()).ok()?
    }

    #[cold]
    #[inline(never)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        try_with::<M, _>(|slab| {
            slab.begin::<M>()?;
            // SAFETY: the core is a field of the slab, which is borrowed, and in storage of this thread.
            slab.with_cells(|core, _| unsafe { core.refill() })
        })
    }
}

/// Calls `f` with this thread's slab. A refusal if there is none any more.
fn try_with<M: Module, R>(f: impl FnOnce(&ThreadSlab<M::Value>) -> Result<R, Refusal>) -> Result<R, Refusal> {
    M::local().try_with(f).unwrap_or(Err(Refusal::Alloc(Layout::new::<M::Value>())))
}

/// The entry of a cell in this thread's slab, unless that is gone.
#[inline]
fn entry<M: Module>(key: Key) -> Option<Entry<CoreRef<OneThread>>> {
    M::local().try_with(|slab| slab.core.entry(key)).ok()?
}

/// The slot of a module.
pub type SlotOf<M> = Slot<<M as Module>::Value, PerThread<M>>;

/// What `try_insert` returns.
pub type TryInsert<M> = Result<SlotOf<M>, Full<<M as Module>::Value>>;

/// What `shutdown` returns.
pub type Shutdown = Result<(), SlotsRemaining>;

#[inline(always)]
pub fn insert<M: Module>(value: M::Value) -> SlotOf<M> {
    insert::insert(&InModule(PhantomData::<M>), value)
}

#[inline(always)]
pub fn try_insert<M: Module>(value: M::Value) -> TryInsert<M> {
    insert::try_insert(&InModule(PhantomData::<M>), value)
}

#[inline(always)]
pub fn insert_with<M: Module>(make: impl FnOnce() -> M::Value) -> SlotOf<M> {
    insert::insert_with(&InModule(PhantomData::<M>), make)
}

#[inline(always)]
pub fn try_insert_with<M: Module, F: FnOnce() -> M::Value>(make: F) -> Result<SlotOf<M>, Full<F>> {
    insert::try_insert_with(&InModule(PhantomData::<M>), make)
}

pub fn contains_key<M: Module>(key: Key) -> bool {
    entry::<M>(key).is_some_and(|entry| entry.is_leaked())
}

#[inline]
pub fn reclaim<M: Module>(key: Key) -> Option<SlotOf<M>> {
    let cell = entry::<M>(key)?.reclaim()?;
    // SAFETY: a leaked cell of this slab holds an `M::Value` without an owner. `reclaim` has taken it from its key.
    Some(unsafe { Slot::owning(cell.cast()) })
}

#[inline]
pub fn reclaim_stamped<M: Module>(key: StampedKey) -> Option<SlotOf<M>> {
    if entry::<M>(key.key())?.has_stamp(key.stamp()) { reclaim::<M>(key.key()) } else { None }
}

#[inline]
pub fn with<M: Module, R>(key: Key, f: impl FnOnce(&mut M::Value) -> R) -> Option<R> {
    let lent = entry::<M>(key)?.lend()?;
    // SAFETY: a leaked cell of this slab holds an `M::Value`. While it is lent no key finds it, so that no other code has it, even
    // if `f` uses the module.
    Some(f(unsafe { lent.cell().cast().as_mut() }))
}

pub fn leaked_keys<M: Module>() -> impl Iterator<Item = Key> {
    Key::each(|from| M::local().try_with(|slab| slab.core.next_leaked(from)).ok()?)
}

pub fn len<M: Module>() -> usize {
    M::local().try_with(ThreadSlab::len).unwrap_or(0)
}

pub fn capacity<M: Module>() -> usize {
    M::local().try_with(|slab| slab.core.capacity()).unwrap_or(0)
}

pub fn is_initialized<M: Module>() -> bool {
    M::local().try_with(|slab| slab.initialized.get()).unwrap_or(false)
}

fn reserve_or_refusal<M: Module>(additional: usize) -> Result<(), Refusal> {
    try_with::<M, _>(|slab| {
        slab.begin::<M>()?;
        slab.reserve(additional)
    })
}

pub fn try_reserve<M: Module>(additional: usize) -> Result<(), Full<()>> {
    reserve_or_refusal::<M>(additional).map_err(|refusal| InsertError::new((), refusal, Layout::new::<M::Value>()))
}

pub fn reserve<M: Module>(additional: usize) {
    reserve_or_refusal::<M>(additional).unwrap_or_else(|refusal| refused(refusal));
}

pub fn shrink_to_fit<M: Module>() {
    let _ = M::local().try_with(ThreadSlab::sweep);
}

pub fn shutdown<M: Module>() -> Shutdown {
    let len = len::<M>();
    if len != 0 {
        return Err(SlotsRemaining(len));
    }
    let _ = M::local().try_with(|slab| {
        slab.sweep();
        slab.initialized.set(false);
        let _ = slab.core.memory(|memory| memory.configure(M::LIMIT, 0));
    });
    Ok(())
}

/// How the slab of a module on this thread is to be. Made by the module's `init`.
#[must_use]
pub struct Init<M> {
    limit: usize,
    chunk_capacity: usize,
    preallocate: usize,
    of: PhantomData<M>,
}

impl<M: Module> Init<M> {
    #[doc(hidden)]
    pub fn new() -> Self {
        Self { limit: M::LIMIT, chunk_capacity: 0, preallocate: 0, of: PhantomData }
    }

    /// At most this many values, for which memory is allocated at once.
    ///
    /// # Panics
    ///
    /// When there are not that many keys: more than `u32::MAX`.
    pub fn bounded(mut self, capacity: usize) -> Self {
        assert!(capacity <= Key::LIMIT, "a slab can have at most {} slots, not {capacity}", Key::LIMIT);
        (self.limit, self.preallocate) = (capacity, capacity);
        self
    }

    /// As many values as there are.
    pub fn unbounded(mut self) -> Self {
        self.limit = Key::LIMIT;
        self
    }

    /// Values that each chunk of memory is for. Unless set, the first is for a dozen, and chunks grow with the slab to 1 MiB.
    ///
    /// # Panics
    ///
    /// When it is 0.
    pub fn chunk_capacity(mut self, values: usize) -> Self {
        assert!(values != 0, "a chunk is for at least one value");
        self.chunk_capacity = values;
        self
    }

    /// Values to have memory for from the start.
    pub fn preallocate(mut self, values: usize) -> Self {
        self.preallocate = values;
        self
    }

    /// Sets the slab up.
    ///
    /// # Panics
    ///
    /// When it is set up already, by this or by an insert, and not shut down since; or when it cannot have that many slots.
    pub fn build(self) {
        self.finish().unwrap_or_else(|refusal| refused(refusal));
    }

    /// [`build`](Self::build) that reports a failure.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory, or where `build` panics.
    pub fn try_build(self) -> Result<(), Full<()>> {
        self.finish().map_err(|refusal| InsertError::new((), refusal, Layout::new::<M::Value>()))
    }

    fn finish(self) -> Result<(), Refusal> {
        try_with::<M, _>(|slab| {
            if slab.initialized.get() {
                return Err(Refusal::Initialized);
            }
            slab.core.memory(|memory| memory.configure(self.limit, self.chunk_capacity))?;
            slab.begin::<M>()?;
            let reserved = slab.reserve(self.preallocate);
            slab.initialized.set(reserved.is_ok());
            reserved
        })
    }
}

/// Writes a module with a slab of its own on each thread that uses it.
///
/// ```
/// struct Order {
///     price: u64,
/// }
///
/// dwell::slab! {
///     /// The orders of this thread.
///     mod orders: Order;
/// }
///
/// let mut order: orders::Slot = orders::insert(Order { price: 100 });
/// order.price += 1;
/// assert_eq!(orders::len(), 1);
/// let key = order.leak();
/// assert_eq!(orders::with(key, |order| order.price), Some(101));
/// drop(orders::reclaim(key));
/// assert_eq!(orders::shutdown(), Ok(()));
/// ```
///
/// `mod orders: Order, bounded(1000);` holds at most 1000 values. Attributes and `pub` are written as for any module, and
/// the type is named as in the code around the macro.
///
/// # The module
///
/// | item | what it is |
/// |---|---|
/// | `Slot`, `Value` | the slot: 8 bytes, a [`Slot`](crate::slab::Slot); the type of the value |
/// | `insert(value)`, `insert_with(make)` | the slot of a value; panics when the slab is full |
/// | `try_insert(value)`, `try_insert_with(make)` | the same, or a [`Full`](crate::slab::Full) with the argument |
/// | `contains_key(key)` | whether there is a leaked value under this key |
/// | `with(key, f)`, `reclaim(key)`, `reclaim_stamped(key)`, `leaked()` | leaked values, as in a [`Slab`](crate::slab::Slab) |
/// | `len()`, `is_empty()`, `capacity()` | of this thread |
/// | `reserve(n)`, `try_reserve(n)`, `shrink_to_fit()` | memory for `n` more values; frees chunks without values |
/// | `init()` | an [`Init`](crate::slab::Init), to set the slab up before its first use; not needed |
/// | `is_initialized()` | whether it was set up on this thread, by `init` or an insert |
/// | `shutdown()` | frees all memory of this thread, or says how many values are left |
///
/// # When a thread ends
///
/// Its leaked values are dropped and its memory is freed. Chunks with values that are still in a slot, as those in
/// thread-local variables may be, are freed when the last of these is dropped. Slots do not leave their thread.
#[macro_export]
macro_rules! slab {
    // The marker of the module must be as visible as a type that is named there may be, so `pub` is matched by itself.
    ($(#[$meta:meta])* mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) () (pub(super)) $($rest)+ }
    };
    ($(#[$meta:meta])* pub mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) (pub) (pub) $($rest)+ }
    };
    ($(#[$meta:meta])* pub(crate) mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) (pub(crate)) (pub(crate)) $($rest)+ }
    };
    ($(#[$meta:meta])* pub(self) mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) () (pub(super)) $($rest)+ }
    };
    ($(#[$meta:meta])* pub(super) mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) (pub(super)) (pub(in super::super)) $($rest)+ }
    };
    ($(#[$meta:meta])* pub(in $($path:ident)::+) mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) (pub(in $($path)::+)) (pub(in $($path)::+)) $($rest)+ }
    };
    (@limit $meta:tt $vis:tt $marker:tt $name:ident: $Value:ty $(;)?) => {
        $crate::slab! { @module $meta $vis $marker $name ($Value) ($crate::slab::MAX_CAPACITY) }
    };
    (@limit $meta:tt $vis:tt $marker:tt $name:ident: $Value:ty, bounded($limit:expr) $(;)?) => {
        $crate::slab! { @module $meta $vis $marker $name ($Value) ($limit) }
    };
    (@module ($(#[$meta:meta])*) ($($vis:tt)*) ($($marker:tt)*) $name:ident ($Value:ty) ($limit:expr)) => {
        $(#[$meta])*
        #[allow(dead_code, clippy::inline_always)]
        $($vis)* mod $name {
            #[doc(hidden)]
            $($marker)* enum Module {}

            /// The type of the values.
            pub type Value = <Module as $crate::slab::thread::Module>::Value;

            /// An owned value in the slab of its thread: 8 bytes.
            pub type Slot = $crate::slab::thread::SlotOf<Module>;

            $crate::slab::thread::std::thread_local! {
                pub(super) static LOCAL: $crate::slab::thread::ThreadSlab<Value> =
                    const { $crate::slab::thread::ThreadSlab::new(<Module as $crate::slab::thread::Module>::LIMIT) };
            }

            /// To set up the slab of this thread before its first use.
            pub fn init() -> $crate::slab::Init<Module> {
                $crate::slab::Init::new()
            }

            /// The slot of a value.
            #[inline(always)]
            pub fn insert(value: Value) -> Slot {
                $crate::slab::thread::insert::<Module>(value)
            }

            /// The slot of a value, which is returned in the error if the slab is full.
            #[inline(always)]
            pub fn try_insert(value: Value) -> $crate::slab::thread::TryInsert<Module> {
                $crate::slab::thread::try_insert::<Module>(value)
            }

            /// Inserts the result of `make`, which is called after its slot is reserved.
            #[inline(always)]
            pub fn insert_with(make: impl $crate::slab::thread::FnOnce() -> Value) -> Slot {
                $crate::slab::thread::insert_with::<Module>(make)
            }

            /// Like `insert_with`. If the slab is full, `make` is not called, and the error contains it.
            #[inline(always)]
            pub fn try_insert_with<F: $crate::slab::thread::FnOnce() -> Value>(
                make: F,
            ) -> $crate::slab::thread::Result<Slot, $crate::slab::Full<F>> {
                $crate::slab::thread::try_insert_with::<Module, F>(make)
            }

            /// Whether there is a leaked value under this key.
            pub fn contains_key(key: $crate::slab::Key) -> bool {
                $crate::slab::thread::contains_key::<Module>(key)
            }

            /// Takes a leaked value back.
            pub fn reclaim(key: $crate::slab::Key) -> $crate::slab::thread::Option<Slot> {
                $crate::slab::thread::reclaim::<Module>(key)
            }

            /// Takes the one value back that was leaked with this key.
            pub fn reclaim_stamped(key: $crate::slab::StampedKey) -> $crate::slab::thread::Option<Slot> {
                $crate::slab::thread::reclaim_stamped::<Module>(key)
            }

            /// Calls `f` with a leaked value. While it runs, the key finds nothing.
            pub fn with<R>(
                key: $crate::slab::Key,
                f: impl $crate::slab::thread::FnOnce(&mut Value) -> R,
            ) -> $crate::slab::thread::Option<R> {
                $crate::slab::thread::with::<Module, R>(key, f)
            }

            /// The keys of the leaked values.
            pub fn leaked() -> impl $crate::slab::thread::Iterator<Item = $crate::slab::Key> {
                $crate::slab::thread::leaked_keys::<Module>()
            }

            /// Values on this thread, leaked ones too.
            pub fn len() -> usize {
                $crate::slab::thread::len::<Module>()
            }

            /// Whether there is no value on this thread.
            pub fn is_empty() -> bool {
                len() == 0
            }

            /// Values that there is memory for on this thread.
            pub fn capacity() -> usize {
                $crate::slab::thread::capacity::<Module>()
            }

            /// Gets memory for this many more values.
            pub fn reserve(additional: usize) {
                $crate::slab::thread::reserve::<Module>(additional);
            }

            /// `reserve` that reports a failed allocation, or that the slab cannot have so many slots.
            pub fn try_reserve(additional: usize) -> $crate::slab::thread::Result<(), $crate::slab::Full<()>> {
                $crate::slab::thread::try_reserve::<Module>(additional)
            }

            /// Frees the chunks in which there is no value. Looks at every vacant cell.
            pub fn shrink_to_fit() {
                $crate::slab::thread::shrink_to_fit::<Module>();
            }

            /// Whether the slab of this thread was set up, by `init` or an insert.
            pub fn is_initialized() -> bool {
                $crate::slab::thread::is_initialized::<Module>()
            }

            /// Frees all memory of this thread, if there is no value.
            pub fn shutdown() -> $crate::slab::thread::Shutdown {
                $crate::slab::thread::shutdown::<Module>()
            }
        }

        // Here, where the type and the limit are known by the names that the caller gave.
        impl $crate::slab::thread::Module for $name::Module {
            type Value = $Value;
            const LIMIT: usize = $limit;
            fn local() -> &'static $crate::slab::thread::std::thread::LocalKey<$crate::slab::thread::ThreadSlab<$Value>> {
                &$name::LOCAL
            }
        }
    };
}

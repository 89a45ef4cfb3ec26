//! The modules that [`slab!`](crate::slab!) generates: a slab for each thread.
//!
//! A slot of a module finds its slab in a `thread_local!`, not through the header of its block. The macro generates no
//! `unsafe`, so crates that forbid `unsafe` can use it. Therefore [`Module`] is a safe trait, and no unsafe code relies
//! on its implementation.

use super::engine::CoreRef;
use super::error::{Full, SlotsRemaining};
use super::geometry::Geometry;
use super::insert::{self, CellAllocator, InsertError, refused};
use super::key::{Key, StampedKey};
use super::keyed::{self, KeyedCells};
use super::kind::{SlotKind, sealed};
use super::memory::{CellEntry, Refusal};
use super::slot::Slot;
use super::stack::{CellPtr, StackFull};
use super::thread_core::{Descriptor, Local, ThreadCore, free_slow, refill_by, refill_or_stop_by};
// For the macro, which calls these functions, and names items of `std` by these paths, so that they work even if the user
// shadows them.
pub use super::engine::OneThread;
pub use super::kind::Keyed;
pub use ::std;
pub use core::{iter::Iterator, ops::FnOnce, option::Option, primitive::usize, ptr::NonNull, result::Result};

use core::alloc::Layout;
use core::convert::Infallible;
use core::marker::PhantomData;
use std::thread::LocalKey;

/// A module that [`slab!`](crate::slab!) generated.
///
/// The trait is safe to implement. If a wrong `local` returns different slabs, a cell is pushed to the stack of a slab
/// that does not own it. The cell has the right layout there, and a chunk is freed only when each of its cells is on
/// the stack of the chunk's owner.
pub trait Module: 'static {
    /// The type of the values.
    type Value: 'static;
    /// The maximum number of values, unless `init` sets another.
    const LIMIT: usize;
    /// Returns the slab of this thread.
    fn local() -> &'static LocalKey<ThreadSlab<Self::Value>>;
}

/// The slot kind of a module: a dropped slot returns its cell to the slab of this thread.
///
/// A slot does not change its kind by subtyping. Otherwise the slot of a module could become one of another module, whose
/// values have another layout:
///
/// ```compile_fail,E0308
/// use dwell::slab::{PerThread, Slot, thread};
/// use std::{marker::PhantomData, thread::LocalKey};
///
/// type General = for<'a> fn(&'a u8);
/// type Special = fn(&'static u8);
/// struct Module<F>(PhantomData<F>);
///
/// thread_local! {
///     static SMALL: thread::ThreadSlab<u64> = const { thread::ThreadSlab::new(1000) };
/// }
///
/// impl thread::Module for Module<General> {
///     type Value = u64;
///     const LIMIT: usize = 1000;
///     fn local() -> &'static LocalKey<thread::ThreadSlab<u64>> {
///         &SMALL
///     }
/// }
/// # thread_local!(static LARGE: thread::ThreadSlab<[u64; 100]> = const { thread::ThreadSlab::new(1000) });
/// # impl thread::Module for Module<Special> {
/// #     type Value = [u64; 100];
/// #     const LIMIT: usize = 1000;
/// #     fn local() -> &'static LocalKey<thread::ThreadSlab<[u64; 100]>> {
/// #         &LARGE
/// #     }
/// # }
///
/// let slot: Slot<u64, PerThread<Module<General>>> = thread::insert::<Module<General>>(1);
/// let other: Slot<u64, PerThread<Module<Special>>> = slot; // error: mismatched types
/// ```
pub struct PerThread<M>(Infallible, PhantomData<fn(M) -> M>);

impl<M: Module> SlotKind for PerThread<M> {}
impl<M: Module> Keyed for PerThread<M> {}

// SAFETY: `ThreadSlab::free_cell` puts the cell on one list. If that fails, `free_slow` does. If the thread has no slab and
// gets none, the cell is leaked.
unsafe impl<M: Module> sealed::SlotKind for PerThread<M> {
    #[inline(always)]
    unsafe fn free_cell(cell: CellPtr, _: Layout) {
        let local = find::<M>();
        // On targets without native thread-local storage the thread's slab may be gone. Then std makes a new one, which
        // takes the cell, or it refuses, and the cell leaks.
        let Some(slab) = local.get() else { return };
        // SAFETY: the caller guarantees that this is an occupied cell of a slab of this module, contains no live value,
        // and is not used again, so it is vacant now and on no list. Slots are invariant in their kind, so `M` is the
        // module that the cell came from, and each `ThreadSlab<M::Value>` has the geometry of the cell, whichever
        // `local` returns.
        if let Err(StackFull) = unsafe { in_register(slab).free_cell(cell) } {
            // SAFETY: the cell is vacant as argued above, and `free_cell` failed, so it is on no list. It has the geometry of the
            // slabs that `find` finds.
            unsafe { free_slow(descriptor::<M>(), cell) };
        }
    }
}

/// The slab of one module on one thread.
pub struct ThreadSlab<T> {
    // Invariant: `core` has the geometry of a `T`.
    core: ThreadCore,
    of: PhantomData<*mut T>,
}

impl<T> ThreadSlab<T> {
    const GEOMETRY: Geometry = Geometry::of(Layout::new::<T>());

    /// Creates a slab without memory, for at most `limit` values.
    pub const fn new(limit: usize) -> Self {
        assert!(limit <= Key::LIMIT, "a slab can have at most 4294967295 slots");
        Self { core: ThreadCore::new(Self::GEOMETRY, limit), of: PhantomData }
    }
}

/// Finds the slab of a module on this thread.
#[inline(always)]
fn find<M: Module>() -> Local {
    M::local().try_with(|slab| Local::new(&slab.core)).unwrap_or(Local::GONE)
}

/// What the code that is compiled once needs to know of a module: all code that is not in a hurry.
#[inline(always)]
fn descriptor<M: Module>() -> &'static Descriptor {
    const {
        // SAFETY: a leaked cell of a `ThreadSlab<M::Value>` holds an `M::Value`, since only slots leak values. The cells of all
        // slabs that `find::<M>` finds have the layout of an `M::Value`.
        &unsafe { Descriptor::new::<M::Value>(find::<M>) }
    }
}

/// Returns the same reference, with an address that the compiler computes once.
///
/// On x86-64 the compiler would otherwise address each access by the thread's segment register. The processor forwards
/// a stored word to a load with the same register and offset (on Zen 4, in every run), but with a segment register only
/// in some runs (4.1 and 5.7 ticks: `cargo run --release -p dwell-bench -- slab --times --workload lifecycle/64B`).
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    expect(clippy::pointers_in_nomem_asm_block, reason = "the assembly does not dereference the pointer")
)]
#[inline(always)]
fn in_register(slab: &ThreadCore) -> &ThreadCore {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut address: *const ThreadCore = slab;
        // SAFETY: the assembly is only a comment, so it executes nothing. To the language it stands for a function that returns
        // its argument: the same pointer, with its provenance.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags));
        }
        // SAFETY: the pointer is `slab`, as argued above, and the result borrows that.
        unsafe { &*address }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    slab
}

/// The cells of a module on this thread.
struct Cells<M>(PhantomData<M>);

// SAFETY: by invariant 1 of `ThreadSlab` the cells of a `ThreadSlab<M::Value>` are for an `M::Value`. They are vacant
// and used by no other code when they are popped or refilled. A slot of the module is not `Send`, so it frees its cell
// to a `ThreadSlab<M::Value>` on this thread. A leaked cell is occupied, so it is not popped, and a chunk is freed only when
// all its cells are vacant.
unsafe impl<M: Module> CellAllocator<M::Value> for Cells<M> {
    type Kind = PerThread<M>;
    type Handle = Slot<M::Value, PerThread<M>>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        in_register(find::<M>().get()?).pop()
    }

    #[inline(always)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        refill_by(descriptor::<M>())
    }

    #[inline(always)]
    fn refill_or_stop(&self) -> CellPtr {
        refill_or_stop_by(descriptor::<M>())
    }
}

// SAFETY: by invariant 1 of `ThreadSlab` the cells of a `ThreadSlab<M::Value>` are for an `M::Value`, and the slab is in
// thread-local storage. Only slots leak values, which are each an `M::Value`. If a wrong `local` returns the slab of another
// module, its slots have the same values and free their cells in the same way.
unsafe impl<M: Module> KeyedCells<M::Value> for Cells<M> {
    #[inline]
    fn entry(&self, key: Key) -> Option<CellEntry<CoreRef<OneThread>>> {
        // SAFETY: by invariant 1 of `ThreadSlab` the core has the geometry of its values.
        unsafe { find::<M>().get()?.core.entry(key, ThreadSlab::<M::Value>::GEOMETRY) }
    }
}

// The functions that the macro calls. They have the module as a parameter and not its cells and values: the compiler need not search
// for the implementations of a trait in each of them.

/// The slot of a module.
type SlotOf<M> = Slot<<M as Module>::Value, PerThread<M>>;

#[inline(always)]
pub fn insert<M: Module>(value: M::Value) -> SlotOf<M> {
    insert::insert(&Cells::<M>(PhantomData), value)
}

#[inline(always)]
pub fn try_insert<M: Module>(value: M::Value) -> Result<SlotOf<M>, Full<M::Value>> {
    insert::try_insert(&Cells::<M>(PhantomData), value)
}

#[inline(always)]
pub fn insert_with<M: Module>(make: impl FnOnce() -> M::Value) -> SlotOf<M> {
    insert::insert_with(&Cells::<M>(PhantomData), make)
}

#[inline(always)]
pub fn try_insert_with<M: Module, F: FnOnce() -> M::Value>(make: F) -> Result<SlotOf<M>, Full<F>> {
    insert::try_insert_with(&Cells::<M>(PhantomData), make)
}

pub fn contains_key<M: Module>(key: Key) -> bool {
    keyed::contains_key(&Cells::<M>(PhantomData), key)
}

#[inline(always)]
pub fn get_ptr<M: Module>(key: Key) -> Option<NonNull<M::Value>> {
    keyed::get_ptr(&Cells::<M>(PhantomData), key)
}

pub fn reclaim<M: Module>(key: Key) -> Option<SlotOf<M>> {
    keyed::reclaim(&Cells::<M>(PhantomData), key)
}

pub fn reclaim_stamped<M: Module>(key: StampedKey) -> Option<SlotOf<M>> {
    keyed::reclaim_stamped(&Cells::<M>(PhantomData), key)
}

pub fn with<M: Module, R>(key: Key, f: impl FnOnce(&mut M::Value) -> R) -> Option<R> {
    keyed::with(&Cells::<M>(PhantomData), key, f)
}

pub fn leaked_keys<M: Module>() -> impl Iterator<Item = Key> {
    Key::each(|from| {
        // SAFETY: by invariant 1 of `ThreadSlab` the core has the geometry of its values.
        Some(unsafe { find::<M>().get()?.core.next_leaked(from, ThreadSlab::<M::Value>::GEOMETRY) }?.key())
    })
}

pub fn len<M: Module>() -> usize {
    find::<M>().get().map_or(0, ThreadCore::len)
}

pub fn capacity<M: Module>() -> usize {
    find::<M>().get().map_or(0, |slab| slab.core.capacity())
}

pub fn is_initialized<M: Module>() -> bool {
    find::<M>().get().is_some_and(ThreadCore::is_initialized)
}

fn reserve_or_refusal<M: Module>(additional: usize) -> Result<(), Refusal> {
    descriptor::<M>().reserve(additional)
}

pub fn try_reserve<M: Module>(additional: usize) -> Result<(), Full<()>> {
    reserve_or_refusal::<M>(additional).map_err(|refusal| InsertError::new((), refusal, Layout::new::<M::Value>()))
}

pub fn reserve<M: Module>(additional: usize) {
    reserve_or_refusal::<M>(additional).unwrap_or_else(|refusal| refused(refusal));
}

pub fn shrink_to_fit<M: Module>() {
    descriptor::<M>().sweep();
}

pub fn shutdown<M: Module>() -> Result<(), SlotsRemaining> {
    descriptor::<M>().shut_down(M::LIMIT).map_err(SlotsRemaining)
}

/// A builder for the slab of a module on this thread, which the module's `init` returns.
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

    /// Limits the slab to `capacity` values, for which memory is allocated at once.
    ///
    /// # Panics
    ///
    /// When `capacity` is more than `u32::MAX`, the number of keys.
    pub fn bounded(mut self, capacity: usize) -> Self {
        assert!(capacity <= Key::LIMIT, "a slab can have at most {} slots, not {capacity}", Key::LIMIT);
        (self.limit, self.preallocate) = (capacity, capacity);
        self
    }

    /// Limits the slab only by the number of keys.
    pub fn unbounded(mut self) -> Self {
        self.limit = Key::LIMIT;
        self
    }

    /// Sets the number of values in each chunk. By default the first has 12, or as many as a block holds if that is fewer, and
    /// chunks grow with the slab up to 1 MiB or one block.
    ///
    /// Each chunk reserves the keys of whole blocks of at least 64 KiB. So with small chunks a slab can have fewer values than
    /// [`MAX_CAPACITY`](crate::slab::MAX_CAPACITY), and its keys are large numbers.
    ///
    /// # Panics
    ///
    /// When `values` is 0.
    pub fn chunk_capacity(mut self, values: usize) -> Self {
        assert!(values != 0, "chunk capacity must be at least 1");
        self.chunk_capacity = values;
        self
    }

    /// Sets the number of values for which memory is allocated at the start.
    pub fn preallocate(mut self, values: usize) -> Self {
        self.preallocate = values;
        self
    }

    /// Sets up the slab.
    ///
    /// # Panics
    ///
    /// When the slab is already set up, by `init`, `reserve` or an insert, and was not shut down since, or when it cannot
    /// have that many slots.
    pub fn build(self) {
        self.finish().unwrap_or_else(|refusal| refused(refusal));
    }

    /// Like [`build`](Self::build), but returns an error on failure.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory, or where `build` panics.
    pub fn try_build(self) -> Result<(), Full<()>> {
        self.finish().map_err(|refusal| InsertError::new((), refusal, Layout::new::<M::Value>()))
    }

    fn finish(self) -> Result<(), Refusal> {
        descriptor::<M>().set_up([self.limit, self.chunk_capacity, self.preallocate], M::LIMIT)
    }
}

/// Generates a module with a slab for each thread that uses it.
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
/// `mod orders: Order, bounded(1000);` limits each thread to 1000 values. Attributes and visibility are written as for
/// any module; of the attributes only documentation comes before a `cfg`. The type is named as in the code around the
/// macro.
///
/// # The module
///
/// | item | meaning |
/// |---|---|
/// | `Slot`, `Value` | the type of the slots, an 8-byte [`Slot`](crate::slab::Slot); the type of the values |
/// | `insert(value)`, `insert_with(make)` | insert a value and return its slot; panic if the slab is full |
/// | `try_insert(value)`, `try_insert_with(make)` | the same, or return the argument in a [`Full`](crate::slab::Full) |
/// | `contains_key(key)` | returns whether the key has a leaked value |
/// | `get_ptr(key)` | returns the address of a leaked value, for code that dereferences it under its own rules |
/// | `with(key, f)`, `reclaim(key)`, `reclaim_stamped(key)`, `leaked()` | as in a [`Slab`](crate::slab::Slab) |
/// | `len()`, `is_empty()`, `capacity()` | describe the slab of this thread |
/// | `reserve(n)`, `try_reserve(n)`, `shrink_to_fit()` | reserve memory for `n` more values; free unused chunks |
/// | `init()` | returns an [`Init`](crate::slab::Init), which configures the slab before its first use; optional |
/// | `is_initialized()` | returns whether the slab of this thread was set up, by `init`, `reserve` or an insert |
/// | `shutdown()` | frees all memory of this thread, or returns the number of values that are left |
///
/// # When a thread ends
///
/// When a thread ends, its leaked values are dropped and its memory is freed. Values that their destructors leak are dropped
/// too, as far as these are not more than were leaked before, or 1000; the others stay leaked. A destructor that panics then
/// aborts the process, as that of a thread-local variable does. Slots in thread-local variables may outlive the slab; their
/// chunks are freed when the last such slot is dropped. Slots do not leave their thread.
///
/// On targets without native thread-local storage, such as Windows with the GNU toolchain, Android and OpenBSD, std may
/// destroy the slab before this happens. Its chunks and leaked values then stay allocated.
#[macro_export]
macro_rules! slab {
    // Disables all that the macro generates, not only the module.
    ($(#[doc $($doc:tt)+])* #[cfg $condition:tt] $($rest:tt)+) => {
        #[cfg $condition]
        $crate::slab! { $(#[doc $($doc)+])* $($rest)+ }
    };
    // The marker type must be as visible as the type of the values may be. Its visibility is relative to the module.
    ($(#[$meta:meta])* $(pub(self))? mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) () (pub(super)) $($rest)+ }
    };
    ($(#[$meta:meta])* pub(super) mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) (pub(super)) (pub(in super::super)) $($rest)+ }
    };
    ($(#[$meta:meta])* pub(in super $(:: $path:ident)*) mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) (pub(in super $(:: $path)*)) (pub(in super::super $(:: $path)*)) $($rest)+ }
    };
    ($(#[$meta:meta])* pub $(($($scope:tt)+))? mod $($rest:tt)+) => {
        $crate::slab! { @limit ($(#[$meta])*) (pub $(($($scope)+))?) (pub $(($($scope)+))?) $($rest)+ }
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
            $($marker)* struct Module;

            /// The type of the values.
            pub type Value = <Module as $crate::slab::thread::Module>::Value;

            /// An owned value in the slab of this thread, in 8 bytes.
            pub type Slot = $crate::slab::Slot<Value, $crate::slab::thread::PerThread<Module>>;

            $crate::slab::thread::std::thread_local! {
                pub(super) static LOCAL: $crate::slab::thread::ThreadSlab<Value> =
                    const { $crate::slab::thread::ThreadSlab::new(<Module as $crate::slab::thread::Module>::LIMIT) };
            }

            /// Returns a builder that sets up the slab of this thread before its first use.
            pub fn init() -> $crate::slab::thread::Init<Module> {
                $crate::slab::thread::Init::new()
            }

            /// Inserts a value and returns its slot. Panics if the slab is full.
            #[inline(always)]
            pub fn insert(value: Value) -> Slot {
                $crate::slab::thread::insert::<Module>(value)
            }

            /// Inserts a value and returns its slot, or returns the value in an error if the slab is full.
            #[inline(always)]
            pub fn try_insert(value: Value) -> $crate::slab::thread::Result<Slot, $crate::slab::Full<Value>> {
                $crate::slab::thread::try_insert::<Module>(value)
            }

            /// Inserts the value that `make` returns. Takes a cell before it calls `make`. Panics if the slab is full.
            #[inline(always)]
            pub fn insert_with(make: impl $crate::slab::thread::FnOnce() -> Value) -> Slot {
                $crate::slab::thread::insert_with::<Module>(make)
            }

            /// Like `insert_with`, but returns `make` in an error, without calling it, if the slab is full.
            #[inline(always)]
            pub fn try_insert_with<F: $crate::slab::thread::FnOnce() -> Value>(
                make: F,
            ) -> $crate::slab::thread::Result<Slot, $crate::slab::Full<F>> {
                $crate::slab::thread::try_insert_with::<Module, F>(make)
            }

            /// Returns whether the key has a leaked value.
            pub fn contains_key(key: $crate::slab::Key) -> bool {
                $crate::slab::thread::contains_key::<Module>(key)
            }

            /// Returns the address of a leaked value, or `None` if the key has none. It is valid until the key is
            /// reclaimed or the thread ends.
            #[inline(always)]
            pub fn get_ptr(
                key: $crate::slab::Key,
            ) -> $crate::slab::thread::Option<$crate::slab::thread::NonNull<Value>> {
                $crate::slab::thread::get_ptr::<Module>(key)
            }

            /// Returns a slot for a leaked value, or `None` if the key has none.
            pub fn reclaim(key: $crate::slab::Key) -> $crate::slab::thread::Option<Slot> {
                $crate::slab::thread::reclaim::<Module>(key)
            }

            /// Like `reclaim`, but only for the value that was leaked with this key, and no later one.
            pub fn reclaim_stamped(key: $crate::slab::StampedKey) -> $crate::slab::thread::Option<Slot> {
                $crate::slab::thread::reclaim_stamped::<Module>(key)
            }

            /// Calls `f` with a leaked value, or returns `None` if the key has none. While `f` runs, the key finds
            /// nothing.
            pub fn with<R>(
                key: $crate::slab::Key,
                f: impl $crate::slab::thread::FnOnce(&mut Value) -> R,
            ) -> $crate::slab::thread::Option<R> {
                $crate::slab::thread::with::<Module, R>(key, f)
            }

            /// Returns the keys of the leaked values.
            pub fn leaked() -> impl $crate::slab::thread::Iterator<Item = $crate::slab::Key> {
                $crate::slab::thread::leaked_keys::<Module>()
            }

            /// Returns the number of values on this thread, leaked ones included.
            pub fn len() -> usize {
                $crate::slab::thread::len::<Module>()
            }

            /// Returns whether there are no values on this thread.
            pub fn is_empty() -> bool {
                len() == 0
            }

            /// Returns the number of values that this thread has memory for.
            pub fn capacity() -> usize {
                $crate::slab::thread::capacity::<Module>()
            }

            /// Reserves memory for `additional` more values.
            pub fn reserve(additional: usize) {
                $crate::slab::thread::reserve::<Module>(additional);
            }

            /// Like `reserve`, but returns an error if an allocation fails or the slab cannot have that many slots.
            pub fn try_reserve(additional: usize) -> $crate::slab::thread::Result<(), $crate::slab::Full<()>> {
                $crate::slab::thread::try_reserve::<Module>(additional)
            }

            /// Frees the chunks without values. It visits every vacant cell.
            pub fn shrink_to_fit() {
                $crate::slab::thread::shrink_to_fit::<Module>();
            }

            /// Returns whether the slab of this thread was set up, by `init`, `reserve` or an insert.
            pub fn is_initialized() -> bool {
                $crate::slab::thread::is_initialized::<Module>()
            }

            /// Frees all memory of this thread, or returns an error if there are values.
            pub fn shutdown() -> $crate::slab::thread::Result<(), $crate::slab::SlotsRemaining> {
                $crate::slab::thread::shutdown::<Module>()
            }
        }

        // Outside the module, where the type and the limit are resolved in the scope of the caller.
        impl $crate::slab::thread::Module for $name::Module {
            type Value = $Value;
            const LIMIT: $crate::slab::thread::usize = $limit;
            fn local() -> &'static $crate::slab::thread::std::thread::LocalKey<$crate::slab::thread::ThreadSlab<$Value>> {
                &$name::LOCAL
            }
        }
    };
}

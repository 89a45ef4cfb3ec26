//! A slab for each thread, behind a module: what [`slab!`](crate::slab!) writes.

use super::blocks::{Blocks, Entry, Refusal};
use super::core::Core;
use super::error::{Full, SlotsRemaining};
use super::free::{NoRoom, Place};
use super::geometry::Geometry;
use super::home::{Home, Keyed, sealed};
use super::key::{Key, StampedKey};
use super::refused;
use super::slot::Slot;
use super::words::{Pair, Words};
// For the macro, which names nothing that its user could have named otherwise.
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
/// It is safe to implement, so that the macro needs no `unsafe` in its user's crate, and nothing here trusts it: if `local`
/// returns now one slab and now another, a place ends on the stack of a slab that it did not come from. It has the right
/// layout there, and a chunk is freed only when all of its places are found on the stack of its owner.
pub trait Module: 'static {
    /// What is in the slab.
    type Value: 'static;
    /// The places that there are unless `init` says otherwise.
    const LIMIT: usize;
    /// The slab of this thread.
    fn local() -> &'static LocalKey<Local<Self::Value>>;
}

/// By the thread: the slots of a module. It is the second parameter of their [`Slot`].
pub struct PerThread<M>(Infallible, PhantomData<M>);

impl<M: Module> Home for PerThread<M> {}
impl<M: Module> Keyed for PerThread<M> {}

// SAFETY: the place is put on one stack, or none.
unsafe impl<M: Module> sealed::Home for PerThread<M> {
    type Told = ();

    #[inline(always)]
    fn told(_: Layout) {}

    #[inline(always)]
    unsafe fn give_back(place: Place, (): ()) {
        // SAFETY: by the caller the place is vacant, and it is as large as those of a slab for the same values. A slab that
        // is gone (there are no such on targets with native thread-local storage) gets nothing: the place is leaked.
        let kept = M::local().try_with(|local| unsafe { in_register(local).push(place) });
        if let Ok(Err(NoRoom)) = kept {
            // SAFETY: as above, since it was not taken.
            unsafe { put_aside::<M>(place) };
        }
    }
}

/// What is at hand where no place ever is: neither null, so that a drop looks further, nor a place's address.
const NEVER: *mut () = ptr::without_provenance_mut(1);

/// The slab of one module on one thread. It has no destructor: `retire` is called at the thread's end.
#[repr(C, align(64))] // What every insert and every drop touches is one line.
pub struct Local<T> {
    // # Invariants
    //
    // 1. The geometry of `core` is that of a `T`, and its owner is its address in a thread-local variable. (Or else it is
    //    no thread-local variable, and cannot be reached.)
    // 2. `at_hand` is a vacant place that is on no stack, or null if there is none, or `NEVER` if the slab is retired.
    /// The place for the next insert. One that is given back and taken again at once then comes by a word that does not
    /// move, not by a stack whose top has to be stored and loaded for its address.
    at_hand: Cell<*mut ()>,
    core: Core,
    /// Whether `retire` will be called.
    registered: Cell<bool>,
    /// Whether it was set up, by `init` or an insert.
    initialized: Cell<bool>,
    of: PhantomData<*mut T>,
}

impl<T> Local<T> {
    const GEOMETRY: Geometry = Geometry::of(Layout::new::<T>());

    /// A slab without memory, that is to have at most this many places.
    pub const fn new(limit: usize) -> Self {
        assert!(limit <= Key::LIMIT, "a slab has at most 4294967295 places");
        let core = Core::new(Self::GEOMETRY, limit);
        let at_hand = Cell::new(ptr::null_mut());
        Self { core, at_hand, registered: Cell::new(false), initialized: Cell::new(false), of: PhantomData }
    }

    /// Takes a vacant place.
    #[inline(always)]
    fn pop(&self) -> Option<Place> {
        // Several inserts in a row come here, one after a drop does not.
        self.take_at_hand().or_else(|| self.core.vacant.pop_ahead())
    }

    #[inline(always)]
    fn take_at_hand(&self) -> Option<Place> {
        let at_hand = self.at_hand.get();
        if at_hand.addr() <= NEVER.addr() {
            return None;
        }
        self.at_hand.set(ptr::null_mut());
        NonNull::new(at_hand)
    }

    /// Keeps a vacant place, if there is room for it.
    ///
    /// # Safety
    ///
    /// As for `Stack::push`.
    #[inline(always)]
    unsafe fn push(&self, place: Place) -> Result<(), NoRoom> {
        if self.at_hand.get().is_null() {
            self.at_hand.set(place.as_ptr());
            return Ok(());
        }
        // SAFETY: by the caller.
        unsafe { self.core.vacant.push(place) }
    }

    /// The core, with all vacant places on its stack.
    fn settle(&self) -> &Core {
        if let Some(place) = self.take_at_hand() {
            // SAFETY: by invariant 2. There is room by invariant 3 of the core, unless a module lies; then nobody will have it.
            let _ = unsafe { self.core.vacant.push(place) };
        }
        &self.core
    }

    /// Ends the slab: see [`Core::retire`].
    fn retire(&self) {
        self.settle().retire();
        self.at_hand.set(NEVER);
    }

    fn owner(&self) -> *const () {
        (&raw const self.core).cast()
    }

    /// Sees that `retire` is called at the thread's end, or retires at once if that is now.
    fn begin<M: Module<Value = T>>(&self) -> Result<(), Refusal> {
        if !self.registered.get() {
            match AT_EXIT.try_with(|at_exit| at_exit.call(retire::<M>)) {
                Ok(result) => result?,
                Err(_) => self.retire(),
            }
            self.registered.set(true);
        }
        self.initialized.set(true);
        Ok(())
    }

    /// Frees what has no values. All, and what is known of it, if there are none.
    fn sweep(&self) {
        self.settle().sweep(self.owner());
        let _ = self.core.blocks(Blocks::forget_if_empty);
    }
}

/// What to call when this thread ends.
struct AtExit(RefCell<Vec<fn()>>);

thread_local!(static AT_EXIT: AtExit = const { AtExit(RefCell::new(Vec::new())) });

impl AtExit {
    fn call(&self, f: fn()) -> Result<(), Refusal> {
        let layout = Layout::new::<fn()>();
        // Not borrowed, unless the global allocator came back here from the next line.
        let mut calls = self.0.try_borrow_mut().map_err(|_| Refusal::Alloc(layout))?;
        calls.try_reserve(1).map_err(|_| Refusal::Alloc(layout))?;
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

/// Drops what was leaked, and frees what has no values; the rest is freed by the last slot.
fn retire<M: Module>() {
    while let Some(key) = leaked::<M>(0) {
        drop(reclaim::<M>(key));
    }
    let _ = M::local().try_with(|local| {
        local.retire();
        local.sweep();
    });
}

/// Takes the place of a slab that is retired, and frees what the last one leaves.
///
/// # Safety
///
/// As for `Stack::push`.
#[cold]
#[inline(never)]
unsafe fn put_aside<M: Module>(place: Place) {
    let _ = M::local().try_with(|local| {
        // SAFETY: by the caller.
        if unsafe { local.core.put_aside(place) } {
            local.sweep();
        }
    });
}

/// The place that `pop` did not find.
#[cold]
#[inline(never)]
fn refill<M: Module>() -> Place {
    try_refill::<M>().unwrap_or_else(|refusal| refused(refusal))
}

#[cold]
#[inline(never)]
fn try_refill<M: Module>() -> Result<Place, Refusal> {
    let refilled = M::local().try_with(|local| {
        local.begin::<M>()?;
        local.core.refill(local.owner())
    });
    refilled.unwrap_or(Err(Refusal::Alloc(Layout::new::<M::Value>())))
}

/// The same slab, at an address that the compiler computes once.
///
/// On x86-64 it would otherwise name the thread's segment at each access. A word that is stored and loaded again by the same
/// register and offset goes from one to the other at once (on Zen 4, in every run), by a segment only in some runs.
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    expect(clippy::pointers_in_nomem_asm_block, reason = "it is not followed there")
)]
#[inline(always)]
fn in_register<T>(local: &Local<T>) -> &Local<T> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut address: *const Local<T> = local;
        // SAFETY: nothing is done, and the address stays as it is.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags));
        }
        // SAFETY: it is that of `local`.
        unsafe { &*address }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    local
}

#[inline(always)]
fn pop<M: Module>() -> Option<Place> {
    M::local().try_with(|local| in_register(local).pop()).ok()?
}

/// The slot of a module.
pub type SlotOf<M> = Slot<<M as Module>::Value, PerThread<M>>;

#[inline(always)]
pub fn insert<M: Module>(value: M::Value) -> SlotOf<M> {
    let place = match pop::<M>() {
        Some(place) => place,
        None if const { Words::fit::<M::Value>() } => {
            let Words(first, second) = Words::new(value);
            return insert_in_new::<M>(first, second);
        }
        None => refill::<M>(),
    };
    // SAFETY: the place is for such a value, vacant, and from `M`.
    unsafe { Slot::fill(place, value) }
}

#[cold]
#[inline(never)]
fn insert_in_new<M: Module>(first: Pair, second: Pair) -> SlotOf<M> {
    // SAFETY: made of a value by `insert`.
    let value = unsafe { Words(first, second).into() };
    // SAFETY: the place is for such a value, vacant, and from `M`.
    unsafe { Slot::fill(refill::<M>(), value) }
}

/// What `try_insert` returns.
pub type TryInsert<M> = Result<SlotOf<M>, Full<<M as Module>::Value>>;

/// What `shutdown` returns.
pub type Shutdown = Result<(), SlotsRemaining>;

#[inline(always)]
pub fn try_insert<M: Module>(value: M::Value) -> TryInsert<M> {
    let place = match pop::<M>() {
        Some(place) => place,
        None => match try_refill::<M>() {
            Ok(place) => place,
            Err(refusal) => return Err(Full::new(value, refusal)),
        },
    };
    // SAFETY: as in `insert`.
    Ok(unsafe { Slot::fill(place, value) })
}

#[inline(always)]
pub fn insert_with<M: Module>(make: impl FnOnce() -> M::Value) -> SlotOf<M> {
    let place = pop::<M>().unwrap_or_else(refill::<M>);
    // SAFETY: as in `insert`.
    unsafe { Slot::fill_with(place, make) }
}

#[inline(always)]
pub fn try_insert_with<M: Module, F: FnOnce() -> M::Value>(make: F) -> Result<SlotOf<M>, Full<F>> {
    let place = match pop::<M>() {
        Some(place) => place,
        None => match try_refill::<M>() {
            Ok(place) => place,
            Err(refusal) => return Err(Full::new(make, refusal)),
        },
    };
    // SAFETY: as in `insert`.
    Ok(unsafe { Slot::fill_with(place, make) })
}

/// Calls `f` on the memory of this thread's slab, unless that is gone.
fn blocks<M: Module, R>(f: impl FnOnce(&mut Blocks) -> R) -> Option<R> {
    M::local().try_with(|local| local.core.blocks(f).ok()).ok()?
}

fn find<M: Module>(key: Key) -> Option<Entry> {
    blocks::<M, _>(|blocks| blocks.find(Local::<M::Value>::GEOMETRY, key))?
}

pub fn contains_key<M: Module>(key: Key) -> bool {
    find::<M>(key).is_some_and(|entry| entry.is_leaked())
}

#[inline]
pub fn reclaim<M: Module>(key: Key) -> Option<SlotOf<M>> {
    let entry = find::<M>(key)?;
    // SAFETY: a leaked place holds an `M::Value` and is nobody's; it is the slot's now, and no longer leaked.
    entry.unleak().then(|| unsafe { Slot::from_raw(entry.place().cast()) })
}

#[inline]
pub fn reclaim_stamped<M: Module>(key: StampedKey) -> Option<SlotOf<M>> {
    let entry = find::<M>(key.key())?;
    // SAFETY: as in `reclaim`.
    (entry.has_stamp(key.stamp()) && entry.unleak()).then(|| unsafe { Slot::from_raw(entry.place().cast()) })
}

#[inline]
pub fn with<M: Module, R>(key: Key, f: impl FnOnce(&mut M::Value) -> R) -> Option<R> {
    let lent = find::<M>(key)?.lend()?;
    // SAFETY: a leaked place holds an `M::Value`. Nobody else has it while it is lent, not even if `f` comes back here.
    Some(f(unsafe { lent.place().cast().as_mut() }))
}

fn leaked<M: Module>(from: usize) -> Option<Key> {
    let entry = blocks::<M, _>(|blocks| blocks.next_leaked(Local::<M::Value>::GEOMETRY, from))??;
    Some(entry.key())
}

pub fn leaked_keys<M: Module>() -> impl Iterator<Item = Key> {
    let mut from = 0;
    core::iter::from_fn(move || {
        let key = leaked::<M>(from)?;
        from = key.index() as usize + 1;
        Some(key)
    })
}

pub fn len<M: Module>() -> usize {
    M::local().try_with(|local| local.settle().occupied()).unwrap_or(0)
}

pub fn capacity<M: Module>() -> usize {
    blocks::<M, _>(|blocks| blocks.capacity).unwrap_or(0)
}

pub fn is_initialized<M: Module>() -> bool {
    M::local().try_with(|local| local.initialized.get()).unwrap_or(false)
}

pub fn try_reserve<M: Module>(additional: usize) -> Result<(), Full<()>> {
    let reserved = M::local().try_with(|local| {
        local.begin::<M>()?;
        local.settle().reserve(additional)
    });
    reserved.unwrap_or(Err(Refusal::Alloc(Layout::new::<M::Value>()))).map_err(|refusal| Full::new((), refusal))
}

pub fn reserve<M: Module>(additional: usize) {
    if let Err(error) = try_reserve::<M>(additional) {
        refused(error.refusal());
    }
}

pub fn shrink_to_fit<M: Module>() {
    let _ = M::local().try_with(|local| local.settle().sweep(local.owner()));
}

pub fn shutdown<M: Module>() -> Shutdown {
    let len = len::<M>();
    if len != 0 {
        return Err(SlotsRemaining(len));
    }
    let _ = M::local().try_with(|local| {
        local.sweep();
        local.initialized.set(false);
    });
    let _ = blocks::<M, _>(|blocks| blocks.configure(M::LIMIT, 0));
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

    /// At most this many places, all allocated at once.
    ///
    /// # Panics
    ///
    /// When there are not that many keys: more than `u32::MAX`.
    pub fn bounded(mut self, capacity: usize) -> Self {
        assert!(capacity <= Key::LIMIT, "a slab has at most {} places, not {capacity}", Key::LIMIT);
        (self.limit, self.preallocate) = (capacity, capacity);
        self
    }

    /// As many places as are needed.
    pub fn unbounded(mut self) -> Self {
        self.limit = Key::LIMIT;
        self
    }

    /// Places in each chunk of memory. Unless set, chunks grow with the slab, from 64 KiB to 1 MiB.
    ///
    /// # Panics
    ///
    /// When it is 0.
    pub fn chunk_capacity(mut self, places: usize) -> Self {
        assert!(places != 0, "a chunk has at least one place");
        self.chunk_capacity = places;
        self
    }

    /// Places to have memory for from the start.
    pub fn preallocate(mut self, places: usize) -> Self {
        self.preallocate = places;
        self
    }

    /// Sets the slab up.
    ///
    /// # Panics
    ///
    /// When it is set up already, by this or by an insert, and not shut down since; or when there is not so much memory.
    pub fn build(self) {
        if let Err(error) = self.try_build() {
            refused(error.refusal());
        }
    }

    /// [`build`](Self::build) that reports a failed allocation.
    ///
    /// # Panics
    ///
    /// When the slab is set up already.
    pub fn try_build(self) -> Result<(), Full<()>> {
        assert!(!is_initialized::<M>(), "the slab is already initialized on this thread");
        let _ = blocks::<M, _>(|blocks| blocks.configure(self.limit, self.chunk_capacity));
        let built = try_reserve::<M>(self.preallocate);
        if built.is_err() {
            let _ = M::local().try_with(|local| local.initialized.set(false));
        }
        built
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
/// `mod orders: Order, bounded(1000);` has at most 1000 places. Attributes, `pub` and the like go where they usually do,
/// and the type is named as it is where the macro stands.
///
/// # The module
///
/// | item | what it is |
/// |---|---|
/// | `Slot`, `Value` | the slot: 8 bytes, a [`Slot`](crate::slab::Slot); the type of the value |
/// | `insert(value)`, `insert_with(make)` | the slot of a value; panics when all places are taken |
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
    // The marker of the module must be as visible as a type that is named there may be, so that `pub` is taken apart.
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
            pub type Value = <Module as $crate::slab::local::Module>::Value;

            /// An owned value in the slab of its thread: 8 bytes.
            pub type Slot = $crate::slab::local::SlotOf<Module>;

            $crate::slab::local::std::thread_local! {
                pub(super) static LOCAL: $crate::slab::local::Local<Value> =
                    const { $crate::slab::local::Local::new(<Module as $crate::slab::local::Module>::LIMIT) };
            }

            /// To set up the slab of this thread before its first use.
            pub fn init() -> $crate::slab::Init<Module> {
                $crate::slab::Init::new()
            }

            /// The slot of a value.
            #[inline(always)]
            pub fn insert(value: Value) -> Slot {
                $crate::slab::local::insert::<Module>(value)
            }

            /// The slot of a value, which comes back if there is no place for it.
            #[inline(always)]
            pub fn try_insert(value: Value) -> $crate::slab::local::TryInsert<Module> {
                $crate::slab::local::try_insert::<Module>(value)
            }

            /// The slot of what `make` returns, called once there is a place.
            #[inline(always)]
            pub fn insert_with(make: impl $crate::slab::local::FnOnce() -> Value) -> Slot {
                $crate::slab::local::insert_with::<Module>(make)
            }

            /// The slot of what `make` returns; it comes back, not called, if there is no place.
            #[inline(always)]
            pub fn try_insert_with<F: $crate::slab::local::FnOnce() -> Value>(
                make: F,
            ) -> $crate::slab::local::Result<Slot, $crate::slab::Full<F>> {
                $crate::slab::local::try_insert_with::<Module, F>(make)
            }

            /// Whether there is a leaked value under this key.
            pub fn contains_key(key: $crate::slab::Key) -> bool {
                $crate::slab::local::contains_key::<Module>(key)
            }

            /// Takes a leaked value back.
            pub fn reclaim(key: $crate::slab::Key) -> $crate::slab::local::Option<Slot> {
                $crate::slab::local::reclaim::<Module>(key)
            }

            /// Takes the one value back that was leaked with this key.
            pub fn reclaim_stamped(key: $crate::slab::StampedKey) -> $crate::slab::local::Option<Slot> {
                $crate::slab::local::reclaim_stamped::<Module>(key)
            }

            /// Calls `f` with a leaked value. While it runs, the key finds nothing.
            pub fn with<R>(
                key: $crate::slab::Key,
                f: impl $crate::slab::local::FnOnce(&mut Value) -> R,
            ) -> $crate::slab::local::Option<R> {
                $crate::slab::local::with::<Module, R>(key, f)
            }

            /// The keys of the leaked values.
            pub fn leaked() -> impl $crate::slab::local::Iterator<Item = $crate::slab::Key> {
                $crate::slab::local::leaked_keys::<Module>()
            }

            /// Values on this thread, leaked ones too.
            pub fn len() -> usize {
                $crate::slab::local::len::<Module>()
            }

            /// Whether there is no value on this thread.
            pub fn is_empty() -> bool {
                len() == 0
            }

            /// Values that there is memory for on this thread.
            pub fn capacity() -> usize {
                $crate::slab::local::capacity::<Module>()
            }

            /// Gets memory for this many more values.
            pub fn reserve(additional: usize) {
                $crate::slab::local::reserve::<Module>(additional);
            }

            /// `reserve` that reports a failed allocation, or that there are not so many places.
            pub fn try_reserve(additional: usize) -> $crate::slab::local::Result<(), $crate::slab::Full<()>> {
                $crate::slab::local::try_reserve::<Module>(additional)
            }

            /// Frees the chunks in which there is no value. Looks at every vacant place.
            pub fn shrink_to_fit() {
                $crate::slab::local::shrink_to_fit::<Module>();
            }

            /// Whether the slab of this thread was set up, by `init` or an insert.
            pub fn is_initialized() -> bool {
                $crate::slab::local::is_initialized::<Module>()
            }

            /// Frees all memory of this thread, if there is no value.
            pub fn shutdown() -> $crate::slab::local::Shutdown {
                $crate::slab::local::shutdown::<Module>()
            }
        }

        // Here, where the type and the limit are known by the names that the caller gave.
        impl $crate::slab::local::Module for $name::Module {
            type Value = $Value;
            const LIMIT: usize = $limit;
            fn local() -> &'static $crate::slab::local::std::thread::LocalKey<$crate::slab::local::Local<$Value>> {
                &$name::LOCAL
            }
        }
    };
}

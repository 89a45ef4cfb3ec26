//! Stable addresses at the price of writing the value.
//!
//! A [`Slab<T>`](Slab) hands out places for values of one type. A [`Slot<T>`](Slot) is what a `Box<T>` is: 8 bytes that own
//! a value at an address that does not change. Making and dropping one takes and gives back a place of the slab, some dozen
//! instructions without a call, instead of going to the allocator.
//!
//! ```
//! use dwell::slab::{Slab, Slot};
//!
//! struct Order {
//!     price: u64,
//!     next: Option<Slot<Order>>, // 8 bytes
//! }
//!
//! let orders = Slab::new();
//! let first = orders.insert(Order { price: 100, next: None });
//! let second = orders.insert(Order { price: 101, next: Some(first) });
//! assert_eq!(orders.len(), 2);
//! drop(second); // both
//! assert_eq!((orders.len(), size_of::<Slot<Order>>()), (0, 8));
//! ```
//!
//! # Which slab
//!
//! | slab | memory | slots |
//! |---|---|---|
//! | [`Slab`] | grows, in chunks that stay where they are | stay on their thread; may outlive the slab |
//! | [`Bounded`] | allocated at once; full is an error that has the value | the same |
//! | [`slab!`](crate::slab!) | a module with a slab for each thread that uses it, either way | the same, a few instructions less |
//! | `sync::Slab` (feature `std`) | grows | `Send`: may be dropped on any thread |
//! | [`Pool`] | grows; values of all types, by size class | stay on their thread; may outlive the pool |
//!
//! # Keys
//!
//! A value can be given to its slab for a [`Key`] of 4 bytes, by [`Slot::leak`], and be found by it: [`Slab::reclaim`] and
//! [`Slab::with`]. That is safe, for a key finds leaked values only, and costs nothing where it is not used. A [`StampedKey`]
//! of 8 bytes finds one value, and no later one of its place.
//!
//! # Shared values
//!
//! A count beside the value makes an `Rc` of 4 bytes of a key. Nothing else in the slab pays for it.
//!
//! ```
//! use dwell::slab::Key;
//!
//! dwell::slab!(mod texts: (u32, String));
//!
//! struct Shared(Key);
//!
//! impl Shared {
//!     fn new(text: &str) -> Self {
//!         Self(texts::insert((1, text.to_owned())).leak())
//!     }
//!     fn len(&self) -> usize {
//!         texts::with(self.0, |(_, text)| text.len()).expect("not used within `with`")
//!     }
//! }
//!
//! impl Clone for Shared {
//!     fn clone(&self) -> Self {
//!         texts::with(self.0, |(count, _)| *count += 1).expect("not used within `with`");
//!         Self(self.0)
//!     }
//! }
//!
//! impl Drop for Shared {
//!     fn drop(&mut self) {
//!         let left = texts::with(self.0, |(count, _)| {
//!             *count -= 1;
//!             *count
//!         });
//!         if left == Some(0) {
//!             drop(texts::reclaim(self.0));
//!         }
//!     }
//! }
//!
//! let one = Shared::new("shared");
//! let two = one.clone();
//! drop(one);
//! assert_eq!((two.len(), texts::len()), (6, 1));
//! drop(two);
//! assert!(texts::is_empty());
//! ```
//!
//! # When to use something else
//!
//! - Values that are all dropped together: an arena.
//! - Values of unknown type: a `Box` or a [`SmallBox`](crate::SmallBox). A slot can be a `Slot<dyn Trait>`
//!   ([`Slot::coerce`]), but its slab is for one type.
//! - A slab has memory for at least 64 KiB. For a few values, a `Box` each is less.
//!
//! `docs/slab.md` in the repository has the representation, the argument for its soundness, and the numbers.

#![expect(
    clippy::inline_always,
    reason = "a value that is passed to a function is written twice; a place costs less than a call"
)]

mod alone;
mod blocks;
mod bounded;
mod classes;
mod core;
mod error;
mod forward;
mod free;
mod geometry;
mod home;
mod key;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod local;
pub mod map;
mod place;
mod pool;
#[cfg(feature = "std")]
mod remote;
#[cfg(feature = "serde")]
mod serde;
mod slot;
#[cfg(feature = "std")]
pub mod sync;
mod words;

use self::blocks::Refusal;
use self::core::Core;
use self::free::Place;
use self::geometry::Geometry;
use crate::alloc::{AllocError, try_box};
use ::core::alloc::Layout;
use ::core::marker::PhantomData;
use ::core::ptr::NonNull;
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;

pub use self::bounded::Bounded;
pub use self::error::{Full, SlotsRemaining};
pub use self::home::{Home, Keyed, Own};
pub use self::key::{Key, StampedKey};
#[cfg(feature = "std")]
pub use self::local::{Init, PerThread};
pub use self::map::SlabMap;
pub use self::place::{Brand, View};
#[cfg(feature = "std")]
pub(crate) use self::pool::Vacancy;
pub use self::pool::{Classed, Pool, PoolSlot, Pooling, SizeClasses};
pub use self::slot::Slot;
pub(crate) use self::words::{Pair, Words};

/// The most places that a slab has: there are no more keys.
pub const MAX_CAPACITY: usize = Key::LIMIT;

/// Places for values of one type, as many as are needed.
///
/// Memory comes in chunks that never move. Inserting takes the place that was given back last, so that a place in the cache
/// is used again.
///
/// ```
/// use dwell::slab::Slab;
///
/// let slab = Slab::new();
/// let mut slot = slab.insert([0_u8; 64]);
/// let address = slot.as_ptr();
/// slot[0] = 1;
/// let moved = slot;
/// assert_eq!(moved.as_ptr(), address);
/// ```
///
/// # Lifetimes
///
/// Slots own their values and their share of the memory. A slab that is dropped drops the values that were leaked into it,
/// frees its memory if no slot is left, and else leaves that to the last slot.
pub struct Slab<T> {
    // # Invariants
    //
    // 1. `core` came from `Box::into_raw`; it is in service, and there until the slab and all its slots are dropped. Its
    //    geometry is that of a `T`.
    core: NonNull<Core>,
    // Invariant: values go in and come out, by `&Slab`. Neither `Send` nor `Sync`.
    of: PhantomData<*mut T>,
}

/// How a slab grows. See [`Slab::builder`].
#[derive(Debug)]
#[must_use]
pub struct Builder<T> {
    chunk_capacity: usize,
    preallocate: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
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

    /// The slab.
    pub fn build(self) -> Slab<T> {
        self.try_build().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`build`](Self::build) that reports a failed allocation.
    pub fn try_build(self) -> Result<Slab<T>, AllocError<()>> {
        let core = try_box(Core::new(Slab::<T>::GEOMETRY, Key::LIMIT)).map_err(|error| error.map(drop))?;
        let slab = Slab { core: NonNull::from(Box::leak(core)), of: PhantomData };
        let _ = slab.core().blocks(|blocks| blocks.chunk_places = self.chunk_capacity);
        slab.try_reserve(self.preallocate)?;
        Ok(slab)
    }
}

impl<T> Slab<T> {
    const GEOMETRY: Geometry = Geometry::of(Layout::new::<T>());

    /// A slab without memory for values.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A slab with memory for this many values, which grows beyond.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::builder().preallocate(capacity).build()
    }

    /// [`with_capacity`](Self::with_capacity) that reports a failed allocation.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError<()>> {
        Self::builder().preallocate(capacity).try_build()
    }

    /// A slab of one's own making.
    ///
    /// ```
    /// use dwell::slab::Slab;
    ///
    /// let slab: Slab<u64> = Slab::builder().chunk_capacity(100).preallocate(1000).build();
    /// assert!(slab.capacity() >= 1000);
    /// ```
    pub fn builder() -> Builder<T> {
        Builder { chunk_capacity: 0, preallocate: 0, of: PhantomData }
    }

    /// Allocates this many places, and no more from now on.
    fn limit(&self, places: usize) -> Result<(), AllocError<()>> {
        let _ = self.core().blocks(|blocks| blocks.limit = places);
        self.try_reserve(places)
    }

    #[inline(always)]
    fn core(&self) -> &Core {
        // SAFETY: invariant 1.
        unsafe { self.core.as_ref() }
    }

    #[inline(always)]
    fn pop(&self) -> Option<Place> {
        self.core().vacant.pop()
    }

    /// The place that `pop` did not find.
    #[cold]
    #[inline(never)]
    fn refill(&self) -> Place {
        self.try_refill().unwrap_or_else(|refusal| refused(refusal))
    }

    fn try_refill(&self) -> Result<Place, Refusal> {
        self.core().refill(self.core.as_ptr().cast())
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
    /// let slab = dwell::slab::Slab::new();
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
    /// When the allocator has no chunk, or there are no more keys; the value comes back in the error.
    #[inline(always)]
    pub fn try_insert(&self, value: T) -> Result<Slot<T>, AllocError<T>> {
        self.put(value).map_err(|full| {
            let layout = full.layout().unwrap_or(Layout::new::<T>());
            AllocError::new(full.into_inner(), layout)
        })
    }

    #[inline(always)]
    fn put(&self, value: T) -> Result<Slot<T>, Full<T>> {
        let place = match self.pop() {
            Some(place) => place,
            None => match self.try_refill() {
                Ok(place) => place,
                Err(refusal) => return Err(Full::new(value, refusal)),
            },
        };
        // SAFETY: as in `insert`.
        Ok(unsafe { Slot::fill(place, value) })
    }

    /// Puts what `make` returns in a place that was found before.
    ///
    /// For large values: optimised code writes the result where it belongs instead of on the stack. The place is given back
    /// if `make` panics.
    ///
    /// ```
    /// let slab = dwell::slab::Slab::new();
    /// let page = slab.insert_with(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline(always)]
    pub fn insert_with(&self, make: impl FnOnce() -> T) -> Slot<T> {
        let place = self.pop().unwrap_or_else(|| self.refill());
        // SAFETY: as in `insert`.
        unsafe { Slot::fill_with(place, make) }
    }

    /// [`insert_with`](Self::insert_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// As [`try_insert`](Self::try_insert); `make` comes back in the error, not called.
    #[inline(always)]
    pub fn try_insert_with<F: FnOnce() -> T>(&self, make: F) -> Result<Slot<T>, AllocError<F>> {
        self.put_with(make).map_err(|full| {
            let layout = full.layout().unwrap_or(Layout::new::<T>());
            AllocError::new(full.into_inner(), layout)
        })
    }

    #[inline(always)]
    fn put_with<F: FnOnce() -> T>(&self, make: F) -> Result<Slot<T>, Full<F>> {
        let place = match self.pop() {
            Some(place) => place,
            None => match self.try_refill() {
                Ok(place) => place,
                Err(refusal) => return Err(Full::new(make, refusal)),
            },
        };
        // SAFETY: as in `insert`.
        Ok(unsafe { Slot::fill_with(place, make) })
    }

    /// Whether there is a leaked value under this key.
    pub fn contains_key(&self, key: Key) -> bool {
        let entry = self.core().blocks(|blocks| blocks.find(Self::GEOMETRY, key));
        entry.is_ok_and(|entry| entry.is_some_and(|entry| entry.is_leaked()))
    }

    /// Takes a leaked value back. `None` if there is none under this key.
    #[inline]
    pub fn reclaim(&self, key: Key) -> Option<Slot<T>> {
        let entry = self.core().blocks(|blocks| blocks.find(Self::GEOMETRY, key)).ok()??;
        // SAFETY: a leaked place holds a `T` and is nobody's; it is the slot's now, and no longer leaked.
        entry.unleak().then(|| unsafe { Slot::from_raw(entry.place().cast()) })
    }

    /// [`reclaim`](Self::reclaim) of the one value that was leaked with this key.
    #[inline]
    pub fn reclaim_stamped(&self, key: StampedKey) -> Option<Slot<T>> {
        let entry = self.core().blocks(|blocks| blocks.find(Self::GEOMETRY, key.key())).ok()??;
        // SAFETY: as in `reclaim`.
        (entry.has_stamp(key.stamp()) && entry.unleak()).then(|| unsafe { Slot::from_raw(entry.place().cast()) })
    }

    /// Calls `f` with a leaked value. `None` if there is none under this key.
    ///
    /// While `f` runs, the key finds nothing.
    #[inline]
    pub fn with<R>(&self, key: Key, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let lent = self.core().blocks(|blocks| blocks.find(Self::GEOMETRY, key)).ok()??.lend()?;
        // SAFETY: a leaked place holds a `T`. Nobody else has it while it is lent, not even if `f` comes back here.
        Some(f(unsafe { lent.place().cast().as_mut() }))
    }

    /// Values in the slab, leaked ones too.
    #[inline]
    pub fn len(&self) -> usize {
        self.core().occupied()
    }

    /// Whether there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values that there is memory for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.core().blocks(|blocks| blocks.capacity).unwrap_or(0)
    }

    /// Gets memory for this many more values.
    pub fn reserve(&self, additional: usize) {
        self.try_reserve(additional).unwrap_or_else(|error| handle_alloc_error(error.layout()));
    }

    /// [`reserve`](Self::reserve) that reports a failed allocation.
    pub fn try_reserve(&self, additional: usize) -> Result<(), AllocError<()>> {
        let reserved = self.core().reserve(additional);
        reserved.map_err(|refusal| AllocError::new((), layout_of(refusal)))
    }

    /// Frees the chunks in which there is no value. Looks at every vacant place.
    pub fn shrink_to_fit(&self) {
        self.core().sweep(self.core.as_ptr().cast());
    }

    /// Calls `each`, which is no user's code, with the layout of each block that the slab has, and the bytes in it that hold
    /// nothing.
    pub(crate) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        each(Layout::new::<Core>(), 0);
        self.core().each_block(each);
    }

    fn drop_leaked(&self) {
        while let Some(key) = self.leaked().next() {
            drop(self.reclaim(key));
        }
    }

    /// The keys of the leaked values.
    pub fn leaked(&self) -> impl Iterator<Item = Key> {
        let mut from = 0;
        ::core::iter::from_fn(move || {
            let entry = self.core().blocks(|blocks| blocks.next_leaked(Self::GEOMETRY, from)).ok()??;
            from = entry.key().index() as usize + 1;
            Some(entry.key())
        })
    }
}

fn layout_of(refusal: Refusal) -> Layout {
    match refusal {
        Refusal::Alloc(layout) => layout,
        Refusal::Limit(_) => Layout::new::<()>(),
    }
}

#[cold]
fn refused(refusal: Refusal) -> ! {
    match refusal {
        Refusal::Alloc(layout) => handle_alloc_error(layout),
        Refusal::Limit(_) => panic!("{refusal}"),
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        /// Lets go of the memory, and first drops what a panic has left.
        struct Leaving<'a, T>(&'a Slab<T>);
        impl<T> Drop for Leaving<'_, T> {
            fn drop(&mut self) {
                let Self(slab) = self;
                slab.drop_leaked();
                if slab.is_empty() {
                    // SAFETY: no place is occupied, so that no slot is left, and the slab is not used again.
                    unsafe { Core::free(slab.core) };
                } else {
                    slab.core().retire();
                }
            }
        }
        Leaving(self).0.drop_leaked();
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

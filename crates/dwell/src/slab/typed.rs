//! A growing slab for values of one type: [`Slab`](super::Slab) and [`sync::Slab`](super::sync::Slab).

use super::engine::{Core, CoreRef, OneThread, Owners};
use super::geometry::Geometry;
use super::insert::{CellAllocator, InsertError, refused};
use super::keyed::{self, KeyedCells};
use super::lazy::LazyCore;
use super::memory::{CellEntry, Growth, Refusal};
use super::slot::Slot;
use super::stack::CellPtr;
use super::{Key, StampedKey};
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// A growing slab for values of one type, at stable addresses.
///
/// The slab allocates chunks that never move. An insert takes the cell that was freed last, which is likely to be in
/// the cache.
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
/// Slots own their values and may outlive the slab. Dropping the slab drops the leaked values. It frees the memory if
/// no slot is left; otherwise the last slot does.
pub struct Slab<T> {
    pub(super) slab: TypedSlab<T, OneThread>,
}

/// The engine of [`Slab`] and `sync::Slab`.
pub(super) struct TypedSlab<T, O: Owners> {
    // # Invariants
    //
    // 1. The core has the geometry of a `T`.
    core: LazyCore<O, 0>,
    // `*mut T` makes the slab invariant in `T`, because values go in and come out through a shared reference. It also
    // makes the slab neither `Send`, because its core belongs to this thread, nor `Sync`.
    of: PhantomData<*mut T>,
}

/// A builder for a [`Slab`]. See [`Slab::builder`].
#[derive(Debug)]
#[must_use]
pub struct Builder<T> {
    chunk_capacity: usize,
    preallocate: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(super) const fn new() -> Self {
        Self { chunk_capacity: 0, preallocate: 0, of: PhantomData }
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

    /// Sets the number of values that the new slab has memory for.
    pub fn preallocate(mut self, values: usize) -> Self {
        self.preallocate = values;
        self
    }

    /// Builds the slab.
    ///
    /// # Panics
    ///
    /// If the capacity is more than [`MAX_CAPACITY`](super::MAX_CAPACITY) values.
    pub fn build(self) -> Slab<T> {
        Slab { slab: self.finish(Key::LIMIT).unwrap_or_else(|refusal| refused(refusal)) }
    }

    /// Like [`build`](Self::build), but returns an error on failure.
    ///
    /// # Errors
    ///
    /// When the allocator has no memory, or where `build` panics.
    pub fn try_build(self) -> Result<Slab<T>, AllocError<()>> {
        let slab = self.finish(Key::LIMIT).map_err(|refusal| InsertError::new((), refusal, Layout::new::<T>()))?;
        Ok(Slab { slab })
    }

    /// Builds a slab for at most `limit` values.
    pub(super) fn finish<O: Owners>(self, limit: usize) -> Result<TypedSlab<T, O>, Refusal> {
        let configured = limit != Key::LIMIT || self.chunk_capacity != 0;
        let core = if configured {
            let core = CoreRef::allocate(TypedSlab::<T, O>::GEOMETRY, limit)?;
            // SAFETY: the core was just allocated here, and nothing else tears it down.
            unsafe { LazyCore::of(core) }
        } else {
            LazyCore::new()
        };
        let slab = TypedSlab { core, of: PhantomData };
        if let Some(core) = slab.core.get() {
            core.memory(|memory| memory.configure(limit, self.chunk_capacity))?;
        }
        if self.preallocate != 0 {
            slab.reserve(self.preallocate)?;
        }
        Ok(slab)
    }
}

// SAFETY: by invariant 1 the cells of the core are for values of a `T`. They are vacant and used by no other code when
// they are popped or refilled. A slot of kind `O` frees its cell to the owner in the header of its block, which is that
// core. A leaked cell is occupied, so it is not popped, and a chunk is freed only when all its cells are vacant.
unsafe impl<T, O: Owners> CellAllocator<T> for TypedSlab<T, O> {
    type Kind = O;
    type Handle = Slot<T, O>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        self.core.pop()
    }

    #[cold]
    #[inline(never)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        self.core.refill(Self::GEOMETRY, Growth::Double)
    }
}

/// The methods of [`Slab`] and `sync::Slab`, which are one with different slots.
macro_rules! slab_methods {
    ($Slab:ident, $Slot:ty, $path:literal) => {
        impl<T> $Slab<T> {
            /// Creates an empty slab. It allocates nothing: the first insert does.
            pub const fn new() -> Self {
                Self { slab: $crate::slab::typed::TypedSlab::new() }
            }

            /// Like [`new`](Self::new).
            ///
            /// # Errors
            ///
            /// None, since an empty slab allocates nothing.
            pub fn try_new() -> Result<Self, $crate::AllocError<()>> {
                Ok(Self::new())
            }

            /// Creates a slab with memory for `capacity` values.
            ///
            /// # Panics
            ///
            /// When `capacity` is more than [`MAX_CAPACITY`](super::MAX_CAPACITY).
            pub fn with_capacity(capacity: usize) -> Self {
                Self::allocate(capacity).unwrap_or_else(|refusal| $crate::slab::insert::refused(refusal))
            }

            /// Like [`with_capacity`](Self::with_capacity), but returns an error on failure.
            ///
            /// # Errors
            ///
            /// When the allocator has no memory, or where `with_capacity` panics.
            pub fn try_with_capacity(capacity: usize) -> Result<Self, $crate::AllocError<()>> {
                Self::allocate(capacity).map_err(|refusal| {
                    $crate::slab::insert::InsertError::new((), refusal, core::alloc::Layout::new::<T>())
                })
            }

            fn allocate(capacity: usize) -> Result<Self, $crate::slab::memory::Refusal> {
                Ok(Self { slab: $crate::slab::Builder::new().preallocate(capacity).finish($crate::slab::Key::LIMIT)? })
            }

            /// Inserts a value.
            ///
            /// ```
            #[doc = concat!(" let slab = dwell::", $path, "::new();")]
            /// assert_eq!(*slab.insert(7), 7);
            /// ```
            ///
            /// # Panics
            ///
            /// When no key is left: see [`MAX_CAPACITY`](crate::slab::MAX_CAPACITY).
            #[inline(always)]
            pub fn insert(&self, value: T) -> $Slot {
                $crate::slab::insert::insert(&self.slab, value)
            }

            /// Like [`insert`](Self::insert), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// When the allocation of a chunk fails, or when no key is left. The error contains the value.
            #[inline(always)]
            pub fn try_insert(&self, value: T) -> Result<$Slot, $crate::AllocError<T>> {
                $crate::slab::insert::try_insert(&self.slab, value)
            }

            /// Inserts the value that `make` returns.
            ///
            /// This is useful for large values: optimised code writes the result directly to the cell instead of the call
            /// stack. If `make` panics, the cell is freed.
            ///
            /// ```
            #[doc = concat!(" let slab = dwell::", $path, "::new();")]
            /// let page = slab.insert_with(|| [0_u8; 4096]);
            /// assert_eq!(page.len(), 4096);
            /// ```
            #[inline(always)]
            pub fn insert_with(&self, make: impl FnOnce() -> T) -> $Slot {
                $crate::slab::insert::insert_with(&self.slab, make)
            }

            /// Like [`insert_with`](Self::insert_with), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// The same as for [`try_insert`](Self::try_insert). The error contains `make`, which was not called.
            #[inline(always)]
            pub fn try_insert_with<F: FnOnce() -> T>(&self, make: F) -> Result<$Slot, $crate::AllocError<F>> {
                $crate::slab::insert::try_insert_with(&self.slab, make)
            }

            /// Returns the number of values in the slab, leaked ones included.
            #[inline]
            pub fn len(&self) -> usize {
                self.slab.len()
            }

            /// Returns whether the slab has no values.
            #[inline]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the number of values that the slab has memory for.
            #[inline]
            pub fn capacity(&self) -> usize {
                self.slab.capacity()
            }

            /// Reserves memory for `additional` more values.
            ///
            /// # Panics
            ///
            /// When the slab would have memory for more than [`MAX_CAPACITY`](super::MAX_CAPACITY) values.
            pub fn reserve(&self, additional: usize) {
                self.slab.reserve(additional).unwrap_or_else(|refusal| $crate::slab::insert::refused(refusal));
            }

            /// Like [`reserve`](Self::reserve), but returns an error on failure.
            ///
            /// # Errors
            ///
            /// When the allocator has no memory, or where `reserve` panics.
            pub fn try_reserve(&self, additional: usize) -> Result<(), $crate::AllocError<()>> {
                self.slab.reserve(additional).map_err(|refusal| {
                    $crate::slab::insert::InsertError::new((), refusal, core::alloc::Layout::new::<T>())
                })
            }

            /// Frees the chunks without values, except the first chunk of a slab of small values, as long as there are any. It visits every
            /// vacant cell.
            pub fn shrink_to_fit(&self) {
                self.slab.sweep();
            }

            /// Calls `each` with the layout of each allocation of the slab and the number of unused bytes in it. `each` must
            /// not be user code.
            #[cfg(feature = "weigh")]
            pub(crate) fn each_block(&self, each: &mut dyn FnMut(core::alloc::Layout, usize)) {
                self.slab.each_block(each);
            }
        }

        impl<T> Default for $Slab<T> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<T> core::fmt::Debug for $Slab<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("Slab")
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .finish_non_exhaustive()
            }
        }
    };
}
#[cfg(feature = "std")]
pub(super) use slab_methods;

slab_methods!(Slab, Slot<T>, "slab::Slab");

// SAFETY: by invariant 1 the cells of the core are for values of a `T` and are not freed while the slab is borrowed. The
// slots of a `Slab` are of kind `OneThread`, and only they leak values, which are each a `T`.
unsafe impl<T> KeyedCells<T> for TypedSlab<T, OneThread> {
    #[inline]
    fn entry(&self, key: Key) -> Option<CellEntry<CoreRef<OneThread>>> {
        // SAFETY: by invariant 1 the core has the geometry of a `T`.
        unsafe { self.core.get()?.entry(key, Self::GEOMETRY) }
    }
}

impl<T> Slab<T> {
    /// Returns a builder, which sets how the slab grows.
    ///
    /// ```
    /// use dwell::slab::Slab;
    ///
    /// let slab: Slab<u64> = Slab::builder().chunk_capacity(100).preallocate(1000).build();
    /// assert!(slab.capacity() >= 1000);
    /// ```
    pub fn builder() -> Builder<T> {
        Builder::new()
    }

    /// Returns whether the key has a leaked value.
    pub fn contains_key(&self, key: Key) -> bool {
        keyed::contains_key(&self.slab, key)
    }

    /// Returns the address of a leaked value, or `None` if the key has none: for links between values that unsafe code follows.
    ///
    /// The address is that of the value until the key is [reclaimed](Self::reclaim) or the slab is dropped. While the closure of
    /// [`with`](Self::with) runs, the key has no value.
    ///
    /// ```
    /// use dwell::slab::Slab;
    ///
    /// let slab = Slab::new();
    /// let key = slab.insert(7).leak();
    /// let value = slab.get_ptr(key).unwrap();
    /// // SAFETY: the value is leaked, and no other code uses it meanwhile.
    /// unsafe { *value.as_ptr() += 1 };
    /// assert_eq!(slab.reclaim(key).map(|slot| *slot), Some(8));
    /// assert!(slab.get_ptr(key).is_none());
    /// ```
    #[inline]
    pub fn get_ptr(&self, key: Key) -> Option<NonNull<T>> {
        keyed::get_ptr(&self.slab, key)
    }

    /// Returns a slot for a leaked value, or `None` if the key has none.
    #[inline]
    pub fn reclaim(&self, key: Key) -> Option<Slot<T>> {
        keyed::reclaim(&self.slab, key)
    }

    /// Like [`reclaim`](Self::reclaim), but only for the value that was leaked with this key, and no later one.
    #[inline]
    pub fn reclaim_stamped(&self, key: StampedKey) -> Option<Slot<T>> {
        keyed::reclaim_stamped(&self.slab, key)
    }

    /// Calls `f` with a leaked value. Returns `None` if the key has none.
    ///
    /// While `f` runs, the key finds nothing.
    #[inline]
    pub fn with<R>(&self, key: Key, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        keyed::with(&self.slab, key, f)
    }

    /// Returns the keys of the leaked values.
    pub fn leaked(&self) -> impl Iterator<Item = Key> {
        Key::each(|from| {
            let core = self.slab.core.get()?;
            // SAFETY: by invariant 1 the core has the geometry of a `T`.
            Some(unsafe { core.next_leaked(from, TypedSlab::<T, OneThread>::GEOMETRY) }?.key())
        })
    }
}

impl<T, O: Owners> TypedSlab<T, O> {
    const GEOMETRY: Geometry = Geometry::of(Layout::new::<T>());

    pub(super) const fn new() -> Self {
        Self { core: LazyCore::new(), of: PhantomData }
    }

    pub(super) fn len(&self) -> usize {
        self.core.get().map_or(0, Core::len)
    }

    pub(super) fn capacity(&self) -> usize {
        self.core.get().map_or(0, Core::capacity)
    }

    pub(super) fn reserve(&self, additional: usize) -> Result<(), Refusal> {
        self.core.reserve(Self::GEOMETRY, additional)
    }

    pub(super) fn sweep(&self) {
        self.core.sweep();
    }

    #[cfg(feature = "weigh")]
    pub(super) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        self.core.each_block(each);
    }

    fn drop_leaked(&self) {
        if let Some(core) = self.core.get() {
            // SAFETY: by invariant 1 the cells of the core are for values of a `T`, and its slots are of kind `O`.
            unsafe { keyed::drop_leaked::<T, O, O>(core) };
        }
    }
}

impl<T, O: Owners> Drop for TypedSlab<T, O> {
    fn drop(&mut self) {
        /// A guard that tears down the core. After a panic it first drops the leaked values that are left.
        struct TearDown<'a, T, O: Owners>(&'a TypedSlab<T, O>, bool);
        impl<T, O: Owners> Drop for TearDown<'_, T, O> {
            fn drop(&mut self) {
                let Self(slab, panicked) = *self;
                if panicked {
                    slab.drop_leaked();
                }
                // SAFETY: the slab is being dropped and does not use the core again.
                unsafe { slab.core.tear_down() };
            }
        }
        let mut tear_down = TearDown(self, true);
        tear_down.0.drop_leaked();
        tear_down.1 = false;
    }
}

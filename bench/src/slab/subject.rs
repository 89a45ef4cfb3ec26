//! The traits of the compared subjects, which are containers for values of one type. Each peer is a file in `peers`.

use crate::sink;

/// A value of `N` words. The measured sizes are 64, 256 and 4096 bytes.
#[derive(Clone, Copy)]
#[expect(unreachable_pub, reason = "nexus-slab's macro uses it in a public signature")]
pub struct Words<const N: usize>(pub(super) [u64; N]);

impl<const N: usize> Words<N> {
    /// Creates a value that is opaque to the compiler.
    #[inline(always)]
    pub(super) fn new(word: u64) -> Self {
        Self([sink::opaque(word); N])
    }
}

/// A container for values of type `T`.
pub(super) trait Holds<T: 'static>: 'static {
    const NAME: &'static str;
    /// The container: a slab, or `()` for a subject with global or thread-local storage.
    type Storage;
    /// The handle of a value: an owning pointer or a key.
    type Slot: 'static;

    /// Creates a container for `capacity` values. Workloads exceed the capacity only if the container can grow.
    fn storage(capacity: usize) -> Self::Storage;
    fn insert(storage: &mut Self::Storage, value: T) -> Self::Slot;
    fn get<R>(storage: &Self::Storage, slot: &Self::Slot, f: impl FnOnce(&T) -> R) -> R;
    /// Drops the value and frees its cell, as the drop of an owning slot does.
    #[inline(always)]
    fn remove(_: &mut Self::Storage, slot: Self::Slot) {
        drop(slot);
    }
}

/// Subjects whose values can be changed through `&mut`.
pub(super) trait Edits<T: 'static>: Holds<T> {
    fn get_mut<R>(storage: &mut Self::Storage, slot: &mut Self::Slot, f: impl FnOnce(&mut T) -> R) -> R;
}

/// Containers that find values by key. Each use of a key checks whether its value was removed.
pub(super) trait Names<T: 'static>: Holds<T> {
    type Key: Copy + 'static;
    /// Returns the key of a value, which stays in the container until `take`.
    fn name(storage: &mut Self::Storage, slot: Self::Slot) -> Self::Key;
    fn find<R>(storage: &Self::Storage, key: Self::Key, f: impl FnOnce(&T) -> R) -> R;
    /// Returns whether the key has a value.
    fn contains(storage: &Self::Storage, key: Self::Key) -> bool;
    fn take(storage: &mut Self::Storage, key: Self::Key);
}

/// A container without an initial capacity.
pub(super) trait Grows<T: 'static>: Holds<T> {
    fn empty() -> Self::Storage {
        Self::storage(0)
    }
}

/// Containers that can visit all values with a key.
pub(super) trait Visits<T: 'static>: Names<T> + Grows<T> {
    fn visit(storage: &Self::Storage, f: impl FnMut(&T));
}

/// Containers whose slots another thread can free.
pub(super) trait Sends<T: 'static>: Holds<T, Slot: Send> {
    /// The data that the other thread needs besides the slot.
    type Remote: Send;
    fn remote(storage: &Self::Storage) -> Self::Remote;

    #[inline(always)]
    fn free(_: &Self::Remote, slot: Self::Slot) {
        drop(slot);
    }

    /// Frees many slots.
    #[inline(always)]
    fn free_all(remote: &Self::Remote, slots: impl Iterator<Item = Self::Slot>) {
        slots.for_each(|slot| Self::free(remote, slot));
    }
}

/// Subjects whose values can be linked: the type of a link.
pub(super) trait Links: 'static {
    type Link: Copy + PartialEq + 'static;
    const NIL: Self::Link;
}

/// An order of the book, with the links of a doubly linked list. It has 64 bytes if links are pointers.
#[repr(C)]
#[expect(unreachable_pub, reason = "nexus-slab's macro uses it in a public signature")]
pub struct Order<L> {
    pub(super) previous: L,
    pub(super) next: L,
    pub(super) id: u32,
    pub(super) level: u32,
    pub(super) quantity: u64,
    pub(super) account: u64,
    pub(super) time: [u64; 2],
    pub(super) reserved: u64,
}

/// Subjects with orders in linked lists.
pub(super) trait Books: Links + Holds<Order<<Self as Links>::Link>> {
    fn link(slot: &mut Self::Slot) -> Self::Link;
    /// Returns the order at a link.
    ///
    /// # Safety
    ///
    /// The slot of the order is live, and no reference to the order exists.
    unsafe fn at(storage: &mut Self::Storage, link: Self::Link) -> &mut Order<Self::Link>;
}

/// Defines `get` or `get_mut` of a subject whose slots dereference to their values.
macro_rules! by_deref {
    (get: $T:ty) => {
        #[inline(always)]
        fn get<R>(_: &Self::Storage, slot: &Self::Slot, f: impl FnOnce(&$T) -> R) -> R {
            f(slot)
        }
    };
    (get_mut: $T:ty) => {
        #[inline(always)]
        fn get_mut<R>(_: &mut Self::Storage, slot: &mut Self::Slot, f: impl FnOnce(&mut $T) -> R) -> R {
            f(slot)
        }
    };
}
pub(super) use by_deref;

/// Links that are addresses of values.
macro_rules! links_by_pointer {
    ($Subject:ty, |$slot:ident| $pointer:expr) => {
        impl $crate::slab::subject::Links for $Subject {
            type Link = *mut ();
            const NIL: *mut () = std::ptr::null_mut();
        }

        impl $crate::slab::subject::Books for $Subject {
            #[inline(always)]
            fn link($slot: &mut Self::Slot) -> *mut () {
                $pointer.cast()
            }

            #[inline(always)]
            unsafe fn at(_: &mut Self::Storage, link: *mut ()) -> &mut $crate::slab::subject::Order<*mut ()> {
                // SAFETY: the caller guarantees that the slot is live, so the link is the address of an order, and that
                // no other reference to the order exists.
                unsafe { &mut *link.cast() }
            }
        }
    };
}
pub(super) use links_by_pointer;

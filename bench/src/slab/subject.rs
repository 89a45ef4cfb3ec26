//! The compared subjects: containers for values of one type. A peer is one file in `peers`.

use crate::sink;

/// A value of `N` words; the sizes measured are 64, 256 and 4096 bytes.
#[derive(Clone, Copy)]
#[expect(unreachable_pub, reason = "nexus-slab's macro shows it in what is public")]
pub struct Words<const N: usize>(pub(super) [u64; N]);

impl<const N: usize> Words<N> {
    /// A value that the compiler does not know.
    #[inline(always)]
    pub(super) fn new(word: u64) -> Self {
        Self([sink::opaque(word); N])
    }
}

/// A way to hold values of type `T`.
pub(super) trait Holds<T: 'static>: 'static {
    const NAME: &'static str;
    /// The container: a slab, or `()` for a subject that finds its memory by itself.
    type Storage;
    /// The handle of a value: an owning pointer or a key.
    type Slot: 'static;

    /// A container for `capacity` values, which it may exceed only if it can grow.
    fn storage(capacity: usize) -> Self::Storage;
    fn insert(storage: &mut Self::Storage, value: T) -> Self::Slot;
    fn get<R>(storage: &Self::Storage, slot: &Self::Slot, f: impl FnOnce(&T) -> R) -> R;
    /// Drops the value and frees its cell.
    fn remove(storage: &mut Self::Storage, slot: Self::Slot);
}

/// Subjects whose values can be changed through `&mut`.
pub(super) trait Edits<T: 'static>: Holds<T> {
    fn get_mut<R>(storage: &mut Self::Storage, slot: &mut Self::Slot, f: impl FnOnce(&mut T) -> R) -> R;
}

/// Values that are found by keys, which may be of values that are gone: each use asks whether they are.
pub(super) trait Names<T: 'static>: Holds<T> {
    type Key: Copy + 'static;
    /// The key of a value, which is there until it is taken.
    fn name(storage: &mut Self::Storage, slot: Self::Slot) -> Self::Key;
    fn contains(storage: &Self::Storage, key: Self::Key) -> bool;
    fn find<R>(storage: &Self::Storage, key: Self::Key, f: impl FnOnce(&T) -> R) -> R;
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

/// Slots that another thread frees.
pub(super) trait Sends<T: 'static>: Holds<T, Slot: Send> {
    /// What the other thread needs besides the slot.
    type Remote: Send;
    fn remote(storage: &Self::Storage) -> Self::Remote;
    fn free(remote: &Self::Remote, slot: Self::Slot);

    /// Frees many.
    #[inline(always)]
    fn free_all(remote: &Self::Remote, slots: impl Iterator<Item = Self::Slot>) {
        slots.for_each(|slot| Self::free(remote, slot));
    }
}

/// What links one value to another.
pub(super) trait Links: 'static {
    type Link: Copy + PartialEq + 'static;
    const NIL: Self::Link;
}

/// An order of the book, in two lists: 64 bytes where links are pointers.
#[repr(C)]
#[expect(unreachable_pub, reason = "as `Words`")]
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
    /// The order behind a link.
    ///
    /// # Safety
    ///
    /// Its slot is there, and no reference to the order.
    unsafe fn at(storage: &mut Self::Storage, link: Self::Link) -> &mut Order<Self::Link>;
}

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
                // SAFETY: the caller says that the slot is there, so that its address is an order's, and that no other
                // reference to it exists.
                unsafe { &mut *link.cast() }
            }
        }
    };
}
pub(super) use links_by_pointer;

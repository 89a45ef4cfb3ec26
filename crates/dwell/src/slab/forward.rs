//! Traits that a slot forwards to its value, and `Debug` for slabs.

use super::{Bounded, SizeClasses, Slot, SlotKind, Threading, TypedSlab};
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::error::Error;
use core::fmt;
use core::future::Future;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::task::{Context, Poll};

// Moving a slot does not move its value.
impl<T: ?Sized, K: SlotKind, V> Unpin for Slot<T, K, V> {}

// The same bounds as for `Box`. The auto traits of the raw pointer in a slot have other bounds.
impl<T: ?Sized + UnwindSafe, K: SlotKind, V> UnwindSafe for Slot<T, K, V> {}
impl<T: ?Sized + RefUnwindSafe, K: SlotKind, V> RefUnwindSafe for Slot<T, K, V> {}

// A panic in a value's code leaves a slab in a valid state. (`Bounded` contains a `TypedSlab`.)
impl<T: UnwindSafe, O: Threading> UnwindSafe for TypedSlab<T, O> {}
impl<T: RefUnwindSafe, O: Threading> RefUnwindSafe for TypedSlab<T, O> {}
impl<O: Threading> UnwindSafe for SizeClasses<O> {}
impl<O: Threading> RefUnwindSafe for SizeClasses<O> {}

impl<T: ?Sized + fmt::Debug, K: SlotKind, V> fmt::Debug for Slot<T, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, K: SlotKind, V> fmt::Display for Slot<T, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, K: SlotKind, V> fmt::Pointer for Slot<T, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ptr().fmt(f)
    }
}

impl<T, O: Threading> fmt::Debug for TypedSlab<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Bounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

impl<T: ?Sized, K: SlotKind, V> AsRef<T> for Slot<T, K, V> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized, K: SlotKind, V> AsMut<T> for Slot<T, K, V> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized, K: SlotKind, V> Borrow<T> for Slot<T, K, V> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized, K: SlotKind, V> BorrowMut<T> for Slot<T, K, V> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized, K: SlotKind, V> From<Slot<T, K, V>> for Pin<Slot<T, K, V>> {
    fn from(slot: Slot<T, K, V>) -> Self {
        slot.into_pin()
    }
}

impl<T: ?Sized + PartialEq, K: SlotKind, V> PartialEq for Slot<T, K, V> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq, K: SlotKind, V> Eq for Slot<T, K, V> {}

impl<T: ?Sized + PartialOrd, K: SlotKind, V> PartialOrd for Slot<T, K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(other)
    }
}

impl<T: ?Sized + Ord, K: SlotKind, V> Ord for Slot<T, K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl<T: ?Sized + Hash, K: SlotKind, V> Hash for Slot<T, K, V> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + Error, K: SlotKind, V> Error for Slot<T, K, V> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

impl<T: ?Sized + Future + Unpin, K: SlotKind, V> Future for Slot<T, K, V> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        Pin::new(&mut **self).poll(context)
    }
}

impl<T: ?Sized + Iterator, K: SlotKind, V> Iterator for Slot<T, K, V> {
    type Item = T::Item;

    fn next(&mut self) -> Option<T::Item> {
        (**self).next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (**self).size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<T::Item> {
        (**self).nth(n)
    }
}

impl<T: ?Sized + DoubleEndedIterator, K: SlotKind, V> DoubleEndedIterator for Slot<T, K, V> {
    fn next_back(&mut self) -> Option<T::Item> {
        (**self).next_back()
    }

    fn nth_back(&mut self, n: usize) -> Option<T::Item> {
        (**self).nth_back(n)
    }
}

impl<T: ?Sized + ExactSizeIterator, K: SlotKind, V> ExactSizeIterator for Slot<T, K, V> {
    fn len(&self) -> usize {
        (**self).len()
    }
}

impl<T: ?Sized + FusedIterator, K: SlotKind, V> FusedIterator for Slot<T, K, V> {}

//! The traits that a slot has because its value has them, and what slabs show of themselves.

use super::{Bounded, Home, Slab, Slot};
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

// The value does not move with the slot.
impl<T: ?Sized, H: Home> Unpin for Slot<T, H> {}

// As `Box`: the raw pointer is there for other reasons.
impl<T: ?Sized + UnwindSafe, H: Home> UnwindSafe for Slot<T, H> {}
impl<T: ?Sized + RefUnwindSafe, H: Home> RefUnwindSafe for Slot<T, H> {}

// No panic of a value leaves a slab in the middle of something.
impl<T: UnwindSafe> UnwindSafe for Slab<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Slab<T> {}

impl<T: ?Sized + fmt::Debug, H: Home> fmt::Debug for Slot<T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, H: Home> fmt::Display for Slot<T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, H: Home> fmt::Pointer for Slot<T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ptr().fmt(f)
    }
}

impl<T> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Bounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

impl<T: ?Sized, H: Home> AsRef<T> for Slot<T, H> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized, H: Home> AsMut<T> for Slot<T, H> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized, H: Home> Borrow<T> for Slot<T, H> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized, H: Home> BorrowMut<T> for Slot<T, H> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized, H: Home> From<Slot<T, H>> for Pin<Slot<T, H>> {
    fn from(slot: Slot<T, H>) -> Self {
        slot.into_pin()
    }
}

impl<T: ?Sized + PartialEq, H: Home> PartialEq for Slot<T, H> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq, H: Home> Eq for Slot<T, H> {}

impl<T: ?Sized + PartialOrd, H: Home> PartialOrd for Slot<T, H> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(other)
    }
}

impl<T: ?Sized + Ord, H: Home> Ord for Slot<T, H> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl<T: ?Sized + Hash, H: Home> Hash for Slot<T, H> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + Error, H: Home> Error for Slot<T, H> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

impl<T: ?Sized + Future + Unpin, H: Home> Future for Slot<T, H> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        Pin::new(&mut **self).poll(context)
    }
}

impl<T: ?Sized + Iterator, H: Home> Iterator for Slot<T, H> {
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

impl<T: ?Sized + DoubleEndedIterator, H: Home> DoubleEndedIterator for Slot<T, H> {
    fn next_back(&mut self) -> Option<T::Item> {
        (**self).next_back()
    }

    fn nth_back(&mut self, n: usize) -> Option<T::Item> {
        (**self).nth_back(n)
    }
}

impl<T: ?Sized + ExactSizeIterator, H: Home> ExactSizeIterator for Slot<T, H> {
    fn len(&self) -> usize {
        (**self).len()
    }
}

impl<T: ?Sized + FusedIterator, H: Home> FusedIterator for Slot<T, H> {}

//! Traits that a [`Slot`] and a [`Pooled`] forward to their value, and `Debug` for slabs.

use super::engine::Owners;
use super::kind::SlotKind;
use super::owner::Owner;
use super::typed::TypedSlab;
use super::{Bounded, Slot};
#[cfg(feature = "std")]
use super::{Pool, Pooled};
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

// Moving an owner does not move its value.
impl<T: ?Sized, K: SlotKind> Unpin for Owner<T, K> {}

// The same bounds as for `Box`. The auto traits of the raw pointer in an owner have other bounds.
impl<T: ?Sized + UnwindSafe, K: SlotKind> UnwindSafe for Owner<T, K> {}
impl<T: ?Sized + RefUnwindSafe, K: SlotKind> RefUnwindSafe for Owner<T, K> {}

// A panic in a value's code leaves a slab in a valid state. (`Slab` and `Bounded` contain a `TypedSlab`.)
impl<T: UnwindSafe, O: Owners> UnwindSafe for TypedSlab<T, O> {}
impl<T: RefUnwindSafe, O: Owners> RefUnwindSafe for TypedSlab<T, O> {}
#[cfg(feature = "std")]
impl UnwindSafe for Pool {}
#[cfg(feature = "std")]
impl RefUnwindSafe for Pool {}

impl<T> fmt::Debug for Bounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

macro_rules! forward {
    ([$($generics:tt)*] $Handle:ty) => {
        impl<T: ?Sized + fmt::Debug, $($generics)*> fmt::Debug for $Handle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display, $($generics)*> fmt::Display for $Handle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized, $($generics)*> fmt::Pointer for $Handle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.as_ptr().fmt(f)
            }
        }

        impl<T: ?Sized, $($generics)*> AsRef<T> for $Handle {
            fn as_ref(&self) -> &T {
                self
            }
        }

        impl<T: ?Sized, $($generics)*> AsMut<T> for $Handle {
            fn as_mut(&mut self) -> &mut T {
                self
            }
        }

        impl<T: ?Sized, $($generics)*> Borrow<T> for $Handle {
            fn borrow(&self) -> &T {
                self
            }
        }

        impl<T: ?Sized, $($generics)*> BorrowMut<T> for $Handle {
            fn borrow_mut(&mut self) -> &mut T {
                self
            }
        }

        impl<T: ?Sized, $($generics)*> From<$Handle> for Pin<$Handle> {
            fn from(slot: $Handle) -> Self {
                slot.into_pin()
            }
        }

        impl<T: ?Sized + PartialEq, $($generics)*> PartialEq for $Handle {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl<T: ?Sized + Eq, $($generics)*> Eq for $Handle {}

        impl<T: ?Sized + PartialOrd, $($generics)*> PartialOrd for $Handle {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                (**self).partial_cmp(other)
            }
        }

        impl<T: ?Sized + Ord, $($generics)*> Ord for $Handle {
            fn cmp(&self, other: &Self) -> Ordering {
                (**self).cmp(other)
            }
        }

        impl<T: ?Sized + Hash, $($generics)*> Hash for $Handle {
            fn hash<S: Hasher>(&self, state: &mut S) {
                (**self).hash(state);
            }
        }

        impl<T: ?Sized + Error, $($generics)*> Error for $Handle {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                (**self).source()
            }
        }

        impl<T: ?Sized + Future + Unpin, $($generics)*> Future for $Handle {
            type Output = T::Output;

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
                Pin::new(&mut **self).poll(context)
            }
        }

        impl<T: ?Sized + Iterator, $($generics)*> Iterator for $Handle {
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

        impl<T: ?Sized + DoubleEndedIterator, $($generics)*> DoubleEndedIterator for $Handle {
            fn next_back(&mut self) -> Option<T::Item> {
                (**self).next_back()
            }

            fn nth_back(&mut self, n: usize) -> Option<T::Item> {
                (**self).nth_back(n)
            }
        }

        impl<T: ?Sized + ExactSizeIterator, $($generics)*> ExactSizeIterator for $Handle {
            fn len(&self) -> usize {
                (**self).len()
            }
        }

        impl<T: ?Sized + FusedIterator, $($generics)*> FusedIterator for $Handle {}
    };
}
forward!([K: SlotKind] Slot<T, K>);
#[cfg(feature = "std")]
forward!([] Pooled<T>);

crate::forward::forward!([K: SlotKind] Slot<T, K>);
#[cfg(feature = "std")]
crate::forward::forward!([] Pooled<T>);

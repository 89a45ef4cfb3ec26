//! The iterators of a [`SlabMap`]: those of its `Vec`, which skip the vacant entries.

use super::{Entry, SlabMap};
use core::fmt;
use core::iter::{Enumerate, FusedIterator};
use core::slice;
use std_alloc::vec;

/// Defines an iterator over entries that skips vacant ones and converts occupied ones by `$item`.
macro_rules! iterator {
    ($(#[$doc:meta])* $name:ident<$($lifetime:lifetime)?> of $entries:ty, $entry:pat => $item:expr, $type:ty) => {
        $(#[$doc])*
        pub struct $name<$($lifetime,)? T> {
            entries: Enumerate<$entries>,
            // The number of occupied entries that are left.
            len: usize,
        }

        impl<$($lifetime,)? T> $name<$($lifetime,)? T> {
            pub(super) fn new(entries: $entries, len: usize) -> Self {
                Self { entries: entries.enumerate(), len }
            }
        }

        impl<$($lifetime,)? T> Iterator for $name<$($lifetime,)? T> {
            type Item = $type;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let item = self.entries.find_map(|(key, entry)| match entry {
                    $entry => Some($item(key)),
                    Entry::Vacant(_) => None,
                });
                self.len -= usize::from(item.is_some());
                item
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.len, Some(self.len))
            }
        }

        impl<$($lifetime,)? T> DoubleEndedIterator for $name<$($lifetime,)? T> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                while let Some((key, entry)) = self.entries.next_back() {
                    if let $entry = entry {
                        self.len -= 1;
                        return Some($item(key));
                    }
                }
                None
            }
        }

        impl<$($lifetime,)? T> ExactSizeIterator for $name<$($lifetime,)? T> {}
        impl<$($lifetime,)? T> FusedIterator for $name<$($lifetime,)? T> {}

        impl<$($lifetime,)? T> fmt::Debug for $name<$($lifetime,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("remaining", &self.len).finish()
            }
        }
    };
}

iterator! {
    /// An iterator over the keys and values of a [`SlabMap`]. See [`SlabMap::iter`].
    Iter<'a> of slice::Iter<'a, Entry<T>>, Entry::Occupied(value) => |key| (key, value), (usize, &'a T)
}

iterator! {
    /// An iterator over the keys of a [`SlabMap`] and mutable references to its values. See [`SlabMap::iter_mut`].
    IterMut<'a> of slice::IterMut<'a, Entry<T>>, Entry::Occupied(value) => |key| (key, value), (usize, &'a mut T)
}

iterator! {
    /// An owning iterator over the keys and values of a [`SlabMap`].
    IntoIter<> of vec::IntoIter<Entry<T>>, Entry::Occupied(value) => |key| (key, value), (usize, T)
}

iterator! {
    /// A draining iterator over the values of a [`SlabMap`]. See [`SlabMap::drain`].
    Drain<'a> of vec::Drain<'a, Entry<T>>, Entry::Occupied(value) => |_| value, T
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), len: self.len }
    }
}

impl<T> IntoIterator for SlabMap<T> {
    type Item = (usize, T);
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter::new(self.entries.into_iter(), self.len)
    }
}

impl<'a, T> IntoIterator for &'a SlabMap<T> {
    type Item = (usize, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut SlabMap<T> {
    type Item = (usize, &'a mut T);
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}

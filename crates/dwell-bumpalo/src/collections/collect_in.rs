//! `collect` into an arena.

use crate::Bump;
#[cfg(feature = "boxed")]
use crate::boxed::Box;
use crate::collections::{String, Vec};

/// A collection in an arena that can be created from an iterator.
pub trait FromIteratorIn<A> {
    /// A reference to the arena.
    type Alloc;

    /// Creates the collection from an iterator.
    fn from_iter_in<I: IntoIterator<Item = A>>(iter: I, alloc: Self::Alloc) -> Self;
}

#[cfg(feature = "boxed")]
impl<'bump, T> FromIteratorIn<T> for Box<'bump, [T]> {
    type Alloc = &'bump Bump;

    fn from_iter_in<I: IntoIterator<Item = T>>(iter: I, alloc: Self::Alloc) -> Self {
        Self::from_iter_in(iter, alloc)
    }
}

impl<'bump, T> FromIteratorIn<T> for Vec<'bump, T> {
    type Alloc = &'bump Bump;

    fn from_iter_in<I: IntoIterator<Item = T>>(iter: I, alloc: Self::Alloc) -> Self {
        Self::from_iter_in(iter, alloc)
    }
}

impl<T, V: FromIteratorIn<T>> FromIteratorIn<Option<T>> for Option<V> {
    type Alloc = V::Alloc;

    fn from_iter_in<I: IntoIterator<Item = Option<T>>>(iter: I, alloc: Self::Alloc) -> Self {
        iter.into_iter().map(|item| item.ok_or(())).collect_in::<Result<V, ()>>(alloc).ok()
    }
}

impl<T, E, V: FromIteratorIn<T>> FromIteratorIn<Result<T, E>> for Result<V, E> {
    type Alloc = V::Alloc;

    fn from_iter_in<I: IntoIterator<Item = Result<T, E>>>(iter: I, alloc: Self::Alloc) -> Self {
        let mut failed = None;
        let items = iter.into_iter().map_while(|item| item.map_err(|error| failed = Some(error)).ok());
        let collected = V::from_iter_in(items, alloc);
        match failed {
            Some(error) => Err(error),
            None => Ok(collected),
        }
    }
}

impl<'bump> FromIteratorIn<char> for String<'bump> {
    type Alloc = &'bump Bump;

    fn from_iter_in<I: IntoIterator<Item = char>>(iter: I, alloc: Self::Alloc) -> Self {
        Self::from_iter_in(iter, alloc)
    }
}

/// An extension of all iterators with `collect_in`.
pub trait CollectIn: Iterator + Sized {
    /// Collects the iterator's items into a collection in an arena.
    fn collect_in<C: FromIteratorIn<Self::Item>>(self, alloc: C::Alloc) -> C {
        C::from_iter_in(self, alloc)
    }
}

impl<I: Iterator> CollectIn for I {}

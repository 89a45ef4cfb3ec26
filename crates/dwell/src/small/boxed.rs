//! Iterators and closures that functions return, in slots of the thread's pool.

use super::Incoming;
use crate::alloc::AllocError;
use crate::raw::Meta;
use crate::slab::sync::PoolSlot;
use crate::slab::thread_pool;

/// A type-erased iterator in a slot of the thread's pool: the result of [`boxed_iter`](BoxedIterExt::boxed_iter).
///
/// It has two words, as a `Box<dyn Iterator>` has, and is returned in registers. For the trait objects of other traits
/// write `PoolSlot<dyn Trait>` and [`pooled!`](crate::pooled).
pub type PoolIter<'a, T> = PoolSlot<dyn Iterator<Item = T> + 'a>;

/// Stores a value in a slot of this thread's pool and coerces it to the type that the context expects, a
/// [`PoolSlot<dyn Trait>`](crate::slab::sync::PoolSlot).
///
/// The slot has two words, as a `Box<dyn Trait>` has, and needs no `malloc`: the pool reuses the memory of dropped
/// values. Types are inferred as for `Box::new(value)`.
///
/// ```
/// use dwell::pooled;
/// use dwell::slab::sync::PoolSlot;
///
/// fn adder(by: u8) -> PoolSlot<dyn Fn(u8) -> u8> {
///     pooled!(move |x| x + by)
/// }
///
/// fn both_ends(of: &[u8]) -> PoolSlot<dyn DoubleEndedIterator<Item = u8> + '_> {
///     pooled!(of.iter().copied().filter(|byte| *byte > 0))
/// }
///
/// assert_eq!(adder(1)(2), 3);
/// assert_eq!(both_ends(&[1, 0, 2]).rev().collect::<Vec<_>>(), [2, 1]);
/// ```
///
/// The slot may be sent to other threads if `dyn Trait` is `Send`, and may outlive the thread that created it.
///
/// # Panics
///
/// Calls the allocation error handler if the allocation fails.
/// [`Pool::try_insert`](crate::slab::SizeClasses::try_insert) returns the value instead. Panics if the value is coerced
/// to a slice of more than `usize::MAX / 32` elements.
#[macro_export]
macro_rules! pooled {
    ($value:expr $(,)?) => {
        $crate::small::pool_incoming($crate::small::fill($value, &mut $crate::small::IncomingStorage::new()))
    };
}

/// Stores the value of an [`Incoming`] in a slot, for [`pooled!`](crate::pooled).
#[doc(hidden)]
#[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
#[inline(always)]
pub fn pool_incoming<U, T: ?Sized>(incoming: &mut Incoming<U, T>) -> PoolSlot<T> {
    let like = incoming.as_ptr();
    let value = incoming.take(); // dropped if a line below panics
    let meta = Meta::new(like, false);
    let value: *mut U = thread_pool::insert(value).into_raw();
    let value = meta.decode(value.cast()).cast_mut();
    // SAFETY: `into_raw` returned the pointer on this thread, and no other slot is made from it. The value is a `T` at
    // that address: `like` had the metadata of a `U` as a `T`, because every `Incoming<U, T>` was an `Incoming<U, U>`
    // before it was coerced and `U` is sized. The rule about leaked slots is for slots of a slab, whose values can be
    // found by key; this slot is of a pool.
    unsafe { PoolSlot::from_raw(value) }
}

/// Postfix methods that erase an iterator's type without `malloc`.
///
/// ```
/// use dwell::small::{BoxedIterExt, PoolIter};
///
/// fn evens(of: &[u32], reverse: bool) -> PoolIter<'_, u32> {
///     let evens = of.iter().copied().filter(|n| n % 2 == 0);
///     if reverse { evens.rev().boxed_iter() } else { evens.boxed_iter() }
/// }
///
/// assert_eq!(evens(&[1, 2, 3, 4], true).collect::<Vec<_>>(), [4, 2]);
/// assert_eq!(size_of::<PoolIter<'_, u32>>(), 16); // two words: returned in registers
/// ```
///
/// A trait object implements only the traits that it names. For a `dyn DoubleEndedIterator` or a
/// `dyn ExactSizeIterator` use [`pooled!`](crate::pooled).
#[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
pub trait BoxedIterExt: Iterator + Sized {
    /// Stores the iterator in a slot of this thread's pool, which reuses the memory of dropped values.
    ///
    /// # Panics
    ///
    /// Calls the allocation error handler if the allocation fails. [`try_boxed_iter`](Self::try_boxed_iter) returns the
    /// iterator instead.
    #[inline(always)]
    fn boxed_iter<'a>(self) -> PoolIter<'a, Self::Item>
    where
        Self: 'a,
    {
        thread_pool::insert(self).coerce::<dyn Iterator<Item = Self::Item> + 'a, _>(|view| view)
    }

    /// Like [`boxed_iter`](Self::boxed_iter), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails; the error contains the iterator.
    #[inline(always)]
    fn try_boxed_iter<'a>(self) -> Result<PoolIter<'a, Self::Item>, AllocError<Self>>
    where
        Self: 'a,
    {
        Ok(thread_pool::try_insert(self)?.coerce::<dyn Iterator<Item = Self::Item> + 'a, _>(|view| view))
    }

    /// Like [`boxed_iter`](Self::boxed_iter), but the result may be sent to other threads.
    ///
    /// # Panics
    ///
    /// The same as for [`boxed_iter`](Self::boxed_iter). [`try_boxed_iter_send`](Self::try_boxed_iter_send) returns the
    /// iterator instead.
    #[inline(always)]
    fn boxed_iter_send<'a>(self) -> PoolSlot<dyn Iterator<Item = Self::Item> + Send + 'a>
    where
        Self: Send + 'a,
    {
        thread_pool::insert(self).coerce::<dyn Iterator<Item = Self::Item> + Send + 'a, _>(|view| view)
    }

    /// Like [`boxed_iter_send`](Self::boxed_iter_send), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails; the error contains the iterator.
    #[inline(always)]
    fn try_boxed_iter_send<'a>(self) -> Result<PoolSlot<dyn Iterator<Item = Self::Item> + Send + 'a>, AllocError<Self>>
    where
        Self: Send + 'a,
    {
        Ok(thread_pool::try_insert(self)?.coerce::<dyn Iterator<Item = Self::Item> + Send + 'a, _>(|view| view))
    }
}

impl<I: Iterator> BoxedIterExt for I {}

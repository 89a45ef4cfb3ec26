//! Iterators and closures that functions return, in slots of the thread's pool.

use super::Incoming;
use crate::alloc::AllocError;
use crate::raw::Meta;
use crate::slab::sync::PoolSlot;
use crate::slab::thread_pool;

/// An iterator of an erased type in a slot of the thread's pool: what [`boxed_iter`](BoxedIterExt::boxed_iter) returns.
///
/// It is two words, as a `Box<dyn Iterator>`, and is returned in registers. For the trait objects of other traits write
/// `PoolSlot<dyn Trait>` and [`pooled!`](crate::pooled).
pub type PoolIter<'a, T> = PoolSlot<dyn Iterator<Item = T> + 'a>;

/// Puts a value in a slot of this thread's pool and coerces it to the type that the context asks for, a
/// [`PoolSlot<dyn Trait>`](crate::slab::sync::PoolSlot).
///
/// It is two words, as a `Box<dyn Trait>`, and needs no `malloc`: the thread uses the memory of dropped values again. Types are
/// inferred as they are for `Box::new(value)`.
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
/// The slot may go to other threads where `dyn Trait` may, and may outlive the thread that made it.
///
/// # Panics
///
/// As the allocator's error handler does, when there is no memory, or when the value is coerced to a slice of more than
/// `usize::MAX / 32` elements. [`Pool::try_insert`](crate::slab::SizeClasses::try_insert) returns the value.
#[macro_export]
macro_rules! pooled {
    ($value:expr $(,)?) => {
        $crate::small::pool_incoming($crate::small::IncomingStorage::new().fill($value))
    };
}

/// What [`pooled!`](crate::pooled) calls.
#[doc(hidden)]
#[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
#[inline(always)]
pub fn pool_incoming<U, T: ?Sized>(incoming: &mut Incoming<U, T>) -> PoolSlot<T> {
    let like = incoming.as_ptr();
    let value = incoming.take(); // dropped if a line below panics
    let meta = Meta::new(like, false);
    let value: *mut U = thread_pool::insert(value).into_raw();
    let value = meta.decode(value.cast()).cast_mut();
    // SAFETY: `into_raw` returned the pointer, and no other slot is made of it. The value is a `T` at that address: `like` had
    // the metadata of a `U` as a `T`, because every `Incoming<U, T>` was an `Incoming<U, U>` before it was coerced and `U` is
    // sized. This is the thread that called `into_raw`.
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
/// A trait object has the traits that it names: for a `dyn DoubleEndedIterator` or a `dyn ExactSizeIterator` there is
/// [`pooled!`](crate::pooled).
#[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
pub trait BoxedIterExt: Iterator + Sized {
    /// In a slot of the pool that this thread has for it. The thread uses the memory of a dropped value again.
    ///
    /// # Panics
    ///
    /// As the allocator's error handler does, when there is no memory. [`try_boxed_iter`](Self::try_boxed_iter) returns the
    /// iterator.
    #[inline(always)]
    fn boxed_iter<'a>(self) -> PoolIter<'a, Self::Item>
    where
        Self: 'a,
    {
        thread_pool::insert(self).coerce::<dyn Iterator<Item = Self::Item> + 'a, _>(|view| view)
    }

    /// [`boxed_iter`](Self::boxed_iter) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the iterator is returned in the error.
    #[inline(always)]
    fn try_boxed_iter<'a>(self) -> Result<PoolIter<'a, Self::Item>, AllocError<Self>>
    where
        Self: 'a,
    {
        Ok(thread_pool::try_insert(self)?.coerce::<dyn Iterator<Item = Self::Item> + 'a, _>(|view| view))
    }

    /// [`boxed_iter`](Self::boxed_iter) that may go to other threads.
    ///
    /// # Panics
    ///
    /// As [`boxed_iter`](Self::boxed_iter). [`try_boxed_iter_send`](Self::try_boxed_iter_send) returns the iterator.
    #[inline(always)]
    fn boxed_iter_send<'a>(self) -> PoolSlot<dyn Iterator<Item = Self::Item> + Send + 'a>
    where
        Self: Send + 'a,
    {
        thread_pool::insert(self).coerce::<dyn Iterator<Item = Self::Item> + Send + 'a, _>(|view| view)
    }

    /// [`boxed_iter_send`](Self::boxed_iter_send) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the iterator is returned in the error.
    #[inline(always)]
    fn try_boxed_iter_send<'a>(self) -> Result<PoolSlot<dyn Iterator<Item = Self::Item> + Send + 'a>, AllocError<Self>>
    where
        Self: Send + 'a,
    {
        Ok(thread_pool::try_insert(self)?.coerce::<dyn Iterator<Item = Self::Item> + Send + 'a, _>(|view| view))
    }
}

impl<I: Iterator> BoxedIterExt for I {}

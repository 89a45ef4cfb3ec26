//! Iterators and closures that functions return, in slots of the thread's pool.

use super::Pooled;
use super::coerce::SlotView;
use crate::alloc::AllocError;
use crate::raw::with_metadata;
use core::cell::Cell;
use core::convert::Infallible;
use core::marker::PhantomData;
use core::ptr;

/// A type-erased iterator in a slot of the thread's pool: the result of [`boxed_iter`](BoxedIterExt::boxed_iter).
///
/// It has two words, as a `Box<dyn Iterator>` has, and is returned in registers. For the trait objects of other traits
/// write `Pooled<dyn Trait>` and [`pooled!`](crate::pooled).
pub type PoolIter<'a, T> = Pooled<dyn Iterator<Item = T> + 'a>;

/// Stores a value in a slot of this thread's pool and coerces it to the type that the context expects, a
/// [`Pooled<dyn Trait>`](Pooled).
///
/// The slot has two words, as a `Box<dyn Trait>` has, and needs no `malloc`: the pool reuses the memory of dropped
/// values. Types are inferred as for `Box::new(value)`.
///
/// ```
/// use dwell::pooled;
/// use dwell::slab::Pooled;
///
/// fn adder(by: u8) -> Pooled<dyn Fn(u8) -> u8> {
///     pooled!(move |x| x + by)
/// }
///
/// fn both_ends(of: &[u8]) -> Pooled<dyn DoubleEndedIterator<Item = u8> + '_> {
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
/// [`Pooled::try_new`](crate::slab::Pooled::try_new) returns the value instead.
#[macro_export]
macro_rules! pooled {
    ($value:expr $(,)?) => {
        $crate::slab::unsize($crate::slab::pool($value))
    };
}

std::thread_local! {
    /// The slot that [`pool`] made last on this thread: from `into_raw` of a `Pooled`, of which no slot was made since. Or null.
    ///
    /// A view has the address of its slot, but may access only the value, and a slot the whole chunk.
    static LAST: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
}

/// The brand of the view of a `U` that [`pool`] returns. It has no values.
#[doc(hidden)]
pub enum Pooling<'p, U> {
    // Invariant in `'p`: `unsize` takes a view for its whole lifetime, and so consumes it.
    #[doc(hidden)]
    Never(Infallible, PhantomData<Cell<&'p ()>>, PhantomData<fn(U) -> U>),
}

/// Inserts a value into the thread's pool, and returns a view of it that can be coerced.
///
/// The value is the only argument, so that its type is inferred as for `Box::new(value)`.
#[doc(hidden)]
#[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
#[inline(always)]
pub fn pool<'p, U: 'p>(value: U) -> &'p mut SlotView<Pooling<'p, U>, U> {
    let slot = Pooled::new(value).into_raw();
    LAST.set(slot.cast());
    // SAFETY: `into_raw` returned a pointer to a live `U` that no slot owns now. Only `unsize` makes a slot of it, and consumes
    // this view.
    unsafe { SlotView::at_mut(slot) }
}

/// Makes a slot of the value of a view, once:
///
/// ```compile_fail,E0499
/// let view = dwell::slab::pool(1_u8);
/// let (one, two) = (dwell::slab::unsize(view), dwell::slab::unsize(view));
/// ```
///
/// # Aborts
///
/// Aborts the process if this thread called [`pool`] again since.
#[doc(hidden)]
#[inline]
pub fn unsize<'p, U: 'p, T: ?Sized + 'p>(view: &'p mut SlotView<Pooling<'p, U>, T>) -> Pooled<T> {
    // SAFETY: the view has the brand of a `U` and is not the view of a call of `coerce`, so it was made by `pool` and then coerced:
    // its metadata is that of its value as a `T`. It is consumed here.
    unsafe { last_as(view.as_ptr()) }
}

/// Returns the slot that [`pool`] made last, if it is at this address. Not generic over the type that it had, so that uses share it.
///
/// # Safety
///
/// `like` is the pointer of a view that [`pool`] returned, coerced to a `T`, which is not used again.
#[inline]
unsafe fn last_as<T: ?Sized>(like: *const T) -> Pooled<T> {
    let slot = LAST.replace(ptr::null_mut());
    if !ptr::addr_eq(slot, like) {
        not_of_this_slot();
    }
    // SAFETY: `pool` on this thread got the pointer from `into_raw` of a slot, and no slot was made of it since, so its cell is still
    // occupied by the value that `pool` moved there. The caller guarantees that `like` is of a view of a value that `pool` returned,
    // and it has the address of that cell, so it is a view of this value, with its metadata. `LAST` is null now and the view is not
    // used again, so no other slot is made of it.
    unsafe { Pooled::from_raw(with_metadata(slot, like).cast_mut()) }
}

/// Ends the process: only a program that calls these hidden functions itself comes here. `extern "C"`, so that `pooled!` cannot unwind
/// and its uses need no code for that.
#[cold]
#[inline(never)]
extern "C" fn not_of_this_slot() -> ! {
    panic!("not a view of this slot");
}

/// Postfix methods that erase an iterator's type without `malloc`.
///
/// ```
/// use dwell::slab::{BoxedIterExt, PoolIter};
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
        Pooled::new(self).coerce::<dyn Iterator<Item = Self::Item> + 'a, _>(|view| view)
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
        Ok(Pooled::try_new(self)?.coerce::<dyn Iterator<Item = Self::Item> + 'a, _>(|view| view))
    }

    /// Like [`boxed_iter`](Self::boxed_iter), but the result may be sent to other threads.
    ///
    /// # Panics
    ///
    /// The same as for [`boxed_iter`](Self::boxed_iter). [`try_boxed_iter_send`](Self::try_boxed_iter_send) returns the
    /// iterator instead.
    #[inline(always)]
    fn boxed_iter_send<'a>(self) -> Pooled<dyn Iterator<Item = Self::Item> + Send + 'a>
    where
        Self: Send + 'a,
    {
        Pooled::new(self).coerce::<dyn Iterator<Item = Self::Item> + Send + 'a, _>(|view| view)
    }

    /// Like [`boxed_iter_send`](Self::boxed_iter_send), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails; the error contains the iterator.
    #[inline(always)]
    fn try_boxed_iter_send<'a>(self) -> Result<Pooled<dyn Iterator<Item = Self::Item> + Send + 'a>, AllocError<Self>>
    where
        Self: Send + 'a,
    {
        Ok(Pooled::try_new(self)?.coerce::<dyn Iterator<Item = Self::Item> + Send + 'a, _>(|view| view))
    }
}

impl<I: Iterator> BoxedIterExt for I {}

//! Postfix methods that erase a type.

#[cfg(feature = "futures")]
use super::InlineBox;
use super::{InlineFuture, LocalInlineFuture};
use crate::alloc::AllocError;
#[cfg(feature = "std")]
use crate::slab::{Pool, Pooled};
use crate::small::SmallBox;
#[cfg(feature = "std")]
use core::pin::Pin;

/// Generates the `inline` methods for futures. They return an `InlineFuture`; those of the other traits return an
/// `InlineBox`.
macro_rules! inline_future {
    (dyn $Dyn:path) => {
        /// Stores the value inline, in `N` words. A value that does not fit is a compile error, whose message contains
        /// its size.
        #[inline]
        fn inline<'a, const N: usize>(self) -> InlineFuture<'a, Self::Output, N>
        where
            Self: Send + 'a,
        {
            InlineFuture::new(self)
        }

        /// Like [`inline`](Self::inline), but for a value that is not `Send`.
        #[inline]
        fn inline_local<'a, const N: usize>(self) -> LocalInlineFuture<'a, Self::Output, N>
        where
            Self: 'a,
        {
            LocalInlineFuture::new_local(self)
        }
    };
}

#[cfg(feature = "futures")]
macro_rules! inline_box {
    (dyn $Dyn:path) => {
        /// Stores the value inline, in `N` words. A value that does not fit is a compile error, whose message contains
        /// its size.
        #[inline]
        fn inline<'a, const N: usize>(self) -> InlineBox<dyn $Dyn + Send + 'a, N>
        where
            Self: Send + 'a,
        {
            InlineBox::new_coerced(self, |value| value as _)
        }

        /// Like [`inline`](Self::inline), but for a value that is not `Send`.
        #[inline]
        fn inline_local<'a, const N: usize>(self) -> InlineBox<dyn $Dyn + 'a, N>
        where
            Self: 'a,
        {
            InlineBox::new_coerced(self, |value| value as _)
        }
    };
}

macro_rules! erased_ext {
    ($(#[$attr:meta])* $Ext:ident $(<$Item:ident>)?: $Trait:path, dyn $Dyn:path, $inline_methods:ident) => {
        $(#[$attr])*
        ///
        /// The methods with `local` in their name accept values that are not `Send`.
        pub trait $Ext $(<$Item>)?: $Trait + Sized {
            $inline_methods! { dyn $Dyn }

            /// Stores the value inline if it fits in `N` words, otherwise in a box.
            #[inline]
            fn small<'a, const N: usize>(self) -> SmallBox<dyn $Dyn + Send + 'a, N>
            where
                Self: Send + 'a,
            {
                SmallBox::new_coerced(self, |value| value as _)
            }

            /// Like [`small`](Self::small), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the value does not fit inline and the allocation fails; the error contains the value.
            #[inline]
            fn try_small<'a, const N: usize>(self) -> Result<SmallBox<dyn $Dyn + Send + 'a, N>, AllocError<Self>>
            where
                Self: Send + 'a,
            {
                SmallBox::try_new_coerced(self, |value| value as _)
            }

            /// Like [`small`](Self::small), but for a value that is not `Send`.
            #[inline]
            fn small_local<'a, const N: usize>(self) -> SmallBox<dyn $Dyn + 'a, N>
            where
                Self: 'a,
            {
                SmallBox::new_coerced(self, |value| value as _)
            }

            /// Like [`small_local`](Self::small_local), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the value does not fit inline and the allocation fails; the error contains the value.
            #[inline]
            fn try_small_local<'a, const N: usize>(self) -> Result<SmallBox<dyn $Dyn + 'a, N>, AllocError<Self>>
            where
                Self: 'a,
            {
                SmallBox::try_new_coerced(self, |value| value as _)
            }

            /// Stores the value in the pool. It may be sent to other threads and may outlive the pool.
            ///
            /// # Panics
            ///
            /// Calls the allocation error handler if the allocation fails. [`try_pooled_in`](Self::try_pooled_in) returns
            /// the value instead.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn pooled_in<'a>(self, pool: &Pool) -> Pin<Pooled<dyn $Dyn + Send + 'a>>
            where
                Self: Send + 'a,
            {
                pool.insert(self).coerce::<dyn $Dyn + Send + 'a, _>(|view| view).into_pin()
            }

            /// Like [`pooled_in`](Self::pooled_in), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the allocation fails. The error contains the value.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn try_pooled_in<'a>(
                self,
                pool: &Pool,
            ) -> Result<Pin<Pooled<dyn $Dyn + Send + 'a>>, AllocError<Self>>
            where
                Self: Send + 'a,
            {
                Ok(pool.try_insert(self)?.coerce::<dyn $Dyn + Send + 'a, _>(|view| view).into_pin())
            }

            /// Like [`pooled_in`](Self::pooled_in), but for a value that is not `Send`.
            ///
            /// # Panics
            ///
            /// Calls the allocation error handler if the allocation fails.
            /// [`try_pooled_local_in`](Self::try_pooled_local_in) returns the value instead.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn pooled_local_in<'a>(self, pool: &Pool) -> Pin<Pooled<dyn $Dyn + 'a>>
            where
                Self: 'a,
            {
                pool.insert(self).coerce::<dyn $Dyn + 'a, _>(|view| view).into_pin()
            }

            /// Like [`pooled_local_in`](Self::pooled_local_in), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the allocation fails. The error contains the value.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn try_pooled_local_in<'a>(self, pool: &Pool) -> Result<Pin<Pooled<dyn $Dyn + 'a>>, AllocError<Self>>
            where
                Self: 'a,
            {
                Ok(pool.try_insert(self)?.coerce::<dyn $Dyn + 'a, _>(|view| view).into_pin())
            }

            /// Stores the value in a slot of a thread-local pool, as [`pooled_in`](Self::pooled_in) does in a given pool.
            ///
            /// The pool reuses the memory of dropped values. It frees all of it when the thread has ended and the last
            /// value is dropped.
            ///
            /// # Panics
            ///
            /// The same as for [`pooled_in`](Self::pooled_in). [`try_pooled`](Self::try_pooled) returns the value
            /// instead.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn pooled<'a>(self) -> Pin<Pooled<dyn $Dyn + Send + 'a>>
            where
                Self: Send + 'a,
            {
                Pooled::new(self).coerce::<dyn $Dyn + Send + 'a, _>(|view| view).into_pin()
            }

            /// Like [`pooled`](Self::pooled), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the allocation fails. The error contains the value.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn try_pooled<'a>(self) -> Result<Pin<Pooled<dyn $Dyn + Send + 'a>>, AllocError<Self>>
            where
                Self: Send + 'a,
            {
                Ok(Pooled::try_new(self)?.coerce::<dyn $Dyn + Send + 'a, _>(|view| view).into_pin())
            }

            /// Like [`pooled`](Self::pooled), but for a value that is not `Send`.
            ///
            /// # Panics
            ///
            /// The same as for [`pooled_in`](Self::pooled_in). [`try_pooled_local`](Self::try_pooled_local) returns the
            /// value instead.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn pooled_local<'a>(self) -> Pin<Pooled<dyn $Dyn + 'a>>
            where
                Self: 'a,
            {
                Pooled::new(self).coerce::<dyn $Dyn + 'a, _>(|view| view).into_pin()
            }

            /// Like [`pooled_local`](Self::pooled_local), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the allocation fails. The error contains the value.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn try_pooled_local<'a>(self) -> Result<Pin<Pooled<dyn $Dyn + 'a>>, AllocError<Self>>
            where
                Self: 'a,
            {
                Ok(Pooled::try_new(self)?.coerce::<dyn $Dyn + 'a, _>(|view| view).into_pin())
            }
        }
    };
}

erased_ext! {
    /// Postfix methods that erase a future's type without `malloc`.
    ///
    /// ```
    /// use dwell::pin::{ErasedExt, InlineFuture, PoolFuture};
    /// use dwell::{SmallBox, slab::Pool};
    ///
    /// type Dyn = dyn Future<Output = u8> + Send;
    ///
    /// let inline: InlineFuture<u8, 2> = async { 7 }.inline();
    /// let small: SmallBox<Dyn, 2> = async { 7 }.small();
    /// assert!(small.is_inline());
    ///
    /// let pool = Pool::new();
    /// let in_pool: PoolFuture<u8> = async { 7 }.pooled_in(&pool);
    /// let in_pool_of_thread: PoolFuture<u8> = async { 7 }.pooled();
    /// # drop((inline, in_pool, in_pool_of_thread));
    /// ```
    ///
    /// A future that does not fit inline is a compile error:
    ///
    /// ```compile_fail
    /// use dwell::pin::ErasedExt;
    ///
    /// let large = [0_u64; 8];
    /// // error: a value of 64 bytes aligned to 8 does not fit the inline buffer of 16 bytes aligned to 8
    /// let future = core::future::ready(large).inline::<2>();
    /// ```
    ErasedExt: Future, dyn Future<Output = Self::Output>, inline_future
}

impl<F: Future> ErasedExt for F {}

#[cfg(feature = "futures")]
erased_ext! {
    /// [`ErasedExt`] for streams: postfix methods that erase a stream's type without `malloc`.
    ///
    /// ```
    /// use dwell::pin::{ErasedStreamExt, InlineBox};
    /// use futures_core::Stream;
    ///
    /// fn numbers() -> InlineBox<dyn Stream<Item = u32> + Send, 4> {
    ///     futures::stream::iter(1..=3).inline()
    /// }
    /// # assert_eq!(futures::executor::block_on_stream(Box::pin(numbers())).sum::<u32>(), 6);
    /// ```
    ErasedStreamExt: futures_core::Stream, dyn futures_core::Stream<Item = Self::Item>, inline_box
}

#[cfg(feature = "futures")]
impl<S: futures_core::Stream> ErasedStreamExt for S {}

#[cfg(feature = "futures")]
erased_ext! {
    /// [`ErasedExt`] for sinks: postfix methods that erase a sink's type without `malloc`.
    ///
    /// ```
    /// use dwell::pin::ErasedSinkExt;
    /// use futures::{SinkExt, executor::block_on};
    ///
    /// let mut sink = futures::sink::drain().pooled();
    /// block_on(sink.send(1)).unwrap();
    /// ```
    ErasedSinkExt<Item>: futures_sink::Sink<Item>, dyn futures_sink::Sink<Item, Error = Self::Error>, inline_box
}

#[cfg(feature = "futures")]
impl<Item, S: futures_sink::Sink<Item>> ErasedSinkExt<Item> for S {}

#[cfg(all(feature = "futures", feature = "std"))]
erased_ext! {
    /// [`ErasedExt`] for readers: postfix methods that erase a reader's type without `malloc`.
    ErasedReadExt: futures_io::AsyncRead, dyn futures_io::AsyncRead, inline_box
}

#[cfg(all(feature = "futures", feature = "std"))]
impl<R: futures_io::AsyncRead> ErasedReadExt for R {}

#[cfg(all(feature = "futures", feature = "std"))]
erased_ext! {
    /// [`ErasedExt`] for writers: postfix methods that erase a writer's type without `malloc`.
    ErasedWriteExt: futures_io::AsyncWrite, dyn futures_io::AsyncWrite, inline_box
}

#[cfg(all(feature = "futures", feature = "std"))]
impl<W: futures_io::AsyncWrite> ErasedWriteExt for W {}

//! Implementations of the traits of the `futures` crates, which forward to the value.

use super::{InlineBox, Reusable};
use crate::alloc::Allocator;
#[cfg(feature = "std")]
use crate::slab::Pooled;
use crate::slab::{Slot, kind::SlotKind};
use crate::small::SmallBox;
use core::pin::Pin;
use core::task::{Context, Poll};
use futures_core::{FusedFuture, FusedStream, Stream};
#[cfg(feature = "std")]
use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
use futures_sink::Sink;
#[cfg(feature = "std")]
use std::io::{self, IoSlice, IoSliceMut, SeekFrom};

// `$value` is the pinned value of `$owner: Pin<&mut $Owner>`.
macro_rules! forward {
    ($([$($generics:tt)*] $Owner:ty, |$owner:tt| $value:expr $(, $Bound:path)?;)*) => {$(
        impl<T: ?Sized + Stream $(+ $Bound)?, $($generics)*> Stream for $Owner {
            type Item = T::Item;

            #[inline]
            fn poll_next($owner: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T::Item>> {
                let value: Pin<&mut T> = $value;
                value.poll_next(context)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                T::size_hint(self)
            }
        }

        impl<T: ?Sized + FusedStream $(+ $Bound)?, $($generics)*> FusedStream for $Owner {
            fn is_terminated(&self) -> bool {
                T::is_terminated(self)
            }
        }

        impl<T: ?Sized + FusedFuture $(+ $Bound)?, $($generics)*> FusedFuture for $Owner {
            fn is_terminated(&self) -> bool {
                T::is_terminated(self)
            }
        }

        impl<Item, T: ?Sized + Sink<Item> $(+ $Bound)?, $($generics)*> Sink<Item> for $Owner {
            type Error = T::Error;

            #[inline]
            fn poll_ready($owner: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), T::Error>> {
                let value: Pin<&mut T> = $value;
                value.poll_ready(context)
            }

            #[inline]
            fn start_send($owner: Pin<&mut Self>, item: Item) -> Result<(), T::Error> {
                let value: Pin<&mut T> = $value;
                value.start_send(item)
            }

            #[inline]
            fn poll_flush($owner: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), T::Error>> {
                let value: Pin<&mut T> = $value;
                value.poll_flush(context)
            }

            #[inline]
            fn poll_close($owner: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), T::Error>> {
                let value: Pin<&mut T> = $value;
                value.poll_close(context)
            }
        }

        #[cfg(feature = "std")]
        impl<T: ?Sized + AsyncRead $(+ $Bound)?, $($generics)*> AsyncRead for $Owner {
            #[inline]
            fn poll_read($owner: Pin<&mut Self>, context: &mut Context<'_>, to: &mut [u8]) -> Poll<io::Result<usize>> {
                let value: Pin<&mut T> = $value;
                value.poll_read(context, to)
            }

            #[inline]
            fn poll_read_vectored(
                $owner: Pin<&mut Self>,
                context: &mut Context<'_>,
                to: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                let value: Pin<&mut T> = $value;
                value.poll_read_vectored(context, to)
            }
        }

        #[cfg(feature = "std")]
        impl<T: ?Sized + AsyncBufRead $(+ $Bound)?, $($generics)*> AsyncBufRead for $Owner {
            #[inline]
            fn poll_fill_buf($owner: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
                let value: Pin<&mut T> = $value;
                value.poll_fill_buf(context)
            }

            #[inline]
            fn consume($owner: Pin<&mut Self>, amount: usize) {
                let value: Pin<&mut T> = $value;
                value.consume(amount);
            }
        }

        #[cfg(feature = "std")]
        impl<T: ?Sized + AsyncSeek $(+ $Bound)?, $($generics)*> AsyncSeek for $Owner {
            #[inline]
            fn poll_seek($owner: Pin<&mut Self>, context: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
                let value: Pin<&mut T> = $value;
                value.poll_seek(context, to)
            }
        }

        #[cfg(feature = "std")]
        impl<T: ?Sized + AsyncWrite $(+ $Bound)?, $($generics)*> AsyncWrite for $Owner {
            #[inline]
            fn poll_write($owner: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
                let value: Pin<&mut T> = $value;
                value.poll_write(context, from)
            }

            #[inline]
            fn poll_write_vectored(
                $owner: Pin<&mut Self>,
                context: &mut Context<'_>,
                from: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                let value: Pin<&mut T> = $value;
                value.poll_write_vectored(context, from)
            }

            #[inline]
            fn poll_flush($owner: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                let value: Pin<&mut T> = $value;
                value.poll_flush(context)
            }

            #[inline]
            fn poll_close($owner: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                let value: Pin<&mut T> = $value;
                value.poll_close(context)
            }
        }
    )*};
}

forward! {
    [const N: usize, L] InlineBox<T, N, L>, |self| self.project();
    [const N: usize, A: Allocator + 'static, L] SmallBox<T, N, A, L>, |self| self.project();
    [K: SlotKind] Slot<T, K>, |self| Pin::new(&mut **self.get_mut()), Unpin;
}

#[cfg(feature = "std")]
forward! {
    [] Pooled<T>, |self| Pin::new(&mut **self.get_mut()), Unpin;
}

/// Forwards to the stored stream. Without one, the stream has ended until the next one is set.
impl<S: ?Sized + Stream> Stream for Reusable<S> {
    type Item = S::Item;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.get().map_or(Poll::Ready(None), |stream| stream.poll_next(context))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.peek().map_or((0, Some(0)), S::size_hint)
    }
}

/// Terminated without a stream: there is none until the next one is set.
impl<S: ?Sized + FusedStream> FusedStream for Reusable<S> {
    fn is_terminated(&self) -> bool {
        self.peek().is_none_or(S::is_terminated)
    }
}

/// Terminated without a future: polling it would panic.
impl<F: ?Sized + FusedFuture> FusedFuture for Reusable<F> {
    fn is_terminated(&self) -> bool {
        self.peek().is_none_or(F::is_terminated)
    }
}
